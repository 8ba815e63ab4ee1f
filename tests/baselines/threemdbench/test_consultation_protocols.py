"""Whole runs of every setting against servers that speak as models of the paper do, and as later ones do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.run import read_run
from baselines.threemdbench.classifier.cues import write_cues
from baselines.threemdbench.consultation.record import Consultation
from baselines.threemdbench.consultation.settings import PAPER
from loaders.opened import open_data
from loaders.threemdbench import NAMES
from scripts.cli import execute
from tests.parts.chat_server import ChatServer, Reply
from tests.parts.played_consultations import case, write_cases

pytest.importorskip("inspect_ai")

CASES = 1
LOCAL = tuple(word for role in ("doctor", "patient", "assessor") for word in (f"--{role}", f"openai-api/local/{role}"))
Body = dict[str, Any]

NESTED = """```python
{"Doctor assessment": {
    'Medical Interviewing Skills': {"1.1": "1", "1.2": True, "1.3": 'No'},
    "Humanistic Care": {"2.1": 1, "2.2": 0,},
    "Comprehensive Diagnostic and Treatment Abilities": {"3.1": "Yes", "3.2": 1},
    "Overall Clinical Competence": {"4.1": "Satisfactory"}
}}
```"""
FLAT = "{'1.1': 1, '1.2': 1, '1.3': 0, '2.1': 1, '2.2': 0, '3.1': 1, '3.2': 1, '4.1': 'satisfactory'}"
PROSE = """Here is how the doctor did.
1.1: Yes, the doctor asked about it.
1.2: Yes
1.3: No
2.1: Yes
2.2: No
3.1: Yes
3.2: Yes
4.1: Satisfactory"""
SCORES = {"1.1": 1, "1.2": 1, "1.3": 0, "2.1": 1, "2.2": 0, "3.1": 1, "3.2": 1, "4.1": 1}

# Texts of the user's own, in the form in which the paper prints its own.
OWN = {
    "patient": "You are ill: {general_complaint}\nAlso: [symptoms](#)\nYou are {char}.\n{{facets}}\nSay BREAK to end.",
    "doctor_no_dialogue": f"You are a doctor.\n\nChoose one: {list(NAMES)}\n\nLook at the image. Name one diagnosis.",
    "doctor_dialogue": f"You are a doctor.\n\nChoose one: {list(NAMES)}\n\nLook at the image. Ask one question.",
    "doctor_rationale": f"You are a doctor.\n\nChoose one: {list(NAMES)}\n\nREASONING: why\nANSWER: to the patient",
    "assessment": "Assess the doctor. The scale is\n"
    + "\n".join(f'"{item}": "Question {item}"' for item in SCORES)
    + "\nAnswer with a dictionary for `ast.literal_eval()`.",
    "extraction": "Extract the final diagnosis.",
}


def as_in_the_paper(body: Body) -> str:
    """BREAK within a sentence, a dictionary of Python in groups, and a name with a point behind it."""
    system = json.dumps(body["messages"][0])
    if body["model"] == "assessor":
        return NESTED if "4.1" in system else "`Eczema`."
    if body["model"] == "patient":
        return "Thank you doctor, I will do that BREAK." if len(body["messages"]) > 4 else "It itches."
    return "REASONING: It looks dry.\nANSWER: This is eczema." if "REASONING" in system else "This is eczema."


def in_words(body: Body) -> str:
    """Takes no notice of a response format: scores in prose, the diagnosis in a sentence."""
    said = as_in_the_paper(body)
    return {NESTED: PROSE, "`Eczema`.": "The final diagnosis is eczema."}.get(said, said)


def aloud(body: Body) -> Reply:
    """Thinks for 600 words, cut off where there is room for fewer; in the text, or told apart for the patient."""
    said = as_in_the_paper(body)
    thought = " ".join(["Let me think about BREAK and hives."] * 86)
    room = body.get("max_tokens") or body["max_completion_tokens"]
    if room < 602:
        cut = " ".join(thought.split()[:room])
        return Reply("", "length", cut) if body["model"] == "patient" else Reply(f"<think>{cut}", "length")
    if body["model"] == "patient":
        return Reply(said, reasoning=thought)
    return Reply(f"<think>{thought}</think>\n\n{FLAT if said == NESTED else said}")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cases(tmp_path_factory.mktemp("protocols") / "release", CASES)


@pytest.fixture(scope="module")
def more(release: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A file of cues, and a folder of prompts of the user's own."""
    folder = tmp_path_factory.mktemp("more")
    names = {case(number).case_id: list(case(number).cues or ()) for number in range(CASES)}
    digest = open_data(str(release), split="test", default="3mdbench").content_digest
    write_cues(folder / "cues.parquet", names, content_digest=digest, model="m", run_id="0" * 16, stand_in="no model")
    for name, text in OWN.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return {"cues": folder / "cues.parquet", "prompts": folder}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    with ChatServer(as_in_the_paper) as running:
        yield running


