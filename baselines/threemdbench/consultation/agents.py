"""The scripted agents by name, for `--doctor scripted/keyword` and the like. All are stand-ins.

patient                                                                    agents_patient
silent, majority, ask-everything, keyword, keyword-cues, oracle, parrot    agents_doctors
attack-…                                                                   agents_attackers
assessor                                                                   agents_assessor
"""

from __future__ import annotations

from collections.abc import Mapping

from baselines.dialogue.game import ScriptedAgent
from baselines.threemdbench.consultation.agents_assessor import ASSESSORS
from baselines.threemdbench.consultation.agents_attackers import ATTACKERS
from baselines.threemdbench.consultation.agents_doctors import DOCTORS
from baselines.threemdbench.consultation.agents_patient import patient
from loaders.errors import ModelError

BY_ROLE: Mapping[str, Mapping[str, ScriptedAgent]] = {
    "patient": {"patient": patient},
    "doctor": {**DOCTORS, **ATTACKERS},
    "assessor": ASSESSORS,
}
"""Role -> name -> agent. No name stands in two roles."""

AGENTS: Mapping[str, ScriptedAgent] = {name: agent for agents in BY_ROLE.values() for name, agent in agents.items()}


def scripted_agent(role: str, name: str) -> ScriptedAgent:
    """The agent `scripted/<name>` for a role. Raises ModelError for a name that cannot play it."""
    if name not in BY_ROLE[role]:
        found = f"is no {role}" if name in AGENTS else "is not a scripted agent"
        known = ", ".join(f"scripted/{known}" for known in BY_ROLE[role])
        raise ModelError(f"scripted/{name}", found=found, expected=f"one of {known}")
    return BY_ROLE[role][name]
