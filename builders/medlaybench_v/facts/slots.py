"""Words that gave way to others in a caption that keeps most of them: "a cyst in the liver" told as "in the spleen".

The words that both captions share, in their order, hold the rest in place: what stands between two of them in one
caption is told by what stands between the same two in the other. Where that names two things of a kind, or two poles of
a dimension, the caption was changed, and so it was where two words changed places. A caption told anew has no such
frame: nothing is said of it here.

Of 1,825 broken and 1,874 faithful pairs of twenty writers, 1 and 0 fail for this alone: few of them keep the words.
`scripts/bench/changes.py` changes one word of captions that do.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from itertools import product

from builders.medlaybench_v.facts.binding import STOP_WORDS
from builders.medlaybench_v.facts.explanations import definitions
from builders.medlaybench_v.facts.inventions import GENERAL
from builders.medlaybench_v.facts.norms import dropped
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.reading import OfWords, Reading, read
from builders.medlaybench_v.facts.senses import SAYS_LITTLE, Said, concepts_of, implied, kind_of, senses
from builders.medlaybench_v.facts.wordings import POLES, Sense, root
from builders.medlaybench_v.facts.words import rows

_Phrases = Sequence[tuple[int, int, str]]
"""(start, end, phrase): the vocabulary's phrase in the place of text[start:end]."""
Glosses = Sequence[tuple[str, str]]
"""(expert term, lay phrase) of what the vocabulary knows in the expert caption."""

_KEPT = 0.65  # of both captions' words: less is no frame
_MOST = 6  # words that say something, in one place
_LONG = 400  # of them, more than any caption of ROCO has: there, frequent ones hold nothing in place, in bearable time


def compare(expert: Reading, lay: Reading, glosses: Glosses, outcome: Outcome) -> None:
    """Adds findings that were left out, words that gave way to others, and two that changed places, to the outcome."""
    reworded = _reworded(expert, glosses)
    here, there = _telling_words(expert, reworded), _telling_words(lay)
    if here == there:
        return  # as most drafts
    in_its_words = _reworded_words(lay, glosses)
    for said in dropped(expert, lay):
        words = map(root, expert.texts[said.first : said.last + 1])
        if in_its_words.isdisjoint(words) and not all(sense.concept in GENERAL for sense in said.senses):
            outcome.add("lost", expert.said(said), Basis.SOUGHT)
    frame = read(_with_phrases(expert.text, reworded)) if glosses else expert
    if sorted(here) == sorted(there) and not _exchanged(frame, lay, expert):
        return
    matcher, own = _aligned(frame, lay), _aligned(expert, lay)
    if own.quick_ratio() > matcher.ratio() and own.ratio() > matcher.ratio():
        frame, matcher = expert, own
    if matcher.ratio() < _KEPT:
        return
    _replaced(expert, frame, lay, matcher, glosses, outcome)
    if exchanged := _exchanged(frame, lay, expert):
        outcome.moved(" and ".join(exchanged), sure=True)


def _aligned(frame: Reading, lay: Reading) -> SequenceMatcher[str]:
    there = lay.get(_said)
    return SequenceMatcher(None, frame.get(_said), there, autojunk=len(there) > _LONG)


