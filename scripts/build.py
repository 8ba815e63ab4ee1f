"""`bedside build CORPUS`: from sources to a release folder."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from builders.curation import review
from builders.curation.review import read_queue
from builders.medlaybench_v import recipe
from builders.medlaybench_v.lexicon import ALL, ONTOLOGY
from builders.medlaybench_v.prompts import CONDITIONS
from builders.threemdbench import recipe as threemdbench_recipe
from builders.threemdbench import sources as photos
from builders.threemdbench.download import Limits
from builders.threemdbench.measure import FLOOR
from loaders.errors import InputError
from loaders.manifest import Manifest, order_splits
from loaders.threemdbench import DOMAINS, NAMES
from scripts import build_medconceal
from scripts.terminal.console import output, table
from scripts.terminal.progress import Bars


def medlaybench_v(
    captions: str = typer.Option(
        ...,
        metavar="FILE|FOLDER|sample|ID",
        help="Expert captions: CSV, TSV, JSON Lines or Parquet; a ROCO folder; `sample` (bundled); "
        "or `eltorio/ROCOv2-radiology` from the Hub.",
    ),
    out: Path = typer.Option(..., metavar="DIR", help="The release folder to write."),
    images: Path | None = typer.Option(None, metavar="DIR", help="Images, matched by id or file name."),
    vocabulary: list[str] = typer.Option(
        [],
        metavar="FILE|bundled",
        help="Lay vocabularies in order of precedence: CSV, MRCONSO.RRF, MedlinePlus XML. May be repeated. The bundled "
        "list comes first unless it is named elsewhere in the order.",
    ),
    review: Path | None = typer.Option(
        None, metavar="FILE", help="Reviewed vocabulary pairs (expert,lay,verdict,reason)."
    ),
    model: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Chat model that refines, such as openai/gpt-4o-mini or vllm/…; without one, rules do.",
    ),
    base_url: str | None = typer.Option(None, metavar="URL", help="Address of the model's server."),
    condition: str = typer.Option("scgr", metavar="|".join(CONDITIONS), help="Condition of the ablation (Table 5)."),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own."),
    concurrency: int = typer.Option(16, min=1, help="Requests to the model at a time."),
    medcat: Path | None = typer.Option(None, metavar="PACK", help="A MedCAT model pack for C_onto."),
    trust_model_pack: bool = typer.Option(
        False, "--trust-model-pack", help="Load the pack although loading one runs code that it holds."
    ),
    spacy: str | None = typer.Option(
        None, metavar="NAME|DIR", help="A spaCy pipeline for C_ent, such as en_core_sci_md."
    ),
    substitute: str = typer.Option(
        ALL, metavar=f"{ALL}|{ONTOLOGY}", help="Every vocabulary term, or only CUIs (Algorithm 1)."
    ),
    licence: str | None = typer.Option(None, metavar="NAME", help="Licence of rows that state none, on your word."),
    allow_licence: list[str] = typer.Option(
        [],
        metavar="NAME",
        help="Let rows of this licence through the gate (`unknown`, `CC-BY-NC-ND`, …). May be repeated.",
    ),
    split: str = typer.Option("train", metavar="NAME", help="Split of rows that name none."),
    limit: int | None = typer.Option(None, min=1, metavar="N", help="Only the first N rows."),
    gate_text: Path | None = typer.Option(
        None, metavar="FILE", help="Terms that readers on the Hub must accept (text)."
    ),
    workers: int = typer.Option(
        min(4, os.cpu_count() or 1), min=1, help="Processes; the result does not depend on it."
    ),
    work: Path | None = typer.Option(
        None, metavar="DIR", help="Workspace of finished batches and paid answers [OUT.work]."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace another release in DIR."),
) -> None:
    """Build MedLayBench-V: lay captions beside expert captions, every row through nine fact gates.

    A build that is stopped, even by `kill -9`, goes on with the same command; answers of a model are never paid twice.

    Examples:

        bedside build medlaybench-v --captions sample --out runs/sample

        bedside build medlaybench-v --captions captions.csv --images pictures/ --model openai/gpt-4o-mini --out
        runs/mine
    """
    _one_of("--condition", condition, tuple(CONDITIONS))
    _one_of("--substitute", substitute, (ALL, ONTOLOGY))
    options = recipe.Options(
        captions=captions,
        images=images,
        vocabularies=tuple(vocabulary if "bundled" in vocabulary else ["bundled", *vocabulary]),
        review=review,
        model=model,
        base_url=base_url,
        condition=condition,
        prompts=prompts,
        concurrency=concurrency,
        medcat=medcat,
        trust_model_pack=trust_model_pack,
        spacy=spacy,
        substitute=substitute,
        licence=licence,
        allowed_licences=frozenset(allow_licence),
        default_split=split,
        limit=limit,
        gate_text=gate_text,
    )
    with Bars() as progress:
        manifest = recipe.build(
            options,
            out,
            workspace=work or out.with_name(out.name + ".work"),
            workers=workers,
            progress=progress,
            overwrite=overwrite,
        )
    summarise(out, manifest)


def summarise(out: Path, manifest: Manifest) -> None:
    """What was built, in two tables."""
    stages = table(
        f"{manifest.corpus}",
        "stage",
        "rows in",
        "rows out",
        "excluded",
        "why",
        right=("rows in", "rows out", "excluded"),
    )
    for stage in manifest.stages:
        why = "; ".join(f"{reason} {count:,}" for reason, count in sorted(stage.excluded.items(), key=lambda i: -i[1]))
        stages.add_row(
            stage.name, f"{stage.rows_in:,}", f"{stage.rows_out:,}", f"{sum(stage.excluded.values()):,}", why
        )
    output.print(stages)
    if manifest.corpus == threemdbench_recipe.CORPUS:
        _summarise_photos(manifest)
    elif manifest.corpus == build_medconceal.CORPUS:
        build_medconceal.summarise_cases(manifest)
    else:
        _summarise_captions(manifest)
    output.print(f"Release: {out}   content {manifest.content_digest[:16]}…", highlight=False)
    if manifest.stand_in:
        output.print(f"stand-in: {manifest.stand_in}", style="yellow", highlight=False)


def _summarise_captions(manifest: Manifest) -> None:
    """Lay captions by status and split."""
    statistics = manifest.statistics
    assert isinstance(statistics, dict)
    status = statistics["status_by_split"]
    assert isinstance(status, dict)
    shown = table("\nLay captions", "status", *manifest.splits, right=tuple(manifest.splits))
    for name, counts in status.items():
        assert isinstance(counts, dict)
        shown.add_row(name, *(f"{counts.get(split) or 0:,}" for split in manifest.splits))
    output.print(shown)
    rows = sum(split.rows for split in manifest.splits.values())
    output.print(
        f"\n{statistics['with_lay_phrase']:,} of {rows:,} captions hold a lay phrase; "
        f"{statistics['with_image']:,} rows have an image.",
        highlight=False,
    )


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise InputError(option, found=value, expected=" or ".join(allowed))


_KINDS = ", ".join(photos.KINDS)


def threemdbench(
    source: list[str] = typer.Option(
        ...,
        metavar="KIND=PATH|KIND:NAME=PATH|sample",
        help=f"Photos, as their publisher ships them, KIND one of {_KINDS}; or `sample` (bundled). May be repeated; a "
        "NAME tells two of a kind apart.",
    ),
    out: Path = typer.Option(..., metavar="DIR", help="The release folder to write."),
    labels: list[str] = typer.Option(
        [], metavar="NAME=FILE", help="Label table (label,diagnosis,match,note) of a source. May be repeated."
    ),
    mixed_labels: bool = typer.Option(
        False, "--mixed-labels", help="Let classes in that hold other conditions too (match `mixed`)."
    ),
    decisions: list[Path] = typer.Option(
        [], metavar="FILE", help="Decisions on borderline photos, exported from `bedside review`. May be repeated."
    ),
    licence: list[str] = typer.Option(
        [], metavar="NAME=LICENCE", help="Licence of a source's photos that state none, on your word. May be repeated."
    ),
    allow_licence: list[str] = typer.Option(
        [], metavar="LICENCE", help="Let photos of this licence through the gate (`unknown`, …). May be repeated."
    ),
    total: int | None = typer.Option(
        None, min=1, metavar="N", help="Photos over all splits, shared out by --prevalence; without it, all are kept."
    ),
    prevalence: str | None = typer.Option(
        None,
        metavar=f"FILE|{threemdbench_recipe.PAPER_PREVALENCE}",
        help="Share of each diagnosis (diagnosis,share), or the paper's curve; without it, all alike.",
    ),
    floor: int = typer.Option(FLOOR, min=0, help="Least photos of a diagnosis in the test split."),
    splits: str = typer.Option(
        ",".join(threemdbench_recipe.RATIOS), metavar="NAME,…", help="Splits to release: `test` public, the others not."
    ),
    seed: int = typer.Option(1, help="Decides drawing, splits, temperaments and authored complaints."),
    model: str | None = typer.Option(
        None, metavar="NAME", help="Vision chat model that writes the complaints; without one, authored ones stand in."
    ),
    base_url: str | None = typer.Option(None, metavar="URL", help="Address of the model's server."),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own."),
    concurrency: int = typer.Option(16, min=1, help="Requests to the model at a time."),
    downloads: Path | None = typer.Option(
        None, metavar="DIR", help="Folder of photos fetched from addresses [WORK/downloads]."
    ),
    pause: float = typer.Option(1.0, min=0.0, metavar="SECONDS", help="Between two requests to a host."),
    limit: int | None = typer.Option(None, min=1, metavar="N", help="Only the first N photos."),
    gate_text: Path | None = typer.Option(
        None, metavar="FILE", help="Terms that readers on the Hub must accept (text)."
    ),
    workers: int = typer.Option(
        min(4, os.cpu_count() or 1), min=1, help="Processes; the result does not depend on it."
    ),
    work: Path | None = typer.Option(
        None, metavar="DIR", help="Workspace of finished batches, fetched photos and paid answers [OUT.work]."
    ),
    overwrite: bool = typer.Option(False, "--overwrite", help="Replace another release in DIR."),
) -> None:
    """Build 3MDBench: curated photos of 34 diagnoses, with complaints and temperaments in the test split.

    A build that is stopped, even by `kill -9`, goes on with the same command; no photo is fetched twice, no answer of a
    model paid twice.

    Examples:

        bedside build 3mdbench --source sample --out runs/3mdbench

        bedside build 3mdbench --source scin=scin/ --source fitzpatrick17k=fitzpatrick17k.csv --source
        oral=oral/ --licence oral=CC0-1.0 --total 5992 --out runs/photos

    A public test split beside private train and validation splits is two releases from the same options, one with
    `--splits test`, one with `--splits train,validation`, the latter published with `--private`.
    """
    options = threemdbench_recipe.Options(
        sources=tuple(source),
        labels={name: Path(path) for name, path in _pairs("--labels", labels).items()},
        licences=_pairs("--licence", licence),
        allowed_licences=frozenset(allow_licence),
        mixed_labels=mixed_labels,
        decisions=tuple(decisions),
        total=total,
        floor=floor,
        prevalence=prevalence,
        splits=frozenset(name.strip() for name in splits.split(",") if name.strip()),
        seed=seed,
        model=model,
        base_url=base_url,
        prompts=prompts,
        concurrency=concurrency,
        limit=limit,
        downloads=downloads,
        limits=Limits(pause=pause),
        gate_text=gate_text,
    )
    workspace = work or out.with_name(out.name + ".work")
    with Bars() as progress:
        manifest = threemdbench_recipe.build(
            options,
            out,
            workspace=workspace,
            workers=workers,
            progress=progress,
            overwrite=overwrite,
        )
    summarise(out, manifest)
    if waiting := sum(item.decided is None for item in read_queue(workspace / review.NAME)):
        output.print(
            f"{waiting:,} photos are borderline: bedside review {workspace} -o review.html",
            highlight=False,
            soft_wrap=True,
        )


def _pairs(option: str, texts: list[str]) -> dict[str, str]:
    """NAME=VALUE options as a mapping."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value) or name in found:
            raise InputError(option, found=text, expected="NAME=VALUE, each name once")
        found[name] = value
    return found


