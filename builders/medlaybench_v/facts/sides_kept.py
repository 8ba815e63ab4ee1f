"""Whether a lay caption keeps each side with what it is said of."""

from __future__ import annotations

from builders.medlaybench_v.facts.binding import Placed, exchanged
from builders.medlaybench_v.facts.binding import turned as turned_at
from builders.medlaybench_v.facts.compared import turned
from builders.medlaybench_v.facts.denials import may_deny
from builders.medlaybench_v.facts.denied_places import signs_of_places
from builders.medlaybench_v.facts.explanations import is_explained
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, kind_of, naming, senses
from builders.medlaybench_v.facts.sides import BOTH, LEFT, RIGHT, Side, sides

_WITHOUT_NAMING = frozenset(
    "other opposite same contralateral ipsilateral partner counterpart twin remaining latter former".split()
)
# Structures that lie on one side of the body or belong to one side of the heart.
_HELD = frozenset(
    "mitral aortic aorta spleen splenic stomach gastric sigmoid lingula lingular apical descending lv bicuspid "
    "atrial".split()
)
_HELD_RIGHT = frozenset(
    "tricuspid pulmonary liver hepatic gallbladder appendix appendicitis cecum caecum duodenum ascending "
    "pulmonic".split()
)


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """Each side is kept with what it is said of, and a shift goes where it went."""
    here, there = expert.get(sides), lay.get(sides)
    outcome = Outcome()
    if not here and not there:
        return outcome
    said, told = {s.value for s in here if s.named}, {s.value for s in there}
    if {s.value for s in here} >= {LEFT, RIGHT} and told & {LEFT, RIGHT}:
        said |= {LEFT, RIGHT}
    hinted = {s.value for s in here}
    hinted |= {s.value for s in allowed.get(sides)} if told - hinted else set()
    vague = bool(said - told) and len(told | said) > 1 and _unnamed(lay)
    pair = {LEFT, RIGHT}
    texts = lay.bag
    lost, new = said - told, told - hinted
    if len(lost) == len(new) == 1 and lost | new == pair and not vague and not _is_free(lay, there, min(new)):
        outcome.add("changed", f"{min(lost)} became {min(new)}", Basis.CONTRADICTED)
        return outcome
    each = pair <= told or bool(pair & told and "the other" in lay.lower)  # "the right one is clean, but the other …"
    for side in sorted(lost):
        if side == BOTH:
            if each:
                continue
            if {"two", "pair", "all", "twin", "symmetrical", "everywhere"} & texts and not _one_of(lay):
                continue
            if not _PAIRED.isdisjoint(lay.bag - {"two"}) and "one" not in texts:
                continue
            outcome.add("lost", side, Basis.MISSING)
        elif (
            (BOTH in told and pair <= said)
            or (vague and not ("same" in texts and pair <= said and "same" not in expert.texts))
            or ({"pair", "two"} & texts and len(told & pair) == 1 and pair <= said)
        ):
            continue
        else:
            pump = side == LEFT and "pumping" in texts and "ventric" in expert.lower  # "the main pumping chamber"
            outcome.add("lost", side, Basis.UNMET if pump else Basis.MISSING)
    for side in sorted(new):
        if side == BOTH:
            changed = _new_both(expert, lay, there) or _of_one_alone(expert, lay)
            if changed:
                outcome.add("changed", changed)
        elif not (each and BOTH in hinted | told):
            _new_side(expert, lay, there, side, outcome)
    if not outcome.decided:
        _moved_sides(expert, lay, BOTH in hinted, outcome)
    return outcome


def _moved_sides(expert: Reading, lay: Reading, both: bool, outcome: Outcome) -> None:
    """Adds a side that became the other one, a shift that goes elsewhere, or two sides that were exchanged; `both`:
    whether the expert caption speaks of both sides. Two things compared from opposite ends may exchange their sides."""
    here, there, pair = expert.get(sides), lay.get(sides), {LEFT, RIGHT}
    one, other = ([Placed(s.value, s.first, s.last) for s in found if s.value in pair] for found in (here, there))
    turn = turned_at(expert, one, lay, other)
    if turn and not turned(expert, lay) and not (both and _is_free(lay, there, turn.theirs.value)):
        outcome.add("changed", f"{turn.ours.value} became {turn.theirs.value}", Basis.CONTRADICTED)
    elif shifted := _new_shift(here, there):
        outcome.add("changed", shifted, Basis.READ)
    elif pair <= {s.value for s in here} & {s.value for s in there}:
        swap = exchanged(expert, _placed(expert, here, pair), lay, _placed(lay, there, pair))
        if swap and not turned(expert, lay):
            outcome.moved(f"{swap.one} and {swap.other}", sure=swap.sure)


def _new_side(expert: Reading, lay: Reading, there: list[Side], side: str, outcome: Outcome) -> None:
    if not _OTHERS.isdisjoint(expert.bag):
        return
    if (side == LEFT and not _HELD.isdisjoint(expert.bag)) or (
        side == RIGHT and not _HELD_RIGHT.isdisjoint(expert.bag)
    ):
        return
    if all("than" in lay.texts[max(0, s.first - 3) : s.first] for s in there if s.value == side):
        return  # "easier to see on the right than on the left"
    if not outcome.has("lost") and _is_free(lay, there, side):
        if _ALONE.isdisjoint(expert.bag):
            outcome.add("new", side, Basis.SOUGHT)
        return
    explained = all(is_explained(lay, s.first) for s in there if s.value == side)
    outcome.add("new", side, Basis.MISSING if outcome.has("lost") else Basis.UNMET if explained else Basis.SOUGHT)


