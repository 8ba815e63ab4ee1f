"""What the buttons of the pages do: each takes a form from the page that it was made for, and moves on from there."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from sqlalchemy import Connection

from baselines.medconceal.untrusted import heard
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.design import TALKS
from baselines.study.flow import Stage, Step
from baselines.study.site import Site
from baselines.study.tasks.forms import one_of
from baselines.study.tasks.task import Form, FormError, first_text
from baselines.study.views import AFTER_TALK, CHARACTERS_A_WORD, Place, answers_of, practised
from loaders.models.asking import said_by

Action = Callable[["Connection", Site, Place, Form], None]
ItemAction = Callable[["Connection", Site, at.Slot, Form], None]


def consent(connection: Connection, site: Site, place: Place, form: Form) -> None:
    """Agree or disagree; the text that was agreed to is recorded by its digest."""
    now, digest = site.clock(), site.study.texts.consent_digest
    if one_of(form, "answer", ("agree", "disagree"), "Choose whether you agree.") == "disagree":
        who.move(connection, place.person, "declined", now)
        return
    if first_text(form, "read") != digest:
        raise FormError("answer", "This text has changed since you opened the page. Please read it again.")
    following: Stage = "survey" if site.study.design.survey else "instructions"
    who.move(connection, place.person, following, now, consent=digest, began=now)


def survey(connection: Connection, site: Site, place: Place, form: Form) -> None:
    who.keep(connection, site.keys, place.person, "survey", who.read_survey(site.study.design.survey, form))
    who.move(connection, place.person, "instructions", site.clock())


def practice(connection: Connection, site: Site, place: Place, form: Form) -> None:
    """The practice item: the answer gets feedback, and is not exported."""
    task = practised(site)
    if task.name in TALKS:
        if not heard(first_text(form, "text")).strip():
            raise FormError("text", "Write a first sentence to the patient.")
        told = task.feedback(task.practice(), {})
    else:
        told = task.feedback(task.practice(), task.read(task.practice(), form))
    who.keep(connection, site.keys, place.person, "feedback", told)
    who.move(connection, place.person, "feedback", site.clock())


def feedback(connection: Connection, site: Site, place: Place, form: Form) -> None:
    who.move(connection, place.person, "comprehension" if site.study.design.comprehension else "work", site.clock())


def comprehension(connection: Connection, site: Site, place: Place, form: Form) -> None:
    """The questions about the instructions: all right, or the instructions again, at most three times."""
    now, person = site.clock(), place.person
    if who.right(site.study.design.comprehension, form):
        who.move(connection, person, "work", now)
    elif person.tries + 1 >= who.TRIES:
        who.move(connection, person, "screened_out", now, tries=person.tries + 1)
    else:
        who.move(connection, person, "instructions", now, tries=person.tries + 1)


def read_on(following: Stage) -> Action:
    """A page was read: go to the next stage."""

    def action(connection: Connection, site: Site, place: Place, form: Form) -> None:
        who.move(connection, place.person, following, site.clock())

    return action


def leave(connection: Connection, site: Site, place: Place, form: Form) -> None:
    """Stop: what was done is kept, or deleted."""
    answer = one_of(form, "answer", ("keep", "delete"), "Choose what should happen to your answers.")
    who.withdraw(connection, site.keys, place.person, site.clock(), erased=answer == "delete")


# --- Items ------------------------------------------------------------------------------------------------------------


def begin(connection: Connection, site: Site, slot: at.Slot, form: Form) -> None:
    """From the chart to the talk."""
    at.begin_talk(connection, slot, site.clock())


def say(connection: Connection, site: Site, slot: at.Slot, form: Form) -> None:
    """A message to the patient, in the form that the game takes: without labels,
    and without lines for the other side."""
    most = site.study.design.limits.words_a_message
    longest = CHARACTERS_A_WORD * most
    text = said_by(first_text(form, "text")[: 2 * longest])
    if not heard(text):
        raise FormError("text", "Write something first.")
    if len(text) > longest or len(text.split()) > most:
        limits = f"{most} words, and {longest:,} characters"
        raise FormError("text", f"That is too long for one message: at most {limits}.")
    at.say(connection, site.keys, slot, site.study.design, sender(form), text, site.clock())


def sender(form: Form) -> str:
    """The id that the page gave to a message, which is never that of a reply."""
    return f"page {first_text(form, 'client')[:48]}"


def finish(connection: Connection, site: Site, slot: at.Slot, form: Form) -> None:
    """The person ends the talk: in a confirmation, only after the minimum number of turns."""
    if slot.preparing or slot.task != "confirmation":
        return
    if slot.turns < (least := site.study.design.least_turns):
        raise FormError("text", f"Please talk for at least {least} messages first.")
    at.end_talk(connection, slot, "clinician", site.clock())


def findings(connection: Connection, site: Site, slot: at.Slot, form: Form) -> None:
    """What a person submits after a confirmation; `more` asks for room for another one."""
    now = site.clock()
    if first_text(form, "more"):
        draft = answers_of(form)
        for name in ("category", "description", "quote"):
            draft[name] = [*draft.get(name, []), ""]
        at.keep_draft(connection, site.keys, slot, draft, now)
        return
    said = [one.text for one in at.said_in(connection, site.keys, slot) if one.who == at.PATIENT]
    item = at.item_of(connection, slot.task, slot.item)
    given = site.tasks[slot.task].read(item, {**form, "said": said})
    if not given["findings"] and first_text(form, "none") != "yes":
        raise FormError("none", "Write down at least one finding, or tick that you found none.")
    at.keep_answer(connection, site.keys, slot, given, now)


def work(connection: Connection, site: Site, slot: at.Slot, form: Form) -> None:
    given = site.tasks[slot.task].read(at.item_of(connection, slot.task, slot.item), form)
    at.keep_answer(connection, site.keys, slot, given, site.clock())


def after(connection: Connection, site: Site, slot: at.Slot, form: Form) -> None:
    at.close(connection, site.keys, slot, who.read_survey(AFTER_TALK, form), site.clock())


def after_late(connection: Connection, site: Site, person: str, form: Form) -> bool:
    """The short survey of an item that was closed without it, since nobody had come back in time; returns whether it
    was stored."""
    late = at.without_survey(connection, person, first_text(form, "here"))
    if late is not None:
        with suppress(FormError):  # there is no page any more on which it could be mended
            given = who.read_survey(AFTER_TALK, form)
            at.keep_survey(connection, site.keys, late, given, site.clock())
            return True
    return False


STAGES: dict[str, Action] = {
    "consent": consent,
    "survey": survey,
    "instructions": read_on("practice"),
    "practice": practice,
    "feedback": feedback,
    "comprehension": comprehension,
    "debriefing": read_on("done"),
}
"""By the stage in which it may be done, whose name it has."""
ITEMS: dict[str, tuple[Step, ItemAction]] = {
    "begin": ("chart", begin),
    "say": ("talk", say),
    "finish": ("talk", finish),
    "findings": ("findings", findings),
    "work": ("work", work),
    "after": ("after", after),
}
"""Name -> the step of the item in hand at which it may be done, and what it does."""
ACTIONS = STAGES.keys() | ITEMS.keys()


def act(connection: Connection, site: Site, place: Place, name: str, form: Form) -> None:
    """Does what one of the `ACTIONS` does; nothing if the person is elsewhere. Raises FormError."""
    if name in STAGES:
        if place.person.stage == name:
            STAGES[name](connection, site, place, form)
            who.drop_draft(connection, site.keys, place.person)
        return
    step, action = ITEMS[name]
    if place.slot is not None and place.slot.step == step:
        action(connection, site, place.slot, form)
