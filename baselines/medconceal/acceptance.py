"""The tests that constants of the policy must pass before they are used, and the replay of candidates (MC-G17).

    for check in acceptance(policy, profiles): ...
    name, policy, checks = replay(candidates(policy), profiles)

The floors are those of the paper's numbers; the scripted clinicians are the known styles that a policy must tell apart.
Everything is played offline, by rules and templates, for 8 turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from baselines.dialogue.game import Game, ScriptedAgent
from baselines.dialogue.playing import Playing, Scripted, play_bare
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.game import Rules, task_game
from baselines.medconceal.machine import Concern, start, step
from baselines.medconceal.policy import PolicyConfig
from baselines.medconceal.record import HIDDEN, Episode, Features, TurnEvaluation
from loaders.medconceal import CATEGORIES, TASKS, PatientProfile


@dataclass(frozen=True, slots=True)
class Check:
    """One acceptance test of MC-G17: what it measures, what was found, what was wanted, and whether it holds."""

    name: str
    found: str
    wanted: str
    passed: bool


def acceptance(policy: PolicyConfig, profiles: Sequence[PatientProfile]) -> list[Check]:
    """The tests that a policy must pass: the floors of the paper's numbers, and what scripted clinicians achieve.

    Plays the scripted clinicians against every profile for 8 turns, by rules and templates, offline.
    """
    best = Features(DG=1, ER=1, PA=1, CE=1, SP=1, NS=1, CM=1, PS=1, PQC=1)
    reveal, address = _floors(policy, best)
    lag = None if reveal is None or address is None else address - reveal
    games = {task: task_game(Rules(task, policy=policy, evaluator="rules", patient="template")) for task in TASKS}
    checks = [
        Check("reveal floor", str(reveal), "2", reveal == 2),
        Check("lag floor", str(lag), "3", lag == 3),
        Check("address floor", str(address), "5", address == 5),
    ]
    for name, wanted, least, most in (
        ("closed-checklist", "reveal rate <= .10", 0.0, 0.10),
        ("meta-prober", "reveal rate 0", 0.0, 0.0),
        ("expert", "reveal rate >= .80", 0.80, 1.0),
    ):
        played = play_scripted(games["confirmation"], profiles, CLINICIANS[name])
        states = [state for episode in played for state in episode.states]
        rate = sum(state != HIDDEN for state in states) / len(states)
        checks.append(Check(name, f"reveal rate {rate:.3f}", wanted, least <= rate <= most))
    expert, plan = (
        sum(one.success for one in play_scripted(games["intervention"], profiles, CLINICIANS[name])) / len(profiles)
        for name in ("expert", "plan-repeater")
    )
    found = f"success {expert:.3f} and {plan:.3f}"
    checks.append(Check("expert and plan-repeater", found, "success .50 apart or more", expert - plan >= 0.5))
    return checks


def _floors(policy: PolicyConfig, features: Features) -> tuple[int | None, int | None]:
    """The first turns on which a concern can come out and be addressed, given the best possible turns throughout.

    Every turn touches the concern, in words that were not said before.
    """
    state = start(1, 0, "intervention")
    evaluation = TurnEvaluation("other", {"other": 1.0}, features, None, 1.0, False, "rules", 0)
    concern = Concern.of("", CATEGORIES[0], topics=["needle", "blood"])
    for turn in range(20):
        state, _ = step(policy, state, evaluation, [concern], f"needle blood new{turn} other{turn} more{turn}")
    return state.concerns[0].revealed_at, state.concerns[0].addressed_at


def play_scripted(
    game: Game[PatientProfile, Episode], profiles: Sequence[PatientProfile], agent: ScriptedAgent
) -> list[Episode]:
    """The episodes of a scripted clinician, for which no model has to be asked."""
    playing = Playing(game, {"clinician": Scripted("scripted/clinician", agent)})
    return [played.record for played in play_bare(playing, profiles) if played.record is not None]


def replay(
    policies: Mapping[str, PolicyConfig], profiles: Sequence[PatientProfile]
) -> tuple[str, PolicyConfig, list[Check]]:
    """The first candidate that passes every test, else the first of those that fail the fewest (MC-G17)."""
    tried = []
    for name, policy in policies.items():
        checks = acceptance(policy, profiles)
        if all(check.passed for check in checks):
            return name, policy, checks
        tried.append((name, policy, checks))
    return min(tried, key=lambda candidate: sum(not check.passed for check in candidate[2]))


def candidates(base: PolicyConfig) -> dict[str, PolicyConfig]:
    """The policy as it is, then with other thresholds of Equations 4 and 6: the grid of the replay."""
    grid = {"as given": base}
    for high, low in ((0.7, 0.45), (0.65, 0.45), (0.7, 0.4), (0.75, 0.5), (0.7, 0.35)):
        for quality in (0.5, 0.6, 0.4):
            name = f"T_hi {high}, T_lo {low}, eta {quality}"
            grid.setdefault(name, replace(base, high=high, low=low, quality=quality, address_high=quality))
    return grid
