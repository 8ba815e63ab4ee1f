"""The recipe of 3MDBench (`bedside build 3mdbench`).

photos of all sources -> admit -> unique ids -> images -> curate -> draw -> split -> temperament
                      -> (by a model: basics ->) complaints
                      -> shards, exclusions, card, manifest
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from pydantic import JsonValue

from builders.chat import Chat
from builders.curation import review
from builders.curation.review import Decision, Decisions, read_decisions
from builders.curation.sampling import SPLIT_RULE, class_targets, read_prevalence
from builders.licences import check_vouched, read_licence
from builders.pipeline.rows import Row
from builders.pipeline.run import Run
from builders.recipe import Build, ModelOptions, Plan, Recipe, withdrawn_keys
from builders.release.preview import Table, by_split
from builders.steps import Step, admit, images, unique
from builders.threemdbench import remarks, steps
from builders.threemdbench.card import card
from builders.threemdbench.complaints import BY_MODEL, authored_digest
from builders.threemdbench.curate import Curator
from builders.threemdbench.download import Downloads
from builders.threemdbench.earlier import Earlier, open_followed, read_earlier
from builders.threemdbench.findings import FAULTS, Candidate
from builders.threemdbench.gather import SHAREABLE, Admission, gather, rows_digest
from builders.threemdbench.measure import FLOOR, RULES, check_row, measure
from builders.threemdbench.mixed import class_keys
from builders.threemdbench.own import Nameless, nameless
from builders.threemdbench.preview import PREVIEW
from builders.threemdbench.prompts import read_prompts
from builders.threemdbench.request import Limits
from builders.threemdbench.sources import KINDS, SAMPLE, PhotoSource, open_source, origin_of, source_name
from builders.threemdbench.sources.table import SOURCE_COLUMNS
from loaders.engines.choice import in_threads
from loaders.errors import InputError, MissingExtra
from loaders.files.paths import refuse_releases
from loaders.manifest import Manifest, Source, canonical_json, order_splits
from loaders.threemdbench import CONFIGS, CORPUS, DOMAINS, NAMES

PAPER_PREVALENCE = "paper"
"""Names the bundled table: a curve that fits all counts that the paper states. Which class is which is not published;
the order is that of the paper's list (3M-G2)."""
# 2,396 : 596 : 2,996 of the paper (3M-G6).
RATIOS = {"train": 0.4, "validation": 0.1, "test": 0.5}


@dataclass(frozen=True, kw_only=True)
class Options(ModelOptions):
    """Build 3MDBench: curated photos of 34 diagnoses; the test split adds complaints and temperaments.

    If a build is interrupted, even by `kill -9`, run the same command again to resume; no photo is fetched twice and no
    model answer is paid for twice.

    Examples:

        bedside build 3mdbench --source sample --out runs/3mdbench

        bedside build 3mdbench --source scin=scin/ --source fitzpatrick17k=fitzpatrick17k.csv --source
        oral=oral/ --licence oral=CC0-1.0 --total 5992 --out runs/photos

    For a public test split with private train and validation splits, build two releases with the same options, one with
    `--splits test` and one with `--splits train,validation`; publish the latter with `--private`. With photos of your
    own, name one `--key` for both.
    """

    sources: Annotated[
        tuple[str, ...],
        typer.Option(
            "--source",
            metavar="KIND=PATH|KIND:NAME=PATH|sample",
            help=f"Photos as published; KIND is one of {', '.join(KINDS)}; or `sample` (bundled). A table needs "
            "the columns `label` and `file` or `url`; photos with one `group_id` (a patient) stay in one split. May be "
            "repeated; a NAME distinguishes two of one kind.",
        ),
    ]
    labels: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="NAME=FILE", help="Label table (label,diagnosis,match,note) for a source. May be repeated."
        ),
    ] = ()
    mixed_labels: Annotated[
        bool, typer.Option("--mixed-labels", help="Include classes that also cover other conditions (match `mixed`).")
    ] = False
    decisions: Annotated[
        tuple[Path, ...],
        typer.Option(
            metavar="FILE", help="Decisions on doubtful photos, exported from `bedside review`. May be repeated."
        ),
    ] = ()
    licences: Annotated[
        tuple[str, ...],
        typer.Option(
            "--licence",
            metavar="NAME=LICENCE",
            help="Licence you assert for a source's photos that state none; photos without a licence are left "
            "out. May be repeated.",
        ),
    ] = ()
    allowed_licences: Annotated[
        frozenset[str],
        typer.Option(
            "--allow-licence",
            metavar="LICENCE",
            help="Accept photos under this licence (`unknown`, …). May be repeated.",
        ),
    ] = frozenset()
    total: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Photos in all splits together, distributed by --prevalence. [all]"),
    ] = None
    prevalence: Annotated[
        str | None,
        typer.Option(
            metavar=f"FILE|{PAPER_PREVALENCE}",
            help="Share of each diagnosis (diagnosis,share), or the paper's curve. [equal shares]",
        ),
    ] = None
    floor: Annotated[int, typer.Option(min=0, help="Minimum photos per diagnosis in the test split.")] = FLOOR
    splits: Annotated[
        str, typer.Option(metavar="NAME,…", help="Splits to release. `test` can be public, the others not.")
    ] = ",".join(RATIOS)
    follows: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="DIR|REPO@TAG",
            help="Previous release: photos in both keep their split and temperament. May be repeated, for splits "
            "published separately.",
        ),
    ] = ()
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Secret key for the ids of your own photos and groups [WORK/pseudonyms.key, created once].",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, help="Random seed for sampling, splits, temperaments and authored complaints.")
    ] = 1
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Vision chat model that writes the complaints; without one, hand-written ones stand in.",
        ),
    ] = None
    downloads: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for photos fetched from URLs [WORK/downloads].")
    ] = None
    pause: Annotated[
        float, typer.Option(min=0.0, metavar="SECONDS", help="Pause between two requests to the same host.")
    ] = 1.0
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N photos.")] = None
    limits: Limits = field(default_factory=Limits)

    @property
    def wanted_splits(self) -> frozenset[str]:
        """The splits to release."""
        return frozenset(name.strip() for name in self.splits.split(",") if name.strip())


