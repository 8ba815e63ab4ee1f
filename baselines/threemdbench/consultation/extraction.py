"""Which diagnosis the doctor gave: the assessor reads it out of the doctor's words alone (Appendix H.4, 3M-G23).

The doctor's words come as a JSON list of strings, so that nothing in them can pass for an instruction's end or for
another speaker. What comes back is a list of names or "none"; an answer that is neither is asked for again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.assessor import ask_assessor
from baselines.threemdbench.consultation.record import Extraction, Turn
from loaders.models.asking import Unfit
from loaders.models.messages import Message
from loaders.models.prompts import Prompts

NONE = "none"
_MAX_NAMES = 34
_MAX_WORDS = 10
_AROUND = " \t.`'\"*_“”‘’"
_NAME = re.compile(r"[^\W\d_][\w'’/() -]*")
_TALK = re.compile(r"\b(?:i|is|has|diagnos\w+|doctors?|patients?|transcript|sentence|final)\b", re.IGNORECASE)


async def extract(turns: Sequence[Turn], ask: Ask, prompts: Prompts) -> Extraction:
    """The diagnoses that the assessor finds in the doctor's words. Raises what `ask` raises."""
    messages = (Message("system", prompts.fill("extraction")), Message("user", doctors_words(turns)))
    asked = await ask_assessor(messages, ask, read_names)
    return Extraction(asked.value or (), asked.answer, asked.attempts, asked.failure)


def doctors_words(turns: Sequence[Turn]) -> str:
    """The doctor's utterances as a JSON list of strings, one a line."""
    said = [json.dumps(turn.text, ensure_ascii=False) for turn in turns if turn.role == "doctor"]
    return "[\n" + ",\n".join(said) + "\n]"


def read_names(text: str) -> tuple[str, ...]:
    """The names of an answer as they were written; () for "none". Raises Unfit for what is no list of names.

    >>> read_names("Stye, chalazion."), read_names("'none'"), read_names("hordeolum\\n")
    (('Stye', 'chalazion'), (), ('hordeolum',))
    """
    answer = text.strip(_AROUND + "\n")
    if not answer:
        raise Unfit("an empty answer")
    if "\n" in answer:
        raise Unfit("more than one line")
    names = [part.strip(_AROUND) for part in answer.split(",")]
    names = [name for name in names if name]
    if len(names) > _MAX_NAMES:
        raise Unfit(f"more than {_MAX_NAMES} names")
    for name in names:
        if not _NAME.fullmatch(name) or _TALK.search(name) or len(name.split()) > _MAX_WORDS:
            raise Unfit(f"{name[:60]!r} is not the name of a diagnosis")
    if [name.casefold() for name in names] == [NONE]:
        return ()
    if NONE in (name.casefold() for name in names):
        raise Unfit("both names and none")
    return tuple(names)
