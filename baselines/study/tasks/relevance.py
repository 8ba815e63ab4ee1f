"""Are complaints relevant? 1 or 0: first the basic ones, then those of one case a diagnosis (3MDBench, Appendix C).

The complaints of a case stand on one page beside its photo, each with its own answer. There is no time limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from baselines.study.design import TaskName
from baselines.study.tasks import diagnosis
from baselines.study.tasks.forms import checks, drawn, one_of, rows_of, write_answers
from baselines.study.tasks.task import Form, Item, Response, Source
from baselines.threemdbench.consultation.cases import FOR_PEOPLE
from baselines.threemdbench.relevance_sheets import ADDITIONAL, BASIC, COLUMNS, MARK, TASKS, asked_of, drawn_cases
from loaders.corpus import encoded
from loaders.errors import InputError
from loaders.files.disk import write_whole
from loaders.files.images import cell_bytes
from loaders.pages import small_jpeg

PHOTOS = "relevance-photos"
_MARKS = (("1", "relevant"), ("0", "not relevant"))
_ASKED = {
    BASIC: "Is it a typical complaint of someone with this diagnosis, that they would mention first?",
    ADDITIONAL: "Does it go with the diagnosis and with what the photo shows, and does it help to decide?",
}
_UNSEEN = "Does it go with the diagnosis, and does it help to decide? (Later there is a photo to look at as well.)"


class Relevance:
    name: TaskName = "relevance"
    title = "Is it relevant?"

    def items(self, source: Source) -> tuple[Item, ...]:
        """One case of each diagnosis, drawn by seed: its basic complaint, then its additional ones. A study that also
        asks for diagnoses has other cases there: nobody gets a case twice, and this page names the diagnosis.

        Raises InputError for another corpus, a row without photo or complaints, and too few cases for both tasks.
        """
        design, rows = source.design, rows_of(source, "3mdbench", self.name)
        there = diagnosis.drawn_cases(source) if "diagnosis" in design.tasks else []
        taken = {case.case_id for case in there}
        free = [row for row in encoded(rows) if row["image_id"] not in taken]
        if lacking := sorted({case.diagnosis for case in there} - {row["diagnosis"] for row in free}):
            raise InputError(
                "study.yaml, tasks",
                found=f"diagnosis and relevance, with only one case of {', '.join(lacking[:3])}",
                expected="two cases of each diagnosis, since nobody is given a case twice",
                do="Make one study for each task, with different people",
            )
        every = drawn_cases(free, design.seed)
        cases = {name: every[name] for name in sorted(drawn(design, list(every)))}
        pictures = {
            name: small_jpeg(cell_bytes(row["image"], row["image_id"]), FOR_PEOPLE) for name, row in cases.items()
        }
        items = tuple(
            _item(f"{task}/{name}", asked, row["image_id"], pictures[name] if task == ADDITIONAL else None)
            for task in TASKS
            for name, row in cases.items()
            if (asked := [one for one in asked_of(name, row, f"{PHOTOS}/{name}.jpg") if one["task"] == task])
        )
        return items + checks(design, len(items), _check)

    def page(self, item: Item) -> Mapping[str, Any]:
        kind = item.payload["kind"]
        question = _UNSEEN if kind == ADDITIONAL and item.picture is None else _ASKED[kind]
        return {**item.payload, "question": question, "marks": _MARKS}

    def practice(self) -> Item:
        shown = {"diagnosis": "stye", "general_complaint": "I have a sore bump on my eyelid."}
        asked = [
            {"item": f"practice.{number}", "task": ADDITIONAL, **shown, "complaint": complaint}
            for number, complaint in enumerate(("It hurts when I touch the lid.", "My toenail is thick and yellow."), 1)
        ]
        return _item("practice", asked, "practice", None)

    def feedback(self, item: Item, given: Mapping[str, Any]) -> str:
        right = given["practice.1"] == 1 and given["practice.2"] == 0
        told = "That fits: " if right else "Please look again: "
        return told + "a sore lid goes with a stye, and a thick toenail has nothing to do with it."

    def read(self, item: Item, form: Form) -> Mapping[str, Any]:
        return {
            one["item"]: int(one_of(form, one["field"], dict(_MARKS), f"Please choose for: {one['text']}"))
            for one in item.payload["complaints"]
        }

    def sheet(self, responses: Sequence[Response], folder: Path, of: Sequence[str], stand_in: str | None) -> list[Path]:
        """A sheet for each rater, one row per complaint, and the photos that it names."""
        written = write_answers(self.name, responses, folder, COLUMNS, _cells, of=of, stand_in=stand_in)
        pictures = {
            one.item.key["rows"][0]["photo"]: one.item.picture
            for one in responses
            if one.item.picture is not None and not one.item.check
        }
        for name, picture in sorted(pictures.items()):
            write_whole(folder / name, picture)
            written.append(folder / name)
        return written


def _item(name: str, asked: Sequence[Mapping[str, str]], case: str, picture: bytes | None) -> Item:
    complaints = [
        {"item": one["item"], "field": f"mark_{number}", "text": one["complaint"]}
        for number, one in enumerate(asked, start=1)
    ]
    payload = {
        "kind": asked[0]["task"],
        "diagnosis": asked[0]["diagnosis"],
        "general_complaint": asked[0]["general_complaint"],
        "complaints": complaints,
    }
    return Item(name, "relevance", case, payload, {"rows": list(asked)}, picture)


def _check(name: str) -> Item:
    mark = int(name.rpartition("/")[2]) % 2
    text = f"This complaint checks that pages are read. Please choose: {dict(_MARKS)[str(mark)]}."
    asked = {"item": name, "task": BASIC, "diagnosis": "–", "general_complaint": text, "complaint": text}
    item = _item(name, [asked], name, None)
    return Item(item.id, item.task, item.group, item.payload, {"expected": {name: mark}})


def _cells(response: Response) -> list[Mapping[str, Any]]:
    return [{**row, MARK: response.given[row["item"]]} for row in response.item.key["rows"]]


TASK = Relevance()
