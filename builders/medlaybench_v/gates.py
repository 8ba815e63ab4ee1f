"""The fact gates: pure checks of a lay caption against its expert caption, each with a reason when it fails.

The paper keeps a generated caption only if CheckFactuality holds (Algorithm 1) and does not say how it is checked; of
the captions released with it, a third lose a number, a side, a negation, a modality or a figure marker. Here every
row passes through all gates and carries their verdicts. Both captions are parsed into values (`facts`), and what is
meant is compared: 15 mm is 1.5 cm, "patent" is "not blocked". A pair fails where the captions contradict each other
however one reads them, or where a value is missing that has few wordings: a measure, a side, a named mark. What rests
on the reading of a free sentence, or is not met in words, is doubtful, unless the expert caption is short (`SHORT`).

    >>> from builders.medlaybench_v.facts import read
    >>> expert, lay = read("CT shows a 2 cm mass in the left lung."), read("The scan shows a lump in the lung.")
    >>> verdicts = check(expert, lay, Context())
    >>> [(v.gate, v.reason) for v in verdicts if not v.passed]
    [('numbers', 'lost: 2 cm'), ('laterality', 'lost: left'), ('modality', 'lost: CT')]
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

from builders.medlaybench_v.facts import (
    Reading,
    amounts,
    certainty,
    comparison,
    imaging,
    inventions,
    marks_kept,
    order,
    polarity,
    read,
    sides_kept,
    slots,
)
from builders.medlaybench_v.facts.binding import CLOSE, share_kept
from builders.medlaybench_v.facts.leftover import names_nothing
from builders.medlaybench_v.facts.norms import findings
from builders.medlaybench_v.facts.outcome import Basis, Outcome

SHORTEST, LONGEST = 0.4, 3.0
# A caption of three words may need many to be said plainly ("Lymphadenopathy." -> "Swollen lymph nodes."), so the
# upper bound of the word ratio applies only above this many added words. Of 2,582 faithful pairs of all writers 162 add
# more than 12 and go beyond it, 14 more than these.
ADDED_WORDS = 28
SHORT = 16
"""Fewer words of an expert caption leave little to mistake: what was READ or SOUGHT holds there."""
DOUBTFUL = "doubtful: "
"""How the reason of a passed verdict begins if only a reader can decide."""
OUTCOMES = ("passed", "doubtful", "failed")
STYLE = frozenset(("person", "length", "unchanged"))
"""The gates that are not about facts."""
JUDGE = "judge"
"""The entry among a row's verdicts that holds the opinion of a model (`builders.medlaybench_v.judge`)."""
EVIDENCE = ("contradicted", "missing", "not met in words")
"""Both captions name a value and the two differ; a value with few wordings has no counterpart; neither of these."""
_CLAIMS = re.compile(r"(?:\A|; )(lost|changed|new|swapped): ")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a gate. A passed gate may carry a remark as its reason, or a doubt (`DOUBTFUL`)."""

    gate: str
    passed: bool
    reason: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether only a reader can decide."""
        return self.passed and self.reason.startswith(DOUBTFUL)

    @property
    def evidence(self) -> str:
        """What a verdict of the facts rests on, one of `EVIDENCE`; empty if nothing was found or style failed."""
        if self.passed:
            return EVIDENCE[2] if self.doubtful else ""
        kinds = set(_CLAIMS.findall(self.reason))
        return EVIDENCE[0] if kinds & {"changed", "swapped"} else EVIDENCE[1] if kinds else ""

    @property
    def outcome(self) -> str:
        """One of `OUTCOMES`."""
        return "doubtful" if self.doubtful else "passed" if self.passed else "failed"


@dataclass(frozen=True)
class Context:
    """What is known about a row besides its two captions.

    `glosses` are (expert surface, lay phrase) of every vocabulary entry in the expert caption: a fact that only the lay
    phrase names ("asymptomatic" -> "without symptoms") is not invented. `modalities` are those of the row's CUIs, which
    a lay caption may name although the expert caption does not. `simplifiable`: the vocabulary offers something.
    """

    glosses: tuple[tuple[str, str], ...] = ()
    modalities: frozenset[str] = frozenset()
    simplifiable: bool = False

    @cached_property
    def allowed(self) -> Reading:
        """The lay phrases as one text, read once for several candidates."""
        return read("; ".join(lay for _, lay in self.glosses))


