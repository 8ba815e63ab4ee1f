"""What every engine promises, without Ray: any order of completion gives the same bytes; the first result stands."""

from __future__ import annotations

import os
import random
from collections.abc import Generator, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from builders.pipeline.run import run
from builders.pipeline.stage import Excluded, Stage
from builders.pipeline.workspace import Batch, Result, Workspace
from loaders.engines import fingerprints
from loaders.engines.choice import EngineName, opened
from loaders.engines.engine import Done, Task
from loaders.engines.threads import Threads
from loaders.errors import InputError, MissingExtra
from loaders.files.disk import write_first

SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int64())])


class Shuffled:
    """An engine whose units end in an order of chance, some of them done twice, as by a node thought dead."""

    slots, machines, spread = 3, (), False

    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        left = list(units)
        left += self._draw.sample(left, len(left) // 3)
        self._draw.shuffle(left)
        told: set[str] = set()
        for name, unit in left:
            done = task(name, unit)
            if name not in told:
                yield name, done
            told.add(name)


def halves(rows: Any) -> Any:
    return [Excluded("odd", row["id"]) if row["n"] % 2 else {"n": row["n"] // 2} for row in rows]


@pytest.fixture(scope="module")
def in_order(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, ...]:
    return built(tmp_path_factory.mktemp("in_order"))


def built(at: Path, engine: Any = None) -> tuple[Any, ...]:
    source = ({"id": f"r{i:02}", "n": i * (i % 5)} for i in range(18))
    stages = [Stage(name, SCHEMA, SCHEMA, halves) for name in ("one", "two")]
    done = run(source, stages, key="id", workspace=at, source_identity="x", batch_rows=3, engine=engine)
    stored = {path.relative_to(at).as_posix(): path.read_bytes() for path in at.rglob("*") if path.suffix}
    return list(done.rows()), list(done.exclusions()), done.stages, stored


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_completion_gives_the_same_bytes(seed: int, in_order: tuple[Any, ...], tmp_path: Path) -> None:
    assert built(tmp_path, Shuffled(seed)) == in_order


def test_the_first_of_two_writers_of_a_name_has_made_it(tmp_path: Path) -> None:
    with Workspace(tmp_path).store.held(tmp_path):
        pass
    batches = [Workspace(tmp_path).write(pa.table({"n": [n]})) for n in range(8)]
    with ThreadPoolExecutor(8) as pool:
        stood = list(pool.map(lambda batch: Workspace(tmp_path).save("name", Result(1, (batch,))), batches))
    assert len(set(stood)) == 1 and Workspace(tmp_path).load("name") == stood[0]
    (tmp_path / "batches" / f"{stood[0].kept[0].digest}.parquet").unlink()  # of no use to anybody now
    other = next(batch for batch in batches if batch != stood[0].kept[0])
    assert Workspace(tmp_path).save("name", Result(1, (other,))).kept == (other,)
    assert Workspace(tmp_path).load("name") == Result(1, (Batch(other.digest, 1),))


@pytest.mark.parametrize("links", [True, False], ids=["", "where files have one name"])
def test_what_is_there_is_left_as_it_is(links: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*names: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not links:
        monkeypatch.setattr(os, "link", refuse)
    assert write_first(tmp_path / "a" / "one", b"first")
    assert not write_first(tmp_path / "a" / "one", b"second")
    assert [(path.name, path.read_bytes()) for path in (tmp_path / "a").iterdir()] == [("one", b"first")]


class Numbers:
    packages, floats = ("numpy", "no-such-package"), True

    def __call__(self, name: str, unit: int) -> int:
        return unit

    def told(self, unit: int) -> str:
        return str(unit)


class Doubled:
    """A task whose units end at once."""

    packages, floats = (), False

    def __call__(self, name: str, unit: int) -> int:
        return 2 * unit

    def told(self, unit: int) -> str:
        return str(unit)


@pytest.mark.parametrize("workers", [1, 3])
def test_each_result_has_the_name_of_its_unit(workers: int) -> None:
    units = ((str(number), number) for number in range(200))
    assert dict(Threads(workers).each(Doubled(), units, where="here")) == {str(one): 2 * one for one in range(200)}


@pytest.mark.parametrize("threads", [False, True])
def test_as_many_work_as_are_named(threads: bool) -> None:
    with opened(workers=37, threads=threads) as engine, engine.narrowed(36) as fewer:
        assert (engine.slots, fewer.slots) == (37, 36)


def test_what_differs_between_two_processes_is_named() -> None:
    here = fingerprints.fingerprint(Numbers())
    assert list(here.differences(here, machine=True)) == []
    assert here.versions[1] == ("no-such-package", "not installed")
    other = replace(here, code="f" * 64, python="3.99", versions=(("numpy", "9"), here.versions[1]), machine="z80 BCD")
    found = [text for text, _ in other.differences(here, machine=True)]
    assert found == ["other code (ffffffffffff…)", "Python 3.99", "numpy 9", "another machine (z80 BCD)"]
    assert len(list(other.differences(here, machine=False))) == 3


def test_nodes_of_one_machine_cannot_be_mixed() -> None:
    with pytest.raises(InputError, match=r"--mixed-nodes.*expected --engine ray"), opened(mixed_nodes=True):
        pass


def test_ray_client_and_absent_clusters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loaders.errors.missing", lambda extra: None)
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    with (
        pytest.raises(InputError, match=r"Run the command on a cluster node that can read the workspace"),
        opened(EngineName.RAY),
    ):
        pass
    monkeypatch.setattr("loaders.errors.missing", lambda extra: "ray")
    with pytest.raises(MissingExtra, match=r"\[ray\]"), opened(EngineName.RAY):
        pass
