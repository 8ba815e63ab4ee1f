"""The pipeline: accounts, resumption after kill -9, the same bytes for any worker count, and clear errors."""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import filelock
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.progress import Progress

from builders.pipeline.overlap import AT_ONCE
from builders.pipeline.rows import BuildError, Row
from builders.pipeline.run import Run, run
from builders.pipeline.stage import Excluded, Stage
from builders.pipeline.workspace import ExcludedRow
from builders.steps import PLACED, unique
from loaders.engines.local import Local
from loaders.errors import BedsideError, InputError, ModelError
from loaders.files.bad_rows import BadRow
from loaders.files.kinds import AS_UTF8
from loaders.files.texts import NOT_UTF8
from scripts.terminal.progress import Bars
from tests.parts.places import ROOT
from tests.parts.waiting import wait_until

SCHEMA = pa.schema([("id", pa.string()), ("split", pa.string()), ("licence", pa.string()), ("n", pa.int64())])
DOUBLED = SCHEMA.append(pa.field("double", pa.int64()))

# A recipe of three stages, in a module of its own so that other processes can import it. Every batch that one of the
# last two works on leaves a line in a log: stage, first key, process.
TOY = '''
import functools, json, os, signal, sys, time
from pathlib import Path
import pyarrow as pa
from builders.pipeline.run import run
from builders.pipeline.stage import Excluded, Stage
from builders.steps import PLACED, unique
from loaders.engines.local import Local

SCHEMA = pa.schema([("id", pa.string()), ("split", pa.string()), ("licence", pa.string()), ("n", pa.int64())])
DOUBLED = SCHEMA.append(pa.field("double", pa.int64()))

def source(n=40):
    for i in range(n):
        told = {"split": "test" if i % 4 == 0 else "train", "licence": "CC-BY-4.0", "n": i}
        yield {"id": f"r{i:03}", **told, "where": f"row {i}", "says": None}

def called(log, stage, rows):
    with open(log, "a") as file:
        file.write(f"{stage} {rows[0]['id']} {os.getpid()}\\n")

def passed_on(text, rows):
    return rows

def odd(log, rows):
    called(log, "odd", rows)
    return [row if row["n"] % 2 else Excluded("even", f"n = {row['n']}") for row in rows]

def double(log, mood, rows):
    called(log, "double", rows)
    if mood == "slow":
        time.sleep(60)
    if mood == "die" and rows[0]["n"] > 15:
        os.kill(os.getpid(), signal.SIGKILL)
    return [{**row, "double": 2 * row["n"]} for row in rows]

def stages(log, mood=""):
    return [
        unique("id", "rows").stage(pa.schema([*SCHEMA, *PLACED])),
        Stage("odd", SCHEMA, SCHEMA, functools.partial(odd, log), settings={"keep": "odd"}, parallel=False),
        Stage("double", SCHEMA, DOUBLED, functools.partial(double, log, mood)),
    ]

def main(workspace, log, workers, mood, deaths):
    """Run the recipe; die by kill -9 just before or after the given write (0: never)."""
    writes, link = 0, os.link
    def dying(*names):
        nonlocal writes
        writes += 1
        if writes == int(deaths) and writes % 2:
            os.kill(os.getpid(), signal.SIGKILL)
        link(*names)
        if writes == int(deaths):
            os.kill(os.getpid(), signal.SIGKILL)
    if int(deaths):
        os.link = dying
    try:
        with Local(int(workers)) as engine:
            done = run(source(), stages(log, mood), key="id", workspace=Path(workspace), source_identity="toy",
                       batch_rows=8, engine=engine)
    except KeyboardInterrupt as stop:
        sys.exit(str(stop))
    print(json.dumps([list(done.rows()), list(done.exclusions())]))
'''
ALONE = """
import sys
from scripts.terminal import stopping
stopping.end_as_by_ctrl_c()
import toy_recipe
toy_recipe.main(*sys.argv[1:])
"""

KEPT = [
    {"id": f"r{i:03}", "split": "test" if i % 4 == 0 else "train", "licence": "CC-BY-4.0", "n": i, "double": 2 * i}
    for i in range(1, 40, 2)
]


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "toy_recipe.py").write_text(TOY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "toy_recipe", raising=False)
    import toy_recipe  # type: ignore[import-not-found]

    return toy_recipe


