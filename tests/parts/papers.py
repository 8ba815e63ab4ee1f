"""What a made-up paper states, in place of what the three papers do."""

from __future__ import annotations

import pytest

from baselines.results import conformance

HEADER = "paper,tables,row,setting,column,group,condition,fact,stated,where\n"


def states(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Make the papers state the lines of `text`, CSV without its header, and no others."""
    told = conformance.by_table(conformance.read_lines(HEADER + text))
    monkeypatch.setattr(conformance, "_lines", lambda: told)
    monkeypatch.setattr(conformance, "digest", lambda: str(hash(text)))


def states_the_data(monkeypatch: pytest.MonkeyPatch, *tables: str, digest: str, paper: str = "MedLayBench-V") -> None:
    """Make these tables of the paper be about the rows with this digest, with nothing else stated."""
    states(monkeypatch, f"{paper},{' | '.join(tables)},,,,,data,data.content_digest,{digest},made up\n")
