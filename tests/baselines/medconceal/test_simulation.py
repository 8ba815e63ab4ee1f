"""The shape of the patients: a slope over the quality of turns, where the paper's policy is a step (issue: shape)."""

from __future__ import annotations

import pytest

from baselines.medconceal.policy import BEDSIDE, PAPER
from baselines.medconceal.simulation import Simulated, reveal_rate, success_rate
from builders.medconceal.compose import composed
from builders.samples.medconceal.cases import profiles
from loaders.medconceal import PatientProfile

WRITTEN = profiles()


@pytest.fixture(scope="module", params=["written", "composed"])
def patients(request: pytest.FixtureRequest) -> list[PatientProfile]:
    return WRITTEN if request.param == "written" else composed(60)


def test_reveal_rises_as_a_slope(patients: list[PatientProfile]) -> None:
    rates = {q: reveal_rate(BEDSIDE, patients, Simulated(q / 100)) for q in (20, 30, 50, 65, 80, 100)}
    assert rates[20] <= 0.12 and rates[80] >= 0.70 and list(rates.values()) == sorted(rates.values())
    assert rates[65] < 0.90 and rates[30] > 0.10 - 0.04  # from 10 to 90 per cent takes .35 of q or more
    assert 0.30 <= rates[50] <= 0.60
    assert reveal_rate(BEDSIDE, patients, Simulated(0.5), turns=20) - rates[50] >= 0.08
    assert reveal_rate(BEDSIDE, patients, Simulated(0.8), turns=20) >= 0.80


def test_what_has_to_be_heard(patients: list[PatientProfile]) -> None:
    assert reveal_rate(BEDSIDE, patients, Simulated(0.9, repeats=True)) <= 0.30
    followed, deaf = (reveal_rate(BEDSIDE, patients, Simulated(0.85, follows)) for follows in (0.9, 0.0))
    assert followed >= 0.80 > deaf
    assert success_rate(BEDSIDE, patients, Simulated(0.9, follows=0.0)) == 0
    assert success_rate(BEDSIDE, patients, Simulated(0.9)) >= 0.6


def test_the_papers_policy_is_a_step() -> None:
    low, high = (reveal_rate(PAPER, WRITTEN, Simulated(q)) for q in (0.4, 0.6))
    assert low <= 0.2 and high >= 0.9
    assert reveal_rate(PAPER, WRITTEN, Simulated(0.9, repeats=True)) == 1
    assert success_rate(PAPER, WRITTEN, Simulated(0.9, follows=0.0)) == 1
