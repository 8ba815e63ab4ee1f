"""Parts of the classifier on inputs that one can check by hand: cues, sampling, schedule, views, calibration."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

pytest.importorskip("timm")

import torch
from torch.utils.data import DataLoader

from baselines.report.classifier import CONTENT, sections
from baselines.results.comparison import FinishedRun
from baselines.results.run import DataUsed, RunRecord
from baselines.statistics.significance import wilson_interval
from baselines.threemdbench.classifier.calibration import bins, bootstrap_ece, fit_temperature, log_loss, probabilities
from baselines.threemdbench.classifier.cues import More, Search, read_cues, write_cues
from baselines.threemdbench.classifier.data import UNKNOWN, Classes, Labelled, Photo, from_folder
from baselines.threemdbench.classifier.network import Input, open_network
from baselines.threemdbench.classifier.pictures import Pictures, TrainViews
from baselines.threemdbench.classifier.probe import open_backbone
from baselines.threemdbench.classifier.recipe import Recipe, epoch_order
from baselines.threemdbench.classifier.scoring import BY_CLASS, TABLE, Scoring
from baselines.threemdbench.classifier.stored import StoredAnswers
from baselines.threemdbench.classifier.training import Training, _groups
from builders.curation.photo_sets import photo_set
from loaders.errors import InputError, ModelError
from loaders.threemdbench import NAMES
from scripts.run.classifier.device import accelerator_of
from scripts.run.classifier.ending import _scored
from scripts.run.classifier.options import Classifying
from scripts.run.classifier.training import _recipe
from scripts.terminal.photos import labelled_photos
from tests.parts.pictures import drawn, jpeg


def picture(seed: int, size: tuple[int, int] = (40, 30)) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def picture_bytes(seed: int) -> bytes:
    file = io.BytesIO()
    picture(seed).save(file, "PNG")
    return file.getvalue()


def photos(count: int) -> list[Photo]:
    return [Photo(f"p{number}", number % 2, f"g{number}", partial(picture_bytes, number)) for number in range(count)]


# ----------------------------------------------------------------------------------------------------------- cues


def test_cues_come_back_in_order_and_are_the_same_bytes(tmp_path: Path) -> None:
    names = {"b": NAMES[3:0:-1], "a": NAMES[:3]}
    about = {"content_digest": "d" * 64, "model": "m", "run_id": "r", "stand_in": "drawn"}
    write_cues(tmp_path / "one.parquet", names, **about)
    write_cues(tmp_path / "two.parquet", dict(reversed(names.items())), **about)
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()
    cues = read_cues(tmp_path / "one.parquet", "d" * 64)
    assert cues.names == {case: tuple(given) for case, given in names.items()}
    assert (cues.model, cues.run_id, cues.stand_in) == ("m", "r", "drawn")


def test_cues_say_which_cases_have_none_and_whether_training_photos_were_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "cues.parquet"
    more = More({"train": "a" * 64, "test": "b" * 64}, {"x": "a training photo"}, Search({"train": "c"}, 12, 1))
    write_cues(path, {"a": NAMES[:3]}, content_digest="d" * 64, model="m", run_id="r", more=more)
    for digest in ("d", "a", "b"):  # all splits, or one of them
        assert read_cues(path, digest * 64).more == more
    with pytest.raises(InputError, match="cues for rows with content digest"):
        read_cues(path, "c" * 64)
    table = pq.read_table(path)
    odd = table.replace_schema_metadata({**table.schema.metadata, b"bedside.more": b'{"without": 1}'})
    pq.write_table(odd, path)
    with pytest.raises(InputError, match="cannot be read"):
        read_cues(path, "d" * 64)
    before = read_cues(Path(__file__).parents[2] / "written_before" / "cues.parquet", "d" * 64)
    assert before.more == More() and before.names["one"] == NAMES[:3]


# --------------------------------------------------------------------------------------------------------- classes


def test_classes_are_diagnoses_by_any_of_their_names() -> None:
    classes = Classes.of(("Pink Eye", "hordeolum"))
    assert classes.diagnoses and [classes.names[at] for at in classes.places] == ["conjunctivitis", "stye"]
    assert classes.label("STYE") == classes.places[1] and classes.label("measles") is None
    spread = classes.spread(np.array([[1.0, 3.0], [2.0, -2.0]]))
    assert spread.shape == (2, 34)
    assert [NAMES[at] for at in spread.argmax(axis=1)] == ["stye", "conjunctivitis"]
    assert np.allclose(probabilities(spread)[:, list(classes.places)], probabilities(np.array([[1.0, 3], [2, -2]])))
    own = Classes.of(("none", "Sore throat"))
    assert not own.diagnoses and own.label(" sore throat") == 1 and own.label("stye") is None
    with pytest.raises(InputError, match="which are one diagnosis"):
        Classes.of(("stye", "hordeolum"))


def test_cues_of_another_release_and_what_are_no_cues(tmp_path: Path) -> None:
    path = tmp_path / "cues.parquet"
    about = {"content_digest": "d" * 64, "model": "m", "run_id": "r"}
    write_cues(path, {"a": NAMES[:3]}, **about)
    with pytest.raises(InputError, match="cues for rows with content digest dddd"):
        read_cues(path, "e" * 64)
    with pytest.raises(InputError, match="does not exist"):
        read_cues(tmp_path / "none.parquet", "d" * 64)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="not a complete Parquet file"):
        read_cues(path, "d" * 64)
    for names in (NAMES[:2], [*NAMES[:2], NAMES[0]], [*NAMES[:2], "measles"]):
        write_cues(path, {"a": names}, **about)
        with pytest.raises(InputError, match="distinct diagnoses"):
            read_cues(path, "d" * 64)


# ------------------------------------------------------------------------------------------------- sampling and views


@settings(max_examples=25)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=60), st.integers(0, 5))
def test_an_epoch_takes_each_photo_as_often_as_its_share_says(labels: list[int], epoch: int) -> None:
    order = epoch_order(labels, Recipe(), epoch)
    assert len(order) == len(labels)
    assert np.array_equal(order, epoch_order(labels, Recipe(), epoch))
    sizes = Counter(labels)
    shares = np.array([sizes[label] ** -0.5 for label in labels])
    wanted = shares / shares.sum() * len(labels)
    counts = np.bincount(order, minlength=len(labels))
    assert (np.abs(counts - wanted) < 1 + 1e-9).all()


def test_square_root_sampling_is_between_natural_and_equal_shares() -> None:
    labels = [0] * 900 + [1] * 100
    drawn = np.mean([labels[at] for epoch in range(20) for at in epoch_order(labels, Recipe(), epoch)])
    assert drawn == pytest.approx(10 / (10 + 30), abs=0.01)


def test_the_rate_warms_up_and_falls_to_nothing() -> None:
    rates = [Recipe(warmup=0.1).rate(step, 100) for step in range(100)]
    assert rates[:10] == pytest.approx([(step + 1) / 10 for step in range(10)])
    assert max(rates) == 1.0 and all(a >= b for a, b in pairwise(rates[10:])) and rates[-1] < 0.001


def test_a_view_depends_on_its_seed_alone() -> None:
    taken = Input(16, 16, (0.5,) * 3, (0.5,) * 3, "bicubic", 1.0, False)
    views = TrainViews(Pictures(photos(3), 16), taken, Recipe())
    torch.manual_seed(5)
    state = torch.random.get_rng_state()
    first, label = views[1, 77]
    assert torch.equal(state, torch.random.get_rng_state())  # the process's own randomness is as it was
    torch.manual_seed(6)
    assert torch.equal(first, views[1, 77][0]) and label == 1 and first.shape == (3, 16, 16)
    assert not torch.equal(first, views[1, 78][0])


def test_views_made_by_other_processes_are_the_same() -> None:
    taken = Input(16, 16, (0.5,) * 3, (0.5,) * 3, "bicubic", 1.0, False)
    views = TrainViews(Pictures(photos(6), 16), taken, Recipe())
    batches = [[(0, 11), (3, 12)], [(5, 13), (0, 14)]]
    here, there = ([images for images, _ in DataLoader(views, batch_sampler=batches, num_workers=n)] for n in (0, 2))
    assert all(torch.equal(one, other) for one, other in zip(here, there, strict=True))


def test_pictures_beyond_the_memory_are_the_same(tmp_path: Path) -> None:
    kept, decoded = Pictures(photos(4), 12), Pictures(photos(4), 12, memory=0)
    assert kept.in_memory and not decoded.in_memory
    assert min(kept[0].size) == 18  # 1.5 times what the network sees
    assert all(kept[at].tobytes() == decoded[at].tobytes() for at in range(4))


@pytest.mark.parametrize(
    ("name", "given", "sides"),
    [
        ("random:tiny", {}, (80, 96)),
        ("random:tiny", {"size": 40}, (40, 48)),
        ("random:tiny", {"size": 40, "test_size": 40}, (40, 40)),
        ("random:vit_tiny_patch16_224", {"size": 32}, (32, 32)),
        ("random:vit_tiny_patch16_224", {"test_size": 32}, (32, 32)),
    ],
)
def test_the_size_of_the_test_photos_follows_that_of_training(
    name: str, given: dict[str, int], sides: tuple[int, int]
) -> None:
    """Unless it is named; some networks are made for one size, and fail on photos of another."""
    network = open_network(name, classes=2, **given)  # type: ignore[arg-type]  # they are sizes
    assert (network.input.train_size, network.input.test_size) == sides
    photo = torch.zeros(1, 3, network.input.test_size, network.input.test_size)
    with torch.inference_mode():
        assert network.module.eval()(photo).shape == (1, 2)


@pytest.mark.parametrize(("name", "size"), [("levit_128s", 224), ("vit_tiny_patch16_224", 64)])
def test_published_weights_get_new_heads_and_positions(name: str, size: int, tmp_path: Path) -> None:
    """LeViT has two heads; a ViT has a position for each part of a picture."""
    import timm
    from safetensors.torch import save_file

    published = timm.create_model(name).state_dict()
    path = tmp_path / "published.safetensors"
    save_file(published, path)
    network = open_network(name, classes=3, weights=path, size=size)
    alike = [key for key, value in network.module.state_dict().items() if torch.equal(value, published[key])]
    assert len(published) - len(alike) <= 4
    assert network.module.eval()(torch.zeros(1, 3, size, size)).shape == (1, 3)


def test_a_network_that_fails_on_its_pictures_is_told_before_the_first(tmp_path: Path) -> None:
    """At 16 pixels the last layer has one value per picture, of which a batch of one has no deviation; and CrossViT
    cuts pictures in two ways, of which 64 pixels fit one."""
    network = open_network("random:test_resnet", classes=2, size=16, test_size=16)
    pictures = {split: Pictures(photos(2), 16) for split in ("train", "validation")}
    told: Any = None  # nobody is told of a step before the first
    with pytest.raises(ModelError, match="one by one.* larger --batch-size"):
        Training(network, pictures, Recipe(batch_size=1), tmp_path, accelerator_of("cpu", "fp32"), told, identity={})
    with pytest.raises(ModelError, match="in testing: RuntimeError"):
        open_backbone("random:crossvit_tiny_240", device="cpu", size=64)


def test_the_first_layer_learns_at_its_share_of_the_rate() -> None:
    network = open_network("random:tiny", classes=5)
    groups = _groups(network.module, Recipe(depth_decay=0.1))
    shares = [group["share"] for group in groups]
    assert min(shares) == pytest.approx(0.1) and max(shares) == 1.0
    ids = {id(parameter): group for group in groups for parameter in group["params"]}
    assert len(ids) == sum(1 for _ in network.module.parameters())
    assert ids[id(network.module.conv_stem.weight)]["share"] == pytest.approx(0.1)
    assert ids[id(network.module.classifier.weight)]["share"] == 1.0
    assert ids[id(network.module.classifier.bias)]["weight_decay"] == 0


# -------------------------------------------------------------------------------------------------------- calibration


def test_ece_by_hand() -> None:
    # Confidence .9 twice, one of them right; confidence .6 once, right.
    shares = np.array([[0.9, 0.1], [0.1, 0.9], [0.6, 0.4]])
    labels = np.array([0, 0, 0])
    ece = bootstrap_ece(shares, labels, resamples=20, seed=0).estimates[0]
    assert ece == pytest.approx((2 * abs(0.5 - 0.9) + abs(1 - 0.6)) / 3)
    found = [one for one in bins(shares, labels) if one["n"]]
    assert [(one["n"], round(one["confidence"], 6), one["accuracy"]) for one in found] == [(1, 0.6, 1.0), (2, 0.9, 0.5)]
    assert found[0]["high"] == pytest.approx(0.6)  # a confidence on the edge of two bins belongs to the lower one


def test_the_interval_of_a_small_ece_holds_it() -> None:
    # Four confidences, as often right as they say: hardly a gap, but one in every resample.
    confidence = np.repeat([0.55, 0.65, 0.85, 0.95], 40)
    wrong = np.concatenate([np.arange(40) >= round(40 * share) for share in confidence[::40]]).astype(np.int64)
    found = bootstrap_ece(np.stack([confidence, 1 - confidence], axis=1), wrong, resamples=200, seed=0)
    value, (low, high) = found.estimate()
    assert value < np.quantile(found.replicates, 0.025) and low == value and high > 0.05


def test_logits_are_divided_by_the_temperature() -> None:
    logits = np.array([[0.0, np.log(9)]])  # 1 : 9, and at a temperature of 2 the roots of both
    assert probabilities(logits)[0].tolist() == pytest.approx([1 / 10, 9 / 10])
    assert probabilities(logits, 2.0)[0].tolist() == pytest.approx([1 / 4, 3 / 4])
    assert log_loss(logits, np.array([1]), 2.0) == pytest.approx(np.log(4 / 3))


def stored(labelled: Labelled, logits: Any, train_labels: Sequence[int]) -> StoredAnswers:
    readable = [True] * len(labelled.splits["test"])
    return StoredAnswers.of(labelled, logits, readable, 1.0, train_labels=train_labels, row="r", setting="s")


def test_intervals_of_few_photos_are_of_their_patients() -> None:
    """Two right photos of one patient are one right answer; a resample without the class is no wrong one."""
    own = [Photo("a", 0, "one", bytes), Photo("b", 0, "one", bytes), Photo("c", 1, "two", bytes)]
    own += [Photo(f"d{number}", 2, f"g{number}", bytes) for number in range(9)]
    labels = [photo.label for photo in own]
    record = RunRecord(baseline="classifier", data=DataUsed("3mdbench", "test", None, "d" * 64))
    labelled = Labelled(("x", "y", "z"), ("", "", ""), {"test": own}, {}, record.data, None)
    answers = stored(labelled, np.eye(3)[labels] * 50, labels)
    results, _ = Scoring(answers=answers, record=record, resamples=200).scored()
    found = {one.row: one.ci95 for one in results if one.table == BY_CLASS}
    wanted = [(100 * wilson_interval(units, units)[0], 100) for units in (1, 1, 9)]
    assert list(found.values()) == [pytest.approx(ends) for ends in wanted]
    sure = bootstrap_ece(np.array([[1.0, 0.0]] * 4), np.zeros(4, dtype=np.int64), resamples=9, seed=0, clusters="aabb")
    assert sure.estimate()[1] == pytest.approx(wilson_interval(0, 2))


def test_photos_with_a_label_that_cannot_be_decoded_are_no_reason_to_fail_beside_others(tmp_path: Path) -> None:
    """The others were answered about, which may have taken hours."""
    own = [replace(photo, label=UNKNOWN if number else 0) for number, photo in enumerate(photos(3))]
    data = DataUsed("folder of class folders", "all", None, "0")
    labelled = Labelled(("a", "b"), ("", ""), {"test": own}, {}, data, None)
    answered = SimpleNamespace(row="network", setting="trained", train_labels=[0, 1], logits=np.eye(2), temperature=1.0)
    readable, record = np.array([False, True, True]), RunRecord(baseline="classifier", data=data)
    options = Classifying(data="photos", out=tmp_path)
    (number,), kept = _scored(labelled, answered, readable, record, options)  # type: ignore[arg-type]  # what it reads
    assert (number.column, number.numerator, number.denominator, kept) == ("Photos answered about", 2, 3, {})


def test_who_never_looks_answers_only_what_was_trained_on() -> None:
    own = [Photo(str(at), 1, str(at), bytes) for at in range(20)]
    record = RunRecord(baseline="classifier", data=DataUsed("3mdbench", "test", None, "d" * 64))
    labelled = Labelled(("x", "y", "z"), ("", "", ""), {"test": own}, {}, record.data, None)
    answers = stored(labelled, np.eye(3)[[1] * 20], [1, 1])
    results, _ = Scoring(answers=answers, record=record, resamples=9).scored()
    found = {one.row: one.value for one in results if (one.table, one.column) == (TABLE, "Accuracy")}
    assert found == {"r": 100, "Majority class": 100, "Stratified random": 100}


def test_the_report_says_over_which_classes_f1_is(tmp_path: Path) -> None:
    record = RunRecord(baseline="classifier", data=DataUsed("3mdbench", "test", None, "d" * 64))
    for shown, said in (
        ((0, 0, 1), "F1 over the 2 of 3 classes that occur among them,"),
        ((0, 1, 2), "all 3 classes,"),
    ):
        own = [Photo(str(at), label, str(at), bytes) for at, label in enumerate(shown)]
        labelled = Labelled(("x", "y", "z"), ("", "", ""), {"test": own}, {}, record.data, None)
        answers = stored(labelled, np.eye(3)[[0, 1, 1]] * 5, [0, 1, 2])
        results, content = Scoring(answers=answers, record=record, resamples=9).scored()
        macro = next(one for one in results if one.column == "Macro F1" and one.row == "r")
        assert ("2 of 3 classes" in macro.note) == (len(set(shown)) == 2)
        content |= {"history": [], "best_epoch": 0, "unreadable": {}}
        (tmp_path / CONTENT).write_text(json.dumps(content))
        (section,) = sections([(1, FinishedRun(tmp_path, record, results))])
        assert said in " ".join(section.html.split())


@pytest.mark.parametrize("truth", [0.4, 1.0, 3.0])
def test_the_temperature_of_overconfident_logits_is_found(truth: float) -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(0, 2, (20_000, 4))
    labels = np.array([generator.choice(4, p=shares) for shares in probabilities(logits)])
    fitted = fit_temperature(logits * truth, labels)
    assert fitted == pytest.approx(truth, rel=0.05)
    assert log_loss(logits * truth, labels, fitted) <= log_loss(logits * truth, labels) + 1e-9


@pytest.mark.parametrize("change", [{"learning_rate": float("nan")}, {"crop": 0.0}, {"ema": 1.0}])
def test_a_recipe_that_cannot_be(change: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Recipe(**change)  # type: ignore[arg-type]


def test_a_rate_of_0_is_refused_and_not_taken_for_the_default(tmp_path: Path) -> None:
    for option in ("learning_rate", "depth_decay"):
        with pytest.raises(InputError, match=f"{option.replace('learning_', 'learning ')}: 0.0"):
            _recipe(Classifying(data="photos", out=tmp_path, model="random:tiny", **{option: 0.0}))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------ one folder, clusters


@pytest.mark.parametrize(
    ("name", "found"), [(b"lost.jpg", "a link leads nowhere"), (b"\xff.jpg", "unreadable file name")]
)
def test_a_photo_that_cannot_be_used_is_told_and_links_elsewhere_are_followed(
    name: bytes, found: str, tmp_path: Path
) -> None:
    kept = tmp_path / "photo"
    kept.write_bytes(jpeg(drawn(1)))
    for split in ("train", "validation", "test"):
        (tmp_path / "sets" / split / "stye").mkdir(parents=True)
        (tmp_path / "sets" / split / "stye" / f"{split}.jpg").write_bytes(jpeg(drawn(len(split))))
    (tmp_path / "sets/test/stye/linked.jpg").symlink_to(kept)
    assert len(from_folder(tmp_path / "sets").splits["test"]) == 2
    Path(os.fsdecode(bytes(tmp_path / "sets/test/stye") + b"/" + name)).symlink_to("nowhere")
    with pytest.raises(InputError, match=found):
        from_folder(tmp_path / "sets")


def test_a_link_to_a_folder_elsewhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "moved").mkdir()
    (tmp_path / "moved" / "0.jpg").write_bytes(jpeg(drawn(9)))
    for split in ("train", "validation", "test"):
        (tmp_path / "sets" / split / "stye").mkdir(parents=True)
        (tmp_path / "sets" / split / "stye" / f"{split}.jpg").write_bytes(jpeg(drawn(len(split))))
    (tmp_path / "sets/train/warts").symlink_to(tmp_path / "moved")
    with pytest.raises(InputError, match="train/warts: is a link to a folder outside, whose photos are not read"):
        from_folder(tmp_path / "sets")


def test_photos_in_no_class_folder_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for at, split in enumerate(("train", "validation", "test")):
        for name in ("acne/a.jpg", "warts/b.jpg", *[f"forgotten{n}.jpg" for n in range(at)]):
            (tmp_path / split / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / split / name).write_bytes(jpeg(drawn(at)))
    assert [len(photos) for photos in labelled_photos(str(tmp_path), None, 1).splits.values()] == [2, 2, 2]
    assert "3 photos lie beside the class folders" in " ".join(capsys.readouterr().err.split())


def test_one_folder_is_split_by_its_clusters(tmp_path: Path) -> None:
    rows = []
    for number in range(60):
        label = ("none", "sore throat")[number % 2]
        file = tmp_path / "photos" / label / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        picture(number).save(file)
        rows.append({"file": f"{label}/{number}.png", "cluster": f"c{number // 4}", "kept": number != 7})
    clusters = tmp_path / "clusters.parquet"
    pq.write_table(pa.Table.from_pylist(rows), clusters)
    labelled = labelled_photos(str(tmp_path / "photos"), clusters, seed=1)
    sizes = {split: len(found) for split, found in labelled.splits.items()}
    assert sum(sizes.values()) == 59 and sizes["train"] > sizes["test"] > sizes["validation"] > 0
    groups = [{photo.group for photo in found} for found in labelled.splits.values()]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 15
    assert "sore throat/7.png" not in {photo.key for found in labelled.splits.values() for photo in found}
    patients = [{**row, "group": f"p{number % 5}" if number < 40 else ""} for number, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(patients), clusters)
    by_patient = labelled_photos(str(tmp_path / "photos"), clusters, seed=1)
    numbers = [{int(Path(photo.key).stem) for photo in found} for found in by_patient.splits.values()]
    # Clusters of four photos chain the five patients of the first forty into one: they are in one split.
    assert sum(any(number < 40 for number in found) for found in numbers) == 1
    assert len({photo.group for found in by_patient.splits.values() for photo in found}) == 6
    with pytest.raises(InputError, match="60 of 60 photos"):
        pq.write_table(pa.Table.from_pylist(rows[:0], schema=pa.Table.from_pylist(rows).schema), clusters)
        labelled_photos(str(tmp_path / "photos"), clusters, seed=1)


def test_a_split_folder_is_split_anew_with_the_labels_of_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = []
    for number in range(40):
        label, split = ("none", "sore throat")[number % 2], ("train", "validation", "test")[number % 3]
        file = tmp_path / "photos" / split / label / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        picture(number).save(file)
        row = {"file": f"{split}/{label}/{number}.png", "split": split, "label": label, "cluster": f"c{number}"}
        rows.append(row | {"group": "", "kept": True})
    clusters = tmp_path / "clusters.parquet"
    pq.write_table(pa.Table.from_pylist(rows), clusters)
    labelled = labelled_photos(str(tmp_path / "photos"), clusters, seed=1)
    assert labelled.classes == ("none", "sore throat")
    assert {Path(photo.key).parts[0] for photo in labelled.splits["test"]} == {"train", "validation", "test"}
    said = " ".join("".join(capsys.readouterr()).split())
    assert "40 photos; 0 duplicate" in said and "(test, train, validation) are not kept" in said

    # What a table says counts more than folders, and who has no label is counted.
    told = [{**row, "label": "" if at < 4 else f"class {at % 3}"} for at, row in enumerate(rows)]
    pq.write_table(pa.Table.from_pylist(told), clusters)
    labelled = labelled_photos(str(tmp_path / "photos"), clusters, seed=1)
    assert labelled.classes == ("class 0", "class 1", "class 2")
    assert sum(map(len, labelled.splits.values())) == 36
    assert "4 photos without a label left out" in " ".join(capsys.readouterr().out.split())
    pq.write_table(pa.Table.from_pylist([{**row, "label": ""} for row in rows]), clusters)
    with pytest.raises(InputError, match="no photo with a label"):
        labelled_photos(str(tmp_path / "photos"), clusters, seed=1)


def test_the_innermost_folder_is_the_class_as_for_curate(tmp_path: Path) -> None:
    names = ("clinic0/Acne/a", "clinic1/acne/b", "clinic1/warts/c", "acne/d", "clinic0/2019/val/warts/e")
    for at, split in enumerate(("train", "val", "test")):
        for number, name in enumerate(names):
            file = tmp_path / split / f"{name}.jpg"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(jpeg(drawn(10 * at + number)))
    labelled = from_folder(tmp_path)
    read = {file.name: file.label.casefold() for file in photo_set(str(tmp_path)).files}
    photos = [photo for found in labelled.splits.values() for photo in found]
    assert {photo.key: labelled.classes[photo.label].casefold() for photo in photos} == read
    # Called as in train, also where only some splits are read.
    assert labelled.classes == from_folder(tmp_path, ("train", "validation")).classes == ("Acne", "warts")
    assert Classes.of(("sore throat", "x")).label("Sore_Throat") == 0
    (tmp_path / "train" / "dev").mkdir()
    (tmp_path / "train" / "dev" / "f.jpg").write_bytes(jpeg(drawn(99)))
    with pytest.raises(InputError, match="dev/f.jpg: lies in no class folder"):
        from_folder(tmp_path)


@pytest.mark.parametrize("validation", ["validation", "val", "valid", "dev"])
def test_the_names_of_the_validation_split(validation: str, tmp_path: Path) -> None:
    for number, split in enumerate(("train", validation, "test")):
        (tmp_path / split / "stye").mkdir(parents=True)
        (tmp_path / split / "stye" / "a.jpg").write_bytes(jpeg(drawn(number)))
    assert [photo.key for photo in from_folder(tmp_path).splits["validation"]] == [f"{validation}/stye/a.jpg"]
