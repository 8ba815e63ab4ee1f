"""Load a corpus by name from a release folder, the Hub or its authors, and verify that it is what was published.

    from loaders.corpus import load
    test = load("medlaybench-v", "test", source="org/medlaybench-v", revision="v1.0.0")

Releases built by Bedside are checked before any row is returned: each file of a split against its SHA-256, the split
against its row count. The revision is resolved to a commit first and everything is read from that commit, so a tag
never stands for another one, even offline, where `datasets.load_dataset(revision=...)` may return main with only a
warning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaders.errors import CHECK_PATH, BedsideError, HubError, InputError, ReleaseError, how_many
from loaders.files.caches import refuse_cache
from loaders.files.disk import refuse_disk
from loaders.files.paths import is_file, is_folder, is_there, resolved, run_or_workspace
from loaders.manifest import NAME, Manifest, order_splits
from loaders.pins import PINNED, as_pinned, pinned_commit
from loaders.reached import code_digest
from loaders.registry import find_corpus
from loaders.schema import Migration, Schema, Upgrade, features_from, features_of

if TYPE_CHECKING:
    import datasets

OFFICIAL = "official"
_AGAIN = "Copy or fetch it again; if it is whole, empty the cache of `datasets` (HF_DATASETS_CACHE)"


class _Features:
    """The columns of a corpus: given as plain data or as `datasets.Features`, and always read as the latter."""

    def __get__(self, known: Corpus | None, kind: type[Corpus] | None = None) -> datasets.Features:
        if known is None:
            raise AttributeError("features of no corpus")  # so that the field has no default
        import datasets

        stated = vars(known)["features"]
        if not isinstance(stated, datasets.Features):
            vars(known)["features"] = stated = features_from(stated)
        return stated

    def __set__(self, known: Corpus, stated: datasets.Features | Schema) -> None:
        vars(known)["features"] = stated


@dataclass(frozen=True)
class Corpus:
    """What is known about a corpus before anything is loaded.

    `features` may be given as plain data (`loaders.schema.Schema`), so that `datasets` is imported only when they are
    first read. `official_repo` is the authors' release, if they published one; `from_official(row, split, position)`
    converts one of its rows to `features`, and `official_rows` are the row counts expected in each split.
    `from_table(path)` gives the rows of a user's table in `features`, for a corpus that can be evaluated that way.
    `repo` is the Bedside release that `load` takes by default. `migrations` convert rows of earlier releases to
    `features` (`loaders.schema`). `recipe` is the module of its RECIPE (`builders.recipe`), if it can be built.
    """

    name: str
    if TYPE_CHECKING:
        features: datasets.Features  # when read; a Schema is accepted too
    else:
        features: _Features = _Features()
    key: str
    from_official: Callable[[Mapping[str, Any], str, int], dict[str, Any]] | None = None
    official_repo: str | None = None
    official_columns: tuple[str, ...] = ()
    official_rows: Mapping[str, int] = field(default_factory=dict)
    from_table: Callable[[Path], Iterator[dict[str, Any]]] | None = None
    repo: str | None = None
    migrations: tuple[Migration, ...] = ()
    recipe: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The column names, in order; does not need `datasets`."""
        return tuple(vars(self)["features"])

    @property
    def schema_version(self) -> int:
        """The version of `features`, as release manifests state it."""
        return 1 + len(self.migrations)


def corpus(name: str) -> Corpus:
    """The corpus of that name. Raises: InputError if there is none, or the package that provides it is broken."""
    place = find_corpus(name)
    known = place.load_kind("CORPUS", Corpus)
    if known.name != name:
        raise place.broken(ValueError(f"its corpus is called {known.name}"))
    return known


def load(
    name: str, split: str | None = None, *, revision: str | None = None, source: str | Path | None = None
) -> datasets.Dataset | datasets.DatasetDict:
    """Load the rows of a corpus in its own schema: one split as a Dataset, or all of them as a DatasetDict.

    `source` is a release folder, a table of caption pairs, `org/name` (or `org/name@TAG`) of a release on the Hub, or
    "official" for the authors' release; None takes the corpus's own repository or, if it has none, the authors'.
    `revision` is a tag, branch or commit of a repository; for the authors' release, None is the pinned commit
    (`loaders.pins`).

    Raises:
        InputError: there is no such corpus or split, or a revision was given for a folder.
        ReleaseError: a file, the schema or a row count does not match the manifest or the corpus.
        HubError: the repository or revision does not exist, or cannot be reached and is not in the cache.
    """
    return load_with_origin(name, split, revision=revision, source=source).data


