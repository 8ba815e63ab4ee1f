"""A vocabulary at work: what it matches in a row's caption, and the row's concept list C (Equation 1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

from builders.licences import UNKNOWN
from builders.medlaybench_v.concepts import Mention
from builders.medlaybench_v.facts import Reading
from builders.medlaybench_v.words.terms import Term, terms_digest
from builders.medlaybench_v.writing.draft import Drafter
from builders.medlaybench_v.writing.matches import Match
from loaders.medlaybench_v import MODALITIES

ALL, ONTOLOGY = "all", "onto"
# Span of a concept that the record names but no words of the caption stand for.
NOWHERE = -1
_MODALITY_NAMES = {cui: modality.name for modality in MODALITIES for cui in modality.cuis}


@lru_cache(maxsize=2)
def compiled(terms: tuple[Term, ...]) -> Drafter:
    """Terms ready to be matched, which takes most of a second: once for all builds and audits of a process."""
    return Drafter(terms)


class Lexicon:
    """Terms compiled once per process; pickled as the bare terms.

    `substitute` is "all" (every term found in the vocabulary, ML-G9) or "onto" (only concepts that the record's CUIs
    or a recogniser name, as Algorithm 1 has it).
    """

    def __init__(self, terms: Sequence[Term], substitute: str = ALL) -> None:
        self.terms = tuple(terms)
        self.substitute = substitute

    def __reduce__(self) -> tuple[Any, ...]:
        return Lexicon, (self.terms, self.substitute)

    @cached_property
    def identity(self) -> list[str]:
        """Changes when a draft could."""
        return [terms_digest(self.terms), self.substitute]

    @cached_property
    def drafter(self) -> Drafter:
        return compiled(self.terms)

    @cached_property
    def _by_cui(self) -> dict[str, Term]:
        first: dict[str, Term] = {}
        for term in self.terms:
            if term.cui:
                first.setdefault(term.cui, term)
        return first

    def match(self, expert: Reading, cuis: Sequence[str], mentions: Sequence[Mention]) -> list[Match]:
        """The matches of a caption that may be substituted."""
        recognised = [(m.start, m.end, term) for m in mentions if m.cui and (term := self._by_cui.get(m.cui))]
        matches = self.drafter.match(expert, recognised)
        if self.substitute == ALL:
            return matches
        named = {*cuis, *(m.cui for m in mentions if m.cui)}
        return [m for m in matches if m.entry.term.cui in named]

    def concepts(
        self, cuis: Sequence[str], mentions: Sequence[Mention], matches: Sequence[Match], expert: Reading
    ) -> list[dict[str, Any]]:
        """C = C_onto ∪ C_ent: each concept once, with its span, CUI, lay phrase and the source that found it.

        A CUI of the record that no words of the caption stand for has the span (-1, -1).
        """
        by_span = {(m.start, m.end): m for m in mentions}
        concepts: dict[str, dict[str, Any]] = {}
        for start, end, entry in matches:
            surface = expert.text[start:end]
            folded = surface.casefold()
            if folded in concepts:
                continue
            mention = by_span.get((start, end))
            cui = entry.term.cui or (mention.cui if mention else None)
            source = "cui" if cui in cuis else mention.source if mention else "vocabulary"
            lay = (entry.lay, entry.licence or UNKNOWN) if entry.changes else None
            concepts[folded] = _concept(surface, start, end, cui, lay, source)
        for mention in mentions:
            source = "cui" if mention.cui in cuis else mention.source
            concepts.setdefault(
                mention.surface.casefold(),
                _concept(mention.surface, mention.start, mention.end, mention.cui, None, source),
            )
        said = {concept["cui"] for concept in concepts.values()}
        unsaid = []
        for cui in cuis:
            if cui not in said:
                term = self._by_cui.get(cui)
                name = term.expert if term else _MODALITY_NAMES.get(cui, cui)
                lay = (term.lay, term.licence or UNKNOWN) if term else None
                unsaid.append(_concept(name, NOWHERE, NOWHERE, cui, lay, "cui"))
        return [*unsaid, *sorted(concepts.values(), key=lambda concept: (concept["start"], -concept["end"]))]


def _concept(
    surface: str, start: int, end: int, cui: str | None, said: tuple[str, str] | None, source: str
) -> dict[str, Any]:
    """`said` is the lay phrase and its licence."""
    lay, licence = said or (None, None)
    return {
        "surface": surface, "start": start, "end": end, "cui": cui, "lay": lay, "source": source, "licence": licence
    }  # fmt: skip
