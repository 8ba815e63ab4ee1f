"""The doctor's settings (specification S4).

The six settings of Table 5 differ in one thing from one to the next; `dialogue+image+cues` is an ablation of ours that
gives the cues without asking for a rationale (3M-G18).
"""

from __future__ import annotations

from dataclasses import dataclass

from loaders.errors import InputError


@dataclass(frozen=True, slots=True)
class Setting:
    """What the doctor gets and is asked for. Without a dialogue it answers once, to complaints shown all at once.

    `label` is its name in Tables 5 and 6; the last one is in no table of the paper.
    """

    name: str
    label: str
    dialogue: bool = True
    image: bool = True
    additional: bool = False
    rationale: bool = False
    cues: bool = False


SETTINGS = {
    setting.name: setting
    for setting in (
        Setting("image+basic", "no dialogue, image + general complaint", dialogue=False),
        Setting("image+all", "no dialogue, image + all complaints", dialogue=False, additional=True),
        Setting("dialogue", "dialogue, no image", image=False),
        Setting("dialogue+image", "dialogue + image"),
        Setting("dialogue+image+rationale", "dialogue + image + rationale", rationale=True),
        Setting(
            "dialogue+image+rationale+cues", "dialogue + image + rationale + external cues", rationale=True, cues=True
        ),
        Setting("dialogue+image+cues", "dialogue + image + external cues", cues=True),
    )
}
PAPER = tuple(name for name in SETTINGS if name != "dialogue+image+cues")


def setting_named(name: str) -> Setting:
    """The setting of that name. Raises InputError for any other."""
    if name not in SETTINGS:
        raise InputError("setting", found=repr(name), expected="one of " + ", ".join(SETTINGS))
    return SETTINGS[name]
