"""The corpus MedConceal, and how other people's profiles become its rows: the authors' own, or a team's table."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from loaders.corpus import Corpus
from loaders.errors import InputError
from loaders.files.cells import cell_text
from loaders.files.foreign import Columns, ForeignRow, text_of, texts_of
from loaders.medconceal import BLOCKS, CATEGORIES, KEY, SCHEMA, SPLIT, UNMAPPED, HiddenConcern, parse_profile, row_of
from loaders.spans import words

# Fields that a block may have, but need not.
_OPTIONAL = ("openness", "literacy")
# Fields that a row may have, but need not.
_SAID = ("case_id", "rarity", "scenarios", "synthetic", "narrative", "author", "licence", "attribution")
FOREIGN = (
    *_SAID,
    "specialty",
    *(field for block in BLOCKS.values() for field in block.model_fields),
    *("hidden_concerns", *HiddenConcern.model_fields),
)
"""The fields that a mapping of columns may name."""

# An age as people write it: whole years, and nothing else beside them. "6 months" is no age of 6.
_AGE = re.compile(r"(\d{1,3})(?:\.0+)?[\s-]*(?:years?|yrs?\.?|y\.?|y/?o|y\.o\.)?(?:[\s-]*old)?", re.IGNORECASE)
# Ages over 89 as HIPAA has them told. The corpus has no older age either: those of its own threads are 90 at most.
_OVER = 90
_OVER_89 = re.compile(
    r"(?:90\s*(?:\+|(?:and|or)\s+(?:over|older|above|more))|(?:over|above|>)\s*89|(?:>=|≥)\s*90)(?:\s*years?)?",
    re.IGNORECASE,
)
_YES, _NO = frozenset("yes y true t on 1 1.0".split()), frozenset(("", *"no n false f off 0 0.0".split()))
_NO_AGE = ("unknown", "not known", "not stated")


def read_foreign(
    row: Mapping[str, Any],
    columns: Columns,
    *,
    where: str,
    case_id: str,
    author: str,
    attribution: str,
    split: str = SPLIT,
) -> tuple[dict[str, Any], list[str]]:
    """Convert a profile from elsewhere, with its fields under the names in `columns` or their own, to a release row.

    Returns also the fields of the row that no profile has: a misspelt optional one is among them. `case_id`, `author`
    and `attribution` are for rows that state none; a licence that is not stated is unknown. A primary concern may be
    given by its number, from 0, or by its text.

    Raises: InputError, which never holds a value: fields are missing, and which columns exist; or a value does not fit.
    """
    given = ForeignRow(row, columns, BLOCKS)
    said = {name: given.find(name, needed=False) for name in _SAID}
    blocks, unread = _foreign_blocks(given, columns, where)
    profile = {
        **blocks,
        "case_id": str(said["case_id"]).strip() or case_id,
        "synthetic": _yes_or_no(said["synthetic"], where),
        "rarity": _given(said["rarity"]),
        "scenarios": [name for name in texts_of(said["scenarios"], "|") if name != ""],
        "narrative": _given(said["narrative"]),
    }
    read = row_of(
        parse_profile(profile, where),
        split=split,
        author=str(said["author"]) or author,
        licence=str(said["licence"]) or "unknown",
        attribution=str(said["attribution"]) or attribution,
    )
    return read, [*given.unread, *unread]


def meant(field: str) -> str:
    """A field that no profile has, with the known one that is nearest to it.

    >>> meant("hidden_concerns.cues"), meant("demographics.shoe")
    ('hidden_concerns.cues (cue?)', 'demographics.shoe')
    """
    near = difflib.get_close_matches(field.rpartition(".")[2].casefold(), FOREIGN, n=1, cutoff=0.7)
    return f"{field} ({near[0]}?)" if near else field


def _foreign_blocks(given: ForeignRow, columns: Columns, where: str) -> tuple[dict[str, Any], list[str]]:
    """The blocks that every profile must have, and the fields of its concerns that no concern has."""
    value: dict[str, Any] = {
        block: {field: given.find(field, block, needed=field not in _OPTIONAL) for field in kind.model_fields}
        for block, kind in BLOCKS.items()
    }
    specialty, concerns = given.find("specialty"), given.find("hidden_concerns")
    listed = concerns if isinstance(concerns, list) else []
    if not all(isinstance(each, Mapping) for each in listed):
        found, expected = "a hidden concern that is no object", "an object for each, with content, category and so on"
        raise InputError(where, found=found, expected=expected)
    read = [ForeignRow(each, columns) for each in listed]
    value["hidden_concerns"] = [_foreign_concern(each) for each in read]
    missing = [*given.missing, *(f"hidden_concerns.{field}" for each in read for field in each.missing)]
    missing += ["hidden_concerns with an object for each concern"] * (not read and not missing)
    # One that cannot be read may hold what is missing.
    if broken := sorted({*given.broken, *(f"hidden_concerns.{field}" for each in read for field in each.broken)}):
        raise InputError(
            where,
            found=f"{', '.join(broken)}: begins as a list or an object, and cannot be read as one",
            expected="JSON, or what Python prints of it, whole",
            do="Save the table as JSON lines or Parquet, which hold lists and objects",
        )
    if missing:
        raise InputError(
            where,
            found=f"lacks {', '.join(dict.fromkeys(missing))}; it holds {', '.join(given.names)}",
            expected="every field of a patient profile (Appendix C.3)",
            do="Name their columns, `field: column` a line, in a file: bedside build medconceal --source cases=FILE "
            "--fields FILE; `field: null` where there is none",
        )
    for block in set(BLOCKS) - {"intervention"}:
        value[block] = {field: text_of(found) for field, found in value[block].items()}
    value["roleplay"] |= {field: value["roleplay"][field] or None for field in _OPTIONAL}
    value["demographics"]["age"] = _age(value["demographics"]["age"])
    plan = value["intervention"]
    plan["primary_concern"] = _index_of(plan["primary_concern"], value["hidden_concerns"])
    unread = sorted({f"hidden_concerns.{field}" for each in read for field in each.unread})
    return {**value, "specialty": UNMAPPED.get(str(specialty), specialty)}, unread


def _yes_or_no(told: Any, where: str) -> bool:
    """Whether a cell says yes; an empty one says no. Raises: InputError for anything that is neither."""
    answer = cell_text(str(told)).casefold()
    if answer not in _YES and answer not in _NO:
        raise InputError(where, found="synthetic that is neither yes nor no", expected="yes or no")
    return answer in _YES


def _age(told: Any) -> Any:
    """Years, 90 for all over 89, None if they are not stated; anything else stays as it is, and is refused."""
    text = cell_text(told) if isinstance(told, str) else told
    if not isinstance(text, str):
        return text
    if not text or text.casefold() in _NO_AGE:
        return None
    if _OVER_89.fullmatch(text):
        return _OVER
    years = _AGE.fullmatch(text)
    return int(years[1]) if years else text


def _given(value: Any) -> Any:
    """The value; None for an empty one. Not for whatever counts as false: `cue: false` is no missing cue."""
    return None if value in ("", []) else value


def _foreign_concern(given: ForeignRow) -> dict[str, Any]:
    return {
        "content": text_of(given.find("content")),
        "category": category_by_number(given.find("category")),
        "confidence": given.find("confidence"),
        "evidence": texts_of(given.find("evidence"), "|"),
        "cue": _given(given.find("cue", needed=False)),
        "depth": _given(given.find("depth", needed=False)),
        "topics": texts_of(given.find("topics", needed=False), ","),
    }


def category_by_number(told: object) -> object:
    """The category of that number, from 1, as `bedside cases new` asks for it; anything else as it is."""
    by_number: dict[str, object] = {str(number): name for number, name in enumerate(CATEGORIES, start=1)}
    return by_number.get(str(told).strip(), told)


def _index_of(value: object, concerns: Sequence[Mapping[str, Any]]) -> object:
    """Which concern is meant: by its number, or by its text."""
    same = [number for number, concern in enumerate(concerns) if words(str(concern["content"])) == words(str(value))]
    return same[0] if same else value


_OFFICIAL = "Eclipse42/MedConceal"


def from_official(row: Mapping[str, Any], split: str, position: int) -> dict[str, Any]:
    """Convert a row of the authors' release, whose columns are undocumented: each field is read under its own name."""
    return read_foreign(
        row,
        {},
        where=f"{_OFFICIAL}: row {position + 1} of {split}",
        case_id=f"medconceal_{split}_{position + 1:04d}",
        author=_OFFICIAL,
        attribution=f"{_OFFICIAL} (Han et al. 2026)",
        split=split,
    )[0]


def with_depth(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row of schema version 1 to version 2: fields that version 1 did not have are null or empty lists."""
    hidden = row["hidden"]
    concerns = [{**concern, "depth": None, "topics": []} for concern in hidden["hidden_concerns"]]
    roleplay = {**hidden["roleplay"], "openness": None, "literacy": None}
    return {**row, "hidden": {**hidden, "hidden_concerns": concerns, "roleplay": roleplay}}


CORPUS = Corpus(
    name="medconceal",
    features=SCHEMA,
    key=KEY,
    from_official=from_official,
    official_repo=_OFFICIAL,
    recipe="builders.medconceal.recipe",
    migrations=(with_depth,),
)
