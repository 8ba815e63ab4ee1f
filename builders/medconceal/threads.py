"""Thread by thread: a row for each that was spooled, with its chain or why it is refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from builders.medconceal.chains import (
    MIN_TURNS,
    Comment,
    Post,
    by_clinician,
    longest_chain,
    refusal,
    refusal_of_words,
    without_later,
)
from builders.medconceal.spool import Threads
from builders.pipeline.rows import Row
from builders.pseudonyms import pseudonym
from loaders.errors import how_many
from loaders.files.bad_rows import BadRow


def thread_rows(threads: Threads, key: bytes) -> Iterator[Row | BadRow]:
    """The rows, in the order of their pseudonyms; the lines that could not be read come first.

    `key` is the secret behind the pseudonyms: without it nobody can find the thread of a case, not even by trying them
    one by one.
    """
    with closing(sqlite3.connect(threads.spool)) as base:
        for place, reason, found in base.execute("SELECT place, reason, found FROM bad ORDER BY rowid"):
            yield BadRow(place, reason=reason, found=found)
        names = [name for (name,) in base.execute("SELECT id FROM posts")]
        for reference, name in sorted((pseudonym(key, "thread", name), name) for name in names):
            yield _row(base, name, reference, key)


def _row(base: sqlite3.Connection, name: str, reference: str, key: bytes) -> Row:
    values = base.execute("SELECT * FROM posts WHERE id = ?", (name,)).fetchone()
    post = Post(*values[:5], *map(bool, values[5:8]))
    (count,) = base.execute("SELECT COUNT(*) FROM comments WHERE post = ?", (name,)).fetchone()
    chain: list[Comment] = []
    refused = refusal(post, count)
    if refused is None:
        found = base.execute(
            "SELECT id, parent, author, flair, text, created, edited FROM comments WHERE post = ? ORDER BY created, id",
            (name,),
        )
        comments = [Comment(*one) for one in found]
        chain = longest_chain(post, comments)
        refused = refusal_of_words(post, comments)
        if refused is None and len(chain) < MIN_TURNS:
            reason = "chain too short" if chain else "no comment of a verified clinician"
            refused = reason, f"{how_many(len(chain), 'turn')} of at least {MIN_TURNS}" if chain else ""
    kept: list[Post | Comment] = [] if refused else [post, *chain]
    return {
        "case_id": f"mc-{reference[:12]}",
        "thread": reference,
        "created": post.created,
        "refused": refused and dict(zip(("reason", "detail"), refused, strict=True)),
        "author": pseudonym(key, "author", post.author),
        "names": sorted({one.author for one in kept}),
        "title": post.title if kept else "",
        "text": _original_text(post) if kept else "",
        "turns": [
            {"role": "clinician" if by_clinician(one, post) else "patient", "text": _original_text(one)}
            for one in chain
            if kept
        ],
        "edited": sum(one.edited for one in kept),
    }


def _original_text(one: Post | Comment) -> str:
    return without_later(one.text) if one.edited else one.text.strip()
