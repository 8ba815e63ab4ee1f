"""Which pairs of pictures are worth comparing, chosen independently of how many pictures there are.

Two joins, each exact within a distance: over the hashes of whole pictures, and over those of keypoints. Both go slice
by slice, and a picture's partners depend on no other slice, so slicing changes only how much memory is held.

Only rare keypoints are evidence. How often one resembles those of other pictures is counted on a sample (all pictures,
up to 8,192). One that resembles too great a share of them (the ruler of one clinic, the rig of one camera) says nothing
about a copy and is left out. A picture is represented by its rarest keypoints: 16, and more as long as together they
match no more than 2,048 others. A limit on the number of matches instead of the share would leave out more of each
picture the more pictures there are.

Of a picture's partners, the `CLOSEST` are kept: those that share most of what is rare, or look most alike as a whole. A
pair is compared if either has the other among these. So a copy is compared however many pictures look alike because of
their rig, and the number of pairs grows in proportion to the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from builders.curation.close_keypoints import close_pairs
from builders.curation.examine import Content
from builders.curation.hashes import KEYPOINTS_SHARED
from builders.curation.neighbours import DISTANCE, Hashes, Places, blocks_within, distances
from loaders.files.disk import scratch, writing
from loaders.files.paths import is_file

CLOSEST = 32
RAREST, MATCHES = 16, 2048  # keypoints that a picture always keeps; number of matches up to which it keeps more
SAMPLE = 8192  # pictures
COMMON, COMMON_SHARE = 64, 0.01  # a keypoint is common if it resembles more others than this number and this share

Owners = NDArray[np.integer[Any]]  # numbers of pictures, or counts

_HELD = 1 << 18  # matches in memory, of 16 bytes, before they are written
_SLICE = 1 << 21  # matches of keypoints expected in a slice
_PICTURES = 1 << 11  # maximum in a slice


class Candidates(NamedTuple):
    """Places of the pairs to compare (pairs x 2, the smaller first): those alike as a whole, then those that share
    keypoints, each sorted. `crowded` is the number of pictures with more partners than are compared."""

    pairs: Places
    crowded: int


_Partners = tuple[Places, Places, Places]
"""Pictures of a slice, all partners of each, once, and how close they are."""


def candidates(contents: Sequence[Content]) -> Candidates:
    """The pairs worth comparing. Slices bound the memory in use, and change nothing else."""
    count = max(1, len(contents))
    alike, crowded = _joined(_by_whole(contents), count)
    sharing, crowded_too = _joined(_by_spots(contents), count)
    keys = np.concatenate([alike, sharing[~np.isin(sharing, alike, assume_unique=True)]])
    return Candidates(np.stack([keys // count, keys % count], axis=1), len(crowded | crowded_too))


def _joined(slices: Iterator[_Partners], count: int) -> tuple[Places, set[int]]:
    """The closest partners of each picture, as pairs of one number each (smaller * count + larger), sorted."""
    kept, crowded = [np.empty(0, np.int64)], set[int]()
    for one, other, closeness in slices:
        order = np.lexsort((other, -closeness, one))
        one, other = one[order], other[order]
        rank = np.arange(len(one)) - np.searchsorted(one, one)
        crowded.update(one[rank == CLOSEST].tolist())
        one, other = one[rank < CLOSEST], other[rank < CLOSEST]
        kept.append(np.unique(np.minimum(one, other) * count + np.maximum(one, other)))
    return np.unique(np.concatenate(kept)), crowded


def _by_whole(contents: Sequence[Content]) -> Iterator[_Partners]:
    """Partners whose hash is nearly that of a picture in some orientation or with its edges cut off."""
    places = np.array([n for n, content in enumerate(contents) if content.whole is not None], np.int64)
    hashes = np.frombuffer(b"".join(content.whole for content in contents if content.whole is not None), np.uint64)
    plain = hashes[::16].copy()
    ends = np.append(np.arange(_PICTURES, len(places), _PICTURES), len(places))
    with scratch() as folder:
        blocks = Blocks(folder, 16 * ends)
        for asked, query in blocks_within(hashes, plain):  # many hashes, each queried once: faster
            apart = query >> 4 != asked
            blocks.add(np.stack([query[apart], asked[apart]], axis=1))
        for number in range(len(ends)):
            query, matched = blocks.of(number).astype(np.int64).T
            closeness = DISTANCE - distances(hashes[query], plain[matched]).astype(np.int64)
            yield _closest(places[query >> 4], places[matched], closeness, len(contents))


def _by_spots(contents: Sequence[Content]) -> Iterator[_Partners]:
    """Partners linked by at least two keypoints of each, both pictures as they are or one of them mirrored."""
    count = len(contents)
    step = max(1, -(-count // SAMPLE))
    numbers = np.argsort(np.arange(count) % step != 0, kind="stable")  # renumber pictures: the sample comes first
    hashes = np.frombuffer(b"".join(contents[n].keypoints for n in numbers), np.uint64)
    owners = np.repeat(np.arange(count, dtype=np.int32), [len(contents[n].keypoints) // 8 for n in numbers])
    sampled = int(np.searchsorted(owners, -(-count // step)))
    rare, alike = _rare(hashes, owners, sampled, step)
    hashes = hashes[rare]
    owners = owners[rare]
    parts = list(_slices(owners, alike * step + 1, _SLICE))
    with scratch() as folder:
        blocks = Blocks(folder, np.array([part.stop for part in parts], np.int64))
        _match(hashes, owners, blocks)
        del hashes
        for number, part in enumerate(parts):
            rows = blocks.of(number).astype(np.int64)
            query, matched, turned = rows[:, 0] - part.start, rows[:, 1] >> 1, (rows[:, 1] & 1).astype(bool)
            weight = np.frexp(count / (alike[part] * step + 1))[1]  # bits of information in a match
            sharing = [
                _sharing(query[seen], matched[seen], owners[part], owners, weight, count) for seen in (~turned, turned)
            ]
            one, other, closeness = (np.concatenate(column) for column in zip(*sharing, strict=True))
            yield _closest(numbers[one], numbers[other], closeness, count)


def _match(hashes: Hashes, owners: Owners, blocks: Blocks) -> None:
    """The matches between keypoints of different pictures, in both directions: (own place, twice the other's, plus one
    if one of the pictures is mirrored)."""
    for left, right in close_pairs(hashes, np.ones(len(hashes), bool), mirrored=True):
        one, other, turned = left >> 1, right >> 1, right & 1
        apart = owners[one] != owners[other]
        one, other, turned = one[apart], other[apart], turned[apart]
        blocks.add(np.stack([np.append(one, other), 2 * np.append(other, one) + np.append(turned, turned)], axis=1))


def _rare(hashes: Hashes, owners: Owners, sampled: int, step: int) -> tuple[NDArray[np.bool_], Owners]:
    """Which keypoints are distinctive for their picture, and how many of the first `sampled` ones (those of one in
    `step` pictures) they resemble."""
    share = COMMON_SHARE * len(np.unique(owners[:sampled]))
    alike = _alike(hashes, owners, sampled)
    distinctive = (alike <= COMMON // step) | (alike <= share)
    for part in _slices(owners, np.ones(len(owners), np.int8), len(owners)):
        some = np.flatnonzero(distinctive[part])
        kept = _rarest(owners[part][some], alike[part][some] * step)
        distinctive[part] = False
        distinctive[part.start + some[kept]] = True
    return distinctive, alike[distinctive]


def _alike(hashes: Hashes, owners: Owners, sampled: int) -> NDArray[np.int32]:
    """How many of the sampled (first) keypoints each keypoint resembles, not counting those of its own picture."""
    alike = np.zeros(len(hashes), np.int32)
    for left, right in close_pairs(hashes, np.arange(len(hashes)) < sampled):
        apart = owners[left] != owners[right]
        for place in (right[apart], left[apart & (right < sampled)]):
            np.add.at(alike, place, 1)
    return alike


def _rarest(owners: Owners, matches: Owners) -> Places:
    """The places of what each picture keeps, given each keypoint's number of matches; of equal ones the strongest."""
    order = np.lexsort((matches, owners))
    first = np.searchsorted(owners, owners)  # owners are sorted, before and after
    total = np.append(0, np.cumsum(matches[order], dtype=np.int64))
    kept = (np.arange(len(order)) - first < RAREST) | (total[1:] - total[first] <= MATCHES)
    return np.sort(order[kept])


