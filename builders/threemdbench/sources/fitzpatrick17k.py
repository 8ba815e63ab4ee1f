"""Fitzpatrick17k: a table of labels, addresses and MD5 digests; the photos have to be fetched, and many are gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.records import finder, read_records, table_in
from builders.threemdbench.sources.traits import traits
from loaders.files.bad_rows import BadRow

_MD5 = re.compile(r"[0-9a-f]{32}\Z")
_WRONG = "3 Wrongly labelled"


def open_fitzpatrick17k(place: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The photos of fitzpatrick17k.csv. One that lies below its folder, named by its MD5, need not be fetched.

    The table has no patients, so photos have no group.

    Raises: InputError without the table or one of its columns (md5hash, label, url).
    """
    path = table_in(place, "fitzpatrick17k.csv")
    table, records = read_records(path)
    md5, label, url = (table.column(name, needed=True) for name in ("md5hash", "label", "url"))
    checked, scale = table.column("qc"), table.column("fitzpatrick_scale", "fitzpatrick")
    image_of = finder(path, place)

    def each() -> Iterator[Photo | BadRow]:
        yield from table.bad
        for record in records:
            digest, address = record[md5].casefold(), record[url]
            here = image_of(digest)
            problem = ""
            if not _MD5.match(digest):
                problem = f"no MD5 digest: {record[md5]}"
            elif record[checked] == _WRONG:
                problem = "wrongly labelled, says the source"
            elif here is None and not address:
                problem = "no address"
            yield Photo(
                image_id=f"{facts.name}-{digest or record.where.rpartition(':')[2]}",
                labels=((record[label], 1.0),) if record[label] else (),
                file=address or digest,
                image=here,
                url=address,
                md5=digest,
                attribution=f"{facts.attribution}, {address or digest}",
                where=record.where,
                problem=problem,
                traits=traits(("Fitzpatrick", record[scale], "annotators of Fitzpatrick17k, from the photo")),
            )

    return PhotoSource(facts, labels, each)
