"""A study that is served here: small data, no model, a clock of one's own, and people who type into its pages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from baselines.medconceal.clinician import prompts
from baselines.medconceal.game import Rules
from baselines.medconceal.policy import DEFAULT
from baselines.study.access import make_link
from baselines.study.design import Check, Design, Question, Study, TaskName, Texts
from baselines.study.site import Site, open_site
from baselines.study.tasks.task import Source

SURVEY = (Question("years", "How long have you worked?", options=("Less than 1 year", "More")),)
CHECKS = (Check("May you stop?", ("Yes", "No"), 0),)


def study(folder: Path, *tasks: TaskName, **more: Any) -> Study:
    """A study of these tasks, with a short survey and one comprehension question."""
    told = {"survey": SURVEY, "comprehension": CHECKS, "per_person": 2, **more}
    design = Design("How people talk", "study@hospital.example", tasks, **told)
    return Study(folder, design, Texts("# Taking part\n\nPlease read this.", "# What you do\n\n- Judge each item."))


def site(plan: Study, **source: Any) -> Site:
    """The study, open, with rules and template playing. `source` is what `Source` takes."""
    return open_site(
        plan,
        Source(plan.design, **source),
        players={},
        rules=lambda task: Rules(
            task, plan.design.most_turns, DEFAULT, prompts(), "rules", "template", timed=True, strict=True
        ),
        models={"patient": "template", "evaluator": "rules"} if plan.design.talks else {},
        rehearsal=True,
    )


def login(open_one: Site) -> str:
    """The address of a coordinator's one-time link."""
    with open_one.store.writing() as connection:
        return f"/c/{make_link(connection, None, open_one.clock())}"


def radios(page: str) -> Mapping[str, Sequence[str]]:
    """The radio buttons of a page: name -> values."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'type="radio" name="([^"]*)" value="([^"]*)"', page):
        found.setdefault(name, []).append(value)
    return found
