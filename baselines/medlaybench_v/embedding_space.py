"""How far apart an encoder puts the two captions of a pair: the data of MedLayBench-V's Figure A3 (Appendix C).

    space = measure(made.texts["expert"].rows(), made.texts["layman"].rows(), split["modality"])
    results = evaluate(space, record=record, model="BiomedCLIP")
    figure = {"histograms": histograms(space), "projection": project(expert, layman, split["modality"])}

Cosine similarity and Euclidean distance of the L2-normalised embeddings, by modality, and a t-SNE projection. For unit
vectors one determines the other: the paper's distances of 0.05 to 0.07 are cosines of 0.9976 to 0.9988, and its
cosine of 0.99 is a distance of 0.14. A high cosine alone says little, since some encoders give it to any two texts. So
the mean cosine of an expert caption and the lay caption of another pair of the same modality is reported beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v.retrieval import POOLED
from baselines.results.published import MODELS
from baselines.results.run import Direction, Result, RunRecord
from baselines.statistics.arrays import Floats, Ints
from baselines.statistics.resampling import bootstrap_means
from loaders.errors import InputError, MissingExtra, how_many
from loaders.medlaybench_v import MODALITIES

PAPER, TABLE, ALL_MODELS = "MedLayBench-V", "Figure A3 (caption)", "All models"
COSINE = "Expert-Layman embedding cosine similarity"
EUCLIDEAN = "Expert-Layman Euclidean distance"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
NAMED = ("OpenAI-CLIP-Base", "BiomedCLIP", "PMC-CLIP")
"""The models that Appendix C names."""

EVERY = ""
"""The group of all pairs, whatever their modality."""
_NAMES = POOLED | {"DRAN": "Angiography", "DRPE": "PET", "DRCO": "Combined"}
GROUPS = (EVERY, *(_NAMES[modality.code] for modality in MODALITIES))

_COLUMNS: tuple[tuple[str, str, Direction], ...] = ((COSINE, "cosine", "up"), (EUCLIDEAN, "distance", "down"))
_SAME = 1e-9  # values that differ by less differ by rounding, as those of pairs of equal captions do
_BLOCK = 8192  # rows in float64 at a time
_Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class Space:
    """Similarity of the two captions of each of N pairs.

    `groups` are the rows of all pairs (`EVERY`) and of each modality that is present; `others` is the mean cosine of an
    expert caption and the lay caption of another pair of the group, None for a group of one.
    """

    cosine: Floats  # (N,)
    euclidean: Floats  # (N,), of unit vectors: from 0 to 2
    groups: Mapping[str, Ints]
    others: Mapping[str, float | None]


def measure(expert: _Array, layman: _Array, modality: Sequence[str]) -> Space:
    """Distances of the caption embeddings (N, D) of N >= 2 pairs; `modality` (N,) are the corpus's codes.

    Vectors of any length are normalised here; 8,192 rows are held in float64 at a time.
    """
    names = _names(modality)
    groups = {name: np.flatnonzero(names == name) if name else np.arange(len(names)) for name in GROUPS}
    groups = {name: rows for name, rows in groups.items() if len(rows)}
    size = expert.shape[1]
    cosine, euclidean = np.empty(len(names)), np.empty(len(names))
    sums = {name: (np.zeros(size), np.zeros(size)) for name in groups}
    for start in range(0, len(names), _BLOCK):
        part = slice(start, start + _BLOCK)
        left, right = _unit(expert[part]), _unit(layman[part])
        cosine[part] = np.clip((left * right).sum(axis=1), -1.0, 1.0)
        euclidean[part] = np.linalg.norm(left - right, axis=1)
        for name, (of_left, of_right) in sums.items():
            inside = slice(None) if name == EVERY else names[part] == name
            of_left += left[inside].sum(axis=0)
            of_right += right[inside].sum(axis=0)
    others: dict[str, float | None] = {}
    for name, rows in groups.items():
        # All pairs of an expert and a lay caption, less those of one row: one product of two sums.
        total = float(sums[name][0] @ sums[name][1]) - float(cosine[rows].sum())
        others[name] = total / (len(rows) * (len(rows) - 1)) if len(rows) > 1 else None
    return Space(cosine, euclidean, groups, others)


def evaluate(
    space: Space, *, record: RunRecord, model: str, articles: Sequence[str | None] | None = None
) -> list[Result]:
    """Means with intervals, quantiles and the mean of other pairs: for all pairs, then by modality (the setting).

    The record says how many times is resampled: articles (N,), if given.
    """
    resamples, seed = record.options["resamples"], record.seeds["bootstrap"]
    results = []
    for group, rows in space.groups.items():
        values = np.stack([space.cosine[rows], space.euclidean[rows]], axis=1)
        clusters = None if articles is None else [articles[row] for row in rows]
        boot = bootstrap_means(values, resamples=resamples, seed=seed, clusters=clusters)
        quantiles = np.quantile(values, QUANTILES, axis=0)
        cell = partial(
            Result, paper=PAPER, table=TABLE, row=model, setting=group, split_or_group=record.data.split, n=len(rows),
            record=record,
        )  # fmt: skip
        for at, (column, unit, direction) in enumerate(_COLUMNS):
            estimate, ci95 = boot.estimate(at)
            results.append(cell(column=column, value=estimate, unit=unit, direction=direction, ci95=ci95))
            for quantile, value in zip(QUANTILES, quantiles[:, at].tolist(), strict=True):
                results.append(cell(column=f"{column}, {quantile:.0%} quantile", value=value, unit=unit))
        note = "mean over an expert caption and the lay caption of another pair"
        if space.others[group] is None:
            note = "not computed: one pair, hence no other"
        results.append(cell(column=f"{COSINE}, other pairs", value=space.others[group], unit="cosine", note=note))
    return results


def all_models(results: Iterable[Result], *, record: RunRecord) -> list[Result]:
    """What the caption of Figure A3 says about "All models": the mean of their mean cosines, and the smallest and the
    largest of their mean distances, by the results of a run and its record.

    Not computed, with the names of the missing ones, without the models that Appendix C names (`NAMED`).
    """
    found = [one for one in results if one.row in MODELS and one.setting == EVERY]
    cosines, distances = (
        {one.row: one.value for one in found if one.column == column and one.value is not None}
        for column in (COSINE, EUCLIDEAN)
    )
    missing = [name for name in NAMED if name not in cosines]
    note = f"of {', '.join(cosines)}" if not missing else f"not computed: no result of {', '.join(missing)}"
    cell = partial(
        Result, paper=PAPER, table=TABLE, row=ALL_MODELS, setting="", split_or_group="", note=note, record=record,
        n=found[0].n if found else None,
    )  # fmt: skip
    mean, low, high = None, None, None
    if not missing:
        mean, low, high = float(np.mean([*cosines.values()])), min(distances.values()), max(distances.values())
    return [
        cell(column=COSINE, value=mean, unit="cosine", direction="up"),
        cell(column=f"{EUCLIDEAN} (low end)", value=low, unit="distance", direction="down"),
        cell(column=f"{EUCLIDEAN} (high end)", value=high, unit="distance", direction="down"),
    ]


def histograms(space: Space, *, bins: int = 50) -> dict[str, Any]:
    """Counts of pairs by group in `bins` bins of equal width that all groups share, with the edges, as JSON."""
    drawn: dict[str, Any] = {}
    for name, values in (("cosine", space.cosine), ("euclidean", space.euclidean)):
        ends = (values.min() - 0.5, values.max() + 0.5) if np.ptp(values) < _SAME else None
        edges = np.histogram_bin_edges(values, bins=bins, range=ends)
        counts = {group: np.histogram(values[rows], edges)[0].tolist() for group, rows in space.groups.items()}
        drawn[name] = {"edges": edges.tolist(), "counts": counts}
    return drawn


def check_projection(pairs: int, dimensions: int = 2) -> None:
    """Raises InputError for fewer pairs or dimensions than `project` can draw, MissingExtra without scikit-learn."""
    MissingExtra.check("figures", purpose="the t-SNE projection")
    if pairs < 4:
        raise _no_projection(how_many(pairs, "pair"), "4 pairs at least")
    if dimensions < 2:
        raise _no_projection("embeddings of 1 dimension", "2 dimensions at least")


def _no_projection(found: str, expected: str) -> InputError:
    return InputError("projection", found=found, expected=expected, do="Leave it out: --no-projection")


def project(
    expert: _Array, layman: _Array, modality: Sequence[str], *, points: int = 2000, seed: int = 0
) -> dict[str, Any]:
    """t-SNE of both captions of `points` pairs drawn by the seed (of all, if there are fewer), in one plane, as JSON:
    `rows` are the numbers of these pairs, then their modality and the places of either caption.

    One fit for both registers, since two separate ones could not be compared; in one thread, so that the number of
    threads cannot change a point: 2,000 pairs take about half a minute.

    Raises InputError for embeddings that are all the same, and what `check_projection` raises.
    """
    with MissingExtra.needed("figures", purpose="the t-SNE projection"):
        from sklearn.manifold import TSNE
        from threadpoolctl import threadpool_limits
    names = _names(modality)
    drawn = np.arange(len(names))
    if points < len(drawn):
        drawn = np.sort(np.random.default_rng(seed).choice(drawn, size=points, replace=False))
    check_projection(len(drawn), expert.shape[1])
    vectors = np.vstack([_unit(expert[drawn]), _unit(layman[drawn])])
    if np.ptp(vectors, axis=0).max() < _SAME:
        raise _no_projection("embeddings that are all the same", "different ones")
    fit = TSNE(init="pca", random_state=seed, perplexity=min(30.0, (len(vectors) - 1) / 3), n_jobs=1)
    with threadpool_limits(limits=1):
        plane = fit.fit_transform(vectors).astype(np.float64)
    planes = {"expert": plane[: len(drawn)].tolist(), "layman": plane[len(drawn) :].tolist()}
    return {"rows": drawn.tolist(), "modality": names[drawn].tolist(), **planes}


def _names(modality: Sequence[str]) -> NDArray[np.str_]:
    return np.array([_NAMES[code] for code in modality])


def _unit(vectors: _Array) -> Floats:
    """The vectors in float64, with length 1."""
    double = vectors.astype(np.float64)
    unit: Floats = double / np.linalg.norm(double, axis=1)[:, None]
    return unit
