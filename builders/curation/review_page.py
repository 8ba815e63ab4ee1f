"""The page on which a person decides, by keyboard or pointer: about borderline photos, or whether cases are plausible.

It sends nothing anywhere: decisions stay in the browser until they are exported as the file that the next build reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from builders.curation.review import ACCEPT, REASONS, REJECT, Decision, Item, Shown
from loaders.pages import Field, embedded, thumbnail, write_page

SIDE = 640  # pixels of the longer side
BESIDE = 320
MOST_BESIDE = 4
_USUAL = {"label": "wrong diagnosis", "quality": "poor quality", "copy": "copy", "class": "wrong diagnosis"}
"""The reason that a rejection begins with, by the kind of the doubt."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what is judged, which folds; `style` is "facts" where names and values stand side by side."""

    title: str
    fields: Sequence[Field]
    open: bool = True
    style: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to decide on. `content` is the SHA-256 of what is judged, `usual` the reason of a plain rejection.

    `image` and those of `beside` name pictures of the page, `more` counts those that are not shown; `otherwise` says
    what becomes of it without a decision.
    """

    key: str
    content: str
    title: str
    usual: str
    decided: Decision | None
    image: str = ""
    parts: Sequence[Part] = ()
    doubts: Sequence[str] = ()
    otherwise: str = ""
    facts: Sequence[Field] = ()
    beside: Sequence[Shown] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Words:
    """What a page says of its kind of questions; `columns` are those of the exported file, the first holds the keys.

    `reasons` are those of a rejection, each with the question that it answers, or "".
    """

    title: str
    note: str
    command: str
    columns: Sequence[str]
    reasons: Mapping[str, str]
    warning: str = ""


def write_questions(
    questions: Sequence[Question], words: Words, page: Path, images: Mapping[str, str] | None = None
) -> None:
    """Write the page; `images` are data URLs by the names that questions give. Raises: BedsideError on a full disk."""
    # Names the decisions that a browser keeps: the same things to judge, the same decisions.
    asked = repr([(question.key, question.content) for question in questions])
    record = {
        "items": [_recorded(question) for question in questions],
        "images": images or {},
        "columns": words.columns,
        "accept": ACCEPT,
        "reject": REJECT,
        "store": "bedside review " + hashlib.sha256(asked.encode()).hexdigest()[:16],
    }
    write_page(page, "builders/curation/decide.html", questions=questions, words=words, record=embedded(record))


def _recorded(question: Question) -> dict[str, object]:
    decided = question.decided
    return {
        "key": question.key,
        "content": question.content,
        "usual": question.usual,
        "decided": decided and {"decision": decided.decision, "reason": decided.reason},
    }


# --- Photos -----------------------------------------------------------------------------------------------------------


def write_review(items: Sequence[Item], load: Callable[[str], bytes], page: Path, *, title: str) -> None:
    """Write the page of borderline photos; `load` gives the bytes of an image by its name in the build's store.

    Raises: BedsideError when an image is gone or damaged, or the disk is full.
    """
    words = Words(
        f"{title}: borderline images",
        "An accepted image comes into the corpus (a copy of another one that is there does not), a rejected one is "
        "left out with its reason, and one without a decision stays what the checks made of it.",
        "bedside build 3mdbench … --decisions decisions.csv",
        ("image_id", "content", "decision", "reason"),
        dict.fromkeys(REASONS, ""),
    )
    write_questions([_question(item) for item in items], words, page, _images(items, load))


def _question(item: Item) -> Question:
    kinds = [doubt.kind for doubt in item.doubts]
    return Question(
        item.picture.key,
        item.content,
        item.picture.caption,
        _USUAL.get(kinds[0] if kinds else "", REASONS[-1]),
        item.decided,
        image=item.picture.image,
        doubts=[doubt.text for doubt in item.doubts] or ["It was decided on earlier; nothing is in doubt."],
        otherwise=f"Without a decision it is {'kept' if item.kept else 'left out'}.",
        facts=[Field(name, value) for name, value in item.facts.items() if value],
        beside=[replace(other, image=f"{other.image} small") for other in item.beside[:MOST_BESIDE]],
        more=max(0, len(item.beside) - MOST_BESIDE),
    )


def _images(items: Sequence[Item], load: Callable[[str], bytes]) -> dict[str, str]:
    """Every picture once, by its name; those that only stand beside another one are smaller."""
    images: dict[str, str] = {}
    for item in items:
        wanted = [(item.picture.image, item.picture.image, SIDE)]
        wanted += [(f"{other.image} small", other.image, BESIDE) for other in item.beside[:MOST_BESIDE]]
        for name, image, side in wanted:
            if name not in images:
                images[name] = thumbnail(load(image), side)
    return images
