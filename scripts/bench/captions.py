"""How plain lay captions are, side by side: the paper's, the released ones, and those that our rules write.

    python -m scripts.bench.captions [CAPTIONS.csv] [--pairs medlay_samples.json] [--before PAIRS.json]

CAPTIONS (by default `data/text/roco_test.csv` below BEDSIDE_SHARED) are rewritten by rules with the bundled vocabulary.
Prints, for each column: five readability formulas (means over captions, textstat's values), distinct words, BLEU-4 and
ROUGE-L against the expert caption, captions that fail a fact gate, captions copied, words outside the plain list that
nothing explains, for each caption. `--pairs` is a file of released pairs; `--before` one of (expert, lay) pairs as
another version of the rules wrote them (`--write` makes it). The paper's columns are its Tables 1 and 2, test split.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path

from baselines.medlaybench_v import readability, relevance
from baselines.results.published import published
from builders.medlaybench_v.audit import audit, read_pairs
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.languages import is_english
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.reads_well import unexplained_words
from builders.medlaybench_v.refine import by_rules
from builders.medlaybench_v.sources import open_source
from builders.medlaybench_v.steps import caption_of
from builders.medlaybench_v.vocabulary import read_vocabulary
from loaders.files.untrusted import BadRow
from scripts.terminal.console import output, table

Pair = tuple[str, str]


def main() -> None:
    shared = Path(os.environ.get("BEDSIDE_SHARED", Path(__file__).parents[3] / "shared")) / "data" / "text"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captions", type=Path, nargs="?", default=shared / "roco_test.csv")
    parser.add_argument("--pairs", type=Path, default=shared / "medlay_samples.json")
    parser.add_argument("--before", type=Path, help="pairs that an earlier version wrote")
    parser.add_argument("--write", type=Path, help="keep the pairs that this version writes")
    parser.add_argument("--show", type=int, default=0, help="print so many pairs, drawn with seed 1")
    options = parser.parse_args()

    lexicon = Lexicon(read_vocabulary("bundled").terms)
    written = list(_written(options.captions, lexicon))
    pairs = [(expert, lay) for expert, lay, _ in written]
    columns: dict[str, list[str]] = {"paper expert": _paper("Expert"), "paper lay": _paper("Layman")}
    columns["our expert"] = _column([(expert, expert) for expert, _ in pairs], None)
    if options.pairs.is_file():
        released = [(str(row["expert_caption"]), str(row["layman_caption"])) for row in read_pairs(options.pairs)]
        columns["released pairs"] = _column(released, _failing(released, lexicon))
    if options.before:
        before = [(str(expert), str(lay)) for expert, lay in json.loads(options.before.read_text(encoding="utf-8"))]
        columns["rules before"] = _column(before, _failing(before, lexicon))
    columns["rules"] = _column(pairs, sum(not passed for *_, passed in written))
    shown = table(f"{len(pairs):,} captions", "", *columns, right=tuple(columns))
    for place, name in enumerate(_ROWS):
        shown.add_row(name, *(cells[place] for cells in columns.values()))
    output.print(shown)
    if options.write:
        options.write.write_text(json.dumps(pairs, ensure_ascii=False, indent=0), encoding="utf-8")
    for expert, lay in random.Random(1).sample(pairs, min(options.show, len(pairs))):
        output.print(f"E {expert}\nL {lay}\n", highlight=False)


_FORMULAS = ("FKGL", "CLI", "DCRS", "SMOG", "FRE")
_ROWS = (*_FORMULAS, "distinct words", "BLEU-4", "ROUGE-L", "fail a gate", "copied", "unexplained words a caption")


def _written(path: Path, lexicon: Lexicon) -> Sequence[tuple[str, str, bool]]:
    """(expert, lay, whether it passed all gates) of each caption in English."""
    found = []
    for row in open_source(path).rows():
        if isinstance(row, BadRow) or not is_english(row["expert_caption"]):
            continue
        expert = read(row["expert_caption"])
        concepts = lexicon.concepts(row["cuis"], [], lexicon.match(expert, row["cuis"], []), expert)
        caption = caption_of({**row, "mentions": [], "concepts": concepts}, lexicon)
        refined = by_rules(caption, lexicon.drafter)
        found.append((expert.text, refined.layman_caption, all(verdict.passed for verdict in refined.verdicts)))
    return found


def _failing(pairs: Sequence[Pair], lexicon: Lexicon) -> int:
    rows = [{"image_id": str(n), "expert_caption": e, "layman_caption": lay} for n, (e, lay) in enumerate(pairs)]
    return sum(not all(verdict.passed for verdict in audited.verdicts) for audited in audit(rows, lexicon))


def _column(pairs: Sequence[Pair], failing: int | None) -> list[str]:
    experts, lays = [expert for expert, _ in pairs], [lay for _, lay in pairs]
    measured = readability.measure(lays)
    cells = [f"{measured[column].mean():.2f}" for column in _FORMULAS]
    cells.append(f"{len(readability.vocabulary(lays)):,}")
    if failing is None:
        return [*cells, "", "", "", "", f"{_unexplained(lays):.2f}"]
    bleu = relevance.bleu(lays, experts).sentences.mean()
    rouge = relevance.rouge_l(lays, experts).mean()
    copied = sum(expert.rstrip(".") == lay.rstrip(".") for expert, lay in pairs)
    counts = (f"{count:,} ({count / len(pairs):.1%})" for count in (failing, copied))
    return [*cells, f"{bleu:.1f}", f"{rouge:.1f}", *counts, f"{_unexplained(lays):.2f}"]


def _unexplained(captions: Sequence[str]) -> float:
    return sum(len(unexplained_words(caption)) for caption in captions) / len(captions)


def _paper(register: str) -> list[str]:
    """The printed numbers of the test split: readability and vocabulary of a register, overlap of the pair."""
    printed = {
        (number.setting, number.column): number.printed
        for number in (*published("MedLayBench-V", "Table 1"), *published("MedLayBench-V", "Table 2"))
        if number.split_or_group == "Test"
    }
    cells = [printed[register, column] for column in (*_FORMULAS, "Vocab Size")]
    if register == "Expert":
        return [*cells, "", "", "", "", ""]
    pair = [printed["Layman against Expert", column] for column in ("BLEU-4", "ROUGE-L")]
    return [*cells, *pair, "", "", ""]


if __name__ == "__main__":
    main()
