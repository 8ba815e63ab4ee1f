"""`bedside study invite`: one-time links."""

from __future__ import annotations

import sys

import typer

from baselines.results.sheets import table_bytes
from baselines.study.access import make_link, origin_of
from baselines.study.journal import note
from baselines.study.people import invite, link_again
from baselines.study.store import fact_in, set_fact
from loaders.errors import InputError, how_many
from scripts.study.folder import Database, Folder, now, opened
from scripts.terminal.console import errors, output


def command(
    study: Folder,
    count: int = typer.Option(0, min=0, metavar="N", help="Number of new people."),
    again: str | None = typer.Option(None, metavar="P017", help="New link for a person who cannot get in."),
    coordinator: bool = typer.Option(
        False, "--coordinator", help="Login link for the coordinator's page, valid for an hour."
    ),
    address: str | None = typer.Option(None, metavar="URL", help="Address of the server. [that of the last `serve`]"),
    database: Database = None,
) -> None:
    """Print one-time links as CSV: person, link.

    Links are not stored: keep what is printed. People from Prolific need none: the study's address is ADDRESS/prolific,
    and Prolific adds its three ids.

    Example: `bedside study invite study/ --count 20 > links.csv`
    """
    if not count and again is None and not coordinator:
        raise InputError("--count", found="nobody", expected="how many people, --again, or --coordinator")
    with opened(study, database, begun=False) as (_, store, keys), store.writing() as connection:
        if fact_in(connection, "closed") is not None and count:
            raise InputError(study, found="is closed", expected="a study that is open")
        where = origin_of(address) if address else fact_in(connection, "address")
        if where is None:
            raise InputError("--address", found="none", expected="--address, or a server that has already run")
        set_fact(connection, "begun", "yes")
        links = [(again, link_again(connection, again, now()))] if again else []
        links += invite(connection, keys, count, now())
        if coordinator:
            login = make_link(connection, None, now())
            note(connection, now(), "login made")
    if coordinator:
        errors.print(f"Coordinator's login (works once, within an hour): {where}/c/{login}")
    if not links:
        return
    rows = [{"person": name, "link": f"{where}/i/{token}"} for name, token in links]
    sys.stdout.write(table_bytes(("person", "link"), rows).decode())
    if not output.quiet:
        errors.print(f"{how_many(len(rows), 'link')}; each works once, within 30 days.")