@dataclass(frozen=True)
class Loaded:
    """What `load` returns, and where it came from.

    `manifest` is that of a Bedside release, wherever it is stored; None for the authors' release. `repository` is the
    address of a repository on a Hub, `commit` the one that was read; both are None for a folder.
    """

    data: datasets.Dataset | datasets.DatasetDict
    manifest: Manifest | None
    repository: str | None = None
    commit: str | None = None


def load_with_origin(
    name: str, split: str | None = None, *, revision: str | None = None, source: str | Path | None = None
) -> Loaded:
    """Like `load`, but also returns the origin of the rows. Raises what `load` raises."""
    _check_types(name, revision, source)
    known = corpus(name)
    split = None if split is None else _split_named(split)
    place = str(source) if source is not None else (known.repo or OFFICIAL)
    if revision is None and not isinstance(source, Path) and not is_there(Path(place)):
        place, _, tag = place.partition("@")
        revision = tag or None
    named = place if revision is None else f"{place}@{revision}"
    if place != OFFICIAL and (isinstance(source, Path) or is_folder(Path(place)) or is_path(named)):
        if revision is not None and is_there(Path(place)):
            raise InputError(place, found=f"revision {revision!r} of a folder or file", expected="no revision")
        if known.from_table is not None and is_file(Path(place)):
            return Loaded(_load_table(known.from_table, known.features, Path(place), split), None)
        if not is_folder(Path(place)):
            raise no_folder(place, or_table=known.from_table is not None)
        return Loaded(*_load_release(known, Path(place), split, place))
    if place in (OFFICIAL, known.official_repo):
        return _load_official(known, split, revision)
    from loaders import hub

    folder, at = hub.fetch_manifest(place, revision)
    manifest = _manifest(known, folder, at)
    hub.fetch(place, folder.name, at, [NAME, *manifest.shards(*_splits(manifest.splits, split, at))])
    return Loaded(*_load_release(known, folder, split, at), hub.address_of(place), folder.name)


def _check_types(name: object, revision: object, source: object) -> None:
    """Refuse what is no name at all: a library further down would stumble over it, or say something else."""
    for where, given, kinds, expected in (
        ("corpus", name, str, "its name, a text"),
        ("revision", revision, str | None, "a tag, branch or commit, a text"),
        ("source", source, str | Path | None, "a text or a Path: a release folder, or REPO[@TAG] on the Hub"),
    ):
        if not isinstance(given, kinds):
            raise InputError(where, found=f"a {type(given).__name__}", expected=expected)
        if given == "" and where != "corpus":
            raise InputError(where, found="an empty text", expected=expected, do="Leave it out, or name one")
    if isinstance(source, str) and revision is not None and "@" in source and not is_there(Path(source)):
        tag = source.partition("@")[2]
        raise InputError(source, found=f"a tag, {tag!r}, beside revision={revision!r}", expected="one of the two")


def _split_named(split: object) -> str:
    """The name of a split; `datasets.Split.TEST` is one too. Raises: InputError for anything that is no name."""
    import datasets

    if isinstance(split, str | datasets.NamedSplit) and "/" not in str(split):
        return str(split)
    found = repr(split) if isinstance(split, str) else f"a {type(split).__name__}"
    do = "Load each by its name, or leave it out for all; a folder or repository is the `source`"
    raise InputError("split", found=found, expected="the name of one split, a text", do=do)


def is_path(name: str) -> bool:
    """Whether a name means a path on this machine, existing or not, rather than a repository on the Hub.

    A repository is ORG/NAME[@REVISION]. If a folder ORG exists here, it counts as a repository only with its revision.
    """
    repo, _, revision = name.partition("@")
    return is_there(Path(name)) or not _may_be_repository(repo) or (not revision and _is_below_here(repo))


def _may_be_repository(name: str) -> bool:
    first, *rest = name.split("/")
    return len(rest) == 1 and first not in ("", ".", "..", "~")


def _is_below_here(name: str) -> bool:
    return is_folder(Path(name.partition("/")[0]))


_TABLES = (".csv", ".tsv", ".json", ".jsonl", ".parquet")


