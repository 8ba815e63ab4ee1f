"""Why a person should look at somebody's work, from everything that a study holds. It excludes nobody."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

from sqlalchemy import Connection

from baselines.study import attention
from baselines.study import slots as at
from baselines.study.design import TALKS, Design
from baselines.study.keys import Erased, Keys
from baselines.study.people import Person
from baselines.study.tasks.task import Response
from loaders.errors import how_many


def flagged(connection: Connection, keys: Keys, design: Design, everybody: Sequence[Person]) -> dict[str, list[str]]:
    """Person -> reasons, for those with one: pastes, the instructions, tools, and how they rated (`attention`)."""
    found: dict[str, list[str]] = {}
    item_of = cache(partial(at.item_of, connection))  # with its picture: loaded once, whoever has rated it
    rated: dict[str, list[Response]] = {task: [] for task in design.tasks if task not in TALKS}
    for person in everybody:
        told = found.setdefault(person.id, [])
        if person.paste:
            told.append(f"{how_many(person.paste, 'paste')} refused")
        if person.tries:
            often = "once" if person.tries == 1 else f"{person.tries} times"
            told.append(f"answered wrongly about the instructions {often}")
        tools = 0
        try:
            for slot, given, after in at.answered(connection, keys, person.id):
                tools += after.get("tools", "None") not in ("", "None")
                if slot.task in rated and given is not None:
                    item = item_of(slot.task, slot.item)
                    rated[slot.task].append(Response(person.id, item, given, slot.used, slot.repeat, slot.position))
        except Erased:
            pass
        if tools:
            told.append(f"says a tool was used in {how_many(tools, 'case')}")
    for responses in rated.values():
        for name, reasons in attention.flags(responses).items():
            found[name] += reasons
    return {name: reasons for name, reasons in found.items() if reasons}
