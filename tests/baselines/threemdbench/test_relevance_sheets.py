"""Relevance of complaints: blank sheets with their photos, what physicians send back, and Appendix C."""

from __future__ import annotations

import weakref
from collections import UserDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from baselines.results.published import counterpart
from baselines.results.run import Result, read_run
from baselines.threemdbench.relevance_sheets import (
    ADDITIONAL,
    BASIC,
    PUBLISHED,
    evaluate_relevance,
    read_relevance_sheets,
    write_relevance_sheets,
)
from loaders.errors import InputError
from scripts.cli import execute
from tests.builders.threemdbench.test_recipe import build, drawn
from tests.parts.sheets import read_sheet, write_sheet

Capture = pytest.CaptureFixture[str]


def rows(diagnoses: int = 4, cases: int = 3) -> list[dict[str, Any]]:
    return [
        {
            "image_id": f"{name}{n}",
            "diagnosis": f"d{name}",
            "general_complaint": f"basic of d{name}",
            "complaints": [f"{name}{n}, {k}" for k in range(2)],
            "image": {"bytes": f"photo {name}{n}".encode(), "path": f"{name}{n}.png"},
        }
        for name in range(diagnoses)
        for n in range(cases)
    ]


def fill(path: Path, marks: Mapping[str, str], *, other: str = "1") -> Path:
    """Fill a sheet in place: `marks` by item, `other` for the rest."""
    return write_sheet(path, [{**row, "relevant": marks.get(row["item"], other)} for row in read_sheet(path)])


@pytest.fixture
def sheets(tmp_path: Path) -> list[Path]:
    """Two blank sheets of four diagnoses with two additional complaints each."""
    return write_relevance_sheets(rows(), tmp_path / "sheet.csv", raters=2, seed=1)[4:6]


def by_name(results: list[Result]) -> dict[tuple[str, str], Result]:
    return {(result.row, result.column): result for result in results}


# --- Blank sheets -----------------------------------------------------------------------------------------------------


def test_each_rater_gets_the_same_cases_in_another_order_with_the_photos(tmp_path: Path) -> None:
    written = write_relevance_sheets(rows(), tmp_path / "sheet.csv", raters=3, seed=1)
    assert [path.name for path in written] == [
        "D01.png", "D02.png", "D03.png", "D04.png", "sheet-R1.csv", "sheet-R2.csv", "sheet-R3.csv", "sheet.md"
    ]  # fmt: skip
    found = [read_sheet(path) for path in written[4:7]]
    for number, sheet in enumerate(found, start=1):
        assert [row["task"] for row in sheet] == [BASIC] * 4 + [ADDITIONAL] * 8
        assert {row["rater"] for row in sheet} == {f"R{number}"} and {row["relevant"] for row in sheet} == {""}
        assert "image_id" not in sheet[0]
        for row in sheet:
            if row["task"] == ADDITIONAL:
                # The complaint is that of the very photo.
                assert (tmp_path / row["photo"]).read_text() == "photo " + row["complaint"].partition(",")[0]
    orders = [tuple(row["item"] for row in sheet) for sheet in found]
    assert len(set(orders)) > 1 and len({tuple(sorted(order)) for order in orders}) == 1
    assert "4 diagnoses" in written[-1].read_text(encoding="utf-8")


class Photos(Sequence[dict[str, Any]]):
    """Rows that are made when they are read, as those of a file are; `held` is how many there have been at once."""

    def __init__(self) -> None:
        self.alive = weakref.WeakSet[Any]()
        self.held = 0

    def __len__(self) -> int:
        return 40

    def __getitem__(self, at: Any) -> Any:
        found = Row(rows(cases=10)[at])
        self.alive.add(found)
        self.held = max(self.held, len(self.alive))
        return found


class Row(UserDict[str, Any]):
    __hash__ = object.__hash__


def test_no_more_photos_are_kept_than_are_drawn(tmp_path: Path) -> None:
    """A split of thousands may not fit into memory."""
    photos = Photos()
    write_relevance_sheets(photos, tmp_path / "s.csv")
    assert photos.held < 10  # one a diagnosis, and those between which a loop stands


