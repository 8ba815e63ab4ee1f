"""Articles that captions leave out: "CT of left kidney showing mass" -> "CT of the left kidney showing a mass".

    >>> with_articles("CT scan of left kidney showing cyst in upper lobe of lung, spread to breast cancer.")
    'CT scan of the left kidney showing a cyst in the upper lobe of the lung, spread to breast cancer.'

An organ gets its article where a preposition stands before it and nothing follows that would make it a part of a longer
name, a thing that can be counted where it is shown; within brackets captions and explanations are short, and stay.
"""

from __future__ import annotations

import re

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.writing.counted import with_article
from builders.medlaybench_v.writing.glosses import inside_brackets
from builders.medlaybench_v.writing.grammar import indefinite

_SINGLE = any_of("organs")
# Of these there are several kinds: one alone is named by what stands before it.
_NAMED = any_of("parts of organs")
_PLACED = rf"(?:(?:{any_of('places of organs')})[ ])"
# "In frontal lobe", "of pulmonary artery"; what says how, not which, is left.
_NAMED_BY_ADJECTIVE = (
    r"(?!(?:accessory|additional|abnormal|normal|solitary|several|supernumerary|unilateral|bilateral|residual|radial)\b)"
    r"[a-z]+(?:al|ar|ic|id|ary|oid) (?:lobe|artery|nerve|vein|canal|sinus|valve|duct|fossa)"
)
# What each thing has, of which it is said: "at left side of the neck".
_PART = f"(?:{any_of('parts of things')})"
# "In bridge between the brain halves", "at end of the heart relaxation".
_JOINED_TO_ITS_PLACE = rf"(?:{any_of('joined to a place')})[ ](?:of|between|around|under|behind|at|in)"
_BEHIND = f"(?:{any_of('before organs')})"
_ORGAN = re.compile(
    rf"[ ]{_BEHIND}[ ]"
    rf"(?=(?:{_PLACED}{{0,3}}(?:{_SINGLE}|{_NAMED_BY_ADJECTIVE})|"
    rf"{_PLACED}{{1,3}}(?:[a-z]{{3,}}(?:-[a-z]+)*[ ])?(?:{_NAMED}))"
    r"(?:[.;:)]|,(?![ ](?:and|or)[ ][a-z]+(?:al|ic|ar)[ ][a-z])|\Z|[ ](?:\(|"
    rf"(?:{any_of('behind organs')})\b))"
    rf"|{_PLACED}{{1,2}}{_PART} of |{_PLACED}{{0,2}}{_JOINED_TO_ITS_PLACE} the )"
    r"|[ ](?:at|to)[ ](?=level of )"
)
# "Into the overlying belly wall": what looks like a preposition is an adjective.
_DETERMINED = re.compile(r"\b(?:the|an?|its|his|her|this|these|those)\Z", re.IGNORECASE)
# "A CT scan shows left kidney with a cyst"; joined to another thing, it may be a part of that one's name.
_SHOWN_ORGAN = re.compile(
    rf"show(?<!\wshow)(?:s|ed|ing)? (?={_PLACED}{{0,3}}(?:{_SINGLE})"
    r"(?:[.,;]|\Z| (?:with|without|in|from|of|that|which)\b))"
)
_SHOWN = re.compile(
    r"\b(?:shows?|showed|showing|suggest(?:s|ed|ing)?|indicating|causing|due to|(?P<with>with)) (?=[a-z\d])"
)
_ORGANS = ("artery", "region", "structure", "gallbladder", "spleen")  # "connected with artery": one that is known
# "On chest CT scan"; "on X-ray" is said as it is.
_SCANNED = re.compile(
    r"[ ](?:on|in|by|via|using|under)[ ]"
    r"(?=(?:(?!(?:the|an?|this|that|these|his|her|its|their|our|each|every|all|any|both|one|and|or|of|no)[ ])"
    r"[A-Za-z\d-]+[ ]){0,4}(?:(?:CT|MRI|PET|PET/CT) scan|(?<! on | in | by |via )X-ray)"
    r"(?:[.,;)]|\Z|[ ](?:\(|(?:of|in|with|without|from|at|after|before|and|as|was|is|shows?|showed|that|"
    r"which|performed|obtained|taken)\b)))"
)
_PATIENT = re.compile(
    r" (?:in|of|from|for) (?=(?:male |female |young |elderly )?patient"
    r"(?: (?:with|who|after|during|shows?|showed)\b|[.,]))"
)


def with_articles(text: str) -> str:
    """The caption with the articles of its organs and of what it shows."""
    text = _ORGAN.sub(
        lambda behind: (
            behind[0]
            if inside_brackets(text, behind.start())
            or _DETERMINED.search(text, max(0, behind.start() - 6), behind.start())
            else f"{behind[0]}the "
        ),
        text,
    )
    text = _SCANNED.sub(lambda behind: f"{behind[0]}{indefinite(text[behind.end() :])} ", text)
    text = _PATIENT.sub(lambda behind: f"{behind[0]}a ", text)
    text = _SHOWN_ORGAN.sub(lambda shown: f"{shown[0]}the ", text)
    for shown in reversed(list(_SHOWN.finditer(text))):
        if not inside_brackets(text, shown.start()):
            text = text[: shown.end()] + with_article(text[shown.end() :], _ORGANS if shown["with"] else ())
    return text
