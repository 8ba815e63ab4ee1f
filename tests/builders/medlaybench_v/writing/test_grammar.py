"""What the rule-based refiner mends, and what it leaves alone."""

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.writing.draft import Drafter
from builders.medlaybench_v.writing.grammar import indefinite, polish, tidy
from tests.parts.terms import TERMS

DRAFTER = Drafter(TERMS)


def polished(text: str) -> str:
    caption = read(text)
    return polish(DRAFTER.draft(caption, DRAFTER.match(caption)))


@pytest.mark.parametrize(
    ("expert", "expected"),
    [
        ("an aneurysm of the aorta", "An aneurysm (bulge in a blood vessel) of the aorta."),
        ("a radiograph and an angiogram", "An X-ray picture and a blood vessel scan."),
        ("chest thoracic computed tomography", "Chest CT scan."),
        ("computed tomography scan of the head", "CT scan of the head."),
        ("radiograph images", "X-ray images."),
        ("the renal artery angiogram", "The renal artery scan."),
        ("computed tomography ,  axial", "CT scan, cross-section."),
        ("edema ( arrow )", "Swelling (arrow)."),
        ("A nodule", "A small lump."),
        ("No edema!", "No swelling!"),
        ("pT2 edema", "pT2 swelling."),
        ("a large, edema", "A large swelling."),
    ],
)
def test_polish(expert: str, expected: str) -> None:
    assert polished(expert) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("in the the liver", "In the liver."),
        ("a mass , 2.5 cm", "A mass, 2.5 cm."),
        ("mass.shown here", "Mass.shown here."),
        (
            "the stomach(arrow) and lesion(s).LV, left (front view)The liver",
            "The stomach (arrow) and lesion(s). LV, left (front view) The liver.",
        ),
        ("at the diagnosisThere is air, in an enhancedCT", "At the diagnosis. There is air, in an enhancedCT."),
        ("see Fig. 3.The tip", "See Fig. 3. The tip."),
        ("before surgery CTThis is a side view", "Before surgery CT. This is a side view."),
        ("at the diagnosisInitial MRI (arrow)CT exam", "At the diagnosis. Initial MRI (arrow) CT exam."),
        ("swelling and swelling, larger and larger", "Swelling, larger and larger."),
        ("the heart and heart valves", "The heart and heart valves."),
        ("note;", "Note."),
        ("a bone bone-destroying area", "A bone-destroying area."),
        ("x-ray of the hand", "X-ray of the hand."),
        ("a CT scan (CT scan) scan of the chest", "A CT scan of the chest."),
        ("a FLAIR (a kind of MRI picture) axial MRI slice", "A FLAIR (a kind of picture) axial MRI slice."),
        ("a FLAIR (a kind of MRI picture) slice", "A FLAIR (a kind of MRI picture) slice."),
        ("an MRI scan (side view) scan of the chest", "An MRI scan (side view) of the chest."),
        ("a CT scan with contrast dye (CT scan with contrast dye) of it", "A CT scan with contrast dye of it."),
        ("a plain X-ray X-ray of the chest-level spine spine", "A plain X-ray of the chest-level spine."),
    ],
)
def test_tidy(text: str, expected: str) -> None:
    assert tidy(text) == expected


def test_articles_follow_the_sound() -> None:
    assert [indefinite(w) for w in ("hour", "unit", "MRI scan", "CT scan", "X-ray", "(umbrella)")] == [
        "an",
        "a",
        "an",
        "a",
        "an",
        "an",
    ]


def test_original_articles_away_from_the_seams_stay() -> None:
    assert polished("an unusual edema in a uterus") == "An unusual swelling in a uterus."
