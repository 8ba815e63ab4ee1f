"""The section of the image classifiers: confusions, calibration, diagnoses, training; their F1 stands in the tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from baselines.report.sections import Numbered, Section
from baselines.results.comparison import FinishedRun
from loaders.errors import InputError

CONTENT = "classifier.json"
"""Name of the file of a run folder that holds `scoring.Scored.content` and the history of the training."""

_MOST_FREQUENT = 10  # of a domain with many diagnoses, as in Figure 14
_STRONG = 60  # percent of shade from which ink is hard to read
_OTHERS, _NONE = "another domain", "no answer"


def sections(runs: Sequence[Numbered]) -> list[Section]:
    """One section over all classifiers. Raises InputError when a run's file cannot be read."""
    environment = Environment(
        loader=PackageLoader("baselines.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda value: f"{100 * value:.1f}"
    shown = [(number, run, _content(run)) for number, run in runs]
    html = environment.get_template("classifier.html").render(runs=shown)
    return [Section("image-classifiers", "Image classifiers", Markup(html))]


def _content(run: FinishedRun) -> dict[str, Any]:
    path = run.folder / CONTENT
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
        content["confusions"] = [_confusion(one) for one in content["confusions"]]
        for name in ("classes", "domains", "calibration", "history", "unreadable"):
            content[name]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(
            path, found=f"cannot be read ({error})", expected="the file that the run wrote", do="Run it again"
        ) from None
    return content


def _confusion(one: dict[str, Any]) -> dict[str, Any]:
    """A matrix to draw: the most frequent classes of a large domain, answers outside them in one column."""
    classes, counts = one["classes"], one["counts"]
    size = len(classes)
    chosen = sorted(sorted(range(size), key=lambda at: -sum(counts[at]))[:_MOST_FREQUENT])
    chosen = [at for at in chosen if sum(counts[at])]
    cut = len(chosen) < sum(1 for row in counts if sum(row))
    names = [classes[at] for at in chosen]
    heads = [*names]
    more: list[tuple[str, list[int]]] = []
    rest = [at for at in range(size) if at not in chosen]
    for label, columns in ((f"others of {one['domain']}", rest), (_OTHERS, [size]), (_NONE, [size + 1])):
        sums = [sum(counts[at][column] for column in columns) for at in chosen]
        if any(sums):
            heads.append(label)
            more.append((label, sums))
    rows = []
    for line, at in enumerate(chosen):
        total = sum(counts[at])
        cells = [_cell(counts[at][column], total, "right" if column == at else "") for column in chosen]
        cells += [_cell(sums[line], total, "beside") for _, sums in more]
        rows.append({"name": classes[at], "cells": cells})
    return {"domain": one["domain"], "classes": names, "cut": cut, "heads": heads, "rows": rows}


def _cell(count: int, total: int, kind: str) -> dict[str, Any]:
    share = round(100 * count / total)
    return {"count": count, "share": share, "kind": f"{kind} strong".strip() if share >= _STRONG else kind}
