"""The one place where the builder meets `builders.curation`: which photos are fit, and which show the same.

Any `Curator` does. The real one measures quality, then looks for copies among what is fit, so that a blurred original
never stands in for its sharp copy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich.progress import Progress

# What a photo is left out for, the gravest first. A border is no reason: it can be cut off.
FAULTS = ("near_uniform", "small", "dark", "overexposed", "blurred", "text_overlay")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A photo to judge: its key, its file, and its source, within which blur is calibrated."""

    key: str
    path: Path
    source: str


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about a photo.

    `cluster` names all that show the same thing; photos of one `copies` are one photo in any disguise. Where `reason`
    is not empty, the photo is to be left out.
    """

    cluster: str
    copies: str
    reason: str = ""
    detail: str = ""


class Curator(Protocol):
    """Judges photos."""

    @property
    def identity(self) -> str:
        """A name that changes when the judgement could."""

    def __call__(self, photos: Sequence[Candidate]) -> list[Finding]:
        """A finding for each photo, in their order."""


@dataclass(frozen=True)
class FullCuration:
    """Quality and duplicates by `builders.curation`; `index` is the file in which it remembers what it measured."""

    index: Path
    workers: int = 1
    progress: Progress | None = None
    identity: str = "builders.curation"

    def __call__(self, photos: Sequence[Candidate]) -> list[Finding]:
        # Imported here: it brings OpenCV, which nothing else of a build needs.
        from builders.curation.curate import curate
        from builders.curation.folders import File

        if not photos:
            return []
        files = [File(photo.key, photo.path, source=photo.source) for photo in photos]
        first = curate(files, index=self.index, workers=self.workers, progress=self.progress)
        faults = [_fault(judgement.flags) if judgement else "" for judgement in first.judgements]
        fit = [file for file, fault in zip(files, faults, strict=True) if not fault]
        second = curate(fit, index=self.index, workers=self.workers) if fit else None
        decided = {one.file.name: d for one, d in zip(second.files, second.decisions, strict=True)} if second else {}
        findings = []
        for one, decision, judgement, fault in zip(first.files, first.decisions, first.judgements, faults, strict=True):
            copies = first.groups.places[one.content.digest].best if one.content else one.file.name
            reason, detail = "", ""
            if fault and judgement:
                reason, detail = f"quality: {fault.replace('_', ' ')}", ", ".join(judgement.flags)
            elif not decided[one.file.name].kept:
                reason = f"duplicate: {decided[one.file.name].reason.replace('_', ' ')}"
                detail = decided[one.file.name].detail
            findings.append(Finding(decision.cluster or one.file.name, copies, reason, detail))
        return findings


def _fault(flags: Sequence[str]) -> str:
    return next((fault for fault in FAULTS if fault in flags), "")


def disagreements(copies: Sequence[str], diagnoses: Sequence[str]) -> dict[str, str]:
    """Sets of copies whose photos carry more than one diagnosis, with those diagnoses.

    >>> disagreements(["a", "a", "b"], ["acne", "eczema", "warts"])
    {'a': 'acne, eczema'}
    """
    found: dict[str, set[str]] = defaultdict(set)
    for name, diagnosis in zip(copies, diagnoses, strict=True):
        found[name].add(diagnosis)
    return {name: ", ".join(sorted(named)) for name, named in found.items() if len(named) > 1}
