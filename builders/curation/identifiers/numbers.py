"""Numbers that belong to one person: dates, high ages, and numbers of records, identity papers, cards and cars."""

from __future__ import annotations

import re
from functools import partial

from builders.curation.identifiers.rules import part, rule

_date = partial(rule, "date")
_age = partial(rule, "age")
_number = partial(rule, "number")

OLDEST = 89
"""Higher ages are given as "over 89": there are too few people of each."""

# --- Dates ------------------------------------------------------------------------------------------------------------

_MONTH = rf"{part('month')}\.?"
_DAY = part("day of a month")
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_SHORT = r"['’]?\d{2}"
_OF_BIRTH = rf"\b{part('date of birth')}"
_EVENT = rf"\b{part('event')}"
# "5 march" is a date; a number before a unit is not.
_NO_UNIT = rf"(?!\s?{part('no day')}\b)"


def _year(match: re.Match[str]) -> str:
    return match.groupdict().get("year") or "[date]"


DATES = (
    _date(
        rf"(?P<before>{_OF_BIRTH}(?:\s(?:is|was|on|:|=|in|the|,)){{0,3}}[\s:=,–-]{{0,4}})"
        rf"(?: (?:{_DAY}\s(?:of\s)?{_MONTH}|{_MONTH}\s(?:the\s)?{_DAY})(?:,?\s(?:(?:19|20)\d\d|{_SHORT}))?(?!\w)"
        r"| \d{6,8}\b | \d{1,4}\s?[-/.\ ]\s?\d{1,2}(?:\s?[-/.\ ]\s?(?:(?:19|20)\d\d|\d{1,2}))?(?![\w/]))",
        r"\g<before>[date]",
    ),
    _date(
        rf"(?P<before>{_EVENT}(?:\s(?:is|was|on|for|the|of|from)){{0,3}}\s)\d{{1,2}}[/.]\d{{1,2}}(?![\w/%]"
        r"|\.\d|\s?(?:mg|ml|mmhg|pain|times))",
        r"\g<before>[date]",
    ),
    _date(rf"\b{_DAY}\s(?:of\s|de\s)?{_MONTH},?\s(?:of\s|de\s)?{_YEAR}\b", _year),
    _date(rf"\b{_MONTH}\s(?:the\s)?{_DAY},?\s{_YEAR}\b", _year),
    _date(rf"\b{_MONTH},?\s{_YEAR}\b", _year),
    _date(rf"\b\d{{1,2}}[-/\s.]{_MONTH}[-/\s.](?:{_YEAR}|{_SHORT})\b", _year),
    _date(rf"\b{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}\b", _year),
    _date(rf"(?<![\w.])\d{{1,2}}\s?[-/.]\s?\d{{1,2}}\s?[-/.]\s?{_YEAR}\b", _year),
    _date(r"(?<![\w./-])\d{1,2}/\d{1,2}/\d{2}(?![\w./-])", _year),
    _date(r"(?<![\w./-])(?:0?[1-9]|[12]\d|3[01])([.-])(?:0?[1-9]|1[0-2])\1\d{2}(?![\w./-])", _year),
    _date(rf"\b{_DAY}\s(?:of\s)?{_MONTH}\s['’]\d{{2}}\b | \b{_MONTH}\s{_DAY},?\s['’]\d{{2}}\b", _year),
    _date(
        rf"\b(?!(?:second|third|first)\smar)\b{_DAY}\s(?:of\s)?(?!mar\b|may\s(?:be|have|not|need|help"
        rf"|also)|dec\b|sep\b){_MONTH}(?![\w-])",
        _year,
    ),
    _date(
        rf"\b(?!mai\b|mars\b){_MONTH}\s(?:the\s)?(?!(?:first|second"
        rf"|third)\b){_DAY}\b{_NO_UNIT}(?!\s(?:of|in)\s)(?!\.\d)",
        _year,
    ),
)

# --- Ages -------------------------------------------------------------------------------------------------------------

