"""Whether words that name a finding or a deed claim it of the patient."""

from __future__ import annotations

import re

from builders.medlaybench_v.facts.binding import STOP_WORDS
from builders.medlaybench_v.facts.causes import NEGATED
from builders.medlaybench_v.facts.clauses import clauses
from builders.medlaybench_v.facts.explanations import is_explained
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import Said, implied, senses

# Words that name a finding or a deed only by chance: "the drainage system of the kidney".
_APART = frozenset("().;:")
_BREAKS = _APART | {","}
_NO_CLAIM = frozenset(
    "drainage drains draining pushed removed sample contrast dye run runs operated bulging bulge bulges broken breaks "
    "break chip crack balloon".split()
)
# An obligation is no advice where it tells the norm: "wider than it should be".
_OBLIGED = frozenset("should ought must".split())
_ADVISED = frozenset(
    "rest kept held worn given rested avoid see take drink stop keep checked seen treated drained removed repeated "
    "monitored watched".split()
)


def told_of_the_patient(lay: Reading, said: Said) -> bool:
    """ "The mother had noticed some bleeding", "the tooth had to be taken out": no way to say what a picture shows."""
    before = " ".join(lay.texts[max(0, said.first - 6) : said.first])
    return _HISTORY.search(before) is not None


_HISTORY = re.compile(
    r"\bhad to be\b|\bneeded to be\b|"
    r"\b(?:patient|mother|woman|man|girl|boy|child|he|she|who|they) (?:had |has |have |was |is )?"
    r"(?:also )?(?:noticed|noticing|felt|feels|feeling|complain\w*|report\w*|suffer\w*|develop\w*)\b"
)


def is_no_claim(lay: Reading, said: Said) -> bool:
    if not _BREAKS.isdisjoint(lay.said(said)):
        return True  # "the contrast filling) in the arch", "went in, time enough" name nothing
    if _is_left_open(lay, said) or _is_blood_of_a_vessel(lay, said):
        return True
    if lay.texts[said.last + 1 : said.last + 2] in _LOOKING:
        return True  # "worm-shaped"
    by_chance = _NO_CLAIM & set(lay.texts[said.first : said.last + 1])
    if by_chance == {"sample"} and said.last > said.first:  # "a good sample"
        return False
    return bool(by_chance) and not (said.first == said.last and _was_done(lay, said))


def _is_left_open(lay: Reading, said: Said) -> bool:
    """Whether something is named as what nobody knows: "whether it is harmless"."""
    start = next((start for start, end in lay.get(clauses) if start <= said.first < end), 0)
    return "whether" in lay.texts[max(start, said.first - 6) : said.first]


def _is_blood_of_a_vessel(lay: Reading, said: Said) -> bool:
    """Whether "blood in" is where blood belongs: "the blood in the left carotid"."""
    if lay.texts[said.first : said.last + 1] not in _BLOOD_IN:
        return False
    behind = [x.concept for s in lay.get(senses) if said.last < s.first <= said.last + 4 for x in s.senses]
    return any(implied(concept) & _BLOOD_HOLDS for concept in behind)


_BLOOD_IN = (["blood", "in"], ["blood", "inside"])
_BLOOD_HOLDS = frozenset(("vessel", "heart"))


def is_simile(lay: Reading, said: Said) -> bool:
    """Whether a thing is named for its looks alone: "like a puff of smoke", "a ring set with a stone"."""
    for i in range(said.first - 1, max(-1, said.first - 8), -1):
        if not _APART.isdisjoint(lay.gaps[i + 1]):
            return False
        if lay.texts[i] in ("like", "resembles", "resemble", "resembling"):
            return True
    return False


_LOOKING = (["shaped"], ["like"], ["looking"], ["sized"])


