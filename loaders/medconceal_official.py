"""The authors' release of MedConceal, `Eclipse42/MedConceal`, whose columns are not documented: read field by field.

A profile may lie in a row as nested columns, as flat ones, or as one JSON text. Each field of the schema is looked for
under its own name and the likely others; all that is missing is said at once, by name, never with a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from loaders.errors import InputError
from loaders.medconceal import SCENARIOS, UNMAPPED

_MISSING = object()

# Block -> field -> names that it may have, its own name first. Appendix C.3 names the blocks; most spellings are ours.
_FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "demographics": {
        "name": ("name", "patient_name"),
        "age": ("age",),
        "sex": ("sex", "gender"),
        "marital_status": ("marital_status", "marital"),
        "education": ("education", "education_level"),
        "background": ("background", "patient_background", "occupation"),
    },
    "clinical": {
        "admission_reason": ("admission_reason", "reason_for_admission", "encounter_reason", "chief_complaint"),
        "medical_surgical_history": (
            "medical_surgical_history",
            "medical_and_surgical_history",
            "past_medical_history",
            "medical_history",
        ),
        "adherence_behavior": ("adherence_behavior", "adherence_behaviour", "adherence_behaviors"),
    },
    "psychosocial": {
        "personality": ("personality",),
        "current_life_situation": ("current_life_situation", "life_situation"),
        "family_medical_history": ("family_medical_history", "family_history"),
        "lifestyle_history": ("lifestyle_history", "lifestyle"),
        "family_dynamics": ("family_dynamics",),
    },
    "intervention": {
        "primary_concern": (
            "primary_concern",
            "primary_concern_index",
            "most_clinically_relevant_hidden_concern",
            "most_clinically_relevant_concern",
            "key_hidden_concern",
        ),
        "original_preference": ("original_preference", "initial_preference", "patient_preference"),
        "recommended_plan": ("recommended_plan", "target_plan", "target_clinical_goal", "recommended_intervention"),
    },
    "roleplay": {
        "response_style": ("response_style",),
        "disclosure_behavior": ("disclosure_behavior", "disclosure_behaviour"),
    },
    "self_management_domains": {
        "awareness": ("awareness",),
        "adherence": ("adherence",),
        "communication": ("communication",),
        "regimen_execution": ("regimen_execution",),
    },
}
_CONCERNS = ("hidden_concerns", "concerns")
_CONCERN: dict[str, tuple[str, ...]] = {
    "content": ("content", "text", "concern", "description"),
    "category": ("category", "label"),
    "confidence": ("confidence", "confidence_score"),
    "evidence": ("evidence", "evidence_snippets", "snippets"),
}


def read_official(row: Mapping[str, Any], *, where: str, case_id: str) -> dict[str, Any]:
    """The values of a profile, blocks as in `PatientProfile`; `case_id` is used where the row names none.

    Raises:
        InputError: fields are missing; it lists them, and the names that the row has.
    """
    opened = _opened(row)
    places = _places(opened)
    missing: list[str] = []
    value: dict[str, Any] = {}
    for block, fields in _FIELDS.items():
        own = [place for path, place in places if _plain(path.rpartition(".")[2]) == block]
        value[block] = {}
        for field, names in fields.items():
            found = _find(names, [*own, *(place for _, place in places)])
            if found is _MISSING:
                missing.append(f"{block}.{field}")
            else:
                value[block][field] = found
    everywhere = [place for _, place in places]
    concerns = _find(_CONCERNS, everywhere)
    specialty = _find(("specialty", "best_fit_specialty", "specialty_label"), everywhere)
    if specialty is _MISSING:
        missing.append("specialty")
    if not isinstance(concerns, Sequence) or isinstance(concerns, str) or not concerns:
        missing.append("hidden_concerns")
    else:
        value["hidden_concerns"] = [_concern(each, number, missing) for number, each in enumerate(concerns)]
    if missing:
        raise InputError(
            where,
            found=f"lacks {', '.join(dict.fromkeys(missing))}; it holds {', '.join(sorted(_names(opened)))}",
            expected="every field of a patient profile (Appendix C.3)",
            do="The columns of this release are not documented: its names go into loaders/medconceal_official.py",
        )
    for block in ("demographics", "clinical", "psychosocial", "roleplay", "self_management_domains"):
        value[block] = {name: _text(one) if name != "age" else _age(one) for name, one in value[block].items()}
    plan = value["intervention"]
    plan["primary_concern"] = _index(plan["primary_concern"], value["hidden_concerns"])
    rarity = _find(("rarity", "rarity_score", "commonness_score"), everywhere)
    scenarios = _find(("scenarios", "scenario"), everywhere)
    named = _find(("case_id", "id", "profile_id"), everywhere)
    return {
        **value,
        "case_id": case_id if named is _MISSING or not str(named).strip() else str(named).strip(),
        "synthetic": False,
        "specialty": UNMAPPED.get(str(specialty), specialty),
        "rarity": float(rarity) if isinstance(rarity, int | float) and not isinstance(rarity, bool) else None,
        "scenarios": [name for name in _listed(scenarios) if name in SCENARIOS],
    }


def _concern(value: object, number: int, missing: list[str]) -> dict[str, Any]:
    places = [value] if isinstance(value, Mapping) else []
    found = {field: _find(names, places) for field, names in _CONCERN.items()}
    missing += [f"hidden_concerns.{field}" for field, one in found.items() if one is _MISSING]
    return {**found, "content": _text(found["content"]), "evidence": _listed(found["evidence"])}


def _index(value: object, concerns: Sequence[Mapping[str, Any]]) -> object:
    """Which concern is meant: by its number, or by its text."""
    if isinstance(value, Mapping):
        value = next((value[name] for name in value if _plain(name) in ("index", *_CONCERN["content"])), None)
    if isinstance(value, str):
        same = [number for number, concern in enumerate(concerns) if _plain(concern["content"]) == _plain(value)]
        return same[0] if same else value
    return value


def _opened(value: object, depth: int = 0) -> Any:
    """The value with JSON texts in it read, as deep as a profile goes."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") and depth < 4:
        try:
            return _opened(json.loads(value), depth + 1)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, Mapping):
        return {str(name): _opened(one, depth) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_opened(one, depth) for one in value]
    return value


def _places(value: Mapping[str, Any], path: str = "") -> list[tuple[str, Mapping[str, Any]]]:
    """Each mapping in a row with its path, outer ones first; lists are not looked into."""
    found: list[tuple[str, Mapping[str, Any]]] = [(path, value)]
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            found += _places(inner, f"{path}.{name}" if path else name)
    return found


def _names(value: Mapping[str, Any]) -> list[str]:
    return [f"{path}.{name}" if path else name for path, place in _places(value) for name in place]


def _find(names: Sequence[str], places: Sequence[Mapping[str, Any]]) -> Any:
    """The first value under one of the names, names before places; blocks are no values."""
    for name in names:
        for place in places:
            for own, value in place.items():
                if _plain(own) == name and value is not None and (not isinstance(value, Mapping) or _is_concern(value)):
                    return value
    return _MISSING


def _is_concern(value: Mapping[str, Any]) -> bool:
    return any(_plain(name) in ("index", "content") for name in value)


def _plain(name: object) -> str:
    return re.sub(r"[\W_]+", "_", str(name)).strip("_").casefold()


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; ".join(str(one) for one in value if one is not None)
    return "" if value is _MISSING else str(value)


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _age(value: object) -> int | None:
    """Whole years, from a number or a text such as "34 years"; None where it says none."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return int(value)
    number = re.search(r"\d{1,3}", str(value))
    return int(number[0]) if number else None
