"""A build on a Ray cluster of two nodes: the bytes of one process, whatever dies meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from builders import recipe as recipes
from builders.curation.output import curate_set
from builders.pipeline.run import Run, run
from builders.recipe import recipe_of
from loaders.engines.choice import EngineName, opened
from loaders.engines.engine import Engine
from loaders.errors import BedsideError, InputError
from loaders.files.bucket import Bucket
from loaders.files.stores import Folder
from tests.parts.chat_server import ChatServer
from tests.parts.pictures import drawn, jpeg
from tests.parts.places import ROOT
from tests.parts.waiting import wait_until

pytest.importorskip("ray", reason="needs the extra `ray`")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Ray's local clusters of several nodes are for Linux")

# A stage in a module of its own, so that workers can import it; each batch leaves a line in a log.
TOY = """
import os, signal, sys, time
from functools import partial
from pathlib import Path
import pyarrow as pa
from builders.pipeline.run import run
from builders.pipeline.stage import Excluded, Stage
from loaders.engines.choice import EngineName, opened
from loaders.errors import BedsideError
from loaders.files.bucket import Bucket

FACTOR = 2
SLOW = .7
SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int64())])

def source():
    return ({"id": f"r{i:03}", "n": i} for i in range(48))

def double(log, mood, rows):
    with open(log, "a") as file:
        file.write(f"{rows[0]['id']} {os.getpid()}\\n")
    first = not Path(f"{log}.{rows[0]['id']}").exists()
    Path(f"{log}.{rows[0]['id']}").touch()
    if mood == "slow":
        time.sleep(SLOW)
    if mood == "stands" and rows[0]["id"] == "r016" and first:
        time.sleep(600)
    if mood == "full":
        raise BedsideError("the workspace", found="the disk is full")
    if rows[0]["id"] == "r016" and (mood == "dies" or mood == "dies once" and first):
        os.kill(os.getpid(), signal.SIGKILL)
    return [Excluded("third", row["id"]) if row["n"] % 3 == 0 else {"n": row["n"] * FACTOR} for row in rows]

def build(engine, workspace, log, mood="", bucket=""):
    stages = [Stage(name, SCHEMA, SCHEMA, partial(double, log, mood)) for name in ("double", "again")]
    given = {"key": "id", "workspace": Path(workspace), "source_identity": "toy", "batch_rows": 4}
    if bucket:
        given["store"] = Bucket(bucket)
    return run(source(), stages, engine=engine, **given)

class Nap:
    packages, floats = (), False

    def __call__(self, name, unit):
        time.sleep(unit)

    def told(self, unit):
        return f"a nap of {unit} s"

def main():
    with opened(EngineName.RAY) as engine:
        build(engine, *sys.argv[1:])
"""


@pytest.fixture(scope="session")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of modules that all nodes know."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "toy_on_ray.py").write_text(TOY)
    return folder


@pytest.fixture(scope="session")
def cluster(modules: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Two nodes with a processor each; that a node is gone is noticed within seconds."""
    if find_spec("moto") and find_spec("s3fs"):
        request.getfixturevalue("object_store")  # nodes know its address and key by themselves, too
    from ray.cluster_utils import Cluster

    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{ROOT}:{modules}"
    os.environ.setdefault("LOCAL_API_KEY", "none")  # nodes know the keys of models by themselves
    head = {"num_cpus": 1, "include_dashboard": False, "_system_config": quick}
    started = Cluster(initialize_head=True, head_node_args=head)
    try:
        started.add_node(num_cpus=1)
        yield started
    finally:
        started.shutdown()
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


@pytest.fixture(scope="session")
def connected(cluster: Any) -> Iterator[Callable[[], Engine]]:
    """One connection for many tests, and a new one after a test that had its own: worker processes live as long as a
    connection, and what they import takes longer than what they do here."""
    import ray

    with ExitStack() as stack:
        engines: list[Engine] = []

        def connect() -> Engine:
            if not engines or not ray.is_initialized():
                engines.append(stack.enter_context(opened(EngineName.RAY)))
            return engines[-1]

        yield connect


@pytest.fixture
def engine(cluster: Any, connected: Callable[[], Engine], monkeypatch: pytest.MonkeyPatch, toy: Any) -> Engine:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    return connected()


@pytest.fixture
def toy(modules: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(modules))
    monkeypatch.delitem(sys.modules, "toy_on_ray", raising=False)
    import toy_on_ray  # type: ignore[import-not-found]

    return toy_on_ray


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.long)])
def bucket(request: pytest.FixtureRequest) -> str:
    """The address of a bucket, or "" where the workspace is a folder."""
    return str(request.getfixturevalue("object_store").bucket()) if request.param == "bucket" else ""


