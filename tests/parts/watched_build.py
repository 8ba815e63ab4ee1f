"""`bedside build …` in a process of its own that watches which code runs and which files are opened in each stage.

    python -m tests.parts.watched_build build medlaybench-v --captions sample --out DIR

Prints JSON: the stages that worked, and what ran or was opened in one though its code digest does not cover it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from builders.pipeline import run
from builders.pipeline import work as working
from loaders import reached
from loaders.reached import Reach, reach
from scripts.cli import execute

ROOT = Path(run.__file__).resolve().parents[2]
ROOMS = [ROOT / room for room in ("builders", "loaders", "baselines", "dataset_cards")]
ROOMS += map(Path, filter(None, os.environ.get("WATCHED", "").split(os.pathsep)))  # of plug-ins

ran: set[tuple[str, str]] = set()  # (file, name of the function)
opened: set[str] = set()
missing: set[str] = set()
stages: list[str] = []


def note_call(frame: FrameType, event: str, _: Any) -> None:
    ran.add((frame.f_code.co_filename, frame.f_code.co_qualname))


def note_open(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | Path):
        opened.add(str(arguments[0]))


def compare(where: str, covered: Reach) -> None:
    """Note what ran or was opened since the last time, inside the project, and is not covered."""
    modules = {module.__file__: name for name, module in sys.modules.items() if getattr(module, "__file__", None)}
    for file, function in ran:
        if not any(Path(file).is_relative_to(room) for room in ROOMS):
            continue
        name = function.partition(".")[0]
        whole = modules[file] in covered.parts
        if not whole and not name.startswith("<") and f"{modules[file]}:{name}" not in covered.parts:
            missing.add(f"{where} runs {modules[file]}:{name}")
    for file in opened:
        path = Path(file).resolve()
        code = path.suffix == ".py" or path.parent.name == "__pycache__"  # bytecode is written under another name first
        data = not code and any(path.is_relative_to(room) for room in ROOMS)
        if data and path not in covered.files:
            missing.add(f"{where} opens {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")
    ran.clear()
    opened.clear()


def watched(function: Callable[..., Any], where: str, covered: Reach, *arguments: Any) -> Any:
    ran.clear()
    opened.clear()
    sys.settrace(note_call)
    try:
        return function(*arguments)
    finally:
        sys.settrace(None)
        compare(where, covered)


def main(command: list[str]) -> None:
    work, spool, everything = working.Work.__call__, run._spool, Reach()

    def noted_reach(*objects: object) -> Reach:
        found = reach(*objects)
        everything.parts.update(found.parts)
        everything.files.update(found.files)
        return found

    def watched_work(self: working.Work, *arguments: Any) -> Any:
        stages.append(self.stage.name)
        return watched(work, self.stage.name, reach(self), self, *arguments)

    def watched_spool(*arguments: Any) -> Any:
        stages.append("source")
        return watched(spool, "source", everything, *arguments)

    reached.reach = noted_reach
    run._spool = watched_spool
    working.Work.__call__ = watched_work  # type: ignore[method-assign, assignment]
    sys.addaudithook(note_open)
    status = execute([*command, "--workers", "1"])
    print(json.dumps({"stages": list(dict.fromkeys(stages)), "missing": sorted(missing)}))
    sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
