"""Short questions about a thread: how common it is, its specialty and families, what is at stake (C.2, C.4, C.5)."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from builders.medconceal.asking import TEXTS, Asker, as_json, asked, one_of, text_of, thread_texts, whole_of
from builders.medconceal.wording import check_chart, check_retold
from builders.pipeline.rows import Row
from loaders.medconceal import ROLES, SCENARIOS, UNMAPPED
from loaders.models.asking import Unfit, object_schema

NEITHER = "Neither"

_COMMONNESS = object_schema({"rarity": int})
_SPECIALTY = object_schema({"role": ROLES})
_SCENARIOS = object_schema({"scenarios": [(*SCENARIOS, NEITHER)]})
_INTERVENTION = object_schema({"primary_concern": int, "original_preference": str, "recommended_plan": str})


@asked("no commonness score", rarity=pa.float64())
async def commonness(row: Row, asker: Asker) -> Row:
    """How rare the presentation is, 0 (seen every day) to 1; lower is more common (C.2)."""

    def read(answer: dict[str, Any]) -> float:
        return whole_of(answer, "rarity", 0, 100, "a whole number from 0 to 100") / 100

    return {"rarity": await asker.ask("commonness", row, _COMMONNESS, read, max_tokens=60)}


@asked("no specialty", specialty=pa.string())
async def specialty(row: Row, asker: Asker) -> Row:
    """The best-fitting label of the 26 roles; the two "Other" ones under the names that cases are reported by (C.4)."""

    def read(answer: dict[str, Any]) -> str:
        role = one_of(answer.get("role"), ROLES, "role")
        return UNMAPPED.get(role, role)

    roles = "\n".join(f"- {role}" for role in ROLES)
    return {"specialty": await asker.ask("specialty", row, _SPECIALTY, read, max_tokens=60, roles=roles)}


@asked("no scenario labels", scenarios=TEXTS)
async def scenarios(row: Row, asker: Asker) -> Row:
    """The communication families of the thread, in the paper's order; there may be several, or none (C.5)."""

    def read(answer: dict[str, Any]) -> list[str]:
        labels = answer.get("scenarios")
        if not isinstance(labels, list):
            raise Unfit('"scenarios" is not a list')
        named = {one_of(label, [*SCENARIOS, NEITHER], "scenarios") for label in labels}
        return [scenario for scenario in SCENARIOS if scenario in named]

    listed = "\n".join(f"- {name}" for name in (*SCENARIOS, NEITHER))
    return {"scenarios": await asker.ask("scenarios", row, _SCENARIOS, read, max_tokens=120, scenarios=listed)}


@asked("no plan")
async def plan(row: Row, asker: Asker) -> Row:
    """The block of an intervention in the profile: the index from 0 of the concern that the plan depends on, what the
    patient wanted at first, and the plan to which the clinician led."""
    blocks = json.loads(row["profile"])
    concerns = blocks["hidden_concerns"]

    def read(answer: dict[str, Any]) -> Row:
        expected = f"a number from 1 to {len(concerns)}"
        number = whole_of(answer, "primary_concern", 1, len(concerns), expected)
        texts = {name: text_of(answer, name, most=400) for name in ("original_preference", "recommended_plan")}
        check_chart(texts, concerns)
        check_retold(texts, thread_texts(row))
        return {"primary_concern": number - 1, **texts}

    numbered = "\n".join(f"{number}. {concern['content']}" for number, concern in enumerate(concerns, start=1))
    blocks["intervention"] = await asker.ask(
        "intervention", row, _INTERVENTION, read, max_tokens=400, concerns=numbered
    )
    return {"profile": as_json(blocks)}
