"""Many at once: a database that is slow, or held by somebody, keeps nobody from a page that others do not hold up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from baselines.study.store import Store
from loaders.models.messages import Answer
from tests.parts.study_talks import Acting, Visitor, at_work, links, talking, visiting

PATIENCE = 60.0  # seconds after which a test fails that would else wait for ever


def cookies(person: Visitor) -> dict[str, str]:
    return {"cookie": "; ".join(f"{name}={value}" for name, value in person.cookies.items())}


class Waiting(Acting):
    """A model that answers when it `may`."""

    def __init__(self, role: str) -> None:
        super().__init__(role)
        self.may = threading.Event()

    async def ask(self, *given: Any, **told: Any) -> Answer:
        await asyncio.to_thread(self.may.wait, PATIENCE)
        return await super().ask(*given, **told)


def test_pages_wait_for_the_database_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are in the middle of what they ask before either goes on."""
    site = talking(tmp_path, per_person=1)
    with visiting(site) as client, ThreadPoolExecutor(2) as at_once:
        people = [at_work(client, token) for token in links(site, 2)]
        client.cookies.clear()
        both, reading = threading.Barrier(2, timeout=PATIENCE), Store.reading

        @contextmanager
        def slow(store: Store) -> Iterator[Connection]:
            with reading(store) as connection:
                both.wait()
                yield connection

        monkeypatch.setattr(Store, "reading", slow)
        for where in ("/", "/status"):
            asked = [at_once.submit(client.get, where, headers=cookies(person)) for person in people]
            assert [one.result().status_code for one in asked] == [200, 200]


def test_a_database_that_somebody_holds_stops_no_page(tmp_path: Path) -> None:
    """Who reads is served; what is posted, and the patient's reply, wait and are there afterwards, once."""
    patient = Waiting("patient")
    site = talking(tmp_path, models=True, players={"patient": patient, "evaluator": Acting("evaluator")}, per_person=1)
    with visiting(site) as client, ThreadPoolExecutor(50) as at_once:
        talks, drafts = (at_work(client, token) for token in links(site, 2))
        talks.do("say", text="Hello, what worries you?")
        form = drafts.form("say")
        client.cookies.clear()
        with site.store.writing():
            patient.may.set()
            kept = [  # more than there are threads for pages
                at_once.submit(client.post, "/draft", data={**form, "text": f"{at}"}, headers=cookies(drafts))
                for at in range(45)
            ]
            for person in (talks, drafts):
                assert client.get("/", headers=cookies(person)).status_code == 200
                assert client.get("/status", headers=cookies(person)).json()["here"] != ""
            assert not any(one.done() for one in kept)
        assert {one.result().status_code for one in kept} == {204}
        talks.wait()
        assert len(talks.replies) == 1 and patient.asked == 1
