"""What befalls a file: bytes that change, values that are others, files that are of another kind altogether.

A damage is (what, where, with which), three numbers, so that the same numbers do the same to the same file.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from tests.fuzz.readers import Reader

Damage = tuple[int, int, int]
"""What is done, where, and with which value, each modulo what there is."""


class Raw(str):
    """JSON that `json.dumps` would not write."""


VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**18, 2**63, 2**64, -(2**63), 0.5, 1e308, -1e-308, 10**400, "", " ", "0", "x",
    "\t", "=1+1", "\u2028", "café", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/null", ".", "/",
    "a" * 300, "a/" * 3000, "{" * 200, "x" * 70_000, "http://[", "file:///etc/passwd", "2024-99-99", "[/red]", [], {},
    [None],
    [[]], [1, "x"], {"x": 1}, {"": None}, [{}], ["x"] * 2000, list(range(300)),
    Raw("NaN"), Raw("Infinity"), Raw("1e999"), Raw("-0"), Raw("9" * 5000), Raw('"\\ud800"'), Raw('"\\u0000"'),
    Raw("[" * 2000 + "]" * 2000), Raw("[" * 90 + "]" * 90), Raw('{"a":' * 90 + "1" + "}" * 90),
    Raw("[" * 200_000), Raw('{"a":1,"a":2}'), Raw("1_000"), Raw("'x'"), Raw("01"), Raw(""),
)  # fmt: skip
BYTES: tuple[bytes, ...] = (
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\n\n", b'"', b"'", b",", b"\t", b"{", b"}", b"[",
    b"]", b":", b"\\", b"&", b"<", b">", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\x1a", b"PK\x03\x04", b"PAR1", b"---\n",
    b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x00", b"A" * 5000, b"[" * 5000, b"0" * 5000, b"%s%n{}",
    b"&a [*a]", b"!!python/object/apply:os.system [x]", b"\xc2\x85", b"-1", b"1e999", b"NaN",
)  # fmt: skip


# --- Bytes ------------------------------------------------------------------------------------------------------------


def _flip(data: bytes, at: int, which: int) -> bytes:
    return data[:at] + bytes([data[at] ^ (1 << which % 8)]) + data[at + 1 :] if at < len(data) else data


def _insert(data: bytes, at: int, which: int) -> bytes:
    return data[:at] + BYTES[which % len(BYTES)] + data[at:]


def _overwrite(data: bytes, at: int, which: int) -> bytes:
    new = BYTES[which % len(BYTES)]
    return data[:at] + new + data[at + len(new) :]


def _cut(data: bytes, at: int, which: int) -> bytes:
    return data[:at]


def _drop(data: bytes, at: int, which: int) -> bytes:
    return data[:at] + data[at + 1 + which % 64 :]


def _double(data: bytes, at: int, which: int) -> bytes:
    return data[:at] + data[max(0, at - which % 512) :]


def _line(data: bytes, at: int, which: int) -> bytes:
    """A line goes, comes twice, changes places, or loses its end."""
    lines = data.split(b"\n")
    at %= len(lines)
    match which % 4:
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines[at], lines[0] = lines[0], lines[at]
        case _:
            lines[at : at + 2] = [b"".join(lines[at : at + 2])]
    return b"\n".join(lines)


def _another(data: bytes, at: int, which: int) -> bytes:
    """Another kind of file under its name."""
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(("../x.xml", "x.xml", "a/b.json")[at % 3], (b"<a>", b"\0" * (1 << 20), data[:4000])[which % 3])
    table = io.BytesIO()
    pq.write_table(pa.table({"x": [1, 2], "id": ["a", None]}), table)
    kinds = (
        b"", b"\n", b"\xef\xbb\xbf", b"null", b"[]", b"{}", b"[{}]", b'""', b"0", b"x", b"x\n", b"a,b\n1,2\n", b"a\n\n",
        zipped.getvalue(), zipped.getvalue()[:-10], table.getvalue(), table.getvalue()[:-4], b"PAR1PAR1",
        b"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00", b"\x1f\x8b\x08\x00", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"%PDF-1.4",
        b"SQLite format 3\0" + b"\0" * 200, b"<?xml version='1.0'?><a/>", b"[" * 300_000, b'{"a":' * 100_000,
        b'<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;">]><a>&z;</a>', b"\x93NUMPY\x01\x00v\x00{}", b"\x80\x04.",
        b"a: &a [*a]\n", b"---\n- [\n", b"\x00" * 5000, os.urandom(0) + bytes(range(256)) * 8,
    )  # fmt: skip
    return kinds[(at * 7 + which) % len(kinds)]


_OF_BYTES: tuple[Callable[[bytes, int, int], bytes], ...] = (
    _flip, _flip, _insert, _insert, _overwrite, _cut, _drop, _double, _line, _line, _another,
)  # fmt: skip


# --- Values -----------------------------------------------------------------------------------------------------------


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with each of its keys."""
    waiting = [tree]
    while waiting:
        here = waiting.pop()
        keys = here if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else ()
        for key in list(keys):
            yield here, key
            waiting.append(here[key])


