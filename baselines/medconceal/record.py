"""What a dialogue with the reserved patient leaves behind: an `Episode` of typed exchanges.

    Episode -> Exchange (one clinician turn and the reply) -> TurnEvaluation -> Features
                                                           -> ConcernTrace (one a concern)

Turns count from 1. `to_json` and `from_json` are inverse to each other. What the profile hides stands in
`Episode.hidden` and nowhere else, apart from what the patient has said aloud: `public` drops it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from loaders.errors import InputError
from loaders.medconceal import Task

Mode = Literal["fixed", "adaptive", "until_addressed", "transcript"]
Stopped = Literal["turn_limit", "clinician", "addressed", "transcript_end"]
Obtained = Literal["model", "rules", "rules_after_failure", "silence"]
ReplySource = Literal["model", "template", "neutral", "transcript"]

HIDDEN, REVEALED, ADDRESSED = 0, 1, 2
FEATURES = ("DG", "ER", "PA", "CE", "SP", "NS", "CM", "PS", "PQC", "MR")
"""The keys of Table 13, in the paper's order."""


@dataclass(frozen=True, slots=True)
class Features:
    """The ten rubric features of a clinician's turn, each in [0, 1] (Table 13)."""

    DG: float = 0.0
    ER: float = 0.0
    PA: float = 0.0
    CE: float = 0.0
    SP: float = 0.0
    NS: float = 0.0
    CM: float = 0.0
    PS: float = 0.0
    PQC: float = 0.5
    MR: float = 0.0

    def __post_init__(self) -> None:
        for key in FEATURES:
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, float | int) or not 0 <= value <= 1:
                raise ValueError(f"feature {key} is {value!r}, not a number in [0, 1]")

    @property
    def vector(self) -> tuple[float, ...]:
        """The features in the order of FEATURES."""
        return tuple(float(getattr(self, key)) for key in FEATURES)

    def to_json(self) -> dict[str, float]:
        """Key -> value."""
        return dict(zip(FEATURES, self.vector, strict=True))

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Features:
        """The features that `to_json` wrote; all ten must be there."""
        return cls(**{key: read[key] for key in FEATURES})


