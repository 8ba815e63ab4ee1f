"""Records as JSON and back: a record is a frozen dataclass, and its fields are what the file holds.

    line = json.dumps(to_json(episode))
    episode = from_json(Episode, line.encode(), "dialogues.jsonl, line 3")

Reading is strict: every field without a default must be present and of its own type ("1" is not a number, 1 is not a
boolean), with no other field and no NaN. `__post_init__` checks how fields fit together and raises
ValueError(what was found, what was expected). An error names the field and what it should be. It never quotes a text,
which may be one that the profile hides.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticSerializationError

from loaders.errors import InputError, unknown_fact

Record = TypeVar("Record")

GROWN = Field(exclude_if=lambda value: not value)
"""Marks a field that earlier versions lack: left out if it is empty, so that an old record is written as it was."""

_SETTINGS = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)
_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}
_KINDS = {str: "a text", list: "a list", tuple: "a list", dict: "an object", bytes: "no JSON", type(None): "null"}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        # pydantic accepts settings for a union and passes them down; for a dataclass itself it accepts none.
        _ADAPTERS[kind] = TypeAdapter(kind | None, config=_SETTINGS)
    return _ADAPTERS[kind]


def to_json(record: object) -> dict[str, Any]:
    """The record in the form that `json.dumps` takes, its fields in order.

    Raises: TypeError when a field holds what its type does not allow.
    """
    try:
        plain: dict[str, Any] = _adapter(type(record)).dump_python(record, mode="json", by_alias=True, warnings="error")
    except PydanticSerializationError:
        raise TypeError(f"{type(record).__name__}: a field holds what its type does not allow") from None
    return plain


def from_json(kind: type[Record], read: object, where: object, *, do: str = "", ours: bool = False) -> Record:
    """The record that `to_json` wrote. Bytes are JSON text; anything else is JSON already parsed.

    Raises: InputError, with the field, for anything else; `where` says which file or record, `do` what to do about it.
    In a file that only Bedside writes (`ours`), a field that is not known is one of a newer version.
    """
    try:
        record: Record | None = _validated(kind, read)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
        unknown = next((one for one in wrong if one["type"] == "unexpected_keyword_argument"), None)
        if ours and unknown is not None:
            raise InputError(where, **unknown_fact(_field(unknown))) from None
        found, expected = _wrong(wrong[0])
        raise InputError(where, found=f"cannot be read: {found}", expected=expected, do=do) from None
    except (TypeError, ValueError, RecursionError):
        raise InputError(where, found="cannot be read: no JSON, or too deep", expected="an object", do=do) from None
    if record is None:
        raise InputError(where, found="cannot be read: null", expected="an object", do=do)
    return record


def _validated(kind: type[Record], read: object) -> Record | None:
    text = read if isinstance(read, bytes) else json.dumps(read).encode()
    try:
        record: Record | None = _adapter(kind).validate_json(text)
    except ValidationError:
        # An unpaired surrogate, which a model may write, is JSON for Python but not for pydantic. Such a record is read
        # less strictly, since parsed JSON has no tuples.
        if b"\\ud" not in text.lower():
            raise
        record = _adapter(kind).validate_python(json.loads(text), strict=False)
    return record


def _field(error: ErrorDetails) -> str:
    """The field that an error is about. Names of fields are identifiers; other keys are not shown."""
    return ".".join(str(part) if isinstance(part, int) or part.isidentifier() else "…" for part in error["loc"])


def _wrong(error: ErrorDetails) -> tuple[str, str]:
    """What was found and what was expected."""
    field, value = _field(error), error["input"]
    match error["type"]:
        case "json_invalid":
            return error["msg"], "a JSON object"
        case "missing":
            return f"no {field}", "a value for it"
        case "unexpected_keyword_argument":
            return f"unknown: {field}", "no other field"
        case "value_error":
            text, *expected = error["ctx"]["error"].args or ("a value that does not fit",)
            return ": ".join(filter(None, (field, str(text)))), str(*expected)
    found = _KINDS.get(type(value)) or (repr(value) if isinstance(value, int | float) else "something else")
    return f"{field} is {found}" if field else found, error["msg"].removeprefix("Input should be ")
