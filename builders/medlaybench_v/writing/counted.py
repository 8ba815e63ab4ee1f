"""Articles of things that can be counted: "a small stone in the kidney", and "air in the belly"."""

from __future__ import annotations

import re

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.words.stacks import FUNCTION_WORDS, NOUNS_IN_ING
from builders.medlaybench_v.writing.grammar import indefinite

DETERMINED = re.compile(
    r"\A(?:the|an?|another|any|this|that|these|those|his|her|its|our|their|each|one|two|three|four|some)(?![\w-])", re.I
)


def with_article(phrase: str, known: tuple[str, ...] = ()) -> str:
    """A thing that can be counted gets its article, but for those of which each body has its own (`known`).

    >>> with_article("small stone in the kidney"), with_article("air in the belly"), with_article("two stones")
    ('a small stone in the kidney', 'air in the belly', 'two stones')
    """
    if DETERMINED.match(phrase):
        return phrase
    if _OF_ONE.match(phrase):
        return f"the {phrase}"
    counted = _COUNTED.match(phrase) or _SEEN_AS.match(phrase)
    following = counted and _NEXT.match(phrase, counted.end())
    if (
        not counted
        or counted["thing"] in known
        or (following and following[1] not in FUNCTION_WORDS and not _goes_on(following[1]))
    ):
        return phrase  # "gallbladder wall", "artery (in the neck) disease" are not counted by their first noun
    return f"{indefinite(phrase)} {phrase}"


def _goes_on(word: str) -> bool:
    """Whether a word behind a thing tells of it, as "causing" does; a "lymph node swelling" is no node."""
    return word.endswith(("ing", "ed")) and word not in NOUNS_IN_ING


# "Absence of the kidney": what there is one of, of a thing.
_OF_ONE = re.compile(
    r"(?:complete |entire |partial |exact |normal |abnormal |unusual |final |near complete |total )?"
    r"(?:absence|course|disappearance|extent|level|location|origin|position|presence|resolution|site|size|start|"
    r"tip) of\b"
)
_NEXT = re.compile(r"(?: \([^()]*\))? ([a-z-]+)")
_COUNTED = re.compile(
    r"(?!(?:multiple|several|many|both|no|some|bilateral|numerous|same|two|three|four|five|six)(?![\w-]))"
    r"(?:\d[\d.]*(?:[ ]?[x×*][ ]?\d[\d.]*)*[ -]?[cm]m(?:-sized?)?[ ](?!of\b|in\b|thick|wide|long)|(?!\d\b))"
    r"(?!(?:right|left)(?:[ ][\w-]+){0,3}?[ ](?:artery|region|structure|gallbladder|spleen|tube)(?![\w-]))"
    r"(?:(?!(?:of|in|on|and|with|to|the|at|from|by|for|into|as|between|around|near|after|before|during|through|over|"
    r"along|within|without|under|behind|beside|below|above|across|toward|towards|against|inside|outside|via|"
    r"shows?|showed|showing|is|was|an?|but|or|not|dye(?!-))\b)[\w-]+(?:(?<![sA-Z]),)?[ ](?:\([a-z -]+\)[ ])?){0,4}?"
    rf"(?P<thing>{any_of('things')})(?![\w-])"
)
# "An enlarged left kidney", "a normal bladder": how an organ looks, not which it is.
_SEEN_AS = re.compile(
    r"(?:\w+ly[ ])?(?:[a-z-]+(?<!need)(?<!transplant)ed|(?:large|small)(?! bowel)|huge|giant|normal|abnormal|absent|"
    r"empty|thin|thick|clear|pregnant|horseshoe|swollen|single|solitary|floating|pelvic|[a-z]+-shaped)[ ]"
    r"(?:(?:left|right|upper|portal|"
    r"lower|front|rear|uneven-looking|brighter-looking|darker-looking|thyroid|small|saliva|"
    rf"tear)[ ]){{0,2}}(?P<thing>{any_of('organs seen')})(?![\w-])"
)
