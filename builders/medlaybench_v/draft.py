"""The draft: lay phrases put in the place of expert terms, in one left-to-right pass (Algorithm 1, Substitute).

Matches are word-bounded, case-insensitive, plural-aware and longest first. They never touch a protected fact, and never
see text that an earlier substitution inserted: the authors' replace loop turns "adrenal" into "adkidney" and rewrites
its own insertions, which changes every second caption.

    >>> from builders.medlaybench_v.facts import read
    >>> from builders.medlaybench_v.terms import Term
    >>> hepatic = Term("hepatic", "liver", None, "anatomy", "adjective", "", "", "the liver", False, "doc", "CC0-1.0")
    >>> abscess = Term("abscess", "pocket of pus", None, "finding", "noun", "", "", "in", False, "doc", "CC0-1.0")
    >>> drafter = Drafter([hepatic, abscess])
    >>> caption = read("Two hepatic abscesses and hepatic veins; no adrenal mass.")
    >>> drafter.draft(caption, drafter.match(caption)).text
    'Two pockets of pus in the liver and hepatic veins; no adrenal mass.'
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from builders.licences import strictest
from builders.medlaybench_v.attachment import captured, landing, stays_apart
from builders.medlaybench_v.company import alone, binds
from builders.medlaybench_v.facts import Reading, read
from builders.medlaybench_v.footnotes import unfold_key
from builders.medlaybench_v.glosses import (
    ALWAYS,
    MOST,
    Told,
    beside,
    bracket_follows,
    explained,
    glossed_behind,
    unexplainable,
)
from builders.medlaybench_v.matches import Entry, Match
from builders.medlaybench_v.narrowing import narrowed
from builders.medlaybench_v.neighbours import follows_prefix, operations, shares_head, slashed, without_contradiction
from builders.medlaybench_v.senses import another_sense, composed_of, defined_otherwise, has_other_sense, no_dye
from builders.medlaybench_v.shared_names import counted_elsewhere, ends_in_part, shares_its_name
from builders.medlaybench_v.stacks import (
    FUNCTION_WORDS,
    NOUNS_IN_ING,
    is_joined,
    is_side,
    is_view,
    names_a_vessel,
    noun_end,
    part_of_name,
    said_behind,
)
from builders.medlaybench_v.terms import Term, plural, plural_forms
from builders.medlaybench_v.views import goes_on, pictures

Place = tuple[int, int, int, Entry]  # start, -end, number of the entry, entry


class Piece(NamedTuple):
    """A stretch of a draft: original text, or a phrase put in place of `match`."""

    text: str
    match: Match | None = None


class Draft(NamedTuple):
    """A caption as original and inserted pieces, in order."""

    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join([piece[0] for piece in self.pieces])


_PREPOSITIONS = frozenset(
    "of in on at from around near between under behind inside outside through due by with without for to along "
    "above below that which like than as".split()
)
# After a hyphen these continue a word without changing what stands before it: "CT-guided".
_HYPHEN_SUFFIXES = frozenset(
    "guided like shaped enhanced weighted based sided related induced associated directed".split()
)
# A side would lose its place, and half of "extra and intracranial fluid" its head.
_BEFORE_PLACED = ("left", "right", "bilateral", "sided", "unilateral", " and", " or", "/", "-")
# Places that a body has twice, as the vocabulary names them.
_PAIRED = frozenset(
    f"the {place}"
    for place in (
        "kidney", "lung", "breast", "eye", "eye socket", "hip socket", "shoulder blade", "collarbone", "thigh", "groin",
        "armpit", "ovary", "testicle", "eyeball", "ear", "shoulder", "hip", "knee", "outer lower-leg bone", "shin bone",
        "upper arm bone", "wrist", "heel bone", "kneecap", "kidney-to-bladder tube",
    )
)  # fmt: skip
_PAIRED_PLACE = re.compile(
    rf" (?:in|of|around|on|from|into|under|atop) (the) ({'|'.join(p[4:] for p in sorted(_PAIRED))})\Z"
)
_HALF_NAMES = ("bowel ", "intestinal ")  # of "small bowel perforation" the first word would be left with the hole
_PREFIX = re.compile(r"(?:intra|extra|infra|supra|retro|peri|para|trans|endo|inter|sub|post|pre)(?=[a-z]{4})")
_SIDE_SAID = re.compile(r"\b(?:left|right|bilateral|both|lower|upper)\b", re.IGNORECASE)
_METHOD_CUIS = (("CT", "C0040405"), ("MRI", "C0024485"), ("X-ray", "C1306645"), ("ultrasound", "C0041618"))
# Kinds of terms that are a part of a longer name where another noun follows or an eponym stands before them.
_NAMED_KINDS = frozenset(("anatomy", "finding", "disease", "device", "procedure", "direction", "agent"))
_HEADS = _NAMED_KINDS | {"modality"}
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being|as|best|(?:is|are|was|were) (?:\w+ly|also|well|not)) \Z")
_JOINED_TO = re.compile(
    r"(?:ly| and| or|\b(?:strong|intense|marked|mild|moderate|slight|poor|avid|minimal|not|more|less|most)) \Z|/\Z",
    re.IGNORECASE,
)
_METHOD_BEFORE = re.compile(r"\b(?:CT|MRI?|PET|US|ultraso\w+|magnetic|resonance)[ -]\Z")
_METHOD_WORDS = (
    r"computed|computer\w*|magnetic|nuclear|chest|contrast|high|ultraso\w+|ortho\w+|cone|multi\w*|digital|"
    r"radio\w+|x-?ray|"
    r"dental|panoram\w*|echo\w*|trans\w+|positron|endoscop\w*|posit\w+|plain|mr\b|ct\b"
)
_OWN_HEAD = re.compile(r" ([a-z]{3,}?)s?(?![\w-])")
_LETTERS = re.compile(
    r"(?!(?:CT|MRI?|MRA|US|PET)\Z)[A-Z][A-Z\d]+s?\Z"
)  # "OPLL": what stands behind it would be read as what it stands for
_ENHANCEMENT = "enhancement"  # its dye would be read with what follows: "brightening with contrast dye of the nerve"
_ENDS_OR_JOINS = (".", ",", ")", ":", ";", " and ", " or ")
_PLANES = frozenset(("axial", "coronal", "sagittal"))
_SCANS = frozenset(("CT scan", "MRI scan"))
_DYE = "with contrast dye"
_MOST_NOUNS = 2  # of a name that an explanation of its adjective stands behind
_NEAR = 24  # characters before a term that are looked at
_NAMES_A_PLACE = re.compile(r"\(| (?:of|in|on|around|under|behind|beside) ")  # "pocket of pus in the brain"
_HEAD_NOUN = re.compile(r" (?:of|in|on|around|with|under) | \(")
_THIRD_PERSON = re.compile(r"\A(that \w+[^s])s\b")
_SEPARATORS = frozenset(" ,.;:()")  # most of what stands beside a word; the rest is looked at closely
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_BEHIND_BRACKET = re.compile(r" \((?!arrow|star)[a-z]{2,5}\) ([^\W\d_]+)")  # "left anterior descending (LAD) artery"
_JOINED_ADJECTIVE = re.compile(r" (?:and|or) ([^\W\d_]+) ([^\W\d_]+)")
_HYPHENATED = re.compile(r"-([^\W\d_]+)")


class Drafter:
    """A vocabulary compiled for matching. Compile once, use for every caption; picklable through its terms."""

    def __init__(self, terms: Sequence[Term]) -> None:
        entries: dict[str, Entry] = {}
        self.rejected: Counter[str] = Counter()
        for entry in (*_entries(terms), *_compositions(terms)):
            if entry.surface in entries:
                continue
            if not keeps_facts(entry.surface, entry.lay):
                self.rejected["lay phrase changes a fact"] += 1
                continue
            entries[entry.surface] = entry
        self._entries = list(entries.values())
        self._explained = {entry.surface: _explained(entry) for entry in self._entries if explained(entry.term)}
        self._heads = {n for n, entry in enumerate(self._entries) if entry.term.kind in _HEADS}
        self._plain = {n for n, entry in enumerate(self._entries) if not _may_mean_otherwise(entry)}
        self._places_of = frozenset(
            entry.surface
            for entry in self._entries
            if entry.term.pos == "adjective" and entry.term.kind in ("anatomy", "other")
        )
        self._attributive = frozenset(entry.surface for entry in self._entries if entry.only_attributive)
        self._automaton = AhoCorasick([entry.surface for entry in self._entries], store_patterns=False)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(surface form, lay phrase) of everything that is matched."""
        return [(entry.surface, entry.lay) for entry in self._entries]

    def match(self, caption: Reading, recognised: Sequence[tuple[int, int, Term]] = ()) -> list[Match]:
        """The matches to substitute, left to right, without overlap, longest first.

        `recognised` are (start, end, term) of spans that a recogniser tied to a concept of the vocabulary although
        their wording is not in it; of two equal spans the vocabulary's own wording counts.
        """
        places = self._places(caption, recognised)
        heads, known = self._heads, len(self._entries)
        starts = {start for start, _, n, entry in places if n in heads or (n >= known and entry.term.kind in _HEADS)}
        facts = [fact[2:4] for fact in caption.facts]
        text, lower = caption.text, caption.lower
        matches: list[Match] = []
        left: list[Match] = []  # words that keep their place, to be explained
        longer: list[tuple[int, int]] = []  # names of which they are no part
        free_from, elsewhere = 0, -1
        plain = self._plain
        for start, minus_end, number, entry in places:
            if start < free_from:
                continue
            end = -minus_end
            may_mean = entry.changes and (number >= known or number not in plain)
            if may_mean and _means_otherwise(entry, caption, start, end):
                elsewhere = start
                continue
            if (entry.takes_head and shares_head(text, start)) or (entry.changes and follows_prefix(lower, start)):
                continue
            if (
                (entry.guarded and not _fits(entry, lower, start, end, self._attributive, self._places_of))
                or (entry.changes and _belongs_elsewhere(entry.term, text, start, end, starts))
                or (entry.behind and not self._stands_behind(entry, text, start, end))
            ):
                if " " in entry.surface and not entry.placed:
                    longer.append((start, end))
                elif start != elsewhere and (kept := self._explained.get(entry.surface)):
                    left.append(Match(start, end, kept))
                continue
            if not facts or not _cuts_a_fact(facts, start, end):
                matches.append(Match(start, end, entry))
                free_from = end
        settled = list(alone(text, matches))
        return _with_explained(text, settled, left, longer, facts) if left else settled

    def _stands_behind(self, entry: Entry, text: str, start: int, end: int) -> bool:
        """Whether an adjective may go behind its noun; another place before it would be left alone with the noun."""
        before = text[max(0, start - _NEAR) : start].rstrip().rpartition(" ")[2].lower()
        if entry.behind.startswith("of ") and before in self._places_of:
            return False
        if entry.term.kind == "anatomy" and binds(text, start):
            return False  # "internal intercostal plane block" is one name
        return _can_stand(entry.behind, text, start, end)

    def _places(self, caption: Reading, recognised: Sequence[tuple[int, int, Term]]) -> list[Place]:
        """All that could be matched, by start, the longest first."""
        lower = caption.lower
        entries = self._entries
        end_of_text = len(lower)
        places = [
            (start, -end, index, entries[index])
            for index, start, end in self._automaton.find_matches_as_indexes(lower, overlapping=True)
            if (start == 0 or (before := lower[start - 1]) in _SEPARATORS or _parts_words(before))
            and (end == end_of_text or (after := lower[end]) in _SEPARATORS or _ends_word(lower, end, after))
        ]
        others = [(start, end, _recognised(lower[start:end], term)) for start, end, term in recognised]
        others = [other for other in others if other[2].changes]
        for start, end, lay, tail in pictures(caption.text, lower):
            if keeps(lower[start:end], lay):
                others.append((start, end, _pictured(lower[start:end], lay, tail)))
        for start, end, lay in operations(caption.text):
            if keeps(lower[start:end], lay):
                others.append((start, end, _dated(lower[start:end], lay)))
        places += [
            (start, -end, number, entry) for number, (start, end, entry) in enumerate(others, start=len(entries))
        ]
        places.sort()  # never by the entries: no two places have start, end and number in common
        return places

    def draft(self, caption: Reading, matches: Iterable[Match]) -> Draft:
        """Put the lay phrase of each match (left to right, not overlapping) in its place.

        An abbreviation key at the end ("LV, left ventricle") is told where each abbreviation is first used (ML-G31),
        unless its lay phrase starts with the abbreviation itself ("CT (CT scan)").
        """
        text = caption.text
        changing = [match for match in matches if match.entry.changes]
        pieces: list[Piece] = []
        told = Told()
        for part in unfold_key(text):
            # What explains is not explained again.
            inside = _substituted(text, part.start, part.end, changing, told.whispered() if part.defines else told)
            if part.defines is None:
                pieces += inside
                continue
            said = "".join(piece.text for piece in inside).lower()
            if not said.startswith(part.defines.lower().replace("-", "/")) and not (
                pieces and pieces[-1].text.lower() == said
            ):
                pieces += [Piece(" ("), *inside, Piece(")")]
        return Draft(pieces)


