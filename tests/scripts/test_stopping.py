"""Commands that are asked to end: SIGTERM and SIGHUP say what is kept, as Ctrl-C does, each with its own exit code."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from multiprocessing import set_forkserver_preload
from pathlib import Path
from typing import Any

import pytest
import typer

from loaders.errors import ModelError
from scripts import cli
from scripts.bench.chaos_jobs import Attempt
from scripts.terminal import stopping
from scripts.terminal.console import interruptible
from tests.parts.chat_server import ChatServer
from tests.parts.processes import printed, started, starting
from tests.parts.waiting import PATIENCE, wait_until

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
REST = (signal.SIGINT, signal.SIGHUP)
LONG = pytest.mark.long
ROLES = [word for role in ("doctor", "patient", "assessor") for word in (f"--{role}", f"openai-api/local/{role}")]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """It answers five times, and then takes its time."""

    def reply(body: dict[str, Any]) -> str:
        if len(running.requests) > 5:
            running.stopping.wait(PATIENCE)
        return "What else?"

    with ChatServer(reply) as running:
        yield running


@pytest.fixture
def begin(tmp_path: Path) -> Callable[..., Attempt]:
    """Starts a command in a process of its own, forked off one that has imported what these commands import: how a cold
    one ends is tried with a terminal that is closed."""
    set_forkserver_preload(["scripts.run.captioning", "scripts.run.consultation", "inspect_ai.scorer", "openai"])
    return lambda words, server: Attempt(words, tmp_path / "told", variables(server))


def consultation(release: Path, out: Path, *more: str) -> tuple[object, ...]:
    return ("run", "consultation", release, "-o", out, "--limit", 4, *ROLES, *more)


def variables(server: ChatServer) -> dict[str, str]:
    return {"LOCAL_API_KEY": "not-a-secret", "LOCAL_BASE_URL": server.base_url, "COLUMNS": "400"}


def wait_for_requests(server: ChatServer) -> None:
    wait_until(lambda: len(server.requests) >= 6)


def stored(run: Path) -> int:
    with closing(sqlite3.connect(run / "private" / "answers.sqlite")) as store:
        return int(store.execute("SELECT COUNT(*) FROM answers").fetchone()[0])


# In an evaluation the two others are tried below: in the background, and by a terminal that is closed.
@pytest.mark.parametrize(
    ("sign", "more"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ["--bare"]), *(pytest.param(one, ["--bare"], marks=LONG) for one in REST)],
)
def test_a_signal_ends_a_run_with_its_code_and_what_is_kept(
    sign: signal.Signals,
    more: list[str],
    photos: Path,
    server: ChatServer,
    begin: Callable[..., Attempt],
    tmp_path: Path,
) -> None:
    process = begin(consultation(photos, tmp_path / "run", *more), server)
    wait_for_requests(server)
    process.send(sign, whole=False)
    code, said = process.ended(PATIENCE), process.said()
    assert code == CODES[sign], said
    assert "0 of 4 dialogues are finished and every answer is in" in said and "Traceback" not in said


@pytest.mark.parametrize("sign", [pytest.param(signal.SIGINT, marks=LONG), signal.SIGKILL])
def test_a_stopped_run_of_captions_asks_for_the_others_alone(
    sign: signal.Signals, captions: Path, server: ChatServer, begin: Callable[..., Attempt], tmp_path: Path
) -> None:
    """With the log, which holds the images, and with the answers of an earlier version looked for before it begins."""
    words = ("run", "captioning", captions, "--model", "openai-api/local/captioner", "--pairs", 5)
    words = (*words, "--resamples", 10, "-o")
    process = begin((*words, tmp_path / "run"), server)
    wait_for_requests(server)
    wait_until(lambda: stored(tmp_path / "run") == 5)  # the sixth was asked when one of them was
    process.send(sign, whole=True)
    code, said = process.ended(PATIENCE), process.said()
    assert code == (130 if sign == signal.SIGINT else -sign), said
    assert ("of 5 dialogues are finished and every answer is in" in said) == (sign == signal.SIGINT), said
    assert not (tmp_path / "run" / "dialogues.jsonl").exists()
    assert stored(tmp_path / "run") == 5
    with ChatServer("What else?") as other:
        assert begin((*words, tmp_path / "run"), other).ended(PATIENCE) == 0
        assert len(other.requests) == 10 - 5
        assert begin((*words, tmp_path / "undisturbed"), other).ended(PATIENCE) == 0
    for name in ("dialogues.jsonl", "usage.json", "results.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()


@pytest.mark.long
def test_what_runs_in_the_background_ends_by_sigterm(photos: Path, server: ChatServer, tmp_path: Path) -> None:
    """A shell starts it with Ctrl-C ignored, and `nohup` with SIGHUP."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        process = started("-m", "scripts", *consultation(photos, tmp_path / "run"), **variables(server))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    wait_for_requests(server)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.terminate()
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 143 and "every answer is in" in said, said


