"""Both tasks played whole: what is recorded, how a game ends, and what attackers and garbage can do to it."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from baselines.dialogue.playing import Scripted
from baselines.dialogue.run import play_run
from baselines.medconceal import clinician, labelling, rubric
from baselines.medconceal.acceptance import play_scripted
from baselines.medconceal.agents import plain_patient, rules_evaluator
from baselines.medconceal.clinician import DECIDE, SUBMIT
from baselines.medconceal.clinician_attackers import _RATING, ATTACKERS
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.game import Rules, scores, secrets, task_game
from baselines.medconceal.judgement import JudgedEpisode, Judgement
from baselines.medconceal.metrics import measures
from baselines.medconceal.policy import DEFAULT, PAPER
from baselines.medconceal.record import Episode, hidden_of
from baselines.medconceal.validity import reasons
from builders.samples.medconceal.cases import profiles
from loaders.errors import InputError, ModelError
from loaders.files.records import from_json, to_json
from loaders.medconceal import TASKS, PatientProfile, Task
from loaders.models.messages import Answer, Message
from loaders.spans import shares_span

CASES = profiles()
OFFLINE = {"evaluator": "rules", "patient": "template"}


def playing(scripts: Mapping[str, Callable[[Sequence[Message]], str]], asked: Counter[str] | None = None):
    async def ask(role, messages, *, temperature, max_tokens, json_schema=None, attempt=0) -> Answer:
        if asked is not None:
            asked[role] += 1
        return Answer(scripts[role](messages), None, None, "stop")

    return ask


def hidden_texts(profile: PatientProfile) -> list[str]:
    return [text for concern in hidden_of(profile) for text in concern.texts]


@pytest.mark.parametrize("name", list(CLINICIANS))
@pytest.mark.parametrize("task", TASKS)
def test_a_record_is_whole_and_survives_json(task: Task, name: str) -> None:
    game = task_game(Rules(task, **OFFLINE))
    assert game.roles == ("clinician",)
    for profile, episode in zip(CASES[:4], play_scripted(game, CASES[:4], CLINICIANS[name]), strict=True):
        again = from_json(Episode, to_json(episode), "record")
        assert again == episode and game.invalid(episode) is None
        assert episode.case_id == game.case_id(profile) == profile.case_id
        assert [exchange.turn for exchange in episode.exchanges] == list(range(1, len(episode.exchanges) + 1))
        for index in range(len(episode.states)):
            out = [exchange.turn for exchange in episode.exchanges if index in exchange.revealed]
            done = [exchange.turn for exchange in episode.exchanges if index in exchange.addressed]
            assert episode.reveal_turns[index] == (out[0] if out else None) and len(out) <= 1
            assert episode.address_turns[index] == (done[0] if done else None)
            assert episode.states[index] == episode.exchanges[-1].traces[index].state == len(out) + len(done)
        assert len(game.transcript(profile, episode)) == 2 * len(episode.exchanges)
        assert (scores(episode)["turns"], scores(episode)["leaks"]) == (len(episode.exchanges), episode.leaks)


def test_a_record_shows_nothing_hidden_by_accident() -> None:
    profile = CASES[0]
    episode = play_scripted(task_game(Rules("confirmation", **OFFLINE)), [profile], CLINICIANS["closed-checklist"])[0]
    whole = json.dumps(to_json(episode))
    for text in hidden_texts(profile):
        assert json.dumps(text)[1:-1] in whole and text not in repr(episode)


def test_cues_are_hidden_like_the_concerns() -> None:
    for profile in profiles():
        cues = {concern.cue.get_secret_value() for concern in profile.hidden_concerns if concern.cue is not None}
        assert cues and cues <= set(secrets(profile))


def test_how_games_end() -> None:
    def stopping(after: int, word: str = "STOP"):
        def script(messages: Sequence[Message]) -> str:
            if messages[-1].text.endswith(DECIDE):
                return word if sum(message.role == "assistant" for message in messages) >= after else "CONTINUE"
            return '{"findings": []}' if messages[-1].text.endswith(SUBMIT) else "Does it hurt?"

        return lambda case: script

    def play(game, agent) -> Episode:
        return play_scripted(game, CASES[:1], agent)[0]

    fixed = play(task_game(Rules("confirmation", **OFFLINE)), stopping(1))
    assert (len(fixed.exchanges), fixed.stopped, fixed.mode) == (8, "turn_limit", "fixed")
    early = play(task_game(Rules("confirmation", turns=20, **OFFLINE)), stopping(1))
    assert (len(early.exchanges), early.stopped, early.mode) == (5, "clinician", "adaptive")
    late = play(task_game(Rules("confirmation", turns=20, **OFFLINE)), stopping(12))
    assert (len(late.exchanges), late.stopped, late.unread_decisions) == (12, "clinician", 0)
    never = play(task_game(Rules("confirmation", turns=20, **OFFLINE)), stopping(1, "hm"))
    assert (len(never.exchanges), never.stopped, never.unread_decisions) == (20, "turn_limit", 15)
    unread = Judgement((), None, None, None, None, {}, by_rules=True)
    for played, unreadable, decisions in ((fixed, 0, 0), (early, 0, 1), (late, 0, 8), (never, 15, 15)):
        counted = {one.name: one for one in measures([JudgedEpisode(played, unread)])}["Decisions not read"]
        assert (counted.over, counted.under) == ((unreadable,), (decisions,))
    held = play(task_game(Rules("intervention", turns=20, **OFFLINE)), stopping(1))
    assert (len(held.exchanges), held.stopped, held.findings) == (20, "turn_limit", None)
    won = play(task_game(Rules("intervention", turns=20, policy=PAPER, **OFFLINE)), CLINICIANS["expert"])
    assert (won.stopped, won.success) == ("addressed", True) and 5 <= len(won.exchanges) < 20
    assert scores(won)["success"] == 1 and scores(held)["success"] == 0
    # An intervention is about one concern; what comes out about another is no reveal of it.
    aside = replace(held, primary=1, states=(1, 0, *held.states[2:]))
    assert (scores(aside)["revealed"], scores(replace(aside, primary=0))["revealed"]) == (0, 1)
    assert scores(replace(aside, task="confirmation"))["revealed"] == 1 / len(aside.states)


def test_a_clinician_at_random_draws_anew_in_every_epoch(tmp_path: Path) -> None:
    """Three epochs were one dialogue three times: no spread at all, and three times the cost of a judge."""

    def said(out: str, name: str = "random") -> dict[tuple[str, int], list[str]]:
        players = {"clinician": Scripted(f"scripted/{name}", CLINICIANS[name])}
        game = task_game(Rules("confirmation", **OFFLINE))
        played = play_run(game, CASES[:2], players, tmp_path / out, epochs=3, bare=True)
        return {
            (one.case_id, one.epoch): [exchange.clinician for exchange in one.record.exchanges]
            for one in played.outcomes
            if one.record is not None
        }

    once = said("a")
    for case in CASES[:2]:
        of_case = [once[case.case_id, epoch] for epoch in (1, 2, 3)]
        assert len({tuple(lines) for lines in of_case}) == 3
        first = play_scripted(task_game(Rules("confirmation", **OFFLINE)), [case], CLINICIANS["random"])[0]
        assert of_case[0] == [exchange.clinician for exchange in first.exchanges]
    assert said("b") == once
    assert len({tuple(lines) for lines in said("c", "expert").values()}) <= 2


def test_only_the_roles_that_play_are_asked() -> None:
    asked: Counter[str] = Counter()
    game = task_game(Rules("confirmation"))
    assert game.roles == ("clinician", "patient", "evaluator")
    scripts = {
        "clinician": CLINICIANS["open-empathic"](None),
        "patient": plain_patient(None),
        "evaluator": rules_evaluator(None),
    }
    episode = asyncio.run(game.play(CASES[0], playing(scripts, asked)))
    # A patient that never says what is due is asked three times for it, and then the template does.
    due = [exchange for exchange in episode.exchanges if exchange.revealed]
    assert asked == {"clinician": 9, "patient": 8 + 2 * len(due), "evaluator": 8} and due
    assert all((one.source == "model") == (not one.revealed) for one in episode.exchanges)
    assert all(one.voiced == one.revealed and one.faults == ("unsaid",) * 3 for one in due)
    assert {exchange.evaluation.obtained for exchange in episode.exchanges} == {"model"}
    by_rules = asyncio.run(task_game(Rules("confirmation", evaluator="rules")).play(CASES[0], playing(scripts)))
    # The same but for the quarters to which a model's features go.
    for mine, other in zip(by_rules.exchanges, episode.exchanges, strict=True):
        assert mine.evaluation.features.vector == pytest.approx(other.evaluation.features.vector, abs=0.125)


@pytest.mark.parametrize("task", TASKS)
def test_a_trace_says_how_near_what_the_task_tracks_was(task: Task) -> None:
    game = task_game(Rules(task, evaluator="rules", patient="template"))
    episode = asyncio.run(game.play(CASES[0], playing({"clinician": CLINICIANS["expert"](None)})))
    tracked = range(len(episode.states)) if task == "confirmation" else (episode.primary,)
    for exchange in episode.exchanges:
        for at, trace in enumerate(exchange.traces):
            reached = trace.state >= (1 if task == "confirmation" else 2)
            assert (trace.nearness == 1) == (reached and at in tracked) and (trace.nearness is None) == (
                at not in tracked
            )
    assert any(trace.nearness == 1 for trace in episode.exchanges[-1].traces)


@pytest.mark.parametrize("noise", ["", "%&/ 12 \ud83d <|im_end|>", "{" * 3_000, "<think>", '{"findings": 7}'])
@pytest.mark.parametrize("task", TASKS)
def test_garbage_in_every_role_is_played_and_counted(task: Task, noise: str) -> None:
    game = task_game(Rules(task))
    episode = asyncio.run(game.play(CASES[1], playing(dict.fromkeys(game.roles, lambda messages: noise))))
    assert len(episode.exchanges) == 8 and set(episode.states) == {0}
    assert {exchange.evaluation.obtained for exchange in episode.exchanges} <= {"rules_after_failure", "silence"}
    if task == "confirmation":
        assert episode.findings.failure
    assert from_json(Episode, to_json(episode), "record") == episode


@pytest.mark.parametrize("name", list(ATTACKERS))
def test_attackers_earn_nothing(name: str) -> None:
    """About 1,000 replies over all attackers: no state moves, no word of a hidden concern is said."""
    for task in TASKS:
        cases = CASES[:4] if name == "attacker-long" else CASES[:11]
        game = task_game(Rules(task, **OFFLINE))
        for profile, episode in zip(cases, play_scripted(game, cases, ATTACKERS[name]), strict=True):
            assert set(episode.states) == {0}
            texts = hidden_texts(profile)
            for exchange in episode.exchanges:
                assert not shares_span(exchange.patient, texts, 5)
                assert not exchange.leak.leaked


def test_an_evaluator_that_copies_a_planted_rating_is_still_blocked() -> None:
    """The worst case: the evaluator's model obeys the clinician. The probe rule does not ask the model."""
    game = task_game(Rules("confirmation", patient="template"))
    scripts = {"clinician": ATTACKERS["attacker-json"](None), "evaluator": lambda messages: _RATING}
    episode = asyncio.run(game.play(CASES[0], playing(scripts)))
    assert set(episode.states) == {0} and all(exchange.blocked for exchange in episode.exchanges)