def _substituted(text: str, at: int, stop: int, matches: Sequence[Match], told: Told) -> list[Piece]:
    """The pieces of text[at:stop]."""
    pieces: list[Piece] = []
    todo = [match for match in matches if match.start >= at and match.end <= stop]
    for place, match in enumerate(todo):
        start, end, entry = match
        if start < at:
            continue
        later = todo[place + 1 :]
        if entry.behind:
            last = noun_end(text, end, stop)
            if not last and _stands_alone(text, end):
                pieces += [Piece(text[at:start]), Piece(_inserted(text, match, told), match)]
                at = end
            elif last and all(other.end <= last for other in later if other.start < last):
                pieces.append(Piece(text[at:start]))
                at = _moved(pieces, text, match, last, stop, later, told)
            continue
        if start > at:
            pieces.append(Piece(text[at:start]))
        at = end
        if _stays(entry) and glossed_behind(entry.term) and (last := noun_end(text, end, stop)):
            at = _explained_behind(pieces, text, match, last, later, told)
        elif entry.tail and (goal := _behind_complement(entry.tail, text, end, stop, later)):
            front = match._replace(entry=entry._replace(lay=entry.lay.removesuffix(f" {entry.tail}")))
            pieces.append(Piece(_inserted(text, front, told), match))
            pieces += _substituted(text, end, goal, later, told)
            pieces.append(Piece(f" {entry.tail}", match))
            at = goal
        else:
            at = _in_place(pieces, text, match, told)
    if at < stop:
        pieces.append(Piece(text[at:stop]))
    return pieces


