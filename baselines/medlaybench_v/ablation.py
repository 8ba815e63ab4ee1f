"""The ablation of the pipeline, from retrieval runs over its releases: MedLayBench-V's Tables 5 and A4 (Appendix E).

    runs = read_runs([Path("runs/llm"), Path("runs/llm+cui"), Path("runs/scgr")], different_data=True)
    results = evaluate(runs)

A run is of one condition (`bedside build medlaybench-v --condition llm|llm+cui|scgr` made its release) and one model or
more; each also holds the recall with expert captions, the fourth condition. Every number is R@k, the mean of both
directions in one pool of all rows. Averages are over models: the paper's eight, else those that every condition has.

Releases of different conditions must differ in their lay captions and in nothing else. This is checked by its
consequence: the recall of each model with expert captions is the same in all runs, over the same number of rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from baselines.medlaybench_v.retrieval import EXPERT, MEAN_ROW, METHODS, average_recall, model_means
from baselines.results.comparison import FinishedRun
from baselines.results.published import MODELS
from baselines.results.run import VECTORS, DataUsed, ModelUsed, Result, RunRecord, because
from loaders.errors import InputError

TABLE, PER_MODEL = "Table 5", "Table A4"
SCGR, LLM_CUI, LLM = METHODS
CONDITIONS = {"llm": LLM, "llm+cui": LLM_CUI, "scgr": SCGR, "expert": EXPERT}
"""A condition's name in a build -> its name in the tables, in their order; others follow, under their own names."""

_TEXT = "Text Sec 4.4"
_R1 = average_recall(1)
_Place = tuple[str, str]  # model, column
_Seen = dict[Any, tuple[Any, FinishedRun]]  # what must be the same everywhere, and where it was met first


def evaluate(runs: Sequence[FinishedRun]) -> list[Result]:
    """Table A4 by condition and model, Table 5, each condition's share of the recall with expert captions.

    The results belong to a run of their own, whose record names the runs behind it (`joined_record`).

    Raises InputError, which names the folders, for a run without cells of Table A4, the same cell in two runs, runs
    over different rows, expert captions, revisions of an encoder or (within a condition) releases, and for two
    conditions over one release or with the same embeddings made elsewhere.
    """
    tables = [_read(run) for run in runs]
    _check_data(tables)
    _check_expert(tables)
    record = joined_record(runs)
    cells = [replace(cell, record=record) for cell in _cells(tables)]
    means = [*model_means(cells), *_own_means(cells)]
    return [*cells, *means, *_shares(means)]