def test_a_photo_without_a_name_of_its_own_gets_one_that_opens(tmp_path: Path) -> None:
    nameless = [{**row, "image": {**row["image"], "path": None}} for row in rows()]
    written = write_relevance_sheets(nameless, tmp_path / "s.csv", raters=1)
    assert [path.name for path in written[:4]] == ["D01.jpg", "D02.jpg", "D03.jpg", "D04.jpg"]


def test_the_cases_depend_on_the_seed_and_not_on_the_order_of_the_rows(tmp_path: Path) -> None:
    def sheet(name: str, found: list[dict[str, Any]], seed: int) -> bytes:
        return write_relevance_sheets(found, tmp_path / name / "s.csv", raters=1, seed=seed)[-2].read_bytes()

    assert sheet("a", rows(), 1) == sheet("b", rows()[::-1], 1)
    assert len({sheet(f"s{seed}", rows(), seed) for seed in range(5)}) > 1


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row"):
        write_relevance_sheets([], tmp_path / "s.csv")
    with pytest.raises(InputError, match="rows of the test split"):
        write_relevance_sheets([{**rows()[0], "complaints": []}], tmp_path / "s.csv")
    write_relevance_sheets(rows(), tmp_path / "s.csv")
    with pytest.raises(InputError, match="an existing"):
        write_relevance_sheets(rows(), tmp_path / "s.csv")


# --- Filled sheets ----------------------------------------------------------------------------------------------------


def test_appendix_c_by_hand(sheets: list[Path]) -> None:
    # R1 finds D01 untypical and D01.1, D02.1 beside the point; R2 finds D01 and D02 untypical, D01.1 and D01.2.
    fill(sheets[0], {"D01": "0", "D01.1": "0,0", "D02.1": "0.0"}, other="1,0")  # as spreadsheets may show them
    fill(sheets[1], {"D01": "0", "D02": "0", "D01.1": "0", "D01.2": "0"})
    found = by_name(evaluate_relevance(read_relevance_sheets(sheets)))
    ours = "Generated complaints"
    shares = {key: (result.numerator, result.denominator) for key, result in found.items() if result.unit == "percent"}
    assert shares == {
        ("R1", "Basic complaints relevant (own marks)"): (3, 4),
        ("R2", "Basic complaints relevant (own marks)"): (2, 4),
        (ours, PUBLISHED[BASIC]): (3, 4),
        (ours, "Basic complaints relevant (more than half of the physicians)"): (2, 4),
        (ours, "Basic complaints relevant (all physicians)"): (2, 4),
        ("R1", "Additional complaints relevant (own marks)"): (6, 8),
        ("R2", "Additional complaints relevant (own marks)"): (6, 8),
        (ours, PUBLISHED[ADDITIONAL]): (7, 8),
        (ours, "Additional complaints relevant (more than half of the physicians)"): (5, 8),
        (ours, "Additional complaints relevant (all physicians)"): (5, 8),
    }
    # Basic: 3 of 4 equal, by chance 3/4 * 2/4 + 1/4 * 2/4 = 1/2. Additional: 6 of 8 equal, by chance 10/16.
    assert found["R1 and R2", "Basic complaints (kappa)"].value == pytest.approx(0.5)
    assert found["R1 and R2", "Additional complaints (kappa)"].value == pytest.approx((6 / 8 - 10 / 16) / (1 - 10 / 16))
    # Wilson's interval of 3 of 4.
    assert found[ours, PUBLISHED[BASIC]].ci95 == pytest.approx((30.06, 95.44), abs=0.01)
    low, high = found[ours, PUBLISHED[ADDITIONAL]].ci95 or (0, 0)
    assert low < 87.5 < high
    assert {result.provenance for result in found.values()} == {"own"}


def test_the_papers_numbers_are_the_counterparts() -> None:
    for column, printed in ((PUBLISHED[BASIC], "88"), (PUBLISHED[ADDITIONAL], "92")):
        own = Result(
            paper="3MDBench", table="Text App C", row="Generated complaints", setting="", column=column,
            split_or_group="", value=50.0, unit="percent",
        )  # fmt: skip
        number = counterpart(own)
        assert number is not None and number.printed == printed


