"""The pages of a study over HTTP: forms that work without scripts, and a little JSON for browsers that run them.

    app = create_app(site, frozenset({"https://study.example.org"}))

Whoever is in has a cookie; "/" is the page where they are, whatever they did before, and every form says which page it
was made for. Without a session only invitations, the style and the script are served.

The event loop never waits for a database: pages are made in threads, posted forms are handled one at a time, and
replies are prepared, with whatever else is due, in a loop and a thread of their own (`_Server.aside`).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from baselines.study import access, clock, overview, views
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.actions import ACTIONS, NOTHING, Did, act, after_late, leave, sender
from baselines.study.flow import ENDED
from baselines.study.keys import Erased
from baselines.study.replies import LONGEST_WAIT, Replies
from baselines.study.site import Site
from baselines.study.store import fact_in, kind_of, people, set_fact
from baselines.study.tasks.task import FormError, first_text
from loaders.errors import InputError, MissingExtra
from loaders.pages import part

with MissingExtra.needed("study", purpose="a study with people"):
    from anyio.from_thread import BlockingPortal, start_blocking_portal
    from fastapi import FastAPI, Request
    from fastapi.concurrency import run_in_threadpool
    from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Form = dict[str, list[str]]
MOST_BODY = 1 << 18  # bytes of a form
BEAT = 2.0  # seconds between two checks for what is due
PATIENCE = 0.2  # seconds for which writers may wait for readers
CLOCK = "__Host-clock"
"""The cookie in which a browser stores what the clock last showed."""
_log = logging.getLogger(__name__)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), browsing-topics=()",
    "x-robots-tag": "noindex, nofollow",
}
SECURE = {"strict-transport-security": "max-age=31536000"}


class _Refused(Exception):
    """A request that gets no page: its status, and what to say."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(text)
        self.status, self.title, self.text = status, title, text


_NOT_IN = "Open the link in your invitation. Each link works once; if yours has been used, ask for a new one."
_COORDINATES = "If you coordinate the study, your page is at /coordinator."
"""At the address that `serve` prints; the page itself says how to sign in."""
_NO_LOGIN = (
    "A coordinator's session ends after 30 minutes without a request, after 12 hours, and when a participant's link is "
    "used in the same browser. Another login is printed where the server runs: bedside study invite STUDY --coordinator"
)


def _full(more: str = "") -> _Refused:
    text = f"All places of this study are taken, or it has ended. Thank you.{more}"
    return _Refused(410, "There is no place left", text)


class _Headers:
    """Sets the headers of every response, including errors of the server, and hides an error's details."""

    def __init__(self, app: ASGIApp, more: dict[str, str]) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in {**HEADERS, **more}.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = message.get("headers", [])
                there = {name for name, _ in own}
                message["headers"] = [*own, *((name, value) for name, value in self._headers if name not in there)]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            _log.error("a page could not be made: %s", kind_of(error))
            if not begun:
                text = "Something went wrong. What you sent before is saved: please reload the page."
                page = HTMLResponse(views.notice_page("An error", text), status_code=500)
                await page(scope, receive, sending)


