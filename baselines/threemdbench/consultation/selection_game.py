"""The dialogue by which patient models are chosen, and its judge (3MDBench, Section 3.3, Appendix H.2).

    patient opens -> doctor rates its confidence -> a question, or the diagnosis once it is confident -> patient -> …

It differs from the benchmark's own consultation: no photo, no temperament, one symptom per answer, and a doctor that
says after every turn of the patient how sure it is. After 14 rounds it has to settle on a diagnosis (3M-G29). The judge
then says of every answer whether it was to the point, and of the whole how well the patient followed its instructions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, get_args

from baselines.dialogue.game import Ask, Game, Script, ScriptedAgent, agent_named
from baselines.threemdbench.consultation.assessor import ask_assessor, transcript
from baselines.threemdbench.consultation.cleaning import ordered, scrub, spoken
from baselines.threemdbench.consultation.protocol import BEDSIDE
from baselines.threemdbench.consultation.record import Case, Turn
from loaders.files.records import GROWN
from loaders.models.asking import Unfit, ask_until
from loaders.models.messages import Answer, Decoding, Message
from loaders.models.prompts import Prompts, read_prompts
from loaders.threemdbench import NAMES

NAME = "patient-selection"
ROLES = ("patient", "doctor", "judge")
ROUNDS = 14
"""Maximum questions and answers before the diagnosis is forced (3M-G29)."""

Level = Literal["unconfident", "neutral", "confident"]
_LEVELS: tuple[Level, ...] = get_args(Level)
Ended = Literal["break", "diagnosis"]

_PLACEHOLDERS: dict[str, frozenset[str]] = {
    "selection_patient": frozenset({"basic", "complaints"}),
    "selection_opening": frozenset(),
    "selection_confidence": frozenset(),
    "selection_question": frozenset(),
    "selection_diagnosis": frozenset({"diagnoses"}),
    "selection_relevance": frozenset(),
    "selection_following": frozenset({"instructions"}),
}
_STATED = re.compile(r"\blevel\W*?:([^\n]*)", re.IGNORECASE)
_LEVEL = re.compile(r"\b(unconfident|neutral|confident)\b", re.IGNORECASE)
DECODING = BEDSIDE.decoding
_JUDGE: Decoding = {"temperature": 1e-6, "max_tokens": 16}
"""As nearly greedy as the paper's assessor (S2); patient and doctor are those of the consultation."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One case played by a candidate.

    `facts` are what the patient was told about itself, the general complaint first. `levels` is the doctor's confidence
    after each turn of the patient that it read, None if its answer named none. `relevance` is the judge's rating of
    each answer to a question, `following` that of the whole; None if none of the judge's answers was a rating.
    `ended` is "break" if the patient ended the dialogue, "diagnosis" if it went on talking after that. `group` is that
    of the case.
    """

    case_id: str
    facts: tuple[str, ...]
    turns: tuple[Turn, ...]
    levels: tuple[Level | None, ...]
    ended: Ended
    diagnosed: bool
    relevance: tuple[int | None, ...]
    following: int | None
    group: Annotated[str, GROWN] = ""

    @property
    def cluster(self) -> str:
        """What an interval draws: the patient, lesion or near copies that the photo belongs to, else the case."""
        return self.group or self.case_id


def read_selection_prompts(folder: Path | None = None) -> Prompts:
    """The texts of the selection; those of `folder` replace the shipped ones by name."""
    return read_prompts(Path(__file__).parent / "prompts", _PLACEHOLDERS, folder)


def selection_game(prompts: Prompts) -> Game[Case, Trial]:
    """The game that every candidate for the patient's role plays."""

    return Game(
        name=NAME,
        roles=ROLES,
        case_id=lambda case: case.case_id,
        play=partial(play, prompts=prompts),
        transcript=lambda case, trial: [
            Message("user" if turn.role == "patient" else "assistant", turn.text) for turn in trial.turns
        ],
        scores=_scores,
        invalid=_invalid,
        settings={"rounds": ROUNDS, "prompts": prompts.digests},
        decoding={"patient": DECODING["patient"], "doctor": DECODING["doctor"], "judge": _JUDGE},
    )


