"""Weights from labels: recovery of known ones, quality on unseen cases, files, the judges, and the acceptance tests."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest

from baselines.medconceal import labelling
from baselines.medconceal.acceptance import acceptance, candidates, replay
from baselines.medconceal.fitting import KINDS, Fitted, Label, Quality, auc, fit, held_out, read_labels
from baselines.medconceal.policy import BEDSIDE, DEFAULT, PAPER, SHIPPED, Logistic, PolicyConfig
from baselines.medconceal.record import FEATURES, Features
from builders.samples.medconceal.cases import profiles
from loaders.errors import InputError, ModelError
from loaders.medconceal import CATEGORIES
from loaders.models.answers import AnswerStore
from loaders.models.scripted_chat import scripted
from scripts.cli import execute
from scripts.run.policies import fitted_elsewhere

CASES = profiles()


def drawn(
    count: int,
    model: Logistic,
    *,
    kind: str = "reveal",
    seed: int = 0,
    source: str = "a-judge",
    evaluator: str = "an-evaluator",
) -> list[Label]:
    """Labels by a known model: its probability itself as soft label."""
    dice = random.Random(seed)
    found = []
    for at in range(count):
        features = Features(**{key: dice.choice((0, 0.25, 0.5, 0.75, 1)) for key in FEATURES})
        category, overlap = dice.choice(CATEGORIES), dice.random()
        p = model.probability(features.vector, overlap, category)
        found.append(Label(f"case-{at % 50}", kind, category, features, overlap, p, source, evaluator))
    return found


def test_known_weights_come_back() -> None:
    """Soft labels of a model without penalty are fitted by that model: the truth is the maximum."""
    truth = Logistic((-1.0, 0.5, 1.0, 0.0, 2.0, 0.5, 0.0, 0.0, -0.5, 0.2, -2.0, 1.0))
    fitted = fit(drawn(4_000, truth), PAPER)
    assert np.allclose(fitted.policy.reveal.weights, truth.weights, atol=0.12)
    assert all(abs(value) < 0.1 for delta in fitted.policy.reveal.deltas.values() for value in delta)
    quality = fitted.quality["reveal"]
    assert quality.auc > 0.95 and quality.brier < 0.001 < quality.reference
    assert fitted.policy.address == PAPER.address and set(fitted.quality) == {"reveal"}
    assert fitted.policy.digest != PAPER.digest and fitted.policy.training["fitted"] == ["reveal"]


def test_what_a_policy_adds_for_the_person_is_left_out_of_its_weights() -> None:
    """With the shifts of half of all cases among reserved people, the intercept would else be too low for everybody."""
    truth, dice = BEDSIDE.reveal, random.Random(1)
    labels = []
    for label in drawn(3_000, truth):
        shift = dice.choice((0.0, -1.3, -2.2))
        p = truth.probability(label.features.vector, label.overlap, label.category, shift=shift)
        labels.append(replace(label, label=p, shift=shift))
    bedside, paper = (fit(labels, base) for base in (BEDSIDE, PAPER))
    assert bedside.policy.reveal.weights[0] == pytest.approx(truth.weights[0], abs=0.2)
    assert paper.policy.reveal.weights[0] < truth.weights[0] - 0.6  # it adds nothing itself
    assert bedside.quality["reveal"].brier < 0.001


def test_a_category_of_its_own_gets_a_delta_and_the_ridge_holds_it() -> None:
    shift = (1.5, *[0.0] * 11)
    truth = Logistic((-1.0, *[0.5] * 11), {CATEGORIES[3]: shift})
    labels = drawn(3_000, truth)

    def intercepts(ridge: float) -> list[float]:
        model = fit(labels, PAPER, ridge=ridge).policy.reveal
        return [model.deltas[category][0] for category in CATEGORIES]

    loose, tight = intercepts(0.1), intercepts(1_000.0)
    assert loose[3] - max(loose[:3]) > 1.0
    assert max(map(abs, tight)) < max(map(abs, loose)) / 3


def test_the_solution_is_the_optimum_of_the_penalised_likelihood() -> None:
    """Against a general optimiser on the same loss, written out term by term."""
    from scipy.optimize import minimize

    labels = [replace(label, category=CATEGORIES[0]) for label in drawn(150, PAPER.reveal)]
    train = [label for label in labels if not held_out(label.case_id)]
    x = np.array([(1.0, *label.features.vector, label.overlap) for label in train])
    y = np.array([label.label for label in train])

    def loss(w):
        score = x @ (w[:12] + w[12:])
        total = sum(np.log1p(np.exp(score)) - y * score)
        return total + 0.5 * (1e-6 * w[0] ** 2 + 0.1 * sum(w[1:12] ** 2) + 10 * sum(w[12:] ** 2))

    best = minimize(loss, np.zeros(24), method="L-BFGS-B", options={"maxiter": 400})
    model = fit(labels, PAPER).policy.reveal
    mine = np.array([*model.weights, *model.deltas[CATEGORIES[0]]])
    assert loss(mine) <= best.fun + 1e-6


def test_the_split_is_by_case_and_by_seed() -> None:
    ids = [f"case-{at}" for at in range(2_000)]
    share = sum(map(held_out, ids)) / len(ids)
    assert 0.17 < share < 0.23
    assert [held_out(one) for one in ids] == [held_out(one) for one in ids]
    assert [held_out(one) for one in ids] != [held_out(one, 1) for one in ids]


def test_what_is_held_out_by_the_seed_has_no_part_in_what_it_is_compared_with() -> None:
    labels = drawn(600, Logistic((-1.0, 0.5, 1.0, 0.0, 2.0, 0.5, 0.0, 0.0, -0.5, 0.2, -2.0, 1.0)))
    quality = fit(labels, PAPER, seed=3).quality["reveal"]
    train, test = (
        np.array([label.label for label in labels if held_out(label.case_id, 3) == held]) for held in (False, True)
    )
    assert quality.n == len(test) and quality.reference == pytest.approx(np.mean((train.mean() - test) ** 2), abs=1e-12)


def test_address_uses_the_overlap_where_the_policy_does() -> None:
    labels = drawn(600, BEDSIDE.address, kind="address")
    paper, bedside = (fit(labels, base).policy for base in (PAPER, BEDSIDE))
    assert paper.address.weights[-1] == 0 and paper.reveal == PAPER.reveal
    assert bedside.address.weights[-1] == pytest.approx(BEDSIDE.address.weights[-1], abs=0.3)


def test_scripted_labels_are_marked_a_stand_in() -> None:
    for named in ({"source": "scripted/x"}, {"evaluator": "scripted/x"}, {"evaluator": "rules"}):
        assert fit(drawn(300, PAPER.reveal, **named), PAPER).policy.training["stand_in"] is True
    training = fit(drawn(300, PAPER.reveal), PAPER).policy.training
    assert training["stand_in"] is False and training["evaluator"] == "an-evaluator"
    # A label that does not say who rated its turn is one of an earlier version, which knew the rules alone.
    assert Label("c", "reveal", CATEGORIES[0], drawn(1, PAPER.reveal)[0].features, 0, 1, "a-judge").evaluator == "rules"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([], "(?s)no label.*--labels"),
        (drawn(60, PAPER.reveal), "(?s)different feature vectors.*--most"),
        (drawn(20, PAPER.reveal) * 40, "20 different feature vectors|1\\d different feature vectors"),
        ([replace(one, label=0.1) for one in drawn(300, PAPER.reveal)], "all on one side"),
        (drawn(300, PAPER.reveal) + drawn(30, PAPER.address, kind="address"), "kind 'address'"),
        (drawn(300, PAPER.reveal) + drawn(9, PAPER.reveal, evaluator="b"), "features from one evaluator"),
    ],
)
def test_what_cannot_be_fitted_on_is_one_clear_error(labels, said: str) -> None:
    with pytest.raises(InputError, match=said):
        fit(labels, PAPER)


_WORDS = "spring river kettle stairs ladder garden ticket window market carpet needle candle blanket engine".split()
_TRUTH = dict(zip(FEATURES, (0.0, 2.5, 1.5, 3.0, 1.5, -2.0, 2.0, -2.0, 0.0, 0.0), strict=True))


def _seen(turn: str) -> dict[str, float]:
    """How the loopback evaluator rates a turn: by its letters, so that the judge may know it, too."""
    digest = hashlib.sha256(" ".join(turn.split()).encode()).digest()
    return {key: (byte % 5) / 4 for key, byte in zip(FEATURES, digest, strict=False)} | {"MR": 0.0}


def _chance(turn: str) -> float:
    return 1 / (1 + math.exp(-(sum(_TRUTH[key] * value for key, value in _seen(turn).items()) - 3.5)))


def _between(name: str, text: str) -> str:
    return text.split(f"<{name}>")[1].split(f"</{name}>")[0].strip()


def _rates(messages) -> str:
    rated = {"features": _seen(_between("turn_to_rate", messages[-1].text)), "intent": "other"}
    told = {"intent_probabilities": {"other": 1.0}, "pending_covered": True, "empathy": 0.5}
    return json.dumps(rated | told)


def _says(messages) -> str:
    draw = random.Random(repr([message.text for message in messages]))
    return f"And how was it with the {' and the '.join(draw.sample(_WORDS, 3))} for you that week?"


def _judges(messages) -> str:
    turn, concern = (_between(name, messages[1].text) for name in ("turn_to_judge", "concern"))
    return json.dumps({"probability": float(random.Random(turn + concern).random() < _chance(turn))})


def test_a_loopback_judge_of_known_weights_is_recovered(tmp_path) -> None:
    """The evaluator rates, the judge throws dice with weights on those ratings, the clinician is a model."""
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        players = labelling.Players(store, scripted(_rates, name="rater"), scripted(_says, name="talker"))
        questions = labelling.ask_about(CASES[:16], DEFAULT, players, most=1_200)
        judge = scripted(_judges, name="judge")
        labels, unanswered = asyncio.run(labelling.label(questions, judge, store))
    assert unanswered == 0 and {label.evaluator for label in labels} == {"scripted/rater"}
    reveal = [label for label in labels if label.kind == "reveal"]
    assert len({label.features.vector for label in reveal}) >= 100
    fitted = fit(reveal, PAPER)
    for key, weight, found in zip(FEATURES, _TRUTH.values(), fitted.policy.reveal.weights[1:], strict=False):
        assert not weight or found * weight > 0, key
    held = [label for label in reveal if held_out(label.case_id)]
    truth = np.array([sum(_TRUTH[key] * getattr(label.features, key) for key in FEATURES) for label in held])
    own = auc(truth, np.array([label.label >= 0.5 for label in held]))
    quality = fitted.quality["reveal"]
    assert abs(quality.auc - own) <= 0.02 and quality.brier < quality.reference
    assert quality.auc_interval[0] <= quality.auc <= quality.auc_interval[1]
    assert sum(n for *_, n in quality.reliability) == quality.n == len(held)
    assert fitted.policy.training["stand_in"] is True  # the evaluator is a script


def test_a_perfect_fit_claims_no_certainty() -> None:
    """Every draw of the cases gives an AUC of 1: what is left open is Wilson's share for as many cases."""
    dice = random.Random(3)
    far = [
        Features(**{key: dice.uniform(0.8, 1.0) if at % 2 else dice.uniform(0, 0.2) for key in FEATURES})
        for at in range(300)
    ]
    drew = drawn(300, PAPER.reveal)
    labels = [replace(one, features=far[at], overlap=0.5, label=float(at % 2)) for at, one in enumerate(drew)]
    quality = fit(labels, PAPER).quality["reveal"]
    assert quality.auc == 1 == quality.auc_interval[1] and quality.cases >= 3
    z2 = 1.959963984540054**2
    assert math.isclose(quality.auc_interval[0], quality.cases / (quality.cases + z2), rel_tol=1e-9)


