"""The preview of a release: what a maintainer sees before it is published, and what must not get into it."""

from __future__ import annotations

import base64
import io
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from PIL import Image

from builders.release.preview import _sample, write_preview
from builders.threemdbench.preview import PREVIEW
from loaders.errors import InputError, ReleaseError
from scripts.cli import execute
from tests.builders.threemdbench.test_recipe import build, photo_table, rows_of
from tests.parts.pictures import photo


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photos whose files, patients and metadata give away what nobody should see."""
    folder = tmp_path_factory.mktemp("photos")
    exif = Image.Exif()
    exif[0x010E] = "Jane Roe"
    files = {}
    for n in range(6):
        buffer = io.BytesIO()
        Image.open(io.BytesIO(photo("acne", n))).save(buffer, "JPEG", exif=exif)
        files[f"jane_roe_{n}.jpg"] = buffer.getvalue()
    rows = [{"file": name, "label": "acne", "group_id": f"patient {name}"} for name in files]
    build(folder, f"table={photo_table(folder / 'photos', rows, files)}")
    return folder / "release"


def test_photos_come_with_what_their_patients_say(photos: Path, tmp_path: Path) -> None:
    text = write_preview(photos, tmp_path / "page.html", PREVIEW).read_text(encoding="utf-8")
    test = next(row for row in rows_of(photos) if row["split"] == "test")
    assert "6 of the photos" in text and "Stand-in" in text
    assert text.count("data:image/jpeg;base64,") == 6
    for said in (test["general_complaint"], test["personality"], test["image_id"], *test["complaints"]):
        assert said.replace("'", "&#39;") in text


def test_nothing_private_or_stripped_gets_into_it(photos: Path, tmp_path: Path) -> None:
    page = write_preview(photos, tmp_path / "page.html", PREVIEW).read_bytes()
    for given_away in (b"jane", b"Jane Roe", b"patient jane", b"<script", b"http:", b"https:", str(photos).encode()):
        assert given_away not in page
    pictures = [base64.b64decode(found) for found in re.findall(rb"data:image/jpeg;base64,([\w+/=]+)", page)]
    assert pictures
    assert all(b"Jane" not in data and not Image.open(io.BytesIO(data)).getexif() for data in pictures)


def test_a_release_that_was_changed_is_not_shown(photos: Path, tmp_path: Path) -> None:
    changed = shutil.copytree(photos, tmp_path / "changed")
    (shard,) = (changed / "data").glob("test*")
    rows = pq.read_table(shard)
    shutil.copyfile(next((changed / "data").glob("train*")), shard)
    with pytest.raises(ReleaseError, match=rf"changed/data/{shard.name}: [\d,]+ bytes"):
        write_preview(changed, tmp_path / "page.html", PREVIEW)
    pq.write_table(rows, shard)
    assert execute(["preview", str(changed), "-o", str(tmp_path / "page.html")]) == 2
    assert not (tmp_path / "page.html").exists()


def test_a_preview_that_shows_no_entry_is_told_and_not_called_a_broken_release(photos: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="preview of 3mdbench: a NoneType of a row .expected an Entry"):
        write_preview(photos, tmp_path / "page.html", replace(PREVIEW, show=lambda row: None))


def test_a_picture_that_cannot_be_shown_is_told_with_its_row(photos: Path, tmp_path: Path) -> None:
    def show(row: dict[str, Any]) -> Any:
        return PREVIEW.show(row | {"image": {"bytes": row["image"]["bytes"][:400], "path": None}})

    with pytest.raises(InputError, match=r"row \S+ of 3mdbench: cannot be decoded"):
        write_preview(photos, tmp_path / "page.html", replace(PREVIEW, show=show))


def test_columns_that_are_not_named_are_not_shown() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (300, 300)).save(buffer, "JPEG")
    row = dict.fromkeys(("image_id", "split", "diagnosis", "domain", "general_complaint", "complaints"), "x")
    row |= dict.fromkeys(("complaints_status", "personality", "source", "licence", "attribution"), "x")
    hidden = dict.fromkeys(("group_id", "source_file", "cluster"), "never to be shown")
    shown = repr(PREVIEW.show({**row, **hidden, "image": {"bytes": buffer.getvalue()}}))
    assert "data:image/jpeg" in shown and "never to be shown" not in shown


@pytest.mark.parametrize(
    ("early", "others", "shown"), [(30, 0, (8, 0)), (30, 3, (5, 3)), (30, 30, (2, 6)), (1, 30, (1, 7)), (3, 2, (3, 2))]
)
def test_rows_that_come_first_are_a_quarter_or_what_others_leave(
    early: int, others: int, shown: tuple[int, int]
) -> None:
    rows = [{"key": f"{n:02}", "early": n < early} for n in range(early + others)]
    drawn = _sample(rows, "key", lambda row: bool(row["early"]), 8, 0)
    assert [row["early"] for row in drawn] == [True] * shown[0] + [False] * shown[1]
    assert len({row["key"] for row in drawn}) == len(drawn)


def test_rows_are_drawn_by_seed_and_the_page_is_the_same_again(photos: Path, tmp_path: Path) -> None:
    pages = [write_preview(photos, tmp_path / f"{n}.html", PREVIEW, rows=2, seed=n % 3).read_bytes() for n in range(6)]
    assert pages[:3] == pages[3:]
    assert len(set(pages)) > 1
    assert execute(["preview", str(photos), "--rows", "0", "-o", str(tmp_path / "none.html")]) == 0
    assert "Sample: 0 of the photos" in (tmp_path / "none.html").read_text(encoding="utf-8")
