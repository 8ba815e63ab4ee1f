"""Who may see what: one-time links, sessions, forms that only our pages send, and limits.

A link holds 128 random bits, of which the database keeps a digest. Opening it shows a button; only the button uses it
up, since mail programs open links by themselves. It is exchanged for a session cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from threading import Lock
from typing import Any

from pydantic_core import Url
from sqlalchemy import Connection, Row, bindparam, delete, select, update

from baselines.study.tables import links, sessions
from loaders.errors import InputError

COOKIE = "__Host-bedside"
LINK_LASTS = 30 * 86400.0
LOGIN_LASTS = 3600.0
SESSION_LASTS = 14 * 86400.0
COORDINATOR_LASTS = 12 * 3600.0
COORDINATOR_IDLE = 30 * 60.0
"""Seconds of inactivity after which a coordinator has to log in again."""
_MOST_KEPT = 10_000  # callers that a limit keeps track of
_SESSION = select(sessions).where(sessions.c.digest == bindparam("token"), sessions.c.expires > bindparam("now"))


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who is logged in: a person, or a coordinator (None)."""

    digest: str
    person: str | None
    csrf: str


def digest_of(token: str) -> str:
    """What the database stores of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def make_link(connection: Connection, person: str | None, now: float) -> str:
    """A new link's token; unused earlier links of the same person become invalid."""
    if person is not None:
        connection.execute(delete(links).where(links.c.person == person, links.c.used.is_(None)))
    token = secrets.token_urlsafe(16)
    lasts = LINK_LASTS if person is not None else LOGIN_LASTS
    connection.execute(links.insert().values(digest=digest_of(token), person=person, made=now, expires=now + lasts))
    return token


def link_of(connection: Connection, token: str) -> Row[Any] | None:
    """The link of a token; looking does not use it up."""
    return connection.execute(select(links).where(links.c.digest == digest_of(token))).first()


def is_open(link: Row[Any] | None, now: float, *, coordinator: bool) -> bool:
    """Whether a link can still be used."""
    return link is not None and link.used is None and now < link.expires and (link.person is None) == coordinator


def exchange(connection: Connection, token: str, now: float, *, coordinator: bool) -> tuple[str, Session] | None:
    """Uses a link up: returns the cookie's token, and its session. None for a link that is wrong, used or too old.

    The person's other sessions end.
    """
    link = link_of(connection, token)
    if link is None or not is_open(link, now, coordinator=coordinator):
        return None
    connection.execute(update(links).where(links.c.digest == link.digest).values(used=now))
    return begin(connection, link.person, now)


def begin(connection: Connection, person: str | None, now: float) -> tuple[str, Session]:
    """A new session and its cookie's token; the person's earlier sessions end."""
    if person is not None:
        connection.execute(delete(sessions).where(sessions.c.person == person))
    connection.execute(delete(sessions).where(sessions.c.expires < now))
    token = secrets.token_urlsafe(32)
    session = Session(digest_of(token), person, secrets.token_urlsafe(16))
    lasts = SESSION_LASTS if person is not None else COORDINATOR_LASTS
    connection.execute(
        sessions.insert().values(
            digest=session.digest, person=person, csrf=session.csrf, made=now, seen=now, expires=now + lasts
        )
    )
    return token, session


def session_of(connection: Connection, token: str | None, now: float) -> Session | None:
    """The session that belongs to a cookie."""
    if not token:
        return None
    found = connection.execute(_SESSION, {"token": digest_of(token), "now": now}).first()
    if found is None or (found.person is None and found.seen < now - COORDINATOR_IDLE):
        return None
    return Session(found.digest, found.person, found.csrf)


def seen(connection: Connection, session: Session, now: float) -> None:
    connection.execute(update(sessions).where(sessions.c.digest == session.digest).values(seen=now))


def end(connection: Connection, session: Session) -> None:
    connection.execute(delete(sessions).where(sessions.c.digest == session.digest))


def same(given: str, wanted: str) -> bool:
    """Whether a form's token is the session's, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def from_our_page(headers: Mapping[str, str], origins: frozenset[str]) -> bool:
    """Whether a browser says that a form was sent by a page of ours.

    A page that sends no referrer has the origin "null"; then another header of the browser says where it came from.
    """
    origin = headers.get("origin", "null")
    return origin in origins or (origin == "null" and headers.get("sec-fetch-site") == "same-origin")


def is_private(host: str) -> bool:
    """Whether a server that listens there can be reached only from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def origin_of(address: str) -> str:
    """scheme://host[:port] of a server's address, as browsers write it: they send no other with a form.

    Raises InputError for an address with a path, a name or a query, and for what is none.
    """
    try:
        found = str(Url(address))
    except ValueError:
        found = ""
    if not re.fullmatch(r"https?://[^/?#@]+/", found):
        raise InputError("--address", found=address, expected="https://HOST, without a path")
    return found[:-1]


class Limit:
    """At most `most` calls in `seconds` for each caller, all of which may come at once. Kept in this process."""

    def __init__(self, most: float, seconds: float) -> None:
        self._most, self._rate = float(most), most / seconds
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._turn = Lock()

    def allows(self, caller: str, now: float) -> bool:
        """Counts a call; False if there were too many."""
        with self._turn:
            left, then = self._left.pop(caller, (self._most, now))
            left = min(self._most, left + max(0.0, now - then) * self._rate)
            allowed = left >= 1
            self._left[caller] = (left - 1 if allowed else left, now)
            while len(self._left) > _MOST_KEPT:
                self._left.popitem(last=False)
            return allowed
