"""Loading a corpus: from a folder, the Hub and its authors, and every way in which it may not be what it says."""

from __future__ import annotations

import errno
import os
import pickle
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi, constants
from huggingface_hub.errors import RepositoryNotFoundError

from loaders import medlaybench_v, pins
from loaders.corpus import Corpus, corpus, is_path, load, load_any
from loaders.errors import BedsideError, HubError, InputError, ReleaseError
from loaders.hub import hub_error
from loaders.manifest import FileFacts, Manifest, SplitFacts, content_digest, file_digest
from loaders.medlaybench_v import CORPUS, from_official
from loaders.registry import corpora
from loaders.schema import Migration
from tests.parts.caption_release import make_release, png, row
from tests.parts.faulty_hub import FaultyHub
from tests.parts.http_client import httpx
from tests.parts.hub_here import at_hub, own_caches, put
from tests.parts.processes import printed
from tests.parts.runs import write

REPO = "org/medlaybench-v"
OFFICIAL = "hanjang/MedLayBench-V"


@pytest.fixture(autouse=True)
def _own_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_caches(tmp_path, monkeypatch)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Any:
    with FaultyHub() as loopback:
        at_hub(loopback, monkeypatch)
        yield loopback


@pytest.fixture
def release(tmp_path: Path) -> Path:
    splits = {"train": [row(n, "train") for n in range(3)], "test": [row(n, "test", f"Lay {n}.") for n in range(2)]}
    return make_release(tmp_path / "release", splits)


# --- Names ------------------------------------------------------------------------------------------------------------


def test_every_corpus_of_the_registry() -> None:
    for name in corpora():
        known = corpus(name)
        assert known.name == name
        assert known.key in known.features
    with pytest.raises(
        InputError, match="no corpus named 'medlaybench' .expected one of 3mdbench, medconceal, medlaybench-v"
    ):
        load("medlaybench")


# --- A folder ---------------------------------------------------------------------------------------------------------


def test_a_release_folder(release: Path) -> None:
    loaded = load("medlaybench-v", source=release)
    assert isinstance(loaded, datasets.DatasetDict)
    assert list(loaded) == ["train", "test"]
    assert {split: len(rows) for split, rows in loaded.items()} == {"train": 3, "test": 2}
    assert loaded["train"].features == CORPUS.features
    test = load("medlaybench-v", "test", source=str(release))
    assert isinstance(test, datasets.Dataset)
    assert test["layman_caption"][:] == ["Lay 0.", "Lay 1."]
    assert test[1]["image"].getpixel((0, 0)) == 1
    assert test[0]["concepts"] == row(0, "test")["concepts"]


def test_the_name_of_a_folder_is_no_pattern(tmp_path: Path) -> None:
    for folder in ("a[1]", "a*", "ab"):
        rows = {"test": [row(n, "test") for n in range(1 + len(folder))]}
        make_release(tmp_path / folder, rows)
        assert load("medlaybench-v", "test", source=tmp_path / folder).num_rows == 1 + len(folder)
        (tmp_path / folder / "own.csv").write_text("text\nA row.\n")
        assert load_any(tmp_path / folder / "own.csv", folder)["train"]["text"][:] == ["A row."]


@pytest.mark.parametrize("kind", ["a run", "the workspace of a build"])
def test_a_run_or_a_workspace_is_no_data(kind: str, tmp_path: Path) -> None:
    """`datasets` would read what lies in it, and complain about columns that nobody made."""
    folder = tmp_path / "all" / "one"
    if kind == "a run":
        write(folder, ["Table 3"])
    else:
        for name in ("batches", "results"):
            (folder / name).mkdir(parents=True)
        (folder / "lock").touch()
        (folder / "results" / "a.json").write_text("{}")
    for place, said in ((folder, f"is {kind}"), (folder.parent, f"holds {kind} .one.")):
        with pytest.raises(ReleaseError, match=f"named: {said} .*a dataset.*Name the release, or"):
            load_any(place, "named")
        with pytest.raises(ReleaseError, match=f"{place.name}: {said} .*a release folder"):
            load("medlaybench-v", source=place)


