"""A draft as original and inserted text, in order."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from builders.medlaybench_v.writing.matches import Match


class Piece(NamedTuple):
    """A stretch of a draft: original text, or a phrase put in place of `match`."""

    text: str
    match: Match | None = None


piece_of = partial(tuple.__new__, Piece)  # of both parts at once, without the call of a named tuple


class Draft(NamedTuple):
    """A caption as original and inserted pieces, in order."""

    pieces: list[Piece]

    @property
    def text(self) -> str:
        return "".join([text for text, _ in self.pieces])
