"""Whether a release is what its manifest and its card say it is.

bedside verify DIR|REPO[@TAG]
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import datasets
import pyarrow as pa
from pydantic import JsonValue

from builders.pipeline.keys import Keys
from builders.pipeline.rows import Row
from builders.pipeline.run import EXCLUSIONS
from builders.release.card_checks import check_card, check_croissant, read_card
from builders.release.cards import CARD
from builders.release.counted import Measure, RowCheck
from builders.release.croissant import CROISSANT
from builders.release.diff import changes
from builders.release.shards import CANARY, other_columns, read_parquet
from builders.release.write import EXCLUSIONS_FILE
from loaders.corpus import Corpus
from loaders.errors import InputError, MissingExtra, ReleaseError, how_many
from loaders.files.tables import open_parquet
from loaders.manifest import NAME, ContentDigest, Manifest, Problem
from loaders.schema import Upgrade

_NOT_ROWS = (CARD, CROISSANT, EXCLUSIONS_FILE)
_SHOWN = 20
"""Problems of single rows that are listed one by one; the rest is counted."""


def verify(
    folder: Path,
    *,
    corpus: Corpus | None = None,
    row_check: RowCheck | None = None,
    measure: Measure | None = None,
    rules: int | None = None,
    licence_check: RowCheck | None = None,
) -> list[Problem]:
    """Everything that is wrong with a release: its files, schema, rows, accounting, statistics and card.

    A file whose digest is wrong is reported once and not read any further. `row_check` and `measure` are the rules and
    statistics of the corpus. With the `corpus`, the rules are applied to a release of an earlier schema as `load`
    returns it; its statistics come from code that no longer exists, and are not measured again. One made by another
    version of the gates and scans than `rules` is checked against its manifest, and so are the statistics that both
    versions know. Licences are checked in any release, those of rows by `licence_check`.
    """
    try:
        manifest = Manifest.read(folder)
    except ReleaseError as error:
        return [Problem(error.where, error.found, error.expected)]
    problems = [*manifest.check_files(folder), *manifest.check_counts()]
    damaged = {problem.where for problem in problems}
    sound = [name for name in manifest.files if name not in damaged]
    try:
        features = datasets.Features._from_yaml_list(manifest.features)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return [*problems, Problem(f"{NAME}: features", f"cannot be read: {error}", "features of `datasets`")]
    for column in (manifest.key, "split"):
        if column not in features:
            return [*problems, Problem(f"{NAME}: features", f"columns {list(features)}", f"a column {column!r}")]
    other_rules = rules not in (None, manifest.rules)
    if other_rules:
        row_check, known = licence_check, measure
        measure = known and (lambda rows: _known_to_both(manifest.statistics, known(rows)))
    if corpus is not None:
        if manifest.key != corpus.key:
            problems.append(Problem(f"{NAME}: key", manifest.key, f"{corpus.key}, the key of {corpus.name}"))
        try:
            upgrade = Upgrade.of(manifest, corpus.features, corpus.migrations, str(folder))
        except ReleaseError as error:
            return [*problems, Problem(error.where, error.found, error.expected)]
        if upgrade.needed:
            check, measure = row_check, None
            row_check = check and (lambda row: check(upgrade(row)))
    problems += _check_rows(folder, manifest, features, sound, row_check, measure)
    if EXCLUSIONS_FILE in sound:
        problems += _check_exclusions(folder, manifest)
    elif EXCLUSIONS_FILE not in manifest.files:
        problems.append(Problem(EXCLUSIONS_FILE, "not listed in the manifest", "a file of excluded rows"))
    foreign = (n for n in sorted(manifest.files) if not n.startswith("data/") and n not in _NOT_ROWS)
    problems += [Problem(name, "a listed file that no release has", "only files of a release") for name in foreign]
    card = read_card(folder) if CARD in sound else None
    problems += _check_canary(folder, manifest, sound, card)
    problems += check_card(folder, manifest, card, tables=not other_rules)
    return [*problems, *(check_croissant(folder, manifest, card) if CROISSANT in sound and card is not None else ())]


class _RowProblems:
    """Problems of rows: the first ones in words, the rest as a count by kind."""

    def __init__(self) -> None:
        self.listed: list[Problem] = []
        self._more: Counter[str] = Counter()

    def add(self, kind: str, place: Callable[[], str], found: str, expected: str) -> None:
        if len(self.listed) < _SHOWN:
            self.listed.append(Problem(place(), found, expected))
        else:
            self._more[kind] += 1

    def all(self) -> list[Problem]:
        return self.listed + [Problem("rows", f"{n:,} more: {kind}", "none") for kind, n in sorted(self._more.items())]


def _check_rows(
    folder: Path,
    manifest: Manifest,
    features: datasets.Features,
    sound: list[str],
    row_check: RowCheck | None,
    measure: Measure | None,
) -> list[Problem]:
    """Schema of each shard; rows, content digest and key of each split; rules and statistics of the corpus."""
    problems: list[Problem] = []
    of_rows = _RowProblems()
    keys = Keys()
    begins: dict[str, int] = {}  # the place of the first row of each shard among all

    def scan(split: str) -> Iterator[Row]:
        content = ContentDigest()
        for shard in manifest.shards(split):
            begins[shard] = len(keys)
            for row in read_parquet(folder, shard, features.arrow_schema, manifest.key):
                content.update(row)
                where = partial("{}: row {!r}".format, shard, row[manifest.key])
                keys.add(row[manifest.key])
                if row["split"] != split:
                    of_rows.add("row in another split's shard", where, f"split {row['split']!r}", repr(split))
                for sentence in _check_row(row, row_check):
                    of_rows.add(sentence, where, sentence, "a row that follows the rules of the corpus")
                yield row
        facts = manifest.splits[split]
        if content.rows != facts.rows:
            problems.append(Problem(f"split {split}", how_many(content.rows, "row"), f"{facts.rows:,}"))
        if content.hexdigest() != facts.content_digest:
            found = f"content digest {content.hexdigest()}"
            problems.append(Problem(f"split {split}", found, facts.content_digest))

    readable = []
    for split in manifest.splits:
        whole = [name for name in manifest.shards(split) if name in sound]
        wrong = [p for name in whole if (p := _check_schema(folder, name, features.arrow_schema))]
        problems += wrong
        if not wrong and whole == manifest.shards(split):
            readable.append(split)
    rows = (row for split in readable for row in scan(split))
    try:
        if measure is not None and len(readable) == len(manifest.splits):
            problems += _check_statistics(manifest, measure, rows)
        deque(rows, maxlen=0)
        for place, first in sorted(keys.repeats().items()):
            shard, other = _shard_of(place, begins), _shard_of(first, begins)

            def again(shard: str = shard, at: int = place - begins[shard]) -> str:  # the shard is read for it
                row = next(islice(read_parquet(folder, shard, features.arrow_schema, manifest.key), at, None))
                return f"{shard}: row {row[manifest.key]!r}"

            of_rows.add("repeated key", again, f"the key is also in {other}", "a unique key")
    except ReleaseError as error:
        problems.append(Problem(error.where, error.found, error.expected))
    return problems + of_rows.all()


def _shard_of(place: int, begins: dict[str, int]) -> str:
    """The shard that holds the row at that place among all: the last that fits, since others may be empty."""
    return next(name for name in reversed(begins) if begins[name] <= place)


def made_by(manifest: Manifest, rules: int) -> str:
    """A remark if a release was made by another version of its corpus's gates and scans; otherwise empty."""
    if manifest.rules == rules:
        return ""
    held = "its rows were checked against its manifest, not with today's gates and scans"
    code = f" at commit {manifest.code.commit[:12]}" if manifest.code else ""
    return f"made by version {manifest.rules} of the gates and scans{code}; this Bedside has version {rules}: {held}"


