"""What is printed where nobody reads it, where nothing has room for it, and where there is nothing to print to."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import IO

import pytest

from loaders.errors import InputError
from scripts.terminal import stopping
from scripts.terminal.console import output
from scripts.terminal.streams import _Results, _Stream, drop_no_size
from tests.parts.processes import printed, starting
from tests.parts.waiting import PATIENCE

FULL = Path("/dev/full")


def ended(out: int | IO[str], err: int | IO[str], *words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(**starting(words, {}), stdout=out, stderr=err, timeout=PATIENCE)


def saying(out: Path) -> tuple[object, ...]:
    """A command that prints, and imports little."""
    return ("-m", "scripts", "new", "baseline", "parrot", "--out", out)


def unread() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def test_a_reader_who_leaves_ends_a_command_as_unix_does_and_one_of_progress_does_not(tmp_path: Path) -> None:
    gone = unread()
    done = ended(gone, subprocess.PIPE, *saying(tmp_path / "one"))
    assert (done.returncode, done.stderr) == (141, "")  # 1 would say that a check found problems
    assert ended(subprocess.DEVNULL, gone, *saying(tmp_path / "two")).returncode == 0
    assert ended(subprocess.DEVNULL, gone, *saying(tmp_path / "two")).returncode == 2
    os.close(gone)


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full on this system")
def test_results_that_find_no_room_are_an_error(tmp_path: Path) -> None:
    with FULL.open("w") as full:
        done = ended(full, subprocess.PIPE, *saying(tmp_path / "one"))
    assert (
        done.returncode == 2 and "Error standard output\n  found    it cannot be written (No space left" in done.stderr
    )


def test_no_file_takes_the_place_of_a_stream_that_is_closed(tmp_path: Path) -> None:
    """What a library prints would stand in it."""
    file = tmp_path / "file"
    code = (
        "import os, sys\n"
        "for number in range(3): os.close(number)\n"
        "sys.stdin = sys.stdout = sys.stderr = None\n"
        "from scripts.terminal import streams\n"
        "streams.guard()\n"
        f"number = os.open({str(file)!r}, os.O_CREAT | os.O_RDWR)\n"
        "print('said'); print('said', file=sys.stderr); os.write(1, b'said'); sys.stdout.flush()\n"
        "os.write(number, repr((number, sys.stdin.read())).encode())\n"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=PATIENCE).returncode == 0
    assert file.read_text() == "(3, '')"


@pytest.mark.parametrize("kind", [_Stream, _Results])
def test_a_terminal_that_does_not_wait_is_waited_for(kind: Callable[[int], _Stream]) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    came: list[bytes] = []

    def read() -> None:
        while block := os.read(reading, 4096):
            came.append(block)

    reader = Thread(target=read)
    reader.start()
    stream = kind(writing)
    text = os.urandom(500_000)
    rest = memoryview(text)
    while rest:
        rest = rest[stream.write(rest) :]
    os.close(writing)
    reader.join()
    os.close(reading)
    assert b"".join(came) == text


def test_lost_output_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = unread()
    results = _Results(gone)
    with pytest.raises(SystemExit, match="141"):
        results.write(b"said")
    assert results.write(b"said") == 4
    monkeypatch.setattr(stopping, "asked", lambda: 1)
    assert _Results(gone).write(b"said") == 4  # with the terminal that was closed
    monkeypatch.undo()
    results = _Results(gone)
    os.close(gone)
    with pytest.raises(InputError, match="Bad file"):
        results.write(b"said")


def test_what_is_printed_cannot_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    """Captions and answers of models may hold anything; line ends stay."""
    output.print("a\n\x1b[2J\x1b]0;owned\x07\u202ec")
    assert capsys.readouterr().out == "a\n\\x1b[2J\\x1b]0;owned\\x07\\u202ec\n"


def test_a_terminal_without_a_size_says_as_much_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a width of 0 nothing was printed, and the command ended well."""
    told = printed("-m", "bedside", "--version"), printed("-m", "scripts", "info", COLUMNS="0", LINES="0")
    assert told[0].startswith("bedside ") and "medconceal" in told[1]
    for given, left in (("0", None), ("²", None), ("wide", None), ("30", "30")):
        monkeypatch.setenv("COLUMNS", given)
        drop_no_size()
        assert os.environ.get("COLUMNS") == left


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_whatever_the_output_can_show(encoding: str) -> None:
    printing = "from scripts.terminal import console, streams; streams.guard(); console.print_json(['Ça va 😀'])"
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    ran = subprocess.run([sys.executable, "-c", printing], env=environment, capture_output=True, check=True)
    assert json.loads(ran.stdout.decode(encoding)) == ["Ça va 😀"]
