"""3MDBench from sources to a release that plain `datasets` loads: options, models, bad input, kills."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pytest
from PIL import Image

from builders import recipe as recipes
from builders.pseudonyms import KEY_FILE
from builders.release.cards import render_card
from builders.release.shards import read_parquet, read_rows
from builders.release.verify import verify
from builders.threemdbench import recipe
from builders.threemdbench.complaints import AUTHORED
from builders.threemdbench.own import OWN_PHOTOS
from builders.threemdbench.remarks import apart
from builders.threemdbench.request import Limits
from builders.threemdbench.sources import PUBLISHED, origin_of
from builders.threemdbench.validators import check_facts
from loaders.corpus import load
from loaders.engines.local import Local
from loaders.errors import InputError, MissingExtra, ModelError, ReleaseError
from loaders.files.image_formats import readable
from loaders.manifest import Manifest
from loaders.threemdbench import CORPUS, DIAGNOSES, NAMES, PERSONALITIES
from scripts.cli import execute
from tests.parts.chat_server import ChatServer
from tests.parts.croissant import read_by_mlcroissant
from tests.parts.photo_server import PhotoServer, floods, hangs, redirects, sends
from tests.parts.pictures import jpeg, photo
from tests.parts.processes import kill
from tests.parts.small_release import files_of, write_small

pytestmark = pytest.mark.usefixtures("found_once")

Cell = str


def photo_table(folder: Path, rows: list[dict[str, Cell]], files: dict[str, bytes] | None = None) -> Path:
    """A table of photos beside its files; a row without more says `file`, `label` and CC0."""
    for name, data in (files or {}).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    columns = ["file", "url", "label", "group_id", "licence", "md5"]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "photos.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows({"licence": "CC0", **row} for row in rows)
    return path


def drawn(folder: Path, *diagnoses: str, each: int = 3) -> Path:
    """A table with some photos of each diagnosis."""
    files = {f"{name} {n}.jpg".replace(" ", "_"): photo(name, n) for name in diagnoses for n in range(each)}
    rows = [{"file": file, "label": file.rpartition("_")[0]} for file in files]
    return photo_table(folder, rows, files)


def build(
    folder: Path, *sources: str, out: str = "release", work: str = "", workers: int = 1, **options: Any
) -> Manifest:
    """Builds into a workspace of its own, or one in which what is the same is found."""
    told = options.pop("told", [])
    chosen = recipe.Options(sources=sources, **options)
    with Local(workers) as engine:
        place = folder / f"{work or out}.work"
        return recipes.build(recipe.RECIPE, chosen, folder / out, workspace=place, engine=engine, tell=told.append)


def secret(folder: Path) -> Path:
    """A key for the pseudonyms of one's own photos, for builds in several workspaces."""
    path = folder / KEY_FILE
    path.write_bytes(bytes(range(32)))
    return path


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return list(read_rows(folder, Manifest.read(folder)))


def owned(folder: Path, work: str = "") -> list[dict[str, Any]]:
    """The rows of a release, each with the `file` that its owner knows it by."""
    listed = folder.with_name(f"{work or folder.name}.work") / OWN_PHOTOS
    own = map(json.loads, listed.read_text(encoding="utf-8").splitlines()) if listed.exists() else ()
    files = {photo["key"]: photo["file"] for photo in own}
    return [row | {"file": files.get(row["image_id"])} for row in rows_of(folder)]


def reasons(folder: Path) -> Counter[str]:
    return Counter(f"{row['stage']}: {row['reason']}" for row in read_parquet(folder, "exclusions.parquet"))


