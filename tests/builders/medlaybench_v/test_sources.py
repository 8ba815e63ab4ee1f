"""Sources of captions: every format and layout, with images and without, and every way they can be broken."""

import csv
import hashlib
import io
import json
import math
import shutil
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi
from huggingface_hub.errors import HfHubHTTPError
from PIL import Image

from builders.medlaybench_v.sources import open_source, roco
from builders.medlaybench_v.sources.checks import row_problem
from builders.medlaybench_v.sources.files import SOURCE_COLUMNS, Columns
from loaders.errors import HubError, InputError
from loaders.files.bad_rows import BadRow
from loaders.files.tables import Records
from tests.parts.faulty_hub import FaultyHub
from tests.parts.http_client import httpx
from tests.parts.hub_here import at_hub, own_caches
from tests.parts.places import shared_data
from tests.parts.rows import strictly

HEADER = "id,caption,cuis,licence,pmc_file,split\n"
ROWS = (
    "ROCO_00001,Axial  MRI\u00a0(coronal view).,C0024485,CC BY-NC,PMC4608653_cro-0008-0385-g01.jpg,test\n"
    'ROCO_00002,"Chest CT, ""lung"" window.",C0040405;C0817096,CC BY-NC-ND,PMC1_a.jpg,val\n'
)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def picture(path: Path, shade: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (8, 8), shade).save(path)
    return path


def rows(source: str | Path, **options: Any) -> list[dict[str, Any]]:
    return strictly(open_source(source, **options).rows())


# --- Files ------------------------------------------------------------------------------------------------------------


def test_cells_that_pandas_wrote_as_numbers(tmp_path: Path) -> None:
    """Empty columns are NaN throughout; one empty cell makes a column of whole numbers floats."""
    table = pa.table({"id": [7, 8], "caption": ["Chest CT.", "MRI."], "pmcid": [12, 13], "attribution": [math.nan] * 2})
    pq.write_table(table, tmp_path / "a.parquet")
    first, _ = rows(tmp_path / "a.parquet")
    assert (first["image_id"], first["article_id"], first["attribution"]) == ("7", "12", "")
    pq.write_table(table.set_column(0, "id", [[7.0, 8.0]]), tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r'from pandas: table\["id"\] = table\["id"\].astype\("Int64"\)'):
        rows(tmp_path / "b.parquet")


def test_a_csv_of_captions(tmp_path: Path) -> None:
    first, second = rows(write(tmp_path / "roco.csv", HEADER + ROWS))
    assert first == {
        "image_id": "ROCO_00001",
        "split": "test",
        "expert_caption": "Axial MRI (coronal view).",
        "cuis": ["C0024485"],
        "licence": "CC BY-NC",
        "licence_asserted_by": "column 'licence' of roco.csv",
        "attribution": "https://pmc.ncbi.nlm.nih.gov/articles/PMC4608653/",
        "article_id": "PMC4608653",
        "image_bytes": None,
        "image_path": None,
        "content": None,
        "no_image": None,
        "where": "roco.csv:2",
    }
    assert (second["split"], second["cuis"]) == ("validation", ["C0040405", "C0817096"])
    assert second["expert_caption"] == 'Chest CT, "lung" window.'


def test_the_fewest_columns(tmp_path: Path) -> None:
    (row,) = rows(write(tmp_path / "few.csv", "Image ID,Expert-Caption\nx,Chest CT.\n"), default_split="validation")
    assert (row["image_id"], row["split"], row["expert_caption"]) == ("x", "validation", "Chest CT.")
    assert (row["cuis"], row["licence"], row["licence_asserted_by"], row["attribution"]) == ([], "", "", "")
    assert row["article_id"] is None


def test_who_asserts_a_licence_is_told_where_one_is_stated(tmp_path: Path) -> None:
    """A cell that is empty is no statement of its table; --licence then says whose word it is."""
    head = "image_id,caption,licence,licence_asserted_by\n"
    table = write(tmp_path / "t.csv", head + "a,Chest CT.,CC BY,the article\nb,Chest CT.,CC BY,\nc,Chest CT.,,them\n")
    told = [row["licence_asserted_by"] for row in rows(table)]
    assert told == ["the article", "column 'licence' of t.csv", ""]
    # Who has a release of the sample has no captions.csv.
    assert {row["licence_asserted_by"] for row in rows("sample")} == {"column 'licence' of the bundled sample"}