def _replaced(
    expert: Reading, frame: Reading, lay: Reading, matcher: SequenceMatcher[str], glosses: Glosses, outcome: Outcome
) -> None:
    """Adds what stands in the place of other words, what was put in, and what was left out."""
    phrases = [_of_phrase(phrase) for _, phrase in glosses]
    here, there = frame.get(_content), lay.get(_content)
    for what, a, b, c, d in matcher.get_opcodes():
        told = frozenset(r for _, r in there[c:d])
        if what == "equal" or (told and not told <= expert.get(_roots) and any(told <= phrase for phrase in phrases)):
            continue  # the vocabulary's phrase, where the frame has it in other words
        ours = read(frame.between(here[a][0], here[b - 1][0]) if b > a else "")
        theirs = read(lay.between(there[c][0], there[d - 1][0]) if d > c else "")
        if what == "insert":
            at = lay.starts[there[c][0]]
            known = told <= expert.get(_roots).union(*phrases)
            explains = known or any(start <= at < end for start, end in lay.get(definitions))
            for new in () if explains else _added(theirs, expert, glosses):
                outcome.add("new", new, Basis.UNMET)
        elif what == "delete":
            for lost in _dropped(ours, expert, lay, glosses):
                outcome.add("lost", lost, Basis.UNMET)
        elif b - a <= _MOST and d - c <= _MOST:
            # As many words: "under the diaphragm" may be told as "on top of the liver".
            others = _others(ours, theirs, frame, lay, there[c][0]) if b - a == d - c else ()
            for one, other in [*_opposed(ours, theirs), *others] or _of_a_group(ours, theirs):
                outcome.add("changed", f"{one} became {other}", Basis.CONTRADICTED)
    for term in _terms_dropped(expert, lay, glosses):
        outcome.add("lost", term, Basis.UNMET)


def _content(reading: Reading) -> list[tuple[int, str]]:
    """The words that say something, by their roots."""
    return [(i, _ROOTS[word]) for i, word in enumerate(reading.texts) if word not in STOP_WORDS]


_ROOTS = OfWords(root)


def _said(reading: Reading) -> list[str]:
    return [r for _, r in reading.get(_content)]


def _roots(reading: Reading) -> frozenset[str]:
    return frozenset(reading.get(_said))


@lru_cache(maxsize=16384)
def _meant(phrase: str) -> frozenset[str]:
    return concepts_of(read(phrase))


@lru_cache(maxsize=16384)
def _things(phrase: str) -> frozenset[str]:
    return frozenset(sense.concept for said in _telling(read(phrase)) for sense in said.senses)


@lru_cache(maxsize=16384)
def _of_phrase(phrase: str) -> frozenset[str]:
    return _roots(read(phrase))


def _telling_words(reading: Reading, reworded: _Phrases = ()) -> list[str]:
    """The roots of the words that tell something, those of phrases in the place of terms."""
    if not reworded:
        return list(filter(None, map(_TELLING.__getitem__, reading.texts)))
    starts, own = reading.starts, list(map(_TELLING.__getitem__, reading.texts))
    told, i = list[str](), 0
    for start, end, phrase in reworded:
        told += [*own[i : bisect_left(starts, start)], *_telling_of(phrase)]
        i = bisect_left(starts, end)
    return list(filter(None, [*told, *own[i:]]))


@lru_cache(maxsize=16384)
def _telling_of(phrase: str) -> list[str]:
    return _telling_words(read(phrase))


def _root_if_telling(word: str) -> str:
    """The root of a word that by itself may be the opposite of another, or another thing than it; else nothing."""
    if word in STOP_WORDS:
        return ""
    alone = read(word)
    tells = _telling(alone) or _poles(alone) or not {word, root(word)}.isdisjoint(_exclusive())
    prefixed = (word[len(prefix) :] for pair in _PREFIXES for prefix in pair if prefix and word.startswith(prefix))
    return root(word) if tells or any(len(stem) >= _STEM for stem in prefixed) else ""


_TELLING = OfWords(_root_if_telling)


def _reworded(expert: Reading, glosses: Glosses) -> _Phrases:
    """The vocabulary's phrases in the place of the terms of a caption, each with its bracket at first mention."""
    lower = expert.lower
    found: dict[int, tuple[int, str]] = {}
    for surface, phrase in glosses:
        term = surface.lower()
        start = lower.find(term) if term else -1
        while start >= 0:
            end = start + len(term)
            whole = not lower[start - 1 : start].isalnum() and not lower[end : end + 1].isalnum()
            if whole and found.get(start, (0, ""))[0] < end:
                found[start] = end, phrase
            start = lower.find(term, end)
    reworded, at, told = list[tuple[int, int, str]](), 0, set[str]()
    for start in sorted(found):
        end, phrase = found[start]
        if start >= at:
            reworded.append((start, end, phrase.partition(" (")[0] if phrase in told else phrase))
            told.add(phrase)
            at = end
    return reworded


