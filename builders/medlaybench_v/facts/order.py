"""Order in time: what came before what, and which time of an event a caption is about.

"A before B", "B after A", "A, followed by B" and "preoperative" are parsed as (earlier, later) with the words near
each; two captions disagree if what is earlier in one is later in the other.
"""

from __future__ import annotations

from typing import NamedTuple

from builders.medlaybench_v.facts.binding import Placed, bag_of, in_order, likeness, only
from builders.medlaybench_v.facts.binding import turned as turned_at
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.phrases import sentence
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, kind_of, senses
from builders.medlaybench_v.facts.wordings import TIMES

BEFORE, AFTER, DURING = "before", "after", "during"


class Moment(NamedTuple):
    """The caption speaks of a time before, after or during an event; `event` says whether the event follows the words
    ("after surgery"), precedes them ("surgery was followed by"), is in them ("postoperative"), or is told as done in
    their sentence ("with the tube already in")."""

    value: str
    event: str
    first: int
    last: int


_FOLLOWS, _PRECEDES, _WITHIN, _DONE, _NONE = "follows", "precedes", "within", "done", "none"
_NOT_DONE = frozenset("not t never no".split())


def moments(reading: Reading) -> list[Moment]:
    """The times that a caption tells of, in their order."""
    found: list[Moment] = []
    end = 0
    for i, ((size, ((value, event), *_)), *_) in TIMES.matches(reading):
        if i < end:
            continue
        end = i + size
        if _is_time(reading, i, size):
            found.append(Moment(value, _NONE if _stands_alone(reading, event, i, end) else event, i, end - 1))
    return found


def _stands_alone(reading: Reading, event: str, i: int, end: int) -> bool:
    """Whether the words [i, end) name no event: "the cough followed" came later itself, "The day before, a tube …"."""
    texts = reading.texts
    if texts[end - 1] == "followed" and event == _PRECEDES:
        return True
    behind = reading.ends[i]
    if texts[i] in (BEFORE, AFTER) and reading.text[behind : behind + 1] in (",", "."):
        return True
    if texts[i] != BEFORE or not i:
        return False
    return end == len(texts) or (texts[i - 1] in _THEN and texts[end] in _GOES_ON)


_THEN = frozenset("as than there seen known present noticed never months weeks days year years ever was were".split())
_GOES_ON = frozenset("and but it he she a shows is has".split())


def _is_time(reading: Reading, i: int, size: int) -> bool:
    texts = reading.texts
    word = texts[i]
    before, after = reading.word(i - 1), reading.word(i + size)
    if word == "in" and texts[i + 1 : i + 4] == ["the", "middle", "of"] and _names_a_place(reading, i + size):
        return False  # "in the middle of the chest"
    if word == "while" and size == 1:
        return after.endswith("ing") or (
            after in ("the", "a", "an", "passing") and any(w.endswith("ing") for w in texts[i : i + 8])
        )
    if word in ("when", "then", "once", "next", "later", "since") and size == 1:
        if word == "next":
            return after != "to"
        if word == "once":
            return before not in ("at", "more") and after not in _ALSO_ONCE  # "once before, once after"
        return word not in ("when", "then")
    if word in ("follow", "follows"):  # a course that follows the folds
        return False
    if word == "control":
        return after not in ("group", "case", "over") and before not in ("matched", "a", "an")
    return not (word == "post" and after == "")


def _names_a_place(reading: Reading, i: int) -> bool:
    """Whether a body part is named within three words from word i, perhaps with what stands before it."""
    parts = (s for s in reading.get(senses) if s.last >= i and s.first < i + 3)
    return any(kind_of(sense.concept) == ANATOMY for said in parts for sense in said.senses)