_OLD = r"(?:9\d|1[01]\d)"
AGES = (
    # "4 x 100 m" is a distance.
    _age(
        rf"(?<![x×]\s)\b(?!1\d\d\sm\b){_OLD}(?=[-\s]?(?:years?[-\s]old|yrs?[-\s]old|y[./]?o\b|year-old|[mf]\b(?!\w)))",
        f"over {OLDEST}",
    ),
    _age(rf"\b{part('high age in words')}(?=[-\s](?:years?[-\s]old|yrs?[-\s]old))", f"over {OLDEST}"),
    _age(
        rf"\b(aged?\s(?:of\s|is\s|at\s)?|turn(?:s|ed|ing)\s|lived\sto\s(?:be\s)?"
        rf"|died\sat\s(?:age\s)?){_OLD}\b(?!\s?(?:%|mg|kg))",
        rf"\1over {OLDEST}",
    ),
    _age(
        rf"\b((?:he|she|gran(?:ny|dma|dpa)?|mother|father|mum|mom|dad|aunt|uncle|i(?=.{{2,3}}\s9))(?:'[sm]|’[sm]|\sis|\sam|\swas|,"
        rf"|\s\()\s?){_OLD}(?=\s?(?:[.,;!?)]|and\b|now\b|in\b|$))",
        rf"\1over {OLDEST}",
    ),
)

# --- Numbers of records, papers, cards, cars --------------------------------------------------------------------------

