"""What is written in the place of each match: its lay phrase, moved behind a noun or put in parentheses as it needs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from builders.medlaybench_v.words.lists import listed
from builders.medlaybench_v.words.stacks import is_joined, listed_end, names_a_vessel, noun_end, starts_sentence
from builders.medlaybench_v.writing.attachment import landing, stays_apart
from builders.medlaybench_v.writing.glosses import (
    ALWAYS,
    MOST,
    MOST_NOUNS,
    Told,
    behind_its_noun,
    bracket_follows,
    explained,
    finds_room,
    glossed_behind,
)
from builders.medlaybench_v.writing.matches import Entry, Match, Piece, piece_of
from builders.medlaybench_v.writing.narrowing import may_narrow, narrowed
from builders.medlaybench_v.writing.neighbours import deniable, without_contradiction
from builders.medlaybench_v.writing.surfaces import looks_plural
from builders.medlaybench_v.writing.views import goes_on

_NEAR = 24  # characters before a term that are looked at
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being|as|best|(?:is|are|was|were) (?:\w+ly|also|well|not)) \Z")
# "Also demonstrated are the lungs", "cysts demonstrated within the spleen".
_SHOWN = (".", ";", *(f" {word} " for word in "is are was were as by within throughout along at".split()))
_OWN_HEAD = re.compile(r" ([a-z]{3,}?s?)(?![\w-])")
# "OPLL": what stands behind it would be read as what it stands for.
_LETTERS = re.compile(r"(?!(?:CT|MRI?|MRA|US|PET)\Z)[A-Z][A-Z\d]+s?\Z")
_PANEL = re.compile(r"\([A-Za-z](?:[-–,] ?[A-Za-z])*\) \Z")
_ENHANCEMENT = "enhancement"  # its dye would be read with what follows: "brightening with contrast dye of the nerve"
_SCANS = frozenset(("CT scan", "MRI scan"))
_NAMES_A_PLACE = re.compile(r"\(| (?:of|in|on|around|under|behind|beside) ")  # "pocket of pus in the brain"
_IN_A_PLACE = re.compile(r"(?:of|in|on|under|around|behind|beside|between|inside|outside|above|below|near|along) ")
_FINDING = re.compile(r" (?:mass|tumou?r|nodule|cyst|lesion|collection|gas|air|fluid|lymph node)(?:e?s)?\Z")
_OTHER_PLACES = listed("other places")
_HEAD_NOUN = re.compile(r" (?:of|in|on|around|with|under) | \(")
_PLAINLY = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-])")  # a first word that takes a capital
_THIRD_PERSON = re.compile(r"\A(that \w+[^s])s\b")


def substituted(text: str, at: int, stop: int, matches: Sequence[Match], told: Told) -> list[Piece]:
    """The pieces of text[at:stop]."""
    pieces: list[Piece] = []
    todo = [match for match in matches if match[0] >= at and match[1] <= stop]
    for place, match in enumerate(todo, start=1):
        start, end, entry = match
        if start < at:
            continue
        later = todo[place:]
        if entry.behind:
            last = noun_end(text, end, stop)
            if not last:
                pieces += [Piece(text[at:start]), Piece(_inserted(text, match, told), match)]
                at = end
            elif all(other.end <= last for other in later if other.start < last):
                pieces.append(piece_of((text[at:start], None)))
                at = _moved(pieces, text, match, last, stop, later, told)
            continue
        if start > at:
            pieces.append(piece_of((text[at:start], None)))
        at = end
        if entry.stays and glossed_behind(entry.term) and (last := listed_end(text, end, stop)):
            at = _explained_behind(pieces, text, match, last, later, told)
        elif entry.stays and (last := _name_end(text, match, stop, later)):
            of_it = behind_its_noun(entry.term) or entry.lay  # "coronary artery (of the heart)"
            inside = [other for other in later if other.start < last]
            pieces += _glossed(text, match._replace(entry=replace(entry, lay=of_it)), last, inside, told)
            at = last
        elif entry.tail and (goal := _behind_complement(entry.tail, text, end, stop, later)):
            front = match._replace(entry=replace(entry, lay=entry.lay.removesuffix(f" {entry.tail}")))
            pieces.append(Piece(_inserted(text, front, told), match))
            pieces += substituted(text, end, goal, later, told)
            pieces.append(Piece(f" {entry.tail}", match))
            at = goal
        elif entry.stays and _is_wedged(text, end, later):
            pieces.append(Piece(text[start:end], match))
        else:
            at = _in_place(pieces, text, match, told)
    if at < stop:
        pieces.append(piece_of((text[at:stop], None)))
    return pieces


def _name_end(text: str, match: Match, stop: int, later: Sequence[Match]) -> int:
    """Where the short name ends of which an adjective says the organ, "gastric pouch", or the vessel; 0 for others."""
    start, end, entry = match
    if entry.term.pos != "adjective":
        return 0
    vessel = names_a_vessel(text, end)
    if not vessel and (is_joined(text, start) or not behind_its_noun(entry.term)):
        return 0
    last = listed_end(text, end, stop)
    if last and vessel:
        last = min(last, vessel)  # "mesenteric vein (of the bowel) thrombosis": what follows is not of the bowel
    free = all(other.end <= last for other in later if other.start < last)
    short = len(text[end:last].split()) <= MOST_NOUNS + 1
    again = entry.lay.endswith(f"{text[end:last]})")  # "epithelial (surface layer)" and "layer"
    return last if free and short and not again and not bracket_follows(text, last) else 0


def _is_wedged(text: str, end: int, later: Sequence[Match]) -> bool:
    """Whether an explanation that stands there would part a word from the noun that it belongs to, and that has one of
    its own: "portal (…) blood vessel scan of the veins (venogram)"."""
    if not later or later[0].start != end + 1 or text[end] != " ":
        return False
    noun = later[0].entry
    return not noun.stays and noun.term.pos == "noun" and (" (" in noun.lay or noun.term.gloss)


def _explained_behind(
    pieces: list[Piece], text: str, match: Match, last: int, later: Sequence[Match], told: Told
) -> int:
    """Add an adjective with its noun, which ends at `last`, and what explains it behind; the adjective alone where its
    noun is a long name or not its own. Where the pieces end."""
    start, end, _ = match
    rest = [other for other in later if other.start < last]
    if any(other.end > last or other.entry.behind for other in rest):
        return _in_place(pieces, text, match, told)
    if not finds_room(text, start, end, last):
        pieces.append(Piece(text[start:end], match))
        return end
    pieces += _glossed(text, match, last, rest, told)
    return last


def _in_place(pieces: list[Piece], text: str, match: Match, told: Told) -> int:
    """Add what is said in the place of a match, and where the text goes on."""
    _, end, entry = match
    if entry.tail and text.startswith(" of ", end) and entry.surface.endswith(_ENHANCEMENT):
        match = match._replace(entry=replace(entry, lay=f"{entry.surface} ({entry.lay})"))
    said = _inserted(text, match, told)
    own = _OWN_HEAD.match(text, end) if entry.stays else None
    if own is None or not said.endswith((f" {own[1]})", f" {own[1].removesuffix('s')})", f" {own[1]}s)")):
        pieces.append(piece_of((said, match)))
        return end
    front, _, gloss = said.partition(" (")  # "tibialis anterior muscle (shin muscle)"
    pieces += [Piece(front, match), Piece(own[0]), Piece(f" ({gloss}", match)]
    return own.end()


def _moved(
    pieces: list[Piece], text: str, match: Match, last: int, stop: int, later: Sequence[Match], told: Told
) -> int:
    """Add the noun up to `last` first, then what its adjective says, where nothing else takes it; else the adjective
    stays and is explained. Where the pieces end."""
    inside = [other for other in later if other.start < last]
    goal = landing(match.entry.behind, text, last, stop)
    between = [other for other in later if last <= other.start < goal]
    apart = all(not other.entry.behind and stays_apart(match.entry.behind, other.entry.lay) for other in inside)
    if not goal or not apart:
        kept = explained_in_brackets(match.entry)
        short = len(text[match.end : last].split()) <= MOST_NOUNS
        if kept.lay and short and not any(other.entry.behind for other in inside):
            pieces += _glossed(text, match._replace(entry=kept), last, inside, told)
        else:
            pieces += [Piece(text[match.start : match.end], match), *substituted(text, match.end, last, inside, told)]
        return last
    noun, behind = _noun_first(text, match, last, inside, told)
    pieces += [*noun, *substituted(text, last, goal, between, told), behind]
    return goal


def _behind_complement(tail: str, text: str, end: int, stop: int, later: Sequence[Match]) -> int:
    """Where the end of a lay phrase goes behind what the name is "of"; 0 where that is not clear."""
    goal = landing(tail, text, end, stop)
    return goal if goal > end and all(other.start >= goal or other.end <= goal for other in later) else 0


def _noun_first(text: str, match: Match, last: int, inside: Sequence[Match], told: Told) -> tuple[list[Piece], Piece]:
    """The noun up to `last`, and what its adjective says behind it."""
    noun = match.end + len(text[match.end : last]) - len(text[match.end : last].lstrip())
    first, *others = substituted(text, noun, last, inside, told)
    said = first.text
    if text[match.start].isupper() and _starts_sentence(text, match.start) and _PLAINLY.match(said):
        said = said[:1].upper() + said[1:]
    # The seam before the noun is one of ours: an article may have to change.
    behind = narrowed(match.entry.behind, text, match.start)
    if behind.startswith("that ") and looks_plural(_HEAD_NOUN.split(said + "".join(p.text for p in others))[0]):
        behind = _THIRD_PERSON.sub(r"\1", behind)
    return [Piece(said, first.match or match), *others], Piece(f" {behind}", match)


def _glossed(text: str, match: Match, last: int, inside: Sequence[Match], told: Told) -> list[Piece]:
    """The word and its noun, then what explains the word: a bracket never parts the two. Of two brackets in a row the
    noun's own stands alone."""
    if place := _place_of_finding(text, match, last, inside):
        found, where = _noun_first(text, match._replace(entry=replace(match.entry, behind=place)), last, inside, told)
        return [*found, where]
    noun = substituted(text, match.end, last, inside, told)
    named = text[match.end : last].rpartition(" ")[2]
    if bracket_follows(text, last) or _LETTERS.match(named) or any(_NAMES_A_PLACE.search(p.text) for p in noun):
        return [Piece(text[match.start : match.end], match), *noun]
    said, _, gloss = _inserted(text, match, told).partition(" (")
    if gloss and " " not in gloss:  # "a mucinous (mucus-making) tumor": one word parts nothing
        return [Piece(f"{said} ({gloss}", match), *noun]
    behind = [Piece(f" ({gloss.replace('that brightens', 'brightening')}", match)] if gloss else []
    return [Piece(said, match), *noun, *behind]


