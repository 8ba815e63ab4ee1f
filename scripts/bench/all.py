"""Measures every row of the README's table of speed again with one command, and writes the table.

    python -m scripts.bench.all --captions roco_test.csv [--others PYTHON] [--only text start …]
    python -m scripts.bench.all --only none           # nothing is measured, the table is written as it was

Each benchmark runs as a process of its own, with its command printed first, and its figures are read from its output.
They are stored in `speed.json` with the commit, the day and the machine, and the README's table is written from there.
A row whose benchmark cannot run here (no captions, no photos, no other tool), or does not print what the row needs,
stays as it is, with the commit at which it was measured. `--captions` is a CSV file with a column `caption`; `--others`
is a Python that has the tools that `bench/duplicates.py` names. Use a quiet machine: there is a warning on a busy one.
All of it takes about twelve minutes of one core: each benchmark runs as briefly as its rows allow.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from loaders.files.disk import write_whole
from scripts.bench.apart import ROOT, commit

FIGURES = Path(__file__).with_name("speed.json")
BEGIN, END = "<!-- speed: python -m scripts.bench.all -->", "<!-- /speed -->"


@dataclass(frozen=True)
class Row:
    """A row of the table, with gaps that the groups of `found`, looked for in what the benchmark prints, fill."""

    name: str
    what: str
    against: str
    ratio: str
    found: tuple[str, ...]

    def read(self, printed: str) -> dict[str, str] | None:
        """The cells of the row; None where the benchmark does not tell all of them."""
        matches = [re.search(pattern, printed, re.MULTILINE | re.DOTALL) for pattern in self.found]
        told: dict[str, str] = {}
        for match in matches:
            if match is None:
                return None
            told |= match.groupdict()
        return {name: getattr(self, name).format(**told) for name in ("what", "against", "ratio")}


@dataclass(frozen=True)
class Measured:
    """A row as it stands in the README, and where and when it was measured; `load` is that of the machine before."""

    script: str
    what: str
    against: str
    ratio: str
    commit: str
    date: str
    machine: str
    load: float | None = None


_OF_MINIMAL = r"^ +{} .*?([\d.]+) x minimal \(wall\) +(?P<{}>[\d.]+) x minimal \(processor\)"


def _dialogues(name: str, what: str, against: str) -> Row:
    patterns = (
        r"^(?P<cases>[\d,]+) dialogues, (?P<calls>\d+) requests",
        _OF_MINIMAL.format("adapter", "times") + r" +(?P<mb>\d+) MB",
        _OF_MINIMAL.format("bare", "bare"),
    )
    return Row(name, what, against, "{times}× its CPU time; `--bare` {bare}×", patterns)


ROWS: dict[str, tuple[Row, ...]] = {
    "start": (
        Row(
            "start",
            "CPU time of `bedside --version` (of `bedside run --help`)",
            "`hf --version`",
            "{version}× ({run}×); {mb} MB ({run_mb}) against {hf_mb}",
            (
                r"^bedside --version +\S+ +(?P<version>[\d.]+) +(?P<mb>\d+)",
                r"^bedside run --help +\S+ +(?P<run>[\d.]+) +(?P<run_mb>\d+)",
                r"^hf --version +\S+ +\S+ +(?P<hf_mb>\d+)",
            ),
        ),
    ),
    "text": (
        Row(
            "draft",
            "draft: {forms} surface forms put in lay words, names left whole, facts protected",
            "a plain replace loop over the same forms (which writes {differ} of captions differently)",
            "{times}× faster",
            (
                r"\((?P<forms>[\d,]+) surface forms\)",
                r"^draft [^\n]* (?P<times>[\d,]+)x",
                r"\((?P<differ>\d+%)\) differently",
            ),
        ),
        Row(
            "build",
            "whole build of {captions} captions without a model, gates, shards and card included",
            "textstat's five formulas on the same captions",
            "{times}× its time",
            (r"^(?P<captions>[\d,]+) captions", r"^pipeline [^\n]* (?P<times>[\d.]+)x its time"),
        ),
    ),
    "language": tuple(
        Row(name, what, tool, "{times}× faster", (rf"^{line}[^\n]* first +(?P<times>[\d.]+)x [^\n]* equal ",))
        for name, what, tool, line in (
            ("readability", "five readability formulas, identical values", "textstat", "textstat: five formulas"),
            ("rouge", "ROUGE-L, identical values", "rouge-score", "rouge-score: ROUGE-L"),
            ("meteor", "METEOR, identical values", "NLTK", "nltk: METEOR"),
        )
    ),
    "retrieval": (
        Row(
            "recall",
            "R@1/5/10 both ways, {rows} × 512 (× 1,024), exact under ties",
            "the full-matrix-mask method",
            "{times}× ({wide}×) faster; {product}× one matrix product, {mb} MB above its inputs",
            (
                r"^(?P<rows>[\d,]+) x 512, .*? counting +[\d.]+ s +(?P<product>[\d.]+) x product[^\n]* (?P<mb>\d+) MB"
                r".*? mask / counting: (?P<times>[\d.]+)",
                r" x 1024, .*? mask / counting: (?P<wide>[\d.]+)",
            ),
        ),
        Row(
            "bootstrap",
            "paired bootstrap of {deltas} deltas × {resamples}, bit-identical",
            "a loop over hit vectors",
            "{times}× faster",
            (
                r"^bootstrap of (?P<deltas>\d+) deltas x (?P<resamples>[\d,]+) ",
                r"^  loop [^\n]* (?P<times>[\d.]+) x +equal",
            ),
        ),
    ),
    "duplicates": (
        Row(
            "hashing",
            "8 orientations × 2 variants of 1,000 JPEGs hashed, decode included",
            "`imagehash.phash`, one each",
            "{times}× its time",
            (r"^hashing against imagehash.phash [^\n]* (?P<times>[\d.]+)x +(?:met|MISSED)",),
        ),
        Row(
            "join",
            "join of the hashes of 50,000 pictures, 16 each, exact, {mb} MB",
            "faiss `IndexBinaryFlat`",
            "{times}× faster",
            (
                r"^join, evenly random +>= 5x faiss +(?P<times>[\d.]+)x",
                r"^join, evenly random: memory +<= 150 MB +(?P<mb>\d+) MB",
                r"^join, evenly random: exact +yes +yes",
            ),
        ),
    ),
    "consultation": (
        _dialogues(
            "consultation",
            "{cases} consultations of 28 utterances, answers stored and logged, {mb} MB",
            "a minimal inspect_ai task that makes the same calls",
        ),
    ),
    "concealment": (
        _dialogues("concealment", "{cases} reserved patients, 20 turns, {calls} requests each, {mb} MB", "the same"),
    ),
    "threads": (
        Row(
            "dumps",
            "{gb} GB of posts from a `.zst` dump in {mb} MB",
            "plain zstandard and json",
            "{times}× faster",
            (r"^(?P<gb>[\d.]+) GB of records", r"^bedside +\d+ +(?P<times>[\d.]+)x +(?P<mb>\d+) "),
        ),
    ),
}
"""By script of `scripts/bench`: the rows that are read from what it prints."""


def commands(captions: Path | None, others: str | None) -> dict[str, list[str]]:
    """The arguments of each benchmark that can run with what there is."""
    needs = {"text": captions, "language": captions}
    given = {"text": [str(captions)], "language": [str(captions)], "threads": ["--gigabytes", "1"]}
    given |= {"retrieval": ["--rounds", "2"]}
    given |= {"duplicates": ["--speed", "--rounds", "2", *(["--others", others] if others else [])]}
    given |= {"consultation": ["--rounds", "2"], "concealment": ["--rounds", "2", "--cases", "100"]}
    return {name: given.get(name, []) for name in ROWS if name not in needs or needs[name] is not None}


def read_figures(path: Path = FIGURES) -> dict[str, Measured]:
    """The rows as they were measured last, by name, in the order of the table."""
    return {name: Measured(**cells) for name, cells in json.loads(path.read_text(encoding="utf-8")).items()}


def table(figures: Mapping[str, Measured]) -> str:
    """The rows as Markdown."""
    lines = ["| script | what | against | ratio | measured at |", "|---|---|---|---:|---|"]
    for row in figures.values():
        place = f"{row.commit}, {row.date}"
        lines.append(f"| `bench/{row.script}.py` | {row.what} | {row.against} | {row.ratio} | {place} |")
    return "\n".join(lines)


def with_table(readme: str, figures: Mapping[str, Measured]) -> str:
    """The README with the table between its marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the README holds no {BEGIN} … {END}")
    return f"{before}{begin}\n{table(figures)}\n{end}{after}"