_NUMBER = r"(?:\s?(?:no\.?|nr\.?|num(?:ber)?s?|\#|id(?:entifier)?|ref(?:erence)?|code))"
_IS = r"(?:\s?(?:is|was|[:=\#,-]|\(|ending(?:\sin)?|starts?\swith|on\smy\s\w+)){0,3}\s*"
_TOKEN = (
    r"(?=[a-z/\s.-]{0,8}\d)(?:[a-z]{1,3}\s)?[a-z]{0,5}[./-]?\d[\da-z]{0,20}(?:[\s./-]?(?=[a-z]{0,3}"
    r"\d|\d)[a-z]{0,3}\d[\da-z]{0,20}|[/-][\da-z]{1,20}){0,6}(?:[\s-]?[a-z]{1,3}\b(?<=[\s-][A-Z]))?"
)
_LAST_OF = part("last digits of")
_FEW = r"(?:four|five|six|[456])"
_NO_DOSE = rf"(?!\s?{part('no record')}\b)"
# Compounds without a name yet consist of the maker's letters and a number.
_COMPOUND = rf"(?!{part('maker of a compound')}[\s-]?\d)"
RECORDS = (
    # Wallets, keys and what else is too long to be a word or a dose.
    _number(r"(?<!\w)(?=\d*[a-z])(?=(?:[a-z]*\d){3})[a-z0-9]{24,}(?!\w) | (?<![\w-])[\w-]{3,63}\.eth\b"),
    _number(r"(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)"),
    _number(
        r"\b((?i:pnr|record\slocator|(?:booking|reservation|confirmation)\s(?:ref(?:erence)?|code|number|no\.?))"
        r"(?i:\s?(?:is|was|[:=\#,(])){0,2}\s*)[A-Z0-9]{5,12}\b",
        r"\1[number]",
        cased=True,
    ),
    _number(
        r"\b((?i:code|ref(?:erence)?|id|number|no\.?|nr\.?)(?i:\s?(?:is|was|[:=\#])){0,2}\s)"
        r"(?=\d*[A-Z])(?=[A-Z]*\d[A-Z]*\d)[A-Z0-9]{7,16}\b",
        r"\1[number]",
        cased=True,
    ),
    _number(
        r"\b((?:password|pass\s?code|pwd)(?:\s(?:is|was)|\s?[:=])?\s?)(?=\S{0,30}\d)[^\s\[\]]{3,40}[^\s\[\].,;:!?)]",
        r"\1[number]",
    ),
    _number(
        r"\b((?i:flight)(?i:\s?(?:no\.?|number|is|was|[:=\#])){0,2}\s*)(?!A3\d\d|B7\d\d)[A-Z][A-Z0-9]\s?\d{2,4}\b",
        r"\1[number]",
        cased=True,
    ),
    _number(
        rf"\b((?:{part('plate of a car')})(?:\s(?:number|is|was|reads?|no\.?|with|my))*[\s:=,(]*[\"“'‘]?)"
        r"(?![CTLS]\d{1,2}\b)(?=[A-Z0-9ÄÖÜ\s-]*\d)(?=[A-Z0-9ÄÖÜ\s-]*[A-ZÄÖÜ])[A-Z0-9ÄÖÜ]{1,8}(?:[\s-][A-Z0-9]{1,5}){0,3}"
        r"(?![A-Za-z0-9])(?<=[A-Z0-9]{2})",
        lambda m: m[1] + _if_long(m[0][len(m[1]) :], 4, 10),
        cased=True,
    ),
    _number(
        rf"\b({part('number of one person')}{_NUMBER}?(?![a-z])(?:'s|’s)?{_IS})(?!\d{{1,3}}\b(?!\s?[a-z]*\d))"
        rf"{_TOKEN}{_NO_DOSE}",
        lambda m: m[1] + _if_long(m[0][len(m[1]) :], 4),
    ),
    # After these words a number often belongs to nobody, so it must be called a number.
    _number(
        rf"\b({part('number of somebody')}{_NUMBER}(?![a-z]){_IS}){_TOKEN}{_NO_DOSE}",
        lambda m: m[1] + _if_long(m[0][len(m[1]) :], 3),
    ),
    # A part of a number, by which the whole one is known: "my card ending 4471", "the last four of my social: 6789".
    _number(
        rf"\b((?:{_LAST_OF}(?:\s?(?:number|no\.?))?\s(?:that\s)?end(?:s|ing)(?:\s(?:in|with|on))?"
        rf"|last\s{_FEW}\sdigits?(?:\s[a-z'’]+){{0,7}}?|last\s{_FEW}\s(?:of|on)\s(?:\w+\s){{1,2}}?{_LAST_OF}"
        rf"|{_LAST_OF}(?:['’]s)?,?\s(?:\w+\s)?last\s{_FEW})(?:\s(?:is|are|was|were))?\s?[:=(,]?\s?)"
        rf"[x*]{{0,12}}\d{{4,6}}\b(?!\.\d|,\s?\d)",
        r"\1[number]",
    ),
    # "The ticket that they gave me is", "the number on my wristband says".
    _number(
        rf"\b({part('told number')}(?:\s[a-z'’]+){{0,4}}?\s?(?:\sis|\swas|\ssays|\sreads|\ssaid|[:=\#])\s?\#?)"
        rf"(?=(?:[a-z/-]{{0,5}}\d){{4}}){_TOKEN}(?!\.\d|\s?steps){_NO_DOSE}",
        lambda m: m[1] + _if_long(m[0][len(m[1]) :], 6),
    ),
    _number(
        rf"(?!(?<=[a-z],\s)ID\s\d{{5}}\b)\b({part('number of a file')}\.?(?![a-z]){_IS}){_TOKEN}{_NO_DOSE}",
        lambda m: m[1] + _if_long(m[0][len(m[1]) :], 5),
    ),
)
_DEGREES = r"-?\d{1,3}\.\d{3,8}\s?°?"
LONG = (
    _number(r"(?<!\w)\#\s?\d{4,}[\d-]*\b"),
    _number(r"\b(?=[A-Z0-9/]*[A-Z])(?=[A-Z0-9/]*\d{4})[A-Z0-9]{1,12}(?:/[A-Z0-9]{1,12}){2,4}\b", cased=True),
    _number(r"\b[A-CEGHJ-PR-TW-Z]{2}\s?\d{2}\s?\d{2}\s?\d{2}\s?[A-D]\b", cased=True),
    _number(
        r"\b[A-Z]{2}\d{2}\s?[A-Z]{3}\b", lambda m: m[0] if re.search(r"MG|ML|IU|KG", m[0]) else "[number]", cased=True
    ),
    _number(
        rf"(?<![\w-]){_COMPOUND}(?=[A-Z0-9-]{{0,30}}[A-Z])(?=(?:[A-Z-]{{0,12}}\d){{5}})[A-Z0-9]{{1,30}}"
        rf"(?:-[A-Z0-9]{{1,20}}){{0,5}}(?![\w-])",
        cased=True,
    ),
    _number(rf"(?<![\w-]){_COMPOUND}[a-z]{{1,3}}-?\d{{5,}}\b(?!\s?(?:mg|iu|steps))", cased=True),
    _number(r"(?<![\w.])(?:\d[ -]?){7,40}\d(?![\w.]\w)(?!\w)"),
    _number(r"(?<![\w.,])\d{2,4}(?:[./-]\d{2,5}){2,6}(?!\w|,\d)", lambda m: _if_long(m[0], 8)),
    _number(r"(?<![\w.,/-])-?\d{1,3}\.\d{4,}\s?°?\s?[NS]?\s?,\s?-?\d{1,3}\.\d{4,}\s?°?\s?[EW]?"),
    _number(
        rf"(?<!\w)(?:[NS]\s?{_DEGREES}[\s,;/]{{1,3}}[EW]\s?{_DEGREES}"
        rf"|{_DEGREES}\s?[NS][\s,;/]{{1,3}}{_DEGREES}\s?[EW]\b)"
    ),
    _number(
        r"(?<![\w.])\d{1,3}\s?[°º]\s?\d{1,2}(?:\.\d{1,6})?\s?['′’]"
        r"(?:\s?\d{1,2}(?:\.\d{1,6})?\s?(?:[\"″”]|''))?\s?[NSEWO]\b"
    ),
    _number(
        r"\b((?:gps|coord(?:inate)?s?|lat(?:itude)?|geo|location)\b[^\d\n]{0,20}?)"
        r"-?\d{1,3}\.\d{2,8}[\s,;/]{1,3}(?:lon\w*[\s:=]{1,3})?-?\d{1,3}\.\d{2,8}",
        r"\1[number]",
    ),
)


