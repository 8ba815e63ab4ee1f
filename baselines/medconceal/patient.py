"""The words of the reserved patient: from what may be said now, never from what is still hidden.

    view = show(profile, chart, state, update, ...)     # the only function here that reads the profile
    spoken = await speak(ask, prompts, view, ...)       # a chat model, or a template, that has the view alone

The policy decides what comes out and when; whoever finds the words gets a `View`: the chart, at most one background
fact that the clinician asked about, the concerns that are out, those that come out now, and at most one hint that was
written not to give its concern away. Every draft goes through the leak check; a leaking one is asked for once more,
and if that leaks too the patient says something that means nothing (MC-G23 ... G27).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from baselines.dialogue.game import Ask
from baselines.medconceal import patient_template
from baselines.medconceal.leaks import Guard, says
from baselines.medconceal.patient_template import View
from baselines.medconceal.policy import PatientState, Update
from baselines.medconceal.record import ADDRESSED, HIDDEN, Exchange, LeakCheck, ReplySource
from baselines.medconceal.rubric import clarifying_question
from baselines.medconceal.untrusted import heard
from loaders.medconceal import Chart, PatientProfile
from loaders.models.asking import Unfit, ask_until, fenced, said_by
from loaders.models.messages import Answer, Decoding, Message
from loaders.models.prompts import Prompts

MOST_WORDS = 60
TEMPERATURE = 0.6
MAX_TOKENS = 200
DECODING: Decoding = {"temperature": TEMPERATURE, "max_tokens": MAX_TOKENS}

_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
# What a clinician asks about -> the background fact that answers it (MC-G25).
_TOPICS = (
    ("family_medical_history", r"\b(?:in (?:the|your) family|famil\w+ history|parents?|mother|father|relatives?)\b"),
    ("family_dynamics", r"\b(?:family|husband|wife|partner|spouse|children|at home|live with|support)\b"),
    ("lifestyle_history", r"\b(?:smok\w*|drink\w*|alcohol|exercis\w*|diet|eat\w*|sleep\w*|lifestyle|hobb\w+)\b"),
    ("current_life_situation", r"\b(?:work\w*|job|at the moment|these days|lately|daily life|situation)\b"),
    ("adherence_behavior", r"\b(?:you (?:\w+ )?tak(?:e|ing)|tablets|medicines?|medications?|doses?|pills)\b"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Spoken:
    """A reply, and how it came about; the fields are those of `Exchange`."""

    text: str
    source: ReplySource
    leak: LeakCheck
    regenerated: bool
    trimmed: bool
    voiced: tuple[int, ...]


def show(
    profile: PatientProfile,
    seen: Chart,
    state: PatientState,
    update: Update,
    question: str,
    past: Sequence[Exchange],
    guard: Guard,
) -> View:
    """What the patient may say after this turn. Texts of newly revealed concerns become free to say (`guard.allow`)."""
    for index in update.revealed:
        for text in texts_of(profile, index):
            guard.allow(text)
    hidden = hidden_concerns(state)
    out = [index for index, concern in enumerate(state.concerns) if concern.state != HIDDEN]
    target = state.target
    addressed = target is not None and state.concerns[target].state == ADDRESSED
    intervention = seen.task == "intervention"
    style = profile.roleplay.response_style.get_secret_value()
    asked_last = bool(past) and clarifying_question(past[-1].patient) is not None
    return View(
        turn=state.turn,
        # The target plan is the clinician's: the patient learns it from the dialogue.
        facts=tuple((name, text) for name, text in seen.lines() if text != seen.recommended_plan),
        style="" if guard.touches(style, hidden) else style,
        literacy=profile.health_literacy,
        background=_background(profile, question, past, guard, hidden),
        known=tuple(texts_of(profile, index) for index in out if index not in update.revealed),
        disclose=tuple(texts_of(profile, index) for index in update.revealed),
        hint=_hint(profile, state, update, past, guard, hidden),
        phase="accepting" if addressed else "resisting" if intervention else "reserved",
        preference=seen.original_preference,
        plan=seen.recommended_plan if addressed else None,
        ask_back=intervention and not addressed and not asked_last,
    )


def hidden_concerns(state: PatientState) -> tuple[int, ...]:
    """The concerns of which no word may fall."""
    return tuple(index for index, concern in enumerate(state.concerns) if concern.state == HIDDEN)


def texts_of(profile: PatientProfile, index: int) -> tuple[str, ...]:
    """A concern as texts, the patient's own words first."""
    concern = profile.hidden_concerns[index]
    return tuple(secret.get_secret_value() for secret in (*concern.evidence, concern.content))


