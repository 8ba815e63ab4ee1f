"""Published numbers of MedLayBench-V recomputed from other published numbers, so that each doubt rests on arithmetic.

A check compares a printed number with the value that follows from other printed numbers, within what rounding allows:
half a unit of the last decimal of the target, and of each number that went in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean, median

from baselines.results.published import MODELS, Published, find, published
from baselines.statistics.printed import grimmer, possible_sds, possible_totals

PAPER = "MedLayBench-V"
SPLITS = ("Train", "Validation", "Test")
GENERAL = MODELS[:4]
FOUR_POOLS = "test; caption says four modalities (X-Ray, CT, MRI, Ultrasound)"
FIGURE_A4 = ("Figure A4i (assets/downstream.png)", "Figure A4ii (assets/motivation.png)")
_DIRECTIONS = ("I2T", "T2I")
_TWO_POOLS = "Table 3 averages four per-modality pools; Tables A3 and A4 use one pool of all test pairs"


@dataclass(frozen=True, slots=True)
class Check:
    """One printed number against the value that follows from other printed numbers.

    It holds if the printed number lies between `low` and `high`. `known` says why a whole table does not.
    """

    rule: str
    target: Published
    recomputed: float
    low: float
    high: float
    known: str = ""

    @property
    def holds(self) -> bool:
        """Whether the other numbers allow the printed one."""
        return self.low - 1e-9 <= self.target.value <= self.high + 1e-9

    @property
    def reason(self) -> str:
        """Why it does not hold; empty if it does, or if nobody knows."""
        return "" if self.holds else (self.target.wrong or self.known)


def checks() -> list[Check]:
    """Every check, in the order of the paper's tables; the numbers of the other papers are independent."""
    return [
        *_overall(), *_sentence_lengths(), *_pools(), *_rater_means(), *_rater_deviations(), *_ablation_means(),
        *_modalities(), *_deltas_from_ablation(), *_deltas_from_pools(), *_standard_errors(), *_captioning_deltas(),
        *_texts(), *_figure_labels(),
    ]  # fmt: skip


def _get(table: str, row: str, setting: str, column: str, split: str) -> Published:
    found = find(PAPER, table, row, setting, column, split)
    if found is None:
        raise LookupError(f"{table}: {row}, {setting}, {column}, {split}")
    return found


def _pairs(split: str) -> Published:
    return _get("Table 1", "Dataset", "header", "N", split)


def _overall() -> Iterator[Check]:
    """Overall against the splits: a sum for the pairs, a mean weighted by pairs for everything but the vocabulary."""
    weights = [_pairs(split).value for split in SPLITS]
    yield _about("N overall = sum of the splits", _pairs("Overall"), sum(weights), 0)
    for table in ("Table 1", "Table 2"):
        for target in published(PAPER, table):
            if target.split_or_group != "Overall" or target.column in ("N", "Vocab Size"):
                continue
            parts = [_get(table, target.row, target.setting, target.column, split) for split in SPLITS]
            value = sum(w * p.value for w, p in zip(weights, parts, strict=True)) / sum(weights)
            yield _about("overall = mean of the splits, weighted by pairs", target, value, _rounding(target, parts[:1]))


def _sentence_lengths() -> Iterator[Check]:
    """FKGL = .39 S + 11.8 Y - 15.59 and FRE = 206.835 - 1.015 S - 84.6 Y, solved for S, the words per sentence."""
    for target in published(PAPER, "Table 1"):
        if target.column != "Average Sentence Length":
            continue
        fkgl, fre = (
            _get("Table 1", target.row, target.setting, name, target.split_or_group) for name in ("FKGL", "FRE")
        )
        per_fkgl, per_fre = 84.6 / (0.39 * 84.6 - 1.015 * 11.8), 11.8 / (0.39 * 84.6 - 1.015 * 11.8)
        value = per_fkgl * (fkgl.value + 15.59) - per_fre * (206.835 - fre.value)
        slack = target.half_unit + per_fkgl * fkgl.half_unit + per_fre * fre.half_unit
        yield _about("sentence length = the one behind FKGL and FRE", target, value, slack)


def _recall(model: str, register: str, k: int) -> list[Published]:
    return [_get("Table 3", model, register, f"{way} Recall@{k}", FOUR_POOLS) for way in _DIRECTIONS]


def _ablated(model: str, condition: str) -> Published:
    return _get("Table A4", model, condition, "Average R@1 (I2T and T2I)", "test")


