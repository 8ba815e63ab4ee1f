"""A person in the seat: the same game as a model's, whatever happens to the server, the tab and the models."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from baselines.medconceal.game import FINISHED, TIME_UP, Rules, task_game
from baselines.medconceal.record import Episode, SubmittedFinding
from baselines.medconceal.transcripts import read_transcripts
from baselines.study import pay, talks
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.design import Design, Limits, Prolific, Question, TaskName
from baselines.study.export import export
from baselines.study.keys import Keys
from baselines.study.seat import Seat, Talk
from baselines.study.site import cost
from baselines.study.store import set_fact
from baselines.study.tables import answers, messages, slots
from baselines.study.talks import Talks
from builders.samples.medconceal.cases import profiles
from loaders.errors import InputError, ModelError
from loaders.files.records import from_json, to_json
from loaders.medconceal import AIMS
from loaders.models.messages import Answer
from tests.parts.study_site import login
from tests.parts.study_talks import (
    TURNS,
    Acting,
    Clock,
    Visitor,
    at_work,
    beside,
    links,
    settled,
    stored,
    talking,
    visiting,
)
from tests.parts.waiting import wait_until

CASE = profiles()[0]


async def nobody(role: str, messages: object, **_: object) -> Answer:
    raise AssertionError(f"{role} was asked")


def played(words: tuple[str, ...], ended: str | None) -> Episode | None:
    game = task_game(Rules("confirmation", 40, evaluator="rules", patient="template", timed=True))
    sitting = Seat(list(words), nobody, ended, [SubmittedFinding("Boredom", "Is bored.")])
    return asyncio.run(Talk(game, CASE, sitting).go_on())[1]


def test_a_person_plays_the_game_of_the_models() -> None:
    episode = played(TURNS[:5], FINISHED)
    assert episode is not None and episode.stopped == "clinician" and episode.mode == "timed"
    assert [one.clinician for one in episode.exchanges] == list(TURNS[:5])
    assert episode.findings is not None and episode.findings.items[0].description == "Is bored."
    assert played(TURNS[:5], None) is None  # the next words are waited for
    cut_off = played((), "time")
    assert cut_off is not None and cut_off.stopped == "time" and not cut_off.exchanges


def test_a_talk_from_consent_to_the_scores_bit_for_bit(tmp_path: Path) -> None:
    site = talking(tmp_path / "s", models=True, per_person=1)
    with visiting(site) as client:
        (token,) = links(site)
        person = at_work(client, token)
        for words in TURNS[:5]:
            person.say(words)
        assert len(person.replies) == 5 and '<p dir="auto">' in person.page
        person.do("finish")
        answer = person.do("findings", category="Boredom", description="x")
        assert answer.status_code == 422 and "choose one of the four" in person.page
        fear = {"category": "Emotional Discomfort or Fear", "description": "Fears the scan"}
        for quote in ("I said no such thing", "…", " ".join(person.replies[:2])):  # of two replies, never said at once
            assert person.do("findings", **fear, quote=quote).status_code == 422
        half = {"category": [fear["category"]] * 2, "description": ["Fears the scan", "\u200b"]}
        assert person.do("findings", **half).status_code == 422 and "Finding 2: say in a few words" in person.page
        assert '<a href="#field-description1">' in person.page  # the row that it is about
        assert 'id="field-description1" name="description" aria-invalid="true"' in person.page
        quote = person.replies[0].split(".")[0]
        person.do("findings", **fear, quote=quote)
        person.do("after", difficulty="2", realism="3", tools="None")
        assert person.title == "About this study"
        settled(client)
    exported = exported_from(site, tmp_path / "out")
    assert exported.items == 1 and exported.stand_in and "a rehearsal" in exported.stand_in
    (told,) = read_transcripts(tmp_path / "out" / "confirmation.jsonl", profiles()).dialogues
    assert told.trace is not None and told.who is not None and told.who.participant == "P001"
    assert told.findings is not None and told.findings.items[0].quote == quote
    # The live encounter, from what the store holds.
    with stored(site) as (store, keys), store.reading() as connection:
        (row,) = connection.execute(select(slots)).all()
        live = from_json(Episode, keys.open("P001", row.episode).encode(), "episode")
        said = [one.text for one in at.said_in(connection, keys, at.slot_of(connection, row.id))]
    assert to_json(told.trace)["exchanges"] == to_json(live)["exchanges"]
    assert said == [text for one in live.exchanges for text in (one.clinician, one.patient)]


def test_a_kept_talk_equals_a_replayed_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn by turn, whatever is lost: kept, let go, played on by another process, or played to the end."""
    begun: list[Talk] = []
    monkeypatch.setattr(talks, "Talk", lambda *given: begun.append(Talk(*given)) or begun[-1])
    acting = {role: Acting(role) for role in ("patient", "evaluator")}
    site = talking(tmp_path, models=True, per_person=1, players=acting)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        own, other = site_replies(client).talks, Talks(site, most=1)
        for number, words in enumerate(TURNS[:5], start=1):
            begun.clear()
            person.say(words)
            assert len(begun) == (number in (1, 4))
            with site.store.reading() as connection:
                slot = at.slot_of(connection, 1)
            asked = [one.asked for one in acting.values()]
            if number in (1, 3):  # the other one has heard one turn, then two more at once
                for one in (other, Talks(site), own):
                    exchanges, _ = beside(client).call(one.play, slot)
                    assert [exchange.patient for exchange in exchanges] == person.replies and len(exchanges) == number
            if number == 3:
                own.keep_only({slot.id + 1})
            assert [one.asked for one in acting.values()] == asked
        for why in (TIME_UP, FINISHED):
            ends = [beside(client).call(partial(one.play, ended=why), slot)[1] for one in (own, Talks(site))]
            assert ends[0] is not None and to_json(ends[0]) == to_json(ends[1]) and len(ends[0].exchanges) == 5
        assert [one.asked for one in acting.values()] == asked


