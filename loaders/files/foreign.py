"""Maps somebody else's columns to our fields, by an explicit mapping and never by guessing.

    row = ForeignRow({"Demographics": {"Age": "34 years"}, "reason": "Cough."}, {"admission_reason": "reason"})
    row.find("age"), row.find("admission_reason"), row.find("sex"), row.missing  # "34 years", "Cough.", "", ["sex"]

A field that the mapping does not name is looked up under its own name. Columns may be inside nested objects or JSON
texts; case, blanks and hyphens do not matter; `history.reason` says which object a column belongs to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from loaders.errors import InputError
from loaders.files.printed import parse_printed
from loaders.files.texts import read_text
from loaders.files.yaml_values import parse_yaml

Columns = Mapping[str, str | None]
_OPENS = re.compile(r"\s*(?:[{[]|array\()")
_BLOCK = re.compile(r"""\s*(?:array\()?(?:\[\s*)*(?:\{\s*['"}]|\[\s*['"{])""")  # hardly how a text begins
_WORD = re.compile(r"[\w.-]{1,40}")


def read_mapping(path: Path, fields: Collection[str]) -> Columns:
    """A mapping of fields in YAML or JSON, `field: column` a line; `null` for a field that the rows do not have.

    Raises: InputError if the file cannot be read, is not a mapping of names, or names a field that does not exist.
    """
    expected = "lines such as age: patient_age"
    read = parse_yaml(read_text(path, most=1 << 20, expected=expected), path, expected=expected)
    if not isinstance(read, dict) or not all(column is None or isinstance(column, str) for column in read.values()):
        raise InputError(path, found="no mapping of names", expected=expected)
    # What is no single word may be a text of a wrong file.
    if unknown := [str(name) if _WORD.fullmatch(str(name)) else "a text" for name in read if name not in fields]:
        raise InputError(path, found=f"unknown: {', '.join(unknown)}", expected=f"fields: {', '.join(fields)}")
    return read


class ForeignRow:
    """A row with its mapping of fields; `missing` collects needed fields that were not found.

    `blocks` are the names of the parts of a record. What stands in one of them is no field of another, unless the
    mapping names its place: a column of the same name may be one that the other part must not show.
    """

    def __init__(self, row: Mapping[str, Any], columns: Columns, blocks: Collection[str] = ()) -> None:
        self.missing: list[str] = []
        self._columns = columns
        self._blocks = frozenset(blocks)
        self._values = {path: value for path, value in _leaves(_opened(row)) if value is not None}
        self._read: set[str] = set()

    @property
    def names(self) -> list[str]:
        """Its columns, those of nested objects with their path."""
        return sorted(self._values)

    @property
    def unread(self) -> list[str]:
        """Those of its columns that no field was found in so far."""
        return sorted(self._values.keys() - self._read)

    @property
    def broken(self) -> list[str]:
        """Those of its columns that begin as a list or an object in a cell does, and cannot be read as one; if no field
        is missing, only columns in which one was found."""
        of = self._values if self.missing else self._read
        return sorted(path for path in of if isinstance(text := self._values[path], str) and _BLOCK.match(text))

    def find(self, field: str, block: str = "", *, needed: bool = True) -> Any:
        """The value of a field, "" if there is none: in its own block first, then the outermost of its name."""
        column = self._columns.get(field, field)
        if column is None:
            return ""
        wanted = f".{_plain(column)}"
        paths = [path for path in self._values if f".{_plain(path)}".endswith(wanted)]
        if block and "." not in column:
            others = self._blocks - {block}
            paths = [path for path in paths if others.isdisjoint(_plain(path).split(".")[:-1])]
        own = f".{block}{wanted}"
        found = min(paths, key=lambda path: (not f".{_plain(path)}".endswith(own), path.count(".")), default=None)
        if found is not None:
            self._read.add(found)
            return self._values[found]
        if needed:
            self.missing.append(f"{block}.{field}" if block else field)
        return ""


def columns_of(row: Mapping[str, Any], within: str = "") -> Iterator[str]:
    """The columns of a row with their paths, empty ones too, and those of the objects in its lists."""
    for path, value in _leaves(_opened(row), within):
        yield path
        for inner in value if isinstance(value, list) else ():
            if isinstance(inner, Mapping):
                yield from columns_of(inner, f"{path}.")


def check_columns(path: Path, columns: Columns, existing: Collection[str], table: str) -> None:
    """Refuses a mapping that names a column which no row of a table has: a slip would empty an optional field.

    Raises: InputError, about the file of the mapping.
    """
    ends = [f".{_plain(name)}" for name in existing]
    wrong = [
        f"{field}: {column}"
        for field, column in columns.items()
        if column is not None and not any(end.endswith(f".{_plain(column)}") for end in ends)
    ]
    if wrong:
        found, expected = f"{', '.join(wrong)}; no row of {table} has such a column", ", ".join(sorted(existing))
        do = "Correct the name, or write `field: null` where there is no column"
        raise InputError(path, found=found, expected=f"one of {expected}", do=do)


def text_of(value: object) -> Any:
    """One text, several joined into one; a list of other than texts is left as it is, to be refused."""
    if not isinstance(value, list):
        return str(value)
    texts = texts_of(value)
    return "; ".join(texts) if all(isinstance(text, str) for text in texts) else value


def texts_of(value: object, mark: str = "") -> list[Any]:
    """A list of texts; one text is a list of one, or of the parts between a `mark`.

    An item that is no text or number (`- He said: no` is an object in YAML) stays what it is, to be refused.
    """
    if isinstance(value, str):
        return [part.strip() for part in value.split(mark) if part.strip()] if mark else [value] * bool(value)
    items = value if isinstance(value, list) else [value]
    return [item if isinstance(item, list | dict) else str(item) for item in items if item is not None]


def _opened(value: object, depth: int = 0) -> Any:
    """The value with the JSON texts in it parsed, as deep as a record goes, and those that pandas makes of objects and
    lists when it writes a CSV: as Python and numpy print them."""
    if isinstance(value, str) and _OPENS.match(value) and depth < 4:
        for parse in (json.loads, parse_printed):
            try:
                found = parse(value)
            except (ValueError, RecursionError):
                continue
            return _opened(found, depth + 1) if isinstance(found, dict | list) else value
        return value
    if isinstance(value, Mapping):
        return {str(name): _opened(inner, depth) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_opened(inner, depth) for inner in value]
    return value


def _leaves(value: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Each value with its path; lists count as values."""
    for name, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _leaves(inner, f"{path}{name}.")
        else:
            yield f"{path}{name}", inner


@lru_cache(maxsize=4096)  # called for each column, for each field of each row
def _plain(path: str) -> str:
    return ".".join(re.sub(r"[\W_]+", "_", part).strip("_").casefold() for part in path.split("."))
