"""Tells whoever shows progress what requests are waiting for: a run that waits a minute must not look dead.

with watched(bars.tell):
    ...     # told "waiting 30 s: rate limit" while any request waits for its next try, and "" once none does
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Global to the process, since whoever shows progress and whoever asks a model do not know each other.
_watchers: list[Callable[[str], None]] = []
_waits: list[str] = []


@contextmanager
def watched(tell: Callable[[str], None]) -> Iterator[None]:
    """Calls `tell` with what is being waited for (the latest wait), and with an empty text once nothing is."""
    _watchers.append(tell)
    try:
        yield
    finally:
        _watchers.remove(tell)


@contextmanager
def waiting(reason: str, seconds: float) -> Iterator[None]:
    """Registers a wait of so many seconds while it lasts."""
    said = f"waiting {seconds:.0f} s: {reason}"
    _waits.append(said)
    _tell()
    try:
        yield
    finally:
        _waits.remove(said)
        _tell()


def _tell() -> None:
    for tell in _watchers:
        tell(_waits[-1] if _waits else "")
