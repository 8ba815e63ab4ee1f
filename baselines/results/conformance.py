"""Whether a number may be called reproduced: compares what a paper states about a table with the facts of the run.

    judged = judge(result.key, record.facts)
    judged.label      "reproduced", or "own (data, prompts)" with the conditions that bar it

`conditions.csv` holds what the papers state, one fact per line: for which tables (and rows, settings, columns, groups),
which condition, under what name a run records it, and where the paper says so. A fact is in one of four states: equal;
differs; not stated by the paper, which bars nothing; unknown here, which bars. A number is reproduced if every
stated fact of its table is equal. A row, setting or column that its table does not have is not the paper's.

A fact is stated as one text or several separated by " | ", as JSON where it is JSON (0.6, true); "*" is anything
but null. An empty one is not stated.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from loaders.manifest import as_text

State = Literal["equal", "differs", "not stated", "unknown"]
Key = tuple[str, str, str, str, str, str]
"""Paper, table, row, setting, column, split or group: what a number is about."""

CONDITIONS = ("data", "split", "models", "prompts", "protocol", "decoding", "rounds", "metric")
_WORST: tuple[State, ...] = ("differs", "unknown", "equal", "not stated")
_PARTS = ("row", "setting", "column", "group")
_ANY, _NONE = "*", "null"


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One fact that a paper states, or leaves open, about some of its tables; empty parts match anything."""

    paper: str
    tables: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    """The rows, settings, columns and groups that the line is about, in lower case."""
    condition: str
    fact: str
    stated: tuple[str, ...]
    where: str

    def holds_for(self, given: Sequence[str]) -> bool:
        """Whether it is about the number of its tables with this row, setting, column and group, in lower case."""
        return all(not wanted or text in wanted for wanted, text in zip(self.parts, given, strict=True))


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a conformance table: what the paper states as a fact, what the run was, and how the two compare."""

    condition: str
    fact: str
    paper: str
    here: str
    state: State
    where: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The conformance of one number; without entries if no paper's table is known."""

    entries: tuple[Entry, ...]

    def state(self, condition: str) -> State:
        """The state of a condition: the worst of its facts'."""
        found = {entry.state for entry in self.entries if entry.condition == condition}
        return next((state for state in _WORST if state in found), "not stated")

    @property
    def barred(self) -> tuple[str, ...]:
        """The conditions that differ or are unknown here."""
        return tuple(name for name in CONDITIONS if self.state(name) in ("differs", "unknown"))

    @property
    def reproduced(self) -> bool:
        """Whether every stated condition is the paper's."""
        return bool(self.entries) and not self.barred

    @property
    def label(self) -> str:
        """What the number may be called."""
        if self.reproduced:
            return "reproduced"
        return f"own ({', '.join(self.barred)})" if self.barred else "own"


def judge(key: Key, facts: Mapping[str, Any], made: dict[Line, Entry] | None = None) -> Judgement:
    """The conformance of a number with the table of its paper; `facts` are those of its run's record, by name.

    `made` holds the entries of other numbers of the run, for what is the same in all of them.
    """
    table = _lines().get((key[0].casefold(), key[1].casefold()), {})
    own = {f"own.{part}": text for part, text in zip(_PARTS, key[2:], strict=True)}
    given, made = [text.casefold() for text in key[2:]], {} if made is None else made
    entries: list[Entry] = []
    for condition in CONDITIONS:
        lines = table.get(condition, ())
        meant = [line for line in lines if line.holds_for(given)]
        for line in meant:
            if line.fact in own:
                entries.append(_entry(line, own))
                continue
            if line not in made:
                made[line] = _entry(line, facts)
            entries.append(made[line])
        if not meant and lines:
            entries.append(_not_the_papers(condition, lines, key))
        elif not lines and table:
            entries.append(Entry(condition, "", "not stated", "", "not stated", ""))
    return Judgement(tuple(entries))


