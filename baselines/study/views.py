"""Which page a person is at, and what it shows: built only from charts, the talk so far, and their own input."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from sqlalchemy import Connection

from baselines.study import clock
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.access import Session
from baselines.study.design import FORM, TALKS, Question
from baselines.study.flow import ENDED, Frame
from baselines.study.prose import as_html
from baselines.study.schedule import choose
from baselines.study.site import Site
from baselines.study.store import fact_in
from baselines.study.tasks.conversation import ROWS
from baselines.study.tasks.task import Form, FormError, Task
from loaders.errors import in_number
from loaders.pages import render

PAGES = "baselines/study/pages"
CHARACTERS_A_WORD = 12  # of a message at most, over all its words


def _five(most: str, least: str) -> tuple[str, ...]:
    return (f"1 – {most}", "2", "3", "4", f"5 – {least}")


AFTER_TALK = (
    Question("difficulty", "How hard was this case?", options=_five("very easy", "very hard")),
    Question("realism", "How real did the patient seem?", options=_five("not at all", "like a real patient")),
    Question(
        "tools",
        "Did you use a tool for your answers? It does not change your pay.",
        options=("None", "A search engine or reference", "A chat program such as ChatGPT", "Another person"),
    ),
)
"""The short survey after a talk."""
_ENDS = {
    "done": ("Thank you", "You have finished. You may close this page."),
    "declined": ("Thank you for reading", "You did not agree, so the study ends here. Nothing more is stored."),
    "screened_out": ("Thank you", "Your answers about the instructions were not correct. The study ends here."),
    "withdrawn": ("You have stopped", "Thank you for your time. You may close this page."),
    "timed_out": (
        "The study has ended",
        "It was closed, its last place was taken, or the time for your cases was up, before you had finished one.",
    ),
    "erased": ("Deleted", "Your answers were deleted. You may close this page."),
}
_PAID = {
    "screened_out": "You will be paid for your time so far.",
    "withdrawn": "You will be paid for what you finished.",
    "timed_out": "You will be paid for your time so far.",
}
"""What is said in addition in a study that pays."""
_OVER = {
    "time": "The time is up: the conversation is over.",
    "addressed": "The patient accepts the plan: the conversation is over.",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person is: the stage, the item in hand, and everything that they were given so far; `now` is when. `late`
    says that they have just sent the form of another page."""

    person: who.Person
    slot: at.Slot | None = None
    given: Sequence[at.Slot] = ()
    now: float = 0.0
    late: bool = False

    @property
    def here(self) -> str:
        """The name of the page; forms of another one do nothing."""
        return self.person.stage if self.slot is None else self.slot.here


def seen_at(connection: Connection, site: Site, name: str) -> Place | None:
    """Where the person is, without changing anything; None if something is due first."""
    person = who.person_of(connection, name)
    if person.stage != "work":
        return Place(person)
    given = at.slots_of(connection, name)
    slot, now = at.in_hand(given), site.clock()
    if slot is None or slot.stood is not None or slot.is_up(now, site.study.design.grace):
        return None
    return Place(person, slot, given, now)


def place_of(connection: Connection, site: Site, name: str, shown: str | None = None) -> Place:
    """Where the person is. What is due is done first: an item is given, a talk whose time is up is ended, a stopped
    clock is restarted; `shown` is what the browser knows of it (`clock.shown`)."""
    if (place := seen_at(connection, site, name)) is not None:
        return place
    now, design = site.clock(), site.study.design
    person = who.person_of(connection, name)
    slot = at.open_slot(connection, name)
    if slot is not None:
        slot = clock.go_on(connection, slot, shown, now)
        if slot.is_up(now, design.grace):
            at.end_talk(connection, slot, "time", now)
            slot = at.open_slot(connection, name)
    if slot is None and not is_closed(connection):
        slot = at.give(connection, design, name, now, talks=not site.is_spent(connection))
    given = at.slots_of(connection, name)
    if slot is None:
        took_part = any(one.step == "done" or one.why == "interrupted" for one in given)
        who.move(connection, person, "debriefing" if took_part else "timed_out", now)
        return Place(who.person_of(connection, name))
    return Place(person, slot, given, now)


def is_full(connection: Connection, site: Site) -> bool:
    """Whether somebody who comes now would find nothing to do, as things are."""
    newcomer = 1 + max((person.number for person in who.everybody(connection)), default=0)
    offers = at.offers_of(connection, talks=not site.is_spent(connection))
    chosen = choose(site.study.design, offers, at.held(connection), newcomer)
    return is_closed(connection) or chosen is None


def is_closed(connection: Connection) -> bool:
    """Whether nothing is assigned any more."""
    return fact_in(connection, "closed") is not None