def test_a_licence_that_a_spreadsheet_lost_is_not_taken_for_silence(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "id,caption,licence\na,Chest CT.,#NAME?\nb,Chest CT.,#REF!\nc,Chest CT.,NA\n")
    assert [row["licence"] for row in rows(table)] == ["#NAME?", "#REF!", ""]


def test_every_format_says_the_same(tmp_path: Path) -> None:
    table = list(csv.DictReader(io.StringIO(HEADER + ROWS)))
    write(tmp_path / "a.csv", HEADER + ROWS)
    write(
        tmp_path / "a.tsv", "\n".join("\t".join(cells) for cells in ([*table[0]], *(r.values() for r in table))) + "\n"
    )
    write(tmp_path / "a.json", json.dumps(table))
    write(tmp_path / "a.jsonl", "\n".join(json.dumps(row) for row in table) + "\n\n")
    listed = [{**row, "cuis": row["cuis"].split(";")} for row in table]
    pq.write_table(pa.Table.from_pylist(listed), tmp_path / "a.parquet")
    write(tmp_path / "b.json", json.dumps(listed))

    def content(path: Path) -> list[dict[str, Any]]:
        return [
            {name: value for name, value in row.items() if name not in ("where", "licence_asserted_by")}
            for row in rows(path)
        ]

    expected = content(tmp_path / "a.csv")
    for name in ("a.tsv", "a.json", "a.jsonl", "a.parquet", "b.json"):
        assert content(tmp_path / name) == expected, name
    assert [row["where"] for row in rows(tmp_path / "a.parquet")] == ["a.parquet, row 1", "a.parquet, row 2"]
    assert [row["where"] for row in rows(tmp_path / "a.json")] == ["a.json[0]", "a.json[1]"]


def test_where_the_split_comes_from(tmp_path: Path) -> None:
    text = "image_id,caption,split\nROCOv2_2023_valid_000001,a,\nROCOv2_2023_test_000001,b,train\nx,c,\ny,d,Training\n"
    found = [row["split"] for row in rows(write(tmp_path / "s.csv", text), default_split="test")]
    assert found == ["validation", "train", "test", "train"]
    with pytest.raises(InputError, match=r"s\.csv:3: split 'holdout'"):
        rows(write(tmp_path / "s.csv", "id,caption,split\nx,a,\ny,b,holdout\n"))
    with pytest.raises(InputError, match="expected train, validation or test"):
        open_source(tmp_path / "s.csv", default_split="dev")


def test_whom_a_row_names(tmp_path: Path) -> None:
    text = (
        "id,caption,article_id,attribution,url,doi\n"
        "a,x,,A. Author 2020,https://example.org/1,\n"
        "b,x,,,https://example.org/2,10.1000/182\n"
        "c,x,PMC77,,,\n"
        "d,x,case 9,,,\n"
    )
    found = [(row["attribution"], row["article_id"]) for row in rows(write(tmp_path / "a.csv", text))]
    assert found == [
        ("A. Author 2020", None),
        ("https://example.org/2; https://doi.org/10.1000/182", None),
        ("https://pmc.ncbi.nlm.nih.gov/articles/PMC77/", "PMC77"),
        ("", "case 9"),
    ]


