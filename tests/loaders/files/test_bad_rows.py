"""Rows that cannot be read."""

from __future__ import annotations

import pickle

import pytest

from loaders.errors import InputError
from loaders.files.bad_rows import BadRow, check_bad


def test_a_bad_row_is_reported_like_an_exclusion() -> None:
    bad = BadRow("a.csv:3", reason="no identifier", expected="a value in every row")
    assert (bad.detail, str(bad)) == (
        "(expected a value in every row)",
        "a.csv:3: no identifier (expected a value in every row)",
    )
    of = BadRow.of(InputError("a.csv:4", found="cui 'x'", expected="a CUI"))
    assert (of.where, of.reason, of.detail) == ("a.csv:4", "an unusable value", "cui 'x' (expected a CUI)")
    again = pickle.loads(pickle.dumps(bad))
    assert (again.reason, str(again)) == (bad.reason, str(bad))


def test_more_bad_rows_than_a_percentage_are_listed() -> None:
    check_bad(["a"], 100, "f")
    check_bad(["a"], 1, "f", most=100)
    with pytest.raises(InputError, match=r"2 of 100 rows cannot be read: a; b \(expected at most 1 %\)"):
        check_bad(["a", "b"], 100, "f")
    with pytest.raises(InputError, match="a; a; a; a; a; … "):
        check_bad(["a"] * 9, 9, "f")
    with pytest.raises(InputError):
        check_bad(["a"], 100, "f", most=float("nan"))
