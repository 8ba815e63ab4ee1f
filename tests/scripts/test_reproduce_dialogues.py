"""The recipes of the dialogue tables: what they expect is what the paper prints, and their commands exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from baselines.results.published import published
from scripts.cli import find

FOLDER = Path(__file__).resolve().parents[2] / "scripts" / "reproduce"
TABLES = {
    "threemdbench/table_3": ("Table 3",),
    "threemdbench/table_4": ("Table 4", "Figure 8"),
    "threemdbench/table_5_6": ("Table 5", "Table 6"),
    "threemdbench/table_7": ("Table 7",),
    "threemdbench/table_8": ("Table 8", "Table 5"),
    "medconceal/table_1_2_6": ("Table 1", "Table 2", "Table 6"),
    "medconceal/table_3_4_6": ("Table 3", "Table 4", "Table 6"),
    "medconceal/table_7_11": ("Table 7", "Table 8", "Table 9", "Table 10", "Table 11"),
}
PAPERS = {"threemdbench": "3MDBench", "medconceal": "MedConceal"}


@pytest.mark.parametrize("name", TABLES)
def test_a_recipe_expects_what_the_paper_prints_and_states_its_cost(name: str) -> None:
    recipe = FOLDER / f"{name}.sh"
    text = recipe.read_text("utf-8")
    assert text.startswith("#!/usr/bin/env bash\n# ") and "\n# Cost: " in text and "\nset -euo pipefail\n" in text
    assert recipe.stat().st_mode & 0o111
    numbers = [one for one in published(PAPERS[name.partition("/")[0]]) if one.table.startswith(TABLES[name])]
    lines = [line[4:] for line in text.partition("# Published")[2].splitlines() if line.startswith("#   ")]
    assert lines
    for line in lines:
        label, _, said = line.partition(" | ")
        printed = {one.value for one in numbers if label in (one.row, one.setting)}
        said = re.sub(r"#\d|GPT-4o-mini|\(chosen\)|\b\d+ turns|F1", "", said)
        found = {float(number) for number in re.findall(r"(?<![\w-])\d+(?:\.\d+)?", said)}
        assert found and found <= printed, line


def test_a_recipe_states_every_f1_of_the_paper() -> None:
    text = (FOLDER / "threemdbench" / "table_5_6.sh").read_text("utf-8")
    for one in published("3MDBench", "Table 5"):
        if one.column == "F1" and not one.row.startswith("EfficientNet"):
            assert one.printed in text, one.key


def test_dialogues_of_people_are_scored_before_anything_is_paid_and_by_their_own_trace(tmp_path: Path) -> None:
    """Most have a trace, beside which an evaluator is refused: this ended the recipe after ten paid runs."""
    bedside = tmp_path / "bedside"
    bedside.write_text('#!/bin/sh\necho "$@" >> "$LOG"\n')
    bedside.chmod(0o755)
    given = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(tmp_path / "log"), "TRANSCRIPTS": "people.jsonl"}
    for more, told in (({}, ""), ({"RATER": "m"}, " --evaluator m")):
        subprocess.run([FOLDER / "medconceal/table_1_2_6.sh", "data"], env={**given, **more}, check=True)
        runs = [line for line in (tmp_path / "log").read_text().splitlines() if line.startswith("run ")]
        told = f"--transcripts people.jsonl --judge openai/gpt-4o{told} -o"
        assert len(runs) == 11 and runs[0].startswith(f"run confirmation data {told}")
        (tmp_path / "log").unlink()


@pytest.mark.parametrize("name", TABLES)
def test_the_commands_of_a_recipe_and_their_options_exist(name: str) -> None:
    text = (FOLDER / f"{name}.sh").read_text("utf-8").replace("\\\n", " ")
    task = re.search(r"^play_task (\w+)", text, re.MULTILINE)
    if task:
        text += (FOLDER / name).with_name("play_task").read_text("utf-8").replace("$task", task[1])
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("bedside ")]
    assert any(line.startswith("bedside compare") for line in lines)
    assert not task or sum(line.startswith("bedside run ") for line in lines) == 2
    for line in lines:
        command, words = find(shlex.split(line)[1:])
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known, line