def _explained_behind(
    pieces: list[Piece], text: str, match: Match, last: int, later: Sequence[Match], told: Told
) -> int:
    """Add an adjective with its noun, which ends at `last`, and what explains it behind; the adjective alone where its
    noun is a long name or not its own. Where the pieces end."""
    start, end, _ = match
    rest = [other for other in later if other.start < last]
    if any(other.end > last or other.entry.behind for other in rest):
        return _in_place(pieces, text, match, told)
    if is_joined(text, start) or names_a_vessel(text, end) or len(text[end:last].split()) > _MOST_NOUNS:
        pieces.append(Piece(text[start:end], match))
        return end
    pieces += _glossed(text, match, last, rest, told)
    return last


def _in_place(pieces: list[Piece], text: str, match: Match, told: Told) -> int:
    """Add what is said in the place of a match, and where the text goes on."""
    start, end, entry = match
    dyed = "contrast" in text[max(0, start - _NEAR) : start]
    if entry.tail and not dyed and text.startswith(" of ", end) and entry.surface.endswith(_ENHANCEMENT):
        match = match._replace(entry=entry._replace(lay=f"{entry.surface} ({entry.lay})"))
    said = _inserted(text, match, told)
    own = _OWN_HEAD.match(text, end) if _stays(entry) else None
    if own is None or not said.endswith(f" {own[1]})"):
        pieces.append(Piece(said, match))
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
    if not goal or not apart or any(other.end > goal for other in between):
        kept = _explained(match.entry)
        short = len(text[match.end : last].split()) <= _MOST_NOUNS
        if kept.lay and short and not any(other.entry.behind for other in inside):
            pieces += _glossed(text, match._replace(entry=kept), last, inside, told)
        else:
            pieces += [Piece(text[match.start : match.end], match), *_substituted(text, match.end, last, inside, told)]
        return last
    noun, behind = _noun_first(text, match, last, inside, told)
    pieces += [*noun, *_substituted(text, last, goal, between, told), behind]
    return goal


