"""A team's own photos: their files, folders, tables and groups may be named after patients; a release has no such name.

It has pseudonyms in place of a photo's file and group, and nothing else that is made from a name alone: whoever guesses
"Smith_John_1970.jpg" must not be able to test the guess. Which are which stands beside the build (`OWN_PHOTOS`), for
whoever must find a patient's photos again, such as to withdraw them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from builders.licences import UNKNOWN, read_licence
from builders.pipeline.rows import Row
from builders.pseudonyms import CREATE_KEY, KEY_FILE, fingerprint, pseudonym, read_key, require_key
from builders.threemdbench.request import is_web_address
from builders.threemdbench.sources import OWN
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.paths import is_there

OWN_PHOTOS = "own-photos.jsonl"
_RECORD = re.compile(r"(?::|, row |\[)[0-9]+\]?\Z")
_LOST = (
    "nobody can tell which photos and patients of your own that release holds, so that a patient could be divided "
    "between splits: build without --follows, a new release whose keys and splits are all its own"
)


@dataclass(frozen=True, slots=True)
class Nameless:
    """The names of the sources that are a team's own, and the secret behind the pseudonyms in their rows."""

    sources: frozenset[str] = frozenset()
    key: bytes = b""

    @property
    def fingerprint(self) -> str:
        """Names the key in a manifest; "" if nothing depends on it."""
        return fingerprint(self.key) if self.sources else ""

    def ids(self, rows: Iterable[Row]) -> dict[str, str]:
        """The id of each photo of one's own by the one that its source gives it, an unkeyed digest of its name."""
        own = {row["image_id"]: row["source"] for row in rows if row["source"] in self.sources}
        return {name: f"{source}-{pseudonym(self.key, 'photo', name)[:16]}" for name, source in own.items()}

    def digest(self, plain: str, sources: Iterable[str]) -> str:
        """A digest of what these sources hold, as a release states it: if it may be one of names alone, by the key."""
        return pseudonym(self.key, "digest", plain) if self.sources.intersection(sources) else plain

    def group(self, group_id: str) -> str:
        """`SOURCE:GROUP` as a release has it."""
        source = group_id.partition(":")[0]
        return f"{source}:{pseudonym(self.key, 'group', group_id)[:16]}" if source in self.sources else group_id

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows as the build's steps get them; one's own in the order of their ids, not of their names."""
        for source, of_source in groupby(rows, key=itemgetter("source")):
            placed = list(of_source)
            if source in self.sources:
                placed.sort(key=itemgetter("image_id"))
            yield from map(self.row, placed)

    def row(self, row: Row) -> Row:
        """One of these. Why a photo is left out, and terms that only a person can read, may quote anything, so only the
        reason is kept. A photo of the web is known by its address, as its attribution names it.
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
    """The line of a table, as `SOURCE:LINE`, or its record; of a folder's photo only that it is in the source."""
    record = _RECORD.search(where)
    return f"{source}{record[0]}" if record else source


def nameless(
    origins: Sequence[tuple[str, str]],
    key: Path | None,
    workspace: Path,
    *,
    followed: Mapping[str, str],
    splits_apart: bool,
    listed: Mapping[str, Iterable[str]],
) -> Nameless:
    """`origins` are name and origin of each source; the key is made on first use if the user names none. `followed` has
    the fingerprint of the key of each release that this one follows, if it has any. `splits_apart` says that other
    splits are for another build: chance goes by the ids, so that by two keys a photo could be in test and in train.
    `listed` has the ids that options name: by a new key none is known, and whoever withdrew would be in the release.

    Raises: InputError for a key that cannot be used, is not that of a release that is followed, is missing where it is
    needed, or that nothing needs.
    """
    own = frozenset(name for name, origin in origins if origin == OWN)
    if own:
        if splits_apart and key is None:
            found, expected = "none, with --splits and photos of your own", "the same key for the builds of all splits"
            do = f"Name the {KEY_FILE} of the other build's workspace. {CREATE_KEY}"
            raise InputError("--key", found=found, expected=expected, do=do)
        if key is None and not is_there(workspace / KEY_FILE):
            _refuse_listed(listed, own, workspace)
        for release, theirs in followed.items():
            require_key(key, workspace, release, theirs, lost=_LOST)
        return Nameless(own, read_key(key, workspace))
    if key:
        raise InputError("--key", found="no source of your own", expected="--source folder=DIR or table=FILE")
    return Nameless()


def _refuse_listed(listed: Mapping[str, Iterable[str]], own: frozenset[str], workspace: Path) -> None:
    for option, ids in listed.items():
        if one := next((name for name in ids if name.rpartition("-")[0] in own), None):
            do = f"Name the {KEY_FILE} of the workspace that they are from. If it is lost, build once without {option} "
            do += f"for the {OWN_PHOTOS} that this leaves, write the list again by it, and publish nothing until then"
            found = f"none, and {workspace} holds no {KEY_FILE}, but {option} names photos of your own, such as {one}"
            raise InputError("--key", found=found, expected="the key that these names were made with", do=do)
