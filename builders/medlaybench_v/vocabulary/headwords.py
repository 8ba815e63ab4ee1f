"""Public lists capitalise their headwords; inside a sentence most of these capitals go."""

from __future__ import annotations

import dataclasses
import re

from builders.medlaybench_v.vocabulary.readers import Reading, TermCandidate
from builders.medlaybench_v.words.terms import Term

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
# A capital before one of these marks a person or a place, unless the source writes the word in lower case elsewhere.
_NAMED_THINGS = frozenset("anomaly deformity disease palsy phenomenon sign stain syndrome type".split())
# Names that are also words.
_NAMES_LIKE_WORDS = frozenset("Bell Best Down Graves Gray Pick Still Wells".split())


def in_sentence(reading: Reading) -> list[TermCandidate]:
    """The candidates with the capitals of a headword ("Wet lung", "Motion Sickness") changed to those of a sentence.

    Words are never changed otherwise, and curated lists are taken as they are. A word that the source also writes in
    lower case loses its capital; so does the first word of a phrase, or every word of one that capitalises them all,
    unless it looks like a name.
    """
    lists = [c for c in reading.candidates if not c.curated]
    if not lists:
        return reading.candidates
    lower: set[str] = set()
    names: set[str] = set()
    sides = (side for c in lists for side in (c.term.expert, c.term.lay))
    for words in map(_WORD.findall, (reading.running_text, *sides)):
        lower.update(word for word in words if word.islower())
        if any(word.islower() for word in words):
            names.update(word for word in words[1:] if word.istitle())
    names = {word for word in names if word.lower() not in lower} | _NAMES_LIKE_WORDS

    def running(phrase: str) -> str:
        words = list(_WORD.finditer(phrase))
        out = list(phrase)
        title = not any(match[0].islower() for match in words)
        for place, match in enumerate(words):
            word = match[0]
            following = words[place + 1][0] if place + 1 < len(words) else ""
            hyphen = phrase[match.end() : match.end() + 1] == "-" and following.istitle()
            named = names & {word, following} or hyphen or following.lower() in _NAMED_THINGS or not word.isalpha()
            headword = (place == 0 or title) and not named
            if word.istitle() and (headword or (word.lower() in lower and word not in _NAMES_LIKE_WORDS)):
                out[match.start()] = word[0].lower()
        return "".join(out)

    def tidy(term: Term) -> Term:
        return dataclasses.replace(term, expert=" ".join(term.expert.split()), lay=running(" ".join(term.lay.split())))

    return [c if c.curated or c.refused else dataclasses.replace(c, term=tidy(c.term)) for c in reading.candidates]
