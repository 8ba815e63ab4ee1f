"""Inventions: what a lay caption claims about the patient although the expert caption neither says nor implies it.

A claim is a concept (a finding, a cause, a treatment, a symptom, advice, an outcome, a person's age or sex) that is not
among the concepts of the expert caption, those that they imply, and those of the vocabulary's phrases for its terms.
Body parts that explain a term in parentheses or after "that is" are not claims.
"""

from __future__ import annotations

from collections.abc import Set
from functools import lru_cache
from operator import attrgetter

from builders.medlaybench_v.facts.additions import added
from builders.medlaybench_v.facts.binding import STOP_WORDS
from builders.medlaybench_v.facts.causes import OF_THE_CASE, caused
from builders.medlaybench_v.facts.claims import (
    is_joined,
    is_no_claim,
    is_norm,
    is_one_more,
    is_simile,
    put_beside,
    told_of_the_patient,
)
from builders.medlaybench_v.facts.denials import polarity
from builders.medlaybench_v.facts.devices import put_in, taken_away
from builders.medlaybench_v.facts.explanations import definitions, is_explained
from builders.medlaybench_v.facts.imaging import imaging
from builders.medlaybench_v.facts.leftover import left_over
from builders.medlaybench_v.facts.norms import ill_for_normal, normal_for_ill
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.persons import SEX, persons
from builders.medlaybench_v.facts.places_told import one_more_told, place_replaced, reached_parts, replaced_by_rank
from builders.medlaybench_v.facts.poles import poles
from builders.medlaybench_v.facts.reading import Reading, read
from builders.medlaybench_v.facts.regions import elsewhere
from builders.medlaybench_v.facts.senses import Said, concepts_of, implied_by_all, kind_of, named_by_phrases, senses
from builders.medlaybench_v.facts.words import COLOURS
from builders.medlaybench_v.words.reads_well import plain_words

_SEEN = frozenset(("finding", "state", "anatomy"))
_FIRM = frozenset(("cause", "treatment", "symptom", "advice", "outcome"))
_CONCEPT = attrgetter("concept")
_IDIOM = {"idiom"}  # what no finding is, though it holds the word for one: "nuclear medicine"
# General enough to describe anything that a picture shows.
GENERAL = frozenset(
    "lesion fluid swelling opacity defect blood air flow visible normal clear collection narrowing dilated enlarged "
    "compression displaced mass obstruction torn hernia thickening septation fat vascularity leak spread "
    "lucency benign calcification cyst diverticulum fistula treatment surgery trauma genes necrosis erosion ulcer "
    "atrophy collapse edema scoliosis drug".split()
) | {"foreign body", "air-fluid level"}
_ADJECTIVES = ("ic", "al", "ar", "ary", "ous", "ive", "ed", "ing", "ly")
_STRONG = frozenset("severe severely mild mildly moderate serious seriously".split())
_WAS_DONE = frozenset("was were been did".split())
_VERDICTS = frozenset(("advice", "reassurance", "outcome"))  # which no explanation of a term needs
_WITH_CHILD = frozenset("week weeks trimester fetal foetal fetus foetus placenta placental amniotic gestation".split())
_OF_TUMORS = frozenset(  # words that speak of a tumor without naming it
    "recurrence recurrent ablation radiofrequency chemotherapy radiotherapy chemoradiotherapy brachytherapy oncologic "
    "oncological staging gist hcc".split()
)
# Findings and verdicts that no plain word for another finding is.
_BOLD = frozenset(
    "burst ruptured bruised bruise bruising harmless innocent dangerous cancerous tumor tumors tumour tumours".split()
)


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """No finding, cause, treatment, symptom, advice or outcome that the expert caption does not speak of."""
    outcome = Outcome()
    unfamiliar, known = _claims(expert, lay, allowed, outcome)
    if ill := ill_for_normal(expert, lay, unfamiliar, known):
        outcome.add("changed", ill, Basis.READ)
    elif normal := normal_for_ill(expert, lay):
        outcome.add("changed", *normal)
    for person in persons(expert, lay):
        outcome.add("new", person, Basis.MISSING if person in SEX else Basis.UNMET)
    ours = _levels(expert)
    if len(ours) == 1 and len(theirs := _levels(lay)) == 1 and ours != theirs:
        outcome.add("changed", f"{_LEVEL_NAMES[min(ours)]} became {_LEVEL_NAMES[min(theirs)]}")
    for first, end in added(expert, lay, allowed):
        if not is_explained(lay, first):
            if not _names_more(lay, first, end, unfamiliar, known) and left_over(expert, lay):
                continue  # its unknown words may stand for what is left over
            basis = Basis.MISSING if _tells_of_more(lay, first, end, unfamiliar, known) else Basis.UNMET
            outcome.add("new", f"“{lay.between(first, end - 1)}”", basis)
    for text in caused(expert, lay):
        outcome.add("new", text, Basis.SOUGHT)
    for text in (
        *reached_parts(expert, lay, unfamiliar),
        *put_in(expert, lay),
        *one_more_told(expert, lay, unfamiliar),
    ):
        outcome.add("new", text, Basis.UNMET)
    if replaced := place_replaced(expert, lay, unfamiliar, allowed):
        outcome.add("changed", *replaced)
    elif anew := [said for said in unfamiliar if not known.issuperset(map(_CONCEPT, said.senses))]:
        all_known = not expert.get(_unknown_terms)
        for said in elsewhere(lay, anew, known, lay.get(concepts_of), all_known=all_known):
            if not is_simile(lay, said):
                outcome.add("new", lay.said(said), Basis.UNMET)
    for text in (*taken_away(expert, lay), *replaced_by_rank(expert, lay, unfamiliar, allowed)):
        outcome.add("changed", text, Basis.READ)
    strong = (_STRONG & lay.bag) - expert.bag
    if strong and not any(p.dimension == "severity" for p in expert.get(poles)):
        outcome.add("new", ", ".join(sorted(strong)), Basis.UNMET)
    return outcome


