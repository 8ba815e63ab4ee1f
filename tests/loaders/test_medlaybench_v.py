"""The schema of MedLayBench-V, its modalities, and rows of the authors' release."""

import json
from pathlib import Path

import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loaders.errors import InputError
from loaders.medlaybench_v import CORPUS, MODALITIES, from_official, pairs_of, parse_cuis
from tests.parts.places import shared_data


def test_columns_in_their_order() -> None:
    assert ",".join(CORPUS.features) == (
        "image,image_id,split,modality,modality_source,cuis,expert_caption,layman_caption,concepts,phrase_licences,protected,"
        "draft,gates,reads_well,status,status_reason,refiner,"
        "article_id,licence,caption_licence,licence_asserted_by,attribution"
    )
    schema = CORPUS.features.arrow_schema
    assert schema.field("cuis").type == pa.list_(pa.string())
    span = pa.struct({"kind": pa.string(), "text": pa.string(), "start": pa.int32(), "end": pa.int32()})
    assert schema.field("protected").type == pa.list_(span)
    assert datasets.Features.from_dict(json.loads(json.dumps(CORPUS.features.to_dict()))) == CORPUS.features


def test_seven_modalities() -> None:
    assert [m.code for m in MODALITIES] == ["DRCT", "DRXR", "DRMR", "DRUS", "DRAN", "DRCO", "DRPE"]
    assert {cui: m.code for m in MODALITIES for cui in m.cuis} == {
        "C0040405": "DRCT",
        "C1306645": "DRXR",
        "C0024485": "DRMR",
        "C0041618": "DRUS",
        "C0002978": "DRAN",
        "C0032743": "DRPE",
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["C0040405", "C0817096"], ["C0040405", "C0817096"]),
        (("C0040405",), ["C0040405"]),
        (np.array(["C0040405", "nan"], dtype=object), ["C0040405"]),
        ("['C0040405', 'C0817096']", ["C0040405", "C0817096"]),
        ('["C0040405"]', ["C0040405"]),
        ("['C0040405' 'C0817096'\n 'C0024485']", ["C0040405", "C0817096", "C0024485"]),
        ("('C0040405',)", ["C0040405"]),
        ("['nan']", []),
        ("[nan]", []),
        ("[None, 'C0040405']", ["C0040405"]),
        ("[]", []),
        (["nan"], []),
        ("nan", []),
        (float("nan"), []),
        (None, []),
        ("", []),
        ("C0040405;C0817096", ["C0040405", "C0817096"]),
        ("C0040405, C0817096", ["C0040405", "C0817096"]),
        (" C0040405 C0040405 ", ["C0040405"]),
    ],
)
def test_every_spelling_of_a_list_of_cuis(value: object, expected: list[str]) -> None:
    assert parse_cuis(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        *("C004", "CT", "['C0040405'", "[__import__('os')]", "[{[]: 1}]", f"[{'1+' * 9999}1]", f"[{'-' * 99999}1]"),
        *(["C0040405", "x"], 40405, {"C0040405": 1}, [["C0040405"]]),
    ],
)
def test_what_is_no_list_of_cuis(value: object) -> None:
    with pytest.raises(InputError) as error:
        parse_cuis(value, "row 3")
    assert error.value.where == "row 3"


def test_official_row_becomes_ours() -> None:
    official = {
        "image": {"bytes": b"...", "path": None},
        "cuis": "['C0040405', 'C0817096']",
        "expert_caption": "Chest CT.",
        "layman_caption": "A CT scan of the chest.",
    }
    row = from_official(official, split="validation", position=41)
    assert list(row) == list(CORPUS.features)
    assert row["image_id"] == "ROCOv2_2023_valid_000042"
    assert (row["split"], row["modality"], row["cuis"]) == ("validation", "DRCT", ["C0040405", "C0817096"])
    assert row["licence"] == "CC-BY-NC-SA-4.0"
    assert [row[name] for name in ("concepts", "protected", "gates")] == [[], [], []]
    assert [row[name] for name in ("draft", "status", "refiner", "article_id")] == [None] * 4
    assert row["image"] == official["image"]
    stored = pa.Table.from_pylist([{**row, "image": None}], schema=CORPUS.features.arrow_schema)
    assert stored.num_rows == 1


@pytest.mark.parametrize(
    "damage", [{"layman_caption": None}, {"layman_caption": " "}, {"expert_caption": 7}, {"cuis": "['CT']"}]
)
def test_official_row_that_is_not_whole(damage: dict[str, object]) -> None:
    official = {"cuis": "['nan']", "expert_caption": "Chest CT.", "layman_caption": "A CT scan."} | damage
    with pytest.raises(InputError, match=r"MedLayBench-V: row 8 of test"):
        from_official(official, split="test", position=7)


