"""Standard input, output and error as the commands need them, whatever a shell or a service made of them.

Progress that nobody reads any more is no reason to stop work: what standard error cannot take is dropped. Results are:
where the reader of standard output has left (`| head`) a command ends as Unix does, with 141 and without a word, and
where the disk under it is full it ends with an error.
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
    """What takes all that it is given, at once or when there is room."""

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
                select.select((), (self,), ())  # who shares the terminal has made it one that does not wait
        return whole

    def lose(self, error: OSError) -> None:
        """Once, at the first error; what is written later goes nowhere."""


class _Results(_Stream):
    def lose(self, error: OSError) -> None:
        if stopping.asked() is not None:
            return  # with a terminal that is closed goes what was printed to
        if isinstance(error, BrokenPipeError):
            raise SystemExit(128 + signal.SIGPIPE)
        found = f"cannot be written ({error.strerror or error})"
        raise InputError("standard output", found=found, expected="a writable output") from None


def guard() -> None:
    """Make this process's streams such ones; those that are closed lead nowhere from now on, as the next file that is
    opened would otherwise be what is printed to.

    A character that a terminal has no letter for is shown by its number: no command ends for what it had to print.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115 - by number, for as long as the process
    sys.stdout = _text(sys.stdout, _Results(1))
    sys.stderr = _text(sys.stderr, _Stream(2))


def _text(before: object, stream: _Stream) -> io.TextIOWrapper:
    encoding = before.encoding if isinstance(before, io.TextIOWrapper) else "utf-8"
    lines = not isinstance(stream, _Results) or stream.isatty()
    return io.TextIOWrapper(io.BufferedWriter(stream), encoding, "backslashreplace", line_buffering=lines)
