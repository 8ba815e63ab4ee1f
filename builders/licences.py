"""What a licence permits a builder to do, read from whatever a source states in its licence field.

A rewritten caption is a derivative work: a row under a no-derivatives or unknown licence cannot be rewritten and
redistributed. An uploader's licence field is not evidence, so every row records who asserts its licence.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from loaders.errors import InputError

UNKNOWN = "unknown"
NOT_STATED = "licence unknown"  # the reason of rows that are left out
_AND = " AND "  # of an SPDX expression: all of these hold

# Elements of a Creative Commons licence, in the order in which its name lists them.
_ELEMENTS = ("BY", "NC", "ND", "SA")
_ELEMENT = re.compile("|".join(_ELEMENTS))
_DASH = re.compile("[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")  # hyphens of publishers' pages, and dashes
_CC_URL = re.compile(r"CREATIVECOMMONS\.ORG/(LICENSES|PUBLICDOMAIN)/([A-Z\d%+-]+)(?:/(\d\.\d))?")
# What may stand between two elements of one name: "CC BY, NC/ND", "CC BY 4.0 (NC)", "CC BY with NC".
_BETWEEN = r"(?:[\W\d]|V(?=\d)|\b(?:WITH|AND|BUT|LICEN[CS]E)\b)*"
_CC_NAME = re.compile(
    rf"(?:CC|CREATIVE COMMONS)\W*((?:BY|NC|ND|SA)(?:{_BETWEEN}(?:BY|NC|ND|SA))*)(?![A-Z])"
    r"(?:[ -]+(?:LICEN[CS]E))?(?:[ -]+V?(\d(?:\.\d)?))?(?:[ -]+(?:INTERNATIONAL|UNPORTED|GENERIC|IGO|DEED))*"
)
# Openverse, Flickr and Zenodo leave "CC" out: "by-nc-sa 2.0", "Attribution-NoDerivs License", "Attribution 4.0
# International". On Wikimedia Commons, "Attribution" alone is another licence.
_BARE_NAME = re.compile(r"BY(?:[ -](?:NC|ND|SA))*(?: \d(?:\.\d)?)?(?: (?:LICEN[CS]E|INTERNATIONAL|UNPORTED|GENERIC))*")
_LONG_WORDS = tuple(
    (re.compile(long), short)
    for long, short in (
        ("ATTRIBUTION", "BY"),
        ("NO[NT]?[- ]?(?:FOR )?COMMERCIAL(?: USE)?", "NC"),
        ("NON?[- ]?DERIV(?:ATIVE)?S?(?: WORKS?)?", "ND"),
        ("SHARE[- ]?ALIKE", "SA"),
    )
)
_SILENT = frozenset({"", "NONE", "NAN", "NULL", "N/A", "NA", "?", "UNKNOWN", "UNSPECIFIED", "OTHER", "NO-CC CODE"})
# What takes back, narrows or doubts a name: "not CC BY", "CC BY except Figure 2", "CC0 metadata only", "CC BY for
# research use", "CC0?". A field that holds one is for a person to read, unless it only says that no rights are kept, or
# repeats a name's own terms.
_NARROWED = re.compile(
    r"\b(?:NOT|NO(?!\. ?\d)|NEVER|NEITHER|NOR|EXCEPT\w*|EXCLUDING|UNLESS|WITHOUT|CANNOT|ONLY|FORMERLY|PREVIOUSLY|"
    r"PROHIBITED|FORBIDDEN|MAYBE|PERHAPS|POSSIBLY|PROBABLY|PRESUMABLY|ASSUMED|UNCLEAR|PENDING|"
    r"(?:RESEARCH|ACADEMIC|SCIENTIFIC|EDUCATION(?:AL)?|TEACHING|PERSONAL|PRIVATE|INTERNAL)(?: USE| PURPOSES?))\b|"
    r"(?<!/)\?(?!\w)"
)
_TAKES_NOTHING_BACK = re.compile(
    r"\bNO (?:COPYRIGHT|(?:KNOWN )?(?:COPYRIGHT )?RESTRICTIONS|(?:COPY)?RIGHTS? RESERVED)\b|\bNC\W+ONLY\b"
)
_ALL_RESERVED = re.compile(r"\bALL[ -]RIGHTS[ -](?:ARE )?RESERVED\b")
_PUBLIC_DOMAIN = re.compile(r"PUBLIC[ -]?DOMAIN|PDM|PDDC|(?:U\.?S\.?|UNITED STATES)[ -]GOV|\APD(?:-[\w-]+)?\Z")


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence and its terms; `derivatives` is "yes", "no" or "unknown". `id` is SPDX's, if there is one, without a
    version where the source left it out."""

    id: str
    derivatives: str
    commercial: bool
    share_alike: bool

    def named_by(self, name: str) -> bool:
        """Whether a user who wrote `name` meant this licence; a name without a version means any version.

        >>> read_licence("CC BY-NC-ND 4.0").named_by("cc by-nc-nd"), read_licence("CC BY-ND").named_by("CC-BY-ND-4.0")
        (True, False)
        """
        wanted, own = read_licence(name).id.casefold(), self.id.casefold()
        if wanted == UNKNOWN:
            # A wish that cannot be read is met by its own words only, not by everything unreadable.
            return self.derivatives == UNKNOWN and name.strip().casefold() in (UNKNOWN, own)
        return wanted in (own, re.sub(r"-\d\.\d\Z", "", own))


