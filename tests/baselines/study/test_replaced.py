"""Fixed sentences in place of the patient's replies: counted while a talk goes on, and shown to who leads the study."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baselines.study import replaced
from baselines.study.export import export
from baselines.study.site import Site
from loaders.models.messages import Answer
from scripts.bench.study_players import Acting
from scripts.cli import execute
from tests.parts.study_site import login
from tests.parts.study_talks import TURNS, Visitor, at_work, links, settled, talking, visiting


class Failing(Acting):
    """A patient that is out of its role, or silent, on turns whose words say so."""

    async def ask(self, messages: Any, **how: Any) -> Answer:
        said = await super().ask(messages, **how)
        heard = messages[-1].text
        return replace(said, text="I am an AI." if "ROLE" in heard else "" if "EMPTY" in heard else said.text)


def site_of(folder: Path) -> Site:
    players = {"patient": Failing("patient"), "evaluator": Acting("evaluator")}
    return talking(folder, models=True, players=players, cases=40)  # all: of some, more drafts are rejected


def coordinator(client: Any, site: Site) -> str:
    client.cookies.clear()
    return str(client.post(login(site)).text)


def test_replaced_replies_are_counted_from_the_first_one_on(tmp_path: Path) -> None:
    site = site_of(tmp_path / "s")
    with visiting(site) as client:
        talks, leaves = (at_work(client, token) for token in links(site, 2))
        talks.say(TURNS[0])
        page = coordinator(client, site)
        assert "Fixed sentences in place of a reply</th><td>0 of 1</td>" in page and "Look at this" not in page
        talks.say(f"{TURNS[1]} ROLE")
        shown = "1 of 2 (50%); last draft rejected for: role 1"
        page = coordinator(client, site)  # the talk goes on
        assert f"<td>{shown}</td>" in page and "Look at this" in page and "1 of 2 replies of the patient" in page
        for words in TURNS[2:4]:
            talks.say(words)
        talks.say(f"{TURNS[4]} EMPTY")
        talks.do("finish")
        talks.do("findings", none="yes")
        leaves.say("Hello. ROLE")
        leaves.do("leave", form=leaves.form("stop"), answer="delete")  # what its models did counts
        settled(client)
        assert "<td>3 of 6 (50%); last draft rejected for: empty 1, role 2</td>" in coordinator(client, site)
        export(site.study, site.store, site.keys, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "study.json").read_text())["replies"]
    assert told == {"counted": 6, "replaced": 3, "by": {"empty": 1, "role": 2}}
    (row,) = csv.DictReader((tmp_path / "out" / "items.csv").open())
    assert (row["turns"], row["replaced"]) == ("5", "2")


def test_the_check_of_a_running_study_says_how_many_replies_were_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "study"
    assert execute(["study", "new", "confirmation", "-o", str(folder)]) == 0
    site = site_of(folder)
    with visiting(site) as client:
        at_work(client, links(site)[0]).say("Hello. ROLE")
    capsys.readouterr()
    assert execute(["study", "check", str(folder)]) == 1  # its texts say TODO
    told = " ".join(capsys.readouterr().out.split())
    assert "patient: fixed sentences in place of a reply: 1 of 1 (100%); last draft rejected for: role 1" in told


def test_a_template_replaces_nothing(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        person: Visitor = at_work(client, links(site)[0])
        person.say("Hello.")
        with site.store.reading() as connection:
            assert replaced.counted(connection) == replaced.Counted(0, {})
        assert "Fixed sentences" not in coordinator(client, site)
