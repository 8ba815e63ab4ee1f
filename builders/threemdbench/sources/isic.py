"""ISIC: a metadata table with one row per image, and the images below its folder, or below the one that is named.

It reads the archive's own tables (isic_id, diagnosis or diagnosis_1 … diagnosis_5, which were iddx_1 … in 2024,
lesion_id, patient_id, copyright_license, attribution), HAM10000's (image_id, dx, lesion_id) and the challenges' ground
truths with one column of 0 and 1 per class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.records import Record, finder, read_records, table_in
from builders.threemdbench.sources.traits import traits
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.paths import name_of

_NAMES = ("isic_id", "image_id", "image_name", "image", "name")
# The plain diagnosis, else the most specific level of the archive's tree.
_LABELS = (("diagnosis", "dx"), *((f"diagnosis_{level}", f"iddx_{level}") for level in (5, 4, 3, 2, 1)))
_ONE_HOT = frozenset({"0", "1", "0.0", "1.0"})
NO_CLASS = "none of the classes"


def open_isic(place: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The photos of a metadata table, or of the only CSV in a folder; images as `finder` says.

    The group is the patient, even if only another photo of the same lesion says who that is, else the lesion.

    Raises: InputError without such a table, a column for images, and a diagnosis column or classes of 0 and 1; and for
    a lesion of two patients.
    """
    path = table_in(place, "*.csv")
    table, records = read_records(path)
    named = table.column(*_NAMES, needed=True)
    told = [column for names in _LABELS if (column := table.column(*names))]
    lesions, patients, attribution = (table.column(name) for name in ("lesion_id", "patient_id", "attribution"))
    licence = table.column("copyright_license", "copyright_licence", "license", "licence")
    skin, age, sex = table.column("fitzpatrick_skin_type"), table.column("age_approx", "age"), table.column("sex")
    # The columns of classes hold nothing but 0 and 1, as may those with a known other meaning.
    others = [] if told else [column for column in table.columns if column not in (named, skin, age, sex)]
    classes = [column for column in others if all(record[column] in _ONE_HOT for record in records)]
    if not (told or classes):
        raise InputError(
            path,
            found=f"columns {', '.join(table.columns)}",
            expected="a column diagnosis, dx or diagnosis_1, or classes of 0 and 1",
        )
    image_of = finder(path, place)
    patient_of = _patients(path, records, lesions, patients)

    def each() -> Iterator[Photo | BadRow]:
        yield from table.bad
        for record in records:
            name, lesion = record[named], record[lesions]
            chosen = [text for column in told if (text := record[column])][:1]
            if classes:
                chosen = [column for column in classes if float(record[column]) == 1.0] or [NO_CLASS]
            yield Photo(
                image_id=f"{facts.name}-{name}",
                labels=tuple((label, 1.0) for label in chosen if label),
                file=name,
                image=image_of(name),
                group=record[patients] or (patient_of.get(lesion, lesion) if lesion else None),
                licence=record.licence(licence),
                licence_asserted_by=f"column {licence} of {name_of(path)}",
                attribution=record[attribution],
                where=record.where,
                problem="" if name else "no image name",
                traits=traits(
                    ("Fitzpatrick", record[skin], f"metadata of {facts.title}"), age=record[age], sex=record[sex]
                ),
            )

    return PhotoSource(facts, labels, each)


def _patients(path: Path, records: Sequence[Record], lesions: str | None, patients: str | None) -> dict[str, str]:
    """Lesion -> its patient, where a photo of it says who that is. Raises InputError for a lesion of two."""
    found: dict[str, str] = {}
    for record in records:
        lesion, patient = record[lesions], record[patients]
        if lesion and patient and (other := found.setdefault(lesion, patient)) != patient:
            raise InputError(
                path,
                found=f"lesion {lesion} of two patients, {other} and {patient} ({record.where})",
                expected="each lesion with one patient, so that nobody is in two splits",
                do="Correct lesion_id or patient_id, or leave the cell empty where it is not known",
            )
    return found
