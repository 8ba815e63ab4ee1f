"""Candidate pairs from hashes made up for the purpose; and the extra that all of this needs."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from builders.curation.candidates import CLOSEST, COMMON, MATCHES, candidates
from builders.curation.examine import Content
from builders.curation.hashes import mirrored_keypoints
from builders.curation.quality import Quality
from tests.parts.processes import printed

QUALITY = Quality(400, 300, 50.0, 0.0, 120.0, 20, 230, 0.0, 0.0, 0)
DRAW = np.random.default_rng(0)


def _content(keypoints: list[int] | np.ndarray, whole: np.ndarray | None = None) -> Content:
    return Content(
        "", 1, QUALITY, whole if whole is None else whole.tobytes(), np.array(keypoints, np.uint64).tobytes()
    )


def _hashes(held: bytes | None) -> np.ndarray:
    return np.frombuffer(held or b"", np.uint64)


def _random(count: int) -> np.ndarray:
    return DRAW.integers(0, 2**64, count, dtype=np.uint64)


def _pairs(contents: list[Content]) -> list[tuple[int, int]]:
    return [(int(i), int(j)) for i, j in candidates(contents).pairs]


def test_two_shared_spots_make_a_candidate_and_one_does_not() -> None:
    keypoints = _random(10)
    two, one = _random(10), _random(10)
    two[:2] = keypoints[[3, 7]] ^ np.uint64(0b1111)  # four bits off
    one[:2] = keypoints[[3, 3]]  # twice the same keypoint
    assert _pairs([_content(keypoints), _content(two), _content(one)]) == [(0, 1)]


def test_five_bits_are_too_many() -> None:
    keypoints = _random(10)
    assert _pairs([_content(keypoints), _content(keypoints ^ np.uint64(0b11111))]) == []


def test_spots_are_found_in_the_mirrored_picture() -> None:
    keypoints = _random(10)
    assert _pairs([_content(keypoints), _content(_random(10)), _content(mirrored_keypoints(keypoints))]) == [(0, 2)]


def test_spots_that_many_pictures_have_are_no_evidence() -> None:
    rig = _random(5)
    many = [_content(np.concatenate([rig, _random(5)])) for _ in range(COMMON + 2)]
    assert _pairs(many) == []
    copy = _content(_hashes(many[3].keypoints))
    assert _pairs([*many, copy]) == [(3, COMMON + 2)]


def test_of_a_rigs_look_alikes_the_closest_are_compared_and_a_copy_is_among_them() -> None:
    rig = _random(3)
    many = [_content(np.concatenate([rig, _random(7)])) for _ in range(COMMON)]
    copy = np.concatenate([rig, _hashes(many[3].keypoints)[3:5], _random(5)])
    found = candidates([*many, _content(copy)])
    assert [3, COMMON] in found.pairs.tolist()
    assert len(found.pairs) <= CLOSEST * (COMMON + 1)
    assert found.crowded == COMMON + 1


@pytest.mark.parametrize(("having", "pairs"), [(7, 21), (9, 0)])
def test_what_a_share_of_the_pictures_has_is_common_whatever_their_number(
    having: int, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builders.curation.candidates.COMMON", 4)
    some = _random(2)
    contents = [_content(some if n < having else _random(2)) for n in range(700)]
    assert len(_pairs(contents)) == pairs


def _uneven(pictures: int, seed: int) -> list[Content]:
    """Pictures whose keypoints and wholes come from a few prototypes with bits flipped, so that many are alike."""
    draw = np.random.default_rng(seed)
    prototypes, wholes = draw.integers(0, 2**64, 60, np.uint64), draw.integers(0, 2**64, 12, np.uint64)
    made = []
    for _ in range(pictures):
        chosen = prototypes[draw.integers(0, 60, draw.integers(0, 24)) ** 2 // 60]
        flips = np.uint64(1) << draw.integers(0, 64, (2, len(chosen)), np.uint64)
        chosen = np.where(draw.random(len(chosen)) < 0.1, mirrored_keypoints(chosen), chosen)
        whole = wholes[draw.integers(0, 12, 16)] ^ (np.uint64(1) << draw.integers(0, 64, 16, np.uint64))
        made.append(_content(chosen ^ flips[0] ^ flips[1], whole.reshape(2, 8) if draw.random() < 0.8 else None))
    return made


def _plainly(contents: list[Content]) -> tuple[list[list[int]], int]:
    """What `candidates` says, pair by pair and keypoint by keypoint."""
    count, crowded = len(contents), set[int]()
    spots_of = [_hashes(content.keypoints) for content in contents]

    def kept(closeness: dict[tuple[int, int], int]) -> set[tuple[int, int]]:
        pairs = set()
        for one in range(count):
            partners = sorted((-close, other) for (asking, other), close in closeness.items() if asking == one)
            crowded.update([one] if len(partners) > CLOSEST else [])
            pairs |= {(min(one, other), max(one, other)) for _, other in partners[:CLOSEST]}
        return pairs

    whole = {}
    for i, j in permutations(range(count), 2):
        if contents[i].whole is not None and contents[j].whole is not None:
            apart = min((int(a) ^ int(_hashes(contents[j].whole)[0])).bit_count() for a in _hashes(contents[i].whole))
            if apart <= 8:
                whole[i, j] = 8 - apart
    alike = {
        (i, n): sum((int(a) ^ int(b)).bit_count() <= 4 for j in range(count) if j != i for b in spots_of[j])
        for i in range(count)
        for n, a in enumerate(spots_of[i])
    }
    told = [[n for n in range(len(one)) if alike[i, n] <= 64] for i, one in enumerate(spots_of)]
    rare = [sorted(told[i], key=lambda n: (alike[i, n], n)) for i in range(count)]
    rare = [
        [n for at, n in enumerate(those) if at < 16 or sum(alike[i, m] for m in those[: at + 1]) <= MATCHES]
        for i, those in enumerate(rare)
    ]
    spots: dict[tuple[int, int], int] = {}
    for mirrored in (False, True):
        for i, j in permutations(range(count), 2):
            asked = mirrored_keypoints(spots_of[i]) if mirrored else spots_of[i]
            matches = [
                (n, m) for n, m in product(rare[i], rare[j]) if (int(asked[n]) ^ int(spots_of[j][m])).bit_count() <= 4
            ]
            ours = {n for n, _ in matches}
            if len(ours) >= 2 and len({m for _, m in matches}) >= 2:
                close = sum(int(np.frexp(count / (alike[i, n] + 1))[1]) for n in ours)
                spots[i, j] = max(close, spots.get((i, j), close))
    first = kept(whole)
    return [list(pair) for pair in [*sorted(first), *sorted(kept(spots) - first)]], len(crowded)


def test_slices_find_what_a_plain_comparison_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("builders.curation.candidates", __name__):
        monkeypatch.setattr(f"{module}.MATCHES", 300)
    contents = _uneven(90, 1)
    pairs, crowded = _plainly(contents)
    assert len(pairs) > 300 and crowded
    for slice_matches, pictures in ((1 << 21, 8192), (400, 8192), (1 << 21, 7), (1, 1)):
        monkeypatch.setattr("builders.curation.candidates._SLICE", slice_matches)
        monkeypatch.setattr("builders.curation.candidates._PICTURES", pictures)
        found = candidates(contents)
        assert (found.pairs.tolist(), found.crowded) == (pairs, crowded)


def test_pictures_alike_as_a_whole_come_first() -> None:
    hashes = _random(16).reshape(2, 8)
    turned = _random(16).reshape(2, 8)
    turned[0, 0] = hashes[1, 5] ^ np.uint64(0xFF)  # the centre of the first, turned, eight bits off
    keypoints = _random(4)
    contents = [
        _content(keypoints, hashes),
        _content(keypoints),
        _content([], turned),
        _content([], _random(16).reshape(2, 8)),
    ]
    assert _pairs(contents) == [(0, 2), (0, 1)]


def test_nothing_to_compare() -> None:
    assert _pairs([]) == []
    assert _pairs([_content([]), _content([])]) == []


def test_without_opencv_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['cv2'] = None\n"
        "import scripts.curate, builders.curation\n"
        "from loaders.errors import MissingExtra\n"
        "try: import builders.curation.curate\n"
        "except MissingExtra as error: print(error)"
    )
    assert "[curation]" in printed("-c", code)
