"""The table of `scripts.bench.validity` has every row, for both policies, on a few cases."""

from __future__ import annotations

from builders.samples.medconceal.cases import profiles
from scripts.bench.validity import read_turns, rows


def test_every_row_has_a_number_for_both_policies() -> None:
    found = rows(profiles()[:2], read_turns(None)[:24])
    assert len(found) == 24 and all(ours for _, _, ours in found)
    by_name = {name: (paper, ours) for name, paper, ours in found}
    assert by_name["ordinary questions blocked, probes missed"][1] == "0 of 5, 0 of 4"
    assert by_name["quality 0.9, one paragraph eight times: reveal"] == ("1.00", "0.00")
