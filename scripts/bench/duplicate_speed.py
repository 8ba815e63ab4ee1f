"""What hashing a picture and joining many hashes cost, beside `imagehash.phash` and faiss; see duplicates.py."""

from __future__ import annotations

import io
import json
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from builders.curation.hashes import whole
from builders.curation.neighbours import DISTANCE, Hashes, blocks_within
from builders.curation.pictures import read_picture
from loaders.files.images import open_image
from scripts.bench.apart import apart, best_apart, fastest
from scripts.bench.rival_finders import cpu_seconds, held_megabytes, peak_megabytes
from tests.parts.pictures import jpeg

SIDE = 1024
EACH = 16
"""Hashes of a picture, of which the first is asked about: as it is, turned, mirrored, and without its edges."""


def jpegs(paths: Sequence[Path], count: int) -> list[bytes]:
    """The first `count` photos as JPEGs whose longer side is 1,024 pixels; fewer where there are fewer."""
    made = []
    for path in paths[:count]:
        image = open_image(path).convert("RGB")
        scale = SIDE / max(image.size)
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        made.append(jpeg(image.resize(size, Image.Resampling.BICUBIC)))
    return made


def hashing(files: Sequence[bytes], rounds: int) -> dict[str, float]:
    """CPU seconds of `ours` and of `plain` imagehash, decoding included."""
    import imagehash

    works: dict[str, Callable[[], object]] = {
        "ours": lambda: [whole(read_picture(data)) for data in files],
        "plain": lambda: [imagehash.phash(Image.open(io.BytesIO(data))) for data in files],
    }
    return fastest(works, rounds)


def even_hashes(count: int) -> Hashes:
    """Random hashes; a tenth of them copies of others with up to eight bits flipped."""
    draw = np.random.default_rng(0)
    hashes: Hashes = draw.integers(0, 2**64, count, np.uint64)
    copies = count // 10
    flips = np.zeros(copies, np.uint64)
    for _ in range(8):
        flips ^= np.uint64(1) << draw.integers(0, 64, copies, np.uint64)
    hashes[-copies:] = hashes[:copies] ^ flips
    return hashes


def ask_rival(python: str, tool: str, request: dict[str, Any]) -> dict[str, Any]:
    """What rival_finders.py answers, by that Python; `missing` where the Python itself cannot be run."""
    script = Path(__file__).with_name("rival_finders.py")
    try:
        done = subprocess.run(
            [python, "-I", str(script), tool], input=json.dumps(request), capture_output=True, text=True, check=False
        )
    except OSError as error:
        return {"missing": f"{python} cannot be run ({error.strerror})"}
    if done.returncode:
        return {"missing": f"{tool} failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def join(hashes: Hashes, rounds: int, python: str) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """CPU seconds (the fastest round) and megabytes, ours and those of faiss; whether both find the same.

    As curation does, every `EACH`th of the hashes is joined with all of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        given, mine, other = (Path(folder, name) for name in ("hashes.npy", "ours.npy", "faiss.npy"))
        np.save(given, hashes)
        request = {"hashes": str(given), "each": EACH, "distance": DISTANCE, "found": str(other)}
        works = {
            "ours": partial(apart, _joined, given, mine),
            "faiss": partial(ask_rival, python, "faiss", request),
        }
        best = best_apart(works, rounds)
        exact = "seconds" in best["faiss"] and bool(np.array_equal(np.load(mine), np.load(other)))
    return best["ours"], best["faiss"], exact


def _joined(given: Path, found: Path) -> dict[str, float]:
    hashes = np.load(given)
    before, started = held_megabytes(), cpu_seconds()
    blocks = [np.stack(block) for block in blocks_within(hashes, hashes[::EACH].copy())]
    pairs = np.concatenate(blocks, axis=1)
    pairs = pairs[:, np.lexsort(pairs[::-1])]
    used = {"seconds": cpu_seconds() - started, "peak": peak_megabytes() - before}
    np.save(found, pairs)
    return used
