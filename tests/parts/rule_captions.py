"""What the rules write of a caption with the bundled vocabulary."""

from __future__ import annotations

from functools import cache

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.vocabulary import read_vocabulary
from builders.medlaybench_v.writing.articles import with_articles
from builders.medlaybench_v.writing.draft import Drafter
from builders.medlaybench_v.writing.grammar import polish
from builders.medlaybench_v.writing.sentences import in_sentences


@cache
def bundled() -> Drafter:
    """The drafter of the bundled vocabulary, compiled once a process and not before a test asks for it."""
    return Drafter(read_vocabulary("bundled").terms)


def lay(caption: str) -> str:
    """The draft of a caption, polished, in sentences, with its articles."""
    expert = read(caption)
    return with_articles(in_sentences(polish(bundled().draft(expert, bundled().match(expert)))))