def joined_record(runs: Sequence[FinishedRun]) -> RunRecord:
    """The record of tables made of several runs: their ids, all their models, a digest of all their data; a stand-in
    among them makes the tables one. Raises InputError for runs over different corpora or splits, and for a model with
    two revisions."""
    first = runs[0]
    revisions: dict[tuple[str, str, str], tuple[ModelUsed, FinishedRun]] = {}
    for run in runs:
        for name in ("corpus", "split"):
            own, wanted = getattr(run.record.data, name), getattr(first.record.data, name)
            if own != wanted:
                raise _different(first, run, f"{name} {own}", wanted)
        for model in run.record.models:
            # The digest of vectors made elsewhere covers the lay captions', which differ between conditions.
            made = str(model.revision) if model.source == VECTORS else ""
            other, where = revisions.setdefault((model.role, model.name, made), (model, run))
            if other.revision != model.revision:
                raise _different(where, run, f"{model.name} at {model.revision}", f"{other.revision}")
    digests = sorted({run.record.data.content_digest for run in runs})
    data = DataUsed(
        corpus=first.record.data.corpus,
        split=first.record.data.split,
        revision=" + ".join(sorted({run.record.data.revision or "" for run in runs} - {""})) or None,
        content_digest=digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest(),
    )
    versions: dict[str, set[str]] = {}
    for run in runs:
        for package, version in run.record.versions.items():
            versions.setdefault(package, set()).add(version)
    return RunRecord(
        baseline="ablation",
        data=data,
        models=tuple(model for _, (model, _) in sorted(revisions.items())),
        options={"runs": sorted(run.record.run_id for run in runs)},
        versions={package: ", ".join(sorted(used)) for package, used in sorted(versions.items())},
        stand_in=because(*sorted({run.record.stand_in or "" for run in runs})),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The cells of Table A4 in one run, by the tables' name of the condition, then by model and column."""

    run: FinishedRun
    conditions: Mapping[str, Mapping[_Place, Result]]

    @property
    def lay(self) -> list[str]:
        return [condition for condition in self.conditions if condition != EXPERT]


def _read(run: FinishedRun) -> _Table:
    conditions: dict[str, dict[_Place, Result]] = {name: {} for name in CONDITIONS.values()}
    for result in run.results:
        # A run of all eight models holds their mean, too, which is made again from the cells.
        if result.table == PER_MODEL and result.value is not None and result.row != MEAN_ROW:
            conditions.setdefault(result.setting, {})[result.row, result.column] = result
    filled = {name: cells for name, cells in conditions.items() if cells}
    if EXPERT not in filled or len(filled) == 1:
        raise InputError(
            run.folder,
            found=f"a {run.record.baseline} run with {', '.join(filled) or 'no'} cells of {PER_MODEL}",
            expected="recall with lay and with expert captions, all rows in one pool",
            do="Name runs of `bedside run retrieval`",
        )
    return _Table(run, filled)


def _check_data(tables: Sequence[_Table]) -> None:
    """One release per condition, and one condition per release and set of embeddings made elsewhere."""
    releases: _Seen = {}
    conditions: _Seen = {}
    for table in tables:
        digest = table.run.record.data.content_digest
        vectors = [str(model.revision) for model in table.run.record.models if model.source == VECTORS]
        for condition in table.lay:
            known, run = releases.setdefault(condition, (digest, table.run))
            if known != digest:
                found = f"content {digest[:16]}… of {condition}"
                raise _different(run, table.run, found, f"{known[:16]}…: one release per condition")
            for made in (digest, *vectors):
                name, run = conditions.setdefault(made, (condition, table.run))
                if name != condition:
                    what = "set of embeddings" if made in vectors else "release"
                    found = f"{name} and {condition} over the same {what}"
                    raise _different(run, table.run, found, f"a separate {what} for each condition")


def _check_expert(tables: Sequence[_Table]) -> None:
    sizes: _Seen = {}
    expert: _Seen = {}
    for table in tables:
        for place, cell in table.conditions[EXPERT].items():
            size, run = sizes.setdefault(cell.split_or_group, (cell.n, table.run))
            if size != cell.n:
                raise _different(run, table.run, f"{cell.n} rows", f"{size}")
            value, run = expert.setdefault(place, (cell.value, table.run))
            if value != cell.value:
                found = f"{place[1]} of {place[0]} with expert captions {cell.value}"
                raise _different(run, table.run, found, f"{value}: the same images and expert captions")


def _different(first: FinishedRun, other: FinishedRun, found: str, expected: str) -> InputError:
    return InputError(
        f"{first.folder} and {other.folder}",
        found=found,
        expected=f"{expected}, as in {first.folder}",
        do="Name runs of the same encoders over the same rows, with only the lay captions different",
    )


def _cells(tables: Sequence[_Table]) -> Iterator[Result]:
    for condition in dict.fromkeys((*CONDITIONS.values(), *(name for table in tables for name in table.lay))):
        placed: dict[_Place, tuple[Result, FinishedRun]] = {}
        for table in tables:
            for place, cell in table.conditions.get(condition, {}).items():
                _, earlier = placed.setdefault(place, (cell, table.run))
                if earlier is not table.run and condition != EXPERT:
                    where = f"{earlier.folder} and {table.run.folder}"
                    raise InputError(where, found=f"{condition} of {place[0]} in both", expected="each cell once")
        order = [*MODELS, *sorted({model for model, _ in placed} - set(MODELS))]
        yield from (cell for model in order for (name, _), (cell, _) in placed.items() if name == model)


def _own_means(cells: Iterable[Result]) -> Iterator[Result]:
    """Means over the models that every condition has, unless these are the paper's eight."""
    by_column: dict[tuple[str, str], dict[str, dict[str, Result]]] = {}
    for cell in cells:
        by_column.setdefault((cell.column, cell.split_or_group), {}).setdefault(cell.setting, {})[cell.row] = cell
    for by_condition in by_column.values():
        shared = [
            model for model in next(iter(by_condition.values())) if all(model in by for by in by_condition.values())
        ]
        if not shared or set(shared) == set(MODELS):
            continue
        for by_model in by_condition.values():
            values = [value for model in shared if (value := by_model[model].value) is not None]
            yield replace(
                by_model[shared[0]], table=TABLE, row=f"Mean of {len(shared)} models" if shared[1:] else shared[0],
                value=sum(values) / len(values), note=f"of {', '.join(shared)}",
                ci95=None, numerator=None, denominator=None,
            )  # fmt: skip


def _shares(means: Sequence[Result]) -> Iterator[Result]:
    """R@1 of each condition as a share of that with expert captions, and the two that the text prints."""
    table = [mean for mean in means if mean.table == TABLE and mean.column == _R1]
    expert = {mean.row: mean.value for mean in table if mean.setting == EXPERT}
    for mean in table:
        if mean.setting == EXPERT:
            continue
        whole = expert.get(mean.row)
        value, note = None, mean.note
        if whole == 0:
            note = "not computed: the recall with expert captions is 0"
        elif mean.value is not None and whole is not None:
            value, note = 100 * mean.value / whole, ""
        part, whole = (None, None) if value is None else (mean.value, whole)
        yield replace(mean, column="Share of Expert, R@1", value=value, note=note, numerator=part, denominator=whole)
        if mean.row == MEAN_ROW:
            said = replace(mean, table=_TEXT, row=mean.setting, setting="", split_or_group="", value=value, note=note)
            if mean.setting == SCGR:
                yield replace(said, column="Share of Expert performance restored")
            if mean.setting == LLM:
                drop = None if value is None else 100 - value
                yield replace(said, column="Drop from Expert", value=drop, direction="down")
