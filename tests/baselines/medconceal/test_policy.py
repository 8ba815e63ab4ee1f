"""The latent policy: Equations 2-8 against a second reading of them, and what the paper's numbers show of it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.medconceal.machine import (
    META_PROBE,
    Concern,
    ConcernState,
    asks_again,
    blocks,
    nearness,
    newness,
    overlap,
    start,
    step,
    take_back,
    touched,
)
from baselines.medconceal.policy import BEDSIDE, INPUTS, PAPER, Logistic, PolicyConfig
from baselines.medconceal.record import FEATURES, HIDDEN, REVEALED, Features, TurnEvaluation
from baselines.medconceal.words import content_roots
from loaders.errors import InputError
from loaders.files.records import to_json
from loaders.medconceal import CATEGORIES, Literacy, Openness
from loaders.spans import words

SHARE = st.floats(0, 1, allow_nan=False)
WORDS = ("insulin", "cost", "mother", "letter", "doctor", "work")  # each is its own stem


def evaluation(features: Features, *, intent: str = "other", label_probe: bool = False) -> TurnEvaluation:
    return TurnEvaluation(intent, {intent: 1.0}, features, None, 0.0, label_probe, "rules", 0)


BEST_REVEAL = Features(DG=1, ER=1, PA=1, CE=1, SP=1, PQC=1)
BEST_ADDRESS = Features(ER=1, PA=1, CE=1, SP=1, NS=1, CM=1, PS=1, PQC=1)


@st.composite
def turns(draw: st.DrawFn) -> list[tuple[TurnEvaluation, str]]:
    found = []
    for _ in range(draw(st.integers(1, 12))):
        lean = draw(st.sampled_from(["any", "open", "address"]))
        features = draw(st.builds(Features, **dict.fromkeys(FEATURES, SHARE)))
        if lean == "open":
            features = replace(features, CE=1.0, ER=1.0, SP=1.0, MR=draw(st.sampled_from([0.0, 0.49, 0.5])))
        if lean == "address":
            features = replace(features, CM=1.0, NS=1.0, ER=1.0, MR=0.0)
        intent = draw(st.sampled_from(["other", "other", "other", META_PROBE]))
        # Three at most: a question whose last three words were asked before earns nothing, which `naive` does not know.
        words = draw(st.lists(st.sampled_from(WORDS), max_size=3))
        found.append(
            (evaluation(features, intent=intent, label_probe=draw(st.booleans()) and lean == "any"), " ".join(words))
        )
    return found


@st.composite
def configs(draw: st.DrawFn) -> PolicyConfig:
    weight = st.floats(-4, 4, allow_nan=False)
    vector = st.tuples(*[weight] * len(INPUTS))
    if draw(st.booleans()):
        return replace(PAPER, tightening=draw(st.sampled_from([0.0, 0.03])))
    low = draw(SHARE)
    return replace(
        PAPER,
        alpha=draw(SHARE),
        beta=draw(SHARE),
        low=low,
        high=draw(st.floats(low, 1)),
        low_turns=draw(st.integers(1, 3)),
        quality=draw(SHARE),
        address_high=draw(SHARE),
        lag=draw(st.integers(0, 3)),
        hits=draw(st.integers(1, 3)),
        most_reveals=draw(st.integers(1, 3)),
        tightening=draw(st.sampled_from([0.0, 0.03, 0.1])),
        reveal=Logistic(draw(vector), {CATEGORIES[1]: draw(vector)}),
        address=Logistic(draw(vector), {CATEGORIES[0]: draw(vector)}),
    )


def bedside(config: PolicyConfig) -> PolicyConfig:
    """The departures of the bedside policy with other constants of the equations."""
    own = ("overlap", "novelty", "touch", "carry", "openness", "literacy", "depth")
    return replace(config, **{name: getattr(BEDSIDE, name) for name in own})


@st.composite
def people(draw: st.DrawFn) -> list[Concern]:
    """Concerns of one person, with topics and own words of WORDS."""
    who = {
        "openness": draw(st.sampled_from(get_args(Openness))),
        "literacy": draw(st.sampled_from(get_args(Literacy))),
    }
    some = st.lists(st.sampled_from(WORDS), max_size=3, unique=True)
    return [
        Concern.of(
            " ".join(draw(some)),
            draw(st.sampled_from(CATEGORIES)),
            topics=[*draw(some), *[" ".join(draw(some)) for _ in range(draw(st.integers(0, 2)))]],
            evidence=[" ".join(draw(some))],
            known=frozenset(draw(some)),
            depth=draw(st.integers(0, 3)),
            **who,
        )
        for _ in range(draw(st.integers(1, 4)))
    ]


def naive(config, concerns, played, tracked, target):
    """The equations once more, concern by concern and without any of the module's code; E, A, s after every turn."""
    k = len(concerns)
    s, e, a = [0] * k, [0.0] * k, [0.0] * k
    low_hits, address_hits, tau = [0] * k, [0] * k, [None] * k
    history = []

    def sigmoid(model, z, o, category, shift):
        w = list(model.weights)
        if category in model.deltas:
            w = [x + d for x, d in zip(w, model.deltas[category], strict=True)]
        total = w[0] + sum(x * y for x, y in zip(w[1:11], z, strict=True)) + w[11] * o + shift
        return 1 / (1 + math.exp(-total))

    heard, texts, before = set(), set(), 0.0

    def near(said, words, concern):
        if config.overlap == "lexical":
            return len(words & concern.stems) / len(concern.stems) if concern.stems else 0.0
        hits = sum(1 for term in concern.terms if all(root in said for root in term))
        return min(1, (hits + 0.5 * len([root for root in concern.own if root in said])) / 2)

    for t, (turn, text) in enumerate(played, start=1):
        z = [getattr(turn.features, key) for key in FEATURES]
        meta = turn.intent == "meta_category_probe" or turn.features.MR >= 0.5 - 1e-9 or turn.label_probe
        at_start = list(s)
        said = words = set(text.split())
        w = 1.0
        if config.novelty:
            share = len(said - heard) / len(said) if said else (0.0 if text.split() and text in texts else 1.0)
            w = min(1, share / config.novelty)
        heard, texts = heard | said, texts | {text}
        o = [near(said, words, concern) for concern in concerns]
        reach = 0.0 if target is None else max(o[target], config.carry * before)
        for i in range(k):
            if i == target and at_start[i] == 1 and w > 0:
                p = sigmoid(config.address, z, reach if config.touch else 0.0, concerns[i].category, 0.0)
                a[i] += (1 - config.beta) * w * (p - a[i])
                hit = p >= config.quality - 1e-9 and a[i] >= config.address_high - 1e-9
                hit = hit and reach >= config.touch - 1e-9 and w >= 0.5
                address_hits[i] = address_hits[i] + 1 if hit and t - tau[i] >= config.lag else 0
                if address_hits[i] >= config.hits:
                    s[i] = 2
        if not meta:
            extra = min(config.most_tightening, config.tightening * sum(x > 0 for x in at_start))
            ready = []
            for i in tracked:
                if at_start[i] != 0:
                    continue
                c = concerns[i]
                shift = config.openness.get(c.openness, 0) + config.literacy.get(c.literacy, 0) - config.depth * c.depth
                e[i] += (1 - config.alpha) * w * (sigmoid(config.reveal, z, o[i], c.category, shift) - e[i])
                if w >= 0.5:
                    low_hits[i] = low_hits[i] + 1 if e[i] >= config.low + extra - 1e-9 else 0
                if e[i] >= config.high + extra - 1e-9 or low_hits[i] >= config.low_turns:
                    ready.append(i)
            for i in sorted(ready, key=lambda i: (-e[i], i))[: config.most_reveals]:
                s[i], tau[i] = 1, t
        before = 0.0 if target is None else o[target]
        history.append((list(s), list(e), list(a)))
    return history


