"""Bedside in a notebook, and the entry point of the `bedside` command (`python -m bedside` is the same).

    import bedside
    bedside.corpora()
    test = bedside.load("medlaybench-v", "test", source="org/medlaybench-v", revision="v1.0.0")

The packages of this project have common names (`loaders`, `scripts`, …). If Python finds another package of such a name
first, both the import and the command stop with an error that names it and says what to do. Importing this module
imports none of these packages.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loaders import __version__
    from loaders.corpus import load
    from loaders.registry import corpora

__all__ = ["__version__", "corpora", "load"]

_OFFERED = {"__version__": "loaders", "corpora": "loaders.registry", "load": "loaders.corpus"}
_PACKAGES = ("loaders", "builders", "baselines", "scripts", "dataset_cards")
_HOME = Path(__file__).resolve().parent
_LINKED = Path(__file__).parent.resolve()  # a strict editable install links to each file, from folders of its own


class Shadowed(ImportError):
    """Another package hides one of Bedside's own, or this is a system on which they do not run."""

    def __init__(self, where: Path, *, found: str, expected: str, do: str) -> None:
        super().__init__(f"{where}: {found} (expected {expected}). {do}")
        # As the command line tells every error.
        self.lines = [f"Error {where}", f"  found    {found}", f"  expected {expected}", f"  do       {do}"]

    def _render_traceback_(self) -> list[str]:
        return self.lines  # what a notebook shows


def check() -> None:
    """Check that Python finds each of Bedside's packages beside this file, and can run them. Raises Shadowed if not."""
    if sys.platform == "win32":  # locks, signals and safe opening of files are those of POSIX
        do = "Install it in WSL 2, the Linux that Windows brings; `datasets` alone loads a release on any system"
        raise Shadowed(_HOME, found="Windows, where Bedside does not run", expected="Linux or macOS", do=do)
    for name in _PACKAGES:
        own, place = _HOME / name, _place(name)
        if place is None:
            do = "Install Bedside again: pip install --force-reinstall bedside"
            raise Shadowed(own, found="is missing", expected=f"Bedside's package {name}", do=do)
        if place.resolve() not in (own, _LINKED / name):
            how, do = _reason(place.parent)
            raise Shadowed(place, found=f"another {name} comes before Bedside's own, {how}", expected=str(own), do=do)


def _place(name: str) -> Path | None:
    """The folder or file that stands behind a top-level name: what is imported already, or would be."""
    if name in sys.modules:
        folders, file = getattr(sys.modules[name], "__path__", ()), sys.modules[name].__file__
    elif spec := find_spec(name):
        folders, file = spec.submodule_search_locations or (), spec.origin
    else:
        return None
    return next((Path(place) for place in (*folders, file) if place), None)


def _reason(folder: Path) -> tuple[str, str]:
    """How this folder got onto Python's path, and what to do about it."""
    folder = Path(os.path.realpath(folder))
    if folder in (Path(os.path.realpath(part)) for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part):
        return "by PYTHONPATH", f"Take {folder} out of PYTHONPATH, or rename what it holds"
    if folder == Path.cwd():
        return "in the folder that you are in", "Start Bedside from another folder, or rename it"
    if folder.name in ("site-packages", "dist-packages"):
        do = "Uninstall the package that brought it, or install Bedside into an environment of its own"
        return "installed by another package", do
    return "on Python's path", f"Take {folder} off the path, rename it, or import bedside first in a new Python"


def __getattr__(name: str) -> Any:
    if name not in _OFFERED:
        raise AttributeError(f"module 'bedside' has no attribute {name!r}")
    check()
    return getattr(import_module(_OFFERED[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_OFFERED]


def main() -> None:
    """The `bedside` command."""
    try:
        _main()
    except KeyboardInterrupt:  # before anything is there that could handle it
        sys.exit(130)


def _main() -> None:
    try:
        check()
    except Shadowed as error:
        print(*error.lines, sep="\n", file=sys.stderr)
        sys.exit(2)
    from scripts.terminal import stopping, streams

    streams.guard()
    stopping.end_as_by_ctrl_c()
    try:
        from scripts.cli import main as run
    except BaseException:  # also what a library makes of an interrupt that comes while it is imported
        if stopping.asked() is None:
            raise
        sys.exit(stopping.code())
    run()


if __name__ == "__main__":
    main()
