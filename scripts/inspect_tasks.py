"""What `inspect eval` finds of Bedside: the consultation as a task, and scripted agents as models (an entry point).

    inspect eval bedside/consultation -T data=official -T setting=dialogue+image -T answers=answers.sqlite \\
        --model-role doctor=openai/gpt-4o-mini --model-role patient=scripted/patient --model-role assessor=...

`bedside run consultation` plays the same and gives the paper's tables; this is for those who live in inspect_ai.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import task

import baselines.dialogue.provider  # noqa: F401 - registers `scripted/...`
from baselines.dialogue.evaluation import MAX_INVALID, dialogue_task
from baselines.threemdbench.consultation.agents import AGENTS
from baselines.threemdbench.consultation.cases import read_cases
from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.protocol import protocol_named
from loaders.opened import open_data
from scripts.run.consultation import warn_of_cases
from scripts.run.cues import cues_of, warn_of_cues


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
        read_prompts(Path(prompts) if prompts else None),
        protocol_named(protocol).having(cap_mode=cap_mode, judge=judge),
    )
    opened = open_data(data, split=split, default="3mdbench")
    told = cues_of(Path(cues) if cues else None, setting, opened)
    read = read_cases(
        opened.splits[split], cues=told.names if told else None, without=told.more.without if told else None
    )
    warn_of_cases(read, data)
    if told is not None:
        warn_of_cues(told, read)
    return dialogue_task(
        game,
        read.cases,
        agents={f"scripted/{name}": agent for name, agent in AGENTS.items()},
        answers=Path(answers) if answers else None,
        epochs=epochs,
        max_invalid=max_invalid,
        seed=seed,
    )


# inspect_ai puts the name of the installed top package before a task's, which here would be `scripts`; of a module that
# it does not find it takes the name as it is.
consultation.__module__ = "bedside"
consultation = task(name="bedside/consultation")(consultation)
