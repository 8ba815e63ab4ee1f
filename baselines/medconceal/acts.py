"""What a clinician does in a turn, without a model: speech acts by the grammar of sentences and by tables of words.

    found = acts("The dressing. What is it like, keeping it covered?", "He has not seen the dressing.")
    found["open"], found["echo"]

It reads form and not meaning: how a sentence asks, whose words it takes up, which phrases it holds (`acts.csv`, regular
expressions of everyday English). Nothing in it knows a case or a script. A stand-in for a judge, and no more.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from baselines.medconceal.words import content_roots, root
from loaders.spans import words

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
_ASKING_CLAUSE = re.compile(
    r"[,;:–—]\s+|\s-\s|\b(?:and|but|so)\s+(?=(?:what|how|who|where|when|is|are|do|did|have|any)\b)"
)
_FILLER = re.compile(
    r"^[\W_]*(?:(?:so|and|but|now|well|then|okay|ok|right|oh|yeah|yes|hey|look|alright|all right|in that case|"
    r"if i may|tell me|just|or|maybe|perhaps)\b[\s,]*)+",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^(?:what|how(?! (?:many|much|often|long|old|far|bad|severe|heavy|big|tall)\b)|why not|who(?:'s|se)?)\b"
    r"|\b(?:what|how)(?:'s| is| was| are| were| do| does| did| has| have| would| goes)\b[^.!?]*\b(?:you|your|it|that|"
    r"like|happen\w*|mean|going)\b",
    re.IGNORECASE,
)
_TELL = re.compile(
    r"^(?:(?:please|do|could you|can you|would you|i'd like you to|maybe)\s+)*"
    r"(?:tell me (?:about|what|how|more|where|a)|walk me|take me|talk me|describe|say (?:more|a bit)|go on|"
    r"give me a picture|help me (?:understand|see)|finish that|show me how|paint me|"
    r"i(?:'d| would) like to (?:know|hear|understand))\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"^(?:when|where|which|how (?:many|much|often|long|old|far|bad|severe|heavy)|since when|any|zero to ten|one to ten|"
    r"on a scale|last time|sharp or|worse|better|what (?:dose|time|date|colour|color|medication|questions)|mood|sleep|"
    r"appetite|is|are|am|was|were|do|does|did|have|has|had|can|could|will|would|should|got|ever)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"^(?:please\s+)?(?:take|stop|start|drink|avoid|set|keep|use|wash|read|repeat|follow|bring|stick|sign|don't|do not|"
    r"never|always|try to|continue|check|remember|put|come back|get|eat|sit|pop|be|concentrate|trust|go ahead)\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“‘]([^\"”’]{2,60})[\"”’]|(?<!\w)'([^']{2,60})'(?!\w)")
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|first|second|third|[a-e]\))\b", re.IGNORECASE
)
_YOU = re.compile(r"\b(?:you|your|you're|you've|you'd|you'll|yourself)\b", re.IGNORECASE)
_TOLD = re.compile(r"\b(?:i|we|let|you|your|me|us)\b|^(?:i|we)'", re.IGNORECASE)


# What lets a patient's sentence be heard as more than a fact: a fear, a loss, a refusal, a burden.
_CUE = re.compile(
    r"\b(?:afraid|scar(?:ed|y)|fright\w*|worr\w*|fear\w*|asham\w*|embarrass\w*|daft|stupid|useless|burden|cry\w*|alone|"
    r"lonely|can't|cannot|afford|cost\w*|lose|lost|die|died|dying|hate|don't want|won't|told you|never|tired|sick of|"
    r"rather|nobody|panic\w*|hurts?|sting\w*)\b",
    re.IGNORECASE,
)
_JARGON = re.compile(r"\b[a-z]{11,}\b")
_FIGURE = re.compile(
    r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\w+ty|hundred|thousand)\b", re.IGNORECASE
)
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")


@cache
def _subjects() -> Mapping[str, frozenset[str]]:
    """What people talk about when they are ill, by the roots of everyday words for it."""
    found: dict[str, set[str]] = {}
    with (Path(__file__).parent / "subjects.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for word in row["words"].split():
                found.setdefault(root(word), set()).add(row["subject"])
    return {word: frozenset(subjects) for word, subjects in found.items()}


def subjects(text: str) -> frozenset[str]:
    """What a text is about, of the subjects in `subjects.csv`: so "she can pay" takes up "the rent is due".

    >>> sorted(subjects("The rent is due."))
    ['money']
    """
    table = _subjects()
    return frozenset().union(*(table.get(root(word), frozenset()) for word in words(text)))


@cache
def _tables() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    found: dict[str, list[re.Pattern[str]]] = {}
    with (Path(__file__).parent / "acts.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["act"], []).append(re.compile(row["pattern"], re.IGNORECASE))
    return {name: tuple(patterns) for name, patterns in found.items()}


def acts(turn: str, heard: str = "") -> dict[str, float]:
    """What a turn does, by name; `heard` is what the patient said before it.

    Every act of `acts.csv` with how many of its sentences have it, and of the grammar:

        open, fact, orders  sentences that invite to tell, that ask for a fact or a yes, that tell what to do
        last_open           whether the last question is open
        echo                how many content words of the patient it takes up; `echo_first`: in its first sentence
        echo_asked          in its open questions; `quote`: words of the patient in quotation marks
        told                words of sentences that tell facts: no question, no echo, nobody addressed
        words, bangs, items words in all, exclamation marks, places of a list
        sentences, asked    sentences in all, and those that end with a question mark
        jargon, figures, names  long words, numbers, words with a capital inside a sentence
        shared, subjects    the share of the patient's content words, and how many of its subjects, that it takes up
        cue, missed         whether the patient let something show, and whether the turn takes up nothing of that
    """
    text = turn.replace("’", "'").replace("‘", "'")
    said = content_roots(heard)
    sentences = [part for part in _SENTENCE.split(text.strip()) if part.strip()]
    found: dict[str, float] = dict.fromkeys(_tables(), 0.0)
    found |= dict.fromkeys(("open", "fact", "orders", "last_open", "echo_asked", "told", "quote", "echo_first"), 0.0)
    for number, sentence in enumerate(sentences):
        for name, patterns in _tables().items():
            found[name] += any(pattern.search(sentence) for pattern in patterns)
        taken_up = content_roots(sentence) & said
        kind = _kind(sentence)
        if kind in ("open", "fact"):
            found[kind] += 1
            found["last_open"] = float(kind == "open")
            found["echo_asked"] += bool(taken_up) and kind == "open"
        found["orders"] += kind == "order"
        found["echo_first"] += bool(taken_up) and number == 0
        if kind == "tells" and not taken_up and not _TOLD.search(sentence):
            found["told"] += len(sentence.split())
    found["echo"] = float(len(content_roots(text) & said))
    found["quote"] = float(any(content_roots("".join(one)) & said for one in _QUOTE.findall(text)))
    found["words"] = float(len(text.split()))
    found["bangs"] = float(text.count("!"))
    found |= _taken_up(text, heard.replace("’", "'"))
    found["sentences"] = float(len(sentences))
    found["asked"] = float(sum(sentence.rstrip("\"' ”)").endswith("?") for sentence in sentences))
    found["jargon"] = float(len(_JARGON.findall(text)))
    found["figures"] = float(len(_FIGURE.findall(text)))
    found["names"] = float(len(_NAME.findall(text)))
    found["items"] = float(len(re.findall(r"\b(?:one|two|three|four|five)[,:]|\([a-e]\)|;", text)))
    return found


def _taken_up(turn: str, heard: str) -> dict[str, float]:
    """How much of what the patient said the turn takes up: by words, by subjects, and whether a cue was missed."""
    said, about = content_roots(heard), subjects(heard)
    both, same = said & content_roots(turn), about & subjects(turn)
    cue = bool(_CUE.search(heard))
    return {
        "shared": len(both) / len(said) if said else 0.0,
        "subjects": float(len(same)),
        "cue": float(cue),
        "missed": float(cue and not both and not same),
    }


def _kind(sentence: str) -> str:
    """open, fact, order or tells; a question is known by its mark, an invitation and an order by their verb."""
    plain = _FILLER.sub("", sentence.strip())
    if _TELL.search(plain):
        return "open"
    if sentence.rstrip("\"' ”)").endswith("?"):
        clauses = [_FILLER.sub("", part) for part in _ASKING_CLAUSE.split(plain) if part and part.strip()] or [plain]
        if any(_TELL.match(clause) or _OPEN.match(clause) for clause in clauses if not _FACT.match(clause)):
            return "open"
        return "fact" if any(map(_FACT.match, clauses)) or not _OPEN.search(plain) else "open"
    return "order" if _ORDER.match(plain) else "tells"