def _known_to_both(said: JsonValue, measured: JsonValue) -> JsonValue:
    """What was measured, but for what only one of the two names."""
    if isinstance(said, dict) and isinstance(measured, dict):
        return {
            name: _known_to_both(value, measured[name]) if name in measured else value for name, value in said.items()
        }
    return measured


def _check_row(row: Row, row_check: RowCheck | None) -> list[str]:
    try:
        said = row_check(row) if row_check is not None else []
        if not isinstance(said, list):
            return [f"cannot be checked (check_row returns a {type(said).__name__}, not a list of sentences)"]
        return said
    except MissingExtra:
        raise
    except Exception as error:  # rows of a release made elsewhere can break any assumption: that is a finding
        return [f"cannot be checked ({type(error).__name__})"]


def _check_statistics(manifest: Manifest, measure: Measure, rows: Iterator[Row]) -> list[Problem]:
    where = f"{NAME}: statistics"
    try:
        differing = changes(where, manifest.statistics, measure(rows))
        return [Problem(one.where, str(one.a), f"{one.b}, measured from the rows") for one in differing]
    except (MissingExtra, ReleaseError):
        raise
    except Exception as error:  # as for rows
        return [
            Problem(where, f"cannot be measured ({type(error).__name__})", "rows that follow the rules of the corpus")
        ]


