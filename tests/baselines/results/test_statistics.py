"""Each statistic against scipy, statsmodels or scikit-learn, or against a case worked out by hand."""

from __future__ import annotations

import itertools
import tracemalloc
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from baselines.results.statistics import (
    Answers,
    benjamini_hochberg,
    bootstrap_classification,
    bootstrap_kappas,
    bootstrap_means,
    bootstrap_ratios,
    classification_scores,
    cohen_kappa,
    grimmer,
    holm,
    kruskal_wallis,
    mann_whitney,
    mcnemar_exact,
    paired_bootstrap,
    paired_bootstrap_classification,
    possible_sds,
    possible_totals,
    resampled_sums,
    sign_flip_test,
    unpaired_t,
    wilcoxon_signed_rank,
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


# ---------------------------------------------------------------------------------------------------- resampling


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


def test_f1_of_answers_that_are_all_right_or_all_wrong_is_no_certainty() -> None:
    right = bootstrap_classification(["a"] * 12, ["a"] * 12, ["a"], resamples=50)
    wrong = bootstrap_classification(["a"] * 12, [None] * 12, ["a"], resamples=50)
    assert right.interval() == pytest.approx(np.tile(wilson_interval(12, 12), (3, 1)))
    assert wrong.interval() == pytest.approx(np.tile(wilson_interval(0, 12), (3, 1)))
    # A part's number has as many rows as the part.
    both = bootstrap_ratios(np.ones((12, 2)) * [1, 0], np.eye(2)[[0] * 9 + [1] * 3] + [0, 0], resamples=200)
    assert both.units == pytest.approx([9, 3])


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
    with pytest.raises(InputError, match="sums to 0"):
        bootstrap_ratios(part, part * 0)
    with pytest.raises(InputError, match="expected"):
        bootstrap_ratios(np.hstack([part, part[:, :1]]), part)
    rare = np.zeros((3000, 3))
    rare[[0, 1, 2], [0, 1, 2]] = 1  # three parts of one row each: one resample in four holds them all
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


def test_sign_flips_reach_the_exact_p_by_enumeration() -> None:
    differences = np.array([1.5, -0.5, 2.0, 3.0, -1.0, 0.5, 2.5, 0.0])
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((-1, 1), repeat=8)]  # fmt: skip
    exact = np.mean([value >= abs(differences.sum()) for value in sums])
    assert sign_flip_test(differences, permutations=255, seed=1) == pytest.approx(exact, abs=0.06)  # drawn
    assert sign_flip_test(differences) == sign_flip_test(-differences) == exact  # of 256 ways all are counted


def test_sums_that_differ_by_rounding_alone_reach_each_other() -> None:
    sevenths = [1 / 7, -4 / 7, -4 / 5, -2 / 7, 5 / 7]
    whole = np.array([5, -20, -28, -10, 25])  # the same in parts of 35, where sums are exact
    assert sign_flip_test(sevenths) == sign_flip_test(whole) == 0.625


def test_ranks_and_signs_are_those_of_the_means_before_rounding() -> None:
    thirds = np.array([1, 2 / 3, 1 / 3, 2 / 3, 1, 0]), np.array([2 / 3, 1 / 3, 0, 0, 0, 1 / 3])
    whole = np.array([3, 2, 1, 2, 3, 0]), np.array([2, 1, 0, 0, 0, 1])
    assert wilcoxon_signed_rank(*thirds) == wilcoxon_signed_rank(*whole)
    assert mcnemar_exact([0.1 + 0.2, 1.0], [0.3, 0.0]) == mcnemar_exact([0.0, 1.0], [0.0, 0.0])


def test_sign_flips_of_clusters_move_their_rows_together() -> None:
    differences, clusters = np.array([1.0, 1, 1, 1, 1, 1]), ["a"] * 3 + ["b"] * 3
    # Two units: of four flips two keep the whole sum.
    assert sign_flip_test(differences, clusters=clusters) == 0.5
    assert sign_flip_test(differences) == 2 / 64


def test_sign_flip_p_is_never_zero_and_one_without_evidence() -> None:
    assert sign_flip_test(np.ones(60), permutations=99) == 0.01
    assert sign_flip_test(np.zeros(5), permutations=99) == 1.0
    assert sign_flip_test([0.3], permutations=99) == 1.0
    tenths = np.array([0.1] * 7 + [-0.1] * 3)  # sums that tie only if they are exact
    exact = 2 * sum(comb(10, k) for k in range(7, 11)) / 1024
    assert sign_flip_test(tenths) == exact
    assert sign_flip_test(tenths, permutations=1_000) == pytest.approx(exact, abs=0.03)


