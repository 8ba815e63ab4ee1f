"""Profiles in and out of rows, the chart that cannot hold anything hidden, and the authors' release by field."""

from __future__ import annotations

import copy
import dataclasses
import json
import logging
import pickle
import pprint
import traceback
from pathlib import Path
from typing import Any, get_type_hints

import datasets
import pytest
from huggingface_hub import HfApi, constants
from pydantic import SecretStr
from rich.console import Console

from builders.samples.medconceal import profiles
from loaders.corpus import corpus, load
from loaders.errors import InputError
from loaders.medconceal import (
    CATEGORIES,
    CHARTS,
    ROLES,
    SCENARIOS,
    SPECIALTIES,
    SPECIALTY_CASES,
    TASKS,
    VALUES,
    Chart,
    PatientProfile,
    cases,
    chart,
    health_literacy,
    leaks,
    parse_profile,
    profile_of,
    row_of,
)
from loaders.medconceal_corpus import CORPUS, from_official
from tests.parts.faulty_hub import FaultyHub

CANARY = "CANARY-5521"
STEPS = ("category", "openness", "literacy")  # fields with a closed list of values


def row(number: int = 0) -> dict[str, Any]:
    return row_of(profiles()[number], author="synthetic", licence="CC0-1.0", attribution="Bedside")


def with_canaries() -> PatientProfile:
    """A profile whose every hidden text is a canary."""
    value = row()
    value["hidden"] = poisoned(value["hidden"])
    return profile_of(value)


