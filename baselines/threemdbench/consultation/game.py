"""A consultation from the patient's first words to the assessment, as a `Game`: whoever answers (S3, S5).

    patient opens -> doctor -> patient -> …, to the patient's BREAK or the cap -> extraction -> assessment

    record = await consultation_game("dialogue+image", read_prompts()).play(case, ask)

Each side reads only the other's words: the patient never sees a rationale, and neither side sees the gold diagnosis,
which goes to the assessor alone. At the cap nobody is asked any more, and the dialogue is unfinished. A setting without
dialogue shows the doctor all complaints at once and takes its one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from baselines.dialogue.game import Ask, Game
from baselines.threemdbench.consultation import cleaning
from baselines.threemdbench.consultation.assessor import assess, extract
from baselines.threemdbench.consultation.cleaning import MAX_CHARS, ordered, scrub, spoken
from baselines.threemdbench.consultation.diagnosis import first_name
from baselines.threemdbench.consultation.prompts import FILE, facets_of, filled, has_place, without_image
from baselines.threemdbench.consultation.protocol import BEDSIDE, ROLES, Protocol
from baselines.threemdbench.consultation.record import Case, Consultation, Ended, Turn
from baselines.threemdbench.consultation.settings import Setting, setting_named
from loaders.models.messages import Answer, Message
from loaders.models.prompts import Prompts
from loaders.threemdbench import NAMES

NAME = "consultation"
# Of the rules here, in cleaning.py and in naming.py: raise it, and older logs are no longer taken for this game's.
_VERSION = 6


def consultation_game(setting: str, prompts: Prompts, protocol: Protocol = BEDSIDE) -> Game[Case, Consultation]:
    """The game of one setting; `prompts` are those of `baselines.threemdbench.consultation.prompts.read_prompts`. A
    setting without dialogue has no patient: nobody asks what one would say.

    Raises InputError for an unknown setting.
    """
    rules = Rules(setting_named(setting), prompts, protocol)
    roles = tuple(role for role in ROLES if role != "patient" or rules.setting.dialogue)
    return Game(
        name=NAME,
        roles=roles,
        case_id=lambda case: case.case_id,
        play=partial(play, rules=rules),
        transcript=transcript,
        scores=scores,
        invalid=invalid,
        settings={"version": _VERSION, "setting": setting, **protocol.settings, "prompts": prompts.digests},
        decoding={role: protocol.decoding[role] for role in roles},
    )


def transcript(case: Case, played: Consultation) -> list[Message]:
    """The consultation for a reader of a log: the photo with the first message, rationales after what they led to.

    The reader sees the photo in every setting; only `setting` says whether the doctor did.
    """
    messages: list[Message] = []
    for turn in played.turns:
        text = turn.text if turn.rationale is None else f"{turn.text}\n\n[never sent: {turn.rationale}]"
        role: Literal["user", "assistant"] = "user" if turn.role == "patient" else "assistant"
        messages.append(Message(role, text, () if messages else (case.image,)))
    return messages


def scores(played: Consultation) -> dict[str, float]:
    """What a log viewer shows of one case: the strict diagnosis, how the dialogue ended, and the rubric."""
    shown = {
        "correct": float(first_name(", ".join(played.extraction.names)) == played.gold),
        "finished": float(played.finished),
        "utterances": float(played.utterances),
    }
    if played.assessment is not None and played.assessment.items is not None:
        shown |= {item: float(score) for item, score in played.assessment.items.items()}
    return shown


def invalid(played: Consultation) -> str | None:
    """Why a consultation cannot be scored: no answer of the assessor to a question could be read, or the patient told
    the doctor nothing."""
    silent = ["empty" in turn.flags for turn in played.turns if turn.role == "patient"]
    if silent and all(silent):
        return "the patient said nothing"
    assessment = played.assessment.failure if played.assessment else None
    asked = {"the diagnosis could not be read out": played.extraction.failure, "the assessment failed": assessment}
    return "; ".join(f"{what}: {failure}" for what, failure in asked.items() if failure is not None) or None


@dataclass(frozen=True, slots=True)
class Rules:
    """What is played: a setting, the texts, and the protocol."""

    setting: Setting
    prompts: Prompts
    protocol: Protocol


async def play(case: Case, ask: Ask, rules: Rules) -> Consultation:
    """Play one case. Raises what `ask` raises, and ValueError for a case without the cues that the setting needs."""
    setting = rules.setting
    if setting.cues and not case.cues:
        raise ValueError(f"{case.case_id}: the setting {setting.name} needs cues")
    if setting.dialogue:
        turns, ended = await _converse(case, ask, rules)
    else:
        turns, ended = await _answer_once(case, ask, rules), "answer"
    return Consultation(
        case_id=case.case_id,
        setting=setting.name,
        gold=case.diagnosis,
        domain=case.domain,
        temperament=case.temperament,
        cues=case.cues if setting.cues else None,
        turns=tuple(turns),
        utterances=len(turns),
        finished=ended != "cap",
        ended=ended,
        parse_failures=sum("unparsed" in turn.flags for turn in turns),
        extraction=await extract(turns, ask, rules.prompts, rules.protocol),
        assessment=await assess(case, turns, ask, rules.prompts, protocol=rules.protocol) if setting.dialogue else None,
        group=case.group,
    )


async def _converse(case: Case, ask: Ask, rules: Rules) -> tuple[list[Turn], Ended]:
    patient = _Patient(case, ask, rules)
    doctor = _Doctor(case, ask, rules)
    opening, _ = await patient.speaks(None)
    assert opening is not None
    turns = [opening]
    while len(turns) < rules.protocol.cap:
        turns.append(await doctor.speaks(turns[-1].text))
        if len(turns) == rules.protocol.cap:
            break
        reply, ends = await patient.speaks(turns[-1].text)
        if reply is not None:
            turns.append(reply)
        if ends:
            return turns, "break"
    return turns, "cap"


async def _answer_once(case: Case, ask: Ask, rules: Rules) -> list[Turn]:
    complaints = (case.basic, *case.additional) if rules.setting.additional else (case.basic,)
    told = filled(rules.prompts, "doctor_complaints", {"complaints": _listed(complaints)})
    return [Turn("patient", told), await _Doctor(case, ask, rules).speaks(told)]


class _Patient:
    """The patient's side: its instructions, and the conversation as it reads it."""

    def __init__(self, case: Case, ask: Ask, rules: Rules) -> None:
        self._ask, self._rules = ask, rules
        facets = facets_of(rules.prompts.texts[FILE], case.temperament)
        values = {"basic": case.basic, "complaints": _listed(case.additional), **facets}
        self._messages = [Message("system", filled(rules.prompts, "patient", values))]

    async def speaks(self, heard: str | None) -> tuple[Turn | None, bool]:
        """The patient's next turn and whether it ends the dialogue; no turn if it says BREAK and nothing else.

        `heard` is None for the opening, which cannot end what has not begun: a BREAK in it is removed and ignored.
        """
        protocol = self._rules.protocol
        self._messages.append(Message("user", self._rules.prompts.fill("patient_opening") if heard is None else heard))
        text, thought, flags = scrub(await self._ask("patient", tuple(self._messages), **protocol.decoding["patient"]))
        text, ends = protocol.ends(text)
        if ends:
            flags.add("break")
            if heard is not None and not text:
                return None, True
        said = spoken("patient", text, flags)
        self._messages.append(Message("assistant", said))
        return Turn("patient", said, thought, ordered(flags)), ends and heard is not None


