"""Measures every row of the README's table of speed again with one command, and writes the table.

    python -m scripts.bench.all --captions roco_test.csv [--others PYTHON] [--only text start …]
    python -m scripts.bench.all --only none           # nothing is measured, the table is written as it was

Each benchmark runs in a process of its own, with its command printed first. Its rows are stored in `speed.json` with
the commit, the day and the machine, and the README's table is written from there. A row that cannot be measured here
(no captions, no photos, no other tool) stays as it is, with the commit at which it was measured. `--captions` is a CSV
file with a column `caption`; `--others` is a Python that has the tools that `bench/duplicates.py` names. Use a quiet
machine: there is a warning on a busy one. All of it takes about twelve minutes of one core: each benchmark runs as
briefly as its rows allow.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from loaders.files.disk import write_whole
from scripts.bench.apart import ROOT, Measured, Row, apart, commit

FIGURES = Path(__file__).with_name("speed.json")
BEGIN, END = "<!-- speed: python -m scripts.bench.all -->", "<!-- /speed -->"


@dataclass(frozen=True)
class Figure:
    """A row as it stands in the README, and where and when it was measured; `load` is that of the machine before."""

    script: str
    what: str
    against: str
    ratio: str
    commit: str
    date: str
    machine: str
    load: float | None = None


def commands(captions: Path | None, others: str | None) -> dict[str, list[str] | None]:
    """The arguments of each benchmark; None for one that cannot run with what there is."""
    table = [str(captions)] if captions else None
    return {
        "start": [],
        "text": table,
        "language": table,
        "retrieval": ["--rounds", "2"],
        "duplicates": ["--speed", "--rounds", "2", *(["--others", others] if others else [])],
        "consultation": ["--rounds", "2"],
        "concealment": ["--rounds", "2", "--cases", "100"],
        "threads": ["--gigabytes", "1"],
    }


def read_figures() -> dict[str, Figure]:
    """The rows as they were measured last, by name, in the order of the table."""
    return {name: Figure(**cells) for name, cells in json.loads(FIGURES.read_text(encoding="utf-8")).items()}


def with_table(readme: str, figures: Mapping[str, Figure]) -> str:
    """The README with the table between its marks."""
    before, begin, rest = readme.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the README holds no {BEGIN} … {END}")
    lines = ["| script | what | against | ratio | measured at |", "|---|---|---|---:|---|"]
    for row in figures.values():
        place = f"{row.commit}, {row.date}"
        lines.append(f"| `bench/{row.script}.py` | {row.what} | {row.against} | {row.ratio} | {place} |")
    return "\n".join([before + begin, *lines, end + after])


def measure(name: str, arguments: Sequence[str]) -> Measured:
    """What a benchmark measures."""
    os.environ |= {"COLUMNS": "240", "NO_COLOR": "1"}
    found: Measured = import_module(f"scripts.bench.{name}").main(arguments)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    names = list(commands(None, None))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captions", type=Path, help="CSV file with a column `caption`")
    parser.add_argument("--others", metavar="PYTHON", help="a Python that has faiss-cpu")
    parser.add_argument("--only", nargs="+", choices=[*names, "none"], default=names, metavar="SCRIPT")
    options = parser.parse_args(arguments)
    figures, given, missed = read_figures(), commands(options.captions, options.others), False
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores / 4:
        print(f"The machine is busy: a load of {load:.1f} on {cores} cores. Figures would tell of that, too.")
    machine = f"{cores} cores, {platform.machine()}, Python {platform.python_version()}"
    for name in options.only:
        if name == "none":
            continue
        if (words := given[name]) is None:
            print(f"bench/{name}: cannot run without what --help tells; its rows stay")
            continue
        print(f"python -m scripts.bench.{name} {' '.join(words)}".rstrip(), flush=True)
        started, rows = time.monotonic(), dict[str, Row]()
        try:
            rows = {row.name: row for row in apart(measure, name, words).rows}
        except (Exception, SystemExit) as error:  # the rows of all others count
            print(error)
        print(f"  {time.monotonic() - started:.0f} s", flush=True)
        day = datetime.now(UTC).date().isoformat()
        for key, figure in figures.items():
            if figure.script == name and (row := rows.get(key)):
                print(f"  {key}: {row.ratio}", flush=True)
                figures[key] = Figure(name, *row[1:], commit(), day, machine, round(load, 1))
            elif figure.script == name:
                print(f"  {key} stays")
                missed = True
    told = {name: asdict(figure) for name, figure in figures.items()}
    write_whole(FIGURES, (json.dumps(told, indent=2, ensure_ascii=False) + "\n").encode())
    readme = ROOT / "README.md"
    write_whole(readme, with_table(readme.read_text(encoding="utf-8"), figures).encode())
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
