"""What the routes of a study share: who asks and how often, forms one at a time, and whatever becomes due meanwhile.

The event loop never waits for a database: pages are made in threads, posted forms are handled one at a time, and
replies are prepared, with whatever else is due, in a loop and a thread of their own (`Server.aside`).
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import Connection, func, select, update
from sqlalchemy.exc import SQLAlchemyError

from baselines.study import access, clock
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.design import Design
from baselines.study.replies import LONGEST_WAIT, Replies
from baselines.study.site import Site
from baselines.study.store import fact_in, kind_of, set_fact
from baselines.study.tables import drafts, messages, slots
from baselines.study.tasks.task import first_text

Form = dict[str, list[str]]
MOST_BODY = 1 << 18  # bytes of a form
BEAT = 2.0  # seconds between two checks for what is due
PATIENCE = 0.2  # seconds for which writers may wait for readers
NOT_STORED = (SQLAlchemyError, OSError)
"""Errors that mean that nothing can be stored; any other is a fault of our own, and time runs on."""
_log = logging.getLogger(__name__)

NOT_IN = (
    "Open the link in your invitation, in a browser that accepts cookies. Each link works once; if yours has been "
    "used, ask for a new one."
)
_NOT_OURS = (
    "This form was not sent by a page of the study, or by a browser that is too old to say so. Please open your link "
    "in another browser, or on another device."
)
_NO_LOGIN = (
    "A coordinator's session ends after 30 minutes without a request, after 12 hours, and when a participant's link is "
    "used in the same browser. Another login is printed where the server runs: bedside study invite STUDY --coordinator"
)
_STANDS = "The clocks stand meanwhile. What you sent last may not be stored: please wait, go back, and send it again."
_NOT_NOW = 503, "Nothing can be stored now", _STANDS


class Refused(Exception):
    """A request that gets no page: its status, and what to say."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(text)
        self.status, self.title, self.text = status, title, text


