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
from loaders.files.bundled import bundled
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
    r"^(?:(?:please|do|could you|can you|would you|i(?:'d| would) like (?:you to|that you)|maybe)\s+)*"
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
# An invitation in the form of a statement: "I was hoping to hear how it went". Not "I want to know why".
_INDIRECT = re.compile(
    r"\bi(?:'m| am|'d| would| was)? (?:just |only |really |also )*"
    r"(?:hop(?:e|ing)|like|love|want|keen|curious|interested)\b"
    r"[^.!?]{0,40}\b(?:hear|know|understand|learn) (?:what|how|who|where|more|about|from you|your)\b"
    r"|\bi(?:'m| am|'d| was)?(?: just| also)? wonder(?:ing)?,? (?:what|how|who|where|about)\b",
    re.IGNORECASE,
)
# A yes-or-no question that nobody answers with a bare yes: whether some part of it is a worry.
_SOME = re.compile(
    r"^(?:is|was) there (?:some(?:thing| part| bit)|any part|(?:a|one|another) (?:bit|part|thing|piece|side))\b",
    re.IGNORECASE,
)
_SUGGESTS = re.compile(r"^what if (?!we\b|i\b)", re.IGNORECASE)  # "What if your body is getting ready?" asks nothing
_HESITATION = re.compile(r",?\s*\b(?:[Uu]m+|[Uu]h|erm?|[Yy]'know)\b(?!-),?|,\s*you know,", re.ASCII)
_ORDER = re.compile(
    r"^(?:please\s+)?(?!(?:stop|correct|take|put) me\b|take your time\b|start (?:anywhere|wherever|from)\b)"
    r"(?:take|stop|start|drink|avoid|set|keep|use|wash|read|repeat|follow|bring|stick|sign|don't|do not|"
    r"never|always|try to|continue|check|remember|put|come back|get|eat|sit|pop|be|concentrate|trust|go ahead)\b",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"[\"“‘]([^\"”’]{2,60})[\"”’]|(?<!\w)'([^']{2,60})'(?!\w)")
_QUOTATION = re.compile(r"[\"“][^\"”]*[\"”]")
_TOLD = re.compile(r"\b(?:i|we|let|you|your|me|us)\b|^(?:i|we)'", re.IGNORECASE)

# Sentences that would shut a patient down if they were not negated, or said about the clinician: "You don't have to be
# sensible", "I may have got it wrong", "I won't tell you not to worry". They do not count as such (`_CLOSES`).
_DISCLAIMED = re.compile(
    r"\b(?:you|it|that|this|she|he|they) (?:don't|do not|doesn't|does not|needn't|won't) (?:have|need|owe)\b[^,;.!?]*"
    r"|^(?:don't|doesn't|does not|do not) (?:have|need) to\b[^,;.!?]*"
    r"|\b(?:nobody|no one|never|not|n't|who)\b[^,;.!?]{0,20}\bblam(?:e|ing)\b[^,;.!?]*|\bno(?:t a)? wrong \w+"
    r"|\b(?:i|we)(?:'m| am|'ll| will|'d| would| do)?(?:n't| not| won't| never| wouldn't)"
    r" (?:going to |gonna |want to |here to |think i(?:'d| would) (?:want|like) to )?"
    r"(?:say|tell|ask|push|rush|promise|pretend|judge|blame|lecture|sell|be told)\b[^;.!?]*"
    r"|\b(?:i|we|i'm|i've|i'd|we've)\b[^,;.!?]{0,30}\b(?:wrong|mistaken|the right (?:thing|question))\b"
    r"|\bi(?:'ll| will|'m| am)? (?:look|sound) (?:like|as if)\b[^,;.!?]*"
    r"|\btak(?:e|es|en|ing) (?:it|that|this|you|him|her|them) seriously\b",
    re.IGNORECASE,
)
_CLOSES = frozenset({"judge", "brush", "push", "coerce", "blame", "threat", "calm"})
_ASKS_WHAT = re.compile(r"^(?:what|how|which|who|where)\b(?! on earth\b)", re.IGNORECASE)

MIRROR = 12
"""Words up to which giving the patient's own back asks for more; from there on it is copying."""

# Signs that a patient's sentence is more than a fact: a fear, a loss, a refusal, a burden.
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
# The clinician's own name is not one of the patient's people.
_OWN_NAME = re.compile(r"\b(?:I'm|I am|[Mm]y name(?:'s| is)|Dr|Doctor|Miss|Mrs|Mr|Nurse|Sister)\.?(?: [A-Z][a-z]+)+")


