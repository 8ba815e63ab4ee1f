"""A study under load, and killed: what the server itself takes, and whether anything is lost.

    python -m scripts.bench.study load --people 100 --turns 10 --seconds 3 --typing 10
    python -m scripts.bench.study kills --people 6 --kills 200 --postgres

The server is a process of its own; evaluator and patient are scripts that take SECONDS per answer, and people type for
TYPING seconds, more or less. `load` prints the time of a request with one person and with many (a message is answered
before its reply is prepared, so this is the server's own time), the server's CPU time per request, with replies and
scripts included, and its memory. `kills` hits the server with SIGKILL at random moments, restarts it, and then compares
the content of the database with what the people sent, and the stored answers with those that a server of models
was paid for, which survives everything (`study_players`). Each time, people return to the page that they had,
and to the clock: what the last page that reached them showed is compared with what the first one shows afterwards.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.context import ForkServerProcess as Server
from pathlib import Path
from typing import Any

import typer

from baselines.study import journal, requests
from baselines.study.design import Limits
from baselines.study.people import invite
from baselines.study.site import Site
from baselines.study.slots import said_in, slot_of
from baselines.study.tables import answers, slots
from loaders.models.chat import open_model
from loaders.models.messages import ChatModel
from scripts.bench.apart import stat_of
from scripts.bench.postgres import free_port, postgres
from scripts.bench.study_players import ROLES, Acting, PaidServer
from tests.parts.study_talks import talking

app = typer.Typer(add_completion=False)
# A server is forked from a process that has imported all: to start one anew takes seconds, most of them for that.
_FORKS = multiprocessing.get_context("forkserver")
_PRELOADED = ["uvicorn", "baselines.study.routes", "scripts.study.sample", "datasets", "inspect_ai.model", "openai"]
_FORKS.set_forkserver_preload(_PRELOADED)


def site_of(folder: Path, models: str | float, database: str | None = None) -> Site:
    """The study that is served here: the bundled cases, a talk for each person.

    `models` is the address of those who play, or the seconds that scripts in this process take.
    """
    os.environ.setdefault("BENCH_API_KEY", "none")
    players: dict[str, ChatModel] = {
        role: Acting(role, models)
        if isinstance(models, float)
        else open_model(f"openai-api/bench/{role}", base_url=models)
        for role in ROLES
    }
    plan: dict[str, Any] = {"completed": 100, "per_person": 1, "limits": Limits(requests_a_minute=100_000)}
    return talking(folder, models=True, players=players, database=database, survey=(), comprehension=(), **plan)


def serve(folder: Path, port: int, models: str | float, database: str | None = None) -> None:
    """The server's process."""
    import uvicorn

    from baselines.study.routes import create_app

    uvicorn.run(
        create_app(site_of(folder, models, database), [f"http://localhost:{port}"]),
        port=port,
        access_log=False,
        log_level="error",
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """A clock as a page shows it: which page, its seconds, and the kills before it was asked for."""

    here: str
    left: float
    running: bool
    kills: int


class Person:
    """Somebody who talks, with a browser; every request is tried again until the server is there.

    `kills` are the moments at which it was struck, on this process's clock.
    """

    def __init__(self, client: Any, base: str, token: str, typing: float = 0.0, kills: Sequence[float] = ()) -> None:
        self.client, self.base, self.token, self.times = client, base, token, list[float]()
        self.typing = partial(random.Random(token).uniform, 0.5 * typing, 1.5 * typing)
        self.cookies: dict[str, str] = {}
        self.sent: list[str] = []
        self.errors = self.asked = 0
        self.kills = kills
        self.resumed: list[float] = []
        """Seconds more that the clock had left after a kill than before, on the same page."""
        self.back = 0
        self._shown: Shown | None = None

    async def ask(self, method: str, where: str, **fields: str) -> Any:
        while True:
            headers = {
                "origin": self.base,
                "cookie": "; ".join(f"{name}={self.cookies[name]}" for name in self.cookies),
            }
            began = time.monotonic()
            try:
                got = await self.client.request(method, self.base + where, data=fields or None, headers=headers)
            except Exception:
                await asyncio.sleep(0.2)  # it is being started again
                continue
            self.cookies |= dict(re.findall(r"(__Host-[a-z]+)=([^;,]+)", got.headers.get("set-cookie", "")))
            self.times.append(time.monotonic() - began)
            self.asked += 1
            self.errors += got.status_code >= 500
            self._see(got, began)
            return got

    def _see(self, got: Any, began: float) -> None:
        """Compares a page and its clock with those before."""
        if got.headers.get("content-type") == "application/json":
            told = got.json()
            if "left" not in told:
                return
            here, left, running = told["here"], told["left"], told["running"]
        elif clock := re.search(r'id="clock" .*?data-left="([\d.]+)" data-running="(\w*)"', got.text):
            here, left, running = (
                re.findall(r'name="here" value="([^"]*)"', got.text)[-1],
                float(clock[1]),
                bool(clock[2]),
            )
        else:
            return
        shown = Shown(here, left, running, sum(killed < began for killed in self.kills))
        before, self._shown = self._shown, shown
        if before is None:
            return
        self.back += _turns(shown.here) < _turns(before.here)
        if shown.here == before.here and shown.running and before.running and shown.kills > before.kills:
            self.resumed.append(round(shown.left - before.left, 1))

    async def come(self) -> None:
        await self.ask("POST", f"/i/{self.token}")
        for action, more in (
            ("consent", {"answer": "agree"}),
            ("instructions", {}),
            ("practice", {"text": "Hello."}),
            ("feedback", {}),
            ("begin", {}),
        ):
            await self.press(action, **more)

    async def press(self, action: str, **more: str) -> None:
        page = (await self.ask("GET", "/")).text
        if f'action="/do/{action}"' in page:
            await self.ask("POST", f"/do/{action}", **{**_hidden(page, action), **more})

    async def look(self) -> str:
        """Whose turn it is."""
        return str((await self.ask("GET", "/status")).json()["state"])

    async def talk(self, turns: int) -> None:
        for number in range(turns):
            await asyncio.sleep(self.typing())
            await self.look()
            text = f"Turn {number}: what worries you most about it, and what would help you now?"
            while True:
                page = (await self.ask("GET", "/")).text
                if text in page.replace("&#39;", "'"):
                    break
                more = {"client": f"turn {number}", "text": text}
                await self.ask("POST", "/do/say", **{**_hidden(page, "say"), **more})
            self.sent.append(text)
            while (state := await self.look()) != "yours":
                if state == "over":
                    return
                await asyncio.sleep(1.0)


def _hidden(page: str, action: str) -> dict[str, str]:
    """The hidden fields of a form."""
    form = page.split(f'action="/do/{action}"')[1].split("</form>")[0]
    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))


