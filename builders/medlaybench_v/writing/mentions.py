"""Whether a term may be put in plain words where it is mentioned.

It must have the vocabulary's meaning there, must not be part of a longer name, and its plain words must fit in.

What has to be checked for a term is settled once, when a vocabulary is compiled (`form_of`), so most mentions need
few checks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from builders.medlaybench_v.facts import Fact
from builders.medlaybench_v.words.lists import any_of, listed
from builders.medlaybench_v.words.stacks import (
    FUNCTION_WORDS,
    NOUNS_IN_ING,
    is_no_noun,
    is_side,
    is_view,
    names_a_vessel,
    noun_end,
    part_of_name,
)
from builders.medlaybench_v.words.terms import Term
from builders.medlaybench_v.writing.attachment import landing
from builders.medlaybench_v.writing.glosses import unexplainable
from builders.medlaybench_v.writing.matches import Entry
from builders.medlaybench_v.writing.neighbours import counted_elsewhere, ends_in_part, shares_its_name
from builders.medlaybench_v.writing.senses import another_sense, composed_of, defined_otherwise, has_other_sense, no_dye
from builders.medlaybench_v.writing.surfaces import HOLLOW

# Each is asked of an entry, the text, the text in lower case, and where in it the entry stands: [start, end).
Doubt = Callable[[Entry, str, str, int, int], bool]
# Whether a term at [start, end) of a text is a part of a longer name; the set are places where names start.
PartOfName = Callable[[str, int, int, Set[int]], bool]


class Form(NamedTuple):
    """An entry, and what can be asked of its mentions."""

    entry: Entry
    doubts: tuple[Doubt, ...]
    part_of_name: PartOfName | None
    is_head: bool  # a term that can stand behind another one's name


# After a hyphen these continue a word without changing what stands before it: "CT-guided".
_HYPHEN_SUFFIXES = listed("hyphen suffixes")
# A side would lose its place, and half of "extra and intracranial fluid" its head.
_BEFORE_PLACED = ("left", "right", "bilateral", "sided", "unilateral", " and", " or", "/", "-")
_HALF_NAMES = ("bowel ", "intestinal ")  # of "small bowel perforation" the first word would be left with the hole
# Kinds of terms that are a part of a longer name where another noun follows or an eponym stands before them.
_NAMED_KINDS = frozenset(("anatomy", "finding", "disease", "device", "procedure", "direction", "agent"))
_HEADS = _NAMED_KINDS | {"modality"}
_JOINED_TO = re.compile(
    r"(?:ly| and| or|\b(?:strong|intense|marked|mild|moderate|slight|poor|avid|minimal|not|more|less|most)) \Z|/\Z",
    re.IGNORECASE,
)
_METHOD_BEFORE = re.compile(r"\b(?:CT|MRI?|PET|US|ultraso\w+|magnetic|resonance)[ -]\Z")
_METHOD_WORDS = any_of("methods")
_NARROW_OR_WIDE = re.compile(r"[ ](?:stenos[ei]s|strictures?|dilat(?:at)?ions?)(?![\w-])")
_ENDS_OR_JOINS = (".", ",", ")", ":", ";", " and ", " or ")
_PLANES = frozenset(("axial", "coronal", "sagittal"))
_NEAR = 24  # characters before a term that are looked at
_SEPARATORS = frozenset(("", *" ,.;:()"))  # most of what stands beside a word; the rest is looked at closely
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_BEHIND_BRACKET = re.compile(r" \((?!arrow|star)[a-z]{2,5}\) ([^\W\d_]+)")  # "left anterior descending (LAD) artery"
_JOINED_ADJECTIVE = re.compile(r" (?:and|or) ([^\W\d_]+) ([^\W\d_]+)")
_HYPHENATED = re.compile(r"[-‐]([^\W\d_]+)")


def form_of(entry: Entry) -> Form:
    """An entry with what can be asked of it anywhere."""
    doubts = tuple(_doubts(entry)) if entry.changes else ()
    return Form(entry, doubts, _part_of_name(entry.term) if entry.changes else None, entry.term.kind in _HEADS)


def means_otherwise(form: Form, text: str, lower: str, start: int, end: int) -> bool:
    """Whether the lay phrase would say something else here than the expert's word (`senses`)."""
    entry = form.entry
    for doubt in form.doubts:  # noqa: SIM110 (a generator for `any` takes as long as the doubts)
        if doubt(entry, text, lower, start, end):
            return True
    return False


