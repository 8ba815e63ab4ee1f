"""Items in people's hands: given, in progress or answered, finished or lost; and the clock of a talk.

Every function works within the transaction of its caller, which has seen that the slot is at the step for it
(`actions.act`): a request that comes late, from another tab, by Back, or sent twice, changes nothing. The clock runs
from the moment that the person may write until the words are sent. It stops while the patient's reply is prepared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, RowMapping, Select, bindparam, func, select, update

from baselines.study.design import TALKS, Design, TaskName
from baselines.study.flow import Step
from baselines.study.journal import note
from baselines.study.keys import Keys
from baselines.study.schedule import Held, Offer, choose
from baselines.study.tables import drafts, items, messages, people, slots
from baselines.study.tasks.task import Item

CLINICIAN, PATIENT = "clinician", "patient"
OVER = ("done", "lost")
Lost = Literal["lease", "interrupted", "stopped", "time"]
"""Why an item is lost: not back in time, a model failed, the person stopped, the time was up before a word was said."""


@dataclass(frozen=True, slots=True)
class Slot:
    """An item in somebody's hands, as in its database row; texts stay encrypted."""

    id: int
    person: str
    item: str
    task: TaskName
    position: int
    repeat: bool
    step: Step
    given: float
    why: str | None
    used: float
    since: float | None
    stood: float | None
    allowed: float
    turns: int
    failing: float | None
    failures: int

    @property
    def here(self) -> str:
        """The name of the slot's current page: a form of another page does nothing."""
        return f"{self.id}.{self.step}.{self.turns}"

    @property
    def talks(self) -> bool:
        return self.task in TALKS

    @property
    def preparing(self) -> bool:
        """Whether the patient's reply is being prepared."""
        return self.step == "talk" and self.since is None

    def spent(self, now: float) -> float:
        """Seconds on the clock; after server downtime, as of the last heartbeat (`clock`)."""
        now = now if self.stood is None else min(now, self.stood)
        return self.used + (0.0 if self.since is None else max(0.0, now - self.since))

    def is_up(self, now: float, grace: float) -> bool:
        """Whether the time of a talk is up, including the grace period in which words may still be sent."""
        return self.step == "talk" and self.since is not None and self.spent(now) > self.allowed + grace

    def left(self, now: float) -> float:
        """Seconds that the person has left, never below 0."""
        return max(0.0, self.allowed - self.spent(now))


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a talk, decrypted."""

    who: str
    at: float
    used: float
    text: str
    client: str
    """The id that the page gave to a person's message."""


# The statements of every request, built once: building them takes longer than running them.
_COLUMNS = [slots.c[name] for name in Slot.__slots__]
_BY_NUMBER = select(*_COLUMNS).where(slots.c.id == bindparam("slot_id"))
_OF_PERSON = select(*_COLUMNS).where(slots.c.person == bindparam("name")).order_by(slots.c.position)
_CHANGED = update(slots).where(slots.c.id == bindparam("slot_id"))
_SAID = select(messages).where(messages.c.slot == bindparam("slot_id")).order_by(messages.c.number)
_MESSAGES = select(func.count()).where(messages.c.slot == bindparam("slot_id"))
_IS_SAID = select(messages.c.slot).where(
    messages.c.slot == bindparam("slot_id"), messages.c.client == bindparam("sent")
)
_MESSAGE = messages.insert()
_ITEM = select(items).where(items.c.task == bindparam("of"), items.c.id == bindparam("name"))
_DRAFT = select(drafts.c.sealed).where(drafts.c.slot == bindparam("slot_id"))
_NO_DRAFT = drafts.delete().where(drafts.c.slot == bindparam("slot_id"))


def _slots(connection: Connection, asked: Select[Any], **told: Any) -> list[Slot]:
    return [Slot(**row) for row in connection.execute(asked, told).mappings()]


def those(connection: Connection, *conditions: ColumnElement[bool]) -> list[Slot]:
    """The slots of anybody that meet all conditions."""
    return _slots(connection, select(*_COLUMNS).where(*conditions))