def alone(
    tmp_path: Path, workspace: str, *, workers: int = 1, mood: str = "", deaths: int = 0, **variables: str
) -> dict[str, Any]:
    """Arguments for `subprocess`: the recipe in a process of its own."""
    words = [tmp_path / workspace, tmp_path / "calls", workers, mood, deaths]
    path = f"{ROOT}{os.pathsep}{tmp_path}"
    return {
        "args": [sys.executable, "-c", ALONE, *map(str, words)],
        "env": {**os.environ, "PYTHONPATH": path, **variables},
        "text": True,
    }


@pytest.fixture
def calm(toy: Any, tmp_path: Path) -> tuple[str, dict[str, bytes]]:
    """What such a process prints when nothing disturbs it, and the files that it leaves."""
    done = build(
        toy.source(), *toy.stages(tmp_path / "other"), at=tmp_path / "calm", batch_rows=8, source_identity="toy"
    )
    return json.dumps([list(done.rows()), list(done.exclusions())]) + "\n", files(tmp_path / "calm")


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Local]:
    """Two processes for several tests: what they import takes longer than what they do."""
    with Local(2) as engine:
        yield engine


def calls(tmp_path: Path) -> list[str]:
    log = tmp_path / "calls"
    return log.read_text().splitlines() if log.exists() else []


def files(workspace: Path) -> dict[str, bytes]:
    return {p.relative_to(workspace).as_posix(): p.read_bytes() for p in workspace.rglob("*") if p.suffix}


def rows(n: int) -> list[Row]:
    return [{"id": f"r{i}", "split": "train", "licence": None, "n": i} for i in range(n)]


def one(function: Any, **more: Any) -> Stage:
    """A stage around a function."""
    return Stage(**{"name": "s", "schema_in": SCHEMA, "schema_out": SCHEMA, "function": function, **more})


def build(source: Any, *stages: Stage, at: Path, **more: Any) -> Run:
    return run(source, stages, **{"key": "id", "workspace": at, "source_identity": "x", "batch_rows": 4, **more})


# --- accounts ---------------------------------------------------------------------------------------------------------


def test_rows_exclusions_and_counts(toy: Any, tmp_path: Path) -> None:
    done = build(toy.source(), *toy.stages(tmp_path / "calls"), at=tmp_path / "w", batch_rows=8)
    assert list(done.rows()) == KEPT
    excluded = list(done.exclusions())
    assert [row["key"] for row in excluded] == [f"r{i:03}" for i in range(0, 40, 2)]
    assert excluded[1] == {
        "key": "r002",
        "split": "train",
        "stage": "odd",
        "reason": "even",
        "detail": "n = 2",
        "licence": "CC-BY-4.0",
    }
    assert [(s.name, s.rows_in, s.rows_out, s.excluded) for s in done.stages] == [
        ("unique", 40, 40, {}),
        ("odd", 40, 20, {"even": 20}),
        ("double", 20, 20, {}),
    ]
    assert done.schema == DOUBLED


def placed(*said: str) -> list[Row]:
    """Rows by their ids and what they say ("a one"), as they stand in a file with a line of names above them."""
    for_all = {"split": "train", "licence": "CC0-1.0", "n": 0}
    return [
        {**for_all, "id": text.split()[0], "where": f"t.csv:{line}", "says": text} for line, text in enumerate(said, 2)
    ]


def test_unique_keeps_the_first_and_tells_the_rows(tmp_path: Path) -> None:
    source = placed("a one", "b one", "a one")
    source[2] |= {"split": "test", "licence": "CC-BY-4.0"}
    done = build(source, unique("id", "texts").stage(pa.schema([*SCHEMA, *PLACED])), at=tmp_path, batch_rows=1)
    assert list(done.rows()) == [{name: row[name] for name in SCHEMA.names} for row in source[:2]]
    (excluded,) = done.exclusions()
    assert excluded == {
        "key": "a",
        "split": "test",
        "stage": "unique",
        "reason": "duplicate id",
        "detail": "t.csv:4 repeats the id of t.csv:2",
        "licence": "CC-BY-4.0",  # of the row that was excluded, not of the one that was kept
    }


