"""Human evaluation: blank sheets, what raters send back, and Table 4."""

from __future__ import annotations

import csv
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.medlaybench_v.ratings import (
    CRITERIA,
    evaluate,
    krippendorff_alpha,
    possible,
    read_sheets,
    write_sheets,
)
from baselines.results.run import Result, read_run
from baselines.statistics.significance import wilson_interval
from loaders.errors import InputError
from scripts.cli import execute
from tests.parts.runs import release
from tests.parts.sheets import read_sheet, write_sheet

Ratings = list[tuple[str, str, tuple[int | str, ...]]]
Capture = pytest.CaptureFixture[str]


def rows(count: int = 30) -> list[dict[str, Any]]:
    return [
        {"image_id": f"i{n:02}", "expert_caption": f"Pneumothorax, {n} cm", "layman_caption": f"collapsed lung, {n} cm"}
        for n in range(count)
    ]


def _sheet(path: Path, ratings: Ratings) -> Path:
    rows = [
        {"rater": rater, "pair": pair, **dict(zip(CRITERIA, scores, strict=True))} for rater, pair, scores in ratings
    ]
    return write_sheet(path, rows, ["rater", "pair", *CRITERIA])


def _filled(path: Path) -> Path:
    """Two raters, four pairs; the second differs in Simplicity alone."""
    one = [5, 4, 3, 4]
    other = [5, 5, 3, 3]
    ratings = [("R1", f"P{at}", (5, 4, score, 5)) for at, score in enumerate(one)]
    ratings += [("R2", f"P{at}", (5, 4, score, 5)) for at, score in enumerate(other)]
    return _sheet(path, ratings)


# --- Blank sheets -----------------------------------------------------------------------------------------------------


def test_blank_sheets_hold_the_same_pairs_for_every_rater_in_another_order(tmp_path: Path) -> None:
    written = write_sheets(rows(), tmp_path / "sheet.csv", pairs=10, raters=3, seed=1)
    assert [path.name for path in written] == ["sheet-R1.csv", "sheet-R2.csv", "sheet-R3.csv", "sheet.md"]
    sheets = [read_sheet(path) for path in written[:3]]
    assert [len(sheet) for sheet in sheets] == [10, 10, 10]
    orders = [[row["pair"] for row in sheet] for sheet in sheets]
    assert sorted(orders[0]) == sorted(orders[1]) == sorted(orders[2]) and len({tuple(order) for order in orders}) == 3
    by_pair = [{row["pair"]: (row["image_id"], row["layman_caption"]) for row in sheet} for sheet in sheets]
    assert by_pair[0] == by_pair[1] == by_pair[2]
    assert {row["rater"] for row in sheets[1]} == {"R2"}
    assert all(row[column] == "" for sheet in sheets for row in sheet for column in CRITERIA)
    instructions = written[3].read_text(encoding="utf-8")
    assert "10 pairs" in instructions and all(column in instructions for column in CRITERIA)


def test_the_sample_depends_on_the_seed_and_not_on_the_order_of_the_rows(tmp_path: Path) -> None:
    def drawn(name: str, found: list[dict[str, Any]], seed: int) -> bytes:
        return write_sheets(found, tmp_path / name / "s.csv", pairs=10, raters=1, seed=seed)[0].read_bytes()

    assert drawn("a", rows(), 0) == drawn("b", rows()[::-1], 0) != drawn("c", rows(), 1)


def test_a_stand_in_release_makes_stand_in_ratings(tmp_path: Path) -> None:
    written = write_sheets(rows(), tmp_path / "sheet.csv", pairs=3, raters=2, stand_in="sample data")
    for path in written[:2]:
        found = read_sheet(path)
        _rewrite(path, [row | dict.fromkeys(CRITERIA, "4") for row in found], ";")
    read = read_sheets(written[:2])
    assert read.stand_in == "sample data" and read.raters == ("R1", "R2") and read.pairs == ("P1", "P2", "P3")
    assert {result.provenance for result in evaluate(read, resamples=10)} == {"stand-in"}


