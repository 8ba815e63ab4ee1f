"""Tables 5 and A4 from runs: means, shares, what joins the paper, what is refused; and the recipes of the tables."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.medlaybench_v.ablation import evaluate, joined_record
from baselines.medlaybench_v.retrieval import EXPERT, METHODS, CaptionRows, model_means
from baselines.medlaybench_v.retrieval import evaluate as retrieve
from baselines.results.comparison import FinishedRun, compare, read_runs
from baselines.results.published import MODELS, published
from baselines.results.run import VECTORS, DataUsed, ModelUsed, Result, RunRecord, write_run
from loaders.errors import InputError
from scripts.cli import find
from tests.baselines.medlaybench_v.test_retrieval import embedded
from tests.parts.places import ROOT

SCGR, LLM_CUI, LLM = METHODS
R1 = "Average R@1 (I2T and T2I)"
EIGHT = "Mean of the 8 models"


def run(
    name: str,
    condition: str,
    recall: dict[str, tuple[float, float]],
    *,
    digest: str = "",
    n: int = 100,
    revision: str = "r1",
    source: str | None = None,
    **changes: Any,
) -> FinishedRun:
    """A retrieval run of model -> R@1 with lay and with expert captions."""
    record = RunRecord(
        baseline="retrieval",
        data=DataUsed("medlaybench-v", "test", None, digest or f"release of {condition}"),
        models=tuple(ModelUsed("encoder", model, revision, source) for model in recall),
        versions={"torch": "2.6"},
        **changes,
    )
    results = [
        Result(
            paper="MedLayBench-V", table="Table A4", row=model, setting=setting, column=R1, split_or_group="test",
            value=value, unit="percent", direction="up", n=n, record=record,
        )
        for model, (lay, expert) in recall.items()
        for setting, value in ((condition, lay), (EXPERT, expert))
    ]  # fmt: skip
    return FinishedRun(Path(name), record, results)


def by_cell(results: list[Result]) -> dict[tuple[str, str, str, str], Result]:
    cells = {(result.table, result.row, result.setting, result.column): result for result in results}
    assert len(cells) == len(results)
    return cells


def printed() -> list[FinishedRun]:
    """Runs that say what the paper prints."""
    by_condition: dict[str, dict[str, float]] = {}
    for number in published("MedLayBench-V", "Table A4"):
        if number.row in MODELS:
            by_condition.setdefault(number.setting, {})[number.row] = number.value
    expert = by_condition[EXPERT]
    runs = [
        run(condition, condition, {model: (by_condition[condition][model], expert[model]) for model in MODELS})
        for condition in METHODS
    ]
    # As `bedside run retrieval` leaves them, a run of all eight holds their mean.
    return [replace(one, results=[*one.results, *model_means(one.results)]) for one in runs]


def test_the_papers_own_cells_give_its_averages_and_shares() -> None:
    results = evaluate(printed())
    ours = {result.key: result for result in results}
    theirs = [*published("MedLayBench-V", "Table 5"), *published("MedLayBench-V", "Table A4")]
    theirs += [number for number in published("MedLayBench-V", "Text Sec 4.4") if number.row in (LLM, SCGR)]
    assert len(theirs) == 4 + 36 + 2
    for number in theirs:
        own = ours[number.key]
        assert own.value == pytest.approx(number.value, abs=number.half_unit + 0.006), number
        assert (own.unit, own.direction, own.n) == (number.unit, number.direction, 100)  # n: rows, as of each model
    assert len(ours) == len(results)
    assert not [result for result in results if result.row.startswith("Mean of 8")]  # once, under the paper's name


def test_a_method_of_ones_own_comes_after_the_papers() -> None:
    runs = [run("a", "mine", {"BiomedCLIP": (15, 30)}), run("b", LLM, {"BiomedCLIP": (3, 30)})]
    cells = by_cell(evaluate(runs))
    assert list(dict.fromkeys(key[2] for key in cells if key[0] == "Table A4")) == [LLM, EXPERT, "mine"]
    assert cells["Table 5", "BiomedCLIP", "mine", "Share of Expert, R@1"].value == 50


def test_means_over_the_models_that_every_condition_has() -> None:
    runs = [
        run("a", LLM, {"BiomedCLIP": (4, 30), "mine": (2, 10), "only here": (50, 90)}),
        run("b", SCGR, {"BiomedCLIP": (28, 30), "mine": (8, 10)}),
    ]
    cells = by_cell(evaluate(runs))
    assert cells["Table 5", "Mean of 2 models", LLM, R1].value == 3
    assert cells["Table 5", "Mean of 2 models", SCGR, R1].value == 18
    assert cells["Table 5", "Mean of 2 models", EXPERT, R1].value == 20
    assert cells["Table 5", "Mean of 2 models", SCGR, R1].note == "of BiomedCLIP, mine"
    share = cells["Table 5", "Mean of 2 models", SCGR, "Share of Expert, R@1"]
    assert (share.value, share.numerator, share.denominator) == (90, 18, 20)
    # The paper's mean is one of eight models, never of fewer.
    missing = cells["Table 5", EIGHT, SCGR, R1]
    assert missing.value is None and "OpenAI-CLIP-Base" in missing.note and "BiomedCLIP" not in missing.note
    assert cells["Text Sec 4.4", LLM, "", "Drop from Expert"].value is None
    # Rows of Table A4: the paper's order, then others.
    order = [key[1] for key in cells if key[0] == "Table A4" and key[2] == LLM and key[1] != EIGHT]
    assert order == ["BiomedCLIP", "mine", "only here"]


def test_one_condition_over_several_runs_and_one_model_alone() -> None:
    runs = [run("a", SCGR, {"BiomedCLIP": (28, 30)}), run("b", SCGR, {"PMC-CLIP": (27, 28)})]
    cells = by_cell(evaluate(runs))
    assert cells["Table 5", "Mean of 2 models", SCGR, R1].value == 27.5
    alone = by_cell(evaluate([run("a", SCGR, {"mine": (28, 30)})]))
    assert alone["Table 5", "mine", SCGR, R1].value == 28
    assert ("Table A4", EIGHT, SCGR, R1) not in alone


def test_no_recall_at_all_has_no_share() -> None:
    cells = by_cell(evaluate([run("a", SCGR, {"mine": (0, 0)})]))
    share = cells["Table 5", "mine", SCGR, "Share of Expert, R@1"]
    assert share.value is None and share.note == "not computed: the recall with expert captions is 0"


def test_the_record_names_the_runs_and_a_stand_in_among_them_makes_the_table_one(tmp_path: Path) -> None:
    runs = [run("a", LLM, {"m": (1, 3)}), run("b", SCGR, {"m": (2, 3)}, stand_in="random weights: m")]
    results = evaluate(runs)
    record = results[0].record
    assert record is not None and {result.record for result in results if result.record != record} == set()
    assert record.options["runs"] == sorted(one.record.run_id for one in runs)
    assert record.stand_in == "random weights: m" and {result.provenance for result in results} == {"stand-in"}
    assert [model.name for model in record.models] == ["m"] and record.versions == {"torch": "2.6"}
    write_run(tmp_path, record, results)
    (read,) = read_runs([tmp_path])
    assert all("no reproduction" in pair.verdict or pair.own.value is None for pair in compare([read]))
    assert evaluate(runs[::-1])[0].run_id == record.run_id


def test_joined_record_keeps_the_data_of_runs_over_one_release() -> None:
    one = run("a", SCGR, {"m": (1, 3)})
    other = run("b", SCGR, {"n": (1, 3)})
    assert joined_record([one, other]).data == one.record.data
    apart = joined_record([one, run("c", LLM, {"m": (1, 3)})])
    assert len(apart.data.content_digest) == 64 and apart.data.split == "test"


def test_real_retrieval_runs_from_embeddings_to_table_5(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    images = generator.normal(size=(24, 16))
    expert = images + 0.5 * generator.normal(size=images.shape)
    folders = []
    for condition, noise in ((LLM, 3.0), (SCGR, 0.6)):
        layman = images + noise * np.random.default_rng(1).normal(size=images.shape)
        rows = CaptionRows(["DRCT"] * 24, [f"e{at}" for at in range(24)], [f"{condition} {at}" for at in range(24)])
        record = RunRecord(
            baseline="retrieval",
            data=DataUsed("medlaybench-v", "test", None, condition),
            options={"k": [1, 5, 10], "method": condition, "resamples": 50},
            seeds={"bootstrap": 0},
        )
        results = retrieve(embedded(rows, images, expert, layman), rows, record=record, model="mine")
        folders.append(tmp_path / condition.replace(" ", "-"))
        write_run(folders[-1], record, results)
    cells = by_cell(evaluate(read_runs(folders, different_data=True)))
    values = [cells["Table 5", "mine", condition, R1].value for condition in (LLM, SCGR, EXPERT)]
    assert all(value is not None for value in values) and values[0] < values[1] <= values[2] + 20  # type: ignore[operator]
    assert cells["Table A4", "mine", SCGR, R1].ci95 is not None
    assert ("Table A4", "mine", LLM, "Average R@10 (I2T and T2I)") in cells


# --- Runs that do not belong together ---------------------------------------------------------------------------------

GOOD = run("good", LLM, {"m": (1, 3)})


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (run("x", SCGR, {"m": (2, 4)}), "R@1 (I2T and T2I) of m with expert captions 4"),
        (run("x", SCGR, {"n": (2, 4)}, n=99), "99 rows"),
        (run("x", LLM, {"n": (2, 3)}, digest="another"), "content another… of LLM Only"),
        (run("x", SCGR, {"m": (2, 3)}, digest="release of LLM Only"), "LLM Only and SCGR (Ours) over the same release"),
        (run("x", SCGR, {"m": (2, 3)}, revision="r2"), "m at r2"),
        (run("x", LLM, {"m": (2, 3)}, options={"again": 1}), "LLM Only of m in both"),
    ],
)
def test_runs_over_different_data_are_refused_with_the_names_of_both(other: FinishedRun, found: str) -> None:
    with pytest.raises(InputError) as error:
        evaluate([GOOD, other])
    assert found in str(error.value) and error.value.where == "good and x"


def test_embeddings_made_elsewhere_differ_between_conditions() -> None:
    """Their digest covers the lay captions: other ones are no other encoder, and the same ones are a mistake."""
    llm = run("llm", LLM, {"ours": (1, 4)}, source=VECTORS)
    scgr = run("scgr", SCGR, {"ours": (3, 4)}, revision="r2", source=VECTORS)
    same = run("same", LLM_CUI, {"ours": (2, 4)}, source=VECTORS)
    shares = {cell.setting: cell.value for cell in evaluate([llm, scgr]) if cell.column == "Share of Expert, R@1"}
    assert shares == {LLM: 25, SCGR: 75}
    assert [model.revision for model in joined_record([llm, scgr]).models] == ["r1", "r2"]
    with pytest.raises(InputError, match=r"LLM Only and LLM \+ CUI over the same set of embeddings"):
        evaluate([llm, scgr, same])


def test_runs_over_another_split_or_corpus_are_refused() -> None:
    for data in (DataUsed("medlaybench-v", "train", None, "d"), DataUsed("another", "test", None, "d")):
        other = run("x", SCGR, {"m": (2, 3)})
        record = replace(other.record, data=data)
        other = FinishedRun(other.folder, record, [replace(result, record=record) for result in other.results])
        with pytest.raises(InputError, match="good and x"):
            evaluate([GOOD, other])


def test_what_is_no_retrieval_run_is_refused() -> None:
    with pytest.raises(InputError, match="a retrieval run with no cells"):
        evaluate([FinishedRun(Path("x"), GOOD.record, [])])
    lone = [result for result in GOOD.results if result.setting == EXPERT]
    with pytest.raises(InputError, match="with Expert cells"):
        evaluate([FinishedRun(Path("x"), GOOD.record, lone)])


# --- The recipes of the tables ----------------------------------------------------------------------------------------

RECIPES = sorted((ROOT / "scripts" / "reproduce" / "medlaybench_v").glob("*.sh"))


def named_tables(recipe: Path) -> set[str]:
    """table_5_a4 -> Table 5, Table A4; figure_a3 -> Figure A3. Table A3 comes with Table 3."""
    kind, *names = recipe.stem.split("_")
    found = {f"{kind.title()} {name.upper()}" for name in names}
    return found | ({"Table A3"} if "Table 3" in found else set())


def expected(recipe: Path) -> list[tuple[str, list[str]]]:
    """Label and printed numbers of each line under "Published"."""
    lines = recipe.read_text().partition("# Published")[2].partition("\n# Cost")[0].splitlines()
    found = [line.removeprefix("#   ").split(" | ") for line in lines if " | " in line]
    number = re.compile(r"(?<![\w@-])-?\d[\d,]*(?:\.\d+)?(?![\w@])")
    plain = [(label, re.sub(r"Tables? \w+|R@\d+|BLEU-4|of the 8 models", "", text)) for label, text in found]
    return [(label, [one.rstrip(",").replace(",", "") for one in number.findall(text)]) for label, text in plain]


def test_every_table_and_figure_with_numbers_has_a_recipe() -> None:
    covered = {name for recipe in RECIPES for name in named_tables(recipe)}
    tables = {number.table for number in published("MedLayBench-V") if number.table.startswith("Table")}
    assert tables <= covered and "Figure A3" in covered


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_a_recipe_expects_what_the_paper_prints_and_states_its_cost(recipe: Path) -> None:
    text = recipe.read_text()
    assert text.startswith("#!/usr/bin/env bash\n# ") and "\n# Cost: " in text and "\nset -euo pipefail\n" in text
    assert recipe.stat().st_mode & 0o111
    numbers = [
        number
        for number in published("MedLayBench-V")
        if any(number.table == name or number.table.startswith(f"{name} ") for name in named_tables(recipe))
    ]
    lines = expected(recipe)
    assert lines
    for label, values in lines:
        printed_values = {number.value for number in numbers if label in (number.row, number.setting)}
        assert values and {float(value) for value in values} <= printed_values, (label, values)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.stem)
def test_the_commands_of_a_recipe_and_their_options_exist(recipe: Path) -> None:
    text = recipe.read_text().replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("bedside ")]
    assert len(lines) >= 2 and any(line.startswith("bedside compare") for line in lines)
    for line in lines:
        command, words = find(shlex.split(line)[1:])
        known = {option for parameter in command.params for option in parameter.opts}
        used = [word for word in words if word.startswith("-")]
        assert set(used) <= known, (line, sorted(known))
