"""The latent policy: how a clinician's turns move concerns from hidden to revealed to addressed (Section 2.3).

    state = start(len(concerns), primary, task)
    state, update = step(BEDSIDE, state, evaluation, concerns, utterance)

Pure and deterministic. Equation numbers are the paper's; what it leaves open is named by its MC-G number and set in
`PolicyConfig`, whose digest belongs in the record of every run. Turn t is the t-th clinician turn, counted from 1; a
turn is evaluated first, then moves the state, then the patient answers from the new state (MC-G5).

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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from baselines.medconceal.record import ADDRESSED, FEATURES, HIDDEN, REVEALED, ConcernTrace, TurnEvaluation, is_share
from baselines.medconceal.typed import marked
from baselines.medconceal.words import SENTENCE_END, content_roots, content_stems
from loaders.files.records import GROWN, from_json, to_json
from loaders.files.texts import read_text
from loaders.manifest import canonical_json
from loaders.medconceal import CATEGORIES, Literacy, Openness, Task
from loaders.spans import spans, words

META_PROBE = "meta_category_probe"
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


# Set by hand, on no data (MC-G11). With these weights an empathic open question has p_reveal .91, a plain open one .51,
# a closed one .08, advice .05; addressing by concern-specific mitigation has .92, by a repeated plan .25, by empathy
# .24.
_REVEAL = Logistic((-3.4, 0.6, 1.2, 0.7, 2.6, 1.5, -0.2, 0.2, -0.3, 0.4, -2.5, 1.8))
_ADDRESS = Logistic((-3.8, 0.0, 1.1, 0.9, 0.2, 0.3, 1.5, 2.8, 1.1, 0.8, -1.5, 0.0))


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
    reveal: Logistic = _REVEAL
    address: Logistic = _ADDRESS
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
        if not all(map(math.isfinite, (self.depth, *self.openness.values(), *self.literacy.values()))):
            raise ValueError("a shift by openness, literacy or depth is no number", "finite numbers")
        if self.low > self.high:
            raise ValueError(f"low ({self.low}) is above high ({self.high})", "low at most as large as high")

    def shift(self, concern: Concern) -> float:
        """What the person and the depth of a concern add to the intercept of Equation 2."""
        person = self.openness.get(concern.openness, 0.0) + self.literacy.get(concern.literacy, 0.0)
        return person - self.depth * concern.depth

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


def _delta(**weights: float) -> tuple[float, ...]:
    return tuple(weights.get(name, 0.0) for name in INPUTS)


# Set by hand and by simulation (`simulation`), on no dialogue: a turn of quality q has each feature near q, and touches
# a concern now and then. The address model without o is the paper's policy with less weight on a plan as such.
_BEDSIDE_REVEAL = Logistic(
    (-2.25, 0.0, 1.1, 0.6, 1.4, 1.35, -0.3, 0.2, -0.3, 0.2, -2.5, 3.2),
    {
        "Misinformation or Misconceptions": _delta(bias=0.1, PA=0.3, ER=-0.2, NS=-0.2),
        "Emotional Discomfort or Fear": _delta(bias=-0.2, ER=0.5, SP=0.2, DG=-0.3),
        "Communication Barriers": _delta(bias=-0.1, SP=0.3, PA=0.2, DG=-0.2, NS=-0.2),
        "Financial or Insurance-Related Concern": _delta(bias=0.1, DG=0.1, CM=0.2, ER=-0.2),
    },
)
_BEDSIDE_ADDRESS = Logistic((-3.6, 0.0, 1.1, 0.9, 0.2, 0.4, 0.7, 2.2, 0.9, 0.6, -1.5, 1.6))

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
    reveal=_BEDSIDE_REVEAL,
    address=_BEDSIDE_ADDRESS,
    training={"source": "set by hand and by simulation", "stand_in": True},
)
"""Ours, the default: a patient who differs by person, and to whom one has to listen."""

DEFAULT = BEDSIDE
SHIPPED: Mapping[str, PolicyConfig] = {"bedside": BEDSIDE, "paper": PAPER}

# What clinicians say to every patient: it touches no particular concern.
_EVERYWHERE = content_roots(
    """
    afraid answer ashamed ask believe better bothering concern describe doctor explain fear feel feeling fine find hard
    help hear honest important know listen look mean need number patient question say scared talk tell terrified thing
    think time today treatment trust try understand want way word worry worried afraid dare never told week day good
    bad right first last year long
    """
)


@dataclass(frozen=True, slots=True)
class Concern:
    """What the policy needs to know about a hidden concern and the person who has it.

    `stems` are the content words of its text. `terms` are its topics, each as the roots that have to be said, and `own`
    the roots of its words, except those that are not specific to this concern, if others are left. None of
    it may be printed.
    """

    category: str
    stems: frozenset[str] = field(repr=False)
    terms: tuple[frozenset[str], ...] = field(default=(), repr=False)
    own: frozenset[str] = field(default=frozenset(), repr=False)
    openness: Openness = "guarded"
    literacy: Literacy = "ordinary"
    depth: int = 0

    @classmethod
    def of(
        cls,
        content: str,
        category: str,
        *,
        topics: Sequence[str] = (),
        evidence: Sequence[str] = (),
        known: frozenset[str] = frozenset(),
        openness: Openness = "guarded",
        literacy: Literacy = "ordinary",
        depth: int = 0,
    ) -> Concern:
        """The concern with this text; `known` are roots that everybody may say, since they are on the chart."""
        common = known | _EVERYWHERE
        terms = [content_roots(term) for term in topics]
        telling = tuple(dict.fromkeys(term for term in terms if term and not term <= common))
        own = frozenset().union(*map(content_roots, (content, *evidence)))
        # A concern that consists of everyday words, and has no topics, can be touched by these alone.
        own = own - common - frozenset().union(*telling) or (frozenset() if telling else own)
        return cls(category, content_stems(content), telling, own, openness, literacy, depth)


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
    """All concerns after `turn` turns; only those in `tracked` can move, and only `target` can be addressed.

    `said` are the roots of what the clinician has said, and `turns` the clinician's own words in each turn; `touched`
    is how much of the target the last turn touched.
    """

    turn: int
    concerns: tuple[ConcernState, ...]
    tracked: tuple[int, ...]
    target: int | None
    said: frozenset[str] = field(default=frozenset(), repr=False)
    turns: frozenset[tuple[str, ...]] = field(default=frozenset(), repr=False)
    touched: float = 0.0


@dataclass(frozen=True, slots=True)
class Update:
    """What one turn did; `unsaid` are concerns that were due but that the reply did not say."""

    blocked: bool
    revealed: tuple[int, ...]
    addressed: tuple[int, ...]
    traces: tuple[ConcernTrace, ...]
    unsaid: tuple[int, ...] = ()


def start(concerns: int, primary: int, task: Task) -> PatientState:
    """Everything hidden. Confirmation tracks every concern, intervention the primary one only (MC-G48)."""
    intervention = task == "intervention"
    tracked = (primary,) if intervention else tuple(range(concerns))
    return PatientState(0, (ConcernState(),) * concerns, tracked, primary if intervention else None)


def overlap(utterance: frozenset[str], concern: frozenset[str]) -> float:
    """Share of the concern's content stems that the utterance holds; 0 for a concern without any (MC-G14)."""
    return len(concern & utterance) / len(concern) if concern else 0.0


