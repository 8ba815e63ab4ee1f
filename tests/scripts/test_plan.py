"""`bedside plan`: what it says beside what a scripted run then spends; and a run that stops at its budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.budget import IMAGE, Budget, BudgetSpent, asked, estimate, tokens
from baselines.dialogue.game import Ask, Game, Script, ScriptedAgent
from baselines.dialogue.played import Spent
from baselines.dialogue.playing import Scripted
from baselines.dialogue.run import play_run
from baselines.results.power import smallest_difference
from loaders.errors import InputError
from loaders.models.answers import store_of
from loaders.models.asking import Unfit, ask_until, mended, read_object
from loaders.models.chat import open_model
from loaders.models.messages import Answer, ChatModel, Message
from scripts.cli import execute
from scripts.terminal.planning import showing
from tests.parts.chat_server import ChatServer, Reply, status
from tests.parts.played_consultations import write_cases
from tests.parts.puzzles import ROLES, game, puzzles

CASES = 16
ACTORS = {
    "confirmation": ("--clinician", "scripted/expert", "--patient", "scripted/plain", "--evaluator", "scripted/rules"),
    "intervention": ("--clinician", "scripted/expert", "--patient", "template", "--evaluator", "scripted/rules"),
    "consultation": (
        "--doctor",
        "scripted/keyword",
        "--patient",
        "scripted/patient",
        "--assessor",
        "scripted/assessor",
        "--resamples",
        "10",
    ),
}


def planned(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, dict[str, Any]]:
    capsys.readouterr()
    assert execute(["plan", *map(str, words), "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    return {row["role"]: row for row in tables[0]["rows"]} | {"power": tables[1]["rows"]}


def counting(monkeypatch: pytest.MonkeyPatch) -> dict[str, Spent]:
    """Model -> what is really said to it and by it from now on, each token of it; the runs themselves count none."""
    taken: dict[str, Spent] = {}

    def counted(name: str, agent: ScriptedAgent) -> Scripted:
        def of(case: Any) -> Script:
            script = agent(case)

            def say(messages: Sequence[Message]) -> str:
                text = script(messages)
                taken.setdefault(name, Spent()).add(Spent(1, asked(messages), tokens(text)))
                return text

            return say

        return Scripted(name, of)

    monkeypatch.setattr("scripts.run.play.Scripted", counted)
    return taken


def dollars(given: float, said: float) -> float:
    """As most providers charge: a token of an answer costs four of a prompt."""
    return given + 4 * said


@pytest.mark.parametrize("task", ACTORS)
def test_it_is_within_a_fifth_of_what_a_run_spends(
    task: str, patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    release = patients if task != "consultation" else write_cases(tmp_path / "release", CASES)
    line = ("run", task, release, *ACTORS[task], *(("--judge", "rules") if task != "consultation" else ()))
    line = (*line, "--limit", CASES)
    found = planned(capsys, *line)
    said = counting(monkeypatch)
    assert execute([*map(str, line), "-o", str(tmp_path / "run"), "--bare", "--quiet"]) in (0, 1)  # or it is invalid
    spent = json.loads((tmp_path / "run" / "usage.json").read_text())
    assert set(found) == {*spent, "in all", "power"}
    for role, row in spent.items():
        plan, real = found[role], said[found[role]["model"]]
        assert plan["requests"] == pytest.approx(row["requests"], rel=0.2) and real.requests == row["requests"]
        assert plan["tokens in"] == pytest.approx(real.input_tokens, rel=0.2)
        cost = dollars(real.input_tokens, real.output_tokens)
        assert dollars(plan["tokens in"], plan["tokens out"]) == pytest.approx(cost, rel=0.2)
    whole = sum(one.output_tokens for one in said.values())
    assert found["in all"]["tokens out"] == pytest.approx(whole, rel=0.2)
    shown = [row["smallest difference"] for row in found["power"]]
    assert shown == pytest.approx([smallest_difference(CASES, spread) for spread in (0.3, 0.5, 0.7)])


@pytest.mark.parametrize(
    ("text", "count"),
    [  # by the tokenizer of CLIP, the one that needs no network
        ("The patient says that the pain began three days ago and that walking makes it worse.", 17),
        ('{"open_question": 0.8, "reflection": 1, "judging": 0}', 20),
    ],
)
def test_tokens_are_estimated_for_prose_and_for_json(text: str, count: int) -> None:
    assert tokens(text) == pytest.approx(count, rel=0.3)


def test_a_game_that_may_end_early_has_an_upper_end(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A script succeeds in a few turns, a model that never does plays all of them, and pays for each."""
    model = ("--clinician", "openai-api/x/m", "--patient", "template", "--evaluator", "rules", "--judge", "rules")
    given = (*model, "--limit", 4, "--price", "openai-api/x/m=1,2", "-o", tmp_path / "run")
    long = planned(capsys, "run", "intervention", patients, *given, "--turns", 20)["clinician"]
    assert long["requests"] < 50 and long["requests at most"] == 4 * 20 and long["US$ at most"] > 2 * long["US$"] > 0
    assert "requests at most" not in planned(capsys, "run", "confirmation", patients, *given)["clinician"]


