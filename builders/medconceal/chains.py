"""Which threads may become a case, and which turns of one: the stated rules of admission (C.1).

A chain starts at a comment of a verified clinician and follows single replies, in which a clinician (any verified one)
and the poster alternate, for at least 8 turns. Comments that are deleted, removed or a bot's cannot be part of one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from loaders.english import other_language, surely_another
from loaders.files.bundled import bundled

MIN_TURNS = 8
MOST_COMMENTS = 20_000
ADULT = 18
_MINOR = ("poster under age", "")
_GONE = frozenset({"", "[deleted]", "[removed]", "[unavailable]", "[deleted by user]"})
_REMOVED = ("[ removed by", "[removed by")  # "[ Removed by Reddit on account of violating …"
_BOTS = frozenset({"automoderator", "remindmebot", "sneakpeekbot", "wikisummarizerbot", "haikubot-1911"})
_BOT_NAME = re.compile(r"(?:^|[-_])bot(?:$|[-_\d])|[a-z]Bot$|_bot$", re.ASCII)
# Marks with which people add something below a text after it was answered.
_LATER = re.compile(
    r"(?:(?:^|\n)\W{0,6}(?:edit|update|eta)\s?\d{0,2}\s?(?:\([^)\n]{0,40}\))?\s?[:\-–—]"
    r"|(?<=[.!?)\]\"'”’])\s+[^\w\s]{0,6}(?:edit|update|eta)\s?\d{0,2}\s?:).*",
    re.I | re.S,
)

# What follows an age is no unit and no decimal: "12 weeks pregnant", "10 days post-op", "38.5", "8 out of 10".
_NO_UNIT = (
    r"(?![\w/%'’′]|[.,]\d|\s?(?:[-–]\s?\d{1,3}\s?)?(?:weeks?|wks?|w\d|days?|months?|mos?|hours?|hrs?|minutes?|mins?|times|x"
    r"|lbs?|pounds?|kgs?|kilos?|stone|ft|feet|foot|inch(?:es)?|miles?|cm|mm|mg|ml|mcg|dp[ot]|out of"
    r"|(?:years?|yrs?)(?![- ](?:old|of age))|[a-z]+s (?:in|into|away|past|post|late|short|over|under))\b)"
)
# Age of the poster: "16F", "[16] [F]", "16, F", "f/16", "F, 16", "16 years old", "Hi, 16 here" near the beginning of
# the post, where people introduce themselves.
_HEAD = 600
_AGES = (
    re.compile(
        r"(?<![\w.,/])(\d{1,2})[\])]?\s?[/,]?\s?[\[(]?(?:y(?:[./]?o\.?|rs?)?)?\s?(?:m|f|nb|ftm|mtf|male|female)(?![\w'])"
        r"(?! (?:ago|old|units?|long|high|deep|wide|away|apart|degrees|outside|in the)\b)",
        re.I,
    ),
    re.compile(rf"(?<![\w.'’])(?:m|f|male|female)\s?[/,]?\s?(\d{{1,2}})(?:y[./]?o)?{_NO_UNIT}", re.I),
    re.compile(r"(?<![\w.])(\d{1,2})(?:\.5)?[- ]?(?:years?[- ](?:old|of age)|years?old|yrs?[- ]?old|y[./ ]?o)\b", re.I),
    re.compile(r"(?:^|[.!?\n]\s*|\b(?:hi|hello|hey)\b[,.!]? )(\d{1,2}) here\b", re.I),
)
# "I'm 16", "I'm a 16 year old", "I just turned 16", "Age: 16": wherever the poster says so.
_OWN_AGE = re.compile(
    r"\b(?:(?:i am|i'm|i’m|im)(?: an?| also| only| just| still)*"
    r"|(?<!at )(?<!from )(?<!since )(?<!until )(?:age[d:]?|age is|age [-–])"
    r"|(?<!when )(?<!since )(?<!before )i(?: just| recently)? turned)"
    r"\s{0,2}:?\s{0,2}(\d{1,2})(?:\.5)?"
    rf"(?:\s?(?:m|f|nb)\b|\s?y(?:ea)?rs?(?=\W*(?:$|[.,;\n]|m\b|f\b|male|female))|{_NO_UNIT})",
    re.I,
)
_IN_WORDS = {"eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16",
             "seventeen": "17"}  # fmt: skip
_SAID_OTHERWISE = re.compile(
    rf"\b(?:{'|'.join(_IN_WORDS)}|(?:almost|nearly|not (?:yet|quite)|turning|about to (?:be|turn)) (?:18|eighteen))\b",
    re.I,
)
_SOON_OF_AGE = re.compile(r"\bi(?:(?:['’]?ll| will) be|(?:['’]?ll| will)? turn) (?:18|eighteen)\b", re.I)
# "I walked about 10 m", "for the past 6 m": no age and sex.
_MEASURED = re.compile(
    r"\b(?:walk\w*|ran|run|sw[ai]m|f[ae]ll|climb\w*|past|last|every|took|takes)"
    r"(?: (?:about|around|at|just|least|like|maybe|more|only|over|than|the|to|up))* $",
    re.I,
)
# The age is somebody else's if one of these stands shortly before it.
_OTHERS = re.compile(
    r"\b(?:son|daughter|child|baby|toddler|infant|kid|boy|girl|niece|nephew|brother|sister|grandson|granddaughter|"
    r"stepson|stepdaughter|twins?|when i was|since i was|at age|from age|until age|since age)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a thread; `edited` if its text was changed after it was written."""

    id: str
    parent: str
    author: str
    flair: str
    text: str
    created: int
    edited: bool


