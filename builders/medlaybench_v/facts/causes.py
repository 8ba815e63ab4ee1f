"""Causes that the lay caption alone tells of: "caused by", "because of", "to blame"."""

from __future__ import annotations

import re

from builders.medlaybench_v.facts.certainty import POSSIBLE, PROBABLE, degrees
from builders.medlaybench_v.facts.explanations import definitions
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import concepts_of, kind_of, senses

_OPINIONS = frozenset((PROBABLE, POSSIBLE))
_CAUSES = re.compile(
    r"\bdue to\b|\bcaused by\b|\bbecause of\b|\bcomes? from\b|\bcame from\b|\bas a result\b|\bis the reason\b|"
    r"\bare the reason\b|"
    r"\bresults? from\b|\bresulting\b|\bbrought on by\b|\bresult of\b|\bowing to\b|\bled to\b|\bthanks to\b|"
    r"\bsecondary to\b|\bbrought (?:\w+ ){1,2}on\b|"
    r"\bstem(?:s|med)? from\b|\bafter years of\b|\bto blame\b|\bis the cause\b|\bthe culprit\b|\btriggered by\b|"
    r"\barising from\b|"
    r"\b(?:has|have|had) made (?:the|his|her|him)\b|"
    r"\bcaus(?:es|ing|ed)\b|\bprobably from\b|\blikely from\b"
)
# By these an expert tells of a cause, too; which is the cause of which, other words have to tell.
_TOLD_CAUSES = re.compile(
    r"\baccount(?:s|ed|ing)? for\b|\bexplain(?:s|ed|ing)?\b|\bresponsible for\b|\brequir(?:es|ed|ing)\b|\bnecessitat|"
    r"\binduced\b|\bpathologic(?:al)? fracture|\bdisplac(?:e|es|ing)\b"
)
_ORIGIN = re.compile(r"\b(?:vein|artery|vessel|duct|nerve|branch|tube|muscle|tendon)s? (?:that|which)? ?$")
# One of these stands in whatever `_CAUSES` finds.
_CAUSE_WORDS = frozenset(
    "due caused because come comes came result results resulting reason brought owing led thanks secondary stem stems "
    "stemmed years blame cause culprit triggered arising made causes causing probably likely".split()
)
# "Thanks to a CT scan", "what caused them is not known", "caused by the dye" of an artefact: no cause of a finding.
_LETTERS = re.compile(r"[a-z]+")
_PICTURED = frozenset(
    "ct mri scan scans ultrasound ray rays image images picture pictures dye contrast artefact".split()
)
_PERSON = frozenset("man woman boy girl child baby infant newborn patient person someone somebody".split())
_UNKNOWN = frozenset("known unknown unclear clear knows tell told certain said".split())
NEGATED = frozenset("not unknown unclear cannot no nobody nothing none".split())
OF_THE_CASE = frozenset("finding disease treatment symptom outcome cause device advice".split())


def caused(expert: Reading, lay: Reading) -> list[str]:
    """The words by which the lay caption alone tells of a cause."""
    if _CAUSE_WORDS.isdisjoint(lay.bag):
        return []
    if _CAUSES.search(expert.lower) or _TOLD_CAUSES.search(expert.lower):
        return []
    if any(d.value in _OPINIONS for d in expert.get(degrees)):
        return []
    found = []
    for match in _CAUSES.finditer(lay.lower):
        behind = set(_LETTERS.findall(lay.lower, match.end(), match.end() + 60)[:7])
        of_the_picture = bool(behind & _PICTURED or (behind & _UNKNOWN and behind & NEGATED))
        of_the_picture |= lay.lower.startswith(" no ", match.end())  # "which causes no complaints"
        if match[0].endswith("from"):  # "this CT slice comes from a man of 53"
            of_the_picture |= bool(behind & _PERSON)
        explained = any(a <= match.start() < b for a, b in lay.get(definitions))
        if _ORIGIN.search(lay.lower, max(0, match.start() - 30), match.start()) and match[0].endswith("from"):
            continue  # "the vein that comes from the spleen"
        if not of_the_picture and not explained and not _is_known_cause(expert, lay, match):
            found.append(match[0])
    return found


def _is_known_cause(expert: Reading, lay: Reading, match: re.Match[str]) -> bool:
    """Whether what follows "because of" is a finding or a deed that the expert caption names: "taken out because of a
    tumor" of "nephrectomy for a tumor"."""
    if not _RELATED.isdisjoint(expert.bag):
        return False  # of two things that it relates, the lay caption may name the wrong one as the cause
    known = expert.get(concepts_of)
    behind = [s for s in lay.get(senses) if 0 <= lay.starts[s.first] - match.end() < _NEXT]
    told = [x.concept for s in behind for x in s.senses if kind_of(x.concept) in OF_THE_CASE]
    return bool(told) and told[0] in known


_RELATED = frozenset("resulted related attributed attributable".split())
_NEXT = 40  # characters in which what follows a cause is named
