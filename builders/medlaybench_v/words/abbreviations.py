"""The key at the end of a caption, which tells what the abbreviations in it stand for.

    AO: aorta; LV = left ventricle; RA - right atrium.
    DSA, Digital Subtraction Angiography; LV indicates left ventricle

After Schwartz and Hearst (2003), the letters of the short form are looked for in the long form, in order; here the
separator already says that a definition follows, so they may stand anywhere. An entry whose letters do not fit ("T:
Chassaignac's tubercle") is accepted when its neighbours' do. Figure markers, panel letters and sides are never short
forms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    separator: str
    fits: bool


_FUNCTION_WORDS = frozenset(["of", "the", "and", "to", "in", "for", "with", "by", "on", "at", "from", "a", "an", "or"])
_NOT_SHORT = re.compile(any_of("no short forms"), re.IGNORECASE)
_SENTENCE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|shows?|showed|showing|shown|reveal\w*|demonstrat\w+|depict\w*|illustrat\w+|"
    r"indicat\w+|represent\w*|denot\w+|suggest\w*|note|see|not|no)\b",
    re.IGNORECASE,
)
_WITHIN = re.compile(r"[\s/–-]+")
_WORD = re.compile(r"\w[\w'’]*")
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


def without_key(caption: str) -> tuple[str, list[tuple[str, Span]]]:
    """The caption without the key at its end, and what that key defines: each short form, with the span of its long
    form; (caption, []) if there is none.

    Only a key whose every word is a part of a definition is cut, so a caller that puts the long forms where the short
    ones are used loses nothing. A short form that the body does not use is a label of the figure: the caller decides.
    """
    run = _last_run(caption)
    if not run or not _defines(caption, run):
        return caption, []
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


def _last_run(caption: str) -> list[_Entry]:
    """The last entries with nothing but separators and a heading between them."""
    run: list[_Entry] = []
    for entry in _entries(caption):
        between = caption[run[-1].stop : entry.short[0]] if run else ""
        if len(between) > _HEADING_SIZE or _HEADING.sub("", between).strip(" .,;:()[]"):
            run = []
        run.append(entry)
    return run


def _defines(caption: str, run: Sequence[_Entry]) -> bool:
    """Whether every entry of a run defines something, and no other words are lost with them."""
    fitting = sum(e.fits for e in run)
    if len(run) == 1 or (fitting == 1 and any(e.separator == ":" for e in run)):
        believed = fitting == len(run) and _stands_alone(caption, run[0])
    else:
        believed = 2 * fitting >= len(run) and all(e.fits or not _SENTENCE.search(caption[slice(*e.long)]) for e in run)
    return believed and all(_AND.fullmatch(caption, e.long[1], e.stop) for e in run)


def _stands_alone(caption: str, entry: _Entry) -> bool:
    """Is an entry without neighbours a definition, not a panel letter, a title or half of a sentence?"""
    if _SENTENCE.search(caption[slice(*entry.long)]):
        return False
    start, end = entry.short
    return end - start > 1 or _HEADING.search(caption, max(0, start - _HEADING_SIZE), start) is not None


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
        entries.append(_Entry((start, match.end("short")), span, stop, match["separator"].strip(" ."), fits))
    return entries


def _fits(short: str, long: str) -> bool:
    """Whether the letters of `short` are in `long`, from one of its first three words on."""
    words: list[re.Match[str]] = []  # that only spaces, hyphens and slashes part
    for word in _WORD.finditer(long):
        if words and not _WITHIN.fullmatch(long, words[-1].end(), word.start()):
            break
        words.append(word)
    lower, letters = [word[0].lower() for word in words], [c.lower() for c in short if c.isalnum()]
    return any(_aligned(letters, lower[begin:]) for begin in range(min(len(lower), 2 if len(short) == 1 else 3)))


def _aligned(letters: Sequence[str], words: Sequence[str]) -> bool:
    """Whether the words hold the letters in order, the first one at the start of the first word.

    A letter may start a word or be inside one. Function words may be skipped, and one other word between two letters.
    """
    if not words[0].startswith(letters[0]):
        return False
    places = {0: 1}  # word -> the first place after the letters so far; an earlier place can only reach further
    for letter in letters[1:]:
        reached: dict[int, int] = {}
        for index, place in places.items():
            at = words[index].find(letter, place)
            if at >= 0:
                reached[index] = min(at + 1, reached.get(index, at + 1))
            may_skip = True
            for later in range(index + 1, len(words)):
                if words[later].startswith(letter):
                    reached[later] = 1
                if words[later] not in _FUNCTION_WORDS:
                    if not may_skip:
                        break
                    may_skip = False
        places = reached
    return bool(places)