def check(expert: Reading, lay: Reading, context: Context) -> tuple[Verdict, ...]:
    """Run the gates (ML-G14), in the order of GATES, and add the remark on abbreviations, which never fails."""
    verdicts = [verdict_of(name, expert, lay, context) for name in GATES]
    return (*verdicts, Verdict("abbreviations", True, _abbreviations(expert, lay)))


def verdict_of(gate: str, expert: Reading, lay: Reading, context: Context) -> Verdict:
    """The verdict of one of GATES."""
    outcome = GATES[gate](expert, lay, context)
    if isinstance(outcome, str):
        return Verdict(gate, False, outcome) if outcome else _passed(gate)
    if outcome.doubts:
        outcome.settle(lambda claim: _holds(claim.basis, expert, lay))
    if outcome.failed:
        return Verdict(gate, False, outcome.reason)
    return Verdict(gate, True, f"{DOUBTFUL}{outcome.reason}") if outcome.doubts else _passed(gate)


def _holds(basis: Basis, expert: Reading, lay: Reading) -> bool:
    """Whether a doubt is taken for what it claims."""
    if basis is Basis.UNMET:
        return False
    return len(expert.texts) < SHORT or (basis is Basis.READ and share_kept(expert, lay) >= CLOSE)


@cache
def _passed(name: str) -> Verdict:
    return Verdict(name, True)


def _invention(expert: Reading, lay: Reading, context: Context) -> Outcome:
    outcome = inventions.compare(expert, lay, context.allowed)
    slots.compare(expert, lay, context.glosses, outcome)
    return outcome


_SECOND_PERSON = frozenset("you your yours yourself yourselves".split())


def _person(expert: Reading, lay: Reading, context: Context) -> str:
    """The reader is not the patient: no second person."""
    if _SECOND_PERSON.isdisjoint(lay.bag):
        return ""
    return f"new: {', '.join(dict.fromkeys(word for word in lay.texts if word in _SECOND_PERSON))}"


def _length(expert: Reading, lay: Reading, context: Context) -> str:
    """Neither cut short nor padded (SHORTEST, LONGEST), nor without a word on what is found."""
    here, there = len(expert.text.split()), len(lay.text.split())
    if not there:
        return "empty"
    if lay.text.startswith(("{", "[")) and '":' in lay.text:
        return "JSON around a caption"
    if lay.texts[-1:] and lay.texts[-1] in _UNENDED - {*expert.texts[-1:]} and lay.text[-1:].isalpha():
        return f"breaks off: “… {lay.texts[-1]}”"
    if there < here and names_nothing(lay) and findings(expert):
        return f"says nothing of “{expert.said(findings(expert)[0])}”"
    if there < SHORTEST * here or (there > LONGEST * here and there > here + ADDED_WORDS):
        return f"{there} words for {here}"
    return ""


_UNENDED = frozenset(
    "a an the of in on at to from with by and or but is are was were which that shows showing as than its their".split()
)


def _unchanged(expert: Reading, lay: Reading, context: Context) -> str:
    """A caption with something to simplify was not simply copied."""
    same = context.simplifiable and _plain(expert.text) == _plain(lay.text)
    return "copied from the expert caption" if same else ""


_ABBREVIATION = re.compile(r"(?<![\w-])[A-Z]{2,6}(?![\w-])")


def _abbreviations(expert: Reading, lay: Reading) -> str:
    """Abbreviations that the lay caption no longer shows; figures may be labelled with them."""
    here = _ABBREVIATION.findall(expert.text)
    dropped = dict.fromkeys(a for a in here if a not in lay.text)
    return f"dropped: {', '.join(dropped)}" if dropped else ""


Gate = Callable[[Reading, Reading, Context], Outcome | str]


def _facts(compare: Callable[[Reading, Reading, Reading], Outcome]) -> Gate:
    return lambda expert, lay, context: compare(expert, lay, context.allowed)


GATES: dict[str, Gate] = {
    "numbers": _facts(amounts.compare),
    "laterality": _facts(sides_kept.compare),
    "negation": _facts(polarity.compare),
    "certainty": _facts(certainty.compare),
    "time": _facts(order.compare),
    "comparison": _facts(comparison.compare),
    "modality": lambda expert, lay, context: imaging.compare(expert, lay, context.allowed, context.modalities),
    "markers": _facts(marks_kept.compare),
    "invention": _invention,
    "person": _person,
    "length": _length,
    "unchanged": _unchanged,
}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
