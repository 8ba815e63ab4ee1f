"""Do the gates tell a broken pair from a faithful one? Pairs written by hand, their verdicts by class of fact.

    python -m scripts.bench.pairs [FILE.jsonl …] [--show missed|false|doubtful] [--judge MODEL]

Without files: the development set in tests/pairs. A line is {"class", "expert", "lay", "broken"}. Prints for each class
the outcome of the broken pairs and of the faithful ones: a gate fails it, it is left doubtful for a reader, it passes.
With a judge, also what that model says of each pair, by the outcome of the gates, and where it is wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from builders.medlaybench_v.audit import Audited, audit, judge_pairs
from builders.medlaybench_v.gates import OUTCOMES, STYLE, Verdict
from builders.medlaybench_v.judge import BROKEN, JUDGED, KEPT, Opinion, judge_of
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.vocabulary import read_vocabulary
from loaders.models.chat import open_model
from scripts.terminal.console import output, table
from scripts.terminal.progress import Bars

DEVELOPMENT = Path(__file__).parents[2] / "tests" / "pairs"
WORST_FIRST = OUTCOMES[::-1]
Score = Counter[tuple[bool, str]]
"""How many pairs of a class have an outcome, by whether they are broken."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--show", choices=("missed", "false", "doubtful"), help="print these pairs with their verdicts")
    parser.add_argument("--judge", metavar="MODEL", help="chat model that is asked about every pair")
    parser.add_argument("--base-url", help="of the judge's server")
    parser.add_argument("--answers", type=Path, default=Path("pairs.answers.sqlite"), help="stores the judge's answers")
    options = parser.parse_args()
    pairs = read(options.files)
    judged = list(judge(pairs))
    columns = ("broken", "failed", "doubtful", "passed", "faithful", "false alarms", "in doubt")
    shown = table("", "class", *columns, right=columns)
    for name, score in scores(pairs, judged).items():
        shown.add_row(name, *_cells(score))
    output.print(shown)
    for pair, audited in zip(pairs, judged, strict=True):
        found = outcome(audited.verdicts)
        wanted = {
            "missed": pair["broken"] and found != "failed",
            "false": not pair["broken"] and found == "failed",
            "doubtful": found == "doubtful",
        }
        if options.show and wanted[options.show]:
            facts = [v for v in audited.verdicts if v.gate not in STYLE and v.outcome != "passed"]
            reasons = "; ".join(f"{verdict.gate}: {verdict.reason}" for verdict in facts)
            text = f"{audited.image_id}\n  {pair['expert']}\n  {pair['lay']}\n  [{pair.get('why', '')}]  {reasons}"
            output.print(text)
    if options.judge:
        model = open_model(options.judge, base_url=options.base_url)
        with Bars() as bars:
            progress = bars.count(f"{model.name}: pairs", len(judged))
            opinions = judge_pairs(judged, judge_of(model), options.answers, concurrency=16, progress=progress)
        _show_opinions(model.name, pairs, judged, opinions)


def _show_opinions(name: str, pairs: list[dict[str, Any]], judged: list[Audited], opinions: Sequence[Opinion]) -> None:
    """What the judge says of broken and of faithful pairs, by the outcome of the gates; and the pairs on which it and
    the writer disagree."""
    counts: Counter[tuple[str, str, str]] = Counter()
    shown = table(f"What {name} says", "pairs", "gates", *JUDGED, right=JUDGED)
    for pair, audited, opinion in zip(pairs, judged, opinions, strict=True):
        kind = "broken" if pair["broken"] else "faithful"
        for group in (outcome(audited.verdicts), "all"):
            counts[kind, group, opinion.verdict] += 1
        if (opinion.verdict, kind) not in ((BROKEN, "broken"), (KEPT, "faithful")):
            text = f"{pair['id']}: {kind}\n  {pair['expert']}\n  {pair['lay']}"
            output.print(f"{text}\n  {opinion.verdict}: {opinion.why}")
    for kind in ("broken", "faithful"):
        for gates in (*WORST_FIRST, "all"):
            shown.add_row(kind, gates, *(counts[kind, gates, verdict] for verdict in JUDGED))
    output.print(shown)


def read(files: Iterable[Path]) -> list[dict[str, Any]]:
    """The pairs of some files; of the development set without one."""
    paths = list(files) or sorted(DEVELOPMENT.glob("*.jsonl"))
    return [
        json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
    ]


def judge(pairs: list[dict[str, Any]]) -> Iterable[Audited]:
    """The verdicts of `bedside audit` on each pair."""
    lexicon = Lexicon(read_vocabulary("bundled").terms)
    rows = ({"image_id": p["id"], "expert_caption": p["expert"], "layman_caption": p["lay"]} for p in pairs)
    return audit(rows, lexicon)


def outcome(verdicts: Iterable[Verdict]) -> str:
    """What the gates of facts make of a pair; its style is judged elsewhere."""
    found = {verdict.outcome for verdict in verdicts if verdict.gate not in STYLE}
    return next(each for each in WORST_FIRST if each in found)


def scores(pairs: list[dict[str, Any]], judged: Iterable[Audited]) -> dict[str, Score]:
    """The score of each class, and of all."""
    found: defaultdict[str, Score] = defaultdict(Counter)
    for pair, audited in zip(pairs, judged, strict=True):
        for name in (pair["class"], "all"):
            found[name][pair["broken"], outcome(audited.verdicts)] += 1
    return {name: found[name] for name in sorted(found, key=lambda name: (name == "all", name))}


def _cells(score: Score) -> Iterator[str]:
    """How many pairs are broken, and their outcomes; how many are faithful, and how many of these do not pass."""
    for broken, outcomes in ((True, WORST_FIRST), (False, WORST_FIRST[:2])):
        count = sum(score[broken, each] for each in OUTCOMES)
        yield str(count)
        yield from (f"{score[broken, each] / count:.1%}" if count else "" for each in outcomes)


if __name__ == "__main__":
    main()