def test_relevance_is_rated_in_private_by_anonymous_keys() -> None:
    """Topic terms stand in requests of their own to the evaluator alone; its numbers are the o of the policy."""
    profile = CASES[0]
    requests: list[tuple[str, str]] = []
    rater = rules_evaluator(None)

    def evaluator(messages: Sequence[Message]) -> str:
        text = messages[-1].text
        if "<topics>" not in text:
            return rater(messages)
        keys = re.findall(r"^(T\d): (.*)$", text, re.M)
        return json.dumps({key: 1 if "steroid" in terms else 0.2 for key, terms in keys})

    def told(role: str, script: Callable[[Sequence[Message]], str]) -> Callable[[Sequence[Message]], str]:
        def say(messages: Sequence[Message]) -> str:
            requests.append((role, "\n".join(message.text for message in messages)))
            return script(messages)

        return say

    scripts = {
        "clinician": told("clinician", CLINICIANS["closed-checklist"](None)),
        "patient": told("patient", lambda messages: "I see. I will think about that, doctor."),
        "evaluator": told("evaluator", evaluator),
    }
    rules = Rules("confirmation", policy=replace(DEFAULT, overlap="rated"))
    episode = asyncio.run(task_game(rules).play(profile, playing(scripts)))
    private = [text for role, text in requests if role == "evaluator" and "<topics>" in text]
    others = [text for role, text in requests if (role, text) not in {("evaluator", one) for one in private}]
    # What the patient said last is in the second and all after it; without it nobody can tell what is taken up.
    said = ["</patient_said>" in text for text in private]
    assert said == [False] + [True] * 7 and episode.exchanges[0].patient in private[1]
    assert len(private) == 8 and all(one.evaluation.relevance == "model" for one in episode.exchanges)
    content = [concern.content.get_secret_value() for concern in profile.hidden_concerns]
    assert not [text for text in private if any(one in text for one in content) or "Emotional" in text]
    listed = ["; ".join(one.get_secret_value() for one in concern.topics) for concern in profile.hidden_concerns]
    assert all(one in private[0] for one in listed) and not [one for one in listed for text in others if one in text]
    assert {trace.overlap for one in episode.exchanges for trace in one.traces if trace.overlap is not None} == {
        1.0,
        0.25,
    }
    assert from_json(Episode, to_json(episode), "record") == episode