def no_folder(name: str, *, or_table: bool = False) -> ReleaseError:
    """The error for a name that is a path (`is_path`) but leads to no folder; `or_table`: a table would do as well."""
    expected = f"a release folder, {'a table, ' if or_table else ''}or REPO[@TAG] on the Hub"
    if "://" in name:
        return ReleaseError(
            name, found="is a web address", expected=expected, do="Of a repository on the Hub, name only ORG/NAME"
        )
    do = "Write the whole path: only a shell knows what ~ is" if name.startswith("~") else CHECK_PATH
    if _may_be_repository(name) and _is_below_here(name):
        do += "; for a repository on the Hub, also name its tag or branch"
    missing = "no such file" if Path(name).suffix.casefold() in _TABLES else "no such folder"
    return ReleaseError(name, found="is a file" if is_file(Path(name)) else missing, expected=expected, do=do)


# --- Releases of ours -------------------------------------------------------------------------------------------------


def _manifest(known: Corpus, folder: Path, at: str) -> Manifest:
    manifest = Manifest.read(folder)
    if manifest.corpus != known.name:
        do = f"Load it as {manifest.corpus!r}, or name a release of {known.name}"
        raise ReleaseError(at, found=f"is a release of {manifest.corpus!r}", expected=known.name, do=do)
    if problems := manifest.check_counts():
        raise ReleaseError(f"{at}: {problems[0].where}", found=problems[0].found, expected=problems[0].expected)
    return manifest


def _splits(available: Mapping[str, object], split: str | None, at: str) -> list[str]:
    if split is not None and split not in available:
        expected = "one of " + ", ".join(order_splits(available))
        raise InputError(at, found=f"no split {split!r}", expected=expected, do="Name one of these as the split")
    return [split] if split is not None else order_splits(available)


def _load_release(
    known: Corpus, folder: Path, split: str | None, at: str
) -> tuple[datasets.Dataset | datasets.DatasetDict, Manifest]:
    import datasets

    manifest = _manifest(known, folder, at)
    upgrade = Upgrade.of(manifest, known.features, known.migrations, at)
    data_files: dict[str, list[str]] = {}
    for one in _splits(manifest.splits, split, at):
        data_files[one] = [escape(str(folder / path)) for path in manifest.shards(one)]
        for path in manifest.shards(one):
            if problem := manifest.changed(folder, path):
                again = "Delete the file and load" if "snapshots" in folder.parts else "Copy or build the release"
                do = f"{again} again: {resolved(folder / path)}"
                raise ReleaseError(f"{at}: {path}", found=problem.found, expected=problem.expected, do=do)
    # Named by content, so that a cache made from other files at the same place is never taken for this one.
    features = features_of(manifest, at)
    with _explained(at, "the files that the build wrote"):
        loaded = datasets.load_dataset(
            "parquet", name=manifest.content_digest[:16], data_files=data_files, features=features
        )
        for rows in loaded.values():
            rows.data.validate(full=True)  # text that is not UTF-8, which would otherwise fail once a row is read
    for one, rows in loaded.items():
        _check_rows(f"{at}: split {one}", len(rows), manifest.splits[one].rows)
    if upgrade.needed:
        how = {"upgrade": upgrade, "code": code_digest(*upgrade.steps)}
        with _explained(at, "rows that follow the rules of the corpus"):
            loaded = {one: _mapped(known, rows, one, _upgraded, how) for one, rows in loaded.items()}
            loaded = datasets.DatasetDict(loaded)
    return (loaded if split is None else loaded[split]), manifest


@contextmanager
def _explained(at: str, expected: str, do: str = _AGAIN) -> Iterator[None]:
    """Turns whatever `datasets` raises on files with unexpected content into a clear error."""
    try:
        yield
    except BedsideError:
        raise
    except Exception as error:
        refuse_cache(error)
        refuse_disk(error, Path(at))
        cause = error.__cause__ or error
        first = (str(cause) or type(cause).__name__).splitlines()[0]
        raise ReleaseError(at, found=f"cannot be read ({first})", expected=expected, do=do) from error


def _check_rows(where: str, found: int, expected: int) -> None:
    if found != expected:
        raise ReleaseError(where, found=f"has {how_many(found, 'row')}", expected=how_many(expected, "row"), do=_AGAIN)


def _load_table(
    rows: Callable[[Path], Iterator[dict[str, Any]]], features: datasets.Features, path: Path, split: str | None
) -> datasets.Dataset | datasets.DatasetDict:
    import datasets

    parts: dict[str, list[dict[str, Any]]] = {}
    for row in rows(path):
        parts.setdefault(row["split"], []).append(row)
    wanted = _splits(parts, split, str(path))
    loaded = {one: datasets.Dataset.from_list(parts[one], features=features) for one in wanted}
    return datasets.DatasetDict(loaded) if split is None else loaded[split]


