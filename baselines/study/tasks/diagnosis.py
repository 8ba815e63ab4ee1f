"""A diagnosis from a photo and complaints, at one of two levels of information (3MDBench, Appendix D, Table 7).

Four physicians named the diagnosis of one case of each of the 34; two saw the photo and the general complaint, two all
complaints. With `setting: both` the levels are compared between people: everybody works at one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from baselines.study.design import TaskName
from baselines.study.tasks.forms import checks, drawn, one_of, rows_of, write_answers
from baselines.study.tasks.task import Form, Item, Response, Source
from baselines.threemdbench.consultation.cases import FOR_PEOPLE, read_cases
from baselines.threemdbench.consultation.diagnosis import NONE
from baselines.threemdbench.consultation.physicians import (
    COLUMNS,
    SETTINGS,
    case_numbers,
    one_a_diagnosis,
    sheet_row,
    told,
)
from baselines.threemdbench.consultation.record import Case
from loaders.errors import InputError, how_many
from loaders.pages import small_jpeg
from loaders.threemdbench import NAMES


class Diagnosis:
    name: TaskName = "diagnosis"
    title = "Name the diagnosis"

    def items(self, source: Source) -> tuple[Item, ...]:
        """One case per diagnosis, at each level that the design has.

        Raises InputError for another corpus, and if no case can be shown.
        """
        design, cases = source.design, drawn_cases(source)
        if len(cases) < 2:
            raise InputError("study", found=f"{how_many(len(cases), 'case')} that can be shown", expected="2 or more")
        numbers = case_numbers(cases)
        settings = SETTINGS if design.setting == "both" else (design.setting,)
        items = tuple(
            Item(
                id=f"{setting}/{numbers[case.case_id]}",
                task=self.name,
                group=case.case_id,
                payload={"number": numbers[case.case_id], "complaints": list(told(case, setting))},
                key={"case": numbers[case.case_id], "case_id": case.case_id, "setting": setting},
                picture=small_jpeg(case.image, FOR_PEOPLE),
            )
            for setting in settings
            for case in sorted(cases, key=lambda case: numbers[case.case_id])
        )
        return items + checks(design, len(cases), _check)

    def page(self, item: Item) -> Mapping[str, Any]:
        return {**item.payload, "options": [*((name, name) for name in sorted(NAMES)), (NONE, "I cannot tell")]}

    def practice(self) -> Item:
        complaints = [
            "My eyelid has had a sore red bump for two days.",
            "It hurts when I touch it, and the lashes stick together in the morning.",
        ]
        return Item("practice", self.name, "practice", {"number": "practice", "complaints": complaints})

    def feedback(self, item: Item, given: Mapping[str, Any]) -> str:
        chosen = given["diagnosis"]
        if chosen == "stye":
            return "You named a stye. That is what this made-up patient has."
        sign = "a sore bump of the lid that hurts when touched"
        return f"You answered: {chosen}. This made-up patient has a stye: {sign}."

    def read(self, item: Item, form: Form) -> Mapping[str, Any]:
        ask = "Please choose a diagnosis, or that you cannot tell."
        return {"diagnosis": one_of(form, "diagnosis", (*NAMES, NONE), ask)}

    def sheet(self, responses: Sequence[Response], folder: Path, of: Sequence[str], stand_in: str | None) -> list[Path]:
        """A sheet for each person, separately for each level: `bedside select physicians` takes those of one."""
        levels = {one.participant: one.item.key["setting"] for one in responses if "setting" in one.item.key}
        written = []
        for setting in SETTINGS:
            own = [one for one in responses if levels.get(one.participant) == setting]
            cells = partial(_cells, stand_in=stand_in)
            written += write_answers(self.name, own, folder, COLUMNS, cells, of=of, part=setting)
        return written


def drawn_cases(source: Source) -> list[Case]:
    """The cases of this task, drawn by the design's seed. Raises InputError for another corpus, and too few cases."""
    design, rows = source.design, rows_of(source, "3mdbench", Diagnosis.name)
    cases = one_a_diagnosis(read_cases(rows, photos="original").cases, design.seed)
    return drawn(design, sorted(cases, key=lambda case: case.diagnosis))  # by name: `relevance` draws the same ones


def _check(name: str) -> Item:
    chosen = NAMES[int(name.rpartition("/")[2]) * 7 % len(NAMES)]
    text = f"This case checks that pages are read. Please choose: {chosen}."
    payload = {"number": name, "complaints": [text]}
    return Item(name, "diagnosis", name, payload, {"expected": {"diagnosis": chosen}})


def _cells(response: Response, *, stand_in: str | None) -> list[Mapping[str, Any]]:
    item, key = response.item, response.item.key
    row = sheet_row(key["case"], key["case_id"], item.payload["complaints"], key["setting"], stand_in)
    return [{**row, **response.given}]


TASK = Diagnosis()