def _claims(expert: Reading, lay: Reading, allowed: Reading, outcome: Outcome) -> tuple[list[Said], frozenset[str]]:
    """Adds what the lay caption names and the expert one does not to the outcome.

    Returns what it names in other words than the expert caption, and the concepts that are known of.
    """
    said_here = expert.get(concepts_of)
    unfamiliar = [said for said in lay.get(senses) if not said_here.issuperset(map(_CONCEPT, said.senses))]
    known = said_here | allowed.get(named_by_phrases) if unfamiliar else said_here
    for said in unfamiliar:
        concepts = {sense.concept for sense in said.senses}
        unknown = concepts - known
        if unknown:
            known |= allowed.get(concepts_of)  # as one text, for what only two phrases together name
            unknown = concepts - known
        if not unknown:
            continue
        if any(kind_of(c) == "disease" for c in unknown):
            concepts = unknown  # "infected with tuberculosis" says more than infected
        if (
            concepts == _IDIOM
            or (unknown < concepts and not _is_only_placed(concepts - unknown, concepts))
            or ("pregnancy" in concepts and _WITH_CHILD & set(expert.texts))
            or ("mass" in concepts and not _OF_TUMORS.isdisjoint(expert.bag))
            or is_no_claim(lay, said)
        ):
            continue
        denials = lay.get(polarity).cues
        if denials and any(cue.start <= said.first < cue.end for cue in denials) and expert.get(polarity).cues:
            continue  # what an expert denies may be told by what it would be: "free of stones or other gaps"
        if is_simile(lay, said) and not any(kind_of(c) == "disease" or c == "cancer" for c in concepts):
            continue
        if any(kind_of(c) in _TOLD_BESIDE for c in concepts) and (beside := put_beside(expert, lay, said, known)):
            open_to_doubt = concepts <= GENERAL or expert.get(_unknown_terms)
            outcome.add("new", beside, Basis.READ if open_to_doubt else Basis.MISSING)
            continue
        _judge(expert, lay, said, concepts, known, outcome)
    return unfamiliar, known


def _is_only_placed(shared: Set[str], concepts: Set[str]) -> bool:
    """Whether an illness shares with the expert caption no more than its place: "pneumonia" with "the left lung"."""
    kinds = {kind_of(c) for c in shared}
    return kinds == {"anatomy"} and any(kind_of(c) in ("finding", "disease") and c not in GENERAL for c in concepts)


