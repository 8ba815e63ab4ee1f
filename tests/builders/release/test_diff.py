"""Differences between releases: rows, columns, splits, exclusions, schema, facts; and that equal means equal."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.pipeline.rows import Row
from builders.release.diff import Change, Diff, diff
from loaders.errors import ReleaseError
from loaders.files.records import to_json
from loaders.manifest import Code, Config, Source
from scripts.cli import execute
from scripts.diff import shown
from scripts.terminal.tables import wrapped
from tests.parts.small_release import EXCLUSIONS, FEATURES, png, rows, write_small


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("old") / "out"
    write_small(out)
    return out


def against(old: Path, new: Path, content: list[Row] | None = None, **more: Any) -> Diff:
    write_small(new, content, **more)
    return diff(old, new)


def text(found: Diff) -> str:
    parts = [part if isinstance(part, str) else "\n".join(line.text for line in part.lines()) for part in shown(found)]
    return "\n".join(parts)


def test_equal_releases(old: Path, tmp_path: Path) -> None:
    found = against(old, tmp_path / "new")
    assert found.equal and text(found).startswith("The releases are equal: 12 rows, content digest")


def test_other_shards_and_encoding_are_no_difference(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builders.release.shards.GROUP_ROWS_IMAGES", 1)
    assert against(old, tmp_path / "new", shard_bytes=500).equal
    assert len(list((tmp_path / "new" / "data").iterdir())) > 3


def test_rows_added_removed_changed_and_moved(old: Path, tmp_path: Path) -> None:
    content = rows()
    content[1]["caption"] = "another caption"
    content[2]["caption"], content[2]["cuis"] = "again", ["C7"]
    content[5]["image"] = {"bytes": png(200), "path": "005.png"}
    content[6]["split"] = "test"
    content[4]["image"] = {"bytes": png(4), "path": "renamed.png"}
    content[8]["image_id"] = "new"
    del content[9]
    found = against(old, tmp_path / "new", content)
    assert not found.equal
    assert (found.rows_a, found.rows_b) == (12, 11)
    assert (found.added.count, found.added.examples) == (1, ["new"])
    assert (found.removed.count, found.removed.examples) == (2, ["r009", "r008"])
    assert (found.changed.count, found.changed.examples) == (4, ["r001", "r002", "r005", "r004"])
    assert {name: keys.examples for name, keys in found.columns.items()} == {
        "image": ["r005", "r004"],
        "caption": ["r001", "r002"],
        "cuis": ["r002"],
    }
    assert {name: keys.examples for name, keys in found.moved.items()} == {"train -> test": ["r006"]}
    assert found.reordered == [] and found.schema == [] and found.exclusions == {}
    assert {change.where for change in found.facts} == {
        "stages.admit.rows_in",
        "stages.admit.rows_out",
        "statistics.kinds.picture",
        "statistics.letters",
    }
    shown = text(found)
    for line in ("Rows: 12 in A, 11 in B", "changed in caption", "moved train -> test", "r001, r002"):
        assert line in shown
    assert to_json(found)["columns"]["cuis"] == {"count": 1, "examples": ["r002"]}


def test_a_row_that_moved_touches_both_splits(old: Path, tmp_path: Path) -> None:
    content = rows()
    content[6]["split"] = "test"
    assert against(old, tmp_path / "new", content).touched == ["train", "test"]


def test_examples_are_limited(old: Path, tmp_path: Path) -> None:
    write_small(tmp_path / "new", [{**row, "caption": "x"} for row in rows()])
    found = diff(old, tmp_path / "new", examples=2)
    assert found.changed.count == 12 and found.changed.examples == ["r001", "r002"]
    assert "r001, r002, …" in text(found)


def test_another_order_is_reported(old: Path, tmp_path: Path) -> None:
    found = against(old, tmp_path / "new", rows()[::-1])
    assert not found.equal and found.reordered == ["train", "validation", "test"]
    assert found.changed.count == found.added.count == 0
    assert "Same rows in a different order: train, validation, test" in text(found)


def test_exclusions_that_moved(old: Path, tmp_path: Path) -> None:
    x0, x1, x2 = EXCLUSIONS
    content = [*rows()[1:], {**rows()[0], "image_id": "x0"}]
    exclusions = [
        {**x1, "reason": "no caption"},
        {**x2, "detail": "row two"},
        {**x0, "key": "r000"},
        {**x0, "key": "never seen"},
    ]
    found = against(old, tmp_path / "new", content, exclusions=exclusions)
    assert {kind: keys.examples for kind, keys in found.exclusions.items()} == {
        "detail changed": ["x2"],
        "excluded, new": ["never seen"],
        "now excluded": ["r000"],
        "now included": ["x0"],
        "reason changed": ["x1"],
    }
    found = against(old, tmp_path / "elsewhere", exclusions=[x0, x1, {**x2, "split": "elsewhere"}])
    assert {kind: keys.examples for kind, keys in found.exclusions.items()} == {"detail changed": ["x2"]}
    assert found.facts == [] and not found.equal
    found = against(old, tmp_path / "fewer", exclusions=[x1, x2])
    assert {kind: keys.examples for kind, keys in found.exclusions.items()} == {"no longer excluded": ["x0"]}
    assert "no longer excluded" in text(found)


def test_a_key_excluded_twice(old: Path, tmp_path: Path) -> None:
    found = against(old, tmp_path / "new", exclusions=[*EXCLUSIONS, EXCLUSIONS[2]])
    assert {kind: keys.examples for kind, keys in found.exclusions.items()} == {"reason changed": ["x2"]}


def test_a_row_that_goes_is_now_excluded_though_its_copy_was_before(tmp_path: Path) -> None:
    copy = {**EXCLUSIONS[0], "key": "r000"}
    write_small(tmp_path / "before", exclusions=[copy])
    write_small(tmp_path / "after", rows()[1:], exclusions=[copy, {**copy, "reason": "withdrawn"}])
    for a, b, kind in (("before", "after", "now excluded"), ("after", "before", "now included")):
        found = diff(tmp_path / a, tmp_path / b)
        assert {kind: keys.examples for kind, keys in found.exclusions.items()} == {kind: ["r000"]}


def test_a_row_that_stays_is_not_said_to_go_or_come_with_its_copy(old: Path, tmp_path: Path) -> None:
    """A second row of its key, such as a copy, was excluded in one release only."""
    write_small(tmp_path / "new", exclusions=[*EXCLUSIONS, {**EXCLUSIONS[0], "key": "r000"}])
    for a, b, kind in ((old, tmp_path / "new", "excluded, new"), (tmp_path / "new", old, "no longer excluded")):
        assert {kind: keys.examples for kind, keys in diff(a, b).exclusions.items()} == {kind: ["r000"]}


def test_schema_and_facts(old: Path, tmp_path: Path) -> None:
    features = datasets.Features({**FEATURES, "score": datasets.Value("float64"), "note": datasets.Value("string")})
    features.pop("cuis")
    content = [{name: value for name, value in {**row, "note": ""}.items() if name != "cuis"} for row in rows()]
    found = against(
        old,
        tmp_path / "new",
        content,
        features=features,
        schema_version=2,
        settings={"seed": 1, "stages": {"admit": {"allow": ["CC0-1.0", "CC-BY-4.0"]}}},
        versions={"bedside": "0.2.0", "pyarrow": "26"},
        sources=[Source(name="drawn", digest="1" * 64, rows=15, licence="CC0-1.0")],
        stand_in="scripted model",
        rules=2,
        code=Code(commit="a" * 40, changed=False, lock=None),
    )
    schema = {change.where: (change.a, change.b) for change in found.schema}
    assert schema["score.dtype"] == ("float32", "float64")
    assert schema["note"][0] is None and schema["cuis"][1] is None
    facts = {change.where: (change.a, change.b) for change in found.facts}
    assert facts == {
        "code": (None, {"commit": "a" * 40, "changed": False, "lock": None}),
        "schema_version": (1, 2),
        "settings.seed": (0, 1),
        "settings.stages.admit.allow": (["CC0-1.0"], ["CC0-1.0", "CC-BY-4.0"]),
        "versions.bedside": ("0.1.0", "0.2.0"),
        "versions.pyarrow": (None, "26"),
        "sources.drawn.digest": ("0" * 64, "1" * 64),
        "stand_in": (None, "scripted model"),
        "rules": (1, 2),
    }
    assert set(found.columns) == {"score"}  # 0.1 of 32 bits is another number than 0.1 of 64
    shown = text(found)
    assert "scripted model" in shown and "score.dtype" in shown and "–" in shown


def test_two_parts_of_one_name_are_both_compared(tmp_path: Path) -> None:
    one, other = (Source(name="drawn", digest="0" * 64, rows=rows, licence="CC0-1.0") for rows in (14, 15))
    write_small(tmp_path / "old", sources=[one, other])
    found = against(tmp_path / "old", tmp_path / "new", sources=[other, other])
    assert [change.where for change in found.facts] == ["sources"]


def test_keys_that_look_like_markup_are_shown(old: Path, tmp_path: Path) -> None:
    content = [*rows(), {**rows()[0], "image_id": "[bold]x[/bold]"}]
    assert "[bold]x[/bold]" in text(against(old, tmp_path / "new", content))


def test_another_licence_is_a_change_that_is_named(tmp_path: Path) -> None:
    features = datasets.Features({**FEATURES, "licence": datasets.Value("string")})
    for name, licence in (("old", "CC-BY-4.0"), ("new", "CC-BY-NC-4.0")):
        content = [{**row, "licence": licence if at < 6 else "CC0-1.0"} for at, row in enumerate(rows())]
        excluded = [{**one, "licence": licence} for one in EXCLUSIONS]
        write_small(tmp_path / name, content, features=features, exclusions=excluded)
    found = diff(tmp_path / "old", tmp_path / "new")
    assert found.changed.count == found.columns["licence"].count == 6
    assert "6 rows have another licence, which may allow less" in screen(found)
    assert {kind: keys.count for kind, keys in found.exclusions.items()} == {"detail changed": len(EXCLUSIONS)}


def screen(found: Diff) -> str:
    """What is printed without --all, in a terminal of 80 columns."""
    lines: list[str] = []
    for part in shown(found, everything=False):
        lines += wrapped(part, 80, "    ") if isinstance(part, str) else [line.text for line in part.lines(80)]
    assert max(map(len, lines)) <= 80
    return "\n".join(lines)


def test_without_all_a_screen_says_what_changed_and_what_it_means(old: Path, tmp_path: Path) -> None:
    content = [{**row, "caption": f"{row['caption']} again", "note": "", "cuis": []} for row in rows()][1:]
    features = datasets.Features({**FEATURES, "score": datasets.Value("float64"), "note": datasets.Value("string")})
    found = against(
        old,
        tmp_path / "new",
        [row for row in content if row["split"] != "validation"],
        features=features,
        settings={f"setting {number}": {"digest": "f" * 64} for number in range(40)},
        measure=lambda found: {"kinds": {str(number): number for number in range(300)}},
        stand_in="scripted model",
    )
    said = screen(found)
    assert len(said.splitlines()) <= 40 < len(text(found).splitlines())
    for part in (
        "Changed in: caption 8",
        "score.dtype: float32, now float64",
        "ffffffffffffffff…",
        f"and {sum(not change.where.startswith(('stages', 'statistics')) for change in found.facts) - 6} more",
        "Code that reads A may fail on B: score.dtype missing or of another type.",
        "What was measured on train, validation and test of A does not hold for B",
        "B is a stand-in: scripted model",
        "(--all, --json)",
    ):
        assert part in " ".join(said.split()), part
    assert "--all" not in text(found)


def test_a_split_that_only_b_has_was_not_measured_on_a(old: Path, tmp_path: Path) -> None:
    kept = [row for row in rows() if row["split"] != "test"]
    write_small(tmp_path / "without", kept)
    found = diff(tmp_path / "without", old)
    assert found.new_splits == ["test"] and found.touched == ["test"]
    said = screen(found)
    assert "What was measured on A holds for B: the content of every row of A is the same." in " ".join(said.split())
    assert "A has no test; B does." in said
    gone = " ".join(screen(diff(old, tmp_path / "without")).split())
    assert "measured on test of A" in gone and "Code that reads A may fail on B, which has no split test." in gone
    kept[0]["caption"] = "another"
    write_small(tmp_path / "changed", kept)
    assert "What was measured on train of A does not hold for B" in screen(diff(tmp_path / "changed", old))


def test_a_config_that_only_a_has_is_told(old: Path, tmp_path: Path) -> None:
    pairs = [Config(name="pairs", splits=["train", "validation", "test"])]
    found = against(old, tmp_path / "other", configs=pairs)
    said = " ".join(screen(replace(found, facts=[Change(one.where, one.b, one.a) for one in found.facts])).split())
    assert "may fail" not in screen(found) and "may fail on B, which has no config pairs." in said


def test_untouched_parts_are_reported_as_such(old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = rows()
    content[3]["caption"] = "another"
    found = against(old, tmp_path / "new", content)
    assert found.touched == ["validation"]
    assert "What was measured on validation of A does not hold" in screen(found)
    found = against(old, tmp_path / "facts", versions={"bedside": "0.2.0"})
    assert "versions.bedside: 0.1.0, now 0.2.0" in screen(found) and "holds for B" in screen(found)
    assert execute(["diff", str(old), str(tmp_path / "facts")]) == 1
    brief = capsys.readouterr().out
    assert execute(["diff", str(old), str(tmp_path / "facts"), "--all"]) == 1
    assert "What it means" in brief and "What it means" not in capsys.readouterr().out


def test_a_column_that_only_one_release_has_is_not_said_to_be_the_same(old: Path, tmp_path: Path) -> None:
    more = datasets.Features({**FEATURES, "note": datasets.Value("string")})
    write_small(tmp_path / "wide", [{**row, "note": "a note"} for row in rows()], features=more)
    for a, b, part in (
        (tmp_path / "wide", old, "holds for B, but for note: every other column is the same in every row."),
        (old, tmp_path / "wide", "holds for B: the content of every row of A is the same."),
    ):
        assert part in " ".join(screen(diff(a, b)).split())


def test_what_cannot_be_compared(old: Path, tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="holds no manifest"):
        diff(old, tmp_path)
    write_small(tmp_path / "new", corpus="another")
    with pytest.raises(ReleaseError, match=r"corpus 'another' \(expected 'small'"):
        diff(old, tmp_path / "new")
    shutil.copytree(old, tmp_path / "damaged")
    (tmp_path / "damaged" / "exclusions.parquet").unlink()
    with pytest.raises(ReleaseError, match=r"exclusions\.parquet: cannot be read"):
        diff(old, tmp_path / "damaged")


def test_the_command_refuses_a_release_that_was_changed(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = shutil.copytree(old, tmp_path / "changed")
    (shard,) = (changed / "data").glob("test*")
    pq.write_table(pq.read_table(shard).slice(1), shard)
    assert execute(["diff", str(old), str(changed)]) == 2
    assert f"changed/data/{shard.name}" in capsys.readouterr().err


PLAIN = datasets.Features({name: datasets.Value("string") for name in ("image_id", "split", "caption")})
ROW = st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["train", "test"]), st.sampled_from(["x", "y"]))
RELEASE = st.lists(ROW, min_size=1, max_size=8, unique_by=lambda row: row[0])


@settings(max_examples=25)
@given(before=RELEASE, after=RELEASE)
def test_counts_agree_with_sets(
    before: list[tuple[str, str, str]], after: list[tuple[str, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    for name, content in (("a", before), ("b", after)):
        write_small(
            folder / name,
            [{"image_id": key, "split": split, "caption": caption} for key, split, caption in content],
            features=PLAIN,
            measure=lambda found: None,
            card=lambda manifest: "",
        )
    found = diff(folder / "a", folder / "b", examples=100)
    a, b = ({key: rest for key, *rest in content} for content in (before, after))
    assert set(found.added.examples) == b.keys() - a.keys() and found.added.count == len(b.keys() - a.keys())
    assert set(found.removed.examples) == a.keys() - b.keys()
    both = a.keys() & b.keys()
    assert set(found.changed.examples) == {key for key in both if a[key][1] != b[key][1]}
    assert sum(keys.count for keys in found.moved.values()) == sum(a[key][0] != b[key][0] for key in both)
    tables = [[pq.read_table(p) for p in sorted((folder / n / "data").iterdir())] for n in "ab"]
    assert found.equal == (tables[0] == tables[1])
