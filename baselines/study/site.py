"""A study while it is open: its folder, database and keys, its cases, and who plays evaluator and patient."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Connection, case, func, select

from baselines.dialogue.budget import dollars
from baselines.dialogue.game import Game
from baselines.dialogue.playing import Player, Scripted
from baselines.medconceal.game import Rules, task_game
from baselines.medconceal.record import Episode
from baselines.results.run import because
from baselines.study.clock import steady
from baselines.study.design import Study, TaskName
from baselines.study.journal import note
from baselines.study.keys import STUDY, Keys
from baselines.study.people import check_keys, end_erasing
from baselines.study.schedule import items_a_person
from baselines.study.slots import OVER, item_in
from baselines.study.store import Store, open_store, set_fact
from baselines.study.tables import answers, facts, items, journal, slots
from baselines.study.tasks.task import Item, Source, Task, task_named
from loaders.errors import InputError, ModelError
from loaders.files.disk import private_folder
from loaders.files.paths import is_there
from loaders.medconceal import TASKS as TALK_NAMES
from loaders.medconceal import PatientProfile, cases, row_of
from loaders.medconceal import Task as TalkName

PRIVATE = "private"
DATABASE, KEYS = "study.sqlite", "keys.sqlite"
Prices = Mapping[str, tuple[float, float]]


@dataclass(frozen=True)
class Site:
    """What the pages, the replies and the exports of a study are made from.

    `length` is how many items a person is given, if nobody leaves. `profiles` are the complete cases, by id: only in
    this process, and passed to no page. `models` says who plays which role, rules and template included, and by which
    policy and prompts, for exports. `stand_in` is why what people do here is no result (a rehearsal, sample data), or
    None.
    """

    study: Study
    store: Store
    keys: Keys
    tasks: Mapping[TaskName, Task]
    length: int
    games: Mapping[TaskName, Game[PatientProfile, Episode]] = field(default_factory=dict)
    profiles: Mapping[str, PatientProfile] = field(default_factory=dict)
    players: Mapping[str, Player] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    prices: Prices = field(default_factory=dict)
    rehearsal: bool = False
    stand_in: str | None = None
    clock: Callable[[], float] = field(default_factory=steady)

    def close(self) -> None:
        self.store.close()
        self.keys.close()

    def is_spent(self, connection: Connection) -> bool:
        """Whether the study has spent its budget: no model is asked, and no talk is given to anybody."""
        most = self.study.design.limits.dollars
        spent = None if most is None else cost(connection, self.prices)
        return most is not None and spent is not None and spent.dollars >= most

    def check_dollars(self) -> None:
        """Raises ModelError if the study has spent its budget."""
        with self.store.reading() as connection:
            if self.is_spent(connection):
                found = f"the ${self.study.design.limits.dollars:.2f} of the study are spent"
                raise ModelError("study", found=found, do="Raise limits.dollars")


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars for the answers of models, and how many of those had no count of tokens, and are estimated."""

    dollars: float
    estimated: int


def cost(connection: Connection, prices: Prices) -> Cost | None:
    """What all answers so far have cost; None if a price is unknown."""
    taken = select(
        answers.c.model,
        func.sum(answers.c.input_tokens).label("given"),
        func.sum(answers.c.output_tokens).label("said"),
        func.sum(case((answers.c.estimated, 1), else_=0)).label("estimated"),
    ).group_by(answers.c.model)
    total, estimated = 0.0, 0
    for row in connection.execute(taken):
        if row.model not in prices:
            return None
        total += dollars(prices[row.model], float(row.given), float(row.said))
        estimated += row.estimated
    return Cost(total, estimated)


