"""`bedside run classifier --predict`: a network answers about other data, and never about what it was trained on."""

# ruff: noqa: E402 - what needs torch is imported after the check for it
from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageOps

for package in ("torch", "torchvision", "timm", "accelerate", "cv2"):
    pytest.importorskip(package)

import torch

from baselines.report.page import write_report
from baselines.results.comparison import read_runs
from baselines.results.run import read_run, write_run
from baselines.threemdbench.classifier.cues import Cues, read_cues
from baselines.threemdbench.classifier.weights import read_tensors, read_weights, write_tensors, write_weights
from loaders.models.encoders_torch import state_digest
from loaders.opened import open_data
from loaders.threemdbench import CORPUS, NAMES
from scripts.cli import execute
from tests.parts.classified_photos import TINY, row, write_photos
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches, put
from tests.parts.pictures import drawn, jpeg, save

CLASSES = ("stye", "acne", "warts", "eczema")
SAID = {
    "general_complaint": "It hurts.", "general_complaint_source": "written", "complaints": ["It is red."],
    "complaints_source": "written", "complaints_status": "authored", "personality": "sanguine",
}  # fmt: skip


def photo(seed: int) -> Image.Image:
    return drawn(seed, (160, 120))


def disguised(seed: int) -> bytes:
    """A copy that shares no byte with the picture: mirrored, smaller, in another quality."""
    return jpeg(ImageOps.mirror(photo(seed)).resize((130, 98)), 70)


def case(split: str, name: str, label: int, picture: bytes, **more: Any) -> dict[str, Any]:
    """A photo of one of the four classes, with what a consultation needs in test."""
    said = SAID if split == "test" else {}
    return row(split, name, NAMES.index(CLASSES[label % len(CLASSES)]), picture, **said | more)


def photos(split: str, start: int, count: int) -> list[dict[str, Any]]:
    """Those of training are of patients that their publisher names."""
    known = [{"group_id": f"clinic:{at}"} if split == "train" else {} for at in range(count)]
    return [case(split, f"{split}-{at}", at, jpeg(photo(start + at)), **more) for at, more in enumerate(known)]


