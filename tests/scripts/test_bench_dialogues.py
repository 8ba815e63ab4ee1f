"""The benchmarks of dialogues run, and every method plays the same requests."""

from __future__ import annotations

import pytest

from loaders.models.inspect_form import response_schema
from scripts.bench import concealment, consultation, minimal_task
from scripts.bench.all import ROWS
from scripts.bench.minimal_task import Benchmark, requests


@pytest.mark.parametrize("bench", [concealment.BENCHMARK, consultation.BENCHMARK], ids=lambda bench: bench.module)
def test_every_method_plays_a_case_and_the_table_reads_what_is_printed(
    bench: Benchmark, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # In this process; requests are counted.
    monkeypatch.setattr(minimal_task, "apart", lambda work, *given: work(*given))
    assert minimal_task.main(bench, "About.", ["--cases", "1", "--rounds", "1"]) == 0
    (row,) = ROWS[bench.module.rpartition(".")[2]]
    told = row.read(capsys.readouterr().out)
    assert told is not None and told["ratio"].count("×") == 2 and f"{bench.calls}" in f"{told['what']} 30"


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
