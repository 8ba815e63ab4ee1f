"""The recipe of 3MDBench: sources, stages, release (`bedside build 3mdbench`).

photos of all sources -> admit -> unique ids -> images -> curate -> draw -> split -> temperament -> complaints
                      -> shards, exclusions, card, manifest
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import cast

from pydantic import JsonValue
from rich.progress import Progress

from builders.curation import review
from builders.curation.review import Decision, Decisions, read_decisions, write_queue
from builders.curation.sampling import class_targets, read_prevalence
from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import Row
from builders.pipeline.run import Run, run
from builders.pipeline.stage import BatchFunction, Stage, unique
from builders.release.write import write_release
from builders.tables import decode, read_bytes
from builders.threemdbench.authored import authored_digest
from builders.threemdbench.card import card
from builders.threemdbench.curate import Curator, FullCuration
from builders.threemdbench.download import Downloads, Limits
from builders.threemdbench.findings import FAULTS
from builders.threemdbench.gather import Admission, gather, rows_digest
from builders.threemdbench.measure import FLOOR, check_row, measure
from builders.threemdbench.prompts import read_prompts
from builders.threemdbench.sources import SAMPLE, PhotoSource, open_source
from builders.threemdbench.stages import (
    CURATED,
    DEALT,
    PICTURED,
    SOURCE,
    SPLIT,
    TOLD,
    Admit,
    Curate,
    Deal,
    Draw,
    Picture,
    Split,
    Tell,
    TellByModel,
)
from loaders.disk import write_whole
from loaders.errors import BedsideError, InputError
from loaders.manifest import Manifest, Source, order_splits
from loaders.models.chat import open_model
from loaders.models.messages import ChatModel
from loaders.models.prompts import Prompts
from loaders.threemdbench import CONFIGS, FEATURES, KEY, NAMES

__all__ = ["Options", "build", "check_row", "measure"]

CORPUS = "3mdbench"
PAPER_PREVALENCE = "paper"
"""Names the bundled table: a curve that meets all counts that the paper states. Which class is which is not published;
the order is that of the paper's list (3M-G2)."""
# 2,396 : 596 : 2,996 of the paper (3M-G6).
RATIOS = {"train": 0.4, "validation": 0.1, "test": 0.5}


@dataclass(frozen=True)
class Options:
    """What a user decides about a build; `bedside build 3mdbench --help` explains each."""

    sources: tuple[str, ...]
    labels: Mapping[str, Path] = field(default_factory=dict)
    licences: Mapping[str, str] = field(default_factory=dict)
    allowed_licences: frozenset[str] = frozenset()
    mixed_labels: bool = False
    decisions: tuple[Path, ...] = ()
    total: int | None = None
    floor: int = FLOOR
    prevalence: Path | str | None = None
    splits: frozenset[str] = frozenset(RATIOS)
    seed: int = 1
    model: str | None = None
    base_url: str | None = None
    prompts: Path | None = None
    concurrency: int = 16
    limit: int | None = None
    downloads: Path | None = None
    limits: Limits = field(default_factory=Limits)
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
    targets = _targets(options)
    gate_text = _read_text(options.gate_text) if options.gate_text else None
    decisions = read_decisions(options.decisions)
    prompts = read_prompts(options.prompts)
    model = open_model(options.model, base_url=options.base_url) if options.model else None
    sources = _open(options)
    downloads = Downloads(options.downloads or workspace / "downloads", options.limits)
    admission = Admission(options.allowed_licences, options.licences, options.mixed_labels)
    rows = gather(sources, admission, downloads, limit=options.limit, progress=progress)
    store = ImageStore(workspace / "images")
    curator = FullCuration(workspace / "curation.sqlite", workers, progress)
    applied = decisions.matching((row["image_id"], row["content"]) for row in rows)
    settings = _settings(options, targets, curator, model, decisions, applied)
    identity = rows_digest(rows)
    queue = workspace / "queues" / f"{identity[:16]}-{decisions.digest[:16]}.json"
    finished = run(
        rows,
        _stages(options, targets, Curate(store, curator, queue, applied), model, prompts, store, workspace),
        key=KEY,
        workspace=workspace,
        source_identity=identity,
        workers=workers,
        progress=progress,
    )
    _leave_queue(queue, workspace, finished)
    return write_release(
        out,
        corpus=CORPUS,
        key=KEY,
        features=FEATURES,
        rows=_with_images(finished, store),
        exclusions=finished.exclusions(),
        sources=_sources(sources, rows),
        settings=settings,
        prompts=prompts.digests if model else {},
        versions=_versions(options),
        stages=finished.stages,
        measure=measure,
        card=partial(card, model=model, gate_text=gate_text),
        configs=CONFIGS,
        stand_in=_stand_in(options, model),
        overwrite=overwrite,
    )


