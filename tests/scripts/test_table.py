"""`bedside table`: the paper's tables with own rows, in three formats that others can read."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.report.printed import _tex, latex, markdown, printed
from baselines.report.printed import csv as as_csv
from baselines.report.tables import tables
from baselines.results.comparison import read_runs
from baselines.results.published import published
from baselines.results.run import DataUsed, Result, RunRecord, write_run
from scripts.cli import execute

AVERAGE = "Average Sentence Length"  # of which the published numbers are in doubt


def run(folder: Path, *, stand_in: str | None, row: str = "Own & co_50%") -> Path:
    """A run of Table 3 (one row of another name) and of two lines of Table 1, and a number that no paper has."""
    folder.mkdir()
    options = {"made": folder.name}
    record = RunRecord(
        baseline="made", data=DataUsed("medlaybench-v", "test", None, "ab" * 32), options=options, stand_in=stand_in
    )
    theirs = [number for number in published("MedLayBench-V", "Table 3") if number.row == "BiomedCLIP"]
    theirs += [one for one in published("MedLayBench-V", "Table 1") if one.column in ("FKGL", AVERAGE)]
    made = [
        Result(
            paper=one.paper, table=one.table, row=row if one.table == "Table 3" else one.row, setting=one.setting,
            column=one.column, split_or_group=one.split_or_group, value=one.value + 1, unit=one.unit, n=32,
            ci95=(one.value, one.value + 2), record=record,
        )
        for one in theirs
    ]  # fmt: skip
    other = replace(made[0], column="R@99", value=1.0, ci95=None)
    write_run(folder, record, [*made, other])
    return folder


def rows_of(text: str) -> list[list[str]]:
    """The cells of every line of a tabular."""
    body = re.findall(r"\\begin\{tabular\}\{(l\w+)\}(.*?)\\end\{tabular\}", text, re.S)
    found = []
    for columns, lines in body:
        for line in lines.split(r" \\")[:-1]:
            cells = re.split(r"(?<!\\)&", line)
            spans = sum(int(span) - 1 for span in re.findall(r"\\multicolumn\{(\d+)\}", line))
            assert len(cells) + spans == len(columns)
            found.append([cell.strip() for cell in cells])
    return found


def test_latex_is_booktabs_with_intervals_and_marks(tmp_path: Path) -> None:
    views = tables(read_runs([run(tmp_path / "own", stand_in=None)]))
    text = latex([printed(view, paper=True) for view in views])
    rows = rows_of(text)
    at = next(at for at, row in enumerate(rows) if row[0].startswith(r"Own \& co\_50\%"))
    assert re.fullmatch(r"\d+\.\d\d\$\^\\dagger\$", rows[at][1])
    assert rows[at + 1][0] == "" and re.fullmatch(r"\\scriptsize \{\}\[\d+\.\d\d, \d+\.\d\d\]", rows[at + 1][1])
    # no wider and no higher than its place
    assert text.count(r"\resizebox{\ifdim\width") == text.count(r"\end{tabular}}}") == len(views)
    assert text.count(r"\resizebox*{!}{\ifdim\totalheight") == len(views)
    assert next(row for row in rows if row[0].startswith("BiomedCLIP"))[1].count("[") == 0
    assert r"23.73\textsuperscript{a}" in text and r"\cmidrule(lr){2-3}" in text and r"\toprule" in text
    assert "$^\\dagger$ not reproduced: data" in text and text.count("{") == text.count("}")


def test_markdown_keeps_what_is_in_cells(tmp_path: Path) -> None:
    folders = [run(tmp_path / "one", stand_in="made | up"), run(tmp_path / "two", stand_in=None)]
    text = markdown([printed(view, paper=False) for view in tables(read_runs(folders))])
    lines = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.split(r"(?<!\\)\|", line)) for line in lines[:4]}
    assert len(widths) == 1 and "(run 2)" in text and "‡" in text and "†" in text
    assert r"made \| up" in text and "BiomedCLIP" not in text and "(published)" not in text
    ids = [read_runs([folder])[0].record.run_id for folder in folders]
    assert f"run 1: {ids[0]}; run 2: {ids[1]}" in text


def test_two_reasons_have_two_marks(tmp_path: Path) -> None:
    folders = [run(tmp_path / reason, stand_in=reason) for reason in ("random", "sample")]
    text = markdown([printed(view, paper=False) for view in tables(read_runs(folders))])
    notes = [line.strip() for line in text.splitlines() if "no reproduction" in line]
    assert sorted({note.partition(" ")[0] for note in notes}) == ["‡", "‡<sup>2</sup>"]
    assert "]‡ |" in text.replace("\\", "") and "]‡<sup>2</sup> |" in text.replace("\\", "")


def changed(folder: Path, name: str, change: Callable[[Result], Result]) -> Path:
    """Another run beside this one, each number changed."""
    (found,) = read_runs([folder])
    record = replace(found.record, options={"made": name})
    made = folder.parent / name
    made.mkdir()
    write_run(made, record, [replace(change(one), record=record) for one in found.results])
    return made


def test_what_numbers_say_of_themselves_stands_below_with_where_it_holds(tmp_path: Path) -> None:
    def left_out(result: Result) -> Result:
        note = "2 answers left out" if result.column.startswith("T2I") else ""
        made = replace(result, note=note)
        return replace(made, value=None, ci95=None) if result.column == "T2I Recall@5" else made

    plain = run(tmp_path / "plain", stand_in=None)
    noted = changed(plain, "noted", left_out)
    for folders, which in (([noted], ""), ([plain, noted], "run 2; ")):
        (view,) = (one for one in tables(read_runs(folders)) if one.name == "Table 3")
        assert view.remarks == [
            f"{which}T2I Recall@1 | T2I Recall@10: 2 answers left out",
            f"{which}T2I Recall@5: not computed: 2 answers left out",
        ]
        made = [printed(view, paper=True)]
        assert "T2I Recall@10: 2 answers left out" in markdown(made) and "left out" in latex(made)


def test_below_a_table_stands_nothing_of_columns_that_it_lacks_but_what_went_wrong(tmp_path: Path) -> None:
    """Notes named numbers that only the CSV holds; that half of the cases were lost, no table said."""

    def lacking(result: Result) -> Result:
        if result.column != "R@99":
            return result
        return replace(result, value=None, ci95=None, note="no case has a part in it")

    def lost(result: Result) -> Result:
        trouble = replace(result, column="Not played", unit="proportion", value=0.5, numerator=16.0, denominator=32.0)
        return trouble if result.column == "R@99" else result

    plain = run(tmp_path / "plain", stand_in=None)
    without, wrong = changed(plain, "without", lacking), changed(plain, "wrong", lost)
    for folders, remarks in (
        ([without], []),
        ([wrong], ["Not played: 16 of 32"]),
        ([plain, wrong], ["run 2: Not played: 16 of 32"]),
    ):
        views = tables(read_runs(folders))
        assert {view.name for view in views} == {"Table 1", "Table 3"}
        assert all(view.remarks == remarks for view in views)


def test_n_is_given_below_or_where_it_differs(tmp_path: Path) -> None:
    def shown(*folders: Path, table: str, paper: bool = False) -> str:
        views = [view for view in tables(read_runs(list(folders))) if view.name == table]
        return markdown([printed(view, paper=paper) for view in views]).replace("\\", "")

    def one_of_7(result: Result) -> Result:
        return replace(result, n=7) if result.column == "T2I Recall@1" else result

    alike = run(tmp_path / "alike", stand_in=None)
    assert "\nn = 32  \n" in shown(alike, table="Table 3")
    assert "\nown numbers: n = 32  \n" in shown(alike, table="Table 3", paper=True)
    more = shown(alike, changed(alike, "more", lambda one: replace(one, n=1234)), table="Table 3")
    assert "(run 1, n = 32) |" in more and "(run 2, n = 1,234) |" in more and "\nn = " not in more
    by_column = shown(changed(alike, "part", one_of_7), table="Table 3")
    assert "n = 7: T2I Recall@1" in by_column and "(n = 7)" not in by_column
    within = shown(alike, changed(alike, "few", one_of_7), table="Table 3")
    assert within.count(" (n = 7) |") >= 1 and "(run 2, n = 32) |" in within
    none = changed(alike, "none", lambda one: replace(one, value=None, ci95=None, note="no model was here"))
    assert "not computed: no model was here" in shown(none, table="Table 3")


def test_csv_holds_every_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(tmp_path / "own", stand_in="made up", row="=cmd()")
    assert execute(["table", str(folder), "--format", "csv", "--paper"]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    own = [line for line in lines if line["source"] == "own"]
    assert {line["run_id"] for line in own} == {read_runs([folder])[0].record.run_id}
    assert len(own) == len(read_runs([folder])[0].results) and {line["mark"] for line in own} == {"‡"}
    assert any(line["column"] == "R@99" for line in own) and not any(line["row"].startswith("=") for line in own)
    assert sum(line["source"] == "published" for line in lines) > 100


def test_a_column_that_the_paper_lacks_stands_in_the_same_row_of_csv(tmp_path: Path) -> None:
    (finished,) = read_runs([run(tmp_path / "own", stand_in=None)])
    pooled = replace(finished.results[0], column="R@99", split_or_group="test; one pool")
    views = tables([replace(finished, results=[*finished.results, pooled])])
    lines = list(csv.DictReader(io.StringIO(as_csv(views, paper=False))))
    rows = {line["row"] for line in lines if line["table"] == "Table 3" and "Recall" in line["column"]}
    others = [line["row"] for line in lines if line["column"] == "R@99"]
    assert others[0] in rows and others[1] == f"{others[0]}, test; one pool"


@pytest.mark.parametrize(
    "arguments", [["--format", "docx"], ["--table", "Table 9"], ["--table", "Table 3", "--table", "Table 9"]]
)
def test_a_mistake_is_one_error(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: Sequence[str]) -> None:
    assert execute(["table", str(run(tmp_path / "own", stand_in=None)), *arguments]) == 2
    assert "expected" in capsys.readouterr().err


def test_what_has_no_place_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "table.md"
    assert execute(["table", str(run(tmp_path / "own", stand_in=None)), "-o", str(out)]) == 0
    said = capsys.readouterr()
    assert not said.out and "1 number has no place" in said.err and "**" in out.read_text()


def test_every_sign_that_latex_reads_is_escaped() -> None:
    assert _tex(r"a_b^c~d\e{f}$5 #1 -3 1-2") == (
        r"a\_b\textasciicircum{}c\textasciitilde{}d\textbackslash{}e\{f\}\$5 \#1 $-$3 1-2"
    )
    assert _tex("Λ-llama β Ο-1") == r"$\Lambda$-llama $\beta$ O-1"  # of which pdfLaTeX has no letter in a text


@pytest.mark.parametrize("row", ["[ours]", "*ours"])
def test_a_row_that_begins_like_an_argument_is_none_of_the_line_before(row: str, tmp_path: Path) -> None:
    folder = run(tmp_path / "own", stand_in=None, row=row)
    text = latex([printed(view, paper=True) for view in tables(read_runs([folder])) if view.name == "Table 3"])
    assert f"\n{{}}{row}" in text and not re.search(r"(\\\\|\\midrule)\s*[\[*]", text)
