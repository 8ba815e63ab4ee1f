"""Results: what they refuse, that provenance follows from the record, and that a run's files come back as they were."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from baselines.results.run import DataUsed, ModelUsed, Result, because, read_run, write_run
from baselines.results.sheets import read_sheet, table_bytes
from loaders.errors import InputError
from tests.parts.papers import states_the_data
from tests.parts.places import ROOT
from tests.parts.processes import printed
from tests.parts.runs import DIGEST
from tests.parts.runs import record as made_up

record = partial(made_up, stand_in=None)

LEDGER = ["paper", "table", "row", "setting", "column", "split_or_group", "value", "unit", "direction", "note"]


def result(**changes: Any) -> Result:
    content: dict[str, Any] = {
        "paper": "MedLayBench-V",
        "table": "Table 3",
        "row": "BiomedCLIP",
        "setting": "Expert",
        "column": "I2T Recall@1",
        "split_or_group": "test",
        "value": 31.25,
        "unit": "percent",
        "direction": "up",
        "n": 32,
        "numerator": 10.0,
        "denominator": 32.0,
        "ci95": (20.0, 42.5),
        "record": record(),
    }
    return Result(**(content | changes))


def test_an_interval_of_no_width_is_stored_as_none() -> None:
    """Of rows all alike on a scale without ends, and in runs of versions that wrote "100 to 100"."""
    turns = {"value": 4.0, "unit": "turns", "numerator": None, "denominator": None}
    assert result(**turns, ci95=(4.0, 4.0)).ci95 is None
    assert result(**turns, ci95=(3.0, 4.0)).ci95 == (3.0, 4.0)


def test_provenance_follows_from_the_record_and_from_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result().provenance == "own (data, models)" and result().kind == "own"
    states_the_data(monkeypatch, "Table 3", digest=DIGEST)
    assert result().provenance == "reproduced"
    assert result(record=record(judged=False)).provenance == "unknown"
    assert result(record=None).provenance == "published" and result(record=None).run_id is None
    stand_in = result(record=record(stand_in="random weights"))
    assert stand_in.provenance == "stand-in" and stand_in.run_id != result().run_id
    with pytest.raises(TypeError):
        Result(**{**dataclasses.asdict(result(record=None)), "provenance": "reproduced"})
    with pytest.raises((AttributeError, TypeError)):  # TypeError: slots of Python 3.11
        stand_in.provenance = "reproduced"  # type: ignore[misc]
    with pytest.raises((TypeError, ValueError)):
        dataclasses.replace(stand_in, provenance="reproduced")  # type: ignore[call-arg]


def test_another_run_of_a_folder_is_kept(tmp_path: Path) -> None:
    first, other = record(), record(stand_in="random weights")
    assert write_run(tmp_path, first, [result()]) is None
    assert write_run(tmp_path, first, [result()]) is None  # the same again
    aside = write_run(tmp_path, other, [result(record=other)])
    assert aside == tmp_path / "earlier" / first.run_id
    assert read_run(aside)[0] == first and read_run(tmp_path)[0] == other


def test_a_run_of_another_baseline_keeps_what_it_stored(tmp_path: Path) -> None:
    (tmp_path / "dialogues.jsonl").write_text("of the first", encoding="utf-8")
    (tmp_path / "usage.json").write_text("of the first", encoding="utf-8")
    first, other = record(), record(baseline="contrast")
    write_run(tmp_path, first, [result()], stored=["dialogues.jsonl", "usage.json"])
    (tmp_path / "usage.json").write_text("of the second", encoding="utf-8")
    aside = write_run(tmp_path, other, [result(record=other)], stored=["dialogues.jsonl", "usage.json"])
    assert aside and (aside / "dialogues.jsonl").read_text(encoding="utf-8") == "of the first"
    told = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["files"]
    assert "usage.json" in told and "dialogues.jsonl" not in told and not (tmp_path / "dialogues.jsonl").exists()


def test_files_that_no_run_wrote_are_kept(tmp_path: Path) -> None:
    for number, text in enumerate(("no run's", '{"mine": 1}', "[]"), start=1):
        (tmp_path / "run.json").write_text(text, encoding="utf-8")
        aside = write_run(tmp_path, record(), [result()])
        assert aside == tmp_path / "earlier" / f"other-{number}" and read_run(tmp_path)[0] == record()
        assert (aside / "run.json").read_text(encoding="utf-8") == text
    (tmp_path / "run.json").unlink()  # as a start leaves it that was interrupted
    assert write_run(tmp_path, record(), [result()]) is None
    (tmp_path / "run.json").unlink()
    (tmp_path / "results.csv").write_text("mine", encoding="utf-8")
    assert write_run(tmp_path, record(), [result()]) == tmp_path / "earlier" / "other-4"


def test_a_stand_in_cannot_be_written_into_a_reproduction(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Table 3 .*run"):
        write_run(tmp_path / "run", record(), [result(), result(row="x", record=record(stand_in="random weights"))])
    with pytest.raises(InputError, match="run None"):
        write_run(tmp_path / "run", record(), [result(record=None)])
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["stand_in", "provenance", "run_id"])
def test_a_stand_in_edited_into_a_reproduction_is_found_out(tmp_path: Path, name: str) -> None:
    mine = record(stand_in="random weights")
    write_run(tmp_path, mine, [result(record=mine)])
    run = json.loads((tmp_path / "run.json").read_text())
    if name == "stand_in":
        run["stand_in"] = None
    elif name == "provenance":
        lines = (tmp_path / "results.jsonl").read_text().replace('"stand-in"', '"reproduced"')
        (tmp_path / "results.jsonl").write_text(lines)
        run["files"]["results.jsonl"] = hashlib.sha256(lines.encode()).hexdigest()
    else:
        run["run_id"] = "0" * 16
    (tmp_path / "run.json").write_text(json.dumps(run))
    with pytest.raises(InputError, match="run"):
        read_run(tmp_path)


def test_run_id_follows_what_determines_the_numbers() -> None:
    same = [
        record(),
        record(command="bedside run"),
        record(wall_seconds=3.0, input_tokens=5, output_tokens=1, cost_usd=2),
    ]
    assert len({one.run_id for one in same}) == 1
    others = [
        record(baseline="captioning"),
        record(data=DataUsed("medlaybench-v", "test", "v1.0.0", "ac" * 32)),
        record(models=(ModelUsed("encoder", "BiomedCLIP", "0000000"),)),
        record(options={"ks": [1]}),
        record(prompts={"lay": "ce" * 32}),
        record(seeds={"bootstrap": 1}),
        record(versions={"numpy": "2.1"}),
        record(stand_in="sample data"),
    ]
    assert len({one.run_id for one in [record(), *others]}) == 9
    assert record(options={"a": 1, "b": 2}).run_id == record(options={"b": 2, "a": 1}).run_id


def test_run_id_is_the_same_in_every_process() -> None:
    program = (
        "from baselines.results.run import *\n"
        "print(RunRecord(baseline='b', data=DataUsed('c', 's', None, 'd'), options={'x': 1.5, 'y': 'é'}).run_id)"
    )
    found = {printed("-c", program, PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(found) == 1 and len(found.pop().strip()) == 16


def test_files_come_back_as_they_were(tmp_path: Path) -> None:
    mine = record(command="bedside run retrieval", wall_seconds=1.5, cost_usd=0.25)
    results = [
        result(record=mine),
        result(
            record=mine,
            column="I2T Recall@5",
            value=None,
            ci95=None,
            numerator=None,
            denominator=None,
            note='not computed: "weights" are missing,\u2028see é',
        ),
        result(
            record=mine,
            column="delta",
            value=1 / 3,
            unit="percentage points",
            direction="none",
            numerator=None,
            denominator=None,
            ci95=None,
            n=None,
        ),
    ]
    write_run(tmp_path / "run", mine, results)
    found_record, found = read_run(tmp_path / "run")
    assert found == results and found_record == mine
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["results.csv", "results.jsonl", "run.json"]
    with (tmp_path / "run" / "results.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0])[:10] == LEDGER
    assert float(rows[2]["value"]) == 1 / 3 and rows[1]["value"] == "" and rows[0]["provenance"] == "own (data, models)"
    first = json.loads((tmp_path / "run" / "results.jsonl").read_text(encoding="utf-8").split("\n")[0])
    assert list(first)[:10] == LEDGER and (first["ci95_low"], first["ci95_high"]) == (20.0, 42.5)
    assert first["run_id"] == mine.run_id and first["numerator"] == 10.0


def test_results_do_not_depend_on_when_they_were_made(tmp_path: Path) -> None:
    for name, wall in (("a", 1.0), ("b", 2.0)):
        mine = record(wall_seconds=wall, command=name)
        write_run(tmp_path / name, mine, [result(record=mine)])
    for file in ("results.jsonl", "results.csv"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_a_second_run_replaces_the_first_and_leaves_other_files(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text("mine")
    write_run(tmp_path, record(), [result()])
    mine = record(seeds={"bootstrap": 1})
    write_run(tmp_path, mine, [result(record=mine, value=50.0, numerator=16.0)])
    assert read_run(tmp_path)[1][0].value == 50.0
    assert (tmp_path / "trace.txt").read_text() == "mine"


def test_a_run_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, record(), [result()])
    other = tmp_path / "other"
    mine = record(seeds={"bootstrap": 1})
    write_run(other, mine, [result(record=mine, value=50.0, numerator=16.0)])
    # As after a kill between the files: new results, old run.json.
    (other / "results.jsonl").replace(tmp_path / "results.jsonl")
    with pytest.raises(InputError, match=r"results.jsonl: content that differs"):
        read_run(tmp_path)
    (tmp_path / "results.jsonl").unlink()
    with pytest.raises(InputError, match=r"results.jsonl: no such file"):
        read_run(tmp_path)
    (tmp_path / "run.json").unlink()
    with pytest.raises(InputError, match=r"no run.json .*finished run"):
        read_run(tmp_path)


def test_what_a_run_stored_besides_its_numbers_is_unchanged_or_absent(tmp_path: Path) -> None:
    (tmp_path / "dialogues.jsonl").write_text("{}\n{}\n")
    write_run(tmp_path, record(), [result()], stored=["dialogues.jsonl"])
    assert read_run(tmp_path)
    (tmp_path / "dialogues.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"dialogues.jsonl: content that differs"):
        read_run(tmp_path)
    (tmp_path / "dialogues.jsonl").unlink()  # left out of what was given away
    assert read_run(tmp_path)
    run = json.loads((tmp_path / "run.json").read_text())
    run["files"]["../results.csv"] = run["files"]["results.csv"]
    (tmp_path / "run.json").write_text(json.dumps(run))
    with pytest.raises(InputError, match="names of files of the run"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"format": 2}', '{"format": 1}', '{"format": 1, "data": 3, "models": []}']
)
def test_an_invalid_record_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(InputError, match=r"run\.json"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"table": ""}, "an empty table"),
        ({"unit": ""}, "an empty unit"),
        ({"direction": "sideways"}, "direction 'sideways'"),
        ({"value": float("nan"), "numerator": None}, "not finite"),
        ({"ci95": (0.0, float("inf"))}, "not finite"),
        ({"ci95": (2.0, 1.0)}, "lower bound first"),
        ({"value": None, "ci95": None}, "neither a value nor a note"),
        ({"value": None, "note": "weights are missing"}, "an interval without a value"),
        ({"n": -1}, "n = -1"),
        ({"denominator": 0.0}, "denominator 0.0"),
        ({"value": 31.0}, "31.25, as its numerator and denominator say"),
        ({"unit": "proportion"}, "0.3125, as its numerator"),
    ],
)
def test_a_result_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        result(**changes)
    assert "MedLayBench-V" in str(caught.value)


def test_counts_are_free_in_other_units() -> None:
    assert result(unit="score", value=3.0).value == 3.0
    assert result(unit="proportion", value=0.3125, ci95=None).value == 0.3125


@pytest.mark.parametrize(
    "changes",
    [
        {"baseline": ""},
        {"data": DataUsed("medlaybench-v", "test", None, "")},
        {"stand_in": " "},
        {"wall_seconds": -1.0},
        {"cost_usd": float("nan")},
        {"input_tokens": 10**400},
        {"options": {"x": float("nan")}},
        {"options": {"x": object()}},
    ],
)
def test_a_record_that_says_nothing_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="RunRecord"):
        record(**changes)


def test_a_run_without_results_or_with_a_cell_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no result"):
        write_run(tmp_path / "run", record(), [])
    with pytest.raises(InputError, match="the same cell twice"):
        write_run(tmp_path / "run", record(), [result(), result(value=50.0, numerator=16.0)])
    assert not (tmp_path / "run").exists()


FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\ufeff=1", "＝1", "'=1", "''@x", "－1"]
IDS = ["0012", "452627e94200346", "4526278194200346"]  # of a picture, and of runs


@pytest.mark.parametrize("text", [*FORMULAS, *IDS])
def test_no_cell_of_a_table_is_a_formula_or_a_number_and_every_text_comes_back(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(table_bytes(("note", "number"), [{"note": text, "number": -1.5}, {"note": "a - b"}]))
    with path.open(encoding="utf-8", newline="") as handle:
        written = [row["note"] for row in csv.DictReader(handle)]
    assert written == [f"'{text}", "a - b"]
    assert [row["note"] for _, row in read_sheet(path, ["note"])] == [text.strip(), "a - b"]
    assert b"\n'" in path.read_bytes() or b"\n\"'" in path.read_bytes()
    assert b",-1.5\n" in path.read_bytes()


def test_a_sheet_may_say_what_separates_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text("sep=;\r\nRater;Note\r\nR1;a, b\r\n")
    assert read_sheet(path, ["note"]) == [(f"{path}, row 2", {"rater": "R1", "note": "a, b"})]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("rater,note\n\n,\n", "no filled row"),
        ("rater,note,Note\nR1,a,b\n", "column note twice"),
        ("rater,note\nR1,a\nR1,a, b\n", "row 3: 3 cells"),
    ],
)
def test_a_sheet_that_would_be_read_otherwise_than_it_was_filled_in(text: str, found: str, tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=found):
        read_sheet(path, ["note"])


def test_every_csv_that_a_person_opens_has_one_writer() -> None:
    sources = [path for room in ("loaders", "builders", "baselines", "scripts") for path in (ROOT / room).rglob("*.py")]
    writing = re.compile(r"csv\.writer|DictWriter|to_csv|write_csv")
    found = {path.relative_to(ROOT).as_posix() for path in sources if writing.search(path.read_text())}
    found -= {f"scripts/bench/{name}.py" for name in ("chaos_jobs", "manner", "scale")}  # no sheets
    assert found == {"baselines/results/sheets.py"}


def test_each_reason_is_stated_once() -> None:
    assert because("the patients were made up; a rehearsal", None, "scripted a, b", "", "a rehearsal; rules") == (
        "the patients were made up; a rehearsal; scripted a, b; rules"
    )
    assert because(None, "") is None


def test_what_is_no_run_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, found in (("", "no run.json"), ("file", "is a file"), ("none", "does not exist")):
        with pytest.raises(InputError, match=found) as raised:
            read_run(tmp_path / name)
        assert "repeat its command" in raised.value.do


def test_a_row_of_a_sheet_is_that_of_the_spreadsheet_whatever_lines_its_cells_have(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_text('rater,note\nR1,"one\ntwo\nthree"\nR1,b\n')
    assert [where for where, _ in read_sheet(path, ["note"])] == [f"{path}, row 2", f"{path}, row 3"]


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "note,note\n1,2\n", "note\n", "note\n1,2\n"])
def test_a_sheet_that_cannot_be_read_says_what_to_do(text: str, tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(text)
    with pytest.raises(InputError) as raised:
        read_sheet(tmp_path / "sheet.csv", ["note"])
    assert raised.value.expected and raised.value.do
