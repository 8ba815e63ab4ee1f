"""Which diagnoses an extractor's answer names: the list that it was asked for, and what models write instead.

A list or an object of JSON or Python, a label in front, one name per line, a short sentence that gives the diagnosis or
says that there is none, a paragraph of reasons after it. Within a sentence only names of the 34 and their synonyms
count, and only unhedged ones. An answer that both names and denies a diagnosis is asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from baselines.threemdbench.consultation.diagnosis import NONE
from baselines.threemdbench.consultation.reading import literal
from loaders.models.asking import Unfit
from loaders.threemdbench import diagnosis_of, named_in

_MAX_NAMES = 34
_MAX_WORDS = 10
_AROUND = " \t.`'\"*_“”‘’"
_NAME = re.compile(r"[^\W\d_][\w'’/() -]*")
_TALK = re.compile(
    r"\b(?:i|it|you|we|this|is|has|have|yes|diagnos\w+|doctors?|patients?|transcript|sentence|final)\b", re.IGNORECASE
)
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)
_LABEL = re.compile(
    r"\A\W*(?:the\s+)?(?:(?:final|extracted|confirmed|primary|doctor['’]s)\s+)*(?:diagnos[ei]s|output|answer|result)"
    r"(?:\(es\))?[\s*_]*(?::|=|\s[-–—]\s|\bis\b:?|\bare\b:?)[\s*_]*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\A\s*(?:[-*•]|\d{1,2}[.)])\s+")
# What an object may hold beside the diagnosis: a reason in words, or how sure it is as a number.
_REASONS = frozenset("comment evidence explanation justification note rationale reason reasoning reasons".split())
_SURENESS = frozenset("certainty confidence probability score".split())
_DENIED = re.compile(
    r"\A\W*(?:n/?a|null|unknown|unclear|undetermined|inconclusive|nothing|not\s+\w+|none\b.*"
    r"|(?:there\s+(?:is|was)\s+)?no\b.*\bdiagnos[ei]s\b.*|(?:the\s+)?doctor\s+(?:did|does|has|had)\s?(?:not|n['’]t)\b.*)\W*\Z",
    re.IGNORECASE | re.DOTALL,
)
_HEDGED = re.compile(
    r"\b(?:not|no|n['’]t|never|might|may|could|possibl\w+|probabl\w+|likely|perhaps|maybe|suspect\w*"
    r"|rul(?:e|ed|ing) out|unless|if|versus|vs|provisional|tentative|unsure|uncertain)\b",
    re.IGNORECASE,
)
_OR = re.compile(r"\s+(?:or|and|as well as)\s+|\s*[/;]\s*|,\s*(?:or|and)\s+|,", re.IGNORECASE)
_SENTENCE = re.compile(
    r"\A(?P<lead>[^.!?\n]{0,80}\b(?:diagnos\w+|has|have|suffers?|suffering)\b(?:\s+(?:is|are|was|of|with|as|from|the|a|an|"
    r"patient|you|that|it|he|she|they|have|has|likely|to|be|case|been))*)\s*[:*\"'`]*\s*(?P<names>[^.!?\n]+)[.!]?\s*\Z",
    re.IGNORECASE,
)


def read_names(text: str) -> tuple[str, ...]:
    """The names of an answer as they were written; () for "none". Raises Unfit for anything but a list of names.

    >>> read_names("Stye, chalazion."), read_names("'none'"), read_names("Final diagnosis: **hordeolum**\\n")
    (('Stye', 'chalazion'), (), ('hordeolum',))
    """
    answer = text.strip()
    if fence := _FENCE.match(answer):
        answer = fence[1]
    listed = _listed(answer)
    if listed is not None:
        return _names(listed)
    paragraph, _, reasons = answer.strip(_AROUND + "\n").partition("\n\n")
    if reasons and not _says_more(paragraph, reasons):
        answer = paragraph
    answer = _LABEL.sub("", answer.strip(_AROUND + "\n"), count=1).strip(_AROUND + "\n")
    if not answer:
        raise Unfit("an empty answer")
    if _DENIED.match(answer) and not any(named_in(answer)) and "," not in answer:
        return ()
    if "\n" in answer:
        return _lines(answer)
    try:
        return _names(re.split("[,;]", answer))
    except Unfit:
        if (said := _said(answer)) is None:
            raise
        return said


def _names(parts: Iterable[str]) -> tuple[str, ...]:
    names = [name for part in parts if (name := _BULLET.sub("", part).strip(_AROUND))]
    if not names:
        raise Unfit("an empty answer")
    if len(names) > _MAX_NAMES:
        raise Unfit(f"more than {_MAX_NAMES} names")
    for name in names:
        if not _NAME.fullmatch(name) or _TALK.search(name) or _HEDGED.search(name) or len(name.split()) > _MAX_WORDS:
            raise Unfit(f"{name[:60]!r} is not the name of a diagnosis")
    if [name.casefold() for name in names] == [NONE]:
        return ()
    if NONE in (name.casefold() for name in names):
        raise Unfit("both names and none")
    return tuple(one for name in names for one in _apart(name))


def _apart(name: str) -> list[str]:
    """ "acne or rosacea" as two, if each is one of the 34; a name that itself contains "and" stays whole."""
    parts = [part.strip(_AROUND) for part in _OR.split(re.sub(r"\Aeither\s+", "", name, flags=re.IGNORECASE))]
    return parts if len(parts) > 1 and all(map(diagnosis_of, parts)) else [name]


def _listed(answer: str) -> list[str] | None:
    """The names in a list or an object; None if the answer is neither."""
    if not answer.startswith(("[", "{", "(")):
        return None
    value = literal(answer)
    if value is None:
        return None
    if isinstance(value, Mapping):
        told = [held for key, held in value.items() if not _is_beside(key, held)]
        if len(told) != 1 or any(_says_more(str(told), held) for held in value.values() if isinstance(held, str)):
            return None
        (value,) = told
    if value is None or value == [] or value == ():
        return [NONE]
    if isinstance(value, str):
        return value.split(",")
    return list(value) if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value) else None


def _is_beside(key: object, held: object) -> bool:
    """Whether a field of an object is no answer but what goes with one."""
    name = str(key).strip().casefold()
    return (name in _REASONS and isinstance(held, str)) or (name in _SURENESS and isinstance(held, int | float))


def _lines(answer: str) -> tuple[str, ...]:
    names = [_BULLET.sub("", line).strip(_AROUND) for line in re.split("[,;\n]", answer) if line.strip(_AROUND)]
    if not all(map(diagnosis_of, names)):
        raise Unfit("more than one line")
    return _names(names)


def _said(answer: str) -> tuple[str, ...] | None:
    """The names in a sentence that states the diagnosis and nothing against it."""
    sentence = _SENTENCE.match(answer)
    if sentence is None or _HEDGED.search(answer):
        return None
    names = [part.strip(_AROUND) for part in _OR.split(sentence["names"])]
    names = [re.sub(r"\A(?:an?|the|either|both)\s+", "", name, flags=re.IGNORECASE) for name in names]
    return tuple(names) if names and all(map(diagnosis_of, names)) else None


def _says_more(paragraph: str, reasons: str) -> bool:
    """Whether later paragraphs name another diagnosis than the first does, or say that there is none."""
    if _DENIED.match(reasons):
        return True
    first = {diagnosis.name for _, diagnosis in named_in(paragraph)}
    return not {diagnosis.name for _, diagnosis in named_in(reasons)} <= first