@given(
    played=turns(),
    config=st.one_of(configs(), st.just(BEDSIDE), configs().map(bedside)),
    concerns=people(),
    task=st.sampled_from(["confirmation", "intervention"]),
    data=st.data(),
)
@settings(max_examples=100)
def test_the_equations_read_twice(played, config, concerns, task, data) -> None:
    primary = data.draw(st.integers(0, len(concerns) - 1))
    state = start(len(concerns), primary, task)
    expected = naive(config, concerns, played, state.tracked, state.target)
    before = [0] * len(concerns)
    for (turn, text), (s, e, a) in zip(played, expected, strict=True):
        state, update = step(config, state, turn, concerns, text)
        assert [concern.state for concern in state.concerns] == s
        assert [concern.evidence for concern in state.concerns] == pytest.approx(e, abs=1e-12)
        assert [concern.address_evidence for concern in state.concerns] == pytest.approx(a, abs=1e-12)
        assert [trace.state for trace in update.traces] == s
        assert [trace.evidence for trace in update.traces] == pytest.approx(e, abs=1e-12)
        # One step at a time, never back, never past revealed.
        assert all(new - old in (0, 1) for old, new in zip(before, s, strict=True))
        assert len(update.revealed) <= config.most_reveals
        if blocks(config, turn):
            assert update.blocked and not update.revealed
        assert update.revealed == tuple(i for i in range(len(s)) if (before[i], s[i]) == (0, 1))
        assert update.addressed == tuple(i for i in range(len(s)) if (before[i], s[i]) == (1, 2))
        # What is reached, and that alone, is as near as can be.
        for index in state.tracked:
            near = nearness(config, state.concerns[index], task)
            assert 0 <= near <= 1 and (near == 1) == (s[index] >= (1 if task == "confirmation" else 2))
        before = s


