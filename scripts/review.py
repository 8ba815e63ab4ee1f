"""`bedside review`: the page on which a person decides about a build's borderline photos."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import typer

from builders.curation.review import NAME, read_queue
from builders.curation.review_page import write_review
from builders.pipeline.image_store import ImageStore
from loaders.errors import how_many
from loaders.files.paths import is_file
from loaders.files.stores import Folder
from scripts.terminal.console import output
from scripts.terminal.options import Page


def command(
    work: Path = typer.Argument(..., metavar="WORK", help="Workspace of a build (OUT.work), or its release."),
    out: Page = Path("review.html"),
) -> None:
    """Write one self-contained HTML page for accepting or rejecting a build's doubtful photos by keyboard.

    A source class that also covers other conditions is asked about once; near-duplicates are shown side by side, with
    what they share marked (key m hides the marks).

    The page works from disk and sends nothing. Export the decisions, and pass them to the next build.

    Example: `bedside review runs/photos.work -o review.html`, then `bedside build 3mdbench … --decisions decisions.csv`
    """
    beside = work.parent / f"{work.name}.work"
    folder = beside if not is_file(work / NAME) and is_file(beside / NAME) else work
    items = read_queue(folder / NAME)
    write_review(items, ImageStore(Folder(folder)).get, out, title=folder.name.removesuffix(".work"))
    kinds = Counter(item.doubts[0].kind if item.doubts else "already decided" for item in items)
    told = ", ".join(f"{kind} {count:,}" for kind, count in kinds.items())
    output.print(f"{how_many(len(items), 'question')}{f' ({told})' if told else ''}")
    output.print(f"{out}")
