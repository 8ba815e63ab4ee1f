"""The latent policy: how a clinician's turns move concerns from hidden to revealed to addressed (Section 2.3).

    state = start(len(concerns), primary, task)
    state, update = step(DEFAULT, state, evaluation, concerns, utterance)

Pure and deterministic. Equation numbers are the paper's; what it leaves open is named by its MC-G number and stands in
`PolicyConfig`, whose digest belongs into the record of every run. Turn t is the t-th clinician turn, counted from 1; a
turn is evaluated first, then moves the state, then the patient answers from the new state (MC-G5).

A known weakness of the model: all concerns share the features of a turn, only the overlap and the category tell them
apart, so a fixed script of empathic open questions reveals nearly everything. Reveal rates are therefore to be read
beside those of the scripted clinicians and beside matched findings.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from baselines.medconceal.record import ADDRESSED, FEATURES, HIDDEN, REVEALED, ConcernTrace, TurnEvaluation
from baselines.medconceal.words import content_stems
from loaders.files.records import from_json, to_json
from loaders.files.untrusted import read_file
from loaders.manifest import canonical_json
from loaders.medconceal import CATEGORIES, Task

META_PROBE = "meta_category_probe"
INPUTS = ("bias", *FEATURES, "overlap")
"""What a logistic model weighs, in order: the paper's inputs and an intercept, which Equation 2 lacks (MC-G13)."""


def _by_name(weights: Sequence[float]) -> dict[str, float]:
    return dict(zip(INPUTS, weights, strict=True))


def _in_order(read: object) -> object:
    if not isinstance(read, dict):
        return read
    if unknown := set(read) - set(INPUTS):
        raise ValueError(f"unknown inputs: {', '.join(sorted(unknown))}")
    if missing := [name for name in INPUTS if name not in read]:
        raise ValueError(f"no weight for {missing[0]!r}")
    return tuple(read[name] for name in INPUTS)


Weights = Annotated[tuple[float, ...], BeforeValidator(_in_order), PlainSerializer(_by_name)]
"""A weight for each of INPUTS; in a file they stand by name."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """p = sigmoid((w + delta[category]) . [1; z; o]) (Equation 2). A category without a delta has a delta of zeros."""

    weights: Weights
    deltas: Mapping[str, Weights] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "deltas", dict(sorted(self.deltas.items())))
        for name, vector in (("weights", self.weights), *self.deltas.items()):
            if len(vector) != len(INPUTS) or not all(math.isfinite(weight) for weight in vector):
                raise ValueError(f"{name}: {len(vector)} weights, or one that is no number; expected {len(INPUTS)}")
        if unknown := set(self.deltas) - set(CATEGORIES):
            raise ValueError(f"deltas of unknown categories: {', '.join(sorted(unknown))}")

    def probability(self, features: Sequence[float], overlap: float, category: str) -> float:
        """The probability for ten features in the order of FEATURES, an overlap in [0, 1] and a concern's category."""
        inputs = (1.0, *features, overlap)
        delta = self.deltas.get(category)
        weights = self.weights if delta is None else [w + d for w, d in zip(self.weights, delta, strict=True)]
        score = math.fsum(weight * value for weight, value in zip(weights, inputs, strict=True))
        # The form that cannot overflow.
        return 1 / (1 + math.exp(-score)) if score >= 0 else math.exp(score) / (1 + math.exp(score))


