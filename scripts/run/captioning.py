"""`bedside run captioning`: Table A5."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

import typer

from baselines.dialogue.budget import Budget
from baselines.medlaybench_v.captioning import (
    CAPTIONS,
    Answers,
    describe,
    evaluate,
    read_answers,
    read_pairs,
    read_prompts,
    told_of_empty,
)
from loaders.models.answers import AnswerStore, store_of
from loaders.models.chat import open_model
from loaders.opened import open_data
from scripts.run.play import MaxCost, Price, prices_of
from scripts.run.stored import Rescored, Stored
from scripts.terminal.console import warn
from scripts.terminal.finish import end_as_invalid, finish, used
from scripts.terminal.options import LAST_SEED, Data, Out, Prompts, Resamples, Seed
from scripts.terminal.options_of import options_of
from scripts.terminal.progress import Bars


@dataclass(frozen=True, kw_only=True)
class Captioning:
    data: Data
    out: Out
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Vision-language model, such as vllm/Qwen/Qwen2-VL-7B-Instruct.")
    ]
    base_url: Annotated[
        tuple[str, ...], typer.Option(metavar="URL", help="Base URL of the model's server. May be repeated.")
    ] = ()
    split: Annotated[str, typer.Option(metavar="NAME", help="Split to caption.")] = "test"
    pairs: Annotated[int, typer.Option(min=2, metavar="N", help="Number of images to caption, the first by id.")] = 1000
    sample_seed: Annotated[
        int | None,
        typer.Option(min=0, max=LAST_SEED, metavar="SEED", help="Random seed for drawing the images instead."),
    ] = None
    prompts: Prompts = None
    max_tokens: Annotated[int, typer.Option(min=1, help="Maximum tokens per caption.")] = 64
    concurrency: Annotated[int, typer.Option(min=1, help="Maximum concurrent requests.")] = 16
    label: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the table row. [the paper's, or the model's]")
    ] = None
    price: Price = ()
    max_cost: MaxCost = None
    resamples: Resamples = 1000
    seed: Seed = 0


@options_of(Captioning)
def command(options: Captioning) -> None:
    """Caption images with a vision-language model and score both registers (Table A5).

    Answers are kept in RUN/private/answers.sqlite, so none is paid for twice: run the same command again to resume.

    Example: `bedside run captioning runs/v1 --model openai/gpt-4o-mini -o runs/captioning`
    """
    started = time.monotonic()
    opened = open_data(options.data, split=options.split)
    texts = read_prompts(options.prompts)
    with opened.naming():
        chosen = read_pairs(
            opened.splits[options.split], n=options.pairs, sample_seed=options.sample_seed, data=used(opened)
        )
    captioner = open_model(options.model, base_url=options.base_url)
    prices = prices_of(options.price, [options.model])
    budget = None if options.max_cost is None else Budget(options.max_cost, prices)
    if budget is not None and not captioner.stand_in:
        budget.check([options.model])
    with AnswerStore(store_of(options.out)) as store, Bars() as bars:
        answers = describe(
            captioner,
            store,
            chosen,
            texts,
            max_tokens=options.max_tokens,
            concurrency=options.concurrency,
            budget=budget,
            progress=bars.count(f"{options.model}: captions", 2 * len(chosen.image_ids)),
        )
    results = evaluate(
        chosen,
        answers,
        label=options.label,
        stand_in=opened.stand_in,
        resamples=options.resamples,
        seed=options.seed,
    )
    silent = _tell_empty(answers)
    finish(options.out, results, started, {CAPTIONS: list(answers.rows(chosen))}, printed=not silent)
    if silent:
        end_as_invalid(silent)


def _tell_empty(answers: Answers) -> list[str]:
    """Warns of empty answers, and returns why the numbers cannot be trusted, if a prompt has no other answers."""
    some, every = told_of_empty(answers)
    for text in some:
        warn(text)
    return every


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the stored captions; metrics are computed with the weights on this machine."""
    opened, path = stored.opened(), stored.run.folder / CAPTIONS
    with opened.naming():
        chosen = read_pairs(
            opened.splits[stored.record.data.split],
            n=stored.option("pairs"),
            sample_seed=stored.record.seeds.get("sample"),
            data=used(opened),
        )
    captioner = next(model for model in stored.record.models if model.role == "captioner")
    answers = read_answers(path, chosen, model=captioner.name, max_tokens=stored.option("max_tokens"))
    row, stand_in = stored.run.results[0].row, stored.record.stand_in
    resamples = stored.option("resamples")
    results = evaluate(chosen, answers, label=row, stand_in=stand_in, resamples=resamples, seed=stored.seed)
    return Rescored(results, invalid=_tell_empty(answers))