def play(features, config: PolicyConfig = PAPER, task: str = "intervention", concerns: int = 1):
    state = start(concerns, 0, task)
    known = [Concern(CATEGORIES[0], frozenset())] * concerns
    for one in features:
        state, _ = step(config, state, evaluation(one), known, "")
    return state.concerns


@given(st.lists(st.builds(Features, **dict.fromkeys(FEATURES, SHARE)), max_size=8))
@settings(max_examples=60)
def test_floors_hold_for_any_turns(features) -> None:
    found = play(features)[0]
    assert found.revealed_at is None or found.revealed_at >= 2
    if found.addressed_at is not None:
        assert found.addressed_at >= 5 and found.addressed_at - found.revealed_at >= 3


@pytest.mark.parametrize(("p", "turn"), [(0.95, 2), (0.85, 3), (0.6, 3), (0.5, 5), (0.44, None)])
def test_constant_probability_reveals_as_specified(p: float, turn: int | None) -> None:
    """MC-G2: .9 and more reveal at turn 2, .6 to .85 at 3, .5 at 5, below .45 never."""
    flat = Logistic((math.log(p / (1 - p)), *[0.0] * 11))
    assert play([Features()] * 30, replace(PAPER, reveal=flat), "confirmation")[0].revealed_at == turn


@pytest.mark.parametrize(("p", "lag"), [(0.9, 3), (2 / 3, 3), (0.6, 4), (0.49, None)])
def test_constant_quality_addresses_as_specified(p: float, lag: int | None) -> None:
    """MC-G3: p_addr of two thirds and more needs the minimum lag of 3, .6 one turn more, below .5 it never does."""
    config = replace(
        PAPER,
        reveal=Logistic((10.0, *[0.0] * 11)),
        address=Logistic((math.log(p / (1 - p)), *[0.0] * 11)),
    )
    found = play([Features()] * 30, config)[0]
    assert found.revealed_at == 2
    assert (None if found.addressed_at is None else found.addressed_at - found.revealed_at) == lag


def test_archetypes_have_the_probabilities_that_the_weights_were_set_for() -> None:
    def reveal(**features: float) -> float:
        return PAPER.reveal.probability(Features(**features).vector, 0.0, CATEGORIES[0])

    def address(**features: float) -> float:
        return PAPER.address.probability(Features(**features).vector, 0.0, CATEGORIES[0])

    assert reveal(ER=1, CE=1, SP=1, DG=0.25, PQC=0.5) > 0.88
    assert 0.4 < reveal(CE=0.75, SP=0.75, DG=0.5, PQC=0.5) < 0.6
    assert reveal(DG=1, PQC=0.5) < 0.1 and reveal(NS=1, PS=1) < 0.05
    assert address(CM=1, ER=0.75, NS=0.75, PA=0.5, PS=0.5, PQC=0.5) > 0.9
    assert address(NS=1, PS=1, PQC=0.5) < 0.35 and address(ER=1, SP=1, CE=1, PA=0.5, PQC=0.5) < 0.35


