"""Starts a study: writes the files that somebody edits before it is served."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from baselines.results.sheets import write_new
from baselines.study.design import TALKS, Study, TaskName

_RULES = """minutes: 10              # of a conversation (Appendix D); the clock stands while the patient answers
remind: 2                # minutes before the end
grace: 15                # seconds after it, for words that are being written
least_turns: 5           # before a confirmation may be ended (Appendix D.2)
most_turns: 40
speaks_first: clinician  # the paper does not say
"""
_TALK_CHECKS = """  - shown: When does the clock of a conversation run?
    options: ["While you read and write; not while the patient answers", All the time, Only while the patient answers]
    right: 0
"""
_CHECKS = """  - shown: May you stop whenever you like?
    options: ["Yes, by the button Stop on every page", "No, what was begun has to be finished", Only after half of it]
    right: 0
"""
_RATING_CHECKS = """  - shown: Is there an answer that we want to hear?
    options: ["No, say what you think", "Yes, the friendliest", "Yes, the one that most people give"]
    right: 0
"""
_RIGHT = {
    True: "Your answers and those of programs are compared with the diagnosis on record; some cases cannot be told.",
    False: "There is no right answer that we compare you with.",
}
_TITLES: Mapping[TaskName, str] = {
    "confirmation": "What patients do not say",
    "intervention": "Coming to a plan with patients",
    "pairs": "Two ways to say what a picture shows",
    "diagnosis": "Diagnoses from photos and complaints",
    "rubric": "How doctors talk with patients",
    "relevance": "Complaints that go with a diagnosis",
}
_DEBRIEFING = {
    True: "  The patients were simulated by a computer program from written cases. Nobody real was spoken to.",
    False: "  Some of what you saw was written by computer programs. Nothing of it is medical advice.",
}
_PER_PERSON = "per_person: 2            # cases that a person is given to talk about, at most\n"
_AIMS: Mapping[str, str] = {
    "confirmation": "Patients often do not say outright what troubles them. Find out what it is. From message 5 on you "
    "may end the conversation. Afterwards you write down what the patient was worried about.",
    "intervention": "The chart says what the patient wants at first, and which plan is better. Find out what stands "
    "against the plan, and deal with it. The conversation ends when the patient accepts, or when the time is up.",
}


def write_study(folder: Path, task: TaskName) -> list[Path]:
    """The three files of a new study. Raises InputError if one exists."""
    talks = task in TALKS
    values = {
        "title": _TITLES[task],
        "task": task,
        "completed": "1" if talks else "3",
        "per_person": _PER_PERSON if talks else "",
        "rules": _RULES if talks else "",
        "each": "5.0" if talks else "0.3",
        "checks": (_TALK_CHECKS if talks else _RATING_CHECKS) + _CHECKS,
        "debriefing": _DEBRIEFING[talks],
    }
    what = "You talk in writing with simulated patients." if talks else "You judge texts, photos or conversations."
    pay = "an amount for the beginning, and one for each case that you finish."
    instructions = (
        _text("talk.md").format(minutes="10", remind="2", aim=_AIMS[task])
        if talks
        else _text("rating.md").format(right=_RIGHT[task == "diagnosis"])
    )
    contents = {
        "study.yaml": _text("study.yaml").format(**values),
        "consent.md": _text("consent.md").format(what=what, pay=pay),
        "instructions.md": instructions,
    }
    return write_new({folder / name: text.encode() for name, text in contents.items()})


def _text(name: str) -> str:
    return (files("baselines.study") / "texts" / name).read_text(encoding="utf-8")


def open_places(study: Study) -> list[str]:
    """The places where a text still says TODO."""
    told = {
        "study.yaml": f"{study.design.title} {study.design.contact} {study.design.debriefing}",
        "consent.md": study.texts.consent if isinstance(study.texts.consent, str) else "",
        "instructions.md": study.texts.instructions,
    }
    return [name for name, text in told.items() if "TODO" in text]
