"""The database: the same on SQLite and Postgres, a journal that shows every change, and texts that go for good."""

from __future__ import annotations

import gc
import json
import shutil
import sqlite3
from concurrent.futures import Future, wait
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Connection, delete, select, update
from sqlalchemy.exc import OperationalError

from baselines.medconceal.transcripts import read_transcripts
from baselines.study import journal, replies
from baselines.study import people as who
from baselines.study import slots as at
from baselines.study.export import export
from baselines.study.keys import Erased
from baselines.study.site import Cost, Site, cost, open_database
from baselines.study.store import Store, fact_in, open_store, set_fact
from baselines.study.tables import answers, facts, items, messages, slots
from baselines.study.tables import journal as rows
from baselines.study.tasks.task import Rows
from builders.samples.medconceal.cases import profiles
from loaders.errors import InputError
from scripts.bench.study_players import ROLES
from tests.parts import study_talks
from tests.parts.processes import started
from tests.parts.study_talks import TURNS, Clock, Visitor, at_work, beside, links, settled, stored, talking, visiting


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> str | None:
    return None if request.param == "sqlite" else str(request.getfixturevalue("postgres"))


def test_a_talk_is_kept_exported_and_erased(database: str | None, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", database=database, per_person=1)
    marked = "Zanzibar-4711"
    with visiting(site) as client:
        staying, leaving = (at_work(client, token) for token in links(site, 2))
        for person in (staying, leaving):
            for words in TURNS[:5]:
                person.say(f"{words} {marked}" if person is leaving else words)
            person.do("finish")
            person.do("findings", none="yes")
            person.do("after", difficulty="2", realism="3", tools="None") if person is staying else None
        leaving.do("stop", form={"csrf": leaving.form("after")["csrf"], "here": leaving.form("after")["here"]})
        leaving.do("leave", answer="delete")
        assert leaving.title == "Deleted" and leaving.look().status_code == 403
    with stored(site, database) as (store, keys):
        exported = export(site.study, store, keys, tmp_path / "out")
        assert exported.items == 1 and exported.left_out == {"erased": 1}
        for name in ("people.csv", "items.csv"):
            table = (tmp_path / "out" / name).read_text()
            assert "P001" in table and "P002" not in table
        assert json.loads((tmp_path / "out" / "study.json").read_text())["people_erased"] == 1
        with store.reading() as connection:
            count, head = journal.checked(connection)
            assert count > 20 and head == journal.head(connection)
            states = [(row.person, row.step) for row in connection.execute(select(slots).order_by(slots.c.id))]
        assert states == [("P001", "done"), ("P002", "done")]  # only the last survey was missing
        with pytest.raises(Erased):
            keys.seal("P002", "x")
        store.tidy()
    places = [path for folder in ("s", "out") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert len(places) >= 5 and not [path for path in places if marked.encode() in path.read_bytes()]


def test_a_nul_that_somebody_sends_spoils_no_export(database: str | None, tmp_path: Path) -> None:
    """One in one message made the whole export unreadable; on Postgres, one in a hidden field stopped the page."""
    site = talking(tmp_path / "s", database=database, per_person=1)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        assert person.do("say", form={**person.form("say"), "client": "a\0b", "c\0d": ""}, text="He\0llo.").is_success
        person.wait()
        person.do("leave", form=person.form("stop"), answer="keep")
        export(site.study, site.store, site.keys, tmp_path / "out")
    file = tmp_path / "out" / "confirmation.jsonl"
    read_transcripts(file, profiles())
    assert json.loads(file.read_text())["turns"][0]["clinician"] == "Hello."


def test_who_reads_sees_one_moment(database: str | None, tmp_path: Path) -> None:
    """An export on Postgres read its people at one moment, and what they did at a later one."""
    with open_store(database or tmp_path / "study.sqlite") as store:
        for value in ("first", "second"):
            with store.reading() as connection:
                before = fact_in(connection, "address")
                with store.writing() as other:
                    set_fact(other, "address", value)
                assert fact_in(connection, "address") == before
            assert store.fact("address") == value
        with store.writing() as connection:  # a connection that was read with writes as before
            assert store.sqlite or connection.get_isolation_level() == "READ COMMITTED"


def test_what_models_cost_counts_when_its_person_is_erased(database: str | None, tmp_path: Path) -> None:
    """The limit on dollars forgot what was spent on people who deleted their answers."""
    site = talking(tmp_path, models=True, database=database)
    site = replace(site, prices={f"acting/{role}": (1e4, 1e4) for role in ROLES})
    with visiting(site) as client:
        at_work(client, links(site)[0]).say("Hello.")
        with site.store.writing() as connection:
            assert cost(connection, site.prices) == Cost(pytest.approx(2.4), 0)
            before = connection.execute(select(answers.c.digest)).scalars().all()
            who.erase(connection, site.keys, "P001", site.clock())
        with site.store.reading() as connection:
            rows = connection.execute(select(answers.c.digest, answers.c.sealed)).all()
            assert cost(connection, site.prices) == Cost(pytest.approx(2.4), 0)
        assert [row.sealed for row in rows] == [b"", b""] and not {row.digest for row in rows} & set(before)


def test_nobodys_text_is_readable_in_the_database(tmp_path: Path) -> None:
    site = talking(tmp_path, per_person=1)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.say("A sentence with Zanzibar in it.")
        client.post("/draft", data={**person.form("say"), "text": "Zanzibar again"})
        kept = b"".join(path.read_bytes() for path in (tmp_path / "private").iterdir())
        assert person.replies[0].encode() not in kept and b"Zanzibar" not in kept
        person.look()
        assert "Zanzibar again" in person.page


@pytest.mark.parametrize("change", ["value", "gone", "first"])
def test_the_journal_shows_every_change(change: str, tmp_path: Path) -> None:
    store = open_store(tmp_path / "study.sqlite")
    with store, store.writing() as connection:
        for number in range(5):
            journal.note(connection, float(number), "message", person="P001", number=number)
        assert journal.checked(connection)[0] == 5
        if change == "value":
            connection.execute(update(rows).where(rows.c.number == 3).values(detail='{"number": 7}'))
        else:
            connection.execute(delete(rows).where(rows.c.number == (3 if change == "gone" else 1)))
        with pytest.raises(InputError, match="was changed, or an earlier row is missing"):
            journal.checked(connection)


@pytest.mark.parametrize(
    "change",
    [
        update(items).values(key='{"diagnosis": "stye"}'),
        update(items).values(payload="x"),
        update(slots).values(item="another"),
        update(slots).values(step="done"),
        delete(slots),
    ],
    ids=["key", "payload", "item", "step", "gone"],
)
def test_a_table_that_no_longer_agrees_with_the_journal_is_not_exported(change: Any, tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    with visiting(site) as client:
        at_work(client, links(site)[0])
    with stored(site) as (store, keys):
        export(site.study, store, keys, tmp_path / "before")
        with store.writing() as connection:
            connection.execute(change)
        with pytest.raises(InputError, match="is not what the journal recorded"):
            export(site.study, store, keys, tmp_path / "out")


def test_another_source_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases with the same charts and other concerns went on as if they were the same."""
    talking(tmp_path, cases=3).close()
    talking(tmp_path, cases=3).close()
    with pytest.raises(InputError, match="was started with other cases"):
        talking(tmp_path, cases=4)
    rows = [{**row, "hidden": {**row["hidden"], "name": "Another"}} for row in study_talks._cases()]
    monkeypatch.setattr(study_talks, "_cases", lambda: Rows(rows))
    with pytest.raises(InputError, match="was started with other cases"):
        talking(tmp_path, cases=3)


def test_a_study_that_an_earlier_version_began_goes_on(tmp_path: Path) -> None:
    """It wrote down neither the whole cases nor the prompts."""
    site = talking(tmp_path)
    with visiting(site) as client:
        at_work(client, links(site)[0]).say("Hello.")
        with site.store.writing() as connection:
            connection.execute(delete(facts).where(facts.c.name == "profiles"))
            set_fact(connection, "models", '{"patient": "acting"}')
    with talking(tmp_path).store as store:
        assert store.fact("profiles") and json.loads(store.fact("models") or "") == dict.fromkeys(ROLES, "acting")


def test_a_server_that_is_refused_has_written_nothing(tmp_path: Path) -> None:
    """It had already given its models, and what its source is, to the exports of the first."""
    with talking(tmp_path).store as store:
        with pytest.raises(InputError, match="served already"):
            talking(tmp_path, named="another")
        with pytest.raises(InputError, match="served already"):
            talking(tmp_path, cases=3)
        assert store.fact("models") == '{"evaluator": "acting", "patient": "acting"}'


def test_other_models_are_refused_once_somebody_has_talked(tmp_path: Path) -> None:
    """An export named the last ones, for conversations of the others too."""
    talking(tmp_path, named="first").close()
    site = talking(tmp_path, named="second")  # nobody has talked yet
    with visiting(site) as client:
        at_work(client, links(site)[0]).say("Hello.")
    told = "was started with other models: evaluator second, patient second .expected the same"
    with pytest.raises(InputError, match=told):
        talking(tmp_path, named="first")
    talking(tmp_path, named="second").close()


def test_two_servers_of_one_study_ask_the_same_models(postgres: str, tmp_path: Path) -> None:
    """Before anybody had talked, the second gave its models to the exports, and the first went on with its own."""
    first = talking(tmp_path, named="first", database=postgres)
    with pytest.raises(InputError, match="was started with other models: evaluator first, patient first"):
        talking(tmp_path, named="second", database=postgres)
    assert json.loads(first.store.fact("models") or "") == {"evaluator": "first", "patient": "first"}
    talking(tmp_path, named="first", database=postgres).close()
    first.close()
    talking(tmp_path, named="second", database=postgres).close()


def test_a_server_is_seen_also_after_its_database_was_restarted(postgres: str, tmp_path: Path) -> None:
    """Its lock was gone: a second server took itself for the only one, and stopped the clocks of the first."""
    first = talking(tmp_path, named="first", database=postgres)
    with visiting(first) as client:
        with first.store.writing() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4274"
            )
        beside(client).call(client.app.state.server.look)
        with pytest.raises(InputError, match="was started with other models"):
            talking(tmp_path, named="second", database=postgres)


def test_a_server_is_seen_by_one_to_which_a_pooler_gives_the_same_connection(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(postgres) as first, open_store(postgres) as second:
        assert first.alone()
        pooled = first._serving
        assert pooled is not None

        def given() -> Connection:
            pooled.commit()
            return pooled

        monkeypatch.setattr(second.engine, "connect", given)
        assert not second.alone()
        pooled.exec_driver_sql("SELECT pg_advisory_unlock_all()")  # as the pooler does when it takes another
        first.stay()
        with open_store(postgres) as third:
            assert not third.alone()


def test_of_two_servers_that_start_at_once_one_has_to_ask_the_models_of_the_other(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second found no models yet, and the first wrote its own over those of the second."""
    alone, second = Store.alone, Future[Site]()

    def start() -> None:
        try:
            second.set_result(talking(tmp_path, named="second", database=postgres))
        except InputError as error:
            second.set_exception(error)

    def and_then_another(store: Store) -> bool:
        found = alone(store)
        monkeypatch.setattr(Store, "alone", alone)
        thread.start()
        wait([second], timeout=1.0)
        return found

    talking(tmp_path, named="first").close()  # leaves the folder and its keys, and the database untouched
    monkeypatch.setattr(Store, "alone", and_then_another)
    thread = Thread(target=start)
    first = talking(tmp_path, named="first", database=postgres)
    with pytest.raises(InputError, match="was started with other models: evaluator first, patient first"):
        second.result(timeout=30)
    assert json.loads(first.store.fact("models") or "") == {"evaluator": "first", "patient": "first"}
    first.close()


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "study.sqlite").write_bytes(b"no database, but long enough to be one" * 100)
    with pytest.raises(InputError, match="not a database"):
        open_store(tmp_path / "study.sqlite")
    with pytest.raises(InputError, match="postgresql://USER@HOST/NAME"):
        open_store("mysql://me:secret@host/name")
    for place in (
        "postgresql://me:secret@127.0.0.1:1/name",
        "postgresql://me:p@secret@127.0.0.1:1/name",
        "postgresql://me:p?a@secret@127.0.0.1:1/name",
        "postgresql://me:p@/:secret",
        "host=127.0.0.1 user=me password=secret",
    ):
        with pytest.raises(InputError) as refused:
            open_store(place)
        assert "secret" not in str(refused.value)
    assert "%40 for @" in str(refused.value)


def test_an_address_as_providers_print_it_is_taken(postgres: str) -> None:
    with open_store(postgres.replace("postgresql://", "postgres://")) as store:
        assert store.fact("format") == "1"
        assert store.engine.url.query["connect_timeout"] == "10"
        with store.engine.connect() as connection:  # a pooler may send the next statement to another server
            assert connection.connection.driver_connection.prepare_threshold is None  # type: ignore[union-attr]
    with open_store(f"{postgres}?connect_timeout=7") as store:
        assert store.engine.url.query["connect_timeout"] == "7"


@pytest.mark.parametrize("left", ["nothing", "an empty database"])
def test_a_study_without_its_database_is_not_begun_anew_with_its_keys(left: str, tmp_path: Path) -> None:
    """It was left behind when the folder was moved, or it is elsewhere, and nobody said where."""
    site = talking(tmp_path / "s")
    links(site, 2)
    site.close()
    private = tmp_path / "s" / "private"
    for path in private.glob("study.sqlite*"):
        path.unlink()
    if left != "nothing":
        open_store(private / "study.sqlite").close()
    with pytest.raises(InputError, match="keys of P001, P002, and a database without a study.*BEDSIDE_DATABASE"):
        talking(tmp_path / "s")
    assert (private / "study.sqlite").exists() == (left != "nothing")


def test_keys_of_another_study_are_refused_not_taken_for_erased(database: str | None, tmp_path: Path) -> None:
    """A folder of another study, named with this database, invited its own people into it: then neither could go on."""
    site = talking(tmp_path / "s", database=database)
    links(site, 2)
    site.close()
    own, other = tmp_path / "s" / "private", tmp_path / "t" / "private"
    if database is None:
        shutil.copytree(own, other)
        (other / "keys.sqlite").unlink()  # or the keys were lost
    study = replace(site.study, folder=other.parent)
    told = "t/private/keys.sqlite: keys of another study .*Restore their backup.*BEDSIDE_DATABASE"
    with pytest.raises(InputError, match=told):
        open_database(study, database)
    with pytest.raises(InputError, match=told):
        talking(tmp_path / "t", database=database)
    talking(tmp_path / "s", database=database).close()


def test_keys_that_a_backup_does_not_hold_yet_are_missed(tmp_path: Path) -> None:
    site = talking(tmp_path / "s")
    links(site, 2)
    site.close()
    with closing(sqlite3.connect(tmp_path / "s" / "private" / "keys.sqlite")) as older:
        older.execute("DELETE FROM keys WHERE person = 'P002'")
        older.commit()
    with (
        stored(site) as (store, keys),
        pytest.raises(InputError, match=r"keys.sqlite: no key of P002 .*Restore its backup"),
    ):
        export(site.study, store, keys, tmp_path / "out")
    with pytest.raises(InputError, match="no key of P002"):
        talking(tmp_path / "s")


def test_nobody_gets_the_number_of_somebody_whom_a_restored_backup_does_not_know(tmp_path: Path) -> None:
    """Two people were P002 in the exports before and after; and if the first had been erased, so was the second."""
    site = talking(tmp_path)
    with visiting(site) as client:
        links(site, 2)
        with site.store.writing() as connection:
            who.erase(connection, site.keys, "P002", site.clock())
            connection.execute(delete(who.people).where(who.people.c.id == "P002"))  # as it was before them
        Visitor(client, links(site)[0]).enter()
        with site.store.reading() as connection:
            assert [one.id for one in who.everybody(connection)] == ["P001", "P003"]


@pytest.mark.parametrize("then", ["goes on", "killed"])
def test_a_deletion_that_is_interrupted_is_completed(
    then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key was erased, and nothing else; the next start was refused, and advised to restore the keys."""
    clock = Clock()
    site = talking(tmp_path / "s", clock=clock)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.say("Hello.")
        form = person.form("stop")
        with monkeypatch.context() as full:
            full.setattr("baselines.study.views.page_of", refusing)  # after the key, before the commit
            assert person.do("leave", form=form, answer="delete").status_code == 503
        with (
            stored(site) as (store, keys),
            store.reading() as connection,
            pytest.raises(InputError, match="erase STUDY P001"),
        ):
            who.check_keys(connection, keys)
        if then == "goes on":
            clock.now += 30
            client.app.state.server.look()
    if then == "killed":
        talking(tmp_path / "s", clock=clock).close()
    with stored(site) as (store, keys), store.reading() as connection:
        who.check_keys(connection, keys)
        assert who.person_of(connection, "P001").stage == "erased"
        assert not connection.execute(select(messages)).all()


@pytest.mark.parametrize("why", ["full", "held", "read-only"])
def test_a_backup_is_not_restored_where_the_file_is_whole(why: str, tmp_path: Path) -> None:
    """On a full disk it was advised, and would have cost what was stored since."""
    place = tmp_path / "study.sqlite"
    with open_store(place) as store, closing(sqlite3.connect(place)) as other:
        if why == "held":
            other.execute("BEGIN IMMEDIATE")
        told = {"full": "max_page_count = 1", "held": "busy_timeout = 0", "read-only": "query_only = ON"}[why]
        with store.engine.connect() as connection:  # the pool gives it out again
            connection.execution_options(bedside_reads=True).exec_driver_sql(f"PRAGMA {told}")
        with pytest.raises(InputError) as refused, store.explained(), store.writing() as writing:
            set_fact(writing, "x", "y" * 100_000)
        found = {"full": "is full", "held": "is locked", "read-only": "readonly"}[why]
        assert found in refused.value.found and "everything already stored is kept" in refused.value.do


def test_a_damaged_database_is_one_error(tmp_path: Path) -> None:
    site = talking(tmp_path / "s")
    links(site)
    site.close()
    with closing(sqlite3.connect(tmp_path / "s" / "private" / "study.sqlite")) as damaged:
        damaged.execute("ALTER TABLE people DROP COLUMN factor")
    store, keys = open_database(site.study)
    told = r"study.sqlite: no such column: people.factor .*restore its backup"
    with store, keys, pytest.raises(InputError, match=told), store.explained():
        export(site.study, store, keys, tmp_path / "out")


def test_a_withdrawn_person_keeps_what_was_done(tmp_path: Path) -> None:
    site = talking(tmp_path, per_person=1)
    with visiting(site) as client:
        person = Visitor(client, links(site)[0])
        person.enter()
        person.do("stop")
        assert person.title == "Stop"
        person.do("leave", answer="keep")
        assert person.title == "You have stopped"
        with site.store.reading() as connection:
            assert who.person_of(connection, "P001").stage == "withdrawn"
            assert [row.why for row in connection.execute(select(slots.c.why))] == ["stopped"]


def test_a_closed_study_gives_nothing_out_and_says_so(tmp_path: Path) -> None:
    site = talking(tmp_path, per_person=2)
    with visiting(site) as client:
        begun, late = (Visitor(client, token) for token in links(site, 2))
        begun.enter()
        with site.store.writing() as connection:
            set_fact(connection, "closed", "now")
        begun.do("begin")
        begun.say("Hello.")  # who is at a case may finish it
        assert len(begun.replies) == 1
        late.enter()
        assert late.title == "The study has ended"
        assert "timed_out" in stages(site)


def test_a_talk_whose_end_is_not_written_is_left_out_and_reported(tmp_path: Path) -> None:
    """It stood in exports as one that had broken off, without its findings."""
    site = talking(tmp_path / "s", per_person=1)
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        person.converse()
        settled(client)
        with site.store.writing() as connection:
            connection.execute(update(slots).values(episode=None))
    for number, left in enumerate((1, 0)):
        with stored(site) as (store, keys):
            exported = export(site.study, store, keys, tmp_path / f"out{number}")
        assert exported.items == 1 - left and len(exported.left_out) == left
        assert not left or "serve the study for a moment" in next(iter(exported.left_out))
        with visiting(talking(tmp_path / "s", per_person=1)) as client:
            settled(client)


def test_what_could_not_be_written_is_written_while_the_server_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """On a full disk for a moment, or by another process that died: only the next start wrote it, though the export
    said to serve the study for a moment. And the log held tracebacks."""
    clock = Clock()
    site = talking(tmp_path / "s", per_person=1, clock=clock)
    gc.freeze()  # to look through what was there before takes most of the time
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        for words in TURNS[:5]:
            person.say(words)
        person.do("finish")
        with monkeypatch.context() as full:
            full.setattr("baselines.study.replies.to_json", refusing)
            person.do("findings", none="yes")
            person.do("after", difficulty="2", realism="3", tools="None")
            settled(client)  # each form that is posted has it tried again
        left = export(site.study, site.store, site.keys, tmp_path / "out0").left_out
        assert "serve the study for a moment" in next(iter(left))
        clock.now += 30
        beside(client).call(client.app.state.server.look)
        settled(client)
        assert export(site.study, site.store, site.keys, tmp_path / "out1").items == 1
    gc.collect()
    assert (
        "OperationalError (database or disk is full)" in caplog.text
        and "Traceback" not in caplog.text
        and "secret" not in caplog.text
    )


@pytest.mark.parametrize("step", ["claim", "renew", "reply"])
def test_a_reply_that_could_not_be_stored_comes_with_the_next_look(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    site = talking(tmp_path, models=True, per_person=1)
    gc.freeze()
    with visiting(site) as client:
        person = at_work(client, links(site)[0])
        with monkeypatch.context() as full:
            full.setattr(at if step == "reply" else replies, step, refusing)
            person.do("say", text="Hello.")
            settled(client)
        beside(client).call(client.app.state.server.look)
        person.wait()
        assert len(person.replies) == 1
        assert [one.asked for one in site.players.values()] == [1, 1]
    gc.collect()
    assert (
        "OperationalError (database or disk is full)" in caplog.text
        and "Traceback" not in caplog.text
        and "secret" not in caplog.text
    )


def refusing(*_: object) -> None:
    raise OperationalError("secret", {}, sqlite3.OperationalError("database or disk is full"))


def stages(site: Site) -> list[str]:
    with site.store.reading() as connection:
        return [person.stage for person in who.everybody(connection)]


_HOLDS = """
import sys, time
from dataclasses import replace
from pathlib import Path
from typing import Any
from baselines.study.store import open_store, set_fact
store = open_store(Path(sys.argv[1]))
store.hold()
with store.writing() as connection:
    set_fact(connection, "address", "http://localhost:8765")
print("served", flush=True)
time.sleep(60)
"""


def test_a_file_is_served_once_and_again_after_a_kill(tmp_path: Path) -> None:
    place = tmp_path / "study.sqlite"
    first = started("-c", _HOLDS, place)
    assert first.stdout is not None and first.stdout.readline() == "served\n"
    with open_store(place) as store:  # an export may read meanwhile
        with pytest.raises(InputError, match="served already, at http://localhost:8765.*Stop that server first"):
            store.hold()
        first.kill()
        first.communicate()
        store.hold()


@pytest.mark.parametrize("name", ["who comes?", "50%20off", "a#b"])
def test_a_study_in_a_folder_of_any_name_keeps_its_database_there(name: str, tmp_path: Path) -> None:
    """The name was read as an address: all of a study lay beside its private folder, for anybody to read."""
    (tmp_path / name).mkdir()
    with open_store(tmp_path / name / "study.sqlite"):
        assert [path.name for path in tmp_path.iterdir()] == [name]
        assert (tmp_path / name / "study.sqlite").is_file()


def test_a_task_that_study_yaml_no_longer_names_is_exported_all_the_same(tmp_path: Path) -> None:
    site = talking(tmp_path / "s", per_person=1)
    with visiting(site) as client:
        at_work(client, links(site)[0]).converse()
        settled(client)
        edited = replace(site.study, design=replace(site.study.design, tasks=("pairs",)))
        assert export(edited, site.store, site.keys, tmp_path / "out").items == 1
        assert (tmp_path / "out" / "confirmation.jsonl").exists()