def test_batches_in_which_only_columns_are_dropped_are_not_written_again(tmp_path: Path) -> None:
    """A stage of all rows runs in the driver, which would write the whole source once more; nobody sees the columns."""
    source = placed("a one", "b one", "c one", "a one")
    done = build(source, unique("id", "texts").stage(pa.schema([*SCHEMA, *PLACED])), at=tmp_path, batch_rows=2)
    first, second = done.batches
    assert {"where", "says"} <= set(done.workspace.read(first).column_names)
    assert not {"where", "says"} & set(done.workspace.read(second).column_names)
    assert list(done.rows()) == [{name: row[name] for name in SCHEMA.names} for row in source[:3]]
    after = Stage("next", done.schema, done.schema, _seen)
    again = build(source, unique("id", "texts").stage(pa.schema([*SCHEMA, *PLACED])), after, at=tmp_path, batch_rows=2)
    assert list(again.rows()) == list(done.rows())


def _seen(rows: Any) -> Any:
    assert all(set(row) == set(SCHEMA.names) for row in rows)
    return [{} for _ in rows]


def test_rows_with_one_id_and_different_contents_are_all_excluded(tmp_path: Path) -> None:
    """The first would stand by its place alone; that two agree against it makes neither the right one."""
    source = placed("a one", "a other", "b one", "a other", "b one")
    done = build(source, unique("id", "texts").stage(pa.schema([*SCHEMA, *PLACED])), at=tmp_path, batch_rows=2)
    assert [row["id"] for row in done.rows()] == ["b"]
    assert [(row["reason"], row["detail"]) for row in done.exclusions()] == [
        ("one id for different texts", "t.csv:2, and t.csv:3"),
        ("one id for different texts", "t.csv:3, and t.csv:2"),
        ("one id for different texts", "t.csv:5, and t.csv:2"),
        ("duplicate id", "t.csv:6 repeats the id of t.csv:4"),
    ]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fates=st.lists(st.sampled_from(["keep", "reason one", "reason two"]), max_size=40),
    batch_rows=st.integers(1, 9),
    whole=st.booleans(),
)
def test_every_row_is_kept_or_excluded_once(
    fates: list[str], batch_rows: int, whole: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def judge(batch: list[Row]) -> list[Row | Excluded]:
        return [row if (fate := fates[row["n"]]) == "keep" else Excluded(fate) for row in batch]

    done = build(
        rows(len(fates)), one(judge, whole=whole, reads=("n",)), at=tmp_path_factory.mktemp("w"), batch_rows=batch_rows
    )
    assert [row["n"] for row in done.rows()] == [i for i, fate in enumerate(fates) if fate == "keep"]
    assert [row["key"] for row in done.exclusions()] == [f"r{i}" for i, fate in enumerate(fates) if fate != "keep"]
    assert done.stages[0].excluded == Counter(fate for fate in fates if fate != "keep")
    assert done.stages[0].rows_in == len(fates)


def test_a_stage_of_all_rows_reuses_batches_that_it_does_not_change(tmp_path: Path) -> None:
    def judge(batch: list[Row]) -> list[Row | Excluded]:
        return [Excluded("no") if row["n"] in (4, 5) else {} if row["n"] < 6 else {"n": 0} for row in batch]

    done = build(rows(8), one(judge, whole=True, reads=("n",)), at=tmp_path, batch_rows=2)
    assert [row["n"] for row in done.rows()] == [0, 1, 2, 3, 0, 0]
    read = build(rows(8), one(lambda batch: batch), at=tmp_path, batch_rows=2)
    assert done.batches[:2] == read.batches[:2] and len(done.batches) == 3


def test_of_rows_that_are_left_out_no_more_than_a_batch_is_held(tmp_path: Path) -> None:
    held: list[int] = []

    def most(batch: list[Row]) -> list[Any]:
        return [{} if row["n"] % 4 == 0 else Excluded("odd") for row in batch]

    def count(batch: list[Row]) -> list[Row]:
        held.append(there_are())
        return [{}] * len(batch)

    def there_are() -> int:
        return sum(type(each) is ExcludedRow for each in gc.get_objects())

    gc.freeze()  # what is here already is not looked through
    source = [*(BadRow(f"line {n}", reason="broken") for n in range(40)), *rows(80)]
    try:
        done = build(source, one(most, name="first"), one(count, name="second"), at=tmp_path, max_bad=50)
    finally:
        gc.unfreeze()
    assert [stage.excluded for stage in done.stages] == [{"broken": 40}, {"odd": 60}, {}]
    assert max(held) <= 4


def test_bad_rows_are_a_share_of_the_records_of_which_rows_are_made(tmp_path: Path) -> None:
    source = [BadRow("line 7", reason="broken"), *rows(4)]
    done = build(source, one(lambda batch: batch), at=tmp_path / "many", records=100)
    assert len(list(done.rows())) == 4
    with pytest.raises(InputError, match="1 of 50 rows cannot be read: line 7: broken"):
        build(source, one(lambda batch: batch), at=tmp_path / "few", records=50)


def test_the_list_of_bad_rows_goes_when_they_are_mended(tmp_path: Path) -> None:
    listed, source = tmp_path / "unread.jsonl", [BadRow("line 7", reason=NOT_UTF8), *rows(4)]
    with pytest.raises(InputError, match=re.escape(AS_UTF8)):
        build([BadRow("line 6", reason="broken"), *source], one(list), at=tmp_path)
    assert [json.loads(line)["row"] for line in listed.read_text().splitlines()] == ["line 6", "line 7"]
    build(rows(4), one(list), at=tmp_path, source_identity="mended")
    assert not listed.exists()


def rename(batch: list[Row]) -> list[Row]:
    batch[1]["id"] = "new"
    return batch


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda batch: batch[1:], "4 rows came in, 3 are accounted for"),
        (lambda batch: [*batch, {**batch[0], "id": "invented"}], "4 rows came in, 5 are accounted for"),
        (lambda batch: [batch[1], batch[0], *batch[2:]], "row 'r0' left as 'r1'"),
        (lambda batch: [*batch[:3], batch[2]], "row 'r3' left as 'r2'"),
        (rename, "row 'r1' left as 'new'"),
        (lambda batch: [{"id": b"r0"}, *batch[1:]], "row 'r0' left as b'r0'"),
        (lambda batch: [Excluded(""), *batch[1:]], "excludes 'r0' without a reason"),
        (lambda batch: [batch[0], None, *batch[2:]], "row 'r1': found a NoneType, expected a dict of the columns"),
        (lambda batch: [*batch[:3], (x for x in ())], "row 'r3': found a generator, expected a dict"),
        (lambda batch: [Excluded, *batch[1:]], "row 'r0': found the class Excluded, expected a dict"),
        (lambda batch: None, "found a NoneType, expected a list with a result for each row"),
    ],
)
def test_a_stage_that_breaks_the_account_is_named(function: Any, found: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="stage s: ") as error:
        build(rows(4), one(function), at=tmp_path)
    assert found in str(error.value)


