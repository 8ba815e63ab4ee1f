"""How a run's numbers are printed at its end."""

from __future__ import annotations

from dataclasses import replace

from scripts.terminal.finish import tables_of
from tests.parts.runs import record, results


def test_a_table_that_is_mostly_gaps_is_one_number_per_line() -> None:
    first = results(["Table 5"], record())[0]
    cells = [replace(first, row="ours", setting=f"setting {name}", column=f"number of {name}") for name in "abc"]
    (sparse,) = tables_of(cells)
    assert [row.texts[:2] for row in sparse.rows] == [(f"ours, setting {name}", f"number of {name}") for name in "abc"]
    assert all("  " in line.text for line in sparse.lines(80)[1:])  # side by side, not a block for each setting
    (full,) = tables_of([replace(one, column=name) for one in cells for name in ("x", "y")])
    assert full.columns == ("of", "setting", "x", "y")


def test_what_rounds_to_nothing_has_no_sign() -> None:
    first = results(["Table 5"], record())[0]
    made = [replace(first, column="kappa", value=-0.004, ci95=(-0.3, -0.001), unit="kappa")]
    (shown,) = tables_of(made)
    assert "-0.00" not in " ".join(shown.rows[0].texts) and shown.rows[0].texts[-1] == "0.00"
