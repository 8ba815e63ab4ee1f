"""Reads lists and objects as Python prints them, which is what a data frame writes into a cell of a CSV.

numpy prints no commas between the items of an array (`['a' 'b']`), which Python would read as one text, and names the
arrays that are in an object (`array(['a'], dtype=object)`). Nothing is evaluated.
"""

from __future__ import annotations

import re
from ast import literal_eval
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?(?![\w.]))
    |(?P<name>[A-Za-z_][\w.]*)
    |(?P<mark>[][(){},:=])
    |(?P<end>\Z))""",
    re.DOTALL | re.VERBOSE | re.IGNORECASE,
)
_NAMES = {"True": True, "False": False, "None": None, "nan": None, "NaN": None}
_CLOSED = {"[": "]", "(": ")"}
_DEEPEST = 50


def parse_printed(text: str) -> Any:
    """The value that a text prints; a missing one (`nan`) is None, and a tuple or an array is a list.

    >>> parse_printed("{'a': array(['x', 'y'], dtype=object), 'b': nan}"), parse_printed("['x' 'y']")
    ({'a': ['x', 'y'], 'b': None}, ['x', 'y'])

    Raises: ValueError for anything else, such as an array of which numpy printed only the ends.
    """
    printed = _Printed(text)
    value = printed.value()
    if printed.kind != "end":
        raise ValueError("more than one value")
    return value


class _Printed:
    """A text that is read from one token to the next."""

    def __init__(self, text: str) -> None:
        self._text, self._end, self._depth = text, 0, 0
        self._move()

    def _move(self) -> None:
        found = _TOKEN.match(self._text, self._end)
        if found is None:
            raise ValueError("nothing that Python prints")
        self._end, self.kind = found.end(), found.lastgroup or ""
        self._token = found[self.kind]

    def _took(self, *marks: str) -> bool:
        """Whether it stands at one of the marks, which it then passes."""
        found = self.kind == "mark" and self._token in marks
        if found:
            self._move()
        return found

    def value(self) -> Any:
        kind, token = self.kind, self._token
        self._move()
        if kind == "text":
            return _string(token)
        if kind == "number":
            return int(token) if token.lstrip("+-").isdecimal() else float(token)
        if kind == "name" and self._took("("):
            return self._array(token)
        if kind == "name" and token.removeprefix("np.").removesuffix("_") in _NAMES:
            return _NAMES[token.removeprefix("np.").removesuffix("_")]
        self._depth += 1
        if kind == "mark" and token in "[({" and self._depth <= _DEEPEST:
            value = self._object() if token == "{" else self._list(_CLOSED[token])
            self._depth -= 1
            return value
        raise ValueError("no value")

    def _list(self, end: str) -> list[Any]:
        parts: list[list[Any]] = [[]]
        while not self._took(end):
            parts[-1].append(self.value())
            if self._took(","):
                parts.append([])
        if len(parts) == 1:  # without commas, as numpy prints it
            return parts[0]
        return [_one(part) for part in parts if part]

    def _object(self) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while not self._took("}"):
            name = self.value()
            if isinstance(name, list | dict) or not self._took(":"):
                raise ValueError("no object")
            values = [self.value()]
            while self.kind == "text":
                values.append(self.value())
            items[str(name)] = _one(values)
            if not self._took(",") and not (self.kind == "mark" and self._token == "}"):
                raise ValueError("no object")
        return items

    def _array(self, name: str) -> Any:
        """The first argument of an array, or of a number that numpy calls by its type."""
        if name != "array" and not name.startswith("np."):
            raise ValueError("a call")
        value = self.value()
        while self._took(","):
            if self.kind == "name" and not self._took(")"):  # dtype=object
                self._move()
                if not self._took("="):
                    raise ValueError("a call")
                self._move()
        if not self._took(")"):
            raise ValueError("a call")
        return value


def _one(values: list[Any]) -> Any:
    """The one value; `pprint` breaks a long text into several."""
    if len(values) > 1 and not all(isinstance(value, str) for value in values):
        raise ValueError("several values")
    return values[0] if len(values) == 1 else "".join(values)


def _string(token: str) -> str:
    try:
        return str(literal_eval(token))
    except SyntaxError:
        raise ValueError("no text") from None