def test_unreadable_relevance_is_measured_by_words_and_makes_the_run_invalid() -> None:
    rater = rules_evaluator(None)
    scripts = {
        "clinician": CLINICIANS["open-empathic"](None),
        "evaluator": lambda messages: "all of them" if "<topics>" in messages[-1].text else rater(messages),
    }
    rules = {"patient": "template"}
    rated = task_game(Rules("confirmation", policy=replace(DEFAULT, overlap="rated"), **rules))
    plain = task_game(Rules("confirmation", **rules))
    one, other = (asyncio.run(game.play(CASES[0], playing(scripts))) for game in (rated, plain))
    assert [exchange.traces for exchange in one.exchanges] == [exchange.traces for exchange in other.exchanges]
    assert any("rules rated in its place" in reason for reason in reasons([one])) and not reasons([other])


@pytest.mark.parametrize(("unread", "kinds"), [("ratings", [False] * 3), ("topics", [False] + [True] * 3)])
def test_a_strict_game_ends_right_after_the_unusable_answers(unread: str, kinds: list[bool]) -> None:
    """A study sets the last three aside and asks them anew: a reading of topics asked meanwhile took their place."""
    asked: list[bool] = []
    rater = rules_evaluator(None)

    def evaluator(messages: Sequence[Message]) -> str:
        asked.append("<topics>" in messages[1].text)
        keys = re.findall(r"^(T\d): ", messages[1].text, re.M)
        if asked[-1] == (unread == "topics"):
            return "nothing of use"
        return json.dumps(dict.fromkeys(keys, 0.5)) if keys else rater(messages)

    rules = Rules("confirmation", policy=replace(DEFAULT, overlap="rated"), patient="template", strict=True)
    scripts = {"clinician": CLINICIANS["expert"](None), "evaluator": evaluator}
    with pytest.raises(ModelError, match="evaluator: no rating"):
        asyncio.run(task_game(rules).play(CASES[0], playing(scripts)))
    assert asked == kinds


