"""Where a phrase may go that is moved after its noun: only where nothing else would claim it.

"Preoperative angiogram of the arm" is not an "angiogram before surgery of the arm": the phrase goes after the arm, or
is not moved. The last noun of a phrase would claim what follows ("a mass rich in blood vessels coming from the
pancreas"), and a noun in between would claim the phrase ("a mass behind the stomach rich in blood vessels").

    >>> text = "Preoperative angiogram of the right arm showing a clot."
    >>> text[:landing("before surgery", text, 22, len(text))]
    'Preoperative angiogram of the right arm'
    >>> landing("that brightens with contrast dye", "Enhancing swelling with a tube in place.", 18, 40)
    0
"""

from __future__ import annotations

import re

from builders.medlaybench_v.words.lists import any_of

# What tells of a whole picture or finding: when it was made, on which sides, with which dye.
_OF_THE_WHOLE = ("before ", "after ", "during ", "just after ", "on both sides", "with contrast", "with gadolinium",
                 "without contrast")  # fmt: skip
_TIMES = ("before ", "after ", "during ", "just after ")
# Layers are parts of what follows: "under the skin of the thigh".
_LAYERS = re.compile(r"\b(?:skin|wall|lining|cartilage|covering|muscle)\Z")
_VERB = rf"(?:{any_of('verbs behind')})\b"
_CLEAR = rf"(?:\s*\Z|\s*(?:[.;:,)\]]|\((?!\d[\d.,]*\s*(?:[×x]|mm\b|cm\b)))|\s+(?:arrow|star|asterisk)|\s+{_VERB}"
_BEHIND_WHOLE = re.compile(
    rf"{_CLEAR}|\s+(?:in|on|at|with|without|from|due|secondary|within|to|into|between|along|around|near|that|which|"
    r"caused|aged|as|\d)\b)",
    re.IGNORECASE,
)
_BEHIND_TIME = re.compile(rf"{_CLEAR}|\s+(?:in|at|on|that|which)\b)", re.IGNORECASE)
_BEHIND_PART = re.compile(rf"{_CLEAR}|\s+(?:in|at|on|within|due|secondary)\b)", re.IGNORECASE)
_OF = re.compile(r"[ ]of(?=[ ])")
_WORD = re.compile(r"[ ]([\w'’/-]+)")
_MOST_WORDS = 7
_GOES_ON = frozenset("of the a an his her its their both this same and left right".split())
_NOT_IN_NAME = re.compile(r"\w+(?:ing|ed|ly)\Z")


def complement_end(text: str, end: int, stop: int) -> int:
    """Where "of the right arm" ends whose "of" ends at `end`; 0 where that is not clear."""
    named = False
    for _ in range(_MOST_WORDS):
        if named and _BEHIND_WHOLE.match(text, end):
            break
        word = _WORD.match(text, end, stop)
        if word is None or _NOT_IN_NAME.match(word[1]):
            return 0
        named = word[1].lower() not in _GOES_ON
        if word[1].lower() in ("case", "patient"):
            named = not text[word.end() + 1 : word.end() + 2].isdigit()  # "case 3"
        end = word.end()
    else:
        return 0
    return end


def landing(behind: str, text: str, last: int, stop: int) -> int:
    """Where what is said `behind` a noun that ends at `last` finds its place: there, behind the noun's "of …", or
    nowhere (0)."""
    if behind.startswith(_OF_THE_WHOLE):
        clear = _BEHIND_TIME if behind.startswith(_TIMES) else _BEHIND_WHOLE
        if of := _OF.match(text, last):
            at = complement_end(text, of.end(), stop)
            return at if at and _BEHIND_TIME.match(text, at) else 0
        return last if clear.match(text, last) else 0
    if _LAYERS.search(behind) and not behind.startswith("through ") and _OF.match(text, last):
        return last
    return last if _BEHIND_PART.match(text, last) else 0


def stays_apart(behind: str, noun: str) -> bool:
    """Whether what is said behind a noun belongs to it and to nothing that the noun's own plain words name: "a lump in
    the lung with clear edges" would give the lung clear edges."""
    named = _FILLED_WITH.sub("", noun.partition(" (")[0])
    return behind.startswith(_OF_THE_WHOLE) or _NAMES_ANOTHER.search(named) is None


_NAMES_ANOTHER = re.compile(
    r" (?:of|in|on|at|around|under|behind|beside|between|from|with|inside|outside|above|below|near|through|that|rich|"
    r"poor)\b"
)


_FILLED_WITH = re.compile(r" of (?:pus|fluid|blood|gas|air|urine|bile)\b")  # these are no places: "a pocket of pus"
