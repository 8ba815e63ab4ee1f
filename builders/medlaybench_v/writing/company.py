"""Which terms stand alone, so that plain words can replace them, and which are kept and explained once.

A noun that another word is joined to is no longer free: "uterovaginal agenesis" is not "uterovaginal failure to form",
and the "upper mandible" not an "upper lower jaw". If the plain words could be read together with the word before them,
the expert's word stays, and its meaning follows in brackets, so that nothing can be attached to the wrong thing. So
does a word whose plain words end in a place, before another place: "infarction (tissue death …) of the thalamus".

    >>> from builders.medlaybench_v.writing.company import binds
    >>> binds("A port-site metastasis", 12), binds("A large metastasis", 8), binds("The metastasis", 4)
    (True, False, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from builders.medlaybench_v.words.lists import listed
from builders.medlaybench_v.words.stacks import FUNCTION_WORDS, is_no_noun
from builders.medlaybench_v.writing.matches import Entry, Match

_WORD_AT_END = re.compile(r"[^\W\d_][\w'’/-]*\Z")
_FAR = 40  # characters before a term that are looked at
# What says how large, how many, how old or how sure, of whatever thing: it is joined to no noun more than to another.
_LOOSE = FUNCTION_WORDS | listed("loose")
_ENDS = ("ly", "ed", "ing")
# Words of a place, which a word of place before them would contradict: "upper mandible", "bilateral hemisphere".
_PLACES = frozenset("upper lower front rear inner outer middle half near far top side base".split())
_PLACED = frozenset(
    "upper lower superior inferior anterior posterior medial lateral proximal distal mid middle bilateral both".split()
)
# Letters of a word that says something, and how many such an explanation needs that the term has not: of a "fluid
# collection" it says nothing that it is a pocket of fluid.
_LONG, _LEAST = 4, 2
# A word that is known as it is says more than what would be put in its place: "a kidney lesion".
_KNOWN = frozenset(("lesion", "lesions"))
# "Hilar mass (mass at the lung root)": the head of a name is not said again.
_HEAD_AGAIN = re.compile(
    r"\b(?P<head>[a-z]+) \((?P=head) "
    r"(?=(?:of|in|on|at|to|from|between|behind|beside|around|along|under|above|below|near|over|through|deep|toward) )"
)
# "Bladder lumen" is no "bladder inner space", a bowel perforation no "bowel hole".
_BARE = frozenset("lumen lumens lumina perforation perforations".split())
_NOUNS = frozenset(("anatomy", "finding", "disease", "device", "procedure"))
_OF_A_PLACE = frozenset(("anatomy", "other", "modality", "device", "procedure", "disease"))


def binds(text: str, start: int) -> bool:
    """Whether the word before `start` is joined to what begins there."""
    word = _word_before(text, start).lower()
    if not word:
        return False
    return not (word in _LOOSE or word.endswith(_ENDS))


def _word_before(text: str, start: int) -> str:
    """The word that a space parts from what begins at `start`; "" where there is none."""
    if text[start - 1 : start] != " ":
        return ""
    far = max(0, start - _FAR)
    said = text[max(far, text.rfind(" ", far, start - 1) + 1) : start - 1]
    if said.isalpha():
        return said
    word = _WORD_AT_END.search(said)
    return word[0] if word else ""


def alone(text: str, matches: Sequence[Match]) -> Iterator[Match]:
    """The matches, with those nouns explained, or left, that do not stand alone."""
    last: Match | None = None
    for match in matches:
        kept = _kept(text, match, last) if _may_be_joined(match.entry) else match
        if kept is not None:
            yield kept
        last = match


@lru_cache(maxsize=32768)
def _may_be_joined(entry: Entry) -> bool:
    """Whether plain words could be read with the word before them: they hold a preposition or begin with a place."""
    if entry.term.pos != "noun" or entry.term.kind not in _NOUNS or entry.placed or not entry.changes:
        return False
    if entry.lay.lower().startswith(f"{entry.surface} ("):
        return False
    bare = entry.surface in _KNOWN | _BARE
    return bare or _is_phrase(entry) or entry.qualified or entry.lay.partition(" ")[0] in _PLACES


def _is_phrase(entry: Entry) -> bool:
    """Whether plain words are more than a noun with adjectives: "pocket of pus", "body's main artery"."""
    return entry.guarded or "'s " in entry.lay


def _free(text: str, match: Match, last: Match | None) -> bool:
    """Whether what stands before a term may be read with its plain words as well; `last` is the match before it."""
    if last is None or last.end != match.start - 1 or not last.changes:
        return not binds(text, match.start)
    entry, term = last.entry, last.entry.term
    if term.pos == "adjective":
        return bool(entry.behind) or term.kind not in _OF_A_PLACE
    return term.pos == "phrase"


def _follows_noun(text: str, match: Match, last: Match | None) -> bool:
    """Whether a noun stands before a term, or an adjective of anatomy whose plain words are one: "bowel ischemia"."""
    if last is not None and last.end == match.start - 1:
        term = last.entry.term
        return term.pos == "noun" or (term.pos == "adjective" and term.kind == "anatomy")
    word = _word_before(text, match.start)
    lower = word.lower()  # "Diverticulitis perforation"
    return word.isalpha() and word[1:].islower() and lower not in _LOOSE and not is_no_noun(lower)


def _kept(text: str, match: Match, last: Match | None) -> Match | None:
    """The match as it is, or as the word that stays and is explained, or nothing."""
    start, end, entry = match
    contradicted = entry.lay.partition(" ")[0] in _PLACES and _word_before(text, start).lower() in _PLACED
    taken = entry.guarded and not entry.tail and text.startswith(" of ", end)
    bound = (_is_phrase(entry) or entry.surface in _KNOWN) and not _free(text, match, last)
    named = entry.qualified and entry.surface not in _KNOWN
    stacked = (named or entry.surface in _BARE) and _follows_noun(text, match, last)
    if not (contradicted or taken or bound or stacked):
        return match
    said = entry.lay.partition(" (")[0]
    words = {part for part in said.lower().split() if len(part) >= _LONG}
    new = {part for part in words if part not in entry.surface}
    says_again = new != words and len(new) < _LEAST
    if entry.surface in _KNOWN or says_again or (contradicted and said.startswith("half")):
        return None
    explained = _HEAD_AGAIN.sub(r"\g<head> (", f"{entry.surface} ({said})")
    return match._replace(entry=replace(entry, lay=explained, guarded=False, tail=""))
