"""Where a lay caption explains a term, and so claims nothing of the patient."""

from __future__ import annotations

import re
from itertools import chain

from builders.medlaybench_v.facts.reading import Reading


def definitions(lay: Reading) -> list[tuple[int, int]]:
    """The stretches that explain a term: parentheses, and what follows "that is", "a name for", "called"."""
    spans = [(m.start(), m.end()) for m in _BRACKETS.finditer(lay.text)]
    for match in chain(_EXPLAINS.finditer(lay.lower), _APPOSED.finditer(lay.lower)):
        if match.lastgroup and not _VERBS.isdisjoint(match[match.lastgroup].split()):
            continue  # ", a clot is sitting in"
        end = _STOP.search(lay.lower, match.end())
        stop = end.start() if end else len(lay.text)
        if not _OF_THE_PATIENT.search(lay.lower, match.end(), stop):  # "a trait that this patient inherited"
            spans.append((match.start(), stop))
    return spans


def is_explained(lay: Reading, i: int) -> bool:
    """Whether word i stands where a term is explained."""
    return any(start <= lay.starts[i] < end for start, end in lay.get(definitions))


_OF_THE_PATIENT = re.compile(r"\bpatient\b(?!['’]s)|\b(?:he|she) (?:has|had|was|is)\b")
_BRACKETS = re.compile(r"\([^)]*\)")
_STOP = re.compile(r"[.;:]")
_EXPLAINS = re.compile(
    r"\bthat is\b|\bthe name for\b|\bwhat doctors\b|\bdoctors (?:call|name)\b|\bknown as\b|\bmeaning\b|\bi\.e\.|"
    r"\bor rather\b|\bof the sort\b|\bthe sort (?:of|that)\b|\bof the kind\b|"
    r"\bthe kind (?:of|that)\b|\bas used\b|\bused (?:to|for|in)\b"
)
_APPOSED = re.compile(
    r", an? (?=(?P<noun>[a-z -]+?) (?:of|that|which|in|for|disorder|disease|cancer|treatment|gland|growth)\b)"
)
_VERBS = frozenset("is are was were has have had lies lie sits sit shows show can could will does do".split())
