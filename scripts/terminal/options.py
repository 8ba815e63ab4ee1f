"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from loaders.errors import NAME_FILE, InputError
from loaders.files.disk import check_folder
from loaders.files.paths import is_folder, is_there, refuse_releases, resolved
from loaders.files.texts import is_text

EMBEDDINGS = Path("runs/embeddings")
Word = TypeVar("Word")
Returned = TypeVar("Returned")

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="medlaybench-v[@TAG], official, a release folder, REPO[@TAG], or a table of caption pairs (CSV, JSON, "
        "Parquet, …).",
    ),
]


def outside_releases(path: Path | None) -> Path | None:
    """A folder to write to, if any, which can be created, and is neither a release nor inside one.

    Raises: InputError, and as `check_folder`.
    """
    if path is not None:
        check_folder(path)
        refuse_releases(path, "a folder of its own")
    return path


def refuse_itself(out: Path, runs: Iterable[Path]) -> None:
    """Raises InputError if a command would write into a run that it reads, whose files would be set aside."""
    if any(resolved(out) == resolved(run) for run in runs):
        raise InputError("--out", found="the run itself", expected="another folder")


def file_outside_releases(path: Path | None) -> Path | None:
    """A file to write, if any, which is not inside a release. Raises: InputError, also for a folder."""
    if path is not None:
        if is_folder(path):
            raise InputError(path, found="is a folder", expected="the name of a file", do=NAME_FILE)
        refuse_releases(path, "a file outside")
    return path


def base_of_sheets(path: Path) -> Path:
    """The base name of sheets, which are CSV, with or without `.csv`. Raises: as `file_outside_releases`."""
    file_outside_releases(path)
    if path.suffix.casefold() not in ("", ".csv"):
        raise InputError(path, found=f"file type {path.suffix}", expected=".csv")
    return path if path.suffix else path.with_name(f"{path.name}.csv")


Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="RUN",
        help="Folder to write: results.jsonl, results.csv, run.json.",
        callback=outside_releases,
    ),
]
Page = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="HTML file to write.", callback=file_outside_releases),
]
LAST_SEED = 2**32 - 1
"""The largest seed that every library accepts; none accepts a negative one."""
Seed = Annotated[int, typer.Option(min=0, max=LAST_SEED, help="Random seed for the bootstrap.")]
Resamples = Annotated[int, typer.Option(min=10, max=1_000_000, help="Number of bootstrap resamples.")]
Slices = Annotated[
    tuple[str, ...],
    typer.Option(
        "--slice",
        metavar="COLUMN",
        help="Also score each slice of a column (skin_type, age_group, sex, source, …), with the worst and "
        "Holm-adjusted p. May be repeated.",
    ),
]
All = Annotated[bool, typer.Option("--all", help="Print everything, not only what fits a screen.")]
DifferentData = Annotated[
    bool,
    typer.Option(
        "--different-data",
        help="Allow runs over different data together, as for an ablation or two systems' captions.",
    ),
]
Cache = Annotated[Path, typer.Option(metavar="DIR", help="Cache of embeddings, reused by later runs.")]
Device = Annotated[str | None, typer.Option(metavar="NAME", help="cpu, cuda:0, … [a GPU if there is one]")]
Prompts = Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with your own prompt texts.")]


def of_text(command: Callable[..., Returned]) -> Callable[..., Returned]:
    """A command that refuses options whose bytes are not text, so that none gets into a record.

    An option that names something existing is accepted: a file may have any name. Raises: InputError with the option.
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Returned:
        for name, given in options.items():
            for value in given if isinstance(given, list) else [given]:
                if isinstance(value, str) and not is_text(value) and not is_there(Path(value)):
                    raise InputError(
                        name,
                        found=f"{value!r} is not valid text",
                        expected="text in this terminal's encoding",
                        do="If the text is UTF-8, set PYTHONUTF8=1",
                    )
        return command(*arguments, **options)

    return run


def one_of(option: str, given: str, known: tuple[Word, ...]) -> Word:
    """The known word that matches the option. Raises InputError for any other."""
    for word in known:
        if word == given:
            return word
    raise InputError(option, found=repr(given), expected=" or ".join(map(str, known)))
