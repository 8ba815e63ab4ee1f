"""Dialogues of runs as sections show them: with what their cases hide, or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from baselines.dialogue.hidden import Secrets
from baselines.dialogue.played import DIALOGUES, PlayedCase, public_part, read_hidden, read_played
from baselines.medconceal.shared import CONCEALED
from baselines.report.sections import Numbered
from baselines.results.comparison import FinishedRun
from loaders.files.records import from_json
from loaders.files.texts import lines_of

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class PlayedRun(Generic[Record]):
    """A run with its number on the page, and all of its dialogues."""

    number: int
    run: FinishedRun
    rows: list[PlayedCase[Record]]


def played(
    runs: Sequence[Numbered], kind: type[PlayedCase[Record]], *, public: bool = False
) -> list[PlayedRun[Record]]:
    """The runs that left dialogues; with `public` only what anybody may read of them, also for runs of earlier
    versions. Raises: InputError when a file of dialogues cannot be read."""
    read = []
    for number, run in runs:
        concealed = CONCEALED.get(run.record.baseline)
        if public and concealed is not None:
            lines, _ = public_part(run.folder, concealed)
            where = run.folder / DIALOGUES
            rows = [from_json(kind, line, f"{where}, line {number}") for number, line in lines_of(lines)]
        else:
            rows = read_played(run.folder, kind)
        if rows:
            read.append(PlayedRun(number, run, rows))
    return read


def hidden_texts(runs: Sequence[FinishedRun]) -> Secrets:
    """Everything that the cases of these runs hide. Raises: InputError as `played`."""
    texts: list[str] = []
    for run in runs:
        concealed: Any = CONCEALED.get(run.record.baseline)
        if concealed is not None:
            texts += public_part(run.folder, concealed)[1]
        texts += [text for part in read_hidden(run.folder) for text in part.texts]
    return Secrets(texts)
