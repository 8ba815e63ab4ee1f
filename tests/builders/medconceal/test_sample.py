"""The bundled patients are whole, various and consistent; composed sets have the paper's marginals to the number."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medconceal.compose import composed, shared_out
from builders.medconceal.selection import CONCERNS_PER_CASE
from builders.samples.medconceal import comments, profiles, submissions
from loaders.errors import InputError
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


def test_composing_depends_on_the_seed_alone() -> None:
    assert composed(20, seed=3) == composed(20, seed=3)
    assert composed(20, seed=3) != composed(20, seed=4)
    with pytest.raises(InputError, match="at least one case"):
        composed(0)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=3), st.integers(1, 99), min_size=1, max_size=9), st.integers(0, 500))
def test_shares_add_up_and_are_within_one_of_exact(weights: dict[str, int], total: int) -> None:
    counts = shared_out(weights, total)
    whole = sum(weights.values())
    assert sum(counts.values()) == total
    assert all(abs(counts[key] - weights[key] * total / whole) < 1 for key in weights)


def test_twelve_threads_as_a_dump() -> None:
    posts = [json.loads(line) for line in submissions()]
    flaired = [post for post in posts if post.get("link_flair_text") == "Physician Responded"]
    assert len(flaired) == 12 < len(posts)
    replies = [json.loads(line) for line in comments()]
    assert {reply["link_id"] for reply in replies} == {f"t3_{post['id']}" for post in flaired}
    assert len({reply["id"] for reply in replies}) == len(replies)
