"""Do the gates tell a broken pair from a faithful one? Pairs written by hand, their verdicts by class of fact.

    python -m scripts.bench.pairs [FILE.jsonl …] [--show missed|false|doubtful] [--judge MODEL]

Without files: the development set in tests/pairs. A line is {"class", "expert", "lay", "broken"}. Prints for each class
the outcome of the broken pairs and of the faithful ones: a gate fails it, it is left doubtful for a reader, it passes.
With a judge, also what that model says of each pair, by the outcome of the gates, and where it is wrong.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.medlaybench_v.audit import Audited, audit, judge_pairs
from builders.medlaybench_v.gates import GATES, STYLE
from builders.medlaybench_v.judge import BROKEN, JUDGED, KEPT, Opinion, judge_of
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.vocabulary import combine, read_vocabulary
from loaders.models.chat import open_model
from scripts.terminal.console import output, table
from scripts.terminal.progress import Bars

DEVELOPMENT = Path(__file__).parents[2] / "tests" / "pairs"
# A pair is about facts: style is judged elsewhere.
_FACTS = GATES.keys() - STYLE


@dataclass(slots=True)
class Score:
    """Pairs of a class: broken ones caught, left doubtful and (the rest) passed; faithful ones failed and doubtful."""

    broken: int = 0
    caught: int = 0
    broken_doubtful: int = 0
    faithful: int = 0
    alarms: int = 0
    faithful_doubtful: int = 0

    def add(self, broken: bool, failed: bool, doubtful: bool) -> None:
        self.broken += broken
        self.caught += broken and failed
        self.broken_doubtful += broken and doubtful and not failed
        self.faithful += not broken
        self.alarms += failed and not broken
        self.faithful_doubtful += not broken and doubtful and not failed

    @property
    def detection(self) -> float:
        return self.caught / self.broken if self.broken else 1.0

    @property
    def unseen(self) -> float:
        """The share of broken pairs that pass without a word."""
        return (self.broken - self.caught - self.broken_doubtful) / self.broken if self.broken else 0.0

    @property
    def false_alarms(self) -> float:
        return self.alarms / self.faithful if self.faithful else 0.0

    @property
    def doubts(self) -> float:
        """The share of faithful pairs that a reader is asked about."""
        return self.faithful_doubtful / self.faithful if self.faithful else 0.0

    def shown(self) -> tuple[str, ...]:
        """The cells of a row: broken, of these failed, doubtful, passed; faithful, of these failed, doubtful."""
        doubtful = self.broken_doubtful / self.broken if self.broken else 0.0
        shares = [f"{share:.1%}" for share in (self.detection, doubtful, self.unseen, self.false_alarms, self.doubts)]
        return (str(self.broken), *shares[:3], str(self.faithful), *shares[3:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--show", choices=("missed", "false", "doubtful"), help="print these pairs with their verdicts")
    parser.add_argument("--class", dest="only", help="only pairs of this class")
    parser.add_argument("--judge", metavar="MODEL", help="chat model that is asked about every pair")
    parser.add_argument("--base-url", help="of the judge's server")
    parser.add_argument("--answers", type=Path, default=Path("pairs.answers.sqlite"), help="stores the judge's answers")
    options = parser.parse_args()
    pairs = [pair for pair in read(options.files) if options.only in (None, pair["class"])]
    judged = list(judge(pairs))
    columns = ("broken", "failed", "doubtful", "passed", "faithful", "false alarms", "in doubt")
    shown = table("", "class", *columns, right=columns)
    for name, score in scores(pairs, judged).items():
        shown.add_row(name, *score.shown())
    output.print(shown)
    for pair, audited in zip(pairs, judged, strict=True):
        failed, doubtful = outcome(audited)
        wanted = {
            "missed": pair["broken"] and not failed,
            "false": failed and not pair["broken"],
            "doubtful": doubtful and not failed,
        }
        if options.show and wanted[options.show]:
            reasons = "; ".join(f"{v.gate}: {v.reason}" for v in audited.verdicts if v.gate in _FACTS and v.reason)
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
        failed, doubtful = outcome(audited)
        kind = "broken" if pair["broken"] else "faithful"
        gates = "failed" if failed else "doubtful" if doubtful else "passed"
        for group in (gates, "all"):
            counts[kind, group, opinion.verdict] += 1
        if (opinion.verdict, kind) not in ((BROKEN, "broken"), (KEPT, "faithful")):
            text = f"{pair['id']}: {kind}\n  {pair['expert']}\n  {pair['lay']}"
            output.print(f"{text}\n  {opinion.verdict}: {opinion.why}")
    for kind in ("broken", "faithful"):
        for gates in ("failed", "doubtful", "passed", "all"):
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
    lexicon = Lexicon(combine([read_vocabulary("bundled")]).terms)
    rows = ({"image_id": p["id"], "expert_caption": p["expert"], "layman_caption": p["lay"]} for p in pairs)
    return audit(rows, lexicon)


def outcome(audited: Audited) -> tuple[bool, bool]:
    """Whether a gate of facts failed the pair, and whether one left it doubtful."""
    facts = [verdict for verdict in audited.verdicts if verdict.gate in _FACTS]
    return any(not v.passed for v in facts), any(v.doubtful for v in facts)


def scores(pairs: list[dict[str, Any]], judged: Iterable[Audited]) -> dict[str, Score]:
    """The score of each class, and of all."""
    found: dict[str, Score] = {}
    for pair, audited in zip(pairs, judged, strict=True):
        for name in (pair["class"], "all"):
            found.setdefault(name, Score()).add(pair["broken"], *outcome(audited))
    return {name: found[name] for name in sorted(found, key=lambda name: (name == "all", name))}


if __name__ == "__main__":
    main()