@lru_cache(maxsize=4096)  # a corpus has few licences, and asks for them in every row
def read_licence(text: str | None) -> Licence:
    """The licence that a source's field means.

    >>> read_licence("https://creativecommons.org/licenses/by-nc-sa/4.0/").id, read_licence("CC BY").id
    ('CC-BY-NC-SA-4.0', 'CC-BY')
    >>> read_licence("CC BY-NC-ND").derivatives, read_licence("NO-CC CODE").derivatives
    ('no', 'unknown')
    """
    if text and _AND in text:
        return _together([read_licence(part) for part in text.split(_AND)])
    plain = re.sub(r"[\s_]+", " ", _DASH.sub("-", unicodedata.normalize("NFKC", text or ""))).strip().upper()
    if plain in _SILENT:
        return Licence(UNKNOWN, UNKNOWN, False, False)
    # Terms that only a person can read: their own words name them.
    unread = Licence(" ".join((text or "").split()), UNKNOWN, False, False)
    addresses = [_of_address(*url.groups()) for url in _CC_URL.finditer(plain)]
    plain = _CC_URL.sub(" ", plain)
    if _ALL_RESERVED.search(plain):
        return Licence("all-rights-reserved", "no", False, False)
    terms = {short for long, short in _LONG_WORDS if long.search(plain)} - {"BY"}
    for long, short in _LONG_WORDS:
        plain = long.sub(short, plain)
    if _BARE_NAME.fullmatch(plain) and (text or "").strip().upper() != "ATTRIBUTION":
        plain = f"CC {plain}"
    narrowed = bool(_NARROWED.search(_TAKES_NOTHING_BACK.sub(" ", plain)))
    named = [_creative_commons(_ELEMENT.findall(code), version) for code, version in _CC_NAME.findall(plain)]
    if found := [*addresses, *named]:
        # Where a field names several, the one that asks for most holds.
        read = [licence for licence in found if licence is not None]
        strict = max(read, key=_strictness) if len(read) == len(found) else unread
        narrowed = narrowed or not terms <= {*strict.id.split("-")}  # as in "CC BY for non-commercial use"
        return unread if narrowed and strict.derivatives == "yes" else strict
    if narrowed or terms:
        return unread
    if re.search(r"\b(?:CC|CREATIVE COMMONS)[ -]?(?:0|ZERO)\b", plain):
        return _free("CC0-1.0")
    if _PUBLIC_DOMAIN.search(plain):
        return _free("public-domain")
    software = {r"MIT(?: LICENSE)?": "MIT", r"APACHE[ -]?(?:LICENSE )?2(?:\.0)?": "Apache-2.0"}
    software |= {f"BSD-{clauses}-CLAUSE": f"BSD-{clauses}-Clause" for clauses in (2, 3)}
    return next((_free(name) for pattern, name in software.items() if re.fullmatch(pattern, plain)), unread)


