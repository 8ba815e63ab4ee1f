"""The two tasks of MedConceal as games: confirmation (surface what is hidden) and intervention (resolve the main one).

    game = task_game(Rules("confirmation"))
    episode = await game.play(profile, ask)

Each turn: the clinician speaks, the evaluator rates the turn, the policy moves the state, the patient answers from the
new state (MC-G5, G28). Confirmation runs for 8 turns, or for up to 20 with the clinician free to stop from turn 5 on;
then the clinician submits findings. Intervention runs until the primary concern is addressed, 8 or 20 turns at most;
the clinician cannot end it (Section 3, MC-G34).

A person has a clock instead (`timed`): at most 5 to 40 turns, until time is up, or in a confirmation until the person
ends it.

With `evaluator="rules"` or `patient="template"` no model is asked in that role.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, Protocol, get_args, runtime_checkable

from baselines.dialogue.game import Ask, Game
from baselines.medconceal import clinician, rubric
from baselines.medconceal import patient as patient_side
from baselines.medconceal import rules as by_rules
from baselines.medconceal.leaks import Guard
from baselines.medconceal.machine import Concern, PatientState, Update, nearness, start, step, take_back
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.record import (
    ADDRESSED,
    HIDDEN,
    Cut,
    Episode,
    Exchange,
    Findings,
    Mode,
    Stopped,
    TurnEvaluation,
    hidden_of,
)
from baselines.medconceal.untrusted import clipped, heard
from baselines.medconceal.words import content_roots
from loaders.errors import ModelError
from loaders.medconceal import Chart, PatientProfile, Task, chart
from loaders.models.asking import said_by
from loaders.models.messages import Decoding, Message
from loaders.models.prompts import Prompts

FORMAT = 11
"""Version of the rules: raise it when the code changes them in a way that no setting shows."""

FIRST_STOP = 5
TURNS = (8, 20)
MOST_TIMED = 40
"""The largest number of turns to which a talk with a clock may be limited."""
TIME_UP, FINISHED = "time", "finished"
"""`Answer.stop` of a person who has no next turn: the time is up, or it was ended."""

Evaluator = Literal["model", "rules"]
Patient = Literal["model", "template"]


@runtime_checkable
class Watching(Protocol):
    """An `Ask` that is told of each exchange once it is over, before anybody is asked for the next turn."""

    def watch(self, exchange: Exchange) -> None:
        """The exchange, with how its reply came about."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What two plays of a case have in common.

    `turns` is 8 in a confirmation (all of them played) or 20 (STOP or CONTINUE from turn 5 on); in an intervention, or
    if `timed`, it is the maximum. `prompts` are those of `clinician.prompts`; `temperature` is the clinician's.
    `strict`: if no rating of the evaluator can be read, the case ends with a ModelError instead of a rating by the
    rules.
    """

    task: Task
    turns: int = 8
    policy: PolicyConfig = DEFAULT
    prompts: Prompts = field(default_factory=clinician.prompts)
    evaluator: Evaluator = "model"
    patient: Patient = "model"
    temperature: float | None = 0.0
    timed: bool = False
    strict: bool = False

    @property
    def mode(self) -> Mode:
        if self.timed:
            return "timed"
        if self.task == "intervention":
            return "until_addressed"
        return "fixed" if self.turns == TURNS[0] else "adaptive"


def task_game(rules: Rules) -> Game[PatientProfile, Episode]:
    """Task 1 (confirmation) or 2 (intervention)."""
    decoding = {"clinician": _clinician(rules)}
    decoding |= {"patient": patient_side.DECODING} if rules.patient == "model" else {}
    decoding |= {"evaluator": rubric.DECODING} if rules.evaluator == "model" else {}
    return Game(
        name=rules.task,
        roles=tuple(decoding),
        case_id=lambda profile: profile.case_id,
        play=partial(_play, rules),
        transcript=lambda profile, episode: transcript(episode),
        scores=scores,
        secrets=secrets,
        public=public,
        # Everything besides case and models that changes what is played.
        settings={
            "format": FORMAT,
            "task": rules.task,
            "turns": rules.turns,
            "policy": rules.policy.digest,
            "policy_name": rules.policy.name,
            "overlap": rules.policy.overlap,
            "prompts": rules.prompts.digests,
            "evaluator": rules.evaluator,
            "patient": rules.patient,
            **({"timed": True} if rules.timed else {}),
        },
        decoding=decoding,
    )


def _clinician(rules: Rules) -> Decoding:
    return {"temperature": rules.temperature, "max_tokens": clinician.MAX_TOKENS}


_ENDS: Mapping[str, Stopped] = {TIME_UP: "time", FINISHED: "clinician"}
_CUTS: Mapping[str, Cut] = {cut: cut for cut in get_args(Cut)}
MIDDLE = 1  # the depth of a concern that states none


def concerns_of(profile: PatientProfile, seen: Chart) -> tuple[Concern, ...]:
    """The concerns of a case in the form that the policy takes; words of the chart touch none of them."""
    known = content_roots(" ".join(text for _, text in seen.lines()))
    return tuple(
        Concern.of(
            hidden.content,
            concern.category,
            topics=hidden.topics,
            evidence=hidden.evidence,
            known=known,
            openness=profile.roleplay.openness or "guarded",
            literacy=profile.health_literacy,
            depth=MIDDLE if concern.depth is None else concern.depth,
        )
        for concern, hidden in zip(profile.hidden_concerns, hidden_of(profile), strict=True)
    )


class CaseInPlay:
    """One case while it is played: the state, what has been said, and what may be said.

    `task` decides which concerns can move. The caller asks the evaluator and the patient; this class keeps what they
    must be told and what they did, in step with each other.
    """

    def __init__(self, profile: PatientProfile, task: Task, policy: PolicyConfig) -> None:
        self.profile = profile
        self.task = task
        self.policy = policy
        self.chart = chart(profile, task)
        self.guard = Guard(profile, self.chart)
        self.concerns = concerns_of(profile, self.chart)
        self.state: PatientState = start(len(self.concerns), profile.intervention.primary_concern, task)
        self.exchanges: list[Exchange] = []
        self.pending: rubric.Pending | None = None

    async def rate(
        self, ask: Ask | None, prompts: Prompts, turn: str, *, strict: bool = False
    ) -> tuple[TurnEvaluation, tuple[float, ...] | None]:
        """The evaluation of the next turn and, if the policy has that rated, how near it comes to each concern.

        By the rules if `ask` is None. Topics without an answer are measured by words; the evaluation says so. With
        `strict`, this and a rating by the rules in place of a model are a ModelError, raised right after the unusable
        answers.
        """
        question = None if self.pending is None else self.pending.question
        said = self._heard
        window = [heard(exchange.clinician) for exchange in self.exchanges[-rubric.WINDOW :]]
        if ask is None:
            return by_rules.evaluate(turn, question, said, window), None
        evaluation = await rubric.evaluate(ask, prompts, turn, window, question, said)
        if strict and evaluation.obtained == "rules_after_failure":
            raise ModelError("evaluator", found=f"no rating that can be read in {evaluation.attempts} answers")
        if self.policy.overlap != "rated":
            return evaluation, None
        topics = [concern.topics or concern.evidence for concern in hidden_of(self.profile)]
        near = await rubric.relevance(ask, prompts, turn, said, topics, case_id=self.profile.case_id)
        if strict and near is None:
            raise ModelError("evaluator", found=f"no ratings of topics in {rubric.ATTEMPTS} answers")
        return replace(evaluation, relevance="topics_after_failure" if near is None else "model"), near

    @property
    def _heard(self) -> str:
        """The patient's last words."""
        return self.exchanges[-1].patient if self.exchanges else ""

    def move(self, evaluation: TurnEvaluation, turn: str, near: Sequence[float] | None = None) -> Update:
        """Apply the turn to the state; `near` is what `rate` returned for it."""
        self.state, update = step(self.policy, self.state, evaluation, self.concerns, turn, near, self._heard)
        return update

    def settle(self, update: Update, spoken: patient_side.Spoken) -> Update:
        """The turn's effect once the reply is known: a concern that the reply did not say is still hidden."""
        unsaid = [index for index in update.revealed if index not in spoken.voiced]
        self.state, update = take_back(self.state, update, unsaid)
        return update

    def keep(
        self,
        turn: str,
        evaluation: TurnEvaluation,
        update: Update,
        spoken: patient_side.Spoken,
        cut: Cut | None = None,
    ) -> None:
        """Record the exchange; `turn` is the clinician's text as sent, and `cut` why it breaks off."""
        traces = tuple(
            replace(trace, nearness=nearness(self.policy, concern, self.task)) if at in self.state.tracked else trace
            for at, (trace, concern) in enumerate(zip(update.traces, self.state.concerns, strict=True))
        )
        self.exchanges.append(
            Exchange(
                turn=self.state.turn,
                clinician=turn,
                clipped=clipped(turn),
                pending=None if self.pending is None else self.pending.question,
                evaluation=evaluation,
                blocked=update.blocked,
                revealed=update.revealed,
                addressed=update.addressed,
                traces=traces,
                patient=spoken.text,
                source=spoken.source,
                leak=spoken.leak,
                regenerated=spoken.regenerated,
                trimmed=spoken.trimmed,
                voiced=spoken.voiced,
                unsaid=update.unsaid,
                faults=spoken.faults,
                cut=cut,
            )
        )
        self.pending = rubric.next_pending(self.pending, evaluation, spoken.text)

    def episode(
        self,
        *,
        mode: Mode,
        turn_limit: int,
        stopped: Stopped,
        unread_decisions: int = 0,
        findings: Findings | None = None,
    ) -> Episode:
        """What has been played."""
        profile, concerns = self.profile, self.state.concerns
        return Episode(
            case_id=profile.case_id,
            task=self.task,
            mode=mode,
            turn_limit=turn_limit,
            categories=tuple(concern.category for concern in profile.hidden_concerns),
            primary=profile.intervention.primary_concern,
            exchanges=tuple(self.exchanges),
            states=tuple(concern.state for concern in concerns),
            reveal_turns=tuple(concern.revealed_at for concern in concerns),
            address_turns=tuple(concern.addressed_at for concern in concerns),
            stopped=stopped,
            unread_decisions=unread_decisions,
            findings=findings,
            hidden=hidden_of(profile),
        )


