"""A team's own photos: their files, folders, tables and groups may be named after patients; a release has no such name.

It has a photo's key in place of its file, and a pseudonym in place of its group. Which are which stands beside the
build (`OWN_PHOTOS`), for whoever must find a patient's photos again, such as to withdraw them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.licences import UNKNOWN, read_licence
from builders.pipeline.rows import Row
from builders.pseudonyms import fingerprint, pseudonym, read_key
from builders.threemdbench.request import is_web_address
from builders.threemdbench.sources import OWN
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.disk import write_whole

OWN_PHOTOS = "own-photos.jsonl"


@dataclass(frozen=True, slots=True)
class Nameless:
    """The names of the sources that are a team's own, and the secret behind the pseudonyms of their groups."""

    sources: frozenset[str] = frozenset()
    key: bytes = b""

    @property
    def fingerprint(self) -> str:
        """Names the key in a manifest."""
        return fingerprint(self.key)

    def hides(self, rows: Iterable[Row]) -> bool:
        """Whether any of the rows is in a group of one's own, so that the release depends on the key."""
        return any(row["group_id"] and row["source"] in self.sources for row in rows)

    def group(self, group_id: str) -> str:
        """`SOURCE:GROUP` as a release has it."""
        source = group_id.partition(":")[0]
        return f"{source}:{pseudonym(self.key, 'group', group_id)[:16]}" if source in self.sources else group_id

    def row(self, row: Row) -> Row:
        """A row as the build's steps get it. Why a photo is left out, and terms that only a person can read, may quote
        anything, so only the reason is kept. A photo of the web is known by its address, as its attribution names it.
        """
        if row["source"] not in self.sources:
            return row
        unread = row["refused"] and read_licence(row["licence"]).derivatives == UNKNOWN
        return row | {
            "source_file": row["source_file"] if is_web_address(row["source_file"]) else None,
            "group_id": self.group(row["group_id"]) if row["group_id"] else None,
            "licence": None if unread else row["licence"],
            "where": _place(row["source"], row["where"]),
            **{why: row[why] and row[why] | {"detail": ""} for why in ("refused", "not_fetched")},
        }

    def bad(self, source: str, row: BadRow) -> BadRow:
        """A row that cannot be read, at its place in the source, not in a file."""
        if source not in self.sources:
            return row
        where = _place(source, row.where)
        return BadRow(where, reason=row.reason, found=row.found, expected=row.expected, do=row.do)


def _place(source: str, where: str) -> str:
    """The line of a table, as `SOURCE:LINE`; of a folder's photo only that it is in the source."""
    line = where.rpartition(":")[2]
    return f"{source}:{line}" if line.isdecimal() else source


def nameless(origins: Sequence[tuple[str, str]], key: Path | None, workspace: Path) -> Nameless:
    """`origins` are name and origin of each source; the key is made on first use if the user names none.

    Raises: InputError for a key that cannot be used, or one that nothing needs.
    """
    own = frozenset(name for name, origin in origins if origin == OWN)
    if own:
        return Nameless(own, read_key(key, workspace))
    if key:
        raise InputError("--key", found="no source of your own", expected="--source folder=DIR or table=FILE")
    return Nameless()


def leave_own(rows: Iterable[Row], known: Nameless, workspace: Path) -> Iterator[str]:
    """Leave beside the build which key and pseudonym stand for which file and group; returns where."""
    own = [row for row in rows if row["source"] in known.sources]
    lines = []
    for row in own:
        group = {"group": row["group_id"], "pseudonym": known.group(row["group_id"])} if row["group_id"] else {}
        told = {"key": row["image_id"], "file": row["source_file"], **group}
        lines.append(json.dumps(told, ensure_ascii=False) + "\n")
    if lines:
        write_whole(workspace / OWN_PHOTOS, "".join(lines).encode(), private=True)
        yield f"Your files and groups, which the release has no names of, for you alone: {workspace / OWN_PHOTOS}"
