"""Contexts in which somebody is named: what stands around a name, and what its first word must be there."""

from __future__ import annotations

import re
from collections.abc import Callable

from builders.curation.identifiers.rules import CAPITAL, UPPER, part
from builders.curation.identifiers.words import is_medical, is_no_name, is_possessive, listed, plain

PARTICLE = part("particle")
INITIAL = rf"[{UPPER}]\.(?:\s?[{UPPER}]\.)?"
_MORE = rf"(?:[ \t]+(?:(?:{PARTICLE}[ \t]+){{1,3}}{CAPITAL}|{INITIAL}(?!\w)|{CAPITAL}|[{UPPER}](?=[.,;!?\s]|$)))"
# A title in front is not part of a name: a match that ends before one leaves the title to the rule for titles.
_NO_TITLE = rf"(?!{part('title before a name')}\b)"
_SEQUENCE = (
    rf"(?P<name>{_NO_TITLE}(?:{INITIAL}[ \t]?)?(?:(?:{PARTICLE}[ \t]+){{1,3}}(?=[{UPPER}]))?"
    rf"{CAPITAL}{_MORE}{{0,3}}(?![^\W\d_])(?!['’-]\w))"
)
_LOWER = r"(?P<name>[a-zß-öø-ÿ][a-zß-öø-ÿ'’\-]+(?:[ \t]+[a-zß-öø-ÿ'’\-]+)?)"

_TITLE = part("title")
_KIN = part("kin")
_OWNER = part("owner")


def known(word: str, kind: str) -> bool:
    bare = plain(word)
    return bare in listed(kind) or (kind == "first" and "-" in bare and bare.partition("-")[0] in listed(kind))


def sure(word: str) -> bool:
    """Whether it is a first or last name and nothing else."""
    first = plain(word).partition("-")[0] if known(word, "first") else plain(word)
    return (known(word, "first") or known(word, "last")) and first not in listed("word") and not is_no_name(word)


def _eponym(word: str) -> bool:
    return plain(word) in listed("word") and not known(word, "first")


Judge = Callable[[str], bool]


def _named(word: str) -> bool:
    """Whether a word in the position of a name may be one: unless it is an ordinary or a medical word."""
    verb = word[-3:].islower() and word.endswith("ed") and not word.endswith("eed")  # "my mom Googled it"
    return not is_no_name(word) and (is_listed(word) or not (verb or is_medical(word)))


def _introduced(word: str) -> bool:
    """Whether a word after "my name is" is a name: many first names are ordinary words too."""
    return _named(word) or (known(word, "first") and not word.isupper())


def _signed(word: str) -> bool:
    """Whether a word in a greeting or a signature is a name: there, eponyms are people."""
    return len(word) > 1 and _named(word)


def by_position(word: str) -> bool:
    """Whether a word in the position of a name may be one: unless it is an eponym or medical word by itself."""
    return _signed(word) and not _eponym(word)


def _by_position_alone(word: str) -> bool:
    """The same, where so little else says that somebody is named that a medical word is none."""
    return by_position(word) and not is_medical(word)


def _beside_kin(word: str) -> bool:
    """Whether a word right after kin is a name; a possessive eponym is a disease."""
    return _signed(word) and not (_eponym(word) and is_possessive(word))


def is_listed(word: str) -> bool:
    return (known(word, "first") or known(word, "last")) and not is_no_name(word)


def _surely_first(word: str) -> bool:
    return known(word, "first") and sure(word)


def _no_plain_word(word: str) -> bool:
    plain_ending = word.endswith(("ed", "ing", "ly", "ment"))
    return not (word in listed("after dr") or is_no_name(word) or plain_ending or is_medical(word))


Context = tuple[re.Pattern[str], Judge]
"""A pattern, and what the first word of its name has to be."""


def _contexts(*pairs: tuple[str, Judge]) -> tuple[Context, ...]:
    """Contexts of patterns with NAME or LOWER where the name stands."""
    return tuple(
        (re.compile(pattern.replace("NAME", _SEQUENCE).replace("LOWER", _LOWER)), judge) for pattern, judge in pairs
    )