def page_of(
    connection: Connection,
    site: Site,
    session: Session,
    place: Place,
    *,
    given: Form | None = None,
    error: FormError | None = None,
) -> Markup:
    """The page of a place. `given` is what was filled in, `error` why it was rejected."""
    design, person, slot = site.study.design, place.person, place.slot
    if slot is None:
        template, title, following, content = _stage(connection, site, person)
        kept, progress = who.draft_of(connection, site.keys, person), None
    else:
        template, title, following, content = _item(connection, site, slot, place.now)
        done = sum(one.step == "done" for one in place.given)
        kept, progress = at.draft_of(connection, site.keys, slot), (done, max(done, site.length))
    frame = Frame(
        study=design.title,
        contact=design.contact,
        csrf=session.csrf,
        here=place.here,
        title=title,
        following=following,
        progress=progress,
        stop=person.stage not in (*ENDED, "debriefing"),
        notice=_notice(site, place),
        refresh=3 if slot is not None and slot.preparing else None,
        language=design.language,
    )
    return _shown(template, frame, given=given or kept, error=error, **content)


_BROKEN_OFF = {
    "interrupted": "The last conversation broke off for technical reasons.",
    "lease": "The last case was open too long.",
    "time": "The time of the last case was up before you had written anything.",
}


def _notice(site: Site, place: Place) -> str:
    parts = []
    if site.rehearsal:
        parts.append("This is a rehearsal: nothing that you do here counts.")
    if place.late:
        parts.append("What you just sent was for an earlier page, and changes nothing. Go on here.")
    if place.person.tries and place.person.stage in ("instructions", "comprehension"):
        tries = who.TRIES - place.person.tries
        again = "once more" if tries == 1 else f"{tries} times more"
        parts.append(f"An answer did not match the instructions. Please read them again; you may answer {again}.")
    if place.slot is not None and place.slot.task == "intervention" and place.slot.step == "after":
        parts.append(_OVER.get(place.slot.why or "", "The conversation is over."))
    before = [slot for slot in place.given if slot.step == "lost"]
    if place.slot is None and place.given and place.given[-1].step == "lost" and place.person.stage == "debriefing":
        parts.append(_BROKEN_OFF.get(place.given[-1].why or "", ""))
        if place.given[-1].why == "interrupted" and site.study.design.pay.interrupted_case:
            parts.append("You will be paid for it.")
    if place.slot is not None and before and before[-1].position == place.slot.position - 1:
        if before[-1].why == "interrupted":
            paid = "You will be paid for it. " if site.study.design.pay.interrupted_case else ""
            parts.append(f"{_BROKEN_OFF['interrupted']} {paid}Here is another case.")
        elif before[-1].why == "lease" and (before[-1].task, before[-1].item) == (place.slot.task, place.slot.item):
            parts.append("This case was open too long. Here it is again.")
        elif before[-1].why == "lease":
            parts.append(f"{_BROKEN_OFF['lease']} It was given to someone else. Here is another one.")
        elif before[-1].why == "time":
            parts.append(f"{_BROKEN_OFF['time']} Here is another one.")
    return " ".join(filter(None, parts))


# --- Before and after the items ---------------------------------------------------------------------------------------


Shown = tuple[str, str, str, dict[str, Any]]
"""What a page shows: its template, its title, what follows it, and the rest."""


def _stage(connection: Connection, site: Site, person: who.Person) -> Shown:
    texts, design, stage = site.study.texts, site.study.design, person.stage
    if stage in ENDED:
        title, text = _ENDS[stage]
        paid = design.pay.welcome if stage == "screened_out" else design.pay.promised
        text += f" {_PAID[stage]}" if paid and stage in _PAID else ""
        number = person.id if stage not in ("declined", "erased") else ""
        return "ended", title, "", {"text": text, "code": _code(connection, site, person), "number": number}
    match stage:
        case "consent":
            following = "a few questions about your work." if design.survey else "the instructions."
            shown = None if isinstance(texts.consent, bytes) else as_html(texts.consent)
            models = sorted({player.name for player in site.players.values()})
            return "consent", "Consent", following, {"consent": shown, "digest": texts.consent_digest, "models": models}
        case "survey":
            return "questions", "About you", "the instructions.", {"questions": design.survey, "action": stage}
        case "instructions":
            content = {"text": as_html(texts.instructions), "action": stage, "button": "I have read this"}
            return "read", "Instructions", "a practice case that does not count.", content
        case "practice":
            task = practised(site)
            template = "practice" if task.name in TALKS else task.name
            content = dict(task.page(task.practice())) | {"action": stage, "picture": None}
            return template, "Practice", "what you should know about your answer.", content
        case "feedback":
            following = "questions about the instructions." if design.comprehension else "the first case."
            told = who.known_of(connection, site.keys, person.id).get("feedback", "")
            content = {"text": told, "action": stage, "button": "Continue"}
            return "feedback", "About your practice", following, content
        case "comprehension":
            checks = who.asked(design.comprehension, design.seed, person.id)
            return "comprehension", "About the instructions", "the first case.", {"checks": checks}
    content = {"text": as_html(design.debriefing), "action": stage, "button": "Finish"}
    return "read", "About this study", "Then you are done.", content


