"""Reading a dump of comments: throughput beside plain `zstandard` and `json`, and the memory it takes.

    python -m scripts.bench.threads [--gigabytes 2] [--rounds 2]

A synthetic dump is written to temporary space: comments of the usual length and fields, of which one in a hundred
belongs to a post that is kept, as few have the flair. `plain` decompresses with zstandard, splits lines and parses each
with json, as the scripts that come with such dumps do. `bedside` spools what may matter into SQLite, with every guard
on. Each runs in a process of its own, in turn, best of the rounds; MB are of the unpacked dump, memory is the peak of
the process, imports included.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import zstandard

from builders.medconceal.spool import FLAIR, spool_threads
from scripts.bench.apart import Measured, Row, apart, best_apart, ended
from scripts.bench.rival_finders import peak_megabytes
from scripts.terminal.console import output, table

POSTS = 200_000
_KEPT = 100  # one post in so many has the flair
_TEXTS = 40_000  # different texts of comments, more than a packer's window holds
_BLOCK = 4_000  # comments written at once


def write_dump(folder: Path, size: int) -> tuple[Path, Path, int]:
    """Files of submissions and comments, and the bytes that they unpack to, `size` or a little more."""
    draw = random.Random(0)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 11))) for _ in range(30_000)]
    texts = [" ".join(draw.choices(words, k=draw.randint(5, 160))) for _ in range(_TEXTS)]
    packer = zstandard.ZstdCompressor(level=3)
    submissions, comments = folder / "submissions.zst", folder / "comments.zst"
    written = 0
    with submissions.open("wb") as file, packer.stream_writer(file) as packed:
        for number in range(POSTS):
            flair = FLAIR if number % _KEPT == 0 else None
            post = {"id": f"p{number:06d}", "author": f"user{number}", "title": "A question", "selftext": "It hurts."}
            written += packed.write(_line({**post, "link_flair_text": flair, "created_utc": number, "edited": False}))
    numbers = itertools.count(1)
    with comments.open("wb") as file, packer.stream_writer(file) as packed:
        while written < size:
            made = (_comment(number, draw.choice(texts), draw) for number in itertools.islice(numbers, _BLOCK))
            written += packed.write(b"".join(map(_line, made)))
    return submissions, comments, written


def _comment(number: int, text: str, draw: random.Random) -> dict[str, Any]:
    post = f"p{draw.randrange(POSTS):06d}"
    return {
        "all_awardings": [],
        "archived": False,
        "author": f"user{draw.randrange(POSTS)}",
        "author_flair_text": "Layperson/not verified as healthcare professional",
        "author_fullname": f"t2_{number:x}",
        "body": text,
        "can_gild": True,
        "created_utc": 1_600_000_000 + number,
        "distinguished": None,
        "edited": False,
        "id": f"c{number:08d}",
        "link_id": f"t3_{post}",
        "parent_id": f"t3_{post}",
        "permalink": f"/r/AskDocs/comments/{post}/a_question/c{number:08d}/",
        "score": draw.randrange(50),
        "subreddit": "AskDocs",
        "subreddit_id": "t5_2xtuc",
    }


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def plain(submissions: Path, comments: Path) -> int:
    """Every record parsed and dropped; the comments counted."""
    count = 0
    for path in (submissions, comments):
        with path.open("rb") as file:
            stream = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(file, read_across_frames=True)
            for line in io.TextIOWrapper(stream, encoding="utf-8"):
                count += "link_id" in json.loads(line)
    return count


def bedside(submissions: Path, comments: Path) -> int:
    """The comments of posts with the flair, spooled."""
    with tempfile.TemporaryDirectory() as folder:
        return spool_threads([submissions], [comments], Path(folder, "spool.sqlite")).counts.get("comments of them", 0)


METHODS: dict[str, Callable[[Path, Path], int]] = {"plain": plain, "bedside": bedside}


def _once(method: str, submissions: Path, comments: Path) -> dict[str, float]:
    started = time.perf_counter()
    count = METHODS[method](submissions, comments)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak": peak_megabytes(), "comments": count}


def main(arguments: Sequence[str]) -> Measured:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=2.0, help="size of the unpacked dump")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        *files, size = write_dump(Path(folder), int(options.gigabytes * 1e9))
        works = {method: partial(apart, _once, method, *files) for method in METHODS}
        best = best_apart(works, options.rounds)
    shown = table("", "method", "MB/s", "peak MB", "comments", right=("MB/s", "peak MB", "comments"))
    for method, found in best.items():
        shown.add_row(method, f"{size / 1e6 / found['seconds']:.0f}", f"{found['peak']:.0f}", found["comments"])
    output.print(shown)
    what = f"{size / 1e9:.2f} GB of posts from a `.zst` dump in {best['bedside']['peak']:.0f} MB"
    ratio = f"{best['plain']['seconds'] / best['bedside']['seconds']:.2f}× faster"
    return Measured([Row("dumps", what, "plain zstandard and json", ratio)])


if __name__ == "__main__":
    ended(main)
