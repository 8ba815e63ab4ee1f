"""The papers' numbers, as printed: 1,066 from tables and running text, 192 bar labels of MedLayBench-V's Figure A4.

    find("MedLayBench-V", "Table 5", "Mean of the 8 models", "Expert", "Average R@1 (I2T and T2I)", "test").value

`published.csv` holds facts only: the ledger's ten columns, and `wrong`, the reason why a number cannot be relied on.
`published_checks` recomputes what can be recomputed from other published numbers.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Protocol

from baselines.results.conformance import Key
from baselines.results.run import Direction

MODELS = (
    "OpenAI-CLIP-Base",
    "CoCa-Large",
    "LAION-2B",
    "OpenCLIP-Huge",
    "PubMedCLIP",
    "BMC-CLIP",
    "PMC-CLIP",
    "BiomedCLIP",
)
"""The eight encoders of MedLayBench-V, by the names of its tables."""


@cache
def _meanings() -> dict[tuple[str, str], str]:
    text = files(__package__).joinpath("columns.csv").read_text(encoding="utf-8")
    return {(line["paper"], line["column"]): line["meaning"] for line in csv.DictReader(text.splitlines())}


def meaning(paper: str, column: str) -> str:
    """What a column of a paper holds, in words: its own name where that says it, or nobody wrote better words.

    >>> meaning("3MDBench", "Criterion 1.1"), meaning("3MDBench", "Criterion 4.1, changed")
    ('Asks about history', 'Overall competence, changed')
    """
    known = _meanings()
    base, comma, rest = column.partition(", ")
    return known.get((paper, column)) or known.get((paper, base), base) + comma + rest


_NUMBERED = re.compile(r"((?:Criterion|Kappa of) (\d\.\d))(?!\d)(.*)")


def named(column: str) -> str:
    """A column, or a measure, as it is printed: one that the paper only numbers carries its name.

    >>> named("Criterion 1.1, changed"), named("Kappa of 3.2"), named("F1")
    ('Criterion 1.1 (asks about history), changed', 'Kappa of 3.2 (plans treatment)', 'F1')
    """
    if not (found := _NUMBERED.fullmatch(column)):
        return column
    words = meaning("3MDBench", f"Criterion {found[2]}")
    return f"{found[1]} ({words[0].lower()}{words[1:]}){found[3]}"


class Keyed(Protocol):
    """A number that says what it is of: a published one or a result."""

    @property
    def key(self) -> Key:
        """Paper, table, row, setting, column, split or group."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published number. `printed` is its text in the paper, whose decimals say how precise it is."""

    paper: str
    table: str
    row: str
    setting: str
    column: str
    split_or_group: str
    printed: str
    unit: str
    direction: Direction
    note: str
    wrong: str
    """Why the number cannot be relied on; empty where nothing speaks against it."""

    @property
    def key(self) -> Key:
        """What it is of: paper, table, row, setting, column, split or group; no two published numbers share it."""
        return self.paper, self.table, self.row, self.setting, self.column, self.split_or_group

    @property
    def value(self) -> float:
        """The number."""
        return float(self.printed)

    @property
    def decimals(self) -> int:
        """Decimals printed: two in most tables, one for the bar labels of Figure A4, which were read by eye.

        >>> find("MedLayBench-V", "Table A5", "Qwen2-VL", "Expert prompt", "FKGL", "1000 test pairs").decimals
        1
        """
        return len(self.printed.partition(".")[2]) if "e" not in self.printed else 6

    @property
    def half_unit(self) -> float:
        """Half a unit of its last decimal: how far rounding may have moved it."""
        return 0.5 * 10.0**-self.decimals


class Heading(NamedTuple):
    """What a table of a paper shows, in our words, and what to know before comparing with it."""

    title: str
    note: str = ""


