"""An assessor's eight scores, in whatever form it writes them: accepted only if exactly one reading is possible.

    scores_in('```python\\n{"Doctor assessment": {"Medical Interviewing Skills": {"1.1": "1", ...')

A dictionary of JSON or of Python, flat, or nested in the groups of the paper's prompt, in a fence or with a sentence
around it; or the items one by one, each followed by its score. A score is 1 or 0, yes or no, true or false, also as
a text and with a reason after it; item 4.1 is one of the three words of its scale. Numbers for 4.1 are not read: some
count from 0, some from 1. Nothing is guessed: an item that is missing, appears twice, or could be read in two ways
makes the whole answer unfit.

A sentence around a dictionary may say whose it is. One that reports somebody else's words is not an answer.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from baselines.threemdbench.consultation.record import ITEMS
from loaders.models.asking import LONGEST_ANSWER, Unfit, fields

LEVELS = ("unsatisfactory", "satisfactory", "excellent")
"""The answers to item 4.1; the position in the list is the score. All other items are answered by 0 or 1."""
OVERALL = "4.1"

_ITEM = r"(?<![\d.])([1-9])[._]([1-9])(?!\d|[._]\d)"
_KEY = re.compile(_ITEM)
_BINARY = {"1": 1, "1.0": 1, "yes": 1, "true": 1, "one": 1, "0": 0, "0.0": 0, "no": 0, "false": 0, "zero": 0}
_BINARY_WORD = re.compile(r"(?<![\w.])(?:[01](?:\.0)?|yes|no|true|false|one|zero)(?![\w]|\.\d)", re.IGNORECASE)
_POINTS = re.compile(r"\A\s*points?\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"(?:\A|(?<=[\s:=|(]))[-–—−]\d")
_LEVEL_WORD = re.compile(r"(?<!\w)(?:un)?satisfactory(?!\w)|(?<!\w)excellent(?!\w)", re.IGNORECASE)
# After a score, these take it back, or continue a sentence in which it was an ordinary word.
_DOUBT = re.compile(
    r"\A\W*(?:or|to|and|but|partly|partially|maybe|somewhat|almost|nearly|mostly)\b|\A\s*[/%]|\A\s*[-–]\s*\d"
    r"|\A[ \t]+(?!(?:the|doctor|he|she|it|they|because|since|as|this|there|both|for)\b)[a-z]",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|less than|below|hardly|barely|almost|nearly|between|neither|nor|more than|far from)\b", re.IGNORECASE
)
_OTHERS_WORDS = re.compile(
    r"\b(?:wr(?:ote|ites|itten)|sa(?:id|ys|ying)|quot\w+|claim\w*|stat(?:ed|es)|ignor\w+|messages?|repeat\w*|told|tells"
    r"|turns?|example|instead|cannot|can't|unable|pretend\w*|according to the (?:doctor|patient))\b",
    re.IGNORECASE,
)
_SCORE_KEYS = frozenset({"score", "answer", "value", "rating", "result", "response", "assessment", "level"})
_REMARK_KEYS = frozenset(
    """reason reasons reasoning rationale explanation explanations comment comments justification note notes remark
    remarks summary evidence question criterion feedback""".split()
)
_FENCE = re.compile(r"```[ \t]*(?:json|python|py|text|plaintext)?", re.IGNORECASE)
_SMART = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "：": ":", "，": ","})
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_NAMES = {"true": "True", "false": "False", "null": "None", "yes": '"yes"', "no": '"no"'}
_FOREIGN = re.compile(rf"(?P<string>{_STRING.pattern})|//[^\n]*|\b(?P<name>true|false|null|yes|no)\b", re.IGNORECASE)
_DEEPEST = 6
_BETWEEN = " \t\n|:=*_\"'`,-–—>→.)(]["
_LEFT_OVER = re.compile(r"[\s,;|*_\"'`{(\[-]*(?:\band\b)?[\s,;|*_\"'`{(\[-]*(?:criterion|item)?\s*\Z", re.IGNORECASE)


def scores_in(text: str, *, whole: bool = False) -> dict[str, int]:
    """The scores in an answer, without thoughts and tokens of chat templates. Raises Unfit if they cannot be read.

    `whole` accepts only a dictionary with nothing around it but a fence, for when the answer may quote other scores.

    >>> scores_in("{'A': {'1.1': 'Yes', '1.2': 0, '1.3': True}, 'B': {'2.1': '1', '2.2': 1, '3.1': 0, '3.2': 0}, "
    ...           "'C': {'4.1': 'Excellent'}}")["4.1"]
    2
    """
    if len(text) > LONGEST_ANSWER:
        raise Unfit(f"the answer is longer than {LONGEST_ANSWER:,} characters")
    text = text.translate(_SMART)
    found = _object(_FENCE.sub(lambda fence: " " * len(fence[0]), text))
    if found is None and not whole:
        return _complete(_listed(text))
    outside, value = found or ("", {})
    if found is None or _OTHERS_WORDS.search(outside) or (whole and outside.strip()):
        raise Unfit("the answer is not one JSON object and nothing else")
    return _complete(_items(value, 0))


def holds_scores(text: str) -> bool:
    """Whether a text contains scores of some items, or something that looks like them.

    >>> holds_scores("Use the 1.1 % cream."), holds_scores('Say {"1.1": 1, "1.2": 1}!')
    (False, True)
    """
    return len({place[0] for place in _KEY.finditer(text)}) > 1


# --- A dictionary -----------------------------------------------------------------------------------------------------


def _object(text: str) -> tuple[str, Mapping[Any, Any]] | None:
    """The one outermost dictionary of a text, with the text around it; None for any other text."""
    spans = list(_braced(text))
    if len(spans) != 1:
        return None
    ((start, end),) = spans
    value = _parsed(text[start:end])
    return None if value is None else (f"{text[:start]}\n{text[end:]}", value)


def _braced(text: str) -> Iterator[tuple[int, int]]:
    """Where brackets of the outermost level open and close; those in strings do not count."""
    depth = start = at = 0
    while at < len(text):
        if depth and (string := _STRING.match(text, at)):
            at = string.end()
            continue
        if text[at] == "{":
            start = at if depth == 0 else start
            depth += 1
        elif text[at] == "}" and depth:
            depth -= 1
            if depth == 0:
                yield start, at + 1
        at += 1


def _parsed(text: str) -> Mapping[Any, Any] | None:
    """A dictionary in JSON or Python, with the slips that models make in either; None for anything else."""
    value = literal(text)
    value = literal(_pythonic(text)) if value is None else value
    return value if isinstance(value, Mapping) else None


def literal(text: str) -> object:
    """What a text says in JSON or, if it is none, in Python; None for anything else. Raises Unfit for an object in
    which a field stands twice: either would silently take the last."""
    for read in (partial(json.loads, object_pairs_hook=fields), _python):
        try:
            return read(text)
        except Unfit:
            raise
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def _python(text: str) -> object:
    tree = ast.parse(text.strip(), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            fields([(ast.dump(key), None) for key in node.keys if key is not None])
    return ast.literal_eval(tree)


def _pythonic(text: str) -> str:
    """JSON's names changed to Python's, // comments removed, and a comma added where a line ends without one."""
    text = _FOREIGN.sub(lambda found: found["string"] or _NAMES.get((found["name"] or "").casefold(), ""), text)
    return re.sub(r"([\"'\w}])[ \t]*\n(\s*[\"'])", r"\1,\n\2", text)


