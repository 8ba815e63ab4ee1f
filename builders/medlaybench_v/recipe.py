"""The recipe of MedLayBench-V (`bedside build medlaybench-v`).

captions -> admit -> unique ids -> images -> (concepts, with a recogniser) -> draft -> refine
         -> shards, exclusions, card, manifest
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from pydantic import JsonValue

from builders.chat import Chat
from builders.licences import check_vouched
from builders.medlaybench_v.card import card
from builders.medlaybench_v.concepts import Recognizer
from builders.medlaybench_v.gates import JUDGE
from builders.medlaybench_v.judge import Judge, judge_of
from builders.medlaybench_v.lexicon import ALL, ONTOLOGY, Lexicon
from builders.medlaybench_v.measure import RULES, check_licence, check_row, measure
from builders.medlaybench_v.preview import PREVIEW
from builders.medlaybench_v.prompts import CONDITIONS, read_prompts
from builders.medlaybench_v.recognizers import MedcatRecognizer, SpacyRecognizer
from builders.medlaybench_v.refine import NO_FORM, NONE_PASSED
from builders.medlaybench_v.sources import SAMPLE, CaptionSource, open_source
from builders.medlaybench_v.sources.files import SOURCE_COLUMNS
from builders.medlaybench_v.steps import MAX_TOKENS, SOURCE, admit, concepts, draft, refine_by_model, refine_by_rules
from builders.medlaybench_v.vocabulary import Vocabulary, combine, in_turn, read_vocabulary, unapplied
from builders.pipeline.rows import Row
from builders.pipeline.run import Run
from builders.recipe import Build, ModelOptions, Plan, Recipe
from builders.release.preview import Table, by_split
from builders.steps import Step, images, unique
from builders.unanswered import ask_again, counted
from loaders.errors import InputError, first_of, how_many
from loaders.files.bad_rows import BadRow
from loaders.files.paths import name_of
from loaders.files.stores import Store
from loaders.manifest import IMAGES_OF, Manifest, Source
from loaders.medlaybench_v import CORPUS
from loaders.models.chat import open_model

BUNDLED = "bundled"
_PACKAGES = ("ahocorasick-rs", "inflect", "numpy", "pillow")


@dataclass(frozen=True, kw_only=True)
class Options(ModelOptions):
    """Build MedLayBench-V: expert and lay captions in pairs, every row checked by twelve gates.

    If a build is interrupted, even by `kill -9`, run the same command again to resume; no model answer is paid for
    twice.

    Examples:

        bedside build medlaybench-v --captions sample --out runs/sample

        bedside build medlaybench-v --captions captions.csv --images pictures/ --licence CC-BY-4.0 --model
        openai/gpt-4o-mini --out runs/mine
    """

    captions: Annotated[
        str,
        typer.Option(
            metavar="FILE|FOLDER|sample|ID",
            help="Expert captions: CSV, TSV, JSON Lines or Parquet with the columns `image_id` and `caption` (and "
            "`licence`, `split`, …); a ROCO folder; `sample` (bundled); or `eltorio/ROCOv2-radiology` from the Hub.",
        ),
    ]
    images: Annotated[Path | None, typer.Option(metavar="DIR", help="Images, matched by id or file name.")] = None
    vocabularies: Annotated[
        tuple[str, ...],
        typer.Option(
            "--vocabulary",
            metavar="FILE|bundled",
            help="Lay vocabularies in order of precedence: CSV, MRCONSO.RRF, MedlinePlus XML. May be repeated. "
            "The bundled list comes first unless you place it elsewhere.",
        ),
    ] = ()
    review: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Reviewed vocabulary pairs (expert,lay,verdict,reason).")
    ] = None
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Chat model that refines captions, such as openai/gpt-4o-mini or vllm/…; without one, rules "
            "write them.",
        ),
    ] = None
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Chat model that compares each text of --model with the expert caption: one more request per text. "
            "Where it decides, it overrules the gates of facts.",
        ),
    ] = None
    judge_url: Annotated[
        tuple[str, ...], typer.Option(metavar="URL", help="Address of the judge's server. May be repeated.")
    ] = ()
    condition: Annotated[str, typer.Option(metavar="|".join(CONDITIONS), help="Ablation condition (Table 5).")] = "scgr"
    medcat: Annotated[Path | None, typer.Option(metavar="PACK", help="MedCAT model pack for C_onto.")] = None
    trust_model_pack: Annotated[
        bool, typer.Option("--trust-model-pack", help="Load the model pack, which runs the code inside it.")
    ] = False
    spacy: Annotated[
        str | None, typer.Option(metavar="NAME|DIR", help="spaCy pipeline for C_ent, such as en_core_sci_md.")
    ] = None
    substitute: Annotated[
        str,
        typer.Option(metavar=f"{ALL}|{ONTOLOGY}", help="Substitute every vocabulary term, or only CUIs (Algorithm 1)."),
    ] = ALL
    licence: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Licence you assert for rows that state none, such as CC-BY-4.0. Rows without a licence are left out.",
        ),
    ] = None
    allowed_licences: Annotated[
        frozenset[str],
        typer.Option(
            "--allow-licence",
            metavar="NAME",
            help="Accept captions and vocabulary entries under this licence (`unknown`, `CC-BY-NC-ND`, …). May "
            "be repeated.",
        ),
    ] = frozenset()
    default_split: Annotated[str, typer.Option("--split", metavar="NAME", help="Split for rows that name none.")] = (
        "train"
    )
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N rows.")] = None

    def __post_init__(self) -> None:
        for option, value, allowed in (
            ("--condition", self.condition, tuple(CONDITIONS)),
            ("--substitute", self.substitute, (ALL, ONTOLOGY)),
        ):
            if value not in allowed:
                raise InputError(option, found=value, expected=" or ".join(allowed))
        if self.condition != "scgr" and not self.model:
            raise InputError(
                "--condition", found=self.condition, expected="--model NAME: without a model, rules refine"
            )
        if self.trust_model_pack and not (self.medcat or self.spacy):
            raise InputError("--trust-model-pack", found="no model pack", expected="--medcat PACK or --spacy DIR")
        if self.judge_url and not self.judge:
            raise InputError("--judge-url", found=self.judge_url[0], expected="--judge NAME: nobody judges")
        if self.judge and not self.model:
            raise InputError("--judge", found=self.judge, expected="--model NAME: what rules write is not judged")
        if self.judge and self.condition != "scgr":
            do = "Build without a judge; `bedside audit RELEASE --judge NAME` judges what was built"
            raise InputError("--judge", found=f"--condition {self.condition}, which keeps every text", do=do)


def plan(build: Build[Options]) -> Plan:
    """What the options amount to."""
    options = build.options
    check_vouched("--licence", options.licence, options.allowed_licences)
    source = open_source(
        options.captions, images=options.images, default_split=options.default_split, limit=options.limit
    )
    if source.lay is not None:
        build.tell(
            f"{source.name}: column {source.lay!r} is ignored: a build writes its own lay captions. To measure "
            "those of the table, use `bedside run language FILE` and `bedside audit FILE`"
        )
    named = options.vocabularies if BUNDLED in options.vocabularies else (BUNDLED, *options.vocabularies)
    vocabularies = in_turn(
        read_vocabulary(name, review=options.review, allowed=options.allowed_licences) for name in named
    )
    for told in filter(None, map(_set_aside, vocabularies)):
        build.tell(told)
    if options.review and (lost := unapplied(options.review, vocabularies)):
        build.tell(f"Review {name_of(options.review)}: no vocabulary has {first_of(lost, 3)}")
    vocabulary = combine(vocabularies)
    recognizers = tuple(_recognizers(options))
    chat = build.chat(partial(read_prompts, judged=options.judge is not None))
    judge = None
    if options.judge:
        judging = open_model(options.judge, base_url=options.judge_url, timeout=options.timeout, any_temperature=True)
        judge = judge_of(judging, options.prompts)
    reasons = ["the captions and drawings were made for this project, not taken from patients"]
    return Plan(
        rows=_rows(source, options),
        schema=SOURCE,
        identity=json.dumps([source.name, source.identity, options.default_split, options.licence, options.limit]),
        steps=_steps(build, Lexicon(vocabulary.terms, options.substitute), recognizers, chat, judge),
        sources=lambda rows: list(_sources(source, rows, vocabulary)),
        settings=_settings(options, vocabulary, recognizers, chat, judge),
        card=lambda manifest: card(manifest, source.origin, options.condition, chat, judge),
        chat=chat,
        packages=[*_PACKAGES, *["medcat"] * bool(options.medcat), *["spacy"] * bool(options.spacy)],
        review=partial(_review, store=build.store) if chat else None,
        stand_in=[
            *reasons * (options.captions == SAMPLE),
            *(chat.stand_in("the lay captions") if chat else []),
            *(replace(chat, model=judge.model).stand_in("the verdicts on them") if chat and judge else []),
        ],
    )


def _set_aside(vocabulary: Vocabulary) -> str:
    """How many pairs of a file are not used, with the most frequent reasons; "" for none, and for the bundled one."""
    (source,) = vocabulary.sources
    if source.name == BUNDLED or not vocabulary.rejected:
        return ""
    frequent = sorted(vocabulary.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
    reasons = "; ".join(f"{why} ({count:,})" for why, count in frequent[:3]) + "; …" * (len(frequent) > 3)
    return f"Vocabulary {source.name}: {source.used:,} of {source.pairs:,} pairs used; set aside: {reasons}"


def _review(finished: Run, store: Store) -> str:
    return " ".join(filter(None, (_without_model(finished, store), _undecided(finished))))


def _undecided(finished: Run) -> str:
    """The sentence about a judge that decided about no text; "" for any other."""
    judged = [
        verdict["reason"]
        for row in finished.workspace.rows(finished.batches, ("gates",))
        for verdict in row["gates"]
        if verdict["gate"] == JUDGE
    ]
    if not judged or "" in judged:
        return ""
    return (
        "The judge decided about none of the texts that stand: a model that does not answer in the form that it is "
        f"asked for is no judge. {counted(Counter(judged), 'without a verdict')}"
    )


def _without_model(finished: Run, store: Store) -> str:
    """The sentence that says why rows are without a text of the model; "" if all have one.

    A row that no model answered is not one whose text failed: only the first may be worth another try.
    """
    unanswered, formless, failed = Counter[str](), Counter[str](), 0
    for row in finished.workspace.rows(finished.batches, ("status", "status_reason")):
        if row["status"] != "fallback":
            continue
        why: str = row["status_reason"]
        if why.startswith(NO_FORM):
            formless[why.removeprefix(NO_FORM).partition(";")[0]] += 1
        elif why.startswith(NONE_PASSED):
            failed += 1
        else:
            unanswered[why] += 1
    parts = [f"in {failed:,} no text passed the gates"] if failed else []
    for rows, what in ((formless, "no answer was in the form that is asked for"), (unanswered, "there is no answer")):
        if rows:
            parts.append(f"in {counted(rows, what)}")
    if not parts:
        return ""
    told = f"Rows without a text of the model: {'; '.join(parts)}."
    return f"{told} {ask_again(store)}" if unanswered else told


def _steps(
    build: Build[Options], lexicon: Lexicon, recognizers: tuple[Recognizer, ...], chat: Chat | None, judge: Judge | None
) -> Iterator[Step]:
    options = build.options
    yield admit(options.allowed_licences)
    yield unique(CORPUS.key, "captions")
    yield images(build.images)
    if recognizers:
        yield concepts(recognizers)
    if chat is None:
        yield refine_by_rules(lexicon)
        return
    yield draft(lexicon)
    yield refine_by_model(lexicon, chat, options.condition, judge)


def _rows(source: CaptionSource, options: Options) -> Iterator[Row | BadRow]:
    """Source rows in the form of the first step; if no licence is stated, the user's own assertion is used."""
    for row in source.rows():
        if isinstance(row, BadRow):
            yield row
            continue
        if options.licence and not row["licence"]:
            row = {**row, "licence": options.licence, "licence_asserted_by": "whoever built this release (--licence)"}
        row["says"] = row["expert_caption"]
        yield {name: row[name] for name in SOURCE.names}


