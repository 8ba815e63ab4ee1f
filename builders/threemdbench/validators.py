"""What keeps a complaint usable: seven checks, each with a reason that a model can act on (specification 3M-G9).

    form           a plain English sentence of 2 to 25 words, without markup
    person         the patient is addressed: nobody else speaks or is spoken about
    diagnosis      none of the 34 diagnoses is named, nor a synonym
    atomic         one fact a complaint
    repeat         no fact twice, and none that the basic complaint holds already
    contradiction  no two numbers or sides that cannot both be true
    count          5 to 9 facts

Failures are told as "check: reason". The checks look at words: a complaint that passes may still be untypical, or wrong
for the photo.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations

from loaders.threemdbench import named_in

FEWEST, MOST = 5, 9
_SHORTEST, _LONGEST, _LONGEST_BASIC = 2, 25, 30

_MARKUP = re.compile(r"[{}\[\]<>|\\_#*`~^=@]|https?:|www\.|\s-\s-|&\w+;")
_END = re.compile(r"[.!?]+(?=\s|$)")
_ADDRESS = frozenset(("you", "your", "yours", "yourself", "you've", "you're", "you'd"))
_OTHERS = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|we|our|us|he|she|(?:the|this) patient(?:'s)?)\b")
# A second main clause is a second fact.
_SECOND_CLAUSE = re.compile(r"\b(?:and|also) (?:you|your|it|they|there|this|these|that)\b|\bbut (?:you|your|there)\b")


def check_basic(text: str) -> list[str]:
    """What is wrong with a basic complaint: form, person, diagnosis, or more than one sentence."""
    failures = [*_form(text, _LONGEST_BASIC), *_person(text), *_diagnosis(text)]
    if not _ADDRESS & set(words(text)):
        failures.append(f'person: "{_short(text)}" does not say "you" or "your"')
    if len(_END.findall(text)) > 1:
        failures.append(f'atomic: "{_short(text)}" is more than one sentence')
    return failures


def check_facts(basic: str, facts: Sequence[str]) -> list[str]:
    """What is wrong with the additional complaints of a case, given its basic complaint; empty if nothing is."""
    failures: list[str] = []
    for fact in facts:
        failures += [*_form(fact, _LONGEST), *_person(fact), *_diagnosis(fact), *_atomic(fact)]
    if facts and 2 * sum(bool(_ADDRESS & set(words(fact))) for fact in facts) < len(facts):
        failures.append('person: fewer than half of the facts say "you" or "your"')
    failures += _repeats(basic, facts)
    failures += [f"contradiction: {reason}" for reason in contradictions([basic, *facts], content_words(basic))]
    if not FEWEST <= len(facts) <= MOST:
        failures.append(f"count: {len(facts)} facts, expected {FEWEST} to {MOST}")
    return failures


def _form(text: str, longest: int) -> Iterator[str]:
    shown = _short(text)
    count = len(words(text))
    letters = [character for character in text if character.isalpha()]
    if text != " ".join(text.split()) or _MARKUP.search(text):
        yield f'form: "{shown}" holds markup, an address or line breaks'
    elif not text[:1].isalpha() or sum(c.isascii() for c in letters) < 0.9 * len(letters):
        yield f'form: "{shown}" is no plain English sentence'
    elif not _SHORTEST <= count <= longest:
        yield f'form: "{shown}" has {count} words, expected {_SHORTEST} to {longest}'


def _person(text: str) -> Iterator[str]:
    found = _OTHERS.search(text.replace("’", "'").casefold())
    if found:
        yield f'person: "{_short(text)}" says "{found[0]}"; only the patient is addressed, as "you"'


def _diagnosis(text: str) -> Iterator[str]:
    for name, _ in named_in(text.replace("-", " ")):  # "eczema-like" gives it away, too
        yield f'diagnosis: "{_short(text)}" names a diagnosis: "{name}"'


def _atomic(text: str) -> Iterator[str]:
    if len(_END.findall(text)) > 1:
        yield f'atomic: "{_short(text)}" is more than one sentence'
    elif _SECOND_CLAUSE.search(text.casefold()) or text.count(",") > 2 or ";" in text:
        yield f'atomic: "{_short(text)}" holds more than one fact'


def _repeats(basic: str, facts: Sequence[str]) -> Iterator[str]:
    known, found = content_words(basic), [content_words(fact) for fact in facts]
    for fact, meaning in zip(facts, found, strict=True):
        if meaning <= known or _overlap(meaning, known) >= 0.7:
            yield f'repeat: "{_short(fact)}" repeats the general complaint'
    for i, (fact, meaning) in enumerate(zip(facts, found, strict=True)):
        for j in range(i):
            smaller, larger = sorted((meaning, found[j]), key=len)
            if (len(smaller) > 1 and smaller <= larger) or _overlap(meaning, found[j]) >= 0.7:
                yield f'repeat: "{_short(fact)}" repeats "{_short(facts[j])}"'


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 80 else plain[:79] + "…"


# --- Words that say what a complaint is about, in one form ------------------------------------------------------------

_EMPTY = frozenset(
    "a an the this that these those there here it its they them their you your yours yourself i my me we our "
    "is are was were be been being am has have had having do does did can could may might will would "
    "and or but nor so if when where while as than then of in on at to from by with without into over under near "
    "about around for since ago after before during between up out off down again very quite rather really just only "
    "also some any no not more most less many much few lot bit little all both each every other another such same own "
    "what which who whose how feel felt feels feeling notice noticed notices see saw seen sees look looks looked "
    "seem seems get gets got become becomes became like as well recently still always often sometimes".split()
)
# Words said about nearly everything do not help to tell two complaints apart.
_ENDINGS = (("ies", "y"), *((ending, "") for ending in "ings ing edly ed es s ly y e".split()))


def words(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words("You don't itch; it's 1.5 cm wide.")
    ['you', "don't", 'itch', "it's", '1.5', 'cm', 'wide']
    """
    return re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+(?:[.,]\d+)*", text.replace("’", "'").casefold())


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning; negation counts.

    >>> sorted(content_words("You have itchy, red spots.")), sorted(content_words("The spot itches and is not red"))
    (['itch', 'red', 'spot'], ['itch', 'not', 'red', 'spot'])
    """
    found = set()
    for word in words(text):
        if word in ("no", "not", "never", "without") or word.endswith("n't"):
            found.add("not")
        elif word not in _EMPTY:
            found.add(_stem(word))
    return frozenset(found)


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word


# --- Numbers and sides that cannot both be true -----------------------------------------------------------------------

# Only plain cases are found: two different durations, counts or grades of the same thing, and left against right of the
# same part. Complaints about different things may differ, so two facts are compared only if they share a word that says
# what they are about.
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
