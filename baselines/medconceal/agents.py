"""Scripted agents by name, as `scripted/NAME` on a command line; stand-ins, whatever they say."""

from __future__ import annotations

from collections.abc import Mapping

from baselines.dialogue.game import ScriptedAgent
from baselines.medconceal.clinician_attackers import ATTACKERS
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.scripted import plain_patient, rules_evaluator
from loaders.errors import InputError

BY_ROLE: Mapping[str, Mapping[str, ScriptedAgent]] = {
    "clinician": CLINICIANS | ATTACKERS,
    "patient": {"plain": plain_patient},
    "evaluator": {"rules": rules_evaluator},
    "judge": {},
}
"""Role -> name -> agent. A judge of rules is no agent: `--judge rules`."""


def scripted_agent(role: str, name: str) -> ScriptedAgent:
    """The agent `scripted/name` of a role. Raises InputError for a name that is not there."""
    known = BY_ROLE[role]
    if name not in known:
        names = ", ".join(f"scripted/{one}" for one in known) or "a model"
        raise InputError(f"scripted/{name}", found=f"no scripted {role} of this name", expected=names)
    return known[name]