class Made:
    """Release A, a run of it, and release B: of its nine photos b-6 is a training photo, b-7 one of validation, and b-8
    another photo of a patient of training; b-1 and b-2 are of groups of another name, or publisher."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.a, self.run, self.b = folder, folder / "a", folder / "run", folder / "b"
        write_photos(self.a, photos("train", 0, 8) + photos("validation", 20, 4) + photos("test", 30, 4))
        assert execute(["run", "classifier", str(self.a), *TRAINED, *SHORT, "-o", str(self.run)]) == 0
        groups = {1: "clinic:99", 2: "other:3"}
        others = [case("test", f"b-{at}", at, jpeg(photo(50 + at)), group_id=groups.get(at)) for at in range(5)]
        broken = case("test", "b-5", 5, jpeg(photo(55))[:300])
        planted = [case("test", "b-6", 6, disguised(1)), case("test", "b-7", 7, jpeg(photo(22)))]
        planted.append(case("test", "b-8", 8, jpeg(photo(58)), group_id="clinic:3"))
        write_photos(self.b, [*others, broken, *planted])


SHORT = ("--device", "cpu", "--resamples", "20")
TRAINED = (*TINY[:6], "--epochs", "1", "--batch-size", "8")
WITHOUT = ("b-5", "b-6", "b-7", "b-8")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # several wait for each other longer than such a network takes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("predict"))


def predict(made: Made, data: object, out: Path, *options: object) -> int:
    given = ["--predict", "--weights", made.run, "--trained-on", made.a, *SHORT, *options, "-o", out]
    return execute(["run", "classifier", str(data), *map(str, given)])


def told(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def cues_of(out: Path, data: Path, split: str = "test") -> Cues:
    return read_cues(out / "cues.parquet", open_data(str(data), split=split, default="3mdbench").content_digest)


# --- Another release --------------------------------------------------------------------------------------------------


def test_training_photos_in_disguise_and_patients_of_training_are_named_and_then_left_out(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert predict(made, made.b, tmp_path) == 2
    said = told(capsys)
    assert (
        "3 of 9 photos" in said and "b-6: train-1 (copy: mirrored" in said and "b-7: validation-2 (same bytes)" in said
    )
    assert "b-8: train-3 (another photo of its patient" in said
    assert "--drop-trained" in said and not (tmp_path / "cues.parquet").exists()
    listed = json.loads((tmp_path / "training_photos.json").read_text())
    assert [(one["file"], one["other"]) for one in listed["pairs"]] == [
        ("b-6", "train-1"), ("b-7", "validation-2"), ("b-8", "train-3"),
    ]  # fmt: skip

    assert predict(made, made.b, tmp_path, "--drop-trained") == 0
    said = told(capsys)
    assert "9 photos compared with 12 training and validation photos; already seen: 3, left out" in said
    assert "test: 1 photo could not be decoded" in said
    record, results = read_run(tmp_path)
    assert record.options["training photos"]["found and left out"] == list(WITHOUT[1:])
    assert record.options["answered by"] == read_run(made.run)[0].run_id
    assert record.data.content_digest == open_data(str(made.b), split="test", default="3mdbench").content_digest
    (macro,) = [one for one in results if (one.table, one.row) == ("Table 8", "random:tiny")]
    assert macro.n == 6 and {one.n for one in results if one.column == "Top-3"} == {6}
    cues = cues_of(tmp_path, made.b)
    assert sorted(cues.names) == [f"b-{at}" for at in range(5)]
    assert sorted(cues.more.without) == list(WITHOUT)
    assert "trained or selected on train-1 (copy: mirrored" in cues.more.without["b-6"]
    assert cues.more.search is not None and (cues.more.search.photos, cues.more.search.found) == (12, 3)
    assert cues.more.search.trained_on == record.options["trained on"]
    again = tmp_path / "again"
    assert execute(["rescore", str(tmp_path), "-o", str(again)]) == 0
    assert [one.as_row() for one in read_run(again)[1]] == [one.as_row() for one in results]
    write_report(read_runs([tmp_path]), tmp_path / "report.html")
    _consulted(made, tmp_path, capsys)


def _consulted(made: Made, out: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The cases without cues are not played, by name and with their reason."""
    people = ("--doctor", "scripted/keyword-cues", "--patient", "scripted/patient", "--assessor", "scripted/assessor")
    given = ("--setting", "dialogue+image+rationale+cues", "--cues", out / "cues.parquet", "--bare", "-o", out / "talk")
    capsys.readouterr()
    assert execute(["run", "consultation", str(made.b), *people, *map(str, given)]) == 0
    said = told(capsys)
    assert "3 cases have no cues and are not played: b-6, b-7, b-8" in said and "bedside contrast" in said
    assert "not played: b-6: no cues: the network was trained or selected on train-1 (copy: mirrored" in said
    record, _ = read_run(out / "talk")
    assert record.options["cases"] == 5 and record.options["unplayable"] == 4
    assert record.options["cues"]["no cues for"] == list(WITHOUT[1:])
    assert record.options["cues"]["training photos"]["found"] == 3


def test_its_own_release_needs_no_name_and_has_the_same_cues(made: Made, tmp_path: Path) -> None:
    """The same network on the same photos says the same; --split all answers about what it has not seen."""
    given = ["run", "classifier", str(made.a), "--predict", "--weights", str(made.run), *SHORT]
    given += ["--slice", "diagnosis"]
    assert execute([*given, "--split", "all", "--drop-trained", "-o", str(tmp_path / "all")]) == 0
    assert (tmp_path / "all" / "slices.json").exists()
    assert cues_of(tmp_path / "all", made.a).names == cues_of(made.run, made.a).names
    for split in ("test", "train"):
        cues = cues_of(tmp_path / "all", made.a, split)
        assert sorted(cues.names) == [f"test-{at}" for at in range(4)]
    assert len(cues.more.without) == 12
    assert read_run(tmp_path / "all")[0].data.split == "train+validation+test"


