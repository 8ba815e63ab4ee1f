"""Being asked to end: SIGTERM and SIGHUP do what Ctrl-C does, and the exit code says which of them it was."""

from __future__ import annotations

import os
import signal
import sys
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_asked: signal.Signals | None = None


def asked() -> signal.Signals | None:
    """The signal, besides Ctrl-C, that asked this process to end."""
    return _asked


def code() -> int:
    """The exit code of a command that was ended: 143 by SIGTERM, 129 by SIGHUP, 130 by Ctrl-C."""
    return 128 + (_asked or signal.SIGINT)


def end_as_by_ctrl_c() -> None:
    """From now on, both signals are for this process what Ctrl-C is.

    A signal that was set to be ignored stays so: `nohup` does that.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
    sys.unraisablehook = _ask_again


def hear() -> None:
    """Undo for what this process starts that its shell ignores Ctrl-C (`&`) or SIGHUP (`nohup`), which is inherited.

    SIGHUP is caught and nothing done, so that the process itself goes on.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def _end(number: int, frame: FrameType | None) -> None:
    global _asked
    _asked = _asked or signal.Signals(number)
    # Whoever takes Ctrl-C now, an event loop or Python itself, ends what it does in its own order.
    interrupt = signal.getsignal(signal.SIGINT)
    if callable(interrupt):
        interrupt(signal.SIGINT, frame)
    else:  # a shell starts what runs in the background with Ctrl-C ignored
        raise KeyboardInterrupt


def _ask_again(lost: UnraisableHookArgs) -> None:
    """What Python does with an error that nobody can catch.

    A signal that comes while a destructor or a weak reference's callback runs ends that alone, and the command would
    go on as if nobody had asked. So it is sent once more, a moment later.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = Timer(0.02, os.kill, (os.getpid(), _asked or signal.SIGINT))
    again.daemon = True
    again.start()


def let_go_of_terminal() -> None:
    """What is still to be printed goes nowhere where the terminal is gone: else Python's end would fail by it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
