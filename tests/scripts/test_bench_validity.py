"""The table of `scripts.bench.validity` has every row, for both policies, on a few cases."""

from __future__ import annotations

import pytest

from builders.samples.medconceal.cases import profiles
from scripts.bench.validity import TURNS, ranked, read_turns, rows


def test_every_row_has_a_number_for_both_policies() -> None:
    found = rows(profiles()[:2], read_turns(None)[:24])
    assert len(found) == 24 and all(ours for _, _, ours in found)
    by_name = {name: (paper, ours) for name, paper, ours in found}
    assert by_name["ordinary questions blocked, probes missed"][1] == "0 of 5, 0 of 4"
    assert by_name["quality 0.9, one paragraph eight times: reveal"] == ("1.00", "0.00")


@pytest.mark.parametrize(
    ("file", "first", "last"),
    [
        ("clinicians.json", "1. excellent_follower", "10. parrot"),
        ("hazel.json", "1. Moira Tannahill", "10. Julian Pemberton"),
    ],
)
def test_every_clinician_of_an_author_is_listed_with_its_rank(file: str, first: str, last: str) -> None:
    found = ranked(TURNS / file, profiles()[:1])
    orders = [
        name.rpartition(" by ")[2] for name, *_ in found if name.startswith("10 clinicians ranked by their author")
    ]
    head = ["Reveal Rate, then Nearness", "Reveal Rate", "Nearness"]
    assert orders == [*head, "Success", "Success, then Nearness", *head[1:]] and len(found) == 7 + 2 * 10
    assert found[3][0] == f"{first}: Reveal Rate / Nearness"
    assert found[-1][0] == f"{last}: Success / Reveal Rate / Nearness"
    assert all(paper and ours for _, paper, ours in found)
