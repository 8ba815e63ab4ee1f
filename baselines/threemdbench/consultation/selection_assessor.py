"""Choosing an assessor model (Table 4): how far it agrees with human annotators, and how well it extracts diagnoses.

    game = assessment_game(read_prompts())               every candidate assesses the annotated dialogues again
    results({"openai/gpt-4o-mini": assessed}, annotations, record)

A candidate's kappa is the mean over the annotators of the mean over the eight items of Cohen's kappa, unweighted and 0
where it is undefined (3M-G26). That is how Figure 8 computes the agreement of an annotator with the others, so the two
can be compared. Its extraction is scored against the diagnoses that the annotators extracted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from baselines.dialogue.game import Ask, Game
from baselines.results.run import Direction, Result, RunRecord
from baselines.statistics.agreement import Agreement, cohen_kappa
from baselines.statistics.arrays import Ints
from baselines.statistics.classification import Answers
from baselines.statistics.resampling import Draws, percentile_interval
from baselines.statistics.significance import wilson_interval
from baselines.threemdbench.consultation.assessor import assess, extract, transcript
from baselines.threemdbench.consultation.diagnosis import NONE, first_name, is_none, parts, weighted_f1
from baselines.threemdbench.consultation.names import PAPER, model_name
from baselines.threemdbench.consultation.protocol import BEDSIDE
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Case, Extraction
from baselines.threemdbench.consultation.selection_raters import (
    LEVELS,
    Annotations,
    Dialogue,
    Estimated,
    Graph,
    Key,
    kappas,
    taken_for_zero,
)
from loaders.models.messages import Message
from loaders.models.prompts import Prompts
from loaders.threemdbench import NAMES

NAME = "assessor-selection"
TABLE, SETTING = "Table 4", "Assessor Agent candidate"
FIGURE_8 = "Figure 8 (text App B)"


@dataclass(frozen=True, slots=True)
class Annotated:
    """A dialogue to assess again: the case, for its photo and diagnosis, and the dialogue as it was played."""

    case: Case
    dialogue: Dialogue


@dataclass(frozen=True, slots=True)
class Assessed:
    """A candidate's assessment of a dialogue."""

    key: Key
    extraction: Extraction
    assessment: Assessment


def assessment_game(prompts: Prompts) -> Game[Annotated, Assessed]:
    """The game of one role: the candidate gets what the consultation's assessor gets, and nothing is played again."""

    async def played(annotated: Annotated, ask: Ask) -> Assessed:
        turns = annotated.dialogue.record.turns
        extraction = await extract(turns, ask, prompts)
        assessment = await assess(annotated.case, turns, ask, prompts)
        return Assessed(annotated.dialogue.key, extraction, assessment)

    return Game(
        name=NAME,
        roles=("assessor",),
        case_id=lambda annotated: "/".join(annotated.dialogue.key),
        play=played,
        transcript=lambda annotated, _: [
            Message("user", transcript(annotated.dialogue.record.turns), (annotated.case.image,))
        ],
        scores=lambda verdict: {item: float(score) for item, score in (verdict.assessment.items or {}).items()},
        invalid=lambda verdict: (
            "; ".join(filter(None, (verdict.extraction.failure, verdict.assessment.failure))) or None
        ),
        settings={"judge": BEDSIDE.judge, "prompts": prompts.digests},
        decoding={"assessor": BEDSIDE.decoding["assessor"]},
    )


def results(
    candidates: Mapping[str, Sequence[Assessed]],
    annotations: Annotations,
    record: RunRecord,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Result]:
    """Table 4: mean kappa and extraction F1 with intervals over dialogues, kappa by item, what could not be assessed.

    A dialogue that a candidate failed to assess is left out of its kappas and reported; for its extraction, it is a
    wrong answer.
    """
    draws: Draws = {"resamples": resamples, "seed": seed}
    return [cell for name, assessed in candidates.items() for cell in _of(name, assessed, annotations, record, draws)]


