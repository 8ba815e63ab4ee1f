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
from typing import Any

from rich.progress import Progress

from builders.curation.review import Decisions
from builders.threemdbench.earlier import Earlier
from builders.threemdbench.findings import Candidate, Finding
from loaders.engines.engine import Engine
from loaders.engines.threads import Threads


@dataclass(frozen=True)
class Curator:
    """Judges photos by `builders.curation` and by what is known of them beforehand, to which `identity` is equal.

    `index` is the file in which it remembers what it measured, `queue` the one for borderline photos; `own` are the
    sources of a team's own.
    """

    identity: str
    index: Path
    queue: Path
    decisions: Decisions
    earlier: Earlier
    own: frozenset[str]
    withdrawn: frozenset[str]
    forbidden: Sequence[Candidate]
    engine: Engine = field(default_factory=Threads)
    progress: Progress | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"engine": None, "progress": None}  # a judgement does not depend on who does the work

    def __call__(self, photos: Sequence[Candidate]) -> list[Finding]:
        """A finding for each photo, in their order."""
        # Imported here: they bring OpenCV, which nothing else of a build needs.
        from builders.curation.curate import curate, judged_alone
        from builders.curation.folders import File
        from builders.threemdbench.doubts import Judged

        if not photos:
            return []
        every = [*photos, *self.forbidden]
        files = [File(one.key, one.path, source=one.source, precedence=one.earlier) for one in every]
        first = curate(files, index=self.index, engine=self.engine, progress=self.progress)
        # What may not come in says nothing about how sharp a source is.
        judged = Judged(every, judged_alone(first, len(photos)))
        fit = [file for file in files[: len(photos)] if file.name not in judged.out]
        second = curate(fit, index=self.index, engine=self.engine) if 0 < len(fit) < len(files) else first
        judged.compare(second if fit else None)
        return judged.findings()
