"""Shared by the commands of a study: its folder, its database, and the people that a command names."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from baselines.study.design import Study, read_study
from baselines.study.keys import Keys
from baselines.study.site import PRIVATE, open_database
from baselines.study.store import Store
from loaders.errors import InputError
from loaders.files.paths import is_there
from scripts.terminal.console import warn

Folder = Annotated[Path, typer.Argument(metavar="STUDY", help="Folder of the study.")]
Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="BEDSIDE_DATABASE",
        help="postgresql://USER@HOST/NAME, preferably via BEDSIDE_DATABASE. [SQLite in STUDY/private]",
    ),
]
now = time.time


@contextmanager
def opened(folder: Path, database: str | None, *, begun: bool = True) -> Iterator[tuple[Study, Store, Keys]]:
    """The study, its database and its keys; with `begun`, it must have been served, or invited to, before."""
    study = read_study(folder)
    absent = InputError(folder, found="nobody has been invited yet", expected="a study that has started")
    if begun and not database and not is_there(folder / PRIVATE):
        raise absent  # before an empty database is made
    store, keys = open_database(study, database)
    with store, keys, store.explained():
        if begun and store.fact("begun") is None and store.fact("items") is None:
            raise absent
        tell_other_design(study, store)
        yield study, store, keys


def tell_other_design(study: Study, store: Store) -> None:
    """Warns where the folder says something else than what people were served last."""
    served = store.fact("design")
    if served is not None and served != study.digest:
        warn(
            f"{study.folder}: study.yaml or its texts were changed since they were served (then {served[:16]}, now "
            f"{study.digest[:16]}). What is said of the design, and what is paid, follows the files as they are now"
        )
