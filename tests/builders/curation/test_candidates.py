"""Candidate pairs from hashes made up for the purpose; and the extra that all of this needs."""

from __future__ import annotations

import numpy as np

from builders.curation.candidates import COMMON, candidates
from builders.curation.examine import Content
from builders.curation.hashes import mirrored_keypoints
from builders.curation.quality import Quality
from tests.parts.processes import printed

QUALITY = Quality(400, 300, 50.0, 0.0, 120.0, 20, 230, 0.0, 0.0, 0)
DRAW = np.random.default_rng(0)


def _content(keypoints: list[int] | np.ndarray, whole: np.ndarray | None = None) -> Content:
    return Content("", 1, QUALITY, whole, np.array(keypoints, np.uint64))


def _random(count: int) -> np.ndarray:
    return DRAW.integers(0, 2**64, count, dtype=np.uint64)


def test_two_shared_spots_make_a_candidate_and_one_does_not() -> None:
    keypoints = _random(10)
    two, one = _random(10), _random(10)
    two[:2] = keypoints[[3, 7]] ^ np.uint64(0b1111)  # four bits off
    one[:2] = keypoints[[3, 3]]  # twice the same keypoint
    assert candidates([_content(keypoints), _content(two), _content(one)]) == [(0, 1)]


def test_five_bits_are_too_many() -> None:
    keypoints = _random(10)
    assert candidates([_content(keypoints), _content(keypoints ^ np.uint64(0b11111))]) == []


def test_spots_are_found_in_the_mirrored_picture() -> None:
    keypoints = _random(10)
    assert candidates([_content(keypoints), _content(_random(10)), _content(mirrored_keypoints(keypoints))]) == [(0, 2)]


def test_spots_that_many_pictures_have_are_no_evidence() -> None:
    rig = _random(5)
    many = [_content(np.concatenate([rig, _random(5)])) for _ in range(COMMON + 2)]
    assert candidates(many) == []
    assert len(candidates(many[:-1])) == (COMMON + 1) * COMMON // 2
    copy = _content(many[3].keypoints)
    assert candidates([*many, copy]) == [(3, COMMON + 2)]


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
    assert candidates(contents) == [(0, 2), (0, 1)]


def test_nothing_to_compare() -> None:
    assert candidates([]) == []
    assert candidates([_content([]), _content([])]) == []


def test_without_opencv_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['cv2'] = None\n"
        "import scripts.curate, builders.curation\n"
        "from loaders.errors import MissingExtra\n"
        "try: import builders.curation.curate\n"
        "except MissingExtra as error: print(error)"
    )
    assert "[curation]" in printed("-c", code)