@dataclass(frozen=True, slots=True)
class Post:
    """The post that begins a thread; `removed` and `crosspost` are the archive's own flags."""

    id: str
    author: str
    title: str
    text: str
    created: int
    edited: bool
    removed: bool
    crosspost: bool


@cache
def _flairs() -> tuple[tuple[str, bool], ...]:
    """Flairs in lower case with whether they are a clinician's, longest first."""
    rows = [(row["flair"], row["clinician"] == "yes") for row in bundled("builders.medconceal", "clinician_flairs.csv")]
    return tuple(sorted(rows, key=lambda row: (-len(row[0]), row[0])))


@cache
def is_clinician(flair: str) -> bool:
    """Whether a flair is one that moderators give to verified clinicians.

    >>> is_clinician("Physician - Cardiology"), is_clinician("Physician | Moderator"), is_clinician("Medical Student")
    (True, True, False)
    >>> is_clinician("Physicians hate this trick"), is_clinician("")
    (False, False)
    """
    plain = " ".join(re.sub(r":[\w-]+:", " ", flair).split()).casefold()
    for name, clinician in _flairs():
        if plain == name or re.match(re.escape(name) + r"\s?(?:[-–—|/,(&+]|$)", plain):
            return clinician
    return False


def by_clinician(comment: Comment, post: Post) -> bool:
    """Whether a comment is a clinician's, and not the poster's own."""
    return is_clinician(comment.flair) and comment.author != post.author


def refusal(post: Post, comments: int) -> tuple[str, str] | None:
    """Why a thread is excluded before its comments are looked at, as (reason, detail); None if it is not."""
    if is_gone(post.author):
        return "post by a deleted account", ""
    # A title alone is a post; removed text leaves a mark.
    if post.removed or (is_gone(post.text) and (post.text.strip() or is_gone(post.title))):
        return "post deleted or removed", ""
    if is_bot(post.author):
        return "post by a bot", ""
    if post.crosspost:
        return "cross-posted", ""
    if (stated_age(f"{post.title}\n{post.text}") or ADULT) < ADULT:
        return _MINOR
    if comments > MOST_COMMENTS:
        return "too many comments", f"{comments:,} of at most {MOST_COMMENTS:,}"
    return None


