"""The cues of a classifier in a run of consultations: opens them, and reports the cases that have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from baselines.threemdbench.classifier.cues import Cues, read_cues
from baselines.threemdbench.consultation.cases import NO_CUES, Cases
from baselines.threemdbench.consultation.settings import setting_named
from loaders.errors import InputError, how_many
from loaders.files.records import to_json
from loaders.opened import Opened
from scripts.terminal.console import errors, warn

_SHOWN = 20


def cues_of(path: Path | None, setting: str, opened: Opened) -> Cues | None:
    """The cues in a file for the rows of a run; None for a setting without cues.

    Raises: InputError for a file if the setting takes none, for none if it needs one, and what `read_cues` raises.
    """
    wanted = setting_named(setting).cues
    if wanted and path is None:
        do = "Make cues.parquet with: bedside run classifier"
        raise InputError("--cues", found="no file", expected=f"cues.parquet, for the setting {setting}", do=do)
    if path is None:
        return None
    if not wanted:
        raise InputError("--cues", found=f"{setting} gives the doctor no cues", expected="a setting with cues")
    return read_cues(path, opened.content_digest)


def cue_facts(cues: Cues, read: Cases) -> dict[str, Any]:
    """What a record says about the cues: the file, the search for training photos, and the cases that have none."""
    facts: dict[str, Any] = {"model": cues.model, "file": cues.file_digest}
    if cues.more.search is not None:
        facts["training photos"] = to_json(cues.more.search)
    if uncued := _uncued(read):
        facts["no cues for"] = uncued
    return facts


def warn_of_cues(cues: Cues, read: Cases) -> None:
    """Reports which cases have no cues, and whether the cases were searched for the classifier's own photos."""
    if uncued := _uncued(read):
        named = ", ".join(uncued[:_SHOWN]) + (" …" if len(uncued) > _SHOWN else "")
        warn(
            f"{how_many(len(uncued), 'case has no cues and is', 'cases have no cues and are')} not played: {named}. To "
            "compare with a run that plays them, use bedside contrast, which takes the cases that both have"
        )
    if cues.more.search is None:
        errors.print("The cues do not record whether the cases were checked for the classifier's training photos")


def _uncued(read: Cases) -> list[str]:
    return [row.case_id for row in read.invalid if row.reason.startswith(NO_CUES)]
