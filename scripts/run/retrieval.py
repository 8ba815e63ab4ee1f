"""`bedside run retrieval`: Tables 3, A3 and A4, Figure A4."""

from __future__ import annotations

import time

import typer

from baselines.medlaybench_v.retrieval import METHODS, CaptionRows, adjusted, evaluate, model_means
from baselines.results.run import Result
from loaders.models.encoders import open_encoder
from loaders.opened import Opened, open_data
from scripts.terminal.embedding import embed_rows, record, truncated
from scripts.terminal.finish import finish
from scripts.terminal.options import EMBEDDINGS, BatchSize, Cache, Data, Device, Encoders, Out, Precision, Seed


def command(
    data: Data,
    out: Out,
    model: Encoders,
    split: str = typer.Option("test", metavar="NAME", help="The split to rank."),
    method: str = typer.Option(
        METHODS[0], metavar="NAME", help="Where the lay captions come from, as Table 5 names it: " + ", ".join(METHODS)
    ),
    cache: Cache = EMBEDDINGS,
    batch_size: BatchSize = 64,
    device: Device = None,
    precision: Precision = "fp32",
    k: list[int] = typer.Option([1, 5, 10], "--k", min=1, help="Recall@k. May be repeated."),
    resamples: int = typer.Option(10_000, min=10, help="Bootstrap resamples."),
    seed: Seed = 0,
) -> None:
    """Zero-shot image-text retrieval in both directions and registers (Tables 3, A3, A4; Figure A4).

    Example: `bedside run retrieval runs/v1 --model BiomedCLIP --model PubMedCLIP -o runs/retrieval`
    """
    started = time.monotonic()
    opened = open_data(data, split=split)
    rows = _caption_rows(opened)
    encoders = [open_encoder(name, device=device, precision=precision) for name in model]
    texts = {"expert": rows.expert_caption, "layman": rows.layman_caption}
    embedded = [embed_rows(encoder, texts, cache, batch_size, opened) for encoder in encoders]
    options = {"k": list(k), "method": method, "resamples": resamples, "truncated": truncated(encoders, embedded)}
    of_run = record("retrieval", opened, encoders, options, seed)
    results: list[Result] = []
    for encoder, made in zip(encoders, embedded, strict=True):
        results += evaluate(
            made.images.rows(),
            made.texts["expert"].vectors,
            made.texts["layman"].vectors,
            rows,
            record=of_run,
            model=encoder.name,
            method=method,
            ks=tuple(k),
            resamples=resamples,
            seed=seed,
        )
    results += adjusted(results, record=of_run)
    results += model_means(results, record=of_run)
    finish(out, results, started)


def _caption_rows(opened: Opened) -> CaptionRows:
    rows = list(opened.rows("modality", "expert_caption", "layman_caption", "article_id"))
    return CaptionRows(
        modality=[row["modality"] for row in rows],
        expert_caption=[row["expert_caption"] for row in rows],
        layman_caption=[row["layman_caption"] for row in rows],
        article_id=[row["article_id"] for row in rows],
    )
