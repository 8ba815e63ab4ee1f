"""The bundled patients are whole, various and consistent; composed sets have the paper's marginals to the number."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medconceal.compose import composed, shared_out
from builders.medconceal.measure import CONCERNS_PER_CASE
from builders.samples.medconceal import profiles
from loaders.medconceal import CATEGORIES, SCENARIOS, SPECIALTY_CASES, TASKS, PatientProfile, chart


def test_forty_patients_of_all_kinds() -> None:
    found = profiles()
    assert len(found) == len({profile.case_id for profile in found}) == 40
    assert {profile.specialty for profile in found} == set(SPECIALTY_CASES)
    assert all(profile.synthetic and profile.case_id.startswith("synthetic-") for profile in found)
    assert Counter(len(profile.hidden_concerns) for profile in found) == shared_out(CONCERNS_PER_CASE, 40)
    assert {concern.category for profile in found for concern in profile.hidden_concerns} == set(CATEGORIES)
    assert {scenario for profile in found for scenario in profile.scenarios} == set(SCENARIOS)
    assert {profile.health_literacy for profile in found} == {"plain", "ordinary", "technical"}
    assert all(18 <= (p.demographics.age or 0) <= 89 or p.specialty.startswith("Pediatrician") for p in found)


@pytest.mark.parametrize("profile", profiles(), ids=lambda profile: profile.case_id)
def test_each_patient_is_whole(profile: PatientProfile) -> None:
    assert profile.narrative is not None
    story = profile.narrative.get_secret_value()
    contents = [concern.content.get_secret_value() for concern in profile.hidden_concerns]
    assert len(set(contents)) == len(contents)
    for concern in profile.hidden_concerns:
        assert all(snippet.get_secret_value() in story for snippet in concern.evidence)
        assert concern.cue is not None and concern.cue.get_secret_value() not in story
        assert len(concern.content.get_secret_value().split()) >= 6
    assert "[" not in story
    for task in TASKS:
        assert chart(profile, task).lines()
    assert profile.primary_concern.confidence == max(c.confidence for c in profile.hidden_concerns)


def test_primary_concerns_have_the_proportion_of_all_concerns() -> None:
    """Of forty, 12 misbeliefs, 14 fears, 8 barriers of communication, 6 of money (MC-G30); composed, within 2 %."""
    primary = Counter(profile.primary_concern.category for profile in profiles())
    assert [primary[name] for name in CATEGORIES] == [12, 14, 8, 6]
    many = Counter(profile.primary_concern.category for profile in composed(300))
    assert all(
        abs(many[name] / 300 - share) <= 0.02 for name, share in zip(CATEGORIES, (0.3, 0.35, 0.2, 0.15), strict=True)
    )


def test_no_two_people_use_the_same_words() -> None:
    """Each has a way to answer, something that opens them, and hints of their own."""
    found = profiles()
    for said in (
        [one.roleplay.response_style.get_secret_value() for one in found],
        [one.roleplay.disclosure_behavior.get_secret_value() for one in found],
        [concern.cue.get_secret_value() for one in found for concern in one.hidden_concerns if concern.cue],
    ):
        assert len(set(said)) == len(said)


_DANGER = re.compile(r"\b(?:tired of living|psychiatr|bleeding to death|dead child|depression|lithium|attacks|burst)\b")


def test_where_a_life_is_in_danger_the_plan_says_whom_to_call() -> None:
    found = [
        profile
        for profile in profiles()
        if any(_DANGER.search(concern.content.get_secret_value()) for concern in profile.hidden_concerns)
    ]
    assert len(found) >= 6
    for profile in found:
        assert re.search(r"\bcalls?\b", profile.intervention.recommended_plan), profile.case_id


def _told(profile: PatientProfile) -> str:
    return " ".join(
        text.get_secret_value()
        for concern in profile.hidden_concerns
        for text in (concern.content, *concern.evidence, concern.cue)
        if text is not None
    )


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_composed_people_never_contradict_themselves(seed: int, count: int) -> None:
    """Age, sex, marriage, schooling and work are those of the case whose concerns they share."""
    kits = {(one.demographics.background, one.clinical.admission_reason): one for one in profiles()}
    own = {concern.content for one in profiles() for concern in one.hidden_concerns}
    for profile in composed(count, seed=seed):
        who = profile.demographics
        kit = kits[who.background, profile.clinical.admission_reason]
        for name in ("age", "sex", "marital_status", "education"):
            assert getattr(who, name) == getattr(kit.demographics, name)
        assert profile.psychosocial == kit.psychosocial
        assert {c.content for c in profile.hidden_concerns} & own <= {c.content for c in kit.hidden_concerns}
        borrowed = [c for c in profile.hidden_concerns if c.content not in own]
        told = _told(profile.model_copy(update={"hidden_concerns": tuple(borrowed)}))
        assert not re.search(r"\b(?:wife|husband|son|daughter|my children|at work|my job|boss|mother's)\b", told)
        partnered = who.marital_status.get_secret_value() in ("married", "in a relationship", "engaged")
        assert partnered or "partner" not in told
        assert (who.age or 0) >= 35 or not re.search(r"\b(?:in my twenties|getting younger)\b", told)


def test_three_hundred_composed_cases_have_the_published_marginals() -> None:
    found = composed(300)
    assert Counter(profile.specialty for profile in found) == Counter(SPECIALTY_CASES)
    assert Counter(len(profile.hidden_concerns) for profile in found) == Counter(CONCERNS_PER_CASE)
    counts = Counter(concern.category for profile in found for concern in profile.hidden_concerns)
    assert sum(counts.values()) == 1_154
    assert [counts[name] for name in CATEGORIES] == [346, 404, 231, 173]
    assert len({profile.case_id for profile in found}) == 300
    for profile in found:
        assert len({c.content for c in profile.hidden_concerns}) == len(profile.hidden_concerns)
        assert profile.narrative and profile.synthetic and chart(profile, "intervention")


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=3), st.integers(1, 99), min_size=1, max_size=9), st.integers(0, 500))
def test_shares_add_up_and_are_within_one_of_exact(weights: dict[str, int], total: int) -> None:
    counts = shared_out(weights, total)
    whole = sum(weights.values())
    assert sum(counts.values()) == total
    assert all(abs(counts[key] - weights[key] * total / whole) < 1 for key in weights)