def unanswered(connection: Connection, *conditions: ColumnElement[bool]) -> list[Slot]:
    """Talks in which the patient's reply is due."""
    return those(connection, slots.c.step == "talk", slots.c.since.is_(None), *conditions)


def without_episode(connection: Connection, *conditions: ColumnElement[bool]) -> list[Slot]:
    """Talks that are over, but whose episode has not been written yet; an erased person's cannot be."""
    over = (slots.c.task == "confirmation") & slots.c.step.in_(("after", "done"))
    over |= (slots.c.task == "intervention") & (slots.c.step == "done")
    there = slots.c.person.in_(select(people.c.id).where(people.c.stage != "erased"))
    return those(connection, over, there, slots.c.episode.is_(None), *conditions)


def slot_of(connection: Connection, number: int) -> Slot:
    (slot,) = _slots(connection, _BY_NUMBER, slot_id=number)
    return slot


def open_slot(connection: Connection, person: str) -> Slot | None:
    """The item that the person is working on."""
    return in_hand(slots_of(connection, person))


def in_hand(given: Sequence[Slot]) -> Slot | None:
    """The unfinished one among the items that a person was given."""
    return next((slot for slot in given if slot.step not in OVER), None)


def slots_of(connection: Connection, person: str) -> list[Slot]:
    """Everything that the person was given, in order."""
    return _slots(connection, _OF_PERSON, name=person)


def offers_of(connection: Connection, *, talks: bool = True) -> list[Offer]:
    """The items of the study, in order; with `talks` false, those for which no model is asked."""
    found = connection.execute(select(items.c.id, items.c.task, items.c.group).order_by(items.c.number))
    return [Offer(row.id, row.task, row.group) for row in found if talks or row.task not in TALKS]


def item_of(connection: Connection, task: str, name: str) -> Item:
    return item_in(connection.execute(_ITEM, {"of": task, "name": name}).one())


def item_in(row: Row[Any]) -> Item:
    """The item of a row of the table. Raises ValueError or TypeError for JSON that somebody damaged."""
    return Item(row.id, row.task, row.group, json.loads(row.payload), json.loads(row.key), row.picture)


def held(connection: Connection) -> list[Held]:
    """What everybody was given, for the schedule. What an erased person did is lost, and goes to somebody else."""
    found = connection.execute(
        select(
            people.c.number, people.c.stage, *(slots.c[name] for name in ("item", "task", "group", "step", "repeat"))
        )
        .join(people, people.c.id == slots.c.person)
        .order_by(slots.c.id)
    )
    return [
        Held(
            row.number,
            row.item,
            row.task,
            row.group,
            "lost" if row.stage == "erased" else row.step if row.step in OVER else "open",
            row.repeat,
        )
        for row in found
    ]


def give(connection: Connection, design: Design, person: str, now: float, *, talks: bool = True) -> Slot | None:
    """The next item by the schedule, for somebody with none in hand; None if there is no further one. `talks` as
    `offers_of`."""
    who = connection.execute(select(people.c.number, people.c.factor).where(people.c.id == person)).one()
    chosen = choose(design, offers_of(connection, talks=talks), held(connection), who.number)
    if chosen is None:
        return None
    offer = chosen.offer
    position = connection.execute(select(func.count()).select_from(slots).where(slots.c.person == person)).scalar()
    made = connection.execute(
        slots.insert().values(
            person=person,
            item=offer.id,
            task=offer.task,
            group=offer.group,
            position=position,
            repeat=chosen.repeat,
            step="chart" if offer.task in TALKS else "work",
            given=now,
            allowed=60.0 * design.minutes * who.factor if offer.task in TALKS else 0.0,
            since=None if offer.task in TALKS else now,
        )
    )
    assert made.inserted_primary_key is not None
    number = int(made.inserted_primary_key[0])
    note(connection, now, "given", person=person, slot=number, task=offer.task, item=offer.id)
    return slot_of(connection, number)


