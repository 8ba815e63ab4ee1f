"""The surface forms of a vocabulary: singular and plural, with a side, with the place of a finding, with a hyphen.

>>> from builders.medlaybench_v.words.terms import Term
>>> hepatic = Term("hepatic", "liver", None, "anatomy", "adjective", "", "", "the liver", False, "doc", "CC0-1.0")
>>> abscess = Term("abscess", "pocket of pus", None, "finding", "noun", "", "", "in", False, "doc", "CC0-1.0")
>>> [entry.surface for entry in entries([hepatic, abscess])]
['hepatic', 'abscess', 'abscesses', 'hepatic abscess', 'hepatic abscesses']
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from builders.licences import strictest
from builders.medlaybench_v.facts import facts_of, read
from builders.medlaybench_v.words.lists import any_of, listed
from builders.medlaybench_v.words.stacks import said_behind
from builders.medlaybench_v.words.terms import Term, british, plural, plural_forms
from builders.medlaybench_v.writing.glosses import beside, in_capitals
from builders.medlaybench_v.writing.matches import Entry

_PREPOSITIONS = listed("prepositions")
# Places that a body has twice, as the vocabulary names them.
_PAIRED = frozenset(f"the {place}" for place in any_of("paired places").split("|"))
_PAIRED_PLACE = re.compile(
    rf" (?:in|of|around|on|from|into|under|atop) (the) ({'|'.join(p[4:] for p in sorted(_PAIRED))})\Z"
)
_PREFIX = re.compile(r"(?:intra|extra|infra|supra|retro|peri|para|trans|endo|inter|sub|post|pre)(?=[a-z]{4})")
_SIDE_SAID = re.compile(r"\b(?:left|right|bilateral|both|lower|upper)\b", re.IGNORECASE)
_METHOD_CUIS = (("CT", "C0040405"), ("MRI", "C0024485"), ("X-ray", "C1306645"), ("ultrasound", "C0041618"))
_DYE = "with contrast dye"
# Only what is hollow is narrow or wide itself: a "renal stenosis" is one of its artery, "lumbar" one of the canal.
HOLLOW = listed("hollow")


def entries(terms: Sequence[Term]) -> Iterator[Entry]:
    """All surface forms; of two with the same words the first counts."""
    terms = (*terms, *_in_british(terms))
    yield from _entries(terms)
    yield from _compositions(terms)


def keeps_facts(surface: str, lay: str) -> bool:
    """Whether a lay phrase has the numbers, sides, negations, markers and modalities of what it replaces.

    A modality may be said with one more ("CT angiogram" -> "CT scan of blood vessels"), never with one less; a word
    with a hidden negation ("asymptomatic") may be spelled out.
    """
    here, there = facts_of(read(surface)), facts_of(read(lay))
    for kind in ("number", "side", "date", "marker"):
        if sorted(f.value for f in here if f.kind == kind) != sorted(f.value for f in there if f.kind == kind):
            return False
    if sum(f.kind == "negation" for f in here) > sum(f.kind == "negation" for f in there):
        return False
    return {f.value for f in here if f.kind == "modality"} <= {f.value for f in there if f.kind == "modality"}


def _in_british(terms: Sequence[Term]) -> Iterator[Term]:
    """Terms that have another spelling, in it."""
    for term in terms:
        if (expert := british(term.expert)) != term.expert:
            many, lay, lays = map(british, (term.expert_plural, term.lay, term.lay_plural))
            yield replace(term, expert=expert, expert_plural=many, lay=lay, lay_plural=lays)


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
    named = lay.partition(" (")[0] if in_capitals(term.expert) else lay  # letters stand before a noun as they are
    placed = " atop " in lay.partition(" (")[0]  # "large vein atop the brain": no "fistula" may follow
    closes = term.pos == "noun" and (placed or any(word.lstrip("(") in _PREPOSITIONS for word in named.split()[1:]))
    changes = lay.lower() != surface.lower()
    # Of "gastric and esophageal varices" the first would lose its noun; "lateral to" is joined to none.
    other_head = closes or lay.rpartition(" ")[2] != surface.rpartition(" ")[2]
    heads = changes and other_head and " " in surface and term.pos != "adjective" and term.kind != "direction"
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
            if finding.lay in ("narrowing", "widening") and place.expert not in HOLLOW:
                continue
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


def unfolded(surface: str, lay: str, kind: str, tail: str = "") -> Entry:
    """An entry for the name of a picture (`views`, kind "modality") or a time after an operation
    (`neighbours.operations`, "time"); it changes nothing where its plain words would lose a fact."""
    cui = next((cui for word, cui in _METHOD_CUIS if word in lay), None)
    pos = "noun" if kind == "modality" else "phrase"
    term = Term(surface, lay, cui, kind, pos, "-", "-", "", False, "bedside-cc0", "CC0-1.0")
    return Entry(surface, lay, term, False, False, term.licence, keeps_facts(surface, lay), tail=tail)


def recognised_as(surface: str, term: Term) -> Entry:
    """An entry for a wording that a recogniser tied to the term's concept, in the number of that wording."""
    many = term.pos == "noun" and looks_plural(surface) and not looks_plural(term.expert.lower())
    lay = (plural_forms(term)[1] or term.lay) if many else term.lay
    return _entry(surface, lay if keeps_facts(surface, lay) else surface, term)


def looks_plural(word: str) -> bool:
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))
