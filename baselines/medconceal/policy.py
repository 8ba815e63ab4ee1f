"""The constants of the latent policy (Section 2.3), by which `machine` moves a patient's concerns.

Equation numbers are the paper's; what it leaves open is named by its MC-G number and set in `PolicyConfig`, whose
digest belongs in the record of every run.

Two policies are shipped. `PAPER` is Equations 2 to 8 to the letter. There all concerns share the features of a turn,
and only a lexical overlap, nearly always 0, tells them apart: a fixed script of empathic questions reveals nearly
everything, one paragraph said eight times reveals all, and a plan that never refers to the patient succeeds. `BEDSIDE`,
the default, is ours and departs from them in five places:

    overlap     o is what the turn touches of the concern's words and topic terms (`touched`)
    person      the intercept of Equation 2 moves with the person's openness and literacy
    depth       and with the depth of the concern; the categories differ, and each reveal makes the next harder
    novelty     a turn that repeats earlier turns of its own, whatever words of the patient stand in it, earns no
                evidence, for revealing or addressing, nor does an old question behind new words, for revealing
    addressing  v takes o of the primary concern, and a hit of Equation 6 has to touch it
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from baselines.medconceal.record import FEATURES, is_share
from loaders.files.bundled import bundled
from loaders.files.records import GROWN, from_json, to_json
from loaders.files.texts import read_text
from loaders.manifest import canonical_json
from loaders.medconceal import CATEGORIES, Literacy, Openness

INPUTS = ("bias", *FEATURES, "overlap")
"""The inputs of a logistic model, in order: the paper's, and an intercept, which Equation 2 lacks (MC-G13)."""


def _by_name(weights: Sequence[float]) -> dict[str, float]:
    return dict(zip(INPUTS, weights, strict=True))


def _in_order(read: object) -> object:
    if not isinstance(read, dict):
        return read
    if unknown := set(read) - set(INPUTS):
        raise ValueError(f"unknown inputs: {', '.join(sorted(unknown))}", f"{', '.join(INPUTS)}")
    if missing := [name for name in INPUTS if name not in read]:
        raise ValueError(f"no weight for {missing[0]!r}", "one for each input")
    return tuple(read[name] for name in INPUTS)


