"""The scripted agents by name, for `--doctor scripted/keyword` and the like. All are stand-ins."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from baselines.dialogue.game import ScriptedAgent, agent_named
from baselines.threemdbench.consultation.agents_assessor import ASSESSORS
from baselines.threemdbench.consultation.agents_doctors import ATTACKERS, DOCTORS
from baselines.threemdbench.consultation.agents_patient import patient

BY_ROLE: Mapping[str, Mapping[str, ScriptedAgent]] = {
    "patient": {"patient": patient},
    "doctor": {**DOCTORS, **ATTACKERS},
    "assessor": ASSESSORS,
}
"""Role -> name -> agent. No name is used in two roles."""

AGENTS: Mapping[str, ScriptedAgent] = {name: agent for agents in BY_ROLE.values() for name, agent in agents.items()}

scripted_agent = partial(agent_named, BY_ROLE)
