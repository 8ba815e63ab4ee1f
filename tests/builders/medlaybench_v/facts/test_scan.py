"""Facts of a caption: hand-checked sentences, and the spans of thousands of generated ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.medlaybench_v.facts import facts_of, read
from builders.medlaybench_v.facts.reading import OfWords


def facts(text: str, kind: str) -> list[tuple[str, str]]:
    return [(f.value, f.unit) for f in facts_of(read(text)) if f.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 2.5 cm mass", [("2.5", "cm")]),
        ("a 2.50-cm mass", [("2.5", "cm")]),
        ("a .5 cm stone (.25 cm), and .2 x .3 cm", [("0.5", "cm"), ("0.25", "cm"), ("0.2", "cm"), ("0.3", "cm")]),
        ("3 x 4 × 5 cm", [("3", "cm"), ("4", "cm"), ("5", "cm")]),
        ("3 to 5 mm", [("3", "mm"), ("5", "mm")]),
        ("1,200 ml and 1,5 cm", [("1200", "ml"), ("1.5", "cm")]),
        ("100,000 ml, 100.000 ml, 1,234,567 ml", [("100000", "ml"), ("100", "ml"), ("1234567", "ml")]),
        ("0,500 ml, 0,125 ml, 10,500 ml", [("0.5", "ml"), ("0.125", "ml"), ("10500", "ml")]),
        ("a 45-year-old woman", [("45", "year")]),
        ("twenty-five years, two nodules", [("25", "year"), ("2", "")]),
        ("on the 33rd day", [("33", "ordinal")]),
        ("the third ventricle and the 3rd rib", [("3", "ordinal"), ("3", "ordinal")]),
        ("stage IIIb, type II, Type 1 canal", [("3B", "grade"), ("2", "grade"), ("1", "")]),
        ("T2-weighted; L5; 18F-FDG", [("T2", "code"), ("L5", "code"), ("18F", "code")]),
        ("patient. X-ray of the hand", []),
        ("the patient: X-ray", []),
        ("50% stenosis at 90°", [("50", "%"), ("90", "°")]),
        ("no one knows", []),
    ],
)
def test_numbers(text: str, expected: list[tuple[str, str]]) -> None:
    assert facts(text, "number") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("left lung and right kidney", ["left", "right"]),
        ("bilateral; on both sides", ["both", "both"]),
        ("B/L infiltrates", ["both"]),
        ("the drain was left in place", []),
        ("ipsilateral node; the opposite side", ["same", "opposite"]),
    ],
)
def test_sides(text: str, expected: list[str]) -> None:
    assert [value for value, _ in facts(text, "side")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CT, MDCT and PET/CT", ["CT", "CT", "PET", "CT"]),
        ("T1 MR image", ["MRI"]),
        ("tell us about the cat and the pet", []),
        ("US of the liver", ["ultrasound"]),
        ("CT angiography", ["CT", "angiography"]),
        ("CTA", ["CT", "angiography"]),
        ("turbo spin echo", []),
        ("chest x-ray, X ray, plain film", ["X-ray", "X-ray", "X-ray"]),
        ("blood vessel scan", ["angiography"]),
        ("lymphangiography, cholangiography", ["angiography"]),
    ],
)
def test_modalities(text: str, expected: list[str]) -> None:
    assert [value for value, _ in facts(text, "modality")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(white arrow)", ["colour white", "arrow"]),
        ("black and white arrowheads", ["colour black", "colour white", "arrowhead"]),
        ("(*)", ["asterisk"]),
        ("(red)", ["colour red"]),
        ("white matter", []),
        ("circle of Willis", []),
        ("grey circle", ["colour gray", "circle"]),
    ],
)
def test_markers(text: str, expected: list[str]) -> None:
    assert [value for value, _ in facts(text, "marker")] == expected


def test_negations() -> None:
    assert [v for v, _ in facts("No mass, without edema; non-contrast, free of air", "negation")] == [
        "no",
        "without",
        "non",
        "free of",
    ]
    assert facts("case No. 75", "negation") == []


@given(st.text(alphabet="abcLeftright 0123456789.,-()%*°/×ßİéCT\n", max_size=80))
def test_spans_lie_in_the_text_and_in_order(text: str) -> None:
    found = facts_of(read(text))
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert [f.start for f in found] == sorted(f.start for f in found)


def test_what_is_to_be_known_of_a_word_is_found_out_once() -> None:
    asked: list[str] = []

    def is_short(word: str) -> bool:
        asked.append(word)
        return len(word) < 3

    short = OfWords(is_short)
    for _ in range(2):
        assert list(read("The mass is in the lung, as is the node.").where(short)) == [2, 3, 6, 7]
    assert sorted(asked) == sorted(set(asked))


def test_words_are_forgotten_before_there_are_too_many() -> None:
    lengths = OfWords(len)
    assert all(lengths[str(i)] == len(str(i)) for i in range(70_000))
    assert len(lengths) < 66_000
