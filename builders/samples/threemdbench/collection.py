"""The sample as a folder of files and a table, as somebody's own collection would lie on a disk."""

from __future__ import annotations

import csv
import hashlib
import io
from importlib.metadata import version
from pathlib import Path

from builders.samples.threemdbench.drawings import draw
from builders.samples.threemdbench.faults import changed
from builders.samples.threemdbench.look import looks
from loaders.disk import write_whole, writing

EACH = 12
"""Photos of each diagnosis, before faults are planted."""
TABLE = "photos.csv"
_COLUMNS = ("file", "label", "group_id", "licence", "licence_asserted_by", "attribution")
_LICENCE, _BY, _CREDIT = "CC0-1.0", "the authors of this project", "drawn for this project"
_HERE = Path(__file__).parent


def write_sample(folder: Path, *, each: int = EACH) -> Path:
    """Draw the sample into `folder` and return its table; what an earlier call finished is left as it is.

    Photos 0 and 1 of each diagnosis are of one patient; so are a photo and its copy `copy-patient`.

    Raises: BedsideError when the disk is full.
    """
    table = folder / TABLE
    if table.is_file():
        return table
    with writing(folder):
        (folder / "photos").mkdir(parents=True, exist_ok=True)
    rows = []
    for name in looks():
        for number in range(each):
            file = f"photos/{_opaque(name, number)}.jpg"
            if not (folder / file).is_file():
                write_whole(folder / file, draw(name, number))
            patient = f"{_opaque(name, 0)}" if number < 2 else ""
            rows.append((file, name, patient, _LICENCE, _BY, _CREDIT))
    for row in csv.DictReader((_HERE / "planted.csv").read_text(encoding="utf-8").splitlines()):
        file = f"photos/{row['file']}.jpg"
        data = changed(draw(row["diagnosis"], int(row["number"])), row["change"])
        if data is not None:
            write_whole(folder / file, data)
        by = _BY if row["licence"] else ""
        rows.append((file, row["label"], "", row["licence"], by, _CREDIT))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(rows)
    write_whole(table, text.getvalue().encode())
    return table


def sample_digest() -> str:
    """SHA-256 of all that decides the sample: its code and tables, and the libraries that draw and encode."""
    digest = hashlib.sha256()
    for path in sorted(_HERE.glob("*.py")) + sorted(_HERE.glob("*.csv")):
        digest.update(f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    digest.update(f"{version('numpy')} {version('pillow')} {EACH}".encode())
    return digest.hexdigest()


def _opaque(name: str, number: int) -> str:
    return hashlib.sha256(f"{name} {number}".encode()).hexdigest()[:12]
