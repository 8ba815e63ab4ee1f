"""Rows of tables, JSON and Parquet: what is wrong with one is told in its place, what is wrong with all is an error."""

from __future__ import annotations

import errno
import gc
import gzip
import json
import os
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.json_values import read_json
from loaders.files.tables import open_parquet, open_table, parquet_rows, read_records, read_table


def written(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def told(path: Path) -> tuple[list[Any], dict[str, str]]:
    """The records of a file, and the reason of each bad row by its place."""
    rows = list(read_records(path).each(None))
    bad = {row.where: row.reason for row in rows if isinstance(row, BadRow)}
    return [dict(row[1]) for row in rows if not isinstance(row, BadRow)], bad


def test_rows_of_a_csv(tmp_path: Path) -> None:
    lines = [
        b"\xef\xbb\xbfid,caption",
        b"1,plain",
        "2,U+2028 \u2028 U+0085 \x85".encode(),
        b"3,caf\xe9",
        b"4,n\x00l",
        b"5,too,many",
        b"6",
        b'7,"a ""quote"", and\na line"',
        b'8,"never closed',
        b"9,after it",
        b'10,"closed" badly',
        b"",
        b"11,last\r",
    ]
    good, bad = told(written(tmp_path / "a.csv", b"\n".join(lines)))
    assert [row["id"] for row in good] == ["1", "2", "7", "9", "11"]
    assert good[1]["caption"] == "U+2028 \u2028 U+0085 \x85"
    cells = "a different number of cells than the header"
    assert bad == {
        "a.csv:4": "not UTF-8 text",
        "a.csv:5": "a NUL character",
        "a.csv:6": cells,
        "a.csv:7": cells,
        "a.csv:10": "no CSV",
        "a.csv:12": "no CSV",
    }


def test_a_table_of_the_users_own_loses_no_row(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "a,b\n1,2\n3\n")
    with pytest.raises(InputError) as error:
        read_table(path)
    assert error.value.where == f"{path}:3" and not isinstance(error.value, BadRow)
    assert len(open_table(path).rows) == len(open_table(path).bad) == 1


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", "is empty"),
        (b"\n\n", "holds only blank lines"),
        (b"a,b\n", "holds only a header line"),
        (b"a,,b\n1,2,3\n", "Write the names of the columns into the first line"),
        (b",\n1,2\n", "Write the names of the columns into the first line"),
        (b"a,A\n1,2\n", "all but one of 'a', 'A'"),
        (b"id;Words;n;words \n1;2;3;4\n", "all but one of 'Words', 'words'"),
        (b"a\xff,b\n1,2\n", "byte 0xff at offset 1"),
        ("a,b".encode("utf-16"), "is text in UTF-16"),
        (b"a,b\n" + b'1,"x" y\n' * 50_000, "in 1,001 rows"),
    ],
)
def test_a_table_is_refused_as_a_whole(tmp_path: Path, data: bytes, found: str) -> None:
    with pytest.raises(InputError, match=found):
        open_table(written(tmp_path / "a.csv", data))


def test_columns_without_a_name_at_the_end_are_left_out(tmp_path: Path) -> None:
    table = open_table(written(tmp_path / "a.csv", "a,b,,\n1,2,3,4\n5,6\n,,,9\n7\n"))
    assert table.columns == ("a", "b")
    assert [row for _, row in table.rows] == [{"a": "1", "b": "2"}, {"a": "5", "b": "6"}]
    assert [row.where for row in table.bad] == ["a.csv:5"]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffid;words\r\n1;a, b\r\n2;c\r\n",
        "\ufeff\ufeffid;words\n1;a, b\n2;c\n",
        '\ufeff\ufeff"id","words"\n1,"a, b"\n\ufeff2,c\n',
        "\ufeff\ufeffsep=|\nid|words\n1|a, b\n2|c\n",
        "id\twords\r1\ta, b\r2\tc\r",
        '"id";"words"\n"1";"a, b"\n"2";"c"\n',
        '"","id","words"\n"1","1","a, b"\n"2","2","c"\n',
        ";id;words;\n0;1;a, b;\n1;2;c;\n",
        "id|words\n1|a, b\n2|c\n",
        "id;words\n1;a, b\n;\n2;c\n;\n ;;;\n",
        'id,words\n1,"a, b"\n,\n2,c\n,\n,,,\n',
    ],
    ids=[
        *(
            "spreadsheet",
            "two marks",
            "a mark of each joined file",
            "two marks and sep=",
            "tabs",
            "quoted",
            "row numbers",
            "row numbers and semicolons",
            "bars",
        ),
        *("blank rows", "blank rows, commas"),
    ],
)
def test_a_table_as_spreadsheets_and_data_frames_write_it(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "a.csv", text)
    assert [row for _, row in read_table(path).rows] == [{"id": "1", "words": "a, b"}, {"id": "2", "words": "c"}]
    assert [row for _, row in read_records(path).each(None)] == [row for _, row in read_table(path).rows]


