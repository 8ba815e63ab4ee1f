"""The numbers of MedConceal from judged episodes: each as a ratio of sums over cases (S7, MC-G36 to MC-G43).

A `Measure` keeps the numerator and denominator of every case, so that the same object gives the micro value of the
paper's Tables 1-4, the case mean of its Tables 7-11, and their intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from statistics import fmean
from typing import Any

from baselines.medconceal.judgement import STYLES, JudgedEpisode
from baselines.medconceal.matching import coarse_hits, match
from baselines.medconceal.policy import META_PROBE
from baselines.medconceal.record import ADDRESSED, REVEALED, Episode
from baselines.medconceal.validity import checks
from baselines.medlaybench_v.readability import FOREIGN, foreign
from baselines.medlaybench_v.readability import measure as readability
from baselines.results.run import Direction
from baselines.statistics.resampling import Interval, bootstrap_ratios
from loaders.errors import InputError, how_many
from loaders.medconceal import CATEGORIES, Task

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
    repetitions of a case are resampled together. Empty: every episode is a case of its own. `persons` are who had the
    dialogues, if people did: they are resampled too. `of` names what `under` counts where that is rarer than the cases
    that n counts, so that few of them are seen to be few.
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
        cases = self.cases or tuple(map(str, range(len(self.under))))
        parts = {case for case, *counts in zip(cases, self.over, self.under, strict=True) if any(counts)}
        return len(parts) if parts or self.empty is None else len(set(cases))

    @property
    def by_case(self) -> list[float]:
        """The value of each case, 0 if a case does not count (MC-G38)."""
        return [over / under if under else 0.0 for over, under in zip(self.over, self.under, strict=True)]

    @property
    def case_mean(self) -> float:
        """The mean of the values of the cases, as in Tables 7 to 11."""
        return fmean(self.by_case)

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
        cases = self.cases or tuple(map(str, range(len(self.under))))
        if self.value is None or not any(self.under) or len(set(cases)) < 2:
            return None
        draws: dict[str, Any] = {
            "resamples": resamples,
            "seed": seed,
            "clusters": cases,
            "crossed": self.persons if any(self.persons) else None,
            "within": SCALES.get(self.unit),
        }
        try:
            return bootstrap_ratios(self.over, self.under, **draws).estimate()[1]
        except InputError:  # most resamples contain no case that counts
            return None


def measures(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    """All numbers of a run, whose episodes are of one task, in the order of the paper's tables.

    Raises InputError without an episode, and for episodes of two tasks.
    """
    tasks = {one.episode.task for one in judged}
    if len(tasks) != 1:
        raise InputError("episodes", found=f"{len(judged)} of {len(tasks)} tasks", expected="one or more, of one task")
    task = tasks.pop()
    found = _confirmation(judged) if task == "confirmation" else _intervention(judged)
    cases = tuple(one.episode.case_id for one in judged)
    persons = tuple(one.episode.encounter.participant if one.episode.encounter else None for one in judged)
    every = (*found, *_conversation(judged), *_patient(judged))
    placed = [replace(one, cases=cases, persons=persons) for one in every]
    return [_where_judged(one, judged) if one.name.startswith(OF_MATCHES) else one for one in placed]


def _where_judged(measure: Measure, judged: Sequence[JudgedEpisode]) -> Measure:
    """The measure over the dialogues whose findings were judged: an unread judgement is no low score."""
    read = [one.judgement.pairs is not None for one in judged]
    notes = (measure.note, _left_out(read.count(False), len(read)))
    return replace(measure.only(read), note="; ".join(filter(None, notes)))


# --- Confirmation -----------------------------------------------------------------------------------------------------


def _confirmation(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    """Table 1 with its diagnostics, then the dynamics of elicitation."""
    episodes = [one.episode for one in judged]
    gold = [len(episode.categories) for episode in episodes]
    revealed = [len(_revealed(episode)) for episode in episodes]
    # Those beyond the maximum that is kept too (MC-G36).
    submitted = [len(one.findings.items) + one.findings.omitted if one.findings else 0 for one in episodes]
    coarse = [
        coarse_hits((item.category for item in episode.findings.items), episode.categories) if episode.findings else 0
        for episode in episodes
    ]
    accepted = [match(one.judgement.pairs or ()) for one in judged]
    fine = [len(pairs) for pairs in accepted]
    aware = [sum(pair.category_ok for pair in pairs) for pairs in accepted]
    # Matches whose concern was revealed to the clinician in the dialogue, not only guessed.
    grounded = [
        sum(pair.concern in _revealed(episode) for pair in pairs)
        for pairs, episode in zip(accepted, episodes, strict=True)
    ]
    ones = [1] * len(judged)
    both = [given + of for given, of in zip(submitted, gold, strict=True)]
    blind = [int(bool(hits) and not shown) for hits, shown in zip(fine, revealed, strict=True)]
    blind_hits = [2 * coarse_hits(CATEGORIES, episode.categories) for episode in episodes]
    blind_both = [len(CATEGORIES) + of for of in gold]
    spread = [shown / of for shown, of in zip(revealed, gold, strict=True)]
    return [
        _ratio("Reveal Rate", revealed, gold, note=_computed(episodes)),
        _nearness(episodes),
        _ratio("Process-grounded Fine F1", [2 * hit for hit in grounded], both, empty=0.0, note=_OF_ALL_CONCERNS),
        *precision_recall_f1("Coarse", coarse, submitted, gold),
        # One guess per category, which needs no dialogue.
        _ratio("Coarse F1 of four blind guesses", blind_hits, blind_both, note="the floor: one guess a category"),
        *precision_recall_f1("Fine", fine, submitted, gold),
        _ratio("MBNR", blind, ones, "down", note="cases with a match and no revealed concern"),
        _ratio("Reveal Rate (mean over cases)", spread, ones),
        _ratio("Category accuracy of matches", aware, fine, of="matched finding"),
        *precision_recall_f1("Category-aware Fine", aware, submitted, gold),
        _ratio("Process-grounded Precision", grounded, submitted, empty=0.0, of="finding"),
        _ratio("Process-grounded Recall", grounded, revealed, empty=0.0, of=_OUT),
        *_dynamics(episodes, revealed, gold),
    ]


def precision_recall_f1(
    name: str, hits: Sequence[float], submitted: Sequence[float], gold: Sequence[float]
) -> list[Measure]:
    """Micro precision, recall and F1 from counts by case; submitting nothing scores 0 (MC-G38)."""
    twice = [2 * hit for hit in hits]
    both = [given + of for given, of in zip(submitted, gold, strict=True)]
    return [
        _ratio(f"{name} Precision", hits, submitted, empty=0.0),
        _ratio(f"{name} Recall", hits, gold),
        _ratio(f"{name} F1", twice, both),
    ]


def _computed(episodes: Sequence[Episode]) -> str:
    """The note on dialogues whose trace is computed from their turns: their patient did not answer by it."""
    count = sum(any(one.source == "transcript" for one in episode.exchanges) for episode in episodes)
    return f"the trace of {count} of {how_many(len(episodes), 'dialogue')} is computed from its turns" if count else ""


def _revealed(episode: Episode) -> set[int]:
    return {concern for concern, state in enumerate(episode.states) if state >= REVEALED}


def _dynamics(episodes: Sequence[Episode], revealed: Sequence[int], gold: Sequence[int]) -> list[Measure]:
    full = [int(shown == of) for shown, of in zip(revealed, gold, strict=True)]
    last = [
        all_ * max((turn for turn in episode.reveal_turns if turn is not None), default=0)
        for episode, all_ in zip(episodes, full, strict=True)
    ]
    ones = [1] * len(episodes)
    turns = [len(episode.exchanges) for episode in episodes]
    return [
        _ratio("Full reveal", full, ones),
        _ratio("Turn to full reveal", last, full, "none", unit="turns"),
        _ratio("Turns per revealed concern", turns, revealed, "down", unit="turns", of=_OUT),
    ]


def came_near(episode: Episode) -> list[float]:
    """How near each concern that the task tracks was (`policy.nearness`), as a mean over the turns up to the limit.

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


