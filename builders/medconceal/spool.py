"""What may matter in the dumps of r/AskDocs: one pass over the submissions, then one over the comments.

It is spooled into an SQLite file, so that memory does not grow with the dumps. The spool holds user names and texts as
they were posted: it is private, stays in the workspace, and no release holds any of it.
"""

from __future__ import annotations

import re
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn, TypeGuard

from builders.medconceal.chains import stated_age
from builders.medconceal.dumps import records
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.cells import cell_text
from loaders.files.disk import make_folder, scratch, writing
from loaders.files.paths import is_there
from loaders.files.tables import Placed, Record

FLAIR = "Physician Responded"
_INSERTED_AT_ONCE = 5_000
_TABLES = """
CREATE TABLE posts (id TEXT PRIMARY KEY, author TEXT, title TEXT, text TEXT, created INTEGER, edited INTEGER,
                    removed INTEGER, crosspost INTEGER, flaired INTEGER, version INTEGER) WITHOUT ROWID;
CREATE TABLE comments (post TEXT, id TEXT, parent TEXT, author TEXT, flair TEXT, text TEXT, created INTEGER,
                       edited INTEGER, version INTEGER, PRIMARY KEY (post, id)) WITHOUT ROWID;
CREATE TABLE bad (place TEXT, reason TEXT, found TEXT);
CREATE TABLE facts (name TEXT PRIMARY KEY, value INTEGER);
"""
_POST = ("id", "author", "title", "selftext", "created_utc", "edited", "link_flair_text", "removed_by_category",
         "crosspost_parent", "crosspost_parent_list", "subreddit", "retrieved_on", "retrieved_utc",
         "_meta")  # fmt: skip
_COMMENT = ("id", "link_id", "parent_id", "author", "author_flair_text", "body", "created_utc", "edited",
            "retrieved_on", "retrieved_utc", "_meta")  # fmt: skip
_LINK = b'"link_id":"t3_'
_ID = re.compile(rb'"id":\s?"(?:t3_)?([^"]+)"')
_KIND = re.compile(r"^t\d_", re.IGNORECASE)
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_OBJECT = re.compile(rb'\{\s*"')
_LATER = re.compile(r"was_deleted_later\W+(?:true|1)", re.IGNORECASE)
_AGAIN = re.compile(r"retrieved_2nd_on\W+(\d+)")
_FLAIRED, _REPLIES, _BAD = "submissions with the flair", "comments of them", "lines that cannot be read"
_ELSEWHERE, _OUTSIDE = "submissions of another community", "submissions outside the window"


@dataclass(frozen=True, slots=True)
class Admission:
    """Which submissions may begin a thread: those of one community, posted from `since` to `until` (seconds, UTC)."""

    community: str = "AskDocs"
    since: int | None = None
    until: int | None = None

    def refuses(self, record: Record) -> str:
        """Why a submission may not, or "" if it may. One that does not name its community may."""
        community = _community(_text(record.get("subreddit")))
        if community and community != _community(self.community):
            return _ELSEWHERE
        created = _whole(record.get("created_utc"))
        before = self.since is not None and created < self.since
        return _OUTSIDE if before or (self.until is not None and created > self.until) else ""

    @property
    def identity(self) -> str:
        """Equal for equal admissions."""
        return f"{_community(self.community)} {self.since} {self.until}"


def _community(name: str) -> str:
    """The name of a community for comparison."""
    return _bare(name).casefold()


def _bare(name: str) -> str:
    """The name of a community without "r/"."""
    return re.sub(r"^/?r/", "", name, flags=re.IGNORECASE)


@dataclass(frozen=True)
class Threads:
    """The spooled threads of a pair of dumps; `counts` are records by outcome, and under LINES how many
    lines of the dumps were read."""

    spool: Path
    counts: dict[str, int]


def spool_threads(
    submissions: Sequence[Path], comments: Sequence[Path], spool: Path, admission: Admission | None = None
) -> Threads:
    """Read the dumps into the file `spool`, unless a finished one exists. For each id the newest version counts.
    Raises: as `dumps.records`; InputError if no submission has the flair."""
    if not is_there(spool):
        make_folder(spool.parent)
        with writing(spool), scratch(spool.parent) as folder:
            half = folder / spool.name
            with closing(sqlite3.connect(half, isolation_level=None)) as base:
                # An unfinished spool is thrown away, so nothing needs to survive a crash.
                base.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;")
                base.executescript(_TABLES)
                _fill(base, submissions, comments, admission or Admission())
            half.rename(spool)
    with closing(sqlite3.connect(spool)) as base:
        return Threads(spool, dict(base.execute("SELECT name, value FROM facts ORDER BY name")))


