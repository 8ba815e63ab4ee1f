"""The lay vocabulary: which expert term becomes which lay phrase, from which source, under which licence (ML-G7).

`read_vocabulary("bundled")` is the CC0 list written for this project; any other name is a file that the user has: a
CSV, a UMLS `MRCONSO.RRF` or META folder, MedlinePlus health topics. A pair that cannot be substituted within a
sentence is set aside with its reason, never lost.
"""

from __future__ import annotations

import dataclasses
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from builders.licences import allows_rewriting, read_licence
from builders.medlaybench_v.vocabulary.headwords import in_sentence
from builders.medlaybench_v.vocabulary.readers import Reading, TermCandidate, read_csv, read_medlineplus, read_umls
from builders.medlaybench_v.words.lists import listed
from builders.medlaybench_v.words.terms import Term, terms_digest
from builders.medlaybench_v.writing.surfaces import keeps_facts
from loaders.errors import InputError
from loaders.files.opening import open_file
from loaders.files.paths import is_file, is_folder, name_of
from loaders.files.tables import read_table

BUNDLED = Path(__file__).with_name("vocabulary.csv")
REVIEW = Path(__file__).with_name("vocabulary_review.csv")
LAY_WORDS = 8
EXPERT_LETTERS = 3

# Headwords of public lists that mean something else, or nothing medical, in a caption. Curated lists are not checked
# against these: their authors chose each word.
COMMON_WORDS = listed("common")
# Words that a lay phrase must not introduce: they would add a fact, or mean something other than the expert term.
ADDED_FACTS = listed("added facts")
_Verdicts = dict[tuple[str, str], tuple[bool, str, int]]
_TITLE_WORDS = frozenset("about are can could do does how is should what when who why".split())
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PARTS = re.compile(r"\w+")
_STRAY = re.compile(r"[^\w\s'’/(),.+&:;°%-]|_")