def _change(connection: Connection, slot: Slot, **values: Any) -> None:
    connection.execute(_CHANGED, {"slot_id": slot.id, **values})


# --- A talk -----------------------------------------------------------------------------------------------------------


def begin_talk(connection: Connection, slot: Slot, now: float) -> None:
    """From the chart to the talk: the clock starts."""
    _change(connection, slot, step="talk", since=now)
    note(connection, now, "talk", person=slot.person, slot=slot.id)


def say(connection: Connection, keys: Keys, slot: Slot, design: Design, client: str, text: str, now: float) -> bool:
    """Stores the person's words, once, and stops the clock; False if they come late or are already stored."""
    if slot.step != "talk" or slot.since is None or slot.is_up(now, design.grace):
        return False
    if is_said(connection, slot, client):
        return False
    used = slot.spent(now)  # also beyond what is allowed: the grace is given once, not after each reply
    _keep(connection, keys, slot, CLINICIAN, client, text, now, used)
    _change(connection, slot, used=used, since=None, turns=slot.turns + 1)
    connection.execute(_NO_DRAFT, {"slot_id": slot.id})
    return True


def _keep(
    connection: Connection, keys: Keys, slot: Slot, who: str, client: str, text: str, now: float, used: float
) -> None:
    number = 1 + (connection.execute(_MESSAGES, {"slot_id": slot.id}).scalar() or 0)
    told = {"slot": slot.id, "number": number, "client": client, "who": who, "at": now, "used": used}
    connection.execute(_MESSAGE, {**told, "sealed": keys.seal(slot.person, text)})
    note(connection, now, "message", person=slot.person, slot=slot.id, number=number, who=who)


def reply(connection: Connection, keys: Keys, slot: Slot, text: str, now: float) -> None:
    """Stores the patient's reply to the last words, once, and restarts the clock."""
    if not slot.preparing:
        return
    _keep(connection, keys, slot, PATIENT, f"patient {slot.turns}", text, now, slot.used)
    _change(connection, slot, since=now, busy=None, failing=None)


def end_talk(connection: Connection, slot: Slot, why: str, now: float) -> None:
    """The talk is over: findings come next after a confirmation, the short survey after an intervention; a talk in
    which the person has not said a word is lost."""
    if slot.step != "talk":
        return
    if not slot.turns:
        lose(connection, slot, "time", now)
        return
    following = "findings" if slot.task == "confirmation" else "after"
    used = min(slot.spent(now), slot.allowed)
    _change(connection, slot, step=following, since=None, stood=None, used=used, why=why, busy=None, failing=None)
    note(connection, now, "talk over", person=slot.person, slot=slot.id, why=why, turns=slot.turns)


def said_in(connection: Connection, keys: Keys, slot: Slot) -> list[Said]:
    """The messages of a talk. Raises Erased."""
    rows = connection.execute(_SAID, {"slot_id": slot.id}).all()
    texts = keys.open_all(slot.person, [row.sealed for row in rows])
    pairs = zip(rows, texts, strict=True)
    return [Said(row.who, row.at, row.used, text, row.client) for row, text in pairs]


# --- Answers ----------------------------------------------------------------------------------------------------------


def keep_answer(connection: Connection, keys: Keys, slot: Slot, given: Mapping[str, Any], now: float) -> None:
    """Stores findings, after which the short survey comes, or the answer of a rating task."""
    after = slot.step == "findings"
    used = slot.used if after else slot.spent(now)
    sealed = keys.seal_json(slot.person, dict(given))
    _change(
        connection,
        slot,
        sealed=sealed,
        step="after" if after else "done",
        ended=None if after else now,
        used=used,
        since=None,
    )
    connection.execute(_NO_DRAFT, {"slot_id": slot.id})
    note(connection, now, "answered", person=slot.person, slot=slot.id, sealed=hashlib.sha256(sealed).hexdigest())


