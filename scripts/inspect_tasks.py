"""What `inspect eval` finds in Bedside: its model baselines as tasks, scripted agents as models (an entry point).

    inspect eval bedside/consultation -T data=official -T setting=dialogue+image -T answers=answers.sqlite \\
        --model-role doctor=openai/gpt-4o-mini --model-role patient=scripted/patient --model-role assessor=...
    inspect eval bedside/confirmation -T data=official --model-role clinician=... --model-role patient=... \\
        --model-role evaluator=... --model-role judge=...
    inspect eval bedside/captioning -T data=official --model openai/gpt-4o-mini
    inspect eval scripts/inspect_tasks.py@consultation ...              # the same, by file

`bedside run` plays the same and gives the papers' tables; this is for people who work in inspect_ai. Logs of MedConceal
contain what its patients hide: keep them from whoever is measured.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import inspect_ai

import baselines.dialogue.provider  # noqa: F401 - registers `scripted/...`
from baselines.dialogue.evaluation import MAX_INVALID, dialogue_task, of_no_package
from baselines.medconceal.agents import BY_ROLE
from baselines.medconceal.clinician import prompts as clinician_prompts
from baselines.medconceal.game import TURNS, Evaluator, Patient, Rules, task_game
from baselines.medconceal.judge import judged_game
from baselines.medconceal.policy import DEFAULT
from baselines.medlaybench_v import captioning as captions
from baselines.results.run import DataUsed
from baselines.threemdbench.consultation.agents import AGENTS
from baselines.threemdbench.consultation.cases import read_cases
from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.protocol import protocol_named
from loaders.corpus import OFFICIAL
from loaders.errors import InputError
from loaders.files.paths import is_there
from loaders.medconceal import Task, cases
from loaders.opened import open_corpus, open_data
from loaders.registry import corpora
from scripts.run.confirmation import RULES, TEMPLATE
from scripts.run.consultation import cues_of, warn_of_cases
from scripts.run.policies import policy_of

MODEL = "model"
_BY_FILE = __name__ != "scripts.inspect_tasks"
"""Whether inspect_ai reads this file by its path rather than through the entry point."""


def task(name: str) -> Callable[[Callable[..., Any]], Any]:
    """inspect_ai's decorator of this name, which it looks for in a file's text,
    so that `NAME@consultation` works too."""

    def register(function: Callable[..., Any]) -> Any:
        of_no_package(function)
        if _BY_FILE:
            inspect_ai.task(name=name.rpartition("/")[2])(function)
        return inspect_ai.task(name=name)(function)

    return register


@task(name="bedside/consultation")
def consultation(
    data: str = "3mdbench",
    setting: str = "dialogue+image",
    split: str = "test",
    prompts: str | None = None,
    cues: str | None = None,
    protocol: str = "bedside",
    cap_mode: str | None = None,
    judge: str | None = None,
    answers: str | None = None,
    epochs: int = 1,
    max_invalid: float = MAX_INVALID,
    seed: int | None = None,
) -> Any:
    """Simulated consultations of 3MDBench. `answers` is a file that keeps paid answers, to go on after a stop.

    Models come by --model-role after the task is made: `protocol=authors` plays every doctor like an open one, which
    `bedside run consultation` tells from closed ones.
    """
    game = consultation_game(
        setting,
        read_prompts(_file(prompts)),
        protocol_named(protocol).having(cap_mode=cap_mode, judge=judge),
    )
    opened = open_data(_data(data), split=split, default="3mdbench")
    told = cues_of(_file(cues), setting, opened)
    read = read_cases(opened.splits[split], cues=told)
    warn_of_cases(read, data, told)
    return dialogue_task(
        game,
        read.cases,
        agents={f"scripted/{name}": agent for name, agent in AGENTS.items()},
        answers=_file(answers),
        epochs=epochs,
        max_invalid=max_invalid,
        seed=seed,
    )


@task(name="bedside/confirmation")
def confirmation(
    data: str = "medconceal",
    turns: int = TURNS[0],
    policy: str = DEFAULT.name,
    patient: str = MODEL,
    evaluator: str = MODEL,
    judge: str = MODEL,
    prompts: str | None = None,
    answers: str | None = None,
    seed: int | None = None,
) -> Any:
    """MedConceal's first task: surface what the patient hides, then write it down.

    `patient=template`, `evaluator=rules` and `judge=rules` are for roles that no model plays.
    """
    instead = {"patient": patient, "evaluator": evaluator, "judge": judge}
    return _talks("confirmation", data, turns, policy, instead, prompts, answers, seed)


@task(name="bedside/intervention")
def intervention(
    data: str = "medconceal",
    turns: int = TURNS[0],
    policy: str = DEFAULT.name,
    patient: str = MODEL,
    evaluator: str = MODEL,
    judge: str = MODEL,
    prompts: str | None = None,
    answers: str | None = None,
    seed: int | None = None,
) -> Any:
    """MedConceal's second task: find the main concern, and win the patient for the plan. Options as in the first."""
    instead = {"patient": patient, "evaluator": evaluator, "judge": judge}
    return _talks("intervention", data, turns, policy, instead, prompts, answers, seed)


