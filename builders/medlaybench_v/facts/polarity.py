"""Negation with its scope: for each concept of a caption, whether it is said to be present.

"No A and no B", "A without B", "A is absent", "one in B but none in A". Opposites are signs of one concept in
`findings.csv`, so that "patent", "open" and "not blocked" are the same, and so are "intact" and "not torn".
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from builders.medlaybench_v.facts.binding import CLOSE, Placed, anchors, keys, likeness, share_kept, turned
from builders.medlaybench_v.facts.certainty import OPEN, POSSIBLE, PROBABLE, UNLIKELY, degrees
from builders.medlaybench_v.facts.order import moments
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.poles import Pole, poles
from builders.medlaybench_v.facts.scan import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, implied, kind_of, senses
from builders.medlaybench_v.facts.sides import sides
from builders.medlaybench_v.facts.wordings import Sense, root

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
_CHANGE = frozenset("change changes difference progression growth increase decrease enlargement".split())
_STOPPED = frozenset("stopped ceased ceases stops".split())
_NOT_ALL = frozenset("new other further additional more fresh".split())
_ENDS = frozenset("clearance resolution disappearance absence loss".split())  # of what follows
_WAYS = frozenset("through into down up over on to by past beyond back flat wrong in".split())
_TAKES = frozenset("take takes taking took pick picks soak soaks absorb absorbs catch catches collect".split())
_FLOWS = frozenset(
    "enters enter reaches reach passes pass fills fill flows flow leaks leak leakage leaking extravasation spill "
    "spills escapes escape runs gets goes comes came".split()
)
_OBLIGED = frozenset("should ought belongs belong".split())
_SEEN = frozenset(
    "seen visible visualised visualized identified found present detected evident shown apparent demonstrated "
    "noted depicted "
    "there appreciated observed made visualise visualize show".split()
)
_STOPS = frozenset(
    "but however although though while whereas except apart besides despite after before following since during "
    "because within inside "
    "due then whose where yet only until unless on by".split()
)
_ELLIPTIC = frozenset("not is are does do did has isn doesn".split())  # "A is intact; B is not."
_DETERMINERS = frozenset("the a an there it this that these those its his her their some both all also".split())
_VERBS = frozenset(
    "is are was were has have shows show lies lie sits reaches remains holds looks can does do accompany marks".split()
)
_DYE = frozenset("contrast dye gadolinium injection enhanced injected iodinated intravenous".split())


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
        hard = any(char in ".;:?!—" for char in gap)
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
            or (comma and word in _WELL_OFF)
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
    for said in reading.get(senses):
        if ahead and any(first <= said.first < end for first, end in ahead):
            continue
        if _goes(reading, said.first):
            continue
        flips = denied[said.last] % 2 and not any(said.first <= cue.first <= said.last for cue in cues)
        flip = -1 if flips else 1
        if flip < 0 and said.first and reading.texts[said.first - 1] in _NOT_ALL:
            continue  # "no new lesion" denies none that was there
        hardly = not _HARDLY.isdisjoint(reading.texts[max(0, said.first - 3) : said.first])
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


def _goes(reading: Reading, i: int) -> bool:
    """Whether "gone" tells of a way, not of an end: "the surgeons had gone in from the front"."""
    return reading.texts[i] == "gone" and not _WAYS.isdisjoint(reading.texts[i + 1 : i + 2])


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
            if reading.texts[i] in _OF_NOW and reading.texts[end - 1] in _FORMERLY:
                break  # "which did not bulge before" denies nothing of now
            again = denied_end or (covered and reading.texts[i] == "nor")  # "not resolved"; "neither A nor B"
            cue = None if again or any(a <= i <= b for a, b in open_spans) else _cue(reading, i, start, end)
            if cue is not None:
                if found and word in _ANEW and found[-1].first < found[-1].end > i > found[-1].last:
                    found[-1] = found[-1]._replace(end=i)  # "no pouches, and nothing flows back" denies both once
                if i == start and i and "?" in reading.text[reading.words[i - 1].end : reading.words[i].start]:
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
        if _CHANGE & set(texts[i + 1 : i + 4]):  # "no change in the size of the mass" denies no mass
            stop = next((j for j in range(i + 1, end) if texts[j] in ("in", "of")), end)
            return Cue(i, i, i, stop)
        if following == "longer":
            return Cue(i, i + 1, _back(reading, i, start), _reach(reading, i + 2, end))
    if word in ("neither", "not") and following in ("confirm", "yes", "only", "just", "printed", "yet", "merely", "as"):
        return None
    if (
        word == "not"
        and following == "shown"
        and reading.text[reading.words[i + 1].end : reading.words[i + 1].end + 1] == ")"
    ):
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
        return Cue(i, i, i, min(end, i + 2))
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
    if word == "absent" and texts[i - 1] in _TELLING:
        return Cue(i, i, i, min(end, i + 3))  # "a patient with headache shows absent flow" denies no headache
    if word in _BACKWARD:
        return Cue(i, i, _back(reading, i, start), min(end, i + 3) if word in ("absent", "missing") else i + 1)
    return None


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
    if following == "as" and texts[i] == "not":
        return None
    if following in ("even", "quite") and texts[last + 2 : last + 3] and texts[last + 2][0].isdigit():
        return None  # a limit: "not even 2 mm"
    if following in ("pathognomonic", "specific", "diagnostic", "typical") and texts[last + 2 : last + 3] in _OF_IT:
        return None  # what a sign does not prove may be there
    seen = bool(_SEEN & set(texts[last + 1 : last + 4]))
    return Cue(i, last, _back(reading, i, start) if seen else i, _reach(reading, last + 1, end, short=True))


_OF_IT = (["of"], ["for"])
_BEEN = frozenset("is are was were been be being and or clearly reliably".split())
_OF_NOW = _CONTRACTED | frozenset(("not", "no"))
_FORMERLY = frozenset("before previously earlier beforehand formerly".split())
_TELLING = frozenset("shows reveals demonstrates discloses displays depicts revealed showed demonstrated".split())


def _reach(reading: Reading, i: int, end: int, *, short: bool = False) -> int:
    """Where a denial that begins at word i ends; a `short` one ends at a comma."""
    texts, words, text = reading.texts, reading.words, reading.text
    for j in range(i, end):
        gap = text[words[j - 1].end : words[j].start]
        if texts[i - 1] == "without" and j > i and texts[j] in _TELLING:
            return j  # "a scan without dye shows a stone"
        if texts[j] == "in" and not _DYE.isdisjoint(texts[i:j]):
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
        if short and texts[j] == "and" and _tells_anew(reading, j + 1):  # "does not cross it and spares the rest"
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


def _tells_anew(reading: Reading, i: int) -> bool:
    """Whether a word denies by itself, as "spares" does."""
    return any(s.first == i and any(x.sign < 0 for x in s.senses) for s in reading.get(senses))


def _back(reading: Reading, i: int, start: int) -> int:
    """Where a denial that covers what stands before it begins: the subject of its clause, behind the last comma."""
    words, text = reading.words, reading.text
    for j in range(i, start, -1):
        if "," in text[words[j - 1].end : words[j].start] or (
            reading.texts[j] in ("and", "but", "after", "of") and reading.texts[j] == "but"
        ):
            return j
    return start


# ------------------------------------------------------------------------------------------------------------ compare

_JUDGED_KINDS = frozenset(("finding", "disease", "symptom", "enhancement", "uptake", "visible"))
_JUDGED_STATES = frozenset(("effusion", "ascites", "lymphadenopathy"))
_WEAK = frozenset("visible uptake lesion".split())


def _moved(here: Polarity, there: Polarity) -> str:
    """A denial that went from one finding to another: "a cyst, no stone" and "a stone, no cyst"."""
    shared = [c for c in sorted(set(here.signs) & set(there.signs)) if _judged(c) and c not in _WEAK]
    lost = [c for c in shared if here.signs[c] == {-1} and there.signs[c] == {1}]
    new = [c for c in shared if here.signs[c] == {1} and there.signs[c] == {-1}]
    return f"no {lost[0]} and no {new[0]}" if lost and new else ""


def _judged(concept: str) -> bool:
    return concept in _JUDGED_STATES or kind_of(concept) in _JUDGED_KINDS


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """What is denied stays denied, what is affirmed stays affirmed."""
    outcome = Outcome()
    if not (expert.get(_may_deny) or lay.get(_may_deny)):
        return outcome
    here, there = expert.get(polarity), lay.get(polarity)
    ours, theirs = _units(expert, here), _units(lay, there)
    if not ours and not theirs:
        _by_place(expert, lay, outcome)
        return outcome
    moved = _moved(here, there)
    if moved:
        outcome.add("swapped", moved, Basis.READ)
    for concept in sorted(set(here.signs) & set(there.signs)):
        if not _judged(concept):
            continue
        signs, told = here.signs[concept], there.signs[concept]
        if (signs == {-1} and told == {1}) or (signs == {1, -1} and told == {1} and theirs < ours):
            sure = theirs < ours or not _denied_there(expert, lay, concept)
            if signs == {1, -1} and _denied_of_others(expert, lay, concept):
                outcome.doubts.append(f"changed: no {concept} became {concept}")
            elif theirs < ours or (
                concept not in _WEAK and (sure or _is_there(lay, concept) or _context(expert, lay, concept) > 0.5)
            ):
                sure = _said_of_one(expert, lay, concept)
                _tell(outcome, concept, f"no {concept} became {concept}", expert, lay, sure=sure)
        elif signs == {1} and told == {-1}:
            sure = theirs > ours or not _denied_there(lay, expert, concept)
            # a finding may be denied in one respect and told in another: "the stone no longer blocks"
            denied_more = sure and theirs > ours and concept not in _WEAK
            of_one = denied_more and not _of_other_things(expert, lay, concept)
            if of_one:
                _tell(outcome, concept, f"{concept} became no {concept}", lay, expert)
            else:
                outcome.add("changed", f"{concept} became no {concept}", Basis.UNMET)
    if not outcome.failed:
        _turned_outright(expert, lay, outcome)
    if not outcome.decided:
        _by_kind(here, there, outcome)
    if ours and not theirs and not outcome.decided and "growth" not in lay.bag:  # "found no growth"
        denied = {c for c, signs in here.signs.items() if -1 in signs and _judged(c)}
        denied = {c for c in denied if here.signs[c] == {-1} or not _denied_of_others(expert, lay, c)}
        outright = any(_is_outright(expert.texts, cue) for cue in here.cues) and _WELL.isdisjoint(lay.texts)
        untold = any(there.signs.get(concept) == {1} for concept in denied)
        if untold or (outright and _EXCEPTS.isdisjoint(expert.texts)):  # others are told by their effect: "preserved"
            outcome.add("lost", _shown(expert, here), Basis.READ)
    if not outcome.decided:
        _by_place(expert, lay, outcome)
    lacks = expert.get(_may_deny) or not expert.bag.isdisjoint(_NONE_OF) or any(map(_LACKS, expert.bag))
    if not outcome.doubts and not outcome.failed and not lacks and _IF.isdisjoint(lay.bag):
        for text in lay.get(_denials)[:1]:
            outcome.add("new", text, Basis.READ)
    return outcome


# Words that tell by their parts, or by a number, that something is not there: "azoospermia", "a score of 0".
_LACKS = re.compile(r"non(?!contrast|enhanc)[a-z]|azoo|anuri|afebr|asympt|agene|aplas").match
_NONE_OF = frozenset("0 zero since developed pseudotumor".split())


def _denials(reading: Reading) -> list[str]:
    """The things that a caption says with "no" are not there now; "no change", "no bigger" deny nothing that is shown.

    Of 1,265 broken and 1,314 faithful pairs of fifteen writers 9 and 8 have one where the expert caption has no denial.
    """
    found = []
    for start, end in reading.get(clauses):
        for cue in reading.get(polarity).cues:
            behind = reading.texts[cue.last + 1 : min(cue.end, cue.last + 5)]
            if not start <= cue.first < end or reading.texts[cue.last] != "no" or not behind:
                continue
            if _NO_FINDING.isdisjoint(behind) and _NOT_NOW.isdisjoint(reading.texts[start:end]):
                words = reading.words
                found.append(f"“{reading.text[words[cue.first].start : words[cue.last + len(behind)].end]}”")
    return found


_NO_FINDING = (
    _CHANGE
    | _DYE
    | frozenset(
        "different other longer more less bigger larger smaller wider higher lower shift arrow arrows marker spread "
        "signal reason cause explanation matter one".split()
    )
)
_NOT_NOW = frozenset("should normally usually before earlier until yet when once code stands ago".split())


def _turned_outright(expert: Reading, lay: Reading, outcome: Outcome) -> None:
    """What "no" stands right before in one caption, and what the other one, which denies less, tells as there.

    Of 1,185 broken and 1,234 faithful pairs of fourteen writers 22 and 0 have one that nothing else had found.
    """
    more = len(lay.get(polarity).cues) - len(expert.get(polarity).cues)
    if not more or not _IF.isdisjoint(lay.bag):
        return
    here, there = expert.get(_outright), lay.get(_outright)
    # In a caption told anew much else may deny, or tell what would be.
    close = CLOSE if more > 0 or lay.get(_may_deny) else _ALIKE
    basis = Basis.CONTRADICTED if share_kept(expert, lay) >= close else Basis.READ
    if more < 0:
        for key in _turned_keys(here.signs, there.signs):
            outcome.add("changed", f"no {key} became {key}", basis)
    if more > 0 and _AT_A_TIME.isdisjoint(lay.bag) and not expert.get(_may_deny):
        for key in _turned_keys(there.signs, here.signs):
            outcome.add("changed", f"{key} became no {key}", basis)


_ALIKE = 0.5
_IF = frozenset(("if", "whether", "unless"))
_AT_A_TIME = frozenset("before once earlier previously yet longer".split())


def _turned_keys(denying: dict[str, set[int]], telling: dict[str, set[int]]) -> list[str]:
    """One of the things that one caption only denies and the other only tells; by its concept where it has one."""
    found = (key for key, signs in denying.items() if signs == {-1} and telling.get(key) == {1})
    return [key.removeprefix("=") for key in sorted(found, key=lambda key: (key[0] == "=", key))[:1]]


def _outright(reading: Reading) -> Polarity:
    """The denials of a caption, and of each thing whether "no" stands right before it (-1), a denial covers it from
    afar (0) or none does (1)."""
    cues = reading.get(polarity).cues
    denied = {i for cue in cues for i in range(cue.start, cue.end)}
    outright = set()
    for cue in cues if denied else ():
        for i in range(cue.last + 1, min(cue.end, cue.last + 5)):
            if reading.texts[cue.first] not in _HEADS or _ends_outright(reading.texts, i):
                break
            outright.add(i)
    signs: dict[str, set[int]] = {}
    explained = _in_brackets(reading)
    for first, _, key, weight in reading.get(keys):
        if weight >= 0.8 and first not in explained and _may_be_denied(key):
            signs.setdefault(key, set()).add(-1 if first in outright else 0 if first in denied else 1)
    return Polarity(cues, signs)


def _in_brackets(reading: Reading) -> frozenset[int]:
    """The words within brackets, which explain what stands before them, denied or not."""
    depth, found = 0, []
    for i, gap in enumerate(reading.gaps):
        depth = max(0, depth + gap.count("(") - gap.count(")"))
        if depth:
            found.append(i)
    return frozenset(found)


_HEADS = frozenset("no without not none absent isn".split())


def _ends_outright(texts: list[str], i: int) -> bool:
    """Whether a denial goes no farther than word i: "not pathognomonic of"; "no sign of" does."""
    return (texts[i] in _WITHIN or texts[i] in ("but", "and", "which", "that")) and not (
        texts[i] == "of" and texts[i - 1] in _SIGNS
    )


_SIGNS = frozenset("sign signs evidence trace".split())


@lru_cache(maxsize=65536)
def _may_be_denied(key: str) -> bool:
    """Whether a key is that of a thing, and not of a side, pole, mark, place or of seeing and dye."""
    if key[0] == "=":
        return key[1:] not in _NO_THINGS and not key[1].isdigit()
    if key[0] == "@" or key[-1] in "+-=" or key.startswith(("side ", "no ")) or key in ("visible", "idiom"):
        return False
    return kind_of(key) != ANATOMY or _judged(key)


_NO_THINGS = frozenset(root(word)[:7] for word in "arrow marker label contrast dye gadolinium normal".split())


_EARLY, _LATE = ("stage -", "beforewards"), ("stage +", "afterwards")


def _by_kind(here: Polarity, there: Polarity, outcome: Outcome) -> None:
    """A denied finding told as there by a special kind of it: "intact", "broken"."""
    new = [c for c in there.signs if there.signs[c] == {1} and c not in here.signs and _judged(c)]
    for concept in sorted(c for c in here.signs if here.signs[c] == {-1} and c not in there.signs and _judged(c)):
        special = [c for c in new if concept in implied(c) and kind_of(c) == kind_of(concept)]
        if special and concept not in _WEAK:
            outcome.add("changed", f"no {concept} became {special[0]}", Basis.UNMET)


def _by_place(expert: Reading, lay: Reading, outcome: Outcome) -> None:
    """Denials that went from one place to another, or were lost for one of two places."""
    here, there = expert.get(signs_of_places), lay.get(signs_of_places)
    if swap := _exchanged_places(here, there):
        outcome.add("swapped", swap, Basis.READ)
        return
    for early, late in ((_EARLY, _LATE), (_LATE, _EARLY)):
        lost = any(here.get(e) == {-1} and there.get(e) == {1} for e in early)
        if lost and any(here.get(x) == {1} for x in late) and not any(there.get(x) == {1} for x in late):
            outcome.moved("what was found at first and later", sure=False)
    for place in sorted(lay.get(also)):
        if here.get(place) == {-1} and there.get(place) == {1}:
            outcome.add("changed", f"{place} without became {place} with", Basis.READ)


def _is_outright(texts: list[str], cue: Cue) -> bool:
    """Whether a denial can hardly be told without one; "not torn" can: "the ligament holds"."""
    participle = texts[cue.last + 1 : cue.last + 2] and texts[cue.last + 1].endswith(("ed", "en", "rn", "wn"))
    return texts[cue.first] in _OUTRIGHT and not (texts[cue.first] == "not" and participle)


# Denials that name what they deny: a lay caption without any denial has lost them.
_OUTRIGHT = frozenset(
    "no not without absent cannot fails failed lacks lacking lack non ruled neither excludes excluding".split()
)
_EXCEPTS = frozenset("except besides apart other only".split())
# Words that may deny a finding without naming it.
_WELL = frozenset("normal normally clean clear same healthy smooth fine empty still only".split())
_DENYING = (
    _FORWARD
    | _BACKWARD
    | _CONTRACTED
    | _FAILS
    | _ENDS
    | frozenset(
        "not cannot none non rather instead free clear ruled rules negative only alone sole solely exclusively".split()
    )
)


def _may_deny(reading: Reading) -> bool:
    """Whether anything in a caption could be a denial; most captions hold none."""
    return not _MAY_DENY.isdisjoint(reading.bag) or any(map(_is_opposite, {s.senses for s in reading.get(senses)}))


@lru_cache(maxsize=4096)
def _is_opposite(named: tuple[Sense, ...]) -> bool:
    """Whether a wording denies a concept by itself, as "patent" does."""
    return any(sense.sign < 0 for sense in named)


def _units(reading: Reading, found: Polarity) -> int:
    """How many denials a caption holds, those of the contrast dye aside."""
    covered = {i for cue in found.cues for i in range(cue.start, cue.end)}
    texts = reading.texts
    count = sum(
        (
            texts[cue.first] == "none"
            or not (_DYE & set(texts[cue.last + 1 : cue.last + 4]))
            or not (_FLOWS | _TAKES).isdisjoint(texts[cue.last + 1 : cue.last + 5])
            or texts[cue.first - 1] in ("up", "takes", "taking")
        )
        and not _twice(reading, cue)
        and not (texts[cue.first] == "no" and _CHANGE & set(texts[cue.last + 1 : cue.last + 4]))
        for cue in found.cues
    )
    for said in reading.get(senses):
        if (
            said.last not in covered
            and texts[said.last] not in ("unenhanced", "nonenhanced")
            and any(s.sign < 0 and _judged(s.concept) for s in said.senses)
        ):
            count += 1
    return count


def _twice(reading: Reading, cue: Cue) -> bool:
    """A denied denial: "has not resolved"."""
    return any(
        cue.last < said.first <= cue.last + 2
        and {x.concept for x in said.senses} == {"visible"}
        and said.senses[0].sign < 0
        for said in reading.get(senses)
    )


def _shown(reading: Reading, found: Polarity) -> str:
    if found.cues:
        cue = found.cues[0]
        last = min(cue.last + 3, len(reading.words) - 1)
        return f"“{reading.text[reading.words[cue.first].start : reading.words[last].end]}”"
    said = next(s for s in reading.get(senses) if any(x.sign < 0 for x in s.senses))
    return f"“{reading.text[reading.words[said.first].start : reading.words[said.last].end]}”"


def _tell(outcome: Outcome, concept: str, text: str, denying: Reading, telling: Reading, *, sure: bool = False) -> None:
    """A contradiction where one text denies a finding outright, and the other says outright that it is there or holds
    nothing that could be a denial."""
    open_to_doubt = not _HYPOTHETICAL.isdisjoint(telling.bag)  # "if a bone is cracked at all"
    sure = not open_to_doubt and (
        sure or (_is_denied_outright(denying, concept) and (not telling.get(_may_deny) or _is_there(telling, concept)))
    )
    outcome.add("changed", text, Basis.CONTRADICTED if sure else Basis.READ)


def _said_of_one(denying: Reading, telling: Reading, concept: str) -> bool:
    """Whether one text denies of a thing what the other tells of it, at one time: "a patent vein", "the blocked vein".

    Of 1,345 broken and 1,394 faithful pairs of sixteen writers 13 and 0 have one, and nothing surer.
    """
    if not _AT_A_TIME.isdisjoint(denying.bag | telling.bag) or not _PRIOR.isdisjoint(denying.bag | telling.bag):
        return False
    placed = [
        [Placed(sign, s.first, s.last) for s in reading.get(senses) if any(x.concept == concept for x in s.senses)]
        for sign, reading in (("no", denying), ("yes", telling))
    ]
    return concept not in _WEAK and turned(denying, placed[0], telling, placed[1]) is not None


_PRIOR = frozenset("prior previous initial former formerly ago".split())
_HYPOTHETICAL = frozenset("if whether unless should could might".split())


def _is_denied_outright(reading: Reading, concept: str) -> bool:
    """Whether "no" or its like stands right before a finding: "no stone", "without an obstructing stone"."""
    firsts = [s.first for s in reading.get(senses) if any(x.concept == concept and x.sign > 0 for x in s.senses)]
    return any(
        reading.texts[cue.first] in _OUTRIGHT
        and cue.last < first <= cue.last + 3
        and _WITHIN.isdisjoint(reading.texts[cue.last + 1 : first])
        for cue in reading.get(polarity).cues
        for first in firsts
    )


_WITHIN = frozenset("of in at on with within from to for by".split())


def _of_other_things(expert: Reading, lay: Reading, concept: str) -> bool:
    """Whether a finding is told of one body part, and denied of another: a heart displaced, a liver in place."""
    ours, theirs = _parts_with(expert, concept), _parts_with(lay, concept)
    if not ours or not theirs:
        return False
    return ours.isdisjoint(frozenset().union(*map(implied, theirs))) and theirs.isdisjoint(
        frozenset().union(*map(implied, ours))
    )


def _denied_of_others(expert: Reading, lay: Reading, concept: str) -> bool:
    """Whether what the expert caption both tells and denies is told by the lay one of no part of which it is denied."""
    free, told = _parts_with(expert, concept, denied=True), _parts_with(lay, concept)
    return bool(free and told) and free.isdisjoint(told)


def _parts_with(reading: Reading, concept: str, *, denied: bool = False) -> frozenset[str]:
    """The body parts in the clauses that name a concept; only in those that deny it."""
    found: set[str] = set()
    cues = reading.get(polarity).cues
    for start, end in reading.get(clauses):
        named = [s for s in reading.get(senses) if start <= s.first < end]
        free = any(start <= cue.first < end for cue in cues)
        if any(x.concept == concept and (x.sign < 0 or free or not denied) for s in named for x in s.senses):
            found |= {x.concept for s in named for x in s.senses if kind_of(x.concept) == ANATOMY}
    return frozenset(found)


def _is_there(lay: Reading, concept: str) -> bool:
    """Whether a caption says outright that something is there: "there is an abscess", "an abscess is seen"."""
    if concept in _WEAK:
        return False
    texts = lay.texts
    for start, end in lay.get(clauses):
        said = [s for s in lay.get(senses) if start <= s.first < end and any(x.concept == concept for x in s.senses)]
        if not said:
            continue
        before, rest = texts[start : said[0].first], texts[said[-1].last + 1 : end]
        seen = any(one in _BE and other in _SEEN for one, other in pairwise(rest))
        seen = seen or any(one == "there" and other in _BE for one, other in pairwise(before))
        if seen and not any(cue.start < end and start < cue.end for cue in lay.get(polarity).cues):
            return True
    return False


_BE = frozenset("is are was were be".split())


def _denied_there(denying: Reading, other: Reading, concept: str) -> bool:
    """Whether the place in which one text denies a concept is one where the other text denies something too."""
    places: set[str] = set()
    for start, end in denying.get(clauses):
        here = [s for s in denying.get(senses) if start <= s.first < end]
        if any(x.concept == concept for s in here for x in s.senses):
            places |= {x.concept for s in here for x in s.senses if kind_of(x.concept) == ANATOMY}
    signs = other.get(signs_of_places)
    return any(-1 in signs.get(place, ()) for place in places)


def _context(expert: Reading, lay: Reading, concept: str) -> float:
    """How much of what stands near a concept stands near it in the other text."""
    near = []
    for reading in (expert, lay):
        bags = [
            anchors(reading, s.first, s.last)
            for s in reading.get(senses)
            if any(x.concept == concept for x in s.senses)
        ]
        near.append(bags)
    return max((likeness(a, b) for a in near[0] for b in near[1]), default=0.0)


def signs_of_places(reading: Reading) -> dict[str, set[int]]:
    """Of each body part and side, whether it stands in clauses that deny, that affirm, or in both."""
    found = reading.get(polarity)
    signs: dict[str, set[int]] = {}
    sign = 1
    at: list[int] = []  # the sign of each word's clause
    for start, end in reading.get(clauses):
        # "A is whole, but B is not" tells of B the opposite of what it tells of A
        sign = -sign if _is_elliptic(reading, start, end) else _sign_of(reading, found, start, end)
        at += [sign] * (end - start)
    for said in reading.get(senses):
        for sense in said.senses:
            if kind_of(sense.concept) == ANATOMY:
                signs.setdefault(sense.concept, set()).add(at[said.first])
    for moment in reading.get(moments):
        if moment.value != "during":
            signs.setdefault(f"{moment.value}wards", set()).add(at[moment.first])
    for pole in filter(_is_end, reading.get(poles)):
        signs.setdefault(f"{pole.dimension} {pole.value}", set()).add(at[pole.first])
    for side in reading.get(sides):
        if side.value != "both":
            signs.setdefault(side.value, set()).add(at[side.first])
    return signs


def _is_elliptic(reading: Reading, start: int, end: int) -> bool:
    """Whether a clause ends with its verb: "but the cerebellum has not"; a stop or the end of the text follows."""
    if not 1 < end - start < 9 or reading.texts[end - 1] not in ("not", "is", "are", "does", "has"):
        return False
    return end == len(reading.texts) or not _STOPS_OF_CLAUSES.isdisjoint(reading.gaps[end])


_STOPS_OF_CLAUSES = frozenset(".;,)")


def also(reading: Reading) -> frozenset[str]:
    """The body parts and sides in clauses that say the same of one more thing: "the left one holds some as well"."""
    if _TOO.isdisjoint(reading.bag):
        return frozenset()
    found: set[str] = set()
    for start, end in reading.get(clauses):
        texts = reading.texts[start:end]
        too = not _ONE_MORE.isdisjoint(texts) and any(
            (w in ("too", "likewise", "either") and i + 1 == len(texts))
            or (w == "also" and texts[i - 1] in ("is", "are", "has", "have") and texts[max(0, i - 2)] != "there")
            or (w == "as" and texts[i + 1 :] == ["well"])
            or (w in ("however", "though") and i < 2)
            for i, w in enumerate(texts)
        )
        if too or _is_elliptic(reading, start, end):
            named = [s for s in reading.get(senses) if start <= s.first < end]
            found |= {x.concept for s in named for x in s.senses if kind_of(x.concept) == ANATOMY}
            found |= {s.value for s in reading.get(sides) if start <= s.first < end and s.value != "both"}
            found |= {f"{p.dimension} {p.value}" for p in reading.get(poles) if _is_end(p) and start <= p.first < end}
    return frozenset(found)


_ONE_MORE = frozenset("too likewise either also as however though".split())
_TOO = _ONE_MORE | frozenset("not is are does has".split())


def _is_end(pole: Pole) -> bool:
    """Whether a pole names one of two like structures: the front ligament and the back one."""
    return pole.dimension in ("sagittal", "vertical", "depth", "stage")


def _sign_of(reading: Reading, found: Polarity, start: int, end: int) -> int:
    """Whether a clause denies; one that denies an opposite affirms: "the other one is not in one piece"."""
    cues = [cue for cue in found.cues if start <= cue.first < end]
    opposites = [i for i in reading.get(_opposites) if start <= i < end]
    if cues and opposites and all(any(cue.last < i < cue.end for cue in cues) for i in opposites):
        return 1
    return -1 if cues or opposites or _is_well(reading.texts[start:end]) else 1


def _opposites(reading: Reading) -> list[int]:
    """The words at which a finding is denied by its opposite, as "patent" does."""
    said = [s for s in reading.get(senses) if _is_opposite(s.senses)]
    return [s.first for s in said if any(x.sign < 0 and _judged(x.concept) for x in s.senses)]


def _is_well(texts: list[str]) -> bool:
    if _WELL_OFF.isdisjoint(texts) and "sound" not in texts:
        return False
    sound = any(one in ("is", "are") and other == "sound" for one, other in pairwise(texts))
    return sound or any(w in _WELL_OFF and (w != "free" or _is_free(texts, i)) for i, w in enumerate(texts))


def _is_free(texts: list[str], i: int) -> bool:
    """ "Free of", "lies free", and not "free fluid"."""
    return texts[i + 1 : i + 2] in (["of"], ["from"]) or i + 1 == len(texts)


# A clause with one of these says that nothing is wrong in its place.
_WELL_OFF = frozenset(
    "normal clean clear healthy intact unremarkable patent free spared unaffected uninvolved preserved negative".split()
)


_MAY_DENY = _DENYING | _WELL_OFF


def _exchanged_places(here: dict[str, set[int]], there: dict[str, set[int]]) -> str:
    """Two places of which the expert caption denies one and the lay caption the other."""
    shared = sorted(set(here) & set(there))
    lost = [p for p in shared if here[p] == {-1} and there[p] == {1}]
    new = [p for p in shared if here[p] == {1} and there[p] == {-1}]
    pairs = ((one, other) for one in lost for other in new if _place_kind(one) == _place_kind(other))
    return next((f"{one} and {other}" for one, other in pairs), "")


def _place_kind(place: str) -> str:
    """A side is exchanged for a side, a time for a time, a structure for a structure."""
    if place[-1] in "+-":
        return place[:-1]
    return "side" if place in ("left", "right") else "time" if place.endswith("wards") else ANATOMY