@dataclass
class _Server:
    """What the routes share."""

    site: Site
    origins: frozenset[str]
    proxied: bool
    replies: Replies
    links: access.Limit = field(init=False)
    arrivals: access.Limit = field(init=False)
    requests: access.Limit = field(init=False)
    addresses: access.Limit = field(init=False)
    awake: float = field(default=0.0, init=False)
    wrote: float = field(default=0.0, init=False)
    """When it was looked last for episodes that nobody had written, and for deletions that were not completed."""
    untidy: bool = field(default=True, init=False)
    """Whether what was deleted may still be in the file beside the database: one that was killed leaves it there."""
    beside: BlockingPortal = field(init=False)
    """The event loop of the thread in which replies are prepared."""
    _beside: asyncio.AbstractEventLoop = field(init=False)
    _posting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        limits = self.site.study.design.limits
        self.links = access.Limit(limits.tries_a_link, 3600)
        # From Prolific each is a person, and a university has one address; ids that are made up are no flood either.
        self.arrivals = access.Limit(10 * limits.tries_a_link, 3600)
        self.requests = access.Limit(limits.requests_a_minute, 60)
        self.addresses = access.Limit(20 * limits.requests_a_minute, 60)

    # --- Who asks -----------------------------------------------------------------------------------------------------

    def address(self, request: Request) -> str:
        """Where a request comes from; behind a proxy, the last address that the proxy states."""
        if self.proxied and (forwarded := request.headers.get("x-forwarded-for")):
            return forwarded.rpartition(",")[2].strip()
        return request.client.host if request.client else ""

    def no_link(self, request: Request, why: str) -> _Refused:
        """The error for a link that leads nowhere, or for too many of them from one address."""
        if not self.links.allows(self.address(request), self.site.clock()):
            return _Refused(429, "Too many tries", "Please wait an hour.")
        return _Refused(404, "This link does not work", why)

    def within_limits(self, request: Request, session: access.Session | None = None) -> None:
        """People who are logged in count individually, since a class shares one address; others count by address."""
        now = self.site.clock()
        if session is None:
            fine = self.addresses.allows(self.address(request), now)
        else:
            fine = self.requests.allows(session.digest, now)
        if not fine:
            raise _Refused(429, "Too many requests", "Please wait a minute and reload the page.")

    def session(self, connection: Connection, request: Request, *, coordinator: bool = False) -> access.Session:
        found = access.session_of(connection, request.cookies.get(access.COOKIE), self.site.clock())
        if found is None or (found.person is None) != coordinator:
            self.within_limits(request)
            raise _Refused(403, "You are not signed in", _NO_LOGIN if coordinator else _NOT_IN)
        self.within_limits(request, found)
        return found

    def person(self, connection: Connection, request: Request) -> tuple[access.Session, str]:
        """The session of a participant, and who that is."""
        session = self.session(connection, request)
        assert session.person is not None
        return session, session.person

    def posted(self, app: FastAPI, path: str, work: Callable[[Request, Form], Response]) -> None:
        """Have `work` answer a form, in a thread. The database takes one writer at a time: the others queue here, in
        the order in which they came, and block no thread that readers need."""

        @app.post(path)
        async def answered(request: Request) -> Response:
            form = await self.form(request)
            async with self._posting:
                return await run_in_threadpool(work, request, form)

    async def form(self, request: Request) -> Form:
        """A form that was posted by one of our pages."""
        if not access.from_our_page(request.headers, self.origins):
            raise _Refused(403, "Not from here", "This form was not sent by a page of the study.")
        kind = request.headers.get("content-type", "").partition(";")[0].strip()
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MOST_BODY:
                raise _Refused(413, "Too long", "What you sent is too long.")
        if kind != "application/x-www-form-urlencoded" and body:
            raise _Refused(415, "Not a form", "What you sent is no form.")
        try:
            read = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=1000, errors="replace")
        except ValueError:
            raise _Refused(413, "Too long", "What you sent cannot be read.") from None
        # NUL, which nobody types: Postgres stores none, and no reader of an export takes a file with one.
        return {
            name.replace("\0", ""): [text.replace("\0", "").replace("\r\n", "\n").strip() for text in texts]
            for name, texts in read.items()
        }

    def known(self, form: Form, session: access.Session) -> None:
        if not access.same(first_text(form, "csrf"), session.csrf):
            raise _Refused(403, "An old page", "This page is from another session. Please reload it.")

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

    def do(self, did: Did) -> None:
        """Start what a page has made due, without waiting for it."""
        if did.reply is not None:
            self._beside.call_soon_threadsafe(self.replies.due, did.reply)
        if did.episode is not None:
            self._beside.call_soon_threadsafe(self.replies.over, did.episode)

    def tidy(self) -> None:
        """What was deleted goes for good; while somebody reads for long, it is tried again with each look."""
        self.untidy = not self.site.store.tidy(PATIENCE)

    async def wake(self) -> None:
        """At the start: clocks stop until their people are back, and what was in progress resumes."""
        self._beside = asyncio.get_running_loop()
        site, now = self.site, self.site.clock()
        self.awake = self.wrote = now
        alone = site.store.alone()
        with site.store.writing() as connection:
            beat = fact_in(connection, "beat")
            if beat is not None and (alone or now - float(beat) > clock.SILENT):
                clock.stand(connection, float(beat))
            if site.store.sqlite:  # then no other process prepares replies
                at.free_claims(connection)
            _beat(connection, now)
            waiting, unwritten = at.unanswered(connection), at.without_episode(connection)
        for slot in waiting:
            self.replies.due(slot.id)
        for slot in unwritten:
            self.replies.over(slot.id)

    async def watch(self) -> None:
        """Ends what is over while nobody looks, and takes over what another process has left."""
        while True:
            await asyncio.sleep(BEAT)
            try:
                self.look()
            except Exception as error:
                _log.error("what is due could not be done: %s", kind_of(error))

    def look(self) -> None:
        """One check for what is due."""
        site, now = self.site, self.site.clock()
        with site.store.writing() as connection:
            _beat(connection, now)
            ended, left = at.overdue(connection, site.study.design, now, self.awake)
            for slot in ended:
                at.end_talk(connection, slot, "time", now)
            unwritten = [at.leave(connection, site.keys, slot, "lease", now) for slot in left]
            waiting, going = at.unanswered(connection), at.going(connection)
            if now - self.wrote > LONGEST_WAIT:  # that failed, or that another process left
                self.wrote = now
                unwritten += [slot.id for slot in at.without_episode(connection)]
                self.untidy |= who.end_erasing(connection, site.keys, now)
        self.replies.talks.keep_only(going)
        for slot in waiting:
            self.replies.due(slot.id)
        for number in filter(None, unwritten):
            self.replies.over(number)
        if self.untidy:
            self.tidy()