def _doubts(entry: Entry) -> Iterator[Doubt]:
    """What may make an entry say something else than its surface form."""
    if entry.stays:
        yield _unexplainable
    if entry.placed and has_other_sense(composed_of(entry.surface)):
        yield _another_place
    if has_other_sense(entry.surface):
        yield lambda entry, text, lower, start, end: another_sense(entry.surface, lower, start, end)
    elif not entry.placed and has_other_sense(one := entry.term.expert.lower()):  # of a plural that the table lacks
        yield lambda entry, text, lower, start, end: another_sense(one, lower, start, end)
    if entry.only_attributive:
        yield lambda entry, text, lower, start, end: counted_elsewhere(lower, start)
    if entry.term.pos == "adjective" and entry.term.site and entry.term.expert not in HOLLOW:
        yield lambda entry, text, lower, start, end: _NARROW_OR_WIDE.match(lower, end) is not None
    if "contrast dye" in entry.lay:
        yield lambda entry, text, lower, start, end: no_dye(lower, start)
    if entry.term.kind == "modality":
        yield _another_method
    if ends_in_part(entry.surface) and entry.lay.rpartition(" ")[2] != entry.surface.rpartition(" ")[2]:
        yield lambda entry, text, lower, start, end: shares_its_name(lower, start, end)


def _unexplainable(entry: Entry, text: str, lower: str, start: int, end: int) -> bool:
    # No bracket parts "voxel-based" or "FDG-PET/CT".
    return text.startswith(("-", "–", "/"), end) or unexplainable(entry.term.expert, text, start, end)


def _another_place(entry: Entry, text: str, lower: str, start: int, end: int) -> bool:
    """Whether the adjective of place that a composed name begins with means something else."""
    adjective = composed_of(entry.surface)
    at = start + entry.surface.index(adjective)
    return another_sense(adjective, lower, at, at + len(adjective))


def _another_method(entry: Entry, text: str, lower: str, start: int, end: int) -> bool:
    """Whether the name of a method is a part of another one's ("MR mammography") or stands for something else."""
    if "X-ray" in entry.lay and _METHOD_BEFORE.search(text, max(0, start - 12), start):
        return True
    short = text[start:end]
    return short.isupper() and defined_otherwise(short, text, _METHOD_WORDS)


def _part_of_name(term: Term) -> PartOfName | None:
    """What tells whether a term is only a part of a name that the vocabulary does not know."""
    if term.kind == "view" and term.pos == "adjective":
        return _no_view_of_plane if term.expert in _PLANES else _no_view
    if term.kind == "direction" and term.pos == "adjective":
        return lambda text, start, end, heads: not is_side(text, end)
    if term.kind == "anatomy" and term.pos == "adjective":
        if term.lay.startswith("of the "):
            return _branch_or_name
        return None if term.lay.endswith("'s") else _vessel_or_name  # "unborn baby's" stands before any noun
    if term.kind not in _NAMED_KINDS:
        return None
    return _name_of_noun if term.pos == "noun" or term.kind in ("anatomy", "direction") else _name_of_adjective


def _no_view_of_plane(text: str, start: int, end: int, heads: Set[int]) -> bool:
    return not is_view(text, end)


def _no_view(text: str, start: int, end: int, heads: Set[int]) -> bool:
    # Only the three planes name nothing else where no picture follows.
    return text.startswith(_ENDS_OR_JOINS, end) or _no_view_of_plane(text, start, end, heads)