def refusal_of_words(post: Post, comments: Sequence[Comment]) -> tuple[str, str] | None:
    """Why a thread is excluded for what its poster says in the comments, or for the language; None if it is not."""
    said = [comment.text for comment in comments if comment.author == post.author]
    if any((stated_age(text, head=0) or ADULT) < ADULT for text in said):
        return _MINOR
    told = [f"{post.title}\n{post.text}", *said]
    # Each by itself: a post in German would pass among English replies.
    if other_language(" ".join(told)) or any(map(surely_another, told)):
        return "not in English", "the rules that find identifiers read English"
    return None


def is_gone(text: str) -> bool:
    """Whether an author or a text is a mark that something was removed."""
    folded = text.strip().casefold()
    return folded in _GONE or folded.startswith(_REMOVED)


def is_bot(author: str) -> bool:
    """Whether a name is a bot's.

    >>> is_bot("AutoModerator"), is_bot("CoolFactBot"), is_bot("talbot"), is_bot("abbott_1")
    (True, True, False, False)
    """
    return author.casefold() in _BOTS or bool(_BOT_NAME.search(author))


def stated_age(text: str, head: int = _HEAD) -> int | None:
    """The lowest age that posters state of themselves, among the first `head` characters in any form; None if there is
    none.

    >>> stated_age("[16F] rash"), stated_age("My son is 6 years old. I'm 34F"), stated_age("5mg, 120/80, I'm 6'2")
    (16, 34, None)
    """
    text = _SAID_OTHERWISE.sub(lambda said: _IN_WORDS.get(said[0].casefold(), "17"), _SOON_OF_AGE.sub("I'm 17", text))
    own = [
        int(match[1])
        for matches in (_OWN_AGE.finditer(text), *(pattern.finditer(text[:head]) for pattern in _AGES))
        for match in matches
        if int(match[1]) > 5 and not _not_the_posters(match)
    ]
    return min(own, default=None)


def _not_the_posters(match: re.Match[str]) -> bool:
    """Whether what looks like an age is somebody else's, or none. Whoever says "I" means nobody else."""
    before = re.split(r"[.!?\n]", match.string[max(0, match.start() - 40) : match.start()])[-1]
    says_i = match[0][0] in "Ii"
    return bool(_MEASURED.search(before) or (not says_i and _OTHERS.search(before)))


def without_later(text: str) -> str:
    """A text without what was added below it under an "EDIT:" mark, after it had been answered.

    >>> without_later("It hurts.\\n\\nEDIT: thanks for all the replies!")
    'It hurts.'
    """
    return _LATER.sub("", text).strip() or text.strip()


def longest_chain(post: Post, comments: Sequence[Comment]) -> list[Comment]:
    """The longest chain of a thread; of equally long ones the one that begins first. Empty without a clinician."""
    by_id = {comment.id: comment for comment in comments}
    fits = {
        c.id: by_clinician(c, post)
        for c in comments
        if not is_gone(c.author)
        and not is_gone(c.text)
        and not is_bot(c.author)
        and (c.author == post.author or is_clinician(c.flair))
    }
    replies: dict[str, list[str]] = {}
    for name in fits:
        replies.setdefault(by_id[name].parent, []).append(name)

    def other_side(name: str) -> Iterator[str]:
        return (reply for reply in replies.get(name, ()) if fits[reply] != fits[name])

    # Whatever is replied to comes before its replies. A forged ring of replies begins nowhere, and is never reached.
    order = [name for name in fits if by_id[name].parent not in fits]
    for name in order:
        order.extend(replies.get(name, ()))
    longest: dict[str, int] = {}
    for name in reversed(order):
        longest[name] = 1 + max((longest[reply] for reply in other_side(name)), default=0)

    def rank(name: str) -> tuple[int, int, str]:
        return (-longest[name], by_id[name].created, name)

    chain: list[Comment] = []
    following = [name for name in order if fits[name]]
    while following:
        at = min(following, key=rank)
        chain.append(by_id[at])
        following = [*other_side(at)]
    return chain