def test_a_row_cut_off_within_its_number_is_short(tmp_path: Path) -> None:
    good, bad = told(written(tmp_path / "a.csv", ',id,caption\n0,1,a\n""\n12'))
    assert (good, list(bad)) == ([{"id": "1", "caption": "a"}], ["a.csv:4"])


@pytest.mark.parametrize("data", ["id\n1\n2\n", '{"id": "1"}\n{"id": "2"}\n', b""], ids=["csv", "jsonl", "parquet"])
def test_no_file_stays_open(tmp_path: Path, data: str | bytes, request: pytest.FixtureRequest) -> None:
    """Whether its rows are read to the end or not."""
    path = written(tmp_path / f"a.{request.node.callspec.id}", data)
    if not data:
        pq.write_table(pa.table({"id": ["1", "2"]}), path)
    gc.freeze()  # what earlier tests left open is not this one's
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", ResourceWarning)
        next(read_records(path).each(None))
        assert len(list(read_records(path).each(None))) == 2
        gc.collect()
    assert given == []


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.yaml"])
def test_two_byte_order_marks_are_as_good_as_one(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, '\ufeff\ufeff[{"id": "1"}]' if name != "a.jsonl" else '\ufeff\ufeff{"id": "1"}\n')
    assert told(path) == ([{"id": "1"}], {})


def test_files_that_were_joined_repeat_mark_and_header(tmp_path: Path) -> None:
    good, bad = told(written(tmp_path / "a.csv", "\ufeffid,words\n1,a\n\ufeffid,words\n\ufeff2,b\n"))
    assert good == [{"id": "1", "words": "a"}, {"id": "2", "words": "b"}]
    assert bad == {"a.csv:3": "the header line again"}
    assert told(written(tmp_path / "a.jsonl", '{"id": 1}\n\ufeff{"id": 2}\n')) == ([{"id": 1}, {"id": 2}], {})


@pytest.mark.parametrize(
    ("name", "text", "do"),
    [
        ("a.csv", '"id,caption"\n"1,""a, b"""\n', "Each line is in quotes as a whole"),
        ("a.csv", "Captions of my system,\nid,caption\n1,a\n", "delete what stands above the line"),
        ("a.tsv", "id,caption\n1,a\n", "separated otherwise than its name says"),
        ("a.csv", "id,text\n1,a\n", "add them"),
    ],
)
def test_a_column_that_is_lacking_says_what_may_be_wrong(tmp_path: Path, name: str, text: str, do: str) -> None:
    with pytest.raises(InputError, match="has no column 'caption'") as error:
        open_table(written(tmp_path / name, text)).column("caption", needed=True)
    assert do in error.value.do


def test_a_column_is_found_whatever_invisible_stands_in_its_name(tmp_path: Path) -> None:
    assert open_table(written(tmp_path / "a.csv", "id,Lay caption\u200b\n1,a\n")).column("lay_caption")


def test_a_character_that_is_no_text_says_so(tmp_path: Path) -> None:
    for text, found in ((b"a\xff", "character 2 of id is not UTF-8"), (b"a\0", "character 2 of id is NUL")):
        with pytest.raises(InputError, match=found) as error:
            read_table(written(tmp_path / "a.csv", b"id\n" + text + b"\n"))
        assert "Save it again as UTF-8" in error.value.do


def test_a_header_with_a_comma_is_separated_by_commas(tmp_path: Path) -> None:
    table = open_table(written(tmp_path / "a.csv", "id,caption; its source; its page\n1,x\n"))
    assert table.columns == ("id", "caption; its source; its page")


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "\ufeffSEP=;\r"])
def test_a_first_line_may_state_the_separator(tmp_path: Path, first: str) -> None:
    table = open_table(written(tmp_path / "a.csv", f"{first}\nid;caption, long\n1;a, b\n2\n"))
    assert table.rows == ((3, {"id": "1", "caption, long": "a, b"}),)
    assert [bad.where for bad in table.bad] == ["a.csv:4"]
    pipes = open_table(written(tmp_path / "b.tsv", "sep=|\nid|caption\n1|a\tb\n"))
    assert pipes.rows == ((3, {"id": "1", "caption": "a\tb"}),)


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


