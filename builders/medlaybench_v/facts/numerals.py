"""Numbers in words, "one thousand two hundred and forty", "twenty-five", "two dozen", "a twenty-fifth"; and commas in
figures."""

from __future__ import annotations

from collections.abc import Sequence

from builders.medlaybench_v.facts.words import CARDINALS, MONTHS, ORDINALS

_VALUES = {**CARDINALS, "one": 1, "zero": 0}
_TENS = {word: value for word, value in CARDINALS.items() if value in range(20, 100, 10)}
_POWERS = {"thousand": 1000, "million": 1_000_000}
_PARTS = {"hundredth": 100, "thousandth": 1000, "millionth": 1_000_000}


def with_point(figures: str) -> str:
    """A number without commas: they part its thousands, or one stands for the decimal point.

    >>> with_point("1,234,567"), with_point("12,5"), with_point("0,500")
    ('1234567', '12.5', '0.500')
    """
    first, *groups = figures.split(",")
    thousands = len(first) <= 3 and first.strip("0") and all(len(group.split(".")[0]) == 3 for group in groups)
    return figures.replace(",", "" if thousands else ".")


def in_figures(word: str) -> bool:
    """Whether a word begins as a number in figures of any script: "12", ".5", "33rd"."""
    return word[:1].isdecimal() or word[:1] == "."


def spelled(texts: Sequence[str], gaps: Sequence[str], i: int) -> tuple[float, int]:
    """The value of the number in words that begins at word i, and its last word. `gaps` stand before each word.

    >>> spelled("one thousand two hundred and forty".split(), [" "] * 6, 0)
    (1240.0, 5)
    """
    total, value, last = 0, *_below_thousand(texts, gaps, i)
    while (power := _POWERS.get(_word(texts, gaps, last + 1))) or value in _POWERS.values():
        if power:
            total, value, last = total + (value or 1) * power, 0, last + 1
        else:  # the number begins with "thousand"
            total, value = total + value, 0
        after = last + 1 + (_word(texts, gaps, last + 1) == "and")
        if _word(texts, gaps, after) not in _VALUES or _is_another(texts, gaps, last + 1, after):
            break
        value, last = _below_thousand(texts, gaps, after)
    return float(total + value), last


def _below_thousand(texts: Sequence[str], gaps: Sequence[str], i: int) -> tuple[int, int]:
    """A number in words below a thousand, or a power of ten alone, with its last word."""
    word = texts[i]
    if word in _POWERS:
        return _POWERS[word], i
    value, last = (100, i) if word == "hundred" else (12, i) if word == "dozen" else (_VALUES[word], i)
    if word in _TENS and 0 < _VALUES.get(_word(texts, gaps, i + 1), 0) < 10:
        value, last = value + _VALUES[texts[i + 1]], i + 1
    following = _word(texts, gaps, last + 1)
    if following == "dozen" and word != "hundred":
        return value * 12, last + 1
    if following == "hundred" and word not in ("hundred", "dozen"):
        value, last = value * 100, last + 1
    after = last + 1 + (_word(texts, gaps, last + 1) == "and")
    joined = texts[last] == "hundred" and _word(texts, gaps, after) in _VALUES
    if joined and not _is_another(texts, gaps, last + 1, after):
        rest, last = _below_thousand(texts, gaps, after)
        value += rest
    return value, last


def _is_another(texts: Sequence[str], gaps: Sequence[str], joint: int, i: int) -> bool:
    """Whether the number behind "and" is one of its own: "two hundred and three hundred", "one hundred and 5"."""
    if texts[joint] != "and":
        return False
    end = i + (texts[i] in _TENS and _word(texts, gaps, i + 1) in CARDINALS)
    return _word(texts, gaps, end + 1) in ("hundred", "thousand", "million", "dozen")


def part_of_one(texts: Sequence[str], gaps: Sequence[str], i: int) -> tuple[float, int] | None:
    """What part of one the words from i name, with the last of them: "twenty-fifth", "hundredth"; else None."""
    word = _word(texts, gaps, i).removesuffix("s")
    if word in _PARTS:
        return 1.0 / _PARTS[word], i
    following = _word(texts, gaps, i + 1).removesuffix("s")
    if word in _TENS and ORDINALS.get(following, 10) < 10 and gaps[i + 1] == "-":
        return 1.0 / (_TENS[word] + ORDINALS[following]), i + 1
    return None


def _word(texts: Sequence[str], gaps: Sequence[str], i: int) -> str:
    """Word i where it belongs to the one before it; "" behind a stop."""
    return texts[i] if i < len(texts) and gaps[i] in (" ", "-") else ""


def is_year(value: float) -> bool:
    """Whether a number may be the year of a date."""
    return 1900 <= value <= 2099 and float(value).is_integer()


def is_dated(before: str, value: float) -> bool:
    """Whether a number is the year of a date by the word `before` it: "in June 2019, 4 years after the injury"."""
    return is_year(value) and before in _BEFORE_YEARS


_BEFORE_YEARS = frozenset((*MONTHS, "in", "since", "from", "year"))
