"""Shared by the benchmarks of dialogues: models that answer at once, and the least that a task of inspect_ai can do.

The minimal task sends the requests of a game, prepared beforehand, one after another, stores nothing and scores with a
constant. Every method of a benchmark runs in a process of its own and reports seconds without start-up, both wall and
CPU time: on a busy machine only CPU times can be compared. Memory is the peak of the process, imports included.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from baselines.dialogue.game import Game
from baselines.dialogue.playing import Player, Scripted
from baselines.dialogue.run import play_run
from loaders.errors import InputError
from loaders.models.chat import InspectModel
from loaders.models.inspect_form import inspect_message
from loaders.models.messages import Answer, Message
from scripts.bench.apart import Measured, Row, apart, best_apart
from scripts.bench.rival_finders import peak_megabytes
from scripts.terminal.console import output, table

CONCURRENCY = 16
Times = dict[str, float]
Reply = Callable[[str, Sequence[Any], bool], str]
"""An instant answer: of a role, to messages (each with its `text`), as JSON if that is wanted."""


@dataclass(frozen=True)
class Benchmark:
    """A game, its cases, who answers, how many requests a case makes, and whose dialogue the log keeps.

    `cases` makes a number of them; `shown` is the input of a case's sample in the minimal task, its photo if any.
    """

    module: str
    game: Game[Any, Any]
    cases: Callable[[int], Sequence[Any]]
    reply: Reply
    calls: int
    kept: str
    shown: Callable[[Any], Any]
    asks_json: Callable[[Sequence[Message]], bool] = lambda sent: False  # for agents that are sent no schema


def clock() -> Times:
    """The time on the wall and of the processor, from some start."""
    return {"seconds": time.perf_counter(), "processor": time.process_time()}


def since(started: Times) -> Times:
    """What has passed since then."""
    return {name: now - started[name] for name, now in clock().items()}


def instant(bench: Benchmark) -> dict[str, Any]:
    """Models of inspect_ai that answer at once, by role."""
    from inspect_ai.model import (
        ChatCompletionChoice,
        ChatMessageAssistant,
        ModelAPI,
        ModelOutput,
        ModelUsage,
        get_model,
        modelapi,
    )

    @modelapi(name="instant")
    class Instant(ModelAPI):  # type: ignore[misc]
        async def generate(self, input: list[Any], tools: Any, tool_choice: Any, config: Any) -> Any:
            text = bench.reply(self.model_name, input, config.response_schema is not None)
            return ModelOutput(
                model=self.model_name,
                choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=text))],
                usage=ModelUsage(input_tokens=900, output_tokens=30, total_tokens=930),
            )

    return {role: get_model(f"instant/{role}", memoize=False) for role in bench.game.roles}


def scripted(bench: Benchmark) -> dict[str, Player]:
    """Agents without a model that answer at once, by role."""

    def agent(role: str) -> Scripted:
        def script(sent: Sequence[Message]) -> str:
            return bench.reply(role, sent, bench.asks_json(sent))

        return Scripted(f"scripted/{role}", lambda case: script)

    return {role: agent(role) for role in bench.game.roles}


def requests(bench: Benchmark, case: Any) -> list[tuple[str, list[Message], dict[str, Any]]]:
    """What the game sends, request by request: role, messages, settings."""
    sent = []

    async def ask(role: str, messages: Sequence[Message], **settings: Any) -> Answer:
        sent.append((role, list(messages), settings))
        wants_json = settings.get("json_schema") is not None
        return Answer(bench.reply(role, messages, wants_json), None, None, "stop")

    async def play() -> None:
        await bench.game.play(case, ask)

    asyncio.run(play())
    if len(sent) != bench.calls:
        raise InputError("bench", found=f"{len(sent)} requests", expected=f"{bench.calls}")
    return sent


def minimal(bench: Benchmark, folder: Path, played: Sequence[Any]) -> Times:
    """The requests of the game, sent by the shortest task that can be written."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, ResponseSchema, get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import solver
    from inspect_ai.util import JSONSchema

    ready: dict[str, list[tuple[str, list[Any], Any]]] = {}
    for case in played:
        shared: dict[Message, Any] = {}  # a task appends to a list: each message is one object
        found = ready[bench.game.case_id(case)] = []
        for role, messages, settings in requests(bench, case):
            wanted = settings.get("json_schema")
            schema = JSONSchema.model_validate(wanted) if wanted else None
            answer = ResponseSchema(name="answer", json_schema=schema) if schema else None
            decoding = {name: settings[name] for name in ("temperature", "max_tokens")}
            config = GenerateConfig(**decoding, response_schema=answer)
            for message in messages:
                if message not in shared:
                    shared[message] = inspect_message(message)
            found.append((role, [shared[message] for message in messages], config))

    @solver(name="minimal")  # type: ignore[untyped-decorator]
    def dialogue() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            models = {role: get_model(role=role, required=True) for role in bench.game.roles}
            for role, messages, config in ready[str(state.sample_id)]:
                output = await models[role].generate(messages, config=config)
                if role == bench.kept:
                    state.messages = [*messages, output.message]
            return state

        return solve

    @scorer(name="minimal", metrics=[mean()])  # type: ignore[untyped-decorator]
    def constant() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return Score(value=1)

        return score

    samples = [Sample(id=bench.game.case_id(case), input=bench.shown(case)) for case in played]
    models = instant(bench)
    started = clock()
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=MemoryDataset(samples), solver=dialogue(), scorer=constant()),
        model=None,
        model_roles=models,
        log_dir=str(folder),
        log_realtime=False,
        log_header_only=True,
        max_samples=CONCURRENCY,
        display="none",
    )
    if log.status != "success":
        raise InputError("minimal", found=str(log.error), expected="status success")
    return since(started)


