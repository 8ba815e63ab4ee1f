"""JSON of somebody else, as RFC 8259 defines it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from loaders.errors import BedsideError, InputError
from loaders.files.kinds import mistaken
from loaders.files.opening import read_file
from loaders.files.texts import decode, is_text

MOST_DEPTH = 100
"""Depth limit of JSON: no real record nests deeper."""
_HEAD = 1_000
_MARKS = ("\\ud", "\\uD", "\\u0000")
_LEAVES = frozenset((str, bytes, int, float, bool, type(None)))  # the types of most values in a row


def parse_json(data: bytes | str, where: object, *, expected: str = "JSON", do: str = "") -> Any:
    """JSON in UTF-8, as RFC 8259 defines it: no NaN, no unpaired surrogates, nested at most `MOST_DEPTH` deep; and each
    key of an object once: of two, some programs read the first value, others the last.

    Raises: InputError for anything else.
    """
    text = decode(data, where) if isinstance(data, bytes) else data
    try:
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        if other := mistaken(text[:_HEAD].encode("utf-8", "replace")):
            raise InputError(where, found=other[0], expected=expected, do=other[1]) from None
        place = f"{where}:{error.lineno}" if error.lineno > 1 else where
        # A table, or other text, does not even begin as JSON, or goes on behind what looks like it: nothing is missing.
        foreign = error.msg == "Extra data" or not text[: error.pos].strip()
        kind = "is empty" if not text.strip() else "is not JSON" if foreign else "is incomplete JSON"
        raise InputError(place, found=f"{kind} ({error.msg})", expected=expected, do=do) from None
    except (ValueError, RecursionError) as error:
        found = "is not JSON (nested too deep)" if isinstance(error, RecursionError) else f"is not JSON ({error})"
        raise InputError(where, found=found, expected=expected, do=do) from None
    # Checked piece by piece only if it could be wrong.
    doubtful = text.count("[") + text.count("{") > MOST_DEPTH or any(mark in text for mark in _MARKS)
    if doubtful and (found := unusual(value)):
        raise InputError(where, found=found, expected=expected, do=do)
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object. Raises: ValueError for a key that is there twice, named only if it is no sentence of somebody's."""
    value = dict(pairs)
    if len(value) < len(pairs):
        first = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(
            f"the key {first!r} twice in one object" if first.isidentifier() else "a key twice in one object"
        )
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def read_json(path: Path, *, expected: str = "JSON", do: str = "") -> Any:
    """The JSON in a file. Raises: InputError as `read_file` and `parse_json`."""
    return parse_json(read_file(path, expected=expected, do=do), path, expected=expected, do=do)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises: InputError as `read_json`, and for other JSON."""
    value = read_json(path, expected="a JSON object")
    if not isinstance(value, dict):
        raise InputError(path, found=f"holds a {type(value).__name__}", expected="a JSON object")
    return value


def unusual(value: Any) -> str:
    """What in a value JSON, or a row, may not hold; "" if nothing."""
    texts: list[str] = []
    names: set[Any] = set()  # remembered, since the structs of a row share their names
    level = [value]
    for _ in range(MOST_DEPTH):
        texts += [item for item in level if isinstance(item, str)]
        inner: list[Any] = []
        for item in [item for item in level if type(item) not in _LEAVES]:
            if isinstance(item, dict):
                names.update(item)
                inner += item.values()
            elif isinstance(item, (list, tuple)):
                inner += item
        if not inner:
            texts += [name for name in names if isinstance(name, str)]
            return "" if is_text("".join(texts)) else "is not valid text: half a character, or NUL"
        level = inner
    return "is not JSON (nested too deep)"


@contextmanager
def understood(where: object, *, expected: str, do: str = "") -> Iterator[None]:
    """Within this context, parsed content of another shape than the code assumes becomes one clear error.

    Raises: InputError for whatever Python raises if a field is missing or of another type; our own errors, and those of
    the disk, pass unchanged.
    """
    try:
        yield
    except (BedsideError, OSError):
        raise
    except Exception as error:
        found = f"does not hold what was written ({type(error).__name__}: {str(error)[:200]})"
        raise InputError(where, found=found, expected=expected, do=do) from error
