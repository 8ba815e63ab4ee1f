"""What a screen shows of an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaders.errors import CHECK_PATH, CHECK_WHOLE, NAME_FILE, InputError
from loaders.files.images import ImageError, open_image
from loaders.files.tables import read_records


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("has no column 'id'", "it has no column 'id'"),
        ("already exists here", "it already exists here"),
        ("already holds another release", "it already holds another release"),
        ("says more", "it says more"),
        ("states no format", "it states no format"),
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


@pytest.mark.parametrize(
    ("name", "content", "do"),
    [
        ("absent.csv", None, CHECK_PATH),
        (".", None, NAME_FILE),
        ("a.csv", b"", CHECK_WHOLE),
        ("a.csv", b"id\n", CHECK_WHOLE),
        ("a.csv", b"\n\n", CHECK_WHOLE),
        ("a.jsonl", b"\n", CHECK_WHOLE),
    ],
)
def test_what_many_readers_find_has_one_advice(name: str, content: bytes | None, do: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_records(tmp_path / name)
    assert refused.value.do == do


def test_an_unusable_image_gives_no_general_advice() -> None:
    """It is the detail of one photo of many, in reports and releases, where that would only repeat."""
    with pytest.raises(ImageError) as refused:
        open_image(b"")
    assert refused.value.do == ""
