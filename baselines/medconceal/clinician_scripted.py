"""Clinicians without a model: fixed styles of talking, to know what the patient gives to whom.

    CLINICIANS["expert"](case) -> a script of the messages that a model would be sent

None of them looks at the case: like a model, they know only the chart and the dialogue. What they say is a stand-in and
never a result. Those that try to cheat are in `clinician_attackers`.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from baselines.dialogue.game import Drawing, Script, ScriptedAgent, lines_of
from baselines.medconceal.clinician import DECIDE, SUBMIT
from baselines.medconceal.words import SENTENCE_END
from loaders.models.messages import Message

Line = Callable[[int, Sequence[Message]], str]
"""What to say on turn n (from 1), given the messages so far."""

_EMPTY = json.dumps({"findings": []})


def agent(line: Line, findings: Callable[[Sequence[Message]], str] = lambda messages: _EMPTY) -> ScriptedAgent:
    """A scripted clinician: it speaks by `line`, never stops early, and submits `findings` at the end."""

    def script(messages: Sequence[Message]) -> str:
        last = messages[-1].text
        if last.endswith(DECIDE):
            return "CONTINUE"
        if last.endswith(SUBMIT):
            return findings(messages)
        return line(1 + sum(message.role == "assistant" for message in messages), messages)

    return lambda case: script


def cycle(lines: Sequence[str]) -> Line:
    """Says one line after another, and starts over at the end."""
    return lambda turn, messages: lines[(turn - 1) % len(lines)]


_LINES = lines_of("baselines.medconceal", "clinician_lines.csv")
_OPEN, _CLOSED, _META, _PLAN = (_LINES[kind] for kind in ("open", "closed", "meta", "plan"))
_MIXED = (*_OPEN, *_CLOSED, *_PLAN, "I see.", "Let me look at your chart for a moment.")
_MITIGATE = _LINES["mitigate"]
# Said after echoing the patient's words: a different way to leave room on each turn.
_FURTHER = _LINES["further"]


def _by_category(kind: str) -> dict[str, str]:
    return {name.removeprefix(kind): lines[0] for name, lines in _LINES.items() if name.startswith(kind)}


_SUBJECTS = _by_category("subject: ")  # patterns of what people worry about; the first that is found decides
_GUESSES = _by_category("guess: ")


def _longest(text: str) -> str:
    """The longest sentence that is not a question."""
    sentences = [part for part in SENTENCE_END.split(text) if not part.endswith("?")]
    return max(sentences, key=len, default="it is hard")[:200].replace('"', "'")


_OPENS_UP = re.compile(
    r"\b(?:to be honest(?: with you)?|not told anyone|i will (?:tell you(?: straight)?|say it)|the truth is|"
    r"i never told|here it is|let me say it|not speak of (?:this|it)|never said it(?: aloud)?|not tell anyone|"
    r"hm\. all right)\b",
    re.IGNORECASE,
)


def _confided(messages: Sequence[Message]) -> str | None:
    """The patient's latest reply that confided something, which is what an expert follows up; None if there is none."""
    for message in reversed([message for message in messages[1:] if message.role == "user"]):
        if _OPENS_UP.search(message.text):
            return _longest(_OPENS_UP.split(message.text)[-1])
    return None


def _expert_line(turn: int, messages: Sequence[Message]) -> str:
    # Nothing can be out before the second turn. From then on what has been said is taken up, and room is left for more.
    if turn == 1:
        return _OPEN[0]
    if "Target plan:" in messages[0].text and turn >= 3 and (said := _confided(messages)):
        return _MITIGATE[turn % len(_MITIGATE)].format(said=said)
    return f'"{_longest(messages[-1].text)}" {_FURTHER[(turn - 2) % len(_FURTHER)]}'


def _heard_findings(messages: Sequence[Message]) -> str:
    """A finding for each statement of the patient that touches a subject of the four categories."""
    findings = []
    # The first user message is ours; the last reply is followed by our request.
    for message in [message for message in messages if message.role == "user"][1:]:
        for sentence in SENTENCE_END.split(message.text.partition("\n\n---\n")[0]):
            category = next(
                (name for name, words in _SUBJECTS.items() if re.search(words, sentence, re.IGNORECASE)), None
            )
            if category and not sentence.endswith("?") and len(sentence.split()) >= 5:
                findings.append({"category": category, "description": sentence})
    return json.dumps({"findings": findings}, ensure_ascii=False)


def _guessed_findings(messages: Sequence[Message]) -> str:
    """One guess per category, based on nothing that the patient said: a judge must not credit it."""
    return json.dumps({"findings": [{"category": name, "description": text} for name, text in _GUESSES.items()]})


def random_clinician(seed: int) -> ScriptedAgent:
    """Says lines from the others' repertoire at random: always the same lines in the same dialogue."""

    def line(turn: int, messages: Sequence[Message]) -> str:
        so_far = hashlib.sha256("\n".join(message.text for message in messages).encode()).hexdigest()
        return random.Random(f"{seed}:{turn}:{so_far}").choice(_MIXED)

    return agent(line, _heard_findings)


def _silent(case: Any) -> Script:
    return lambda messages: ""


CLINICIANS: dict[str, ScriptedAgent] = {
    "expert": agent(_expert_line, _heard_findings),
    "open-empathic": agent(cycle(_OPEN), _heard_findings),
    "closed-checklist": agent(cycle(_CLOSED), _guessed_findings),
    "meta-prober": agent(cycle(_META), _guessed_findings),
    "plan-repeater": agent(cycle(_PLAN)),
    "silent": _silent,
    "random": Drawing(random_clinician),
}
"""Name -> scripted clinician."""
