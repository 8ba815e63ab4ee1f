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

from builders.threemdbench.contradictions import contradictions
from builders.threemdbench.wording import content_words, words
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
    for name, _ in named_in(text):
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
