"""Convert rows (plain dicts) to Arrow tables of a declared schema, strictly.

Arrow alone is too lenient for a corpus: it stores 1.5 in an integer column as 1, a set as a list in an order that
depends on the hash seed, bytes as text, and drops dictionary keys that are not in the schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from types import NoneType
from typing import Any

import pyarrow as pa

Row = dict[str, Any]
_BATCH_BYTES = 256 << 20


class BuildError(Exception):
    """A mistake in the code of a stage or recipe, for its developer; a user's mistake is a `BedsideError`."""


_INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
# The Python class of each Arrow type, by its id; types that are not listed are left to Arrow's own checks.
_PYTHON: dict[int, type | tuple[type, ...]] = {
    kind.id: python
    for python, kinds in (
        (str, (pa.string(), pa.large_string())),
        (bool, (pa.bool_(),)),
        (int, _INTEGERS),
        ((float, int), (pa.float16(), pa.float32(), pa.float64())),
        (bytes, (pa.binary(), pa.large_binary())),
        (list, (pa.list_(pa.null()), pa.large_list(pa.null()))),
        (dict, (pa.struct([]),)),
    )
    for kind in kinds
}


def batched(rows: Iterable[Row], most: int) -> Iterator[list[Row]]:
    """The rows in parts of at most `most`, fewer if they are large: an Arrow column is limited to 2 GiB."""
    part: list[Row] = []
    size = 0
    for row in rows:
        part.append(row)
        size += sum(len(value) for value in row.values() if isinstance(value, (str, bytes)))
        if len(part) == most or size >= _BATCH_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def to_table(rows: Sequence[Row], schema: pa.Schema, *, where: str, key: str) -> pa.Table:
    """The rows as a table of exactly this schema.

    Raises: BuildError naming `where`, the row's key, the column, the type found and the type expected. Values are never
    shown: a row may hold what an error message must not tell.
    """
    names = set(schema.names)
    for row in rows:
        if row.keys() != names:
            missing, unknown = sorted(names - row.keys()), sorted(row.keys() - names)
            found = [f"no column {name!r}" for name in missing] + [f"an unknown column {name!r}" for name in unknown]
            raise BuildError(f"{where}: row {row.get(key)!r}: found {', '.join(found)}, expected {schema.names}")
    columns = [_column([row[field.name] for row in rows], field, rows, where, key) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _column(values: list[Any], field: pa.Field, rows: Sequence[Row], where: str, key: str) -> pa.Array:
    if _misfit(values, field, field.name) is None:
        try:
            return pa.array(values, field.type)
        except (pa.ArrowException, UnicodeError, OverflowError):
            pass  # the loop below finds the row
    for row, value in zip(rows, values, strict=True):
        misfit = _misfit([value], field, field.name)
        if misfit is None:
            try:
                pa.array([value], field.type)
                continue
            except (pa.ArrowException, UnicodeError, OverflowError):
                misfit = field.name, f"a {type(value).__name__} that it cannot hold", str(field.type)
        path, found, expected = misfit
        raise BuildError(f"{where}: row {row.get(key)!r}, column {path}: found {found}, expected {expected}")
    raise BuildError(f"{where}: column {field.name}: the batch is too large for {field.type}")


def _misfit(values: list[Any], field: pa.Field, path: str) -> tuple[str, str, str] | None:
    """(path, type found, type expected) of the first value that is not of the field's type; None when all are."""
    kinds = dict.fromkeys(map(type, values))
    if NoneType in kinds:
        if not field.nullable:
            return path, "null", f"{field.type} not null"
        values = [value for value in values if value is not None]
        del kinds[NoneType]
    allowed = _PYTHON.get(field.type.id)
    if allowed is None:
        return None
    for kind in kinds:
        if not issubclass(kind, allowed) or (kind is bool and allowed is not bool):
            return path, kind.__name__, str(field.type)
    if allowed is list:
        return _misfit(list(chain.from_iterable(values)), field.type.value_field, f"{path}[]")
    if allowed is dict:
        fields = list(field.type)
        names = {inner.name for inner in fields}
        for value in values:
            if value.keys() != names:
                return path, f"a struct of {sorted(map(str, value))}", f"a struct of {sorted(names)}"
        for inner in fields:
            misfit = _misfit(list(map(itemgetter(inner.name), values)), inner, f"{path}.{inner.name}")
            if misfit is not None:
                return misfit
    return None
