"""Complaints by a model with named retries and by hand, the prompts, and temperaments."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from builders.threemdbench.complaints import Facts, authored_basic, authored_facts, basic_by_model, facts_by_model
from builders.threemdbench.prompts import read_prompts
from builders.threemdbench.steps import temperaments
from builders.threemdbench.validators import check_facts
from loaders.errors import InputError
from loaders.models.asking import Unfit
from loaders.models.messages import Answer, Message
from loaders.threemdbench import DIAGNOSES, NAMES, PERSONALITIES, diagnosis_of
from scripts.cli import execute
from tests.parts.photo_server import picture

STYE = diagnosis_of("stye")
assert STYE is not None
BASIC = "You have a sore lump on your eyelid."
GOOD = [
    "Your eyelid is red at the edge",
    "You noticed it three days ago.",
    "Your  pain is moderate when you blink.",
    "Your eye waters in the wind.",
    "You have no allergies that you know of.",
]
CLEAN = tuple(" ".join(fact.split()).rstrip(".") + "." for fact in GOOD)
PHOTO = picture()


class Model:
    """Answers in turn, the last one for ever; keeps what it was sent."""

    def __init__(self, *answers: object) -> None:
        self.answers = [answer if isinstance(answer, str) else json.dumps(answer) for answer in answers]
        self.asked: list[list[Message]] = []

    async def __call__(self, messages: Sequence[Message], attempt: int) -> Answer:
        assert attempt == len(self.asked)
        self.asked.append(list(messages))
        return Answer(self.answers[min(attempt, len(self.answers) - 1)], None, None, "stop")


def facts(*answers: object) -> tuple[Facts | Unfit, Model]:
    model = Model(*answers)
    found = facts_by_model(STYE, BASIC, PHOTO, model, name="org/model", prompts=read_prompts())
    return asyncio.run(found), model


def basic(*answers: object) -> tuple[str | Unfit, Model]:
    model = Model(*answers)
    return asyncio.run(basic_by_model(STYE, model, name="org/model", prompts=read_prompts())), model


# --- By a model -------------------------------------------------------------------------------------------------------


def test_facts_that_pass_at_once() -> None:
    found, model = facts({"complaints": GOOD})
    assert found == Facts(CLEAN, "accepted", "org/model")
    ((system, question),) = model.asked
    assert system.role == "system"
    assert question.images == (PHOTO,)
    assert BASIC in question.text
    assert "conjunctivitis, chalazion" in question.text


def test_the_failed_checks_are_named_in_the_retry() -> None:
    found, model = facts({"complaints": [*GOOD, "You have a stye."]}, {"complaints": GOOD})
    assert found == Facts(CLEAN, "repaired", "org/model")
    assert [message.role for message in model.asked[1]] == ["system", "user", "assistant", "user"]
    assert '- diagnosis: "You have a stye." names a diagnosis: "stye"' in model.asked[1][-1].text
    assert model.asked[1][-1].images == ()


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "Of course! You feel pain.",
        '{"complaints": ["You feel pain.", "You',
        {"complaints": []},
        {"complaints": "You feel pain."},
        {"complaints": [1, 2, 3, 4, 5]},
        {"complaint": "You feel pain."},
        {"complaints": GOOD[:3]},
        {"complaints": ["I hurt.", *GOOD]},
        {"complaints": [*GOOD, GOOD[0]]},
        {"complaints": ["{}", *GOOD]},
        "```json\n" + json.dumps({"complaints": GOOD}) + "\n```\nI hope this helps!",
    ],
)
def test_garbage_is_unfit_after_three_attempts(garbage: object) -> None:
    found, model = facts(garbage)
    assert isinstance(found, Unfit) and str(found).startswith("- ")
    assert len(model.asked) == 3


def test_the_basic_complaint_of_a_diagnosis() -> None:
    found, model = basic({"complaint": "You have a  sore lump on your eyelid"})
    assert found == BASIC
    assert model.asked[0][1].images == ()
    assert len(model.asked) == 1
    found, model = basic({"complaint": "You have a stye."}, {"complaint": BASIC})
    assert (found, len(model.asked)) == (BASIC, 2)


@pytest.mark.parametrize(
    "garbage", ["", "You hurt.", {"complaint": ""}, {"complaint": ["You hurt."]}, {"complaint": "I hurt."}]
)
def test_a_basic_complaint_that_cannot_be_used(garbage: object) -> None:
    found, _ = basic(garbage)
    assert isinstance(found, Unfit) and str(found).startswith("- ")


# --- By hand ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("diagnosis", DIAGNOSES, ids=lambda d: d.name)
def test_authored_complaints_pass_every_check(diagnosis: Any) -> None:
    said = authored_basic(diagnosis.name)
    for case in range(6):
        found = authored_facts(diagnosis.name, key=f"case {case}", seed=1)
        assert len(found) == 8
        assert check_facts(said, found) == []


def test_cases_differ_and_a_case_is_always_the_same() -> None:
    found = [authored_facts("stye", key=str(case), seed=1) for case in range(20)]
    assert len(set(map(tuple, found))) > 10
    assert authored_facts("stye", key="3", seed=1) == found[3]
    assert [authored_facts("stye", key=str(case), seed=2) for case in range(20)] != found


def test_what_another_basic_complaint_says_is_not_repeated() -> None:
    said = "You see a yellow point on the lump, and your eyelid is swollen."
    found = [authored_facts("stye", key=str(case), seed=1, basic=said) for case in range(10)]
    assert all(check_facts(said, one) == [] for one in found)
    assert not any("yellow point" in fact or "swollen" in fact for one in found for fact in one)


# --- Prompts ----------------------------------------------------------------------------------------------------------


def test_own_prompts_replace_the_shipped_ones(tmp_path: Path) -> None:
    (tmp_path / "basic.md").write_text("Say it: {{diagnosis}}", encoding="utf-8")
    own, shipped = read_prompts(tmp_path), read_prompts()
    assert own.fill("basic", {"diagnosis": "acne"}) == "Say it: acne"
    assert {name for name in own.digests if own.digests[name] != shipped.digests[name]} == {"basic"}


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("facts.md", b"{{diagnose}}", "unknown placeholder {{diagnose}}"),
        ("system.md", b"{{diagnosis}}", "unknown placeholder {{diagnosis}}"),
        ("facts.md", b"\xff\xfe", "is text in UTF-16, not UTF-8"),
        ("other.md", b"text", "no prompt text"),
    ],
)
def test_prompts_that_cannot_be_used(tmp_path: Path, name: str, data: bytes, found: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        read_prompts(tmp_path)
    assert error.value.found == found


@pytest.mark.parametrize("option", ["--prompts", "--timeout", "--concurrency"])
def test_what_only_a_model_heeds_is_refused_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    (tmp_path / "facts.md").write_text("Name facts of {{diagnosis}}.", encoding="utf-8")
    given = [option, str(tmp_path) if option == "--prompts" else "9"]
    assert execute(["build", "3mdbench", "--source", "sample", "--out", str(tmp_path / "out"), *given]) == 2
    assert option in (said := capsys.readouterr().err) and "no model is asked" in said


# --- Temperaments -----------------------------------------------------------------------------------------------------


def test_temperaments_are_balanced_in_every_class_and_over_all() -> None:
    cases = {f"{name} {i}": name for number, name in enumerate(NAMES) for i in range(number % 7)}
    found = temperaments(cases, seed=1)
    assert found.keys() == cases.keys()
    for name in NAMES:
        counts = Counter(found[key] for key, diagnosis in cases.items() if diagnosis == name)
        assert max(counts.values(), default=0) - min(counts[p] for p in PERSONALITIES) <= 1
    overall = Counter(found.values())
    assert max(overall.values()) - min(overall.values()) <= 1


def test_cases_keep_their_temperaments_when_others_come_and_go() -> None:
    cases = {f"{name} {i}": name for name in NAMES for i in range(5)}
    before = temperaments(cases, seed=1)
    now = {key: name for key, name in cases.items() if not key.endswith(" 3")} | {"new": "acne", "newer": "acne"}
    found = temperaments(now, seed=1, before=before)
    assert found.keys() == now.keys()
    assert all(found[key] == before[key] for key in now if key in before)
    counts = Counter(found[key] for key, diagnosis in now.items() if diagnosis == "acne")
    assert max(counts.values()) - min(counts[p] for p in PERSONALITIES) <= 1


def test_temperaments_depend_on_the_seed_and_not_on_order() -> None:
    cases = {str(i): "acne" for i in range(40)}
    found = temperaments(cases, seed=1)
    assert temperaments(dict(reversed(cases.items())), seed=1) == found
    assert temperaments(cases, seed=2) != found