async def _play(rules: Rules, profile: PatientProfile, ask: Ask) -> Episode:
    in_play = CaseInPlay(profile, rules.task, rules.policy)
    texts = rules.prompts
    evaluator = ask if rules.evaluator == "model" else None
    patient = ask if rules.patient == "model" else None
    system = clinician.system_prompt(texts, in_play.chart)
    primary = profile.intervention.primary_concern
    stopped: Stopped = "turn_limit"
    unread = 0
    for number in range(1, rules.turns + 1):
        messages = clinician.conversation(system, in_play.exchanges)
        answer = await ask("clinician", messages, **_clinician(rules))
        if rules.timed and answer.stop in _ENDS:
            stopped = _ENDS[answer.stop]
            break
        turn = said_by(answer.text, "clinician")
        text = heard(turn)
        evaluation, near = await in_play.rate(evaluator, texts, text, strict=rules.strict)
        update = in_play.move(evaluation, text, near)
        view = patient_side.show(profile, in_play.chart, in_play.state, update, text, in_play.exchanges, in_play.guard)
        spoken = await patient_side.speak(
            patient, texts, view, text, in_play.exchanges, in_play.guard, in_play.state, update.revealed
        )
        update = in_play.settle(update, spoken)
        in_play.keep(turn, evaluation, update, spoken, None if rules.timed else _CUTS.get(answer.stop, ""))
        if isinstance(ask, Watching):
            ask.watch(in_play.exchanges[-1])
        if rules.task == "intervention" and in_play.state.concerns[primary].state == ADDRESSED:
            stopped = "addressed"
            break
        if rules.mode == "adaptive" and FIRST_STOP <= number < rules.turns:
            messages = clinician.conversation(system, in_play.exchanges)
            stops = await clinician.wants_to_stop(ask, texts, messages)
            unread += stops is None
            if stops:
                stopped = "clinician"
                break
    findings = None
    if rules.task == "confirmation":
        findings = await clinician.submit(ask, texts, clinician.conversation(system, in_play.exchanges))
    return in_play.episode(
        mode=rules.mode,
        turn_limit=rules.turns,
        stopped=stopped,
        unread_decisions=unread,
        findings=findings,
    )