def test_digits_of_any_script_are_a_number_and_no_error(tmp_path: Path) -> None:
    site = talking(tmp_path, survey=(Question("age", "Your age?", kind="number"),))
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        person.do("consent", answer="agree")
        for pasted in ("²", "9" * 5_000, "2"):  # the first two were an error page
            assert client.post("/draft", data={**person.form("survey"), "pasted": pasted}).status_code == 204
        person.do("survey", age="٣٥")
        with site.store.reading() as connection:
            assert who.known_of(connection, site.keys, "P001")["survey"] == {"age": "35"}
            assert who.person_of(connection, "P001").paste == 2


def test_two_people_on_one_case_share_no_reply(tmp_path: Path) -> None:
    site = talking(tmp_path, models=True, cases=1, completed=2, per_person=1)
    with visiting(site) as client:
        people = [at_work(client, token) for token in links(site, 2)]
        for person in people:
            person.say("Hello, what brings you in today?")
        assert people[0].replies != people[1].replies
        patient = site.players["patient"]
        assert isinstance(patient, Acting) and patient.asked == 2


def test_a_message_is_kept_once_and_words_from_another_page_are_not_lost(tmp_path: Path) -> None:
    site = talking(tmp_path, per_person=1)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        first = person.form("say")
        first["client"] = "patient 1"  # as a reply is called
        person.do("say", form=first, text="Hello.")
        person.do("say", form=first, text="Hello.")  # Back, and sent again
        person.wait()
        assert [one.who for one in said(site)] == ["clinician", "patient"]
        person.do("say", form={**first, "client": "another tab"}, text="And from the other tab.")
        assert len(said(site)) == 2 and "And from the other tab." in person.page  # in the field, not sent
        forged = person.do("say", form={**person.form("say"), "csrf": "x"}, text="Hi")
        assert forged.status_code == 403 and len(said(site)) == 2
        person.look()
        assert person.client.post("/do/finish", data=person.form("say")).status_code == 422  # after five messages


_EARLIER = "What you just sent was for an earlier page"