ENOUGH = 2  # topic terms of a concern in one turn that touch it fully; one of its own words is half a term


def touched(said: frozenset[str], concern: Concern) -> float:
    """How much a turn with these roots touches the concern, in [0, 1]: by topic terms and the concern's own words."""
    terms = sum(term <= said for term in concern.terms)
    return min(1.0, (terms + len(concern.own & said) / 2) / ENOUGH)


def newness(config: PolicyConfig, earlier: Sequence[str], utterance: str, heard: str = "") -> float:
    """How much a turn counts after the clinician's `earlier` ones, in [0, 1]: 1 unless it repeats them."""
    said, turns = map(content_roots, earlier), (tuple(words(text)) for text in earlier)
    return _newness(config, frozenset().union(*said), frozenset(turns), own_words(utterance, heard))


def _newness(
    config: PolicyConfig, before: frozenset[str], turns: frozenset[tuple[str, ...]], own: tuple[str, ...]
) -> float:
    """By the share of the turn's own content words that were not said before; without any, whether the turn is new."""
    if not config.novelty:
        return 1.0
    said = content_roots(" ".join(own))
    share = len(said - before) / len(said) if said else float(not own or own not in turns)
    return min(1.0, share / config.novelty)


def own_words(utterance: str, heard: str) -> tuple[str, ...]:
    """The words of a turn without those that it copies from `heard`, the patient's last words, in runs of three and
    more; all of them if nothing else is left.

    A question that is put behind whatever the patient said last is the same question.

    >>> own_words("You said the rent is due. What is that like?", "Well, the rent is due.")
    ('you', 'said', 'what', 'is', 'that', 'like')
    """
    said, runs = words(utterance), spans(heard, COPIED)
    starts = [at for at in range(len(said)) if tuple(said[at : at + COPIED]) in runs]
    copied = {at + further for at in starts for further in range(COPIED)}
    return tuple(word for place, word in enumerate(said) if place not in copied) or tuple(said)


