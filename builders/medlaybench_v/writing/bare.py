"""The commonest words of radiology, explained once each where too little else of a caption is.

"Anterior", "distal" and "lesion" are kept where plain words would say something else (`stacks`, `company`). If nothing
else is put in plain words, they are what is not understood: "inferior dislocation (toward the bottom) of the right hip
joint". Where a reader gets the rest of a caption in plain words, they are explained only in sentences with room for it,
far from the one explanation that stands there: two brackets help, three hinder. `bare.csv` lists them, with the
captions in which each has that sense (`only`, `unless`, patterns as in `senses`).

    >>> from builders.medlaybench_v.facts import read
    >>> [match.entry.lay for match in in_bare(read("CT of the inferior dislocation of the right hip."), [])]
    ['inferior (toward the bottom)']
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from builders.medlaybench_v.facts import Reading
from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.words.stacks import noun_end
from builders.medlaybench_v.words.terms import Term
from builders.medlaybench_v.writing.glosses import bracket_follows, finds_room, inside_brackets
from builders.medlaybench_v.writing.matches import Entry, Match
from builders.medlaybench_v.writing.senses import another_sense
from builders.medlaybench_v.writing.topics import pattern, table

# What tells a reader something; a plainer verb or the name of a picture does not.
_TELLING = frozenset(("finding", "disease", "anatomy", "device", "procedure", "agent"))
BUNDLED = "bedside-cc0"  # the vocabulary that these words belong to
_WORDS_EACH = 24  # of a caption in which at least one thing is told in plain words
_MOST = 2
_APART = 60  # characters between two explanations of a sentence
# The word for a whole picture, one of two joined words, the end of a clause: no noun follows that it belongs to.
_NO_NOUN = re.compile(
    r"[ ]?(?:[.,;:()/]|\Z)|[ ](?:and|or|to|of|in|on|at|is|are|was|were|views?|x-?rays?|radiogra\w*|films?|images?|"
    r"project\w*|decubit\w*|cephal\w*|oblique|margins?|\d)",
    re.IGNORECASE,
)
# A view from the side is no view toward it.
_PICTURED = re.compile(rf"(?:[ ][\w-]+){{0,3}}[ ](?:{any_of('pictured')})\b")
# "Histiocytosis X", "grade II".
_NAME_GOES_ON = re.compile(r" [A-Z\d]")
_HYPHENS = "–/’'-"


class _Word(NamedTuple):
    entry: Entry
    only: re.Pattern[str] | None
    unless: re.Pattern[str] | None


@cache
def read_bare() -> dict[str, _Word]:
    """The rows of `bare.csv` by word."""
    words = {}
    for row in table("bare.csv"):
        word, lay = row["word"], f"{row['word']} ({row['told']})"
        kind = {"adjective": "direction", "time": "time"}.get(row["pos"], "finding")
        pos = "noun" if kind == "finding" else "adjective"
        term = Term(word, lay, None, kind, pos, "-", "-", "", False, BUNDLED, "CC0-1.0")
        entry = Entry(word, lay, term, False, False, term.licence, True)
        words[word] = _Word(entry, *(pattern(row[cell]) if row[cell] else None for cell in ("only", "unless")))
    return words


@cache
def _patterns() -> dict[str, list[re.Pattern[str]]]:
    """What finds the words, by the first part of each ("contrast-enhanced")."""
    patterns: dict[str, list[re.Pattern[str]]] = {}
    for name in read_bare():
        # A pattern that begins with letters is found by them: what stands before is looked at from behind.
        whole = re.compile(rf"{name}(?<![\w{_HYPHENS}]{name})(?![\w{_HYPHENS}])")
        patterns.setdefault(name.partition("-")[0], []).append(whole)
    return patterns


def in_bare(caption: Reading, matches: Sequence[Match], parts: Sequence[Match] = ()) -> list[Match]:
    """The words to explain in a caption. Where `matches` tell too little, `parts` are explained too: words that are a
    part of a longer name, and are left elsewhere, as in "a clivus (bone at the skull base) fracture". Where they tell
    enough, only sentences with room for one get it.
    """
    unknown = caption.bag.intersection(_patterns())
    if not (unknown or parts):
        return []
    lower = caption.lower
    told = len([entry for _, _, entry in matches if entry.changes and entry.term.kind in _TELLING])
    enough = told * _WORDS_EACH >= lower.count(" ") + 1
    if enough and not unknown:
        return []
    free = () if enough else [part for part in parts if _finds_room(caption.text, *part[:2], part.entry.term)]
    found = {part.entry.surface: part for part in free[: _MOST - told]}
    most = _MOST if enough else _MOST - told
    explaining: dict[int, list[int]] = {}  # where each sentence has explanations already
    for match in matches if enough else ():
        if _explains(match.entry):
            explaining.setdefault(_sentence_of(lower, match.start), []).append(match.start)
    taken = [*matches, *found.values()]
    words = (word for first in unknown for whole in _patterns()[first] for word in whole.finditer(lower))
    for word in sorted(words, key=re.Match.start):
        if len(found) >= most:
            break
        start, end = word.span()
        if any(at < end and start < behind for at, behind, _ in taken):
            continue
        surface, (entry, only, unless) = word[0], read_bare()[word[0]]
        if (
            surface in found
            or (enough and _is_full(explaining.get(_sentence_of(lower, start), ()), start))
            or (only is not None and not only.search(lower))
            or (unless is not None and unless.search(lower))
            or not _finds_room(caption.text, start, end, entry.term)
            or ("toward" in entry.lay and _PICTURED.match(lower, end))
            or inside_brackets(caption.text, start)
            or (entry.term.kind != "time" and another_sense(surface, lower, start, end))
        ):
            continue
        found[surface] = Match(start, end, entry)
        taken.append(found[surface])
        if enough:
            explaining.setdefault(_sentence_of(lower, start), []).append(start)
    return list(found.values())


def _is_full(explained: Sequence[int], start: int) -> bool:
    """Whether a sentence that explains something at `explained` has no room for one more explanation at `start`."""
    return len(explained) >= _MOST or any(abs(start - at) < _APART for at in explained)


def _explains(entry: Entry) -> bool:
    """Whether an entry brings a bracket of its own."""
    return entry.stays or entry.term.gloss or " (" in entry.lay


def _sentence_of(lower: str, at: int) -> int:
    """Where the sentence begins that a place lies in."""
    return max(lower.rfind(". ", 0, at), lower.rfind("; ", 0, at), lower.rfind("! ", 0, at), lower.rfind("? ", 0, at))


def _finds_room(text: str, start: int, end: int, term: Term) -> bool:
    """Whether a bracket can stand where the draft would put it (`glosses`)."""
    if term.pos != "adjective":
        return _NAME_GOES_ON.match(text, end) is None and not bracket_follows(text, end)
    if term.kind != "time" and _NO_NOUN.match(text, end):
        return False
    last = noun_end(text, end, len(text))
    return last > 0 and finds_room(text, start, end, last) and not bracket_follows(text, last)