def _if_long(said: str, least: int, most: int = 200) -> str:
    """The mark of a number if it has enough letters and digits, otherwise the text itself."""
    return "[number]" if least <= sum(map(str.isalnum, said)) <= most and any(map(str.isdigit, said)) else said


# Two small letters before a blank are a word: "on 14.03.87 and 14-03-87 it".
_IBAN = r"(?<!\w)(?!(?-i:[a-z]{2}\s))[a-z][\s.-]?[a-z](?:[\s.-]{0,2}\d){2}(?:[\s.–-]{0,2}[a-z0-9]){11,30}(?!\w)"


def _if_iban(match: re.Match[str]) -> str:
    """The mark of a number in place of an account's, however it is spaced; what follows it stays."""
    ends = [at for at in range(match.end(), match.start(), -1) if not match.string[at : at + 1].isalnum()]
    for end in ends:
        said = re.sub("[^A-Z0-9]", "", match.string[match.start() : end].upper())
        moved = "".join(str(int(sign, 36)) for sign in said[4:] + said[:4])
        if 15 <= len(said) <= 34 and 2 * sum(map(str.isdigit, said)) >= len(said) and int(moved) % 97 == 1:
            return f"[number]{match.string[end : match.end()]}"
    return match[0]


ACCOUNTS = (
    _number(_IBAN, _if_iban),
    _number(r"\b[A-Z]{2}\d{2}(?:\s?[A-Z0-9]{4}){3,7}(?:\s?[A-Z0-9]{1,3})?\b", cased=True),
    _number(r"(?<![\w.,+/-])\d{4}(?:[ -]?\d{4}){3}(?!\w|[ .,-]\d)"),
)
"""IBANs and cards: to be masked before all else, which would take a part of their groups."""
