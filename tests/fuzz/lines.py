"""Command lines out of the table of commands: every option that may take a path is led to every odd place.

Nothing here names a command, so that a new one is tried from its first day; `_HINTS` only lets lines come further.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from scripts.commands import BEDSIDE, Group

_ODD = (
    "file", "empty", "folder", "readonly", "unreadable", "unreadable/captions.csv", "unreadable/nothing",
    "unsearchable", "unsearchable/nothing", "unreadable.csv", "new\nline", "café", "e" * 250, "pipe", "pipe.csv",
    "pipe.json", "pipe.parquet", "pipe.jpg", "pipe/below", "socket", "dangling", "dangling/below", "circle",
    "circle/below", "link", "out", "passwd", "zero.csv", "to-unreadable", "file/below", "nothing", "nothing/below",
    "no-utf8-\udcff\udced", "no-utf8-\udcff.csv", "nothing-\udcff", "sparse.csv", "sparse.parquet", "nothing@v1.0.0",
    "a" * 300, "a/" * 2000, "nothing\u2028", "nothing,nothing", "[red]nothing[/red]", "%s{}\\",
)  # fmt: skip
_WHOLE = (
    "captions", "photos", "patients", "runs/language", "runs/concepts", "runs/consultation", "runs/confirmation",
    "tables/captions.csv", "tables/policy.json", "tables/labels.jsonl", "tables/cues.parquet", "tables/vocabulary.csv",
    "sheets/pairs-R1.csv", "sheets/consultations.csv", "pictures", "curated", "photos.work", "patients.work",
    "captions/manifest.json", "captions/README.md", "tables", "runs", "prompts", "report.html",
    "runs/language/run.json",
)  # fmt: skip
PLACES = (
    *3 * ("", ".", "/", ".."), "-", "~", "new", "new/below", "/dev/null", "/dev/zero", "/dev/full", "/proc/self/mem",
    "/etc", *(f"{{yard}}/odd/{name}" for name in _ODD), *(f"{{yard}}/{name}" for name in _WHOLE),
)  # fmt: skip
_PREFIXES = ("", "", "", "", "threads=", "cases=", "folder=", "table=", "web=", "isic=", "x=", "scin=", "oral=")
_MODELS = (
    "scripted/keyword", "scripted/patient", "scripted/assessor", "scripted/expert", "rules", "template", "random:tiny",
    "scripted/nobody",
)  # fmt: skip
_HINTS = {
    "doctor": ("scripted/keyword",),
    "assessor": ("scripted/assessor",),
    "evaluator": ("rules",),
    "judge": ("rules", "rules", "scripted"),
    "clinician": ("scripted/expert",),
    "encoder": ("words",),
    "tag": ("v1.0.0",),
    "resamples": ("10",),
    "limit": ("1",),
    "workers": ("1",),
    "epochs": ("1",),
    "deadline": ("0.01",),
    "synthetic": ("2",),
    "most": ("100",),
    "cases": ("2",),
    "corpus": ("{yard}/patients",),
}
_EXPENSIVE = frozenset({"demo"})
"""What takes minutes where nothing is wrong is given only places where nothing can be written."""


def commands(group: Group = BEDSIDE, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command."""
    for word, entry in group.commands.items():
        if isinstance(entry, Group):
            yield from commands(entry, (*words, word))
        else:
            yield (*words, word)


def _kinds(hint: Any) -> set[Any]:
    if get_origin(hint) in (Union, UnionType, list, tuple, frozenset):
        return set().union(*map(_kinds, get_args(hint)))
    return {hint}


@cache
def parameters(command: tuple[str, ...]) -> tuple[tuple[Any, bool, str], ...]:
    """Each parameter, whether a path may stand there, and its flag ("" of an argument)."""
    from scripts.cli import find

    found, _ = find(command)
    hints = get_type_hints(found.callback)
    told = []
    for each in found.params:
        if each.name not in hints:
            continue
        kinds = _kinds(hints[each.name])
        flag = each.opts[0] if each.param_type_name == "option" else ""
        told.append((each, bool(kinds & {str, Path}), flag))
    return tuple(told)


def words_of(command: tuple[str, ...], focus: int, place: int, rest: int, yard: Path, folder: Path) -> list[str]:
    """A command line: its parameter number `focus` leads to place number `place`, `rest` chooses the others."""
    draw = random.Random(rest)
    known = parameters(command)
    open_to_paths = [each for each, path, _ in known if path]
    chosen = open_to_paths[focus % len(open_to_paths)]
    words = list(command)
    for each, path, flag in known:
        if each is chosen:
            value = PLACES[place % len(PLACES)].replace("{yard}", str(yard))
            prefix = _PREFIXES[draw.randrange(len(_PREFIXES))] if "=" in str(each.metavar) else ""
            given = prefix + value
        elif each.name in _HINTS and (each.required or not path or draw.random() < 0.5):
            given = draw.choice(_HINTS[each.name]).replace("{yard}", str(yard))
        elif each.required:
            given = _likely(each, draw, yard)
        elif path and draw.random() < 0.1:
            given = draw.choice(PLACES).replace("{yard}", str(yard))
        else:
            continue
        words += [flag, given] if flag else [given]
    if words == ["curate", "/", *words[2:]]:  # all pictures of the machine: that takes as long as it takes
        words[1] = "/etc"
    if command[0] in _EXPENSIVE and not any(str(yard) in word for word in words):
        words += ["--out", f"{yard}/odd/readonly"]
    return [os.fsdecode(word.encode("utf-8", "surrogateescape")) for word in words]


def _likely(parameter: Any, draw: random.Random, yard: Path) -> str:
    """What lets a command go on, most of the time."""
    metavar = str(parameter.metavar)
    if parameter.name == "out":
        return draw.choice(("new", "new/below", "new.csv"))
    if "MODEL" in metavar or parameter.name == "model":
        return draw.choice(_MODELS)
    if "sample" in metavar and draw.random() < 0.7:
        return {"captions": f"{yard}/tables/captions.csv"}.get(parameter.name, "sample")
    wanted = "runs/" if "RUN" in metavar else "sheets/" if "SHEET" in metavar else ""
    return f"{yard}/" + draw.choice([name for name in _WHOLE if name.startswith(wanted)])