def scores(episode: Episode) -> Mapping[str, float]:
    """The numbers of one case that a log viewer shows; none of them needs a judge."""
    tracked = [episode.primary] if episode.task == "intervention" else range(len(episode.states))
    numbers = {
        "turns": float(len(episode.exchanges)),
        "revealed": sum(episode.states[index] != HIDDEN for index in tracked) / len(tracked),
        "blocked": float(sum(exchange.blocked for exchange in episode.exchanges)),
        "leaks": float(episode.leaks),
    }
    if episode.task == "intervention":
        numbers["success"] = float(episode.success)
    return numbers


def secrets(profile: PatientProfile) -> list[str]:
    """The texts of all hidden concerns, and the cues by which the patient hints at them."""
    cues = [concern.cue.get_secret_value() for concern in profile.hidden_concerns if concern.cue is not None]
    return [text for concern in hidden_of(profile) for text in concern.texts] + cues


def concern_texts(episode: Episode) -> list[str]:
    """The texts of the concerns of an episode that still holds them; it never held the cues."""
    return [text for concern in episode.hidden or () for text in concern.texts]


def public(episode: Episode) -> Episode:
    """The episode without what the profile hides."""
    return replace(episode, hidden=None)


def transcript(episode: Episode) -> Sequence[Message]:
    """The dialogue as the clinician saw it: the clinician as assistant, the patient as user."""
    return [
        message
        for exchange in episode.exchanges
        for message in (Message("assistant", exchange.clinician), Message("user", exchange.patient))
    ]