def _fill(
    base: sqlite3.Connection, submissions: Sequence[Path], comments: Sequence[Path], admission: Admission
) -> None:
    counts: Counter[str] = Counter()
    base.execute("BEGIN")
    posts = _fill_posts(base, submissions, admission, counts)
    if not posts:
        _refuse(base, submissions, admission, counts)
    wanted = _of_posts(frozenset(name.encode() for name in posts))
    for path in comments:
        lines = records(path, wanted, _COMMENT, lines=counts)
        replies = _each(base, lines, lambda record: _name(record.get("link_id")) in posts, _comment)
        _insert(base, "comments", replies)
    (counts[_REPLIES],) = base.execute("SELECT COUNT(*) FROM comments").fetchone()
    counts[_FLAIRED] = counts["threads"] = len(posts)
    (counts[_BAD],) = base.execute("SELECT COUNT(*) FROM bad").fetchone()
    base.executemany("INSERT INTO facts VALUES (?, ?)", sorted((+counts).items()))
    base.execute("COMMIT")


def _fill_posts(
    base: sqlite3.Connection, submissions: Sequence[Path], admission: Admission, counts: Counter[str]
) -> set[str]:
    """Spool the submissions with the flair, and return their ids.

    Every version of such a submission is read: if it was since deleted or lost its flair, it is no longer a thread.
    Such a version may stand before those with the flair. Of each submission without it 8 bytes are kept, so that the
    files are only read again if one of these was passed over.
    """
    flair, seen, passed = FLAIR.encode(), set[bytes](), array("q")

    def wanted(line: bytes) -> bool:
        if flair in line:
            return True
        first = _ID.search(line)
        if first is None or first[1] in seen:
            return first is not None
        passed.append(hash(first[1]))
        # An object before it, such as an award, may be whose id it is.
        if _OBJECT.search(line, 1, first.start()) is None:
            return False
        others = [found[1] for found in _ID.finditer(line, first.end())]
        passed.extend(map(hash, others))
        return any(name in seen for name in others)

    def is_wanted(record: Record) -> bool:
        name = _name(record.get("id")).encode()
        flaired = record.get("link_flair_text") == FLAIR
        if flaired and (why := admission.refuses(record)):
            counts[why] += 1
            return False
        if flaired and name:
            seen.add(name)
        elif name not in seen:
            passed.append(hash(name))  # a row of a table, or a line that only mentions the flair
        return flaired or name in seen

    def is_version(line: Placed | BadRow) -> TypeGuard[Placed]:
        if isinstance(line, BadRow) or _name(line[1].get("id")).encode() not in seen:
            return False  # bad lines were collected before
        return line[1].get("link_flair_text") != FLAIR or not admission.refuses(line[1])

    for path in submissions:
        _insert(base, "posts", _each(base, records(path, wanted, _POST, lines=counts), is_wanted, _post))
    if not {hash(name) for name in seen}.isdisjoint(passed):
        for path in submissions:
            again = records(path, wanted, _POST)
            _insert(base, "posts", (_post(record, where) for where, record in filter(is_version, again)))
    base.execute("DELETE FROM posts WHERE NOT flaired")
    return {name for (name,) in base.execute("SELECT id FROM posts")}


def _refuse(
    base: sqlite3.Connection, submissions: Sequence[Path], admission: Admission, counts: Counter[str]
) -> NoReturn:
    """Say why no submission is left."""
    expected = f"a dump of submissions of r/{_bare(admission.community)}"
    for place, reason, found in base.execute("SELECT place, reason, found FROM bad"):
        raise InputError(place, found=f"{reason}: {found}", expected=expected)
    left = "; ".join(f"{counts[name]:,} {name}" for name in (_ELSEWHERE, _OUTSIDE) if counts[name])
    raise InputError(
        ", ".join(map(str, submissions)),
        found=f"no submission with the flair {FLAIR!r}" + f" that is admitted ({left})" * bool(left),
        expected=expected,
    )


def _each(
    base: sqlite3.Connection,
    lines: Iterable[Placed | BadRow],
    wanted: Callable[[Record], bool],
    values: Callable[[Record, str], tuple[Any, ...]],
) -> Iterator[tuple[Any, ...]]:
    """The values of the wanted records; what cannot be read is collected to be reported."""
    for line in lines:
        try:
            if isinstance(line, BadRow):
                raise line
            where, record = line
            if wanted(record):
                yield values(record, where)
        except BadRow as bad:
            base.execute("INSERT INTO bad VALUES (?, ?, ?)", (bad.where, bad.reason, bad.detail))


