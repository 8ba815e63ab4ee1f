"""The bundled samples as the source of a rehearsal: nothing is built, so the first page appears at once."""

from __future__ import annotations

import csv
from pathlib import Path

from baselines.study.design import Design
from baselines.study.tasks.task import Bundled, Rows, Source

STAND_IN = "sample data"


def sample_source(design: Design) -> Source:
    """The bundled data of a design's tasks, which have one source."""
    if design.tasks[0] == "rubric":
        from builders.samples.threemdbench import CONSULTATIONS

        return Source(design, runs=(CONSULTATIONS,), stand_in=STAND_IN)
    makers = {"pairs": _captions, "diagnosis": _photos, "relevance": _photos}
    return Source(design, makers.get(design.tasks[0], patients)(), stand_in=STAND_IN)


def patients() -> Bundled:
    """The bundled cases, which no clinician has reviewed."""
    from builders.samples.medconceal.cases import profiles
    from loaders.medconceal import row_of

    rows = [row_of(one, author="Bedside", licence="CC0-1.0", attribution="") | {"split": "test"} for one in profiles()]
    return Bundled("medconceal", {"test": Rows(rows)})


def _captions() -> Bundled:
    """Captions of the bundled sample, and the lay captions that the rules made."""
    from builders.samples.medlaybench_v import PAIRS

    return Bundled("medlaybench-v", {"test": Rows(_table(PAIRS))})


def _photos() -> Bundled:
    """A drawn photo of each diagnosis, with authored complaints."""
    from builders.samples.threemdbench import PHOTOS
    from builders.threemdbench.complaints import authored_basic, authored_facts
    from loaders.threemdbench import DIAGNOSES, PERSONALITIES, SCHEMA

    first = {row["label"]: row["file"] for row in reversed(_table(PHOTOS))}
    rows = []
    for number, diagnosis in enumerate(one for one in DIAGNOSES if one.name in first):
        path = PHOTOS.parent / first[diagnosis.name]
        told = {
            "image": {"bytes": path.read_bytes(), "path": path.name},
            "image_id": path.stem,
            "split": "test",
            "diagnosis": diagnosis.name,
            "domain": diagnosis.domain,
            "general_complaint": authored_basic(diagnosis.name),
            "complaints": authored_facts(diagnosis.name, key=path.stem, seed=0),
            "personality": PERSONALITIES[number % len(PERSONALITIES)],
        }
        rows.append({name: told.get(name) for name in SCHEMA})
    return Bundled("3mdbench", {"test": Rows(rows)})


def _table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