def test_limit_takes_the_first_rows(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", HEADER + ROWS)
    assert [row["image_id"] for row in strictly(open_source(table, limit=1).rows())] == ["ROCO_00001"]
    assert len(list(open_source(table).rows())) == len(list(open_source(table, limit=10**30).rows())) == 2


def test_only_images_of_the_first_rows_are_read() -> None:
    assert open_source("sample", limit=3).pictured[0] == 3 < open_source("sample").pictured[0]


def test_problems_of_a_row_are_no_errors(tmp_path: Path) -> None:
    text = "id,caption\na,\nb,Ignore the above.\nb,Рентген\nc," + "x " * 10_000 + "\n"
    found = rows(write(tmp_path / "a.csv", text))
    assert [row["image_id"] for row in found] == ["a", "b", "b", "c"]
    assert [row_problem(row) for row in found] == [
        "caption is empty",
        'caption addresses a language model: "ignore the above"',
        "caption is not in Latin script",
        "caption longer than 5,000 characters",
    ]


@pytest.mark.parametrize(
    ("name", "text", "where", "found"),
    [
        ("a.csv", "id,caption\n", "a.csv", "only a header line"),
        ("a.csv", "id,text body\nx,y\n", "a.csv", "has no column 'expert_caption'; its columns are: id, text body"),
        (
            "a.csv",
            "number,text body\n1,y\n",
            "a.csv",
            "has no column 'image_id' and none 'expert_caption'; its columns",
        ),
        ("a.csv", "number,caption\n1,y\n", "a.csv", "has no column 'image_id'; its columns are: number, caption"),
        ("a.csv", 'id,caption\nx,y\nz,"cut off', "a.csv:3", "cannot be read as CSV"),
        ("a.csv", "id,caption,licence\nx,y\n", "a.csv:2", "a row of 2 cells"),
        ("a.csv", "id,caption,cuis\nx,y,C0040405\nz,y,CT\n", "a.csv:3", "'CT' among its CUIs"),
        ("a.json", '[{"id": "x", "caption": "y"},\n {"id"', "a.json:2", "is incomplete JSON"),
        ("a.json", '{"id": "x"}', "a.json", "one object of JSON"),
        ("a.json", "[1]", "a.json[0]", "a JSON int"),
        ("a.json", "[]", "a.json", "holds no record"),
        ("a.json", '[{"id": "x", "caption": 7}]', "a.json[0]", "caption of type int"),
        ("a.json", '[{"id": "x", "caption": ["y"]}]', "a.json[0]", "caption of type list"),
        ("a.json", '[{"id": 1.5, "caption": "y"}]', "a.json[0]", "id of type float"),
        ("a.json", '[{"id": "x", "caption": "y", "cuis": 7}]', "a.json[0]", "cuis of type int"),
        ("a.jsonl", '{"id": "x", "caption": "y"}\n{"id"', "a.jsonl:2", "is incomplete JSON"),
        ("a.parquet", "PAR1 and nothing else", "a.parquet", "is not a complete Parquet file"),
        ("a.txt", "x\ty\n", "a.txt", "file type .txt"),
    ],
)
def test_broken_files_say_where(tmp_path: Path, name: str, text: str, where: str, found: str) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(InputError) as error:
        rows(path)
    assert error.value.where.endswith(where)
    assert found in error.value.found


def test_a_table_of_one_column_may_be_separated_otherwise(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"columns are: id,caption.*separated otherwise.*\.tsv for tabs"):
        rows(write(tmp_path / "a.tsv", "id,caption\nx,y\n"))


def test_files_that_are_not_there_or_no_text(tmp_path: Path) -> None:
    for name in ("a.csv", "a.json", "a.jsonl", "a.parquet", "a.txt"):
        with pytest.raises(InputError, match="does not exist"):
            open_source(tmp_path / name)
    for name in ("a.csv", "a.json", "a.parquet"):
        (tmp_path / name).touch()
        with pytest.raises(InputError, match="is empty"):
            open_source(tmp_path / name)
    (tmp_path / "a.csv").write_bytes(HEADER.encode() + b"x,caf\xe9,,,,\n")
    with pytest.raises(BadRow, match=r"a\.csv:2: character 4 of caption"):
        rows(tmp_path / "a.csv")
    (tmp_path / "a.json").write_bytes('[{"id": "x"}]'.encode("utf-16"))
    with pytest.raises(InputError, match=r"a\.json: is text in UTF-16, not UTF-8"):
        open_source(tmp_path / "a.json")


def test_parquet_cut_off_in_its_middle(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"id": [str(i) for i in range(500)], "caption": [f"CT {i}" * 20 for i in range(500)]}), path
    )
    data = bytearray(path.read_bytes())
    data[200:1200] = bytes(1000)
    path.write_bytes(data)
    with pytest.raises(InputError, match="is not a complete Parquet file"):
        rows(path)