def test_left_out_photos_are_listed_by_file_for_their_owner_only(tmp_path: Path) -> None:
    labels = ["acne", "acne", "finger nails", "finger nails", "other"]
    rows = [{"file": f"{number}.png", "label": label} for number, label in enumerate(labels)]
    files = {f"{number}.png": b"" if number == 1 else photo("acne", number) for number in range(5)}
    table = photo_table(tmp_path / "photos", rows, files)
    told: list[str] = []
    options = recipe.Options(sources=(f"table:mine={table}",), licences=("mine=CC0-1.0",))
    work = tmp_path / "release.work"
    recipes.build(recipe.RECIPE, options, tmp_path / "release", workspace=work, tell=told.append)
    assert "missing from every label table: finger nails 2, other 1. Map each to a diagnosis with --labels" in told[0]
    assert "a table of all labels of that source" in told[0] and "left-out.jsonl" in told[0]
    left = [json.loads(line) for line in (work / "left-out.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(one["file"], one["reason"]) for one in left} >= {("1.png", "image empty"), ("4.png", "unknown label")}
    assert not any(b"4.png" in data for data in files_of(tmp_path / "release").values())
    assert (work / "left-out.jsonl").stat().st_mode & 0o077 == 0


PATIENTS = ("Jane Doe", "Ann Roe", "Max Moe", "Tim Poe")


@pytest.fixture
def patients(tmp_path: Path) -> Path:
    """A table whose files, groups and folders are named after patients."""
    files = {f"{name}/{name} {n}.jpg": photo(NAMES[at], n) for at, name in enumerate(PATIENTS) for n in range(2)}
    rows = [{"file": file, "label": "acne", "group_id": file.partition("/")[0]} for file in files]
    rows[-1]["label"] = "Mary Major"
    return photo_table(tmp_path / "photos", rows, files)


def test_no_name_of_ones_own_files_folders_and_groups_is_released(tmp_path: Path, patients: Path) -> None:
    build(tmp_path, f"table:mine={patients}", out="table")
    (patients.parent / "Jane Doe").rename(patients.parent / "acne")
    build(tmp_path, f"folder:mine={patients.parent}", licences=("mine=CC0",), out="folder")
    for out in ("table", "folder"):
        rows = list(read_rows(tmp_path / out, Manifest.read(tmp_path / out)))
        assert rows and {row["source_file"] for row in rows} == {None}
        left_out = list(read_parquet(tmp_path / out, "exclusions.parquet"))
        released = "".join(
            [repr(rows), repr(left_out), *map(repr, files_of(tmp_path / out).values())],
        )
        assert left_out and not [word for word in ("Doe", "Roe", "Moe", "Poe", "Major") if word in released]
        of_owner = (tmp_path / f"{out}.work" / OWN_PHOTOS).read_text(encoding="utf-8")
        assert "Jane Doe 0.jpg" in of_owner and all(row["image_id"] in of_owner for row in rows)
    groups = {row["group_id"] for row in read_rows(tmp_path / "table", Manifest.read(tmp_path / "table"))}
    assert len(groups) == 4 and all(re.fullmatch("mine:[0-9a-f]{16}", group) for group in groups)
    assert (tmp_path / "table.work" / OWN_PHOTOS).stat().st_mode & 0o077 == 0
    left = (tmp_path / "table.work" / "left-out.jsonl").read_text(encoding="utf-8")
    assert "Mary Major" in left  # for the owner, to map


def test_no_cell_or_reason_tells_where_ones_own_photos_lie(tmp_path: Path) -> None:
    files = {f"{n}.jpg": photo("acne", n) for n in range(6)}
    rows: list[dict[str, Cell]] = [{"file": name, "label": "acne"} for name in files]
    addresses = ("file:///home/Doe/1.jpg", "https://jroe:Roe@example.org/2.jpg", "C:\\Doe\\3.jpg", "http://[Doe/4.jpg")
    for row, address in zip(rows, addresses, strict=False):
        row["url"] = address
    rows += [{"url": f"{address}.png", "label": "acne"} for address in addresses]
    rows += [rows[-1], {"file": "5.jpg", "label": "acne"}, {"file": "no.jpg", "label": "acne", "md5": "Doe"}]
    rows += [{"file": "no.jpg", "label": label, "licence": "as Ann Roe signed"} for label in ("acne", "Doe")]
    made = photo_table(tmp_path / "photos", rows, files)
    table = made.rename(made.with_name("patients of Dr Doe.csv"))
    with table.open("a", encoding="utf-8") as file:
        file.write("a.jpg,,acne,,CC0,,more\n")
    build(tmp_path, f"table:mine={table}", max_bad=20.0)
    (rest := tmp_path / "folder" / "acne").mkdir(parents=True)
    for spelled in ("Doé.jpg", "Doe\u0301.jpg"):  # which are one name
        (rest / spelled).write_bytes(photo("acne", 7))
    (rest / "fine.jpg").write_bytes(photo("acne", 8))
    build(tmp_path, f"folder:mine={tmp_path / 'folder'}", licences=("mine=CC0",), out="folder.out")
    for out in ("release", "folder.out"):
        left_out = list(read_parquet(tmp_path / out, "exclusions.parquet"))
        told = "".join([repr(rows_of(tmp_path / out)), repr(left_out), *map(repr, files_of(tmp_path / out).values())])
        assert left_out and not [word for word in ("Doe", "Roe", "Doé", "Doe\u0301") if word in told]
    of_owner = (tmp_path / "release.work" / "left-out.jsonl").read_text(encoding="utf-8")
    assert '"detail": "file:///home/Doe/1.jpg.png"' in of_owner and '"key": "mine:17"' in of_owner
    kept = rows_of(tmp_path / "release")
    assert {row["licence_asserted_by"] for row in kept} == {"column licence of the source mine"}


def test_pseudonyms_of_groups_need_the_key(tmp_path: Path, patients: Path) -> None:
    def groups(out: str, **options: Any) -> set[str]:
        build(tmp_path, f"table:mine={patients}", out=out, **options)
        return {row["group_id"] for row in rows_of(tmp_path / out)}

    first, key = groups("v1"), tmp_path / "v1.work" / KEY_FILE
    assert groups("other").isdisjoint(first) and groups("same", key=key) == first
    assert groups("v2", key=key, follows=(str(tmp_path / "v1"),)) == first
    with pytest.raises(InputError, match=r"--key: another key than that of --follows .*pseudonyms\.key"):
        groups("v3", key=secret(tmp_path), follows=(str(tmp_path / "v1"),))
    with pytest.raises(InputError, match="--key: no source of your own"):
        build(tmp_path, "sample", out="drawn", key=key)


def told_by(folder: Path) -> str:
    """Everything that a release says."""
    left_out = list(read_parquet(folder, "exclusions.parquet"))
    return "".join([repr(rows_of(folder)), repr(left_out), *map(repr, files_of(folder).values())])


def test_who_guesses_a_name_cannot_test_it(tmp_path: Path, patients: Path) -> None:
    """No digest of a name is released, also not of one that was left out, nor one of little else than names."""
    decided = tmp_path / "d.csv"
    decided.write_text("image_id,decision\nclass of mine: jane doe,accept\n", encoding="utf-8")
    labels = tmp_path / "labels.csv"
    noted = "".join(f"{name},acne,mixed,seen by Dr Roe\n" for name in PATIENTS)
    labels.write_text("label,diagnosis,match,note\nacne,acne,exact,\n" + noted, encoding="utf-8")
    own: dict[str, Any] = {"labels": (f"mine={labels}",), "mixed_labels": True, "decisions": (decided,)}
    sources = {"table": f"table:mine={patients}", "folder": f"folder:mine={patients.parent}"}
    for out, source in sources.items():
        build(tmp_path, source, out=out, licences=("mine=CC0",), **own)
        told, folder = told_by(tmp_path / out), patients.parent
        files = [path for path in folder.rglob("*") if path.is_file()]
        names = {text for path in files for text in (path.name, path.stem, str(path), str(path.relative_to(folder)))}
        names |= {*PATIENTS, *map(str.casefold, PATIENTS), "Mary Major", patients.name, str(folder)}
        names |= {f"mine{mark}{name}" for name in names for mark in (":", "-", "/", " ", ": ")}
        digests = [
            made(name.encode()).hexdigest() for name in names for made in (hashlib.sha256, hashlib.sha1, hashlib.md5)
        ]
        assert not [digest for digest in digests if digest[:12] in told]
        assert "Dr Roe" not in told and "Doe" not in told
        build(tmp_path, source, out=f"{out}2", licences=("mine=CC0",), **own)
        one, two = (Manifest.read(tmp_path / name) for name in (out, f"{out}2"))
        # By another key nothing is the same that could be a digest of names.
        ids = [{row["image_id"] for row in rows_of(tmp_path / name)} for name in (out, f"{out}2")]
        assert ids[0] and ids[0].isdisjoint(ids[1])
        assert one.sources[0].digest != two.sources[0].digest
        assert one.settings["decisions"]["sha256"] != two.settings["decisions"]["sha256"]  # type: ignore[index,call-overload]
        assert one.settings["pseudonyms"] != two.settings["pseudonyms"]


def test_the_order_of_ones_own_photos_is_not_that_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "photos" / "acne").mkdir(parents=True)
    for n in range(12):
        (tmp_path / "photos" / "acne" / f"{n:02}.jpg").write_bytes(photo("acne", n))
    build(tmp_path, f"folder:mine={tmp_path / 'photos'}", licences=("mine=CC0",), key=secret(tmp_path))
    rows = [row for row in owned(tmp_path / "release") if row["split"] == "test"]
    assert [row["image_id"] for row in rows] == sorted(row["image_id"] for row in rows)
    assert [row["file"] for row in rows] != sorted(row["file"] for row in rows)


def test_a_lost_key_is_said_to_be_lost(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne")
    build(tmp_path, f"table={table}", out="v1")
    lost = r"--key: none, and .*v2\.work holds no pseudonyms\.key .*fingerprint [0-9a-f]{16}.*If it is lost, nobody"
    for _ in range(2):  # no new key is made, which would be taken for the other one
        with pytest.raises(InputError, match=lost):
            build(tmp_path, f"table={table}", out="v2", follows=(str(tmp_path / "v1"),))
    build(tmp_path, f"table={table}", out="v2")
    with pytest.raises(InputError, match=r"another key than that of --follows .*build without --follows"):
        build(tmp_path, f"table={table}", out="v2", follows=(str(tmp_path / "v1"),))


@pytest.mark.parametrize("option", ["withdrawn", "decisions"])
def test_lists_of_ones_own_photos_need_the_key_of_their_ids(tmp_path: Path, option: str) -> None:
    table = drawn(tmp_path / "photos", "acne")
    build(tmp_path, f"table={table}", out="v1")
    gone = rows_of(tmp_path / "v1")[0]["image_id"]
    path = tmp_path / "list"
    path.write_text(f"{gone}\n" if option == "withdrawn" else f"image_id,decision\n{gone},reject\n", encoding="utf-8")
    given: dict[str, Any] = {option: path if option == "withdrawn" else (path,)}
    for _ in range(2):
        with pytest.raises(InputError, match=f"--key: none, and .* but --{option} names photos .* such as {gone}"):
            build(tmp_path, f"table={table}", out="v2", **given)
    build(tmp_path, f"table={table}", out="v2", key=tmp_path / "v1.work" / KEY_FILE, **given)
    assert len(rows_of(tmp_path / "v2")) == 2 and gone not in {row["image_id"] for row in rows_of(tmp_path / "v2")}


def test_labels_of_ones_own_are_not_released(tmp_path: Path) -> None:
    files = {f"{n}.jpg": photo("acne", n) for n in range(4)}
    rows = [{"file": name, "label": "Doe" if name == "0.jpg" else "Roe"} for name in files]
    table = photo_table(tmp_path / "photos", rows, files)
    labels = tmp_path / "labels.csv"
    labels.write_text("label,diagnosis,match,note\nDoe,acne,mixed,as Moe said\nRoe,acne,exact,\n", encoding="utf-8")
    decided = tmp_path / "d.csv"
    decided.write_text("image_id,decision\nclass of table: doe,reject\n", encoding="utf-8")
    own: dict[str, Any] = {"labels": (f"table={labels}",), "mixed_labels": True, "decisions": (decided,)}
    build(tmp_path, f"table={table}", "sample", limit=20, **own)
    released = rows_of(tmp_path / "release")
    assert {row["source_label"] for row in released if row["source"] == "table"} == {None}
    assert {row["source_label"] for row in released if row["source"] == "sample"} > {"eczema"}
    (left,) = [
        row for row in read_parquet(tmp_path / "release", "exclusions.parquet") if row["reason"] == "review: other"
    ]
    assert left["detail"] == "its class in the source is mixed: other conditions are in the same class"
    assert not [word for word in ("Doe", "Roe", "Moe") if word in told_by(tmp_path / "release")]
    card = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    assert "the maintainers' own, which nobody else has reviewed, map the labels of `table`" in card
    assert "synonyms of the diagnoses map the labels of `sample`" in card and "Tables that ship" not in card
    assert "Classes that also cover other conditions are included" in card and "mix conditions" not in card


def test_groups_whose_names_differ_only_in_capitals_are_said_to_be_two(tmp_path: Path) -> None:
    groups = {"1.png": "P2", "2.png": "p2", "3.png": "p 2", "4.png": "P3", "5.png": "", "6.png": "P3"}
    rows = [{"file": name, "label": "acne", "group_id": group} for name, group in groups.items()]
    table = photo_table(tmp_path / "t", rows, {name: photo("acne", at) for at, name in enumerate(groups)})
    options = recipe.Options(sources=(f"table:mine={table}",), licences=("mine=CC0-1.0",))
    told: list[str] = []
    recipes.build(recipe.RECIPE, options, tmp_path / "out", workspace=tmp_path / "work", tell=told.append)
    (line,) = [line for line in "\n".join(told).splitlines() if line.startswith("Groups that differ")]
    assert re.search(r"mine:P2 \(\S+:2\) and mine:p2 \(\S+:3\)\. If each", line)


def test_folders_within_that_of_a_label_are_said_to_be_no_groups(tmp_path: Path) -> None:
    names = ("Acne/patient 1/a.jpg", "Acne/patient 2/b.jpg", "Acne/c.jpg", "train/acne/d.jpg", "other/e/f.jpg")
    for number, name in enumerate(names):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(photo("acne", number))
    table = photo_table(tmp_path / "table", [{"file": "x/1.png", "label": "acne"}], {"x/1.png": photo("acne", 7)})

    def told(*sources: str) -> str:
        options = recipe.Options(sources=sources, licences=("mine=CC0-1.0",))
        said: list[str] = []
        out, work = tmp_path / str(len(sources)), tmp_path / "work"
        recipes.build(recipe.RECIPE, options, out, workspace=work, tell=said.append)
        return "\n".join(said)

    said = told(f"folder:mine={tmp_path / 'photos'}", f"table:listed={table}")
    assert "mine: 2 photos lie in folders within that of their label, such as Acne/patient 1, which can be" in said
    assert "column group_id (--source table:NAME=FILE)" in said and said.count("lie in folders") == 1
    assert "lie in folders" not in told(f"table:mine={table}")


def test_a_challenge_of_isic_without_its_lesions_is_told() -> None:
    rows = [{"source": "isic", "group_id": None}, {"source": "y2019", "group_id": "y2019:IL_1"}]
    (said,) = apart(("isic=a.csv", "isic:y2019=b.csv", "isic:unread=c.csv"), rows)
    assert said.startswith("isic: its table names no lesion")


# --- The sample -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the bundled sample."""
    folder = tmp_path_factory.mktemp("sample")
    build(folder, "sample")
    return folder / "release"


def test_the_faults_of_the_sample_are_found(sample: Path) -> None:
    assert Manifest.read(sample).rows == recipe.RECIPE.sample_rows
    # Two photos stand under two diagnoses each; the other copies leave one of each pair, or go for the text over them.
    assert reasons(sample) == {
        "admit: no label": 1,
        "admit: unknown label": 1,
        "admit: licence unknown": 1,
        "admit: no derivatives": 1,
        "images: image empty": 1,
        "images: image truncated": 1,
        "images: image not an image": 1,
        "images: image missing": 1,
        "curate: copies under different diagnoses": 4,
        "curate: duplicate: same bytes": 1,
        "curate: duplicate: near copy": 7,
        "curate: quality: small": 2,
        "curate: quality: blurred": 5,
        "curate: quality: text overlay": 5,  # one of them drawn lashes
        "curate: quality: near uniform": 2,
        "curate: quality: overexposed": 1,  # the one that nobody meant
    }


def test_a_missing_extra_is_reported_before_the_first_photo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loaders.installed.find_spec", lambda name: None if name == "cv2" else object())
    with pytest.raises(MissingExtra, match=r"cv2: is not installed .*Install it with: .*\[curation\]"):
        build(tmp_path, "sample")
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".jpg", ".parquet", ".sqlite")]


