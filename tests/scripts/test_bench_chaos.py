"""What `bench/chaos.py` counts as in flight when a disk was full."""

from __future__ import annotations

import pytest

from scripts.bench.chaos import full_from
from scripts.bench.chaos_jobs import Asked

KEPT, LOST, BESIDE = (Asked(name, "a", at, at + 2) for name, at in (("kept", 0.0), ("lost", 1.0), ("beside", 1.5)))
AFTER = Asked("after", "a", 9.0, None)


@pytest.mark.parametrize(
    "asked, later, since",
    [
        ([KEPT, LOST, BESIDE], {"lost": 30.0, "beside": 30.0}, 3.0),  # the first that did not fit
        (
            [KEPT, LOST, BESIDE, AFTER],
            {"lost": 30.0, "beside": 30.0, "after": 30.0},
            20.0,
        ),  # it went on: lost otherwise
        ([KEPT, LOST, BESIDE], {"kept": -5.0}, 20.0),  # asked before this attempt, and not again
        ([], {}, 20.0),
    ],
)
def test_a_full_disk_begins_with_the_first_answer_that_does_not_fit(
    asked: list[Asked], later: dict[str, float], since: float
) -> None:
    assert full_from(asked, later, 20.0) == since
