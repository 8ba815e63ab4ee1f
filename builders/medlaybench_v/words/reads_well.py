"""How well a lay caption reads: counts what makes a reader stumble.

    >>> measured = reading_of("A contrast CT with contrast dye shows scarring; hilar bronchiectasis.")
    >>> measured.repeats, measured.hyphens, measured.unexplained
    (1, 0, ('hilar', 'bronchiectasis'))

Four things are counted: a word that comes twice within a name or across a short joint ("contrast CT with contrast
dye"), a chain of more than two hyphens, six words or more in a row without a small word or verb between them, and words
outside a list of plain ones (`plain_words.txt`: 2,100 words and their inflections, CC0) that no parentheses explain.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import filterfalse
from pathlib import Path

from builders.medlaybench_v.words.stacks import FUNCTION_WORDS

PLAIN = Path(__file__).with_name("plain_words.txt")
# The penalties of a stumbling block and of an unexplained word, per ten words.
_STUMBLING, _UNEXPLAINED = 0.5, 0.25
READS_WELL = 0.5
"""A caption whose score is lower does not read well."""

_WORD = re.compile(r"[^\W\d_]++(?:['’-][^\W\d_]++)*")  # a possessive quantifier: faster
_SENTENCE_MARKS = frozenset(".;:()")
_MARKS = _SENTENCE_MARKS | {",", "–"}
_WORD_OR_MARK = re.compile(rf"{_WORD.pattern}|[{''.join(sorted(_MARKS))}]")
_CHAIN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+){3,}")
_EXPLAINED = re.compile(r"((?:[^\W\d_][\w'’”\"/-]*\s){1,4})\(([^()]*[a-z]{3}[^()]*)\)|\(([^()]*)\)")
_WORDS_BEFORE = 4  # words before a parenthesis that may belong to what it explains, as in the pattern
_MARKERS = re.compile(r"arrow|asterisk|star\b|white|black|figure|circle", re.IGNORECASE)
_VERBAL = ("ing", "ed", "ly")
_LONGEST_STACK = 5
_JOINTS = frozenset("of in on at to the a an and or with without by for from is are as its".split())
_PARTING = FUNCTION_WORDS | _JOINTS | _MARKS
_UNCOUNTED = _JOINTS | _MARKS
_OFTEN_TWICE = frozenset("left right side upper lower both white black arrow arrows mm cm vs type l1 image".split())
_NAME_LIKE = re.compile(r"[A-Z0-9][\w-]*[A-Z0-9]|[A-Z]\w?\Z")


@dataclass(frozen=True, slots=True)
class Reads:
    """Stumbling blocks of a caption; `score` is 1 if there are none, and never below 0."""

    score: float
    repeats: int
    hyphens: int
    stacks: int
    unexplained: tuple[str, ...]


@cache
def plain_words() -> frozenset[str]:
    """The plain words with their plurals, verb forms, adverbs and degrees."""
    words: set[str] = set()
    for word in PLAIN.read_text(encoding="utf-8").split():
        words.add(word)
        if len(word) < 3 or not word.isalpha():
            continue
        stem = word.removesuffix("e")
        doubled = word + word[-1] if re.search(r"[^aeiou][aeiou][bdgklmnprt]\Z", word) else stem
        words |= {f"{word}s", f"{stem}ed", f"{stem}ing", f"{doubled}ed", f"{doubled}ing", f"{word}ly", f"{stem}er"}
        words |= {f"{stem}est", f"{word}'s"}
        if word.endswith("y"):
            words |= {f"{word[:-1]}ies", f"{word[:-1]}ied", f"{word[:-1]}ily"}
        if word.endswith(("s", "x", "ch", "sh")):
            words.add(f"{word}es")
    return frozenset(words)


@lru_cache(maxsize=64)
def reading_of(text: str) -> Reads:
    """Count the stumbling blocks of a caption."""
    tokens = _WORD_OR_MARK.findall(text)
    words = [token for token in tokens if token not in _MARKS]
    unexplained = _unexplained(words, text)
    stacks, repeats = _stacks_and_repeats(map(str.lower, tokens))
    hyphens = sum(len(_CHAIN.findall(word)) for word in words if word.count("-") > 2) if text.count("-") > 2 else 0
    tens = max(1.0, len(words) / 10)
    score = max(0.0, 1 - (_STUMBLING * (repeats + hyphens + stacks) + _UNEXPLAINED * len(unexplained)) / tens)
    return Reads(round(score, 3), repeats, hyphens, stacks, unexplained)


def unexplained_words(text: str) -> tuple[str, ...]:
    """Words outside the plain list, each once, that no parentheses explain; capitalised names do not count."""
    return _unexplained(_WORD.findall(text), text)


def _unexplained(said: Sequence[str], text: str) -> tuple[str, ...]:
    not_plain = filterfalse(plain_words().__contains__, said)  # most words are plain as they are
    strange = dict.fromkeys(map(_if_strange, not_plain))
    strange.pop("", None)
    if not strange:
        return ()
    explained: set[str] = set()
    for found in _explanations(text):
        if found[1] and not _MARKERS.search(found[2].partition(";")[0]):  # "(bulging weak spot; arrow)"
            explained.update(map(str.lower, _WORD.findall(found[1] + found[2])))  # a space ends the first
    return tuple([word for word in strange if word not in explained])


def _explanations(text: str) -> Iterator[re.Match[str]]:
    """Parentheses with the words before them; searched only from where a parenthesis opens."""
    end = 0
    while (bracket := text.find("(", end)) >= 0:
        start = bracket
        for _ in range(_WORDS_BEFORE + 1):
            start = text.rfind(" ", end, max(start, end))
        found = _EXPLAINED.search(text, max(start, end))
        if found is None:
            return
        yield found
        end = found.end()


@lru_cache(maxsize=65536)
def _if_strange(word: str) -> str:
    """A word in lower case; "" for a plain one and for a capitalised name."""
    plain, lower = plain_words(), word.lower()
    if lower in plain or all(part in plain for part in lower.split("-")):
        return ""
    return "" if word != lower and _NAME_LIKE.match(word) else lower


@lru_cache(maxsize=65536)
def _parts(word: str) -> bool:
    return word in _PARTING or word.endswith(_VERBAL)


def _stacks_and_repeats(tokens: Iterable[str]) -> tuple[int, int]:
    """Runs of more than `_LONGEST_STACK` words that nothing separates, and words repeated within three words, joints
    not counted."""
    stacks = run = repeats = 0
    before: deque[str] = deque(maxlen=3)
    for word in tokens:
        run = 0 if _parts(word) else run + 1
        stacks += run == _LONGEST_STACK + 1
        if word in _SENTENCE_MARKS:
            before.clear()
        elif word not in _UNCOUNTED:
            repeats += word in before and len(word) > 2 and word not in _OFTEN_TWICE
            before.append(word)
    return stacks, repeats
