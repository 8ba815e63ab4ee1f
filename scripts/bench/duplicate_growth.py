"""Does the finder of duplicates find as much among many photos as among few, and what does it cost?

    python -m scripts.bench.duplicate_growth [FOLDER] [--sizes 1000 10000] [--cache FOLDER]

FOLDER (by default `data/photos` below BEDSIDE_SHARED) holds photos. 200 of them, and of each a part of 70 % of both
sides at a random place, saved anew, are put among so many drawn pictures of clouds, blots and hairs, and the pairs that
are worth comparing are looked for (`builders.curation.candidates`; comparing itself sees one pair at a time, whatever
else there is). Printed for each size: how many of the 200 pairs are named, how many pairs are named in all, the CPU
seconds and the memory that the search took; then the exponents of growth from the first size to the last. Exit status 1
where a goal is missed. `--cache` keeps the hashes of the drawn pictures (8 ms of CPU each) for the next time.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import sys
import time
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from builders.curation.candidates import candidates
from builders.curation.examine import Content
from builders.curation.hashes import keypoints, whole
from builders.curation.opencv import cv2, single_threaded_opencv
from builders.curation.pictures import Grey, Picture, read_picture
from builders.curation.quality import Quality
from loaders.errors import BedsideError, InputError
from loaders.files.disk import make_folder
from scripts.terminal.console import errors, output, table

PLANTED = 200
SHARE = 0.7  # of both sides
_SIDE = 128  # pixels: what keypoints are taken from
_PIECE = 1000  # drawn pictures in a file of the cache
_QUALITY = Quality(_SIDE, _SIDE, 50.0, 0.0, 120.0, 20, 230, 0.0, 0.0, 0)


def drawn(number: int) -> Grey:
    """A picture that no other number gives: cloudy ground, blots with soft or hard edges, hairs."""
    draw = np.random.default_rng(number)
    ground = np.full((_SIDE, _SIDE), 128, np.float32)
    for octave in range(2, 7):
        coarse = draw.normal(0, 90 / 2**octave + 2, (2**octave, 2**octave)).astype(np.float32)
        ground += cv2.resize(coarse, (_SIDE, _SIDE), interpolation=cv2.INTER_CUBIC)
    for _ in range(int(draw.integers(3, 30))):
        blot = np.zeros_like(ground)
        middle, axes = draw.integers(0, _SIDE, 2).tolist(), draw.integers(2, 22, 2).tolist()
        cv2.ellipse(blot, middle, axes, float(draw.uniform(0, 180)), 0, 360, float(draw.normal(0, 35)), -1)
        ground += cv2.GaussianBlur(blot, (0, 0), float(draw.uniform(0.4, 2.5)))
    for _ in range(int(draw.integers(0, 8))):
        ends = draw.integers(0, _SIDE, 4).tolist()
        cv2.line(ground, ends[:2], ends[2:], float(draw.uniform(40, 200)), 1, cv2.LINE_AA)
    return np.asarray(np.clip(ground, 0, 255), np.uint8)


def distractors(count: int, cache: Path | None) -> Iterator[Content]:
    """The hashes of drawn pictures, from the cache where they are."""
    for first in range(0, count, _PIECE):
        file = cache / f"drawn-{first}.npz" if cache else None
        if file and file.is_file():
            stored = np.load(file)
            wholes, spots, ends = stored["whole"], stored["spots"], stored["ends"]
        else:
            pictures = [Picture(drawn(number), _SIDE, _SIDE) for number in range(first, first + _PIECE)]
            found = [whole(picture) for picture in pictures]
            wholes = np.stack([np.zeros((2, 8), np.uint64) if hashes is None else hashes for hashes in found])
            each = [keypoints(picture) for picture in pictures]
            spots, ends = np.concatenate(each), np.cumsum([len(hashes) for hashes in each])
            if file:
                np.savez(file, whole=wholes, spots=spots, ends=ends)
        for n, end in enumerate(ends[: count - first]):
            begin = 0 if n == 0 else ends[n - 1]
            hashes = wholes[n] if wholes[n].any() else None
            yield Content(f"d{first + n}", 1, _QUALITY, hashes, spots[begin:end])


def planted(photos: Path) -> list[Content]:
    """Photos and a part of each, one after the other."""
    draw = random.Random(1)
    paths = sorted(path for path in photos.rglob("*.jpg"))
    if len(paths) < PLANTED:
        raise InputError(photos, found=f"{len(paths)} JPEG files", expected=f"{PLANTED} photos")
    made = []
    for path in draw.sample(paths, PLANTED):
        image = Image.open(path).convert("RGB")
        width, height = round(image.width * SHARE), round(image.height * SHARE)
        left, top = draw.randint(0, image.width - width), draw.randint(0, image.height - height)
        part = io.BytesIO()
        image.crop((left, top, left + width, top + height)).save(part, "JPEG", quality=80)
        for name, data in ((path.name, path.read_bytes()), (f"part of {path.name}", part.getvalue())):
            picture = read_picture(data)
            made.append(Content(name, len(data), _QUALITY, whole(picture), keypoints(picture)))
    return made


def tried(pairs: Sequence[Content], others: Sequence[Content]) -> tuple[float, int, float, int]:
    """The share of the planted pairs that is named, all that are named, CPU seconds, bytes held at most."""
    order = list(range(len(pairs) + len(others)))
    random.Random(2).shuffle(order)
    place = {number: at for at, number in enumerate(order)}
    contents = [pairs[number] if number < len(pairs) else others[number - len(pairs)] for number in order]
    tracemalloc.start()
    started = time.process_time()
    found = candidates(contents).pairs
    seconds = time.process_time() - started
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    named = set(map(tuple, found.tolist()))
    wanted = [(place[n], place[n + 1]) for n in range(0, len(pairs), 2)]
    return sum((min(pair), max(pair)) in named for pair in wanted) / len(wanted), len(found), seconds, held


def exponent(sizes: tuple[int, int], values: tuple[float, float]) -> float:
    """The power of the size that a value grows by."""
    return float(np.log(values[1] / values[0]) / np.log(sizes[1] / sizes[0]))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    shared = os.environ.get("BEDSIDE_SHARED")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(shared, "data", "photos") if shared else None)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10000])
    parser.add_argument("--cache", type=Path)
    asked = parser.parse_args()
    if asked.folder is None:
        parser.error("no FOLDER, and BEDSIDE_SHARED is not set")
    if asked.cache:
        make_folder(asked.cache)
    with single_threaded_opencv():
        pairs, others = planted(asked.folder), list(distractors(max(asked.sizes), asked.cache))
        results = [tried(pairs, others[:size]) for size in asked.sizes]
    shown = table("planted pairs", "drawn pictures", "of them named", "pairs named", "CPU seconds", "bytes a picture")
    sizes = [size + len(pairs) for size in asked.sizes]
    for drawn_ones, size, (recall, count, seconds, held) in zip(asked.sizes, sizes, results, strict=True):
        shown.add_row(f"{drawn_ones:,}", f"{recall:.3f}", f"{count:,}", f"{seconds:.1f}", f"{held / size:,.0f}")
    output.print(shown)
    if len(sizes) < 2:
        return 0
    ends, first, last = (sizes[0], sizes[-1]), results[0], results[-1]
    of_time, of_memory = exponent(ends, (first[2], last[2])), exponent(ends, (first[3], last[3]))
    lost = max(result[0] for result in results) - min(result[0] for result in results)
    output.print(f"exponent of time {of_time:.2f}, of memory {of_memory:.2f}; recall differs by {lost:.3f}")
    return int(round(lost, 3) > 0.01 or of_memory > 1 or last[3] / sizes[-1] > 3000 or of_time > 1.1)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BedsideError as error:
        errors.print(str(error))
        sys.exit(2)
