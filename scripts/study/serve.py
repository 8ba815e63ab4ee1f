"""`bedside study serve`: the pages of a study, for people and for its coordinator."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from baselines.dialogue import game
from baselines.dialogue.playing import Scripted
from baselines.medconceal.agents import scripted_agent
from baselines.medconceal.clinician import prompts as read_prompts
from baselines.medconceal.game import Rules
from baselines.medconceal.policy import DEFAULT
from baselines.results.run import read_run
from baselines.study.access import is_private, make_link, origin_of
from baselines.study.design import FILE, TASKS, Study, open_places, read_study, write_study
from baselines.study.flow import ENDED
from baselines.study.journal import note
from baselines.study.people import invite, person_of
from baselines.study.replies import told
from baselines.study.seat import Seat, Talk
from baselines.study.site import Site, open_site
from baselines.study.store import fact_in, set_fact
from baselines.study.tasks.task import Source
from loaders.errors import BedsideError, InputError
from loaders.files.paths import is_file, is_there
from loaders.models.messages import Answer, Message
from loaders.opened import open_data
from scripts.run.confirmation import RULES, TEMPLATE
from scripts.run.play import Asking, Price, Roles, roles_of
from scripts.run.policies import SamePolicy, policy_of
from scripts.study.folder import Database, Folder
from scripts.study.sample import sample_source
from scripts.terminal import stopping
from scripts.terminal.console import output, warn
from scripts.terminal.options import Prompts, one_of
from scripts.terminal.options_of import options_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

PORT, SAMPLE = 8765, "sample"
TRY_FOR = 30.0  # seconds that models have for a first turn
_TRYING = "trying"  # the fact that names whoever tries a rehearsal
_SOURCES = {
    "confirmation": "medconceal", "intervention": "medconceal", "pairs": "medlaybench-v", "rubric": "a run",
    "diagnosis": "3mdbench", "relevance": "3mdbench",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Serving:
    data: Annotated[
        str,
        typer.Argument(
            metavar="RUN|DATA", help="Corpus or release; for the task rubric, a consultation run; or sample."
        ),
    ]
    study: Folder
    patient: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL|template", help="Model that words the patient's replies; `template` in a rehearsal."
        ),
    ] = None
    evaluator: Annotated[
        str | None,
        typer.Option(metavar="MODEL|rules", help="Model that rates each turn of a person; `rules` in a rehearsal."),
    ] = None
    policy: SamePolicy = DEFAULT.name
    prompts: Prompts = None
    base_url: Annotated[
        tuple[str, ...], typer.Option(metavar="URL|ROLE=URL", help="Base URL of the models' server. May be repeated.")
    ] = ()
    timeout: Annotated[float, typer.Option(min=1.0, max=86400.0, help="Seconds to wait for a model's answer.")] = 60.0
    price: Price = ()
    database: Database = None
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help=f"Task of a new rehearsal: {', '.join(TASKS)}."),
    ] = None
    rehearsal: Annotated[
        bool,
        typer.Option(
            "--rehearsal", help="Trial mode: allow `rules` and `template`; every export is marked a stand-in."
        ),
    ] = False
    host: Annotated[str, typer.Option(help="Address to listen on; any but this machine's needs --behind-proxy.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = PORT
    behind_proxy: Annotated[
        bool,
        typer.Option("--behind-proxy", help="An HTTPS proxy of yours forwards requests; needs --address."),
    ] = False
    address: Annotated[
        str | None, typer.Option(metavar="URL", help="Public address of the study, such as https://study.example.org.")
    ] = None


@options_of(Serving)
def command(options: Serving) -> None:
    """Serve a study: pages for participants, and one for the coordinator, whose login is printed.

    Invite people with `bedside study invite STUDY`. Every answer is stored before a page confirms it: you can stop the
    server at any time, even with kill -9, and start it again with the same command.

    Try it without a model, on bundled cases: `bedside study serve sample runs/study --rehearsal`; add `--task pairs`
    and so on for other tasks.
    """
    origins = _origins(options)
    with closing(_bound(options)) as listener:  # before anything is written or told
        _serve(options, origins, listener)


def _serve(options: Serving, origins: list[str], listener: socket.socket) -> None:
    if options.rehearsal:
        options = _rehearsing(options)
    elif options.task is not None:
        raise InputError(
            "--task", found=options.task, expected="--task only with --rehearsal: study.yaml names the tasks"
        )
    study = read_study(options.study)
    site = _site(options, study)
    try:
        with site.store.explained(), site.store.writing() as connection:
            now = site.clock()
            login = make_link(connection, None, now)
            set_fact(connection, "address", origins[0])
            note(connection, now, "served", rehearsal=options.rehearsal)
            tried = [_trying(connection, site, now)] if options.rehearsal else []
    except BaseException:
        site.close()
        raise
    listener.listen()  # whoever follows a link before uvicorn is ready waits for the page, and is not refused
    _tell(site, origins[0], login, tried)
    _try_models(site)
    _listen(site, options, origins, listener)


def _trying(connection: Connection, site: Site, now: float) -> tuple[str, str]:
    """Who tries a rehearsal, with a link: after a restart the same person, as long as they have not ended."""
    before = fact_in(connection, _TRYING)
    if before is not None and person_of(connection, before).stage not in ENDED:
        note(connection, now, "linked again", person=before)
        return before, make_link(connection, before, now)
    ((name, token),) = invite(connection, site.keys, 1, now)
    set_fact(connection, _TRYING, name)
    return name, token


def rehearsing(options: Serving) -> Site:
    """The site of a rehearsal, without a server. Close it."""
    options = _rehearsing(options)
    return _site(options, read_study(options.study))


def rehearsed(options: Serving, people: int) -> None:
    """A rehearsal in which scripted participants go through all pages, one after another, without a server.

    Raises what serving raises.
    """
    from baselines.medconceal.clinician_scripted import CLINICIANS
    from baselines.study.scripted import take_part

    with closing(rehearsing(options)) as site:
        with site.store.writing() as connection:
            invited = invite(connection, site.keys, people, site.clock())
            set_fact(connection, "begun", "yes")
        for name, _ in invited:
            take_part(site, name, CLINICIANS["expert"])


def _origins(options: Serving) -> list[str]:
    """The addresses under which browsers know the server, the one for links first. Raises InputError."""
    if options.behind_proxy:
        if options.address is None or not options.address.startswith("https://"):
            raise InputError("--address", found=options.address or "none", expected="the proxy's https:// address")
        return [origin_of(options.address)]
    if not is_private(options.host):
        raise InputError(
            "--host",
            found=f"{options.host}, reachable by others without HTTPS",
            expected="127.0.0.1, or --behind-proxy",
            do="Put an HTTPS proxy (Caddy, nginx) in front of it and pass --behind-proxy --address https://…",
        )
    if options.address is not None:
        raise InputError("--address", found=options.address, expected="--address only with --behind-proxy")
    return [f"http://localhost:{options.port}", f"http://127.0.0.1:{options.port}", f"http://[::1]:{options.port}"]


def _bound(options: Serving) -> socket.socket:
    """The socket on which the server listens. Raises: InputError for a port that is in use, or an unknown host."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listener = socket.socket(family)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((options.host, options.port))
    except OSError as error:
        listener.close()
        where = f"--host {options.host} --port {options.port}"
        raise InputError(where, found=str(error.strerror or error), expected="a free port of this machine") from None
    return listener