def _turns(here: str) -> tuple[int, int]:
    """How far a page is: the number of its talk, and of its turn."""
    talk, _, turns = here.split(".")
    return int(talk), int(turns)


def _start(folder: Path, port: int, models: str | float, database: str | None = None) -> Server:
    server = _FORKS.Process(target=serve, args=(folder, port, models, database), daemon=True)
    server.start()
    return server


async def _up(port: int) -> None:
    """Until the server listens."""
    while True:
        try:
            _, writer = await asyncio.open_connection("localhost", port)
        except OSError:
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return


def _invited(folder: Path, models: str | float, people: int, database: str | None = None) -> list[str]:
    site = site_of(folder, models, database)
    with site.store.writing() as connection:
        tokens = [token for _, token in invite(connection, site.keys, people, time.time())]
    site.close()
    return tokens


async def _everybody(people: Sequence[Person], turns: int) -> None:

    async def one(person: Person) -> None:
        await person.come()
        person.times.clear()
        await person.talk(turns)

    await asyncio.gather(*(one(person) for person in people))


def _cpu(server: Server) -> float:
    """Seconds that it has computed."""
    fields = stat_of(server.pid or 0)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@app.command()
def load(people: int = 100, turns: int = 10, seconds: float = 3.0, typing: float = 0.0) -> None:
    """Many at once."""
    import httpx

    async def run(count: int, turns: int) -> None:
        with tempfile.TemporaryDirectory() as place:
            folder, port = Path(place), free_port()
            tokens = _invited(folder, seconds, count)
            server = _start(folder, port, seconds)
            try:
                limits = httpx.Limits(max_connections=count + 10)
                async with httpx.AsyncClient(timeout=60, limits=limits, follow_redirects=False) as client:
                    began = time.monotonic()
                    await _up(port)
                    cpu = _cpu(server)
                    talked = [Person(client, f"http://localhost:{port}", token, typing) for token in tokens]
                    await _everybody(talked, turns)
                    cpu = _cpu(server) - cpu
                status = Path(f"/proc/{server.pid}/status").read_text()
                (peak,) = (int(found) / 1024 for found in re.findall(r"VmHWM:\s+(\d+)", status))
            finally:
                server.terminate()
                server.join()
            times = [seconds for person in talked for seconds in person.times]
            errors = sum(person.errors for person in talked)
            times.sort()
            middle, late = (1000 * times[max(0, int(share * len(times)) - 1)] for share in (0.5, 0.95))
            taken = time.monotonic() - began
            print(f"{count} people, {turns} turns: {len(times):,} requests, {errors} errors in {taken:.0f} s")
            each = 1000 * cpu / sum(person.asked for person in talked)
            print(f"  by the clock p50 {middle:.1f} ms, p95 {late:.1f} ms; {peak:.0f} MiB")
            print(f"  computed {each:.1f} ms a request in all")

    asyncio.run(run(1, turns))
    asyncio.run(run(people, turns))