def _of(
    candidate: str, assessed: Sequence[Assessed], annotations: Annotations, record: RunRecord, draws: Draws
) -> list[Result]:
    by_key = {verdict.key: verdict for verdict in assessed}
    graded = {
        at: verdict.assessment.items
        for at, key in enumerate(annotations.dialogues)
        if (verdict := by_key.get(key)) is not None and verdict.assessment.items is not None
    }
    n, total = len(graded), len(annotations.dialogues)

    def cell(column: str, value: float | None, unit: str = "kappa", direction: Direction = "up", **more: Any) -> Result:
        return Result(
            paper=PAPER, table=TABLE, row=model_name(candidate), setting=SETTING, column=column,
            split_or_group=f"human-annotated {record.data.split} subset", value=value, unit=unit,
            direction=direction, record=record, **{"n": n, **more},
        )  # fmt: skip

    cells = []
    if n > 1:
        own: Ints = np.array([[items[item] for item in ITEMS] for items in graded.values()], dtype=np.int64)
        theirs = annotations.items[:, list(graded)]
        by_rater, drawn, zeros = kappas([own] * len(theirs), list(theirs), draws)
        estimates, replicates = by_rater.mean(axis=0), drawn.mean(axis=1)
        mean = f"mean over {len(annotations.raters)} annotators and the 8 criteria"
        note = "; ".join(filter(None, (mean, taken_for_zero(int(zeros.sum()), zeros.size))))
        ci95 = percentile_interval(replicates.mean(axis=1))
        cells.append(cell("Cohen's Kappa", float(estimates.mean()), ci95=ci95, note=note))
        for at, item in enumerate(ITEMS):
            note = taken_for_zero(int(zeros[:, at].sum()), len(zeros))
            ci95 = percentile_interval(replicates[:, at])
            cells.append(cell(f"Kappa of {item}", float(estimates[at]), ci95=ci95, note=note))
        weighted = _weighted(own[:, -1], theirs[:, :, -1], draws)
        note = "over the pairs of all annotators together, where the others are means over annotators"
        note = note if weighted.kappa is not None else "undefined: one rating throughout"
        cells.append(cell("Kappa of 4.1 (quadratic weights)", weighted.kappa, ci95=weighted.ci95, note=note))
    else:
        cells.append(cell("Cohen's Kappa", None, note="fewer than two dialogues assessed"))
    read = _extractions(by_key, annotations)
    others = sorted({str(name) for name in read.truth} - {*NAMES, NONE})
    f1 = weighted_f1(read, (*NAMES, *others, NONE), **draws)
    assert f1.value is not None and f1.ci95 is not None
    ci95 = 100 * f1.ci95[0], 100 * f1.ci95[1]
    note = "weighted; what each annotator read out is the truth"
    cells.append(cell("Diagnosis-extraction F1", 100 * f1.value, "percent", n=f1.n, ci95=ci95, note=note))
    failed = total - n
    cells.append(
        cell("Not assessed", failed / total, "proportion", "down", n=total, numerator=float(failed),
             denominator=float(total), ci95=wilson_interval(failed, total))
    )  # fmt: skip
    return cells


def _weighted(own: Ints, theirs: Ints, draws: Draws) -> Agreement:
    """Kappa of 4.1 with quadratic weights, over all annotators' pairs together, bootstrapped over dialogues."""
    mine, dialogues = (np.tile(values, len(theirs)).tolist() for values in (own, np.arange(len(own))))
    return cohen_kappa(
        mine, theirs.ravel().tolist(), range(LEVELS), weights="quadratic", **draws | {"clusters": dialogues}
    )


def _extractions(by_key: Mapping[Key, Assessed], annotations: Annotations) -> Answers:
    """A sample for each annotator and dialogue; "none" is an ordinary reading here, and so is an unknown name."""
    truth, predicted, cases = [], [], []
    for said in annotations.diagnoses:
        for key, text in zip(annotations.dialogues, said, strict=True):
            verdict = by_key.get(key)
            failed = verdict is None or verdict.extraction.failure is not None
            truth.append(_label(text))
            predicted.append(None if failed or verdict is None else _label(", ".join(verdict.extraction.names)))
            cases.append("/".join(key))
    return Answers(truth, predicted, cases)


def _label(text: str) -> str:
    return NONE if is_none(text) else first_name(text) or parts(text)[0].casefold()


def graph_results(graph: Graph, annotations: Annotations, record: RunRecord) -> list[Result]:
    """Figure 8: the agreement of every two annotators, of each with the others, of all before and after exclusion."""

    def cell(row: str, column: str, agreement: Estimated, note: str = "") -> Result:
        return Result(
            paper=PAPER, table=FIGURE_8, row=row, setting="", column=column, split_or_group="", value=agreement[0],
            unit="kappa", direction="up", n=len(annotations.dialogues), ci95=agreement[1], note=note, record=record,
        )  # fmt: skip

    def noted(pairs: Collection[tuple[str, str]], first: str = "") -> str:
        zeros = sum(graph.undefined[pair] for pair in pairs)
        return "; ".join(filter(None, (first, taken_for_zero(zeros, len(pairs) * len(ITEMS)))))

    cells = []
    for rater, mean in graph.by_rater.items():
        note = "careless: agrees clearly less than the others do" if rater in graph.careless else ""
        note = noted([pair for pair in graph.edges if rater in pair], note)
        cells.append(cell(f"Participant {rater}", "Average pairwise kappa", mean, note))
    cells += [cell(" and ".join(pair), "Pairwise kappa", kappa, noted([pair])) for pair, kappa in graph.edges.items()]
    everyone = f"All {_number(len(graph.by_rater))} participants"
    cells.append(cell(everyone, "Mean kappa before exclusion", graph.mean, noted(graph.edges)))
    if graph.careless:
        kept = [rater for rater in graph.by_rater if rater not in graph.careless]
        note = noted(list(combinations(kept, 2)), f"without {', '.join(graph.careless)}")
        row = f"{_number(len(kept)).capitalize()} participants"
        cells.append(cell(row, "Mean kappa after exclusion", graph.kept, note))
    return cells


def _number(count: int) -> str:
    return {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}.get(count, str(count))