def poisoned(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: poisoned(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [poisoned(inner, name) for inner in value]
    return f"{CANARY} {name}" if isinstance(value, str) and name not in STEPS else value


def test_facts_of_the_paper() -> None:
    assert len(CATEGORIES) == 4 and len(ROLES) == 26 and len(VALUES) == 5 and len(SCENARIOS) == 2
    assert len(SPECIALTY_CASES) == 22 and sum(SPECIALTY_CASES.values()) == 300
    assert set(SPECIALTY_CASES) < set(SPECIALTIES) and len(set(SPECIALTIES)) == 26
    unused = set(SPECIALTIES) - set(SPECIALTY_CASES)
    assert unused == {
        "Cardiothoracic Surgeon",
        "General Medical Doctor (non-specialist)",
        "Genetic Counselor",
        "Podiatrist / Chiropodist",
    }


def test_a_profile_survives_a_row() -> None:
    for profile in profiles():
        again = profile_of(row_of(profile, author="a", licence="l", attribution="b"))
        assert again == profile
    assert cases([row(0), row(1)]) == profiles()[:2]
    assert set(row()) == set(CORPUS.features)


def test_a_row_of_the_first_schema_has_nulls_for_what_was_not_asked_then() -> None:
    old = row()
    del old["hidden"]["roleplay"]["openness"], old["hidden"]["roleplay"]["literacy"]
    for concern in old["hidden"]["hidden_concerns"]:
        del concern["depth"], concern["topics"]
    found = profile_of(CORPUS.migrations[0](old))
    assert CORPUS.schema_version == 2 and found.roleplay.openness is None
    assert {(concern.depth, concern.topics) for concern in found.hidden_concerns} == {(None, ())}
    assert found.health_literacy == "ordinary"


@pytest.mark.parametrize("task", TASKS)
def test_a_chart_holds_what_clinicians_see(task: str) -> None:
    profile = profiles()[0]
    shown = chart(profile, task)  # type: ignore[arg-type]
    assert shown.age == profile.demographics.age and shown.background == profile.demographics.background
    assert (shown.recommended_plan is None) == (task == "confirmation")
    assert (shown.original_preference is None) == (task == "confirmation")
    headings = [heading for heading, _ in shown.lines()]
    assert headings[:3] == ["Patient", "Reason for the encounter", "Medical and surgical history"]
    assert len(headings) == (3 if task == "confirmation" else 5)


def test_a_task_misspelt_has_no_chart() -> None:
    with pytest.raises(InputError, match="^task: 'Intervention' .expected confirmation or intervention"):
        chart(profiles()[0], "Intervention")  # type: ignore[arg-type]


def test_rows_of_the_config_without_hidden_parts_are_told_from_others() -> None:
    row = row_of(profiles()[0], author="a", licence="CC0-1.0", attribution="b")
    with pytest.raises(InputError, match='take the config "cases": "charts" lacks what is hidden'):
        cases([{name: value for name, value in row.items() if name != "hidden"}])


@pytest.mark.parametrize("rows", [{"test": []}, [None], "text"])
def test_what_is_no_row_is_told(rows: Any) -> None:
    with pytest.raises(InputError, match="in place of a row"):
        cases(rows)


def test_a_chart_has_no_place_for_anything_hidden() -> None:
    shown = chart(profiles()[0], "intervention")
    assert SecretStr not in get_type_hints(Chart).values()
    for name in ("adherence_behavior", "hidden_concerns", "name", "education", "psychosocial"):
        with pytest.raises((AttributeError, TypeError, dataclasses.FrozenInstanceError)):
            setattr(shown, name, "x")
        with pytest.raises(TypeError):
            Chart(**dataclasses.asdict(shown), **dict[str, Any]({name: "x"}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        shown.background = "x"  # type: ignore[misc]


def test_no_canary_reaches_a_chart_or_a_print() -> None:
    profile = with_canaries()
    console = Console(width=200)
    with console.capture() as capture:
        console.print(profile, profile.psychosocial, profile.hidden_concerns)
    shown = [
        repr(profile),
        str(profile),
        f"{profile}",
        f"{profile.hidden_concerns[0]} {profile.demographics!r} {profile.roleplay} {profile.hidden_concerns}",
        pprint.pformat(profile),
        profile.model_dump_json(),
        str(profile.model_dump()),
        json.dumps(profile.model_dump(mode="json")),
        capture.get(),
        *(repr(chart(profile, task)) + str(chart(profile, task).lines()) for task in TASKS),
    ]
    assert not any(CANARY in text for text in shown)
    # And it is there for whoever asks for it by name.
    assert CANARY in profile.hidden_concerns[0].content.get_secret_value()
    assert pickle.loads(pickle.dumps(profile)) == profile


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("hidden", "hidden_concerns", 0, "category"), CANARY),
        (("hidden", "hidden_concerns", 0, "confidence"), CANARY),
        (("hidden", "hidden_concerns", 0, "evidence"), []),
        (("hidden", "hidden_concerns"), []),
        (("hidden", "primary_concern"), 99),
        (("hidden", "primary_concern"), len(row()["hidden"]["hidden_concerns"])),  # they count from 0
        (("hidden", "psychosocial", "personality"), 7),
        (("hidden", "roleplay"), CANARY),
        (("chart", "age"), 121),
        (("specialty",), CANARY),
        (("scenarios",), [CANARY]),
        (("hidden",), None),
    ],
)
def test_errors_name_fields_and_never_values(
    path: tuple[Any, ...], wrong: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    value = row()
    value["hidden"] = poisoned(value["hidden"])
    place: Any = value
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong
    with pytest.raises(InputError, match="case 'synthetic-asthma-inhaler'") as caught:
        profile_of(value)
    told = "".join(traceback.format_exception(caught.value))
    assert CANARY not in told and CANARY not in caplog.text


@pytest.mark.parametrize(
    "field",
    [
        *("sex", "background", "admission_reason", "medical_surgical_history"),
        *("original_preference", "recommended_plan"),
    ],
)
def test_a_chart_that_repeats_a_concern_is_refused_without_telling_it(field: str) -> None:
    value = row()
    secret = value["hidden"]["hidden_concerns"][1]["content"]
    value["intervention" if field in value["intervention"] else "chart"][field] = f"She says: {secret.upper()}"
    profile = profile_of(value)
    assert leaks(profile) == [field]
    with pytest.raises(InputError, match=f"{field} repeats a hidden concern") as caught:
        chart(profile, "confirmation")
    assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("concern", "shown", "leaking"),
    [
        ("Afraid of needles", "A teacher, afraid of needles since school.", True),
        ("He cannot afford this medicine", "Says he cannot afford this medicine; lives alone.", True),
        ("Afraid of needles", "A teacher, afraid of dogs. Needles are no problem.", False),
        ("Blood tests", "Blood tests last week were normal.", False),
        ("Cost", "Asks about the cost.", False),
        ("Her late mother lost all her hair to this drug", "Saw how a mother lost all her hair to it.", True),
        (
            "Her late mother lost all her hair to this drug",
            "Says: mother lost all her hair.",
            False,
        ),  # five words of ten
    ],
)
def test_a_short_concern_is_given_away_whole(concern: str, shown: str, leaking: bool) -> None:
    value = row()
    for field in ("content", "evidence"):
        hidden = copy.deepcopy(value)
        hidden["chart"]["background"] = shown
        hidden["hidden"]["hidden_concerns"][1][field] = concern if field == "content" else [concern]
        assert leaks(profile_of(hidden)) == ["background"] * leaking


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("Primary school", "plain"),
        ("Some high school", "plain"),
        ("High school diploma", "plain"),
        ("Mother: high school diploma", "plain"),
        ("Vocational training", "ordinary"),
        ("Bachelor's degree", "ordinary"),
        ("", "ordinary"),
        ("Graduate degree", "technical"),
        ("Registered nurse", "technical"),
        ("Doctorate", "technical"),
        ("Undergraduate degree in business", "ordinary"),
        ("Bachelor's degree, managed a restaurant", "ordinary"),
        ("College; engaged in adult education", "ordinary"),
        ("Ran a nursery; some college", "ordinary"),
        ("Post-secondary school", "ordinary"),
        ("Primary care nurse", "technical"),
        ("GED", "plain"),
    ],
)
def test_health_literacy(said: str, level: str) -> None:
    assert health_literacy(said) == level
    told = row()
    told["hidden"]["education"] = said
    for stated, meant in ((None, level), ("technical", "technical")):  # what is stated overrules the schooling
        told["hidden"]["roleplay"]["literacy"] = stated
        assert profile_of(told).health_literacy == meant


