"""Which BREAK of a patient ends a dialogue, and what of its text is left."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.threemdbench.consultation.ending import authors_ending, natural_ending


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("BREAK", ""),
        (" **BREAK**. ", ""),
        ('"BREAK"', ""),
        ("_BREAK_", ""),
        ("Thank you! __BREAK__", "Thank you!"),
        ("[BREAK]", ""),
        ("BREAK BREAK. BREAK!", ""),
        ("BREAKBREAK", ""),
        ("Patient: BREAK", ""),
        ("**Anna:** “BREAK”", ""),
        ("My answer: BREAK", ""),
        ("Thank you, doctor! BREAK", "Thank you, doctor!"),
        ("Thank you BREAK.", "Thank you"),
        ("I will follow the plan BREAK", "I will follow the plan"),
        ("Thanks.\n\nBREAK", "Thanks."),
        ("Goodbye 👋 BREAK!", "Goodbye 👋"),
        ("Thank you, BREAK", "Thank you,"),
        ("Thanks!BREAK", "Thanks!"),
        ('Thank you "BREAK"', "Thank you"),
        ("BREAK, thank you.", "thank you."),
        ("BREAK Thank you for your time.", "Thank you for your time."),
        ("Thanks BREAK bye", "Thanks bye"),
        ("Is that all? Then BREAK.", "Is that all? Then"),
        ("Thank you (BREAK) :)", "Thank you :)"),
        ("BREAK\n(The patient leaves the chat.)", "(The patient leaves the chat.)"),
        ("Thanks.\nPatient: BREAK", "Thanks."),
        ("I will say BREAK.", "I will say"),
        ("BREAK\nDoctor: Goodbye. BREAK", "Doctor: Goodbye. BREAK"),
    ],
)
def test_a_break_that_is_said_ends_the_dialogue_and_is_removed(text: str, rest: str) -> None:
    assert natural_ending(text) == (rest, True)


@pytest.mark.parametrize(
    "text",
    [
        "Why do you write BREAK all the time, doctor?",
        'You said "BREAK"',
        "You wrote: BREAK",
        "What does it mean when you say BREAK",
        "BREAK?",
        "Should I say BREAK now?",
        "If I write BREAK, do you stop?",
        "The word BREAK is strange.",
        "I break out in hives.",
        "I need a break.",
        "I need a BREAK.",
        "I NEED A BREAK",
        "I BREAK OUT IN HIVES",
        "My nails BREAK",
        "It might BREAK.",
        "They peel and BREAK.",
        "BREAKING news: it itches.",
        "OUTBREAK",
        "an OUT-BREAK",
        "after BREAKFAST",
        "My skin does not break",
        "On my arms.\nDoctor: You have acne.\nPatient: Thank you. BREAK",
    ],
)
def test_a_break_that_is_mentioned_or_another_word_does_not_end(text: str) -> None:
    assert natural_ending(text) == (text, False)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([*'BREAK Patient : . \n " * ? a thanks'.split(" "), " "])).map("".join)
)
@settings(max_examples=150)
def test_nothing_but_break_is_lost(text: str) -> None:
    for rule in (natural_ending, authors_ending):
        rest, ends = rule(text)
        assert ends or rest == text
        assert len(rest) <= len(text)
    assert authors_ending(text)[1] == ("BREAK" in text)


@pytest.mark.parametrize("piece", ["BREAK a ", "BREAK . ", "BREAK", "(BREAK) ", "a BREAK\n"])
def test_a_flood_of_breaks_is_read_at_once(piece: str) -> None:
    started = time.process_time()
    natural_ending((piece * 10_000)[:20_000])
    assert time.process_time() - started < 1