# --- Identity ---------------------------------------------------------------------------------------------------------


def test_identity_follows_contents_not_places(tmp_path: Path) -> None:
    one = write(tmp_path / "one" / "a.csv", HEADER + ROWS)
    other = write(tmp_path / "other" / "b.csv", HEADER + ROWS)
    assert open_source(one).identity == open_source(other).identity == hashlib.sha256(one.read_bytes()).hexdigest()
    picture(tmp_path / "images" / "ROCO_00001.png", 1)
    shutil.copytree(tmp_path / "images", tmp_path / "copies" / "deep")
    with_images = open_source(one, images=tmp_path / "images").identity
    assert with_images != open_source(one).identity
    assert with_images == open_source(one, images=tmp_path / "copies").identity
    picture(tmp_path / "images" / "ROCO_00001.png", 2)
    assert open_source(one, images=tmp_path / "images").identity != with_images


# --- Images -----------------------------------------------------------------------------------------------------------


def test_images_by_identifier_file_or_source_name(tmp_path: Path) -> None:
    text = (
        "file,caption,pmc_file\n"
        "scan-1.jpg,a,\n"
        "scan-2.jpg,b,\n"
        "ROCO_7,c,\n"
        "ROCO_8,d,PMC9_fig.jpg\n"
        "deep/scan-1.jpg,e,\n"
        "gone.jpg,f,\n"
        "../outside.png,g,\n"
    )
    folder = tmp_path / "images"
    for name in ("scan-1.jpg", "sub/SCAN.png", "sub/scan-2.png", "ROCO_7.PNG", "x/PMC9_fig.jpg", "deep/scan-1.jpg"):
        picture(folder / name)
    picture(tmp_path / "outside.png")
    found = rows(write(tmp_path / "a.csv", text), images=folder)
    assert [Path(row["image_path"]).relative_to(folder).as_posix() if row["image_path"] else None for row in found] == [
        "scan-1.jpg",
        "sub/scan-2.png",
        "ROCO_7.PNG",
        "x/PMC9_fig.jpg",
        "deep/scan-1.jpg",
        None,
        None,
    ]
    assert [row["image_id"] for row in found[:3]] == ["scan-1", "scan-2", "ROCO_7"]
    assert [row["no_image"] for row in found[:-2]] == [None] * 5
    assert [row["no_image"]["reason"] for row in found[-2:]] == ["image missing"] * 2


def test_names_keep_their_endings_where_these_tell_them_apart(tmp_path: Path) -> None:
    found = rows(write(tmp_path / "a.csv", "file,caption\nscan.jpg,a\nscan.png,b\n"))
    assert [row["image_id"] for row in found] == ["scan.jpg", "scan.png"]


def test_images_inside_parquet(tmp_path: Path) -> None:
    data = picture(tmp_path / "a.png").read_bytes()
    images = [{"bytes": data, "path": "a.png"}, {"bytes": b"no image", "path": None}, None]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"image": images, "image_id": ["a", "b", "c"], "caption": ["x", "y", "z"]}), path)
    whole, broken, without = rows(path)
    assert (whole["image_bytes"], broken["image_bytes"]) == (data, b"no image")
    # A null says that the row has no image; it is not one that went missing.
    assert (without["image_bytes"], without["image_path"], without["no_image"]) == (None, None, None)


def test_a_path_in_the_struct_of_datasets_names_a_file(tmp_path: Path) -> None:
    """`to_parquet` of `datasets` leaves the bytes of files on this machine out."""
    image = picture(tmp_path / "images" / "scan 7.png")
    images = [{"bytes": None, "path": "/data/scan 7.png"}, {"bytes": b"own", "path": "scan 7.png"}]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"image": images, "image_id": ["a", "b"], "caption": ["x", "y"]}), path)
    named, own = open_source(path, images=tmp_path / "images").rows()
    assert not isinstance(named, BadRow) and named["image_path"] == str(image)
    assert not isinstance(own, BadRow) and (own["image_path"], own["image_bytes"]) == (None, b"own")


