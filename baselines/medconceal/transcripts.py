"""Dialogues of people with the reserved patient, scored by the trace that made the patient's replies.

    read = read_transcripts(Path("people.jsonl"), profiles)
    episodes = [await transcript_game("confirmation").play(dialogue, ask) for dialogue in read.dialogues]

The file is JSON lines, an encounter a line (`_Line`); docs/corpora/medconceal.md says what a field holds. With a trace
nothing is rated again: the patient answered from that very trace. Without one (an earlier version's file, a study run
elsewhere) it is computed from the clinician's turns (`computed`), and need not be the one that made these replies.

An encounter that was interrupted or withdrawn is left out and counted. An intervention continues past success if it did
so for the people in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from baselines.dialogue.game import Ask, Game
from baselines.dialogue.played import json_line
from baselines.medconceal import clinician, rubric
from baselines.medconceal.game import (
    FIRST_STOP,
    FORMAT,
    MOST_TIMED,
    CaseInPlay,
    Evaluator,
    public,
    scores,
    secrets,
    transcript,
)
from baselines.medconceal.leaks import says
from baselines.medconceal.patient import Spoken
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.record import Encounter, Episode, Findings, LeakCheck, Stopped, SubmittedFinding, hidden_of
from baselines.medconceal.untrusted import heard
from loaders.errors import InputError, how_many
from loaders.files.json_values import parse_json
from loaders.files.opening import read_file
from loaders.files.records import GROWN, from_json, to_json
from loaders.files.texts import decode
from loaders.medconceal import CATEGORIES, PatientProfile, Task, chart
from loaders.models.messages import Decoding
from loaders.models.prompts import Prompts

LEFT_OUT = ("interrupted", "withdrawn")
WRITER = "writer"
_ABSENT = Field(exclude_if=lambda value: value is None)


@dataclass(frozen=True, slots=True)
class Transcript:
    """One dialogue: with which patient, what was said, turn by turn, and by whom and when.

    `trace` is the complete episode of the live game; without one `stopped` says why the dialogue ended.
    """

    profile: PatientProfile
    task: Task
    turns: tuple[tuple[str, str], ...]
    findings: Findings | None
    who: Encounter
    stopped: Stopped = "transcript_end"
    trace: Episode | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    stand_in: str | None = None

    @property
    def computed(self) -> bool:
        """Whether its trace has to be computed, and so may differ from the one that made the replies."""
        return self.trace is None


@dataclass(frozen=True, slots=True)
class Transcripts:
    """The dialogues of a file that count, and why how many others do not."""

    dialogues: tuple[Transcript, ...]
    left_out: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Turn:
    clinician: str
    patient: str
    sent: Annotated[float | None, _ABSENT] = None
    shown: Annotated[float | None, _ABSENT] = None


@dataclass(frozen=True, slots=True)
class _Line:
    """An encounter in the form of its line."""

    case: str
    participant: str
    encounter: str
    task: Task
    turns: tuple[_Turn, ...]
    stopped: Annotated[Stopped | None, BeforeValidator(lambda told: None if told == "" else told)] = None
    findings: Annotated[tuple[SubmittedFinding, ...] | None, _ABSENT] = None
    trace: Annotated[Episode | None, _ABSENT] = None
    models: Annotated[Mapping[str, str], GROWN] = field(default_factory=dict)
    stand_in: Annotated[str | None, _ABSENT] = None
    allowed: Annotated[float | None, _ABSENT, Field(gt=0)] = None


def transcript_game(
    task: Task,
    *,
    policy: PolicyConfig = DEFAULT,
    prompts: Prompts | None = None,
    evaluator: Evaluator | None = "model",
    written: bool = False,
) -> Game[Transcript, Episode]:
    """Scoring of dialogues as a game in which only the evaluator is asked, or nobody with `evaluator="rules"`.

    The evaluator is only asked about dialogues without a trace; None if there are none. With `written` the role
    `writer` reads each dialogue as the clinician saw it and writes the findings anew (the paper's row "Claude
    summary"). `prompts` are those of `clinician.prompts`. Raises InputError for a dialogue without a trace if there is
    no evaluator.
    """
    texts = prompts or clinician.prompts()

    async def play(dialogue: Transcript, ask: Ask) -> Episode:
        episode = dialogue.trace or await _computed(dialogue, ask, policy, texts, evaluator)
        if written:
            system = clinician.system_prompt(texts, chart(dialogue.profile, task))
            said = clinician.conversation(system, episode.exchanges)
            episode = replace(episode, findings=await clinician.submit(ask, texts, said, role=WRITER))
        return episode

    decoding: dict[str, Decoding] = {}
    if written:
        decoding[WRITER] = {"temperature": 0, "max_tokens": clinician.FINDINGS_TOKENS}
    if evaluator == "model":
        decoding["evaluator"] = rubric.DECODING
    return Game(
        name=f"{task}_transcript",
        roles=tuple(decoding),
        case_id=lambda dialogue: dialogue.who.encounter,
        play=play,
        transcript=lambda dialogue, episode: transcript(episode),
        scores=scores,
        secrets=lambda dialogue: secrets(dialogue.profile),
        public=public,
        settings={
            "format": FORMAT,
            "task": task,
            "policy": policy.digest,
            "policy_name": policy.name,
            "overlap": policy.overlap,
            "prompts": {
                name: texts.digests[name] for name in ("evaluator", "relevance", *(("findings",) if written else ()))
            },
            "evaluator": evaluator,
        },
        decoding=decoding,
    )


async def _computed(
    dialogue: Transcript, ask: Ask, policy: PolicyConfig, texts: Prompts, evaluator: Evaluator | None
) -> Episode:
    """The episode that follows from the clinician's turns; the replies are those in the file."""
    if evaluator is None:
        do = "Name an evaluator with --evaluator to rate its turns"
        raise InputError(f"dialogue {dialogue.who.encounter}", found="no trace", expected="one", do=do)
    in_play, hidden = CaseInPlay(dialogue.profile, dialogue.task, policy), hidden_of(dialogue.profile)
    for turn, reply in dialogue.turns:
        text = heard(turn)
        evaluation, near = await in_play.rate(ask if evaluator == "model" else None, texts, text)
        update = in_play.move(evaluation, text, near)
        voiced = tuple(index for index in update.revealed if says(reply, hidden[index].texts))
        in_play.keep(turn, evaluation, update, Spoken(reply, "transcript", LeakCheck(), False, False, voiced))
    episode = in_play.episode(
        mode="transcript",
        turn_limit=len(dialogue.turns),
        stopped=dialogue.stopped,
        findings=dialogue.findings,
    )
    return replace(episode, encounter=dialogue.who)


# --- Files ------------------------------------------------------------------------------------------------------------

_DO = "Pass dialogues as `bedside study export` writes them"


def read_transcripts(path: Path, profiles: Sequence[PatientProfile]) -> Transcripts:
    """The dialogues of a file, with the profiles that their cases name.

    Raises InputError, which names the dialogue, for a file in another format, a duplicate id, a person twice with one
    case, an unknown case or task, too few or too many turns, decreasing times, findings after an intervention, and the
    trace of another dialogue, or a finding of no category.
    """
    by_id = {profile.case_id: profile for profile in profiles}
    told = [_transcript(value, where, by_id) for where, value in _each(path)]
    seen: set[tuple[str, str, str]] = set()
    for dialogue, reason in told:
        marks = [("id", dialogue.who.encounter, "")]
        if not reason:
            marks.append(("person", dialogue.who.participant, dialogue.profile.case_id))
        for mark in marks:
            if mark in seen:
                kind, who, case = mark
                found = f"{kind} {who!r} twice" + (f" with case {case}" if case else "")
                raise InputError(path, found=found, expected="a distinct id for each, and each case once per person")
            seen.add(mark)
    left_out = Counter(reason for _, reason in told if reason)
    return Transcripts(tuple(dialogue for dialogue, reason in told if not reason), dict(sorted(left_out.items())))


def traced(people: Transcripts, dialogues: Sequence[Transcript]) -> dict[str, Any]:
    """What a run's record says about dialogues of people: whose trace is scored, who made it, who is left out."""
    had = {dialogue.who.allowed for dialogue in dialogues}
    made = sorted({played for dialogue in dialogues for played in dialogue.models.items()})
    computed = sum(dialogue.computed for dialogue in dialogues)
    return {
        "traces": {"recorded": len(dialogues) - computed, "computed": computed},
        "traces_made_by": {role: [name for _, name in named] for role, named in groupby(made, key=itemgetter(0))},
        "left_out": dict(people.left_out),
        "minutes": [None if one is None else one / 60 for one in sorted(had, key=lambda one: one or 0.0)],
        "participants": len({dialogue.who.participant for dialogue in dialogues}),
    }


def acted(dialogues: Sequence[Transcript]) -> list[str]:
    """Why recorded dialogues are stand-ins: rules rated them, fixed sentences were the patient, or they say so."""
    exchanges = [exchange for one in dialogues if one.trace for exchange in one.trace.exchanges]
    reasons = []
    if any(exchange.evaluation.obtained == "rules" for exchange in exchanges):
        reasons.append("evaluator without a model in the recorded dialogues")
    if exchanges and all(exchange.source in ("template", "neutral") for exchange in exchanges):
        reasons.append("patient without a model in the recorded dialogues")
    return [*reasons, *sorted({one.stand_in for one in dialogues if one.stand_in})]


def line_of(episode: Episode, who: Encounter, models: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A line of such a file, from the episode of a live game: what people saw, and its trace without what is hidden."""
    times = zip(who.sent, who.shown, strict=True) if who.sent else [(None, None)] * len(episode.exchanges)
    said = zip(episode.exchanges, times, strict=True)
    return to_json(
        _Line(
            case=episode.case_id,
            participant=who.participant,
            encounter=who.encounter,
            task=episode.task,
            turns=tuple(_Turn(one.clinician, one.patient, *at) for one, at in said),
            stopped=episode.stopped,
            findings=None if episode.findings is None else episode.findings.items,
            trace=replace(public(episode), findings=None, encounter=None),
            models=dict(models or {}),
            allowed=who.allowed,
        )
    )


def _each(path: Path) -> list[tuple[str, object]]:
    """The place of each dialogue, and its JSON."""
    expected = "dialogues as JSON Lines"
    text = decode(read_file(path, expected=expected, do=_DO), path)
    values = [
        (f"{path}, line {at}", parse_json(line, f"{path}, line {at}", expected=expected, do=_DO))
        for at, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    ]
    if not values:
        raise InputError(path, found="holds no dialogue", expected="at least one", do=_DO)
    return values


def _transcript(value: object, where: str, profiles: Mapping[str, PatientProfile]) -> tuple[Transcript, str]:
    """A dialogue, and why it is left out, if it is."""
    told = from_json(_Line, value, where, do=_DO)
    # A blank around an id makes no other person of it.
    ids = {name: getattr(told, name).strip() for name in ("case", "participant", "encounter")}
    if empty := [name for name, text in ids.items() if not text]:
        raise InputError(where, found=f"no {empty[0]}", expected="an id")
    told = replace(told, **ids)
    if told.case not in profiles:
        raise InputError(where, found=f"case {told.case!r}", expected=f"one of the {len(profiles)} profiles")
    profile = profiles[told.case]
    if told.task == "intervention" and told.findings:
        raise InputError(where, found="findings", expected="no findings: an intervention has none")
    stopped = told.stopped or (told.trace.stopped if told.trace else None)
    reason = stopped if stopped and stopped in LEFT_OUT else ""
    if not reason:
        _check_turns(told, stopped, where)
    found = Transcript(
        profile=profile,
        task=told.task,
        turns=tuple((turn.clinician, turn.patient) for turn in told.turns),
        findings=_findings(told, where),
        who=Encounter(told.participant, told.encounter, *_times(told.turns, where), told.allowed),
        stopped=stopped or "transcript_end",
        models=told.models,
        stand_in=told.stand_in,
    )
    return (found if told.trace is None or reason else replace(found, trace=_checked(told, found, where))), reason


def _check_turns(told: _Line, stopped: Stopped | None, where: str) -> None:
    """Raises InputError for a dialogue that the study's rules do not allow (Appendix D.2)."""
    count = len(told.turns)
    if not count:
        raise InputError(where, found="no turns", expected="a list of turns")
    if count > MOST_TIMED:
        raise InputError(where, found=how_many(count, "turn"), expected=f"at most {MOST_TIMED}")
    if told.task == "confirmation" and stopped == "clinician" and count < FIRST_STOP:
        found = f"handed in after {how_many(count, 'turn')}"
        raise InputError(where, found=found, expected=f"at least {FIRST_STOP} turns")


def _times(turns: Sequence[_Turn], where: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """When each turn was sent and its reply shown; empty if no turn says."""
    told = [time for turn in turns for time in (turn.sent, turn.shown)]
    times = [time for time in told if time is not None]
    if not times:
        return (), ()
    if len(times) != len(told):
        raise InputError(
            where, found="times for only some turns", expected="`sent` and `shown` in every turn, or in none"
        )
    if times[0] < 0 or any(later < sooner for sooner, later in pairwise(times)):
        raise InputError(where, found="times that decrease", expected="increasing seconds from the start")
    return tuple(times[::2]), tuple(times[1::2])


def _checked(told: _Line, dialogue: Transcript, where: str) -> Episode:
    """The trace of the live game, with what its case hides and who spoke. Raises InputError for another dialogue's."""
    trace, profile = told.trace, dialogue.profile
    assert trace is not None
    own = tuple(concern.category for concern in profile.hidden_concerns)
    said = tuple((exchange.clinician, exchange.patient) for exchange in trace.exchanges)
    revealed, addressed = (
        {concern: exchange.turn for exchange in trace.exchanges for concern in moved(exchange)}
        for moved in (attrgetter("revealed"), attrgetter("addressed"))
    )
    same = {
        "case": trace.case_id == told.case,
        "task": trace.task == told.task,
        "concerns": trace.categories == own and trace.primary == profile.intervention.primary_concern,
        "words": said == dialogue.turns,
        "reason for stopping": told.stopped in (None, trace.stopped),
        "outcome": trace.states == tuple(one.state for last in trace.exchanges[-1:] for one in last.traces)
        and trace.reveal_turns == tuple(map(revealed.get, range(len(own))))
        and trace.address_turns == tuple(map(addressed.get, range(len(own)))),
    }
    if wrong := [name for name, agrees in same.items() if not agrees]:
        raise InputError(
            where, found=f"a trace of another dialogue: not the same {wrong[0]}", expected="the trace of this dialogue"
        )
    findings = dialogue.findings if told.findings is not None or trace.findings is None else trace.findings
    _check_categories(findings.items if findings else (), where)
    return replace(trace, hidden=hidden_of(profile), findings=findings, encounter=dialogue.who)


def _findings(told: _Line, where: str) -> Findings | None:
    if told.task == "intervention":
        return None
    if told.findings is None:
        return Findings((), attempts=0, failure="the file has no findings")
    read = [clinician.finding(one.category, one.description, one.quote) for one in told.findings]
    _check_categories(read, where)
    return Findings(tuple(read[: clinician.MOST_FINDINGS]), omitted=max(0, len(read) - clinician.MOST_FINDINGS))


def _check_categories(findings: Iterable[SubmittedFinding], where: str) -> None:
    """Raises InputError for a finding of no category: it would match no concern, and count against the person."""
    for at, one in enumerate(findings, start=1):
        if one.category not in CATEGORIES:
            found = f"category {one.category[:40]!r} of finding {at}"
            raise InputError(where, found=found, expected=f"one of {', '.join(CATEGORIES)}")


def written_lines(lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The bytes of a file of such lines."""
    return b"".join(map(json_line, lines))
