"""The scripted patient: picks answers from its complaints by the words of the question, in its temperament's manner.

It knows only what a patient model is told: complaints and temperament, never the diagnosis. What it has
said so far it reads from the messages. Once the doctor has named a diagnosis, it asks what its temperament makes it ask
and says BREAK. A stand-in: four fixed manners are no people.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache

from baselines.dialogue.game import Script, lines_of
from baselines.threemdbench.consultation.agents_assessor import MOST_NAMES, statements
from baselines.threemdbench.consultation.record import Case
from loaders.files.bundled import bundled
from loaders.models.messages import Message
from loaders.threemdbench import named_in

_LINES = lines_of("baselines.threemdbench.consultation", "patient_lines.csv")
MANNERS = {"choleric": 1, "melancholic": 2, "phlegmatic": 1, "sanguine": 2}
"""Temperament -> the most facts that it tells in an answer."""

# What a question is about -> what a complaint that answers it looks like.
_TOPICS = tuple(
    (re.compile(row["question"], re.IGNORECASE), re.compile(row["fact"], re.IGNORECASE))
    for row in bundled("baselines.threemdbench.consultation", "topics.csv")
)
_OPEN_QUESTION = re.compile(r"symptom|anything else|what else|notice|describe|tell me (?:more|about)", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}")
_COMMON = frozenset(
    "about and any anything are been but can could did does ever for from had has have how its more most much not one "
    "other some such that the their there they this was were what when where which who with would yes you your".split()
)

_SUBJECT = frozenset(
    "that when where before after while if because as and or but since until what which who though whether then".split()
)
_VERBS = frozenset(
    "have had see saw feel felt find found notice noticed can cannot could do did are were take took eat ate know knew "
    "think thought wake woke use used wear wore get got go went keep kept scratch touch press blink walk rub".split()
)
_YOU = re.compile(
    r"\b(?P<word>your|yours|yourself|you)\b(?P<after>['’](?:re|ve|ll|d)\b| (?:are|were|aren['’]t|weren['’]t)\b)?",
    re.IGNORECASE,
)
_AFTER = {"are": "am", "were": "was", "aren't": "am not", "weren't": "wasn't", "'re": "'m"}


def patient(case: Case) -> Script:
    """The scripted patient of a case."""
    basic = in_first_person(case.basic)
    facts = tuple(in_first_person(fact) for fact in case.additional)
    start = zlib.crc32(case.case_id.encode())

    def line(kind: str, turn: int) -> str:
        lines = _LINES[f"{case.temperament}, {kind}"]
        return lines[turn % len(lines)]

    def script(messages: Sequence[Message]) -> str:
        own = [message.text for message in messages if message.role == "assistant"]
        heard = [message.text for message in messages if message.role == "user"][1:]
        turn = start + len(own)
        if not heard:
            return line("opening", start).format(fact=basic)
        told_at = next((place for place, text in enumerate(heard) if gives_diagnosis(text)), None)
        if told_at is not None:
            asked = len(heard) - 1 - told_at
            further = _LINES.get(f"{case.temperament}, follow_up", ())
            return further[asked] if asked < len(further) else line("goodbye", start)
        question = heard[-1]
        if "?" not in question:
            return line("puzzled", turn)
        untold = [fact for fact in facts if not any(fact in text for text in own)]
        told = answering(question, untold)[: MANNERS[case.temperament]]
        return line("answer", turn).format(fact=" ".join(told)) if told else line("unknown", turn)

    return script


def answering(question: str, facts: Sequence[str]) -> list[str]:
    """The facts that answer a question, best first; any fact answers an open question, after these."""
    asked = set(_WORD.findall(question.casefold())) - _COMMON
    topics = [fact for about, fact in _TOPICS if about.search(question)]

    def points(fact: str) -> int:
        shared = asked & set(_WORD.findall(fact.casefold()))
        return 3 * sum(bool(topic.search(fact)) for topic in topics) + len(shared)

    chosen = sorted((fact for fact in facts if points(fact)), key=points, reverse=True)
    if _OPEN_QUESTION.search(question):
        chosen += [fact for fact in facts if fact not in chosen]
    return chosen


@lru_cache(maxsize=256)  # each turn goes through the whole conversation again
def gives_diagnosis(text: str) -> bool:
    """Whether a doctor's message states a diagnosis, outside questions and not as one of many."""
    return 0 < len({diagnosis.name for _, diagnosis in named_in(" ".join(statements(text)))}) <= MOST_NAMES


def in_first_person(fact: str) -> str:
    """A complaint that addresses the patient, rephrased in the first person.

    >>> in_first_person("Your itch is strong enough to wake you at night."), in_first_person("You are well.")
    ('My itch is strong enough to wake me at night.', 'I am well.')
    """

    def mine(match: re.Match[str]) -> str:
        word, after = match["word"].casefold(), (match["after"] or "").replace("’", "'")
        if word != "you":
            found = {"your": "my", "yours": "mine", "yourself": "myself"}[word] + after
            return found.capitalize() if match["word"][0].isupper() else found
        before = fact[: match.start()].split()
        behind = fact[match.end() :].split()
        first = not before or before[-1].endswith((",", ".", "!", "?", ";"))
        if first or after or before[-1].casefold() in _SUBJECT or (behind and behind[0].casefold() in _VERBS):
            lead = " " if after.startswith(" ") else ""
            return "I" + lead + _AFTER.get(after.strip(), after.strip())
        return "me"

    return _YOU.sub(mine, fact)
