"""Standard input, output and error as the commands need them, whatever a shell or a service made of them.

Progress that nobody reads any more is no reason to stop: what standard error cannot take is dropped. Results are
different: if the reader of standard output has gone (`| head`), a command ends silently with 141, as is usual on Unix;
if the disk under it is full, it ends with an error.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
from typing import TYPE_CHECKING

from loaders.errors import InputError
from scripts.terminal import stopping

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Stream(io.FileIO):
    """A stream that accepts everything it is given, at once or when there is room."""

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)
        self._lost = False

    def write(self, data: ReadableBuffer, /) -> int:
        whole = memoryview(data).nbytes
        while not self._lost:
            try:
                written: int | None = super().write(data)
            except OSError as error:
                self._lost = True
                self.lose(error)
            else:
                if written is not None:
                    return written
                select.select((), (self,), ())  # another process that shares the terminal has made it non-blocking
        return whole

    def lose(self, error: OSError) -> None:
        """Called once, at the first error; whatever is written later is discarded."""


class _Results(_Stream):
    def lose(self, error: OSError) -> None:
        if stopping.asked() is not None:
            return  # when a terminal closes, so does the output
        if isinstance(error, BrokenPipeError):
            raise SystemExit(128 + signal.SIGPIPE)
        found = f"cannot be written ({error.strerror or error})"
        raise InputError("standard output", found=found, expected="a writable output") from None


def guard() -> None:
    """Replace this process's standard streams by such ones. Closed ones are connected to the null device, since
    otherwise the next file that is opened would receive the output.

    A character that a terminal cannot show is printed as its number: no command fails because of its output.
    """
    drop_no_size()
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free descriptor
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - by number, for as long as the process
    sys.stdout = _text(sys.stdout, _Results(1))
    sys.stderr = _text(sys.stderr, _Stream(2))


def drop_no_size() -> None:
    """Forget a width or height in the environment that is none: with 0, as some shells say, rich prints nothing."""
    for name in ("COLUMNS", "LINES"):
        given = os.environ.get(name, "")
        if not (given.isdecimal() and int(given)):
            os.environ.pop(name, None)


def _text(before: object, stream: _Stream) -> io.TextIOWrapper:
    encoding = before.encoding if isinstance(before, io.TextIOWrapper) else "utf-8"
    lines = not isinstance(stream, _Results) or stream.isatty()
    return io.TextIOWrapper(io.BufferedWriter(stream), encoding, "backslashreplace", line_buffering=lines)
