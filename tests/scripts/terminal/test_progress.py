"""The bars of long work."""

from __future__ import annotations

import io

from rich.console import Console

from loaders.models.waiting import waiting
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
    assert last.count("waiting 30 s: rate limit") >= 2


def test_nothing_where_nobody_looks() -> None:
    assert shown(terminal=False) == "" == shown(terminal=True, quiet=True).strip()
