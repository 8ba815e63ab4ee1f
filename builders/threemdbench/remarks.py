"""What a build of 3MDBench says when it is done, and what it leaves in its workspace for a person to read."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from builders.curation import review
from builders.curation.review import read_queue, write_queue
from builders.pipeline.rows import Row
from builders.pipeline.run import Run
from builders.threemdbench.earlier import Earlier
from builders.threemdbench.gather import VOUCHED
from builders.threemdbench.labels import UNKNOWN
from builders.threemdbench.own import OWN_PHOTOS, Nameless
from builders.threemdbench.request import CONTACT
from builders.threemdbench.sources import PhotoSource, source_name
from builders.threemdbench.steps import BASIC, FACTS
from builders.unanswered import NONE_PASSED, UNANSWERED, ask_again, counted
from loaders.errors import BedsideError, first_of, how_many
from loaders.files.disk import write_whole
from loaders.files.opening import read_file
from loaders.files.paths import is_file
from loaders.files.stores import Store
from loaders.threemdbench import CORPUS

LEFT_OUT = "left-out.jsonl"  # in the workspace: which files were left out, by name
NO_ANSWER = "unanswered.jsonl"  # in the workspace: for which photos the model gave no answer of use, and why


def leave_queue(queue: Path, workspace: Path, finished: Run) -> Iterator[str]:
    """Make the queue of this build the one to review, even if an earlier build had curated these very photos."""
    curated = next(stage.rows_in for stage in finished.stages if stage.name == "curate")
    if not curated:
        write_queue(workspace / review.NAME, [])
    elif is_file(queue):
        write_whole(workspace / review.NAME, read_file(queue))
    else:
        do = f"Delete {workspace / 'results'} and run the same command again"
        raise BedsideError(
            queue, found="the queue of doubtful photos is missing", expected="the file written by curation", do=do
        )
    waiting = sum(item.decided is None for item in read_queue(workspace / review.NAME))
    if waiting:
        what = how_many(waiting, "question waits", "questions wait")
        yield f"{what} for review: bedside review {quote(str(workspace))} -o review.html"


def followed(earlier: Earlier, finished: Run) -> Iterator[str]:
    """How many photos of the releases that this one follows are here; if a source was renamed, all keys differ."""
    if earlier.splits:
        keys = (row[CORPUS.key] for row in finished.workspace.rows(finished.batches, (CORPUS.key,)))
        here = sum(key in earlier.splits for key in keys)
        yield (
            f"Of {len(earlier.splits):,} photos of the previous release, {here:,} are in this one under the same key "
            "and keep their splits; so do copies of them, and other photos of their patients"
        )


def unanswered(workspace: Path, store: Store, finished: Run) -> Iterator[str]:
    """Say for how many photos and diagnoses the model gave no answer, or none that passed the checks, and leave the
    reasons beside the build: a release has no column for them."""
    reasons: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    diagnoses: dict[str, bool] = {}
    lines = []
    for row in finished.workspace.rows(finished.batches, (CORPUS.key, "diagnosis", UNANSWERED)):
        for told in row[UNANSWERED]:
            what, _, reason = told.partition(": ")
            if what == BASIC and row["diagnosis"] in diagnoses:
                continue  # one request, however many cases the diagnosis has
            unfit = reason.startswith(NONE_PASSED)
            if what == BASIC:
                diagnoses[row["diagnosis"]] = unfit
            reasons[what, unfit][_failed_check(reason) if unfit else reason] += 1
            key = {"key": row[CORPUS.key], "diagnosis": row["diagnosis"]}
            lines.append(key | {"unanswered": what, "reason": reason})
    if not lines:
        (workspace / NO_ANSWER).unlink(missing_ok=True)
        return
    _write_lines(workspace / NO_ANSWER, lines)
    for unfit, lacking in ((False, "without an answer of the model"), (True, "of which no answer passed the checks")):
        if photos := reasons[FACTS, unfit]:
            yield f"Photos {lacking}, with authored complaints: {counted(photos)}."
        if basics := reasons[BASIC, unfit]:
            names = first_of(sorted(name for name, how in diagnoses.items() if how == unfit))
            yield f"Diagnoses {lacking}, with an authored basic complaint: {names}: {counted(basics)}."
    again = any(reasons[what, False] for what in (BASIC, FACTS))
    yield f"Each with its reason: {workspace / NO_ANSWER}" + f". {ask_again(store)}" * again


def _failed_check(reason: str) -> str:
    """The check that an answer failed first, without the words of the answer that the reason quotes; of the form, all:
    it quotes none."""
    failed = reason.removeprefix(NONE_PASSED)
    return failed if failed.startswith("format:") else failed.partition(":")[0]


def left_out(rows: Iterable[Row], workspace: Path, finished: Run) -> Iterator[str]:
    """Record beside the build which files were left out, since a release only has their keys. Returns where, and which
    labels no table knows: a folder of one's own has names of its own."""
    by_key = {row["image_id"]: row for row in rows}
    labels: Counter[str] = Counter()
    lines = []
    for row in finished.exclusions():
        photo = by_key.get(row["key"], {})
        # Of photos of one's own the build knows no details.
        of_source = filter(None, (photo.get("refused"), photo.get("not_fetched")))
        why = next((why for why in of_source if why["reason"] == row["reason"]), row)
        labels.update([str(why["detail"])] * (why["reason"] == UNKNOWN))
        told = {"file": photo.get("source_file"), "key": row["key"], "stage": row["stage"]}
        lines.append(told | {name: why[name] for name in ("reason", "detail")})
    _write_lines(workspace / LEFT_OUT, lines)
    if labels:
        do = "Map each to a diagnosis with --labels NAME=FILE, a table of all labels of that source"
        yield f"Labels missing from every label table: {_counted(labels)}. {do}"
    if lines:
        yield f"Files left out, and why: {workspace / LEFT_OUT}"


