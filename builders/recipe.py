"""The recipe of a corpus, and `build`, which builds a release from it.

    bedside build CORPUS …    # build(recipe, options, out, workspace=…)

A recipe is data and a few functions: the options of the user (`options`, which is also the command line), what these
options amount to (`plan`: the source, the steps, what goes into manifest and card), and what is done with a release of
any corpus: measure it, check its rows, summarise it, show it. Anything that only one corpus needs is a step of that
corpus.
"""

from __future__ import annotations

import gc
import hashlib
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar
from uuid import NAMESPACE_URL, uuid5

import pyarrow as pa
import typer
from pydantic import JsonValue
from rich.progress import Progress

import dataset_cards
from builders.chat import Chat, answered_as
from builders.licences import UNKNOWN, corpus_licence, not_met, read_licence
from builders.pipeline.image_store import ImageStore
from builders.pipeline.keys import in_one_form
from builders.pipeline.rows import BuildError, Row
from builders.pipeline.run import Run, run
from builders.release.cards import GATE_TEXT, render_card, render_croissant
from builders.release.checkout import own_code
from builders.release.counted import Measure, RowCheck
from builders.release.croissant import STATED, read_statement, text_digest
from builders.release.parts import Stored
from builders.release.preview import Preview, Table
from builders.release.write import Facts, occupied, release_at, write_release
from builders.steps import WITHDRAWN, Step, remarks, stages, withdraw
from loaders import __version__
from loaders.corpus import Corpus, corpus
from loaders.engines.engine import Engine
from loaders.engines.local import Local
from loaders.errors import InputError, ReleaseError, first_of
from loaders.files.bad_rows import MAX_BAD, BadRow
from loaders.files.disk import beside
from loaders.files.image_formats import HEIF, readable
from loaders.files.json_values import parse_json
from loaders.files.paths import is_inside, refuse_releases, resolved
from loaders.files.stores import Folder, Store
from loaders.files.texts import MARK, read_text
from loaders.manifest import Config, Manifest, Source, canonical_json, other_in_both, other_versions, versions_in_words
from loaders.models.chat import open_model
from loaders.models.prompts import Prompts
from loaders.reached import code_digest
from loaders.registry import find_corpus

_PACKAGES = ("datasets", "pyarrow")
VERSIONS = "versions.json"
# Settings that are known only at the end: the machines on which a release was built, and what servers of models said.
MACHINES, ANSWERED_AS = "machines", "answered_as"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options common to all builds. A corpus's own fields come before these; its docstring is the help text."""

    gate_text: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Text file with the terms that readers on the Hub must accept.")
    ] = None

    statement: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="YAML file of statements about your own data for card and croissant.json: `collection` (with "
            "consent), `annotation`, `biases`, `sensitive`.",
        ),
    ] = None

    max_bad: Annotated[
        float,
        typer.Option(
            min=0, max=100, metavar="PERCENT", help="Continue if at most this share of a source's rows cannot be read."
        ),
    ] = MAX_BAD

    withdrawn: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keys of rows to remove, one per line, such as a person's who withdrew. Removed last: no other "
            "row changes.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ModelOptions(Options):
    """Options of a build that calls a chat model."""

    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Chat model, such as openai/gpt-4o-mini or vllm/….")
    ] = None
    base_url: Annotated[
        tuple[str, ...], typer.Option(metavar="URL", help="Address of the model's server. May be repeated.")
    ] = ()
    prompts: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder with your own prompt texts.")] = None
    concurrency: Annotated[int, typer.Option(min=1, help="Maximum concurrent requests to the model.")] = 16
    timeout: Annotated[float, typer.Option(min=1.0, max=86400.0, help="Timeout per request, in seconds.")] = 120.0


Chosen = TypeVar("Chosen", bound=Options)