async def play(case: Case, ask: Ask, prompts: Prompts) -> Trial:
    """Play and judge one case. Raises what `ask` raises."""
    told = {"basic": case.basic, "complaints": "\n".join(f"- {fact}" for fact in case.additional)}
    instructions = prompts.fill("selection_patient", told)
    patient = [Message("system", instructions), Message("user", prompts.fill("selection_opening"))]
    opening, _ = await _patient(patient, ask)
    turns = [opening]
    levels: list[Level | None] = []
    ended = diagnosed = False
    while not ended and not diagnosed:
        asked = sum(turn.role == "doctor" for turn in turns)
        level = await _confidence(turns, ask, prompts) if asked < ROUNDS else None
        if asked < ROUNDS:
            levels.append(level)
        diagnosed = level == "confident" or asked == ROUNDS
        kind = "selection_diagnosis" if diagnosed else "selection_question"
        turns.append(await _doctor(turns, ask, prompts.fill(kind, {"diagnoses": ", ".join(NAMES)})))
        patient.append(Message("user", turns[-1].text))
        reply, ended = await _patient(patient, ask)
        if reply.text or not ended:
            turns.append(reply)
    pairs = list(zip(turns[1::2], turns[2::2], strict=False))
    if diagnosed and turns[-1].role == "patient":
        pairs.pop()  # the reply to the diagnosis answers no question
    return Trial(
        case_id=case.case_id,
        facts=(case.basic, *case.additional),
        turns=tuple(turns),
        levels=tuple(levels),
        ended="break" if ended else "diagnosis",
        diagnosed=diagnosed,
        relevance=tuple([await _relevance(pair, at, ask, prompts) for at, pair in enumerate(pairs)]),
        following=await _following(instructions, turns, ended, ask, prompts),
        group=case.group,
    )


async def _patient(messages: list[Message], ask: Ask) -> tuple[Turn, bool]:
    """The patient's next turn, without text if it says only BREAK, and whether it ends the dialogue."""
    opens = len(messages) == 2
    text, thought, flags = scrub(await ask("patient", tuple(messages), **DECODING["patient"]))
    text, ends = BEDSIDE.ends(text)
    said = "" if ends and not text and not opens else spoken("patient", text, flags)
    messages.append(Message("assistant", said or "BREAK"))
    return Turn("patient", said, thought, ordered(flags)), ends and not opens


async def _confidence(turns: Sequence[Turn], ask: Ask, prompts: Prompts) -> Level | None:
    """How sure the doctor is; asked once more if the answer names no level or several, then taken as not sure."""
    messages = [Message("system", prompts.fill("selection_confidence")), Message("user", transcript(turns))]
    return (await ask_until(partial(ask, "doctor", **DECODING["doctor"]), messages, _level, attempts=2)).value


def _level(answer: Answer) -> Level:
    said = scrub(answer)[0]
    for part in (*_STATED.findall(said), said.rpartition(":")[2]):  # a reason may follow, with a colon of its own
        named = {name.casefold() for name in _LEVEL.findall(part)}
        if len(named) == 1:
            return next(level for level in _LEVELS if level in named)
    raise Unfit("it does not name one of the three levels")


async def _doctor(turns: Sequence[Turn], ask: Ask, prompt: str) -> Turn:
    messages = [Message("system", prompt), Message("user", transcript(turns))]
    text, thought, flags = scrub(await ask("doctor", messages, **DECODING["doctor"]))
    said = spoken("doctor", text, flags)
    return Turn("doctor", said, thought, ordered(flags))


async def _relevance(pair: Sequence[Turn], at: int, ask: Ask, prompts: Prompts) -> int | None:
    messages = [Message("system", prompts.fill("selection_relevance")), Message("user", transcript(pair))]
    return await _rated(messages, (0, 1), ask, first=at * BEDSIDE.attempts)


async def _following(instructions: str, turns: Sequence[Turn], ended: bool, ask: Ask, prompts: Prompts) -> int | None:
    """The judge sees the patient's BREAK, which is not an utterance but was asked for."""
    shown = [*turns, Turn("patient", "BREAK")] if ended else list(turns)
    system = prompts.fill("selection_following", {"instructions": instructions})
    return await _rated([Message("system", system), Message("user", transcript(shown))], range(1, 6), ask)


