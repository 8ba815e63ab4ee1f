"""`bedside run retrieval`: Tables 3, A3 and A4, Figure A4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from baselines.medlaybench_v.ablation import CONDITIONS
from baselines.medlaybench_v.embeddings import Embeddings
from baselines.medlaybench_v.retrieval import EXPERT, METHODS, CaptionRows, adjusted, evaluate, model_means
from baselines.results.run import DataUsed, Result, RunRecord
from loaders.errors import InputError, how_many
from loaders.opened import IN_A_TABLE, Opened, open_data
from scripts.run.stored import Rescored, Stored
from scripts.run.stored_embeddings import stored_embeddings
from scripts.terminal.embedding import Encoding, caption_rows, embed_all
from scripts.terminal.finish import finish
from scripts.terminal.options import Resamples
from scripts.terminal.options_of import options_of

OWN, BY_RULES = "Own captions", "SCGR by rules"
_NAMES = {IN_A_TABLE: OWN, "rules": BY_RULES}


@dataclass(frozen=True, kw_only=True)
class Retrieval(Encoding):
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Source of the lay captions, as named in Table 5: {', '.join(METHODS)}; or your own name. [the "
            f"release's build condition; {BY_RULES} without a model; {OWN} for a table of pairs; else {METHODS[0]}]",
        ),
    ] = None
    k: Annotated[tuple[int, ...], typer.Option("--k", min=1, help="Recall@k. May be repeated.")] = (1, 5, 10)
    resamples: Resamples = 10_000


@options_of(Retrieval)
def command(options: Retrieval) -> None:
    """Run zero-shot image-text retrieval in both directions and registers (Tables 3, A3, A4; Figure A4).

    Examples: `bedside run retrieval runs/v1 --model BiomedCLIP --model PubMedCLIP -o runs/retrieval`, `bedside run
    retrieval runs/v1 --embeddings OurCLIP=vectors/ -o runs/ours`
    """
    if options.method and options.method.strip().casefold() in ("", EXPERT.casefold()):
        expected = "the source of the lay captions, which is not the experts"
        raise InputError("--method", found=repr(options.method), expected=expected)
    opened = open_data(options.data, split=options.split)
    rows = caption_rows(opened)
    if len(set(options.k)) < len(options.k):
        raise InputError("--k", found=" ".join(map(str, options.k)), expected="each number once: one table row each")
    if max(options.k) > rows.size:
        found, do = f"{max(options.k)}, and a split of {how_many(rows.size, 'row')}", f"--k {min(5, rows.size)}"
        raise InputError(
            "--k", found=found, expected="at most the number of rows", do=f"Name smaller ones, such as {do}"
        )
    embedded = embed_all(options, rows.captions, opened)
    method = options.method or method_of(opened)
    facts = {"k": list(options.k), "method": method, "resamples": options.resamples}
    record = embedded.record("retrieval", opened, facts, options.seed)
    finish(options.out, _scored([(encoder.name, made) for encoder, made in embedded.of], rows, record))


def method_of(opened: Opened) -> str:
    """Where the lay captions come from, as the tables name it."""
    made_by = opened.method or ""
    return _NAMES.get(made_by) or CONDITIONS.get(made_by.rpartition(", ")[2], METHODS[0])


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the cached embeddings."""
    opened = stored.opened()
    rows = caption_rows(opened)
    made = stored_embeddings(stored, rows.captions, opened)
    return Rescored(_scored(made, rows, replace(stored.record, data=DataUsed.of(opened))))


def _scored(embedded: Sequence[tuple[str, Embeddings]], rows: CaptionRows, record: RunRecord) -> list[Result]:
    """All numbers of these encoders, under the options of the record."""
    results: list[Result] = []
    for name, made in embedded:
        results += evaluate(made, rows, record=record, model=name)
    return [*results, *adjusted(results), *model_means(results)]