def _behind_complement(tail: str, text: str, end: int, stop: int, later: Sequence[Match]) -> int:
    """Where the end of a lay phrase goes behind what the name is "of"; 0 where that is not clear."""
    goal = landing(tail, text, end, stop)
    return goal if goal > end and all(other.start >= goal or other.end <= goal for other in later) else 0


def _noun_first(text: str, match: Match, last: int, inside: Sequence[Match], told: Told) -> tuple[list[Piece], Piece]:
    """The noun up to `last`, and what its adjective says behind it."""
    noun = match.end + len(text[match.end : last]) - len(text[match.end : last].lstrip())
    first, *others = _substituted(text, noun, last, inside, told)
    said = first.text
    if text[match.start].isupper() and _starts_sentence(text, match.start) and said.split(" ", 1)[0].isalpha():
        said = said[:1].upper() + said[1:]
    # The seam before the noun is one of ours: an article may have to change.
    behind = narrowed(match.entry.behind, text, match.start)
    if behind.startswith("that ") and _looks_plural(_HEAD_NOUN.split(said + "".join(p.text for p in others))[0]):
        behind = _THIRD_PERSON.sub(r"\1", behind)
    return [Piece(said, first.match or match), *others], Piece(f" {behind}", match)


def _glossed(text: str, match: Match, last: int, inside: Sequence[Match], told: Told) -> list[Piece]:
    """The word and its noun, then what explains the word: a bracket never parts the two. Of two brackets in a row the
    noun's own stands alone."""
    noun = _substituted(text, match.end, last, inside, told)
    named = text[match.end : last].rpartition(" ")[2]
    if bracket_follows(text, last) or _LETTERS.match(named) or any(_NAMES_A_PLACE.search(p.text) for p in noun):
        return [Piece(text[match.start : match.end], match), *noun]
    said, _, gloss = _inserted(text, match, told).partition(" (")
    behind = [Piece(f" ({gloss.replace('that brightens', 'brightening')}", match)] if gloss else []
    return [Piece(said, match), *noun, *behind]


