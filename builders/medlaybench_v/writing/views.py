"""The name of a picture in plain words: "enhanced axial CT image" -> "cross-section CT image with contrast dye".

A caption names its picture by a stack of words: when it was taken, with what, from where, of what, by which method.
The stack is parsed as a whole and unfolded: the viewpoint stays in front, the rest goes to the end.

    >>> found = next(pictures("Preoperative contrast-enhanced axial CT image of the neck"))
    >>> found.lay
    'cross-section CT image with contrast dye before surgery'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.writing.attachment import landing
from builders.medlaybench_v.writing.senses import another_sense
from builders.medlaybench_v.writing.topics import table


class Picture(NamedTuple):
    """A name of a picture at [start, end), in plain words; what it ends with goes behind what the picture is "of"."""

    start: int
    end: int
    lay: str
    tail: str


def _table() -> dict[str, dict[str, str]]:
    """`picture_words.csv` by kind: what a picture is taken from, when, with what and of what, in the words of captions
    and in plain ones; what goes in front where nothing may stand behind; what a picture is called; and the parts of the
    body that stand behind a method ("CT abdomen")."""
    words: dict[str, dict[str, str]] = {}
    for row in table("picture_words.csv"):
        words.setdefault(row["kind"], {})[row["said"]] = row["lay"]
    return words


_TABLE = _table()
_FROM, _WHEN, _WITH, _BODY = (_TABLE[kind] for kind in ("from", "when", "with", "body"))
IN_FRONT, _PICTURES, _WHOLE = (_TABLE[kind] for kind in ("in front", "picture", "whole"))
# What a method is called, alone and before "image", "view" and the like.
_METHODS = {
    r"(?:x-ray )?(?:computed|computerized|computerised|computer) tomogra(?:phy|phic)(?: \(ct\))?|ct": ("CT scan", "CT"),
    r"magnetic resonance(?: imaging)?(?: \(mri\)| \(mr\))?|mri|mr imaging|mr": ("MRI scan", "MRI"),
    r"radiographs?|radiography|radiographic|roentgenograms?|x[- ]?rays?|skiagrams?": ("X-ray", "X-ray"),
    r"ultrasonographic|ultrasonography|ultrasound|sonographic|sonography|sonograms?|usg|us": (
        "ultrasound",
        "ultrasound",
    ),
}  # fmt: skip
_KEPT = (
    "t1", "t2", "t1w", "t2w", "t1-weighted", "t2-weighted", "t1 weighted", "t2 weighted", "flair", "stir",
    "fat-suppressed", "fat-saturated", "plain", "initial", "follow-up", "repeat", "3d", "2d", "mdct",
)  # fmt: skip

# Letters that stand for "ultrasound" beside a picture or a body part only.
_US = re.compile(r"\bus\b", re.IGNORECASE)
_US_PICTURE = re.compile(
    r"\bUS (?:image|view|scan|exam|stud|picture|slice|section)|"
    r"\b(?:[Aa]bdom|[Tt]ransv|[Ll]ong|[Rr]enal|[Bb]reast)\w* US\b"
)
_OF_PICTURE = re.compile(r"\b(?:images?|views?|slices?|sections?|cuts?) (?:of|from) (?:the )?\Z", re.IGNORECASE)
# A name that goes on, in which "scan" would part what belongs together: "MRI brain T2", "CT finding".
_BARE_NOUN = re.compile(rf"[ ](?!(?:{any_of('no bare nouns')})\b)[A-Za-z]\w")
_AFTER_TIME = re.compile(r"(?:hour|day|week|month|year)s?[ ]\Z")


def _any(words: object) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))  # type: ignore[call-overload]


_METHOD = rf"(?:{'|'.join(_METHODS)})(?![\w/])(?![-‐]\w)"
_FIRST_METHOD = re.compile(rf"(?<![\w/‐-]){_METHOD}")
_IN_STACK = (*_FROM, *_WHEN, *_WITH, *_BODY, *_KEPT)
_WORDS_IN_STACK = frozenset(word for phrase in (*_IN_STACK, "and") for word in phrase.split(" "))
_BEFORE = f"(?:{_any(_IN_STACK)})"
_STACK = re.compile(  # in lower case: letters of either case would be compared one by one
    rf"(?<![\w/‐-])(?:(?:{_BEFORE})[ ]+(?:and[ ]+(?={_BEFORE}[ ]))?)*{_METHOD}"
    rf"(?:[ ]+(?:chest|abdomen|brain|pelvis|head)(?=[ ]+(?:{_any(_PICTURES)})))?"
    rf"(?:[ ]+(?:{_any(_FROM)})(?=[ ]+(?:{_any(_PICTURES)})))?(?:[ ]+(?:{_any(_PICTURES)})s?(?![\w-])){{0,2}}"
    rf"(?:[ ]+(?:{_any(_WHOLE)})(?=[ ]*(?:[.,;:()]|\Z)|[ ]+(?:[-–][ ]|and|with|show|demonst|reveal|depict|"
    rf"illustr|scan|on|in|at|of|after|before|taken|done|\w+[ ](?:hour|day|week|month|year)s?\b)))?",
)
# "Magnetic resonance imaging" is the method itself.
_LAST_PICTURE = re.compile(rf"(?:(?<!resonance)(?<!\bmr)[ ]+|[ ]+(?!imaging))({_any(_PICTURES)})(s?)\Z", re.IGNORECASE)
_METHOD_AT_END = [
    (re.compile(rf"(?:{pattern})\Z", re.IGNORECASE), alone, before) for pattern, (alone, before) in _METHODS.items()
]
_WORDS_IN_FRONT = re.compile(
    rf"(?<!\S)(?:(?P<from>{_any(_FROM)})|(?P<when>{_any(_WHEN)})|(?P<with>{_any(_WITH)})|(?P<body>{_any(_BODY)})|"
    rf"(?P<kept>{_any(_KEPT)})|(?P<and>and))(?!\S)",
    re.IGNORECASE,
)
# Where "MR" is no magnetic resonance: a leaking valve, a muscle of the eye, a disorder, what the caption says itself.
_OTHER_MR = re.compile(
    r"\b(?:severe|moderate|mild|trivial|trace|significant|residual|ischa?emic|functional|secondary|eccentric) MR\b|"
    r"\b(?:patients?|m[ae]n|wom[ae]n|male|female|boy|girl|child|infant|heart) with MR\b|"
    r"regurg|mitral|leaflet|valv|\becho\b|echocard|doppler|rectus|muscle insertion|\bMR\)?\s?[,:=–(-]\s?(?!magn|"
    r"nucl)[a-z]",
    re.IGNORECASE,
)
_AMONG_OTHERS = re.compile(r"(?:,? and|,? or|,|/) ?(?!CT|US|PET)[A-Z]{2,}\b")
# What follows makes another name of it: "CT angiography", "MRI scanner", "CT number", "ultrasound probe".
_NO_METHOD = re.compile(any_of("no methods"), re.IGNORECASE)


def pictures(text: str, lower: str = "") -> Iterator[Picture]:
    """The names of pictures in a text that plain words say better, left to right; `lower` is the text in lower case."""
    lower = with_hyphens(lower or text.lower())
    for start, end in _stacks(lower):
        surface = text[start:end]
        if surface in ("Mr", "mr") or (_US.search(surface) and not _US_PICTURE.search(surface)):
            continue  # a man; we, or a country
        if end < len(text) and _NO_METHOD.match(text, end + 1):
            continue
        if _AFTER_TIME.search(text, max(0, start - 9), start) and surface.lower().startswith(("pre", "post")):
            continue  # "two weeks post-treatment CT"
        if surface == "MR" and _AMONG_OTHERS.match(text, end):
            continue  # a muscle of the eye among others: "the MR and LR"
        if surface == "MR" and _OTHER_MR.search(text):
            continue
        name = with_hyphens(surface)
        lay, tail = _in_plain_words(name)
        if tail and landing(tail, text, end, len(text)) == 0:  # "X-ray after surgery with a plate"
            lay, tail = ("", "") if tail.startswith("of ") else _in_plain_words(name, in_front=True)
        if tail and _BARE_NOUN.match(text, end):
            continue  # "non-contrast CT abdomen": what goes behind would part the two
        if "thoracic" in surface.lower() and "chest-level" not in lay and another_sense("thoracic", lower, end, end):
            lay = lay.replace("chest", "chest-level spine")
        if "wide dental" in lay and "X-ray" not in lay and "CT" not in lay:
            continue  # a wide picture of the skin or the eye
        if lay and lay.lower() != surface.lower():
            yield Picture(start, end, lay, tail)


def _stacks(lower: str) -> Iterator[tuple[int, int]]:
    """Where the stacks are: looked for only where the words before a method may begin one, as the pattern tries some
    two hundred words at each place."""
    at = 0
    while method := _FIRST_METHOD.search(lower, at):
        start = method.start()
        for word in reversed(lower[at:start].split(" ")):
            start -= len(word) + 1
            if word and word not in _WORDS_IN_STACK:
                break
        stack = _STACK.search(lower, max(at, start))
        if stack is None:
            return
        yield stack.span()
        at = stack.end()


def with_hyphens(text: str) -> str:
    """ "Gadolinium–enhanced X‐ray" as it is usually written, letter by letter."""
    if text.isascii():
        return text
    return text.replace("–enhanced", "-enhanced").replace("–ray", "-ray").replace("‐", "-").replace("‑", "-")


def goes_on(text: str, start: int, end: int) -> bool:
    """Whether a method named there is part of a longer name, which "scan" would part: "an image of CT", "MRI brain"."""
    before = _OF_PICTURE.search(text, max(0, start - 12), start)
    return before is not None or _BARE_NOUN.match(text, end) is not None


@lru_cache(maxsize=16384)
def _in_plain_words(surface: str, in_front: bool = False) -> tuple[str, str]:
    """The name of a picture, and what of it stands at its end; with `in_front` the time stands before it."""
    words = surface
    picture = whole = ""
    if behind := re.search(rf"[ ]+({_any(_WHOLE)})\Z", words, re.IGNORECASE):
        whole = f"of the {_WHOLE[behind[1].lower()]}"
        words = words[: behind.start()]
    while (last := _LAST_PICTURE.search(words)) is not None:
        picture = picture or _PICTURES[last[1].lower()] + ("s" if last[2] else "")
        words = words[: last.start()]
    front: dict[str, list[str]] = {"from": [], "when": [], "with": [], "body": [], "kept": []}
    for kind, words_of in (("from", _any(_FROM)), ("body", "chest|abdomen|brain|pelvis|head")) if picture else ():
        if late := re.search(rf"[ ]+({words_of})\Z", words, re.IGNORECASE):
            front[kind].append(_TABLE[kind][late[1].lower()])
            words = words[: late.start()]
    method, alone, before = _method_of(words)
    if method is None:
        return "", ""
    joined, last_kind = False, ""
    for word in _WORDS_IN_FRONT.finditer(words[: method.start()]):
        kind = str(word.lastgroup)
        if kind == "and":
            joined = True
            continue
        said = word[0] if kind == "kept" else _TABLE[kind][word[0].lower()]
        if joined and (kind != last_kind or len(front[kind]) != 1):  # "plain and enhanced CT" are two scans, not one
            return "", ""
        front[kind] = [f"{front[kind][0]} and {said}"] if joined else [*front[kind], said]
        joined, last_kind = False, kind
    front["kept"] = [word.lower() if word.istitle() and word.isalpha() else word for word in front["kept"]]
    plural = method[0].lower().endswith(("graphs", "grams", "rays"))
    if picture in ("view", "views") and any(said.endswith("-view") for said in front["from"]):
        picture = ""  # "MRI sagittal view"
    name = _name(alone, before, picture, plural)
    front = {kind: list(dict.fromkeys(said)) for kind, said in front.items()}
    body = front["body"]  # "dental" beside "wide dental" says nothing
    front["body"] = [said for said in body if not any(said in other.split() for other in body if other != said)]
    late_words = [*front["with"], *front["when"]]
    early_words: list[str] = []
    if in_front and all(said in IN_FRONT for said in front["when"]):
        early_words = [IN_FRONT[said] for said in front["when"]]
        late_words = front["with"]
    named = [*early_words, *front["kept"], *front["from"], *front["body"], name, *([whole] if whole else [])]
    return " ".join([*named, *late_words]), " ".join(late_words)


def _method_of(words: str) -> tuple[re.Match[str] | None, str, str]:
    for pattern, alone, before in _METHOD_AT_END:
        method = pattern.search(words)
        if method and (method.start() == 0 or words[method.start() - 1] == " "):
            return method, alone, before
    return None, "", ""


def _name(alone: str, before: str, picture: str, plural: bool) -> str:
    if before == "X-ray":
        if picture in ("", "scan", "film", "study", "exam", "scans", "films"):
            return "X-rays" if plural or picture.endswith("s") else "X-ray"
        return f"X-ray {picture}"
    if not picture:
        return alone + ("s" if plural else "")
    return f"{before} {picture}"
