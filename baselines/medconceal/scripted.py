"""Scripted agents for the patient's side, where a run asks somebody in these roles but has no model. All stand-ins.

`rules_evaluator` answers an evaluator's request by the rules, in the form that a model would have to use; the template
patient needs no agent (`patient="template"`), `plain_patient` says the same to everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from baselines.dialogue.game import Script
from baselines.medconceal import rules
from baselines.medconceal.rubric import INTENTS
from loaders.models.messages import Message
from loaders.records import to_json

_TURN = re.compile(r"<turn_to_rate>\n(.*)\n</turn_to_rate>", re.DOTALL)
_PENDING = re.compile(r"<pending_question>\n(.*)\n</pending_question>", re.DOTALL)


def rules_evaluator(case: Any) -> Script:
    """Rates a turn by `rules`, as JSON."""

    def script(messages: Sequence[Message]) -> str:
        request = messages[-1].text
        turn, pending = _TURN.search(request), _PENDING.search(request)
        found = rules.evaluate(turn[1] if turn else "", pending[1] if pending else None)
        probabilities = {name: found.intent_probabilities.get(name, 0.0) for name in INTENTS}
        return json.dumps(
            {
                "intent": found.intent,
                "intent_probabilities": probabilities,
                "pending_covered": bool(found.pending_covered),
                "empathy": found.empathy,
                "features": to_json(found.features),
            }
        )

    return script


def plain_patient(case: Any) -> Script:
    """A patient of few words."""
    return lambda messages: "I see. I will have to think about that, doctor."