def _summarise_photos(manifest: Manifest) -> None:
    """Photos by domain and split, and what the test split lacks of the paper's floor."""
    statistics = manifest.statistics
    assert isinstance(statistics, dict)
    domains = statistics["domain_by_split"]
    assert isinstance(domains, dict)
    splits = order_splits(manifest.splits)
    shown = table("\nPhotos", "domain", *splits, right=tuple(splits))
    for name in DOMAINS:
        counts = domains[name]
        assert isinstance(counts, dict)
        shown.add_row(name, *(f"{counts.get(split) or 0:,}" for split in splits))
    output.print(shown)
    status = statistics["complaints_status"]
    assert isinstance(status, dict)
    told = ", ".join(f"{name} {count:,}" for name, count in status.items()) or "none"
    output.print(
        f"\nComplaints: {told}. Diagnoses with fewer than {FLOOR} photos in test: "
        f"{statistics['below_floor']} of {len(NAMES)}.",
        highlight=False,
    )
    decisions = manifest.settings.get("decisions")
    if isinstance(decisions, dict):
        output.print(
            f"Decisions: {decisions['accepted']:,} accepted, {decisions['rejected']:,} rejected; "
            f"{decisions['without a photo']:,} about photos that are not there, or are other files now.",
            highlight=False,
        )
