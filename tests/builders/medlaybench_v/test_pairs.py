"""Pairs written by others: what becomes of the broken ones, and of the faithful ones.

`tests/pairs` is the development set; others are kept apart (`python -m scripts.bench.pairs FILE`). A change of the
gates may not trade one kind of fact for another: each number stays within a pair of what was measured, or a hundredth
of all.
"""

from __future__ import annotations

from functools import cache

import pytest

from builders.medlaybench_v.gates import OUTCOMES
from scripts.bench.pairs import DEVELOPMENT, Score, judge, read, scores

# Set, class: of the broken pairs, how many fail and how many pass without a word; of the faithful ones, how many fail
# and how many are in doubt.
MEASURED = {
    "development": {
        "certainty": (26, 0, 0, 0),
        "comparison": (20, 2, 2, 1),
        "invention": (23, 0, 0, 2),
        "marker": (25, 3, 0, 0),
        "method": (30, 0, 0, 0),
        "other": (18, 4, 0, 1),
        "polarity": (21, 1, 0, 1),
        "quantity": (24, 2, 0, 0),
        "side": (28, 0, 0, 0),
        "time": (22, 4, 0, 3),
        "all": (237, 16, 2, 8),
    },
    # A later writer, with whose pairs the rules were mended once they had been measured; eight of each kind a class.
    "maple": {
        "certainty": (6, 0, 0, 0),
        "comparison": (6, 0, 0, 1),
        "invention": (6, 0, 0, 1),
        "marker": (5, 2, 0, 0),
        "method": (8, 0, 0, 0),
        "other": (4, 2, 0, 2),
        "polarity": (7, 0, 0, 1),
        "quantity": (8, 0, 0, 0),
        "side": (7, 1, 0, 0),
        "time": (7, 1, 0, 0),
        "all": (64, 6, 0, 5),
    },
    # The last ones, each played once before it was read; of medlar, aspen, mulberry and rowan half the pairs were read.
    "sycamore": {"all": (62, 4, 0, 4)},
    "hornbeam": {"all": (59, 7, 4, 8)},
    "spindle": {"all": (63, 2, 1, 9)},
    "laurel": {"all": (50, 17, 2, 18)},
    "quince": {"all": (42, 15, 6, 20)},
    "walnut": {"all": (43, 24, 3, 13)},
    "hazel": {"all": (50, 15, 1, 19)},
    "medlar": {"all": (49, 13, 7, 19)},
    "aspen": {"all": (56, 12, 1, 5)},
    "mulberry": {"all": (50, 10, 5, 19)},
    "rowan": {"all": (44, 12, 7, 17)},
    # Played once before some fifty of them were read; no rule was made with them.
    "tamarack": {"all": (48, 17, 8, 15)},
    "willow": {"all": (46, 20, 10, 24)},
    # Light edits, which keep most words; played once before they were read (42, 29, 6, 5 without `facts/slots.py`).
    "rosehip": {"all": (46, 22, 6, 9)},
    # Short pairs; read when it was decided what holds in short captions (127, 21, 7, 6 before).
    # Plain pairs of three writers, most of them short; each played once before it was read (79, 29, 5, 12;
    # 78, 16, 2, 5; 62, 14, 9, 5).
    "hawthorn": {"all": (85, 25, 2, 12)},
    "blackthorn": {"all": (86, 7, 0, 6)},
    "elder": {"all": (62, 14, 3, 6)},
    "linden": {"all": (158, 16, 3, 3)},
    "almond": {"all": (45, 12, 4, 10)},  # played once; two of it were read later
    # Played once before it was read (34, 4, 2, 1); mended with it.
    "osier": {"all": (37, 1, 0, 1)},
    # Played once before dogwood was read (29, 11, 3, 6); nobody read bramble (32, 11, 2, 2).
    "dogwood": {"all": (29, 11, 0, 7)},
    "bramble": {"all": (32, 11, 2, 2)},
    # One or two for each thing that the gates are meant to know. Rules that hardly count elsewhere decide many of them.
    "checklist": {"all": (63, 3, 6, 0)},
}
_SIZES = {
    "development": 600,
    "linden": 360,
    "hawthorn": 240,
    "blackthorn": 200,
    "almond": 120,
    "osier": 80,
    "dogwood": 100,
    "bramble": 100,
    "checklist": 154,
}
_FOLDERS = {"rosehip": "light", "checklist": "listed"}


@cache
def found(name: str) -> dict[str, Score]:
    folder = DEVELOPMENT / _FOLDERS.get(name, "unseen")
    pairs = read([] if name == "development" else [folder / f"{name}.jsonl"])
    assert len({pair["id"] for pair in pairs}) == len(pairs) == _SIZES.get(name, 160)
    return scores(pairs, judge(pairs))


def test_the_development_set_is_what_it_says() -> None:
    pairs = read([])
    assert len({pair["id"] for pair in pairs}) == len(pairs) == 600
    assert {pair["writer"] for pair in pairs} == {"alder", "birch"}
    assert sum(pair["broken"] for pair in pairs) == 300


@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in MEASURED.items() for kind in kinds])
def test_each_kind_of_fact_stays_as_it_was_measured(name: str, kind: str) -> None:
    score = found(name)[kind]
    caught, passed, alarms, doubts = MEASURED[name][kind]
    broken, faithful = (sum(score[of, outcome] for outcome in OUTCOMES) for of in (True, False))
    fewer = max(1, broken // 100)
    least = max(1, caught - fewer)  # of a class of which one pair fails, that one has to
    assert 0 < caught <= broken and max(passed, alarms, doubts) + fewer < faithful  # each line can fail
    assert score[True, "failed"] >= least, score
    assert score[True, "passed"] <= passed + fewer, score
    assert score[False, "failed"] <= alarms + 1, score
    assert score[False, "doubtful"] <= doubts + fewer, score