def test_what_comes_after_a_conversation_was_finished_elsewhere_is_said_to_change_nothing(tmp_path: Path) -> None:
    """A message and a second short survey vanished, and the next page came as if they had been taken."""
    site = talking(tmp_path, per_person=2)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        for words in TURNS[:4]:
            person.say(words)
        fifth = person.form("say")
        person.do("say", form=fifth, text=TURNS[4])
        person.wait()
        other_tab = person.form("say")
        person.do("finish")
        late = person.do("say", form=other_tab, text="From the other tab.")
        assert late.status_code == 409 and _EARLIER in late.text and "What was not said" in person.title
        again = person.do("say", form=fifth, text=TURNS[4])  # one that was stored, sent again
        assert again.status_code == 200 and _EARLIER not in again.text
        person.do("findings", none="yes")
        survey = person.form("after")
        assert _EARLIER not in person.do("after", form=survey, difficulty="2", realism="3", tools="None").text
        second = person.do("after", form=survey, difficulty="3", realism="3", tools="None")
        assert second.status_code == 409 and _EARLIER in second.text and person.title == "The chart"
        assert [one.who for one in said(site)].count("clinician") == 5


def test_an_export_says_how_long_an_item_under_way_has_taken(tmp_path: Path) -> None:
    """It said 0.0 until the first message."""
    clock = Clock()
    site = talking(tmp_path / "s", per_person=1, clock=clock)
    with visiting(site) as client:
        at_work(client, links(site)[0])
        for seconds, name in ((42, "early"), (900, "late")):
            clock.now += seconds
            with site.store.writing() as connection:
                set_fact(connection, "beat", repr(clock.now))
            export(site.study, site.store, site.keys, tmp_path / name)
    taken = [next(csv.DictReader((tmp_path / name / "items.csv").open()))["seconds"] for name in ("early", "late")]
    assert taken == ["42.0", "600.0"]  # never more than was granted


def test_the_clock_stops_while_the_patient_answers_and_while_no_server_runs(tmp_path: Path) -> None:
    clock = Clock()
    site = talking(tmp_path, per_person=1, clock=clock)
    token = links(site)[0]
    with visiting(site) as client:
        person = Visitor(client, token)
        person.enter()
        clock.now += 100  # the chart takes no time
        person.do("begin")
        clock.now += 30
        person.say("Hello.")
        clock.now += 20
        assert person.look("/status").json()["left"] == 550.0
        clock.now += 1.3
        client.app.state.server.look()  # the beat of a server that runs, after the page
        clock.now += 0.4
    for _ in range(2):  # killed, and killed again before anybody has come back
        clock.now += 5000
        site = talking(tmp_path, per_person=1, clock=clock)
        with visiting(site) as client:
            person.client = client
            clock.now += 14
            client.app.state.server.look()
    site = talking(tmp_path, per_person=1, clock=clock)
    with visiting(site) as client:
        person.client = client
        assert person.look("/status").json()["left"] == 550.0  # what the page said last
        clock.now += 10
        person.look()
        assert 'data-left="540.0"' in person.page and ">9:00</strong>" in person.page
        clock.now += 540 + 14
        person.say("These words were begun in time.")
        assert person.title == "Conversation" and len(person.replies) == 2
        clock.now += 16
        person.look()
        assert person.title == "What was not said outright" and "The time is up" in person.page


def test_a_page_says_why_it_comes_and_keeps_the_aims_in_sight(tmp_path: Path) -> None:
    clock = Clock()
    site = talking(tmp_path, "intervention", per_person=1, clock=clock)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        person.do("consent", answer="agree")
        person.do("survey", years="More")
        for answer, told in (("1", True), ("0", False)):
            person.do("instructions")
            person.do("practice", text="Hello.")
            person.do("feedback")
            person.do("comprehension", check0=answer)
            assert ("did not match the instructions" in person.page) is told
        assert person.page.index(AIMS[1]) > person.page.index("Reason for the encounter")
        person.do("begin")
        assert person.page.index(AIMS[0]) < person.page.index(AIMS[1]) < person.page.index("Reason for the encounter")
        person.say("Hello.")
        clock.now += 700
        person.look()
        assert person.title == "About this case" and "The time is up" in person.page


