"""Numbers and sides that cannot both be true of one patient, found in the words of single complaints.

Only plain cases are found: two different durations, two counts or two grades of the same thing, and left against right
of the same part. Complaints about different things may differ, so two facts are compared only if they share a word
that says what they are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from builders.threemdbench.wording import content_words

_SAID: tuple[tuple[float, str], ...] = (
    (0.5, "half"),
    (1, "a an one"),
    (2, "two couple"),
    (3, "three few"),
    (4, "four several"),
    *((float(n), word) for n, word in enumerate("five six seven eight nine ten eleven twelve".split(), start=5)),
    (14, "fourteen"),
    (15, "fifteen"),
    (20, "twenty"),
    (30, "thirty"),
)
_NUMBERS = {word: number for number, words in _SAID for word in words.split()}
_NUMBER = rf"\d+(?:[.,]\d+)?|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_DAYS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30.4, "year": 365, "decade": 3650}
_TIME = (
    rf"(?P<number>{_NUMBER})(?P<half> and a half)?(?: of| an?)?(?: (?:or (?:{_NUMBER})|more|full|whole))? "
    rf"(?P<unit>{'|'.join(_DAYS)})s?\b"
)
_ROUGHLY = "about around almost nearly over under roughly approximately some already now".split()
_ROUGHLY += ["at least", "more than", "less than", "up to", "the last", "the past"]
_ABOUT = rf"(?:(?:{'|'.join(_ROUGHLY)}) )*"
_SINCE_WHEN = (
    re.compile(rf"\b{_ABOUT}{_TIME} ago\b"),
    re.compile(
        rf"\b(?:have|has|had|been|ve|lasted|lasting|present|persisted)\b[^.;]*?\b(?:for|over|since) {_ABOUT}{_TIME}"
    ),
)
_GRADE = re.compile(rf"\b(?P<number>{_NUMBER}) (?:out of|/) (?:10|ten)\b|\b(?P<short>\d+)/10\b")
_EXACT = [word for word in _NUMBERS if word not in ("a", "an", "few", "couple", "several", "half")]
_COUNT = re.compile(rf"\b(?P<number>\d+|{'|'.join(_EXACT)}) (?:\w+ )?(?P<what>[a-z]+s)\b")
_SIDE = re.compile(
    r"\b(?P<side>left|right)(?:[- ]hand)?(?: side of (?:the |your )?| )"
    r"(?!(?:after|away|before|now|there|here|when|where|at|in|on|next|above|below|under|behind|beside|and|or|is)\b)"
    r"(?:\w+ (?=(?:eye|eyelid|ear|nail|toe|finger)s?\b))?(?P<part>[a-z]+)"
)
_BOTH = re.compile(r"\bboth (?:of )?(?:the |your )?(?P<part>[a-z]+)")
_ONLY = re.compile(r"\b(?:only|just)\b")
# Subjects that a fact may be about without naming them.
_ANYTHING = frozenset("this it these those they symptom condition problem issue trouble complaint everything".split())
# Nor is a fact about its numbers and times: "for two days" and "for two years" may be said of different things.
_MEASURES = content_words(" ".join((*_NUMBERS, *_DAYS)))


def contradictions(facts: Sequence[str], topic: frozenset[str] = frozenset()) -> Iterator[str]:
    """A sentence for each pair of facts that contradict each other; `topic` are content words of what all are about.

    >>> list(contradictions(["You have had the rash for two days.", "Your rash appeared three weeks ago."]))
    ['since when: "two days" and "three weeks ago"']
    >>> list(contradictions(["Your left eye is red.", "Your right eye waters."]))
    ['side of the eye: left and right']
    >>> list(contradictions(["You have had the rash for two days.", "You have had asthma for three years."]))
    []
    """
    plain = [" ".join(fact.casefold().replace("’", "'").split()) for fact in facts]
    about = [_about(fact) for fact in plain]
    for i, j in combinations(range(len(facts)), 2):
        shared = bool(about[i] & about[j] - _ANYTHING) or all(about[n] & (_ANYTHING | topic) for n in (i, j))
        for one, other in ((one, other) for one in _times(plain[i]) for other in _times(plain[j])):
            if shared and max(one[0], other[0]) > 1.5 * min(one[0], other[0]):
                yield f'since when: "{one[1]}" and "{other[1]}"'
        grades = {_value(match) for text in (plain[i], plain[j]) for match in _GRADE.finditer(text)}
        if shared and len(grades) > 1:
            yield "grade out of ten: " + " and ".join(f"{grade:g}" for grade in sorted(grades))
        counts = [{match["what"]: _value(match) for match in _COUNT.finditer(text)} for text in (plain[i], plain[j])]
        for what in sorted(counts[0].keys() & counts[1].keys()):
            if counts[0][what] != counts[1][what] and what.rstrip("s") not in _DAYS:
                yield f"number of {what}: {counts[0][what]:g} and {counts[1][what]:g}"
        yield from _sides(plain[i], plain[j])


def _about(fact: str) -> frozenset[str]:
    """What a fact is about: its content words without measures, and words that stand for any subject."""
    named = {word for word in content_words(fact) - _MEASURES if not word[0].isdigit()}
    return frozenset(named | (_ANYTHING & set(re.findall(r"[a-z]+", fact))))


def _times(text: str) -> list[tuple[float, str]]:
    """How many days ago, according to the fact, something began, with the words that say so."""
    return [
        (_value(match) * _DAYS[match["unit"]], _shown(match)) for one in _SINCE_WHEN for match in one.finditer(text)
    ]


def _shown(match: re.Match[str]) -> str:
    return match[0][match.start("number") - match.start() :]


def _value(match: re.Match[str]) -> float:
    text = match["number"] or match["short"]
    number = _NUMBERS[text] if text in _NUMBERS else float(text.replace(",", "."))
    return number + 0.5 * bool(match.groupdict().get("half"))


def _sides(one: str, other: str) -> Iterator[str]:
    sides = [{(match["part"], match["side"]) for match in _SIDE.finditer(text)} for text in (one, other)]
    for part in sorted({part for part, _ in sides[0]} & {part for part, _ in sides[1]}):
        named = {side for place, side in sides[0] | sides[1] if place == part}
        if len(named) == 2 and not any(len({s for p, s in each if p == part}) == 2 for each in sides):
            yield f"side of the {part}: left and right"
    for here, there in ((0, 1), (1, 0)):
        text, against = (one, other) if here == 0 else (other, one)
        both = {match["part"].rstrip("s") for match in _BOTH.finditer(text)}
        for part, side in sorted(sides[there]):
            if part.rstrip("s") in both and _ONLY.search(against):
                yield f"side of the {part}: both and only {side}"
