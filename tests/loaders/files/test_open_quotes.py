"""A quote without its partner costs its own row; cells that have lines of their own stay what they are."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from loaders.files.bad_rows import BadRow
from loaders.files.tables import open_table, read_records

COUNT = 200
IDS: dict[str, Callable[[int], str]] = {
    "names": lambda n: f"a{n}",
    "numbers": str,
    "digests": lambda n: hashlib.md5(str(n).encode()).hexdigest()[:12],
    "files": lambda n: f"ROCOv2_2023_{('train', 'test')[n % 2]}_{n:06}.jpg",
}


def table(opened: int, closed: int, name: Callable[[int], str] = IDS["names"], end: str = ",CC0") -> str:
    """A table of captions with a quote before one and another behind one further down."""
    lines = ["id,caption,licence" if end else "id,caption"]
    for n in range(COUNT):
        before, behind = '"' * (n == opened), '"' * (n == closed)
        lines.append(f"{name(n)},{before}CT of the kidney {n}{behind}{end}")
    return "\n".join(lines) + "\n"


def ids(path: Path) -> tuple[list[str], list[str]]:
    """The identifiers that are read, and the places of bad rows; the same by either way of reading."""
    read = open_table(path)
    kept, bad = [cells["id"] for _, cells in read.rows], [row.where for row in read.bad]
    rows = list(read_records(path).each(None))
    assert [row[1]["id"] for row in rows if not isinstance(row, BadRow)] == kept
    assert [row.where for row in rows if isinstance(row, BadRow)] == bad
    return kept, bad


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("end", [",CC0", ""])
@pytest.mark.parametrize(("opened", "closed"), [(50, 53), (50, 51), (0, 3), (20, 190), (196, 199)])
def test_rows_between_two_quotes_are_kept(tmp_path: Path, name: str, end: str, opened: int, closed: int) -> None:
    (tmp_path / "a.csv").write_text(table(opened, closed, IDS[name], end))
    kept, bad = ids(tmp_path / "a.csv")
    assert kept == [IDS[name](n) for n in range(COUNT) if n != opened]
    assert bad == [f"a.csv:{opened + 2}"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (",", ";"),
        (",", "|"),
        ("\n", "\r\n"),
        ("\n", "\r"),
        ('a50,"', '"a50,'),
        (',"CT of the kidney 50,CC0', ',CT of the kidney 50,"CC0'),
        ('90",CC0', '90,CC0"'),
        ("kidney 52", "kidney, left"),
        ("CT of the kidney 51", '""'),
    ],
)
def test_wherever_the_quotes_stand_and_whatever_separates(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "a.csv").write_text(table(50, 90).replace(old, new), newline="")
    kept, bad = ids(tmp_path / "a.csv")
    wrong_itself = [52] * ("left" in new)
    assert kept == [f"a{n}" for n in range(COUNT) if n not in (50, *wrong_itself)]
    assert bad == [f"a.csv:{n + 2}" for n in (50, *wrong_itself)]


def test_tabs_and_row_numbers(tmp_path: Path) -> None:
    rows = table(50, 53, lambda n: str(1000 + n)).splitlines()
    numbered = [f"{'' if n == 0 else n - 1},{row}" for n, row in enumerate(rows)]
    (tmp_path / "a.csv").write_text("\n".join(numbered))
    assert ids(tmp_path / "a.csv") == ([str(1000 + n) for n in range(COUNT) if n != 50], ["a.csv:52"])
    (tmp_path / "a.tsv").write_text("\n".join(rows).replace(",", "\t"))
    assert ids(tmp_path / "a.tsv") == ([str(1000 + n) for n in range(COUNT) if n != 50], ["a.tsv:52"])


def test_a_cell_of_several_lines_before_the_quote_stays_in_its_row(tmp_path: Path) -> None:
    text = table(50, 53).replace(",CT", ",plain,CT").replace(',"CT', ',"two\nlines, plain","CT')
    (tmp_path / "a.csv").write_text(text.replace("id,", "id,note,", 1))
    assert ids(tmp_path / "a.csv") == ([f"a{n}" for n in range(COUNT) if n != 50], ["a.csv:52"])


def test_what_is_told_of_the_row(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(table(50, 53))
    (bad,) = open_table(tmp_path / "a.csv").bad
    assert (bad.reason, bad.found) == ("no CSV", "a quote without its partner, which takes in 3 more rows")
    assert bad.do == "Look for an unclosed quote in this row"


TEXTS = (
    "CT of the chest, axial\nshows a mass, right",
    "WBC,12\nHb,9\nCRP,100",
    "Findings:\n1, right lung\n2, left lung",
    "Maße:\n1,5 cm\n2,5 cm\n3,5 cm",
    "Tumor:\n1,5 mm",
    "a, b, c\nd, e, f\ng, h, i",
    "T2,axial\nT1,sagittal",
    "Panels\n(a),axial\n(b),coronal",
    "Steps:\n1,first\n2,then\n3,last",
    "one\n\ntwo",
)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("columns", ["id,caption", "id,caption,licence", "id,licence,caption", "caption,id", "id"])
def test_texts_of_several_lines_stay_whole(tmp_path: Path, text: str, name: str, columns: str) -> None:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(columns.split(","))
    rows = [{"id": IDS[name](n + 100), "caption": text, "licence": "CC0"} for n in range(9)]
    writer.writerows([row[column] for column in columns.split(",")] for row in rows)
    (tmp_path / "a.csv").write_text(file.getvalue(), newline="", encoding="utf-8")
    read = open_table(tmp_path / "a.csv")
    assert read.bad == () and [cells["id"] for _, cells in read.rows] == [row["id"] for row in rows]
    assert {cells.get("caption", text) for _, cells in read.rows} == {text}


def test_what_may_be_rows_or_a_text_is_told_and_not_read_as_rows(tmp_path: Path) -> None:
    rows = "".join(f"{name},CT of the kidney,{licence}\n" for name, licence in (("left", "CC0"), ("right", "CC BY")))
    (tmp_path / "a.csv").write_text(f'id,caption,licence\n{rows}upper,"CT,CC0\n{rows}lower,CT",CC0\nlast,CT,CC0\n')
    read = open_table(tmp_path / "a.csv")
    # The first two names are known here, and the last is not.
    assert [cells["id"] for _, cells in read.rows] == ["left", "right", "last"]
    (bad,) = read.bad
    assert (bad.where, bad.reason) == ("a.csv:4", "a cell that looks like several rows")
    assert "if it is one text, save the table as JSON lines or Parquet" in bad.do


def test_many_rows_of_two_cells_whose_names_tell_nothing_are_told(tmp_path: Path) -> None:
    """A list of values is shorter, or has other names."""
    text = table(50, 70, lambda n: str(n * 77 % 200), "")
    (tmp_path / "a.csv").write_text(text)
    kept, bad = ids(tmp_path / "a.csv")
    assert len(kept) == COUNT - 21 and bad == ["a.csv:52"]
    values = "".join(f"v{'abcdefghijklmno'[n]},{n}\n" for n in range(15))
    (tmp_path / "a.csv").write_text(f'id,caption\n1,"Values:\n{values[:-1]}"\n2,CT\n')
    assert ids(tmp_path / "a.csv") == (["1", "2"], [])


@pytest.mark.parametrize(
    ("cell", "found", "do"),
    [
        ("x" * 1_100_000, "a cell of more than 1,048,576 characters", "Shorten it"),
        ('"' + "x" * 1_100_000 + '"', "a cell of more than 1,048,576 characters", "Shorten it"),
        (
            '"x\n' + "x" * 1_100_000,
            "a cell of more than 1,048,576 characters, in 2 lines",
            "Look for an unclosed quote",
        ),
    ],
    ids=["plain", "in quotes", "not closed"],
)
def test_a_cell_that_is_too_long_is_called_so(tmp_path: Path, cell: str, found: str, do: str) -> None:
    (tmp_path / "a.csv").write_text(f"id,caption\n1,{cell}\n2,CT\n")
    read = open_table(tmp_path / "a.csv")
    assert read.rows[-1][1] == {"id": "2", "caption": "CT"}
    assert read.bad[0].reason == "a cell that is too long"
    assert read.bad[0].found == found
    assert read.bad[0].do.startswith(do)