def test_a_picture_counts_among_what_is_asked() -> None:
    look = Message("user", "Look.")
    assert asked([look, replace(look, images=(b"one", b"another"))]) == 2 * asked([look]) + 2 * IMAGE


def test_a_role_that_nobody_plays_answers_what_its_schema_allows() -> None:
    """Or a game would take its answers for unreadable, and count what it asks again."""
    parts = {
        "act": {"type": "string", "enum": ["ask", "tell"]},
        "marks": {"type": "array", "items": {"type": "integer"}},
    }
    answers: list[str] = []

    async def play(case: str, ask: Ask) -> str:
        schema = {"type": "object", "properties": parts}
        answers.append((await ask("judge", [], temperature=0, max_tokens=9, json_schema=schema)).text)
        return case

    judged: Game[str, str] = Game("judged", ("judge",), str, play, lambda case, record: (), lambda record: {})
    estimate(judged, ["a"], {"judge": None})
    assert json.loads(answers[0]) == {"act": "ask", "marks": [1]}


@pytest.mark.parametrize("again", [mended, None])
@pytest.mark.parametrize("agent", [None, lambda case: lambda messages: '{"labels": []}'])
def test_an_answer_that_no_script_can_make_fit_is_not_counted_again(
    agent: ScriptedAgent | None, again: Callable[[str], str] | None
) -> None:
    """A list of as many labels as there are turns: a model can count them, and its schema does not say how many.

    A patient's reply is asked for anew beside the same scene, and its script never says what it was to say."""

    def labels(answer: Answer) -> list[str]:
        found: list[str] = read_object(answer.text)["labels"]
        if len(found) != 8:
            raise Unfit("it is no list of 8 labels")
        return found

    async def play(case: str, ask: Ask) -> str:
        schema = {"type": "object", "properties": {"labels": {"type": "array", "items": {"type": "string"}}}}
        once = partial(ask, "judge", temperature=0, max_tokens=9, json_schema=schema)
        asked = await ask_until(once, [Message("user", "Label them.")], labels, attempts=3, again=again)
        assert asked.attempts == 3
        return case

    judged: Game[str, str] = Game("judged", ("judge",), str, play, lambda case, record: (), lambda record: {})
    assert estimate(judged, ["a", "b"], {"judge": agent})["judge"].requests == 2