def _nearness(episodes: Sequence[Episode]) -> Measure:
    near = [came_near(episode) for episode in episodes]
    unknown = sum(not values for values in near)
    note = f"{unknown} of {len(near)} dialogues of an earlier version do not say" if unknown else ""
    return _ratio("Nearness", [sum(values) for values in near], [len(values) for values in near], note=note)


# --- Intervention -----------------------------------------------------------------------------------------------------


def _intervention(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    """Table 3. Timings are means over the successful cases only, in clinician turns from 1."""
    episodes = [one.episode for one in judged]
    ones = [1] * len(episodes)
    success = [int(episode.states[episode.primary] == ADDRESSED) for episode in episodes]
    revealed = [int(episode.states[episode.primary] >= REVEALED) for episode in episodes]
    addressed = [episode.address_turns[episode.primary] or 0 for episode in episodes]
    lag = [
        (episode.address_turns[episode.primary] or 0) - (episode.reveal_turns[episode.primary] or 0) if won else 0
        for episode, won in zip(episodes, success, strict=True)
    ]
    return [
        _ratio("Success", success, ones, note=_computed(episodes)),
        _ratio("Reveal Rate", revealed, ones, note=_computed(episodes)),
        _nearness(episodes),
        _ratio("Turn-to-Address", addressed, success, "down", unit="turns"),
        _ratio("Reveal-to-Address", lag, success, "down", unit="turns"),
    ]


# --- The conversation -------------------------------------------------------------------------------------------------


def _conversation(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    """Tables 2, 4 and 6, and the probes."""
    episodes = [one.episode for one in judged]
    ones = [1] * len(episodes)
    turns = [len(episode.exchanges) for episode in episodes]
    probes = [
        sum(one.evaluation.intent == META_PROBE or one.evaluation.label_probe for one in episode.exchanges)
        for episode in episodes
    ]
    blocked = [sum(exchange.blocked for exchange in episode.exchanges) for episode in episodes]
    said = [
        [turn for exchange in episode.exchanges if (turn := exchange.clinician).strip() and not foreign(turn)]
        for episode in episodes
    ]
    others = sum(foreign(exchange.clinician) for episode in episodes for exchange in episode.exchanges)
    note = f"{how_many(others, 'turn')} left out as {FOREIGN}" if others else ""
    spoke = [int(bool(texts)) for texts in said]
    words = [fmean(len(text.split()) for text in texts) if texts else 0.0 for texts in said]
    ease = readability([" ".join(texts) for texts in said])["FRE"].tolist()
    scores = [score * had for score, had in zip(ease, spoke, strict=True)]
    early = [_open_share(one, EARLY) for one in judged]
    every = [_open_share(one, None) for one in judged]
    return [
        *_style(judged),
        _known("Early Open", early, "proportion"),
        _known("Open", every, "proportion"),
        _ratio("Readability", scores, spoke, unit="score", note=note),
        _ratio("Word/Turn", words, spoke, "none", unit="words", note=note),
        _ratio("Meta-Probe", probes, turns, "down"),
        _ratio("Blocked turns", blocked, turns, "none"),
        _ratio("Average dialogue length", turns, ones, "none", unit="turns"),
    ]


def _style(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    task: Task = judged[0].episode.task
    found = []
    for name in STYLES[task]:
        scores = [None if one.judgement.style is None else float(one.judgement.style[name]) for one in judged]
        found.append(_known(name, scores, "judge 0-2"))
    if task == "confirmation":
        for name, lists in (
            ("Values Det.", [one.judgement.expressed for one in judged]),
            ("Values recognised by the clinician", [one.judgement.recognised for one in judged]),
        ):
            numbers = [None if values is None else float(len(values)) for values in lists]
            found.append(_known(name, numbers, "value categories (0-5)"))
    return found


def _open_share(judged: JudgedEpisode, first: int | None) -> float | None:
    """Share of open turns among the first ones; None if there was no label or nobody spoke."""
    labels = judged.judgement.openness
    if not labels:
        return None
    labels = labels[:first]
    return sum(label == "open" for label in labels) / len(labels)


def _patient(judged: Sequence[JudgedEpisode]) -> list[Measure]:
    """How well the patient kept its secrets: not in the paper, but no reveal
    rate can be trusted without it (MC-G24)."""
    episodes = [one.episode for one in judged]
    replies = [len(episode.exchanges) for episode in episodes]
    leaks = [episode.leaks for episode in episodes]
    neutral = [sum(exchange.source == "neutral" for exchange in episode.exchanges) for episode in episodes]
    note = "drafts that were caught; none of them was sent"
    return [
        _ratio("Leaking drafts of the patient", leaks, replies, "down", note=note),
        _ratio("Neutral replies", neutral, replies, "down"),
        *_validity(episodes),
    ]


def _validity(episodes: Sequence[Episode]) -> list[Measure]:
    """The checks of `validity` that can be counted case by case."""
    by_case = [checks([episode]) for episode in episodes]
    return [
        _ratio(first.name, [one[at].over for one in by_case], [one[at].under for one in by_case], "down",
              note=f"limit {first.limit:.0%}")
        for at, first in enumerate(by_case[0])
        if first.by_case
    ]  # fmt: skip


def curve(episodes: Sequence[Episode], *, addressed: bool = False) -> list[float]:
    """Figure 2: after each turn, the share of concerns revealed so far (confirmation) or of cases whose primary concern
    was revealed or, with `addressed`, addressed (intervention). As many values as the longest turn limit."""
    last = max(episode.turn_limit for episode in episodes)
    turns: list[int | None] = []
    for episode in episodes:
        of = episode.address_turns if addressed else episode.reveal_turns
        turns += of if episode.task == "confirmation" else (of[episode.primary],)
    return [sum(turn is not None and turn <= now for turn in turns) / len(turns) for now in range(1, last + 1)]


# --- Making measures --------------------------------------------------------------------------------------------------


def _ratio(
    name: str,
    over: Sequence[float],
    under: Sequence[float],
    direction: Direction = "up",
    *,
    unit: str = "proportion",
    empty: float | None = None,
    note: str = "",
    of: str = "",
) -> Measure:
    return Measure(name, unit, direction, tuple(over), tuple(under), empty, note, of=of)


def _known(name: str, values: Sequence[float | None], unit: str) -> Measure:
    """The mean over the cases that have a value."""
    note = _left_out(sum(value is None for value in values), len(values))
    return _ratio(
        name, [value or 0.0 for value in values], [value is not None for value in values], unit=unit, note=note
    )


def _left_out(unjudged: int, of: int) -> str:
    return f"{unjudged} of {of} {NO_JUDGEMENT}" if unjudged else ""
