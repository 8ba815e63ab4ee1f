"""What playing dialogues costs: through the adapter, through a minimal inspect_ai task, and without a framework.

    python -m scripts.bench.consultation

Every method plays the same 300 consultations of 28 utterances, with two requests of the assessor each, by agents that
answer at once; `scripts.bench.minimal_task` says what the methods are. The adapter builds the requests, checks what is
said, and commits every answer before it is used. Goals: at most 1.25 times the minimal task, 0.05 times bare, 300 MB.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.record import ITEMS, Case
from loaders.threemdbench import DIAGNOSES, PERSONALITIES
from scripts.bench.apart import Measured, ended
from scripts.bench.minimal_task import Benchmark, compared
from tests.parts.pictures import jpeg

_SAID = {
    "patient": "It began about {n} days ago on my left arm, and it itches most at night; nothing I tried has helped.",
    "doctor": "Did you change any soap, food or drug in the {n} weeks before it began, and has it spread since then?",
}
_VERDICT = json.dumps({item: (1 if item != "4.1" else "satisfactory") for item in ITEMS})


def reply(role: str, messages: Sequence[Any], wants_json: bool) -> str:
    """A text of usual length, another for every number of messages."""
    if role == "assessor":
        return _VERDICT if wants_json else "eczema"
    return _SAID[role].format(n=len(messages))


def cases(number: int) -> list[Case]:
    """Cases with photos of 400 x 300 pixels, about 35 kB each."""
    draw = np.random.default_rng(0)
    made = []
    for at in range(number):
        pixels = np.kron(draw.integers(0, 255, (30, 40, 3), np.uint8), np.ones((10, 10, 1), np.uint8))
        diagnosis = DIAGNOSES[at % len(DIAGNOSES)]
        made.append(
            Case(
                case_id=f"case-{at:04}",
                image=jpeg(Image.fromarray(pixels), 75),
                diagnosis=diagnosis.name,
                domain=diagnosis.domain,
                basic="You have red spots on your arm.",
                additional=("The spots itch at night.", "They began last week.", "You have no fever."),
                temperament=list(PERSONALITIES)[at % len(PERSONALITIES)],
            )
        )
    return made


def shown(case: Case) -> Any:
    """The photo, as the input of a sample."""
    from inspect_ai.model import ChatMessageUser, ContentImage, ContentText

    assert isinstance(case.image, bytes)
    photo = f"data:image/jpeg;base64,{base64.b64encode(case.image).decode()}"
    return [ChatMessageUser(content=[ContentText(text="a photo"), ContentImage(image=photo)])]


BENCHMARK = Benchmark(
    module="scripts.bench.consultation",
    game=consultation_game("dialogue+image", read_prompts()),
    cases=cases,
    reply=reply,
    calls=30,  # 28 utterances, extraction, assessment
    kept="doctor",
    shown=shown,
    asks_json=lambda sent: any('"4.1"' in message.text for message in sent),
)


def main(arguments: Sequence[str]) -> Measured:
    what = "{cases} consultations of 28 utterances, answers stored and logged, {mb} MB"
    return compared(BENCHMARK, __doc__ or "", arguments, what, "a minimal inspect_ai task that makes the same calls")


if __name__ == "__main__":
    ended(main)
