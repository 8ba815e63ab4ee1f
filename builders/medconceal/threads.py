"""Threads out of the dumps of r/AskDocs: one pass over the submissions, one over the comments, then thread by thread.

What may matter is spooled into an SQLite file, so that memory does not grow with the dumps. The spool holds user names
and texts as they were posted: it is private, stays in the workspace, and no release holds any of it.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from builders.medconceal.chains import (
    MIN_TURNS,
    Comment,
    Post,
    is_clinician,
    longest_chain,
    refusal,
    without_later,
)
from builders.medconceal.dumps import Limits, Record, records
from builders.pipeline.rows import Row
from loaders.disk import writing
from loaders.errors import InputError

FLAIR = "Physician Responded"
_INSERTED_AT_ONCE = 5_000
_TABLES = """
CREATE TABLE posts (id TEXT PRIMARY KEY, author TEXT, title TEXT, text TEXT, created INTEGER, edited INTEGER,
                    removed INTEGER, crosspost INTEGER) WITHOUT ROWID;
CREATE TABLE comments (post TEXT, id TEXT, parent TEXT, author TEXT, flair TEXT, text TEXT, created INTEGER,
                       edited INTEGER, PRIMARY KEY (post, id)) WITHOUT ROWID;
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER);
"""
_POST = ("id", "author", "title", "selftext", "created_utc", "edited", "link_flair_text", "removed_by_category",
         "crosspost_parent", "crosspost_parent_list")  # fmt: skip
_COMMENT = ("id", "link_id", "parent_id", "author", "author_flair_text", "body", "created_utc", "edited")
_LINK = b'"link_id":"t3_'


@dataclass(frozen=True)
class Threads:
    """The spooled threads of a pair of dumps; `counts` are records by what became of them."""

    spool: Path
    counts: dict[str, int]


def spool_threads(
    submissions: Sequence[Path], comments: Sequence[Path], spool: Path, limits: Limits | None = None
) -> Threads:
    """Read the dumps into the file `spool`, unless a finished one is there already.

    Raises:
        InputError, MissingExtra: see `dumps.records`; InputError when no submission has the flair.
    """
    if not spool.exists():
        spool.parent.mkdir(parents=True, exist_ok=True)
        half = spool.with_name(f"{spool.name}.half")
        half.unlink(missing_ok=True)
        with writing(half):
            with closing(sqlite3.connect(half, isolation_level=None)) as base:
                # A spool that was not finished is thrown away, so nothing needs to survive a crash.
                base.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;")
                base.executescript(_TABLES)
                _fill(base, submissions, comments, limits)
            half.rename(spool)
    with closing(sqlite3.connect(spool)) as base:
        return Threads(spool, dict(base.execute("SELECT name, value FROM facts ORDER BY name")))


def _fill(
    base: sqlite3.Connection, submissions: Sequence[Path], comments: Sequence[Path], limits: Limits | None
) -> None:
    counts: Counter[str] = Counter()
    base.execute("BEGIN")
    flair = FLAIR.encode()
    for path in submissions:
        found = records(path, lambda line: flair in line, _POST, limits)
        rows = (_post(record, f"{path}:{number}") for number, record in found if record.get("link_flair_text") == FLAIR)
        counts["submissions with the flair"] += _insert(base, "posts", 8, rows)
    posts = {name for (name,) in base.execute("SELECT id FROM posts")}
    if not posts:
        raise InputError(
            ", ".join(map(str, submissions)),
            found=f"no submission with the flair {FLAIR!r}",
            expected="a dump of submissions of r/AskDocs",
        )
    wanted = _of_posts(frozenset(name.encode() for name in posts))
    for path in comments:
        found = records(path, wanted, _COMMENT, limits)
        rows = (
            _comment(record, f"{path}:{number}")
            for number, record in found
            if _text(record.get("link_id"))[3:] in posts
        )
        counts["comments of them"] += _insert(base, "comments", 8, rows)
    counts["threads"] = len(posts)
    base.executemany("INSERT INTO facts VALUES (?, ?)", sorted(counts.items()))
    base.execute("COMMIT")


def _of_posts(posts: frozenset[bytes]) -> Any:
    """Whether a line may be a comment of one of the posts, by its bytes: no comment of one is ever let go.

    Inside a text the quotes are escaped, so the pattern is found at a key only. A line that writes it with spaces, or
    more than once, is let through.
    """

    def wanted(line: bytes) -> bool:
        at = line.find(_LINK)
        if at < 0:
            return b'"link_id"' in line
        start = at + len(_LINK)
        return line[start : line.find(b'"', start)] in posts or line.find(_LINK, start) >= 0

    return wanted


def _insert(base: sqlite3.Connection, table: str, width: int, rows: Iterable[tuple[Any, ...]]) -> int:
    marks = ", ".join("?" * width)
    count = 0
    rows = iter(rows)
    while part := list(islice(rows, _INSERTED_AT_ONCE)):
        base.executemany(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", part)
        count += len(part)
    return count


def _post(record: Record, where: str) -> tuple[Any, ...]:
    return (
        _needed(record, "id", where),
        _text(record.get("author")) or "[deleted]",
        _text(record.get("title")),
        _text(record.get("selftext")),
        _whole(record.get("created_utc")),
        bool(record.get("edited")),
        bool(record.get("removed_by_category")),
        bool(record.get("crosspost_parent") or record.get("crosspost_parent_list")),
    )


def _comment(record: Record, where: str) -> tuple[Any, ...]:
    return (
        _needed(record, "link_id", where)[3:],
        _needed(record, "id", where),
        _text(record.get("parent_id"))[3:],
        _text(record.get("author")) or "[deleted]",
        _text(record.get("author_flair_text")),
        _text(record.get("body")),
        _whole(record.get("created_utc")),
        bool(record.get("edited")),
    )


def _needed(record: Record, name: str, where: str) -> str:
    value = _text(record.get(name))
    if not value:
        raise InputError(where, found=f"a record without {name!r}", expected="a dump of submissions or comments")
    return value


def _text(value: object) -> str:
    # Half a surrogate pair is legal JSON and illegal text.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _whole(value: object) -> int:
    try:
        return int(float(value)) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return 0


# --- Thread by thread -------------------------------------------------------------------------------------------------


def thread_rows(threads: Threads, key: bytes) -> Iterator[Row]:
    """A row for each thread with the flair, in the order of their pseudonyms, with its chain or why it is refused.

    `key` is the secret behind the pseudonyms: without it nobody finds the thread of a case, not even one by one.
    """
    with closing(sqlite3.connect(threads.spool)) as base:
        names = [name for (name,) in base.execute("SELECT id FROM posts")]
        for reference, name in sorted((pseudonym(key, "thread", name), name) for name in names):
            yield _row(base, name, reference, key)


def pseudonym(key: bytes, kind: str, name: str) -> str:
    """What stands for a name outside the workspace: 32 hex digits that only the key can tie to it."""
    return hmac.new(key, f"{kind} {name}".encode(), hashlib.sha256).hexdigest()[:32]


def _row(base: sqlite3.Connection, name: str, reference: str, key: bytes) -> Row:
    values = base.execute("SELECT * FROM posts WHERE id = ?", (name,)).fetchone()
    post = Post(*values[:5], *map(bool, values[5:]))
    (count,) = base.execute("SELECT COUNT(*) FROM comments WHERE post = ?", (name,)).fetchone()
    refused = refusal(post, count)
    chain: list[Comment] = []
    if refused is None:
        found = base.execute(
            "SELECT id, parent, author, flair, text, created, edited FROM comments WHERE post = ? ORDER BY created, id",
            (name,),
        )
        chain = longest_chain(post, [Comment(*one) for one in found])
        if len(chain) < MIN_TURNS:
            reason = "chain too short" if chain else "no comment of a verified clinician"
            refused = (reason, f"{len(chain)} turns of at least {MIN_TURNS}" if chain else "")
    text, turns = _said(post), [_said(comment) for comment in chain]
    edited: list[Post | Comment] = [post, *chain] if refused is None else []
    return {
        "case_id": f"mc-{reference[:12]}",
        "thread": reference,
        "author": pseudonym(key, "author", post.author),
        "names": sorted({post.author, *(comment.author for comment in chain)}) if refused is None else [],
        "created": post.created,
        "title": post.title if refused is None else "",
        "text": text if refused is None else "",
        "turns": [
            {"role": "clinician" if is_clinician(c.flair) and c.author != post.author else "patient", "text": said}
            for c, said in zip(chain, turns, strict=True)
        ]
        if refused is None
        else [],
        "edited": sum(one.edited for one in edited),
        "refused": None if refused is None else {"reason": refused[0], "detail": refused[1]},
    }


def _said(one: Post | Comment) -> str:
    return without_later(one.text) if one.edited else one.text.strip()
