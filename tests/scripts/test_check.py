"""`bedside check`, and that the recipes of the papers' tables check every model before the first is paid."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from baselines.medlaybench_v.learned_metrics import METRICS
from loaders.errors import ModelError
from loaders.models import chat
from scripts.cli import execute
from tests.parts.chat_server import ChatServer

FOLDER = Path(__file__).resolve().parents[2] / "scripts" / "reproduce"
MODELS = (
    "--model",
    "--encoder",
    "--classifier",
    "--doctor",
    "--patient",
    "--assessor",
    "--clinician",
    "--evaluator",
    "--judge",
)
SEVERAL = ("table_1_2_6", "table_3_4_6", "table_5_6", "table_5_a4", "table_8", "table_a5")
"""The recipes that open models in several commands, or only after the first was paid."""


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "AZUREAI_OPENAI_API_KEY", "OPENAI_BASE_URL", "VLLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_all_that_is_missing_is_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    encoders = ["--encoder", "random:tiny", "--encoder", "no-such"]
    assert execute(["check", "scripted/echo", "openai/gpt-4o-mini", "nobody/m", *encoders]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "OPENAI_API_KEY" in shown and "nobody/m" in shown and "no-such" in shown
    assert shown.count("can be opened") == 2
    for words, told in ((["scripted/echo"], False), (["nobody/m"], True)):
        assert execute(["check", "--quiet", *words]) == told
        assert ("nobody/m" in capsys.readouterr().err) is told
    for words, expected in (
        ([], "models to check"),
        (["--encoder", "random:tiny", "--base-url", "http://a/v1"], "one that"),
    ):
        assert execute(["check", *words]) == 2
        assert f"expected {expected}" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("said", "code", "shown"),
    [("Black and yellow.", 0, "sees"), ("Red and blue.", 1, "it does not see a picture of yellow and black: it says")],
)
def test_a_server_that_leaves_pictures_out_in_silence_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, said: str, code: int, shown: str
) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "any")
    monkeypatch.setenv("COLUMNS", "240")
    with ChatServer(said) as server:
        words = ["check", "openai-api/local/m", "--base-url", server.base_url]
        assert execute(words) == 0 and not server.requests
        with ChatServer(said) as other:
            assert execute([*words, "--base-url", other.base_url, "--pictures"]) == code
            [request] = server.requests
            assert len(other.requests) == 1 - code
    assert request.body["messages"][0]["content"][1]["type"] == "image_url"
    assert shown.removeprefix("it ") in " ".join(capsys.readouterr().out.split())


def test_scripted_agents_of_dialogues_are_at_hand(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["check", "scripted/keyword", "scripted/expert", "scripted/echo"]) == 0
    assert capsys.readouterr().out.count("can be opened") == 3
    assert execute(["check", "scripted/nobody"]) == 1


def test_classifiers_and_metrics_are_opened_as_their_runs_open_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("timm")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setitem(METRICS, "LENS", lambda hypotheses, references: scored.append((hypotheses, references)))
    scored: list[object] = []
    wanted = ["--classifier", "random:tiny", "--classifier", "EfficientNetV2-S", "--classifier", "no-such"]
    metrics = ["--metric", "LENS", "--metric", "BERTScore", "--metric", "BLEURT"]
    assert execute(["check", *wanted, *metrics, "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)["tables"][0]["rows"]
    found = {row["model"]: (row["found"], row["what to do"]) for row in rows}
    assert found["random:tiny"] == found["LENS"] == ("can be opened", "") and len(scored) == 1
    assert "hf download timm/tf_efficientnetv2_s.in21k_ft_in1k" in found["EfficientNetV2-S"][1]
    assert "hf download microsoft/deberta-xlarge-mnli" in found["BERTScore"][1]
    assert "no-such" in found["no-such"][0] and "no such metric" in found["BLEURT"][0]


def test_vllm_without_package_or_address_is_told_before_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="not installed.*--base-url or VLLM_BASE_URL"):
        chat.open_model("vllm/some/model")
    chat.open_model("vllm/some/model", base_url="http://127.0.0.1:9/v1")
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9/v1")
    chat.open_model("vllm/some/model")


def _commands(recipe: Path, folder: Path) -> list[list[str]]:
    """The commands that a recipe gives, by a `bedside` that only writes them down."""
    told = folder / "told"
    stub = folder / "bin" / "bedside"
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" end >> "{told}"\n')
    stub.chmod(0o755)
    path = {"PATH": f"{stub.parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(
        ["bash", recipe, "openai/given", "data"], cwd=folder, env=os.environ | path, check=False, capture_output=True
    )
    if not told.exists():
        return []
    return [one.split("\n") for one in told.read_text().removesuffix("\nend\n").split("\nend\n")]


def _models(words: list[str]) -> set[str]:
    """The models that a command names, and the metric whose weights it needs at its end."""
    named = {words[at + 1] for at, word in enumerate(words[:-1]) if word in MODELS}
    named |= {word.partition("=")[2] for word in words if word.partition("=")[0] in MODELS and "=" in word}
    if words[:2] == ["run", "captioning"]:
        named.add("BERTScore")
    return named | {word for word in words[1:] if words[0] == "check" and not word.startswith("-")}


@pytest.mark.parametrize("recipe", sorted(FOLDER.glob("*/*.sh")), ids=lambda recipe: recipe.stem)
def test_a_recipe_checks_every_model_before_it_plays_the_first(recipe: Path, tmp_path: Path) -> None:
    naming = [words for words in _commands(recipe, tmp_path) if _models(words)]
    assert [words for words in naming if words[0] == "check"] == naming[:1] * (recipe.stem in SEVERAL)
    assert set().union(*map(_models, naming)) == (_models(naming[0]) if naming else set())