_ALSO_ONCE = frozenset("before after when with without in at per during following prior".split())


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """What came before still comes before."""
    here, there = expert.get(moments), lay.get(moments)
    outcome = Outcome()
    if not here and not there:
        return outcome
    ahead = [m for m in here if m.value == BEFORE and m.event == _FOLLOWS]
    if ahead and BEFORE not in {m.value for m in there} and _TO_COME.isdisjoint(lay.bag):
        outcome.add("lost", _text(expert, ahead), Basis.UNMET)
    if not here or not there:
        return outcome
    same = [(m.value, m.event) for m in here] == [(m.value, m.event) for m in there] and in_order(expert, lay)
    turned = None if same else _turned(expert, lay)
    if not same and (turn := _of_one_event(expert, here, lay, there)):
        outcome.add("changed", turn, Basis.CONTRADICTED)
        return outcome
    if turned:
        alone = turned.sure and len(here) == len(there) == 1
        outcome.add("changed", turned.text, Basis.CONTRADICTED if alone else Basis.READ)
        return outcome
    days_here, days_there = ([m for m in found if m.event == _NONE] for found in (here, there))
    own, other = ({m.value for m in found} for found in (days_here, days_there))
    if own == {AFTER} and other == {BEFORE}:
        outcome.add("changed", f"{_text(expert, days_here)} became {_text(lay, days_there)}", Basis.READ)
    framed_here, framed_there = _framed(here), _framed(there)
    ours, theirs = _frames(expert, framed_here), _frames(lay, framed_there)
    if ours and theirs:
        backwards = _told_backwards(there) or _told_backwards(here)
        opposite = len({*ours, *theirs}) == 2 and len(set(ours)) == len(set(theirs)) == 1
        if opposite or (len(ours) == len(theirs) and sorted(ours) != sorted(theirs) and not backwards):
            text = f"{_text(expert, framed_here)} became {_text(lay, framed_there)}"
            basis = _basis(expert, framed_here, lay, framed_there)
            if not backwards or basis is Basis.CONTRADICTED:
                outcome.add("changed", text, basis)
        return outcome
    during, told = ([m for m in found if m.value == DURING] for found in (here, there))
    if during and theirs and not told:
        text = f"{_text(expert, during)} became {_text(lay, framed_there)}"
        outcome.add("changed", text, _basis(expert, here, lay, there))
    told = [m for m in told if not _of_the_picture(lay, m)]
    if told and ours and not during:
        text = f"{_text(expert, framed_here)} became {_text(lay, told)}"
        outcome.add("changed", text, _basis(expert, framed_here, lay, told))
    return outcome


def _of_one_event(expert: Reading, here: list[Moment], lay: Reading, there: list[Moment]) -> str:
    """The time before an event that became the time after it, or the reverse; both captions name the event behind."""
    ours, theirs = (
        [Placed(m.value, m.first, m.last) for m in found if m.event == _FOLLOWS and not _of_the_picture(r, m)]
        for r, found in ((expert, here), (lay, there))
    )
    turn = turned_at(expert, ours, lay, theirs, behind=True)
    return f"{turn.ours.value} became {turn.theirs.value}" if turn else ""


# By these a lay caption may tell that something came after the picture.
_TO_COME = frozenset(
    "later then afterwards afterward thereafter followed follows subsequently yet awaiting soon next planned due going "
    "would rose risen fell fallen dropped doubled halved tripled climbed sank".split()
)


def _basis(expert: Reading, here: list[Moment], lay: Reading, there: list[Moment]) -> Basis:
    """Two times contradict each other only where each caption tells of one, and both of one event."""
    ours, theirs = _events(expert, here), _events(lay, there)
    named = all(m.event == _FOLLOWS for m in (*here, *there))
    alone = len(here) == len(there) == 1 and not any(_of_the_picture(lay, m) or _denies(lay, m) for m in there)
    same = named or likeness(ours, theirs) > 0
    return Basis.CONTRADICTED if alone and same else Basis.READ if same else Basis.UNMET


def _denies(reading: Reading, moment: Moment) -> bool:
    """ "Once, when no drug had been given" is before."""
    return not _NOT_DONE.isdisjoint(reading.texts[max(0, moment.first - 1) : moment.last + 4])


def _events(reading: Reading, found: list[Moment]) -> dict[str, float]:
    """The keys of all events that the times of a caption are told by; "postoperative" names its own."""
    bag: dict[str, float] = {}
    for moment in found:
        if moment.event == _WITHIN:
            bag |= dict.fromkeys(bag_of(reading, moment.first, moment.last + 1), 1.0)
        elif moment.event == _DONE:
            start, end = sentence(reading, moment.first)
            bag |= bag_of(reading, start, min(end, moment.last + 4))
        else:
            bag |= _ends(reading, moment)[0]
    return bag


def _framed(found: list[Moment]) -> list[Moment]:
    return [m for m in found if m.value != DURING and m.event in (_FOLLOWS, _WITHIN, _DONE)]


def _frames(reading: Reading, framed: list[Moment]) -> list[str]:
    """When the picture was taken; what was done two days before this picture makes it one of afterwards."""
    pictured = [_of_the_picture(reading, m) for m in framed]
    return [
        _OTHER[m.value] if of_it else m.value
        for m, of_it in zip(framed, pictured, strict=True)
        if not (of_it and reading.texts[m.first] == "since")  # "grown since the scan of the day before"
    ]


