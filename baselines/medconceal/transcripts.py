"""Dialogues of people with the reserved patient, put through the same evaluator and policy as those of models.

    dialogues = read_transcripts(Path("study.json"), profiles)
    episodes = [await transcript_game("confirmation").play(dialogue, ask) for dialogue in dialogues]

The file is JSON: a list of dialogues, each with `id`, `case_id`, `task`, `turns` (a list of {"clinician", "patient"})
and, after a confirmation, `findings` (a list of {"category", "description"}). The state trace is computed anew from the
clinician's turns; what the patient answered is what the file says, so it need not be what this trace would have had the
patient say. An intervention goes on past success, as it did for the people in front of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.dialogue.game import Ask, Game
from baselines.medconceal import clinician
from baselines.medconceal.game import FORMAT, CaseInPlay, Evaluator, scores, transcript
from baselines.medconceal.leaks import says
from baselines.medconceal.patient import Spoken, texts_of
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.record import Episode, Findings, LeakCheck
from baselines.medconceal.untrusted import heard
from loaders.errors import InputError
from loaders.medconceal import TASKS, PatientProfile, Task
from loaders.models.prompts import Prompts


@dataclass(frozen=True, slots=True)
class Transcript:
    """One dialogue: who had it (`dialogue_id`), with which patient, and what was said, turn by turn."""

    dialogue_id: str
    profile: PatientProfile
    task: Task
    turns: tuple[tuple[str, str], ...]
    findings: Findings | None


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
        settings={
            "format": FORMAT,
            "task": task,
            "policy": policy.digest,
            "prompts": {"evaluator": texts.digests["evaluator"]},
            "evaluator": evaluator,
        },
    )


def read_transcripts(path: Path, profiles: Sequence[PatientProfile]) -> list[Transcript]:
    """The dialogues of a file, with the profiles that their case ids name.

    Raises InputError, which names the dialogue, for a file that is no such JSON, an id twice, an unknown case or task,
    a dialogue without turns, and findings after an intervention.
    """
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(path, found=f"cannot be read: {error}", expected="dialogues as JSON") from None
    if not isinstance(read, list) or not read:
        raise InputError(path, found="no list of dialogues", expected="a list with one dialogue or more")
    by_id = {profile.case_id: profile for profile in profiles}
    found = [_transcript(value, f"{path}: dialogue {at}", by_id) for at, value in enumerate(read, start=1)]
    seen: set[str] = set()
    for dialogue in found:
        if dialogue.dialogue_id in seen:
            raise InputError(path, found=f"id {dialogue.dialogue_id!r} twice", expected="an id of its own for each")
        seen.add(dialogue.dialogue_id)
    return found


def _transcript(value: Any, where: str, profiles: Mapping[str, PatientProfile]) -> Transcript:
    if not isinstance(value, dict):
        raise InputError(where, found=f"a {type(value).__name__}", expected="an object")
    if unknown := sorted(set(value) - {"id", "case_id", "task", "turns", "findings"}):
        raise InputError(where, found=f"unknown: {', '.join(unknown)}", expected="id, case_id, task, turns, findings")
    dialogue_id, case_id = _text(value, "id", where), _text(value, "case_id", where)
    task = value.get("task")
    if task not in TASKS:
        raise InputError(where, found=f"task {task!r}", expected=" or ".join(TASKS))
    if case_id not in profiles:
        raise InputError(where, found=f"case {case_id!r}", expected=f"one of the {len(profiles)} profiles")
    turns = value.get("turns")
    if not isinstance(turns, list) or not turns:
        raise InputError(where, found="no turns", expected="a list of turns")
    spoken = tuple((_text(turn, "clinician", where), _text(turn, "patient", where)) for turn in turns)
    return Transcript(dialogue_id, profiles[case_id], task, spoken, _findings(value.get("findings"), task, where))


def _findings(items: Any, task: Task, where: str) -> Findings | None:
    if task == "intervention":
        if items:
            raise InputError(where, found="findings", expected="none: an intervention has no findings")
        return None
    if items is None:
        return Findings((), attempts=0, failure="the file has no findings")
    if not isinstance(items, list):
        raise InputError(where, found="findings that are no list", expected="a list, empty if there are none")
    found = [clinician.finding(_text(item, "category", where), _text(item, "description", where)) for item in items]
    return Findings(tuple(found[: clinician.MOST_FINDINGS]), omitted=max(0, len(found) - clinician.MOST_FINDINGS))


def _text(value: Any, key: str, where: str) -> str:
    text = value.get(key) if isinstance(value, dict) else None
    if not isinstance(text, str):
        raise InputError(where, found=f"no text under {key!r}", expected="one")
    return text