def tables(keys: Iterable[Key], facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conformance tables of a run, as JSON: for each table of a paper its label and its entries.

    An entry that does not hold for all numbers of the table says which rows, settings and columns it is about.
    """
    of_table: dict[tuple[str, str], dict[Entry, list[Key]]] = {}
    every: dict[tuple[str, str], list[Key]] = {}
    known: dict[Line, Entry] = {}
    for key in keys:
        every.setdefault(key[:2], []).append(key)
        for entry in judge(key, facts, known).entries:
            of_table.setdefault(key[:2], {}).setdefault(entry, []).append(key)
    made = []
    for (paper, table), entries in of_table.items():
        different = spread(every[paper, table])
        rows = [
            {**asdict(entry), "of": apart(of, different)}
            for entry, of in sorted(entries.items(), key=lambda item: CONDITIONS.index(item[0].condition))
        ]
        made.append({"paper": paper, "table": table, "conditions": rows})
    return made


def spread(keys: Sequence[Key]) -> list[int]:
    """How many different rows, settings, columns and groups numbers have."""
    return [len(set(parts)) for parts in list(zip(*keys, strict=True))[2:]]


def apart(keys: Sequence[Key], different: Sequence[int]) -> str:
    """The rows, settings, columns and groups of some numbers, if the table has more `different` ones (`spread`)."""
    named = []
    for parts, count in zip(list(zip(*keys, strict=True))[2:], different, strict=True):
        some = dict.fromkeys(parts)
        if len(some) < count:
            named.append(" | ".join(some))
    return "; ".join(filter(None, named))


def _entry(line: Line, facts: Mapping[str, Any]) -> Entry:
    here = facts.get(line.fact)
    shown = "" if line.fact not in facts else as_text(here)
    if not line.stated:
        return Entry(line.condition, line.fact, "not stated", shown, "not stated", line.where)
    state: State = "differs"
    if line.fact not in facts or (here is None and not {_ANY, _NONE} & {*line.stated}):
        state = "unknown"
    elif any(_same(stated, here) for stated in line.stated):
        state = "equal"
    if line.fact.startswith("own.") and state == "equal" and len(line.stated) > 1:
        shown = "one of these"  # whichever it is, so that it makes one line of the table
    paper = " | ".join("not null" if stated == _ANY else stated for stated in line.stated)
    return Entry(line.condition, line.fact, paper, shown, state, line.where)


def _not_the_papers(condition: str, lines: Sequence[Line], key: Key) -> Entry:
    """The entry for a number that none of the condition's lines is about."""
    for at, part in enumerate(_PARTS):
        known = {text for line in lines for text in line.parts[at]}
        if known and all(line.parts[at] for line in lines) and key[2 + at].casefold() not in known:
            paper = " | ".join(sorted(known))
            return Entry(condition, f"own.{part}", paper, key[2 + at], "differs", f"The paper has no such {part}")
    return Entry(condition, "own.row", "", "; ".join(key[2:]), "differs", "The paper's table has no such number")


def _same(stated: str, here: Any) -> bool:
    if stated == _ANY:
        return here is not None
    try:
        said = json.loads(stated)
    except ValueError:
        said = stated
    if isinstance(here, str) or isinstance(said, str):
        return isinstance(here, str) and stated.casefold() == here.casefold()
    return isinstance(said, bool) == isinstance(here, bool) and bool(said == here)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(" | ") if part.strip())


def read_lines(text: str) -> list[Line]:
    """The lines of a table of conditions: CSV with the header of conditions.csv.

    Raises ValueError for an unknown condition, and for a line without tables or fact.
    """
    found = []
    for number, row in enumerate(csv.DictReader(text.splitlines()), start=2):
        tables, condition = _split(row["tables"]), row["condition"]
        if condition not in CONDITIONS or not tables or not row["fact"]:
            raise ValueError(f"line {number}: condition {condition!r}, tables {tables}, fact {row['fact']!r}")
        parts = tuple(tuple(text.casefold() for text in _split(row[part])) for part in _PARTS)
        found.append(Line(row["paper"], tables, parts, condition, row["fact"], _split(row["stated"]), row["where"]))
    return found


@cache
def digest() -> str:
    """Digest of what decides: the papers' conditions and this code."""
    decides = (files("baselines.results") / name for name in ("conditions.csv", "conformance.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in decides)).hexdigest()[:16]


@cache
def _lines() -> Mapping[tuple[str, str], Mapping[str, Sequence[Line]]]:
    return by_table(read_lines((files("baselines.results") / "conditions.csv").read_text(encoding="utf-8")))


def by_table(lines: Iterable[Line]) -> Mapping[tuple[str, str], Mapping[str, Sequence[Line]]]:
    """The lines by paper and table, in lower case, then by condition."""
    found: dict[tuple[str, str], dict[str, list[Line]]] = {}
    for line in lines:
        for table in line.tables:
            of_table = found.setdefault((line.paper.casefold(), table.casefold()), {})
            of_table.setdefault(line.condition, []).append(line)
    return found
