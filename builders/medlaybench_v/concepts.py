"""The concepts of a caption: what each recogniser found, joined into one list (MedLayBench-V, Equation 1).

    C = C_onto ∪ C_ent

C_onto holds what carries a UMLS identifier (MedCAT, a vocabulary), C_ent the plain entities (scispaCy). The paper
leaves the union undefined and lets "arrow", "image" and "patient" into C, where its Table A2 counts them among the
commonest concepts; here those are left out.

    >>> lung = Mention(10, 14, "lung", None, "spacy")
    >>> [(m.surface, m.cui) for m in merge([Mention(24, 28, "Lung", "C0024109", "medcat")], [lung])]
    [('Lung', 'C0024109')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from loaders.medlaybench_v import CUI


@dataclass(frozen=True, slots=True)
class Mention:
    """A concept in a caption: `caption[start:end] == surface`, its UMLS CUI where one is known, and who found it."""

    start: int
    end: int
    surface: str
    cui: str | None
    source: str


class Recognizer(Protocol):
    """Anything that finds mentions: a vocabulary, a MedCAT pack, a spaCy pipeline."""

    @property
    def name(self) -> str:
        """The `source` of its mentions."""
        ...

    @property
    def identity(self) -> str:
        """Changes whenever the mentions for some caption could change: part of a stage's key and of the manifest."""
        ...

    def __call__(self, captions: Sequence[str]) -> list[list[Mention]]:
        """The mentions of each caption, in order of position."""
        ...


_COLOUR = "white|black|gr[ae]y|red|blue|green|yellow|orange|purple|pink|cyan|magenta|violet|brown"
_BEFORE = (
    rf"(?:{_COLOUR}|solid|dashed|dotted|open|closed|filled|hollow|thick|thin|long|short|large|small|big|curved|straight|"
    r"horizontal|vertical|single|double|two|three|the|an?|this|our|upper|lower|left|right|top|bottom|middle|and|or|"
    r"[b-h]|\d+)[\s,/-]+"
)
# Words that point into the figure, or name the figure or whose it is. A line alone may be a catheter.
_FIGURE_MARKER = re.compile(
    rf"(?:{_BEFORE})*(?:arrow(?:[\s-]?head)?s?|asterisks?|stars?|circles?|ellipses?|squares?|rectangles?|triangles?|"
    rf"box(?:es)?|markers?|marks?|panels?|insets?|letters?|images?|pictures?|photos?|photographs?|fig(?:ure)?s?\.?|"
    rf"legends?|patients?|cases?|subjects?|{_COLOUR})(?:\s+[a-h\d]{{1,3}})?|(?:{_BEFORE})+lines?",
    re.IGNORECASE,
)


def cui_or_none(text: str | None) -> str | None:
    """`text` if it is a UMLS concept identifier ("C0024109"), else None (a SNOMED code, an entity label)."""
    return text if text and CUI.fullmatch(text) else None


@lru_cache(maxsize=65536)
def is_figure_marker(surface: str) -> bool:
    """Is `surface` about the figure, not about what it shows (ML-G4)?

    >>> [is_figure_marker(s) for s in ("Arrow", "white arrowheads", "patient", "MR image", "dotted line")]
    [True, True, True, False, True]
    """
    return _FIGURE_MARKER.fullmatch(surface.strip()) is not None


@lru_cache(maxsize=65536)
def _key(surface: str) -> str:
    return " ".join(surface.casefold().split())


def merge(*sources: Iterable[Mention]) -> list[Mention]:
    """The union of one caption's mentions, sorted by (start, -end); the sources in order of trust.

    One mention per case-folded surface: one with a CUI wins over one without, then the earlier source, then the earlier
    place. Mentions that overlap but differ ("pleural effusion", "effusion") all stay. Figure markers are left out.
    """
    best: dict[str, tuple[bool, int, int, Mention]] = {}
    for rank, mentions in enumerate(sources):
        for mention in mentions:
            if is_figure_marker(mention.surface):
                continue
            key = _key(mention.surface)
            entry = (mention.cui is None, rank, mention.start, mention)
            if key not in best or entry[:3] < best[key][:3]:
                best[key] = entry
    return sorted((mention for *_, mention in best.values()), key=lambda m: (m.start, -m.end, m.surface))