def test_its_croissant_is_valid_and_gives_every_row(sample: Path) -> None:
    read_by_mlcroissant(sample)


def test_the_release_is_sound_and_loads(sample: Path) -> None:
    assert verify(sample, row_check=recipe.check_row, measure=recipe.measure) == []
    loaded = load("3mdbench", source=sample)
    assert isinstance(loaded, datasets.DatasetDict)
    assert list(loaded) == ["train", "validation", "test"]
    assert loaded["test"][0]["image"].size == (256, 256)
    assert Manifest.read(sample).stand_in is not None


def test_rows_of_the_test_split_speak_and_others_do_not(sample: Path) -> None:
    rows = rows_of(sample)
    test = [row for row in rows if row["split"] == "test"]
    assert {row["diagnosis"] for row in test} == set(NAMES)
    assert {row["personality"] for row in test} == set(PERSONALITIES)
    assert len({(row["diagnosis"], row["general_complaint"]) for row in test}) == len(NAMES)
    assert {row["complaints_source"] for row in test} == {AUTHORED}
    for row in rows:
        assert row["licence"] == "CC0-1.0"
        assert row["diagnosis"].replace(" ", "") not in row["image_id"]
        if row["split"] != "test":
            assert (row["general_complaint"], row["personality"], row["complaints"]) == (None, None, [])


def test_the_card_says_what_it_is(sample: Path) -> None:
    card = (sample / "README.md").read_text(encoding="utf-8")
    assert "Stand-in" in card
    assert "| test photos |" in card
    assert "2,996" in card
    assert "short of 64 in test by" in card
    assert card.count("| chalazion | ophthalmology |") == 1
    assert "nobody was photographed" in card and "Light skin" not in card
    assert "annotations_creators:\n- other\n" in card  # complaints written by hand


