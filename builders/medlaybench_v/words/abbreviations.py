"""Abbreviations that a radiology caption defines itself, and the key at its end that defines them.

Four forms of definition are read:

    computed tomography (CT)                                   long (short)
    MIP (maximum intensity projection)                         short (long)
    AO: aorta; LV = left ventricle; RA - right atrium.         key
    DSA, Digital Subtraction Angiography; LV indicates ...     key

The first two follow Schwartz and Hearst (2003): the letters of the short form are looked for in the long form, in
order. Their rule alone would make abbreviations of "(arrow)" and of "contrast (CT)". Here a letter must start a word,
or stand inside one only where a compound joins ("antero|posterior", "ultra|sound"); figure markers, panel letters
and sides are never short forms. In a key the separator already says that a definition follows, so the letters may stand
anywhere, and an entry whose letters do not fit ("T: Chassaignac's tubercle") is accepted when its neighbours' do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

LONG_SHORT = "long (short)"
SHORT_LONG = "short (long)"
KEY = "key"

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short form and the long form that the caption gives for it; spans are character offsets into the caption."""

    short: str
    long: str
    short_span: Span
    long_span: Span
    form: str


@dataclass(frozen=True, slots=True)
class _Entry:
    """One `SHORT separator LONG` of a possible key, with its text up to `stop`; `long` ends at the first comma."""

    short: Span
    long: Span
    stop: int
    separator: str
    bounded: bool
    rest: int | None

    @property
    def fits(self) -> bool:
        return self.rest is not None


@dataclass(frozen=True, slots=True)
class _Key:
    """A run of entries; `complete` if the entries hold every word of `span`, so that cutting it loses nothing."""

    span: Span
    abbreviations: list[Abbreviation]
    complete: bool


_FUNCTION_WORDS = frozenset(["of", "the", "and", "to", "in", "for", "with", "by", "on", "at", "from", "a", "an", "or"])
_NOT_SHORT = re.compile(
    r"arrow(?:head)?s?|asterisks?|stars?|circles?|box(?:es)?|lines?|panels?|images?|fig(?:ure)?s?|case|patient|table|"
    r"left|right|upper|lower|top|bottom|middle|white|black|red|blue|green|yellow|orange|inset|notes?|key|legend|labels?|"
    r"abbreviations?|before|after|pre|post|axial|sagittal|coronal|day|week|month|group|type|grade|stage|https?|doi|"
    r"online|courtesy|source|scale",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|shows?|showed|showing|shown|reveal\w*|demonstrat\w+|depict\w*|illustrat\w+|"
    r"indicat\w+|represent\w*|denot\w+|suggest\w*|note|see|not|no)\b",
    re.IGNORECASE,
)

# A caption without one of these defines nothing; most captions stop here.
_MAYBE = re.compile(r"[(\[:=–—]|\w ?- |(?:^|[.;:)\]]) ?\w{1,7}, | (?:indicates|denotes) ")
_BRACKETED = re.compile(r"[(\[]\s?([^()\[\]]{2,120})[)\]]")
_AFTER_HEAD = re.compile(r"[,;].*", re.DOTALL)  # "(CT; arrow)"
_BREAK = re.compile(r"[.;:()\[\]]")
_WITHIN = re.compile(r"[\s/–-]+")
_WORD = re.compile(r"\w[\w'’]*")
_BEFORE_BRACKET = re.compile(r"([A-Za-z0-9][A-Za-z0-9/+-]{0,10}[A-Za-z0-9])\s?$")

