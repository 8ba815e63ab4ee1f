"""The benchmarks of dialogues run, and every method plays the same requests."""

from __future__ import annotations

from types import ModuleType

import pytest

from loaders.models.inspect_form import response_schema
from scripts.bench import concealment, consultation, minimal_task
from scripts.bench.minimal_task import requests


@pytest.mark.parametrize("bench", [concealment, consultation], ids=lambda bench: bench.__name__)
def test_every_method_plays_a_case(bench: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    # In this process; requests are counted.
    monkeypatch.setattr(minimal_task, "apart", lambda work, *given: work(*given))
    (row,) = bench.main(["--cases", "1", "--rounds", "1"]).rows
    assert bench.__name__.endswith(row.name) and row.what.startswith("1 ") and " MB" in row.what
    assert row.ratio.count("×") == 2 and f"{bench.BENCHMARK.calls}" in f"{row.what} 30"


def test_a_reply_a_turn_is_what_is_measured() -> None:
    """A patient who does not say what is due is asked again: 200 cases must not differ in what they cost."""
    for case in concealment.BENCHMARK.cases(200)[::10]:
        assert len(requests(concealment.BENCHMARK, case)) == concealment.BENCHMARK.calls


def test_a_schema_is_not_copied_for_each_request() -> None:
    from inspect_ai.model import GenerateConfig

    asked = GenerateConfig(response_schema=response_schema({"type": "object", "properties": {"a": {"type": "null"}}}))
    sent = GenerateConfig().merge(asked)
    assert sent.response_schema is asked.response_schema
    assert sent.model_dump(exclude_none=True)["response_schema"]["json_schema"]["properties"] == {"a": {"type": "null"}}
