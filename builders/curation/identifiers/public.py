"""Numbers that belong to nobody, though they look like a record, a telephone number or an address.

Codes of diseases, drugs, genes, papers and trials, years, doses and values of a laboratory are set aside before
identifiers are looked for, and put back afterwards.
"""

from __future__ import annotations

import re
from itertools import pairwise

from builders.curation.identifiers.rules import part

_VALUE = r"(?:[<>~+-]\s?)?(?!0\d)\d{1,7}(?:[.,]\d{1,3})?"
_SMALL = r"[1-9]\d{0,2}(?:[.,]\d|/[1-9]\d{1,2})?"
_PHONE = r"\d{3}[\s.-]\d{3}[\s.-]\d{4}\b"
_IS = r"(?:\s(?:is|was|of|at|went|from|levels?|counts?)){0,3}[\s:=]{1,3}"
_DIOPTRES = r"[+-]\d{1,2}\.\d\d"
_PUBLIC = re.compile(
    rf"""
    (?:
    (?:\bhttps?://(?:dx\.)?doi\.org/ | \bdoi:?\s?(?:\.org/)?) 10\.\d{{4,9}}/[^\s\[\]"'<>@]*[^\W_]
    | \b{part("public code")}(?:\s(?:code|number|no\.?|id)s?)?[\s:#]{{1,3}}
      (?:[a-z]\d\d[a-z]{{2}}\d\d\b|[a-z]{{0,2}}\d[\d.-]{{2,18}}(?:\d|[a-z]\b))
    | \b{part("brand")}(?!\w)
    | (?<!\bby\s)(?<!\btold\s)(?<!\bto\s)(?<!\bdr\s)(?<!\bdr\.\s)
      (?-i:M(?:b?\.|b|orbus)\s?{part("disease after its M.")})\b
    | (?<![\w@./-]){part("public number")}(?![\w@/-]|\.\w)
    | \b{part("measured")}{_IS}(?!{_PHONE}){_VALUE}(?:(?:\s?,)?\s{_VALUE}){{0,11}}(?![\w/-])
    | \b{part("measured in a row")}{_IS}(?!{_PHONE}){_SMALL}(?:,?\s{_SMALL}){{1,19}}(?![\w/-]|[.,]\d)
    | \bo[dsu][\s:]{{1,2}}{_DIOPTRES}(?:\s?/?\s?{_DIOPTRES})?(?:\s?x\s?\d{{1,3}})?\b
    | (?<![\w.]){_DIOPTRES}[\s/]{{1,3}}{_DIOPTRES}(?:\s?x\s?\d{{1,3}})?\b
    | {part("public form")}
    | (?<![\w.,/-])\d{{1,5}}\s?[–-]\s?\d{{1,5}}\s?{part("unit")}\b
    | (?P<series>(?<![\w.,+(/-])[1-9]\d{{1,2}}(?:(?:[-/]|,?\s)\d{{1,3}}){{3,20}}(?![\w/-]|[.,]\d))
    )(?![\w.+-]{{0,64}}@)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UNIT = re.compile(rf"\s?{part('unit')}\b", re.IGNORECASE)
_LEADS_TO = r"(?:\W{1,3}(?:is|was|as|me|us|on|at)){0,2}\W{0,3}$"
_NUMBER_OF = re.compile(rf"(?:\b(?:number|id|no|card|account|acct|{part('telephone')})\b|\#){_LEADS_TO}", re.IGNORECASE)
_NAME_OF = re.compile(rf"\b(?:{part('platform')}|{part('account')}|user|u/){_LEADS_TO}", re.IGNORECASE)
_FIRST, _LAST = 0xE000, 0xF8FF  # for private use: neither letters nor digits, and no rule knows them
_STANDS_FOR = re.compile(f"[{chr(_FIRST)}-{chr(_LAST)}]")


def set_aside(text: str) -> tuple[str, list[str]]:
    """The text with one character for each public number, and these numbers; a text that uses such characters itself is
    left as it is."""
    if _STANDS_FOR.search(text):
        return text, []
    kept: list[str] = []

    def stand_in(match: re.Match[str]) -> str:
        before = match.string[max(0, match.start() - 20) : match.start()]
        if _NAME_OF.search(before):
            return match[0]
        if match["series"] and (
            _NUMBER_OF.search(before) or not (_measured(match["series"]) or _UNIT.match(match.string, match.end()))
        ):
            return match[0]
        kept.append(match[0])
        return chr(_FIRST + len(kept) - 1)

    return _PUBLIC.sub(stand_in, text, count=_LAST - _FIRST), kept


def put_back(text: str, kept: list[str]) -> str:
    """The text with the numbers that were set aside.

    >>> put_back(*set_aside("PMID 33301246, since 2023-2024"))
    'PMID 33301246, since 2023-2024'
    """
    return _STANDS_FOR.sub(lambda match: kept[ord(match[0]) - _FIRST], text) if kept else text


def _measured(series: str) -> bool:
    """Whether numbers in a row are values or doses, not the groups of one number: four or more of three digits, or five
    or more, each larger, or each smaller, than the one before.

    >>> _measured("145 152 138 161"), _measured("60-50-40-30-20-10"), _measured("12 34 98 76 55")
    (True, True, False)
    """
    groups = re.findall(r"\d+", series)
    rises = [int(one) < int(other) for one, other in pairwise(groups)]
    falls = [int(one) > int(other) for one, other in pairwise(groups)]
    ordered = len(groups) > 4 and (all(rises) or all(falls))
    return ordered or all(len(group) == 3 for group in groups)