def practised(site: Site) -> Task:
    """The task of the practice item: the study's first."""
    return site.tasks[site.study.design.tasks[0]]


def _code(connection: Connection, site: Site, person: who.Person) -> str:
    prolific = site.study.design.prolific
    if prolific is None or not who.came_by_prolific(connection, person.id):
        return ""
    codes = {"done": prolific.completed, "screened_out": prolific.screened_out, "timed_out": prolific.timed_out}
    return codes.get(person.stage, prolific.withdrawn)


def _shown(template: str, frame: Frame, **content: object) -> Markup:
    return render(f"{PAGES}/{template}.html", frame=frame, **content)


# --- Items ------------------------------------------------------------------------------------------------------------


def _item(connection: Connection, site: Site, slot: at.Slot, now: float) -> Shown:
    task, item = site.tasks[slot.task], at.item_of(connection, slot.task, slot.item)
    if slot.step == "after":
        asked = {"questions": AFTER_TALK, "action": "after"}
        return "questions", "About this case", "the next case, or the end.", asked
    shown = dict(task.page(item))
    if not slot.talks:
        content = {"action": "work", "picture": None if item.picture is None else "/picture", **shown}
        return task.name, task.title, "the next one, or the end.", content
    if slot.step == "chart":
        time = f"{slot.allowed / 60:g} {in_number(slot.allowed / 60, 'minute')}"
        following = f"the conversation. You have {time}; the clock starts then."
        return "chart", "The chart", following, {"action": "begin", "button": "Begin the conversation", **shown}
    said = at.said_in(connection, site.keys, slot)
    if slot.step == "findings":
        content = {"said": said, "rows": ROWS, "why": slot.why, **shown}
        return "findings", "What was not said outright", "a few short questions about this case.", content
    following = {
        "confirmation": "you write down what troubles the patient beyond what was said at first.",
        "intervention": "The conversation ends when the patient accepts the plan, or when the time is up.",
    }[slot.task]
    least = site.study.design.least_turns
    content = {
        "said": said,
        "clock": clock_of(slot, now),
        "remind": 60 * site.study.design.remind,
        "client": secrets.token_hex(12),
        "may_end": slot.task == "confirmation" and slot.turns >= least and not slot.preparing,
        "least": least,
        "turns_sent": slot.turns,
    }
    return "talk", task.title, following, content | shown


def clock_of(slot: at.Slot, now: float) -> dict[str, Any]:
    """What a page says about the clock, and about whose turn it is."""
    state = "yours"
    if slot.step != "talk":
        state = "over"
    elif slot.preparing:
        state = "trouble" if slot.failing is not None else "preparing"
    return {"left": round(slot.left(now), 1), "running": slot.since is not None, "state": state, "turns": slot.turns}


def notice_page(title: str, text: str, *, contact: str = "") -> Markup:
    """A page that only says something, to somebody who may not be logged in, with a contact address."""
    frame = Frame("Study", contact, "", "", title, "", stop=False)
    return _shown("notice", frame, text=text)


def invitation_page(site: Site, *, coordinator: bool = False) -> Markup:
    """The page of a link, with the button that uses it up: its form is sent to the address of the page."""
    design = site.study.design
    title, following = ("Sign in", "") if coordinator else ("You are invited", "consent.")
    told = design.title, design.contact, "", "", title, following
    each = design.minutes + 4 if design.talks else 1.5
    minutes = 5 * round((10 + each * site.length) / 5)  # about as long as a session takes
    frame = Frame(*told, stop=False, language=design.language)
    return _shown("invitation", frame, coordinator=coordinator, minutes=minutes)


def stop_page(site: Site, session: Session, place: Place, error: FormError | None = None) -> Markup:
    """The page that asks what should happen to what a person did."""
    design = site.study.design
    frame = Frame(design.title, design.contact, session.csrf, place.here, "Stop", "", stop=False)
    return _shown("stop", frame, given={}, error=error, pays=design.pay.promised)


def answers_of(form: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """A form without what the page adds to it, in the form in which a draft is stored."""
    return {name: list(texts) for name, texts in form.items() if name not in FORM}