def test_the_card_of_a_users_photos_states_only_what_the_user_said(tmp_path: Path) -> None:
    build(tmp_path, f"table:clinic={drawn(tmp_path / 'photos', 'acne')}")
    card = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    assert "maintainer's own (`clinic`): how they were taken" in card and "is not stated by the maintainer" in card
    assert "nobody was photographed" not in card and "Light skin" not in card
    assert "where it names none (null), photos of one patient may be in two" in " ".join(card.split())
    assert origin_of("scin=scin") == PUBLISHED


def test_the_tables_of_the_card_are_those_of_the_rows(sample: Path) -> None:
    card = (sample / "README.md").read_text(encoding="utf-8")
    rows = rows_of(sample)
    splits = ("train", "validation", "test")
    for column in ("diagnosis", "domain"):
        counts = Counter((row[column], row["split"]) for row in rows)
        for diagnosis in DIAGNOSES:
            name = getattr(diagnosis, "name" if column == "diagnosis" else column)
            numbers = [counts[name, split] for split in splits]
            cells = [name, diagnosis.domain, *numbers, 64 - numbers[-1]] if column == "diagnosis" else [name, *numbers]
            assert card.count(f"| {' | '.join(map(str, cells))} |") == 1, cells
    by_class = Counter(row["diagnosis"] for row in rows if row["split"] == "test")
    sizes = Counter(row["split"] for row in rows)
    for line, here, paper in (
        ("test photos", sizes["test"], "2,996"),
        ("train photos", sizes["train"], "2,396"),
        ("validation photos", sizes["validation"], "596"),
        ("diagnoses in test", 34, "34"),
        ("photos of the largest class", max(by_class.values()), "383"),
        ("photos of the smallest class", min(by_class.values()), "64"),
        ("classes of exactly 64", 0, "21"),
    ):
        assert f"| {line} | {here} | {paper} |" in card


# --- Groups -----------------------------------------------------------------------------------------------------------


def test_patients_and_what_their_copies_link_stay_in_one_split(tmp_path: Path) -> None:
    files = {f"{name}{n}.jpg": photo(name, n) for name in ("acne", "warts") for n in range(8)}
    rows = [{"file": file, "label": file.rstrip("0123456789.jpg"), "group_id": ""} for file in files]
    for row in rows[:3]:
        row["group_id"] = "p1"
    for row in rows[3:6]:
        row["group_id"] = "p2"
    # A small copy of a photo of p1 among those of p2: it is left out, and still says that both are one patient.
    small = io.BytesIO()
    Image.open(io.BytesIO(files["acne0.jpg"])).resize((230, 230)).save(small, "JPEG")
    files["copy.jpg"] = small.getvalue()
    rows.append({"file": "copy.jpg", "label": "acne", "group_id": "p2"})
    table = photo_table(tmp_path / "photos", rows, files)
    for seed in (1, 2, 3):
        build(tmp_path, f"table={table}", out=f"release{seed}", work="release", seed=seed)
        found = owned(tmp_path / f"release{seed}", "release")
        split = {row["file"]: row["split"] for row in found}
        assert "copy.jpg" not in split
        assert len({split[f"acne{n}.jpg"] for n in range(6)}) == 1
        assert len({row["group_id"] for row in found}) == 3  # two patients, and none


def test_a_release_with_a_patient_in_two_splits_is_found_out(sample: Path) -> None:
    rows = rows_of(sample)
    test = next(row for row in rows if row["split"] == "test")
    other = next(row for row in rows if row["split"] == "train")
    other["group_id"] = test["group_id"] = "table:p"
    with pytest.raises(ReleaseError, match="has photos in train and in test"):
        recipe.measure(rows)
    other["group_id"], other["cluster_id"] = None, test["cluster_id"]
    with pytest.raises(ReleaseError, match="cluster_id"):
        recipe.measure(rows)


def test_verify_finds_a_cluster_in_two_splits(sample: Path, tmp_path: Path) -> None:
    rows = rows_of(sample)
    one = next(row for row in rows if row["split"] == "test")
    other = next(row for row in rows if row["split"] == "train")
    other["cluster_id"] = one["cluster_id"]
    head = "---\npretty_name: x\nlicense: cc0-1.0\nlanguage: [en]\ntask_categories: [image-classification]\n---\n"
    # As if by another hand: the recipe itself refuses to write this.
    write_small(
        tmp_path / "leaky",
        rows,
        corpus="3mdbench",
        schema_version=CORPUS.schema_version,
        features=CORPUS.features,
        measure=lambda found: None,
        card=lambda manifest: render_card(head, manifest),
    )
    assert verify(tmp_path / "leaky") == []
    found = verify(tmp_path / "leaky", row_check=recipe.check_row, measure=recipe.measure)
    assert [problem.found for problem in found] == ["has photos in train and in test"]
    assert execute(["verify", str(tmp_path / "leaky")]) == 1


@pytest.mark.parametrize(
    ("split", "damage", "found"),
    [
        ("test", {"personality": "neutral"}, "personality 'neutral'"),
        ("test", {"general_complaint": None}, "no general complaint"),
        ("test", {"complaints": ["You have psoriasis."] * 5}, "names a diagnosis"),
        ("test", {"complaints_status": "guessed"}, "status 'guessed'"),
        ("test", {"domain": "nails"}, "of domain 'nails'"),
        ("train", {"personality": "sanguine"}, "personality in split train"),
        ("train", {"complaints": ["You itch."]}, "complaints in split train"),
        ("train", {"image": None}, "no image"),
    ],
)
def test_rows_that_break_the_rules(sample: Path, split: str, damage: dict[str, Any], found: str) -> None:
    row = next(row for row in rows_of(sample) if row["split"] == split and row["diagnosis"] == "acne")
    assert recipe.check_row(row) == []
    assert any(found in problem for problem in recipe.check_row(row | damage))


# --- Drawing ----------------------------------------------------------------------------------------------------------


def test_photos_are_drawn_to_a_prevalence_with_a_floor(tmp_path: Path) -> None:
    # Fewer than the 20 photos that blur is calibrated on.
    table = drawn(tmp_path / "photos", "acne", "warts", "stye", each=6)
    prevalence = tmp_path / "prevalence.csv"
    prevalence.write_text("diagnosis,share\nacne,0.7\nwarts,0.3\n", encoding="utf-8")
    # 32 classes at 2 leave 73 - 64 for acne and warts: 6 and 3.
    manifest = build(tmp_path, f"table={table}", total=73, floor=1, prevalence=str(prevalence))
    counts = Counter(row["diagnosis"] for row in rows_of(tmp_path / "release"))
    assert counts == {"acne": 6, "warts": 3, "stye": 2}
    assert reasons(tmp_path / "release") == {"draw: enough of its class": 7}
    assert manifest.settings["targets"]["eczema"] == 2  # type: ignore[index,call-overload]
    card = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    assert "| eczema | dermatology | 0 | 0 | 0 | 2 | 2 |" in card
    assert "73 photos were shared out" in card


def test_a_photo_that_a_table_lists_under_two_diagnoses_is_left_out(tmp_path: Path) -> None:
    files = {f"{n}.jpg": photo("acne", n) for n in range(3)}
    rows = [{"file": "0.jpg", "label": "acne"}, {"file": "1.jpg", "label": "acne"}, {"file": "2.jpg", "label": "acne"}]
    rows += [{"file": "1.jpg", "label": "Rosacea"}, {"file": "2.jpg", "label": "Acne vulgaris"}]
    table = photo_table(tmp_path / "photos", rows, files)
    build(tmp_path, f"table={table}")
    assert [row["file"] for row in owned(tmp_path / "release")].count("1.jpg") == 0
    assert reasons(tmp_path / "release") == {
        "admit: listed under different diagnoses": 2,
        "unique: duplicate id": 1,  # a synonym is no other diagnosis
    }


