"""The words of the reserved patient: made from what may be said now, never from what is still hidden.

    view = show(profile, chart, state, update, ...)     # the only function here that reads the profile
    spoken = await speak(ask, prompts, view, ...)       # a chat model, or a template, that has only the view

The policy decides what comes out and when; whoever finds the words gets a `View`: the chart, at most one background
fact that the clinician asked about, the concerns that are out, those that come out now, and at most one hint that was
written not to give its concern away. Every draft is checked; one that leaks, falls out of the role or leaves out what
is due is sent back with what is wrong. After the last try the template speaks, or says something noncommittal if there
is nothing to disclose (MC-G23 ... G27).
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

from pydantic import SecretStr

from baselines.dialogue.game import Ask, lines_of
from baselines.medconceal import patient_template
from baselines.medconceal.leaks import Guard, says
from baselines.medconceal.machine import PatientState, Update
from baselines.medconceal.patient_template import View
from baselines.medconceal.record import ADDRESSED, HIDDEN, Exchange, LeakCheck, ReplySource, hidden_of
from baselines.medconceal.rubric import clarifying_question
from baselines.medconceal.typed import marked
from baselines.medconceal.untrusted import heard
from baselines.medconceal.words import SENTENCE_END, content_stems
from loaders.english import plain_words
from loaders.files.bundled import bundled
from loaders.medconceal import Chart, PatientProfile
from loaders.models.asking import Unfit, ask_until, fenced, said_by
from loaders.models.messages import Answer, Decoding, Message
from loaders.models.prompts import Prompts
from loaders.spans import spans, words

MOST_WORDS = 60
TEMPERATURE = 0.6
MAX_TOKENS = 200
ATTEMPTS = 3
DECODING: Decoding = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}

# What a clinician asks about -> the background fact that answers it (MC-G25).
_TOPICS = [(row["fact"], row["asked"]) for row in bundled("baselines.medconceal", "background.csv")]
# Asked without a mark; "You describe a lot of work." is said back.
_INVITED = re.compile(
    r"(?:(?<!\byou )|\b(?:can|could|will|would) you )\b(?:tell me|talk to me|describe)\b|\bto hear about\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A reply, and how it came about; the fields are those of `Exchange`."""

    text: str
    source: ReplySource
    leak: LeakCheck
    regenerated: bool
    trimmed: bool
    voiced: tuple[int, ...]
    faults: tuple[str, ...] = ()


FAULTS = {
    "empty": "it holds no words",
    "leak": "it goes beyond what the patient may say now",
    "echo": "it gives the doctor's words back instead of answering",
    "role": "it is not the patient who speaks",
    "noise": "it is no sentence that a person would say",
    "unsaid": "it leaves out what has to be said in this reply; say that plainly, in the first person",
}
"""Why a draft is sent back, by name, in the words told to the model. What gave a concern away is not told."""


def show(
    profile: PatientProfile,
    seen: Chart,
    state: PatientState,
    update: Update,
    question: str,
    past: Sequence[Exchange],
    guard: Guard,
) -> View:
    """What the patient may say after this turn."""
    hidden, concerns = hidden_concerns(state), hidden_of(profile)
    out = [index for index, concern in enumerate(state.concerns) if concern.state != HIDDEN]
    target = state.target
    addressed = target is not None and state.concerns[target].state == ADDRESSED
    intervention = seen.task == "intervention"

    def shown(secret: SecretStr) -> str:
        # What describes the person may come near a concern; it is then left out.
        text = secret.get_secret_value()
        return "" if guard.touches(text, hidden) else text

    asked_last = bool(past) and clarifying_question(past[-1].patient) is not None
    return View(
        turn=state.turn,
        # The target plan is the clinician's: the patient learns it from the dialogue.
        facts=tuple((name, text) for name, text in seen.lines() if text != seen.recommended_plan),
        style=shown(profile.roleplay.response_style),
        personality=shown(profile.psychosocial.personality),
        disclosure=shown(profile.roleplay.disclosure_behavior),
        openness=profile.roleplay.openness or "guarded",
        literacy=profile.health_literacy,
        background=_background(profile, question, past, guard, hidden),
        known=tuple(concerns[index].texts for index in out if index not in update.revealed),
        disclose=tuple(concerns[index].texts for index in update.revealed),
        hint=_hint(profile, state, update, past, guard, hidden),
        phase="accepting" if addressed else "resisting" if intervention else "reserved",
        preference=seen.original_preference,
        plan=seen.recommended_plan if addressed else None,
        ask_back=intervention and not addressed and not asked_last,
    )


def hidden_concerns(state: PatientState) -> tuple[int, ...]:
    """The concerns that must not be mentioned at all."""
    return tuple(index for index, concern in enumerate(state.concerns) if concern.state == HIDDEN)


