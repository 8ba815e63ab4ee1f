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

from baselines.medconceal.record import LeakCheck, hidden_of
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
    """A text for comparison: its runs of 5 and of 7 words, stems of its words, and names and numbers."""

    runs: Set[tuple[str, ...]]
    stems: Set[str]
    names: Set[str]


class Guard:
    """The hidden texts of one case, ready to be searched for, beside what anybody may say: the words of the chart, and
    those of the concerns that are not hidden any more."""

    def __init__(self, profile: PatientProfile, chart: Chart) -> None:
        self._chart = " ".join(text for _, text in chart.lines())
        self._concerns = [(concern.content, *concern.evidence) for concern in hidden_of(profile)]

    def check(self, reply: str, hidden: Iterable[int], question: str = "") -> LeakCheck:
        """Which of the hidden concerns the reply gives away; `question` is the turn that it answers."""
        said, given = self._said(hidden := frozenset(hidden)), _given(reply)
        asked = content_stems(question) if question and _affirms(reply) else frozenset()
        broken = {
            index: [rule for text in self._concerns[index] for rule in _broken(_kept(text), said, given, asked)]
            for index in sorted(hidden)
        }
        rules = dict.fromkeys(rule for rules in broken.values() for rule in rules)
        return LeakCheck(tuple(index for index, rules in broken.items() if rules), tuple(rules))

    def touches(self, text: str, hidden: Iterable[int]) -> bool:
        """Whether a text comes near a hidden concern: two of its content words that nobody has said yet, or a leak.

        This is for what the patient is given to talk about; replies are judged by `check`.
        """
        hidden = frozenset(hidden)
        fresh = content_stems(text) - self._said(hidden).stems
        near = any(len(fresh & content_stems(own)) >= 2 for index in hidden for own in self._concerns[index])
        return near or self.check(text, hidden).leaked

    def _said(self, hidden: Set[int]) -> _Text:
        """What may be repeated while these concerns are hidden."""
        out = (text for index, texts in enumerate(self._concerns) if index not in hidden for text in texts)
        return _free(" ".join([self._chart, *out]))


def _broken(text: _Text, said: _Text, reply: _Text, asked: Set[str]) -> Iterable[str]:
    """The rules by which a reply gives a hidden text away; `asked` are the stems of a question that it says yes to."""
    own = text.stems - said.stems
    for run in text.runs & reply.runs:
        if len({stem(word) for word in run} & own) >= (2 if len(run) == SPAN else 1):
            yield "span"
            break
    both = len(own & reply.stems)
    if both >= FEWEST and both >= SHARE * len(own):
        yield "words"
    if (text.names & reply.names) - said.names:
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
def _given(reply: str) -> _Text:
    """A reply, read forwards and backwards, by words and by letters."""
    found = words(reply)
    readings = (found, found[::-1], words(reply[::-1]))
    runs = frozenset(
        tuple(reading[at : at + size])
        for reading in readings
        for size in (SPAN, LONG_SPAN)
        for at in range(len(reading) - size + 1)
    )
    return _Text(runs, {stem(word) for reading in readings for word in reading}, set(_TOKEN.findall(reply)))


@lru_cache(maxsize=128)  # it changes when a concern comes out
def _free(text: str) -> _Text:
    return _Text(frozenset(), set(map(stem, words(text))), set(_TOKEN.findall(text)))


@lru_cache(maxsize=1024)
def _kept(text: str) -> _Text:
    names = {name for name in _NAME.findall(text) if len(name) > 1}
    return _Text(spans(text, SPAN) | spans(text, LONG_SPAN), content_stems(text), names)
