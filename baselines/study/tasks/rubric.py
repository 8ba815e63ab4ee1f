"""Consultations, scored by the eight Mini-CEX items (3MDBench, Section 3.4, Table 4; agreement: Figure 8).

Five annotators scored the same dialogues and extracted the doctor's diagnosis; what they saw is what the assessor gets:
dialogue, photo, gold diagnosis. They see no model's name, run or reasoning: texts are cleaned once more, and words that
name a model of the run or a well-known family of models are masked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from baselines.results.comparison import FinishedRun, read_runs
from baselines.results.run import because
from baselines.study.design import TaskName
from baselines.study.tasks.forms import checks, line, one_of, wanted, write_answers
from baselines.study.tasks.task import Form, Item, Response, Source
from baselines.threemdbench.consultation.cases import picture_path
from baselines.threemdbench.consultation.cleaning import scrub, spoken
from baselines.threemdbench.consultation.prompts import read_prompts, rubric_items
from baselines.threemdbench.consultation.reading import LEVELS, OVERALL
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Turn
from baselines.threemdbench.consultation.selection_raters import (
    COLUMNS,
    Dialogue,
    dialogues_of,
    drawn,
    numbered,
    sheet_row,
)
from loaders.errors import InputError
from loaders.files.images import clean_bytes
from loaders.files.paths import is_there
from loaders.models.messages import Answer

DIALOGUES = 100
MASK = "[name]"
_FAMILIES = re.compile(
    r"\b(?:chat[- ]?gpt|gpt|open ?ai|claude|anthropic|gemini|gemma|med-?gemma|llama|llava|qwen|mistral|mixtral|pixtral"
    r"|deep-?seek|deepmind|internvl|phi-\d[\w.]*|grok|command-r|kimi|glm-\d[\w.]*|minimax|minicpm|hunyuan|doubao|huatuo-?gpt)(?:[-\s]?v?\d[\w.]*)?(?:-[\w.]+)*\b",
    re.IGNORECASE | re.ASCII,  # \b also beside letters of a script without spaces
)


class Rubric:
    name: TaskName = "rubric"
    title = "Rate the consultation"

    def items(self, source: Source) -> tuple[Item, ...]:
        """Dialogues of the runs, drawn by seed, evenly over runs, temperaments and diagnoses.

        Raises InputError for no run, and for one without consultations.
        """
        if not source.runs:
            raise InputError("study", found="a corpus", expected="runs of consultations for the task rubric")
        runs = read_runs(source.runs)
        dialogues = [dialogue for run in runs for dialogue in dialogues_of(run)]
        design = source.design
        chosen = drawn(dialogues, wanted(design, len(dialogues), DIALOGUES), design.seed)
        folders = {run.record.run_id: run for run in runs}
        items = tuple(
            _item(number, dialogue, folders[dialogue.run_id]) for number, dialogue in numbered(chosen).items()
        )
        return items + checks(design, len(items), _check)

    def page(self, item: Item) -> Mapping[str, Any]:
        asked = rubric_items(read_prompts())
        return {**item.payload, "questions": [_asked(name, asked[name]) for name in ITEMS]}

    def practice(self) -> Item:
        turns = [
            ("patient", "Hello. I have had a sore red bump on my eyelid for two days."),
            ("doctor", "It is a stye. Put a warm cloth on it for ten minutes, four times a day. Goodbye."),
        ]
        return _shown("practice", turns, "stye")

    def feedback(self, item: Item, given: Mapping[str, Any]) -> str:
        first, settled = "yes" if given["1.1"] else "no", given["diagnosis"].rstrip(".")
        return (
            f"You chose {first} in the first row and read out: {settled}. "
            "The doctor asked nothing at all, so that the rows on the history are no, and settled on a stye."
        )

    def read(self, item: Item, form: Form) -> Mapping[str, Any]:
        scores = {
            name: int(one_of(form, _field(name), dict(_options(name)), f"Please choose an answer in {name}."))
            for name in ITEMS
        }
        return {**scores, "diagnosis": line(form, "diagnosis", "Please write what the doctor settles on, or: none.")}

    def sheet(self, responses: Sequence[Response], folder: Path, of: Sequence[str], stand_in: str | None) -> list[Path]:
        cells = partial(_cells, stand_in=stand_in)
        return write_answers(self.name, responses, folder, COLUMNS, cells, of=of)


def without_names(text: str, names: Sequence[str]) -> str:
    """A text without these names, and without those of well-known families of models.

    >>> without_names("As GPT-4o mini by OpenAI, or qwen2.5-vl, I ask: since when?", [])
    'As [name] mini by [name], or [name], I ask: since when?'
    """
    for name in sorted(names, key=len, reverse=True):
        # not \w: also beside letters of a script without spaces
        text = re.sub(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", MASK, text, flags=re.IGNORECASE)
    return _FAMILIES.sub(MASK, text)


def _names(run: FinishedRun) -> list[str]:
    """The models of a run as a text may name them: in full, and without their provider."""
    whole = {model.name for model in run.record.models}
    parts = {part for name in whole for part in (name, name.rpartition("/")[2])}
    return [part for part in parts if len(part) > 3]


def _item(number: str, dialogue: Dialogue, run: FinishedRun) -> Item:
    names = _names(run)
    turns = [(turn.role, without_names(_clean(turn), names)) for turn in dialogue.record.turns]
    path = picture_path(run.folder, dialogue.record.case_id)
    key = {"dialogue": number, **sheet_row(dialogue), "conversation": None}
    return _shown(number, turns, dialogue.record.gold, key, clean_bytes(path)[0] if is_there(path) else None)


def _clean(turn: Turn) -> str:
    text, _, flags = scrub(Answer(turn.text, None, None, "stop"))
    return spoken(turn.role, text, flags)


def _shown(
    number: str,
    turns: Sequence[tuple[str, str]],
    gold: str,
    key: Mapping[str, Any] | None = None,
    picture: bytes | None = None,
) -> Item:
    payload = {"number": number, "gold": gold, "turns": [{"who": who, "text": text} for who, text in turns]}
    return Item(number, "rubric", number, payload, key or {}, picture)


def _check(name: str) -> Item:
    text = "This consultation checks that pages are read. Please choose the first answer in every row, and write: none."
    expected = {**dict.fromkeys(ITEMS, 0), "diagnosis": "none"}
    return _shown(name, [("doctor", text)], "none", {"expected": expected})


def _options(item: str) -> list[tuple[str, str]]:
    """Value and label of each answer, lowest first."""
    labels = LEVELS if item == OVERALL else ("no", "yes")
    return [(str(value), labels[value]) for value in range(HIGHEST[item] + 1)]


def _asked(item: str, question: str) -> dict[str, Any]:
    """A question as its template shows it, with its subject (`part`) before the colon."""
    part, _, rest = question.partition(": ")
    shown = rest[:1].upper() + rest[1:]
    return {"name": _field(item), "part": f"{item} {part}", "question": shown, "options": _options(item)}


def _field(item: str) -> str:
    """The name of an item in a form."""
    return f"item_{item.replace('.', '_')}"


def _cells(response: Response, *, stand_in: str | None) -> list[Mapping[str, Any]]:
    key, turns = response.item.key, response.item.payload["turns"]
    said = "\n\n".join(f"{turn['who'].upper()}: {turn['text']}" for turn in turns)
    reason = because(key["stand_in"], stand_in) or ""
    return [{**key, "conversation": said, "stand_in": reason, **response.given}]


TASK = Rubric()
