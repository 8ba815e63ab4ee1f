"""Whether a run measured what it claims to: the silent fallbacks that kept it going, with limits.

    for check in checks(episodes): ...
    reasons(episodes)       # why the run is invalid; empty for a valid one

A clinician's numbers depend on an evaluator that rates and a patient that says what it reveals. Where either failed,
the rules or the template took its place, and the numbers are theirs. A clinician whose answers are missing or cannot be
read scores like one that reveals and understands nothing. Above a limit no headline may be printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from baselines.medconceal.record import FEATURE_OF, Episode, Exchange, TurnEvaluation

MOST_REPLACED = 0.10
"""Maximum share of a model's replies that fixed sentences may replace."""
MOST_MISSING = 0.10
"""Maximum share of a clinician's turns, or of its answers with findings, that count although they are missing."""
FEWEST_TURNS = 16  # different turns; with fewer, nothing is said about an evaluator that rates all alike
_ABOVE = 2  # features that may be rated higher than that of the intent
_APART = 0.25  # maximum difference between two ratings of the same turn, averaged over the features


@dataclass(frozen=True, slots=True)
class Check:
    """One share of a run that must stay small: `over` out of `under`, and its limit.

    `by_case` is False if no dialogue alone has a part in it: it compares the turns of a run.
    """

    name: str
    over: int
    under: int
    limit: float
    reason: str
    by_case: bool = True

    @property
    def value(self) -> float | None:
        """The share; None if there was nothing to count it of."""
        return self.over / self.under if self.under else None

    @property
    def passed(self) -> bool:
        return self.value is None or self.value <= self.limit


def checks(episodes: Sequence[Episode]) -> list[Check]:
    """Every validity check of a run."""
    exchanges = [exchange for episode in episodes for exchange in episode.exchanges]
    rated = [one for one in exchanges if one.evaluation.obtained in ("model", "rules_after_failure")]
    worded = [one for one in exchanges if one.drafted]
    due = [one for one in exchanges if one.revealed or one.unsaid]
    by_model = [one for one in due if one.source == "model" or one.faults]
    alike, different = _alike(exchanges)
    by_evaluator = [one for one in exchanges if one.evaluation.obtained == "model"]
    apart, again = _rated_again(episodes)
    known = [one.cut for one in exchanges if one.cut is not None]
    written = [one.findings for one in episodes if one.findings is not None and one.findings.attempts]
    return [
        Check("Empty turns", sum(not one.clinician.strip() for one in exchanges), len(exchanges), MOST_MISSING,
              "the clinician said nothing"),
        Check("Refused turns", sum(cut in ("content_filter", "model_length") for cut in known), len(known),
              MOST_MISSING, "the clinician's provider refused or stopped its turns, or they did not fit its context"),
        Check("Findings not read", sum(one.unread for one in written), len(written), MOST_MISSING,
              "answers with findings could not be read and count as no finding"),
        Check("Evaluations by rules after failure", sum(map(_fell_back, rated)), len(rated), 0.02,
              "the evaluator's answers could not be read and the rules rated in its place"),
        Check("Turns rated all alike", alike if alike == different else 0, different, 0.99,
              "the evaluator gives every turn the same features", by_case=False),
        Check("Ratings that contradict themselves", sum(contradicts(one.evaluation) for one in by_evaluator),
              len(by_evaluator), 0.25, "the evaluator names one intent and rates another, as by chance"),
        Check("Turns rated otherwise when asked again", apart, again, 0.25,
              "the evaluator rates the same turn, after the same words, otherwise", by_case=False),
        Check("Replies replaced", sum(bool(one.replaced) for one in worded), len(worded), MOST_REPLACED,
              "the patient's drafts could not be used and fixed sentences were said in their place"),
        Check("Reveals never voiced", sum(len(one.unsaid) for one in due),
              sum(len(one.revealed) + len(one.unsaid) for one in due), 0.05,
              "concerns came due that no reply put into words"),
        Check("Disclosures by template", sum(one.source != "model" for one in by_model), len(by_model), 0.10,
              "the patient's model did not say what it revealed; fixed sentences did"),
        Check("Role breaks of the patient", sum(map(_broke, worded)), len(worded), 0.05,
              "the patient's model fell out of its role, echoed, or wrote noise"),
        Check("Trimmed disclosures", sum(one.trimmed for one in by_model), len(by_model), 0.10,
              "replies with a disclosure were longer than allowed and were cut"),
    ]  # fmt: skip


def reasons(episodes: Sequence[Episode]) -> list[str]:
    """Why a run is invalid, with the numbers; empty if every check holds."""
    return [
        f"{check.reason} ({check.over:,} of {check.under:,}, limit {check.limit:.0%})"
        for check in checks(episodes)
        if not check.passed
    ]


def stated(episodes: Sequence[Episode]) -> dict[str, Any]:
    """What a run's record says about its validity: whether it is valid, why not, and every share that was measured."""
    found = reasons(episodes)
    return {
        "valid": not found,
        "reasons": found,
        "shares": {check.name: None if check.value is None else round(check.value, 6) for check in checks(episodes)},
    }


def contradicts(evaluation: TurnEvaluation) -> bool:
    """Whether a rating gives its intent a lower probability than another, or rates its defining feature low."""
    chances = evaluation.intent_probabilities
    if chances.get(evaluation.intent, 0.0) < max(chances.values(), default=0.0):
        return True
    if (core := FEATURE_OF.get(evaluation.intent)) is None:
        return False
    rated: dict[str, float] = {key: getattr(evaluation.features, key) for key in FEATURE_OF.values()}
    return rated[core] < 0.5 or sum(value > rated[core] for value in rated.values()) > _ABOVE


def _rated_again(episodes: Sequence[Episode]) -> tuple[int, int]:
    """How many turns were rated before, in another dialogue that had gone the same way, and how many of them
    differently.

    Everything that both sides said before a turn must be equal: only then was the evaluator asked the same.
    """
    first: dict[tuple[str, ...], tuple[float, ...]] = {}
    apart = again = 0
    for episode in episodes:
        said: tuple[str, ...] = ()
        for exchange in episode.exchanges:
            said = (*said, exchange.clinician)
            if exchange.evaluation.obtained == "model":
                vector = exchange.evaluation.features.vector
                before = first.setdefault(said, vector)
                if before is not vector:
                    again += 1
                    far = sum(abs(a - b) for a, b in zip(before, vector, strict=True)) / len(vector)
                    apart += far >= _APART
            said = (*said, exchange.patient)
    return apart, again


def _fell_back(exchange: Exchange) -> bool:
    how = exchange.evaluation
    return how.obtained == "rules_after_failure" or how.relevance == "topics_after_failure"


def _broke(exchange: Exchange) -> bool:
    return any(fault in ("empty", "role", "echo", "noise") for fault in exchange.faults)


def _alike(exchanges: Sequence[Exchange]) -> tuple[int, int]:
    """Among the different turns that a model rated, how many have the most frequent features, and their number."""
    rated = [one for one in exchanges if one.evaluation.obtained == "model"]
    # PQC depends on the pending question, whatever the turn is.
    features = {one.clinician: replace(one.evaluation.features, PQC=0.5) for one in rated}
    if len(features) < FEWEST_TURNS:
        return 0, 0
    return Counter(features.values()).most_common(1)[0][1], len(features)
