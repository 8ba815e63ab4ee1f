"""`bedside select sheet`: blank sheets for annotators of consultations (3MDBench, Section 3.4 and Appendix B)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from baselines.results.comparison import read_runs
from baselines.threemdbench.consultation.cases import picture_path
from baselines.threemdbench.consultation.selection_raters import dialogues_of, drawn, write_sheets
from loaders.errors import how_many
from loaders.files.disk import all_or_nothing, write_whole
from loaders.files.images import image_bytes
from loaders.files.paths import is_there
from scripts.terminal.console import output
from scripts.terminal.options import LAST_SEED, base_of_sheets


def command(
    runs: list[Path] = typer.Argument(..., metavar="RUN…", help="Finished consultation runs to draw from."),
    out: Path = typer.Option(
        Path("sheet.csv"), "--out", "-o", metavar="FILE", help="Base name of the sheets.", callback=base_of_sheets
    ),
    count: int = typer.Option(100, min=2, metavar="N", help="Number of dialogues to annotate."),
    raters: int = typer.Option(
        5, min=1, metavar="N", help="Number of annotators; each gets a sheet in a different order."
    ),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random seed for choosing and ordering dialogues."),
) -> None:
    """Write blank annotation sheets for consultations, with instructions and photos (Section 3.4, Appendix B).

    Example: `bedside select sheet runs/gpt-4o-mini runs/gemma -o study/sheet.csv`
    """
    chosen = drawn([dialogue for run in read_runs(runs) for dialogue in dialogues_of(run)], count, seed)
    with all_or_nothing():
        written = write_sheets(chosen, out, raters=raters, count=count, seed=seed)
        copied = _copy_pictures(runs, {dialogue.record.case_id for dialogue in chosen}, out.parent)
    output.print(
        f"{how_many(count, 'dialogue')} for {how_many(raters, 'annotator')}, {how_many(copied, 'photo')} in images:"
    )
    for path in written:
        output.print(f"  {path}")


def _copy_pictures(runs: Sequence[Path], cases: set[str], out: Path) -> int:
    copied = 0
    for case in sorted(cases):
        place = picture_path(out, case)
        source = next((path for run in runs if is_there(path := picture_path(run, case))), None)
        if source is not None:
            copied += 1
            if not is_there(place):  # a physician's photo is larger
                write_whole(place, image_bytes(source))
    return copied
