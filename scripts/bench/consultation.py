"""What playing dialogues costs: through the adapter, through a minimal inspect_ai task, and without a framework.

    python -m scripts.bench.consultation

Every method plays the same 300 consultations of 28 utterances, with two requests of the assessor each, by agents that
answer at once. `minimal` is the least that a task of inspect_ai can do for them: it sends the same requests, made
beforehand, one after the other, keeps nothing and scores with a constant. `adapter` is `bedside run`: it builds the
requests, checks what is said, and commits every answer before it is used. `scripted` is the adapter with agents that
bypass models; `replay` is the adapter once more on answers that are all stored; `bare` is `--bare`. Times are seconds
without start-up, on the wall and of the processor, the best of `--rounds` rounds; each round runs every method in turn,
each in a process of its own. Memory is the peak of that process, imports included.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from baselines.consultation.game import consultation_game
from baselines.consultation.prompts import read_prompts
from baselines.consultation.record import ITEMS, Case, Consultation
from baselines.consultation.settings import ROLES
from baselines.dialogue.playing import Player, Scripted
from baselines.dialogue.run import play_run
from loaders.chat import Answer, Message, inspect_message, of_inspect
from loaders.errors import InputError
from loaders.threemdbench import DIAGNOSES, PERSONALITIES

GAME = consultation_game("dialogue+image", read_prompts())
CONCURRENCY = 16
CALLS = 30  # 28 utterances, extraction, assessment
_SAID = {
    "patient": "It began about {n} days ago on my left arm, and it itches most at night; nothing I tried has helped.",
    "doctor": "Did you change any soap, food or drug in the {n} weeks before it began, and has it spread since then?",
}
_VERDICT = json.dumps({item: (1 if item != "4.1" else "satisfactory") for item in ITEMS})


Times = dict[str, float]
"""Wall seconds, and seconds of the processor: on a busy machine only the latter can be compared."""


def _clock() -> Times:
    return {"seconds": time.perf_counter(), "processor": time.process_time()}


def _since(started: Times) -> Times:
    return {name: now - started[name] for name, now in _clock().items()}


def reply(role: str, number: int, wants_json: bool) -> str:
    """A text of usual length, another for every number."""
    if role == "assessor":
        return _VERDICT if wants_json else "eczema"
    return _SAID[role].format(n=number)


def cases(number: int) -> list[Case]:
    """Cases with photos of 400 x 300 pixels, about 35 kB each."""
    draw = np.random.default_rng(0)
    made = []
    for at in range(number):
        pixels = np.kron(draw.integers(0, 255, (30, 40, 3), np.uint8), np.ones((10, 10, 1), np.uint8))
        photo = io.BytesIO()
        Image.fromarray(pixels).save(photo, "JPEG", quality=75)
        diagnosis = DIAGNOSES[at % len(DIAGNOSES)]
        made.append(
            Case(
                case_id=f"case-{at:04}",
                image=photo.getvalue(),
                diagnosis=diagnosis.name,
                domain=diagnosis.domain,
                basic="You have red spots on your arm.",
                additional=("The spots itch at night.", "They began last week.", "You have no fever."),
                temperament=list(PERSONALITIES)[at % len(PERSONALITIES)],
            )
        )
    return made


def scripted() -> dict[str, Player]:
    """Agents that answer at once."""

    def agent(role: str) -> Scripted:
        return Scripted(
            f"scripted/{role}",
            lambda case: lambda messages: reply(role, len(messages), role == "assessor" and _asks_verdict(messages)),
        )

    return {role: agent(role) for role in ROLES}


def _asks_verdict(messages: Sequence[Message]) -> bool:
    return any('"4.1"' in message.text for message in messages)


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
            text = reply(self.model_name, len(input), config.response_schema is not None)
            return ModelOutput(
                model=self.model_name,
                choices=[ChatCompletionChoice(message=ChatMessageAssistant(content=text))],
                usage=ModelUsage(input_tokens=900, output_tokens=30, total_tokens=930),
            )

    return {role: get_model(f"instant/{role}", memoize=False) for role in ROLES}


def requests(case: Case) -> list[tuple[str, list[Message], dict[str, Any]]]:
    """What the game sends, request by request: role, messages, settings."""
    sent = []

    async def ask(role: str, messages: Sequence[Message], **settings: Any) -> Answer:
        sent.append((role, list(messages), settings))
        return Answer(reply(role, len(messages), settings.get("json_schema") is not None), None, None, "stop")

    async def play() -> Consultation:
        return await GAME.play(case, ask)

    played = asyncio.run(play())
    if len(sent) != CALLS or played.utterances != CALLS - 2:
        raise InputError("bench", found=f"{len(sent)} requests, {played.utterances} utterances", expected=f"{CALLS}")
    return sent


def minimal(folder: Path, played: Sequence[Case]) -> Times:
    """The requests of the game, sent by the shortest task that can be written."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig, ResponseSchema, get_model
    from inspect_ai.scorer import Score, mean, scorer
    from inspect_ai.solver import solver
    from inspect_ai.util import JSONSchema

    ready: dict[str, list[tuple[str, list[Any], Any]]] = {}
    for case in played:
        shared: dict[Message, Any] = {}  # a task appends to a list: each message is one object
        ready[case.case_id] = []
        for role, messages, settings in requests(case):
            wanted = settings.get("json_schema")
            config = GenerateConfig(
                temperature=settings["temperature"],
                max_tokens=settings["max_tokens"],
                response_schema=ResponseSchema(name="answer", json_schema=JSONSchema.model_validate(wanted))
                if wanted
                else None,
            )
            for message in messages:
                if message not in shared:
                    shared[message] = inspect_message(message)
            ready[case.case_id].append((role, [shared[message] for message in messages], config))

    @solver(name="minimal")  # type: ignore[untyped-decorator]
    def dialogue() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            models = {role: get_model(role=role, required=True) for role in ROLES}
            for role, messages, config in ready[str(state.sample_id)]:
                output = await models[role].generate(messages, config=config)
                if role == "doctor":
                    state.messages = [*messages, output.message]
            return state

        return solve

    @scorer(name="minimal", metrics=[mean()])  # type: ignore[untyped-decorator]
    def constant() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return Score(value=1)

        return score

    samples = []
    for case in played:
        assert isinstance(case.image, bytes)
        photo = f"data:image/jpeg;base64,{base64.b64encode(case.image).decode()}"
        shown = ChatMessageUser(content=[ContentText(text="a photo"), ContentImage(image=photo)])
        samples.append(Sample(id=case.case_id, input=[shown]))
    models = instant()
    started = _clock()
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
    return _since(started)


