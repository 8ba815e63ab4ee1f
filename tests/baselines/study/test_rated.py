"""The rating tasks from the link to the table: people fill in pages, the export goes through the commands as it is."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from baselines.study import people as who
from baselines.study import schedule
from baselines.study import slots as at
from baselines.study.design import TaskName
from baselines.study.export import export
from baselines.study.tables import people, slots
from loaders.errors import BedsideError, InputError
from loaders.opened import open_data
from scripts.cli import execute
from tests.baselines.study.test_tasks import captions
from tests.parts import study_site
from tests.parts.full_disk import stopped_after
from tests.parts.sheets import read_sheet
from tests.parts.study_talks import Visitor, links, visiting


def source(task: TaskName, request: pytest.FixtureRequest) -> Mapping[str, Any]:
    if task == "pairs":
        return {"opened": captions()}
    if task == "rubric":
        return {"runs": (request.getfixturevalue("played"),)}
    return {"opened": open_data(str(request.getfixturevalue("photos")), split="test", default="3mdbench")}


def filled(page: str, draw: random.Random) -> dict[str, str]:
    """What somebody chooses on a page."""
    given = {name: draw.choice(values) for name, values in study_site.radios(page).items()}
    for select in re.findall(r'<select id="[^"]*" name="([^"]*)".*?</select>', page, re.DOTALL):
        options = re.findall(r'<option value="([^"]+)"', page)
        given[select] = unescape(draw.choice(options))
    if 'type="text"' in page:
        given["diagnosis"] = "acne"
    return given


@pytest.mark.parametrize("task", ["pairs", "diagnosis", "rubric", "relevance"])
def test_a_study_from_the_link_to_the_table(
    task: TaskName, request: pytest.FixtureRequest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    raters = 2
    plan = study_site.study(tmp_path / "s", task, cases=4, completed=raters, repeated=0.25, attention=0.25)
    site = study_site.site(plan, **source(task, request))
    with visiting(site) as client:
        *tokens, late = links(site, raters + 1)
        for number, token in enumerate(tokens):
            person, draw = Visitor(client, token), random.Random(number)
            if number:  # the first goes all the way
                with site.store.writing() as connection:
                    connection.execute(people.update().where(people.c.stage == "consent").values(stage="work"))
                person.look()
            else:
                for action, given in (
                    ("consent", {"answer": "agree"}),
                    ("survey", {"years": "More"}),
                    ("instructions", {}),
                ):
                    person.do(action, **given)
                person.do("practice", **filled(person.page, draw))
                assert person.title == "About your practice" and 'class="card' in person.page
                person.do("feedback")
                person.do("comprehension", check0="0")
            items = 0
            while 'action="/do/work"' in person.page:
                answer = person.do("work", **filled(person.page, draw))
                assert answer.status_code == 200
                items += 1
            assert person.title == "About this study" and items > 0
        client.cookies.clear()
        for asked in (client.get, client.post):  # nothing is wanted of the third, who is told at the door
            answer = asked(f"/i/{late}")
            assert answer.status_code == 410 and "no place left" in answer.text
        with site.store.reading() as connection:
            assert [one.stage for one in who.everybody(connection)] == ["debriefing", "debriefing", "invited"]
        with pytest.raises(BedsideError, match="the disk is full"), stopped_after(2):
            export(plan, site.store, site.keys, tmp_path / "out")
        assert not (tmp_path / "out").exists()
        exported = export(plan, site.store, site.keys, tmp_path / "out")
        with site.store.writing() as connection:
            offers = at.offers_of(connection)
            before = Counter(schedule.wanted(plan.design, offers, at.held(connection)))
            who.erase(connection, site.keys, "P002", site.clock())
            after = Counter(schedule.wanted(plan.design, offers, at.held(connection)))
            assert set((after - before).values()) == {1}  # somebody else gets what was erased
        asked = replace(plan.design.survey[0], name="rank")  # a question that was given another name meanwhile
        renamed = replace(plan, design=replace(plan.design, survey=(asked,)))
        later = export(renamed, site.store, site.keys, tmp_path / "later")
        first = read_sheet(tmp_path / "later" / "people.csv")[0]
        assert first["rank"] == "" and first[plan.design.survey[0].name] == "More"
        assert later.left_out == {"erased": exported.items - later.items} and later.items
        assert not any("P002" in path.read_text("utf-8") for path in later.files if path.suffix == ".csv")
        with site.store.writing() as connection:  # two answers of one person are exchanged
            one, two = at.slots_of(connection, "P001")[:2]
            texts = [at.sealed_of(connection, slot)["sealed"] for slot in (two, one)]
            for slot, text in zip((one, two), texts, strict=True):
                connection.execute(slots.update().where(slots.c.id == slot.id).values(sealed=text))
        with pytest.raises(InputError, match="slots, row 1, answer: is not what the journal recorded"):
            export(plan, site.store, site.keys, tmp_path / "exchanged")
    sheets = [path for path in exported.files if re.fullmatch(rf"{task}(-image\+basic)?-P00\d", path.stem)]
    assert len(sheets) == raters and exported.stand_in
    flags = {row["participant"]: row["flags"] for row in read_sheet(tmp_path / "out" / "people.csv")}
    assert any(re.search("attention checks (was|were) answered wrongly", told) for told in flags.values())
    assert (tmp_path / "out" / f"{sheets[0].stem.removesuffix('-P001')}-repeats.csv").is_file()
    names = list(map(str, sheets))
    match task:
        case "pairs" | "relevance":
            assert execute(["ratings", *names]) == 0
            assert "stand-in" in capsys.readouterr().out
        case "rubric":
            (told,) = source(task, request)["runs"]
            options = ["--run", str(told), "--data", str(request.getfixturevalue("photos")), "--bare"]
            out = ["--assessor", "scripted/assessor", "-o", str(tmp_path / "a")]
            assert execute(["select", "assessor", *names, *options, *out]) == 0
        case _:
            from baselines.threemdbench.consultation.physicians import read_sheets

            assert len(read_sheets(sheets).cases) == 4


def test_an_item_that_was_open_too_long_comes_again_and_says_so(tmp_path: Path) -> None:
    """A rater does all items: nobody else is given a single one of them."""
    plan = study_site.study(tmp_path / "s", "pairs", cases=4, completed=1)
    site = study_site.site(plan, opened=captions())
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        with site.store.writing() as connection:
            connection.execute(people.update().values(stage="work"))
        person.look()
        before = re.findall(r"Effusion \d+", person.page)
        assert before and "open too long" not in person.page
        with site.store.writing() as connection:
            slot = at.open_slot(connection, "P001")
            assert slot is not None
            at.lose(connection, slot, "lease", site.clock())
        person.look()
        assert "This case was open too long. Here it is again." in person.page and before[0] in person.page


def test_a_rater_who_leaves_between_two_items_is_replaced(tmp_path: Path) -> None:
    """Who was gone before the next page was asked for had no item that could be lost, and kept the place for ever."""
    plan = study_site.study(tmp_path / "s", "pairs", cases=4, completed=1)
    site = study_site.site(plan, opened=captions())
    with visiting(site) as client:
        first, second = links(site, 2)
        person = Visitor(client, first)
        with site.store.writing() as connection:
            connection.execute(people.update().where(people.c.stage == "consent").values(stage="work"))
        person.look()
        client.follow_redirects = False
        person.do("work", **filled(person.page, random.Random(0)))
        client.follow_redirects = True
        with site.store.writing() as connection:
            for slot in at.those(connection, slots.c.step == "work"):
                at.lose(connection, slot, "lease", site.clock())
        client.cookies.clear()
        assert client.get(f"/i/{second}").status_code == 200
