"""Which diagnoses an extractor's answer names: the list that it was asked for, and what models write instead.

A list or an object of JSON or Python, a label or a tag around it, a fence, also after a sentence, one name per line, a
short sentence that gives the diagnosis or says that there is none, a paragraph or a labelled line of reasons after it,
a code or a confidence beside a name. Within a sentence only names of the 34 and their synonyms count, and only unhedged
ones. An answer that both names and denies a diagnosis is asked for again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from baselines.threemdbench.consultation.diagnosis import NONE
from baselines.threemdbench.consultation.reading import literal
from loaders.models.asking import Unfit
from loaders.threemdbench import diagnosis_of, named_in, straightened

_MAX_NAMES = 34
_MAX_WORDS = 10
_DEEPEST = 3
_AROUND = " \t.!`'\"*_#>“”‘’„«»‹›"
_NAME = re.compile(r"[^\W\d_][\w'’/() -]*")
_TALK = re.compile(
    r"\b(?:i|it|you|we|this|is|has|have|yes|diagnos\w+|doctors?|patients?|transcript|sentence|final)\b", re.IGNORECASE
)
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)
_FENCE_WITHIN = re.compile(r"^```\w*[ \t]*\n(.*?)\n[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)
_TAGGED = re.compile(r"\A<(\w*(?:answer|diagnos[ei]s|output|result)\w*)>\s*(.*?)\s*</\1>\Z", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(
    r"\A\W*(?:the\s+)?(?:(?:final|extracted|confirmed|primary|doctor['’]s)\s+)*(?:diagnos[ei]s|output|answer|result)"
    r"(?:\(es\))?[\s*_]*(?::|=|\s[-–—]\s|\bis\b:?|\bare\b:?)[\s*_]*",
    re.IGNORECASE,
)
_BULLET = re.compile(r"\A\s*(?:[-*•]|\d{1,2}[.)])\s+")
# What an object may hold beside the diagnosis: a reason in words, or how sure it is as a number.
_REASONS = frozenset("comment evidence explanation justification note rationale reason reasoning reasons".split())
_SURENESS = frozenset("certainty confidence probability score".split())
_CODES = frozenset("code icd icd10 icd-10 icd_10 icd_code icd10_code".split())
_SURE = r"(?:(?:very\s+)?(?:high|medium|moderate|low)|certain|\d{1,3}(?:\.\d+)?\s*%|[01](?:\.\d+)?)"
_CODE = r"[A-Z]\d\d(?:\.\w{1,4})?"
# What a name may carry: "eczema (L20.9)", "eczema (confidence: 90%)".
_CARRIED = re.compile(
    rf"\s*[(\[]\s*(?:(?:ICD[-\s]?10(?:[-\s]CM)?|code|confidence|certainty|probability)[\s:=]*)?(?:{_CODE}|{_SURE})"
    r"(?:\s+(?:confidence|certainty|probability))?\s*[)\]]\s*\Z",
    re.IGNORECASE,
)
_SIDE_LINE = re.compile(
    rf"\A\W*(?:(?:{'|'.join(sorted(_SURENESS))})\W*[:=]\W*{_SURE}\W*\Z"
    rf"|(?:icd[-\s]?(?:10)?(?:[-\s]code)?|code)\W*[:=]\W*{_CODE}\W*\Z"
    rf"|(?:{'|'.join(sorted(_REASONS))})\W*[:=])",
    re.IGNORECASE,
)
# What models write for "none".
_UNDECIDED = "|".join(
    (
        r"n/?a|null|nil|unknown|unclear|undetermined|indeterminate|inconclusive|undiagnosed|unspecified|unidentified",
        r"unconfirmed|undecided|nothing|tbd|not\s+\w+|none\b.*",
        r"(?:it\s+)?(?:(?:can|could)\s?(?:not|n?['’]t)|unable\s+to|impossible\s+to)(?:\s+be)?"
        r"\s+(?:determin|establish|conclud|diagnos|identif|sa(?:y|id)|tell|told|confirm|extract|ma[dk]e)\w*\b.*",
        r"(?:insufficient|inadequate|not\s+enough|lack\s+of|no)\s+(?:\w+\s+)?(?:information|evidence|data|details?)\b.*",
        r"to\s+be\s+(?:determined|confirmed|established|decided|diagnosed)\b.*",
        r"(?:pending|awaiting|deferred|postponed)\b.*",
        r"(?:refer(?:red|ral)?(?:\s+to)?|consult(?:ation)?|see|visit)\s+(?:\w+\s+){0,3}"
        r"(?:\w+ologists?|doctor|dentist|physician|specialist|clinic)\b.*",
        r"(?:needs?|requires?|more|further|additional)\s+(?:\w+\s+){0,2}"
        r"(?:tests?|testing|examinations?|evaluation|investigations?|information|biopsy)\b.*",
        r"keine?[rs]?(?:\s+diagnose)?|aucune?(?:\s+diagnostic)?|ningun[oa]|nessun[oa]?|nenhuma?|geen|ingen|нет",
        r"(?:pas\s+de|sin|sem|senza)\s+diagn\w+",
        r"(?:there\s+(?:is|was)\s+)?no\b.*\bdiagnos[ei]s\b.*",
        r"(?:the\s+)?doctor\s+(?:did|does|has|had)\s?(?:not|n['’]t)\b.*",
    )
)
_DENIED = re.compile(rf"\A\W*(?:{_UNDECIDED})\W*\Z", re.IGNORECASE | re.DOTALL)
# None, and why: the reasons may say what was only suspected.
_NONE_BECAUSE = re.compile(
    r"\A\W*(?:none|no(?:\s+\w+)?\s+diagnos[ei]s)(?:\s*[(:.–—]|\s+-\s|\s*,?\s+(?=as\b|because\b|since\b))(.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_NONE = re.compile(r"none\b", re.IGNORECASE)
_HEDGED = re.compile(
    r"(?:n['’]t|\b(?:not|no|never|might|may|could|possibl\w+|probabl\w+|likely|perhaps|maybe|suspect\w*"
    r"|rul(?:e|ed|ing) out|exclud\w*|absen\w+|free (?:of|from)|negative for"
    r"|den(?:y|ies|ied)|unless|if|versus|vs|provisional|tentative|unsure|uncertain))\b",
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
    answer = _inner(straightened(text).strip())
    listed = _listed(answer)
    if listed is None:
        answer = _LABEL.sub("", answer, count=1).strip()
        listed = _listed(answer)
    if listed is not None:
        return _names(listed)
    paragraph, _, reasons = _without_side_lines(answer.strip(_AROUND + "\n"))
    if reasons and not _says_more(paragraph, reasons):
        answer = paragraph
    answer = _LABEL.sub("", answer.strip(_AROUND + "\n"), count=1).strip(_AROUND + "\n")
    if not answer:
        raise Unfit("an empty answer")
    if _denies(answer):
        return ()
    if "\n" in answer:
        return _lines(answer)
    try:
        return _names(re.split("[,;]", answer))
    except Unfit:
        if (said := _said(answer)) is None:
            raise
        return said


def _inner(answer: str) -> str:
    """An answer without fences and tags around it; a sentence may stand around a fence, if it says no more."""
    for _ in range(_DEEPEST):
        fences = list(_FENCE_WITHIN.finditer(answer))
        if inner := _FENCE.match(answer) or _TAGGED.match(answer):
            answer = inner[inner.lastindex or 0]
        elif len(fences) == 1:
            around = f"{answer[: fences[0].start()]}\n{answer[fences[0].end() :]}".strip()
            if _HEDGED.search(around) or _says_more(fences[0][1], around):
                break
            answer = fences[0][1].strip()
        else:
            break
    return answer


def _without_side_lines(answer: str) -> tuple[str, str, str]:
    """An answer in two: what it says, and the reasons after it in a paragraph or in lines of their own label."""
    first, parted, reasons = answer.partition("\n\n")
    lines = first.split("\n")
    beside = [line for line in lines[1:] if _SIDE_LINE.match(line)]
    kept = "\n".join(line for number, line in enumerate(lines) if number == 0 or not _SIDE_LINE.match(line))
    return kept, parted, "\n".join((*beside, reasons)).strip()


def _denies(answer: str) -> bool:
    """Whether an answer says that there is no diagnosis, and names none but as a suspicion."""
    if _DENIED.match(answer) and "," not in answer and not any(named_in(answer)):
        return True
    because = _NONE_BECAUSE.match(answer)
    return because is not None and not _says_more(NONE, because[1])


def _names(parts: Iterable[str]) -> tuple[str, ...]:
    names = [name for part in parts if (name := _bare(part))]
    if not names:
        raise Unfit("an empty answer")
    if len(names) > _MAX_NAMES:
        raise Unfit(f"more than {_MAX_NAMES} names")
    if len(names) == 1 and _denies(names[0]):
        return ()
    if any(_NONE.match(name) for name in names):
        raise Unfit("both names and none")
    for name in names:
        if not _NAME.fullmatch(name) or _TALK.search(name) or _HEDGED.search(name) or len(name.split()) > _MAX_WORDS:
            raise Unfit(f"{name[:60]!r} is not the name of a diagnosis")
    return tuple(one for name in names for one in _apart(name))


def _bare(part: str) -> str:
    """A name without bullet, marks, code and confidence; "eczema – atopic dermatitis", which is one, by its first."""
    name = _CARRIED.sub("", _BULLET.sub("", part.strip(_AROUND)).strip(_AROUND)).strip(_AROUND)
    pieces = re.split(r"\s+[–—-]\s+", name)
    found = {diagnosis_of(piece) for piece in pieces}
    return pieces[0] if len(found) == 1 and None not in found else name


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
    told = _told(value)
    return [NONE] if told == [] else told


def _told(value: object, depth: int = 0) -> list[str] | None:
    """What a value of JSON or Python names; None if it is no list of names."""
    if value is None:
        return []
    if depth > _DEEPEST:
        return None
    if isinstance(value, str):
        return value.split(",")
    if isinstance(value, Mapping):
        names = [held for key, held in value.items() if not _is_beside(key, held)]
        told = _told(names[0], depth + 1) if len(names) == 1 and not isinstance(names[0], Mapping) else None
        reasons = [held for key, held in value.items() if isinstance(held, str) and _is_beside(key, held)]
        return None if any(_says_more(", ".join(told or (NONE,)), reason) for reason in reasons) else told
    if not isinstance(value, list | tuple):
        return None
    if all(isinstance(one, str) for one in value):
        return list(value)
    each = [_told(one, depth + 1) if isinstance(one, Mapping) else None for one in value]
    return None if None in each else [name for names in each for name in names or ()]


def _is_beside(key: object, held: object) -> bool:
    """Whether a field of an object is no answer but what goes with one."""
    name = str(key).strip().casefold()
    if isinstance(held, str):
        form = _SURE if name in _SURENESS else _CODE if name in _CODES else None
        return name in _REASONS or (form is not None and re.fullmatch(form, held.strip(), re.IGNORECASE) is not None)
    return name in _SURENESS and isinstance(held, int | float)


def _lines(answer: str) -> tuple[str, ...]:
    names = [_bare(line) for line in re.split("[,;\n]", answer) if line.strip(_AROUND)]
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


def _says_more(answer: str, reasons: str) -> bool:
    """Whether what goes with an answer names another diagnosis than it does, or says that there is none.

    Beside "none", a diagnosis may be named as one that is not settled.
    """
    if _DENIED.match(answer):
        settled = " . ".join(one for one in re.split(r"[.!?\n]+", reasons) if not _HEDGED.search(one))
        return any(named_in(settled))
    if _DENIED.match(reasons):
        return True
    first = {diagnosis.name for _, diagnosis in named_in(answer)}
    return not {diagnosis.name for _, diagnosis in named_in(reasons)} <= first
