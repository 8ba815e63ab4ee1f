"""Zero-shot image-text retrieval on MedLayBench-V: the cells of Tables 3, 5, A3 and A4 and of Figure A4 (Section 4.4).

From the embeddings of images, expert captions and layman captions to `Result`s whose keys are those of the published
numbers. The paper describes one protocol but its numbers follow two: Table 3 and Figure A4 are the unweighted mean over
four pools, one per modality (`per_modality`); Tables 5, A3 and A4 rank all rows of the split in one pool (`global`).
Both are computed, and each cell of the paper gets the one that its numbers follow.

Beside the paper's cells: each modality's pool, their mean weighted by size, group level (any partner with the same
caption counts) and the instance ceiling where captions repeat, an interval for every number and a test for every delta.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v.embeddings import Embedded, Embeddings
from baselines.medlaybench_v.ranking import recall_at_k
from baselines.results.published import MODELS
from baselines.results.run import Result, RunRecord
from baselines.statistics.arrays import Floats, Ints, cluster_index, exact_sums
from baselines.statistics.resampling import Bootstrap, bootstrap_means, bootstrap_ratios
from baselines.statistics.significance import benjamini_hochberg, mcnemar_exact
from loaders.errors import InputError, how_many
from loaders.medlaybench_v import MODALITIES

PAPER = "MedLayBench-V"
POOLED = {"DRXR": "X-Ray", "DRCT": "CT", "DRMR": "MRI", "DRUS": "Ultrasound"}
"""The modalities that have a pool of their own in Table 3, by the corpus' code."""

EXPERT, LAYMAN, DELTA = "Expert", "Layman", "Layman - Expert"
METHODS = ("SCGR (Ours)", "LLM + CUI", "LLM Only")
"""Where the layman captions come from, as Tables 5 and A4 name it."""
MEAN_ROW = "Mean of the 8 models"

_PARITY_RESAMPLES = 1000  # as in the paper
_ADJUSTED = "Benjamini-Hochberg over"
_BAR = re.compile(r"(I2T|T2I) Recall@\d+")
_CODES = tuple(modality.code for modality in MODALITIES)


@dataclass(frozen=True, slots=True)
class CaptionRows:
    """The N rows of a split: modality code, both captions, and the article that each comes from if it is known."""

    modality: Sequence[str]
    expert_caption: Sequence[str]
    layman_caption: Sequence[str]
    article_id: Sequence[str | None] | None = None

    def __post_init__(self) -> None:
        size = len(self.modality)
        if size < 2:
            expected = "2 or more: one alone has no other to be compared with"
            raise InputError("rows", found="1 row" if size else "no row", expected=expected)
        for name in ("expert_caption", "layman_caption", "article_id"):
            values = getattr(self, name)
            if values is not None and len(values) != size:
                raise InputError(f"rows.{name}", found=f"{len(values)} entries", expected=f"{size}, as modality")
        for row, code in enumerate(self.modality):
            if code not in _CODES:
                raise InputError(f"rows.modality, row {row}", found=repr(code), expected=", ".join(_CODES))
        for name in ("expert_caption", "layman_caption"):
            for row, caption in enumerate(getattr(self, name)):
                if not isinstance(caption, str) or not caption.strip():
                    raise InputError(f"rows.{name}, row {row}", found=repr(caption), expected="a caption")
        if self.articles is not None:
            cluster_index(self.articles, self.size)

    @property
    def size(self) -> int:
        return len(self.modality)

    @property
    def captions(self) -> dict[str, Sequence[str]]:
        """The captions by register, as `embed` takes them."""
        return {"expert": self.expert_caption, "layman": self.layman_caption}

    @property
    def articles(self) -> Sequence[str | None] | None:
        """Article ids to resample by; None if no row has one."""
        ids = self.article_id
        return None if ids is None or all(article is None for article in ids) else ids


def evaluate(made: Embeddings, rows: CaptionRows, *, record: RunRecord, model: str) -> list[Result]:
    """Results of one encoder, `model`, as the options of the record say: `k`, `method` (by which the layman captions
    were made), `resamples`.

    Intervals and p values come from paired resamples of rows, or of articles where `rows` has them; the paper's own p
    value, of 1,000 resamples of rows, is always among them. A modality with fewer rows than the largest k gives "not
    computed" cells. Raises InputError for a k larger than the split.
    """
    run = _Run(made.images.rows(), {EXPERT: made.texts["expert"], LAYMAN: made.texts["layman"]}, rows, record, model)
    # Ranked first, since this checks every row, and k against the split.
    whole = run.hits(np.arange(rows.size))
    return [*_per_modality(run), *_global(run, whole)]


