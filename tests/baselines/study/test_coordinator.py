"""What a coordinator does beside the pages: check, pay, another login, signing out; and how their session ends."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from baselines.study import pay
from baselines.study import slots as at
from baselines.study.access import COORDINATOR_IDLE
from baselines.study.design import Design, Pay, TaskName
from baselines.study.flow import Step
from baselines.study.people import Person, known_of
from scripts.cli import execute
from tests.parts.study_site import login
from tests.parts.study_talks import Clock, Visitor, at_work, links, talking, visiting

Capture = pytest.CaptureFixture[str]


def test_a_coordinator_signs_out_and_is_signed_out_when_idle(tmp_path: Path) -> None:
    clock = Clock()
    site = talking(tmp_path, clock=clock)
    with visiting(site) as client:
        for way in ("button", "idle"):
            client.cookies.clear()
            client.post(login(site))
            cookie = client.cookies["__Host-bedside"]
            page = client.get("/coordinator").text
            form = {"csrf": page.split('name="csrf" value="')[1].split('"')[0]}
            for _ in range(3):  # in use, it lasts
                clock.now += COORDINATOR_IDLE - 1
                assert client.get("/coordinator").status_code == 200
            if way == "button":
                gone = client.post("/coordinator/out", data=form)
                assert "signed out" in gone.text and "max-age=0" in gone.headers["set-cookie"].lower()
            else:
                clock.now += COORDINATOR_IDLE + 1
            client.cookies.set("__Host-bedside", cookie, domain="study.test")
            refused = client.get("/coordinator")
            assert refused.status_code == 403
            assert "invite STUDY --coordinator" in refused.text and "your invitation" not in refused.text


def test_a_coordinator_who_opens_the_address_of_an_answer_again_is_at_the_page(tmp_path: Path) -> None:
    """By the address bar, or where a phone restores it: there was nothing, and the advice to open an invitation."""
    site = talking(tmp_path)
    with visiting(site) as client:
        client.post(login(site))
        for what in ("grant", "link", "out"):
            again = client.get(f"/coordinator/{what}")
            assert again.status_code == 200 and again.url.path == "/coordinator", what


def test_a_coordinator_who_opens_the_printed_address_gets_to_their_page(tmp_path: Path) -> None:
    """They read that they should open the link in their invitation."""
    site = talking(tmp_path)
    with visiting(site) as client:
        refused = client.get("/")
        assert refused.status_code == 403 and "/coordinator" in refused.text and "your invitation" in refused.text
        assert "/coordinator" not in client.get("/nothing").text
        client.post(login(site))
        page = client.get("/")
        assert page.status_code == 200 and page.url.path == "/coordinator"
        client.cookies.clear()
        person = Visitor(client, links(site)[0])
        person.enter()
        assert client.get("/").url.path == "/" and "/coordinator" not in client.get("/").text


def test_what_is_filled_in_before_the_items_is_kept_until_it_is_sent(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])

        def draft(action: str, **given: str) -> str:
            client.post("/draft", data=person.form(action) | given)
            return str(person.look().text)

        def known() -> dict[str, object]:
            with site.store.reading() as connection:
                return known_of(connection, site.keys, "P001")

        assert "checked" not in draft("consent", answer="agree") and known() == {}, "nobody has agreed yet"
        person.do("consent", answer="agree")
        assert "checked" in draft("survey", years="More") and "survey" not in known()
        person.do("survey", years="More")
        assert known() == {"survey": {"years": "More"}, "draft": None}
        person.do("instructions")
        assert "Good morn" in draft("practice", text="Good morn")
        person.do("practice", text="Good morning.")
        person.do("feedback")
        assert "checked" in draft("comprehension", check0="1")
        person.do("comprehension", check0="1")
        person.do("instructions")
        person.do("practice", text="Hello.")
        person.do("feedback")
        assert "checked" not in person.page, "a wrong answer is not given again"
        draft("comprehension", check0="0")
        person.do("stop")
        person.do("leave", answer="keep")
        assert known()["draft"] is None


def test_a_person_who_deletes_everything_is_told_so(tmp_path: Path) -> None:
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        person.enter()
        told = person.do("stop")
        assert told.status_code == 200 and person.title == "Stop"
        assert person.do("leave", answer="perhaps").status_code == 422
        assert person.do("leave", answer="delete").status_code == 200 and person.title == "Deleted"
        assert person.look().status_code == 403


def test_check_counts_the_conditions_of_raters_and_says_what_each_is_given(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "study"
    assert execute(["study", "new", "diagnosis", "-o", str(folder)]) == 0
    file = folder / "study.yaml"
    assert "per_person" not in file.read_text(encoding="utf-8"), "it limits conversations, and a rater gets all cases"
    for more, told in (
        ("cases: 4\n", "by 3 each, 12 in all; everyone rates all of them"),
        ("setting: both", "by 3 in each of 2 conditions, 24 in all; everyone rates all of them, in one condition"),
    ):
        file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
        assert execute(["study", "check", str(folder), "sample"]) == 1  # its texts say TODO
        printed = " ".join(capsys.readouterr().out.split())
        assert f"diagnosis: 4 cases {told}" in printed and "People compared with a model" in printed


def test_check_compares_nobody_with_a_model_in_what_only_people_do(tmp_path: Path, capsys: Capture) -> None:
    """It told which differences from a model ratings from 1 to 5 could show, on a scale from 0 to 1."""
    folder = tmp_path / "study"
    assert execute(["study", "new", "pairs", "-o", str(folder)]) == 0
    assert execute(["study", "check", str(folder), "sample"]) == 1
    told = capsys.readouterr().out
    assert "pay: 36.60 USD" in told and "smallest difference" not in told and "with a model" not in told


def test_check_and_pay_of_a_study_from_the_files_to_the_money(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "study"
    assert execute(["study", "new", "confirmation", "-o", str(folder)]) == 0
    words = ["study", "check", str(folder), "sample", "--patient", "M", "--evaluator", "M", "--price", "M=1,2"]
    assert execute(words) == 1
    told = capsys.readouterr().out
    assert "before inviting people: finish the texts" in told
    assert "TODO in study.yaml, consent.md" in told and "40 cases by 1 each, 40 in all" in told
    assert "20 at least, if nobody drops out" in told and "cases to show 0.05" in told and "evaluator" in told
    site = talking(folder, per_person=2)
    with visiting(site) as client:
        done, stopped, idle = (Visitor(client, token) for token in links(site, 3))
        done.enter()
        done.do("begin")
        done.converse()
        stopped.enter()
        stopped.do("leave", form={**done.form("stop"), **stopped.form("stop")}, answer="delete")
        idle.do("consent", answer="agree")
    assert execute(["study", "pay", str(folder)]) == 0
    rows = {row["person"]: row for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert [rows[name]["amount"] for name in ("P001", "P002", "P003")] == ["7.00", "2.00", "0.00"]
    assert rows["P001"]["done"] == "1" and rows["P002"]["stage"] == "erased" and rows["P003"]["welcome"] == "0"
    assert execute(["study", "check", str(folder)]) == 1
    assert "unchanged since written" in capsys.readouterr().out
    assert execute(["study", "invite", str(folder), "--coordinator", "--address", "https://a.example"]) == 0
    assert "https://a.example/c/" in capsys.readouterr().err


def had(step: Step, why: str | None = None, used: float = 0.0, task: TaskName = "confirmation") -> at.Slot:
    """A case in this state, after so much of its ten minutes."""
    return at.Slot(1, "P001", "c0", task, 0, False, step, 0.0, why, used, None, None, 600.0, 0, None, 0)


@pytest.mark.parametrize(
    ("slots", "part", "amount"),
    [
        ([], "0.00", "2.00"),
        ([had("done", used=600.0), had("done")], "0.00", "12.00"),
        ([had("lost", "interrupted", 300.0)], "0.00", "5.00"),  # in full, for it was no fault of theirs
        ([had("lost", "stopped", 300.0)], "2.50", "4.50"),
        ([had("lost", "time", 630.0)], "5.00", "7.00"),  # no more than the case, with the seconds of grace
        ([had("lost", "stopped", 0.6)], "0.01", "2.01"),  # half a cent
        ([had("talk", used=300.0)], "0.00", "2.00"),
        ([had("lost", "stopped", 300.0, "pairs")], "0.00", "2.00"),  # items of ratings have no time
    ],
)
def test_what_people_have_earned_is_their_pay_by_hand(slots: list[at.Slot], part: str, amount: str) -> None:
    design = Design("A study", "a@b.example", ("confirmation",), pay=Pay("EUR", 5.0, 3.0, 2.0))
    person = Person("P001", 1, "work", 0.0, None, 1.0, None, 0, 0)
    row = pay.earned(design, person, slots, welcome=True)
    assert (row["part"], row["amount"], row["currency"]) == (part, amount, "EUR")
    assert row["interrupted"] == str(sum(slot.why == "interrupted" for slot in slots))
    without = pay.earned(design, person, slots, welcome=False)
    assert float(row["amount"]) - float(without["amount"]) == pytest.approx(2)


def test_who_stops_is_paid_to_the_second(tmp_path: Path) -> None:
    """The time since the last message was lost: who read and wrote for five minutes and stopped got nothing for it."""
    clock = Clock()
    site = talking(tmp_path, clock=clock, minutes=10.0)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        clock.now += 300.0
        person.do("leave", form=person.form("stop"), answer="keep")
        with site.store.reading() as connection:
            (row,) = pay.table(connection, site.study.design)
            assert at.slots_of(connection, "P001")[0].used == 300.0
    assert row["part"] == "2.50" and row["amount"] == "4.50"


@pytest.mark.parametrize(("page", "welcome"), [("feedback", "0"), ("comprehension", "1")])
def test_who_stops_at_the_questions_has_done_what_the_welcome_is_paid_for(
    page: str, welcome: str, tmp_path: Path
) -> None:
    """It is for consent, survey, instructions and practice, and all of them lie before the questions."""
    site = talking(tmp_path)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        person.enter(before=page)
        person.do("leave", form=person.form("stop"), answer="keep")
        with site.store.reading() as connection:
            (row,) = pay.table(connection, site.study.design)
    assert (row["stage"], row["welcome"]) == ("withdrawn", welcome)
    assert row["amount"] == ("2.00" if welcome == "1" else "0.00")