def _slices(owners: Owners, cost: Owners, most: int) -> Iterator[slice]:
    """The keypoints of whole adjacent pictures that together cost at most `most`, if possible."""
    if not len(owners):
        return
    last = np.flatnonzero(np.append(owners[1:] != owners[:-1], True)) + 1  # where each picture ends
    spent = np.cumsum(np.add.reduceat(cost, np.append(0, last[:-1]), dtype=np.int64))
    begin = done = 0
    while done < len(last):
        before = spent[done - 1] if done else 0
        stop = int(np.searchsorted(spent, before + most, side="right"))
        done = min(max(stop, done + 1), done + _PICTURES, len(last))
        yield slice(begin, int(last[done - 1]))
        begin = int(last[done - 1])


def _sharing(query: Places, matched: Places, asking: Owners, of: Owners, weight: Owners, count: int) -> _Partners:
    """Pictures that at least two keypoints of each connect, and what the keypoints of the asking one tell together."""
    pair = asking[query].astype(np.int64) * count + of[matched]
    order = np.argsort(pair)
    same = np.diff(pair[order]) == 0
    order = order[np.append(False, same) | np.append(same, False)] if len(order) else order  # by chance most match once
    query, matched, pair = query[order], matched[order], pair[order]
    pairs: Places | None = None
    for keypoint in (matched, query):
        order = np.lexsort((keypoint, pair))
        sorted_pair, sorted_keypoint = pair[order], keypoint[order]
        new = np.append(True, (np.diff(sorted_pair) != 0) | (np.diff(sorted_keypoint) != 0))[: len(order)]
        distinct, shared = np.unique(sorted_pair[new], return_counts=True)
        enough = distinct[shared >= KEYPOINTS_SHARED]
        pairs = enough if pairs is None else np.intersect1d(pairs, enough, assume_unique=True)
    assert pairs is not None
    told = np.bincount(np.searchsorted(distinct, sorted_pair[new]), weight[sorted_keypoint[new]], len(distinct))
    closeness = told[np.searchsorted(distinct, pairs)].astype(np.int64)
    return pairs // count, pairs % count, closeness


