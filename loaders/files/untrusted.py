"""The one entry point for bytes that somebody else wrote: files, folders, texts, JSON.

    data = read_file(path)                     # whole, of a regular file, within a size
    text = decode(data, path)                  # UTF-8
    value = parse_json(data, path)

Only regular files are opened, so that nothing waits for a pipe or reads a device forever. The allowed length is decided
before a file is read. A file below a folder is used only if it still lies below it once links are resolved.

Text is UTF-8 without its byte-order mark. Bytes that are not UTF-8, NUL and unpaired surrogates are refused. Lines end
at a line feed, with or without a carriage return: U+2028, U+2029 and U+0085 are ordinary characters.

What is wrong with one row is a `BadRow`: a reader of rows yields it in the row's place, and raises only for a file that
is of another format as a whole. `loaders.files.tables` reads rows.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, TextIO

import yaml

from loaders.errors import CHECK_LINES, CHECK_PATH, NAME_FILE, BedsideError, InputError

MOST_BYTES = 256 << 20
"""Size limit of a file that is held in memory as a whole."""
MAX_BAD = 1.0
"""Percentage of a source's rows that may be bad unless the user says otherwise."""
MOST_LINE = 4 << 20
LONGEST_ROW = 64 << 20
MOST_DEPTH = 100
"""Depth limit of JSON: no real record nests deeper."""