def _was_done(lay: Reading, said: Said) -> bool:
    """Whether a deed is told of the patient: "which was later removed", "had to be taken out"."""
    before = lay.texts[max(0, said.first - 4) : said.first]
    done = _DONE_TO.isdisjoint(before)
    return lay.texts[said.first] in _DEEDS and not done and _DIGITAL.isdisjoint(before)


_DEEDS = frozenset("removed drained broken".split())
_DONE_TO = frozenset("was were been be later then afterwards soon".split())
_DIGITAL = frozenset("digitally subtracted bones contrast dye not never background computer".split())


def put_beside(expert: Reading, lay: Reading, said: Said, known: frozenset[str]) -> str:
    """A phrase of its own that tells of one more thing, and of nothing else: ", with a small cyst nearby."; or "".

    Of 1,265 broken and 1,314 faithful pairs of fifteen writers 4 and 1 have one; of 460 findings that a program put in
    so, 308 more are seen.
    """
    texts, gaps = lay.texts, lay.gaps
    first = said.first
    while first > max(0, said.first - 4) and gaps[first] == " " and texts[first] not in _WITH:
        first -= 1
    end = said.last + 1
    while end < min(said.last + 5, len(texts)) and gaps[end] == " ":
        end += 1
    if texts[first] not in _WITH or (end < len(texts) and _STOPS_PHRASE.isdisjoint(gaps[end])):
        return ""
    new = texts[first + 1] in _SOME and texts[first + 2] not in ("half", "quarter")
    if not new and gaps[first] == " " and texts[first - 1] != "along":
        return ""
    words = set(texts[first:end])
    if not NEGATED.isdisjoint(words) or not expert.bag.isdisjoint(words - STOP_WORDS - _SOME - _NEARBY):
        return ""
    if any(first < s.first < end and any(x.concept in known for x in s.senses) for s in lay.get(senses)):
        return ""
    if is_explained(lay, first):
        return ""
    return f"“{lay.between(first, end - 1)}”"


_STOPS_PHRASE = frozenset(",;.:!?")
_WITH = frozenset("and with plus".split())
_SOME = frozenset("a an some several many few small tiny".split())
_NEARBY = frozenset("nearby too also around it them beside next to this as well there".split())


def is_one_more(lay: Reading, said: Said) -> bool:
    """Whether a finding is told beside others and explains none: "and blood in the joint", "there is a scar"."""
    for i in range(said.first - 1, max(-1, said.first - 5), -1):
        if not _APART.isdisjoint(lay.gaps[i + 1]):
            return False
        if lay.texts[i] in _BESIDE:
            return True
    return False


def is_joined(lay: Reading, said: Said) -> bool:
    """Whether a noun of its own is joined to another: "a lump and a cyst", "gas and calcifications in the wall".

    Of 748 findings that a program put in so, 186 more are seen; none of 1,714 faithful pairs has one.
    """
    first, end = said.first - 1, said.last + 1
    while first > 0 and lay.texts[first] in _SOME and lay.gaps[first + 1] == " ":
        first -= 1
    if first < 0 or lay.texts[first] not in ("and", "plus") or lay.gaps[first + 1] != " ":
        return False
    counted = first < said.first - 1
    ends = end == len(lay.texts) or lay.gaps[end] != " " or not _PLACING.isdisjoint(lay.texts[end - 1 : end + 1])
    return (counted or ends) and not lay.texts[said.last].endswith(_NO_NOUNS)


_PLACING = frozenset("in of at on near beside within around inside".split())
_NO_NOUNS = ("ed", "ing", "en", "ic", "al", "ar", "ous")
_BESIDE = frozenset("and also with there".split())


def is_norm(lay: Reading, said: Said) -> bool:
    """An obligation is no advice where it tells the norm: "wider than it should be", "as it ought to"."""
    words, behind = set(lay.texts[said.first : said.last + 1]), set(lay.texts[said.last + 1 : said.last + 3])
    return bool(words & _OBLIGED) and "must" not in words and not _ADVISED & (words | behind)
