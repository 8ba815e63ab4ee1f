"""manifest.json: what a release holds, where it came from, and how to check that it is complete.

    <release>/README.md  manifest.json  exclusions.parquet  data/<split>-00000-of-00003.parquet

The manifest is written last, so its presence means that the release is complete. It lists every other file, and
contains no time, no machine path and no version number: a version is a git tag on the Hub.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from loaders.errors import InputError, ReleaseError, how_many, unknown_fact
from loaders.files.disk import write_whole
from loaders.files.json_values import read_json
from loaders.files.opening import digest_of, open_file
from loaders.files.paths import files_below, is_file, is_hidden, is_there, run_or_workspace

NAME = "manifest.json"
KEPT = "kept"
"""The setting of a release that is published only on request; its value says why."""
FORMAT: Literal[1] = 1
_MAIN_SPLITS = ("train", "validation", "test")

Json = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a release."""

    where: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.where}: {self.found} (expected {self.expected})"


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not parts or path[0] == "/" or {"\\", "\0"} & {*path} or ".." in parts or str(PurePosixPath(path)) != path:
        raise ValueError("leads out of the release folder")
    return path


def _named(feature: Json) -> Json:
    if not isinstance(feature.get("name"), str):
        raise ValueError("a column without a name")
    return feature


def _in_order(splits: dict[str, SplitFacts]) -> dict[str, SplitFacts]:
    return {name: splits[name] for name in order_splits(splits)}


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0)]


IMAGES_OF = "images of "  # the prefix of such a source's name


class Source(_Part):
    """An input from which rows were made. `digest` is the SHA-256 of its file, or of everything it holds; by the key of
    the release's pseudonyms if that holds names which the release hides. Images beside a table are a separate source,
    IMAGES_OF it."""

    name: str
    digest: str
    rows: Count
    licence: str
    url: str | None = None


class StageCount(_Part):
    """What a stage of the build did: rows_in = rows_out + the sum of `excluded`."""

    name: str
    version: int
    rows_in: Count
    rows_out: Count
    excluded: dict[str, Count]
    """Number of rows by reason."""


class SplitFacts(_Part):
    """The rows of one split; `num_bytes` is their size as Arrow data."""

    rows: Count
    num_bytes: Count
    content_digest: Sha256


class Config(_Part):
    """A named part of a release, `load_dataset(repo, name)`: some splits, and which of their columns.

    `columns` None means all.
    """

    name: str
    splits: list[str]
    columns: list[str] | None = None


class ExclusionFacts(_Part):
    """The rows of exclusions.parquet."""

    rows: Count
    content_digest: Sha256


class FileFacts(_Part):
    """A file on disk; `size` in bytes."""

    sha256: Sha256
    size: Count


