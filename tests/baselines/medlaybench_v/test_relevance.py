"""ROUGE-L and METEOR: the values of rouge-score and NLTK bit for bit; with BLEU-4, hand-computed ones."""

from __future__ import annotations

import csv
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.medlaybench_v import relevance, wordnet
from baselines.medlaybench_v.relevance import NO_SYNONYMS, bleu, meteor, rouge_l
from baselines.medlaybench_v.wordnet import find_wordnet
from loaders.errors import InputError, MissingExtra
from scripts.bench.language import changed, nltk_values, rouge_score_values
from tests.parts.captions import made_up_captions
from tests.parts.places import shared_data

nltk = pytest.importorskip("nltk")
pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")
pytest.importorskip("rapidfuzz")

ODD = st.text(st.one_of(st.characters(), st.sampled_from("aab .,-1&\n\t;<>'")), max_size=40)


def _assert_as_the_references(hypotheses: list[str], references: list[str]) -> None:
    theirs = rouge_score_values(hypotheses, references) | nltk_values(hypotheses, references, NO_SYNONYMS)
    np.testing.assert_array_equal(rouge_l(hypotheses, references), theirs["ROUGE-L"])
    np.testing.assert_array_equal(meteor(hypotheses, references), theirs["METEOR"])


def test_equal_the_references_on_made_up_captions() -> None:
    captions = made_up_captions(300, seed=3)
    _assert_as_the_references(changed(captions, seed=4), captions)
    _assert_as_the_references(["two ribs"], ["two rib"])  # the shortest words that have a stem


@settings(max_examples=150)
@given(ODD, ODD)
def test_equal_the_references_on_any_text(hypothesis: str, reference: str) -> None:
    _assert_as_the_references([hypothesis], [reference])


def test_equal_the_references_on_real_captions() -> None:
    with shared_data("text/roco_test.csv").open(encoding="utf-8", newline="") as lines:
        captions = [row["caption"] for row in csv.DictReader(lines)][::4]
    assert len(captions) == 2045
    _assert_as_the_references(changed(captions, seed=5), captions)


def test_by_hand() -> None:
    reference, hypothesis = "a b c d e", "a b x d e"
    # n-grams matched of total: 4/5, then with one added to both 2+1/4+1, 0+1/3+1, 0+1/2+1.
    expected = 100 * (4 / 5 * 3 / 5 * 1 / 4 * 1 / 3) ** (1 / 4)
    assert bleu([hypothesis], [reference])[0] == pytest.approx(expected)
    # The longest common subsequence is "a b d e".
    assert rouge_l([hypothesis], [reference])[0] == pytest.approx(100 * 4 / 5)
    # Precision = recall = 4/5 in two chunks of four matches.
    assert meteor([hypothesis], [reference])[0] == pytest.approx(100 * 4 / 5 * (1 - 0.5 * (2 / 4) ** 3))


def test_no_pairs() -> None:
    assert bleu([], []).shape == rouge_l([], []).shape == meteor([], []).shape == (0,)


@pytest.mark.parametrize(
    ("metric", "module", "package"),
    [
        (bleu, "sacrebleu.metrics", "sacrebleu"),
        (rouge_l, "rapidfuzz.distance", "rapidfuzz"),
        (rouge_l, "nltk.stem.porter", "nltk"),
        (meteor, "nltk.translate.meteor_score", "nltk"),
    ],
)
def test_a_missing_package_is_named(metric: object, module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert callable(metric)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"^{package}: is not installed.*\[language\]"):
        metric(["a"], ["b"])


