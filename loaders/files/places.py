"""Paths as others may read them: relative to the folder that they receive, or the bare name."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from loaders.errors import InputError
from loaders.files.paths import is_there, resolved

Value = TypeVar("Value")

# An absolute path inside a text: at its start or after a space, a bracket, "=", ":" or "provider/", but not inside a
# word or an address ("mg/day", "https://host/page").
_ABSOLUTE = re.compile(r"(?:(?<![\w.:/~…-])|(?<=[=:,])|(?<=\w/))/(?![/\s])[^\s'\"`<>|,;()\[\]{}]+")
_WORD = re.compile(r" +[^\s'\"`<>|,;()\[\]{}]+")
_MOST_BLANKS = 12
_ARGUMENT = re.compile(r"(?P<before>(?:[^/=]*[=:,])?(?:[\w.-]+/(?=/))?)(?P<path>/(?!/).+)", re.DOTALL)
_SIGNED_IN = re.compile(r"(?<=://)[^/@\s]+@")


def seen_from(place: str | Path, folder: Path) -> str:
    """A path relative to a folder, if both are below the folder's parent or the current folder; otherwise its name.

    >>> seen_from("/data/runs/first/run.json", Path("/data/runs/first")), seen_from("/home/ada/photos", Path("/data/x"))
    ('run.json', '…/photos')
    """
    return _near(Path(place), folder) or f"…/{_leads_to(Path(place)).name}"


def without_places(value: Value, folder: Path | None = None) -> Value:
    """A text, or all texts of a record or of JSON, keys too, without passwords in addresses and with this machine's
    absolute paths as `seen_from` a folder; without one, nothing depends on where they are. Of paths that would be
    called the same, as much is kept as tells them apart.

    >>> without_places(["/tmp/first/clip", "hf//tmp/second/clip"]), without_places("/tmp/first/clip")
    (['…/first/clip', 'hf/…/second/clip'], '…/clip')
    """
    told = _told({path for text in _texts(value) for _, path in _paths(text)}, folder)
    return _with_texts(value, lambda text: _text_without(text, told))  # type: ignore[no-any-return]


def _leads_to(place: Path) -> Path:
    try:
        return resolved(place)
    except InputError:  # a circle of links, which leads nowhere
        return place


def _near(place: Path, folder: Path) -> str:
    try:
        path, base = resolved(place), resolved(folder)
    except InputError:
        return ""
    for shared in (base.parent, Path.cwd()):
        if shared != Path("/") and path.is_relative_to(shared) and base.is_relative_to(shared):
            return os.path.relpath(path, base)
    return ""


def _told(paths: Iterable[str], folder: Path | None) -> dict[str, str]:
    places = {path: _leads_to(Path(path)) for path in paths}
    ends = Counter(place.parts[at:] for place in {*places.values()} for at in range(1, len(place.parts)))
    told = {}
    for path, place in places.items():
        tails = [place.parts[at:] for at in range(len(place.parts) - 1, 0, -1)] or [()]
        own = next((tail for tail in tails if ends[tail] == 1), tails[-1])
        told[path] = (_near(Path(path), folder) if folder else "") or f"…/{'/'.join(own)}"
    return told


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for item in (*value, *value.values()) for text in _texts(item))
    elif isinstance(value, list | tuple):
        yield from (text for item in value for text in _texts(item))
    elif is_dataclass(value) and not isinstance(value, type):
        yield from (text for one in fields(value) for text in _texts(getattr(value, one.name)))


def _with_texts(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_with_texts(name, change): _with_texts(item, change) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_with_texts(item, change) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: _with_texts(getattr(value, one.name), change) for one in fields(value)})
    return value


def _text_without(text: str, told: Mapping[str, str]) -> str:
    parts, at = [], 0
    for start, path in _paths(text):
        parts += [text[at:start], told[path]]
        at = start + len(path)
    return _written(_SIGNED_IN.sub("", "".join([*parts, text[at:]])))


def _paths(text: str) -> Iterator[tuple[int, str]]:
    """Where this machine's absolute paths begin in a text, and they."""
    at = 0
    while found := _ABSOLUTE.search(text, at):
        path, at = found[0].rstrip(".:"), found.end()
        if _is_there(Path(*Path(path).parts[:2], ".")):
            path = _with_blanks(path, text[found.start() + len(path) :])
            at = found.start() + len(path)
            yield found.start(), path


def _with_blanks(path: str, rest: str) -> str:
    """The path with as many of the words behind it as belong to it: the longest that is there, or whose folder is."""
    longest, at = path, 0
    for _ in range(_MOST_BLANKS):
        word = _WORD.match(rest, at)
        if word is None:
            break
        at = word.end()
        longer = path + rest[:at].rstrip(".:")
        within = "/" in longer[len(path) :] and _is_there(Path(longer).parent)
        longest = longer if within or _is_there(Path(longer)) else longest
    return longest


def _written(text: str) -> str:
    """A form that any file accepts: names with bytes that are not UTF-8 contain unpaired surrogates."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _is_there(path: Path) -> bool:
    try:
        return is_there(path)
    except InputError:  # a word too long to be a file name
        return False


def command_line(words: Sequence[str], folder: Path) -> str:
    """A command of Bedside as typed in a folder."""
    return _written("bedside " + shlex.join(_argument(word, folder) for word in words))


def _argument(text: str, folder: Path) -> str:
    """A word of a command: paths, also those after `NAME=` and `kind:`, become relative to the folder."""
    if found := _ARGUMENT.fullmatch(text.replace("file:///", "/")):
        return found["before"] + seen_from(found["path"], folder)
    before, equals, path = text.rpartition("=")
    if path and not path.startswith("-") and _is_there(Path(path)):
        return before + equals + seen_from(path, folder)
    return _SIGNED_IN.sub("", text)