def _of_address(kind: str, code: str, version: str | None) -> Licence | None:
    """The licence behind an address of Creative Commons; None for one that is none of the usual ones."""
    if kind == "PUBLICDOMAIN" or code == "PUBLICDOMAIN":
        return _free("CC0-1.0" if code == "ZERO" else "public-domain")
    elements = code.split("-")
    return _creative_commons(elements, version) if set(elements) <= set(_ELEMENTS) else None


def strictest(licence: str | None, others: Iterable[str | None]) -> str:
    """The licence of a text under `licence` that holds phrases of works under `others`: as its source words it, where
    it asks for all that the others ask for; else the identifier of the one that does, or of all that count, joined as
    SPDX joins licences that hold together.

    >>> strictest("CC BY", ["CC0-1.0"]), strictest("CC BY", ["CC BY-NC-ND 4.0"]), strictest("CC BY-SA", ["CC BY-NC"])
    ('CC BY', 'CC-BY-NC-ND-4.0', 'CC-BY-NC AND CC-BY-SA')
    """
    return _strictest(licence, frozenset(others))


@lru_cache(maxsize=4096)
def _strictest(licence: str | None, others: frozenset[str | None]) -> str:
    all_of_them = {read_licence(other).id: terms_of(other) for other in {*others, licence}}
    if all(asked <= terms_of(licence) for asked in all_of_them.values()):
        return licence or ""
    return _AND.join(
        name
        for name, asked in sorted(all_of_them.items())
        if not any(asked < more or (asked == more and other < name) for other, more in all_of_them.items())
    )


def demands(licence: str | None) -> int:
    """How many terms a licence has.

    >>> demands("CC0"), demands("CC BY 4.0"), demands("CC BY-NC-SA"), demands("SCIN Data Use License")
    (0, 1, 3, 2)
    """
    return len(terms_of(licence))


def asks_for_credit(licence: str | None) -> bool:
    """Whether a licence that can be read asks to name an author.

    >>> asks_for_credit("CC BY-SA"), asks_for_credit("CC0"), asks_for_credit("unknown")
    (True, False, False)
    """
    return read_licence(licence).derivatives != UNKNOWN and "BY" in terms_of(licence)


def exclude_each_other(licences: Iterable[str | None]) -> bool:
    """Whether one thing cannot be passed on under all of these: share-alike for any use, and not for commercial use.

    >>> exclude_each_other(["CC BY-SA", "CC BY-NC"]), exclude_each_other(["CC BY-NC-SA", "CC BY-NC", "CC BY"])
    (True, False)
    """
    read = [licence for licence in map(read_licence, licences) if licence.derivatives == "yes"]
    return any(one.share_alike and one.commercial for one in read) and not all(one.commercial for one in read)


def terms_of(licence: str | None) -> frozenset[str]:
    """What a licence asks for, whatever its version; terms that only a person can read ask for themselves."""
    if licence and _AND in licence:
        return frozenset().union(*map(terms_of, licence.split(_AND)))
    read = read_licence(licence)
    if read.id in ("CC0-1.0", "public-domain"):
        return frozenset()
    if read.id.startswith("CC-") and read.derivatives != UNKNOWN:
        return frozenset(element for element in _ELEMENTS if element in read.id.split("-"))
    return frozenset(("BY", read.id))


def _together(parts: list[Licence]) -> Licence:
    derivatives = [part.derivatives for part in parts]
    return Licence(
        _AND.join(part.id for part in parts),
        next((kind for kind in ("no", UNKNOWN) if kind in derivatives), "yes"),
        all(part.commercial for part in parts),
        any(part.share_alike for part in parts),
    )


def _free(name: str) -> Licence:
    return Licence(name, "yes", True, False)


def _creative_commons(elements: list[str], version: str | None) -> Licence:
    found = [element for element in _ELEMENTS if element in elements]
    if version and "." not in version:
        version += ".0"
    name = "-".join(["CC", *found, *([version] if version else [])])
    return Licence(name, "no" if "ND" in found else "yes", "NC" not in found, "SA" in found)


def _strictness(licence: Licence) -> tuple[bool, bool, bool]:
    return licence.derivatives == "no", not licence.commercial, licence.share_alike