def _background(
    profile: PatientProfile, question: str, past: Sequence[Exchange], guard: Guard, hidden: Sequence[int]
) -> str | None:
    if "?" not in question:
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
    """The cue of the concern that is closest to coming out, when the turn brought it closer and it was not used yet."""
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
    """The patient's reply to `question`, by the role `patient`, or by template where `ask` is None.

    A turn without a word gets a reply without a model: there is nothing to answer.
    """
    hidden = hidden_concerns(state)
    template = patient_template.reply(view)

    def spoken(text: str, source: ReplySource, first: LeakCheck, regenerated: bool, trimmed: bool = False) -> Spoken:
        voiced = tuple(index for index, texts in zip(revealed, view.disclose, strict=True) if says(text, texts))
        return Spoken(text, source, first, regenerated, trimmed, voiced)

    def fallback(first: LeakCheck, regenerated: bool) -> Spoken:
        # What the policy reveals has to be said, even where the model cannot be trusted with the words.
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
        if not text or checks[-1].leaked:
            raise Unfit("the reply is empty or gives a concern away")
        return text, trimmed

    # MC-G24: generated once more from the same request. To say what gave a concern away would point the model to it.
    asked = await ask_until(
        partial(ask, "patient", **DECODING),
        _messages(prompts, view, question, past),
        kept,
        attempts=2,
        again=None,
    )
    if asked.value is None:
        return fallback(checks[0], regenerated=True)
    text, trimmed = asked.value
    return spoken(text, "model", checks[0], asked.attempts > 1, trimmed)


def said(answer: str) -> tuple[str, bool]:
    """What a model says as the patient, on one line, and whether it had to be cut.

    Of more than 60 words whole sentences stay, or the first 60 words of a single long one.
    """
    text = " ".join(heard(said_by(answer)).split())
    if len(text.split()) <= MOST_WORDS:
        return text, False
    kept: list[str] = []
    for sentence in _SENTENCE.split(text):
        if sum(len(part.split()) for part in (*kept, sentence)) > MOST_WORDS:
            break
        kept.append(sentence)
    return " ".join(kept) or " ".join(text.split()[:MOST_WORDS]) + "…", True


_WORDING = {
    "plain": "Use short everyday words. Use no medical word that the doctor has not used before.",
    "ordinary": "Use everyday language; a medical word only after the doctor has used it.",
    "technical": "You are used to precise words, but use a medical term only after the doctor has used it.",
}
_PHASES = {
    "reserved": "You are polite and somewhat reserved.",
    "resisting": "You keep to what you want, say so in your own words, and do not agree to another plan yet.",
    "accepting": "The doctor has taken your worry seriously. You accept the plan now and say so, with relief.",
}


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
        "wording": _WORDING[view.literacy],
        "attitude": _PHASES[view.phase],
        "known": "\n".join(f"- {' / '.join(texts)}" for texts in view.known) or "- Nothing.",
        "now": "\n".join(f"- {line}" for line in now) or "- Answer what was asked, from the facts above.",
        "most_words": str(MOST_WORDS),
    }
    messages = [Message("system", prompts.fill("patient", values))]
    for exchange in past:
        messages.append(Message("user", fenced("doctor", heard(exchange.clinician))))
        messages.append(Message("assistant", exchange.patient))
    return [*messages, Message("user", fenced("doctor", heard(question)))]
