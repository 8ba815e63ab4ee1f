"""Numbers by a column of the corpus (skin type, age group, sex, source, …): every slice, the worst, and tests.

A number of a slice is the mean over its cases, with a bootstrap interval over patients, lesions or cases. Each
slice is tested against all others (`significance.two_groups`, one value per patient, lesion or case), and the p values
of a measure over more than two slices are adjusted by Holm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Unpack

from baselines.results.run import Direction, Result, RunRecord
from baselines.statistics.resampling import Draws, Interval, bootstrap_means
from baselines.statistics.significance import holm, two_groups
from loaders.errors import InputError
from loaders.threemdbench import SCHEMA, TRAITS

NAME = "slices.json"
"""Name of a run's file with column -> case -> slice, so that its numbers can be recomputed."""
Sides = Mapping[str, Mapping[str, str]]
_OPEN = frozenset({"image", "image_id", "split", "complaints", "general_complaint"})
_KNOWN = [name for name in SCHEMA if name not in _OPEN]


@dataclass(frozen=True, slots=True)
class Measure:
    """A number for each case, by its id; already a mean if it was played several times.

    `within` are the bounds of its scale, None if it has none.
    """

    name: str
    unit: str
    direction: Direction
    values: Mapping[str, float]
    scale: float = 1.0
    within: Interval | None = None


def check_columns(columns: Sequence[str]) -> Sequence[str]:
    """The columns, each once. Raises: InputError for one that the corpus does not have."""
    for column in columns:
        if column not in _KNOWN:
            raise InputError("--slice", found=f"no column {column!r}", expected="one of " + ", ".join(_KNOWN))
    return list(dict.fromkeys(columns))


def sides_of(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], where: str) -> dict[str, dict[str, str]]:
    """The slice of every case for each column; a case for which a column is empty is in none.

    Raises: InputError as `check_columns`, and for a column that is empty in all these rows.
    """
    sides: dict[str, dict[str, str]] = {column: {} for column in check_columns(columns)}
    for row in rows:
        for column, of_case in sides.items():
            if row.get(column) not in (None, ""):
                of_case[row["image_id"]] = str(row[column])
    for column, of_case in sides.items():
        if not of_case:
            sources = ", ".join(TRAITS.get(column, ()))
            do = f"It is told by the sources {sources}, and by a table with that column" if sources else ""
            told = f"{column} is told of no case of {where}"
            raise InputError("--slice", found=told, expected="a column that is, such as diagnosis or domain", do=do)
    return sides


def sliced(
    measures: Sequence[Measure],
    sides: Sides,
    *,
    record: RunRecord,
    paper: str,
    row: str,
    setting: str,
    groups: Mapping[str, str] | None = None,
    **draws: Unpack[Draws],
) -> list[Result]:
    """Each measure of each slice, with its p against the others; and the worst slice of each measure.

    `groups` names what cases are resampled by; without it, each case is independent.
    """
    groups = groups or {}
    cells: list[Result] = []
    for column, of_case in sides.items():
        for measure in measures:
            parts: dict[str, list[str]] = {}
            for case in sorted(measure.values):
                if case in of_case:
                    parts.setdefault(of_case[case], []).append(case)
            tested, own = _tests(measure, parts, groups), []
            for side, cases in sorted(parts.items()):
                values = [measure.values[case] for case in cases]
                drawn = draws | {"clusters": [groups.get(case, case) for case in cases]}
                value, ci95 = bootstrap_means(values, within=measure.within, **drawn).estimate(scale=measure.scale)
                adjusted = " (Holm)" if len(parts) > 2 else ""
                note = f"against all others p = {tested[side]:.3g}{adjusted}" if side in tested else ""
                own.append(
                    Result(
                        paper=paper, table=f"By {column}", row=row, setting=setting, column=measure.name,
                        split_or_group=side, value=value, unit=measure.unit, direction=measure.direction,
                        n=len(cases), ci95=ci95, note=note, record=record,
                    )
                )  # fmt: skip
            cells += own
            if measure.direction != "none" and len({cell.value for cell in own}) > 1:
                cells.append(_worst(own, measure))
    return cells


def _tests(measure: Measure, parts: Mapping[str, Sequence[str]], groups: Mapping[str, str]) -> dict[str, float]:
    """Adjusted p of each slice against all others, for those with two patients, lesions or cases on both sides.

    The cases of a patient or lesion are averaged first: the tests take values as independent. Of two slices, each is
    all that is not the other: one test, which is not adjusted.
    """
    values = {side: _by_group(measure, cases, groups) for side, cases in parts.items()}
    found: dict[str, float] = {}
    for side, own in sorted(values.items()):
        rest = [value for other, several in values.items() if other != side for value in several]
        if min(len(own), len(rest)) > 1:
            found[side] = two_groups(own, rest)
    if len(values) == 2 or not found:
        return found
    return dict(zip(found, holm(list(found.values())).tolist(), strict=True))


def _by_group(measure: Measure, cases: Sequence[str], groups: Mapping[str, str]) -> list[float]:
    given: dict[str, list[float]] = {}
    for case in cases:
        given.setdefault(groups.get(case, case), []).append(measure.values[case])
    return [fmean(own) for own in given.values()]


def _worst(cells: Sequence[Result], measure: Measure) -> Result:
    """The slice with the worst value, as a row of its own."""
    sign = 1 if measure.direction == "up" else -1
    worst = min(cells, key=lambda cell: sign * (cell.value or 0.0))
    return replace(worst, column=f"{measure.name}, worst slice")
