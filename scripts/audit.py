"""`bedside audit`: which facts did lay captions lose?"""

from __future__ import annotations

import asyncio
import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from baselines.results.sheets import table_bytes
from baselines.statistics.significance import wilson_interval
from builders.medlaybench_v.audit import Audited, Tally, audit
from builders.medlaybench_v.gates import EVIDENCE, GATES
from builders.medlaybench_v.judge import BROKEN, JUDGED, KEPT, judge_pairs
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.vocabulary import combine, read_vocabulary
from loaders.corpus import load
from loaders.errors import InputError
from loaders.files.disk import check_folder, write_whole
from loaders.files.untrusted import is_file, refuse_other
from loaders.medlaybench_v import pairs_of
from loaders.models.answers import AnswerStore
from loaders.models.chat import open_model
from loaders.models.messages import ChatModel
from scripts.terminal.console import output, table
from scripts.terminal.options import file_outside_releases

_COLUMNS = ("image_id", "gate", "outcome", "evidence", "reason", "expert_caption", "layman_caption")
"""The columns of the list that `--write` makes."""


def command(
    source: str = typer.Argument(
        ..., metavar="FILE|DIR|REPO|official", help="A file of pairs, a release, or the authors' release."
    ),
    split: str | None = typer.Option(None, help="Only this split of a release."),
    revision: str | None = typer.Option(None, metavar="TAG", help="Tag or commit of a release on the Hub."),
    vocabulary: list[str] = typer.Option(
        ["bundled"], metavar="FILE|bundled", help="Allow the lay phrases of this vocabulary. May be repeated."
    ),
    show: int = typer.Option(20, min=0, help="Failing and doubtful pairs to print; 0 prints only the summary."),
    write: Path | None = typer.Option(
        None,
        "--write",
        metavar="FILE",
        help="Write all failing and doubtful pairs to a CSV file.",
        callback=file_outside_releases,
    ),
    strict: bool = typer.Option(False, "--strict", help="Exit with code 1 if a pair fails."),
    judge: str | None = typer.Option(
        None, metavar="NAME", help="Chat model that decides the doubtful pairs (and those of --judge-passed)."
    ),
    judge_passed: int = typer.Option(
        0, min=0, metavar="N", help="Also judge N of the pairs that pass, to estimate what the rules miss."
    ),
    base_url: str | None = typer.Option(None, metavar="URL", help="Base URL of the model's server."),
    answers: Path = typer.Option(
        Path("audit.answers.sqlite"), metavar="FILE", help="File that stores the paid answers, for reuse."
    ),
) -> int:
    """Check caption pairs with the fact gates: lost or changed numbers, sides, negations, imaging methods, markers.

    A pair fails if its captions contradict each other, or if a value that has few wordings is missing. A pair that only
    a reader can decide is doubtful: it is shown and counted separately, and never counted as failed.

    Examples: `bedside audit pairs.json`, `bedside audit official --split test --show 0 --write failures.csv`
    """
    if judge_passed and judge is None:
        raise InputError("--judge-passed", found="no judge", expected="a chat model to ask", do="Name it with --judge")
    if write:
        check_folder(write.parent)
        refuse_other(write, [table_bytes(_COLUMNS, ())], what="list of failures")
    model = open_model(judge, base_url=base_url) if judge else None
    lexicon = Lexicon(combine([read_vocabulary(name) for name in vocabulary]).terms)
    rows = pairs_of(Path(source)) if is_file(Path(source)) else _release(source, split, revision)
    tally, failing, doubtful, drawn = _sorted(audit(rows, lexicon), judge_passed)
    _show("fail a gate", failing, show)
    _show("are doubtful: a reader must decide", doubtful, show)
    _summary(tally)
    if model is not None:
        _judged(model, answers, doubtful, drawn)
    if write:
        _write(write, [*failing, *doubtful])
    return 1 if strict and failing else 0


def _sorted(pairs: Iterable[Audited], draw: int) -> tuple[Tally, list[Audited], list[Audited], list[Audited]]:
    """Counts, failing pairs, doubtful ones, and `draw` of those that pass, in whatever order they come."""
    tally = Tally()
    failing: list[Audited] = []
    doubtful: list[Audited] = []
    drawn: list[tuple[int, int, Audited]] = []
    for audited in pairs:
        tally.add(audited)
        if audited.failures:
            failing.append(audited)
        elif audited.doubts:
            doubtful.append(audited)
        elif draw:
            heapq.heappush(drawn, (-_place(audited), tally.pairs, audited))
            if len(drawn) > draw:
                heapq.heappop(drawn)
    return tally, failing, doubtful, [audited for *_, audited in sorted(drawn, reverse=True)]


