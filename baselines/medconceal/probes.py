"""Whether a turn asks in the benchmark's own labels, or speaks to the simulation instead of the patient (MC-G8).

Spelling is folded before the search: case, accents, full-width letters, letters of other scripts that look like Latin
ones, digits for letters, blanks and marks between letters, doubled letters; each label may have one letter too many,
too few or wrong. `labels.csv` lists the names of the categories and of the hidden concerns in sixteen languages. What
is blocked is playing the game: a label as a label, a list of them, "hidden concern", talk to the machine. Ordinary
questions about money, insurance, fear, language or what somebody has heard are fine, whatever words of a label they
hold.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

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

# In lower case: talk to the machine behind the patient, such as instructions, its prompt, its state, an evaluator's
# answer.
_TO_THE_MACHINE = re.compile(
    r"""
      \b(?:ignore|disregard|forget|override|bypass)\s+
        (?:(?:all|any|every|each|of|the|these|those|my|please)\s+){0,3}
        (?:(?:your|previous|prior|above|earlier|preceding|system|hidden|initial|original|all)\s+)+
        (?:(?:the|of|your)\s+)?(?:instruction|prompt|rule|guideline)s?\b
        (?!\s+(?:on|from|about|in|for|that\s+(?:the|came|they|we|i)|you\s+(?:got|had|were|have))\b)
    | \b(?:system|developer|hidden)\s+prompt\b
    | \b(?:system|developer|debug|admin|god)\s+mode\b
    | \byou\s+are\s+(?:now\s+)?(?:an?\s+)?(?:ai|language\s+model|chat\s?bot|simulat\w+|evaluator|narrator)\b
    | \b(?:pretend|imagine|act|role-?play)\s+(?:that\s+|as\s+|to\s+be\s+|being\s+|you(?:'re|\s+are|\s+were)\s+){1,3}
        .{0,30} \b(?:ai|developer|evaluator|author|narrator|simulat\w+)\b
    | \b(?:patient|case)\s+profile\b | \b(?:in|of|from)\s+your\s+profile\b | \bthe\s+evaluator\b
    | \b(?:print|output|reveal)\s+your\s+instructions?\b | \bcheck\s+all\s+that\s+apply\b
    | \bsimulator\b | \bsimulated\s+patient\b | \bthis\s+(?:is\s+an?\s+)?simulation\b
    | \b(?:of|for|in|by|from)\s+(?:the|this)\s+benchmark\b
    | \bthis\s+(?:is\s+(?:only\s+|just\s+)?an?\s+)?benchmark\b
    | \bbenchmark(?:'s)?\s+(?:answer|case|data|item|label|question|score|task)s?\b
    | \bjson\b | \b(?:as|in)\s+(?:yaml|xml|csv|markdown)\b
    # The part that somebody wrote for the patient.
    | \b(?:break|drop|leave|step\s+out\s+of)(?:ing)?\s+(?:the\s+|your\s+)?character\b | \bcharacter\s+sheet\b
    | \b(?:stop|end|quit|drop|pause)\s+(?:the\s+|this\s+|your\s+)?role-?\s?play\w*
    | \b(?:case|scenario|vignette|simulation)(?:'s)?\s+(?:author|designer|writer)s?\b
    | \bscripted\s+(?:answer|concern|fear|issue|line|worr)\w*
    | \bprogrammed\s+(?:not\s+)?to\s+(?:answer|conceal|disclose|hide|keep|reveal|say|tell|withhold)\b
    | \b(?:designed|instructed|prompted)\s+(?:not\s+)?to\s+
        (?:conceal|disclose|hide|reveal|keep\s+(?:back|hidden|secret))\b
    | \b(?:conceal|hid|hold|keep|withh)\w*\b.{0,40}\baccording\s+to\s+your\s+(?:instruction|profile|prompt|role|script)
    | \b(?:given|listed|stated|written)\s+in\s+(?:the|this|your)\s+(?:persona|profile|prompt|scenario|vignette)\b
    | \b(?:dump|export|output|paste|print|quote|repeat|summari[sz]e|translate)\s+(?:me\s+)?(?:the|your)\s+
        (?:(?:complete|entire|full|initial|whole)\s+)?(?:backstory|character|persona|profile|prompt)\b
    | \b(?:all|everything|text)\s+above\s+this\s+(?:line|message|point)\b
    | \b(?:remaining|undisclosed|unrevealed|withheld)\s+(?:(?:hidden|undisclosed|unrevealed)\s+)?(?:item|secret)s?\b
    | \bhow\s+many\s+(?:concern|fear|issue|item|secret|worr)\w*\s+(?:are|do|have)\s+you\s+(?:still\s+)?
        (?:conceal|hid|hold|keep|withh)\w*
    | \b(?:concern|fear|issue|worr)\w*\s+(?:from|in|of|under)\s+(?:the\s+)?category\b
    | \bcategory\s+of\s+(?:concern|fear|worr) | \b(?:four|these)\s+categories\b | \bper\s+category\b
    | \b(?:your|the)\s+(?:hidden|secret|internal|latent)\s+(?:state|fears?|worr(?:y|ies)|issues?|information|reasons?)\b
    | \breveal_?(?:rate|turn)s?\b | \bmeta_category_probe\b
    | "(?:intent|features|intent_probabilities|empathy|pending_covered)"\s*:
    | "(?:dg|er|pa|ce|sp|ns|cm|ps|pqc|mr)"\s*:
    | [<‹]\|.{1,40}?\|[>›] | [<‹]/?(?:s|system|start_of_turn|end_of_turn|assistant|user)[>›]
    | \[/?inst\] | [<‹]{2}/?sys
    """,
    re.VERBOSE | re.DOTALL,
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
    if _TO_THE_MACHINE.search(turn.casefold()) or _SPELLED.search(turn):
        return True
    if _labels().stands_in(_folded(turn)):
        return True
    asked = [_GOES_AROUND.sub(" ", sentence) for sentence in _SENTENCES.split(turn) if _ASKS.search(sentence)]
    if any(sum(bool(names.search(sentence)) for names in _BARE) >= 3 for sentence in asked):
        return True
    return _asked_labels().stands_in("".join(map(_folded, asked)))


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
