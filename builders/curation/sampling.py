"""Which photos of a collection make a corpus, and in which split: prevalence, floors, strata and groups.

    wanted = class_targets({"acne": 0.7, "warts": 0.3}, total=200, floor=64)        # {"acne": 136, "warts": 64}
    drawn = draw(members, wanted, seed=1)
    split = split_groups(drawn, {"train": 0.4, "validation": 0.1, "test": 0.5}, seed=1)

Chance comes from SHA-256 of the seed and each photo's key, so that a choice depends neither on the order of the photos
nor on which other classes there are.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from loaders.errors import InputError
from loaders.files.tables import read_table

ENOUGH = 3
"""The number of groups from which a class must have one in the split that every class should reach."""
SPLIT_RULE = 2
"""The version of how photos are split; version 1 had no split that every class should reach."""
_ROUNDING = 0.002
"""How far the shares of a prevalence table may be from 1 in sum: people write them with three digits."""


@dataclass(frozen=True, slots=True)
class Member:
    """A photo: its key, its class, and the group of all that it is linked with (`joined`: patient, near-duplicates)."""

    key: str
    label: str
    group: str


def read_prevalence(path: Path, names: Sequence[str]) -> dict[str, float]:
    """Shares of the classes from a table with the columns `diagnosis` (or `label`) and `share`; 0 for those left out.

    Raises: InputError for a table that cannot be read, a class that is not among `names` or comes twice, and shares
    that are no numbers from 0 to 1, or do not sum to 1.
    """
    table = read_table(path)
    label, share = table.column("diagnosis", "label", needed=True), table.column("share", "prevalence", needed=True)
    shares: dict[str, float] = {}
    for line, row in table.rows:
        name, text = row[label].strip(), row[share].strip()
        if name not in names or name in shares:
            found = f"{name!r} a second time" if name in shares else f"{name!r}"
            raise InputError(f"{path}:{line}", found=found, expected="each once, of " + ", ".join(names))
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:
            raise InputError(f"{path}:{line}", found=f"share {text!r}", expected="a number from 0 to 1")
        shares[name] = value
    total = math.fsum(shares.values())
    if abs(total - 1) > _ROUNDING:
        raise InputError(path, found=f"shares that sum to {total:.6g}", expected="1", do="Divide each share by the sum")
    return {name: shares.get(name, 0.0) / total for name in names}


def class_targets(shares: Mapping[str, float], *, total: int, floor: int) -> dict[str, int]:
    """How many photos each class should have: its share of `total`, but at least `floor`; they sum to `total`.

    What the floor adds to rare classes is taken from the others in proportion to their shares.

    >>> class_targets({"a": 0.9, "b": 0.1, "c": 0.0}, total=10, floor=2)
    {'a': 6, 'b': 2, 'c': 2}

    Raises: InputError if the floor alone needs more than `total`.
    """
    if total < floor * len(shares):
        found = f"a total of {total:,} for {len(shares)} classes with a floor of {floor:,} in all splits"
        raise InputError("--total", found=found, expected=f"at least {floor * len(shares):,}", do="Or lower --floor")
    floored: set[str] = set()
    while True:
        rest = total - floor * len(floored)
        mass = math.fsum(share for name, share in shares.items() if name not in floored)
        exact = {name: rest * share / mass for name, share in shares.items() if name not in floored} if mass else {}
        below = {name for name, count in exact.items() if count < floor}
        if not below:
            break
        floored |= below
    targets = {name: floor if name in floored else math.floor(exact[name]) for name in shares}
    # What rounding down left over goes to the largest remainders.
    by_remainder = sorted(exact, key=lambda name: (targets[name] - exact[name], name))
    for name in by_remainder[: total - sum(targets.values())]:
        targets[name] += 1
    return targets


def draw(
    members: Sequence[Member], targets: Mapping[str, int], *, seed: int, before: Collection[str] = ()
) -> list[Member]:
    """As many photos of each class as its target says, or all there are; groups that are not yet drawn from come first.

    Their order stays. A class without a target is not drawn. Keys in `before`, an earlier drawing, come first.
    """
    by_class: dict[str, list[Member]] = defaultdict(list)
    for member in members:
        by_class[member.label].append(member)
    chosen: set[str] = set()
    for label, wanted in targets.items():
        first = sorted(_varied(by_class.get(label, []), seed), key=lambda member: member.key not in before)
        chosen.update(member.key for member in first[:wanted])
    return [member for member in members if member.key in chosen]


def _varied(members: Sequence[Member], seed: int) -> list[Member]:
    """In random order, but the first photo of every group comes before the second of any."""
    shuffled = sorted(members, key=lambda member: chance(seed, "draw", member.key))
    seen: Counter[str] = Counter()
    turns = []
    for member in shuffled:
        turns.append(seen[member.group])
        seen[member.group] += 1
    return [member for _, member in sorted(zip(turns, shuffled, strict=True), key=lambda pair: pair[0])]


def split_groups(
    members: Sequence[Member],
    ratios: Mapping[str, float],
    *,
    seed: int,
    everywhere: str = "",
    before: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The split of each photo: every class in the ratios given, as closely as groups allow; no group in two splits.

    Large groups are placed first, each where its classes are short most. The split `everywhere`, if given, then gets a
    photo of every class with ENOUGH groups: for a class that it lacks, the smallest group moves there. If it lacks
    none, nothing moves.

    `before` are the splits of photos in an earlier splitting, which they and their groups keep. A group that turns out
    to have photos in two goes to the one that `ratios` names first: models may have been trained on photos from there.
    """
    together: dict[str, list[Member]] = defaultdict(list)
    for member in members:
        together[member.group].append(member)
    sizes = Counter(member.label for member in members)
    need = {split: {label: share * n for label, n in sizes.items()} for split, share in ratios.items()}
    overall = {split: share * len(members) for split, share in ratios.items()}
    order = sorted(together.values(), key=lambda group: (-len(group), chance(seed, "split", min(m.key for m in group))))
    kept = {group[0].key: split for group in order if (split := _kept(group, ratios, before or {}))}
    order.sort(key=lambda group: group[0].key not in kept)
    split_of: dict[str, str] = {}
    for group in order:
        counts = Counter(member.label for member in group)
        # A class can only lack whole photos. What many small classes leave over evens out over all of them, in
        # proportion; otherwise a small split would wait for the large ones to fill, until nothing is left for it.
        lacks = {s: sum(n * math.floor(need[s][label] + 1e-9) for label, n in counts.items()) for s in ratios}
        lacking = max(ratios, key=lambda split: (lacks[split], round(overall[split] / ratios[split], 9)))
        best = kept.get(group[0].key, lacking)
        for label, n in counts.items():
            need[best][label] -= n
        overall[best] -= len(group)
        split_of.update((member.key, best) for member in group)
    if everywhere:
        _reach(everywhere, order, split_of, seed, kept)
    return split_of


