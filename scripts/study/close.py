"""`bedside study close`: nothing more is assigned."""

from __future__ import annotations

from shlex import quote

from baselines.study.journal import note
from baselines.study.store import set_fact
from scripts.study.folder import Database, Folder, now, opened
from scripts.terminal.console import output


def command(study: Folder, database: Database = None) -> None:
    """Close a study: no further cases are assigned and no further people invited.

    Anyone in the middle of a case may finish it.

    Example: `bedside study close study/`
    """
    with opened(study, database) as (_, store, _), store.writing() as connection:
        set_fact(connection, "closed", repr(now()))
        note(connection, now(), "closed")
    output.print(f"Closed. Export with: bedside study export {quote(str(study))} -o OUT")