def plan(build: Build[Options]) -> Plan:
    """What the options amount to. Photos are fetched here, so that the build's rows name what was read."""
    MissingExtra.check("curation", purpose="curating photos")
    options, workspace = build.options, build.workspace
    if options.downloads:
        refuse_releases(options.downloads, "a folder outside")
    targets = _targets(options)
    origins = [(source_name(text), origin_of(text)) for text in options.sources]
    before = open_followed(options.follows)
    # A mistake in one of these is told before photos are fetched.
    withdrawn, decisions = withdrawn_keys(options.withdrawn), read_decisions(options.decisions)
    hiding = nameless(
        origins,
        options.key,
        workspace,
        followed={one.name: one.key for one in before if one.key},
        splits_apart=options.wanted_splits < RATIOS.keys(),
        listed={"--withdrawn": withdrawn, "--decisions": decisions.by_key},
    )
    chat = build.chat(read_prompts)
    licences = _pairs("--licence", options.licences)
    for name, licence in licences.items():
        check_vouched(f"--licence {name}", licence, options.allowed_licences | SHAREABLE)
    sources = _open(options, licences)
    downloads = Downloads(options.downloads or workspace / "downloads", replace(options.limits, pause=options.pause))
    admission = Admission(options.allowed_licences, licences, options.mixed_labels)
    found, unread = gather(sources, admission, downloads, limit=options.limit, progress=build.progress)
    ids = hiding.ids(found)
    rows = [row | {"image_id": ids.get(row["image_id"], row["image_id"])} for row in found]
    earlier = read_earlier(before)
    bad = [hiding.bad(source, row) for source, row in unread]
    named = [(row.where, row.reason, row.detail) for row in bad]
    applied = decisions.matching([*((row["image_id"], row["content"]) for row in rows), *class_keys(rows)])
    identity, placed = rows_digest(rows), [*hiding.rows(rows)]
    curator = _curator(build, identity, rows, Decisions(applied), earlier, hiding.sources, withdrawn)
    return Plan(
        rows=[*bad, *_rows(placed)],
        schema=steps.SOURCE,
        identity=json.dumps([identity, hiding.fingerprint, [row["where"] for row in placed], named]),
        steps=_steps(build, targets, curator, chat),
        sources=lambda count: _sources(sources, rows, hiding),
        settings=_settings(options, targets, chat, licences)
        | {"decisions": _counted(decisions, applied, hiding) if decisions.by_key else None}
        | ({"pseudonyms": hiding.fingerprint} if hiding.sources else {})
        | ({"follows": [*earlier.contents]} if earlier.contents else {}),
        card=lambda manifest: card(manifest, origins, sources, _pairs("--labels", options.labels), chat),
        chat=chat,
        packages=("numpy", "opencv-python-headless", "pillow"),
        stand_in=lambda finished: _stand_in(options, chat, finished),
        review=lambda finished: "\n".join(
            [
                *([] if SAMPLE in options.sources else remarks.left_out(rows, workspace, finished)),
                *decisions.left_over(applied, "the photo or class"),
                *remarks.leave_own(rows, hiding, workspace),
                *remarks.apart(options.sources, rows),
                *remarks.alike(rows),
                *remarks.unheeded(licences, rows),
                *remarks.unnamed(downloads.unnamed),
                *remarks.untold(sources),
                *remarks.leave_queue(curator.queue, workspace, finished),
                *remarks.followed(earlier, finished),
                *(remarks.unanswered(workspace, build.store, finished) if chat else []),
            ]
        ),
    )


