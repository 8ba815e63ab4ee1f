"""The manifest: what it refuses, what it finds, and a content digest that depends on the values only."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from loaders.errors import ReleaseError
from loaders.manifest import NAME, ContentDigest, FileFacts, Manifest, StageCount, canonical_json, content_digest
from tests.parts.privileges import unprivileged

ZERO = "0" * 64


def facts(**more: Any) -> dict[str, Any]:
    digest = content_digest({"test": ZERO})
    return {
        "format": 1,
        "corpus": "small",
        "key": "id",
        "features": [{"name": "id", "dtype": "string"}],
        "sources": [{"name": "drawn", "digest": ZERO, "rows": 3, "licence": "CC0-1.0", "url": None}],
        "settings": {"seed": 0},
        "prompts": {},
        "versions": {"pyarrow": "26"},
        "stages": [{"name": "admit", "version": 1, "rows_in": 3, "rows_out": 2, "excluded": {"no licence": 1}}],
        "splits": {"test": {"rows": 2, "num_bytes": 10, "content_digest": ZERO}},
        "content_digest": digest,
        "statistics": {"é": 0.1},
        "exclusions": {"rows": 1, "content_digest": ZERO},
        "files": {"data/test-00000-of-00001.parquet": {"sha256": ZERO, "size": 1}},
        "stand_in": None,
    } | more


def release(folder: Path) -> Manifest:
    (folder / "data").mkdir(parents=True)
    (folder / "README.md").write_text("card")
    (folder / "data" / "test-00000-of-00001.parquet").write_bytes(b"shard")
    listed = {
        "README.md": FileFacts(sha256=hashlib.sha256(b"card").hexdigest(), size=4),
        "data/test-00000-of-00001.parquet": FileFacts(sha256=hashlib.sha256(b"shard").hexdigest(), size=5),
    }
    manifest = Manifest.model_validate(facts(files=listed))
    manifest.write(folder)
    return manifest


def test_a_manifest_that_may_not_be_read_is_not_to_be_built_again(tmp_path: Path) -> None:
    release(tmp_path / "shut")
    (tmp_path / "shut").chmod(0)
    with unprivileged(), pytest.raises(ReleaseError, match=r": cannot be read \(Permission denied\)") as error:
        Manifest.read(tmp_path / "shut")
    (tmp_path / "shut").chmod(0o755)
    assert error.value.do == "Ask for permission to read it"


def test_what_is_written_is_read_and_is_canonical(tmp_path: Path) -> None:
    manifest = release(tmp_path)
    assert Manifest.read(tmp_path) == manifest
    text = (tmp_path / NAME).read_bytes().decode()
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    assert '"é": 0.1' in text
    assert "schema_version" not in text and manifest.schema_version == 1
    assert '"schema_version": 2' in manifest.model_copy(update={"schema_version": 2}).text()
    assert manifest.check_files(tmp_path) == [] and manifest.check_counts() == []
    assert not list(tmp_path.glob("*.tmp"))


def test_not_a_release(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"nothing: no such folder \(expected a release folder"):
        Manifest.read(tmp_path / "nothing")
    with pytest.raises(ReleaseError, match=r"holds no manifest\.json"):
        Manifest.read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ReleaseError, match=r"file: holds no manifest\.json"):
        Manifest.read(tmp_path / "file")


def test_a_manifest_cut_anywhere_is_refused(tmp_path: Path) -> None:
    release(tmp_path)
    whole = (tmp_path / NAME).read_bytes()
    for length in range(0, len(whole) - 2, 7):
        (tmp_path / NAME).write_bytes(whole[:length])
        with pytest.raises(ReleaseError, match=r"is incomplete JSON|cannot be read"):
            Manifest.read(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "nested too deep"),
        (b"[]", r"holds a JSON list \(expected the JSON object that `bedside build` wrote\)\. Download"),
        (b"{}", r"states no format \(expected the JSON object that"),
        (b'{"corpus": "3mdbench", ' + json.dumps(facts()).encode()[1:], "the key 'corpus' twice in one object"),
        (json.dumps(facts(format=2)).encode(), r"format 2 \(expected format 1\)\. Update Bedside"),
        (json.dumps(facts(corpus=3)).encode(), "corpus: Input should be a valid string"),
        (json.dumps(facts(surprise=3)).encode(), "says surprise, which this Bedside does not know .*Install a newer"),
        (
            json.dumps(facts(exclusions={"rows": 1, "content_digest": ZERO, "by": 3})).encode(),
            "says exclusions.by, which",
        ),
        (json.dumps(facts(features=[{"dtype": "string"}])).encode(), "features.0: .*a column without a name"),
        (json.dumps({k: v for k, v in facts().items() if k != "splits"}).encode(), "splits: Field required"),
        (json.dumps(facts(files={"a": {"sha256": "x", "size": 1}})).encode(), "files.a.sha256: String should match"),
        (json.dumps(facts(exclusions={"rows": -1, "content_digest": ZERO})).encode(), "exclusions.rows: "),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(ReleaseError, match=message):
        Manifest.read(tmp_path)


@pytest.mark.parametrize(
    "name", ["../x", "data/../../x", "/etc/passwd", "data\\..\\x", "", ".", "data//x", "./x", "a\0b"]
)
def test_a_file_name_that_leads_out_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(json.dumps(facts(files={name: {"sha256": ZERO, "size": 1}})))
    with pytest.raises(ReleaseError, match="leads out of the release folder|NUL"):
        Manifest.read(tmp_path)


def test_numbers_that_json_cannot_say_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="expected finite numbers"):
        Manifest.model_validate(facts(statistics={"mean": float("nan")})).write(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_files_that_differ_are_found(tmp_path: Path) -> None:
    manifest = release(tmp_path)
    shard = tmp_path / "data" / "test-00000-of-00001.parquet"

    def found() -> list[str]:
        return [str(problem) for problem in manifest.check_files(tmp_path)]

    shard.write_bytes(b"shbrd")
    flipped = hashlib.sha256(b"shbrd").hexdigest()
    assert found() == [
        f"{shard.relative_to(tmp_path)}: SHA-256 {flipped} (expected {hashlib.sha256(b'shard').hexdigest()})"
    ]
    shard.write_bytes(b"shards")
    assert found() == ["data/test-00000-of-00001.parquet: 6 bytes (expected 5 bytes)"]
    shard.unlink()
    (tmp_path / "data" / "more.parquet").write_bytes(b"")
    (tmp_path / ".gitattributes").write_bytes(b"the Hub adds this file by itself")
    (tmp_path / "data" / ".DS_Store").write_bytes(b"and this one a window that shows the folder")
    assert found() == [
        "data/test-00000-of-00001.parquet: missing (expected the file that the manifest lists)",
        "data/more.parquet: a file that the manifest does not list (expected only listed files)",
    ]


def counted(*stages: tuple[int, int, int]) -> list[StageCount]:
    """Stages a, b, … of (rows in, rows out, rows excluded)."""
    return [
        StageCount(name=name, version=1, rows_in=came, rows_out=left, excluded={"x": gone} if gone else {})
        for name, (came, left, gone) in zip("abc", stages, strict=False)
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stages": counted((4, 2, 1))}, "stage a: 4 rows in (expected 3, the rows kept and excluded)"),
        ({"stages": counted((2, 2, 1))}, "stage a: 2 rows in (expected 3, the rows kept and excluded)"),
        ({"stages": counted((5, 4, 1), (2, 2, 0))}, "stage b: 2 rows (expected the 4 rows that stage a kept)"),
        ({"stages": counted((2, 1, 1), (2, 2, 0))}, "stage b: 2 rows (expected the 1 row that stage a kept)"),
        ({"stages": counted((4, 3, 1))}, "splits: 2 rows (expected the 3 rows that stage a kept)"),
        ({"stages": counted((2, 1, 1))}, "splits: 2 rows (expected the 1 row that stage a kept)"),
        ({"exclusions": {"rows": 2, "content_digest": ZERO}}, "exclusions: 2 rows (expected the 1 that the stages"),
        ({"exclusions": {"rows": 0, "content_digest": ZERO}}, "exclusions: 0 rows (expected the 1 that the stages"),
        ({"content_digest": ZERO}, f"content_digest: {ZERO} (expected {content_digest({'test': ZERO})}, from those"),
        ({"files": {}}, "files: shards of test: none (expected numbered 0 to n - 1 of n)"),
        (
            {"files": {"data/test-00002-of-00003.parquet": {"sha256": ZERO, "size": 1}}},
            "files: shards of test: data/test-00002-of-00003.parquet (expected numbered",
        ),
    ],
)
def test_counts_that_do_not_add_up_are_found(change: dict[str, Any], message: str) -> None:
    problems = [str(problem) for problem in Manifest.model_validate(facts(**change)).check_counts()]
    assert len(problems) == 1 and problems[0].startswith(f"{NAME}: {message}"), problems


def test_shards_of_a_split() -> None:
    listed = {"sha256": ZERO, "size": 1}
    names = [
        "data/test-00001-of-00002.parquet",
        "data/test-00000-of-00002.parquet",
        "data/testing-00000-of-00001.parquet",
    ]
    manifest = Manifest.model_validate(facts(files=dict.fromkeys([*names, "README.md"], listed)))
    assert manifest.shards("test") == [names[1], names[0]]
    with pytest.raises(ReleaseError, match=r"no split 'dev' \(expected one of test"):
        manifest.shards("dev")


ROWS: list[dict[str, Any]] = [
    {"id": "a", "x": 0.1, "image": {"bytes": b"\x00\xff", "path": "a.png"}, "words": ["é", None]},
    {"id": "b", "x": None, "image": None, "words": []},
]


def digest(rows: list[dict[str, Any]]) -> str:
    content = ContentDigest()
    for row in rows:
        content.update(row)
    return content.hexdigest()


def test_content_digest_by_hand() -> None:
    image = hashlib.sha256(b"\x00\xff").hexdigest()
    lines = (
        f'{{"id":"a","image":{{"bytes":{{"sha256":"{image}"}},"path":"a.png"}},"words":["é",null],"x":0.1}}\n'
        '{"id":"b","image":null,"words":[],"x":null}\n'
    )
    assert digest(ROWS) == hashlib.sha256(lines.encode()).hexdigest()


def test_content_digest_does_not_depend_on_the_encoding(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(ROWS)
    pq.write_table(table, tmp_path / "0.parquet", compression="zstd")
    pq.write_table(table, tmp_path / "1.parquet", compression="none", row_group_size=1)
    assert (tmp_path / "0.parquet").read_bytes() != (tmp_path / "1.parquet").read_bytes()
    for number in range(2):
        assert digest(pq.read_table(tmp_path / f"{number}.parquet").to_pylist()) == digest(ROWS)


@pytest.mark.parametrize(
    "changed",
    [
        ROWS[::-1],
        ROWS[:1],
        [{**ROWS[0], "x": 0.1 + 1e-16 * 2}, ROWS[1]],
        [{**ROWS[0], "image": {"bytes": b"\x00\xfe", "path": "a.png"}}, ROWS[1]],
        [ROWS[0], {**ROWS[1], "words": None}],
        [ROWS[0], {**ROWS[1], "id": "b\n"}],
    ],
)
def test_content_digest_sees_every_change(changed: list[dict[str, Any]]) -> None:
    assert digest(changed) != digest(ROWS)


def test_splits_are_in_release_order_though_the_file_sorts_them_by_name(tmp_path: Path) -> None:
    of_each = dict.fromkeys(("validation", "extra", "test", "train"), facts()["splits"]["test"])
    written = Manifest.model_validate(facts(splits=of_each))
    written.write(tmp_path)
    assert list(json.loads((tmp_path / NAME).read_bytes())["splits"]) == sorted(of_each)
    for manifest in (written, Manifest.read(tmp_path)):
        assert list(manifest.splits) == ["train", "validation", "test", "extra"]


def test_what_has_no_canonical_json_is_refused() -> None:
    with pytest.raises(TypeError, match="a set has no canonical JSON"):
        canonical_json({"words": {"a"}})