def unheeded(licences: Iterable[str], rows: Iterable[Row]) -> Iterator[str]:
    """That a licence was asserted for a source all of whose photos state one."""
    heeded = {row["source"] for row in rows if row["licence_asserted_by"] == VOUCHED}
    for name in licences:
        if name not in heeded:
            yield f"--licence {name} says nothing: each photo of {name} states a licence, and that one counts"


def unnamed(photos: int) -> Iterator[str]:
    """That servers may have refused photos for not knowing who asks."""
    if photos:
        do = f"Set {CONTACT} to your mail address, and build again"
        yield f"{how_many(photos, 'photo')}: HTTP 403, perhaps because the server wants to know who asks. {do}"


def untold(sources: Iterable[PhotoSource]) -> Iterator[str]:
    """Cells of tables that should tell of the person in the photo, and say nothing in the release."""
    for source in sources:
        if source.unread:
            yield f"{source.facts.name}: left empty, since they are not understood: {_counted(source.unread)}"


def _counted(names: Counter[str]) -> str:
    return first_of([f"{name or 'none'} {count:,}" for name, count in names.most_common()])


def leave_own(rows: Iterable[Row], known: Nameless, workspace: Path) -> Iterator[str]:
    """Leave beside the build which key and pseudonym stand for which file and group; returns where."""
    lines = []
    for row in rows:
        if row["source"] in known.sources:
            name = row["group_id"]
            group = {"group": name, "pseudonym": known.group(name)} if name else {}
            lines.append({"key": row["image_id"], "file": row["source_file"], **group})
    if lines:
        _write_lines(workspace / OWN_PHOTOS, lines)
        yield f"Your files and groups, which the release has no names of, for you alone: {workspace / OWN_PHOTOS}"


def _write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """For the owner alone: names of files may be those of patients."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    write_whole(path, "".join(lines).encode(), private=True)


def apart(sources: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Of folders of one's own with further folders in those of the labels: that their photos are not kept together.
    What such a folder holds, only its owner knows: one patient, or all photos of one camera. Also of tables of ISIC.
    """
    for name in (source_name(text) for text in sources if re.match(r"isic[:=]", text)):
        groups = [row["group_id"] for row in rows if row["source"] == name]
        if groups and not any(groups):
            do = "Add the column lesion_id, which challenges have in another table"
            yield f"{name}: its table names no lesion, so photos of one can be divided between splits. {do}"
    own = [source_name(text) for text in sources if re.match(r"folder[:=]", text)]
    for name in own:
        of_labels = [row for row in rows if row["source"] == name and row["refused"] is None]
        placed = [(row["source_file"].rpartition("/")[0], row["source_label"]) for row in of_labels]
        deeper = Counter(place for place, label in placed if place.rpartition("/")[2] != label)
        if deeper:
            do = "list the photos in a table with the column group_id (--source table:NAME=FILE)"
            yield (
                f"{name}: {how_many(deeper.total(), 'photo lies', 'photos lie')} in folders within "
                f"that of their label, such as {min(deeper)}, which can be divided between splits. "
                f"If each is one patient, {do}"
            )


def alike(rows: Iterable[Row]) -> Iterator[str]:
    """Of groups whose names differ only in capital letters or blanks: that they count as two.

    Some publishers' names use both, so whether "P2" and "p2" are one patient is for a person to say.
    """
    first: dict[str, dict[str, str]] = defaultdict(dict)  # plain name -> each spelling, and where it stands first
    for row in rows:
        if row["group_id"] and row["refused"] is None:
            first["".join(row["group_id"].split()).casefold()].setdefault(row["group_id"], row["where"])
    several = [spelled for spelled in first.values() if len(spelled) > 1]
    if several:
        one, other = [f"{name} ({where})" for name, where in several[0].items()][:2]
        more = f" (and {len(several) - 1:,} more such names)" * bool(several[1:])
        yield (
            f"Groups that differ only in capital letters or blanks count as two, and can be divided between splits: "
            f"{one} and {other}{more}. If each is one patient, spell it alike in all rows"
        )