# -------------------------------------------------------------------------------------------------- paired tests


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (5, 5), (3, 9), (40, 84), (2000, 1800)])
def test_mcnemar_is_the_exact_binomial_test(better: int, worse: int) -> None:
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    treatment = np.array([1] * better + [0] * worse + [1, 0])
    control = np.array([0] * better + [1] * worse + [1, 0])
    found = mcnemar_exact(treatment, control)
    assert (found.better, found.worse) == (better, worse)
    wanted = contingency.mcnemar([[1, better], [worse, 1]], exact=True).pvalue if better + worse else 1.0
    assert found.p == pytest.approx(wanted)


def test_wilcoxon_by_hand_and_without_a_difference() -> None:
    # Ranks of 1, 2, 3, 4 with signs + - + +: the smaller sum is 2; P(min <= 2) = 2 * 3 / 16.
    statistic, p = wilcoxon_signed_rank([1.0, 0, 3, 4, 7], [0.0, 2, 0, 0, 7])
    assert statistic == 2 and p == pytest.approx(6 / 16)
    assert wilcoxon_signed_rank([1, 2], [1, 2]) == (0.0, 1.0)
    assert wilcoxon_signed_rank([2.0], [1.0]) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["holm", "fdr_bh"])
def test_adjusted_p_values_are_those_of_statsmodels(name: str) -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    adjust = holm if name == "holm" else benjamini_hochberg
    generator = np.random.default_rng(0)
    for p in ([0.04], [0.01, 0.01, 0.02, 0.5, 1.0], [1.0, 1.0], [0.0, 0.3], *generator.random((20, 24)) ** 3):
        np.testing.assert_allclose(adjust(p), multitest.multipletests(p, method=name)[1], rtol=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_are_no_p_values(adjust: Any) -> None:
    for bad in ([], [0.1, float("nan")], [-0.1], [1.1]):
        with pytest.raises(InputError, match="p values"):
            adjust(bad)


# ------------------------------------------------------------------------------------ agreement, classification


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: Any) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(5)
    first = generator.integers(1, 6, size=80)
    second = np.clip(first + generator.integers(-1, 2, size=80), 1, 5)
    found = cohen_kappa(first.tolist(), second.tolist(), [1, 2, 3, 4, 5], weights=weights, resamples=200)
    wanted = metrics.cohen_kappa_score(first, second, labels=[1, 2, 3, 4, 5], weights=weights)
    assert found.kappa == pytest.approx(wanted)
    assert found.ci95 is not None and found.ci95[0] < wanted < found.ci95[1]
    drawn = np.random.default_rng(0).integers(80, size=80)
    one = cohen_kappa(first.tolist(), second.tolist(), [1, 2, 3, 4, 5], weights=weights, resamples=1)
    same = metrics.cohen_kappa_score(first[drawn], second[drawn], labels=[1, 2, 3, 4, 5], weights=weights)
    assert one.ci95 == pytest.approx((same, same))


def test_kappa_by_hand_and_at_its_edges() -> None:
    # 20 + 15 of 50 agree, chance agreement .5 (Cohen's classic): (.7 - .5) / .5
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = cohen_kappa(first, second, ["y", "n"], resamples=50)
    assert found.kappa == pytest.approx(0.4) and found.observed == 0.7 and found.n == 50
    constant = cohen_kappa(["y"] * 4, ["y"] * 4, ["y", "n"], resamples=50)
    assert constant.kappa is None and constant.ci95 is None and constant.observed == 1.0
    assert cohen_kappa(["y"], ["n"], ["y", "n"], resamples=10).kappa == 0.0
    assert cohen_kappa(["y", "n"], ["y", "n"], ["y", "n"], resamples=50).ci95 == (1.0, 1.0)
    for first, second, labels in (([], [], ["y"]), (["y"], [], ["y"]), (["y"], ["x"], ["y"]), (["y"], ["y"], "yy")):
        with pytest.raises(InputError):
            cohen_kappa(first, second, labels)


