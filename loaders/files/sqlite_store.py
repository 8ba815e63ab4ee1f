"""Opens one of our SQLite files without ever touching any other file; each error tells a user what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import ClassVar, Self

from loaders.errors import BedsideError, InputError
from loaders.files.disk import make_folder, scratch, write_first
from loaders.files.opening import open_file
from loaders.files.paths import is_there


class SqliteStore:
    """The base class of a store; `path` None means in memory. Use it as a context manager, one in each process.

    Raises: InputError for a file that is not such a store, is damaged (it is left as it is) or cannot be used;
    BedsideError if the disk is full. So does everything done within `explained`, as damage may come to light late.
    """

    KIND: ClassVar[str]
    """What the file is: "an answer store"."""
    APPLICATION: ClassVar[int]
    """Application id in the header, which tells our files from other SQLite files."""
    FORMAT: ClassVar[int]
    TABLE: ClassVar[str]
    WHEN_DAMAGED: ClassVar[str]
    """What to do about a damaged file."""
    PRAGMAS: ClassVar[tuple[str, ...]] = ()
    """Settings of a new file, beyond those of each connection."""
    PRIVATE: ClassVar[bool] = False
    """Whether the file is its owner's alone."""
    THREADS: ClassVar[bool] = False
    """Whether several threads of one process may use it in turn."""
    PATIENCE: ClassVar[float] = 60.0
    """Seconds to wait for another process to finish its commit."""

    def __init__(self, path: Path | None, *, autocommit: bool) -> None:
        self.path = path
        with self.explained():
            if path is not None:
                if not is_there(path):
                    self._create(path)
                self._check_header(path)
                self._keep_private(path)
            self.connection = self._connected()
            if autocommit:
                self.connection.isolation_level = None
            try:
                if path is None:
                    self.connection.execute(self.TABLE)
                self.connection.execute("SELECT * FROM sqlite_master").fetchall()
                if path is not None and self._version() < self.FORMAT:
                    self._upgrade()
            except BaseException:
                self.connection.close()
                raise

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path or ":memory:", timeout=self.PATIENCE, check_same_thread=not self.THREADS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Commit what was written and release the file."""
        try:
            with self.explained():
                self.connection.commit()
        finally:
            self.connection.close()

    def damaged(self, detail: str) -> InputError:
        """The error for a file that cannot be read as what it should be."""
        found = f"is damaged ({' '.join(detail.split())})"
        return InputError(str(self.path), found=found, expected=self.KIND, do=self.WHEN_DAMAGED)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn errors of SQLite and of the disk into one that says what to do."""
        where = str(self.path)
        try:
            yield
        except sqlite3.Error as error:
            # The low byte is the primary code, the rest its extension.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "no such" in str(error):
                raise self.damaged(str(error)) from None
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                do = "Free some space there and run again: everything already stored is kept"
                raise BedsideError(where, found=f"cannot be written: {error}", do=do) from None
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                do = f"Another process has held it for more than {self.PATIENCE:g} s: end that one and run again"
            else:
                do = "Check that the file and its folder can be written to"
            raise InputError(where, found=f"cannot be used: {error}", do=do) from None
        except UnicodeDecodeError as error:  # SQLite names what is damaged with bytes that are not text
            raise self.damaged(str(error)) from None
        except OSError as error:
            do = "Check that it is a file, and that its folder is writable and has space"
            raise InputError(where, found=f"cannot be used: {error.strerror or error}", do=do) from None

    def _version(self) -> int:
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        return int(version)

    def _upgrade(self) -> None:
        """Convert a file of an earlier format, completely or not at all; of several processes, one does it."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            if (version := self._version()) < self.FORMAT:
                self._bring_over(version)
                self.connection.execute(f"PRAGMA user_version = {self.FORMAT}")
            self.connection.execute("COMMIT")
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise

    def _bring_over(self, version: int) -> None:
        """Convert the content of a file of that earlier format to this one; runs within a transaction."""

    def _create(self, path: Path) -> None:
        """Put a complete, empty store in place in one step, so that no process ever sees half of one."""
        make_folder(path.parent)
        with scratch(path.parent) as folder:
            fresh = folder / path.name
            with closing(sqlite3.connect(fresh, isolation_level=None)) as connection:
                connection.execute(f"PRAGMA application_id = {self.APPLICATION}")
                connection.execute(f"PRAGMA user_version = {self.FORMAT}")
                connection.execute(self.TABLE)
                for pragma in self.PRAGMAS:
                    connection.execute(f"PRAGMA {pragma}")
            write_first(path, fresh.read_bytes(), private=self.PRIVATE)

    def _keep_private(self, path: Path) -> None:
        """SQLite gives the files that it creates beside this one the same mode."""
        for place in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))) if self.PRIVATE else ():
            with suppress(FileNotFoundError, PermissionError):  # it belongs to another user
                place.chmod(0o600)

    def _check_header(self, path: Path) -> None:
        """Check the file's first bytes before SQLite, which may write to a file merely by opening it."""
        with open_file(path, expected=self.KIND) as file:
            header = file.read(100)
        sqlite = len(header) == 100 and header.startswith(b"SQLite format 3\0")
        version, application = int.from_bytes(header[60:64], "big"), int.from_bytes(header[68:72], "big")
        if not sqlite or application != self.APPLICATION:
            found = "is the SQLite file of another program" if sqlite else "is not an SQLite file"
            do = "The file is unchanged: move it away or name another"
            raise InputError(path, found=found, expected=self.KIND, do=do)
        if version > self.FORMAT:
            found = f"is {self.KIND} of format {version}"
            raise InputError(path, found=found, expected=f"at most {self.FORMAT}", do="Install a newer Bedside")