@dataclass(frozen=True)
class Build(Generic[Chosen]):
    """The input of a plan: the user's options, and the resources of the build.

    Batches and images are kept in the `store`, which is the folder `workspace` or a bucket; machine-local files in the
    folder.
    """

    options: Chosen
    workspace: Path
    store: Store
    engine: Engine
    progress: Progress | None
    tell: Callable[[str], None] = lambda sentence: None

    @property
    def images(self) -> ImageStore:
        """The store for the images of this build."""
        return ImageStore(self.store)

    def chat(self: Build[Any], prompts: Callable[[Path | None], Prompts]) -> Chat | None:
        """The model that the options name, or None; `prompts` reads this corpus's prompt texts, or the user's. Raises:
        InputError for prompts, ModelError for a model that cannot be used."""
        options: ModelOptions = self.options
        texts = prompts(options.prompts)
        if options.model is None:
            for one in fields(ModelOptions):
                given = getattr(options, one.name)
                if one.name in ModelOptions.__annotations__ and given != one.default:
                    option, found = f"--{one.name.replace('_', '-')}", given[0] if one.name == "base_url" else given
                    raise InputError(option, found=str(found), expected="--model NAME: no model is asked")
            return None
        model = open_model(options.model, base_url=options.base_url, timeout=options.timeout, any_temperature=True)
        bucket = self.store if self.store.anywhere else None
        return Chat(model, texts, self.workspace / "answers.sqlite", options.concurrency, bucket)


