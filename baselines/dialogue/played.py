"""What a run stored for each case: one line of `dialogues.jsonl`, in the form of `loaders.files.records`.

No such line repeats what its case hides, as far as `Secrets` finds it, so anybody may read them. Beside it lies
`hidden.jsonl`, readable by its owner only: for each case its hidden texts, what the public line lacks and where, and a
digest of that line. `read_played` puts the two together; without `hidden.jsonl` it reads what is public.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field, PlainSerializer

from baselines.dialogue.hidden import Place, Secrets, differences, put_back
from loaders.errors import InputError
from loaders.files.disk import write_whole
from loaders.files.opening import blocks_of, open_file
from loaders.files.paths import is_there
from loaders.files.records import from_json, to_json
from loaders.files.texts import stream_lines

DIALOGUES, HIDDEN_PART, USAGE = "dialogues.jsonl", "hidden.jsonl", "usage.json"
STORED = (DIALOGUES, USAGE)
"""What a run of dialogues stores that anybody may read."""
NOT_PLAYED, LOST = "Not played", "a model failed; these cases are in no other number"
"""The number that counts the dialogues without a record, and its note."""
_MOST_LINE = 256 << 20
_AGAIN = "Repeat the command that made the run, which writes the file anew from the stored answers"
Record = TypeVar("Record")


@dataclass(slots=True)
class Spent:
    """What a role's answers in a case took, including replayed ones, so that a resumed run counts like any other.

    `uncounted` are answers without token counts from the provider; a scripted agent's are all uncounted.
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
    """The outcome of a case: a record, `invalid` if it cannot be scored (the reason), or the error that ended it.

    It holds no time, so a resumed run writes the same bytes as an undisturbed one.
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
    """The cases of a run folder in the order of its file; empty if it has no such file.

    Raises: InputError, with file, line and field, for anything that no run wrote.
    """
    hidden = {(one.case_id, one.epoch): one for one in read_hidden(run)}
    cases: dict[tuple[str, int], PlayedCase[Record]] = {}
    for where, line in _lines(run / DIALOGUES):
        case = _read(kind, line, where, hidden)
        if (case.case_id, case.epoch) in cases:
            found = f"case {case.case_id}, epoch {case.epoch}, a second time"
            raise InputError(where, found=found, expected="each case once", do=_AGAIN)
        cases[case.case_id, case.epoch] = case
    return list(cases.values())


@dataclass(frozen=True, slots=True)
class HiddenPart:
    """What a case hides, and what its public line lacks; `public` is the digest of that line."""

    case_id: Annotated[str, Field(alias="case")]
    epoch: int
    texts: tuple[str, ...]
    values: tuple[tuple[Place, Any], ...]
    public: str


def read_hidden(run: Path) -> list[HiddenPart]:
    """The hidden parts of the cases of a run; empty if it has none. Raises: InputError as `read_played`."""
    return [from_json(HiddenPart, line, where, do=_AGAIN, ours=True) for where, line in _lines(run / HIDDEN_PART)]


def write_played(
    run: Path,
    outcomes: Sequence[PlayedCase[Record]],
    public: Callable[[Record], Record],
    texts: Sequence[Sequence[str]],
) -> None:
    """Write the cases of a run, each with the texts that it hides; `public` is a record without its hidden fields."""
    shown = public_lines(outcomes, public, Secrets(text for own in texts for text in own))
    hidden = []
    for outcome, own, line in zip(outcomes, texts, shown, strict=True):
        values = tuple(differences(json.loads(line), to_json(outcome)))
        if own or values:
            hidden.append(HiddenPart(outcome.case_id, outcome.epoch, tuple(own), values, _digest(line)))
    if hidden:
        write_whole(run / HIDDEN_PART, b"".join(json_line(to_json(one)) for one in hidden), private=True)
    else:
        (run / HIDDEN_PART).unlink(missing_ok=True)
    write_whole(run / DIALOGUES, b"".join(shown))


Concealed = tuple[type[PlayedCase[Any]], Callable[[Any], Any], Callable[[Any], Sequence[str]]]
"""How to read dialogues that hide something: their kind, a record without its hidden fields, and the hidden texts.
"""


def public_part(run: Path, concealed: Concealed) -> tuple[bytes, list[str]]:
    """What anybody may read of the dialogues of a run, of any version, and the texts that their cases hide.

    Raises: InputError as `read_played`.
    """
    kind, public, hidden = concealed
    rows: list[PlayedCase[Any]] = read_played(run, kind)
    known = {(part.case_id, part.epoch): part.texts for part in read_hidden(run)}
    texts = [known.get((row.case_id, row.epoch)) or (() if row.record is None else hidden(row.record)) for row in rows]
    lines = public_lines(rows, public, Secrets(text for own in texts for text in own))
    return b"".join(lines), [text for own in texts for text in own]


def kept_in_records(run: Path, concealed: Concealed) -> int:
    """How many cases of a run of an early version, which had no hidden.jsonl, hold what they hide in their records: the
    fields of a record, and nothing else that the case hides."""
    kind, _, hidden = concealed
    if is_there(run / HIDDEN_PART):
        return 0
    rows: list[PlayedCase[Any]] = read_played(run, kind)
    return sum(row.record is not None and bool(hidden(row.record)) for row in rows)


def public_lines(
    outcomes: Iterable[PlayedCase[Record]], public: Callable[[Record], Record], secrets: Secrets
) -> list[bytes]:
    """The lines of `dialogues.jsonl`: without hidden fields, and without a secret in any of their texts."""
    lines = []
    for outcome in outcomes:
        part = outcome if outcome.record is None else replace(outcome, record=public(outcome.record))
        lines.append(json_line({**secrets.without(to_json(part)), "case": outcome.case_id}))
    return lines


def _lines(path: Path) -> Iterator[tuple[str, bytes]]:
    if is_there(path):
        with open_file(path, expected="the unchanged file of the run") as file:
            for number, line in stream_lines(blocks_of(file), path, _MOST_LINE):
                yield f"{path}, line {number}", line


def _read(
    kind: type[PlayedCase[Record]], line: bytes, where: str, hidden: Mapping[tuple[str, int], HiddenPart]
) -> PlayedCase[Record]:
    shown = from_json(kind, line, where, do=_AGAIN, ours=True)
    part = hidden.get((shown.case_id, shown.epoch))
    if part is None:
        return shown
    do = f"{_AGAIN}; without {HIDDEN_PART}, the public part can be read"
    if part.public != _digest(line):
        raise InputError(
            where, found=f"another line than {HIDDEN_PART} belongs to", expected="both from one run", do=do
        )
    try:
        return from_json(kind, put_back(json.loads(line), part.values), where, do=do, ours=True)
    except (LookupError, TypeError):
        found = f"no place for what {HIDDEN_PART} holds"
        raise InputError(where, found=found, expected="both from one run", do=do) from None


def json_line(record: Any) -> bytes:
    """A line of such a file: the same bytes for the same values."""
    return json.dumps(record, ensure_ascii=True, sort_keys=True).encode() + b"\n"


def _digest(line: bytes) -> str:
    return hashlib.sha256(line.strip()).hexdigest()[:16]
