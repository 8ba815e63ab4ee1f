"""How many copies curation finds, how often it is wrong, and what it costs, beside other tools, in one run.

    python -m scripts.bench.duplicates [FOLDER] [--others PYTHON] [--speed]

FOLDER (by default `data/duplicates` below BEDSIDE_SHARED) holds truth.csv (file, source_file, transform, group) and
images/: two files with one source_file are a pair, all others are none. Where its parent folder holds them, two more
sets are tried: tables/ham10000_known_duplicates.csv with the photos of it that are on disk (nothing in
builders/curation was chosen on them), and fresh copies, made here of photos that the shared set does not use, in
disguises that it does not have.

PYTHON is an environment with imagehash, imagededup and faiss-cpu (`python -m venv V; V/bin/pip install imagehash
imagededup faiss-cpu`), by default the running one; a tool that is not there is left out, with the reason.

Prints
  pairs       precision and recall, per transform too, and the CPU time of each tool as a whole. Of Bedside every two
              files of a cluster count, of the other tools the pairs that they name. Outside the shared set, a pair of
              one lesion or patient is no mistake, and unlisted natural copies count as mistakes.
  hashing     CPU of 1,000 JPEGs of 1,024 pixels, decoding included
  join        50,000 hashes with all within 8 bits of 800,000, 16 a picture, as curation does, against faiss
              IndexBinaryFlat on one thread; the memory above what the process held; exact against faiss
  blur        blurred files against the rest

and whether each goal is met; exit status 1 where one is missed. Times are CPU seconds, the fastest of some rounds.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from builders.curation.curate import Curation, curate
from builders.curation.folders import File
from loaders.errors import InputError
from scripts.bench import duplicate_speed
from scripts.bench.apart import Measured, Row, ended
from scripts.bench.duplicate_sets import Pair, Photos, fresh_copies, listed_pairs, shared_set, used_by
from scripts.bench.rival_finders import cpu_seconds
from scripts.terminal.console import output, table
from scripts.terminal.tables import Table

_MET = "met"
DISTANCE = 8  # bits of pHash that users of such tools allow
JPEGS, PICTURES = 1000, 50_000  # that are hashed, and whose hashes are joined
FRESH = 15  # photos of each source that fresh copies are made of
Found = dict[str, tuple[set[Pair], float]]  # by tool: pairs, CPU seconds


def add_goal(goals: Table, what: str, asked: str, value: str, met: bool) -> None:
    goals.add_row(what, asked, value, _MET if met else "MISSED")


def compared(photos: Photos, python: str) -> tuple[Curation, set[Pair]]:
    """Shows what each tool finds; Bedside's pairs are by clusters, as `bedside curate` finds them, on one thread."""
    files = [
        File(f"{place:06}", path, source=source)  # files keep their order
        for place, (path, source) in enumerate(zip(photos.files, photos.sources, strict=True))
    ]
    started = cpu_seconds()
    curation = curate(files)
    seconds = cpu_seconds() - started
    clusters = defaultdict(list)
    for place, decision in enumerate(curation.decisions):
        clusters[decision.cluster].append(place)
    pairs = {pair for cluster, members in clusters.items() if cluster for pair in combinations(members, 2)}
    show_pairs(photos, {"bedside": (pairs, seconds), **rivals(photos, python)})
    return curation, pairs


def rivals(photos: Photos, python: str) -> Found:
    """The other tools' pairs; a tool that cannot be run is told on the way."""
    found: Found = {}
    files = [str(path.resolve()) for path in photos.files]
    for tool, name in (("imagehash", f"pHash T={DISTANCE}"), ("imagededup", "imagededup, default")):
        answer = duplicate_speed.ask_rival(python, tool, {"files": files, "distance": DISTANCE})
        if "missing" in answer:
            output.print(f"{name} is left out: {answer['missing']}")
        else:
            found[name] = {(one, other) for one, other in answer["pairs"]}, answer["seconds"]
    return found


def show_pairs(photos: Photos, found: Found) -> None:
    """One line a tool, and one a transform where transforms are known."""
    title = f"\nPairs: {photos.name} ({len(photos.files):,} files, {len(photos.pairs):,} pairs)"
    shown = table(
        title, "tool", "precision", "recall", "named", "CPU s", right=("precision", "recall", "named", "CPU s")
    )
    for name, (pairs, seconds) in found.items():
        precision = 1 - len(photos.mistakes(pairs)) / max(1, len(pairs))
        recall = len(pairs & photos.pairs) / len(photos.pairs)
        shown.add_row(name, f"{precision:.3f}", f"{recall:.3f}", f"{len(pairs):,}", f"{seconds:.1f}")
    output.print(shown)
    if not photos.how:
        return
    shown = table("\nRecall of the pairs of each transform with all others", "transform", *found, right=tuple(found))
    for how in dict.fromkeys(sorted(name for name in photos.how if name)):
        of_it = {pair for pair in photos.pairs if how in (photos.how[pair[0]], photos.how[pair[1]])}
        shown.add_row(how, *(f"{len(pairs & of_it) / len(of_it):.2f}" for pairs, _ in found.values()))
    output.print(shown)


