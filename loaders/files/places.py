"""Paths as others may read them: relative to the folder that they receive, or the bare name."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from loaders.errors import InputError
from loaders.files.paths import is_there, resolved

Value = TypeVar("Value")

# An absolute path inside a text: at its start or after a space, a bracket, "=", ":" or "provider/", but not inside a
# word or an address ("mg/day", "https://host/page").
_ABSOLUTE = re.compile(r"(?:(?<![\w.:/~-])|(?<=[=:,])|(?<=\w/))/(?![/\s])[^\s'\"`<>|,;()\[\]{}]+")
_WORD = re.compile(r" +[^\s'\"`<>|,;()\[\]{}]+")
_MOST_BLANKS = 12
_ARGUMENT = re.compile(r"(?P<before>(?:[^/=]*[=:,])?(?:\w+/(?=/))?)(?P<path>/(?!/).+)", re.DOTALL)
_SIGNED_IN = re.compile(r"(?<=://)[^/@\s]+@")


def seen_from(place: str | Path, folder: Path) -> str:
    """A path relative to a folder, if both are below the folder's parent or the current folder; otherwise its name.

    >>> seen_from("/data/runs/first/run.json", Path("/data/runs/first")), seen_from("/home/ada/photos", Path("/data/x"))
    ('run.json', '…/photos')
    """
    try:
        path, base = resolved(Path(place)), resolved(folder)
    except InputError:  # a circle of links, which leads nowhere
        return f"…/{Path(place).name}"
    for shared in (base.parent, Path.cwd()):
        if shared != Path("/") and path.is_relative_to(shared) and base.is_relative_to(shared):
            return os.path.relpath(path, base)
    return f"…/{path.name}"


def without_places(value: Value, folder: Path) -> Value:
    """A text, or all texts of a record or of JSON, with this machine's absolute paths made relative to a folder, and
    passwords removed from addresses."""
    whole: Any = value
    if isinstance(whole, str):
        whole = _text_without(whole, folder)
    elif isinstance(whole, Mapping):
        whole = {name: without_places(item, folder) for name, item in whole.items()}
    elif isinstance(whole, list | tuple):
        whole = type(whole)(without_places(item, folder) for item in whole)
    elif is_dataclass(whole) and not isinstance(whole, type):
        whole = replace(whole, **{one.name: without_places(getattr(whole, one.name), folder) for one in fields(whole)})
    return whole  # type: ignore[no-any-return]


def _text_without(text: str, folder: Path) -> str:
    parts, at = [], 0
    while found := _ABSOLUTE.search(text, at):
        path = found[0].rstrip(".:")
        if _is_there(Path(*Path(path).parts[:2], ".")):
            path = _with_blanks(path, text[found.start() + len(path) :])
            parts += [text[at : found.start()], seen_from(path, folder)]
            at = found.start() + len(path)
        else:
            parts.append(text[at : found.end()])
            at = found.end()
    return _written(_SIGNED_IN.sub("", "".join([*parts, text[at:]])))


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
