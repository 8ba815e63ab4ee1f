"""What a dialogue with the reserved patient leaves behind: an `Episode` of typed exchanges.

    Episode -> Exchange (one clinician turn and the reply) -> TurnEvaluation -> Features
                                                           -> ConcernTrace (one a concern)

Turns count from 1. The fields are those of a line of `dialogues.jsonl` (`loaders.files.records`). What the profile
hides is in `Episode.hidden` and nowhere else, apart from what the patient has said aloud.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeGuard

from pydantic import Field

from loaders.files.bundled import bundled
from loaders.files.records import GROWN
from loaders.medconceal import PatientProfile, Task

Mode = Literal["fixed", "adaptive", "until_addressed", "transcript", "timed"]
Stopped = Literal["turn_limit", "clinician", "addressed", "transcript_end", "time", "interrupted", "withdrawn"]
Obtained = Literal["model", "rules", "rules_after_failure", "silence"]
Relevance = Literal["", "model", "topics_after_failure"]
Cut = Literal["", "max_tokens", "content_filter", "model_length"]
ReplySource = Literal["model", "template", "neutral", "transcript"]

HIDDEN, REVEALED, ADDRESSED = 0, 1, 2
FEATURES = ("DG", "ER", "PA", "CE", "SP", "NS", "CM", "PS", "PQC", "MR")
"""The keys of Table 13, in the paper's order."""
_INTENTS = bundled("baselines.medconceal", "intents.csv")
INTENTS = {row["intent"]: row["meaning"] for row in _INTENTS}
"""The intents and what they mean; the paper names only the meta-category probe (MC-G18)."""
FEATURE_OF = {row["intent"]: row["feature"] for row in _INTENTS if row["feature"]}
"""Intent -> the feature that defines it, where one does."""


def is_share(value: object) -> TypeGuard[float]:
    """Whether it is a number in [0, 1]; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


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
            if not is_share(value):
                raise ValueError(f"feature {key} is {value!r}", "a number in [0, 1]")

    @property
    def vector(self) -> tuple[float, ...]:
        """The features in the order of FEATURES."""
        return tuple(float(getattr(self, key)) for key in FEATURES)


@dataclass(frozen=True, slots=True)
class TurnEvaluation:
    """The turn evaluator's rating of one clinician turn (Appendix F.1).

    `pending_covered` is None if no question of the patient was pending. `empathy` in [0, 1] is logged but not used
    (MC-G22). `label_probe` is the finding of the regular expressions (`probes`), whoever gave the features. `obtained`
    says how: by the model, by the rules as requested, by the rules because no answer of the model could be used, or
    without looking because the turn is empty. `attempts` counts the model's answers. `relevance` says who measured how
    near the turn comes to the concerns, if a model was to (`--overlap rated`).
    """

    intent: str
    intent_probabilities: Mapping[str, float]
    features: Features
    pending_covered: bool | None
    empathy: float
    label_probe: bool
    obtained: Obtained
    attempts: int
    relevance: Annotated[Relevance, GROWN] = ""


@dataclass(frozen=True, slots=True)
class ConcernTrace:
    """One concern after one turn: its state, its reveal evidence E and address evidence A, and what moved them.

    `p_reveal` and `overlap` are None on turns that could not move E (a concern that is out, a blocked turn, a concern
    that the task does not track); `p_address` is None on turns that could not move A. `nearness` is how near it is to
    what the task asks for (`machine.nearness`); None if the task does not track it, and in runs that did not record it.
    """

    state: int
    evidence: float
    address_evidence: float
    p_reveal: float | None = None
    overlap: float | None = None
    p_address: float | None = None
    nearness: Annotated[float | None, Field(exclude_if=lambda value: value is None)] = None

    def __post_init__(self) -> None:
        if self.state not in (HIDDEN, REVEALED, ADDRESSED):
            raise ValueError(f"state {self.state!r}", f"{HIDDEN}, {REVEALED} or {ADDRESSED}")


@dataclass(frozen=True, slots=True)
class LeakCheck:
    """Which hidden concerns a drafted reply gives away (by index), and by which rules of `leaks`. Holds no text."""

    concerns: tuple[int, ...] = ()
    rules: tuple[str, ...] = ()

    @property
    def leaked(self) -> bool:
        return bool(self.concerns)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One clinician turn and the patient's reply.

    `clinician` is the text as sent; if it is longer than evaluator and patient hear, `clipped` is True. `pending` is
    the patient's question that this turn could answer. `blocked` says that a probe froze all reveal evidence.
    `revealed` and `addressed` are the concerns whose state changed on this turn, `voiced` those newly revealed ones
    that the reply puts into words (`leaks.says`). `leak` is the check of the first draft; if it leaked, a second draft
    was requested (`regenerated`), and `source` is "neutral" if that one failed too. `trimmed` says that a reply was
    cut. `faults` says of each rejected draft why (`patient.FAULTS`), and `unsaid` which concerns were due but stayed
    hidden, since no reply could be obtained that says them. Runs before format 2 have neither. `cut` says why the
    clinician's answer breaks off or is missing (`Answer.stop`), "" if it is whole; None if a person spoke, and in runs
    that did not record it.
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
    unsaid: Annotated[tuple[int, ...], GROWN] = ()
    faults: Annotated[tuple[str, ...], GROWN] = ()
    cut: Annotated[Cut | None, Field(exclude_if=lambda value: value is None)] = None

    @property
    def drafted(self) -> bool:
        """Whether a model was asked for the reply: none is for a turn without words, or if a template speaks."""
        return bool(self.clinician.strip()) and (self.source == "model" or bool(self.faults))

    @property
    def replaced(self) -> str:
        """Why a fixed sentence stands in place of a model's reply, by what was wrong with the last draft; or ""."""
        return self.faults[-1] if self.drafted and self.source != "model" else ""


