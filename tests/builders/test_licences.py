"""Licences as sources write them, and what they allow."""

import csv
from typing import Any, cast

import pytest

from builders.licences import allows_rewriting, check_vouched, corpus_licence, read_licence, strictest
from builders.medconceal.measure import measure as measure_cases
from builders.recipe import licence_facts
from builders.samples.medconceal import profiles
from builders.threemdbench.measure import Tally as PhotosTally
from loaders.errors import InputError
from loaders.medconceal import row_of
from tests.parts.places import SHARED

# One of the addresses of Creative Commons that is none of the usual licences.
SAMPLING = "https://creativecommons.org/licenses/nc-sampling+/1.0/"


@pytest.mark.parametrize(
    ("text", "name", "derivatives", "commercial", "share_alike"),
    [
        ("CC BY-NC-ND", "CC-BY-NC-ND", "no", False, False),
        ("CC-BY-NC-ND-4.0", "CC-BY-NC-ND-4.0", "no", False, False),
        ("CC BY", "CC-BY", "yes", True, False),
        ("cc-by-4.0", "CC-BY-4.0", "yes", True, False),
        ("CC BY 4", "CC-BY-4.0", "yes", True, False),
        ("CC BY-NC-SA 4.0", "CC-BY-NC-SA-4.0", "yes", False, True),
        ("CC BY NC SA", "CC-BY-NC-SA", "yes", False, True),
        (
            "Creative Commons Attribution-NonCommercial-NoDerivatives 4.0 International",
            "CC-BY-NC-ND-4.0",
            "no",
            False,
            False,
        ),
        ("Creative Commons Attribution Non Commercial 4.0", "CC-BY-NC-4.0", "yes", False, False),
        ("Creative Commons Attribution No Derivs 3.0", "CC-BY-ND-3.0", "no", True, False),
        ("https://creativecommons.org/licenses/by/4.0/", "CC-BY-4.0", "yes", True, False),
        ("http://creativecommons.org/licenses/by-nc-nd/3.0/deed.en", "CC-BY-NC-ND-3.0", "no", False, False),
        ("https://creativecommons.org/publicdomain/zero/1.0/", "CC0-1.0", "yes", True, False),
        ("https://creativecommons.org/publicdomain/mark/1.0/", "public-domain", "yes", True, False),
        ("CC0", "CC0-1.0", "yes", True, False),
        ("public domain", "public-domain", "yes", True, False),
        ("CC BY 4.0 (MedQuAD annotations)", "CC-BY-4.0", "yes", True, False),
        ("US-Government text in a CC BY 4.0 compilation", "CC-BY-4.0", "yes", True, False),
        ("CC BY 4.0 and CC BY-ND 4.0", "CC-BY-ND-4.0", "no", True, False),
        ("CC BY-NC-SA 4.0, text CC BY-ND 4.0", "CC-BY-ND-4.0", "no", True, False),
        ("All rights reserved.", "all-rights-reserved", "no", False, False),
        ("NO-CC CODE", "unknown", "unknown", False, False),
        ("", "unknown", "unknown", False, False),
        (None, "unknown", "unknown", False, False),
        ("nan", "unknown", "unknown", False, False),
        ("HPO licence (do not alter)", "HPO licence (do not alter)", "unknown", False, False),
        ("CC BY\u2010NC\u2010ND 4.0", "CC-BY-NC-ND-4.0", "no", False, False),
        ("CC BY\u2011NC 4.0", "CC-BY-NC-4.0", "yes", False, False),
        ("CC BY/NC/ND", "CC-BY-NC-ND", "no", False, False),
        ("CC BY 4.0 (NC, ND)", "CC-BY-NC-ND", "no", False, False),
        ("CC BYNC", "CC-BY-NC", "yes", False, False),
        ("CC BY with no commercial use", "CC-BY-NC", "yes", False, False),
        ("CC BY-NC No Derivative Works 3.0", "CC-BY-NC-ND-3.0", "no", False, False),
        ("CC BY 4.0, samples on request", "CC-BY-4.0", "yes", True, False),
        ("see (https://creativecommons.org/licenses/by/4.0/).", "CC-BY-4.0", "yes", True, False),
        (
            "https://creativecommons.org/licenses/by/4.0/ https://creativecommons.org/licenses/by-nd/4.0/",
            "CC-BY-ND-4.0",
            "no",
            True,
            False,
        ),
        ("CC BY-NC-ND, see https://creativecommons.org/licenses/by/4.0/", "CC-BY-NC-ND", "no", False, False),
        ("creativecommons.org/licenses/list", "creativecommons.org/licenses/list", "unknown", False, False),
        ("by-nc-sa 2.0", "CC-BY-NC-SA-2.0", "yes", False, True),
        ("by-nd", "CC-BY-ND", "no", True, False),
        ("Attribution-NonCommercial-NoDerivs License", "CC-BY-NC-ND", "no", False, False),
        ("Attribution License", "CC-BY", "yes", True, False),
        ("Attribution 4.0 International", "CC-BY-4.0", "yes", True, False),
        ("Attribution-NoDerivatives 4.0 International License", "CC-BY-ND-4.0", "no", True, False),
        ("Attribution", "Attribution", "unknown", False, False),
        ("by the author", "by the author", "unknown", False, False),
        ("United States Government Work", "public-domain", "yes", True, False),
        ("PD-USGov-HHS-CDC", "public-domain", "yes", True, False),
        ("pd", "public-domain", "yes", True, False),
        (SAMPLING, SAMPLING, "unknown", False, False),
        (f"CC BY 4.0, {SAMPLING}", f"CC BY 4.0, {SAMPLING}", "unknown", False, False),
    ],
)
def test_reads_what_sources_write(
    text: str | None, name: str, derivatives: str, commercial: bool, share_alike: bool
) -> None:
    read = read_licence(text)
    assert (read.id, read.derivatives, read.commercial, read.share_alike) == (
        name,
        derivatives,
        commercial,
        share_alike,
    )


