"""Where cases come from: written ones, ones composed of them, or threads of r/AskDocs.

sample                          forty written cases (bundled)
sample-threads                  twelve written threads, as a dump would hold them (bundled)
threads=DIR                     dumps in a folder, recognised by "submissions", "posts" or RS, and "comments" or RC, in
                                their names
threads=SUBMISSIONS,COMMENTS    two files
cases=FILE                      whole profiles of your own: YAML, CSV, TSV, JSON, JSON lines or Parquet
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from builders.medconceal.compose import composed
from builders.medconceal.dumps import ENDINGS
from builders.medconceal.measure import check_own
from builders.pipeline.rows import Row
from builders.samples import medconceal as bundled
from loaders.errors import CHECK_PATH, InputError, how_many
from loaders.files.bad_rows import BadRow
from loaders.files.disk import write_whole
from loaders.files.foreign import Columns, check_columns, columns_of, read_mapping
from loaders.files.json_values import understood, unusual
from loaders.files.opening import digest_of
from loaders.files.paths import entries, is_folder, is_hidden, is_inside, is_there, name_of
from loaders.files.tables import Record, read_records
from loaders.manifest import canonical_json
from loaders.medconceal import KEY, SCHEMA, PatientProfile, row_of
from loaders.medconceal_corpus import FOREIGN, meant, read_foreign

SAMPLE, SAMPLE_THREADS, THREADS, OWN_CASES = "sample", "sample-threads", "threads=", "cases="
SYNTHETIC = "synthetic"
_TOLD = 10  # fields
MADE_UP = "the patients were made up for this project, and no clinician has reviewed them"
FOR_LOAD = f"{MADE_UP}; these are put together anew from parts of others, for load tests only"
SYNTHETIC_LICENCE = "CC0-1.0"
THREAD_LICENCE = "other"
# "posts" is what Arctic Shift's download tool, the paper's source, calls them.
_SUBMISSIONS = re.compile(r"submission|(?<![a-z])posts?(?![a-z])|^RS[_-]", re.IGNORECASE)
_COMMENTS = re.compile(r"comment|^RC[_-]", re.IGNORECASE)


@dataclass(frozen=True)
class Written:
    """Cases that are complete already; `invented` by this project, or somebody else's, each with why it is refused, if
    so.

    `caution` says why numbers over them are no results, `unread` which of their fields no profile has, if any.
    """

    name: str
    rows: list[Row | BadRow]
    digest: str
    invented: bool = True
    caution: str = ""
    unread: str = ""


@dataclass(frozen=True)
class Dumps:
    """Files of submissions and of comments, with their digests; `invented` is True for the bundled ones."""

    name: str
    submissions: tuple[Path, ...]
    comments: tuple[Path, ...]
    digests: tuple[str, ...]
    invented: bool


def open_source(
    text: str | None, *, synthetic: int | None, seed: int, workspace: Path, fields: Path | None = None
) -> Written | Dumps:
    """The source that the options name; `fields` maps fields to the columns of `cases=FILE`. Raises: InputError if none
    or two are named, its files do not exist or cannot be read, or no case in them is complete."""
    if (text is None) == (synthetic is None):
        found = "neither" if text is None else "both"
        raise InputError("--source, --synthetic", found=found, expected="one of the two")
    if fields and not (text or "").startswith(OWN_CASES):
        raise InputError("--fields", found=f"a mapping for {text or 'composed cases'}", expected=f"{OWN_CASES}FILE")
    if synthetic is not None:
        title = f"{how_many(synthetic, 'case')} composed of the bundled ones, for load tests only"
        return _written(title, composed(synthetic, seed=seed), FOR_LOAD)
    assert text is not None
    if text == SAMPLE:
        return _written(bundled.TITLE, bundled.profiles(), MADE_UP)
    if text == SAMPLE_THREADS:
        return _bundled_threads(workspace / "sample")
    if text.startswith(THREADS) and text != THREADS:
        return _dumps(text.removeprefix(THREADS))
    if text.startswith(OWN_CASES) and text != OWN_CASES:
        return _own_cases(Path(text.removeprefix(OWN_CASES)), fields)
    expected = f"{SAMPLE}, {SAMPLE_THREADS}, {THREADS}DIR, {THREADS}SUBMISSIONS,COMMENTS or {OWN_CASES}FILE"
    raise InputError("--source", found=text, expected=expected)


def _written(title: str, profiles: Iterable[PatientProfile], caution: str) -> Written:
    attribution = "Bedside (synthetic patients)"
    rows = [
        row_of(profile, author=SYNTHETIC, licence=SYNTHETIC_LICENCE, attribution=attribution) for profile in profiles
    ]
    digest = hashlib.sha256(canonical_json(rows)).hexdigest()
    return Written(title, [{**row, "where": row["case_id"], "says": None} for row in rows], digest, caution=caution)


def _own_cases(path: Path, fields: Path | None) -> Written:
    """Somebody else's profiles. Those that are incomplete, or break a rule of the corpus, are refused one by one."""
    columns = read_mapping(fields, FOREIGN) if fields else {}
    records = read_records(path)
    rows: list[Row] = []
    bad: list[BadRow] = []
    errors: list[InputError] = []
    existing: set[str] = set()
    unread: Counter[str] = Counter()
    nothing = dict.fromkeys(SCHEMA)
    name = name_of(path)
    for number, placed in enumerate(records.each(None), start=1):
        if isinstance(placed, BadRow):
            bad.append(placed)
            continue
        where, record = placed
        existing.update(columns_of(record) if columns else ())
        case_id, says = f"case-{number:05d}", None
        row: Row = {**nothing, "case_id": case_id}
        try:
            row, unknown = _own_case(where, record, columns, case_id, name)
            unread.update(unknown)
            says = hashlib.sha256(canonical_json(row)).hexdigest()
            problems = check_own(row, columns)
            refused = {"reason": "breaks a rule", "detail": "; ".join(problems)} if problems else None
            if any(problem.startswith(f"an identifier in {KEY} ") for problem in problems):
                row[KEY] = case_id  # exclusions are published under it
        except InputError as error:
            errors.append(error)
            refused = {"reason": "no whole profile", "detail": f"{where}: {error.found}"}
        rows.append({**row, "refused": refused, "where": where, "says": says})
    if fields and rows:
        check_columns(fields, columns, existing, name)
    if len(errors) == len(rows):
        raise (errors or bad)[0]
    identity = canonical_json([records.digest, dict(columns)])
    digest = hashlib.sha256(identity).hexdigest()
    return Written(name, [*bad, *rows], digest, invented=False, unread=_unread(name, unread))


