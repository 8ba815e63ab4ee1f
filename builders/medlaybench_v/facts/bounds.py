"""How exactly an amount is told: about, at least, at most, a little more or less.

>>> from builders.medlaybench_v.facts.reading import read
>>> bound_of(read("no more than 5 mm"), 3, 4), bound_of(read("5 mm or so"), 0, 1), bound_of(read("of 5 mm"), 1, 2)
('<', '~', '')
"""

from __future__ import annotations

from builders.medlaybench_v.facts.reading import Reading

ABOVE, BELOW, DECADE = "a little more", "a little less", "decade"
_ABOUT = frozenset(
    "about around roughly approximately nearly almost some approx circa ca close good bare barely".split()
)
_MORE = frozenset(
    "over above exceed exceeds exceeding exceeded more greater larger bigger beyond > ≥ least hotter".split()
)
_LESS = frozenset("under below less smaller fewer < ≤ most within cooler up".split())
_NOT = frozenset("no not none never nor".split())
_SLIGHTLY = frozenset("bit little slightly just".split())
_EXTREMES = {"most": "<", "least": ">"}
_BETWEEN = frozenset("than to of a an the just little slightly bit only as was is at no not by - than held".split())


def bound_of(reading: Reading, first: int, last: int) -> str:
    """What the words around an amount say of it: ">", "<", "~" (about), `ABOVE` or `BELOW`; "" where it is exact."""
    before = reading.texts[max(0, first - 4) : first]
    for j in range(len(before) - 1, -1, -1):
        word, ahead = before[j], before[max(0, j - 1) : j]
        if word in _ABOUT:
            return BELOW if word in ("nearly", "almost") else "~"
        if word == "short" and before[j + 1 : j + 2] == ["of"]:
            return BELOW
        if word in _MORE or word in _LESS:
            if word in ("over", "under", "more", "less") and not _SLIGHTLY.isdisjoint(ahead):
                return ABOVE if word in ("over", "more") else BELOW
            if word == "up" and before[j + 1 : j + 2] != ["to"]:
                continue
            none_of = reading.word(first - len(before) + j - 3) == "none" and before[max(0, j - 2) : j - 1] == ["of"]
            turned = none_of or not _NOT.isdisjoint(before[max(0, j - 2) : j])
            return ">" if (word in _MORE) is not turned else "<"
        if word not in _BETWEEN:
            break
    for j in range(last + 1, last + 4):  # "four stones at most", and not "four, at least one of them"
        ends = not reading.word(j + 2) or reading.gaps[j + 2] != " "
        if reading.word(j) == "at" and ends and reading.word(j + 1) in _EXTREMES:
            return _EXTREMES[reading.word(j + 1)]
    following, behind = reading.word(last + 1), reading.word(last + 2)
    if (following, behind) == ("and", "more"):
        return ">"
    if following == "or":
        if behind in ("so", "thereabouts"):
            return "~"
        if behind in _MORE or behind == "longer":
            return ">"
        if behind in _LESS or behind == "shorter":
            return "<"
    return ""
