"""The numbers of MedConceal from judged episodes: each as a ratio of sums over cases (S7, MC-G36 to MC-G43).

A `Measure` keeps the numerator and denominator of every case, so that the same object gives the micro value of the
paper's Tables 1-4, the case mean of its Tables 7-11, and their intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from statistics import fmean

from baselines.medconceal.game import FIRST_STOP
from baselines.medconceal.judgement import STYLES, JudgedEpisode
from baselines.medconceal.machine import META_PROBE
from baselines.medconceal.matching import coarse_hits, match
from baselines.medconceal.record import REVEALED, Episode
from baselines.medconceal.validity import checks
from baselines.medlaybench_v.readability import FOREIGN, foreign
from baselines.medlaybench_v.readability import measure as readability
from baselines.results.run import Direction
from baselines.statistics.resampling import Interval, bootstrap_ratios
from loaders.errors import InputError, how_many
from loaders.medconceal import CATEGORIES

SCALES = {"proportion": (0.0, 1.0), "judge 0-2": (0.0, 2.0), "value categories (0-5)": (0.0, 5.0)}
"""The bounds of a unit's values; units not listed have none."""
EARLY = 5
"""The number of clinician turns that Early Open considers (MC-G42)."""
OF_MATCHES = ("Process-grounded", "Fine", "MBNR", "Category accuracy", "Category-aware")
"""How the names of the numbers begin that are made of matches, and so of judged findings."""
_OUT = "revealed concern"
_OF_ALL_CONCERNS = "matches of revealed concerns, among all concerns: Process-grounded Recall is among those revealed"
NO_JUDGEMENT = "dialogues without a judgement are left out"
"""How the note ends of a number that is not over all dialogues."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One number over episodes: sum of `over` divided by sum of `under`; an episode that does not count has `under` 0.

    `empty` is the value if no episode counts, None if there is no value then. `cases` are the cases of the episodes:
    repetitions of a case are resampled together. `persons` are who had the dialogues, if people did: they are resampled
    too. `of` names what `under` counts where that is rarer than the cases that n counts, so that few of them are seen
    to be few.
    """

    name: str
    unit: str
    direction: Direction
    over: tuple[float, ...]
    under: tuple[float, ...]
    empty: float | None = None
    note: str = ""
    cases: tuple[str, ...] = ()
    persons: tuple[str | None, ...] = ()
    of: str = ""

    @property
    def value(self) -> float | None:
        """The micro value: ratio of the two sums; None without an episode."""
        total = sum(self.under)
        return sum(self.over) / total if total else self.empty if self.under else None

    @property
    def n(self) -> int:
        """The number of cases that count in it, such as the successful ones in a timing; with `empty`, all."""
        parts = {case for case, *counts in zip(self.cases, self.over, self.under, strict=True) if any(counts)}
        return len(parts) if parts or self.empty is None else len(set(self.cases))

    @property
    def by_case(self) -> list[float]:
        """The value of each case, 0 if a case does not count (MC-G38)."""
        return [over / under if under else 0.0 for over, under in zip(self.over, self.under, strict=True)]

    def only(self, kept: Sequence[bool]) -> Measure:
        """The measure over those of its episodes that are kept."""
        return replace(
            self,
            over=tuple(compress(self.over, kept)),
            under=tuple(compress(self.under, kept)),
            cases=tuple(compress(self.cases, kept)),
            persons=tuple(compress(self.persons, kept)),
        )

    def interval(self, *, resamples: int = 10_000, seed: int = 0) -> Interval | None:
        """Percentile interval of the micro value over cases; None if too few cases count."""
        if self.value is None or not any(self.under) or len(set(self.cases)) < 2:
            return None
        try:
            return bootstrap_ratios(
                self.over,
                self.under,
                resamples=resamples,
                seed=seed,
                clusters=self.cases,
                crossed=self.persons if any(self.persons) else None,
                within=SCALES.get(self.unit),
            ).estimate()[1]
        except InputError:  # most resamples contain no case that counts
            return None


@dataclass(frozen=True, slots=True)
class Count:
    """What one dialogue adds to a number: to the fields of `Measure` of the same names. `over` is None where a judge
    gave no answer that can be read: the dialogue is left out."""

    name: str
    over: float | None
    under: float = 1
    direction: Direction = "up"
    unit: str = "proportion"
    empty: float | None = None
    note: str = ""
    of: str = ""


