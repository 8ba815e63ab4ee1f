"""Whether a sentence may hold a verb of its own."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[a-z]+")
BRACKETS = re.compile(r" ?\([^()]*\)")
_VERB = re.compile(
    r"(?:is|are|was|were|be|been|has|have|had|can|cannot|could|may|might|will|would|should|must|did|does|do|note[sd]?|see|"
    r"notice|shows?|showed|shown|demonstrat(?:es?|ed)|reveal(?:s|ed)?|indicat(?:es?|ed)|suggest(?:s|ed)?|appear(?:s|ed)?|"
    r"represent(?:s|ed)?|mark(?:s|ed)?|denote[sd]?|point(?:s|ed)?|verif(?:y|ies|ied)|arises?|arose|extend(?:s|ed)?|lies?|lay|compress(?:es|ed)|"
    r"displace[sd]?|confirm(?:s|ed)?|depict(?:s|ed)?|illustrate[sd]?|contain(?:s|ed)?|measure[sd]?|underwent|present(?:s|ed)|"
    r"develop(?:s|ed)?|became|becomes?|seem(?:s|ed)?|correspond(?:s|ed)?|allow(?:s|ed)?|provide[sd]?|cause[sd]?|occur(?:s|red)?|"
    r"remain(?:s|ed)?|lead(?:s)?|led|overlap(?:s|ped)?|surround(?:s|ed)?|include[sd]?|obtain(?:s|ed)|compare[sd]?|perform(?:s|ed)|"
    r"use[sd]?|make|makes|made|take[ns]?|took|give[ns]?|go|goes|went|come|comes|came|consist(?:s|ed)?|drain(?:s|ed)|enter(?:s|ed)?|"
    r"run|runs|ran|form|forms|formed|divide[sd]?|join(?:s|ed)?|cross(?:es|ed)|reach(?:es|ed)|touch(?:es|ed)|pass(?:es|ed)|"
    r"increase[sd]?|decrease[sd]?|improve[sd]?|resolve[sd]?|grow[sn]?|grew|heal(?:s|ed)?|move[sd]?|shift(?:s|ed)|turn(?:s|ed)|"
    r"fill(?:s|ed)?|block(?:s|ed)?|narrow(?:s|ed)|widen(?:s|ed)|push(?:es|ed)|press(?:es|ed)|involve[sd]?|affect(?:s|ed)?|"
    r"diagnose[sd]?|receive[sd]?|require[sd]?|need(?:s|ed)?|treat(?:s|ed)|place[sd]|insert(?:s|ed)?|highlight(?:s|ed)?|display(?:s|ed)|relieve[sd]?|shrinks?|remove[sd]|follow(?:s|ed)|"
    r"(?:collect|produce|reverse|continue|stain|obscure|abut|encase|efface|invade|traverse|mimic|resemble|obliterate|erode|"
    r"protrude|originate|terminate|communicate|connect|separate|distend|encircle|occupie|exert|herniate|attache|insert|replace|"
    r"exhibit|favor|favour|reflect|exclude|prove|argue|simulate|penetrate|stretche|disappear|brighten|collapse)s|originated|fell|produced|favou?r|"
    r"courtesy|reprinted|reproduced|adapted|let|we|it|there|this|these|that|which|who|figure|fig)",
    re.IGNORECASE,
)
# Any other verb, told by its object: "characterized a mass".
_WITH_OBJECT = re.compile(
    r"\b(?!need)\w{3,}ed (?:an?|the|no|multiple|several|many) |"
    r"\b\w{3,}[^\W_sui]s (?:an?|the) (?!day|week|month|year|same|time)",
    re.IGNORECASE,
)
_BEFORE_OBJECT = ("ed ", "s the ", "s a")


def has_verb(sentence: str) -> bool:
    """Whether a sentence may hold a verb of its own; an explanation in brackets may hold one, too."""
    outside = BRACKETS.sub("", sentence)
    lower = outside.lower()
    with_object = any(end in lower for end in _BEFORE_OBJECT) and _WITH_OBJECT.search(outside) is not None
    return with_object or any(map(_may_be_verb, _WORD.findall(lower)))


@lru_cache(maxsize=16384)
def _may_be_verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None
