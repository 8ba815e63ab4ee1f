"""Runs beside the paper: each own number with the published number of the same key, and what the own one may be called.

    for pair in compare(read_runs([Path("runs/retrieval")])): print(pair.own.key, pair.difference, pair.verdict)

Only a number whose conditions are the paper's (`conformance`) can be a reproduction, whatever its value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from baselines.results.conformance import CONDITIONS, Entry, Key, tables
from baselines.results.published import Published, counterpart, short
from baselines.results.run import Result, RunRecord, read_run
from loaders.errors import InputError


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A finished run, as its folder holds it."""

    folder: Path
    record: RunRecord
    results: list[Result]


_DECIMALS = {
    "p": 3, "proportion": 3, "cosine": 3, "distance": 3, "pairs": 0, "types": 0, "captions": 0, "concepts": 0,
}  # fmt: skip


def fixed(value: float, decimals: int) -> str:
    """A number with that many decimals; what they round to 0 has no sign."""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}"


@dataclass(frozen=True, slots=True)
class Compared:
    """An own number and the published one with the same key, None if the paper prints none; `run` counts from 1."""

    own: Result
    paper: Published | None
    run: int = 1

    @property
    def decimals(self) -> int:
        """As many as the paper prints; if it prints none, the unit's default."""
        return self.paper.decimals if self.paper else _DECIMALS.get(self.own.unit, 2)

    @property
    def printed(self) -> str:
        """The own number with that many decimals, empty if there is none; a smaller p is shown as "< …", never as 0."""
        if self.own.value is None:
            return ""
        small = self.own.unit == "p" and round(self.own.value, self.decimals) == 0
        return f"< {10.0**-self.decimals:.{self.decimals}f}" if small else fixed(self.own.value, self.decimals)

    @property
    def interval(self) -> tuple[str, str] | None:
        """Both ends of its interval with the decimals of the number, or as many more as tell them apart."""
        if (ends := self.own.ci95) is None:
            return None
        for decimals in range(self.decimals, self.decimals + 5):
            low, high = fixed(ends[0], decimals), fixed(ends[1], decimals)
            if low != high:
                break
        return low, high

    @property
    def difference(self) -> float | None:
        """Own minus published, in the unit of both; None if one is missing or the units differ."""
        if self.paper is None or self.own.value is None or self.own.unit != self.paper.unit:
            return None
        return self.own.value - self.paper.value

    @property
    def verdict(self) -> str:
        """What the pair may be called. A number that is not reproduced says nothing about the paper's, whatever its
        value; without an interval, agreement means equal to the last printed decimal."""
        if self.own.value is None:
            return "not computed"
        if self.own.provenance != "reproduced":
            return "no reproduction"
        if self.paper is None:
            return "not in the paper"
        if self.own.unit != self.paper.unit:
            return f"other unit: {self.own.unit}, published in {self.paper.unit}"
        if self.paper.wrong:
            return "published number in doubt"
        slack = self.paper.half_unit + 1e-9
        if self.own.ci95 is not None:
            low, high = self.own.ci95
            inside = low - slack <= self.paper.value <= high + slack
            return "published number inside ci95" if inside else "published number outside ci95"
        return "equal as printed" if abs(self.own.value - self.paper.value) <= slack else "differs"


def read_runs(folders: Sequence[Path], *, different_data: bool = False) -> list[FinishedRun]:
    """The runs in these folders; those of one paper must share their data unless `different_data` (an ablation).

    Raises: InputError when a folder holds no finished run, two hold the same run, or two runs of one paper's tables
    read different corpora, different revisions, or different rows under the name of the same split.
    """
    runs = [FinishedRun(folder, *read_run(folder)) for folder in folders]
    first: dict[str, FinishedRun] = {}
    for run in runs:
        other = first.setdefault(run.record.run_id, run)
        if other is not run:
            found, do = f"the same run as {other.folder}", ""
            if [one.value for one in run.results] != [one.value for one in other.results]:
                found = f"a repetition of {other.folder}, with other answers"
                do = "Put repetitions in one run (--epochs); give different models different names"
            raise InputError(run.folder, found=found, expected="each run once", do=do)
    if not different_data:
        do = "Compare runs over the same data, or add --different-data for an ablation or for two systems' captions"
        check_same_data(runs, do=do)
    return runs


def check_same_data(runs: Sequence[FinishedRun], *, do: str) -> None:
    """Raises InputError, with what to do, for runs of one paper that `read_runs` would refuse for their data."""
    for one, other in combinations(runs, 2):
        a, b = one.record.data, other.record.data
        papers = ({result.paper for result in run.results} for run in (one, other))
        if a.corpus != b.corpus and not set.intersection(*papers):
            continue  # of different papers: there is nothing to compare
        facts = [("corpus", a.corpus, b.corpus)]
        if a.revision and b.revision:
            facts.append(("revision", a.revision, b.revision))
        if a.split == b.split:
            facts.append((f"content of split {a.split}", f"{a.content_digest[:16]}…", f"{b.content_digest[:16]}…"))
        for what, expected, found in facts:
            if found != expected:
                where, expected = f"{one.folder} and {other.folder}", f"{expected}, as in {one.folder}"
                raise InputError(where, found=f"{what} {found}", expected=expected, do=do)


def compare(runs: Sequence[FinishedRun]) -> list[Compared]:
    """Every number of the runs, with its published counterpart, in the order of the runs."""
    return [Compared(result, counterpart(result)) for run in runs for result in run.results]


@dataclass(frozen=True, slots=True)
class Condition:
    """A line of the runs' conformance: an entry, and the tables (and rows, settings, columns) it holds for."""

    entry: Entry
    tables: tuple[str, ...]


def conditions(results: Sequence[Result]) -> list[Condition]:
    """What the papers state about the tables of these results, beside what their runs were, each fact once; without
    runs of earlier versions, which recorded no conditions."""
    runs: dict[str, tuple[RunRecord, list[Key]]] = {}
    for result in results:
        if result.record is not None and result.record.judged:
            runs.setdefault(result.record.run_id, (result.record, []))[1].append(result.key)
    found: dict[Entry, list[str]] = {}
    for record, keys in runs.values():
        for told in tables(keys, record.facts):
            for row in told["conditions"]:
                entry = Entry(**{name: row[name] for name in Entry.__dataclass_fields__})
                name = short(told["table"]) + (f" ({row['of']})" if row["of"] else "")
                found.setdefault(entry, []).append(name)
    ordered = sorted(found.items(), key=lambda item: CONDITIONS.index(item[0].condition))
    return [Condition(entry, tuple(dict.fromkeys(names))) for entry, names in ordered]
