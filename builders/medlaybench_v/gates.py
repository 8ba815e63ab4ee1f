"""The fact gates: nine pure checks of a lay caption against its expert caption, each with a reason when it fails.

The paper keeps a generated caption only if CheckFactuality holds (Algorithm 1) and does not say how it is checked; of
the captions released with it, a third lose a number, a side, a negation, a modality or a figure marker. Here every
row passes through all nine gates and carries their verdicts.

    >>> from builders.medlaybench_v.facts import read
    >>> expert, lay = read("CT shows a 2 cm mass in the left lung."), read("The scan shows a lump in the lung.")
    >>> verdicts = check(expert, lay, Context())
    >>> [(v.gate, v.reason) for v in verdicts if not v.passed]
    [('numbers', 'lost: 2 cm'), ('laterality', 'lost: left'), ('modality', 'lost: CT')]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from builders.medlaybench_v.clinical import claims, families
from builders.medlaybench_v.facts import Fact, Reading, Word, join, read, stem

SHORTEST, LONGEST = 0.5, 2.5
# A caption of three words may need seven to be said plainly ("Lymphadenopathy." -> "Swollen lymph nodes."), so the
# upper bound of the word ratio starts to count above this many added words.
ADDED_WORDS = 6


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a gate says. A passed gate may carry a remark as its reason (a soft flag)."""

    gate: str
    passed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a row beside its two captions.

    `glosses` are (expert surface, lay phrase) of every vocabulary entry in the expert caption: a fact that only the lay
    phrase names ("asymptomatic" -> "without symptoms") is not invented. `modalities` are those of the row's CUIs, which
    a lay caption may name although the expert caption does not. `simplifiable`: the vocabulary offers something.
    """

    glosses: tuple[tuple[str, str], ...] = ()
    modalities: frozenset[str] = frozenset()
    simplifiable: bool = False
    allowed: Reading = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", join(_read_gloss(lay) for _, lay in self.glosses))


@lru_cache(maxsize=65536)
def _read_gloss(lay: str) -> Reading:
    return read(lay)


def check(expert: Reading, lay: Reading, context: Context) -> tuple[Verdict, ...]:
    """Run the nine gates (ML-G14), in the order of GATES, and add the remark on abbreviations, which never fails."""
    reasons = {name: gate(expert, lay, context) for name, gate in GATES.items()}
    verdicts = (Verdict(name, not reason, reason) for name, reason in reasons.items())
    return (*verdicts, Verdict("abbreviations", True, _abbreviations(expert, lay)))


# ---------------------------------------------------------------------------------------------------------- the gates


def _numbers(expert: Reading, lay: Reading, context: Context) -> str:
    """Every number is kept with its unit, and there is no new one. Number words and digits are the same number."""
    here, there = expert.of("number"), lay.of("number")
    known = {f.value for f in here} | {f.value for f in context.allowed.of("number")}
    lost, changed = [], []
    for fact in here:
        units = {f.unit for f in there if f.value == fact.value}
        if not units:
            lost.append(_shown(fact))
        elif fact.unit not in units and fact.unit not in _OTHER_WORDING:
            others = units - {f.unit for f in here if f.value == fact.value}
            if others - {""}:
                changed.append(f"{_shown(fact)} became {fact.value} {', '.join(sorted(others))}")
            else:
                lost.append(_shown(fact))
    new = [_shown(f) for f in there if f.value not in known]
    lost_dates = {f.value for f in expert.of("date")} - set(lay.texts) if expert.of("date") else ()
    return _reason(lost=[*lost, *sorted(lost_dates)], changed=changed, new=new)


# Units that a faithful rewrite may word otherwise: "33rd day" -> "day 33", "5-year-old" -> "aged 5", "type II" ->
# "type 2".
_OTHER_WORDING = frozenset(("", "ordinal", "grade", "code", "year"))


def _laterality(expert: Reading, lay: Reading, context: Context) -> str:
    """The same set of sides, and none changed places with another."""
    here, there = _side_set(expert), _side_set(lay)
    allowed = _side_set(context.allowed)
    pair = {"left", "right"}
    lost = {
        s for s in here - there if not (s == "both" and pair <= there) and not (s in pair and _both_said(here, there))
    }
    new = {
        s for s in there - here - allowed if not (s == "both" and pair <= here) and not (s in pair and "both" in here)
    }
    # Abbreviated structures name a side too (RCA, LV): spelling them out is no invention.
    new -= _sides_of_abbreviations(expert.text) if new else set()
    swapped = [] if lost or new else _swapped(expert, lay)
    return _reason(lost=sorted(lost), new=sorted(new), swapped=swapped)


def _negation(expert: Reading, lay: Reading, context: Context) -> str:
    """As many negations as before, about the same things."""
    here, there = expert.of("negation"), lay.of("negation")
    if not here and not there:
        return ""
    scopes = [_scope(expert, f) | _lay_words(_scope(expert, f), context) for f in here]
    lay_scopes = [_scope(lay, f) for f in there]
    everything = frozenset().union(*lay_scopes) if lay_scopes else frozenset()
    lost = []
    for fact, scope in zip(here, scopes, strict=True):
        if not scope & everything and (scope & lay.stems or len(there) < len(here)):
            lost.append(_clause(expert, fact))
    negated = frozenset().union(*scopes) if scopes else frozenset()
    extra = [
        _clause(lay, f)
        for f, scope in zip(there, lay_scopes, strict=True)
        if not scope & negated and not _is_glossed(f, lay, context)
    ]
    new = extra if len(there) > len(here) else []
    return _reason(lost=lost, new=new)


def _modality(expert: Reading, lay: Reading, context: Context) -> str:
    """The imaging method that the expert caption names is named, and no other one."""
    here = {f.value for f in expert.of("modality")}
    there = {f.value for f in lay.of("modality")}
    new = there - here - context.modalities - {f.value for f in context.allowed.of("modality")}
    return _reason(lost=sorted(here - there), new=sorted(new))


def _markers(expert: Reading, lay: Reading, context: Context) -> str:
    """Arrows, asterisks and their colours still point to what they pointed to."""
    here = [f.value for f in expert.of("marker")]
    there = {f.value for f in lay.of("marker")}
    if "arrow" in there:
        there.add("arrowhead")  # calling an arrowhead an arrow points to the same place
    lost = sorted({m for m in here if m not in there})
    new = sorted(there - set(here) - {"arrowhead"} - ({"arrow"} if "arrowhead" in here else set()))
    return _reason(lost=lost, new=new)


def _invention(expert: Reading, lay: Reading, context: Context) -> str:
    """No disease or procedure that neither the expert caption nor the vocabulary's phrases for it mention."""
    said = claims(lay.texts)
    if not said:
        return ""
    known = families(expert.texts) | families(context.allowed.texts)
    return _reason(new=[word for word, claimed in said.items() if not claimed & known])


