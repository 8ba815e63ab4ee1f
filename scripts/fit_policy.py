"""`bedside fit-policy`: weights of the reserved patient from labelled turns, tested before they are written."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import typer

from baselines.medconceal import labelling
from baselines.medconceal.acceptance import candidates, replay
from baselines.medconceal.fitting import RIDGE, Fitted, Label, fit, read_labels
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from loaders.errors import InputError
from loaders.files.disk import write_whole
from loaders.files.records import to_json
from loaders.medconceal import SPLIT, PatientProfile, cases
from loaders.models.answers import AnswerStore
from loaders.models.chat import open_model
from loaders.opened import open_data
from scripts.terminal.console import output, table
from scripts.terminal.progress import Bars


def command(
    out: Path = typer.Option(..., "--out", "-o", metavar="FILE", help="The policy as JSON, for `--policy`."),
    labels: Path | None = typer.Option(None, metavar="FILE", help="Labelled turns (JSONL or Parquet) to fit on."),
    judge: str | None = typer.Option(
        None, metavar="MODEL", help="Label turns of scripted dialogues with this model first; `scripted` needs none."
    ),
    corpus: str = typer.Option("sample", metavar="DATA", help="Cases: sample, medconceal[@TAG], a release folder."),
    most: int = typer.Option(2_000, min=100, help="Turns to label at most."),
    base: Path | None = typer.Option(None, metavar="FILE", help="Constants other than the weights [the shipped ones]"),
    ridge: float = typer.Option(RIDGE, min=0.0, help="How strongly the categories are held together."),
    seed: int = typer.Option(0, help="Seed of the choice of turns and of the split by case."),
) -> None:
    """Fit the weights of the reserved patient on labelled turns and replay thresholds against the acceptance tests.

    Example: `bedside fit-policy --judge openai/gpt-4o-mini --corpus runs/medconceal -o runs/policy.json`
    """
    if not out.name:
        raise InputError(out, found="is a folder", expected="a file to write")
    if (labels is None) == (judge is None):
        raise InputError("--labels, --judge", found="both or neither", expected="one of them")
    profiles = _profiles(corpus)
    known = read_labels(labels) if labels else _labelled(profiles, judge or "", out, most, seed)
    start = DEFAULT if base is None else PolicyConfig.read(base)
    fitted = fit(known, start, seed=seed, ridge=ridge)
    _show_quality(fitted)
    name, policy, checks = replay(candidates(fitted.policy), profiles)
    shown = table(f"Acceptance tests: thresholds {name}", "test", "found", "wanted", "verdict")
    for check in checks:
        shown.add_row(check.name, check.found, check.wanted, "ok" if check.passed else "FAILS")
    output.print(shown)
    write_whole(out, (json.dumps(to_json(policy), indent=1, ensure_ascii=False) + "\n").encode())
    mark = "  stand-in: labels of a scripted judge" if policy.training["stand_in"] else ""
    output.print(f"\n{out}  policy {policy.digest[:16]}{mark}", highlight=False, markup=False)
    if failed := [check.name for check in checks if not check.passed]:
        output.print(f"Not fit for use: {', '.join(failed)}", style="bold red", highlight=False)
        raise typer.Exit(1)


def _profiles(corpus: str) -> list[PatientProfile]:
    if corpus == "sample":
        from builders.samples.medconceal.cases import profiles

        return profiles()
    return cases(open_data(corpus, split=SPLIT, default="medconceal").splits[SPLIT])


def _labelled(profiles: list[PatientProfile], judge: str, out: Path, most: int, seed: int) -> list[Label]:
    """Labels by the judge, also written beside the policy."""
    questions = labelling.ask_about(profiles, most=most, seed=seed)
    with Bars() as bars:
        progress = bars.count(f"{judge}: labels", len(questions))
        if judge == "scripted":
            asked = labelling.label(questions, labelling.judge_by_script, labelling.SCRIPTED_JUDGE, progress=progress)
            found, unanswered = asyncio.run(asked)
        else:
            model = open_model(judge)
            with AnswerStore(out.with_suffix(".answers.sqlite")) as store:
                by_model = labelling.judge_by_model(model, store, labelling.prompts())
                found, unanswered = asyncio.run(labelling.label(questions, by_model, model.name, progress=progress))
    path = out.with_suffix(".labels.jsonl")
    write_whole(path, "".join(json.dumps(label.row, sort_keys=True) + "\n" for label in found).encode())
    output.print(f"{path}  {len(found):,} labels, {unanswered:,} without a readable answer", highlight=False)
    return found


def _show_quality(fitted: Fitted) -> None:
    columns = ("model", "turns", "cases", "AUC", "Brier", "Brier of the mean")
    shown = table("Cases held out", *columns, right=columns[1:])
    for kind, quality in fitted.quality.items():
        scores = (quality.auc, quality.brier, quality.reference)
        told = ("-" if score is None else f"{score:.3f}" for score in scores)
        shown.add_row(kind, quality.n, quality.cases, *told)
    output.print(shown)
