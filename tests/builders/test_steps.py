"""Steps: functions as stages; columns that are declared; and nothing decides a result that its name does not know."""

from __future__ import annotations

import asyncio
import io
import json
import pickle
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image

from builders.chat import IN_A_ROW, REFUSED_AT_FIRST, Failures
from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import BuildError, Row
from builders.pipeline.run import run
from builders.pipeline.stage import Excluded
from builders.steps import (
    PLACED,
    WHY,
    Step,
    admit,
    images,
    stages,
    step,
    unique,
)
from loaders.engines.local import Local
from loaders.errors import ModelError
from loaders.files.stores import Folder
from loaders.models.tries import REFUSED

SCHEMA = pa.schema([("id", pa.string()), ("n", pa.int64())])
DOUBLED = pa.schema([("double", pa.int64())])


@step(adds=DOUBLED, drops=("n",))
def double(row: Row, times: int = 2) -> Row | Excluded:
    return {"double": times * row["n"]} if row["n"] else Excluded("zero", "n = 0")


@step(takes="all", reads=())
def half(rows: Collection[Row], wanted: Any = None) -> Iterable[Row | Excluded]:
    for number, _ in enumerate(rows):
        yield {} if number % 2 else Excluded("every other")


@step(takes="batch", name="few")
def too_few(rows: list[Row]) -> Iterable[Row | Excluded]:
    return [{}] * (len(rows) - 1)


@step(writes=pa.schema([("id", pa.string()), ("text", pa.string())]))
def written(row: Row) -> Row:
    return {"text": str(row["n"])}


@step(adds=pa.schema([("note", pa.string())]))
def noted(row: Row) -> Row:
    return {"note": f"n{row['n']}"}


@step()
def misspelt(row: Row) -> Row:
    return {"m": 1}


def built(at: Path, *steps: Step, rows: int = 4, engine: Local | None = None) -> Any:
    source = [{"id": f"r{n}", "n": n} for n in range(rows)]
    chain = stages(steps, SCHEMA)
    return run(source, chain, key="id", workspace=at, source_identity="x", batch_rows=2, engine=engine)


@pytest.fixture(scope="module", params=[1, 2])
def workers(request: pytest.FixtureRequest) -> Iterator[Local]:
    """This process, and two others that several tests share: what they import takes longer than what they do."""
    with Local(request.param) as engine:
        yield engine


def test_what_a_step_returns_is_laid_over_the_row(workers: Local, tmp_path: Path) -> None:
    done = built(tmp_path, double(times=3), half(), engine=workers)
    assert list(done.rows()) == [{"id": "r2", "double": 6}]
    assert [(stage.name, stage.excluded) for stage in done.stages] == [
        ("double", {"zero": 1}),
        ("half", {"every other": 2}),
    ]
    assert [(row["key"], row["detail"]) for row in done.exclusions()] == [("r0", "n = 0"), ("r1", ""), ("r3", "")]


def test_a_step_that_writes_leaves_nothing_else(tmp_path: Path) -> None:
    assert list(built(tmp_path, written(), rows=1).rows()) == [{"id": "r0", "text": "0"}]


def test_columns_stay_where_they_are_and_new_ones_come_last() -> None:
    chain = stages([double(), half()], SCHEMA)
    assert [stage.schema_out.names for stage in chain] == [["id", "double"], ["id", "double"]]
    again = step(adds=pa.schema([("n", pa.string()), ("m", pa.string())]))(lambda row: row)
    assert again().stage(SCHEMA).schema_out == pa.schema([("id", pa.string()), ("n", pa.string()), ("m", pa.string())])


@step(takes="all", reads=("n",))
def seen(rows: Collection[Row], looked: str) -> Iterable[Row | Excluded]:
    Path(looked).write_text(f"{len(rows)} {[dict(row) for row in rows]} {[row['n'] for row in rows]}")
    return [{} for _ in rows]


def test_a_step_that_takes_all_rows_sees_what_it_reads_as_often_as_it_likes(tmp_path: Path) -> None:
    looked = tmp_path / "looked"
    done = built(tmp_path / "work", noted(), seen(str(looked)), rows=3)
    assert looked.read_text() == f"3 {[{'id': f'r{n}', 'n': n} for n in range(3)]} [0, 1, 2]"
    assert [row["note"] for row in done.rows()] == ["n0", "n1", "n2"]
    with pytest.raises(BuildError, match=r"step seen: reads \['n'\], which no step before it writes"):
        built(tmp_path / "other", double(), seen(str(looked)))


@pytest.mark.parametrize(
    ("broken", "told"),
    [(too_few(), "stage few: 2 rows came in, 1 are accounted for"), (misspelt(), "an unknown column 'm'")],
)
def test_a_step_that_answers_wrongly_is_named(broken: Step, told: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=told):
        built(tmp_path, broken)


@step()
def raising(row: Row) -> Row:
    return json.loads("{}" if row["n"] < 2 else "what the row holds")


@step()
def leaving(row: Row) -> Row:
    if row["n"] == 2:
        raise SystemExit(3)
    return {}


@step()
def emptying(row: Row) -> Row:
    row.clear()
    return {"m": row["n"]}