def test_the_authors_set_and_a_run_of_the_hub(
    made: Made, tmp_path: Path, hub: FaultyHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`official` in one line; a run of a repository says itself where its training photos lie."""
    own_caches(tmp_path, monkeypatch)
    at_hub(hub, monkeypatch)
    put(hub, "org/photos", made.a)
    run = tmp_path / "hub-run"
    assert execute(["run", "classifier", "org/photos", *TRAINED, *SHORT, "-o", str(run)]) == 0
    pictures = [jpeg(photo(70)), disguised(3), jpeg(photo(71))]
    table = pa.table(
        {
            "image": [{"bytes": one, "path": None} for one in pictures],
            "diagnosis": ["Hordeolum", "acne", "warts"],
            "general_complaint": ["It hurts."] * 3,
            "complaints": ["- It is red."] * 3,
            "personality": ["sanguine"] * 3,
        }
    )
    path = tmp_path / "official" / "data" / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(table, path)
    put(hub, str(CORPUS.official_repo), tmp_path / "official")
    monkeypatch.setitem(CORPUS.official_rows, "test", 3)
    given = ["run", "classifier", "official", "--predict", "--weights", str(run), *SHORT, "-o", str(tmp_path / "out")]
    assert execute([*given, "--drop-trained"]) == 0
    assert "3mdbench_test_000002: train-3 (copy: mirrored" in told(capsys)
    opened = open_data("official", split="test", default="3mdbench")
    cues = read_cues(tmp_path / "out" / "cues.parquet", opened.content_digest)
    assert sorted(cues.names) == ["3mdbench_test_000001", "3mdbench_test_000003"]
    record, results = read_run(tmp_path / "out")
    assert record.data.repository == f"{hub.url}/datasets/{CORPUS.official_repo}" and record.data.pinned
    assert {one.table for one in results} >= {"Table 8", "Image classifier"}


# --- Folders ----------------------------------------------------------------------------------------------------------


def test_folders_with_labels_and_without(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = {f"{name}/{at}.jpg": photo(80 + at) for at, name in enumerate(("hordeolum", "Acne", "wart", "Eczema"))}
    labelled = save(tmp_path / "labelled", pictures)
    (labelled / "about.txt").write_text("no photo")
    (labelled / "more.zip").write_bytes(b"PK\x03\x04")
    assert predict(made, labelled, tmp_path / "one") == 0
    assert "1 file is not an image, by its name" in told(capsys)
    record, results = read_run(tmp_path / "one")
    assert {one.paper for one in results} == {"Own photos"} and record.data.split == "all"
    assert {one.n for one in results if one.column == "Top-3"} == {4}
    cues = read_cues(tmp_path / "one" / "cues.parquet", record.data.content_digest)
    assert sorted(cues.names) == sorted(pictures)

    save(labelled, {"measles/9.jpg": photo(99)})
    assert predict(made, labelled, tmp_path / "two") == 2
    assert "1 photo called measles" in told(capsys)

    plain = save(tmp_path / "plain", {f"2024/{at}.jpg": photo(90 + at) for at in range(3)} | {"2024/x.jpg": b"no"})
    assert predict(made, plain, tmp_path / "three") == 0
    assert "2024: not a class of the network" in told(capsys)
    (only,) = read_run(tmp_path / "three")[1]
    assert (only.column, only.value, only.numerator, only.denominator) == ("Photos answered about", 75, 3, 4)
    cues = read_cues(tmp_path / "three" / "cues.parquet", only.record.data.content_digest if only.record else "")
    assert sorted(cues.names) == [f"2024/{at}.jpg" for at in range(3)]
    assert all(set(names) <= set(NAMES) for names in cues.names.values())
    write_report(read_runs([tmp_path / "three"]), tmp_path / "report.html")
    assert execute(["rescore", str(tmp_path / "three"), "-o", str(tmp_path / "again")]) == 2
    assert "photos without labels" in told(capsys)


def test_training_curating_and_predicting_read_one_folder_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Photos by clinic in each split: the class is the innermost folder, also with the clusters of `bedside curate`."""
    names = [(split, clinic, name) for split in ("train", "validation", "test") for clinic in "ab" for name in "xy"]
    pictures = {f"{'/'.join(one)}/{at}.jpg": photo(200 + 3 * n + at) for n, one in enumerate(names) for at in range(3)}
    folder = save(tmp_path / "photos", pictures)
    train = ["run", "classifier", str(folder), *TRAINED, *SHORT]
    assert execute([*train, "-o", str(tmp_path / "run")]) == 0
    assert read_weights(tmp_path / "run")[0].classes == ("x", "y")
    given = ["run", "classifier", str(folder), "--predict", "--weights", str(tmp_path / "run"), *SHORT]
    capsys.readouterr()
    assert execute([*given, "-o", str(tmp_path / "again")]) == 0
    assert "not a class of the network" not in told(capsys)
    first, again = ({one.row: one.n for one in read_run(tmp_path / run)[1]} for run in ("run", "again"))
    assert first == again and {"x", "y"} <= first.keys()

    assert execute(["curate", str(folder), "-o", str(tmp_path / "report"), "--workers", "1"]) == 0
    clusters = ["--clusters", str(tmp_path / "report" / "photos.parquet")]
    capsys.readouterr()
    assert execute([*train, *clusters, "-o", str(tmp_path / "clustered")]) == 0
    assert "(test, train, validation) are not kept" in told(capsys)
    assert read_weights(tmp_path / "clustered")[0].classes == ("x", "y")


# --- What cannot be ---------------------------------------------------------------------------------------------------


def test_what_cannot_be_predicted(made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    never = made.folder / "never"
    cases: list[tuple[list[object], str]] = [
        ([made.b, "--predict"], "--weights RUN"),
        ([made.b, "--predict", "--weights", made.run, "--epochs", 3], "--epochs found a training option"),
        ([made.b, "--predict", "--weights", made.run], "--trained-on DATA"),
        ([made.b, "--predict", "--weights", made.run, "--trained-on", made.b], "without train split"),
        ([made.b, "--predict", "--weights", made.b], "no run.json"),
        ([made.b, "--predict", "--weights", made.run, "--split", "none"], "no split 'none'"),
    ]
    for given, said in cases:
        assert execute(["run", "classifier", *map(str, given), *SHORT, "-o", str(never)]) == 2
        assert said in told(capsys), given
    assert not never.exists()
    other = write_photos(tmp_path / "other", photos("train", 0, 7) + photos("validation", 20, 4))
    given = ["run", "classifier", str(made.b), "--predict", "--weights", str(made.run), "--trained-on", str(other)]
    assert execute([*given, *SHORT, "-o", str(never)]) == 2
    assert f"those that {made.run} was trained on" in told(capsys)
    unseen = [case("test", "x", 0, jpeg(photo(120)), diagnosis="chalazion", domain="ophthalmology")]
    assert predict(made, write_photos(tmp_path / "unseen", unseen), never) == 2
    assert "class without a training photo" in told(capsys)


def test_weights_that_are_not_the_runs_are_refused(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("run.json", "results.jsonl", "results.csv", "answers.json"):
        (run / name).write_bytes((made.run / name).read_bytes())
    given = ["run", "classifier", str(made.b), "--predict", "--weights", str(run), *SHORT, "-o", str(tmp_path / "out")]
    assert execute(given) == 2
    assert "no model.safetensors" in told(capsys)
    tensors, facts = read_tensors(made.run / "model.safetensors", do="")
    name = next(iter(tensors))
    for changed, about, said in (
        ({name: tensors[name] + 1}, facts, "weights that do not match its record"),
        ({}, facts | {"classes": [*facts["classes"], "x"]}, "its weights do not match"),
        ({}, facts | {"temperature": "hot"}, "temperature"),
    ):
        write_tensors(run / "model.safetensors", {**tensors, **changed}, about)
        assert execute(given) == 2
        assert said in told(capsys)


def test_a_network_whose_outputs_are_not_finite_is_named(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    about, network = read_weights(made.run)
    for tensor in network.module.parameters():
        tensor.data.fill_(float("nan"))
    record, results = read_run(made.run)
    options = {**record.options, "trained weights": state_digest(network.module)}
    record = replace(record, options=options)
    write_run(run, record, [replace(one, record=record) for one in results])
    write_weights(run, network.module, about)
    shutil.copy(made.run / "answers.json", run)
    given = ["run", "classifier", str(made.b), "--predict", "--weights", str(run), "--trained-on", str(made.a), *SHORT]
    assert execute([*given, "--drop-trained", "-o", str(tmp_path / "out")]) == 2
    said = told(capsys)
    assert f"{run} found outputs for 5 of 5 photos that are not finite" in said and "smaller --learning-rate" in said
    assert not (tmp_path / "out" / "cues.parquet").exists()


def test_a_training_looks_for_its_own_photos_among_the_cases_before_it_writes_cues(
    tmp_path: Path, made: Made, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = [*photos("test", 30, 4), case("test", "copy", 1, disguised(1))]
    leaky = write_photos(tmp_path / "leaky", photos("train", 0, 8) + photos("validation", 20, 4) + tests)
    given = ["run", "classifier", str(leaky), *TRAINED, *SHORT, "-o", str(tmp_path / "run")]
    assert execute(given) == 2
    said = told(capsys)
    assert (
        "1 of 5 photos show pictures or patients that the network was trained or selected on: copy: train-1 (copy: "
        "mirrored" in said
    )
    assert "--drop-trained" in said and not (tmp_path / "run" / "cues.parquet").exists()
    assert execute([*given, "--drop-trained"]) == 0
    found = cues_of(tmp_path / "run", leaky)
    assert found.more.search and (found.more.search.photos, found.more.search.found) == (12, 1)
    assert "copy" not in found.names and "train-1" in found.more.without["copy"] and len(found.names) == 4
    record, results = read_run(tmp_path / "run")
    assert record.options["training photos"]["found and left out"] == ["copy"]
    assert max(one.n for one in results if one.n) == 4
    clean = cues_of(made.run, made.a).more.search
    assert clean and (clean.photos, clean.found) == (12, 0)
