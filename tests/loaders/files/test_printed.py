"""What Python, numpy and pandas print of lists and objects is read back, and nothing else is."""

from __future__ import annotations

import pprint
from typing import Any

import numpy as np
import pytest

from loaders.files.printed import parse_printed

TEXTS = ["a", "it's", "both \"' of them", "two\nlines", "\u00e9 \U0001f600 \\", "array([1])", "", "x" * 200]


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        TEXTS,
        {"a": None, "b": True, "c": -1.5e-7, "d": [1, -2], 3: {"e": TEXTS, "f": "long " * 9}},
        [[["deep"]], [], {"a": []}],
    ],
)
def test_what_python_prints(value: Any) -> None:
    expected = {str(name): inner for name, inner in value.items()} if isinstance(value, dict) else value
    assert parse_printed(repr(value)) == expected
    assert parse_printed(f"\n {pprint.pformat(value, width=20)} ") == expected


def test_what_numpy_prints() -> None:
    texts = np.array(TEXTS * 20, dtype=object)
    for printed in (str(texts), repr(texts)):
        assert "\n" in printed and parse_printed(printed) == TEXTS * 20
    objects = np.array([{"a": np.array(["x", "y"], dtype=object), "b": np.array([], dtype=object)}] * 2, dtype=object)
    for printed in (str(objects), repr(objects)):
        assert parse_printed(printed) == [{"a": ["x", "y"], "b": []}] * 2
    assert parse_printed(str(np.array(["a", None, float("nan")], dtype=object))) == ["a", None, None]
    assert parse_printed(str([np.float64(0.5), np.int64(-3), np.True_, np.str_("a")])) == [0.5, -3, True, "a"]
    assert parse_printed(repr(np.array([1, -2, 3], dtype=np.int8))) == [1, -2, 3]
    assert parse_printed(str(np.array([[1.0, -2.5]]))) == [[1.0, -2.5]]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "[a]",
        "[deleted]",
        "[2 weeks ago]",
        "[1, 2",
        "['a', ... 'b']",
        "{'a': 1 'b': 2}",
        "{'a', 'b'}",
        "{[]: 1}",
        "['a'] 'b'",
        "['a\\x']",
        "['a\nb'",
        "['a\nb']",
        "[open('x')]",
        "[__import__('os')]",
        "array",
        "array(",
        "array([1], dtype=",
        "[1 + 1]",
        "[1_000]",
        "[" * 5000 + "]" * 5000,
        "[" + "9" * 5000 + "]",
        str(np.arange(2000)),
    ],
)
def test_what_nothing_prints_so(text: str) -> None:
    with pytest.raises(ValueError):
        parse_printed(text)
