"""Cases of a game played concurrently, without a framework and without a log: for scripted agents, demos and tests."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from baselines.dialogue.game import Case, Record
from baselines.dialogue.played import PlayedCase
from baselines.dialogue.playing import Playing, Progress
from loaders.models.answers import gather_bounded


def play_bare(
    playing: Playing[Case, Record],
    cases: Sequence[Case],
    *,
    epochs: int = 1,
    concurrency: int = 16,
    progress: Progress | None = None,
) -> list[PlayedCase[Record]]:
    """The outcomes of all cases, epoch by epoch, `concurrency` at a time; raises what `Playing.play` raises."""
    jobs = [(case, epoch) for epoch in range(1, epochs + 1) for case in cases]

    async def play(job: tuple[Case, int]) -> PlayedCase[Record]:
        return await playing.play(*job)

    return asyncio.run(gather_bounded(play, jobs, limit=concurrency, progress=progress))