def open_database(study: Study, database: str | None = None) -> tuple[Store, Keys]:
    """The database and the keys of a study. Raises InputError as `open_store` and `Keys`; and for keys of people
    whom the database does not know, or a database that began with other keys, since another one is meant: new people
    would get names and keys that its own study cannot know."""
    folder = private_folder(study.folder / PRIVATE)
    with ExitStack() as unless:
        keys = unless.enter_context(Keys(folder / KEYS))
        there = sorted((keys.holders() | keys.erased()) - {STUDY})
        if there and not database and not is_there(folder / DATABASE):
            raise _without_database(folder, there)  # before an empty one is made
        store = unless.enter_context(open_store(database or folder / DATABASE))
        own, known = keys.known(DATABASE), store.fact("keys")
        if store.fact("items") is None and store.fact("begun") is None:
            if there:
                raise _without_database(folder, there)
            with store.writing() as connection:
                set_fact(connection, "keys", own)
        elif known != own:
            raise InputError(
                folder / KEYS,
                found="keys of another study",
                expected="the keys that belong to this database",
                do="Restore their backup, or name folder and database (--database, BEDSIDE_DATABASE) of one study",
            )
        unless.pop_all()
    return store, keys


def _without_database(folder: Path, people: Sequence[str]) -> InputError:
    return InputError(
        folder / KEYS,
        found=f"keys of {', '.join(people[:3])}{' …' if people[3:] else ''}, and a database without a study",
        expected="the database to which the keys belong",
        do=f"Restore {DATABASE}, or name the database (--database, BEDSIDE_DATABASE); to begin anew, use a new folder",
    )


def open_site(
    study: Study,
    source: Source,
    *,
    players: Mapping[str, Player],
    rules: Callable[[TalkName], Rules],
    models: Mapping[str, str] | None = None,
    database: str | None = None,
    prices: Prices | None = None,
    rehearsal: bool = False,
    clock: Callable[[], float] | None = None,
) -> Site:
    """A study, ready to be served; the first time, its items are stored.

    Raises InputError for a source that gives other items than those that the study began with, for other models than
    those that people have talked with or that another server asks, and as `open_database`, `Store.hold` and
    `Task.items` do.
    """
    tasks = {name: task_named(name) for name in study.design.tasks}
    found = [item for task in tasks.values() for item in task.items(source)]
    if not found:
        raise InputError("study", found="no item", expected="at least one item")
    profiles: list[PatientProfile] = []
    if study.design.talks:
        assert source.opened is not None
        profiles = cases(source.opened.splits["test"])
    stand_in = because(source.stand_in, "a rehearsal" if rehearsal else None, _scripted(players))
    length = items_a_person(study.design, found)
    store, keys = open_database(study, database)
    site = Site(
        study=study,
        store=store,
        keys=keys,
        tasks=tasks,
        length=length,
        games={name: task_game(rules(name)) for name in TALK_NAMES if name in study.design.tasks},
        profiles={one.case_id: one for one in profiles},
        players=players,
        models=models or {},
        prices=prices or {},
        rehearsal=rehearsal,
        stand_in=stand_in,
        clock=clock or steady(),
    )
    try:
        with store.explained():
            store.hold()  # first: a server that is refused writes nothing
            with store.writing() as connection:
                # From now on, others see this one. Only one is here at a time: of two that start at once, the second
                # finds the models of the first written down.
                store.alone()
                end_erasing(connection, keys, site.clock())
                check_keys(connection, keys)
                _write_down(connection, site, found)
    except BaseException:
        site.close()
        raise
    return site


def _scripted(players: Mapping[str, Player]) -> str | None:
    acted = [player.name for player in players.values() if isinstance(player, Scripted) or player.stand_in]
    return f"scripted {', '.join(acted)}" if acted else None


