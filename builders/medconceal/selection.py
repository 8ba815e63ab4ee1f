"""Which threads become cases: how common what they are about is, and the specialty that fits best (C.2, C.4)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from builders.medconceal.asking import Asker, as_data, one_of
from builders.pipeline.rows import Row
from loaders.medconceal import ROLES, SPECIALTY_CASES, UNMAPPED
from loaders.models.asking import Unfit, object_schema

COMMONNESS_TOKENS = 60
SPECIALTY_TOKENS = 60

# Cases by number of concerns: how the concerns spread over the cases is ours (MC-G29).
CONCERNS_PER_CASE = {2: 31, 3: 84, 4: 105, 5: 60, 6: 20}

COMMONNESS_SCHEMA = object_schema({"rarity": {"type": "integer"}})
SPECIALTY_SCHEMA = object_schema({"role": {"type": "string", "enum": list(ROLES)}})


async def rarity_of(row: Row, asker: Asker) -> float:
    """How rare the presentation is, 0 (seen every day) to 1; lower is more common (C.2).

    Raises:
        Unfit: the model gives no whole number from 0 to 100.
    """

    def read(answer: dict[str, Any]) -> float:
        rarity = answer.get("rarity")
        if not isinstance(rarity, int) or isinstance(rarity, bool) or not 0 <= rarity <= 100:
            raise Unfit('"rarity" is not a whole number from 0 to 100')
        return rarity / 100

    values = {"thread": as_data(row)}
    return await asker.ask(
        "commonness", values, COMMONNESS_SCHEMA, read, namespace=row["case_id"], max_tokens=COMMONNESS_TOKENS
    )


async def specialty_of(row: Row, asker: Asker) -> str:
    """The best-fit label of the 26 roles; the two "Other" roles under the names that cases are reported by (C.4).

    Raises:
        Unfit: the model names none of them.
    """

    def read(answer: dict[str, Any]) -> str:
        role = one_of(answer.get("role"), ROLES, "role")
        return UNMAPPED.get(role, role)

    values = {"thread": as_data(row), "roles": "\n".join(f"- {role}" for role in ROLES)}
    return await asker.ask(
        "specialty", values, SPECIALTY_SCHEMA, read, namespace=row["case_id"], max_tokens=SPECIALTY_TOKENS
    )


def most_common(rows: Collection[Row], count: int | None) -> list[Row]:
    """The `count` rows of lowest rarity, all of them for None; ties go to the lower id."""
    ranked = sorted(rows, key=lambda row: (row["rarity"], row["case_id"]))
    return ranked if count is None else ranked[:count]


def against_paper(counts: dict[str, int]) -> dict[str, dict[str, int]]:
    """Table 5 beside these cases: label -> {this release, the paper}; labels the paper does not use come last."""
    others = sorted(set(counts) - set(SPECIALTY_CASES))
    return {
        label: {"this release": counts.get(label, 0), "the paper": SPECIALTY_CASES.get(label, 0)}
        for label in (*SPECIALTY_CASES, *others)
    }
