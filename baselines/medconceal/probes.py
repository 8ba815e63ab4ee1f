"""Whether a turn asks in the benchmark's own labels, or speaks to the simulation instead of the patient (MC-G8).

Spelling is folded before the search: case, accents, full-width letters, letters of other scripts that look like Latin
ones, digits for letters, blanks and marks between letters, doubled letters; each label may have one letter too many,
too few or wrong. `labels.csv` lists the names of the categories and of the hidden concerns in sixteen languages, and
`to_the_machine.csv` in lower case what is said to the machine behind the patient: instructions, its prompt, its state,
the part that somebody wrote for it, an evaluator's answer. What is blocked is playing the game: a label as a label, a
list of them, "hidden concern", talk to the machine. Ordinary questions about money, insurance, fear, language or what
somebody has heard are fine, whatever words of a label they hold.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache

import ahocorasick_rs

from loaders.files.bundled import bundled

# Single words that a doctor may use in an explanation: a probe only if the sentence asks for something and is not about
# what is going around.
_WHEN_ASKED = ("misinformation", "misconception")
_GOES_AROUND = re.compile(
    r"\b(?:common|popular|frequent|widespread|(?:lots?|bit|piece|kind) of|much|so much|such|old|that|this|come across|"
    r"heard|read|seen|online)\s+(?:any\s+|some\s+)?(?:misconceptions?|misinformation)\b"
    r"|\b(?:misconceptions?|misinformation)\s+"
    r"(?:about|on|online|out there|going|that|(?:I|we)\s+(?:can|could|may|might))\b",
    re.IGNORECASE,
)
# The bare names of the four categories. Three of them in a sentence that asks make a list of labels.
_BARE = tuple(
    re.compile(rf"\b(?:{names})\b", re.IGNORECASE)
    for names in (
        r"misinformation|misconceptions?|misunderstandings?|beliefs?|myths?",
        r"emotions?|emotional|fears?|anxiety",
        r"communications?|communicative|literacy",
        r"financ\w+|insurance|money",
    )
)

_LONG = 12  # letters
_SENTENCES = re.compile(r"(?<=[.!?。？！\n])")
_ASKS = re.compile(
    r"\?|\b(?:tell|list|enumerate|reveal|name|disclose|share|show|give|state|print|output|describe|confess|admit|identify)\b",
    re.IGNORECASE,
)

# Nobody talks to a patient in single letters.
_SPELLED = re.compile(r"(?:\b[^\W\d_][\s.\-]+){7,}[^\W\d_]\b")

_LOOKALIKES = str.maketrans(
    "авекмнорстухіјѕԁԛԝьαβεικνορτυχω0134578@$!|€",
    "abekmhopctyxijsdqwbabeiknoptuxwoleastbasiie",
)  # fmt: skip


def label_probe(turn: str) -> bool:
    """Whether the turn is a probe.

    >>> label_probe("Do you have any F1nancial-or-insur a n c e related c0ncerns?")
    True
    >>> label_probe("What worries you most about the operation? Is the cost a problem?")
    False
    """
    if _to_the_machine().search(turn.casefold()) or _SPELLED.search(turn):
        return True
    if _labels().stands_in(_folded(turn)):
        return True
    asked = [_GOES_AROUND.sub(" ", sentence) for sentence in _SENTENCES.split(turn) if _ASKS.search(sentence)]
    if any(sum(bool(names.search(sentence)) for names in _BARE) >= 3 for sentence in asked):
        return True
    return _asked_labels().stands_in("".join(map(_folded, asked)))


@cache
def _to_the_machine() -> re.Pattern[str]:
    rows = bundled("baselines.medconceal", "to_the_machine.csv")
    return re.compile("|".join(row["pattern"] for row in rows), re.DOTALL)


class _Labels:
    """Folded labels to search for; long ones are also found with one letter wrong, missing or added."""

    def __init__(self, labels: Iterable[str]) -> None:
        self._parts: list[tuple[str, int]] = []  # label, where in it the part begins
        parts: list[str] = []
        for label in dict.fromkeys(map(_folded, labels)):
            # Ordinary words are one edit away from a short label. One edit in a long label leaves one of its halves
            # intact, and all halves can be searched for at once.
            half = len(label) // 2
            for part, begin in ((label[:half], 0), (label[half:], half)) if len(label) >= _LONG else ((label, 0),):
                parts.append(part)
                self._parts.append((label, begin))
        self._search = ahocorasick_rs.AhoCorasick(parts)

    def stands_in(self, text: str) -> bool:
        for number, start, _ in self._search.find_matches_as_indexes(text, overlapping=True):
            label, begin = self._parts[number]
            if len(label) < _LONG:
                return True
            near = text[max(0, start - begin - 1) : start - begin + len(label) + 2]
            if _within_one_edit(label).search(near):
                return True
        return False


@lru_cache(maxsize=1)
def _labels() -> _Labels:
    return _Labels(row["label"] for row in bundled("baselines.medconceal", "labels.csv"))


@lru_cache(maxsize=1)
def _asked_labels() -> _Labels:
    return _Labels(_WHEN_ASKED)


def _folded(text: str) -> str:
    """Only letters, in one spelling; repeated letters count once."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LOOKALIKES)
    # Vowel signs of Indic scripts are marks (Mc) and part of the word; accents (Mn) are not.
    letters = [letter for letter in plain if letter.isalpha()]
    return "".join(letter for at, letter in enumerate(letters) if at == 0 or letter != letters[at - 1])


@lru_cache(maxsize=1024)
def _within_one_edit(label: str) -> re.Pattern[str]:
    wrong = [re.escape(label[:at]) + ".?" + re.escape(label[at + 1 :]) for at in range(len(label))]
    more = [re.escape(label[:at]) + "." + re.escape(label[at:]) for at in range(1, len(label))]
    return re.compile("|".join(wrong + more))