COPIED = 3  # words in a row


def asks_again(utterance: str, turns: Iterable[tuple[str, ...]], heard: str) -> bool:
    """Whether all that a turn asks was asked before in the clinician's own `turns`, behind other words that take up
    nothing of `heard`: a remark on the weather makes no new question.

    >>> asks_again("Kindly, what worries you? It rains.", [("so", "what", "worries", "you")], "I would rather not.")
    True
    >>> asks_again("The rent. What worries you?", [("so", "what", "worries", "you")], "I have to pay the rent.")
    False
    """
    sentences = SENTENCE_END.split(marked(utterance))
    asked = [sentence for sentence in sentences if "?" in sentence] or sentences[-1:]
    earlier = [f" {' '.join(turn)} " for turn in turns]

    def before(said: Sequence[str]) -> bool:
        # Nearly all of it, to its end: "what worries you about work?" asks for something else than "about money?".
        most = min(len(said) // 2, len(said) - COPIED)
        own = [turn for turn in earlier if f" {' '.join(said[max(0, most) :])} " in turn]
        tails = (" ".join(said[at:]) for at in range(most + 1) if own)
        same = next((tail for tail in tails if any(f" {tail} " in turn for turn in own)), "")
        return bool(content_roots(same))

    rest = " ".join(sentence for sentence in sentences if sentence not in asked)
    return all(before(words(sentence)) for sentence in asked) and not content_roots(rest) & content_roots(heard)


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
    rated: Sequence[float] | None = None,
    heard: str = "",
) -> tuple[PatientState, Update]:
    """The state after one more clinician turn, and what the turn did.

    `rated` is the o of each concern if a model rated it; otherwise o is measured by words. `heard` are the patient's
    last words.
    """
    turn = state.turn + 1
    said = content_roots(utterance)
    if rated:
        near = rated
    elif config.overlap == "lexical":
        stems = content_stems(utterance)
        near = [overlap(stems, concern.stems) for concern in concerns]
    else:
        near = [touched(said, concern) for concern in concerns]
    own = own_words(utterance, heard)
    weight = _newness(config, state.said, state.turns, own)
    blocked = blocks(config, evaluation)
    after = list(state.concerns)
    traces: list[ConcernTrace | None] = [None] * len(after)

    # Equations 5-7, for a concern that was out when the turn began (MC-G6).
    addressed: tuple[int, ...] = ()
    target = state.target
    touches = 0.0 if target is None else max(near[target], config.carry * state.touched)
    if target is not None and after[target].state == REVEALED:
        o = touches if config.touch else 0.0
        p = config.address.probability(evaluation.features.vector, o, concerns[target].category)
        after[target] = _addressing(config, after[target], p, turn, touches, weight)
        addressed = (target,) if after[target].state == ADDRESSED else ()
        traces[target] = _trace(after[target], overlap=o if config.touch else None, p_address=p)

    # Equations 2-4. A blocked turn leaves evidence and counters unchanged (MC-G7).
    revealed: tuple[int, ...] = ()
    if not blocked:
        anew = 0.0 if config.novelty and asks_again(utterance, state.turns, heard) else weight
        revealed = _revealing(config, state, evaluation, concerns, near, anew, after, traces)
    whole = tuple(trace or _trace(concern) for trace, concern in zip(traces, after, strict=True))
    moved = replace(
        state,
        turn=turn,
        concerns=tuple(after),
        said=state.said | said,
        turns=state.turns | {own},
        touched=0.0 if target is None else near[target],
    )
    return moved, Update(blocked, revealed, addressed, whole)


