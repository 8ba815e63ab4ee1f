"""`bedside rebuild`: does the code reproduce the release?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import typer

from builders.pseudonyms import require_key
from builders.recipe import recipe_of
from builders.release.checkout import Checkout
from builders.release.environment import Environment
from builders.release.rebuilt import compare, told
from builders.release.resolve import resolve
from loaders.errors import CHECK_PATH, InputError
from loaders.files.paths import is_there, refuse_releases
from loaders.manifest import Code, Manifest
from loaders.registry import find_corpus
from scripts.terminal.console import output


def command(
    release: str = typer.Argument(..., metavar="DIR|REPO@TAG", help="Published release."),
    options: list[str] = typer.Argument(
        None, metavar="BUILD-OPTIONS…", help="The original build options: --source … or --captions …, and so on."
    ),
    code: Path = typer.Option(..., metavar="CHECKOUT", help="Checkout of Bedside at the release's commit."),
    out: Path | None = typer.Option(
        None, metavar="DIR", help="Folder for the environment, workspace and rebuilt release. [rebuilt/NAME]"
    ),
    extra: list[str] = typer.Option(
        [], metavar="NAME", help="Additional extra to install for the build. May be repeated."
    ),
    python: str = typer.Option(sys.executable, metavar="FILE", help="Python interpreter for the environment."),
) -> int:
    """Rebuild a published release from a checkout in a fresh environment; compare content and files.

    The environment is installed from the checkout's lock files, by hash. Sources are read again and their digests
    compared, then the content, then each file: a file with different bytes is explained (by the library that wrote it)
    or reported as unexplained. Exit code 0 if the content is the same and every difference is explained, else 1.

    Example: `bedside rebuild org/name@v1.0.0 --code ../bedside --source scin=scin/ --seed 7`
    """
    checkout = Checkout.opened(code)
    published = resolve(release)
    manifest = Manifest.read(published)
    recipe = recipe_of(manifest.corpus)
    if package := find_corpus(manifest.corpus).package:
        foreign = f"its corpus {manifest.corpus} comes from {package}, which the locks of a checkout do not name"
        do = f"Build it again with `bedside build {manifest.corpus}`, and compare the two with `bedside diff`"
        raise InputError(release, found=foreign, expected="a corpus of Bedside itself", do=do)
    for sentence in _of_the_code(manifest.code, checkout.code()):
        output.print(sentence, style="yellow")
    folder = out or Path("rebuilt") / release.replace("/", "--")
    refuse_releases(folder, "a folder outside")
    for taken in ("--out", "--work", "--overwrite"):
        if any(word == taken or word.startswith(f"{taken}=") for word in options or ()):
            raise InputError(taken, found="an option of `bedside build`", expected="--out, which holds them all")
    for option, path in _missing(options or ()):  # before minutes of installing, as all that follows
        expected = "what the release was built from"
        raise InputError(f"{option} {path}", found="does not exist", expected=expected, do=CHECK_PATH)
    if (source := recipe.sample[0]) not in (word.partition("=")[0] for word in options or ()):
        expected = f"the options of its build behind it, first {source}; `bedside info` shows its sources and settings"
        raise InputError(release, found=f"no {source} to build from", expected=expected)
    if theirs := manifest.settings.get("pseudonyms"):
        lost = "the release cannot be built again: its keys were made with it"
        require_key(_key(options or ()), folder / "work", release, str(theirs), lost=lost)
    chat = ["dialogue"] * any(word.partition("=")[0] == "--model" for word in options or ())
    output.print(f"Environment: {folder / 'environment'}")
    environment = Environment.made(checkout, [*recipe.extras, *chat, *extra], folder / "environment", python)
    place = ("--out", str(folder / "release"), "--work", str(folder / "work"), "--overwrite")
    # What the build says to do next is about a release of one's own.
    words = ("build", manifest.corpus, *(options or ()), *place)
    environment.bedside(*words, tell=output.print, until="Next:", columns=output.room)
    found = compare(published, folder / "release")
    findings = list(told(found))
    output.tell(proved=found.proved, findings=findings)
    output.print("", *findings, fault=not found.proved)
    return 0 if found.proved else 1


_PATHS = tuple("--images --review --decisions --fields --withdrawn --statement --gate-text --prompts --medcat".split())


def _missing(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The files and folders that the build options read and that are not there: the option and the path."""
    for option, value in _given(options):
        if option in ("--source", "--labels"):  # NAME=PATH, or NAME=PATH,PATH
            path = value.partition("=")[2]
        elif option in ("--captions", "--vocabulary"):  # a name such as `sample` has no ending
            path = value if Path(value).suffix else ""
        elif option in _PATHS:
            path = value
        else:
            continue
        if path and "://" not in path and not is_there(Path(path)):
            yield from ((option, part) for part in path.split(",") if not is_there(Path(part)))


def _key(options: Sequence[str]) -> Path | None:
    return next((Path(value) for option, value in _given(options) if option == "--key"), None)


def _given(options: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each option with the word after it, or after its equals sign."""
    yield from pairwise(options)
    for word in options:
        option, equals, value = word.partition("=")
        if equals:
            yield option, value


def _of_the_code(recorded: Code | None, here: Code | None) -> list[str]:
    """How the checkout differs from the code that built the release."""
    if recorded is None:
        return ["The release does not record the commit that built it."]
    said = []
    if recorded.changed:
        said.append(f"The release was built from commit {recorded.commit[:12]} with uncommitted changes.")
    if here is None or here.commit != recorded.commit:
        found = f"is at {here.commit[:12]}" if here else "has no commit"
        said.append(f"The checkout {found}; the release was built from commit {recorded.commit[:12]}.")
    if here is not None and here.changed:
        said.append("The checkout has uncommitted changes.")
    if here is None or here.lock != recorded.lock:
        said.append("The checkout's lock files differ from the release's: expect other library versions.")
    return said