def _recognizers(options: Options) -> Iterator[Recognizer]:
    if options.medcat:
        yield MedcatRecognizer(options.medcat, trust=options.trust_model_pack)
    if options.spacy:
        yield SpacyRecognizer(options.spacy, trust=options.trust_model_pack)


def _settings(
    options: Options,
    vocabulary: Vocabulary,
    recognizers: tuple[Recognizer, ...],
    chat: Chat | None,
    judge: Judge | None,
) -> dict[str, JsonValue]:
    decoding: dict[str, JsonValue] = {"condition": options.condition, "max_tokens": MAX_TOKENS}
    if judge is not None:
        decoding["judge"] = judge.record
    return {
        "vocabulary": vocabulary.identity,
        "substitute": options.substitute,
        "recognizers": {recognizer.name: recognizer.identity for recognizer in recognizers},
        "refiner": "model" if chat else "rules",
        "model": chat.record | decoding if chat else None,
        "allowed_licences": [*sorted(options.allowed_licences)],
        "licence": options.licence,
        "default_split": options.default_split,
        "limit": options.limit,
    }


def _sources(source: CaptionSource, rows: int, vocabulary: Vocabulary) -> Iterator[Source]:
    yield Source(name=source.name, digest=source.digest, rows=rows, licence=source.licence, url=source.url)
    if source.images:
        count, digest, _ = source.pictured
        yield Source(name=f"{IMAGES_OF}{source.name}", digest=digest, rows=count, licence=source.licence)
    for v in vocabulary.sources:
        yield Source(name=f"vocabulary: {v.name}", digest=v.digest, rows=v.used, licence="; ".join(v.licences))


