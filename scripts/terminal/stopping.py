"""Requests to stop: SIGTERM and SIGHUP do what Ctrl-C does, and the exit code says which of them it was.

The exception that a signal raises surfaces in whatever is running, and a library may take it for an error of its own,
or drop it. So each signal is also recorded below Python's handlers, which others may replace: once one was received,
however the command ends is taken for the requested end.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from threading import Timer
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_asked: signal.Signals | None = None
_noted: int | None = None
"""The reading end of a pipe that delivers the numbers of the signals received since the last read."""


def asked() -> signal.Signals | None:
    """The first signal that asked this process to stop: SIGINT, SIGTERM or SIGHUP."""
    global _asked
    if _noted is not None:
        with suppress(BlockingIOError):
            came = [number for number in os.read(_noted, 65536) if number in _ENDS]
            _asked = _asked or next(map(signal.Signals, came), None)
    return _asked


def answered() -> None:
    """Record that stopping is this command's regular way to end, as for a server: it did everything that it should."""
    global _asked
    asked()
    _asked = None


def code() -> int:
    """The exit code of a command that was stopped: 143 by SIGTERM, 129 by SIGHUP, 130 by Ctrl-C."""
    return 128 + (asked() or signal.SIGINT)


def end_as_by_ctrl_c() -> None:
    """From now on, both signals act like Ctrl-C in this process, and all three are recorded.

    A signal that was set to be ignored stays ignored, as with `nohup`.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
    sys.unraisablehook = _ask_again
    _note()


def _note() -> None:
    """Have the number of each signal from now on written into a pipe; once per process."""
    global _noted
    if _noted is None:
        _noted, writing = os.pipe()
        for end in (_noted, writing):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=forget)


def forget() -> None:
    """Stop recording signals and forget those received: in a forked process the pipe is its parent's."""
    global _asked, _noted
    signal.set_wakeup_fd(-1)
    _asked = _noted = None


def hear() -> None:
    """For processes that this one starts, undo that its shell ignores Ctrl-C (`&`) or SIGHUP (`nohup`), as they
    inherit it.

    SIGHUP is caught and does nothing, so that this process itself goes on.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def _end(number: int, frame: FrameType | None) -> None:
    # Whoever handles Ctrl-C now, an event loop or Python itself, ends its work in its own order.
    interrupt = signal.getsignal(signal.SIGINT)
    if callable(interrupt):
        interrupt(signal.SIGINT, frame)
    else:  # a shell starts background jobs with Ctrl-C ignored
        raise KeyboardInterrupt


def _ask_again(lost: UnraisableHookArgs) -> None:
    """Handles an error that Python cannot raise to anybody.

    A signal that arrives while a destructor or a weak reference's callback runs ends only that, and the command would
    go on as if nobody had asked. So the signal is sent once more, a moment later.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = Timer(0.02, os.kill, (os.getpid(), asked() or signal.SIGINT))
    again.daemon = True
    again.start()
