"""Your numbers beside the paper's: what may be called a reproduction, and what cannot be compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baselines.results.comparison import Compared, compare, read_runs
from baselines.results.published import counterpart
from baselines.results.run import DataUsed, Result, write_run
from loaders.errors import InputError
from scripts.cli import execute
from tests.parts.papers import states, states_the_data
from tests.parts.runs import DIGEST, record, results, write

Capture = pytest.CaptureFixture[str]
OTHER = DataUsed("medlaybench-v", "test", "v1.0.0", "cd" * 32)


@pytest.fixture(autouse=True)
def _the_papers_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs over the rows with `DIGEST` are of the paper's data, and of nothing else is anything stated."""
    states_the_data(monkeypatch, "Table 1", "Table 3", "Table 5", "Table A1", "Table A3", digest=DIGEST)


def test_why_numbers_are_missing_is_said(tmp_path: Path, capsys: Capture) -> None:
    found = record()
    made = [
        replace(one, value=None, ci95=None, note="invalid run: nobody spoke") for one in results(["Table 3"], found)
    ]
    write_run(tmp_path / "run", found, made)
    assert execute(["compare", str(tmp_path / "run")]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert f"{len(made)} numbers are not computed: invalid run: nobody spoke" in told


def _cell(**changes: Any) -> Compared:
    """BiomedCLIP's recall in Table 3, published as 31.06, as reproduced by a run."""
    found = record(stand_in=None)
    cell = next(one for one in results(["Table 3"], found) if one.row == "BiomedCLIP")
    own = replace(cell, **({"ci95": None} | changes))
    return Compared(own, counterpart(own))


def test_a_condition_of_which_the_paper_states_nothing_has_a_name(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = "MedLayBench-V,Table A1,,,,,data,data.{},x,made up\n"
    states(monkeypatch, line.format("repository") + line.format("commit"))
    found = record(stand_in=None)
    write_run(tmp_path / "run", found, results(["Table A1"], found))
    assert execute(["compare", str(tmp_path / "run")]) == 0
    conditions = capsys.readouterr().out.partition("Conditions of the paper's tables")[2].splitlines()
    silent = [line.split() for line in conditions if line.endswith("  not stated")]
    assert ["prompts", "not", "stated"] in [[words[0], *words[-2:]] for words in silent]
    assert all(words != ["not", "stated", "not", "stated"] for words in silent)


@pytest.mark.parametrize(
    ("changes", "verdict", "difference"),
    [
        ({"value": 31.064}, "equal as printed", 0.004),
        ({"value": 31.07}, "differs", 0.01),
        ({"value": 30.5, "ci95": (29.9, 31.1)}, "published number inside ci95", -0.56),
        ({"value": 30.5, "ci95": (29.9, 30.9)}, "published number outside ci95", -0.56),
        # The published number may be half a unit of its last decimal away: 31.055 to 31.065.
        ({"value": 30.5, "ci95": (29.9, 31.056)}, "published number inside ci95", -0.56),
        ({"value": 30.5, "ci95": (29.9, 31.054)}, "published number outside ci95", -0.56),
        ({"value": 31.5, "ci95": (31.064, 32.1)}, "published number inside ci95", 0.44),
        ({"value": 31.5, "ci95": (31.066, 32.1)}, "published number outside ci95", 0.44),
        ({"value": None, "note": "no GPU"}, "not computed", None),
        ({"value": 0.31, "unit": "proportion"}, "other unit: proportion, published in percent", None),
        ({"value": 31.06, "row": "my encoder"}, "not in the paper", None),
        ({"value": 31.06, "record": record()}, "no reproduction", 0.0),
        ({"value": 31.06, "record": record(stand_in=None, data=OTHER)}, "no reproduction", 0.0),
        ({"value": 31.06, "record": record(stand_in=None, judged=False)}, "no reproduction", 0.0),
    ],
)
def test_what_a_pair_may_be_called(changes: dict[str, Any], verdict: str, difference: float | None) -> None:
    pair = _cell(**changes)
    assert pair.verdict == verdict
    assert pair.difference == (None if difference is None else pytest.approx(difference))


def test_a_small_p_is_never_0_and_a_proportion_has_three_decimals() -> None:
    own = _cell().own
    values = [
        ("p", 0.0004, "< 0.001"),
        ("p", 0.0312, "0.031"),
        ("proportion", 0.5136, "0.514"),
        ("pairs", 1200, "1,200"),
        ("percentage points", -0.004, "0.00"),  # no sign before nothing
        ("percentage points", -0.006, "-0.01"),
    ]
    for unit, value, shown in values:
        assert Compared(replace(own, unit=unit, value=value, ci95=None), None).printed == shown


@pytest.mark.parametrize(
    ("ci95", "ends"),
    [
        ((-0.004, 0.506), ("0.00", "0.51")),
        ((9.0012, 9.0016), ("9.001", "9.002")),  # equal ends would pass for certainty
        (None, None),
    ],
)
def test_the_ends_of_an_interval_are_told_apart(ci95: tuple[float, float] | None, ends: tuple[str, str] | None) -> None:
    assert Compared(replace(_cell().own, ci95=ci95), None).interval == ends


def test_a_doubtful_number_is_no_target() -> None:
    found = record(stand_in=None)
    cell = next(one for one in results(["Table 1"], found) if one.column == "Average Sentence Length")
    assert Compared(cell, counterpart(cell)).verdict == "published number in doubt"


def test_a_stand_in_is_never_called_a_reproduction(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    run = write(tmp_path / "run", ["Table 3"])  # the paper's very numbers, from made-up data
    assert {pair.verdict for pair in compare(read_runs([run]))} == {"no reproduction"}
    assert execute(["compare", str(run), "--all"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "96 of 96 numbers are stand-ins and reproduce nothing" in shown
    assert "reproduced" not in shown and "equal as printed" not in shown
    assert f"data data.content_digest {DIGEST[:16]}…; made up {DIGEST[:16]}… equal Table 3" in shown


@pytest.mark.parametrize("arguments", [["run"], []])
def test_what_is_printed_fits_a_screen_unless_everything_is_asked_for(
    arguments: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    found = record(stand_in=None)
    cells = results(["Table 3"], found)
    cells[40] = replace(cells[40], value=(cells[40].value or 0.0) + 1.5)
    write_run(tmp_path / "run", found, cells)
    given = [str(tmp_path / name) for name in arguments]
    assert execute(["compare", *given]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n") <= 40 and "--all" in shown
    if arguments:
        assert "+1.50" in shown and f"{cells[40].row}, {cells[40].setting}" in shown
    assert execute(["compare", *given, "--all"]) == 0
    assert capsys.readouterr().out.count("\n") > 100


def test_how_much_data_there_was_is_no_largest_difference(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    found = record(stand_in=None)
    cells = [replace(one, value=1.0, ci95=None) if one.unit == "pairs" else one for one in results(["Table 1"], found)]
    write_run(tmp_path / "run", found, [replace(one, value=99.0) if one.column == "FRE" else one for one in cells])
    assert execute(["compare", str(tmp_path / "run")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Table 1, ")]
    assert len(lines) == 4 and all(", FRE  " in line and " score " in line for line in lines), lines  # and its unit


def test_differences_in_several_units_are_compared_in_proportion(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    found = record(stand_in=None)
    off = {"FKGL": 1.3, "FRE": 1.2}  # of scores, more points than of grades
    numbers = [
        replace(one, ci95=None, value=(one.value or 0) * off.get(one.column, 1)) for one in results(["Table 1"], found)
    ]
    write_run(tmp_path / "run", found, numbers)
    assert execute(["compare", str(tmp_path / "run")]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Table 1, ")]
    assert len(lines) == 4 and all(", FKGL  " in line and " grade " in line for line in lines), lines


def test_every_row_of_the_table_names_its_provenance(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    write(tmp_path / "made", ["Table 5"])
    write(tmp_path / "real", ["Table 5"], stand_in=None, off=0.3)
    assert execute(["compare", str(tmp_path / "made"), str(tmp_path / "real")]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  Mean of the 8 models")]
    assert len(rows) == 8
    assert sum("stand-in" in row for row in rows) == sum("reproduced" in row for row in rows) == 4


def test_json_holds_paper_own_and_difference(tmp_path: Path, capsys: Capture) -> None:
    run = write(tmp_path / "run", ["Table A1"], stand_in=None)
    assert execute(["compare", str(run), "--json"]) == 0
    rows = {row["row"]: row for row in json.loads(capsys.readouterr().out)}
    ct, total = rows["Computed Tomography (CT)"], rows["Total"]
    assert (ct["published"], ct["value"], ct["difference"], ct["verdict"]) == (
        27747.0,
        27747.0,
        0.0,
        "equal as printed",
    )
    assert ct["provenance"] == "reproduced" and ct["run_id"] == record(stand_in=None).run_id
    assert total["published_wrong"].startswith("the splits of Table 1 sum to 79,793")
    assert total["verdict"] == "published number in doubt"


def test_known_inconsistencies_are_flagged_in_the_table(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scripts.compare.output.width", 120)
    run = write(tmp_path / "run", ["Table A3"])
    assert execute(["compare", str(run), "--table", "table a3"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "0.04 [1]" in shown and "0.980 [1]" in shown and "[1] +0.04 with p = .980" in shown


def test_own_numbers_without_counterpart_are_counted_and_shown_on_demand(tmp_path: Path, capsys: Capture) -> None:
    found = record()
    cells = results(["Table 5"], found)
    write_run(tmp_path, found, [*cells, replace(cells[0], split_or_group="test; one pool")])
    assert execute(["compare", str(tmp_path)]) == 0
    assert "1 number more has no counterpart" in capsys.readouterr().out
    assert execute(["compare", str(tmp_path), "--all", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 5


def test_without_runs_the_paper_is_checked_against_itself(capsys: Capture) -> None:
    assert execute(["compare", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert len(facts["checks"]) == 282 and sum(check["holds"] for check in facts["checks"]) == 230
    assert any(one["row"] == "L (lay reader)" for one in facts["wrong"])
    assert execute(["compare", "--table", "Table 5"]) == 0
    shown = capsys.readouterr().out
    assert "Table 5" in shown and "Table 4" not in shown and "4     4" in shown


# --- What cannot be compared ------------------------------------------------------------------------------------------


def _message(arguments: list[str], capsys: Capture) -> str:
    assert execute(["compare", *arguments]) == 2
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err and not shown.out
    return " ".join(shown.err.split())


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (OTHER, "content of split test cdcdcdcdcdcdcdcd…"),
        (DataUsed("medlaybench-v", "test", "v2.0.0", DIGEST), "revision v2.0.0"),
        (DataUsed("medlaybench-v", "train", "v2.0.0", "cd" * 32), "revision v2.0.0"),
        (DataUsed("medconceal", "test", None, DIGEST), "corpus medconceal"),
    ],
)
def test_runs_over_different_data(other: DataUsed, found: str, tmp_path: Path, capsys: Capture) -> None:
    runs = [str(write(tmp_path / "one", ["Table 5"])), str(write(tmp_path / "two", ["Table 5"], data=other))]
    message = _message(runs, capsys)
    assert found in message and "--different-data" in message and str(tmp_path / "one") in message
    assert execute(["compare", *runs, "--different-data"]) == 0


@pytest.mark.parametrize(
    "other",
    [
        DataUsed("medlaybench-v", "train", "v1.0.0", "cd" * 32),  # another split of one release
        DataUsed("medlaybench-v", "test", None, DIGEST),  # a revision that is not known is no other one
    ],
)
def test_runs_over_one_release_go_together(other: DataUsed, tmp_path: Path) -> None:
    runs = [write(tmp_path / "one", ["Table 5"]), write(tmp_path / "two", ["Table 5"], data=other)]
    assert len(read_runs(runs)) == 2


def test_of_two_folders_only_the_content_tells(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", ["Table 5"], data=DataUsed("medlaybench-v", "test", None, DIGEST))
    changed = write(tmp_path / "two", ["Table 5"], data=DataUsed("medlaybench-v", "test", None, "cd" * 32))
    with pytest.raises(InputError, match="content of split test"):
        read_runs([folder, changed])


def test_the_same_run_twice(tmp_path: Path, capsys: Capture) -> None:
    run = str(write(tmp_path / "run", ["Table 5"]))
    assert "the same run as" in _message([run, run], capsys)


def test_a_run_that_was_played_again(tmp_path: Path, capsys: Capture) -> None:
    runs = [str(write(tmp_path / name, ["Table 5"], off=off)) for name, off in (("one", 0.0), ("two", 0.5))]
    message = _message(runs, capsys)
    assert f"a repetition of {runs[0]}" in message and "--epochs" in message


def test_a_folder_that_is_no_finished_run(tmp_path: Path, capsys: Capture) -> None:
    assert "no run.json" in _message([str(tmp_path)], capsys)


def test_nothing_that_the_paper_prints_too(tmp_path: Path, capsys: Capture) -> None:
    found = record()
    cell: Result = replace(results(["Table 5"], found)[0], table="Table 99")
    write_run(tmp_path, found, [cell])
    said = _message([str(tmp_path)], capsys)
    assert "no number with a published counterpart (tables: Table 99)" in said and "published.csv" not in said
    assert "expected one of Table 1, Table 2," in said
    write_run(tmp_path / "own", found, [replace(cell, paper="mine", table="Words")])  # as the skeleton of a baseline
    assert "expected numbers of the papers: 3MDBench, " in _message([str(tmp_path / "own")], capsys)


def test_a_table_that_does_not_exist(tmp_path: Path, capsys: Capture) -> None:
    assert "Table 77" in _message(["--table", "Table 77"], capsys)
    run = str(write(tmp_path / "run", ["Table 5"]))
    for named in (["Table 77"], ["table 5", "Table 77"], [""]):
        given = [word for name in named for word in ("--table", name)]
        assert "one of the tables here: Table 5" in _message([run, *given], capsys), named
