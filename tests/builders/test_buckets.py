"""A build whose workspace lies in a bucket: the bytes of one in a folder, whatever fails meanwhile."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from builders import recipe as recipes
from builders.pipeline.rows import Row
from builders.pipeline.run import Run, run
from builders.pipeline.stage import Excluded, Stage
from builders.recipe import recipe_of
from loaders.engines.choice import opened
from loaders.errors import BedsideError
from loaders.files import lease
from loaders.files.bad_rows import BadRow
from loaders.files.bucket import Bucket
from scripts.cli import execute
from tests.builders.test_sight import hiding
from tests.parts.chat_server import ChatServer
from tests.parts.object_store import KEY, SECRET
from tests.parts.processes import started
from tests.parts.small_release import files_of

# Batches of 8 rows: the sample would be one batch.
DRIVER = """
import sys
from functools import partial
from pathlib import Path
from builders import recipe as recipes
from builders.pipeline.run import run
from loaders.files.bucket import Bucket

recipes.run = partial(run, batch_rows=8)
recipe, out = recipes.recipe_of("medlaybench-v"), Path(sys.argv[2])
chosen = recipe.options(captions="sample", limit=24)
recipes.build(recipe, chosen, out, workspace=out.with_name("killed.work"), store=Bucket(sys.argv[1]))
"""
RESULTS = 11  # of the source, of all ids, and of three batches in three stages


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The release as a folder gives it."""
    place = tmp_path_factory.mktemp("calm")
    return built(place / "out", None)


def built(out: Path, store: str | None, **more: Any) -> Path:
    recipe = recipe_of("medlaybench-v")
    chosen = recipe.options(captions="sample", limit=24, **more.pop("options", {}))
    place = {"workspace": out.with_name(f"{out.name}.work"), "store": Bucket(store) if store else None}
    recipes.build(recipe, chosen, out, **place, **more)
    return out


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipes, "run", partial(run, batch_rows=8))


def test_the_command_takes_a_bucket_and_tells_nobody(
    object_store: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket, out = object_store.bucket(), tmp_path / "out"
    command = ["build", "medlaybench-v", "--captions", "sample", "--limit", "9", "--workers", "1", "--out", str(out)]
    assert execute([*command, "--work", f"{bucket}/a/"]) == 0
    said = "".join(capsys.readouterr()) + "".join(
        path.read_text("latin-1") for path in tmp_path.rglob("*") if path.is_file()
    )
    said += "".join(str(Bucket(f"{bucket}/a").read(name)) for name in Bucket(f"{bucket}/a").list("results"))
    assert bucket not in said and KEY not in said and SECRET not in said
    assert Bucket(bucket).list("a")


def test_paid_answers_are_found_on_another_machine(
    object_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = object_store.bucket()
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setattr(lease, "LASTS", 0.0)

    def expire(method: str, path: str) -> tuple[int, str] | None:
        return (400, "ExpiredToken") if object_store.seen("PUT", f"{bucket[5:]}/answers/") > 12 else None

    with ChatServer('{"layman_caption": "A picture."}') as server:
        asks = {"options": {"model": "openai-api/local/m", "base_url": (server.base_url,), "concurrency": 4}}
        built(tmp_path / "calm", None, **asks)
        needed = len(server.requests)
        with object_store.refusing(expire), pytest.raises(BedsideError, match=r"refuses \(ExpiredToken\)"):
            built(tmp_path / "out", bucket, **asks)
        paid = len(Bucket(bucket).list("answers"))
        assert paid == 12 and len(server.requests) - needed <= 12 + 3 * 4
        before = len(server.requests)
        built(tmp_path / "elsewhere" / "out", bucket, **asks)
        assert len(server.requests) - before == needed - paid
    assert files_of(tmp_path / "elsewhere" / "out") == files_of(tmp_path / "calm")
    assert not list((tmp_path / "elsewhere").rglob("answers*"))


@pytest.mark.long
def test_a_killed_driver_is_resumed_on_another_machine(
    calm: Path, object_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket, there = object_store.bucket(), tmp_path / "there"
    driver = started("-c", DRIVER, bucket, tmp_path / "out")
    name = f"{bucket[5:]}/results/"

    def kill(method: str, path: str) -> None:
        if method == "PUT" and name in path and object_store.seen("PUT", name) == 6:
            driver.kill()

    with object_store.refusing(kill):
        driver.communicate(timeout=120)
    assert driver.returncode == -9 and not (tmp_path / "out").exists()
    kept = len(Bucket(bucket).list("results"))
    assert 5 <= kept <= 6
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.raises(
        BedsideError, match=rf"^{bucket}: another build is using this workspace \(process {driver.pid} "
    ):
        built(there / "out", bucket)
    monkeypatch.setattr(lease, "LASTS", 0.0)
    monkeypatch.setattr("builders.release.parts.opened", partial(opened, workers=1))
    before = object_store.seen("PUT", name)
    built(there / "out", bucket, engine=hiding(there))  # by nodes that see nothing of that machine
    assert object_store.seen("PUT", name) - before == RESULTS - kept
    assert files_of(there / "out") == files_of(calm)
    assert {path.name for path in (there / "out.work").iterdir()} == {"lock", "owner"}


SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int64())])


