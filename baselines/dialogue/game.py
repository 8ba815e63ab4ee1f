"""A simulated dialogue: a case, roles that can be asked, and a record of what happened.

    consultation, confirmation, captioning …      pure Python: a `Game`
        |  ask(role, messages, ...)
    baselines.dialogue.playing | .evaluation      who answers: scripted agents, chat models, stored answers

A game knows nothing of models, frameworks, caches or files. It takes a case and a function that asks each role, and
returns a record (`loaders.files.records`); replayed with the same answers, it returns the same record. This is how a
killed run resumes in the middle of a dialogue: the game is replayed from the start with the answers already paid for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar, Unpack, cast

from loaders.errors import ModelError
from loaders.files.bundled import grouped
from loaders.models.messages import Answer, Decoding, Message

Case = TypeVar("Case")
Record = TypeVar("Record")


class Asking(Decoding, total=False):
    """How a role is asked: how its answer is sampled, its schema (none: any text), and which attempt it is, from 0."""

    json_schema: Mapping[str, Any] | None
    attempt: int


def parted(how: Asking) -> tuple[Mapping[str, Any] | None, int, Decoding]:
    """The schema, the attempt, and how the answer is sampled, in a dictionary of its own."""
    drawn: dict[str, Any] = dict(how)
    return drawn.pop("json_schema", None), drawn.pop("attempt", 0), cast(Decoding, drawn)


class Ask(Protocol):
    """Ask one role of the game for its next message."""

    async def __call__(self, role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
        """The role's answer to these messages; `attempt` distinguishes a repetition of a request from the first one.

        Raises ModelError if the model cannot be reached or refuses, which ends the case but not the run.
        """


@dataclass(frozen=True)
class Game(Generic[Case, Record]):
    """The rules of a dialogue, for any case.

    `settings` is JSON: everything besides case, models and decoding that changes the dialogue, including digests of
    prompts. `decoding` is how each role's text is sampled, unless a request says otherwise. `play` returns a record for
    any answers, even garbage, and raises only what `ask` raises. `invalid` is the reason why a record cannot be scored
    (such as an assessor that never gave a verdict), or None; `scores` are the numbers of one case that a log viewer
    shows. `transcript` is the dialogue as shown in a log, image first. `secrets` are the texts that a case hides, and
    `public` is a record without the fields that hold them.
    """

    name: str
    roles: tuple[str, ...]
    case_id: Callable[[Case], str]
    play: Callable[[Case, Ask], Awaitable[Record]]
    transcript: Callable[[Case, Record], Sequence[Message]]
    scores: Callable[[Record], Mapping[str, float]]
    invalid: Callable[[Record], str | None] = lambda record: None
    settings: Mapping[str, Any] = field(default_factory=dict)
    decoding: Mapping[str, Decoding] = field(default_factory=dict)
    secrets: Callable[[Case], Sequence[str]] = lambda case: ()
    public: Callable[[Record], Record] = lambda record: record


Script = Callable[[Sequence[Message]], str]
"""A scripted agent in one case: a function of the messages that a model would be sent."""

ScriptedAgent = Callable[[Any], Script]
"""A scripted agent: given the case, its script. Only agents that stand for the patient's or the judge's side may look
at more of the case than the messages show; a doctor or clinician that does (the oracle) says so in its name."""


@dataclass(frozen=True)
class Drawing:
    """A scripted agent that draws what it says, by a seed: a run draws anew in every epoch, by 0, 1 and so on."""

    seeded: Callable[[int], ScriptedAgent]

    def __call__(self, case: Any) -> Script:
        """The script of the first epoch."""
        return self.seeded(0)(case)


def agent_named(by_role: Mapping[str, Mapping[str, ScriptedAgent]], role: str, name: str) -> ScriptedAgent:
    """The scripted agent `scripted/<name>` for a role. Raises ModelError for a name that cannot play the role."""
    agents = by_role[role]
    if name not in agents:
        # a name unknown here may be an agent of another command
        other = any(name in others for others in by_role.values())
        found = f"is no {role}" if other else f"is no scripted {role} of this command"
        known = "one of " + ", ".join(f"scripted/{known}" for known in agents) if agents else "a model"
        do = "Pass one of these, or the name of a model" if agents else ""
        raise ModelError(f"scripted/{name}", found=found, expected=known, do=do)
    return agents[name]


Changes = Mapping[str, Mapping[str, Any]]
"""Role -> fields of its `Decoding`; None for a field that is not to be sent."""


def with_decoding(game: Game[Case, Record], changes: Changes) -> Game[Case, Record]:
    """The game with these fields of its roles' decoding replaced, in its settings too.

    A request for which the game sets its own value on purpose, such as an assessor's second try at a higher
    temperature, keeps that value. A field that is not to be sent is sent by no request: the model would refuse it.
    """
    if not changes:
        return game

    async def play(case: Case, ask: Ask) -> Record:
        async def changed(role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
            usual: Mapping[str, Any] = game.decoding.get(role, {})
            drawn: dict[str, Any] = dict(how)
            for name, value in changes.get(role, {}).items():
                if value is None or drawn.get(name) == usual.get(name):
                    drawn[name] = value
            return await ask(role, messages, **cast(Asking, drawn))

        return await game.play(case, changed)

    replaced = {role: cast(Decoding, {**game.decoding.get(role, {}), **fields}) for role, fields in changes.items()}
    return replace(game, play=play, decoding={**game.decoding, **replaced})


def lines_of(package: str, name: str) -> dict[str, tuple[str, ...]]:
    """What scripted agents say, from a table (kind, line) beside their module: kind -> its lines, in order."""
    return {kind: tuple(row["line"] for row in rows) for kind, rows in grouped(package, name).items()}