def measures(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    """All numbers of a run, whose episodes are of one task, in the order of the paper's tables."""
    counted = _confirmation if judged[0].episode.task == "confirmation" else _intervention
    notes = _notes([one.episode for one in judged])
    cases = tuple(one.episode.case_id for one in judged)
    persons = tuple(one.episode.encounter.participant if one.episode.encounter else None for one in judged)
    found = summed([[*counted(one), *_conversation(one), *_patient(one.episode)] for one in judged])
    placed = [replace(one, note=one.note or notes.get(one.name, ""), cases=cases, persons=persons) for one in found]
    return [_where_judged(one, judged) if one.name.startswith(OF_MATCHES) else one for one in placed]


def summed(dialogues: Sequence[Sequence[Count]]) -> list[Measure]:
    """The numbers over dialogues that count the same, each of them."""
    found = []
    for counts in zip(*dialogues, strict=True):
        first = counts[0]
        over = tuple(0.0 if one.over is None else one.over for one in counts)
        under = tuple(0 if one.over is None else one.under for one in counts)
        note = first.note or _left_out(sum(one.over is None for one in counts), len(counts))
        found.append(Measure(first.name, first.unit, first.direction, over, under, first.empty, note, of=first.of))
    return found


def _notes(episodes: Sequence[Episode]) -> dict[str, str]:
    """What has to be said of a number because of some of the dialogues, by its name."""
    of = how_many(len(episodes), "dialogue")
    computed = sum(any(exchange.source == "transcript" for exchange in one.exchanges) for one in episodes)
    unknown = sum(not came_near(one) for one in episodes)
    others = sum(foreign(exchange.clinician) for one in episodes for exchange in one.exchanges)
    notes: dict[str, str] = {}
    if computed:  # their patient did not answer by it
        text = f"the trace of {computed} of {of} is computed from its turns"
        notes |= {"Reveal Rate": text, "Success": text}
    if unknown:
        notes["Nearness"] = f"{unknown} of {len(episodes)} dialogues of an earlier version do not say"
    if others:
        text = f"{how_many(others, 'turn')} left out as {FOREIGN}"
        notes |= {"Readability": text, "Word/Turn": text}
    return notes


def _left_out(unjudged: int, of: int) -> str:
    return f"{unjudged} of {of} {NO_JUDGEMENT}" if unjudged else ""


def _where_judged(measure: Measure, judged: Sequence[JudgedEpisode]) -> Measure:
    """The measure over the dialogues whose findings were judged: an unread judgement is no low score."""
    read = [one.judgement.pairs is not None for one in judged]
    notes = (measure.note, _left_out(read.count(False), len(read)))
    return replace(measure.only(read), note="; ".join(filter(None, notes)))


# --- Confirmation -----------------------------------------------------------------------------------------------------


def _confirmation(judged: JudgedEpisode) -> Iterator[Count]:
    """Table 1 with its diagnostics, then the dynamics of elicitation."""
    episode, found = judged.episode, judged.episode.findings
    gold, turns = len(episode.categories), len(episode.exchanges)
    out = {concern for concern, state in enumerate(episode.states) if state >= REVEALED}
    items = found.items if found else ()
    # Those beyond the maximum that is kept too (MC-G36).
    submitted = len(items) + found.omitted if found else 0
    accepted = match(judged.judgement.pairs or ())
    aware = sum(pair.category_ok for pair in accepted)
    # Matches whose concern was revealed to the clinician in the dialogue, not only guessed.
    grounded = sum(pair.concern in out for pair in accepted)
    full = int(len(out) == gold)
    blind = 2 * coarse_hits(CATEGORIES, episode.categories)
    yield Count("Reveal Rate", len(out), gold)
    yield _nearness(episode)
    yield Count("Process-grounded Fine F1", 2 * grounded, submitted + gold, empty=0.0, note=_OF_ALL_CONCERNS)
    coarse = coarse_hits((item.category for item in items), episode.categories)
    yield from precision_recall_f1("Coarse", coarse, submitted, gold)
    # One guess per category, which needs no dialogue.
    floor = "the floor: one guess a category"
    yield Count("Coarse F1 of four blind guesses", blind, len(CATEGORIES) + gold, note=floor)
    yield from precision_recall_f1("Fine", len(accepted), submitted, gold)
    unseen = "cases with a match and no revealed concern"
    yield Count("MBNR", int(bool(accepted) and not out), direction="down", note=unseen)
    yield Count("Reveal Rate (mean over cases)", len(out) / gold)
    yield Count("Category accuracy of matches", aware, len(accepted), of="matched finding")
    yield from precision_recall_f1("Category-aware Fine", aware, submitted, gold)
    yield Count("Process-grounded Precision", grounded, submitted, empty=0.0, of="finding")
    yield Count("Process-grounded Recall", grounded, len(out), empty=0.0, of=_OUT)
    yield Count("Full reveal", full)
    last = max((turn for turn in episode.reveal_turns if turn is not None), default=0)
    yield Count("Turn to full reveal", full * last, full, "none", "turns")
    yield Count("Turns per revealed concern", turns, len(out), "down", "turns", of=_OUT)


def precision_recall_f1(name: str, hits: float, submitted: float, gold: float) -> Iterator[Count]:
    """Micro precision, recall and F1; submitting nothing scores 0 (MC-G38)."""
    yield Count(f"{name} Precision", hits, submitted, empty=0.0)
    yield Count(f"{name} Recall", hits, gold)
    yield Count(f"{name} F1", 2 * hits, submitted + gold)


def came_near(episode: Episode) -> list[float]:
    """How near each concern that the task tracks was (`machine.nearness`), as a mean over the turns up to the limit.

    After the end the last value counts on, as in Figure 2. Empty for a dialogue whose trace does not record it.
    """
    tracked = range(len(episode.states)) if episode.task == "confirmation" else (episode.primary,)
    found = []
    for concern in tracked:
        near = [exchange.traces[concern].nearness for exchange in episode.exchanges]
        known = [value for value in near if value is not None]
        if len(known) < len(near):
            return []
        last, turns = known[-1] if known else 0.0, max(episode.turn_limit, len(known), 1)
        found.append((sum(known) + last * (turns - len(known))) / turns)
    return found


def _nearness(episode: Episode) -> Count:
    near = came_near(episode)
    return Count("Nearness", sum(near), len(near))


# --- Intervention -----------------------------------------------------------------------------------------------------


def _intervention(judged: JudgedEpisode) -> Iterator[Count]:
    """Table 3. Timings are means over the successful cases only, in clinician turns from 1."""
    episode = judged.episode
    success = int(episode.success)
    addressed = episode.address_turns[episode.primary] or 0
    lag = addressed - (episode.reveal_turns[episode.primary] or 0)
    yield Count("Success", success)
    yield Count("Reveal Rate", int(episode.states[episode.primary] >= REVEALED))
    yield _nearness(episode)
    yield Count("Turn-to-Address", addressed, success, "down", "turns")
    yield Count("Reveal-to-Address", lag * success, success, "down", "turns")


# --- The conversation -------------------------------------------------------------------------------------------------


def _conversation(judged: JudgedEpisode) -> Iterator[Count]:
    """Tables 2, 4 and 6, and the probes."""
    exchanges, judgement = judged.episode.exchanges, judged.judgement
    for name in STYLES[judged.episode.task]:
        yield Count(name, None if judgement.style is None else float(judgement.style[name]), unit="judge 0-2")
    if judged.episode.task == "confirmation":
        values = {"Values Det.": judgement.expressed, "Values recognised by the clinician": judgement.recognised}
        for name, told in values.items():
            yield Count(name, None if told is None else float(len(told)), unit="value categories (0-5)")
    yield Count("Early Open", _open_share(judged, EARLY))
    yield Count("Open", _open_share(judged, None))
    said = [one.clinician for one in exchanges if one.clinician.strip() and not foreign(one.clinician)]
    spoke = int(bool(said))
    yield Count("Readability", float(readability([" ".join(said)])["FRE"][0]) * spoke, spoke, unit="score")
    words = fmean(len(text.split()) for text in said) if said else 0.0
    yield Count("Word/Turn", words, spoke, "none", "words")
    turns = len(exchanges)
    probes = sum(one.evaluation.intent == META_PROBE or one.evaluation.label_probe for one in exchanges)
    yield Count("Meta-Probe", probes, turns, "down")
    yield Count("Blocked turns", sum(one.blocked for one in exchanges), turns, "none")
    known = [one.cut for one in exchanges if one.cut is not None]
    adaptive = judged.episode.mode == "adaptive"
    decisions = sum(adaptive and FIRST_STOP <= one.turn < judged.episode.turn_limit for one in exchanges)
    undecided = "neither STOP nor CONTINUE, and taken as CONTINUE"
    yield Count("Decisions not read", judged.episode.unread_decisions, decisions, "down", note=undecided)
    cut = "cut off at the token limit, in every number as they are"
    yield Count("Truncated turns", known.count("max_tokens"), len(known), "down", note=cut)
    yield Count("Average dialogue length", turns, 1, "none", "turns")


def _open_share(judged: JudgedEpisode, first: int | None) -> float | None:
    """Share of open turns among the first ones; None if there was no label or nobody spoke."""
    labels = (judged.judgement.openness or ())[:first]
    return labels.count("open") / len(labels) if labels else None


def _patient(episode: Episode) -> Iterator[Count]:
    """How well the patient kept its secrets: not in the paper, but no reveal rate can be trusted without it (MC-G24);
    then the checks of `validity` that can be counted case by case."""
    replies = len(episode.exchanges)
    caught = "drafts that were caught; none of them was sent"
    yield Count("Leaking drafts of the patient", episode.leaks, replies, "down", note=caught)
    yield Count("Neutral replies", sum(one.source == "neutral" for one in episode.exchanges), replies, "down")
    for check in checks([episode]):
        if check.by_case:
            yield Count(check.name, check.over, check.under, "down", note=f"limit {check.limit:.0%}")


def curve(episodes: Sequence[Episode], *, addressed: bool = False) -> list[float]:
    """Figure 2: after each turn, the share of concerns revealed so far (confirmation) or of cases whose primary concern
    was revealed or, with `addressed`, addressed (intervention). As many values as the longest turn limit."""
    last = max(episode.turn_limit for episode in episodes)
    turns: list[int | None] = []
    for episode in episodes:
        of = episode.address_turns if addressed else episode.reveal_turns
        turns += of if episode.task == "confirmation" else (of[episode.primary],)
    return [sum(turn is not None and turn <= now for turn in turns) / len(turns) for now in range(1, last + 1)]
