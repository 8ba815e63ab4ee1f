"""What playing the reserved patient costs: through the adapter, through a minimal inspect_ai task, and without either.

    python -m scripts.bench.concealment

Every method plays the same 300 synthetic cases for 20 turns of confirmation with clinician, patient, evaluator, the
decisions to go on and the findings: 76 requests a case, to agents that answer at once. `minimal` is the least that a
task of inspect_ai can do for them: it sends the same requests, made beforehand, one after the other, keeps nothing and
scores with a constant. `adapter` is `bedside run`: it builds the requests, moves the patient's state, checks for leaks,
and commits every answer before it is used. `bare` is `--bare`. Times are seconds without start-up, on the wall and of
the processor, the best of `--rounds` rounds; each round runs every method in turn, each in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from baselines.concealment.clinician import DECIDE, SUBMIT
from baselines.concealment.game import confirmation_game
from baselines.concealment.rubric import INTENTS
from baselines.dialogue.playing import Scripted
from baselines.dialogue.run import play_run
from builders.samples.medconceal.compose import composed
from loaders.chat import Answer, Message, inspect_message, of_inspect
from loaders.errors import InputError
from loaders.medconceal import PatientProfile

GAME = confirmation_game(turns=20)
CONCURRENCY = 16
CALLS = 20 + 20 + 20 + 15 + 1  # turns, ratings, replies, decisions, findings
_TURN = "I understand that part {n} of this is hard for you. What worries you most when you think about the treatment?"
_REPLY = "I do not know, doctor. It is number {n} of the things that I would rather not think about for now."
_RATING = json.dumps(
    {
        "intent": "open_elicitation",
        "intent_probabilities": {name: float(name == "open_elicitation") for name in INTENTS},
        "pending_covered": False,
        "empathy": 0.5,
        "features": {"DG": 0.25, "ER": 0.75, "PA": 0, "CE": 1, "SP": 1, "NS": 0, "CM": 0, "PS": 0, "PQC": 0.5, "MR": 0},
    }
)


Times = dict[str, float]
"""Wall seconds, and seconds of the processor: on a busy machine only the latter can be compared."""


def clock() -> Times:
    return {"seconds": time.perf_counter(), "processor": time.process_time()}


def since(started: Times) -> Times:
    return {name: now - started[name] for name, now in clock().items()}


def reply(role: str, request: str, number: int) -> str:
    """A text of usual length, another for every number of messages."""
    if role == "evaluator":
        return _RATING
    if request.endswith(DECIDE):
        return "CONTINUE"
    if request.endswith(SUBMIT):
        return '{"findings": []}'
    return (_REPLY if role == "patient" else _TURN).format(n=number)


def instant() -> dict[str, Any]:
    """Models of inspect_ai that answer at once."""
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
            text = reply(self.model_name, input[-1].text, len(input))
            return ModelOutput(
                model=self.model_name,
                choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=text))],
                usage=ModelUsage(input_tokens=900, output_tokens=30, total_tokens=930),
            )

    return {role: get_model(f"instant/{role}", memoize=False) for role in GAME.roles}


def requests(profile: PatientProfile) -> list[tuple[str, list[Message], dict[str, Any]]]:
    """What the game sends, request by request: role, messages, settings."""
    sent = []

    async def ask(role: str, messages: Sequence[Message], **settings: Any) -> Answer:
        sent.append((role, list(messages), settings))
        return Answer(reply(role, messages[-1].text, len(messages)), None, None, "stop")

    async def play() -> None:
        await GAME.play(profile, ask)

    asyncio.run(play())
    if len(sent) != CALLS:
        raise InputError("bench", found=f"{len(sent)} requests", expected=f"{CALLS}")
    return sent


def _minimal(folder: Path, played: Sequence[PatientProfile]) -> Times:
    """The requests of the game, sent by the shortest task that can be written."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, ResponseSchema, get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import solver
    from inspect_ai.util import JSONSchema

    ready: dict[str, list[tuple[str, list[Any], Any]]] = {}
    for profile in played:
        shared: dict[Message, Any] = {}  # a task appends to a list: each message is one object
        ready[profile.case_id] = []
        for role, messages, settings in requests(profile):
            wanted = settings.get("json_schema")
            schema = JSONSchema.model_validate(wanted) if wanted else None
            config = GenerateConfig(
                temperature=settings["temperature"],
                max_tokens=settings["max_tokens"],
                response_schema=ResponseSchema(name="answer", json_schema=schema) if schema else None,
            )
            for message in messages:
                if message not in shared:
                    shared[message] = inspect_message(message)
            ready[profile.case_id].append((role, [shared[message] for message in messages], config))

    @solver(name="minimal")  # type: ignore[untyped-decorator]
    def dialogue() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            models = {role: get_model(role=role, required=True) for role in GAME.roles}
            for role, messages, config in ready[str(state.sample_id)]:
                output = await models[role].generate(messages, config=config)
                if role == "clinician":
                    state.messages = [*messages, output.message]
            return state

        return solve

    @scorer(name="minimal", metrics=[mean()])  # type: ignore[untyped-decorator]
    def constant() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return Score(value=1)

        return score

    samples = [Sample(id=profile.case_id, input="a chart") for profile in played]
    models = instant()
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


def _adapter(folder: Path, played: Sequence[PatientProfile]) -> Times:
    return _play(folder, played, {role: of_inspect(model) for role, model in instant().items()}, bare=False)


def _bare(folder: Path, played: Sequence[PatientProfile]) -> Times:
    def agent(role: str) -> Scripted:
        return Scripted(f"scripted/{role}", lambda case: lambda sent: reply(role, sent[-1].text, len(sent)))

    return _play(folder, played, {role: agent(role) for role in GAME.roles}, bare=True)


def _play(folder: Path, played: Sequence[PatientProfile], players: dict[str, Any], *, bare: bool) -> Times:
    started = clock()
    run = play_run(GAME, played, players, folder, bare=bare, concurrency=CONCURRENCY)
    times = since(started)
    requested = sum(spent.requests for spent in run.spent.values())
    if run.failure or requested != CALLS * len(played):
        raise InputError("bench", found=f"{run.failure}, {requested} requests", expected=str(CALLS * len(played)))
    return times


METHODS: dict[str, Callable[[Path, Sequence[PatientProfile]], Times]] = {
    "minimal": _minimal,
    "adapter": _adapter,
    "bare": _bare,
}


def measure(method: str, number: int) -> Times:
    """A method in a process of its own."""
    arguments = [sys.executable, "-m", "scripts.bench.concealment", "--child", method, "--cases", str(number)]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    if done.returncode:
        raise InputError(method, found=(done.stderr.strip().splitlines() or ["?"])[-1], expected="a run")
    answer: Times = json.loads(done.stdout.splitlines()[-1])
    return answer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bench.concealment", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--child", choices=METHODS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(METHODS[options.child](Path(folder), composed(options.cases))))
        return 0
    rounds = [{method: measure(method, options.cases) for method in METHODS} for _ in range(options.rounds)]
    print(f"{options.cases:,} cases, {CALLS} requests each, best of {options.rounds}")
    best = {
        method: {name: min(found[method][name] for found in rounds) for name in ("seconds", "processor")}
        for method in METHODS
    }
    for method, found in best.items():
        ratios = "   ".join(
            f"{found[name] / best['minimal'][name]:6.3f} x minimal ({what})"
            for name, what in (("seconds", "wall"), ("processor", "processor"))
        )
        print(f"  {method:<9} {found['seconds']:7.2f} s   processor {found['processor']:7.2f} s   {ratios}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
