"""The papers' numbers: complete, as printed, and consistent wherever the checks say so."""

from __future__ import annotations

import csv
from collections import Counter
from functools import cache

import pytest

from baselines.results.published import Published, find, headings, published
from baselines.results.published_checks import FIGURE_A4, FOUR_POOLS, PAPER, Check, checks
from tests.parts.places import shared_data

made = cache(checks)


def test_every_table_has_the_cells_that_a_count_by_hand_gives() -> None:
    counted = Counter((number.paper, number.table) for number in published())
    tables = {key: count for key, count in counted.items() if key[1].startswith("Table")}
    by_hand = {"3MDBench": 173, "MedLayBench-V": 354, "MedConceal": 405}
    assert {paper: sum(n for key, n in tables.items() if key[0] == paper) for paper in by_hand} == by_hand
    sizes = {"Table 1": 60, "Table 2": 24, "Table 3": 96, "Table 4": 28, "Table 5": 4, "Table A1": 8, "Table A2": 30}
    sizes |= {"Table A3": 48, "Table A4": 36, "Table A5": 20, FIGURE_A4[0]: 96, FIGURE_A4[1]: 96}
    assert {table: counted[PAPER, table] for table in sizes} == sizes
    assert sum(counted.values()) == 1066 + 192


def test_each_number_is_found_by_its_key_whatever_the_case() -> None:
    numbers = published()
    assert len({number.key for number in numbers}) == len(numbers)
    for number in numbers:
        assert find(*number.key) is number
    found = find("medlaybench-v", "table 3", "biomedclip", "EXPERT", "i2t recall@1", FOUR_POOLS.upper())
    assert found is not None and (found.value, found.printed, found.unit) == (31.06, "31.06", "percent")
    assert find(PAPER, "Table 3", "BiomedCLIP", "Expert", "I2T Recall@1", "train") is None


def test_the_ledger_is_that_of_the_shared_folder() -> None:
    folder = shared_data("..").resolve() / "papers"
    if not folder.exists():
        pytest.skip("the ledger of published numbers is not here")
    rows: list[list[str]] = []
    for name in ("published_results.csv", "figure_labels.csv"):
        with (folder / name).open(encoding="utf-8") as file:
            rows += list(csv.reader(file))[1:]
    ours = [[*number.key, number.printed, number.unit, number.direction] for number in published()]
    assert ours == [row[:9] for row in rows]


def test_printed_decimals_say_how_precise_a_number_is() -> None:
    label = _get(FIGURE_A4[0], "PMC-CLIP", "Expert", "I2T Recall@1", "test")
    assert (label.printed, label.decimals, label.half_unit, label.note) == ("29.0", 1, 0.05, "bar label read by eye")
    assert _get("Table 1", "Dataset", "header", "N", "Overall").decimals == 0
    assert find("3MDBench", "Text Sec 4", "Assessor Agent", "", "Temperature", "").decimals == 6  # type: ignore[union-attr]


def test_what_is_known_to_be_wrong_says_why() -> None:
    wrong = _get("Table 4", "L (lay reader)", "100 SCGR caption pairs", "Factual Correctness (SD)", "human evaluation")
    assert "0.218" in wrong.wrong
    assert not _get("Table 5", "Mean of the 8 models", "Expert", "Average R@1 (I2T and T2I)", "test").wrong
    assert sum(bool(number.wrong) for number in published(PAPER)) == 16
    assert {number.paper for number in published() if number.wrong} == {"3MDBench", "MedLayBench-V", "MedConceal"}


def test_every_table_of_the_paper_has_a_title() -> None:
    named = {table for paper, table in headings() if paper == PAPER}
    assert {number.table for number in published(PAPER) if number.table.startswith("Table")} <= named