def adjusted(raw: Iterable[Result]) -> list[Result]:
    """Benjamini-Hochberg over the p values of Table A3, one family per test (8 models x 3 k give the paper's 24).

    Each adjusted value keeps the key of its raw one except for the setting, which says how many tests were in the
    family.
    """
    families: dict[str, list[Result]] = {}
    for result in raw:
        if result.table == "Table A3" and result.unit == "p" and _ADJUSTED not in result.setting:
            families.setdefault(result.setting, []).append(result)
    corrected = []
    for setting, family in families.items():
        values = benjamini_hochberg([result.value for result in family if result.value is not None])
        label = f"{setting}, {_ADJUSTED} {len(family)}"
        corrected += [
            replace(result, setting=label, value=float(value), note="")
            for result, value in zip(family, values, strict=True)
        ]
    return corrected


def model_means(results: Iterable[Result]) -> list[Result]:
    """Table 5 and the last row of Table A4: the mean over the paper's eight models of each column of Table A4.

    Not computed, with the names of the missing ones, unless all eight are there; never a mean of fewer.
    """
    cells: dict[tuple[str, str, str], dict[str, Result]] = {}
    for result in results:
        if result.table == "Table A4" and result.row in MODELS and result.value is not None:
            cells.setdefault((result.setting, result.column, result.split_or_group), {})[result.row] = result
    means = []
    for by_model in cells.values():
        missing = [name for name in MODELS if name not in by_model]
        note = f"not computed: no result of {', '.join(missing)}" if missing else ""
        values = [result.value for result in by_model.values() if result.value is not None]
        mean = replace(
            next(iter(by_model.values())), row=MEAN_ROW, value=None if missing else float(np.mean(values)),
            note=note, ci95=None, numerator=None, denominator=None,
        )  # fmt: skip
        means += [replace(mean, table="Table 5"), mean]
    return means


def figure_a4(results: Iterable[Result], *, method: str = METHODS[0]) -> list[Result]:
    """The bars of Figure A4, which are the cells of Table 3: panel ii for captions of the LLM alone, else panel i.

    Captions by another method than the paper's stand in panel i under their own name, beside the paper's.
    """
    panel = "Figure A4i (assets/downstream.png)"
    panels = {
        "SCGR (Ours)": (panel, "Layman (SCGR)"),
        "LLM Only": ("Figure A4ii (assets/motivation.png)", "Layman (naive LLM only)"),
    }
    table, layman = panels.get(method, (panel, f"Layman ({method})"))
    where = _four_pools("test")
    return [
        replace(result, table=table, setting=layman if result.setting == LAYMAN else EXPERT, split_or_group="test")
        for result in results
        if result.table == "Table 3" and result.split_or_group == where and _BAR.fullmatch(result.column)
    ]


_Hits = dict[tuple[str, str], Floats]
"""Numbers of the tables before they are averaged: by setting and column, the value (n,) on each row of a pool."""


@dataclass(frozen=True, slots=True)
class _Run:
    images: NDArray[np.float32]
    texts: dict[str, Embedded]
    rows: CaptionRows
    record: RunRecord
    model: str

    @property
    def ks(self) -> Sequence[int]:
        return self.record.options["k"]  # type: ignore[no-any-return]

    @property
    def resampling(self) -> dict[str, Any]:
        return {"resamples": self.record.options["resamples"], "seed": self.record.seeds["bootstrap"]}

    def hits(self, chosen: Ints) -> _Hits:
        """The hits of every setting and column in the pool of chosen rows."""
        recalls = {
            setting: recall_at_k(self.images, texts.vectors, ks=self.ks, text_of_image=texts.index, rows=chosen)
            for setting, texts in self.texts.items()
        }
        hits: _Hits = {}
        for at, k in enumerate(self.ks):
            i2t, t2i, average = f"I2T Recall@{k}", f"T2I Recall@{k}", average_recall(k)
            for setting, recall in recalls.items():
                hits[setting, i2t] = recall.i2t[at]
                hits[setting, t2i] = recall.t2i[at]
                hits[setting, average] = (recall.i2t[at] + recall.t2i[at]) / 2
                hits[setting, f"{i2t}, same caption counts"] = recall.group_i2t[at]
                hits[setting, f"{t2i}, same caption counts"] = recall.group_t2i[at]
                hits[setting, f"Recall@{k} ceiling"] = recall.ceiling[at]
            for column in (i2t, t2i, average):
                hits[DELTA, f"{column} delta"] = hits[LAYMAN, column] - hits[EXPERT, column]
        return hits

    def articles(self, chosen: Ints) -> list[str | None] | None:
        ids = self.rows.articles
        return None if ids is None else [ids[row] for row in chosen]

    @property
    def split(self) -> str:
        return self.record.data.split

    @property
    def p_setting(self) -> str:
        return _p_setting(self.resampling["resamples"], "" if self.rows.articles is None else " of articles")

    def result(self, table: str, setting: str, column: str, where: str, value: float | None, **more: Any) -> Result:
        unit: str = more.pop("unit", "percentage points" if setting == DELTA else "percent")
        return Result(
            paper=PAPER, table=table, row=self.model, setting=setting, column=column, split_or_group=where, value=value,
            unit=unit, direction="up" if unit == "percent" else "none", record=self.record, **more,
        )  # fmt: skip