def measure(name: str, arguments: Sequence[str]) -> tuple[str, str]:
    """What a benchmark prints, and its last word where it fails."""
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.bench.{name}", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "240", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
    )
    return done.stdout, (done.stderr.strip().splitlines() or ["it says nothing of it"])[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=Path, help="CSV file with a column `caption`")
    parser.add_argument("--others", metavar="PYTHON", help="a Python that has faiss-cpu")
    parser.add_argument("--only", nargs="+", choices=[*ROWS, "none"], default=list(ROWS), metavar="SCRIPT")
    options = parser.parse_args(arguments)
    figures, possible, kept = read_figures(), commands(options.captions, options.others), 0
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 4:
        print(f"The machine is busy: a load of {load:.1f} on {cores} cores. Figures would tell of that, too.")
    for name in options.only:
        if name not in possible:
            if name != "none":
                print(f"bench/{name}: cannot run without what --help tells; its rows stay")
            continue
        print(f"python -m scripts.bench.{name} {' '.join(possible[name])}".rstrip(), flush=True)
        started = time.monotonic()
        printed, last = measure(name, possible[name])
        print(f"  {time.monotonic() - started:.0f} s", flush=True)
        for row in ROWS[name]:
            cells = row.read(printed)
            if cells is None:
                kept += 1
                print(f"  {row.name} stays: {last}")
                continue
            machine = f"{cores} cores, {platform.machine()}, Python {platform.python_version()}"
            day = datetime.now(UTC).date().isoformat()
            figures[row.name] = Measured(name, **cells, commit=commit(), date=day, machine=machine, load=round(load, 1))
            print(f"  {row.name}: {cells['ratio']}", flush=True)
    told = {name: asdict(figure) for name, figure in figures.items()}
    write_whole(FIGURES, (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode())
    readme = ROOT / "README.md"
    write_whole(readme, with_table(readme.read_text(encoding="utf-8"), figures).encode())
    return min(kept, 1)


if __name__ == "__main__":
    raise SystemExit(main())