def test_a_packed_table_is_no_table_though_its_name_says_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "table.zip").write_bytes(b"PK\x03\x04...")
    with pytest.raises(InputError, match="is a ZIP archive") as caught:
        read_table(tmp_path / "table.zip")
    assert caught.value.expected == "a table"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (POINTER, "`git lfs pull` fetches"),
        (b"\r\n<!DOCTYPE html>\n<title>404</title>", "is a web page"),
        (b"<html lang='en'>", "is a web page"),
        (b"PK\x03\x04[Content_Types].xml", "a ZIP archive"),
        (gzip.compress(b"id,caption\n1,x\n", mtime=0), r"is compressed \(gzip\)"),
        ("id,caption\n1,x\n".encode("utf-16"), "is text in UTF-16"),
        ("id,caption\n1,x\n".encode("utf-32"), "is text in UTF-32"),
    ],
)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "json", "yaml", "parquet"])
def test_a_file_of_another_kind_than_its_name_says_is_an_error(
    tmp_path: Path, data: bytes, found: str, suffix: str
) -> None:
    with pytest.raises(InputError, match=found):
        read_records(written(tmp_path / f"table.{suffix}", data))
    if suffix == "json" and data != POINTER:
        with pytest.raises(InputError, match=found):  # not only where a table was to be read
            read_json(written(tmp_path / "settings.json", data))


def test_parquet_called_csv_and_a_list_called_lines_are_errors(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["1"]}), tmp_path / "table.csv")
    with pytest.raises(InputError, match=r"is a Parquet file .*\.parquet"):
        read_records(tmp_path / "table.csv")
    with pytest.raises(InputError, match=r"is one JSON list .*\.json"):
        read_records(written(tmp_path / "table.jsonl", ' [{"id": 1},\n{"id": 2}]'))
    with pytest.raises(InputError, match=r"one record per line \.jsonl"):
        read_records(written(tmp_path / "table.json", '{"id": 1}\n{"id": 2}\n'))
    with pytest.raises(InputError, match=r"Unpack it"):
        read_records(written(tmp_path / "table.csv.gz", gzip.compress(b"id\n1\n", mtime=0)))


@pytest.mark.parametrize("data", ['{"id": 1}\n{"id": 2}\n', '[\n {"id": "x"}\n]', '\ufeff { "a": 1 }'])
@pytest.mark.parametrize("name", ["table.csv", "labels.json", "table.tsv"])
def test_json_where_cells_are_expected_is_called_so(tmp_path: Path, data: str, name: str) -> None:
    with pytest.raises(InputError, match=r"is JSON .*Save it as CSV"):
        open_table(written(tmp_path / name, data))


def test_parquet_where_cells_are_expected_is_not_told_to_be_renamed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["1"]}), tmp_path / "photos.parquet")
    with pytest.raises(InputError, match=r"is a Parquet file .*Save it as CSV"):
        open_table(tmp_path / "photos.parquet")


def test_files_below_a_folder_whose_name_is_no_utf_8(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    folder.mkdir()
    pq.write_table(pa.table({"id": ["1"]}), tmp_path / "a.parquet")
    (tmp_path / "a.parquet").rename(folder / "a.parquet")
    assert [row for _, row in parquet_rows(folder / "a.parquet")] == [{"id": "1"}]
    written(folder / "b.parquet", b"PAR1 no")
    with pytest.raises(InputError, match="not a complete Parquet"):
        list(parquet_rows(folder / "b.parquet"))


def test_rows_of_json_lines(tmp_path: Path) -> None:
    deep = "[" * 200 + "]" * 200
    lines = [
        '{"id": "1", "text": "U+2028 \u2028 in it"}',
        "no json",
        "[1]",
        '{"id": "\\ud800"}',
        '{"id": "\\u0000"}',
        '{"id": NaN}',
        f'{{"id": {deep}}}',
        "",
        '{"id": "2"}\r',
        '{"id": "3", "id": "4"}',
    ]
    path = written(tmp_path / "a.jsonl", "\n".join(lines).encode() + b'\n{"id": "\xff"}\n{"id"')
    good, bad = told(path)
    assert [row["id"] for row in good] == ["1", "2"]
    assert set(bad) == {f"a.jsonl:{number}" for number in (2, 3, 4, 5, 6, 7, 10, 11, 12)}
    with pytest.raises(InputError):
        read_records(written(tmp_path / "b.jsonl", "no\njson\n"))


def test_rows_of_a_json_list(tmp_path: Path) -> None:
    good, bad = told(written(tmp_path / "a.json", json.dumps([{"id": "1"}, 7, None, {"id": "2"}])))
    assert (len(good), bad) == (2, {"a.json[1]": "no object", "a.json[2]": "no object"})


def test_rows_of_parquet_with_cells_that_are_no_text(tmp_path: Path) -> None:
    cells = [b"plain", b"caf\xe9", b"n\0l", "U+2028 \u2028".encode()]
    text = pa.Array.from_buffers(pa.string(), 4, pa.array(cells, pa.binary()).buffers())
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["1", "2", "3", "4"], "caption": text}), path)
    good, bad = told(path)
    assert [row["id"] for row in good] == ["1", "4"]
    assert set(bad) == {"a.parquet, row 2", "a.parquet, row 3"}