def keeps_facts(surface: str, lay: str) -> bool:
    """Whether a lay phrase has the numbers, sides, negations, markers and modalities of what it replaces.

    A modality may be said with one more ("CT angiogram" -> "CT scan of blood vessels"), never with one less; a word
    with a hidden negation ("asymptomatic") may be spelled out.
    """
    here, there = read(surface).facts, read(lay).facts
    for kind in ("number", "side", "date", "marker"):
        if sorted(f.value for f in here if f.kind == kind) != sorted(f.value for f in there if f.kind == kind):
            return False
    if sum(f.kind == "negation" for f in here) > sum(f.kind == "negation" for f in there):
        return False
    return {f.value for f in here if f.kind == "modality"} <= {f.value for f in there if f.kind == "modality"}


def _hyphenated(terms: Sequence[Term]) -> Iterator[Term]:
    """Names of several words whose first word may be written with a hyphen: "intra-cranial hypotension"."""
    for term in terms:
        if " " in term.expert and (prefix := _PREFIX.match(term.expert)):
            cut = prefix.end()
            many = term.expert_plural
            many = f"{many[:cut]}-{many[cut:]}" if _PREFIX.match(many) else many
            yield replace(term, expert=f"{term.expert[:cut]}-{term.expert[cut:]}", expert_plural=many)


def _entries(terms: Sequence[Term]) -> Iterator[Entry]:
    for term in (*terms, *_hyphenated(terms)):
        attributive = term.kind == "anatomy" and term.pos == "adjective"
        yield _entry(term.expert, term.lay, term, attributive)
        if term.pos == "noun":
            yield from _sided(term.expert, term.lay, term)
            expert, lay = plural_forms(term)
            if expert:
                yield _entry(expert, lay, term)
                yield from _sided(expert, lay, term)


