"""Exports a study in the file formats that the baselines already read: docs/people.md, "What an export holds".

People appear under their pseudonyms. Those whose texts were erased, and practice items, appear only in counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from baselines.medconceal.record import Encounter, Episode
from baselines.medconceal.transcripts import line_of
from baselines.results.sheets import table_bytes
from baselines.study import journal, replaced, requests
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.attention import flagged
from baselines.study.design import Study
from baselines.study.keys import Erased, Keys
from baselines.study.site import check_tables
from baselines.study.store import Store
from baselines.study.tables import facts
from baselines.study.tasks.task import Response, task_named
from loaders.errors import InputError
from loaders.files.disk import all_or_nothing, make_folder, write_whole
from loaders.files.paths import entries
from loaders.files.records import from_json, to_json

_LOST = {"interrupted": "interrupted", "stopped": "withdrawn", "lease": "withdrawn"}


@dataclass(frozen=True, slots=True)
class Exported:
    """The files written, and how many items went into them or, by reason, did not."""

    files: tuple[Path, ...]
    items: int
    left_out: Mapping[str, int]
    stand_in: str | None


@all_or_nothing()
def export(study: Study, store: Store, keys: Keys, out: Path) -> Exported:
    """Writes all files or none.

    Raises InputError for a folder that holds anything, and for a database that was changed.
    """
    make_folder(out)
    if entries(out):
        raise InputError(out, found="is not empty", expected="a new or empty folder", do="Choose another -o")
    left_out: Counter[str] = Counter()
    with store.reading() as connection:
        rows, head = journal.checked(connection)
        check_tables(connection)
        who.check_keys(connection, keys)
        known = {row.name: row.value for row in connection.execute(select(facts))}
        stand_in = json.loads(known.get("stand_in", "null"))
        models = json.loads(known.get("models", "{}"))
        offers = at.offers_of(connection)
        # of all tasks that people were given: somebody may have edited study.yaml since
        tasks = dict.fromkeys(offer.task for offer in offers)
        responses = {name: _responses(connection, keys, name, models, left_out) for name in tasks}
        everybody = who.everybody(connection)
        flags = flagged(connection, keys, everybody)
        kept = [person for person in everybody if person.stage != "erased"]
        persons = [_person(connection, keys, study, person, flags.get(person.id, [])) for person in kept]
        times = list(_times(connection, keys, kept, float(known.get("beat", 0))))
        again = requests.sent_again(connection)
        fixed = replaced.counted(connection)
    written: list[Path] = []
    for name, answered in responses.items():
        if answered:
            of = [offer.id for offer in offers if offer.task == name]
            written += task_named(name).sheet(answered, out, of, stand_in)
    for file, table in (("people.csv", persons), ("items.csv", times)):
        if table:
            columns = dict.fromkeys(name for row in table for name in row)
            write_whole(out / file, table_bytes(list(columns), table))
            written.append(out / file)
    told = {
        "title": study.design.title,
        # With Prolific's codes, whoever reads an export could say there that they have completed the study.
        "design": {name: value for name, value in to_json(study.design).items() if name != "prolific"},
        "digest": study.digest,
        "consent": study.texts.consent_digest,
        "consented": dict(sorted(Counter(person.consent for person in kept if person.consent).items())),
        "models": models,
        "rehearsal": json.loads(known.get("rehearsal", "false")),
        "stand_in": stand_in,
        "journal": {"rows": rows, "last": head},
        "left_out": dict(sorted(left_out.items())),
        "people_erased": len(everybody) - len(kept),
        "asked_again": again,
        "replies": {"counted": fixed.of, "replaced": fixed.replaced, "by": dict(sorted(fixed.by.items()))},
    }
    write_whole(out / "study.json", (json.dumps(told, indent=2, sort_keys=True) + "\n").encode())
    return Exported((*written, out / "study.json"), sum(map(len, responses.values())), dict(left_out), stand_in)


def _responses(
    connection: Connection, keys: Keys, name: str, models: Mapping[str, str], left_out: Counter[str]
) -> list[Response]:
    """The answers in a task, by person and in the order in which each of them got the items."""
    found = []
    for person in who.everybody(connection):
        for slot in at.slots_of(connection, person.id):
            if slot.task != name:
                continue
            if person.stage == "erased":
                left_out["erased"] += 1
                continue
            if slot.step not in at.OVER:
                left_out["not finished"] += 1
                continue
            try:
                given = _line(connection, keys, slot, models) if slot.talks else _answer(connection, keys, slot)
            except Erased:
                left_out["erased"] += 1
                continue
            if isinstance(given, str):
                left_out[given] += 1
                continue
            item = at.item_of(connection, slot.task, slot.item)
            found.append(Response(person.id, item, given, round(slot.used, 1), slot.repeat, slot.position))
    return found


def _answer(connection: Connection, keys: Keys, slot: at.Slot) -> dict[str, Any] | str:
    """The answer to an item, or why there is none. Raises Erased."""
    given: dict[str, Any] | None = keys.open_json(slot.person, at.sealed_of(connection, slot)["sealed"])
    return f"left ({slot.why})" if given is None else given


def _line(connection: Connection, keys: Keys, slot: at.Slot, models: Mapping[str, str]) -> dict[str, Any] | str:
    """A talk as a line of a file of dialogues, or why there is none. Raises Erased."""
    said = at.said_in(connection, keys, slot)
    if not said:
        keys.seal(slot.person, "")  # raises if the person was erased
        return f"nothing said ({slot.why})"
    start = said[0].at - said[0].used
    sent = tuple(round(one.at - start, 3) for one in said if one.who == at.CLINICIAN)
    shown = tuple(round(one.at - start, 3) for one in said if one.who == at.PATIENT)
    sealed = at.sealed_of(connection, slot)["episode"]
    if slot.step == "done":
        if sealed is None:  # a server that stopped has not written it
            return "incomplete: serve the study for a moment, and export again"
        episode = from_json(Episode, keys.open(slot.person, sealed).encode(), f"slot {slot.id}")
        if any(later.at < sooner.at for sooner, later in pairwise(said)):  # the machine's clock was set back
            sent = shown = ()
        return line_of(episode, Encounter(slot.person, f"E{slot.id}", sent, shown, slot.allowed), models)
    replies = [one.text for one in said if one.who == at.PATIENT]
    words = [one.text for one in said if one.who == at.CLINICIAN]
    turns = [
        {"clinician": text, "patient": replies[number] if number < len(replies) else ""}
        for number, text in enumerate(words)
    ]
    stopped = _LOST.get(slot.why or "", "interrupted")
    told = {"case": slot.item, "participant": slot.person, "encounter": f"E{slot.id}", "task": slot.task}
    return {**told, "turns": turns, "stopped": stopped, "models": dict(models)}


def _person(
    connection: Connection, keys: Keys, study: Study, person: who.Person, flags: Sequence[str]
) -> dict[str, Any]:
    try:
        survey = who.known_of(connection, keys, person.id).get("survey", {})
    except Erased:
        survey = {}
    mine = at.slots_of(connection, person.id)
    return {
        "participant": person.id,
        "stage": person.stage,
        "done": sum(slot.step == "done" for slot in mine),
        "time_factor": f"{person.factor:g}",
        "comprehension_tries": person.tries,
        "pastes_refused": person.paste,
        "flags": "; ".join(flags),
        **dict.fromkeys((question.name for question in study.design.survey), ""),
        **survey,  # also under the name that a question had earlier
    }


def _times(connection: Connection, keys: Keys, people: Iterable[who.Person], beat: float) -> Iterable[dict[str, Any]]:
    """The rows of items.csv; what is under way has taken the time until `beat`, when a server last ran."""
    for person in people:
        for slot in at.slots_of(connection, person.id):
            fixed = replaced.counted(connection, slot.id)
            try:
                after = keys.open_json(person.id, at.sealed_of(connection, slot)["after"]) or {}
            except Erased:
                after = {}
            spent = min(slot.spent(beat), slot.allowed) if slot.step == "talk" else slot.spent(beat)
            yield {
                "participant": person.id,
                "position": slot.position + 1,
                "task": slot.task,
                "item": slot.item,
                "repeat": int(slot.repeat),
                "state": slot.step,
                "ended_by": slot.why or "",
                "seconds": round(spent, 1),
                "allowed_seconds": round(slot.allowed, 1),
                "turns": slot.turns if slot.talks else "",
                "replaced": fixed.replaced if fixed.of else "",
                **{name: after.get(name, "").partition(" ")[0] for name in ("difficulty", "realism")},  # without words
                "tools": after.get("tools", ""),
            }
