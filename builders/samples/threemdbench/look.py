"""What one diagnosis looks like: a line of `looks.csv`."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Look:
    """`scene` is skin, eye, throat, lip, teeth or nail; the other fields describe lesions on skin (`skin.py`).

    Sizes, edges and halos are shares of half the photo's side.
    """

    diagnosis: str
    scene: str
    shape: str
    colour: str
    count: tuple[int, int]
    size: tuple[float, float]
    edge: float
    ragged: float
    relief: float
    halo: float
    flush: float
    texture: str
    middle: str
    spread: str


@cache
def looks() -> dict[str, Look]:
    """The look of every diagnosis."""
    rows = csv.DictReader(Path(__file__).with_name("looks.csv").read_text(encoding="utf-8").splitlines())
    return {row["diagnosis"]: _look(row) for row in rows}


def _look(row: dict[str, str]) -> Look:
    few, _, many = row["count"].partition("-")
    small, _, large = row["size"].partition("-")
    return Look(
        diagnosis=row["diagnosis"],
        scene=row["scene"],
        shape=row["shape"],
        colour=row["colour"],
        count=(int(few or 0), int(many or few or 0)),
        size=(float(small or 0), float(large or small or 0)),
        edge=float(row["edge"] or 0.03),
        ragged=float(row["ragged"] or 0.2),
        relief=float(row["relief"] or 0),
        halo=float(row["halo"] or 0),
        flush=float(row["flush"] or 0),
        texture=row["texture"],
        middle=row["middle"],
        spread=row["spread"],
    )
