"""`bedside fit-policy`: weights of the reserved patient from labelled turns, tested before they are written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path

import typer

from baselines.medconceal import labelling
from baselines.medconceal.acceptance import Check, candidates, replay
from baselines.medconceal.fitting import BY_RULES, RIDGE, Fitted, Label, fit, read_labels
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.reliability import plot
from loaders.errors import NAME_FILE, InputError, how_many
from loaders.files.disk import check_folder, write_whole
from loaders.files.opening import refuse_other
from loaders.files.records import to_json
from loaders.medconceal import SPLIT, PatientProfile, cases
from loaders.models.answers import AnswerStore
from loaders.models.chat import open_model
from loaders.models.messages import ChatModel
from loaders.opened import open_data
from scripts.terminal.console import output, table
from scripts.terminal.options import LAST_SEED, file_outside_releases
from scripts.terminal.progress import Bars

MOST = 2_000


def command(
    out: Path = typer.Option(
        ...,
        "--out",
        "-o",
        metavar="FILE",
        help="Policy file to write (JSON), for `--policy`; how reliable its weights are is drawn beside it (SVG).",
        callback=file_outside_releases,
    ),
    labels: Path | None = typer.Option(None, metavar="FILE", help="Labelled turns (JSONL or Parquet) to fit on."),
    judge: str | None = typer.Option(
        None,
        metavar="MODEL",
        help="Model that labels the turns first; without an --evaluator too few ratings differ.",
    ),
    evaluator: str = typer.Option(
        "rules", metavar="MODEL", help="Evaluator that rates the turns: the one the policy will be used with."
    ),
    clinician: str | None = typer.Option(
        None, metavar="MODEL", help="Clinician whose dialogues are labelled [scripted clinicians of mixed quality]"
    ),
    base_url: list[str] = typer.Option([], metavar="URL", help="Base URL of the models' server. May be repeated."),
    corpus: str = typer.Option(
        "sample", metavar="DATA", help="Cases to play: sample, medconceal[@TAG], a release folder."
    ),
    most: int = typer.Option(MOST, min=100, help="Maximum turns to label."),
    base: Path | None = typer.Option(
        None, metavar="FILE", help="Policy with the constants other than the weights [bundled]"
    ),
    ridge: float = typer.Option(RIDGE, help="Shrinkage of the categories towards each other, above 0."),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random seed for choosing turns and splitting by case."),
) -> None:
    """Fit the reserved patient's weights on labelled turns, and run the acceptance tests.

    Needs labelled turns with at least 100 distinct ratings; with fewer, only the labels are written. The acceptance
    tests play scripted clinicians, rated by the rules whoever rated the labels. Exit code 1 if one of them fails, or if
    of held-out cases the weights predict worse than a constant would.

    Example: `bedside fit-policy --judge openai/gpt-4o-mini --evaluator openai/gpt-4o-mini -o runs/policy.json`
    """
    if not out.name:
        raise InputError(out, found="is a folder", expected="a file to write", do=NAME_FILE)
    check_folder(out.parent)
    refuse_other(out, (b'{\n "alpha"', b'{\n "name"'), what="policy")
    if (labels is None) == (judge is None):
        raise InputError("--labels, --judge", found="both or neither", expected="one of them")
    of_labelling = {"--evaluator": evaluator != BY_RULES, "--clinician": clinician, "--base-url": base_url}
    of_labelling["--most"] = most != MOST
    if labels and (given := next((option for option, is_so in of_labelling.items() if is_so), "")):
        raise InputError(given, found="given with --labels, which are rated already", expected="--judge MODEL")
    # Before answers are paid for: without a penalty, no weights are the best.
    if not 0 < ridge < inf:
        raise InputError("--ridge", found=str(ridge), expected="a number above 0")
    start = DEFAULT if base is None else PolicyConfig.read(base)
    profiles = _profiles(corpus)
    if labels:
        known = read_labels(labels)
    else:
        names = {"judge": judge, "evaluator": None if evaluator == BY_RULES else evaluator, "clinician": clinician}
        models = {role: open_model(name, base_url=base_url) for role, name in names.items() if name}
        known = _labelled(profiles, start, models, out, most, seed)
    if unknown := sum(label.kind == "reveal" and label.shift is None for label in known):
        text = "do not say `shift`, what the policy adds for the person: they count as those of people for whom it is 0"
        output.print(f"{unknown:,} of {how_many(len(known), 'label')} {text}", style="yellow")
    fitted = fit(known, start, seed=seed, ridge=ridge, where=labels or "labels")
    _show_quality(fitted)
    name, policy, checks = replay(candidates(fitted.policy), profiles)
    _show_checks(name, checks)
    write_whole(out, (json.dumps(to_json(policy), indent=1, ensure_ascii=False) + "\n").encode())
    drawn = out.with_suffix(".reliability.svg")
    write_whole(drawn, plot(fitted.quality).encode())
    mark = "  stand-in: labels or ratings from a script" if policy.training["stand_in"] else ""
    output.print(f"\n{out}  policy {policy.digest[:16]}{mark}\n{drawn}")
    failed = [check.name for check in checks if not check.passed]
    failed += [f"{kind} predicted worse than by a constant" for kind in _worse_than_constant(fitted)]
    if failed:
        output.print(f"Not fit for use: {', '.join(failed)}", style="bold red")
        raise typer.Exit(1)


def _worse_than_constant(fitted: Fitted) -> list[str]:
    """The kinds whose Brier score on held-out cases is, with its whole interval, above that of the mean label."""
    return [
        kind
        for kind, quality in fitted.quality.items()
        if quality.brier_interval and quality.reference is not None and quality.brier_interval[0] > quality.reference
    ]


def _show_checks(thresholds: str, checks: Iterable[Check]) -> None:
    shown = table(
        f"Acceptance tests, rated by the rules: thresholds {thresholds}", "test", "found", "wanted", "verdict"
    )
    for check in checks:
        shown.add_row(check.name, check.found, check.wanted, "ok" if check.passed else "FAILS")
    output.print(shown)


def _profiles(corpus: str) -> list[PatientProfile]:
    if corpus == "sample":
        from builders.samples.medconceal.cases import profiles

        return profiles()
    return cases(open_data(corpus, split=SPLIT, default="medconceal").splits[SPLIT])


def _labelled(
    profiles: list[PatientProfile],
    policy: PolicyConfig,
    models: Mapping[str, ChatModel],
    out: Path,
    most: int,
    seed: int,
) -> list[Label]:
    """Labels by the judge, also written beside the policy."""
    judge = models["judge"]
    answers = out.with_suffix(".answers.sqlite")
    try:
        with Bars() as bars, AnswerStore(answers) as store:
            players = labelling.Players(store, models.get("evaluator"), models.get("clinician"))
            questions = labelling.ask_about(profiles, policy, players, most=most, seed=seed)
            progress = bars.count(f"{judge.name}: labels", len(questions))
            found, unanswered = asyncio.run(labelling.label(questions, judge, store, progress=progress))
    except KeyboardInterrupt:
        said = f"Stopped. Every answer is in {answers}: run the same command again to resume"
        raise KeyboardInterrupt(said) from None
    path = out.with_suffix(".labels.jsonl")
    write_whole(path, "".join(json.dumps(label.row, sort_keys=True) + "\n" for label in found).encode())
    output.print(f"{path}  {how_many(len(found), 'label')}; {how_many(unanswered, 'turn')} without a readable answer")
    return found


def _show_quality(fitted: Fitted) -> None:
    columns = ("model", "turns", "cases", "AUC", "Brier", "Brier of the mean")
    shown = table("Cases held out", *columns, right=columns[1:])
    for kind, quality in fitted.quality.items():
        scores = (
            (quality.auc, quality.auc_interval),
            (quality.brier, quality.brier_interval),
            (quality.reference, None),
        )
        shown.add_row(kind, quality.n, quality.cases, *(_with_interval(*score) for score in scores))
    output.print(shown)
    if untested := [kind for kind, quality in fitted.quality.items() if not quality.cases]:
        output.print(f"No case was held out for {' and '.join(untested)}: how good the weights are is not known.")


def _with_interval(score: float | None, interval: tuple[float, float] | None) -> str:
    if score is None:
        return "-"
    return f"{score:.3f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")
