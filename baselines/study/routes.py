"""The pages of a study over HTTP: forms that work without scripts, and a little JSON for browsers that run them.

    app = create_app(site, frozenset({"https://study.example.org"}))

Whoever is in has a cookie; "/" is the page where they are, whatever they did before, and every form says which page it
was made for. Without a session only invitations, the style and the script are served.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from sqlalchemy import Connection

from baselines.study import access, clock, overview, views
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.actions import ACTIONS, act, after_late, leave, sender
from baselines.study.flow import ENDED
from baselines.study.headers import SECURE, Headers
from baselines.study.keys import Erased
from baselines.study.replies import Replies
from baselines.study.server import NOT_IN, NOT_STORED, Form, Refused, Server
from baselines.study.site import Site
from baselines.study.store import kind_of
from baselines.study.tables import people
from baselines.study.tasks.task import FormError, first_text
from loaders.errors import BedsideError, InputError
from loaders.pages import part

CLOCK = "__Host-clock"
"""The cookie in which a browser stores what the clock last showed."""
_COORDINATES = "If you coordinate the study, your page is at /coordinator."
"""At the address that `serve` prints; the page itself says how to sign in."""
_ANSWERS = ("consent", "survey", "practice", "comprehension", "say", "findings", "work", "after")
"""Forms whose answers nobody should take for stored that come from an earlier page: of another tab, or by Back."""


def _full(more: str = "") -> Refused:
    text = f"All places of this study are taken, or it has ended. Thank you.{more}"
    return Refused(410, "There is no place left", text)


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
    server = Server(site, frozenset(origins), proxied, replies or Replies(site))

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        try:
            async with server.aside():
                yield
        finally:
            site.close()

    app = FastAPI(lifespan=running, docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(Headers, more=SECURE if proxied else {})
    app.state.server = server

    def notice(title: str, text: str, status: int) -> HTMLResponse:
        return HTMLResponse(views.notice_page(title, text, contact=site.study.design.contact), status_code=status)

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> HTMLResponse:
        return notice(error.title, error.text, error.status)

    async def unstored(request: Request, error: Exception) -> HTMLResponse:
        if isinstance(error, InputError):  # a key that is missing, or damaged: not the disk
            raise error
        return await refused(request, server.unstored(kind_of(error)))

    for kind in (*NOT_STORED, BedsideError):  # the keys' errors are ours
        app.add_exception_handler(kind, unstored)

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def absent(request: Request, error: Exception) -> HTMLResponse:
        return notice("There is nothing here", NOT_IN, 404)

    @app.exception_handler(Erased)
    async def gone(request: Request, error: Erased) -> HTMLResponse:
        return notice("Deleted", "Your answers were deleted.", 410)

    _style(app, server)
    _links(app, server)
    _prolific(app, server)
    _pages(app, server)
    _posts(app, server)
    overview.add(app, server)
    return app


def _style(app: FastAPI, server: Server) -> None:
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


Look = Callable[[Request], Response]
Enter = Callable[[Connection, Request], str]


def _door(app: FastAPI, server: Server, path: str, look: Look, enter: Enter, where: str = "/") -> None:
    """A page with a button, which alone writes something: programs look, too. `look` gives the page, or leads whoever
    is in to `where`; `enter` returns the token of a link that the button uses up."""
    site = server.site

    @app.get(path)
    def shown(request: Request) -> Response:
        server.within_limits(request)
        return look(request)

    def use(request: Request, form: Form) -> Response:
        if isinstance(page := shown(request), RedirectResponse):
            return page
        now = site.clock()
        with site.store.writing() as connection:
            token = enter(connection, request)
            got = access.exchange(connection, token, now, coordinator=where != "/")
            if got is None:
                raise Refused(404, "This link does not work", "It was used a moment ago.")
            if got[1].person is not None:
                person = who.person_of(connection, got[1].person)
                if person.stage == "invited":
                    who.move(connection, person, "consent", now)
        page = RedirectResponse(where, status_code=303)
        page.set_cookie(access.COOKIE, got[0], path="/", secure=True, httponly=True, samesite="lax", max_age=14 * 86400)
        return page

    server.posted(app, path, use)


def _links(app: FastAPI, server: Server) -> None:
    site = server.site

    def look(request: Request, where: str = "/") -> Response:
        now, token, coordinator = site.clock(), request.path_params["token"], where != "/"
        with site.store.reading() as connection:
            link = access.link_of(connection, token)
            fine, full = access.is_open(link, now, coordinator=coordinator), False
            session = access.session_of(connection, request.cookies.get(access.COOKIE), now)
            if link is not None and not fine and session is not None and link.person == session.person:
                return RedirectResponse(where, status_code=303)  # opened again, or its button pressed twice
            if link is not None and fine and link.person is not None:
                # Whoever has begun goes on where they are, also in a study that gives nothing out any more.
                new = who.person_of(connection, link.person).stage == "invited"
                full = new and views.is_full(connection, site)
        if not fine:
            raise server.no_link(request, "It was used, it is too old, or a part of it is missing.")
        if full:
            raise _full()
        return HTMLResponse(views.invitation_page(site, coordinator=coordinator))

    def enter(connection: Connection, request: Request) -> str:
        return str(request.path_params["token"])

    _door(app, server, "/i/{token}", look, enter)
    _door(app, server, "/c/{token}", partial(look, where="/coordinator"), enter, "/coordinator")


def _prolific(app: FastAPI, server: Server) -> None:
    site = server.site

    def look(request: Request) -> Response:
        wanted, query, now = site.study.design.prolific, request.query_params, site.clock()
        if wanted is None:
            raise Refused(404, "There is nothing here", NOT_IN)
        with site.store.reading() as connection:
            name = who.of_prolific(connection, site.keys, query)
            if name is not None:
                session = access.session_of(connection, request.cookies.get(access.COOKIE), now)
                if session is not None and session.person == name:
                    return RedirectResponse("/", status_code=303)
                # Prolific's ids are no secret: whoever has agreed keeps the session, and needs a new link on another
                # device. Before that, a browser may have taken no cookie, or lost the answer.
                stage = who.person_of(connection, name).stage
                if stage == "erased":
                    told = "Your answers were deleted. Nobody takes part twice: please return your submission on"
                    raise Refused(403, "You have taken part already", f"{told} Prolific.")
                if stage not in ("invited", "consent"):
                    raise Refused(403, "You have already started", "Continue in the browser in which you started.")
            if views.is_full(connection, site):
                raise _full(" Please return your submission on Prolific.")
        if name is None and not who.is_sent_by(wanted, query):
            raise server.no_link(request, "It is not one of this study.")
        return HTMLResponse(views.invitation_page(site))

    def enter(connection: Connection, request: Request) -> str:
        now = site.clock()
        if not server.arrivals.allows(server.address(request), now):
            raise Refused(429, "Too many people from your network", "Please try again in an hour.")
        name = who.of_prolific(connection, site.keys, request.query_params)
        if name is None:
            return who.from_prolific(connection, site.keys, request.query_params, now)
        return access.make_link(connection, name, now)

    _door(app, server, "/prolific", look, enter)


def _pages(app: FastAPI, server: Server) -> None:
    site = server.site

    @app.get("/")
    def here(request: Request) -> Response:
        server.storing()
        with site.store.reading() as connection:
            session = access.session_of(connection, request.cookies.get(access.COOKIE), site.clock())
            server.within_limits(request, session)
            if session is None:
                raise Refused(403, "You are not signed in", f"{NOT_IN} {_COORDINATES}")
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
            server.due(place.slot)
        return _with_clock(request, HTMLResponse(page), place.slot, place.now)

    @app.get("/status")
    def status(request: Request) -> Response:
        server.storing()
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
            raise Refused(404, "There is nothing here", "This item has no picture.")
        return Response(data, media_type="image/png" if data.startswith(b"\x89PNG") else "image/jpeg")

    @app.get("/consent.pdf")
    def consent(request: Request) -> Response:
        with site.store.reading() as connection:
            server.session(connection, request)
        if not isinstance(site.study.texts.consent, bytes):
            raise Refused(404, "There is nothing here", "The consent form is a page.")
        return Response(site.study.texts.consent, media_type="application/pdf")


def _posts(app: FastAPI, server: Server) -> None:
    site = server.site

    def draft(request: Request, form: Form) -> Response:
        with site.store.writing() as connection:
            _, name = server.person(connection, request, form)
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
            session, name = server.person(connection, request, form)
            person = who.person_of(connection, name)
        return HTMLResponse(views.stop_page(site, session, views.Place(person)))

    def do(request: Request, form: Form) -> Response:
        what, page, last, late = request.path_params["what"], None, None, False
        with site.store.writing() as connection:
            session, name = server.person(connection, request, form)
            place = views.place_of(connection, site, name, request.cookies.get(CLOCK))
            try:
                taken = _do(connection, site, place, what, form)
                late = not taken and what in _ANSWERS and place.person.stage not in ENDED
                if late:
                    page = views.page_of(connection, site, session, replace(place, late=True))
                elif what != "say":  # which ends no item
                    # The next item: of somebody who does not come back, and holds none, no lease could run out.
                    views.place_of(connection, site, name)
                if what == "leave" and (left := who.person_of(connection, name)).stage == "erased":
                    # The session was deleted with everything else: this is the last page.
                    last = HTMLResponse(views.page_of(connection, site, session, views.Place(left)))
            except FormError as error:
                if what == "leave":
                    page = views.stop_page(site, session, place, error)
                else:
                    page = views.page_of(connection, site, session, place, given=form, error=error)
        server.due(place.slot)
        if last is not None:
            server.tidy()
            return _with_clock(request, last, None, place.now)
        if page is not None:
            return _with_clock(request, HTMLResponse(page, status_code=409 if late else 422), place.slot, place.now)
        return RedirectResponse("/", status_code=303)

    server.posted(app, "/draft", draft)
    server.posted(app, "/do/stop", stop)
    server.posted(app, "/do/{what}", do, back="/")


def _do(connection: Connection, site: Site, place: views.Place, name: str, form: Form) -> bool:
    """What a form does; returns False if nothing came of it, as it was made for another page. Raises FormError."""
    if name == "leave":
        if place.person.stage not in ENDED:
            leave(connection, site, place, form)
        return True
    if name not in ACTIONS:
        raise Refused(404, "There is nothing here", NOT_IN)
    if form.get("here") == [place.here]:
        act(connection, site, place, name, form)
        return True
    if name == "say":
        return _said_late(connection, site, place, form)
    return name == "after" and place.person.stage not in ENDED and after_late(connection, site, place.person.id, form)


def _said_late(connection: Connection, site: Site, place: views.Place, form: Form) -> bool:
    """Whether a message for another page is not lost: it is stored already, as one that is sent again, or is put into
    the field of the conversation, if that goes on."""
    slot, text = place.slot, first_text(form, "text")
    talk = first_text(form, "here").partition(".")[0]
    mine = (one for one in at.slots_of(connection, place.person.id) if str(one.id) == talk)
    if not text or any(at.is_said(connection, one, sender(form)) for one in mine):
        return True
    if slot is None or slot.step != "talk":
        return False
    at.keep_draft(connection, site.keys, slot, {"text": [text]}, site.clock())
    return True