def counted(store: Bucket, own: Path) -> Run:
    """Twelve batches through two stages: 25 results with that of the source."""
    rows = ({"id": f"r{at:02}", "n": at} for at in range(48))
    chain = [Stage(name, SCHEMA, SCHEMA, _one_more) for name in ("one", "two")]
    return run(rows, chain, key="id", workspace=own, store=store, source_identity="toy", batch_rows=4)


def _one_more(rows: Collection[Row]) -> list[Row | Excluded]:
    return [{"n": row["n"] + 1} for row in rows]


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [(503, "ServiceUnavailable", "not answer"), (400, "ExpiredToken", "refuses"), (404, "NoSuchBucket", "no such")],
)
def test_a_store_that_fails_in_the_middle_ends_the_build_and_loses_nothing(
    status: int, code: str, told: str, object_store: Any, tmp_path: Path
) -> None:
    store = Bucket(object_store.bucket())

    def written() -> int:
        return int(object_store.seen("PUT", f"{str(store)[5:]}/results/"))

    with (
        object_store.refusing(lambda method, path: (status, code) if written() > 8 else None),
        pytest.raises(BedsideError, match=told),
    ):
        counted(store, tmp_path)
    assert len(store.list("results")) == 8
    before = written()
    done = counted(store, tmp_path)  # its own lease, which does not say that it ended, is no other's
    assert written() - before == 25 - 8 and [row["n"] for row in done.rows()] == list(range(2, 50))


def test_a_damaged_batch_is_named(object_store: Any, tmp_path: Path) -> None:
    bucket = Bucket(object_store.bucket())
    done = counted(bucket, tmp_path)
    for name in bucket.list("batches"):
        bucket.put(name, b"other")
    with pytest.raises(BedsideError, match=rf"^{bucket}/batches/\w+\.parquet: the file is damaged"):
        list(done.rows())


def test_rows_that_cannot_be_read_are_listed_on_this_machine(object_store: Any, tmp_path: Path) -> None:
    rows = [BadRow("table:3", reason="cut off"), *({"id": f"r{at}", "n": at} for at in range(3))]
    chain = [Stage("one", SCHEMA, SCHEMA, _one_more)]
    given = {"store": Bucket(object_store.bucket()), "workspace": tmp_path, "source_identity": "toy", "max_bad": 50}
    assert len(list(run(rows, chain, key="id", **given).rows())) == 3
    assert "table:3" in (tmp_path / "unread.jsonl").read_text()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("medconceal", "--source", "sample"), "it is private"),
        (("3mdbench", "--source", "sample"), "its photos are opened by path"),
    ],
)
def test_what_a_bucket_cannot_hold_is_refused_before_anything_is_done(
    command: tuple[str, ...], told: str, object_store: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bucket, asked = object_store.bucket(), len(object_store.requests)
    assert execute(["build", *command, "--out", str(tmp_path / "out"), "--work", f"{bucket}/a"]) == 2
    said = re.sub(r"\s+", " ", capsys.readouterr().err)
    assert f"cannot lie in a bucket: {told}" in said and "Set --work to a folder on a disk" in said
    assert not list(tmp_path.iterdir()) and len(object_store.requests) == asked
