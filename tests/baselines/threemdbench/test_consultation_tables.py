"""The paper's tables from consultations: values by hand, keys of the paper, and what is never left out unsaid."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from baselines.results.comparison import Compared
from baselines.results.published import counterpart, published
from baselines.results.run import Result, write_run
from baselines.statistics.significance import benjamini_hochberg, mann_whitney, wilson_interval
from baselines.threemdbench.consultation.differences import System, differences, told_apart
from baselines.threemdbench.consultation.names import family, model_name, setting_name, shared_family
from baselines.threemdbench.consultation.record import Consultation, Role, Turn
from baselines.threemdbench.consultation.settings import SETTINGS
from baselines.threemdbench.consultation.tables import FIGURE_4, TEMPERAMENT_TESTS, results
from loaders.errors import InputError
from scripts.cli import execute
from tests.parts.consultations import consultation, graded, many, record, said, write_dialogues

Cells = dict[tuple[str, str, str], Result]


def cells(found: list[Result]) -> Cells:
    return {(one.table, one.column, one.split_or_group): one for one in found}


def test_table_5_by_hand() -> None:
    made = [
        consultation(0),
        consultation(1, extraction=said("Hordeolum")),
        consultation(2, extraction=said("chalazion", "stye")),
        consultation(3, extraction=said(), turns=consultation().turns * 2),
        consultation(4, extraction=said("melanoma")),
        consultation(5, extraction=said(failure="no list"), parse_failures=2),
        consultation(6, finished=False, ended="cap", turns=consultation().turns * 7),
        consultation(7, assessment=graded("prose")),
    ]
    found = cells(results(made, record(), resamples=50, lost=2))
    group = "test (8 cases)"

    def value(column: str) -> float:
        cell = found["Table 5", column, group]
        assert cell.value is not None
        return cell.value

    # Right: 0, 1 and 7; by the authors also 2, whose second name is a sample of its own.
    assert value("Accuracy (strict)") == pytest.approx(100 * 3 / 8)
    assert value("F1 (strict)") == pytest.approx(100 * 2 * 3 / (8 + 3))
    # Dropped: 3, 5 and 6 (unfinished). Samples: stye, stye, chalazion, stye, melanoma, stye, all of gold stye.
    assert value("F1 (cleaned)") == pytest.approx(100 * 2 * 4 / (6 + 4))
    # In the raw answers, "Hordeolum" with its capital is none of the notebook's names.
    assert value("F1") == pytest.approx(100 * 2 * 3 / (6 + 3))
    assert value("F1 (strict, macro)") == pytest.approx(value("F1 (strict)"))  # of one diagnosis, not of 34
    unread = "1 answer that could not be read taken for none"
    macro = found["Table 5", "F1 (strict, macro)", group].note
    assert macro == f"over the 1 of 34 classes that occur here; {unread}"
    # The notebook's F1 takes the answer as it was written.
    columns = ("F1", "F1 (cleaned)", "F1 (strict)", "Accuracy (strict)", "No diagnosis", "Several diagnoses")
    noted = [unread in found["Table 5", column, group].note for column in columns]
    assert noted == [False, True, True, True, True, False]
    assert value("Number of utterances (mean)") == pytest.approx((6 * 4 + 8 + 28) / 8)
    assert value("Number of utterances (SD)") == pytest.approx(np.std([4] * 6 + [8, 28], ddof=1))
    rates = {
        "No diagnosis": 3, "Several diagnoses": 1, "Outside the 34": 1, "Unfinished": 1, "Reasoning not parsed": 1,
        "Extraction failed": 1, "Assessment failed": 1,
    }  # fmt: skip
    for column, count in rates.items():
        assert value(column) == pytest.approx(100 * count / 8), column
        assert found["Table 5", column, group].numerator == count
    assert value("Not played") == pytest.approx(100 * 2 / 10)


def test_what_became_of_the_doctors_answers_is_counted_by_consultation() -> None:
    def told(*flags: str, role: Role = "doctor") -> tuple[Turn, ...]:
        first, doctor, *others = consultation().turns
        return (replace(first if role == "patient" else doctor, flags=flags), first, doctor, *others)

    made = [
        consultation(0, turns=told("max_tokens")),
        consultation(1, turns=told("max_tokens", "empty")),
        consultation(2, turns=told("filtered", "empty")),
        consultation(3, turns=told("no_room", "empty")),
        consultation(4, turns=told("max_tokens", "empty", role="patient")),
    ]
    found = cells(results(made, record(), resamples=20))
    counts = {name: found["Table 5", f"{name} answers", "test (5 cases)"] for name in ("Empty", "Refused", "Truncated")}
    assert {name: one.numerator for name, one in counts.items()} == {"Empty": 3, "Refused": 2, "Truncated": 2}
    assert all(one.denominator == 5 and "of the doctor" in one.note for one in counts.values())
    assert found["Table 5", "Silent patient", "test (5 cases)"].numerator == 1


def test_an_unfinished_dialogue_counts_in_mode_authors_and_not_in_mode_paper() -> None:
    made = [consultation(0), consultation(1, finished=False, ended="cap", assessment=graded(i11=0))]
    paper = cells(results(made, record(), resamples=20))
    authors = cells(results(made, record(), unfinished="authors", resamples=20))
    group = "test (2 cases)"
    assert [found["Table 5", "Accuracy (strict)", group].value for found in (paper, authors)] == [50, 100]
    assert [found["Table 6", "Criterion 1.1", group].value for found in (paper, authors)] == [1, 0.5]
    assert [found["Table 6", "Criterion 1.1", group].n for found in (paper, authors)] == [1, 2]
    assert all(found["Table 5", "Unfinished", group].value == 50 for found in (paper, authors))


def test_slices_count_as_the_tables_do_and_no_length_is_the_worst() -> None:
    made = [consultation(n, finished=n < 2, ended="break" if n < 2 else "cap") for n in range(4)]
    made += [consultation(n, turns=consultation().turns * 2, extraction=said()) for n in range(2)]  # again, and wrong
    sides = {"sex": {one.case_id: "female" if one.finished else "male" for one in made}}
    for mode, male in (("paper", 0), ("authors", 100)):
        found = cells(results(made, record(), unfinished=mode, resamples=20, sides=sides))  # type: ignore[arg-type]
        by_sex = {(column, group): one.value for (table, column, group), one in found.items() if table == "By sex"}
        assert [by_sex["Accuracy (strict)", group] for group in ("female", "male")] == [50, male]
        assert [by_sex["Number of utterances (mean)", group] for group in ("female", "male")] == [6, 4]
        assert not any(column == "Number of utterances (mean), worst slice" for column, _ in by_sex)


def test_failed_assessments_are_left_out_of_the_means_and_reported() -> None:
    made = [consultation(0, assessment=graded(i41=1)), consultation(1, assessment=graded("prose"))]
    found = cells(results(made, record(), resamples=20))
    criterion = found["Table 6", "Criterion 4.1", "test (2 cases)"]
    assert (criterion.value, criterion.n, criterion.unit) == (1, 1, "mean of 0/1/2")
    assert criterion.note == "1 consultation without an assessment that counts left out"
    assert found["Table 5", "Assessment failed", "test (2 cases)"].value == 50
    nothing = cells(results([made[1]], record(), resamples=20))["Table 6", "Criterion 4.1", "test (1 case)"]
    assert nothing.value is None and nothing.note


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_cell_of_the_paper_for_a_doctor_in_a_setting_gets_its_counterpart(setting: str) -> None:
    found = results(many(120, setting=setting), record("openai/gpt-4o-mini"), resamples=20)
    # The ledger's group is the whole test split: give these cells its name.
    whole = [replace(one, split_or_group=one.split_or_group.replace("(120 cases)", "(2996 cases)")) for one in found]
    keys = {one.key for one in whole if counterpart(one)}
    expected = {
        one.key
        for table in ("Table 5", "Table 6")
        for one in published("3MDBench", table)
        if (one.row, one.setting) == ("GPT-4o-mini", setting_name(setting))
    }
    assert keys == expected and (expected or setting == "dialogue+image+cues")
    units = {
        pair.own.unit == pair.paper.unit for pair in (Compared(one, counterpart(one)) for one in whole) if pair.paper
    }
    assert units <= {True}


def test_a_setting_without_dialogue_has_no_utterances_and_no_rubric() -> None:
    found = results(many(60, setting="image+all"), record(), resamples=20)
    assert not [one for one in found if "utterances" in one.column or one.column.startswith("Criterion")]
    assert {one.table for one in found} == {"Table 5", "Figure 3 (text Sec 4.2)", "Figure 5", TEMPERAMENT_TESTS}


def test_figures_split_the_cases_by_domain_and_by_temperament() -> None:
    made = many(200)
    found = cells(results(made, record(), resamples=20))
    assert sum(one.n or 0 for (table, _, _), one in found.items() if table == "Figure 11") == 200
    for domain in ("dermatology", "nails"):
        some = [one for one in made if one.domain == domain]
        alone = cells(results(some, record(), resamples=20))
        assert (
            found["Figure 13", "Criterion 1.1", domain].value
            == alone["Table 6", "Criterion 1.1", f"test ({len(some)} cases)"].value
        )
        # Over the names of the domain only: a diagnosis of another domain costs recall and no precision.
        assert found["Figure 3 (text Sec 4.2)", "F1 (strict)", domain].value == pytest.approx(
            alone["Table 5", "F1 (strict)", f"test ({len(some)} cases)"].value
        )
    quiet = found["Figure 4 (text Sec 4.4)", "Fewer turns with phlegmatic patients", "phlegmatic"]
    lengths = {one.case_id: one.utterances for one in made}
    short = [lengths[one.case_id] for one in made if one.temperament == "phlegmatic"]
    others = [lengths[one.case_id] for one in made if one.temperament != "phlegmatic"]
    assert quiet.value == pytest.approx(np.mean(others) - np.mean(short))
    assert quiet.ci95 and quiet.ci95[0] < (quiet.value or 0) < quiet.ci95[1]


@pytest.mark.parametrize("seed", range(6))
def test_too_few_temperaments_for_an_interval_leave_the_number(seed: int) -> None:
    """Half of the resamples of two cases hold both: in some seeds too few for an interval, with every answer paid."""
    made = [consultation(0, temperament="phlegmatic"), consultation(1, temperament="sanguine")]
    found = cells(results(made, record(), resamples=11, seed=seed))
    fewer = found["Figure 4 (text Sec 4.4)", "Fewer turns with phlegmatic patients", "phlegmatic"]
    assert fewer.value == 0 and (fewer.ci95 is None or fewer.ci95 == (0, 0))


def test_tests_between_temperaments_are_kruskal_wallis_and_pairs_adjusted_together() -> None:
    made = many(160)
    found = cells(results(made, record(), resamples=20))
    groups = [
        [float(one.utterances) for one in made if one.temperament == name]
        for name in ("choleric", "melancholic", "phlegmatic", "sanguine")
    ]
    assert found[TEMPERAMENT_TESTS, "Kruskal-Wallis p", "utterances"].value == pytest.approx(
        stats.kruskal(*groups).pvalue
    )
    pairs = [(one, other) for one in range(4) for other in range(one + 1, 4)]
    adjusted = benjamini_hochberg([mann_whitney(groups[one], groups[other])[1] for one, other in pairs])
    own = [one.value for (table, column, group), one in found.items() if group == "utterances" and "(BH)" in column]
    assert own == pytest.approx(adjusted.tolist())
    assert found[TEMPERAMENT_TESTS, "choleric / phlegmatic p (BH)", "utterances"].value == pytest.approx(adjusted[1])


def test_a_temperament_with_one_case_is_in_no_test() -> None:
    made = [one for one in many(40) if one.temperament in ("choleric", "sanguine")]
    alone = consultation(50, temperament="melancholic")
    found = cells(results([*made, alone], record(), resamples=20))
    tested = {column for table, column, _ in found if table == TEMPERAMENT_TESTS}
    assert tested == {"Kruskal-Wallis p", "choleric / sanguine p (BH)"}
    assert found[TEMPERAMENT_TESTS, "Kruskal-Wallis p", "utterances"].n == len(made)


def test_repetitions_of_a_case_are_averaged_before_rank_tests() -> None:
    made = many(40)
    once = cells(results(made, record(), resamples=20))
    thrice = cells(results(made * 3, record(), resamples=20))
    key = (TEMPERAMENT_TESTS, "Kruskal-Wallis p", "utterances")
    assert once[key].value == thrice[key].value and once[key].n == thrice[key].n
    column = ("Table 5", "Unfinished", "test (40 cases)")
    assert once[column].value == thrice[column].value and thrice[column].n == 120


def test_repetitions_of_a_case_make_no_interval_narrower() -> None:
    once = [consultation(number) for number in range(12)]
    found = cells(results(once * 4, record(), resamples=50))
    rate = found["Table 5", "No diagnosis", "test (12 cases)"]
    assert rate.value == 0 and rate.ci95 == pytest.approx((0, 100 * wilson_interval(0, 12)[1]))
    overall = found["Table 6", "Criterion 4.1", "test (12 cases)"]  # excellent throughout, on a scale of 0 to 2
    assert overall.value == 2 and overall.ci95 == pytest.approx((2 * wilson_interval(12, 12)[0], 2))
    made = many(40)
    key = (FIGURE_4, "Fewer turns with phlegmatic patients", "phlegmatic")
    alone, again = (cells(results(run, record(), resamples=50))[key].ci95 for run in (made, made * 3))
    assert alone is not None and again == pytest.approx(alone)


def of_few_patients(made: list[Consultation], photos: int = 3) -> list[Consultation]:
    """The same, with several cases of each patient that went alike."""
    return [
        replace(one, case_id=f"{one.case_id}-{photo}", group=one.case_id) for photo in range(photos) for one in made
    ]


def test_several_photos_of_a_patient_make_no_interval_narrower() -> None:
    made = many(40, skill=0.6)
    repeated = results(made * 3, record(), resamples=50)
    several = results(of_few_patients(made), record(), resamples=50)
    tested = (TEMPERAMENT_TESTS,)  # rank tests take cases as independent, and average repetitions
    once, thrice = ([one for one in found if one.table not in tested] for found in (repeated, several))
    assert [(one.column, one.value, one.n) for one in once] == [(one.column, one.value, one.n) for one in thrice]
    for one, other in zip(once, thrice, strict=True):
        assert one.ci95 == pytest.approx(other.ci95), one.column
    sides = {"skin type": {one.case_id: "I-II" for one in of_few_patients(made)}}
    slices = [one for one in results(of_few_patients(made), record(), sides=sides, resamples=50) if "By " in one.table]
    whole = cells(several)["Table 6", "Criterion 4.1", "test (120 cases)"]
    (mine,) = [one for one in slices if one.column == "Criterion 4.1"]
    assert mine.ci95 == pytest.approx(whole.ci95, abs=0.1)


def test_every_setting_has_a_name_of_the_paper_but_our_own() -> None:
    named = {one.setting for one in published("3MDBench", "Table 5")} | {"dialogue + image + external cues"}
    assert {setting_name(setting) for setting in SETTINGS} <= named


def test_models_are_named_as_in_the_paper_and_families_recognised() -> None:
    rows = {one.row for table in ("Table 3", "Table 4", "Table 5") for one in published("3MDBench", table)}
    named = ("openai/gpt-4o-mini", "hf/google/medgemma-27b-it", "vllm/Qwen/Qwen2-VL-7B-Instruct")
    assert {model_name(name) for name in named} <= rows
    assert model_name("vllm/Qwen/Qwen3-8B") == "vllm/Qwen/Qwen3-8B"
    assert family("vllm/llava-hf/llava-onevision-qwen2-72b-ov-chat-hf") == family("vllm/Qwen/Qwen2-VL-7B-Instruct")
    assert family("openai-api/local/mystery") is None
    assert shared_family("openai/gpt-4o-mini", "openai/gpt-4.1") == "GPT"
    for one, other in ((None, None), ("openai/gpt-4o", None), ("scripted/x", "scripted/x"), ("grok", "claude")):
        assert shared_family(one, other) is None


# --- Doctors and settings against each other --------------------------------------------------------------------------


def test_pairs_are_tested_by_wilcoxon_and_adjusted_over_all_pairs_of_a_table() -> None:
    systems = [System(f"s{at}", many(150, skill=0.3 + 0.2 * at, seed=at)) for at in range(3)]
    found = differences(systems, resamples=50)
    for table in ("Table 5", "Table 6"):
        tested = [one for one in found if one.table == table and one.p is not None]
        expected = stats.false_discovery_control([one.p for one in tested])
        assert [one.p_adjusted for one in tested] == pytest.approx(expected.tolist())
    assert sum(one.p is not None and one.table == "Table 6" for one in found) == 3 * 8
    for one in (one for one in found if one.measure in ("Number of utterances", "Diagnosis right (strict)")):
        sides = [next(system for system in systems if system.label == label) for label in (one.first, one.second)]
        values = [
            [float(c.utterances) if "utterances" in one.measure else float(right(c)) for c in side.consultations]
            for side in sides
        ]
        differing = [a - b for a, b in zip(*values, strict=True) if a != b]
        better = sum(each > 0 for each in differing)
        exact = stats.binomtest(better, len(differing)).pvalue  # of outcomes 0 and 1: the sign test (3M-G22)
        assert one.p == pytest.approx(stats.wilcoxon(differing).pvalue if "utterances" in one.measure else exact)
        scale = 1 if "utterances" in one.measure else 100
        assert one.difference == pytest.approx(scale * (np.mean(values[0]) - np.mean(values[1])))


def right(one: Consultation) -> bool:
    return one.finished and one.extraction.names[:1] == (one.gold,)


def test_the_difference_of_f1_is_that_of_the_tables_with_a_paired_interval() -> None:
    made = many(150, skill=0.4, seed=1), many(150, skill=0.7, seed=2)
    found = {one.measure: one for one in differences([System("a", made[0]), System("b", made[1])], resamples=200)}
    for column in ("F1", "F1 (strict)"):
        alone = [
            cells(results(one, record(), resamples=5))["Table 5", column, "test (150 cases)"].value for one in made
        ]
        assert found[column].difference == pytest.approx((alone[0] or 0) - (alone[1] or 0))
        low, high = found[column].ci95
        assert low < found[column].difference < high < 0 and found[column].p is None
    assert found["Diagnosis right (strict)"].significant and not found["Criterion 2.1"].significant
    assert found["Criterion 2.1"].p == 1.0


def test_differences_draw_the_cases_of_a_patient_together() -> None:
    """Also if only one of the two runs stored the patients: earlier versions did not."""
    made = [many(60, skill=skill, seed=seed) for skill, seed in ((0.4, 1), (0.7, 2))]
    first, second = map(of_few_patients, made)
    once = differences([System("a", made[0]), System("b", made[1])], resamples=200)
    several = differences([System("a", first), System("b", second)], resamples=200)
    for one, other in zip(once, several, strict=True):
        assert (one.measure, one.difference) == (other.measure, pytest.approx(other.difference))
        assert one.ci95 == pytest.approx(other.ci95), one.measure
    earlier = [replace(one, group="") for one in second]
    assert differences([System("a", first), System("b", earlier)], resamples=200) == several


def test_equal_systems_differ_in_nothing() -> None:
    made = many(60)
    for one in differences([System("a", made), System("b", made)], resamples=20):
        assert one.difference == 0 and one.p in (None, 1.0) and not one.significant
        # 60 cases without a difference leave room for some among all; lengths of talks have no ends to leave it to.
        low, high = one.ci95
        assert low == -high and (high == 0) == (one.measure == "Number of utterances")


def test_systems_with_one_label_are_told_apart() -> None:
    labels = [one.label for one in told_apart([System("a", []), System("b", []), System("a", [])], ["x", "y", "z"])]
    assert labels == ["a (x)", "b", "a (z)"]


def test_only_common_cases_are_compared_and_having_none_is_an_error() -> None:
    made = many(80)
    found = differences([System("a", made[:60]), System("b", made[20:])], resamples=20)
    assert {one.n for one in found if one.table == "Table 5"} == {40}
    with pytest.raises(InputError, match="no case in common"):
        differences([System("a", made[:40]), System("b", made[40:])])
    with pytest.raises(InputError, match="1"):
        differences([System("a", made)])


@pytest.mark.parametrize("seed", range(6))
def test_answers_of_too_few_cases_leave_out_the_difference_of_f1(seed: int) -> None:
    """Each answers in one of two cases, and half of the resamples hold both."""
    one = [consultation(0), consultation(1, extraction=said())]
    other = [consultation(0, extraction=said()), consultation(1)]
    found = differences([System("a", one), System("b", other)], resamples=11, seed=seed)
    assert {"F1 (strict)", "Diagnosis right (strict)"} <= {one.measure for one in found}


def test_a_setting_without_dialogue_is_compared_in_diagnosis_alone() -> None:
    systems = [System("a", many(60)), System("b", many(60, setting="image+all", seed=1))]
    assert {one.measure for one in differences(systems, resamples=20)} == {
        "F1", "F1 (strict)", "Diagnosis right (strict)",
    }  # fmt: skip


def test_the_command_compares_finished_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = []
    for at in range(2):
        made, facts = many(40, skill=0.2 + 0.6 * at, seed=at), record(f"scripted/{at}")
        folders.append(str(tmp_path / str(at)))
        write_run(Path(folders[-1]), facts, results(made, facts, resamples=5))
        write_dialogues(Path(folders[-1]), made)
    assert execute(["contrast", *folders, "--json"]) == 0
    read = json.loads(capsys.readouterr().out)
    assert {one["measure"] for one in read} >= {"F1", "F1 (strict)", "Criterion 4.1"}
    assert all(one["difference"] < 0 for one in read if one["measure"].startswith("F1"))
    assert execute(["contrast", *folders]) == 0
    shown = capsys.readouterr().out
    assert "scripted/0, dialogue + image" in shown and "stand-in" in shown
    (tmp_path / "fewer").mkdir()
    made[0] = replace(made[0], extraction=said(failure="an empty answer"))
    write_run(tmp_path / "fewer", facts, results(made[:9], facts, resamples=5))
    write_dialogues(tmp_path / "fewer", made[:9])
    assert execute(["contrast", folders[0], str(tmp_path / "fewer")]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "The runs played different cases (40, 9)" in told
    assert "run 2: of 9 consultations, 1 answer that could not be read taken for none" in told and "run 1" not in told
    (Path(folders[0]) / "dialogues.jsonl").unlink()
    assert execute(["contrast", *folders]) == 2
    assert "one with consultations" in " ".join(capsys.readouterr().err.split())


def test_a_doctor_that_is_not_in_the_paper_is_shown_alone_and_labelled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = record()
    write_run(tmp_path, facts, results(many(40), facts, resamples=5))
    assert execute(["compare", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "other models, settings or cases" in shown and "Table 6" in shown and "test (40 cases)" in shown
    assert "Figure 13" not in shown and "have no counterpart in the paper (--all" in shown
    capsys.readouterr()
    assert execute(["compare", str(tmp_path)]) == 0
    few = capsys.readouterr().out.splitlines()
    assert execute(["compare", str(tmp_path), "--all"]) == 0
    assert len(few) < 30 < 200 < len(capsys.readouterr().out.splitlines())
