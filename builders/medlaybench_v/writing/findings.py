"""Whether a fragment is the name of something that a picture shows, and nothing else."""

from __future__ import annotations

import re

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.writing.capitals import is_name
from builders.medlaybench_v.writing.showing import HEADS
from builders.medlaybench_v.writing.verbs import BRACKETS, has_verb

LONG = 40  # words of what is made a sentence
DASH = re.compile(r" [-–—] |–|—")
# A thing that a picture shows, with nothing behind it that could be its verb: "Left lung mass in", "Free air due to".
_FINDINGS = any_of("findings")
# Parts of the body and what is put into it: the first sentence may name one, a later one may be a key.
_PARTS = any_of("parts")
_THING = (
    r"(?:(?!(?:of|in|on|with|as|to|by|into|from|at|for|is|was)\b)[\w-]+,? ){0,5}?"
    r"(?:%s)"
    r"(?=\Z|[ ]?[,(]|[ ](?:of|in|at|on|with|without|from|near|under|behind|between|after|before|due|caused|connected|"
    r"around|along|within|and|\w+ing)\b)"
)
_ONE_THING = re.compile(
    r"\A(?:An?|The|Left|Right|Both|All|Two|Three|Four|Normal|Grade [\dIV]+|Type [\dIV]+|(?i:clearly|poorly|heavily|"
    r"severely|greatly|partially|completely|slightly|mildly|highly)) "
    + _THING % f"{_FINDINGS}|{_PARTS}"
    + r"|\APatients? with\b"
)
LATER_THING = re.compile(rf"\A{_THING % _FINDINGS}", re.IGNORECASE)
# Words of a title: "Acute Respiratory Distress Syndrome".
TITLED = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{3,}\b")
# "Matthew Hopkins, witch-finder": no thing that a picture shows.
_PERSON = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]{3,}\b(?! (?:disease|syndrome|sign|cell|type|tumou?r|fracture|cyst)\b)")
_NOT_AN_OBJECT = re.compile(rf"\A(?:{any_of('no objects')})(?![\w-])|\A[^A-Za-z]|\A\w+[:(]", re.IGNORECASE)
# What speaks of the picture itself, hides a verb, or is not there: "a break not seen".
_OF_A_PICTURE = re.compile(
    rf"\b(?:(?!test|examination)(?:{HEADS})|{any_of('of a picture')})s?\b|"
    r"\A(?:\S+ ){0,3}?(?:cross-section|front-view|side-view|T1|T2)\b",
    re.IGNORECASE,
)
_FOUND = re.compile(rf"\b(?:{any_of('found')})\b", re.IGNORECASE)
_CAPITALS = re.compile(r"[A-Z\d-]{2,}s? \(")  # "US (ultrasound) of a node": the bracket says whether it is a picture
# "Acute denervation in the arm": more than a heading, or the name of a picture in capitals.
_OF_SOMETHING = re.compile(
    r"(?![A-Z\d-]{2,}\b|P(?:re|ost)-|(?:Standard|Mean|Average|Data|Dos|Sample|Experiment|Treatment)\w*\b)(?:(?!(?:of|"
    r"with|in|at|scanning)[ ])[\w-]+[ ](?:\([^()]*\)[ ])?){1,5}(?:of|with|in)[ ](?:the|an?|[a-z]{4,})\b"
)


def is_finding(sentence: str) -> bool:
    """Whether a sentence is the name of something that a picture shows, and nothing else."""
    return (
        (_NOT_AN_OBJECT.match(sentence) is None or _ONE_THING.match(sentence) is not None)
        and (_FOUND.search(sentence) is not None or _OF_SOMETHING.match(sentence) is not None)
        and " " in sentence
        and ":" not in sentence
        and DASH.search(sentence) is None
        and len(sentence.split()) <= LONG
        and not has_verb(sentence)
        and _OF_A_PICTURE.search(sentence if _CAPITALS.match(sentence) else BRACKETS.sub("", sentence)) is None
        and len(TITLED.findall(sentence)) < 2
        and not is_name(sentence)
        and _PERSON.match(sentence) is None
    )
