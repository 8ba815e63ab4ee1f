"""The benchmarks of dialogues run, and every method plays the same requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaders.models.chat import _response_schema
from scripts.bench import concealment, consultation
from scripts.bench.minimal_task import METHODS, Benchmark, requests


@pytest.mark.parametrize("bench", [concealment.BENCHMARK, consultation.BENCHMARK], ids=lambda bench: bench.module)
def test_every_method_plays_a_case(bench: Benchmark, tmp_path: Path) -> None:
    (case,) = bench.cases(1)
    for method, play in METHODS.items():  # each counts the requests that it made
        assert play(bench, tmp_path / method, [case])["processor"] > 0


def test_a_reply_a_turn_is_what_is_measured() -> None:
    """A patient who does not say what is due is asked again: 200 cases must not differ in what they cost."""
    for case in concealment.BENCHMARK.cases(200)[::10]:
        assert len(requests(concealment.BENCHMARK, case)) == concealment.BENCHMARK.calls


def test_a_schema_is_not_copied_for_each_request() -> None:
    from inspect_ai.model import GenerateConfig

    asked = GenerateConfig(response_schema=_response_schema({"type": "object", "properties": {"a": {"type": "null"}}}))
    sent = GenerateConfig().merge(asked)
    assert sent.response_schema is asked.response_schema
    assert sent.model_dump(exclude_none=True)["response_schema"]["json_schema"]["properties"] == {"a": {"type": "null"}}