# In the order of the paper.
_TASK_1 = "Confirmation"
TABLES: dict[tuple[str, str], Heading] = {
    ("MedLayBench-V", "Table 1"): Heading(
        "Readability of expert and lay captions",
        "Per caption, then the mean; overall is the mean of the splits weighted by their pairs, except for the "
        "vocabulary, which is a union. The published sentence lengths look like words per caption, and the published "
        "SMOG knows no least number of sentences, where textstat gives 0 below three.",
    ),
    ("MedLayBench-V", "Table 2"): Heading(
        "Relevance and factuality of lay captions against expert captions",
        "Overall is the mean of the splits weighted by their pairs.",
    ),
    ("MedLayBench-V", "Table 3"): Heading(
        "Zero-shot retrieval by register",
        "By all signs the unweighted mean over four per-modality pools (X-ray, CT, MRI, ultrasound). Tables 5, A3 and "
        "A4 use one pool of all test pairs: the two do not compare.",
    ),
    ("MedLayBench-V", "Table 4"): Heading(
        "Human evaluation", "Two radiologists and one lay reader, 100 pairs, integer ratings from 1 to 5."
    ),
    ("MedLayBench-V", "Table 5"): Heading(
        "Ablation of the pipeline",
        "R@1, mean of both directions and of the eight models, one pool of all test pairs.",
    ),
    ("MedLayBench-V", "Table A1"): Heading("Pairs by imaging modality"),
    ("MedLayBench-V", "Table A2"): Heading("Most frequent concepts by imaging modality"),
    ("MedLayBench-V", "Table A3"): Heading(
        "Lay less expert recall, with bootstrap p values",
        "Mean of both directions, one pool of all test pairs; 1,000 resamples, two-sided, so that p is an even number "
        "of thousandths or .001.",
    ),
    ("MedLayBench-V", "Table A4"): Heading(
        "Ablation of the pipeline by model", "R@1, mean of both directions, one pool of all test pairs."
    ),
    ("MedLayBench-V", "Table A5"): Heading(
        "Zero-shot captioning by register",
        "1,000 test pairs; BERTScore against the reference of the same register, not rescaled.",
    ),
    ("MedLayBench-V", "Text Sec 4.4"): Heading("Retrieval and ablation in the running text"),
    ("MedLayBench-V", "Figure A2"): Heading("Most frequent concepts and their long tail"),
    ("MedLayBench-V", "Figure A3 (caption)"): Heading(
        "Expert and lay captions in the embedding space",
        "Of unit vectors cosine and distance say the same: a distance of 0.05 to 0.07 is a cosine of 0.998 to 0.999.",
    ),
    ("MedLayBench-V", "Figure A4i (assets/downstream.png)"): Heading(
        "Retrieval by register, bar labels", "Read by eye to one decimal; per-modality pools, as in Table 3."
    ),
    ("MedLayBench-V", "Figure A4ii (assets/motivation.png)"): Heading(
        "Retrieval with lay captions of the model alone, bar labels",
        "Read by eye to one decimal; per-modality pools, as in Table 3.",
    ),
    ("3MDBench", "Table 3"): Heading(
        "Candidate patient models",
        "Validation set, in a dialogue of its own with one symptom an answer; the mean of the ranks by metric.",
    ),
    ("3MDBench", "Table 4"): Heading(
        "Candidate assessor models",
        "Agreement with human annotators: the mean of Cohen's kappa over the eight criteria, undefined counted as 0.",
    ),
    ("3MDBench", "Table 5"): Heading(
        "Diagnosis by doctor and setting",
        "F1 as the authors' notebook counts it: weighted over the 34 names, consultations without a diagnosis left "
        "out, each of several diagnoses a sample of its own. A doctor that abstains whenever it is unsure gains by "
        "this; strictly (no diagnosis is wrong, the first counts) it does not.",
    ),
    ("3MDBench", "Table 6"): Heading(
        "Clinical competence by doctor and setting", "Means of the assessor's scores of the eight Mini-CEX items."
    ),
    ("3MDBench", "Table 7"): Heading(
        "Physicians and a doctor model on the same cases",
        "Called F1 and said to be of 34 cases; the published values are accuracies over 33, and the p values those of "
        "an unpaired t test.",
    ),
    ("3MDBench", "Table 8"): Heading(
        "Image classifiers",
        "Macro F1 over the 34 diagnoses. The paper does not name the split; own numbers are of test, answered once.",
    ),
    ("3MDBench", "Figure 3 (text Sec 4.2)"): Heading(
        "F1 by medical domain", "Consultations of a domain, over the diagnoses of that domain only."
    ),
    ("3MDBench", "Figure 4 (text Sec 4.4)"): Heading("Number of utterances by temperament"),
    ("3MDBench", "Figure 5"): Heading("F1 by temperament"),
    ("3MDBench", "Figure 8 (text App B)"): Heading("Agreement between human annotators"),
    ("3MDBench", "Figure 9"): Heading(
        "Overall clinical competence by medical domain", "Criterion 4.1 (overall competence), from 0 to 2."
    ),
    ("3MDBench", "Figure 10"): Heading(
        "Overall clinical competence by temperament", "Criterion 4.1 (overall competence), from 0 to 2."
    ),
    ("3MDBench", "Figure 11"): Heading("Number of utterances by medical domain"),
    ("3MDBench", "Figure 12"): Heading("Clinical competence by temperament"),
    ("3MDBench", "Figure 13"): Heading("Clinical competence by medical domain"),
    ("MedConceal", "Table 1"): Heading(
        "Confirmation: what came out, and what was understood",
        "Micro over all concerns. A finding counts only with the patient's own words. In five published rows more "
        "concerns were named than revealed: hidden text had leaked into the patient's replies.",
    ),
    ("MedConceal", "Table 2"): Heading(
        "Confirmation: how the clinician talked",
        "Judged over whole dialogues; readability and length of clinician turns.",
    ),
    ("MedConceal", "Table 3"): Heading(
        "Intervention: whether the main concern was resolved",
        "Shares of cases; turns over the successful cases only, counted from 1.",
    ),
    ("MedConceal", "Table 4"): Heading(
        "Intervention: how the clinician talked",
        "Judged over whole dialogues. Six published values of readability and length repeat those of Table 2.",
    ),
    ("MedConceal", "Table 6"): Heading("Length of dialogues", "Clinician turns."),
    **{
        ("MedConceal", f"Table {number}"): Heading(
            f"{task}: a reference against another clinician, case by case",
            "Means over cases and their difference, with the interval of the paired bootstrap; Holm over all metrics.",
        )
        for number, task in ((7, _TASK_1), (8, _TASK_1), (9, _TASK_1), (10, _TASK_1), (11, "Intervention"))
    },
}


