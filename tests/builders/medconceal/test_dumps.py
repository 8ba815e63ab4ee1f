"""Dumps of every kind are read alike, and those that are damaged or dangerous end in one clear error."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medconceal import dumps
from builders.medconceal.dumps import LINES, records
from builders.medconceal.spool import FLAIR, Admission, Threads, _of_posts, spool_threads
from builders.medconceal.threads import thread_rows
from builders.samples.medconceal import comments, submissions
from loaders.errors import InputError, MissingExtra
from loaders.files.bad_rows import BadRow
from tests.parts.processes import printed
from tests.parts.rows import strictly

zstd: Any = pytest.importorskip("backports.zstd") if sys.version_info < (3, 14) else __import__("compression.zstd").zstd
KEY = bytes(32)


def everything(line: bytes) -> bool:
    return True


def packed(path: Path, data: bytes, **options: Any) -> Path:
    path.write_bytes(zstd.compress(data, **options))
    return path


def wide(data: bytes) -> bytes:
    """Packed in one stream, as `zstd --long=28` does: the frame asks for a window of 256 MiB, whatever it holds."""
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 28})
    return bytes(stream.compress(data) + stream.flush())


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [dict(record) for _, record in strictly(records(path, everything, ["id"]))]


def as_jsonl(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def as_zst(folder: Path, name: str, lines: list[str]) -> Path:
    # Two frames, as dumps that were appended to have.
    data = [f"{line}\n".encode() for line in lines]
    path = folder / f"{name}.zst"
    path.write_bytes(zstd.compress(b"".join(data[:7])) + zstd.compress(b"".join(data[7:])))
    return path


def as_parquet(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / f"{name}.parquet"
    rows = [{**json.loads(line), "edited": False} for line in lines]
    names = sorted({column for row in rows for column in row})
    pq.write_table(pa.table({column: [row.get(column) for row in rows] for column in names}), path)
    return path


def as_json(folder: Path, name: str, lines: list[str]) -> Path:
    path = folder / f"{name}.json"
    path.write_text(f"[{','.join(lines)}]")
    return path


def as_csv(folder: Path, name: str, lines: list[str]) -> Path:
    """As databases write one, with a word for nothing."""
    path = folder / f"{name}.csv"
    rows = [{name: value for name, value in json.loads(line).items() if value is not None} for line in lines]
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, sorted({column for row in rows for column in row}), restval="NULL")
        table.writeheader()
        table.writerows(rows)
    return path


def spool_of(folder: Path, posts: list[str], replies: list[str], **admission: Any) -> Threads:
    """The threads of a dump that holds these lines, read anew."""
    spool = folder / "spool.sqlite"
    spool.unlink(missing_ok=True)
    files = ([as_jsonl(folder, "submissions", posts)], [as_jsonl(folder, "comments", replies)])
    return spool_threads(*files, spool, admission=Admission(**admission))


@pytest.mark.parametrize("written", [as_jsonl, as_zst, as_parquet, as_json, as_csv])
def test_all_kinds_give_the_same_threads(tmp_path: Path, written: Callable[[Path, str, list[str]], Path]) -> None:
    found = spool_threads(
        [written(tmp_path, "submissions", list(submissions()))],
        [written(tmp_path, "comments", list(comments()))],
        tmp_path / "spool.sqlite",
    )
    lines = found.counts["lines"]
    assert found.counts == {"comments of them": 105, "lines": lines, "submissions with the flair": 12, "threads": 12}
    assert lines == len(list(submissions())) + len(list(comments()))
    rows = strictly(thread_rows(found, KEY))
    assert [row["case_id"] for row in rows] == sorted(row["case_id"] for row in rows)
    kept = [row for row in rows if row["refused"] is None]
    assert [len(row["turns"]) for row in kept] == [8] * 7
    assert sorted(row["refused"]["reason"] for row in rows if row["refused"]) == [
        "chain too short",
        "chain too short",
        "cross-posted",
        "post deleted or removed",
        "poster under age",
    ]
    assert all([turn["role"] for turn in row["turns"]] == ["clinician", "patient"] * 4 for row in kept)
    # A refused thread leaves nothing of what was said.
    assert all(not row["text"] and not row["title"] and not row["names"] for row in rows if row["refused"])


def test_pseudonyms_depend_on_the_key_and_tell_nothing(tmp_path: Path) -> None:
    found = spool_of(tmp_path, list(submissions()), list(comments()))
    one, other = strictly(thread_rows(found, KEY)), strictly(thread_rows(found, b"another key of thirty-two bytes.."))
    assert not {row["case_id"] for row in one} & {row["case_id"] for row in other}
    assert "syn0" not in json.dumps([row["case_id"] + row["thread"] + row["author"] for row in one])


def test_a_finished_spool_is_not_read_again_and_an_unfinished_one_is_discarded(tmp_path: Path) -> None:
    posts, said = (as_jsonl(tmp_path, name, list(lines())) for name, lines in (("s", submissions), ("c", comments)))
    spool = tmp_path / "spool.sqlite"
    with pytest.raises(InputError, match="does not exist"):
        spool_threads([posts], [tmp_path / "missing.jsonl"], spool)
    assert not [path for path in tmp_path.iterdir() if path not in (posts, said)]
    first = spool_threads([posts], [said], spool)
    posts.unlink()
    assert spool_threads([posts], [said], spool) == first


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_bytes(zstd.compress(b'{"id":"a"}\n' * 9000)[:-9]), "ended before"),
        (lambda path: path.write_bytes(b""), "ended before"),
        (lambda path: path.write_bytes(b"no such format"), "cannot be unpacked"),
        (lambda path: path.write_bytes(zstd.compress(b'{"id":"a"}\n') + b"tail"), "cannot be unpacked"),
        (lambda path: packed(path, b'{"id":"a","body":"tea"}\n' * 90_000), "unpacks to more than 250 times"),
        (lambda path: path.write_bytes(wide(b'{"id":"a"}\n')), "too much memory.*unpack it elsewhere"),
        (lambda path: packed(path, b'{"id":"a"}\n{"id":'), "is incomplete JSON"),
        (lambda path: packed(path, b"[1]\n"), "a JSON list"),
        (lambda path: packed(path, b"[" * 200_000 + b"\n"), "nested too deep"),
    ],
)  # fmt: skip
def test_damaged_and_dangerous_files_end_in_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], Any], said: str
) -> None:
    for name, limit in (("LINE_BYTES", 1 << 20), ("PATIENCE", 1 << 20), ("WINDOW_LOG", 27)):
        monkeypatch.setattr(dumps, name, limit)
    path = tmp_path / "dump.zst"
    make(path)
    with pytest.raises(InputError, match=said) as caught:
        lines_of(path)
    assert path.name in str(caught.value)


def test_a_large_window_is_fine_for_whoever_allows_it(tmp_path: Path) -> None:
    path = tmp_path / "dump.zst"
    path.write_bytes(wide(b'{"id":"a"}\n'))
    assert lines_of(path) == [{"id": "a"}]


_PEAK = """
import resource, sys
from pathlib import Path
from builders.medconceal.dumps import records
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before, path = peak(), Path(sys.argv[1])
count = sum(1 for _ in records(path, lambda line: False, []))
print(count, peak() - before)
"""


def test_a_frame_takes_the_memory_of_its_window_and_little_more(tmp_path: Path) -> None:
    draw, path = Random(0), tmp_path / "dump.zst"
    stream = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 25})
    with path.open("wb") as file:
        for _ in range(40):  # 160 MB, of which one line in 200 is broken
            lines = [b'{"id":"%s"}\n' % draw.randbytes(2_000).hex().encode() for _ in range(199)]
            file.write(stream.compress(b"".join([*lines, b"\xff{broken\n"]) * 5))
        file.write(stream.flush())
    bad, grown = map(float, printed("-c", _PEAK, path).split())
    assert bad == 200
    assert grown < 32 + 40  # MiB, of 160 MB


def test_a_broken_line_is_counted_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "LINE_BYTES", 1_000)
    path = tmp_path / "dump.jsonl"
    whole = [b'{"id":"a"}', b'{"body":"' + b"x" * 2_000 + b'"}', b'{"id":"b', b"\xff\x00", b'{"id":"c"}', b"x" * 9_000]
    path.write_bytes(b"\n".join(whole))
    lines: Counter[str] = Counter()
    found = list(records(path, lambda line: b'"id"' in line, ["id"], lines))
    bad = [one for one in found if isinstance(one, BadRow)]
    assert [one.where for one in bad] == ["dump.jsonl:2", "dump.jsonl:3", "dump.jsonl:4", "dump.jsonl:6"]
    assert [one.reason for one in bad][::3] == ["a line without end"] * 2 and lines["lines"] == 6
    assert [dict(one[1]) for one in found if not isinstance(one, BadRow)] == [{"id": "a"}, {"id": "c"}]


def spooled(
    folder: Path, posts: list[dict[str, Any]], ending: str = ".jsonl", **admission: Any
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    rows = [{"link_flair_text": FLAIR, "author": "a", **post} for post in posts]
    if ending == ".parquet":
        path, spool = folder / "submissions.parquet", folder / "of_parquet.sqlite"
        pq.write_table(pa.Table.from_pylist(rows), path)
        found = spool_threads([path], [as_jsonl(folder, "comments", [])], spool, admission=Admission(**admission))
    else:
        found = spool_of(folder, list(map(json.dumps, rows)), [], **admission)
    with closing(sqlite3.connect(found.spool)) as base:
        return found.counts, list(base.execute("SELECT id, title FROM posts ORDER BY id"))


def test_the_newest_version_of_an_id_counts(tmp_path: Path) -> None:
    new = {"id": "a", "title": "new", "created_utc": 5, "retrieved_on": 90}
    old = {"id": "a", "title": "old", "created_utc": 5, "retrieved_on": 20}
    gone = {"id": "b", "title": "was here", "created_utc": 5}
    lost = {"id": "b", "title": "flair lost", "created_utc": 5, "retrieved_on": 7, "link_flair_text": None}
    first = {"id": "c", "title": "first", "created_utc": 5, "edited": False}
    then = {**first, "title": "then", "edited": 9}
    # An award has an id of its own, before that of the submission in the line.
    thanked = {"all_awardings": [{"name": "Thanks", "id": "award_1"}], "id": "d", "created_utc": 5}
    deleted = {**thanked, "retrieved_on": 7, "link_flair_text": None}
    counts, found = spooled(tmp_path, [old, new, old, gone, lost, first, then, thanked, deleted])
    assert found == [("a", "new"), ("c", "then")] and counts["threads"] == 2


@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_a_version_without_the_flair_counts_wherever_it_stands(ending: str, tmp_path: Path) -> None:
    kept = {"id": "a", "title": "kept", "created_utc": 5, "retrieved_on": 9}
    early = {**kept, "title": "not yet answered", "retrieved_on": 6, "link_flair_text": None}
    gone = {"id": "b", "title": "was here", "created_utc": 5, "retrieved_on": 6}
    deleted = {**gone, "title": "deleted", "retrieved_on": 9, "link_flair_text": None}
    other = {"id": "c", "title": "never answered", "created_utc": 5, "link_flair_text": None}
    again = {"id": "d", "title": "flaired at once", "created_utc": 5}
    before = {**again, "title": "before", "link_flair_text": None}
    counts, found = spooled(tmp_path, [early, deleted, other, before, kept, gone, again], ending)
    assert found == [("a", "kept"), ("d", "flaired at once")] and counts["threads"] == 2 and counts[LINES] == 7


def talked(name: str, turns: int) -> list[str]:
    """So many comments on the post of that id, by a clinician and the poster in turn."""
    parent, lines = f"t3_{name}", list[str]()
    nurse = {"author": "a", "author_flair_text": "Registered Nurse"}  # who asks is the patient, whatever the flair
    for turn in range(turns):
        who: dict[str, Any] = {"author": "doc", "author_flair_text": "Physician"} if turn % 2 == 0 else nurse
        said = {"id": f"{name}{turn}", "link_id": f"t3_{name}", "parent_id": parent, "body": f"turn {turn}", **who}
        lines.append(json.dumps({**said, "created_utc": turn}))
        parent = f"t1_{name}{turn}"
    return lines


def test_a_conversation_has_eight_turns(tmp_path: Path) -> None:
    post = {"author": "a", "link_flair_text": FLAIR, "selftext": "It hurts."}
    posts = [json.dumps({**post, "id": name}) for name in "bc"]
    found = spool_of(tmp_path, posts, [*talked("b", 7), *talked("c", 8)])
    rows = {len(row["turns"]): row["refused"] for row in strictly(thread_rows(found, KEY))}
    assert rows == {0: {"reason": "chain too short", "detail": "7 turns of at least 8"}, 8: None}
    roles = [[turn["role"] for turn in row["turns"]] for row in strictly(thread_rows(found, KEY)) if row["turns"]]
    assert roles == [["clinician", "patient"] * 4]


@pytest.mark.parametrize(
    ("edited", "text"),
    [
        *((no, "It hurts.\nUpdate: it still does.") for no in (False, None, "False", "0.0", "nan")),
        *((yes, "It hurts.") for yes in (17.0, "1600009999.0", True, "True")),
    ],
)
def test_only_of_an_edited_post_an_addition_is_cut(tmp_path: Path, edited: object, text: str) -> None:
    told = {"selftext": "It hurts.\nUpdate: it still does. ", "edited": edited}
    row = conversation(tmp_path, told, talked("bcd", 8))
    assert (row["text"], row["edited"]) == (text, int(text == "It hurts."))


def conversation(folder: Path, post: dict[str, Any], lines: list[str]) -> dict[str, Any]:
    """The row of a post with these comments."""
    written = {"id": "bcd", "author": "a", "link_flair_text": FLAIR, "selftext": "It hurts.", **post}
    (row,) = strictly(thread_rows(spool_of(folder, [json.dumps(written)], lines), KEY))
    return dict(row)


def bare(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "link_id": line["link_id"][3:], "parent_id": line["parent_id"][3:]}


def prefixed(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "id": f"t1_{line['id']}"}


def numbered(line: dict[str, Any]) -> dict[str, Any]:
    """As Pushshift answered from December 2022 on, through a table: a number, and nothing for a reply to the post."""
    parent = line["parent_id"]
    return {**line, "parent_id": float(int(parent[3:], 36)) if parent.startswith("t1_") else None}


@pytest.mark.parametrize("named", [bare, prefixed, numbered])
def test_ids_with_their_kind_without_it_and_as_numbers(
    tmp_path: Path, named: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    lines = [json.dumps(named(json.loads(line))) for line in talked("bcd", 8)]
    assert len(conversation(tmp_path, {"id": "t3_bcd"}, lines)["turns"]) == 8


def test_what_was_deleted_after_the_archive_had_it_is_left_out(tmp_path: Path) -> None:
    later = {"_meta": {"was_deleted_later": True, "removal_type": "deleted", "retrieved_2nd_on": 1_700_000_000}}
    still = {"_meta": {"was_initially_deleted": True, "removal_type": "automod_filtered"}}
    lines = talked("bcd", 8)
    assert conversation(tmp_path, later, lines)["refused"]["reason"] == "post deleted or removed"
    assert conversation(tmp_path, still, lines)["refused"] is None
    lines[6] = json.dumps({**json.loads(lines[6]), **later})
    assert conversation(tmp_path, {}, lines)["refused"]["detail"] == "6 turns of at least 8"
    assert b"turn 6" not in (tmp_path / "spool.sqlite").read_bytes()
    for told in (str(later["_meta"]), json.dumps(later["_meta"])):  # in a cell of a table
        assert conversation(tmp_path, {"_meta": told}, lines)["refused"]["reason"] == "post deleted or removed"


def test_what_an_archive_found_deleted_is_newer_than_what_another_fetched_before(tmp_path: Path) -> None:
    post = {
        "id": "bcd",
        "author": "a",
        "link_flair_text": FLAIR,
        "selftext": "It hurts.",
        "retrieved_on": 1_700_000_000,
    }
    later = {**post, "_meta": {"was_deleted_later": True, "retrieved_2nd_on": 1_700_200_000}}
    posts = list(map(json.dumps, (later, {**post, "retrieved_on": 1_700_100_000})))
    found = spool_of(tmp_path, posts, talked("bcd", 8))
    assert [row["refused"]["reason"] for row in strictly(thread_rows(found, KEY))] == ["post deleted or removed"]


def test_an_age_that_a_minor_deleted_later_still_counts(tmp_path: Path) -> None:
    lines = talked("bcd", 10)
    said = {**json.loads(lines[9]), "body": "I'm 16 and live in Leeds", "_meta": {"was_deleted_later": True}}
    lines[9] = json.dumps(said)
    assert conversation(tmp_path, {}, lines)["refused"]["reason"] == "poster under age"
    assert b"Leeds" not in (tmp_path / "spool.sqlite").read_bytes()


@pytest.mark.parametrize(
    "mark",
    [
        "[deleted by user]",
        "[ Removed by Reddit on account of violating the [content policy](/help/contentpolicy). ]",
        "[ Removed by reddit in response to a copyright notice. ]",
    ],
)
def test_the_marks_of_the_site_are_no_text(tmp_path: Path, mark: str) -> None:
    lines = talked("bcd", 8)
    assert conversation(tmp_path, {"selftext": mark}, lines)["refused"]["reason"] == "post deleted or removed"
    lines[5] = json.dumps({**json.loads(lines[5]), "body": mark})
    assert conversation(tmp_path, {}, lines)["refused"]["reason"] == "chain too short"


def test_a_time_may_be_a_number_a_text_or_a_time(tmp_path: Path) -> None:
    day = datetime(2021, 3, 4, 5, tzinfo=UTC)
    times = [day.timestamp(), str(int(day.timestamp())), "2021-03-04 05:00:00", "2021-03-04T05:00:00Z"]
    times.append("2021-03-04 05:00:00 UTC")
    posts = [{"id": name, "created_utc": time} for name, time in zip("abcde", times, strict=True)]
    window = {"since": int(day.timestamp()), "until": int(day.timestamp())}
    assert spooled(tmp_path, posts, **window)[0]["threads"] == 5
    assert spooled(tmp_path, [{"id": "a", "created_utc": day}], ".parquet", **window)[0]["threads"] == 1


def test_community_and_window_are_checked(tmp_path: Path) -> None:
    posts = [
        {"id": "a", "subreddit": "AskDocs", "created_utc": 100},
        {"id": "b", "subreddit": "askVet", "created_utc": 100},
        {"id": "c", "created_utc": "101.0"},
        {"id": "d", "subreddit": "askdocs", "created_utc": 99},
        {"id": "f", "subreddit": "r/AskDocs", "created_utc": 100},
        {"id": "e", "subreddit": "askdocs", "created_utc": 102},
    ]
    counts, found = spooled(tmp_path, posts, since=100, until=101)
    assert [name for name, _ in found] == ["a", "c", "f"]
    assert counts["submissions of another community"] == 1 and counts["submissions outside the window"] == 2
    for community in ("AskDocs", "r/AskDocs", "/R/AskDocs"):
        with pytest.raises(InputError, match="6 submissions of another community.*submissions of r/AskDocs"):
            spooled(tmp_path, [{**post, "subreddit": "x"} for post in posts], community=community)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dump.txt", "file type .txt"),
        ("dump.jsonl.gz", "Unpack it first"),
        ("dump.parquet", "Parquet"),
        ("dump.json", "under 'data'"),  # as the API of Arctic Shift answers
        ("missing.zst", "does not exist"),
        ("missing.csv", "does not exist"),
    ],
)
def test_files_of_another_kind(tmp_path: Path, name: str, said: str) -> None:
    if "missing" not in name:
        (tmp_path / name).write_text('{"data":[{"id":"a"}]}')
    with pytest.raises(InputError, match=said):
        lines_of(tmp_path / name)


def test_a_dump_without_the_flair_says_so(tmp_path: Path) -> None:
    path = as_jsonl(tmp_path, "submissions", ['{"id":"a","selftext":"Physician Responded"}'])
    with pytest.raises(InputError, match="no submission with the flair"):
        spool_threads([path], [path], tmp_path / "spool.sqlite")
    assert not (tmp_path / "spool.sqlite").exists()


def test_a_record_without_an_id_names_its_line(tmp_path: Path) -> None:
    path = as_jsonl(tmp_path, "submissions", ["", json.dumps({"link_flair_text": FLAIR, "title": "SECRET"})])
    with pytest.raises(InputError, match="submissions.jsonl:2: no identifier: a record without 'id'") as caught:
        spool_threads([path], [path], tmp_path / "spool.sqlite")
    assert "SECRET" not in str(caught.value)


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "dump.zst", b"{}\n")
    for name in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"\[threads\]"):
        lines_of(path)


_texts = st.text(max_size=20)


@settings(max_examples=150)
@given(
    st.sampled_from(["t3_abc", "t3_abcd", "t3_zz", "abc", ""]),
    _texts,
    st.sampled_from([(",", ":"), (", ", ": ")]),
    st.booleans(),
)
def test_no_comment_of_a_kept_post_is_let_go(link: str, body: str, separators: tuple[str, str], before: bool) -> None:
    """Whatever a text says, spaces or none, keys in any order: the look at the bytes agrees with the parsed record."""
    tricky = f'{body}"link_id":"t3_zz"'
    record = {"body": tricky, "link_id": link} if before else {"link_id": link, "body": tricky}
    line = json.dumps(record, separators=separators).encode()
    if link[3:] == "abc" and link.startswith("t3_"):
        assert _of_posts(frozenset({b"abc"}))(line)
