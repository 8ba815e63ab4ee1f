"""`bedside build medconceal`: from threads, or synthetic cases, to a release folder."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from builders.medconceal import recipe
from builders.medconceal.recipe import CORPUS
from builders.medconceal.sources import SAMPLE, SAMPLE_THREADS, THREADS
from loaders.manifest import Manifest
from scripts.terminal.console import output, table
from scripts.terminal.progress import Bars

__all__ = ["CORPUS", "command", "summarise_cases"]


def command(
    source: str | None = typer.Option(
        None,
        metavar=f"{SAMPLE}|{SAMPLE_THREADS}|{THREADS}DIR|{THREADS}FILE,FILE",
        help="Bundled cases; bundled threads; or dumps of r/AskDocs (submissions and comments; .zst, .jsonl, Parquet).",
    ),
    synthetic: int | None = typer.Option(
        None, min=1, metavar="N", help="Instead of a source: N cases composed of the bundled ones, for load tests."
    ),
    out: Path = typer.Option(..., metavar="DIR", help="The release folder to write."),
    cases: int = typer.Option(recipe.CASES, min=1, metavar="N", help="Keep the N most common presentations."),
    any_family: bool = typer.Option(
        False, "--any-family", help="Keep threads of neither of the paper's two communication families."
    ),
    model: str | None = typer.Option(
        None, metavar="NAME", help="Chat model that reads threads, such as openai/gpt-4o-mini or vllm/…."
    ),
    base_url: str | None = typer.Option(None, metavar="URL", help="Address of the model's server."),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own."),
    concurrency: int = typer.Option(16, min=1, help="Requests to the model at a time."),
    key: Path | None = typer.Option(
        None, metavar="FILE", help="Secret behind the pseudonyms of threads [WORK/pseudonyms.key, made once]."
    ),
    decisions: list[Path] = typer.Option(
        [], metavar="FILE", help="A clinician's decisions, exported from WORK/review.html. May be repeated."
    ),
    seed: int = typer.Option(0, help="Decides what --synthetic composes."),
    gate_text: Path | None = typer.Option(
        None, metavar="FILE", help="Terms that readers on the Hub must accept (text), instead of the shipped ones."
    ),
    workers: int = typer.Option(
        min(4, os.cpu_count() or 1), min=1, help="Processes; the result does not depend on it."
    ),
    work: Path | None = typer.Option(
        None, metavar="DIR", help="Workspace: finished batches, paid answers, threads as posted. Private. [OUT.work]"
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace another release in DIR."),
) -> None:
    """Build MedConceal: charts that clinicians see, and concerns that they have to elicit.

    A build that is stopped, even by `kill -9`, goes on with the same command; answers of a model are never paid twice.

    Examples:

        bedside build medconceal --source sample --out runs/medconceal

        bedside build medconceal --source threads=dumps/ --model openai/gpt-4o-mini --out runs/askdocs
    """
    from scripts.build import summarise  # which registers this command

    options = recipe.Options(
        source=source,
        synthetic=synthetic,
        seed=seed,
        cases=cases,
        any_family=any_family,
        model=model,
        base_url=base_url,
        prompts=prompts,
        concurrency=concurrency,
        key=key,
        decisions=tuple(decisions),
        gate_text=gate_text,
    )
    workspace = work or out.with_name(out.name + ".work")
    with Bars() as progress:
        manifest = recipe.build(
            options, out, workspace=workspace, workers=workers, progress=progress, overwrite=overwrite
        )
    summarise(out, manifest)
    output.print(
        f"For the clinician's review (shows hidden parts): {workspace / recipe.REVIEW}", highlight=False, soft_wrap=True
    )


def summarise_cases(manifest: Manifest) -> None:
    """Specialties beside Table 5, and hidden concerns by category."""
    statistics = manifest.statistics
    assert isinstance(statistics, dict)
    specialty, category = statistics["specialty"], statistics["category"]
    assert isinstance(specialty, dict) and isinstance(category, dict)
    both = ("this release", "the paper")
    shown = table("\nSpecialties, beside Table 5", "specialty", *both, right=both)
    for name, counts in specialty.items():
        assert isinstance(counts, dict)
        shown.add_row(name, *(f"{counts[one]:,}" for one in both))
    output.print(shown)
    concerns = ", ".join(f"{name} {count:,}" for name, count in category.items())
    output.print(
        f"\n{statistics['cases']:,} cases, {statistics['concerns']:,} hidden concerns "
        f"({statistics['concerns_per_case']} a case): {concerns}.",
        highlight=False,
    )
