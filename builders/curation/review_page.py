"""The page on which a person decides about borderline images: one self-contained file, no network, opens from disk.

Images are decoded and encoded anew, so that nothing but their pixels gets into the page.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from PIL import Image

from builders.curation.review import ACCEPT, REASONS, REJECT, Item
from loaders.disk import write_whole, writing
from loaders.images import open_image

SIDE = 640  # pixels of the longer side
BESIDE = 320
MOST_BESIDE = 4
_USUAL = {"label": "wrong diagnosis", "quality": "poor quality", "copy": "copy", "class": "wrong diagnosis"}
"""The reason that a rejection begins with, by the kind of the doubt."""


def write_review(items: Sequence[Item], load: Callable[[str], bytes], page: Path, *, title: str) -> None:
    """Write the page; `load` gives the bytes of an image by its name in the build's store.

    Raises: BedsideError when an image is gone or damaged, or the disk is full.
    """
    record = {
        "items": [_shown(item) for item in items],
        "images": _images(items, load),
        "reasons": REASONS,
        "accept": ACCEPT,
        "reject": REJECT,
        "store": "bedside review " + _digest(items),
    }
    environment = Environment(
        loader=PackageLoader("builders.curation", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("review.html").render(title=title, count=len(items), record=_embedded(record))
    with writing(page.parent):
        page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, html.encode("utf-8", "backslashreplace"))


def _shown(item: Item) -> dict[str, Any]:
    kinds = [doubt.kind for doubt in item.doubts]
    return {
        "key": item.picture.key,
        "content": item.content,
        "image": item.picture.image,
        "caption": item.picture.caption,
        "kept": item.kept,
        "facts": [[name, value] for name, value in item.facts.items() if value],
        "doubts": [doubt.text for doubt in item.doubts] or ["It was decided on earlier; nothing is in doubt."],
        "beside": [
            {"key": other.key, "image": f"{other.image} small", "caption": other.caption}
            for other in item.beside[:MOST_BESIDE]
        ],
        "more": max(0, len(item.beside) - MOST_BESIDE),
        "usual": _USUAL.get(kinds[0] if kinds else "", REASONS[-1]),
        "decided": {"decision": item.decided.decision, "reason": item.decided.reason} if item.decided else None,
    }


def _images(items: Sequence[Item], load: Callable[[str], bytes]) -> dict[str, str]:
    """Every picture once, by its name; those that only stand beside another one are smaller."""
    found: dict[str, str] = {}
    for item in items:
        wanted = [(item.picture.image, item.picture.image, SIDE)]
        wanted += [(f"{other.image} small", other.image, BESIDE) for other in item.beside[:MOST_BESIDE]]
        for name, image, side in wanted:
            if name not in found:
                found[name] = _encoded(load(image), side)
    return found


def _encoded(data: bytes, side: int) -> str:
    picture = open_image(data).convert("RGB")
    picture.thumbnail((side, side), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def _digest(items: Sequence[Item]) -> str:
    """Names the decisions that a browser keeps: the same photos under review, the same decisions."""
    return hashlib.sha256(repr([(item.picture.key, item.content) for item in items]).encode()).hexdigest()[:16]


def _embedded(record: object) -> Markup:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(record, ensure_ascii=True, sort_keys=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
