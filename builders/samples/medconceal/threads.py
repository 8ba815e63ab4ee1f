"""The written threads as the lines of a dump: submissions and comments with the fields that the archives keep.

Beside the threads they contain what fills real dumps: posts without the flair, comments of strangers, a bot.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from builders.samples.medconceal.cases import HERE

_EPOCH = 1_600_000_000


@cache
def written() -> tuple[Mapping[str, Any], ...]:
    """The threads as they stand in the file."""
    return tuple(yaml.safe_load((HERE / "threads.yaml").read_text(encoding="utf-8")))


def submissions() -> Iterator[str]:
    """One JSON line a post."""
    for number, thread in enumerate(written()):
        yield _line(
            {
                "id": thread["id"],
                "author": thread["author"],
                "title": thread["title"],
                "selftext": thread["text"],
                "link_flair_text": "Physician Responded",
                "created_utc": _EPOCH + 10_000 * number,
                "edited": False,
                "removed_by_category": "moderator" if thread.get("removed") else None,
                "crosspost_parent": "t3_zzz999" if thread.get("crosspost") else None,
                "subreddit": "AskDocs",
            }
        )
        yield _line({"id": f"oth{number:03d}", "author": f"passer_{number}", "title": "A question", "selftext": "…"})


def comments() -> Iterator[str]:
    """One JSON line a comment."""
    for number, thread in enumerate(written()):
        post, parent = thread["id"], f"t3_{thread['id']}"
        for turn, text in enumerate(thread["turns"]):
            clinician = turn % 2 == 0
            own = f"{post}c{turn:02d}"
            gone = thread.get("deleted_turn") == turn
            flairs = thread["flairs"]
            yield _comment(
                own,
                post,
                parent,
                author="[deleted]"
                if gone
                else f"doctor_{number}_{turn % len(flairs)}"
                if clinician
                else thread["author"],
                flair=flairs[turn // 2 % len(flairs)] if clinician else None,
                text="[deleted]" if gone else text,
                at=_EPOCH + 10_000 * number + 60 * (turn + 1),
            )
            parent = f"t1_{own}"
        yield _comment(
            f"{post}x00",
            post,
            f"t3_{post}",
            author="a_stranger",
            flair="Layperson/not verified as healthcare professional",
            text="Same here, try tea.",
            at=_EPOCH + 10_000 * number + 5,
        )
        if thread.get("bot"):
            yield _comment(
                f"{post}x01",
                post,
                f"t3_{post}",
                author="AutoModerator",
                flair=None,
                text="Thank you for your submission.",
                at=_EPOCH + 10_000 * number + 1,
            )


def _comment(own: str, post: str, parent: str, *, author: str, flair: str | None, text: str, at: int) -> str:
    return _line(
        {
            "id": own,
            "link_id": f"t3_{post}",
            "parent_id": parent,
            "author": author,
            "author_flair_text": flair,
            "body": text,
            "created_utc": at,
            "edited": False,
            "subreddit": "AskDocs",
        }
    )


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
