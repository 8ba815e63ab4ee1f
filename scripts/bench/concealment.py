"""What playing the reserved patient costs: through the adapter, through a minimal inspect_ai task, and without either.

    python -m scripts.bench.concealment

Every method plays the same 300 synthetic cases for 20 turns of confirmation with clinician, patient, evaluator, the
decisions to go on and the findings: 76 requests a case, to agents that answer at once (`scripts.bench.minimal_task`
says what the methods are). The adapter builds the requests, moves the patient's state, checks for leaks, and commits
every answer before it is used. Goals: at most 1.25 times the minimal task, and 0.05 times bare.
"""

from __future__ import annotations

import json

from baselines.medconceal.clinician import DECIDE, SUBMIT
from baselines.medconceal.game import Rules, task_game
from baselines.medconceal.rubric import INTENTS
from builders.medconceal.compose import composed
from scripts.bench.minimal_task import Benchmark, main

_TURN = "I understand that part {n} of this is hard for you. What worries you most when you think about the treatment?"
_REPLY = "I do not know, doctor. It is number {n} of the things that I would rather not think about for now."
_RATING = json.dumps(
    {
        "intent": "open_elicitation",
        "intent_probabilities": {name: float(name == "open_elicitation") for name in INTENTS},
        "pending_covered": False,
        "empathy": 0.5,
        "features": {"DG": 0.25, "ER": 0.75, "PA": 0, "CE": 1, "SP": 1, "NS": 0, "CM": 0, "PS": 0, "PQC": 0.5, "MR": 0},
    }
)


def reply(role: str, request: str, number: int, wants_json: bool) -> str:
    """A text of usual length, another for every number of messages."""
    if role == "evaluator":
        return _RATING
    if request.endswith(DECIDE):
        return "CONTINUE"
    if request.endswith(SUBMIT):
        return '{"findings": []}'
    return (_REPLY if role == "patient" else _TURN).format(n=number)


BENCHMARK = Benchmark(
    module="scripts.bench.concealment",
    game=task_game(Rules("confirmation", turns=20)),
    cases=composed,
    reply=reply,
    calls=20 + 20 + 20 + 15 + 1,  # turns, ratings, replies, decisions, findings
    kept="clinician",
    shown=lambda profile: "a chart",
)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK, __doc__ or ""))