def _curator(
    build: Build[Options],
    rows_by: str,
    rows: Sequence[Row],
    decisions: Decisions,
    earlier: Earlier,
    own: frozenset[str],
    withdrawn: frozenset[str],
) -> Curator:
    """`rows_by` is the digest of all rows, also of those that are refused."""
    forbidden = [  # of what is refused, only these were read
        Candidate(row["image_id"], Path(row["image_path"]), row["source"], licence=row["licence"], forbidden=True)
        for row in rows
        if row["refused"] and row["content"]
    ]
    judged_by = canonical_json([rows_by, decisions.digest, earlier.identity, sorted(own), sorted(withdrawn)])
    identity = hashlib.sha256(judged_by).hexdigest()[:32]
    index, queue = build.workspace / "curation.sqlite", build.workspace / "queues" / f"{identity}.json"
    engine = in_threads(build.engine)
    return Curator(identity, index, queue, decisions, earlier, own, withdrawn, forbidden, engine, build.progress)


def _steps(
    build: Build[Options], targets: Mapping[str, int] | None, curator: Curator, chat: Chat | None
) -> Iterator[Step]:
    options, authored = build.options, authored_digest()
    yield admit()
    yield unique(CORPUS.key, "diagnoses")
    yield images(build.images)
    yield steps.curate(build.images, curator)
    yield steps.draw(targets, options.seed, curator.earlier)
    yield steps.split(RATIOS, options.wanted_splits, options.seed)
    yield steps.temperament(options.seed, curator.earlier)
    if chat:
        yield steps.basics_by_model(authored, chat)
        yield steps.complaints_by_model(options.seed, authored, chat, build.images)
    else:
        yield steps.complaints(options.seed, authored)


def _rows(rows: Iterable[Row]) -> Iterator[Row]:
    """The photos in the form that the first step expects."""
    for row in rows:
        missing = None if row["image_path"] else {"reason": "image missing", "detail": "no such file in its source"}
        yield {**{name: row.get(name) for name in steps.SOURCE.names}, "no_image": row["not_fetched"] or missing}


def _targets(options: Options) -> dict[str, int] | None:
    """Photos of each class over all splits; the floor is that of the test split, half of the whole."""
    splits = options.wanted_splits
    if not splits <= RATIOS.keys() or not splits:
        raise InputError("--splits", found=", ".join(sorted(splits)) or "none", expected=", ".join(RATIOS))
    if options.total is None:
        if options.prevalence is not None:
            raise InputError("--prevalence", found="no --total", expected="the number of photos to distribute")
        return None
    uniform = dict.fromkeys(NAMES, 1 / len(NAMES))
    bundled = Path(__file__).with_name("prevalence_paper.csv")
    table = bundled if options.prevalence == PAPER_PREVALENCE else options.prevalence
    shares = read_prevalence(Path(table), NAMES) if table else uniform
    return class_targets(shares, total=options.total, floor=round(options.floor / RATIOS["test"]))


def _open(options: Options, licences: Mapping[str, str]) -> list[PhotoSource]:
    """The sources by name.

    Raises: InputError if there is none, two have one name, or an option names a source that does not exist.
    """
    names = [source_name(text) for text in options.sources]
    labels = {name: Path(path) for name, path in _pairs("--labels", options.labels).items()}
    if not names:
        raise InputError("--source", found="none", expected=f"at least one, such as {SAMPLE} or scin=DIR")
    for name in names:
        if names.count(name) > 1:
            do = "Write KIND:NAME=PATH to name each source"
            raise InputError("--source", found=f"two sources named {name!r}", expected="each name once", do=do)
    for option, given in (("--labels", labels), ("--licence", licences)):
        for name in given:
            if name not in names:
                raise InputError(option, found=f"no source named {name!r}", expected="one of " + ", ".join(names))
    return [open_source(text, labels=labels.get(name)) for text, name in zip(options.sources, names, strict=True)]


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE options as a mapping."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value) or name in pairs:
            raise InputError(option, found=text, expected="NAME=VALUE, each name once")
        pairs[name] = value
    return pairs


