"""Lay captions of several writers in one table: how they read, how far they are from the experts', what they lose.

    python -m scripts.bench.lay CAPTIONS.csv [--beside NAME=PAIRS …]

The rows: the paper's expert and lay captions (its numbers, test split); the captions of CAPTIONS.csv that a build takes
(of other languages it takes none) as experts wrote them and as our rules rewrite them; expert and lay captions of other
files of pairs, such as published ones. The columns: five readability
formulas and the vocabulary (Table 1), BLEU-4 and ROUGE-L against the expert caption (Table 2), words per caption
outside the plain list that nothing explains, and the captions in which a gate fails.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from baselines.medlaybench_v.readability import FORMULAS, measure, vocabulary
from baselines.medlaybench_v.relevance import bleu, rouge_l
from baselines.results.published import published
from builders.medlaybench_v.audit import audit
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.refine import Caption, by_rules
from builders.medlaybench_v.sources import open_source
from builders.medlaybench_v.sources.checks import row_problem
from builders.medlaybench_v.steps import caption_of
from builders.medlaybench_v.vocabulary import read_vocabulary
from builders.medlaybench_v.words.reads_well import unexplained_words
from loaders.files.bad_rows import BadRow
from loaders.medlaybench_v import pairs_of
from scripts.terminal.console import output, table


class Pairs(NamedTuple):
    """Captions of one writer with those of the experts, and in how many a gate fails; None where none is asked."""

    name: str
    expert: Sequence[str]
    said: Sequence[str]
    failures: int | None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=Path)
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=PAIRS")
    options = parser.parse_args()
    against = ("BLEU-4", "ROUGE-L", "copied", "unexplained", "gates fail")
    shown = table("", "captions of", "n", *FORMULAS, "vocabulary", *against)
    for register in ("Expert", "Layman"):
        shown.add_row(*_published(register))
    for pairs in _all(options.captions, options.beside):
        shown.add_row(*_measured(pairs))
    output.print(shown)


def captions_of(table: Path) -> list[str]:
    """The expert captions of a table that a build would take."""
    rows = [row for row in open_source(table).rows() if not isinstance(row, BadRow)]
    return [row["expert_caption"] for row in rows if row_problem(row) is None]


def _all(captions: Path, beside: Sequence[str]) -> Iterator[Pairs]:
    lexicon = Lexicon(read_vocabulary("bundled").terms)
    experts = captions_of(captions)
    yield Pairs("experts", experts, experts, None)
    for given in beside:
        name, _, path = given.partition("=")
        others = list(pairs_of(Path(path)))
        expert, said = ([pair[side] for pair in others] for side in ("expert_caption", "layman_caption"))
        yield Pairs(f"{name}, experts", expert, expert, None)
        yield Pairs(name, expert, said, sum(bool(audited.failures) for audited in audit(others, lexicon)))
    refined = [by_rules(case, lexicon.drafter) for case in cases_of(experts, lexicon)]
    failing = sum(not all(verdict.passed for verdict in made.verdicts) for made in refined)
    yield Pairs("rules", experts, [made.layman_caption for made in refined], failing)


def cases_of(captions: Sequence[str], lexicon: Lexicon) -> Iterator[Caption]:
    """Captions as the refiner takes them."""
    for caption in captions:
        expert = read(caption)
        concepts = lexicon.concepts([], [], lexicon.match(expert, [], []), expert)
        yield caption_of({"expert_caption": caption, "cuis": [], "mentions": [], "concepts": concepts}, lexicon)


def _published(register: str) -> list[str]:
    """The paper's row of a register; "" for what it does not state."""
    cells = {
        number.column: number.printed
        for number in published("MedLayBench-V")
        if number.split_or_group == "Test" and (number.table == "Table 2" or number.setting in (register, "header"))
    }
    overlap = [cells.get(name, "") if register == "Layman" else "" for name in ("BLEU-4", "ROUGE-L")]
    known = [cells.get(name, "") for name in ("N", *FORMULAS, "Vocab Size")]
    return [f"paper, {'lay' if register == 'Layman' else 'experts'}", *known, *overlap, "", "", ""]


def _measured(pairs: Pairs) -> list[str]:
    reads = measure(pairs.said)
    n = len(pairs.said)
    copied = sum(said.rstrip(".") == expert.rstrip(".") for said, expert in zip(pairs.said, pairs.expert, strict=True))
    against = [
        f"{bleu(pairs.said, pairs.expert).mean():.2f}",
        f"{rouge_l(pairs.said, pairs.expert).mean():.2f}",
        f"{copied:,}",
    ]
    unexplained = sum(len(unexplained_words(caption)) for caption in pairs.said) / n
    return [
        pairs.name,
        f"{n:,}",
        *(f"{reads[name].mean():.2f}" for name in FORMULAS),
        f"{len(vocabulary(pairs.said)):,}",
        *(against if pairs.failures is not None else ["", "", ""]),
        f"{unexplained:.2f}",
        "" if pairs.failures is None else f"{pairs.failures:,} ({pairs.failures / n:.1%})",
    ]


if __name__ == "__main__":
    main()
