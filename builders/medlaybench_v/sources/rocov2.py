"""ROCOv2, streamed from the Hub.

Imports `datasets`, so that it is imported only once these captions are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import datasets
import pyarrow as pa
from huggingface_hub import HfApi

from builders.medlaybench_v.sources.files import NO_IDENTIFIER, OTHER_TYPE, Row, text_cell
from builders.medlaybench_v.sources.roco import ROCOV2
from loaders.errors import HubError, InputError
from loaders.files.bad_rows import BadRow
from loaders.files.json_values import unusual
from loaders.hub import HTTP_ERROR, HUB_ERRORS, hub_error
from loaders.medlaybench_v import SPLITS, parse_cuis

LICENCE = "cc-by-nc-sa-4.0"
_COLUMNS = ("image", "image_id", "caption", "cui")


def commit_now() -> str:
    """The commit of ROCOv2 that will be read. Raises: HubError if the Hub cannot be reached or does not hold it."""
    try:
        return str(HfApi().dataset_info(ROCOV2).sha)
    except HUB_ERRORS as error:
        raise _unreachable(error, f"{ROCOV2}@main") from error


def rows_at(commit: str) -> Iterator[Row | BadRow]:
    """Rows of ROCOv2, streamed: nothing is downloaded before it is needed, and no image is decoded. Raises: HubError if
    the Hub cannot be reached; InputError if the columns are not those of ROCOv2, or its files cannot be read."""
    at = f"{ROCOV2}@{commit[:12]}"
    try:
        splits = datasets.load_dataset(ROCOV2, revision=commit, streaming=True)
        for split in sorted(splits, key=lambda name: list(SPLITS).index(name) if name in SPLITS else len(SPLITS)):
            stream = splits[split].cast_column("image", datasets.Image(decode=False))
            for number, row in enumerate(stream, start=1):
                yield _row(row, SPLITS.get(split, split), f"{at}, {split} row {number}")
    except (OSError, HTTP_ERROR, datasets.exceptions.DatasetsError) as error:
        raise _unreachable(error, at) from error
    except (pa.ArrowException, ValueError, TypeError, LookupError) as error:
        found = f"cannot be read ({type(error).__name__})"
        raise InputError(at, found=found, expected="columns " + ", ".join(_COLUMNS)) from error


def _row(row: dict[str, Any], split: str, where: str) -> Row | BadRow:
    missing = [name for name in _COLUMNS if name not in row]
    if missing:
        raise InputError(where, found=f"no column {', '.join(missing)}", expected="columns " + ", ".join(_COLUMNS))
    try:
        if wrong := unusual(row):
            raise BadRow(where, reason=OTHER_TYPE, found=wrong, expected="text in UTF-8")
        name = text_cell(row["image_id"], where, "image_id")
        if not name:
            raise BadRow(where, reason=NO_IDENTIFIER, expected="an image_id in every row")
        return {
            "image_id": name,
            "split": split,
            "expert_caption": text_cell(row["caption"], where, "caption"),
            "cuis": parse_cuis(row["cui"], where),
            "licence": LICENCE,
            "licence_asserted_by": f"card of {ROCOV2}",
            "attribution": f"ROCOv2 (Rückert et al. 2024), {name}",
            "article_id": None,
            "image_bytes": (row["image"] or {}).get("bytes"),
            "files": (),
            "where": where,
        }
    except InputError as error:
        return BadRow.of(error)


def _unreachable(error: Exception, at: str) -> HubError:
    found = hub_error(error, at, typed=False)
    do = found.do or "Connect to the internet"
    return HubError(
        found.where, found=found.found, expected=found.expected, do=f"{do}, or build from a local file of captions"
    )
