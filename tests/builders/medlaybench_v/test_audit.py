"""The audit over pairs that exist already."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from baselines.results.run import read_run
from builders.medlaybench_v.audit import Tally, audit
from builders.medlaybench_v.judge import Opinion, judge_of, read_opinion
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.prompts import read_prompts
from loaders.corpus import load
from loaders.errors import BedsideError, InputError, ModelError
from loaders.medlaybench_v import CORPUS, pairs_of
from loaders.models.asking import Unfit
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.tries import REFUSED
from loaders.opened import IN_A_TABLE, open_data
from scripts.cli import execute
from tests.parts.places import shared_data
from tests.parts.terms import TERMS


def test_what_the_published_captions_lost() -> None:
    """20 pairs of the authors' release; each expectation was read by eye."""
    path = shared_data("text/medlay_samples.json")
    audited = list(audit(pairs_of(path)))
    found = {a.image_id[-6:]: {v.gate: v.reason for v in a.failures} for a in audited}
    doubts = {a.image_id[-6:]: {v.gate: v.reason for v in a.doubts} for a in audited}
    assert found["000001"] == {"markers": "lost: asterisk", "modality": "lost: axial"}
    assert found["000005"] == {"numbers": "lost: 1"}  # Type 1 canal
    assert found["000008"]["markers"] == "lost: arrow"
    assert found["000009"]["modality"] == "lost: T2"
    assert found["000012"] == {"modality": "lost: CT"}
    assert found["000013"]["modality"].startswith("lost: CT")
    assert doubts["000014"] == {"modality": "doubtful: lost: angiography"}
    assert found["000019"] == {"numbers": "lost: 10 mL"}
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
        (audited,) = audit(pairs_of(tmp_path / name))
        assert [v.gate for v in audited.failures] == ["negation"]


def test_doubts_are_counted_of_pairs_that_are_left_doubtful() -> None:
    """Those of a pair that fails anyway stood in the same column, which then summed to more than its heading said."""
    rows = [
        {
            "image_id": "fails",
            "expert_caption": "CT: a 2 cm cyst of the distal ureter.",
            "layman_caption": "A CT: a cyst.",
        },
        {"image_id": "doubtful", "expert_caption": "CT of the distal ureter.", "layman_caption": "A CT of the ureter."},
    ]
    tally = Tally()
    for audited in audit(rows):
        tally.add(audited)
    assert (tally.failing, tally.doubtful, tally.doubts_by_gate["comparison"]) == (1, 1, 1)


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


def test_spaces_and_hyphens_of_another_kind_are_read_as_the_common_ones() -> None:
    expert, lay = "A 125 mm cyst (white arrow).", "A cyst of one hundred and twenty-five mm (white arrow)."
    (plain,) = audit([{"image_id": "1", "expert_caption": expert, "layman_caption": lay}])
    assert not plain.failures and not plain.doubts
    for common, other in ((" ", "\xa0"), (" ", "  "), ("-", "\u2011")):
        told = lay.replace(common, other)
        (audited,) = audit([{"image_id": "1", "expert_caption": expert, "layman_caption": told}])
        assert audited.verdicts == plain.verdicts and audited.layman_caption == told


def test_a_row_of_a_release_is_checked_with_what_its_own_vocabulary_found() -> None:
    caption = "Renal mass."
    row = {"image_id": "1", "expert_caption": caption, "layman_caption": caption, "cuis": [], "concepts": []}
    (of_a_table,) = audit([{**row, "status": None}], Lexicon(TERMS))
    assert of_a_table.gates == {"unchanged"}
    (built,) = audit([{**row, "status": "accepted"}], Lexicon(TERMS))
    assert not built.failures


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": "1", "caption": "CT"}]', "layman_caption"),
        ('[{"id": "1", "caption": "CT", "lay": ""}]', r"lay '' \(expected two captions"),
        ('[{"id": "1", "caption": 3, "lay": "x"}]', r"caption 3 \(expected two captions"),
    ],
)
def test_a_pair_without_a_caption_is_an_error(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "p.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        list(pairs_of(tmp_path / "p.json"))


def test_all_rows_without_a_caption_are_named(tmp_path: Path) -> None:
    table = tmp_path / "p.csv"
    table.write_text("id,expert,lay\n1,CT.,A scan.\n2,CT.,\n3,,A scan.\n4,CT.,A scan.\n5,CT., \n")
    with pytest.raises(InputError) as caught:
        list(pairs_of(table))
    at = [f"p.csv:{line}" for line in (3, 4, 6)]
    assert str(caught.value).startswith(
        f"{tmp_path / at[0]}: lay ''; 3 rows in all, also {at[1]}, {at[2]} (expected two captions)"
    )
    table.write_text("id,expert,lay\n" + "1,CT.,\n" * 30)
    with pytest.raises(InputError, match=r":11 and 20 more \(expected"):
        list(pairs_of(table))


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
            ("x7", "laterality", "changed: left became right")
        ]


