"""Chat models without a model: deterministic, offline, free. For demonstrations, baselines and failure tests.

`scripted/echo` and the others open by name (`loaders.models.chat.open_model`); `scripted(function, name=...)` turns any
function of the messages into a model. All are marked `stand_in`: what they say is never a result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from loaders.errors import ModelError
from loaders.models.messages import Answer, ChatModel, Decoding, Message

Script = Callable[[Sequence[Message]], str]


def scripted(function: Script, *, name: str) -> ChatModel:
    """A model that answers `function(messages)`.

    The name is its identity, so stored answers replay under it: give a changed function another name.
    """
    return _ScriptedModel(function, name)


def script_named(name: str) -> Script:
    """What the shipped model `scripted/<name>` answers. Raises ModelError for an unknown name."""
    if name not in _SCRIPTS:
        known = ", ".join(f"scripted/{known}" for known in _SCRIPTS)
        raise ModelError(f"scripted/{name}", found="is not a scripted model", expected=f"one of {known}")
    return _SCRIPTS[name]


class _ScriptedModel(ChatModel):
    stand_in = True

    def __init__(self, function: Script, name: str) -> None:
        self.name = f"scripted/{name}"
        self._function = function

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "scripted", "base_url": "", "client": ""}

    async def ask(
        self, messages: Sequence[Message], *, json_schema: Mapping[str, Any] | None = None, **decoding: Unpack[Decoding]
    ) -> Answer:
        if not messages:
            raise ValueError("no messages")
        return Answer(self._function(messages), input_tokens=None, output_tokens=None, stop="stop")


def _echo(messages: Sequence[Message]) -> str:
    return next((message.text for message in reversed(messages) if message.role == "user"), "")


def _down(messages: Sequence[Message]) -> str:
    found = "gave no answer in 1 try; the last error: the model is down by design"
    raise ModelError("scripted/down", found=found, do="Choose another model")


_PROSE = "Of course! This picture shows how things look inside the body, and everything seems to be where it belongs."
_BROKEN = '```json\n{"answer": "The picture shows the chest", "notes": ["cut off before'
_SCRIPTS: dict[str, Script] = {
    "echo": _echo,
    "silent": lambda messages: "",
    "prose": lambda messages: _PROSE,
    "broken-json": lambda messages: _BROKEN,
    "down": _down,
}
