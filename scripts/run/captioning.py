"""`bedside run captioning`: Table A5."""

from __future__ import annotations

import time
from pathlib import Path

import typer

from baselines.medlaybench_v.captioning import describe, evaluate, read_pairs, read_prompts
from loaders.models.answers import AnswerStore
from loaders.models.chat import open_model
from loaders.opened import open_data
from scripts.terminal.finish import finish, used
from scripts.terminal.options import Data, Out, Seed
from scripts.terminal.progress import Bars


def command(
    data: Data,
    out: Out,
    model: str = typer.Option(
        ..., metavar="NAME", help="Vision-language model, such as vllm/Qwen/Qwen2-VL-7B-Instruct."
    ),
    base_url: str | None = typer.Option(None, metavar="URL", help="Address of the model's server."),
    split: str = typer.Option("test", metavar="NAME", help="Split to caption."),
    pairs: int = typer.Option(1000, min=2, metavar="N", help="Images to caption, the first by id."),
    sample_seed: int | None = typer.Option(None, metavar="SEED", help="Draw the images by this seed instead."),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own."),
    max_tokens: int = typer.Option(64, min=1, help="Longest caption, in tokens."),
    concurrency: int = typer.Option(16, min=1, help="Requests at a time."),
    label: str | None = typer.Option(None, metavar="NAME", help="Name of the row [the paper's, or the model's]."),
    resamples: int = typer.Option(1000, min=10, help="Bootstrap resamples."),
    seed: Seed = 0,
) -> None:
    """Captions of a vision-language model in both registers, against both references (Table A5).

    Answers are kept in RUN/answers.sqlite and never paid twice: the same command goes on where it was stopped.

    Example: `bedside run captioning runs/v1 --model openai/gpt-4o-mini -o runs/captioning`
    """
    started = time.monotonic()
    opened = open_data(data, split=split)
    texts = read_prompts(prompts)
    chosen = read_pairs(opened.splits[split], n=pairs, sample_seed=sample_seed, data=used(opened))
    captioner = open_model(model, base_url=base_url)
    out.mkdir(parents=True, exist_ok=True)
    with AnswerStore(out / "answers.sqlite") as store, Bars() as bars:
        answers = describe(
            captioner,
            store,
            chosen,
            texts,
            max_tokens=max_tokens,
            concurrency=concurrency,
            progress=bars.count(f"{model}: captions", 2 * len(chosen.image_ids)),
        )
    results = evaluate(chosen, answers, label=label, stand_in=opened.stand_in, resamples=resamples, seed=seed)
    finish(out, results, started, {"captions.json": list(answers.rows(chosen))})