STRICT = pa.schema(
    [
        ("id", pa.string()),
        ("n", pa.int32()),
        ("x", pa.float64()),
        ("words", pa.list_(pa.string())),
        ("spans", pa.list_(pa.struct([("start", pa.int32()), ("text", pa.string())]))),
        pa.field("sure", pa.bool_(), nullable=False),
    ]
)
GOOD: Row = {"id": "r2", "n": 1, "x": 0.5, "words": ["a"], "spans": [{"start": 0, "text": "b"}], "sure": True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 1.5}, "column n: found float, expected int32"),
        ({"n": True}, "column n: found bool, expected int32"),
        ({"n": 2**40}, "column n: found a int that it cannot hold, expected int32"),
        ({"x": "0.5"}, "column x: found str, expected double"),
        ({"words": "ab"}, "column words: found str, expected list<"),
        ({"words": {"a", "b"}}, "column words: found set, expected list<"),
        ({"words": ["a", 3]}, "column words[]: found int, expected string"),
        ({"words": ["\ud800"]}, "column words: found a list that it cannot hold"),
        ({"spans": [{"start": 0}]}, "column spans[]: found a struct of ['start'], expected a struct of"),
        ({"spans": [{"start": "0", "text": "b"}]}, "column spans[].start: found str, expected int32"),
        ({"sure": None}, "column sure: found null, expected bool not null"),
        ({"more": 1}, "found an unknown column 'more'"),
    ],
)
def test_a_row_that_breaks_the_schema_is_named(change: Row, message: str, tmp_path: Path) -> None:
    function = lambda batch: [batch[0], {**GOOD, **change}]  # noqa: E731
    stage = one(function, schema_in=STRICT, schema_out=STRICT)
    with pytest.raises(BuildError, match=r"^stage s: row b?'r2'") as error:
        build([{**GOOD, "id": "r1"}, GOOD], stage, at=tmp_path)
    assert message in str(error.value)