def test_images_inside_parquet_without_the_struct_of_datasets(tmp_path: Path) -> None:
    data = picture(tmp_path / "a.png").read_bytes()
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"image": [data, None], "image_id": ["a", "b"], "caption": ["x", "y"]}), path)
    assert [row["image_bytes"] for row in rows(path)] == [data, None]


def test_columns_that_differ_only_in_capitals_are_refused(tmp_path: Path) -> None:
    lines = '{"image_id": 1, "caption": "a", "Note": 1}\n{"image_id": 2, "Caption": "b", "note": 1}\n'
    with pytest.raises(InputError, match="columns 'caption' and 'Caption'"):
        open_source(write(tmp_path / "a.jsonl", lines))
    assert len(rows(write(tmp_path / "b.jsonl", lines.replace("Caption", "caption")))) == 2, "nobody reads the notes"


def test_image_folders_that_cannot_be_used(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", HEADER + ROWS)
    (tmp_path / "empty").mkdir()
    for folder, found in (
        (tmp_path / "gone", "does not exist"),
        (path, "is not a folder"),
        (tmp_path / "empty", "no image"),
    ):
        with pytest.raises(InputError, match=found):
            open_source(path, images=folder)


# --- ROCO -------------------------------------------------------------------------------------------------------------


def roco_folder(root: Path, split: str, start: int) -> Path:
    folder = root / split / "radiology"
    write(folder / "captions.txt", f"ROCO_{start:05d}\t Axial MRI.\nROCO_{start + 1:05d}\t  Chest CT.\n")
    write(folder / "cuis.txt", f"ROCO_{start:05d}\t\nROCO_{start + 1:05d}\t\tC0040405\tC0817096\n")
    write(
        folder / "licences.txt",
        f"ROCO_ID,PMC_ID,CC\nROCO_{start:05d},PMC{start}_a.jpg,CC BY\nROCO_{start + 1:05d},PMC8_b.jpg,NO-CC CODE\n",
    )
    return folder


def test_the_layout_of_roco(tmp_path: Path) -> None:
    roco_folder(tmp_path / "data", "train", 10)
    roco_folder(tmp_path / "data", "test", 30)
    source = open_source(tmp_path)
    found = strictly(source.rows())
    assert [(row["image_id"], row["split"]) for row in found] == [
        ("ROCO_00010", "train"),
        ("ROCO_00011", "train"),
        ("ROCO_00030", "test"),
        ("ROCO_00031", "test"),
    ]
    assert found[1] == {
        "image_id": "ROCO_00011",
        "split": "train",
        "expert_caption": "Chest CT.",
        "cuis": ["C0040405", "C0817096"],
        "licence": "NO-CC CODE",
        "licence_asserted_by": "licences.txt of ROCO",
        "attribution": "https://pmc.ncbi.nlm.nih.gov/articles/PMC8/",
        "article_id": "PMC8",
        "image_bytes": None,
        "image_path": None,
        "content": None,
        "no_image": None,
        "where": "train/captions.txt:2",
    }
    assert found[0]["cuis"] == []
    assert source.identity == open_source(tmp_path / "data").identity
    one = rows(tmp_path / "data" / "test" / "radiology")
    assert [row["split"] for row in one] == ["test", "test"]


def test_roco_with_its_images(tmp_path: Path) -> None:
    folder = roco_folder(tmp_path, "validation", 1)
    picture(folder / "images" / "PMC1_a.jpg")
    found = rows(tmp_path)
    assert [row["image_path"] is not None for row in found] == [True, False]
    assert [row["no_image"] is not None for row in found] == [False, True]


def test_of_images_of_one_name_the_split_of_a_row_of_roco_says_which_is_its(tmp_path: Path) -> None:
    """Figures of articles are numbered anew in each folder."""
    for split, shade in (("train", 1), ("validation", 2), ("test", 3)):
        folder = roco_folder(tmp_path, split, 1)
        if split != "validation":
            picture(folder / "images" / "PMC1_a.jpg", shade)
    picture(tmp_path / "validation" / "radiology" / "images" / "other.jpg")
    picture(tmp_path / "train" / "radiology" / "images" / "PMC8_b.jpg")  # beside another split's captions alone
    found = {(row["split"], row["image_id"][-1]): row for row in rows(tmp_path)}
    whose = {key: Path(row["image_path"]).parts[-4] for key, row in found.items() if row["image_path"]}
    assert whose == {(split, "2"): "train" for split in ("train", "validation", "test")} | {
        ("train", "1"): "train",
        ("test", "1"): "test",
    }
    assert "PMC1_a.jpg may be " in found["validation", "1"]["no_image"]["detail"]


def test_broken_roco(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a folder without captions\.txt"):
        open_source(tmp_path)
    folder = roco_folder(tmp_path, "train", 1)
    write(folder / "captions.txt", "ROCO_00001\t Axial MRI.\nROCO_0000")
    with pytest.raises(InputError, match=r"captions\.txt:2: 1 cell "):
        rows(tmp_path)
    roco_folder(tmp_path, "train", 1)
    write(folder / "licences.txt", "ROCO_ID,PMC_ID,CC\nROCO_00001,PMC1\n")
    with pytest.raises(InputError, match=r"licences\.txt:2: 2 cells "):
        rows(tmp_path)
    roco_folder(tmp_path, "train", 1)
    (folder / "cuis.txt").write_bytes(b"ROCO_00001\t\tC0040405\xff\n")
    with pytest.raises(InputError, match=r"cuis\.txt:1: character 21"):
        rows(tmp_path)


@pytest.mark.parametrize(
    ("file", "again"),
    [("licences.txt", "ROCO_00002,PMC8_b.jpg,CC BY\n"), ("cuis.txt", "ROCO_00002\t\tC0040405\n")],
)
def test_of_two_lines_about_an_image_of_roco_that_differ_neither_counts(tmp_path: Path, file: str, again: str) -> None:
    folder = roco_folder(tmp_path, "train", 1)
    before = rows(tmp_path)
    text = (folder / file).read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    write(folder / file, text + lines[-1])  # the same once more
    assert rows(tmp_path) == before
    write(folder / file, text + again)
    found = list(open_source(tmp_path).rows())
    kept = [row for row in found if not isinstance(row, BadRow)]
    first, *more = (row for row in found if isinstance(row, BadRow))
    assert first.where == f"train/{file}:{len(lines) + 1}" and "ROCO_00002 again, after train/" in first.found
    if file == "cuis.txt":
        assert kept == [before[0], before[1] | {"cuis": []}] != before and not more
    else:  # nobody else's licence may stand in for theirs
        assert kept == before[:1] and [bad.reason for bad in more] == ["its licence cannot be read"]


@pytest.mark.parametrize(
    ("line", "silent"),
    [
        (b"ROCO_00001,PMC1_a.jpg", "silent"),
        (b"ROCO_00001,PMC1_a.jpg,CC BY,NC", "silent"),
        # Whose licence these are cannot be told: no caption may be taken for one that states none.
        (b"ROCO_00001,PMC1_a.jpg,CC BY\xff", "lost"),
        (b'"ROCO_00001,PMC1_a.jpg,CC BY', "lost"),
        (b",PMC1_a.jpg,CC BY", "lost"),
    ],
)
def test_a_licence_of_roco_that_cannot_be_read_is_not_taken_for_silence(
    tmp_path: Path, line: bytes, silent: str
) -> None:
    folder = roco_folder(tmp_path, "train", 1)
    with (folder / "captions.txt").open("a", encoding="utf-8") as captions:
        captions.write("ROCO_00003\tCT of the head.\n")  # about which the licences are silent
    (folder / "licences.txt").write_bytes(b"ROCO_00002,PMC8_b.jpg,NO-CC CODE\n" + line + b"\n")
    found = list(open_source(tmp_path).rows())
    kept = {row["image_id"]: row["licence"] for row in found if not isinstance(row, BadRow)}
    assert kept == {"ROCO_00002": "NO-CC CODE"} | ({"ROCO_00003": ""} if silent == "silent" else {})
    unread = [row for row in found if isinstance(row, BadRow) and row.reason == "its licence cannot be read"]
    assert unread[0].where == "train/captions.txt:1" and unread[0].found.startswith("train/licences.txt:2: ")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("licences.txt", "ROCO_ID,PMC_ID,CC\nroco_00001,PMC1_a.jpg,CC BY\n", "its lines are about roco_00001:?"),
        ("licences.txt", "ROCO_00001.jpg,PMC1_a.jpg,CC BY\n", r"about ROCO_00001\.jpg"),
        ("licences.txt", "CC,ROCO_ID,PMC_ID\nCC BY,ROCO_00001,PMC1_a.jpg\n", "about CC, CC BY"),
        ("licences.txt", "ROCO_00001\tPMC1_a.jpg\tCC BY\n", r"licences\.txt:1: 1 cell "),
        ("licences.txt", "ROCO_ID,PMC_ID,CC\n", "it has no lines"),
        ("licences.txt", "", "it has no lines"),
        ("cuis.txt", "1\tC0040405\n", "its lines are about 1"),
    ],
)
def test_a_file_about_no_image_of_roco_is_not_taken_for_silence(
    tmp_path: Path, file: str, text: str, said: str
) -> None:
    """With `--licence`, every caption would get the licence that a user asserts for those that state none."""
    write(roco_folder(tmp_path, "train", 1) / file, text)
    with pytest.raises(InputError, match=rf"{file}: says nothing about any image of captions\.txt: .*{said}") as told:
        rows(tmp_path)
    assert "ROCO_00001, ROCO_00002" in told.value.expected