def _with_phrases(text: str, reworded: _Phrases) -> str:
    pieces, at = list[str](), 0
    for start, end, phrase in reworded:
        pieces += [text[at:start], phrase]
        at = end
    return "".join([*pieces, text[at:]])


def _added(theirs: Reading, expert: Reading, glosses: Glosses) -> Iterator[str]:
    """What words put in name that the expert caption does not."""
    meant = expert.get(concepts_of).union(*(_meant(phrase) for _, phrase in glosses))
    for said in _telling(theirs):
        if meant.isdisjoint(sense.concept for sense in said.senses):
            yield theirs.between(said.first, said.last)


def _dropped(ours: Reading, expert: Reading, lay: Reading, glosses: Glosses) -> Iterator[str]:
    """What words left out name that the lay caption does not."""
    told, roots = lay.get(concepts_of), lay.get(_roots) | _reworded_words(lay, glosses)
    values = {(d, v) for *_, d, v in _poles(lay)}
    named = [(s.first, s.last, not told.isdisjoint(x.concept for x in s.senses)) for s in _telling(ours)]
    named += [(first, last, (d, v) in values) for first, last, d, v in _poles(ours) if ours.texts[first] != "old"]
    grown = {first for first, _, d, v in _poles(ours) if d == "size" and (d, v) in values}  # "enlarging", as "growing"
    for first, last, known in named:
        words = {_ROOTS[word] for word in ours.texts[first : last + 1]}
        if known or first in grown or ours.texts[last].endswith("ed"):
            continue  # "migrated" has too many wordings
        if words <= expert.get(_roots) and roots.isdisjoint(words):
            yield ours.between(first, last)


def _terms_dropped(expert: Reading, lay: Reading, glosses: Glosses) -> Iterator[str]:
    """The vocabulary's terms in the expert caption for which the lay one has neither their words nor those of their
    phrases, nor names the thing. A record may name terms that its caption does not say."""
    told, roots = lay.get(concepts_of), lay.get(_roots)
    for term, phrase in glosses:
        if not _of_phrase(term) <= expert.get(_roots):
            continue
        plain = phrase.partition(" (")[0]
        means = _things(term) | _things(plain)
        if means and means.isdisjoint(told) and roots.isdisjoint(_of_phrase(term) | _of_phrase(plain)):
            yield term


def _telling(reading: Reading) -> list[Said]:
    """What names a thing, a finding or a deed."""
    return [s for s in reading.get(senses) if all(kind_of(x.concept) not in SAYS_LITTLE for x in s.senses)]


def _reworded_words(lay: Reading, glosses: Glosses) -> frozenset[str]:
    """The words of terms that the lay caption tells in the vocabulary's words."""
    roots = lay.get(_roots)
    told = (term for term, phrase in glosses if not roots.isdisjoint(_of_phrase(phrase.partition(" (")[0])))
    return frozenset().union(*map(_of_phrase, told))


def _opposed(ours: Reading, theirs: Reading) -> Iterator[tuple[str, str]]:
    """Two poles of a dimension; "front to back" has both."""
    here, there = _poles(ours), _poles(theirs)
    for first, last, dimension, value in there:
        rivals = [(i, j) for i, j, d, _ in here if d == dimension]
        values = {v for *_, d, v in here if d == dimension}
        if rivals and value not in values and values.isdisjoint(v for *_, d, v in there if d == dimension):
            yield ours.between(*rivals[0]), theirs.between(first, last)


def _poles(reading: Reading) -> list[tuple[int, int, str, str]]:
    """The poles that words name, whatever they are said of, as (first word, last word, dimension, value)."""
    return [
        (i, i + size - 1, dimension, value)
        for i, ((size, named), *_) in POLES.matches(reading)
        for dimension, value in named
        if value != "="
    ]


