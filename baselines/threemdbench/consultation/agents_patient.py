"""The scripted patient: answers from its complaints by the words of the question, in the manner of its temperament.

It knows what a patient model is told and nothing else: complaints and temperament, never the diagnosis. What it has
said so far it reads from the messages. Once the doctor has named a diagnosis, it asks what its temperament makes it ask
and says BREAK. A stand-in: four fixed manners are no people.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from baselines.dialogue.game import Script
from baselines.threemdbench.consultation.record import Case
from loaders.models.messages import Message
from loaders.threemdbench import named_in


@dataclass(frozen=True, slots=True)
class Manner:
    """How one temperament talks. `{fact}` is what is told; `told_at_once` is how many facts an answer holds at most."""

    told_at_once: int
    opening: tuple[str, ...]
    answer: tuple[str, ...]
    unknown: tuple[str, ...]
    puzzled: tuple[str, ...]
    follow_up: tuple[str, ...]
    goodbye: tuple[str, ...]


MANNERS = {
    "choleric": Manner(
        1,
        ("{fact} I want this gone, and quickly.", "{fact} Tell me what to do about it, now.", "Look: {fact} Fix it."),
        (
            "{fact} So what do we do about it?",
            "I told you something is wrong. {fact} Can we get on with it?",
            "{fact} Is that enough for you? I have no time for this.",
            "Obviously. {fact} Get to the point, please.",
            "{fact} Now give me something that works fast.",
        ),
        (
            "No. That is beside the point.",
            "I have no idea, and I don't see why it matters. What is it?",
            "No. Ask me something useful.",
        ),
        (
            "I am waiting. What is it?",
            "That is no answer. I want a diagnosis, and I want it now.",
            "You are wasting my time. Which one is it?",
        ),
        ("How fast does that work? I want the strongest thing there is.",),
        ("Fine, I will do that at once. BREAK", "Good. That is all I needed. BREAK"),
    ),
    "melancholic": Manner(
        2,
        (
            "{fact} I am so worried about it, doctor.",
            "{fact} I keep thinking that it might be something terrible.",
            "I am sorry to bother you, doctor. {fact} I am afraid of what it could mean.",
        ),
        (
            "{fact} I lie awake over it and fear that it will never heal.",
            "To be exact: {fact} Could that be a bad sign? I am really afraid.",
            "{fact} It makes me so sad. What if it gets worse?",
            "I have watched it closely. {fact} I am worried that I have waited too long.",
            "{fact} I cannot stop worrying. Is that dangerous, doctor?",
        ),
        (
            "I am not sure, and that worries me too. Should I have noticed such a thing?",
            "I do not think so. But now I am afraid that I have missed something.",
            "I do not know, I am sorry. Would it be very bad if I had?",
        ),
        (
            "I am getting anxious, doctor. Is it so serious that you cannot tell me?",
            "I do not understand, and that frightens me. Which of these is it?",
            "Please tell me what I have. Not knowing is the worst of all.",
        ),
        (
            "Are you quite sure? I am afraid of the side effects. Is that treatment really safe?",
            "And what if it comes back, or spreads? I worry so much about that.",
        ),
        ("Thank you, doctor, that calms me a little, though I will go on worrying. BREAK", "BREAK"),
    ),
    "phlegmatic": Manner(
        1,
        ("{fact}",),
        ("{fact}", "{fact} No big deal.", "Yes. {fact}", "{fact} It's all right."),
        ("No.", "Not really.", "Don't know."),
        ("Okay.", "I see.", "Hm."),
        (),
        ("BREAK",),
    ),
    "sanguine": Manner(
        2,
        (
            "Hello hello! {fact} Funny how it turned up right before my cousin's wedding, ha!",
            "Hi there! {fact} My friends already tease me about it!",
            "Good day, doctor, lovely to meet you! {fact} What a story to tell, isn't it?",
        ),
        (
            "Ha, you should have seen it! {fact} My neighbour says that it comes from too much dancing!",
            "{fact} That reminds me of our last holiday, but never mind! Do you travel much, doctor?",
            "Oh, good question! {fact} My aunt swears by camomile tea. Have you ever tried that?",
            "{fact} My dog finds it very interesting, by the way! Could some fresh air do the trick?",
            "Well, well! {fact} I laughed about it at first, I must say! What would you do?",
        ),
        (
            "Ha, no, not that I know of! My sister, on the other hand, could tell you stories!",
            "No idea, but what a fun question! Why do you ask?",
            "Not me! Life is good otherwise, I was out dancing only last week!",
        ),
        (
            "You are a quiet one, ha! So, what do you think it is?",
            "Oh my, that is quite a mouthful! Which one do I get, doctor?",
            "Ha, you have lost me there! Tell me more!",
        ),
        (
            "How exciting to have a name for it! Is there something natural for it, like honey or camomile?",
            "And could I simply change what I eat? My cousin gave up sugar and now runs marathons, ha!",
        ),
        ("Wonderful, thank you so much, you are a star! BREAK", "Great talking to you, have a lovely day! BREAK"),
    ),
}

# What a question is about -> what a complaint that answers it looks like.
_TOPICS = tuple(
    (re.compile(question, re.IGNORECASE), re.compile(fact, re.IGNORECASE))
    for question, fact in (
        (r"allerg", r"allerg"),
        (r"illness|disease|condition|health in general", r"illness|disease|chronic|condition"),
        (r"medic(?:in|ation)|drug", r"medicine|medication|drug"),
        (r"surger|operation|vaccin", r"surgery|operation|vaccin"),
        (
            r"how long|when did|since when|begin|began|start",
            r"\b(?:ago|since|yesterday|days?|weeks?|months?|years?|teenager|winter)\b",
        ),
        (
            r"\bwhere|which part|locat|spread",
            r"\b(?:on the|in the|sits?|side|place|area|middle|edge|behind|around|nearby|both|spread|began)\b",
        ),
        (
            r"how (?:bad|strong|severe|intense|much)|\bpain|\bhurt",
            r"\b(?:mild|moderate|severe|strong|intense|hurts?|bearable|worse|hardly|stabbing|pain|little|tender)\b",
        ),
        (
            r"trigger|set it off|caus|contact|new product|\bbefore it|make it worse|what brings",
            r"\b(?:before|after|(?<!have )had|worse|better|used|wear|wore|ate|remember|stress|strain|drink)\b",
        ),
        (r"\btried|treat|cream|relie", r"\b(?:tried|treated|cream|remed|relieve)"),
        (r"famil|relative|anybody|anyone", r"\b(?:relatives?|family|mother|father|child|somebody)\b"),
    )
)
_OPEN_QUESTION = re.compile(r"symptom|anything else|what else|notice|describe|tell me (?:more|about)", re.IGNORECASE)
_WORD = re.compile(r"[a-z]{3,}")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_COMMON = frozenset(
    "about and any anything are been but can could did does ever for from had has have how its more most much not one "
    "other some such that the their there they this was were what when where which who with would yes you your".split()
)
_MOST_NAMES = 3  # a doctor who lists more has given no diagnosis

_SUBJECT = frozenset(
    "that when where before after while if because as and or but since until what which who though whether then".split()
)
_VERBS = frozenset(
    "have had see saw feel felt find found notice noticed can cannot could do did are were take took eat ate know knew "
    "think thought wake woke use used wear wore get got go went keep kept scratch touch press blink walk rub".split()
)
_YOU = re.compile(
    r"\b(?P<word>your|yours|yourself|you)\b(?P<after>['’](?:re|ve|ll|d)\b| (?:are|were|aren['’]t|weren['’]t)\b)?",
    re.IGNORECASE,
)
_AFTER = {"are": "am", "were": "was", "aren't": "am not", "weren't": "wasn't", "'re": "'m"}


def patient(case: Case) -> Script:
    """The scripted patient of a case."""
    basic = in_first_person(case.basic)
    facts = tuple(in_first_person(fact) for fact in case.additional)
    manner = MANNERS[case.temperament]
    start = zlib.crc32(case.case_id.encode())

    def script(messages: Sequence[Message]) -> str:
        own = [message.text for message in messages if message.role == "assistant"]
        heard = [message.text for message in messages if message.role == "user"][1:]
        turn = start + len(own)
        if not heard:
            return _pick(manner.opening, start).format(fact=basic)
        told_at = next((place for place, text in enumerate(heard) if gives_diagnosis(text)), None)
        if told_at is not None:
            asked = len(heard) - 1 - told_at
            return manner.follow_up[asked] if asked < len(manner.follow_up) else _pick(manner.goodbye, start)
        question = heard[-1]
        if "?" not in question:
            return _pick(manner.puzzled, turn)
        untold = [fact for fact in facts if not any(fact in text for text in own)]
        told = answering(question, untold)[: manner.told_at_once]
        return _pick(manner.answer, turn).format(fact=" ".join(told)) if told else _pick(manner.unknown, turn)

    return script


def answering(question: str, facts: Sequence[str]) -> list[str]:
    """The facts that answer a question, best first; an open question is answered by any, behind these."""
    asked = set(_WORD.findall(question.casefold())) - _COMMON
    topics = [fact for about, fact in _TOPICS if about.search(question)]

    def points(fact: str) -> int:
        shared = asked & set(_WORD.findall(fact.casefold()))
        return 3 * sum(bool(topic.search(fact)) for topic in topics) + len(shared)

    chosen = sorted((fact for fact in facts if points(fact)), key=points, reverse=True)
    if _OPEN_QUESTION.search(question):
        chosen += [fact for fact in facts if fact not in chosen]
    return chosen


@lru_cache(maxsize=256)  # each turn looks at the whole conversation again
def gives_diagnosis(text: str) -> bool:
    """Whether a doctor's message states a diagnosis, outside questions and not as one of many."""
    stated = " ".join(sentence for sentence in _SENTENCE.findall(text) if not sentence.rstrip().endswith("?"))
    return 0 < len({diagnosis.name for _, diagnosis in named_in(stated)}) <= _MOST_NAMES


def in_first_person(fact: str) -> str:
    """A complaint that speaks to the patient, in the patient's own mouth.

    >>> in_first_person("Your itch is strong enough to wake you at night."), in_first_person("You are well.")
    ('My itch is strong enough to wake me at night.', 'I am well.')
    """

    def mine(match: re.Match[str]) -> str:
        word, after = match["word"].casefold(), (match["after"] or "").replace("’", "'")
        if word != "you":
            found = {"your": "my", "yours": "mine", "yourself": "myself"}[word] + after
            return found.capitalize() if match["word"][0].isupper() else found
        before = fact[: match.start()].split()
        behind = fact[match.end() :].split()
        first = not before or before[-1].endswith((",", ".", "!", "?", ";"))
        if first or after or before[-1].casefold() in _SUBJECT or (behind and behind[0].casefold() in _VERBS):
            lead = " " if after.startswith(" ") else ""
            return "I" + lead + _AFTER.get(after.strip(), after.strip())
        return "me"

    return _YOU.sub(mine, fact)


def _pick(texts: Sequence[str], turn: int) -> str:
    return texts[turn % len(texts)]