def add_speed(files: Sequence[Path], options: argparse.Namespace, goals: Table) -> Iterator[Row]:
    """Hashing and the join; the rows of what could be compared."""
    times = duplicate_speed.hashing(duplicate_speed.jpegs(files, JPEGS), options.rounds)
    ratio = times["ours"] / times["plain"]
    add_goal(goals, "hashing against imagehash.phash", "<= 0.50x", f"{ratio:.2f}x", ratio <= 0.5)
    what = f"8 orientations × 2 variants of {JPEGS:,} JPEGs hashed, decode included"
    yield Row("hashing", what, "`imagehash.phash`, one each", f"{ratio:.2f}× its time")

    hashes = duplicate_speed.even_hashes(duplicate_speed.EACH * PICTURES)
    mine, faiss, exact = duplicate_speed.join(hashes, options.rounds, options.others)
    add_goal(goals, "join, evenly random: memory", "<= 150 MB", f"{mine['peak']:.0f} MB", mine["peak"] <= 150)
    if "missing" in faiss:
        output.print(f"faiss is left out: {faiss['missing']}")
        return
    add_goal(goals, "join, evenly random: exact", "yes", "yes" if exact else "no", exact)
    faster = faiss["seconds"] / mine["seconds"]
    add_goal(goals, "join, evenly random", ">= 5x faiss", f"{faster:.1f}x", faster >= 5)
    if exact:
        what = f"join of the hashes of {PICTURES:,} pictures, {duplicate_speed.EACH} each, exact, {mine['peak']:.0f} MB"
        yield Row("join", what, "faiss `IndexBinaryFlat`", f"{faster:.1f}× faster")


def add_blur(photos: Photos, curation: Curation, goals: Table) -> None:
    """Blurred files against the rest, by their sharpness: the area under the ROC curve."""
    blurred = np.array([how == "gaussian_blur_r3" for how in photos.how])
    values = []
    for one in curation.files:
        if one.content is None:
            raise InputError(one.file.path, found=one.detail, expected="an image that can be read")
        values.append(one.content.quality.sharpness)
    sharpness = np.array(values)
    above = sharpness[~blurred] - sharpness[blurred][:, None]
    area = float(np.mean(above > 0) + np.mean(above == 0) / 2)
    add_goal(goals, "blur: AUC", ">= .99", f"{area:.4f}", area >= 0.99)


def main(arguments: Sequence[str]) -> Measured:
    shared = Path(os.environ.get("BEDSIDE_SHARED", Path(__file__).parents[3] / "shared"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=shared / "data" / "duplicates")
    parser.add_argument("--others", default=sys.executable, metavar="PYTHON", help="a Python that has the other tools")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--speed", action="store_true", help="hashing and the join, no more")
    options = parser.parse_args(arguments)
    goals = table("\nGoals", "what", "goal", "measured", "", right=("goal", "measured"))
    data = options.folder.parent
    photos = shared_set(options.folder)
    if not options.speed:
        _show_found(photos, options, goals)
    files = [*photos.files]
    for more in ("photos", "radiology"):
        files += sorted((data / more).rglob("*.jpg"))
    rows = list(add_speed(files, options, goals))
    output.print(goals)
    return Measured(rows, all(row.texts[-1] == _MET for row in goals.rows))


def _show_found(photos: Photos, options: argparse.Namespace, goals: Table) -> None:
    """What is found in each set, and how sharpness tells blurred files."""
    data = options.folder.parent
    curation, pairs = compared(photos, options.others)
    right = len(pairs & photos.pairs)
    for what, of, goal in (("precision", pairs, 0.98), ("recall", photos.pairs, 0.93)):
        share = right / len(of)
        add_goal(goals, f"{what} of pairs", f">= {goal:g}", f"{share:.3f}", share >= goal)
    add_blur(photos, curation, goals)
    listed = data / "tables" / "ham10000_known_duplicates.csv"
    known = listed_pairs(listed, data, "natural near duplicates, HAM10000") if listed.exists() else None
    if known is None:
        output.print(f"\nNo recall on natural near duplicates: no pair of {listed.name} has both photos here")
    else:
        compared(known, options.others)
    if (data / "photos_manifest.csv").exists():
        with tempfile.TemporaryDirectory() as folder:
            compared(fresh_copies(data, used_by(options.folder), FRESH, Path(folder)), options.others)


if __name__ == "__main__":
    ended(main)
