"""The recipes of 3MDBench's dialogue tables: what they expect is what the paper prints, and their commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from baselines.published import published
from scripts.cli import app

FOLDER = Path(__file__).resolve().parent.parent / "scripts" / "reproduce" / "threemdbench"
TABLES = {
    "table_3": ("Table 3",),
    "table_4": ("Table 4", "Figure 8"),
    "table_5_6": ("Table 5", "Table 6"),
    "table_7": ("Table 7",),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_recipe_expects_what_the_paper_prints_and_states_its_cost(name: str) -> None:
    recipe = FOLDER / f"{name}.sh"
    text = recipe.read_text("utf-8")
    assert text.startswith("#!/usr/bin/env bash\n# ") and "\n# Cost: " in text and "\nset -euo pipefail\n" in text
    assert recipe.stat().st_mode & 0o111
    numbers = [one for one in published("3MDBench") if one.table.startswith(TABLES[name])]
    lines = [line[4:] for line in text.partition("# Published")[2].splitlines() if line.startswith("#   ")]
    assert lines
    for line in lines:
        label, _, said = line.partition(" | ")
        printed = {one.value for one in numbers if label in (one.row, one.setting)}
        said = re.sub(r"#\d|GPT-4o-mini|\(chosen\)", "", said)
        found = {float(number) for number in re.findall(r"(?<![\w-])\d+(?:\.\d+)?", said)}
        assert found and found <= printed, line


def test_a_recipe_states_every_f1_of_the_paper() -> None:
    text = (FOLDER / "table_5_6.sh").read_text("utf-8")
    for one in published("3MDBench", "Table 5"):
        if one.column == "F1" and not one.row.startswith("EfficientNet"):
            assert one.printed in text, one.key


@pytest.mark.parametrize("name", TABLES)
def test_the_commands_of_a_recipe_and_their_options_exist(name: str) -> None:
    root: Any = typer.main.get_command(app)
    text = (FOLDER / f"{name}.sh").read_text("utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith("bedside ")]
    assert any(line.startswith("bedside compare") for line in lines)
    for line in lines:
        words = shlex.split(line)[1:]
        command = root
        while hasattr(command, "commands"):
            command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("-")} <= known, line
