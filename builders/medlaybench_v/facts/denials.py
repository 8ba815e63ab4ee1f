"""The denials of a caption with their scope: which words deny, and what they cover.

"No A and no B", "A without B", "A is absent", "one in B but none in A". Opposites are signs of one concept in
`findings.csv`, so that "patent", "open" and "not blocked" are the same, and so are "intact" and "not torn".
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from builders.medlaybench_v.facts.certainty import OPEN, POSSIBLE, PROBABLE, UNLIKELY, degrees
from builders.medlaybench_v.facts.clauses import WELL_OFF, clauses
from builders.medlaybench_v.facts.order import moments
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import kind_of, senses
from builders.medlaybench_v.facts.wordings import Sense

# Words that deny what follows; "not" denies what stands before it only where it denies that it is seen at all.
_FORWARD = frozenset(
    "no without neither nor nowhere lack lacks lacking lacked devoid never denies denied nothing nobody excludes "
    "exclude excluding".split()
)
_BACKWARD = frozenset(
    "absent missing gone vanished disappeared resolved cleared excluded unseen disappear refuted disproved".split()
)
_CONTRACTED = frozenset("isn wasn aren weren doesn don didn hasn haven couldn wouldn shouldn ain can won".split())
_FAILS = frozenset("fail fails failed failing failure unable inability stopped ceased ceases stops".split())
_AMOUNTS = frozenset(
    "height volume weight length substance tissue bone vision sight hearing consciousness blood function".split()
)
_CHANGING = frozenset("getting growing worsening progressing increasing enlarging".split())
CHANGE = frozenset("change changes difference progression growth increase decrease enlargement".split())
_STOPPED = frozenset("stopped ceased ceases stops".split())
_NOT_ALL = frozenset("new other further additional more fresh".split())
_ENDS = frozenset("clearance resolution disappearance absence loss".split())  # of what follows
_WAYS = frozenset("through into down up over on to by past beyond back flat wrong in".split())
_OBLIGED = frozenset("should ought belongs belong".split())
SEEN = frozenset(
    "seen visible visualised visualized identified found present detected evident shown apparent demonstrated noted "
    "depicted there appreciated observed made visualise visualize show".split()
)
_STOPS = frozenset(
    "but however although though while whereas except apart besides despite after before following since during "
    "because within inside due then whose where yet only until unless on by".split()
)
_ELLIPTIC = frozenset("not is are does do did has isn doesn".split())  # "A is intact; B is not."
_VERBS = frozenset(
    "is are was were has have shows show lies lie sits reaches remains holds looks can does do accompany marks".split()
)
DYE = frozenset("contrast dye gadolinium injection enhanced injected iodinated intravenous".split())


class Cue(NamedTuple):
    """A denial at the words [first, last], and the words [start, end) that it covers."""

    first: int
    last: int
    start: int
    end: int


class Polarity(NamedTuple):
    """`signs` tells of each concept whether it is affirmed (1), denied (-1) or both."""

    cues: list[Cue]
    signs: dict[str, set[int]]


def polarity(reading: Reading) -> Polarity:
    """The denials of a caption, and the sign of each of its concepts."""
    cues = [] if _CUES.isdisjoint(reading.bag) else _cues(reading)
    denied = [0] * len(reading.texts)
    for cue in cues:
        for i in range(cue.start, cue.end):
            if not cue.first <= i <= cue.last:
                denied[i] += 1
    signs: dict[str, set[int]] = {}
    ahead = reading.get(_still_ahead)
    somewhat = not _HARDLY.isdisjoint(reading.bag)
    for said in reading.get(senses):
        if ahead and any(first <= said.first < end for first, end in ahead):
            continue
        if reading.texts[said.first] == "gone" and not _WAYS.isdisjoint(reading.texts[said.first + 1 : said.first + 2]):
            continue  # "the surgeons had gone in from the front" tells of a way, not of an end
        flips = denied[said.last] % 2 and not any(said.first <= cue.first <= said.last for cue in cues)
        flip = -1 if flips else 1
        if flip < 0 and said.first and reading.texts[said.first - 1] in _NOT_ALL:
            continue  # "no new lesion" denies none that was there
        hardly = somewhat and not _HARDLY.isdisjoint(reading.texts[max(0, said.first - 3) : said.first])
        for sense in said.senses:
            both = hardly and sense.concept == "visible"
            signs.setdefault(sense.concept, set()).update((1, -1) if both else (sense.sign * flip,))
    for start, end in _undecided(reading):
        for said in reading.get(senses):
            if start <= said.first < end:
                for sense in said.senses:
                    signs[sense.concept] = {1, -1}
    return Polarity(cues, signs)


_HARDLY = frozenset("hardly barely scarcely almost nearly practically virtually".split())


def _still_ahead(reading: Reading) -> list[tuple[int, int]]:
    """The stretches that tell of what came only later: "before the bones were put back in place"."""
    spans = []
    for moment in reading.get(moments):
        if moment.value == "before" and moment.event == "follows":
            stop = (end for start, end in reading.get(clauses) if start <= moment.first < end)
            spans.append((moment.first, next(stop, moment.last + 1)))
    return spans


def _undecided(reading: Reading) -> list[tuple[int, int]]:
    """The clauses that leave open whether something is there, or say that it is only in one place."""
    places = [
        d.first
        for d in reading.get(degrees)
        if d.value in (OPEN, UNLIKELY) or reading.texts[d.first] in ("feared", "fears", "suspected", "suspicion")
    ]
    if not _OF_ONE.isdisjoint(reading.bag):
        places += [i for i, word in enumerate(reading.texts) if word in _OF_ONE]
    spans = reading.get(clauses)
    if any(reading.texts[end - 1] in _ELLIPTIC for start, end in spans if 0 < end - start < 9):
        return [(0, len(reading.texts))]
    return [(start, end) for start, end in spans if any(start <= i < end for i in places)] if places else []


_ANEW = frozenset("no nothing none without neither never nobody".split())
_OF_ONE = frozenset("only alone sole solely exclusively except".split())
_CUES = frozenset(
    (
        *(_FORWARD | _BACKWARD | _CONTRACTED | _FAILS | _ENDS | _STOPPED),
        *"no not cannot none non rather instead free clear loss ruled rules negative went goes go".split(),
    )
)
"""The words with which a denial may begin."""


def _cues(reading: Reading) -> list[Cue]:
    found: list[Cue] = []
    open_spans = [(d.first, d.last) for d in reading.get(degrees) if d.value in (OPEN, UNLIKELY, PROBABLE, POSSIBLE)]
    previous = (0, 0)
    for start, end in reading.get(clauses):
        i = start
        while i < end:
            word = reading.texts[i]
            if word not in _CUES:
                i += 1
                continue
            covered = bool(found) and found[-1].start <= i < found[-1].end
            denied_end = reading.texts[i] in _BACKWARD and i - found[-1].last <= 2 if covered else False
            if reading.texts[i] in _OF_NOW and not _FORMERLY.isdisjoint(
                (*reading.texts[i + 1 : min(i + 4, end)], reading.texts[end - 1])
            ):
                break  # "which did not bulge before" denies nothing of now
            again = denied_end or (covered and reading.texts[i] == "nor")  # "not resolved"; "neither A nor B"
            cue = None if again or any(a <= i <= b for a, b in open_spans) else _cue(reading, i, start, end)
            if cue is not None:
                if found and word in _ANEW and found[-1].first < found[-1].end > i > found[-1].last:
                    found[-1] = found[-1]._replace(end=i)  # "no pouches, and nothing flows back" denies both once
                if i == start and i and "?" in reading.gaps[i]:
                    cue = cue._replace(start=previous[0])  # "A pocket of pus? None."
                found.append(cue)
                i = cue.last
            i += 1
        previous = (start, end)
    return found


def _cue(reading: Reading, i: int, start: int, end: int) -> Cue | None:
    texts = reading.texts
    word = texts[i]
    following = texts[i + 1] if i + 1 < end else ""
    if word == "no":
        if following in ("sooner", "doubt") or (following[:1].isdigit() and not _is_measure(texts, i + 1, end)):
            return None
        if following in ("more", "larger", "bigger") and "than" in texts[i + 2 : i + 4]:
            return None  # a limit
        changing = next((j for j in range(i + 2, min(end, i + 10)) if texts[j] in _CHANGING), 0)
        if changing:  # "no sign of the mass growing" denies no mass
            return Cue(i, i, changing, _reach(reading, changing, end))
        if CHANGE & set(texts[i + 1 : i + 4]):  # "no change in the size of the mass" denies no mass
            stop = next((j for j in range(i + 1, end) if texts[j] in ("in", "of")), end)
            return Cue(i, i, i, stop)
        if following == "longer":
            return Cue(i, i + 1, _back(reading, i, start), _reach(reading, i + 2, end))
    if word in ("neither", "not") and following in ("confirm", "yes", "only", "just", "printed", "yet", "merely", "as"):
        return None
    if word == "not" and following == "shown" and reading.behind(i + 1) == ")":
        return None
    if word in _STOPPED and not following.endswith("ing"):
        return None  # "the doctors stopped the bleeding"
    if word in _FORWARD or word in _FAILS:
        return Cue(i, i, i, _reach(reading, i + 1, end))
    if word in ("rather", "instead") and following in ("than", "of"):
        return Cue(i, i + 1, i, _reach(reading, i + 2, end))
    if word in ("free", "clear") and following in ("of", "from"):
        return Cue(i, i + 1, i, _reach(reading, i + 2, end))
    if word == "loss" and _AMOUNTS & set(texts[i + 1 : i + 6]):
        return None
    if word in _ENDS and following == "of":
        return Cue(i, i, i, _reach(reading, i + 1, end, short=word == "loss"))
    if (word in _CONTRACTED and following == "t") or word in ("not", "cannot"):
        return _not(reading, i, i + 1 if following == "t" else i, start, end)
    if word == "none":
        return Cue(i, i, i, _reach(reading, i + 1, end))
    if word == "non":
        return None if following in _NAMED_NON else Cue(i, i, i, min(end, i + 2))
    if word == "ruled" and following == "out":
        return Cue(i, i + 1, _back(reading, i, start), _reach(reading, i + 2, end))
    if (word, following) in (("rules", "out"), ("negative", "for")):
        return Cue(i, i + 1, i, _reach(reading, i + 2, end))
    if word == "gone" and following in _WAYS:
        return None  # "has gone through the wall"
    if word == "excluded" and _BEEN.isdisjoint(texts[max(start, i - 2) : i]) and following not in ("", "by"):
        return Cue(i, i, i, _reach(reading, i + 1, end))  # "an ultrasound that excluded a clot"
    if word in ("went", "goes", "go") and following == "away":
        return Cue(i, i + 1, _back(reading, i, start), i + 2)
    if word == "absent" and texts[i - 1] in _TELLING:  # "a patient with headache shows absent flow" has a headache
        return Cue(i, i, i, _adjoined(reading, i, end))
    if word in _BACKWARD:
        reach = _adjoined(reading, i, end) if word in ("absent", "missing") else i + 1
        return Cue(i, i, _back(reading, i, start), reach)
    return None


# "Non-Hodgkin lymphoma" denies nothing.
_NAMED_NON = frozenset("accidental hodgkin small specific alcoholic".split())


def _adjoined(reading: Reading, i: int, end: int) -> int:
    """Where the two words behind word i end; "end-diastolic" is one."""
    joined = reading.gaps[i + 2 : i + 3] == ["-"]
    return min(end, i + (4 if joined else 3))


def _is_measure(texts: list[str], i: int, end: int) -> bool:
    """Whether a number at word i is a size that describes what "no" denies: "no 3 cm mass", and not "no. 3"."""
    return any(texts[j] in _LENGTHS for j in range(i + 1, min(end - 1, i + 5)))


_LENGTHS = frozenset("mm cm millimetre millimeter centimetre centimeter inch".split())


def _not(reading: Reading, i: int, last: int, start: int, end: int) -> Cue | None:
    """The denial by "not" or "isn't" at the words [i, last]."""
    texts = reading.texts
    following = texts[last + 1] if last + 1 < end else ""
    if following in ("changed", "altered"):
        return None  # what has not changed is as it was
    if following == "belong" or (following == "be" and texts[i - 1 : i] == ["should"]):
        return None  # "air that does not belong there", "where it should not be"
    if following in ("pathognomonic", "specific", "diagnostic", "typical") and texts[last + 2 : last + 3] in _OF_IT:
        return None  # what a sign does not prove may be there
    seen = bool(SEEN & set(texts[last + 1 : last + 4]))
    return Cue(i, last, _back(reading, i, start) if seen else i, _reach(reading, last + 1, end, short=True))


_OF_IT = (["of"], ["for"])
_BEEN = frozenset("is are was were been be being and or clearly reliably".split())
_OF_NOW = _CONTRACTED | frozenset(("not", "no"))
_FORMERLY = frozenset("before previously earlier beforehand formerly".split())
_TELLING = frozenset("shows reveals demonstrates discloses displays depicts revealed showed demonstrated".split())


def _reach(reading: Reading, i: int, end: int, *, short: bool = False) -> int:
    """Where a denial that begins at word i ends; a `short` one ends at a comma."""
    texts = reading.texts
    for j in range(i, end):
        gap = reading.gaps[j]
        if texts[i - 1] == "without" and j > i and texts[j] in _TELLING:
            return j  # "a scan without dye shows a stone"
        if texts[j] == "in" and not DYE.isdisjoint(texts[i:j]):
            return j  # "without dye in a child with a fracture"
        goes_on = texts[j] in ("on", "by") and j - i < 4
        goes_on = goes_on or (texts[j] == "where" and bool(_OBLIGED & set(texts[j + 1 : j + 4])))
        if texts[j] in _STOPS and not goes_on:  # "has not stopped where it should"
            return j
        if j > i and "," in gap and texts[j] not in ("or", "nor"):
            rest = texts[j:end]
            if short or _VERBS & set(rest) or not ({"or", "nor", "and"} & set(rest)):
                return j
        if j > i and ("(" in gap or ")" in gap) and not _is_aside(reading, i, j):
            return j
        if (
            j > i + 1
            and texts[j] == "with"
            and texts[j - 1] not in ("consistent", "associated", "compatible", "filled", "contact")
        ):
            return j
    return end


def _is_aside(reading: Reading, i: int, j: int) -> bool:
    """Whether a short bracket that opens or closes before word j stands within what begins at word i, and what is said
    goes on behind it: "no gastric (stomach) lesion"."""
    gaps = reading.gaps
    if ")" in gaps[j]:
        return gaps[j] == ") " and any("(" in gap for gap in gaps[i + 1 : j])
    closing = next((gap for gap in gaps[j + 1 : j + 6] if gap != " "), "")
    return gaps[j] == " (" and closing == ") "


def _back(reading: Reading, i: int, start: int) -> int:
    """Where a denial that covers what stands before it begins: the subject of its clause, behind the last comma."""
    for j in range(i, start, -1):
        if "," in reading.gaps[j]:
            return j
    return start


_JUDGED_KINDS = frozenset(("finding", "disease", "symptom", "enhancement", "uptake", "visible"))
_JUDGED_STATES = frozenset(("flow", "effusion", "ascites", "lymphadenopathy"))


def judged(concept: str) -> bool:
    """Whether a concept is one that can be denied, as a finding is and a body part is not."""
    return concept in _JUDGED_STATES or kind_of(concept) in _JUDGED_KINDS


_MAY_DENY = (
    WELL_OFF
    | _FORWARD
    | _BACKWARD
    | _CONTRACTED
    | _FAILS
    | _ENDS
    | frozenset(
        "not cannot none non rather instead free clear ruled rules negative only alone sole solely exclusively".split()
    )
)


def may_deny(reading: Reading) -> bool:
    """Whether anything in a caption could be a denial; most captions hold none."""
    return not _MAY_DENY.isdisjoint(reading.bag) or any(map(is_opposite, [s.senses for s in reading.get(senses)]))


@lru_cache(maxsize=4096)
def is_opposite(named: tuple[Sense, ...]) -> bool:
    """Whether a wording denies a concept by itself, as "patent" does."""
    return any(sense.sign < 0 for sense in named)