def _pools() -> Iterator[Check]:
    for model in MODELS:
        for register, condition in (("Expert", "Expert"), ("Layman", "SCGR (Ours)")):
            target, parts = _ablated(model, condition), _recall(model, register, 1)
            yield _mean("Table A4 = mean of both directions of Table 3", target, parts, _TWO_POOLS)


def _ablation_means() -> Iterator[Check]:
    for condition in ("LLM Only", "LLM + CUI", "SCGR (Ours)", "Expert"):
        parts = [_ablated(model, condition) for model in MODELS]
        for table in ("Table 5", "Table A4"):
            target = _get(table, "Mean of the 8 models", condition, "Average R@1 (I2T and T2I)", "test")
            yield _mean("mean = mean of the eight models in Table A4", target, parts)


def _delta(model: str, k: int) -> Published:
    return _get("Table A3", model, "Layman - Expert", f"R@{k} delta", "overall test")


def _deltas_from_ablation() -> Iterator[Check]:
    for model in MODELS:
        target, lay, expert = _delta(model, 1), _ablated(model, "SCGR (Ours)"), _ablated(model, "Expert")
        yield _difference("R@1 difference = SCGR less expert in Table A4", target, lay, expert)


def _deltas_from_pools() -> Iterator[Check]:
    for model in MODELS:
        for k in (1, 5, 10):
            target, lay, expert = _delta(model, k), _recall(model, "Layman", k), _recall(model, "Expert", k)
            value = mean(part.value for part in lay) - mean(part.value for part in expert)
            slack = _rounding(target, lay) + _rounding(target, expert) - target.half_unit
            yield _about("difference = lay less expert in Table 3", target, value, slack, _TWO_POOLS)


def _standard_errors() -> Iterator[Check]:
    """The standard errors that p and difference imply, were the bootstrap normal, for R@1 of the general models."""
    from scipy import stats  # type: ignore[import-untyped, unused-ignore]

    rows = {
        model: (_delta(model, 1), _get("Table A3", model, "bootstrap n=1000, two-sided", "R@1 p-value", "overall test"))
        for model in GENERAL
    }
    errors = {model: abs(delta.value) / _z(p.value) for model, (delta, p) in rows.items()}
    for model, (delta, p) in rows.items():
        others = median(error for other, error in errors.items() if other != model)
        # A bootstrap p is rough, so a factor of three in the standard error is accepted.
        expected, low, high = (float(2 * stats.norm.sf(abs(delta.value) / others / by)) for by in (1, 1 / 3, 3))
        yield Check("p = what the other models' standard error gives", p, expected, low, high)
        size = _z(p.value) * others * (1 if delta.value > 0 else -1)
        low, high = sorted((size / 3, size * 3))
        yield Check("difference = what p and the other models' standard error give", delta, size, low, high)


def _z(p: float) -> float:
    from scipy import stats

    return float(stats.norm.isf(p / 2))


RATERS = ("E1 (radiologist)", "E2 (radiologist)", "L (lay reader)")
CRITERIA = ("Factual Correctness", "Completeness", "Simplicity", "Fluency")
_RATED = 100


def _rating(rater: str, criterion: str, what: str) -> Published:
    return _get("Table 4", rater, "100 SCGR caption pairs", f"{criterion} ({what})", "human evaluation")


def _rater_means() -> Iterator[Check]:
    for criterion in CRITERIA:
        parts = [_rating(rater, criterion, "mean") for rater in RATERS]
        target = _rating("Average of the three raters", criterion, "mean")
        yield _mean("average = mean of the three raters", target, parts)


def _rater_deviations() -> Iterator[Check]:
    """GRIM and GRIMMER: the possible value nearest to the printed one, for 100 integer ratings from 1 to 5."""
    for rater in RATERS:
        for criterion in CRITERIA:
            average, deviation = _rating(rater, criterion, "mean"), _rating(rater, criterion, "SD")
            sds = [
                float(sd)
                for total in possible_totals(average.value, _RATED)
                for ddof in (0, 1)
                for sd in possible_sds(total, _RATED, low=1, high=5, ddof=ddof)
            ]
            nearest = min(sds, key=lambda sd, target=deviation.value: abs(sd - target))  # type: ignore[misc]
            rule = "SD = one that 100 integer ratings with this mean can have"
            yield _about(rule, deviation, nearest, deviation.half_unit)
            possible = [
                hundredths / 100
                for hundredths in range(100, 501)
                if grimmer(hundredths / 100, deviation.value, _RATED, low=1, high=5)
            ]
            fitting = min(possible, key=lambda value, target=average.value: abs(value - target))  # type: ignore[misc]
            yield _about("mean = one that 100 integer ratings with this SD can have", average, fitting, 0)


