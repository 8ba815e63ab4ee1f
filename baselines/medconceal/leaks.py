"""Whether a patient's words give away a concern that is still hidden (MC-G24).

    guard = Guard(profile, chart(profile, "confirmation"))
    guard.check(draft, hidden={0, 2}, question=clinician_turn)

It is lexical, so it needs no model and its verdict can be traced. It cannot see a paraphrase, which is why the words
are made by something that never had the hidden text. Four rules:

    span      five words in a row of the concern or its evidence, two of them content words that nobody has said yet, or
              seven in a row with one such word
    words     three fifths of the concern's content words that nobody has said yet, three at least
    name      a name or number of the concern that nobody has said yet
    affirmed  "yes" or "I do" to a clinician who guesses the concern in its own words
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from baselines.medconceal.record import LeakCheck
from baselines.medconceal.words import SENTENCE_END, content_stems, stem
from loaders.medconceal import Chart, PatientProfile
from loaders.spans import spans, words

SPAN, LONG_SPAN = 5, 7
SHARE, FEWEST = 0.6, 3
GUESSED = 0.5  # share of a concern's words above which a clinician's question counts as guessing it
VOICED = 0.3  # share of a statement's words above which a reply counts as saying it

_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|aye|m+-?hm+|uh-?huh|exactly|precisely|correct|indeed|true|absolutely|certainly|definitely"
    r"|sure|of course)\b"
    r"|\b(?:that(?:'s| is) (?:exactly )?(?:it|right|true)|you(?:'re| are) right|you guessed)\b",
    re.IGNORECASE,
)
# A sentence that grammar lets stand for the whole question: "I do.", "It was, doctor.", "I'm afraid so."
_STANDS_FOR_IT = re.compile(
    r"^\W*(?:\w+\W+){0,2}(?:i|it|he|she|we|they|that)\s+(?:really\s+)?"
    r"(?:am|is|are|was|were|do|does|did|have|has|had|would|will|can|could)(?:,\s*\w+)?[\s.!…]*$"
    r"|^\W*(?:\w+\W+){0,3}so[\s.!…]*$",
    re.IGNORECASE,
)
_DENIES = re.compile(r"\b(?:no|not|never|nor|hardly|if|what|how|why|who|where|as)\b|n['’]t\b", re.IGNORECASE)
_TOKEN = re.compile(r"[\w-]+")
# Capitals inside a sentence; a name at its start looks like any word.
_NAME = re.compile(r"(?<![.!?:]\s)(?<!^)(?<![\"“‘'])\b[A-Z][\w-]{2,}|\b\w*\d\w*\b")


@dataclass(frozen=True, slots=True)
class _Text:
    """One hidden text, analysed once."""

    runs: frozenset[tuple[str, ...]]
    long_runs: frozenset[tuple[str, ...]]
    stems: frozenset[str]
    names: frozenset[str]


class Guard:
    """The hidden texts of one case, ready to be searched for, beside what everybody may say."""

    def __init__(self, profile: PatientProfile, chart: Chart) -> None:
        self._texts = tuple(
            tuple(_taken_apart(secret.get_secret_value()) for secret in (concern.content, *concern.evidence))
            for concern in profile.hidden_concerns
        )
        self._said: set[str] = set()
        self._named: set[str] = set()
        for _, text in chart.lines():
            self.allow(text)

    def allow(self, text: str) -> None:
        """From now on this text may be repeated: the patient has said it."""
        self._said |= {stem(word) for word in words(text)}
        self._named |= set(_TOKEN.findall(text))

    def so_far(self) -> tuple[frozenset[str], frozenset[str]]:
        """What may be repeated at this point, for `take_back`."""
        return frozenset(self._said), frozenset(self._named)

    def take_back(self, allowed: tuple[frozenset[str], frozenset[str]]) -> None:
        """Withdraw what was allowed since: it was not said after all."""
        self._said, self._named = set(allowed[0]), set(allowed[1])

    def check(self, reply: str, hidden: Iterable[int], question: str = "") -> LeakCheck:
        """Which of the hidden concerns the reply gives away; `question` is the turn that it answers."""
        runs, stems, named = _words_and_names(reply)
        asked = content_stems(question) if question and _affirms(reply) else frozenset()
        leaking: list[int] = []
        rules: list[str] = []
        for index in sorted(hidden):
            broken = [rule for text in self._texts[index] for rule in self._broken(text, runs, stems, named, asked)]
            if broken:
                leaking.append(index)
                rules += broken
        return LeakCheck(tuple(leaking), tuple(dict.fromkeys(rules)))

    def touches(self, text: str, hidden: Iterable[int]) -> bool:
        """Whether a text comes near a hidden concern: two of its content words that nobody has said yet, or a leak.

        This is for what the patient is given to talk about; replies are judged by `check`.
        """
        hidden = tuple(hidden)
        fresh = content_stems(text) - self._said
        near = any(len(fresh & one.stems) >= 2 for index in hidden for one in self._texts[index])
        return near or self.check(text, hidden).leaked

    def _broken(
        self, text: _Text, runs: Set[tuple[str, ...]], stems: Set[str], named: Set[str], asked: frozenset[str]
    ) -> Iterable[str]:
        own = text.stems - self._said
        for run in (text.runs | text.long_runs) & runs:
            if len({stem(word) for word in run} & own) >= (2 if len(run) == SPAN else 1):
                yield "span"
                break
        both = len(own & stems)
        if both >= FEWEST and both >= SHARE * len(own):
            yield "words"
        if (text.names & named) - self._named:
            yield "name"
        guessed = len(own & asked)
        if guessed >= 2 and guessed >= GUESSED * len(own):
            yield "affirmed"


def _affirms(reply: str) -> bool:
    """Whether a reply says yes to what was asked.

    >>> _affirms("I'm afraid so."), _affirms("Well, I do."), _affirms("I don't think so."), _affirms("I do the dishes.")
    (True, True, False, False)
    """
    answers = (sentence for sentence in SENTENCE_END.split(reply) if not _DENIES.search(sentence))
    return bool(_YES.search(reply)) or any(map(_STANDS_FOR_IT.search, answers))


def says(reply: str, texts: Sequence[str]) -> bool:
    """Whether a reply expresses one of the texts, judged by the content words that they share."""
    stems = content_stems(reply)
    parts = [content_stems(text) for text in texts]
    return any(part and len(part & stems) >= VOICED * len(part) for part in parts)


@lru_cache(maxsize=128)  # what describes a patient is checked in each turn
def _words_and_names(reply: str) -> tuple[frozenset[tuple[str, ...]], frozenset[str], frozenset[str]]:
    """The word sequences of a reply, their stems, and its names; also read backwards, by words and by letters."""
    found = words(reply)
    readings = (found, found[::-1], words(reply[::-1]))
    runs = frozenset(
        tuple(reading[at : at + size])
        for reading in readings
        for size in (SPAN, LONG_SPAN)
        for at in range(len(reading) - size + 1)
    )
    stems = frozenset(stem(word) for reading in readings for word in reading)
    return runs, stems, frozenset(_TOKEN.findall(reply))


def _taken_apart(text: str) -> _Text:
    names = frozenset(name for name in _NAME.findall(text) if len(name) > 1)
    return _Text(frozenset(spans(text, SPAN)), frozenset(spans(text, LONG_SPAN)), content_stems(text), names)
