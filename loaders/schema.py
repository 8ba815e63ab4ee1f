"""A schema that grows: reads the rows of an earlier release as the corpus defines them today.

A column that was added since then is null. If a column was removed, or its type or meaning changed, the corpus has a
migration: `Corpus.migrations[n]` turns rows of schema version n + 1 into rows of version n + 2. The version of a
release is in its manifest.

A corpus states its columns as plain data, since importing `datasets` takes a second and most commands never need it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loaders.errors import NEWER, ReleaseError
from loaders.manifest import NAME, Manifest

if TYPE_CHECKING:
    import datasets

Column = str | tuple[str, ...] | list["Column"] | Mapping[str, "Column"]
"""A type of `datasets`: its name ("string", "image"), the names of classes, [a list's], {a struct's columns}."""

Schema = Mapping[str, Column]
"""The columns of a corpus, in order."""

Migration = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Converts a row of one schema version to the next; a pure function defined at the top level of a module."""


@dataclass(frozen=True)
class Upgrade:
    """Converts a row of a release to today's schema; `needed` is False if each row already has it."""

    steps: tuple[Migration, ...]
    columns: tuple[str, ...]
    needed: bool

    @classmethod
    def of(cls, manifest: Manifest, features: datasets.Features, migrations: Sequence[Migration], at: str) -> Upgrade:
        """How rows of the release are converted to `features`.

        Raises: ReleaseError if the release has a newer schema, or columns that today's lacks and no migration handles.
        """
        today = 1 + len(migrations)
        if manifest.schema_version > today:
            found = f"version {manifest.schema_version} of the schema of {manifest.corpus}"
            expected = f"at most version {today}, which this Bedside knows"
            raise ReleaseError(at, found=found, expected=expected, do=NEWER)
        there, steps = features_of(manifest, at), tuple(migrations[manifest.schema_version - 1 :])
        same = [name for name in features if name in there and there[name] == features[name]]
        if not steps and same != list(there):
            raise _other_features(there, features, at)
        return cls(steps, tuple(features), bool(steps) or len(same) < len(features))

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        for step in self.steps:
            row = step(row)
        return {name: row.get(name) for name in self.columns}


def features_from(schema: Schema) -> datasets.Features:
    """A schema as `datasets.Features`.

    >>> features_from({"label": ("no", "yes"), "notes": ["string"]})
    {'label': ClassLabel(names=['no', 'yes']), 'notes': List(Value('string'))}
    """
    import datasets

    return datasets.Features({name: _feature(column) for name, column in schema.items()})


def _feature(column: Column) -> Any:
    import datasets

    match column:
        case "image":
            return datasets.Image()
        case str():
            return datasets.Value(column)
        case tuple():
            return datasets.ClassLabel(names=list(column))
        case list():
            (inner,) = column
            return datasets.List(_feature(inner))
        case _:
            return {name: _feature(inner) for name, inner in column.items()}


def features_of(manifest: Manifest, at: str) -> datasets.Features:
    """The columns that a release has.

    Raises: ReleaseError when the manifest states them in a way that `datasets` cannot read.
    """
    import datasets

    try:
        return datasets.Features._from_yaml_list(manifest.features)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found, expected = f"features that cannot be read ({error})", "columns as in the YAML of a card"
        raise ReleaseError(f"{at}: {NAME}", found=found, expected=expected) from None


def _other_features(found: datasets.Features, expected: datasets.Features, at: str) -> ReleaseError:
    differences = {
        "lacks": [name for name in expected if name not in found],
        "adds": [name for name in found if name not in expected],
        "types otherwise": [name for name in expected if name in found and found[name] != expected[name]],
    }
    parts = [f"{text} {', '.join(names)}" for text, names in differences.items() if names]
    return ReleaseError(
        at,
        found="its schema " + ("; ".join(parts) or "has its columns in another order"),
        expected="the columns of this version of Bedside, or of one before it",
        do="Install the version of Bedside that made the release, or a newer one",
    )
