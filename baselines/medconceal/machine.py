"""The state machine of the latent policy: how a clinician's turns move concerns from hidden to revealed to addressed
(Section 2.3).

    state = start(len(concerns), primary, task)
    state, update = step(BEDSIDE, state, evaluation, concerns, utterance)

Pure and deterministic. Turn t is the t-th clinician turn, counted from 1; a turn is evaluated first, then moves the
state, then the patient answers from the new state (MC-G5). Every constant is in `policy.PolicyConfig`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from baselines.medconceal.policy import PolicyConfig
from baselines.medconceal.record import ADDRESSED, HIDDEN, REVEALED, ConcernTrace, TurnEvaluation
from baselines.medconceal.typed import marked
from baselines.medconceal.words import LISTS, SENTENCE_END, content_roots, content_stems
from loaders.medconceal import Literacy, Openness, Task
from loaders.spans import spans, words

META_PROBE = "meta_category_probe"

# What clinicians say to every patient: it touches no particular concern.
_EVERYWHERE = content_roots(" ".join(LISTS["everywhere"]))


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

    def shift(self, config: PolicyConfig) -> float:
        """What the person and the depth of the concern add to the intercept of Equation 2."""
        person = config.openness.get(self.openness, 0.0) + config.literacy.get(self.literacy, 0.0)
        return person - config.depth * self.depth

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
    measured: dict[int, dict[str, float | None]] = {}

    # Equations 5-7, for a concern that was out when the turn began (MC-G6).
    target = state.target
    touches = 0.0 if target is None else max(near[target], config.carry * state.touched)
    if target is not None and after[target].state == REVEALED:
        o = touches if config.touch else None
        p = config.address.probability(evaluation.features.vector, o or 0.0, concerns[target].category)
        after[target] = _addressing(config, after[target], p, turn, touches, weight)
        measured[target] = {"overlap": o, "p_address": p}

    # Equations 2-4. A blocked turn leaves evidence and counters unchanged (MC-G7).
    if not blocked:
        anew = 0.0 if config.novelty and asks_again(utterance, state.turns, heard) else weight
        for index, (concern, p) in _revealing(config, state, evaluation, concerns, near, anew).items():
            after[index] = concern
            measured[index] = {"overlap": near[index], "p_reveal": p}
    moved = replace(
        state,
        turn=turn,
        concerns=tuple(after),
        said=state.said | said,
        turns=state.turns | {own},
        touched=0.0 if target is None else near[target],
    )
    return moved, Update(
        blocked,
        revealed=tuple(at for at, concern in enumerate(after) if concern.revealed_at == turn),
        addressed=tuple(at for at, concern in enumerate(after) if concern.addressed_at == turn),
        traces=tuple(
            ConcernTrace(concern.state, concern.evidence, concern.address_evidence, **measured.get(at, {}))
            for at, concern in enumerate(after)
        ),
    )


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
) -> dict[int, tuple[ConcernState, float]]:
    """Equations 2-4: the hidden concerns after the turn, each with its p_rev; some may have come out."""
    out = sum(concern.state != HIDDEN for concern in state.concerns)
    tightened = min(config.tightening * out, config.most_tightening)
    # A turn that says nothing new leaves evidence as it is; at full weight this is Equation 3.
    kept = config.alpha if weight == 1 else 1 - (1 - config.alpha) * weight
    moved: dict[int, tuple[ConcernState, float]] = {}
    due = []
    for index in state.tracked:
        before, concern = state.concerns[index], concerns[index]
        if before.state != HIDDEN:
            continue
        shift = concern.shift(config)
        p = config.reveal.probability(evaluation.features.vector, near[index], concern.category, shift=shift)
        evidence = kept * before.evidence + (1 - kept) * p
        low_hits = before.low_hits + 1 if evidence >= config.low + tightened - config.tolerance else 0
        low_hits = low_hits if weight >= 0.5 else before.low_hits
        moved[index] = replace(before, evidence=evidence, low_hits=low_hits), p
        # Equation 4.
        if evidence >= config.high + tightened - config.tolerance or low_hits >= config.low_turns:
            due.append(index)
    due.sort(key=lambda index: (-moved[index][0].evidence, index))
    for index in due[: config.most_reveals]:
        after, p = moved[index]
        moved[index] = replace(after, state=REVEALED, revealed_at=state.turn + 1), p
    return moved


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