def test_f1_is_that_of_scikit_learn_over_the_fixed_list() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(3)
    labels = [f"d{i}" for i in range(8)]
    truth = [labels[i] for i in generator.integers(0, 6, size=120)]  # the last two never occur
    predicted = [t if generator.random() < 0.5 else [*labels[:7], "none"][generator.integers(8)] for t in truth]
    found = classification_scores(truth, predicted, labels)
    options: Any = {"labels": labels, "zero_division": 0}
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="macro", **options))
    assert found.weighted_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="weighted", **options))
    wanted = metrics.precision_recall_fscore_support(truth, predicted, **options)
    for mine, theirs in zip((found.precision, found.recall, found.f1, found.support), wanted, strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert found.support[6:].tolist() == [0, 0]


def test_abstaining_is_wrong_and_absent_labels_stay() -> None:
    found = classification_scores(["a", "a", "b", "b"], ["a", None, "b", "none"], ["a", "b", "c"])
    assert found.accuracy == 0.5
    # a and b: precision 1, recall 1/2, F1 2/3; c: 0.
    assert found.f1.tolist() == pytest.approx([2 / 3, 2 / 3, 0]) and found.n == 4
    assert found.macro_f1 == pytest.approx(4 / 9) and found.weighted_f1 == pytest.approx(2 / 3)
    for truth, predicted, labels in ((["x"], ["a"], ["a"]), ([], [], ["a"]), (["a"], [], ["a"]), (["a"], ["a"], [])):
        with pytest.raises(InputError):
            classification_scores(truth, predicted, labels)


def test_bootstrap_of_f1_is_the_loop_over_drawn_rows() -> None:
    labels = ["a", "b", "c"]
    generator = np.random.default_rng(8)
    truth = generator.choice(labels[:2], 40).tolist()
    predicted = generator.choice([*labels, "none"], 40).tolist()
    found = bootstrap_classification(truth, predicted, labels, resamples=25, seed=6)
    generator = np.random.default_rng(6)
    for replicate in found.replicates:
        drawn = generator.integers(40, size=40)
        one = classification_scores([truth[i] for i in drawn], [predicted[i] for i in drawn], labels)
        assert replicate.tolist() == pytest.approx([one.accuracy, one.macro_f1, one.weighted_f1])
    whole = classification_scores(truth, predicted, labels)
    assert found.estimates.tolist() == pytest.approx([whole.accuracy, whole.macro_f1, whole.weighted_f1])


def test_macro_f1_of_a_resample_is_over_the_labels_that_it_holds() -> None:
    """Of 34 rows of 34 labels each resample lacks a dozen labels: right answers to all others are no wrong ones."""
    labels = list(range(34))
    found = bootstrap_classification(labels, labels, labels, resamples=50)
    assert found.replicates.tolist() == np.ones((50, 3)).tolist()
    assert found.interval()[1].tolist() == pytest.approx(wilson_interval(34, 34))
    wrong = Answers(labels, [None] * 34, labels)
    apart = paired_bootstrap_classification(Answers(labels, labels, labels), wrong, labels, resamples=50)
    assert apart.replicates.tolist() == np.ones((50, 3)).tolist()


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 30), (30, 30), (7, 33), (4500, 9927)])
def test_wilson_interval_is_that_of_statsmodels(successes: int, n: int) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    low, high = wilson_interval(successes, n)
    wanted = proportion.proportion_confint(successes, n, alpha=0.05, method="wilson")
    assert (low, high) == pytest.approx(wanted, abs=1e-12) and 0 <= low <= high <= 1


def test_wilson_interval_refuses_what_is_no_proportion() -> None:
    for successes, n in ((0, 0), (3, 2), (-1, 5)):
        with pytest.raises(InputError):
            wilson_interval(successes, n)


# -------------------------------------------------------------------------------------------- printed statistics


