"""What every page has in common: one file, nothing fetched, nothing run, whatever stands in the data."""

from __future__ import annotations

import base64
import html
import io
import json
import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from PIL import Image

from loaders.errors import InputError
from loaders.files.images import ImageError
from loaders.pages import Entry, Field, cut, embedded, marked, render, thumbnail, write_page, write_text

TEMPLATE = "tests/loaders/page_in_tests.html"
EVIL = "</script><img src=http://x/y onerror=alert(1)> {{ 7 * 7 }} & \"q\" 'z'"


def test_what_a_page_is_given_is_text(tmp_path: Path) -> None:
    shown = Entry([Field(EVIL, EVIL, EVIL), Field("list", [EVIL])], alt=EVIL, status=EVIL, small=[EVIL])
    page = write_page(tmp_path / "deep" / "page.html", TEMPLATE, said=EVIL, shown=shown).read_text("utf-8")
    assert "<img" not in page and "</script" not in page and "49" not in page
    assert html.unescape(page).count(EVIL) >= 12 and "1,234,567" in page
    # As an attribute it ends none, and every table scrolls by keyboard under its name.
    assert len(re.findall(r'<div class="scroll" role="region" aria-label="[^"<>]+" tabindex="0">', page)) == 2


def test_a_page_fetches_nothing_and_runs_nothing(tmp_path: Path) -> None:
    page = render(TEMPLATE, said="x", shown=Entry([]))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert policy and policy[1] == "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    assert not re.search(r"<script|<link|@import|url\(|https?:", page)
    assert "prefers-color-scheme: dark" in page and "@media print" in page and 'name="viewport"' in page


def test_a_template_that_lacks_something_is_an_error_and_no_page(tmp_path: Path) -> None:
    with pytest.raises(UndefinedError):
        write_page(tmp_path / "page.html", TEMPLATE, said="x")
    assert not (tmp_path / "page.html").exists()


def test_text_that_cannot_be_encoded_does_not_stop_a_page(tmp_path: Path) -> None:
    page = write_page(tmp_path / "page.html", TEMPLATE, said="\ud800", shown=Entry([]))
    assert "\\ud800" in page.read_text("utf-8")


def test_data_of_a_script_cannot_end_it() -> None:
    text = embedded({"evil": EVIL, "line": "\u2028"})
    assert not re.search(r"[<>&]", text) and text.isascii()
    assert json.loads(text) == {"evil": EVIL, "line": "\u2028"}


def test_a_thumbnail_is_small_and_nothing_but_pixels() -> None:
    exif = Image.Exif()
    exif[0x010E] = "Jane Roe"
    buffer = io.BytesIO()
    Image.new("RGB", (800, 400), (200, 10, 10)).save(buffer, "JPEG", exif=exif, comment=b"Jane Roe")
    kind, _, data = thumbnail(buffer.getvalue(), 100).partition(",")
    assert kind == "data:image/jpeg;base64" and b"Jane" not in base64.b64decode(data)
    with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
        assert picture.size == (100, 50)
    with pytest.raises(ImageError, match="truncated"):
        thumbnail(buffer.getvalue()[:-200])


def test_marks_are_numbered_and_neither_overlap_nor_open_an_element() -> None:
    concepts = [
        {"start": 8, "end": 12, "lay": "liver"},
        {"start": 0, "end": 7, "lay": "<b>big</b>"},
        {"start": 3, "end": 7, "lay": "inside the first"},
        {"start": 13, "end": 15, "lay": ""},
        {"start": -1, "end": 0, "lay": "not in the text"},
    ]
    text, phrases = marked("Large<r hepar & x", concepts)
    assert text == "<mark>Large&lt;r<sup>1</sup></mark> <mark>hepa<sup>2</sup></mark>r &amp; x"
    assert phrases == ["1 Large<r → <b>big</b>", "2 hepa → liver"]


def test_a_flood_is_cut_and_its_length_stated() -> None:
    assert cut("x" * 10, 10) == "x" * 10
    assert cut("x" * 2_011, 10) == "x" * 10 + "… (2,001 more characters)"


def test_a_page_takes_the_place_of_a_page_alone(tmp_path: Path) -> None:
    path = tmp_path / "manifest.json"
    for page in ("<!doctype html>\n<p>1", "<!doctype html>\n<p>2"):
        assert write_text(tmp_path / "page", page).read_text() == page
    path.write_text("{}")
    with pytest.raises(InputError, match="exists and holds something else"):
        write_text(path, "<!doctype html>")
    assert path.read_text() == "{}"