def test_a_run_with_another_evaluator_than_the_fitted_one_says_so() -> None:
    policy = fit(drawn(300, PAPER.reveal), PAPER).policy
    assert fitted_elsewhere(policy, "an-evaluator") == fitted_elsewhere(PAPER, "rules") == ""
    assert (
        fitted_elsewhere(policy, "rules")
        == "the patient's weights were fitted on ratings by an-evaluator, not by rules"
    )


def test_labels_are_read_from_jsonl_and_parquet(tmp_path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = drawn(30, PAPER.reveal)
    lines, table = tmp_path / "labels.jsonl", tmp_path / "labels.parquet"
    lines.write_text("\n".join(json.dumps(label.row) for label in labels))
    pq.write_table(pa.Table.from_pylist([label.row for label in labels]), table)
    assert read_labels(lines) == read_labels(table) == labels


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": 2}, r"row 2: .*label is 2\.0 \(expected a number in \[0, 1\]\)\. Pass labels as"),
        ({"overlap": -1}, r"overlap is -1\.0 \(expected a number in \[0, 1\]\)"),
        ({"case_id": ""}, "case_id is empty"),
        ({"kind": "maybe"}, "kind is a text"),
        ({"category": "Boredom"}, "category 'Boredom' .expected one of Misinformation"),
        ({"DG": 1.5}, r"feature DG is 1\.5 \(expected a number in"),
        ({"CE": None}, "features.CE is null"),
        ({"overlap": "x"}, "overlap is a text"),
    ],
)
def test_a_wrong_label_names_its_row(change, says: str, tmp_path) -> None:
    row = drawn(1, PAPER.reveal)[0].row
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | change))
    with pytest.raises(InputError, match=says):
        read_labels(path)
    path.write_text("{")
    with pytest.raises(InputError, match=r"is incomplete JSON.*Fix or delete the line"):
        read_labels(path)
    path.write_text(json.dumps(row)[:-1] + ', "label": 0.5}')
    with pytest.raises(InputError, match="labels.jsonl:1.*the key 'label' twice"):
        read_labels(path)


