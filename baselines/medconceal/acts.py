"""What a clinician does in a turn, without a model: speech acts by the grammar of sentences and by tables of words.

    found = acts("The dressing. What is it like, keeping it covered?", "He has not seen the dressing.")
    found["open"], found["echo"]

It reads form, not meaning: how a sentence asks, whose words it takes up, which phrases it holds (`acts.csv`, regular
expressions of everyday English). Nothing in it knows a case or a script. It is a stand-in for a judge, and no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from baselines.medconceal.typed import asks
from baselines.medconceal.words import content_roots, root
from loaders.files.bundled import bundled, grouped
from loaders.spans import words

_SAYS = {
    row["kind"]: re.compile(row["pattern"], re.IGNORECASE) for row in bundled("baselines.medconceal", "sentences.csv")
}
"""What a sentence is, by the way it is put."""
_BREAK = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+|\n+")
_ASKING_CLAUSE = re.compile(
    r"[,;:–—]\s+|\s-\s|\b(?:and|but|so)\s+(?=(?:what|how|who|where|when|is|are|do|did|have|any)\b)"
)
_HESITATION = re.compile(r",?\s*\b(?:[Uu]m+|[Uu]h|erm?|[Yy]'know)\b(?!-),?|,\s*you know,", re.ASCII)
_QUOTE = re.compile(r"[\"“‘]([^\"”’]{2,60})[\"”’]|(?<!\w)'([^']{2,60})'(?!\w)")
_QUOTATION = re.compile(r"[\"“][^\"”]*[\"”]")

_CLOSES = frozenset({"judge", "brush", "push", "coerce", "blame", "threat", "calm"})

MIRROR = 12
"""Words up to which giving the patient's own back asks for more; from there on it is copying."""

_JARGON = re.compile(r"\b[a-z]{11,}\b")
_FIGURE = re.compile(
    r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|\w+ty|hundred|thousand)\b", re.IGNORECASE
)
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
# The clinician's own name is not one of the patient's people.
_OWN_NAME = re.compile(r"\b(?:I'm|I am|[Mm]y name(?:'s| is)|Dr|Doctor|Miss|Mrs|Mr|Nurse|Sister)\.?(?: [A-Z][a-z]+)+")


@cache
def _subjects() -> Mapping[str, frozenset[str]]:
    """What people talk about when they are ill, by the roots of everyday words for it."""
    found: dict[str, set[str]] = {}
    for row in bundled("baselines.medconceal", "subjects.csv"):
        for word in row["words"].split():
            found.setdefault(root(word), set()).add(row["subject"])
    return {word: frozenset(subjects) for word, subjects in found.items()}


def subjects(text: str) -> frozenset[str]:
    """What a text is about, among the subjects in `subjects.csv`: so "she can pay" takes up "the rent is due".

    >>> sorted(subjects("The rent is due."))
    ['money']
    """
    table = _subjects()
    return frozenset().union(*(table.get(root(word), frozenset()) for word in words(text)))


@cache
def _tables() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    rows = grouped("baselines.medconceal", "acts.csv")
    return {act: tuple(re.compile(row["pattern"], re.IGNORECASE) for row in rows[act]) for act in rows}


def acts(turn: str, heard: str = "") -> dict[str, float]:
    """What a turn does, by name; `heard` is what the patient said before it.

    Every act of `acts.csv` with the number of its sentences that have it, and, from the grammar:

        open, fact, orders  sentences that invite to tell, that ask for a fact or a yes, that tell what to do
        last_open           whether the last question is open
        echo                how many of the patient's content words it takes up; `echo_first`: in its first sentence
        echo_asked          in its open questions; `quote`: words of the patient in quotation marks
        told                words of sentences that state facts: no question, no echo, nobody addressed
        view, course        questions about what it is like to be this patient, and about the course of an illness
        last_course         whether the last open question is about the course
        checks              questions whether the clinician has understood
        words, bangs, items words in all, exclamation marks, list items
        sentences, asked    sentences in all, and those that end with a question mark
        jargon, figures, names  long words, numbers, capitalised words inside a sentence
        shared, subjects    the share of the patient's content words, and the number of its subjects, that it takes up
        cue, missed         whether the patient hinted at something, and whether the turn takes up nothing of it
    """
    text = _HESITATION.sub("", turn.replace("’", "'").replace("‘", "'"))
    said, about = content_roots(heard), subjects(heard)
    sentences = [part for part in _BREAK.split(text.strip()) if part.strip()]
    found: dict[str, float] = dict.fromkeys(_tables(), 0.0)
    found |= dict.fromkeys(("open", "fact", "orders", "last_open", "echo_asked", "told", "quote", "echo_first"), 0.0)
    found |= dict.fromkeys(("view", "course", "last_course", "checks"), 0.0)
    for number, sentence in enumerate(sentences):
        kind, done = _done(sentence)
        for name in done:
            found[name] += 1
        taken_up = content_roots(sentence) & said
        if kind == "checks":
            found["checks"] += 1
            found["tagged"] -= "tagged" in done
        if kind in ("open", "fact"):
            found[kind] += 1
            found["last_open"] = float(kind == "open")
            found["echo_asked"] += bool(taken_up) and kind == "open"
            view = bool(_SAYS["view"].search(sentence))
            course = not view and bool(_SAYS["course"].search(sentence))
            found["view"] += view
            found["course"] += course
            found["last_course"] = float(course)
        found["orders"] += kind == "order"
        found["echo_first"] += bool(taken_up) and number == 0
        if kind == "tells" and not taken_up and not _SAYS["told"].search(sentence):
            found["told"] += len(sentence.split())
    both, same = content_roots(text) & said, about & subjects(text)
    cue = bool(_SAYS["cue"].search(heard.replace("’", "'")))
    counts = {
        "echo": len(both),
        "quote": any(content_roots("".join(one)) & said for one in _QUOTE.findall(text)),
        "words": len(text.split()),
        "bangs": text.count("!"),
        "shared": len(both) / len(said) if said else 0.0,
        "subjects": len(same),
        "cue": cue,
        "missed": cue and not both and not same,
        "sentences": len(sentences),
        "asked": sum(map(asks, sentences)),
        "jargon": len(_JARGON.findall(text)),
        "figures": len(_FIGURE.findall(text)),
        "names": len(_NAME.findall(_OWN_NAME.sub("", text))),
        "items": len(re.findall(r"\b(?:one|two|three|four|five)[,:]|\([a-e]\)|;", text)),
    }
    return found | {name: float(count) for name, count in counts.items()}


