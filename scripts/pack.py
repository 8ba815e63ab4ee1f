"""`bedside pack`: an archive of a run for others, without what its cases hide and without their photos."""

from __future__ import annotations

from pathlib import Path

import typer

from baselines.medconceal.shared import CONCEALED
from baselines.pack.archive import pack
from baselines.results.run import read_run
from loaders.errors import how_many
from loaders.files.paths import resolved
from scripts.terminal.console import output
from scripts.terminal.finish import tell_absent, tell_half_known
from scripts.terminal.options import file_outside_releases


def command(
    run: Path = typer.Argument(..., metavar="RUN", help="Folder of a finished run."),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FILE",
        help="Archive to write. [RUN.zip beside the run]",
        callback=file_outside_releases,
    ),
    without: list[str] = typer.Option([], metavar="NAME", help="Also leave out this file or folder. May be repeated."),
) -> None:
    """Pack a run into one archive to share, without hidden texts, photos, paid answers and logs.

    In dialogues, findings and judgements, whatever repeats five words in a row of a hidden concern or cue is masked.
    Every other file, including archives and databases, is searched: none may repeat so much. A paraphrase in other
    words cannot be recognised and stays, so read what models said before you publish it. Unpacked, the archive works
    with `bedside report` and `bedside compare` like any run; a report says that the photos are absent.

    Example: `bedside pack runs/expert -o expert.zip`
    """
    record, _ = read_run(run)
    tell_absent(run)
    archive = out or resolved(run).parent / f"{resolved(run).name}.zip"
    packed = pack(run, archive, opened=CONCEALED.get(record.baseline), without=without)
    output.print(f"{archive}: {how_many(len(packed.files), 'file')}")
    output.print(f"left out: {', '.join(packed.left_out) or 'nothing'}")
    if packed.placed:
        text = f"a path of this machine appears in: {', '.join(packed.placed)}"
        output.print(text, style="yellow")
    tell_half_known(packed.half_known)