def close(connection: Connection, keys: Keys, slot: Slot, survey: Mapping[str, Any], now: float) -> None:
    """Stores the short survey: the item is done. An item is done even if nobody filled it in."""
    after = keys.seal_json(slot.person, dict(survey)) if survey else None
    _change(connection, slot, after=after, step="done", ended=now)
    connection.execute(_NO_DRAFT, {"slot_id": slot.id})
    note(connection, now, "done", person=slot.person, slot=slot.id)


def without_survey(connection: Connection, person: str, here: str) -> Slot | None:
    """The item that a person has done without the short survey, by the name of that survey's page."""
    for slot in slots_of(connection, person):
        if slot.step == "done" and here == f"{slot.id}.after.{slot.turns}":
            return slot if sealed_of(connection, slot)["after"] is None else None
    return None


def keep_survey(connection: Connection, keys: Keys, slot: Slot, survey: Mapping[str, Any], now: float) -> None:
    """Stores the short survey of an item that is done without it."""
    _change(connection, slot, after=keys.seal_json(slot.person, dict(survey)))
    note(connection, now, "survey late", person=slot.person, slot=slot.id)


def lose(connection: Connection, slot: Slot, why: Lost, now: float) -> None:
    """The item is given up; the schedule gives it to somebody else. The time of a talk counts, as it is paid, including
    the time of the words that were being written."""
    if slot.step in OVER:
        return
    used = min(slot.spent(now), slot.allowed) if slot.talks else slot.used
    _change(connection, slot, step="lost", why=why, ended=now, used=used, since=None, stood=None, busy=None)
    note(connection, now, "lost", person=slot.person, slot=slot.id, why=why)


def leave(connection: Connection, keys: Keys, slot: Slot, why: Lost, now: float) -> None:
    """The person goes away: at the last survey the item is done, before it is lost."""
    if slot.step == "after":
        close(connection, keys, slot, {}, now)
    else:
        lose(connection, slot, why, now)


def keep_draft(connection: Connection, keys: Keys, slot: Slot, draft: dict[str, list[str]], now: float) -> None:
    """Stores what is being written."""
    sealed = keys.seal_json(slot.person, draft)
    changed = connection.execute(update(drafts).where(drafts.c.slot == slot.id).values(at=now, sealed=sealed))
    if changed.rowcount == 0:
        connection.execute(drafts.insert().values(slot=slot.id, at=now, sealed=sealed))


def draft_of(connection: Connection, keys: Keys, slot: Slot) -> dict[str, list[str]]:
    """What was being written."""
    sealed = connection.execute(_DRAFT, {"slot_id": slot.id}).scalar()
    return keys.open_json(slot.person, sealed) or {}


def sealed_of(connection: Connection, slot: Slot) -> RowMapping:
    """The encrypted columns of a slot: sealed, after, episode."""
    wanted = select(slots.c.sealed, slots.c.after, slots.c.episode)
    return connection.execute(wanted.where(slots.c.id == slot.id)).mappings().one()


def answered(connection: Connection, keys: Keys, person: str) -> list[tuple[Slot, Any, dict[str, Any]]]:
    """The items that a person has done, each with the answer and the short survey. Raises Erased."""
    asked = select(*_COLUMNS, slots.c.sealed, slots.c.after).where(slots.c.person == person, slots.c.step == "done")
    rows = connection.execute(asked.order_by(slots.c.position)).all()
    there = [sealed for row in rows for sealed in row[-2:] if sealed is not None]
    texts = iter(keys.open_all(person, there) if rows else [])
    opened = [[None if sealed is None else json.loads(next(texts)) for sealed in row[-2:]] for row in rows]
    return [(Slot(*row[:-2]), given, after or {}) for row, (given, after) in zip(rows, opened, strict=True)]


def is_said(connection: Connection, slot: Slot, client: str) -> bool:
    return connection.execute(_IS_SAID, {"slot_id": slot.id, "sent": client}).first() is not None