def _rehearsing(options: Serving) -> Serving:
    """A rehearsal needs neither model nor folder: rules and template play any role that is not named."""
    if not is_there(options.study):
        write_study(options.study, one_of("--task", options.task or TASKS[0], TASKS))
    elif options.task is not None and options.task not in read_study(options.study).design.tasks:
        found = f"{options.task}, and a study of {', '.join(read_study(options.study).design.tasks)}"
        raise InputError("--task", found=found, expected="a task of the study, or a new folder")
    if not read_study(options.study).design.talks:
        return options
    return replace(options, patient=options.patient or TEMPLATE, evaluator=options.evaluator or RULES)


def _site(options: Serving, study: Study) -> Site:
    if (todo := open_places(study)) and not options.rehearsal:
        raise InputError(options.study, found=f"TODO in {', '.join(todo)}", expected="finished texts")
    roles, names = _roles(options, study)
    free = sorted({player.name for player in roles.players.values()} - roles.prices.keys())
    if study.design.limits.dollars is not None and free:
        found = f"a cost limit in study.yaml, but no price for {', '.join(free)}"
        raise InputError("limits.dollars", found=found, expected="--price for each model")
    policy = policy_of(options.policy)
    texts = read_prompts(options.prompts)
    asked = " ".join(texts.digests[name][:16] for name in ("evaluator", "relevance", "patient"))
    source = source_of(options.data, study)
    return open_site(
        study,
        source,
        players=roles.players,
        rules=lambda task: Rules(
            task,
            study.design.most_turns,
            policy,
            texts,
            "rules" if names["evaluator"] == RULES else "model",
            "template" if names["patient"] == TEMPLATE else "model",
            timed=True,
            strict=True,
        ),
        models={**names, "policy": policy.digest, "prompts": asked} if study.design.talks else {},
        database=options.database,
        prices=roles.prices,
        rehearsal=options.rehearsal,
    )