def test_questions_are_drawn_from_dialogues_of_all_styles() -> None:
    questions = labelling.ask_about(CASES[:2], DEFAULT, most=10_000)
    assert {question.label.kind for question in questions} == {"reveal", "address"}
    assert {question.label.case_id for question in questions} == {profile.case_id for profile in CASES[:2]}
    some = labelling.ask_about(CASES[:1], DEFAULT, most=40, seed=1)
    assert len(some) == 40 and some == labelling.ask_about(CASES[:1], DEFAULT, most=40, seed=1) != questions[:40]
    # Few turns can address a concern: drawn by chance, the hundred that a fit needs were never among 2,000.
    every, kinds = (
        [one.label.kind for one in each] for each in (labelling.ask_about(CASES[:1], DEFAULT, most=10_000), some)
    )
    assert kinds.count("address") == min(20, every.count("address")) > 40 * every.count("address") / len(every)
    hidden = CASES[0].hidden_concerns[0].content.get_secret_value()
    assert all(hidden not in repr(question) for question in questions)


def test_the_overlap_of_a_label_is_measured_as_the_policy_does_that_is_fitted() -> None:
    bedside, paper = (labelling.ask_about(CASES[:2], policy, most=10_000) for policy in (BEDSIDE, PAPER))
    near = [
        {kind: {one.label.overlap for one in each if one.label.kind == kind} for kind in KINDS}
        for each in (bedside, paper)
    ]
    assert near[0]["address"] > {0.0} == near[1]["address"]
    shifts = [
        {kind: {one.label.shift for one in each if one.label.kind == kind} for kind in KINDS}
        for each in (bedside, paper)
    ]
    assert len(shifts[0]["reveal"]) > 2 and shifts[0]["address"] == {0.0} == shifts[1]["reveal"]
    assert all(4 * overlap % 1 == 0 for overlap in near[0]["reveal"])  # topic terms and words: quarters
    assert any(4 * overlap % 1 for overlap in near[1]["reveal"])  # a share of a concern's words


