"""`cues.parquet`: the three names that a classifier ranks first for each case, which a doctor agent may be given.

Names only, in order, no probabilities (Table 5, "external cues"). The file says which rows it is for, by their content
digest, and which model and run made it, so that a doctor never gets the cues of another release. It also says which
cases have none and why, and whether the classifier's own training photos were looked for among them. Files of earlier
versions say neither.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from loaders.errors import InputError
from loaders.files.disk import write_whole
from loaders.files.opening import read_file
from loaders.files.records import from_json, to_json
from loaders.files.tables import open_parquet
from loaders.threemdbench import NAMES

TOP = 3
_SCHEMA = pa.schema([pa.field("case_id", pa.string(), False), pa.field("names", pa.list_(pa.string()), False)])
_SAID = ("content_digest", "model", "run_id", "stand_in")
_MORE = b"bedside.more"
_DO = "Create it again with: bedside run classifier"


@dataclass(frozen=True, slots=True)
class Search:
    """The result of looking for the classifier's training and validation photos, in any disguise, among the cases.

    `trained_on` are the digests of these two splits, `photos` says how many were looked for, `found` how many cases
    show the same as one of them: these have no cues.
    """

    trained_on: dict[str, str]
    photos: int
    found: int


@dataclass(frozen=True, slots=True)
class More:
    """What a file says besides its rows: the digest of each split if there are several, case -> why it has no cues, and
    the search; None if nobody looked."""

    splits: dict[str, str] = field(default_factory=dict)
    without: dict[str, str] = field(default_factory=dict)
    search: Search | None = None


@dataclass(frozen=True, slots=True)
class Cues:
    """The names for each case by its id, most likely first, and where they come from.

    `content_digest` is that of the rows (`Opened.content_digest` of the split), `file_digest` the SHA-256 of the file,
    for the record of a run. `stand_in` is why the classifier's answers are no results, or None. `more` says which cases
    have none.
    """

    names: Mapping[str, tuple[str, ...]]
    content_digest: str
    model: str
    run_id: str
    stand_in: str | None
    file_digest: str
    more: More


def write_cues(
    path: Path,
    names: Mapping[str, Sequence[str]],
    *,
    content_digest: str,
    model: str,
    run_id: str,
    stand_in: str | None = None,
    more: More | None = None,
) -> None:
    """Write the cues, whole or not at all. The same cues give the same bytes."""
    said = dict(zip(_SAID, (content_digest, model, run_id, stand_in or ""), strict=True))
    metadata = {f"bedside.{key}".encode(): value.encode() for key, value in said.items()}
    metadata[_MORE] = json.dumps(to_json(more or More()), sort_keys=True, ensure_ascii=False).encode()
    cases = sorted(names)
    table = pa.table(
        {"case_id": cases, "names": [list(names[case]) for case in cases]},
        schema=_SCHEMA.with_metadata(metadata),
    )
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    write_whole(path, sink.getvalue().to_pybytes())


def read_cues(path: Path, content_digest: str) -> Cues:
    """The cues of a file that was made for the rows with this content digest, or for all splits of their release.

    Raises InputError if the file is missing, is no such file, was made for other rows, or does not hold exactly three
    distinct diagnoses of the 34 for a case.
    """
    data = read_file(path, expected="cues.parquet", do=_DO)
    with open_parquet(path, data) as file:
        table = file.read(use_threads=False)
        rows: list[dict[str, Any]] = table.to_pylist()
        metadata = table.schema.metadata or {}
        said = {key: metadata.get(f"bedside.{key}".encode(), b"").decode(errors="replace") for key in _SAID}
        told = metadata.get(_MORE)
    if not table.schema.equals(_SCHEMA) or not all(said[key] for key in ("content_digest", "model", "run_id")):
        raise InputError(
            path, found="not a cues.parquet", expected="a file written by `bedside run classifier`", do=_DO
        )
    more = from_json(More, told, path, do=_DO) if told is not None else More()
    if content_digest not in (said["content_digest"], *more.splits.values()):
        raise InputError(
            path,
            found=f"cues for rows with content digest {said['content_digest'][:16]}",
            expected=f"{content_digest[:16]}, the rows that are used here",
            do=f"{_DO}, on this release and split",
        )
    names: dict[str, tuple[str, ...]] = {}
    for row in rows:
        case, given = row["case_id"], tuple(row["names"] or ())
        if not case or len(given) != TOP or len(set(given)) != TOP or not set(given) <= set(NAMES):
            expected = f"{TOP} distinct diagnoses of the 34"
            raise InputError(f"{path}, case {case}", found=str(list(given)), expected=expected)
        names[case] = given
    if len(names) < len(rows):
        raise InputError(path, found="a repeated case", expected="one row per case", do=_DO)
    stand_in = said.pop("stand_in") or None
    return Cues(names, **said, stand_in=stand_in, file_digest=hashlib.sha256(data).hexdigest(), more=more)