@pytest.mark.parametrize(
    "text",
    [
        "not in the public domain",
        "This image is NOT CC BY licensed",
        "CC-BY except figures 2 and 3",
        "CC0?",
        "CC BY (?)",
        "presumably CC BY",
        "CC BY 4.0 unless otherwise stated",
        "Creative Commons Attribution - no adaptations",
        "CC0 does not apply to this image",
        "personal use only (CC0 metadata)",
        "https://creativecommons.org/licenses/by/4.0/ without the photographs",
        "CC BY 4.0 for research use",
        "CC-BY-4.0 (academic and educational purposes)",
        "CC BY 4.0 for non-commercial use",
        "CC BY 4.0, for non-commercial use only",
        "https://creativecommons.org/licenses/by/4.0/ non-commercial",
        "CC0, noncommercial",
        "public domain, no commercial use",
        "CC BY 4.0. Commercial use is prohibited",
    ],
)
def test_a_licence_that_is_taken_back_or_narrowed_is_for_a_person_to_read(text: str) -> None:
    assert allows_rewriting(text) == (False, f"licence unknown: {text}")
    assert allows_rewriting(text, frozenset({text})) == (True, "")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("CC0 1.0 (no rights reserved)", "CC0-1.0"),
        ("Creative Commons Zero v1.0 Universal", "CC0-1.0"),
        ("public domain, no known copyright restrictions", "public-domain"),
        ("CC BY 4.0, not for commercial use", "CC-BY-NC"),
        ("CC BY 4.0, grant no. 12", "CC-BY-4.0"),
        ("CC BY-NC 4.0, non-commercial use only", "CC-BY-NC"),
        ("https://creativecommons.org/licenses/by-nc/4.0/, for non-commercial use", "CC-BY-NC-4.0"),
        ("CC BY 4.0, which permits unrestricted use; Society for Scientific Research", "CC-BY-4.0"),
        ("CC BY-NC-ND 4.0, provided that no modifications are made", "CC-BY-NC-ND-4.0"),
        ("CC BY 4.0 for the text; photos: all rights reserved", "all-rights-reserved"),
    ],
)
def test_words_that_take_nothing_back_or_forbid_more(text: str, name: str) -> None:
    assert read_licence(text).id == name


@pytest.mark.parametrize(
    ("licence", "others", "together"),
    [
        ("CC BY", [], "CC BY"),
        ("CC BY", ["CC0", "public domain", "CC BY 4.0"], "CC BY"),
        ("CC0", ["CC BY 4.0"], "CC-BY-4.0"),
        ("CC0", ["CC BY 4.0", "CC BY 3.0"], "CC-BY-3.0"),  # of versions that ask for the same, the first by name
        ("CC BY", ["CC BY-ND"], "CC-BY-ND"),
        ("CC BY-NC", ["CC BY-NC-SA", "CC BY"], "CC-BY-NC-SA"),
        ("CC BY-SA", ["CC BY-NC"], "CC-BY-NC AND CC-BY-SA"),
        ("CC BY", ["UMLS"], "UMLS"),
        ("CC BY", ["CC-BY-4.0 for research use"], "CC-BY-4.0 for research use"),
        ("CC BY", ["CC-Sampling+ 1.0"], "CC-Sampling+ 1.0"),
        ("CC BY-NC", ["UMLS"], "CC-BY-NC AND UMLS"),
        ("CC BY-NC AND CC BY-SA", ["CC BY-SA"], "CC BY-NC AND CC BY-SA"),
        ("", ["CC BY"], ""),
        (None, [], ""),
    ],
)
def test_the_strictest_of_several(licence: str | None, others: list[str], together: str) -> None:
    assert strictest(licence, others) == together


def test_licences_that_hold_together() -> None:
    both = read_licence("CC-BY-NC AND CC-BY-SA")
    assert (both.derivatives, both.commercial, both.share_alike) == ("yes", False, True)
    assert read_licence("UMLS AND CC-BY").derivatives == "unknown"
    assert read_licence("UMLS AND CC-BY-ND").derivatives == "no"
    assert corpus_licence(["CC-BY-NC AND CC-BY-SA"]) == "other" and corpus_licence(["CC-BY AND CC-BY-NC"]) != "other"


