"""HTML pages: one environment, one look (`templates/page.css`), and everything inside the file.

A page is one file that opens from disk. It fetches nothing, which its content policy enforces, and runs scripts only
where a person makes decisions. Templates are named by their path (`builders/release/preview.html`) and extend
`loaders/templates/page.html`; what several of them share is a macro in `loaders/templates/parts.html`. Pictures are
decoded and encoded again, so that nothing but their pixels gets into a page.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape
from PIL import Image

from loaders.files.disk import write_whole
from loaders.files.images import open_image
from loaders.files.opening import refuse_other

SIDE = 360  # pixels of the longer side of a picture


@dataclass(frozen=True, slots=True)
class Field:
    """A heading and what stands below it: a text, or several as a list; `tone` is expert, lay, failed or none."""

    name: str
    text: str | Sequence[str]
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of a corpus as pages show it: its picture as a data URL, what it says, and a line of small print."""

    fields: Sequence[Field]
    picture: str | None = None
    alt: str = ""
    status: str = ""
    small: Sequence[str] = ()


def write_page(path: Path, template: str, **content: object) -> Path:
    """Write a page and return its path. Raises: BedsideError when the disk is full."""
    return write_text(path, render(template, **content))


def write_text(path: Path, html: str, *, private: bool = False) -> Path:
    """Write a rendered page, replacing an earlier one, and return its path; a `private` one for its owner alone.

    Raises: InputError if something other than a page is there; BedsideError if the disk is full.
    """
    refuse_other_page(path)
    write_whole(path, html.encode("utf-8", "backslashreplace"), private=private)
    return path


def refuse_other_page(path: Path) -> None:
    """Check that a page may be written there, before long work. Raises: InputError if something else is there."""
    refuse_other(path, (b"<!doctype html", b"<html"), what="page")


def render(template: str, **content: object) -> Markup:
    """The text of a template; the values passed in are escaped, unless they are markup."""
    return Markup(_environment().get_template(template).render(**content))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_text), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(count="{:,}".format, percent=lambda share: f"{100 * share:.1f}", cut=cut)
    environment.globals["css"] = Markup(_text("loaders/templates/page.css"))
    return environment


def part(name: str) -> Markup:
    """A style or script of a package, to be included in a page verbatim: `baselines/report/report.css`."""
    return Markup(_text(name))


def script_digest(script: str) -> str:
    """The entry in a page's content policy that allows only this script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _text(name: str) -> str:
    package, _, path = name.partition("/")
    return files(package).joinpath(path).read_text(encoding="utf-8")


def cut(text: str, length: int = 4_000) -> str:
    """A text cut to at most `length` characters, with a note on how many were left out."""
    return text if len(text) <= length else f"{text[:length]}… ({len(text) - length:,} more characters)"


def small_jpeg(source: bytes | str | Path, side: int = SIDE) -> bytes:
    """A picture as a JPEG of at most `side` pixels, without metadata. Raises: ImageError as `open_image`."""
    picture = open_image(source).convert("RGB")
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def data_url(jpeg: bytes) -> str:
    """A JPEG as a data URL."""
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode("ascii")


def thumbnail(source: bytes | str | Path, side: int = SIDE) -> str:
    """A picture, scaled down, as a data URL. Raises: ImageError as `open_image`."""
    return data_url(small_jpeg(source, side))


def embedded(record: object) -> Markup:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(record, ensure_ascii=True, sort_keys=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def marks(caption: str, concepts: Sequence[Mapping[str, Any]]) -> tuple[list[tuple[int, int]], list[str]]:
    """The span of each concept with a lay phrase, none inside another, and those phrases by number from 1."""
    places: list[tuple[int, int]] = []
    phrases: list[str] = []
    at = 0
    for concept in sorted(concepts, key=lambda concept: (concept["start"], -concept["end"])):
        start, end = concept["start"], concept["end"]
        if start < at or not concept["lay"]:
            continue
        phrases.append(f"{len(phrases) + 1} {caption[start:end]} → {concept['lay']}")
        places.append((start, end))
        at = end
    return places, phrases


def marked(caption: str, concepts: Sequence[Mapping[str, Any]]) -> tuple[Markup, list[str]]:
    """The caption with each concept that has a lay phrase marked and numbered, and those phrases by number."""
    places, phrases = marks(caption, concepts)
    parts: list[Markup] = []
    at = 0
    for number, (start, end) in enumerate(places, start=1):
        mark = Markup("<mark>{}<sup>{}</sup></mark>").format(caption[start:end], number)
        parts += [escape(caption[at:start]), mark]
        at = end
    return Markup("").join([*parts, escape(caption[at:])]), phrases
