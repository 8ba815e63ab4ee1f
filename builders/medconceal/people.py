"""Made-up names: first and last names are drawn separately, so that no pair is a real person's."""

from __future__ import annotations

import random
from functools import cache

from loaders.files.bundled import grouped
from loaders.spans import words

SEXES = ("female", "male")
_KINDS = dict.fromkeys(("female", "f", "woman", "girl"), SEXES[0]) | dict.fromkeys(
    ("male", "m", "man", "boy"), SEXES[1]
)
"""A sex as models and posters word it, on which the first name depends."""


@cache
def people() -> dict[str, list[str]]:
    """The names to draw from: first names under the sex, and last names."""
    rows = grouped("builders.medconceal", "people.csv")
    return {part: [row["value"] for row in rows[part]] for part in rows}


def made_up_name(key: str, sex: str) -> str:
    """A name that nobody chose and that reveals nothing, always the same for the same key."""
    draw = random.Random(f"name {key}")
    said = {_KINDS[word] for word in words(sex) if word in _KINDS}
    kind = said.pop() if len(said) == 1 else draw.choice(SEXES)
    return f"{draw.choice(people()[kind])} {draw.choice(people()['last'])}"