def test_a_blocked_turn_moves_nothing_but_may_address() -> None:
    concerns = [Concern(CATEGORIES[0], frozenset())]
    state = start(1, 0, "intervention")
    state, _ = step(PAPER, state, evaluation(BEST_REVEAL), concerns, "")
    held = state.concerns[0]
    for probe in (
        evaluation(BEST_REVEAL, intent=META_PROBE),
        evaluation(replace(BEST_REVEAL, MR=0.5)),
        evaluation(BEST_REVEAL, label_probe=True),
    ):
        state, update = step(PAPER, state, probe, concerns, "")
        assert update.blocked and state.concerns[0] == held
    state, _ = step(PAPER, state, evaluation(BEST_REVEAL), concerns, "")
    assert state.concerns[0].revealed_at == 5
    state, update = step(PAPER, state, evaluation(BEST_ADDRESS, label_probe=True), concerns, "")
    assert update.blocked and state.concerns[0].address_evidence > 0.4


def test_two_concerns_a_turn_at_most_and_the_others_next() -> None:
    found = play([BEST_REVEAL] * 4, task="confirmation", concerns=5)
    assert [concern.revealed_at for concern in found] == [2, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("", [2, 3, 4]),  # nothing tells them apart: in their own order
        ("Is it the rent?", [3, 4, 2]),
        ("Is it the needle, or the long drive?", [3, 2, 4]),
    ],
)
def test_of_concerns_that_are_due_the_one_with_most_evidence_comes_out_first(said: str, order: list[int]) -> None:
    texts = ("Fears the needle", "Dreads the long drive", "Cannot pay the rent")
    concerns = [Concern.of(text, CATEGORIES[1]) for text in texts]
    config = replace(PAPER, most_reveals=1)
    state = start(3, 0, "confirmation")
    for _ in range(4):
        state, _ = step(config, state, evaluation(BEST_REVEAL), concerns, said)
    assert [concern.revealed_at for concern in state.concerns] == order


def test_intervention_tracks_the_primary_concern_only() -> None:
    state = start(3, 1, "intervention")
    concerns = [Concern(CATEGORIES[0], frozenset())] * 3
    for _ in range(6):
        state, _ = step(PAPER, state, evaluation(BEST_REVEAL), concerns, "")
    assert [concern.state for concern in state.concerns] == [0, 1, 0]
    assert [concern.evidence for concern in state.concerns][::2] == [0.0, 0.0]


def test_overlap_is_the_share_of_the_concern() -> None:
    concern = Concern.of("Worries about the cost of insulin", CATEGORIES[3])
    assert concern.stems == {"worry", "cost", "insulin"}
    assert overlap(Concern.of("Are you worried about costs?", CATEGORIES[3]).stems, concern.stems) == 2 / 3
    assert overlap(frozenset(), concern.stems) == 0 and overlap(concern.stems, frozenset()) == 0
    assert "insulin" not in repr(concern)


def test_naming_a_concern_helps_it_alone() -> None:
    concerns = [Concern.of("Fears the needle", CATEGORIES[1]), Concern.of("Cannot pay the rent", CATEGORIES[3])]
    state = start(2, 0, "confirmation")
    state, update = step(PAPER, state, evaluation(Features(CE=0.5)), concerns, "Is it the needle that you fear?")
    assert update.traces[0].overlap == 1 and update.traces[1].overlap == 0
    assert state.concerns[0].evidence > state.concerns[1].evidence


def test_an_earlier_policy_file_is_the_papers_and_its_own_weights() -> None:
    old = PolicyConfig.read(Path("tests/written_before/policy.json"))
    assert (old.name, old.overlap, old.novelty, old.touch, old.depth) == ("paper", "lexical", 0.0, 0.0, 0.0)


def said_to(policy: PolicyConfig, texts: list[str], features: Features = BEST_REVEAL) -> list[ConcernState]:
    concerns = [Concern.of("Cannot pay the rent", CATEGORIES[3], topics=["money", "rent", "end of the month"])]
    state, found = start(1, 0, "intervention"), []
    for text in texts:
        state, _ = step(policy, state, evaluation(features), concerns, text)
        found.append(state.concerns[0])
    return found


