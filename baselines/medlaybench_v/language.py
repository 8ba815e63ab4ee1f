"""Language of caption pairs: readability of both registers, and how far the lay one keeps the expert one's words.

    results, by_caption = evaluate(rows, data=DataUsed.of(opened))

MedLayBench-V's Tables 1 and 2, cell by cell, with the labels of the published numbers, and two more columns: words per
sentence, and BLEU-4 of each split as one corpus. Every mean is taken over captions, so Overall, which is there if there
is more than one split, is the mean of the splits weighted by their captions. A column whose package or weights are
not on this machine has no value, and a note that says what is missing.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate
from operator import or_
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from baselines.medlaybench_v import learned_metrics, readability, relevance
from baselines.medlaybench_v.learned_metrics import Metric, Scores
from baselines.medlaybench_v.wordnet import HOW_TO_GET_WORDNET, WordNet, find_wordnet
from baselines.results.run import DataUsed, Direction, Result, RunRecord
from baselines.statistics.arrays import Floats
from baselines.statistics.resampling import bootstrap_means
from loaders.errors import InputError, MissingExtra, ModelError, how_many
from loaders.files.records import GROWN

PAPER = "MedLayBench-V"
ROW = "MedLayBench-V captions"
PAIR = "Layman against Expert"
OVERALL = "Overall"
SPLITS = {"train": "Train", "validation": "Validation", "test": "Test"}
REGISTERS = {"Expert": "expert_caption", "Layman": "layman_caption"}
LEARNED: dict[str, Metric] = {name: learned_metrics.METRICS[name] for name in ("LENS", "RaTEScore", "GREEN")}

# Columns of `readability.measure` -> label, unit, better direction and note in Table 1.
_FORMULAS: dict[str, tuple[str, str, Direction, str]] = {
    "FKGL": ("FKGL", "grade", "down", ""),
    "CLI": ("CLI", "grade", "down", ""),
    "DCRS": ("DCRS", "score", "down", ""),
    "SMOG": ("SMOG", "grade", "down", ""),
    "FRE": ("FRE", "score", "up", ""),
    "Words per caption": (
        "Average Sentence Length",
        "words",
        "none",
        "words per caption: the published values are no sentence lengths that fit the published FKGL and FRE",
    ),
    "Words per sentence": ("Words per sentence", "words", "none", "not in the paper"),
}
_in_table_1 = partial(Result, paper=PAPER, table="Table 1", row=ROW)
_in_table_2 = partial(Result, paper=PAPER, table="Table 2", row=ROW, setting=PAIR, direction="up")
_Column = Callable[..., Result]


WORDLESS = "what textstat gives for that"  # the end of a remark on captions without a word
CAPTIONS = "captions.json"
"""The file of a run that holds `CaptionScores`."""


@dataclass(frozen=True)
class Measured:
    """A measure's value for each lay caption, in its unit, to six decimals."""

    unit: str
    values: list[float]


@dataclass(frozen=True)
class GateFailures:
    """The lay captions that fail each fact gate, by their places, from 0; `rules` is the version of the gates."""

    rules: int
    failing: dict[str, list[int]]


@dataclass(frozen=True)
class CaptionScores:
    """What each lay caption scores, so that the captions of two runs can be paired: lists in one order. `expert` are
    digests of the expert captions, `tables` the measures of Tables 1 and 2 by table and column."""

    image_id: list[str | None]
    expert: list[str]
    article_id: list[str] | None
    tables: dict[str, dict[str, Measured]]
    gates: Annotated[GateFailures | None, GROWN] = None

    def __post_init__(self) -> None:
        lists: list[Sized] = [self.expert, *([] if self.article_id is None else [self.article_id])]
        lists += [measured.values for table in self.tables.values() for measured in table.values()]
        if any(len(one) != len(self.image_id) for one in lists):
            raise ValueError("lists of different lengths")
        places = [place for failing in (self.gates.failing.values() if self.gates else ()) for place in failing]
        if any(not 0 <= place < len(self.image_id) for place in places):
            raise ValueError("a failing caption that is none of the captions")