def _show(what: str, found: list[Audited], show: int) -> None:
    """The first pairs that fail or are doubtful, with each gate's verdict and what it rests on."""
    if found and show:
        output.print(f"{len(found):,} {what}", style="bold underline", highlight=False)
    for audited in found[:show]:
        output.print(audited.image_id, style="bold", highlight=False, markup=False)
        output.print(f"  expert  {audited.expert_caption}", highlight=False, markup=False)
        output.print(f"  lay     {audited.layman_caption}", highlight=False, markup=False)
        for verdict in audited.failures or audited.doubts:
            style = "yellow" if verdict.doubtful else "red"
            evidence = f" ({verdict.evidence})" if verdict.evidence and not verdict.passed else ""
            output.print(f"  {verdict.gate:<11} {verdict.reason}{evidence}", style=style, highlight=False, markup=False)
    if show and len(found) > show:
        output.print(f"… and {len(found) - show:,} more (--show, --write)")


def _summary(tally: Tally) -> None:
    """Failures and doubts by gate."""
    summary = table(
        f"\n{tally.failing:,} of {tally.pairs:,} pairs fail a gate, {tally.doubtful:,} are doubtful",
        "gate",
        "pairs",
        "share",
        *EVIDENCE[:2],
        "doubtful",
        right=("pairs", "share", *EVIDENCE[:2], "doubtful"),
    )
    for gate in GATES:
        count = tally.by_gate[gate]
        share = f"{count / tally.pairs:.1%}" if tally.pairs else ""
        rests_on = [tally.by_evidence[gate, evidence] or "" for evidence in EVIDENCE[:2]]
        summary.add_row(gate, count, share, *rests_on, tally.doubts_by_gate[gate])
    output.print(summary)


def _judged(model: ChatModel, answers: Path, doubtful: list[Audited], passed: list[Audited]) -> None:
    """A judge's opinions of the pairs that the rules leave open, and of a sample of those that they pass; if it finds a
    broken fact in one of the latter, the two disagree."""
    with AnswerStore(answers) as store:
        opinions = asyncio.run(judge_pairs([*doubtful, *passed], model, store))
    for audited, opinion in zip([*doubtful, *passed], opinions, strict=True):
        if opinion.verdict == BROKEN:
            output.print(audited.image_id, style="bold", highlight=False, markup=False)
            for verdict in audited.doubts:
                output.print(f"  {verdict.gate:<11} {verdict.reason}", highlight=False, markup=False)
            output.print(f"  judge       broken: {opinion.why}", style="red", highlight=False, markup=False)
    counts = Counter(opinion.verdict for opinion in opinions[: len(doubtful)])
    said = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in JUDGED)
    output.print(f"{model.name} on {len(doubtful):,} doubtful pairs: {said}", highlight=False)
    counts = Counter(opinion.verdict for opinion in opinions[len(doubtful) :])
    if decided := counts[BROKEN] + counts[KEPT]:
        low, high = wilson_interval(counts[BROKEN], decided)
        output.print(
            f"{model.name} on {len(passed):,} sampled from those that pass: {counts[BROKEN]:,} of {decided:,} "
            f"that it decides are broken, {low:.0%} to {high:.0%} of all (95 %)",
            highlight=False,
        )


def _place(audited: Audited) -> int:
    """A pair's position in the draw, from its text alone, so that the order of rows does not matter."""
    text = f"{audited.expert_caption}\0{audited.layman_caption}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _release(source: str, split: str | None, revision: str | None) -> Iterable[dict[str, Any]]:
    loaded = load("medlaybench-v", split, revision=revision, source=source)
    splits = [loaded] if split else list(loaded.values())
    for part in splits:
        yield from part.remove_columns("image")


def _write(path: Path, found: list[Audited]) -> None:
    rows = (
        {name: getattr(verdict if hasattr(verdict, name) else audited, name) for name in _COLUMNS}
        for audited in found
        for verdict in audited.failures or audited.doubts
    )
    write_whole(path, table_bytes(_COLUMNS, rows))
    output.print(f"failing and doubtful pairs: {path}", highlight=False)