def _modalities() -> Iterator[Check]:
    counts = published(PAPER, "Table A1")
    total = counts[-1]
    yield _about("total = sum of the modalities", total, sum(count.value for count in counts[:-1]), 0)
    yield _about("total = pairs of Table 1", total, _pairs("Overall").value, 0)
    names = {"CT": "DRCT", "Plain X-Ray": "DRXR", "MRI": "DRMR", "Ultrasonography": "DRUS"}
    names |= {"Angiography": "DRAN", "PET": "DRPE"}
    by_code = {count.setting: count.value for count in counts}
    for concept in published(PAPER, "Table A2"):
        if concept.setting == "rank 1":
            most = by_code[names[concept.split_or_group]]
            yield Check("captions with the concept of a modality <= its pairs", concept, most, 0, most)


def _captioning_deltas() -> Iterator[Check]:
    for target in published(PAPER, "Table A5"):
        if "delta" in target.column:
            expert, lay = (
                _get("Table A5", target.row, f"{name} prompt vs {name} reference", "BERTScore", target.split_or_group)
                for name in ("Expert", "Layman")
            )
            yield _difference("difference = expert less layman", target, expert, lay)


def _texts() -> Iterator[Check]:
    text = {number.column: number for number in published(PAPER) if number.table.startswith("Text")}
    yield _about("pairs = those of Table 1", text["Image-text pairs"], _pairs("Overall").value, 0)
    expert, lay = (
        _get("Table 1", "MedLayBench-V captions", name, "Vocab Size", "Overall").value for name in ("Expert", "Layman")
    )
    vocabulary = text["Vocabulary reduction"]
    yield _about("reduction = from Table 1", vocabulary, 100 * (1 - lay / expert), vocabulary.half_unit)
    mean_of = {number.setting: number.value for number in published(PAPER, "Table 5")}
    drop, share = text["Drop from Expert"], text["Share of Expert performance restored"]
    yield _about("drop = from Table 5", drop, 100 * (1 - mean_of["LLM Only"] / mean_of["Expert"]), drop.half_unit)
    yield _about("share = from Table 5", share, 100 * mean_of["SCGR (Ours)"] / mean_of["Expert"], share.half_unit)
    bound = text["Bound on the absolute Layman-Expert difference"]
    single = [
        abs(lay.value - expert.value)
        for model in MODELS
        for k in (1, 5, 10)
        for lay, expert in zip(_recall(model, "Layman", k), _recall(model, "Expert", k), strict=True)
    ]
    averaged = [abs(_delta(model, k).value) for model in MODELS for k in (1, 5, 10)]
    yield _about("bound = the largest difference in Tables 3 and A3", bound, max(*single, *averaged), bound.half_unit)


def _figure_labels() -> Iterator[Check]:
    """The labels of Figure A4 that Table 3 also prints, and the two of its caption."""
    for figure in FIGURE_A4:
        for label in published(PAPER, figure):
            register = {"Expert": "Expert", "Layman (SCGR)": "Layman"}.get(label.setting)
            if register:
                number = _get("Table 3", label.row, register, label.column, FOUR_POOLS)
                yield _about("label = Table 3", label, number.value, label.half_unit + number.half_unit)
    for setting, column in (
        ("Expert", "I2T R@1 with Expert captions"),
        ("Layman (naive LLM only)", "I2T R@1 with LLM-only lay captions"),
    ):
        said = _get("Figure A4ii (caption)", "BiomedCLIP", "", column, "")
        label = _get(FIGURE_A4[1], "BiomedCLIP", setting, "I2T Recall@1", "test")
        yield _about("caption = label", said, label.value, said.half_unit)


def _about(rule: str, target: Published, recomputed: float, slack: float, known: str = "") -> Check:
    return Check(rule, target, recomputed, recomputed - slack, recomputed + slack, known)


def _mean(rule: str, target: Published, parts: Sequence[Published], known: str = "") -> Check:
    return _about(rule, target, mean(part.value for part in parts), _rounding(target, parts), known)


def _difference(rule: str, target: Published, more: Published, less: Published) -> Check:
    return _about(rule, target, more.value - less.value, target.half_unit + more.half_unit + less.half_unit)


def _rounding(target: Published, parts: Iterable[Published]) -> float:
    """How far rounding can move a mean of `parts`."""
    return target.half_unit + mean(part.half_unit for part in parts)
