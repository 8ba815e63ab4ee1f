"""A photo to judge and what was found out about it; shared by `curate` and `doubts`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from builders.curation.review import Decision, Doubt

# Reasons for leaving a photo out, the gravest first. A border is not one: it can be cut off.
FAULTS = ("near_uniform", "small", "dark", "overexposed", "blurred", "text_overlay")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A photo to judge: its key, file, source (within which blur is calibrated), and diagnosis.

    `mixed` says what else its class in the source holds, if anything; `decision` is what a person decided about it,
    `of_class` about its class, if anyone did. Of copies, that of highest `precedence` is kept.
    """

    key: str
    path: Path
    source: str
    diagnosis: str
    mixed: str = ""
    decision: Decision | None = None
    of_class: Decision | None = None
    precedence: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a photo.

    `cluster` names all photos that show the same thing. If `reason` is not empty, the photo is to be left out.
    `doubts` are what makes it borderline.
    """

    cluster: str
    reason: str = ""
    detail: str = ""
    doubts: tuple[Doubt, ...] = ()
