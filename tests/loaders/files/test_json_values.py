"""JSON of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from loaders.errors import InputError
from loaders.files.bad_rows import check_bad
from loaders.files.json_values import parse_json, understood


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b" ", "is empty"),
        (b'{"a": 1', "is incomplete JSON"),
        (b'\n{"a": }', "f:2: is incomplete JSON"),
        (b"case,turns\n1,2", "is not JSON"),
        (b'"case","turns"\n1,2', "is not JSON"),
        (b"1,2", "is not JSON"),
        (b"\x89PNG\r\n\x1a\n", "f: is a picture .PNG"),
        (b"[NaN]", "NaN is no number"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b"[" * 100_000, "nested too deep"),
        (b"[" * 101 + b"]" * 101, "nested too deep"),
        (b'{"a": "\\ud800"}', "is not valid text"),
        (b'{"\\uDFFF": 1}', "is not valid text"),
        (b'["\\u0000"]', "is not valid text"),
        (b"1" * 5_000, "is not JSON"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8"),
    ],
)
def test_what_is_no_json_is_one_error(text: bytes, found: str) -> None:
    with pytest.raises(InputError, match=found):
        parse_json(text, "f")


def test_json_that_is_unusual_and_sound() -> None:
    sound = [[[]] * 200, "\\ud83d\\ude00 \\\\ud800", {"é": [1e308, -0.0, None]}, "x" * 100_000]
    assert parse_json(json.dumps(sound).encode(), "f") == sound
    assert parse_json(b'"\\ud83d\\ude00"', "f") == "😀"


def test_content_of_another_shape_is_one_error_and_ours_stay() -> None:
    with (
        pytest.raises(InputError, match=r"f: does not hold what was written \(KeyError"),
        understood("f", expected="a"),
    ):
        {}["a"]
    with pytest.raises(FileNotFoundError), understood("f", expected="a"):
        Path("/nowhere").read_bytes()
    with pytest.raises(InputError, match="own: x"), understood("f", expected="a"):
        check_bad(["a"], 1, "own: x")