def test_what_is_started_from_the_background_hears_signals_again() -> None:
    child = "import signal; print(*(signal.getsignal(one) == signal.SIG_IGN for one in (2, 1)))"
    code = (
        "import os, signal, subprocess, sys\nfrom scripts.terminal import stopping\n"
        "for one in (2, 1): signal.signal(one, signal.SIG_IGN)\n"
        "stopping.hear()\nos.kill(os.getpid(), signal.SIGHUP)\n"
        f"subprocess.run([sys.executable, '-c', {child!r}])"
    )
    assert printed("-c", code).split() == ["False", "False"]


def test_a_terminal_that_is_closed_ends_a_run_like_a_signal(photos: Path, server: ChatServer, tmp_path: Path) -> None:
    """With it goes what was printed to: that is no error of its own."""
    how = starting(("-m", "scripts", *consultation(photos, tmp_path / "run")), variables(server))
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(how["cwd"])
        os.execve(how["args"][0], how["args"], how["env"])
    wait_for_requests(server)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129


@pytest.mark.parametrize("moment", ["root", "_command"])  # no command yet; one that is being imported
def test_a_signal_before_any_work_is_no_traceback(moment: str) -> None:
    code = (
        "import os, signal, sys\nfrom scripts import cli\n"
        "def late(*_): os.kill(os.getpid(), signal.SIGTERM)\n"
        f"cli.{moment} = late\n"
        "try: cli.main(['info'])\nexcept SystemExit as end: print(end.code)"
    )
    assert printed("-c", code).split() == ["143"]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Signals as a command hears them; what was here before comes back."""
    before = {number: signal.getsignal(number) for number in CODES}
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        stopping.end_as_by_ctrl_c()
        yield
    finally:
        stopping.forget()  # what comes later in this process is another test's, which asks nobody to end
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("sign", CODES)
def test_a_signal_that_comes_while_a_destructor_runs_is_not_lost(sign: signal.Signals) -> None:
    class Held:
        def __del__(self) -> None:
            signal.raise_signal(sign)

    with pytest.raises(KeyboardInterrupt):
        Held()
        time.sleep(10)
    assert stopping.code() == CODES[sign]


def wrapped(sign: signal.Signals) -> None:
    try:
        signal.raise_signal(sign)
    except KeyboardInterrupt as interrupt:
        raise ValueError(f"Error building `model` serializer: {interrupt!r}") from None


def told_as_ours(sign: signal.Signals) -> None:
    try:
        wrapped(sign)
    except ValueError as error:
        raise ModelError("model", found=f"cannot be opened: {error}") from error


def dropped(sign: signal.Signals) -> None:
    with suppress(BaseException):
        signal.raise_signal(sign)


def left(sign: signal.Signals) -> None:
    dropped(sign)
    raise SystemExit(3)


def dropped_by_a_task(sign: signal.Signals) -> None:
    """An event loop has a handler of its own for Ctrl-C, and tells by cancelling."""

    async def work() -> None:
        signal.raise_signal(sign)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(10)

    asyncio.run(work())


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("sign", CODES)
@pytest.mark.parametrize("ends", [wrapped, told_as_ours, dropped, left, dropped_by_a_task])
def test_what_a_library_makes_of_a_signal_is_still_the_end_that_was_asked_for(
    ends: Callable[[signal.Signals], None], sign: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as end:
        interruptible(ends)(sign)
    assert end.value.exit_code == CODES[sign]
    told = "Stopped. Run the same command again: what it has stored is not done again"
    assert capsys.readouterr().err.strip() == told
    stopping.answered()
    with pytest.raises(ZeroDivisionError):  # with nobody asking, an error is an error
        interruptible(lambda: 1 // 0)()


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("ends", [wrapped, told_as_ours, dropped])
def test_so_it_is_while_a_command_is_imported(
    ends: Callable[[signal.Signals], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def root() -> Any:
        ends(signal.SIGINT)
        return actual()

    actual = cli.root
    monkeypatch.setattr(cli, "root", root)
    assert cli.execute(["--version"]) == 130
    assert "Error" not in capsys.readouterr().err


def test_so_it_is_while_the_command_line_itself_is_imported() -> None:
    code = (
        "import signal, sys, bedside\n"
        "class Late:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'scripts.cli':\n"
        "            try: signal.raise_signal(signal.SIGINT)\n"
        "            except KeyboardInterrupt: raise ImportError(name) from None\n"
        "sys.meta_path.insert(0, Late())\n"
        "try: bedside.main()\nexcept SystemExit as end: print(end.code)"
    )
    assert printed("-c", code).split() == ["130"]


@pytest.mark.parametrize(
    ("imported", "run"),
    [("scripts.terminal", "import bedside; bedside.main()"), ("bedside", "import runpy; runpy.run_module('scripts')")],
)
def test_ctrl_c_before_anything_can_handle_it_is_no_traceback(imported: str, run: str) -> None:
    code = (
        "import sys\n"
        "class Late:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {imported!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Late())\n"
        f"try: {run}\nexcept SystemExit as end: print(end.code)"
    )
    assert printed("-c", code).split() == ["130"]


@pytest.mark.usefixtures("heard")
def test_a_process_that_was_forked_off_is_not_heard_for_its_parent() -> None:
    child = os.fork()
    if not child:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert stopping.asked() is None
