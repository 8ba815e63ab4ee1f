"""Finds and removes texts that a case hides, wherever they appear word for word.

    secrets = Secrets(game.secrets(case))
    secrets.stands_in("She is afraid of the bill.")     # True or False
    secrets.taken_out("She is afraid of the bill.")     # "She [hidden]."

Texts are compared by words, whatever their case, punctuation and Unicode form. A text of fewer than three words and
twelve characters ("the bill") cannot be told from what anybody says, and is not looked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from loaders.spans import words

HIDDEN = "[hidden]"
_FEWEST_WORDS, _FEWEST_CHARACTERS = 3, 12
# A word, or one character of a script that puts no space between words (Thai, Lao, Khmer, Burmese, Japanese, Chinese).
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_NO_SPACES}]|[^\W_{_NO_SPACES}]+(?:['’][^\W_{_NO_SPACES}]+)*")

_END = ""  # marks the end of a text in the tree; never a word
Words = tuple[str, ...]
Place = tuple[str | int, ...]


class Secrets:
    """Hidden texts to look for, as a tree of words, so that a search takes no longer if there are many."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._tree: dict[str, Any] = {}
        for wanted in {tuple(word for word, _, _ in _words(text)) for text in texts}:
            if len(wanted) >= _FEWEST_WORDS or len(" ".join(wanted)) >= _FEWEST_CHARACTERS:
                node = self._tree
                for word in wanted:
                    node = node.setdefault(word, {})
                node[_END] = {}

    def __bool__(self) -> bool:
        return bool(self._tree)

    def stands_in(self, text: str) -> bool:
        """Whether one of them appears in the text."""
        return bool(self._tree) and next(self._places(list(_words(text))), None) is not None

    def taken_out(self, text: str) -> str:
        """The text with each of them replaced by a mark; the same text if there are none."""
        if not self._tree:
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
        """Their places, each from the first character to after the last, sorted by start."""
        for at, (word, start, _) in enumerate(found):
            node, last, behind = self._tree.get(word), None, at
            while node is not None:
                if _END in node:
                    last = found[behind][2]
                behind += 1
                node = node.get(found[behind][0]) if behind < len(found) else None
            if last is not None:
                yield start, last


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
