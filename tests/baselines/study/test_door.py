"""Those who come a second time, too late, or twice at once: each gets to where they are, or is told why not."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from baselines.study import pay, server
from baselines.study import people as who
from baselines.study.design import Check, Design, Limits, Pay, Prolific, Question, write_study
from baselines.study.routes import create_app
from baselines.study.site import Site
from baselines.study.store import set_fact
from baselines.study.tables import identity, people, slots
from baselines.study.views import PAGES
from loaders.errors import InputError
from loaders.files.records import from_json
from scripts.cli import execute
from tests.parts.study_site import login, radios
from tests.parts.study_talks import ORIGIN, Clock, Visitor, links, talking, visiting
from tests.parts.waiting import wait_until

CODES = Prolific("s" * 24, "DONE", "OUT", "LATE", "LEFT")
IDS = {"PROLIFIC_PID": "a" * 24, "STUDY_ID": "s" * 24, "SESSION_ID": "b" * 24}


def stage(site: Site, name: str = "P001") -> str:
    with site.store.reading() as connection:
        return who.person_of(connection, name).stage


def sent(site: Site, number: int) -> str:
    """The token of another person sent by Prolific."""
    with site.store.writing() as connection:
        return who.from_prolific(connection, site.keys, {**IDS, "PROLIFIC_PID": f"{number:024}"}, site.clock())


def by_prolific(client: TestClient) -> Visitor:
    """Somebody who comes from Prolific, and presses the button."""
    client.cookies.clear()
    assert client.post("/prolific", params=IDS).status_code == 200
    person = Visitor(client, cookies=dict(client.cookies))
    person.look()
    return person


def test_a_used_link_leads_only_its_logged_in_person_to_their_page(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        mine, others = links(site, 2)
        person = Visitor(client, mine)
        assert person.title == "Consent"
        for asked in (client.get, client.post):  # the mail's link again; a double click, Back and the button
            assert "<h1>Consent</h1>" in asked(f"/i/{mine}").text
        assert client.post(f"/i/{others}").status_code == 200  # somebody else at the same browser
        assert client.get(f"/i/{mine}").status_code == 404
        person.look()
        assert person.title == "Consent"  # whose cookie still opens their own page
        client.cookies.clear()
        assert client.get(f"/i/{mine}").status_code == client.post(f"/i/{mine}").status_code == 404
        desk = login(site)
        for _ in range(2):
            assert "<h1>Coordinator</h1>" in client.post(desk).text


def test_a_returning_prolific_person_continues_only_in_their_browser(tmp_path: Path) -> None:
    """Programs that look at an address (HEAD, GET ahead of a click) became people; and whose browser took no cookie, or
    lost the answer to the button, had started."""
    site = talking(tmp_path, prolific=CODES)
    with visiting(site) as client:
        for look in (client.head, client.get):
            assert look("/prolific", params=IDS).status_code == 200
            assert client.head("/prolific", params={**IDS, "STUDY_ID": "e" * 24}).status_code == 404
        assert "You are invited" in client.get("/prolific", params=IDS).text
        with site.store.reading() as connection:
            assert who.everybody(connection) == [] and site.keys.holders() <= {"study"}
        for _ in range(2):
            person = by_prolific(client)
            assert person.title == "Consent"
        with site.store.reading() as connection:
            assert [one.id for one in who.everybody(connection)] == ["P001"]
        assert b"a" * 24 not in b"".join(path.read_bytes() for path in (tmp_path / "private").iterdir())
        person.do("consent", answer="agree")
        for study in (IDS["STUDY_ID"], "e" * 24):  # of a pilot, before the study was duplicated on Prolific
            assert "<h1>About you</h1>" in client.get("/prolific", params={**IDS, "STUDY_ID": study}).text
        client.cookies.clear()
        for asked in (client.get, client.post):
            assert "You have already started" in asked("/prolific", params=IDS).text


def test_who_deleted_everything_cannot_come_and_be_paid_again(tmp_path: Path) -> None:
    site = talking(tmp_path, prolific=CODES)
    with visiting(site) as client:
        person = by_prolific(client)
        person.enter()
        person.do("leave", form=person.form("stop"), answer="delete")
        client.cookies.clear()
        again = client.post("/prolific", params=IDS)
        assert again.status_code == 403 and "You have taken part already" in again.text
        with site.store.reading() as connection:
            assert [one.stage for one in who.everybody(connection)] == ["erased"]
            assert connection.execute(select(identity.c.sealed, identity.c.known)).all() == [
                (b"", site.keys.known(IDS["PROLIFIC_PID"]))
            ]
            assert pay.outside(connection, site.keys) == {}


@pytest.mark.parametrize("read", [False, True])
def test_what_is_deleted_on_the_page_leaves_the_files(
    read: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sealed Prolific id stayed in the file beside the database, and the study's key opens it."""
    monkeypatch.setattr(server, "PATIENCE", 0.2 if read else 30.0)
    site = talking(tmp_path, prolific=CODES)

    def there() -> list[str]:
        return [path.name for path in (tmp_path / "private").iterdir() if sealed in path.read_bytes()]

    with visiting(site) as client:
        person = by_prolific(client)
        with site.store.reading() as connection:
            sealed = connection.execute(select(identity.c.sealed)).scalar_one()
        assert there()
        with site.store.reading() if read else nullcontext() as reader:  # as an export does meanwhile
            if reader is not None:
                who.everybody(reader)
            person.do("leave", form=person.form("stop"), answer="delete")
            assert person.title == "Deleted" and bool(there()) is read
        wait_until(lambda: client.app.state.server.look() or there() == [])  # or at the next, if somebody reads


