"""The scripted participant of the demo goes through every page of every kind of talk."""

from __future__ import annotations

from pathlib import Path

from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.scripted import TURNS, take_part
from tests.parts.study_talks import links, talking


def test_it_comes_to_the_end_of_both_tasks(tmp_path: Path) -> None:
    site = talking(tmp_path, "confirmation", "intervention", per_person=2, most_turns=TURNS)
    links(site)
    take_part(site, "P001", CLINICIANS["expert"])
    with site.store.reading() as connection:
        assert who.person_of(connection, "P001").stage == "done"
        done = at.slots_of(connection, "P001")
        assert {slot.task for slot in done} == {"confirmation", "intervention"}
        assert all(slot.step == "done" and at.sealed_of(connection, slot)["episode"] for slot in done)
    site.close()