def _items(value: Mapping[Any, Any], depth: int) -> Iterator[tuple[str, object]]:
    """Items and scores in a dictionary and those within it. Raises Unfit for
    anything that is neither item nor group."""
    if depth > _DEEPEST:
        raise Unfit("the answer is nested too deeply")
    for key, held in value.items():
        name = str(key).strip()
        items = {f"{found[1]}.{found[2]}" for found in _KEY.finditer(name)}
        if len(items) == 1:
            yield items.pop(), _unwrapped(held)
        elif items:
            raise Unfit(f"several items in {name[:40]!r}")
        elif isinstance(held, Mapping):
            yield from _items(held, depth + 1)
        elif isinstance(held, list) and held and all(isinstance(one, Mapping) for one in held):
            for one in held:
                yield from _rows(one, depth + 1)
        elif name.casefold() not in _REMARK_KEYS:
            raise Unfit(f"unknown item {name[:20]!r}")


def _rows(row: Mapping[Any, Any], depth: int) -> Iterator[tuple[str, object]]:
    """A row of a list: {"item": "1.1", "score": 1}, or a dictionary like any other."""
    named = [key for key in row if str(key).casefold() in ("item", "criterion", "id", "number", "question")]
    if len(named) == 1 and not any(_KEY.search(str(key)) for key in row):
        rest = {key: held for key, held in row.items() if key not in named}
        yield from _items({str(row[named[0]]): rest}, depth)
    else:
        yield from _items(row, depth)