def _place_of_finding(text: str, match: Match, last: int, inside: Sequence[Match]) -> str:
    """Where a finding is, which an adjective before it tells in a bracket: "around the vessel" of a "perivascular
    (around the vessel) bleed"; "" where that has no place behind the finding, or a side stands before it."""
    head = inside[-1].entry.term.kind if inside and inside[-1].end == last else ""
    if head not in ("finding", "disease") and not _FINDING.search(text, match.end, last):
        return ""
    _, _, gloss = narrowed(match.entry.lay, text, match.start).partition(" (")
    place = gloss.removesuffix(")")
    before = text[max(0, match.start - _NEAR) : match.start].rstrip().rpartition(" ")[2]
    sided = not _OTHER_PLACES.isdisjoint([before.lower(), *text[match.end : last].lower().split()])
    if sided or not _IN_A_PLACE.match(place):
        return ""
    for other in inside:
        if other.entry.term.kind == "anatomy" or _IN_A_PLACE.match(other.entry.lay.partition(" (")[2]):
            return ""
    return place if landing(place, text, last, len(text)) == last else ""


def explained_in_brackets(entry: Entry) -> Entry:
    """The entry for a word that stays and is explained in brackets."""
    return replace(entry, lay=explained(entry.term), only_attributive=False, guarded=False, behind="")


