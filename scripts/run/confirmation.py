"""`bedside run confirmation`: MedConceal's first task (Tables 1, 2 and 6, Figure 2), and what the second shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.dialogue.game import Game
from baselines.dialogue.hidden import HIDDEN as MASK
from baselines.dialogue.played import PlayedCase, read_hidden
from baselines.medconceal.agents import BY_ROLE, scripted_agent
from baselines.medconceal.clinician import prompts as read_prompts
from baselines.medconceal.game import TURNS, Evaluator, Patient, Rules, task_game
from baselines.medconceal.judge import judged_game
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.metrics import NO_JUDGEMENT
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.record import Episode
from baselines.medconceal.tables import CURVES, OF_WORDS, OWN_WORDS, clinician_name, curves, results, unread
from baselines.medconceal.transcripts import (
    WRITER,
    Transcript,
    Transcripts,
    acted,
    read_transcripts,
    traced,
    transcript_game,
)
from baselines.medconceal.validity import reasons, stated
from baselines.medlaybench_v.readability import foreign
from baselines.results.run import Result
from loaders.english import other_language
from loaders.errors import InputError, how_many
from loaders.files.opening import digest_of
from loaders.medconceal import Task, cases
from loaders.models.prompts import Prompts
from loaders.opened import open_corpus
from scripts.run.play import Play, decoding_of, play, record_of, roles_of, rules_of, warn_of_family
from scripts.run.policies import facts_of, fitted_elsewhere, policy_of, recorded, weights_stand_in
from scripts.run.stored import Rescored, Stored
from scripts.terminal.console import warn
from scripts.terminal.finish import end_as_invalid, finish
from scripts.terminal.options_of import options_of

RULES, TEMPLATE = "rules", "template"
_UNPLAYED = {"patient": TEMPLATE, "evaluator": RULES, "judge": RULES}
"""Role -> the word for it if no model plays it."""
Data = Annotated[
    str, typer.Argument(metavar="DATA", help="medconceal[@TAG], official, a release folder, or REPO[@TAG].")
]
_NAMES = ", ".join(f"scripted/{name}" for name in BY_ROLE["clinician"])


@dataclass(frozen=True, kw_only=True)
class Scored(Play):
    """Options of every command that scores dialogues with the reserved patient."""

    data: Data
    judge: Annotated[
        str,
        typer.Option(
            metavar="MODEL|rules", help="Model that matches findings and rates style and values; or rules, a stand-in."
        ),
    ]
    evaluator: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL|rules",
            help="Model that rates each clinician turn; or rules, a stand-in. Not needed for transcripts with a trace.",
        ),
    ] = None
    policy: Annotated[
        str,
        typer.Option(
            metavar="bedside|paper|FILE", help="Patient policy: ours, the paper's equations, or a fitted policy."
        ),
    ] = DEFAULT.name
    overlap: Annotated[
        str | None,
        typer.Option(
            metavar="lexical|topics|rated",
            help="How to decide that a turn touches a concern [the policy's way]; rated: the evaluator decides, "
            "in private.",
        ),
    ] = None
    transcripts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Human dialogues to score (JSON Lines); with them, none is played."),
    ] = None

    @property
    def names(self) -> dict[str, str | None]:
        """Role -> its model on the command line; the first one is measured."""
        return {"evaluator": self.evaluator, "judge": self.judge}

    def check(self) -> None:
        """Raises InputError for options that do not go together."""


@dataclass(frozen=True, kw_only=True)
class Talks(Scored):
    """Options of both tasks."""

    clinician: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help=f"Model under evaluation, endpoint:FILE.py, or a stand-in: {_NAMES}."),
    ] = None
    patient: Annotated[
        str | None,
        typer.Option(metavar="MODEL|template", help="Model that words the patient's replies; or fixed sentences."),
    ] = None
    turns: Annotated[int, typer.Option(metavar="8|20", help="8 turns exactly, or up to 20.")] = 8

    @property
    def names(self) -> dict[str, str | None]:
        """Role -> its model on the command line."""
        return {"clinician": self.clinician, "patient": self.patient, **super().names}

    def check(self) -> None:
        """Raises InputError for options that do not go together, or a role that nobody plays."""
        if self.turns not in TURNS:
            raise InputError("--turns", found=str(self.turns), expected="8 or 20")
        if self.transcripts is not None:
            given = (
                ("--clinician", self.clinician, None),
                ("--patient", self.patient, None),
                ("--turns", self.turns, Talks.turns),
            )
            _refuse("the dialogues of --transcripts are finished", *given)
        elif lacking := [role for role, name in self.names.items() if name is None]:
            word = f" or {_UNPLAYED[lacking[0]]}" if lacking[0] in _UNPLAYED else ""
            expected = f"a model{word}, or --transcripts with dialogues to score"
            raise InputError(f"--{lacking[0]}", found="no model", expected=expected)


@options_of(Talks)
def command(options: Talks) -> None:
    """Task 1: elicit what the patient hides, then write it down as findings (Tables 1, 2 and 6).

    The clinician sees the chart and talks for 8 turns, or for up to 20 with the option to stop from turn 5 on. A
    finding counts only with a quote from the patient. Every answer is kept in RUN/private/answers.sqlite before it is
    used: after any interruption, even kill -9, run the same command again to resume. What the patient hides is stored
    only in RUN/hidden.jsonl and RUN/private, apart from paraphrases; `bedside pack RUN` makes an archive without them.

    Try it without a model: `bedside run confirmation runs/medconceal --clinician scripted/expert --patient template
    --evaluator rules --judge rules -o runs/expert`
    """
    run_task("confirmation", options)


def run_task(task: Task, options: Scored) -> None:
    """Plays or scores the dialogues of a task and writes its tables. Raises InputError for options it cannot follow."""
    options.check()
    texts = read_prompts(options.prompts)
    policy = policy_of(options.policy, options.overlap)
    if policy.overlap == "rated" and options.evaluator == RULES:
        raise InputError("--overlap", found="rated, with --evaluator rules", expected="a model that rates, or topics")
    names = options.names
    opened = open_corpus("medconceal", options.data, "test")
    profiles = cases(opened.splits["test"])
    people = None if options.transcripts is None else read_transcripts(options.transcripts, profiles)
    dialogues = [] if people is None else _finished_dialogues(task, options, people)
    computed = people is None or any(one.computed for one in dialogues)
    if not computed:
        _check_traced(options, policy, dialogues)
    made = recorded(dialogues, policy)
    asked = {role: name for role, name in names.items() if name is not None and name != _UNPLAYED.get(role)}
    if people is not None and not asked:
        unheeded = (("--epochs", options.epochs, 1), ("--model-seed", options.model_seed, None))
        _refuse("finished dialogues are scored without a model", *unheeded)
    roles = roles_of(asked, scripted_agent, options)
    game = _game(task, options, policy, texts) if people is None else _scoring(task, options, policy, texts, dialogues)
    played_on: Sequence[Any] = profiles[: options.limit] if people is None else dialogues
    clinician = names.get("clinician")
    row = "Human clinicians" if clinician is None else clinician_name(clinician)
    played = play(game, played_on, roles, options, title=f"{row}, {task}")
    by_rules = ", ".join(role for role in names if names[role] == _UNPLAYED.get(role, ""))
    validity = stated([judged.episode for judged in played.records])
    elsewhere = fitted_elsewhere(policy, names["evaluator"])
    record = record_of(
        task,
        played,
        options,
        opened,
        facts={
            **rules_of(game),
            **facts_of({policy.digest: policy} if computed else made),
            "policy_fitted_elsewhere": elsewhere,
            "cases": len({judged.episode.case_id for judged in played.records}),  # people may share one
            "epochs": options.epochs,
            "transcripts": people is not None,
            **({} if options.transcripts is None else {"transcripts_digest": digest_of(options.transcripts)}),
            **({} if people is None else traced(people, dialogues)),
            "validity": validity,
        },
        texts=texts,
        reasons=(
            opened.stand_in,
            played.stand_in,
            by_rules and f"{by_rules} without a model",
            *acted(dialogues),
            elsewhere,
            weights_stand_in([*([policy] if computed else []), *made.values()]),
        ),
    )
    warn_of_family(names, next(iter(names)), "judge")
    if elsewhere:
        warn(elsewhere)
    _warn_of_words([judged.episode for judged in played.records], policy if computed else None)
    _warn_of_findings([judged.episode for judged in played.records])
    summary = summary_of(names.get(WRITER))
    numbers = results(played.records, record, row=row, seed=options.seed, summary=summary, lost=played.lost)
    _warn_of_unjudged(numbers)
    extra = {CURVES: curves([judged.episode for judged in played.records])}
    finish(options.out, numbers, extra, printed=bool(validity["valid"]))
    if not validity["valid"]:
        end_as_invalid(validity["reasons"])


def _check_traced(options: Scored, policy: PolicyConfig, dialogues: Sequence[Transcript]) -> None:
    """Raises InputError for an evaluator or a policy, which all dialogues had when they took place.

    The policy that the traces name may be given: it says where its weights come from, and the traces only its digest.
    """
    had = "every dialogue has a trace, which was made with its own"
    _refuse(had, ("--evaluator", options.evaluator, None))
    if {one.models.get("policy") for one in dialogues} != {policy.digest}:
        _refuse(had, ("--policy", options.policy, DEFAULT.name), ("--overlap", options.overlap, None))


def _refuse(why: str, *options: tuple[str, object, object]) -> None:
    """Raises InputError for an option (name, value, default) that is given, since it would change nothing."""
    for option, given, default in options:
        if given != default:
            raise InputError(option, found=str(given), expected=f"none: {why}")


def _warn_of_words(episodes: Sequence[Episode], policy: PolicyConfig | None) -> None:
    """Says if the clinician is silent, or speaks another language than English, in which no turn touches a concern by
    its words. The policy is None if none was used."""
    said = [[exchange.clinician for exchange in episode.exchanges] for episode in episodes]
    turns = [turn for dialogue in said for turn in dialogue]
    if empty := sum(not turn.strip() for turn in turns):
        warn(f"{empty:,} of {len(turns):,} turns of the clinician are empty")
    if others := sum(
        len(dialogue) if other_language(" ".join(dialogue)) else sum(map(foreign, dialogue)) for dialogue in said
    ):
        text = f"{others:,} of {len(turns):,} turns of the clinician are not in English"
        if policy is not None and policy.overlap != "rated":
            text += ": they touch no concern by its words, which are English; --overlap rated asks the evaluator"
        warn(text)


def _warn_of_findings(episodes: Sequence[Episode]) -> None:
    """Says how many dialogues count as without findings, since none could be read or none were recorded, and how many
    concerns count as revealed by the clinician's turns though no reply of a recorded patient says them."""
    given = [one.findings for one in episodes if one.findings is not None]
    answered = [one for one in given if one.attempts]
    lacking = sum(one.failure is not None for one in given if not one.attempts)
    told = [one for episode in episodes for one in episode.exchanges if one.source == "transcript"]
    revealed = sum(len(one.revealed) for one in told)
    unsaid = revealed - sum(len(one.voiced) for one in told)
    for count, of, what in (
        (
            sum(one.unread for one in answered),
            len(answered),
            "answers with findings cannot be read, and count as no finding",
        ),
        (lacking, len(given), "dialogues come without findings, and count as no finding"),
        (unsaid, revealed, "concerns that computed traces reveal are not said in the reply of that turn"),
    ):
        if count:
            warn(f"{count:,} of {of:,} {what}")


