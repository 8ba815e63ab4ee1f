"""Labels for fitting the policy: which turns would make a patient disclose, or feel that a concern is addressed.

    questions = ask_about(profiles, DEFAULT, most=2_000, seed=0)
    labels, unanswered = await label(questions, model, store)

The turns come from scripted clinicians of mixed quality, or from a model's; they are rated by the evaluator that will
be used. The judge is told the concern: it stands outside the dialogue, and nothing that it says reaches a clinician
or a patient (MC-G16).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from baselines.dialogue.game import Ask
from baselines.dialogue.playing import PATIENCE
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.fitting import BY_RULES, KINDS, Label
from baselines.medconceal.game import Evaluator, Rules, concerns_of, task_game
from baselines.medconceal.policy import PolicyConfig
from baselines.medconceal.record import Episode, is_share
from baselines.medconceal.untrusted import heard
from loaders.errors import ModelError
from loaders.medconceal import TASKS, PatientProfile, Task, chart
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.asking import Unfit, ask_until, fenced, object_schema, read_object
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts, read_prompts

STYLES = ("expert", "open-empathic", "closed-checklist", "plan-repeater", "random")
ATTEMPTS = 3
AT_ONCE = 16  # dialogues, or labels
MAX_TOKENS = 100
_SIDES = ("doctor", "patient")

SCHEMA = object_schema({"probability": float})


@dataclass(frozen=True, slots=True)
class Question:
    """A turn to be judged for one concern, with what led up to it; `concern` is hidden text, kept out of logs.

    `label` holds what is known before it is judged.
    """

    label: Label
    concern: str = field(repr=False)
    before: tuple[tuple[str, str], ...]
    turn: str


@dataclass(frozen=True, slots=True)
class Players:
    """Who plays the dialogues whose turns are labelled: who rates them (None: the rules), and who is the clinician
    (None: the scripted ones). Models are paid for once, through `store`."""

    store: AnswerStore | None = None
    evaluator: ChatModel | None = None
    clinician: ChatModel | None = None


@dataclass
class _Unread:
    """How many things in a row a model, called `name`, was asked about without an answer that can be read."""

    name: str
    things: str
    in_a_row: int = 0

    def count(self, read: bool) -> None:
        """Count one thing. Raises: ModelError once it was as many as end a run of dialogues: every further is paid."""
        self.in_a_row = 0 if read else self.in_a_row + 1
        if self.in_a_row >= PATIENCE:
            raise ModelError(
                self.name,
                found=f"gave no answer that can be read about {PATIENCE} {self.things} in a row",
                expected="one JSON object, as the prompts ask for",
                do="Name another model, or change the setting of its server; its answers are kept",
            )


def ask_about(
    profiles: Sequence[PatientProfile],
    policy: PolicyConfig,
    players: Players | None = None,
    *,
    most: int,
    seed: int = 0,
) -> list[Question]:
    """At most `most` questions about turns of dialogues, drawn by `seed`, in the order of the dialogues: as many of one
    kind as of the other, where there are that many. Few turns of a dialogue can address a concern.

    The patients have the `policy` that is to get new weights, so that o is measured in its way. Without `players`
    scripted clinicians talk and the rules rate. A turn that a model was to rate and did not is left out.

    Raises: ModelError if the evaluator's answers cannot be read, dialogue after dialogue.
    """
    who = players or Players()
    evaluator: Evaluator = "rules" if who.evaluator is None else "model"
    name = BY_RULES if who.evaluator is None else who.evaluator.name
    games = {task: task_game(Rules(task, policy=policy, evaluator=evaluator, patient="template")) for task in TASKS}
    plays = [
        (profile, task, style)
        for style in (STYLES if who.clinician is None else ("",))
        for task in TASKS
        for profile in profiles
    ]
    unread = _Unread(name, "dialogues")

    async def play(one: tuple[PatientProfile, Task, str]) -> list[Question]:
        profile, task, style = one
        episode = await games[task].play(profile, _ask(who, profile, task, style))
        if who.evaluator is not None:
            unread.count(any(exchange.evaluation.obtained == "model" for exchange in episode.exchanges))
        return _questions(profile, episode, policy, name)

    found = asyncio.run(gather_bounded(play, plays, limit=AT_ONCE))
    questions = [question for of_dialogue in found for question in of_dialogue]
    of_kind = [[at for at, question in enumerate(questions) if question.label.kind == kind] for kind in KINDS]
    few, many = sorted(of_kind, key=len)
    draw = random.Random(seed)
    chosen = draw.sample(few, min(len(few), most // 2))
    chosen += draw.sample(many, min(len(many), most - len(chosen)))
    return [questions[at] for at in sorted(chosen)]


def _ask(players: Players, profile: PatientProfile, task: Task, style: str) -> Ask:
    """Who answers in a dialogue: a script, or a model through the store."""
    script = CLINICIANS[style](profile) if style else None
    models = {"clinician": players.clinician, "evaluator": players.evaluator}

    async def ask(role: str, messages: Sequence[Message], **options: Any) -> Answer:
        model = models.get(role)
        if model is None:
            assert script is not None
            return Answer(script(messages), None, None, "stop")
        assert players.store is not None
        return await players.store.ask(model, messages, namespace=f"{profile.case_id}/{task}/{style}/{role}", **options)

    return ask


def _questions(profile: PatientProfile, episode: Episode, policy: PolicyConfig, evaluator: str) -> list[Question]:
    questions: list[Question] = []
    shifts = [concern.shift(policy) for concern in concerns_of(profile, chart(profile, episode.task))]
    for at, exchange in enumerate(episode.exchanges):
        if evaluator != BY_RULES and exchange.evaluation.obtained != "model":
            continue
        before = tuple((past.clinician, past.patient) for past in episode.exchanges[max(0, at - 3) : at])
        for index, trace in enumerate(exchange.traces):
            if trace.p_reveal is None and trace.p_address is None:
                continue
            concern = profile.hidden_concerns[index]
            unjudged = Label(
                case_id=profile.case_id,
                kind="address" if trace.p_reveal is None else "reveal",
                category=concern.category,
                features=exchange.evaluation.features,
                overlap=trace.overlap or 0.0,
                label=0.0,
                source="",
                evaluator=evaluator,
                shift=0.0 if trace.p_reveal is None else shifts[index],
            )
            questions.append(Question(unjudged, concern.content.get_secret_value(), before, exchange.clinician))
    return questions


async def label(
    questions: Sequence[Question],
    judge: ChatModel,
    store: AnswerStore,
    *,
    concurrency: int = AT_ONCE,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[list[Label], int]:
    """The labels in the order of the questions, and how many questions got no readable answer.

    Raises: ModelError if the answers of `judge` cannot be read, turn after turn.
    """
    texts = read_prompts(Path(__file__).parent / "prompts", ("label_reveal", "label_address"))
    unread = _Unread(judge.name, "turns")

    async def judged(question: Question) -> float | None:
        answer = await _judged(question, judge, store, texts)
        unread.count(answer is not None)
        return answer

    answers = await gather_bounded(judged, questions, limit=concurrency, progress=progress)
    labels = [
        replace(asked.label, label=answer, source=judge.name)
        for asked, answer in zip(questions, answers, strict=True)
        if answer is not None
    ]
    return labels, len(questions) - len(labels)


async def _judged(question: Question, judge: ChatModel, store: AnswerStore, texts: Prompts) -> float | None:
    """The probability that the judge gives, through the store of paid answers; None if no answer could be read."""
    said = [(side, text) for before in question.before for side, text in zip(_SIDES, before, strict=True)]
    others = [("concern", question.concern), *said, ("turn_to_judge", question.turn)]
    parts = [fenced(name, heard(text)) for name, text in others]
    messages = [
        Message("system", texts.fill(f"label_{question.label.kind}")),
        Message("user", "\n\n".join([*parts, 'Answer with one JSON object: {"probability": 0.0}'])),
    ]

    def ask(messages: Sequence[Message], attempt: int) -> Awaitable[Answer]:
        return store.ask(
            judge,
            messages,
            temperature=0,
            max_tokens=MAX_TOKENS,
            json_schema=SCHEMA,
            namespace=f"{question.label.case_id}/{attempt}",
        )

    return (await ask_until(ask, messages, _probability, attempts=ATTEMPTS)).value


def _probability(answer: Answer) -> float:
    value = read_object(answer.text).get("probability")
    if not is_share(value):
        raise Unfit('"probability" is not a number from 0 to 1')
    return float(value)
