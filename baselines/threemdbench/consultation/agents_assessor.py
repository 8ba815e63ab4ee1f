"""The scripted assessor: reads diagnoses and scores the rubric by rules. A stand-in, whatever its numbers look like.

Like an assessor model it is sent JSON and the true diagnosis, and answers in the required form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from baselines.dialogue.game import Script
from baselines.threemdbench.consultation.assessor import as_items
from baselines.threemdbench.consultation.diagnosis import NONE
from baselines.threemdbench.consultation.reading import OVERALL
from baselines.threemdbench.consultation.record import Case
from loaders.files.bundled import bundled
from loaders.models.messages import Message
from loaders.threemdbench import named_in

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_HEDGED = re.compile(
    r"\b(?:might|may|could|possibl[ey]|perhaps|maybe|rule out|suspect|likely|not|no|unless|if)\b", re.IGNORECASE
)
MOST_NAMES = 3  # a doctor who gives more has settled on none
_TOO_LONG = 1_200  # characters of one reply
_GOOD = 6  # how many of the seven other items make "excellent"
_FAIR = 4

# Item -> what the doctor's questions, statements or words must hold for it.
_SIGNS = {
    row["item"]: re.compile(row["pattern"], re.IGNORECASE)
    for row in bundled("baselines.threemdbench.consultation", "signs.csv")
}


def assessor(case: Case) -> Script:
    """The scripted assessor of a case; its two tasks are distinguished by what it is sent."""

    def script(messages: Sequence[Message]) -> str:
        sent = json.loads(messages[-1].text)
        if all(isinstance(entry, str) for entry in sent):
            return ", ".join(stated_diagnoses(sent)) or NONE
        doctor = [str(turn["text"]) for turn in sent if turn["speaker"] == "doctor"]
        return as_items(scored(doctor, case.diagnosis))

    return script


def stated_diagnoses(utterances: Sequence[str]) -> list[str]:
    """The diagnoses in the last utterance that states any, without guesses; [] if it states too many.

    >>> stated_diagnoses(["It might be acne.", "You have a stye.", "You are welcome."])
    ['stye']
    """
    for utterance in reversed(utterances):
        stated = [sentence for sentence in statements(utterance) if not _HEDGED.search(sentence)]
        names = list(dict.fromkeys(d.name for sentence in stated for _, d in named_in(sentence)))
        if names:
            return names if len(names) <= MOST_NAMES else []
    return []


def scored(doctor: Sequence[str], gold: str) -> dict[str, int]:
    """Scores of the items from the doctor's words. Advice counts only from a doctor who has given a diagnosis."""
    questions = " ".join(sentence for text in doctor for sentence in _SENTENCE.findall(text) if sentence.endswith("?"))
    stated = " ".join(sentence for text in doctor for sentence in statements(text))
    names = stated_diagnoses(doctor)
    texts = {"1.1": questions, "1.2": questions, "2.1": " ".join(doctor)}
    scores = {item: int(bool(sign.search(texts.get(item, stated)))) for item, sign in _SIGNS.items()}
    if not names:
        scores |= {"1.3": 0, "3.1": 0, "3.2": 0}
    if max(map(len, doctor)) > _TOO_LONG:
        scores["2.1"] = 0
    total = sum(scores.values())
    overall = 2 if names == [gold] and total >= _GOOD else int(total >= _FAIR)
    return {**scores, OVERALL: overall}


def statements(text: str) -> list[str]:
    """The sentences that are no questions."""
    return [sentence for sentence in _SENTENCE.findall(text) if not sentence.endswith("?")]
