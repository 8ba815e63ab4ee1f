"""Whether a caption is in English.

Captions are too short, and too full of Latin, for detectors that count letters: of ROCO's 8,179 captions, the two that
were tried take some 250 English ones, such as "CTA chest." and "Adenocarcinoma of the lung.", for another language, and
miss German ones. Here words are counted instead: those that only English has in a caption against those that only
another language has, by their form where a language marks its words ("-ique", "-ción", "l'", "à"). Names, Latin and
credits do not count.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from loaders.files.tables import read_table

_TABLE = [row for _, row in read_table(Path(__file__).with_name("language_words.csv")).rows]


def _words(kind: str) -> frozenset[str]:
    return frozenset(word for row in _TABLE if row["kind"] == kind for word in row["words"].split())


_ENGLISH = _words("english")
# Words that captions of another language cannot do without, and English captions do not contain. Shared words ("image",
# "en bloc", "fracture", "per", "de novo", "in situ") and parts of names ("de", "la", "van") are no evidence.
_OTHERS, _SHARED = _words("other"), _words("shared")
_MARKED = re.compile(
    r"[^\W\d_]{3,}(?:iques?|graphies?|grafi[aeí]a?s?|iennes?|eux|euse|ción|ciones|ções|ção|zione|zioni|keit|ungen|ische[nrs]?)\Z"
)
_MARKED_ENGLISH = re.compile(r"[a-z]{3,}(?:tomy|scopy|graphy|pathy|plasty|metry)\Z")
_NAMED = re.compile(r"\bLe ?Fort\b")  # whose first half is a French word
_LOOKS_MARKED = _words("looks marked")
_ELIDED = re.compile(r"(?<![^\W_])(?:d|l|qu|j|s|dell|nell|all|sull|un)['’](?!orange\b)(?=[^\W\d_]{3})", re.IGNORECASE)
_ACCENTED = re.compile(r"[à-ÿāăąćčďęěğıłńňőœřśşšťůűźżž]")
# Accents in English captions: loanwords, and measurements.
_ON_LOAN = _words("on loan")
_CREDIT = re.compile(
    r"\b(?:courtesy|source|reproduced|reprinted|adapted|published|permission|copyright|credit)\b|©"
    # A work cited by author and initials ("from Breschet G") has its title in the language in which it was written.
    r"|\b(?:from|after|by|in)\s+(?-i:[A-Z][a-z]+\s[A-Z]{1,2})\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]++(?:-[^\W\d_]++)*")
_ASCII_WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")


def is_english(caption: str) -> bool:
    """Whether a caption is in English; a caption without any telling word counts as English.

    >>> is_english("Adenocarcinoma of the lung."), is_english("Cardiomegaly, Sjögren disease."), is_english("IVU.")
    (True, True, True)
    >>> is_english("Radiographie thoracique normale."), is_english("Röntgenbild der linken Hand"), is_english("OPG")
    (False, False, True)
    """
    if caption.isascii() and "'" not in caption:  # the fast path for most captions
        words = _ASCII_WORD.findall(caption.lower())
        if _OTHERS.isdisjoint(words) and not any(map(_is_marked, words)):
            return True
    caption = _NAMED.sub("LeFort", caption)
    credit = _CREDIT.search(caption)
    text = caption[: credit.start()] if credit and credit.start() > 20 else caption
    english = other = 0
    for match in _WORD.finditer(text):
        word = match[0]
        lower = word.lower()
        if lower in _ENGLISH or _MARKED_ENGLISH.match(lower):
            english += 1
        elif lower in _OTHERS:
            other += lower not in _SHARED and not (word[:1].isupper() and match.start() > 0 and word != lower.upper())
        elif lower in _ON_LOAN or lower in _LOOKS_MARKED:
            continue
        elif _is_marked(lower) or (
            not lower.isascii() and _ACCENTED.search(lower) and (word == lower or match.start() == 0)
        ):
            other += 1
    if "'" in text or "’" in text:
        other += len(_ELIDED.findall(text))
    return other <= english


@lru_cache(maxsize=16384)
def _is_marked(word: str) -> bool:
    return _MARKED.match(word) is not None