def _beat(connection: Connection, now: float) -> None:
    set_fact(connection, "beat", repr(now))


def _with_clock(request: Request, page: Response, slot: at.Slot | None, now: float) -> Response:
    """A response that shows the clock of a talk; the browser stores it in a cookie, and drops that after the talk."""
    if slot is not None and slot.step == "talk":
        page.set_cookie(CLOCK, clock.shown(slot, now), path="/", secure=True, httponly=True, samesite="lax")
    elif CLOCK in request.cookies:
        page.delete_cookie(CLOCK, path="/", secure=True, httponly=True, samesite="lax")
    return page


def create_app(site: Site, origins: Iterable[str], *, proxied: bool = False, replies: Replies | None = None) -> FastAPI:
    """The application. `origins` are the addresses under which browsers know it; `proxied` says that our own proxy
    is in front of it, which alone may say where a request comes from."""
    server = _Server(site, frozenset(origins), proxied, replies or Replies(site))

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with server.aside():
                yield
        finally:
            site.close()

    app = FastAPI(lifespan=running, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(_Headers, more=SECURE if proxied else {})
    app.state.server = server

    def notice(title: str, text: str, status: int) -> HTMLResponse:
        return HTMLResponse(views.notice_page(title, text, contact=site.study.design.contact), status_code=status)

    @app.exception_handler(_Refused)
    async def refused(request: Request, error: _Refused) -> HTMLResponse:
        return notice(error.title, error.text, error.status)

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def absent(request: Request, error: Exception) -> HTMLResponse:
        return notice("There is nothing here", _NOT_IN, 404)

    @app.exception_handler(Erased)
    async def gone(request: Request, error: Erased) -> HTMLResponse:
        return notice("Deleted", "Your answers were deleted.", 410)

    _style(app, server)
    _links(app, server)
    _prolific(app, server)
    _pages(app, server)
    _posts(app, server)
    _coordinator(app, server)
    return app


def _style(app: FastAPI, server: _Server) -> None:
    """Style and script, the same for everybody: a browser keeps them, and asks before each use whether they changed."""

    def fixed(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
        text = str(part(f"{views.PAGES}/{name}"))
        tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:16]}"'

        async def send(request: Request) -> Response:
            headers = {"cache-control": "no-cache", "etag": tag}
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers=headers)
            return Response(text, media_type=kind, headers=headers)

        return send

    app.get("/study.css")(fixed("study.css", "text/css"))
    app.get("/study.js")(fixed("study.js", "text/javascript"))