async def _rated(messages: Sequence[Message], allowed: Sequence[int], ask: Ask, *, first: int = 0) -> int | None:
    """The judge's rating; None if it gave none in four attempts, which are numbered from `first`."""

    def rating(text: str) -> int:
        digits = text.strip(" \n\t.*`'\"")
        if digits not in map(str, allowed):
            raise Unfit("it is none of the ratings")
        return int(digits)

    # Like the assessor (S2), the judge is sent the same request again, only warmer.
    return (await ask_assessor(messages, ask, rating, role="judge", decoding=_JUDGE, first=first)).value


def _scores(trial: Trial) -> dict[str, float]:
    rated = [mark for mark in trial.relevance if mark is not None]
    scores = {"finished": float(trial.ended == "break"), "utterances": float(len(trial.turns))}
    if rated:
        scores["relevance"] = sum(rated) / len(rated)
    if trial.following is not None:
        scores["following"] = float(trial.following)
    return scores


def _invalid(trial: Trial) -> str | None:
    return "the judge gave no rating of how the instructions were followed" if trial.following is None else None


# --- Scripted candidates, doctor and judge: offline, and all of them stand-ins ----------------------------------------

REFUSAL = "I don't know that. Please ask me about something else."
_DIAGNOSIS = "This is"
_QUESTIONS = (
    "How long has this been going on?",
    "What else have you noticed?",
    "Does anything make it worse?",
    "Have you had anything like it before?",
)


def _telling(case: Case, *, at_once: int) -> Script:
    """Opens with the first fact, then tells the others in order, so many per answer; BREAK once it has a diagnosis."""
    facts = (case.basic, *case.additional)

    def script(messages: Sequence[Message]) -> str:
        answered = sum(message.role == "assistant" for message in messages)
        if not answered:
            return facts[0]
        if _DIAGNOSIS in messages[-1].text:
            return "BREAK"
        start = 1 + (answered - 1) * at_once
        return " ".join(facts[start : start + at_once]) or REFUSAL

    return script


honest, hasty = partial(_telling, at_once=1), partial(_telling, at_once=2)  # hasty against its instructions


def inventor(case: Case) -> Script:
    """Tells things that are not in its instructions, and never ends."""

    def script(messages: Sequence[Message]) -> str:
        answered = sum(message.role == "assistant" for message in messages)
        return case.basic if not answered else f"My cousin in Lisbon had number {answered} of these on a ship."

    return script


def doctor(case: Case) -> Script:
    """Asks its questions in order and is confident after the fourth answer, always of the same diagnosis."""

    def script(messages: Sequence[Message]) -> str:
        turns = json.loads(messages[-1].text)
        asked = sum(turn["speaker"] == "doctor" for turn in turns)
        if "CONFIDENCE LEVEL" in messages[0].text:
            return f"CONFIDENCE LEVEL: {'Confident' if asked >= len(_QUESTIONS) else 'Neutral'}"
        settled = "Name exactly one diagnosis" in messages[0].text
        return f"{_DIAGNOSIS} eczema. Use a rich cream." if settled else _QUESTIONS[asked % len(_QUESTIONS)]

    return script


def judge(case: Case) -> Script:
    """By rule: an answer is to the point unless it refuses; following loses a point for every kind of slip."""
    facts = (case.basic, *case.additional)

    def script(messages: Sequence[Message]) -> str:
        said = [turn["text"] for turn in json.loads(messages[-1].text) if turn["speaker"] == "patient"]
        if "<instructions>" not in messages[0].text:
            return str(int(said[-1] != REFUSAL))
        several = any(sum(fact in text for fact in facts) > 1 for text in said)
        invented = any(text not in (REFUSAL, "BREAK") and not any(fact in text for fact in facts) for text in said)
        return str(5 - several - 2 * invented - (said[-1] != "BREAK"))

    return script


BY_ROLE: dict[str, dict[str, ScriptedAgent]] = {
    "patient": {"honest": honest, "hasty": hasty, "inventor": inventor},
    "doctor": {"doctor": doctor},
    "judge": {"judge": judge},
}

scripted_agent = partial(agent_named, BY_ROLE)
