"""What people mean who type in a hurry: questions without their mark, several in one breath, words cut short; and what
models say who set their questions in bold."""

from __future__ import annotations

import re

from baselines.medconceal.words import LISTS
from loaders.files.bundled import bundled

_ASKS = r"(?:what|how|who|where|when|why)"
_VERB = r"(?:is|are|was|were|do|does|did|has|have|had|would|could|should|will|can|might)"
_SUBJECT = r"(?:you|they|he|she|we|i|these|those|there|things|everything|anything|something)"
_UNMARKED = re.compile(
    # A clause that begins like a question and does not go on like a statement, as "What's important is that" does.
    r"(^|[.!…;:\n]\s*)((?:(?:so|and|but|ok|okay|well|now|hey|sure|i see|then),? )*"
    rf"(?:{_ASKS}(?:['’]?s|['’](?:ve|d|re)| {_VERB})\b|"
    r"what (?:else|about|happen(?:s|ed)|(?:\w+s|made|brought) your?)\b|how (?:about|come)\b|"
    rf"{_VERB} {_SUBJECT}\b|(?:is|was|does|did|would|could|will|can) (?:your|it|that|this|the)\b)"
    r"(?![^.!…\n]{0,200}\b(?:is|was) (?:that|to|not|how|if|the|a|an|your)\b)[^.!…\n]*)[.…]*"
    # Anywhere, a verb before its subject: "that's a lot what would you most like".
    rf"|\b({_ASKS}(?: (?!{_SUBJECT}\b)\w+){{0,2}}?(?: {_VERB}|['’](?:ve|d|re)) (?:{_SUBJECT}|your|it|that|this|the)\b"
    r"[^.!…\n]*)[.…]*",
    re.IGNORECASE,
)

# A question behind other words in one breath, and the word before it: "that sounds hard what has been on your mind",
# "take your time is there anything". Behind words of `_LEADS_IN` it is part of what is said: "I know what has been".
_RUN_ON = re.compile(
    r"(?<![\w'’])([\w'’]{1,20}) (?=(?:is there (?:any|some)thing|what(?: else)?(?:(?: has| have|['’]s) been|"
    r"(?: is| was|['’]s) (?:bothering|going|on your|worrying)| (?:bothers|concerns|frightens|scares|troubles|worries)|"
    r" (?:would|could|might) (?:be|happen|help|make))|(?:can|could|would) you (?:describe|help|say|share|tell))\b)",
    re.IGNORECASE,
)
_LEADS_IN = frozenset(LISTS["leads in"])

# Words as people type them on a phone. Not "its", "ill" and "well", which are words of their own.
_TYPED = {row["typed"]: row["meant"] for row in bundled("baselines.medconceal", "typed.csv")}
_SHORT = re.compile(rf"(?<![\w'’./-])(?:{'|'.join(map(re.escape, _TYPED))})(?![\w'’/-]|\.\w)", re.IGNORECASE)


def asks(sentence: str) -> bool:
    """Whether a question mark ends the sentence, whatever stands behind it.

    >>> asks("What worries you?🙂"), asks('"Why?!"'), asks("Why? I see.")
    (True, True, False)
    """
    return next((one for one in reversed(sentence) if one in "?_" or one.isalnum()), "") == "?"


_EMPHASIS = re.compile(r"\*+|__")  # behind it a question mark would end no sentence


def marked(turn: str) -> str:
    """The turn without emphasis, with its words in full and, if it has none at all, marks behind its questions:
    people who type in a hurry leave them out.

    >>> marked("i see. what worries you most"), marked("Do it now. What's important is that it heals.")
    ('i see. what worries you most?', "Do it now. What's important is that it heals.")
    >>> marked("that sounds hard what has been on your mind"), marked("i know what has been on your mind")
    ('that sounds hard\\nwhat has been on your mind?', 'i know what has been on your mind')
    >>> marked("whats worrying u"), marked("**What worries you?**")
    ("what's worrying you?", 'What worries you?')
    """
    turn = _EMPHASIS.sub("", turn)
    turn = _SHORT.sub(lambda one: _TYPED[one[0].lower()], turn)
    if "?" in turn:
        return turn
    turn = _RUN_ON.sub(lambda one: f"{one[1]}{' ' if one[1].lower() in _LEADS_IN else chr(10)}", turn)
    return _UNMARKED.sub(lambda one: f"{one[1]}{one[2]}?" if one[2] else f"\n{one[3]}?", turn)
