"""The stated rules: which posts are refused, which comments can be turns, and which chain of a thread is taken."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.medconceal.chains import (
    Comment,
    Post,
    is_bot,
    is_clinician,
    longest_chain,
    refusal,
    refusal_of_words,
    stated_age,
    without_later,
)

POST = Post("p", "asker", "[34F] a question", "It hurts.", 0, False, False, False)


def comment(name: str, parent: str, author: str = "doc", flair: str = "Physician", text: str = "Yes.") -> Comment:
    return Comment(name, parent, author, flair if author != "asker" else "", text, int(name[1:]), False)


def talk(turns: int, *, start: int = 1, parent: str = "p", doctors: int = 1) -> list[Comment]:
    found = []
    for turn in range(turns):
        name = f"c{start + turn:03d}"
        found.append(comment(name, parent, f"doc{turn // 2 % doctors}" if turn % 2 == 0 else "asker"))
        parent = name
    return found


VERIFIED = """Physician|physician - cardiology|Physician, Moderator|Registered Nurse|Nurse Practitioner|:snoo: Physician
Pharmacist|Physician/Neurology|Physician (verified)|RN"""
OTHERS = """|Layperson/not verified as healthcare professional|Medical Student|Not a physician|Physicians are liars
This user has not yet been verified.|Doctorate in history"""


@pytest.mark.parametrize("flair", [*re.split(r"[|\n]", VERIFIED), "Physician | Moderator"])
def test_verified_flairs(flair: str) -> None:
    assert is_clinician(flair)


@pytest.mark.parametrize("flair", re.split(r"[|\n]", OTHERS))
def test_other_flairs(flair: str) -> None:
    assert not is_clinician(flair)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"author": "[deleted]"}, "post by a deleted account"),
        ({"text": "[removed]"}, "post deleted or removed"),
        ({"text": "", "title": "[removed]"}, "post deleted or removed"),
        ({"removed": True}, "post deleted or removed"),
        ({"author": "AutoModerator"}, "post by a bot"),
        ({"crosspost": True}, "cross-posted"),
        ({"title": "17M with a rash"}, "poster under age"),
        ({"title": "[9F] a question"}, "poster under age"),
        ({"text": "I'm 15 and scared."}, "poster under age"),
    ],
)
def test_posts_that_are_refused(changes: dict[str, Any], reason: str) -> None:
    assert refusal(replace(POST, **changes), 10) == (reason, "")


def test_a_plain_post_is_not_refused_and_one_of_a_crowd_is() -> None:
    assert refusal(POST, 10) is None
    assert refusal(POST, 20_000) is None
    assert refusal(POST, 20_001) == ("too many comments", "20,001 of at most 20,000")


@pytest.mark.parametrize("changes", [{"title": "[18F] a question"}, {"text": " "}])
def test_an_adult_may_ask_in_a_title_alone(changes: dict[str, Any]) -> None:
    assert refusal(replace(POST, **changes), 10) is None


@pytest.mark.parametrize(
    ("text", "age"),
    [
        ("16F", 16), ("[ 17 M ]", 17), ("F/16 here", 16), ("Age: 15", 15), ("I am 16 years old", 16), ("im 14", 14),
        ("34F", 34), ("my son is 6 years old", None), ("My daughter (6F) coughs. I'm 31F.", 31), ("12 mg", None),
        ("When I was 16 I broke it. Now 40M.", 40), ("took 15 mcg", None), ("16/10 pressure", None),
        ("Help! I'm 16.", 16), ("I'm 17, female, and in pain", 17), ("Age: 16, male", 16), ("I’m 17, 5'9", 17),
        ("Female, 16, no history", 16), ("F, 17", 17), ("16, F", 16), ("Male 17.", 17), ("I'm 16 in May", 16),
        ("28F. I'm 12 weeks pregnant", 28), ("I’m 8 weeks post-op, 45M", 45), ("I am 10 days in. 30F", 30),
        ("34F, im 6 feet tall", 34), ("I am 16-17 weeks pregnant, 29F", 29), ("I'm 15 minutes late", None),
        ("female, 8 out of 10 pain", None), ("I'm 10 years post-op, 50M", 50), ("I'm 16 years of age", 16),
        ("I'm 6 years old", 6), ("I'm 5 years old", None), ("My daughter, who has had asthma, is 16F", None),
        ("I am sixteen and scared", 16), ("Seventeen-year-old here", 17), ("15 y.o. girl", 15), ("17y.o. F", 17),
        ("I'm almost 18", 17), ("I’m turning eighteen in May", 17), ("I just turned 17", 17),
        ("I turned 17 in May", 17), ("I am sixteen weeks pregnant, 29F", 29), ("28 y.o. M", 28),
        ("When I turned 16 I broke it. 40M", 40),
        ("My son is almost 18. I'm 45", 45), ("Fifteen years ago I fell. 40M", 40),
        (600 * " " + "For context, I'm 16F", 16), (600 * " " + "I'm a 16 year old girl", 16),
        (600 * " " + "16 m", None),
        ("34M. I'm 6'2 and 200 lbs", 34), ("I’m 6’2", None), ("Rash, 16 [F]", 16), ("[16] [M] rash", 16),
        ("15 years of age", 15), ("I recently turned 16", 16), ("I'll be 18 in May", 17),
        ("I will be 18 months post-op in May, 45M", 45), ("im 8 cycles in, 40F", 40),
        # Metres, months and degrees; who says "I" means nobody else.
        ("I walked 10 m and sat down", None), ("For the past 6 m it hurts. 34F", 34), ("6 m ago I fell (34F)", 34),
        ("It was 15 F outside", None), ("16 m here", 16), ("I run track. 16 m", 16),
        ("My sister says it's fine but I'm 16", 16), ("It began at age 16. 30F", 30),
        ("16 here, a rash", 16), ("Hi, 15 here and in pain", 15), ("There are 16 here", None), ("I'm twelve", 12),
        ("I’m twelve weeks pregnant, 29F", 29), ("16y F", 16), ("16 yr M", 16), ("F16yo", 16),
        ("I'm 17.5", 17), ("I’m 17yrs, female", 17), ("I'm only just 17", 17), ("When I turn 18 I can decide", 17),
    ],
)  # fmt: skip
def test_ages_that_posters_state(text: str, age: int | None) -> None:
    assert stated_age(text) == age


def test_a_thread_is_refused_for_what_its_poster_says_below_the_post() -> None:
    said = comment("c002", "c001", "asker", text="It started in gym class. I'm 16 by the way.")
    assert refusal_of_words(POST, [comment("c001", "p"), said]) == ("poster under age", "")
    asked = comment("c001", "p", text="I'm 16 miles from the nearest clinic myself. I am 17!")
    for somebody in (
        "My brother is 12 and I'm 34.",
        "A friend, 16F, had it too.",
    ):  # further down nobody introduces himself
        assert refusal_of_words(POST, [asked, replace(said, text=somebody)]) is None


def test_a_thread_in_another_language_is_refused() -> None:
    told = "Dejé mis pastillas el mes pasado porque me mareaban en el trabajo y me daba vergüenza. Vivo en Sevilla."
    post = replace(POST, title="¿Debo volver a tomar mis pastillas?", text=told)
    assert refusal_of_words(post, talk(8)) == ("not in English", "the rules that find identifiers read English")
    assert refusal_of_words(replace(POST, text="43F, 70 kg, levothyroxine. I am tired all day."), talk(8)) is None


@pytest.mark.parametrize(
    "told",
    [
        "Ich habe seit drei Wochen starke Schmerzen im Rücken und der Arzt sagt, dass es nur Stress ist. Was tun?",
        "J'ai mal au dos depuis trois semaines et le médecin dit que c'est le stress. Que dois-je faire si ça dure ?",
        "Ho mal di schiena da tre settimane e il medico dice che è solo stress. Cosa devo fare se non va meglio?",
        "Heb al drie weken pijn in mijn rug en de dokter zegt dat het stress is. Wat moet ik doen?",
        "Od trzech tygodni boli mnie kręgosłup, a lekarz mówi, że to stres. Co mam robić, jak nie jest lepiej?",
        "背中が三週間ずっと痛くて、医者はストレスだと言います。どうすればいいですか。",
        "我的背痛了三个星期，医生说是压力造成的，我应该怎么办？",
        "ปวดหลังมาสามสัปดาห์แล้ว หมอบอกว่าเป็นความเครียด ควรทำอย่างไรดี",
    ],
)
def test_a_text_in_another_language_does_not_hide_among_english_ones(told: str) -> None:
    """All texts were judged together, and by words, of which some scripts have few."""
    english = "Thank you, I will ask them about that and then I will let you know what they have said to me. " * 6
    answers = [replace(one, text=english) for one in talk(8)]
    refused = ("not in English", "the rules that find identifiers read English")
    assert refusal_of_words(replace(POST, text=english), answers) is None
    assert refusal_of_words(replace(POST, text=told), answers) == refused
    own = next(at for at, one in enumerate(answers) if one.author == POST.author)
    answers[own] = replace(answers[own], text=told)
    assert refusal_of_words(replace(POST, text=english), answers) == refused


@pytest.mark.parametrize(
    "told",
    [
        "Current meds: lisinopril 10 mg once daily, metformin 500 mg twice daily, aspirin 81 mg, iron, 2000 IU D, PPI.",
        "41F, 5'4, 150 lbs. Chest pain, palpitations, dizziness. ECG normal, troponin negative, Holter normal.",
        "La Jolla, Los Angeles: de Quervain, café au lait spots, a bloc resection, then 20 mg po with food, ad lib.",
    ],
)
def test_a_list_of_tablets_is_english(told: str) -> None:
    english = "Thank you, I will ask them about that and then I will let you know what they have said to me. " * 6
    said = [replace(one, text=told) for one in talk(2)]
    assert refusal_of_words(replace(POST, text=english), said) is None


def test_bots() -> None:
    assert all(is_bot(name) for name in ("AutoModerator", "some-bot", "FactBot", "bot_9"))
    assert not any(is_bot(name) for name in ("abbott", "Bottle", "robotics_fan"))


def test_what_was_added_later_is_cut() -> None:
    assert without_later("It hurts.\n**EDIT 2:** solved\nthanks") == "It hurts."
    for added in ("It hurts. EDIT: it was a cyst.", "It hurts. **Edit 2:** thanks", "It hurts. (update: gone)"):
        assert without_later(added) == "It hurts.", "also in the same line"
    assert without_later("Edited by hand. It hurts.") == "Edited by hand. It hurts."
    assert without_later("He said the ETA: a week.") == "He said the ETA: a week."
    assert without_later("EDIT: all of it") == "EDIT: all of it"  # nothing would be left


def test_the_longest_chain_is_taken_and_the_earliest_of_equals() -> None:
    first, second = talk(8), talk(10, start=101)
    assert [one.id for one in longest_chain(POST, [*first, *second])] == [one.id for one in second]
    equal = talk(8, start=51)
    assert longest_chain(POST, [*equal, *first])[0].id == "c001"
    sooner = [replace(equal[0], created=0), *equal[1:]]
    assert longest_chain(POST, [*first, *sooner])[0].id == "c051"  # by time, not by id


def test_any_verified_clinician_may_go_on() -> None:
    assert len(longest_chain(POST, talk(8, doctors=3))) == 8


@pytest.mark.parametrize(
    "broken",
    [
        comment("c004", "c003", "asker", text="[deleted]"),
        comment("c004", "c003", "stranger", flair=""),
        comment("c004", "c003", "[deleted]"),
        comment("c004", "c003", "doc"),  # two clinicians in a row
        comment("c003", "c002", "[deleted]", "Physician"),
    ],
)
def test_what_breaks_a_chain(broken: Comment) -> None:
    turns = talk(8)
    turns[int(broken.id[1:]) - 1] = broken
    # From the fifth comment on a clinician and the poster alternate again.
    assert [one.id for one in longest_chain(POST, turns)] == ["c005", "c006", "c007", "c008"]


def test_a_ring_is_no_chain_and_two_branches_are_not_one() -> None:
    ring = [comment(f"c{n}", f"c{(n - 1) % 8}", "doc" if n % 2 else "asker") for n in range(8)]
    assert longest_chain(POST, ring) == []
    # The fourth turn and a fifth that both reply to the third: a chain goes through one of them.
    branch = talk(8)
    branch[4] = comment("c005", "c003", "asker")
    assert all(after.parent == before.id for before, after in pairwise(longest_chain(POST, branch)))
    assert len(longest_chain(POST, branch)) == 4


def test_a_bot_is_no_turn() -> None:
    turns = talk(8)
    turns[0] = comment("c001", "p", "HealthBot")
    assert longest_chain(POST, turns)[0].id == "c003"


def test_a_clinician_who_asks_is_the_poster() -> None:
    own = Post("p", "doc0", "34F", "I am a doctor myself.", 0, False, False, False)
    assert longest_chain(own, [comment("c001", "p", "doc0")]) == []


@settings(max_examples=150)
@given(st.data())
def test_a_chain_of_any_tangle_alternates_and_follows_replies(data: st.DataObject) -> None:
    """Replies may form circles, as forged ones can."""
    names = [f"c{number:03d}" for number in range(data.draw(st.integers(0, 12)))]
    comments = [
        comment(name, data.draw(st.sampled_from([*names, "p", "gone"])), data.draw(st.sampled_from(["doc", "asker"])))
        for name in names
    ]
    chain = longest_chain(POST, comments)
    assert len({one.id for one in chain}) == len(chain)
    assert all(after.parent == before.id for before, after in pairwise(chain))
    assert [one.author for one in chain] == (["doc", "asker"] * len(chain))[: len(chain)]
    if not any(one.parent in names for one in comments):
        assert len(chain) == min(1, sum(one.author == "doc" for one in comments))


def test_a_thread_as_deep_as_no_recursion_goes() -> None:
    assert len(longest_chain(POST, talk(5_000))) == 5_000
