"""The few numbers that a run shows first: of all rows together, from one table, in a fixed order."""

from __future__ import annotations

from typing import Any

from baselines.results.headline import FEW, headline
from baselines.results.run import DataUsed, Result, RunRecord

RECORD = RunRecord(baseline="classifier", data=DataUsed("c", "test", None, "0"))


def cell(column: str, group: str, table: str = "One", value: float | None = 1.0, **more: Any) -> Result:
    return Result(
        paper="P", table=table, row="r", setting="", column=column, split_or_group=group, value=value, unit="percent",
        note="" if value is not None else "none", **({"record": RECORD} | more),
    )  # fmt: skip


def test_all_rows_together_come_before_any_part_of_them() -> None:
    own = [cell("Macro F1", group) for group in ("A part", "Overall", "Z part")]
    none, two, three = (cell("Accuracy", "x", table, value) for table, value in (("One", None), ("Two", 1), ("3", 1)))
    assert headline([*own, none, two, three]) == [two, own[1]]
    assert headline(own, {"Accuracy": "Macro F1", "Macro F1": "none"}) == [own[1]]
    assert headline([own[2], own[0]]) == [own[2]]  # without such a group, that of the first


def test_of_an_unknown_baseline_the_first_numbers_are_shown() -> None:
    other = RunRecord(baseline="made up", data=RECORD.data)
    cells = [cell(f"Column {at}", "test", value=float(at) if at else None, record=other) for at in range(FEW + 5)]
    assert headline(cells) == cells[1 : FEW + 1] and headline([]) == []
