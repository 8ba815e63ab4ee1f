"""The checks on complaints: what each catches, what none may catch, and that the authored complaints pass them all."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import pytest

from builders.threemdbench import validators
from builders.threemdbench.validators import check_basic, check_facts, content_words, contradictions
from loaders.threemdbench import NAMES

BASIC = "You have a sore lump on your eyelid."
FACTS = [
    "Your eyelid is red at the edge.",
    "You noticed it three days ago.",
    "Your pain is moderate when you blink.",
    "Your eye waters in the wind.",
    "You have no allergies that you know of.",
]


def failed(*facts: str, basic: str = BASIC) -> set[str]:
    """The checks that fail when these facts stand beside five good ones."""
    return {failure.partition(":")[0] for failure in check_facts(basic, [*FACTS, *facts])}


def test_good_facts_pass() -> None:
    assert check_basic(BASIC) == []
    assert check_facts(BASIC, FACTS) == []


@pytest.mark.parametrize(
    ("fact", "check"),
    [
        ("Hot.", "form"),
        ("You feel " + "very " * 30 + "ill.", "form"),
        ("- You see pus.", "form"),
        ("You see **pus** in the lump.", "form"),
        ("You see pus.\nYou feel hot.", "form"),
        ('{"complaint": "You see pus."}', "form"),
        ("See https://example.org for your symptoms.", "form"),
        ("Ваше веко покраснело и болит.", "form"),
        ("Your веко is red and sore.", "form"),  # four letters in twenty
        ("Your " + "very " * 24 + "cold.", "form"),  # 26 words
        ("123 456 789", "form"),
        ("", "form"),
        ("I feel pus in the lump.", "person"),
        ("My lashes stick together.", "person"),
        ("The patient has pus in the lump.", "person"),
        ("She rubs your lashes.", "person"),
        ("You may have a stye.", "diagnosis"),
        ("You had a Hordeolum as a child.", "diagnosis"),
        ("You once had PINK EYE.", "diagnosis"),
        ("You had psoriasis in your youth.", "diagnosis"),
        ("You had ingrown toenails on both feet.", "diagnosis"),
        ("Your sister had chalazions.", "diagnosis"),
        ("You once had a fungal toenail.", "diagnosis"),
        ("You see an eczema-like patch.", "diagnosis"),
        ("You often had cold-sores.", "diagnosis"),
        ("You see pus. You feel hot.", "atomic"),
        ("You see pus and you feel hot.", "atomic"),
        ("You see pus, your lashes stick, your nose runs, your ears ring.", "atomic"),
        ("You see pus; your lashes stick.", "atomic"),
        ("Your eyelid has a sore lump.", "repeat"),
        ("You have a lump.", "repeat"),
        ("Your eye is watering in wind.", "repeat"),
        ("Your eyelid has a sore red lump.", "repeat"),  # one word more than the basic complaint
        ("Your eye waters.", "repeat"),  # says less than another fact
        ("You noticed it five weeks ago.", "contradiction"),
        ("You have had the lump for five weeks.", "contradiction"),  # "it" of the other fact is the lump
    ],
)
def test_each_check_catches(fact: str, check: str) -> None:
    assert check in failed(fact)


@pytest.mark.parametrize(
    "fact",
    [
        "You see yellow pus in the morning.",
        "The swelling makes it hard to open your lid fully.",  # a fact need not start with "you"
        "There is no discharge from the corner.",
        "You've tried warm compresses, but they do not help.",
        "It itches.",
        "You wear contact lenses at work.",
        "You are allergic to penicillin.",
        "Your grandmother had warty-looking skin.",
        "You boil your needles.",
        "You have had asthma for twelve years.",  # about something else than the lump of three days ago
        "You sleep badly, mostly because of the throbbing.",
        "You take 2.5 mg of a blood pressure tablet.",
    ],
)
def test_good_facts_are_not_caught(fact: str) -> None:
    assert failed(fact) == set()


def test_facts_repeat_each_other_if_one_word_of_many_differs() -> None:
    assert failed("Your cheek burns badly after spicy, hot soup.", "Your cheek burns badly after spicy, hot tea.") == {
        "repeat"
    }
    assert not failed("Your cheek burns after hot soup.", "Your cheek burns after hot tea.")


def test_facts_must_agree_with_the_basic_complaint() -> None:
    assert failed() == set()
    assert failed(basic="You have had a sore lump on your eyelid for two months.") == {"contradiction"}


def test_facts_that_do_not_address_the_patient() -> None:
    facts = [
        "The lid is red.",
        "Pus comes out at night.",
        "Tears run in the wind.",
        "The pain is dull.",
        "You sleep badly.",
    ]
    assert [failure.partition(":")[0] for failure in check_facts(BASIC, facts)] == ["person"]
    assert check_facts(BASIC, [*facts, "You cough.", "You feel chills.", "You vomit."]) == []  # half of them do


@pytest.mark.parametrize(("count", "good"), [(0, False), (4, False), (5, True), (9, True), (10, False)])
def test_five_to_nine_facts(count: int, good: bool) -> None:
    kinds = "fever cough dizziness nausea hunger thirst cramps hiccups chills tremor".split()
    failures = check_facts(BASIC, [f"You suffer from {kind}." for kind in kinds[:count]])
    assert [failure.partition(":")[0] for failure in failures] == ([] if good else ["count"])


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("You have a stye.", "diagnosis"),
        ("I have a lump.", "person"),
        ("There is a lump.", "person"),
        ("You have a lump. It hurts.", "atomic"),
        ("", "form"),
        ("Lump: `pain`, you.", "form"),
        ("You feel " + "very " * 28 + "ill.", "form"),  # 31 words
    ],
)
def test_basic_complaints_that_fail(text: str, check: str) -> None:
    assert check in {failure.partition(":")[0] for failure in check_basic(text)}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You have had the rash for two days.", "Your rash appeared three weeks ago."),
        ("You have had the rash for two days.", "Your rash appeared four days ago."),
        ("You noticed this about 3 months ago.", "You have had this for over a year."),
        ("Your rash began half a year ago.", "Your rash appeared a year ago."),
        ("Your symptoms have lasted for five days.", "It started a month ago."),
        ("Your pain is 3 out of 10.", "Your pain reaches 8/10."),
        ("You have two blisters.", "Your three small blisters are full."),
        ("Your left eye is red.", "Your right eye waters."),
        ("You have it on the left side of your face.", "The right side of your face burns."),
        ("Both of your eyes itch.", "You see redness only in your left eye."),
        ("Your right big toe hurts.", "Your left big toe is red."),
    ],
)
def test_contradictions(one: str, other: str) -> None:
    assert len(list(contradictions([one, other]))) == 1
    assert len(list(contradictions([other, one]))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You have had the rash for two days.", "You have had asthma for ten years."),
        ("You have had the rash for ten days.", "Your rash appeared about two weeks ago."),
        ("Your welts vanish within a day.", "You have had the welts for four weeks."),
        ("Your flares last an hour.", "You have had flares since a month ago."),
        ("Your left eye is red.", "Your left eye waters."),
        ("Your left eye is red.", "Your right ear hurts."),
        ("Your eye hurts right after you wake up.", "Your left eye is red."),
        ("Both of your eyes itch.", "Your left eye waters."),
        ("The redness is on your left cheek and your right cheek.", "Your left cheek burns."),
        ("You have two blisters.", "You see three crusts."),
        ("You wash twice a day.", "You smoke three times a day."),
        ("You take a tablet every two days.", "You slept badly on three days."),
        ("Your pain is 3 out of 10.", "Your itch reaches 8/10."),
        ("You have had the rash for two days.", "You have had asthma for two years."),
        ("Your rash began half a year ago.", "Your rash appeared six months ago."),
        ("Your rash began one and a half years ago.", "Your rash began 18 months ago."),
        ("You have had the rash for three weeks.", "You have been on a diet for ten weeks."),
    ],
)
def test_no_contradictions(one: str, other: str) -> None:
    assert list(contradictions([one, other])) == []


def test_what_goes_without_saying_is_the_basic_complaint() -> None:
    facts = ["You noticed it three months ago.", "You have had the itch for over a year."]
    assert list(contradictions(facts)) == []
    assert list(contradictions(facts, content_words("Your skin itches."))) != []


def test_words_that_carry_meaning() -> None:
    assert content_words("Your spots were itching") == content_words("You have an itchy spot")
    assert content_words("You don't itch") != content_words("You itch")
    assert content_words("It is there.") == frozenset()


# --- The authored complaints ------------------------------------------------------------------------------------------


def authored() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    path = Path(validators.__file__).with_name("authored_complaints.csv")
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        found.setdefault(row["diagnosis"], {}).setdefault(row["slot"], []).append(row["text"])
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_choice_of_authored_complaints_passes(name: str) -> None:
    slots, shared = authored()[name], authored()["any"]["history"]
    (basic,) = slots["basic"]
    assert check_basic(basic) == []
    for one in product(slots["duration"], slots["intensity"], slots["trigger"], shared):
        facts = [*slots["symptom"], *slots["place"], *one]
        assert check_facts(basic, facts) == []
