"""Explanations in brackets: a word keeps its place where plain words would say something else there.

"The gastric pouch" is no "stomach pouch", and nothing can stand behind "bilateral" in "bilateral large and small
cysts". Such a word stays and is explained once: "the gastric pouch (of the stomach)". A reader stumbles over brackets
too, so a sentence gets two at most, and what only repeats the expert's word behind plain ones ("air in the belly
(pneumoperitoneum)") stands there alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medlaybench_v.words.reads_well import plain_words
from builders.medlaybench_v.words.stacks import is_joined, names_a_vessel, said_behind
from builders.medlaybench_v.words.terms import Term
from builders.medlaybench_v.writing.views import IN_FRONT

MOST, ALWAYS = 2, 99  # explanations in a sentence
_PLACED = re.compile(r"\A(?:of|in(?! front\b)) (?:the )?")
_MARKER = re.compile(r" \((?:[^()]{0,30})(?:arrow|star|asterisk|circle|curved|fig)", re.IGNORECASE)
_OF_A = re.compile(r"\Aof (?:the |an? )?")
MOST_NOUNS = 2  # of a name that an explanation of its adjective stands behind
_SHORT, _MOST_WORDS = 5, 4  # letters of a word that says the same again, words of an explanation beside a word
_SENTENCE_END = re.compile(r"[.;!?](?:\s|\Z)")


class Told:
    """What a draft has explained so far, and where; `quiet` while it explains something itself."""

    def __init__(self, quiet: bool = False) -> None:
        self.names: set[str] = set()
        self.quiet = quiet
        self._places: list[int] = []

    def whispered(self) -> Told:
        """The same for a part that stands in brackets itself."""
        told = Told(quiet=True)
        told.names = set(self.names)
        return told

    def may_explain(self, name: str, text: str, at: int, most: int = MOST) -> bool:
        """Whether `name` at `at` still wants a bracket and its sentence has room; True counts as said."""
        if name in self.names or self.quiet or inside_brackets(text, at):
            return False
        if len(self._places) >= most:
            since = max((end.end() for end in _SENTENCE_END.finditer(text, 0, at)), default=0)
            if sum(place >= since for place in self._places) >= most:
                return False
        self.names.add(name)
        if most != ALWAYS:  # the name of a method takes no room from what the picture shows
            self._places.append(at)
        return True


def explained(term: Term) -> str:
    """An adjective with what it means in brackets; "" where that would say the word again, where readers know it,
    or where it is no adjective. What says from where a picture is taken, or on which side a thing lies, is left
    where it says something else.

    >>> from builders.medlaybench_v.words.terms import Term
    >>> explained(Term("gastric", "stomach", None, "anatomy", "adjective", "", "", "the stomach", False, "", ""))
    'gastric (stomach)'
    """
    if term.pos != "adjective" or " (" in term.lay or term.lay == term.expert or not term.expert.islower():
        return ""
    if front := IN_FRONT.get(said_behind(term)):
        return front  # "a post-surgery image": no bracket is needed
    plain = _PLACED.sub("", said_behind(term) or term.site.removeprefix("the ") or term.lay.replace("-", " "))
    known = term.kind in ("view", "direction", "laterality") or all(
        word in plain_words() for word in term.expert.replace("-", " ").split()
    )
    same = plain[:3] == term.expert[:3] or (plain[:1] == term.expert[:1] and len(plain) < _SHORT)  # "nasal (nose)"
    parts = not glossed_behind(term) and len(plain.split()) > _MOST_WORDS
    return "" if known or same or parts else f"{term.expert} ({plain})"


def glossed_behind(term: Term) -> bool:
    """Whether an explanation stands behind the noun that follows its adjective, as what says where or with what does:
    "periventricular mass (around the brain chambers)". What names an organ needs an "of" there (`behind_its_noun`)."""
    if term.pos != "adjective" or not term.expert.islower() or term.kind in ("view", "modality"):
        return False
    if term.kind == "anatomy":
        return not _PLACED.match(said_behind(term) or "of ")
    return not _OF_A.match(term.lay.partition(" (")[2])


def beside(lay: str) -> str:
    """An adjective with its explanation as it stands right behind it.

    >>> beside("vermian (of the middle of the lower rear brain)"), beside("thymic (of the gland behind the breastbone)")
    ('vermian', 'thymic (gland behind the breastbone)')
    >>> beside("placental (of the placenta)")
    'placenta'
    """
    word, _, gloss = lay.removesuffix(")").partition(" (")
    said = _OF_A.sub("", gloss)
    if said == gloss:
        return lay
    if said[:_SHORT] == word[:_SHORT]:
        return said  # "placental (placenta) polyp"
    return f"{word} ({said})" if len(said.split()) <= _MOST_WORDS else word


def behind_its_noun(term: Term) -> str:
    """An adjective with its organ as an explanation that stands behind the noun; "" where it would say nothing there.

    >>> from builders.medlaybench_v.words.terms import Term
    >>> behind_its_noun(Term("gastric", "stomach", None, "anatomy", "adjective", "", "", "the stomach", False, "", ""))
    'gastric (of the stomach)'
    """
    if " (" in term.lay:
        return term.lay
    part = term.site or (f"the {term.lay.replace('-', ' ')}" if term.kind == "anatomy" else "")
    organ = said_behind(term) or (f"of {part}" if part else "")
    return f"{term.expert} ({organ})" if organ.startswith("of ") else ""


def finds_room(text: str, start: int, end: int, last: int) -> bool:
    """Whether an explanation of the adjective at [start, end) may stand behind its noun, which ends at `last`: not
    where that is a long name, or not its own."""
    return not (is_joined(text, start) or names_a_vessel(text, end) or len(text[end:last].split()) > MOST_NOUNS)


def bracket_follows(text: str, end: int) -> bool:
    """Whether a bracket follows that tells of the word itself; one that tells of an arrow does not."""
    return text.startswith(" (", end) and _MARKER.match(text, end) is None


def inside_brackets(text: str, at: int) -> bool:
    """Whether a place lies between parentheses."""
    return text.count("(", 0, at) > text.count(")", 0, at)


def unexplainable(expert: str, text: str, start: int, end: int) -> bool:
    """Whether a word that stays gets no bracket: within brackets, or letters in capitals that are another word's here
    ("tips") or that the caption tells itself ("(LAD)", "LAD, left …")."""
    if inside_brackets(text, start):
        return True
    if not in_capitals(expert):
        return False
    here = text[start:end].removesuffix("s")
    # "ERCP: stricture" is no key
    names_it = start == 0 and re.match(rf": (?!{re.escape(here[:1])})", text[end:], re.IGNORECASE)
    return not in_capitals(here) or _told_itself(here).search(text[end:] if names_it else text) is not None


@lru_cache(maxsize=1024)
def _told_itself(letters: str) -> re.Pattern[str]:
    """What a caption says of letters of which it tells itself for what they stand."""
    first, letters = re.escape(letters[:1]), re.escape(letters)
    defined = rf"\s*[,:=–]\s*(?:[a-z]|{first}[a-z]{{2}})|\s(?:left|right)\s"
    said = rf"[)\]]|{defined}|\s\(|\s+(?:is|means|indicates|denotes)\b"
    # Begins with the letters, which are found fastest.
    return re.compile(rf"{letters}(?:(?<=[(\[]{letters})s?\b|(?<=\b{letters})s?(?:{said}))")


@lru_cache(maxsize=16384)
def in_capitals(name: str) -> bool:
    """Whether a name is letters that stand for words, as "LAD", "LCx" and "SUVmax" are."""
    return " " not in name and sum(map(str.isupper, name)) > 1