def _play(bench: Benchmark, folder: Path, played: Sequence[Any], players: Mapping[str, Player], *, bare: bool) -> Times:
    started = clock()
    run = play_run(bench.game, played, players, folder, bare=bare, concurrency=CONCURRENCY)
    times = since(started)
    requested = sum(spent.requests for spent in run.spent.values())
    if run.failure or requested != bench.calls * len(played):
        expected = str(bench.calls * len(played))
        raise InputError("bench", found=f"{run.failure}, {requested} requests", expected=expected)
    return times


def _adapter(bench: Benchmark, folder: Path, played: Sequence[Any]) -> Times:
    return _play(bench, folder, played, {role: InspectModel(one) for role, one in instant(bench).items()}, bare=False)


METHODS: dict[str, Callable[[Benchmark, Path, Sequence[Any]], Times]] = {
    "minimal": minimal,
    "adapter": _adapter,
    "bare": lambda bench, folder, played: _play(bench, folder, played, scripted(bench), bare=True),
}
"""`adapter` is `bedside run`; `bare` is `--bare`, with agents that bypass models."""


def _measured(module: str, method: str, number: int) -> dict[str, float]:
    """Seconds, megabytes, and megabytes left on the disk."""
    bench: Benchmark = import_module(module).BENCHMARK
    played = bench.cases(number)
    with tempfile.TemporaryDirectory() as folder:
        times = METHODS[method](bench, Path(folder), played)
        written = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    return {**times, "peak": peak_megabytes(), "written": written / 2**20}


def compared(bench: Benchmark, about: str, arguments: Sequence[str], what: str, against: str) -> Measured:
    """A benchmark; `what` has gaps for the cases and the megabytes."""
    parser = argparse.ArgumentParser(prog=f"python -m {bench.module}", description=about.split("\n")[0])
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    works = {method: partial(apart, _measured, bench.module, method, options.cases) for method in METHODS}
    best = best_apart(works, options.rounds)
    columns = ("wall s", "of minimal", "CPU s", " of minimal", "peak MB", "MB on the disk")
    title = f"{options.cases:,} dialogues, {bench.calls} requests each, best of {options.rounds}"
    shown, ratio = table(title, "", *columns, right=columns), {}
    for method, found in best.items():
        wall, ratio[method] = (f"{found[name] / best['minimal'][name]:.3f}" for name in ("seconds", "processor"))
        cells = (f"{found['seconds']:.2f}", wall, f"{found['processor']:.2f}", ratio[method])
        shown.add_row(method, *cells, f"{found['peak']:.0f}", f"{found['written']:.0f}")
    output.print(shown)
    what = what.format(cases=f"{options.cases:,}", mb=f"{best['adapter']['peak']:.0f}")
    name = bench.module.rpartition(".")[2]
    return Measured([Row(name, what, against, f"{ratio['adapter']}× its CPU time; `--bare` {ratio['bare']}×")])