def test_expected_size_of_the_official_release() -> None:
    assert CORPUS.official_rows == {"train": 59_962, "validation": 9_904, "test": 9_927}
    assert sum(CORPUS.official_rows.values()) == 79_793


def test_real_rows_of_the_official_release() -> None:
    rows = json.loads(shared_data("text/medlay_samples.json").read_text(encoding="utf-8"))
    for position, official in enumerate(rows):
        row = from_official({**official, "image": None, "image_id": None}, split="test", position=position)
        # The preview's own identifiers are those that position gives.
        assert row["image_id"] == official["image_id"]
    codes = [from_official(official, split="test", position=0)["modality"] for official in rows]
    assert codes[:3] == ["DRCT", "DRCT", "DRAN"]


def test_a_cell_of_a_table_that_says_nothing_is_no_identifier_and_no_article(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("id,expert,lay,pmcid\na,x,y,PMC1\n,x,y,NA\nNaN,x,y,nan\n", encoding="utf-8")
    rows = list(pairs_of(table))
    assert [row["image_id"] for row in rows] == ["a", "pairs.csv:3", "pairs.csv:4"]
    assert [row["article_id"] for row in rows] == ["PMC1", None, None], "else all of them were resampled as one article"


@pytest.mark.parametrize(
    ("name", "content", "second", "first"),
    [
        ("pairs.csv", "id,expert,lay\na,x,y\nb,x,y\n a ,x,z\n", "pairs.csv:4", "pairs.csv:2"),
        ("pairs.csv", "id,expert,lay,split\na,x,y,train\na,x,y,test\n", "pairs.csv:3", "pairs.csv:2"),
        ("pairs.json", '[{"id":"a","expert":"x","lay":"y"},{"id":"a","expert":"x","lay":"y"}]', "[1]", "[0]"),
    ],
)
def test_two_pairs_of_one_identifier(name: str, content: str, second: str, first: str, tmp_path: Path) -> None:
    table = tmp_path / name
    table.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="id 'a', as in") as refused:
        list(pairs_of(table))
    assert refused.value.where.endswith(second) and refused.value.found.endswith(first) and refused.value.do


def test_what_a_spreadsheet_shows_of_a_failed_formula_is_no_caption(tmp_path: Path) -> None:
    """It takes a caption that begins with - or = for one."""
    table = tmp_path / "pairs.csv"
    table.write_text("id,expert,lay\na,x,y\nb,#NAME?,y\nc,x,#REF!\nd,x,#BEZUG!\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"expert '#NAME\?'; 3 rows in all, also pairs.csv:4, pairs.csv:5"):
        list(pairs_of(table))


def test_pairs_without_a_caption_column_name_what_is_there(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("Captions of my system,\nid,text\na,x\n", encoding="utf-8")
    with pytest.raises(InputError, match="and none 'layman_caption'; its columns are: Captions") as told:
        list(pairs_of(table))
    assert "delete what stands above" in told.value.do


def test_pairs_without_identifiers_may_be_equal(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("expert,lay\nx,y\nx,y\n", encoding="utf-8")
    assert len(list(pairs_of(table))) == 2


def test_a_table_may_say_which_imaging_method_each_pair_has(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    stated = ("DRUS", "mr", "X-ray", "Ultrasound", "")
    table.write_text("expert,lay,modality\n" + "".join(f"A CT scan.,y,{one}\n" for one in stated), encoding="utf-8")
    found = [(pair["modality"], pair["modality_source"]) for pair in pairs_of(table)]
    assert found == [*((code, "table") for code in ("DRUS", "DRMR", "DRXR", "DRUS")), ("DRCT", "text")]
    table.write_text("expert,lay,modality\nA CT scan.,y,photo\n", encoding="utf-8")
    with pytest.raises(InputError, match="pairs.csv:2: modality 'photo'"):
        list(pairs_of(table))


def test_pictures_of_pairs_with_or_without_the_struct_of_datasets(tmp_path: Path) -> None:
    for image in (b"...", {"bytes": b"...", "path": None}):
        table = pa.table({"expert": ["a"], "lay": ["b"], "image": [image]})
        pq.write_table(table, tmp_path / "p.parquet")
        assert [pair["image"] for pair in pairs_of(tmp_path / "p.parquet")] == [{"bytes": b"...", "path": None}]


@pytest.mark.parametrize("lay", [b"caf\xe9", b""])
def test_an_error_about_a_row_names_the_folder_of_its_file_too(lay: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"expert_caption,layman_caption\nA cyst.,a bag\nA mass.," + lay + b"\n")
    with pytest.raises(InputError) as error:
        list(pairs_of(path))
    assert error.value.where == f"{path}:3"
