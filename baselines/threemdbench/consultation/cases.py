"""Rows of the corpus -> cases: photos without metadata, complaints, and what a doctor may be given as cues.

    read = read_cases(open_data("3mdbench").splits["test"])
    read.cases, read.invalid

A row that cannot be played is counted with its reason, never dropped. Open models get photos at most 400 pixels wide,
as in the paper's code, and so does the assessor always; others get the photo as it is (S3, 3M-G32).
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

from baselines.threemdbench.consultation.protocol import Photos
from baselines.threemdbench.consultation.record import Case
from loaders.corpus import encoded
from loaders.errors import InputError, first_of
from loaders.files.disk import write_whole
from loaders.files.images import ImageError, cell_bytes, clean_bytes, open_image
from loaders.files.opening import digest_of
from loaders.files.paths import is_there
from loaders.models.messages import read_image
from loaders.pages import small_jpeg
from loaders.threemdbench import PERSONALITIES, diagnosis_of, group_of, named_in, parse_complaints

if TYPE_CHECKING:
    import datasets

    from baselines.threemdbench.classifier.cues import Cues

WIDTH = 400
NO_CUES = "no cues"
_QUALITY = 90
FOR_PEOPLE = 1024  # pixels of the longer side of a photo from which people name a diagnosis
PICTURES = "images"  # folder of a run: small pictures, so that its dialogues can be viewed without the corpus
ORIGINALS = "photos"  # folder of a run: photos as the doctor is shown them, if that is not small


@dataclass(frozen=True, slots=True)
class Cases:
    """The rows as cases, each in the order of the ids: cases and invalid rows add up to all rows.

    `invalid` is id -> why it cannot be played. `giveaways` are the ids of cases in which a complaint names the
    diagnosis itself, so that a patient may say it.
    """

    cases: tuple[Case, ...]
    invalid: Mapping[str, str]
    giveaways: tuple[str, ...]


def read_cases(
    rows: datasets.Dataset | Iterable[Mapping[str, Any]],
    *,
    photos: Photos = "small",
    cues: Cues | None = None,
    folder: Path | None = None,
) -> Cases:
    """The cases of the rows of one split.

    `photos` is what the doctor is shown. With a `folder`, photos are written there under the digests of their bytes
    and read when they are needed; otherwise cases hold them. With `cues`, a case that has none is not played.

    Raises InputError for a row without an id, a duplicate id, and cues that lack a case without a reason; BedsideError
    for a full disk.
    """
    cases: dict[str, Case] = {}
    invalid: dict[str, str] = {}
    for number, row in enumerate(encoded(rows), 1):
        case_id = row.get("image_id")
        if not isinstance(case_id, str) or not case_id:
            raise InputError(f"row {number}", found="no image_id", expected="an id in every row")
        if case_id in cases or case_id in invalid:
            raise InputError(case_id, found="the id of two rows", expected="each id once")
        try:
            named = None if cues is None else cues.names.get(case_id, ())
            cases[case_id] = _case(case_id, row, photos, named, folder)
        except InputError as problem:
            reason = f"image {problem.reason.replace('_', ' ')}" if isinstance(problem, ImageError) else problem.found
            invalid[case_id] = reason
    if cues is not None:
        _without_cues(cases, invalid, cues.more.without)
    return Cases(
        cases=tuple(cases[case_id] for case_id in sorted(cases)),
        invalid=dict(sorted(invalid.items())),
        giveaways=tuple(case_id for case_id in sorted(cases) if _names_itself(cases[case_id])),
    )


def _without_cues(cases: dict[str, Case], invalid: dict[str, str], without: Mapping[str, str]) -> None:
    """Moves the cases that have no cues to the invalid ones. Raises InputError if the cues do not say why."""
    missing = sorted(case_id for case_id, case in cases.items() if not case.cues)
    if lost := [case_id for case_id in missing if case_id not in without]:
        raise InputError(
            "cues",
            found=f"none for {len(lost):,} of {len(cases):,} cases, without a reason: {first_of(lost)}",
            expected="cues for every playable case",
            do="Create them again for these rows: bedside run classifier DATA --predict --weights RUN",
        )
    for case_id in missing:
        del cases[case_id]
        invalid[case_id] = f"{NO_CUES}: {without[case_id]}"


def _case(
    case_id: str, row: Mapping[str, Any], photos: Photos, cues: tuple[str, ...] | None, folder: Path | None
) -> Case:
    """Raises InputError for a row that cannot be played."""
    diagnosis = diagnosis_of(str(row.get("diagnosis") or ""))
    if diagnosis is None:
        raise InputError(case_id, found="no diagnosis of the 34")
    basic = row.get("general_complaint")
    if not isinstance(basic, str) or not basic.strip():
        raise InputError(case_id, found="no general complaint")
    additional = parse_complaints(row["complaints"], case_id) if row.get("complaints") is not None else []
    if not additional:
        raise InputError(case_id, found="no complaints")
    temperament = row.get("personality")
    if temperament not in PERSONALITIES:
        raise InputError(case_id, found="no temperament of the four")
    image = cell_bytes(row.get("image"), case_id)
    small = _small(image, case_id)
    shown = small if photos == "small" else clean_bytes(image, name=case_id)[0]
    return Case(
        case_id=case_id,
        image=_kept(shown, folder),
        diagnosis=diagnosis.name,
        domain=diagnosis.domain,
        basic=" ".join(basic.split()),
        additional=tuple(additional),
        temperament=temperament,
        cues=cues,
        assessor_image=None if shown is small else _kept(small, folder),
        group=group_of(row),
    )


def _small(image: bytes | Path, name: str) -> bytes:
    """A JPEG of the pixels alone, at most WIDTH pixels wide."""
    picture = open_image(image, name=name).convert("RGB")
    if picture.width > WIDTH:
        height = max(1, round(picture.height * WIDTH / picture.width))
        picture = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=_QUALITY)
    return buffer.getvalue()


def _kept(image: bytes, folder: Path | None) -> bytes | Path:
    if folder is None:
        return image
    digest = hashlib.sha256(image).hexdigest()
    path = folder / f"{digest}.{read_image(image)[1]}"
    if not is_there(path) or digest_of(path) != digest:
        write_whole(path, image)
    return path


def _names_itself(case: Case) -> bool:
    said = " ".join((case.basic, *case.additional))
    return any(diagnosis.name == case.diagnosis for _, diagnosis in named_in(said))


def picture_path(run: Path, case_id: str) -> Path:
    """Where a run stores the picture of a case; the name reveals neither the case nor its diagnosis."""
    return run / PICTURES / f"{hashlib.sha256(case_id.encode()).hexdigest()[:16]}.jpg"


def keep_pictures(run: Path, cases: Iterable[Case]) -> None:
    """Write a small JPEG of every case's photo, without metadata; existing pictures stay.

    Raises InputError for a photo that cannot be opened, BedsideError when the disk is full.
    """
    for case in cases:
        path = picture_path(run, case.case_id)
        if not is_there(path):
            write_whole(path, small_jpeg(case.image))
