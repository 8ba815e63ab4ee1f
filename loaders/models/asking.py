"""Questions to a chat model: asked until an answer can be read, with one rule for which part of an answer is trusted.

    asked = await ask_until(ask, messages, lambda answer: score_of(read_object(answer.text)), attempts=3)
    asked.value, asked.failure

Other people's text stands in a question between marks (`fenced`). An answer counts only as a whole: one JSON object, or
the one code fence that holds it, after whatever a reasoning model thought. An object within prose does not count, as it
may be quoted from the text that the question is about. An unusable answer is sent back with what is wrong with it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from loaders.files.json_values import unusual
from loaders.models.messages import Answer, Message

NO_ROOM = "the question does not fit into the model's context"
CUT = "it breaks off at the limit of tokens: "
FILTERED = "the provider's filter stopped it"
ENDED = {"max_tokens": CUT, "content_filter": f"{FILTERED}: "}
"""By why an answer stopped: what is said before what is wrong with it."""
LONGEST_ANSWER = 20_000
"""Characters; a model's answer within its limit of tokens is shorter."""

# A model's template may contain the start of its thought. What begins like an answer is not a thought.
_THOUGHTS_IN_FRONT = re.compile(
    r"\A(?:\s*+(?:<think(?:ing)?>.*?|(?!\{|```)(?:(?!<think).)*?)</think(?:ing)?>)+", re.IGNORECASE | re.DOTALL
)
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.IGNORECASE | re.DOTALL)
_STRING = r'("(?>(?:[^"\\]|\\.)*)"?+)'
_COMMENT = re.compile(rf"{_STRING}|//[^\n]*+|/\*(?>(?:[^*]|\*(?!/))*)(?:\*/)?", re.DOTALL)
_LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*+[}}\]])", re.DOTALL)
_THOUGHT = re.compile(r"<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.IGNORECASE | re.DOTALL)
_THOUGHT_END = re.compile(r"\A(.*?)</think(?:ing)?>", re.IGNORECASE | re.DOTALL)  # the template may hold its start
_SPEAKER = r"\W{0,30}+(?:patient|clinician|doctor|physician|assistant|model|system|user|human)[ \t*_)\]\"”]*[:：][*_]*"
_LABEL = re.compile(rf"^{_SPEAKER}\s*", re.IGNORECASE)
_OTHER_SIDE = {
    "patient": re.compile(r"\W{0,30}+(?:clinician|doctor|physician)\b", re.IGNORECASE),
    "clinician": re.compile(r"\W{0,30}+patient\b", re.IGNORECASE),
}
# At the start of what is left, of a line, or of a sentence.
_BEGINS = r"(?:^|[\n\r\x85\u2028\u2029]|(?<=[.!?…)\"”\]])[ \t]+(?=[*_(\[]*(?-i:[A-Z])))"
_OTHER_LABEL = re.compile(f"{_BEGINS}{_SPEAKER}.*", re.IGNORECASE | re.DOTALL)

Value = TypeVar("Value")


class Ask(Protocol):
    """Asks a model; its settings may differ between attempts, counted from 0."""

    def __call__(self, messages: Sequence[Message], /, *, attempt: int) -> Awaitable[Answer]:
        """The model's answer."""


class Unfit(ValueError):
    """Why an answer cannot be used. It is sent back, so it must not contain other people's text from the answer."""


@dataclass(frozen=True, slots=True)
class Asked(Generic[Value]):
    """The value read from an answer and the number of attempts, or None and why
    the last failed; `answer` is its text."""

    value: Value | None
    answer: str
    attempts: int
    failure: str | None


def mended(failure: str) -> str:
    """What to tell a model whose answer cannot be used."""
    return f"That answer cannot be used: {failure}. Answer again in the form that was asked for, with nothing else."


async def ask_until(
    ask: Ask,
    messages: Sequence[Message],
    read: Callable[[Answer], Value],
    *,
    attempts: int,
    again: Callable[[str], str] | None = mended,
    then: Callable[[Value], Awaitable[Value]] | None = None,
) -> Asked[Value]:
    """What `read` returns for the first answer that it accepts, asked for `attempts` times at most.

    `read` raises Unfit for an answer that it rejects, and so does `then`, which may ask another model about what was
    read. The next request then contains that answer and what `again` makes of the reason. If `again` is None, the same
    request is sent, for callers that change the temperature or seed. A question that does not fit the model is not
    repeated: it only gets longer.

    Raises: ModelError if the model cannot be reached, and whatever else `ask` raises.
    """
    asked = tuple(messages)
    text, failure = "", "no answer"
    for attempt in range(attempts):
        answer = await ask(asked, attempt=attempt)
        text = answer.text
        try:
            value = read(answer)
            if then is not None:
                value = await then(value)
            return Asked(value, text, attempt + 1, None)
        except Unfit as unfit:
            if answer.stop == "model_length":
                return Asked(None, text, attempt + 1, failure if attempt else NO_ROOM)
            failure = str(unfit)
            if (ended := ENDED.get(answer.stop, "")) not in failure:  # such as within a thought
                failure = ended + failure
        if again is not None:
            said = writable(text[:LONGEST_ANSWER]) or "(nothing)"  # providers refuse a message without a text
            asked = (*asked, Message("assistant", said), Message("user", again(failure)))
    return Asked(None, text, attempts, failure)


def read_object(text: str) -> dict[str, Any]:
    """The answer as one JSON object: all of it, or all of its one code fence, after any thoughts in front of it.

    Comments (// and /* */) and a comma after the last value, which local models write, are left out.

    >>> read_object('<think>easy</think>```json\\n{"a": 1, // good\\n}\\n```')
    {'a': 1}

    Raises: Unfit for anything else, including prose around the object; a duplicate field, a number that is not finite,
    an unpaired surrogate, NUL, deep nesting, "..." in place of a text, or more than `LONGEST_ANSWER` characters.
    """
    text = _THOUGHTS_IN_FRONT.sub("", text).strip()
    if len(text) > LONGEST_ANSWER:
        raise Unfit(f"the answer is longer than {LONGEST_ANSWER:,} characters")
    if fence := _FENCE.fullmatch(text):
        text = fence[1]
    try:
        try:
            value = _parsed(text)
        except json.JSONDecodeError:
            for slip in (_COMMENT, _LAST_COMMA):
                text = slip.sub(lambda found: found[1] or " ", text)
            value = _parsed(text)
    except Unfit:
        raise
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unfit("the answer is not one JSON object and nothing else")
    if found := unusual(value):
        raise Unfit(f"the answer {found}")
    if _left_out(value):  # small models send an example of the prompt back as it stands
        raise Unfit('a text of the answer is "...", as in the form that was shown')
    return value


def _left_out(value: Any) -> bool:
    """Whether an ellipsis stands for a text anywhere in a value."""
    if isinstance(value, dict | list):
        return any(map(_left_out, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and value.strip() in ("...", "…")


def _parsed(text: str) -> Any:
    return json.loads(text, object_pairs_hook=fields, parse_float=_number, parse_constant=_number)


def object_schema(properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON Schema of an answer that `read_object` reads: an object with all of these fields and no other.

    A field is a type, a tuple of the values that it may have, a list that holds what its items are, or a schema.

    >>> object_schema({"why": str, "levels": [(0, 1)]})["properties"]
    {'why': {'type': 'string'}, 'levels': {'type': 'array', 'items': {'type': 'integer', 'enum': [0, 1]}}}
    """
    return {
        "type": "object",
        "properties": {name: _schema(field) for name, field in properties.items()},
        "required": list(properties),
        "additionalProperties": False,
    }


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _schema(field: Any) -> Any:
    match field:
        case type():
            return {"type": _TYPES[field]}
        case tuple():
            return {"type": _TYPES[type(field[0])], "enum": list(field)}
        case list():
            return {"type": "array", "items": _schema(field[0])}
    return field


def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of an object in JSON. Raises: Unfit if one stands there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Unfit("a field stands twice in the answer")
    return found


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise Unfit("a number of the answer is not finite")
    return number


def without_thoughts(text: str) -> tuple[str, str | None]:
    """What a reasoning model says, and what it thought; None if it marks no thought."""
    if "think" not in text.casefold():
        return text, None
    thoughts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        thoughts.append(match[1].strip())
        return ""

    text = _THOUGHT_END.sub(keep, _THOUGHT.sub(keep, text))
    return text, "\n".join(thoughts) if thoughts else None


def said_by(answer: str, role: Literal["clinician", "patient"] | None = None) -> str:
    """What a model says in its role, without its thoughts, a label in front, and lines it writes for the other side;
    nothing if it begins with such a line.

    >>> said_by(answer := "<think>hm</think>**Doctor**: How are you?\\n**Patient**: Fine."), said_by(answer, "patient")
    ('How are you?', '')
    """
    said = without_thoughts(writable(answer))[0].strip()
    label = _LABEL.match(said)
    if label and role and _OTHER_SIDE[role].match(label[0]):
        return ""
    return _OTHER_LABEL.sub("", said[label.end() if label else 0 :]).strip()


def fenced(name: str, text: str) -> str:
    """Somebody else's text between delimiters, which nothing in it can close or open.

    >>> fenced("turn", "Hello.</turn> <turn>")
    '<turn>\\nHello.‹/turn> ‹turn>\\n</turn>'
    """
    inert = re.sub(rf"<(?=/?{name}\b)", "‹", text, flags=re.IGNORECASE)
    return f"<{name}>\n{inert}\n</{name}>"


def writable(text: str) -> str:
    """The text without unpaired surrogates, which no file can hold; servers do send them."""
    return text.encode("utf-8", "replace").decode("utf-8")
