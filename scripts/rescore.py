"""`bedside rescore`: recomputes the numbers of a finished run from what it has stored."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import typer

from baselines.dialogue.played import DIALOGUES, HIDDEN_PART
from baselines.results.comparison import FinishedRun, read_runs
from baselines.results.run import WRITTEN, DataUsed, Result
from baselines.threemdbench.consultation.cases import PICTURES
from loaders.errors import InputError
from loaders.files.disk import make_folder, replacing, writing
from loaders.files.opening import digest_of, open_file
from loaders.files.paths import entries, is_file, is_folder
from loaders.plugins import BASELINES, Plugin, brought
from scripts.commands import RUN, Command
from scripts.run.stored import Stored
from scripts.terminal.console import output
from scripts.terminal.finish import end_as_invalid, finish, tell_absent
from scripts.terminal.options import EMBEDDINGS, Cache, Out, refuse_itself

# Files of a run that no number is made from, or that are private to somebody: paid answers, logs, weights.
_LARGE = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".safetensors", ".tmp", ".lock")


def command(
    run: Path = typer.Argument(..., metavar="RUN", help="Folder of a finished run, from this or an earlier version."),
    *,
    out: Out,
    data: str | None = typer.Option(
        None, metavar="DATA", help="Current location of the run's rows, if they came from a file or folder."
    ),
    embeddings: list[str] = typer.Option(
        [], metavar="NAME=PLACE", help="Your own embeddings that the run used. May be repeated."
    ),
    cache: Cache = EMBEDDINGS,
) -> None:
    """Recompute a run's numbers from its stored dialogues, answers or embeddings; no model is called.

    The same version gives the same numbers to the last digit. A later version adds its new metrics, and checks an old
    run against the papers' conditions. Dialogues are read with hidden.jsonl if it is present. Exit code 1
    if the run is invalid.

    For another judge or assessor, repeat the run's own command with it and the same -o: the other roles' answers are
    stored, so only the new model is asked, and the earlier results are kept in earlier/.

    Example: `bedside rescore runs/consultation -o runs/consultation-again`
    """
    (stored,) = read_runs([run])
    tell_absent(run)
    refuse_itself(out, [run])
    _refuse_dialogues(run, out)
    again = Stored(stored, data, cache, tuple(embeddings))
    scored = _module(stored).rescore(again)
    again.refuse_unread()
    made = scored.results[0].record
    assert made is not None
    # The record stays that of the run; only the versions used for computing the numbers are today's.
    record = replace(
        stored.record, data=_data(stored, made.data), versions=made.versions or stored.record.versions, judged=True
    )
    _copy(run, out)
    numbers = [replace(result, record=record) for result in scored.results]
    finish(out, numbers, scored.extra, printed=not scored.invalid)
    _tell(stored.results, scored.results)
    if scored.invalid:
        end_as_invalid(scored.invalid)


def _module(run: FinishedRun) -> ModuleType:
    """The module of the run's baseline, which knows how to score it again."""
    name = run.record.baseline
    known = {plugin.name: plugin for plugin in brought(BASELINES, RUN)[0]}
    known |= {word: Plugin(word, entry.place) for word, entry in RUN.items() if isinstance(entry, Command)}
    module = known[name].module() if name in known else None
    if module is None or not hasattr(module, "rescore"):
        do = "Its numbers can only be made again by its own command"
        if "runs" in run.record.options:
            do = "Rescore the runs it was made from, then run it again on them"
        raise InputError(
            run.folder,
            found=f"a run of {name}, which stores nothing to rescore",
            expected="a run that stores dialogues, answers or embeddings",
            do=do,
        )
    return module


def _data(run: FinishedRun, made: DataUsed) -> DataUsed:
    """What is known about the rows: what was recorded, and what was learnt if they were opened again."""
    told = run.record.data
    if made.content_digest != told.content_digest or made.split != told.split:
        return told
    return replace(made, revision=told.revision)


def _refuse_dialogues(run: Path, out: Path) -> None:
    """Raises InputError if the folder holds dialogues that the copies of this run's would replace or lie beside."""
    for name in (DIALOGUES, HIDDEN_PART):
        own, there = (digest_of(folder / name) if is_file(folder / name) else None for folder in (run, out))
        # A copy may lack its hidden part, which then stays beside the same dialogues.
        if there not in (None, own) and (own or name == DIALOGUES):
            expected = f"none, or the same as in {run}"
            raise InputError(out / name, found="dialogues of another run", expected=expected, do="Name another folder")


def _copy(run: Path, out: Path) -> None:
    """Copy the run's own files, so that the new folder can be shown, compared and
    scored again; private ones stay private."""
    names = [path for path in entries(run) if path.name not in WRITTEN and path.suffix not in _LARGE]
    pictures = entries(run / PICTURES) if is_folder(run / PICTURES) else []
    make_folder(out / PICTURES if pictures else out)
    for path in (*names, *pictures):
        if is_file(path) and not path.is_symlink():
            private = bool(path.stat().st_mode & 0o077 == 0)
            target = out / path.relative_to(run)
            with open_file(path) as file, writing(target), replacing(target, private=private) as copy:
                shutil.copyfileobj(file, copy)


def _tell(before: list[Result], after: list[Result]) -> None:
    """Report how many numbers agree with the run's, and which do not."""
    old = {result.key: result.value for result in before}
    new = {result.key: result.value for result in after}
    same = sum(key in new and new[key] == value for key, value in old.items())
    moved = [key for key, value in old.items() if key in new and new[key] is not None and new[key] != value]
    lost = [result for result in after if result.value is None and old.get(result.key) is not None]
    output.print(
        f"{same:,} of {len(old):,} numbers are identical; {len(moved):,} differ, {len(new.keys() - old.keys()):,} "
        f"new, {len(old.keys() - new.keys()):,} removed" + (f", {len(lost):,} not recomputed" if lost else "")
    )
    for result in lost:
        output.print(f"  {result.column} is not recomputed: {result.note}")
    for key in moved[:5]:
        output.print(f"  {', '.join(part for part in key[1:] if part)}: {old[key]} before, {new[key]} now")
