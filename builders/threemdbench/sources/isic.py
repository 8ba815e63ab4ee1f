"""ISIC: a metadata table with one row an image, and the images below the same folder.

Read are the archive's own tables (isic_id, diagnosis or diagnosis_1 … diagnosis_5, lesion_id, patient_id,
copyright_license, attribution), HAM10000's (image_id, dx, lesion_id) and the challenges' ground truths with one column
of 0 and 1 per class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.records import Record, read_records
from builders.threemdbench.sources.tables_of import table_in
from builders.threemdbench.sources.traits import traits
from loaders.errors import InputError
from loaders.files.image_files import ImageIndex
from loaders.files.untrusted import BadRow, name_of

_NAMES = ("isic_id", "image_id", "image_name", "image", "name")
_LABELS = ("diagnosis", "dx")
_DEEPER = tuple(f"diagnosis_{level}" for level in (5, 4, 3, 2, 1))
_ONE_HOT = frozenset({"0", "1", "0.0", "1.0"})
NO_CLASS = "none of the classes"


def open_isic(place: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The photos of a metadata table, or of the only CSV in a folder; images are looked for below its folder.

    The group is the patient, also where only another photo of the same lesion says who that is, else the lesion.

    Raises:
        InputError: no such table, no column for images, or neither a diagnosis column nor classes of 0 and 1.
    """
    path = table_in(place, "*.csv")
    table, records = read_records(path)
    columns = _Columns(
        name=table.column(*_NAMES, needed=True),
        label=table.column(*_LABELS),
        deeper=tuple(column for name in _DEEPER if (column := table.column(name))),
        lesion=table.column("lesion_id"),
        patient=table.column("patient_id"),
        licence=table.column("copyright_license", "copyright_licence", "license", "licence"),
        attribution=table.column("attribution"),
        skin=table.column("fitzpatrick_skin_type"),
        age=table.column("age_approx", "age"),
        sex=table.column("sex"),
    )
    classes = _classes(table.columns, records, columns) if not columns.label and not columns.deeper else []
    if not (columns.label or columns.deeper or classes):
        raise InputError(
            path,
            found=f"columns {', '.join(table.columns)}",
            expected="a column diagnosis, dx or diagnosis_1, or classes of 0 and 1",
        )
    images = ImageIndex(path.parent)
    patients = {record[columns.lesion]: record[columns.patient] for record in records if record[columns.patient]}

    def each() -> Iterator[Photo | BadRow]:
        yield from table.bad
        for record in records:
            name = record[columns.name]
            here = images.find(name)
            lesion, patient = record[columns.lesion], record[columns.patient]
            chosen = _one_hot(record, classes) if classes else [columns.text(record)]
            licence = record[columns.licence] or facts.licence
            asserted = f"column {columns.licence} of {name_of(path)}" if record[columns.licence] else None
            yield Photo(
                image_id=f"{facts.name}-{name}",
                source=facts.name,
                labels=tuple((label, 1.0) for label in chosen if label),
                file=name,
                path=here.usable if here else None,
                url=None,
                md5=None,
                group=patient or (patients.get(lesion, lesion) if lesion else None),
                licence=licence,
                licence_asserted_by=asserted or facts.licence_asserted_by,
                attribution=record[columns.attribution] or facts.attribution,
                where=record.where,
                problem=(here.problem if here else "") if name else "no image name",
                traits=traits(
                    ("Fitzpatrick", record[columns.skin], f"metadata of {facts.title}"),
                    age=record[columns.age],
                    sex=record[columns.sex],
                ),
            )

    return PhotoSource(facts, labels, each)


@dataclass(frozen=True, slots=True)
class _Columns:
    name: str | None
    label: str | None
    deeper: tuple[str, ...]
    lesion: str | None
    patient: str | None
    licence: str | None
    attribution: str | None
    skin: str | None
    age: str | None
    sex: str | None

    def text(self, record: Record) -> str:
        """The plain diagnosis, else the most specific level of the archive's tree."""
        return record[self.label] or next((record[level] for level in self.deeper if record[level]), "")


def _classes(named: Sequence[str], records: Sequence[Record], columns: _Columns) -> list[str]:
    """The columns that hold nothing but 0 and 1."""
    known = (columns.name, columns.skin, columns.age, columns.sex)
    candidates = [column for column in named if column not in known]
    return [column for column in candidates if all(record[column] in _ONE_HOT for record in records)]


def _one_hot(record: Record, classes: Sequence[str]) -> list[str]:
    return [column for column in classes if float(record[column]) == 1.0] or [NO_CLASS]
