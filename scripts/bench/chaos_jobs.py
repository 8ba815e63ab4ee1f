"""What `scripts.bench.chaos` disturbs: real commands, each in a process of its own, and the server that they ask."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from scripts import cli
from scripts.bench.apart import command_line, processes, stat_of
from scripts.bench.scale import write_captions
from scripts.terminal import stopping
from tests.parts.chat_server import Body, ChatServer, Fault, Reply, Request, completion
from tests.parts.pictures import drawn, jpeg
from tests.parts.places import ROOT
from tests.parts.thread_reader import careful

KEY = "LOCAL_API_KEY"
"""An attempt is known to the server by its key."""


@dataclass(frozen=True)
class Place:
    """What a command is given: inputs made once, a folder of its own, the addresses of the servers."""

    inputs: Path
    folder: Path
    chat: str
    repo: str

    @property
    def out(self) -> Path:
        return self.folder / "out"


@dataclass(frozen=True)
class Job:
    """A command with gaps for its `Place`, the processes that it starts besides its own, and where it leaves what
    counts: out, or the Hub."""

    name: str
    command: str
    workers: int = 1
    kept: str = "out"

    def words(self, place: Place) -> list[str]:
        """The command, for its place."""
        return [word.format(place=place) for word in self.command.split()]


def _served(*models: str) -> str:
    """The options for these models, by the roles of their names, on the server."""
    return " ".join([*(f"--{name} openai-api/local/{name}" for name in models), "--base-url {place.chat}"])


_CONSULT = f"{{place.inputs}}/photos -o {{place.out}} --resamples 10 {_served('doctor', 'patient', 'assessor')}"
_COUNSEL = f"{{place.inputs}}/patients -o {{place.out}} {_served('clinician', 'patient', 'evaluator', 'judge')}"
_BUILD = "--out {place.out} --workers 1 --concurrency 4 --base-url {place.chat} --model openai-api/local/"
_BY_RULES = "--out {place.out} --workers 2"
_CAPTIONING = "{place.inputs}/captions -o {place.out} --base-url {place.chat} --model openai-api/local/vision"
JOBS = (
    Job("build medlaybench-v, a model refines", f"build medlaybench-v --captions sample --limit 12 {_BUILD}lay"),
    Job("build 3mdbench, a model complains", f"build 3mdbench --source sample --limit 14 --splits test {_BUILD}vision"),
    Job("build medconceal, a model reads", f"build medconceal --source sample-threads {_BUILD}threads"),
    Job("build medlaybench-v by rules, 2 processes",
        f"build medlaybench-v --captions {{place.inputs}}/captions.csv {_BY_RULES}", workers=2),
    Job("build medconceal, composed", f"build medconceal --synthetic 1300 {_BY_RULES}"),  # no step for workers
    Job("run captioning", f"run captioning {_CAPTIONING} --pairs 12 --split train --concurrency 3"),
    Job("run consultation", f"run consultation {_CONSULT} --concurrency 3 --limit 3"),
    Job("run consultation --bare", f"run consultation {_CONSULT} --concurrency 3 --limit 4 --bare"),
    Job("run confirmation", f"run confirmation {_COUNSEL} --concurrency 3 --limit 3"),
    Job("run intervention --bare", f"run intervention {_COUNSEL} --concurrency 3 --limit 3 --bare"),
    Job("curate", "curate {place.inputs}/pictures -o {place.out} --workers 2"),
    Job("publish", "publish {place.inputs}/captions {place.repo} --tag v1.0.0", kept="hub"),
)  # fmt: skip


def prepare(inputs: Path) -> None:
    """Releases to play on and publish, a table that fills several batches, pictures to curate."""
    (inputs / "pictures").mkdir(parents=True)
    for number in range(40):
        (inputs / "pictures" / f"p{number}.jpg").write_bytes(jpeg(drawn(number % 30, (160, 120))))
    write_captions(inputs / "captions.csv", 560)  # a batch holds 512
    lines = (
        ("medlaybench-v", "--captions", "sample", "--limit", 24, "--out", inputs / "captions"),
        ("3mdbench", "--source", "sample", "--limit", 14, "--splits", "test", "--out", inputs / "photos"),
        ("medconceal", "--source", "sample", "--out", inputs / "patients"),
    )
    for line in lines:
        done = Attempt(["build", *line, "--workers", 1], inputs / "told.txt", {}).ended()
        if done:
            raise SystemExit(f"{line}: exit code {done}")


# --- What answers -----------------------------------------------------------------------------------------------------


@dataclass
class Asked:
    """One request: by which attempt, when, and when it was answered."""

    digest: str
    attempt: str
    at: float
    answered: float | None = None


class SlowServer(ChatServer):
    """Answers each request in its own time, the same answer each time, and notes who asked and what was answered."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Asked] = []

    def receive(self, request: Request) -> Fault | Reply:
        plain = json.dumps(request.body, sort_keys=True)
        asked = Asked(hashlib.sha256(plain.encode()).hexdigest(), request.headers["authorization"], time.monotonic())
        with self.lock:
            self.asked.append(asked)
        draw = random.Random(asked.digest)
        text = _said(request.body, draw)

        def answer(handler: Any) -> None:
            time.sleep(draw.uniform(0.02, 0.1))
            handler.answer(200, json.dumps(completion(request.body, Reply(text))))
            asked.answered = time.monotonic()

        return answer


