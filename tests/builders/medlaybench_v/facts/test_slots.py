"""Words that gave way to others in captions that keep the rest."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.facts.outcome import Outcome
from builders.medlaybench_v.facts.slots import compare

EXPERT = "Axial CT shows a hypodense lesion in the upper pole of the left kidney with mild dilatation of the ureter."
GLOSSES = (
    ("Axial", "cross-section"),
    ("hypodense", "darker-looking"),
    ("lesion", "abnormal area"),
    ("dilatation", "widening"),
    ("ureter", "ureter (tube from kidney to bladder)"),
)
LAY = (
    "A cross-section CT scan shows a darker-looking abnormal area in the upper pole of the left kidney with mild "
    "widening of the ureter (tube from kidney to bladder)."
)


def found(lay: str, expert: str = EXPERT, glosses: tuple[tuple[str, str], ...] = GLOSSES) -> Outcome:
    outcome = Outcome()
    compare(read(expert), read(lay), glosses, outcome)
    return outcome


@pytest.mark.parametrize(
    "lay",
    [
        LAY,
        EXPERT,
        LAY.replace("cross-section", "axial"),  # the vocabulary's words, or the expert's
        LAY.replace(" (tube from kidney to bladder)", ""),
        LAY.replace("mild", "slight").replace("pole", "end"),  # other words for the same
        LAY.replace("abnormal area", "spot"),
        LAY.replace("widening", "stretching"),
        LAY.replace("ureter (tube from kidney to bladder)", "ureter (the pipe in which urine leaves the kidney)"),
        LAY.replace("the upper pole of the left kidney", "the left kidney's upper pole"),
    ],
)
def test_nothing_is_found_in_a_caption_that_tells_the_same(lay: str) -> None:
    outcome = found(lay)
    assert not outcome.failed, outcome.reason
    assert not outcome.doubts


def test_a_phrase_for_no_word_stands_nowhere() -> None:
    assert found(LAY, glosses=(*GLOSSES, ("", "nothing"))) == found(LAY)


@pytest.mark.parametrize(
    ("right", "wrong", "reason"),
    [
        ("left kidney", "left ovary", "changed: kidney became ovary"),
        ("upper", "lower", "changed: upper became lower"),
        ("mild", "severe", "changed: mild became severe"),
        ("darker", "brighter", "changed: darker became brighter"),
        ("abnormal area", "normal area", "changed: abnormal became normal"),
        ("widening", "narrowing", "changed: widening became narrowing"),
        ("to bladder", "to stomach", "changed: bladder became stomach"),
    ],
)
def test_one_other_word_fails(right: str, wrong: str, reason: str) -> None:
    outcome = found(LAY.replace(right, wrong, 1))
    assert outcome.failed
    assert outcome.reason == reason


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("high", "low"),
        ("axial", "sagittal"),
        ("first", "second"),
        ("intraarticular", "extraarticular"),
        ("stable", "unstable"),
        ("hyperintense", "hypointense"),
        ("preoperative", "postoperative"),
    ],
)
def test_words_that_exclude_each_other_fail_in_either_direction(one: str, other: str) -> None:
    for said, told in ((one, other), (other, one)):
        expert = f"MRI of the knee in a boy shows the {said} segment of the tendon beside a swollen bursa."
        outcome = found(expert.replace(said, told), expert, ())
        assert outcome.failed
        assert told in outcome.reason


def test_two_words_that_changed_places_fail_but_a_list_may_be_told_in_any_order() -> None:
    expert = "Chest CT shows fluid around the liver, a stone in the gallbladder and gas in the stomach wall."
    swapped = "Chest CT shows fluid around the gallbladder, a stone in the liver and gas in the stomach wall."
    assert found(swapped, expert, ()).reason == "swapped: liver and gallbladder"
    listed = "MRI shows tears of the meniscus and the ligament in the knee of a runner."
    assert not found("MRI shows tears of the ligament and the meniscus in the knee of a runner.", listed, ()).failed


@pytest.mark.parametrize(
    ("lay", "doubt"),
    [
        (LAY.replace("kidney with", "kidney and a cyst of the spleen with"), "new: cyst"),
        (LAY.replace("in the upper pole of", "in"), "lost: upper"),
        (LAY.replace(" with mild widening of the ureter (tube from kidney to bladder)", ""), "lost: ureter"),
    ],
)
def test_what_is_added_or_left_out_is_in_doubt(lay: str, doubt: str) -> None:
    outcome = found(lay)
    assert not outcome.failed
    assert doubt in outcome.reason


def test_a_caption_told_in_words_of_its_own_has_no_frame() -> None:
    lay = "High up in one kidney, the spleen side, a dark spot was seen on this scan; below it the stomach looks wide."
    outcome = found(lay)
    assert not outcome.failed
    assert not outcome.doubts


def test_a_term_that_only_the_record_names_is_not_left_out() -> None:
    outcome = found(LAY.replace("mild", "slight"), glosses=(*GLOSSES, ("thorax", "chest")))
    assert not outcome.doubts
