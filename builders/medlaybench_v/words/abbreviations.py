"""The key at the end of a caption, which tells what the abbreviations in it stand for.

    AO: aorta; LV = left ventricle; RA - right atrium.
    DSA, Digital Subtraction Angiography; LV indicates left ventricle

The letters of the short form are looked for in the long form, in order. An entry whose letters do not fit ("T:
Chassaignac's tubercle") is accepted if at least half of the key's do. Figure markers and sides are never short forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from builders.medlaybench_v.words.lists import any_of

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Entry:
    """One `SHORT separator LONG` of a possible key, with its text up to `stop`; `long` ends at the first comma.

    `fits`: the letters of the short form are in the long form.
    """

    short: Span
    long: Span
    stop: int
    fits: bool


_NOT_SHORT = re.compile(any_of("no short forms"), re.IGNORECASE)
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
_CLOSING = "".join(filter(str.isspace, map(chr, range(0x3001)))) + ".,;)]"
_TO_LAST_MARK = re.compile(r".*(?:[,:;()\[\]]|\.(?!\d))", re.DOTALL)  # no long form goes on behind one of these
_JOINED = re.compile(r"[=–—]|-\s|(?:indicates|denotes)\s")  # the other separators
_SHORT_SIZE = 38  # of the longest short form with its arrow and full stop
_LONG_BEGINS = 4


def without_key(caption: str) -> tuple[str, list[tuple[str, Span]]]:
    """The caption without the key at its end, and what that key defines: each short form, with the span of its long
    form; (caption, []) if there is none.

    Only a key whose every word is a part of a definition is cut, so a caller that puts the long forms where the short
    ones are used loses nothing. A short form that the body does not use is a label of the figure: the caller decides.
    """
    run = _last_run(caption) if _may_end_in_key(caption) else []
    known = 2 * sum(entry.fits for entry in run) >= len(run)
    if not (run and known and all(_AND.fullmatch(caption, entry.long[1], entry.stop) for entry in run)):
        return caption, []  # it defines nothing, or other words would be lost with it
    before = caption[: run[0].short[0]].rstrip()
    if heading := _HEADING.search(before, max(0, len(before) - _HEADING_SIZE)):
        before = before[: heading.start()].rstrip()
    if caption[run[-1].stop :].strip(" .;)]"):
        return caption, []
    if before.endswith(("(", "[")):
        before = before[:-1].rstrip()
    elif not before.endswith((".", ")", "]")):
        return caption, []
    return (before, [(caption[slice(*e.short)], e.long) for e in run]) if before else (caption, [])


def _may_end_in_key(caption: str) -> bool:
    """Whether a separator stands before the last stretch without marks: a look at the end, where few captions have
    one, instead of a search in the whole of each."""
    body = caption.rstrip(_CLOSING).removesuffix("and").rstrip(_CLOSING)
    mark = _TO_LAST_MARK.match(body)
    at = mark.end() if mark else 0
    if _JOINED.search(body, at):
        return True
    if body[at - 1 : at] not in (",", ":"):
        return False
    since = len(body[: at - 1].rstrip()) - _SHORT_SIZE
    until = len(body) - len(body[at:].lstrip()) + _LONG_BEGINS
    return _ENTRY.search(body, max(0, since), until) is not None


def _last_run(caption: str) -> list[_Entry]:
    """The last entries with nothing but separators and a heading between them."""
    run: list[_Entry] = []
    for entry in _entries(caption):
        between = caption[run[-1].stop : entry.short[0]] if run else ""
        if len(between) > _HEADING_SIZE or _HEADING.sub("", between).strip(" .,;:()[]"):
            run = []
        run.append(entry)
    return run


def _entries(caption: str) -> list[_Entry]:
    starts: list[re.Match[str]] = []
    for match in _ENTRY.finditer(caption):
        if starts and starts[-1].end() == match.start():
            continue  # the long form of the previous entry
        short, comma = match["short"], match["separator"].startswith(",")
        if comma and len(short) > 4 and sum(c.isupper() or c.isdigit() for c in short) < 2:
            continue  # "in Jammu, Jammu and Kashmir"
        bounded = _BOUNDARY.search(caption, max(0, match.start() - 6), match.start()) is not None
        if (not bounded and (comma or short.islower())) or _NOT_SHORT.fullmatch(short):
            continue
        starts.append(match)
    limits = [*(m.start() for m in starts[1:]), len(caption)]
    entries = []
    for match, limit in zip(starts, limits, strict=False):
        text = _ENTRY_TEXT.match(caption, match.end(), limit)
        stop = text.end() if text else limit
        long = _LONG_END.split(caption[match.end() : stop], maxsplit=1)[0].rstrip(" .'’\"-–—").removesuffix(" and")
        if not _WORDS.search(long) or ":" in long or len(long.split()) > 12:
            continue
        start, short = match.start("short"), match["short"]
        fits = _fits(short, long)
        if " " in short and not fits:  # "RV LPSS" is one short form, "Follow-up LAD" is not
            start, short = start + short.index(" ") + 1, short.partition(" ")[2]
            fits = _fits(short, long)
        span = match.end(), match.end() + len(long)
        entries.append(_Entry((start, match.end("short")), span, stop, fits))
    return entries


def _fits(short: str, long: str) -> bool:
    """Whether the letters of `short` are in `long`, in order, the first one at its start."""
    rest = iter(long.lower())
    return short[0].lower() == long[0].lower() and all(letter in rest for letter in short.lower() if letter.isalnum())
