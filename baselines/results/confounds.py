"""What runs differ in besides the systems that they compare: a difference of their numbers may come from there.

also_differing([run.record for run in read])   # "judge (rules / gpt), turns (8 / 20)"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from baselines.results.run import ELSEWHERE, RunRecord, flattened
from loaders.manifest import as_text

_SYSTEM = ("clinician", "writer", "doctor", "setting")
"""What is compared, in the words of the records; two sets of captions differ in their data."""
# Options that say what came out or which dialogues people had, that follow from other facts (the cues from the model of
# that role), or that a comparison does not use.
_NO_SETTINGS = (
    *("cases", "left_out", "participants", "traces", "transcripts", "transcripts_digest", "unplayable", "validity"),
    *("cues", "policy_fitted_elsewhere", "policy_training", "resampled", "resamples", "traces_made_by"),
)
_UNASKED = ("rules", "template")
"""Who takes a role without a model; an option with the name of the role says so."""


def also_differing(records: Sequence[RunRecord]) -> str:
    """The roles and settings in which runs differ, each with its value in every run: "judge (rules / gpt)"; or empty.

    A fact that only one run states does not count: people have no turn limit, and a diagnosis by the photo alone has no
    patient. Nor does how systems are sampled that are different models.
    """
    stated = [_facts(record) for record in records]
    systems = [role for role in _SYSTEM if len({facts.get(role) for facts in stated}) > 1]
    told = []
    for name in dict.fromkeys(name for facts in stated for name in facts):
        values = [facts.get(name) for facts in stated]
        if name.partition("'s ")[0] not in systems and len({value for value in values if value is not None}) > 1:
            told.append(f"{name} ({' / '.join(value or 'not stated' for value in values)})")
    prompts = dict.fromkeys(name for record in records for name in record.prompts)
    other = [name for name in prompts if len({record.prompts.get(name) for record in records} - {None}) > 1]
    return ", ".join([*told, *([f"prompts ({', '.join(other)})"] if other else [])])


def _facts(record: RunRecord) -> dict[str, str]:
    """What a record says of everything but the data and the prompts."""
    options = {name: value for name, value in record.options.items() if name not in (*_NO_SETTINGS, *_SYSTEM)}
    facts = _players(record)
    for role in ("patient", "evaluator", "judge"):  # here "model", None, or the digests of the judge's prompts
        if role in facts or not isinstance(options.get(role), str):
            options.pop(role, None)
    policy, digest = options.pop("policy_name", None), options.pop("policy", None)
    facts |= _texts({"policy": policy or digest})
    facts |= _texts({f"policy {policy}": digest} if policy else {})  # a fitted one may have the name of another
    for role, fields in options.pop("decoding", {}).items():
        facts |= _texts(fields, f"{role}'s ")
    facts |= _texts(options)
    facts |= _texts(record.versions, "version of ")
    return facts | _texts({name: seed for name, seed in record.seeds.items() if name != "bootstrap"}, "seed of ")


def _players(record: RunRecord) -> dict[str, str]:
    """Who took each role: models of the run, those of the recorded dialogues, or rules and fixed sentences."""
    found: dict[str, list[str]] = {}
    for model in record.models:
        refused = model.refused and f"refuses {model.refused}"
        known = (model.name, model.revision, model.source if model.source == ELSEWHERE else None, refused)
        found.setdefault(model.role, []).append(", ".join(filter(None, known)))
    made_by = record.options.get("traces_made_by", {})
    earlier = {role: names for role, names in made_by.items() if role != "policy"}
    unasked = {role: [name] for role, name in record.options.items() if name in _UNASKED}
    return {role: " + ".join(names) for role, names in (earlier | unasked | found).items()}


def _texts(facts: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """The facts as texts, nested ones with their names joined; those that are None are not stated."""
    stated = {name: value for name, value in flattened(facts, " ", before).items() if value is not None}
    return {name: as_text(value) for name, value in stated.items()}
