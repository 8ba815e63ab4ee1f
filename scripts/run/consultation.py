"""`bedside run consultation`: Tables 5 and 6, Figures 3-5 and 9-13."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.dialogue.played import PlayedCase
from baselines.results.run import ModelUsed
from baselines.threemdbench.classifier.cues import Cues, read_cues
from baselines.threemdbench.consultation.agents import BY_ROLE, scripted_agent
from baselines.threemdbench.consultation.cases import NO_CUES, ORIGINALS, Cases, keep_pictures, read_cases
from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.protocol import BEDSIDE, protocol_named, unfinished_of
from baselines.threemdbench.consultation.record import Consultation
from baselines.threemdbench.consultation.settings import SETTINGS, setting_named
from baselines.threemdbench.consultation.tables import results
from baselines.threemdbench.slices import NAME as SLICES
from baselines.threemdbench.slices import check_columns, sides_of
from loaders.errors import InputError, how_many
from loaders.files.records import to_json
from loaders.opened import Opened, open_corpus
from scripts.run.play import Play, play, record_of, roles_of, rules_of, warn_of_family
from scripts.run.stored import Rescored, Stored
from scripts.terminal.console import errors, warn
from scripts.terminal.finish import finish
from scripts.terminal.options import Resamples, Slices, one_of
from scripts.terminal.options_of import options_of

_F1 = {"authors": "F1", "cleaned": "F1 (cleaned)", "strict": "F1 (strict)"}
_SHOWN = 20
_NAMES = {role: ", ".join(f"scripted/{name}" for name in agents) for role, agents in BY_ROLE.items()}

Data = Annotated[str, typer.Argument(metavar="DATA", help="3mdbench[@TAG], official, a release folder, or REPO[@TAG].")]
Assessor = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="Model that extracts the diagnosis and scores the dialogue, from another family than the doctor's; "
        f"or a stand-in: {_NAMES['assessor']}.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Consultations(Play):
    data: Data
    doctor: Annotated[
        str,
        typer.Option(
            metavar="MODEL", help=f"Model under evaluation, endpoint:FILE.py, or a stand-in: {_NAMES['doctor']}."
        ),
    ]
    assessor: Assessor
    patient: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help=f"Model that plays the patient, text only; or a stand-in: {_NAMES['patient']}."
        ),
    ] = None
    setting: Annotated[str, typer.Option(metavar="NAME", help=f"One of {', '.join(SETTINGS)}.")] = "dialogue+image"
    cues: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="cues.parquet from `bedside run classifier`, for settings with cues. Cases without cues are "
            "listed and not played.",
        ),
    ] = None
    split: Annotated[str, typer.Option(metavar="NAME", help="Split to play.")] = "test"
    protocol: Annotated[
        str,
        typer.Option(
            metavar="bedside|authors",
            help="Bedside's protocol, or that of the authors' code: any BREAK ends, top_p .9, 29 utterances, "
            "unfinished dialogues counted, photos unresized for closed models. The next four options change "
            "one thing each.",
        ),
    ] = BEDSIDE.name
    cap_mode: Annotated[
        str | None, typer.Option(metavar="paper|authors", help="At most 28 utterances, or 29 as in their code.")
    ] = None
    judge: Annotated[str | None, typer.Option(metavar="patient|experts", help="Role given to the assessor.")] = None
    photos: Annotated[
        str | None,
        typer.Option(metavar="small|original", help="Photos resized to at most 400 pixels wide, or unchanged."),
    ] = None
    unfinished: Annotated[
        str | None,
        typer.Option(
            metavar="paper|authors", help="Dialogues cut off at the cap: no diagnosis, or scored as they are."
        ),
    ] = None
    f1: Annotated[
        str,
        typer.Option(
            metavar="authors|cleaned|strict",
            help="F1 to print first (all are stored): the authors' rules on the raw assessor answers, the same "
            "rules on the cleaned answers, or one exact diagnosis per case.",
        ),
    ] = "authors"
    slices: Slices = ()
    resamples: Resamples = 1000


@options_of(Consultations)
def command(options: Consultations) -> None:
    """Simulate consultations: a doctor model and a patient model talk, an assessor scores (Tables 5 and 6).

    Every answer is kept in RUN/private/answers.sqlite before it is used: after any interruption, even kill -9, run the
    same command again to resume, mid-dialogue and without paying twice. `inspect view --log-dir RUN/private/logs` shows
    every dialogue with its photo and scores. A model can be any of inspect_ai's, such as openai/gpt-4o-mini,
    vllm/Qwen/Qwen2-VL-7B-Instruct, or openai-api/local/NAME with LOCAL_API_KEY set and --base-url; each role can use
    another provider.

    Try it without a model: `bedside run consultation runs/3mdbench --doctor scripted/keyword --patient scripted/patient
    --assessor scripted/assessor -o runs/keyword`

    The paper's: `bedside run consultation official --doctor openai/gpt-4o-mini --patient
    vllm/meta-llama/Meta-Llama-3-8B-Instruct --assessor vllm/llava-hf/llava-onevision-qwen2-72b-ov-chat-hf --setting
    dialogue+image -o runs/gpt-4o-mini`
    """
    first = one_of("--f1", options.f1, tuple(_F1))
    texts = read_prompts(options.prompts)
    protocol = (
        protocol_named(options.protocol)
        .for_doctor(options.doctor)
        .having(cap_mode=options.cap_mode, judge=options.judge, photos=options.photos, unfinished=options.unfinished)
    )
    game = consultation_game(options.setting, texts, protocol)
    names = {"doctor": options.doctor, "assessor": options.assessor}
    if "patient" in game.roles:
        if options.patient is None:
            raise InputError("--patient", found="no model", expected=f"a model: {options.setting} is a dialogue")
        names["patient"] = options.patient
    # A patient is named even where nobody asks it, as in a sweep over the settings.
    roles = roles_of(names, scripted_agent, options, others=[options.patient] if options.patient else [])
    opened = open_corpus("3mdbench", options.data, options.split)
    cues = cues_of(options.cues, options.setting, opened)
    originals = options.out / ORIGINALS if protocol.photos == "original" else None
    read = read_cases(opened.splits[options.split], photos=protocol.photos, cues=cues, folder=originals)
    warn_of_cases(read, options.data, cues)
    cases = read.cases[: options.limit]
    sides = sides_of(opened.rows("image_id", *check_columns(options.slices)), options.slices, options.data)
    played = play(game, cases, roles, options, title=f"{options.doctor}, {options.setting}")
    keep_pictures(options.out, cases)
    record = record_of(
        "consultation",
        played,
        options,
        opened,
        facts={
            **rules_of(game),
            "cases": played.cases,
            "unplayable": len(read.invalid),
            "epochs": options.epochs,
            "resamples": options.resamples,
            "cues": cue_facts(cues, read) if cues else None,
        },
        texts=texts,
        reasons=(opened.stand_in, played.stand_in, cues.stand_in if cues else None),
        models=[ModelUsed("cues", cues.model, cues.run_id)] if cues else (),
    )
    warn_of_family(names, "doctor", "assessor")
    _warn_of_silence(played.records)
    numbers = results(
        played.records, record, unfinished=protocol.unfinished, lost=played.lost, resamples=options.resamples,
        seed=options.seed, sides=sides,
    )  # fmt: skip
    finish(options.out, numbers, {SLICES: sides} if sides else None, instead={"F1": _F1[first]})


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the dialogues."""
    played = stored.played(PlayedCase[Consultation])
    records = [one.record for one in played if one.record is not None]
    _warn_of_silence(records)
    sides = stored.file(SLICES, "slices")
    numbers = results(
        records, stored.record, unfinished=unfinished_of(stored.record.options), lost=len(played) - len(records),
        resamples=stored.option("resamples"), seed=stored.seed, sides=sides,
    )  # fmt: skip
    return Rescored(numbers, {SLICES: sides} if sides else {})


def _warn_of_silence(played: Sequence[Consultation]) -> None:
    """Reports whose turns are empty, and how many of these a reasoning model spent on thinking."""
    for role in ("doctor", "patient"):
        turns = [turn for one in played for turn in one.turns if turn.role == role]
        empty = [turn for turn in turns if "empty" in turn.flags]
        if empty:
            cut = sum("max_tokens" in turn.flags for turn in empty)
            thought = f", {cut:,} of them cut off during reasoning" if cut else ""
            warn(f"{role}: {len(empty):,} of {len(turns):,} turns are empty{thought}")


def warn_of_cases(read: Cases, data: str, cues: Cues | None = None) -> None:
    """Reports which rows are not played, which cases have no cues, and whether the cases were searched for the
    classifier's own photos. Raises InputError if none is left."""
    if not read.cases:
        reason = next((f", the first: {case_id}, {reason}" for case_id, reason in read.invalid.items()), "")
        do = "Play a split whose rows have a general complaint: a build writes them for test"
        raise InputError(data, found=f"no playable case{reason}", expected="at least one", do=do)
    for case_id, reason in list(read.invalid.items())[:5]:
        warn(f"not played: {case_id}: {reason}")
    if len(read.invalid) > 5:
        warn(f"not played: {len(read.invalid) - 5:,} more")
    if read.giveaways:
        warn(
            f"{how_many(len(read.giveaways), 'case has', 'cases have')} a complaint that names the "
            "diagnosis, so the patient may say it"
        )
    if uncued := _uncued(read):
        named = ", ".join(uncued[:_SHOWN]) + (" …" if len(uncued) > _SHOWN else "")
        warn(
            f"{how_many(len(uncued), 'case has no cues and is', 'cases have no cues and are')} not played: {named}. To "
            "compare with a run that plays them, use bedside contrast, which takes the cases that both have"
        )
    if cues is not None and cues.more.search is None:
        errors.print("The cues do not record whether the cases were checked for the classifier's training photos")


def cues_of(path: Path | None, setting: str, opened: Opened) -> Cues | None:
    """The cues in a file for the rows of a run; None for a setting without cues.

    Raises: InputError for a file if the setting takes none, for none if it needs one, and what `read_cues` raises.
    """
    wanted = setting_named(setting).cues
    if wanted and path is None:
        do = "Make cues.parquet with: bedside run classifier"
        raise InputError("--cues", found="no file", expected=f"cues.parquet, for the setting {setting}", do=do)
    if path is None:
        return None
    if not wanted:
        raise InputError("--cues", found=f"{setting} gives the doctor no cues", expected="a setting with cues")
    return read_cues(path, opened.content_digest)


def cue_facts(cues: Cues, read: Cases) -> dict[str, Any]:
    """What a record says about the cues: the file, the search for training photos, and the cases that have none."""
    facts: dict[str, Any] = {"model": cues.model, "file": cues.file_digest}
    if cues.more.search is not None:
        facts["training photos"] = to_json(cues.more.search)
    if uncued := _uncued(read):
        facts["no cues for"] = uncued
    return facts


def _uncued(read: Cases) -> list[str]:
    return [case_id for case_id, reason in read.invalid.items() if reason.startswith(NO_CUES)]
