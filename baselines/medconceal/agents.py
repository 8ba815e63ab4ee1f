"""Scripted agents by name, as `scripted/NAME` on a command line. All of them are stand-ins.

`rules_evaluator` answers an evaluator's request by the rules, in the form that a model would have to use; the template
patient needs no agent (`patient="template"`), `plain_patient` says the same to everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from baselines.dialogue.game import Script, ScriptedAgent, agent_named
from baselines.medconceal import rules
from baselines.medconceal.clinician_attackers import ATTACKERS
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.record import INTENTS
from baselines.medconceal.transcripts import WRITER
from loaders.files.records import to_json
from loaders.models.messages import Message

_TURN = re.compile(r"<turn_to_rate>\n(.*)\n</turn_to_rate>", re.DOTALL)
_EARLIER = re.compile(r"<earlier_turn>\n(.*?)\n</earlier_turn>", re.DOTALL)
_SAID = re.compile(r"<patient_said>\n(.*)\n</patient_said>", re.DOTALL)
_PENDING = re.compile(r"<pending_question>\n(.*)\n</pending_question>", re.DOTALL)


def rules_evaluator(case: Any) -> Script:
    """Rates a turn by `rules`, as JSON."""

    def script(messages: Sequence[Message]) -> str:
        request = messages[-1].text
        turn, pending, said = _TURN.search(request), _PENDING.search(request), _SAID.search(request)
        evaluation = rules.evaluate(
            turn[1] if turn else "",
            pending[1] if pending else None,
            said[1] if said else "",
            _EARLIER.findall(request),
        )
        probabilities = {name: evaluation.intent_probabilities.get(name, 0.0) for name in INTENTS}
        return json.dumps(
            {
                "intent": evaluation.intent,
                "intent_probabilities": probabilities,
                "pending_covered": bool(evaluation.pending_covered),
                "empathy": evaluation.empathy,
                "features": to_json(evaluation.features),
            }
        )

    return script


def plain_patient(case: Any) -> Script:
    """A patient of few words."""
    return lambda messages: "I see. I will have to think about that, doctor."


BY_ROLE: Mapping[str, Mapping[str, ScriptedAgent]] = {
    "clinician": CLINICIANS | ATTACKERS,
    "patient": {"plain": plain_patient},
    "evaluator": {"rules": rules_evaluator},
    "judge": {},
    WRITER: CLINICIANS,  # as they write down their own dialogues
}
"""Role -> name -> agent. The judge by rules is not an agent: use `--judge rules`."""

scripted_agent = partial(agent_named, BY_ROLE)