def _check_schema(folder: Path, shard: str, expected: pa.Schema) -> Problem | None:
    try:
        with open_parquet(folder / shard) as file:
            found = file.schema_arrow
    except InputError as error:
        return Problem(shard, f"cannot be read: {error.found}", "a Parquet file")
    if (other := other_columns(found, expected)) is not None:
        return Problem(shard, *other)
    try:
        same = datasets.Features.from_arrow_schema(found) == datasets.Features.from_arrow_schema(expected)
    except Exception:  # anything: it is JSON that anybody may have written
        same = False
    return None if same else Problem(shard, "other feature types in its metadata", "the features of the manifest")


def _check_canary(folder: Path, manifest: Manifest, sound: list[str], card: str | None) -> list[Problem]:
    """It stands in the card and in the metadata of every shard."""
    if manifest.canary is None:
        return []
    without = []
    for name in (name for name in manifest.shards(*manifest.splits) if name in sound):
        try:
            with open_parquet(folder / name) as file:
                said = (file.metadata.metadata or {}).get(CANARY.encode(), b"")
        except InputError:
            continue  # reported when its rows are read
        if said.decode("utf-8", "replace") != manifest.canary:
            without.append(name)
    if card is not None and manifest.canary not in card:
        without.append(CARD)
    return [Problem(name, "no canary, or another one", manifest.canary) for name in without]


def _check_exclusions(folder: Path, manifest: Manifest) -> list[Problem]:
    problem = _check_schema(folder, EXCLUSIONS_FILE, EXCLUSIONS)
    if problem is not None:
        return [problem]
    problems = []
    content = ContentDigest()
    counts: Counter[tuple[str, str]] = Counter()
    try:
        for row in read_parquet(folder, EXCLUSIONS_FILE):
            content.update(row)
            counts[row["stage"], row["reason"]] += 1
    except ReleaseError as error:
        return [Problem(error.where, error.found, error.expected)]
    if (content.rows, content.hexdigest()) != (manifest.exclusions.rows, manifest.exclusions.content_digest):
        expected = f"{how_many(manifest.exclusions.rows, 'row')}, {manifest.exclusions.content_digest}"
        problems.append(Problem(EXCLUSIONS_FILE, f"{how_many(content.rows, 'row')}, {content.hexdigest()}", expected))
    said = Counter({(s.name, reason): n for s in manifest.stages for reason, n in s.excluded.items()})
    for stage, reason in sorted(said.keys() | counts.keys()):
        n, expected_n = counts[stage, reason], said[stage, reason]
        if n != expected_n:
            where = f"{EXCLUSIONS_FILE}: stage {stage}, {reason}"
            problems.append(Problem(where, how_many(n, "row"), f"{expected_n:,}, as the manifest counts"))
    return problems
