"""The loopback Hub as a fixture, in an environment where the client library speaks plain LFS to it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

# Several tests run side by side, and networks of a test are tiny: threads of OpenMP would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# huggingface_hub reads these when it is first imported, which is after this file.
os.environ["HF_HUB_DISABLE_XET"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

from scripts.loopback_hub.hub import LoopbackHub
from scripts.terminal.stopping import hear

hear()
# To look for garbage among thousands of modules and tests is a third of their collection; what is there then stays.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub() as loopback:
        yield loopback
