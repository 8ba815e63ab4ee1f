"""Thousands of cases nobody thought of: 5,000 here, as many as BEDSIDE_FUZZ says with `scripts/fuzz`."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz import yard
from tests.fuzz.bench import Bench
from tests.fuzz.damage import damaged
from tests.fuzz.lines import PLACES, commands
from tests.fuzz.readers import READERS
from tests.fuzz.trying import Line, Read
from tests.parts.processes import starting

CASES = int(os.environ.get("BEDSIDE_FUZZ", "5000"))
SEED = int(os.environ.get("BEDSIDE_FUZZ_SEED", "0"))
CHUNK = 250
LOCALES: list[dict[str, str]] = [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
"""The usual one, and one in which the file system and the terminal speak ASCII."""

_OFTEN = [name for name, reader in sorted(READERS.items()) for _ in range(reader.often)]
_number = st.integers(0, 2**20)
reads = st.builds(Read, st.sampled_from(_OFTEN), st.lists(st.tuples(_number, _number, _number), max_size=3).map(tuple))
lines = st.builds(
    Line,
    st.sampled_from(sorted(commands())),
    st.integers(0, 15),
    st.integers(0, len(PLACES) - 1),
    st.integers(0, 10**6),
)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.chmod(0o755)
    yield folder / "yard"
    yard.remove(folder / "yard")
    shutil.rmtree(folder, ignore_errors=True)


def faults(count: int, fault: Callable[[object], str | None], locale: int) -> str:
    """The faults of so many cases, each kind once, with the first case that showed it; "" where there is none."""
    found: dict[str, str] = {}
    times: dict[str, int] = {}

    def one(case: object) -> None:
        told = fault(case)
        if told is not None:
            kind = told.splitlines()[0]
            times[kind] = times.get(kind, 0) + 1
            if kind not in found:
                found[kind] = f"{told}\n{case}"
                _log(f"===== {found[kind]}")

    for chunk in range(count // CHUNK):
        kind = lines if chunk % 10 == 9 else reads
        check = settings(
            max_examples=CHUNK,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )(given(kind)(one))
        seed(SEED * 1_000_003 + 2 * chunk + locale)(check)()
        _log(f"locale {locale}: {(chunk + 1) * CHUNK:,} cases, {len(found)} kinds of faults")
    return "\n\n".join(f"===== {times[kind]} x {told}" for kind, told in found.items())


def _log(text: str) -> None:
    if log := os.environ.get("BEDSIDE_FUZZ_LOG"):
        with Path(log).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{text}\n")


_REAL = (
    ("captions csv", "build medlaybench-v --allow-licence unknown --out new --captions "),
    ("photo table", "build 3mdbench --out new --source table="),
    ("cases jsonl", "build medconceal --out new --source cases="),
    ("verify patients", "verify "),
)
"""A reader, whose file is spoiled, and the command that is to read it."""


def in_processes_of_their_own(place: Path, locale: int, within: Path) -> None:
    """Some commands as people start them, side by side: the first and the third, or the others."""
    draw = random.Random(SEED)
    running = []
    for number, (reader, line) in list(enumerate(_REAL))[locale::2]:
        folder = within / str(number)
        folder.mkdir()
        damages = [(draw.randrange(2**20), draw.randrange(2**20), draw.randrange(2**20)) for _ in range(2)]
        words = f"{line}{damaged(place, READERS[reader], tuple(damages), folder)}".split()
        how = starting(("-m", "scripts", *words), LOCALES[locale]) | {"cwd": folder}
        running.append(subprocess.Popen(**how, stdout=subprocess.PIPE, stderr=subprocess.STDOUT))
    for process in running:
        said, _ = process.communicate(timeout=300)
        assert process.returncode in (0, 1, 2) and "Traceback" not in said, said


# One test for both, as one yard does for both; a campaign has the time for two yards, and so works side by side.
@pytest.mark.parametrize("locales", [[0], [1]] if "BEDSIDE_FUZZ" in os.environ else [[0, 1]])
def test_nothing_falls_over_what_it_reads_or_where_it_is_led(place: Path, locales: list[int], tmp_path: Path) -> None:
    for locale in locales:
        with Bench(place, **LOCALES[locale]) as bench:
            told = faults(CASES // 2, bench.fault, locale)
        assert not told, told
        in_processes_of_their_own(place, locale, tmp_path)