_POINTER = b"version https://git-lfs.github.com/spec/"
_OF_POINTER = "is a pointer of Git LFS, not the file that it stands for (`git lfs pull` fetches that)"
_UNPACK = "Unpack it, and name the unpacked file"
NOT_UTF8 = "not UTF-8 text"
"""The reason of a row that is in another encoding, such as that of Windows."""
AS_UTF8 = 'Save it again as UTF-8 (in a spreadsheet: "CSV UTF-8")'
_OTHERS = (
    (_POINTER, _OF_POINTER, ""),
    (
        b"PK\x03\x04",
        "is a ZIP archive, as spreadsheets (.xlsx, .ods) are",
        f'{_UNPACK}; a sheet: save it as "CSV UTF-8"',
    ),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "is a spreadsheet or document of an office program",
        'Save it as "CSV UTF-8"',
    ),
    (b"\x1f\x8b\x08", "is compressed (gzip)", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is compressed (Zstandard)", _UNPACK),
    (b"\xfd7zXZ\x00", "is compressed (xz)", _UNPACK),
    (b"%PDF-", "is a PDF", ""),
    (b"PAR1", "is a Parquet file", "Give it a name that ends in .parquet"),
    (b"\xff\xfe\x00\x00", "is text in UTF-32, not UTF-8", AS_UTF8),
    (b"\xff\xfe", "is text in UTF-16, not UTF-8", AS_UTF8),
    (b"\xfe\xff", "is text in UTF-16, not UTF-8", AS_UTF8),
)
_PICTURES = ((b"\x89PNG", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"))
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)
_HEAD = 1_000
_SHOWN = 5
_BLOCK = 1 << 20
_MARK = b"\xef\xbb\xbf"  # the byte-order mark that some editors put in front of UTF-8
_MARKS = ("\\ud", "\\uD", "\\u0000")
_QUOTED = re.compile('"[^"]*"')
_DECIMAL = re.compile("(?<=[0-9]),(?=[0-9])")
_NOTHING = frozenset("nan -nan none null na n/a <na> #n/a #na nat".split())
_STATED = re.compile(r'"?sep=([^\w\s"]|\t)"?', re.IGNORECASE)
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


class TooLong(InputError):
    """A file with more bytes than anybody should need."""


class BadRow(InputError):
    """A row that cannot be read: `reason` is worded the same for the same cause, `found` is about this row.

    Readers yield one in place of the row; callers that need every row raise it.
    """

    def __init__(self, where: object, *, reason: str, found: str = "", expected: str = "", do: str = "") -> None:
        self.reason = reason
        super().__init__(where, found=found or reason, expected=expected, do=do)

    @classmethod
    def of(cls, error: InputError) -> BadRow:
        """An error raised for a row, as that row's BadRow."""
        if isinstance(error, BadRow):
            return error
        reason = "an unusable value"
        return cls(error.where, reason=reason, found=error.found, expected=error.expected, do=error.do)

    @property
    def detail(self) -> str:
        """What an exclusion says in addition to the reason."""
        found = "" if self.found == self.reason else self.found
        return f"{found} (expected {self.expected})".strip() if self.expected else found


def check_bad(
    shown: Sequence[object], records: int, where: object, *, most: float = MAX_BAD, do: str = "Fix these rows"
) -> None:
    """Refuse a source in which more than `most` percent of the records are bad; each is `shown` in a few words.

    Raises: InputError that lists the first of them.
    """
    if not len(shown) <= records * most / 100:  # written so that NaN, as `most`, also refuses
        first = "; ".join(map(str, shown[:_SHOWN])) + "; …" * (len(shown) > _SHOWN)
        found = f"{len(shown):,} of {records:,} rows cannot be read: {first}"
        raise InputError(where, found=found, expected=f"at most {most:g} %", do=do)


# --- Files ------------------------------------------------------------------------------------------------------------


@contextmanager
def open_file(path: Path, *, expected: str = "a file", do: str = "") -> Iterator[BufferedReader]:
    """A regular file, opened for reading.

    Raises: InputError when it does not exist, is a folder, a pipe, a device or a socket, a pointer of Git LFS in place
    of a file, or cannot be read, then or while it is read.
    """
    try:
        _check_regular(os.stat(path).st_mode, path, expected)  # noqa: PTH116 - opening a device may do something
        # A pipe that takes the file's place now is not waited for.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            _check_regular(os.fstat(number).st_mode, path, expected)
            if os.pread(number, len(_POINTER), 0) == _POINTER:
                raise InputError(path, found=_OF_POINTER, expected=expected, do=do)
            yield file
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(path, found="does not exist", expected=expected, do=do or CHECK_PATH) from None
    except OSError as error:
        raise _unreadable(path, error, expected, do) from None
    except ValueError as error:
        if not _is_of_path(error):
            raise
        raise InputError(str(path), found="is not a path", expected=expected, do=do) from None


@contextmanager
def open_by_number(path: Path, *, expected: str = "a file", do: str = "") -> Iterator[str]:
    """As `open_file`, but yields a name by which libraries that only take UTF-8 names can open that very file.

    Raises: as `open_file`.
    """
    with open_file(path, expected=expected, do=do) as file:
        yield f"/dev/fd/{file.fileno()}"


def _unreadable(path: Path, error: OSError, expected: str = "", do: str = "") -> InputError:
    do = do or ("Ask for permission to read it" if error.errno in (errno.EACCES, errno.EPERM) else "")
    return InputError(path, found=f"cannot be read ({error.strerror or error})", expected=expected, do=do)


def _is_of_path(error: ValueError) -> bool:
    """Whether the error says that this cannot be a name: it holds NUL, or characters that this locale lacks."""
    return isinstance(error, UnicodeEncodeError) or "null byte" in str(error)


def mistaken(head: bytes) -> tuple[str, str] | None:
    """What a file really is, by its first bytes, if it is not a table, text or picture, and what to do about it.

    >>> mistaken(b"<!DOCTYPE html><title>404")[0]
    'is a web page, as servers send instead of a file'
    """
    if _PAGE.match(head):
        return "is a web page, as servers send instead of a file", "Download the file again"
    return next(((found, do) for start, found, do in _OTHERS if head.startswith(start)), None)


def is_there(path: Path) -> bool:
    """Whether something exists at the path once links are followed.

    Raises: InputError, like `is_file` and `is_folder`, if the system will not say: a folder above may not be
    entered, a name is too long. (`Path.exists` and the like let such errors through.)
    """
    return _mode(path) is not None


def is_file(path: Path) -> bool:
    """Whether it is a regular file. Raises: InputError as `is_there`."""
    mode = _mode(path)
    return mode is not None and stat.S_ISREG(mode)


def is_folder(path: Path) -> bool:
    """Whether it is a folder. Raises: InputError as `is_there`."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - one call for all three
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise _unreadable(path, error) from None
    except ValueError as error:
        if not _is_of_path(error):
            raise
        return None


def entries(folder: Path) -> list[Path]:
    """The content of a folder, sorted by name. Raises: InputError if it is not a folder or cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise _unreadable(folder, error, "a folder that can be read") from None


def files_below(folder: Path) -> list[Path]:
    """The regular files at any depth, by name; links to folders are not followed.

    Raises: InputError if a folder cannot be read, since its content would silently be missing.
    """

    def refuse(error: OSError) -> None:
        raise _unreadable(Path(error.filename), error, "a folder that can be read")

    paths = (Path(here, name) for here, _, names in os.walk(folder, onerror=refuse) for name in names)
    return sorted(path for path in paths if is_file(path))


def _check_regular(mode: int, path: Path, expected: str) -> None:
    if stat.S_ISDIR(mode):
        raise InputError(path, found="is a folder", expected=expected, do=NAME_FILE)
    if not stat.S_ISREG(mode):
        do = "Save what it gives as a file, and name that"
        raise InputError(path, found="is not a regular file", expected=expected, do=do)


def read_file(path: Path, *, most: int = MOST_BYTES, expected: str = "a file", do: str = "") -> bytes:
    """The bytes of a regular file.

    Raises: InputError as `open_file`; TooLong for one of more than `most` bytes, without reading on.
    """
    with open_file(path, expected=expected, do=do) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(most + 1) if size <= most else b""
    if size > most or len(data) > most:
        found = f"is too long a file, of {max(size, len(data)):,} bytes"
        raise TooLong(path, found=found, expected=f"at most {most:,} bytes", do=do)
    return data


def read_text(path: Path, *, most: int = MOST_BYTES, expected: str = "a text") -> str:
    """The text of a file, with every line ending turned into a line feed. Raises:
    InputError as `read_file` and `decode`."""
    return decode(read_file(path, most=most, expected=expected), path).replace("\r\n", "\n").replace("\r", "\n")


def digest_of(path: Path) -> str:
    """SHA-256 of a regular file of any size. Raises: InputError as `open_file`."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def name_of(path: Path) -> str:
    """The name of a file as text; bytes that are not UTF-8 appear in it as \\xNN."""
    return os.fsencode(path.name).decode("utf-8", "backslashreplace")


def resolved(path: Path) -> Path:
    """The path with all links resolved, whether or not it exists. Raises: InputError for a circle of links."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        found = "is a circular link" if isinstance(error, RuntimeError) else f"is not a valid path ({error})"
        raise InputError(path, found=found, expected="a place") from None


def refuse_other(
    path: Path, begins: Sequence[bytes], *, what: str, is_one: Callable[[BinaryIO], bool] = lambda _: True
) -> None:
    """Check before writing that an existing file is an earlier `what`, which begins in one of these ways (ignoring
    case) and `is_one`, or empty: a mistyped `-o` would destroy anything else.

    Raises: InputError for such a file, and as `open_file`.
    """
    if not is_file(path):
        return
    with open_file(path) as file:
        head = file.read(max(map(len, begins)) + 64).lstrip().lower()
        other = head and not (head.startswith(tuple(first.lower() for first in begins)) and is_one(file))
    if other:
        do = "Choose another name, or delete that file yourself"
        raise InputError(
            path, found="exists and holds something else", expected=f"a new file, or an earlier {what}", do=do
        )


def is_hidden(name: str) -> bool:
    """Whether a file, by its name below a folder, or a folder that it is in, is hidden: a copy that a tool keeps, not
    what a user put there.

    >>> is_hidden("data/.DS_Store"), is_hidden(".git/config"), is_hidden("data/a.csv")
    (True, True, False)
    """
    return any(part.startswith(".") for part in name.split("/"))


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to something in the folder once all links are resolved."""
    try:
        return resolved(path).is_relative_to(resolved(folder))
    except InputError:
        return False


# --- Text -------------------------------------------------------------------------------------------------------------


def decode(data: bytes, path: object) -> str:
    """UTF-8 text, without its byte-order mark.

    Raises: InputError with the line and byte offset of the first byte that is not UTF-8, or of a NUL.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # With a byte-order mark the offset counts from after it.
        offset = error.start + (3 if data.startswith(_MARK) else 0)
        raise _not_text(data, offset, path) from None
    if "\x00" in text:
        raise _not_text(data, data.index(b"\x00"), path)
    return text


def _not_text(data: bytes, offset: int, path: object) -> InputError:
    line = data.count(b"\n", 0, offset) + 1
    picture = next((name for start, name in _PICTURES if data.startswith(start)), None)
    if other := (f"is a picture ({picture})", "Name another file") if picture else mistaken(data):
        return InputError(path, found=other[0], expected="a file encoded as UTF-8", do=other[1])
    return InputError(
        f"{path}:{line}",
        found=f"byte 0x{data[offset]:02x} at offset {offset} is not UTF-8 text",
        expected="a file encoded as UTF-8",
        do=AS_UTF8,
    )


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1; only a line feed ends one."""
    for number, line in enumerate(data.removeprefix(_MARK).split(b"\n"), start=1):
        if line.strip():
            yield number, line.removesuffix(b"\r")


def stream_lines(
    blocks: Iterable[bytes], path: object, most: int = MOST_LINE, *, skip: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Like `lines_of`, from blocks that are read one after another.

    Raises: InputError for a line of more bytes; with `skip` it becomes an empty line, and no more of it is held.
    """
    number, rest, over = 0, b"", False
    for block in blocks:
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        if not skip and max(map(len, (*lines, rest))) > most:
            where, limit = f"{path}:{number + len(lines) + 1}", f"at most {most:,} bytes a line"
            raise InputError(where, found="a line without end", expected=limit, do=CHECK_LINES)
        for line in lines:
            number += 1
            line = line.removeprefix(_MARK) if number == 1 else line
            if over or len(line) > most:
                over = False
                yield number, b""
            elif line.strip():
                yield number, line.removesuffix(b"\r")
        if len(rest) > most:
            rest, over = b"", True
    rest = rest.removeprefix(_MARK) if number == 0 else rest
    if over:
        yield number + 1, b""
    elif rest.strip():
        yield number + 1, rest.removesuffix(b"\r")


def blocks_of(file: BufferedReader) -> Iterator[bytes]:
    """The bytes of a file, block by block."""
    while block := file.read(_BLOCK):
        yield block


def line_text(line: bytes, where: object) -> str:
    """A line as text. Raises: BadRow if it is not text."""
    return check_text(line.decode("utf-8", "surrogateescape"), where)


def separator_of(text: TextIO, *, tabs: bool = False) -> tuple[int, str]:
    """How many lines precede the table, and what separates its cells; the text is then positioned at the table.

    A first line `sep=;` states it, as in Excel. Otherwise it is what separates the names of the header line: `tabs`;
    commas; if it holds none, semicolons, tabs or vertical bars, whichever are more frequent. The comma of a number
    ("1,5" among names with semicolons) separates nothing.
    """
    line = text.readline(LONGEST_ROW)
    if stated := _STATED.fullmatch(line.rstrip("\r\n")):
        return 1, stated[1]
    while line and not line.strip("\r\n"):
        line = text.readline(LONGEST_ROW)
    text.seek(0)
    header = _DECIMAL.sub("", _QUOTED.sub("", line))
    return 0, "\t" if tabs else "," if "," in header else max(",;\t|", key=header.count)


def cell_text(cell: str) -> str:
    """The text of a cell, stripped of white space; "" also for the words by which programs mark a missing value.

    >>> cell_text(" left lung "), cell_text("NaN"), cell_text("None"), cell_text("#N/A")
    ('left lung', '', '', '')
    """
    text = cell.strip()
    return "" if text.casefold() in _NOTHING else text


def is_text(text: str) -> bool:
    """Whether it is free of bytes that were not UTF-8, of unpaired surrogates and of NUL."""
    return (text.isascii() and "\0" not in text) or _NO_TEXT.search(text) is None


def check_text(text: str, where: object, name: str = "") -> str:
    """The text, if it is valid. Raises: BadRow for bytes that were not UTF-8, unpaired surrogates, and NUL."""
    wrong = _NO_TEXT.search(text)
    if wrong is None:
        return text
    place = f"character {wrong.start() + 1}" + f" of {name}" * bool(name)
    if wrong[0] == "\x00":
        raise BadRow(where, reason="a NUL character", found=place, expected="text")
    raise BadRow(where, reason=NOT_UTF8, found=place, expected="text in UTF-8", do=AS_UTF8)


# --- JSON -------------------------------------------------------------------------------------------------------------


def parse_json(data: bytes | str, where: object, *, expected: str = "JSON", do: str = "", once: bool = False) -> Any:
    """JSON in UTF-8, as RFC 8259 defines it: no NaN, no unpaired surrogates, nested at most `MOST_DEPTH` deep.
    With `once`, an object that holds a key twice is refused too: some programs read the first value, others the last.

    Raises: InputError for anything else.
    """
    text = decode(data, where) if isinstance(data, bytes) else data
    try:
        value = json.loads(text, parse_constant=_no_number, object_pairs_hook=_each_once if once else None)
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


def read_json(path: Path, *, expected: str = "JSON", do: str = "") -> Any:
    """The JSON in a file, each key once. Raises: InputError as `read_file` and `parse_json`."""
    return parse_json(read_file(path, expected=expected, do=do), path, expected=expected, do=do, once=True)


def read_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises: InputError as `read_json`, and for other JSON."""
    value = read_json(path, expected="a JSON object")
    if not isinstance(value, dict):
        raise InputError(path, found=f"holds a {type(value).__name__}", expected="a JSON object")
    return value


def parse_literal(text: str) -> Any:
    """The value that a text writes as Python does, such as a list in a cell.

    >>> parse_literal(" ['a', 1] ")
    ['a', 1]

    Raises: ValueError for anything else: `[{[]: 1}]`, a name, too deep a nesting.
    """
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError("no Python literal") from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


_LEAVES = frozenset((str, bytes, int, float, bool, type(None)))  # the types of most values in a row


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


_NAME = re.compile(r"[\w-]+")
_QUOTATION = re.compile(r"(['\"])(.*?)\1")


class _Yaml(yaml.SafeLoader):
    """YAML as people mean it: a plain scalar is null, true, false, a number, or text.

    PyYAML follows YAML 1.1, in which `no` is false, `010` is 8, `1:30` is 90, and `2020-01-01` a date. A key that
    occurs twice in a mapping is an error; PyYAML would keep the last.
    """

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line, name = key.start_mark.line + 1, (key.tag, key.value)
                if name in lines:
                    # A key of several words may be a text with a colon, and that may be a hidden one.
                    told = repr(key.value[:40]) if _NAME.fullmatch(key.value) else "a key"
                    raise yaml.YAMLError(f"{told} stands in line {lines[name]} and again in line {line}")
                lines[name] = line
        return super().construct_mapping(node, deep)


_Yaml.yaml_implicit_resolvers = {}  # not those of PyYAML
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    ("merge", r"<<", ["<"]),
):
    _Yaml.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), _first)


def parse_yaml(text: str, where: object, *, expected: str = "YAML") -> Any:
    """YAML that nests no deeper than JSON may, and whose references do not lead to other references: a few bytes of
    such references could expand without end. Plain words are text, except null, true and false.

    Raises: InputError for anything else, and for a key that occurs twice.
    """
    named: list[bool] = []  # for the collections that are open, from the outside in
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.CollectionStartEvent):
                named.append(event.anchor is not None)
            elif isinstance(event, yaml.CollectionEndEvent):
                named.pop()
            if len(named) > MOST_DEPTH:
                raise InputError(where, found="cannot be read as YAML (nested too deep)", expected=expected)
            if isinstance(event, yaml.AliasEvent) and any(named):
                raise InputError(where, found="holds a nested reference", expected=expected)
        return yaml.load(text, _Yaml)
    except yaml.MarkedYAMLError as error:
        found, do = f"cannot be read as YAML ({_yaml_problem(error)})", "Put quotes around a text with a colon"
        raise InputError(where, found=found, expected=expected, do=do) from None
    except (yaml.YAMLError, RecursionError) as error:
        found = f"cannot be read as YAML ({' '.join(str(error).split())[:200]})"
        raise InputError(where, found=found, expected=expected) from None
    except (ValueError, TypeError, LookupError, AttributeError):
        # Their messages quote the value.
        found = "cannot be read as YAML (a value that its tag does not allow)"
        raise InputError(where, found=found, expected=expected) from None


def _yaml_problem(error: yaml.MarkedYAMLError) -> str:
    """What is wrong and where; never a part of the file, which may hold what patients hide."""
    problem = _QUOTATION.sub(_unquoted, error.problem or error.context or "no YAML")
    mark = error.problem_mark or error.context_mark
    return f"{problem}, line {mark.line + 1}, column {mark.column + 1}" if mark else problem


def _unquoted(quotation: re.Match[str]) -> str:
    """Dots for names of references and tags; a single character and <the name of a token> stay."""
    return quotation[0] if len(quotation[2]) < 2 or quotation[2].startswith(("<", "\\")) else "…"


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
