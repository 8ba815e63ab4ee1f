"""Human evaluation of lay captions: blank sheets, and MedLayBench-V's Table 4 from the ones that raters filled in.

    bedside sheet runs/mine -o sheet.csv
    bedside ratings sheet-R1.csv sheet-R2.csv sheet-R3.csv

A sheet is a CSV file with one row per pair: rater, pair, both captions, and four criteria, integers from 1 to 5.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.results.run import DataUsed, Result, RunRecord, because
from baselines.results.sheets import UNFILLED, check_complete, rater_sheets, read_sheet, whole_number, write_new
from baselines.statistics.agreement import cohen_kappa
from baselines.statistics.printed import grimmer
from baselines.statistics.resampling import bootstrap_means
from loaders.errors import InputError, how_many
from loaders.manifest import ContentDigest

PAPER, TABLE, GROUP = "MedLayBench-V", "Table 4", "human evaluation"
CRITERIA = {
    "factual_correctness": "Factual Correctness",
    "completeness": "Completeness",
    "simplicity": "Simplicity",
    "fluency": "Fluency",
}
LOW, HIGH = 1, 5
CAPTIONS = ("expert_caption", "layman_caption")
COLUMNS = ("rater", "pair", "image_id", *CAPTIONS, *CRITERIA)


@dataclass(frozen=True, slots=True)
class Ratings:
    """Complete ratings: `scores` (raters, pairs, criteria), integers from 1 to 5; `digest` is that of the pairs and
    their captions."""

    raters: tuple[str, ...]
    pairs: tuple[str, ...]
    scores: NDArray[np.int64]
    digest: str
    stand_in: str | None


def write_sheets(
    rows: Iterable[Mapping[str, Any]],
    path: Path,
    *,
    pairs: int = 100,
    raters: int = 3,
    seed: int = 0,
    stand_in: str | None = None,
) -> list[Path]:
    """Write a blank sheet per rater, and instructions; returns the files: `path` with "-R1" and so on, then .md.

    The pairs are drawn by seed from the rows (image_id and both captions) whatever their order, the same for all
    raters, each of whom gets them in a different order. Raises InputError as `drawn_pairs`, and for an existing file.
    """
    drawn = drawn_pairs(rows, pairs, seed)
    contents = rater_sheets(
        path, raters, COLUMNS, list(drawn), lambda name: {"pair": name, **drawn[name]}, seed=seed, stand_in=stand_in
    )
    contents[path.with_suffix(".md")] = _instructions().replace("{pairs}", str(pairs)).encode()
    return write_new(contents)


def drawn_pairs(rows: Iterable[Mapping[str, Any]], pairs: int, seed: int) -> dict[str, Mapping[str, Any]]:
    """Number of a pair, P001 and so on -> its row, drawn by seed whatever the order of the rows. Raises InputError on
    fewer rows than pairs, or a row without a caption."""
    known = {str(row["image_id"]): row for row in rows}
    for name, row in known.items():
        for column in CAPTIONS:
            if not str(row.get(column) or "").strip():
                raise InputError(name, found=f"no {column}", expected="both captions of every pair")
    if len(known) < pairs:
        found, expected = f"{pairs}, of {len(known)} rows", "at most as many as there are rows"
        raise InputError("--pairs", found=found, expected=expected, do=f"Rate all of them: --pairs {len(known)}")
    drawn = random.Random(seed).sample(sorted(known), pairs)
    return {f"P{number:0{len(str(pairs))}d}": known[name] for number, name in enumerate(drawn, start=1)}


def _instructions() -> str:
    return (files("baselines.medlaybench_v") / "rating_instructions.md").read_text(encoding="utf-8")


def questions() -> dict[str, tuple[str, dict[int, str]]]:
    """Criterion -> the question, and what 1, 3 and 5 mean, as in the instructions of the sheets."""
    asked = {}
    for line in _instructions().splitlines():
        name, *cells = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
        if name in CRITERIA:
            asked[name] = cells[0], dict(zip((1, 3, 5), cells[1:], strict=True))
    return {name: asked[name] for name in CRITERIA}


def read_sheets(paths: Sequence[Path]) -> Ratings:
    """The ratings of all sheets, which may hold one rater each or several.

    Raises InputError, with file and row, on a sheet that lacks a column or is no text, a row without rater or pair, a
    rating that is no integer from 1 to 5, a pair rated twice by a rater, other captions under the same pair; and where
    a rater has not rated a pair that another has.
    """
    ratings: dict[str, dict[str, list[int]]] = {}
    captions: dict[str, tuple[str, tuple[str, ...]]] = {}  # of each pair, and where it is met first
    reasons: set[str] = set()
    for path in paths:
        for where, row in read_sheet(path, ("rater", "pair", *CRITERIA)):
            rater, pair = row.get("rater", ""), row.get("pair", "")
            if not rater or not pair:
                raise InputError(where, found=f"no {'pair' if rater else 'rater'}", expected="both in every row")
            given = [_rating(row.get(column, ""), f"{where}, {column}") for column in CRITERIA]
            if pair in ratings.setdefault(rater, {}):
                raise InputError(where, found=f"pair {pair} of rater {rater} again", expected="each pair once a rater")
            ratings[rater][pair] = given
            shown = tuple(row.get(column, "") for column in ("image_id", *CAPTIONS))
            earlier, known = captions.setdefault(pair, (where, shown))
            if known != shown:
                found, expected = f"pair {pair} with other captions than in {earlier}", "the same for all raters"
                raise InputError(where, found=found, expected=expected, do="Undo what was changed in one of the two")
            reasons.add(row.get("stand_in", ""))
    pairs = tuple(sorted(captions))
    check_complete(ratings, pairs, "rating", "pairs")
    if len(pairs) < 2:
        raise InputError(
            "ratings", found=how_many(len(pairs), "pair"), expected="2 or more: one has no standard deviation"
        )
    digest = ContentDigest()
    for pair in pairs:
        digest.update({"pair": pair, "captions": captions[pair][1]})
    scores = np.array([[rated[pair] for pair in pairs] for rated in ratings.values()], dtype=np.int64)
    return Ratings(tuple(ratings), pairs, scores, digest.hexdigest(), because(*sorted(reasons)))


def _rating(text: str, where: str) -> int:
    if (number := whole_number(text)) not in map(str, range(LOW, HIGH + 1)):
        expected = f"an integer from {LOW} to {HIGH}"
        raise InputError(where, found=repr(text) if text else "no rating", expected=expected, do=UNFILLED)
    return int(number)


def evaluate(ratings: Ratings, *, resamples: int = 1000, seed: int = 0) -> list[Result]:
    """Table 4: mean and SD (of the sample) by rater, the mean of the raters, and how far raters agree.

    Agreement: Cohen's kappa with quadratic weights of every two raters, Krippendorff's alpha (interval) of all. Both
    say little if nearly all ratings are 5; the note has the share of equal ratings. ci95 by bootstrap over pairs.
    """
    count = len(ratings.pairs)
    record = RunRecord(
        baseline="ratings",
        data=DataUsed("medlaybench-v", f"{count} rated pairs", None, ratings.digest),
        options={"raters": list(ratings.raters), "resamples": resamples},
        seeds={"bootstrap": seed},
        versions={"numpy": np.__version__},
        stand_in=ratings.stand_in,
    )

    result = partial(
        Result, paper=PAPER, table=TABLE, setting=f"{count} SCGR caption pairs", split_or_group=GROUP,
        unit=f"Likert {LOW}-{HIGH}", direction="up", n=count, record=record,
    )  # fmt: skip
    several = len(ratings.raters) > 1
    results = []
    for at, name in enumerate(CRITERIA.values()):
        mean = partial(result, column=f"{name} (mean)")
        scores = ratings.scores[:, :, at].astype(np.float64)
        bootstrap = bootstrap_means(
            np.vstack([scores, scores.mean(axis=0)]).T, resamples=resamples, seed=seed, within=(LOW, HIGH)
        )
        means, intervals = bootstrap.estimates.tolist(), list(map(tuple, bootstrap.interval().tolist()))
        for rater, given, value, ci95 in zip(ratings.raters, scores, means, intervals, strict=False):
            total, sd = float(given.sum()), float(given.std(ddof=1))
            results.append(mean(row=rater, value=value, ci95=ci95, numerator=total, denominator=float(count)))
            results.append(result(row=rater, column=f"{name} (SD)", value=sd, direction="none"))
        if several:
            raters = _NUMBERS.get(len(ratings.raters), len(ratings.raters))
            results.append(mean(row=f"Average of the {raters} raters", value=means[-1], ci95=intervals[-1]))
        for first, second in combinations(range(len(ratings.raters)), 2):
            agreement = cohen_kappa(
                ratings.scores[first, :, at].tolist(), ratings.scores[second, :, at].tolist(), range(LOW, HIGH + 1),
                weights="quadratic", resamples=resamples, seed=seed,
            )  # fmt: skip
            note = f"{agreement.observed:.0%} of the ratings are equal"
            note += "" if agreement.kappa is not None else "; undefined, as both gave one rating throughout"
            row = f"{ratings.raters[first]} and {ratings.raters[second]}"
            kappa = partial(result, row=row, column=f"{name} (weighted kappa)", unit="kappa")
            results.append(kappa(value=agreement.kappa, ci95=agreement.ci95, note=note))
        if several:
            alpha = krippendorff_alpha(scores)
            note = "" if alpha is not None else "undefined, as all ratings are equal"
            column = f"{name} (Krippendorff alpha)"
            results.append(result(row="All raters", column=column, value=alpha, unit="alpha", note=note))
    return results


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


def krippendorff_alpha(scores: NDArray[np.float64]) -> float | None:
    """Krippendorff's alpha (2011) for interval data, (raters, items) without gaps; None if all scores are equal.

    1 minus the disagreement within items over that among all scores, each the mean squared difference of two scores.
    """
    overall = scores.var(ddof=1)
    if len(scores) < 2 or overall == 0:
        return None
    # The mean squared difference of two of k scores is twice their variance (ddof 1).
    return float(1 - scores.var(axis=0, ddof=1).mean() / overall)


def possible(mean: float, sd: float, pairs: int) -> bool:
    """GRIM and GRIMMER: whether `pairs` integer ratings from 1 to 5 can print this mean and SD, to two decimals."""
    return grimmer(round(mean, 2), round(sd, 2), pairs, low=LOW, high=HIGH)
