"""What a screen shows of an error."""

from __future__ import annotations

import pytest

from loaders.errors import InputError


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("has no column 'id'", "it has no column 'id'"),
        ("already exists here", "it already exists here"),
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


def test_what_many_readers_find_has_one_advice_unless_a_reader_has_its_own() -> None:
    assert InputError("a.csv", found="is empty").do == InputError("b.xml", found="holds only a header line").do != ""
    assert InputError("a.csv", found="is empty", do="Fetch it").do == "Fetch it"
    assert InputError("a.csv", found="is emptyish").do == ""