def test_a_missing_column_and_a_bad_source_are_named(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="stage s: row 'r0': found no column 'double'"):
        build(rows(1), one(lambda batch: [{"id": "r0"}], schema_out=DOUBLED), at=tmp_path)
    with pytest.raises(BuildError, match="source: row 'r0', column n: found str, expected int64"):
        build([{**rows(1)[0], "n": "1"}], one(list), at=tmp_path, source_identity="y")
    for row in (None, ("r1", 1)):
        with pytest.raises(
            BuildError, match=f"source: row 2: found a {type(row).__name__}, expected a dict of columns"
        ):
            build([rows(1)[0], row], one(list), at=tmp_path, source_identity=f"{row}")
    with pytest.raises(BuildError, match="source: row 6 has no id"):
        build([*rows(5), {**rows(1)[0], "id": ""}], one(list), at=tmp_path, source_identity="z")


def test_a_chain_that_does_not_fit_is_refused_before_it_runs(tmp_path: Path) -> None:
    first, second = one(list), one(list, name="t", schema_in=DOUBLED, schema_out=DOUBLED)
    with pytest.raises(BuildError, match=r"stage t: found id: string, .* from s, expected .* double: int64"):
        build(pytest.fail, first, second, at=tmp_path)
    for stages, message in (([], "at least one"), ([first, first], "two stages are named 's'")):
        with pytest.raises(BuildError, match=message):
            build(pytest.fail, *stages, at=tmp_path)
    with pytest.raises(BuildError, match="key column 'nothing'"):
        build(pytest.fail, first, at=tmp_path, key="nothing")
    with pytest.raises(BuildError, match="settings are not JSON"):
        build(rows(1), one(list, settings={"path": Path("x")}), at=tmp_path)


def test_an_error_in_a_stage_tells_which_rows_and_a_users_error_passes(tmp_path: Path) -> None:
    def fail(batch: list[Row]) -> list[Row]:
        raise ZeroDivisionError("what the row holds")

    def refuse(batch: list[Row]) -> list[Row]:
        raise ModelError("model", found="does not answer")

    with pytest.raises(BuildError, match=r"^stage s, rows r0 to r3: ZeroDivisionError \(.*\)$") as error:
        build(rows(8), one(fail), at=tmp_path)
    assert isinstance(error.value.__cause__, ZeroDivisionError)
    assert "test_pipeline.py, line" in str(error.value) and "in fail: raise ZeroDivisionError" in str(error.value)
    with pytest.raises(ModelError, match="does not answer"):
        build(rows(8), one(refuse), at=tmp_path, source_identity="y")


def test_a_batch_ends_before_a_column_grows_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.pipeline.rows._BATCH_BYTES", 10)  # "r0" and "train" have 7
    assert [batch.rows for batch in build(rows(5), one(list), at=tmp_path).batches] == [2, 2, 1]


# --- resumption -------------------------------------------------------------------------------------------------------


def test_nothing_is_done_twice(toy: Any, tmp_path: Path) -> None:
    recipe = toy.stages(tmp_path / "calls")
    first = build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8)
    before = calls(tmp_path)
    assert len(before) == 10  # five batches in each of the two stages that log
    again = build(iter([pytest.fail]), *recipe, at=tmp_path / "w", batch_rows=8)  # the source is not even read
    assert calls(tmp_path) == before
    assert list(again.rows()) == list(first.rows()) and again.stages == first.stages


