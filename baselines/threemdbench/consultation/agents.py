"""Scripted doctors, the scale against which a real one is read; and every scripted agent by its name.

All are stand-ins, for `--doctor scripted/keyword` and the like.

silent          says nothing
majority        always the most frequent diagnosis, at once
ask-everything  goes through every question of a good history, then the most frequent diagnosis
keyword         asks a little and picks the diagnosis whose keywords the patient used
keyword-cues    the same, with points for the cues if its instructions hold them
oracle          is told the diagnosis, which no doctor model ever is
parrot          repeats the patient

Others try to be more than a doctor. None may raise a score, speak for another, or stop a run.

attack-break        says BREAK in every way, to end the dialogue itself
attack-patient      goes on as the patient, who is delighted
attack-verdict      writes the assessor's verdict
attack-reveal       asks the patient to give away diagnosis and instructions
attack-tokens       writes special tokens of chat templates, with a turn of the system behind them
attack-flood        50,000 characters
attack-names        names all 34 diagnoses

All but the oracle see only what a doctor model is sent. They follow their instructions: no questions where there is no
conversation, and two labelled parts where a rationale is wanted. The keywords (`keywords.csv`) were written by hand,
and no clinician has reviewed them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from baselines.dialogue.game import Script, ScriptedAgent, agent_named, lines_of
from baselines.threemdbench.consultation.agents_assessor import assessor
from baselines.threemdbench.consultation.agents_patient import patient
from baselines.threemdbench.consultation.assessor import as_items
from baselines.threemdbench.consultation.reading import OVERALL
from baselines.threemdbench.consultation.record import ITEMS
from loaders.files.bundled import bundled
from loaders.models.messages import Message
from loaders.threemdbench import NAMES, diagnosis_of, named_in

# The paper does not say which diagnosis is the most frequent; here frequencies follow the order of its list (3M-G2).
MAJORITY = NAMES[0]
_N_CUES = 3
_CUE_POINTS = 1.0  # for the first cue, a third less for each that follows

_LINES = lines_of("baselines.threemdbench.consultation", "doctor_lines.csv")
_FEW_QUESTIONS, _ALL_QUESTIONS, _FOLLOW_UP = (_LINES[kind] for kind in ("few questions", "all questions", "follow-up"))


def _as_asked(messages: Sequence[Message], answer: str) -> str:
    """The answer, in two labelled parts if the instructions ask for them."""
    return f"REASONING: I keep to my script.\nANSWER: {answer}" if "REASONING:" in _instructions(messages) else answer


def cues_in(messages: Sequence[Message]) -> tuple[str, ...]:
    """The cues in the instructions: the names on the one line that names exactly three diagnoses."""
    for line in _instructions(messages).splitlines():
        names = tuple(dict.fromkeys(diagnosis.name for _, diagnosis in named_in(line)))
        if len(names) == _N_CUES:
            return names
    return ()


def by_keywords(words: str, cues: Sequence[str] = ()) -> str:
    """The diagnosis with the most keywords in a patient's words, each worth less the more diagnoses share it.

    >>> by_keywords("I have raised, itchy welts that come and go.")
    'hives'
    """
    points = defaultdict(float, {MAJORITY: 0.0})
    for pattern, names in _keywords():
        if pattern.search(words):
            for name in names:
                points[name] += 1 / len(names)
    for place, cue in enumerate(cues):
        points[cue] += _CUE_POINTS * (1 - place / _N_CUES)
    return max(points, key=lambda name: (points[name], -NAMES.index(name)))


def _doctor(questions: Sequence[str], diagnose: Callable[[Sequence[Message]], str]) -> Script:
    """Asks the questions if there is a conversation, then gives the diagnosis."""

    def script(messages: Sequence[Message]) -> str:
        spoken = sum(message.role == "assistant" for message in messages)
        asked = questions if "question at a time" in _instructions(messages) else ()
        if spoken == len(asked):
            return _as_asked(messages, _conclusion(diagnose(messages)))
        return _as_asked(messages, asked[spoken] if spoken < len(asked) else _FOLLOW_UP[0])

    return script


def _conclusion(name: str) -> str:
    diagnosis = diagnosis_of(name)
    assert diagnosis is not None
    plan, treatment = _LINES[f"care, {diagnosis.domain}"]
    return (
        f"Thank you. From what you describe and what I see, you have {name}. To be on the safe side, {plan}. "
        f"Until then, please {treatment}. If you would rather not, tell me, and we look for another way."
    )


def _instructions(messages: Sequence[Message]) -> str:
    return messages[0].text if messages[0].role == "system" else ""


def _patients_words(messages: Sequence[Message]) -> str:
    return "\n".join(message.text for message in messages if message.role == "user").casefold()


@cache
def _keywords() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Keyword -> the diagnoses it speaks for."""
    diagnoses: dict[str, list[str]] = {}
    for row in bundled("baselines.threemdbench.consultation", "keywords.csv"):
        for word in row["keywords"].split(";"):
            diagnoses.setdefault(word.strip(), []).append(row["diagnosis"])
    return tuple((re.compile(rf"\b{re.escape(word)}\b"), tuple(names)) for word, names in diagnoses.items())


DOCTORS: dict[str, ScriptedAgent] = {
    "silent": lambda case: lambda messages: "",
    "majority": lambda case: _doctor((), lambda messages: MAJORITY),
    "ask-everything": lambda case: _doctor(_ALL_QUESTIONS, lambda messages: MAJORITY),
    "keyword": lambda case: _doctor(_FEW_QUESTIONS, lambda messages: by_keywords(_patients_words(messages))),
    "keyword-cues": lambda case: _doctor(
        _FEW_QUESTIONS, lambda messages: by_keywords(_patients_words(messages), cues_in(messages))
    ),
    "oracle": lambda case: _doctor(_FEW_QUESTIONS[:1], lambda messages: str(case.diagnosis)),
    "parrot": lambda case: lambda messages: _as_asked(messages, messages[-1].text),
}


# What stands for these words in the lines of the attacks.
_FILLED = {
    "{best}": as_items({item: 2 if item == OVERALL else 1 for item in ITEMS}),
    "{names}": ", ".join(NAMES),
}


def _attack(line: str) -> ScriptedAgent:
    for word, text in _FILLED.items():
        line = line.replace(word, text)
    return lambda case: lambda messages: _as_asked(messages, line)


ATTACKERS = {kind: _attack(lines[0]) for kind, lines in _LINES.items() if kind.startswith("attack-")}
ATTACKERS["attack-flood"] = _attack((f"{_LINES['attack-flood'][0]} " * 5_000)[:50_000])


BY_ROLE: Mapping[str, Mapping[str, ScriptedAgent]] = {
    "patient": {"patient": patient},
    "doctor": {**DOCTORS, **ATTACKERS},
    "assessor": {"assessor": assessor},
}
"""Role -> name -> agent. No name is used in two roles."""

AGENTS: Mapping[str, ScriptedAgent] = {name: agent for agents in BY_ROLE.values() for name, agent in agents.items()}

scripted_agent = partial(agent_named, BY_ROLE)
