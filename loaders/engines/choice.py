"""The engine that a user names: `with opened(EngineName.RAY, workers=64) as engine`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from enum import StrEnum

from loaders.engines.engine import Engine
from loaders.engines.local import Local
from loaders.engines.threads import Threads
from loaders.errors import InputError, MissingExtra


class EngineName(StrEnum):
    """The names of the engines."""

    LOCAL = "local"
    RAY = "ray"


MOST_THREADS = 16
MOST = 4
"""Default number of worker processes, unless one is given."""


@contextmanager
def opened(
    name: EngineName = EngineName.LOCAL, workers: int | None = None, *, mixed_nodes: bool = False, threads: bool = False
) -> Iterator[Engine]:
    """The engine `local` with `workers` processes, or `ray` on the cluster of RAY_ADDRESS (without it, on this
    machine).

    By default `workers` is one per core, at most MOST, for `local`, and the whole cluster for `ray`. Nodes with a
    different CPU or BLAS take part in tasks with floating point only if `mixed_nodes` is set.

    If `threads` serve as well, `local` means threads, at most MOST_THREADS.

    Raises: MissingExtra without Ray; InputError for mixed nodes of one machine, and for a cluster that cannot be
    reached, or only by Ray Client.
    """
    if name == EngineName.LOCAL:
        if mixed_nodes:
            raise InputError("--mixed-nodes", found="--engine local: one machine", expected="--engine ray")
        workers = workers or min(MOST_THREADS if threads else MOST, os.cpu_count() or 1)
        with nullcontext(Threads(workers)) if threads else Local(workers) as engine:
            yield engine
        return
    MissingExtra.check("ray", purpose="--engine ray")
    address = os.environ.get("RAY_ADDRESS", "")
    if address.startswith("ray://"):
        raise InputError(
            "RAY_ADDRESS",
            found=f"{address} is an address of Ray Client",
            expected="HOST:PORT of a cluster, or auto",
            do="Run the command on a cluster node that can read the workspace",
        )
    from loaders.engines.on_ray import OnRay  # here, as it imports Ray

    with OnRay(address or None, workers, mixed_nodes=mixed_nodes) as cluster:
        yield cluster


def in_threads(engine: Engine) -> Engine:
    """The engine for work that releases the GIL: threads instead of processes on this machine."""
    return Threads(min(engine.slots, os.cpu_count() or 1)) if isinstance(engine, Local) else engine
