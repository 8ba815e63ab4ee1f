"""`bedside study erase`: a person's texts go, and the key that opens their copies."""

from __future__ import annotations

import typer

from baselines.study.people import erase
from scripts.study.folder import Database, Folder, now, opened
from scripts.terminal.console import output


def command(
    study: Folder,
    person: list[str] = typer.Argument(..., metavar="P017…", help="Whose texts are to go."),
    database: Database = None,
) -> None:
    """Delete all texts of a person, and the key with which they were encrypted: no copy can be read any more.

    What remains is that there was somebody, when, and how many items: the journal says so and still verifies.

    Example: `bedside study erase study/ P017`
    """
    with opened(study, database) as (_, store, keys):
        for name in person:
            with store.writing() as connection:
                erase(connection, keys, name, now())
            output.print(f"{name}: erased", highlight=False)
        store.tidy()
    output.print("What was exported before still holds their answers: delete it, and export again", highlight=False)
