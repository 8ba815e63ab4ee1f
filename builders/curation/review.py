"""Borderline images, and what a person decided about them.

    bedside review WORK -o review.html            # look, decide, export decisions.csv
    bedside build 3mdbench … --decisions decisions.csv

A build leaves a queue of the images that its checks are not sure about. A decisions file is a table with the columns
`image_id` and `decision` (accept, reject), and optionally `reason` (why it is rejected) and `content` (the SHA-256 of
the file that was looked at: a decision is never applied to another one).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from loaders.errors import InputError, first_of
from loaders.files.disk import write_whole
from loaders.files.opening import read_file
from loaders.files.paths import is_there
from loaders.files.records import from_json, to_json
from loaders.files.tables import read_table
from loaders.manifest import canonical_json

ACCEPT, REJECT = "accept", "reject"
WRONG, PERSON = "wrong diagnosis", "identifiable person"
REASONS = (WRONG, "poor quality", "copy", PERSON, "other")
"""Why an image can be rejected; the reason of an exclusion is "review: " and one of these."""
NAME = "review.json"
_FORMAT = 1
_SHA256 = re.compile("(?:[0-9a-fA-F]{64})?")


@dataclass(frozen=True, slots=True)
class Decision:
    """A person's decision: to accept or reject an image, why, and about which file (empty: not stated)."""

    decision: str
    reason: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why an image is borderline: `kind` is label, quality, copy or class, `text` says it in a sentence.

    `beside` are the keys of the images that should be shown beside it.
    """

    kind: str
    text: str
    beside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """An image on the page: its key, the name of its bytes in the build's image store, and its caption."""

    key: str
    image: str
    caption: str


@dataclass(frozen=True, slots=True)
class Item:
    """An image to decide on. `kept` is its outcome without a decision, `decided` an earlier decision.

    If the doubt is about a class, it represents all photos of the class, of which `beside` are some.
    """

    picture: Shown
    content: str
    kept: bool
    facts: Mapping[str, str]
    doubts: tuple[Doubt, ...]
    beside: tuple[Shown, ...]
    decided: Decision | None = None


@dataclass(frozen=True, slots=True)
class _Queue:
    format: int
    items: tuple[Item, ...]


def write_queue(path: Path, items: Sequence[Item]) -> None:
    """Write the queue of a build. Raises: BedsideError when the disk is full."""
    write_whole(path, json.dumps(to_json(_Queue(_FORMAT, tuple(items))), indent=1, ensure_ascii=False).encode())


def read_queue(path: Path) -> tuple[Item, ...]:
    """The queue that a build left.

    Raises: InputError when there is none, or it is of another version.
    """
    expected = "the workspace of a finished `bedside build 3mdbench`"
    if not is_there(path):
        do = "Build first; the workspace is OUT.work unless --work names another folder"
        raise InputError(path.parent, found=f"holds no {path.name}", expected=expected, do=do)
    text = read_file(path, expected=expected, do="Build again")
    queue = from_json(_Queue, text, path, do="Build again")
    if queue.format != _FORMAT:
        raise InputError(path, found=f"format {queue.format}", expected=f"format {_FORMAT}", do="Build again")
    return queue.items


@dataclass(frozen=True)
class Decisions:
    """Decisions by image, and `places`: the file and line of each, for messages."""

    by_key: Mapping[str, Decision] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over the decisions, in whatever order and files they were written."""
        content = {key: asdict(one) for key, one in self.by_key.items()}
        return hashlib.sha256(canonical_json(content)).hexdigest()

    identity = digest  # what identifies them for the steps of a build

    def matching(self, contents: Iterable[tuple[str, str | None]]) -> dict[str, Decision]:
        """The decisions about one of these images, given as (key, SHA-256 of its file or None)."""
        present: dict[str, str | None] = {}
        for key, content in contents:
            present.setdefault(key, content)
        return {
            key: one
            for key, one in self.by_key.items()
            if present.get(key) is not None and one.content in ("", present[key])
        }

    def left_over(self, applied: Container[str], of: str) -> Iterator[str]:
        """A sentence that names the decisions that were not `applied`, if any; `of` is what they should be about."""
        if rest := sorted(key for key in self.by_key if key not in applied):
            named = first_of([f"{key} ({self.places[key]})" for key in rest])
            yield f"Decisions not applied ({of} is missing, has changed, or its key is mistyped): {named}"


def read_decisions(paths: Sequence[Path], *, column: str = "image_id", reasons: Sequence[str] = REASONS) -> Decisions:
    """The decisions of all files; repeated decisions count once, about whichever file if one of them states none.
    `column` holds the keys.

    Raises: InputError, with file and line, for anything but a table of decisions, an unknown decision or reason, and
    two decisions on one image that contradict each other, or are about different files.
    """
    found: dict[str, Decision] = {}
    places: dict[str, str] = {}
    contents: dict[str, str] = {}  # the first that is stated
    for path in paths:
        table = read_table(path)
        key, decision = table.column(column, "key", needed=True), table.column("decision", needed=True)
        reason, content = table.column("reason"), table.column("content")
        for line, cells in table.rows:
            where, name = f"{path}:{line}", cells[key].strip()
            if not name:
                do = "Fill it in, or delete the row"
                raise InputError(where, found=f"no {column}", expected="a value in every row", do=do)
            said_why, said_of = cells[reason] if reason else "", cells[content] if content else ""
            one = _decision(where, cells[decision], said_why, said_of, reasons)
            earlier = found.setdefault(name, one)
            another = bool(one.content) and contents.setdefault(name, one.content) != one.content
            if another or (earlier.decision, earlier.reason) != (one.decision, one.reason):
                do = "Have the reviewers agree on one, and delete the other row"
                said = f"{_in_words(one)}, but {_in_words(earlier)} in {places[name]}" + ", of another file" * another
                raise InputError(where, found=f"{name}: {said}", expected="one decision per image", do=do)
            if not one.content:
                found[name] = one
            places.setdefault(name, where)
    return Decisions(found, places)


def _decision(where: str, decision: str, reason: str, content: str, reasons: Sequence[str]) -> Decision:
    decision, reason = decision.strip().casefold(), " ".join(reason.split()).casefold()
    if decision not in (ACCEPT, REJECT):
        do = "Correct it, or delete the row to leave this undecided"
        raise InputError(where, found=f"decision {decision!r}", expected=f"{ACCEPT} or {REJECT}", do=do)
    if not _SHA256.fullmatch(content := content.strip()):
        do = "Copy it from the exported file; or empty it, if the decision holds whatever the file is"
        raise InputError(where, found=f"content {content!r}", expected="a SHA-256 (64 digits from 0 to f)", do=do)
    if decision == ACCEPT:
        return Decision(ACCEPT, "", content.lower())
    if reason and reason not in reasons:
        raise InputError(where, found=f"reason {reason!r}", expected="one of " + ", ".join(reasons))
    return Decision(REJECT, reason or reasons[-1], content.lower())


def _in_words(one: Decision) -> str:
    return f"{one.decision} ({one.reason})" if one.reason else one.decision