def average_recall(k: int) -> str:
    """What the mean of both directions is called, as in Table A4."""
    return f"Average R@{k} (I2T and T2I)"


def _four_pools(split: str) -> str:
    return f"{split}; caption says four modalities (X-Ray, CT, MRI, Ultrasound)"


def _p_setting(resamples: int, of: str = "") -> str:
    return f"bootstrap n={resamples}{of}, two-sided"


def _cells(
    run: _Run,
    keys: Iterable[tuple[str, str]],
    values: Floats,
    boot: Bootstrap | None,
    where: str,
    size: int,
    counts: Floats | None,
    note: str = "",
) -> list[Result]:
    """Table 3 cells of a pool: each number in percent with its interval, and for each delta its p value beside it.

    counts: sums of the hits over `size` rows, if the value is their ratio; None for a mean of several pools. Without a
    `boot` the numbers have no interval, and p values are not computed, for the reason in the note.
    """
    cells = []
    intervals = None if boot is None else (100 * boot.interval()).tolist()
    p_values = None if boot is None else boot.p_values().tolist()
    resampled = "rows resampled" if run.rows.articles is None else "articles resampled"
    for at, (setting, column) in enumerate(keys):
        ratio = {} if counts is None else {"numerator": float(counts[at]), "denominator": float(size)}
        more = {"n": size, "ci95": intervals and tuple(intervals[at]), "note": note, **ratio}
        cells.append(run.result("Table 3", setting, column, where, float(100 * values[at]), **more))
        if setting == DELTA:
            column, setting = column.removesuffix("delta") + "p-value", run.p_setting
            p, why = (None, note) if p_values is None else (p_values[at], resampled)
            cells.append(run.result("Table 3", setting, column, where, p, unit="p", n=size, note=why))
    return cells


def _global(run: _Run, hits: _Hits) -> list[Result]:
    """One pool: Tables A3 and A4, and the numbers of Table 3 for comparison."""
    size = run.rows.size
    matrix = np.stack(list(hits.values()), axis=1)
    articles = run.articles(np.arange(size))
    boot = bootstrap_means(matrix, clusters=articles, within=_ends(hits), **run.resampling)
    cells = _cells(run, hits, boot.estimates, boot, f"{run.split}; one pool", size, matrix.sum(axis=0))
    by_key = {(cell.setting, cell.column): cell for cell in cells}
    results = []
    where = f"overall {run.split}"
    for k in run.ks:
        for setting, label in ((EXPERT, EXPERT), (LAYMAN, run.record.options["method"])):
            cell = by_key.pop((setting, average_recall(k)))
            results.append(replace(cell, table="Table A4", setting=label, split_or_group=run.split))
        column, delta = f"R@{k} p-value", (DELTA, f"{average_recall(k)} delta")
        cell = by_key.pop(delta)
        note = "" if articles is None else "articles resampled"  # as the paper's p value is not
        results.append(replace(cell, table="Table A3", column=f"R@{k} delta", split_or_group=where, note=note))
        cell = by_key.pop((run.p_setting, f"{average_recall(k)} p-value"))
        results.append(replace(cell, table="Table A3", column=column, split_or_group=where))
        if (parity := _p_setting(_PARITY_RESAMPLES)) != run.p_setting:
            p = bootstrap_means(hits[delta], **run.resampling | {"resamples": _PARITY_RESAMPLES}).p_values().item()
            note = "rows resampled, as in the paper"
            results.append(run.result("Table A3", parity, column, where, p, unit="p", n=size, note=note))
        test = mcnemar_exact(hits[delta], np.zeros(size))
        note = f"of the mean of both directions; rows independent; better {test.better}, worse {test.worse}"
        results.append(run.result("Table A3", "exact McNemar", column, where, test.p, unit="p", n=size, note=note))
    return [*results, *by_key.values()]


