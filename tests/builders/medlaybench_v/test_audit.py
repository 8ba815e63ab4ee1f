"""The audit over pairs that exist already."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from builders.medlaybench_v.audit import Tally, audit, read_pairs
from builders.medlaybench_v.judge import read_opinion
from builders.medlaybench_v.lexicon import Lexicon
from loaders.errors import InputError
from loaders.models.asking import Unfit
from loaders.models.messages import Answer, Message
from scripts.cli import execute
from tests.parts.places import shared_data
from tests.parts.terms import TERMS


def test_what_the_published_captions_lost() -> None:
    """20 pairs of the authors' release; each expectation was read by eye."""
    path = shared_data("text/medlay_samples.json")
    audited = list(audit(read_pairs(path)))
    found = {a.image_id[-6:]: {v.gate: v.reason for v in a.failures} for a in audited}
    doubts = {a.image_id[-6:]: {v.gate: v.reason for v in a.doubts} for a in audited}
    assert found["000001"] == {"markers": "lost: asterisk", "modality": "lost: axial"}
    assert found["000005"] == {"numbers": "lost: 1"}  # Type 1 canal
    assert found["000008"]["markers"] == "lost: arrow"
    assert found["000009"]["modality"] == "lost: T2"
    assert found["000012"] == {"modality": "lost: CT"}
    assert found["000013"]["modality"].startswith("lost: CT")
    assert doubts["000014"] == {"modality": "doubtful: lost: angiography"}
    assert found["000019"] == {"numbers": "lost: 10\xa0mL"}
    assert found["000002"] == found["000006"] == found["000020"] == {}
    assert sum(map(bool, found.values())) == 8 and sum(map(bool, doubts.values())) == 3


def test_pairs_of_any_file_kind_and_column_names(tmp_path: Path) -> None:
    row = {"id": "1", "caption": "No mass on CT.", "lay": "A mass on the CT scan."}
    (tmp_path / "p.json").write_text(json.dumps([row]), encoding="utf-8")
    (tmp_path / "p.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    with (tmp_path / "p.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, row)
        writer.writeheader()
        writer.writerow(row)
    for name in ("p.json", "p.jsonl", "p.csv"):
        (audited,) = audit(read_pairs(tmp_path / name))
        assert [v.gate for v in audited.failures] == ["negation"]


def test_a_vocabulary_allows_what_its_phrases_say() -> None:
    row = {
        "image_id": "1",
        "expert_caption": "An angiogram.",
        "lay": "",
        "layman_caption": "An MRI blood vessel scan.",
    }
    (plain,) = audit([row])
    assert [v.reason for v in plain.failures] == ["new: MRI"]
    lexicon = Lexicon([t for t in TERMS if t.expert != "angiogram"])
    (still,) = audit([row], lexicon)
    assert still.failures == plain.failures


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": "1", "caption": "CT"}]', "layman_caption"),
        ('[{"id": "1", "caption": "CT", "lay": ""}]', "a caption"),
        ('[{"id": "1", "caption": 3, "lay": "x"}]', "a caption"),
    ],
)
def test_a_pair_without_a_caption_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "p.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(read_pairs(tmp_path / "p.json"))


def test_the_tally_counts_pairs_once_and_gates_each() -> None:
    tally = Tally()
    for audited in audit([{"image_id": "1", "expert_caption": "Left 2 cm mass on CT.", "layman_caption": "Mass."}]):
        tally.add(audited)
    assert (tally.pairs, tally.failing) == (1, 1)
    assert tally.by_gate["numbers"] == tally.by_gate["laterality"] == tally.by_gate["modality"] == 1


def test_the_command_writes_every_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.json").write_text(
        json.dumps([{"id": "x7", "expert": "Left lung on CT.", "layman": "Right lung on CT."}]), encoding="utf-8"
    )
    out = tmp_path / "failures.csv"
    assert execute(["audit", str(tmp_path / "p.json"), "--write", str(out), "--strict"]) == 1
    assert "laterality" in capsys.readouterr().out
    with out.open(encoding="utf-8", newline="") as file:
        assert [(r["image_id"], r["gate"], r["reason"]) for r in csv.DictReader(file)] == [
            ("x7", "laterality", "lost: left; new: right")
        ]


def test_copied_captions_and_lost_planes_are_found_without_naming_a_vocabulary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [
        {"id": "copied", "expert": "Hepatic abscess on axial CT.", "lay": "Hepatic abscess on axial CT."},
        {"id": "plane", "expert": "Sagittal MRI of the hip.", "lay": "An MRI of the hip."},
        {"id": "covid", "expert": "CT in coronavirus disease 2019.", "lay": "A CT in COVID-19."},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in pairs), encoding="utf-8")
    assert execute(["audit", str(tmp_path / "p.jsonl")]) == 0
    shown = capsys.readouterr().out
    assert "copied from the expert caption" in shown and "lost: sagittal" in shown and "covid" not in shown
    assert "2 of 3 pairs fail a gate, 0 are doubtful" in " ".join(shown.split())


def test_a_judge_is_asked_about_doubtful_pairs_and_some_that_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Judge:
        name, stand_in = "test/judge", True

        @property
        def identity(self) -> dict[str, object]:
            return {"name": self.name, "base_url": None}

        async def ask(self, messages: Sequence[Message], **settings: object) -> Answer:
            asked.append(messages[-1].text)
            return Answer('{"verdict": "broken", "why": "The dye is gone."}', None, None, "stop")

    monkeypatch.setattr("scripts.audit.open_model", lambda name, base_url: Judge())
    pairs = [
        {"id": "kept", "expert": "CT of a cyst.", "lay": "A CT of a cyst."},
        {"id": "open", "expert": "Contrast-enhanced CT of a cyst.", "lay": "A CT of a cyst."},
        {"id": "lost", "expert": "Contrast-enhanced CT of a 2 cm cyst.", "lay": "A CT of a cyst."},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in pairs), encoding="utf-8")
    command = [
        "audit",
        str(tmp_path / "p.jsonl"),
        "--judge",
        "test/judge",
        "--answers",
        str(tmp_path / "answers.sqlite"),
    ]
    for _ in range(2):  # the second time from the store
        assert execute(command) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "judge broken: The dye is gone." in shown
        assert "test/judge on 1 doubtful pairs, which the rules keep: 0 kept, 1 broken" in shown
    assert len(asked) == 1 and "with contrast" in asked[0] and "Contrast-enhanced CT of a cyst." in asked[0]

    pairs += [{"id": f"fine {n}", "expert": f"CT {n} of a cyst.", "lay": f"A CT {n} of a cyst."} for n in range(8)]
    drawn = []
    for order in (pairs, pairs[::-1]):
        (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in order), encoding="utf-8")
        assert execute([*command, "--judge-passed", "3"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "on 3 drawn among those that pass: 3 of 3 that it decides are broken, 44% to 100% of all" in shown
        drawn.append(len(asked))
    assert drawn == [4, 4]  # the same three in any order


def test_pairs_that_pass_are_drawn_for_a_judge_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.jsonl").write_text('{"expert": "CT.", "lay": "A CT."}\n', encoding="utf-8")
    assert execute(["audit", str(tmp_path / "p.jsonl"), "--judge-passed", "3"]) == 2
    assert "Name it with --judge" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("text", ["", "kept", '{"verdict": "fine", "why": ""}', '{"verdict": "kept"}'])
def test_an_opinion_that_cannot_be_read_is_none(text: str) -> None:
    with pytest.raises(Unfit):
        read_opinion(Answer(text, None, None, "stop"))