@pytest.mark.parametrize("damage", ["cut", "zeros", "text", "empty", "twice"])
def test_a_file_that_is_no_parquet(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [str(number) for number in range(1_000)]}), path)
    data = path.read_bytes()
    if damage == "twice":
        pq.write_table(pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["id", "id"]), path)
    else:
        damaged = {"cut": data[:-20], "zeros": data[:100] + bytes(500) + data[600:], "text": b"PAR1" * 9, "empty": b""}
        path.write_bytes(damaged[damage])
    with pytest.raises(InputError):
        list(parquet_rows(path))
    with pytest.raises(InputError), open_parquet(path, path.read_bytes() or b"x") as file:
        file.read()


def test_a_cell_repeated_in_every_row_takes_little_memory(tmp_path: Path) -> None:
    """A dictionary of one large text: read at once, these few bytes are 20 GB."""
    path = tmp_path / "a.parquet"
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array(["x" * (2 << 20)]))
    pq.write_table(pa.table({"id": text}), path)
    rows = parquet_rows(path)
    assert [len(row[1]["id"]) for row, _ in zip(rows, range(3), strict=False) if not isinstance(row, BadRow)] == [
        2 << 20
    ] * 3


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_records_are_read_as_they_are_asked_for(tmp_path: Path, suffix: str) -> None:
    """What is held of a file does not grow with its rows."""
    path = tmp_path / f"a.{suffix}"
    cell = "x" * 20_000
    if suffix == "parquet":
        pq.write_table(pa.table({"id": [f"{n}{cell}" for n in range(500)]}), path, row_group_size=25)
    elif suffix == "jsonl":
        path.write_text("".join(f'{{"id": "{n}{cell}"}}\n' for n in range(500)))
    else:
        path.write_text("id\n" + "".join(f'"{n}{cell}"\n' for n in range(500)))
    tracemalloc.start()
    try:
        records = read_records(path)
        assert sum(not isinstance(row, BadRow) for _ in range(2) for row in records.each(None)) == 1_000
        assert tracemalloc.get_traced_memory()[1] < 5 << 20  # the file is of 10 MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_that_changes_while_it_is_read_is_an_error(tmp_path: Path, suffix: str) -> None:
    """The digest that a release names is that of the rows that it holds."""
    path = tmp_path / f"a.{suffix}"

    def fill(name: str) -> None:
        if suffix == "parquet":
            pq.write_table(pa.table({"id": [name]}), path)
        else:
            path.write_text(f"id\n{name}\n" if suffix == "csv" else f'{{"id": "{name}"}}\n')

    fill("a")
    records = read_records(path)
    fill("b")
    with pytest.raises(InputError, match="content that changed while it was read"):
        list(records.each(None))


def test_a_disk_that_fails_is_no_damaged_parquet_file(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    unreadable = pytest.raises(InputError, match=r"a\.parquet: cannot be used \(Input/output error\)")
    with unreadable, open_parquet(tmp_path / "a.parquet"):
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    # What its rows are written to is full.
    with pytest.raises(OSError, match="No space left"), open_parquet(tmp_path / "a.parquet"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    ("kind", "text", "found", "do"),
    [
        ("yaml", "# nothing yet\n", "holds no record", "Check"),
        ("yaml", "case_id: 1\nage: 40\n", "one object of YAML", 'Begin each object with "- "'),
        ("json", '{"data": [{"id": "x"}], "version": 1}', "one object of JSON", "Leave only the list"),
        ("json", '"x"', "JSON that is no list", "Put [ ] around"),
    ],
)
def test_what_is_no_list_is_told_in_words_of_its_kind(
    kind: str, text: str, found: str, do: str, tmp_path: Path
) -> None:
    (tmp_path / f"a.{kind}").write_text(text)
    with pytest.raises(InputError, match=found) as caught:
        read_records(tmp_path / f"a.{kind}")
    assert caught.value.do.startswith(do)


def test_headings_are_known_whatever_their_white_space(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"Image\nid ",Expert\u00a0term\n1,a\n', encoding="utf-8")
    table = open_table(tmp_path / "a.csv")
    assert table.column("image_id") == "Image\nid" and table.column("expert_term") == "Expert\u00a0term"
