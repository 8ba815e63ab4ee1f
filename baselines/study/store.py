"""The database of a study: SQLite in WAL mode, or Postgres by its URL, with one code path.

store = open_store(folder / "private" / "study.sqlite")      # or "postgresql://…"
with store.writing() as connection:                          # one transaction; of two, one waits
    connection.execute(insert(people).values(...))

"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import filelock
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from baselines.study.tables import facts, tables
from loaders.errors import InputError, MissingExtra
from loaders.files.disk import make_folder

FORMAT = 1
_BE_SEEN = """WITH held AS (
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 4274
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
SELECT NOT EXISTS (SELECT FROM held),
    CASE WHEN pg_backend_pid() NOT IN (SELECT pid FROM held) THEN pg_advisory_lock_shared(4274) END"""
"""Whether nobody has said so, and says that this process serves the study: through each connection of a pooler once."""
_MEND = (
    "Free some space there, end another process that holds it, or let the file and its folder be written to, and run "
    "again: everything already stored is kept. Only if it is damaged, restore its backup, which is older"
)
_PATIENCE = {"connect_timeout": "10", "keepalives_idle": "30", "tcp_user_timeout": "30000"}
"""How long a server that has gone is waited for, unless the address says otherwise; else, a quarter of an hour."""


class Store:
    """An open database of a study, for any number of threads; close it, or use it as a context manager."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._serving: Connection | None = None
        self._alone: bool | None = None
        self._lock: filelock.FileLock | None = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._serving is not None:
            self._serving.close()
        if self._lock is not None:
            self._lock.release()
        self.engine.dispose()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turns errors of the database into one that says what to do."""
        try:
            yield
        except SQLAlchemyError as error:
            # The rest of an address of Postgres contains a password.
            where = str(self.engine.url.database) if self.sqlite else f"{self.engine.url.drivername}://…"
            found = " ".join(str(getattr(error, "orig", None) or error).split())[:300]
            do = _MEND if self.sqlite else ""
            raise InputError(where, found=found, expected="a usable database of a study", do=do) from None

    @property
    def sqlite(self) -> bool:
        return self.engine.dialect.name == "sqlite"

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """One writing transaction, the only one at a time; completed as a whole or not at all."""
        with self.engine.begin() as connection:
            if not self.sqlite:
                # SQLite begins with a lock (below); here a lock of our own does the same, so that both behave alike.
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(4273)")
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One read-only transaction, which sees the database as it was at one moment."""
        one_moment = {} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        with self.engine.connect() as connection:
            yield connection.execution_options(bedside_reads=True, **one_moment)

    def fact(self, name: str) -> str | None:
        """A fact of the study."""
        with self.reading() as connection:
            return fact_in(connection, name)

    def hold(self) -> None:
        """One process serves a SQLite file, from now until it ends, however it dies; Postgres may serve several.

        Raises InputError, with the address of the first, for a second one.
        """
        if not self.sqlite:
            return
        place = str(self.engine.url.database)
        lock = filelock.FileLock(f"{place}.serving", thread_local=False)  # the server's thread releases it
        try:
            lock.acquire(timeout=0)
        except filelock.Timeout:
            found = f"served already, at {self.fact('address') or 'an address that is not known yet'}"
            do = "Stop that server first (Ctrl-C in its terminal), or serve a copy of the folder"
            raise InputError(place, found=found, expected="one server of a study", do=do) from None
        self._lock = lock

    def alone(self) -> bool:
        """Whether no other process served this database when this one was asked first; others see this one from then
        until it ends."""
        if self._alone is None:
            self._alone = self.sqlite or self._begin()
        return self._alone

    def _begin(self) -> bool:
        # A connection's lock ends with its process, however that dies.
        self._serving = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        return bool(self._serving.exec_driver_sql(_BE_SEEN).scalar())

    def stay(self) -> None:
        """Others still see this process, also after its connection, or that of a pooler, has ended: by a restart of the
        database, or idle."""
        if self._serving is not None:
            try:
                self._serving.exec_driver_sql(_BE_SEEN)
            except SQLAlchemyError:
                self._serving.close()
                self._begin()

    def tidy(self, patience: float = 30.0) -> bool:
        """Removes what was deleted from the file beside the database too; returns False if it cannot now, because
        somebody reads for longer than so many seconds."""
        if not self.sqlite:
            return True
        place = str(self.engine.url.database)
        try:
            with closing(sqlite3.connect(place, timeout=patience, isolation_level=None)) as own:
                busy, *_ = own.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError:
            return False
        return not busy


def kind_of(error: Exception) -> str:
    """What a log may say of an error: its kind, as its text may quote somebody; and what SQLite could not do."""
    found = getattr(error, "orig", None) or error  # the database's own: ReadOnlySqlTransaction, DiskFull
    return type(found).__name__ + (f" ({found})" if isinstance(found, sqlite3.OperationalError) else "")


def fact_in(connection: Connection, name: str) -> str | None:
    """A fact of the study."""
    found = connection.execute(select(facts.c.value).where(facts.c.name == name)).scalar()
    return None if found is None else str(found)


def set_fact(connection: Connection, name: str, value: str) -> None:
    """Writes or overwrites a fact."""
    changed = connection.execute(facts.update().where(facts.c.name == name).values(value=value))
    if changed.rowcount == 0:
        connection.execute(facts.insert().values(name=name, value=value))


def open_store(place: Path | str) -> Store:
    """The database at a path (SQLite, created if missing) or at a URL of Postgres.

    Raises InputError for an invalid address, a database of another format, and one that does not answer.
    """
    if isinstance(place, Path):
        make_folder(place.parent)
        connecting = {"timeout": 30.0, "isolation_level": None}
        # built, not parsed: a folder may have ? or % in its name
        address = URL.create("sqlite", database=str(place))
        engine = create_engine(address, connect_args=connecting, hide_parameters=True)
        _as_wal(engine)
        where = str(place)
    else:
        scheme, _, rest = place.partition("://")
        where = "postgresql://…"  # the rest contains a password
        try:
            if scheme not in ("postgresql", "postgres", "postgresql+psycopg") or rest.count("@") > 1:
                raise ValueError  # what follows the first @ would be read as the host, and told in an error
            url = make_url(f"postgresql+psycopg://{rest}")
            url = url.set(query={**_PATIENCE, **url.query})
            # Nothing is prepared at the server: behind a pooler, the next statement may reach another one.
            direct = {"prepare_threshold": None}
            engine = create_engine(url, pool_pre_ping=True, hide_parameters=True, connect_args=direct)
        except (ArgumentError, ValueError):  # ValueError: a port that is no number
            expected, do = "postgresql://USER@HOST/NAME", "In a name or password, write %40 for @ and %25 for %"
            raise InputError("--database", found="another address", expected=expected, do=do) from None
        except ImportError:  # psycopg without the library of Postgres
            raise MissingExtra.named("psycopg", extra="study", purpose="a study on Postgres") from None
    store = Store(engine)
    try:
        with store.explained(), store.writing() as connection:
            found = fact_in(connection, "format") if inspect(connection).has_table("facts") else None
            if found not in (None, str(FORMAT)):  # of another version, and left as it is
                raise InputError(
                    where,
                    found=f"a study of format {found}",
                    expected=str(FORMAT),
                    do="Install the version of Bedside that matches",
                )
            tables.create_all(connection)
            if found is None:
                connection.execute(facts.insert().values(name="format", value=str(FORMAT)))
    except InputError:
        store.close()
        raise
    return store


def _as_wal(engine: Engine) -> None:
    """Readers never wait, a commit survives a killed process, and what is deleted is overwritten."""

    @event.listens_for(engine, "connect")
    def _opened(connection: Any, _: object) -> None:
        for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begun(connection: Any) -> None:
        reads = connection.get_execution_options().get("bedside_reads")
        connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
