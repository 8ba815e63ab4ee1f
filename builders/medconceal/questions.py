"""Short questions about a thread: how common it is, its specialty and families, what is at stake (C.2, C.4, C.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builders.medconceal.asking import Asker, one_of, text_of, thread_texts
from builders.medconceal.wording import check_chart, check_retold
from builders.pipeline.rows import Row
from loaders.medconceal import ROLES, SCENARIOS, UNMAPPED
from loaders.models.asking import Unfit, object_schema

NEITHER = "Neither"

_COMMONNESS = object_schema({"rarity": {"type": "integer"}})
_SPECIALTY = object_schema({"role": {"type": "string", "enum": list(ROLES)}})
_SCENARIOS = object_schema({"scenarios": {"type": "array", "items": {"type": "string", "enum": [*SCENARIOS, NEITHER]}}})
_INTERVENTION = object_schema(
    {
        "primary_concern": {"type": "integer"},
        "original_preference": {"type": "string"},
        "recommended_plan": {"type": "string"},
    }
)


async def rarity_of(row: Row, asker: Asker) -> float:
    """How rare the presentation is, 0 (seen every day) to 1; lower is more common (C.2). Raises: Unfit if the model
    gives no whole number from 0 to 100."""

    def read(answer: dict[str, Any]) -> float:
        rarity = answer.get("rarity")
        if not isinstance(rarity, int) or isinstance(rarity, bool) or not 0 <= rarity <= 100:
            raise Unfit('"rarity" is not a whole number from 0 to 100')
        return rarity / 100

    return await asker.ask("commonness", row, _COMMONNESS, read, max_tokens=60)


async def specialty_of(row: Row, asker: Asker) -> str:
    """The best-fitting label of the 26 roles; the two "Other" roles under the names that cases are reported by (C.4).
    Raises: Unfit if the model names none of them."""

    def read(answer: dict[str, Any]) -> str:
        role = one_of(answer.get("role"), ROLES, "role")
        return UNMAPPED.get(role, role)

    roles = "\n".join(f"- {role}" for role in ROLES)
    return await asker.ask("specialty", row, _SPECIALTY, read, max_tokens=60, roles=roles)


async def scenarios_of(row: Row, asker: Asker) -> list[str]:
    """The families that a thread belongs to, in the paper's order; there may be several, or none. Raises: Unfit if the
    model gives no list of these labels."""

    def read(answer: dict[str, Any]) -> list[str]:
        labels = answer.get("scenarios")
        if not isinstance(labels, list):
            raise Unfit('"scenarios" is not a list')
        named = {one_of(label, [*SCENARIOS, NEITHER], "scenarios") for label in labels}
        return [scenario for scenario in SCENARIOS if scenario in named]

    listed = "\n".join(f"- {name}" for name in (*SCENARIOS, NEITHER))
    return await asker.ask("scenarios", row, _SCENARIOS, read, max_tokens=120, scenarios=listed)


async def plan_of(row: Row, concerns: Sequence[Mapping[str, Any]], asker: Asker) -> Row:
    """The block of an intervention: the index from 0 of the concern that the plan depends on, what the patient wanted
    at first, and the plan to which the clinician led. Raises: Unfit if the number is not a concern's, or a text is
    missing, copies the conversation or repeats a concern."""

    def read(answer: dict[str, Any]) -> Row:
        number = answer.get("primary_concern")
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(concerns):
            raise Unfit(f'"primary_concern" is not a number from 1 to {len(concerns)}')
        texts = {name: text_of(answer, name, most=400) for name in ("original_preference", "recommended_plan")}
        check_chart(texts, concerns)
        check_retold(texts, thread_texts(row))
        return {"primary_concern": number - 1, **texts}

    numbered = "\n".join(f"{number}. {concern['content']}" for number, concern in enumerate(concerns, start=1))
    return await asker.ask("intervention", row, _INTERVENTION, read, max_tokens=400, concerns=numbered)