class Code(_Part):
    """The code that built a release: its commit, whether its files had uncommitted changes, the digest of its lock
    files."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")]
    changed: bool
    lock: Sha256 | None


class Manifest(_Part):
    """The facts about a release.

    `features` are the columns in order, a list as in the YAML of a card: `datasets.Features._from_yaml_list` reads it.
    `key` is the column that names a row.
    """

    format: Literal[1] = FORMAT
    corpus: str
    key: str
    features: list[Annotated[Json, AfterValidator(_named)]]
    sources: list[Source]
    settings: Json
    prompts: dict[str, Sha256]
    versions: dict[str, str]
    stages: list[StageCount]
    splits: Annotated[dict[str, SplitFacts], AfterValidator(_in_order)]
    """In release order (`order_splits`), whatever their order in the file."""
    content_digest: Sha256
    statistics: JsonValue
    exclusions: ExclusionFacts
    files: dict[Annotated[str, AfterValidator(_inside)], FileFacts]
    configs: list[Config] = []
    """The first is what `load_dataset` gives without a name. None: a single one, `default`, holds all splits."""
    schema_version: Annotated[int, Field(ge=1)] = 1
    """The version of the corpus's schema; see `loaders.schema`."""
    stand_in: str | None = None
    """Why the content is a stand-in (sample data, scripted models); None if it is not."""
    rules: Annotated[int, Field(ge=1)] = 1
    """The version of the gates and scans applied to the rows; 1 if they had no number yet."""
    code: Code | None = None
    """None if it was not recorded, or the package was not installed from a checkout."""
    canary: str | None = None
    """A sentence in the card, in croissant.json and in every shard, by which the data can be recognised in training
    data and filtered out. None in releases of earlier versions."""

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest of a release folder.

        Raises: ReleaseError when the folder is missing, holds no manifest, or holds one that is truncated, of an
        unknown format, incomplete, or that names a file outside the folder.
        """
        path = folder / NAME
        try:
            facts = read_json(path, expected="the JSON that `bedside build` wrote")
        except InputError as error:
            if error.found == "does not exist":
                found = f"holds no {NAME}" if is_there(folder) else "no such folder"
                found = run_or_workspace(folder) or found
                do = "Name the folder of --out; a build that was interrupted has none until its command is run again"
                expected = "a release folder, as written by `bedside build`"
                raise ReleaseError(folder, found=found, expected=expected, do=do) from None
            found, do = f"cannot be read: {error.found}", _AGAIN
            if error.found.startswith("cannot be read"):  # by this user
                found, do = error.found, error.do
            raise ReleaseError(error.where, found=found, expected=error.expected, do=do) from error
        if not isinstance(facts, dict) or "format" not in facts:
            found = "states no format" if isinstance(facts, dict) else f"holds a JSON {type(facts).__name__}"
            raise ReleaseError(path, found=found, expected="the JSON object that `bedside build` wrote", do=_AGAIN)
        if (number := facts["format"]) != FORMAT:
            expected = f"format {FORMAT}"
            raise ReleaseError(path, found=f"format {number!r}", expected=expected, do="Update Bedside if it is newer")
        try:
            return cls.model_validate(facts)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"]))
            if first["type"] == "extra_forbidden":  # facts were added within one format, and may be again
                raise ReleaseError(path, **unknown_fact(field)) from error
            raise ReleaseError(
                path, found=f"{field}: {first['msg']}", expected="a complete manifest", do=_AGAIN
            ) from error

    def text(self) -> str:
        """The manifest as written: JSON with sorted keys, one value per line, UTF-8.

        Raises: ReleaseError when a number in it is NaN or infinite, which JSON cannot represent.
        """
        try:
            facts = self.model_dump(mode="python", exclude=self._left_out())
            return json.dumps(facts, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        except ValueError as error:
            raise ReleaseError(NAME, found=str(error), expected="finite numbers in statistics and settings") from error

    def _left_out(self) -> set[str]:
        """Facts introduced later whose values add nothing to a manifest without them."""
        later = ("configs", "schema_version", "rules", "code", "canary")
        return {name for name in later if getattr(self, name) == type(self).model_fields[name].default}

    def write(self, folder: Path) -> None:
        """Write manifest.json atomically into `folder`; call it when every other file is there.

        Raises: BedsideError when the disk is full; ReleaseError when the facts cannot be represented in JSON.
        """
        write_whole(folder / NAME, self.text().encode())

    def check_files(self, folder: Path) -> list[Problem]:
        """Files that are missing, not listed, or differ in size or SHA-256. Hidden files are ignored."""
        names = (path.relative_to(folder).as_posix() for path in files_below(folder))
        other = [name for name in names if not is_hidden(name) and name != NAME and name not in self.files]
        problems = [Problem(name, "a file that the manifest does not list", "only listed files") for name in other]
        return self._changed_files(folder) + problems

    def require(self, folder: Path) -> None:
        """Check that what is listed is there as it was built, before anything is told about it.

        Raises: ReleaseError for a file that is missing or differs, and for counts that disagree.
        """
        for problem in (*self._changed_files(folder), *self.check_counts()):
            do = "Build or download the release again; `bedside verify` lists everything that is wrong"
            raise ReleaseError(folder / problem.where, found=problem.found, expected=problem.expected, do=do)

    def _changed_files(self, folder: Path) -> list[Problem]:
        return [problem for name in sorted(self.files) if (problem := self.changed(folder, name))]

    def changed(self, folder: Path, name: str) -> Problem | None:
        """How a listed file differs from what the manifest says of it, if it does."""
        path, facts = folder / name, self.files[name]
        if not is_file(path):
            return Problem(name, "missing", "the file that the manifest lists")
        if (size := path.stat().st_size) != facts.size:
            return Problem(name, _there_instead(path) or how_many(size, "byte"), how_many(facts.size, "byte"))
        if (found := file_digest(path)) != facts.sha256:
            return Problem(name, f"SHA-256 {found}", facts.sha256)
        return None

    def check_counts(self) -> list[Problem]:
        """Inconsistencies within the manifest: in = out + excluded, stage by stage, down to the released rows."""
        return [*self._check_stages(), *self._check_shards(), *self._check_configs()]

    def _check_stages(self) -> Iterator[Problem]:
        for stage in self.stages:
            out = stage.rows_out + sum(stage.excluded.values())
            if stage.rows_in != out:
                found, expected = f"{how_many(stage.rows_in, 'row')} in", f"{out:,}, the rows kept and excluded"
                yield Problem(f"{NAME}: stage {stage.name}", found, expected)
        given = [(f"stage {stage.name}", stage.rows_out) for stage in self.stages]
        taken = [(f"stage {stage.name}", stage.rows_in) for stage in self.stages[1:]]
        taken.append(("splits", self.rows))
        for (giver, out), (taker, n) in zip(given, taken, strict=False):
            if out != n:
                yield Problem(f"{NAME}: {taker}", how_many(n, "row"), f"the {how_many(out, 'row')} that {giver} kept")
        excluded = sum(sum(stage.excluded.values()) for stage in self.stages)
        if excluded != self.exclusions.rows:
            found, expected = how_many(self.exclusions.rows, "row"), f"the {excluded:,} that the stages excluded"
            yield Problem(f"{NAME}: exclusions", found, expected)
        digest = content_digest({name: split.content_digest for name, split in self.splits.items()})
        if digest != self.content_digest:
            yield Problem(f"{NAME}: content_digest", self.content_digest, f"{digest}, from those of the splits")

    def named_configs(self) -> list[Config]:
        """The configs, or the one that holds everything."""
        return self.configs or [Config(name="default", splits=list(self.splits))]

    def _check_shards(self) -> Iterator[Problem]:
        """Every data file is a shard of a split, and no shard of a split is left out."""
        listed = {name for name in self.files if name.startswith("data/")}
        for split in self.splits:
            shards = self.shards(split)
            expected = [f"data/{split}-{i:05d}-of-{len(shards):05d}.parquet" for i in range(len(shards))]
            if shards != expected or not shards:
                found = f"shards of {split}: {', '.join(shards) or 'none'}"
                yield Problem(f"{NAME}: files", found, "numbered 0 to n - 1 of n")
            listed.difference_update(shards)
        for name in sorted(listed):
            yield Problem(name, "belongs to no split", "a shard of a split")

    def _check_configs(self) -> Iterator[Problem]:
        where = f"{NAME}: configs"
        named = sorted({split for config in self.named_configs() for split in config.splits})
        if named != sorted(self.splits):
            yield Problem(where, f"splits {named}", f"each of {sorted(self.splits)}")
        names = [config.name for config in self.configs]
        if len(set(names)) < len(names):
            yield Problem(where, f"names {names}", "each once")
        columns = {str(feature.get("name")) for feature in self.features}
        for config in self.configs:
            if unknown := sorted(set(config.columns or ()) - columns):
                yield Problem(f"{where}: {config.name}", f"columns {unknown}", "columns of the release")

    @property
    def method(self) -> str | None:
        """Who wrote its texts, by its settings: a model (with the condition of its prompt and its judge), rules, or
        authors."""
        model = self.settings.get("model")
        if isinstance(model, dict):
            parts = [str(model[name]) for name in ("model", "name", "condition") if model.get(name)]
            judge = model.get("judge")
            return ", ".join([*parts, *([f"judged by {judge.get('name')}"] if isinstance(judge, dict) else [])])
        made = self.settings.get("refiner") or self.settings.get("complaints") or self.settings.get("source")
        return made if isinstance(made, str) else None

    @property
    def rows(self) -> int:
        """The rows of all splits together."""
        return sum(split.rows for split in self.splits.values())

    def shards(self, *splits: str) -> list[str]:
        """The names of the data files of these splits, in order.

        Raises: ReleaseError when the release has no such split.
        """
        found = []
        for split in splits:
            if split not in self.splits:
                expected = f"one of {', '.join(self.splits)}"
                raise ReleaseError(NAME, found=f"no split {split!r}", expected=expected)
            name = re.compile(rf"data/{re.escape(split)}-\d{{5}}-of-\d{{5}}\.parquet")
            found += sorted(path for path in self.files if name.fullmatch(path))
        return found


_AGAIN = "Download or build the release again"


class ContentDigest:
    """SHA-256 over rows in order, as canonical JSON lines: sorted keys, no spaces, UTF-8, floats by repr.

    Bytes count by their own SHA-256. It depends on the values only, not on the encoding of the file that held them.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._digest = hashlib.sha256()

    def update(self, row: Mapping[str, Any]) -> None:
        """Add the next row."""
        self.extend(content_line(row), 1)

    def extend(self, lines: bytes, rows: int) -> None:
        """Add the lines of the next rows, or part of their bytes."""
        self.rows += rows
        self._digest.update(lines)

    def hexdigest(self) -> str:
        """The digest of the rows so far."""
        return self._digest.hexdigest()


