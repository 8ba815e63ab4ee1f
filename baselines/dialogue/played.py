"""What a run left of each case, read from the file of its dialogues."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from loaders.errors import InputError

DIALOGUES = "dialogues.jsonl"
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Played(Generic[Record]):
    """A case of a run: its record, None where a model's error ended it, and why it cannot be scored, if so."""

    case_id: str
    epoch: int
    record: Record | None
    problem: str | None


def read_played(run: Path, from_json: Callable[[Mapping[str, Any]], Record]) -> list[Played[Record]]:
    """The cases of a run folder in the order of its file; none where it has no such file.

    Raises InputError, with file and line, for what no run wrote.
    """
    path = run / DIALOGUES
    if not path.exists():
        return []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, found=f"cannot be read: {error}", expected="the file as the run wrote it") from None
    found = []
    for number, line in enumerate(lines, start=1):
        if not line and number == len(lines):
            break
        try:
            read = json.loads(line)
            record = None if read["record"] is None else from_json(read["record"])
            problem = read["error"] or read["invalid"]
            case = str(read["case"]), int(read["epoch"])
        except (ValueError, KeyError, TypeError, InputError) as error:
            where = f"{path}, line {number}"
            raise InputError(where, found=f"no dialogue: {error}", expected="a line that a run wrote") from None
        found.append(Played(*case, record, None if problem is None else str(problem)))
    return found
