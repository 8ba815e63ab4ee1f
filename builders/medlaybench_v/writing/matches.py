"""A surface form of the compiled vocabulary, its match in a caption, and a draft as original and inserted text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

from builders.medlaybench_v.words.lists import listed
from builders.medlaybench_v.words.terms import Term

# How a thing is; "inner" and "small" are also parts of names: "inner ear", "small bowel".
_QUALITIES = listed("qualities")


@dataclass(frozen=True, eq=False)
class Entry:
    """One surface form of the compiled vocabulary; what is worked out for one is remembered by its identity."""

    surface: str  # lower case, as matched
    lay: str
    term: Term
    only_attributive: bool  # an anatomy adjective: "hepatic lesion", not "the lesion is hepatic"
    # Attributive, or the lay phrase holds a preposition, so no noun may follow: "bulge in a vessel" + "sac".
    guarded: bool
    licence: str  # of the lay phrase: of all terms that it is made of
    changes: bool  # False for names that are in the vocabulary to be left alone
    behind: str = ""  # what is said behind the noun instead: "subcutaneous abscess" -> "abscess under the skin"
    placed: bool = False  # "hepatic abscess" -> "pocket of pus in the liver": a side before it would lose its place
    takes_head: bool = False  # a name of several words: an adjective that is joined to it would lose its noun
    # The end of the lay phrase that goes behind what the name is "of": "CT of the arm with contrast dye".
    tail: str = ""

    @cached_property
    def qualified(self) -> bool:
        """Whether the plain words begin by telling how a thing is, which no noun may stand before or behind: there is
        no "bowel reduced blood supply" and no "wrong position patient"."""
        first = self.lay.partition(" ")[0]
        kind = self.term.kind in ("finding", "disease") or first == "surgical"
        return kind and first in _QUALITIES and self.term.pos == "noun" and self.changes and not self.stays

    @cached_property
    def stays(self) -> bool:
        """Whether the lay phrase is the expert's word with an explanation."""
        size = len(self.surface)
        return self.lay[size : size + 2] == " (" and self.lay[:size].lower() == self.surface


class Match(NamedTuple):
    """An entry found in a caption, at [start, end)."""

    start: int
    end: int
    entry: Entry

    @property
    def changes(self) -> bool:
        return self.entry.changes


class Piece(NamedTuple):
    """A stretch of a draft: original text, or a phrase put in place of `match`."""

    text: str
    match: Match | None = None


# Of all parts at once, without the call of a named tuple.
match_of = partial(tuple.__new__, Match)
piece_of = partial(tuple.__new__, Piece)


class Draft(NamedTuple):
    """A caption as original and inserted pieces, in order."""

    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join([text for text, _ in self.pieces])
