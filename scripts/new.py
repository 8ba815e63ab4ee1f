"""`bedside new`: the skeleton of a corpus or a baseline, with a test that passes from the start."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path
from shlex import quote
from string import Template

import typer

from baselines.results.sheets import write_new
from loaders import __version__
from loaders.errors import NAME_ANOTHER, InputError
from loaders.files.paths import entries, is_file, is_folder, is_there
from loaders.plugins import BASELINES, brought
from loaders.registry import corpora
from scripts.commands import RUN
from scripts.terminal.console import output

_NAME = typer.Argument(..., metavar="NAME", help="Lower-case letters, digits and dashes, such as reading-age.")
_OUT = typer.Option(None, "--out", "-o", metavar="DIR", help="Folder of the package. [bedside-NAME]")

# The names of a skeleton's files: in a package of its own and, for a corpus, in the folders of a checkout.
_BASELINE = {"baseline.py": "{module}.py", "test.py": "test_{module}.py", "pyproject.toml": "pyproject.toml"}
_CORPUS = {
    "loader.py": "{module}/__init__.py",
    "recipe.py": "{module}/recipe.py",
    "card.md": "{module}/card.md",
    "test.py": "test_{module}.py",
    "pyproject.toml": "pyproject.toml",
}
_IN_A_CHECKOUT = {
    "loader.py": "loaders/{room}.py",
    "package.py": "builders/{room}/__init__.py",
    "recipe.py": "builders/{room}/recipe.py",
    "card.md": "dataset_cards/{name}.md",
    "test.py": "tests/builders/test_{room}.py",
}


def corpus(name: str = _NAME, out: Path | None = _OUT) -> None:
    """Write a three-column corpus to start from: loader, recipe, card and test.

    In a checkout of Bedside the files go into its folders unless --out names another; elsewhere they form a package.

    Example: `bedside new corpus wards`
    """
    names = _names("corpus", name, taken=corpora())
    room, module, build = names["room"], names["module"], f"bedside build {name} --rows sample --out runs/{name}"
    if out is None and all(is_file(Path(path)) for path in ("loaders/registry.py", "builders/recipe.py")):
        # A package and a module of one name: Python would import the package, for the code of Bedside too.
        places = [Path(folder, room + ending) for folder in ("loaders", "builders") for ending in ("", ".py")]
        if iskeyword(room) or any(map(is_there, places)):
            raise InputError("NAME", found=f"{name!r} cannot be the name of a module here", expected="another name")
        names |= {"loader": f"loaders.{room}", "recipe": f"builders.{room}.recipe", "template": ""}
        written = _fill("corpus", Path(), _IN_A_CHECKOUT, names)
        _say(*written)
        line = f'"{name}": ("loaders.{room}", "Build {name}: rows of one text each."),'
        _say(f"Next: add to BUNDLED in loaders/registry.py: {line}")
        _say(f"Then: ruff check --fix && python -m pytest {written[-1]} && {build}")
        return
    names |= {"loader": module, "recipe": f"{module}.recipe"}
    names["template"] = '\n    template=Path(__file__).with_name("card.md"),'
    _package("corpus", out, _CORPUS, names, build)


def baseline(name: str = _NAME, out: Path | None = _OUT) -> None:
    """Write a package that adds a baseline: its module, its command `bedside run NAME` and its test.

    Example: `bedside new baseline reading-age`
    """
    names = _names("baseline", name, taken=[*RUN, *(plugin.name for plugin in brought(BASELINES, RUN)[0])])
    _package("baseline", out, _BASELINE, names, f"bedside run {name} RELEASE")


def _names(kind: str, name: str, *, taken: Collection[str]) -> dict[str, str]:
    """The values that templates may use. Raises InputError for a name that is invalid or taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        expected = "a lower-case letter, then lower-case letters, digits and single dashes, such as reading-age"
        raise InputError("NAME", found=repr(name), expected=expected)
    if name in taken:
        raise InputError("NAME", found=f"a {kind} named {name} already exists", expected="another name")
    room = name.replace("-", "_")
    return {"name": name, "room": room, "module": f"bedside_{room}", "version": __version__}


def _package(kind: str, out: Path | None, places: Mapping[str, str], names: Mapping[str, str], command: str) -> None:
    folder = out or Path(f"bedside-{names['name']}")
    if is_there(folder) and (not is_folder(folder) or entries(folder)):
        raise InputError(folder, found="already exists", expected="a new or empty folder", do=NAME_ANOTHER)
    _say(*_fill(kind, folder, places, names))
    _say(f"Next: cd {quote(str(folder))} && pip install --editable . && python -m pytest && {command}")


def _fill(kind: str, folder: Path, places: Mapping[str, str], names: Mapping[str, str]) -> list[Path]:
    """The files of a skeleton, written to their places below the folder. Raises InputError if one exists."""
    skeleton = files("scripts") / "skeletons" / kind
    contents = {
        folder / place.format(**names): (skeleton / f"{template}.in").read_text(encoding="utf-8")
        for template, place in places.items()
    }
    return write_new({path: Template(text).substitute(names).encode() for path, text in contents.items()}, NAME_ANOTHER)


def _say(*lines: object) -> None:
    for line in lines:
        output.print(f"{line}")