def _judge(expert: Reading, lay: Reading, said: Said, concepts: Set[str], known: Set[str], outcome: Outcome) -> None:
    """Adds what was `said` to the outcome where it claims something of the patient: `concepts` that the expert caption
    does not name."""
    start, end = lay.starts[said.first], lay.ends[said.last]
    explained = any(a <= start and end <= b for a, b in lay.get(definitions))
    firm = {c for c in concepts if kind_of(c) in _FIRM}
    text = lay.said(said)
    claims = any(kind_of(c) != "person" for c in concepts)
    told = (claims and told_of_the_patient(lay, said)) or _BOLD & set(lay.texts[said.first : said.last + 1])
    if not _BETTER.get(text.lower(), frozenset()).isdisjoint(expert.bag):
        return
    if not explained and told:
        done = lay.texts[said.first - 2 : said.first] == ["to", "be"] and any(kind_of(c) == "treatment" for c in known)
        outcome.add("new", text, Basis.UNMET if done else Basis.MISSING)  # "the skull had to be opened"
    elif not explained and any(kind_of(c) == "disease" or c == "cancer" for c in concepts):
        outcome.add("new", text, Basis.UNMET if expert.get(_unknown_terms) else Basis.MISSING)
    elif firm and len(firm) == len(concepts):
        if (explained and not firm & _VERDICTS) or is_norm(lay, said):
            return
        past = not _WAS_DONE.isdisjoint(lay.texts[max(0, said.first - 3) : said.first])
        if past and {kind_of(c) for c in firm} == {"advice"}:
            return  # "the heart was checked again"
        treated = {"treatment"} == {kind_of(c) for c in firm}
        if explained or not treated or not any(kind_of(c) == "treatment" for c in known):
            verdict = not (explained or treated) and not _VERDICTS.isdisjoint(map(kind_of, firm))
            outcome.add("new", text, Basis.MISSING if verdict else Basis.SOUGHT)
    elif _SEEN.issuperset(kinds := set(map(kind_of, concepts))) and kinds != {"anatomy"}:
        if is_joined(lay, said):
            outcome.add("new", text, Basis.SOUGHT if known.isdisjoint(implied_by_all([said])) else Basis.UNMET)
        elif not concepts & GENERAL and all(kind_of(c) == "finding" for c in concepts) and is_one_more(lay, said):
            outcome.add("new", text, Basis.UNMET)


def _names_more(lay: Reading, first: int, end: int, unfamiliar: list[Said], known: frozenset[str]) -> bool:
    """Whether a clause names something that the expert caption does not, or a direction or a colour."""
    headed = any(first <= pole.first < end and pole.dimension == "heading" for pole in lay.get(poles))
    if headed or not COLOURS.isdisjoint(lay.texts[first:end]):
        return True
    return any(first <= said.first < end and not known.issuperset(map(_CONCEPT, said.senses)) for said in unfamiliar)


def _tells_of_more(lay: Reading, first: int, end: int, unfamiliar: list[Said], known: frozenset[str]) -> bool:
    """Whether a clause that adds to what is told is a sentence of its own and names a finding or a deed.

    Of 1,185 broken and 1,234 faithful pairs of fourteen writers 18 and 0 have one.
    """
    if _STOPS.isdisjoint(lay.gaps[first]):
        return False
    new = {x.concept for s in unfamiliar if first <= s.first < end for x in s.senses} - known - GENERAL
    return any(kind_of(concept) in OF_THE_CASE for concept in new)


_STOPS = frozenset(".;")
_TOLD_BESIDE = frozenset(
    "finding disease symptom outcome".split()
)  # a device or a deed may tell how something was done
# By what an expert tells of the picture a plain caption may tell how the patient fares.
_BETTER = {
    "back to normal": frozenset(
        "resolved resolution disappeared disappearance vanished cleared normalized normalised".split()
    ),
    "getting better": frozenset(("improvement", "improved", "improving", "improves")),
}


def _levels(reading: Reading) -> frozenset[int]:
    """The degrees of severity that a caption names by the words that doctors use for them."""
    return frozenset(_LEVELS[text] for text in _LEVELS.keys() & reading.bag)


_LEVELS = {"mild": 0, "mildly": 0, "moderate": 1, "moderately": 1, "severe": 2, "severely": 2}
_LEVEL_NAMES = ("mild", "moderate", "severe")


def _unknown_terms(reading: Reading) -> list[str]:
    """The terms of a caption that neither the tables nor plain English know: any of them may stand for a finding."""
    covered = {i for said in reading.get(senses) for i in range(said.first, said.last + 1)}
    covered |= {i for pole in reading.get(poles) for i in range(pole.first, pole.last + 1)}
    return [word for i, word in enumerate(reading.texts) if i not in covered and _is_term(word)]


@lru_cache(maxsize=65536)
def _is_term(word: str) -> bool:
    """Whether a word of letters may name a thing, is no plain one and tells nothing of how the picture was made."""
    if len(word) < 4 or not word.isalpha() or word.endswith(_ADJECTIVES):
        return False
    return word not in STOP_WORDS | plain_words() and not any(imaging(read(word)))