def published(paper: str | None = None, table: str | None = None) -> list[Published]:
    """All published numbers (of a paper, of one of its tables) in the order of the paper."""
    return [
        number
        for number in _by_key().values()
        if (paper is None or same(number.paper, paper)) and (table is None or same(number.table, table))
    ]


def find(paper: str, table: str, row: str, setting: str, column: str, split_or_group: str) -> Published | None:
    """The published number of that key, whatever the case of its letters; None where there is none."""
    return _by_key().get(_folded((paper, table, row, setting, column, split_or_group)))


def counterpart(number: Keyed) -> Published | None:
    """The published number with the key of a result; None where the paper prints none."""
    return find(*number.key)


def short(label: str) -> str:
    """A table or a split or group in fewer words, for reading; keys keep the ledger's.

    >>> short("Figure A4i (assets/downstream.png)"), short("test; caption says four modalities (X-Ray, CT, MRI)")
    ('Figure A4i', 'test; four modality pools')
    """
    label = re.sub(r" \((?:assets/|text ).*\)$", "", label)
    return re.sub(r"caption says four modalities.*", "four modality pools", label)


def same(one: str, other: str) -> bool:
    """Whether two labels differ in the case of their letters at most: "Table A3", "table a3"."""
    return one.casefold() == other.casefold()


@cache
def _by_key() -> dict[Key, Published]:
    text = (files("baselines.results") / "published.csv").read_text(encoding="utf-8")
    rows = csv.reader(text.splitlines())
    next(rows)
    numbers = (Published(*row) for row in rows)  # type: ignore[arg-type]  # the file is ours, and tested
    return {_folded(number.key): number for number in numbers}


def _folded(key: Key) -> Key:
    paper, table, row, setting, column, split_or_group = (part.casefold() for part in key)
    return paper, table, row, setting, column, split_or_group