def test_a_photo_has_one_key_however_a_table_spells_its_place(tmp_path: Path) -> None:
    key, keys = secret(tmp_path), set()
    folder, picture = tmp_path / "photos", {"acne/1.png": photo("acne", 1)}
    for number, place in enumerate(("acne/1.png", "./acne/1.png", "acne\\1.png", str(folder / "acne/1.png"))):
        table = photo_table(folder, [{"file": place, "label": "acne"}], picture)
        build(tmp_path, f"table:mine={table}", out=f"v{number}", work="v", key=key)
        keys.update((row["image_id"], row["file"]) for row in owned(tmp_path / f"v{number}", "v"))
    ((_, file),) = keys
    assert file == "acne/1.png"


def test_a_table_whose_lines_moved_is_quoted_anew(tmp_path: Path) -> None:
    rows = [{"file": "0.png", "label": "acne"}, {"file": "1.png", "label": "acne"}, {"file": "0.png", "label": "acne"}]
    table = photo_table(tmp_path, rows, {f"{n}.png": photo("acne", n) for n in range(2)})
    build(tmp_path, f"table:mine={table}")
    header, *lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([header, "", *lines]), encoding="utf-8")
    (tmp_path / "release.work").rename(tmp_path / "again.work")
    build(tmp_path, f"table:mine={table}", out="again")
    copies = [row for row in read_parquet(tmp_path / "again", "exclusions.parquet") if row["stage"] == "unique"]
    assert [row["detail"] for row in copies] == ["mine:5 repeats the id of mine:3"]


def test_a_release_that_follows_another_leaves_each_photo_in_its_split(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne", "warts", each=12)
    build(tmp_path, f"table={table}", out="v1")
    of = {row["image_id"]: (row["split"], row["personality"]) for row in rows_of(tmp_path / "v1")}
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(lines[:3] + lines[4:]), encoding="utf-8")  # somebody withdraws
    told: list[str] = []
    options = recipe.Options(sources=(f"table={table}",), follows=(str(tmp_path / "v1"),))
    work = tmp_path / "v1.work"
    manifest = recipes.build(recipe.RECIPE, options, tmp_path / "v2", workspace=work, tell=told.append)
    now = {row["image_id"]: (row["split"], row["personality"]) for row in rows_of(tmp_path / "v2")}
    assert len(now) == len(of) - 1 and now.items() < of.items()
    assert f"Of {len(of)} photos of the previous release, {len(now)} are in this one" in told[0]
    assert manifest.settings["follows"] == [Manifest.read(tmp_path / "v1").content_digest]
    # Without, chance moves others.
    build(tmp_path, f"table={table}", out="anew", work="v1")
    anew = {row["image_id"]: (row["split"], row["personality"]) for row in rows_of(tmp_path / "anew")}
    assert anew.keys() == now.keys() and anew != now


def test_what_changed_under_the_key_of_an_earlier_release_stays_in_its_split(tmp_path: Path) -> None:
    """A file that was replaced keeps its name, hence its key, its split and its temperament."""
    files = {f"{n}.jpg": photo("acne", n) for n in range(12)}
    rows = [{"file": file, "label": "acne"} for file in files]
    build(tmp_path, f"table={photo_table(tmp_path / 'photos', rows, files)}", out="v1")
    of = {row["file"]: (row["split"], row["personality"]) for row in owned(tmp_path / "v1")}
    files |= {"1.jpg": photo("warts", 1), "2.jpg": photo("stye", 2)}
    for place in (2, 3, 4):
        rows[place]["label"] = "warts"
    table = photo_table(tmp_path / "photos", rows, files)
    key = tmp_path / "v1.work" / KEY_FILE
    build(tmp_path, f"table={table}", out="v2", follows=(str(tmp_path / "v1"),), key=key)
    now = {row["file"]: (row["split"], row["personality"]) for row in owned(tmp_path / "v2")}
    assert now == of


@pytest.mark.parametrize("kind", ["renamed", "of the same patients"])
def test_what_is_kin_to_an_earlier_release_stays_in_its_split(tmp_path: Path, kind: str) -> None:
    """Keys are made from names of files: those of renamed photos, and of patients' further photos, are all new."""
    first = {f"a{n}.jpg": photo("acne", n) for n in range(12)}
    again = {f"b{n}.jpg": photo("acne" if kind == "renamed" else "warts", n) for n in range(12)}
    for out, files in (("v1", first), ("v2", again)):
        patients = [f"p{file[1:-4]}" if kind != "renamed" else "" for file in files]
        label = "acne" if out == "v1" or kind == "renamed" else "warts"
        rows = [{"file": file, "label": label, "group_id": p} for file, p in zip(files, patients, strict=True)]
        table = photo_table(tmp_path / out / "photos", rows, files)
        of_first = {"follows": (str(tmp_path / "v1" / "release"),), "key": tmp_path / "v1" / "release.work" / KEY_FILE}
        options: dict[str, Any] = {**of_first, "seed": 1} if out == "v2" else {}
        build(tmp_path / out, f"table={table}", **options)
    before, after = ({r["file"][1:]: r["split"] for r in owned(tmp_path / out / "release")} for out in ("v1", "v2"))
    assert len(after) == 12 and after == before and len(set(after.values())) > 1


