"""The clauses of a caption, and what tells where one begins."""

from __future__ import annotations

from builders.medlaybench_v.facts.reading import Reading

# A clause with one of these says that nothing is wrong in its place.
WELL_OFF = frozenset(
    "normal clean clear healthy intact unremarkable patent free spared unaffected uninvolved preserved negative".split()
)
_DETERMINERS = frozenset("the a an there it this that these those its his her their some both all also".split())


def clauses(reading: Reading) -> list[tuple[int, int]]:
    """The clauses [start, end) of a caption: between full stops, semicolons, and joints that begin anew."""
    texts, gaps = reading.texts, reading.gaps
    found, start = [], 0
    inserted = 0
    for i in range(1, len(texts)):
        gap = gaps[i]
        if (gap == " " and texts[i] not in _BEGINNING) or i < inserted:
            continue
        if gap == ", " and (inserted := _end_of_insertion(reading, i)):
            continue
        hard = not _HARD.isdisjoint(gap)
        word = texts[i]
        joint = word in ("but", "however", "whereas", "while", "although", "though", "except", "yet")
        comma = "," in gap or ")" in gap
        after = texts[i + 1] if i + 1 < len(texts) else ""
        begins = comma and (word in _DETERMINERS or (word in ("and", "with", "so") and after in _DETERMINERS | {"no"}))
        # "no fracture and the joint is normal", "and is the smaller"
        anew = word == "and" and (
            after
            in ("the", "a", "an", "there", "it", "its", "this", "is", "has", "neither", "both", "shows", "no", "on")
        )
        if (
            hard
            or (comma and word in WELL_OFF)
            or joint
            or begins
            or anew
            or (word in ("with", "and") and _begins_well(texts, i))
            or (comma and word in ("no", "without", "which", "whose", "none", "neither"))
        ):
            found.append((start, i))
            start = i
    found.append((start, len(texts)))
    return found


_HARD = frozenset(".;:?!—")
# With these alone a clause may begin behind a mere space.
_BEGINNING = frozenset("and but however whereas while although though except yet with".split())


def _end_of_insertion(reading: Reading, i: int) -> int:
    """Where what is inserted from word i on ends, or 0: "the clivus, the bone behind it, is free"."""
    if reading.texts[i] not in _INSERTS:
        return 0
    end = next((j for j in range(i + 1, min(i + 10, len(reading.texts))) if reading.gaps[j] != " "), 0)
    return end if end and reading.gaps[end] == ", " and reading.texts[end] in _FINITE else 0


_INSERTS = frozenset("the a an which that who whose his her its".split())
_FINITE = frozenset("is are was were has have had shows does can could remains".split())


def _begins_well(texts: list[str], i: int) -> bool:
    """Whether what a joint adds is said to be well: "a torn ligament with an intact tendon", "and spares the root"."""
    behind = texts[i + 1 : i + 4]
    first = next((j for j, word in enumerate(behind) if word not in _DETERMINERS), len(behind))
    return behind[first : first + 1] in _WELL_AT_ONCE


_WELL_AT_ONCE = tuple([word] for word in "intact normal preserved patent unremarkable healthy spares sparing".split())