def test_possible_totals_by_hand() -> None:
    # Of 33 answers: 18/33 = .5454.., 1/33 = .0303..; .54 and .5 are no k/33.
    assert [possible_totals(mean, 33) for mean in (0.55, 0.03, 0.54, 0.5)] == [[18], [1], [], []]
    assert possible_totals(0.348, 300, decimals=3) == [] and possible_totals(0.347, 300, decimals=3) == [104]
    assert possible_totals(4.95, 100) == [495]
    assert possible_totals(3.33, 3) == [10] and possible_totals(3.33, 3, items=2) == [20]
    assert possible_totals(2.5, 2, decimals=0) == [4, 5, 6]  # 5/2 rounds to 2 or to 3, and 2.5 is read as it stands
    for bad in ({"mean": float("nan"), "n": 3}, {"mean": 1.0, "n": 0}, {"mean": 1.0, "n": 2, "items": 0}):
        with pytest.raises(InputError):
            possible_totals(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("ddof", [0, 1])
def test_possible_sds_hold_every_sheet_that_can_be_filled_in(ddof: int) -> None:
    for n in (2, 3, 5):
        sheets: dict[int, set[float]] = {}
        for sheet in itertools.combinations_with_replacement(range(1, 6), n):
            sheets.setdefault(sum(sheet), set()).add(round(float(np.std(sheet, ddof=ddof)), 9))
        for total in range(n, 5 * n + 1):
            listed = {round(float(sd), 9) for sd in possible_sds(total, n, low=1, high=5, ddof=ddof)}
            assert sheets[total] <= listed
            assert {min(listed), max(listed)} == {min(sheets[total]), max(sheets[total])}
    assert possible_sds(4, 5, low=1, high=5, ddof=ddof).size == 0
    assert possible_sds(10, 10, low=1, high=5, ddof=ddof).tolist() == [0.0]


def test_grimmer_finds_the_impossible_cell_of_the_human_evaluation() -> None:
    assert not grimmer(4.95, 0.17, 100, low=1, high=5)
    assert grimmer(4.97, 0.17, 100, low=1, high=5)
    assert possible_sds(495, 100, low=1, high=5, ddof=0)[0] == pytest.approx(0.218, abs=5e-4)
    # 1, 3, 5: population SD 1.63, sample SD 2.00.
    assert grimmer(3.0, 1.63, 3, low=1, high=5, ddof=0) and not grimmer(3.0, 1.63, 3, low=1, high=5, ddof=1)
    assert grimmer(3.0, 2.0, 3, low=1, high=5, ddof=1) and grimmer(3.0, 2.0, 3, low=1, high=5)
    assert not grimmer(3.0, 2.5, 10, low=1, high=5)  # wider than all ones and fives
    assert grimmer(3.0, 0.0, 1, low=1, high=5)
    with pytest.raises(InputError, match="SD"):
        grimmer(3.0, -1, 10, low=1, high=5)


# -------------------------------------------------------------------------------------------------------- inputs


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


# ------------------------------------------------------------------------------------------- independent groups


@pytest.mark.parametrize("ties", [True, False])
def test_tests_of_independent_groups_are_those_of_scipy_and_statsmodels(ties: bool) -> None:
    weightstats = pytest.importorskip("statsmodels.stats.weightstats")
    generator = np.random.default_rng(8)
    for _ in range(20):
        groups = [generator.normal(at / 3, 1, 12 + at) for at in range(4)]
        groups = [np.round(group) for group in groups] if ties else groups
        assert kruskal_wallis(groups) == pytest.approx(tuple(stats.kruskal(*groups)))
        expected = stats.mannwhitneyu(groups[0], groups[1], method="asymptotic")
        assert mann_whitney(groups[0], groups[1]) == pytest.approx((expected.statistic, expected.pvalue))
        assert unpaired_t(groups[0], groups[1]) == pytest.approx(weightstats.ttest_ind(groups[0], groups[1])[1])


def test_groups_without_any_variance_differ_or_do_not() -> None:
    assert kruskal_wallis([[1, 1], [1], [1, 1]]) == (0.0, 1.0)
    assert mann_whitney([2, 2], [2]) == (1.0, 1.0)
    assert unpaired_t([1, 1], [1, 1, 1]) == 1.0 and unpaired_t([1, 1], [0, 0]) == 0.0
    for call in (lambda: kruskal_wallis([[1]]), lambda: kruskal_wallis([[1], []]), lambda: unpaired_t([1], [1, 2])):
        with pytest.raises(InputError, match="group"):
            call()


def test_the_t_test_gives_the_p_values_of_table_7_of_3mdbench() -> None:
    def outcomes(right: int) -> list[int]:
        return [1] * right + [0] * (33 - right)

    found = [round(unpaired_t(outcomes(18), outcomes(right)), 2) for right in (13, 9, 19, 18)]
    assert found == [0.22, 0.02, 0.81, 1.0]


def test_kappas_of_several_columns_are_those_of_scikit_learn_and_share_their_resamples() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(4)
    one = generator.integers(0, 3, (50, 4))
    two = np.where(generator.random((50, 4)) < 0.5, one, generator.integers(0, 3, (50, 4)))
    found = bootstrap_kappas(one, two, 3, resamples=20, seed=6)
    expected = [metrics.cohen_kappa_score(one[:, at], two[:, at]) for at in range(4)]
    np.testing.assert_allclose(found.estimates, expected, atol=1e-12)
    generator = np.random.default_rng(6)
    for replicate in found.replicates:
        drawn = generator.integers(50, size=50)
        again = [metrics.cohen_kappa_score(one[drawn, at], two[drawn, at]) for at in range(4)]
        np.testing.assert_allclose(replicate, again, atol=1e-12)
    single = cohen_kappa(one[:, 0].tolist(), two[:, 0].tolist(), [0, 1, 2], resamples=300, seed=6)
    interval = bootstrap_kappas(one[:, 0], two[:, 0], 3, resamples=300, seed=6).interval()[0]
    assert single.ci95 == pytest.approx(tuple(interval))


def test_a_kappa_that_chance_explains_is_nothing() -> None:
    assert bootstrap_kappas([1, 1, 1], [1, 1, 1], 2, resamples=5).estimates.tolist() == [0]
    assert bootstrap_kappas([1, 1, 1], [1, 0, 1], 2, resamples=5).estimates.tolist() == [0]
    with pytest.raises(InputError, match="another rating"):
        bootstrap_kappas([2], [0], 2)
    with pytest.raises(InputError, match="shape"):
        bootstrap_kappas([1, 0], [0], 2)