Weights = Annotated[tuple[float, ...], BeforeValidator(_in_order), PlainSerializer(_by_name)]
"""A weight for each of INPUTS; in a file they are listed by name."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """p = sigmoid((w + delta[category]) . [1; z; o]) (Equation 2). A category without a delta has a delta of zeros."""

    weights: Weights
    deltas: Mapping[str, Weights] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "deltas", dict(sorted(self.deltas.items())))
        for name, vector in (("weights", self.weights), *self.deltas.items()):
            if len(vector) != len(INPUTS) or not all(math.isfinite(weight) for weight in vector):
                raise ValueError(f"{name}: {len(vector)} weights, or one that is no number", f"{len(INPUTS)} numbers")
        if unknown := set(self.deltas) - set(CATEGORIES):
            raise ValueError(f"deltas of unknown categories: {', '.join(sorted(unknown))}", f"{', '.join(CATEGORIES)}")

    def probability(self, features: Sequence[float], overlap: float, category: str, *, shift: float = 0.0) -> float:
        """The probability for ten features in the order of FEATURES, an overlap in [0, 1] and a concern's category.

        `shift` is added to the intercept.
        """
        inputs = (1.0, *features, overlap)
        delta = self.deltas.get(category)
        weights = self.weights if delta is None else [w + d for w, d in zip(self.weights, delta, strict=True)]
        score = math.fsum(weight * value for weight, value in zip(weights, inputs, strict=True)) + shift
        # The form that cannot overflow.
        return 1 / (1 + math.exp(-score)) if score >= 0 else math.exp(score) / (1 + math.exp(score))


def _shipped() -> dict[tuple[str, str], Logistic]:
    """(policy, model) -> its weights in `policy_weights.csv`; the line without a category holds those that all share.

    The paper's are set by hand, on no data (MC-G11): an empathic open question has p_reveal .91, a plain open one .51,
    a closed one .08, advice .05; addressing by concern-specific mitigation has .92, by a repeated plan .25, by empathy
    .24. Ours are set by hand and by simulation (`simulation`), on no dialogue: a turn of quality q has each feature
    near q, and touches a concern now and then. The address model without o has less weight on a plan as such.
    """
    vectors: dict[tuple[str, str], dict[str, tuple[float, ...]]] = {}
    for row in bundled("baselines.medconceal", "policy_weights.csv"):
        of_model = vectors.setdefault((row["policy"], row["model"]), {})
        of_model[row["category"]] = tuple(float(row[name]) for name in INPUTS)
    return {key: Logistic(of_model.pop(""), of_model) for key, of_model in vectors.items()}


_WEIGHTS = _shipped()

Overlap = Literal["lexical", "topics", "rated"]
"""How o is measured: shared words, topic terms, or a chat model's rating of topics (`rubric.relevance`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyConfig:
    """Every constant of the policy. The defaults are the paper's policy, also for fields that an older file lacks.

    `alpha`, `high`, `low`, `low_turns` are alpha, T_hi, T_lo and N of Equations 3 and 4 (MC-G1, G2); `beta`, `quality`,
    `address_high` are beta, eta and T_A of Equations 5 and 6 (MC-G3); `lag`, `hits` are L and K of Equation 7, counted
    from the turn that revealed (MC-G4). `most_reveals` a turn (MC-G9). `probe_risk` is the MR from which a turn is a
    probe (MC-G8). `tightening` is added to both reveal thresholds for each concern that is out, `most_tightening` at
    most (MC-G10). `tolerance` widens every comparison, so that .45 twice halved is still .45.

    `overlap` says how o is measured (MC-G14). `novelty` is the share of new content words from which a turn counts in
    full; 0 counts every turn. `touch` is the least o of the primary concern in a hit of Equation 6, and `carry` the
    share of o that is still there one turn later; with a `touch` of 0 addressing does not look at the concern (MC-G15).
    `openness`, `literacy` and `depth` move the intercept of Equation 2: by the person's ordinals, and down by `depth`
    for each step that a concern lies deeper than the first. `training` says where the weights come from.
    """

    name: Annotated[str, Field(exclude_if="paper".__eq__)] = "paper"
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
    overlap: Annotated[Overlap, Field(exclude_if="lexical".__eq__)] = "lexical"
    novelty: Annotated[float, GROWN] = 0.0
    touch: Annotated[float, GROWN] = 0.0
    carry: Annotated[float, GROWN] = 0.0
    openness: Annotated[Mapping[Openness, float], GROWN] = field(default_factory=dict)
    literacy: Annotated[Mapping[Literacy, float], GROWN] = field(default_factory=dict)
    depth: Annotated[float, GROWN] = 0.0
    reveal: Logistic = _WEIGHTS["paper", "reveal"]
    address: Logistic = _WEIGHTS["paper", "address"]
    training: Mapping[str, Any] = field(default_factory=lambda: {"source": "set by hand (MC-G11)", "stand_in": True})

    def __post_init__(self) -> None:
        shares = ("alpha", "high", "low", "beta", "quality", "address_high", "probe_risk", "tightening")
        for name in (*shares, "most_tightening", "tolerance", "novelty", "touch", "carry"):
            if not is_share(value := getattr(self, name)):
                raise ValueError(f"{name} is {value!r}", "a number in [0, 1]")
        for name, least in (("low_turns", 1), ("lag", 0), ("hits", 1), ("most_reveals", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}", f"a whole number from {least} on")
        if self.low > self.high:
            raise ValueError(f"low ({self.low}) is above high ({self.high})", "low at most as large as high")

    @property
    def digest(self) -> str:
        """SHA-256 of every constant, weight and the description of the training."""
        return hashlib.sha256(canonical_json(to_json(self))).hexdigest()

    @classmethod
    def read(cls, path: Path) -> PolicyConfig:
        """The constants in a JSON file; those that are absent have their defaults.

        Raises: InputError when it cannot be read, for an unknown name and for a value that cannot be.
        """
        text = read_text(path, expected="a policy as JSON")
        return from_json(cls, text.encode(), path, do="See `PolicyConfig` for the range of each constant")


PAPER = PolicyConfig()
"""Equations 2 to 8 to the letter, with the paper's floors: reveal 2, lag 3, address 5."""

BEDSIDE = PolicyConfig(
    name="bedside",
    tightening=0.02,
    overlap="topics",
    novelty=0.25,
    touch=0.25,
    carry=0.5,
    openness={"open": 1.3, "guarded": 0.0, "reserved": -1.3},
    literacy={"plain": -0.2, "ordinary": 0.0, "technical": 0.2},
    depth=0.3,
    reveal=_WEIGHTS["bedside", "reveal"],
    address=_WEIGHTS["bedside", "address"],
    training={"source": "set by hand and by simulation", "stand_in": True},
)
"""Ours, the default: a patient who differs by person, and to whom one has to listen."""

DEFAULT = BEDSIDE
SHIPPED: Mapping[str, PolicyConfig] = {"bedside": BEDSIDE, "paper": PAPER}