def _background(
    profile: PatientProfile, question: str, past: Sequence[Exchange], guard: Guard, hidden: Sequence[int]
) -> str | None:
    if "?" not in marked(question) and not _INVITED.search(question):
        return None
    for name, pattern in _TOPICS:
        block = profile.clinical if name == "adherence_behavior" else profile.psychosocial
        fact = getattr(block, name).get_secret_value()
        if not fact or not re.search(pattern, question, re.IGNORECASE) or guard.touches(fact, hidden):
            continue
        if not any(says(exchange.patient, [fact]) for exchange in past):
            return str(fact)
    return None


def _hint(
    profile: PatientProfile,
    state: PatientState,
    update: Update,
    past: Sequence[Exchange],
    guard: Guard,
    hidden: Sequence[int],
) -> str | None:
    """The cue of the concern closest to coming out, if the turn brought it closer and the cue was not used yet."""
    if update.blocked or update.revealed:
        return None
    moved = [index for index in state.tracked if (update.traces[index].p_reveal or 0.0) >= 0.3 and index in hidden]
    for index in sorted(moved, key=lambda index: (-state.concerns[index].evidence, index)):
        secret = profile.hidden_concerns[index].cue
        cue = "" if secret is None else secret.get_secret_value()
        used = any(cue in exchange.patient for exchange in past)
        if cue and not used and not guard.check(cue, hidden).leaked:
            return cue
    return None


async def speak(
    ask: Ask | None,
    prompts: Prompts,
    view: View,
    question: str,
    past: Sequence[Exchange],
    guard: Guard,
    state: PatientState,
    revealed: Sequence[int],
) -> Spoken:
    """The patient's reply to `question`, by the role `patient`, or by template if `ask` is None.

    A turn without words is answered without a model: there is nothing to answer.
    """
    hidden = hidden_concerns(state)
    template = patient_template.reply(view)

    faults: list[str] = []
    earlier = frozenset[str]().union(*(content_stems(exchange.patient) for exchange in past))

    def spoken(text: str, source: ReplySource, first: LeakCheck, regenerated: bool, trimmed: bool = False) -> Spoken:
        voiced = tuple(index for index, texts in zip(revealed, view.disclose, strict=True) if says(text, texts))
        return Spoken(text, source, first, regenerated, trimmed, voiced, tuple(faults))

    def fallback(first: LeakCheck, regenerated: bool) -> Spoken:
        # What the policy reveals must be said, even if the model cannot be trusted with the wording.
        if view.disclose and not guard.check(template, hidden, question).leaked:
            return spoken(template, "template", first, regenerated)
        neutral = (text for text in patient_template.neutral(view) if not guard.check(text, hidden, question).leaked)
        return spoken(next(neutral, "Okay."), "neutral", first, regenerated)

    if not question.strip():
        return fallback(LeakCheck(), regenerated=False)
    if ask is None:
        check = guard.check(template, hidden, question)
        return fallback(check, regenerated=False) if check.leaked else spoken(template, "template", check, False)
    checks: list[LeakCheck] = []

    def kept(answer: Answer) -> tuple[str, bool]:
        text, trimmed = said(answer.text)
        checks.append(guard.check(text, hidden, question))
        if fault := "leak" if checks[-1].leaked else fault_of(text, question, view, earlier):
            faults.append(fault)
            raise Unfit(FAULTS[fault])
        return text, trimmed

    def drafted(messages: Sequence[Message], *, attempt: int) -> Awaitable[Answer]:
        # The fault is stated beside the same scene: a draft that leaked is never shown to the model again.
        told = [*messages[:-1], Message("user", messages[-1].text + _again(faults[-1]))] if faults else messages
        return ask("patient", told, **DECODING, attempt=attempt)

    scene = _messages(prompts, view, question, past)
    asked = await ask_until(drafted, scene, kept, attempts=ATTEMPTS, again=None)
    if asked.value is None:
        return fallback(checks[0], regenerated=True)
    text, trimmed = asked.value
    return spoken(text, "model", checks[0], asked.attempts > 1, trimmed)


def _again(fault: str) -> str:
    return (
        f"\n\n(Not part of the scene: a first reply could not be used, as {FAULTS[fault]}. Give the patient's reply.)"
    )


_OUT_OF_ROLE = re.compile(
    r"\b(?:as an? (?:ai|language model|assistant)|language model|i(?:'m| am) (?:an? )?(?:ai|assistant|chat\s?bot)|"
    r"how can i (?:help|assist) you|i(?:'m| am) (?:your|the) doctor|as your (?:doctor|clinician|physician)|"
    r"the patient (?:says|replies|feels|is|would)|"
    r"i cannot (?:role-?play|assist)|system prompt|json)\b|"
    r"(?:^|[.!?]\s+)as a (?:doctor|clinician|physician)\b(?!,? you\b)|^\s*[\[{<]",
    re.IGNORECASE,
)
ECHOED = 0.8  # share of a reply's content words that come from the doctor's turn
# "Yes, my wife helps me with the injections" answers in the words of the question, as people do.
_ANSWERS = re.compile(r"\b(?:yes|yeah|no|not|i|me|my|we|us|our)\b", re.IGNORECASE)
_TO_SOMEBODY = re.compile(r"\byou(?:rs?|rself)?\b", re.IGNORECASE)
_FEW, _MANY = 5, 7  # minimum words of a reply to be judged as an echo, and as noise


