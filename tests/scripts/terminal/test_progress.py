"""The bars of long work."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from builders.pipeline.progress import Meter
from loaders.models.waiting import waiting
from scripts.terminal import progress
from scripts.terminal.progress import Bars


def shown(*, terminal: bool, quiet: bool = False) -> str:
    console = Console(file=io.StringIO(), force_terminal=terminal, width=120)
    with Bars(console, quiet=quiet) as bars:
        counted = bars.count("photos [of a test]", 4)
        counted(3, 4)
        bars.show("images", 7, 9, status="epoch 2")
        bars.refresh()
        with waiting("rate limit", 30):
            bars.refresh()
        assert not any(task.fields["status"] for task in bars.tasks)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_bar_for_each_name_with_what_is_waited_for() -> None:
    last = shown(terminal=True)
    assert "photos [of a test]" in last and "3/4" in last and "7/9" in last and "epoch 2" in last
    assert "waiting 30 s: rate limit" in last


@pytest.mark.parametrize("width", [60, 80])
def test_a_narrow_terminal_cuts_no_number_and_no_word(width: int) -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=width)
    with Bars(console) as bars:
        bars.count("consultations, dialogue+image", 123456)(120000, 123456)
        bars.tell("waiting 30 s: rate limit of vllm/meta-llama/Meta-Llama-3-8B-Instruct")
    assert isinstance(console.file, io.StringIO)
    drawn = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue())
    assert "…" not in drawn and "120000/123456" in drawn and max(map(len, re.split("[\r\n]", drawn))) <= width
    assert {"dialogue+image", "rate", "vllm/meta-llama/Meta-Llama-3-8B-Instruct"} <= set(drawn.split())


def test_nothing_is_drawn_without_a_terminal() -> None:
    assert shown(terminal=False) == "" == shown(terminal=True, quiet=True).strip()


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(terminal=False) == ""  # it took no minute
    monkeypatch.setattr(progress, "_EVERY", 0.0)
    assert shown(terminal=False).splitlines() == [
        "photos [of a test]: 0 of 4", "photos [of a test]: 3 of 4", "images: 7 of 9", "waiting 30 s: rate limit"
    ]  # fmt: skip
    assert shown(terminal=False, quiet=True) == ""


def test_stages_that_print_lines_print_none_with_quiet() -> None:
    """Without a terminal a stage prints plain lines instead of moving a bar."""
    lines = []
    for quiet in (False, True):
        console = Console(file=io.StringIO(), force_terminal=False)
        with Bars(console, quiet=quiet) as bars:
            Meter(bars.unless_quiet, "examine", rows=3, batches=1).finish(0)
        assert isinstance(console.file, io.StringIO)
        lines.append(console.file.getvalue())
    assert lines == ["examine: 0 rows, 0 excluded\n", ""]


def test_a_stage_calls_what_it_counts_by_its_name() -> None:
    console = Console(file=io.StringIO(), force_terminal=False)
    with Bars(console) as bars:
        for number in (1, 20):
            meter = Meter(bars.unless_quiet, "compare", rows=number, batches=1, unit="pair")
            meter.advance(number)
            meter.finish(0)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "compare: 1 pair, 0 excluded\ncompare: 20 pairs, 0 excluded\n"