def _vessel_or_name(text: str, start: int, end: int, heads: Set[int]) -> bool:
    return names_a_vessel(text, end) > 0 or _name_of_noun(text, start, end, heads)


def _branch_or_name(text: str, start: int, end: int, heads: Set[int]) -> bool:
    # An atrial branch is one of an artery, and no branch of the chamber.
    return text.startswith(" branch", end) or _vessel_or_name(text, start, end, heads)


_name_of_noun, _name_of_adjective = (partial(part_of_name, adjective=each) for each in (False, True))


def begins_word(before: str) -> bool:
    """Whether a word begins behind the letter or mark `before`."""
    return before in _SEPARATORS or not (before.isalnum() or before in "-‐–'’_")


def ends_word(lower: str, end: int) -> bool:
    """Whether a word ends at `end`, or one that a known ending follows."""
    after = lower[end : end + 1]
    if after in _SEPARATORS:
        return True
    if after in "-‐–":
        suffix = _HYPHENATED.match(lower, end)
        return suffix is not None and suffix[1] in _HYPHEN_SUFFIXES
    if after in "'’" and lower.startswith("s", end + 1):
        return False  # "the catheter's tip": a bracket or a preposition would take the ending
    return not after.isalnum()


def cuts_a_fact(facts: Sequence[Fact], start: int, end: int) -> bool:
    """Whether a match would take a part of a protected span; a whole one inside is checked by `keeps_facts`."""
    for _, _, first, last, _ in facts:
        if first >= end:
            return False
        if start < last and not (start <= first and last <= end):
            return True
    return False


def stands_free(term: Term, text: str, start: int, end: int) -> bool:
    """Whether a bracket can follow the word: not within a chain of hyphens, a list with slashes or another's name."""
    before = text[max(0, start - 9) : start].lower()
    if text[end : end + 1] not in (" ", "") or names_a_vessel(text, end):
        return False
    return before[-1:] in (" ", "", "(") and not before.endswith(("not ", "non ", "contrast "))


def can_stand(behind: str, text: str, start: int, end: int) -> bool:
    """Whether what is said behind a noun finds its place; an adverb before it, or what it is joined to, would not."""
    if _JOINED_TO.search(text, max(0, start - _NEAR), start):
        return False
    last = noun_end(text, end, len(text))
    if last:
        return landing(behind, text, last, len(text)) > 0
    return stands_alone(text, end) and not behind.startswith("that ")  # "the node is that takes up sugar"


def stands_alone(text: str, end: int) -> bool:
    """Whether nothing follows that an adjective could belong to: "the masses were bilateral.", "(postoperative)"."""
    return text[end : end + 1] in ("", ".", ")", ";")


def fits(entry: Entry, text: str, start: int, end: int, attributive: frozenset[str], places: frozenset[str]) -> bool:
    """Whether the lay phrase can stand between what comes before and what follows."""
    if entry.surface.startswith(_HALF_NAMES) and text[max(0, start - _NEAR) : start].endswith(("small ", "large ")):
        return False
    following = _NEXT_WORD.match(text, end) or _BEHIND_BRACKET.match(text, end)
    if entry.only_attributive:
        if following is None:
            return text[end : end + 1] in (",", "/")
        if joined := _JOINED_ADJECTIVE.match(text, end):  # "hepatic and renal cysts", both in plain words
            return joined[1] in attributive
        return following[1] not in FUNCTION_WORDS
    if entry.placed:
        before = text[max(0, start - _NEAR) : start].rstrip()
        if before.endswith(_BEFORE_PLACED) or before.rpartition(" ")[2] in places:
            return False
    if following is None:
        return True
    if following[1] in FUNCTION_WORDS:
        return True
    if not entry.guarded:
        return is_no_noun(following[1])
    return following[1] not in NOUNS_IN_ING and following[1].endswith(("ing", "ed", "ly"))
