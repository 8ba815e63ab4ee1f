"""Larger synthetic sets for load tests: parts of the written cases put together anew, with the paper's marginals.

Specialties follow Table 5, concerns per case the histogram of MC-G29 (1,154 over 300 cases, as Table 1 implies), and
categories the shares of MC-G30; each by largest remainder, so that 300 cases meet the first two to the number.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import yaml

from builders.medconceal.people import people
from builders.medconceal.selection import CONCERNS_PER_CASE
from builders.samples.medconceal.cases import CATEGORY_OF, HERE, near, values_of, written
from loaders.errors import InputError
from loaders.medconceal import DEEPEST, SPECIALTY_CASES, PatientProfile, parse_profile

# MC-G30: share of each category.
CATEGORY_SHARES = {"E": 35, "M": 30, "C": 20, "F": 15}

_OPENNESS = ("open", "guarded", "guarded", "reserved")  # ours: half of the people are in the middle

Key = TypeVar("Key", bound=Hashable)


def composed(count: int, *, seed: int = 0) -> list[PatientProfile]:
    """`count` profiles, the same for the same seed.

    Raises:
        InputError: `count` is not positive.
    """
    if count < 1:
        raise InputError("--synthetic", found=str(count), expected="at least one case")
    draw = random.Random(seed)
    specialties = _shuffled(shared_out(SPECIALTY_CASES, count), draw)
    sizes = _shuffled(shared_out(CONCERNS_PER_CASE, count), draw)
    categories = _shuffled(shared_out(CATEGORY_SHARES, sum(sizes)), draw)
    used: Counter[str] = Counter()
    found = []
    for number, (specialty, size) in enumerate(zip(specialties, sizes, strict=True), start=1):
        kits = _kits()[specialty]
        kit = kits[used[specialty] % len(kits)]
        used[specialty] += 1
        wanted, categories = categories[:size], categories[size:]
        values = _compose(kit, wanted, random.Random(f"{seed} {number}"))
        values["case_id"] = f"synthetic-{number:05d}"
        found.append(parse_profile(values, f"composed case {number}"))
    return found


def shared_out(weights: Mapping[Key, int], total: int) -> dict[Key, int]:
    """`total` things shared out in proportion to the weights, by largest remainder; ties go to the earlier key.

    >>> shared_out({"a": 2, "b": 1}, 4)
    {'a': 3, 'b': 1}
    """
    whole = sum(weights.values())
    shares = {key: divmod(weight * total, whole) for key, weight in weights.items()}
    counts = {key: share for key, (share, _) in shares.items()}
    left = sorted(shares, key=lambda key: -shares[key][1])[: total - sum(counts.values())]
    return {key: count + (key in left) for key, count in counts.items()}


def _shuffled(counts: Mapping[Key, int], draw: random.Random) -> list[Key]:
    items = [key for key, count in counts.items() for _ in range(count)]
    draw.shuffle(items)
    return items


@cache
def _kits() -> dict[str, list[Mapping[str, Any]]]:
    kits: dict[str, list[Mapping[str, Any]]] = {}
    for case in written():
        kits.setdefault(case["specialty"], []).append(case)
    return kits


@cache
def _bank() -> Mapping[str, Sequence[Sequence[str]]]:
    found: Mapping[str, Sequence[Sequence[str]]] = yaml.safe_load((HERE / "bank.yaml").read_text(encoding="utf-8"))
    return found


def _compose(kit: Mapping[str, Any], wanted: Sequence[str], draw: random.Random) -> dict[str, Any]:
    """A case of the kit's condition, with another person and the wanted categories of concerns."""
    values = values_of(kit)
    own = {code: [c for c in values["hidden_concerns"] if c["category"] == CATEGORY_OF[code]] for code in "MECF"}
    chosen: list[dict[str, Any]] = []
    pools = {code: _pool(code, kit["topic"], draw) for code in "MECF"}
    for code in wanted:
        specific = own[code] and draw.random() < 0.5
        chosen.append(own[code].pop(0) if specific else pools[code].pop())
    values["hidden_concerns"] = chosen
    values["narrative"] = " ".join(
        ["Synthetic case, composed.", *(snippet for concern in chosen for snippet in concern["evidence"])]
    )
    values["intervention"]["primary_concern"] = max(range(len(chosen)), key=lambda i: chosen[i]["confidence"])
    values["roleplay"]["openness"] = draw.choice(_OPENNESS)
    _another_person(values, draw)
    return values


def _pool(code: str, topic: Mapping[str, str], draw: random.Random) -> list[dict[str, Any]]:
    """The bank's concerns of a category, about this topic, in random order."""
    pool = []
    for (content, evidence, cue), topics in zip(_bank()[code], near(code), strict=True):
        pool.append(
            {
                "content": content.format_map(topic),
                "category": CATEGORY_OF[code],
                "confidence": round(0.5 + 0.45 * draw.random(), 2),
                "evidence": [evidence],
                "cue": cue,
                "depth": draw.randint(0, DEEPEST),
                "topics": topics,
            }
        )
    draw.shuffle(pool)
    return pool


def _another_person(values: dict[str, Any], draw: random.Random) -> None:
    """Another name, age, schooling and job; a child stays one, and sex stays, for the condition may go with it."""
    parts, who = people(), values["demographics"]
    if who["age"] < 18:
        return
    who["name"] = f"{draw.choice(parts[who['sex']])} {draw.choice(parts['last'])}"
    who["age"] = max(18, who["age"] + draw.randint(-6, 6))
    who["marital_status"] = draw.choice(parts["marital"])
    who["education"] = draw.choice(parts["education"])
    who["background"] = draw.choice(parts["background"])
