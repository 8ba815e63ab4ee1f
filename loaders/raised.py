"""Where in somebody's code an error was raised: the place its author looks for, and never a value that it held."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from types import FrameType

_LONGEST = 120  # characters of a line of code


def module_of(frame: FrameType) -> str:
    """The name of the module whose code a frame runs."""
    return str(frame.f_globals.get("__name__", ""))


def raised_in(error: BaseException, known: Callable[[str], bool]) -> tuple[str, str] | None:
    """The innermost frame of an error whose module is `known`: the module's name, and the place in words; None if there
    is no such frame."""
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__) if known(module_of(frame))]
    if not frames:
        return None
    frame, number = frames[-1]
    name, path = frame.f_code.co_name, frame.f_code.co_filename
    code = linecache.getline(path, number, frame.f_globals).strip()[:_LONGEST]
    place = f"{Path(path).name}, line {number}, in {name}"
    return module_of(frame), f"{place}: {code}" if code else place


def raised_below(error: BaseException, *callers: str) -> str:
    """The place of an error in code that the modules `callers` have called, in words: the innermost of the package of
    what they called, not of a library that it uses; "" if they raised it themselves."""
    called = [module for frame, _ in walk_tb(error.__traceback__) if (module := module_of(frame)) not in callers]
    if not called:
        return ""
    package = called[0].partition(".")[0]
    found = raised_in(error, lambda module: module not in callers and module.partition(".")[0] == package)
    return found[1] if found else ""
