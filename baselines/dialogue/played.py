"""What a run left of each case: a line each of its file of dialogues, as `loaders.files.records` has it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field, PlainSerializer

from loaders.files.records import from_json, to_json
from loaders.files.untrusted import blocks_of, is_there, open_file, stream_lines

DIALOGUES = "dialogues.jsonl"
_MOST_LINE = 256 << 20
Record = TypeVar("Record")


@dataclass(slots=True)
class Spent:
    """What a role's answers of a case took, replayed ones included, so that a resumed run counts like another.

    `uncounted` are answers of which the provider gave no token counts; a scripted agent's are all uncounted.
    """

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0

    def add(self, other: Spent) -> None:
        self.requests += other.requests
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.uncounted += other.uncounted


def _written(record: object) -> dict[str, Any] | None:
    return None if record is None else to_json(record)


@dataclass(frozen=True)
class PlayedCase(Generic[Record]):
    """What became of a case: a record, `invalid` if it cannot be scored (the reason), or the error that ended it.

    It holds no time, so that a resumed run writes the same bytes as an undisturbed one.
    """

    case_id: Annotated[str, Field(alias="case")]
    epoch: int
    record: Annotated[Record | None, PlainSerializer(_written)]
    invalid: str | None
    error: str | None
    spent: Mapping[str, Spent]

    @property
    def problem(self) -> str | None:
        """Why the case cannot be scored, if so."""
        return self.error or self.invalid


def read_played(run: Path, kind: type[PlayedCase[Record]]) -> list[PlayedCase[Record]]:
    """The cases of a run folder in the order of its file; none where it has no such file.

    Raises: InputError, with file, line and field, for what no run wrote.
    """
    path = run / DIALOGUES
    if not is_there(path):
        return []
    with open_file(path, expected="the file as the run wrote it") as file:
        lines = stream_lines(blocks_of(file), path, _MOST_LINE)
        return [from_json(kind, line, f"{path}, line {number}") for number, line in lines]