def test_a_source_is_read_again_for_other_columns(tmp_path: Path) -> None:
    build(rows(2), one(list), at=tmp_path)
    wider = [{**row, "double": 2 * row["n"]} for row in rows(2)]
    done = build(wider, one(list, schema_in=DOUBLED, schema_out=DOUBLED), at=tmp_path)
    assert list(done.rows()) == wider


def test_a_change_redoes_only_what_depends_on_it(toy: Any, tmp_path: Path) -> None:
    unique_ids, odd, double = toy.stages(tmp_path / "calls")
    build(toy.source(), unique_ids, odd, double, at=tmp_path / "w", batch_rows=8)
    done = len(calls(tmp_path))

    def new_calls() -> Counter[str]:
        nonlocal done
        new = calls(tmp_path)[done:]
        done += len(new)
        return Counter(line.split()[0] for line in new)

    odd2 = Stage("odd", SCHEMA, SCHEMA, odd.function, settings={"keep": "odd", "other": 1})
    build(toy.source(), unique_ids, odd2, double, at=tmp_path / "w", batch_rows=8)
    assert new_calls() == {"odd": 5}  # its output stayed the same, so what follows is still valid
    double2 = Stage("double", SCHEMA, DOUBLED, double.function, version=2)
    build(toy.source(), unique_ids, odd2, double2, at=tmp_path / "w", batch_rows=8)
    assert new_calls() == {"double": 5}
    changed = ({**row, "n": 1001} if row["id"] == "r009" else row for row in toy.source())
    build(changed, unique_ids, odd2, double2, at=tmp_path / "w", batch_rows=8, source_identity="y")
    assert new_calls() == {"odd": 1, "double": 1}


def test_changed_code_is_never_met_by_a_stale_result(toy: Any, tmp_path: Path) -> None:
    build(toy.source(), *toy.stages(tmp_path / "calls"), at=tmp_path / "w", batch_rows=8)
    script = tmp_path / "toy_recipe.py"
    for old, new, worked_on in (
        ("def double(", "# a remark\ndef double(", {}),
        ("time.sleep(60)", "time.sleep(6)", {"double": 5}),
        ("n = {row['n']}", "n is {row['n']}", {"odd": 5}),
        ("file.write(f", "file.write(", {"odd": 5, "double": 5}),
    ):
        done = len(calls(tmp_path))
        assert script.read_text().count(old) == 1
        script.write_text(script.read_text().replace(old, new))
        build(toy.source(), *toy.stages(tmp_path / "calls"), at=tmp_path / "w", batch_rows=8)
        assert Counter(line.split()[0] for line in calls(tmp_path)[done:]) == worked_on


@pytest.mark.long
def test_killed_again_and_again_it_ends_with_the_same_bytes(calm: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    """Each attempt dies at its third or fourth write; what was finished before is never done again."""
    deaths = 0
    while True:
        attempt = subprocess.run(**alone(tmp_path, "killed", deaths=3 + deaths % 2), capture_output=True)
        if attempt.returncode == 0:
            break
        assert attempt.returncode == -signal.SIGKILL, attempt.stderr
        deaths += 1
        assert deaths < 30
    assert deaths >= 3
    assert (attempt.stdout, files(tmp_path / "killed")) == calm
    again = Counter(line.split()[0] for line in calls(tmp_path))
    assert again["double"] <= 5 + deaths  # one batch was under way,
    assert again["odd"] <= 5 + AT_ONCE * deaths  # or as many as overlap


def test_what_is_sent_to_a_worker_fits_its_pipe(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, two_workers: Local
) -> None:
    """More than a pipe holds would wait for ever for a worker that was killed before it read."""
    sent: list[bytes] = []
    submit = ProcessPoolExecutor.submit

    def watched(pool: ProcessPoolExecutor, *work: Any) -> Any:
        sent.append(pickle.dumps(work))
        return submit(pool, *work)

    monkeypatch.setattr(ProcessPoolExecutor, "submit", watched)
    stage = one(partial(toy.passed_on, "bone " * 200_000))
    done = build(rows(40), stage, at=tmp_path, batch_rows=10, engine=two_workers)
    assert len(list(done.rows())) == 40
    assert len(sent) == 4 and max(map(len, sent)) < 4096
    assert not list(tmp_path.rglob("*.pickle"))


def test_worker_count_locale_time_zone_and_hash_seed_change_no_byte(
    calm: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    """Beside this process, whose hash seed is a random one."""
    elsewhere = {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(**alone(tmp_path, "there", workers=2, **elsewhere), capture_output=True)
    assert (done.stdout, files(tmp_path / "there")) == calm, done.stderr
    processes = [{line.split()[2] for line in calls(tmp_path) if line.startswith(stage)} for stage in ("odd", "double")]
    assert len(processes[0]) == 1 and not processes[0] & processes[1]  # "odd" is not parallel, "double" is


def test_a_damaged_file_is_named_and_recomputed_once_deleted(toy: Any, tmp_path: Path) -> None:
    recipe = toy.stages(tmp_path / "calls")
    first = build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8)
    expected, path = list(first.rows()), tmp_path / "w" / "batches" / f"{first.batches[1].digest}.parquet"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BedsideError, match=r"the file is damaged .* Delete this file"):
        list(build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8).rows())
    path.unlink()
    assert list(build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8).rows()) == expected
    for result in (tmp_path / "w" / "results").iterdir():
        result.write_bytes(result.read_bytes()[:20])
    assert list(build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8).rows()) == expected


