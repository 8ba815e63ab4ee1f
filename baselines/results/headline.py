"""The few numbers of a run to read first; all others are in its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from baselines.results.run import Result

HEADLINES: Mapping[str, tuple[str, ...]] = {
    "language": ("FKGL", "ROUGE-L"),
    "retrieval": ("I2T Recall@1", "T2I Recall@1"),
    "captioning": ("BERTScore", "FKGL"),
    "classifier": ("Accuracy", "Macro F1"),
    "consultation": ("F1", "Accuracy (strict)", "Number of utterances (mean)"),
    "recheck": ("Criterion 4.1, changed", "Criterion 4.1, mean change"),
    "confirmation": (
        "Reveal Rate", "Nearness", "Process-grounded Fine F1", "Coarse F1", "Coarse F1 of four blind guesses",
    ),
    "intervention": ("Success", "Reveal Rate", "Nearness", "Turn-to-Address"),
}  # fmt: skip
"""By baseline; for one that is missing here, the first numbers are shown."""

FEW = 12
_WHOLE = "Overall"


def headline(results: Sequence[Result], instead: Mapping[str, str] | None = None) -> list[Result]:
    """At most `FEW` numbers, in the order of `HEADLINES`; `instead` names columns to show in place of others. Each is
    of the first table that has it, and covers all rows together if the run has such a group."""
    record = results[0].record if results else None
    columns = HEADLINES.get(record.baseline if record else "", ())
    found = [result for column in columns for result in _of(results, (instead or {}).get(column, column))]
    return (found or [result for result in results if result.value is not None])[:FEW]


def _of(results: Sequence[Result], column: str) -> list[Result]:
    """The numbers of a column in the first table that has it."""
    found = [result for result in results if result.column == column and result.value is not None]
    found = [result for result in found if result.table == found[0].table]
    groups = {result.split_or_group for result in found}
    group = _WHOLE if _WHOLE in groups else found[0].split_or_group if found else ""
    return [result for result in found if result.split_or_group == group]
