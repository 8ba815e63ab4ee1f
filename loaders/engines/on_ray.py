"""A Ray cluster. The only module that imports Ray: https://docs.ray.io/en/latest/ray-core/tasks.html."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any, Self

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # before the import, so that no usage statistics are sent
os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

try:
    import ray
    from ray.exceptions import OutOfMemoryError, RayError, RayTaskError
except ImportError:
    if find_spec("ray"):
        raise
    # Not installed: `choice.opened` has said so before this is reached, except by tools that read docstrings.

from loaders.engines.engine import Done, Engine, Task
from loaders.engines.fingerprints import Fingerprint, fingerprint, machine
from loaders.engines.local import GRAIN, pickled
from loaders.engines.sight import check_seen, node
from loaders.errors import BedsideError, InputError
from loaders.files.paths import is_folder

RETRIES = 5
"""How often a unit is redone whose worker or node died."""
SLOW = 3.0
"""A unit that takes this many times the median of the others, and at least `SHORT` seconds, is started once more if
slots are free because nothing is left to start."""
SHORT = 10.0
_LOOK = 1.0
"""Seconds between two checks for slow units."""


class OnRay(Engine):
    """The whole cluster, or `workers` units at a time; connected while it is open."""

    grain = GRAIN
    spread = True

    def __init__(self, address: str | None, workers: int | None, *, mixed_nodes: bool) -> None:
        self._address, self._workers, self._mixed = address, workers, mixed_nodes
        self.machines: list[str] = []  # which a narrowed one adds to

    def __enter__(self) -> Self:
        before = signal.getsignal(signal.SIGTERM)
        try:
            _answers(self._address)  # Ray itself would retry for minutes
            ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, RayError) as error:
            told = str(error).strip().splitlines()[:1]
            found = f"no cluster answers ({' '.join(told)})"
            raise InputError(self._address or "Ray", found=found, do=_START) from error
        if signal.getsignal(signal.SIGTERM) is not before:
            signal.signal(signal.SIGTERM, before)  # the command decides what ends it, and how
        processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self.slots = self._workers or processors
        # If the cluster allows no more at once, as many again queue there, so that no worker is idle in between.
        self._window = self.slots if self.slots < processors else 2 * self.slots
        return self

    def __exit__(self, *_: object) -> None:
        ray.shutdown()

    def narrowed(self, slots: int) -> AbstractContextManager[OnRay]:
        narrow = copy(self)
        narrow.slots = narrow._window = min(slots, self.slots)
        return nullcontext(narrow)

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        sent = pickled(task, where)
        # as it will be unpickled there: what was opened here is not part of it
        expected = fingerprint(pickle.loads(sent))
        place = str(Path.cwd()), getattr(task, "anywhere", False)
        at_home = [ray.put(sent)], expected, task.floats and not self._mixed, place
        do = ray.remote(num_cpus=1, max_retries=RETRIES)(_do)
        under_way: dict[Any, _Sent] = {}
        took: list[float] = []

        def send(name: str, unit: Any) -> None:
            under_way[do.remote(*at_home, name, unit)] = _Sent(name, unit, time.monotonic())

        def finished(patience: float | None = None) -> Iterator[tuple[str, Done]]:
            for done in ray.wait([*under_way], timeout=patience, fetch_local=False)[0]:
                sent = under_way[done]
                result, kind = _got(done, where, partial(task.told, sent.unit))
                took.append(time.monotonic() - sent.at)
                for each in [each for each, other in under_way.items() if other.name == sent.name]:
                    del under_way[each]  # the first result wins; the other one runs on unused (see below)
                if task.floats and kind not in self.machines:
                    self.machines.append(kind)
                    self.machines.sort()
                yield sent.name, result

        # Nothing is ever cancelled: `ray.cancel` racing with an arriving result aborts the driver with a failed check
        # of Ray's own (https://github.com/ray-project/ray/pull/54785). What is left ends by itself, or with the
        # command.
        for name, unit in units:
            if len(under_way) >= self._window:
                yield from finished()
            send(name, unit)
        while under_way:
            yield from finished(_LOOK)
            if not getattr(task, "paid", False):
                for late in _slow([*under_way.values()], took, self.slots):
                    send(late.name, late.unit)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A unit in flight, and its start time."""

    name: str
    unit: Any
    at: float


def _slow(under_way: Sequence[_Sent], took: Sequence[float], slots: int) -> list[_Sent]:
    """The last units that should be started once more, so that a slow node does not hold up all others."""
    twice = {name for name, times in Counter(sent.name for sent in under_way).items() if times > 1}
    if not took or len(under_way) >= slots:
        return []
    longest = max(SHORT, SLOW * median(took))
    late = [sent for sent in under_way if sent.name not in twice and time.monotonic() - sent.at > longest]
    return late[: slots - len(under_way)]


def _answers(address: str | None) -> None:
    """Raises: OSError if nobody listens at an address (HOST:PORT)."""
    host, _, port = (address or "").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _got(done: Any, where: str, told: Any) -> Any:
    """The result of a unit. Raises: what the task raised there; BedsideError if no process finished it."""
    try:
        return ray.get(done)
    except RayTaskError as error:
        cause = error.cause
        if isinstance(cause, BaseException) and not isinstance(cause, RayError):
            raise cause from None
        raise BedsideError(where, found=f"{told()}: {_last(error)}", do="Check the cluster's logs") from None
    except OutOfMemoryError as error:
        do = "Run the same command again with fewer workers a node, or smaller batches: finished batches are kept"
        raise BedsideError(where, found=f"{told()}: a node ran out of memory ({_last(error)})", do=do) from None
    except RayError as error:
        found = f"{told()}: a worker or node ended {RETRIES + 1} times before it was done ({_last(error)})"
        raise BedsideError(where, found=found, do="Run the same command again: finished batches are kept") from None


def _last(error: RayError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


_opened: dict[str, Task[Any]] = {}  # in a worker process only: the task that it works on


def _do(
    stage: list[Any], expected: Fingerprint, same_machine: bool, place: tuple[str, bool], name: str, unit: Any
) -> tuple[Any, str]:
    """In a worker: open the task once, refuse to work if results could differ, then work."""
    key = stage[0].hex()
    if key not in _opened:
        _opened.clear()
        _enter(*place)
        try:
            task = pickle.loads(ray.get(stage[0]))
        except (ImportError, AttributeError) as error:
            found, wanted = f"lacks a package ({error})", "the same packages as the driver"
            raise InputError(node(), found=found, expected=wanted, do=_ALIKE) from None
        _check(fingerprint(task), expected, same_machine)
        _opened[key] = task
    return _opened[key](name, unit), machine()


_START = "Start one (`ray start --head`) and name it by RAY_ADDRESS; where it asks for a token, RAY_AUTH_MODE=token"
_ALIKE = "Install the same versions on every node, so that results do not depend on the node"


def _enter(cwd: str, anywhere: bool) -> None:
    """Work in the driver's folder, to which its relative paths refer; if nothing depends on it, only if it is here."""
    if not anywhere or is_folder(Path(cwd)):
        check_seen(Path(cwd))
        os.chdir(cwd)


def _check(here: Fingerprint, expected: Fingerprint, same_machine: bool) -> None:
    differences = list(here.differences(expected, machine=same_machine))
    if differences:
        more = "; or allow such nodes with --mixed-nodes" * (here.machine != expected.machine and same_machine)
        found, wanted = (", ".join(texts) for texts in zip(*differences, strict=True))
        raise InputError(node(), found=found, expected=f"{wanted}, as the driver has", do=f"{_ALIKE}{more}")
