"""From embeddings to the cells of the retrieval tables: right numbers under the published keys, with their tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from baselines.medlaybench_v.embeddings import Embedded, Embeddings, unique_captions
from baselines.medlaybench_v.ranking import recall_at_k
from baselines.medlaybench_v.retrieval import (
    POOLED,
    CaptionRows,
    adjusted,
    evaluate,
    figure_a4,
    model_means,
)
from baselines.results.published import MODELS, published
from baselines.results.run import DataUsed, Result, RunRecord
from baselines.statistics.resampling import bootstrap_means
from baselines.statistics.significance import benjamini_hochberg, wilson_interval
from loaders.errors import InputError

RECORD = RunRecord(baseline="retrieval", data=DataUsed("medlaybench-v", "test", "v1.0.0", "ab" * 32))
CODES = ["DRXR"] * 40 + ["DRCT"] * 60 + ["DRMR"] * 25 + ["DRUS"] * 15 + ["DRCO"] * 20
SIZE = len(CODES)
FOUR = "test; caption says four modalities (X-Ray, CT, MRI, Ultrasound)"


def rows(**changes: Any) -> CaptionRows:
    content: dict[str, Any] = {
        "modality": CODES,
        "expert_caption": [f"expert {row}" for row in range(SIZE)],
        "layman_caption": [f"layman {row}" for row in range(SIZE)],
    }
    return CaptionRows(**(content | changes))


def embeddings(seed: int = 0, width: int = 12) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(seed)
    images = generator.standard_normal((SIZE, width))
    expert = images + generator.standard_normal((SIZE, width))
    layman = expert + generator.standard_normal((SIZE, width)) * 0.6
    return images.astype(np.float32), expert.astype(np.float32), layman.astype(np.float32)


def run(*arrays: NDArray[Any], **changes: Any) -> list[Result]:
    captions = changes.pop("rows", None) or rows()
    seeds, model = {"bootstrap": changes.pop("seed", 0)}, changes.pop("model", "BiomedCLIP")
    options = {"k": changes.pop("ks", (1, 5, 10)), "method": "SCGR (Ours)", "resamples": 400}
    record = replace(changes.pop("record", RECORD), options=options | changes, seeds=seeds)
    return evaluate(embedded(captions, *(arrays or embeddings())), captions, record=record, model=model)


def embedded(rows: CaptionRows, images: NDArray[Any], expert: NDArray[Any], layman: NDArray[Any]) -> Embeddings:
    """Given vectors of the images and of the distinct captions as those of an encoder."""
    none_cut = np.zeros(rows.size, dtype=np.bool_)
    texts = {
        "expert": Embedded(expert, unique_captions(rows.expert_caption)[1], none_cut),
        "layman": Embedded(layman, unique_captions(rows.layman_caption)[1], none_cut),
    }
    return Embeddings(Embedded(images, np.arange(len(images)), none_cut), texts, encoded=0, damaged=0)


def cell(results: Sequence[Result], table: str, setting: str, column: str, where: str) -> Result:
    found = [r for r in results if (r.table, r.setting, r.column, r.split_or_group) == (table, setting, column, where)]
    assert len(found) == 1, f"{len(found)} of {setting} {column} {where}"
    return found[0]


def test_every_published_cell_is_joined_by_key() -> None:
    results = [result for at, model in enumerate(MODELS) for result in run(*embeddings(at), model=model)]
    results += model_means(results)
    own = {result.key: result for result in results}
    assert len(own) == len(results)
    for table, count in (("Table 3", 96), ("Table A3", 48), ("Table A4", 18), ("Table 5", 2)):
        cells = [one for one in published("MedLayBench-V", table) if not one.setting.startswith("LLM")]
        assert len(cells) == count
        for one in cells:
            mine = own[one.key]
            assert (mine.unit, mine.direction) == (one.unit, one.direction) and mine.value is not None
    for method, panel in (("SCGR (Ours)", "Figure A4i "), ("LLM Only", "Figure A4ii ")):
        bars = {bar.key for bar in figure_a4(results, method=method)}
        labels = {one.key for one in published("MedLayBench-V") if one.table.startswith(panel + "(assets")}
        assert len(labels) == 96 and labels == bars
    assert {bar.setting for bar in figure_a4(results, method="mine")} == {"Expert", "Layman (mine)"}


def test_ablations_are_joined_by_the_method() -> None:
    own = {result.key for result in run(method="LLM Only")}
    wanted = [
        one.key
        for one in published("MedLayBench-V", "Table A4")
        if (one.row, one.setting) == ("BiomedCLIP", "LLM Only")
    ]
    assert len(wanted) == 1 and wanted[0] in own


def test_table_3_is_the_unweighted_mean_of_four_pools() -> None:
    images, expert, layman = embeddings()
    results = run(images, expert, layman)
    for setting, texts in (("Expert", expert), ("Layman", layman)):
        by_pool = {}
        for code, name in POOLED.items():
            chosen = np.flatnonzero(np.array(CODES) == code)
            by_pool[name] = recall_at_k(images[chosen], texts[chosen], ks=(1, 5, 10))
        for at, k in enumerate((1, 5, 10)):
            for direction in ("i2t", "t2i"):
                column = f"{direction.upper()} Recall@{k}"
                hits = {name: getattr(recall, direction)[at] for name, recall in by_pool.items()}
                mean = cell(results, "Table 3", setting, column, FOUR)
                assert mean.value == pytest.approx(100 * np.mean([one.mean() for one in hits.values()]), abs=1e-9)
                assert mean.n == 140 and mean.numerator is None
                weighted = cell(results, "Table 3", setting, column, "test; mean of the four pools weighted by size")
                assert weighted.value == pytest.approx(100 * np.concatenate(list(hits.values())).mean(), abs=1e-9)
                # Hits of the pools sum to the total.
                pools = [cell(results, "Table 3", setting, column, f"test; {name} pool") for name in hits]
                assert sum(pool.numerator or 0 for pool in pools) == weighted.numerator
                assert sum(pool.denominator or 0 for pool in pools) == weighted.denominator == 140
                for pool, one in zip(pools, hits.values(), strict=True):
                    assert pool.value == pytest.approx(100 * one.mean(), abs=1e-9) and pool.n == len(one)
                    assert pool.ci95 is not None and pool.ci95[0] <= pool.value <= pool.ci95[1]


def test_tables_a3_and_a4_are_one_pool_of_all_rows() -> None:
    images, expert, layman = embeddings()
    results = run(images, expert, layman)
    hits = {}
    for setting, texts in (("Expert", expert), ("Layman", layman)):
        recall = recall_at_k(images, texts, ks=(1, 5, 10))
        hits[setting] = (recall.i2t + recall.t2i) / 2
    for at, k in enumerate((1, 5, 10)):
        expert_cell = cell(results, "Table A4", "Expert", f"Average R@{k} (I2T and T2I)", "test")
        layman_cell = cell(results, "Table A4", "SCGR (Ours)", f"Average R@{k} (I2T and T2I)", "test")
        delta = cell(results, "Table A3", "Layman - Expert", f"R@{k} delta", "overall test")
        assert expert_cell.value == pytest.approx(100 * hits["Expert"][at].mean())
        assert layman_cell.value == pytest.approx(100 * hits["Layman"][at].mean())
        assert delta.value == pytest.approx((layman_cell.value or 0) - (expert_cell.value or 0))
        assert delta.value < 0 and delta.unit == "percentage points" and delta.n == delta.denominator == SIZE
        difference = hits["Layman"][at] - hits["Expert"][at]
        for count in (400, 1000):
            p = cell(results, "Table A3", f"bootstrap n={count}, two-sided", f"R@{k} p-value", "overall test")
            assert p.value == bootstrap_means(difference, resamples=count, seed=0).p_values()[0] and p.unit == "p"
        mcnemar = cell(results, "Table A3", "exact McNemar", f"R@{k} p-value", "overall test")
        better, worse = (difference > 0).sum(), (difference < 0).sum()
        assert mcnemar.note.endswith(f"better {better}, worse {worse}") and mcnemar.value is not None
        assert (mcnemar.value < 0.05) == (abs(int(better) - int(worse)) > 2 * np.sqrt(better + worse))
    assert len({result.run_id for result in results}) == 1


def test_parity_p_is_not_given_twice() -> None:
    results = run(resamples=1000)
    assert len({result.key for result in results}) == len(results)


def test_same_seed_same_results_and_another_seed_other_intervals() -> None:
    assert run(seed=1) == run(seed=1)
    one, other = run(seed=1), run(seed=2)
    assert [r.value for r in one if r.unit != "p"] == [r.value for r in other if r.unit != "p"]
    assert [r.ci95 for r in one] != [r.ci95 for r in other]


def test_equal_registers_have_no_delta() -> None:
    images, expert, _ = embeddings()
    same = rows(layman_caption=rows().expert_caption)
    results = run(images, expert, expert, rows=same)
    for result in results:
        if "delta" in result.column:
            # No pair differs here, which leaves room for some that do.
            assert result.value == 0 and result.ci95 and -result.ci95[0] == result.ci95[1] > 0
        if result.unit == "p":
            assert result.value == 1
    mean = cell(results, "Table 3", "Layman - Expert", "I2T Recall@1 delta", FOUR)
    # A mean of four pools is worth four times the smallest of them.
    assert mean.ci95 and mean.ci95[1] == pytest.approx(100 * wilson_interval(0, 4 * CODES.count("DRUS"))[1])


def test_a_mean_of_perfect_pools_is_no_surer_than_their_articles() -> None:
    images = embeddings()[0]
    perfect = run(images, images, images, rows=rows(article_id=[f"PMC{row % 8}" for row in range(SIZE)]))
    mean = cell(perfect, "Table 3", "Expert", "I2T Recall@1", FOUR)
    assert mean.value == 100 and mean.ci95 == pytest.approx([100 * end for end in wilson_interval(8, 8)])


def test_articles_widen_the_intervals_and_leave_the_parity_p() -> None:
    # Ten figures an article, and their captions are near copies: hits come in clumps.
    generator = np.random.default_rng(3)
    sources = generator.standard_normal((16, 12))[np.arange(SIZE) // 10]
    images = sources + generator.standard_normal((SIZE, 12)) * 0.3
    good = generator.random(16)[np.arange(SIZE) // 10] < 0.5
    expert = np.where(good[:, None], images, generator.standard_normal((SIZE, 12)))
    layman = expert + generator.standard_normal((SIZE, 12)) * 0.2
    articles = [f"PMC{row // 10}" for row in range(SIZE)]
    plain = run(images, expert, layman)
    clustered = run(images, expert, layman, rows=rows(article_id=articles))
    one, other = (
        cell(results, "Table A4", "Expert", "Average R@1 (I2T and T2I)", "test") for results in (plain, clustered)
    )
    assert one.value == other.value and one.ci95 is not None and other.ci95 is not None
    assert other.ci95[1] - other.ci95[0] > 1.5 * (one.ci95[1] - one.ci95[0])
    parity = [
        cell(results, "Table A3", "bootstrap n=1000, two-sided", "R@1 p-value", "overall test").value
        for results in (plain, clustered)
    ]
    assert parity[0] == parity[1]
    noted = cell(clustered, "Table A3", "bootstrap n=400 of articles, two-sided", "R@1 p-value", "overall test")
    assert noted.note == "articles resampled"
    # Nor may the interval beside the paper's p, of rows, seem to be of rows.
    deltas = [cell(one, "Table A3", "Layman - Expert", "R@1 delta", "overall test") for one in (clustered, plain)]
    assert [one.note for one in deltas] == ["articles resampled", ""]
    # As many resamples as the paper's: its key still holds the p of rows, and that of articles stands beside it.
    same = run(images, expert, layman, rows=rows(article_id=articles), resamples=1000)
    paper = cell(same, "Table A3", "bootstrap n=1000, two-sided", "R@1 p-value", "overall test")
    own = cell(same, "Table A3", "bootstrap n=1000 of articles, two-sided", "R@1 p-value", "overall test")
    assert (paper.value, paper.note[:14], own.note) == (parity[0], "rows resampled", "articles resampled")
    assert own.value != paper.value and len({result.key for result in same}) == len(same)
    unknown = run(images, expert, layman, rows=rows(article_id=[None] * SIZE))
    assert unknown == plain


def test_a_row_without_article_among_others_raises_before_anything_is_embedded() -> None:
    with pytest.raises(InputError, match="row 3: no id"):
        rows(article_id=["a"] * 3 + [None] + ["b"] * (SIZE - 4))


def test_articles_that_rarely_hold_every_modality_leave_numbers_without_an_interval() -> None:
    """Of four articles with one modality each, a resample has all four in one case of ten."""
    plain = run()
    found = run(rows=rows(article_id=[f"PMC of {code}" for code in CODES]))
    value = {result.key: result.value for result in plain}
    pools = {FOUR, *(f"test; {name} pool" for name in POOLED.values())}
    four = [result for result in found if result.split_or_group in pools]
    assert len(four) > 5 * 12
    for result in four:
        assert "most resamples miss a modality" in result.note and result.ci95 is None
        assert result.value == (None if result.unit == "p" else value[result.key])
    weighted = "test; mean of the four pools weighted by size"
    assert all(result.value is not None for result in found if result.split_or_group in (weighted, "test; one pool"))
    assert len({result.key for result in found}) == len(found) == len(plain)


def test_captions_that_repeat() -> None:
    images, expert, layman = embeddings()
    captions = [f"expert {row % 40 if row < 80 else row}" for row in range(SIZE)]  # 40 captions twice each
    distinct, index = unique_captions(captions)
    assert len(distinct) == SIZE - 40 and [distinct[at] for at in index] == captions
    short = expert[[captions.index(caption) for caption in distinct]]
    by_caption = run(images, short, layman, rows=rows(expert_caption=captions))
    where = "test; one pool"
    ceiling = cell(by_caption, "Table 3", "Expert", "Recall@1 ceiling", where)
    assert ceiling.value == pytest.approx(100 * (80 * 0.5 + 80) / SIZE)
    assert cell(by_caption, "Table 3", "Expert", "Recall@5 ceiling", where).value == 100
    assert cell(by_caption, "Table 3", "Layman", "Recall@1 ceiling", where).value == 100
    for direction in ("I2T", "T2I"):
        instance = cell(by_caption, "Table 3", "Expert", f"{direction} Recall@1", where).value
        group = cell(by_caption, "Table 3", "Expert", f"{direction} Recall@1, same caption counts", where).value
        assert instance is not None and group is not None and group > instance
        layman_cells = [
            cell(by_caption, "Table 3", "Layman", f"{direction} Recall@1{more}", where).value
            for more in ("", ", same caption counts")
        ]
        assert layman_cells[0] == layman_cells[1]


def test_a_small_modality_is_not_computed_and_says_why() -> None:
    codes = ["DRCT"] * (SIZE - 43) + ["DRXR"] * 20 + ["DRMR"] * 20 + ["DRUS"] * 3
    results = run(rows=rows(modality=codes))
    four = [result for result in results if result.split_or_group == FOUR]
    assert len(four) == 12 and all(result.value is None for result in four)
    assert four[0].note == "not computed: Ultrasound has 3 rows, and the largest k is 10"
    assert cell(results, "Table A4", "Expert", "Average R@1 (I2T and T2I)", "test").value is not None
    assert all(result.value is not None for result in run(rows=rows(modality=codes), ks=(1, 3)))
    nothing = run(rows=rows(modality=["DRCO"] * SIZE))
    assert {result.value for result in nothing if result.split_or_group == FOUR} == {None}


def test_benjamini_hochberg_over_the_table() -> None:
    results = [result for at, model in enumerate(MODELS[:3]) for result in run(*embeddings(at), model=model)]
    found = adjusted(results)
    assert len(found) == 27 and len({result.key for result in [*results, *found]}) == len(results) + 27
    for setting in ("bootstrap n=400, two-sided", "bootstrap n=1000, two-sided", "exact McNemar"):
        raw = [r.value for r in results if (r.table, r.setting, r.unit) == ("Table A3", setting, "p")]
        mine = [r.value for r in found if r.setting == f"{setting}, Benjamini-Hochberg over 9"]
        assert mine == benjamini_hochberg(np.array(raw, dtype=float)).tolist()
    assert adjusted(found) == []


def test_model_means_need_all_eight() -> None:
    results = [result for at, model in enumerate(MODELS) for result in run(*embeddings(at), model=model)]
    found = model_means(results)
    mean = cell(found, "Table 5", "Expert", "Average R@1 (I2T and T2I)", "test")
    own = [r.value or 0 for r in results if (r.table, r.setting, r.column) == ("Table A4", "Expert", mean.column)]
    assert mean.value == pytest.approx(np.mean(own)) and mean.n == 160 and mean.row == "Mean of the 8 models"
    some = model_means([result for result in results if result.row != "PMC-CLIP"])
    assert {result.value for result in some} == {None}
    assert {result.note for result in some} == {"not computed: no result of PMC-CLIP"}
    other = model_means([replace(result, row="my-clip") for result in results])
    assert other == []


def test_results_from_stand_ins_are_stand_ins() -> None:
    stand_in = replace(RECORD, stand_in="random weights")
    results = run(record=stand_in)
    assert {result.provenance for result in results} == {"stand-in"}
    for function in (adjusted, model_means):
        assert {result.provenance for result in function(results)} == {"stand-in"}


def test_a_k_beyond_the_split_is_refused() -> None:
    with pytest.raises(InputError, match="ks: .*the pool's 160 rows"):
        run(ks=(1, 161))


def test_rows_that_cannot_be_ranked_are_one_clear_error() -> None:
    with pytest.raises(InputError, match="1 row .*one alone has no other"):
        CaptionRows(["DRCT"], ["a"], ["b"])
    with pytest.raises(InputError, match="expert_caption, row 1: ' '"):
        CaptionRows(["DRCT", "DRCT"], ["a", " "], ["c", "d"])
    with pytest.raises(InputError, match="layman_caption, row 0: None"):
        CaptionRows(["DRCT", "DRCT"], ["a", "b"], [None, "d"])  # type: ignore[list-item]
    with pytest.raises(InputError, match="modality, row 1: 'CT'"):
        CaptionRows(["DRCT", "CT"], ["a", "b"], ["c", "d"])
    with pytest.raises(InputError, match="layman_caption: 1 entries"):
        CaptionRows(["DRCT", "DRCT"], ["a", "b"], ["c"])
