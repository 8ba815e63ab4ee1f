"""Labels of the sources and the 34 diagnoses: the bundled tables, own tables, and what weighted labels agree on."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from builders.threemdbench import labels
from builders.threemdbench.labels import BY_NAME, Entry, LabelMap, assign, bundled, read_label_map
from builders.threemdbench.sources import KINDS
from loaders.errors import InputError
from loaders.threemdbench import DIAGNOSES, NAMES
from tests.parts.places import shared_data

TABLES = sorted(path.stem for path in Path(labels.__file__).parent.glob("*.csv"))
SKIN = LabelMap(
    {
        "eczema": Entry("eczema", "exact", ""),
        "tinea": Entry("mycosis", "narrower", ""),
        "tinea versicolor": Entry("mycosis", "narrower", ""),
        "lichenoid": Entry("lichen planus", "mixed", "other causes too"),
        "insect bite": Entry("", "", ""),
        "scabies": Entry("", "", "mites"),
    }
)


@pytest.mark.parametrize("name", TABLES)
def test_bundled_tables(name: str) -> None:
    entries = bundled(name).entries
    assert entries
    for label, entry in entries.items():
        assert (entry.diagnosis in NAMES) == bool(entry.match), label
        # What a mixed class holds beside its diagnosis has to be said.
        assert entry.note or entry.match != "mixed", label


def test_every_bundled_table_belongs_to_a_source() -> None:
    assert {kind.labels for kind in KINDS.values()} - {""} == set(TABLES)


def test_names_that_only_look_alike_are_distinguished() -> None:
    fitzpatrick = bundled("fitzpatrick17k")
    for label in ("mycosis fungoides", "urticaria pigmentosa", "acquired autoimmune bullous diseaseherpes gestationis"):
        entry = fitzpatrick.entry(label)
        assert entry is not None
        assert entry.diagnosis == ""
    ham = bundled("ham10000")
    assert {entry.match for entry in ham.entries.values() if entry.diagnosis} == {"mixed"}


def test_labels_are_known_in_any_case_and_with_underscores() -> None:
    assert bundled("oral").entry("Mouth_Ulcer ") == bundled("oral").entry("mouth ulcer")
    assert bundled("nails").entry("Acral_Lentiginous_Melanoma") == Entry("", "", "")


@pytest.mark.parametrize(
    ("found", "diagnosis", "reason"),
    [
        ([("Eczema", 1.0)], "eczema", ""),
        ([("Eczema", 0.5), ("Insect Bite", 0.25), ("Scabies", 0.25)], "eczema", ""),
        ([("Eczema", 0.5), ("Insect Bite", 0.5)], "", "labels disagree"),
        ([("Eczema", 0.41), ("Insect Bite", 0.41), ("Tinea", 0.18)], "", "labels disagree"),
        ([("Eczema", 0.4), ("Insect Bite", 0.3), ("Tinea", 0.3)], "", "labels disagree"),  # the most, not half
        # 0.5 of 0.997 and 0.497: after rounding to two digits, neither is known to be more.
        ([("Eczema", 0.5), ("Tinea", 0.33), ("Tinea Versicolor", 0.167)], "", "labels disagree"),
        ([("Eczema", 0.34), ("Tinea", 0.33), ("Tinea Versicolor", 0.33)], "mycosis", ""),
        ([("Insect Bite", 0.5), ("Scabies", 0.5)], "", "labels disagree"),
        ([("Eczema", 0.495), ("Insect Bite", 0.3), ("Scabies", 0.2)], "eczema", ""),
        ([("Insect Bite", 1.0)], "", "not one of the 34 diagnoses"),
        ([("Something new", 1.0)], "", "unknown label"),
        ([("Lichenoid", 1.0)], "", "label mixes conditions"),
        ([("Eczema", 3.0), ("Tinea", 1.0)], "eczema", ""),
        ([], "", "no label"),
        ([("Eczema", 0.0)], "", "no label"),
    ],
)
def test_what_weighted_labels_agree_on(found: list[tuple[str, float]], diagnosis: str, reason: str) -> None:
    assigned = assign(found, SKIN)
    assert (assigned.diagnosis, assigned.problem.partition(": ")[0]) == (diagnosis, reason)


@pytest.mark.parametrize(("heavy", "light"), [("Tinea Versicolor", "Tinea"), ("Tinea", "Tinea Versicolor")])
def test_the_reported_label_is_the_heaviest_of_its_diagnosis(heavy: str, light: str) -> None:
    assert assign([(light, 0.2), (heavy, 0.5), ("Eczema", 0.3)], SKIN).label == heavy


def test_mixed_classes_are_used_where_a_build_asks_for_them() -> None:
    assert assign([("Lichenoid", 1.0)], SKIN).problem == "label mixes conditions: Lichenoid: other causes too"
    assert assign([("Lichenoid", 1.0)], SKIN, mixed=True).diagnosis == "lichen planus"
    assert assign([("Lichenoid", 1.0)], SKIN, mixed=True).mixed == "other causes too"
    assert assign([("Eczema", 1.0)], SKIN, mixed=True).mixed == ""


def test_a_mixed_class_is_known_as_one_although_its_table_does_not_say_what_else_it_holds() -> None:
    # "" would mean that the class is not mixed, and nobody would be asked about it.
    without_note = LabelMap({"lichenoid": Entry("lichen planus", "mixed", "")})
    assert assign([("Lichenoid", 1.0)], without_note, mixed=True).mixed == "other conditions are in the same class"


def test_without_a_table_labels_have_to_name_the_diagnoses() -> None:
    assert assign([("Contact-Dermatitis", 1.0)], BY_NAME).diagnosis == "contact dermatitis"
    assert assign([("pink_eye", 1.0)], BY_NAME).diagnosis == "conjunctivitis"
    for diagnosis in DIAGNOSES:  # hyphens of a name, as in "HSV-1", are none of a folder's
        for name in (diagnosis.name, *diagnosis.synonyms):
            assert assign([(name, 1.0)], BY_NAME).diagnosis == diagnosis.name, name
    assert assign([("rash", 1.0)], BY_NAME).problem == "unknown label: rash"


def test_an_own_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("Label,Diagnosis\nsore throat,tonsillitis\nhealthy,\nAkne\u0301,acne\n", encoding="utf-8")
    assert read_label_map(path).entries == {
        "sore throat": Entry("tonsillitis", "exact", ""),
        "healthy": Entry("", "", ""),
        "akn\u00e9": Entry("acne", "exact", ""),  # however its accent is written, here or in the name of a folder
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("label,diagnosis\na,melanoma\n", "diagnosis 'melanoma'"),
        ("label,diagnosis\nA,acne\na,acne\n", "label 'a' a second time"),
        ("label,diagnosis\n,acne\n", "a row without a label"),
        ("label,diagnosis,match\na,acne,maybe\n", "match 'maybe'"),
        ("name,diagnosis\na,acne\n", "has no column 'label'"),
        ("label,diagnosis\n", "holds only a header line"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "mine.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_label_map(path)
    assert found in error.value.found
    assert str(path) in error.value.where


def test_the_tables_hold_every_label_of_the_real_sources() -> None:
    with shared_data("tables/fitzpatrick17k.csv").open(encoding="utf-8") as file:
        found = {row["label"] for row in csv.DictReader(file)}
    assert {label for label in found if bundled("fitzpatrick17k").entry(label) is None} == set()
    with shared_data("tables/HAM10000_metadata.csv").open(encoding="utf-8") as file:
        found = {row["dx"] for row in csv.DictReader(file)}
    assert {label for label in found if bundled("ham10000").entry(label) is None} == set()
