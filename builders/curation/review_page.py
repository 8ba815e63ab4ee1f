"""The page on which a person decides, by keyboard or pointer: about borderline photos, or whether cases are plausible.

It sends nothing anywhere: decisions stay in the browser until they are exported as the file that the next build reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from builders.curation.review import ACCEPT, REASONS, REJECT, Decision, Item, Shown
from loaders.errors import MissingExtra
from loaders.pages import Field, embedded, thumbnail, write_page

SIDE = 640  # pixels of the longer side
BESIDE = 320
MOST_BESIDE = 4
_USUAL = {"label": "wrong diagnosis", "quality": "poor quality", "copy": "copy", "class": "wrong diagnosis"}
"""How the reason of a rejection begins, by the kind of the doubt."""


@dataclass(frozen=True, slots=True)
class Part:
    """A collapsible part of what is judged; `style` is "facts" for names and values side by side."""

    title: str
    fields: Sequence[Field]
    open: bool = True
    style: str = ""


@dataclass(frozen=True, slots=True)
class Framed:
    """A picture in a square of 100 by 100, with marks in that square: an outline, and points (x, y), numbered alike in
    all pictures of a question."""

    picture: Shown
    outline: Sequence[tuple[float, float]] = ()
    points: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to decide on. `content` is the SHA-256 of what is judged, `usual` the reason of a plain rejection.

    `image` and those of `beside` name pictures of the page, `more` counts those that are not shown; `equal` are shown
    at equal size instead of a single `image`, with what they share marked. `otherwise` says what happens without a
    decision.
    """

    key: str
    content: str
    title: str
    usual: str
    decided: Decision | None
    image: str = ""
    equal: Sequence[Framed] = ()
    parts: Sequence[Part] = ()
    doubts: Sequence[str] = ()
    otherwise: str = ""
    facts: Sequence[Field] = ()
    beside: Sequence[Shown] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Words:
    """What a page says about its kind of questions; `columns` are those of the exported file, the first holds the keys.

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
    # The key under which a browser stores the decisions: the same things to judge share the same decisions.
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
    """Write the page of borderline photos; `load` returns the bytes of an image by its name in the build's store.

    Raises: BedsideError if an image is gone or damaged, or the disk is full.
    """
    words = Words(
        f"{title}: doubtful images",
        "An accepted image enters the corpus (unless it duplicates one already there); a rejected one is left "
        "out with its reason, and with its copies for a wrong diagnosis or an identifiable person; without a "
        "decision, the automatic checks decide. A decision about a class applies to each of its photos without a "
        "decision of its own.",
        "bedside build 3mdbench … --decisions decisions.csv",
        ("image_id", "content", "decision", "reason"),
        dict.fromkeys(REASONS, ""),
    )
    images: dict[str, str] = {}
    questions = [_question(item, _Pictures(load, images)) for item in items]
    write_questions(questions, words, page, images)


class _Pictures:
    """The pictures of a page, each encoded once per size; `of` returns the name of one."""

    def __init__(self, load: Callable[[str], bytes], images: dict[str, str]) -> None:
        self.load = load
        self._images = images

    def of(self, shown: Shown, side: int) -> Shown:
        """The picture under its name on the page."""
        name = f"{shown.image} {side}"
        if name not in self._images:
            self._images[name] = thumbnail(self.load(shown.image), side)
        return replace(shown, image=name)


def _question(item: Item, pictures: _Pictures) -> Question:
    kinds = [doubt.kind for doubt in item.doubts]
    of_class = "class" in kinds
    whose = "its photos are" if of_class else "it is"
    equal, beside = _side_by_side(item, pictures, of_class)
    return Question(
        item.picture.key,
        item.content,
        item.picture.caption,
        _USUAL.get(kinds[0] if kinds else "", REASONS[-1]),
        item.decided,
        image="" if equal else pictures.of(item.picture, SIDE).image,
        equal=equal,
        doubts=[doubt.text for doubt in item.doubts] or ["Decided earlier; nothing is in doubt."],
        otherwise=f"Without a decision {whose} {'kept' if item.kept else 'left out'}.",
        facts=[Field(name, value) for name, value in item.facts.items() if value],
        beside=[pictures.of(other, BESIDE) for other in beside[:MOST_BESIDE]],
        more=max(0, len(beside) - MOST_BESIDE),
    )


def _side_by_side(item: Item, pictures: _Pictures, of_class: bool) -> tuple[Sequence[Framed], Sequence[Shown]]:
    """The pictures to show at equal size, with what they share, and the others to show beside them."""
    if not item.beside:
        return (), ()
    if of_class:
        return [Framed(pictures.of(other, BESIDE)) for other in item.beside], ()
    other, *rest = item.beside
    pair = [pictures.of(one, SIDE) for one in (item.picture, other)]
    try:
        from builders.curation.shared_area import shared_area
    except MissingExtra:  # the page needs OpenCV only for this
        return [Framed(one) for one in pair], rest
    marks = shared_area(pictures.load(item.picture.image), pictures.load(other.image))
    return [Framed(one, *places) for one, places in zip(pair, marks, strict=True)], rest
