"""People's texts, encrypted with a key per person, so that deleting the key deletes the texts.

    with Keys(folder / "private" / "keys.sqlite") as keys:
        sealed = keys.seal("P001", "Are you worried about the cost?")
        keys.open("P001", sealed)
        keys.erase("P001")                       # now no copy of the database, old or new, can be read

AES-256-GCM, a fresh nonce each time, bound to the person's name. The file of keys is its owner's alone, and must be
backed up separately from the database: an old copy of both together would bring erased texts back.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from loaders.errors import InputError, MissingExtra
from loaders.files.sqlite_store import SqliteStore

with MissingExtra.needed("study", purpose="a study with people"):  # it may be there for another system, and broken
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

STUDY = "study"
"""The holder of the study's own key, for people's outside identities."""
_NONCE = 12


class Erased(Exception):
    """What was encrypted can no longer be read: the person's key was erased."""


class Keys(SqliteStore):
    """The keys of a study, by person. For errors see the base class."""

    KIND = "a file of keys"
    APPLICATION = 0x4245444B  # "BEDK"
    FORMAT = 1
    TABLE = "CREATE TABLE keys (person TEXT PRIMARY KEY, key BLOB NOT NULL)"
    PRIVATE = True
    THREADS = True
    WHEN_DAMAGED = "Restore its backup: without it, no text of the study can be read"

    def __init__(self, path: Path) -> None:
        super().__init__(path, autocommit=True)
        self._turn = Lock()
        with self._alone():
            # No file keeps overwritten content: neither this one, nor any beside it.
            self.connection.execute("PRAGMA secure_delete = ON")
            self.connection.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One thread at a time: Python caches a statement for reuse, and it must not be in use elsewhere."""
        with self._turn, self.explained():
            yield

    def make(self, person: str) -> None:
        """A key for the person; does nothing if there is one."""
        with self._alone():
            row = (person, secrets.token_bytes(32))
            self.connection.execute("INSERT INTO keys VALUES (?, ?) ON CONFLICT DO NOTHING", row)

    def erase(self, person: str) -> bool:
        """Delete the key forever; returns whether there was one. That it was erased, and is not lost, stays known."""
        with self._alone():
            told = "UPDATE keys SET key = x'' WHERE person = ? AND key != x''"
            return self.connection.execute(told, (person,)).rowcount > 0

    def holders(self) -> set[str]:
        with self._alone():
            return {person for (person,) in self.connection.execute("SELECT person FROM keys WHERE key != x''")}

    def erased(self) -> set[str]:
        with self._alone():
            return {person for (person,) in self.connection.execute("SELECT person FROM keys WHERE key = x''")}

    def seal(self, person: str, text: str) -> bytes:
        """The text, encrypted. Raises Erased."""
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher(person).encrypt(nonce, text.encode("utf-8", "replace"), person.encode())

    def open(self, person: str, sealed: bytes) -> str:
        """The text, decrypted. Raises Erased; InputError for bytes that this key has not encrypted."""
        return self.open_all(person, [sealed])[0]

    def open_all(self, person: str, sealed: Sequence[bytes]) -> list[str]:
        """The texts of one person, decrypted. Raises as `open`; Erased even for no texts."""
        cipher, name = self._cipher(person), person.encode()
        try:
            return [cipher.decrypt(one[:_NONCE], one[_NONCE:], name).decode() for one in sealed]
        except (InvalidTag, TypeError, ValueError):  # or what is damaged: no bytes, too few of them
            found = f"a text of {person} that its key does not open"
            raise InputError(
                self.path or "keys", found=found, expected="the keys that belong to this database"
            ) from None

    def seal_json(self, person: str, value: Any) -> bytes:
        """JSON, encrypted. Raises Erased."""
        return self.seal(person, json.dumps(value, ensure_ascii=False, sort_keys=True))

    def open_json(self, person: str, sealed: bytes | None) -> Any:
        """The JSON, decrypted; None for None. Raises as `open`."""
        return None if sealed is None else json.loads(self.open(person, sealed))

    def known(self, text: str) -> str:
        """A keyed digest, by which an outside id can be found again without being readable."""
        self.make(STUDY)
        return hmac.new(self._key(STUDY), text.encode(), hashlib.sha256).hexdigest()

    def _key(self, person: str) -> bytes:
        with self._alone():
            row = self.connection.execute("SELECT key FROM keys WHERE person = ?", (person,)).fetchone()
        if row is None or not row[0]:
            raise Erased(person)
        return bytes(row[0])

    def _cipher(self, person: str) -> AESGCM:
        return AESGCM(self._key(person))
