"""Captions that hardly change: which common words are explained there, and where they are left as they are."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.writing.bare import read_bare
from builders.medlaybench_v.writing.draft import Drafter
from tests.parts.rule_captions import lay
from tests.parts.terms import TERMS


@pytest.mark.parametrize(
    ("caption", "said"),
    [
        ("A CT of the inferior dislocation of the right hip.", "inferior dislocation (toward the bottom) of"),
        ("CT after posterior shoulder dislocation.", "posterior shoulder dislocation (toward the rear)"),
        ("CT of the posterior band of it.", "posterior band (at the rear)"),
        ("Ultrasound of the lymph node at the site of cervical swelling.", "cervical swelling (in the neck)"),
        ("The arrow shows a fibrous lesion beside it.", "fibrous lesion (abnormal area) beside"),
        # When it was, although the word stands behind its months; a word that is part of a name.
        ("8 months postoperative X-ray showing union.", "8 months postoperative X-ray (after surgery)"),
        ("Sagittal CT showing a clivus fracture.", "clivus (bone at the skull base) fracture"),
        # Where enough is told, in a sentence without another bracket.
        ("An inferior dislocation with edema of the hip.", "inferior dislocation (toward the bottom) with swelling"),
        (
            "An inferior dislocation of the hip and of the knee, and of the elbow and hand, edema and agenesis.",
            "inferior dislocation (toward the bottom) of",
        ),
        ("CT showing solid fusion at L4/5.", "fusion (joining of bones) at"),
        ("Edema of the hip. A fibrous lesion beside it.", "fibrous lesion (abnormal area) beside"),
    ],
)
def test_the_commonest_words_are_explained_where_little_else_is(caption: str, said: str) -> None:
    assert said in lay(caption)


@pytest.mark.parametrize(
    ("caption", "kept"),
    [
        ("An inferior dislocation, edema and agenesis.", "inferior dislocation, swelling and agenesis (failure"),
        ("The lateral live X-ray view is shown.", "lateral live X-ray view is"),  # a view from the side
        ("The anterior and the posterior.", "anterior and the posterior"),  # no noun that it belongs to
        ("The anterior incisors of a dog are shown.", "anterior incisors"),  # another sense
        ("A posterior right outer upper fracture.", "posterior right outer upper fracture"),  # a long name
        ("A posterior-lateral cardiac pin.", "posterior-lateral"),
        ("The skull shows histiocytosis X.", "histiocytosis X"),
    ],
)
def test_elsewhere_they_stay_alone(caption: str, kept: str) -> None:
    assert kept in lay(caption)


def test_they_belong_to_the_bundled_vocabulary() -> None:
    drafter = Drafter(TERMS)
    expert = read("A CT of the inferior dislocation of the right hip.")
    assert "(" not in drafter.draft(expert, drafter.match(expert)).text
    assert all(word.entry.lay.startswith(f"{name} (") for name, word in read_bare().items())
