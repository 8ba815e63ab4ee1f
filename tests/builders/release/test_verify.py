"""Verification: each way in which a release can be wrong is found and told apart; and where a release is looked for."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi, constants

from builders.medlaybench_v.recipe import RECIPE, Options
from builders.pipeline.rows import Row
from builders.recipe import build
from builders.release.resolve import resolve
from builders.release.shards import read_parquet
from builders.release.verify import made_by, verify
from loaders.corpus import Corpus
from loaders.errors import HubError, InputError, MissingExtra, ReleaseError
from loaders.manifest import Manifest, file_digest
from loaders.medlaybench_v import from_official
from loaders.schema import Migration
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches
from tests.parts.small_release import FEATURES, measure, row, rows, write_small

TEST_SHARD = "data/test-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pristine") / "out"
    write_small(out)
    return out


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine, tmp_path / "out"))


def caption_rule(found: Row) -> list[str]:
    return [] if found["caption"].startswith("caption") else ["a caption of another kind"]


def problems(folder: Path) -> list[str]:
    return [str(problem) for problem in verify(folder, row_check=caption_rule, measure=measure)]


def edit_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    facts = json.loads((folder / "manifest.json").read_text())
    change(facts)
    (folder / "manifest.json").write_text(json.dumps(facts))


def relist(folder: Path) -> None:
    """Make the manifest agree with the files, as a forger would."""

    def change(facts: dict[str, Any]) -> None:
        for name in facts["files"]:
            facts["files"][name] = {"sha256": file_digest(folder / name), "size": (folder / name).stat().st_size}

    edit_manifest(folder, change)


def rewrite(folder: Path, name: str, change: Callable[[list[Row]], list[Row]], schema: pa.Schema | None = None) -> None:
    """Change the rows of a file, and make its digest agree."""
    table = pq.read_table(folder / name)
    content = change(table.to_pylist())
    pq.write_table(pa.Table.from_pylist(content, schema or table.schema), folder / name)
    relist(folder)


def found(folder: Path, *patterns: str) -> None:
    """Each problem matches one of the patterns, and each pattern a problem."""
    said = problems(folder)
    for pattern in patterns:
        assert any(re.search(pattern, problem) for problem in said), (pattern, said)
    for problem in said:
        assert any(re.search(pattern, problem) for pattern in patterns), problem


def test_a_sound_release(folder: Path) -> None:
    assert problems(folder) == []
    assert verify(folder) == []


@pytest.mark.parametrize("name", ["README.md", "exclusions.parquet", TEST_SHARD])
def test_a_flipped_byte_is_found_wherever_it_is(name: str, folder: Path) -> None:
    whole = (folder / name).read_bytes()
    for place in {0, len(whole) // 3, len(whole) // 2, len(whole) - 1}:
        (folder / name).write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        said = problems(folder)
        assert said[0].startswith(f"{name}: SHA-256 "), said


def test_a_flipped_byte_in_the_manifest_is_found(folder: Path) -> None:
    """Where it can be: what the manifest alone tells about the origin of the rows has nothing to be compared with."""
    whole = (folder / "manifest.json").read_bytes()
    facts = json.loads(whole)
    unseen = set()
    for place in range(0, len(whole) - 1, 23):
        flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        (folder / "manifest.json").write_bytes(flipped)
        if not problems(folder):
            unseen |= {name for name, value in json.loads(flipped).items() if value != facts[name]}
    assert unseen <= {"corpus", "prompts", "settings", "sources", "versions"}


def test_missing_and_extra_files(folder: Path) -> None:
    (folder / TEST_SHARD).unlink()
    (folder / "data" / "test-00001-of-00002.parquet").write_bytes(b"")
    found(folder, f"{TEST_SHARD}: missing", "test-00001-of-00002.parquet: a file that the manifest does not list")


def test_not_a_release(tmp_path: Path) -> None:
    assert "holds no manifest.json" in problems(tmp_path)[0]
    (tmp_path / "manifest.json").write_text('{"format": 1')
    assert "is incomplete JSON" in problems(tmp_path)[0]


def test_a_removed_row(folder: Path) -> None:
    table = pq.read_table(folder / TEST_SHARD)
    pq.write_table(table.slice(1), folder / TEST_SHARD)
    found(folder, rf"{TEST_SHARD}: (SHA-256|[\d,]+ bytes)")
    relist(folder)
    found(
        folder,
        r"split test: 2 rows \(expected 3\)",
        "split test: content digest",
        "statistics.letters: 110 ",
        "statistics.kinds.scan: 6 .expected 5, measured from the rows",
        "download_size",
    )


def test_swapped_shards(folder: Path) -> None:
    other = folder / "data" / "validation-00000-of-00001.parquet"
    (folder / TEST_SHARD).rename(folder / "x")
    other.rename(folder / TEST_SHARD)
    (folder / "x").rename(other)
    assert len([line for line in problems(folder) if "SHA-256" in line or " bytes (expected" in line]) == 2
    relist(folder)
    found(
        folder,
        "split (test|validation): content digest",
        "row 'r00.': split 'validation' .expected 'test'",
        "row 'r0(03|07|11)': split 'validation'",
        "row 'r0..': split 'test' .expected 'validation'",
    )


def test_a_key_that_comes_twice_across_splits(folder: Path) -> None:
    rewrite(folder, TEST_SHARD, lambda content: [content[0], content[1], {**content[2], "image_id": "r001"}])
    found(
        folder,
        "row 'r001': the key is also in data/train-00000-of-00001.parquet .expected a unique key",
        "split test: content digest",
        "download_size",
    )


def test_a_key_that_comes_three_times_is_reported_twice_with_its_first_place(folder: Path) -> None:
    rewrite(folder, TEST_SHARD, lambda content: [{**row, "image_id": "r000"} for row in content])
    told = f"{TEST_SHARD}: row 'r000': the key is also in {TEST_SHARD} (expected a unique key"
    assert sum(told in problem for problem in problems(folder)) == 2


def test_of_many_repeated_keys_only_those_that_are_listed_are_read_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewrite(folder, TEST_SHARD, lambda rows: rows[:1] * 60)
    reads: list[str] = []

    def counted(*of: Any) -> Iterator[Row]:
        reads.append(of[1])
        return read_parquet(*of)

    monkeypatch.setattr("builders.release.verify.read_parquet", counted)
    assert "rows: 39 more: repeated key (expected none)" in problems(folder)
    assert len(reads) < 30


def test_a_row_that_breaks_the_rules_of_its_corpus(folder: Path) -> None:
    rewrite(folder, TEST_SHARD, lambda content: [{**content[0], "caption": "picture 0"}, *content[1:]])
    found(folder, "row 'r000': a caption of another kind", "split test: content digest", "download_size")
    rewrite(folder, TEST_SHARD, lambda content: [{**content[0], "caption": None}, *content[1:]])
    found(
        folder,
        "row 'r000': cannot be checked .AttributeError",
        "statistics: cannot be measured .TypeError",
        "content digest",
        "download_size",
    )


@pytest.mark.parametrize("said", [None, "fine"])
def test_a_check_that_gives_no_list_is_named_and_is_no_fault_of_the_statistics(said: Any, folder: Path) -> None:
    told = [problem.found for problem in verify(folder, row_check=lambda row: said)]
    assert set(told) == {f"cannot be checked (check_row returns a {type(said).__name__}, not a list of sentences)"}


def test_a_check_that_needs_what_is_not_installed_is_no_fault_of_the_rows(folder: Path) -> None:
    def needs(row: Row) -> list[str]:
        raise MissingExtra.named("phonenumbers", extra="threads", purpose="a search for identifiers")

    with pytest.raises(MissingExtra, match="phonenumbers"):
        verify(folder, row_check=needs)


def test_many_bad_rows_are_counted(tmp_path: Path) -> None:
    write_small(tmp_path / "out", [row(number, "train", caption="x") for number in range(30)])
    said = problems(tmp_path / "out")
    assert len(said) == 21 and said[-1] == "rows: 10 more: a caption of another kind (expected none)"


def test_what_was_found_before_a_row_that_cannot_be_read_is_told(folder: Path) -> None:
    def change(content: list[Row]) -> list[Row]:
        return [{**content[0], "caption": "another"}, {**content[1], "image_id": None}, *content[2:]]

    rewrite(folder, TEST_SHARD, change)
    found(folder, "a caption of another kind", "row 2: a row without image_id", "download_size")


def test_another_schema(folder: Path) -> None:
    schema = FEATURES.arrow_schema
    plain = schema.remove_metadata()
    rewrite(folder, TEST_SHARD, lambda content: content, plain)
    found(folder, f"{TEST_SHARD}: other feature types", "download_size")
    wider = schema.set(schema.get_field_index("score"), pa.field("score", pa.float64()))
    rewrite(folder, TEST_SHARD, lambda content: content, wider)
    found(folder, rf"{TEST_SHARD}: a column score: double \(expected score: float\)", "download_size")
    for told in ('{"info": {"features": {"image": {"_type": "Picture"}}}}', "[" * 100_000):
        garbled = schema.with_metadata({"huggingface": told})
        rewrite(folder, TEST_SHARD, lambda content: content, garbled)
        found(folder, f"{TEST_SHARD}: other feature types", "download_size")
    renamed = schema.set(schema.get_field_index("caption"), pa.field("text", pa.string()))
    rewrite(folder, TEST_SHARD, lambda content: [{**row, "text": row["caption"]} for row in content], renamed)
    found(folder, rf"{TEST_SHARD}: a column text: string \(expected caption: string\)", "download_size")
    with pytest.raises(ReleaseError, match="a column text: string .expected caption: string"):
        list(read_parquet(folder, TEST_SHARD, schema, "image_id"))
    turned = pa.schema(reversed(list(schema)), metadata=schema.metadata)
    rewrite(folder, TEST_SHARD, lambda content: content, turned)
    found(folder, f"{TEST_SHARD}: columns in the order kind, score, ", "download_size")
    (folder / TEST_SHARD).write_bytes(b"PAR1, but no Parquet")
    relist(folder)
    found(folder, f"{TEST_SHARD}: cannot be read", "download_size")


def test_the_same_schema_in_the_words_of_datasets_4(folder: Path) -> None:
    rewrite(folder, TEST_SHARD, lambda content: content, FEATURES.arrow_schema)
    assert b'"_type": "List"' in FEATURES.arrow_schema.metadata[b"huggingface"]
    found(folder, "download_size")


def later(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "caption": f"later {row['caption']}"}


@pytest.mark.parametrize("migrations", [(), (later,)])
def test_a_release_of_an_earlier_schema_is_held_to_the_rules_as_it_is_loaded(
    migrations: tuple[Migration, ...], folder: Path
) -> None:
    features = datasets.Features({**FEATURES, "note": datasets.Value("string")})
    known = Corpus("small", features, "image_id", from_official, "", (), migrations=migrations)
    seen: list[Row] = []

    def rule(row: Row) -> list[str]:
        seen.append(row)
        return ["the third"] if row["image_id"] == "r002" else []

    def changed_since(rows: Iterable[Row]) -> Any:
        raise AssertionError

    (problem,) = verify(folder, corpus=known, row_check=rule, measure=changed_since)
    assert problem.where.endswith("row 'r002'") and problem.found == "the third"
    assert len(seen) == 12 and all(list(row) == list(features) and row["note"] is None for row in seen)
    assert {row["caption"].split()[0] for row in seen} == {"later" if migrations else "caption"}


def test_rows_named_by_another_column_than_the_corpus_says_are_a_problem(folder: Path) -> None:
    edit_manifest(folder, lambda facts: facts.update(key="caption"))
    found = map(str, verify(folder, corpus=Corpus("small", FEATURES, "image_id")))
    assert "manifest.json: key: caption (expected image_id, the key of small)" in found


def test_a_release_of_a_newer_schema_is_one_problem(folder: Path) -> None:
    edit_manifest(folder, lambda facts: facts.update(schema_version=2))
    known = Corpus("small", FEATURES, "image_id", from_official, "", ())
    (problem,) = verify(folder, corpus=known, row_check=caption_rule, measure=measure)
    assert str(problem).startswith(f"{folder}: version 2 of the schema of small (expected at most version 1")


def test_a_release_of_other_gates_is_held_to_what_its_manifest_names(folder: Path) -> None:
    def stricter(row: Row) -> list[str]:
        return ["a caption that is no longer sound"]

    def counts_more(rows: Iterable[Row]) -> Any:
        return {**measure(rows), "tone": 3}

    def held(rules: int | None) -> list[str]:
        found = verify(folder, row_check=stricter, measure=counts_more, rules=rules)
        return [str(problem) for problem in found]

    for same in (1, None):  # a manifest without the number is of version 1
        assert len(held(same)) == 12 + 1 and "a caption that is no longer sound" in held(same)[1]
    assert held(2) == []
    said = made_by(Manifest.read(folder), 2)
    assert said.startswith("made by version 1 of the gates and scans; this Bedside has version 2: ")
    assert made_by(Manifest.read(folder), 1) == ""
    edit_manifest(folder, lambda facts: facts["statistics"].update(letters=99))
    (problem,) = held(2)
    assert problem.startswith("manifest.json: statistics.letters: 99")
    shutil.rmtree(folder / "data")
    assert any("missing" in problem for problem in held(2))


def test_the_tables_of_a_card_of_other_gates_are_not_held_to_how_todays_would_be_written(folder: Path) -> None:
    """A card's tables are written by the code of its time, from columns that today's may count in another way."""
    card = folder / "README.md"
    card.write_text(card.read_text(encoding="utf-8").replace("| train | 6 |", "| train | six |"), encoding="utf-8")
    relist(folder)
    for same in (1, None):
        assert [str(one) for one in verify(folder, rules=same) if one.where == "README.md: a table"]
    assert verify(folder, rules=2) == []


def test_licences_are_checked_whatever_gates_made_a_release(folder: Path) -> None:
    def unlicensed(row: Row) -> list[str]:
        return ["a licence that its phrases do not allow"] if row["image_id"] == "r002" else []

    (problem,) = verify(folder, row_check=caption_rule, rules=2, licence_check=unlicensed)
    assert problem.found == "a licence that its phrases do not allow"
    edit_manifest(folder, lambda facts: facts["statistics"].update(licence={"CC-BY-NC-4.0": 12}))
    for rules in (1, 2):
        (problem,) = [one for one in verify(folder, rules=rules) if one.where == "README.md: YAML: license"]
        assert (problem.found, problem.expected) == ("cc-by-4.0", "terms that cover its rows: CC-BY-NC-4.0")


def test_exclusions_that_do_not_add_up(folder: Path) -> None:
    rewrite(folder, "exclusions.parquet", lambda content: content[:2])
    found(folder, "exclusions.parquet: 2 rows", r"stage admit, no licence: 1 row \(expected 2, as the manifest counts")
    rewrite(folder, "exclusions.parquet", lambda content: [*content, {**content[0], "reason": "no image"}])
    found(folder, "exclusions.parquet: 3 rows", "no licence: 1 row", r"no image: 1 row \(expected 0")
    write_small(folder, overwrite=True)
    rewrite(folder, "exclusions.parquet", lambda content: [{**content[0], "detail": "another"}, *content[1:]])
    found(folder, "exclusions.parquet: 3 rows, .*expected 3 rows, ")
    rewrite(folder, "exclusions.parquet", lambda content: [{"key": "x"}], pa.schema([("key", pa.string())]))
    found(folder, "exclusions.parquet: no column split: string; stage: string; ")


def test_stages_that_do_not_add_up(folder: Path) -> None:
    def change(facts: dict[str, Any]) -> None:
        facts["stages"][0]["rows_in"] = 16

    edit_manifest(folder, change)
    found(folder, "stage admit: 16 rows in .expected 15")


def test_statistics_that_the_rows_do_not_give(folder: Path) -> None:
    def change(facts: dict[str, Any]) -> None:
        facts["statistics"]["kinds"] = {"scan": 6, "picture": 5, "film": 1}

    edit_manifest(folder, change)
    found(
        folder,
        "statistics.kinds.picture: 5 .expected 6, measured",
        "statistics.kinds.film: 1 .expected None",
        "README.md: a table: picture . 6 .expected film . 1, as the manifest counts",
    )


@pytest.mark.parametrize(
    ("old", "new", "pattern"),
    [
        ("num_examples: 6", "num_examples: 7", r"dataset_info\.splits\.train\.num_examples: 7 \(expected 6"),
        ("path: data/test-*", "path: data/te*", r"configs\.data_files: .*'data/te\*'.*expected .*'data/test-\*'"),
        ("- name: validation", "- name: dev", r"dataset_info\.splits\.(dev|validation): "),
        ("download_size: ", "download_size: 1", "dataset_info.download_size"),
        ("dtype: float32", "dtype: float64", r"dataset_info\.features\.score\.dtype: float64"),
        ("dataset_info:\n", "dataset_info:\n  license: mit\n", "dataset_info.license: mit"),
        ("  - split: test\n", "  - split: test\n    path: data/train-*\n  - split: test\n", r"configs\.data_files: "),
        ("configs:", "config:", "YAML: cannot be used"),
        ("---\nlanguage", "language", "YAML: cannot be used"),
        ("configs:", "configs: [", "YAML: cannot be read as YAML"),
        (
            "configs:",
            "deep: " + "[" * 5_000 + "]" * 5_000 + "\nconfigs:",
            "YAML: cannot be read as YAML .nested too deep",
        ),
        ("configs:", "a: &a [x, x]\nb: &b [*a, *a]\nconfigs:", "YAML: holds a nested reference"),
    ],
)
def test_an_edited_card(old: str, new: str, pattern: str, folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert text.count(old) >= 1
    (folder / "README.md").write_text(text.replace(old, new, 1))
    found(folder, r"README.md: ([\d,]+ bytes|SHA-256)", pattern)
    relist(folder)
    found(folder, pattern)


@pytest.mark.parametrize(
    ("old", "new", "pattern"),
    [
        ("| train | 6 |", "| train | 60 |", r"a table: train \| 60 .expected train \| 6, as the manifest counts"),
        ("| picture | 6 |\n", "", r"a table: scan \| 6 .expected picture \| 6, as"),
        (
            "| admit | no licence | 2 |",
            "| admit | no caption | 2 |",
            "no caption . 2 .expected admit . no licence . 2, as",
        ),
    ],
)
def test_tables_of_a_card_with_other_numbers(old: str, new: str, pattern: str, folder: Path) -> None:
    text = (folder / "README.md").read_text()
    assert text.count(old) == 1
    (folder / "README.md").write_text(text.replace(old, new))
    relist(folder)
    found(folder, pattern)


def test_the_tables_of_a_card_may_stand_in_another_order(folder: Path) -> None:
    text = (folder / "README.md").read_text()
    lines = "| picture | 6 |\n| scan | 6 |"
    assert lines in text
    own = "\n\n| mine | rows |\n|---|---|\n| a table of the template | 3 |\n"
    (folder / "README.md").write_text(text.replace(lines, "| scan | 6 |\n| picture | 6 |") + own)
    relist(folder)
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("file", "stated", "found"),
    [
        ("README.md", "cc-by-4.0", "cc-by-4.0"),
        ("README.md", "mit", "mit"),
        ("README.md", "[cc-by-nc-4.0, openrail]", "openrail"),
        ("README.md", "other\nlicense_name: cc0-1.0", "cc0-1.0"),
        ("README.md", "''", ""),
        ("croissant.json", "cc-by-4.0", "cc-by-4.0"),
    ],
)
def test_a_licence_that_does_not_cover_the_rows(file: str, stated: str, found: str, tmp_path: Path) -> None:
    captions = tmp_path / "captions.csv"
    captions.write_text("id,caption,licence\na,Renal cyst.,CC BY-NC 4.0\nb,CT of the chest.,CC BY\n", encoding="utf-8")
    build(RECIPE, Options(captions=str(captions)), tmp_path / "out", workspace=tmp_path / "work")
    assert verify(tmp_path / "out", measure=RECIPE.measure) == []
    path = tmp_path / "out" / file
    path.write_text(path.read_text(encoding="utf-8").replace("cc-by-nc-4.0", stated), encoding="utf-8")
    relist(tmp_path / "out")
    (problem, *_) = verify(tmp_path / "out", measure=RECIPE.measure)
    assert problem.where.startswith(file) and "license" in problem.where and problem.found == found


def test_a_listed_file_and_a_size_that_no_release_has(folder: Path) -> None:
    (folder / "loading.py").write_text("import os")
    card = folder / "README.md"
    card.write_text(card.read_text().replace("n<1K", "1M<n<10M"))
    edit_manifest(folder, lambda facts: facts["files"].update({"loading.py": {}}))
    relist(folder)
    found(folder, "loading.py: a listed file that no release has", "size_categories: .'1M<n<10M'")


def test_a_manifest_that_lists_too_little_or_too_much(folder: Path) -> None:
    def change(facts: dict[str, Any]) -> None:
        facts["files"]["data/extra-00000-of-00001.parquet"] = facts["files"][TEST_SHARD]
        for name in ("README.md", "exclusions.parquet", "data/train-00000-of-00001.parquet"):
            del facts["files"][name]

    edit_manifest(folder, change)
    (folder / "README.md").unlink()
    (folder / "exclusions.parquet").unlink()
    shutil.copy(folder / TEST_SHARD, folder / "data" / "extra-00000-of-00001.parquet")
    found(
        folder,
        "README.md: not listed",
        "exclusions.parquet: not listed",
        "shards of train: none",
        "extra-00000-of-00001.parquet: belongs to no split",
        "train-00000-of-00001.parquet: a file that the manifest does not list",
        "split train: 0 rows",
        "split train: content digest",
        "statistics",
    )


@pytest.mark.parametrize(
    ("features", "pattern"),
    [
        ([{"name": "image_id", "dtype": "nonsense"}], "features: cannot be read"),
        ([{"names": "image_id"}], "features.0: .*a column with"),
        ([{"name": "split", "dtype": "string"}], "a column 'image_id'"),
    ],
)
def test_features_that_cannot_be_used(features: Any, pattern: str, folder: Path) -> None:
    edit_manifest(folder, lambda facts: facts.update(features=features))
    assert re.search(pattern, problems(folder)[-1])


# --- where a release is -----------------------------------------------------------------------------------------------


def test_a_folder_is_used_as_it_is(folder: Path) -> None:
    assert resolve(str(folder)) == folder


@pytest.mark.parametrize("source", ["nothing", "a/b/c", "./gone", "../gone", "no such/folder", "org/name@", "@v1"])
def test_neither_a_folder_nor_a_repository(source: str) -> None:
    with pytest.raises(ReleaseError, match=r"no such folder \(expected a release folder, or REPO\[@TAG\]"):
        resolve(source)


@pytest.fixture
def published(
    hub: FaultyHub, pristine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[FaultyHub, list[str]]:
    """Two commits on a Hub that this process talks to: v1.0.0 is the small release, main a smaller one."""
    own_caches(tmp_path / "cache", monkeypatch)
    at_hub(hub, monkeypatch)
    api = HfApi(endpoint=hub.url, token=hub.token)
    repo = f"{api.whoami()['name']}/small"
    api.create_repo(repo, repo_type="dataset")
    write_small(tmp_path / "second", rows()[:5])
    commits = []
    for place in (pristine, tmp_path / "second"):
        done = api.upload_folder(repo_id=repo, repo_type="dataset", folder_path=place, delete_patterns="*")
        commits.append(done.oid)
        if place == pristine:
            api.create_tag(repo, tag="v1.0.0", repo_type="dataset")
    return hub, [repo, *commits]


def test_a_tag_on_the_hub(published: tuple[FaultyHub, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    hub, (repo, first, second) = published
    for source, commit in ((f"{repo}@v1.0.0", first), (repo, second)):
        path = resolve(source)
        assert path.name == commit and len(list(path.rglob("*.parquet"))) == 4
        assert verify(path, measure=measure) == []
    with pytest.raises(HubError, match=r"@v9\.9\.9: has no such revision"):
        resolve(f"{repo}@v9.9.9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    asked = len(hub.requests)
    assert resolve(f"{repo}@v1.0.0").name == first
    with pytest.raises(HubError, match="the cache holds no complete copy.*Connect to the internet"):
        resolve(f"{repo}@v9.9.9")
    assert len(hub.requests) == asked


def test_another_commit_than_the_hub_named_is_refused(published: tuple[FaultyHub, list[str]]) -> None:
    """Somebody commits after the Hub said what main names, and before it is downloaded."""
    hub, (repo, _, second) = published
    asked, moved = "/revision/main", {"README.md": b"# Mended by hand"}
    hub.meanwhile("GET", asked, lambda: hub.meanwhile("GET", asked, lambda: hub.commit(repo, moved)))
    with pytest.raises(HubError) as said:
        resolve(repo)
    third = hub.repo(repo).branches["main"]
    assert str(said.value).startswith(f"{repo}: commit {third} was downloaded (expected {second}, which main names")


def test_a_cache_that_may_not_be_written_is_no_missing_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refused(*_: object, **__: object) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(Path(constants.HF_HUB_CACHE, "datasets--org--x")))

    import_module("loaders.hub")  # imported below for the first time, it would keep what is put in here
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.snapshot_download", refused)
    with pytest.raises(InputError, match=r"may not be written.*HF_HOME"):
        resolve("org/x@v1.0.0")
