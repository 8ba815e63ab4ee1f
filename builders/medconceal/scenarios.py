"""Task 2 of a case: the communication families of its thread, and the concern, preference and plan at stake (C.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.medconceal.asking import Asker, as_data, one_of, text_of, thread_texts
from builders.medconceal.wording import check_chart, check_retold
from builders.pipeline.rows import Row
from loaders.medconceal import SCENARIOS
from loaders.models.asking import Unfit, object_schema

SCENARIO_TOKENS = 120
INTERVENTION_TOKENS = 400
NEITHER = "Neither"

SCENARIO_SCHEMA = object_schema(
    {"scenarios": {"type": "array", "items": {"type": "string", "enum": [*SCENARIOS, NEITHER]}}}
)
INTERVENTION_SCHEMA = object_schema(
    {
        "primary_concern": {"type": "integer"},
        "original_preference": {"type": "string"},
        "recommended_plan": {"type": "string"},
    }
)


@dataclass(frozen=True, slots=True)
class Plan:
    """Index of the primary concern from 0, what the patient wanted at first, and where the clinician led."""

    primary_concern: int
    original_preference: str
    recommended_plan: str


async def scenarios_of(row: Row, asker: Asker) -> list[str]:
    """The families that a thread belongs to, in the paper's order; several are possible, none too.

    Raises:
        Unfit: the model gives no list of these labels.
    """

    def read(answer: dict[str, Any]) -> list[str]:
        labels = answer.get("scenarios")
        if not isinstance(labels, list):
            raise Unfit('"scenarios" is not a list')
        named = {one_of(label, [*SCENARIOS, NEITHER], "scenarios") for label in labels}
        return [scenario for scenario in SCENARIOS if scenario in named]

    values = {"thread": as_data(row), "scenarios": "\n".join(f"- {name}" for name in (*SCENARIOS, NEITHER))}
    return await asker.ask(
        "scenarios", values, SCENARIO_SCHEMA, read, namespace=row["case_id"], max_tokens=SCENARIO_TOKENS
    )


async def plan_of(row: Row, concerns: Sequence[Mapping[str, Any]], asker: Asker) -> Plan:
    """Which of the concerns the plan turns on, and the plan.

    Raises:
        Unfit: the number is none of the concerns, a text is missing, copies the conversation or repeats a concern.
    """

    def read(answer: dict[str, Any]) -> Plan:
        number = answer.get("primary_concern")
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(concerns):
            raise Unfit(f'"primary_concern" is not a number from 1 to {len(concerns)}')
        preference, plan = (text_of(answer, name, most=400) for name in ("original_preference", "recommended_plan"))
        said = {"original_preference": preference, "recommended_plan": plan}
        check_chart(said, concerns)
        check_retold(said, thread_texts(row))
        return Plan(number - 1, preference, plan)

    numbered = "\n".join(f"{number}. {concern['content']}" for number, concern in enumerate(concerns, start=1))
    values = {"thread": as_data(row), "concerns": numbered}
    return await asker.ask(
        "intervention", values, INTERVENTION_SCHEMA, read, namespace=row["case_id"], max_tokens=INTERVENTION_TOKENS
    )
