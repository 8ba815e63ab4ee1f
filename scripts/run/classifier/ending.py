"""The end of a classifier's run: the single evaluation, cues, and the files of its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from baselines.report.classifier import CONTENT
from baselines.results.run import ModelUsed, Result, RunRecord, because
from baselines.threemdbench.classifier.cues import TOP, More, write_cues
from baselines.threemdbench.classifier.data import FOLDER, UNKNOWN
from baselines.threemdbench.classifier.scoring import Scoring, coverage
from baselines.threemdbench.classifier.stored import NAME as KEPT
from baselines.threemdbench.classifier.stored import StoredAnswers, ranked
from baselines.threemdbench.slices import NAME as SLICES
from baselines.threemdbench.slices import Sides, check_columns, sides_of
from loaders.errors import InputError, how_many
from loaders.files.places import without_places
from loaders.files.records import to_json
from loaders.opened import open_data
from scripts.run.classifier.options import ALL, Classifying
from scripts.run.classifier.seen import Unseen
from scripts.terminal.console import output
from scripts.terminal.finish import finish

if TYPE_CHECKING:
    from baselines.threemdbench.classifier.data import Labelled

CUES = "cues.parquet"


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A classifier's answers about the photos of test: logits of those that could be decoded.

    `unreadable` holds (id, why) of the others, by split. `facts` are added to the record's options, `more` to the
    page's content; `digests` are those of single splits if the photos come from several; `looked` is the result of
    searching them for training photos; `cues` says whether to write cues.
    """

    unreadable: Mapping[str, Sequence[tuple[str, str]]]
    logits: Any
    temperature: float
    row: str
    setting: str
    model: ModelUsed
    stand_in: str | None
    train_labels: Sequence[int]
    facts: Mapping[str, Any]
    seeds: Mapping[str, int]
    versions: Mapping[str, str]
    more: Mapping[str, Any]
    cues: bool
    digests: Mapping[str, str] = field(default_factory=dict)
    looked: Unseen | None = None


def end(labelled: Labelled, answered: Answered, options: Classifying) -> None:
    """Score what has a label, write cues, results and record, and print them."""
    known = RunRecord(
        baseline="classifier",
        data=labelled.data,
        models=(answered.model,),
        options={
            "allow_untrained": options.allow_untrained,
            "resamples": options.resamples,
            **answered.facts,
            **({"training photos": answered.looked.facts} if answered.looked else {}),
            "unreadable": {split: len(photos) for split, photos in answered.unreadable.items()},
        },
        seeds=answered.seeds,
        versions=answered.versions,
        stand_in=because(labelled.stand_in, answered.stand_in),
    )
    record = without_places(known, Path())  # as `finish` writes it: the cues name the run and its model
    failed = {key for key, _ in answered.unreadable["test"]}
    readable = np.array([photo.key not in failed for photo in labelled.splits["test"]])
    if answered.cues:
        _write_cues(labelled, answered, readable, record, options)
    results, extra = _scored(labelled, answered, readable, record, options)
    finish(options.out, results, extra)
    for split, photos in answered.unreadable.items():
        if photos:
            called = labelled.data.split if split == "test" else split
            some = f"{how_many(len(photos), 'photo')} could not be decoded, e.g. {photos[0][0]} ({photos[0][1]})"
            output.print(f"{called}: {some}")


def _scored(
    labelled: Labelled, answered: Answered, readable: NDArray[np.bool_], record: RunRecord, options: Classifying
) -> tuple[list[Result], dict[str, Any]]:
    """The numbers over the photos that have a label, if one of them could be decoded, and the run's files with what
    they are made of."""
    photos = labelled.splits["test"]
    has = np.array([photo.label != UNKNOWN for photo in photos])
    if not has[readable].any():
        return [coverage(len(photos), int(readable.sum()), answered.row, answered.setting, record)], {}
    answers = StoredAnswers.of(
        replace(labelled, splits={"test": [photo for photo, told in zip(photos, has, strict=True) if told]}),
        answered.logits[has[readable]],
        readable[has].tolist(),
        answered.temperature,
        train_labels=answered.train_labels,
        row=answered.row,
        setting=answered.setting,
    )
    scoring = Scoring(answers=answers, record=record, resamples=options.resamples, seed=options.seed)
    results, drawn = scoring.scored()
    kept: dict[str, Any] = {KEPT: to_json(answers)}
    if sides := slices_of(labelled, options):
        kept[SLICES] = sides
        results += scoring.by_slice(sides)
    shown = {split: list(photos) for split, photos in answered.unreadable.items() if photos}
    return results, {CONTENT: {**drawn, **answered.more, "unreadable": shown}, **kept}


def slices_of(labelled: Labelled, options: Classifying) -> Sides:
    """The slices that were asked for. Raises InputError for what cannot be sliced: call it before the work, too."""
    if not options.slices:
        return {}
    columns = check_columns(options.slices)
    if labelled.corpus == FOLDER:
        raise InputError(
            "--slice", found=f"{options.data} is no release, so no columns are known", expected="a release"
        )
    opened = open_data(options.data, split=None if options.split == ALL else options.split, default="3mdbench")
    return sides_of(opened.rows("image_id", *columns), columns, options.data)


def _write_cues(
    labelled: Labelled, answered: Answered, readable: NDArray[np.bool_], record: RunRecord, options: Classifying
) -> None:
    orders = zip(labelled.splits["test"], ranked(answered.logits, readable.tolist()), strict=True)
    failed = {key: f"the classifier cannot decode it ({why})" for key, why in answered.unreadable["test"]}
    left, search = (answered.looked.left, answered.looked.search) if answered.looked else ({}, None)
    write_cues(
        options.out / CUES,
        {photo.key: [labelled.classes[at] for at in order[:TOP]] for photo, order in orders if order},
        content_digest=labelled.digests["test"],
        model=record.models[0].name,
        run_id=record.run_id,
        stand_in=record.stand_in,
        more=More(dict(answered.digests), {**failed, **left}, search),
    )
