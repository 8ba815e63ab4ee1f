"""What a stage runs and opens is what its stored result depends on: proved by builds, and by changes of the code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.steps import admit, refine_by_rules
from builders.pipeline.work import Work
from builders.pipeline.workspace import Workspace
from loaders.reached import reach
from tests.parts.chat_server import ChatServer
from tests.parts.places import ROOT
from tests.parts.processes import printed
from tests.parts.thread_reader import careful

SAMPLE = ["build", "medlaybench-v", "--captions", "sample", "--limit"]
CAPTIONS, FEW = [*SAMPLE, "16"], [*SAMPLE, "3"]


def watched(command: list[str], out: Path) -> Any:
    said = printed("-m", "tests.parts.watched_build", *command, "--out", out, LOCAL_API_KEY="none")
    return json.loads(said.splitlines()[-1])


@pytest.mark.parametrize(
    ("command", "last"),
    [
        pytest.param(CAPTIONS, "refine", marks=pytest.mark.long),
        (["build", "3mdbench", "--source", "sample", "--limit", "40"], "complaints"),
        pytest.param(["build", "medconceal", "--source", "sample"], "review", marks=pytest.mark.long),
    ],
)
def test_what_a_stage_runs_and_opens_is_covered(command: list[str], last: str, tmp_path: Path) -> None:
    found = watched(command, tmp_path / "out")
    assert found["stages"][0] == "source" and found["stages"][-1] == last
    # The pictures of the samples are what rows are about: the source's identity or the row holds their digest.
    assert [line for line in found["missing"] if "images opens builders/samples/" not in line] == []


@pytest.mark.long
def test_what_a_stage_that_asks_runs_is_covered(tmp_path: Path) -> None:
    with ChatServer(careful) as server:
        model = ["--model", "openai-api/local/reader", "--base-url", server.base_url]
        found = watched(["build", "medconceal", "--source", "sample-threads", *model], tmp_path / "out")
    assert {"commonness", "profile", "plan", "finish"} <= set(found["stages"])
    assert found["missing"] == []


WORKED = """
import sys
from builders.pipeline import work as working
from scripts.cli import execute
work = working.Work.__call__
def told(self, *arguments):
    print("worked:", self.stage.name)
    return work(self, *arguments)
working.Work.__call__ = told
sys.exit(execute(sys.argv[1:]))
"""


def test_a_change_recomputes_the_stages_that_can_reach_it(tmp_path: Path) -> None:
    for room in ("builders", "loaders", "baselines", "scripts", "dataset_cards"):
        shutil.copytree(ROOT / room, tmp_path / room)  # what is compiled already, too

    def worked() -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", WORKED, *FEW, "--workers", "1", "--out", str(tmp_path / "out"), "--overwrite"],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return {line.removeprefix("worked: ") for line in done.stdout.splitlines() if line.startswith("worked: ")}

    def change(file: str, old: str, new: str) -> None:
        text = (tmp_path / file).read_text(encoding="utf-8")
        assert old in text
        (tmp_path / file).write_text(text.replace(old, new, 1), encoding="utf-8")

    assert worked() == {"admit", "unique", "images", "refine"}
    for file in (tmp_path / "builders" / "publish").glob("*.py"):
        file.write_text(f"# A remark.\n{file.read_text(encoding='utf-8')}\nNEW = 1\n", encoding="utf-8")
    change("loaders/errors.py", '"""', '"""Another word: ')
    change("builders/medlaybench_v/facts/scan.py", "\n\nimport", "\n\nNEW = 1\nimport")
    assert worked() == {"refine"}


def test_a_stage_can_reach_its_own_code_and_what_works_on_it_alone() -> None:
    schema = pa.schema([("id", pa.string())])
    for declared, reads in ((admit(frozenset()), False), (refine_by_rules(Lexicon(())), True)):
        parts = reach(Work(declared.stage(schema), "id", Workspace(Path("nowhere")), 1)).parts
        assert ("builders.medlaybench_v.facts.scan" in parts) == reads
        assert "builders.pipeline.workspace" in parts
        assert not any(name.startswith("builders.publish") for name in parts)


def test_nothing_that_a_stage_can_reach_reads_docstrings() -> None:
    """Their text does not count, so it may decide nothing."""
    from builders.pipeline.run import run

    for path in reach(run).files:
        assert path.suffix != ".py" or "__doc__" not in path.read_text(encoding="utf-8"), path
