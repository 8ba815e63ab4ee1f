"""Body parts that a lay caption names and the expert caption does not: put in another's place, reached, or beside."""

from __future__ import annotations

from builders.medlaybench_v.facts.binding import Placed, turned
from builders.medlaybench_v.facts.denied_places import also, signs_of_places
from builders.medlaybench_v.facts.explanations import is_explained
from builders.medlaybench_v.facts.outcome import Basis
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import (
    ANATOMY,
    Said,
    concepts_of,
    implied,
    implied_by_all,
    kind_of,
    named_by_phrases,
    senses,
)
from builders.medlaybench_v.facts.wordings import root
from builders.medlaybench_v.facts.words import by_value

# Structures of one rank: who names one of them means none of the others.
_RANKS = tuple(by_value("ranks").values())
_RANKED = frozenset().union(*_RANKS)


def replaced_by_rank(expert: Reading, lay: Reading, unfamiliar: list[Said], allowed: Reading) -> list[str]:
    """A structure that gave way to another of its rank: the duct of the pancreas to that of the bile."""
    unknown = (_RANKED & implied_by_all(unfamiliar)) - expert.get(concepts_of)
    if not unknown:
        return []
    unknown -= allowed.get(named_by_phrases)
    here, there = expert.get(_named), lay.get(_named)
    found = []
    for rank in _RANKS:
        ours, theirs = here & rank, there & rank
        if rank is _RANKS[0]:  # the portal vein is a vein
            ours, theirs = expert.get(concepts_of) & rank, lay.get(concepts_of) & rank
        lost = ours - frozenset().union(*map(implied, there))
        new = theirs & unknown
        if lost and new:
            found.append(f"{sorted(lost)[0]} became {sorted(new)[0]}")
    return found


# Large parts that everybody knows by one name: no paraphrase of one is another.
_ORGANS = frozenset(
    "liver spleen pancreas kidney gallbladder adrenal thyroid prostate lung brain ovary breast heart bladder uterus "
    "stomach esophagus shoulder elbow wrist hip knee ankle foot hand spine eye ear nose tongue jaw testicle placenta "
    "tooth bowel colon".split()
)
# Parts that another one may be told by, in a caption told anew: the iliac vein by "the pelvis".
_PLACES = (
    _ORGANS
    | frozenset(
        "abdomen chest pelvis neck groin armpit arm leg thigh calf forearm skull rib sternum collarbone femur tibia "
        "fibula humerus radius ulna kneecap duodenum appendix vagina aorta throat finger toe thumb sacrum "
        "pituitary".split()
    )
    | {"shoulder blade", "small bowel", "lymph node"}
)


def place_replaced(expert: Reading, lay: Reading, unfamiliar: list[Said], allowed: Reading) -> tuple[str, Basis] | None:
    """A body part that gave way to another one, in the whole caption or where the same is said of both."""
    new = {x.concept for said in unfamiliar for x in said.senses if x.concept in _PLACES and not _is_beside(lay, said)}
    new -= expert.get(concepts_of) | allowed.get(named_by_phrases) if new else frozenset()
    if not new:
        return None
    here = expert.get(_named)
    lost = (here & _PLACES) - lay.get(concepts_of)
    pairs = [(one, other) for one in sorted(lost) for other in sorted(new)]
    turn = turned(expert, expert.get(_placed), lay, [place for place in lay.get(_placed) if place.value in new | here])
    if turn and turn.theirs.value in new:
        pairs.append((turn.ours.value, turn.theirs.value))
    replaced = [
        (f"{one} became {other}", Basis.CONTRADICTED if {one, other} <= _ORGANS else Basis.READ)
        for one, other in pairs
        if one not in implied(other)
    ]
    return min(replaced, key=lambda found: found[1] is Basis.READ, default=None)


def _is_beside(lay: Reading, said: Said) -> bool:
    """Whether a body part tells a direction: "toward the arm", "on the side of the thumb"."""
    before = lay.texts[max(0, said.first - 3) : said.first]
    return not _TOWARDS.isdisjoint(before) or lay.texts[max(0, said.first - 4) : said.first][-4:-1] == _AT_SIDE


_TOWARDS = frozenset("toward towards nearest nearer facing".split())
_AT_SIDE = ["side", "of", "the"]


def _placed(reading: Reading) -> list[Placed]:
    """The body parts that a caption names, each with its place."""
    said = ((x.concept, s.first, s.last) for s in reading.get(senses) for x in s.senses if x.concept in _PLACES)
    return [Placed(*place) for place in said]


def reached_parts(expert: Reading, lay: Reading, unfamiliar: list[Said]) -> list[str]:
    """What a finding is said to do to a body part that the expert caption does not speak of: "press on the gullet"."""
    known = expert.get(concepts_of)
    if known & _EFFECTS:
        return []
    found = []
    for said in unfamiliar:
        if not _is_elsewhere(said, known):
            continue
        if is_explained(lay, said.first):
            continue
        before = lay.texts[max(0, said.first - 6) : said.first]
        verb = next((i for i, word in enumerate(before) if root(word) in _REACHES), -1)
        also = [i for i, word in enumerate(before) if word in ("and", "also")]
        listed = also and "in" in before[also[-1] :] and set(before[also[-1] + 1 :]) <= _FEW
        if (verb >= 0 and set(before[verb + 1 :]) <= _UP_TO) or listed:
            start = max(0, said.first - 6) + max(verb, also[-1] if listed else 0)
            found.append(lay.between(start, said.last))
    return found


def one_more_told(expert: Reading, lay: Reading, unfamiliar: list[Said]) -> list[str]:
    """Body parts of which the lay caption alone tells one more finding: "the nerves are stretched, too"."""
    if not unfamiliar or not lay.get(also):
        return []
    known = expert.get(concepts_of)
    named = {sense.concept for said in unfamiliar for sense in said.senses}
    parts = lay.get(also) & {part for part in named if kind_of(part) == ANATOMY and _is_beyond(part, known)}
    return [f"{part} too" for part in sorted(parts) if lay.get(signs_of_places).get(part) == {1}]


def _is_elsewhere(said: Said, known: frozenset[str]) -> bool:
    concepts = {sense.concept for sense in said.senses}
    if concepts & known or concepts & _TISSUES or not all(kind_of(c) == ANATOMY for c in concepts):
        return False
    return all(_is_beyond(c, known) for c in concepts)


def _is_beyond(concept: str, known: frozenset[str]) -> bool:
    """Whether a body part is no known one, and no part of one."""
    return concept not in known | _TISSUES and not (implied(concept) - _REGIONS - _TISSUES) & known


_EFFECTS = frozenset(("compression", "spread", "displaced", "metastasis"))
_REACHES = frozenset("reach press push spar touch irritat squeez invad threaten affect compress".split())
_UP_TO = frozenset("into on onto against the as far to up down its his her both nearby upon".split())
_FEW = frozenset("a few some several many one others more another also in the both his her".split())
_TISSUES = frozenset("wall cavity fat bone body muscle joint vessel gland duct skin lobe septum".split()) | {
    "soft tissue"
}
_REGIONS = frozenset("body chest abdomen pelvis head neck leg arm artery vein spine lung".split())


def _named(reading: Reading) -> frozenset[str]:
    return frozenset(sense.concept for said in reading.get(senses) for sense in said.senses)