@pytest.mark.parametrize("option", ["follows", "withdrawn"])
def test_no_later_copy_takes_the_place_of_a_published_photo(tmp_path: Path, option: str) -> None:
    """A better copy would cost the published row; or it would publish again whoever withdrew, by another key."""
    large = Image.open(io.BytesIO(photo("acne", 0)))
    files = {"a.jpg": jpeg(large.resize((320, 320 * large.height // large.width)))}

    def table() -> str:
        return f"table={photo_table(tmp_path / 'photos', [{'file': name, 'label': 'acne'} for name in files], files)}"

    build(tmp_path, table(), out="v1")
    published = {row["image_id"] for row in rows_of(tmp_path / "v1")}
    files |= {"better.jpg": jpeg(large, 95)}
    files |= {f"same {n}.jpg": files["a.jpg"] for n in range(4)}  # whose ids may be smaller
    (tmp_path / "list.txt").write_text("\n".join(published), encoding="utf-8")
    if option == "follows":
        build(tmp_path, table(), out="v2", work="v1", follows=(str(tmp_path / "v1"),))
        assert {row["image_id"] for row in rows_of(tmp_path / "v2")} == published
    else:
        with pytest.raises(ReleaseError, match="withdrawn"):
            build(tmp_path, table(), out="v2", work="v1", withdrawn=tmp_path / "list.txt")


@pytest.mark.parametrize("first", ["a.jpg", "b.jpg"])
def test_of_copies_under_different_licences_one_under_the_strictest_is_kept(tmp_path: Path, first: str) -> None:
    files = {"a.jpg": photo("acne", 0), "b.jpg": photo("acne", 0), "better.jpg": photo("acne", 0) + b" "}
    licences = {"a.jpg": "CC BY 4.0", "b.jpg": "CC BY-NC 4.0", "better.jpg": "CC0"}
    rows = [
        {"file": file, "label": "acne", "licence": licences[file]} for file in sorted(files, key=lambda f: f != first)
    ]
    build(tmp_path, f"table={photo_table(tmp_path / 'photos', rows, files)}")
    assert [row["licence"] for row in rows_of(tmp_path / "release")] == ["CC BY-NC 4.0"]


def test_a_photo_is_not_released_under_terms_that_a_copy_of_it_forbids(tmp_path: Path) -> None:
    """The copy is another file, with more or fewer pixels, and would be left out by itself for its label or size."""
    forbid = {"nd": "CC BY-NC-ND 4.0", "reserved": "All rights reserved", "sa": "CC BY-SA 4.0", "nc": "CC BY-NC 4.0"}
    files, rows = {"other.jpg": photo("acne", 9)}, [{"file": "other.jpg", "label": "acne", "licence": "CC0"}]
    for number, (name, licence) in enumerate(forbid.items()):
        whole = Image.open(io.BytesIO(photo("acne", number)))
        half, small = (jpeg(whole.resize((side, side * whole.height // whole.width))) for side in (400, 200))
        files |= {f"{name}.jpg": small if name == "nc" else photo("acne", number), f"free {name}.jpg": half}
        label = "of no table" if name == "nd" else "acne"
        rows += [{"file": f"{name}.jpg", "label": label, "licence": licence}]
        rows += [{"file": f"free {name}.jpg", "label": "acne", "licence": "CC BY-NC" if name == "sa" else "CC0"}]
    build(tmp_path, f"table={photo_table(tmp_path / 'photos', rows, files)}")
    assert [row["file"] for row in owned(tmp_path / "release")] == ["other.jpg"]
    assert reasons(tmp_path / "release") == {
        "admit: unknown label": 1,
        "admit: no derivatives": 1,
        "curate: licence: a copy may not be altered": 2,
        "curate: licence: copies under terms that exclude each other": 2,
        "curate: licence: a copy asks for more": 1,
        "curate: quality: small": 1,
    }


def test_a_licence_that_forbids_alterations_may_be_let_in(tmp_path: Path) -> None:
    files = {"theirs.jpg": photo("acne", 0), "free.jpg": photo("acne", 0) + b" "}
    rows = [{"file": file, "label": "acne", "licence": "CC0" if file == "free.jpg" else "CC BY-ND"} for file in files]
    table = photo_table(tmp_path / "photos", rows, files)
    build(tmp_path, f"table={table}", allowed_licences=frozenset({"CC-BY-ND"}))
    assert [row["licence"] for row in rows_of(tmp_path / "release")] == ["CC BY-ND"]


def test_a_photo_that_a_table_lists_under_two_licences_is_left_out(tmp_path: Path) -> None:
    said = {"a.jpg": ("CC0", "CC BY-NC", ""), "b.jpg": ("CC BY-NC", "CC0"), "c.jpg": ("CC BY 4.0", "CC BY", "")}
    rows = [{"file": file, "label": "acne", "licence": licence} for file in said for licence in said[file]]
    files = {file: photo("acne", number) for number, file in enumerate(said)}
    build(tmp_path, f"table={photo_table(tmp_path / 'photos', rows, files)}")
    assert [row["file"] for row in owned(tmp_path / "release")] == ["c.jpg"]
    assert reasons(tmp_path / "release")["admit: listed under different licences"] == 4


def test_only_a_release_of_photos_can_be_followed(sample: Path, tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne")
    write_small(tmp_path / "captions")
    with pytest.raises(ReleaseError, match="expected one of 3mdbench"):
        build(tmp_path, f"table={table}", follows=(str(tmp_path / "captions"),))
    with pytest.raises(ReleaseError, match="no such folder"):
        build(tmp_path, f"table={table}", follows=(str(tmp_path / "nowhere"),))


def test_only_the_public_split(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne", "warts", each=8)
    with pytest.raises(InputError, match="--key: none, with --splits .*the same key for the builds of all splits"):
        build(tmp_path, f"table={table}", out="public", splits="test")
    key = secret(tmp_path)
    one: dict[str, Any] = {"work": "whole", "key": key}
    whole = build(tmp_path, f"table={table}", out="whole", **one)
    public = build(tmp_path, f"table={table}", out="public", splits="test", **one)
    private = build(tmp_path, f"table={table}", out="private", splits="train,validation", **one)
    assert list(public.splits) == ["test"]
    assert public.splits["test"] == whole.splits["test"]
    assert private.splits["train"] == whole.splits["train"]
    assert reasons(tmp_path / "public") == {"split: of a split that is not in this release": 8}
    assert verify(tmp_path / "public", row_check=recipe.check_row, measure=recipe.measure) == []
    assert verify(tmp_path / "private", row_check=recipe.check_row, measure=recipe.measure) == []
    # What is not in a release, its card does not count as lacking, and nothing of it makes the rest a stand-in.
    card = (tmp_path / "private" / "README.md").read_text(encoding="utf-8")
    assert "| train photos |" in card and "none of them is in this release" in card and private.stand_in is None
    assert not [text for text in ("test photos", "photos in the test split", "largest class") if text in card]
    assert not [text for text in recipe.summary(private) if isinstance(text, str)]
    card = (tmp_path / "public" / "README.md").read_text(encoding="utf-8")
    assert "| test photos | 8 |" in card and "train photos" not in card and public.stand_in


def test_the_curve_of_the_paper_meets_what_the_paper_states() -> None:
    targets = recipe._targets(recipe.Options(sources=(), total=2 * 2_996, prevalence="paper"))
    assert targets is not None
    test = [count / 2 for count in targets.values()]
    assert (sum(test), max(test), min(test), sum(count == 64 for count in test)) == (2_996, 383, 64, 21)


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"total": 100}, "--total"),
        ({"prevalence": "p.csv"}, "--prevalence"),
        ({"splits": "dev"}, "--splits"),
        ({"splits": ","}, "--splits"),
        ({"labels": ("scin=x.csv",)}, "--labels"),
        ({"licences": ("scin=CC0",)}, "--licence"),
        ({"licences": ("table=foo",)}, "--licence table"),
        ({"prompts": Path("no such folder")}, "no such folder"),
    ],
)
def test_options_that_cannot_be_met(tmp_path: Path, options: dict[str, Any], where: str) -> None:
    table = drawn(tmp_path / "photos", "acne", each=1)
    with pytest.raises(InputError) as error:
        build(tmp_path, f"table={table}", **options)
    assert error.value.where == where
    assert not (tmp_path / "release").exists()


def test_sources_need_names_of_their_own(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne", each=1)
    with pytest.raises(InputError, match="two sources named 'table'"):
        build(tmp_path, f"table={table}", f"table={table}")
    with pytest.raises(InputError, match="at least one"):
        build(tmp_path)


# --- Bad input --------------------------------------------------------------------------------------------------------


def test_photos_of_phones_and_of_the_web_come_in_or_are_refused_by_name(tmp_path: Path) -> None:
    files = {"f.jxl": b"\xff\x0a" + bytes(100), "pixel.gif": b"GIF89a\1\0\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"}
    forms = {"a.avif": "AVIF", "b.jp2": "JPEG2000", "c.heic": "HEIF"}
    for n, (name, form) in enumerate(forms.items()):
        buffer = io.BytesIO()
        if form in readable():
            Image.open(io.BytesIO(photo("acne", 2 * n))).save(buffer, form)
        files[name] = buffer.getvalue() or b"\0\0\0\x18ftypheic\0\0\0\0mif1heic"
    table = photo_table(tmp_path / "photos", [{"file": name, "label": "acne"} for name in files], files)
    build(tmp_path, f"table={table}")
    excluded = {row["reason"]: row["detail"] for row in read_parquet(tmp_path / "release", "exclusions.parquet")}
    assert excluded["image one pixel"] == "is 1 x 1 pixels, which show nothing"
    kept = {row["file"]: row["image"] for row in owned(tmp_path / "release")}
    assert kept.keys() == {name for name, form in forms.items() if form in readable()}
    assert all(image["path"].endswith(".png") and image["bytes"].startswith(b"\x89PNG") for image in kept.values())
    refused = excluded["image format not read"]
    assert "djxl" in refused or "extra `heic`" in refused  # the one that comes last is told


def test_metadata_is_cut_out(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "taken at 48.2 N, 16.4 E"
    buffer = io.BytesIO()
    Image.open(io.BytesIO(photo("acne", 0))).save(buffer, "JPEG", quality=90, exif=exif)
    assert b"48.2 N" in buffer.getvalue()
    table = photo_table(tmp_path / "photos", [{"file": "a.jpg", "label": "acne"}], {"a.jpg": buffer.getvalue()})
    build(tmp_path, f"table={table}")
    assert b"48.2 N" not in b"".join(files_of(tmp_path / "release").values())


def test_nothing_left_is_one_clear_error(tmp_path: Path) -> None:
    table = photo_table(tmp_path / "photos", [{"file": "gone.jpg", "label": "acne"}])
    with pytest.raises(ReleaseError, match="image missing: 1"):
        build(tmp_path, f"table={table}")


def test_labels_that_no_table_knows_are_named_even_if_nothing_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "photos" / "Zahnstein").mkdir(parents=True)
    (tmp_path / "photos" / "Zahnstein" / "1.jpg").write_bytes(photo("dental calculus", 1))
    given = ("--source", f"folder={tmp_path / 'photos'}", "--licence", "folder=CC0-1.0", "--out", str(tmp_path / "out"))
    assert execute(["build", "3mdbench", *given]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "Zahnstein 1. Map each to a diagnosis with --labels NAME=FILE" in said and "left-out.jsonl" in said
    assert "no rows are left (unknown label: 1)" in said


def test_cells_about_the_person_that_say_nothing_are_counted(tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    for number in range(4):
        (tmp_path / "photos" / f"{number}.jpg").write_bytes(photo("acne", number))
    table = tmp_path / "photos" / "list.csv"
    cells = ("w,forties", "w,45 years", "m,", "f,90+")
    lines = [f"{number}.jpg,acne,CC0,{told}" for number, told in enumerate(cells)]
    table.write_text("\n".join(["file,label,licence,Sex,age", *lines]), encoding="utf-8")
    told: list[str] = []
    options = recipe.Options(sources=(f"table:mine={table}",))
    recipes.build(recipe.RECIPE, options, tmp_path / "release", workspace=tmp_path / "work", tell=told.append)
    assert "mine: left empty, since they are not understood: Sex 'w' 2, age 'forties' 1" in told[0]
    assert Counter(row["sex"] for row in rows_of(tmp_path / "release")) == {None: 2, "male": 1, "female": 1}


def test_licences_are_let_in_by_name_or_vouched_for(tmp_path: Path) -> None:
    files = {f"{n}.jpg": photo("acne", n) for n in range(3)}
    rows = [{"file": name, "label": "acne", "licence": ""} for name in files]
    table = photo_table(tmp_path / "photos", rows, files)
    with pytest.raises(ReleaseError, match="licence unknown: 3"):
        build(tmp_path, f"table={table}", out="refused")
    build(tmp_path, f"table={table}", out="allowed", work="refused", allowed_licences=frozenset({"unknown"}))
    assert {row["licence"] for row in rows_of(tmp_path / "allowed")} == {None}
    build(tmp_path, f"table={table}", out="vouched", work="refused", licences=("table=CC BY 4.0",))
    row = rows_of(tmp_path / "vouched")[0]
    assert (row["licence"], row["licence_asserted_by"]) == ("CC BY 4.0", "whoever built this release (--licence)")
    with pytest.raises(ReleaseError, match="no derivatives: 3"):
        build(tmp_path, f"table={table}", out="nd", licences=("table=CC BY-ND 4.0",))


def test_a_licence_that_is_asserted_where_all_state_theirs_is_told(tmp_path: Path) -> None:
    files = {f"{n}.jpg": photo("acne", n) for n in range(2)}
    stated = [[{"file": name, "label": "acne", "licence": said} for name in files] for said in ("CC BY 4.0", "")]
    tables = [photo_table(tmp_path / name, rows, files) for name, rows in zip("ab", stated, strict=True)]
    told: list[str] = []
    sources = [f"table:{name}={table}" for name, table in zip("ab", tables, strict=True)]
    build(tmp_path, *sources, licences=("a=CC0-1.0", "b=CC BY 4.0"), told=told)
    said = [line.partition(":")[0] for line in "\n".join(told).splitlines() if "--licence" in line]
    assert said == ["--licence a says nothing"]


def test_files_with_unreadable_names_do_not_stop_a_build(tmp_path: Path) -> None:
    (tmp_path / "photos" / "acne").mkdir(parents=True)
    for name in (b"fine.jpg", b"b\xff\xfe.jpg", "größe.jpg".encode()):
        (tmp_path / "photos" / "acne" / os.fsdecode(name)).write_bytes(photo("acne", len(name)))
    build(tmp_path, f"folder:mine={tmp_path / 'photos'}", licences=("mine=CC0",))
    assert reasons(tmp_path / "release") == {"admit: unreadable file name": 1}
    assert {row["file"] for row in owned(tmp_path / "release")} == {"acne/fine.jpg", "acne/größe.jpg"}


# --- Addresses --------------------------------------------------------------------------------------------------------


def test_photos_from_addresses(tmp_path: Path) -> None:
    good, moved = photo("acne", 0), photo("warts", 1)
    with PhotoServer(
        {
            "/good.jpg": sends(good),
            "/old.jpg": redirects("/new.jpg"),
            "/new.jpg": sends(moved),
            "/page.jpg": sends(b"<html>", kind="text/html"),
            "/away.jpg": redirects("http://192.168.1.1/router.jpg"),
            "/other.jpg": sends(photo("acne", 3)),
            "/hangs.jpg": hangs,
            "/floods.jpg": floods,
            "/robots.txt": sends(b"User-agent: *\nDisallow: /private", kind="text/plain"),
            "/broken.jpg": sends(good[:5000]),
            "/asks.jpg": sends(b"", status=403),
        }
    ) as server:
        names = "good old gone page away other hangs floods broken private asks".split()
        rows = [{"url": server.url(f"/{name}.jpg"), "label": "wart" if name == "old" else "acne"} for name in names]
        rows[5]["md5"] = hashlib.md5(b"another").hexdigest()
        rows += [{"url": server.url("/unasked.jpg"), "label": "measles"}]
        table = photo_table(tmp_path / "photos", rows)
        limits = Limits(pause=0, timeout=2, deadline=4, tries=1, max_bytes=200_000, allow_loopback=True)
        told: list[str] = []
        build(tmp_path, f"web={table}", limits=limits, pause=0.0, told=told)
        first = dict(server.asked)
        build(tmp_path, f"web={table}", limits=limits, pause=0.0)
        # What was fetched is kept, what is gone stays gone, what may come back is asked again.
        assert {path: n - first[path] for path, n in server.asked.items() if n > first[path]} == {"/hangs.jpg": 1}
    assert "/unasked.jpg" not in first
    assert reasons(tmp_path / "release") == {
        "admit: unknown label": 1,
        "images: download: HTTP 403": 1,
        "images: download: HTTP 404": 1,
        "images: download: address is not public": 1,
        "images: download: another file than the source's digest says": 1,
        "images: download: no answer": 1,
        "images: download: robots.txt forbids it": 1,
        "images: download: not an image": 1,
        "images: download: too large": 1,
        "images: image truncated": 1,
    }
    assert {row["diagnosis"] for row in rows_of(tmp_path / "release")} == {"acne", "warts"}
    advice = "Set BEDSIDE_CONTACT to your mail address, and build again"  # for who builds, not for a release
    assert f"1 photo: HTTP 403, perhaps because the server wants to know who asks. {advice}" in "\n".join(told)
    assert not any("CONTACT" in row["detail"] for row in read_parquet(tmp_path / "release", "exclusions.parquet"))


# --- A chat model -----------------------------------------------------------------------------------------------------

GOOD = [
    "Your skin feels warm to the touch there.",
    "You saw the first of them four days ago.",
    "Your discomfort is mild.",
    "You sleep well.",
    "You take no medicines.",
]


def question(body: dict[str, Any]) -> str:
    content = body["messages"][1]["content"]
    return content if isinstance(content, str) else content[0]["text"]


def test_complaints_by_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-not-a-secret")
    table = drawn(tmp_path / "photos", "acne", "warts", "stye", each=4)

    def reply(body: dict[str, Any]) -> str:
        asked, turns = question(body), len(body["messages"])
        if "already said" not in asked:
            return json.dumps({"complaint": "You have spots that bother you."})
        if "Diagnosis: acne" in asked:
            return json.dumps({"complaints": GOOD})
        if "Diagnosis: warts" in asked:
            return (
                json.dumps({"complaints": GOOD}) if turns > 2 else json.dumps({"complaints": [*GOOD, "It is a wart."]})
            )
        return "I am sorry, but I cannot help with that."

    with ChatServer(reply) as server:
        options = {"model": "openai-api/local/vision", "base_url": server.base_url}
        build(tmp_path, f"table={table}", workers=2, **options)
        asked = len(server.requests)
        again = build(tmp_path, f"table={table}", out="again", **options)
        assert len(server.requests) > asked  # another workspace knows no answers
        asked = len(server.requests)
        (tmp_path / "again" / "manifest.json").unlink()
        for path in sorted((tmp_path / "again").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        assert build(tmp_path, f"table={table}", out="again", **options).content_digest == again.content_digest
        assert len(server.requests) == asked
        images = [
            m["content"][1] for r in server.requests for m in r.body["messages"] if isinstance(m["content"], list)
        ]
    assert images and all(image["image_url"]["url"].startswith("data:image/jpeg;base64,") for image in images)
    test = [row for row in rows_of(tmp_path / "release") if row["split"] == "test"]
    status = {row["diagnosis"]: (row["complaints_status"], row["complaints_source"]) for row in test}
    assert status == {
        "acne": ("accepted", "openai-api/local/vision"),
        "warts": ("repaired", "openai-api/local/vision"),
        "stye": ("fallback", AUTHORED),
    }
    assert {row["general_complaint"] for row in test} == {"You have spots that bother you."}
    assert all(check_facts(row["general_complaint"], row["complaints"]) == [] for row in test)
    assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []
    manifest = Manifest.read(tmp_path / "release")
    assert set(manifest.prompts) == {"system", "basic", "facts", "retry"}
    assert server.base_url not in manifest.text()
    assert manifest.stand_in is None


def test_complaints_that_all_stand_in_for_a_models_are_as_much_a_stand_in_as_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "sk-not-a-secret")
    table = drawn(tmp_path / "photos", "acne", each=2)
    with ChatServer(lambda body: "I am sorry, but I cannot help with that.") as server:
        manifest = build(tmp_path, f"table={table}", model="openai-api/local/vision", base_url=server.base_url)
    assert manifest.stand_in is not None and "authored without seeing the photos" in manifest.stand_in
    card = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    assert "no answer about a photo came" in card and "annotations_creators:\n- other\n" in card


@pytest.mark.parametrize("name", ["echo", "silent", "prose", "broken-json"])
def test_garbage_of_a_model_loses_nothing(tmp_path: Path, name: str) -> None:
    table = drawn(tmp_path / "photos", "acne", "warts", each=2)
    manifest = build(tmp_path, f"table={table}", model=f"scripted/{name}")
    rows = rows_of(tmp_path / "release")
    assert len(rows) == 4
    assert {row["complaints_status"] for row in rows if row["split"] == "test"} == {"fallback"}
    assert manifest.stand_in is not None
    assert "no language model" in manifest.stand_in


def test_a_model_that_is_down_stops_the_build(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne", each=2)
    with pytest.raises(ModelError, match="down by design"):
        build(tmp_path, f"table={table}", model="scripted/down")
    assert not (tmp_path / "release").exists()


# --- The same bytes ---------------------------------------------------------------------------------------------------


def test_workers_order_and_place_change_nothing(tmp_path: Path) -> None:
    table = drawn(tmp_path / "here", *NAMES[:5], each=3)
    other = drawn(tmp_path / "there" / "deeper", *NAMES[:5], each=3)
    key = secret(tmp_path)
    build(tmp_path, f"table={table}", out="one", key=key)
    build(tmp_path, f"table={other}", out="two", workers=2, key=key)
    one, two = files_of(tmp_path / "one"), files_of(tmp_path / "two")
    assert one.keys() == two.keys()
    assert one == two
    assert str(tmp_path).encode() not in b"".join(one.values())


def test_a_killed_build_ends_with_the_same_bytes(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", *NAMES[:5], each=3)
    command = ["-m", "scripts", "build", "3mdbench", "--source", f"table={table}", "--workers", "1"]
    work = tmp_path / "killed.work"
    # While it looks for copies: photos are cleaned by then, nothing is released yet.
    kill((work / "curation.sqlite").exists, *command, "--out", tmp_path / "killed", "--work", work)
    assert not (tmp_path / "killed").exists()
    build(tmp_path, f"table={table}", out="killed")
    build(tmp_path, f"table={table}", out="undisturbed", key=work / KEY_FILE)
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "undisturbed")


# --- The command ------------------------------------------------------------------------------------------------------


def test_the_command_builds_and_tells_what_it_built(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    table = drawn(tmp_path / "photos", "acne", "warts", each=3)
    command = ["build", "3mdbench", "--source", f"table={table}", "--out", str(tmp_path / "release"), "--workers", "1"]
    assert execute(command) == 0
    said = capfd.readouterr().out
    assert "dermatology" in said
    assert "Diagnoses with fewer than 64 photos in test: 34 of 34" in said
    assert execute(["info", str(tmp_path / "release")]) == 0
    assert execute(["verify", str(tmp_path / "release")]) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["--source", "kaggle=x"],
        ["--source", "sample", "--licence", "sample"],
        ["--source", "sample", "--labels", "a=b", "--labels", "a=c"],
    ],
)
def test_a_wrong_option_is_one_clear_error(
    tmp_path: Path, arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert execute(["build", "3mdbench", *arguments, "--out", str(tmp_path / "release")]) == 2
    said = capfd.readouterr().err
    assert said.startswith("Error ")
    assert "Traceback" not in said