# --- The authors' release ---------------------------------------------------------------------------------------------


def official(nested: bool = True) -> dict[str, Any]:
    """What a row of the authors' release may look like: blocks as Appendix C.3 prints them."""
    value = row()
    hidden, shown = value["hidden"], value["chart"]
    blocks = {
        "demographics": {
            **{name: shown[name] for name in ("age", "sex", "background")},
            **{name: hidden[name] for name in ("name", "marital_status", "education")},
        },
        "clinical": {
            "admission_reason": shown["admission_reason"],
            "adherence_behavior": hidden["adherence_behavior"],
            "medical_surgical_history": shown["medical_surgical_history"],
        },
        "psychosocial": hidden["psychosocial"],
        "intervention": {**value["intervention"], "primary_concern": hidden["hidden_concerns"][1]["content"]},
        "roleplay": hidden["roleplay"],
        "self_management_domains": hidden["self_management_domains"],
    }
    flat = {"hidden_concerns": hidden["hidden_concerns"], "specialty": "Other Specialist Doctor", "case_id": "case_7"}
    if nested:
        return {**flat, **blocks}
    return {**flat, **{name: inner for block in blocks.values() for name, inner in block.items()}}


@pytest.mark.parametrize("shape", ["nested", "flat", "json", "capitals"])
def test_an_official_row_is_read_in_any_shape(shape: str) -> None:
    value = official(nested=shape != "flat")
    if shape == "json":
        value = {"profile": json.dumps(value)}
    if shape == "capitals":
        value = {name.replace("_", " ").title(): inner for name, inner in value.items()}
    found = profile_of(from_official(value, split="test", position=0))
    expected = profiles()[0]
    assert found.case_id == "case_7" and found.specialty == "Unmapped medical specialty"
    assert [c.content for c in found.hidden_concerns] == [c.content for c in expected.hidden_concerns]
    assert found.primary_concern.content == expected.hidden_concerns[1].content
    assert found.demographics == expected.demographics and found.clinical == expected.clinical


def test_what_a_row_does_not_state_is_not_assumed() -> None:
    read = from_official(official(), split="test", position=0)
    assert (read["licence"], read["synthetic"], read["rarity"], read["scenarios"]) == ("unknown", False, None, [])
    stated = {"licence": "CC BY 4.0", "synthetic": True, "rarity": 0.0, "author": "Dr Own"}
    read = from_official({**official(), **stated}, split="test", position=0)
    assert stated.items() <= read.items()


@pytest.mark.parametrize(
    ("told", "said"), [("Yes", True), ("no", False), (1.0, True), (0, False), ("TRUE", True), (" ", False)]
)
def test_synthetic_is_read_as_people_write_it(told: object, said: bool) -> None:
    assert from_official({**official(), "synthetic": told}, split="test", position=0)["synthetic"] is said


@pytest.mark.parametrize("told", ["wahr", 7, ["yes"]])
def test_synthetic_is_yes_or_no(told: object) -> None:
    with pytest.raises(InputError, match="synthetic that is neither yes nor no .expected yes or no"):
        from_official({**official(), "synthetic": told}, split="test", position=0)


def test_everything_missing_is_reported_at_once_without_values() -> None:
    value = poisoned(official())
    del value["roleplay"], value["clinical"]["adherence_behavior"]
    value["hidden_concerns"] = [{"content": CANARY}]
    with pytest.raises(InputError) as caught:
        from_official(value, split="train", position=3)
    told = str(caught.value)
    assert told.startswith("Eclipse42/MedConceal: row 4 of train: lacks ")
    for name in ("roleplay.response_style", "clinical.adherence_behavior", "hidden_concerns.category", "evidence"):
        assert name in told
    assert "demographics.name" in told  # what it does hold
    assert CANARY not in told


def test_the_official_release_loads_from_the_hub_or_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets-cache")
    with FaultyHub() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        HfApi(endpoint=hub.url, token=hub.token).create_repo("Eclipse42/MedConceal", repo_type="dataset")
        for number, (rows, lacking) in enumerate(
            (([official(), official()], None), ([{**official(), "roleplay": None}], "roleplay.response_style"))
        ):
            path = tmp_path / f"{number}.parquet"
            datasets.Dataset.from_list(rows).to_parquet(path)
            commit = hub.commit("Eclipse42/MedConceal", {"data/test-00000-of-00001.parquet": path.read_bytes()})
            if lacking is None:
                loaded = load("medconceal", "test", source="official", revision=commit)
                assert loaded.features == CORPUS.features and len(cases(loaded)) == 2
            else:
                with pytest.raises(InputError, match=f"row 1 of test: lacks {lacking}"):
                    load("medconceal", "test", source="official", revision=commit)


def test_the_corpus_is_registered() -> None:
    known = corpus("medconceal")
    assert known.features is CORPUS.features and known.key == "case_id"
    assert "hidden" not in CHARTS and set(CHARTS) < set(CORPUS.features)


def test_a_profile_needs_all_blocks() -> None:
    with pytest.raises(InputError, match="demographics: Field required"):
        parse_profile({"case_id": "x"}, "here")