_SECOND_PERSON = frozenset("you your yours yourself yourselves".split())


def _person(expert: Reading, lay: Reading, context: Context) -> str:
    """The reader is not the patient: no second person."""
    return _reason(new=[word for word in lay.texts if word in _SECOND_PERSON])


def _length(expert: Reading, lay: Reading, context: Context) -> str:
    """Word ratio 0.5 to 2.5: neither cut away nor padded."""
    here, there = len(expert.text.split()), len(lay.text.split())
    if not there:
        return "empty"
    if there < SHORTEST * here or (there > LONGEST * here and there > here + ADDED_WORDS):
        return f"{there} words for {here}"
    return ""


def _unchanged(expert: Reading, lay: Reading, context: Context) -> str:
    """A caption with something to simplify was not simply copied."""
    same = _plain(expert.text) == _plain(lay.text)
    return "copied from the expert caption" if same and context.simplifiable else ""


_ABBREVIATION = re.compile(r"(?<![\w-])[A-Z]{2,6}(?![\w-])")


def _abbreviations(expert: Reading, lay: Reading) -> str:
    """Abbreviations that the lay caption no longer shows; figures may be labelled with them."""
    here = _ABBREVIATION.findall(expert.text)
    return _reason(dropped=[a for a in here if a not in lay.text]) if here else ""


Gate = Callable[[Reading, Reading, Context], str]
GATES: dict[str, Gate] = {
    "numbers": _numbers,
    "laterality": _laterality,
    "negation": _negation,
    "modality": _modality,
    "markers": _markers,
    "invention": _invention,
    "person": _person,
    "length": _length,
    "unchanged": _unchanged,
}


# ------------------------------------------------------------------------------------------------------------- helpers


def _reason(**lists: Iterable[str]) -> str:
    parts = []
    for what, items in lists.items():
        unique = list(dict.fromkeys(items))
        if unique:
            parts.append(f"{what}: {', '.join(unique)}")
    return "; ".join(parts)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _shown(fact: Fact) -> str:
    return fact.value if fact.unit in ("", "ordinal", "grade", "code") else f"{fact.value} {fact.unit}"