def test_models_are_not_asked_and_every_price_is_counted(
    patients: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    roles = ("clinician", "patient", "evaluator", "judge")
    models = [word for role in roles for word in (f"--{role}", "openai/made-up")]
    line = ("run", "confirmation", patients, *models, "--limit", 2)
    found = planned(capsys, *line, "--price", "openai/made-up=1,2")
    for role in roles:
        row = found[role]
        dollars = (row["tokens in"] + 2 * row["tokens out"]) / 1e6
        assert row["model"] == "openai/made-up" and row["US$"] == pytest.approx(dollars) and row["requests"] > 0
    assert found["in all"]["US$"] == pytest.approx(sum(found[role]["US$"] for role in roles))
    assert planned(capsys, *line)["in all"]["US$"] == "no --price"


def test_hours_are_of_as_many_dialogues_at_a_time_as_there_are(
    patients: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two cases four times are eight dialogues, which sixteen can have at once: as long as one time each."""
    roles = ("--clinician", "--patient", "--evaluator", "--judge")
    models = [word for role in roles for word in (role, "openai/made-up")]
    line = ("run", "confirmation", patients, *models, "--limit", 2)
    once, often = (planned(capsys, *line, "--epochs", epochs) for epochs in (1, 4))
    assert often["in all"]["hours"] == pytest.approx(once["in all"]["hours"])


@pytest.mark.parametrize("words", [["run", "language", "runs/x"], ["verify", "x"], ["run", "no-such"], ["run"]])
def test_what_plays_nothing_is_one_error(
    words: Sequence[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # runs/x may be a repository: asked six times
    assert execute(["plan", *words]) == 2
    assert "Error" in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("out", [["-o", "run"], ["-orun"], ["--out=run"]])
def test_the_folder_may_be_named_in_any_way(
    out: list[str], patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ("run", "confirmation", patients, *ACTORS["confirmation"], "--judge", "rules", "--limit", 2, *out)
    assert planned(capsys, *line)["clinician"]["requests"] > 0 and not Path("run").exists()


def test_a_run_that_cannot_be_planned_does_not_begin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ran to its end, with every question to its models, before it was refused."""
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("expert_caption,layman_caption\nNo effusion.,No fluid.\nA fracture.,A break.\n", encoding="utf-8")
    assert execute(["plan", "run", "language", str(pairs), "-o", str(tmp_path / "out")]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "found run language" in told and "run recheck or run findings" in told
    assert "do Only these play cases. Run any other as it is" in told
    assert not (tmp_path / "out").exists()


def test_a_missing_option_is_reported_for_the_command_that_was_typed(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["plan", "run", "confirmation", "runs/patients"]) == 2
    assert "bedside plan run confirmation" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_plan_of_few_cases_looks_at_each_of_them(count: int) -> None:
    """Of two the first was taken for both."""
    cases = [replace(one, said=one.said * 50**at) for at, one in enumerate(puzzles(count))]
    nobody = dict.fromkeys(ROLES)
    alone = [estimate(game(), [case], nobody)["guest"].input_tokens for case in cases]
    assert estimate(game(), cases, nobody)["guest"].input_tokens == sum(alone) and len(set(alone)) == count


# --- A budget ---------------------------------------------------------------------------------------------------------


class Paid(ChatModel):
    """A model of ten tokens in and five out, a dollar each."""

    stand_in = False

    def __init__(self, name: str, asked: list[str]) -> None:
        self.name, self.asked = name, asked

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "made", "base_url": "", "client": ""}

    async def ask(self, messages: Sequence[Message], **decoding: Any) -> Answer:
        self.asked.append(self.name)
        return Answer('{"mark": 1}', 10, 5, "stop")


PRICES = {f"made/{role}": (1e6, 1e6) for role in ROLES}


def played(out: Path, asked: list[str], most: float | None, **more: Any) -> Any:
    players = {role: Paid(f"made/{role}", asked) for role in ROLES}
    return play_run(game(), puzzles(4), players, out, prices=PRICES, max_cost=most, **more)


@pytest.mark.parametrize("bare", [True, False])
def test_a_run_stops_at_the_cost_limit_and_resumes_with_a_higher_one(tmp_path: Path, bare: bool) -> None:
    whole: list[str] = []
    free = played(tmp_path / "free", whole, None, bare=bare)
    cost = sum(free.cost(role) or 0 for role in ROLES)
    assert cost == 15 * len(whole)
    asked: list[str] = []
    limit = 4000.0  # a request is first taken for the longest answer that it may have
    out = tmp_path / "run"
    with pytest.raises(BudgetSpent, match="--max-cost.*every answer is in"):
        for least in range(100, 5000, 300):
            limit = float(least)
            played(out, asked, limit, bare=bare)
    assert 15 * len(asked) <= limit and store_of(out).is_file() and not (out / "dialogues.jsonl").exists()
    again = played(out, asked, 1e6, bare=bare)
    assert again.records == free.records and len(asked) == len(whole)  # nothing was paid twice


def test_a_run_that_is_begun_again_with_the_same_limit_buys_no_more(tmp_path: Path) -> None:
    """Stored answers count before the first request: those of the last cases came too late to hold the first ones."""

    class Slow(Paid):
        async def ask(self, messages: Sequence[Message], **decoding: Any) -> Answer:
            await asyncio.sleep(0.001)
            await super().ask(messages, **decoding)
            return Answer('{"mark": 1}', 0, decoding["max_tokens"], "stop")

    asked: list[str] = []
    players, prices = {role: Slow(f"made/{role}", asked) for role in ROLES}, dict.fromkeys(PRICES, (0.0, 1e6))
    for _ in range(4):
        with pytest.raises(BudgetSpent):
            play_run(game(), puzzles(4), players, tmp_path, bare=True, concurrency=4, prices=prices, max_cost=20 * 64.0)
        assert len(asked) == 20


def test_what_is_stored_costs_nothing_again(tmp_path: Path) -> None:
    """A finished run is read again within what it cost, whatever each of its requests might have cost."""
    asked: list[str] = []
    first = played(tmp_path, asked, None, bare=True)
    again = played(tmp_path, asked, 15.0 * len(asked), bare=True, concurrency=1)
    assert again.records == first.records and again.usage.asked == 0


@pytest.mark.parametrize("counts", [(None, None), (10, None), (None, 5)])
def test_a_run_says_what_its_limit_counted_also_where_a_provider_counts_no_tokens(
    counts: tuple[int | None, int | None], tmp_path: Path
) -> None:
    """The cost of such a run is unknown, and what is left of a limit that several runs share is not."""

    class Uncounted(Paid):
        async def ask(self, messages: Sequence[Message], **decoding: Any) -> Answer:
            return Answer('{"mark": 1}', *counts, "stop")

    players = {role: Uncounted(f"made/{role}", []) for role in ROLES}
    told = play_run(game(), puzzles(4), players, tmp_path, bare=True, prices=PRICES, max_cost=1e9)
    assert {told.cost(role) for role in ROLES} == {None}
    sent = sum(spent.requests for spent in told.spent.values())
    least = {(None, None): tokens('{"mark": 1}') + 1, (10, None): tokens('{"mark": 1}') + 10, (None, 5): 5 + 1}
    assert told.charged >= sent * least[counts]
    again = play_run(game(), puzzles(4), players, tmp_path, bare=True, prices=PRICES, max_cost=1e9)
    assert again.charged == pytest.approx(told.charged)
    assert played(tmp_path / "free", [], None, bare=True).charged == 0


def test_half_a_character_in_an_answer_that_a_provider_did_not_count_is_counted(tmp_path: Path) -> None:
    """Servers send unpaired surrogates, where an emoji is cut: that ended a run, and its resumption too."""

    class Cut(Paid):
        async def ask(self, messages: Sequence[Message], **decoding: Any) -> Answer:
            return Answer('{"mark": 1} \ud83d', None, None, "stop")

    players = {role: Cut(f"made/{role}", []) for role in ROLES}
    told = play_run(game(), puzzles(1), players, tmp_path, bare=True, prices=PRICES, max_cost=1e9, max_invalid=1.0)
    assert told.charged > 0


def test_what_was_set_aside_and_given_back_leaves_nothing() -> None:
    """Or the last request would wait forever for what is in flight: 0.1 + 0.2 + 0.3 - 0.1 - 0.2 - 0.3 is not 0."""
    budget, model = Budget(1.0, {"made/guest": (0.0, 1e5)}), Paid("made/guest", [])

    async def three() -> None:
        held = [budget.paying(model, [], tokens) for tokens in (1, 2, 3)]
        for one in held:
            await one.__aenter__()
        for one in held:
            await one.__aexit__(None, None, None)

    asyncio.run(three())
    assert budget.aside == 0


@pytest.mark.parametrize(("most", "answered"), [(2.0, 0), (25.0, 2), (1000.0, 8)])
def test_a_model_that_thinks_keeps_to_the_limit(most: float, answered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it may write more is set aside, for each of the requests under way, and its cut answer is counted."""
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")

    def reply(body: Any) -> Reply:
        if body["max_tokens"] < 5000:
            return Reply(None, "length", reasoning="hm " * 1000)
        return Reply("Yes.", reasoning="hm " * 5000)

    budget = Budget(most, {"openai-api/local/m": (0.0, 1000.0)})

    async def one(model: ChatModel, question: Message) -> None:
        how = {"temperature": 0.0, "max_tokens": 1000}
        await budget.asked(model, [question], lambda paying: paying.ask([question], **how))  # type: ignore[arg-type]

    async def all_of(model: ChatModel) -> int:
        asked = (one(model, Message("user", f"Question {n}?")) for n in range(8))
        return sum(not isinstance(said, BaseException) for said in await asyncio.gather(*asked, return_exceptions=True))

    with ChatServer(reply) as server:
        model = open_model("openai-api/local/m", base_url=server.base_url)
        assert asyncio.run(all_of(model)) == answered
    # Eight first answers at most are cut; a request may cost 1000 tokens, and with room to think 9192.
    assert budget.spent <= most and budget.aside == 0


def test_stored_answers_of_a_model_that_has_no_price_cost_nothing() -> None:
    budget = Budget(1.0, {"made/guest": (1e5, 0.0)})
    budget.begin({"made/before": (7, 7), "made/guest": (2, 7)})
    assert budget.spent == 0.2


def test_a_model_without_a_price_has_no_budget(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no price for made/guest"):
        players = {role: Paid(f"made/{role}", []) for role in ROLES}
        play_run(game(), puzzles(1), players, tmp_path, bare=True, max_cost=5.0)


def test_a_difference_larger_than_any_score_is_none() -> None:
    shown = [row["smallest difference"] for row in showing(4, 0.05).as_json()["rows"]]
    assert shown == [pytest.approx(smallest_difference(4, 0.3)), None, None]


def test_points_are_no_difference_of_scores(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["plan", "run", "confirmation", "runs/patients", "--detect", "5"]) == 2
    assert "--detect" in capsys.readouterr().err


def test_a_plan_of_captions_counts_the_requests_that_a_run_then_sends(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with ChatServer(reply="A scan of the chest.") as server:
        model = ("--model", "openai-api/local/eyes", "--base-url", server.base_url)
        line = ("run", "captioning", captions, *model, "--pairs", 5, "--sample-seed", 3, "--resamples", 20)
        plan = planned(capsys, *line, "--price", "openai-api/local/eyes=1,2")["captioner"]
        dollars = (plan["tokens in"] + 2 * plan["tokens out"]) / 1e6
        assert plan["requests"] == 10 and plan["US$"] == pytest.approx(dollars) and not server.requests
        server.faults.append(status(500))
        run = [*map(str, line), "-o", str(tmp_path / "run"), "--bare"]
        assert execute(run) == 0
        spent = json.loads((tmp_path / "run" / "usage.json").read_text())["captioner"]
        assert spent["requests"] == plan["requests"] == len(server.requests) - 1  # one was tried again
        assert execute(run) == 0 and len(server.requests) == 11
