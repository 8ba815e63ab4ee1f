"""Shared by the commands of `bedside select`: candidates played one after another, cases, consultations, sheets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.dialogue.game import Case, Game, Record, ScriptedAgent
from baselines.dialogue.run import Played
from baselines.results.run import ModelUsed, RunRecord
from baselines.threemdbench.consultation.cases import Cases, read_cases
from baselines.threemdbench.consultation.names import check_candidates
from loaders.files.opening import read_file
from loaders.opened import Opened, open_corpus
from scripts.run.consultation import warn_of_cases
from scripts.run.play import Asking, ModelSeed, play, record_of, roles_of
from scripts.terminal.console import output

Sheets = Annotated[tuple[Path, ...], typer.Argument(metavar="SHEET…", help="Filled-in sheets of all raters.")]
Split = Annotated[str, typer.Option(metavar="NAME", help="Split to play; the paper's validation part is not public.")]


@dataclass(frozen=True, kw_only=True)
class Selecting(Asking):
    """Options of both commands."""

    model_seed: ModelSeed = None


def play_each(
    game: Game[Case, Record],
    cases: Sequence[Case],
    options: Selecting,
    agent: Callable[[str, str], ScriptedAgent],
    role: str,
    names: Sequence[str],
    others: Mapping[str, str],
) -> dict[str, Played[Record]]:
    """Candidate -> the outcome of the cases with it in the role, each in a folder of its own below RUN.

    --max-cost limits what all of them may cost together.

    Raises InputError for two candidates of one row of the table, and what `roles_of` and `play` raise.
    """
    check_candidates(names, f"--{role}")
    playing = {name: roles_of({role: name, **others}, agent, options, others=names) for name in names}
    played: dict[str, Played[Record]] = {}
    for name, roles in playing.items():
        output.print(name, style="bold")
        spent = sum(run.charged for run in played.values())
        left = None if options.max_cost is None else max(0.0, options.max_cost - spent)
        mine = replace(options, max_cost=left)
        played[name] = play(game, cases, roles, mine, title=name, out=options.out / _folder(name))
    return played


def record_of_choice(
    baseline: str,
    played: Mapping[str, Played[Any]],
    options: Selecting,
    opened: Opened,
    *,
    reasons: Sequence[str | None],
    models: Sequence[ModelUsed] = (),
    **more: Any,
) -> RunRecord:
    """The record of a choice: that of a run (`record_of`) in which all candidates have played, and what they took."""
    runs = list(played.values())
    scripted = sorted({player.name for run in runs for player in run.players.values() if player.stand_in})
    agents = f"scripted agents {', '.join(scripted)}" if scripted else None
    record = record_of(baseline, runs[0], options, opened, reasons=(opened.stand_in, agents, *reasons), **more)
    used = tuple(dict.fromkeys(model for run in runs for model in run.models))
    taken = {name: [run.taken[name] for run in runs] for name in runs[0].taken}
    total: dict[str, Any] = {name: None if None in counts else sum(counts) for name, counts in taken.items()}
    return replace(record, models=(*used, *models), **total)


def cases_of(data: str, split: str) -> tuple[Opened, Cases]:
    """The cases of a split that can be played; reports how many rows cannot. Raises InputError if none can."""
    opened = open_corpus("3mdbench", data, split)
    read = read_cases(opened.splits[split])
    warn_of_cases(read, data)
    return opened, read


def digest_of(sheets: Sequence[Path]) -> str:
    """SHA-256 of filled-in sheets, in whatever order they were named."""
    return hashlib.sha256(b"".join(read_file(path) for path in sorted(sheets))).hexdigest()


def _folder(name: str) -> str:
    """A folder name for a model: its name, and a digest, since different names may give the same folder name."""
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
