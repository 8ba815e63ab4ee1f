"""Captioning as a `Game` of one role, for `inspect eval`: an image, asked about in clinical and in plain words.

`bedside run captioning` asks the same of the same images and gives Table A5, BERTScore and intervals included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from baselines.dialogue.game import Ask, Game
from baselines.medlaybench_v import readability
from baselines.medlaybench_v.captioning import MAX_TOKENS, PROMPTS, Pairs
from baselines.medlaybench_v.language import REGISTERS
from loaders.errors import MissingExtra
from loaders.models.messages import Message
from loaders.models.prompts import words_digest

ROLE = "captioner"


@dataclass(frozen=True, slots=True)
class Image:
    """An image by its id; `data` are the bytes of a PNG or JPEG file."""

    image_id: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Caption:
    """The text for an image in one register, and why it ended (`Answer.stop`)."""

    register: str
    prompt: str
    text: str
    stop: str


@dataclass(frozen=True, slots=True)
class Captions:
    """The texts for an image, register by register."""

    captions: tuple[Caption, ...]


def images_of(pairs: Pairs) -> list[Image]:
    """The images of the pairs as cases."""
    return [Image(name, data) for name, data in zip(pairs.image_ids, pairs.images, strict=True)]


def captioning_game(prompts: Mapping[str, str], *, max_tokens: int = MAX_TOKENS) -> Game[Image, Captions]:
    """The game; `prompts` are those of `captioning.read_prompts`."""
    return Game(
        name="captioning",
        roles=(ROLE,),
        case_id=lambda image: image.image_id,
        play=partial(_play, prompts=prompts, max_tokens=max_tokens),
        transcript=_transcript,
        scores=_scores,
        settings={
            "prompts": {PROMPTS[register]: words_digest(text) for register, text in prompts.items()},
            "max_tokens": max_tokens,
        },
    )


async def _play(image: Image, ask: Ask, *, prompts: Mapping[str, str], max_tokens: int) -> Captions:
    said = []
    for register in REGISTERS:
        message = Message("user", prompts[register], (image.data,))
        answer = await ask(ROLE, [message], temperature=0, max_tokens=max_tokens)
        said.append(Caption(register, prompts[register], answer.text.strip(), answer.stop))
    return Captions(tuple(said))


def _transcript(image: Image, said: Captions) -> list[Message]:
    messages: list[Message] = []
    for one in said.captions:
        messages += [Message("user", one.prompt, () if messages else (image.data,)), Message("assistant", one.text)]
    return messages


def _scores(said: Captions) -> dict[str, float]:
    """FKGL of each register if there is a word, and whether a text is empty or was cut at the limit."""
    shown: dict[str, float] = {}
    for one in said.captions:
        shown[f"empty, {one.register}"] = float(not one.text)
        shown[f"truncated, {one.register}"] = float(one.stop == "max_tokens")
        try:
            if readability.in_english(one.text):
                shown[f"FKGL, {one.register}"] = float(readability.measure([one.text])["FKGL"][0])
        except MissingExtra:  # the extra `language`
            continue
    return shown
