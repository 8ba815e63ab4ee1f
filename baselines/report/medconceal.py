"""Dialogues with the reserved patient: what was said, how open each concern was by turn, and what stayed hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from baselines.dialogue.played import PlayedCase
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.matching import Pair, match
from baselines.medconceal.metrics import curve
from baselines.medconceal.record import ADDRESSED, REVEALED, Episode
from baselines.medconceal.tables import GROUPS, setting_name
from baselines.report.dialogues import SHOWN, PlayedRun, played
from baselines.report.sections import Numbered, Section
from loaders.pages import render

# The drawing of a trace, in its own units.
_LEFT, _TOP, _STEP, _HEIGHT, _BOTTOM, _RIGHT = 26, 8, 28, 84, 18, 30
_DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 2", "10 4")


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A played case as the page shows it; `record` is None for one that a model's error ended."""

    case_id: str
    record: JudgedEpisode | None
    problem: str | None
    accepted: tuple[Pair, ...]
    trace: Markup

    @property
    def outcome(self) -> str:
        """In a few words how it ended."""
        if self.record is None:
            return "no record"
        episode = self.record.episode
        if episode.task == "intervention":
            words = {REVEALED: "revealed, not addressed", ADDRESSED: "addressed"}
            return words.get(episode.states[episode.primary], "not revealed")
        revealed = sum(state >= REVEALED for state in episode.states)
        return f"{revealed} of {len(episode.states)} concerns revealed, {len(self.accepted)} found"

    @property
    def good(self) -> bool:
        """Whether it reached what its task asks for."""
        if self.record is None:
            return False
        episode = self.record.episode
        if episode.task == "intervention":
            return episode.success
        return all(state >= REVEALED for state in episode.states)


def sections(runs: Sequence[Numbered], *, shown: int = SHOWN, seed: int = 0) -> list[Section]:
    """One section with the dialogues of all runs of a task, those with a problem first; none where no run left any.

    Raises: InputError when a run's file of dialogues cannot be read.
    """
    read = played(runs, PlayedCase[JudgedEpisode], lambda row: row.problem is not None, shown=shown, seed=seed)
    if not read:
        return []
    task = read[0].run.record.baseline
    html = render("baselines/report/medconceal.html", views=[_view(played_run) for played_run in read], task=task)
    return [Section(f"{task}-dialogues", f"Dialogues of the {task} task", html)]


def _view(played_run: PlayedRun[JudgedEpisode]) -> dict[str, Any]:
    run, rows = played_run.run, played_run.rows
    episodes = [row.record.episode for row in rows if row.record is not None]
    task = GROUPS[episodes[0].task] if episodes else run.record.baseline
    troubled = sum(row.problem is not None for row in rows)
    return {
        "number": played_run.number,
        "run": run,
        "title": f"{task}, {setting_name(episodes[0]) if episodes else 'no dialogue'}",
        "notice": None,
        "models": [(model.role, model.name) for model in run.record.models],
        "total": len(rows),
        "problems": [("not scored", troubled)] if troubled else [],
        "curves": _curves(episodes) if episodes else Markup(),
        "dialogues": [_dialogue(row) for row in played_run.shown],
    }


def _dialogue(row: PlayedCase[JudgedEpisode]) -> Dialogue:
    accepted = tuple(match(row.record.judgement.pairs or ())) if row.record else ()
    trace = trace_svg(row.record.episode) if row.record else Markup()
    return Dialogue(row.case_id, row.record, row.problem, accepted, trace)


# --- Drawings ---------------------------------------------------------------------------------------------------------


def trace_svg(episode: Episode) -> Markup:
    """The evidence of each concern over the turns, as a line that ends where the concern came out or the talk ended.

    Lines differ in dash and carry the number of the concern; a filled dot is a reveal, a diamond an address.
    """
    turns = len(episode.exchanges)
    if not turns:
        return Markup()
    tracked = range(len(episode.states)) if episode.task == "confirmation" else (episode.primary,)
    parts = [_frame(turns)]
    ends: dict[tuple[int, float], list[str]] = {}  # lines that end in one place share a label
    for place, concern in enumerate(tracked):
        reveal, address = episode.reveal_turns[concern], episode.address_turns[concern]
        values = [0.0, *(exchange.traces[concern].evidence for exchange in episode.exchanges)]
        last = reveal if reveal is not None else turns
        colour = "lay" if concern == episode.primary else "expert"
        parts.append(_line(list(enumerate(values[: last + 1])), colour, _DASHES[place % len(_DASHES)]))
        if address is not None:
            after = [0.0, *(exchange.traces[concern].address_evidence for exchange in episode.exchanges)]
            parts.append(_line([(last, 0.0), *list(enumerate(after))[last + 1 :]], "third", "3 2"))
            parts.append(_mark(address, after[address], "third", diamond=True))
        if reveal is not None:
            parts.append(_mark(reveal, values[reveal], colour))
        ends.setdefault((last, round(values[last], 1)), []).append(str(concern + 1))
    for point, names in ends.items():
        x, y = _at(*point)
        parts.append(f'<text x="{x + 6:.1f}" y="{y + 3:.1f}">{", ".join(names)}</text>')
    return _svg(turns, parts)


def _curves(episodes: Sequence[Episode]) -> Markup:
    """Figure 2: what was reached by each turn, over all cases of the run."""
    revealed = curve(episodes)
    turns = len(revealed)
    parts = [_frame(turns), _line(list(enumerate([0.0, *revealed])), "expert", "")]
    if episodes[0].task == "intervention":
        addressed = [0.0, *curve(episodes, addressed=True)]
        parts.append(_line(list(enumerate(addressed)), "third", "4 3"))
    return _svg(turns, parts)


def _svg(turns: int, parts: Sequence[str]) -> Markup:
    width, height = _LEFT + turns * _STEP + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    return Markup(
        f'<svg viewBox="0 0 {width} {height}" class="trace" style="max-width: {width * 1.4:.0f}px" aria-hidden="true" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def _at(turn: float, value: float) -> tuple[float, float]:
    return _LEFT + turn * _STEP, _TOP + (1 - value) * _HEIGHT


def _frame(turns: int) -> str:
    parts = []
    for value in (0.0, 0.5, 1.0):
        (x, y), (end, _) = _at(0, value), _at(turns, value)
        parts.append(f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{x - 5:.1f}" y="{y + 3:.1f}" class="tick end">{value:g}</text>')
    for turn in (turn for turn in range(1, turns + 1) if turns <= 10 or turn == 1 or turn % 5 == 0):
        x, y = _at(turn, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 13:.1f}" class="tick middle">{turn}</text>')
    return "".join(parts)


def _line(points: Sequence[tuple[int, float]], colour: str, dash: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (_at(*point) for point in points))
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="var(--{colour})" stroke-width="1.5"{dashes}/>'


def _mark(turn: int, value: float, colour: str, *, diamond: bool = False) -> str:
    x, y = _at(turn, value)
    if diamond:
        corners = f"{x:.1f},{y - 5:.1f} {x + 5:.1f},{y:.1f} {x:.1f},{y + 5:.1f} {x - 5:.1f},{y:.1f}"
        return f'<polygon points="{corners}" fill="var(--{colour})"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="var(--{colour})"/>'