def _kept(group: Sequence[Member], ratios: Iterable[str], before: Mapping[str, str]) -> str:
    """The split that a group keeps from before; "" if it is new."""
    were = {before[member.key] for member in group if member.key in before}
    return next((split for split in ratios if split in were), "")


def _reach(
    wanted: str, groups: Sequence[Sequence[Member]], split_of: dict[str, str], seed: int, kept: Collection[str]
) -> None:
    """Move groups to a split until it has a photo of every class with ENOUGH groups: the smaller group if there is a
    choice, preferably one whose split keeps another of the class. Groups whose first photo is in `kept` stay."""
    of_class: dict[str, list[Sequence[Member]]] = defaultdict(list)
    for group in groups:
        for label in {member.label for member in group}:
            of_class[label].append(group)
    for _, own in sorted(of_class.items()):
        splits = [split_of[group[0].key] for group in own]
        if len(own) < ENOUGH or wanted in splits or all(group[0].key in kept for group in own):
            continue
        alone = Counter(splits)
        least = [
            (g[0].key in kept, len(g), alone[s] < 2, chance(seed, "reach", min(m.key for m in g)))
            for g, s in zip(own, splits, strict=True)
        ]
        moved = own[least.index(min(least))]
        split_of.update((member.key, wanted) for member in moved)


def joined(links: Iterable[Iterable[str]]) -> dict[str, str]:
    """For each name, the smallest name among all that it is linked with, directly or through others.

    >>> joined([["b", "c"], ["c", "a"], ["d"]]) == {"a": "a", "b": "a", "c": "a", "d": "d"}
    True
    """
    from scipy.cluster.hierarchy import DisjointSet  # takes longer to import than the steps of a worker

    sets = DisjointSet()
    for first, *others in links:
        sets.add(first)
        for name in others:
            sets.add(name)
            sets.merge(first, name)
    return {name: least for members in sets.subsets() for least in [min(members)] for name in members}


def shuffled(keys: Iterable[str], *, seed: int, purpose: str) -> Iterator[str]:
    """The keys in an order that depends only on them, the seed and the purpose."""
    return iter(sorted(keys, key=lambda key: chance(seed, purpose, key)))


def chance(seed: int, purpose: str, key: str) -> str:
    """A random-looking text of 64 hexadecimal digits for a key."""
    return hashlib.sha256(f"{seed}\0{purpose}\0{key}".encode()).hexdigest()