def _closest(one: Places, other: Places, closeness: Places, count: int) -> _Partners:
    """Each pair once, with the smallest distance found."""
    pair = one.astype(np.int64) * count + other
    order = np.lexsort((-closeness, pair))
    pair, closeness = pair[order], closeness[order]
    new = np.append(True, pair[1:] != pair[:-1])[: len(pair)]
    return pair[new] // count, pair[new] % count, closeness[new]


class Blocks:
    """Pairs of numbers below 2^32 in any order, one file per slice; a slice ends before a given first number."""

    def __init__(self, folder: Path, ends: Places) -> None:
        self._folder, self._ends = folder, ends
        self._held: list[Places] = []
        self._rows = 0

    def add(self, rows: Places) -> None:
        """Rows (n x 2) of any slices."""
        self._held.append(rows)
        self._rows += len(rows)
        if self._rows > _HELD:
            self._write()

    def of(self, number: int) -> NDArray[np.uint32]:
        """All rows of a slice, in arbitrary order."""
        self._write()
        path = self._file(number)
        return (np.fromfile(path, np.uint32) if is_file(path) else np.empty(0, np.uint32)).reshape(-1, 2)

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.rows"

    def _write(self) -> None:
        if not self._held:
            return
        rows = np.concatenate(self._held)
        self._held, self._rows = [], 0
        belongs = np.searchsorted(self._ends, rows[:, 0], side="right")
        if len(self._ends) < 1 << 16:
            belongs = belongs.astype(np.uint16)  # which numpy sorts by counting
        order = np.argsort(belongs, kind="stable")
        rows, counts = rows[order].astype(np.uint32), np.bincount(belongs)
        stops = np.cumsum(counts)
        for number in np.flatnonzero(counts).tolist():
            path = self._file(number)
            with writing(path), path.open("ab") as file:
                file.write(rows[stops[number] - counts[number] : stops[number]].tobytes())