def take_back(state: PatientState, update: Update, unsaid: Sequence[int]) -> tuple[PatientState, Update]:
    """The state and the update with those concerns hidden again that no reply said; their evidence stays.

    A concern counts as revealed in the turn in which it was said (MC-G5), so it is due again in the next one.
    """
    concerns, traces = list(state.concerns), list(update.traces)
    for index in unsaid:
        concerns[index] = replace(concerns[index], state=HIDDEN, revealed_at=None)
        traces[index] = replace(traces[index], state=HIDDEN)
    revealed = tuple(index for index in update.revealed if index not in unsaid)
    told = replace(update, revealed=revealed, traces=tuple(traces), unsaid=tuple(unsaid))
    return replace(state, concerns=tuple(concerns)), told


def nearness(config: PolicyConfig, concern: ConcernState, task: Task) -> float:
    """How near a concern is to what the task asks for, in [0, 1]: 1 if and only if that is reached.

        confirmation    out = E / T_hi; 1 once it is out
        intervention    (out + A / T_A + hits / K) / 3; 1 once it is addressed

    Each quotient counts 1 at most, `out` less than 1 while the concern is hidden. A run's Nearness is the mean over
    turns, so of two clinicians who reveal nothing it says who came closer. It moves nothing and no player sees it: an
    outcome beside Reveal Rate and Success, and ours, not the paper's.
    """
    out = 1.0 if concern.state != HIDDEN else min(_SHORT, _share_of(concern.evidence, config.high))
    if task == "confirmation" or concern.state == ADDRESSED:
        return out
    return (out + _share_of(concern.address_evidence, config.address_high) + concern.address_hits / config.hits) / 3


_SHORT = 0.99  # for a concern that is due but was not said


def _share_of(evidence: float, threshold: float) -> float:
    return min(1.0, evidence / threshold) if threshold else 1.0


def _revealing(
    config: PolicyConfig,
    state: PatientState,
    evaluation: TurnEvaluation,
    concerns: Sequence[Concern],
    near: Sequence[float],
    weight: float,
    after: list[ConcernState],
    traces: list[ConcernTrace | None],
) -> tuple[int, ...]:
    """Equations 2-4: moves the hidden concerns in `after` and `traces`, and returns those that come out."""
    out = sum(concern.state != HIDDEN for concern in state.concerns)
    tightened = min(config.tightening * out, config.most_tightening)
    # A turn that says nothing new leaves evidence as it is; at full weight this is Equation 3.
    kept = config.alpha if weight == 1 else 1 - (1 - config.alpha) * weight
    due = []
    for index in state.tracked:
        before = state.concerns[index]
        if before.state != HIDDEN:
            continue
        concern = concerns[index]
        shift = config.shift(concern)
        p = config.reveal.probability(evaluation.features.vector, near[index], concern.category, shift=shift)
        evidence = kept * before.evidence + (1 - kept) * p
        low_hits = before.low_hits + 1 if evidence >= config.low + tightened - config.tolerance else 0
        low_hits = low_hits if weight >= 0.5 else before.low_hits
        after[index] = replace(before, evidence=evidence, low_hits=low_hits)
        # Equation 4.
        if evidence >= config.high + tightened - config.tolerance or low_hits >= config.low_turns:
            due.append(index)
        traces[index] = _trace(after[index], p_reveal=p, overlap=near[index])
    due.sort(key=lambda index: (-after[index].evidence, index))
    revealed = tuple(sorted(due[: config.most_reveals]))
    for index in revealed:
        after[index] = replace(after[index], state=REVEALED, revealed_at=state.turn + 1)
        trace = traces[index]
        traces[index] = None if trace is None else replace(trace, state=REVEALED)
    return revealed


def _addressing(
    config: PolicyConfig, before: ConcernState, p: float, turn: int, touches: float, weight: float
) -> ConcernState:
    """Equations 5-7. A repeated turn moves nothing; a hit has to touch the concern."""
    if weight == 0:
        return before
    kept = config.beta if weight == 1 else 1 - (1 - config.beta) * weight
    evidence = kept * before.address_evidence + (1 - kept) * p
    hit = p >= config.quality - config.tolerance and evidence >= config.address_high - config.tolerance
    hit = hit and touches >= config.touch - config.tolerance and weight >= 0.5
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
