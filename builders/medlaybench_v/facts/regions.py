"""Organs of another region of the body than all that the expert caption speaks of: "the basilar artery", "the liver".

A paraphrase may name a neighbour ("the gullet" in a caption of the stomach), and hardly an organ from elsewhere. Of
1,313 faithful captions in which a program replaced an organ, 259 more are seen so, and 2 of 1,714 faithful pairs.
"""

from __future__ import annotations

from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import Said, implied
from builders.medlaybench_v.facts.words import table

_REGIONS = frozenset("head neck chest abdomen pelvis arm leg".split())
# Organs that everybody knows by one name, which hardly means anything else: no "hand", "eye" or "foot".
_ORGANS = frozenset(
    "liver spleen pancreas kidney gallbladder adrenal thyroid prostate lung brain ovary breast heart bladder uterus "
    "stomach esophagus elbow wrist hip knee ankle ear nose tongue jaw testicle tooth bowel colon duodenum appendix "
    "skull collarbone femur tibia fibula humerus radius ulna kneecap throat thigh forearm calf".split()
)
# What a finding or a vessel also tells of: whose pregnancy it is, where an artery leads to.
_TELLS_OF = table("organs told of")


def elsewhere(
    lay: Reading, unfamiliar: list[Said], known: frozenset[str], told: frozenset[str], *, all_known: bool
) -> list[Said]:
    """What a lay caption names of another region than what is `known` of; nothing if no region is known.

    `told` is what the lay caption speaks of. A term of the expert caption that no table knows (not `all_known`) may
    be of another region itself, unless the lay caption tells nothing of the known ones.
    """
    known |= {_TELLS_OF[concept] for concept in known & _TELLS_OF.keys()}
    regions = _REGIONS & frozenset().union(*map(implied, known))
    if not regions or not (all_known or regions.isdisjoint(told)):
        return []
    return [said for said in unfamiliar if _is_elsewhere(lay, said, known, regions)]


def _is_elsewhere(lay: Reading, said: Said, known: frozenset[str], regions: frozenset[str]) -> bool:
    concept = said.senses[0].concept
    if len(said.senses) > 1 or concept not in _ORGANS or concept in known:
        return False
    behind = said.last + 1
    if lay.texts[behind : behind + 1] == ["of"] or "-" in (lay.gaps[said.first], *lay.gaps[behind : behind + 1]):
        return False  # "the neck of the gallbladder", "a nose-to-stomach tube"
    return implied(concept).isdisjoint(regions)