@dataclass(frozen=True)
class _Pairs:
    """Captions by register in the order of the splits; `groups` are the splits, then all, as label and rows; `names`
    are the image_id of each pair, or None."""

    names: list[str | None]
    captions: dict[str, list[str]]
    articles: list[Hashable] | None
    groups: list[tuple[str, slice]]

    @property
    def against(self) -> tuple[list[str], list[str]]:
        """Hypotheses and references of Table 2."""
        return self.captions["Layman"], self.captions["Expert"]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each pair as a row: its image_id and both captions."""
        for at, name in enumerate(self.names):
            yield {"image_id": name, **{REGISTERS[register]: texts[at] for register, texts in self.captions.items()}}


def evaluate(
    rows: Iterable[Mapping[str, Any]],
    *,
    data: DataUsed,
    stand_in: str | None = None,
    wordnet: Path | None = None,
    learned: Mapping[str, Metric] = LEARNED,
    gates: Callable[[Iterable[dict[str, Any]]], GateFailures] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[list[Result], CaptionScores]:
    """Tables 1 and 2 of rows with `split` (train, validation, test), `expert_caption` and `layman_caption`.

    `data` and `stand_in` go into the record of the run. `wordnet` names a folder of WordNet's files for METEOR; by
    default the machine's own is used, if any. `learned` are the metrics of learned_metrics to fill in. `gates`, given
    the `image_id` and both captions of each pair, says which fail a fact gate; this is stored, for comparisons. ci95 is
    the percentile interval of `resamples` bootstrap means; if every row has an `article_id`, whole articles are drawn.

    Raises InputError, which names the row, on a row without a split or a caption; MissingExtra without the packages of
    the extra `language`.
    """
    pairs = _read(rows)
    synonyms = find_wordnet(wordnet)
    scores, missing = _learned(pairs, learned)
    columns = [*_readability(pairs), *_overlap(pairs, synonyms)]
    columns += [(column, score.values) for column, score in scores]
    record = RunRecord(
        baseline="language",
        data=data,
        models=tuple(model for _, score in scores for model in score.models),
        options={
            "wordnet": synonyms.name if synonyms else None,
            "learned": sorted(learned),
            "resamples": resamples,
            "resampled": "articles" if pairs.articles else "captions",
        },
        seeds={"bootstrap": seed},
        versions=reduce(or_, (score.versions for _, score in scores), readability.versions() | relevance.versions()),
        stand_in=stand_in,
    )
    results: list[Result] = []
    for label, part in pairs.groups:
        n = part.stop - part.start
        facts: dict[str, Any] = {"split_or_group": label, "n": n, "record": record}
        results += _counts(pairs, part, facts)
        clusters = pairs.articles[part] if pairs.articles else None
        table = np.column_stack([values[part] for _, values in columns])
        bootstrap = bootstrap_means(table, resamples=resamples, seed=seed, clusters=clusters)
        means, intervals = bootstrap.estimates.tolist(), bootstrap.interval().tolist()
        remarks = _remarks(pairs, part)
        for (column, _), mean, (low, high) in zip(columns, means, intervals, strict=True):
            cell = column(value=mean, ci95=(low, high), **facts)
            remark = remarks.get(cell.column) or remarks.get(cell.setting, "")
            results.append(replace(cell, note="; ".join(filter(None, (cell.note, remark)))))
        results += [column(value=None, **facts) for column in missing]
    failures = gates(pairs.rows()) if gates else None
    return results, _by_caption(pairs, columns, failures)


def _by_caption(pairs: _Pairs, columns: Iterable[tuple[_Column, Floats]], gates: GateFailures | None) -> CaptionScores:
    tables: dict[str, dict[str, Measured]] = {}
    for column, scores in columns:
        cell = column(value=0.0, split_or_group="", n=0)  # for what stands over the column
        if cell.setting != "Expert":
            tables.setdefault(cell.table, {})[cell.column] = Measured(cell.unit, np.round(scores, 6).tolist())
    experts = [hashlib.sha256(text.encode()).hexdigest()[:16] for text in pairs.captions["Expert"]]
    articles = [str(one) for one in pairs.articles] if pairs.articles else None
    return CaptionScores(pairs.names, experts, articles, tables, gates)


def _read(rows: Iterable[Mapping[str, Any]]) -> _Pairs:
    by_split: dict[str, list[Mapping[str, Any]]] = {split: [] for split in SPLITS}
    for name, row in read_rows(rows):
        by_split[read_one_of(row, "split", SPLITS, name)].append(row)
    ordered = [row for part in by_split.values() for row in part]
    ends = accumulate(map(len, by_split.values()))
    groups = [
        (SPLITS[split], slice(end - len(part), end))
        for (split, part), end in zip(by_split.items(), ends, strict=True)
        if part
    ]
    if len(groups) > 1:
        groups.append((OVERALL, slice(0, len(ordered))))
    articles = [row.get("article_id") for row in ordered]
    captions = {register: [row[column] for row in ordered] for register, column in REGISTERS.items()}
    names = [row.get("image_id") for row in ordered]
    return _Pairs(names, captions, articles if all(articles) else None, groups)


def read_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What each row is called, and the row with both captions as `read_caption` reads them. Raises InputError for a row
    without one, and for no rows."""
    number = 0
    for number, row in enumerate(rows, start=1):
        name = str(row.get("image_id") or f"row {number}")
        yield name, {**row, **{column: read_caption(row, column, name) for column in REGISTERS.values()}}
    if not number:
        raise InputError("rows", found="none", expected="one or more caption pairs")


