"""The classifier from door to folder: trained, killed, resumed, scored, shown; and what it refuses."""

# ruff: noqa: E402 - what needs torch is imported after the check for it
from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

for package in ("torch", "torchvision", "timm", "accelerate", "sklearn"):
    pytest.importorskip(package)

import torch
from safetensors.torch import save_file

from baselines.report.page import write_report
from baselines.results.comparison import read_runs
from baselines.results.published import counterpart
from baselines.results.run import DataUsed, Result, RunRecord, read_run
from baselines.threemdbench.classifier import probe as probing
from baselines.threemdbench.classifier.cues import read_cues
from baselines.threemdbench.classifier.data import SPLITS, from_folder, from_release
from baselines.threemdbench.classifier.network import open_network
from baselines.threemdbench.classifier.pictures import Pictures, answer
from baselines.threemdbench.classifier.scoring import FINE_TUNED, Scoring
from baselines.threemdbench.classifier.stored import StoredAnswers
from baselines.threemdbench.classifier.weights import read_tensors, write_tensors
from loaders.errors import InputError
from loaders.opened import open_data
from loaders.threemdbench import DIAGNOSES, NAMES
from scripts.cli import execute
from scripts.run.classifier.device import accelerator_of
from scripts.run.classifier.training import _callbacks
from scripts.terminal.console import output
from scripts.terminal.progress import Bars
from tests.parts.classified_photos import TINY, noise, noisy, write_photos
from tests.parts.pictures import drawn
from tests.parts.processes import python

SMALL = (*TINY, "--resamples", "100")
LONG = ("--epochs", "3", "--batch-size", "16", "--checkpoint-seconds", "0")


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # processes with other numbers of threads add in another order


def all_rows() -> list[dict[str, Any]]:
    plan = (("train", range(2)), ("validation", range(2, 3)), ("test", range(3, 5)))
    return [noisy(split, label, number) for split, numbers in plan for label in range(34) for number in numbers]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_photos(tmp_path_factory.mktemp("classifier") / "release", all_rows(), "drawn photos")


