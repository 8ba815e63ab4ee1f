"""Where somebody works, learns or is treated: institutions and employers."""

from __future__ import annotations

import re
from functools import partial

from builders.curation.identifiers.rules import CAPITAL, UPPER, part, rule
from builders.curation.identifiers.words import coarse, is_medical, is_no_name, listed

_institution = partial(rule, "institution", cased=True)

NAMES = (
    rf"{CAPITAL}(?:\s(?:of|the|on|de|la|le|du|del|der|den|am|an|and|&|upon|in)(?=\s[{UPPER}])"
    rf"|\s{CAPITAL}){{0,5}}"
)

# A department identifies nobody: "the Pain Clinic".
_GENERAL = rf"(?!{part('general institution')}\s{part('kind of general institution')}\b)"
_INSTITUTIONS = (
    _institution(
        rf"\b{part('institution of')}\s+(?:of|de|del|di|da|do|du|des|der|im|am|für|zu)?\s?(?:the\s+|la\s+|los"
        rf"\s+)?{CAPITAL}(?:\s(?:(?:of|de|del|di)\s)?{CAPITAL}){{0,3}}",
        lambda m: (
            m[0]
            if is_no_name(m[0].split()[-1])
            or is_medical(m[0].split()[-1])
            or (m[0].split()[0] in ("City", "County", "Bank") and " of " not in m[0])
            else "[institution]"
        ),
    ),
    _institution(
        rf"\b{_GENERAL}(?:[{UPPER}][\w'’.&-]{{0,40}})\s+(?:(?:[{UPPER}][\w'’.&-]{{0,40}}|of|the|at|and"
        rf"|for|&)\s+){{0,5}}{part('institution')}\b",
        lambda m: _whose(m[0]),
    ),
    _institution(rf"\bst\.?\s+(?:[a-z]+\s){{0,1}}[a-z]+(?:['’]?s)?\s+{part('institution of a saint')}\b", cased=False),
    _institution(rf"\b{part('famous institution')}\b"),
    _institution(
        rf"\b[{UPPER}][a-zà-ÿ'’]{{1,40}}(?:\s[{UPPER}][a-zà-ÿ'’]+)?\s{part('name of a hospital')}(?:\s"
        r"(?:Hospital|Infirmary))?\b(?!\s[a-z]*(?:anxiety|an[ae]*sthe|ward))",
        lambda m: m[0] if is_no_name(m[0].split()[0]) else "[institution]",
    ),
    _institution(rf"\b{part('patron')}\s{CAPITAL}(?:['’]?s)?(?:\s{part('institution of a patron')})\b"),
)
_EMPLOYERS = (
    _institution(
        rf"\b((?i:at|for|with|from|by|called)\s(?:the\s)?){CAPITAL}(?:\s{CAPITAL})?\s(?:&|and"
        rf"|\+)\s{CAPITAL}(?:\s{CAPITAL})?\b(?=\s|[.,;])",
        lambda m: (
            m[0]
            if any(is_no_name(w) or is_medical(w) for w in m[0][len(m[1]) :].split() if w[0].isupper())
            or (" and " in m[0] and not re.search(r"(?:Sons|Co|Partners|Solicitors|Associates|Daughters)$", m[0]))
            else f"{m[1]}[institution]"
        ),
    ),
    _institution(
        rf"\b((?i:{part('meeting place')})(?:,|\scalled|\snamed)\s(?:the\s)?)(?:The\s)?({NAMES})",
        lambda m: m[0] if is_no_name(m[2].split()[0]) else f"{m[1]}[institution]",
    ),
    _institution(
        rf"\b((?i:{part('job')})(?:\s(?!it\b|it's\b)[a-z-]+){{0,4}}?\s(?i:at|for|with|by|from|in"
        rf"|on\sthe)\s(?i:(?:the|a|an|our|my|local)\s)?)({NAMES})",
        lambda m: m[1] + _employer(m[2], m[1]),
    ),
    _institution(
        rf"\b((?i:(?:my|his|her|our|their)\s(?:current\s|former\s|old\s|previous\s)?{part('employer')})(?:,"
        rf"|\sis|\swas|\s\(|\sat|\swith|\sthrough|:)\s(?:the\s)?)({NAMES})",
        lambda m: m[1] + _employer(m[2], ""),
    ),
    _institution(
        rf"\b((?i:(?:i|he|she|we|they)(?:'m|’m|'re|\sam|\sis|\swas|\swere|\sare)?\s(?:an?\s"
        rf"|the\s)?(?:[a-z]+\s){{0,2}}(?:at|with))\s)({CAPITAL}(?:\s(?:&\s)?{CAPITAL}){{0,3}})(?=\s(?:f"
        rf"or|since|and|in|on|as|where)\b|[.,;])",
        lambda m: m[1] + _employer(m[2], m[1]),
    ),
)


def _whose(said: str) -> str:
    """The mark of an institution, unless its whole name says only what it is, not whose."""
    words = said.split()
    own = [word for word in words[:-1] if word[0].isupper() and not is_no_name(word)]
    return "[institution]" if own and not all(map(is_medical, own)) else said


def _employer(name: str, before: str) -> str:
    first = name.split()[0]
    if first.casefold() in listed("company"):
        return "[institution]"
    if is_no_name(first) or is_medical(first) or (first.isupper() and len(first) > 5) or name.casefold() in coarse():
        return name
    if re.search(r"\b(?:in|from|with|by)\s(?:the\s)?$", before, re.IGNORECASE) and not re.search(
        r"employ", before, re.I
    ):
        return name
    return "[institution]"


INSTITUTIONS = (*_INSTITUTIONS, *_EMPLOYERS)