_ENTRY = re.compile(
    r"(?<![^\s.,;:()\[\]])(?=[a-z]{1,4}(?![\w-])|[\w'’/+&-]{0,11}?[A-Z])"
    r"(?P<short>(?:[A-Z][A-Za-z0-9-]{0,4}\s(?=[A-Z]))?[^\W_][\w'’/+&-]{0,11}?)"
    r"(?:\s?\((?:white |black )?arrow(?:head)?s?\))?"
    r"(?P<separator>\.?\s*[:=]\s*|\s+[–—]\s*|[–—]\s+|\s*-\s+|,\s+|\s+(?:indicates|denotes)\s+)"
    r"(?=[A-Za-z]|\d(?:st|nd|rd|th|D)\b)"
)
_BOUNDARY = re.compile(r"(?:^|[.,;:()\[\]]|\band)\s*$")
_WORDS = re.compile(r"[a-z]{3}")
_ENTRY_TEXT = re.compile(r"(?:[^;.()\[\]]|\.(?=\d)|[(\[][^()\[\]]*[)\]])*")
_LONG_END = re.compile(r",| ?[(\[]")
_HEADING = re.compile(
    r"\b(?:abbreviation|key|legend|label|note|(?:additional )?marking)s?(?: used)?\s*:?\s*$", re.IGNORECASE
)
_HEADING_SIZE = 40
_AND = re.compile(r"[\s.,]*(?:and\s*)?")

# Parts that join to a following part inside one word: "ultra|sound", "intra|venous"; every "-o-" does too.
_JOINT = re.compile(
    r"(?<=\w\wo)(?=\w)|\b(?:ultra|trans|multi|intra|extra|infra|supra|inter|endo|peri|para|sub|non|per|pre|post|super|"
    r"hyper|semi|micro|poly|oxy|shock|angi|mega|arteri)(?=\w)"
)


@lru_cache(maxsize=65536)
def _joints(word: str) -> frozenset[int]:
    return frozenset(m.end() for m in _JOINT.finditer(word))


@lru_cache(maxsize=8192)
def _letters(short: str) -> tuple[tuple[str, bool], ...]:
    """The letters to look for, in lower case, each with whether it continues the word of the letter before it."""
    kept = [c for c in short if c.isalnum()]
    if len(kept) > 2 and kept[-1] == "s" and not any(c.islower() for c in kept[:-1]):
        kept.pop()  # the plural "ROIs"
    return tuple((c.lower(), c.islower()) for c in kept)


def _aligned(short: str, words: Sequence[str], *, anywhere: bool, skip: bool) -> int:
    """How many of the lower-cased `words`, from the first on, hold the letters of `short` in order; 0 if they do not.

    A letter must start a word, or be inside one at a joint (`anywhere`: at any place). Function words may be
    skipped, and with `skip` one other word between two letters.
    """
    (first, _), *others = _letters(short)
    if not words[0].startswith(first):
        return 0
    places = {0: 1}  # word -> the first place after the letters so far; an earlier place can only reach further
    for letter, goes_on in others:
        reached: dict[int, int] = {}
        for index, place in places.items():
            word = words[index]
            if anywhere or goes_on:
                at = word.find(letter, place)
            else:
                at = min((j for j in _joints(word) if j >= place and word[j] == letter), default=-1)
            if at >= 0:
                reached[index] = min(at + 1, reached.get(index, at + 1))
            may_skip = skip
            for later in range(index + 1, len(words)):
                if words[later].startswith(letter):
                    reached[later] = 1
                if words[later] not in _FUNCTION_WORDS:
                    if not may_skip:
                        break
                    may_skip = False
        if not reached:
            return 0
        places = reached
    return max(places) + 1


def _capitals(text: str) -> int:
    return sum(c.isupper() or c.isdigit() for c in text)


def _is_short(text: str) -> bool:
    """Can `text`, found in brackets or before them, be a short form?"""
    return 2 <= len(text) <= 12 and _capitals(text) >= 2 and not text.isdigit() and not _NOT_SHORT.fullmatch(text)


def _expands(short: str, words: Sequence[str]) -> int:
    """`_aligned` for a definition in brackets, where only the letters tell it from a remark: strictest first."""
    letters = len(_letters(short))
    used = _aligned(short, words, anywhere=False, skip=False)
    if not used and letters > 2:
        used = _aligned(short, words, anywhere=False, skip=True)
    if not used and letters > 3:  # "fluid attenuated inversion recovery (FLAIR)"
        used = _aligned(short, words, anywhere=True, skip=False)
        used = used if used >= letters - 1 else 0
    return used if used > 1 or len(words[0]) >= 8 else 0


