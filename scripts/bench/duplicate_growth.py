"""Does curation find as much among many photos as among few, and what does it cost?

    python -m scripts.bench.duplicate_growth [FOLDER] [--sizes 5000 20000]

FOLDER (by default `data/photos` below BEDSIDE_SHARED) holds photos. 200 of them, and of each a part of 70 % of both
sides at a random place, saved anew, are put among so many drawn pictures of clouds, blots and hairs of 128 pixels, and
all are curated (`builders.curation.curate`, one thread), each size in a process of its own. What the first look says of
a picture is remembered from before, as it costs each the same whatever the others are (22 ms of CPU for a drawn one):
it is printed apart. Printed for each size:

  named      how many of the 200 pairs are among those worth comparing (`candidates`), how many end in one cluster, and
             how many pairs are compared in all
  CPU        seconds of the search for these pairs, and of all that curation does beyond the first look
  memory     of the process at most; then its growth by a picture, and the exponents of growth

Exit status 1 where a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from PIL import Image

from builders.curation import duplicates
from builders.curation.candidates import Candidates, candidates
from builders.curation.curate import curate
from builders.curation.examine import Content, examine
from builders.curation.folders import File
from builders.curation.index import Index
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey
from loaders.engines.threads import Threads
from loaders.errors import InputError
from scripts.bench.apart import Measured, apart, ended
from scripts.bench.rival_finders import peak_megabytes
from scripts.terminal.console import output, table
from tests.parts.pictures import jpeg

PLANTED = 200
SHARE = 0.7  # of both sides
_SIDE = 128  # pixels: what keypoints are taken from


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


def made(photos: Path, folder: Path, count: int) -> list[File]:
    """Photos and a part of each, one after the other, and so many drawn pictures, written into a folder; in the order
    of their digests the former lie among the latter."""
    draw = random.Random(1)
    paths = sorted(photos.rglob("*.jpg"))
    if len(paths) < PLANTED:
        raise InputError(photos, found=f"{len(paths)} JPEG files", expected=f"{PLANTED} photos")
    files = []
    for number, path in enumerate(draw.sample(paths, PLANTED)):
        image = Image.open(path).convert("RGB")
        width, height = round(image.width * SHARE), round(image.height * SHARE)
        left, top = draw.randint(0, image.width - width), draw.randint(0, image.height - height)
        part = folder / f"p{number:03}.jpg"
        part.write_bytes(jpeg(image.crop((left, top, left + width, top + height)), 80))
        files += [File(f"p{number:03} photo", path), File(f"p{number:03} part of it", part)]
    for number in range(count):
        picture = folder / f"d{number:07}.png"
        Image.fromarray(drawn(number)).save(picture, compress_level=1)
        files.append(File(picture.stem, picture))
    return files


def looked_at(files: Sequence[File], index: Path) -> None:
    """Remember the first look at each file."""
    started = time.process_time()
    with Index(index) as memory:
        examine(files, memory, engine=Threads())
    seconds = time.process_time() - started
    output.print(f"first looks: {len(files):,} pictures, {1000 * seconds / len(files):.1f} ms of CPU each")


def tried(files: Sequence[File], index: Path) -> dict[str, Any]:
    """What comes of the planted pairs among the others, and what it costs."""
    search: list[tuple[Candidates, Sequence[Content], float]] = []

    def searched(contents: Sequence[Content]) -> Candidates:
        began = time.process_time()
        found = candidates(contents)
        search.append((found, contents, time.process_time() - began))
        return found

    with tempfile.TemporaryDirectory() as folder, patch.object(duplicates, "candidates", searched):
        own = Path(shutil.copy(index, folder))
        started = time.process_time()
        curation = curate(files, index=own)
        seconds = time.process_time() - started
    [(found, contents, searching)] = search
    place = {content.digest: at for at, content in enumerate(contents)}
    named = set(map(tuple, found.pairs.tolist()))
    pairs = [curation.files[n : n + 2] for n in range(0, 2 * PLANTED, 2)]
    wanted = [sorted(place[one.content.digest] for one in pair if one.content) for pair in pairs]
    clusters = [decision.cluster for decision in curation.decisions[: 2 * PLANTED]]
    return {
        "pictures": len(files),
        "named": sum(tuple(pair) in named for pair in wanted) / PLANTED,
        "joined": sum(clusters[n] == clusters[n + 1] for n in range(0, 2 * PLANTED, 2)) / PLANTED,
        "pairs": len(found.pairs),
        "searching": searching,
        "seconds": seconds,
        "peak": peak_megabytes() * 2**20,
    }


def main(arguments: Sequence[str]) -> Measured:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(os.environ.get("BEDSIDE_SHARED", "shared"))
    parser.add_argument("folder", nargs="?", type=Path, default=shared / "data" / "photos")
    parser.add_argument("--sizes", type=int, nargs="+", default=[5000, 20000])
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        index, files = Path(folder, "index.sqlite"), made(asked.folder, Path(folder), max(asked.sizes))
        looked_at(files, index)
        return _shown([apart(tried, files[: 2 * PLANTED + size], index) for size in asked.sizes])


def _shown(results: Sequence[dict[str, Any]]) -> Measured:
    """Prints what was found, and whether each goal is met."""
    columns = ("pictures", "named", "in one cluster", "pairs compared", "CPU of the search", "of all", "peak MB")
    shown = table("200 planted pairs", *columns, right=columns)
    for one in results:
        costs = (f"{one['searching']:.1f}", f"{one['seconds']:.1f}", f"{one['peak'] / 1e6:.0f}")
        shown.add_row(one["pictures"], f"{one['named']:.3f}", f"{one['joined']:.3f}", one["pairs"], *costs)
    output.print(shown)
    first, last = results[0], results[-1]
    if first is last:
        return Measured([])
    more = np.log(last["pictures"] / first["pictures"])
    search, whole = (float(np.log(last[name] / first[name]) / more) for name in ("searching", "seconds"))
    bytes_each = (last["peak"] - first["peak"]) / (last["pictures"] - first["pictures"])
    lost = max(one["named"] for one in results) - min(one["named"] for one in results)
    output.print(
        f"exponent of the search {search:.2f}, of all but the first look {whole:.2f}; "
        f"{bytes_each:,.0f} bytes a picture; recall differs by {lost:.3f}"
    )
    return Measured([], round(lost, 3) <= 0.01 and bytes_each <= 3000 and search <= 1.1)


if __name__ == "__main__":
    ended(main)
