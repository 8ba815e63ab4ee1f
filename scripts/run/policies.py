"""Which policy the patient of a run has, by its option or its traces, and what a record says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from baselines.medconceal.policy import SHIPPED, Overlap, PolicyConfig
from baselines.medconceal.transcripts import Transcript
from loaders.errors import InputError
from loaders.files.paths import is_there

SamePolicy = Annotated[
    str, typer.Option(metavar="bedside|paper|FILE", help="Patient policy, as in `bedside run confirmation`.")
]


def policy_of(name: str, overlap: str | None = None) -> PolicyConfig:
    """A shipped policy by its name, or the one in a file; with another overlap if one is given. Raises: InputError."""
    if name in SHIPPED:
        policy = SHIPPED[name]
    elif is_there(Path(name)) or Path(name).suffix:
        policy = PolicyConfig.read(Path(name))
    else:
        raise InputError("--policy", found=repr(name), expected=f"{', '.join(SHIPPED)}, or a file")
    if overlap is None:
        return policy
    if overlap not in get_args(Overlap):
        raise InputError("--overlap", found=repr(overlap), expected=" or ".join(get_args(Overlap)))
    return replace(policy, overlap=cast(Overlap, overlap))


def fitted_elsewhere(policy: PolicyConfig, evaluator: str | None) -> str:
    """A warning if the policy was fitted on ratings of another evaluator than the run's; otherwise empty."""
    fitted = policy.training.get("evaluator")
    if fitted is None or evaluator is None or fitted == evaluator:
        return ""
    return f"the patient's weights were fitted on ratings by {fitted}, not by {evaluator}"


def recorded(dialogues: Sequence[Transcript], given: PolicyConfig) -> dict[str, PolicyConfig | None]:
    """The policies that made the traces, by digest; None for one that is neither shipped nor given."""
    ways = (replace(policy, overlap=overlap) for policy in SHIPPED.values() for overlap in get_args(Overlap))
    known = {policy.digest: policy for policy in (*ways, given)}
    digests = sorted({one.models.get("policy", "") for one in dialogues if not one.computed})
    return {digest: known.get(digest) for digest in digests}


def facts_of(made: Mapping[str, PolicyConfig | None]) -> dict[str, Any]:
    """What a record says of the policies that made the traces, by digest: of several, or an unknown one, no name."""
    policies = list(made.values())
    if len(policies) == 1 and (policy := policies[0]) is not None:
        facts = {"policy": policy.digest, "policy_name": policy.name, "overlap": policy.overlap}
        return {**facts, "policy_training": dict(policy.training)}
    digests = " + ".join(made) if all(made) else None
    return {"policy": digests, "policy_name": None, "overlap": None, "policy_training": {}}


def weights_stand_in(policies: Sequence[PolicyConfig | None]) -> str:
    """Why the patient's weights make a run a stand-in; an unknown policy may be any."""
    if any(policy is None or policy.training.get("stand_in") for policy in policies):
        return "the patient's weights are set by hand or fitted to stand-ins"
    return ""
