"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 300.0
"""Seconds. What takes one on an idle machine takes sixty among other tests on a busy one; only what hangs waits as long
as this."""


def wait_until(holds: Callable[[], bool], pause: float = 0.05) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(pause)
