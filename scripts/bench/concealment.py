"""What playing the reserved patient costs: through the adapter, through a minimal inspect_ai task, and without either.

    python -m scripts.bench.concealment

Every method plays the same 300 synthetic cases for 20 turns of confirmation with clinician, patient, evaluator, the
decisions to go on and the findings: 76 requests a case, to agents that answer at once (`scripts.bench.minimal_task`
says what the methods are). The adapter builds the requests, moves the patient's state, checks for leaks, and commits
every answer before it is used. Goals: at most 1.25 times the minimal task, and 0.05 times bare.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from baselines.medconceal.clinician import DECIDE, SUBMIT
from baselines.medconceal.game import Rules, task_game
from baselines.medconceal.record import INTENTS
from builders.medconceal.compose import composed
from scripts.bench.apart import Measured, ended
from scripts.bench.minimal_task import Benchmark, compared

_TURN = "I understand that part {n} of this is hard for you. What worries you most when you think about the treatment?"
_REPLY = "I do not know, doctor. It is number {n} of the things that I would rather not think about for now."
_DUE = re.compile(r"^- Say this now, [^:]*: (.*?)(?: / .*)?$", re.MULTILINE)
_RATING = json.dumps(
    {
        "intent": "open_elicitation",
        "intent_probabilities": {name: float(name == "open_elicitation") for name in INTENTS},
        "pending_covered": False,
        "empathy": 0.5,
        "features": {"DG": 0.25, "ER": 0.75, "PA": 0, "CE": 1, "SP": 1, "NS": 0, "CM": 0, "PS": 0, "PQC": 0.5, "MR": 0},
    }
)


def reply(role: str, messages: Sequence[Any], wants_json: bool) -> str:
    """A text of usual length, another for every number of messages; the patient says what is due at once."""
    request, number = messages[-1].text, len(messages)
    if role == "evaluator":
        return _RATING
    if role == "patient":
        due = _DUE.findall(messages[0].text)
        return " ".join([f"{_told(text)}." for text in due]) or _REPLY.format(n=number)
    if request.endswith(DECIDE):
        return "CONTINUE"
    return '{"findings": []}' if request.endswith(SUBMIT) else _TURN.format(n=number)


def _told(concern: str) -> str:
    """The patient's words for a concern that comes out: few enough for two in one reply."""
    return " ".join(concern.split()[:24])


BENCHMARK = Benchmark(
    module="scripts.bench.concealment",
    game=task_game(Rules("confirmation", turns=20)),
    cases=composed,
    reply=reply,
    calls=20 + 20 + 20 + 15 + 1,  # turns, ratings, replies, decisions, findings
    kept="clinician",
    shown=lambda profile: "a chart",
)


def main(arguments: Sequence[str]) -> Measured:
    what = f"{{cases}} reserved patients, 20 turns, {BENCHMARK.calls} requests each, {{mb}} MB"
    return compared(BENCHMARK, __doc__ or "", arguments, what, "the same")


if __name__ == "__main__":
    ended(main)