def _write_down(connection: Connection, site: Site, found: list[Item]) -> None:
    told = {
        "items": _digest(found),
        "profiles": _digest_of_profiles(site, found),
        "design": site.study.digest,
        "models": json.dumps(dict(site.models), sort_keys=True),
        "rehearsal": json.dumps(site.rehearsal),
        "stand_in": json.dumps(site.stand_in),
    }
    known = {row.name: row.value for row in connection.execute(select(facts))}
    fixed = {"items": "other cases", "profiles": "other cases", "rehearsal": "as a rehearsal, or not"}
    other = [what for name, what in fixed.items() if known.get(name, told[name]) != told[name]]
    talked = connection.execute(select(slots.c.id).where(slots.c.turns > 0)).first() is not None
    if talked or not site.store.alone():
        # An export says of each conversation who played it; another server goes on with the models that it began with.
        models = json.loads(known.get("models", "{}"))
        if any(site.models.get(role) != name for role, name in models.items()):  # of all that are written down
            other.append("other models: " + ", ".join(f"{role} {name}" for role, name in sorted(models.items())))
    if other:
        raise InputError(
            site.study.folder,
            found=f"was started with {other[0]}",
            expected="the same source and settings until it is closed",
            do="Serve the original source and settings with the version of Bedside that began it, or copy study.yaml "
            "and the texts to a new folder",
        )
    if "items" not in known:
        rows = [
            {
                "id": item.id,
                "task": item.task,
                "number": number,
                "group": item.group,
                "payload": json.dumps(dict(item.payload)),
                "key": json.dumps(dict(item.key)),
                "picture": item.picture,
            }
            for number, item in enumerate(found)
        ]
        connection.execute(items.insert(), rows)
        note(connection, site.clock(), "begun", items=len(found), digest=told["items"], design=told["design"])
    for name, value in told.items():
        if known.get(name) == value:
            continue
        set_fact(connection, name, value)
        if name in known:
            note(connection, site.clock(), "changed", fact=name, digest=hashlib.sha256(value.encode()).hexdigest())


def _digest(found: list[Item]) -> str:
    digest = hashlib.sha256()
    for item in found:
        told = [item.id, item.task, item.group, dict(item.payload), dict(item.key)]
        digest.update(json.dumps(told, sort_keys=True).encode())
        digest.update(hashlib.sha256(item.picture or b"").digest())
    return digest.hexdigest()


def _digest_of_profiles(site: Site, found: list[Item]) -> str:
    """The digest of the whole cases of talks, of which items hold what is not hidden."""
    profiles = [site.profiles[item.id] for item in found if item.task in site.games]
    talks = [row_of(one, author="", licence="", attribution="") for one in profiles]
    return hashlib.sha256(json.dumps(talks, sort_keys=True).encode()).hexdigest()


def _digest_of_table(connection: Connection) -> str:
    """The digest of the items as they are stored; "" if they cannot be read."""
    rows = connection.execute(select(items).order_by(items.c.number))
    try:
        return _digest(list(map(item_in, rows)))
    except (ValueError, TypeError):
        return ""


def check_tables(connection: Connection) -> None:
    """Check that the items, who was given which, how it ended and what was answered are as the journal recorded it.

    Raises InputError for the first that is not: an answer would be counted for another item or person.
    """
    given: dict[int, tuple[object, ...]] = {}
    passed: dict[int, set[str]] = {}
    answered: dict[int, str] = {}
    begun = None
    told = select(journal).where(journal.c.what.in_(("begun", "given", "answered", *OVER))).order_by(journal.c.number)
    for row in connection.execute(told):
        detail = json.loads(row.detail)
        if row.what == "begun":
            begun = detail["digest"]
        elif row.what == "given":
            given[row.slot] = row.person, detail["task"], detail["item"]
        else:
            passed.setdefault(row.slot, set()).add(row.what)
            if row.what == "answered":
                answered[row.slot] = detail["sealed"]
    held = {row.id: row for row in connection.execute(select(slots))}
    changed = ["items"] if begun not in (None, _digest_of_table(connection)) else []
    for number in sorted(given.keys() | held.keys()):
        slot = held.get(number)
        if slot is None or (slot.person, slot.task, slot.item) != given.get(number):
            changed.append(f"slots, row {number}")
        elif not _may_be(slot.step, passed.get(number, set())):
            changed.append(f"slots, row {number}, step")
        elif slot.sealed and answered.get(number) != hashlib.sha256(slot.sealed).hexdigest():
            changed.append(f"slots, row {number}, answer")
    if changed:
        raise InputError(
            changed[0],
            found="is not what the journal recorded",
            expected="a database that nobody has changed",
            do="Compare with a backup: the database was changed from outside",
        )


def _may_be(step: str, passed: set[str]) -> bool:
    """Whether an item may be at a step, after what the journal recorded of it; an answer that no survey follows ends
    it."""
    if step == "done":
        return bool(passed & {"answered", "done"}) and "lost" not in passed
    return "done" not in passed and ("lost" in passed) == (step == "lost")