def allows_rewriting(licence: str | None, allowed: frozenset[str] = frozenset()) -> tuple[bool, str]:
    """Whether a caption under this licence may be rewritten and redistributed, and why not.

    `allowed` are licences that the user lets through by name ("unknown", "CC-BY-NC-ND").

    >>> allows_rewriting("CC BY-NC"), allows_rewriting("CC BY-ND"), allows_rewriting("", frozenset({"unknown"}))
    ((True, ''), (False, 'no derivatives: CC-BY-ND'), (True, ''))
    """
    read = read_licence(licence)
    if read.derivatives == "yes" or any(read.named_by(name) for name in allowed):
        return True, ""
    if read.derivatives == "no":
        return False, f"no derivatives: {read.id}"
    return False, NOT_STATED if read.id == UNKNOWN else f"{NOT_STATED}: {read.id}"


def not_met(allowed: Iterable[str], licences: Iterable[str]) -> list[str]:
    """Those of the licences that a user lets through by name that are none of `licences`: they may be mistyped.

    >>> not_met(["unknown", "CC-BY-ND", "unkown"], ["CC-BY-NC-ND-4.0 AND UMLS", "CC0-1.0"])
    ['CC-BY-ND', 'unkown']
    """
    there = [read_licence(part) for licence in licences for part in licence.split(_AND)]
    return [name for name in allowed if not any(licence.named_by(name) for licence in there)]


def check_vouched(option: str, licence: str | None, allowed: frozenset[str]) -> None:
    """Refuse a licence that a user gives to rows that state none, where it would only leave them out for want of one.
    Raises: InputError for one that nothing here can read, and that is not among the `allowed`."""
    read = read_licence(licence)
    if licence is None or read.derivatives != UNKNOWN or any(read.named_by(name) for name in allowed):
        return
    known = "CC0-1.0, CC-BY-4.0, CC-BY-SA-4.0, CC-BY-NC-4.0, CC-BY-NC-SA-4.0, public-domain, MIT or Apache-2.0"
    do = "If it is another licence whose terms allow rewriting, also pass it to --allow-licence"
    raise InputError(option, found=repr(licence), expected=f"a known licence: {known}", do=do)


def covers(stated: str | None, licences: Iterable[str]) -> bool:
    """Whether a licence that is stated for a whole may stand over rows under these; "other" says nothing of them.

    >>> covers("cc-by-nc-4.0", ["CC BY"]), covers("mit", ["CC BY"]), covers("other", ["CC BY-ND"])
    (True, False, True)
    >>> covers("mit", ["MIT License"])
    True
    """
    named, ids = read_licence(stated).id, {read_licence(licence).id for licence in licences}
    return named == UNKNOWN or ids == {named} or corpus_licence([stated, *ids]) == named.casefold()


def corpus_licence(licences: Iterable[str | None]) -> str:
    """The licence of a corpus made of rows under these, as a Hub identifier: the strictest combination of attribution,
    non-commercial and share-alike, at version 4.0, or the one licence of software that all are under.

    It is "other" when a row is no-derivatives or unreadable, and when a commercial share-alike row meets a
    non-commercial one: neither licence may then cover the whole.

    >>> corpus_licence(["CC BY", "CC BY-NC", "CC BY-NC-SA 4.0"]), corpus_licence(["CC0"]), corpus_licence(["CC BY-ND"])
    ('cc-by-nc-sa-4.0', 'cc0-1.0', 'other')
    """
    parts = {part for licence in licences for part in (licence or "").split(_AND)}
    read = {read_licence(part) for part in parts}
    if not read or any(licence.derivatives != "yes" for licence in read) or exclude_each_other(parts):
        return "other"
    restricted = any(not licence.commercial for licence in read)
    if all(licence.id in ("CC0-1.0", "public-domain") for licence in read):
        return "cc0-1.0"
    if not all(licence.id.startswith(("CC-BY", "CC0", "public-domain")) for licence in read):
        software = [licence.id.casefold() for licence in read if not licence.id.startswith("CC-")]
        return software[0] if software and len(read) == 1 else "other"
    return "cc-by" + "-nc" * restricted + "-sa" * any(licence.share_alike for licence in read) + "-4.0"
