"""A small game for tests of the adapter: a guest describes a picture, a host guesses, a judge who knows marks it.

It has what the real ones have: an image, a case with something hidden, a dialogue of several turns, a judge that is
asked again when its answer cannot be read, and a record that may be invalid.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from baselines.dialogue.game import Ask, Game
from baselines.dialogue.playing import Player, Scripted
from loaders.models.chat import open_model
from loaders.models.messages import Message
from tests.parts.chat_server import ChatServer
from tests.parts.pictures import drawn, jpeg

ROLES = ("guest", "host", "judge")
SECRET = "Ornithorhynchus-{}"
"""The hidden answer of a case; no one but the judge is ever told."""


@dataclass(frozen=True)
class Puzzle:
    name: str
    picture: bytes
    secret: str
    said: str


@dataclass(frozen=True)
class Round:
    name: str
    turns: tuple[tuple[str, str], ...]
    mark: int | None
    attempts: int


def puzzles(number: int) -> list[Puzzle]:
    picture = jpeg(drawn(0, (80, 60)))
    return [Puzzle(f"case-{n:03}", picture, SECRET.format(n), f"I have {n} spots.") for n in range(number)]


def game(rounds: int = 3, prompt: str = "Guess what the guest has.") -> Game[Puzzle, Round]:
    """`rounds` answers of the host, each followed by one of the guest, then at most three tries of the judge."""

    async def play(puzzle: Puzzle, ask: Ask) -> Round:
        turns: list[tuple[str, str]] = []

        async def say(role: str, system: str, picture: tuple[bytes, ...] = ()) -> None:
            messages = [Message("system", system)]
            for speaker, text in turns:
                spoken = "assistant" if speaker == role else "user"
                shown = picture if spoken == "user" and len(messages) == 1 else ()
                messages.append(Message(spoken, text, shown))
            if messages[-1].role != "user":
                messages.append(Message("user", "Go on."))
            answer = await ask(role, messages, temperature=0.6, max_tokens=64)
            turns.append((role, answer.text))

        await say("guest", f"You are the guest. {puzzle.said}")
        for _ in range(rounds):
            await say("host", prompt, (puzzle.picture,) if puzzle.picture else ())
            await say("guest", f"You are the guest. {puzzle.said}")
        told = f'The truth is {puzzle.secret}. Mark as {{"mark": 0 or 1}}.\n' + "\n".join(
            f"{role}: {text}" for role, text in turns if role == "host"
        )
        for attempt in range(3):
            answer = await ask("judge", [Message("user", told)], temperature=0.0, max_tokens=64, attempt=attempt)
            mark = _mark(answer.text)
            if mark is not None:
                return Round(puzzle.name, tuple(turns), mark, attempt + 1)
        return Round(puzzle.name, tuple(turns), None, 3)

    def transcript(puzzle: Puzzle, record: Round) -> Sequence[Message]:
        said = [Message("user" if role == "guest" else "assistant", text) for role, text in record.turns]
        return [replace(said[0], images=(puzzle.picture,)), *said[1:]] if puzzle.picture else said

    return Game(
        name="puzzle",
        roles=ROLES,
        case_id=lambda puzzle: puzzle.name,
        play=play,
        transcript=transcript,
        scores=lambda record: (
            {"turns": float(len(record.turns))} | ({} if record.mark is None else {"mark": record.mark})
        ),
        invalid=lambda record: "the judge gave no mark in 3 tries" if record.mark is None else None,
        settings={"rounds": rounds, "prompts": {"host": prompt}},
    )


def _mark(text: str) -> int | None:
    try:
        mark = json.loads(text)["mark"]
    except (ValueError, TypeError, KeyError):
        return None
    return mark if mark in (0, 1) else None


async def no_sleep(seconds: float) -> None:
    """Retries without waiting."""


def models(server: ChatServer, *, max_retries: int = 2) -> dict[str, Player]:
    """A model of the local server in every role."""
    return {
        role: open_model(f"openai-api/local/{role}", base_url=server.base_url, max_retries=max_retries, sleep=no_sleep)
        for role in ROLES
    }


def scripted() -> dict[str, Scripted]:
    """A guest that repeats its case, a host that counts its messages, a judge that likes even numbers."""
    return {
        "guest": Scripted("scripted/guest", lambda puzzle: lambda messages: puzzle.said),
        "host": Scripted("scripted/host", lambda puzzle: lambda messages: f"Is it the {len(messages)}th thing?"),
        "judge": Scripted(
            "scripted/judge", lambda puzzle: lambda messages: json.dumps({"mark": int(puzzle.name[-1]) % 2})
        ),
    }


@dataclass
class Crowd:
    """Answers of a chat server for all roles, told apart by the model's name:
    the same question gives the same answer."""

    seen: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, body: dict[str, Any]) -> str:
        text = json.dumps(body["messages"])
        self.seen.append((body["model"], text))
        if body["model"] == "judge":
            return '{"mark": 1}'
        return f"{body['model']} says {sum(map(ord, text)) % 9973} after {len(body['messages'])} messages."
