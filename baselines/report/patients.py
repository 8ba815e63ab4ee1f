"""The section on the shape of the reserved patients: what simulated clinicians get out of them, by their quality."""

from __future__ import annotations

from collections.abc import Sequence

from baselines.medconceal.simulation import QUALITIES, SHAPE, Shape
from baselines.report.drawing import Curve, over_steps
from baselines.report.sections import Numbered, Section
from baselines.results.comparison import FinishedRun
from loaders.errors import InputError
from loaders.files.json_values import read_json
from loaders.files.records import from_json
from loaders.medconceal import TASKS
from loaders.pages import render

_LOOK = {"open": ("third", "6 3"), "guarded": ("expert", ""), "reserved": ("lay", "2 3")}


def sections(runs: Sequence[Numbered], *, public: bool = False) -> list[Section]:
    """One figure per run and task. Raises: InputError if a run's file cannot be read."""
    shown = [
        (number, run, [(task, _drawn([one for one in found if one.task == task])) for task in TASKS])
        for number, run in runs
        if (found := _read(run))
    ]
    if not shown:
        return []
    html = render("baselines/report/patients.html", runs=shown)
    return [Section("patients", "Do the reserved patients discriminate?", html)]


def _read(run: FinishedRun) -> list[Shape]:
    path = run.folder / SHAPE
    read = read_json(path, expected="the file written by the run", do="Run it again")
    if not isinstance(read, list):
        raise InputError(path, found="no list of shapes", expected="the file written by the run", do="Run it again")
    found = [from_json(Shape, one, path) for one in read]
    if any(len(shape.share) != len(QUALITIES) for shape in found):
        raise InputError(path, found="a different number of values", expected=f"{len(QUALITIES)} a shape")
    return found


def _drawn(shapes: Sequence[Shape]) -> str:
    look = {shape.patient: _LOOK.get(shape.patient, ("soft", "1 2")) for shape in shapes}
    curves = [Curve(shape.patient, shape.share, *look[shape.patient], start=1, shown=True) for shape in shapes]
    names = [f"{quality:g}" for quality in QUALITIES]
    return over_steps(names, [f"Quality {name}" for name in names], curves)