def _chain(caption: str, start: int, stop: int) -> list[re.Match[str]]:
    """The words between two places that only spaces, hyphens and slashes separate, beginning with the first."""
    words: list[re.Match[str]] = []
    for word in _WORD.finditer(caption, start, stop):
        if words and not _WITHIN.fullmatch(caption, words[-1].end(), word.start()):
            break
        words.append(word)
    return words


def _lower(words: list[re.Match[str]]) -> list[str]:
    return [w.group().lower() for w in words]


def _long_before(caption: str, stop: int, short: str) -> Span | None:
    """The long form that ends before `stop`, at most two words earlier ("left anterior descending artery (LAD)")."""
    start = max(0, stop - 110)
    for mark in _BREAK.finditer(caption, start, stop):
        start = mark.end()
    words = list(_WORD.finditer(caption, start, stop))[-14:]
    text = _lower(words)
    for begin in range(len(words) - 1, -1, -1):
        used = _expands(short, text[begin:])
        if used:
            rest = text[begin + used :]
            if len(rest) <= 2 and _FUNCTION_WORDS.isdisjoint(rest):
                return words[begin].start(), words[begin + used - 1].end()
    return None


def _bracketed(caption: str) -> Iterator[Abbreviation]:
    for bracket in _BRACKETED.finditer(caption):
        inner = _AFTER_HEAD.sub("", bracket.group(1)).rstrip()
        start, stop = bracket.start(1), bracket.start(1) + len(inner)
        if _is_short(inner) and (long := _long_before(caption, bracket.start(), inner)):
            yield Abbreviation(inner, caption[slice(*long)], (start, stop), long, LONG_SHORT)
            continue
        before = _BEFORE_BRACKET.search(caption, max(0, bracket.start() - 14), bracket.start())
        words = _chain(caption, start, stop) if before and (" " in inner or len(inner) >= 8) else []
        if before is None or not words:
            continue
        for short_start in (before.start(1), before.start(1) + before.group(1).rfind("-") + 1):
            short = caption[short_start : before.end(1)]
            used = _expands(short, _lower(words)) if _is_short(short) else 0
            if used and len(words) - used <= 2:
                yield Abbreviation(short, inner, (short_start, before.end(1)), (start, stop), SHORT_LONG)
                break


def _rest(short: str, long: str) -> int | None:
    """Words that `long` has after the letters of `short`; None if they do not fit within its first three words."""
    words = _lower(_chain(long, 0, len(long)))
    for begin in range(min(len(words), 2 if len(short) == 1 else 3)):
        if used := _aligned(short, words[begin:], anywhere=True, skip=True):
            return len(words) - begin - used
    return None


def _entries(caption: str) -> list[_Entry]:
    starts: list[tuple[re.Match[str], bool]] = []
    for match in _ENTRY.finditer(caption):
        if starts and starts[-1][0].end() == match.start():
            continue  # the long form of the previous entry
        short, comma = match["short"], match["separator"].startswith(",")
        if comma and len(short) > 4 and _capitals(short) < 2:  # "in Jammu, Jammu and Kashmir"
            continue
        bounded = _BOUNDARY.search(caption, max(0, match.start() - 6), match.start()) is not None
        if (not bounded and (comma or short.islower())) or _NOT_SHORT.fullmatch(short):
            continue
        starts.append((match, bounded))
    limits = [*(m.start() for m, _ in starts[1:]), len(caption)]
    entries = []
    for (match, bounded), limit in zip(starts, limits, strict=False):
        text = _ENTRY_TEXT.match(caption, match.end(), limit)
        stop = text.end() if text else limit
        long = _LONG_END.split(caption[match.end() : stop], maxsplit=1)[0].rstrip(" .'’\"-–—").removesuffix(" and")
        if not _WORDS.search(long) or ":" in long or len(long.split()) > 12:
            continue
        short_start, short = match.start("short"), match["short"]
        rest = _rest(short, long)
        if " " in short and rest is None:  # "RV LPSS" is one short form, "Follow-up LAD" is not
            short_start, short, bounded = short_start + short.index(" ") + 1, short.partition(" ")[2], False
            rest = _rest(short, long)
        entries.append(
            _Entry(
                short=(short_start, match.end("short")),
                long=(match.end(), match.end() + len(long)),
                stop=stop,
                separator=match["separator"].strip(" ."),
                bounded=bounded,
                rest=rest,
            )
        )
    return entries