_OTHERS = frozenset("contralateral ipsilateral opposite other".split())


def _new_shift(here: list[Side], there: list[Side]) -> str | None:
    """What becomes of a shift that goes to no side that it went to."""
    went, goes = ({s.value for s in texts if s.towards} for texts in (here, there))
    if not went or not goes or went & goes:
        return None
    return f"towards the {'/'.join(sorted(went))} became towards the {'/'.join(sorted(goes))}"


def _is_free(lay: Reading, there: list[Side], side: str) -> bool:
    """Whether all that is told of a side is that nothing is there: "the right one holds none"."""
    return all(not _FREE.isdisjoint(_part(lay, s.first)) for s in there if s.value == side)


def _part(reading: Reading, i: int) -> list[str]:
    """The words around word i up to a stop, a comma or "but"."""
    start, end, gaps, texts = i, i + 1, reading.gaps, reading.texts
    while start and _STOPS.isdisjoint(gaps[start]) and texts[start] not in ("but", "and", "while"):
        start -= 1
    while end < len(texts) and _STOPS.isdisjoint(gaps[end]) and texts[end] not in ("but", "and", "while"):
        end += 1
    return texts[start:end]


_STOPS = frozenset(".;:,()")
_FREE = frozenset("no none not nothing without free normal healthy clear spared unaffected well fine never".split())
_ALONE = frozenset("only unilateral unilaterally alone solely sole just isolated".split())


def _unnamed(lay: Reading) -> bool:
    """Whether a side may be told without its name: "the other kidney", "that side", "that of the left"."""
    texts = lay.texts
    that = any(
        w == "that" and texts[i + 1 : i + 2] in (["side"], ["of"], ["one"], ["same"]) for i, w in enumerate(texts)
    )
    return that or not _WITHOUT_NAMING.isdisjoint(texts)


def _one_of(lay: Reading) -> bool:
    """ "One of the two kidneys", "on one side", and not "one of them"."""
    texts = lay.texts
    one = [texts[i + 1 : i + 5] for i, word in enumerate(texts) if word == "one"]
    return any(w[:1] == ["side"] or (w[:1] == ["of"] and not _PAIRED.isdisjoint(w[1:])) for w in one)


def _placed(reading: Reading, found: list[Side], pair: set[str]) -> list[Placed]:
    return [Placed(s.value, s.first, s.last, *_directions(reading, s)) for s in found if s.value in pair]


def _directions(reading: Reading, side: Side) -> tuple[float, float]:
    """How much what stands before a side counts, and what behind: "a cyst in the left ovary", "on the left, X"."""
    texts = reading.texts
    start = side.first
    while start and texts[start - 1] in ("the", "his", "her", "its", "patient's"):
        start -= 1
    by_preposition = start > 0 and texts[start - 1] in _LOCATING
    start -= by_preposition
    opens = not start or any(c in ".;:,—" for c in reading.gaps[start])
    opens = opens or texts[start - 1] in ("and", "while", "but", "whereas")
    if opens:
        return 0.2, 1.0
    return (1.0, 0.4) if by_preposition else (1.0, 1.0)


_LOCATING = frozenset("in on of at to from within into".split())


_PAIRED = frozenset("two lungs kidneys breasts hips eyes tubes ovaries sides halves arteries feet legs".split())


def _new_both(expert: Reading, lay: Reading, there: list[Side]) -> str:
    """A "both" of the lay caption said of what the expert caption names on one side only."""
    one_sided = {s.value for s in expert.get(sides) if s.named}
    if len(one_sided) != 1:
        return ""
    for side in there:
        alone = lay.gaps[side.last + 1 : side.last + 2] != [" "]  # "in both, the tonsil is swollen": both pictures
        if side.value != BOTH or alone or lay.texts[side.first - 1] == "of":
            continue
        behind = [s for s in lay.get(senses) if side.last < s.first <= side.last + 3]
        parts = {x.concept for s in behind for x in s.senses if kind_of(x.concept) == ANATOMY}
        if any(_singular(expert, part) for part in parts):
            return f"{one_sided.pop()} became both"
    return ""


def _of_one_alone(expert: Reading, lay: Reading) -> str:
    """What the expert caption tells of one side and denies of the other, where the lay caption denies nothing."""
    if "unilateral" in expert.bag and lay.bag.isdisjoint(("one", "single", LEFT, RIGHT)):  # "of both hips one slips"
        return "unilateral became both"
    if lay.get(may_deny):
        return ""
    signs = expert.get(signs_of_places)
    free = [side for side in (LEFT, RIGHT) if signs.get(side) == {-1}]
    return f"none on the {free[0]} became both" if len(free) == 1 and {1} in (signs.get(LEFT), signs.get(RIGHT)) else ""


def _singular(expert: Reading, concept: str) -> bool:
    """Whether the expert caption names a structure, on that side, in the singular."""
    for side in expert.get(sides):
        for said in naming(expert, concept):
            if side.last < said.first <= side.last + 3:
                word = expert.texts[said.last]
                return not word.endswith(("s", "ae", "i")) or word.endswith(("us", "is"))
    return False
