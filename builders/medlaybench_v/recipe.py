"""The recipe of MedLayBench-V: sources, stages, release (`bedside build medlaybench-v`).

captions -> admit -> unique ids -> images -> (concepts, with a recogniser) -> draft -> refine
         -> shards, exclusions, card, manifest
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue
from rich.progress import Progress

import dataset_cards
from builders.licences import corpus_licence
from builders.medlaybench_v.concepts import Recognizer
from builders.medlaybench_v.lexicon import ALL, Lexicon
from builders.medlaybench_v.measure import check_row, measure
from builders.medlaybench_v.prompts import read_prompts
from builders.medlaybench_v.recognizers import MedcatRecognizer, SpacyRecognizer
from builders.medlaybench_v.sources import SAMPLE, CaptionSource, open_source
from builders.medlaybench_v.stages import (
    DRAFTED,
    MAX_TOKENS,
    PICTURED,
    RECOGNISED,
    REFINED,
    SOURCE,
    Admit,
    Picture,
    Recognise,
    Refine,
    RefineByModel,
    WriteDraft,
)
from builders.medlaybench_v.vocabulary import Vocabulary, combine, read_vocabulary
from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import Row
from builders.pipeline.run import Run, run
from builders.pipeline.stage import BatchFunction, Stage, unique
from builders.release.cards import render_card
from builders.release.write import write_release
from builders.tables import decode, read_bytes
from loaders.errors import InputError
from loaders.manifest import Manifest, Source, order_splits
from loaders.medlaybench_v import FEATURES, KEY
from loaders.models.chat import open_model
from loaders.models.messages import ChatModel
from loaders.models.prompts import Prompts
from loaders.reached import code_digest

RULES_METHOD = (
    "No language model was used. Expert terms found in the lay vocabulary were replaced in one pass that never touches "
    "a protected fact, and rules mended articles, plurals and doubled words. The captions are plainer, not rewritten: "
    "expect the expert's sentence structure."
)
__all__ = ["Options", "build", "check_row", "measure"]


@dataclass(frozen=True)
class Options:
    """What a user decides about a build; `bedside build medlaybench-v --help` explains each."""

    captions: str
    images: Path | None = None
    vocabularies: tuple[str, ...] = ("bundled",)
    review: Path | None = None
    model: str | None = None
    base_url: str | None = None
    condition: str = "scgr"
    prompts: Path | None = None
    concurrency: int = 16
    medcat: Path | None = None
    trust_model_pack: bool = False
    spacy: str | None = None
    substitute: str = ALL
    licence: str | None = None
    allowed_licences: frozenset[str] = frozenset()
    default_split: str = "train"
    limit: int | None = None
    gate_text: Path | None = None


def build(
    options: Options,
    out: Path,
    *,
    workspace: Path,
    workers: int = 1,
    progress: Progress | None = None,
    overwrite: bool = False,
) -> Manifest:
    """Build a release folder at `out`; stopped at any moment, the same call goes on from `workspace`.

    Raises: InputError, ModelError, MissingExtra for what the options name; BedsideError for a full disk or a
    workspace in use; ReleaseError when no row is left.
    """
    if options.condition != "scgr" and not options.model:
        raise InputError("--condition", found=options.condition, expected="a --model: without one, rules refine")
    gate_text = _read_text(options.gate_text) if options.gate_text else None
    source = open_source(options.captions, images=options.images, default_split=options.default_split)
    vocabulary = combine([read_vocabulary(name, review=options.review) for name in options.vocabularies])
    prompts = read_prompts(options.prompts)
    recognizers = _recognizers(options)
    model = open_model(options.model, base_url=options.base_url) if options.model else None
    settings = _settings(options, vocabulary, recognizers, model)
    store = ImageStore(workspace / "images")
    finished = run(
        _rows(source, options),
        _stages(
            options,
            Lexicon(vocabulary.terms, options.substitute),
            recognizers,
            model,
            prompts,
            store,
            workspace,
            settings,
        ),
        key=KEY,
        workspace=workspace,
        source_identity=json.dumps(
            [source.identity, options.default_split, options.licence, options.limit, code_digest(open_source, _rows)]
        ),
        workers=workers,
        progress=progress,
    )
    return write_release(
        out,
        corpus="medlaybench-v",
        key=KEY,
        features=FEATURES,
        rows=_with_images(finished, store),
        exclusions=finished.exclusions(),
        sources=_sources(source, finished, vocabulary),
        settings=settings,
        prompts=prompts.digests if model else {},
        versions=_versions(options),
        stages=finished.stages,
        measure=measure,
        card=partial(_card, options=options, vocabulary=vocabulary, model=model, gate_text=gate_text),
        stand_in=_stand_in(options, model),
        overwrite=overwrite,
    )


def _stages(
    options: Options,
    lexicon: Lexicon,
    recognizers: tuple[Recognizer, ...],
    model: ChatModel | None,
    prompts: Prompts,
    store: ImageStore,
    workspace: Path,
    settings: Mapping[str, JsonValue],
) -> list[Stage]:
    refine: BatchFunction = Refine(lexicon)
    if model:
        answers = workspace / "answers.sqlite"
        refine = RefineByModel(lexicon, model, options.condition, prompts, answers, options.concurrency)
    chosen = {name: settings[name] for name in ("vocabulary", "substitute")}
    asked = {**chosen, "model": settings["model"], "base_url": options.base_url, "prompts": prompts.digests}
    known = {"recognizers": settings["recognizers"]}
    recognise = [Stage("concepts", PICTURED, RECOGNISED, _Opened(Recognise(recognizers)), known)] if recognizers else []
    return [
        Stage(
            "admit", SOURCE, SOURCE, _Opened(Admit(options.allowed_licences)), {"allowed": settings["allowed_licences"]}
        ),
        unique(KEY, SOURCE),
        Stage("images", SOURCE, PICTURED, _Opened(Picture(store))),
        *recognise,
        Stage("draft", RECOGNISED if recognise else PICTURED, DRAFTED, _Opened(WriteDraft(lexicon)), chosen),
        # Requests to a model already run side by side within a batch; one process keeps their number to what was
        # asked for.
        Stage("refine", DRAFTED, REFINED, _Opened(refine), asked, parallel=model is None),
    ]


@dataclass(frozen=True)
class _Opened:
    """A batch function that needs no opening."""

    function: BatchFunction

    def __call__(self) -> BatchFunction:
        return self.function


def _rows(source: CaptionSource, options: Options) -> Iterator[Row]:
    """Source rows in the shape of the first stage; a licence that the user vouches for where the source states none."""
    for row in source.rows(options.limit):
        if options.licence and not row["licence"]:
            row = {**row, "licence": options.licence, "licence_asserted_by": "whoever built this release (--licence)"}
        path = row["image_path"]
        yield {
            **{name: row[name] for name in SOURCE.names if name != "image_path"},
            "image_path": str(path) if path else None,
        }


def _with_images(finished: Run, store: ImageStore) -> Iterator[Row]:
    for row in finished.rows():
        name = row["image"]
        image = None
        if name:
            digest, ending = name.split(".")
            image = {"bytes": store.get(digest), "path": f"{row['image_id']}.{ending}"}
        yield {**row, "image": image}


def _recognizers(options: Options) -> tuple[Recognizer, ...]:
    found: list[Recognizer] = []
    if options.medcat:
        found.append(MedcatRecognizer(options.medcat, trust=options.trust_model_pack))
    if options.spacy:
        found.append(SpacyRecognizer(options.spacy, trust=options.trust_model_pack))
    return tuple(found)


def _settings(
    options: Options, vocabulary: Vocabulary, recognizers: tuple[Recognizer, ...], model: ChatModel | None
) -> dict[str, JsonValue]:
    """All that decides the content beside the sources; no path of the machine it ran on."""
    return {
        "vocabulary": vocabulary.identity,
        "substitute": options.substitute,
        "recognizers": {r.name: r.identity for r in recognizers},
        "refiner": "model" if model else "rules",
        "model": _identity(model, options) if model else None,
        "allowed_licences": [*sorted(options.allowed_licences)],
        "licence": options.licence,
        "default_split": options.default_split,
        "limit": options.limit,
    }


def _identity(model: ChatModel, options: Options) -> dict[str, JsonValue]:
    """What a reader needs to know of the model; not its address, which is this machine's own affair."""
    known: dict[str, JsonValue] = {name: text for name, text in model.identity.items() if name != "base_url"}
    return {**known, "condition": options.condition, "max_tokens": MAX_TOKENS}


