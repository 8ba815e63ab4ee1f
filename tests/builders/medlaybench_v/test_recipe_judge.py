"""MedLayBench-V with a second model as judge of what the first one writes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from builders.medlaybench_v import recipe
from builders.release.verify import verify
from loaders.errors import InputError
from tests.builders.medlaybench_v.test_recipe import answer, build, captions_file, rows_of
from tests.parts.chat_server import ChatServer, Fault, Reply, Request, status

MODEL = {"model": "openai-api/local/writer", "judge": "openai-api/local/judge"}
TEXTS = {
    0: "A CT scan of the left lung shows a small lump 0.",
    1: "A CT scan of the lung shows a small lump 1.",  # a gate misses the side, the judge does not
    2: "A CT scan of the left lung shows a small lump 2.",  # no gate finds a fault, the judge does
    3: "A CT scan of the left lung shows a small lump 3.",  # the judge refuses the row
    4: "A CT scan of the left lung shows a small lump 4, as you see.",  # fails by its style
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")


class Server(ChatServer):
    """Writes `TEXTS`, and judges them; counts requests by model."""

    def __init__(self) -> None:
        super().__init__(self._reply)

    def receive(self, request: Request) -> Fault | Reply:
        outcome = super().receive(request)
        by_judge = request.body["model"] == "judge"
        return status(400, message="content policy") if by_judge and _row(request.body) == 3 else outcome

    @staticmethod
    def _reply(body: Any) -> str:
        row = _row(body)
        if body["model"] == "writer":
            return answer(TEXTS[row])
        claim = {"expert": f"nodule {row}", "lay": "small lump", "same": row != 2}
        verdict = {"verdict": "kept" if claim["same"] else "broken", "why": "It is not that nodule."}
        return json.dumps({"claims": [claim], "added": [], **verdict})

    def asked(self, model: str) -> list[int]:
        return sorted(_row(request.body) for request in self.requests if request.body["model"] == model)


def _row(body: Any) -> int:
    return int(re.findall(r"shows a nodule (\d+)\.", str(body))[0])


def test_a_judge_decides_about_facts(tmp_path: Path) -> None:
    expert = "CT of the left lung shows a nodule {}."
    captions = captions_file(tmp_path, [(f"r{n}", expert.format(n), "CC BY", "") for n in TEXTS])
    with Server() as server:
        urls = {"base_url": (server.base_url,), "judge_url": (server.base_url,)}
        manifest = build(tmp_path, captions, **MODEL, **urls)
        assert server.asked("judge") == [0, 1, 2, 3]  # the same text is not judged twice, nor one that fails by style
        assert server.asked("writer") == [0, 1, 2, 2, 2, 3, 4, 4, 4]
        server.requests.clear()
        shutil.rmtree(tmp_path / "release.work" / "batches")
        build(tmp_path, captions, **MODEL, **urls)
        assert server.asked("judge") == [3] and server.asked("writer") == []  # a refusal is no answer that is kept
    rows = rows_of(tmp_path / "release")
    assert {key: (row["status"], row["refiner"]) for key, row in rows.items()} == {
        "r0": ("accepted", MODEL["model"]),
        "r1": ("judged", MODEL["model"]),
        "r2": ("fallback", "rules"),
        "r3": ("fallback", "rules"),
        "r4": ("fallback", "rules"),
    }
    assert rows["r1"]["status_reason"] == "laterality: lost: left"
    assert "judge: broken: It is not that nodule." in str(rows["r2"]["status_reason"])
    assert f"{MODEL['judge']} refused the request or failed: HTTP 400" in str(rows["r3"]["status_reason"])
    gates: Any = rows["r1"]["gates"]
    assert gates[-1] == {"gate": "judge", "passed": True, "reason": ""}

    statistics: Any = manifest.statistics
    assert statistics["status_by_split"]["judged"] == {"train": 1}
    assert statistics["gates"]["judge"] == {"passed": 2, "doubtful": 0, "failed": 0}
    settings: Any = manifest.settings["model"]
    assert settings["judge"]["name"] == MODEL["judge"] and set(settings["judge"]["prompts"]) == {
        "judge",
        "judge_system",
    }
    assert server.base_url not in json.dumps(settings)
    assert manifest.method == f"{MODEL['model']}, scgr, judged by {MODEL['judge']}"
    card = (tmp_path / "release" / "README.md").read_text(encoding="utf-8")
    assert f"`{MODEL['judge']}` compared each text with the expert caption" in card
    assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []

    unjudged, accepted = rows["r1"] | {"gates": gates[:-1]}, rows["r1"] | {"status": "accepted"}
    assert "the judge did not find every fact kept" in "".join(recipe.check_row(unjudged))
    assert "status accepted, but gate laterality fails" in "".join(recipe.check_row(accepted))


@pytest.mark.parametrize(
    ("judged", "why"),
    [
        ("Looks fine to me!", "the answer is not one JSON object and nothing else"),
        (Reply("", "content_filter"), "the provider's filter stopped it"),
    ],
    ids=["prose", "filter"],
)
def test_a_judge_that_decides_about_nothing_is_warned_of(tmp_path: Path, judged: Any, why: str) -> None:
    captions = captions_file(tmp_path, [("r0", "CT of the left lung shows a nodule 0.", "CC BY", "")])
    told: list[str] = []
    with ChatServer(lambda body: answer(TEXTS[0]) if body["model"] == "writer" else judged) as server:
        urls = {"base_url": (server.base_url,), "judge_url": (server.base_url,)}
        manifest = build(tmp_path, captions, tell=told.append, **MODEL, **urls)
    statistics: Any = manifest.statistics
    assert statistics["gates"]["judge"] == {"passed": 0, "doubtful": 1, "failed": 0}
    assert any("left 1 open" in line for line in recipe.summary(manifest) if isinstance(line, str))
    assert any("decided about none of the texts that stand" in line and why in line for line in told)


@pytest.mark.parametrize(
    "options", [{"judge": "openai-api/local/judge"}, {**MODEL, "condition": "llm"}], ids=["no model", "ablation"]
)
def test_only_what_a_model_wrote_and_may_be_refused_is_judged(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="--judge"):
        build(tmp_path, captions_file(tmp_path), **options)