@dataclass(frozen=True, slots=True)
class TurnEvaluation:
    """What the turn evaluator says of one clinician turn (Appendix F.1).

    `pending_covered` is None when no question of the patient was pending. `empathy` in [0, 1] is logged and used by
    nothing (MC-G22). `label_probe` is the finding of the regular expressions (`probes`), whoever gave the features.
    `obtained` is how: by the model, by the rules as asked for, by the rules because no answer of the model could be
    used, or without looking because the turn is empty. `attempts` counts the model's answers.
    """

    intent: str
    intent_probabilities: Mapping[str, float]
    features: Features
    pending_covered: bool | None
    empathy: float
    label_probe: bool
    obtained: Obtained
    attempts: int

    def to_json(self) -> dict[str, Any]:
        """The evaluation as JSON."""
        return {
            "intent": self.intent,
            "intent_probabilities": dict(self.intent_probabilities),
            "features": self.features.to_json(),
            "pending_covered": self.pending_covered,
            "empathy": self.empathy,
            "label_probe": self.label_probe,
            "obtained": self.obtained,
            "attempts": self.attempts,
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> TurnEvaluation:
        """The evaluation that `to_json` wrote."""
        return cls(
            intent=str(read["intent"]),
            intent_probabilities={str(name): float(p) for name, p in read["intent_probabilities"].items()},
            features=Features.from_json(read["features"]),
            pending_covered=None if read["pending_covered"] is None else bool(read["pending_covered"]),
            empathy=float(read["empathy"]),
            label_probe=bool(read["label_probe"]),
            obtained=_one_of(read["obtained"], Obtained),
            attempts=int(read["attempts"]),
        )


@dataclass(frozen=True, slots=True)
class ConcernTrace:
    """One concern after one turn: its state, its reveal evidence E and address evidence A, and what moved them.

    `p_reveal` and `overlap` are None on turns that could not move E (a concern that is out, a blocked turn, a concern
    that the task does not track); `p_address` is None on turns that could not move A.
    """

    state: int
    evidence: float
    address_evidence: float
    p_reveal: float | None = None
    overlap: float | None = None
    p_address: float | None = None

    def __post_init__(self) -> None:
        if self.state not in (HIDDEN, REVEALED, ADDRESSED):
            raise ValueError(f"state {self.state!r}")

    def to_json(self) -> dict[str, Any]:
        """The trace as JSON."""
        return {
            "state": self.state,
            "evidence": self.evidence,
            "address_evidence": self.address_evidence,
            "p_reveal": self.p_reveal,
            "overlap": self.overlap,
            "p_address": self.p_address,
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> ConcernTrace:
        """The trace that `to_json` wrote."""
        return cls(
            state=int(read["state"]),
            evidence=float(read["evidence"]),
            address_evidence=float(read["address_evidence"]),
            p_reveal=_number(read["p_reveal"]),
            overlap=_number(read["overlap"]),
            p_address=_number(read["p_address"]),
        )


@dataclass(frozen=True, slots=True)
class LeakCheck:
    """Which hidden concerns a drafted reply gives away (by index), and by which rules of `leaks`. Holds no text."""

    concerns: tuple[int, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def leaked(self) -> bool:
        return bool(self.concerns)

    def to_json(self) -> dict[str, Any]:
        """The check as JSON."""
        return {"concerns": list(self.concerns), "rules": list(self.rules)}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> LeakCheck:
        """The check that `to_json` wrote."""
        return cls(tuple(map(int, read["concerns"])), tuple(map(str, read["rules"])))


@dataclass(frozen=True, slots=True)
class Exchange:
    """One clinician turn and the patient's reply.

    `clinician` is the text as sent; where it is longer than evaluator and patient hear, `clipped` is True. `pending` is
    the patient's question that this turn could answer. `blocked` says that a probe kept all reveal evidence still.
    `revealed` and `addressed` are the concerns whose state moved on this turn, `voiced` those newly revealed ones that
    the reply puts into words (`leaks.says`). `leak` is the check of the first draft; when it leaked, a second draft was
    asked for (`regenerated`), and `source` is "neutral" when that one failed too. `trimmed` says that a reply was cut.
    """

    turn: int
    clinician: str
    clipped: bool
    pending: str | None
    evaluation: TurnEvaluation
    blocked: bool
    revealed: tuple[int, ...]
    addressed: tuple[int, ...]
    traces: tuple[ConcernTrace, ...]
    patient: str
    source: ReplySource
    leak: LeakCheck
    regenerated: bool
    trimmed: bool
    voiced: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """The exchange as JSON."""
        return {
            "turn": self.turn,
            "clinician": self.clinician,
            "clipped": self.clipped,
            "pending": self.pending,
            "evaluation": self.evaluation.to_json(),
            "blocked": self.blocked,
            "revealed": list(self.revealed),
            "addressed": list(self.addressed),
            "traces": [trace.to_json() for trace in self.traces],
            "patient": self.patient,
            "source": self.source,
            "leak": self.leak.to_json(),
            "regenerated": self.regenerated,
            "trimmed": self.trimmed,
            "voiced": list(self.voiced),
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Exchange:
        """The exchange that `to_json` wrote."""
        return cls(
            turn=int(read["turn"]),
            clinician=str(read["clinician"]),
            clipped=bool(read["clipped"]),
            pending=None if read["pending"] is None else str(read["pending"]),
            evaluation=TurnEvaluation.from_json(read["evaluation"]),
            blocked=bool(read["blocked"]),
            revealed=tuple(map(int, read["revealed"])),
            addressed=tuple(map(int, read["addressed"])),
            traces=tuple(ConcernTrace.from_json(trace) for trace in read["traces"]),
            patient=str(read["patient"]),
            source=_one_of(read["source"], ReplySource),
            leak=LeakCheck.from_json(read["leak"]),
            regenerated=bool(read["regenerated"]),
            trimmed=bool(read["trimmed"]),
            voiced=tuple(map(int, read["voiced"])),
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """A concern that a clinician says the patient has: one of the four categories, or whatever it wrote, and a text."""

    category: str
    description: str


@dataclass(frozen=True, slots=True)
class Findings:
    """What a clinician submits after a confirmation dialogue.

    No items and no failure means that it submitted none. `failure` says why none of its `attempts` answers could be
    read, `raw` is the last of them (its beginning, where it is very long), and `omitted` counts items beyond the most
    that are kept.
    """

    items: tuple[Finding, ...]
    raw: str = ""
    attempts: int = 0
    failure: str | None = None
    omitted: int = 0

    def to_json(self) -> dict[str, Any]:
        """The findings as JSON."""
        return asdict(self) | {"items": [asdict(item) for item in self.items]}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Findings:
        """The findings that `to_json` wrote."""
        return cls(
            items=tuple(Finding(str(item["category"]), str(item["description"])) for item in read["items"]),
            raw=str(read["raw"]),
            attempts=int(read["attempts"]),
            failure=None if read["failure"] is None else str(read["failure"]),
            omitted=int(read["omitted"]),
        )


@dataclass(frozen=True, slots=True)
class HiddenConcern:
    """What the profile hides about one concern; for scoring and for reports that fold it away. Silent in logs."""

    content: str = field(repr=False)
    evidence: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Episode:
    """One played case.

    Concerns are numbered as in the profile, and tuples by concern (`categories`, `states`, `reveal_turns`,
    `address_turns`, `hidden`, the traces of an exchange) all have that order. In an intervention only the `primary` one
    moves (MC-G48). `mode` and `turn_limit` say when it had to end, `stopped` why it did. `unread_decisions` counts
    answers to the question STOP or CONTINUE that were neither, and so read as CONTINUE (MC-G33).
    """

    case_id: str
    task: Task
    mode: Mode
    turn_limit: int
    categories: tuple[str, ...]
    primary: int
    exchanges: tuple[Exchange, ...]
    states: tuple[int, ...]
    reveal_turns: tuple[int | None, ...]
    address_turns: tuple[int | None, ...]
    stopped: Stopped
    unread_decisions: int
    findings: Findings | None
    hidden: tuple[HiddenConcern, ...] | None

    def __post_init__(self) -> None:
        sizes = {len(self.categories), len(self.states), len(self.reveal_turns), len(self.address_turns)}
        sizes |= {len(exchange.traces) for exchange in self.exchanges}
        if self.hidden is not None:
            sizes.add(len(self.hidden))
        if len(sizes) != 1:
            raise ValueError(f"{sorted(sizes)} concerns in one episode")
        if not 0 <= self.primary < len(self.categories):
            raise ValueError(f"primary concern {self.primary} of {len(self.categories)}")

    @property
    def public(self) -> Episode:
        """The episode without what the profile hides; what the patient said aloud stays."""
        return replace(self, hidden=None)

    @property
    def success(self) -> bool:
        """Whether the primary concern was addressed (Equation 8)."""
        return self.states[self.primary] == ADDRESSED

    @property
    def leaks(self) -> int:
        """How many first drafts of the patient's replies leaked."""
        return sum(exchange.leak.leaked for exchange in self.exchanges)

    def to_json(self) -> dict[str, Any]:
        """The episode as JSON."""
        hidden = (
            None
            if self.hidden is None
            else [{"content": concern.content, "evidence": list(concern.evidence)} for concern in self.hidden]
        )
        return {
            "case_id": self.case_id,
            "task": self.task,
            "mode": self.mode,
            "turn_limit": self.turn_limit,
            "categories": list(self.categories),
            "primary": self.primary,
            "exchanges": [exchange.to_json() for exchange in self.exchanges],
            "states": list(self.states),
            "reveal_turns": list(self.reveal_turns),
            "address_turns": list(self.address_turns),
            "stopped": self.stopped,
            "unread_decisions": self.unread_decisions,
            "findings": None if self.findings is None else self.findings.to_json(),
            "hidden": hidden,
        }

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Episode:
        """The episode that `to_json` wrote. Raises InputError for anything else."""
        try:
            hidden = read["hidden"]
            return cls(
                case_id=str(read["case_id"]),
                task=_one_of(read["task"], Task),
                mode=_one_of(read["mode"], Mode),
                turn_limit=int(read["turn_limit"]),
                categories=tuple(map(str, read["categories"])),
                primary=int(read["primary"]),
                exchanges=tuple(Exchange.from_json(exchange) for exchange in read["exchanges"]),
                states=tuple(map(int, read["states"])),
                reveal_turns=tuple(map(_turn, read["reveal_turns"])),
                address_turns=tuple(map(_turn, read["address_turns"])),
                stopped=_one_of(read["stopped"], Stopped),
                unread_decisions=int(read["unread_decisions"]),
                findings=None if read["findings"] is None else Findings.from_json(read["findings"]),
                hidden=None
                if hidden is None
                else tuple(HiddenConcern(str(one["content"]), tuple(map(str, one["evidence"]))) for one in hidden),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise InputError("record of an episode", found=f"cannot be read: {reason}", do="Play it again") from None


def _one_of(value: Any, kind: Any) -> Any:
    if value not in get_args(kind):
        raise ValueError(f"{value!r} is none of {', '.join(get_args(kind))}")
    return value


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no number")
    return number


def _turn(value: Any) -> int | None:
    return None if value is None else int(value)