def _warn_of_unjudged(numbers: Sequence[Result]) -> None:
    """Says which numbers are not over all dialogues, because no judge's answer could be read."""
    columns: dict[str, list[str]] = {}
    for number in numbers:
        for note in number.note.split("; "):
            if note.endswith(NO_JUDGEMENT):
                columns.setdefault(note, []).append(number.column)
    for note, of in columns.items():
        warn(f"{note} of {', '.join(of)}")


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers and curves of a run of either task from the dialogues."""
    played = stored.played(PlayedCase[JudgedEpisode])
    records = [one.record for one in played if one.record is not None]
    lost = len(played) - len(records)
    writer = next((model.name for model in stored.record.models if model.role == WRITER), None)
    row = stored.run.results[0].row
    numbers = results(records, stored.record, row=row, seed=stored.seed, summary=summary_of(writer), lost=lost)
    if _masked(stored, records):
        numbers = [unread(one) if one.column in OF_WORDS else one for one in numbers]
    _warn_of_unjudged(numbers)
    episodes = [judged.episode for judged in records]
    _warn_of_words(episodes, None)
    _warn_of_findings(episodes)
    return Rescored(numbers, {CURVES: curves(episodes)}, reasons(episodes))


def _masked(stored: Stored, records: Sequence[JudgedEpisode]) -> bool:
    """Whether words of the clinician are missing: of a packed run, those that a case hides are, patients' words that
    the clinician repeats among them."""
    turns = (exchange.clinician for judged in records for exchange in judged.episode.exchanges)
    return not read_hidden(stored.run.folder) and any(MASK in turn for turn in turns)


def summary_of(writer: str | None) -> str:
    """The paper's name for findings, by who wrote them from people's dialogues; None: the people themselves.

    >>> summary_of("anthropic/claude-sonnet-4-5-20250929"), summary_of("vllm/other")
    ('Claude summary', 'vllm/other summary')
    """
    if writer is None:
        return OWN_WORDS
    name = clinician_name(writer)
    return "Claude summary" if name == "Claude Sonnet 4.5" else f"{name} summary"


def _game(task: Task, options: Scored, policy: PolicyConfig, texts: Prompts) -> Game[Any, JudgedEpisode]:
    """The game of a task."""
    assert isinstance(options, Talks)
    patient: Patient = "template" if options.patient == TEMPLATE else "model"
    clinician = decoding_of(options, {"clinician": ""} | dict.fromkeys(("patient", "evaluator", "judge"), ""))
    temperature = clinician.get("clinician", {}).get("temperature", 0.0)  # only for its turns
    rules = Rules(task, options.turns, policy, texts, _evaluator(options) or "model", patient, temperature)
    return judged_game(task_game(rules), None if options.judge == RULES else texts)


def _finished_dialogues(task: Task, options: Scored, people: Transcripts) -> list[Transcript]:
    """The finished dialogues of a task; those that are left out are counted and reported."""
    every = [one for one in people.dialogues if one.task == task]
    cases = frozenset(sorted({one.profile.case_id for one in every})[: options.limit])
    dialogues = [one for one in every if one.profile.case_id in cases]
    left = ", ".join(f"{count:,} {reason}" for reason, count in people.left_out.items())
    if left:
        warn(f"Left out: {left}")
    if not dialogues:
        raise InputError(options.transcripts, found=f"no {task}", expected="at least one dialogue of the task")
    return dialogues


def _scoring(
    task: Task, options: Scored, policy: PolicyConfig, texts: Prompts, dialogues: Sequence[Transcript]
) -> Game[Any, JudgedEpisode]:
    """Scores finished dialogues of people."""
    anew = sum(one.computed for one in dialogues)
    evaluator = _evaluator(options) if anew else None
    if anew and evaluator is None:
        found = f"no model for {how_many(anew, 'dialogue')} without a trace"
        raise InputError("--evaluator", found=found, expected="a model that rates their turns, or rules")
    if anew:
        warn(f"{anew:,} of {len(dialogues):,} dialogues have no trace: it is computed from their turns")
    written = options.names.get(WRITER) is not None
    told = transcript_game(task, policy=policy, prompts=texts, evaluator=evaluator, written=written)
    return judged_game(told, None if options.judge == RULES else texts)


def _evaluator(options: Scored) -> Evaluator | None:
    if options.evaluator is None:
        return None
    return "rules" if options.evaluator == RULES else "model"
