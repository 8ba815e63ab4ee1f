"""The turn evaluator without a model: what a turn does (`acts`), weighted into the ten features (MC-G21).

For tests, demonstrations and the turns on which a model gives no usable answer. It reads form, not meaning: good
enough to tell a clinician who takes up the patient's words and leaves room from one who lectures, no measure of a real
one. The weights of the acts are set by hand, those of the manner fitted, on labelled turns of other writers
(`tests/turns`); `python -m scripts.bench.manner` says how well they rank turns of a held-out writer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from statistics import fmean

from baselines.medconceal.acts import MIRROR, acts, own_words
from baselines.medconceal.machine import newness
from baselines.medconceal.manner import manner
from baselines.medconceal.policy import PolicyConfig
from baselines.medconceal.probes import label_probe
from baselines.medconceal.record import FEATURE_OF, FEATURES, Features, Obtained, TurnEvaluation
from baselines.medconceal.typed import marked
from baselines.medconceal.words import content_roots, content_stems
from loaders.files.bundled import grouped
from loaders.medconceal import Task
from loaders.spans import words

_ANSWERING = re.compile(r"\b(?:good question|to answer|you asked|your question|in answer)\b", re.IGNORECASE)
_GREETING = re.compile(r"^\W*(?:hello|hi|good (?:morning|afternoon|evening|day)|welcome|nice to)\b", re.IGNORECASE)
_CLOSING = re.compile(r"\b(?:goodbye|bye|take care|have a (?:good|nice)|see you)\b", re.IGNORECASE)

_LEADING = ("CM", "CE", "ER", "PS", "NS", "DG", "PA")
"""Features that suggest an intent; of equal ones the first decides."""


_WEIGHTS = {
    feature: {row["act"]: float(row["weight"]) for row in rows}
    for feature, rows in grouped("baselines.medconceal", "weights.csv").items()
}
"""Feature -> act -> weight. What the listening features have in common: being judged, brushed off, pushed or lectured
shuts a patient down, and words that are demanded or threatened for leave no open question."""

# Acts are counted by phrases, of which every writer has others; the manner is what writers have in common. So for
# features of listening the manner leads, and this share of the acts is added; what makes a correction or a plan is in
# its acts.
_ACTED = {"ER": 0.7, "PA": 0.7, "CE": 0.7, "SP": 0.7, "CM": 1.0, "PS": 0.7}
_DEAF = 0.3  # the manner of somebody who does not listen at all
# Who acknowledges a feeling is empathic, however little else the turn does (MC-G21), unless the same turn hurts.
_ACKNOWLEDGED = 0.5
_HURTS = ("judge", "brush", "push", "scorn", "coerce", "blame", "threat")
_PASSED_OVER = 0.05  # penalty for words that take up nothing of what was just said
# Manner belongs to the clinician, not to one turn: one good question does not undo a lecture, nor one clumsy turn a
# talk. This share of it comes from earlier turns, which also halves the effect of misreading a single turn.
_STANDING = 0.5

# Who scolds or presses is not believed in the next turns either, however kindly or unusually they are put.
_NOT_BELIEVED = 0.4

# A score fades out below 0 instead of stopping there: of two clinicians who reach nobody, one still listens less.
_FADE = 0.08
_STEPS = 20  # per feature; the rules distinguish more finely than the quarters of a model's levels

_LIST = 4  # questions for facts in one turn that count as working off a list
_LONG, _LONGEST = 60, 130  # words from which a turn leaves less room, and from which it leaves none


def evaluate(
    turn: str,
    pending: str | None,
    heard: str = "",
    earlier: Sequence[str] = (),
    *,
    obtained: Obtained = "rules",
    attempts: int = 0,
) -> TurnEvaluation:
    """The evaluation of a turn as the patient hears it (`untrusted.heard`).

    `heard` are the patient's last words, `earlier` the clinician's last turns, the same that a model would be shown.
    """
    if not words(turn):
        covered = None if pending is None else False
        features = Features(PQC=0.5 if pending is None else 0.0)
        return TurnEvaluation("other", {"other": 1.0}, features, covered, 0.0, False, "silence", attempts)
    probe = label_probe(turn)
    turn = own_words(marked(turn), heard)
    found = acts(turn, heard)
    scores = _practice(turn, found, heard, earlier)
    scores["MR"] = 1.0 if probe else 0.5 if found["fact"] >= _LIST else 0.0
    scores["PQC"] = _pending_coverage(turn, pending)
    scores = {key: round(_STEPS * scores[key]) / _STEPS for key in FEATURES}
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


def turn_quality(
    policy: PolicyConfig,
    turn: str,
    heard: str,
    task: Task,
    *,
    earlier: Sequence[str] = (),
    manners: Mapping[str, float] | None = None,
) -> float:
    """One number for a turn, to compare with a reader's rating: the effect it would have on a guarded patient, in [0,
    1].

    It is the probability of disclosing in confirmation and of feeling addressed in intervention, by the rules'
    features, scaled by how new the turn is after the clinician's `earlier` ones; a turn of an intervention is assumed
    to touch the concern halfway. `manners` are weights to use instead of those in `manner.csv`.
    """
    own = own_words(marked(turn), heard)
    found = acts(own, heard)
    practice = _practice(own, found, heard, earlier, manners)
    features = [{**practice, "MR": 0.0, "PQC": 0.5}[key] for key in FEATURES]
    new = newness(policy, earlier, turn, heard)
    if task == "confirmation":
        return new * policy.reveal.probability(features, 0.0, "")
    return new * policy.address.probability(features, 0.5, "")


def _practice(
    turn: str,
    found: Mapping[str, float],
    heard: str,
    earlier: Sequence[str],
    manners: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """The features of good practice, each in [0, 1]: the acts and, for features of listening, the manner."""
    done = _shares(found, heard)
    listens = manner(turn, found, manners) - _DEAF
    if before := [
        _manner_before(text) if manners is None else manner(text, acts(text), manners) for text in map(marked, earlier)
    ]:
        listens += _STANDING * (fmean(before) - _DEAF - listens)
    if any(map(_scolds, map(marked, earlier))):
        listens -= _NOT_BELIEVED
    # Kind words for anybody: they take up nothing of what was just said.
    if content_roots(heard) and not found["echo"] and not found["subjects"]:
        listens -= _PASSED_OVER
    scores = {}
    for key, weights in _WEIGHTS.items():
        acted = sum(weight * done[act] for act, weight in weights.items())
        scores[key] = min(1.0, _faded(listens + _ACTED[key] * acted) if key in _ACTED else max(0.0, acted))
    if found["hardship"] and not any(found[act] for act in _HURTS):
        scores["ER"] = max(scores["ER"], _ACKNOWLEDGED)
    return scores


def _faded(score: float) -> float:
    """The score if it is well above 0; below, a value that approaches 0 without reaching it (a softplus)."""
    return _FADE * (max(0.0, score / _FADE) + math.log1p(math.exp(-abs(score / _FADE))))


@lru_cache(maxsize=1024)
def _manner_before(turn: str) -> float:
    """The manner of an earlier turn alone; each turn of a talk is looked up again for the turns that follow it."""
    return manner(turn, acts(turn))


@lru_cache(maxsize=1024)
def _scolds(turn: str) -> bool:
    found = acts(turn)
    return bool(found["scorn"] or found["coerce"])


def _shares(found: Mapping[str, float], heard: str) -> dict[str, float]:
    """The acts of a turn in [0, 1], and what several of them amount to together."""
    done = {act: min(1.0, count) for act, count in found.items()}
    asked = found["open"] + found["fact"]
    done["partner"] = min(1.0, found["partner"] / 1.5)
    done["echo"] = min(1.0, found["echo"] / 2)
    done["fact"] = float(found["fact"] == 1)
    done["volley"] = min(1.0, max(0.0, found["fact"] - 1) / 2)
    done["orders"] = min(1.0, found["orders"] / 2)
    done["told"] = min(1.0, found["told"] / 25)
    done["long"] = min(1.0, max(0.0, found["words"] - _LONG) / (_LONGEST - _LONG))
    # A few words that only give the patient's own back ask for more.
    done["bare"] = float(found["echo"] > 0 and found["words"] <= MIRROR and found["fact"] <= 1)
    done["unasked"] = float(asked == 0)
    # Phrases of sympathy that take up nothing are mere politeness.
    if heard and not found["echo"]:
        done["hardship"] /= 2
        done["script"] = min(1.0, done["script"] + (found["hardship"] + found["normal"] >= 2) / 2)
    # Asking about the course of an illness is no invitation to say what it is like.
    done["open"] = min(1.0, max(0.0, found["open"] - found["course"] / 2))
    done["last_open"] = found["last_open"] * (1 - found["last_course"] / 2)
    done["base"] = 1.0
    return done


def _pending_coverage(turn: str, pending: str | None) -> float:
    if pending is None:
        return 0.5
    asked = content_stems(pending)
    shared = len(asked & content_stems(turn)) / len(asked) if asked else 0.0
    return 1.0 if shared >= 0.5 or _ANSWERING.search(turn) else 0.5 if shared >= 0.25 else 0.0


def _intents(turn: str, scores: dict[str, float]) -> dict[str, float]:
    """Probabilities by the level of the features that suggest each intent; the order of _LEADING breaks ties."""
    intent = {feature: name for name, feature in FEATURE_OF.items()}
    found = {intent[key]: scores[key] for key in _LEADING}
    if scores["MR"] >= 0.5:
        found = {"meta_category_probe": 4 * scores["MR"], **found}
    if max(found.values()) < 0.5:
        kind = "rapport" if _GREETING.search(turn) else "closing" if _CLOSING.search(turn) else "other"
        found = {kind: 0.5, **found}
    total = sum(found.values())
    return {name: value / total for name, value in found.items() if value}