def run(release: Path, out: Path, server: ChatServer, setting: str, cues: Path, *arguments: object) -> int:
    given: list[object] = [release, "-o", out, "--bare", "--resamples", 20, "--setting", setting, *LOCAL]
    given += ["--base-url", server.base_url, *arguments]
    return execute(["run", "consultation", *map(str, given), *(["--cues", str(cues)] if "cues" in setting else [])])


def records(out: Path) -> list[Consultation]:
    return [one.record for one in read_played(out, PlayedCase[Consultation]) if one.record is not None]


OF_EACH_TEXT = ("image+basic", "dialogue", "dialogue+image+rationale")  # a doctor's text for each
PLAYED = [
    *((setting, as_in_the_paper) for setting in PAPER),
    # How the assessor writes does not depend on the setting; what a doctor thinks stands before the parts of its reply.
    ("dialogue", in_words),
    ("image+basic", aloud),
    ("dialogue+image+rationale+cues", aloud),
]


@pytest.mark.parametrize(("setting", "reply"), PLAYED)
def test_every_setting_is_played_and_read_to_the_end(
    setting: str,
    reply: Callable[[Body], Reply | str],
    release: Path,
    more: dict[str, Path],
    server: ChatServer,
    tmp_path: Path,
) -> None:
    server.reply = reply
    ways: dict[str, list[object]] = {"authors": ["--protocol", "authors"]}
    if reply is not as_in_the_paper:
        ways["bedside"] = []
    elif setting in OF_EACH_TEXT:
        ways["own"] = ["--protocol", "authors", "--prompts", more["prompts"]]
    for name, arguments in ways.items():
        assert run(release, tmp_path / name, server, setting, more["cues"], *arguments) == 0
        played = records(tmp_path / name)
        assert len(played) == CASES
        for one in played:
            assert one.finished and one.parse_failures == 0, "BREAK ends it, and each reply has its parts"
            assert [name.casefold() for name in one.extraction.names] == ["eczema"] and one.extraction.failure is None
            assert not [turn for turn in one.turns if "Let me think" in turn.text or "empty" in turn.flags]
            if setting.startswith("dialogue"):
                assert one.assessment is not None and one.assessment.items == SCORES and one.assessment.attempts == 1
        record, results = read_run(tmp_path / name)
        roles = {"doctor", "assessor", *(["patient"] * ("dialogue" in setting)), *(["cues"] * ("cues" in setting))}
        assert {model.role for model in record.models} == roles and record.options["setting"] == setting
        columns = {result.column for result in results if result.table == "Table 5"}
        assert {"F1", "F1 (strict)", "No diagnosis", "Several diagnoses", "Extraction failed"} <= columns
        assert record.options["protocol"] == ("bedside" if name == "bedside" else "authors")
        top_p = {request.body.get("top_p") for request in server.requests if request.body["model"] != "assessor"}
        assert top_p == ({None} if name == "bedside" else {0.9})
        server.requests.clear()


