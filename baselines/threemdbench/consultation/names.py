"""The paper's names of settings and models, and which models belong to one family."""

from __future__ import annotations

import re
from collections.abc import Sequence

from baselines.results.published import model_label
from baselines.results.run import RunRecord
from baselines.threemdbench.consultation.settings import SETTINGS
from loaders.errors import InputError
from loaders.files.bundled import bundled

PAPER = "3MDBench"

# Families by a word in the name: judges favour texts of their own kind.
_FAMILIES = {row["family"]: row["pattern"] for row in bundled("baselines.threemdbench.consultation", "families.csv")}


def setting_name(setting: str) -> str:
    """The paper's label of a setting; its own name if the paper has none."""
    return SETTINGS[setting].label if setting in SETTINGS else setting


def model_name(name: str) -> str:
    """The paper's label of a model, whoever serves it; other models keep their name.

    >>> model_name("openai/gpt-4o-mini-2024-07-18"), model_name("vllm/google/gemma-3-27b-it"), model_name("scripted/x")
    ('GPT-4o-mini', 'Gemma-3-27B', 'scripted/x')
    """
    return model_label(PAPER, name)


def check_candidates(models: Sequence[str], where: str) -> None:
    """Raises InputError for two candidates that are one row of the paper's tables."""
    first: dict[str, str] = {}
    for model in models:
        row = model_name(model)
        if row in first:
            both = f"{first[row]} and {model}, both {row} in the tables"
            found = both if model != first[row] else f"{model} twice"
            raise InputError(where, found=found, expected="each once", do="Try the other in a run of its own")
        first[row] = model


def doctor_name(record: RunRecord) -> str:
    """The label of the run's doctor, which is the row of its numbers."""
    named = role_model(record, "doctor")
    return model_name(named) if named else record.baseline


def role_model(record: RunRecord, role: str) -> str | None:
    """The model that played a role of the run."""
    return next((model.name for model in record.models if model.role == role), None)


def family(name: str) -> str | None:
    """The family of a model by its name, None if the name does not say: "scripted/…" has none.

    >>> family("openai/gpt-4o-mini"), family("vllm/google/medgemma-4b-it"), family("scripted/oracle")
    ('GPT', 'Gemini and Gemma', None)
    """
    provider, _, rest = name.casefold().partition("/")
    if provider == "scripted":
        return None
    # The provider counts only if the model's own name says nothing: "openai/" serves any model with its protocol.
    for text in (rest or provider, provider if provider != "openai-api" else ""):
        for label, words in _FAMILIES.items():
            if re.search(words, text):
                return label
    return None


_CLOSED = re.compile(r"\bgpt(?!-?oss)|\bo[1345]\b|claude|gemini|\bgrok")


def is_closed(name: str) -> bool:
    """Whether the weights of a model are not public, by its name.

    >>> is_closed("openai/gpt-4o-mini"), is_closed("vllm/openai/gpt-oss-20b"), is_closed("vllm/google/gemma-3-27b-it")
    (True, False, False)
    """
    return _CLOSED.search(name.casefold()) is not None


def shared_family(one: str | None, other: str | None) -> str | None:
    """The family that two models share, None if they share none, a name does not say, or there is only one model."""
    found = family(one or "")
    return found if found == family(other or "") else None
