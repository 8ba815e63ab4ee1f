"""`bedside run captioning`: Table A5."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from baselines.dialogue.game import ScriptedAgent
from baselines.dialogue.played import DIALOGUES, PlayedCase
from baselines.medlaybench_v.captioning import (
    ROLE,
    Captions,
    captioning_game,
    evaluate,
    read_captions,
    read_pairs,
    read_prompts,
    told_of_empty,
)
from baselines.results.run import DataUsed, RunRecord
from loaders.files.paths import is_there
from loaders.models.scripted_chat import script_named
from loaders.opened import open_data
from scripts.run.play import Asking, MaxInvalid, play, record_of, roles_of
from scripts.run.stored import Rescored, Stored
from scripts.terminal.console import warn
from scripts.terminal.finish import end_as_invalid, finish
from scripts.terminal.options import LAST_SEED, Data, Resamples
from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Captioning(Asking):
    data: Data
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Vision-language model, such as vllm/Qwen/Qwen2-VL-7B-Instruct.")
    ]
    split: Annotated[str, typer.Option(metavar="NAME", help="Split to caption.")] = "test"
    pairs: Annotated[int, typer.Option(min=2, metavar="N", help="Number of images to caption, the first by id.")] = 1000
    sample_seed: Annotated[
        int | None,
        typer.Option(min=0, max=LAST_SEED, metavar="SEED", help="Random seed for drawing the images instead."),
    ] = None
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the table row. [the paper's, or the model's]")
    ] = None
    resamples: Resamples = 1000
    max_invalid: MaxInvalid = 0.0  # the paper's table is of so many pairs, not of most of them


@options_of(Captioning)
def command(options: Captioning) -> None:
    """Caption images with a vision-language model and score both registers (Table A5).

    Greedy, at most 64 tokens a caption, unless --temperature and --max-tokens say otherwise. Two requests per image,
    stored and resumed as in `bedside run consultation`.

    Example: `bedside run captioning runs/v1 --model openai/gpt-4o-mini -o runs/captioning`
    """
    opened = open_data(options.data, split=options.split)
    texts = read_prompts(options.prompts)
    with opened.naming():
        rows, data = opened.splits[options.split], DataUsed.of(opened)
        chosen = read_pairs(rows, data, n=options.pairs, sample_seed=options.sample_seed)
    game = captioning_game(texts)
    roles = roles_of({ROLE: options.model}, _agent, options)
    played = play(game, chosen.rows, roles, options, title=f"{options.model}: captions")
    record = record_of(
        "captioning", played, options, opened, facts={}, texts=texts, reasons=(opened.stand_in, played.stand_in)
    )
    said = played.records
    results = evaluate(chosen, said, record, label=options.label, resamples=options.resamples, seed=options.seed)
    silent = _tell_empty(said, record)
    finish(options.out, results, printed=not silent)
    if silent:
        end_as_invalid(silent)


def _agent(role: str, name: str) -> ScriptedAgent:
    """A shipped scripted model, which knows no more of an image than any model."""
    script = script_named(name)
    return lambda pair: script


def _tell_empty(said: Sequence[Captions], record: RunRecord) -> list[str]:
    """Warns of empty answers, and returns why the numbers cannot be trusted, if a prompt has no other answers."""
    some, every = told_of_empty(said, record)
    for text in some:
        warn(text)
    return every


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the stored captions; metrics are computed with the weights on this machine."""
    opened, run = stored.opened(), stored.run
    # Earlier versions asked without a game, and stored captions only.
    played = stored.played(PlayedCase[Captions]) if is_there(run.folder / DIALOGUES) else None
    with opened.naming():
        chosen = read_pairs(
            opened.splits[stored.record.data.split],
            DataUsed.of(opened),
            n=stored.option("pairs") if played is None else len(played),
            sample_seed=stored.record.seeds.get("sample"),
        )
    if played is None:
        said = read_captions(run.folder / "captions.json", chosen)
    else:
        said = [one.record for one in played if one.record is not None]
    row, resamples = run.results[0].row, stored.option("resamples")
    results = evaluate(chosen, said, stored.record, label=row, resamples=resamples, seed=stored.seed)
    return Rescored(results, invalid=_tell_empty(said, stored.record))