class _Doctor:
    """The doctor's side: its instructions, the photo with the first message, and its own words, rationale included."""

    def __init__(self, case: Case, ask: Ask, rules: Rules) -> None:
        self._ask, self._rules = ask, rules
        self._image = (case.image,) if rules.setting.image else ()
        self._messages = [Message("system", _doctor_prompt(case, rules))]

    async def speaks(self, heard: str) -> Turn:
        """The doctor's next turn."""
        self._messages.append(Message("user", heard, self._image if len(self._messages) == 1 else ()))
        text, thought, flags = scrub(await self._asked(self._messages, 0))
        written = None
        if self._rules.setting.rationale:
            parts = cleaning.rationale_and_answer(text)
            if parts is None:
                text, thought, flags = await self._once_more(text, thought, flags)
                parts = cleaning.rationale_and_answer(text)
            if parts is None:
                flags.add("unparsed")
            written, text = parts or cleaning.salvaged(text)
        said = spoken("doctor", text, flags)
        written, thought = _shortened(written, flags), _shortened(thought, flags)
        self._messages.append(Message("assistant", f"REASONING: {written}\nANSWER: {said}" if written else said))
        rationale = "\n\n".join(filter(None, (thought, written)))
        return Turn("doctor", said, rationale or None, ordered(flags))

    async def _once_more(self, text: str, thought: str | None, flags: set[str]) -> tuple[str, str | None, set[str]]:
        """The doctor's reply in the requested form, or whatever it says instead (3M-G17)."""
        said = Message("assistant", spoken("doctor", text, set()))
        again = Message("user", self._rules.prompts.fill("doctor_format"))
        second = scrub(await self._asked([*self._messages, said, again], 1))
        text, thought, flags = second if second[0] else (text, thought, flags)
        return text, thought, flags | {"reasked"}

    async def _asked(self, messages: Sequence[Message], attempt: int) -> Answer:
        decoding = self._rules.protocol.decoding["doctor"]
        return await self._ask("doctor", tuple(messages), **decoding, attempt=attempt)


def _doctor_prompt(case: Case, rules: Rules) -> str:
    setting, prompts = rules.setting, rules.prompts
    name = "doctor_rationale" if setting.rationale else "doctor_dialogue" if setting.dialogue else "doctor_no_dialogue"
    cues = prompts.fill("doctor_cues", {"cues": ", ".join(case.cues or ())}) if setting.cues else ""
    image = prompts.fill("doctor_image") if setting.image else ""
    text = filled(prompts, name, {"diagnoses": ", ".join(NAMES), "image": image, "cues": cues})
    if not setting.image and not has_place(prompts, name, "image"):
        text = without_image(text)
    return f"{text}\n\n{cues}" if cues and not has_place(prompts, name, "cues") else text


def _shortened(text: str | None, flags: set[str]) -> str | None:
    if text is None or len(text) <= MAX_CHARS:
        return text
    flags.add("truncated")
    return text[:MAX_CHARS]


def _listed(complaints: Sequence[str]) -> str:
    return "\n".join(f"- {complaint}" for complaint in complaints)
