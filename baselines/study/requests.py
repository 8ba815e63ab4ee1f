"""Requests to models, recorded before they are sent, so that a stop between question and answer is noticed.

A request in flight when a process died may have been answered and paid for: nobody here can know. Each request has a
name that is stored first, is sent as `Idempotency-Key`, and stays the same when the request is sent again; a provider
that honours it gives the same answer and charges nothing more. Requests sent again are counted (`sent_again`), for
providers that do not. A request that failed, or whose answer was useless, gets another name: it needs a new answer.
"""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, func, select, update

from baselines.study.tables import requests


def sending(connection: Connection, digest: str, slot: int, role: str, now: float) -> str:
    """Records that a request is being sent, or sent again; returns its name."""
    row = connection.execute(select(requests).where(requests.c.digest == digest)).first()
    name = secrets.token_hex(16) if row is None or row.name is None else str(row.name)
    if row is None:
        told = {"digest": digest, "slot": slot, "role": role, "at": now, "name": name, "again": 0}
        connection.execute(requests.insert().values(**told))
        return name
    again = row.again + (row.name is not None)
    connection.execute(update(requests).where(requests.c.digest == digest).values(name=name, at=now, again=again))
    return name


def over(connection: Connection, digest: str) -> None:
    """The request was answered, or failed: it is no longer in flight."""
    connection.execute(update(requests).where(requests.c.digest == digest).values(name=None))


def sent_again(connection: Connection) -> int:
    """How often a request was sent again because a process had died, or was stopped, before it had the answer."""
    return int(connection.execute(select(func.sum(requests.c.again))).scalar() or 0)