@pytest.fixture(scope="module")
def undisturbed(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    assert train(release, out, *LONG[:4]) == 0
    return out


def class_folders(folder: Path, splits: dict[str, range], classes: Sequence[str] = ("sore throat", "none")) -> Path:
    """Photos with these numbers of each class, by split."""
    for split, numbers in splits.items():
        for label, name in enumerate(classes):
            for number in numbers:
                photo = folder / split / name / f"{number}.jpg"
                photo.parent.mkdir(parents=True, exist_ok=True)
                photo.write_bytes(noise(label, number))
    return folder


def train(data: Path, out: Path, *options: object) -> int:
    small = SMALL[2:] if "--model" in options else SMALL
    return execute(["run", "classifier", str(data), *small, *map(str, options), "-o", str(out)])


def told(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr()
    return " ".join((said.out + said.err).split())


def by_cell(results: list[Result]) -> dict[tuple[str, str, str], Result]:
    return {(one.table, one.row, one.column): one for one in results}


# ------------------------------------------------------------------------------------------------- stop and go on

APART = """
import json, os, signal, sys
import timm, torch
from accelerate import debug_launcher
from baselines.threemdbench.classifier import training
from scripts.cli import execute

def trained(arguments):
    torch.set_num_threads(1)
    code = execute(arguments)
    assert code == 0, code

def killed(arguments):
    steps, original = [], training.Training._step

    def step(self, images, labels):
        original(self, images, labels)
        steps.append(1)
        if len(steps) == 7:
            os.kill(os.getpid(), signal.SIGKILL)

    training.Training._step = step
    trained(arguments)

alone, together = map(json.loads, sys.argv[1:])
if not (child := os.fork()):
    killed(alone)
    os._exit(0)
print("ended by", -os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
debug_launcher(trained, (together,), num_processes=2)
"""


@dataclass(frozen=True)
class Apart:
    """What two trainings left that ran in processes of their own, which share the seconds that torch takes to import:
    one was killed in its second epoch, the other is of two processes, through accelerate and over gloo, as of several
    GPUs."""

    killed: Path
    together: Path
    said: str


@pytest.fixture(scope="module")
def apart(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Apart:
    folder = tmp_path_factory.mktemp("apart")
    photos = class_folders(folder / "photos", {"train": range(8), "val": range(8, 10), "test": range(10, 12)})
    alone = ["run", "classifier", str(release), *SMALL, *LONG, "-o", str(folder / "killed")]
    together = ["run", "classifier", str(photos), *SMALL, "--epochs", "1", "-o", str(folder / "together")]
    done = python("-c", APART, json.dumps(alone), json.dumps(together), TZ="UTC", OMP_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr[-3000:]
    return Apart(folder / "killed", folder / "together", done.stdout + done.stderr)


def test_a_training_killed_in_an_epoch_ends_with_the_same_bits(
    release: Path, undisturbed: Path, apart: Apart, capsys: pytest.CaptureFixture[str]
) -> None:
    # 68 photos make 4 steps an epoch: dead in the third of the second one, after the weights had changed.
    assert f"ended by {int(signal.SIGKILL)}" in apart.said
    run = apart.killed
    _, facts = read_tensors(run / "training" / "checkpoint.safetensors", do="")
    assert (facts["position"]["epoch"], facts["position"]["step"]) == (1, 2)
    assert not (run / "model.safetensors").exists()
    assert train(release, run, *LONG) == 0
    assert "resuming from epoch 2, step 3" in told(capsys)
    for name in ("model.safetensors", "training/checkpoint.safetensors", "training/best.safetensors", "cues.parquet"):
        assert (run / name).read_bytes() == (undisturbed / name).read_bytes(), name
    assert read_run(run)[0].run_id == read_run(undisturbed)[0].run_id
    # Finished: the same command trains no further and says the same.
    before = (run / "model.safetensors").read_bytes()
    assert train(release, run, *LONG) == 0
    assert "epoch 3 of 3" not in told(capsys)
    assert (run / "model.safetensors").read_bytes() == before


def test_ctrl_c_keeps_the_checkpoint_and_says_how_to_go_on(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From where the training goes on as after a kill, with the same bits."""
    from baselines.threemdbench.classifier import training

    def interrupted(self: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("Ctrl-C was not heard")

    monkeypatch.setattr(training.Training, "_validate", interrupted)
    assert train(release, tmp_path, *LONG) == 130
    assert "run the same command again to resume" in told(capsys)
    _, facts = read_tensors(tmp_path / "training" / "checkpoint.safetensors", do="")
    assert (facts["position"]["epoch"], facts["position"]["step"]) == (0, 3)


def test_a_damaged_checkpoint_and_one_of_another_training_are_refused(
    release: Path, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "training" / "checkpoint.safetensors"
    path.parent.mkdir()
    whole = (undisturbed / "training" / "checkpoint.safetensors").read_bytes()
    for damaged in (whole[:-1000], b""):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match="cannot be read"):
            read_tensors(path, do="")
    path.write_bytes(whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:])
    assert train(release, tmp_path, "--epochs", 3, "--batch-size", 16) == 2
    said = told(capsys)
    assert "differs from its" in said and "--restart starts over" in said and "Traceback" not in said
    path.write_bytes(whole)
    assert train(release, tmp_path, "--epochs", 4, "--batch-size", 16) == 2
    assert "a training with another recipe, epochs: 3" in told(capsys)
    assert train(release, tmp_path, "--epochs", 3, "--batch-size", 16, "--seed", 1) == 2
    said = told(capsys)
    assert "a training with another network, weights: random, seed 0" in said and "{" not in said
    assert train(release, tmp_path, "--epochs", 1, "--batch-size", 16, "--restart") == 0


def test_a_training_that_diverges_is_told_before_its_weights_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = class_folders(tmp_path / "photos", {"train": range(8), "val": range(8, 10), "test": range(10, 12)})
    assert train(photos, tmp_path / "run", "--epochs", 3, "--learning-rate", 1000) == 2
    said = told(capsys)
    assert "outputs for 4 of 4 photos that are not finite" in said and "random:tiny" in said
    assert "Use a smaller --learning-rate, with --restart to start over" in said and "RuntimeWarning" not in said
    assert not list(tmp_path.glob("run/**/model.safetensors")) and not list(tmp_path.glob("run/**/best.*"))
    assert train(photos, tmp_path / "run", "--epochs", 1, "--restart") == 0


def test_a_class_of_test_alone_keeps_its_place_when_a_training_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = class_folders(tmp_path / "photos", {"train": range(4), "val": range(4, 6), "test": range(6, 8)})
    alone = photos / "test" / "zebra" / "0.jpg"
    alone.parent.mkdir()
    alone.write_bytes(noise(2, 0))
    given = (photos, tmp_path / "run", "--epochs", 1, "--allow-untrained")
    assert train(*given) == 0
    alone.parent.rename(photos / "test" / "ant")
    assert train(*given) == 2
    assert "a training with another classes: none, sore throat, zebra" in told(capsys)


def test_two_processes_train_one_network(apart: Apart) -> None:
    record, _ = read_run(apart.together)
    assert record.options["processes"] == 2
    assert apart.said.count("epoch 1 of 1") == 1  # one of them tells


# ----------------------------------------------------------------------------------------------- what it leaves


def test_results_equal_scikit_learn_over_all_34(undisturbed: Path, release: Path) -> None:
    from sklearn.metrics import accuracy_score, f1_score

    record, results = read_run(undisturbed)
    assert record.baseline == "classifier" and record.data.split == "test" and record.stand_in
    assert "random weights" in (record.stand_in or "") and "drawn photos" in (record.stand_in or "")
    opened = open_data(str(release), split="test", default="3mdbench")
    assert record.data.content_digest == opened.content_digest
    cues = read_cues(undisturbed / "cues.parquet", opened.content_digest)
    assert (cues.run_id, cues.model, cues.stand_in) == (record.run_id, "random:tiny", record.stand_in)
    rows = list(opened.rows("image_id", "diagnosis"))
    truth = [one["diagnosis"] for one in rows]
    first = [cues.names[one["image_id"]][0] for one in rows]
    cells = by_cell(results)
    table = "Image classifier"
    for column, value in (
        ("Accuracy", accuracy_score(truth, first)),
        ("Macro F1", f1_score(truth, first, labels=NAMES, average="macro", zero_division=0)),
        ("Weighted F1", f1_score(truth, first, labels=NAMES, average="weighted", zero_division=0)),
    ):
        cell = cells[table, "random:tiny", column]
        assert cell.value == pytest.approx(100 * value) and cell.ci95 and cell.ci95[0] <= cell.value <= cell.ci95[1]
    in_top = np.mean([one["diagnosis"] in cues.names[one["image_id"]] for one in rows])
    assert cells[table, "random:tiny", "Top-3"].value == pytest.approx(100 * in_top)
    assert cells["Table 8", "random:tiny", "Macro F1"].value == cells[table, "random:tiny", "Macro F1"].value
    majority = cells[table, "Majority class", "Macro F1"]
    assert majority.value == pytest.approx(100 / 34 * 2 * 2 / (2 + 68))
    by_class = [one for one in results if one.table == "Image classifier by diagnosis"]
    assert [one.row for one in by_class] == list(NAMES)
    assert np.mean([one.value for one in by_class if one.value is not None]) == pytest.approx(
        cells[table, "random:tiny", "Macro F1"].value
    )


def test_the_model_file_holds_the_weights_that_answered(undisturbed: Path, release: Path) -> None:
    """Opened in a fresh network it ranks as the cues say: the best epoch's weights, not the last one's."""
    tensors, facts = read_tensors(undisturbed / "model.safetensors", do="")
    best, _ = read_tensors(undisturbed / "training" / "best.safetensors", do="")
    assert all(torch.equal(tensors[name], best[name]) for name in best) and facts["classes"] == list(NAMES)
    labelled = from_release({split: open_data(str(release), split=split, default="3mdbench") for split in SPLITS})
    photos = labelled.splits["test"]
    cues = read_cues(undisturbed / "cues.parquet", labelled.digests["test"])
    for photo, logits in zip(photos, answered(undisturbed / "model.safetensors", photos, 34, facts), strict=True):
        named = [logits[NAMES.index(name)] for name in cues.names[photo.key]]
        # Two diagnoses may be equal but for rounding, which depends on how busy the processors are.
        assert named == pytest.approx(np.sort(logits)[::-1][:3], abs=1e-5)


def test_complaints_that_stand_in_make_no_stand_in_of_a_classifier(release: Path) -> None:
    """It reads none. What is wrong with the photos stays."""
    complaints = "the complaints were authored without seeing the photos, and no clinician has reviewed them"
    opened = {split: open_data(str(release), split=split, default="3mdbench") for split in SPLITS}
    for told, kept in ((complaints, None), (f"drawn photos; {complaints}", "drawn photos")):
        parts = {split: replace(part, stand_in=told) for split, part in opened.items()}
        assert from_release(parts).stand_in == kept


def answered(weights: Path, photos: Any, classes: int, facts: Any, precision: str = "fp32") -> Any:
    network = open_network("random:tiny", classes=classes, size=16, test_size=16, weights=weights)
    assert list(network.input.mean) == facts["input"]["mean"]
    module = network.module.to(memory_format=torch.channels_last).eval()  # else rounding differs
    # A plain Accelerator would take over the precision of whatever ran before it in this process.
    return answer(module, Pictures(photos, 16), network.input, accelerator_of("cpu", precision))


def test_the_report_shows_it(undisturbed: Path, tmp_path: Path) -> None:
    page = write_report(read_runs([undisturbed]), tmp_path / "report.html").read_text()
    for text in ("Image classifiers", "Majority class", "temperature scaling", "another domain", "Stand-in"):
        assert text in page, text
    assert page.count("<script") == 2  # the page's own, one for the first frame
    counts = json.loads((undisturbed / "classifier.json").read_text())["confusions"]
    assert [one["domain"] for one in counts] == list(dict.fromkeys(one.domain for one in DIAGNOSES))
    assert sum(sum(sum(line) for line in one["counts"]) for one in counts) == 68


def test_the_papers_networks_are_shown_beside_its_numbers(release: Path) -> None:
    splits = {split: open_data(str(release), split=split, default="3mdbench") for split in SPLITS}
    labelled = from_release(splits)
    truth = [photo.label for photo in labelled.splits["test"]]
    logits, row = np.eye(34)[truth] * 5, "EfficientNetV2-XL"
    answers = StoredAnswers.of(labelled, logits, [True] * 68, 1.0, train_labels=truth, row=row, setting=FINE_TUNED)
    record = RunRecord(baseline="classifier", data=DataUsed("3mdbench", "test", None, "d" * 64))
    results, _ = Scoring(answers=answers, record=record, resamples=10).scored()
    beside = {one.table: counterpart(one) for one in results if one.row == "EfficientNetV2-XL"}
    assert (found := beside["Table 8"]) is not None and found.value == 64
    assert beside["Table 5"] is None  # 68 cases are not the paper's 2,996
    assert all(one.value == 100 for one in results if one.row == "EfficientNetV2-XL" and one.column == "F1")


def test_the_probe_learns_colours_and_remembers_embeddings(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probing, "STRENGTHS", (0.01, 0.1))
    cache = ("--cache", tmp_path / "cache")
    assert train(release, tmp_path / "one", "--probe", *cache) == 0
    first = (tmp_path / "one" / "results.jsonl").read_bytes()
    encoded = []
    original = probing.embed
    monkeypatch.setattr(
        probing, "embed", lambda *given, **named: encoded.append(original(*given, **named)) or encoded[0]
    )
    assert train(release, tmp_path / "two", "--probe", *cache) == 0
    assert encoded[0].encoded == 0
    assert (tmp_path / "two" / "results.jsonl").read_bytes() == first
    _, results = read_run(tmp_path / "one")
    cells = by_cell(results)
    lead = cells["Image classifier", "random:tiny", "Macro F1, lead over majority"]
    assert lead.ci95 is not None and lead.ci95[0] > 0
    assert (tmp_path / "one" / "cues.parquet").exists()


# ------------------------------------------------------------------------------------------------------ bad input


def test_what_cannot_be_trained_on(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [one for one in all_rows() if one["diagnosis"] in NAMES[:3]]
    cases = {
        "without train split": [one for one in rows if one["split"] != "train"],
        "without a training photo: eczema": [one for one in rows if one["image_id"][:8] != "train-00"],
        "one of the 34": [rows[0] | {"diagnosis": "measles", "image_id": "odd"}, *rows],
    }
    for number, (message, given) in enumerate(cases.items()):
        data = write_photos(tmp_path / f"release-{number}", given)
        assert train(data, tmp_path / "run") == 2
        said = told(capsys)
        assert message in said and "Traceback" not in said
    assert train(tmp_path, tmp_path / "run") == 2
    assert "no folder train" in told(capsys)
    assert train(release, tmp_path / "run", "--model", "tf_efficientnetv2_xs") == 2
    assert "Did you mean: " in told(capsys)
    assert train(release, tmp_path / "run", "--weights", "weights.bin") == 2
    assert "weights without embedded code" in told(capsys)
    assert train(release, tmp_path / "run", "--precision", "fp8") == 2
    assert "expected auto or fp32 or bf16" in told(capsys)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--probe", "--epochs", 3), "--epochs found --probe"),
        (("--probe", "--precision", "bf16"), "--precision found --probe"),
        (("--probe", "--workers", 0), "--workers found --probe"),
        (("--cache", "elsewhere"), "--cache found no --probe"),
        (("--split", "train"), "--split found no --predict"),
        (("--probe", "--model", "BiomedCLIP", "--weights", "own.safetensors"), "--weights found own.safetensors"),
        (("--probe", "--model", "BiomedCLIP"), "--size found 16"),  # of `SMALL`
    ],
)
def test_an_option_that_nothing_would_heed_is_refused(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[object, ...], said: str
) -> None:
    assert train(release, tmp_path / "run", *options) == 2
    assert said in told(capsys)


def test_of_a_folder_no_training_photo_is_dropped(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for split in ("train", "validation", "test"):
        for at, label in enumerate(("a", "b")):
            (tmp_path / split / label).mkdir(parents=True)
            drawn(len(split) + 100 * at).save(tmp_path / split / label / "one.png")
    assert train(tmp_path, tmp_path / "run", "--drop-trained") == 2
    assert "--drop-trained found a folder of class folders" in told(capsys)


def test_what_cannot_be_sliced_is_told_before_the_training(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = class_folders(
        tmp_path / "photos", {"train": range(2), "val": range(2, 4), "test": range(4, 6)}, ("a", "b")
    )
    cases = ((release, "sxe", "no column 'sxe'"), (release, "sex", "told of no case"), (folders, "sex", "no release"))
    for data, column, message in cases:
        assert train(data, tmp_path / "run", "--slice", column) == 2
        assert message in told(capsys) and not (tmp_path / "run").exists()


def test_weights_that_are_not_here_name_the_way(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    assert train(release, tmp_path / "run", "--model", "resnet10t.c3_in1k") == 2
    said = told(capsys)
    assert "hf download timm/resnet10t.c3_in1k" in said and "--weights FILE.safetensors" in said


def test_a_class_whose_training_photos_are_all_broken_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    splits = {"train": range(2), "val": range(2, 4), "test": range(4, 6)}
    photos = class_folders(tmp_path / "photos", splits, ("sore throat", "none", "broken"))
    for number in range(2):
        (photos / "train" / "broken" / f"{number}.jpg").write_bytes(b"torn %d" % number)
    assert train(photos, tmp_path / "run", "--epochs", 1) == 2
    assert "photos of 1 class without a training photo: broken" in told(capsys)
    assert train(photos, tmp_path / "run", "--epochs", 1, "--allow-untrained") == 0


def test_class_folders_with_a_broken_photo_bf16_and_own_weights(
    undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    photos = class_folders(tmp_path / "photos", {"train": range(8), "val": range(8, 12), "test": range(12, 20)})
    (photos / "train" / "none" / "0.jpg").write_bytes(b"")
    (photos / "test" / "none" / "12.jpg").write_bytes(noise(1, 12)[:200])
    out = tmp_path / "run"
    given = ("--epochs", 2, "--precision", "bf16", "--weights", undisturbed / "model.safetensors")
    assert train(photos, out, *given) == 0
    said = told(capsys)
    assert "train: 1 photo could not be decoded" in said and "test: 1 photo could not be decoded" in said
    record, results = read_run(out)
    assert record.stand_in is None and record.options["unreadable"] == {"train": 1, "validation": 0, "test": 1}
    assert {one.paper for one in results} == {"Own photos"} and {one.n for one in results if one.row != "none"} <= {
        16,
        15,
        8,
    }
    assert execute(["rescore", str(out), "-o", str(tmp_path / "again")]) == 0
    assert [one.as_row() for one in read_run(tmp_path / "again")[1]] == [one.as_row() for one in results]
    assert (tmp_path / "again" / "classifier.json").read_bytes() == (out / "classifier.json").read_bytes()
    assert not (out / "cues.parquet").exists()
    content = json.loads((out / "classifier.json").read_text())
    _, facts = read_tensors(out / "model.safetensors", do="")
    readable = [one for one in from_folder(photos).splits["test"] if one.key != "test/none/12.jpg"]
    first = answered(out / "model.safetensors", readable, 2, facts, "bf16").argmax(axis=1)
    right = sum(int(one.label == given) for one, given in zip(readable, first, strict=True))
    assert right == sum(content["confusions"][0]["counts"][at][at] for at in range(2))
    assert sum(line[-1] for line in content["confusions"][0]["counts"]) == 1  # the broken one: no answer
    write_report(read_runs([out]), tmp_path / "report.html")
    (photos / "test" / "none" / "copy.jpg").write_bytes(noise(1, 3))
    assert train(photos, tmp_path / "leaking", "--epochs", 1) == 2
    assert "the same bytes as" in told(capsys)


@pytest.mark.parametrize(
    "said", ["[]", "1", '{"format": "classifier 1"}', '{"format": "classifier 1", "facts": {}}', "["]
)
def test_a_checkpoint_that_says_something_else_is_one_error(said: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    save_file({"w": torch.zeros(1)}, path, {"bedside": said})
    with pytest.raises(InputError, match=r"x\.safetensors"):
        read_tensors(path, do="")


def test_tensors_are_written_to_any_folder(tmp_path: Path) -> None:
    """One of a name that libraries of another language refuse: hours of training came to this."""
    path = tmp_path / os.fsdecode(b"caf\xe9") / "x.safetensors"
    write_tensors(path, {"w": torch.ones(2)}, {"epoch": 1})
    tensors, facts = read_tensors(path, do="")
    assert tensors["w"].tolist() == [1.0, 1.0] and facts == {"epoch": 1}


def test_a_pipe_is_no_checkpoint(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.safetensors")
    with pytest.raises(InputError, match="is not a regular file"):
        read_tensors(tmp_path / "x.safetensors", do="")


def test_a_training_tells_nothing_with_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for quiet in (False, True):
        monkeypatch.setattr(output, "quiet", quiet)
        _callbacks(Bars(), 2, quiet=False).resumed(0, 1)
        assert bool(capsys.readouterr().err) is not quiet
