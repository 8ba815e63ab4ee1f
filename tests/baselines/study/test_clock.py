"""The clock after a time without a server: what the person was shown last, whatever a browser says."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any, NoReturn

import pytest
from sqlalchemy import select

from baselines.medconceal.transcripts import read_transcripts
from baselines.study import clock
from baselines.study import slots as at
from baselines.study.design import Design, Prolific
from baselines.study.export import export
from baselines.study.server import overdue
from baselines.study.site import Site
from baselines.study.store import open_store
from baselines.study.tables import journal, slots
from builders.samples.medconceal.cases import profiles
from loaders.errors import BedsideError, InputError
from tests.parts.study_site import login
from tests.parts.study_talks import TURNS, Clock, Visitor, at_work, links, settled, talking, visiting

BEGAN, SHOWN, BEAT, BACK = 1_000.0, 1_020.25, 1_021.5, 9_000.0


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A talk whose person has 30 s on the clock, and writes since BEGAN."""
    made = talking(tmp_path)
    links(made)
    with made.store.writing() as connection:
        slot = at.give(connection, made.study.design, "P001", BEGAN)
        assert slot is not None
        at.begin_talk(connection, slot, BEGAN)
        connection.execute(slots.update().values(used=30.0, turns=1))
    yield made
    made.close()


def test_the_shown_time_resumes_after_any_number_of_kills(site: Site) -> None:
    with site.store.writing() as connection:
        cookie = clock.shown(at.slot_of(connection, 1), SHOWN)
        for beat, now in ((BEAT, BACK), (BACK + 1.25, BACK + 50)):  # killed again before the page arrived
            clock.stand(connection, beat)
            clock.stand(connection, now - 100)  # and again before anybody was back
            assert at.slot_of(connection, 1).spent(now) == 51.5
            slot = clock.go_on(connection, at.slot_of(connection, 1), cookie, now)
            assert slot.spent(now) == 50.25 and slot.spent(now + 7) == 57.25
            assert clock.go_on(connection, slot, cookie, now + 7).spent(now + 7) == 57.25  # it does not stand
        # What a browser said stands in the journal, where somebody who forges it is seen.
        told = select(journal.c.detail).where(journal.c.what == "clock").order_by(journal.c.number)
        assert [json.loads(row.detail) for row in connection.execute(told)] == [{"back": 1.2}] * 2


@pytest.mark.parametrize(
    ("cookie", "spent"),
    [
        (None, 51.5),  # another browser: the last beat
        ("1-0.0", 30.0),  # forged: the time of the words that are being written, and no more
        ("1-99999.0", 61.5),  # no further than a server can be silent
        *((odd, 51.5) for odd in ("", "2-40.0", "1-nan", "1-inf", "1--5", "1-1e3", "1-\u0661", "1-" + "9" * 400)),
    ],
)
def test_what_a_browser_may_say(cookie: str | None, spent: float, site: Site) -> None:
    with site.store.writing() as connection:
        clock.stand(connection, BEAT)
        going = clock.go_on(connection, at.slot_of(connection, 1), cookie, BACK)
        assert [going.spent(BACK + later) for later in (0.0, 7.0)] == [spent, spent + 7.0]  # and it goes on at once


@pytest.mark.parametrize("back_first", [False, True])
def test_the_clock_of_a_talk_that_waits_for_a_reply_waits_for_its_person_too(back_first: bool, site: Site) -> None:
    """It ran from the reply, that came with the start of the server, and nobody was there."""

    def slot() -> at.Slot:
        return at.slot_of(connection, 1)

    with site.store.writing() as connection:
        assert at.say(connection, site.keys, slot(), site.study.design, "page 0", "And then?", SHOWN)
        cookie = clock.shown(slot(), SHOWN)
        clock.stand(connection, BEAT)
        if back_first:
            clock.go_on(connection, slot(), cookie, BACK)
            assert slot().preparing and slot().spent(BACK + 90) == 50.25
        at.reply(connection, site.keys, slot(), "Yes.", BACK + 100)
        if not back_first:
            assert slot().spent(BACK + 1_000) == 50.25 and not slot().is_up(BACK + 1_000, 0.0)
            clock.go_on(connection, slot(), cookie, BACK + 1_000)
            assert slot().spent(BACK + 1_007) == 57.25
        else:
            assert slot().spent(BACK + 107) == 57.25


