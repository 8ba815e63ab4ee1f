"""SCIN: scin_cases.csv (up to three photos a case) and scin_labels.csv (weighted labels of several dermatologists)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from builders.curation.sampling import joined
from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.files import ImageIndex
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.records import Record, read_records
from builders.threemdbench.sources.tables_of import table_in
from loaders.errors import InputError

_IMAGES = ("image_1_path", "image_2_path", "image_3_path")
_WEIGHTS = "weighted_skin_condition_label"
_GRADABLE = tuple(f"dermatologist_gradable_for_skin_condition_{n}" for n in (1, 2, 3))


def open_scin(place: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The photos of all cases, each once, with the labels of its case.

    Some photos stand in several cases, not always with the same labels: such a photo has the labels of all its cases,
    and cases that share a photo are one group. `place` is the folder that holds both tables, and the images at any
    depth.

    Raises:
        InputError: a table or column is missing, a case comes twice in one table, or its weights cannot be read.
    """
    if not place.is_dir():
        raise InputError(place, found="is no folder", expected="the folder of scin_cases.csv and scin_labels.csv")
    cases_table, cases = read_records(table_in(place, "scin_cases.csv"))
    labels_table, rows = read_records(table_in(place, "scin_labels.csv"))
    case, case_of_label = cases_table.column("case_id", needed=True), labels_table.column("case_id", needed=True)
    weights = labels_table.column(_WEIGHTS, needed=True)
    paths = [column for name in _IMAGES if (column := cases_table.column(name))]
    if not paths:
        raise InputError(cases_table.path, found="no column image_1_path", expected="the columns of SCIN")
    gradable = [column for name in _GRADABLE if (column := labels_table.column(name))]
    assert case is not None and case_of_label is not None
    label_of = _by_case(rows, case_of_label)
    _by_case(cases, case)
    cases_of: dict[str, list[Record]] = {}
    for record in cases:
        for name in dict.fromkeys(record[column] for column in paths if record[column]):
            cases_of.setdefault(name, []).append(record)
    group_of = joined([record[case] for record in records] for records in cases_of.values())
    images = ImageIndex(place)

    def each() -> Iterator[Photo]:
        for name, records in cases_of.items():
            ids = [record[case] for record in records]
            found = [label_of[one] for one in ids if one in label_of]
            chosen = tuple(pair for row in found for pair in _weights(row, weights))
            yield Photo(
                image_id=f"{facts.name}-{Path(name).stem}",
                source=facts.name,
                labels=chosen,
                file=name,
                path=images.find(name),
                url=None,
                md5=None,
                group=group_of[ids[0]],
                licence=facts.licence,
                licence_asserted_by=facts.licence_asserted_by,
                attribution=f"{facts.attribution}, case {ids[0]}",
                where=records[0].where,
                problem="" if chosen else _why_unlabelled(found, gradable),
            )

    return PhotoSource(facts, labels, each)


def _by_case(records: list[Record], column: str) -> dict[str, Record]:
    found: dict[str, Record] = {}
    for record in records:
        if record[column] in found:
            first = found[record[column]].where
            raise InputError(record.where, found=f"case {record[column]} again, after {first}", expected="each once")
        found[record[column]] = record
    return found


def _weights(record: Record, column: str | None) -> tuple[tuple[str, float], ...]:
    """Labels with their weights, from a cell such as {'Eczema': 0.67, 'Tinea': 0.33}."""
    text = record[column]
    if not text:
        return ()
    try:
        read = ast.literal_eval(text)
        return tuple((str(label), float(weight)) for label, weight in read.items())
    except (ValueError, SyntaxError, AttributeError, TypeError, MemoryError, RecursionError):
        raise InputError(
            record.where, found=f"{column} {text[:60]!r}", expected="a mapping such as {'Eczema': 0.67, 'Tinea': 0.33}"
        ) from None


def _why_unlabelled(records: list[Record], gradable: list[str]) -> str:
    if not records:
        return "no label: the case is not in scin_labels.csv"
    said = [record[column] for record in records for column in gradable if record[column]]
    return f"no label: {said[0].lower().replace('_', ' ')}" if said else "no label"