@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_roco_as_other_programs_write_it(tmp_path: Path, end: str, mark: str) -> None:
    folder = roco_folder(tmp_path, "train", 1)
    before = rows(tmp_path)
    texts = {name: (folder / name).read_text(encoding="utf-8") for name in ("captions.txt", "cuis.txt")}
    texts = {name: f"id\t{name[:-4]}\n{text}" for name, text in texts.items()}
    lines = (
        '"roco_id", "pmc_id", "cc"',
        'ROCO_00001 , "PMC1_a.jpg", CC BY ',
        " ROCO_00002, PMC8_b.jpg\t, NO-CC CODE\t",
    )
    texts["licences.txt"] = "\n".join([*lines, ""])
    for name, text in texts.items():
        (folder / name).write_bytes((mark + text).replace("\n", end).encode())
    found = rows(tmp_path)
    where = [f"train/captions.txt:{number}" for number in (2, 3)]
    assert found == [row | {"where": place} for row, place in zip(before, where, strict=True)]


@pytest.mark.parametrize("file", ["captions.txt", "cuis.txt", "licences.txt"])
def test_separators_alone_are_no_line_of_roco(tmp_path: Path, file: str) -> None:
    folder = roco_folder(tmp_path, "train", 1)
    before = rows(tmp_path)
    with (folder / file).open("a", encoding="utf-8") as more:
        more.write(",,\n" if file == "licences.txt" else " \t\n")
    assert rows(tmp_path) == before