def test_a_model_judges_through_the_store(tmp_path) -> None:
    questions = labelling.ask_about(CASES[:1], DEFAULT, most=12)
    asked = []

    def judge(messages) -> str:
        asked.append([message.text for message in messages])
        return "?" if len(asked) % 2 else '{"probability": 0.7}'

    with AnswerStore(tmp_path / "answers.sqlite") as store:
        labelled = labelling.label(questions, scripted(judge, name="judge"), store, concurrency=1)
        labels, unanswered = asyncio.run(labelled)
        assert len(labels) == 12 and unanswered == 0 and {label.label for label in labels} == {0.7}
        assert [label.features for label in labels] == [question.label.features for question in questions]
        assert all("<concern>" in said[1] and "<turn_to_judge>" in said[1] for said in asked)
        assert [len(said) for said in asked[:2]] == [2, 4] and "not one JSON object" in asked[1][-1]
        mute = scripted(lambda messages: "no", name="mute")
        assert asyncio.run(labelling.label(questions, mute, store)) == ([], 12)


def test_a_model_whose_answers_cannot_be_read_is_not_asked_on_and_on(tmp_path) -> None:
    questions = labelling.ask_about(CASES[:1], DEFAULT, most=100)
    asked = []

    def mute(messages) -> str:
        asked.append(messages)
        return "no"

    with AnswerStore(tmp_path / "answers.sqlite") as store:
        labelled = labelling.label(questions, scripted(mute, name="mute"), store, concurrency=1)
        with pytest.raises(ModelError, match="^scripted/mute: gave no answer that can be read about 16 turns in a row"):
            asyncio.run(labelled)
        assert 0 < len(asked) <= 16 * labelling.ATTEMPTS  # one question may stand twice, and is asked once
        players = labelling.Players(store, scripted(mute, name="mute"), scripted(_says, name="talker"))
        with pytest.raises(ModelError, match="mute: gave no answer that can be read about 16 dialogues in a row"):
            labelling.ask_about(CASES[:16], DEFAULT, players, most=100)


