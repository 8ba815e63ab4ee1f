"""The turn evaluator without a model: phrases of spoken English, counted (MC-G21).

For tests, demonstrations and the turns on which a model gives no usable answer. It reads wording and not meaning: good
enough to tell an open question from a checklist, no measure of a real clinician. The phrases are regular expressions
in `cues.csv`: a strong one adds one half to its feature, a weak one a quarter (half in all), each counted once, and the
sum is cut at 1.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from baselines.medconceal.probes import label_probe
from baselines.medconceal.record import FEATURES, Features, Obtained, TurnEvaluation
from baselines.medconceal.words import content_stems

_MANY_QUESTIONS = 4  # in one turn: a list is being worked off
_LONG = 120  # words: a monologue


@dataclass(frozen=True, slots=True)
class _Cues:
    strong: tuple[re.Pattern[str], ...]
    weak: tuple[re.Pattern[str], ...]

    def score(self, turn: str) -> float:
        strong = sum(pattern.search(turn) is not None for pattern in self.strong)
        weak = sum(pattern.search(turn) is not None for pattern in self.weak)
        return min(1.0, 0.5 * strong + min(0.5, 0.25 * weak))


def _read_cues() -> dict[str, _Cues]:
    found: dict[tuple[str, str], list[re.Pattern[str]]] = {}
    with (Path(__file__).parent / "cues.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            pattern = re.compile(row["pattern"], re.IGNORECASE | re.DOTALL)
            found.setdefault((row["feature"], row["strength"]), []).append(pattern)
    return {
        key: _Cues(tuple(found.get((key, "strong"), ())), tuple(found.get((key, "weak"), ())))
        for key in FEATURES
        if key != "PQC"
    }


_CUES = _read_cues()

# Subjects of the four categories; three of them in one sentence that asks make it a list of labels in plain words.
_SUBJECTS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:misunderst\w*|beliefs?|myths?|misinform\w*|misconcept\w*|rumou?rs?)\b",
        r"\b(?:emotion\w*|fears?|afraid|anxiet\w*|shame|stigma)\b",
        r"\b(?:communicat\w*|language|explanations?|literacy)\b",
        r"\b(?:cost|costs|money|financ\w*|insurance|coverage|afford\w*)\b",
    )
)
_ANSWERING = re.compile(r"\b(?:good question|to answer|you asked|your question|in answer)\b", re.IGNORECASE)
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")

_INTENT_OF = (
    ("CM", "concern_mitigation"),
    ("CE", "open_elicitation"),
    ("ER", "emotional_support"),
    ("PS", "plan_safety_net"),
    ("NS", "education_necessity"),
    ("DG", "data_gathering"),
    ("PA", "partnership"),
)
_GREETING = re.compile(r"^\W*(?:hello|hi|good (?:morning|afternoon|evening|day)|welcome|nice to)\b", re.IGNORECASE)
_CLOSING = re.compile(r"\b(?:goodbye|bye|take care|have a (?:good|nice)|see you)\b", re.IGNORECASE)


def evaluate(turn: str, pending: str | None, *, obtained: Obtained = "rules", attempts: int = 0) -> TurnEvaluation:
    """The evaluation of a turn as the patient hears it (`untrusted.heard`)."""
    if not turn.strip():
        covered = None if pending is None else False
        features = Features(PQC=0.5 if pending is None else 0.0)
        return TurnEvaluation("other", {"other": 1.0}, features, covered, 0.0, False, "silence", attempts)
    probe = label_probe(turn)
    questions = len(re.findall(r"[?？]", turn))
    words = len(turn.split())
    scores = {key: cues.score(turn) for key, cues in _CUES.items()}
    scores["DG"] = min(scores["DG"], 0.25) if questions == 0 else scores["DG"]
    # Room to answer: one question at the end of a short turn leaves it, a volley or a lecture does not.
    if questions > 2:
        scores["SP"] = 0.0
    if words > _LONG:
        scores["SP"], scores["CE"] = scores["SP"] / 2, scores["CE"] / 2
    listed = any(
        sum(subject.search(sentence) is not None for subject in _SUBJECTS) >= 3
        for sentence in _SENTENCES.split(turn)
        if "?" in sentence
    )
    scores["MR"] = 1.0 if probe or listed else max(scores["MR"], 0.5 if questions >= _MANY_QUESTIONS else 0.0)
    scores["PQC"] = _pending_coverage(turn, pending)
    scores = {key: round(4 * value) / 4 for key, value in scores.items()}
    ranked = _intents(turn, scores)
    return TurnEvaluation(
        intent=max(ranked, key=lambda name: ranked[name]),
        intent_probabilities=ranked,
        features=Features(**scores),
        pending_covered=None if pending is None else scores["PQC"] >= 0.5,
        empathy=scores["ER"],
        label_probe=probe,
        obtained=obtained,
        attempts=attempts,
    )


def _pending_coverage(turn: str, pending: str | None) -> float:
    if pending is None:
        return 0.5
    asked = content_stems(pending)
    shared = len(asked & content_stems(turn)) / len(asked) if asked else 0.0
    return 1.0 if shared >= 0.5 or _ANSWERING.search(turn) else 0.5 if shared >= 0.25 else 0.0


def _intents(turn: str, scores: dict[str, float]) -> dict[str, float]:
    """Probabilities by how high the features are that speak for an intent; the order of _INTENT_OF breaks ties."""
    found = {name: scores[key] for key, name in _INTENT_OF}
    if scores["MR"] >= 0.5:
        found = {"meta_category_probe": 4 * scores["MR"], **found}
    if max(found.values()) < 0.5:
        kind = "rapport" if _GREETING.search(turn) else "closing" if _CLOSING.search(turn) else "other"
        found = {kind: 0.5, **found}
    total = sum(found.values())
    return {name: value / total for name, value in found.items() if value}
