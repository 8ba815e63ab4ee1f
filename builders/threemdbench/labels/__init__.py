"""From a source's own labels to the 34 diagnoses: one reviewed table per source, and what to do where it is silent.

A table has a row for every label of its source: `label,diagnosis,match,note`. `match` says how far the two agree:

    exact     the label means the diagnosis
    narrower  the label is one form of the diagnosis
    mixed     the label's class holds other conditions too; used only if a build asks for mixed classes
    (empty)   the label is not one of the 34; the note says what it is, unless that is plain

The tables are the work of this project's authors; no clinician has reviewed them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loaders.errors import InputError
from loaders.files.cells import plain_label
from loaders.files.tables import read_table
from loaders.threemdbench import NAMES, diagnosis_of

MATCHES = ("exact", "narrower", "mixed")
SHARE = 0.5
"""The smallest share of a photo's label weight that its diagnosis must have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a label means: a diagnosis (empty: none of the 34), how well it matches, and why."""

    diagnosis: str
    match: str
    note: str


UNKNOWN = "unknown label"
"""The reason for leaving out a photo whose label is in no label table."""

OTHERS = "other conditions are in the same class"
"""What a mixed class holds beside its diagnosis, if its table does not say it."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The diagnosis of a photo and the label it was read from or, if it is not empty, the `problem` why it has none:
    "reason" or "reason: detail". `mixed`, if not empty, says what else the label's class holds."""

    diagnosis: str
    label: str
    problem: str = ""
    mixed: str = ""


@dataclass(frozen=True, slots=True)
class LabelMap:
    """The labels of a source, ignoring case. Without entries it knows the diagnoses by their own names and synonyms."""

    entries: Mapping[str, Entry]

    def entry(self, label: str) -> Entry | None:
        """What the label means; None if the table does not have it."""
        if self.entries:
            return self.entries.get(plain_label(label))
        # "HSV-1" is a name, "contact-dermatitis" none.
        named = diagnosis_of(label) or diagnosis_of(label.replace("-", " "))
        return Entry(named.name, "exact", "") if named else None


BY_NAME = LabelMap({})


def bundled(name: str) -> LabelMap:
    """The table that is shipped for the source of that name."""
    return read_label_map(Path(__file__).with_name(f"{name}.csv"))


def read_label_map(path: Path) -> LabelMap:
    """A table of labels: columns `label` and `diagnosis`, and optionally `match` (exact if missing) and `note`.

    Raises: InputError for a table that cannot be read, an empty or repeated label, an unknown diagnosis or match.
    """
    table = read_table(path)
    label_column, diagnosis_column = table.column("label", needed=True), table.column("diagnosis", needed=True)
    match_column, note_column = table.column("match"), table.column("note")
    entries: dict[str, Entry] = {}
    for line, row in table.rows:
        where = f"{path}:{line}"
        label, diagnosis = plain_label(row[label_column]), row[diagnosis_column].strip()
        match = (row[match_column].strip() if match_column else "exact") if diagnosis else ""
        if not label or label in entries:
            found = "a row without a label" if not label else f"label {label!r} a second time"
            raise InputError(where, found=found, expected="each label once")
        if diagnosis and diagnosis not in NAMES:
            raise InputError(where, found=f"diagnosis {diagnosis!r}", expected="one of " + ", ".join(NAMES))
        if diagnosis and match not in MATCHES:
            raise InputError(where, found=f"match {match!r}", expected="one of " + ", ".join(MATCHES))
        entries[label] = Entry(diagnosis, match, row[note_column].strip() if note_column else "")
    return LabelMap(entries)


def assign(labels: Sequence[tuple[str, float]], known: LabelMap, *, mixed: bool = False) -> Assigned:
    """The one diagnosis that the weighted labels of a photo agree on, or the reason why there is none.

    Weights of labels with one diagnosis add up; it must hold at least half of all weight, and more than any other.
    """
    total = sum(weight for _, weight in labels)
    if total <= 0:
        return Assigned("", "", "no label")
    weights: dict[tuple[str, str], float] = {}
    heaviest: dict[tuple[str, str], tuple[float, str]] = {}
    for label, weight in labels:
        entry = known.entry(label)
        # A label that means none of the 34 competes on its own: two of them are no agreement.
        meaning = ("diagnosis", entry.diagnosis) if entry and entry.diagnosis else ("label", plain_label(label))
        weights[meaning] = weights.get(meaning, 0.0) + weight / total
        heaviest[meaning] = max(heaviest.get(meaning, (0.0, "")), (weight, label), key=lambda pair: pair[0])
    ranked = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    best, share = ranked[0]
    _, label = heaviest[best]
    # Published weights are rounded to two digits.
    if share < SHARE - 0.005 or (len(ranked) > 1 and ranked[1][1] > share - 0.005):
        shown = ", ".join(f"{name} {weight:.2f}" for (_, name), weight in ranked[:3])
        return Assigned("", label, f"labels disagree: {shown}")
    entry = known.entry(label)
    if entry is None:
        return Assigned("", label, f"{UNKNOWN}: {label}")
    noted = f"{label}: {entry.note}" if entry.note else label
    if not entry.diagnosis:
        return Assigned("", label, f"not one of the 34 diagnoses: {noted}")
    if entry.match == "mixed" and not mixed:
        return Assigned("", label, f"label mixes conditions: {noted}")
    mixture = (entry.note or OTHERS) if entry.match == "mixed" else ""
    return Assigned(entry.diagnosis, label, mixed=mixture)
