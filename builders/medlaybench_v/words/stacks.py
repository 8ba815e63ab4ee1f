"""Stacks of nouns and adjectives: which word belongs to which name, and what is better moved behind its noun.

"a subcutaneous fluid collection was drained"  ->  "a pocket of fluid under the skin was drained"
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import lru_cache

from builders.medlaybench_v.words.lists import any_of, listed
from builders.medlaybench_v.words.terms import Term

# What may follow a phrase that already holds a preposition. Any other word would be its new head noun.
FUNCTION_WORDS = listed("function")
# Nouns that any place or thing may have: a word before one of them is not part of a longer name.
_ANY_HEAD = listed("any head")
# Whole words only: the "T" of "T1-weighted" is not one.
_BEFORE_NEXT = frozenset(" -")
_NEXT = re.compile(r"([ ]+|-)([^\W\d_]+(?:-[^\W\d_]+)*)(?!-?\w)")
# Names with figures, such as sequences and levels, are parts of a noun: "T1-weighted", "C3", "L4-5", "3D", "FDG-18".
_NEXT_IN_NOUN = re.compile(r"([ ]+|-)([^\W\d_]\w*(?:[-–/][^\W_]+)*|[23]D)(?![-–/]?\w|\.\d)")
_NUMBERED = frozenset("case class day figure grade group level month number patient stage step type week year".split())
_VERBAL = re.compile(r"(?:ing|ed|ly)\Z")
NOUNS_IN_ING = listed("nouns in -ing")
_JOINED_BEFORE = re.compile(r"(?:\b(?:and|or|to)[ ]|[/,][ ]?)\Z")
# Parts that everything has, so that a direction, or one of several, before one of them is one of its sides.
_SIDES = re.compile(
    r"(?:(?:,[ ]|,?[ ](?:and|or)[ ])(?:anterior|posterior|medial|lateral|superior|inferior))*"
    r"[ ]+(?:(?:chest|abdominal|bladder|stomach|uterine|gastric|bowel|rectal|vaginal|orbital|maxillary|acetabular|"
    rf"airway|tracheal|o?esophageal|disc|soft|bone|joint)[ ]+)?(?:{any_of('sides')})(?![\w-])",
    re.IGNORECASE,
)
_VESSELS = re.compile(rf"[ ]+(?:\w+[ ])?(?:{any_of('vessels')})(?![\w-])", re.IGNORECASE)
# Single words of a view that only say how a picture was cut; in "axial skeleton" and "coronal suture" they are names.
_VIEWED = re.compile(
    # "axial (a), coronal (b) and sagittal (c) images"
    rf"[ ]\([A-Za-z]\)|(?:[ ]\([A-Z]{{2,3}}\))?[ ]+(?:{any_of('viewed')})",
    re.IGNORECASE,
)
# "Scoliosis Research Society", "Department of Bronchoscopy": whom it names.
_INSTITUTE = "(?:Society|Association|Institute|Foundation|Federation|College|Academy|Department|Division|Faculty)"
_INSTITUTE_BEHIND = re.compile(rf"(?:[ ][A-Z][\w-]+){{0,3}}[ ]{_INSTITUTE}\b")
_INSTITUTE_BEFORE = re.compile(rf"\b{_INSTITUTE} (?:of|for) (?:[A-Z]\w+,? (?:and )?){{0,3}}\Z")
_PLACING = listed("placing")


def part_of_name(text: str, start: int, end: int, heads: Set[int], adjective: bool) -> bool:
    """Whether the term at [start, end) is only a part of a longer name, such as "Baker cyst" or "femoral hernia".

    `heads` are the places where a vocabulary term starts that can follow it. An adjective that says how a thing is
    ("dilated"), not where, is not part of a name.
    """
    if text[start].isupper() and (
        _INSTITUTE_BEHIND.match(text, end) or _INSTITUTE_BEFORE.search(text, max(0, start - 60), start)
    ):
        return True
    if text[start - 1 : start] == " ":
        name = text[text.rfind(" ", 0, start - 1) + 1 : start - 1].rpartition("(")[2]
        if _is_name(name) and (name.endswith(("'s", "’s")) or not starts_sentence(text, start - 1 - len(name))):
            return True
    if adjective or text[end : end + 1] not in _BEFORE_NEXT:
        return False
    after = _NEXT.match(text, end)
    if after is None or after[1] == "-":
        return after is not None
    word = after[2].lower()
    if word in FUNCTION_WORDS or word in _NO_NOUNS or word in _ANY_HEAD or after.start(2) in heads:
        return False
    return not (_VERBAL.search(word) or after[2][:1].isupper())


def is_joined(text: str, start: int) -> bool:
    """Whether the adjective starting there is one of several: in "intra- and extrahepatic" the second is only half."""
    return _JOINED_BEFORE.search(text, max(0, start - 6), start) is not None


def is_side(text: str, end: int) -> bool:
    """Whether a direction that ends there is one side of a thing, which anything has: "posterior wall". Elsewhere it is
    part of a name ("lateral mass", "posterior cerebral artery") or says where to ("posterior dislocation")."""
    return _SIDES.match(text, end) is not None


def names_a_vessel(text: str, end: int) -> int:
    """Where the name ends of the vessel, nerve or part of a bone that an adjective of anatomy that ends there tells,
    which is not where it is: a "vertebral angiogram" shows an artery that feeds the brain. 0 for others."""
    named = _VESSELS.match(text, end)
    return named.end() if named else 0


def is_view(text: str, end: int) -> bool:
    """Whether a word of a view that ends there refers to a picture."""
    return _VIEWED.match(text, end) is not None or text[end : end + 1] in ("", ".", ",", ")", ":", ";")


def _is_name(word: str) -> bool:
    if not word[:1].isupper():
        return False
    plain = word.removesuffix("'s").removesuffix("’s")
    return plain.isalpha() and plain[1:].islower() and word.lower() not in FUNCTION_WORDS


def starts_sentence(text: str, at: int) -> bool:
    """Whether a sentence begins at `at`, an opening bracket before it aside."""
    before = text[:at].rstrip(" (")
    return not before or before.endswith((".", "!", "?", ":"))


def said_behind(term: Term) -> str:
    """The wording of an adjective after its noun, where it would make a chain of hyphens before it; "" for others."""
    if term.pos != "adjective":
        return ""
    words = term.lay.split("-")
    if words[0] in _PLACING and len(words) > 1 and term.lay != "on-and-off":
        return " ".join(words)
    return term.lay if " " in term.lay and term.lay.split(" ")[0] in _PLACING else ""


# A name ends before these: verbs, and what follows a thing to describe it ("a lesion typical of cancer").
_NO_NOUNS = listed("no nouns")
# No name ends with these: "the left anterior".
_NO_ENDS = listed("no ends")


# Endings of adjectives, adverbs and verbs.
_HOW_OR_VERB = re.compile(
    r"(?:al|ic|ar|ary|ory|ous|eal|ian|ive|ent|ant|ense|ed|ing|ly|ble|oid|less|ful|ior|ile|ine|ate|ac|est|[^sui]s|ish|"
    r"uid)\Z"
)
_OTHERS = listed("no nouns by form")


@lru_cache(maxsize=16384)
def is_no_noun(word: str) -> bool:
    """Whether a word in lower case tells how a thing is, or what it does: "hepatic", "right", "extends".

    >>> is_no_noun("hepatic"), is_no_noun("bowel"), is_no_noun("extends")
    (True, False, True)
    """
    return word not in _ANY_HEAD and (word in _OTHERS or word in _NO_NOUNS or _HOW_OR_VERB.search(word) is not None)


_VERB_BEHIND = re.compile(r" (?:the|an?|its|his|her|their|off)\b")
_PLURAL_OR_VERB = re.compile(r"[^sui]s\Z")
_MOTION_BEHIND = re.compile(r" (?:into|onto|towards?|against|across|beyond|through)\b")
# What joins another name, or modifies the word before it: "well-defined wedge shaped" is no "wedge".
_JOINED = frozenset("and or nor shaped like sized based related induced guided directed".split())


def noun_end(text: str, at: int, stop: int) -> int:
    """Where the name ends whose adjective ends at `at`; 0 if that is unclear: no noun, or another one joined."""
    end = at
    for count in range(6):
        following = _NEXT_IN_NOUN.match(text, end, stop)
        if following is None:
            numbered = end > at and text[at:end].split()[-1].lower() in _NUMBERED
            if numbered and text[end : end + 2].strip().isdigit():
                return 0
            break
        word = following[2].lower()
        if word in _JOINED:
            return 0
        if (
            word in FUNCTION_WORDS
            or word in _NO_NOUNS
            or (_VERBAL.search(word) and word not in NOUNS_IN_ING and "weighted" not in word)
        ):
            break
        if _VERB_BEHIND.match(text, following.end()) and word.endswith(("s", "ing")):
            break  # "the cell breaks the chain", "branches off into", "an abscess narrowing the airway"
        if end > at and _PLURAL_OR_VERB.search(word) and _MOTION_BEHIND.match(text, following.end()):
            break  # "the septum bulges into the atrium"
        if count == 5 or (end > at and following[2][:1].isupper() and following[2][1:].islower()):
            return 0  # too long, or a new sentence without a full stop in between
        end = following.end()
    if end == at or text[end : end + 1] in ("-", "/", "’", "'"):
        return 0
    if text[at:end].rpartition(" ")[2].lower() in _NO_ENDS:
        return 0
    return 0 if text[end : end + 3].lstrip()[:1] in (",", "&") else end


# "Aortic branches, …", "gastric folds and …": what is clearly a noun ends a name, whatever is joined to it.
_LISTED_NOUN = re.compile(
    r"(?: (?!and |or )[a-z]+)? (?P<noun>[a-z]*(?:tion|sion|ment|ness|ity|sis|oma|itis|ure|ance|ence|[^sui]s)|"
    r"wall|disc|valve|mass|node|joint|artery|vein|branch|thickening|swelling|tissue|cyst|tumou?r|blockage|drainage)"
    r"(?=, | and )"
)


def listed_end(text: str, at: int, stop: int) -> int:
    """Where the name ends whose adjective ends at `at`, also of a name that is one of several; 0 if that is unclear."""
    end = noun_end(text, at, stop)
    if end or (listed := _LISTED_NOUN.match(text, at, stop)) is None:
        return end
    return listed.end()
