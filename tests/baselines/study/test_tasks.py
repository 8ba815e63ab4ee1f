"""The rating tasks: what people see, what is read of their forms, and sheets that the existing commands take."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import pytest

from baselines.medlaybench_v import ratings
from baselines.results.run import Result
from baselines.study.design import Design, TaskName
from baselines.study.flow import Frame
from baselines.study.tasks.rubric import without_names
from baselines.study.tasks.task import Bundled, Form, FormError, Item, Response, Rows, Source, task_named
from baselines.threemdbench import relevance_sheets
from baselines.threemdbench.consultation import physicians, selection_raters
from loaders.corpus import corpus, encoded
from loaders.errors import InputError
from loaders.opened import Opened
from loaders.pages import render
from loaders.threemdbench import NAMES
from scripts.cli import execute
from tests.baselines.threemdbench.test_relevance_sheets import fill as fill_marks
from tests.parts.played_consultations import cases
from tests.parts.sheets import read_sheet, write_sheet

RATED: tuple[TaskName, ...] = ("pairs", "diagnosis", "rubric", "relevance")
FRAME = Frame("A study", "a@b.example", "token", "1.work.0", "Work", "Then the debriefing.", (1, 2))


def design(task: TaskName, **more: Any) -> Design:
    return Design("A study", "a@b.example", (task,), **more)


@pytest.fixture
def source(photos: Path, request: pytest.FixtureRequest) -> Any:
    """The source of a task with a design."""

    def made(task: TaskName, **more: Any) -> Source:
        plan = design(task, **more)
        if task == "rubric":
            return Source(plan, runs=(request.getfixturevalue("played"),))
        if task == "pairs":
            return Source(plan, captions())
        from loaders.opened import open_data

        return Source(plan, open_data(str(photos), split="test", default="3mdbench"))

    return made


def captions(count: int = 12) -> Opened:
    known = corpus("medlaybench-v").features
    rows = [
        {
            **dict.fromkeys(known),
            "image_id": f"i{at}",
            "expert_caption": f"Effusion {at}, unread 4417",
            "layman_caption": f"Fluid {at}",
        }
        for at in range(count)
    ]
    return Opened("medlaybench-v", {"test": datasets.Dataset.from_list(rows, known)}, None, "0" * 64, None)


def form(task: TaskName, item: Item, draw: random.Random) -> Form:
    """What somebody might post."""
    page = task_named(task).page(item)
    if task == "pairs":
        return {one["name"]: [str(draw.randint(3, 5))] for one in page["criteria"]}
    if task == "diagnosis":
        return {"diagnosis": [draw.choice([*NAMES[:6], "none"])]}
    if task == "rubric":
        scores = {one["name"]: [draw.choice(one["options"])[0]] for one in page["questions"]}
        return {**scores, "diagnosis": [draw.choice(["acne", "a stye, or acne", "none"])]}
    return {one["field"]: [draw.choice("01")] for one in page["complaints"]}


def answered(
    task: TaskName, items: Sequence[Item], people: Sequence[str], seed: int = 0, *, right: bool = True
) -> list[Response]:
    """All items, answered by all; `right`: checks are answered as they say."""
    found = []
    for person in people:
        draw = random.Random(f"{seed} {person}")
        for at, item in enumerate(draw.sample(list(items), len(items))):
            given = task_named(task).read(item, form(task, item, draw))
            if right and item.check:
                given = item.key["expected"]
            found.append(Response(person, item, json.loads(json.dumps(given)), 12.5, position=at))
    return found


def names_of(items: Sequence[Item]) -> list[str]:
    return [item.id for item in items]


# --- What is seen -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", RATED)
def test_a_page_shows_what_is_judged_and_nothing_of_the_key(task: TaskName, source: Any) -> None:
    made = source(task, attention=0.2)
    items = task_named(task).items(made)
    assert items == task_named(task).items(made)  # the same items each time
    assert len({item.id for item in items}) == len(items) and any(item.check for item in items)
    for item in [*items, task_named(task).practice()]:
        json.dumps([item.payload, item.key])
        picture = "/picture" if item.picture else None
        shown = partial(render, f"baselines/study/pages/{task}.html", frame=FRAME, given={})
        page = str(shown(error=None, picture=picture, **task_named(task).page(item)))
        for name in ("case_id", "image_id", "run"):
            assert str(item.key.get(name, "no such key")) not in page
        if task == "diagnosis" and "case_id" in item.key:
            gold = next(case.diagnosis for case in cases(6) if case.case_id == item.key["case_id"])
            assert gold not in " ".join(item.payload["complaints"]) and gold not in json.dumps(item.payload)
        with pytest.raises(FormError) as missing:
            task_named(task).read(item, {})
        field = missing.value.field
        again = str(shown(error=missing.value, picture=picture, **task_named(task).page(item)))
        assert f'id="error-{field}"' in again and f'href="#field-{field}"' in again and f'id="field-{field}"' in again


def test_raters_see_no_model_run_or_thought(source: Any, played: Path) -> None:
    found = json.dumps([item.payload for item in task_named("rubric").items(source("rubric"))])
    for secret in ("scripted", "keyword", str(played), "rationale"):
        assert secret not in found
    masked = without_names("I am ChatGPT-4o, not Phi-3.5-vision or my-model. Grok that.", ["lab/my-model", "my-model"])
    assert masked == "I am [name], not [name] or [name]. [name] that."
    assert without_names("Kimi-K2, not GLM-4.5V or HuatuoGPT-o1.", []) == "[name], not [name] or [name]."
    assert without_names("我是ChatGPT，不是my-model。", ["my-model"]) == "我是[name]，不是[name]。"
    assert (
        without_names("I am MODELÉ by ÄRZTE, 我是Ärzte。", ["modelé", "ärzte"]) == "I am [name] by [name], 我是[name]。"
    )
    assert without_names("The phi angle and a claudication.", []) == "The phi angle and a claudication."


@pytest.mark.parametrize("task", RATED)
def test_a_practice_item_has_feedback(task: TaskName) -> None:
    practice = task_named(task).practice()
    for seed in range(3):
        given = task_named(task).read(practice, form(task, practice, random.Random(seed)))
        assert len(task_named(task).feedback(practice, given)) > 20


@pytest.mark.parametrize("task", RATED)
@pytest.mark.parametrize("value", [["6"], ["1", "1"], ["<script>"], ["x" * 4000], [""], ["1\n"]])
def test_a_forged_form_is_refused_by_field(task: TaskName, value: list[str], source: Any) -> None:
    item = task_named(task).items(source(task))[0]
    whole = form(task, item, random.Random(1))
    for field in whole:
        if task == "rubric" and field == "diagnosis" and len(value[0]) in range(1, 100):
            continue  # any line of text
        with pytest.raises(FormError) as refused:
            task_named(task).read(item, {**whole, field: value})
        assert refused.value.field == field
        assert "<script>" not in refused.value.text and "xxx" not in refused.value.text


@pytest.mark.parametrize("task", RATED)
def test_another_source_is_one_clear_error(task: TaskName, photos: Path) -> None:
    other = Source(design(task), captions()) if task != "pairs" else Source(design(task), runs=(photos,))
    with pytest.raises(InputError, match=f"for the task {task}"):
        task_named(task).items(other)


# --- What is written --------------------------------------------------------------------------------------------------


def values(results: Sequence[Result]) -> list[tuple[Any, ...]]:
    return [(one.row, one.column, one.value, one.ci95, one.n) for one in results]


def typed(blank: Sequence[Path], responses: Sequence[Response], of: Mapping[str, Any]) -> list[Path]:
    """The same answers typed into the blank sheets of the existing command; `of` finds the answers of a row."""
    people = sorted({one.participant for one in responses})
    filled = []
    for person, path in zip(people, blank, strict=True):
        given = {one.item.id: one.given for one in responses if one.participant == person}
        rows = [{**row, "rater": person, **of["row"](given, row)} for row in read_sheet(path)]
        filled.append(write_sheet(path, rows))
    return filled


def test_table_4_of_pairs_is_that_of_typed_sheets(source: Any, tmp_path: Path) -> None:
    made = source("pairs", cases=10, seed=3, attention=0.2)
    items = task_named("pairs").items(made)
    responses = answered("pairs", items, ["P001", "P002", "P003"])
    written = task_named("pairs").sheet(responses, tmp_path / "served", names_of(items), "sample")
    sheets = [path for path in written if path.stem in ("pairs-P001", "pairs-P002", "pairs-P003")]
    rows = captions().splits["test"]
    blank = ratings.write_sheets(rows, tmp_path / "sheet.csv", pairs=10, seed=3, stand_in="sample")[:3]
    assert read_sheet(sheets[0])[0].keys() == read_sheet(blank[0])[0].keys()
    own = typed(blank, responses, {"row": lambda given, row: given[row["pair"]]})
    served, by_hand = (ratings.read_sheets(paths) for paths in (sheets, own))
    assert served.digest == by_hand.digest and served.stand_in == "sample"
    assert values(ratings.evaluate(served)) == values(ratings.evaluate(by_hand))
    assert execute(["ratings", *map(str, sheets)]) == 0


def test_table_7_is_that_of_typed_sheets(source: Any, photos: Path, tmp_path: Path) -> None:
    from baselines.threemdbench.consultation.cases import read_cases
    from loaders.opened import open_data

    made = source("diagnosis", setting="both", seed=2)
    items = task_named("diagnosis").items(made)
    responses = []
    for setting, people in (("image+basic", ["P001", "P003"]), ("image+all", ["P002", "P004"])):
        responses += answered("diagnosis", [item for item in items if item.id.startswith(setting)], people)
    written = task_named("diagnosis").sheet(responses, tmp_path / "served", names_of(items), None)
    known = read_cases(open_data(str(photos), split="test", default="3mdbench").splits["test"]).cases
    for setting, people in (("image+basic", ["P001", "P003"]), ("image+all", ["P002", "P004"])):
        sheets = [path for path in written if path.stem in [f"diagnosis-{setting}-{one}" for one in people]]
        blank = physicians.write_sheets(known, tmp_path / f"{setting}.csv", setting=setting, seed=2)[:2]
        own_responses = [one for one in responses if one.participant in people]
        own = typed(blank, own_responses, {"row": lambda given, row: given[f"{row['setting']}/{row['case']}"]})
        assert read_sheet(sheets[0])[0].keys() == read_sheet(own[0])[0].keys()
        assert physicians.read_sheets(sheets) == physicians.read_sheets(own)
        assert {row["complaints"] for row in read_sheet(sheets[0])} == {row["complaints"] for row in read_sheet(own[0])}


def test_figure_8_is_that_of_typed_sheets(source: Any, played: Path, photos: Path, tmp_path: Path) -> None:
    from baselines.results.comparison import read_runs
    from baselines.study.tasks.rubric import TASK

    made = source("rubric", seed=1)
    items = TASK.items(made)
    responses = answered("rubric", items, ["P001", "P002", "P003"])
    sheets = TASK.sheet(responses, tmp_path / "served", names_of(items), None)
    dialogues = selection_raters.dialogues_of(read_runs([played])[0])
    blank = selection_raters.write_sheets(dialogues, tmp_path / "s.csv", raters=3, count=len(dialogues), seed=1)[:3]
    own = typed(blank, responses, {"row": lambda given, row: given[row["dialogue"]]})
    assert [row.keys() for row in read_sheet(sheets[0])] == [row.keys() for row in read_sheet(own[0])]
    served, by_hand = (selection_raters.read_sheets(paths) for paths in (sheets, own))
    assert selection_raters.agreement(served) == selection_raters.agreement(by_hand)
    assert served.stand_in and served.stand_in == by_hand.stand_in
    words = ["select", "assessor", *map(str, sheets), "--run", str(played), "--data", str(photos)]
    assert execute([*words, "--assessor", "scripted/assessor", "-o", str(tmp_path / "out"), "--bare"]) == 0


def test_appendix_c_is_that_of_typed_sheets(source: Any, photos: Path, tmp_path: Path) -> None:
    from loaders.opened import open_data

    made = source("relevance", seed=4, attention=0.1)
    items = task_named("relevance").items(made)
    responses = answered("relevance", items, ["P001", "P002"])
    written = task_named("relevance").sheet(responses, tmp_path / "served", names_of(items), "sample")
    sheets = [path for path in written if path.stem in ("relevance-P001", "relevance-P002")]
    assert all((tmp_path / "served" / row["photo"]).is_file() for row in read_sheet(sheets[0]) if row["photo"])
    rows = open_data(str(photos), split="test", default="3mdbench").splits["test"]
    rows = rows.cast_column("image", datasets.Image(decode=False))
    blank = relevance_sheets.write_relevance_sheets(rows, tmp_path / "r.csv", raters=2, seed=4, stand_in="sample")
    own = []
    for person, path in zip(("P001", "P002"), [one for one in blank if one.stem in ("r-R1", "r-R2")], strict=True):
        marks = {
            item: str(mark)
            for one in responses
            if one.participant == person and not one.item.check
            for item, mark in one.given.items()
        }
        own.append(fill_marks(path, marks))
        write_sheet(path, [{**row, "rater": person} for row in read_sheet(path)])
    assert read_sheet(sheets[0])[0].keys() == read_sheet(own[0])[0].keys()
    served, by_hand = (relevance_sheets.read_relevance_sheets(paths) for paths in (sheets, own))
    assert served.digest == by_hand.digest and served.stand_in == "sample"
    some, other = (relevance_sheets.evaluate_relevance(read, resamples=50) for read in (served, by_hand))
    assert values(some) == values(other)
    assert execute(["ratings", *map(str, sheets)]) == 0


def test_a_run_of_another_game_has_no_consultations_to_rate(played: Path, tmp_path: Path) -> None:
    from baselines.results.comparison import read_runs

    (tmp_path / "dialogues.jsonl").write_text("{}\n", encoding="utf-8")
    run = read_runs([played])[0]
    with pytest.raises(InputError, match="a run of confirmation"):
        selection_raters.dialogues_of(
            replace(run, folder=tmp_path, record=replace(run.record, baseline="confirmation"))
        )


def test_no_case_is_in_both_tasks_of_a_study(source: Any) -> None:
    made = source("relevance")
    both = replace(made.design, tasks=("diagnosis", "relevance"))
    with pytest.raises(InputError, match="with only one case of"):
        task_named("relevance").items(replace(made, design=both))
    rows = Rows(encoded(made.opened.splits["test"]))
    twice = Rows((*rows, *({**row, "image_id": f"{row['image_id']} again"} for row in rows)))
    known = replace(made, design=both, opened=Bundled("3mdbench", {"test": twice}))
    groups = [{item.group for item in task_named(name).items(known)} for name in both.tasks]
    assert not groups[0] & groups[1] and len(groups[0]) == len(groups[1]) > 1


def test_incomplete_raters_are_left_out_by_name_and_other_files_are_kept(source: Any, tmp_path: Path) -> None:
    made = source("pairs", cases=6, attention=0.1)
    items = task_named("pairs").items(made)
    responses = answered("pairs", items, ["P001", "P002", "P003"])
    responses = [one for one in responses if one.participant != "P003" or one.position < 3]
    again = responses[0]
    responses.append(Response("P001", again.item, {**again.given, "fluency": 1}, 3.0, repeat=True, position=9))
    written = {path.name: path for path in task_named("pairs").sheet(responses, tmp_path, names_of(items), None)}
    assert sorted(written) == [
        "pairs-P001.csv", "pairs-P002.csv", "pairs-checks.csv", "pairs-left-out-P003.csv", "pairs-left-out.csv",
        "pairs-repeats.csv",
    ]  # fmt: skip
    (left,) = read_sheet(written["pairs-left-out.csv"])
    assert left["rater"] == "P003" and int(left["items"]) < int(left["of"]) == 6
    assert len(read_sheet(written["pairs-P001.csv"])) == 6
    assert len(read_sheet(written["pairs-left-out-P003.csv"])) == int(left["items"])  # kept, but not all of the items
    assert [row["again"] for row in read_sheet(written["pairs-repeats.csv"]) if row["question"] == "fluency"] == ["1"]
    assert {row["expected"] == row["given"] for row in read_sheet(written["pairs-checks.csv"])} == {True}
    with pytest.raises(InputError, match="an existing"):
        task_named("pairs").sheet(responses, tmp_path, names_of(items), None)
    alone = [one for one in responses if one.participant == "P003"]  # whose items are all that anybody has done so far
    files = task_named("pairs").sheet(alone, tmp_path / "early", names_of(items), None)
    assert (
        "pairs-left-out-P003.csv" in {path.name for path in files}
        and not (tmp_path / "early" / "pairs-P003.csv").exists()
    )


@pytest.mark.parametrize("task", ["diagnosis", "relevance"])
def test_some_of_the_cases_are_drawn_by_seed(task: TaskName, source: Any) -> None:
    """The first diagnoses by name were taken, whatever the seed."""

    def shown(**more: Any) -> set[str]:
        return {item.group for item in task_named(task).items(source(task, attention=0, **more))}

    every = shown()
    some = [shown(cases=2, seed=seed) for seed in range(6)]
    assert all(len(drawn) == 2 and drawn < every for drawn in some) and len(set(map(frozenset, some))) > 1


@pytest.mark.parametrize("task", RATED)
def test_a_study_of_more_cases_than_there_are_names_its_field(task: TaskName, source: Any) -> None:
    with pytest.raises(InputError, match=r"study\.yaml, cases: 999, of \d+") as told:
        task_named(task).items(source(task, cases=999))
    assert "--" not in str(told.value)
