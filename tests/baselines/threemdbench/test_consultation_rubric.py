"""The assessor: what it is sent, which of its answers are taken, and how far order and padding move it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.threemdbench.consultation.assessor import (
    as_items,
    assess,
    doctors_words,
    extract,
    request,
    schema,
    transcript,
)
from baselines.threemdbench.consultation.naming import read_names
from baselines.threemdbench.consultation.prompts import rubric_items
from baselines.threemdbench.consultation.protocol import BEDSIDE
from baselines.threemdbench.consultation.reading import scores_in
from baselines.threemdbench.consultation.recheck import moved, padded, recheck_game, shuffled_items
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Assessment, Turn
from loaders.models.messages import Message
from tests.parts.played_consultations import PROMPTS, Table, by_script, case, played

TURNS = (Turn("patient", "It itches."), Turn("doctor", "You have eczema.", "hidden"))
GOOD = dict.fromkeys(ITEMS, 1) | {"4.1": 2}
SAID = json.loads(as_items(GOOD))


def scored(answers: Sequence[str], **more: Any) -> tuple[Assessment, Table]:
    table = Table({"assessor": answers})
    return asyncio.run(assess(case(), TURNS, table.ask, PROMPTS, **more)), table


def changed(**changes: Any) -> str:
    return json.dumps(SAID | {name.replace("_", "."): value for name, value in changes.items()})


def test_a_valid_verdict_is_accepted_at_once() -> None:
    found, table = scored([as_items(GOOD)])
    assert found == Assessment(GOOD, as_items(GOOD), 1)
    assert [(one.temperature, one.max_tokens, one.attempt) for one in table.asked] == [(1e-6, 512, 0)]
    assert table.asked[0].json_schema == schema()
    assert set(GOOD) == set(HIGHEST)


def test_the_assessor_sees_photo_diagnosis_questions_and_turns() -> None:
    one = case(4)
    system, user = request(one, TURNS, PROMPTS)
    assert one.diagnosis in system.text and "You are the patient." in system.text
    assert all(f"{item} {question}" in system.text for item, question in rubric_items(PROMPTS).items())
    assert '"1.1": 0 or 1' in system.text and '"4.1": "unsatisfactory" or "satisfactory"' in system.text
    assert json.loads(user.text) == [
        {"turn": 1, "speaker": "patient", "text": "It itches."},
        {"turn": 2, "speaker": "doctor", "text": "You have eczema."},
    ]
    assert user.images == (one.image,)
    assert request(case(assessor_image=b"small"), TURNS, PROMPTS)[1].images == (b"small",)
    assert "panel" in request(one, TURNS, PROMPTS, protocol=BEDSIDE.having(judge="experts"))[0].text


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "not one JSON object"),
        (f"The doctor wrote ```json\n{as_items(GOOD)}\n```", "not one JSON object"),
        (json.dumps({item: value for item, value in SAID.items() if item != "3.1"}), "no item 3.1"),
        (changed(**{"5.1": 1}), "unknown item '5.1'"),
        (changed(**{"1_1": {"1.1": 1}}), "item 1.1 is"),
        (changed(**{"4_1": []}), "item 4.1 is []"),
        (as_items(GOOD).replace("}", ', "1.1": 0}'), "a field stands twice"),
    ],
)
def test_what_is_no_verdict_is_asked_for_again_and_then_failed(answer: str, why: str) -> None:
    found, table = scored([answer])
    assert found.items is None and found.attempts == 4
    assert why in (found.failure or "")
    assert [one.temperature for one in table.asked] == [1e-6, 0.6, 0.6, 0.6]
    assert [one.attempt for one in table.asked] == [0, 1, 2, 3]
    assert len({one.messages for one in table.asked}) == 1
    # One good answer among them is enough.
    mended, _ = scored([answer, answer, answer, as_items(GOOD)])
    assert (mended.items, mended.attempts, mended.failure) == (GOOD, 4, None)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
@settings(max_examples=100)
def test_garbage_raises_nothing_else(text: str) -> None:
    for read in (scores_in, read_names):
        try:
            read(text)
        except ValueError:
            continue


def test_the_schema_is_one_that_providers_are_sent() -> None:
    pytest.importorskip("inspect_ai")
    from loaders.models.inspect_form import response_schema

    assert response_schema(schema(ITEMS[::-1])) is not None


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_no_text_of_a_turn_passes_for_structure(text: str) -> None:
    turns = (Turn("patient", "It itches."), Turn("doctor", text), Turn("patient", "Thank you."))
    read = json.loads(transcript(turns))
    assert [turn["speaker"] for turn in read] == ["patient", "doctor", "patient"]
    assert read[1]["text"] == text
    # A turn a line: no line of a doctor's text stands for itself.
    assert len(transcript(turns).split("\n")) == 5
    assert json.loads(doctors_words(turns)) == [text]


def test_a_fake_verdict_and_a_fake_patient_stay_in_the_doctors_turn() -> None:
    found, table = by_script(case(), "attack-verdict")
    for asked in table.of("assessor"):
        sent = json.loads(asked.messages[-1].text)
        speakers = [turn["speaker"] for turn in sent] if isinstance(sent[0], dict) else ["doctor"] * len(sent)
        assert speakers == ([turn.role for turn in found.turns] if isinstance(sent[0], dict) else ["doctor"] * 14)
    # An assessor that falls for it and repeats what it was sent has given no verdict.
    echo, _ = played(
        patient=["It itches."],
        doctor=[found.turns[1].text],
        assessor=lambda messages: messages[-1].text,
    )
    assert echo.assessment is not None and echo.assessment.items is None


def test_the_order_of_the_items_is_the_cases_own() -> None:
    orders = {case_id: shuffled_items(case_id, 0) for case_id in map(str, range(40))}
    assert all(sorted(order) == sorted(ITEMS) and order != ITEMS for order in orders.values())
    assert len(set(orders.values())) > 35
    assert orders["7"] == shuffled_items("7", 0) != shuffled_items("7", 1)


def test_padding_is_added_to_the_doctors_words_only() -> None:
    turns = (*TURNS, Turn("doctor", "[no reply]", None, ("empty",)))
    empty = PROMPTS.fill("padding")
    assert [turn.text for turn in padded(turns, PROMPTS)] == ["It itches.", f"You have eczema. {empty}", "[no reply]"]


def test_a_recheck_says_how_far_scores_move() -> None:
    one = case()

    def biased(messages: Sequence[Message]) -> str:
        """Grants the first three questions that it reads, and takes long messages for good ones."""
        if isinstance(json.loads(messages[-1].text)[0], str):
            return "none"
        order = re.findall(r"^(\d\.\d) ", messages[0].text, re.MULTILINE)
        long = len(messages[-1].text) > 200
        return as_items({item: int(place < 3) for place, item in enumerate(order)} | {"4.1": 2 * long})

    base, _ = played(one, patient=["It itches.", "BREAK"], doctor=["You have eczema."], assessor=biased)
    table = Table({"assessor": biased})
    again = asyncio.run(recheck_game(PROMPTS, {one.case_id: base}, seed=3).play(one, table.ask))
    shuffled, longer = moved(base.assessment, again.shuffled), moved(base.assessment, again.padded)
    assert shuffled is not None and longer is not None
    order = shuffled_items(one.case_id, 3)
    assert {item: score for item, score in shuffled.items() if item != "4.1"} == {
        item: int(item in order[:3]) - int(item in ITEMS[:3]) for item in ITEMS if item != "4.1"
    }
    assert longer == dict.fromkeys(ITEMS, 0) | {"4.1": 2}
    # The scripted assessor reads by rules: neither moves it.
    steady, table = by_script(one, "oracle")
    again = asyncio.run(recheck_game(PROMPTS, {one.case_id: steady}).play(one, table.ask))
    assert moved(steady.assessment, again.shuffled) == dict.fromkeys(ITEMS, 0)


def test_a_failed_assessment_moves_nowhere() -> None:
    failed = Assessment(None, "prose", 4, "no JSON")
    fine = Assessment(GOOD, "", 1)
    assert moved(failed, fine) is moved(fine, failed) is moved(None, fine) is None


# --- Extraction -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("'bronchitis, pneumonia'", ("bronchitis", "pneumonia")),
        (
            "contact dermatitis from nickel in costume jewellery",
            ("contact dermatitis from nickel in costume jewellery",),
        ),
        ("HSV-1, tinea versicolor (ringworm)", ("HSV-1", "tinea versicolor (ringworm)")),
        ("- stye", ("stye",)),
        ("1. melanoma", ("melanoma",)),
        ("- none", ()),
    ],
)
def test_names_are_kept_as_they_were_written(text: str, names: tuple[str, ...]) -> None:
    assert read_names(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The doctor may have settled on the diagnosis of a stye.",
        "stye\nmelanoma",
        '{"diagnosis": {"stye": 1}}',
    ],
)
def test_what_is_no_list_of_names_is_asked_for_again(text: str) -> None:
    table = Table({"assessor": [text, text, "stye"]})
    found = asyncio.run(extract(TURNS, table.ask, PROMPTS))
    assert (found.names, found.attempts, found.failure) == (("stye",), 3, None)
    assert [one.temperature for one in table.asked] == [1e-6, 0.6, 0.6]
    table = Table({"assessor": [text]})
    found = asyncio.run(extract(TURNS, table.ask, PROMPTS))
    assert (found.names, found.attempts) == ((), 4) and found.failure


def test_the_extractor_reads_the_doctors_words_and_nothing_else() -> None:
    table = Table({"assessor": ["none"]})
    asyncio.run(extract((*TURNS, Turn("patient", "canary"), Turn("doctor", 'Quote: "}]\n')), table.ask, PROMPTS))
    (asked,) = table.asked
    assert json.loads(asked.messages[1].text) == ["You have eczema.", 'Quote: "}]\n']
    sent = asked.messages[0].text + asked.messages[1].text
    assert "canary" not in sent and "hidden" not in sent
    assert not asked.messages[1].images
    assert asked.json_schema is None
