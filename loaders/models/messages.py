"""A message to a chat model, its answer, and the interface of every chat model: the types that all callers share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, Protocol, TypedDict, Unpack

from loaders.errors import InputError
from loaders.files.kinds import picture_format
from loaders.files.opening import read_file

REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The name of the current request, kept when the request is sent again; "" for none.

It is sent as `Idempotency-Key`: a provider that honours it answers a request of that name once, and charges once.
Whoever keeps the names sets it, and resets it when the answer arrives.
"""


PATIENCE: ContextVar[float] = ContextVar("patience", default=300.0)
"""Seconds that a request waits for a busy server that does not say for how long: none where others can answer."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. Images are files or the bytes of files (PNG, JPEG, GIF, WebP)."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[Path | bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.role not in ("system", "user", "assistant"):
            raise ValueError(f"unknown role {self.role!r}")
        if self.images and self.role != "user":
            raise ValueError(f"a {self.role} message cannot hold images")


class Decoding(TypedDict):
    """How an answer is sampled. What is None or left out is not sent, so the provider's own default holds.

    `max_tokens` is the length of the answer; a reasoning model's thoughts have room of their own (`chat.THOUGHTS`).
    `seed` is no guarantee: providers without one do not get it.
    """

    temperature: float | None
    max_tokens: int
    top_p: NotRequired[float | None]
    reasoning_effort: NotRequired[str | None]
    seed: NotRequired[int | None]


EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The values of `reasoning_effort`, for models that accept it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said.

    `stop` is the reason why the text ends: stop, max_tokens, content_filter (refused, by the provider's filter or in a
    field for that), model_length (the prompt does not fit the model), or unknown. Token counts are None if the provider
    gives none.
    `thought` is what a reasoning model thought before, if the provider separates it: "" if it only says that the model
    did, None if it says nothing. Thoughts inside the text are still in the text.
    `served` is the model that the server says it asked (a dated one behind an alias); None if it says none. `refused`
    names the parts of the request that were left out, or changed, since the server refuses them; None for none.
    """

    text: str
    input_tokens: int | None
    output_tokens: int | None
    stop: str
    thought: str | None = None
    served: str | None = None
    refused: str | None = None

    @property
    def turned_away(self) -> bool:
        """Whether the provider turned the request away, too long or unwanted, so that no model was asked."""
        return self.stop in ("model_length", "content_filter") and not self.text and self.input_tokens is None


class Payer(Protocol):
    """Who pays for a request that a model sends more than once, or makes longer than its caller asked."""

    async def allow(self, max_tokens: int) -> None:
        """Sets aside what the next try may cost, in place of what was. Raises an error if too little is left."""

    def pay(self, answer: Answer, /) -> None:
        """Counts an answer, once, whether the model will return it or not."""


PAYER: ContextVar[Payer | None] = ContextVar("payer", default=None)
"""Who pays for the request that a model is asked for."""


class ChatModel(ABC):
    """A chat model; `stand_in` is True if no model is behind it and its answers are no results."""

    name: str
    stand_in: bool

    @property
    @abstractmethod
    def identity(self) -> dict[str, str]:
        """What a run record needs: name, provider, base_url (without credentials), client (library and version)."""

    @property
    def record(self) -> dict[str, str]:
        """Its identity for a release: without the address, which only concerns this machine."""
        return {name: text for name, text in self.identity.items() if name != "base_url"}

    @property
    def answers_as(self) -> str:
        """The name under which its answers are stored: no other model may have the same."""
        return self.identity["name"]

    @abstractmethod
    async def ask(
        self, messages: Sequence[Message], *, json_schema: Mapping[str, Any] | None = None, **decoding: Unpack[Decoding]
    ) -> Answer:
        """The model's next turn.

        `json_schema` (a JSON Schema of the wanted answer) is passed to providers that accept it; it is no guarantee, so
        callers check what comes back.

        Raises ModelError if the model cannot be reached or refuses the request (ModelRefused if it would refuse any
        other too); InputError for an image that cannot be read.
        """

    def in_role(self, role: str) -> tuple[ChatModel, Any]:
        """This model for one role of an evaluation, and the inspect_ai model behind it (None if there is none)."""
        return self, None


def read_image(image: Path | bytes) -> tuple[bytes, str]:
    """The bytes of an image and its kind (png, jpeg, gif, webp), by its first bytes. Raises InputError."""
    data = image if isinstance(image, bytes) else read_file(image, expected="an image file")
    if (kind := picture_format(data)) in ("PNG", "JPEG", "GIF", "WEBP"):
        return data, kind.lower()
    where = "image of a message" if isinstance(image, bytes) else image
    raise InputError(where, found="is not an image that chat models take", expected="PNG, JPEG, GIF or WebP")