def _rewrite(path: Path, found: list[dict[str, str]], delimiter: str) -> None:
    """As a spreadsheet would save it: another delimiter, no mark, an empty line at the end."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), delimiter=delimiter, lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(found)
        file.write(delimiter * (len(found[0]) - 1) + "\r\n")


@pytest.mark.parametrize(
    ("found", "options", "message"),
    [
        (rows(5), {"pairs": 6}, "6, of 5 rows"),
        (
            [*rows(5), {"image_id": "x", "expert_caption": "a", "layman_caption": " "}],
            {"pairs": 3},
            "no layman_caption",
        ),
    ],
)
def test_what_no_sheet_can_be_made_of(
    found: list[dict[str, Any]], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        write_sheets(found, tmp_path / "sheet.csv", **options)
    assert not list(tmp_path.iterdir())


def test_a_sheet_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "sheet-R2.csv").write_text("hours of work")
    with pytest.raises(InputError, match="an existing"):
        write_sheets(rows(), tmp_path / "sheet.csv", pairs=3)
    assert [path.name for path in tmp_path.iterdir()] == ["sheet-R2.csv"]


# --- Table 4 ----------------------------------------------------------------------------------------------------------


def test_table_4_of_ratings_that_can_be_checked_by_hand(tmp_path: Path) -> None:
    read = read_sheets([_filled(tmp_path / "sheet.csv")])
    results = evaluate(read, resamples=200)
    cells = {(result.row, result.column): result for result in results}
    # 5, 4, 3, 4: mean 4, squares 1 + 0 + 1 + 0 over 3
    assert cells["R1", "Simplicity (mean)"].value == 4
    assert cells["R1", "Simplicity (SD)"].value == pytest.approx((2 / 3) ** 0.5)
    assert (cells["R1", "Simplicity (mean)"].numerator, cells["R1", "Simplicity (mean)"].denominator) == (16, 4)
    assert cells["R2", "Simplicity (SD)"].value == pytest.approx((4 / 3) ** 0.5)
    assert cells["Average of the two raters", "Simplicity (mean)"].value == 4
    assert cells["R1", "Fluency (SD)"].value == 0
    # Four equal ratings of 5 leave room for others, which are 1 at least.
    room = wilson_interval(0, 4)[1]
    assert [cells["R1", f"{name} (mean)"].value for name in ("Factual Correctness", "Fluency")] == [5, 5]
    assert cells["R1", "Fluency (mean)"].ci95 == pytest.approx((5 - 4 * room, 5))
    # Quadratic weights: observed 0 + 1 + 0 + 1 = 2; by chance, over all 16 combinations, 32 / 4 = 8: 1 - 2/8
    kappa = cells["R1 and R2", "Simplicity (weighted kappa)"]
    assert kappa.value == pytest.approx(1 - 2 / _chance([5, 4, 3, 4], [5, 5, 3, 3]))
    assert kappa.note == "50% of the ratings are equal" and kappa.ci95 is not None
    undefined = cells["R1 and R2", "Fluency (weighted kappa)"]
    assert undefined.value is None and "undefined" in undefined.note and "100%" in undefined.note
    assert cells["All raters", "Fluency (Krippendorff alpha)"].value is None
    assert {result.n for result in results} == {4}
    assert {result.setting for result in results} == {"4 SCGR caption pairs"}


def _chance(one: list[int], other: list[int]) -> float:
    return sum((a - b) ** 2 for a, b in product(one, other)) / len(one)


def test_alpha_of_scores_that_can_be_checked_by_hand() -> None:
    # Within items 0, 1, 0, 1 on average over two coders: mean squared difference 2/4. Of the 28 pairs of the 8 scores
    # (3, 3, 3, 4, 4, 5, 5, 5) squared differences sum to 3*2*1 + 3*3*4 + 2*3*1 = 48.
    scores = np.array([[5, 4, 3, 4], [5, 5, 3, 3]], dtype=float)
    assert krippendorff_alpha(scores) == pytest.approx(1 - (2 / 4) / (48 / 28))
    assert krippendorff_alpha(np.array([[1.0, 2, 3], [1, 2, 3]])) == 1
    assert krippendorff_alpha(np.full((2, 3), 5.0)) is None


def test_grim_tells_possible_from_impossible_values() -> None:
    assert possible(4.95, 0.22, 100)
    assert not possible(4.95, 0.17, 100)  # the paper's lay reader
    assert not possible(4.955, 0.21, 7)


def test_one_rater_has_neither_average_nor_agreement(tmp_path: Path) -> None:
    sheet = _sheet(tmp_path / "s.csv", [("R1", f"P{at}", (5, 4, 3, 2)) for at in range(3)])
    assert {result.row for result in evaluate(read_sheets([sheet]), resamples=10)} == {"R1"}


def test_the_record_depends_on_what_was_rated_only(tmp_path: Path) -> None:
    def run(folder: str, ratings: Ratings) -> Result:
        return evaluate(read_sheets([_sheet(tmp_path / folder, ratings)]), resamples=10)[0]

    one: Ratings = [("R1", "P1", (5, 5, 5, 5)), ("R1", "P2", (4, 4, 4, 4))]
    assert run("a.csv", one).run_id == run("b.csv", one[::-1]).run_id
    assert run("a.csv", one).run_id != run("c.csv", [*one, ("R1", "P3", (1, 1, 1, 1))]).run_id


# --- What raters send back --------------------------------------------------------------------------------------------

GOOD = (5, 4, 3, 2)


@pytest.mark.parametrize(
    ("ratings", "message"),
    [
        ([("R1", "P1", (5, 6, 3, 2))], r"row 2, completeness: '6' \(expected an integer from 1 to 5\)"),
        ([("R1", "P1", (5, 4, 3, 0))], "row 2, fluency: '0'"),
        ([("R1", "P1", ("4.5", 4, 3, 2))], r"factual_correctness: '4\.5'"),
        ([("R1", "P1", ("4,5", 4, 3, 2))], r"factual_correctness: '4,5' \(expected an integer from 1 to 5\)"),
        ([("R1", "P1", ("4,000", 4, 3, 2))], "factual_correctness: '4,000'"),
        ([("R1", "P1", ("6,0", 4, 3, 2))], "factual_correctness: '6,0'"),
        ([("R1", "P1", (5, 4, "", 2))], "simplicity: no rating"),
        ([("", "P1", GOOD), ("R1", "P2", GOOD)], "row 2: no rater"),
        ([("R1", "", GOOD)], "row 2: no pair"),
        ([("R1", "P1", GOOD), ("R1", "P1", GOOD)], "row 3: pair P1 of rater R1 again"),
        (
            [("R1", "P1", GOOD), ("R1", "P2", GOOD), ("R2", "P2", GOOD)],
            "rater R2: no rating of 1 of 2 pairs, the first P1",
        ),
        ([("R1", "P1", GOOD), ("R2", "P1", GOOD)], "1 pair"),
        ([], "no filled row"),
    ],
)
def test_ratings_that_cannot_be_used(ratings: Ratings, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_sheets([_sheet(tmp_path / "sheet.csv", ratings)])


def test_a_whole_number_that_a_spreadsheet_shows_with_decimals_is_that_number(tmp_path: Path) -> None:
    shown: Ratings = [("R1", "P1", ("5,0", "4.0", "3,00", 2)), ("R1", "P2", GOOD)]
    read = read_sheets([_sheet(tmp_path / "sheet.csv", shown)])
    assert read.scores.tolist() == [[list(GOOD), list(GOOD)]]


def test_files_that_are_no_sheets(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_sheets([tmp_path / "absent.csv"])
    other = tmp_path / "other.csv"
    other.write_text("rater,pair,simplicity\nR1,P1,5\n")
    with pytest.raises(InputError, match="no column factual_correctness, completeness, fluency"):
        read_sheets([other])
    other.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(InputError, match="is text in UTF-16"):
        read_sheets([other])
    other.write_text("")
    with pytest.raises(InputError, match="is empty"):
        read_sheets([other])


def test_blank_lines_above_the_header_of_a_sheet(tmp_path: Path) -> None:
    path = _filled(tmp_path / "sheet.csv")
    before = read_sheets([path])
    path.write_bytes(b"\n,,\n" + path.read_bytes())
    assert (read_sheets([path]).scores == before.scores).all()
    path.write_text("\nrater,pair,simplicity,factual_correctness,completeness,fluency\nR1,P1,9,5,5,5\n")
    with pytest.raises(InputError, match="row 3"):  # as a spreadsheet numbers it
        read_sheets([path])


def test_raters_who_saw_other_captions(tmp_path: Path) -> None:
    written = write_sheets(rows(), tmp_path / "sheet.csv", pairs=3, raters=2)[:2]
    for path, caption in zip(written, ("as drawn", "edited"), strict=True):
        found = [row | dict.fromkeys(CRITERIA, "4") for row in read_sheet(path)]
        if caption == "edited":
            found[0]["layman_caption"] = caption
        _rewrite(path, found, ",")
    with pytest.raises(InputError, match="with other captions than in .*sheet-R1.csv, row"):
        read_sheets(written)


# --- Commands ---------------------------------------------------------------------------------------------------------


def test_the_command_prints_table_4_beside_the_papers(tmp_path: Path, capsys: Capture, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    sheet = _filled(tmp_path / "sheet.csv")
    asked = ["ratings", str(sheet), "-o", str(tmp_path / "run")]
    monkeypatch.setattr(sys, "argv", ["bedside", *asked])
    assert execute(asked) == 0
    shown = capsys.readouterr().out
    lines = {line.split("  ")[0]: line for line in shown.splitlines()}
    assert "4.00 ± 0.82" in lines["R1"] and lines["R1"].rstrip().endswith("yes")
    assert (
        "4.95 ± 0.17" in lines["paper: L (lay reader)"] and "no: Factual Correctness" in lines["paper: L (lay reader)"]
    )
    assert lines["paper: E1 (radiologist)"].rstrip().endswith("yes")
    record, results = read_run(tmp_path / "run")
    assert record.baseline == "ratings" and record.stand_in is None and len(results) == 28
    # As every run: what made it, without this machine's places, and where an earlier one in the folder has gone.
    assert record.command == "bedside ratings ../sheet.csv -o ." and record.wall_seconds is not None
    assert str(tmp_path) not in (tmp_path / "run" / "run.json").read_text()
    assert f"run {record.run_id}" in shown
    again = _sheet(tmp_path / "again.csv", [("R1", "P1", (5, 4, 3, 2)), ("R1", "P2", (4, 4, 4, 4))])
    assert execute(["ratings", str(again), "-o", str(tmp_path / "run")]) == 0
    assert f"earlier/{record.run_id}" in capsys.readouterr().out.replace("\n", "")


def test_a_run_is_stored_before_its_numbers_are_printed(tmp_path: Path, monkeypatch: Any) -> None:
    """`| head` ends a command at its first line that finds no reader."""

    def leave(*_: object) -> None:
        raise SystemExit(141)

    monkeypatch.setattr("scripts.ratings._print_pairs", leave)
    with pytest.raises(SystemExit):
        execute(["ratings", str(_filled(tmp_path / "sheet.csv")), "-o", str(tmp_path / "run")])
    assert (tmp_path / "run" / "run.json").exists()


def test_intervals_of_agreement_are_whole_in_60_columns(tmp_path: Path, capsys: Capture, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert execute(["ratings", str(_filled(tmp_path / "sheet.csv"))]) == 0
    shown = capsys.readouterr().out.splitlines()
    opened = [line for line in shown if " (-" in line or " (0." in line or " (1." in line]
    assert opened and all(line.count("(") == line.count(")") for line in opened)


def test_the_command_draws_pairs_from_a_release(tmp_path: Path, capsys: Capture) -> None:
    folder = release(tmp_path / "release")
    assert execute(["sheet", str(folder), "-o", str(tmp_path / "s.csv"), "--pairs", "2", "--raters", "1"]) == 0
    assert "s-R1.csv" in capsys.readouterr().out.replace("\n", "")
    found = read_sheet(tmp_path / "s-R1.csv")
    assert len(found) == 2 and {row["image_id"] for row in found} <= {"p1", "p2", "p3"}
    assert execute(["sheet", str(folder), "-o", str(tmp_path / "t.csv"), "--pairs", "4"]) == 2
    told = capsys.readouterr().err
    assert "4, of 3 rows" in told and "--pairs 3" in told


def test_errors_of_the_command_are_clear(tmp_path: Path, capsys: Capture) -> None:
    sheet = _sheet(tmp_path / "sheet.csv", [("R1", "P1", (5, 6, 3, 2))])
    assert execute(["ratings", str(sheet), "-o", str(tmp_path / "run")]) == 2
    shown = capsys.readouterr().err
    assert "an integer from 1 to 5" in shown and "Traceback" not in shown and not (tmp_path / "run").exists()
    assert execute(["sheet", str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