def _sided(expert: str, lay: str, term: Term) -> Iterator[Entry]:
    """The side goes to the place that has one: "left lung lesion" -> "abnormal area in the left lung"."""
    place = _PAIRED_PLACE.search(lay)
    if place is None or _SIDE_SAID.search(expert):
        return
    for side in ("left", "right"):
        said = f"{lay[: place.end(1)]} {side} {lay[place.start(2) :]}"
        yield Entry(f"{side} {expert}".lower(), said, term, False, True, term.licence, True, placed=True)


def _entry(surface: str, lay: str, term: Term, attributive: bool = False) -> Entry:
    if behind := said_behind(term):
        return Entry(surface.lower(), behind, term, False, False, term.licence, True, behind)
    lay = beside(lay) if term.pos == "adjective" else lay
    named = lay.partition(" (")[0] if term.expert.isupper() else lay  # letters stand before a noun as they are
    closes = term.pos == "noun" and any(word in _PREPOSITIONS for word in named.split()[1:])
    changes = lay.lower() != surface.lower()
    heads = changes and (closes or " (" in lay) and term.pos == "noun" and " " in surface
    tail = _DYE if term.pos == "noun" and lay.endswith(f" {_DYE}") else ""
    return Entry(
        surface.lower(), lay, term, attributive, attributive or closes, term.licence, changes, takes_head=heads,
        tail=tail,
    )  # fmt: skip


def _compositions(terms: Sequence[Term]) -> Iterator[Entry]:
    """Place adjective + finding: "hepatic abscess" -> "pocket of pus in the liver".

    Where the place comes in pairs, its side goes with it: "left renal cyst" -> "fluid pocket in the left kidney".
    """
    places = [t for t in terms if t.kind == "anatomy" and t.pos == "adjective" and t.site]
    findings = [t for t in terms if t.kind in ("finding", "disease") and t.pos == "noun" and t.site]
    for finding in findings:
        if any(word in _PREPOSITIONS - {"of"} for word in finding.lay.split()):
            continue  # "bulge in a blood vessel in the liver" says too much: such findings need an entry of their own
        expert_plural, lay_plural = plural_forms(finding)
        for place in places:
            expert, where = f"{place.expert} {finding.expert}", place.site
            same = place.licence == finding.licence
            licence = finding.licence if same else strictest(finding.licence, [place.licence])
            yield _placed(expert, finding.lay, finding, where, licence)
            if expert_plural:
                yield _placed(f"{place.expert} {expert_plural}", lay_plural, finding, where, licence)
            if where not in _PAIRED:
                continue
            noun = where.removeprefix("the ")
            for side in ("left", "right"):
                its = f"the {side} {noun}"
                yield _placed(f"{side} {expert}", finding.lay, finding, its, licence)
                if expert_plural:
                    yield _placed(f"{side} {place.expert} {expert_plural}", lay_plural, finding, its, licence)
            if expert_plural:
                both = f"bilateral {place.expert} {expert_plural}"
                yield _placed(both, lay_plural, finding, f"both {plural(noun)}", licence)


def _placed(surface: str, lay: str, finding: Term, where: str, licence: str) -> Entry:
    lay = f"{lay} {finding.site} {where}"
    return Entry(surface.lower(), lay, finding, False, True, licence, True, placed=True, takes_head=True)


@lru_cache(maxsize=16384)
def keeps(surface: str, lay: str) -> bool:
    """`keeps_facts`, remembered: the same names of pictures come again and again."""
    return keeps_facts(surface, lay)


@lru_cache(maxsize=16384)
def _pictured(surface: str, lay: str, tail: str) -> Entry:
    """An entry for the name of a picture (`views`)."""
    cui = next((cui for word, cui in _METHOD_CUIS if word in lay), None)
    term = Term(surface, lay, cui, "modality", "noun", "-", "-", "", False, "bedside-cc0", "CC0-1.0")
    return Entry(surface, lay, term, False, False, term.licence, True, tail=tail)


@lru_cache(maxsize=4096)
def _dated(surface: str, lay: str) -> Entry:
    """An entry for a time after an operation (`operations`)."""
    term = Term(surface, lay, None, "time", "phrase", "-", "-", "", False, "bedside-cc0", "CC0-1.0")
    return Entry(surface, lay, term, False, False, term.licence, True)


