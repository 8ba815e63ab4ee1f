"""What some servers refuse in a request although an answer does not depend on it: they are asked without it.

No list says which server or model takes what, and it changes. But a refusal names what it is about, so whatever a
request holds of these is left out from then on, once a server has answered without it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from loaders.models.messages import Decoding, Message

TEMPERATURE = "temperature"
_NAMED = {
    "seed": re.compile(r"(?<![\w/-])seed(?![\w-])"),  # and not the name of a model: "bytedance/seed-oss"
    "json_schema": re.compile(r"response.?format|(?:json|response).?schema|additionalProperties", re.I),
    "max_tokens": re.compile(r"\buse\W+max_completion_tokens\b", re.I),
    "system": re.compile(
        r"\b(?:system|developer)\b.*\bnot (?:supported|enabled|allowed)|only user\b.*\broles are supported"
        r"|must alternate|\bnot support\W+(?:system|developer)\b",
        re.IGNORECASE,
    ),
    TEMPERATURE: re.compile(r"\btemperature\b", re.I),
}
"""Part of a request -> how a refusal names it."""


@dataclass(frozen=True)
class Asked:
    """A request, without what a server refuses: `max_tokens` is then sent as `max_completion_tokens`, and instructions
    at the start of the first message."""

    messages: Sequence[Message]
    json_schema: Mapping[str, Any] | None
    decoding: Decoding
    without: frozenset[str] = frozenset()

    def refused(self, text: str, wanted: Collection[str]) -> str | None:
        """The part that a refusal is about, if it can be left out; None if it cannot, or is `wanted`."""
        held = {
            "seed": self.decoding.get("seed") is not None,
            "json_schema": self.json_schema is not None,
            "max_tokens": "max_tokens" not in self.without,
            "system": self.messages[0].role == "system",
            TEMPERATURE: self.decoding["temperature"] is not None,
        }
        return next((p for p, named in _NAMED.items() if held[p] and p not in wanted and named.search(text)), None)

    def leaving_out(self, without: frozenset[str]) -> Asked:
        """The request without these parts."""
        messages, decoding = list(self.messages), self.decoding.copy()
        if "seed" in without:
            decoding["seed"] = None
        if TEMPERATURE in without:
            decoding["temperature"] = None
        if "system" in without and messages[0].role == "system":
            messages[0] = replace(messages[0], role="user")
            if len(messages) > 1 and messages[1].role == "user":
                text = f"{messages[0].text}\n\n{messages[1].text}"
                messages[:2] = [replace(messages[1], text=text)]
        return Asked(messages, None if "json_schema" in without else self.json_schema, decoding, without)
