"""SCIN: scin_cases.csv (up to three photos a case) and scin_labels.csv (weighted labels of several dermatologists)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from builders.curation.sampling import joined
from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.records import Record, read_records, table_in
from builders.threemdbench.sources.traits import traits
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.cells import parse_literal
from loaders.files.image_files import ImageIndex
from loaders.files.paths import check_folder
from loaders.files.tables import Table
from loaders.files.texts import check_text

_IMAGES = ("image_1_path", "image_2_path", "image_3_path")
_WEIGHTS = "weighted_skin_condition_label"
_RATED = tuple(f"dermatologist_fitzpatrick_skin_type_label_{n}" for n in (1, 2, 3))
_MONK = ("monk_skin_tone_label_us", "monk_skin_tone_label_india")
_GRADABLE = tuple(f"dermatologist_gradable_for_skin_condition_{n}" for n in (1, 2, 3))


def open_scin(place: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The photos of all cases, each once, with the labels of its case.

    Some photos are in several cases, not always with the same labels: such a photo has the labels of all its cases, and
    cases that share a photo are one group. `place` is the folder that holds both tables, and the images at any depth.

    Raises: InputError if a table or column is missing.
    """
    check_folder(place, "the folder with scin_cases.csv and scin_labels.csv")
    cases_table, cases = read_records(table_in(place, "scin_cases.csv"))
    labels_table, ratings = read_records(table_in(place, "scin_labels.csv"))
    weights = labels_table.column(_WEIGHTS, needed=True)
    paths = [column for name in _IMAGES if (column := cases_table.column(name))]
    if not paths:
        raise InputError(cases_table.path, found="no column image_1_path", expected="the columns of SCIN")
    gradable = [column for name in _GRADABLE if (column := labels_table.column(name))]
    bad = [*cases_table.bad, *labels_table.bad]
    label_of = _by_case(labels_table, ratings, bad)
    cases_of = _by_photo(_by_case(cases_table, cases, bad), paths)
    group_of = joined(cases_of.values())
    images = ImageIndex(place)
    age, sex, own = (cases_table.column(name) for name in ("age_group", "sex_at_birth", "fitzpatrick_skin_type"))
    rated = [column for name in _RATED if (column := labels_table.column(name))]
    monk = [column for name in _MONK if (column := labels_table.column(name))]

    def each() -> Iterator[Photo | BadRow]:
        yield from bad
        for name, records in cases_of.items():
            number, first = next(iter(records.items()))
            rows = [label_of[number] for number in records if number in label_of]
            try:
                chosen = tuple(pair for row in rows for pair in _weights(row, weights))
            except BadRow as error:
                yield error
                continue
            yield Photo(
                image_id=f"{facts.name}-{Path(name).stem}",
                labels=chosen,
                file=name,
                image=images.find(name),
                group=group_of[number],
                attribution=f"{facts.attribution}, case {number}",
                where=first.where,
                problem="" if chosen else _why_unlabelled(rows, gradable),
                traits=traits(
                    ("Fitzpatrick", first[own], "the person"),
                    *(("Fitzpatrick", row[column], "a dermatologist of SCIN") for row in rows for column in rated),
                    *(("Monk", row[column], "raters of SCIN") for row in rows for column in monk),
                    age=first[age],
                    sex=first[sex],
                ),
            )

    return PhotoSource(facts, labels, each)


def _by_photo(cases: Mapping[str, Record], paths: Sequence[str]) -> dict[str, dict[str, Record]]:
    """The cases that each photo is in."""
    found: dict[str, dict[str, Record]] = {}
    for number, record in cases.items():
        for name in filter(None, (record[column] for column in paths)):
            found.setdefault(name, {})[number] = record
    return found


def _by_case(table: Table, records: Sequence[Record], bad: list[BadRow]) -> dict[str, Record]:
    """The first row of each case; later ones and those without a case are `bad`.
    Raises InputError: no column of cases."""
    column = table.column("case_id", needed=True)
    found: dict[str, Record] = {}
    for record in records:
        name = record[column]
        if not name:
            bad.append(
                BadRow(record.where, reason="no identifier", expected=f"the column {column} filled in every row")
            )
        elif found.setdefault(name, record) is not record:
            again = f"case {name} again, after {found[name].where}"
            bad.append(BadRow(record.where, reason="a case twice", found=again, expected="each once"))
    return found


def _weights(record: Record, column: str | None) -> tuple[tuple[str, float], ...]:
    """Labels with their weights, from a cell such as {'Eczema': 0.67, 'Tinea': 0.33}."""
    text = record[column]
    if not text:
        return ()
    try:
        read = parse_literal(text)
        pairs = tuple((check_text(str(label), record.where), float(weight)) for label, weight in read.items())
        if not all(0 <= weight <= 1e6 for _, weight in pairs):
            raise ValueError("no weights")
    except (ValueError, AttributeError, TypeError, ArithmeticError):
        raise BadRow(
            record.where,
            reason="weights that cannot be read",
            found=f"{column} {text[:60]!r}",
            expected="a mapping such as {'Eczema': 0.67, 'Tinea': 0.33}",
        ) from None
    return pairs


def _why_unlabelled(records: list[Record], gradable: list[str]) -> str:
    if not records:
        return "no label: the case is not in scin_labels.csv"
    said = [record[column] for record in records for column in gradable if record[column]]
    return f"no label: {said[0].lower().replace('_', ' ')}" if said else "no label"