# What a question asks for: what it is like to be this patient (feelings, ideas, effects on life, expectations), or the
# course of the illness (when it began, how it went, what is taken): the two sides of the Calgary-Cambridge guide.
_VIEW = re.compile(
    r"\b(?:feel\w*|think\w*|thought\w*|mind|make of|worr\w*|afraid|scar\w*|fear\w*|frighten\w*|dread\w*|bother\w*|"
    r"troubl\w*|weigh\w*|matter\w*|hard(?:er|est)?|worst|hop(?:e|es|ing)|wish\w*|want\w*|mean\w*|pictur\w*|imagin\w*|"
    r"understand|expect\w*|lose|losing|give up|go without|(?:stop|keep|hold)\w* you|in the way|difficult|awkward|"
    r"easier|heav\w*|for you|like|live with|say|said|day to day|at home|at work|really|behind|under(?:neath)?)\b",
    re.IGNORECASE,
)
_COURSE = re.compile(
    r"\b(?:when (?:exactly|did)|first (?:notic\w*|start\w*|beg\w+|appear\w*)|onset|progress\w*|symptoms?|histor\w+|"
    r"medic\w*|tablets?|pills?|dos(?:e|es|age)|tests?|results?|side effects|allerg\w*|fever|appetite|smok\w*|bowels?|"
    r"how (?:many|much|often|long|far)|at what times?|which (?:day|side)|missed|prescri\w*|outcomes?|condition|"
    r"diagnos\w*|zero to ten|nought to ten|yes or no)\b",
    re.IGNORECASE,
)
# Checking what the clinician has understood is neither a question for a fact nor a tag (summarising is always taught).
_CHECKS = re.compile(
    r"\b(?:have|did|do|am) i\b[^.!?]{0,25}\b(?:right|understood|understand|hear\w*|miss\w*|wrong|got|get|with you)\b"
    r"|\bwhat (?:have|did) i\b[^.!?]{0,25}\b(?:miss\w*|wrong|left out|leave out|not)\b"
    r"|^is (?:that|it) (?:fair|how it is)\b",
    re.IGNORECASE,
)


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
    found: dict[str, list[re.Pattern[str]]] = {}
    for row in bundled("baselines.medconceal", "acts.csv"):
        found.setdefault(row["act"], []).append(re.compile(row["pattern"], re.IGNORECASE))
    return {name: tuple(patterns) for name, patterns in found.items()}


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
    sentences = [part for part in _SENTENCE.split(text.strip()) if part.strip()]
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
            view = bool(_VIEW.search(sentence))
            course = not view and bool(_COURSE.search(sentence))
            found["view"] += view
            found["course"] += course
            found["last_course"] = float(course)
        found["orders"] += kind == "order"
        found["echo_first"] += bool(taken_up) and number == 0
        if kind == "tells" and not taken_up and not _TOLD.search(sentence):
            found["told"] += len(sentence.split())
    both, same, cue = content_roots(text) & said, about & subjects(text), bool(_CUE.search(heard.replace("’", "'")))
    found["echo"] = float(len(both))
    found["quote"] = float(any(content_roots("".join(one)) & said for one in _QUOTE.findall(text)))
    found["words"] = float(len(text.split()))
    found["bangs"] = float(text.count("!"))
    found["shared"] = len(both) / len(said) if said else 0.0
    found["subjects"] = float(len(same))
    found["cue"] = float(cue)
    found["missed"] = float(cue and not both and not same)
    found["sentences"] = float(len(sentences))
    found["asked"] = float(sum(map(asks, sentences)))
    found["jargon"] = float(len(_JARGON.findall(text)))
    found["figures"] = float(len(_FIGURE.findall(text)))
    found["names"] = float(len(_NAME.findall(_OWN_NAME.sub("", text))))
    found["items"] = float(len(re.findall(r"\b(?:one|two|three|four|five)[,:]|\([a-e]\)|;", text)))
    return found


def own_words(turn: str, heard: str) -> str:
    """The turn without the sentences that it copies from `heard`, the patient's last words; a short mirror stays.

    A copied question is the patient's: it invites to nothing, and answers nothing. Words that are quoted beside the
    clinician's own are taken up, not copied.

    >>> own_words("I see. I would rather not. I came for the cough. How can you be so sure of it?",
    ...           "I would rather not. I came for the cough. How can you be so sure of it?")
    'I see.'
    """
    told = {tuple(words(sentence)) for sentence in _SENTENCE.split(heard)}
    quotations = [found.span() for found in _QUOTATION.finditer(turn)] if words(_QUOTATION.sub(" ", turn)) else []
    ends = [*(gap.end() for gap in _SENTENCE.finditer(turn)), len(turn)]
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
    asks_what = kind == "open" and _ASKS_WHAT.search(_FILLER.sub("", sentence))
    closes = "" if asks_what else _DISCLAIMED.sub(" ", sentence)
    found = (
        name
        for name, patterns in _tables().items()
        if any(pattern.search(closes if name in _CLOSES else sentence) for pattern in patterns)
    )
    return kind, tuple(found)


def _kind(sentence: str) -> str:
    """open, fact, checks, order or tells; a question is recognised by its mark, an invitation and an order by their
    verb.

    A sentence that shames counts as no question, whatever its form.
    """
    if any(pattern.search(sentence) for pattern in _tables()["scorn"]):
        return "tells"
    plain = _FILLER.sub("", sentence.strip())
    if _TELL.search(plain) or _INDIRECT.search(plain) or _SOME.search(plain):
        return "open"
    if _SUGGESTS.search(plain):
        return "tells"
    if asks(sentence):
        clauses = [_FILLER.sub("", part) for part in _ASKING_CLAUSE.split(plain) if part and part.strip()] or [plain]
        if any(_TELL.match(clause) or _OPEN.match(clause) for clause in clauses if not _FACT.match(clause)):
            return "open"
        if any(map(_FACT.match, clauses)) or not _OPEN.search(plain):
            return "checks" if _CHECKS.search(plain) else "fact"
        return "open"
    return "order" if _ORDER.match(plain) else "tells"