def _said(body: Body, draw: random.Random) -> str:
    """The answer to a request: the same for the same body."""
    if body["model"] == "threads":
        return careful(body)
    wanted = body.get("response_format", {}).get("json_schema", {}).get("schema")
    return json.dumps(_made(wanted, draw)) if wanted else draw.choice(_SAID)


_SAID = (
    "When did it begin, and does anything make it worse?",
    "It began about four days ago and it itches at night.",
    "That must be hard for you. What worries you most about it?",
    "I worry that it will not go away. I have not told my family.",
    "Please keep the skin clean and come back in a week.",
    "The picture shows the chest; the lungs are clear.",
)
_FACTS = (
    "Your skin feels warm to the touch there.",
    "You saw the first of them four days ago.",
    "Your discomfort is mild.",
    "You sleep well.",
    "You take no medicines.",
)


def _made(schema: Mapping[str, Any], draw: random.Random) -> Any:
    """A value that fits the schema; what it says is of no matter, as long as it is the same each time."""
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if "anyOf" in schema:
        return _made(schema["anyOf"][0], draw)
    match schema.get("type"):
        case "object":
            return {name: _made(part, draw) for name, part in schema.get("properties", {}).items()}
        case "array":
            least = max(1, int(schema.get("minItems", 1)))
            made = [_made(schema.get("items", {"type": "string"}), draw) for _ in range(least)]
            return list(_FACTS) if made and isinstance(made[0], str) and "enum" not in schema["items"] else made
        case "integer" | "number":
            return draw.randint(int(schema.get("minimum", 0)), int(schema.get("maximum", 1)))
        case "boolean":
            return draw.random() < 0.5
        case _:
            return draw.choice(_SAID)


# --- What is killed ---------------------------------------------------------------------------------------------------


class Attempt:
    """A command under way, the leader of a session of its own.

    A cold one is `python -m scripts …` from its first byte; the others are forked off a server that has imported what
    commands import and has done nothing else, and begin with `scripts.cli.main`.
    """

    def __init__(
        self, words: Sequence[object], told: Path, variables: Mapping[str, str], *, cold: bool = False, drift: float = 0
    ) -> None:
        self.told = told
        arguments = [str(word) for word in words]
        self._process: Any
        if cold:
            environment = {**os.environ, **variables}
            with self.told.open("wb") as printed:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "scripts", *arguments], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                    stdout=printed, stderr=subprocess.STDOUT, start_new_session=True,
                )  # fmt: skip
        else:
            context = get_context("forkserver")
            self._process = context.Process(target=_forked, args=(arguments, str(self.told), dict(variables), drift))
            told.unlink(missing_ok=True)
            self._process.start()
            while not told.exists() and self._process.is_alive():
                time.sleep(0.002)
        self.pid = int(self._process.pid)

    def ended(self, within: float | None = None) -> int | None:
        """The exit code, negative for a signal; None where it still runs after so many seconds."""
        if isinstance(self._process, subprocess.Popen):
            with suppress(subprocess.TimeoutExpired):
                return self._process.wait(within)
            return None
        self._process.join(within)
        code: int | None = self._process.exitcode
        return code

    def send(self, sign: signal.Signals, *, whole: bool) -> None:
        """The signal to the process, or to all of its session."""
        with suppress(ProcessLookupError):
            try:
                (os.killpg if whole else os.kill)(self.pid, sign)
            except ProcessLookupError:  # not yet the leader of a session
                os.kill(self.pid, sign)

    def others(self) -> list[int]:
        """The live processes of the session besides its leader."""
        return [pid for pid in processes() if pid != self.pid and stat_of(pid)[3:4] == [str(self.pid)]]

    def workers(self) -> list[int]:
        """The processes among `others` that work; Python's own, which tracks what they share, does not."""
        return [pid for pid in sorted(self.others()) if b"spawn_main" in command_line(pid)]

    def said(self) -> str:
        return self.told.read_text(encoding="utf-8", errors="replace")


def _forked(arguments: list[str], told: str, variables: dict[str, str], drift: float) -> None:
    os.setsid()
    os.chdir(ROOT)
    os.environ.update(variables)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stopping.end_as_by_ctrl_c()
    number = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for stream in (1, 2):
        os.dup2(number, stream)
    # What workers of this process import first, as if it were cold.
    sys.modules["__main__"].__spec__ = importlib.util.find_spec("scripts.__main__")
    if drift:
        real, began = time.time, time.monotonic()
        time.time = lambda: real() + (drift if time.monotonic() - began > 0.5 else 0)
    cli.main(arguments)


# --- What it left -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Left:
    """What a finished command left: digests of its files by name, and rows."""

    digests: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0

    def differing(self, other: Left) -> list[str]:
        names = sorted({*self.digests, *other.digests})
        return [name for name in names if self.digests.get(name) != other.digests.get(name)]


_OF_THIS_TIME = ("run_id", "wall_seconds", "command", "created", "code")


def left_by(out: Path) -> Left:
    """All but what is private, and what says when and where it was."""
    digests, rows = {}, 0
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if not path.is_file() or name.startswith("private/") or name.endswith(".sqlite"):
            continue
        data = path.read_bytes()
        if path.suffix == ".parquet":
            rows += int(pq.read_metadata(path).num_rows)
        if path.suffix == ".jsonl":
            rows += data.count(b"\n")
        if name in ("run.json", "manifest.json"):
            record = json.loads(data)
            data = json.dumps({key: value for key, value in record.items() if key not in _OF_THIS_TIME}).encode()
        digests[name] = hashlib.sha256(data).hexdigest()
    return Left(digests, rows)
