"""`bedside run embedding-space`: Figure A3."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from baselines.medlaybench_v.embedding_space import all_models, evaluate, histograms, measure, project
from baselines.results.run import Result
from loaders.opened import open_data
from scripts.terminal.embedding import Encoding, embed_all
from scripts.terminal.finish import finish
from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Space(Encoding):
    points: Annotated[int, typer.Option(min=4, help="Pairs in the t-SNE projection.")] = 2000
    projection: Annotated[
        bool, typer.Option(help="Project with t-SNE (scikit-learn; about half a minute an encoder).")
    ] = True


@options_of(Space)
def command(options: Space) -> None:
    """How near expert and lay captions lie to each other, by modality: cosine, distance and t-SNE (Figure A3).

    Example: `bedside run embedding-space runs/v1 --model BiomedCLIP -o runs/space`
    """
    started = time.monotonic()
    opened = open_data(options.data, split=options.split)
    rows = list(opened.rows("modality", "expert_caption", "layman_caption", "article_id"))
    modality, articles = [row["modality"] for row in rows], [row["article_id"] for row in rows]
    embedded = embed_all(options, {name: [row[f"{name}_caption"] for row in rows] for name in ("expert", "layman")})
    facts = {"points": options.points, "resamples": options.resamples}
    record = embedded.record("embedding-space", opened, facts, options.seed)
    results: list[Result] = []
    drawn: dict[str, Any] = {}
    for encoder, made in embedded.of:
        expert, layman = made.texts["expert"].rows(), made.texts["layman"].rows()
        space = measure(expert, layman, modality)
        results += evaluate(
            space,
            record=record,
            model=encoder.name,
            articles=articles,
            resamples=options.resamples,
            seed=options.seed,
        )
        drawn[encoder.name] = {"histograms": histograms(space)}
        if options.projection:
            placed = project(expert, layman, modality, points=options.points, seed=options.seed)
            drawn[encoder.name]["projection"] = placed.figure()
    results += all_models(results, record=record)
    finish(options.out, results, started, {"figure-a3.json": drawn})