@pytest.mark.parametrize("task", ["intervention", "confirmation"])
@pytest.mark.parametrize("way", ["tab", "keep", "delete"])
def test_a_talk_counts_whose_person_left_at_the_last_survey(way: str, task: TaskName, tmp_path: Path) -> None:
    """The lease ends it as done; an intervention was exported only once the server had been started again. Whoever
    pressed Stop there lost it, and was paid for a part."""
    clock = Clock()
    site = talking(tmp_path, task, per_person=1, clock=clock)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        for text in TURNS[:5]:
            person.say(text)
        if task == "confirmation":
            person.do("finish")
            person.do("findings", none="yes")
        else:
            with site.store.writing() as connection:  # convinced early
                at.end_talk(connection, at.slot_of(connection, 1), "addressed", clock.now)
            person.look()
        assert person.title == "About this case"
        if way == "tab":
            clock.now += 60 * site.study.design.lease + 1
            beside(client).call(client.app.state.server.look)
        else:
            person.do("leave", form=person.form("stop"), answer=way)
            client.app.state.server.look()
        settled(client)
        exported = export(site.study, site.store, site.keys, tmp_path / "out")
        with site.store.reading() as connection:
            (row,) = pay.table(connection, site.study.design)
    assert (exported.items, dict(exported.left_out)) == ((0, {"erased": 1}) if way == "delete" else (1, {}))
    assert (row["done"], row["amount"]) == ("1", "7.00")


def test_a_survey_that_comes_after_the_lease_is_kept(tmp_path: Path) -> None:
    """The next case came, as if it had been taken."""
    clock = Clock()
    site = talking(tmp_path / "s", clock=clock)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.converse(survey=False)
        survey = person.form("after")
        clock.now += 60 * site.study.design.lease + 1
        client.app.state.server.look()
        for realism in ("none of these", "3", "4"):  # what is sent again changes nothing
            person.do("after", form=survey, difficulty="1 – very easy", realism=realism, tools="None")
        assert person.title == "The chart"
        export(site.study, site.store, site.keys, tmp_path / "out")
        with site.store.reading() as connection:
            (row,) = pay.table(connection, site.study.design)
    with (tmp_path / "out" / "items.csv").open() as file:
        first, _ = csv.DictReader(file)
    assert (first["state"], first["difficulty"], first["realism"], row["done"]) == ("done", "1", "3", "1")


@pytest.mark.parametrize("task", ["intervention", "confirmation"])
def test_a_talk_in_which_nobody_said_a_word_goes_to_somebody_else(task: TaskName, tmp_path: Path) -> None:
    """It counted as done, and was not given out again, though no export held it."""
    clock = Clock()
    site = talking(tmp_path / "s", task, cases=2, completed=2, clock=clock)
    with visiting(site) as client:
        idle, away = (at_work(client, token) for token in links(site, 2))
        with site.store.reading() as connection:
            cases = [at.slot_of(connection, number).item for number in (1, 2)]
        clock.now += 60 * site.study.design.minutes + site.study.design.grace + 1
        idle.look()
        assert idle.title == "The chart" and "before you had written anything" in idle.page
        client.app.state.server.look()
        away.look()
        with site.store.reading() as connection:
            given = [at.slots_of(connection, name) for name in ("P001", "P002")]
            rows = pay.table(connection, site.study.design)
        assert [[slot.item for slot in mine] for mine in given] == [cases, cases[::-1]]
        assert [[(slot.step, slot.why) for slot in mine] for mine in given] == [[("lost", "time"), ("chart", None)]] * 2
        assert [(row["done"], row["part"]) for row in rows] == [("0", "5.00")] * 2  # as the time used
        exported = export(site.study, site.store, site.keys, tmp_path / "out")
    assert (exported.items, dict(exported.left_out)) == (0, {"nothing said (time)": 2, "not finished": 2})