def test_source_rows_are_stored_as_they_come(tmp_path: Path) -> None:
    def source() -> Iterator[Row]:
        for number, row in enumerate(rows(12)):
            assert len(list((tmp_path / "batches").glob("*.parquet"))) >= number // 4 - 1
            yield row

    assert len(list(build(source(), one(list), at=tmp_path).rows())) == 12


# --- workers, interrupts, the disk ------------------------------------------------------------------------------------


def test_a_worker_that_dies_is_one_clear_error_and_loses_nothing(toy: Any, tmp_path: Path) -> None:
    dying = toy.stages(tmp_path / "calls", "die")
    told = r"stage double: a worker process ended .* finished batches are kept"
    with Local(2) as engine, pytest.raises(BedsideError, match=told):
        build(toy.source(), *dying, at=tmp_path / "w", batch_rows=8, engine=engine)
    before = Counter(line.split()[0] for line in calls(tmp_path))
    done = build(toy.source(), *toy.stages(tmp_path / "calls"), at=tmp_path / "w", batch_rows=8)
    assert list(done.rows()) == KEPT
    assert Counter(line.split()[0] for line in calls(tmp_path))["odd"] == before["odd"] == 5


def test_errors_of_workers_arrive_whole(toy: Any, tmp_path: Path, two_workers: Local) -> None:
    schema = pa.schema([*SCHEMA, *PLACED])
    stage = Stage("odd", schema, schema, partial(toy.odd, tmp_path / "no" / "such" / "folder"))
    with pytest.raises(BuildError, match=r"stage odd, rows r0\d\d to r0\d\d: FileNotFoundError"):
        build(toy.source(), stage, at=tmp_path / "w", batch_rows=8, engine=two_workers)
    with pytest.raises(BuildError, match="stage s: cannot be sent to a worker"):
        build(rows(8), one(lambda batch: batch), at=tmp_path / "v", engine=two_workers)