def summary(manifest: Manifest) -> Iterable[Table | str]:
    """Lay captions by status and split."""
    statistics = cast(dict[str, Any], manifest.statistics)
    splits: Sequence[str] = list(manifest.splits)
    yield by_split("Lay captions", "status", statistics["status_by_split"], splits)
    if judged := statistics["gates"].get(JUDGE):
        kept, undecided = judged["passed"], judged["doubtful"]
        yield f"The judge found every fact kept in {how_many(kept, 'text')} of the model, and left {undecided:,} open."
    yield (
        f"{statistics['with_lay_phrase']:,} of {manifest.rows:,} captions hold a term with a lay phrase; "
        f"{how_many(statistics['with_image'], 'row has', 'rows have')} an image."
    )
    across = {kind: n for kind, n in statistics.get("across_splits", {}).items() if n}
    if across:
        told = ", ".join(how_many(n, kind.removesuffix("s")) for kind, n in across.items())
        yield f"In more than one split of the source: {told}. Who trains on one split knows them in the other."


RECIPE = Recipe(
    CORPUS,
    Options,
    plan,
    measure,
    check_row,
    summary,
    PREVIEW,
    sample=("--captions", SAMPLE),
    sample_rows=148,
    source_columns=SOURCE_COLUMNS,
    rules=RULES,
    folder_only="",
    check_licence=check_licence,
)
