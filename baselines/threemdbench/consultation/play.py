"""One consultation from the patient's first words to the assessment: pure Python, whoever answers (S3, S5).

    patient opens -> doctor -> patient -> …, to the patient's BREAK or the cap -> extraction -> assessment

Each side reads only the other's words: the patient never sees a rationale, and neither side sees the gold diagnosis,
which goes to the assessor alone. At the cap nobody is asked any more, and the dialogue is unfinished. A setting without
dialogue shows the doctor all complaints at once and takes its one answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.assessor import extract
from baselines.threemdbench.consultation.cleaning import (
    MAX_CHARS,
    ordered,
    rationale_and_answer,
    salvaged,
    scrub,
    spoken,
)
from baselines.threemdbench.consultation.prompts import filled, has_place, without_image
from baselines.threemdbench.consultation.protocol import Protocol
from baselines.threemdbench.consultation.record import Case, Consultation, Ended, Turn
from baselines.threemdbench.consultation.rubric import assess
from baselines.threemdbench.consultation.settings import Setting
from baselines.threemdbench.consultation.temperaments import FILE, facets_of
from loaders.models.messages import Answer, Message
from loaders.models.prompts import Prompts
from loaders.threemdbench import NAMES


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
        self._ask = ask
        self._protocol = rules.protocol
        values = {
            "basic": case.basic,
            "complaints": _listed(case.additional),
            **facets_of(rules.prompts.texts[FILE], case.temperament),
        }
        self._messages = [Message("system", filled(rules.prompts, "patient", values))]
        self._opening = rules.prompts.fill("patient_opening")

    async def speaks(self, heard: str | None) -> tuple[Turn | None, bool]:
        """The patient's next turn and whether it ends the dialogue; no turn if it says BREAK and nothing else.

        `heard` is None for the opening, which cannot end what has not begun: a BREAK in it is removed and ignored.
        """
        self._messages.append(Message("user", self._opening if heard is None else heard))
        decoding = self._protocol.decoding["patient"]
        text, thought, flags = scrub(await self._ask("patient", tuple(self._messages), **decoding))
        text, ends = self._protocol.ends(text)
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
        self._ask = ask
        self._setting = rules.setting
        self._decoding = rules.protocol.decoding["doctor"]
        self._prompts = rules.prompts
        self._image = (case.image,) if rules.setting.image else ()
        self._messages = [Message("system", _doctor_prompt(case, rules))]

    async def speaks(self, heard: str) -> Turn:
        """The doctor's next turn."""
        self._messages.append(Message("user", heard, self._image if len(self._messages) == 1 else ()))
        text, thought, flags = scrub(await self._asked(self._messages, 0))
        written = None
        if self._setting.rationale:
            parts = rationale_and_answer(text)
            if parts is None:
                text, thought, flags = await self._once_more(text, thought, flags)
                parts = rationale_and_answer(text)
            if parts is None:
                flags.add("unparsed")
            written, text = parts or salvaged(text)
        said = spoken("doctor", text, flags)
        written, thought = _shortened(written, flags), _shortened(thought, flags)
        self._messages.append(Message("assistant", f"REASONING: {written}\nANSWER: {said}" if written else said))
        rationale = "\n\n".join(part for part in (thought, written) if part)
        return Turn("doctor", said, rationale or None, ordered(flags))

    async def _once_more(self, text: str, thought: str | None, flags: set[str]) -> tuple[str, str | None, set[str]]:
        """The doctor's reply in the requested form, or whatever it says instead (3M-G17)."""
        again = (
            Message("assistant", spoken("doctor", text, set())),
            Message("user", self._prompts.fill("doctor_format")),
        )
        second = scrub(await self._asked([*self._messages, *again], 1))
        text, thought, flags = second if second[0] else (text, thought, flags)
        return text, thought, flags | {"reasked"}

    async def _asked(self, messages: Sequence[Message], attempt: int) -> Answer:
        return await self._ask("doctor", tuple(messages), **self._decoding, attempt=attempt)


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