def _adapter(folder: Path, played: Sequence[Case]) -> Times:
    players = {role: of_inspect(model) for role, model in instant().items()}
    return _play(folder, played, players, bare=False)


def _replay(folder: Path, played: Sequence[Case]) -> Times:
    _adapter(folder, played)
    return _adapter(folder, played)


def _play(folder: Path, played: Sequence[Case], players: dict[str, Any], *, bare: bool) -> Times:
    started = _clock()
    run = play_run(GAME, played, players, folder, bare=bare, concurrency=CONCURRENCY)
    times = _since(started)
    requested = sum(spent.requests for spent in run.spent.values())
    if run.failure or requested != CALLS * len(played):
        raise InputError("bench", found=f"{run.failure}, {requested} requests", expected=str(CALLS * len(played)))
    return times


METHODS: dict[str, Callable[[Path, Sequence[Case]], Times]] = {
    "minimal": minimal,
    "adapter": _adapter,
    "scripted": lambda folder, played: _play(folder, played, scripted(), bare=False),
    "replay": _replay,
    "bare": lambda folder, played: _play(folder, played, scripted(), bare=True),
}


def child(method: str, number: int) -> dict[str, float]:
    """Seconds, megabytes, and megabytes left on the disk."""
    played = cases(number)
    with tempfile.TemporaryDirectory() as folder:
        times = METHODS[method](Path(folder), played)
        written = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {**times, "peak": peak / 2**20, "written": written / 2**20}


def measure(method: str, number: int) -> dict[str, float]:
    """`child` in a process of its own."""
    arguments = [sys.executable, "-m", "scripts.bench.consultation", "--child", method, "--cases", str(number)]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    if done.returncode:
        raise InputError(method, found=(done.stderr.strip().splitlines() or ["?"])[-1], expected="a run")
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.bench.consultation", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--child", choices=METHODS, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        print(json.dumps(child(options.child, options.cases)))
        return 0
    best: dict[str, dict[str, float]] = {}
    for _ in range(options.rounds):
        for method in options.methods:
            found = measure(method, options.cases)
            if method in best:
                found["peak"] = max(found["peak"], best[method]["peak"])
                for clock in ("seconds", "processor"):
                    found[clock] = min(found[clock], best[method][clock])
            best[method] = found
    print(f"{options.cases:,} dialogues, {CALLS} requests each, best of {options.rounds}")
    for method, found in best.items():
        ratios = "   ".join(
            f"{found[clock] / best['minimal'][clock]:6.3f} x minimal ({what})"
            for clock, what in (("seconds", "wall"), ("processor", "processor"))
            if "minimal" in best
        )
        print(
            f"  {method:<9} {found['seconds']:7.2f} s   processor {found['processor']:7.2f} s   {ratios}   "
            f"{found['peak']:4.0f} MB   {found['written']:4.0f} MB on the disk"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
