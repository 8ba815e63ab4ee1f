"""Bootstrap intervals against the plain loop."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from baselines.statistics.resampling import bootstrap_means, bootstrap_ratios, paired_bootstrap, resampled_sums
from baselines.statistics.significance import (
    mcnemar_exact,
    sign_flip_test,
    wilson_interval,
)
from loaders.errors import InputError

RNG = np.random.default_rng(11)
HITS = (RNG.random((400, 5)) < 0.3).astype(np.float64)
OTHER = np.where(RNG.random((400, 5)) < 0.15, 1 - HITS, HITS)


def loop(treatment: NDArray[Any], control: NDArray[Any], resamples: int, seed: int) -> NDArray[np.float64]:
    """The plain paired bootstrap: draw rows, average the differences of the hits, one statistic at a time."""
    generator = np.random.default_rng(seed)
    found = np.empty((resamples, treatment.shape[1]))
    for resample in range(resamples):
        drawn = generator.integers(len(treatment), size=len(treatment))
        for column in range(treatment.shape[1]):
            found[resample, column] = (treatment[drawn, column] - control[drawn, column]).mean()
    return found


def test_bootstrap_of_hits_is_the_plain_loop_bit_for_bit() -> None:
    halves = (HITS + np.roll(HITS, 1, axis=1)) / 2, (OTHER + np.roll(OTHER, 1, axis=1)) / 2
    for treatment, control in ((HITS, OTHER), halves):
        found = paired_bootstrap(treatment, control, resamples=300, seed=3)
        assert (found.replicates == loop(treatment, control, 300, 3)).all()
        assert (found.estimates == (treatment - control).mean(axis=0)).all()


def test_bootstrap_of_fractions_does_not_depend_on_the_order_of_rows_or_columns() -> None:
    values = RNG.random((500, 3)) / 3
    whole = resampled_sums(values, resamples=50, seed=1)
    for column in range(3):
        alone = resampled_sums(values[:, column], resamples=50, seed=1)
        assert (whole[:, [column]] == alone).all()
    np.testing.assert_allclose(whole, loop(values, 0 * values, 50, 1) * 500, rtol=1e-11)


def test_one_resample_by_hand() -> None:
    drawn = np.random.default_rng(9).integers(3, size=3)
    values = np.array([1.0, 10.0, 100.0])
    assert bootstrap_means(values, resamples=1, seed=9).replicates[0, 0] == values[drawn].sum() / 3


def test_interval_is_the_percentiles_and_covers_about_as_often_as_it_says() -> None:
    inside = 0
    for seed in range(200):
        sample = np.random.default_rng(seed).normal(1.0, 2.0, 60)
        (low, high) = bootstrap_means(sample, resamples=400, seed=seed).interval()[0]
        inside += low <= 1.0 <= high
    assert 0.89 <= inside / 200 <= 0.99
    found = bootstrap_means(HITS, resamples=1000, seed=0)
    np.testing.assert_array_equal(found.interval(), np.quantile(found.replicates, [0.025, 0.975], axis=0).T)


def test_p_value_is_twice_the_smaller_tail_with_a_floor() -> None:
    none = paired_bootstrap(np.ones(50), np.zeros(50), resamples=1000, seed=0)
    assert none.p_values().tolist() == [0.001]
    same = paired_bootstrap(HITS[:, 0], HITS[:, 0], resamples=1000, seed=0)
    assert same.p_values().tolist() == [1.0]
    found = paired_bootstrap(HITS, OTHER, resamples=1000, seed=4)
    for p, replicates in zip(found.p_values(), found.replicates.T, strict=True):
        assert p == min(1, max(2 * min((replicates <= 0).sum(), (replicates >= 0).sum()) / 1000, 0.001))
        assert p == 0.001 or round(p * 1000) % 2 == 0


def test_clusters_are_drawn_whole() -> None:
    values = np.array([1.0, 2.0, 3.0, 10.0, 20.0, 7.0])
    clusters = ["b", "a", "b", "c", "c", "a"]
    sums, sizes = np.array([4.0, 9.0, 30.0]), np.array([2.0, 2.0, 2.0])
    found = bootstrap_means(values, resamples=40, seed=2, clusters=clusters)
    generator = np.random.default_rng(2)
    for replicate in found.replicates[:, 0]:
        drawn = generator.integers(3, size=3)
        assert replicate == sums[drawn].sum() / sizes[drawn].sum()
    assert found.estimates[0] == values.mean()


def test_clusters_of_unequal_size_divide_by_the_rows_drawn() -> None:
    values, clusters = np.array([1.0, 1.0, 1.0, 5.0]), [1, 1, 1, 2]
    found = set(bootstrap_means(values, resamples=200, seed=0, clusters=clusters).replicates[:, 0].tolist())
    assert found == {1.0, 5.0, 2.0}  # both first, both second, one of each: 8 / 4


@pytest.mark.parametrize(("value", "within"), [(1.0, (0, 1)), (0.0, (0, 1)), (1.0, (0, 2)), (0.0, (-1, 1))])
def test_rows_that_are_all_equal_have_the_interval_of_wilson(value: float, within: tuple[int, int]) -> None:
    """12 right answers of 12 are no certainty, and 3 cases of 4 repetitions are 3 cases."""
    least, most = within
    for clusters, units in ((None, 12), ([at // 4 for at in range(12)], 3)):
        room = wilson_interval(0, units)[1]
        low, high = value - room * (value - least), value + room * (most - value)
        boot = bootstrap_means(np.full(12, value), resamples=50, clusters=clusters, within=within)
        assert boot.estimate(scale=100)[1] == pytest.approx((100 * low, 100 * high))
        assert boot.estimate()[1] != bootstrap_means(np.full(12, value), resamples=50, clusters=clusters).estimate()[1]
    mixed = np.column_stack([np.ones(12), np.arange(12) % 2])
    plain, mended = (bootstrap_means(mixed, resamples=50, within=given).interval()[1] for given in (None, (0, 1)))
    assert (plain == mended).all()


def test_identical_rows_in_a_cluster_widen_the_interval() -> None:
    base = RNG.random(60)
    repeated, ids = np.repeat(base, 10), np.repeat(np.arange(60), 10).tolist()
    plain = np.diff(bootstrap_means(repeated, resamples=500).interval())[0, 0]
    clustered = np.diff(bootstrap_means(repeated, resamples=500, clusters=ids).interval())[0, 0]
    assert clustered / plain == pytest.approx(np.sqrt(10), rel=0.15)
    alone = bootstrap_means(HITS, resamples=50)
    assert (bootstrap_means(HITS, resamples=50, clusters=list(range(400))).replicates == alone.replicates).all()


def test_cases_and_people_are_drawn_apart() -> None:
    """By the plain loop; a row of nobody counts as its case alone."""
    values, cases, people = [1.0, 2.0, 4.0, 8.0], ["a", "b", "b", "a"], ["x", "y", "z", None]
    sums = resampled_sums(values, resamples=50, seed=3, clusters=cases, crossed=people)[:, 0]
    draw = np.random.default_rng(3)
    for total in sums:
        case = np.bincount(draw.integers(2, size=2), minlength=2)
        person = np.bincount(draw.integers(3, size=3), minlength=3)
        assert total == case[0] * (person[0] * 1 + 8) + case[1] * (person[1] * 2 + person[2] * 4)
    nobody = resampled_sums(values, resamples=50, seed=3, clusters=cases, crossed=[None] * 4)
    assert (nobody == resampled_sums(values, resamples=50, seed=3, clusters=cases)).all()


def test_equal_rows_of_cases_and_people_are_worth_the_fewer_of_the_two() -> None:
    """Two people who had six cases right say less than six cases do; a row of nobody is its case alone."""
    part, nobody = np.array([[1.0, 1], [1, 1], [1, 0], [1, 0], [1, 0], [1, 0], [0, 1]]), None
    people = ["x", "x", "x", "y", "y", "y", nobody]
    found = bootstrap_ratios(part, part, resamples=200, clusters=list("abcdefg"), crossed=people, within=(0, 1))
    assert np.asarray(found.units).tolist() == [2, 1]
    rows = np.hstack([part[:, :1], np.eye(7)[:, 6:]])  # the second part has nobody's row alone
    found = bootstrap_ratios(rows, rows, resamples=200, clusters=list("abcdefg"), crossed=people, within=(0, 1))
    assert np.asarray(found.units).tolist() == [2, 1]


def test_the_order_of_rows_changes_no_bit_of_clustered_sums() -> None:
    values = RNG.random(300) / 3
    clusters, order = [at % 7 for at in range(300)], np.concatenate([np.arange(7), 7 + RNG.permutation(293)])
    plain = resampled_sums(values, resamples=20, seed=1, clusters=clusters)
    assert (plain == resampled_sums(values[order], resamples=20, seed=1, clusters=[clusters[at] for at in order])).all()


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_a_missing_cluster_id_raises(missing: object) -> None:
    with pytest.raises(InputError, match="clusters, row 1: no id"):
        bootstrap_means(np.ones(3), resamples=5, clusters=["a", missing, "b"])
    with pytest.raises(InputError, match="2 ids"):
        sign_flip_test(np.ones(3), clusters=["a", "b"])


def test_ratios_of_parts_leave_out_resamples_without_a_part() -> None:
    part = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]])
    found = bootstrap_ratios(part * np.array([[0.0], [1], [1], [1]]), part, resamples=400, seed=0)
    assert found.estimates.tolist() == [2 / 3, 1.0]
    assert 200 <= len(found.replicates) < 400 and (found.replicates[:, 1] == 1).all()
    one_of_many = np.zeros((4000, 1))
    one_of_many[0] = 1
    assert 0.55 < len(bootstrap_ratios(one_of_many, one_of_many, resamples=100).replicates) / 100 < 0.75
    tiled = bootstrap_ratios(np.hstack([part, part * 2]), part, resamples=50)
    assert tiled.estimates.tolist() == [1, 1, 2, 2] and (tiled.replicates == [1, 1, 2, 2]).all()
    assert np.asarray(tiled.units).tolist() == [3, 1, 3, 1]
    with pytest.raises(InputError, match="sums to 0"):
        bootstrap_ratios(part, part * 0)
    with pytest.raises(InputError, match="sums to 0"):
        bootstrap_ratios(part, part * [1, 0])
    with pytest.raises(InputError, match="expected"):
        bootstrap_ratios(np.hstack([part, part[:, :1]]), part)
    rare = np.zeros((3000, 2))
    rare[[0, 1], [0, 1]] = 1  # two parts of one row each: two resamples in five hold both
    with pytest.raises(InputError, match="hold every part"):
        bootstrap_ratios(rare, rare, resamples=200)
    with pytest.raises(InputError, match="expected"):
        bootstrap_ratios(part, part[:3])


def test_memory_of_many_resamples_is_bounded() -> None:
    values = np.ones((80_000, 2))
    tracemalloc.start()
    resampled_sums(values, resamples=60, seed=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 2**20  # weights of 60 resamples at once would be 38 MB


def test_inputs_that_cannot_be_used_are_named() -> None:
    for values in ([], np.empty((3, 0)), np.ones((2, 2, 2))):
        with pytest.raises(InputError, match="values: shape"):
            bootstrap_means(values)
    with pytest.raises(InputError, match="values, row 2: a value that is not finite"):
        bootstrap_means([1.0, 2.0, float("nan")])
    with pytest.raises(InputError, match="control"):
        paired_bootstrap([1.0, 2.0], [1.0])
    with pytest.raises(InputError, match="resamples"):
        bootstrap_means([1.0], resamples=0)
    with pytest.raises(InputError, match="permutations"):
        sign_flip_test([1.0], permutations=0)
    with pytest.raises(InputError, match="2 columns"):
        mcnemar_exact(np.ones((3, 2)), np.ones((3, 2)))


def test_one_row_and_constant_rows() -> None:
    one = bootstrap_means([0.25], resamples=20)
    assert one.interval().tolist() == [[0.25, 0.25]] and one.estimates.tolist() == [0.25]
    constant = bootstrap_means(np.full(7, 1 / 3), resamples=20)
    np.testing.assert_allclose(constant.interval(), 1 / 3, rtol=1e-12)
    assert np.ptp(constant.replicates) == 0
    zeros = bootstrap_means(np.zeros((4, 2)), resamples=20)
    assert (zeros.replicates == 0).all() and zeros.p_values().tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("people", "outer"),
    [("aabbccdd", "people"), ("abcdefgh", "cases"), ("aaaaaaaa", "cases")],
    ids=["two cases each", "one case each", "one person"],
)
def test_the_outer_of_two_ids_is_drawn_where_one_lies_within_the_other(people: str, outer: str) -> None:
    values, cases = np.arange(8.0) ** 2, [f"c{n}" for n in range(8)]
    crossed = resampled_sums(values, resamples=200, clusters=cases, crossed=list(people))
    assert (
        crossed == resampled_sums(values, resamples=200, clusters={"people": list(people), "cases": cases}[outer])
    ).all()
