"""Larger synthetic sets, for load tests only: parts of the written cases recombined, with the paper's marginals.

The plan and the concerns of such a case need not fit together, and its people recur: no clinician may be judged by it.
Specialties follow Table 5, concerns per case the histogram of MC-G29 (1,154 over 300 cases, as Table 1 implies), and
categories, of all concerns and of primary ones, the shares of MC-G30; the first three by largest remainder, so that 300
cases match the first two exactly.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, TypeVar

import yaml

from builders.medconceal.measure import CONCERNS_PER_CASE
from builders.medconceal.people import people
from builders.samples.medconceal.cases import CATEGORY_OF, HERE, near, values_of, written
from loaders.medconceal import SPECIALTY_CASES, PatientProfile, parse_profile

# MC-G30: share of each category.
CATEGORY_SHARES = {"E": 35, "M": 30, "C": 20, "F": 15}

_OPENNESS: Mapping[str, int] = {"open": 5, "guarded": 23, "reserved": 12}  # as among the forty written ones
_DEPTHS = (0,) * 39 + (1,) * 54 + (2,) * 46 + (3,) * 16  # as among their concerns
_ADULT = 18
_PARTNERED = ("married", "in a relationship", "engaged")
_LITTLE_SCHOOL = ("Primary school", "Some high school")

Key = TypeVar("Key", bound=Hashable)


def composed(count: int, *, seed: int = 0) -> list[PatientProfile]:
    """`count` profiles, the same for the same seed."""
    draw = random.Random(seed)
    specialties = _shuffled(shared_out(SPECIALTY_CASES, count), draw)
    sizes = _shuffled(shared_out(CONCERNS_PER_CASE, count), draw)
    categories = _shuffled(shared_out(CATEGORY_SHARES, sum(sizes)), draw)
    openness = _shuffled(shared_out(_OPENNESS, count), draw)
    used: Counter[str] = Counter()
    primaries: Counter[str] = Counter()
    found = []
    for number, (specialty, size) in enumerate(zip(specialties, sizes, strict=True), start=1):
        kits = _kits()[specialty]
        kit = kits[used[specialty] % len(kits)]
        used[specialty] += 1
        wanted, categories = categories[:size], categories[size:]
        values = _compose(kit, wanted, primaries, random.Random(f"{seed} {number}"))
        values["case_id"] = f"synthetic-{number:05d}"
        values["roleplay"]["openness"] = openness[number - 1]
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
def _bank() -> Mapping[str, Sequence[Sequence[Any]]]:
    found: Mapping[str, Sequence[Sequence[Any]]] = yaml.safe_load((HERE / "bank.yaml").read_text(encoding="utf-8"))
    return found


def _compose(
    kit: Mapping[str, Any], wanted: Sequence[str], primaries: Counter[str], draw: random.Random
) -> dict[str, Any]:
    """A case with the kit's condition and person, and the wanted categories of concerns.

    Age, sex, marriage, schooling and work are the kit's, and its own concerns agree with them; a concern of the bank is
    used only if it fits them. So no case can contradict itself. `primaries` counts the categories of primary
    concerns so far: the one furthest behind its share comes next.
    """
    values = values_of(kit)
    own = {code: [c for c in values["hidden_concerns"] if c["category"] == CATEGORY_OF[code]] for code in "MECF"}
    chosen: list[dict[str, Any]] = []
    pools = {code: _pool(code, kit["topic"], values["demographics"], draw) for code in "MECF"}
    for code in wanted:
        specific = own[code] and draw.random() < 0.5
        chosen.append(own[code].pop(0) if specific else pools[code].pop())
    values["hidden_concerns"] = chosen
    values["narrative"] = " ".join(
        ["Synthetic case, composed.", *(snippet for concern in chosen for snippet in concern["evidence"])]
    )
    total = primaries.total() + 1
    code = min(dict.fromkeys(wanted), key=lambda one: (primaries[one] / total - CATEGORY_SHARES[one] / 100, one))
    primaries[code] += 1
    values["intervention"]["primary_concern"] = place = wanted.index(code)
    primary, surest = chosen[place], max(chosen, key=itemgetter("confidence"))  # which the primary one is to be
    primary["confidence"], surest["confidence"] = surest["confidence"], primary["confidence"]
    who = values["demographics"]
    if who["age"] >= _ADULT:
        who["name"] = f"{draw.choice(people()[who['sex']])} {draw.choice(people()['last'])}"
    return values


def _pool(code: str, topic: Mapping[str, str], who: Mapping[str, Any], draw: random.Random) -> list[dict[str, Any]]:
    """The bank's concerns of a category that this person may have, about this topic, in random order."""
    pool = []
    for (content, evidence, cue, *needs), topics in zip(_bank()[code], near(code), strict=True):
        if needs and not _fits(needs[0], who):
            continue
        pool.append(
            {
                "content": content.format_map(topic),
                "category": CATEGORY_OF[code],
                "confidence": round(0.5 + 0.45 * draw.random(), 2),
                "evidence": [evidence],
                "cue": cue,
                "depth": draw.choice(_DEPTHS),
                "topics": topics,
            }
        )
    draw.shuffle(pool)
    return pool


def _fits(needs: Mapping[str, Any], who: Mapping[str, Any]) -> bool:
    """Whether a concern of the bank can be this person's."""
    return (
        who["age"] >= needs.get("from_age", 0)
        and (not needs.get("partnered") or who["marital_status"] in _PARTNERED)
        and (needs.get("schooled") is not False or who["education"] in _LITTLE_SCHOOL)
    )
