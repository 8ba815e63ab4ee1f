"""`bedside select physicians-sheet`: blank sheets for physicians (3MDBench, Appendix D, Table 7)."""

from __future__ import annotations

from pathlib import Path

import typer

from baselines.threemdbench.consultation.cases import FOR_PEOPLE, picture_path, read_cases
from baselines.threemdbench.consultation.physicians import one_a_diagnosis, write_sheets
from loaders.corpus import encoded
from loaders.errors import how_many
from loaders.files.disk import all_or_nothing, write_whole
from loaders.pages import small_jpeg
from scripts.run.consultation import Data
from scripts.select_agents.candidates import Split, cases_of
from scripts.terminal.console import output
from scripts.terminal.options import LAST_SEED, base_of_sheets


def command(
    data: Data,
    out: Path = typer.Option(
        Path("physicians.csv"), "--out", "-o", metavar="FILE", help="Base name of the sheets.", callback=base_of_sheets
    ),
    setting: str = typer.Option("image+basic", metavar="NAME", help="image+basic, or image+all with every complaint."),
    raters: int = typer.Option(
        2, min=1, metavar="N", help="Number of physicians; recruit others for the other setting."
    ),
    split: Split = "test",
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random seed for choosing and ordering cases."),
) -> None:
    """Write blank sheets for physicians, one case per diagnosis, with photos (Appendix D, Table 7).

    Example: `bedside select physicians-sheet official --setting image+all -o study/full.csv`
    """
    opened, read = cases_of(data, split)
    cases = one_a_diagnosis(read.cases, seed)
    chosen = {case.case_id for case in cases}
    shown = (row for row in encoded(opened.splits[split]) if row["image_id"] in chosen)
    with all_or_nothing():
        written = write_sheets(read.cases, out, setting=setting, raters=raters, seed=seed, stand_in=opened.stand_in)
        # also over a smaller photo, as beside sheets of dialogues
        for case in read_cases(shown, photos="original").cases:
            write_whole(picture_path(out.parent, case.case_id), small_jpeg(case.image, FOR_PEOPLE))
    output.print(
        f"{how_many(len(cases), 'case')} for {how_many(raters, 'physician')}, photos in {out.parent / 'images'}:"
    )
    for path in written:
        output.print(f"  {path}")