def _inserted(text: str, match: Match, told: Told) -> str:
    """The lay phrase, capital at a sentence's start, and the expert term behind it where its entry asks for it."""
    start, end, entry = match
    whole = entry.lay
    if _depends(whole):
        whole = without_contradiction(narrowed(whole, text, start), text[max(0, start - 60) : start])
    if whole in _SCANS and goes_on(text, start, end):
        whole = whole.removesuffix(" scan")
    lay, bracket, rest = whole.partition(" (")
    if bracket:
        unexplained = lay + rest.partition(")")[2]  # "aneurysm (bulge) of the belly's main artery"
        named = lay.lower()
        same = named == entry.surface
        most = ALWAYS if entry.term.kind == "modality" else MOST  # the name of a method is a fact
        lay = whole if told.may_explain(named, text, start, most) else unexplained
        lay = text[start:end] + lay[end - start :] if same else lay  # in the capitals of the caption
    if lay == "showed" and (text.startswith(_SHOWN, end) or _PASSIVE.search(text, max(0, start - _NEAR), start)):
        lay = "shown"
    if text[start].isupper() and _starts_sentence(text, start):
        lay = lay[0].upper() + lay[1:]
    if entry.term.gloss and told.may_explain(entry.term.expert, text, start, most=1):
        surface = text[start:end]
        lay = f"{lay} ({surface[:1].lower() + surface[1:] if surface[1:2].islower() else surface})"
    return lay


@lru_cache(maxsize=32768)
def _depends(lay: str) -> bool:
    """Whether a lay phrase may say something else than it does where it stands."""
    return may_narrow(lay) or bool(deniable(lay))


def _starts_sentence(text: str, at: int) -> bool:
    return starts_sentence(text, at) or _PANEL.search(text, max(0, at - 9), at) is not None
