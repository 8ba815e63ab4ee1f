"""The coordinator's page: who is where, what needs people, what models do and cost. It shows nobody's words."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from sqlalchemy import Connection, func, select

from baselines.study import access, journal, replaced, requests, schedule, views
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.attention import flagged
from baselines.study.design import TaskName
from baselines.study.flow import STAGES, Frame
from baselines.study.server import Form, Server
from baselines.study.site import Site, cost
from baselines.study.store import fact_in
from baselines.study.tables import answers, messages, slots
from baselines.study.tasks.task import first_text
from loaders.errors import InputError, how_many
from loaders.pages import render

Row = tuple[str, str]
_SHOWN = 6
"""Maximum items that are named as needing people."""


def page(connection: Connection, site: Site, session: access.Session, *, told: str = "", stuck: str = "") -> Markup:
    """The page, with a line about what was just done, and why nothing can be stored (`Server.stuck`)."""
    design, everybody = site.study.design, who.everybody(connection)
    frame = Frame(design.title, design.contact, session.csrf, "coordinator", "Coordinator", "", stop=False, notice=told)
    stages = Counter(person.stage for person in everybody)
    held = at.held(connection)
    states = Counter(one.state for one in held)
    needed = schedule.wanted(design, at.offers_of(connection), held)
    flags = flagged(connection, site.keys, everybody)
    lost = Counter(str(row.why) for row in connection.execute(select(slots.c.why).where(slots.c.step == "lost")))
    done = [
        ("Finished", f"{states['done']:,}"),
        ("In people's hands", f"{states['open']:,}"),
        ("Wanted of further people", f"{sum(needed.values()):,}"),
        *((f"Lost: {why}", f"{count:,}") for why, count in sorted(lost.items())),
    ]
    return render(
        f"{views.PAGES}/coordinator.html",
        frame=frame,
        stages=[(stage.replace("_", " "), f"{stages[stage]:,}") for stage in STAGES if stages[stage]],
        slots=done,
        models=_models(connection, site),
        wanted=_wanted(needed),
        left=_left(connection),
        people=[_person(connection, person, flags.get(person.id, []), site.clock()) for person in everybody],
        head=journal.head(connection),
        warning=replaced.counted(connection).warning(),
        stuck=stuck,
        factors=who.FACTORS,
        stand_in=site.stand_in,
        folder=site.study.folder.name,
    )


def _wanted(needed: Mapping[tuple[TaskName, str], int]) -> list[Row]:
    """The items that need people most."""
    first = sorted(needed.items(), key=lambda one: (-one[1], one[0]))
    rows = [(f"{task}, {item}", f"{count:,}") for (task, item), count in first[:_SHOWN]]
    return [*rows, *([("others", how_many(len(first) - _SHOWN, "item"))] if len(first) > _SHOWN else [])]


def _left(connection: Connection) -> list[Row]:
    """Where people were when they left, from the journal."""
    stage: dict[str, str] = {}
    left: Counter[tuple[str, str]] = Counter()
    for person, reached in journal.reached(connection):
        if reached in ("declined", "screened_out", "withdrawn", "timed_out"):
            left[stage.get(person, "invited"), reached] += 1
        stage[person] = reached
    return [
        (f"{reached.replace('_', ' ')}, at {at_stage}", f"{count:,}")
        for (at_stage, reached), count in sorted(left.items())
    ]


def _models(connection: Connection, site: Site) -> list[Row]:
    counted = connection.execute(
        select(
            answers.c.role,
            func.count().label("asked"),
            func.sum(answers.c.digest.like("%.%").cast(answers.c.slot.type)).label("aside"),  # `Asked.set_aside`
        )
        .group_by(answers.c.role)
        .order_by(answers.c.role)
    )
    rows = []
    for row in counted:
        aside = f"; {row.aside:,} unusable, and asked again" if row.aside else ""
        rows.append((f"Answers of the {row.role}", f"{row.asked:,}{aside}"))
    waits = waited(connection)
    if waits:
        middle = statistics.median(waits)
        late = sorted(waits)[max(0, -(-95 * len(waits) // 100) - 1)]
        rows.append(("Wait for the patient's reply", f"{middle:.1f} s (median), {late:.1f} s (95th percentile)"))
    failures = connection.execute(select(func.sum(slots.c.failures))).scalar() or 0
    rows.append(("Failures of models", f"{failures:,}{journal.last_failure(connection)}"))
    if again := requests.sent_again(connection):
        rows.append(("Repeated after a restart", f"{again:,}; may have been paid for twice"))
    leaks = connection.execute(
        select(func.sum(slots.c.leaks), func.sum(slots.c.turns)).where(slots.c.episode.is_not(None))
    )
    drafts, turns = leaks.one()
    if turns:
        rows.append(("First drafts that gave a concern away", f"{drafts or 0:,} of {turns:,}; none was shown"))
    if (fixed := replaced.counted(connection)).of:
        rows.append(("Fixed sentences in place of a reply", fixed.told()))
    rows.append(("Cost so far", _cost(connection, site)))
    return rows


def _cost(connection: Connection, site: Site) -> str:
    spent, most = cost(connection, site.prices), site.study.design.limits.dollars
    if spent is None:
        return "unknown: pass --price for each model"
    told = f"${spent.dollars:,.2f}" + ("" if most is None else f" of ${most:,.2f}")
    if spent.estimated:
        told += f"; tokens of {spent.estimated:,} answer{'s are' if spent.estimated > 1 else ' is'} estimated"
    return told + ("; no further conversation is assigned" if site.is_spent(connection) else "")


def waited(connection: Connection) -> list[float]:
    """Seconds between each message and the patient's reply to it."""
    found = connection.execute(
        select(messages.c.slot, messages.c.who, messages.c.at).order_by(messages.c.slot, messages.c.number)
    ).all()
    return [
        later.at - row.at
        for row, later in pairwise(found)
        if row.slot == later.slot and row.who == at.CLINICIAN and later.who == at.PATIENT
    ]


