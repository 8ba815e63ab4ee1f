"""What `bedside` costs before it does anything: CPU time and peak memory, beside `hf --version` of huggingface_hub.

    python -m scripts.bench.start [--repeat 7]

Each command runs in a process of its own, in turn, so that other load on the machine affects all of them, and on 120
columns: on fewer than 100, help is laid out by ourselves, in two thirds of the time. The table shows medians, and the
median of each round's ratio to `hf --version`. The exit code is 1 if `bedside --version` takes more than three times
the CPU time of `hf --version`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from statistics import median

from scripts.bench.apart import ROOT, Measured, Row, ended
from scripts.terminal.console import output, table

LIMIT = 3.0
HF = [sys.executable, "-c", "from huggingface_hub.cli.hf import main; main()", "--version"]
BEDSIDE = [sys.executable, "-m", "scripts"]
COMMANDS = {
    "hf --version": HF,
    **{f"bedside {' '.join(words)}": [*BEDSIDE, *words] for words in (["--version"], ["--help"], ["run", "--help"])},
}


# Linux counts what its parent held in a process's peak, so a command's parent is a Python that has imported nothing.
_APART = """
import os, sys
quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
_, status, usage = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet), 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def measure(command: list[str]) -> tuple[float, float]:
    """CPU seconds and peak MB of one run of a command."""
    apart = [sys.executable, "-S", "-c", _APART, *command]
    told = subprocess.run(
        apart, cwd=ROOT, env=os.environ | {"COLUMNS": "120"}, stdout=subprocess.PIPE, text=True, check=True
    )
    code, seconds, peak = map(float, told.stdout.split())
    if code:
        raise SystemExit(f"{' '.join(command)}: exit code {code:.0f}")
    return seconds, peak / (1024 if sys.platform == "darwin" else 1) / 1024


def main(arguments: Sequence[str]) -> Measured:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7, metavar="N", help="runs of each command")
    repeat = parser.parse_args(arguments).repeat
    for command in COMMANDS.values():
        measure(command)  # the first run writes byte code
    turns = [{name: measure(command) for name, command in COMMANDS.items()} for _ in range(repeat)]
    columns = ("CPU s", "of hf", "peak MB", " of hf")
    shown = table(f"Start of a command, median of {repeat}", "", *columns, right=columns)
    ratio, memory = dict[str, str](), dict[str, str]()
    for name in COMMANDS:
        seconds, peak = (median(turn[name][part] for turn in turns) for part in (0, 1))
        times, more = (median(turn[name][part] / turn["hf --version"][part] for turn in turns) for part in (0, 1))
        ratio[name], memory[name] = f"{times:.2f}", f"{peak:.0f}"
        shown.add_row(name, f"{seconds:.2f}", ratio[name], memory[name], f"{more:.2f}")
    output.print(shown)
    version, run = "bedside --version", "bedside run --help"
    row = Row(
        "start",
        f"CPU time of `{version}` (of `{run}`)",
        "`hf --version`",
        f"{ratio[version]}× ({ratio[run]}×); {memory[version]} MB ({memory[run]}) against {memory['hf --version']}",
    )
    return Measured([row], float(ratio[version]) <= LIMIT)


if __name__ == "__main__":
    ended(main)