def _others(ours: Reading, theirs: Reading, frame: Reading, lay: Reading, at: int) -> Iterator[tuple[str, str]]:
    """Two things of a kind of which neither is or implies the other, or a thing and its denial; the lay caption names
    the first less often. `theirs` begins at word `at` there, where more words may say it: "slips through"."""
    lost = frozenset(Counter(frame.get(_said)) - Counter(lay.get(_said)))
    known = {sense for said in ours.get(senses) for sense in said.senses}
    closed = frozenset().union(*(implied(sense.concept) for sense in known))
    for said in theirs.get(senses):
        whole = (x for s in lay.get(senses) if s.first <= at + said.first <= s.last for x in s.senses)
        if any(sense in known or (sense.sign > 0 and sense.concept in closed) for sense in (*said.senses, *whole)):
            continue
        for rival in ours.get(senses):
            if lost.isdisjoint(_ROOTS[word] for word in ours.texts[rival.first : rival.last + 1]):
                continue
            if any(_exclude(x, y) for x in rival.senses for y in said.senses):
                yield ours.between(rival.first, rival.last), theirs.between(said.first, said.last)
                break


def _of_a_group(ours: Reading, theirs: Reading) -> Iterator[tuple[str, str]]:
    """Two words of a group in `exclusive.csv`, "high" and "low", or two that differ in a prefix, "hypo" and "hyper"."""
    here, there = (_exclusive() & (reading.bag | reading.get(_roots)) for reading in (ours, theirs))
    for group in _groups() if here and there else ():
        said, told = here & group, there & group
        if len(said) == len(told) == 1 and said != told:
            yield min(said), min(told)
    for one, other in product(ours.texts, theirs.texts):
        alike = one[-_STEM:] == other[-_STEM:] and one != other
        if alike and any(_turned(a, b, one, other) or _turned(b, a, one, other) for a, b in _PREFIXES):
            yield one, other


_STEM = 5  # letters of a word behind its prefix, at least


def _turned(prefix: str, opposite: str, one: str, other: str) -> bool:
    stem = one.removeprefix(prefix)
    return len(stem) >= _STEM and one == f"{prefix}{stem}" and other == f"{opposite}{stem}"


_PREFIXES = (
    *product(("",), ("un", "in", "im", "ir", "non", "dis", "ab")),
    *(("hyper", "hypo"), ("hyper", "iso"), ("hypo", "iso"), ("pre", "post"), ("intra", "extra"), ("sub", "supra")),
    *(("infra", "supra"), ("sub", "epi"), ("ante", "retro"), ("micro", "macro"), ("uni", "bi"), ("mono", "poly")),
    *(("endo", "exo"), ("endo", "epi"), ("ab", "ad"), ("in", "ex"), ("intra", "inter"), ("tachy", "brady")),
)


@cache
def _exclusive() -> frozenset[str]:
    return frozenset().union(*_groups())


@cache
def _groups() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(row["words"].split()) for row in rows("exclusive.csv"))


def _exclude(x: Sense, y: Sense) -> bool:
    if x.concept == y.concept:
        return x.sign != y.sign
    return kind_of(x.concept) == kind_of(y.concept) not in SAYS_LITTLE and x.concept not in implied(y.concept)


def _exchanged(frame: Reading, lay: Reading, expert: Reading) -> tuple[str, str] | None:
    """Two words of which each stands in the place of the other while all else is in order, but not two listed side by
    side, nor a word and what explains it."""
    here, there = Counter(frame.get(_said)), Counter(lay.get(_said))
    both = {r for r in here if here[r] == there[r]}
    ours = [r for r in frame.get(_said) if r in both]
    theirs = [(i, r) for i, r in lay.get(_content) if r in both]
    moved = [k for k, (_, other) in enumerate(theirs) if ours[k] != other]
    if len(moved) != 2:
        return None
    (first, one), (last, other) = (theirs[k] for k in moved)
    explains = moved[1] == moved[0] + 1 and not {one, other} <= expert.get(_roots)
    named = all(_telling(each) or _poles(each) for each in (read(lay.texts[first]), read(lay.texts[last])))
    if not named or explains or _JOINING.issuperset(lay.texts[first + 1 : last]):
        return None
    return lay.texts[last], lay.texts[first]


_JOINING = frozenset(
    "and or the a an with plus to as well of in at on between around for from by after before during through".split()
)
