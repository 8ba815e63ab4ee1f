"""The scripted participant of the demo goes through every page of every task."""

from __future__ import annotations

from pathlib import Path

import pytest

from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.design import TaskName
from baselines.study.export import export
from baselines.study.scripted import TURNS, take_part
from scripts.study.sample import sample_source
from tests.parts import study_site
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


@pytest.mark.parametrize("task", ["pairs", "diagnosis", "rubric", "relevance"])
def test_it_rates_the_bundled_samples(task: TaskName, tmp_path: Path) -> None:
    plan = study_site.study(tmp_path / "s", task, cases=3, completed=2)
    given = sample_source(plan.design)
    site = study_site.site(plan, opened=given.opened, runs=given.runs, stand_in=given.stand_in)
    links(site, 2)
    for name in ("P001", "P002"):
        take_part(site, name, CLINICIANS["expert"])
    exported = export(plan, site.store, site.keys, tmp_path / "out")
    assert exported.items == 2 * site.length and exported.stand_in
    sheets = sorted((tmp_path / "out").glob(f"{task}*P00?.csv"))
    assert len(sheets) == 2 and sheets[0].read_text() != sheets[1].read_text().replace("P002", "P001")
    site.close()
