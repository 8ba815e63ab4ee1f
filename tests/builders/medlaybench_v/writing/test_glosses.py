"""Words that keep their place and are explained in brackets, and where a bracket would say too much."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.writing.draft import Drafter
from builders.medlaybench_v.writing.glosses import explained
from tests.parts.terms import term

DRAFTER = Drafter(
    [
        term("gastric", "stomach", "anatomy", "adjective", site="the stomach"),
        term("bilateral", "on both sides", "laterality", "adjective"),
        term("medial", "inner", "direction", "adjective"),
        term("well-defined", "with clear edges", "finding", "adjective"),
        term("bony", "bone", "anatomy", "adjective", site="the bone"),
        term("meniscus", "meniscus (knee cartilage)", "anatomy"),
        term("labrum", "labrum (cartilage rim)", "anatomy"),
        term("bursa", "bursa (joint cushion)", "anatomy"),
        term("MFC", "MFC (knee end of a bone)", "anatomy"),
        term("TvX", "TvX (valve)", "anatomy"),
        term("MRX", "MRX (scan)", "modality"),
        term("gastric band clip", "clip", "device"),
        term("lung lesion", "abnormal area in the lung", "finding"),
        term("stent", "support tube", "device", gloss=True),
    ]
)


def draft(text: str) -> str:
    caption = read(text)
    return DRAFTER.draft(caption, DRAFTER.match(caption)).text


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        # Where nothing licenses the swap, the word stays and is explained once.
        ("the gastric pouch, a gastric pouch", "the gastric (stomach) pouch, a gastric pouch"),
        ("bilateral large and small cysts", "bilateral large and small cysts"),
        ("cysts that are not gastric", "cysts that are not gastric"),
        # Known words, the same word again, and parts of longer names get no bracket.
        ("a bony strut", "a bony strut"),
        ("not well-defined cysts and cysts", "not well-defined cysts and cysts"),
        ("medial or lateral to it", "medial or lateral to it"),
        # Two a sentence at most; the next sentence has room again, but says nothing twice.
        (
            "meniscus, labrum, bursa. The bursa and the meniscus.",
            "meniscus (knee cartilage), labrum (cartilage rim), bursa. The bursa (joint cushion) and the meniscus.",
        ),
        # The name of a method takes none of the room.
        (
            "MRX shows a meniscus, labrum and bursa.",
            "MRX (scan) shows a meniscus (knee cartilage), labrum (cartilage rim) and bursa.",
        ),
        # Behind plain words the expert's word stands only where it is the first bracket.
        ("meniscus, stent. Stent.", "meniscus (knee cartilage), support tube. Support tube (stent)."),
        # Capital letters: only as such, and not where the caption tells.
        ("the MFC and the mfc", "the MFC (knee end of a bone) and the mfc"),
        ("the condyle (MFC); the MFC", "the condyle (MFC); the MFC"),
        ("the TvX and tvx", "the TvX (valve) and tvx"),
        ("a heart valve [TvX]; the TvX", "a heart valve [TvX]; the TvX"),
        # No bracket parts a name with a slash.
        ("the MFC/TvX and meniscus/labrum", "the MFC/TvX (valve) and meniscus/labrum (cartilage rim)"),
        ("Meniscus (labrum)", "Meniscus (knee cartilage) (labrum)"),
        # A side goes with the place that has one.
        ("left lung lesion, right lung lesions", "abnormal area in the left lung, abnormal areas in the right lung"),
    ],
)
def test_words_that_stay(caption: str, said: str) -> None:
    assert draft(caption) == said


def test_what_explains_says_another_word() -> None:
    subcutaneous = term("subcutaneous", "under-the-skin", "anatomy", "adjective", site="the tissue under the skin")
    assert explained(subcutaneous) == "subcutaneous (under the skin)"
    assert explained(term("ovarian", "ovary", "anatomy", "adjective", site="the ovary")) == ""
    assert explained(term("cyst", "pocket", "finding")) == ""


def test_letters_with_marks_of_a_pattern() -> None:
    drafter = Drafter([term("CDX(+)", "CDX(+) (marked cell)", "finding")])
    caption = read("A node with CDX(+) in it.")
    assert drafter.draft(caption, drafter.match(caption)).text == "A node with CDX(+) (marked cell) in it."
