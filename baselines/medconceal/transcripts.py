"""Dialogues of people with the reserved patient, put through the same evaluator and policy as those of models.

    dialogues = read_transcripts(Path("study.json"), profiles)
    episodes = [await transcript_game("confirmation").play(dialogue, ask) for dialogue in dialogues]

The file is JSON: a list of dialogues, each with `id`, `case_id`, `task`, `turns` (a list of {"clinician", "patient"})
and, after a confirmation, `findings` (a list of {"category", "description"}). The state trace is computed anew from the
clinician's turns; what the patient answered is what the file says, so it need not be what this trace would have had the
patient say. An intervention goes on past success, as it did for the people in front of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baselines.dialogue.game import Ask, Game
from baselines.medconceal import clinician, rubric
from baselines.medconceal.game import FORMAT, CaseInPlay, Evaluator, public, scores, secrets, transcript
from baselines.medconceal.leaks import says
from baselines.medconceal.patient import Spoken, texts_of
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.record import Episode, Findings, LeakCheck, SubmittedFinding
from baselines.medconceal.untrusted import heard
from loaders.errors import InputError
from loaders.files.records import from_json
from loaders.files.untrusted import read_json
from loaders.medconceal import PatientProfile, Task
from loaders.models.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Transcript:
    """One dialogue: who had it (`dialogue_id`), with which patient, and what was said, turn by turn."""

    dialogue_id: str
    profile: PatientProfile
    task: Task
    turns: tuple[tuple[str, str], ...]
    findings: Findings | None


@dataclass(frozen=True, slots=True)
class _Turn:
    clinician: str
    patient: str


@dataclass(frozen=True, slots=True)
class _Told:
    """A dialogue as the file has it."""

    id: str
    case_id: str
    task: Task
    turns: tuple[_Turn, ...]
    findings: tuple[SubmittedFinding, ...] | None = None


def transcript_game(
    task: Task,
    *,
    policy: PolicyConfig = DEFAULT,
    prompts: Prompts | None = None,
    evaluator: Evaluator = "model",
) -> Game[Transcript, Episode]:
    """Scoring of dialogues as a game in which only the evaluator is asked, or nobody with `evaluator="rules"`.

    `prompts` are those of `clinician.prompts`. Raises InputError for a dialogue of the other task.
    """
    texts = prompts or clinician.prompts()

    async def play(dialogue: Transcript, ask: Ask) -> Episode:
        if dialogue.task != task:
            raise InputError(f"dialogue {dialogue.dialogue_id}", found=dialogue.task, expected=task)
        in_play = CaseInPlay(dialogue.profile, task, policy)
        for turn, reply in dialogue.turns:
            text = heard(turn)
            evaluation = await in_play.evaluate(ask if evaluator == "model" else None, texts, text)
            update = in_play.move(evaluation, text)
            voiced = tuple(index for index in update.revealed if says(reply, texts_of(dialogue.profile, index)))
            in_play.keep(turn, evaluation, update, Spoken(reply, "transcript", LeakCheck(), False, False, voiced))
        return in_play.episode(
            mode="transcript",
            turn_limit=len(dialogue.turns),
            stopped="transcript_end",
            findings=dialogue.findings,
        )

    return Game(
        name=f"{task}_transcript",
        roles=("evaluator",) if evaluator == "model" else (),
        case_id=lambda dialogue: dialogue.dialogue_id,
        play=play,
        transcript=lambda dialogue, episode: transcript(episode),
        scores=scores,
        invalid=lambda episode: None,
        secrets=lambda dialogue: secrets(dialogue.profile),
        public=public,
        settings={
            "format": FORMAT,
            "task": task,
            "policy": policy.digest,
            "policy_name": policy.name,
            "overlap": policy.overlap,
            "prompts": {"evaluator": texts.digests["evaluator"]},
            "evaluator": evaluator,
        },
        decoding={"evaluator": rubric.DECODING} if evaluator == "model" else {},
    )


def read_transcripts(path: Path, profiles: Sequence[PatientProfile]) -> list[Transcript]:
    """The dialogues of a file, with the profiles that their case ids name.

    Raises InputError, which names the dialogue, for a file that is no such JSON, an id twice, an unknown case or task,
    a dialogue without turns, and findings after an intervention.
    """
    read = read_json(path, expected="dialogues as JSON")
    if not isinstance(read, list) or not read:
        raise InputError(path, found="no list of dialogues", expected="a list with one dialogue or more")
    by_id = {profile.case_id: profile for profile in profiles}
    dialogues = [_transcript(value, f"{path}: dialogue {at}", by_id) for at, value in enumerate(read, start=1)]
    seen: set[str] = set()
    for dialogue in dialogues:
        if dialogue.dialogue_id in seen:
            raise InputError(path, found=f"id {dialogue.dialogue_id!r} twice", expected="an id of its own for each")
        seen.add(dialogue.dialogue_id)
    return dialogues


def _transcript(value: object, where: str, profiles: Mapping[str, PatientProfile]) -> Transcript:
    told = from_json(_Told, value, where)
    if told.case_id not in profiles:
        raise InputError(where, found=f"case {told.case_id!r}", expected=f"one of the {len(profiles)} profiles")
    if not told.turns:
        raise InputError(where, found="no turns", expected="a list of turns")
    if told.task == "intervention" and told.findings:
        raise InputError(where, found="findings", expected="none: an intervention has no findings")
    spoken = tuple((turn.clinician, turn.patient) for turn in told.turns)
    return Transcript(told.id, profiles[told.case_id], told.task, spoken, _findings(told))


def _findings(told: _Told) -> Findings | None:
    if told.task == "intervention":
        return None
    if told.findings is None:
        return Findings((), attempts=0, failure="the file has no findings")
    read = [clinician.finding(finding.category, finding.description) for finding in told.findings]
    return Findings(tuple(read[: clinician.MOST_FINDINGS]), omitted=max(0, len(read) - clinician.MOST_FINDINGS))