def _sources(source: CaptionSource, finished: Run, vocabulary: Vocabulary) -> list[Source]:
    rows = finished.stages[0].rows_in
    captions = Source(name=source.name, digest=source.identity, rows=rows, licence=source.licence, url=source.url)
    licences = "; ".join(vocabulary.licences)
    return [
        captions,
        *(
            Source(name=f"vocabulary: {v.name}", digest=v.digest, rows=v.used, licence=licences)
            for v in vocabulary.sources
        ),
    ]


def _versions(options: Options) -> dict[str, str]:
    """Versions of what can change a byte of the release."""
    packages = ["bedside", "ahocorasick-rs", "datasets", "inflect", "numpy", "pillow", "pyarrow"]
    packages += (
        ["medcat"] * bool(options.medcat) + ["spacy"] * bool(options.spacy) + ["inspect_ai"] * bool(options.model)
    )
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}


def _stand_in(options: Options, model: ChatModel | None) -> str | None:
    reasons = []
    if options.captions == SAMPLE:
        reasons.append("the captions and drawings were made for this project, not taken from patients")
    if model is not None and model.stand_in:
        reasons.append(f"the lay captions are by {model.name}, which is no language model")
    return "; ".join(reasons) or None


def _card(
    manifest: Manifest, *, options: Options, vocabulary: Vocabulary, model: ChatModel | None, gate_text: str | None
) -> str:
    statistics = cast(dict[str, Any], manifest.statistics)
    licence = corpus_licence([*statistics["licence"], *vocabulary.licences])
    mixed = licence == "other"
    facts: dict[str, JsonValue] = {
        "licence": licence,
        "licence_name": "per-row" if mixed else "",
        "licence_link": "README.md#licences" if mixed else "",
        "notice": f"> **Stand-in**: {manifest.stand_in}.\n" if manifest.stand_in else "",
        "method": RULES_METHOD if model is None else _model_method(model, options),
        "licence_text": (
            "The rows stand under different licences that no single one covers: column `licence` is what counts."
            if mixed
            else f"The strictest terms of the rows make the corpus {licence}; column `licence` holds each row's own."
        ),
        "example_split": order_splits(manifest.splits)[-1],
    }
    template = (Path(dataset_cards.__file__).with_name("medlaybench-v.md")).read_text(encoding="utf-8")
    return render_card(template, manifest, facts=facts, gating=gate_text)


def _model_method(model: ChatModel, options: Options) -> str:
    blocks = {
        "scgr": "the concepts with their lay phrases, the facts to keep and the draft",
        "llm+cui": "the list of medical terms",
        "llm": "nothing but the caption",
    }
    checked = (
        "A text that failed a gate was sent back with the failed gates named, twice at most; then the draft stood in."
        if options.condition == "scgr"
        else "This is an ablation build: a text that failed a gate was kept and is marked `ungated`."
    )
    return f"`{model.name}` rewrote each caption; its prompt held {blocks[options.condition]}. {checked}"


def _read_text(path: Path) -> str:
    return decode(read_bytes(path), path).strip()