def _side_set(reading: Reading) -> set[str]:
    return {f.value for f in reading.facts if f.kind == "side"}


def _both_said(here: set[str], there: set[str]) -> bool:
    return {"left", "right"} <= here and "both" in there


_ABBREVIATED_SIDES = {
    "left": frozenset("LV LA LAD LCA LCX LMCA LVOT LUL LLL LUQ LLQ LAA LICA LVEF LHA LGA LIMA LPA LAO MLO LCC".split()),
    "right": frozenset("RV RA RCA RVOT RUL RML RLL RUQ RLQ RICA RHA RPA RAO RCC RVH RMCA".split()),
}


def _sides_of_abbreviations(text: str) -> set[str]:
    words = set(text.replace("(", " ").replace(")", " ").replace(",", " ").replace(".", " ").split())
    return {side for side, names in _ABBREVIATED_SIDES.items() if names & words}


_FILLERS = frozenset(
    "a an the of in on at to for from with by and or is are was were be been this that these those there it its as "
    "side sided lower upper outer inner shows show showing seen sign signs evidence any other".split()
)


def _heads(reading: Reading) -> set[tuple[str, str]]:
    """(side, next content word) for each left and right: what the side is said of."""
    pairs = set()
    for fact in reading.facts:
        if fact.kind == "side" and fact.value in ("left", "right"):
            after = (w.text for w in reading.words if w.start >= fact.end)
            head = next((w for w in after if w not in _FILLERS), "")
            if head and head not in ("left", "right"):
                pairs.add((fact.value, stem(head)))
    return pairs


_OTHER = {"left": "right", "right": "left"}


def _swapped(expert: Reading, lay: Reading) -> list[str]:
    """Structures whose side became the other one ("left kidney … right lung" -> "right kidney … left lung")."""
    here = _heads(expert)
    if len({side for side, _ in here}) < 2:
        return []
    there = _heads(lay)
    return sorted(
        f"{side} {head}"
        for side, head in here
        if (_OTHER[side], head) in there and (side, head) not in there and (_OTHER[side], head) not in here
    )


_CLAUSE_END = frozenset(".;:")
_TURNS = frozenset("but however although though while whereas except".split())


def _scope(reading: Reading, fact: Fact) -> frozenset[str]:
    """Content words that a negation speaks of: up to eight after it in its clause (before it for "absent")."""
    text, words = reading.text, reading.words
    scope: list[str] = []
    if fact.value in ("absent", "missing", "negative", "not", "cannot", "never"):
        before = [w for w in words if w.end <= fact.start][-5:]
        scope += [stem(w.text) for w in before if w.text not in _FILLERS]
    previous = fact.end
    for word in words:
        if word.start < fact.end:
            continue
        if len(scope) >= 8 or word.text in _TURNS or any(c in _CLAUSE_END for c in text[previous : word.start]):
            break
        previous = word.end
        if word.text not in _FILLERS:
            scope.append(stem(word.text))
    return frozenset(scope)


def _lay_words(scope: frozenset[str], context: Context) -> frozenset[str]:
    """Words of the lay phrases whose expert surface lies in the scope."""
    said = (
        _read_gloss(lay).stems
        for surface, lay in context.glosses
        if {stem(w) for w in surface.lower().replace("-", " ").split()} & scope
    )
    return frozenset().union(*said) - _FILLERS


def _is_glossed(fact: Fact, lay: Reading, context: Context) -> bool:
    """Whether this negation of the lay caption comes with a lay phrase: "without symptoms", "noncancerous"."""
    said = _from(lay, fact)
    for _, gloss in context.glosses:
        reading = _read_gloss(gloss)
        for f in reading.of("negation"):
            phrase = _from(reading, f)
            if said[: len(phrase)] == phrase:
                return True
    return False


def _from(reading: Reading, fact: Fact) -> list[str]:
    """The word of a fact and the one after it."""
    return [w.text for w in reading.words if w.start >= fact.start][:2]


def _clause(reading: Reading, fact: Fact) -> str:
    """The negation with a few words after it, for the reason."""
    after: list[Word] = [w for w in reading.words if w.start >= fact.end][:3]
    end = after[-1].end if after else fact.end
    clause = reading.text[fact.start : end].split(".")[0]
    return f"“{clause.strip()}”"