# Set by hand, on no data (MC-G11). At these weights an empathic open question has p_reveal .91, a plain open one .51, a
# closed one .08, advice .05; addressing by concern-specific mitigation has .92, by a repeated plan .25, by empathy .24.
_REVEAL = Logistic((-3.4, 0.6, 1.2, 0.7, 2.6, 1.5, -0.2, 0.2, -0.3, 0.4, -2.5, 1.8))
_ADDRESS = Logistic((-3.8, 0.0, 1.1, 0.9, 0.2, 0.3, 1.5, 2.8, 1.1, 0.8, -1.5, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """Every constant of the policy. The defaults have the floors of the paper's numbers: reveal 2, lag 3, address 5.

    `alpha`, `high`, `low`, `low_turns` are alpha, T_hi, T_lo and N of Equations 3 and 4 (MC-G1, G2); `beta`, `quality`,
    `address_high` are beta, eta and T_A of Equations 5 and 6 (MC-G3); `lag`, `hits` are L and K of Equation 7, counted
    from the turn that revealed (MC-G4). `most_reveals` a turn (MC-G9). `probe_risk` is the MR from which a turn is a
    probe (MC-G8). `tightening` is added to both reveal thresholds for each concern that is out, `most_tightening` at
    most (MC-G10; off). `tolerance` widens every comparison, so that .45 twice halved is still .45. `training` says
    where the weights come from.
    """

    alpha: float = 0.5
    high: float = 0.70
    low: float = 0.45
    low_turns: int = 2
    beta: float = 0.5
    quality: float = 0.5
    address_high: float = 0.5
    lag: int = 2
    hits: int = 2
    most_reveals: int = 2
    probe_risk: float = 0.5
    tightening: float = 0.0
    most_tightening: float = 0.12
    tolerance: float = 1e-9
    reveal: Logistic = _REVEAL
    address: Logistic = _ADDRESS
    training: Mapping[str, Any] = field(default_factory=lambda: {"source": "set by hand (MC-G11)", "stand_in": True})

    def __post_init__(self) -> None:
        shares = ("alpha", "high", "low", "beta", "quality", "address_high", "probe_risk", "tightening")
        for name in (*shares, "most_tightening", "tolerance"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, float | int) or not 0 <= value <= 1:
                raise ValueError(f"{name} is {value!r}, not a number in [0, 1]")
        for name, least in (("low_turns", 1), ("lag", 0), ("hits", 1), ("most_reveals", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}, not a whole number from {least} on")
        if self.low > self.high:
            raise ValueError(f"low ({self.low}) is above high ({self.high})")

    @property
    def digest(self) -> str:
        """SHA-256 of every constant, weight and the description of the training."""
        return hashlib.sha256(canonical_json(to_json(self))).hexdigest()

    @classmethod
    def read(cls, path: Path) -> PolicyConfig:
        """The constants in a JSON file; those that are absent have their defaults.

        Raises: InputError when it cannot be read, for an unknown name and for a value that cannot be.
        """
        text = read_file(path, expected="a policy as JSON")
        return from_json(cls, text, path, do="See `PolicyConfig` for what each constant may be")


DEFAULT = PolicyConfig()


@dataclass(frozen=True, slots=True)
class Concern:
    """What the policy needs of a hidden concern: its category and the content words of its text."""

    category: str
    stems: frozenset[str] = field(repr=False)

    @classmethod
    def of(cls, content: str, category: str) -> Concern:
        """The concern with this text."""
        return cls(category, content_stems(content))


@dataclass(frozen=True, slots=True)
class ConcernState:
    """One concern: s, E and A of the paper, the runs of hits so far, and the turns on which s moved."""

    state: int = HIDDEN
    evidence: float = 0.0
    low_hits: int = 0
    address_evidence: float = 0.0
    address_hits: int = 0
    revealed_at: int | None = None
    addressed_at: int | None = None


@dataclass(frozen=True, slots=True)
class PatientState:
    """All concerns after `turn` turns; only those in `tracked` can move, and only `target` can be addressed."""

    turn: int
    concerns: tuple[ConcernState, ...]
    tracked: tuple[int, ...]
    target: int | None


@dataclass(frozen=True, slots=True)
class Update:
    """What one turn did."""

    blocked: bool
    revealed: tuple[int, ...]
    addressed: tuple[int, ...]
    traces: tuple[ConcernTrace, ...]


def start(concerns: int, primary: int, task: Task) -> PatientState:
    """Everything hidden. Confirmation tracks every concern, intervention the primary one only (MC-G48)."""
    if not 0 <= primary < concerns:
        raise ValueError(f"primary concern {primary} of {concerns}")
    intervention = task == "intervention"
    tracked = (primary,) if intervention else tuple(range(concerns))
    return PatientState(0, (ConcernState(),) * concerns, tracked, primary if intervention else None)


def overlap(utterance: frozenset[str], concern: frozenset[str]) -> float:
    """Share of the concern's content stems that the utterance holds; 0 for a concern without any (MC-G14)."""
    return len(concern & utterance) / len(concern) if concern else 0.0


def blocks(config: PolicyConfig, evaluation: TurnEvaluation) -> bool:
    """Whether the turn is a probe in the benchmark's labels, which earns no disclosure (MC-G8)."""
    risk = config.probe_risk - config.tolerance <= evaluation.features.MR
    return evaluation.intent == META_PROBE or risk or evaluation.label_probe


def step(
    config: PolicyConfig,
    state: PatientState,
    evaluation: TurnEvaluation,
    concerns: Sequence[Concern],
    utterance: str,
) -> tuple[PatientState, Update]:
    """The state after one more clinician turn, and what the turn did."""
    turn = state.turn + 1
    stems = content_stems(utterance)
    features = evaluation.features.vector
    blocked = blocks(config, evaluation)
    after = list(state.concerns)
    traces: list[ConcernTrace | None] = [None] * len(after)

    # Equations 5-7, for a concern that was out when the turn began (MC-G6).
    addressed: tuple[int, ...] = ()
    target = state.target
    if target is not None and after[target].state == REVEALED:
        p = config.address.probability(features, 0.0, concerns[target].category)
        after[target] = _addressing(config, after[target], p, turn)
        addressed = (target,) if after[target].state == ADDRESSED else ()
        traces[target] = _trace(after[target], p_address=p)

    # Equations 2 and 3. A blocked turn leaves evidence and counters as they are (MC-G7).
    revealed: tuple[int, ...] = ()
    if not blocked:
        out = sum(concern.state != HIDDEN for concern in state.concerns)
        tightened = min(config.tightening * out, config.most_tightening)
        due = []
        for index in state.tracked:
            before = state.concerns[index]
            if before.state != HIDDEN:
                continue
            shared = overlap(stems, concerns[index].stems)
            p = config.reveal.probability(features, shared, concerns[index].category)
            evidence = config.alpha * before.evidence + (1 - config.alpha) * p
            low_hits = before.low_hits + 1 if evidence >= config.low + tightened - config.tolerance else 0
            after[index] = replace(before, evidence=evidence, low_hits=low_hits)
            # Equation 4.
            if evidence >= config.high + tightened - config.tolerance or low_hits >= config.low_turns:
                due.append(index)
            traces[index] = _trace(after[index], p_reveal=p, overlap=shared)
        due.sort(key=lambda index: (-after[index].evidence, index))
        revealed = tuple(sorted(due[: config.most_reveals]))
        for index in revealed:
            after[index] = replace(after[index], state=REVEALED, revealed_at=turn)
            trace = traces[index]
            traces[index] = None if trace is None else replace(trace, state=REVEALED)

    whole = tuple(trace or _trace(concern) for trace, concern in zip(traces, after, strict=True))
    return replace(state, turn=turn, concerns=tuple(after)), Update(blocked, revealed, addressed, whole)


def _addressing(config: PolicyConfig, before: ConcernState, p: float, turn: int) -> ConcernState:
    evidence = config.beta * before.address_evidence + (1 - config.beta) * p
    hit = p >= config.quality - config.tolerance and evidence >= config.address_high - config.tolerance
    eligible = before.revealed_at is not None and turn - before.revealed_at >= config.lag
    hits = before.address_hits + 1 if hit and eligible else 0
    moved = replace(before, address_evidence=evidence, address_hits=hits)
    return replace(moved, state=ADDRESSED, addressed_at=turn) if hits >= config.hits else moved


def _trace(
    concern: ConcernState,
    *,
    p_reveal: float | None = None,
    overlap: float | None = None,
    p_address: float | None = None,
) -> ConcernTrace:
    return ConcernTrace(concern.state, concern.evidence, concern.address_evidence, p_reveal, overlap, p_address)
