"""Is a network asked about photos or patients that it was trained or selected on? Photos are found in any disguise."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baselines.results.run import RunRecord
from baselines.threemdbench.classifier.cues import Search
from baselines.threemdbench.classifier.data import Labelled, Photo
from builders.curation.folders import File
from loaders.engines.threads import Threads
from loaders.errors import BedsideError, InputError, MissingExtra, first_of, how_many
from loaders.files.disk import make_folder, write_whole
from scripts.run.classifier.options import Classifying
from scripts.run.stored import place_of
from scripts.terminal.console import errors, warn
from scripts.terminal.photos import cores, labelled_photos
from scripts.terminal.progress import Bars

if TYPE_CHECKING:
    from builders.curation.seen import Seen

FOUND = "training_photos.json"
"""Name of the file in a run folder that lists every pair."""

_SPLITS = ("train", "validation")
_SHOWN = 20


def trained_photos(record: RunRecord, options: Classifying) -> Labelled:
    """The photos of both splits, from --trained-on, from where the run recorded that they were, or from DATA itself.

    Raises: InputError for photos that are not those of the run, if it did not record them, and if their place is
    unknown.
    """
    assert options.weights is not None
    told = record.options.get("trained on")
    if not isinstance(told, Mapping) or not all(isinstance(told.get(split), str) for split in _SPLITS):
        found, expected = "no digests of its training photos", "a run that recorded its training photos"
        raise InputError(options.weights, found=found, expected=expected, do="Train it again")
    wanted = {split: told[split] for split in _SPLITS}
    where = options.trained_on or place_of(record.data)
    if where is None and options.clusters is None:
        try:
            own = labelled_photos(options.data, None, 0, _SPLITS)
        except BedsideError:  # DATA has no such splits, or is no data of that kind
            own = None
        if own is not None and own.digests == wanted:
            return own
    if where is None:
        do = "Name it: --trained-on DATA"
        found = f"{options.weights} was trained on a folder whose location is not recorded"
        raise InputError("--trained-on", found=found, expected="the release or folder it was trained on", do=do)
    seed = record.seeds.get("training and bootstrap", 0)
    labelled = labelled_photos(where, options.clusters, seed, _SPLITS)
    for split in _SPLITS:
        if labelled.digests[split] != wanted[split]:
            raise InputError(
                f"{where}, {split}",
                found=f"photos with digest {labelled.digests[split][:16]}",
                expected=f"{wanted[split][:16]}, those that {options.weights} was trained on",
                do="Name the training data: --trained-on DATA, with the same --clusters",
            )
    return labelled


@dataclass(frozen=True)
class Unseen:
    """The photos that the network has not seen, as `test`; why each other one is left out; and what a record and the
    cues say about the search."""

    labelled: Labelled
    left: dict[str, str]
    facts: dict[str, Any]
    search: Search


def unseen(trained: Labelled, target: Labelled, options: Classifying, *, quiet: bool = False) -> Unseen:
    """The part of `target` that may be answered about: without photos that show the same picture or patient as a
    training or validation photo, of which all pairs are written to the run's folder.

    Raises: InputError if there are such, unless they are to be dropped, and if none is left then; MissingExtra without
    the packages of curation.
    """
    MissingExtra.check("curation", purpose="looking for training photos among the cases")
    from builders.curation.seen import seen

    photos = target.splits["test"]
    known = [(split, one) for split in _SPLITS for one in trained.splits[split]]
    others = [File(one.key, Path(one.key), split, held=one.read) for split, one in known]
    files = [File(photo.key, Path(photo.key), held=photo.read) for photo in photos]
    make_folder(options.out)
    with Bars(quiet=quiet) as bars:
        found = seen(
            files, others, index=options.out / "index.sqlite", engine=Threads(cores()), progress=bars.unless_quiet
        )
    found = _with_patients(found, photos, [one for _, one in known])
    digests = {split: trained.digests[split] for split in _SPLITS}
    opened = len(others) - len(found.unread)
    listed = {
        "trained_on": digests,
        "looked_for": opened,
        "unreadable": list(found.unread),
        "among": len(files),
        "pairs": [asdict(pair) for pair in found.pairs],
    }
    write_whole(options.out / FOUND, json.dumps(listed, ensure_ascii=False, indent=1).encode())
    if not quiet:
        _tell(found, opened, len(files), options)
    by = f"of {options.weights} " if options.predict else ""
    if found.pairs and not options.drop_trained:
        pairs = first_of([f"{pair.file}: {pair.other} ({pair.how})" for pair in found.pairs])
        raise InputError(
            options.data,
            found=f"{len(found.pairs):,} of {len(files):,} photos show pictures or patients that the network {by}was "
            f"trained or selected on: {pairs}",
            expected="none",
            do=f"Pass --drop-trained to leave them out and list them; all pairs: {options.out / FOUND}",
        )
    if len(found.pairs) == len(files):
        raise InputError(options.data, found="only photos that the network has seen", expected="one or more")
    left = {pair.file: f"the network was trained or selected on {pair.other} ({pair.how})" for pair in found.pairs}
    kept = replace(target, splits={**target.splits, "test": [photo for photo in photos if photo.key not in left]})
    facts = {
        "looked for": opened,
        "unreadable": len(found.unread),
        "found and left out": [pair.file for pair in found.pairs],
    }
    return Unseen(kept, left, facts, Search(digests, opened, len(found.pairs)))


def _with_patients(found: Seen, photos: Sequence[Photo], others: Sequence[Photo]) -> Seen:
    """With the photos of patients whom the network knows from other photos, which comparing pictures does not find."""
    from builders.curation.seen import Pair

    paired = {pair.file for pair in found.pairs}
    of_patient = {one.patient: one.key for one in others if one.patient}
    further = [
        Pair(photo.key, of_patient[photo.patient], "another photo of its patient, lesion or case")
        for photo in photos
        if photo.key not in paired and photo.patient in of_patient
    ]
    return replace(found, pairs=tuple(sorted([*found.pairs, *further], key=lambda pair: pair.file)))


def _tell(found: Seen, opened: int, files: int, options: Classifying) -> None:
    looked = f"{how_many(files, 'photo')} compared with {how_many(opened, 'training and validation photo')}"
    if found.unread:
        looked += f" ({len(found.unread):,} more cannot be opened)"
    if not found.pairs:
        errors.print(f"{looked}; already seen: none")
        return
    end = ", left out" if options.drop_trained else ""
    warn(f"{looked}; already seen: {len(found.pairs):,}{end}")
    for pair in found.pairs[:_SHOWN]:
        errors.print(f"  {pair.file}: {pair.other} ({pair.how})")
    if len(found.pairs) > _SHOWN:
        errors.print(f"  {len(found.pairs) - _SHOWN:,} more: {options.out / FOUND}")
