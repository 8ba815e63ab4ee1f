"""A patient's model that was turned gets nothing hidden past the guard, however it is disguised."""

from __future__ import annotations

import pytest

from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.patient import noise
from baselines.medconceal.record import HIDDEN
from builders.medconceal.compose import composed
from builders.samples.medconceal.cases import profiles
from scripts.bench.attacks import DISGUISES, _play, turned


def test_a_turned_model_says_nothing_and_moves_nothing() -> None:
    replies, moved, through = turned(profiles()[:12])
    assert replies == 12 * 2 * 20 and moved == 0 and not through


def test_a_list_of_questions_for_facts_reaches_nobody() -> None:
    """The most open of the composed patients, whom one word that happened to be of a concern had opened."""
    patients = {profile.case_id: profile for profile in composed(140)}
    for case_id in ("synthetic-00030", "synthetic-00103", "synthetic-00132"):
        episode = _play("confirmation", patients[case_id], CLINICIANS["closed-checklist"])
        assert set(episode.states) == {HIDDEN}, case_id


@pytest.mark.parametrize("name", ["letters apart", "letters backwards", "leetspeak", "Cyrillic letters", "base64"])
def test_a_cipher_is_no_sentence(name: str) -> None:
    assert noise(DISGUISES[name]("I have not told my wife that the shop is closing in the autumn."))


@pytest.mark.parametrize(
    "text",
    [
        "I take 5 mg of folic acid, B12 and T3, since the scan.",
        "H1N1? No.",
        "A-b-c, that is as far as I got.",
        "It is not a six-month-old thing. I do not know.",
        "My 5-year-old is in the nine-to-five crowd, I said no.",
        "They gave me a β-blocker and 20 µg of the other one.",
    ],
)
def test_what_people_say_is_no_cipher(text: str) -> None:
    assert not noise(text)