def test_nothing_replaces_a_model_that_fails(tmp_path: Path) -> None:
    clock = Clock()
    site = talking(tmp_path, models=True, per_person=2, clock=clock)
    patient, evaluator = site.players["patient"], site.players["evaluator"]
    assert isinstance(patient, Acting) and isinstance(evaluator, Acting)
    with visiting(site, broken_off=180.0, first_wait=0.01) as client:
        person = at_work(client, links(site)[0])
        evaluator.nonsense = True
        person.do("say", text="Hello.")
        wait_until(lambda: evaluator.asked >= 6)
        assert person.look("/status").json()["state"] == "trouble"
        evaluator.nonsense = False
        person.wait()
        wait_until(lambda: person.look("/status").json()["state"] == "yours")
        person.look()
        assert len(person.replies) == 1
        patient.failing = True
        person.do("say", text="And now?")
        wait_until(lambda: person.look("/status").json()["state"] == "trouble")
        clock.now += 181
        wait_until(lambda: person.look("/status").json()["state"] == "over")
        person.look()
        assert person.title == "The chart" and "broke off for technical reasons" in person.page
    with stored(site) as (store, _), store.reading() as connection:
        assert [row.why for row in connection.execute(select(slots.c.why))] == ["interrupted", None]


@pytest.mark.parametrize("stop", ["model_length", "content_filter"])
def test_nothing_replaces_a_patient_whose_provider_turns_requests_away(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """inspect_ai returns such an error as an empty answer; a fixed sentence stood in its place."""
    site = talking(tmp_path, models=True)
    patient = site.players["patient"]
    ask = patient.ask

    async def turned_away(*messages: Any, **how: Any) -> Answer:
        return Answer("", None, None, stop)

    with visiting(site, first_wait=0.01) as client:
        person = at_work(client, links(site)[0])
        monkeypatch.setattr(patient, "ask", turned_away)
        person.do("say", text="Hello.")
        wait_until(lambda: person.look("/status").json()["state"] == "trouble")
        monkeypatch.setattr(patient, "ask", ask)
        wait_until(lambda: person.look("/status").json()["state"] == "yours")
        person.look()
        assert len(person.replies) == 1


def test_a_restart_resumes_and_pays_for_no_answer_twice(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    acting = {role: Acting(role) for role in ("patient", "evaluator")}
    site = talking(tmp_path, models=True, per_person=1, players=acting)
    acting["patient"].seconds = 30.0
    token = links(site)[0]
    with visiting(site) as client:
        person = at_work(client, token)
        person.do("say", text="Hello, what worries you?")
        wait_until(lambda: acting["patient"].asked == 1)
    acting["patient"].seconds = 0.0
    site = talking(tmp_path, models=True, per_person=1, players=acting)
    with visiting(site, first_wait=0.01) as client:  # nobody loads a page
        person.client = client
        person.wait()
        assert len(person.replies) == 1
        acting["patient"].failing = True
        person.do("say", text="And now?")
        wait_until(lambda: person.look("/status").json()["state"] == "trouble")
        acting["patient"].failing = False
        wait_until(lambda: person.look("/status").json()["state"] == "yours")
        page = client.post(login(site)).text
        assert re.search(r"Repeated after a restart</th><td>1; may have been paid for twice<", page)
        why = "acting/patient does not answer (HTTP 503)"  # and nothing of what the provider said, which may quote
        assert re.search(rf"Failures of models</th><td>\d+; the last: {re.escape(why)}<", page)
        assert f"talk 1 waits for a model: {why}" in caplog.text and "And now?" not in caplog.text
    assert acting["evaluator"].asked == 2
    # The request that was on its way when the server stopped has its name again; one that failed gets another.
    names = acting["patient"].names + acting["evaluator"].names
    assert names[0] == names[1] and "" not in names and len(set(names)) == len(names) - 1
    with stored(site) as (store, _), store.reading() as connection:
        assert len(connection.execute(select(answers.c.digest)).all()) == 4
        assert len(connection.execute(select(messages.c.number)).all()) == 4
    exported_from(site, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "study.json").read_text())["asked_again"] == 1


class Uncounted(Acting):
    """A model whose provider counts no tokens."""

    async def ask(self, *given: Any, **told: Any) -> Answer:
        return replace(await super().ask(*given, **told), input_tokens=None, output_tokens=None)


def test_a_budget_holds_for_answers_that_nobody_counts(tmp_path: Path) -> None:
    """One answer without token counts switched the limit off for ever, and nothing said so."""
    players = {"patient": Uncounted("patient"), "evaluator": Acting("evaluator")}
    site = talking(tmp_path, models=True, players=players, per_person=2, limits=Limits(dollars=100.0))
    site = replace(site, prices=dict.fromkeys(("acting/patient", "acting/evaluator"), (1.0, 1.0)))
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.say("Hello.")
        site.check_dollars()
        with site.store.reading() as connection:
            spent = cost(connection, site.prices)
            assert spent is not None and spent.estimated == 1 and spent.dollars > 150e-6  # 120 are the evaluator's
        client.cookies.clear()
        assert "$0.00 of $100.00; tokens of 1 answer is estimated<" in client.post(login(site)).text


def test_a_study_that_has_spent_its_budget_leads_nobody_into_a_talk(tmp_path: Path) -> None:
    """It went on to invite people, into cases that broke off."""
    site = talking(tmp_path, models=True, per_person=2, limits=Limits(dollars=0.000_2))
    site = replace(site, prices=dict.fromkeys(("acting/patient", "acting/evaluator"), (1.0, 1.0)))
    with visiting(site, broken_off=0.0, first_wait=0.01) as client:
        first, waiting, late = links(site, 3)
        waits = Visitor(client, waiting)
        person = at_work(client, first)
        person.say("Hello.")
        with pytest.raises(ModelError, match="are spent"):
            site.check_dollars()
        person.do("say", text="And now?")
        wait_until(lambda: person.look("/status").json()["state"] == "over")
        person.look()
        assert person.title == "About this study"  # and no further case
        waits.enter()
        assert waits.title == "The study has ended"
        client.cookies.clear()
        assert client.get(f"/i/{late}").status_code == 410
        assert "no further conversation is assigned<" in client.post(login(site)).text


# --- Parts ------------------------------------------------------------------------------------------------------------


def site_replies(client):
    return client.app.state.server.replies


def said(site):
    with site.store.reading() as connection:
        return at.said_in(connection, site.keys, at.slot_of(connection, 1))


def exported_from(site, out: Path):
    with stored(site) as (store, keys):
        return export(site.study, store, keys, out)


def test_an_export_holds_no_code_of_prolific(tmp_path: Path) -> None:
    """Whoever reads a published export could have completed the study with it."""
    site = talking(tmp_path / "s", prolific=Prolific("s" * 24, "DONE", "OUT", "LATE", "LEFT"))
    links(site)
    site.close()
    exported_from(site, tmp_path / "out")
    told = json.loads((tmp_path / "out" / "study.json").read_text())
    assert told["design"] == {name: value for name, value in to_json(site.study.design).items() if name != "prolific"}
    assert told["digest"] == site.study.digest
    assert replace(from_json(Design, told["design"], "x"), prolific=site.study.design.prolific) == site.study.design


def test_an_export_never_overwrites_one(tmp_path: Path) -> None:
    site = talking(tmp_path / "s")
    links(site)
    site.close()
    exported_from(site, tmp_path / "out")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "people.csv").write_text("somebody's own")
    for out in ("out", "own"):
        with pytest.raises(InputError, match="is not empty"):
            exported_from(site, tmp_path / out)


def test_keys_are_the_owners_alone(tmp_path: Path) -> None:
    with Keys(tmp_path / "keys.sqlite") as keys:
        keys.make("P001")
        assert (tmp_path / "keys.sqlite").stat().st_mode & 0o077 == 0
        assert keys.open("P001", keys.seal("P001", "é")) == "é"
        keys.make("P002")
        with pytest.raises(InputError, match="that its key does not open"):
            keys.open("P002", keys.seal("P001", "é"))
        with pytest.raises(InputError, match="that its key does not open"):
            keys.open("P001", b"cut")