def opened_anew(workers: int | None = None, **how: bool) -> Any:
    import ray

    ray.shutdown()  # the fixture's, which closes once more without harm
    return opened(EngineName.RAY, workers, **how)


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.suffix}


def told(done: Run) -> tuple[Any, ...]:
    return list(done.rows()), list(done.exclusions()), done.stages


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.parametrize(
    ("corpus", "options"),
    [
        ("medlaybench-v", {"captions": "sample", "limit": 24}),
        ("3mdbench", {"sources": ("sample",), "limit": 16}),
        ("medconceal", {"source": "sample"}),
    ],
)
def test_the_sample_of_each_recipe_is_the_same_bytes(
    corpus: str, options: dict[str, Any], engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(corpus)
    chosen = recipe.options(**options)
    recipes.build(recipe, chosen, tmp_path / "local", workspace=tmp_path / "l")
    monkeypatch.setattr(recipes, "run", partial(run, batch_rows=8))  # the sample would be one batch
    recipes.build(recipe, chosen, tmp_path / "ray", workspace=tmp_path / "r", engine=engine)
    assert files(tmp_path / "ray") == files(tmp_path / "local")


def test_nodes_ask_a_model_and_the_driver_has_all_answers(
    engine: Engine, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of("medlaybench-v")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setattr(recipes, "run", partial(run, batch_rows=2))
    with ChatServer('{"layman_caption": "A picture."}') as server:
        model = {"model": "openai-api/local/m", "base_url": (server.base_url,), "concurrency": 64}
        chosen = recipe.options(captions="sample", limit=16, **model)
        with monkeypatch.context() as patch:
            patch.delattr("builders.pipeline.overlap.overlapped")  # here: what asks does so on the nodes
            there = Bucket(f"{bucket}/r") if bucket else None
            recipes.build(recipe, chosen, tmp_path / "ray", workspace=tmp_path / "r", store=there, engine=engine)
        asked = len(server.requests)
        assert asked >= 16 and not (tmp_path / "r" / "answers.parts").exists()
        kept = there or Folder(tmp_path / "r")
        then = Bucket(f"{bucket}/l") if bucket else Folder(tmp_path / "l")
        for name in kept.list("answers") if bucket else ["answers.sqlite"]:
            then.put(name, kept.read(name) or b"")
        given = {"store": then} if bucket else {}
        recipes.build(recipe, chosen, tmp_path / "local", workspace=tmp_path / "l", **given)
        assert len(server.requests) == asked
    assert files(tmp_path / "ray") == files(tmp_path / "local")


def test_curation_is_the_same_bytes(engine: Engine, tmp_path: Path) -> None:
    photos = [drawn(at, (160, 120)) for at in range(12)]
    for at, photo in enumerate([*photos, *(photo.resize((120, 90)) for photo in photos)]):
        (tmp_path / "photos").mkdir(exist_ok=True)
        (tmp_path / "photos" / f"{at}.jpg").write_bytes(jpeg(photo))
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"no picture")
    for name, who in (("here", None), ("there", engine)):
        curate_set(str(tmp_path / "photos"), tmp_path / name, engine=who)
    assert files(tmp_path / "there").keys() > {"photos.parquet", "report.html"}
    for name in ("photos.parquet", "report.html"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert len(engine.machines) == 1


def test_a_machine_of_another_kind_is_refused_where_numbers_have_a_point(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(jpeg(drawn(1, (160, 120))))
    monkeypatch.setattr("loaders.engines.fingerprints.machine", lambda: "z80 BCD")
    with pytest.raises(InputError, match=r"another machine \(.*\) \(expected z80 BCD, .* with --mixed-nodes"):
        curate_set(str(tmp_path / "photos"), tmp_path / "out", engine=engine)
    with opened_anew(mixed_nodes=True) as mixed:
        curate_set(str(tmp_path / "photos"), tmp_path / "out", engine=mixed)


def test_a_killed_worker_costs_a_batch_and_no_byte(engine: Engine, toy: Any, tmp_path: Path) -> None:
    calm = toy.build(None, tmp_path / "calm", tmp_path / "calls")
    done = toy.build(engine, tmp_path / "killed", tmp_path / "log", "dies once")
    assert told(done) == told(calm)
    assert files(tmp_path / "killed") == files(tmp_path / "calm")
    assert len([line for line in lines(tmp_path / "log") if line.startswith("r016 ")]) >= 3


def test_what_always_dies_is_one_error_and_errors_arrive_whole(
    engine: Engine, toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loaders.engines.on_ray.RETRIES", 1)
    with pytest.raises(BedsideError, match=r"stage double: rows r016 to r019: a worker or node ended 2 times"):
        toy.build(engine, tmp_path / "w", tmp_path / "log", "dies")
    assert len([line for line in lines(tmp_path / "log") if line.startswith("r016 ")]) == 2
    with pytest.raises(BedsideError, match=r"^the workspace: the disk is full$"):
        toy.build(engine, tmp_path / "v", tmp_path / "log", "full")


def test_what_is_given_up_is_not_cancelled(engine: Engine, toy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside an answer that arrives, that is a race which now and then kills the driver: nothing to test by trying."""
    monkeypatch.setattr("ray.cancel", lambda *_, **__: pytest.fail("cancelled"))
    work = engine.each(toy.Nap(), ((str(at), 0.01) for at in range(8)), where="naps")
    next(work)
    work.close()
    assert len(list(engine.each(toy.Nap(), ((str(at), 0.01) for at in range(8)), where="naps"))) == 8


@pytest.mark.parametrize(("workers", "ahead"), [(1, 1), (2, 4)])
def test_as_many_units_again_wait_where_the_cluster_allows_no_more_at_once(
    cluster: Any, toy: Any, monkeypatch: pytest.MonkeyPatch, workers: int, ahead: int
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    left = iter(range(8))
    with opened_anew(workers) as two_processors:
        work = two_processors.each(toy.Nap(), ((str(at), 0.01) for at in left), where="naps")
        next(work)
        assert next(left) == ahead + 1  # one more was asked for, which waits until the first is finished
        assert len([*work]) == 6  # beside the one that was taken to look


def test_what_takes_long_on_one_node_is_done_by_another(
    engine: Engine, toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loaders.engines.on_ray.SHORT", 0.5)
    done = toy.build(engine, tmp_path / "w", tmp_path / "log", "stands")
    assert told(done) == told(toy.build(None, tmp_path / "calm", tmp_path / "calls"))
    assert len([line for line in lines(tmp_path / "log") if line.startswith("r016 ")]) == 3  # twice in one stage


def test_a_killed_node_costs_its_batches_and_no_byte(
    engine: Engine, cluster: Any, toy: Any, bucket: str, tmp_path: Path
) -> None:
    lost = cluster.add_node(num_cpus=2)
    log = tmp_path / "log"

    def kill() -> None:
        wait_until(lambda: len(lines(log)) >= 4)
        cluster.remove_node(lost, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    done = toy.build(engine, tmp_path / "killed", log, "slow", bucket)
    killer.join()
    assert told(done) == told(toy.build(None, tmp_path / "calm", tmp_path / "calls"))


def test_a_killed_driver_is_resumed_by_the_other_engine(
    engine: Engine, toy: Any, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, workspace = tmp_path / "log", tmp_path / "killed"
    command = [sys.executable, "-c", "import toy_on_ray; toy_on_ray.main()", str(workspace), str(log), "slow", bucket]
    driver = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE)
    store = Bucket(bucket) if bucket else Folder(workspace)
    wait_until(lambda: len(store.list("results")) >= 4)
    driver.kill()
    driver.communicate()
    kept = len([name for name in store.list("results") if name.endswith(".json")]) - 1  # one is the source's
    monkeypatch.setattr(toy, "SLOW", 0)
    done = toy.build(None, workspace, log, "slow", bucket)
    # Of this process alone: the dead driver's workers may go on for a moment, and keep what they end meanwhile.
    assert 0 < len([line for line in lines(log) if line.endswith(f" {os.getpid()}")]) <= 2 * 12 - kept
    assert told(done) == told(toy.build(None, tmp_path / "calm", tmp_path / "calls"))


def test_a_node_without_the_folder_of_the_command_takes_part_where_no_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loaders.engines import on_ray

    monkeypatch.chdir(tmp_path)
    on_ray._enter(str(tmp_path / "gone"), True)
    assert Path.cwd() == tmp_path
    with pytest.raises(InputError, match=r"node .*: does not see .*/gone"):
        on_ray._enter(str(tmp_path / "gone"), False)
    (tmp_path / "here").mkdir()
    on_ray._enter(str(tmp_path / "here"), True)
    assert Path.cwd() == tmp_path / "here"


def test_a_node_with_other_code_is_refused(
    engine: Engine, cluster: Any, toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy_on_ray.py").write_text(TOY.replace("FACTOR = 2", "FACTOR = 3"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{tmp_path}")
    other = cluster.add_node(num_cpus=4)
    try:
        with pytest.raises(
            InputError, match=r"node .*: other code \(\w{12}…\) \(expected \w{12}…, as the driver has\)"
        ):
            toy.build(engine, tmp_path / "w", tmp_path / "log", "slow")
    finally:
        cluster.remove_node(other, allow_graceful=False)
    assert told(toy.build(engine, tmp_path / "w", tmp_path / "log")) == told(
        toy.build(None, tmp_path / "c", tmp_path / "log")
    )
