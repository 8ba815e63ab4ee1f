"""The other tools that scripts/bench/duplicates.py compares with, each in a process of its own.

    PYTHON -I scripts/bench/rival_finders.py TOOL < request.json

PYTHON may be of any environment that has the tool: this file imports nothing from Bedside. The answer is one line of
JSON: `pairs`, CPU `seconds` (child processes included, imports not) and `peak` (megabytes above what the process held
before the work); or `missing`, the reason why the tool cannot be run.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Pairs = list[tuple[int, int]]


def with_imagehash(request: dict[str, Any]) -> Callable[[], Pairs]:
    """pHash of each file, and all pairs within the distance."""
    import imagehash  # type: ignore[import-not-found, unused-ignore]
    import numpy as np
    from PIL import Image

    def work() -> Pairs:
        hashes = []
        for path in request["files"]:
            with Image.open(path) as image:
                hashes.append(np.packbits(imagehash.phash(image).hash).view(np.uint64)[0])
        every = np.array(hashes, np.uint64)
        pairs: Pairs = []
        for place, one in enumerate(every):
            near = np.flatnonzero(np.bitwise_count(every[place + 1 :] ^ one) <= request["distance"])
            pairs += [(place, place + 1 + int(other)) for other in near]
        return pairs

    return work


def with_imagededup(request: dict[str, Any]) -> Callable[[], Pairs]:
    """PHash with the tool's own default distance."""
    from imagededup.methods import PHash  # type: ignore[import-not-found, unused-ignore]

    def work() -> Pairs:
        with tempfile.TemporaryDirectory() as folder:
            for place, path in enumerate(request["files"]):
                Path(folder, f"{place}{Path(path).suffix}").symlink_to(Path(path).resolve())
            found = PHash(verbose=False).find_duplicates(image_dir=folder)
        pairs = {
            (min(int(Path(one).stem), int(Path(other).stem)), max(int(Path(one).stem), int(Path(other).stem)))
            for one, others in found.items()
            for other in others
        }
        return sorted(pairs)

    return work


def with_faiss(request: dict[str, Any]) -> Callable[[], Pairs]:
    """Every so manieth of the 64-bit hashes with all within the distance, by an exhaustive index, on one thread."""
    import faiss  # type: ignore[import-not-found, unused-ignore]
    import numpy as np

    faiss.omp_set_num_threads(1)
    hashes = np.load(request["hashes"]).view(np.uint8).reshape(-1, 8)

    def work() -> Pairs:
        index = faiss.IndexBinaryFlat(64)
        index.add(hashes)
        limits, _, matched = index.range_search(hashes[:: request["each"]].copy(), request["distance"] + 1)  # strictly
        queries = np.repeat(np.arange(len(limits) - 1), np.diff(limits.astype(np.int64)))
        order = np.lexsort((matched, queries))
        np.save(request["found"], np.stack([queries[order], matched[order]]))
        return []

    return work


TOOLS = {"imagehash": with_imagehash, "imagededup": with_imagededup, "faiss": with_faiss}


def cpu_seconds() -> float:
    """User and system time of this process and of its finished children."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def held_megabytes() -> float:
    """The memory that this process holds now; where the system does not tell, the most that it has held."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    except OSError:
        return peak_megabytes()


def peak_megabytes() -> float:
    """The most memory that this process has held."""
    try:  # Linux hands getrusage's peak on to a new program, so its own status file comes first
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 2**20 if sys.platform == "darwin" else peak / 1024


def main() -> None:
    try:
        work = TOOLS[sys.argv[1]](json.load(sys.stdin))
    except ImportError as error:
        print(json.dumps({"missing": f"{sys.argv[1]} cannot be imported there: {error}"}))
        return
    before, started = held_megabytes(), cpu_seconds()
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 (tools write bars and logs)
        answer, sys.stdout = sys.stdout, nowhere
        pairs = work()
        sys.stdout = answer
    seconds, peak = cpu_seconds() - started, peak_megabytes() - before
    print(json.dumps({"pairs": pairs, "seconds": seconds, "peak": peak}))


if __name__ == "__main__":
    main()