class Server:
    """What the routes share."""

    beside: BlockingPortal
    """The event loop of the thread in which replies are prepared."""
    _beside: asyncio.AbstractEventLoop
    awake = wrote = 0.0
    """`wrote`: when it was looked last for episodes that nobody had written, and deletions that were not completed."""
    stuck = _failed = ""
    """Why nothing could be stored when that was tried last, "" if it could; and what stopped the last look at all."""
    untidy = True
    """Whether what was deleted may still be in the file beside the database: one that was killed leaves it there."""

    def __init__(self, site: Site, origins: frozenset[str], proxied: bool, replies: Replies) -> None:
        self.site, self.origins, self.proxied, self.replies = site, origins, proxied, replies
        self.looked = time.monotonic()  # when the last look began: long ago if this process, or the database, stood
        self._posting, self._asking = asyncio.Lock(), threading.Lock()
        limits = site.study.design.limits
        self.links = access.Limit(limits.tries_a_link, 3600)
        # From Prolific each is a person, and a university has one address; ids that are made up are no flood either.
        self.arrivals = access.Limit(10 * limits.tries_a_link, 3600)
        self.requests = access.Limit(limits.requests_a_minute, 60)
        self.addresses = access.Limit(20 * limits.requests_a_minute, 60)

    # --- Who asks -----------------------------------------------------------------------------------------------------

    def address(self, request: Request) -> str:
        """Where a request comes from; behind a proxy, the last address that the proxy states."""
        # in the last header of that name: some proxies add one of their own below the caller's
        if self.proxied and (forwarded := request.headers.getlist("x-forwarded-for")):
            return forwarded[-1].rpartition(",")[2].strip()
        return request.client.host if request.client else ""

    def no_link(self, request: Request, why: str) -> Refused:
        """The error for a link that leads nowhere, or for too many of them from one address."""
        if not self.links.allows(self.address(request), self.site.clock()):
            return Refused(429, "Too many tries", "Please wait an hour.")
        return Refused(404, "This link does not work", why)

    def within_limits(self, request: Request, session: access.Session | None = None) -> None:
        """People who are logged in count individually, since a class shares one address; others count by address."""
        now = self.site.clock()
        if session is None:
            fine = self.addresses.allows(self.address(request), now)
        else:
            fine = self.requests.allows(session.digest, now)
        if not fine:
            raise Refused(429, "Too many requests", "Please wait a minute and reload the page.")

    def session(
        self, connection: Connection, request: Request, form: Form | None = None, *, coordinator: bool = False
    ) -> access.Session:
        """Who asks; a form has to be from a page of that session."""
        found = access.session_of(connection, request.cookies.get(access.COOKIE), self.site.clock())
        if found is None or (found.person is None) != coordinator:
            self.within_limits(request)
            raise Refused(403, "You are not signed in", _NO_LOGIN if coordinator else NOT_IN)
        self.within_limits(request, found)
        if form is not None and not access.same(first_text(form, "csrf"), found.csrf):
            raise Refused(403, "An old page", "This page is from another session. Please reload it.")
        return found

    def person(self, connection: Connection, request: Request, form: Form | None = None) -> tuple[access.Session, str]:
        """As `session` of a participant, and who that is."""
        session = self.session(connection, request, form)
        assert session.person is not None
        return session, session.person

    def posted(self, app: FastAPI, path: str, work: Callable[[Request, Form], Response], back: str = "") -> None:
        """Have `work` answer a form, in a thread. The database takes one writer at a time: the others queue here, in
        the order in which they came, and block no thread that readers need. A page that answered a form leads `back`
        if it is reloaded, or restored by a phone."""
        if back:
            app.get(path)(lambda: RedirectResponse(back, status_code=303))

        @app.post(path)
        async def answered(request: Request) -> Response:
            form = await self.form(request)
            async with self._posting:
                return await run_in_threadpool(done, request, form)

        def done(request: Request, form: Form) -> Response:
            self.storing()
            return work(request, form)

    async def form(self, request: Request) -> Form:
        """A form that was posted by one of our pages."""
        if not access.from_our_page(request.headers, self.origins):
            raise Refused(403, "Not from here", _NOT_OURS)
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BODY:
                raise Refused(413, "Too long", "What you sent is too long.")
        if kind != "application/x-www-form-urlencoded" and body:
            raise Refused(415, "Not a form", "What you sent is no form.")
        try:
            read = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1000, errors="replace")
        except ValueError:
            raise Refused(413, "Too long", "What you sent cannot be read.") from None
        # NUL, which nobody types: Postgres stores none, and no reader of an export takes a file with one.
        return {
            name.replace("\0", ""): [text.replace("\0", "").replace("\r\n", "\n").strip() for text in texts]
            for name, texts in read.items()
        }

    # --- What becomes due ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Within it replies are prepared, and whatever becomes due is done, outside the pages."""
        with start_blocking_portal() as self.beside:
            await run_in_threadpool(self.beside.call, self.wake)
            watching = self.beside.start_task_soon(self.watch)
            try:
                yield
            finally:
                watching.cancel()
                await run_in_threadpool(self.beside.call, self.replies.stop)

    def due(self, slot: at.Slot | None) -> None:
        """Start what a page may have made due in a talk, without waiting for it, or, as
        `BlockingPortal.start_task_soon` does, for a loop that waits for the database."""
        if slot is not None and slot.talks:
            self._beside.call_soon_threadsafe(self.replies.due, slot.id)

    def storing(self) -> None:
        """Looks whether something can be stored again, for a page that says whether time is up: only a look stops the
        clocks, and a person may be back before the next. Raises Refused if nothing can."""
        stuck = self.stuck
        # One at a time: it may take long. Whoever would be let through without one waits for it.
        if (stuck or self.late()) and self._asking.acquire(blocking=not stuck):
            try:
                if stuck or self.late():
                    self.beside.call(self.look)
            finally:
                self._asking.release()
        if self.stuck:
            raise Refused(*_NOT_NOW)

    def late(self) -> bool:
        """Whether nothing was looked for as long as no server needs that is running."""
        return time.monotonic() - self.looked > clock.SILENT

    def unstored(self, why: str) -> Refused:
        """The error for what could not be stored. The next look stops the clocks."""
        if not self.stuck:
            _log.error("a page could not be stored: %s", why)
        self.stuck = why
        return Refused(*_NOT_NOW)

    def tidy(self) -> None:
        """What was deleted goes for good; while somebody reads for long, it is tried again with each look."""
        self.untidy = not self.site.store.tidy(PATIENCE)

    async def wake(self) -> None:
        """At the start: clocks stop until their people are back, and what was in progress resumes."""
        self._beside = asyncio.get_running_loop()
        site, self.awake = self.site, self.site.clock()
        alone = site.store.alone()
        with site.store.writing() as connection:
            beat = fact_in(connection, "beat")
            if beat is not None and (alone or self.awake - float(beat) > clock.SILENT):
                clock.stand(connection, float(beat))
            if site.store.sqlite:  # the claims of a process that is gone: here no other prepares replies
                connection.execute(update(slots).where(slots.c.busy.is_not(None)).values(busy=None))
        self.look()

    async def watch(self) -> None:
        """Ends what is over while nobody looks, and takes over what another process has left."""
        while True:
            await asyncio.sleep(BEAT)
            self.look()

    def look(self) -> None:
        """One check for what is due. What stops it is logged, the first time of a series."""
        failed, began = "", time.monotonic()
        try:
            self._look()
        except Exception as error:
            failed = kind_of(error)
            if isinstance(error, NOT_STORED):
                self.stuck = failed
            if failed != self._failed:
                _log.error("what is due could not be done: %s", failed)
        self._failed, self.looked = failed, began

    def _look(self) -> None:
        site, now = self.site, self.site.clock()
        site.store.stay()
        if self.stuck or self.late():  # no time runs, and no lease, while nothing can be stored
            with site.store.writing() as connection:
                clock.stand(connection, float(fact_in(connection, "beat") or now))
                set_fact(connection, "beat", repr(now))
            self.awake, self.stuck = now, ""
        with site.store.writing() as connection:
            set_fact(connection, "beat", repr(now))
            ended, left = overdue(connection, site.study.design, now, self.awake)
            for slot in ended:
                at.end_talk(connection, slot, "time", now)
            for slot in left:
                at.leave(connection, site.keys, slot, "lease", now)
            due, going = at.unanswered(connection), at.those(connection, slots.c.step.in_(("talk", "findings")))
            if now - self.wrote > LONGEST_WAIT:  # that failed, or that another process left
                self.wrote = now
                due += at.without_episode(connection)
                self.untidy |= who.end_erasing(connection, site.keys, now)
            elif left:
                due += at.without_episode(connection, slots.c.id.in_([slot.id for slot in left]))
        self.replies.talks.keep_only({slot.id for slot in going})
        for slot in due:
            self.replies.due(slot.id)
        if self.untidy:
            self.tidy()


def overdue(
    connection: Connection, design: Design, now: float, awake: float = 0.0
) -> tuple[list[at.Slot], list[at.Slot]]:
    """Talks whose time is up, and items on which nobody has worked for longer than the lease; `awake` is when this
    server started, before which nobody could return.

    A talk whose clock is stopped counts as left too: its person has not been here since.
    """
    going = at.those(connection, slots.c.step.not_in(at.OVER))
    ended = [slot for slot in going if slot.is_up(now, design.grace)]
    lease = 60 * design.lease
    left = [
        slot
        for slot in going
        if (slot.step != "talk" or slot.stood is not None) and now - max(slot.given, awake, slot.stood or 0.0) > lease
    ]
    return ended, [slot for slot in left if now - _worked(connection, slot) > lease]


def _worked(connection: Connection, slot: at.Slot) -> float:
    """When something of an item was last written, as far as is known: at the latest when it was given."""
    written = (select(func.max(table.c.at)).where(table.c.slot == slot.id) for table in (messages, drafts))
    return max(slot.given, *(connection.execute(asked).scalar() or 0.0 for asked in written))
