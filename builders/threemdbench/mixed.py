"""Classes of a source that hold other conditions too (`--mixed-labels`): one decision per class, not per photo.

A decision about a class has a key where one about a photo has its id, and the same columns; `content` is a digest of
what the label table says about the class, so the decision holds as long as the table says the same.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass

from builders.curation.review import Decision, Doubt, Item, Shown
from builders.curation.sampling import chance
from builders.pipeline.rows import Row
from builders.threemdbench.findings import Candidate, Finding
from loaders.files.cells import plain_label
from loaders.manifest import canonical_json

SHOWN = 12
"""Number of photos of a class that are shown."""


@dataclass(frozen=True, slots=True, order=True)
class MixedClass:
    """A class of a source: its label there, what it counts as here, and what else it holds."""

    source: str
    label: str
    diagnosis: str
    note: str

    @property
    def key(self) -> str:
        """The name that a decision refers to."""
        return f"class of {self.source}: {self.label}"

    @property
    def content(self) -> str:
        """SHA-256 of what is decided about."""
        return hashlib.sha256(canonical_json(list(astuple(self)))).hexdigest()


def class_of(row: Row) -> MixedClass | None:
    """The mixed class of a photo; None if its label means one diagnosis."""
    if not row["mixed"] or not row["diagnosis"]:
        return None
    return MixedClass(row["source"], plain_label(row["source_label"] or ""), row["diagnosis"], row["mixed"])


def class_keys(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """The key and content of each mixed class, in the form in which `Decisions.matching` takes those of photos."""
    return sorted({(one.key, one.content) for row in rows if (one := class_of(row)) is not None})


def class_items(
    rows: Iterable[Row],
    photos: Sequence[Candidate],
    findings: Sequence[Finding],
    shown: Mapping[str, Shown],
    decided: Mapping[str, Decision],
) -> list[Item]:
    """A question for each mixed class with a photo that is kept, or that was decided; it shows some of its photos."""
    members: dict[MixedClass, list[str]] = defaultdict(list)
    kept: dict[MixedClass, list[str]] = defaultdict(list)
    for row, photo, finding in zip(rows, photos, findings, strict=True):
        if (one := class_of(row)) is not None:
            members[one].append(photo.key)
            kept[one] += [photo.key] * (not finding.reason)
    items = []
    for one, keys in sorted(members.items()):
        decision = decided.get(one.key)
        if not kept[one] and decision is None:
            continue
        chosen = sorted(kept[one] or keys, key=lambda key: chance(0, "review", key))[:SHOWN]
        text = (
            f"Photos labelled {one.label} count as {one.diagnosis}, and the class is mixed: {one.note}. "
            f"Do they all come in? {len(kept[one]):,} of {len(keys):,} are fit."
        )
        facts = {"source": one.source, "label in the source": one.label, "photos": f"{len(keys):,}"}
        picture = Shown(one.key, shown[chosen[0]].image, f"{one.diagnosis}: a class of {one.source}")
        beside = tuple(shown[key] for key in chosen)
        doubts = (Doubt("class", text, tuple(chosen)),)
        items.append(Item(picture, one.content, bool(kept[one]), facts, doubts, beside, decision))
    return items