def _leave_queue(queue: Path, workspace: Path, finished: Run) -> None:
    """Make the queue of this build the one to review, even where an earlier build had curated these very photos."""
    curated = next(stage.rows_in for stage in finished.stages if stage.name == "curate")
    if not curated:
        write_queue(workspace / review.NAME, [])
    elif queue.is_file():
        write_whole(workspace / review.NAME, queue.read_bytes())
    else:
        do = f"Delete {workspace / 'results'} and run the same command again"
        raise BedsideError(queue, found="the queue of borderline photos is gone", expected="what curation wrote", do=do)


def _targets(options: Options) -> dict[str, int] | None:
    """Photos of each class over all splits; the floor is that of the test split, half of the whole."""
    if not options.splits <= RATIOS.keys() or not options.splits:
        raise InputError("--splits", found=", ".join(sorted(options.splits)) or "none", expected=", ".join(RATIOS))
    if options.total is None:
        if options.prevalence is not None:
            raise InputError("--prevalence", found="no --total", expected="how many photos are to be shared out")
        return None
    uniform = dict.fromkeys(NAMES, 1 / len(NAMES))
    table = options.prevalence
    if table == PAPER_PREVALENCE:
        table = Path(__file__).with_name("prevalence_paper.csv")
    shares = read_prevalence(Path(table), NAMES) if table else uniform
    return class_targets(shares, total=options.total, floor=round(options.floor / RATIOS["test"]))


def _open(options: Options) -> list[PhotoSource]:
    """The sources by name.

    Raises: InputError when there is none, two have one name, or an option names a source that is not there.
    """
    names = [_name(text) for text in options.sources]
    if not names:
        raise InputError("--source", found="none", expected=f"at least one, such as {SAMPLE} or scin=DIR")
    for name in names:
        if names.count(name) > 1:
            do = "Write KIND:NAME=PATH to give each a name of its own"
            raise InputError("--source", found=f"two sources named {name!r}", expected="one of each name", do=do)
    for option, given in (("--labels", options.labels), ("--licence", options.licences)):
        for name in given:
            if name not in names:
                raise InputError(option, found=f"no source named {name!r}", expected="one of " + ", ".join(names))
    return [
        open_source(text, labels=options.labels.get(name)) for text, name in zip(options.sources, names, strict=True)
    ]


def _name(text: str) -> str:
    kind, colon, name = text.partition("=")[0].partition(":")
    return name if colon else kind


def _stages(
    options: Options,
    targets: Mapping[str, int] | None,
    curate: Curate,
    model: ChatModel | None,
    prompts: Prompts,
    store: ImageStore,
    workspace: Path,
) -> list[Stage]:
    seed = {"seed": options.seed}
    tell: BatchFunction = Tell(options.seed)
    asked: dict[str, JsonValue] = {**seed, "authored": authored_digest(), "model": None}
    if model:
        answers = workspace / "answers.sqlite"
        tell = TellByModel(model, prompts, answers, store, options.seed, options.concurrency)
        asked |= {"model": _identity(model), "base_url": options.base_url, "prompts": dict(prompts.digests)}
    split = Split(RATIOS, options.splits, options.seed)
    chosen = {**seed, "ratios": RATIOS, "splits": sorted(options.splits)}
    judged = {"by": curate.curator.identity, "decisions": Decisions(curate.decisions).digest}
    return [
        Stage("admit", SOURCE, SOURCE, _Opened(Admit())),
        unique(KEY, SOURCE),
        Stage("images", SOURCE, PICTURED, _Opened(Picture(store))),
        Stage("curate", PICTURED, CURATED, _Opened(curate), judged, whole=True),
        Stage("draw", CURATED, CURATED, _Opened(Draw(targets, options.seed)), {**seed, "targets": targets}, whole=True),
        Stage("split", CURATED, SPLIT, _Opened(split), chosen, whole=True),
        Stage("temperament", SPLIT, DEALT, _Opened(Deal(options.seed)), seed, whole=True),
        # Requests to a model already run side by side within a batch.
        Stage("complaints", DEALT, TOLD, _Opened(tell), asked, parallel=model is None),
    ]


