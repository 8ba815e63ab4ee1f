"""The bundled photos: what the files are, and signal between classes."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from builders.samples.threemdbench import PHOTOS
from loaders.threemdbench import NAMES
from tests.parts.pictures import photo

EACH, SIDE = 12, 256
ROWS = list(csv.DictReader(PHOTOS.read_text(encoding="utf-8").splitlines()))
NO_PICTURES = {"empty", "cut-off", "page", "not-there"}


def pixels(data: bytes, size: int = SIDE) -> NDArray[np.float64]:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((size, size)), dtype=np.float64)


def faulty(name: str) -> bytes:
    return (PHOTOS.parent / "photos" / f"{name}.jpg").read_bytes()


def test_the_table_lists_the_files_and_no_name_tells_a_diagnosis() -> None:
    listed = {row["file"] for row in ROWS}
    assert len(listed) == len(ROWS)
    there = {path.relative_to(PHOTOS.parent).as_posix() for path in (PHOTOS.parent / "photos").iterdir()}
    assert listed - there == {"photos/not-there.jpg"} and there <= listed
    assert not any(name.replace(" ", "") in file for file in listed for name in NAMES)
    plain = [row for row in ROWS if re.fullmatch(r"photos/[0-9a-f]{12}\.jpg", row["file"])]
    assert Counter(row["label"] for row in plain) == dict.fromkeys(NAMES, EACH)
    assert {row["licence"] for row in plain} == {"CC0-1.0"}
    # Two photos of each diagnosis are of one patient.
    assert Counter(Counter(row["group_id"] for row in plain if row["group_id"]).values()) == {2: len(NAMES)}


def test_photos_are_small_squares_without_metadata_that_differ() -> None:
    seen: Counter[bytes] = Counter()
    for row in ROWS:
        name = Path(row["file"]).stem
        if name in NO_PICTURES:
            continue
        data = faulty(name)
        seen[data] += 1
        with Image.open(io.BytesIO(data)) as picture:
            picture.load()
            side = {"copy-crop": 236, "small-1": 120, "small-2": 120}.get(name, SIDE)
            assert (picture.format, picture.size, picture.mode) == ("JPEG", (side, side), "RGB"), name
            assert not picture.getexif() and not set(picture.info) & {"exif", "comment", "xmp", "icc_profile"}, name
        assert len(data) < 40_000
    assert sorted(seen.values())[-3:] == [1, 2, 2]  # copy-bytes, other-label-bytes


def test_all_bundled_pictures_are_five_megabytes_at_most() -> None:
    bundled = [path for path in PHOTOS.parents[1].rglob("*") if path.suffix in (".jpg", ".png")]
    pictures = [path for path in bundled if "consultations" not in path.parts]  # a run there has copies of eight
    assert len(pictures) == 438 + 155
    assert sum(path.stat().st_size for path in pictures) < 5_000_000


def test_there_is_signal_to_learn_from() -> None:
    """The nearest class mean of coarse colours and edges finds far more than one in 34."""

    def features(data: bytes) -> NDArray[np.float64]:
        coarse, fine = pixels(data, 12), pixels(data, 64)
        edges = np.abs(np.diff(fine, axis=0)).mean(axis=(0, 1)) * 3, np.abs(np.diff(fine, axis=1)).mean(axis=(0, 1)) * 3
        return np.concatenate([(coarse - coarse.mean()).ravel() / 12, *edges, fine.std(axis=(0, 1))])

    means = np.stack([np.mean([features(photo(name, number)) for number in range(3)], axis=0) for name in NAMES])
    nearest = [int(np.linalg.norm(features(photo(name, 3)) - means, axis=1).argmin()) for name in NAMES]
    assert np.sum(np.equal(nearest, range(len(NAMES)))) >= 12
