"""`bedside run embedding-space`: Figure A3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from baselines.medlaybench_v.embedding_space import all_models, check_projection, evaluate, histograms, measure, project
from baselines.medlaybench_v.embeddings import Embeddings
from baselines.medlaybench_v.retrieval import CaptionRows
from baselines.results.run import DataUsed, Result, RunRecord
from loaders.opened import open_data
from scripts.run.stored import Rescored, Stored
from scripts.run.stored_embeddings import stored_embeddings
from scripts.terminal.embedding import Encoding, caption_rows, embed_all
from scripts.terminal.finish import finish
from scripts.terminal.options_of import options_of

FIGURE = "figure-a3.json"


@dataclass(frozen=True, kw_only=True)
class Space(Encoding):
    points: Annotated[int, typer.Option(min=4, help="Number of pairs in the t-SNE projection.")] = 2000
    projection: Annotated[bool, typer.Option(help="Project with t-SNE (scikit-learn; about 30 s per encoder).")] = True


@options_of(Space)
def command(options: Space) -> None:
    """Measure how close expert and lay embeddings are, by modality: cosine, distance, t-SNE (Figure A3).

    Example: `bedside run embedding-space runs/v1 --model BiomedCLIP -o runs/space`
    """
    opened = open_data(options.data, split=options.split)
    rows = caption_rows(opened)
    if options.projection:
        check_projection(rows.size)
    embedded = embed_all(options, rows.captions)
    facts = {"points": options.points, "resamples": options.resamples}
    record = embedded.record("embedding-space", opened, facts, options.seed)
    made = [(encoder.name, encoded) for encoder, encoded in embedded.of]
    scored = _scored(made, rows, record, projection=options.projection)
    finish(options.out, scored.results, scored.extra)


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers and histograms from the cached embeddings; the projection is drawn as in the run."""
    opened = stored.opened()
    rows = caption_rows(opened)
    drawn = stored.file(FIGURE)
    projected = isinstance(drawn, dict) and any("projection" in one for one in drawn.values())
    record = replace(stored.record, data=DataUsed.of(opened))
    return _scored(stored_embeddings(stored, rows.captions), rows, record, projection=projected)


def _scored(
    embedded: Sequence[tuple[str, Embeddings]],
    rows: CaptionRows,
    record: RunRecord,
    *,
    projection: bool,
) -> Rescored:
    """All numbers of these encoders, under the options of the record, and the data of Figure A3."""
    seed = record.seeds["bootstrap"]
    results: list[Result] = []
    drawn: dict[str, Any] = {}
    for name, made in embedded:
        expert, layman = made.texts["expert"].rows(), made.texts["layman"].rows()
        space = measure(expert, layman, rows.modality)
        results += evaluate(space, record=record, model=name, articles=rows.articles)
        drawn[name] = {"histograms": histograms(space)}
        if projection:
            points = record.options["points"]
            drawn[name]["projection"] = project(expert, layman, rows.modality, points=points, seed=seed)
    return Rescored([*results, *all_models(results, record=record)], {FIGURE: drawn})