@pytest.mark.parametrize("why", ["full", "closed"])
def test_nobody_is_led_through_a_full_study(why: str, tmp_path: Path) -> None:
    site = talking(tmp_path, cases=1, per_person=1, prolific=CODES)
    with visiting(site) as client:
        first, slow, late = links(site)[0], sent(site, 2), links(site)[0]
        person, waits = Visitor(client, first), Visitor(client, slow)
        person.enter()  # has the only case
        if why == "closed":
            with site.store.writing() as connection:
                set_fact(connection, "closed", "now")
        client.cookies.clear()
        for asked in (client.get(f"/i/{late}"), client.post(f"/i/{late}"), client.post("/prolific", params=IDS)):
            assert asked.status_code == 410 and "no place left" in asked.text
        with site.store.reading() as connection:
            assert len(who.everybody(connection)) == 3  # nobody is made of a visit
        waits.enter()  # was let in before
        assert waits.title == "The study has ended" and "LATE" in waits.page and "DONE" not in waits.page
        assert stage(site, "P002") == "timed_out" and stage(site, "P003") == "invited"


@pytest.mark.parametrize("why", ["full", "closed"])
def test_who_has_begun_gets_in_by_another_link(why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They were told that there was no place left, in the middle of their case."""
    write_study(tmp_path, "confirmation")
    site = talking(tmp_path, cases=1, per_person=1)
    with visiting(site) as client:
        first, _ = links(site, 2)
        Visitor(client, first).enter()  # has the only case
        if why == "closed":
            with site.store.writing() as connection:
                set_fact(connection, "closed", "now")
        again = ("study", "invite", str(tmp_path), "--address", "https://study.test", "--again")
        assert execute([*again, "P001"]) == 0
        person = Visitor(client, capsys.readouterr().out.strip().rpartition("/i/")[2])
        assert person.title == "The chart"
        assert (execute([*again, "P002"]) == 0) is (why == "full")
        assert why == "full" or "has not begun, and the study is closed" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("why", ["interrupted", "lease", "time"])
@pytest.mark.parametrize("closed", [False, True])
def test_only_whose_case_broke_off_has_completed_without_a_case(closed: bool, why: str, tmp_path: Path) -> None:
    """Who had done nothing got the code of those who had finished; whose case broke off got it unless it was closed."""
    site = talking(tmp_path, cases=1, per_person=1, prolific=CODES)
    with visiting(site) as client:
        person = Visitor(client, sent(site, 1))
        person.enter()
        with site.store.writing() as connection:
            connection.execute(slots.update().values(step="lost", why=why))
            if closed:
                set_fact(connection, "closed", "now")
        person.look()
        if why == "interrupted":
            assert person.title == "About this study"
            person.do("debriefing")
        assert ("DONE" in person.page, "LATE" in person.page) == (why == "interrupted", why != "interrupted")


def test_a_consent_that_has_changed_is_read_again(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        before = person.form("consent")
        old = {**before, "read": "0" * 64}
        assert person.do("consent", form=old, answer="agree").status_code == 422
        assert "This text has changed" in person.page and stage(site) == "consent"
        assert person.form("consent")["read"] == site.study.texts.consent_digest
        person.do("consent", answer="agree")
        with site.store.reading() as connection:
            assert who.person_of(connection, "P001").consent == site.study.texts.consent_digest


def test_a_page_that_answered_a_form_may_be_loaded_again(tmp_path: Path) -> None:
    """A phone that let a tab go loads its address, which is that of the form."""
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        for answer in ("maybe", ["agree", "disagree"]):
            assert person.do("consent", answer=answer).status_code == 422
        assert "<h1>Consent</h1>" in person.look("/do/consent").text


def test_a_class_at_one_address_and_a_flood_of_unknown_callers(tmp_path: Path) -> None:
    site = talking(tmp_path, clock=Clock(), limits=Limits(requests_a_minute=2))
    with visiting(site) as client:
        people = [Visitor(client, token) for token in links(site, 25)]
        for person in people:  # 50 requests a minute, where an address of nobody may send 40
            assert person.look().status_code == 200
        client.cookies.clear()
        assert {client.get("/status").status_code for _ in range(41)} == {403, 429}


def test_a_person_who_ends_is_told_their_number(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        for answer, told in (("keep", True), ("delete", False)):
            person = Visitor(client, links(site)[0])
            person.do("stop")
            person.do("leave", answer=answer)
            assert ("<strong>P0" in person.page) is told


def test_only_people_sent_by_prolific_are_sent_back_to_it(tmp_path: Path) -> None:
    site = talking(tmp_path, prolific=CODES)
    with visiting(site) as client:
        for token, told in ((links(site)[0], False), (sent(site, 1), True)):
            person = Visitor(client, token)
            person.do("stop")
            person.do("leave", answer="keep")
            assert person.title == "You have stopped" and ("LEFT" in person.page) is told


def test_no_form_is_filled_in_again_by_going_back() -> None:
    """All pages lie at one address: Chromium put the answers to one item into the form of the next."""
    forms = [form for page in Path(PAGES).glob("*.html") for form in re.findall("<form[^>]*>", page.read_text("utf-8"))]
    assert len(forms) > 10 and all('autocomplete="off"' in form for form in forms if "post" in form)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ({"name": "stage", "options": ("I", "II")}, "a column of people.csv"),
        ({"name": "rank", "options": ("Senior  doctor", "Other")}, "single spaces"),
        ({"name": "rank", "options": ("", "Other")}, "words, with single spaces"),
        ({"name": "here", "options": ("Yes", "No")}, "a field of the forms"),
        ({"name": "pasted", "kind": "number"}, "a field of the forms"),
        ({"name": "rank", "options": ("Doctor", "Nurse", "Doctor")}, "the option 'Doctor' twice"),
    ],
)
def test_a_question_that_could_not_be_answered_or_would_be_lost_is_refused(question: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Question(shown="?", **question)
    with pytest.raises(ValueError, match="shown is empty"):
        Question("rank", " ", options=("Senior doctor",))
    assert Question("rank", "?", options=("Senior doctor",)).options and Design("a", "b", ("pairs",))


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"cases": -3}, "cases is -3 .expected greater than or equal to 1"),
        ({"lease": -90.0}, "lease is -90"),
        ({"grace": -1.0}, "grace is -1"),
        ({"repeated": 0.6}, "repeated is 0.6"),
        ({"pay": {"each_case": -5.0}}, "pay.each_case is -5"),
        ({"limits": {"requests_a_minute": 0}}, "limits.requests_a_minute is 0"),
        ({"limits": {"dollars": -1.0}}, "limits.dollars is -1"),
    ],
)
def test_a_number_under_which_no_study_runs_is_refused(told: dict[str, Any], why: str) -> None:
    """Of -3 cases the last three were left out, and with a lease below 0 nobody kept a case."""
    with pytest.raises(InputError, match=why):
        from_json(Design, {"title": "a", "contact": "b", "tasks": ["pairs"], **told}, "study.yaml")


@pytest.mark.parametrize("others", [("DONE", "LATE", "LEFT"), ("OUT", "DONE", "LEFT"), ("OUT", "LATE", "DONE")])
def test_nobody_else_gets_the_code_of_those_who_complete_the_study(others: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match="'DONE' for those who complete the study and for others"):
        Prolific("s" * 24, "DONE", *others)
    assert Prolific("s" * 24, "DONE", "NO", "NO", "NO").withdrawn == "NO"


def test_the_right_answer_about_the_instructions_has_another_position_for_others(tmp_path: Path) -> None:
    site = talking(tmp_path, comprehension=(Check("May you stop?", ("Yes", "No", "Later"), 0),))
    orders = []
    with visiting(site) as client:
        for token in links(site, 6):
            person = Visitor(client, token)
            with site.store.writing() as connection:
                connection.execute(people.update().where(people.c.stage == "consent").values(stage="comprehension"))
            orders.append([radios(person.look().text)["check0"] for _ in range(2)])
            person.do("comprehension", check0="0")
            assert person.title != "About the instructions"
    assert all(first == again and sorted(first) == ["0", "1", "2"] for first, again in orders)
    assert {first.index("0") for first, _ in orders} == {0, 1, 2}


def test_answers_of_an_earlier_page_are_told_to_change_nothing(tmp_path: Path) -> None:
    """Somebody who did not agree, in a tab that they had left open, went on as if they had."""
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        before = person.form("consent")
        assert "changes nothing" not in person.do("consent", answer="agree").text
        answer = person.do("consent", form=before, answer="disagree")
        assert answer.status_code == 409 and "for an earlier page, and changes nothing" in answer.text
        assert person.title != "Consent" and "changes nothing" not in person.look().text
        person.do("stop")
        person.do("leave", answer="keep")
        assert "changes nothing" not in person.do("consent", form=before, answer="agree").text


@pytest.mark.parametrize("name", ["…", "https://app.prolific.com/researcher/studies/1", "S" * 24, "s" * 24 + "\n"])
def test_an_id_that_prolific_cannot_send_is_refused_before_anybody_comes(name: str) -> None:
    with pytest.raises(ValueError, match="24 letters and digits"):
        Prolific(name, "DONE", "OUT", "LATE", "LEFT")
    with pytest.raises(ValueError, match="empty completion code"):
        Prolific("s" * 24, "DONE", "OUT", " ", "LEFT")


@pytest.mark.parametrize("pay", [Pay(), Pay(each_case=0, interrupted_case=0, welcome=0)])
def test_a_study_that_pays_nothing_promises_nothing(pay: Pay, tmp_path: Path) -> None:
    site = talking(tmp_path, pay=pay)
    told = []
    with visiting(site) as client:
        first, second = (Visitor(client, token) for token in links(site, 2))
        first.enter()
        with site.store.writing() as connection:
            connection.execute(slots.update().values(step="lost", why="interrupted"))
        told.append(first.look().text)
        told.append(first.do("stop").text)
        told.append(first.do("leave", answer="keep").text)
        for name in ("screened_out", "declined"):
            with site.store.writing() as connection:
                connection.execute(people.update().where(people.c.id == "P002").values(stage=name))
            told.append(second.look().text)
    assert "paid" not in told.pop()
    assert ["You will be paid" in page or "you will be paid" in page for page in told] == [pay.promised] * 4


def test_the_caller_that_a_proxy_names_is_its_own_last_word(tmp_path: Path) -> None:
    """Some proxies add a header of their own below the caller's, whose invented addresses had no limit."""
    site = talking(tmp_path, limits=Limits(tries_a_link=3))
    with TestClient(create_app(site, {ORIGIN}, proxied=True), base_url=ORIGIN) as client:
        tried = [
            client.get("/i/x", headers=[("x-forwarded-for", f"10.0.0.{number}"), ("x-forwarded-for", "192.0.2.1")])
            for number in range(4)
        ]
    assert [one.status_code for one in tried] == [404, 404, 404, 429]


def test_what_is_in_another_language_says_so(tmp_path: Path) -> None:
    """A screen reader read German with English sounds."""
    site = talking(tmp_path, language="de-AT")
    with visiting(site) as client:
        (token,) = links(site)
        assert '<strong lang="de-AT">How people talk' in client.get(f"/i/{token}").text
        person = Visitor(client, token)
        for page in ("consent", "survey", "instructions", "practice", "feedback", "comprehension"):
            ours = page in ("practice", "feedback")  # but for the title of the study
            assert person.look().text.count('lang="de-AT"') == (1 if ours else 2), page
            person.do(page, answer="agree", years="More", text="Hello.", check0="0")
        assert '<html lang="en">' in person.page
    with pytest.raises(ValueError, match="a language tag"):
        Design("a", "b", ("pairs",), language="German")


def test_what_is_wrong_with_an_answer_is_said_in_english(tmp_path: Path) -> None:
    """Within questions in the study's language it was read with that language's sounds."""
    with visiting(site := talking(tmp_path, language="de-AT")) as client:
        person = Visitor(client, links(site)[0])
        for page in ("consent", "survey", "instructions", "practice", "feedback", "comprehension"):
            if field := {"survey": "years", "comprehension": "check0"}.get(page):
                person.do(page)
                assert f'<p class="error" lang="en" dir="ltr" id="error-{field}">' in person.page
            person.do(page, answer="agree", years="More", text="Hello.", check0="0")