def _of_the_picture(reading: Reading, moment: Moment) -> bool:
    """Whether the event of a time is the picture itself: "before this chest X-ray was taken"."""
    end = _comma(reading, moment.last, min(moment.last + 6, sentence(reading, moment.last)[1]))
    behind = reading.texts[moment.last + 1 : end]
    return moment.event == _FOLLOWS and behind[:1] in _THIS and not _PICTURES.isdisjoint(behind)


_OTHER = {BEFORE: AFTER, AFTER: BEFORE}
_THIS = (["this"], ["these"], ["the"])
_PICTURES = frozenset(
    "image images picture pictures scan scans film ray rays radiograph radiographs ct mri ultrasound sonogram "
    "echocardiogram angiogram mammogram examination study photo".split()
)


def _told_backwards(found: list[Moment]) -> bool:
    return any(m.event in (_PRECEDES, _NONE) for m in found)


def _text(reading: Reading, found: list[Moment]) -> str:
    moment = found[0]
    last = min(moment.last + (2 if moment.event == _FOLLOWS else 0), len(reading.texts) - 1)
    return f"“{reading.between(moment.first, last)}”"


def _comma(reading: Reading, start: int, end: int) -> int:
    """The first word behind a comma or colon within [start, end), else `end`."""
    gaps = reading.gaps
    return next((i for i in range(start + 1, end) if "," in gaps[i] or ":" in gaps[i]), end)


def _ends(reading: Reading, moment: Moment) -> tuple[dict[str, float], dict[str, float]]:
    """What stands in the event, and in the rest of the statement: (event, rest)."""
    start, end = sentence(reading, moment.first)
    if moment.event == _FOLLOWS:
        opens = moment.first - start <= 4 and _comma(reading, moment.last, end) < end
        stop = _comma(reading, moment.last, end)
        event = bag_of(reading, moment.last + 1, stop)
        rest = bag_of(reading, stop, end) if opens else bag_of(reading, start, moment.first)
        return event, rest
    if moment.event == _PRECEDES:
        if moment.last + 1 >= end and end < len(reading.texts):
            end = sentence(reading, end)[1]  # "The fever came first; the cough followed."
        return bag_of(reading, start, moment.first), bag_of(reading, moment.last + 1, end)
    return {}, {}


class _Turned(NamedTuple):
    """An order of events that was turned round; not `sure` where little of the events is named in both texts."""

    text: str
    sure: bool


def _parted(reading: Reading) -> list[tuple[Moment, dict[str, float], dict[str, float]]]:
    """The times before and after an event, each with what stands in the event alone, and in the rest alone."""
    ends = ((moment, *_ends(reading, moment)) for moment in reading.get(moments) if moment.value != DURING)
    return [(moment, *only(event, rest)) for moment, event, rest in ends if event]


def _turned(expert: Reading, lay: Reading) -> _Turned | None:
    """Two moments of the same event on different sides of it: earlier in one text is later in the other."""
    for one, own, other_own in expert.get(_parted):
        found = ""
        straight = crossed = 0.0
        for other, to_event, to_rest in lay.get(_parted):
            direct = likeness(own, to_event), likeness(other_own, to_rest)
            reverse = likeness(own, to_rest), likeness(other_own, to_event)
            if one.value == other.value:  # "A after B", "B after A": both have to stand at the other end
                same, opposite = sum(direct), sum(reverse) if min(reverse) else 0.0
            else:  # "after B", "before B": the event has to be the same
                same, opposite = sum(reverse), sum(direct) if direct[0] else 0.0
            straight = max(straight, same)
            if opposite > crossed and _comparable(expert, one, lay, other):
                crossed, found = opposite, _text(lay, [other])
        if crossed > straight * 1.3 + 0.15:
            return _Turned(f"{_text(expert, [one])} became {found}", crossed > straight * 1.3 + 0.5)
    return None


def _comparable(expert: Reading, one: Moment, lay: Reading, other: Moment) -> bool:
    """Whether both times put two events in order: what only "went by" or came "later" may be counted from anything."""
    return all(
        m.event != _PRECEDES or (r.texts[m.last] in _IN_ORDER and r.texts[m.first] != "went")
        for r, m in ((expert, one), (lay, other))
    )


_IN_ORDER = frozenset(("by", "first", "then"))  # "followed by", "came first", "and then"
