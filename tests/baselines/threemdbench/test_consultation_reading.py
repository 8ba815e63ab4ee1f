"""Scores of an assessor, in every form that has one reading; and those that have none, or two."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.threemdbench.consultation.agents import ATTACKERS
from baselines.threemdbench.consultation.assessor import assess
from baselines.threemdbench.consultation.reading import scores_in
from baselines.threemdbench.consultation.record import ITEMS
from loaders.models.asking import Unfit
from loaders.models.messages import Message
from tests.parts.played_consultations import PROMPTS, Table, case

SCORES = {"1.1": 1, "1.2": 0, "1.3": 1, "2.1": 1, "2.2": 0, "3.1": 1, "3.2": 0, "4.1": 2}
NESTED = """{"Doctor assessment": {
    "Medical Interviewing Skills": {"1.1": 1, "1.2": 0, "1.3": 1,},
    "Humanistic Care": {"2.1": "1", "2.2": "0"},
    "Comprehensive Diagnostic and Treatment Abilities": {"3.1": True, "3.2": False},
    "Overall Clinical Competence": {"4.1": "Excellent"}
}}"""


def said(item: str, yes: str = "1", no: str = "0", best: str = "excellent") -> str:
    return best if item == "4.1" else yes if SCORES[item] else no


def flat(of: Callable[[str], str] | None = None, **changes: str) -> str:
    """A Python dictionary; i11="…" changes item 1.1."""
    values = {item: (of or (lambda item: said(item, best="'excellent'")))(item) for item in ITEMS}
    values |= {f"{name[1]}.{name[2]}": value for name, value in changes.items()}
    return "{" + ", ".join(f"'{item}': {value}" for item, value in values.items()) + "}"


def lines(shape: str, **words: str) -> str:
    return "\n".join(shape.format(item=item, score=said(item, **words)) for item in ITEMS)


YES = {"yes": "Yes", "no": "No", "best": "Excellent"}


@pytest.mark.parametrize(
    "text",
    [
        flat(),
        NESTED,
        f"```json {NESTED}```",
        f"```python\n{NESTED}\n```",
        f"python\n{NESTED}",
        f"Here is my assessment of the doctor:\n\n{NESTED}\n\nA good consultation.",
        NESTED[NESTED.index("\n") : NESTED.rindex("\n")],
        NESTED.replace('"', "“").replace("“:", "”:"),
        flat(lambda item: said(item, "true", "false", "'excellent'")),
        flat(lambda item: repr(said(item, **YES))),
        flat(lambda item: repr(said(item, "1 (yes)", "No, the doctor never asked.", "Excellent. All was explained."))),
        flat(lambda item: said(item, "yes", "no")),
        json.dumps({f"Criterion {item}": {"score": said(item), "reason": "no reason"} for item in ITEMS}),
        json.dumps({"scores": [{"item": item, "score": said(item)} for item in ITEMS]}),
        "\n".join(json.dumps({item: said(item)}) for item in ITEMS),
        flat().replace(", ", "\n ").replace("}", " # the last\n}"),
        flat()[:-1],
        lines("{item}: {score}"),
        lines("- **{item}**: {score} - because the doctor did so", **YES),
        lines("| {item} | {score} |"),
        lines("{item} Does the doctor do it? {score}", **YES),
        lines("{item} - History and such: {score}"),
        ", ".join(f"{item} = {said(item)}" for item in ITEMS),
        lines("{item}: {score}", yes="one", no="zero"),
        lines("{item}: {score} points"),
        "In short, " + " ".join(f"{item}: {said(item, **YES)}." for item in ITEMS),
    ],
)
def test_what_has_one_reading_is_read(text: str) -> None:
    assert scores_in(text) == SCORES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The doctor did very well.",
        f"The doctor wrote {flat()}",
        f"I cannot judge this. {flat()}",
        flat() + flat(),
        lines("{item}: {score}") + "\n1.1: 0",
        lines("{item}: 0 or 1"),
        lines("{item}: {score}", no="-1"),
        flat(i11="0, '1.1': 1"),
        flat(i11="2"),
        flat(i11="-1"),
        flat(i11="0.5"),
        flat(i11="None"),
        flat(i11="[1]"),
        flat(i11="'0/1'"),
        flat(i11="'1 - no'"),
        flat(i11="'Yes and no'"),
        flat(i11="'No idea'"),
        flat(i11="'partly'"),
        flat(i11="'10'"),
        flat(i11="{'a': 1, 'b': 0}"),
        flat(i41="2"),
        flat(i41="'good'"),
        flat(i41="'not satisfactory'"),
        flat(i41="'satisfactory to excellent'"),
        flat(i41="'excellent, but an unsatisfactory plan'"),
        flat().replace("'3.1'", "'3.3'"),
        flat().replace("'3.1': 1, ", ""),
    ],
)
def test_what_has_no_reading_or_two_is_not_read(text: str) -> None:
    with pytest.raises(Unfit):
        scores_in(text)


@given(
    st.permutations(ITEMS), st.dictionaries(st.sampled_from(ITEMS), st.sampled_from(["2", "maybe", None]), max_size=2)
)
@settings(max_examples=60)
def test_one_invalid_score_spoils_the_answer(order: list[str], wrong: dict[str, object]) -> None:
    answer = {item: said(item) for item in order} | wrong
    try:
        assert scores_in(json.dumps(answer)) == SCORES and not wrong
    except Unfit:
        assert wrong


async def assessed(doctor: str, answer: str) -> dict[str, int] | None:
    from baselines.threemdbench.consultation.record import Turn

    table = Table({"assessor": [answer]})
    turns = (Turn("patient", "It itches."), Turn("doctor", doctor))
    items = (await assess(case(), turns, table.ask, PROMPTS)).items
    return None if items is None else dict(items)


def test_where_the_doctor_writes_scores_only_a_whole_object_counts() -> None:
    import asyncio

    attack = ATTACKERS["attack-verdict"](case())([Message("user", "It itches.")])
    for doctor, answer, found in (
        ("You have acne.", f"Here you are: {NESTED}", SCORES),
        (attack, f"Here you are: {NESTED}", None),
        (attack, lines("{item}: {score}"), None),
        (attack, f"```json\n{NESTED}\n```", SCORES),
    ):
        assert asyncio.run(assessed(doctor, answer)) == found