CONTEXTS = _contexts(
    # "Dr. Brown". After "my Dr." a sentence may begin: "I saw my Dr. White spots were there".
    (
        r"(?<![\w'’-])(?<!\b(?:the|our) )(?<!\bmy )(?<!\ba )(?:Dr|Mr|Mrs|Ms|Prof)\b\.?[ \t]+NAME",
        lambda word: known(word, "last"),
    ),
    (
        rf"(?<![\w'’-])(?!MS\b|MR\b|PA\b|NP\b|(?<=\d )Fr\b)(?i:{_TITLE})\b\.?,?(?:[ \t]+(?i:dr|hab|med|n|univ|rer"
        rf"|nat|habil|{_TITLE})\b\.?){{0,4}}[ \t]+NAME",
        _named,
    ),
    # Before the next rule, which would leave the first name: "Philippa J. Threlkeld".
    (
        rf"(?<=[a-zß-ÿ,] )(?P<name>{_NO_TITLE}(?!Factor |Grade |Group |Stage |Protein )"
        rf"{CAPITAL} [{UPPER}]\.\s?{CAPITAL})",
        _by_position_alone,
    ),
    (
        rf"(?<=[a-zß-ÿ,] )(?<![Vv]itamin )(?<!epatitis )(?<![Tt]ype )(?<![Ff]actor )(?<![Pp]rotein )(?<![Gg]rade )"
        rf"(?<![Gg]roup )(?<![Ss]tage )(?P<name>(?:[{UPPER}]\.\s?){{1,2}}{CAPITAL})",
        lambda w: _named(w) and w.casefold() not in listed("species"),
    ),
    (
        rf"\b(?i:{_OWNER})\s(?:[a-z-]+\s){{0,2}}?(?i:{_KIN})(?:,?\s(?i:(?:is|was)\s)?(?i:named"
        rf"|called),?|['’]s\sname\s(?i:is|was)|\s[-–—(]|\s\()?\s?NAME",
        _beside_kin,
    ),
    (
        rf"\b(?i:{_OWNER})\s(?:[a-z-]+\s){{0,2}}?(?i:{_KIN})(?:,|\s[-–—(]|:)\s?NAME(?=\s?[,;.()\[\]!/–—-]"
        rf"|\s(?i:and)\b|\s*$)",
        _by_position_alone,
    ),
    # One name found, the next of a row: "my boys, [name] (4) and Lucian (2)".
    (
        r"\[name\](?:\s?[(\[][^()\[\]\n]{1,12}[)\]])?(?:,\s(?:and\s)?|\s(?:and|&)\s)NAME(?=\s?[(\[]\d{1,2}\b)",
        _by_position_alone,
    ),
    (r"\[name\](?:,\s(?:and\s)?|\s(?:and|&)\s)NAME", lambda word: is_listed(word) and known(word, "first")),
    (rf"\b(?i:{_KIN})\sNAME(?=\s|[.,;!?)'’]|$)", is_listed),
    (rf"\b(?i:{part('before a name')})\s(?:really\s)?NAME", _introduced),
    (rf"\b(?i:{part('person')})\s(?:\w+\s)?(?i:named|called)\sNAME", _named),
    (r"\b(?i:named|called)\sNAME", is_listed),
    (
        r"\b(?i:named|call|called|calling)\s(?i:her|him|them|the\s(?:baby|boy|girl|dog|cat|kid|child))\sNAME",
        by_position,
    ),
    (r"\b(?i:this\sis)\sNAME(?=,?\s(?:again|here|speaking|writing|posting|from)\b)", by_position),
    (r"\b(?i:regards|love|greetings|sent|hugs|message|note|kisses)\sfrom\sNAME", by_position),
    (rf"(?:^|[.!?\n]\s+)NAME(?=,?\s{part('said')}\b)", by_position),
    (r"\b(?i:I['’]m|I\sam|im|this\sis|it['’]s|it\sis)\s(?i:called\s)?NAME", is_listed),
    (
        rf"(?:^|[.!?\n]\s*)(?i:{part('greeting')})(?i:,?\s(?:so\smuch|a\slot|again|very\smuch|there"
        r"|everyone|all))?,?\sNAME(?=\s?[,.!;:?\n)–-]|$)",
        _signed,
    ),
    (
        rf"(?i:[,.!?\n]\s*|^|\s)(?i:{part('signature')})\s?[,.!\-–—~]*\s*NAME(?=(?:\sx{{1,4}}\b)?\s*"
        r"(?:[.!)]?\s*$|[.!]?\s*\n|\s?\(|,\s))",
        _signed,
    ),
    (r"(?:\n|[.!?)]|\s)\s*[-–—~]+\s?NAME(?=[.!]?\s*(?:\n|$))", by_position),
    (r"\n\s*[-–—~*_]*\s*NAME[*_]*(?=[.!,]?\s*$)", is_listed),
    (
        rf"(?<=[a-zß-ÿ,;:)]\s)NAME(?=,?\s(?:(?:just|also|then|always|never|really|kindly|once|even"
        rf"|who)\s)?{part('spoke')}\b)",
        lambda word: by_position(word) or word == "Will",
    ),
    (rf"\b(?i:{part('spoken to')})\s(?:a\s|my\s)?NAME", by_position),
    (rf"\b(?i:{part('profession')}),?\s(?i:is|was)\sNAME", by_position),
    (
        rf"NAME(?<=['’]s)(?=\s(?:{_KIN}|office|clinic|surgery|house|place|birthday|funeral|number|email"
        rf"|appointment|advice|opinion|school|wedding|notes?|prescription|voice)\b)",
        by_position,
    ),
    (rf"NAME(?=,\s(?:my|our|his|her)\s(?:\w+\s)?{_KIN}\b)", by_position),
    (rf"NAME(?=\s\((?:my|our|his|her)\s(?:\w+\s)?{_KIN}\))", _introduced),
    (rf"NAME(?=,?\s{part('degree')}(?:\b|\s|$|,))", by_position),
)
_LOW = r"[a-zß-öø-ÿ][a-zß-öø-ÿ'’\-]+"
LOWER_WHOLE = rf"(?P<name>{_LOW}(?:[ \t]+[a-z]\.)?[ \t]+{_LOW})"
LOWERED = _contexts(
    (rf"(?:,|\()\s?{LOWER_WHOLE}(?=,|\)|\.?\s*$)", _surely_first),
    (rf"\b(?i:names?(?:['’]s|\sis|\swas|:)?|i['’]?m|i\sam|call\sme)\s{LOWER_WHOLE}(?=[,.)\n]|\s*$)", _surely_first),
    (rf"(?<![\w'’-])(?i:{part('title in small letters')})\b\.?[ \t]LOWER", sure),
    (r"(?<![\w'’-])(?i:dr|mrs|mr)\b\.?[ \t]LOWER", _no_plain_word),
    (
        rf"\b(?i:{_OWNER})\s(?:[a-z-]+\s){{0,1}}?(?i:{_KIN})(?:,\s|['’]s\sname\s(?i:is|was)\s|\s(?i:named|called)\s|\s\(|\s)LOWER",
        _surely_first,
    ),
    (rf"\b(?i:{part('before a name in small letters')})\s(?i:called\s)?LOWER", _surely_first),
    (r"(?:\n|[.!?,]\s*)[-–—~]\s?LOWER(?=[.!]?\s*$)", _surely_first),
    (r"(?:^|[.!?,\n]\s*)LOWER(?=\shere\b)", _surely_first),
    (
        rf"(?:^|\n|[.!?,]\s+)(?i:{part('before a signature in small letters')})\s?[,.!\-–—]*\s*LOWER"
        r"(?=\s*[.!,]?\s*(?:$|\n))",
        _surely_first,
    ),
)
