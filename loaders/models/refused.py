"""What some servers refuse in a request although an answer does not depend on it: they are asked without it.

No list says which server or model takes what, and it changes. But a refusal names what it is about, so whatever a
request holds of these is left out from then on, once a server has answered without it. A picture that is refused is
sent smaller.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from loaders.models.messages import Decoding, Message

TEMPERATURE, PICTURES, PIECE = "temperature", "whole pictures", "answers in one piece"
_LEAST, _MOST = 32, 1568
"""Pixels on a side: no model wants more than the one, and servers make pictures as small as the other by themselves."""
_NAMED = {
    "seed": re.compile(r"(?<![\w/-])seed(?![\w-])"),  # and not the name of a model: "bytedance/seed-oss"
    "json_schema": re.compile(r"response.?format|(?:json|response).?schema|additionalProperties", re.I),
    "max_tokens": re.compile(r"\buse\W+max_completion_tokens\b", re.I),
    "system": re.compile(
        r"\b(?:system|developer)\b.*\bnot (?:supported|enabled|allowed)|only user\b.*\broles are supported"
        r"|must alternate|\bnot support\W+(?:system|developer)\b",
        re.IGNORECASE,
    ),
    PIECE: re.compile(
        r"\bonly\b.{0,30}\bstream|\bnon-?stream|\bstream\W{1,3}true\b|\bstream(?:ing)? (?:is required|must be)\b", re.I
    ),
    TEMPERATURE: re.compile(  # and no patient's
        r"(?=.*\btemperature\b).*(?:support|allow|param|invalid|deprecat|permitted|must be)", re.IGNORECASE | re.DOTALL
    ),
    PICTURES: re.compile(
        r"HTTP 413|\bimages?\b[^.]{0,60}\b(?:exceeds?|too (?:large|big|small)|max\w*)\b|\bbe larger than factor\b"
        r"|\b(?:unsupported|invalid)\b[^.]{0,20}\bimages?\b|\bbase64 encoded image\b"
        r"|\b(?:fail\w* to|can ?not|could not) (?:load|decode|process|identify) (?:the )?image\b",
        re.IGNORECASE,
    ),
}
"""Part of a request -> how a refusal names it."""


@dataclass(frozen=True)
class Asked:
    """A request, without what a server refuses: `max_tokens` is then sent as `max_completion_tokens`, instructions at
    the start of the first message, and its answer comes as a stream. `left` names what was left out, or is sent in
    another form."""

    messages: Sequence[Message]
    json_schema: Mapping[str, Any] | None
    decoding: Decoding
    left: frozenset[str] = frozenset()

    @property
    def _held(self) -> dict[str, Collection[str | int]]:
        """What it could be sent without -> how that is known again: a picture by its hash."""
        pictures = {hash(image) for message in self.messages for image in message.images}
        held = {
            "seed": self.decoding.get("seed") is not None,
            "json_schema": self.json_schema is not None,
            "max_tokens": "max_tokens" not in self.left,
            "system": self.messages[0].role == "system",
            PIECE: PIECE not in self.left,
            TEMPERATURE: self.decoding["temperature"] is not None,
            PICTURES: pictures and PICTURES not in self.left,
        }
        return {part: pictures if part == PICTURES else {part} for part in held if held[part]}

    def refused(self, text: str, wanted: Collection[str]) -> tuple[str, Collection[str | int]]:
        """The part that a refusal is about, and what to leave out from then on; none if it is `wanted`, or not held."""
        found = (one for one in self._held.items() if one[0] not in wanted and _NAMED[one[0]].search(text))
        return next(found, ("", ()))

    def leaving_out(self, without: Collection[str | int]) -> Asked:
        """The request without these parts, and with these pictures, by their hashes, smaller."""
        left = {part for part, named in self._held.items() if any(one in without for one in named)}
        messages, decoding = list(self.messages), self.decoding.copy()
        if "seed" in left:
            decoding["seed"] = None
        if TEMPERATURE in left:
            decoding["temperature"] = None
        if PICTURES in left:
            messages = [replace(told, images=tuple(map(_smaller, told.images))) for told in messages]
        if "system" in left:
            messages[0] = replace(messages[0], role="user")
            if len(messages) > 1 and messages[1].role == "user":
                text = f"{messages[0].text}\n\n{messages[1].text}"
                messages[:2] = [replace(messages[1], text=text)]
        return Asked(messages, None if "json_schema" in left else self.json_schema, decoding, frozenset(left))


@lru_cache(maxsize=32)  # a dialogue repeats its picture in each request
def _smaller(image: Path | bytes) -> bytes:
    """A picture as a JPEG of a size that servers take. Raises: ImageError if it is none."""
    from loaders.files.images import open_image

    picture, file = open_image(image), io.BytesIO()
    scale = max(min(1, _MOST / max(picture.size)), _LEAST / min(picture.size))
    picture.resize([round(side * scale) for side in picture.size]).save(file, "JPEG", quality=90)
    return file.getvalue()