def _person(connection: Connection, person: who.Person, flags: Sequence[str], now: float) -> dict[str, str]:
    mine = at.slots_of(connection, person.id)
    current = at.in_hand(mine)
    state = person.stage.replace("_", " ")
    if current is not None:
        state += f", {current.step} of {current.item}"
        if current.failing is not None:
            state += f"; models fail since {now - current.failing:.0f} s"
    return {
        "id": person.id,
        "state": state,
        "done": f"{sum(slot.step == 'done' for slot in mine)}",
        "factor": f"{person.factor:g}",
        "flags": "; ".join(flags),
    }


def change(connection: Connection, site: Site, what: str, form: Form, address: str) -> str:
    """More time, or another link, for a person; returns a line about it. Raises InputError."""
    name, now = first_text(form, "person"), site.clock()
    if what == "grant":
        factor = {str(one): one for one in who.FACTORS}.get(first_text(form, "factor"), 0.0)
        who.grant(connection, name, factor, now)
        return f"{name} has {factor:g} times the time, from the next conversation on."
    if what == "link":
        return f"New link for {name} (works once): {address}/i/{who.link_again(connection, name, now)}"
    raise InputError("coordinator", found=repr(what), expected="grant or link")


def add(app: FastAPI, server: Server) -> None:
    site = server.site

    def shown(session: access.Session, told: str = "") -> HTMLResponse:
        # A look at everything takes a while in a large study, and nobody who writes has to wait for it.
        with site.store.reading() as connection:
            return HTMLResponse(page(connection, site, session, told=told, stuck=server.stuck))

    @app.get("/coordinator")
    def look(request: Request) -> HTMLResponse:
        with site.store.reading() as connection:
            session = server.session(connection, request, coordinator=True)
        if not server.stuck:
            with site.store.writing() as connection:
                access.seen(connection, session, site.clock())
        return shown(session)

    def changed(request: Request, form: Form) -> Response:
        what, told = request.path_params["what"], ""
        with site.store.writing() as connection:
            session = server.session(connection, request, form, coordinator=True)
            access.seen(connection, session, site.clock())
            if what == "out":
                access.end(connection, session)
                told = "Another login: bedside study invite STUDY --coordinator"
                out = HTMLResponse(views.notice_page("You have signed out", told))
                out.delete_cookie(access.COOKIE, path="/", secure=True, httponly=True, samesite="lax")
                out.headers["clear-site-data"] = '"cache", "storage"'  # nor what the browser had stored
                return out
            try:
                told = change(connection, site, what, form, fact_in(connection, "address") or "")
            except InputError as error:
                told = f"{error.where}: {error.found}; expected {error.expected}"
        return shown(session, told)

    server.posted(app, "/coordinator/{what}", changed, back="/coordinator")
