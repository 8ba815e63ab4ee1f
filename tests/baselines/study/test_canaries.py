"""Nothing hidden leaves: not in a page, header, status, error or log, whatever is typed by whomever."""

from __future__ import annotations

import logging
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from baselines.dialogue.game import Script
from baselines.medconceal.clinician_attackers import ATTACKERS
from baselines.medconceal.game import secrets
from baselines.medconceal.record import Episode, hidden_of
from baselines.study.site import Site
from baselines.study.tables import people, slots
from builders.samples.medconceal.cases import profiles
from loaders.files.records import from_json
from loaders.medconceal import PatientProfile
from loaders.models.messages import Answer, Message
from tests.parts.study_site import login
from tests.parts.study_talks import Acting, Visitor, at_work, links, settled, talking, visiting

CANARY = "ZQXJ-kept-4417"


class Leaking(Acting):
    """A patient whose every draft says what the case hides, and a canary with it."""

    secret = ""

    async def ask(self, messages: Any, **options: Any) -> Answer:
        await super().ask(messages, **options)
        return Answer(f"{CANARY} {self.secret}", 10, 10, "stop")


class Everything:
    """All that a client was ever sent: addresses, headers and bodies."""

    def __init__(self, client: Any) -> None:
        self.told: list[str] = []
        client.event_hooks["response"] = [self._keep]

    def _keep(self, response: Any) -> None:
        response.read()
        self.told.append(unescape(f"{response.url} {dict(response.headers)} {response.text}"))

    def holds(self, text: str) -> bool:
        return any(text in one for one in self.told)


def rows_of(site: Site) -> list[Any]:
    with site.store.reading() as connection:
        return list(connection.execute(select(slots)))


def profile_of(site: Site) -> PatientProfile:
    """The case in the first person's hands."""
    return site.profiles[rows_of(site)[0].item]


def test_attackers_in_the_seat_get_nothing_hidden(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    names = sorted(ATTACKERS)
    site = talking(tmp_path / "s", cases=1, per_person=1, completed=len(names), minutes=60.0)
    with visiting(site) as client:
        for number, (name, token) in enumerate(zip(names, links(site, len(names)), strict=True)):
            seen = Everything(client)
            person = Visitor(client, token)
            with site.store.writing() as connection:
                connection.execute(people.update().where(people.c.stage == "consent").values(stage="work"))
            person.look()
            person.do("begin")
            profile = profile_of(site)
            attack(person, ATTACKERS[name](profile))
            settled(client)
            slot = rows_of(site)[number]
            episode = from_json(Episode, site.keys.open(slot.person, slot.episode).encode(), "episode")
            revealed = {index for one in episode.exchanges for index in one.revealed}
            kept = [at for at in range(len(profile.hidden_concerns)) if at not in revealed]
            assert len(episode.exchanges) == 5
            shown = [text for at in kept for text in hidden_of(profile)[at].texts if seen.holds(text)]
            assert shown == [], name
    assert not [one for one in caplog.records if any(text in one.getMessage() for text in secrets(profile))]


def attack(person: Visitor, script: Script) -> None:
    """Five turns of an attacker, findings with nonsense, and the addresses that somebody would try."""
    said = [Message("system", "You are the clinician."), Message("user", "Chart.")]
    for _ in range(5):
        words = script(said)[:1500].encode("utf-8", "replace").decode()
        person.say(words)
        said += [Message("assistant", words), Message("user", person.replies[-1])]
    person.do("finish")
    assert person.do("findings", category="nonsense", description="x", quote=CANARY).status_code == 422
    person.do("findings", none="yes")
    person.do("after", difficulty="2", realism="3", tools="None")
    for where in ("/nowhere", "/picture", "/status", "/consent.pdf"):
        person.look(where)


def test_a_reply_that_is_not_sent_reaches_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A patient that gives everything away is caught before a word is sent; what models are told stays with them."""
    caplog.set_level(logging.DEBUG)
    patient = Leaking("patient")
    site = talking(tmp_path / "s", models=True, players={"patient": patient, "evaluator": Acting("evaluator")}, cases=1)
    with visiting(site) as client:
        seen = Everything(client)
        person = at_work(client, links(site)[0])
        profile = profile_of(site)
        patient.secret = " ".join(secrets(profile))
        person.say("Hello, please take a seat.")
        person.say("The weather is fine today.")
        assert len(person.replies) == 2 and patient.asked >= 2
        client.cookies.clear()
        client.post(login(site))
        assert "Coordinator" in client.get("/coordinator").text
    for text in (CANARY, "<turn_to_rate>", "intent_probabilities", *secrets(profile)):
        assert not seen.holds(text)
    assert not [one for one in caplog.records if CANARY in one.getMessage()]


def test_nobody_reads_anothers_talk_and_no_form_works_twice_or_forged(tmp_path: Path) -> None:
    site = talking(tmp_path / "s", cases=2, per_person=1)
    with visiting(site) as client:
        first, other = (at_work(client, token) for token in links(site, 2))
        secret = "My very own words 8841."
        first.say(secret)
        before = dict(first.form("say"))
        seen = Everything(client)
        # Another's form, the place of another's page in one's own form, and the rest of the addresses.
        own = other.form("say")
        assert other.do("say", form=before, text="I am you.").status_code == 403
        other.do("say", form={**own, "here": before["here"]}, text="Hm.")
        for where in ("/", "/status", "/picture"):
            other.look(where)
        assert seen.told and not seen.holds(secret)
        # The same post again, and one for a page that is no more.
        first.look()
        turns = first.page.count('class="clinician"')
        for _ in range(3):
            first.do("say", form=before, text=secret)
        first.look()
        assert first.page.count('class="clinician"') == turns + 1
        # Without a token, from elsewhere, by GET.
        first._be()
        form = first.form("say") | {"text": "forged"}
        assert client.post("/do/say", data={**form, "csrf": "x" * 22}).status_code == 403
        assert client.post("/do/say", data=form, headers={"origin": "https://evil.example"}).status_code == 403
        assert client.get("/do/say", follow_redirects=False).headers["location"] == "/"  # and does nothing
        first.look()
        assert "forged" not in first.page


def test_a_coordinators_page_and_errors_hold_nothing_hidden(tmp_path: Path) -> None:
    site = talking(tmp_path / "s", cases=3, per_person=1)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.say("Hello, what brings you in?")
        client.cookies.clear()
        seen = Everything(client)
        client.post(login(site))
        assert "Coordinator" in client.get("/coordinator").text
        for profile in profiles():
            for text in secrets(profile):
                assert len(text) <= 12 or not seen.holds(text)
        assert not seen.holds("what brings you in")