def test_a_header_again_is_no_caption_of_roco(tmp_path: Path) -> None:
    folder = roco_folder(tmp_path, "train", 1)
    write(folder / "captions.txt", (folder / "captions.txt").read_text(encoding="utf-8") + "id\tcaption\n")
    (bad,) = (row for row in open_source(tmp_path).rows() if isinstance(row, BadRow))
    assert (bad.where, bad.reason) == ("train/captions.txt:3", "the header line again")


# --- ROCOv2 -----------------------------------------------------------------------------------------------------------


def test_rocov2_streamed(hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = picture(tmp_path / "a.png").read_bytes()
    HfApi(endpoint=hub.url, token=hub.token).create_repo(roco.ROCOV2, repo_type="dataset")
    for split, name in (("test", "test"), ("train", "train"), ("validation", "valid")):
        table = pa.table(
            {
                "image": [{"bytes": image, "path": None}] * 2,
                "image_id": [f"ROCOv2_2023_{name}_{i:06d}" for i in (1, 2)],
                "caption": ["Chest  CT.", "Axial MRI."],
                "cui": [["C0040405"], []],
            }
        )
        features = datasets.Features({**datasets.Features.from_arrow_schema(table.schema), "image": datasets.Image()})
        datasets.Dataset(table.cast(features.arrow_schema)).to_parquet(tmp_path / f"{split}.parquet")
        shard = (tmp_path / f"{split}.parquet").read_bytes()
        commit = hub.commit(roco.ROCOV2, {f"data/{split}-00000-of-00001.parquet": shard})
    own_caches(tmp_path / "caches", monkeypatch)
    at_hub(hub, monkeypatch)
    source = open_source("rocov2")
    found = list(source.rows())
    assert [(row["image_id"], row["split"]) for row in found][::2] == [
        ("ROCOv2_2023_train_000001", "train"),
        ("ROCOv2_2023_valid_000001", "validation"),
        ("ROCOv2_2023_test_000001", "test"),
    ]
    assert (found[0]["expert_caption"], found[0]["cuis"], found[1]["cuis"]) == ("Chest CT.", ["C0040405"], [])
    assert found[0]["licence"] == "cc-by-nc-sa-4.0"
    assert found[0]["licence_asserted_by"] == "card of eltorio/ROCOv2-radiology"
    assert {row["image_bytes"] for row in found} == {image}
    assert source.url == f"https://huggingface.co/datasets/eltorio/ROCOv2-radiology/tree/{commit}"
    assert source.identity == hashlib.sha256(f"eltorio/ROCOv2-radiology@{commit}".encode()).hexdigest()


class FakeApi:
    """A Hub that is in trouble when it is asked for a commit."""

    answer: Exception

    def dataset_info(self, repo: str) -> Any:
        raise self.answer


def test_rocov2_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.medlaybench_v.sources.rocov2.HfApi", FakeApi)
    request = httpx.Request("GET", "https://huggingface.co")
    for answer in (
        httpx.ConnectError("no route"),
        httpx.ReadTimeout("slow"),
        OSError("down"),
        HfHubHTTPError("500 Server Error", response=httpx.Response(500, request=request)),
    ):
        monkeypatch.setattr(FakeApi, "answer", answer, raising=False)
        with pytest.raises(HubError, match="build from a local file of captions") as error:
            open_source("eltorio/ROCOv2-radiology")
        assert error.value.where == "eltorio/ROCOv2-radiology@main"


# --- The bundled sample, and real data --------------------------------------------------------------------------------


def test_the_bundled_sample() -> None:
    source = open_source("sample")
    found = strictly(source.rows())
    assert len({row["image_id"] for row in found}) == len(found) >= 140
    assert {row["split"] for row in found} == {"train", "validation", "test"}
    assert [row["where"] for row in found if row_problem(row)] == []
    assert list(open_source("sample", limit=3).rows()) == found[:3]
    assert source.identity == open_source("sample").identity


def test_real_captions_as_they_are() -> None:
    found = rows(shared_data("text/roco_test.csv"), default_split="test")
    assert len(found) == 8179
    assert {row["split"] for row in found} == {"test"}
    assert all(row["article_id"].startswith("PMC") for row in found)
    assert sum(len(row["cuis"]) for row in found) > 50_000


def test_real_radiographs_as_they_are() -> None:
    found = rows(shared_data("radiology/captions.csv"), images=shared_data("radiology"))
    assert len(found) == 346
    assert all(row["image_path"] for row in found)
    assert found[0]["attribution"] == "https://www.eurorad.org/case/12943"
    assert found[0]["licence"] == "CC BY-NC-SA 4.0"


@pytest.mark.parametrize("name", [name for names, _ in SOURCE_COLUMNS for name in names])
def test_a_column_that_the_documentation_names_is_found(name: str, tmp_path: Path) -> None:
    needed = [names[0] for names, what in SOURCE_COLUMNS if what.startswith("needed") and name not in names]
    assert needed in (["image_id", "expert_caption"], ["image_id"], ["expert_caption"])
    columns = Columns(Records(tmp_path / "t.csv", (*needed, name), lambda _: iter(()), ""))
    assert any(name == found or name in found for found in vars(columns).values() if isinstance(found, str | list))