def test_texts_of_the_user_are_filled_as_the_papers_would_be(
    release: Path, more: dict[str, Path], server: ChatServer, tmp_path: Path
) -> None:
    """Places as in the authors' code; the true diagnosis and the cues behind texts that have no place for them; no
    sentence on an image where there is none."""
    sent: dict[str, str] = {}
    for setting in ("dialogue", "dialogue+image+rationale+cues"):
        arguments = ("--prompts", more["prompts"], "--limit", 1)
        assert run(release, tmp_path / setting, server, setting, more["cues"], *arguments) == 0
        for request in server.requests:
            sent[f"{setting} {request.body['model']}"] = json.dumps(request.body["messages"], ensure_ascii=False)
            assert "response_format" not in request.body, "the text says its form itself"
        server.requests.clear()
    one = case(0)
    assert one.basic in sent["dialogue patient"] and one.additional[0] in sent["dialogue patient"]
    assert f"You are {one.temperament}." in sent["dialogue patient"] and "{" not in sent["dialogue patient"][30:300]
    assert "image" not in sent["dialogue doctor"] and "Ask one question." in sent["dialogue doctor"]
    assert ", ".join(one.cues or ()) in sent["dialogue+image+rationale+cues doctor"]
    assert f"Ground truth diagnosis: {one.diagnosis}" in sent["dialogue assessor"]


def test_a_server_that_moves_or_grows_is_asked_nothing_again(
    release: Path, more: dict[str, Path], server: ChatServer, tmp_path: Path
) -> None:
    assert run(release, tmp_path, server, "dialogue+image", more["cues"]) == 0
    asked, before = len(server.requests), (tmp_path / "dialogues.jsonl").read_bytes()
    with ChatServer(as_in_the_paper) as elsewhere:
        assert run(release, tmp_path, elsewhere, "dialogue+image", more["cues"]) == 0
        both = ("--base-url", elsewhere.base_url)
        assert run(release, tmp_path, server, "dialogue+image", more["cues"], *both) == 0
        assert (len(server.requests), len(elsewhere.requests)) == (asked, 0)
        assert (tmp_path / "dialogues.jsonl").read_bytes() == before
        # How it is drawn is part of what was asked.
        drawn = ("--temperature", "doctor=0.2", "--top-p", "doctor=0.5", "--max-tokens", "doctor=99")
        assert run(release, tmp_path, elsewhere, "dialogue+image", more["cues"], *drawn) == 0
        bodies = [request.body for request in elsewhere.requests]
        assert {one["model"] for one in bodies} == {"doctor"}, "the same words, so nobody else is asked anew"
        assert {(one["temperature"], one["top_p"], one["max_tokens"]) for one in bodies} == {(0.2, 0.5, 99)}
    record, _ = read_run(tmp_path)
    assert record.options["decoding"]["doctor"] == {"temperature": 0.2, "top_p": 0.5, "max_tokens": 99}
    assert record.options["decoding"]["patient"] == {"temperature": 0.6, "max_tokens": 256}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Reply("", "length", "Hm. " * 512), r"turns are empty, \1 of them cut off during reasoning"),
        (
            Reply("I cannot help with that.", "content_filter"),
            "answers were refused, or stopped by the provider's filter",
        ),
    ],
    ids=["only thinks", "filtered"],
)
def test_turns_without_an_answer_are_reported(
    answer: Reply,
    told: str,
    release: Path,
    more: dict[str, Path],
    server: ChatServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    server.reply = lambda body: answer if body["model"] == "doctor" else Reply(as_in_the_paper(body))
    assert run(release, tmp_path, server, "dialogue+image", more["cues"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert re.search(rf"doctor: (\d+) of \1 {told}", said) and "patient:" not in said
    if "turns" in told:  # what the dialogues hold, rescore tells too
        assert execute(["rescore", str(tmp_path), "-o", str(tmp_path / "again")]) == 0
        assert re.search(rf"doctor: (\d+) of \1 {told}", " ".join(capsys.readouterr().err.split()))
