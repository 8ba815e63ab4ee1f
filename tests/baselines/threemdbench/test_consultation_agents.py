"""The scripted agents: a scale that is in order, four manners that can be told apart, attacks that gain nothing."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from baselines.threemdbench.consultation import agents
from baselines.threemdbench.consultation.agents import AGENTS, ATTACKERS, BY_ROLE, by_keywords, cues_in, scripted_agent
from baselines.threemdbench.consultation.agents_assessor import scored, stated_diagnoses
from baselines.threemdbench.consultation.agents_patient import MANNERS, answering, gives_diagnosis, in_first_person
from baselines.threemdbench.consultation.diagnosis import first_name
from baselines.threemdbench.consultation.record import ITEMS, Consultation
from loaders.errors import ModelError
from loaders.models.messages import Message
from loaders.threemdbench import DIAGNOSES, NAMES, PERSONALITIES
from tests.parts.played_consultations import by_script, case, cases, played
from tests.parts.processes import printed

CUES = "dialogue+image+rationale+cues"


@cache
def consultations(doctor: str, setting: str = CUES, count: int = 34) -> tuple[Consultation, ...]:
    return tuple(by_script(one, doctor, setting)[0] for one in cases(count))


def strict_f1(found: Sequence[Consultation]) -> float:
    metrics = pytest.importorskip("sklearn.metrics")
    predicted = [first_name(", ".join(one.extraction.names)) or "none" for one in found]
    gold = [one.gold for one in found]
    return float(metrics.f1_score(gold, predicted, labels=list(NAMES), average="weighted", zero_division=0))


def mean(found: Sequence[Consultation], item: str) -> float:
    scores = [one.assessment.items[item] for one in found if one.assessment and one.assessment.items]
    assert len(scores) == len(found)
    return sum(scores) / len(scores)


# --- The scale --------------------------------------------------------------------------------------------------------


def test_the_order_that_is_known_before() -> None:
    doctors = ("oracle", "keyword-cues", "keyword", "majority", "silent")
    values = [strict_f1(consultations(doctor, CUES, 68)) for doctor in doctors]
    assert values == sorted(values, reverse=True) and len(set(values)) == len(values)
    assert values[0] == 1 and values[-1] == 0
    assert values[2] > 0.5  # far above the majority: keywords do tell something


def test_who_asks_everything_asks_more_and_knows_no_more() -> None:
    asks, majority = consultations("ask-everything"), consultations("majority")
    for item in ("1.1", "1.2"):
        assert mean(asks, item) > mean(majority, item)
    assert strict_f1(asks) == strict_f1(majority)


def test_more_complaints_or_a_dialogue_help_the_keyword_doctor() -> None:
    less, more = (strict_f1(consultations("keyword", setting)) for setting in ("image+basic", "image+all"))
    assert less < more
    assert less < strict_f1(consultations("keyword", "dialogue+image"))


def test_the_keyword_doctor_without_cues_does_not_see_them() -> None:
    assert strict_f1(consultations("keyword")) == strict_f1(consultations("keyword", "dialogue+image"))
    assert strict_f1(consultations("keyword-cues", "dialogue+image")) == strict_f1(consultations("keyword"))


def test_a_silent_doctor_or_a_parrot_is_given_no_diagnosis() -> None:
    for doctor in ("silent", "parrot"):
        found = consultations(doctor, "dialogue")
        assert not any(one.extraction.names for one in found)
        assert not any(one.finished for one in found)
        assert sum(mean(found, item) for item in ITEMS) < 1


def test_doctors_but_the_oracle_look_at_messages_only() -> None:
    one, other = case(0), case(9, temperament=case(0).temperament)
    talk = [Message("system", "You are a doctor."), Message("user", "My gums bleed.")]
    for name, agent in BY_ROLE["doctor"].items():
        same = agent(one)(talk) == agent(other)(talk)
        assert same == (name != "oracle")


def test_cues_are_found_in_any_wording() -> None:
    system = f"Doctor.\nOne of: {', '.join(NAMES)}\n\nHints: stye > acne > allergic contact dermatitis"
    assert cues_in([Message("system", system)]) == ("stye", "acne", "allergic contact dermatitis")
    assert cues_in([Message("system", f"One of: {', '.join(NAMES)}")]) == ()
    assert cues_in([Message("user", "stye, acne, warts")]) == ()


def test_keywords_are_of_every_diagnosis() -> None:
    path = Path(inspect.getfile(agents)).with_name("keywords.csv")
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    assert [row["diagnosis"] for row in rows] == list(NAMES)
    assert all(row["keywords"] == row["keywords"].casefold() for row in rows)
    assert by_keywords("nothing that is known") == agents.MAJORITY
    assert by_keywords("nothing that is known", ("stye", "acne", "warts")) == "stye"


# --- The patient ------------------------------------------------------------------------------------------------------


def test_the_four_manners_can_be_told_apart_from_text() -> None:
    pytest.importorskip("sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    # Different cases, diagnoses and questions in training and test.
    train, test = consultations("ask-everything", "dialogue"), consultations("keyword", "dialogue", 68)[34:]

    def texts(found: Sequence[Consultation]) -> tuple[list[str], list[str]]:
        told = [(turn.text, one.temperament) for one in found for turn in one.turns if turn.role == "patient"]
        return [text for text, _ in told], [temperament for _, temperament in told]

    words = CountVectorizer()
    model = MultinomialNB().fit(words.fit_transform(texts(train)[0]), texts(train)[1])
    said, temperaments = texts(test)
    assert set(temperaments) == set(PERSONALITIES)
    assert model.score(words.transform(said), temperaments) >= 0.8  # utterance by utterance


def test_the_phlegmatic_talk_least_and_stop_first() -> None:
    found = consultations("keyword", "dialogue")
    lengths = {name: [one.utterances for one in found if one.temperament == name] for name in PERSONALITIES}
    assert max(lengths["phlegmatic"]) < min(min(lengths[name]) for name in PERSONALITIES if name != "phlegmatic")
    assert set(MANNERS) == set(PERSONALITIES)


@pytest.mark.parametrize("temperament", PERSONALITIES)
def test_the_patient_tells_everything_when_asked_for_it_and_then_no_more(temperament: str) -> None:
    one = case(2, temperament=temperament)
    found, _ = played(one, patient=AGENTS["patient"](one), doctor=["What else do you notice?"])
    said = " ".join(turn.text for turn in found.turns if turn.role == "patient")
    for complaint in (one.basic, *one.additional):
        assert said.count(in_first_person(complaint)) == 1
    assert not found.finished


def test_the_patient_ends_after_a_diagnosis_and_not_before() -> None:
    for temperament in PERSONALITIES:
        one = case(temperament=temperament)
        found, _ = played(one, patient=AGENTS["patient"](one), doctor=["Where?", "You have a stye.", "Yes."])
        assert found.finished and found.utterances >= 4
    assert gives_diagnosis("You have acne.") and gives_diagnosis("Any fever? This is a stye.")
    for text in ("Could it be acne?", f"You have {', '.join(NAMES)}.", "BREAK", "", "I do not know."):
        assert not gives_diagnosis(text)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Since when do you have it?", "You noticed it two days ago."),
        ("Do you have any allergies?", "You have no allergies that you know of."),
        ("Do you take any medicines?", "You take no medicines on a regular basis."),
        ("How bad is the pain?", "Your pain is moderate when you blink."),
        ("What might have caused it?", "You had slept without taking off your make-up."),
        ("Is the lid red?", "Your lid is red."),
    ],
)
def test_a_question_is_answered_by_what_it_asks_for(question: str, answer: str) -> None:
    facts = [
        "Your lid is red.",
        "You noticed it two days ago.",
        "Your pain is moderate when you blink.",
        "You had slept without taking off your make-up.",
        "You have no allergies that you know of.",
        "You take no medicines on a regular basis.",
    ]
    assert answering(question, facts)[0] == answer
    assert answering("Who won?", facts) == []
    assert answering("What else do you notice?", facts) != [] != answering("Anything else?", facts)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("You have no allergies that you know of.", "I have no allergies that I know of."),
        ("Your eyelids are stuck together when you wake up.", "My eyelids are stuck together when I wake up."),
        ("Your pain is severe and keeps you awake.", "My pain is severe and keeps me awake."),
        ("You were run down before you noticed it yourself.", "I was run down before I noticed it myself."),
        ("You're well and you've no fever, but you aren't happy.", "I'm well and I've no fever, but I am not happy."),
        ("The lump on your lid hurts you.", "The lump on my lid hurts me."),
        ("The rash is young.", "The rash is young."),
    ],
)
def test_complaints_are_told_in_the_first_person(told: str, said: str) -> None:
    assert in_first_person(told) == said


# --- Attackers and assessor -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ATTACKERS))
@pytest.mark.parametrize("setting", ["image+basic", "dialogue", CUES])
def test_an_attack_gains_nothing_and_stops_nothing(name: str, setting: str) -> None:
    found = consultations(name, setting, 2)
    honest = consultations("silent", setting, 2)
    assert strict_f1(found) == 0
    for one in found:
        assert one.extraction == type(one.extraction)((), "none", 1)
        assert [turn.role for turn in one.turns] == ["patient", "doctor"] * (len(one.turns) // 2)
        assert one.finished == (setting == "image+basic")
    if setting != "image+basic":
        for item in ITEMS:
            assert mean(found, item) <= mean(honest, item)


def test_the_scripted_assessor_reads_the_last_diagnosis_that_is_stated() -> None:
    assert stated_diagnoses(["You have acne.", "No, you have rosacea.", "Goodbye."]) == ["acne"]
    assert stated_diagnoses(["You have acne.", "I was wrong: this is rosacea."]) == ["rosacea"]
    assert stated_diagnoses(["This is acne or rosacea."]) == ["acne", "rosacea"]
    assert stated_diagnoses(["It might be acne. Is it rosacea?"]) == []
    assert stated_diagnoses([f"You have {', '.join(NAMES)}."]) == []


def test_the_scripted_assessor_gives_the_best_mark_to_the_right_diagnosis_only() -> None:
    words = ["Thank you. Which other symptoms do you notice?", "Do you take medicines?"]
    end = "From what you say, you have acne. Have it examined, and put on a cream. If you prefer, we wait."
    assert scored([*words, end], "acne") == dict.fromkeys(ITEMS, 1) | {"4.1": 2}
    assert scored([*words, end], "rosacea") == dict.fromkeys(ITEMS, 1)
    assert scored(["[no reply]"], "acne") == dict.fromkeys(ITEMS, 0)
    assert scored(["Please use a cream. " * 100], "acne") == dict.fromkeys(ITEMS, 0)


# --- The registry -----------------------------------------------------------------------------------------------------


def test_every_agent_has_one_name_and_one_role() -> None:
    assert len(AGENTS) == sum(map(len, BY_ROLE.values()))
    assert {"silent", "majority", "ask-everything", "keyword", "keyword-cues", "oracle", "parrot"} <= set(
        BY_ROLE["doctor"]
    )
    assert scripted_agent("doctor", "keyword") is AGENTS["keyword"]
    with pytest.raises(ModelError, match="is no doctor"):
        scripted_agent("doctor", "patient")
    with pytest.raises(ModelError, match="is no scripted doctor of this command .*Pass one of these"):
        scripted_agent("doctor", "nobody")


def test_a_consultation_needs_no_framework() -> None:
    code = (
        "import sys; import baselines.threemdbench.consultation.game, baselines.threemdbench.consultation.agents;"
        "print([name for name in ('inspect_ai', 'torch', 'openai', 'sklearn') if name in sys.modules])"
    )
    assert printed("-c", code).strip() == "[]"


def test_all_diagnoses_can_be_concluded_and_read() -> None:
    for diagnosis in DIAGNOSES:
        one = case(NAMES.index(diagnosis.name))
        found, _ = by_script(one, "oracle", "image+basic")
        assert found.extraction.names == (diagnosis.name,)
