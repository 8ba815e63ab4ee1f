"""A build on a Ray cluster of two nodes: the bytes of one process, whatever dies meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
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
    return ({"id": f"r{i:03}", "n": i} for i in range(32))

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


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of modules that all nodes know."""
    folder = tmp_path_factory.mktemp("modules")
    (folder / "toy_on_ray.py").write_text(TOY)
    return folder


@pytest.fixture(scope="module")
def cluster(modules: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Two nodes with a processor each, which end with these tests: idle ones are not free. That a node is gone is
    noticed within seconds."""
    wanted = any(item.name.endswith("[bucket]") for item in request.session.items)
    if wanted and find_spec("moto") and find_spec("s3fs"):
        request.getfixturevalue("object_store")  # nodes know its address and key by themselves, too
    from ray.cluster_utils import Cluster

    quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 2}
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = f"{ROOT}:{modules}"
    os.environ.setdefault("LOCAL_API_KEY", "none")  # nodes know the keys of models by themselves
    spare = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    head = {"num_cpus": 1, "_system_config": quick, **spare}
    started = Cluster(initialize_head=True, head_node_args=head)
    try:
        started.add_node(num_cpus=1)
        yield started
    finally:
        started.shutdown()
        os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)


@pytest.fixture(scope="module")
def engine(cluster: Any) -> Iterator[Engine]:
    """One connection for all tests: worker processes live as long as it does, and what they import takes longer than
    what they do here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", cluster.address)
        with opened(EngineName.RAY) as engine:
            yield engine


@pytest.fixture
def another(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Opens another engine over the same connection."""
    monkeypatch.setattr("ray.init", lambda **_: None)
    monkeypatch.setattr("ray.shutdown", lambda: None)
    return partial(opened, EngineName.RAY)


@pytest.fixture
def toy(modules: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(modules))
    monkeypatch.delitem(sys.modules, "toy_on_ray", raising=False)
    import toy_on_ray  # type: ignore[import-not-found]

    return toy_on_ray


@pytest.fixture
def calm(toy: Any, tmp_path: Path) -> Run:
    """What a build of the toy by one process gives."""
    return toy.build(None, tmp_path / "calm", tmp_path / "calls")  # type: ignore[no-any-return]


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.long)])
def bucket(request: pytest.FixtureRequest) -> str:
    """The address of a bucket, or "" where the workspace is a folder."""
    return str(request.getfixturevalue("object_store").bucket()) if request.param == "bucket" else ""


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.suffix}


def told(done: Run) -> tuple[Any, ...]:
    return list(done.rows()), list(done.exclusions()), done.stages


def lines(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


@pytest.mark.parametrize(
    ("corpus", "options"),
    [
        ("medlaybench-v", {"captions": "sample", "limit": 8}),
        ("3mdbench", {"sources": ("sample",), "limit": 8}),
        ("medconceal", {"source": "sample"}),
    ],
)
def test_the_sample_of_each_recipe_is_the_same_bytes(
    corpus: str, options: dict[str, Any], engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(corpus)
    chosen = recipe.options(**options)
    recipes.build(recipe, chosen, tmp_path / "local", workspace=tmp_path / "l")
    monkeypatch.setattr(recipes, "run", partial(run, batch_rows=4))  # the sample would be one batch
    recipes.build(recipe, chosen, tmp_path / "ray", workspace=tmp_path / "r", engine=engine)
    assert files(tmp_path / "ray") == files(tmp_path / "local")


def test_nodes_ask_a_model_and_the_driver_has_all_answers(
    engine: Engine, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of("medlaybench-v")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setattr(recipes, "run", partial(run, batch_rows=1))
    with ChatServer('{"layman_caption": "A picture."}') as server:
        model = {"model": "openai-api/local/m", "base_url": (server.base_url,), "concurrency": 64}
        chosen = recipe.options(captions="sample", limit=8, **model)
        with monkeypatch.context() as patch:
            patch.delattr("builders.pipeline.overlap.overlapped")  # here: what asks does so on the nodes
            there = Bucket(f"{bucket}/r") if bucket else None
            recipes.build(recipe, chosen, tmp_path / "ray", workspace=tmp_path / "r", store=there, engine=engine)
        asked = len(server.requests)
        assert asked >= 8 and not (tmp_path / "r" / "answers.parts").exists()
        kept = there or Folder(tmp_path / "r")
        then = Bucket(f"{bucket}/l") if bucket else Folder(tmp_path / "l")
        for name in kept.list("answers") if bucket else ["answers.sqlite"]:
            then.put(name, kept.read(name) or b"")
        given = {"store": then} if bucket else {}
        recipes.build(recipe, chosen, tmp_path / "local", workspace=tmp_path / "l", **given)
        assert len(server.requests) == asked
    assert files(tmp_path / "ray") == files(tmp_path / "local")


def test_curation_is_the_same_bytes(engine: Engine, tmp_path: Path) -> None:
    photos = [drawn(at, (160, 120)) for at in range(6)]
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
    engine: Engine, another: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_bytes(jpeg(drawn(1, (160, 120))))
    monkeypatch.setattr("loaders.engines.fingerprints.machine", lambda: "z80 BCD")
    with pytest.raises(InputError, match=r"another machine \(.*\) \(expected z80 BCD, .* with --mixed-nodes"):
        curate_set(str(tmp_path / "photos"), tmp_path / "out", engine=engine)
    with another(mixed_nodes=True) as mixed:
        curate_set(str(tmp_path / "photos"), tmp_path / "out", engine=mixed)


def test_a_killed_worker_costs_a_batch_and_no_byte(engine: Engine, toy: Any, calm: Run, tmp_path: Path) -> None:
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
    another: Callable[..., Any], toy: Any, workers: int, ahead: int
) -> None:
    left = iter(range(8))
    with another(workers) as two_processors:
        work = two_processors.each(toy.Nap(), ((str(at), 0.01) for at in left), where="naps")
        next(work)
        assert next(left) == ahead + 1  # one more was asked for, which waits until the first is finished
        assert len([*work]) == 6  # beside the one that was taken to look


def test_what_takes_long_on_one_node_is_done_by_another(
    engine: Engine, toy: Any, calm: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loaders.engines.on_ray.SHORT", 0.5)
    done = toy.build(engine, tmp_path / "w", tmp_path / "log", "stands")
    assert told(done) == told(calm)
    assert len([line for line in lines(tmp_path / "log") if line.startswith("r016 ")]) == 3  # twice in one stage


def test_a_killed_node_costs_its_batches_and_no_byte(
    engine: Engine, cluster: Any, toy: Any, calm: Run, bucket: str, tmp_path: Path
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
    assert told(done) == told(calm)


def test_a_killed_driver_is_resumed_by_the_other_engine(
    engine: Engine, toy: Any, calm: Run, bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    assert 0 < len([line for line in lines(log) if line.endswith(f" {os.getpid()}")]) <= 2 * 8 - kept
    assert told(done) == told(calm)


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
    engine: Engine, toy: Any, calm: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "toy_on_ray.py").write_text(TOY.replace("FACTOR = 2", "FACTOR = 3"))
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        patch.delitem(sys.modules, "toy_on_ray")
        import toy_on_ray as other

        with pytest.raises(
            InputError, match=r"node .*: other code \(\w{12}…\) \(expected \w{12}…, as the driver has\)"
        ):
            other.build(engine, tmp_path / "w", tmp_path / "log")
        assert other.FACTOR == 3 and not lines(tmp_path / "log")
    assert told(toy.build(engine, tmp_path / "w", tmp_path / "log")) == told(calm)
