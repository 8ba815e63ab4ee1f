"""What a simulated dialogue is: a case, roles that can be asked, and a record of what happened.

    consultation, confirmation, intervention      pure Python: a `Game`
        |  ask(role, messages, ...)
    baselines.dialogue.playing | .evaluation      who answers: scripted agents, chat models, stored answers

A game knows nothing of models, frameworks, caches or files. It gets a case and a way to ask each role, and returns a
record (`loaders.files.records`); played again with the same answers it returns the same record. This is what lets a
killed run go on in the middle of a dialogue: the game is played anew, and answers already paid for are replayed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, Unpack

from loaders.errors import ModelError
from loaders.models.messages import Answer, Decoding, Message

Case = TypeVar("Case")
Record = TypeVar("Record")


class Ask(Protocol):
    """Asks one role of the game for its next words."""

    async def __call__(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        attempt: int = 0,
        **decoding: Unpack[Decoding],
    ) -> Answer:
        """The role's answer to these messages; `attempt` tells a repetition of the same request from the first.

        Raises ModelError when the model cannot be reached or refuses, which ends the case and not the run.
        """


@dataclass(frozen=True)
class Game(Generic[Case, Record]):
    """The rules of a dialogue, for any case.

    `settings` is JSON: everything besides case, models and decoding that changes what is played, digests of prompts
    included. `decoding` is how each role's words are drawn, unless a request says otherwise.
    `play` returns a record for any answers, garbage included, and raises only what `ask` raises. `invalid` is the
    reason why a record cannot be scored (an assessor that never gave a verdict), or None; `scores` are the numbers of
    one case that a log viewer shows. `transcript` is the dialogue as a reader of a log sees it, image first.
    `secrets` are the texts that a case hides, and `public` is a record without the fields that hold them.
    """

    name: str
    roles: tuple[str, ...]
    case_id: Callable[[Case], str]
    play: Callable[[Case, Ask], Awaitable[Record]]
    transcript: Callable[[Case, Record], Sequence[Message]]
    scores: Callable[[Record], Mapping[str, float]]
    invalid: Callable[[Record], str | None]
    settings: Mapping[str, Any] = field(default_factory=dict)
    decoding: Mapping[str, Decoding] = field(default_factory=dict)
    secrets: Callable[[Case], Sequence[str]] = lambda case: ()
    public: Callable[[Record], Record] = lambda record: record


Script = Callable[[Sequence[Message]], str]
"""A scripted agent in one case: a function of the messages that a model would be sent."""

ScriptedAgent = Callable[[Any], Script]
"""A scripted agent: given the case, its script. Only agents that stand for the patient's or the judge's side may look
at more of the case than the messages show; a doctor or clinician that does (the oracle) says so in its name."""


def agent_named(by_role: Mapping[str, Mapping[str, ScriptedAgent]], role: str, name: str) -> ScriptedAgent:
    """The agent `scripted/<name>` of role -> name -> agent. Raises ModelError for a name that cannot play the role."""
    agents = by_role[role]
    if name not in agents:
        found = f"is no {role}" if any(name in others for others in by_role.values()) else "is not a scripted agent"
        known = "one of " + ", ".join(f"scripted/{known}" for known in agents) if agents else "a model"
        raise ModelError(f"scripted/{name}", found=found, expected=known)
    return agents[name]