def test_saying_it_again_earns_nothing() -> None:
    paragraph = "What goes through your head when you lie awake, and who hears you walk about the house?"
    weak = replace(BEST_REVEAL, ER=0.25, CE=0.5)
    again = said_to(BEDSIDE, [paragraph] * 8, weak)
    assert again[-1] == again[0] and again[0].revealed_at is None
    assert said_to(PAPER, [paragraph] * 8, weak)[-1].revealed_at is not None
    half = said_to(BEDSIDE, [paragraph, f"{paragraph} Truly?"], weak)
    fresh = said_to(BEDSIDE, [paragraph, "Who else sees how you carry this?"], weak)
    assert half[0].evidence < half[1].evidence < fresh[1].evidence


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("facts", [0.5, 1.0])
def test_questions_for_facts_alone_never_open_anybody(category: str, facts: float) -> None:
    """Not even the most open person with the shallowest concern, however long the list is."""
    concern = Concern.of("", category, openness="open", literacy="technical", depth=0)
    state = start(1, 0, "confirmation")
    for turn in range(60):
        asked = f"first{turn} second{turn} third{turn}"
        state, _ = step(BEDSIDE, state, evaluation(Features(DG=facts, PQC=0.5)), [concern], asked)
    assert state.concerns[0].state == HIDDEN


def test_a_plan_that_never_touches_the_concern_does_not_address_it() -> None:
    plan = [f"Take tablet{n} every morning, water{n} with food{n}, and come back{n} on Friday{n}." for n in range(12)]
    best = replace(BEST_ADDRESS, DG=1)
    assert said_to(BEDSIDE, plan, best)[-1].state == 1 and said_to(PAPER, plan, best)[-1].state == 2
    about = [f"{text} The rent{' and the money' * (n % 2)} first." for n, text in enumerate(plan)]
    assert said_to(BEDSIDE, about, best)[-1].state == 2


def test_a_topic_is_touched_by_any_form_of_its_words_and_not_by_what_everybody_says() -> None:
    concern = Concern.of(
        "Fears that the children lose the flat",
        CATEGORIES[3],
        topics=["kids", "lost the flat", "worry", "insulin"],
        known=content_roots("Takes insulin."),
    )
    assert touched(content_roots("Are you worried about insulin?"), concern) == 0
    assert touched(content_roots("What about your kids?"), concern) == 0.5
    assert touched(content_roots("Would you lose the flat, with the kid and all the children?"), concern) == 1
    assert touched(content_roots("And the child?"), concern) == 0.25
    assert "kid" not in repr(concern) and "flat" not in repr(concern)


def test_people_and_depth_move_the_intercept() -> None:
    def p(**who: object) -> float:
        concern = Concern.of("", CATEGORIES[0], **who)  # type: ignore[arg-type]
        _, update = step(BEDSIDE, start(1, 0, "confirmation"), evaluation(BEST_REVEAL), [concern], "hm")
        return update.traces[0].p_reveal or 0.0

    assert p(openness="open") > p() > p(openness="reserved") and p(literacy="technical") > p(literacy="plain")
    assert p() > p(depth=1) > p(depth=3)


def test_every_constant_is_in_the_digest() -> None:
    changed = [
        replace(PAPER, **{name: value})
        for name, value in {
            "alpha": 0.4, "high": 0.71, "low": 0.44, "low_turns": 3, "beta": 0.6, "quality": 0.6, "address_high": 0.6,
            "lag": 1, "hits": 3, "most_reveals": 1, "probe_risk": 0.75, "tightening": 0.03, "most_tightening": 0.2,
            "tolerance": 0.0, "name": "other", "overlap": "topics", "novelty": 0.2, "touch": 0.2, "carry": 0.5,
            "openness": {"open": 1.0}, "literacy": {"plain": -0.1}, "depth": 0.3, "training": {"source": "elsewhere"},
            "reveal": replace(PAPER.reveal, weights=(-3.3, *PAPER.reveal.weights[1:])),
            "address": replace(PAPER.address, deltas={CATEGORIES[0]: (0.1, *[0.0] * 11)}),
        }.items()
    ]  # fmt: skip
    assert set(PolicyConfig.__dataclass_fields__) == {
        name
        for config in changed
        for name in PolicyConfig.__dataclass_fields__
        if getattr(config, name) != getattr(PAPER, name)
    }
    assert len({config.digest for config in (PAPER, *changed)}) == len(changed) + 1