def read_one_of(row: Mapping[str, Any], column: str, known: Collection[str], name: str) -> str:
    """The value in a column of the row called `name`. Raises InputError if it is none of those that are known."""
    value = row.get(column)
    if not isinstance(value, str) or value not in known:
        raise InputError(name, found=f"{column} {value!r}", expected="one of " + ", ".join(known))
    return value


def read_caption(row: Mapping[str, Any], column: str, name: str) -> str:
    """The caption in a column of the row called `name`. Raises InputError if there is none."""
    caption = row.get(column)
    if not isinstance(caption, str) or not caption.strip():
        found = "no" if caption is None or isinstance(caption, str) else f"a {type(caption).__name__} as"
        raise InputError(name, found=f"{found} {column}", expected="a text")
    # a PDF's letters with loose accents would count as other words, of other lengths
    return unicodedata.normalize("NFC", caption)


def _readability(pairs: _Pairs) -> Iterator[tuple[_Column, Floats]]:
    for register, captions in pairs.captions.items():
        measured = readability.measure(captions)
        for name, (label, unit, direction, note) in _FORMULAS.items():
            column = partial(_in_table_1, setting=register, column=label, unit=unit, direction=direction, note=note)
            yield column, measured[name]


def _remarks(pairs: _Pairs, part: slice) -> dict[str, str]:
    """By register or column: how many captions of a split have values there that mean little."""
    found: dict[str, str] = {}
    for register, captions in pairs.captions.items():
        wordless = sum(not readability.has_word(caption) for caption in captions[part])
        hold = "caption holds no word and scores", "captions hold no word and score"
        warning = f"{how_many(wordless, *hold)} {WORDLESS}" if wordless else ""
        others = sum(map(readability.foreign, captions[part]))
        language = f"{how_many(others, 'caption is', 'captions are')} {readability.FOREIGN}" if others else ""
        found[register] = "; ".join(filter(None, (warning, language)))
    unread = sum(
        any(map(readability.foreign, pair)) for pair in zip(*(side[part] for side in pairs.against), strict=True)
    )
    if unread:
        found["ROUGE-L"] = f"{how_many(unread, 'pair')} mostly in other letters than a to z, which it does not read"
    return found


def _overlap(pairs: _Pairs, wordnet: WordNet | None) -> Iterator[tuple[_Column, Floats]]:
    synonyms = f"synonyms of {wordnet.name}" if wordnet else f"no synonyms: no WordNet here ({HOW_TO_GET_WORDNET})"
    for name, note, values in (
        ("BLEU-4", "mean over pairs, one added to the counts of 2- to 4-grams", relevance.bleu(*pairs.against)),
        ("ROUGE-L", "F1 of stemmed words", relevance.rouge_l(*pairs.against)),
        ("METEOR", f"exact words, stems, {synonyms}", relevance.meteor(*pairs.against, wordnet)),
    ):
        yield partial(_in_table_2, column=name, unit="percent", note=note), values


def _learned(pairs: _Pairs, learned: Mapping[str, Metric]) -> tuple[list[tuple[_Column, Scores]], list[_Column]]:
    scores: list[tuple[_Column, Scores]] = []
    missing: list[_Column] = []
    for name, metric in learned.items():
        column = partial(_in_table_2, column=name, unit="score 0-100" if name == "LENS" else "percent")
        try:
            scores.append((column, metric(*pairs.against)))
        except (MissingExtra, ModelError) as problem:
            missing.append(partial(column, note=f"not computed: {problem}"))
    return scores, missing


def _counts(pairs: _Pairs, part: slice, facts: Mapping[str, Any]) -> Iterator[Result]:
    """The numbers that are not means over captions: counts, the vocabularies, and BLEU of the split as one corpus."""
    header = partial(_in_table_1, row="Dataset", setting="header", column="N", unit="pairs")
    yield header(value=float(part.stop - part.start), **facts)
    vocabulary = partial(_in_table_1, column="Vocab Size", unit="types", note="lower-case words of letters only")
    for register, captions in pairs.captions.items():
        words = float(len(readability.vocabulary(captions[part])))
        yield vocabulary(setting=register, value=words, direction="down", **facts)
    corpus = partial(_in_table_2, column="BLEU-4 (corpus)", note="all pairs as one corpus; not in the paper")
    lay, expert = (side[part] for side in pairs.against)
    yield corpus(value=relevance.corpus_bleu(lay, expert), unit="percent", **facts)