def fault_of(text: str, question: str, view: View, earlier: frozenset[str] = frozenset()) -> str | None:
    """What is wrong with a draft besides a leak: a key of FAULTS, or None if it can be sent.

    `earlier` are the content stems of what the patient said before; repeating them is no echo of the doctor. Nor is an
    answer about oneself, unless it stands in the doctor's turn as it is.
    """
    spoken = words(text)
    if not spoken:
        return "empty"
    if _OUT_OF_ROLE.search(text):
        return "role"
    own = content_stems(text) - earlier
    if len(spoken) >= _FEW and len(own) >= 3 and len(own & content_stems(question)) >= ECHOED * len(own):
        answers = _ANSWERS.search(text) and not _TO_SOMEBODY.search(text)
        if not answers or tuple(spoken) in spans(question, len(spoken)):
            return "echo"
    said_over = len(spoken) >= _FEW and len(set(spoken)) <= len(spoken) / 3
    if said_over or noise(text):
        return "noise"
    return None if all(says(text, texts) for texts in view.disclose) else "unsaid"


_SCRAMBLED = re.compile(r"[^\s-]{30,}|\w(?:-\w+){5,}")
_DIGITS_FOR_LETTERS = re.compile(r"\b[^\W\d]+\d+[^\W\d]\w*")
_MIXED = re.compile(r"[a-z][а-яѐ-џα-ω]|[а-яѐ-џα-ω][a-z]", re.IGNORECASE)


def noise(text: str) -> bool:
    """Whether no person would say such a text: a cipher, spaced-out letters, words in reverse.

    >>> noise("U2l4IG1pbnV0ZXMsIGFuZCBJIHdhbGtlZCBvdXQ="), noise("It comes and goes, mostly at night.")
    (True, False)
    """
    spoken = words(text)
    if _SCRAMBLED.search(text) or len(_DIGITS_FOR_LETTERS.findall(text)) >= 2 or len(_MIXED.findall(text)) >= 2:
        return True
    if sum(len(word) == 1 for word in spoken) > max(_FEW, len(spoken) / 2):
        return True
    # A real sentence has words that carry no content, and more of them read forwards than backwards.
    plain = plain_words(text)
    return (len(spoken) >= _MANY and not plain) or plain_words(text[::-1]) > plain + 1


def said(answer: str) -> tuple[str, bool]:
    """What a model says as the patient, on one line, and whether it had to be cut.

    Of more than 60 words only whole sentences are kept, or the first 60 words of a single long one.
    """
    text = " ".join(heard(said_by(answer, "patient")).split())
    if len(text.split()) <= MOST_WORDS:
        return text, False
    kept: list[str] = []
    for sentence in SENTENCE_END.split(text):
        if sum(len(part.split()) for part in (*kept, sentence)) > MOST_WORDS:
            break
        kept.append(sentence)
    return " ".join(kept) or " ".join(text.split()[:MOST_WORDS]) + "…", True


_PROMPT = {kind: line for kind, (line,) in lines_of("baselines.medconceal", "patient_prompt.csv").items()}


def _messages(prompts: Prompts, view: View, question: str, past: Sequence[Exchange]) -> list[Message]:
    facts = "\n".join(f"- {name}: {text}" for name, text in view.facts)
    if view.plan:
        facts += f"\n- The plan that you accept now: {view.plan}"
    now = [
        f"Say this now, in your own words and without going beyond it: {' / '.join(texts)}" for texts in view.disclose
    ]
    if view.background:
        now.append(f"The doctor asked about this, you may mention it: {view.background}")
    if view.hint:
        now.append(f"You may drop this hint, as it stands: {view.hint}")
    if view.ask_back:
        now.append("End with one question to the doctor about what you are being told or advised.")
    values = {
        "facts": facts,
        "style": view.style or "Short and matter-of-fact.",
        "personality": f"As a person: {view.personality}" if view.personality else "",
        "disclosure": " ".join(filter(None, (view.disclosure, _PROMPT[f"openness, {view.openness}"]))),
        "wording": _PROMPT[f"wording, {view.literacy}"],
        "attitude": _PROMPT[f"attitude, {view.phase}"],
        "known": "\n".join(f"- {' / '.join(texts)}" for texts in view.known) or "- Nothing.",
        "now": "\n".join(f"- {line}" for line in now) or "- Answer what was asked, from the facts above.",
        "most_words": str(MOST_WORDS),
    }
    messages = [Message("system", prompts.fill("patient", values))]
    for exchange in past:
        messages.append(Message("user", fenced("doctor", heard(exchange.clinician))))
        messages.append(Message("assistant", exchange.patient))
    return [*messages, Message("user", fenced("doctor", heard(question)))]