@dataclass(frozen=True, slots=True)
class SubmittedFinding:
    """A concern that a clinician says the patient has: one of the four categories, or whatever it wrote, and a text.

    `quote` is what a person picked from the patient's words to support it; models give none.
    """

    category: str
    description: str
    quote: Annotated[str, GROWN] = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a clinician submits after a confirmation dialogue.

    No items and no failure means that it submitted none. `failure` says why none of its `attempts` answers could be
    read, `raw` is the last of them (its beginning, if it is very long), and `omitted` counts items beyond the maximum
    that is kept.
    """

    items: tuple[SubmittedFinding, ...]
    raw: str = ""
    attempts: int = 0
    failure: str | None = None
    omitted: int = 0

    @property
    def unread(self) -> bool:
        """Whether answers were given and none could be read, so that it counts as without findings."""
        return self.attempts > 0 and self.failure is not None


@dataclass(frozen=True, slots=True)
class HiddenConcern:
    """What the profile hides about one concern; for scoring and for reports that fold it away. Kept out of logs."""

    content: str = field(repr=False)
    evidence: tuple[str, ...] = field(repr=False)
    topics: Annotated[tuple[str, ...], GROWN] = field(default=(), repr=False)

    @property
    def texts(self) -> tuple[str, ...]:
        """It as texts, the patient's own words first."""
        return (*self.evidence, self.content)


def hidden_of(profile: PatientProfile) -> tuple[HiddenConcern, ...]:
    """What a case hides, in the form in which an episode keeps it for scoring."""
    return tuple(
        HiddenConcern(
            concern.content.get_secret_value(),
            tuple(snippet.get_secret_value() for snippet in concern.evidence),
            tuple(term.get_secret_value() for term in concern.topics),
        )
        for concern in profile.hidden_concerns
    )


@dataclass(frozen=True, slots=True)
class Encounter:
    """Who in a study had the dialogue, by a pseudonym, and when each turn was sent and its reply shown.

    Times are seconds from the start of the encounter, one per turn; empty if nobody recorded them. `allowed` are the
    seconds that the person had; None without a limit, and in a file that does not say.
    """

    participant: str
    encounter: str
    sent: tuple[float, ...] = ()
    shown: tuple[float, ...] = ()
    allowed: Annotated[float | None, GROWN] = None


@dataclass(frozen=True, slots=True)
class Episode:
    """One played case.

    Concerns are numbered as in the profile, and tuples by concern (`categories`, `states`, `reveal_turns`,
    `address_turns`, `hidden`, the traces of an exchange) all have that order. In an intervention only the `primary` one
    moves (MC-G48). `mode` and `turn_limit` say when it had to end, `stopped` why it did. `unread_decisions` counts
    answers to the question STOP or CONTINUE that were neither, and so were taken as CONTINUE (MC-G33). `encounter` is
    present if a person spoke.
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
    encounter: Annotated[Encounter | None, GROWN] = None

    def __post_init__(self) -> None:
        sizes = {len(self.categories), len(self.states), len(self.reveal_turns), len(self.address_turns)}
        sizes |= {len(exchange.traces) for exchange in self.exchanges}
        if self.hidden is not None:
            sizes.add(len(self.hidden))
        if len(sizes) != 1:
            raise ValueError(f"{sorted(sizes)} concerns in one episode", "one number of them")
        if not 0 <= self.primary < len(self.categories):
            raise ValueError(f"primary concern {self.primary} of {len(self.categories)}")

    @property
    def success(self) -> bool:
        """Whether the primary concern was addressed (Equation 8)."""
        return self.states[self.primary] == ADDRESSED

    @property
    def leaks(self) -> int:
        """How many first drafts of the patient's replies leaked."""
        return sum(exchange.leak.leaked for exchange in self.exchanges)