@pytest.mark.parametrize("policy", SHIPPED.values(), ids=SHIPPED)
def test_the_shipped_policies_pass_every_acceptance_test(policy: PolicyConfig) -> None:
    checks = acceptance(policy, CASES[::3])
    assert len(checks) == 7 and all(check.passed for check in checks), checks


def test_acceptance_fails_where_it_must() -> None:
    eager = replace(PAPER, reveal=Logistic((5.0, *[0.0] * 11)), high=0.4, low=0.4)
    failed = {check.name for check in acceptance(eager, CASES[:2]) if not check.passed}
    assert {"reveal floor", "closed-checklist"} <= failed
    deaf = replace(PAPER, reveal=Logistic((-9.0, *[0.0] * 11)))
    failed = {check.name for check in acceptance(deaf, CASES[:2]) if not check.passed}
    assert failed == {"reveal floor", "lag floor", "address floor", "expert", "expert and plan-repeater"}


def test_the_replay_takes_the_first_candidate_that_passes() -> None:
    eager = replace(PAPER, high=0.3, low=0.3)
    name, policy, checks = replay({"eager": eager, "shipped": PAPER, "also": replace(PAPER, low=0.44)}, CASES[:2])
    assert (name, policy) == ("shipped", PAPER) and all(check.passed for check in checks)
    assert replay({"eager": eager}, CASES[:2])[0] == "eager"
    grid = candidates(PAPER)
    assert next(iter(grid.values())) == PAPER and len({policy.digest for policy in grid.values()}) >= 14


