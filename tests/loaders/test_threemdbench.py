"""The schema of 3MDBench, its diagnoses and temperaments, and rows of the authors' release."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter

import pyarrow as pa
import pytest

from loaders.corpus import corpus
from loaders.errors import InputError
from loaders.threemdbench import (
    CORPUS,
    DIAGNOSES,
    DOMAINS,
    NAMES,
    PERSONALITIES,
    TEMPERAMENTS,
    diagnosis_of,
    from_official,
    named_in,
    others_of_domain,
    parse_complaints,
    straightened,
)

# The names as the paper's prompts list them, in their order.
OF_THE_PAPER = (
    "eczema|hives|herpes|allergic contact dermatitis|contact dermatitis|seborrheic dermatitis|rosacea|conjunctivitis|"
    "tonsillitis|chronic lichen|keratosis pilaris|molluscum contagiosum|lichen planus|periodontitis|caries|psoriasis|"
    "ingrown nail|stye|acne|onychomycosis|seborrheic keratosis|chalazion|vitiligo|shingles|mycosis|actinic keratosis|"
    "onycholysis|chickenpox|dental calculus|warts|stomatitis|abscess|gingivitis|nail dystrophy"
).split("|")

OFFICIAL = {
    "image": {"bytes": b"...", "path": None},
    "diagnosis": "Eczema",
    "general_complaint": "Your skin is  dry.",
    "complaints": "- You scratch at night.\n- It began a week ago.",
    "personality": "Sanguine",
}


def test_thirty_four_diagnoses_in_five_domains() -> None:
    assert list(NAMES) == OF_THE_PAPER
    counts = Counter(diagnosis.domain for diagnosis in DIAGNOSES)
    assert tuple(counts) == DOMAINS
    assert list(counts.values()) == [21, 3, 2, 4, 4]


def test_codes_look_like_icd_10_and_belong_to_one_diagnosis() -> None:
    codes = [code for diagnosis in DIAGNOSES for code in diagnosis.icd10]
    assert all(re.fullmatch(r"[A-Z]\d\d(\.\d)?", code) for code in codes)
    assert len(codes) == len(set(codes))
    assert next(d.icd10 for d in DIAGNOSES if d.name == "shingles") == ("B02",)


def test_a_name_belongs_to_one_diagnosis() -> None:
    names = [name.casefold() for d in DIAGNOSES for name in (d.name, *d.synonyms)]
    assert [name for name, n in Counter(names).items() if n > 1] == []
    assert all(name and name == name.strip() for name in names)


@pytest.mark.parametrize("diagnosis", DIAGNOSES, ids=lambda d: d.name)
def test_a_diagnosis_is_found_by_every_name_of_it(diagnosis: object) -> None:
    for name in (diagnosis.name, *diagnosis.synonyms):  # type: ignore[attr-defined]
        assert diagnosis_of(name.upper()) == diagnosis
        assert [found for _, found in named_in(f"They say {name}, perhaps.")] == [diagnosis]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is an allergic contact dermatitis.", ["allergic contact dermatitis"]),
        ("Contact dermatitis, or shingles?", ["contact dermatitis", "shingles"]),
        ("You have a wart-like growth on your wrist.", []),
        ("Ingrown_nail", ["ingrown nail"]),
        ("athlete’s foot", ["mycosis"]),
        ("Athletes foot", ["mycosis"]),
        ("You feel thwarted; the abscessing is over.", []),
        ("lichen planus and chronic\nlichen", ["lichen planus", "chronic lichen"]),
        ("ingrown toenails, ingrown toe nails, an ingrown big toenail", ["ingrown nail"] * 3),
        ("a fungal toenail, fungal toenail infection, fungal infection of your big toenail", ["onychomycosis"] * 3),
        ("toenail fungal infection, fungus of the nails, nail mycosis, mycotic nail", ["onychomycosis"] * 4),
        ("chalazions; a wheal", ["chalazion", "hives"]),
        ("oral ulcers or aphthous ulceration", ["stomatitis", "stomatitis"]),
        ("Dermatitis, contact", ["contact dermatitis"]),
        ("Keratosis, seborrheic; wart, seborrheic", ["seborrheic keratosis"] * 2),
        ("contact dermatitis (allergic)", ["allergic contact dermatitis"]),
        ("contact dermatitis, allergic type", ["allergic contact dermatitis"]),
        ("eczema, seborrheic dermatitis", ["eczema", "seborrheic dermatitis"]),
        ("hidradenitis suppurativa (acne inversa)", []),
        ("a renal calculus, eczema herpeticum, sores in your oral cavity", []),
        ("You boil your needles.", []),
        ("You have a boil; boils run in the family.", ["abscess", "abscess"]),
        ("CAR\u0130ES", ["caries"]),  # a letter that folds to two
    ],
)
def test_names_in_a_text(text: str, expected: list[str]) -> None:
    assert [diagnosis.name for _, diagnosis in named_in(text)] == expected


@pytest.mark.parametrize("separator", ["-", "_", "\u2011", "\n- ", "  "])
def test_every_separator_that_a_text_may_have_is_one_in_a_name(separator: str) -> None:
    for diagnosis in DIAGNOSES:
        for name in (diagnosis.name, *diagnosis.synonyms):
            written = name.replace(" ", separator)
            assert [found for _, found in named_in(f"They say {written}, perhaps.")] == [diagnosis]
            assert diagnosis_of(written) == diagnosis


def test_an_inverted_name_is_put_in_order() -> None:
    assert straightened("Dermatitis, contact, acne") == "contact dermatitis, acne"
    assert straightened("wart, seborrheic keratosis") == "wart, seborrheic keratosis"


def test_what_is_no_diagnosis() -> None:
    assert diagnosis_of("melanoma") is None
    assert diagnosis_of("") is None


def test_the_other_diagnoses_of_a_domain() -> None:
    stye = diagnosis_of("stye")
    assert stye is not None
    assert others_of_domain(stye) == ("conjunctivitis", "chalazion")


def test_four_temperaments_with_five_facets() -> None:
    assert PERSONALITIES == ("choleric", "melancholic", "phlegmatic", "sanguine")
    for temperament in TEMPERAMENTS:
        facets = dataclasses.asdict(temperament)
        assert len(facets) == 6
        assert all(text.strip() for text in facets.values())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["You itch.", " It is  red. "], ["You itch.", "It is red."]),
        ("['You itch.', \"It's red.\"]", ["You itch.", "It's red."]),
        ("- You itch.\n\n- It is red.\n", ["You itch.", "It is red."]),
        ("* You itch.\r\n* It is red.", ["You itch.", "It is red."]),
        ("1. You itch.\n12) It is red.", ["You itch.", "It is red."]),
        ("You itch.\nIt is red.", ["You itch.", "It is red."]),
        ("You itch. It is 1.5 cm wide.", ["You itch.", "It is 1.5 cm wide."]),
        ("You itch", ["You itch"]),
        ("[You itch.] It is red.", ["[You itch.] It is red."]),
        ("[{[]: 1}]", ["[{[]: 1}]"]),
        ("", []),
        ([], []),
    ],
)
def test_complaints_in_every_form(value: object, expected: list[str]) -> None:
    assert parse_complaints(value) == expected


@pytest.mark.parametrize("value", [None, 7, {"a": 1}, [None], [["You itch."]], b"You itch."])
def test_what_is_no_list_of_complaints(value: object) -> None:
    with pytest.raises(InputError) as error:
        parse_complaints(value, "row 3")
    assert error.value.where == "row 3"


def test_official_row_becomes_ours() -> None:
    row = from_official(OFFICIAL, split="test", position=41)
    assert list(row) == list(CORPUS.features)
    assert row["image_id"] == "3mdbench_test_000042"
    assert (row["diagnosis"], row["domain"], row["personality"]) == ("eczema", "dermatology", "sanguine")
    assert row["source_label"] == "Eczema"
    assert row["general_complaint"] == "Your skin is dry."
    assert row["complaints"] == ["You scratch at night.", "It began a week ago."]
    assert row["image"] == OFFICIAL["image"]
    assert row["licence"] == "unknown"
    assert [row[name] for name in ("complaints_status", "source", "group_id", "cluster_id")] == [None] * 4
    stored = pa.Table.from_pylist([{**row, "image": None}], schema=CORPUS.features.arrow_schema)
    assert stored.num_rows == 1


@pytest.mark.parametrize(
    "damage",
    [
        {"diagnosis": "melanoma"},
        {"diagnosis": None},
        {"personality": "neutral"},
        {"personality": ""},
        {"general_complaint": " "},
        {"complaints": None},
        {"complaints": " "},
    ],
)
def test_official_row_that_cannot_be_used(damage: dict[str, object]) -> None:
    with pytest.raises(InputError, match=r"univanxx/3mdbench: row 8 of test"):
        from_official(OFFICIAL | damage, split="test", position=7)


def test_the_corpus_is_registered() -> None:
    assert corpus("3mdbench") is CORPUS
    assert CORPUS.official_rows == {"test": 2_996}
    assert set(CORPUS.official_columns) == set(OFFICIAL)