def _of_posts(posts: frozenset[bytes]) -> Any:
    """Whether a line may be a comment on one of the posts, by its bytes; it never rejects a comment on one.

    Inside a text quotes are escaped, so the pattern only matches a key. A line that writes it with spaces, or more than
    once, is let through.
    """

    def wanted(line: bytes) -> bool:
        at = line.find(_LINK)
        if at < 0:
            return b'"link_id"' in line
        start = at + len(_LINK)
        return line[start : line.find(b'"', start)] in posts or line.find(_LINK, start) >= 0

    return wanted


def _insert(base: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows that end with their version: for each key the newest stays, of equals the last."""
    names = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
    keys = "id" if table == "posts" else "post, id"
    changes = ", ".join(f"{name} = excluded.{name}" for name in names)
    marks = ", ".join("?" * len(names))
    rows = iter(rows)
    while part := list(islice(rows, _INSERTED_AT_ONCE)):
        base.executemany(
            f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT ({keys}) DO UPDATE SET {changes} "
            f"WHERE excluded.version >= {table}.version",
            part,
        )


def _version(record: Record) -> int:
    """When a record was written, as far as it says: when it was fetched, else last changed, else created."""
    times = ("retrieved_on", "retrieved_utc", "edited", "created_utc")
    again = _AGAIN.search(str(record.get("_meta")))
    return max(_whole(told) for told in (*map(record.get, times), again and again[1]))


def _post(record: Record, where: str) -> tuple[Any, ...]:
    return (
        _needed(record, "id", where),
        _text(record.get("author")) or "[deleted]",
        _text(record.get("title")),
        _text(record.get("selftext")),
        _whole(record.get("created_utc")),
        _edited(record),
        _has(record, "removed_by_category") or _gone_later(record),
        _has(record, "crosspost_parent") or _has(record, "crosspost_parent_list"),
        record.get("link_flair_text") == FLAIR,
        _version(record),
    )


def _comment(record: Record, where: str) -> tuple[Any, ...]:
    return (
        _needed(record, "link_id", where),
        _needed(record, "id", where),
        _name(record.get("parent_id")),
        _text(record.get("author")) or "[deleted]",
        _text(record.get("author_flair_text")),
        _body(record),
        _whole(record.get("created_utc")),
        _edited(record),
        _version(record),
    )


def _body(record: Record) -> str:
    """The text of a comment; of one that was deleted or removed later only the age: no thread of a minor is admitted,
    whatever else its poster took back."""
    text = _text(record.get("body"))
    if not _gone_later(record):
        return text
    age = stated_age(text, head=0)
    return "[removed by its author]" + f" I am {age}" * (age is not None)


def _has(record: Record, name: str) -> bool:
    """Whether a field holds something; a table may have a word for nothing, such as NULL."""
    return bool(cell_text(str(record.get(name) or "")))


def _gone_later(record: Record) -> bool:
    """Whether a text was deleted or removed within a day or two after it was posted: since November 2023, Arctic Shift
    keeps such a text, and says so beside it, in an object, which tables hold as text."""
    return bool(_LATER.search(str(record.get("_meta"))))


def _edited(record: Record) -> bool:
    """Whether a text was changed: it is false, true or when; tables hold these as texts too, or a NaN for false."""
    return bool(_whole(told := record.get("edited"))) or str(told).casefold() == "true"


def _needed(record: Record, name: str, where: str) -> str:
    value = _name(record.get(name))
    if not value:
        raise BadRow(
            where, reason="no identifier", found=f"a record without {name!r}", expected="an identifier in every record"
        )
    return value


def _name(value: object) -> str:
    """The id of a post or a comment without its kind ("t3_…"). Some exports leave the kind out; from December 2022 on,
    Pushshift answered with the number that an id of letters and digits is, which a table may hold as a float."""
    if isinstance(value, str):
        return _KIND.sub("", value)
    number, name = _whole(value), ""
    while number > 0:
        number, digit = divmod(number, 36)
        name = _DIGITS[digit] + name
    return name


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: object) -> int:
    """A number as it is, as a text or as a float, and a time, which tables also hold as one, in seconds; else 0."""
    try:
        if isinstance(value, str) and "-" in value[1:]:
            value = datetime.fromisoformat(value.removesuffix(" UTC"))  # which BigQuery writes
        if isinstance(value, datetime):
            value = value.replace(tzinfo=value.tzinfo or UTC).timestamp()
        whole = int(float(value)) if isinstance(value, int | float | str) else 0
        return whole if abs(whole) < 1 << 62 else 0
    except (ValueError, OverflowError):
        return 0