def test_where_almost_nothing_decides_the_weights_the_shortest_are_taken() -> None:
    """Those of the categories and those that they share could be any that have the same sums."""
    labels = drawn(600, PAPER.reveal)
    fitted, again = (fit(labels, PAPER, ridge=ridge).policy.reveal for ridge in (1e-300, 1e-200))
    assert fitted.weights == pytest.approx(again.weights, abs=1e-4)


@pytest.mark.parametrize(
    ("brier", "interval", "worse"), [(0.452, (0.40, 0.50), True), (0.275, (0.25, 0.30), False), (0.2, None, False)]
)
def test_weights_that_predict_worse_than_a_constant_are_not_fit_for_use(
    brier: float, interval: tuple[float, float] | None, worse: bool
) -> None:
    from scripts.fit_policy import _worse_than_constant

    quality = Quality(100, 20, 0.2, brier, 0.269, brier_interval=interval)
    assert _worse_than_constant(Fitted(PAPER, {"reveal": quality})) == ["reveal"] * worse


def test_the_command_fits_and_writes_a_policy(tmp_path, monkeypatch, capsys) -> None:
    import scripts.fit_policy

    monkeypatch.setattr(scripts.fit_policy, "_profiles", lambda corpus: CASES[:3])
    out, labels = tmp_path / "policy.json", tmp_path / "labels.jsonl"
    # What is wrong with the constants is said before a judge is paid.
    (tmp_path / "base.json").write_text("{")
    base, other = str(tmp_path / "base.json"), tmp_path / "other.json"
    assert execute(["fit-policy", "--judge", "scripted/echo", "--base", base, "-o", str(other)]) == 2
    assert "base.json" in capsys.readouterr().err and not list(tmp_path.glob("other*"))
    for ridge in ("0", "-1", "nan"):
        assert execute(["fit-policy", "--judge", "scripted/echo", "--ridge", ridge, "-o", str(other)]) == 2
        assert "--ridge" in capsys.readouterr().err and not list(tmp_path.glob("other*"))
    rows = [label.row for kind in ("reveal", "address") for label in drawn(600, getattr(PAPER, kind), kind=kind)]
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert execute(["fit-policy", "--labels", str(labels), "-o", str(out)]) in (0, 1)
    shown = capsys.readouterr().out
    assert "stand-in" not in shown and "AUC" in shown and "closed-checklist" in shown
    policy = PolicyConfig.read(out)
    assert policy.training["stand_in"] is False and policy.training["evaluator"] == "an-evaluator"
    assert set(policy.training["quality"]) == {"reveal", "address"}
    assert (tmp_path / "policy.reliability.svg").read_text().count("<circle") >= 10
    # All of one case: nothing is left to test the weights on, which a table of dashes does not say.
    labels.write_text("".join(json.dumps(row | {"case_id": "a"}) + "\n" for row in rows))
    assert execute(["fit-policy", "--labels", str(labels), "-o", str(out)]) in (0, 1)
    assert "No case was held out for reveal and address" in " ".join(capsys.readouterr().out.split())
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows[:60]))
    assert execute(["fit-policy", "--labels", str(labels), "-o", str(out)]) == 2
    assert "labels.jsonl" in capsys.readouterr().err
    assert execute(["fit-policy", "-o", str(out)]) == 2
    for option in ("--evaluator", "--clinician", "--base-url", "--most"):  # the labels say by whom they were rated
        given = "400" if option == "--most" else "scripted/x"
        assert execute(["fit-policy", "--labels", str(labels), option, given, "-o", str(out)]) == 2
        assert f"{option}\n  found    given with --labels" in capsys.readouterr().err
