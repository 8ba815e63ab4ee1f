"""Figure A3 from vectors of known angles: cosines, distances, other pairs, groups, projection, what is refused."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from baselines.medlaybench_v import embedding_space
from baselines.medlaybench_v.embedding_space import (
    COSINE,
    EUCLIDEAN,
    all_models,
    evaluate,
    histograms,
    measure,
    project,
)
from baselines.results.published import published
from baselines.results.run import DataUsed, Result, RunRecord
from loaders.errors import InputError
from tests.parts.processes import printed

RECORD = RunRecord(
    baseline="embedding-space",
    data=DataUsed("medlaybench-v", "test", None, "ab" * 32),
    options={"resamples": 1000},
    seeds={"bootstrap": 0},
)

# Angles between the captions of the pairs: 0, 60, 90 and 180 degrees; lengths that must not matter.
EXPERT = np.array([[2.0, 0.0], [1.0, 0.0], [0.0, 3.0], [1.0, 0.0]])
LAYMAN = np.array([[5.0, 0.0], [0.5, np.sqrt(0.75)], [7.0, 0.0], [-4.0, 0.0]])
CODES = ["DRCT", "DRCT", "DRXR", "DRCO"]


def by_cell(results: list[Result]) -> dict[tuple[str, str], Result]:
    cells = {(result.setting, result.column): result for result in results}
    assert len(cells) == len(results)
    return cells


def pairs(count: int, seed: int = 0) -> tuple[Any, Any, list[str]]:
    generator = np.random.default_rng(seed)
    expert = generator.normal(size=(count, 8)).astype(np.float32)
    layman = expert + 0.1 * generator.normal(size=(count, 8)).astype(np.float32)
    return expert, layman, [["DRCT", "DRXR", "DRPE"][row % 3] for row in range(count)]


def test_cosines_and_distances_of_known_angles() -> None:
    space = measure(EXPERT, LAYMAN, CODES)
    assert space.cosine == pytest.approx([1, 0.5, 0, -1])
    assert space.euclidean == pytest.approx([0, 1, np.sqrt(2), 2])
    assert {group: rows.tolist() for group, rows in space.groups.items()} == {
        "": [0, 1, 2, 3],
        "CT": [0, 1],
        "X-Ray": [2],
        "Combined": [3],
    }


def test_other_pairs_are_the_mean_over_every_expert_and_every_other_lay_caption() -> None:
    expert, layman, codes = pairs(30)
    space = measure(expert, layman, codes)
    left = expert.astype(np.float64) / np.linalg.norm(expert.astype(np.float64), axis=1)[:, None]
    right = layman.astype(np.float64) / np.linalg.norm(layman.astype(np.float64), axis=1)[:, None]
    for group, rows in space.groups.items():
        scores = [left[i] @ right[j] for i in rows for j in rows if i != j]
        assert space.others[group] == pytest.approx(np.mean(scores), abs=1e-12)
    assert measure(EXPERT, LAYMAN, CODES).others["X-Ray"] is None


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    expert, layman, codes = pairs(50)
    whole = measure(expert, layman, codes)
    monkeypatch.setattr(embedding_space, "_BLOCK", 7)
    parts = measure(expert, layman, codes)
    assert (parts.cosine == whole.cosine).all() and (parts.euclidean == whole.euclidean).all()
    for group, other in whole.others.items():
        assert parts.others[group] == pytest.approx(other, abs=1e-12)


def test_cells_by_hand() -> None:
    cells = by_cell(evaluate(measure(EXPERT, LAYMAN, CODES), record=RECORD, model="BiomedCLIP"))
    assert cells["", COSINE].value == pytest.approx(0.125)
    assert cells["", f"{COSINE}, 50% quantile"].value == pytest.approx(0.25)
    assert cells["", EUCLIDEAN].value == pytest.approx((3 + np.sqrt(2)) / 4)
    assert cells["CT", COSINE].value == pytest.approx(0.75) and cells["CT", COSINE].n == 2
    interval = cells["", COSINE].ci95
    assert interval is not None and -1 <= interval[0] < 0.125 < interval[1] <= 1
    # One pair: a value, no interval, no other pair.
    assert cells["X-Ray", EUCLIDEAN].value == pytest.approx(np.sqrt(2))
    assert cells["X-Ray", EUCLIDEAN].ci95 is None
    alone = cells["X-Ray", f"{COSINE}, other pairs"]
    assert alone.value is None and alone.note == "not computed: one pair, hence no other"
    assert cells["", COSINE].unit == "cosine" and cells["", EUCLIDEAN].unit == "distance"


def test_equal_captions_are_at_distance_zero_whatever_the_other_pairs() -> None:
    expert, _, codes = pairs(12)
    cells = by_cell(evaluate(measure(expert, 3 * expert, codes), record=RECORD, model="m"))
    assert cells["", COSINE].value == pytest.approx(1, abs=1e-12)
    assert cells["", f"{EUCLIDEAN}, 95% quantile"].value == pytest.approx(0, abs=1e-7)
    other = cells["", f"{COSINE}, other pairs"].value
    assert other is not None and other < 0.5


def test_whole_articles_are_drawn() -> None:
    expert, layman, codes = pairs(6)
    space = measure(expert, layman, codes)
    loose = by_cell(evaluate(space, record=RECORD, model="m"))
    whole = by_cell(evaluate(space, record=RECORD, model="m", articles=["same"] * 6))
    assert loose["", COSINE].ci95 is not None and whole["", COSINE].ci95 is None  # one article has no spread


def test_histograms_count_every_pair_once_in_bins_that_the_groups_share() -> None:
    expert, layman, codes = pairs(40)
    found = histograms(measure(expert, layman, codes), bins=10)
    for kind in ("cosine", "euclidean"):
        counts = found[kind]["counts"]
        assert len(found[kind]["edges"]) == 11
        assert sum(counts[""]) == 40
        assert [sum(parts) for parts in zip(counts["CT"], counts["X-Ray"], counts["PET"], strict=True)] == counts[""]
    assert json.loads(json.dumps(found)) == found
    same = histograms(measure(EXPERT, EXPERT, CODES), bins=4)  # no spread at all
    assert sum(same["cosine"]["counts"][""]) == 4
    rounded = histograms(measure(expert, expert, codes))  # none but that of rounding
    for kind in ("cosine", "euclidean"):
        assert sum(rounded[kind]["counts"][""]) == 40 and len(rounded[kind]["edges"]) == 51


# --- All models -------------------------------------------------------------------------------------------------------


def runs(record: RunRecord, *models: str) -> list[Result]:
    results: list[Result] = []
    for number, model in enumerate(models):
        angle = 0.1 * (number + 1)
        turned = np.array([[np.cos(angle), np.sin(angle)]] * 2)
        space = measure(np.array([[1.0, 0.0]] * 2), turned, ["DRCT", "DRXR"])
        results += evaluate(space, record=record, model=model)
    return results


def test_all_models_joins_the_published_numbers() -> None:
    results = runs(RECORD, "OpenAI-CLIP-Base", "BiomedCLIP", "PMC-CLIP", "mine")
    found = all_models(results, record=RECORD)
    theirs = {
        number.key: (number.unit, number.direction) for number in published("MedLayBench-V", "Figure A3 (caption)")
    }
    assert {result.key: (result.unit, result.direction) for result in found} == theirs
    mean, low, high = (result.value for result in found)
    assert mean == pytest.approx(np.cos([0.1, 0.2, 0.3]).mean())  # not "mine", which is no model of the paper
    assert low == pytest.approx(2 * np.sin(0.05)) and high == pytest.approx(2 * np.sin(0.15))
    assert found[0].note == "of OpenAI-CLIP-Base, BiomedCLIP, PMC-CLIP" and found[0].n == 2  # pairs, as of each model
    # Of all pairs, not of a modality.
    others = [replace(one, value=0.5, ci95=None) if one.setting else one for one in results]
    assert [one.value for one in all_models(others, record=RECORD)] == [mean, low, high]


def test_all_models_is_not_computed_without_those_that_the_paper_names() -> None:
    found = all_models(runs(RECORD, "BiomedCLIP", "CoCa-Large"), record=RECORD)
    assert [result.value for result in found] == [None] * 3
    assert found[0].note == "not computed: no result of OpenAI-CLIP-Base, PMC-CLIP"


# --- Projection -------------------------------------------------------------------------------------------------------


def test_projection_keeps_captions_of_a_pair_together_and_modalities_apart() -> None:
    pytest.importorskip("sklearn")
    generator = np.random.default_rng(0)
    centres = np.repeat(np.eye(3, 8) * 5, 12, axis=0)
    expert = centres + 0.2 * generator.normal(size=(36, 8))
    layman = expert + 0.01 * generator.normal(size=(36, 8))
    codes = [["DRCT", "DRXR", "DRMR"][row // 12] for row in range(36)]
    plane = project(expert, layman, codes)
    assert plane["rows"] == list(range(36)) and plane["modality"][0] == "CT"
    experts, laymen = np.array(plane["expert"]), np.array(plane["layman"])
    of_pair = np.linalg.norm(experts - laymen, axis=1)
    apart = [np.linalg.norm(experts[i] - laymen[j]) for i in range(36) for j in range(36) if codes[i] != codes[j]]
    assert np.median(of_pair) < min(apart)
    assert json.loads(json.dumps(plane)) == plane and len(laymen) == 36


def test_projection_draws_by_its_seed() -> None:
    pytest.importorskip("sklearn")
    expert, layman, codes = pairs(40)
    one, again, other = (project(expert, layman, codes, points=12, seed=seed) for seed in (1, 1, 2))
    assert len(one["rows"]) == 12 and (np.diff(one["rows"]) > 0).all()
    assert one == again and one["rows"] != other["rows"]
    assert one["modality"] == [{"DRCT": "CT", "DRXR": "X-Ray", "DRPE": "PET"}[codes[row]] for row in one["rows"]]


_PROJECT = """
from tests.baselines.medlaybench_v.test_embedding_space import digest_of_projection
print(digest_of_projection())
"""


def digest_of_projection() -> str:
    return hashlib.sha256(json.dumps(project(*pairs(60))).encode()).hexdigest()


def test_projection_does_not_depend_on_the_threads_that_others_left() -> None:
    pytest.importorskip("sklearn")
    with threadpool_limits(limits=5):
        made = digest_of_projection()
    assert made == digest_of_projection()


@pytest.mark.long
def test_projection_does_not_depend_on_the_process_or_its_threads() -> None:
    pytest.importorskip("sklearn")
    made = printed("-c", _PROJECT, OMP_NUM_THREADS="5", OPENBLAS_NUM_THREADS="5")
    assert made.strip() == digest_of_projection()


def test_projection_of_nothing_to_show_is_refused() -> None:
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match=r"3 pairs \(expected 4 pairs at least\). Leave it out: --no-projection"):
        project(EXPERT[:3], LAYMAN[:3], CODES[:3])
    with pytest.raises(InputError, match="2 dimensions"):
        project(EXPERT[:, :1] + 9, LAYMAN[:, :1] + 9, CODES)
    with pytest.raises(InputError, match="all the same .*--no-projection"):
        project(np.ones((5, 3)), 2 * np.ones((5, 3)), ["DRCT"] * 5)
