"""A lease on a bucket, which says who works in it: objects have no locks that end with their process.

    lease/00000001.json    the first owner's, which it rewrites every few seconds
    lease/00000002.json    the next owner's, made after that one ended or expired; if several try, the first wins

The last one counts. Times come from the clocks of the machines that write them; if two clocks are minutes apart, two
builds may each believe that they work alone. They would store the same bytes, and pay a model for the same answers.
"""

from __future__ import annotations

import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from loaders.errors import BedsideError, InputError
from loaders.files.disk import HOST, write_whole
from loaders.files.paths import is_file
from loaders.files.records import from_json
from loaders.files.stores import IN_USE, Store, locked
from loaders.files.texts import read_text

LASTS = 120.0
"""Seconds after which a lease that nobody renews expires."""
RENEWED = 20.0
"""Seconds between two renewals."""
FOLDER = "lease"
OWN = "owner"
"""The file on the local disk that holds the name under which leases are taken from here."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who works in a bucket: an id for a folder on its local disk, and the last renewal in seconds since 1970."""

    owner: str
    host: str
    process: int
    renewed: float
    ended: bool = False


@contextmanager
def leased(store: Store, own: Path) -> Iterator[Callable[[], None]]:
    """Holds the lease of a store during the work; the yielded function raises BedsideError once somebody took it over.

    A lease taken from the same folder `own`, whose lock is free now, belongs to a process that ended, and is taken over
    at once.

    Raises: BedsideError, with the owner, for one that has not expired.
    """
    with locked(own):
        if not is_file(own / OWN):
            write_whole(own / OWN, secrets.token_hex(8).encode())
        lease = Lease(read_text(own / OWN), HOST, os.getpid(), time.time())
        name = _taken(store, lease)
        stop, lost = threading.Event(), threading.Event()

        def renew() -> None:
            while not stop.wait(RENEWED):
                with suppress(BedsideError):  # the work will report it, or the next renewal will succeed
                    if store.list(FOLDER)[-1:] != [name]:
                        lost.set()
                        return
                    store.put(name, _text(replace(lease, renewed=time.time())))

        def check() -> None:
            if lost.is_set():
                raise BedsideError(str(store), found="another build took over this workspace", do="Wait for it to end")

        renewing = threading.Thread(target=renew, daemon=True)
        renewing.start()
        try:
            yield check
        finally:
            stop.set()
            renewing.join()
            with suppress(BedsideError):  # it expires, or is recognised by `own`
                store.put(name, _text(replace(lease, renewed=time.time(), ended=True)))


def _taken(store: Store, lease: Lease) -> str:
    """The name of the lease, now ours. Raises: as `leased`."""
    names = store.list(FOLDER)
    before = _read(store, names[-1]) if names else None
    if before and not before.ended and before.owner != lease.owner:
        left = before.renewed + LASTS - time.time()
        if left > 0:
            found = f"{IN_USE} (process {before.process} of {before.host})"
            do = f"Wait for it to end; if it was killed, its lease expires in {left:.0f} s"
            raise BedsideError(str(store), found=found, do=do)
    name = f"{FOLDER}/{_number(names) + 1:08}.json"
    if store.create(name, _text(lease)) and (now := _read(store, name)) and now.owner == lease.owner:
        return name
    raise BedsideError(str(store), found=f"{IN_USE} (it began at this moment)", do="Wait for it to end")


def _number(names: list[str]) -> int:
    last = names[-1].rpartition("/")[2].removesuffix(".json") if names else "0"
    return int(last) if last.isdecimal() else 0


def _read(store: Store, name: str) -> Lease | None:
    """A lease; None for anything invalid, which keeps nobody out."""
    data = store.read(name)
    try:
        return None if data is None else from_json(Lease, data, f"{store}/{name}")
    except InputError:
        return None


def _text(lease: Lease) -> bytes:
    return json.dumps(asdict(lease)).encode()