def _per_modality(run: _Run) -> list[Result]:
    """One pool per modality: Table 3 as the unweighted mean of the four, their weighted mean, and each pool alone."""
    codes = np.asarray(run.rows.modality)
    members = {name: np.flatnonzero(codes == code) for code, name in POOLED.items()}
    where = _four_pools(run.split)
    sizes = [len(chosen) for chosen in members.values()]
    named = zip(members, sizes, strict=True)
    if small := [f"{name} has {how_many(size, 'row')}" for name, size in named if size < max(2, *run.ks)]:
        note = f"not computed: {', '.join(small)}, and the largest k is {max(run.ks)}"
        return [
            run.result("Table 3", setting, f"{direction} Recall@{k}", where, None, note=note)
            for setting in (EXPERT, LAYMAN)
            for direction in ("I2T", "T2I")
            for k in run.ks
        ]
    pools = [run.hits(chosen) for chosen in members.values()]
    keys = pools[0]  # every pool has the same numbers in the same order
    every = np.concatenate(list(members.values()))
    articles, count = run.articles(every), len(pools)
    hits = np.zeros((len(every), len(keys), count))
    inside = np.zeros((len(every), count))
    for at, (end, size) in enumerate(zip(np.cumsum(sizes), sizes, strict=True)):
        hits[end - size : end, :, at] = np.stack(list(pools[at].values()), axis=1)
        inside[end - size : end, at] = 1
    flat = hits.reshape(len(every), -1)
    ends = _ends(keys)
    values = exact_sums(flat).reshape(len(keys), count) / sizes
    mean, alone, note = _spread(run, flat, inside, articles, ends)
    results = _cells(run, keys, values.mean(axis=1), mean, where, len(every), None, note)
    totals: Floats = hits.sum(axis=2)
    weighted = bootstrap_means(totals, clusters=articles, within=ends, **run.resampling)
    label = f"{run.split}; mean of the four pools weighted by size"
    results += _cells(run, keys, weighted.estimates, weighted, label, len(every), totals.sum(axis=0))
    for at, (name, spread) in enumerate(zip(members, alone, strict=True)):
        counts = hits[:, :, at].sum(axis=0)
        results += _cells(run, keys, values[:, at], spread, f"{run.split}; {name} pool", sizes[at], counts, note)
    return results


def _spread(
    run: _Run, hits: Floats, inside: Floats, articles: Sequence[str | None] | None, ends: Sequence[tuple[int, int]]
) -> tuple[Bootstrap | None, list[Bootstrap | None], str]:
    """Of the mean of the pools and of each pool alone, by the hits (rows, numbers x pools), with a note on resamples
    that miss a pool; None if most of them do."""
    count = inside.shape[1]
    try:
        boot = bootstrap_ratios(hits, inside, clusters=articles, **run.resampling)
    except InputError:
        return None, [None] * count, "no interval and no p: most resamples miss a modality"
    shape = (len(ends), count)
    units, estimates = np.asarray(boot.units).reshape(shape), boot.estimates.reshape(shape)
    replicates = boot.replicates.reshape(-1, *shape)
    left_out = run.resampling["resamples"] - len(replicates)
    note = f"interval without {left_out} resamples that miss a modality" if left_out else ""
    # Where no pool varies, as when every hit is 1: shares of others that n rows each leave room for add up to one that
    # the n rows of all pools together leave room for.
    whole = len(hits) if articles is None else len(set(articles))
    known = np.minimum(count * units.min(axis=1), whole)
    mean = Bootstrap(estimates.mean(axis=1), replicates.mean(axis=2), ends, known)
    return mean, [Bootstrap(estimates[:, at], replicates[:, :, at], ends, units[:, at]) for at in range(count)], note


def _ends(keys: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """The bounds of each number: a share, or a difference of two."""
    return [(-1, 1) if setting == DELTA else (0, 1) for setting, _ in keys]