def test_a_rater_may_leave_a_task_out(sheets: list[Path]) -> None:
    fill(sheets[0], {})
    fill(sheets[1], dict.fromkeys(["D01", "D02", "D03", "D04"], "0"), other="")
    relevance = read_relevance_sheets(sheets)
    assert relevance.marks[BASIC].raters == ("R1", "R2") and relevance.marks[ADDITIONAL].raters == ("R1",)
    found = by_name(evaluate_relevance(relevance))
    assert found["R1 and R2", "Basic complaints (kappa)"].value == 0.0
    assert not any("Additional complaints (kappa)" in column for _, column in found)


def test_a_rater_who_has_marked_nothing_is_an_error(sheets: list[Path]) -> None:
    """Such as a sheet that was saved elsewhere: the numbers of the others would pass for those of all."""
    fill(sheets[0], {})
    with pytest.raises(InputError, match="R2.csv, row 2, relevant: no mark by rater R2"):
        read_relevance_sheets(sheets)


def test_raters_who_mark_everything_the_same_have_no_kappa(sheets: list[Path]) -> None:
    found = by_name(evaluate_relevance(read_relevance_sheets([fill(path, {}) for path in sheets])))
    for column in ("Basic complaints (kappa)", "Additional complaints (kappa)"):
        assert found["R1 and R2", column].value is None
        assert "undefined" in found["R1 and R2", column].note
    assert found["All raters", "Basic complaints (Krippendorff alpha)"].value is None


@pytest.mark.parametrize(
    ("marks", "other", "found"),
    [
        ({"D02.1": "2"}, "1", "'2'"),
        ({"D02.1": "yes"}, "1", "'yes'"),
        ({"D02.1": ""}, "1", "no mark"),
        ({}, "", "no mark"),
    ],
)
def test_a_wrong_mark_is_an_error(sheets: list[Path], marks: dict[str, str], other: str, found: str) -> None:
    fill(sheets[0], marks, other=other)
    with pytest.raises(InputError, match=found):
        read_relevance_sheets(sheets[:1])


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("relevant", "relevance", "no column relevant"),
        ("R2,D01,", ",D01,", "rater '', item 'D01'"),
        ("R2,D01,basic", "R2,D01,basics", "task 'basics'"),
        ("R2,D02,", "R2,D01,", "another complaint"),
        ("R2,", "R1,", "again"),
        ("basic of d0,1", "basic of d9,1", "another complaint"),
    ],
)
def test_sheets_that_do_not_fit_are_an_error(sheets: list[Path], before: str, after: str, found: str) -> None:
    for path in sheets:
        fill(path, {})
    text = sheets[1].read_text(encoding="utf-8")
    assert before in text
    sheets[1].write_text(text.replace(before, after), encoding="utf-8")
    with pytest.raises(InputError, match=found):
        read_relevance_sheets(sheets)


def test_a_rater_who_lacks_items_is_an_error(sheets: list[Path]) -> None:
    fill(sheets[0], {})
    kept = [line for line in fill(sheets[1], {}).read_text().splitlines() if "D03.2" not in line]
    sheets[1].write_text("\n".join(kept), encoding="utf-8")
    with pytest.raises(InputError, match="rater R2, task additional: no mark of 1 of [0-9]+ items, the first D03.2"):
        read_relevance_sheets(sheets)


# --- The commands -----------------------------------------------------------------------------------------------------


def test_from_a_release_to_a_run(tmp_path: Path, capsys: Capture) -> None:
    table = drawn(tmp_path / "photos", "acne", "warts", each=3)
    build(tmp_path, f"table={table}")
    sheet = tmp_path / "study" / "sheet.csv"
    release = str(tmp_path / "release")
    assert execute(["sheet", release, "--raters", "2", "-o", str(sheet)]) == 0
    assert "complaints for 2 raters" in capsys.readouterr().out
    assert len(list((tmp_path / "study" / "sheet-photos").iterdir())) == 2
    filled = [str(fill(sheet.with_stem(f"sheet-R{n}"), {"D01": "0"})) for n in (1, 2)]
    assert execute(["ratings", *filled, "-o", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "50.0 %" in said and "88 %" in said and "92 %" in said and "stand-in" in said
    assert {result.provenance for result in read_run(tmp_path / "run")[1]} == {"stand-in"}
    assert execute(["sheet", release, "--pairs", "5", "-o", str(tmp_path / "other.csv")]) == 2
    assert "--pairs" in capsys.readouterr().err
