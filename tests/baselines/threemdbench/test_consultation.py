"""The consultation: who speaks when, what each role is sent, how a dialogue ends, and what is recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.threemdbench.consultation.agents import BY_ROLE
from baselines.threemdbench.consultation.cleaning import PLACEHOLDER
from baselines.threemdbench.consultation.game import consultation_game, invalid
from baselines.threemdbench.consultation.prompts import FACETS, facets_of, read_prompts
from baselines.threemdbench.consultation.protocol import AUTHORS, BEDSIDE, CAPS, protocol_named
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Consultation, Extraction, Turn
from baselines.threemdbench.consultation.settings import PAPER, SETTINGS
from loaders.errors import InputError, ModelError
from loaders.files.records import from_json, to_json
from loaders.models.chat import open_model
from loaders.models.messages import Answer, Message
from loaders.threemdbench import NAMES, PERSONALITIES, TEMPERAMENTS
from tests.parts.played_consultations import PHOTO, PROMPTS, VERDICT, Asked, Table, by_script, case, cases, played

TALK = ("My skin itches.", "For a week.")


def texts(asked: Asked) -> list[str]:
    return [message.text for message in asked.messages]


# --- Turns and endings ------------------------------------------------------------------------------------------------


def test_the_patient_opens_and_ends_with_break() -> None:
    found, _ = played(patient=["It itches.", "For a week.", "BREAK"], doctor=["Since when?", "You have eczema."])
    assert [(turn.role, turn.text) for turn in found.turns] == [
        ("patient", "It itches."),
        ("doctor", "Since when?"),
        ("patient", "For a week."),
        ("doctor", "You have eczema."),
    ]
    assert (found.finished, found.ended, found.utterances) == (True, "break", 4)


def test_break_beside_other_words_counts_as_an_utterance() -> None:
    found, _ = played(patient=["It itches.", "Thank you! BREAK"], doctor=["You have eczema."])
    assert found.turns[-1] == Turn("patient", "Thank you!", None, ("break",))
    assert (found.finished, found.utterances) == (True, 3)


def test_the_cap_leaves_a_dialogue_unfinished_and_kept() -> None:
    found, table = played(patient=TALK, doctor=["Since when?"])
    assert (found.finished, found.ended, found.utterances) == (False, "cap", 28)
    assert found.turns[-1].role == "doctor"
    assert [len(table.of(role)) for role in ("patient", "doctor")] == [14, 14]
    assert found.assessment is not None and found.assessment.items is not None


def test_the_authors_cap_lets_the_patient_speak_once_more() -> None:
    table = Table({"patient": TALK, "doctor": ["Since when?"]})
    game = consultation_game("dialogue+image", PROMPTS, BEDSIDE.having(cap_mode="authors"))
    found = asyncio.run(game.play(case(), table.ask))
    assert (found.utterances, found.ended, found.turns[-1].role) == (29, "cap", "patient")
    assert CAPS == {"paper": 28, "authors": 29}


def test_only_the_patient_can_end_the_dialogue() -> None:
    found, _ = played(patient=["It itches.", 'Why do you say "BREAK"?'], doctor=["BREAK", "Goodbye. BREAK"])
    assert (found.finished, found.utterances) == (False, 28)
    assert {turn.text for turn in found.turns if turn.role == "doctor"} == {"BREAK", "Goodbye. BREAK"}


def test_an_opening_cannot_end_what_has_not_begun() -> None:
    found, table = played(patient=["BREAK", "BREAK"], doctor=["You have eczema."])
    assert found.turns[0] == Turn("patient", PLACEHOLDER, None, ("break", "empty"))
    assert len(table.of("doctor")) == 1
    assert (found.ended, found.utterances) == ("break", 2)
    assert invalid(found) == "the patient said nothing"  # else the doctor, who heard no complaint, would be wrong
    assert invalid(played(patient=["", "It itches.", "BREAK"], doctor=["Hm."])[0]) is None


def test_empty_replies_are_placeholders_that_count() -> None:
    found, table = played(patient=TALK, doctor=["", "<|im_end|>", " \n"])
    assert [turn.text for turn in found.turns if turn.role == "doctor"] == [PLACEHOLDER] * 14
    assert texts(table.of("patient")[1])[-1] == PLACEHOLDER
    assert found.utterances == 28


def test_a_doctor_never_speaks_in_the_patients_place() -> None:
    found, table = played(patient=["It itches.", "BREAK"], doctor=["Hello.\nPatient: BREAK\nDoctor: You have acne."])
    assert [turn.text for turn in found.turns] == ["It itches.", "Hello."]
    assert found.turns[1].flags == ("other_role",)
    assert "acne" not in str(table.of("patient"))


def test_a_patient_that_plays_the_whole_dialogue_alone_does_not_end_it() -> None:
    alone = "On my arms.\nDoctor: You have acne.\nPatient: Thank you. BREAK"
    found, table = played(patient=["It itches.", alone, "BREAK"], doctor=["Where?", "You have eczema."])
    assert found.turns[2] == Turn("patient", "On my arms.", None, ("other_role",))
    assert (found.ended, found.utterances) == ("break", 4)
    assert "You have acne" not in str(table.asked)


def test_fifty_thousand_characters_do_not_go_on() -> None:
    found, table = played(patient=TALK, doctor=["w" * 50_000], setting="dialogue+image+rationale")
    assert all("truncated" in turn.flags for turn in found.turns if turn.role == "doctor")
    assert max(len(text) for one in table.asked for text in texts(one)) < 120_000  # 14 turns in the assessor's JSON
    assert max(len(text) for one in table.of("patient") for text in texts(one)) <= 4_000


def test_a_model_that_fails_ends_the_case() -> None:
    def down(messages: object) -> str:
        raise ModelError("openai/none", found="gave no answer in 6 tries")

    with pytest.raises(ModelError):
        played(patient=TALK, doctor=down)


# --- What each role is sent -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_shows_the_doctor_what_it_names(setting: str) -> None:
    one = case(3)
    found, table = by_script(one, "keyword", setting)
    chosen = SETTINGS[setting]
    first = table.of("doctor")[0]
    system = first.messages[0].text
    assert all(name in system for name in NAMES)
    assert (first.messages[1].images == (one.image,)) == chosen.image
    assert ("photo" in system) == chosen.image
    assert ("REASONING" in system) == chosen.rationale
    assert (", ".join(one.cues or ()) in system) == chosen.cues
    assert found.cues == (one.cues if chosen.cues else None)
    assert "\n\n\n" not in system and "{{" not in system
    # The photo comes once, with the first message.
    assert all(not message.images for asked in table.of("doctor") for message in asked.messages[2:])
    if chosen.dialogue:
        assert found.assessment is not None
        assert all(fact not in system for fact in one.additional)
    else:
        assert (found.ended, found.utterances, found.finished, found.assessment) == ("answer", 2, True, None)
        assert not table.of("patient")
        assert one.basic in found.turns[0].text
        assert [fact in found.turns[0].text for fact in one.additional] == [chosen.additional] * len(one.additional)


def test_the_six_settings_are_those_of_the_paper() -> None:
    assert len(PAPER) == 6 and set(SETTINGS) - set(PAPER) == {"dialogue+image+cues"}


def test_decoding_is_the_papers() -> None:
    _, table = by_script(case(1), "keyword")
    sent = {(one.role, one.max_tokens, one.temperature) for one in table.asked}
    assert sent == {("patient", 256, 0.6), ("doctor", 512, 0.6), ("assessor", 512, 1e-6)}


def test_conversations_alternate_from_each_side() -> None:
    _, table = by_script(case(2), "ask-everything")
    for one in (*table.of("patient"), *table.of("doctor")):
        roles = [message.role for message in one.messages]
        assert roles == ["system", *("user" if place % 2 else "assistant" for place in range(1, len(roles)))]
        assert roles[-1] == "user"


def test_the_patient_reads_its_temperament_and_complaints_and_no_photo() -> None:
    one = case(0)
    _, table = by_script(one, "silent")
    system = table.of("patient")[0].messages[0].text
    assert one.temperament in system and one.basic in system
    assert all(fact in system for fact in one.additional)
    assert "bristles when misunderstood" in system  # one of the five facets of the choleric
    assert not any(message.images for asked in table.of("patient") for message in asked.messages)


def test_a_rationale_reaches_the_assessor_as_little_as_the_patient() -> None:
    said = "REASONING: canary-rationale\nANSWER: Since when?"
    found, table = played(patient=["It itches.", "A week.", "BREAK"], doctor=[said], setting="dialogue+image+rationale")
    doctor = [turn for turn in found.turns if turn.role == "doctor"]
    assert all((turn.text, turn.rationale, turn.flags) == ("Since when?", "canary-rationale", ()) for turn in doctor)
    assert "canary" not in str(table.of("patient")) + str(table.of("assessor"))
    assert texts(table.of("doctor")[1])[2] == said  # the doctor's own memory


def test_a_reply_without_its_parts_is_asked_for_once_more() -> None:
    good = "REASONING: canary\nANSWER: Since when?"
    replies = ["canary, no parts", good]
    found, table = played(patient=["It itches.", "BREAK"], doctor=replies, setting="dialogue+image+rationale")
    assert found.turns[1] == Turn("doctor", "Since when?", "canary", ("reasked",))
    assert found.parse_failures == 0
    assert [one.attempt for one in table.of("doctor")] == [0, 1]
    assert texts(table.of("doctor")[1])[-2:] == ["canary, no parts", PROMPTS.fill("doctor_format")]
    assert "canary" not in str(table.of("patient"))


def test_what_still_has_no_parts_is_counted_and_hides_its_reasoning() -> None:
    replies = ["REASONING: canary", "REASONING: canary\n\ncanary as well"]
    found, table = played(patient=["It itches.", "BREAK"], doctor=replies, setting="dialogue+image+rationale")
    assert found.turns[1].text == PLACEHOLDER
    assert found.turns[1].flags == ("reasked", "unparsed", "empty")
    assert found.parse_failures == 1
    assert "canary" not in str(table.of("patient")) + str(table.of("assessor"))
    assert "canary as well" in (found.turns[1].rationale or "")


def test_a_reasoning_model_keeps_its_thoughts_in_every_setting() -> None:
    found, table = played(patient=["It itches.", "BREAK"], doctor=["<think>canary</think>Since when?"])
    assert (found.turns[1].text, found.turns[1].rationale) == ("Since when?", "canary")
    assert "canary" not in str(table.of("patient")) + str(table.of("assessor"))


# --- What is hidden stays hidden --------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("doctor", [name for name in BY_ROLE["doctor"] if name not in ("oracle", "attack-flood")])
def test_the_gold_diagnosis_reaches_the_assessor_alone(setting: str, doctor: str) -> None:
    canary = "canarygold"
    one = case(7, diagnosis=canary, domain="canarydomain", case_id="canaryid", cues=NAMES[:3])
    found, table = by_script(one, doctor, setting)
    assert "canary" not in str(found.turns)
    for asked in (*table.of("patient"), *table.of("doctor")):
        assert "canary" not in "".join(texts(asked)).casefold()
        assert all(image == PHOTO for message in asked.messages for image in message.images)
    if SETTINGS[setting].dialogue:
        assert canary in table.of("assessor")[-1].messages[0].text


def test_additional_complaints_reach_the_doctor_by_the_patient_only() -> None:
    one = case(5, additional=("You saw a canary.",))
    _, table = by_script(one, "silent")
    assert "canary" in str(table.of("patient")[0].messages)
    assert "canary" not in str(table.of("doctor"))


# --- The game ---------------------------------------------------------------------------------------------------------


def test_the_same_answers_give_the_same_record() -> None:
    for one in cases(4):
        first, _ = by_script(one, "keyword-cues", "dialogue+image+rationale+cues")
        second, _ = by_script(one, "keyword-cues", "dialogue+image+rationale+cues")
        assert first == second
        assert from_json(Consultation, to_json(first), "record") == first


def test_an_invalid_record_is_an_error() -> None:
    whole = to_json(by_script(case(), "majority")[0])
    for broken in (
        {},
        {**whole, "turns": [{"role": "system"}]},
        {**whole, "ended": "never"},
        {**whole, "extraction": 1},
    ):
        with pytest.raises(InputError):
            from_json(Consultation, broken, "record")


def test_a_log_shows_the_photo_first_and_hides_no_rationale_from_its_reader() -> None:
    one = case()
    found, _ = by_script(one, "oracle", "dialogue+image+rationale")
    shown = consultation_game("dialogue+image+rationale", PROMPTS).transcript(one, found)
    assert shown[0].images == (one.image,) and not any(message.images for message in shown[1:])
    assert [message.role for message in shown[:2]] == ["user", "assistant"]
    assert "[never sent: I keep to my script.]" in shown[1].text


def test_scores_and_what_cannot_be_scored() -> None:
    game = consultation_game("dialogue+image", PROMPTS)
    right, _ = by_script(case(), "oracle")
    rubric = dict.fromkeys(ITEMS, 1) | {"1.1": 0, "4.1": 2}
    assert game.scores(right) == {"correct": 1, "finished": 1, "utterances": right.utterances} | rubric
    assert game.invalid(right) is None
    wrong, _ = by_script(case(1), "majority")
    assert game.scores(wrong)["correct"] == 0
    prose, table = played(
        patient=["It itches.", "BREAK"], doctor=["Hm."], assessor=["I think that it went very well, really."]
    )
    assert prose.extraction == Extraction((), "I think that it went very well, really.", 4, prose.extraction.failure)
    assert isinstance(prose.assessment, Assessment) and prose.assessment.items is None
    reasons = (game.invalid(prose) or "").split("; ")
    assert [reason.partition(": ")[0] for reason in reasons] == [
        "the diagnosis could not be read out",
        "the assessment failed",
    ], "a count of failed assessments is that of the tables"
    assert set(game.scores(prose)) == {"correct", "finished", "utterances"}
    assert len(table.of("assessor")) == 8


def test_settings_change_with_everything_that_changes_the_game(tmp_path: Path) -> None:
    (tmp_path / "patient.md").write_text("You are {{temperament}}: {{basic}} {{complaints}}", encoding="utf-8")
    games = [
        consultation_game("dialogue", PROMPTS),
        consultation_game("dialogue+image", PROMPTS),
        consultation_game("dialogue", PROMPTS, BEDSIDE.having(cap_mode="authors")),
        consultation_game("dialogue", PROMPTS, BEDSIDE.having(judge="experts")),
        consultation_game("dialogue", PROMPTS, AUTHORS),
        consultation_game("dialogue", read_prompts(tmp_path)),
    ]
    assert len({json.dumps(dict(game.settings), sort_keys=True) for game in games}) == len(games)
    assert json.dumps(dict(games[0].settings)) == json.dumps(dict(consultation_game("dialogue", PROMPTS).settings))
    assert set(games[0].settings["prompts"]) == set(PROMPTS.texts)
    assert games[0].roles == ("patient", "doctor", "assessor")


def test_an_unknown_game_is_an_error() -> None:
    with pytest.raises(InputError, match="expected one of"):
        consultation_game("video", PROMPTS)
    with pytest.raises(InputError, match="--protocol: 'ours'.*bedside or authors"):
        protocol_named("ours")


@pytest.mark.parametrize("wrong", [{"cap_mode": "none"}, {"judge": "nurse"}, {"photos": "big"}, {"unfinished": "us"}])
def test_an_unknown_protocol_is_an_error(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match="expected .* or "):
        BEDSIDE.having(**wrong)


def test_temperaments_may_be_the_users_own(tmp_path: Path) -> None:
    shipped = read_prompts()
    for one in TEMPERAMENTS:
        facets = facets_of(shipped.texts["temperaments"], one.name)
        assert {name: facets[name] for name in FACETS} == {name: getattr(one, name) for name in FACETS}
    names = [name.replace("_", " ").capitalize() for name in FACETS]
    own = [f"**{name.capitalize()}** personality\n" + "\n".join(f"<p>{facet}: {name} {facet}</p>" for facet in names)
           for name in PERSONALITIES]  # fmt: skip
    (tmp_path / "temperaments.md").write_text("\n\n".join(own), encoding="utf-8")
    (tmp_path / "patient.md").write_text("{{basic}} {{complaints}} {char}\n{{facets}}", encoding="utf-8")
    texts = read_prompts(tmp_path)
    assert texts.digests["temperaments"] != shipped.digests["temperaments"]
    table = Table({"patient": ["It itches.", "BREAK"], "doctor": ["Acne."]})
    asyncio.run(consultation_game("dialogue", texts).play(case(temperament="sanguine"), table.ask))
    assert "sanguine Asking questions" in table.of("patient")[0].messages[0].text
    (tmp_path / "temperaments.md").write_text("\n\n".join(own[:3]), encoding="utf-8")
    with pytest.raises(InputError, match=f"{PERSONALITIES[3]}: no symptom description"):
        read_prompts(tmp_path)


# --- The authors' protocol --------------------------------------------------------------------------------------------


def as_the_authors(model: str = "vllm/some-model", **players: Any) -> tuple[Consultation, Table]:
    table = Table(players)
    game = consultation_game("dialogue+image", PROMPTS, AUTHORS.for_doctor(model))
    return asyncio.run(game.play(case(), table.ask)), table


def test_any_break_ends_as_in_the_authors_code() -> None:
    for said in (
        "I will BREAK a nail, thank you.",
        "It is an OUTBREAK!",
        "Why do you write BREAK?",
        "Thank you BREAK.",
    ):
        found, _ = as_the_authors(patient=["It itches.", said], doctor=["You have acne."])
        assert (found.ended, found.utterances) == ("break", 3), said
    found, _ = as_the_authors(patient=["BREAK It itches.", "Breakfast.", "BREAK"], doctor=["You have acne."])
    assert [turn.text for turn in found.turns if turn.role == "patient"] == ["It itches.", "Breakfast."]


def test_the_authors_decoding_photos_and_attempts() -> None:
    def sent(table: Table) -> set[tuple[object, ...]]:
        return {(one.role, one.temperature, one.top_p, one.max_tokens, one.seed) for one in table.asked}

    # The assessor never says anything that can be read: the diagnosis is asked for once, the scores four times.
    found, table = as_the_authors(patient=["It itches.", "BREAK"], doctor=["Acne."], assessor=["Dear colleague!"])
    assert sent(table) == {
        ("patient", 0.6, 0.9, 256, None),
        ("doctor", 0.6, 0.9, 512, None),
        ("assessor", 1e-6, None, 512, None),
        ("assessor", 0.6, 0.9, 512, None),
    }
    assert (found.extraction.attempts, found.extraction.raw) == (1, "Dear colleague!")
    assert found.assessment is not None and found.assessment.attempts == 4
    assert all(one.json_schema is None for one in table.asked)
    assert "You are the patient." in table.of("assessor")[-1].messages[0].text
    _, table = as_the_authors("openai/gpt-4o-mini", patient=["It itches.", "BREAK"], doctor=["Acne."])
    assert ("doctor", None, 0.9, 512, 92) in sent(table)
    photos = {
        name: AUTHORS.for_doctor(name).photos for name in ("openai/gpt-4o-mini", "vllm/Qwen/Qwen2-VL-7B-Instruct")
    }
    assert photos == {"openai/gpt-4o-mini": "original", "vllm/Qwen/Qwen2-VL-7B-Instruct": "small"}
    assert BEDSIDE.for_doctor("openai/gpt-4o-mini") is BEDSIDE
    assert AUTHORS.for_doctor("openai/o3").having(photos="small", judge="experts", cap_mode="paper").cap == 28


def test_a_case_without_the_cues_of_its_setting_is_not_played() -> None:
    with pytest.raises(ValueError, match="needs cues"):
        by_script(case(cues=None), "keyword", "dialogue+image+cues")


def test_a_prompt_from_a_folder_is_what_is_sent(tmp_path: Path) -> None:
    (tmp_path / "patient.md").write_text("You are {{temperament}}: {{basic}} {{complaints}}", encoding="utf-8")
    table = Table({"patient": ["It itches.", "BREAK"], "doctor": ["Hm."]})
    one = case()
    asyncio.run(consultation_game("dialogue", read_prompts(tmp_path)).play(one, table.ask))
    assert table.of("patient")[0].messages[0].text.startswith(f"You are {one.temperament}: {one.basic} - ")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("patient", "Play a patient.", "no placeholder {{basic}}"),
        ("patient", "{{basic}} {{complaints}} {{diagnosis}}", "unknown placeholder {{diagnosis}}"),
        ("doctor_cues", "Look closely.", "no placeholder {{cues}}"),
        ("doctor_dialogue", "{{diagnoses}} {{image}} {{cues}} {{diagnosis}}", "unknown placeholder"),
        ("rubric", "1.1 Does the doctor ask?", "no item 1.2"),
        ("rubric", "9.9 Is it good?", "the line '9.9 Is it good?'"),
        ("rubric", "1.1 Once?\n1.1 Twice?", "the line '1.1 Twice?'"),
        ("assessment", "", "no text"),
    ],
)
def test_a_prompt_that_cannot_work_is_an_error(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as problem:
        read_prompts(tmp_path)
    assert said in str(problem.value)
    assert f"{name}.md" in str(problem.value)


def test_the_extraction_is_the_answers_names() -> None:
    found, _ = played(patient=["It itches.", "BREAK"], doctor=["A stye."], assessor=["Stye, chalazion.", *["{}"] * 4])
    assert found.extraction == Extraction(("Stye", "chalazion"), "Stye, chalazion.", 1)


@pytest.mark.parametrize("name", ["echo", "silent", "prose", "broken-json"])
@pytest.mark.parametrize("setting", ["image+all", "dialogue", "dialogue+image+rationale"])
def test_garbage_in_every_role_is_counted(name: str, setting: str) -> None:
    model = open_model(f"scripted/{name}")

    async def ask(role: str, messages: Sequence[Message], **how: Any) -> Answer:
        return await model.ask(messages, temperature=0, max_tokens=how["max_tokens"])

    game = consultation_game(setting, PROMPTS)
    found = asyncio.run(game.play(case(), ask))
    assert found.extraction.failure and game.invalid(found)
    assert found.utterances == (2 if setting == "image+all" else 28)
    assert from_json(Consultation, json.dumps(to_json(found), ensure_ascii=False).encode(), "record") == found


@given(st.lists(st.text(max_size=40), min_size=3, max_size=6))
@settings(max_examples=20)
def test_any_words_make_a_record(said: list[str]) -> None:
    found, _ = played(setting="dialogue+image+rationale", patient=said, doctor=said[::-1], assessor=said[:1])
    assert from_json(Consultation, json.dumps(to_json(found), ensure_ascii=False).encode(), "record") == found
    assert found.turns[0].role == "patient" and 2 <= found.utterances <= 28


def test_an_assessor_that_thinks_aloud_is_read() -> None:
    found, _ = played(
        patient=["It itches.", "BREAK"],
        doctor=["A stye."],
        assessor=["<think>One name.</think>\nstye<|im_end|>", f"<think>All of them.</think>{VERDICT}</s>"],
    )
    assert found.extraction.names == ("stye",)
    assert found.assessment is not None and found.assessment.attempts == 1


def test_an_answer_may_stop_for_any_reason() -> None:
    cut = Answer("Since wh", 10, 512, "max_tokens")
    found, _ = played(patient=["It itches.", "BREAK"], doctor=[cut])
    assert found.turns[1].flags == ("max_tokens",)
    assert tuple(found.assessment.items or ()) == ITEMS  # type: ignore[union-attr]
