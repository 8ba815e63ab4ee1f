"""Dialogues with the reserved patient: what was said, how open each concern was by turn, and what stayed hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from baselines.dialogue.played import PlayedCase
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.matching import match
from baselines.medconceal.metrics import curve
from baselines.medconceal.record import ADDRESSED, REVEALED, Episode
from baselines.medconceal.tables import GROUPS, common_setting, setting_name
from baselines.report.dialogues import PlayedRun, played
from baselines.report.drawing import Curve, Event, over_turns
from baselines.report.rows import Explored, Row, Said, Told
from baselines.report.sections import Numbered, Section
from loaders.errors import how_many
from loaders.pages import render

FACETS = ("concern category", "revealed", "setting", "problem")
UNREAD = "findings cannot be read"
"""A problem of a dialogue whose findings count as none, because no answer with findings could be read."""
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4")


def sections(runs: Sequence[Numbered], *, public: bool = False) -> list[Section]:
    """One section with the dialogues of all runs of a task; none if no run left any. Raises: InputError when a run's
    file of dialogues cannot be read."""
    read = played(runs, PlayedCase[JudgedEpisode], public=public)
    if not read:
        return []
    task = read[0].run.record.baseline
    views = [_view(played_run) for played_run in read]
    rows = [_row(played_run.number, row) for played_run in read for row in played_run.rows]
    names = {view["number"]: f"run {view['number']}: {view['clinician']}, {view['setting']}" for view in views}
    html = render("baselines/report/medconceal.html", views=views, task=task)
    marks = ("reached", "not reached")
    explored = Explored.of(f"{task}-dialogues", rows, FACETS, marks=marks, runs=names)
    return [Section(f"{task}-dialogues", f"Dialogues of the {task} task", html, explored)]


def _view(played_run: PlayedRun[JudgedEpisode]) -> dict[str, Any]:
    run, rows = played_run.run, played_run.rows
    episodes = [row.record.episode for row in rows if row.record is not None]
    task = GROUPS[episodes[0].task] if episodes else run.record.baseline
    setting = common_setting(episodes) if episodes else "no dialogue"
    problems = {
        "not scored": sum(row.problem is not None for row in rows),
        UNREAD: sum(one.findings is not None and one.findings.unread for one in episodes),
    }
    return {
        "number": played_run.number,
        "run": run,
        "title": f"{task}, {setting}",
        "setting": setting,
        "clinician": next((model.name for model in run.record.models if model.role == "clinician"), "people"),
        "notice": None,
        "models": [(model.role, model.name) for model in run.record.models],
        "total": len(rows),
        "problems": [(problem, count) for problem, count in problems.items() if count],
        "curves": curves(episodes) if episodes else "",
    }


def _row(number: int, row: PlayedCase[JudgedEpisode]) -> Row:
    problem = row.problem or ""
    if row.record is None:
        return Row(row.case_id, row.case_id, number, row.epoch, problem=problem, facets={"problem": ["not scored"]})
    episode = row.record.episode
    good, outcome, revealed = _outcome(row.record)
    unread = episode.findings is not None and episode.findings.unread
    troubles = [trouble for trouble, there in (("not scored", problem), (UNREAD, unread)) if there]
    return Row(
        case=row.case_id,
        title=row.case_id,
        run=number,
        epoch=row.epoch,
        good=good,
        note=outcome,
        problem=problem,
        facets={
            "concern category": list(dict.fromkeys(episode.categories)),
            "revealed": [revealed],
            "setting": [setting_name(episode)],
            "problem": troubles or ["none"],
        },
        told=_findings(row.record),
        said=list(_said(episode)),
        hidden=Told(f"What was hidden ({how_many(len(episode.categories), 'concern')})", list(_hidden(episode))),
        drawing=trace_svg(episode),
        drawn=f"Evidence of each concern by turn: {outcome}",
    )


def _outcome(judged: JudgedEpisode) -> tuple[bool, str, str]:
    """Whether it reached the goal of its task, how it ended in a few words, and what was revealed."""
    episode = judged.episode
    if episode.task == "intervention":
        words = {REVEALED: "revealed, not addressed", ADDRESSED: "addressed"}
        outcome = words.get(episode.states[episode.primary], "not revealed")
        return episode.success, outcome, outcome
    revealed, total = sum(state >= REVEALED for state in episode.states), len(episode.states)
    pairs = judged.judgement.pairs
    found = "findings not judged" if pairs is None else f"{len(match(pairs))} found"
    share = "all" if revealed == total else "some" if revealed else "none"
    return revealed == total, f"{revealed} of {total} concerns revealed, {found}", share


def _hidden(episode: Episode) -> Iterator[str]:
    for at, category in enumerate(episode.categories):
        content = f": {episode.hidden[at].content}" if episode.hidden else ""
        reveal, address = episode.reveal_turns[at], episode.address_turns[at]
        how = f"revealed on turn {reveal}" if reveal is not None else "stayed hidden"
        then = f", addressed on turn {address}" if address is not None else ""
        yield f"{category}{', primary' if at == episode.primary else ''}{content} ({how}{then})"


def _said(episode: Episode) -> Iterator[Said]:
    for exchange in episode.exchanges:
        who = f"Clinician, turn {exchange.turn} · {exchange.evaluation.intent.replace('_', ' ')}"
        yield Said(who, exchange.clinician, "expert", ["probe, blocked"] if exchange.blocked else [])
        notes = [f"reveals {concern + 1}" for concern in exchange.revealed]
        notes += [f"{concern + 1} is addressed" for concern in exchange.addressed]
        notes += ["a leaking draft was caught"] if exchange.leak.leaked else []
        yield Said("Patient", exchange.patient, "lay", notes)


def _findings(judged: JudgedEpisode) -> list[Told]:
    findings = judged.episode.findings
    if findings is None:
        return []
    accepted = {pair.finding: pair for pair in match(judged.judgement.pairs or ())}
    lines = []
    for number, finding in enumerate(findings.items):
        pair = accepted.get(number)
        then = "matches nothing that the patient said" if judged.judgement.pairs is not None else "not judged"
        if pair is not None:
            then = f"is concern {pair.concern + 1}; turn {pair.turn}: “{pair.quote}”"
        picked = f" [“{finding.quote}”]" if finding.quote else ""
        lines.append(f"{finding.category}: {finding.description}{picked} ({then})")
    return [Told("Findings submitted", lines or [f"none{': ' + findings.failure if findings.failure else ''}"])]


def trace_svg(episode: Episode) -> str:
    """The evidence of each concern over the turns, as a line that ends where the concern came out or the talk ended.

    Lines differ in dash and carry the number of the concern; a filled dot is a reveal, a diamond an address.
    """
    turns = len(episode.exchanges)
    if not turns:
        return ""
    tracked = range(len(episode.states)) if episode.task == "confirmation" else (episode.primary,)
    lines, events = [], []
    for place, concern in enumerate(tracked):
        reveal, address = episode.reveal_turns[concern], episode.address_turns[concern]
        values = [0.0, *(exchange.traces[concern].evidence for exchange in episode.exchanges)]
        last = reveal if reveal is not None else turns
        colour = "lay" if concern == episode.primary else "expert"
        lines.append(Curve(str(concern + 1), values[: last + 1], colour, _DASHES[place % len(_DASHES)], shown=True))
        if address is not None:
            after = [0.0, *(exchange.traces[concern].address_evidence for exchange in episode.exchanges)]
            after[last] = 0.0
            lines.append(Curve(f"{concern + 1}, addressed", after[last:], "third", "3 2", start=last))
            events.append(Event(f"{concern + 1} is addressed", address, after[address], "third", "diamond"))
        if reveal is not None:
            events.append(Event(f"{concern + 1} is revealed", reveal, values[reveal], colour))
    return over_turns(turns, lines, events)


def curves(episodes: Sequence[Episode]) -> str:
    """Figure 2: what was reached by each turn, over all cases of the run."""
    revealed = curve(episodes)
    lines = [Curve("revealed", [0.0, *revealed])]
    if episodes[0].task == "intervention":
        lines.append(Curve("addressed", [0.0, *curve(episodes, addressed=True)], "third", "4 3"))
    return over_turns(len(revealed), lines)
