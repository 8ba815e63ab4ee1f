"""Finds and removes what a case hides, wherever a text repeats it in the same words.

    secrets = Secrets(game.secrets(case))
    secrets.stands_in("Yes, she is afraid of the bill.")     # True or False
    secrets.taken_out("Yes, she is afraid of the bill.")     # "Yes, [hidden]."

Every run of words that a text shares with a hidden text is found, from five words on: a reply may be cut, or leave out
a word. Texts are compared by words, whatever their case, punctuation and Unicode form. A paraphrase cannot be
recognised, nor can fewer words in a row.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from loaders.spans import words

HIDDEN = "[hidden]"
# The shortest run. Three or four words are anybody's ("I don't know", "I would rather not"), and the texts of hundreds
# of cases hold most of them; five are rarely shared by chance. Of a text of just five words, four count: it may lack
# one.
_RUN = 5
# A shorter text is looked for as a whole, but not "the bill", which cannot be told from what anybody says.
_FEWEST_WORDS, _FEWEST_CHARACTERS = 3, 12
# A word, or one character of a script that puts no space between words (Thai, Lao, Khmer, Burmese, Japanese, Chinese).
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+(?:['’][^\W_{_NO_SPACES}]+)*")
_CHARACTER = re.compile(f"[{_NO_SPACES}]")

Words = tuple[str, ...]
Place = tuple[str | int, ...]


class Secrets:
    """Hidden texts to look for, as a set of runs of words, so that a search takes no longer if there are many."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._runs: set[Words] = set()
        for wanted in {tuple(word for word, _, _ in _words(text)) for text in texts}:
            if len(wanted) >= _FEWEST_WORDS or len(" ".join(wanted)) >= _FEWEST_CHARACTERS:
                self._runs.update(_runs_of(wanted))
        self._sizes = sorted({len(run) for run in self._runs}, reverse=True)

    def __bool__(self) -> bool:
        return bool(self._runs)

    def stands_in(self, text: str) -> bool:
        """Whether the text repeats one of them, or enough of it."""
        return bool(self._runs) and next(self._places(list(_words(text))), None) is not None

    def taken_out(self, text: str) -> str:
        """The text with all that it repeats of them replaced by marks; the same text if there is nothing."""
        if not self._runs:
            return text
        composed = _composed(text)
        parts, at = [], 0
        for start, end in self._places(list(_words(composed))):
            if start >= at:
                parts += [composed[at:start], HIDDEN]
            at = max(at, end)
        return "".join([*parts, composed[at:]]) if parts else text

    def without(self, value: Any) -> Any:
        """JSON with them removed from all its texts; names of fields stay."""
        if isinstance(value, str):
            return self.taken_out(value)
        if isinstance(value, list):
            return [self.without(item) for item in value]
        if isinstance(value, dict):
            return {name: self.without(item) for name, item in value.items()}
        return value

    def _places(self, found: Sequence[tuple[str, int, int]]) -> Iterator[tuple[int, int]]:
        """The places of runs, each from the first character to after the last, sorted by start."""
        told = [word for word, _, _ in found]
        for at, (_, start, _) in enumerate(found):
            for size in self._sizes:
                run = tuple(told[at : at + size])
                if run in self._runs:
                    yield start, found[at + len(run) - 1][2]
                    break


def _runs_of(wanted: Words) -> Iterator[Words]:
    """The shortest runs of a text that count as the text, from each of its words on.

    Two characters of a script without spaces count as a word.
    """
    weights = [1 if _CHARACTER.fullmatch(word) else 2 for word in wanted]
    whole, run = sum(weights), 2 * _RUN
    needed = run if whole > run else min(whole, run - 2)
    end = weight = 0
    for start in range(len(wanted)):
        while weight < needed and end < len(wanted):
            weight += weights[end]
            end += 1
        if weight < needed:
            return
        yield wanted[start:end]
        weight -= weights[start]


def _composed(text: str) -> str:
    """Letters and their marks combined into one character, where one exists."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of a text as in `loaders.spans`, each with its place."""
    for found in _WORD.finditer(_composed(text)):
        for word in _as_compared(found[0]):
            yield word, found.start(), found.end()


@lru_cache(maxsize=1 << 16)
def _as_compared(word: str) -> Words:
    return tuple(words(word))


# --- JSON without, and what makes it whole again ----------------------------------------------------------------------


def differences(shown: Any, whole: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Where two pieces of JSON differ, with the second one's value there."""
    if isinstance(shown, dict) and isinstance(whole, dict) and shown.keys() == whole.keys():
        for name in shown:
            yield from differences(shown[name], whole[name], (*place, name))
    elif isinstance(shown, list) and isinstance(whole, list) and len(shown) == len(whole):
        for at, (one, other) in enumerate(zip(shown, whole, strict=True)):
            yield from differences(one, other, (*place, at))
    elif shown != whole:
        yield place, whole


def put_back(shown: Any, values: Iterable[tuple[Place, Any]]) -> Any:
    """The whole, restored from what `differences` found. Raises: LookupError,
    TypeError for a place that does not exist."""
    whole = {"": shown}
    for place, value in values:
        holder: Any = whole
        path = ("", *place)
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = value
    return whole[""]