def _signed_in(token: str, where: str) -> RedirectResponse:
    """A redirect to the page, with the cookie."""
    page = RedirectResponse(where, status_code=303)
    page.set_cookie(access.COOKIE, token, path="/", secure=True, httponly=True, samesite="lax", max_age=14 * 86400)
    return page


def _signed_out(page: HTMLResponse) -> HTMLResponse:
    """The page, without the cookie, and without what the browser had stored."""
    page.delete_cookie(access.COOKIE, path="/", secure=True, httponly=True, samesite="lax")
    page.headers["clear-site-data"] = '"cache", "storage"'
    return page


def _links(app: FastAPI, server: _Server) -> None:
    site = server.site

    def look(request: Request, token: str, *, coordinator: bool) -> Response:
        server.within_limits(request)
        now = site.clock()
        with site.store.reading() as connection:
            fine = access.is_open(connection, token, now, coordinator=coordinator)
            session = access.session_of(connection, request.cookies.get(access.COOKIE), now)
            if not fine and access.is_theirs(connection, token, session):
                where = "/coordinator" if coordinator else "/"
                return RedirectResponse(where, status_code=303)  # opened again, or its button pressed twice
            name = access.person_of(connection, token)
            # Whoever has begun goes on where they are, also in a study that gives nothing out any more.
            new = fine and name is not None and who.person_of(connection, name).stage == "invited"
            full = new and views.is_full(connection, site)
        if not fine:
            raise server.no_link(request, "It was used, it is too old, or a part of it is missing.")
        if full:
            raise _full()
        return HTMLResponse(views.invitation_page(site, token, coordinator=coordinator))

    def use(request: Request, *, coordinator: bool) -> Response:
        token = request.path_params["token"]
        shown = look(request, token, coordinator=coordinator)
        if isinstance(shown, RedirectResponse):
            return shown
        now = site.clock()
        with site.store.writing() as connection:
            got = access.exchange(connection, token, now, coordinator=coordinator)
            if got is None:
                raise _Refused(404, "This link does not work", "It was used a moment ago.")
            if got[1].person is not None:
                _enter(connection, got[1].person, now)
        return _signed_in(got[0], "/coordinator" if coordinator else "/")

    def door(path: str, *, coordinator: bool) -> None:
        @app.get(path)
        def shown(request: Request, token: str) -> Response:
            return look(request, token, coordinator=coordinator)

        server.posted(app, path, lambda request, form: use(request, coordinator=coordinator))

    door("/i/{token}", coordinator=False)
    door("/c/{token}", coordinator=True)


def _prolific(app: FastAPI, server: _Server) -> None:
    site = server.site

    @app.get("/prolific")
    def prolific(request: Request) -> Response:
        server.within_limits(request)
        wanted, now = site.study.design.prolific, site.clock()
        if wanted is None:
            raise _Refused(404, "There is nothing here", _NOT_IN)
        if not server.arrivals.allows(server.address(request), now):
            raise _Refused(429, "Too many people from your network", "Please try again in an hour.")
        with site.store.writing() as connection:
            full = views.is_full(connection, site)
            name = who.from_prolific(connection, site.keys, wanted, request.query_params, now, new=not full)
            if name is None and full:
                raise _full(" Please return your submission on Prolific.")
            if name is None:
                raise server.no_link(request, "It is not one of this study.")
            # Prolific's ids are no secret: whoever is logged in keeps the session, and needs a new link on another
            # device.
            stage = who.person_of(connection, name).stage
            if stage == "erased":
                told = "Your answers were deleted. Nobody takes part twice: please return your submission on Prolific."
                raise _Refused(403, "You have taken part already", told)
            if stage != "invited":
                session = access.session_of(connection, request.cookies.get(access.COOKIE), now)
                if session is not None and session.person == name:
                    return RedirectResponse("/", status_code=303)
                raise _Refused(403, "You have already started", "Continue in the browser in which you started.")
            token = access.make_link(connection, name, now)
        return RedirectResponse(f"/i/{token}", status_code=303)


