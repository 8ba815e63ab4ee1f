"""A consultation as a `Game`: how it is played, whoever answers, and what a log shows of it.

game = consultation_game("dialogue+image", read_prompts())
record = await game.play(case, ask)
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from baselines.dialogue.game import Game
from baselines.threemdbench.consultation.diagnosis import first_name
from baselines.threemdbench.consultation.play import Rules, play
from baselines.threemdbench.consultation.protocol import BEDSIDE, ROLES, Protocol
from baselines.threemdbench.consultation.record import Case, Consultation
from baselines.threemdbench.consultation.settings import setting_named
from loaders.models.messages import Message
from loaders.models.prompts import Prompts

NAME = "consultation"
_VERSION = 2  # of the rules in cleaning.py and play.py: raise it, and older logs are no longer taken for this game's


def consultation_game(setting: str, prompts: Prompts, protocol: Protocol = BEDSIDE) -> Game[Case, Consultation]:
    """The game of one setting; `prompts` are those of `baselines.threemdbench.consultation.prompts.read_prompts`.

    Raises InputError for an unknown setting.
    """
    rules = Rules(setting_named(setting), prompts, protocol)
    return Game(
        name=NAME,
        roles=ROLES,
        case_id=lambda case: case.case_id,
        play=partial(play, rules=rules),
        transcript=transcript,
        scores=scores,
        invalid=invalid,
        settings={"version": _VERSION, "setting": setting, **protocol.settings, "prompts": prompts.digests},
        decoding=protocol.decoding,
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
    """Why a consultation cannot be scored: no answer of the assessor to a question could be read."""
    assessment = played.assessment.failure if played.assessment else None
    asked = {"the diagnosis could not be read out": played.extraction.failure, "the assessment failed": assessment}
    return "; ".join(f"{what}: {failure}" for what, failure in asked.items() if failure is not None) or None
