"""`bedside study erase`: deletes a person's texts, and the key that opens copies of them."""

from __future__ import annotations

import typer

from baselines.study.people import erase, person_of
from scripts.study.folder import Database, Folder, now, opened
from scripts.terminal.console import output, warn


def command(
    study: Folder,
    person: list[str] = typer.Argument(..., metavar="P017…", help="Person whose texts to delete."),
    database: Database = None,
) -> None:
    """Delete a person's texts and their encryption key, so that no copy can be read.

    The journal still records that the person took part, when, and how many items they completed, and still verifies.

    Example: `bedside study erase study/ P017`
    """
    with opened(study, database) as (_, store, keys):
        with store.reading() as connection:  # nobody is deleted by a command that names somebody else wrongly
            for name in person:
                person_of(connection, name)
        for name in person:
            with store.writing() as connection:
                erase(connection, keys, name, now())
            output.print(f"{name}: erased")
        if not store.tidy():
            warn("The database is being read, and its -wal file still holds what was deleted: repeat this command")
    output.print("Earlier exports still hold this person's answers: delete them, and export again")
