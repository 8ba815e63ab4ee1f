"""`bedside run embedding-space`: Figure A3."""

from __future__ import annotations

import time
from typing import Any

import typer

from baselines.medlaybench_v.embedding_space import all_models, evaluate, histograms, measure, project
from baselines.results.run import Result
from loaders.models.encoders import open_encoder
from loaders.opened import open_data
from scripts.terminal.embedding import embed_rows, record, truncated
from scripts.terminal.finish import finish
from scripts.terminal.options import EMBEDDINGS, BatchSize, Cache, Data, Device, Encoders, Out, Precision, Seed


def command(
    data: Data,
    out: Out,
    model: Encoders,
    split: str = typer.Option("test", metavar="NAME", help="The split to embed."),
    cache: Cache = EMBEDDINGS,
    batch_size: BatchSize = 64,
    device: Device = None,
    precision: Precision = "fp32",
    points: int = typer.Option(2000, min=4, help="Pairs in the t-SNE projection."),
    projection: bool = typer.Option(True, help="Project with t-SNE (scikit-learn; about half a minute an encoder)."),
    resamples: int = typer.Option(1000, min=10, help="Bootstrap resamples."),
    seed: Seed = 0,
) -> None:
    """How near expert and lay captions lie to each other, by modality: cosine, distance and t-SNE (Figure A3).

    Example: `bedside run embedding-space runs/v1 --model BiomedCLIP -o runs/space`
    """
    started = time.monotonic()
    opened = open_data(data, split=split)
    rows = list(opened.rows("modality", "expert_caption", "layman_caption", "article_id"))
    texts = {name: [row[f"{name}_caption"] for row in rows] for name in ("expert", "layman")}
    modality = [row["modality"] for row in rows]
    encoders = [open_encoder(name, device=device, precision=precision) for name in model]
    embedded = [embed_rows(encoder, texts, cache, batch_size) for encoder in encoders]
    options = {"points": points, "resamples": resamples, "truncated": truncated(encoders, embedded)}
    of_run = record("embedding-space", opened, encoders, options, seed)
    results: list[Result] = []
    drawn: dict[str, Any] = {}
    articles = [row["article_id"] for row in rows]
    for encoder, made in zip(encoders, embedded, strict=True):
        expert, layman = made.texts["expert"].rows(), made.texts["layman"].rows()
        space = measure(expert, layman, modality)
        results += evaluate(space, record=of_run, model=encoder.name, articles=articles, resamples=resamples, seed=seed)
        drawn[encoder.name] = {"histograms": histograms(space)}
        if projection:
            placed = project(expert, layman, modality, points=points, seed=seed)
            drawn[encoder.name]["projection"] = placed.figure()
    results += all_models(results, record=of_run)
    finish(out, results, started, {"figure-a3.json": drawn})