def test_a_step_that_raises_is_told_with_its_row_and_its_line_but_not_with_what_the_row_holds(
    workers: Local, tmp_path: Path
) -> None:
    with pytest.raises(
        BuildError, match=r"^stage raising, row 'r2': JSONDecodeError \(test_steps.py, line \d+, in "
    ) as error:
        built(tmp_path, raising(), engine=workers)
    assert "in raising: return json.loads(" in str(error.value)
    with pytest.raises(BuildError, match=r"stage leaving, row 'r2': SystemExit \(test_steps.py"):
        built(tmp_path / "other", leaving(), engine=workers)
    with pytest.raises(BuildError, match=r"stage emptying, rows r\d to r\d: KeyError \(test_steps.py"):
        built(tmp_path / "third", emptying(), engine=workers)


def test_a_step_that_is_not_declared_or_called_as_one_is_named() -> None:
    with pytest.raises(BuildError, match=r"the plan's steps: found few, expected few\("):
        stages([too_few], SCHEMA)  # type: ignore[list-item]
    with pytest.raises(BuildError, match="the plan's steps: found a builtin_function_or_method, expected steps"):
        stages([len], SCHEMA)  # type: ignore[list-item]
    with pytest.raises(BuildError, match=r"step double: found arguments that it does not take .* expected \(row"):
        double(2, 3)  # type: ignore[call-arg]
    with pytest.raises(BuildError, match="@step: found takes='rows', expected one of 'row', 'batch', 'all'"):
        step(takes="rows")  # type: ignore[call-overload]
    with pytest.raises(BuildError, match="@step: found a dict as adds, expected pa.schema"):
        step(adds={"n": "string"})  # type: ignore[call-overload]


class Digest:
    identity = "0a1b"


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        (None, None),
        ({"b": (1, 2.5)}, {"b": [1, 2.5]}),
        (frozenset({"y", "x"}), ["x", "y"]),
        ([Digest()], ["0a1b"]),
        (ImageStore(Folder(Path("anywhere"))), ImageStore(Folder(Path("elsewhere"))).identity),
    ],
)
def test_what_a_step_is_given_names_its_result(given: Any, settings: Any) -> None:
    assert half(given).stage(SCHEMA).settings == {"wanted": settings}


def test_what_cannot_be_named_is_refused() -> None:
    with pytest.raises(BuildError, match="step half: wanted: found a PosixPath"):
        half(Path("x")).stage(SCHEMA)


def test_a_step_is_sent_to_workers_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(double)) is double


def test_a_source_refuses_rows_with_its_reason(tmp_path: Path) -> None:
    schema = pa.schema([*SCHEMA, *PLACED, ("refused", WHY)])
    told = {"n": 1, "refused": None, "says": "one"}
    source = [{**told, "id": name, "where": f"t.csv:{line}"} for line, name in enumerate("aba", 2)]
    source[1]["refused"] = {"reason": "no", "detail": "why"}
    done = run(
        source, stages([admit(), unique("id", "texts")], schema), key="id", workspace=tmp_path, source_identity="x"
    )
    assert list(done.rows()) == [{"id": "a", "n": 1}]
    assert [(row["stage"], row["reason"], row["detail"]) for row in done.exclusions()] == [
        ("admit", "no", "why"),
        ("unique", "duplicate id", "t.csv:4 repeats the id of t.csv:2"),
    ]


def test_images_are_stored_by_content_and_unusable_ones_are_reported(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.new("L", (4, 3), 9).save(buffer, "PNG")
    (tmp_path / "a.png").write_bytes(buffer.getvalue())
    (tmp_path / "b.png").write_bytes(b"no image")
    store = ImageStore(Folder(tmp_path))

    def one(path: str | None, data: bytes | None = None, why: dict[str, str] | None = None) -> Row | Excluded:
        file = str(tmp_path / path) if path else None
        return images.function({"image_path": file, "image_bytes": data, "no_image": why}, store)

    kept = one("a.png")
    assert isinstance(kept, dict) and kept["image"].endswith(".png") and kept == one(None, buffer.getvalue())
    assert store.get(kept["image"].removesuffix(".png")) == buffer.getvalue()
    assert one("b.png") == Excluded("image not an image", one("b.png").detail)  # type: ignore[union-attr]
    assert one("missing.png") == Excluded("image missing", "does not exist")
    assert one(None, b"") == Excluded("image empty", one(None, b"").detail)  # type: ignore[union-attr]
    assert one(None, None, {"reason": "download: 404", "detail": "gone"}) == Excluded("download: 404", "gone")
    assert one(None) == {"image": None, "image_frames": 0}


def test_refused_rows_do_not_make_a_model_unusable_that_answers_others() -> None:
    """In whatever order they come: refusals are fast, and when answers are stored all come one after the other."""
    refusal = ModelError("m", found=f"{REFUSED}: HTTP 400")
    failures = Failures()
    for row in range(REFUSED_AT_FIRST - 1):
        failures.failure(f"r{row}", refusal)
    failures.success(lambda store: asyncio.sleep(0))
    for row in range(500):
        failures.failure(f"r{row}", refusal)
    with pytest.raises(ModelError, match="failed 10 rows in a row, the first of them r0"):
        for row in range(IN_A_ROW):
            failures.failure(f"r{row}", ModelError("m", found="gave no answer in 3 tries"))
    never = Failures()
    with pytest.raises(ModelError, match=f"answered none of {REFUSED_AT_FIRST} rows"):
        for row in range(REFUSED_AT_FIRST):
            never.failure(f"r{row}", refusal)