def _recognised(surface: str, term: Term) -> Entry:
    """An entry for a wording that a recogniser tied to the term's concept, in the number of that wording."""
    many = term.pos == "noun" and _looks_plural(surface) and not _looks_plural(term.expert.lower())
    lay = (plural_forms(term)[1] or term.lay) if many else term.lay
    return _entry(surface, lay if keeps_facts(surface, lay) else surface, term)


def _looks_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def _parts_words(before: str) -> bool:
    return not (before.isalnum() or before in "-–'’_")


def _ends_word(text: str, end: int, after: str) -> bool:
    if after in "-–":
        suffix = _HYPHENATED.match(text, end)
        return suffix is not None and suffix[1] in _HYPHEN_SUFFIXES
    if after in "'’" and text.startswith("s", end + 1):
        return False  # "the catheter's tip": a bracket or a preposition would take the ending
    return not (after.isalnum() or after == "_")


def _cuts_a_fact(facts: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether a match would take a part of a protected span; a whole one inside is checked by `keeps_facts`."""
    for first, last in facts:
        if first >= end:
            return False
        if start < last and not (start <= first and last <= end):
            return True
    return False


def _explained(entry: Entry) -> Entry:
    """The entry for a word that stays and is explained in brackets."""
    return entry._replace(lay=explained(entry.term), only_attributive=False, guarded=False, behind="")


def _stands_free(term: Term, text: str, start: int, end: int) -> bool:
    """Whether a bracket can follow the word: not within a chain of hyphens, a list with slashes or another's name."""
    before = text[max(0, start - 9) : start].lower()
    if text[end : end + 1] not in (" ", "") or names_a_vessel(text, end):
        return False
    if term.kind == "time" and before.endswith("ly "):
        return False  # "recently postoperative"
    return before[-1:] in (" ", "", "(") and not before.endswith(("not ", "non ", "contrast "))


def _with_explained(
    text: str, matches: list[Match], left: list[Match], names: list[tuple[int, int]], facts: list[tuple[int, int]]
) -> list[Match]:
    """The matches and, between them, the words that stay, but those that another match, a name or a fact holds."""
    taken = [*((match.start, match.end) for match in matches), *names]
    free = {
        m.start: m
        for m in left
        if _stands_free(m.entry.term, text, m.start, m.end)
        and not any(start < m.end and m.start < end for start, end in taken)
        and not _cuts_a_fact(facts, m.start, m.end)
    }
    return sorted((*free.values(), *matches), key=lambda match: match.start) if free else matches


def _can_stand(behind: str, text: str, start: int, end: int) -> bool:
    """Whether what is said behind a noun finds its place; an adverb before it, or what it is joined to, would not."""
    if _JOINED_TO.search(text, max(0, start - _NEAR), start):
        return False
    last = noun_end(text, end, len(text))
    return landing(behind, text, last, len(text)) > 0 if last else _stands_alone(text, end)


def _stands_alone(text: str, end: int) -> bool:
    """Whether nothing follows that an adjective could belong to: "the masses were bilateral.", "(postoperative)"."""
    return text[end : end + 1] in ("", ".", ")", ";")


def _belongs_elsewhere(term: Term, text: str, start: int, end: int, heads: set[int]) -> bool:
    """Whether what stands at [start, end) is a part of a name that the vocabulary does not know."""
    if term.kind == "view" and term.pos == "adjective":
        # "External oblique" is a muscle: only these three name nothing else.
        ends = term.expert not in _PLANES and text.startswith(_ENDS_OR_JOINS, end)
        muscle = text[max(0, start - 9) : start].lower().endswith(("internal ", "external ", "superior ", "inferior "))
        return ends or muscle or not is_view(text, end)
    if term.kind == "direction" and term.pos == "adjective" and (slashed(text, start, end) or not is_side(text, end)):
        return True
    if term.kind == "anatomy" and term.pos == "adjective" and names_a_vessel(text, end):
        return True
    if term.kind not in _NAMED_KINDS:
        return False
    adjective = term.pos != "noun" and term.kind not in ("anatomy", "direction")
    return part_of_name(text, start, end, heads, adjective)


def _may_mean_otherwise(entry: Entry) -> bool:
    """Whether `_means_otherwise` could say so of the entry anywhere."""
    return (
        entry.only_attributive
        or _stays(entry)
        or has_other_sense(entry.surface)
        or (not entry.placed and has_other_sense(entry.term.expert.lower()))
        or (entry.placed and has_other_sense(composed_of(entry.surface)))
        or ends_in_part(entry.surface)
        or entry.term.kind == "modality"
        or "contrast dye" in entry.lay
    )


def _stays(entry: Entry) -> bool:
    """Whether the lay phrase is the expert's word with an explanation."""
    size = len(entry.surface)
    return entry.lay[size : size + 2] == " (" and entry.lay[:size].lower() == entry.surface


def _means_otherwise(entry: Entry, caption: Reading, start: int, end: int) -> bool:
    """Whether the lay phrase would say something else here than the expert's word (`senses`)."""
    text, lower = caption.text, caption.lower
    if _stays(entry) and unexplainable(entry.term.expert, text, start, end):
        return True
    if entry.placed and entry.surface in lower[start:end]:
        adjective = composed_of(entry.surface)
        at = start + entry.surface.index(adjective)
        if another_sense(adjective, lower, at, at + len(adjective)):
            return True
    singular = "" if entry.placed else entry.term.expert.lower()
    if another_sense(entry.surface, lower, start, end, singular) or (
        entry.only_attributive and counted_elsewhere(lower, start)
    ):
        return True
    if "contrast dye" in entry.lay and no_dye(lower, start):
        return True
    if entry.term.kind == "modality" and _another_method(entry, text, start, end):
        return True
    renamed = entry.lay.rpartition(" ")[2] != entry.surface.rpartition(" ")[2]
    return renamed and shares_its_name(lower, start, end)


def _another_method(entry: Entry, text: str, start: int, end: int) -> bool:
    """Whether the name of a method is a part of another one's ("MR mammography") or stands for something else."""
    if "X-ray" in entry.lay and _METHOD_BEFORE.search(text, max(0, start - 12), start):
        return True
    short = text[start:end]
    return short.isupper() and defined_otherwise(short, text, _METHOD_WORDS)


def _fits(entry: Entry, text: str, start: int, end: int, attributive: frozenset[str], places: frozenset[str]) -> bool:
    """Whether the lay phrase can stand between what comes before and what follows."""
    if entry.surface.startswith(_HALF_NAMES) and text[max(0, start - _NEAR) : start].endswith(("small ", "large ")):
        return False
    following = _NEXT_WORD.match(text, end) or _BEHIND_BRACKET.match(text, end)
    if entry.only_attributive:
        if following is None:
            return text[end : end + 1] in (",", "/")
        if joined := _JOINED_ADJECTIVE.match(text, end):  # "hepatic and renal cysts", both in plain words
            return (
                joined[1] in attributive
                and joined[2] not in FUNCTION_WORDS
                and not another_sense(joined[1], text, *joined.span(1))
            )
        return following[1] not in FUNCTION_WORDS
    if entry.placed:
        before = text[max(0, start - _NEAR) : start].rstrip()
        if before.endswith(_BEFORE_PLACED) or before.rpartition(" ")[2] in places:
            return False
    if following is None or (entry.placed and captured(text, end)):
        return following is None
    if following[1] in FUNCTION_WORDS:
        return True
    return following[1] not in NOUNS_IN_ING and following[1].endswith(("ing", "ed", "ly"))


def _inserted(text: str, match: Match, told: Told) -> str:
    """The lay phrase, capital at a sentence's start, and the expert term behind it where its entry asks for it."""
    start, end, entry = match
    whole = without_contradiction(narrowed(entry.lay, text, start), text[max(0, start - 60) : start])
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
    if lay == "showed" and _PASSIVE.search(text, max(0, start - _NEAR), start):
        lay = "shown"
    if text[start].isupper() and _starts_sentence(text, start):
        lay = lay[0].upper() + lay[1:]
    if entry.term.gloss and told.may_explain(entry.term.expert, text, start, most=1):
        surface = text[start:end]
        lay = f"{lay} ({surface[:1].lower() + surface[1:] if surface[1:2].islower() else surface})"
    return lay


def _starts_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 4) : at].rstrip(" (")
    return (not before and at < 4) or before.endswith((".", "!", "?", ":"))