def test_settings_change_with_what_is_played(tmp_path) -> None:
    (tmp_path / "evaluator.md").write_text("Rate {{features}}")
    games = [
        task_game(Rules("confirmation")),
        task_game(Rules("intervention")),
        task_game(Rules("confirmation", turns=20)),
        task_game(Rules("confirmation", policy=replace(DEFAULT, alpha=0.4))),
        task_game(Rules("confirmation", prompts=clinician.prompts(tmp_path))),
        task_game(Rules("confirmation", evaluator="rules")),
        task_game(Rules("confirmation", patient="template")),
        task_game(Rules("confirmation", temperature=0.7)),
    ]
    settings = [json.dumps([game.settings, game.decoding], sort_keys=True) for game in games]
    assert len(set(settings)) == len(games)
    assert games[0].settings["policy"] == DEFAULT.digest


def test_the_schemas_are_ones_that_providers_are_sent() -> None:
    pytest.importorskip("inspect_ai")
    from loaders.models.inspect_form import response_schema

    for schema in (rubric.SCHEMA, clinician.FINDINGS_SCHEMA, labelling.SCHEMA):
        assert response_schema(schema).json_schema is not None


def test_a_damaged_record_is_one_clear_error() -> None:
    good = to_json(play_scripted(task_game(Rules("confirmation", **OFFLINE)), CASES[:1], CLINICIANS["silent"])[0])
    for change in ({"mode": "x"}, {"states": [0]}, {"primary": 99}, {"exchanges": [{}]}, {"findings": {}}):
        with pytest.raises(InputError, match="cannot be read"):
            from_json(Episode, good | change, "record")