def own_words(turn: str, heard: str) -> str:
    """The turn without the sentences that it copies from `heard`, the patient's last words; a short mirror stays.

    A copied question is the patient's: it invites to nothing, and answers nothing. Words that are quoted beside the
    clinician's own are taken up, not copied.

    >>> own_words("I see. I would rather not. I came for the cough. How can you be so sure of it?",
    ...           "I would rather not. I came for the cough. How can you be so sure of it?")
    'I see.'
    """
    told = {tuple(words(sentence)) for sentence in _BREAK.split(heard)}
    quotations = [found.span() for found in _QUOTATION.finditer(turn)] if words(_QUOTATION.sub(" ", turn)) else []
    ends = [*(gap.end() for gap in _BREAK.finditer(turn)), len(turn)]
    kept, copied = [], 0
    for begin, end in zip([0, *ends], ends, strict=False):
        said = tuple(words(turn[begin:end]))
        if said in told and not any(start <= begin < stop for start, stop in quotations):
            copied += len(said)
        else:
            kept.append(turn[begin:end])
    return "".join(kept).strip() if copied > MIRROR else turn


@lru_cache(maxsize=4096)  # clinicians repeat themselves, scripted ones word for word
def _done(sentence: str) -> tuple[str, tuple[str, ...]]:
    """The kind of a sentence, and the acts of `acts.csv` that it has."""
    kind = _kind(sentence)
    # A negated statement cannot shut a patient down, nor can a question about what the patient does.
    asks_what = kind == "open" and _SAYS["asks_what"].search(_bare(sentence))
    closes = "" if asks_what else _SAYS["disclaimed"].sub(" ", sentence)
    found = (
        name
        for name, patterns in _tables().items()
        if any(pattern.search(closes if name in _CLOSES else sentence) for pattern in patterns)
    )
    return kind, tuple(found)


def _bare(sentence: str) -> str:
    """The sentence without what leads in to it ("So, and well, …")."""
    return _SAYS["filler"].sub("", sentence)


def _kind(sentence: str) -> str:
    """open, fact, checks, order or tells; a question is recognised by its mark, an invitation and an order by their
    verb.

    A sentence that shames counts as no question, whatever its form.
    """
    if any(pattern.search(sentence) for pattern in _tables()["scorn"]):
        return "tells"
    plain = _bare(sentence.strip())
    if _invites(plain) or _SAYS["indirect"].search(plain):
        return "open"
    if _tells_a_fact(plain):
        return "fact"
    if _SAYS["suggests"].search(plain):
        return "tells"
    if asks(sentence):
        clauses = [_bare(part) for part in _ASKING_CLAUSE.split(plain) if part.strip()] or [plain]
        if any(map(_invites, clauses)):
            return "open"
        facts = [clause for clause in clauses if _SAYS["fact"].match(clause) or _tells_a_fact(clause)]
        if any(_SAYS["open"].match(clause) for clause in clauses if clause not in facts):
            return "open"
        if facts or not _SAYS["open"].search(plain):
            return "checks" if _SAYS["checks"].search(plain) else "fact"
        return "open"
    return "order" if _SAYS["order"].match(plain) else "tells"


def _invites(clause: str) -> bool:
    """Whether a clause invites to tell by its verb, or by a narrow question that nobody answers with a bare yes."""
    asked = _SAYS["to_me"].sub("", clause)
    return bool(_SAYS["some"].match(asked) or (_SAYS["tell"].match(clause) and not _tells_a_fact(clause)))


def _tells_a_fact(clause: str) -> bool:
    """Whether a clause bids the patient tell a fact: "Tell me where it hurts"."""
    lead = _SAYS["to_me"].match(clause)
    return bool(lead and _SAYS["fact"].match(clause[lead.end() :]))
