"""`bedside curate` on what others publish: Parquet with pictures, ImageFolders, releases; and set against set."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi
from PIL import Image, ImageOps

from builders.curation.output import curate_set
from builders.curation.photo_sets import photo_set
from builders.curation.report import Audit
from loaders.errors import BedsideError, HubError, InputError
from loaders.files.image_formats import readable
from loaders.files.images import ImageError
from scripts.cli import execute
from scripts.curate import _print
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches, put
from tests.parts.pictures import drawn, jpeg, save
from tests.parts.runs import release

pytestmark = pytest.mark.usefixtures("found_once")

# Each picture: split, label, patient, picture. Planted: a copy byte for byte and one in a disguise across splits, a
# mirrored one under another label, one patient in two splits, and a copy under two patients.
PHOTOS: dict[str, tuple[str, str, str, bytes]] = {
    "a": ("train", "acne", "p1", jpeg(drawn(0))),
    "b": ("test", "acne", "p1", jpeg(drawn(0))),
    "c": ("train", "eczema", "p2", jpeg(drawn(1))),
    "d": ("test", "eczema", "p3", jpeg(drawn(1).resize((280, 210)))),
    "e": ("train", "acne", "p4", jpeg(drawn(2))),
    "f": ("train", "eczema", "p4", jpeg(ImageOps.mirror(drawn(2)))),
    "g": ("train", "acne", "p5", jpeg(drawn(3))),
    "h": ("test", "acne", "p5", jpeg(drawn(4))),
    "i": ("test", "eczema", "p6", jpeg(drawn(5))),
}
PLANTED = {
    ("picture", "split", "test, train", True, "ab"),
    ("picture", "split", "test, train", False, "cd"),
    ("picture", "label", "acne, eczema", False, "ef"),
    ("picture", "group", "p2, p3", False, "cd"),
    ("group", "split", "test, train", True, "ab"),
    ("group", "split", "test, train", False, "gh"),
}


@pytest.fixture(autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.getbasetemp() / "data sets")


def _parquet(place: Path, *, classes: bool) -> Path:
    """Parquet files, one a split, as `push_to_hub` writes them; or as plain pyarrow does, labels as text."""
    for split in ("train", "test"):
        rows = [(name, *rest) for name, (of, *rest) in PHOTOS.items() if of == split]
        columns: dict[str, Any] = {
            "image": [{"bytes": picture, "path": f"{name}.jpg"} for name, _, _, picture in rows],
            "finding": [label for _, label, _, _ in rows],
            "patient": [patient for _, _, patient, _ in rows],
            "name": [name for name, *_ in rows],
        }
        path = place / "data" / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        if classes:
            features = datasets.Features(
                image=datasets.Image(),
                finding=datasets.ClassLabel(names=["acne", "eczema"]),
                patient=datasets.Value("string"),
                name=datasets.Value("string"),
            )
            datasets.Dataset.from_dict(columns, features=features).to_parquet(str(path))
        else:
            pq.write_table(pa.table(columns), path)
    return place


def _image_folder(place: Path, *, metadata: bool) -> Path:
    """split/label/NAME.jpg, as `datasets` reads an ImageFolder; or a flat folder a split with metadata.jsonl."""
    for split in ("train", "test"):
        rows = [(name, *rest) for name, (of, *rest) in PHOTOS.items() if of == split]
        for name, label, _, picture in rows:
            save(place, {f"{split}/{'' if metadata else label + '/'}{name}.jpg": picture})
        if metadata:
            lines = [
                json.dumps({"file_name": f"{name}.jpg", "finding": label, "patient": patient})
                for name, label, patient, _ in rows
            ]
            (place / split / "metadata.jsonl").write_text("\n".join(lines))
    return place


def _found(audit: Audit, names: dict[str, str]) -> set[tuple[str, str, str, bool, str]]:
    return {
        (
            leak.by,
            leak.boundary,
            ", ".join(leak.values),
            leak.exact,
            "".join(sorted(names[one.file.name] for one in leak.files)),
        )
        for leak in audit.curation.leaks
    }


def test_a_logo_beside_the_shards_is_no_photo(tmp_path: Path) -> None:
    place = _parquet(tmp_path / "set", classes=True)
    save(place, {"figures/logo.jpg": jpeg(drawn(7))})
    photos = photo_set(str(place), group="patient")
    assert len(photos.files) == len(PHOTOS) and photos.columns["label"] == "column finding"
    # Measurements of the photos of a folder are no data set.
    folder = _image_folder(tmp_path / "folder", metadata=False)
    pq.write_table(pa.table({"file": ["train/acne/a.jpg"], "bytes": [3]}), folder / "photos.parquet")
    (folder / "metadata.csv").write_text("isic_id,diagnosis\nISIC_1,nevus\n")  # as the ISIC Archive names it
    assert photo_set(str(folder)).columns["label"] == "names of folders"


def test_a_file_that_two_rows_name_is_one_copy_too_many(tmp_path: Path) -> None:
    save(tmp_path, {"a.jpg": jpeg(drawn(1)), "b.jpg": jpeg(drawn(2))})
    named = [{"bytes": None, "path": f"{name}.jpg"} for name in "aab"]
    pq.write_table(pa.table({"image": named, "split": ["train", "test", "test"]}), tmp_path / "rows.parquet")
    audit = curate_set(str(tmp_path / "rows.parquet"), tmp_path / "report")
    told = [
        (one.file.name, decision.reason)
        for one, decision in zip(audit.curation.files, audit.curation.decisions, strict=True)
    ]
    assert told == [("a.jpg", "best_copy"), ("a.jpg #2", "same_bytes"), ("b.jpg", "unique")]
    assert [leak.values for leak in audit.curation.leaks] == [("test", "train")]


def test_a_cell_that_stands_for_nothing_names_no_patient_and_no_label(tmp_path: Path) -> None:
    """ "NA" of R, NaN of a column of numbers with gaps: else they are one patient in every split."""
    number = iter(range(99))
    for split in ("train", "test"):
        pictures = [{"bytes": jpeg(drawn(next(number))), "path": None} for _ in range(3)]
        columns = {"label": ["acne", "NA", "nan"], "patient_id": [float(len(split)), float("nan"), None]}
        pq.write_table(pa.table({"image": pictures, **columns}), tmp_path / f"{split}.parquet")
    told = Counter((file.label, file.group) for file in photo_set(str(tmp_path)).files)
    assert told == {("acne", "4.0"): 1, ("acne", "5.0"): 1, ("", ""): 4}


def test_a_lesion_whose_patient_another_row_names_crosses_splits_with_that_patient(tmp_path: Path) -> None:
    save(tmp_path / "photos", {f"{name}.jpg": jpeg(drawn(number)) for number, name in enumerate("ab")})
    (tmp_path / "table.csv").write_text("file,split,patient_id,lesion_id\na.jpg,train,p1,L1\nb.jpg,test,,L1\n")
    for number, split in enumerate(("train", "test")):
        told = {"image": [{"bytes": jpeg(drawn(number)), "path": None}], "lesion_id": ["L1"]}
        told["patient_id"] = [None if number else "p1"]  # type: ignore[list-item]
        (tmp_path / "set").mkdir(exist_ok=True)
        pq.write_table(pa.table(told), tmp_path / "set" / f"{split}.parquet")
    for photos in (photo_set(str(tmp_path / "photos"), table=tmp_path / "table.csv"), photo_set(str(tmp_path / "set"))):
        assert sorted((file.split, file.group) for file in photos.files) == [("test", "p1"), ("train", "p1")]
    assert [file.group for file in photo_set(str(tmp_path / "set"), group="lesion_id").files] == ["L1", "L1"]


def test_of_several_columns_of_pictures_the_photo_is_read_and_the_other_is_named(tmp_path: Path) -> None:
    photo, mask = ({"bytes": jpeg(drawn(number)), "path": None} for number in (1, 2))
    (tmp_path / "set").mkdir()
    pq.write_table(pa.table({"mask": [mask], "image": [photo]}), tmp_path / "set" / "train.parquet")
    photos = photo_set(str(tmp_path / "set"))
    assert photos.columns["picture"] == "column image (not mask)"
    assert photos.files[0].read() == photo["bytes"]


@pytest.mark.parametrize("layout", ["classes", "plain", "metadata", "folders"])
def test_planted_conflicts_are_found_in_every_public_layout(tmp_path: Path, layout: str) -> None:
    if layout in ("classes", "plain"):
        place = _parquet(tmp_path / "set", classes=layout == "classes")
        names = {}
        for split in ("train", "test"):
            of = [name for name, (its, *_) in PHOTOS.items() if its == split]
            names |= {f"{split}/{n + 1:06d}": name for n, name in enumerate(of)}
        options = {"group": "patient"} | ({} if layout == "classes" else {"label": "finding"})
    elif layout == "metadata":
        place = _image_folder(tmp_path / "set", metadata=True)
        names = {f"{split}/{name}.jpg": name for name, (split, *_) in PHOTOS.items()}
        options = {"label": "finding", "group": "patient"}
    else:
        place = _image_folder(tmp_path / "set", metadata=False)
        names = {f"{split}/{label}/{name}.jpg": name for name, (split, label, *_) in PHOTOS.items()}
        options = {}
    audit = curate_set(str(place), tmp_path / "report", **options)  # type: ignore[arg-type]
    planted = PLANTED if options else {one for one in PLANTED if "group" not in one[:2]}
    assert _found(audit, names) == planted
    rows = pq.read_table(tmp_path / "report/photos.parquet").to_pylist()
    assert {row["file"] for row in rows} == set(names)
    page = (tmp_path / "report/report.html").read_text()
    assert ("Groups in several splits" in page) == bool(options)
    assert all(name in page for name in names if names[name] in "abcdef")


def test_a_set_is_compared_with_another_in_any_disguise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = _parquet(tmp_path / "set", classes=True)
    other = save(
        tmp_path / "training",
        {
            "x.jpg": jpeg(drawn(4).transpose(Image.Transpose.ROTATE_90)),
            "y.jpg": jpeg(drawn(5)),
            "z.jpg": jpeg(drawn(9)),
            "half.jpg": jpeg(drawn(1))[:900],  # which may have been any of them
        },
    )
    audit = curate_set(str(place), tmp_path / "report", against=[str(other)])
    _print(audit)
    *_, row, unread = (line for line in capsys.readouterr().out.splitlines() if " there" in line or "also in" in line)
    assert row.split() == ["also", "in", "training", "2", "2", "1"]  # photos of this set alone, pictures, same bytes
    assert unread.split() == ["unreadable", "there", "1"]
    shared = {tuple(one.file.name for one in leak.files): leak.exact for leak in audit.overlaps}
    assert shared == {
        ("test/000003", "training: x.jpg"): False,
        ("test/000004", "training: y.jpg"): True,
    }
    rows = {row["file"]: row for row in pq.read_table(tmp_path / "report/photos.parquet").to_pylist()}
    assert {name: row["elsewhere"] for name, row in rows.items() if row["elsewhere"]} == {
        "test/000003": ["training: x.jpg"],
        "test/000004": ["training: y.jpg"],
    }
    # What lies elsewhere decides nothing here: the set is curated as it is alone.
    alone = curate_set(str(place), tmp_path / "alone")
    assert alone.curation.decisions == audit.curation.decisions
    page = (tmp_path / "report/report.html").read_text()
    assert "training: x.jpg" in page and "training: half.jpg" in page
    for path in other.iterdir():
        path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(InputError, match="--against training.*none of 4 files is a readable image"):
        curate_set(str(place), tmp_path / "report", against=[str(other)])


def test_fail_on_leaks_fails_if_anything_leaks_and_where_nothing_could(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = jpeg(drawn(0)), jpeg(drawn(1))
    leaky = save(tmp_path / "leaky", {"train/a.jpg": one, "test/b.jpg": one})
    sound = save(tmp_path / "sound", {"train/a.jpg": one, "test/b.jpg": other})
    untold = save(tmp_path / "untold", {"train/a.jpg": one, "b.jpg": one})  # a file of no split is on no side
    plain = save(tmp_path / "plain", {"a.jpg": one})

    def code(place: Path, *words: str) -> int:
        return execute(["curate", str(place), "-o", str(tmp_path / "r"), "--fail-on-leaks", "--quiet", *words])

    assert [code(leaky), code(sound), code(untold)] == [1, 0, 0]
    assert [code(sound, "--against", str(plain)), code(plain, "--against", str(sound))] == [1, 1]
    assert code(plain) == 2 and "photos without splits" in capsys.readouterr().err


def test_a_row_that_names_a_file_elsewhere_is_never_followed(tmp_path: Path) -> None:
    secret = save(tmp_path / "private", {"secret.jpg": jpeg(drawn(7))}) / "secret.jpg"
    place = tmp_path / "set"
    save(place, {"pictures/beside.jpg": jpeg(drawn(1))})
    named = (str(secret), "../private/secret.jpg", "pictures/beside.jpg")
    rows = [*({"bytes": None, "path": name} for name in named), {"bytes": jpeg(drawn(2)), "path": str(secret)}, None]
    pq.write_table(pa.table({"image": rows}), tmp_path / "set/rows.parquet")
    audit = curate_set(str(tmp_path / "set/rows.parquet"), tmp_path / "report")
    told = {one.file.name: (one.reason, one.detail) for one in audit.curation.files}
    refused = "names a picture that is not in the dataset"
    assert told == {
        "pictures/beside.jpg": ("", ""),
        "train/000001": ("missing", refused),
        "train/000002": ("missing", refused),
        "train/000004": ("", ""),
        "train/000005": ("missing", "holds no picture"),
    }


@pytest.mark.parametrize(
    ("make", "options", "found"),
    [
        (lambda place: _parquet(place, classes=True), {"label": "dx"}, r"--label: no column 'dx'.*image, finding"),
        (lambda place: _parquet(place, classes=True), {"group": "dx"}, r"--group: no column 'dx'"),
        (release, {"table": Path("t.csv")}, r"--table: .* is a dataset"),
        (lambda place: save(place, {"a.jpg": jpeg(drawn(1))}), {"label": "dx"}, r"--label: .* a folder of images"),
        (lambda place: save(place, {"rows.csv": b"a,b\n1,2\n"}), {}, r"columns a, b, none of which holds pictures"),
        (lambda place: save(place, {"x.parquet": b"PAR1 no"}), {}, r"cannot be read .*a dataset that `datasets`"),
        (lambda place: place / "nowhere", {}, r"nowhere: does not exist"),
    ],
)
def test_what_cannot_be_audited_is_one_clear_error(
    tmp_path: Path, make: Any, options: dict[str, Any], found: str
) -> None:
    with pytest.raises(BedsideError, match=found):
        curate_set(str(make(tmp_path / "set")), tmp_path / "report", **options)
    assert not (tmp_path / "report").exists()


def test_columns_of_a_table_are_named_on_the_command_line(tmp_path: Path) -> None:
    save(tmp_path / "set", {"a.jpg": jpeg(drawn(1)), "b.jpg": jpeg(drawn(2))})
    (tmp_path / "table.csv").write_text("file,dx,lesion_id\na.jpg,nv,1\nb.jpg,mel,2\n")
    photos = photo_set(str(tmp_path / "set"), table=tmp_path / "table.csv", label="dx", group="lesion_id")
    assert [(file.label, file.group) for file in photos.files] == [("nv", "1"), ("mel", "2")]
    with pytest.raises(InputError, match="has no column 'patient'"):
        photo_set(str(tmp_path / "set"), table=tmp_path / "table.csv", group="patient")


def test_usual_columns_are_found_in_any_capitals_and_one_table_has_its_splits_in_a_column(tmp_path: Path) -> None:
    told = {"Split": ["train", None], "Diagnosis": ["acne"] * 2, "Patient ID": ["p1"] * 2, "SOURCE": ["a"] * 2}
    pq.write_table(pa.table({"Image": [PHOTOS["a"][3]] * 2, **told}), tmp_path / "photos.parquet")
    found = photo_set(str(tmp_path / "photos.parquet"))
    assert [(file.split, file.label, file.group, file.source) for file in found.files] == [
        ("train", "acne", "p1", "a")
    ] * 2
    assert found.columns == {
        what: f"column {name}" for what, name in zip(("split", "label", "group", "source"), told, strict=True)
    }
    assert photo_set(str(tmp_path / "photos.parquet"), label="patient_id").columns["label"] == "column Patient ID"


def test_a_release_is_read_by_its_own_corpus(tmp_path: Path) -> None:
    photos = photo_set(str(release(tmp_path / "release")))
    assert [(file.name, file.split) for file in photos.files] == [("p1", "test"), ("p2", "test"), ("p3", "test")]
    assert Image.open(io.BytesIO(photos.files[1].read())).size == (4, 3)
    with pytest.raises(ImageError, match="p1: holds no picture"):
        photos.files[0].read()


def test_a_repository_is_audited_at_its_tag(tmp_path: Path, hub: FaultyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    at_hub(hub, monkeypatch)
    own_caches(tmp_path / "caches", monkeypatch)
    put(hub, "org/skin", _parquet(tmp_path / "first", classes=True))
    HfApi(endpoint=hub.url, token=hub.token).create_tag("org/skin", tag="v1", repo_type="dataset")
    hub.commit("org/skin", {"data/test-00000-of-00001.parquet": None})
    put(hub, "org/folders", _image_folder(tmp_path / "second", metadata=False))
    assert len(photo_set("org/skin@v1").files) == len(PHOTOS) > len(photo_set("org/skin").files)
    audit = curate_set("org/folders", tmp_path / "report", against=["org/skin@v1"])
    assert {leak.boundary for leak in audit.curation.leaks} == {"split", "label"}
    assert len(audit.overlaps) == 6 and all(leak.exact for leak in audit.overlaps)
    with pytest.raises(HubError, match="org/none@v1: does not exist"):
        photo_set("org/none@v1")


@pytest.mark.skipif("AVIF" not in readable(), reason="this Pillow was built without AVIF")
@pytest.mark.parametrize("metadata", [False, True], ids=["folders", "metadata"])
def test_newer_formats_are_read_in_any_layout(tmp_path: Path, metadata: bool) -> None:
    files = {"train": {"a.avif": "AVIF", "b.jp2": "JPEG2000"}, "test": {"copy.jpg": "JPEG"}}
    for split, names in files.items():
        for name, form in names.items():
            buffer = io.BytesIO()
            drawn(1 if name == "b.jp2" else 0).save(buffer, form)
            save(tmp_path / "set" / split, {name if metadata else f"acne/{name}": buffer.getvalue()})
        if metadata:
            lines = [
                json.dumps({"file_name": name, "label": "acne"}) for name in [*names, *["f.jxl"] * (split == "train")]
            ]
            (tmp_path / "set" / split / "metadata.jsonl").write_text("\n".join(lines))
    (tmp_path / "set" / "train" / ("" if metadata else "acne") / "f.jxl").write_bytes(b"\xff\x0a" + bytes(60))
    curation = curate_set(str(tmp_path / "set"), tmp_path / "report").curation
    told = {Path(one.file.name).name: (one.reason, one.detail) for one in curation.files}
    assert told.keys() == {"a.avif", "b.jp2", "copy.jpg", "f.jxl"}
    assert told["f.jxl"][0] == "format_not_read" and "djxl" in told["f.jxl"][1]
    assert not told["a.avif"][0] and not told["b.jp2"][0]
    (leak,) = (leak for leak in curation.leaks if leak.boundary == "split")
    assert {Path(one.file.name).name for one in leak.files} == {"a.avif", "copy.jpg"}


def test_an_empty_name_is_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="an empty name"):
        photo_set("")


def test_an_archive_of_photos_is_to_be_unpacked(tmp_path: Path) -> None:
    """As of Kaggle. `datasets` took the folder that the archive lies in for a class."""
    (tmp_path / "archive.zip").write_bytes(b"PK\x03\x04" + bytes(60))
    with pytest.raises(InputError) as caught:
        photo_set(str(tmp_path / "archive.zip"))
    assert caught.value.do == "Unpack it, and name the folder"
    with pytest.raises(InputError, match="archive.zip: archive not opened: unpack it"):
        curate_set(str(tmp_path), tmp_path / "report")


@pytest.mark.parametrize("folder", ["", "images/"])
@pytest.mark.parametrize("named", [False, True])
def test_an_archive_that_datasets_reads_is_a_data_set(folder: str, named: bool, tmp_path: Path) -> None:
    save(tmp_path / "photos", {"a.png": drawn(1), "b.png": drawn(2)})
    with zipfile.ZipFile(tmp_path / "photos" / "train.zip", "w") as archive:
        for name in ("a.png", "b.png"):
            archive.write(tmp_path / "photos" / name, f"{folder}{name}")
            (tmp_path / "photos" / name).unlink()
        if named:
            archive.writestr(f"{folder}metadata.csv", "file_name,label\na.png,stye\nb.png,acne\n")
    if folder and not named:  # its classes, for all that `datasets` knows
        with pytest.raises(InputError, match="Unpack it"):
            photo_set(str(tmp_path / "photos" / "train.zip"))
        return
    for place in (tmp_path / "photos", tmp_path / "photos" / "train.zip"):
        found = [(file.split, file.label) for file in photo_set(str(place)).files]
        assert found == [("train", "stye" * named), ("train", "acne" * named)]