@dataclass
class Struck:
    """What came of the kills, over all rounds."""

    seen: Counter[str] = field(default_factory=Counter)
    resumed: list[float] = field(default_factory=list)

    def told(self) -> str:
        """The numbers, as lines."""
        seen, same = self.seen, sum(moved == 0 for moved in self.resumed)
        twice, known = seen["paid"] - seen["stored"], seen["received"] - seen["paid"]
        return (
            f"{seen['kills']} kills while {seen['people']} people sent {seen['sent']:,} messages; "
            f"errors {seen['errors']}\n"
            f"messages lost {seen['lost']}, doubled {seen['doubled']}, without a reply {seen['silent']}; "
            f"pages gone back {seen['back']}\n"
            f"clocks after a kill, {len(self.resumed):,}: {same:,} as they were shown last; "
            f"from {min(self.resumed, default=0):+.1f} to {max(self.resumed, default=0):+.1f} s\n"
            f"answers stored {seen['stored']:,}, paid {seen['paid']:,}: {twice} twice; requests sent again "
            f"{seen['again']}, of which {known} had come before"
        )

    def count(self, site: Site, talked: Sequence[Person], models: PaidServer) -> None:
        """Compares what the database holds with what people sent and what models gave. Raises InputError."""
        with site.store.reading() as connection:
            journal.checked(connection)
            for slot in [slot_of(connection, row.id) for row in connection.execute(slots.select()).all()]:
                said = said_in(connection, site.keys, slot)
                mine = [one.text for one in said if one.who == "clinician"]
                sent = talked[int(slot.person[1:]) - 1].sent
                silent = len(mine) - sum(one.who == "patient" for one in said)
                lost, doubled = len(set(sent) - set(mine)), len(mine) - len(set(mine))
                self.seen.update(sent=len(sent), lost=lost, doubled=doubled, silent=silent)
            stored, again = len(connection.execute(answers.select()).all()), requests.sent_again(connection)
        self.seen.update(stored=stored, again=again, received=models.received, paid=models.paid, people=len(talked))
        for person in talked:
            self.resumed += person.resumed
            self.seen.update(back=person.back, errors=person.errors)


@app.command()
def kills(
    people: int = 6,
    kills: int = 20,
    a_round: int = 40,
    turns: int = 40,
    seconds: float = 0.3,
    typing: float = 2.0,
    seed: int = 0,
    on_postgres: bool = typer.Option(False, "--postgres", help="Not SQLite: a Postgres that is started for this."),
) -> None:
    """SIGKILL at random moments, in as many rounds of talks as it takes, at most so many in each."""
    draw, struck = random.Random(seed), Struck()
    while struck.seen["kills"] < kills:
        with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
            folder, port = Path(place), free_port()
            database = stack.enter_context(postgres(safe=True)) if on_postgres else None
            paying = stack.enter_context(PaidServer(seconds))
            models = paying.base_url
            tokens = _invited(folder, models, people, database)
            start = partial(_start, folder, port, models, database)
            most = min(a_round, kills - struck.seen["kills"])
            talked, times = asyncio.run(_round(start, port, tokens, (turns, typing), most, draw))
            struck.seen.update(kills=len(times))
            site = site_of(folder, models, database)
            struck.count(site, talked, paying)
            site.close()
            print(f"{'Postgres' if database else 'SQLite'}: {struck.told()}", flush=True)


async def _round(
    start: Callable[[], Server],
    port: int,
    tokens: list[str],
    talk: tuple[int, float],
    most: int,
    draw: random.Random,
) -> tuple[list[Person], list[float]]:
    """Talks of all, with at most so many kills; who talked, and when the server was struck."""
    import httpx

    server = start()
    killed: list[float] = []
    try:
        async with httpx.AsyncClient(timeout=20, follow_redirects=False) as client:
            turns, typing = talk
            people = [Person(client, f"http://localhost:{port}", token, typing, killed) for token in tokens]
            talking = asyncio.create_task(_everybody(people, turns))
            while not talking.done():
                await _up(port)
                await asyncio.sleep(draw.uniform(0.1, 3))
                if len(killed) < most and not talking.done():
                    killed.append(time.monotonic())
                    server.kill()  # SIGKILL
                    server.join()
                    server = start()
            await talking
            return people, killed
    finally:
        server.kill()
        server.join()


if __name__ == "__main__":
    app()
