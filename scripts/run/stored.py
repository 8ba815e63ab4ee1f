"""A finished run as `bedside rescore` takes it: what its numbers are made of, without any model to ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.comparison import FinishedRun
from baselines.results.run import DataUsed, Result, RunRecord
from loaders.errors import InputError
from loaders.files.json_values import read_json
from loaders.files.paths import is_there
from loaders.opened import Opened, open_data

Record = TypeVar("Record")


@dataclass(frozen=True)
class Rescored:
    """The recomputed numbers, further JSON files of the run by name, and why the run is invalid, if it is."""

    results: Sequence[Result]
    extra: Mapping[str, Any] = field(default_factory=dict)
    invalid: Sequence[str] = ()


@dataclass(frozen=True)
class Stored:
    """A run to score again: `data` is where its rows are now, `cache` where its embeddings are, `embeddings` where a
    user's own ones are. `read` gets the options that the numbers were made with."""

    run: FinishedRun
    data: str | None
    cache: Path
    embeddings: tuple[str, ...] = ()
    read: set[str] = field(default_factory=set)

    @property
    def record(self) -> RunRecord:
        return self.run.record

    @property
    def seed(self) -> int:
        """The seed of the bootstrap."""
        return self.record.seeds["bootstrap"]

    def option(self, name: str, default: Any = None) -> Any:
        """An option of the run, from its record; `default` for a run of a version that did not record it.

        Raises: InputError if there is neither.
        """
        value = self.record.options.get(name, default)
        if value is None:
            found, expected = f"a record without {name}", "a record of this version"
            raise InputError(self.run.folder, found=found, expected=expected, do="Run the baseline again")
        return value

    def played(self, kind: type[PlayedCase[Record]]) -> list[PlayedCase[Record]]:
        """Its dialogues, with the hidden parts if they are present. Raises: InputError if there are no dialogues."""
        cases = read_played(self.run.folder, kind)
        if not any(case.record is not None for case in cases):
            expected = "dialogues.jsonl, as the run wrote it"
            do = "Copy the folder of the run again, with this file, or repeat the run"
            raise InputError(self.run.folder, found="no dialogue", expected=expected, do=do)
        return cases

    def records(self, kind: type[PlayedCase[Record]]) -> list[Record]:
        """The records of its dialogues, without those of lost ones. Raises: as `played`."""
        return [one.record for one in self.played(kind) if one.record is not None]

    def file(self, name: str, called: str = "file") -> Any:
        """The content of a JSON file that the run wrote beside its results, empty where it wrote none."""
        path = self.run.folder / name
        return read_json(path, expected=f"the {called} that the run wrote") if is_there(path) else {}

    def opened(self) -> Opened:
        """The rows of the run, from where they were, or from `data`.

        Raises: InputError for other rows, and if their place is unknown; what `open_data` raises.
        """
        self.read.add("--data")
        told, where = self.record.data, self.data or place_of(self.record.data)
        if where is None:
            do = "Name the file, folder or repository: --data"
            raise InputError(self.run.folder, found="a run over a file or folder", expected="its data", do=do)
        opened = open_data(where, split=None if "+" in told.split else told.split, default=told.corpus)
        if opened.content_digest != told.content_digest:
            found = f"rows with another digest ({opened.content_digest[:16]}…)"
            expected = f"{told.content_digest[:16]}…, those of the run"
            do = "Pass the rows that the run read (--data), or run the baseline on these"
            raise InputError(where, found=found, expected=expected, do=do)
        return opened

    def refuse_unread(self) -> None:
        """Raises InputError if other rows or embeddings were named than the numbers were made from."""
        for option, given in (("--data", self.data), ("--embeddings", " ".join(self.embeddings))):
            if given and option not in self.read:
                expected = f"none: the numbers of {self.record.baseline} are made from other files than these"
                raise InputError(option, found=given, expected=expected, do=f"Leave {option} out")


def place_of(data: DataUsed) -> str | None:
    """The repository and commit that the rows of a run were read from, as a user would name them; None for a folder."""
    if data.repository is None or data.commit is None:
        return None
    return f"{data.repository.partition('/datasets/')[2]}@{data.commit}"
