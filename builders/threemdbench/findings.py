"""A photo to judge and what was found out about it; shared by `curate` and `doubts`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from builders.curation.review import Decision, Doubt
from builders.licences import demands

# Reasons for leaving a photo out, the gravest first. A border is not one: it can be cut off.
FAULTS = ("near_uniform", "small", "dark", "overexposed", "blurred", "text_overlay")
_MOST = 100  # more than any licence can demand


@dataclass(frozen=True, slots=True)
class Candidate:
    """A photo to judge: its key, file, source (within which blur is calibrated), diagnosis and licence.

    `mixed` says what else its class in the source holds, if anything; `decision` is what a person decided about it,
    `of_class` about its class, if anyone did. It may be in an `earlier` release, or will be `withdrawn`. One whose
    licence forbids altered copies is only looked for (`forbidden`): no copy of it may come in under another.
    """

    key: str
    path: Path
    source: str
    diagnosis: str = ""
    licence: str | None = None
    mixed: str = ""
    decision: Decision | None = None
    of_class: Decision | None = None
    earlier: bool = False
    withdrawn: bool = False
    forbidden: bool = False

    @property
    def bound(self) -> int:
        """How much binds it, and no less any copy of it: the terms of its licence, or that it is withdrawn."""
        return _MOST if self.withdrawn else demands(self.licence)


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a photo.

    `cluster` names all photos that show the same thing. If `reason` is not empty, the photo is to be left out.
    `doubts` are what makes it borderline. `shows` are the clusters of the photos in a collage.
    """

    cluster: str
    reason: str = ""
    detail: str = ""
    doubts: tuple[Doubt, ...] = ()
    shows: tuple[str, ...] = ()
