"""The options of commands that divide their work: which engine does it, with how many processes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated

import typer

from loaders.engines.choice import EngineName, opened
from loaders.engines.engine import Engine

MIXED_NODES = "Allow nodes with different CPUs or BLAS, which may change floating-point numbers; list them."


def told(engine: Engine) -> str:
    """The kinds of machine that took part."""
    return f"Machines that took part; their numbers may differ in the last bits: {'; '.join(engine.machines)}"


@dataclass(frozen=True, kw_only=True)
class Engines:
    """Who does the work; the result does not depend on it."""

    engine: Annotated[
        EngineName,
        typer.Option(help="Local processes, or Ray: the cluster at RAY_ADDRESS, or else one on this machine."),
    ] = EngineName.LOCAL
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Number of processes. [one per core, at most 4; with ray, the whole cluster]"),
    ] = None
    mixed_nodes: Annotated[bool, typer.Option("--mixed-nodes", help=MIXED_NODES)] = False

    def opened(self) -> AbstractContextManager[Engine]:
        """The engine, for as long as the command takes."""
        return opened(self.engine, self.workers, mixed_nodes=self.mixed_nodes)