def _runs(caption: str, entries: list[_Entry]) -> Iterator[list[_Entry]]:
    """Neighbouring entries, with nothing but separators and a heading between them."""
    run: list[_Entry] = []
    for entry in entries:
        between = caption[run[-1].stop : entry.short[0]] if run else ""
        if len(between) > _HEADING_SIZE or _HEADING.sub("", between).strip(" .,;:()[]"):
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _believed(caption: str, run: list[_Entry]) -> list[_Entry]:
    """The entries of a run that define something."""
    fitting = [e for e in run if e.fits]
    if len(run) == 1 or (len(fitting) == 1 and any(e.separator == ":" for e in run)):
        return [e for e in fitting if _stands_alone(caption, e)]
    if 2 * len(fitting) < len(run):
        return [e for e in fitting if e.short[1] - e.short[0] > 1]
    return [e for e in run if e.fits or not _SENTENCE.search(caption[slice(*e.long)])]


def _stands_alone(caption: str, entry: _Entry) -> bool:
    """Is an entry without neighbours a definition, not a panel letter, a title or half of a sentence?"""
    short, long = caption[slice(*entry.short)], caption[slice(*entry.long)]
    if entry.rest is None or _SENTENCE.search(long):
        return False
    if _HEADING.search(caption, max(0, entry.short[0] - _HEADING_SIZE), entry.short[0]):
        return True
    return entry.rest <= 3 and len(short) > 1


@lru_cache(maxsize=64)  # a caption is asked both for its key and for what it defines
def _keys(caption: str) -> tuple[_Key, ...]:
    return tuple(_found_keys(caption))


def _found_keys(caption: str) -> Iterator[_Key]:
    for run in _runs(caption, _entries(caption)):
        entries = _believed(caption, run)
        if not entries:
            continue
        abbreviations = [
            Abbreviation(caption[slice(*e.short)], caption[slice(*e.long)], e.short, e.long, KEY) for e in entries
        ]
        covered = len(entries) == len(run) and all(_AND.fullmatch(caption, e.long[1], e.stop) for e in run)
        start, stop = run[0].short[0], run[-1].stop
        yield _Key((start, stop), abbreviations, covered)


def resolve(caption: str) -> list[Abbreviation]:
    """The abbreviations that `caption` defines, in order of their short forms.

    A key also names the labels drawn on the figure ("T = trachea"); they are returned with one letter as `short`.
    """
    if not _MAYBE.search(caption):
        return []
    in_keys = (abbreviation for key in _keys(caption) for abbreviation in key.abbreviations)
    return sorted((*in_keys, *_bracketed(caption)), key=lambda abbreviation: abbreviation.short_span)


def without_key(caption: str) -> tuple[str, Span | None]:
    """The caption without the key at its end, and the span of that key; (caption, None) if there is none.

    Only a key whose every word `resolve` returns is cut, so a caller that puts the long forms where the short ones
    are used loses nothing. A short form that the body does not use is a label of the figure: the caller decides.
    """
    if not _MAYBE.search(caption):
        return caption, None
    keys = _keys(caption)
    if not keys or not keys[-1].complete:
        return caption, None
    start, stop = keys[-1].span
    before = caption[:start].rstrip()
    if heading := _HEADING.search(before, max(0, len(before) - _HEADING_SIZE)):
        before = before[: heading.start()].rstrip()
    if caption[stop:].strip(" .;)]"):
        return caption, None
    if before.endswith(("(", "[")):
        before = before[:-1].rstrip()
    elif not before.endswith((".", ")", "]")):
        return caption, None
    return (before, (len(before), len(caption))) if before else (caption, None)
