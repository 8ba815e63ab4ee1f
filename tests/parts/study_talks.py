"""A study with talks: the bundled cases, models that are scripts, a clock of one's own, and a visitor of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal
from starlette.testclient import TestClient

from baselines.medconceal.game import Rules
from baselines.study import slots as at
from baselines.study.access import COOKIE, exchange
from baselines.study.design import TaskName
from baselines.study.keys import Keys
from baselines.study.people import invite
from baselines.study.replies import Replies
from baselines.study.routes import create_app
from baselines.study.site import Site, open_database, open_site
from baselines.study.store import Store
from baselines.study.tables import people
from baselines.study.tasks.task import Bundled, Rows, Source
from loaders.models.messages import ChatModel
from scripts.bench.study_players import ROLES, Acting
from scripts.study.sample import patients
from tests.parts.study_site import study

ORIGIN = "https://study.test"
TURNS = (
    "Hello, what brings you in today?",
    "That sounds hard. What worries you most about it?",
    "Many people worry about the cost. Is that on your mind as well?",
    "Thank you for telling me. What would help you now?",
    "Is there anything else that you would like to say?",
    "I see. Let us look at it together, step by step.",
)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@cache
def _cases() -> Rows:
    return patients().splits["test"]


def talking(
    folder: Path,
    *tasks: TaskName,
    models: bool = False,
    clock: Any = None,
    database: str | None = None,
    players: Mapping[str, ChatModel] | None = None,
    named: str = "acting",
    **more: Any,
) -> Site:
    """A study with talks over some of the bundled cases, by rules and template or by acting models."""
    plan = study(folder, *(tasks or ("confirmation",)), **more)
    cases = Rows(_cases()[: max(6, plan.design.cases or 0)])
    acting = (players or {role: Acting(role) for role in ROLES}) if models else {}
    return open_site(
        plan,
        Source(plan.design, Bundled("medconceal", {"test": cases}), stand_in="sample data"),
        players=acting,
        rules=lambda task: Rules(
            task,
            plan.design.most_turns,
            evaluator="model" if models else "rules",
            patient="model" if models else "template",
            timed=True,
            strict=True,
        ),
        models={"patient": named, "evaluator": named},
        database=database,
        rehearsal=True,
        clock=clock,
    )


def links(site: Site, count: int = 1) -> list[str]:
    """Invitation tokens for new people."""
    with site.store.writing() as connection:
        return [token for _, token in invite(connection, site.keys, count, site.clock())]


class Visitor:
    """A person whose browser runs no scripts. `page` is what it shows."""

    def __init__(self, client: TestClient, token: str = "", cookies: Mapping[str, str] | None = None) -> None:
        """Comes by a link, or is signed in by cookies and has yet to look."""
        self.client, self.cookies = client, dict(cookies or {})
        if not token:
            return
        client.cookies.clear()
        answer = client.post(f"/i/{token}")
        assert answer.status_code == 200, answer.text
        self.cookies = dict(client.cookies)
        self.page = answer.text

    def look(self, where: str = "/") -> Any:
        """Loads a page."""
        self._be()
        answer = self.client.get(where)
        self._keep()
        if where == "/":
            self.page = answer.text
        return answer

    def do(self, action: str, *, form: Mapping[str, str] | None = None, **fields: Any) -> Any:
        """Presses the button of a form on the current page."""
        self._be()
        values = dict(form or self.form(action)) | fields
        answer = self.client.post(f"/do/{action}", data=values)
        self._keep()
        self.page = answer.text
        return answer

    def form(self, action: str) -> dict[str, str]:
        """The hidden fields of a form."""
        found = re.search(rf'action="/do/{action}".*?</form>', self.page, re.DOTALL)
        assert found, f"no form {action} on: {self.title}"
        return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', found[0]))

    @property
    def title(self) -> str:
        found = re.search("<h1>(.*?)</h1>", self.page)
        assert found
        return found[1]

    @property
    def replies(self) -> list[str]:
        """What the patient has said."""
        return re.findall(r'<li class="patient">.*?<p[^>]*>(.*?)</p>', self.page, re.DOTALL)

    def enter(self, before: str | None = None) -> None:
        """Go from consent to the first chart, or as far as the page of that name."""
        filled: dict[str, dict[str, Any]] = {
            "consent": {"answer": "agree"},
            "survey": {"years": "More"},
            "instructions": {},
            "practice": {"text": "Hello."},
            "feedback": {},
            "comprehension": {"check0": "0"},
        }
        for page, fields in filled.items():
            if page == before:
                return
            self.do(page, **fields)

    def say(self, text: str) -> None:
        """Send a message, and wait for its reply."""
        self.do("say", text=text)
        self.wait()

    def converse(self, *, survey: bool = True) -> None:
        """Have a whole conversation: five messages, no finding, and the short survey unless it is left open."""
        for words in TURNS[:5]:
            self.say(words)
        self.do("finish")
        self.do("findings", none="yes")
        if survey:
            self.do("after", difficulty="2", realism="3", tools="None")

    def wait(self) -> None:
        """Wait until the patient has answered, and whatever else is going on is done."""
        settled(self.client)
        self.look()

    def _be(self) -> None:
        self.client.cookies.clear()
        for name, value in self.cookies.items():
            self.client.cookies.set(name, value, domain="study.test")

    def _keep(self) -> None:
        self.cookies |= {cookie.name: cookie.value or "" for cookie in self.client.cookies.jar}


def at_work(client: TestClient, token: str) -> Visitor:
    """A person who came by a link and has begun, without the pages before the first chart."""
    site: Site = client.app.state.server.site  # type: ignore[attr-defined]
    now = site.clock()
    with site.store.writing() as connection:
        came = exchange(connection, token, now, coordinator=False)
        assert came is not None and came[1].person is not None
        name = came[1].person
        connection.execute(people.update().where(people.c.id == name).values(stage="work", began=now))
        slot = at.give(connection, site.study.design, name, now)
        assert slot is not None
        at.begin_talk(connection, slot, now)
    person = Visitor(client, cookies={COOKIE: came[0]})
    person.look()
    return person


@contextmanager
def stored(site: Site, database: str | None = None) -> Iterator[tuple[Store, Keys]]:
    """The database and the keys of a study that is closed."""
    store, keys = open_database(site.study, database)
    with store, keys:
        yield store, keys


def visiting(site: Site, **replies: Any) -> TestClient:
    """The pages of a study; use it as a context manager."""
    app = create_app(site, {ORIGIN}, replies=Replies(site, **replies) if replies else None)
    return TestClient(app, base_url=ORIGIN, headers={"origin": ORIGIN})


def settled(client: TestClient) -> None:
    """Wait until every reply and episode that is due is there."""
    replies: Replies = client.app.state.server.replies  # type: ignore[attr-defined]
    beside(client).call(replies.settled)


def beside(client: TestClient) -> BlockingPortal:
    """The thread in which a site's replies are prepared, to `call` something there."""
    portal: BlockingPortal = client.app.state.server.beside  # type: ignore[attr-defined]
    return portal
