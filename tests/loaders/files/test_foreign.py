"""Somebody else's rows: where a field is looked for, and mappings that say which column it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaders.errors import InputError
from loaders.files.foreign import ForeignRow, check_columns, columns_of, read_mapping, text_of, texts_of


def test_a_field_is_found_by_its_own_name_at_any_depth() -> None:
    row = ForeignRow({"Patient": '{"Marital-Status": "widowed", "age": 61}', "AGE": None, "reason": ""}, {})
    assert row.find("marital_status") == "widowed" and row.find("age") == 61
    assert row.find("reason") == ""  # said to be empty
    assert row.find("sex", "demographics") == "" and row.find("cue", needed=False) == ""
    assert row.missing == ["demographics.sex"]
    assert row.names == ["Patient.Marital-Status", "Patient.age", "reason"]


def test_its_own_block_comes_first_and_then_the_outermost() -> None:
    row = ForeignRow({"name": "row 7", "doctor": {"name": "D"}, "demographics": {"name": "Ada"}}, {})
    assert row.find("name", "demographics") == "Ada"
    assert row.find("name") == "row 7"


def test_a_field_of_another_block_counts_only_if_the_mapping_says_so() -> None:
    row, blocks = {"Psychosocial": {"background": "hidden"}, "notes": {"sex": "f"}}, ("demographics", "psychosocial")
    given = ForeignRow(row, {}, blocks)
    assert given.find("background", "demographics") == "" and given.missing == ["demographics.background"]
    assert given.find("sex", "demographics") == "f" and given.find("background", "psychosocial") == "hidden"
    mapped = ForeignRow(row, {"background": "psychosocial.background"}, blocks)
    assert mapped.find("background", "demographics") == "hidden"


def test_a_mapping_says_which_column_and_that_there_is_none() -> None:
    row = ForeignRow(
        {"history": {"reason": "Cough."}, "family": {"reason": "none"}, "sex": "f"},
        {"admission_reason": "history.reason", "sex": "gender", "personality": None},
    )
    assert row.find("admission_reason") == "Cough."
    assert row.find("personality") == "" and row.missing == []
    assert row.find("sex") == "" and row.missing == ["sex"]  # the mapping is not second-guessed


def test_a_mapping_that_names_a_column_of_no_row_is_refused(tmp_path: Path) -> None:
    rows = [{"Case ID": None, "worries": [{"says": "x"}]}, {"history": '{"reason": "Cough."}'}]
    existing = {column for row in rows for column in columns_of(row)}
    assert existing == {"Case ID", "worries", "worries.says", "history.reason"}
    good = {"case_id": "case id", "content": "says", "cue": None, "admission_reason": "history.reason"}
    check_columns(tmp_path / "map", good, existing, "t.json")
    with pytest.raises(InputError) as caught:
        check_columns(tmp_path / "map", {**good, "rarity": "rare", "cue": "history"}, existing, "t.json")
    told = str(caught.value)
    assert told.startswith(f"{tmp_path / 'map'}: cue: history, rarity: rare; no row of t.json has such a column")
    assert "one of Case ID, history.reason, worries, worries.says" in told


def test_a_cell_may_hold_what_pandas_makes_of_arrays() -> None:
    cell = (
        "{'worries': array([{'says': 'x', 'cues': array(['a', \"b's\"],\n   dtype=object)}], dtype=object), 'cue': nan}"
    )
    row = ForeignRow({"hidden": cell, "scenarios": "['one' 'two']", "text": "[Name] coughs {a lot}"}, {})
    assert row.find("worries") == [{"says": "x", "cues": ["a", "b's"]}]
    assert row.find("scenarios") == ["one", "two"] and row.find("text") == "[Name] coughs {a lot}"
    assert row.find("cue", needed=False) == "" and row.broken == []


def test_a_cell_that_begins_as_a_block_and_is_none_is_named() -> None:
    row = ForeignRow({"hidden": "{'name': 'Ada', 'age': ", "rows": "['a' ... 'b']", "age": 7}, {})
    assert row.find("age") == 7 and row.broken == []  # nothing was looked for in them
    assert row.find("rows") and row.broken == ["rows"]
    assert row.find("name") == "" and row.broken == ["hidden", "rows"]


def test_texts() -> None:
    assert text_of(["a", None, 2]) == "a; 2" and text_of(34) == "34"
    assert texts_of("one") == ["one"] and texts_of("") == texts_of(None) == [] and texts_of(["a", None]) == ["a"]


@pytest.mark.parametrize("text", ["age: patient_age\nsex:\n", '{"age": "patient_age", "sex": null}'])
def test_a_mapping_is_yaml_or_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "map").write_text(text, encoding="utf-8")
    assert read_mapping(tmp_path / "map", ("age", "sex")) == {"age": "patient_age", "sex": None}


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (None, "does not exist"),
        (b"a: [", "cannot be read"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"- age", "no mapping"),
        (b"age: 3", "no mapping"),
        (b"", "no mapping"),
        (b"height: size", "unknown: height"),
        (b"She is afraid: of dying", "unknown: a text"),
    ],
)
def test_a_mapping_that_cannot_be_used(tmp_path: Path, data: bytes | None, found: str) -> None:
    if data is not None:
        (tmp_path / "map").write_bytes(data)
    with pytest.raises(InputError, match=found):
        read_mapping(tmp_path / "map", ("age", "sex"))
