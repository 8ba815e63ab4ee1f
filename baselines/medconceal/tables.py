"""MedConceal's Tables 1 to 4 and 6 and Figure 2 for one run: one clinician, one task, one setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from baselines.dialogue.played import LOST, NOT_PLAYED
from baselines.medconceal.judgement import STYLES, JudgedEpisode
from baselines.medconceal.metrics import Measure, curve, measures
from baselines.medconceal.record import Episode
from baselines.medconceal.validity import checks, reasons
from baselines.results.published import model_label
from baselines.results.run import Result, RunRecord
from baselines.statistics.significance import wilson_interval
from loaders.errors import InputError, how_many, in_number
from loaders.medconceal import Task

PAPER = "MedConceal"
GROUPS: dict[Task, str] = {"confirmation": "Task 1 confirmation", "intervention": "Task 2 intervention"}
CURVES = "figure-2.json"
"""Name of the file of a run folder that holds `curves`."""

OF_WORDS = ("Readability", "Word/Turn")
"""Columns that are counted from the clinician's words."""
_CONVERSATION = ("Values Det.", "Values recognised by the clinician", "Early Open", "Open", *OF_WORDS)
_MAIN: dict[Task, str] = {"confirmation": "Table 1", "intervention": "Table 3"}
_TALK: dict[Task, str] = {"confirmation": "Table 2", "intervention": "Table 4"}
_LENGTH = "Average dialogue length"
HUMANS, OWN_WORDS = "Human", "Human summary"
"""Settings of dialogues that people had; in Table 1 the paper names them by who wrote the findings."""
LIMITED = f"{HUMANS} (10-minute limit)"
"""The paper's setting of people; with another limit they are beside no number of it."""
SHOWN_ANYWAY = (
    *(check.name for check in checks([])),
    "Leaking drafts of the patient",
    "Neutral replies",
    "Blocked turns",
    "Truncated turns",
    "Decisions not read",
    "Meta-Probe",
    _LENGTH,
)
"""Columns that have a value even in an invalid run."""


def results(
    judged: Sequence[JudgedEpisode],
    record: RunRecord,
    *,
    row: str,
    seed: int = 0,
    summary: str = OWN_WORDS,
    lost: int = 0,
) -> list[Result]:
    """Every number of a run, with its counts and a bootstrap interval over cases.

    Keys are those of the published tables, whose group names 300 cases: a number over fewer cases is not placed beside
    the paper's. `row` names the clinician, `summary` who wrote the findings of dialogues that people had, and `lost` is
    how many dialogues a model's failure ended without a record. In an invalid run (`validity`) only the numbers that
    say why have a value. Raises InputError for episodes of two settings.
    """
    episodes = [case.episode for case in judged]
    setting = common_setting(episodes)
    task = episodes[0].task
    cases = len({episode.case_id for episode in episodes})
    found = [_result(measure, task, setting, row, cases, record, seed) for measure in measures(judged)]
    if setting.startswith(HUMANS):
        # Who had another time than the paper's people is in no row of theirs, whoever wrote the findings.
        named = summary if setting in (HUMANS, LIMITED) else summary + setting.removeprefix(HUMANS)
        found = [replace(one, setting=named) if one.table == "Table 1" else one for one in found]
    invalid = reasons(episodes)
    told = [_withheld(one, invalid) if invalid else one for one in found]
    return [*told, _not_played(found[0], lost, lost + len(judged))] if lost else told


def _not_played(beside: Result, lost: int, of: int) -> Result:
    """The share of lost dialogues, in the main table."""
    return replace(
        beside, column=NOT_PLAYED, value=lost / of, unit="proportion", direction="down", n=of, note=LOST,
        ci95=wilson_interval(lost, of), numerator=float(lost), denominator=float(of),
    )  # fmt: skip


def _withheld(result: Result, invalid: Sequence[str]) -> Result:
    """A number of an invalid run: without a value, except for those that say what went wrong."""
    return result if result.column in SHOWN_ANYWAY else _without_value(result, f"invalid run: {'; '.join(invalid)}")


def unread(result: Result) -> Result:
    """A number of `OF_WORDS` where parts of the turns are masked."""
    return _without_value(result, "parts of the turns are masked here, and hidden.jsonl is not beside them")


def _without_value(result: Result, note: str) -> Result:
    return replace(result, value=None, ci95=None, numerator=None, denominator=None, note=note)


def clinician_name(model: str) -> str:
    """The paper's label of a clinician model, whoever serves it; other models keep their name.

    >>> clinician_name("anthropic/claude-sonnet-4-5-20250929"), clinician_name("scripted/expert")
    ('Claude Sonnet 4.5', 'scripted/expert')
    """
    return model_label(PAPER, model)


def setting_name(episode: Episode) -> str:
    """The setting as the paper's tables call it."""
    if episode.encounter is not None:
        allowed = episode.encounter.allowed
        if episode.mode != "timed":
            return HUMANS
        return f"{HUMANS} ({f'{allowed / 60:g}-minute' if allowed else 'unknown'} limit)"
    if episode.mode == "transcript":  # of an earlier run, which did not say whose
        return "Transcripts"
    return f"Adaptive ({episode.turn_limit}-turn cap)" if episode.mode == "adaptive" else f"{episode.turn_limit}-turn"


def common_setting(episodes: Sequence[Episode]) -> str:
    """The setting of all episodes; people may have had different limits. Raises InputError for two settings."""
    settings = {setting_name(episode) for episode in episodes}
    if len(settings) > 1 and all(name.startswith(HUMANS) for name in settings):
        return f"{HUMANS} (different limits)"
    if len(settings) != 1:
        raise InputError("episodes", found=f"settings {', '.join(sorted(settings))}", expected="one setting a run")
    return settings.pop()


def _result(measure: Measure, task: Task, setting: str, row: str, cases: int, record: RunRecord, seed: int) -> Result:
    if measure.name == _LENGTH:
        table, group = "Table 6", GROUPS[task]
    else:
        talk = measure.name in _CONVERSATION or measure.name in STYLES[task]
        table, group = (_TALK if talk else _MAIN)[task], f"{GROUPS[task]}, {cases} {in_number(cases, 'case')}"
    value, numerator, denominator = measure.value, sum(measure.over), sum(measure.under)
    missing = "no case has a part in it" if value is None else ""
    counted = (measure.unit == "proportion" or bool(measure.of)) and denominator > 0
    of = f"over {how_many(int(denominator), measure.of)}" if measure.of and counted else ""
    return Result(
        paper=PAPER, table=table, row=row, setting=setting, column=measure.name, split_or_group=group, value=value,
        unit=measure.unit, direction=measure.direction, n=measure.n, ci95=measure.interval(seed=seed), record=record,
        note="; ".join(filter(None, (missing, of, measure.note))),
        numerator=numerator if counted else None, denominator=denominator if counted else None,
    )  # fmt: skip


def curves(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Figure 2: shares by turn, from turn 1."""
    task = episodes[0].task
    shares = {"revealed": curve(episodes)}
    if task == "intervention":
        shares["addressed"] = curve(episodes, addressed=True)
    return {"task": task, "setting": common_setting(episodes), "cases": len(episodes), "curves": shares}
