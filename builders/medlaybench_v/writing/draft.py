"""The draft: lay phrases put in the place of expert terms, in one left-to-right pass (Algorithm 1, Substitute).

Matches are word-bounded, case-insensitive, plural-aware and longest first. They never touch a protected fact, and never
see text that an earlier substitution inserted: the authors' replace loop turns "adrenal" into "adkidney" and rewrites
its own insertions, which changes every second caption.

    >>> from builders.medlaybench_v.facts import read
    >>> from builders.medlaybench_v.words.terms import Term
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
from functools import lru_cache

from ahocorasick_rs import AhoCorasick

from builders.medlaybench_v.facts import Fact, Reading, facts_of, read
from builders.medlaybench_v.words.terms import Term
from builders.medlaybench_v.writing.bare import BUNDLED, in_bare
from builders.medlaybench_v.writing.capitals import in_small_letters, is_in_capitals
from builders.medlaybench_v.writing.company import alone
from builders.medlaybench_v.writing.footnotes import unfold_key
from builders.medlaybench_v.writing.glosses import Told, explained, in_capitals
from builders.medlaybench_v.writing.matches import Draft, Entry, Match, Piece, match_of
from builders.medlaybench_v.writing.mentions import (
    Form,
    begins_word,
    can_stand,
    cuts_a_fact,
    ends_word,
    fits,
    form_of,
    means_otherwise,
    stands_free,
)
from builders.medlaybench_v.writing.neighbours import (
    BARE_PREFIXES,
    HALF,
    follows_prefix,
    operations,
    shares_head,
    shares_stem,
)
from builders.medlaybench_v.writing.substitution import explained_in_brackets, substituted
from builders.medlaybench_v.writing.surfaces import entries, keeps_facts, recognised_as, unfolded
from builders.medlaybench_v.writing.views import pictures, with_hyphens

Place = tuple[int, int, int, Form]  # start, -end, number of the form, form
_FEW = 3
_CAPITALS = re.compile(r"[A-Z][A-Za-z]{1,2}s?")  # a few letters, one thing or several
_LETTERS = re.compile(r"[A-Z]{2,}")
_NEAR = 24  # characters before a term that are looked at


class Drafter:
    """A vocabulary compiled for matching. Compile once, use for every caption; picklable through its terms."""

    def __init__(self, terms: Sequence[Term]) -> None:
        by_surface: dict[str, Entry] = {}
        self.rejected: Counter[str] = Counter()
        for entry in entries(terms):
            if entry.surface in by_surface:
                continue
            if not keeps_facts(entry.surface, entry.lay):
                self.rejected["lay phrase changes a fact"] += 1
                continue
            by_surface[entry.surface] = entry
        # Two or three letters stand within most words, and are explained where they are capitals (`unexplainable`):
        # they are looked for among capitals.
        letters = [s for s, entry in by_surface.items() if _is_few_letters(entry)]
        words = [surface for surface in by_surface if surface not in set(letters)]
        known = [by_surface[surface] for surface in (*words, *letters)]
        self._forms = [form_of(entry) for entry in known]
        self._letters = {surface: number for number, surface in enumerate(letters, start=len(words))}
        self._explained = {entry.surface: explained_in_brackets(entry) for entry in known if explained(entry.term)}
        self._places_of = frozenset(
            entry.surface
            for entry in known
            if entry.term.pos == "adjective" and entry.term.kind in ("anatomy", "other")
        )
        self._bundled = any(term.source == BUNDLED for term in terms)
        self._abbreviations = {word for term in terms for word in _LETTERS.findall(term.expert)}
        self._attributive = frozenset(entry.surface for entry in known if entry.only_attributive)
        self._automaton = AhoCorasick(words, store_patterns=False)

    def __len__(self) -> int:
        return len(self._forms)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """(surface form, lay phrase) of everything that is matched."""
        return [(entry.surface, entry.lay) for entry, *_ in self._forms]

    def match(self, caption: Reading, recognised: Sequence[tuple[int, int, Term]] = ()) -> list[Match]:
        """The matches to substitute, left to right, without overlap, longest first.

        `recognised` are (start, end, term) of spans that a recogniser tied to a concept of the vocabulary although
        their wording is not in it; of two equal spans the vocabulary's own wording counts.
        """
        caption = caption.get(self._in_small_letters)
        text, lower, facts = caption.text, with_hyphens(caption.lower), caption.get(facts_of)
        places = self._places(text, lower, recognised)
        heads = {start for start, _, _, form in places if form.is_head}
        matches: list[Match] = []
        left: list[Match] = []  # words that keep their place, to be explained
        parts: list[Match] = []  # words that are a part of a name, which are explained where nothing else is
        longer: list[tuple[int, int]] = []  # names of which they are no part
        free_from, elsewhere = 0, -1
        halves = HALF in text
        prefixes = not BARE_PREFIXES.isdisjoint(caption.bag)
        for start, minus_end, _, form in places:
            if start < free_from:
                continue
            end = -minus_end
            entry, doubts, part_of_name, _ = form
            if doubts and means_otherwise(form, text, lower, start, end):
                elsewhere = start
                continue
            if entry.takes_head and shares_head(text, start):
                continue
            if prefixes and entry.changes and follows_prefix(lower, start):
                continue
            if halves and entry.changes and shares_stem(lower, start):
                continue
            if (
                (
                    (entry.guarded or entry.qualified)
                    and not fits(entry, lower, start, end, self._attributive, self._places_of)
                )
                or (part_of_name is not None and part_of_name(text, start, end, heads))
                or (entry.behind and not self._stands_behind(entry, text, start, end))
            ):
                if " " in entry.surface and not entry.placed:
                    longer.append((start, end))
                elif start != elsewhere and (kept := self._explained.get(entry.surface)):
                    left.append(Match(start, end, kept))
                elif start != elsewhere and entry.stays:
                    parts.append(Match(start, end, entry))
                continue
            if not cuts_a_fact(facts, start, end):
                matches.append(match_of((start, end, entry)))
                free_from = end
        settled = list(alone(text, matches))
        left += in_bare(caption, [*settled, *left], parts) if self._bundled else []
        return _with_explained(text, settled, left, longer, facts) if left else settled

    def _in_small_letters(self, caption: Reading) -> Reading:
        """A caption as it is read here: as it is, but for one in capitals."""
        if not is_in_capitals(caption.text):
            return caption
        return read(in_small_letters(caption.text, self._abbreviations))

    def _stands_behind(self, entry: Entry, text: str, start: int, end: int) -> bool:
        """Whether an adjective may go behind its noun; another place before it would be left alone with the noun."""
        before = text[max(0, start - _NEAR) : start].rstrip().rpartition(" ")[2].lower()
        if entry.behind.startswith("of ") and before in self._places_of:
            return False
        return can_stand(entry.behind, text, start, end)

    def _places(self, text: str, lower: str, recognised: Sequence[tuple[int, int, Term]]) -> list[Place]:
        """All that could be matched, by start, the longest first."""
        forms = self._forms
        places = [
            (start, -end, number, forms[number])
            for number, start, end in self._automaton.find_matches_as_indexes(lower, overlapping=True)
            if begins_word(lower[start - 1 : start]) and ends_word(lower, end)
        ]
        for found in _CAPITALS.finditer(text):
            number = self._letters.get(found[0].lower())
            if number is not None and begins_word(lower[found.start() - 1 : found.start()]):
                start, end = found.span()
                if ends_word(lower, end):
                    places.append((start, -end, number, forms[number]))
        for start, end, form in _named_here(text, lower, recognised):
            if form.entry.changes:
                places.append((start, -end, len(forms) + len(places), form))
        places.sort()  # never by the forms: no two places have start, end and number in common
        return places

    def draft(self, caption: Reading, matches: Iterable[Match]) -> Draft:
        """Put the lay phrase of each match (left to right, not overlapping) in its place.

        An abbreviation key at the end ("LV, left ventricle") is told where each abbreviation is first used (ML-G31),
        unless its lay phrase starts with the abbreviation itself ("CT (CT scan)").
        """
        text = caption.get(self._in_small_letters).text
        changing = [match for match in matches if match.entry.changes]
        pieces: list[Piece] = []
        told = Told()
        for part in unfold_key(text):
            # What explains is not explained again.
            inside = substituted(text, part.start, part.end, changing, told.whispered() if part.defines else told)
            if part.defines is None:
                pieces += inside
                continue
            said = "".join(piece.text for piece in inside).lower()
            if not said.startswith(part.defines.lower().replace("-", "/")):
                pieces += [Piece(" ("), *inside, Piece(")")]
        return Draft(pieces)


def _named_here(text: str, lower: str, recognised: Sequence[tuple[int, int, Term]]) -> Iterator[tuple[int, int, Form]]:
    """What a caption names in words that no vocabulary has."""
    for start, end, term in recognised:
        yield start, end, form_of(recognised_as(lower[start:end], term))
    for start, end, lay, tail in pictures(text, lower):
        yield start, end, _unfolded(lower[start:end], lay, "modality", tail)
    for start, end, lay in operations(text):
        yield start, end, _unfolded(lower[start:end], lay, "time")


@lru_cache(maxsize=16384)
def _unfolded(surface: str, lay: str, kind: str, tail: str = "") -> Form:
    return form_of(unfolded(surface, lay, kind, tail))


def _is_few_letters(entry: Entry) -> bool:
    """Whether an entry explains two or three letters that stand for words, one of them or several: "LV", "ROIs"."""
    return entry.stays and in_capitals(entry.term.expert) and len(entry.term.expert) <= _FEW


def _with_explained(
    text: str, matches: list[Match], left: list[Match], names: list[tuple[int, int]], facts: Sequence[Fact]
) -> list[Match]:
    """The matches and, between them, the words that stay, but those that another match, a name or a fact holds."""
    taken = [*((match.start, match.end) for match in matches), *names]
    free = {
        m.start: m
        for m in left
        if stands_free(m.entry.term, text, m.start, m.end)
        and not any(start < m.end and m.start < end for start, end in taken)
        and not cuts_a_fact(facts, m.start, m.end)
    }
    return sorted((*free.values(), *matches), key=lambda match: match.start) if free else matches
