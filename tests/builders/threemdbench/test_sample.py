"""The drawn photos: what each diagnosis looks like, signal between classes, and the faults that are planted."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from builders.samples.threemdbench import collection
from builders.samples.threemdbench.canvas import SIDE, Canvas, faded
from builders.samples.threemdbench.collection import TABLE, sample_digest, write_sample
from builders.samples.threemdbench.drawings import draw
from builders.samples.threemdbench.faults import changed
from builders.samples.threemdbench.look import looks
from loaders.threemdbench import NAMES
from tests.shared_data import ROOT


def pixels(data: bytes, size: int = SIDE) -> NDArray[np.float64]:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((size, size)), dtype=np.float64)


@pytest.fixture(scope="module")
def photos() -> dict[str, list[bytes]]:
    return {name: [draw(name, number) for number in range(4)] for name in NAMES}


def test_every_diagnosis_has_a_look() -> None:
    assert set(looks()) == set(NAMES)
    assert {look.scene for look in looks().values()} == {"skin", "eye", "throat", "lip", "teeth", "nail"}


def test_photos_are_square_and_differ(photos: dict[str, list[bytes]]) -> None:
    everything = [data for found in photos.values() for data in found]
    assert len(set(everything)) == len(everything)
    for data in everything:
        picture = Image.open(io.BytesIO(data))
        assert (picture.format, picture.size, picture.mode) == ("JPEG", (SIDE, SIDE), "RGB")
        assert len(data) < 60_000


def test_a_photo_is_the_same_in_another_process() -> None:
    code = (
        "import sys; from builders.samples.threemdbench.drawings import draw; sys.stdout.buffer.write(draw('stye', 3))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    other = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert other.stdout == draw("stye", 3)


def test_there_is_signal_to_learn_from(photos: dict[str, list[bytes]]) -> None:
    """The nearest class mean of coarse colours and edges finds far more than one in 34."""

    def features(data: bytes) -> NDArray[np.float64]:
        coarse, fine = pixels(data, 12), pixels(data, 64)
        edges = np.abs(np.diff(fine, axis=0)).mean(axis=(0, 1)) * 3, np.abs(np.diff(fine, axis=1)).mean(axis=(0, 1)) * 3
        return np.concatenate([(coarse - coarse.mean()).ravel() / 12, *edges, fine.std(axis=(0, 1))])

    means = {name: np.mean([features(data) for data in found[:3]], axis=0) for name, found in photos.items()}
    hits = sum(
        min(means, key=lambda other: float(np.linalg.norm(features(found[3]) - means[other]))) == name
        for name, found in photos.items()
    )
    assert hits >= 12


def test_shapes_lie_where_they_are_put() -> None:
    canvas = Canvas(1)
    mask = canvas.oval((0.5, -0.5), 0.2, 0.2)
    assert mask[SIDE // 4, 3 * SIDE // 4] == 1
    assert mask[3 * SIDE // 4, SIDE // 4] == 0
    part = canvas.near((0.5, -0.5), 0.3)
    part.fill((255, 255, 255))
    assert canvas.pixels[SIDE // 4, 3 * SIDE // 4, 0] == 255
    assert canvas.pixels[3 * SIDE // 4, SIDE // 4, 0] == 0
    within = part.near((0.5, -0.5), 0.05)
    assert abs(within.x.mean() - 0.5) < 0.02
    assert abs(within.y.mean() + 0.5) < 0.02
    assert faded(np.asarray([-1.0, 0.0, 1.0]), 0.1).tolist() == [0.0, 0.5, 1.0]


# --- Faults -----------------------------------------------------------------------------------------------------------


def test_planted_faults_name_what_there_is() -> None:
    path = Path(collection.__file__).with_name("planted.csv")
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert {row["diagnosis"] for row in rows} <= set(NAMES)
    assert len({row["file"] for row in rows}) == len(rows)
    data = draw("warts", 1)
    for row in rows:
        changed(data, row["change"])


def test_what_the_changes_do() -> None:
    data = draw("warts", 1)
    before = pixels(data)
    assert changed(data, "none") == data
    assert changed(data, "missing") is None
    assert changed(data, "empty") == b""
    assert data.startswith(changed(data, "cut") or b"-")
    assert (changed(data, "page") or b"").startswith(b"<!DOCTYPE")
    mirrored = pixels(changed(data, "mirror") or b"")
    assert np.abs(mirrored[:, ::-1] - before).mean() < 4 < np.abs(mirrored - before).mean()
    assert pixels(changed(data, "plain") or b"").std(axis=(0, 1)).max() < 1
    assert Image.open(io.BytesIO(changed(data, "small") or b"")).size == (120, 120)
    assert pixels(changed(data, "dark") or b"").mean() < 0.2 * before.mean()


# --- The collection ---------------------------------------------------------------------------------------------------


def test_the_collection_as_a_folder(tmp_path: Path) -> None:
    table = write_sample(tmp_path / "sample", each=1)
    assert table == tmp_path / "sample" / TABLE
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()))
    missing = [row["file"] for row in rows if not (table.parent / row["file"]).is_file()]
    assert missing == ["photos/not-there.jpg"]
    assert Counter(row["label"] for row in rows)["stye"] == 2
    assert not any(name.replace(" ", "") in row["file"] for row in rows for name in NAMES)


def test_what_is_drawn_is_not_drawn_again(tmp_path: Path) -> None:
    table = write_sample(tmp_path, each=1)
    table.unlink()  # as if the process had been killed before it was done
    kept = [path for path in (tmp_path / "photos").iterdir() if re.fullmatch("[0-9a-f]{12}", path.stem)]
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    assert len(stamps) >= len(NAMES)
    write_sample(tmp_path, each=1)
    assert {path: path.stat().st_mtime_ns for path in kept} == stamps


def test_another_size_is_another_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sample_digest()
    assert sample_digest() == before
    monkeypatch.setattr(collection, "EACH", 13)
    assert sample_digest() != before
