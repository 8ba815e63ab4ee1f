"""The doctor's settings, how texts are sampled, and when a dialogue ends at the latest (specification S2-S4).

The six settings of Table 5 differ in one thing from one to the next; `dialogue+image+cues` is an ablation of ours that
gives the cues without asking for a rationale (3M-G18).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from loaders.errors import InputError

CapMode = Literal["paper", "authors"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What the doctor gets, and what is asked of it. Without a dialogue it answers once to complaints told at once."""

    name: str
    dialogue: bool
    image: bool = True
    additional: bool = False
    rationale: bool = False
    cues: bool = False


class Decoding(TypedDict):
    """How a role's texts are sampled."""

    temperature: float
    max_tokens: int


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("image+basic", dialogue=False),
        Setting("image+all", dialogue=False, additional=True),
        Setting("dialogue", dialogue=True, image=False),
        Setting("dialogue+image", dialogue=True),
        Setting("dialogue+image+rationale", dialogue=True, rationale=True),
        Setting("dialogue+image+rationale+cues", dialogue=True, rationale=True, cues=True),
        Setting("dialogue+image+cues", dialogue=True, cues=True),
    )
}
PAPER = tuple(name for name in SETTINGS if name != "dialogue+image+cues")

DECODING: dict[str, Decoding] = {
    "patient": {"temperature": 0.6, "max_tokens": 256},
    "doctor": {"temperature": 0.6, "max_tokens": 512},
    "assessor": {"temperature": 1e-6, "max_tokens": 512},
}
ROLES = tuple(DECODING)

# An assessor whose answer cannot be read is asked again, and no longer nearly greedily (S2, 3M-G25).
ATTEMPTS = 4
RETRY_TEMPERATURE = 0.6

CAPS: dict[CapMode, int] = {"paper": 28, "authors": 29}
"""Most utterances of a dialogue, the opening included: as the paper says, or as its code plays 14 rounds (3M-G12)."""


def setting_named(name: str) -> Setting:
    """The setting of that name. Raises InputError for any other."""
    if name not in SETTINGS:
        raise InputError("setting", found=repr(name), expected="one of " + ", ".join(SETTINGS))
    return SETTINGS[name]