def test_reading_its_own_identifier_changes_nothing() -> None:
    for text in ("CC BY-NC-SA 4.0", "CC BY", "CC0", "public domain", "All rights reserved", "MIT", "BSD-3-Clause"):
        read = read_licence(text)
        assert read_licence(read.id) == read


def test_exclusions_name_their_reason() -> None:
    assert allows_rewriting("CC BY-NC-ND 4.0") == (False, "no derivatives: CC-BY-NC-ND-4.0")
    assert allows_rewriting(None) == (False, "licence unknown")
    assert allows_rewriting("see the publisher") == (False, "licence unknown: see the publisher")


@pytest.mark.parametrize(
    ("licence", "allowed", "expected"),
    [
        ("", {"unknown"}, True),
        ("NO-CC CODE", {"UNKNOWN"}, True),
        ("see the publisher", {"unknown"}, True),
        ("see the publisher", {"see the publisher"}, True),
        ("CC BY-NC-ND", {"CC-BY-NC-ND"}, True),
        ("CC BY-NC-ND 4.0", {"cc by-nc-nd"}, True),
        ("CC BY-NC-ND 3.0", {"CC-BY-NC-ND-4.0"}, False),
        ("CC BY-NC-ND", {"unknown"}, False),
        ("CC BY-ND", {"CC BY"}, False),
        ("", {"CC BY-ND"}, False),
        ("see the publisher", {"ask the author"}, False),
        ("see the publisher", {"other"}, False),  # a name that says nothing allows nothing
    ],
)
def test_a_user_lets_licences_through_by_name(licence: str, allowed: set[str], expected: bool) -> None:
    assert allows_rewriting(licence, frozenset(allowed))[0] is expected


def test_a_licence_that_a_user_asserts_must_be_one_that_can_be_read() -> None:
    check_vouched("--licence", None, frozenset())
    check_vouched("--licence", "CC BY", frozenset())
    check_vouched("--licence", "CC BY-ND", frozenset())  # its rows are left out for what it says
    check_vouched("--licence", "ours", frozenset({"ours"}))
    for unread in ("ours", "unknown", ""):
        with pytest.raises(InputError, match="a known licence"):
            check_vouched("--licence", unread, frozenset())


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["CC0", "public domain"], "cc0-1.0"),
        (["CC BY", "CC0"], "cc-by-4.0"),
        (["CC BY", "CC BY-SA 4.0"], "cc-by-sa-4.0"),
        (["CC BY", "CC BY-NC", "CC BY-NC-SA"], "cc-by-nc-sa-4.0"),
        # A share-alike work that may be sold cannot go under a licence that forbids it.
        (["CC BY-SA", "CC BY-NC"], "other"),
        (["CC BY", "CC BY-ND"], "other"),
        (["CC BY", ""], "other"),
        (["MIT", "CC BY"], "other"),
        (["MIT", "MIT License"], "mit"),
        (["CC SA 1.0"], "other"),
        ([f"CC-BY-4.0, {SAMPLING}"], "other"),
        ([], "other"),
    ],
)
def test_corpus_licence_is_the_strictest_combination(rows: list[str], expected: str) -> None:
    assert corpus_licence(rows) == expected


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["CC BY", "CC BY-ND"], "under different licences that no single one covers"),
        (["SCIN Data Use License"], "under the same terms, SCIN Data Use License:"),
        (["", "NO-CC CODE"], "under terms that their sources do not state:"),
        (["CC BY", "CC0"], "make the corpus cc-by-4.0"),
    ],
)
def test_a_card_says_that_licences_differ_only_if_they_do(rows: list[str], said: str) -> None:
    assert said in str(licence_facts(rows, "rows", "each row's")["licence_text"])


def test_agrees_with_the_reviewed_column_of_roco() -> None:
    path = SHARED / "data" / "text" / "roco_test.csv"
    if not path.is_file():
        pytest.skip(f"{path} is not on this machine")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8179
    expected = {"no-ND": "no", "unknown": "unknown"}
    for row in rows:
        assert read_licence(row["licence"]).derivatives == expected.get(row["derivatives_allowed"], "yes"), row["id"]


def test_rows_are_counted_by_licence_however_it_is_spelled() -> None:
    spelled = ["CC BY 4.0", "CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/", None, "the clinic's own"]
    counted = {"CC-BY-4.0": 3, "the clinic's own": 1, "unknown": 1}
    photo = {"split": "test", "personality": None, "complaints_status": None, "group_id": None, "cluster_id": None}
    photos = PhotosTally()
    for licence in spelled:
        photos.add({**photo, "diagnosis": None, "domain": None, "source": "a", "licence": licence})
    assert cast(dict[str, Any], photos.statistics())["licence"] == counted
    case = row_of(profiles()[0], author="a", licence="", attribution="")
    cases = measure_cases({**case, "licence": licence} for licence in spelled)
    assert cast(dict[str, Any], cases)["licence"] == counted
