"""`bedside new`: the skeleton of a baseline as a package of its own, with a test that is green from the start."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib.resources import files
from pathlib import Path
from string import Template

import typer

from loaders import __version__
from loaders.disk import write_whole
from loaders.errors import InputError
from loaders.plugins import BASELINES, brought
from scripts.commands import RUN
from scripts.terminal.console import output

_NAME = typer.Argument(..., metavar="NAME", help="Small letters, digits and dashes, such as reading-age.")
_OUT = typer.Option(None, "--out", "-o", metavar="DIR", help="The package's folder. [bedside-NAME]")


def baseline(name: str = _NAME, out: Path | None = _OUT) -> None:
    """Write a package that brings a baseline: its module, its command `bedside run NAME`, and its test.

    Example: `bedside new baseline reading-age`
    """
    folder = _write("baseline", name, out, taken=[*RUN, *(plugin.name for plugin in brought(BASELINES, RUN)[0])])
    _say(folder, f"bedside run {name} RELEASE")


def _write(kind: str, name: str, out: Path | None, *, taken: Collection[str]) -> Path:
    """The skeleton of that kind with its names filled in. Raises InputError for a name or folder that is taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise InputError("NAME", found=repr(name), expected="small letters, digits and dashes, such as reading-age")
    if name in taken:
        raise InputError("NAME", found=f"there is a {kind} named {name}", expected="another name")
    folder = out or Path(f"bedside-{name}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(folder, found="is there already", expected="a folder that is new or empty")
    names = {"name": name, "module": f"bedside_{name.replace('-', '_')}", "version": __version__}
    folder.mkdir(parents=True, exist_ok=True)
    for template in (files("scripts") / "skeletons" / kind).iterdir():
        text = Template(template.read_text(encoding="utf-8")).substitute(names)
        write_whole(folder / template.name.removesuffix(".in").replace("MODULE", names["module"]), text.encode())
    return folder


def _say(folder: Path, command: str) -> None:
    output.print(f"{folder}: " + ", ".join(sorted(path.name for path in folder.iterdir())), highlight=False)
    output.print(
        f"Next: cd {folder}; pip install --editable .; python -m pytest; {command}", highlight=False, soft_wrap=True
    )
