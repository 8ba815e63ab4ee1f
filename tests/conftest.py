"""What many tests share: the loopback Hub, in an environment where the client library speaks plain LFS to it, and
consultations that were played."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
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


SLOWEST = """
test_engine_ray.py test_fuzz.py test_demo.py test_classifier.py test_deadline.py test_pages.py test_stopping.py
test_clinician.py test_in_browser.py test_reached_builds.py test_new.py test_chat.py test_captioning.py
""".split()
"""Files with a test that takes a processor for eight seconds, or waits as long: as measured, the longest first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long begins first: begun late it ends last, alone. Where workers share the tests those of a file then
    stay with one, so that a cluster is started once."""
    items.sort(key=lambda item: SLOWEST.index(item.path.name) if item.path.name in SLOWEST else len(SLOWEST))


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
    # As often as usual, what the tests import is looked through again and again: an eighth of their time.
    gc.set_threshold(10_000, 20, 50)


Once = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """What makes a folder, by its name: the first of several workers, for all of them. Nobody changes what is in it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def made(name: str, make: Callable[[Path], object]) -> Path:
        from filelock import FileLock

        folder, done = shared / name, shared / f"{name}.made"
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not done.exists():
                make(folder)
                done.touch()
        return folder

    return made


def _by(*command: object) -> Callable[[Path], object]:
    """A folder as a command writes it."""

    def make(out: Path) -> None:
        from scripts.cli import execute

        assert execute([*map(str, command), "--quiet", "--out", str(out)]) == 0

    return make


@pytest.fixture(scope="session")
def photos(once: Once) -> Path:
    """A small release of 3MDBench with photos."""
    from tests.parts.played_consultations import write_cases

    return once("photos/release", lambda folder: write_cases(folder, 6))


@pytest.fixture(scope="session")
def played(photos: Path, once: Once) -> Path:
    """A run of consultations over them by scripted agents."""
    agents = ("--doctor", "scripted/keyword", "--patient", "scripted/patient", "--assessor", "scripted/assessor")
    return once("played/run", _by("run", "consultation", photos, "--bare", "--resamples", 20, *agents))


@pytest.fixture(scope="session")
def captions(once: Once) -> Path:
    """A release of MedLayBench-V's bundled sample."""
    return once("captions/release", _by("build", "medlaybench-v", "--captions", "sample"))


@pytest.fixture(scope="session")
def patients(once: Once) -> Path:
    """A release of MedConceal's bundled sample."""
    return once("patients/release", _by("build", "medconceal", "--source", "sample"))


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