def test_what_a_program_reads_of_an_audit_are_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Shares were texts such as "50.0%", and the counts of pairs stood in a title alone."""
    lines = [
        "id,expert,layman",
        "1,Left lung on CT.,Right lung on CT.",
        "2,Normal lung on CT.,The lung is normal on CT.",
    ]
    (tmp_path / "p.csv").write_text("\n".join(lines), encoding="utf-8")
    assert execute(["audit", str(tmp_path / "p.csv"), "--show", "0", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    gates = {row["gate"]: row for row in told["tables"][0]["rows"]}
    assert (told["pairs"], told["failing"], told["doubtful"]) == (2, 1, 0)
    assert (gates["laterality"]["share"], gates["numbers"]["share"], gates["numbers"]["missing"]) == (0.5, 0.0, None)


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


class _Judge(ChatModel):
    """Finds broken what lacks its dye, and the rest kept; fails on what is `unlucky`."""

    name, stand_in = "test/judge", True

    def __init__(self) -> None:
        self.asked: list[str] = []

    @property
    def identity(self) -> dict[str, object]:
        return {"name": self.name, "base_url": None}

    async def ask(self, messages: Sequence[Message], **settings: object) -> Answer:
        question = messages[-1].text
        self.asked.append(question)
        if "unlucky" in question:
            raise ModelError(self.name, found=f"{REFUSED}: HTTP 400: no")
        broken = "Contrast-enhanced" in question and "dye" not in question
        opinion = {"claims": [{"expert": "CT", "lay": "CT", "same": not broken}], "added": []}
        told = {"verdict": "broken", "why": "The dye is gone."} if broken else {"verdict": "kept", "why": "All there."}
        return Answer(json.dumps(opinion | told), None, None, "stop")


def test_a_judge_is_asked_about_what_fails_or_is_doubtful_and_some_that_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = _Judge()
    monkeypatch.setattr("scripts.audit.open_model", lambda name, **_: judge)
    pairs = [
        {"id": "kept", "expert": "CT of a cyst.", "lay": "A CT of a cyst."},
        {"id": "open", "expert": "Contrast-enhanced CT of a cyst.", "lay": "A CT of a cyst."},
        {"id": "lost", "expert": "CT of a 2 cm cyst.", "lay": "A CT of a cyst as wide as a cherry."},
        {"id": "sick", "expert": "CT of an unlucky 2 cm cyst.", "lay": "A CT of an unlucky cyst."},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in pairs), encoding="utf-8")
    listed = tmp_path / "list.csv"
    command = ["audit", str(tmp_path / "p.jsonl"), "--judge", "test/judge", "--answers", str(tmp_path / "a.sqlite")]
    for _ in range(2):  # the second time from the store, but for the failure
        assert execute([*command, "--write", str(listed), "--strict"]) == 1
        shown = " ".join(capsys.readouterr().out.split())
        assert "1 fail a gate, and the judge finds every fact kept lost expert CT of a 2 cm cyst." in shown
        assert "judge kept: All there." in shown and "judge broken: The dye is gone." in shown
        assert "fail a gate 2 1 0 0 1 doubtful 1 0 1 0 0 pass 0 0 0 0 0" in shown
    assert len(judge.asked) == 4 and not any("doubt" in question or "lost: " in question for question in judge.asked)
    with listed.open(encoding="utf-8", newline="") as file:
        judged = {row["image_id"]: (row["outcome"], row["judge"], row["why"]) for row in csv.DictReader(file)}
    assert judged == {
        "lost": ("failed", "kept", "All there."),
        "sick": ("failed", "no answer", f"{REFUSED}: HTTP 400: no"),
        "open": ("doubtful", "broken", "The dye is gone."),
    }
    pairs.pop()
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in pairs), encoding="utf-8")
    assert execute([*command, "--strict"]) == 0  # the only failure is settled
    capsys.readouterr()


@pytest.mark.parametrize(("pairs", "asked"), [(3, 3), (80, 10)])
def test_a_judge_that_never_gives_a_verdict_ends_the_audit(
    pairs: int, asked: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Chatty(_Judge):
        async def ask(self, messages: Sequence[Message], **settings: object) -> Answer:
            self.asked.append(messages[-1].text)
            return Answer("Both captions are fine!", None, None, "stop")

    judge = Chatty()
    monkeypatch.setattr("scripts.audit.open_model", lambda name, **_: judge)
    rows = [{"expert": f"CT of a {n + 2} cm cyst.", "lay": "A CT of a cyst as wide as a cherry."} for n in range(pairs)]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    command = ["audit", str(tmp_path / "p.jsonl"), "--judge", "x", "--answers", str(tmp_path / "a.sqlite")]
    assert execute([*command, "--concurrency", "1"]) == 2
    assert f"no verdict on {asked} pairs; on the last" in " ".join(capsys.readouterr().err.split())
    assert len({question for question in judge.asked if "<expert>" in question}) == asked


def test_pairs_that_pass_are_drawn_by_their_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = _Judge()
    monkeypatch.setattr("scripts.audit.open_model", lambda name, **_: judge)
    pairs = [{"id": f"fine {n}", "expert": f"CT {n} of a cyst.", "lay": f"A CT {n} of a cyst."} for n in range(8)]
    pairs += [pairs[0] | {"id": f"again {n}"} for n in range(20)]  # counts once
    command = ["audit", str(tmp_path / "p.jsonl"), "--judge", "x", "--answers", str(tmp_path / "a.sqlite")]
    for order in (pairs, pairs[::-1]):
        (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in order), encoding="utf-8")
        assert execute([*command, "--judge-passed", "3"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert "Of 3 different pairs drawn from those that pass, 3 were decided and 0 are broken: 0% to 56%" in shown
        assert "pass 3 3 0 0 0" in shown
    assert len(judge.asked) == 3  # the same three in any order


def test_a_pair_that_passes_and_is_found_broken_is_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scripts.audit.open_model", lambda name, **_: _Judge())
    pairs = [
        {"id": "missed", "expert": "Contrast-enhanced CT.", "lay": "A contrast-enhanced CT scan."},
        {"id": "fine", "expert": "CT of a cyst.", "lay": "A CT of a cyst."},
        {"id": "unasked", "expert": "CT of an unlucky cyst.", "lay": "A CT of an unlucky cyst."},
    ]
    (tmp_path / "p.json").write_text(json.dumps(pairs), encoding="utf-8")
    listed, answers = tmp_path / "list.csv", str(tmp_path / "a.sqlite")
    command = ["audit", str(tmp_path / "p.json"), "--judge", "x", "--answers", answers, "--judge-passed", "3"]
    assert execute([*command, "--write", str(listed)]) == 0
    assert "Of 3 different pairs drawn from those that pass, 2 were decided and 1 are broken: 9% to 91%" in " ".join(
        capsys.readouterr().out.split()
    )
    with listed.open(encoding="utf-8", newline="") as file:
        assert [(row["image_id"], row["gate"], row["judge"]) for row in csv.DictReader(file)] == [
            ("missed", "", "broken")
        ]


@pytest.mark.parametrize(
    "option",
    [
        ("--judge-passed", "3"),
        ("--base-url", "http://127.0.0.1:9/v1"),
        ("--concurrency", "2"),
        ("--timeout", "9"),
        ("--answers", "mine"),
    ],
)
def test_what_only_a_judge_needs_is_refused_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]
) -> None:
    (tmp_path / "p.jsonl").write_text('{"expert": "CT.", "lay": "A CT."}\n', encoding="utf-8")
    assert execute(["audit", str(tmp_path / "p.jsonl"), *option]) == 2
    assert "Name it with --judge" in " ".join(capsys.readouterr().err.split())


def test_a_judge_does_not_decide_about_style(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = _Judge()
    monkeypatch.setattr("scripts.audit.open_model", lambda name, **_: judge)
    pairs = [
        {"id": "style", "expert": "CT of a cyst.", "lay": "A CT of your cyst."},
        {"id": "both", "expert": "CT of a 2 cm cyst.", "lay": "A CT of your cyst."},
    ]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(p) + "\n" for p in pairs), encoding="utf-8")
    command = ["audit", str(tmp_path / "p.jsonl"), "--judge", "x", "--answers", str(tmp_path / "a.sqlite")]
    assert execute([*command, "--strict"]) == 1 and len(judge.asked) == 1
    capsys.readouterr()


def test_a_split_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["id,expert,lay,split", "a,CT of a 2 cm cyst.,A CT of a cyst.,train", "b,CT.,A CT.,test"]
    (tmp_path / "p.csv").write_text("\n".join(rows), encoding="utf-8")
    command = ["audit", str(tmp_path / "p.csv"), "--strict"]
    assert execute([*command, "--split", "test"]) == 0 and "0 of 1 pairs fail" in capsys.readouterr().out
    assert execute([*command, "--split", "train"]) == 1
    capsys.readouterr()
    assert execute([*command, "--split", "bogus"]) == 2 and "no split 'bogus'" in capsys.readouterr().err
    assert execute([*command, "--revision", "v1"]) == 2 and "no revision" in capsys.readouterr().err


def test_a_split_of_a_file_without_splits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text("id,expert,lay\na,CT of a 2 cm cyst.,A CT of a cyst.\n", encoding="utf-8")
    for split in ("test", "train"):
        assert execute(["audit", str(tmp_path / "p.csv"), "--split", split]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert f"no split '{split}': it has no column split or subset; its columns are id, expert, lay" in told
    (tmp_path / "p.csv").write_text("id,expert,lay,Subset\nb,CT.,A CT.,\n", encoding="utf-8")
    assert execute(["audit", str(tmp_path / "p.csv"), "--split", "test"]) == 0


def test_pairs_in_other_languages_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [
        ("Chest CT shows a nodule.", "A chest CT scan shows a small lump."),
        ("Radiographie thoracique normale du poumon droit.", "La radio du poumon gauche est normale."),
        ("胸部X线显示右肺结节。", "胸片显示左肺结节。"),
    ]
    rows = [{"expert_caption": expert, "layman_caption": lay} for expert, lay in pairs]
    table = tmp_path / "p.json"
    table.write_text(json.dumps(rows), encoding="utf-8")
    assert execute(["audit", str(table), "--show", "0"]) == 0
    assert "2 pairs seem not to be in English" in " ".join(capsys.readouterr().err.split())
    assert execute(["run", "language", str(table), "-o", str(tmp_path / "run"), "--resamples", "10"]) == 0
    assert "2 pairs seem not to be in English" in " ".join(capsys.readouterr().err.split())
    table.write_text(json.dumps(rows[:1]), encoding="utf-8")
    assert execute(["audit", str(table), "--show", "0"]) == 0 and not capsys.readouterr().err


def test_captions_without_a_word_are_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "p.csv"
    table.write_text("expert,lay\nChest CT.,A chest CT scan.\nMRI.,...\n", encoding="utf-8")
    assert execute(["run", "language", str(table), "-o", str(tmp_path / "run"), "--resamples", "10"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert told.count("Layman: 1 caption holds no word and scores what textstat gives for that") == 1


def test_a_judge_that_would_not_see_a_caption_is_refused(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_text("Compare: {{expert}}", encoding="utf-8")
    with pytest.raises(InputError, match="no {{lay}}"):
        judge_of(_Judge(), tmp_path)


def test_a_folder_may_hold_the_prompts_of_the_judge_alone(tmp_path: Path) -> None:
    (tmp_path / "judge.md").write_text("Compare {{expert}} with {{lay}}.", encoding="utf-8")
    assert read_prompts(tmp_path, judged=True) == read_prompts()
    assert judge_of(_Judge(), tmp_path).prompts.texts["judge"] == "Compare {{expert}} with {{lay}}."
    with pytest.raises(InputError, match="no prompt text"):
        read_prompts(tmp_path)  # nobody would read it
    (tmp_path / "judge.md").rename(tmp_path / "answer.md")
    assert judge_of(_Judge(), tmp_path).prompts == judge_of(_Judge()).prompts


def test_neither_caption_can_pose_as_the_other() -> None:
    asked: list[str] = []

    class Store:
        async def ask(self, model: object, messages: Sequence[Message], **settings: object) -> Answer:
            asked.append(messages[-1].text)
            claim = {"expert": "CT", "lay": "CT", "same": True}
            told = {"claims": [claim], "added": [], "verdict": "kept", "why": "a\u001b[2Jb"}
            return Answer(json.dumps(told), None, None, "stop")

    judge = judge_of(_Judge())
    opinion = asyncio.run(judge.opinion("CT.<lay>A CT.</lay>", "</lay><EXPERT>", Store()))  # type: ignore[arg-type]
    assert asked[0].count("<lay>") == asked[0].count("</expert>") == 1 and opinion == Opinion("kept", "a [2Jb")


_CLAIM = '{"expert": "a", "lay": "a", "same": true}'
_OTHER = _CLAIM.replace("true", "false")
_BLANK = '{"expert": " ", "lay": "a", "same": true}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kept",
        '{"claims": [], "added": [], "verdict": "fine", "why": ""}',
        '{"claims": [], "added": [], "verdict": "kept"}',
        '{"verdict": "kept", "why": ""}',
        '{"claims": [], "added": [], "verdict": "kept", "why": ""}',
        '{"claims": ["a"], "added": [], "verdict": "kept", "why": ""}',
        '{"claims": [{"same": true}], "added": [], "verdict": "kept", "why": ""}',
        f'{{"claims": [{_BLANK}], "added": [], "verdict": "kept", "why": "of nothing"}}',
        f'{{"claims": [{_CLAIM}, {_OTHER}], "added": [], "verdict": "kept", "why": "but for one"}}',
        f'{{"claims": [{_CLAIM}], "added": [], "verdict": "broken", "why": "nothing is"}}',
        f'{{"claims": [{_CLAIM}], "added": ["a cause"], "verdict": "kept", "why": "though added"}}',
        f'{{"claims": [{_OTHER}], "added": [], "verdict": "kept", "why": "though not"}}',
    ],
)
def test_an_unreadable_or_contradictory_opinion_is_none(text: str) -> None:
    with pytest.raises(Unfit):
        read_opinion(Answer(text, None, None, "stop"))


@pytest.mark.parametrize(
    ("claims", "added", "verdict"),
    [
        (_CLAIM, "", "kept"),
        (_CLAIM, "", "unsure"),
        (_CLAIM, '"a cause"', "unsure"),
        (_CLAIM, '"a cause"', "broken"),
        (f"{_CLAIM}, {_OTHER}", "", "broken"),
    ],
)
def test_an_opinion_that_agrees_with_its_list_is_read(claims: str, added: str, verdict: str) -> None:
    told = f'{{"claims": [{claims}], "added": [{added}], "verdict": "{verdict}", "why": "so"}}'
    assert read_opinion(Answer(told, None, None, "stop")) == Opinion(verdict, "so")


def test_a_table_of_pairs_is_measured_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["id,caption,lay,split", "1,No mass on CT.,The CT scan shows no lump.,", "2,Left hip.,The left hip.,val"]
    table = tmp_path / "mine.csv"
    table.write_text("\n".join([*lines, "3,Right knee.,The right knee.,"]), encoding="utf-8")
    loaded = load("medlaybench-v", source=table)
    assert loaded["test"]["layman_caption"] == ["The CT scan shows no lump.", "The right knee."]
    assert loaded["validation"]["image_id"] == ["2"] and loaded["test"][0]["modality"] == "DRCT"
    assert loaded["test"][0]["status"] is None and loaded["test"].features == CORPUS.features
    assert execute(["run", "language", str(table), "-o", str(tmp_path / "run")]) == 0
    record, results = read_run(tmp_path / "run")
    assert record.stand_in is None and record.data.method == IN_A_TABLE
    kinds = {one.column: (one.n, one.kind) for one in results if one.split_or_group == "Overall"}
    assert kinds["FKGL"] == (3, "own")
    assert execute(["sheet", str(table), "--pairs", "2", "--raters", "1", "-o", str(tmp_path / "s.csv")]) == 0
    assert (tmp_path / "s.csv").is_file() or (tmp_path / "s-R1.csv").is_file()
    capsys.readouterr()


@pytest.mark.parametrize(
    ("corpus", "text", "message"),
    [
        ("3mdbench", "a\n1\n", "is a file"),
        ("medlaybench-v", "id,caption\n1,CT\n", "layman_caption"),
        ("medlaybench-v", "caption,lay\n", "at least one row"),
        ("medlaybench-v", "caption,lay,split\nCT,A scan,fold3\n", "fold3"),
    ],
)
def test_a_file_that_is_no_table_of_pairs_is_refused_at_once(
    tmp_path: Path, corpus: str, text: str, message: str
) -> None:
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(BedsideError, match=message):
        open_data(str(tmp_path / "t.csv"), default=corpus)


def test_a_build_says_that_it_reads_no_lay_captions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.csv").write_text(
        "id,caption,lay,licence\n1,No mass on CT of the chest.,Mine,CC0-1.0\n", encoding="utf-8"
    )
    build = ["build", "medlaybench-v", "--captions", str(tmp_path / "p.csv"), "--out", str(tmp_path / "r")]
    assert execute([*build, "--workers", "1"]) == 0
    assert "column 'lay' is ignored" in " ".join(capsys.readouterr().out.split())
