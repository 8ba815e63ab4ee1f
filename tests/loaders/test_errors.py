"""What a screen shows of an error."""

from __future__ import annotations

import pytest

from loaders.errors import InputError


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("has no column 'id'", "it has no column 'id'"),
        ("already exists", "it already exists"),
        ("failed, with a message", "it failed, with a message"),
        ("no column 'id'", "no column 'id'"),
        ("names=x", "names=x"),
        ("islands", "islands"),
        ("it holds nothing", "it holds nothing"),
    ],
)
def test_what_was_found_reads_behind_its_label(found: str, shown: str) -> None:
    error = InputError("captions.csv", found=found, expected="another")
    assert error.lines() == [f"  found    {shown}", "  expected another"]
    assert str(error) == f"captions.csv: {found} (expected another)"