def test_files_of_several_kinds_are_no_data_set(tmp_path: Path) -> None:
    for name, text in (("a.csv", "text\nA row.\n"), ("b.csv", "other,columns\n1,2\n")):
        (tmp_path / name).write_text(text)
    with pytest.raises(ReleaseError, match="Name one dataset, whose files have the same columns"):
        load_any(tmp_path, "named")


def test_a_release_without_images(tmp_path: Path) -> None:
    folder = make_release(tmp_path / "text", {"test": [{**row(n, "test"), "image": None} for n in range(2)]})
    assert load("medlaybench-v", "test", source=folder)[0]["image"] is None


def test_what_a_folder_cannot_give(release: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no split 'validation' .expected one of train, test.*Name one of these as"):
        load("medlaybench-v", "validation", source=release)
    with pytest.raises(InputError, match=r"revision 'v1\.0\.0' of a folder"):
        load("medlaybench-v", revision="v1.0.0", source=release)
    with pytest.raises(ReleaseError, match="no such folder"):
        load("medlaybench-v", source=tmp_path / "gone")
    (release / "manifest.json").unlink()
    with pytest.raises(ReleaseError, match=r"holds no manifest\.json"):
        load("medlaybench-v", source=release)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"name": None}, "^corpus: a NoneType"),
        ({"name": Path("runs/v1")}, "^corpus: a PosixPath"),
        ({"name": ["medlaybench-v"]}, "^corpus: a list"),
        ({"split": ["train", "test"]}, "^split: a list"),
        ({"revision": 1.0, "source": "org/name"}, "^revision: a float"),
        ({"revision": "", "source": "org/name"}, "^revision: an empty text"),
        ({"source": ""}, "^source: an empty text"),
        ({"source": b"org/name"}, "^source: a bytes"),
        ({"source": "org/name@v1", "revision": "v2"}, "^org/name@v1: a tag, 'v1', beside revision='v2'"),
    ],
)
def test_what_is_no_name_is_told_before_anything_is_read(
    given: dict[str, Any], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("loaders.hub.hf_hub_download", None)
    with pytest.raises(InputError, match=found):
        load(**{"name": "medlaybench-v"} | given)


def test_a_split_may_be_named_as_datasets_names_it(release: Path) -> None:
    assert load("medlaybench-v", datasets.Split.TEST, source=release).num_rows == 2


@pytest.mark.parametrize(
    ("number", "named", "found"),
    [
        (errno.EACCES, "home/.cache", "may not be written"),  # a folder above, which cannot be made
        (errno.EROFS, "home/.cache/datasets/x.lock", "may not be written"),
        (errno.ENOTDIR, "home/.cache/datasets", "cannot be written|not a folder"),  # a file stands in its way
        (errno.ENOENT, "home", "cannot be written .No such file"),  # a folder above, which cannot be made
        (errno.ENOSPC, None, "the disk is full"),
        (errno.EFBIG, None, "File too large"),
        (errno.EACCES, "photos", "cannot be used .Permission denied"),  # no cache
        (errno.EIO, "photos", "cannot be used .Input/output error"),
    ],
)
def test_a_cache_that_cannot_be_written_is_reported_as_such(
    number: int, named: str | None, found: str, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "home" / ".cache" / "datasets"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", cache)

    def fail(*_: object, **__: object) -> None:
        try:
            raise OSError(number, os.strerror(number), *([str(tmp_path / named)] if named else []))
        except OSError as cause:
            raise datasets.exceptions.DatasetGenerationError from cause

    monkeypatch.setattr(datasets, "load_dataset", fail)
    with pytest.raises(BedsideError, match=found) as error:
        load("medlaybench-v", source=release)
    assert ("HF_HOME" in error.value.do) == (named != "photos") and error.value.do
    assert "build wrote" not in str(error.value), "the release is sound"
    assert error.value.where == str(tmp_path / named if named else cache)


@pytest.mark.parametrize("source", ["./small", "../small", "~/small", "/small", "releases/small", "a/b/small", "small"])
def test_a_path_that_leads_nowhere_is_one_line_and_the_hub_is_not_asked(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "releases" / "other").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("loaders.hub.hf_hub_download", None)
    with pytest.raises(ReleaseError, match=rf"^{re.escape(source)}: no such folder") as error:
        load("medlaybench-v", source=source)
    assert ("name its tag" in error.value.do) == (source == "releases/small")


@pytest.mark.parametrize("revision", [None, "v1.0.0"])
def test_a_web_address_is_no_folder_with_or_without_a_revision(revision: str | None) -> None:
    address = "https://huggingface.co/datasets/org/medlaybench-v"
    with pytest.raises(ReleaseError, match="is a web address") as error:
        load("medlaybench-v", source=address, revision=revision)
    assert error.value.do == "Of a repository on the Hub, name only ORG/NAME"


def test_a_missing_table_is_told_that_a_table_would_do_where_one_would() -> None:
    with pytest.raises(ReleaseError) as error:
        load("medlaybench-v", source="nope.csv")
    assert (error.value.found, error.value.expected) == (
        "no such file",
        "a release folder, a table, or REPO[@TAG] on the Hub",
    )
    with pytest.raises(ReleaseError) as error:
        load("medconceal", source="nope.csv")
    assert error.value.expected == "a release folder, or REPO[@TAG] on the Hub"


def test_a_release_of_another_corpus_is_told_both_ways_out(release: Path) -> None:
    with pytest.raises(ReleaseError) as error:
        load("medconceal", source=release)
    assert error.value.do == "Load it as 'medlaybench-v', or name a release of medconceal"


def test_a_repository_is_no_path_once_its_revision_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "org" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert [is_path(name) for name in ("org/name", "org/name@v1", "org/here", "other/name")] == [
        True,
        False,
        True,
        False,
    ]


def test_a_changed_shard_is_named(release: Path) -> None:
    shard = release / "data" / "train-00000-of-00001.parquet"
    data = bytearray(shard.read_bytes())
    digest = file_digest(shard)
    data[100] ^= 1
    shard.write_bytes(data)
    with pytest.raises(ReleaseError) as error:
        load("medlaybench-v", source=release)
    assert error.value.where == f"{release}: data/train-00000-of-00001.parquet"
    assert error.value.found == f"SHA-256 {file_digest(shard)}"
    assert error.value.expected == digest
    # The other split is whole.
    assert len(load("medlaybench-v", "test", source=release)) == 2
    shard.write_bytes(data[:-1])
    with pytest.raises(ReleaseError, match=rf"parquet: {len(data) - 1:,} bytes .expected {len(data):,} bytes"):
        load("medlaybench-v", "train", source=release)
    shard.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
    with pytest.raises(ReleaseError, match="is a pointer of Git LFS"):
        load("medlaybench-v", "train", source=release)
    shard.unlink()
    with pytest.raises(ReleaseError, match=r"data/train-00000-of-00001\.parquet: missing"):
        load("medlaybench-v", "train", source=release)


def test_text_that_is_not_utf_8_is_refused_before_a_row_is_read(release: Path) -> None:
    name = "data/test-00000-of-00001.parquet"
    table = pq.read_table(release / name)
    at = table.schema.get_field_index("expert_caption")
    bad = pa.array([b"\xff"] * table.num_rows, pa.binary()).view(pa.string())
    pq.write_table(table.set_column(at, table.schema.field(at), bad), release / name)
    manifest = Manifest.read(release)
    facts = FileFacts(sha256=file_digest(release / name), size=(release / name).stat().st_size)
    manifest.model_copy(update={"files": {**manifest.files, name: facts}}).write(release)
    with pytest.raises(ReleaseError, match=f"Column {at}: .*Invalid UTF8"):
        load("medlaybench-v", "test", source=release)


def test_counts_that_do_not_agree(tmp_path: Path) -> None:
    content = [row(n, "test") for n in range(2)]
    wrong = SplitFacts(rows=3, num_bytes=1, content_digest="0" * 64)
    splits = {"test": wrong}
    digest = content_digest({"test": wrong.content_digest})
    folder = make_release(tmp_path / "a", {"test": content}, splits=splits, content_digest=digest)
    with pytest.raises(ReleaseError) as error:
        load("medlaybench-v", source=folder)
    assert (error.value.where, error.value.found) == (f"{folder}: split test", "has 2 rows")
    assert error.value.expected == "3 rows"
    folder = make_release(tmp_path / "b", {"test": content}, content_digest="0" * 64)
    with pytest.raises(ReleaseError, match="content_digest"):
        load("medlaybench-v", source=folder)


def test_releases_of_something_else(tmp_path: Path) -> None:
    content = {"test": [row(0, "test")]}
    other = make_release(tmp_path / "a", content, corpus="medconceal")
    with pytest.raises(ReleaseError, match=r"is a release of 'medconceal' .expected medlaybench-v"):
        load("medlaybench-v", source=other)
    changed = datasets.Features(
        {**CORPUS.features, "draft": datasets.Value("int32"), "score": datasets.Value("float32")}
    )
    del changed["refiner"]
    rows = [{**{k: v for k, v in row(0, "test").items() if k != "refiner"}, "draft": 1, "score": 0.5}]
    newer = make_release(tmp_path / "b", {"test": rows}, features=changed)
    with pytest.raises(ReleaseError, match="its schema lacks refiner; adds score; types otherwise draft"):
        load("medlaybench-v", source=newer)
    retyped = datasets.Features({**CORPUS.features, "draft": datasets.Value("int32")})
    rows = [{**row(0, "test"), "draft": 1}]
    with pytest.raises(ReleaseError, match="its schema types otherwise draft"):
        load("medlaybench-v", source=make_release(tmp_path / "e", {"test": rows}, features=retyped))
    turned = datasets.Features(dict(reversed(CORPUS.features.items())))
    with pytest.raises(ReleaseError, match="its schema has its columns in another order"):
        load("medlaybench-v", source=make_release(tmp_path / "d", content, features=turned))
    unreadable = make_release(tmp_path / "c", content, stated=[{"name": "image", "dtype": {"no": "type"}}])
    with pytest.raises(ReleaseError, match=r"manifest\.json: features that cannot be read"):
        load("medlaybench-v", source=unreadable)


# --- A schema that grows ----------------------------------------------------------------------------------------------


def grown(*migrations: Migration, dropped: tuple[str, ...] = ()) -> Corpus:
    """The corpus as a later version of Bedside has it: a new column, in the middle, and what `migrations` change."""
    columns = [(name, feature) for name, feature in CORPUS.features.items() if name not in dropped]
    columns.insert(3, ("findings", datasets.List({"text": datasets.Value("string"), "at": datasets.Value("int32")})))
    return replace(medlaybench_v.CORPUS, features=datasets.Features(dict(columns)), migrations=migrations)


def accept_more(row: Mapping[str, Any]) -> dict[str, Any]:
    """Version 2: who refined is told with the status."""
    return {**row, "status": f"{row['status']} by {row['refiner']}"}


def find_something(row: Mapping[str, Any]) -> dict[str, Any]:
    """Version 3: a finding a row."""
    return {**row, "findings": [{"text": row["status"], "at": 0}]}


def test_a_column_that_was_added_is_null_in_an_earlier_release(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = load("medlaybench-v", source=release)
    monkeypatch.setattr(medlaybench_v, "CORPUS", grown())
    after = load("medlaybench-v", source=release)
    assert list(after) == ["train", "test"]
    for split in after:
        assert after[split].features == grown().features and list(after[split].features) == list(grown().features)
        assert after[split]["findings"][:] == [None] * len(before[split])
        assert after[split].remove_columns("findings").to_list() == before[split].to_list()
    assert load("medlaybench-v", "test", source=release)["image_id"][:] == before["test"]["image_id"][:]


def test_a_changed_meaning_goes_through_its_migrations(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = grown(accept_more, find_something, dropped=("refiner",))
    monkeypatch.setattr(medlaybench_v, "CORPUS", known)
    test = load("medlaybench-v", "test", source=release)
    assert test.features == known.features and "refiner" not in test.column_names
    assert test["status"][:] == ["accepted by rules"] * 2
    assert test["findings"][0] == [{"text": "accepted by rules", "at": 0}]
    assert test["image"][1].getpixel((0, 0)) == 1
    # A release of version 2 goes through the second alone, one of version 3 through none.
    second = {**accept_more(row(0, "test")), "findings": None}
    del second["refiner"]
    for version, expected in ((2, [{"text": "accepted by rules", "at": 0}]), (3, None)):
        made = make_release(
            tmp_path / f"v{version}", {"test": [second]}, features=known.features, schema_version=version
        )
        test = load("medlaybench-v", "test", source=made)
        assert test["status"][:] == ["accepted by rules"] and test["findings"][0] == expected


@pytest.mark.parametrize("name", corpora())
def test_workers_get_what_is_known_about_a_corpus(name: str) -> None:
    known = corpus(name)
    there = pickle.loads(pickle.dumps(known))
    assert there == known and there.columns == known.columns and there.features == known.features


def test_a_process_that_gets_the_rows_by_pickle_reads_them(tmp_path: Path) -> None:
    """As workers of torch do that are spawned."""
    made = make_release(tmp_path / "made", {"test": [row(number, "test") for number in range(4)]})
    rows = load("medlaybench-v", "test", source=made)
    (tmp_path / "rows").write_bytes(pickle.dumps(rows))
    code = "import pathlib, pickle, sys; print(pickle.loads(pathlib.Path(sys.argv[1]).read_bytes())['image_id'][:])"
    assert printed("-c", code, tmp_path / "rows") == f"{rows['image_id'][:]}\n"


@pytest.mark.long
def test_worker_processes_of_torch_read_the_rows(tmp_path: Path) -> None:
    """Spawned ones, as on macOS and Windows: they get everything by pickle."""
    data = pytest.importorskip("torch.utils.data", reason="needs torch")
    made = make_release(tmp_path / "made", {"test": [row(number, "test") for number in range(4)]})
    rows = load("medlaybench-v", "test", source=made)
    batches = data.DataLoader(rows, batch_size=2, num_workers=2, multiprocessing_context="spawn", collate_fn=list)
    assert [one["image_id"] for batch in batches for one in batch] == rows["image_id"][:]


def test_a_newer_schema_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = make_release(tmp_path / "newer", {"test": [row(0, "test")]}, schema_version=3)
    monkeypatch.setattr(medlaybench_v, "CORPUS", grown(accept_more))
    with pytest.raises(ReleaseError) as error:
        load("medlaybench-v", source=newer)
    told = "version 3 of the schema of medlaybench-v (expected at most version 2, which this Bedside knows)"
    assert str(error.value) == f"{newer}: {told}. Install a newer version of Bedside"


def test_a_column_that_goes_needs_a_migration(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medlaybench_v, "CORPUS", grown(dropped=("refiner",)))
    with pytest.raises(ReleaseError, match="its schema lacks findings; adds refiner .* Install the version of Bedside"):
        load("medlaybench-v", source=release)


def test_a_rebuilt_folder_is_not_mistaken_for_the_old_one(release: Path, tmp_path: Path) -> None:
    shard = "data/test-00000-of-00001.parquet"
    first = load("medlaybench-v", "test", source=release)
    stamp = (release / shard).stat().st_mtime_ns
    rebuilt = make_release(tmp_path / "new", {"test": [row(n, "test", f"New {n}.") for n in range(2)]})
    shutil.rmtree(release)
    shutil.copytree(rebuilt, release)
    # Even with the time stamp that a copy may keep.
    os.utime(release / shard, ns=(stamp, stamp))
    second = load("medlaybench-v", "test", source=release)
    assert (first["layman_caption"][0], second["layman_caption"][0]) == ("Lay 0.", "New 0.")


# --- The Hub ----------------------------------------------------------------------------------------------------------


def test_a_tag_is_that_commit_online_and_offline(
    hub: FaultyHub, release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(hub, REPO, release)
    HfApi(endpoint=hub.url, token=hub.token).create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    newer = make_release(tmp_path / "newer", {"test": [row(0, "test", "Newer.")]})
    commit = put(hub, REPO, newer)
    assert load("medlaybench-v", "test", source=REPO)["layman_caption"][:] == ["Newer."]
    assert load("medlaybench-v", "test", source=REPO, revision="v1.0.0")["layman_caption"][:] == ["Lay 0.", "Lay 1."]
    assert load("medlaybench-v", "test", source=REPO, revision=commit)["layman_caption"][:] == ["Newer."]
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert load("medlaybench-v", "test", source=REPO)["layman_caption"][:] == ["Newer."]
    assert load("medlaybench-v", "test", source=REPO, revision="v1.0.0")["layman_caption"][:] == ["Lay 0.", "Lay 1."]
    # Never asked for while connected: not to be replaced by main.
    with pytest.raises(HubError, match="the cache holds no complete copy") as error:
        load("medlaybench-v", "test", source=REPO, revision="v2.0.0")
    assert error.value.where == f"{REPO}@v2.0.0"
    # Of the tagged commit only the test split was fetched.
    with pytest.raises(HubError, match="the cache holds no complete copy"):
        load("medlaybench-v", "train", source=REPO, revision="v1.0.0")


def test_only_the_split_that_was_asked_for_is_fetched(hub: FaultyHub, release: Path) -> None:
    put(hub, REPO, release)
    load("medlaybench-v", "test", source=REPO)
    fetched = {request.path for request in hub.requests if "parquet" in request.path}
    assert fetched
    assert not [path for path in fetched if "train" in path]


def test_a_damaged_download_is_found(hub: FaultyHub, release: Path) -> None:
    put(hub, REPO, release)
    hub.damage_download("/resolve/.*parquet")
    with pytest.raises(ReleaseError, match=r"data/test-00000-of-00001\.parquet: SHA-256 \w+ ") as error:
        load("medlaybench-v", "test", source=REPO)
    assert error.value.do.startswith("Delete the file and load again: ")
    Path(error.value.do.partition(": ")[2]).unlink()
    assert len(load("medlaybench-v", "test", source=REPO)) == 2


def test_repositories_that_do_not_have_it(hub: FaultyHub, release: Path) -> None:
    with pytest.raises(HubError, match="no such folder is here, and the repository does not exist"):
        load("medlaybench-v", source="org/nothing")
    with pytest.raises(HubError, match="nosuch/@main: no such folder is here, and this can be no repository's name"):
        load("medlaybench-v", source="nosuch/")
    put(hub, REPO, release)
    with pytest.raises(HubError, match=r"has no such revision \(expected a tag, branch or commit of it\)"):
        load("medlaybench-v", source=REPO, revision="v9.9.9")
    for number in range(7):
        HfApi(endpoint=hub.url, token=hub.token).create_tag(REPO, tag=f"v1.{number}.0", repo_type="dataset")
    with pytest.raises(HubError, match="has no such revision") as error:
        load("medlaybench-v", source=REPO, revision="v9.9.9")
    assert error.value.expected.endswith("; its tags: v1.6.0, v1.5.0, v1.4.0, v1.3.0, v1.2.0 and 2 more")
    assert error.value.where == f"{REPO}@v9.9.9"
    with pytest.raises(HubError, match="has no such revision") as error:  # named as every command takes it
        load("medlaybench-v", source=f"{REPO}@v9.9.9")
    assert error.value.where == f"{REPO}@v9.9.9"
    assert len(load("medlaybench-v", "test", source=f"{REPO}@main")) == 2
    hub.commit(REPO, {"manifest.json": None})
    with pytest.raises(ReleaseError, match=r"holds no manifest\.json"):
        load("medlaybench-v", source=REPO)
    with pytest.raises(HubError, match="expected a repository name"):
        load("medlaybench-v", source="org/--bad..name")


def test_a_hub_that_refuses(hub: FaultyHub, release: Path) -> None:
    put(hub, REPO, release)
    hub.refuse("HEAD", "/resolve/", 403, times=9)
    with pytest.raises(HubError) as error:
        load("medlaybench-v", source=REPO)
    assert error.value.where == f"{REPO}@main"
    assert error.value.do


# --- The authors' release ---------------------------------------------------------------------------------------------


_RAW = datasets.Features(
    {
        "image": datasets.Image(),
        "cuis": datasets.Value("string"),
        "expert_caption": datasets.Value("string"),
        "layman_caption": datasets.Value("string"),
    }
)


@pytest.fixture
def official(hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyHub:
    """A release of the shape of hanjang/MedLayBench-V: stringified CUIs, 'nan', no identifier."""
    cuis = ("['C0040405']", "['nan']", "['C0817096', 'C1306645']")
    rows = [
        {"image": png(n), "cuis": one, "expert_caption": f"Expert {n}.", "layman_caption": f"Lay {n}."}
        for n, one in enumerate(cuis)
    ]
    (tmp_path / "official" / "data").mkdir(parents=True)
    for split, content in (("train", rows), ("validation", rows[:1]), ("test", rows[:2])):
        made = datasets.Dataset.from_list(content, features=_RAW)
        made.to_parquet(tmp_path / "official" / "data" / f"{split}-00000-of-00001.parquet")
    put(hub, OFFICIAL, tmp_path / "official")
    monkeypatch.setitem(medlaybench_v.CORPUS.official_rows, "train", 3)
    monkeypatch.setitem(medlaybench_v.CORPUS.official_rows, "validation", 1)
    monkeypatch.setitem(medlaybench_v.CORPUS.official_rows, "test", 2)
    return hub


def test_the_official_release_in_our_schema(official: FaultyHub) -> None:
    loaded = load("medlaybench-v", source="official")
    assert list(loaded) == ["train", "validation", "test"]
    train = loaded["train"]
    assert train.features == CORPUS.features
    assert train["image_id"][:] == [f"ROCOv2_2023_train_{n:06d}" for n in (1, 2, 3)]
    assert loaded["validation"]["image_id"][:] == ["ROCOv2_2023_valid_000001"]
    assert train["cuis"][:] == [["C0040405"], [], ["C0817096", "C1306645"]]
    assert train["modality"][:] == ["DRCT", "DRCO", "DRXR"]
    assert [picture.getpixel((0, 0)) for picture in train["image"]] == [0, 1, 2]
    assert train[0]["concepts"] == [] and train[0]["draft"] is None
    # It is what `load` gives while no release of ours is known, and has its own name too.
    assert load("medlaybench-v", "test").to_dict() == load("medlaybench-v", "test", source=OFFICIAL).to_dict()


def test_official_rows_are_read_by_the_code_of_today(official: FaultyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    # What an earlier version made of them lies in the cache of `datasets`.
    assert load("medlaybench-v", "test", source="official")["attribution"][0] != "read anew"

    def another(row: Mapping[str, Any], split: str, position: int) -> dict[str, Any]:
        return {**from_official(row, split=split, position=position), "attribution": "read anew"}

    monkeypatch.setitem(vars(medlaybench_v.CORPUS), "from_official", another)
    assert load("medlaybench-v", "test", source="official")["attribution"][0] == "read anew"


def test_an_official_split_of_another_size(official: FaultyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(medlaybench_v.CORPUS.official_rows, "test", 9_927)
    with pytest.raises(ReleaseError, match=r"split test: has 2 rows .expected 9,927 rows"):
        load("medlaybench-v", "test", source="official")
    assert len(load("medlaybench-v", "train", source="official")) == 3


def test_an_official_release_of_another_shape(official: FaultyHub, tmp_path: Path) -> None:
    other = datasets.Dataset.from_list([{"caption": "x", "cuis": "y"}])
    other.to_parquet(tmp_path / "other.parquet")
    content = (tmp_path / "other.parquet").read_bytes()
    official.commit(OFFICIAL, {"data/test-00000-of-00001.parquet": content})
    with pytest.raises(ReleaseError):
        load("medlaybench-v", "test", source="official")
    splits = ("train", "validation", "test")
    official.commit(OFFICIAL, {f"data/{split}-00000-of-00001.parquet": content for split in splits})
    told = "split test: lacks image, expert_caption, layman_caption; its columns are caption, cuis"
    with pytest.raises(ReleaseError, match=told):
        load("medlaybench-v", "test", source="official")


def test_the_first_load_of_the_official_release_pins_its_commit(official: FaultyHub, tmp_path: Path) -> None:
    first = load("medlaybench-v", "validation", source="official")
    rows = [{"image": png(9), "cuis": "['nan']", "expert_caption": "Another.", "layman_caption": "Another."}]
    shard = "data/validation-00000-of-00001.parquet"
    datasets.Dataset.from_list(rows, features=_RAW).to_parquet(tmp_path / "other.parquet")
    official.commit(OFFICIAL, {shard: (tmp_path / "other.parquet").read_bytes()})
    assert load("medlaybench-v", "validation", source="official").to_dict() == first.to_dict()
    named = load("medlaybench-v", "validation", source="official", revision="main")
    assert named["expert_caption"][:] == ["Another."]
    # A commit that was named is no pin, and one that is gone can be let go of.
    assert load("medlaybench-v", "validation", source="official").to_dict() == first.to_dict()
    address = f"{official.url}/datasets/{OFFICIAL}"
    path = Path(constants.HF_HUB_CACHE) / pins.NAME
    path.write_text(path.read_text(encoding="utf-8").replace(pins.pinned_commit(address) or "", "a" * 40), "utf-8")
    with pytest.raises(HubError, match="has no such revision.*delete that file"):
        load("medlaybench-v", "validation", source="official")


def test_the_official_release_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultyHub() as closed:
        monkeypatch.setattr(constants, "ENDPOINT", closed.url)
    for offline in (False, True):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        with pytest.raises(HubError, match="Connect to the internet") as error:
            load("medlaybench-v", "test")
        assert error.value.where == f"{OFFICIAL}@main"


def test_a_refused_official_release_is_no_name_that_the_user_could_check(hub: FaultyHub) -> None:
    with pytest.raises(HubError, match="does not exist, or this account may not read it") as error:
        load("medlaybench-v", "test", source="official")
    assert "Check the name" not in error.value.do and "hf auth login" in error.value.do


def test_a_name_that_nothing_has_may_have_been_meant_as_a_folder() -> None:
    answer = httpx.Response(404, request=httpx.Request("GET", "http://hub"))
    told = hub_error(RepositoryNotFoundError("no", response=answer), "runs/nope@main")
    assert told.expected == "a dataset repository, or an existing folder"


def test_a_broken_cache_is_no_fault_of_the_release_alone(release: Path) -> None:
    load("medlaybench-v", "test", source=release)
    (stored,) = Path(datasets.config.HF_DATASETS_CACHE).rglob("*-test.arrow")
    os.truncate(stored, stored.stat().st_size // 2)
    with pytest.raises(ReleaseError, match="if it is whole, empty the cache of `datasets`"):
        load("medlaybench-v", "test", source=release)


def test_a_source_in_the_place_of_the_split_asks_no_hub() -> None:
    with pytest.raises(InputError, match="^split: 'runs/v1' .*a folder or repository is the `source`"):
        load("medconceal", "runs/v1")


def test_a_home_folder_that_no_shell_wrote_out() -> None:
    with pytest.raises(ReleaseError, match="no such folder.*only a shell knows what ~ is"):
        load("3mdbench", source="~/release")


def test_a_token_that_no_header_can_hold_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(*_: object, **__: object) -> str:
        "Bearer hf_wr\u00f6ng".encode("ascii")
        raise AssertionError("not reached")

    monkeypatch.setattr("loaders.hub.hf_hub_download", asked)
    with pytest.raises(HubError, match="the token holds characters that HTTP does not allow"):
        load("medlaybench-v", source="org/medlaybench-v")
