"""Beyond one process: what an engine costs, what the driver does itself, and how fast a model is asked.

    python -m scripts.bench.scale [--rows 8000 80000] [--requests 4500] [--concurrency 256] [--workers N]
    python -m scripts.bench.scale --rows 8000 80000 800000 --few-words --engines local --requests 0

Builds MedLayBench-V by rules, from captions made of the bundled sample, each in a process of its own whose workers are
up and warm before the clock starts. For each number of rows it prints the seconds of each engine (of few rows, the
median of several builds, in turns) and Ray / local, the share of the CPU that the driver takes (in a build by local
processes), and how its memory grows per row; for that, captions of a few words are enough, whose rewriting takes a
tenth of the time. Then the refine step against a server on the loopback interface that answers after `--latency`
seconds, beside a plain client (asyncio streams, no more) with as many requests in flight: requests per second, how many
were in flight and for how long, and the CPU of the build per request, including all that it takes to make captions of
answers. If the CPU is the bottleneck, fewer are in flight than asked for; with a `--latency` of 2 s all of them are.

Ray's cluster is that of RAY_ADDRESS, else one on this machine. Use a quiet machine: the load before is printed.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import statistics
import tempfile
import time
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from builders import recipe as recipes
from builders.recipe import recipe_of
from builders.samples.medlaybench_v import CAPTIONS
from loaders.engines.choice import EngineName, opened
from loaders.engines.engine import Engine
from scripts.bench.apart import apart
from scripts.bench.rival_finders import peak_megabytes
from scripts.bench.scale_server import Counts, plain, serving
from scripts.terminal.console import output, table

MODEL = "openai-api/local/stand-in"
_WARM = 1024
_FEW = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[8000, 80000])
    parser.add_argument("--engines", nargs="+", choices=[*EngineName], default=[*EngineName])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--repeats", type=int, default=5, help="builds of up to 10,000 rows: the median counts")
    parser.add_argument("--few-words", action="store_true", help="captions of a few words")
    parser.add_argument("--requests", type=int, default=4500, help="rows of the refine step; 0: leave it out")
    parser.add_argument("--concurrency", type=int, default=256)
    parser.add_argument("--latency", type=float, nargs="+", default=[0.2], help="seconds, for a run each")
    options = parser.parse_args()
    if options.rows:
        output.print(_engines(options))
    if options.requests:
        for latency in options.latency:
            output.print(_asked(options.requests, options.concurrency, latency, options.workers))


def _engines(options: argparse.Namespace) -> Any:
    engines, workers = options.engines, options.workers
    right = ("captions", "seconds", "/ local", "CPU of driver", "share", "peak MB", "load before")
    columns = (right[0], "engine", *right[1:])
    shown = table(f"MedLayBench-V by rules, {workers} workers", *columns, right=right)
    peaks: dict[str, list[tuple[int, float]]] = {name: [] for name in engines}
    for rows in options.rows:
        local, load = None, os.getloadavg()[0]
        given = {"rows": rows, "workers": workers, "few_words": options.few_words}
        builds = [  # in turns: a build of some seconds takes a fifth more or less than the one before
            [_in_a_process(engine=name, **given) for name in engines]
            for _ in range(options.repeats if rows <= _FEW else 1)
        ]
        for place, name in enumerate(engines):
            numbers = {each: statistics.median(build[place][each] for build in builds) for each in builds[0][place]}
            local = numbers["seconds"] if name == EngineName.LOCAL else local
            ratio = f"{numbers['seconds'] / local:.2f}" if local else ""
            total = numbers["driver"] + numbers["workers"]
            share = f"{numbers['driver'] / total:.1%}" if numbers["workers"] else ""
            peaks[name].append((rows, numbers["peak"]))
            cells = (f"{numbers['seconds']:.1f}", ratio, f"{numbers['driver']:.1f}", share)
            shown.add_row(f"{rows:,}", name, *cells, f"{numbers['peak'] / 1e6:.0f}", f"{load:.1f}")
    for name, found in peaks.items():
        for (few, low), (many, high) in pairwise(found):
            slope = f"{(high - low) / (many - few):.0f} bytes a row"
            shown.add_row(f"{few:,} to {many:,}", name, "", "", "", "", slope, "")
    return shown


def _flying(told: Counts, concurrency: int) -> str:
    almost = concurrency * 98 // 100
    share = told.full(almost)
    return f"in flight at most {told.most} of {concurrency}, {almost} or more for {share:.0%} of the time"


def _in_a_process(**given: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="bedside-scale-") as folder:
        return apart(partial(_built, folder=folder, **given))


def _built(
    engine: str,
    rows: int,
    workers: int,
    folder: str,
    model: str | None = None,
    base_url: str = "",
    concurrency: int = 16,
    few_words: bool = False,
) -> dict[str, float]:
    """Seconds on the wall, of the driver's CPU and of its workers' (0 where they are no children), and peak bytes."""
    place = Path(folder)
    for name, count in (("warm", _WARM), ("timed", rows)):  # before the clock starts
        write_captions(place / f"{name}.csv", count, few_words)
    with opened(EngineName(engine), workers) as running:
        # By rules: the server counts from the first request to the last answer.
        build(place / "warm.csv", place / "warm", running)
        before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        asked = {"model": model, "base_url": (base_url,), "concurrency": concurrency} if model else {}
        build(place / "timed.csv", place / "timed", running, **asked)
        seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)  # with what the workers took for the warm rows
    return {
        "seconds": seconds,
        "driver": _processor(after) - _processor(before),
        "workers": _processor(ended) - _processor(children) if engine == EngineName.LOCAL else 0,
        "peak": peak_megabytes() * 2**20,
    }


def build(captions: Path, out: Path, engine: Engine, **asked: Any) -> None:
    """A release of MedLayBench-V from a table, with its workspace beside it."""
    recipe = recipe_of("medlaybench-v")
    chosen = recipe.options(captions=str(captions), **asked)
    recipes.build(recipe, chosen, out, workspace=out.with_suffix(".work"), engine=engine)


def _processor(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


def write_captions(path: Path, count: int, few_words: bool = False) -> None:
    """So many captions, each under a name of its own."""
    with CAPTIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("image_id", "split", "caption", "licence"), extrasaction="ignore")
        writer.writeheader()
        for number in range(count):
            row = rows[number % len(rows)]
            caption = "Scan." if few_words else row["caption"]
            own = {"image_id": f"{row['image_id']}-{number}", "caption": f"{caption} Image {number}."}
            writer.writerow(row | own)  # no two are equal, or one answer would do for both


def _asked(rows: int, concurrency: int, latency: float, workers: int) -> str:
    """The refine step and a plain client against the same server, in words."""
    with serving(latency) as server:
        load = os.getloadavg()[0]
        plainly = apart(plain, server.port, rows, concurrency)
        said = [
            f"\n{concurrency} requests at a time, answers after {latency:g} s, {workers} processes, load {load:.1f}",
            f"plain client   {plainly:8.0f} requests/s   {_flying(server.counts, concurrency)}",
        ]
        server.forget()
        given = {"model": MODEL, "base_url": f"http://127.0.0.1:{server.port}/v1", "concurrency": concurrency}
        os.environ.setdefault("LOCAL_API_KEY", "none")
        found = _in_a_process(engine="local", rows=rows, workers=workers, **given)
        told = server.counts
        took = 1000 * (found["driver"] + found["workers"]) / told.requests
        said += [
            f"refine step    {told.rate:8.0f} requests/s   {_flying(told, concurrency)}",
            f"{told.rate / plainly:.2f} x the plain client; {told.requests:,} requests, {took:.1f} ms of CPU each",
        ]
    return "\n".join(said)


if __name__ == "__main__":
    main()
