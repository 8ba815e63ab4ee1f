"""The one place where the builder meets `builders.curation`: which photos are fit, show the same, are borderline.

It measures quality first and looks for copies only among photos that are fit, so that a blurred original never replaces
its sharp copy. A person's decision about a photo overrides what was measured: a rejected photo is left out, and an
accepted one is fit, whatever its measures; a copy of a photo that is kept is still a copy. What a licence demands holds
for all copies, also if the one under it is not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.progress import Progress

from builders.threemdbench.findings import Candidate, Finding, Forbidden
from loaders.engines.engine import Engine
from loaders.engines.threads import Threads


@dataclass(frozen=True)
class FullCuration:
    """Quality and duplicates by `builders.curation`; `index` is the file in which it remembers what it measured."""

    index: Path
    engine: Engine = field(default_factory=Threads)
    progress: Progress | None = None
    identity: str = "builders.curation"

    def __reduce__(self) -> tuple[object, ...]:
        return FullCuration, (self.index,)  # a judgement does not depend on who does the work

    def __call__(self, photos: Sequence[Candidate], forbidden: Sequence[Forbidden]) -> list[Finding]:
        """A finding for each photo, in their order; the `forbidden` ones are only looked for among them."""
        # Imported here: they bring OpenCV, which nothing else of a build needs.
        from builders.curation.curate import curate, judged_alone
        from builders.curation.folders import File
        from builders.threemdbench.doubts import Judged

        if not photos:
            return []
        files = [
            *(File(photo.key, photo.path, source=photo.source, precedence=photo.earlier) for photo in photos),
            *(File(other.key, other.path, source=other.source) for other in forbidden),
        ]
        first = curate(files, index=self.index, engine=self.engine, progress=self.progress)
        # What may not come in says nothing about how sharp a source is.
        judged = Judged(photos, judged_alone(first, len(photos)), forbidden)
        fit = [file for file in files[: len(photos)] if file.name not in judged.out]
        second = curate(fit, index=self.index, engine=self.engine) if 0 < len(fit) < len(files) else first
        judged.compare(second if fit else None)
        return judged.findings()
