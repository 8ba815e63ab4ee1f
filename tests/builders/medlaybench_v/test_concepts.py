"""The union of concepts, Equation 1 made definite."""

import pytest

from builders.medlaybench_v.concepts import Mention, cui_or_none, is_figure_marker, merge

CAPTION = "Right pleural effusion (arrow) and Pleural effusion on the left"


def at(surface: str, cui: str | None = None, source: str = "spacy", caption: str = CAPTION) -> Mention:
    start = caption.index(surface)
    return Mention(start, start + len(surface), surface, cui, source)


def test_a_cui_wins_over_an_earlier_source_and_place() -> None:
    entity = at("pleural effusion")
    concept = at("Pleural effusion", "C0032227", "medcat")
    assert merge([entity], [concept]) == [concept]


def test_the_earlier_source_wins_between_cuis_then_the_earlier_place() -> None:
    first = at("Pleural effusion", "C0032227", "medcat")
    second = at("pleural effusion", "C9999999", "vocabulary")
    assert merge([first], [second]) == [first]
    assert merge([second], [first]) == [second]
    assert merge([at("Pleural effusion"), at("pleural effusion")]) == [at("pleural effusion")]


def test_overlapping_mentions_stay_longest_first() -> None:
    whole, right, part = at("pleural effusion"), at("Right pleural effusion"), at("effusion")
    assert merge([part, whole], [right]) == [right, whole, part]
    starts_alike = at("pleural")
    assert merge([starts_alike, whole]) == [whole, starts_alike]


def test_spaces_and_case_do_not_make_two_concepts() -> None:
    assert (
        len(merge([Mention(0, 16, "pleural effusion", None, "a"), Mention(20, 38, "PLEURAL \n EFFUSION", None, "b")]))
        == 1
    )


def test_figure_markers_are_left_out_even_with_a_cui() -> None:
    assert merge([at("arrow", "C0000001", "medcat")], [at("left")]) == [at("left")]
    assert merge() == merge([]) == []


@pytest.mark.parametrize(
    "surface",
    ["arrow", "Arrows", "white arrow", "black and white arrowheads", "arrow head", "asterisk", "image", "images",
     "patient", "the patient", "Figure", "Fig. 2", "figure 2a", "case", "panel A", "red", "dotted line", "image b"],
)  # fmt: skip
def test_figure_marker(surface: str) -> None:
    assert is_figure_marker(surface)


@pytest.mark.parametrize(
    "surface",
    ["MR image", "central line", "line", "red nucleus", "white matter", "arrow injury", "case report", "left ventricle",
     "patient positioning", "star fracture", ""],
)  # fmt: skip
def test_not_a_figure_marker(surface: str) -> None:
    assert not is_figure_marker(surface)


def test_a_long_row_of_modifiers_is_decided_at_once() -> None:
    assert not is_figure_marker("a " * 5000 + "mass")


@pytest.mark.parametrize(
    ("text", "cui"),
    [("C0024109", "C0024109"), ("c0024109", None), ("C002410", None), ("39607008", None), ("", None), (None, None)],
)
def test_only_umls_identifiers_pass(text: str | None, cui: str | None) -> None:
    assert cui_or_none(text) == cui
