"""`bedside curate`: the audit of a set of photos: quality, duplicates, labels that disagree, leaks, overlap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from loaders.engines.choice import EngineName, opened
from loaders.errors import InputError
from scripts.terminal.console import output, table
from scripts.terminal.engines import MIXED_NODES, told
from scripts.terminal.options import outside_releases
from scripts.terminal.progress import Bars
from scripts.terminal.tables import Table

if TYPE_CHECKING:
    from builders.curation.curate import Leak
    from builders.curation.report import Audit


def command(
    photos: str = typer.Argument(
        ...,
        metavar="official|REPO[@TAG]|RELEASE|FOLDER",
        help="The authors' 3MDBench photos, a dataset on the Hub, a release, a dataset folder or file, or a "
        "folder of images.",
    ),
    out: Path = typer.Option(
        ..., "--out", "-o", metavar="REPORT", help="Folder for the report.", callback=outside_releases
    ),
    listing: Path | None = typer.Option(
        None,
        "--table",
        metavar="FILE",
        help="For a folder of images: CSV or TSV with the columns file, split, label, group, source. [folder names: "
        "train, test, … are splits, the innermost other the label, the outermost the source, none a group]",
    ),
    label: str | None = typer.Option(
        None, metavar="COLUMN", help="Label column. [the only class column, or label, diagnosis, …]"
    ),
    group: str | None = typer.Option(
        None,
        metavar="COLUMN",
        help="Column of patients, lesions or cases; each must stay in one split. [group_id, patient_id, …]",
    ),
    against: list[str] = typer.Option(
        [],
        metavar="FOLDER",
        help="Another dataset to search for the same pictures, given like the first. May be repeated.",
    ),
    index: Path | None = typer.Option(None, metavar="FILE", help="Cache of measurements. [REPORT/index.sqlite]"),
    engine: EngineName = typer.Option(EngineName.LOCAL, help="Local threads, or Ray (the cluster at RAY_ADDRESS)."),
    workers: int | None = typer.Option(
        None, min=1, help="Number of threads. [one per core, at most 16; with ray, the whole cluster]"
    ),
    mixed_nodes: bool = typer.Option(False, "--mixed-nodes", help=MIXED_NODES),
    fail_on_leaks: bool = typer.Option(
        False,
        "--fail-on-leaks",
        help="Exit with code 1 if a cluster or group crosses splits, or a photo is in another dataset (--against).",
    ),
) -> int:
    """Audit photos: blur, near-duplicates, conflicting labels, and leaks between splits.

    Takes any image dataset that `datasets` reads. Writes report.html and photos.parquet; never changes a photo.

    Examples: `bedside curate photos -o runs/photos`, `bedside curate org/skin@v1.0.0 --label dx --group lesion_id
    --against runs/train -o runs/skin`
    """
    from builders.curation.output import curate_set  # here, as it needs the extra `curation`

    with Bars() as progress, opened(engine, workers, mixed_nodes=mixed_nodes, threads=True) as running:
        audit = curate_set(
            photos,
            out,
            table=listing,
            label=label,
            group=group,
            against=against,
            index=index,
            engine=running,
            progress=progress.unless_quiet,
        )
    _print(audit)
    if len(running.machines) > 1:
        output.print(told(running))
    columns = [f"{what} by {by}" for what, by in audit.photos.columns.items() if by]
    output.print(f"Read: {', '.join(columns) or 'neither splits nor labels'}")
    output.print(f"Report: {out / 'report.html'}")
    if fail_on_leaks and not audit.against and not any(file.split for file in audit.photos.files):
        do = "Name folders train, test and so on, or list the photos with their splits (--table)"
        raise InputError("--fail-on-leaks", found="photos without splits", expected="what a leak can cross", do=do)
    return 1 if fail_on_leaks and (audit.overlaps or "split" in {leak.boundary for leak in audit.curation.leaks}) else 0


def _print(audit: Audit) -> None:
    """Every photo once, by its outcome and the reason; the flags; and what crosses a boundary."""
    curation = audit.curation
    kept = [decision.kept for decision in curation.decisions]
    reasons = Counter(decision.reason for decision in curation.decisions)
    broken = Counter(one.reason for one in curation.files if one.content is None)
    flags = [judgement.flags for judgement in curation.judgements if judgement]
    shown = table("", "what", "photos", "clusters", "same bytes", right=("photos", "clusters", "same bytes"))
    clusters = {decision.cluster for decision in curation.decisions if decision.cluster}
    shown.add_row("photos", len(curation.files), len(clusters))
    shown.add_row("kept", sum(kept))
    for reason in ("unique", "best_copy", "same_scene"):
        _add(shown, reason, reasons[reason])
    shown.add_row("left out as copies", len(kept) - sum(kept) - reasons["unreadable"])
    for reason in ("same_bytes", "same_pixels", "near_copy", "collage"):
        _add(shown, reason, reasons[reason])
    shown.add_row("left out as unreadable", reasons["unreadable"])
    for reason, count in sorted(broken.items()):
        _add(shown, reason, count)
    shown.add_row("with a quality flag", sum(map(bool, flags)))
    for flag, count in Counter(flag for several in flags for flag in several).most_common():
        _add(shown, flag, count)
    for boundary in ("split", "label", "group", "source"):
        found = [leak for leak in curation.leaks if (leak.by, leak.boundary) == ("picture", boundary)]
        _cross(shown, f"one picture, several {boundary}s", found)
    _cross(shown, "one group, several splits", [leak for leak in curation.leaks if leak.by == "group"])
    if audit.against:
        _cross(shown, f"also in {', '.join(audit.against)}", audit.overlaps, always=True)
        if audit.unread:
            shown.add_row("  unreadable there", len(audit.unread), style="yellow")
    output.print(shown)


def _add(shown: Table, reason: str, count: int) -> None:
    if count:
        shown.add_row("  " + reason.replace("_", " "), count)


def _cross(shown: Table, what: str, found: Iterable[Leak], *, always: bool = False) -> None:
    from builders.curation.curate import counted  # imports OpenCV, which is loaded by now

    leaks = list(found)
    if leaks or always:
        photos, same = counted(leaks)
        shown.add_row(what, photos, len(leaks), same, style="yellow" if leaks else "")
