"""Thousands of cases nobody thought of: 1,000 here, as many as BEDSIDE_FUZZ says with `scripts/fuzz`.

A campaign tries half of them where the file system and the terminal speak ASCII. Here all are tried there: it takes as
long to import everything a second time as to try them, and what is no ASCII is the harder of the two."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fuzz import yard
from tests.fuzz.bench import Bench
from tests.fuzz.damage import damaged
from tests.fuzz.lines import PLACES, commands
from tests.fuzz.readers import READERS
from tests.fuzz.trying import Line, Read
from tests.parts.processes import starting
from tests.parts.waiting import PATIENCE

CASES = int(os.environ.get("BEDSIDE_FUZZ", "1000"))
SEED = int(os.environ.get("BEDSIDE_FUZZ_SEED", "0"))
CHUNK = 50  # each tenth is command lines
LOCALES: list[dict[str, str]] = [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
"""The usual one, and one in which the file system and the terminal speak ASCII."""
TRIED = (0, 1) if "BEDSIDE_FUZZ" in os.environ else (1,)

_OFTEN = [name for name, reader in sorted(READERS.items()) for _ in range(reader.often)]
_COMMANDS = sorted(commands())


def _damages(draw: random.Random, count: int) -> tuple[tuple[int, int, int], ...]:
    return tuple((draw.randrange(2**20), draw.randrange(2**20), draw.randrange(2**20)) for _ in range(count))


def read(draw: random.Random) -> Read:
    return Read(draw.choice(_OFTEN), _damages(draw, draw.randrange(4)))


def line(draw: random.Random) -> Line:
    return Line(draw.choice(_COMMANDS), draw.randrange(16), draw.randrange(len(PLACES)), draw.randrange(10**6))


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.chmod(0o755)
    yield folder / "yard"
    yard.remove(folder / "yard")
    shutil.rmtree(folder, ignore_errors=True)


def faults(count: int, fault: Callable[[object], str | None], locale: int) -> str:
    """The faults of so many cases, each kind once, with the first case that showed it; "" where there is none.

    Chunks that the log holds are not tried again: a campaign that was ended goes on.
    """
    found: dict[str, str] = {}
    times: Counter[str] = Counter()
    tried = _tried(locale)
    for chunk in range(count // CHUNK):
        if chunk not in tried:
            draw, kind = random.Random(SEED * 1_000_003 + 2 * chunk + locale), line if chunk % 10 == 9 else read
            cases = [kind(draw) for _ in range(CHUNK)]
            tried[chunk] = [f"{told}\n{case}" for case in cases if (told := fault(case)) is not None]
            _log({"seed": SEED, "locale": locale, "chunk": chunk, "cases": CHUNK, "faults": tried[chunk]})
        times.update(told.splitlines()[0] for told in tried[chunk])
        found = {told.splitlines()[0]: told for told in tried[chunk]} | found
    return "\n\n".join(f"===== {times[kind]} x {told}" for kind, told in found.items())


def _log(record: dict[str, object]) -> None:
    if log := os.environ.get("BEDSIDE_FUZZ_LOG"):
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(record)}\n")


def _tried(locale: int) -> dict[int, list[str]]:
    """Each chunk that the log holds, with its faults; a line that was cut off is one that was not written."""
    log, tried = Path(os.environ.get("BEDSIDE_FUZZ_LOG", "")), {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.is_file() else ():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if (record["seed"], record["locale"], record["cases"]) == (SEED, locale, CHUNK):
            tried[record["chunk"]] = record["faults"]
    return tried


_REAL = (
    ("captions csv", "build medlaybench-v --allow-licence unknown --out new --captions "),
    ("cases jsonl", "build medconceal --out new --source cases="),
)
"""A reader, whose file is spoiled, and the command that is to read it; in the usual locale, and in ASCII."""


def in_processes_of_their_own(place: Path, within: Path) -> None:
    """Some commands as people start them, side by side."""
    running = []
    for number, (reader, words) in enumerate(_REAL):
        folder = within / str(number)
        folder.mkdir()
        words = f"{words}{damaged(place, READERS[reader], _damages(random.Random(SEED), 2), folder)}"
        how = starting(("-m", "scripts", *words.split()), LOCALES[number]) | {"cwd": folder}
        running.append(subprocess.Popen(**how, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    for process in running:
        said, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode in (0, 1, 2) and "Traceback" not in said, said


@pytest.mark.parametrize("locale", TRIED)
def test_nothing_falls_over_what_it_reads_or_where_it_is_led(place: Path, locale: int, tmp_path: Path) -> None:
    with Bench(place, **LOCALES[locale]) as bench:
        told = faults(CASES // len(TRIED), bench.fault, locale)
    assert not told, told
    in_processes_of_their_own(place, tmp_path)