# --- Data sets of others ----------------------------------------------------------------------------------------------


_READERS = {"jsonl": "json", "tsv": "csv", "tar": "webdataset", "zip": "imagefolder"}
"""What `datasets` calls the reader of a file, if that is not the file's extension."""


def load_any(path: Path, name: str) -> datasets.DatasetDict:
    """Load any dataset that `datasets` reads, from its folder or file; `name` is what error messages call it.

    Raises: ReleaseError if it cannot be read.
    """
    import datasets

    expected = "a dataset that `datasets` reads"
    if other := run_or_workspace(path):
        do = "Name the release, or the folder of photos, itself"
        raise ReleaseError(name, found=other, expected=expected, do=do)
    with _explained(name, expected, f"Name one dataset, whose files have the same columns. If it is one: {_AGAIN}"):
        if is_folder(path) and (is_file(path / "dataset_dict.json") or is_file(path / "state.json")):
            loaded = datasets.load_from_disk(str(path))
        elif is_folder(path):
            loaded = datasets.load_dataset(str(path))
        else:
            kind = path.suffix.casefold()[1:]
            loaded = datasets.load_dataset(_READERS.get(kind, kind), data_files=escape(str(path)))
        return loaded if isinstance(loaded, datasets.DatasetDict) else datasets.DatasetDict({"": loaded})


# --- The authors' releases --------------------------------------------------------------------------------------------


def _load_official(known: Corpus, split: str | None, revision: str | None) -> Loaded:
    import datasets

    from loaders import hub

    repo = known.official_repo
    if repo is None:
        expected = "source=, a folder or REPO on the Hub"
        raise InputError(known.name, found="no location to load it from", expected=expected)
    address = hub.address_of(repo)
    pinned = None if revision else pinned_commit(address)
    asked = revision or pinned or "main"
    try:
        folder = hub.fetch(repo, asked, typed=False)
    except HubError as error:
        error.do = error.do or (PINNED if pinned else "")  # a commit that nobody named, and that is gone
        raise
    at = f"{repo}@{asked} (commit {folder.name[:12]})"
    with _explained(at, "the authors' release"):
        raw = datasets.load_dataset(str(folder))
    wanted = _splits(raw, split, at)
    for one in wanted:
        missing = [name for name in known.official_columns if name not in raw[one].column_names]
        if missing:
            found = f"lacks {', '.join(missing)}; its columns are {', '.join(raw[one].column_names)}"
            expected = "the columns " + ", ".join(known.official_columns)
            raise ReleaseError(f"{at}: split {one}", found=found, expected=expected)
        if one in known.official_rows:
            _check_rows(f"{at}: split {one}", len(raw[one]), known.official_rows[one])
    how = {"name": known.name, "code": code_digest(known.from_official)}
    with _explained(at, "the authors' release"):
        converted = {one: _mapped(known, raw[one], one, _converted, {**how, "split": one}) for one in wanted}
    data = datasets.DatasetDict(converted) if split is None else converted[split]
    if revision is None:
        as_pinned(address, folder.name, {})
    return Loaded(data, None, address, folder.name)


# --- Rows of another schema -------------------------------------------------------------------------------------------


def _mapped(
    known: Corpus, rows: datasets.Dataset, split: str, convert: Callable[..., Any], how: Mapping[str, Any]
) -> datasets.Dataset:
    """The rows in the corpus's schema: `convert` is given each with its position, and `how`, by all of which `datasets`
    caches the results. The digest of the code is in it because results of an earlier version stay in the cache."""
    return encoded(rows).map(
        convert,
        with_indices=True,
        fn_kwargs=how,
        remove_columns=rows.column_names,
        features=known.features,
        desc=f"{known.name} {split}",
    )


def encoded(rows: Any) -> Any:
    """The rows with their images left encoded, so that the bytes pass through unchanged; rows without images are
    returned as they are."""
    if not hasattr(rows, "cast_column"):
        return rows
    import datasets

    for name, feature in rows.features.items():
        if isinstance(feature, datasets.Image):
            rows = rows.cast_column(name, datasets.Image(decode=False))
    return rows


def _converted(row: Mapping[str, Any], position: int, name: str, code: str, split: str) -> dict[str, Any]:
    convert = corpus(name).from_official
    assert convert is not None  # a corpus with a repository always says how to read it
    return convert(row, split, position)


def _upgraded(row: Mapping[str, Any], position: int, upgrade: Upgrade, code: str) -> dict[str, Any]:
    return upgrade(row)
