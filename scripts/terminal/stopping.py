"""Being asked to end: SIGTERM and SIGHUP do what Ctrl-C does, and the exit code says which of them it was.

What a signal raises comes up within whatever runs, and a library may take it for an error of its own, or drop it. So
each signal is noted besides, below Python's handlers, which others may replace: what a command comes to after one was
asked for is the end that was asked for, whatever it looks like.
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
"""The end of a pipe from which the numbers of the signals are read, of those that came since."""


def asked() -> signal.Signals | None:
    """The signal that asked this process to end, the first of them: SIGINT, SIGTERM or SIGHUP."""
    global _asked
    if _noted is not None:
        with suppress(BlockingIOError):
            came = [number for number in os.read(_noted, 65536) if number in _ENDS]
            _asked = _asked or next(map(signal.Signals, came), None)
    return _asked


def answered() -> None:
    """The end that was asked for is this command's own way to end, as of a server: it did all that it was to do."""
    global _asked
    asked()
    _asked = None


def code() -> int:
    """The exit code of a command that was ended: 143 by SIGTERM, 129 by SIGHUP, 130 by Ctrl-C."""
    return 128 + (asked() or signal.SIGINT)


def end_as_by_ctrl_c() -> None:
    """From now on, both signals are for this process what Ctrl-C is, and all three are noted.

    A signal that was set to be ignored stays so: `nohup` does that.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _end)
    sys.unraisablehook = _ask_again
    _note()


def _note() -> None:
    """Has the number of each signal that comes from now on written into a pipe, once for a process."""
    global _noted
    if _noted is None:
        _noted, writing = os.pipe()
        for end in (_noted, writing):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=forget)


def forget() -> None:
    """No signal is noted from now on, and none has come: in a process that was forked off the pipe is its parent's."""
    global _asked, _noted
    signal.set_wakeup_fd(-1)
    _asked = _noted = None


def hear() -> None:
    """Undo for what this process starts that its shell ignores Ctrl-C (`&`) or SIGHUP (`nohup`), which is inherited.

    SIGHUP is caught and nothing done, so that the process itself goes on.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def _end(number: int, frame: FrameType | None) -> None:
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
    again = Timer(0.02, os.kill, (os.getpid(), asked() or signal.SIGINT))
    again.daemon = True
    again.start()