@pytest.fixture
def wordnet_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A WordNet of one synset, {tumor, tumour, neoplasm, new_growth}, as Debian lays it out: without lexnames."""
    monkeypatch.setattr(nltk.data, "path", list(nltk.data.path))
    header = "  1 WordNet 3.0 Copyright of a database made for a test\n"
    for part in ("noun", "verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text(header)
        (tmp_path / f"index.{part}").write_text(header)
        (tmp_path / f"{part}.exc").write_text("")
    offset = len(header)
    with (tmp_path / "data.noun").open("a") as data:
        data.write(f"{offset:08d} 26 n 04 tumor 0 tumour 0 neoplasm 0 new_growth 0 000 | an abnormal growth  \n")
    with (tmp_path / "index.noun").open("a") as index:
        for lemma in ("neoplasm", "new_growth", "tumor", "tumour"):
            index.write(f"{lemma} n 1 0 1 0 {offset:08d}  \n")
    return tmp_path


def test_wordnets_synonyms_match_where_there_is_a_wordnet(wordnet_folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = find_wordnet(wordnet_folder)
    assert found is not None
    assert found.name == "WordNet 3.0"
    assert meteor(["a tumour"], ["a neoplasm"], found)[0] == pytest.approx(100 * (1 - 0.5 / 8))
    assert meteor(["a tumour"], ["a neoplasm"])[0] < 50
    assert meteor(["a tumour"], ["a growth"], found)[0] == meteor(["a tumour"], ["a growth"])[0]


def test_equals_nltk_with_a_wordnet(wordnet_folder: Path) -> None:
    found = find_wordnet(wordnet_folder)
    assert found is not None
    captions = made_up_captions(400, seed=6)
    hypotheses = changed(captions, seed=7)
    ours = meteor(hypotheses, captions, found)
    np.testing.assert_array_equal(ours, nltk_values(hypotheses, captions, found.reader)["METEOR"])
    assert ours.mean() > meteor(hypotheses, captions).mean()


def test_a_folder_without_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no WordNet database: data\.noun, .*wordnet-base"):
        find_wordnet(tmp_path)


def test_a_damaged_wordnet_is_refused(wordnet_folder: Path) -> None:
    (wordnet_folder / "index.verb").write_text("run v not-a-number\n")
    with pytest.raises(InputError, match="WordNet's files cannot be read"):
        find_wordnet(wordnet_folder)


def test_without_a_named_folder_there_may_be_no_wordnet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", tmp_path / "nothing")
    assert find_wordnet() is None


def as_downloaded(folder: Path, into: Path) -> Path:
    """What `python -m nltk.downloader wordnet` leaves: an archive, and no folder beside it."""
    (into / "corpora").mkdir(parents=True)
    archive = into / "corpora" / "wordnet.zip"
    with zipfile.ZipFile(archive, "w") as made:
        made.mkdir("wordnet")
        for file in sorted(path for path in folder.iterdir() if path.is_file()):
            made.write(file, f"wordnet/{file.name}")
    return archive


def test_the_archive_that_nltk_downloads_is_found(
    monkeypatch: pytest.MonkeyPatch, wordnet_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", wordnet_folder / "nothing")
    data = tmp_path_factory.mktemp("nltk_data")
    archive = as_downloaded(wordnet_folder, data)
    monkeypatch.setattr(nltk.data, "path", [str(data)])
    found = find_wordnet()
    assert found is not None and found.name == "WordNet 3.0"
    assert meteor(["a tumour"], ["a neoplasm"], found)[0] == pytest.approx(100 * (1 - 0.5 / 8))
    for damaged in (archive.read_bytes()[:200], b"no archive"):
        archive.write_bytes(damaged)
        with pytest.raises(InputError, match="NLTK's corpora/wordnet: WordNet's files cannot be read"):
            find_wordnet()
    (wordnet_folder / "data.verb").write_text("")
    archive.unlink()
    wordnet_folder.rename(data / "corpora" / "wordnet")
    (data / "corpora" / "wordnet" / "index.verb").write_text("run v not-a-number\n")
    with pytest.raises(InputError, match="WordNet's files cannot be read"):
        find_wordnet()


def test_debians_folder_is_found(monkeypatch: pytest.MonkeyPatch, wordnet_folder: Path) -> None:
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", wordnet_folder)
    found = find_wordnet()
    assert found is not None
    assert found.synsets("tumor")[0].lemmas()[0].name() == "neoplasm"


def test_nltks_data_comes_before_debians(
    monkeypatch: pytest.MonkeyPatch, wordnet_folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = tmp_path_factory.mktemp("nltk_data")
    (data / "corpora").mkdir()
    wordnet_folder.rename(data / "corpora" / "wordnet")
    monkeypatch.setattr(nltk.data, "path", [str(data)])
    monkeypatch.setattr(wordnet, "DEBIAN_FOLDER", data / "nothing")
    found = find_wordnet()
    assert found is not None
    assert found.synsets("tumor")


def test_versions_name_what_the_values_rest_on() -> None:
    assert set(relevance.versions()) == {"sacrebleu", "rapidfuzz", "nltk"}