def test_a_config_survives_its_file(tmp_path) -> None:
    config = replace(
        PAPER, alpha=0.3, reveal=replace(PAPER.reveal, deltas={CATEGORIES[2]: tuple(map(float, range(12)))})
    )
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(to_json(config)))
    assert PolicyConfig.read(path).digest == config.digest
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))  # edited on Windows
    assert PolicyConfig.read(path).digest == config.digest
    path.write_text("{}")
    assert PolicyConfig.read(path) == PAPER


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("nonsense", "cannot be read"),
        ("[1]", "a list"),
        ('{"alpha": 2}', "alpha is 2"),
        ('{"alpha": true}', "alpha is True"),
        ('{"lag": 1.5}', "lag is 1.5"),
        ('{"beta_two": 1}', "unknown: beta_two"),
        ('{"low": 0.9}', "above high"),
        ('{"reveal": {"weights": {"bias": 1}, "deltas": {}}}', "no weight for 'DG'"),
        ('{"reveal": 3}', "reveal is 3 "),
    ],
)
def test_a_wrong_config_is_one_clear_error(tmp_path, content: str, says: str) -> None:
    path = tmp_path / "policy.json"
    path.write_text(content)
    with pytest.raises(InputError, match=says):
        PolicyConfig.read(path)


@pytest.mark.parametrize(
    ("concern", "confirmation", "intervention"),
    [
        (ConcernState(), 0.0, 0.0),
        (ConcernState(evidence=0.35), 0.5, 0.5 / 3),
        # Due, and never said: hidden still.
        (ConcernState(evidence=0.9), 0.99, 0.99 / 3),
        (ConcernState(state=1, evidence=0.46), 1.0, 1 / 3),
        (ConcernState(state=1, address_evidence=0.25, address_hits=1), 1.0, (1 + 0.5 + 0.5) / 3),
        (ConcernState(state=1, address_evidence=0.9), 1.0, 2 / 3),
        (ConcernState(state=2, address_evidence=0.6, address_hits=2), 1.0, 1.0),
    ],
)
def test_nearness_by_hand(concern: ConcernState, confirmation: float, intervention: float) -> None:
    assert nearness(PAPER, concern, "confirmation") == pytest.approx(confirmation)
    assert nearness(PAPER, concern, "intervention") == pytest.approx(intervention)


def test_what_no_reply_said_is_hidden_again_and_comes_out_in_the_next_turn() -> None:
    concerns = [Concern(CATEGORIES[0], frozenset())] * 2
    state = start(2, 0, "confirmation")
    for _ in range(2):
        state, update = step(PAPER, state, evaluation(BEST_REVEAL), concerns, "")
    assert update.revealed == (0, 1)
    back, told = take_back(state, update, [1])
    assert back.concerns == (state.concerns[0], replace(state.concerns[1], state=HIDDEN, revealed_at=None))
    assert told.revealed == (0,) and [trace.state for trace in told.traces] == [1, HIDDEN]
    back, update = step(PAPER, back, evaluation(BEST_REVEAL), concerns, "")
    assert update.revealed == (1,) and [concern.revealed_at for concern in back.concerns] == [2, 3]


def test_a_turn_of_small_words_counts_once() -> None:
    """It has no content word that could be new, so it is as new as the turn itself."""
    assert [newness(BEDSIDE, earlier, "And how is it?") for earlier in ([], ["Why?"])] == [1, 1]
    assert [newness(BEDSIDE, ["And how is it?", *more], "and how is it") for more in ([], ["Why?"])] == [0, 0]
    found = said_to(BEDSIDE, ["And how is it?", "Why?", "And how is it?"])
    assert found[0].evidence < found[1].evidence == found[2].evidence


def test_the_same_question_behind_other_words_of_the_patient_is_no_new_one() -> None:
    said = ("It started in the cellar that winter.", "My brother had the same tablets once.")
    first, second = (f'"{heard}" What is that like for you?' for heard in said)
    assert newness(BEDSIDE, [], first, said[0]) == 1
    state = start(1, 0, "confirmation")
    for heard, turn, moves in zip(said, (first, second), (True, False), strict=True):
        before = state
        state, _ = step(
            BEDSIDE, state, evaluation(BEST_REVEAL), [Concern(CATEGORIES[0], frozenset())], turn, heard=heard
        )
        assert (state.concerns != before.concerns) == moves
    # A topic taken up is no copy, nor is a mirror that holds nothing else.
    asked = ["The cellar. What is that like for you?"]
    assert newness(BEDSIDE, asked, "Your brother. What is that like for you?", said[1]) == 1
    assert newness(BEDSIDE, asked, "The same tablets once?", said[1]) == 1