def _roles(options: Serving, study: Study) -> tuple[Roles, dict[str, str]]:
    """Who plays evaluator and patient. Raises InputError for rules outside a rehearsal."""
    # The study asks a model again itself (`replies`): within a request, nobody would hear of a server that is busy.
    asking = Asking(out=Path(), base_url=options.base_url, timeout=options.timeout, price=options.price, max_retries=0)
    given = {"patient": options.patient, "evaluator": options.evaluator}
    if not study.design.talks:
        about = {**given, "base-url": options.base_url, "price": options.price, "prompts": options.prompts}
        if named := [f"--{name}" for name, value in about.items() if value]:
            raise InputError(named[0], found="given", expected="no model: this study has no conversations")
        return Roles({}, {}, {}), {}
    names = {}
    for role, name in given.items():
        if name is None:
            raise InputError(
                f"--{role}", found="no model", expected="a model; with --rehearsal, also rules or template"
            )
        names[role] = name
    acted = [f"--{role} {name}" for role, name in names.items() if name in (RULES, TEMPLATE) or "scripted/" in name]
    if acted and not options.rehearsal:
        raise InputError(
            acted[0],
            found="no model",
            expected="a model in a real study",
            do="Rules judge by wording alone; --rehearsal allows them, and marks every export a stand-in",
        )
    asked = {role: name for role, name in names.items() if name not in (RULES, TEMPLATE)}
    return roles_of(asked, scripted_agent, asking) if asked else Roles({}, {}, {}), names


def source_of(data: str, study: Study) -> Source:
    """The data that a study is served from. Raises what opening them raises."""
    path = Path(data)
    needed = {_SOURCES[task] for task in study.design.tasks}
    if len(needed) > 1:
        found = f"{', '.join(study.design.tasks)}, which need {' and '.join(sorted(needed))}"
        raise InputError(f"{FILE}, tasks", found=found, expected="tasks of one source", do="Make a study of each")
    if data == SAMPLE:
        return sample_source(study.design)
    if is_file(path / "run.json"):
        return Source(study.design, runs=(path,), stand_in=read_run(path)[0].stand_in)
    (corpus,) = needed - {"a run"} or {"3mdbench"}
    opened = open_data(data, split="test", default=corpus)
    return Source(study.design, opened, stand_in=opened.stand_in)


def _tell(site: Site, address: str, login: str, tried: list[tuple[str, str]]) -> None:
    output.print(f"{site.study.design.title}: {address}")
    if site.stand_in:
        warn(f"Stand-in: {site.stand_in}. Every export is marked so.")
    output.print(f"Coordinator's login (works once, within an hour): {address}/c/{login}")
    for name, token in tried:
        output.print(f"Try it as {name} (works once): {address}/i/{token}")
    output.print(f"Invite people: bedside study invite {quote(str(site.study.folder))} --count 20")
    output.print("Ctrl-C stops the server; nothing is lost.")


def _try_models(site: Site) -> None:
    """Says whether the models can play, which a wrong key or address would else show to those who talk first.

    It only warns: a study that runs is served again, also while its provider is away.
    """
    if not site.players or any(isinstance(player, Scripted) for player in site.players.values()):
        return
    with site.store.reading() as connection:
        if site.is_spent(connection):
            return
    try:
        asyncio.run(asyncio.wait_for(_turn(site), TRY_FOR))
        output.print("The models have played a first turn.")
    except TimeoutError:
        warn(f"The models did not play a first turn in {TRY_FOR:.0f} s: talk with them before you invite people")
    except BedsideError as error:
        warn(f"A first turn failed, and conversations will: {told(error)}. {error.do}")


async def _turn(site: Site) -> None:
    """A turn of the first case with its own prompts and settings, of which nothing is kept."""

    async def ask(role: str, messages: Sequence[Message], **how: Unpack[game.Asking]) -> Answer:
        player, (json_schema, _, drawn) = site.players[role], game.parted(how)
        assert not isinstance(player, Scripted)
        return await player.ask(messages, json_schema=json_schema, **drawn)

    played, profile = next(iter(site.games.values())), next(iter(site.profiles.values()))
    await Talk(played, profile, Seat(["Hello, what brings you in today?"], ask)).go_on()


def _listen(site: Site, options: Serving, origins: list[str], listener: socket.socket) -> None:
    import uvicorn

    from baselines.study.routes import create_app

    logging.basicConfig(format="%(asctime)s %(message)s")  # whoever reads it in the morning asks when
    config = uvicorn.Config(
        create_app(site, origins, proxied=options.behind_proxy),
        access_log=False,  # addresses contain links
        log_level="warning",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=620,  # longer than any proxy keeps a connection that it may send the next form on
    )
    with suppress(KeyboardInterrupt):  # raised again by uvicorn after it has shut down
        uvicorn.Server(config).run(sockets=[listener])
    stopping.answered()