def _enter(connection: Connection, name: str, now: float) -> None:
    person = who.person_of(connection, name)
    if person.stage == "invited":
        who.move(connection, person, "consent", now)


def _pages(app: FastAPI, server: _Server) -> None:
    site = server.site

    @app.get("/")
    def here(request: Request) -> Response:
        with site.store.reading() as connection:
            session = access.session_of(connection, request.cookies.get(access.COOKIE), site.clock())
            server.within_limits(request, session)
            if session is None:
                raise _Refused(403, "You are not signed in", f"{_NOT_IN} {_COORDINATES}")
            if session.person is None:
                return RedirectResponse("/coordinator", status_code=303)
            name = session.person
            place = views.seen_at(connection, site, name)
            page = None if place is None else views.page_of(connection, site, session, place)
        if place is None or page is None:
            with site.store.writing() as connection:
                place = views.place_of(connection, site, name, request.cookies.get(CLOCK))
                page = views.page_of(connection, site, session, place)
        if place.slot is not None and place.slot.preparing:
            server.do(Did(reply=place.slot.id))
        return _with_clock(request, HTMLResponse(page), place.slot, place.now)

    @app.get("/status")
    def status(request: Request) -> Response:
        with site.store.reading() as connection:
            _, name = server.person(connection, request)
            slot = at.open_slot(connection, name)
        now = site.clock()
        if slot is not None and slot.stood is not None:
            with site.store.writing() as connection:
                slot = clock.go_on(connection, at.slot_of(connection, slot.id), request.cookies.get(CLOCK), now)
        if slot is None or slot.is_up(now, site.study.design.grace):
            return JSONResponse({"state": "over", "here": ""})
        return _with_clock(request, JSONResponse({**views.clock_of(slot, now), "here": slot.here}), slot, now)

    @app.get("/picture")
    def picture(request: Request) -> Response:
        with site.store.reading() as connection:
            _, name = server.person(connection, request)
            slot = at.open_slot(connection, name)
            data = None if slot is None else at.item_of(connection, slot.task, slot.item).picture
        if data is None:
            raise _Refused(404, "There is nothing here", "This item has no picture.")
        return Response(data, media_type="image/png" if data.startswith(b"\x89PNG") else "image/jpeg")

    @app.get("/consent.pdf")
    def consent(request: Request) -> Response:
        with site.store.reading() as connection:
            server.session(connection, request)
        if not isinstance(site.study.texts.consent, bytes):
            raise _Refused(404, "There is nothing here", "The consent form is a page.")
        return Response(site.study.texts.consent, media_type="application/pdf")


