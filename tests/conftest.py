"""What many tests share: the loopback Hub, in an environment where the client library speaks plain LFS to it, and
consultations that were played."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# Several tests run side by side, and networks of a test are tiny: threads of OpenMP would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# huggingface_hub reads these when it is first imported, which is after this file.
os.environ["HF_HUB_DISABLE_XET"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"

from scripts.terminal.stopping import hear
from tests.parts.faulty_hub import FaultyHub

if TYPE_CHECKING:
    from tests.parts.object_store import ObjectStore

hear()
if find_spec("hypothesis"):  # the environments of scispaCy and MedCAT have none
    from hypothesis import settings

    # A case may take as long as a busy machine needs.
    settings.register_profile("bedside", deadline=None)
    settings.load_profile("bedside")
# To look for garbage among thousands of modules and tests is a third of their collection; what is there then stays.
gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes begins first: begun late it ends last, alone. Where workers share the tests these then stay
    with one, so that a cluster is started once."""
    items.sort(key=lambda item: item.path.name not in ("test_engine_ray.py", "test_fuzz.py"))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    # As often as usual, what the tests import is looked through again and again: an eighth of their time.
    gc.set_threshold(10_000, 20, 50)


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release of 3MDBench with photos, made once; nobody changes it."""
    from tests.parts.played_consultations import write_cases

    return write_cases(tmp_path_factory.mktemp("photos") / "release", 6)


@pytest.fixture(scope="session")
def played(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of consultations over them by scripted agents, played once; nobody changes it."""
    from scripts.cli import execute

    out = tmp_path_factory.mktemp("played") / "run"
    agents = ("--doctor", "scripted/keyword", "--patient", "scripted/patient", "--assessor", "scripted/assessor")
    assert execute(["run", "consultation", str(photos), "-o", str(out), "--bare", "--resamples", "20", *agents]) == 0
    return out


@pytest.fixture(scope="session")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of MedLayBench-V's bundled sample, made once; nobody changes it."""
    return _built(tmp_path_factory, "medlaybench-v", "--captions", "sample")


@pytest.fixture(scope="session")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of MedConceal's bundled sample, made once; nobody changes it."""
    return _built(tmp_path_factory, "medconceal", "--source", "sample")


def _built(tmp_path_factory: pytest.TempPathFactory, corpus: str, *source: str) -> Path:
    from scripts.cli import execute

    out = tmp_path_factory.mktemp(corpus) / "release"
    assert execute(["build", corpus, *source, "--out", str(out), "--quiet"]) == 0
    return out


@pytest.fixture
def hub() -> Iterator[FaultyHub]:
    with FaultyHub() as loopback:
        yield loopback


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectStore]:
    """A store of objects that speaks as Amazon's does, started once; its clients find it in the environment."""
    pytest.importorskip("s3fs", reason="needs the extra `s3`")
    pytest.importorskip("moto", reason="needs the extra `test`")
    from loaders.files.bucket import client
    from tests.parts.object_store import ObjectStore

    with ObjectStore().running() as store, pytest.MonkeyPatch.context() as patch:
        for name, value in store.variables.items():
            patch.setenv(name, value)
        yield store
        client.cache_clear()