# --- What the numbers say about each other ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "table", "cells", "hold"),
    [
        ("overall = mean of the splits, weighted by pairs", "Table 1", 12, 12),
        ("overall = mean of the splits, weighted by pairs", "Table 2", 6, 6),
        ("N overall = sum of the splits", "Table 1", 1, 1),
        ("sentence length = the one behind FKGL and FRE", "Table 1", 8, 0),
        ("R@1 difference = SCGR less expert in Table A4", "Table A3", 8, 8),
        ("difference = lay less expert in Table 3", "Table A3", 24, 4),
        ("Table A4 = mean of both directions of Table 3", "Table A4", 16, 0),
        ("mean = mean of the eight models in Table A4", "Table 5", 4, 4),
        ("mean = mean of the eight models in Table A4", "Table A4", 4, 4),
        ("average = mean of the three raters", "Table 4", 4, 4),
        ("SD = one that 100 integer ratings with this mean can have", "Table 4", 12, 11),
        ("total = sum of the modalities", "Table A1", 1, 1),
        ("total = pairs of Table 1", "Table A1", 1, 0),
        ("captions with the concept of a modality <= its pairs", "Table A2", 6, 5),
        ("p = what the other models' standard error gives", "Table A3", 4, 3),
        ("difference = expert less layman", "Table A5", 4, 4),
        ("reduction = from Table 1", "Text Sec 4.2", 1, 1),
        ("drop = from Table 5", "Text Sec 4.4", 1, 1),
        ("share = from Table 5", "Text Sec 4.4", 1, 1),
        ("bound = the largest difference in Tables 3 and A3", "Text Sec 4.4", 1, 0),
        ("label = Table 3", FIGURE_A4[0], 96, 96),
        ("label = Table 3", FIGURE_A4[1], 48, 48),
    ],
)
def test_derived_values(rule: str, table: str, cells: int, hold: int) -> None:
    family = [check for check in made() if (check.rule, check.target.table) == (rule, table)]
    assert (len(family), sum(check.holds for check in family)) == (cells, hold)


def test_recomputed_values_are_those_of_a_pocket_calculator() -> None:
    # (59,962 x 13.05 + 9,904 x 13.29 + 9,927 x 13.21) / 79,793
    assert _check("overall", "FKGL", "Expert").recomputed == pytest.approx(13.09970, abs=1e-5)
    assert _check("R@1 difference", "R@1 delta", "Layman - Expert", "BiomedCLIP").recomputed == pytest.approx(-0.41)
    # 100 (1 - 24,085 / 44,673); 100 x 11.26 / 11.44; 100 (1 - 1.96 / 11.44)
    assert _check("reduction", "Vocabulary reduction").recomputed == pytest.approx(46.0860, abs=1e-4)
    assert _check("share", "Share of Expert performance restored").recomputed == pytest.approx(98.4266, abs=1e-4)
    assert _check("drop", "Drop from Expert").recomputed == pytest.approx(82.8671, abs=1e-4)
    # 95 fives and 5 fours: the least SD of 100 ratings with mean 4.95 is sqrt(.95 x .05)
    assert _check("SD", "Factual Correctness (SD)", row="L (lay reader)").recomputed == pytest.approx(0.21794, abs=1e-5)
    # FKGL 13.10 and FRE 26.14 solved for words per sentence, by elimination of syllables per word
    words, syllables = 14.035, 1.9674
    assert 0.39 * words + 11.8 * syllables - 15.59 == pytest.approx(13.10, abs=0.01)
    assert 206.835 - 1.015 * words - 84.6 * syllables == pytest.approx(26.14, abs=0.02)
    assert _check("sentence length", "Average Sentence Length", "Expert").recomputed == pytest.approx(words, abs=1e-3)


def test_every_doubt_is_backed_by_a_check_and_every_failure_is_explained() -> None:
    failing = [check for check in made() if not check.holds]
    assert all(check.reason for check in failing)
    assert all(not check.reason for check in made() if check.holds)
    doubted = {number.key for number in published(PAPER) if number.wrong}
    assert doubted <= {check.target.key for check in failing}
    # Beyond those, only the cells that mix two retrieval protocols fail.
    assert {check.known for check in failing if not check.target.wrong} == {
        "Table 3 averages four per-modality pools; Tables A3 and A4 use one pool of all test pairs"
    }


def _get(table: str, row: str, setting: str, column: str, split: str) -> Published:
    found = find(PAPER, table, row, setting, column, split)
    assert found is not None
    return found


def _check(rule: str, column: str, setting: str | None = None, row: str | None = None) -> Check:
    found = [
        check
        for check in made()
        if check.rule.startswith(rule)
        and check.target.column == column
        and check.target.split_or_group in ("Overall", "", "human evaluation", "overall test")
        and (setting is None or check.target.setting == setting)
        and (row is None or check.target.row == row)
    ]
    assert len(found) == 1
    return found[0]
