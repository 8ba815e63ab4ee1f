"""Explains an abbreviation where it is first used instead of in a key at the end of the caption (ML-G31).

"LV wall motion is normal. LV, left ventricle."  ->  "LV (left ventricle) wall motion is normal."
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.words.abbreviations import without_key


class Part(NamedTuple):
    """A span of the caption; `defines` is the abbreviation that it explains, to be put in parentheses behind it."""

    start: int
    end: int
    defines: str | None = None


def unfold_key(text: str) -> list[Part]:
    """The caption in reading order.

    The caption stays one span when it has no key, or when the key explains something that its body does not use: a
    definition is never dropped.

    >>> [tuple(part) for part in unfold_key("RV is large. RV = right ventricle.")]
    [(0, 2, None), (18, 33, 'RV'), (2, 12, None)]
    """
    body, key = without_key(text)
    if not key:
        return [Part(0, len(body.rstrip()))]
    places: list[tuple[int, Part]] = []
    for short, long in key:
        use = re.search(rf"(?<![\w-]){re.escape(short)}(?![\w-])(?!\s*\()", body)
        # A single letter is found everywhere: "A large mass … A, aorta".
        if use is None or len(short) < 2:
            return [Part(0, len(text))]
        places.append((use.end(), Part(*long, short)))
    parts: list[Part] = []
    at = 0
    for place, definition_part in sorted(places):
        parts += [Part(at, place), definition_part]
        at = place
    return [*parts, Part(at, len(body.rstrip()))]
