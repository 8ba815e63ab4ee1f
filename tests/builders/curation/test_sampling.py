"""Prevalence, floors, strata and groups, on numbers that one can check by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from builders.curation.sampling import (
    Member,
    class_targets,
    draw,
    joined,
    read_prevalence,
    split_groups,
)
from loaders.errors import InputError

RATIOS = {"train": 0.4, "validation": 0.1, "test": 0.5}


def members(label: str, n: int) -> list[Member]:
    """Photos that are linked with no other."""
    return [Member(f"{label}-{i}", label, f"{label}-{i}") for i in range(n)]


# --- Prevalence -------------------------------------------------------------------------------------------------------


def prevalence(tmp_path: Path, text: str) -> dict[str, float]:
    path = tmp_path / "prevalence.csv"
    path.write_text(text, encoding="utf-8")
    return read_prevalence(path, ("acne", "stye", "warts"))


def test_a_class_that_the_table_leaves_out_has_no_share(tmp_path: Path) -> None:
    assert prevalence(tmp_path, "diagnosis,share\nwarts,0.25\nacne,0.75\n") == {"acne": 0.75, "stye": 0, "warts": 0.25}


def test_shares_rounded_to_three_digits_are_made_to_sum_to_one(tmp_path: Path) -> None:
    shares = prevalence(tmp_path, "label,prevalence\nacne,0.333\nstye,0.333\nwarts,0.333\n")
    assert sum(shares.values()) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ("acne,0.6\nwarts,0.3\n", "shares that sum to 0.9"),
        ("acne,0.6\nwarts,0.41\n", "shares that sum to 1.01"),
        ("acne,60\nwarts,40\n", "share '60'"),
        ("acne,1.2\nwarts,-0.2\n", "share '1.2'"),
        ("acne,nan\n", "share 'nan'"),
        ("acne,half\n", "share 'half'"),
        ("acne,0.5\nacne,0.5\n", "'acne' a second time"),
        ("measles,1\n", "'measles'"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path: Path, rows: str, found: str) -> None:
    with pytest.raises(InputError) as error:
        prevalence(tmp_path, "diagnosis,share\n" + rows)
    assert error.value.found == found
    assert "prevalence.csv" in error.value.where


# --- Targets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "total", "floor", "expected"),
    [
        ([0.5, 0.3, 0.2], 100, 0, [50, 30, 20]),
        ([0.5, 0.3, 0.2], 100, 25, [47, 28, 25]),  # 75 left for .5 and .3: 46.875 and 28.125
        ([0.3, 0.5, 0.2], 100, 25, [28, 47, 25]),  # the larger remainder is rounded up, not the first class
        ([0.98, 0.01, 0.01], 100, 30, [40, 30, 30]),
        ([1, 0, 0], 10, 0, [10, 0, 0]),
        ([1 / 3, 1 / 3, 1 / 3], 100, 10, [34, 33, 33]),
        ([0.6, 0.4, 0], 30, 10, [10, 10, 10]),
    ],
)
def test_targets(shares: list[float], total: int, floor: int, expected: list[int]) -> None:
    found = class_targets(dict(zip("abc", shares, strict=True)), total=total, floor=floor)
    assert list(found.values()) == expected


def test_a_class_pushed_below_the_floor_by_others_is_lifted_too() -> None:
    # c and d go to 10 first; that leaves 20 for a and b, whose share puts b at 8.
    assert class_targets({"a": 0.5, "b": 0.33, "c": 0.1, "d": 0.07}, total=40, floor=10) == {
        "a": 10,
        "b": 10,
        "c": 10,
        "d": 10,
    }


def test_a_total_that_the_floor_exceeds_is_refused() -> None:
    with pytest.raises(InputError, match="expected at least 192"):
        class_targets({"a": 0.5, "b": 0.3, "c": 0.2}, total=191, floor=64)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).filter(lambda s: sum(s) > 0.01), st.integers(0, 50))
@settings(max_examples=60)
def test_targets_keep_total_and_floor(shares: list[float], floor: int) -> None:
    whole = sum(shares)
    given_shares = {str(i): share / whole for i, share in enumerate(shares)}
    total = floor * len(shares) + 17
    found = class_targets(given_shares, total=total, floor=floor)
    assert sum(found.values()) == total
    assert min(found.values()) >= floor


# --- Drawing ----------------------------------------------------------------------------------------------------------


def test_as_many_as_wanted_or_as_there_are() -> None:
    drawn = draw(members("a", 10) + members("b", 3) + members("c", 4), {"a": 6, "b": 5}, seed=1)
    assert Counter(m.label for m in drawn) == {"a": 6, "b": 3}


def test_a_photo_of_a_new_patient_comes_before_a_second_one() -> None:
    photos = [Member(f"{p}{i}", "a", p) for p in "xyz" for i in range(5)] + [Member("alone", "a", "")]
    drawn = draw(photos, {"a": 4}, seed=3)
    assert sorted(m.group for m in drawn) == ["", "x", "y", "z"]


def test_a_draw_depends_on_the_seed_and_not_on_order() -> None:
    photos = members("a", 50)
    first = {m.key for m in draw(photos, {"a": 10}, seed=1)}
    assert first == {m.key for m in draw(photos[::-1], {"a": 10}, seed=1)}
    assert first != {m.key for m in draw(photos, {"a": 10}, seed=2)}


# --- Splits -----------------------------------------------------------------------------------------------------------


def test_every_class_is_split_in_the_ratios() -> None:
    found = split_groups(members("a", 100) + members("b", 10), RATIOS, seed=1)
    counts = Counter((key[0], split) for key, split in found.items())
    assert counts == {
        ("a", "train"): 40,
        ("a", "validation"): 10,
        ("a", "test"): 50,
        ("b", "train"): 4,
        ("b", "validation"): 1,
        ("b", "test"): 5,
    }


# Patients with photos of two classes each, by whom the rule before left class `a` without a test photo.
HUNG = [("b", 1), ("b", 0), ("b", 1), ("b", 5), ("b", 1), ("a", 0), ("a", 2), ("b", 1), ("a", 5), ("b", 2)]


@example(HUNG, 1)
@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 8)), max_size=24), st.integers(0, 99))
def test_every_class_of_three_groups_reaches_the_test_split(photos: list[tuple[str, int]], seed: int) -> None:
    given_ = [Member(str(n), label, f"g{group}") for n, (label, group) in enumerate(photos)]
    plain = split_groups(given_, RATIOS, seed=seed)
    found = split_groups(given_, RATIOS, seed=seed, everywhere="test")
    assert found == split_groups(given_[::-1], RATIOS, seed=seed, everywhere="test")
    group_of = {member.key: member.group for member in given_}
    assert len({(group_of[key], split) for key, split in found.items()}) == len(set(group_of.values()))
    lacking: list[str] = []
    for label in {label for label, _ in photos}:
        own = [member for member in given_ if member.label == label]
        if len({member.group for member in own}) >= 3:
            assert "test" in {found[member.key] for member in own}
            lacking += [label] * ("test" not in {plain[member.key] for member in own})
    moved = {group_of[key] for key in found if found[key] != plain[key]}
    assert len(moved) <= len(lacking)  # where none lacked, a split is what it was before
    assert all(found[key] == "test" for key in found if group_of[key] in moved)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 12), st.booleans()), min_size=1, max_size=40),
    st.integers(0, 5),
)
@settings(max_examples=100)
def test_what_was_split_before_stays_where_it_was(photos: list[tuple[str, int, bool]], seed: int) -> None:
    """Photos come and go: those of both versions keep their split, and no group crosses."""
    then = [Member(str(n), label, f"g{group}") for n, (label, group, _) in enumerate(photos)]
    before = split_groups(then, RATIOS, seed=seed, everywhere="test")
    new = [Member(f"new {n}", label, f"g{group}") for n, (label, group, _) in enumerate(photos[::2])]
    now = [member for member, (_, _, stays) in zip(then, photos, strict=True) if stays] + new
    found = split_groups(now, RATIOS, seed=seed, everywhere="test", before=before)
    assert found == split_groups(now[::-1], RATIOS, seed=seed, everywhere="test", before=before)
    assert all(found[key] == split for key, split in before.items() if key in found)
    assert len({(member.group, found[member.key]) for member in now}) == len({member.group for member in now})


def test_groups_of_two_splits_that_turn_out_to_be_one_go_where_models_may_have_learnt_from_them() -> None:
    photos = [Member("1", "a", "p"), Member("2", "a", "p")]
    assert set(split_groups(photos, RATIOS, seed=1, before={"1": "test", "2": "train"}).values()) == {"train"}


def test_a_drawing_takes_what_was_drawn_before_first() -> None:
    photos = members("a", 20)
    before = {member.key for member in photos[7:12]}
    drawn = draw(photos, {"a": 6}, seed=1, before=before)
    assert before < {member.key for member in drawn} and len(drawn) == 6


def test_small_classes_do_not_starve_a_split() -> None:
    # One photo of each of 40 classes: no class can be divided, the whole still is.
    found = split_groups([Member(str(i), str(i), str(i)) for i in range(40)], RATIOS, seed=1)
    assert Counter(found.values()) == {"test": 20, "train": 16, "validation": 4}


def test_a_small_split_does_not_wait_until_the_large_ones_are_full() -> None:
    # Four groups of three classes each: what is divided is the whole, by how much each split lacks of its own share.
    photos = [Member(f"{group}-{i}", f"{group}-{i}", f"g{group}") for group in range(4) for i in range(3)]
    assert Counter(split_groups(photos, RATIOS, seed=1).values()) == {"test": 6, "train": 3, "validation": 3}


@pytest.mark.parametrize("seed", range(4))
def test_large_groups_are_placed_before_small_ones(seed: int) -> None:
    photos = members("a", 5) + [Member(f"p{i}", "a", "p") for i in range(5)]
    found = split_groups(photos, {"train": 0.5, "test": 0.5}, seed=seed)
    assert Counter(found.values()) == {"train": 5, "test": 5}


@pytest.mark.parametrize("seed", range(4))
def test_new_photos_fill_up_what_the_earlier_ones_left(seed: int) -> None:
    before = {f"a-{i}": "train" for i in range(5)}
    found = split_groups(members("a", 10), {"train": 0.5, "test": 0.5}, seed=seed, before=before)
    assert {key for key, split in found.items() if split == "train"} == before.keys()


def test_a_large_group_counts_for_what_a_split_has_of_the_whole() -> None:
    photos = [Member(f"p{i}", "a", "p") for i in range(4)] + [Member(str(i), str(i), str(i)) for i in range(4)]
    found = split_groups(photos, {"train": 0.5, "test": 0.5}, seed=1)
    assert {split for key, split in found.items() if key.isdigit()} == {"test"}


def test_a_split_is_left_without_a_class_only_if_no_other_can_give_a_photo() -> None:
    for seed in range(10):
        # Two in train and one in validation, until one moves.
        found = split_groups(
            members("a", 3), {"train": 0.8, "validation": 0.1, "test": 0.1}, seed=seed, everywhere="test"
        )
        assert sorted(found.values()) == ["test", "train", "validation"]


def test_only_a_new_group_moves_to_the_split_that_a_class_lacks() -> None:
    for seed in range(10):
        before = {"a-0": "validation", "a-1": "validation"}
        found = split_groups(members("a", 3), RATIOS, seed=seed, everywhere="test", before=before)
        assert found == before | {"a-2": "test"}


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 12)), min_size=1, max_size=60),
    st.integers(0, 5),
)
@settings(max_examples=50)
def test_no_group_crosses_and_order_does_not_matter(photos: list[tuple[str, int]], seed: int) -> None:
    given_members = [Member(str(i), label, f"g{group}") for i, (label, group) in enumerate(photos)]
    found = split_groups(given_members, RATIOS, seed=seed)
    assert found.keys() == {member.key for member in given_members}
    assert len({(m.group, found[m.key]) for m in given_members}) == len({m.group for m in given_members})
    assert found == split_groups(given_members[::-1], RATIOS, seed=seed)


def test_names_are_joined_through_any_chain() -> None:
    chain = [[str(i), str(i + 1)] for i in range(500)]
    assert set(joined(chain[::-1]).values()) == {"0"}
    assert joined([]) == {}