def _changed(tree: Any, at: int, which: int) -> Any:
    """A value becomes another, goes, or comes twice; a key becomes another."""
    root = [tree]
    places = list(_places(root))
    here, key = places[at % len(places)]
    kind, value = which % 8, VALUES[(which // 8) % len(VALUES)]
    if kind == 5 and here is not root:
        del here[key]
    elif kind == 6 and isinstance(here, dict):
        here[str(value)[:5000]] = here.pop(key)
    elif kind == 7 and isinstance(here, list) and here is not root:
        here.insert(key, here[key])
    elif kind == 7 and isinstance(here, dict):
        here[f"{key} "] = value
    else:
        here[key] = value
    return root[0]


def _json_text(tree: Any, **style: Any) -> bytes:
    raws: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, Raw):
            raws.append(value)
            return f"@@{len(raws) - 1}@@"
        if isinstance(value, dict):
            return {str(key): marked(inner) for key, inner in value.items()}
        return [marked(inner) for inner in value] if isinstance(value, list) else value

    text = json.dumps(marked(tree), **style)
    for number, raw in enumerate(raws):
        text = text.replace(f'"@@{number}@@"', raw)
    return text.encode("utf-8", "surrogatepass")


def _in_json(data: bytes, at: int, which: int) -> bytes:
    return _json_text(_changed(json.loads(data), at, which), indent=1)


def _in_lines(data: bytes, at: int, which: int) -> bytes:
    lines = data.splitlines()
    number = at % len(lines)
    lines[number] = _json_text(_changed(json.loads(lines[number]), at // len(lines), which))
    return b"\n".join(lines) + b"\n"


def _in_table(data: bytes, at: int, which: int, delimiter: str = ",") -> bytes:
    rows = list(csv.reader(io.StringIO(data.decode()), delimiter=delimiter))
    row = rows[at % len(rows)]
    value, kind = VALUES[(which // 4) % len(VALUES)], which % 4
    cell = str(value) if not isinstance(value, Raw) else value.replace('"', "")
    place = (at // len(rows)) % max(1, len(row))
    if kind == 0:
        del row[place]
    elif kind == 1 and rows:  # the same in every row
        for other in rows[1:]:
            if place < len(other):
                other[place] = cell
    else:
        row[place] = cell
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def _in_parquet(data: bytes, at: int, which: int) -> bytes:
    """A column of other values, of another type, or without text; a row that changed; metadata that says otherwise."""
    with pq.ParquetFile(io.BytesIO(data)) as file:
        table = file.read(use_threads=False)
    place = at % max(1, table.num_columns)
    name, rows = table.schema.names[place], table.num_rows
    kind, value = which % 7, VALUES[(which // 7) % len(VALUES)]
    value = str(value) if isinstance(value, Raw) or (isinstance(value, int) and abs(value) >= 2**63) else value
    column: Any = None
    if kind == 0:
        column = pa.array([value] * rows)
    elif kind == 1:
        cells = table.column(place).to_pylist()
        if rows and isinstance(cells[at % rows], dict | list):
            cells[at % rows] = _changed(cells[at % rows], at // 3, which // 7 * 8)
        elif rows:
            cells[at % rows] = value
        column = pa.array(cells, table.schema.field(place).type)
    elif kind == 2:
        column = pa.array([b"\xff\xed\xa0\x80"] * rows, pa.binary()).view(pa.string())
    elif kind == 3:
        others = (pa.null(), pa.int64(), pa.float64(), pa.binary(), pa.list_(pa.string()), pa.timestamp("s"))
        column = pa.array([None] * rows, others[which // 7 % len(others)])
    elif kind == 4:
        table = table.drop_columns([name])
    elif kind == 5:
        table = table.slice(0, which // 7 % (rows + 1))
    else:
        metadata = dict(table.schema.metadata or {})
        key = sorted(metadata)[at % len(metadata)] if metadata else b"huggingface"
        metadata[key] = str(value).encode("utf-8", "replace") if which % 2 else b"\xff\xfe"
        table = table.replace_schema_metadata(metadata)
    if column is not None:
        table = table.set_column(place, name, column)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _in_archive(data: bytes, at: int, which: int) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(made, "w") as copy:
        for number, info in enumerate(archive.infolist()):
            content = archive.read(info)
            if number == at % len(archive.infolist()):
                content = _OF_BYTES[which % len(_OF_BYTES)](content, at % (len(content) + 1), which)
            copy.writestr(info.filename, content)
    return made.getvalue()


_OF_VALUES: dict[str, Callable[[bytes, int, int], bytes]] = {
    ".json": _in_json,
    ".yaml": _in_json,  # which YAML is a larger set of
    ".jsonl": _in_lines,
    ".csv": _in_table,
    ".tsv": lambda data, at, which: _in_table(data, at, which, "\t"),
    ".parquet": _in_parquet,
    ".zip": _in_archive,
}


_NOT_ITS_KIND = (
    ValueError, TypeError, LookupError, ArithmeticError, RecursionError, OSError, EOFError, pa.ArrowException,
    zipfile.BadZipFile, zlib.error, csv.Error, NotImplementedError,
)  # fmt: skip


def spoiled(data: bytes, suffix: str, damages: tuple[Damage, ...]) -> bytes:
    """The bytes of a file after these damages."""
    for what, at, which in damages:
        of_values = _OF_VALUES.get(suffix)
        if of_values is not None and what % 4:
            try:
                data = of_values(data, at, which)
                continue
            except _NOT_ITS_KIND:
                pass  # an earlier damage made it another kind of file
        data = _OF_BYTES[what // 4 % len(_OF_BYTES)](data, at * 7919 % (len(data) + 1), which)
    return data


# --- Files ------------------------------------------------------------------------------------------------------------


@cache
def _files(seed: Path, patterns: tuple[str, ...]) -> list[Path]:
    return sorted({path for pattern in patterns for path in seed.glob(pattern) if path.is_file()})


def damaged(yard: Path, reader: Reader, damages: tuple[Damage, ...], folder: Path) -> Path:
    """A copy of the reader's seed in the folder, damaged, and signed anew where its kind signs its files."""
    seed = yard / reader.seed
    copy = folder / seed.name
    if not seed.is_dir():
        copy.write_bytes(spoiled(seed.read_bytes(), reader.suffix or seed.suffix, damages))
        return copy
    shutil.copytree(seed, copy, copy_function=shutil.copyfile)
    for inner in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        inner.chmod(0o755)
    files = _files(seed, reader.damaged)
    chosen: dict[Path, list[Damage]] = {}
    for what, at, which in damages:
        path = files[at % len(files)]
        chosen.setdefault(path, []).append((what, at // len(files), which))
    for path, each in chosen.items():
        here = copy / path.relative_to(seed)
        here.chmod(0o644)
        here.write_bytes(spoiled(here.read_bytes(), path.suffix, tuple(each)))
        if reader.signed and path.name != reader.signed:
            _sign(copy, copy / reader.signed, here)
    return copy


def _sign(folder: Path, ledger: Path, changed: Path) -> None:
    """The digest of the changed file in the file that lists them: somebody built this, it was not cut off."""
    try:
        listed = json.loads(ledger.read_bytes())
        name = changed.relative_to(folder).as_posix()
        digest = hashlib.sha256(changed.read_bytes()).hexdigest()
        facts = listed["files"][name]
        listed["files"][name] = digest if isinstance(facts, str) else {"sha256": digest, "size": changed.stat().st_size}
        ledger.write_text(json.dumps(listed), encoding="utf-8")
    except (ValueError, LookupError, TypeError, RecursionError):
        pass  # the list itself was damaged
