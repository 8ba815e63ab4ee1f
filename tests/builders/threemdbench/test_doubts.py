"""Which photos are borderline, and which photo of several a person is asked about, on measures made up for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("cv2")

from builders.curation.curate import Curation, Outcome, judged_alone
from builders.curation.duplicates import Groups, Link, Place
from builders.curation.examine import Content, Examined
from builders.curation.folders import File
from builders.curation.quality import Judgement, Quality
from builders.curation.review import ACCEPT, REJECT, Decision, Item, Shown
from builders.curation.verification import COPY, UNSURE, PairVerdict
from builders.threemdbench.doubts import DISPUTED, FORBIDDEN, WITHDRAWN, Judged
from builders.threemdbench.findings import Candidate, Finding
from builders.threemdbench.mixed import class_items
from loaders.errors import InputError

GOOD = Quality(640, 480, 100.0, 1.0, 128.0, 20, 230, 0.0, 0.0, 0)


def candidate(key: str, diagnosis: str = "acne", decision: str = "", of_class: str = "") -> Candidate:
    made, of = (Decision(said) if said else None for said in (decision, of_class))
    return Candidate(key, Path(f"{key}.jpg"), "s", diagnosis, None, "warts too" if of_class else "", made, of)


def curation(
    photos: list[Candidate],
    *,
    best: dict[str, str] | None = None,
    clusters: dict[str, str] | None = None,
    quality: Quality = GOOD,
    flags: tuple[str, ...] = (),
    links: tuple[Link, ...] = (),
    shows: dict[str, tuple[str, ...]] | None = None,
) -> Curation:
    """Photos whose digests are their keys; `best` is the best of the copies of each, `clusters` its scene, `shows` what
    collages show."""
    files = [Examined(File(photo.key, photo.path), Content(photo.key, 1, quality, None, b"")) for photo in photos]
    of = {photo.key: (clusters or {}).get(photo.key, photo.key) for photo in photos}
    places = {
        key: Place(cluster, (best or {}).get(key, key), False, None, (shows or {}).get(key, ()))
        for key, cluster in of.items()
    }
    outcomes = tuple(Outcome(cluster, True, "unique", "") for cluster in of.values())
    judged = tuple(Judgement(flags, 80.0) for _ in photos)
    return Curation(tuple(files), judged, outcomes, Groups(places, links), ())


def findings(photos: list[Candidate], second: Curation | None = None, **first: object) -> dict[str, Finding]:
    judged = Judged(photos, curation(photos, **first))  # type: ignore[arg-type]
    judged.compare(second)
    return {photo.key: found for photo, found in zip(photos, judged.findings(), strict=True)}


@pytest.mark.parametrize(
    ("flags", "measured", "asked"),
    [
        (("small",), {"width": 202, "height": 900}, True),  # within a tenth of 224
        (("small",), {"width": 201, "height": 900}, False),
        (("dark",), {"brightest": 58}, True),  # of 64
        (("dark",), {"brightest": 57}, False),
        (("overexposed",), {"darkest": 220}, True),  # of 200
        (("overexposed",), {"darkest": 221}, False),
        (("blurred",), {"sharpness": 40.0}, True),  # half of the 80 demanded of its source
        (("blurred",), {"sharpness": 39.9}, False),
        (("text_overlay",), {"text_characters": 30}, True),
        (("near_uniform",), {}, False),
        (("small", "blurred"), {"width": 210, "sharpness": 60.0}, True),
        (("small", "blurred"), {"width": 100, "sharpness": 60.0}, False),  # one fault is beyond doubt
    ],
)
def test_a_photo_that_just_fails_is_asked_about(
    flags: tuple[str, ...], measured: dict[str, float], asked: bool
) -> None:
    quality = replace(GOOD, **measured)  # type: ignore[arg-type]
    found = findings([candidate("a")], quality=quality, flags=flags)["a"]
    assert found.reason == f"quality: {flags[0].replace('_', ' ')}"  # of several faults the gravest
    assert [doubt.kind for doubt in found.doubts] == ["quality"] * asked
    assert findings([candidate("a", decision=ACCEPT)], quality=quality, flags=flags)["a"].reason == ""


@pytest.mark.parametrize(
    ("decisions", "out"),
    [
        (("", ""), {"a": DISPUTED, "b": DISPUTED}),
        ((ACCEPT, ""), {"a": "", "b": DISPUTED}),
        ((REJECT, ""), {"a": "review: ", "b": ""}),  # what is left agrees with itself
        ((ACCEPT, REJECT), {"a": "", "b": "review: "}),
    ],
)
def test_copies_under_two_diagnoses(decisions: tuple[str, str], out: dict[str, str]) -> None:
    photos = [candidate("a", "acne", decisions[0]), candidate("b", "warts", decisions[1])]
    found = findings(photos, best={"b": "a"})
    assert {key: one.reason for key, one in found.items()} == out
    assert all([doubt.beside for doubt in one.doubts] for one in found.values())


@pytest.mark.parametrize(
    ("reason", "others", "out"),
    [
        ("identifiable person", ("acne", ""), "review: identifiable person"),  # the next copy shows the same person
        ("wrong diagnosis", ("acne", ""), "review: wrong diagnosis"),
        ("poor quality", ("acne", ""), ""),
        ("identifiable person", ("acne", ACCEPT), ""),  # somebody looked at this very file
        ("identifiable person", ("warts", ""), "review: identifiable person"),
        ("wrong diagnosis", ("warts", ""), ""),
    ],
)
def test_what_is_rejected_for_what_it_shows_takes_its_copies_along(
    reason: str, others: tuple[str, str], out: str
) -> None:
    rejected = replace(candidate("a"), decision=Decision(REJECT, reason))
    found = findings([rejected, candidate("b", *others), candidate("c")], best={"b": "a"})
    assert {key: one.reason for key, one in found.items()} == {"a": f"review: {reason}", "b": out, "c": ""}
    asked = [doubt.text for doubt in found["b"].doubts if doubt.kind == "copy"]
    assert asked == ["A copy of it was rejected: poor quality."] * (reason == "poor quality")


def test_copies_accepted_under_two_diagnoses_are_an_error() -> None:
    photos = [candidate("a", "acne", ACCEPT), candidate("b", "warts", ACCEPT)]
    with pytest.raises(InputError, match="a as acne, b as warts"):
        findings(photos, best={"b": "a"})


def test_no_copy_stands_in_for_a_withdrawn_photo_that_is_unfit() -> None:
    photos = [replace(candidate("a"), withdrawn=True), candidate("b", decision=ACCEPT), candidate("c", decision=ACCEPT)]
    found = findings(photos, best={"b": "a"}, quality=replace(GOOD, width=100), flags=("small",))
    assert {key: one.reason for key, one in found.items()} == {"a": "quality: small", "b": WITHDRAWN, "c": ""}


def test_a_collage_stays_out_and_disputes_no_diagnosis_of_what_it_shows() -> None:
    photos = [candidate("a", "acne"), candidate("b", "warts"), candidate("c", "acne", ACCEPT)]
    found = findings(photos, shows={"c": ("a", "b")})
    assert {key: one.reason for key, one in found.items()} == {"a": "", "b": "", "c": "duplicate: unique"}
    assert found["c"].shows == ("a", "b") and not found["a"].doubts


def test_what_binds_a_collage_binds_the_photos_in_it() -> None:
    photos = [candidate("a"), candidate("b", "warts"), candidate("c")]
    shows = {"c": ("a", "b")}
    withdrawn = [*photos[:2], replace(photos[2], withdrawn=True)]
    assert [one.reason for one in findings(withdrawn, shows=shows).values()][:2] == [WITHDRAWN, WITHDRAWN]
    forbidden = [*photos[:2], replace(photos[2], licence="CC-BY-ND-4.0", forbidden=True)]
    judged = Judged(forbidden, curation(forbidden, shows=shows))
    assert [one.reason for one in judged.findings()] == [FORBIDDEN, FORBIDDEN]
    rejected = [*photos[:2], replace(photos[2], decision=Decision(REJECT, "identifiable person"))]
    assert [one.reason for one in findings(rejected, shows=shows).values()] == ["review: identifiable person"] * 3
    wrong = [*photos[:2], replace(photos[2], decision=Decision(REJECT, "wrong diagnosis"))]
    assert [one.reason for one in findings(wrong, shows=shows).values()] == ["", "", "review: wrong diagnosis"]


def test_a_decision_about_a_photo_goes_before_one_about_its_class() -> None:
    photos = [candidate("a", of_class=REJECT), candidate("b", decision=ACCEPT, of_class=REJECT), candidate("c")]
    assert {key: one.reason for key, one in findings(photos).items()} == {"a": "review: ", "b": "", "c": ""}
    found = findings(photos, quality=replace(GOOD, width=100), flags=("small",))
    assert {key: one.reason for key, one in found.items()} == {"a": "review: ", "b": "", "c": "quality: small"}


def test_photos_of_one_scene_are_asked_about_where_both_are_kept() -> None:
    scene = {"a": "x", "b": "x"}
    photos = [candidate("a", "acne"), candidate("b", "warts")]
    asked = [doubt for one in findings(photos, clusters=scene).values() for doubt in one.doubts]
    assert [(doubt.kind, doubt.beside) for doubt in asked] == [("label", ("b",)), ("label", ("a",))]
    photos[1] = candidate("b", "warts", REJECT)
    assert [one.doubts for one in findings(photos, clusters=scene).values()] == [(), ()]


def test_of_two_that_may_be_copies_the_later_is_asked_about() -> None:
    photos = [candidate("a"), candidate("b"), candidate("c")]

    def doubts(kind: str = UNSURE, **second: object) -> dict[str, list[tuple[str, ...]]]:
        verdict = PairVerdict(kind, 9, 0.4, 0.4)
        compared = curation(photos, links=(Link("a", "b", verdict),), **second)  # type: ignore[arg-type]
        return {key: [doubt.beside for doubt in one.doubts] for key, one in findings(photos, compared).items()}

    assert doubts() == {"a": [], "b": [("a",)], "c": []}
    assert doubts(COPY) == {"a": [], "b": [], "c": []}
    assert doubts(clusters={"a": "x", "b": "x"}) == {"a": [], "b": [], "c": []}  # they share a split anyway
    photos[0] = candidate("a", decision=REJECT)
    assert doubts() == {"a": [], "b": [], "c": []}


def test_a_mixed_class_is_asked_about_with_those_of_its_photos_that_are_fit() -> None:
    photos = [candidate(key) for key in "abc"]
    row = {"source": "s", "source_label": "Warts_etc", "diagnosis": "warts", "mixed": "corns too"}

    def asked(*reasons: str, decided: Decision | None = None) -> list[Item]:
        found, shown = [Finding("c", reason) for reason in reasons], {key: Shown(key, key, key) for key in "abc"}
        return class_items([row] * 3, photos, found, shown, {"class of s: warts etc": decided} if decided else {})

    (item,) = asked("", "quality: small", "")
    assert "2 of 3 are fit" in item.doubts[0].text and {one.key for one in item.beside} == {"a", "c"}
    assert not asked(*["quality: small"] * 3)
    (item,) = asked(*["review: other"] * 3, decided=Decision(REJECT, "other"))  # it may be reconsidered
    assert item.decided == Decision(REJECT, "other") and len(item.beside) == 3


def test_how_sharp_a_source_is_is_told_by_those_who_may_come_in() -> None:
    every, soft = curation([candidate(str(number)) for number in range(43)]), replace(GOOD, sharpness=1.0)
    blurred = tuple(Examined(one.file, replace(one.content, quality=soft)) for one in every.files[:3] if one.content)
    every = replace(every, files=(*blurred, *every.files[3:]))
    assert [judgement.flags for judgement in judged_alone(every, 3).judgements if judgement] == [()] * 3
    assert [judgement.flags for judgement in judged_alone(every, 43).judgements[:3] if judgement] == [("blurred",)] * 3
