"""Pairs of captions, rated by four criteria from 1 to 5 (MedLayBench-V, Section 4.3, Table 4).

Two radiologists and one lay reader rated the same 100 pairs. As on the sheets of `bedside sheet`, a rater sees both
captions but no picture, no id, and not who made the lay caption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from baselines.medlaybench_v.ratings import CAPTIONS, COLUMNS, CRITERIA, HIGH, LOW, drawn_pairs, questions
from baselines.study.design import TaskName
from baselines.study.tasks.forms import checks, one_of, rows_of, wanted, write_answers
from baselines.study.tasks.task import Form, Item, Response, Source

PAIRS = 100  # as in the paper


class Pairs:
    name: TaskName = "pairs"
    title = "Rate the lay caption"

    def items(self, source: Source) -> tuple[Item, ...]:
        """The pairs, drawn by seed from the test split. Raises InputError for another corpus, or too few rows."""
        design = source.design
        rows = rows_of(source, "medlaybench-v", self.name).select_columns(["image_id", *CAPTIONS])
        drawn = drawn_pairs(rows, wanted(design, len(rows), PAIRS), design.seed)
        pairs = tuple(
            _item(number, row[CAPTIONS[0]], row[CAPTIONS[1]], {"image_id": row["image_id"]}, group=row["image_id"])
            for number, row in drawn.items()
        )
        return pairs + checks(design, len(pairs), _check)

    def page(self, item: Item) -> Mapping[str, Any]:
        asked = questions()
        criteria = [
            {
                "name": name,
                "title": title,
                "question": asked[name][0],
                "options": [(str(value), asked[name][1].get(value, "")) for value in range(LOW, HIGH + 1)],
            }
            for name, title in CRITERIA.items()
        ]
        return {**item.payload, "criteria": criteria}

    def practice(self) -> Item:
        return _item(
            "practice",
            "Chest radiograph. Small left pleural effusion. No pneumothorax.",
            "This chest X-ray shows a large amount of fluid around the right lung. There is no collapsed lung.",
        )

    def feedback(self, item: Item, given: Mapping[str, Any]) -> str:
        correct = given["factual_correctness"]
        told = f"You gave {correct} for factual correctness. "
        told += "That fits: " if correct <= 2 else "Please look again: "
        return told + (
            "the expert says a small amount on the left, the lay caption says a large amount on the right. A caption "
            "may be simple and fluent all the same, so that these two are rated high here."
        )

    def read(self, item: Item, form: Form) -> Mapping[str, Any]:
        allowed = [str(value) for value in range(LOW, HIGH + 1)]
        return {
            name: int(one_of(form, name, allowed, f"Please choose a number from {LOW} to {HIGH} for {title}."))
            for name, title in CRITERIA.items()
        }

    def sheet(self, responses: Sequence[Response], folder: Path, of: Sequence[str], stand_in: str | None) -> list[Path]:
        return write_answers(self.name, responses, folder, COLUMNS, _cells, of=of, stand_in=stand_in)


def _item(number: str, expert: str, lay: str, key: Mapping[str, Any] | None = None, *, group: str = "") -> Item:
    payload = {"number": number, **dict(zip(CAPTIONS, (expert, lay), strict=True))}
    return Item(number, "pairs", group or number, payload, {"pair": number, **(key or {})})


def _check(name: str) -> Item:
    number = 1 + int(name.rpartition("/")[2]) % HIGH
    text = f"This pair checks that pages are read. Please choose {number} in all four rows."
    return _item(name, text, text, {"expected": dict.fromkeys(CRITERIA, number)})


def _cells(response: Response) -> list[Mapping[str, Any]]:
    return [{**response.item.payload, **response.item.key, **response.given}]


TASK = Pairs()