def _own_case(where: str, record: Record, columns: Columns, case_id: str, name: str) -> tuple[Row, list[str]]:
    """A row from somebody else's profile, and its fields that no profile has. Raises: InputError, about this row."""
    with understood(where, expected="a patient profile (Appendix C.3)"):
        row, unread = read_foreign(record, columns, where=where, case_id=case_id, author="unknown", attribution=name)
    if wrong := unusual(row):
        raise InputError(where, found=wrong, expected="texts in UTF-8")
    return row, unread


def _unread(name: str, fields: Counter[str]) -> str:
    """A sentence about the fields that were not read, since one of them may be a misspelt optional one."""
    if not fields:
        return ""
    told = [f"{meant(field)} in {how_many(count, 'case')}" for field, count in sorted(fields.items())]
    more = [f"{len(told) - _TOLD:,} more"] * (len(told) > _TOLD)
    return f"{name}: fields that are not read: {', '.join([*told[:_TOLD], *more])}"


def _bundled_threads(folder: Path) -> Dumps:
    paths = []
    for name, lines in (("submissions", bundled.submissions()), ("comments", bundled.comments())):
        paths.append(folder / f"{name}.jsonl")
        write_whole(paths[-1], "".join(f"{line}\n" for line in lines).encode())
    title = "synthetic threads written for Bedside; nobody said any of this"
    return Dumps(title, (paths[0],), (paths[1],), tuple(map(digest_of, paths)), invented=True)


def _dumps(text: str) -> Dumps:
    place = Path(text)
    if is_folder(place):
        files = [path for path in entries(place) if path.suffix in ENDINGS and not is_hidden(path.name)]
        comments = [path for path in files if _COMMENTS.search(path.name)]
        submissions = [path for path in files if _SUBMISSIONS.search(path.name) and path not in comments]
    else:
        parts = [Path(part) for part in text.split(",") if part]
        if len(parts) == 1 and not is_there(parts[0]):
            raise InputError(parts[0], found="does not exist", expected="a folder of dumps", do=CHECK_PATH)
        if len(parts) != 2:
            found = how_many(len(parts), "file") if parts else "nothing"
            raise InputError("--source", found=found, expected=f"{THREADS}DIR or {THREADS}SUBMISSIONS,COMMENTS")
        submissions, comments = parts[:1], parts[1:]
    for kind, paths in (("submissions", submissions), ("comments", comments)):
        if not paths:
            raise InputError(place, found=f"no file of {kind}", expected=f"*{kind}* with {' or '.join(ENDINGS)}")
        for path in paths:
            if is_folder(place) and not is_inside(path, place):
                do = "Name the two files themselves"
                raise InputError(path, found="leads out of its folder", expected=f"a dump of {kind} in it", do=do)
    digests = tuple(map(digest_of, (*submissions, *comments)))
    return Dumps("r/AskDocs", tuple(submissions), tuple(comments), digests, invented=False)
