"""Numbers by a column: a planted gap is found with its interval; a column that nobody tells is named."""

from __future__ import annotations

import random

import pytest

from baselines.statistics.resampling import bootstrap_means
from baselines.statistics.significance import holm, two_groups, wilson_interval
from baselines.threemdbench.slices import Measure, sides_of, sliced
from builders.threemdbench.sources.traits import traits
from loaders.errors import InputError
from loaders.threemdbench import CORPUS, with_label
from tests.parts.runs import record


def test_a_planted_gap_between_two_slices_is_found_with_its_interval() -> None:
    draw = random.Random(3)
    sides = {"skin_type": {f"c{n}": ("Fitzpatrick 1", "Fitzpatrick 6")[n % 2] for n in range(400)}}
    right = {f"c{n}": float(draw.random() < (0.8, 0.5)[n % 2]) for n in range(420)}  # 20 of no side
    measure = Measure("Accuracy", "percent", "up", right, 100)
    cells = sliced(
        [measure], sides, record=record("classifier"), paper="3MDBench", row="CNN", setting="", resamples=500, seed=1
    )
    by = {(cell.column, cell.split_or_group): cell for cell in cells}
    assert list(by) == [
        ("Accuracy", "Fitzpatrick 1"),
        ("Accuracy", "Fitzpatrick 6"),
        ("Accuracy, worst slice", "Fitzpatrick 6"),
    ]
    dark = [right[f"c{n}"] for n in range(400) if n % 2]
    light = [right[f"c{n}"] for n in range(400) if not n % 2]
    cases = sorted(f"c{n}" for n in range(400) if n % 2)
    boot = bootstrap_means([right[case] for case in cases], resamples=500, seed=1, clusters=cases)
    cell = by["Accuracy", "Fitzpatrick 6"]
    assert (cell.value, cell.ci95, cell.n) == (*boot.estimate(scale=100), 200)
    assert cell.ci95 is not None and cell.ci95[0] < 50 < cell.ci95[1] < 65
    p = two_groups(dark, light)
    assert cell.note == f"against all others p = {p:.3g}" and p < 1e-4


def test_photos_of_one_patient_are_one_value_and_a_slice_without_an_error_is_no_certainty() -> None:
    """Four patients with fifty photos each, all right or all wrong: four values, not two hundred."""
    cases = [f"{patient}{n:02d}" for patient in "abcd" for n in range(50)]
    sides = {"sex": {case: "female" if case[0] in "ab" else "male" for case in cases}}
    values = {case: float(case[0] in "ab") for case in cases}
    measure = Measure("Accuracy", "percent", "up", values, 100, (0, 1))
    female, male, worst = sliced(
        [measure], sides, record=record("classifier"), paper="3MDBench", row="CNN", setting="",
        groups={case: case[0] for case in cases}, resamples=50, seed=1,
    )  # fmt: skip
    p = two_groups([1, 1], [0, 0])
    assert f"p = {p:.3g}" in female.note and p > 0.1
    assert female.ci95 == pytest.approx([100 * end for end in wilson_interval(2, 2)])
    assert male.ci95 == worst.ci95 == pytest.approx([100 * end for end in wilson_interval(0, 2)])


def test_three_slices_are_adjusted_and_equal_slices_have_no_worst() -> None:
    sides = {"domain": {f"c{n:02d}": "abc"[n % 3] for n in range(60)}}
    cases = sorted(sides["domain"])
    apart = Measure("Accuracy", "percent", "up", {case: float(at % 3 > 0 or at < 9) for at, case in enumerate(cases)})
    alike = Measure("Reached", "percent", "up", dict.fromkeys(cases, 1.0), within=(0, 1))
    cells = sliced(
        [apart, alike],
        sides,
        record=record("classifier"),
        paper="3MDBench",
        row="CNN",
        setting="",
        resamples=20,
        seed=1,
    )
    assert [(cell.column, cell.split_or_group) for cell in cells] == [
        *(("Accuracy", side) for side in "abc"),
        ("Accuracy, worst slice", "a"),
        *(("Reached", side) for side in "abc"),
    ]
    parts = {side: [apart.values[case] for case in cases if sides["domain"][case] == side] for side in "abc"}
    raw = [two_groups(parts[one], [v for other in "abc" if other != one for v in parts[other]]) for one in "abc"]
    assert [cell.note for cell in cells[:3]] == [f"against all others p = {p:.3g} (Holm)" for p in holm(raw).tolist()]


def test_the_worst_of_what_should_be_small_is_the_largest_and_one_case_is_not_tested() -> None:
    values = {"a": 0.5, "b": 0.0, "c": 0.25, "d": 0.25}
    sides = {"sex": {case: "female" if case == "a" else "male" for case in values}}
    few = Measure("Error", "proportion", "down", values)
    length = Measure("Length", "words", "none", values)
    female, male, worst, *lengths = sliced(
        [few, length], sides, record=record("classifier"), paper="3MDBench", row="CNN", setting="", resamples=20, seed=1
    )
    assert (worst.column, worst.split_or_group) == ("Error, worst slice", "female") and len(lengths) == 2
    assert female.note == male.note == ""


def test_a_column_that_is_empty_is_an_error_that_names_those_that_are_not() -> None:
    rows = [{"image_id": "a", "skin_type": None, "sex": "female"}, {"image_id": "b", "skin_type": "", "sex": None}]
    assert sides_of(rows, ["sex"], "runs/x") == {"sex": {"a": "female"}}
    with pytest.raises(InputError, match=r"skin_type is told of no case of runs/x.*scin, fitzpatrick17k, isic"):
        sides_of(rows, ["skin_type"], "runs/x")
    with pytest.raises(InputError, match=r"source_label is told of no case of runs/x .*such as diagnosis"):
        sides_of(rows, ["source_label"], "runs/x")
    with pytest.raises(InputError, match="no column 'age'.*age_group"):
        sides_of(rows, ["age"], "runs/x")


def test_traits_are_read_in_every_spelling_of_the_sources() -> None:
    read = traits(("Fitzpatrick", "", "the person"), ("Fitzpatrick", "IV", "a doctor"), age="AGE_80_OR_OLDER", sex="M")
    assert (read.skin_type, read.skin_type_asserted_by, read.age_group, read.sex) == (
        "Fitzpatrick 4", "a doctor", "80+", "male")  # fmt: skip
    assert traits(("Fitzpatrick", "7", "x"), ("Monk", "10", "y"), age="17").skin_type == "Monk 10"
    nothing = traits(("Fitzpatrick", "-1", "x"), age="AGE_UNKNOWN", sex="OTHER_OR_UNSPECIFIED")
    assert (nothing.skin_type, nothing.age_group, nothing.sex) == (None, None, None)


def test_the_label_is_the_diagnosis_as_a_class() -> None:
    assert CORPUS.features["label"].int2str(CORPUS.features["label"].str2int("hives")) == "hives"
    assert with_label({"diagnosis": "hives"})["label"] == 1 and with_label({"diagnosis": "x"})["label"] is None
