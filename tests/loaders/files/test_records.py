"""Records are read and written back as they were, byte for byte; damaged ones are one clear error, which tells no text.

`tests/written_before` holds files that an earlier version wrote, when each record still had its own functions for JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.played import PlayedCase
from baselines.medconceal.fitting import read_labels
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.policy import PolicyConfig
from baselines.results.run import read_run, write_run
from baselines.threemdbench.consultation.recheck import Rechecked
from baselines.threemdbench.consultation.record import Consultation
from baselines.threemdbench.consultation.selection_assessor import Assessed
from baselines.threemdbench.consultation.selection_game import Trial
from builders.curation.review import read_queue, write_queue
from loaders.errors import InputError
from loaders.files.records import from_json, to_json

BEFORE = Path(__file__).parents[2] / "written_before"
DIALOGUES: Mapping[str, Any] = {
    "consultation": PlayedCase[Consultation],
    "confirmation": PlayedCase[JudgedEpisode],
    "intervention": PlayedCase[JudgedEpisode],
    "selection": PlayedCase[Trial],
    "recheck": PlayedCase[Rechecked],
    "assessor_selection": Assessed,
}


def lines(name: str) -> list[bytes]:
    return next(BEFORE.glob(f"{name}.json*")).read_bytes().splitlines()


# --- What was written before ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DIALOGUES)
def test_dialogues_are_read_and_written_unchanged(name: str) -> None:
    for line in lines(name):
        record = from_json(DIALOGUES[name], line, "record")
        assert json.dumps(to_json(record), ensure_ascii=True, sort_keys=True).encode() == line
        assert from_json(DIALOGUES[name], json.loads(line), "record") == record


def test_a_policy_is_read_and_written_unchanged() -> None:
    path = BEFORE / "policy.json"
    policy = PolicyConfig.read(path)
    assert policy.digest == "e41ca420032c35b10f17b56772617f623d60d4905b1d32d2821e433c39704b0e"
    assert (json.dumps(to_json(policy), indent=1, ensure_ascii=False) + "\n").encode() == path.read_bytes()


def test_labels_are_read_and_written_unchanged() -> None:
    labels = read_labels(BEFORE / "labels.jsonl")
    assert [json.dumps(label.row, sort_keys=True).encode() for label in labels] == lines("labels")


def test_a_run_is_read_and_written_unchanged_but_for_intervals_of_no_width(tmp_path: Path) -> None:
    record, results = read_run(BEFORE / "run")
    write_run(tmp_path, record, results)
    again = json.loads((tmp_path / "run.json").read_bytes())
    before = json.loads((BEFORE / "run" / "run.json").read_bytes())
    assert again.pop("files").keys() == before.pop("files").keys() and again == before
    for line, old in zip(_rows(tmp_path), _rows(BEFORE / "run"), strict=True):
        assert line == old | ({"ci95_low": None, "ci95_high": None} if old["ci95_low"] == old["ci95_high"] else {})


def _rows(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]


def test_a_queue_of_images_is_read_and_written_unchanged(tmp_path: Path) -> None:
    write_queue(tmp_path / "review.json", read_queue(BEFORE / "review.json"))
    assert (tmp_path / "review.json").read_bytes() == (BEFORE / "review.json").read_bytes()


# --- What is damaged --------------------------------------------------------------------------------------------------


def at(*path: str | int) -> Callable[[Any], tuple[Any, Any]]:
    """The container that holds the last name of the path, and that name."""

    def inner(whole: Any) -> tuple[Any, Any]:
        for step in path[:-1]:
            whole = whole[step]
        return whole, path[-1]

    return inner


EPISODE = ("record", "episode")


@pytest.mark.parametrize(
    ("name", "place", "value", "says"),
    [
        ("confirmation", at("epoch"), "1", "epoch is a text (expected a valid integer)"),
        ("confirmation", at("epoch"), True, "epoch is True (expected a valid integer)"),
        ("confirmation", at("case"), 3, "case is 3 (expected a valid string)"),
        ("confirmation", at("spent", "clinician", "requests"), 1.5, "spent.clinician.requests is 1.5"),
        ("confirmation", at(*EPISODE, "mode"), "x", "record.episode.mode is a text (expected 'fixed', 'adaptive'"),
        ("confirmation", at(*EPISODE, "states"), [0], "record.episode: [1, 2] concerns in one episode"),
        ("confirmation", at(*EPISODE, "primary"), 99, "primary concern 99 of 2"),
        ("confirmation", at(*EPISODE, "exchanges", 1, "turn"), None, "exchanges.1.turn is null"),
        ("confirmation", at(*EPISODE, "exchanges", 0, "blocked"), 0, "blocked is 0 (expected a valid boolean)"),
        ("confirmation", at(*EPISODE, "exchanges", 0, "traces", 0, "state"), 3, "traces.0: state 3"),
        ("confirmation", at(*EPISODE, "exchanges", 0, "evaluation", "empathy"), float("nan"), "empathy is nan"),
        ("confirmation", at(*EPISODE, "exchanges", 0, "evaluation", "features", "DG"), 2, "feature DG is 2"),
        ("confirmation", at("record", "judgement", "failures"), [], "failures is a list (expected an object)"),
        ("consultation", at("record", "ended"), "never", "ended is a text (expected 'break', 'cap' or 'answer')"),
        ("consultation", at("record", "turns", 0, "role"), "system", "turns.0.role is a text"),
        ("consultation", at("record", "utterances"), 1, "record: 1 utterances in "),
        ("consultation", at("record", "assessment", "items"), {"1.1": 1}, "assessment: scores of 1 items"),
        ("selection", at("record", "levels"), ["sure"], "record.levels.0 is a text"),
        ("recheck", at("record", "padded"), None, "record.padded is null"),
        ("assessor_selection", at("key"), ["a", "b"], "no key.2"),
    ],
)
def test_a_wrong_field_is_named(name: str, place: Callable[[Any], Any], value: object, says: str) -> None:
    whole = json.loads(lines(name)[0])
    inside, last = place(whole)
    inside[last] = value
    for read in (whole, json.dumps(whole).encode()):
        with pytest.raises(InputError) as raised:
            from_json(DIALOGUES[name], read, "dialogues.jsonl, line 3", do="Play it again")
        assert str(raised.value).startswith("dialogues.jsonl, line 3: cannot be read: ")
        assert says in str(raised.value) and str(raised.value).endswith("Play it again")


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_field_too_few_or_too_many_is_named(name: str) -> None:
    whole = json.loads(lines(name)[0])
    first = "key" if name == "assessor_selection" else "case"
    for change, says in (({}, f"no {first}"), (whole | {"surprise": 1}, "unknown: surprise")):
        with pytest.raises(InputError, match=says):
            from_json(DIALOGUES[name], change, "record")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "Invalid JSON: EOF"),
        (b"nonsense", "Invalid JSON"),
        (b"\xff{}", "Invalid JSON"),
        (b"[]", "a list (expected an object)"),
        (b"null", "null (expected an object)"),
        (b'"{}"', "a text (expected an object)"),
        (b"[" * 100_000, "recursion limit"),
        (b'{"a":' * 100_000, "recursion limit"),
        (b'{"a": "\\ud83d', "no JSON"),
    ],
)
def test_what_is_no_record_is_one_error(text: bytes, says: str) -> None:
    for kind in DIALOGUES.values():
        with pytest.raises(InputError) as raised:
            from_json(kind, text, "record")
        assert says in str(raised.value) and raised.value.expected


def test_parsed_json_may_be_too_deep() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InputError, match="too deep"):
        from_json(Assessed, {"key": deep}, "record")
    with pytest.raises(InputError, match="no JSON"):
        from_json(Assessed, {"key": b"bytes"}, "record")


WHOLE = json.loads((BEFORE / "run/run.json").read_bytes())
NEWER = "which this Bedside does not know (expected facts that it knows). Install a newer version of Bedside"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ({"models": [{"role": "doctor"}]}, "no models.0.name"),
        ({"data": None}, "data is null"),
        ({"data": {}}, "no data.corpus"),
        ({"seeds": {"bootstrap": "0"}}, "seeds.bootstrap is a text (expected a valid integer)"),
        ({"cost_usd": True}, "cost_usd.int is True"),
        ({"wall_seconds": float("nan")}, "NaN is no number"),
        ({"options": {"near": float("nan")}}, "NaN is no number"),
        ({"surprise": 1}, f"says surprise, {NEWER}"),
        ({"surprise": 1, "data": None}, f"says surprise, {NEWER}"),
        ({"data": WHOLE["data"] | {"surprise": 1}}, f"says data.surprise, {NEWER}"),
        ({"format": 2}, "another format (expected format 1). Install a newer version of Bedside"),
        ({"format": 0}, "another format (expected format 1). Name the folder of a run"),
        ({"baseline": "other"}, "run id"),
    ],
)
def test_a_damaged_record_of_a_run_is_one_error(damage: dict[str, Any], says: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(WHOLE | damage))
    with pytest.raises(InputError) as raised:
        read_run(tmp_path)
    assert says in str(raised.value)
    (tmp_path / "run.json").write_bytes(b'{"options": ' * 100_000)
    with pytest.raises(InputError, match="not JSON"):
        read_run(tmp_path)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ({"alpha": "0.5"}, "alpha is a text (expected a valid number)"),
        ({"tolerance": float("inf")}, "tolerance is inf (expected a finite number)"),
        ({"reveal": {"deltas": {}}}, "no reveal.weights"),
        ({"reveal": {"weights": {}}}, "reveal.weights: no weight for 'bias'"),
        (
            {"reveal": {"weights": {"bias": 1, "surprise": 1}}},
            "reveal.weights: unknown inputs: surprise (expected bias",
        ),
        ({"alpha": 2}, "alpha is 2.0 (expected a number in [0, 1])"),
        ({"low": 0.9, "high": 0.1}, "low (0.9) is above high (0.1) (expected low at most as large as high)"),
        ({"reveal": {"weights": "heavy"}}, "reveal.weights is a text"),
    ],
)
def test_a_damaged_policy_is_one_error(damage: dict[str, Any], says: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(json.loads((BEFORE / "policy.json").read_bytes()) | damage))
    with pytest.raises(InputError) as raised:
        PolicyConfig.read(path)
    assert says in str(raised.value) and str(raised.value).startswith(str(path))


# --- One rule of trust ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Inner:
    secret: str = field(repr=False)
    share: float = 0.0
    cost: int | float | None = None


@dataclass(frozen=True)
class Whole:
    inner: tuple[Inner, ...]
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.inner) > 2:
            raise InputError("Whole", found="too many", expected="two")


def test_an_error_tells_no_text_not_even_a_key() -> None:
    secret = "She is afraid of needles."
    good: dict[str, Any] = {"secret": secret}
    damages: list[Any] = [
        {"inner": secret},
        {"inner": [secret]},
        {"inner": [good | {"share": secret}]},
        {"inner": [good | {"cost": secret}]},
        {"inner": [good | {secret: 1}]},
        {"inner": [good], secret: {}},
        {"inner": [good | {"share": {secret: 1}}]},
        [secret],
    ]
    for damage in damages:
        for text in (json.dumps(damage), json.dumps(damage)[:-1]):
            with pytest.raises(InputError) as raised:
                from_json(Whole, text.encode(), "record")
            assert "afraid" not in str(raised.value) and raised.value.__cause__ is None
    with pytest.raises(TypeError) as wrong:
        to_json(replace(Inner(secret), share=secret))  # type: ignore[arg-type]
    assert "afraid" not in str(wrong.value)


def test_numbers_stay_what_they_are_and_half_a_letter_is_read_as_it_was_written() -> None:
    record = Whole((Inner("half \ud83d a letter", 1.0, 0), Inner("", 0.5, 0.0)), {"a": [1, {"b": None}]})
    text = json.dumps(to_json(record))
    assert '"cost": 0}' in text and '"cost": 0.0}' in text
    assert from_json(Whole, text.encode(), "record") == record
    assert from_json(Whole, to_json(record), "record") == record


def test_an_error_of_the_record_itself_stays_as_it_is() -> None:
    with pytest.raises(InputError, match="Whole: too many"):
        from_json(Whole, to_json(Whole((Inner(""),))) | {"inner": [{"secret": ""}] * 3}, "record")