def _posts(app: FastAPI, server: _Server) -> None:
    site = server.site

    def draft(request: Request, form: Form) -> Response:
        with site.store.writing() as connection:
            session, name = server.person(connection, request)
            server.known(form, session)
            slot = at.open_slot(connection, name)
            if slot is not None:
                slot = clock.go_on(connection, slot, request.cookies.get(CLOCK), site.clock())
            pasted = next(iter(form.pop("pasted", [])), "0")
            if re.fullmatch("[0-9]{1,3}", pasted):  # `isdigit` also takes what `int` does not
                counted = people.c.paste + int(pasted)
                connection.execute(people.update().where(people.c.id == name).values(paste=counted))
            person = who.person_of(connection, name)
            if slot is not None and [slot.here] == form.get("here"):
                at.keep_draft(connection, site.keys, slot, views.answers_of(form), site.clock())
            elif slot is None and [person.stage] == form.get("here"):
                who.keep_draft(connection, site.keys, person, views.answers_of(form))
        return Response(status_code=204)

    def stop(request: Request, form: Form) -> Response:
        with site.store.reading() as connection:
            session, name = server.person(connection, request)
            server.known(form, session)
            person = who.person_of(connection, name)
        return HTMLResponse(views.stop_page(site, session, views.Place(person)))

    def do(request: Request, form: Form) -> Response:
        what, did, page, last = request.path_params["what"], NOTHING, None, None
        with site.store.writing() as connection:
            session, name = server.person(connection, request)
            server.known(form, session)
            place = views.place_of(connection, site, name, request.cookies.get(CLOCK))
            try:
                did = _did(connection, site, place, what, form)
                if what == "leave" and (left := who.person_of(connection, name)).stage == "erased":
                    # The session was deleted with everything else: this is the last page.
                    last = HTMLResponse(views.page_of(connection, site, session, views.Place(left)))
            except FormError as error:
                if what == "leave":
                    page = views.stop_page(site, session, place, error)
                else:
                    page = views.page_of(connection, site, session, place, given=form, error=error)
        server.do(did)
        if last is not None:
            server.tidy()
            return _with_clock(request, last, None, place.now)
        if page is not None:
            return _with_clock(request, HTMLResponse(page, status_code=422), place.slot, place.now)
        return RedirectResponse("/", status_code=303)

    @app.get("/do/{what}")
    def again(what: str) -> RedirectResponse:
        """The address of a page that answered a form, if it is reloaded, or restored by a phone."""
        return RedirectResponse("/", status_code=303)

    server.posted(app, "/draft", draft)
    server.posted(app, "/do/stop", stop)
    server.posted(app, "/do/{what}", do)


def _did(connection: Connection, site: Site, place: views.Place, name: str, form: Form) -> Did:
    """What a form does; nothing if it was made for another page. Raises FormError."""
    if name == "leave":
        return leave(connection, site, place, form) if place.person.stage not in ENDED else NOTHING
    if name not in ACTIONS:
        raise _Refused(404, "There is nothing here", _NOT_IN)
    if form.get("here") != [place.here]:
        # A message that comes too late is not lost: it is put into the field of the next page.
        slot, text = place.slot, first_text(form, "text")
        late = name == "say" and slot is not None and slot.step == "talk" and text
        if late and slot is not None and not at.is_said(connection, slot, sender(form)):
            at.keep_draft(connection, site.keys, slot, {"text": [text]}, site.clock())
        if name == "after" and place.person.stage not in ENDED:
            after_late(connection, site, place.person.id, form)
        return NOTHING
    return act(connection, site, place, name, form)


def _coordinator(app: FastAPI, server: _Server) -> None:
    site = server.site

    def page(session: access.Session, told: str = "") -> HTMLResponse:
        # A look at everything takes a while in a large study, and nobody who writes has to wait for it.
        with site.store.reading() as connection:
            return HTMLResponse(overview.page(connection, site, session, told=told))

    @app.get("/coordinator")
    def shown(request: Request) -> HTMLResponse:
        with site.store.writing() as connection:
            session = server.session(connection, request, coordinator=True)
            access.seen(connection, session, site.clock())
        return page(session)

    def change(request: Request, form: Form) -> Response:
        what, told = request.path_params["what"], ""
        with site.store.writing() as connection:
            session = server.session(connection, request, coordinator=True)
            server.known(form, session)
            access.seen(connection, session, site.clock())
            if what == "out":
                access.end(connection, session)
                told = "Another login: bedside study invite STUDY --coordinator"
                return _signed_out(HTMLResponse(views.notice_page("You have signed out", told)))
            try:
                told = overview.change(connection, site, what, form, fact_in(connection, "address") or "")
            except InputError as error:
                told = f"{error.where}: {error.found}; expected {error.expected}"
        return page(session, told)

    @app.get("/coordinator/{what}")
    def again(what: str) -> RedirectResponse:
        """As for the pages of participants: the address of a page that answered a form."""
        return RedirectResponse("/coordinator", status_code=303)

    server.posted(app, "/coordinator/{what}", change)