@pytest.mark.parametrize(
    ("before", "again", "heard", "same"),
    [
        ("What worries you most?", "Please, what worries you most?", "", True),
        ("What worries you most?", "The bus was late. What worries you most?", "I cannot pay the rent.", True),
        ("what worries you most", "kindly what worries you most", "", True),  # typed in a hurry
        ("Tell me what you fear.", "It rains. Tell me what you fear.", "", True),
        # What takes up the patient's words is an answer to them; another object makes another question.
        ("What worries you most?", "The rent, then. What worries you most?", "I cannot pay the rent.", False),
        ("What worries you about money?", "What worries you about the tablets?", "", False),
        ("What else is there?", "It rains. What is that like?", "", False),
        ("What is that like?", "Your brother. What is that like?", "", False),  # no content word that could be new
        ("What worries you?", "When you sit in the bus with your son, what worries you?", "", False),
    ],
)
def test_a_question_that_was_asked_is_none_behind_a_remark(before: str, again: str, heard: str, same: bool) -> None:
    def evidence(*turns: str) -> float:
        state = start(1, 0, "confirmation")
        concern = Concern(CATEGORIES[0], frozenset())
        for turn in turns:
            state, _ = step(BEDSIDE, state, evaluation(replace(BEST_REVEAL, CE=0.5)), [concern], turn, heard=heard)
        return state.concerns[0].evidence

    assert (evidence(before, again) == evidence(before)) == same
    assert asks_again(again, [tuple(words(before))], heard) == same


def test_addressing_counts_new_words_near_the_concern() -> None:
    """Said again it moves nothing, not even the hits in a row; nearly again it is no hit; o fades by `carry` a turn."""
    concern = Concern.of("Cannot pay the rent", CATEGORIES[3], topics=["rent", "wages"])
    turns = [f"The rent and the wages: word{at} other{at} more{at}." for at in range(8)]

    def after(*said: str, policy: PolicyConfig = BEDSIDE) -> ConcernState:
        state = replace(start(1, 0, "intervention"), turn=4, concerns=(ConcernState(state=REVEALED, revealed_at=1),))
        for text in said:
            state, _ = step(policy, state, evaluation(BEST_ADDRESS), [concern], text)
        return state.concerns[0]

    patient = replace(BEDSIDE, hits=8)
    hits = after(*turns[:2], policy=patient)
    assert hits.address_hits > 0 and after(*turns[:2], turns[1], policy=patient) == hits
    nearly = " ".join(f"word{at} other{at}" for at in range(5)) + " fresh"
    assert after(*turns[:5], nearly, policy=patient).address_hits == 0
    away = "Something else entirely today: the garden, the weather and the dog."
    assert after(*turns[:2], away, policy=patient).address_hits == hits.address_hits + 1
    assert after(*turns[:2], away, policy=replace(patient, carry=0.0)).address_hits == 0


def test_a_threshold_is_reached_within_the_tolerance() -> None:
    evidence = said_to(PAPER, ["What worries you?"])[0].evidence
    for beyond, revealed_at in ((5e-10, 1), (5e-9, None)):
        high = replace(PAPER, high=evidence + beyond, low=0.0, low_turns=9)
        assert said_to(high, ["What worries you?"])[0].revealed_at == revealed_at


def test_without_a_least_touch_addressing_does_not_look_at_the_concern() -> None:
    steep = replace(PAPER, overlap="topics", address=Logistic((0.0, *[0.0] * 10, 4.0)))
    texts = ["Tell me."] * 2 + ["Is it money for the rent?"]
    assert said_to(steep, texts)[-1].address_evidence == 0.25
    assert said_to(replace(steep, touch=0.25), texts)[-1].address_evidence > 0.4


@pytest.mark.parametrize(
    ("tightening", "most", "kept_in"), [(0.0, 0.12, False), (0.03, 0.12, True), (0.4, 0.01, False)]
)
def test_thresholds_rise_with_what_is_out_to_a_limit(tightening: float, most: float, kept_in: bool) -> None:
    flat = Logistic((math.log(0.46 / 0.54), *[0.0] * 11))
    config = replace(PAPER, reveal=flat, most_reveals=1, tightening=tightening, most_tightening=most)
    found = play([Features()] * 30, config, "confirmation", 2)
    assert [concern.revealed_at is None for concern in found] == [False, kept_in]