def _settings(
    options: Options, targets: Mapping[str, int] | None, chat: Chat | None, licences: Mapping[str, str]
) -> dict[str, JsonValue]:
    return {
        "seed": options.seed,
        "ratios": cast(JsonValue, RATIOS),
        "splits": [*order_splits(options.wanted_splits)],
        "split_rule": SPLIT_RULE,
        "total": options.total,
        "floor": options.floor,
        "targets": cast(JsonValue, targets),
        "mixed_labels": options.mixed_labels,
        "licences": dict(licences),
        "allowed_licences": [*sorted(options.allowed_licences)],
        "curation": {"by": "builders.curation", "faults": cast(JsonValue, list(FAULTS))},
        "complaints": "model" if chat else "authored",
        "authored": authored_digest(),
        "model": chat.record if chat else None,
        "limit": options.limit,
    }


def _counted(decisions: Decisions, applied: Mapping[str, Decision], hiding: Nameless) -> dict[str, JsonValue]:
    """A review: its digest, and how many of its decisions were applied, or are about photos that do not exist here."""
    accepted = sum(decision.decision == review.ACCEPT for decision in applied.values())
    return {
        "sha256": hiding.digest(decisions.digest, hiding.sources),  # they may name classes after one's own labels
        "accepted": accepted,
        "rejected": len(applied) - accepted,
        "without a photo": len(decisions.by_key) - len(applied),
    }


def _sources(sources: Sequence[PhotoSource], rows: Sequence[Row], hiding: Nameless) -> list[Source]:
    listed = []
    for source in sources:
        own = [row for row in rows if row["source"] == source.facts.name]
        licences = sorted({read_licence(row["licence"]).id for row in map(hiding.row, own)})
        listed.append(
            Source(
                name=f"{source.facts.name}: {source.facts.title}",
                digest=hiding.digest(rows_digest(own), [source.facts.name]),
                rows=len(own),
                licence="; ".join(licences) if len(licences) <= 3 else "per row",
                url=source.facts.url or None,
            )
        )
    return listed


def _stand_in(options: Options, chat: Chat | None, finished: Run) -> list[str]:
    drawn = ["the photos were drawn for this project; nobody was photographed"] * (SAMPLE in options.sources)
    if "test" not in options.wanted_splits:  # no other has complaints
        return drawn
    scripted = chat.stand_in("the complaints") if chat else []
    statuses = finished.workspace.rows(finished.batches, ("complaints_status",))
    if scripted or any(row["complaints_status"] in BY_MODEL for row in statuses):
        return drawn + scripted
    return [*drawn, "the complaints were authored without seeing the photos, and no clinician has reviewed them"]


def summary(manifest: Manifest) -> Iterable[Table | str]:
    """Photos by domain and split, what the test split lacks of the paper's floor, and what a person decided."""
    statistics = cast(dict[str, Any], manifest.statistics)
    here = {name: statistics["domain_by_split"][name] for name in DOMAINS}
    yield by_split("Photos", "domain", here, list(manifest.splits))
    told = ", ".join(f"{name} {count:,}" for name, count in statistics["complaints_status"].items()) or "none"
    if "test" in manifest.splits:
        yield (
            f"Complaints: {told}. Diagnoses with fewer than {FLOOR} photos in test: "
            f"{statistics['below_floor']} of {len(NAMES)}."
        )
    decisions = cast(dict[str, int] | None, manifest.settings.get("decisions"))
    if decisions is not None:
        yield (
            f"Decisions: {decisions['accepted']:,} accepted, {decisions['rejected']:,} rejected; "
            f"{decisions['without a photo']:,} about photos that are missing or have changed."
        )


RECIPE = Recipe(
    CORPUS,
    Options,
    plan,
    measure,
    check_row,
    summary,
    PREVIEW,
    sample=("--source", SAMPLE),
    sample_rows=404,
    source_columns=SOURCE_COLUMNS,
    configs=CONFIGS,
    extras=("curation",),
    rules=RULES,
    folder_only="its photos are opened by path",
)