def test_who_does_not_come_back_keeps_no_case(site: Site) -> None:
    design: Design = replace(site.study.design, lease=60.0)
    with site.store.writing() as connection:
        clock.stand(connection, BEAT)
        assert overdue(connection, design, BEGAN + 3_600) == ([], [])
        assert overdue(connection, design, BACK + 3_600, BACK) == ([], [])  # nobody could come before
        ended, left = overdue(connection, design, BACK + 3_601, BACK)
        assert ended == [] and [slot.id for slot in left] == [1]


def test_the_grace_is_given_once(site: Site) -> None:
    """It began anew with each message, so that whoever was quick after each reply never came to the end."""
    design, now = site.study.design, BEGAN
    with site.store.writing() as connection:
        for number, (wrote, in_time) in enumerate(((569.0, True), (13.0, True), (13.0, False))):
            now += wrote
            slot = at.slot_of(connection, 1)
            assert at.say(connection, site.keys, slot, design, f"page {number}", "And then?", now) is in_time
            if in_time:
                now += 100  # the clock stands while the patient answers
                at.reply(connection, site.keys, at.slot_of(connection, 1), "Yes.", now)
        slot = at.slot_of(connection, 1)
        assert slot.is_up(now, design.grace) and slot.left(now) == 0.0
        at.end_talk(connection, slot, "time", now)
        assert at.slot_of(connection, 1).used == 600.0  # never more than was granted


def test_a_message_that_comes_again_after_its_reply_is_not_stored_again(site: Site) -> None:
    design = site.study.design
    with site.store.writing() as connection:
        for number, stored in enumerate((True, False)):
            slot = at.slot_of(connection, 1)
            assert at.say(connection, site.keys, slot, design, "page 0", "And then?", BEGAN + number) is stored
            at.reply(connection, site.keys, at.slot_of(connection, 1), "Yes.", BEGAN + number)
        assert at.slot_of(connection, 1).turns == 2  # one more than before


def test_who_works_at_a_case_keeps_it(site: Site) -> None:
    """The lease runs from what was written last: findings after a chart that was long open were lost."""
    design: Design = replace(site.study.design, lease=60.0)
    with site.store.writing() as connection:
        at.end_talk(connection, at.slot_of(connection, 1), "time", BEGAN)
        slot = at.slot_of(connection, 1)
        assert [one.id for one in overdue(connection, design, BEGAN + 3_601)[1]] == [1]
        at.keep_draft(connection, site.keys, slot, {"description": ["The cost"]}, BEGAN + 3_000)
        assert overdue(connection, design, BEGAN + 6_600) == ([], [])
        assert [one.id for one in overdue(connection, design, BEGAN + 6_601)[1]] == [1]


def test_no_clock_is_stopped_while_another_server_runs(postgres: str) -> None:
    with open_store(postgres) as first:
        assert first.alone()
        with open_store(postgres) as second:
            assert not second.alone()
            with open_store(postgres) as third:
                assert not third.alone()
        first.close()
        with open_store(postgres) as last:
            assert last.alone()


def test_a_study_of_another_format_is_refused_as_it_is(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.sqlite") as store, store.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE slots DROP COLUMN stood")
        connection.exec_driver_sql("UPDATE facts SET value = '9' WHERE name = 'format'")
    before = (tmp_path / "study.sqlite").read_bytes()
    with pytest.raises(InputError, match="format 9"):
        open_store(tmp_path / "study.sqlite")
    assert (tmp_path / "study.sqlite").read_bytes() == before


def test_a_rating_has_no_clock_that_a_browser_tells(site: Site) -> None:
    with site.store.writing() as connection:
        connection.execute(slots.update().values(step="work"))
        clock.stand(connection, BEAT)
        assert clock.go_on(connection, at.slot_of(connection, 1), "1-40.0", BACK).spent(BACK) == 51.5


def test_a_talk_that_ends_while_its_clock_is_stopped_has_no_clock_any_more(site: Site) -> None:
    with site.store.writing() as connection:
        clock.stand(connection, BEAT)
        at.end_talk(connection, at.slot_of(connection, 1), "time", BACK)
        assert at.slot_of(connection, 1).stood is None