@dataclass(frozen=True, slots=True)
class VocabularySource:
    """One file behind a vocabulary: its name, SHA-256, pairs read and used, and the licences of those used."""

    name: str
    digest: str
    pairs: int
    used: int
    licences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A pair that is not used, and why."""

    expert: str
    lay: str
    source: str
    where: str
    reason: str


@dataclass(frozen=True)
class Vocabulary:
    """Terms with one lay phrase for each expert form, in the order of the expert forms."""

    terms: tuple[Term, ...]
    rejected: tuple[Rejected, ...]
    sources: tuple[VocabularySource, ...]

    @cached_property
    def identity(self) -> str:
        """SHA-256 over the terms: it changes whenever a draft could."""
        return terms_digest(self.terms)

    @cached_property
    def reasons(self) -> dict[str, int]:
        """Number of pairs set aside, by reason."""
        return dict(sorted(Counter(pair.reason for pair in self.rejected).items()))


def read_vocabulary(
    source: str | Path, *, review: str | Path | None = None, allowed: frozenset[str] | None = None
) -> Vocabulary:
    """Read one vocabulary by name ("bundled") or path.

    From UMLS the clinical semantic types are used, from a CSV everything. `review` is a CSV (expert, lay, verdict,
    reason) of pairs to reject or to accept against the rules below; it is applied after the package's own. A pair whose
    licence does not permit rewriting and redistribution is set aside, like a caption, unless its licence is `allowed`
    by name. None disables this check, for use when nothing is published.

    Raises: InputError if a file is missing, empty, of another format or without a needed column, too many of its rows
    cannot be read, or none can be used.
    """
    if str(source) == "bundled":
        return read_bundled(allowed) if review is None else _vocabulary(BUNDLED, Path(review), allowed, bundled=True)
    return _vocabulary(Path(source), None if review is None else Path(review), allowed)


@cache
def read_bundled(allowed: frozenset[str] | None) -> Vocabulary:
    """Read once: it is half of the work of a small build."""
    return _vocabulary(BUNDLED, None, allowed, bundled=True)


def _vocabulary(
    path: Path, review: Path | None, allowed: frozenset[str] | None, *, bundled: bool = False
) -> Vocabulary:
    reading = read_csv(path, "bedside-cc0", "CC0-1.0") if bundled else _read(path)
    verdicts = _verdicts(REVIEW) if is_file(REVIEW) else {}
    if review is not None:
        verdicts |= _verdicts(review)
    if allowed is not None:
        reading = dataclasses.replace(reading, candidates=[_licensed(c, allowed) for c in reading.candidates])
    fit, rejected = _judge(in_sentence(reading), verdicts, bundled)
    terms, ambiguous = _choose(fit, verdicts)
    name = "bundled" if bundled else name_of(path)
    rejected += [Rejected("", "", name, bad.where, f"cannot be read: {bad.reason}") for bad in reading.bad]
    if not terms:
        raise _nothing_usable(path, rejected)
    note = VocabularySource(name, reading.digest, len(reading.candidates), len(terms), _licences(terms))
    return Vocabulary(terms, (*rejected, *ambiguous), (note,))


def in_turn(vocabularies: Iterable[Vocabulary]) -> list[Vocabulary]:
    """The vocabularies, each without the expert forms, ignoring case, that an earlier one has."""
    turns: list[Vocabulary] = []
    taken: set[str] = set()
    for vocabulary in vocabularies:
        (source,) = vocabulary.sources
        terms: list[Term] = []
        rejected = [*vocabulary.rejected]
        for term in vocabulary.terms:
            if term.expert.casefold() in taken:
                rejected.append(Rejected(term.expert, term.lay, term.source, "", "an earlier vocabulary has the term"))
            else:
                terms.append(term)
        taken.update(term.expert.casefold() for term in terms)
        counted = dataclasses.replace(source, used=len(terms), licences=_licences(terms))
        turns.append(Vocabulary(tuple(terms), tuple(rejected), (counted,)))
    return turns


def combine(vocabularies: Iterable[Vocabulary]) -> Vocabulary:
    """One vocabulary from several, of which the earliest that has an expert form decides (`in_turn`)."""
    turns = in_turn(vocabularies)
    terms = sorted((term for one in turns for term in one.terms), key=lambda term: term.expert.casefold())
    rejected = tuple(pair for one in turns for pair in one.rejected)
    return Vocabulary(tuple(terms), rejected, tuple(source for one in turns for source in one.sources))


def _licences(terms: Iterable[Term]) -> tuple[str, ...]:
    return tuple(sorted({read_licence(term.licence).id for term in terms})) or ("none used",)


def _read(path: Path) -> Reading:
    if is_folder(path):
        inside = next((p for p in (path / "MRCONSO.RRF", path / "META" / "MRCONSO.RRF") if is_file(p)), None)
        if inside is None:
            raise InputError(path, found="is a folder without MRCONSO.RRF", expected="a UMLS META folder, or a file")
        return read_umls(inside)
    with open_file(path, expected="'bundled' or a vocabulary file"):
        pass  # raises for a pipe, before anything tests whether it is an archive
    suffix = path.suffix.casefold()
    if suffix == ".rrf":
        return read_umls(path)
    if suffix == ".xml" or zipfile.is_zipfile(path):
        return read_medlineplus(path)
    if suffix in (".csv", ".tsv"):
        return read_csv(path)
    raise InputError(path, found=f"file type {suffix or '(none)'}", expected=".csv, .tsv, .RRF, .xml or .zip")


def _licensed(candidate: TermCandidate, allowed: frozenset[str]) -> TermCandidate:
    """The candidate, refused if its licence does not allow its lay side in a caption that is redistributed."""
    _, why_not = allows_rewriting(candidate.term.licence, allowed)
    return dataclasses.replace(candidate, refused=why_not) if why_not and not candidate.refused else candidate


def _nothing_usable(path: Path, rejected: Sequence[Rejected]) -> InputError:
    reasons = Counter(pair.reason for pair in rejected)
    why, pairs = min(reasons.items(), key=lambda reason: (-reason[1], reason[0])) if reasons else ("", 0)
    table = path.suffix.casefold() in (".csv", ".tsv")  # the columns of UMLS or MedlinePlus are not the user's
    do = "Check the columns `expert` and `lay`" if table else ""
    if why.startswith(("licence unknown", "no derivatives")):
        do = "Let it in by name with --allow-licence"
        do = f"Name the licence of each line in a column `licence`, or l{do[1:]}" if table else do
    found = "no usable line" + (f": {pairs:,} of {len(rejected):,} set aside because: {why}" if why else "")
    expected = "pairs of an expert and a lay term under a licence that allows changes"
    return InputError(path, found=found, expected=expected, do=do)


def unapplied(review: Path, vocabularies: Sequence[Vocabulary]) -> list[str]:
    """The pairs of a review that no vocabulary has, with their lines."""
    known = {(term.expert.casefold(), term.lay.casefold()) for one in vocabularies for term in one.terms}
    known |= {(pair.expert.casefold(), pair.lay.casefold()) for one in vocabularies for pair in one.rejected}
    return [f"{' = '.join(pair)} (line {line})" for pair, (*_, line) in _verdicts(review).items() if pair not in known]


def _verdicts(path: Path) -> _Verdicts:
    """Reviewed pairs, case-folded: accepted or not, why, and the line."""
    table = read_table(path)
    columns = [table.column(name, needed=True) for name in ("expert", "lay", "verdict", "reason")]
    reviewed: _Verdicts = {}
    for line, row in table.rows:
        expert, lay, verdict, reason = (row[column].strip() for column in columns)
        if verdict not in ("accept", "reject"):
            raise InputError(f"{path}:{line}", found=f"verdict {verdict!r}", expected="accept or reject")
        pair = expert.casefold(), lay.casefold()
        accepted, _, before = reviewed.setdefault(pair, (verdict == "accept", reason, line))
        if accepted != (verdict == "accept"):
            found = f"{verdict} of {expert!r}, {lay!r}, and the opposite in line {before}"
            raise InputError(f"{path}:{line}", found=found, expected="one verdict for each pair", do="Delete one line")
    return reviewed


def _judge(
    candidates: Iterable[TermCandidate], verdicts: _Verdicts, bundled: bool
) -> tuple[list[TermCandidate], list[Rejected]]:
    fit: list[TermCandidate] = []
    rejected: list[Rejected] = []
    for candidate in candidates:
        term = candidate.term
        reviewed = verdicts.get((term.expert.casefold(), term.lay.casefold()))
        accepted = reviewed is not None and reviewed[0]
        reason = candidate.refused or _unusable(term, bundled)
        if not reason and reviewed is not None and not accepted:
            reason = "rejected by review: " + (reviewed[1] or "no reason given")
        if not reason and not candidate.curated and not accepted:
            reason = _doubtful(term)
        if not (reason or bundled or keeps_facts(term.expert.lower(), term.lay)):
            reason = "lay side adds, loses or changes a fact"
        if reason:
            rejected.append(Rejected(term.expert, term.lay, term.source, candidate.where, reason))
        else:
            fit.append(candidate)
    return fit, rejected


def _unusable(term: Term, bundled: bool) -> str:
    """Why a pair can never be substituted, whoever wrote it; "" if it can."""
    if not term.expert or not term.lay:
        return "one side is empty"
    if any(len(part.split()) > LAY_WORDS for part in term.lay.split(" (")):
        return f"lay side longer than {LAY_WORDS} words"
    if bundled:
        # Its short terms ("CT") and its protected names (same on both sides) are deliberate.
        return ""
    if sum(map(str.isalpha, term.expert)) < EXPERT_LETTERS:
        return f"expert side shorter than {EXPERT_LETTERS} letters"
    if term.expert.casefold() == term.lay.casefold():
        return "both sides are the same"
    if _STRAY.search(term.expert) or _STRAY.search(term.lay):
        return "a side holds characters that are not part of a phrase"
    return ""


def _doubtful(term: Term) -> str:
    """Why a pair from a list of synonyms, not written for substitution, is not used; "" if it is."""
    expert, lay = term.expert.casefold(), term.lay.casefold()
    if expert in COMMON_WORDS:
        return "expert side is a common English word"
    if term.pos == "adjective":
        return "expert side is an adjective, the lay side may not be one"
    if f" {' '.join(_PARTS.findall(expert))} " in f" {' '.join(_PARTS.findall(lay))} ":
        return "lay side only adds words to the expert side"
    words = _WORD.findall(lay)
    if words[:1] and words[0] in _TITLE_WORDS:
        return "lay side is a page title"
    if re.search(r"[(),;:/]", lay):
        return "lay side is a list or holds a parenthesis"
    if added := ADDED_FACTS.intersection(words).difference(_WORD.findall(expert)):
        return f"lay side adds {min(added)!r}"
    return ""


def _choose(fit: list[TermCandidate], verdicts: _Verdicts) -> tuple[tuple[Term, ...], list[Rejected]]:
    """One lay phrase for each expert form: accepted by review, then the source that comes first in the file, then the
    fewest words, then the most frequent words of the list, then the alphabet."""
    sources = {source: place for place, source in enumerate(dict.fromkeys(c.term.source for c in fit))}
    frequency = Counter(word for c in fit for word in _WORD.findall(c.term.lay.casefold()))

    def rank(candidate: TermCandidate) -> tuple[bool, int, int, float, str, str, int]:
        term = candidate.term
        words = _WORD.findall(term.lay.casefold())
        commonness = sum(frequency[word] for word in words) / max(len(words), 1)
        return (
            not verdicts.get((term.expert.casefold(), term.lay.casefold()), (False,))[0],
            sources[term.source],
            len(term.lay.split()),
            -commonness,
            term.lay,
            # If a pair is written twice, the row that names the concept and the kind.
            term.expert,
            (term.cui is None) + (term.kind == "other"),
        )

    groups: dict[str, list[TermCandidate]] = defaultdict(list)
    for candidate in fit:
        groups[candidate.term.expert.casefold()].append(candidate)
    terms: list[Term] = []
    rejected: list[Rejected] = []
    for key in sorted(groups):
        best, *others = sorted(groups[key], key=rank)
        terms.append(best.term)
        for other in others:
            same = other.term.lay.casefold() == best.term.lay.casefold()
            reason = "the same pair twice" if same else "ambiguous: another lay phrase was chosen"
            rejected.append(Rejected(other.term.expert, other.term.lay, other.term.source, other.where, reason))
    return tuple(terms), rejected
