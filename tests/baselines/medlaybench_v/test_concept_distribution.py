"""Tables A1 and A2 and Figure A2 counted by hand, from a release of ours and from the authors', and what is refused."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from baselines.medlaybench_v import concept_distribution
from baselines.medlaybench_v.concept_distribution import MODALITY_ROWS, NAMES, evaluate
from baselines.results.published import published
from baselines.results.run import DataUsed, Result, read_run, write_run
from loaders.errors import InputError
from loaders.imaging import method_of
from loaders.medlaybench_v import MODALITIES, from_official

CT, XRAY, CHEST, PA = "C0040405", "C1306645", "C0817096", "C1996865"
TUMOUR = "C0027651"
count = partial(concept_distribution.count, data=DataUsed("medlaybench-v", "test", "v1.0.0", "ab" * 32))


def concept(surface: str, start: int = 0, cui: str | None = None) -> dict[str, Any]:
    return {"surface": surface, "start": start, "end": start + len(surface), "cui": cui, "lay": None, "source": "x"}


def row(number: int, split: str, code: str, cuis: list[str], *concepts: dict[str, Any]) -> dict[str, Any]:
    return {
        "image_id": f"id{number}",
        "split": split,
        "modality": code,
        "expert_caption": "Expert.",
        "layman_caption": "Lay.",
        "cuis": cuis,
        "concepts": list(concepts),
    }


ROWS = [
    # A term twice in a caption counts once, whatever its case; "chest" is the concept of that name, not a second one.
    row(1, "train", "DRCT", [CT, CHEST], concept("Abscess"), concept("abscess", 9), concept("chest", 20)),
    row(2, "train", "DRCT", [CT], concept("CT scan", 3, CT), concept("abscess", 9)),
    # Not in the text: the name of a concept of the row, no term.
    row(3, "validation", "DRCT", [CT, TUMOUR], concept("computed tomography", -1, CT), concept("Neoplasm", -1, TUMOUR)),
    row(4, "test", "DRXR", [XRAY, PA, CHEST], concept("mass", 4, TUMOUR)),
    row(5, "test", "DRCO", []),
]
OFFICIAL = [{**one, "concepts": []} for one in ROWS]


def cells(results: list[Result], table: str) -> dict[tuple[str, str, str, str], Result]:
    found = {
        (result.split_or_group, result.setting, result.row, result.column): result
        for result in results
        if result.table == table
    }
    assert len(found) == sum(result.table == table for result in results)
    return found


def test_modalities_by_split_and_overall() -> None:
    found = cells(evaluate(count(ROWS)), "Table A1")
    assert found["all splits", "DRCT", "Computed Tomography (CT)", "Count"].value == 3
    assert found["train", "DRCT", "Computed Tomography (CT)", "Count"].value == 2
    assert found["test", "DRCO", "Combined Modality", "Count"].value == 1
    assert found["all splits", "DRPE", "Positron Emission Tomography (PET)", "Count"].value == 0
    assert found["all splits", "Total", "Total", "Count"].value == 5
    share = found["all splits", "DRCT", "Computed Tomography (CT)", "Share"]
    assert (share.numerator, share.denominator, share.value) == (3, 5, 60)


def test_concepts_of_a_modality_are_umls_concepts_by_name_and_terms_once_a_caption() -> None:
    concepts = count(ROWS)
    assert concepts.by_modality["DRCT"] == {
        "X-Ray Computed Tomography": 3,
        "abscess": 2,
        "Chest": 1,
        "Neoplasm": 1,
        "ct scan": 1,
    }
    assert list(concepts.by_modality["DRCT"])[:3] == ["X-Ray Computed Tomography", "abscess", "Chest"]
    assert concepts.every["Chest"] == 2
    assert concepts.cuis == {
        f"X-Ray Computed Tomography ({CT})": 3,
        f"Chest ({CHEST})": 2,
        f"Neoplasm ({TUMOUR})": 1,
        f"Plain x-ray ({XRAY})": 1,
        f"Postero-Anterior (PA) ({PA})": 1,
    }
    assert concepts.terms == {"abscess": 2, "chest": 1, "ct scan": 1, "mass": 1}


def test_ranks_and_published_concepts_that_rank_otherwise() -> None:
    found = cells(evaluate(count(ROWS)), "Table A2")
    assert found["CT", "rank 2", "abscess", "Frequency"].value == 2
    assert found["All modalities", "rank 1", "X-Ray Computed Tomography", "Frequency"].value == 3
    # The paper has "CT scan" at rank 2; here it is the fifth.
    theirs = found["CT", "rank 2", "CT scan", "Frequency"]
    assert theirs.value == 1 and theirs.note.startswith("rank 5 here")
    absent = found["CT", "rank 4", "arrow", "Frequency"]
    assert absent.value == 0 and absent.note.startswith("no concept here")
    pa = found["Plain X-Ray", "rank 4", "Postero-Anterior (PA)", "Frequency"]
    assert pa.value == 1


@pytest.mark.parametrize("table", ["Table A1", "Table A2"])
def test_every_published_cell_has_one_of_ours_with_its_unit_and_direction(table: str) -> None:
    theirs = {number.key: (number.unit, number.direction) for number in published("MedLayBench-V", table)}
    ours = {result.key: (result.unit, result.direction) for result in evaluate(count(ROWS))}
    folded = {tuple(part.casefold() for part in key): facts for key, facts in ours.items()}
    assert len(folded) == len(ours) and len(theirs) in (8, 30)
    assert {key: folded.get(tuple(part.casefold() for part in key)) for key in theirs} == theirs


def test_the_authors_release_has_umls_concepts_only_and_says_so() -> None:
    concepts = count(OFFICIAL)
    assert concepts.terms is None and "no terms" in concepts.source
    results = evaluate(concepts)
    found = cells(results, "Table A2")
    assert found["CT", "rank 1", "X-Ray Computed Tomography", "Frequency"].value == 3
    arrow = found["CT", "rank 4", "arrow", "Frequency"]
    assert arrow.value is None and arrow.note.startswith("not computed: a term; ")
    # A concept of the paper that no caption has is none of ours, but a UMLS concept: that is a count of 0.
    assert found["MRI", "rank 1", "Magnetic Resonance Imaging", "Frequency"].value == 0
    # A name that only captions give: without them, the CUI.
    assert found["CT", "rank 2", TUMOUR, "Frequency"].value == 1
    assert cells(results, "Figure A2")["all splits", "long tail", "Terms", "Distinct"].value is None


def test_rows_as_the_authors_publish_them() -> None:
    raw = {"image": None, "cuis": "['C1306645', 'C1996865']", "expert_caption": "A.", "layman_caption": "B."}
    rows = [from_official(raw, split="test", position=number) for number in range(3)]
    rows.append(from_official(raw | {"cuis": "['nan']"}, split="test", position=3))
    concepts = count(rows)
    assert concepts.pairs == {"test": {"DRXR": 3, "DRCO": 1}}
    assert concepts.by_modality["DRXR"] == {"Plain x-ray": 3, "Postero-Anterior (PA)": 3}


def test_one_split_joins_no_number_of_the_whole() -> None:
    results = evaluate(count([one for one in ROWS if one["split"] == "test"]))
    theirs = {number.key for table in ("Table A1", "Table A2") for number in published("MedLayBench-V", table)}
    assert {result.key for result in results}.isdisjoint(theirs)
    found = cells(results, "Table A2")
    assert found["Plain X-Ray, test", "rank 1", "Chest", "Frequency"].n == 1
    assert cells(results, "Table A1")["test", "Total", "Total", "Count"].value == 2


def test_the_long_tail() -> None:
    concepts = count(ROWS)
    found = cells(evaluate(concepts), "Figure A2")
    assert found["all splits", "long tail", "UMLS concepts", "Distinct"].value == 5
    once = found["all splits", "long tail", "UMLS concepts", "Concepts of one caption"]
    assert (once.numerator, once.denominator, once.value) == (3, 5, 60)
    top = found["all splits", "long tail", "Terms", "Share of the top 15 in all mentions"]
    assert (top.numerator, top.denominator) == (5, 5)
    assert found["all splits", "Terms, rank 1", "abscess", "Frequency"].value == 2
    facts = concepts.figure()
    assert facts["cuis"]["frequencies"] == [3, 2, 1, 1, 1]
    assert facts["terms"]["top"][0] == ("abscess", 2)
    assert json.loads(json.dumps(facts))["terms"]["frequencies"] == [2, 1, 1, 1]


def test_the_tail_beyond_the_top_fifteen() -> None:
    rows = [row(at, "test", "DRCT", [], *(concept(f"term {name}") for name in range(at + 1))) for at in range(20)]
    found = cells(evaluate(count(rows)), "Figure A2")
    # Term i is in 20 - i captions: 20 + 19 + ... + 1 = 210 mentions, of which 5 + 4 + 3 + 2 + 1 are not of the top 15.
    top = found["test", "long tail", "Terms", "Share of the top 15 in all mentions"]
    assert (top.numerator, top.denominator) == (195, 210)
    assert ("test", "Terms, rank 15", "term 14", "Frequency") in found
    assert ("test", "Terms, rank 16", "term 15", "Frequency") not in found
    assert found["test", "long tail", "UMLS concepts", "Distinct"].note == "not computed: no row has one"


def test_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    one, other = count(ROWS), count(ROWS[::-1])
    assert one.by_modality == other.by_modality and list(one.every) == list(other.every)
    assert [result.as_row() for result in evaluate(one)] == [result.as_row() for result in evaluate(other)]
    record = evaluate(one, stand_in="sample data")[0].record
    assert record is not None and record.stand_in
    write_run(tmp_path, record, evaluate(one, stand_in="sample data"))
    assert read_run(tmp_path)[0] == record


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"split": "dev"}, "id2: split 'dev'"),
        ({"split": None}, "id2: split None"),
        ({"modality": "CT"}, "id2: modality 'CT'"),
        ({"layman_caption": " "}, "id2: no layman_caption"),
        ({"expert_caption": None}, "id2: no expert_caption"),
        ({"cuis": ["pneumonia"]}, "id2: 'pneumonia' among its CUIs"),
        ({"cuis": 3}, "id2: cuis of type int"),
    ],
)
def test_a_row_that_cannot_be_counted_is_named(changed: dict[str, Any], found: str) -> None:
    with pytest.raises(InputError) as error:
        count([ROWS[0], ROWS[1] | changed])
    assert found in str(error.value)


def test_no_rows_are_an_error() -> None:
    with pytest.raises(InputError, match="none"):
        count([])


def test_labels_fit_the_corpus() -> None:
    assert list(MODALITY_ROWS) == [modality.code for modality in sorted(MODALITIES, key=_order)]
    for modality in MODALITIES:
        for cui in modality.cuis:
            assert cui in NAMES and method_of([cui], "").code == modality.code


def _order(modality: Any) -> int:
    return [number.setting for number in published("MedLayBench-V", "Table A1")].index(modality.code)
