"""One entry of a lay vocabulary, the plurals of its two sides, and their British spelling."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from operator import attrgetter
from typing import Any

from builders.medlaybench_v.words.lists import any_of
from loaders.files.bundled import bundled

KINDS = (
    "modality", "view", "anatomy", "finding", "disease", "procedure", "device", "agent", "laterality", "direction",
    "time", "other",
)  # fmt: skip
POS = ("noun", "adjective", "phrase")
_HERE = "builders.medlaybench_v.words"


@dataclass(frozen=True, slots=True)
class Term:
    """An expert term and what to say instead, both as they appear inside a sentence.

    `expert_plural` and `lay_plural` are "" if the rule makes them and "-" if there is none; `site` is the preposition
    that joins a place to a finding, or the noun phrase of an anatomy adjective's place; `gloss` asks for "lay (expert)"
    at the first mention.
    """

    expert: str
    lay: str
    cui: str | None
    kind: str
    pos: str
    expert_plural: str
    lay_plural: str
    site: str
    gloss: bool
    source: str
    licence: str


def terms_digest(terms: Iterable[Term]) -> str:
    """SHA-256 over terms: it changes whenever a draft could."""
    values = list(map(_values, terms))  # not `astuple`: it copies each text, which takes as long as all the rest
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode()).hexdigest()


_values = attrgetter(*(field.name for field in fields(Term)))


# Head nouns of radiology with Latin or Greek plurals; the rest is left to `inflect`.
_CLASSICAL = {row["one"]: row["many"] for row in bundled(_HERE, "plurals.csv")}
_CLASSICAL_PLURALS = frozenset(_CLASSICAL.values())
_PREPOSITION = re.compile(
    r"\s(?:of|in|on|at|with|without|from|for|to|by|around|near|between|under|behind|inside|outside|through|due|after|"
    r"before|during|along|above|below|that|which)\s"
)
# Countable heads of explanations: "(heart valves)", but "(bone behind the ear)".
_COUNTED = re.compile(
    r"(?!an? |the |of |in |into |on |to |from |for |at |along |around |between |behind |.* that )"
    rf"(?:[a-z'-]+ )*?[a-z-]*(?:{any_of('counted')})(?: (?:of|on|from|near|in|for|to|between|behind) [a-z' ]+)?"
)
# A capitalised or digit-bearing head ("CT", "T2", "PET/CT", "B") takes a plain s.
_ACRONYM = re.compile(r"(?:[A-Z]|.*[A-Z].*[A-Z].*|.*\d.*)\Z")


@cache
def english() -> Any:
    """The `inflect` engine, for articles and plurals; created once."""
    with _typeguard_idle():
        import inflect

    return inflect.engine()


@contextmanager
def _typeguard_idle() -> Iterator[None]:
    """Import `inflect` without typeguard, which would parse its 4,000 lines for each of 23 functions to check their
    arguments: 1.7 s in every process. Here it is only ever given words."""
    try:
        import typeguard
    except ImportError:  # an inflect that no longer needs it
        yield
        return
    names = vars(typeguard)
    typechecked = names["typechecked"]
    names["typechecked"] = _as_it_is
    try:
        yield
    finally:
        names["typechecked"] = typechecked


def _as_it_is(function: Any = None, **settings: Any) -> Any:
    return _as_it_is if function is None else function


@cache
def _plural_word(word: str) -> str:
    if _ACRONYM.match(word):
        return word if word.endswith("s") else word + "s"
    lower = word.lower()
    if lower in _CLASSICAL_PLURALS:
        return word
    if lower in _CLASSICAL:
        return word[:1] + _CLASSICAL[lower][1:]
    engine = english()
    singular = engine.singular_noun(lower)
    # "nodes" is a plural already; "mass", "abscess", "pelvis" only look like one.
    if singular and not lower.endswith(("ss", "us", "is")) and engine.plural_noun(singular) == lower:
        return word
    return str(engine.plural_noun(word))


def plural(phrase: str) -> str:
    """The plural of a noun phrase: its head is the word before the first preposition.

    >>> plural("pocket of pus"), plural("bronchus"), plural("swollen lymph nodes"), plural("CT")
    ('pockets of pus', 'bronchi', 'swollen lymph nodes', 'CTs')
    >>> plural("chest nodule (lump in the chest)"), plural("tricuspid valve (into the lung-pumping chamber)")
    ('chest nodules (lumps in the chest)', 'tricuspid valves (into the lung-pumping chamber)')
    """
    named, bracket, explained = phrase.partition(" (")
    if bracket:
        counted = _COUNTED.fullmatch(explained[:-1]) and not _PREPOSITION.search(named)
        many = plural(explained[:-1]) if counted else explained[:-1]
        return f"{plural(named)} ({many})"
    joint = _PREPOSITION.search(phrase)
    head, rest = (phrase[: joint.start()], phrase[joint.start() :]) if joint else (phrase, "")
    before, word = re.fullmatch(r"(.*?)([^\s-]*)", head, re.DOTALL).groups()  # type: ignore[union-attr]
    return before + _plural_word(word) + rest if word else phrase


def plural_forms(term: Term) -> tuple[str, str]:
    """Plural of the expert side and the lay text for it; two empty strings if the term has no plural of its own.

    A lay side without a plural ("swelling") serves for one and for many.
    """
    if term.pos != "noun" or term.expert_plural == "-":
        return "", ""
    expert = term.expert_plural or plural(term.expert)
    if expert == term.expert:
        return "", ""
    return expert, term.lay if term.lay_plural == "-" else term.lay_plural or plural(term.lay)


_SPELLED = {row["american"]: row["british"] for row in bundled(_HERE, "british.csv")}
_AMERICAN = re.compile(rf"(?<![cst])(?:(?<!o)|(?=h))(?:{'|'.join(_SPELLED)})")  # "oedema", but "microhemorrhage"


def british(text: str) -> str:
    """A text with its medical words in British spelling: captions come in both, vocabularies in the American one.

    >>> british("intraventricular hemorrhage"), british("coil embolization"), british("schematic, oversized oedema")
    ('intraventricular haemorrhage', 'coil embolisation', 'schematic, oversized oedema')
    >>> british("microhemorrhage"), british("color Doppler ultrasound of a colorectal cancer")
    ('microhaemorrhage', 'colour Doppler ultrasound of a colorectal cancer')
    """
    return _AMERICAN.sub(lambda word: _SPELLED[word[0]], text)