def content_line(row: Mapping[str, Any]) -> bytes:
    """A row as it enters a content digest."""
    return canonical_json(row) + b"\n"


def canonical_json(value: Any) -> bytes:
    """The one way to write a cell or a row as JSON.

    >>> canonical_json({"b": 0.1, "a": [None, "é"]}).decode()
    '{"a":[null,"é"],"b":0.1}'
    """
    return _CANONICAL.encode(value).encode()


def as_text(value: Any) -> str:
    """A value of a JSON file as it is shown: a text as it is, anything else as JSON.

    >>> as_text("é"), as_text({"b": 1, "a": None})
    ('é', '{"a": null, "b": 1}')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _bytes_as_digest(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"sha256": hashlib.sha256(value).hexdigest()}
    raise TypeError(f"a {type(value).__name__} has no canonical JSON")


_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_bytes_as_digest)


def content_digest(splits: Mapping[str, str]) -> str:
    """The content digest of a release, from those of its splits."""
    return hashlib.sha256(canonical_json(dict(splits))).hexdigest()


def _there_instead(path: Path) -> str:
    """What is there instead of a file of a release: a Git LFS pointer, or something unreadable; "" if neither."""
    try:
        with open_file(path):
            return ""
    except InputError as error:
        return error.found


def file_digest(path: Path) -> str:
    """SHA-256 of a file of a release. Raises: ReleaseError when it cannot be read."""
    try:
        return digest_of(path)
    except InputError as error:
        raise ReleaseError(error.where, found=error.found, expected="a readable file", do=error.do) from None


def order_splits(names: Iterable[str]) -> list[str]:
    """Split names in release order: train, validation, test, then others by name.

    >>> order_splits(["test", "extra", "train"])
    ['train', 'test', 'extra']
    """
    others = len(_MAIN_SPLITS)
    return sorted(names, key=lambda name: (_MAIN_SPLITS.index(name) if name in _MAIN_SPLITS else others, name))


def other_versions(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """Packages whose versions differ: the one before, and the one now.

    >>> other_versions({"python": "3.11", "pyarrow": "21"}, {"python": "3.11", "pyarrow": "26"})
    {'pyarrow': ('21', '26')}
    """
    names = [*before, *(name for name in now if name not in before)]
    return {name: (before.get(name), now.get(name)) for name in names if before.get(name) != now.get(name)}


def other_in_both(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, tuple[str | None, str | None]]:
    """As `other_versions`, of the packages that both have."""
    return {name: pair for name, pair in other_versions(before, now).items() if None not in pair}


def versions_in_words(versions: Mapping[str, tuple[str | None, str | None]]) -> str:
    """
    >>> versions_in_words({"pyarrow": ("21", "26"), "pillow": (None, "13")})
    'pyarrow 21, now 26; pillow none, now 13'
    """
    return "; ".join(f"{name} {a or 'none'}, now {b or 'none'}" for name, (a, b) in versions.items())