@dataclass(frozen=True)
class Plan:
    """What the options amount to.

    `rows` of `schema` are the source's, and `identity` names them: equal for equal rows, never a path, but with the
    names of files that the rows or their places hold; the code that reads them is counted separately. `sources`
    describes them, given the number of rows read. `settings` are all other things that determine the content, again
    without paths. `card` gives the facts that the template needs beyond those of the manifest. `stand_in` says why
    numbers are no results, if need be by what was made. `review` writes what a person should review to the workspace,
    and returns what the user is told. `records` is the number of records in the files of a source whose rows are made
    from several.
    """

    rows: Iterable[Row | BadRow]
    schema: pa.Schema
    identity: str
    steps: Iterable[Step]
    sources: Callable[[int], Sequence[Source]]
    settings: Mapping[str, JsonValue]
    card: Callable[[Manifest], Mapping[str, JsonValue]]
    chat: Chat | None = None
    packages: Sequence[str] = ()
    stand_in: Sequence[str] | Callable[[Run], Sequence[str]] = ()
    review: Callable[[Run], str] | None = None
    records: int | None = None

    def __post_init__(self) -> None:
        """Raises: BuildError for a field of another kind, which would fail far from the recipe, or not at all."""
        kinds = {
            "rows": (isinstance(self.rows, Iterable), "rows, such as a generator"),
            "schema": (isinstance(self.schema, pa.Schema), "pa.schema([(column, type), …])"),
            "identity": (isinstance(self.identity, str) and bool(self.identity), "a text that names the rows"),
            "sources": (callable(self.sources), "a function of the number of rows"),
            "card": (callable(self.card), "a function of the manifest"),
        }
        for name, (fits, expected) in kinds.items():
            if not fits:
                raise BuildError(
                    f"the plan's {name}: found a {type(getattr(self, name)).__name__}, expected {expected}"
                )
        try:
            json.dumps(self.settings, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BuildError(f"the plan's settings: found no JSON ({error}), expected plain values") from None


@dataclass(frozen=True)
class Recipe(Generic[Chosen]):
    """How releases of a corpus are built and displayed.

    `sample` are the words of the command that builds the bundled sample, which has `sample_rows`. `template` is the
    card template, by default the corpus's own in `dataset_cards`. `summary` is what the terminal shows of a release:
    tables of counts, and sentences. `measure` is a function of all rows, or `Counted` if shards can be counted one by
    one and added up. `source_columns` are the columns that a user's table may have: the accepted names of each, and
    what it holds. `extras` are the extras of setup.cfg that a build needs. `rules` is the version of what `check_row`
    and `measure` require: raise it when a row that was valid may no longer be, so that `verify` recognises earlier
    releases. `folder_only` is the reason why the workspace must be a folder, "" if a bucket works as well.
    `check_licence` is the part of `check_row` about licences, which holds for releases of other `rules` too.
    """

    corpus: Corpus
    options: type[Chosen]
    plan: Callable[[Build[Chosen]], Plan]
    measure: Measure
    check_row: RowCheck
    summary: Callable[[Manifest], Iterable[Table | str]]
    preview: Preview
    sample: Sequence[str]
    sample_rows: int | None = None
    configs: Sequence[Config] = ()
    template: Path | None = None
    source_columns: Sequence[tuple[Sequence[str], str]] = ()
    extras: Sequence[str] = ()
    rules: int = 1
    folder_only: str = "it opens workspace files by path"
    check_licence: RowCheck | None = None

    def __post_init__(self) -> None:
        if "__dataclass_fields__" not in vars(self.options):  # its own fields would be no options, without a word
            raise TypeError(
                f"{self.options.__name__} is no dataclass: put @dataclass(frozen=True, kw_only=True) above it"
            )


def recipe_of(name: str) -> Recipe[Any]:
    """The recipe of a corpus. Raises: InputError when there is no such corpus, it has no recipe, or its package is
    broken."""
    known = corpus(name)
    if not known.recipe:
        raise InputError(name, found="no recipe for this corpus", expected="a corpus that Bedside can build")
    return replace(find_corpus(name), place=known.recipe).load_kind("RECIPE", Recipe)


@contextmanager
def _settled() -> Iterator[None]:
    """Exempts everything that exists before the work begins (mostly modules) from garbage collection: traversing it
    again for every few thousand new objects takes a tenth of a build. Few of the new objects are cyclic garbage, so the
    collector also runs a tenth as often."""
    often = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(10 * often[0], *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
        gc.unfreeze()


@_settled()
def build(
    recipe: Recipe[Chosen],
    options: Chosen,
    out: Path,
    *,
    workspace: Path,
    store: Store | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
    overwrite: bool = False,
    tell: Callable[[str], None] = lambda sentence: None,
) -> Manifest:
    """Build a release folder at `out`; after any interruption, the same call resumes from `workspace`, or from the
    `store` if one is given (see `Build`).

    `tell` is called with what is waiting for review, if anything, and with the library versions that differ from those
    of a release at `out` or of stored results.

    Raises: InputError, ModelError, MissingExtra for what the options name; InputError for `.` or `/` as `out` and,
    before any work, for one that holds another release or something else; BedsideError for a full disk or a workspace
    in use; ReleaseError when no row is left.
    """
    _refuse_place(out, workspace)
    if store is not None and recipe.folder_only:
        found = f"a build of {recipe.corpus.name} cannot lie in a bucket: {recipe.folder_only}"
        do = "Set --work to a folder on a disk; with several nodes, one that they all share"
        raise InputError(store, found=found, do=do)
    gate_text = read_text(options.gate_text).strip() if options.gate_text else None
    if gate_text == "":  # the Hub would ask for consent to nothing
        raise InputError(options.gate_text, found="no terms", expected="a text that readers must accept")
    engine = engine or Local()
    at_hand = Build(options, workspace, store or Folder(workspace), engine, progress, tell)
    listed = withdrawn_keys(options.withdrawn)
    own = read_statement(options.statement) if options.statement else {}
    known = recipe.corpus
    plan = recipe.plan(at_hand)
    if not isinstance(plan, Plan):
        raise BuildError(f"plan: found a {type(plan).__name__}, expected a Plan, which it returns")
    withdrawn = frozenset(map(in_one_form, listed))
    plan = _with_own(plan, known.key, withdrawn, own, gate_text)
    versions = _versions(plan)
    if not overwrite:
        _refuse_another(out, recipe, plan, versions)
    for sentence in _other_versions(versions, out, at_hand.store):
        tell(sentence)
    finished = run(
        plan.rows,
        stages(plan.steps, plan.schema),
        key=known.key,
        workspace=workspace,
        store=store,
        source_identity=f"{plan.identity} {code_digest(recipe.plan)}",
        max_bad=options.max_bad,
        records=plan.records,
        engine=engine,
        packages=[package for package in versions if package not in ("python", "bedside")],
        progress=progress,
    )
    late: dict[str, JsonValue] = {MACHINES: list(engine.machines)} if len(engine.machines) > 1 else {}
    if plan.chat is not None and (told := answered_as(finished.heard())):
        late[ANSWERED_AS] = told
    plan = replace(plan, settings={**plan.settings, **late})
    waiting = plan.review(finished) if plan.review is not None else ""
    for sentence in filter(None, (*remarks(finished, known.key), *_not_withdrawn(withdrawn, finished), waiting)):
        tell(sentence)
    manifest = write_release(
        out,
        _facts(recipe, plan, finished, versions),
        Stored(finished.batches, finished.workspace, at_hand.images, known.key, finished.schema.names),
        finished.exclusions(),
        measure=recipe.measure,
        card=partial(_described, partial(render_card, own=own, gating=gate_text), recipe, plan),
        croissant=partial(_described, partial(render_croissant, own=own), recipe, plan),
        overwrite=overwrite,
        engine=engine,
    )
    for sentence in _not_met(manifest):
        tell(sentence)
    return manifest


def _refuse_place(out: Path, workspace: Path) -> None:
    """Refuse now what cannot be written in the end, not after all the work. Raises: InputError."""
    beside(out, "{}")
    release_at(resolved(out))
    refuse_releases(out.parent, f"a folder that is in no release, for {out.name}")
    refuse_releases(workspace, "a workspace outside")
    if is_inside(workspace, out):
        found, do = f"is in the release folder {out}, which holds nothing else", "Name a folder beside it"
        raise InputError(workspace, found=found, expected="a workspace outside the release", do=do)


def _with_own(
    plan: Plan, key: str, withdrawn: frozenset[str], statement: Mapping[str, str], gate_text: str | None
) -> Plan:
    """A corpus's plan with what a maintainer of any corpus may add: withdrawn rows, statements about the data, and the
    terms of the gate."""
    settings: dict[str, JsonValue] = dict(plan.settings)
    steps = [*plan.steps, withdraw(key, withdrawn)] if withdrawn else plan.steps
    if withdrawn:
        settings[WITHDRAWN] = hashlib.sha256(canonical_json(sorted(withdrawn))).hexdigest()
    if statement:
        settings[STATED] = {name: text_digest(text) for name, text in statement.items()}
    if gate_text is not None:
        settings[GATE_TEXT] = text_digest(gate_text)
    return replace(plan, steps=steps, settings=settings)


def withdrawn_keys(path: Path | None) -> frozenset[str]:
    """The keys that a file lists. Raises: InputError when it cannot be read or lists none."""
    if path is None:
        return frozenset()
    # The mark of a file's beginning stands within where lists were joined, and nobody sees it.
    keys = frozenset(filter(None, map(str.strip, read_text(path).replace(MARK, "\n").splitlines())))
    if not keys:
        raise InputError(path, found="no key", expected="keys of rows, one per line")
    return keys


def _not_withdrawn(withdrawn: frozenset[str], finished: Run) -> Iterator[str]:
    """Sentences that name the withdrawn keys that took no row out: those whose row was excluded before, and why, and
    those without a row."""
    if not withdrawn:
        return
    # of several stages, the last: WITHDRAWN
    excluded = {key: row for row in finished.exclusions() if (key := in_one_form(row["key"])) in withdrawn}
    earlier = [f"{key} ({row['reason']})" for key, row in sorted(excluded.items()) if row["stage"] != WITHDRAWN]
    if earlier:
        yield f"Withdrawn keys whose rows were already excluded: {first_of(earlier)}"
    if absent := sorted(withdrawn - excluded.keys()):
        yield f"Withdrawn keys without a row (no longer in the source, or mistyped): {first_of(absent)}"


def _not_met(manifest: Manifest) -> Iterator[str]:
    """A sentence that names the licences let through by name that nothing is under, if the release counts licences."""
    match manifest.statistics, manifest.settings:
        case {"licence": dict(rows), **more}, {"allowed_licences": list(allowed)}:
            phrases = more.get("licence_of_phrases")
            held = [*rows, *(phrases if isinstance(phrases, dict) else ())]
            if absent := not_met(map(str, allowed), held):
                yield f"Allowed licences that nothing in this release is under (mistyped?): {first_of(absent)}"


def _refuse_another(out: Path, recipe: Recipe[Any], plan: Plan, versions: Mapping[str, str]) -> None:
    """Refuse a place that holds a release of another corpus, other rules, sources, settings or library versions, before
    the work is done. Raises: InputError."""
    there = release_at(resolved(out))
    if there is None:
        return
    here = {name: value for name, value in there.settings.items() if name not in (MACHINES, ANSWERED_AS)}
    other = other_versions(there.versions, versions)
    sources = [[(source.name, source.digest) for source in listed] for listed in (there.sources, plan.sources(0))]
    differs = {
        f"corpus {there.corpus}": there.corpus != recipe.corpus.name,
        f"version {there.rules} of the gates and scans": there.rules != recipe.rules,
        "other settings": canonical_json(here) != canonical_json(plan.settings),
        "other sources": sources[0] != sources[1],
        f"library versions: {versions_in_words(other)}": bool(other),
    }
    for what, is_so in differs.items():
        if is_so:
            raise occupied(out, f"already holds another release ({what})")


def _facts(recipe: Recipe[Chosen], plan: Plan, finished: Run, versions: Mapping[str, str]) -> Facts:
    """What the manifest says about a build."""
    known = recipe.corpus
    reasons = plan.stand_in(finished) if callable(plan.stand_in) else plan.stand_in
    return Facts(
        corpus=known.name,
        key=known.key,
        features=known.features,
        sources=plan.sources(finished.stages[0].rows_in),
        settings=plan.settings,
        prompts=plan.chat.prompts.digests if plan.chat else {},
        versions=versions,
        stages=finished.stages,
        schema_version=known.schema_version,
        configs=recipe.configs,
        stand_in="; ".join(reasons) or None,
        rules=recipe.rules,
        code=own_code(),
        canary=canary(known.name),
    )


def _versions(plan: Plan) -> dict[str, str]:
    """Versions of everything that can change a byte of the release; a scripted model needs no inspect_ai."""
    packages = [*_PACKAGES, *plan.packages, *["inspect_ai"] * (plan.chat is not None)]
    packages += ["pillow-heif"] * (HEIF in readable() and "pillow" in packages)
    here = {"python": platform.python_version(), "bedside": __version__}
    for package in packages:
        with suppress(PackageNotFoundError):
            here[package] = version(package)
    return here


def _other_versions(versions: Mapping[str, str], out: Path, store: Store) -> Iterator[str]:
    """Warnings when other versions made the release that is replaced, or the stored results that are reused.

    The workspace keeps the first version of each package, since any later build may reuse what that version stored.
    A package that only one of two builds needs (a model's, another corpus's) is no other version: it stored nothing
    that the other build reuses.
    """
    store.create(VERSIONS, json.dumps(versions).encode())
    where, expected = f"{store}/{VERSIONS}", "versions by package, as written by a build"
    first = parse_json(store.read(VERSIONS) or b"", where, expected=expected, do="Delete it")
    if isinstance(first, dict):
        if other := other_in_both(first, versions):
            yield (
                f"{store} may hold results from other library versions ({versions_in_words(other)}), which are not "
                "recomputed; delete it to recompute everything"
            )
        if not versions.keys() <= first.keys():
            store.put(VERSIONS, json.dumps({**versions, **first}).encode())
    with suppress(ReleaseError):
        if other := other_in_both(Manifest.read(out).versions, versions):
            made = f"was made with other library versions ({versions_in_words(other)})"
            yield f"The release at {out} {made}: expect different files"


def canary(corpus: str) -> str:
    """The sentence that marks every copy of a corpus; the same in all its releases.

    >>> canary("medconceal")[-36:]
    '9bb618b7-d58b-5bcf-ac6f-a006eff167b0'
    """
    number = uuid5(NAMESPACE_URL, f"bedside:{corpus}")
    return f"Benchmark data: keep out of training corpora. Bedside {corpus} canary {number}"


def _described(render: Callable[..., str], recipe: Recipe[Any], plan: Plan, manifest: Manifest) -> str:
    """A description of a release (its card, croissant.json) made from the template."""
    template = recipe.template or Path(dataset_cards.__file__).with_name(f"{recipe.corpus.name}.md")
    notice = f"> **Stand-in**: {manifest.stand_in}.\n" if manifest.stand_in else ""
    told = plan.card(manifest)
    if not isinstance(told, Mapping):
        raise BuildError(f"the plan's card: found a {type(told).__name__}, expected a dict of what the template names")
    return render(template.read_text(encoding="utf-8"), manifest, facts={"notice": notice, **told})


def licence_facts(licences: Iterable[str | None], rows: str, one: str) -> dict[str, JsonValue]:
    """The card's statements about the licences of its rows, called `rows` together and `one` singly."""
    ids = sorted({read_licence(licence).id for licence in licences})
    licence = corpus_licence(ids)
    mixed = licence == "other"
    under = "different licences that no single one covers"
    if len(ids) == 1:
        under = "terms that their sources do not state" if ids == [UNKNOWN] else f"the same terms, {ids[0]}"
    return {
        "licence": licence,
        "licence_name": "per-row" if mixed else "",
        "licence_link": "README.md#licences" if mixed else "",
        "licence_text": (
            f"The {rows} stand under {under}: column `licence` is what counts."
            if mixed
            else f"The strictest terms of the {rows} make the corpus {licence}; column `licence` holds {one} own."
        ),
    }
