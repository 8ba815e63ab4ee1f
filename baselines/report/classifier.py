"""The section of the image classifiers: confusions, calibration, diagnoses, training; their F1 is in the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from baselines.report.matrix import Matrix, most_frequent
from baselines.report.sections import Numbered, Section
from baselines.results.comparison import FinishedRun
from loaders.files.json_values import read_json, understood
from loaders.pages import render

CONTENT = "classifier.json"
"""Name of the file in a run folder for the drawing data of `scoring.Scoring.scored`, and the history of training."""


def sections(runs: Sequence[Numbered], *, public: bool = False) -> list[Section]:
    """One section over all classifiers that answered about labelled photos; others have nothing to draw.

    They hide nothing from the `public`. Raises: InputError if a run's file cannot be read.
    """
    shown = [(number, run, _content(run)) for number, run in runs if run.record.options.get("labelled", True)]
    if not shown:
        return []
    return [Section("image-classifiers", "Image classifiers", render("baselines/report/classifier.html", runs=shown))]


def _content(run: FinishedRun) -> dict[str, Any]:
    path = run.folder / CONTENT
    expected, do = "the file written by the run", "Run it again"
    content: dict[str, Any] = read_json(path, expected=expected, do=do)
    with understood(path, expected=expected, do=do):
        content["matrices"] = [_matrix(confusion) for confusion in content["confusions"]]
        for name in ("classes", "domains", "calibration", "history", "unreadable"):
            content[name]
    return content


def _matrix(confusion: dict[str, Any]) -> Matrix:
    """The most frequent classes of a domain; answers outside it are summed by kind."""
    classes, counts = confusion["classes"], confusion["counts"]
    size = len(classes)
    sizes = [sum(row) for row in counts]
    chosen = sorted(most_frequent(sizes))
    others = {
        f"others of {confusion['domain']}": [at for at in range(size) if at not in chosen],
        "another domain": [size],
        "no answer": [size + 1],
    }
    used = {name: places for name, places in others.items() if any(counts[at][to] for at in chosen for to in places)}
    names = tuple(classes[at] for at in chosen)
    cells = (
        (*(counts[at][to] for to in chosen), *(sum(counts[at][to] for to in places) for places in used.values()))
        for at in chosen
    )
    left_out = sum(total > 0 for total in sizes) - len(chosen)
    return Matrix(confusion["domain"], names, (*names, *used), tuple(cells), left_out)
