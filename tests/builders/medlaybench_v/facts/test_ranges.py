"""Ranges of amounts, and what is none."""

from __future__ import annotations

import pytest

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.facts.ranges import ranges


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11 to 13 nodules of 5-10 mm", [("count", 11, 13), ("length", 5, 10)]),
        ("between a third and a half of it", [("share", 33.3, 50)]),
        ("at least half but less than 70 percent", [("share", 50, 70)]),
        ("ranging from 3 to 8 mm", [("length", 3, 8)]),
        ("fell from 3 to 8 mm", []),
        ("levels L3-L5, grade 2 to 3, 13-11", []),
    ],
)
def test_ranges(text: str, expected: list[tuple[str, float, float]]) -> None:
    found = [(span.kind, round(span.low, 1), round(span.high, 1)) for span in ranges(read(text))]
    assert found == expected