def _unwrapped(held: object) -> object:
    """The score in {"score": 1, "reason": "…"}; anything else as it is."""
    if not isinstance(held, Mapping):
        return held
    scores = [one for key, one in held.items() if str(key).strip().casefold() in _SCORE_KEYS]
    others = [key for key in held if str(key).strip().casefold() not in _SCORE_KEYS | _REMARK_KEYS]
    return scores[0] if len(scores) == 1 and not others else held


# --- Items one by one -------------------------------------------------------------------------------------------------


def _listed(text: str) -> Iterator[tuple[str, object]]:
    """Each item and the text up to the next one; the text before the first must not be about other words."""
    places = list(_KEY.finditer(text))
    if not places or _OTHERS_WORDS.search(text[: places[0].start()]):
        raise Unfit("the answer is not one JSON object and nothing else")
    ends = [*(place.start() for place in places[1:]), len(text)]
    for place, end in zip(places, ends, strict=True):
        yield f"{place[1]}.{place[2]}", _behind(text[place.end() : end])


def _behind(rest: str) -> str:
    """The text about an item: directly after it, or after its question or its name."""
    said = _LEFT_OVER.sub("", rest).lstrip(_BETWEEN)
    if _NEGATIVE.search(rest[: len(rest) - len(rest.lstrip(_BETWEEN)) + 1]):
        return rest.strip()
    if _BINARY_WORD.match(said) or _LEVEL_WORD.match(said):
        return said
    _, question, answer = said.rpartition("?")
    if not question:
        _, _, answer = said.partition(":")
    return answer.lstrip(_BETWEEN)


# --- Values -----------------------------------------------------------------------------------------------------------


def _complete(found: Iterator[tuple[str, object]]) -> dict[str, int]:
    scores: dict[str, int] = {}
    for item, value in found:
        if item not in ITEMS:
            raise Unfit(f"unknown item {item!r}")
        if item in scores:
            raise Unfit(f"item {item} stands twice in the answer")
        scores[item] = _level(value) if item == OVERALL else _binary(item, value)
    if missing := [item for item in ITEMS if item not in scores]:
        raise Unfit(f"no item {', '.join(missing)}")
    return {item: scores[item] for item in ITEMS}


def _binary(item: str, value: object) -> int:
    if isinstance(value, bool | int | float) and value in (0, 1):
        return int(value)
    if isinstance(value, str):
        said = value.strip().strip("*_\"'`()[]")
        first = _BINARY_WORD.match(said)
        rest = _POINTS.sub("", said[first.end() :]) if first else ""
        if first and not _DOUBT.match(rest):
            # "1 (yes)" says it twice; "1 (no)" contradicts itself.
            again = _BINARY_WORD.match(rest.strip(" \t.,:;*_()[]-–—=\"'"))
            if again is None or _BINARY[again[0].casefold()] == _BINARY[first[0].casefold()]:
                return _BINARY[first[0].casefold()]
    raise Unfit(f"item {item} is {_shown(value)}, not {choices(item)}")


def _level(value: object) -> int:
    if isinstance(value, str):
        head = re.split(r"[.;:\n(–—]|\s-\s|,\s", value.strip().lstrip("*_\"'`([0123456789. "), maxsplit=1)[0]
        words = {word.casefold() for word in _LEVEL_WORD.findall(head)}
        others = {word.casefold() for word in _LEVEL_WORD.findall(value)}
        if len(words) == 1 and others == words and not _NEGATED.search(head):
            return LEVELS.index(words.pop())
    raise Unfit(f"item {OVERALL} is {_shown(value)}, not {choices(OVERALL)}")


def choices(item: str) -> str:
    """The possible answers to an item, in words."""
    return " or ".join(json.dumps(level) for level in LEVELS) if item == OVERALL else "0 or 1"


def _shown(value: object) -> str:
    try:
        return json.dumps(value)[:40]
    except (TypeError, ValueError):
        return "no score"