@dataclass(frozen=True)
class _Opened:
    """A batch function that needs no opening."""

    function: BatchFunction

    def __call__(self) -> BatchFunction:
        return self.function


def _with_images(finished: Run, store: ImageStore) -> Iterator[Row]:
    for row in finished.rows():
        digest, ending = row["image"].split(".")
        yield {**row, "image": {"bytes": store.get(digest), "path": f"{row['image_id']}.{ending}"}}


def _settings(
    options: Options,
    targets: Mapping[str, int] | None,
    curator: Curator,
    model: ChatModel | None,
    decisions: Decisions,
    applied: Mapping[str, Decision],
) -> dict[str, JsonValue]:
    """All that decides the content beside the sources; no path of the machine it ran on."""
    return {
        "seed": options.seed,
        "ratios": cast(JsonValue, RATIOS),
        "splits": [*order_splits(options.splits)],
        "total": options.total,
        "floor": options.floor,
        "targets": cast(JsonValue, targets),
        "mixed_labels": options.mixed_labels,
        "licences": dict(options.licences),
        "allowed_licences": [*sorted(options.allowed_licences)],
        "curation": {"by": curator.identity, "faults": cast(JsonValue, list(FAULTS))},
        "decisions": _counted(decisions, applied) if decisions.by_key else None,
        "complaints": "model" if model else "authored",
        "authored": authored_digest(),
        "model": _identity(model) if model else None,
        "limit": options.limit,
    }


def _counted(decisions: Decisions, applied: Mapping[str, Decision]) -> dict[str, JsonValue]:
    """A review: its digest, and how many of its decisions were applied, or are about photos that are not there."""
    accepted = sum(one.decision == review.ACCEPT for one in applied.values())
    return {
        "sha256": decisions.digest,
        "accepted": accepted,
        "rejected": len(applied) - accepted,
        "without a photo": len(decisions.by_key) - len(applied),
    }


def _identity(model: ChatModel) -> dict[str, JsonValue]:
    """What a reader needs to know of the model; not its address, which is this machine's own affair."""
    return {name: text for name, text in model.identity.items() if name != "base_url"}


def _sources(sources: Sequence[PhotoSource], rows: Sequence[Row]) -> list[Source]:
    found = []
    for source in sources:
        own = [row for row in rows if row["source"] == source.facts.name]
        licences = sorted({row["licence"] or "unknown" for row in own})
        found.append(
            Source(
                name=f"{source.facts.name}: {source.facts.title}",
                digest=rows_digest(own),
                rows=len(own),
                licence="; ".join(licences) if len(licences) <= 3 else "per row",
                url=source.facts.url,
            )
        )
    return found


def _versions(options: Options) -> dict[str, str]:
    """Versions of what can change a byte of the release."""
    packages = ["bedside", "datasets", "numpy", "opencv-python-headless", "pillow", "pyarrow"]
    packages += ["inspect_ai"] * bool(options.model)
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}


def _stand_in(options: Options, model: ChatModel | None) -> str | None:
    reasons = []
    if SAMPLE in options.sources:
        reasons.append("the photos were drawn for this project; nobody was photographed")
    if model is None:
        reasons.append("the complaints were authored without seeing the photos, and no clinician has reviewed them")
    elif model.stand_in:
        reasons.append(f"the complaints are by {model.name}, which is no language model")
    return "; ".join(reasons) or None


def _read_text(path: Path) -> str:
    return decode(read_bytes(path), path).strip()