@pytest.mark.parametrize("step", [-3_600.0, 3_600.0])
def test_a_machine_whose_clock_is_set_changes_no_talk(
    step: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set forward, it ended all talks; set back, it gave an hour more, and made everybody's exports unreadable."""
    shift = 0.0
    monkeypatch.setattr(time, "time", lambda real=time.time: real() + shift)
    site = talking(tmp_path / "s", per_person=1)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.say(TURNS[0])
        begun, shift = site.clock(), step
        client.app.state.server.look()
        assert person.look("/status").json()["state"] == "yours"
        for words in TURNS[1:5]:
            person.say(words)
        with site.store.reading() as connection:
            assert at.slot_of(connection, 1).used < 60 and abs(site.clock() - begun) < 60


def test_times_that_decrease_are_not_exported(tmp_path: Path) -> None:
    """One conversation with them, of a machine whose clock had been set back, made the file of all unreadable."""
    told = Clock()
    site = talking(tmp_path / "s", per_person=1, clock=told)
    with visiting(site) as client:
        for back, token in enumerate(links(site, 2)):
            person = at_work(client, token)
            for number, words in enumerate(TURNS[:5]):
                told.now += -100 if back and number == 2 else 5
                person.say(words)
            person.do("finish")
            person.do("findings", none="yes")
            person.do("after", difficulty="2", realism="3", tools="None")
        settled(client)
        export(site.study, site.store, site.keys, tmp_path / "out")
    read = read_transcripts(tmp_path / "out" / "confirmation.jsonl", profiles()).dialogues
    assert [len(one.who.sent) for one in read if one.who] == [5, 0]


def test_the_cookie_goes_with_its_talk(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        assert "__Host-clock" in person.cookies
        with site.store.writing() as connection:
            at.end_talk(connection, at.slot_of(connection, 1), "time", site.clock())
        told = person.look().headers.get_list("set-cookie")
        assert [one for one in told if one.startswith("__Host-clock=") and "Max-Age=0" in one]


def _full() -> NoReturn:
    raise OSError("No space left on device")


def test_nobodys_time_runs_while_nothing_can_be_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A full disk ended conversations whose words it had refused."""
    monkeypatch.setattr("baselines.study.server.BEAT", 3_600.0)
    told = Clock()
    site = talking(tmp_path, per_person=1, clock=told)
    with visiting(site) as client:
        person, server = at_work(client, links(site)[0]), client.app.state.server
        told.now += 30
        person.look()
        server.look()
        client.cookies.clear()
        assert "Nothing can be stored" not in client.post(login(site)).text
        with monkeypatch.context() as disk:
            disk.setattr(site.store, "writing", _full)
            for _ in range(3):
                told.now += 3_600
                server.look()
            told.now -= 3 * 3_600  # that the coordinator is still signed in
            assert "<strong>Nothing can be stored:</strong> OSError." in client.get("/coordinator").text
            told.now += 3 * 3_600
        assert caplog.text.count("could not be done") == 1
        server.look()
        assert person.look("/status").json()["left"] == 570.0
        told.now += 20
        server.look()
        assert person.look("/status").json()["left"] == 550.0


@pytest.mark.parametrize("first", ["/", "/status", "say"])
def test_whoever_is_back_before_the_server_has_looked_has_their_time(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended the conversation, in up to 2 s after there was space again; and while there was none, /status said that
    it was over, so that the script left the page on which somebody wrote for one that only said an error."""
    monkeypatch.setattr("baselines.study.server.BEAT", 3_600.0)
    told = Clock()
    site = talking(tmp_path, per_person=1, clock=told)
    with visiting(site) as client:
        person, server = at_work(client, links(site)[0]), client.app.state.server
        told.now += 30
        page = person.look().text
        server.look()
        with monkeypatch.context() as disk:
            disk.setattr(site.store, "writing", _full)
            for passed in (2, 900):
                told.now += passed
                server.look()
            for answer in (person.look("/status"), person.look(), _says(person, page)):
                assert answer.status_code == 503
                assert "Nothing can be stored" in answer.text and site.study.design.contact in answer.text
        told.now += 1
        answer = _says(person, page) if first == "say" else person.look(first)
        assert answer.status_code == 200
        person.wait()
        with site.store.reading() as connection:
            slot = at.slot_of(connection, 1)
        assert slot.step == "talk" and slot.left(told.now) == 570.0 and slot.turns == (first == "say")


@pytest.mark.parametrize("first", ["look", "/", "/status", "say"])
def test_nobodys_time_runs_while_the_process_or_its_database_stands(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that was paused, or a database that moved to another, ended every conversation."""
    monkeypatch.setattr("baselines.study.server.BEAT", 3_600.0)
    told = Clock()
    site = talking(tmp_path, per_person=1, clock=told)
    with visiting(site) as client:
        person, server = at_work(client, links(site)[0]), client.app.state.server
        told.now += 30
        page = person.look().text
        server.look()
        told.now += 900
        server.looked -= 900
        if first == "look":
            server.look()
        assert (_says(person, page) if first == "say" else person.look(first.removeprefix("look"))).is_success
        person.wait()
        with site.store.reading() as connection:
            slot = at.slot_of(connection, 1)
        assert slot.step == "talk" and slot.left(told.now) == 570.0


def test_of_those_who_are_back_at_once_each_has_their_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request looked, and any other beside it was answered that time was up."""
    monkeypatch.setattr("baselines.study.server.BEAT", 3_600.0)
    told, looking, looks = Clock(), Event(), Event()
    site = talking(tmp_path, per_person=1, clock=told)
    with visiting(site) as client, ThreadPoolExecutor() as browsers:
        person, server = at_work(client, links(site)[0]), client.app.state.server
        look = server._look

        def slowly() -> None:
            looking.set()
            looks.wait(60)
            look()

        monkeypatch.setattr(server, "_look", slowly)
        told.now += 900
        server.looked -= 900
        first = browsers.submit(server.storing)
        assert looking.wait(60)
        second = browsers.submit(person.look, "/status")
        wait([second], timeout=0.3)  # it answered here
        looks.set()
        first.result()
        assert second.result().json()["left"] == 600.0


@pytest.mark.parametrize(
    "error", [OSError("full"), BedsideError("keys.sqlite", found="cannot be written: full", do="")]
)
def test_a_page_says_at_once_that_nothing_can_be_stored(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until the server had looked, for 2 s, pages said only that something had gone wrong."""

    def full() -> NoReturn:
        raise error

    monkeypatch.setattr("baselines.study.server.BEAT", 3_600.0)
    site = talking(tmp_path, per_person=1, prolific=Prolific("s" * 24, "DONE", "OUT", "LATE", "LEFT"))
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        form, ids = person.form("say"), "PROLIFIC_PID=" + "a" * 24 + "&SESSION_ID=" + "b" * 24 + "&STUDY_ID=" + "s" * 24
        for where in (f"/prolific?{ids}", "/draft", "/do/say"):
            with monkeypatch.context() as disk:
                disk.setattr(site.store, "writing", full)
                answer = client.post(where, data=form)
            assert answer.status_code == 503 and "Nothing can be stored" in answer.text, where
            assert person.look().status_code == 200


def _says(person: Visitor, page: str) -> Any:
    """Sends a message from a page that was loaded before."""
    person.page = page
    return person.do("say", text=TURNS[0])


def test_time_runs_on_when_something_else_than_storing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The coordinator read that nothing can be stored, and a conversation never ended."""

    def bad(*_: object) -> NoReturn:
        raise ValueError("nothing to do with the disk")

    monkeypatch.setattr("baselines.study.server.BEAT", 3_600.0)
    told = Clock()
    site = talking(tmp_path, per_person=1, clock=told)
    with visiting(site) as client:
        person, server = at_work(client, links(site)[0]), client.app.state.server
        server.look()
        for part in ("baselines.study.server.overdue", "baselines.study.talks.Talks.keep_only"):
            with monkeypatch.context() as broken:
                broken.setattr(part, bad)
                for _ in range(10):
                    told.now += 2
                    server.look()
                assert not server.stuck and person.look("/status").json()["running"]
        assert person.look("/status").json()["left"] == 560.0
        assert caplog.text.count("could not be done: ValueError") == 1
        with monkeypatch.context() as disk:
            disk.setattr(site.store, "writing", _full)
            server.look()
        with monkeypatch.context() as broken:  # also a clock that stood for a full disk
            broken.setattr("baselines.study.server.overdue", bad)
            told.now += 900
            server.look()
            assert person.look("/status").json()["left"] == 560.0
        told.now += 600
        server.look()
        assert person.look("/status").json()["state"] == "over"