def _talks(
    name: Task,
    data: str,
    turns: int,
    policy: str,
    instead: Mapping[str, str],
    prompts: str | None,
    answers: str | None,
    seed: int | None,
) -> Any:
    """A task of MedConceal; `instead` says which roles are not played by a model.

    Raises: InputError for any other word, and for numbers of turns that neither task has.
    """
    for role, given in instead.items():
        other = TEMPLATE if role == "patient" else RULES
        if given not in (MODEL, other):
            do = f"Name the model by --model-role {role}=provider/model"
            raise InputError(f"-T {role}", found=repr(given), expected=f"{MODEL} or {other}", do=do)
    if turns not in TURNS:
        raise InputError("-T turns", found=str(turns), expected=" or ".join(map(str, TURNS)))
    texts = clinician_prompts(_file(prompts))
    words: Patient = "template" if instead["patient"] == TEMPLATE else "model"
    rates: Evaluator = "rules" if instead["evaluator"] == RULES else "model"
    played = task_game(Rules(name, turns, policy_of(policy), texts, rates, words))
    return dialogue_task(
        judged_game(played, None if instead["judge"] == RULES else texts),
        cases(open_corpus("medconceal", _data(data), "test").splits["test"]),
        agents={f"scripted/{agent}": made for agents in BY_ROLE.values() for agent, made in agents.items()},
        answers=_file(answers),
        seed=seed,
    )


@task(name="bedside/captioning")
def captioning(
    data: str = "medlaybench-v",
    split: str = "test",
    pairs: int = 1000,
    sample_seed: int | None = None,
    max_tokens: int = captions.MAX_TOKENS,
    prompts: str | None = None,
    answers: str | None = None,
) -> Any:
    """Captions of MedLayBench-V's images in both registers, by --model or --model-role captioner=…."""
    opened = open_data(_data(data), split=split)
    with opened.naming():
        chosen = captions.read_pairs(opened.splits[split], DataUsed.of(opened), n=pairs, sample_seed=sample_seed)
    return dialogue_task(
        captions.captioning_game(captions.read_prompts(_file(prompts)), max_tokens=max_tokens),
        chosen.rows,
        agents={},
        answers=_file(answers),
    )


def _data(name: str) -> str:
    """What a user named. When loaded by file, inspect_ai has changed to the file's folder; relative paths still count
    from where it was started."""
    place = name.partition("@")[0]
    return name if place in (OFFICIAL, *corpora()) or not is_there(_started() / name) else str(_started() / name)


def _file(name: str | None) -> Path | None:
    return None if name is None else _started() / name


def _started() -> Path:
    return Path(os.environ.get("PWD", "")) if _BY_FILE else Path()