def test_workers_are_kept_from_stage_to_stage(toy: Any, tmp_path: Path, two_workers: Local) -> None:
    stages = [replace(stage, parallel=True) for stage in toy.stages(tmp_path / "calls")]
    build(toy.source(), *stages, at=tmp_path / "w", batch_rows=8, engine=two_workers)
    who: dict[str, set[str]] = {}
    for line in calls(tmp_path):
        stage, _, process = line.split()
        who.setdefault(stage, set()).add(process)
    assert str(os.getpid()) not in who["odd"] | who["double"]
    assert len(who["odd"] | who["double"]) <= 2


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize(
    ("whom", "stop"),  # a terminal signals every process of the group
    [
        (os.kill, signal.SIGKILL),
        (os.killpg, signal.SIGINT),
        (os.kill, signal.SIGTERM),
        pytest.param(os.killpg, signal.SIGKILL, marks=pytest.mark.long),
        pytest.param(os.kill, signal.SIGINT, marks=pytest.mark.long),
        pytest.param(os.killpg, signal.SIGTERM, marks=pytest.mark.long),
        pytest.param(os.kill, signal.SIGHUP, marks=pytest.mark.long),
        pytest.param(os.killpg, signal.SIGHUP, marks=pytest.mark.long),
    ],
)
def test_no_worker_outlives_the_build(
    whom: Callable[[int, int], None],
    stop: signal.Signals,
    toy: Any,
    calm: tuple[str, dict[str, bytes]],
    tmp_path: Path,
) -> None:
    process = subprocess.Popen(
        **alone(tmp_path, "w", workers=2, mood="slow"),
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: sum(line.startswith("double") for line in calls(tmp_path)) == 2)
    workers = [int(line.split()[2]) for line in calls(tmp_path) if line.startswith("double")]
    whom(process.pid, stop)
    wait_until(lambda: all(map(gone, workers)))
    _, said = process.communicate(timeout=120)
    assert "Traceback" not in said
    if stop != signal.SIGKILL:
        assert process.returncode == 1 and "run the same command again to resume" in said
    before = len(calls(tmp_path))
    build(toy.source(), *toy.stages(tmp_path / "calls"), at=tmp_path / "w", batch_rows=8, source_identity="toy")
    assert files(tmp_path / "w") == calm[1]
    assert Counter(line.split()[0] for line in calls(tmp_path)[before:]) == {"double": 5}


def test_one_build_at_a_time(tmp_path: Path) -> None:
    with (
        filelock.FileLock(tmp_path / "lock"),
        pytest.raises(BedsideError, match="another build is using this workspace"),
    ):
        build(rows(1), one(list), at=tmp_path)
    assert build(rows(1), one(list), at=tmp_path).stages[0].rows_out == 1


def test_a_full_disk_is_one_clear_error_and_loses_nothing(
    toy: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = 14

    def fsync(_: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")

    recipe = toy.stages(tmp_path / "calls")
    with monkeypatch.context() as patch:
        patch.setattr("loaders.files.disk.os.fsync", fsync)
        with pytest.raises(BedsideError, match=r"w/(batches|results)/.*: the disk is full\. Free some space"):
            build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8)
    assert not list((tmp_path / "w").rglob("*.tmp"))
    before = len(calls(tmp_path))
    assert before > 1
    done = build(toy.source(), *recipe, at=tmp_path / "w", batch_rows=8)
    assert list(done.rows()) == KEPT
    assert 10 < len(calls(tmp_path)) <= 10 + AT_ONCE  # what found no room is all that was done again


def test_a_workspace_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("mine")
    with pytest.raises(BedsideError, match="is a file, not a folder"):
        build(rows(1), one(list), at=tmp_path / "w")


# --- progress ---------------------------------------------------------------------------------------------------------


def shown(at: Path, *, terminal: bool) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    progress: Progress
    with Bars(console) as progress:
        source = [*rows(20), BadRow("line 21", reason="no id", expected="one")]
        build(source, one(list, name="first"), one(list, name="second"), at=at, progress=progress, max_bad=5)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_plain_lines_away_from_a_terminal(tmp_path: Path) -> None:
    assert shown(tmp_path, terminal=False).splitlines() == [
        "source: 21 rows, 1 excluded",
        *(f"first: {n} of 20 rows" for n in (4, 8, 12, 16)),
        "first: 20 rows, 0 excluded",
        *(f"second: {n} of 20 rows" for n in (4, 8, 12, 16)),
        "second: 20 rows, 0 excluded",
    ]
    assert shown(tmp_path, terminal=False).splitlines() == [
        "source: 21 rows, 1 excluded (resumed)",
        "first: 20 rows, 0 excluded (resumed)",
        "second: 20 rows, 0 excluded (resumed)",
    ]


def test_bars_on_a_terminal_tell_what_was_resumed(tmp_path: Path) -> None:
    first = shown(tmp_path, terminal=True)
    assert "first" in first and "20/20" in first and "resumed" not in first
    second = shown(tmp_path, terminal=True)
    assert "first (resumed)" in second and "second (resumed)" in second
