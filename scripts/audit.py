"""`bedside audit`: which facts did lay captions lose?"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from baselines.results.sheets import table_bytes
from baselines.statistics.significance import wilson_interval
from builders.medlaybench_v.audit import Audited, Tally, audit, judge_pairs
from builders.medlaybench_v.gates import EVIDENCE, GATES, STYLE
from builders.medlaybench_v.judge import BROKEN, JUDGED, KEPT, NO_ANSWER, Judge, Opinion, judge_of
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.vocabulary import combine, read_vocabulary
from loaders.corpus import load
from loaders.errors import InputError, printable
from loaders.files.disk import check_folder, write_whole
from loaders.files.opening import refuse_other
from loaders.files.paths import is_file
from loaders.files.tables import own_names, read_records
from loaders.medlaybench_v import PAIR_COLUMNS
from loaders.models.chat import open_model
from scripts.terminal.console import output, table, warn
from scripts.terminal.options import file_outside_releases
from scripts.terminal.progress import Bars
from scripts.terminal.tables import Number

_COLUMNS = ("image_id", "gate", "outcome", "evidence", "reason", "judge", "why", "expert_caption", "layman_caption")
"""The columns of the list that `--write` makes."""
_OUTCOMES = ("fail a gate", "doubtful", "pass")
CONCURRENCY, TIMEOUT, ANSWERS = 16, 120.0, Path("audit.answers.sqlite")


def command(
    source: str = typer.Argument(
        ..., metavar="FILE|DIR|REPO|official", help="A file of pairs, a release, or the authors' release."
    ),
    split: str | None = typer.Option(None, help="Only this split of a release, or of a table with a column of splits."),
    revision: str | None = typer.Option(None, metavar="TAG", help="Tag or commit of a release on the Hub."),
    vocabulary: list[str] = typer.Option(
        ["bundled"], metavar="FILE|bundled", help="Allow the lay phrases of this vocabulary. May be repeated."
    ),
    show: int = typer.Option(20, min=0, help="Failing and doubtful pairs to print; 0 prints only the summary."),
    write: Path | None = typer.Option(
        None,
        "--write",
        metavar="FILE",
        help="Write all failing and doubtful pairs, and what the judge finds broken, to a CSV file. A cell that a "
        "spreadsheet would change (-1, 0012) has an apostrophe before it.",
        callback=file_outside_releases,
    ),
    strict: bool = typer.Option(
        False, "--strict", help="Exit with code 1 if a pair fails that the judge, if any, does not find faithful."
    ),
    judge: str | None = typer.Option(
        None,
        metavar="NAME",
        help="Chat model that judges pairs whose facts fail or are doubtful: one request each.",
    ),
    judge_passed: int = typer.Option(
        0, min=0, metavar="N", help="Also judge N of the pairs that pass, to estimate what the rules miss."
    ),
    base_url: list[str] = typer.Option(
        [], metavar="URL", help="Address of the judge's server. May be repeated: several servers share the requests."
    ),
    concurrency: int = typer.Option(CONCURRENCY, min=1, help="Maximum concurrent requests to the judge."),
    timeout: float = typer.Option(TIMEOUT, min=1.0, max=86400.0, help="Timeout per request, in seconds."),
    answers: Path = typer.Option(
        ANSWERS,
        metavar="FILE",
        help="File that stores the paid answers, for reuse.",
        callback=file_outside_releases,
    ),
) -> int:
    """Check caption pairs with the fact gates: lost or changed numbers, sides, negations, imaging methods, markers.

    A pair fails if its captions contradict each other, or if a value that has few wordings is missing. A pair that only
    a reader can decide is doubtful: it is shown and counted separately, and never counted as failed. A judge decides
    both kinds on its own, without knowing what the gates found; where the two disagree, the pair is shown.

    Examples: `bedside audit pairs.json`, `bedside audit official --split test --show 0 --write failures.csv`,
    `bedside audit pairs.json --judge openai/gpt-4o-mini --judge-passed 200 --write broken.csv`
    """
    of_judge = {
        "--judge-passed": judge_passed,
        "--base-url": base_url,
        "--concurrency": concurrency != CONCURRENCY,
        "--timeout": timeout != TIMEOUT,
        "--answers": answers != ANSWERS,
    }
    if judge is None and (unheeded := next((option for option, given in of_judge.items() if given), "")):
        raise InputError(unheeded, found="no judge", expected="a chat model to ask", do="Name it with --judge")
    if write:
        check_folder(write.parent)
        refuse_other(write, [table_bytes(_COLUMNS, ())], what="list of failures")
    model = judge and open_model(judge, base_url=tuple(base_url), timeout=timeout, any_temperature=True)
    judging = judge_of(model) if model else None
    lexicon = Lexicon(combine([read_vocabulary(name) for name in vocabulary]).terms)
    tally, failing, doubtful, drawn = _sorted(audit(_rows(source, split, revision), lexicon), judge_passed)
    _show("fail a gate", failing, show)
    _show("are doubtful: a reader must decide", doubtful, show)
    _summary(tally)
    opinions: dict[Audited, Opinion] = {}
    if judging is not None:
        if write:  # also for one whose judge ends in an error
            _write(write, [*failing, *doubtful], opinions)
        groups = ([pair for pair in failing if pair.gates - STYLE], doubtful, drawn)
        opinions = _judged(judging, answers, concurrency, groups, show)
    if write:
        broken = [pair for pair in drawn if opinions[pair].verdict == BROKEN]
        _write(write, [*failing, *doubtful, *broken], opinions)
        output.print(f"list of pairs: {write}")
    kept = (pair for pair in failing if pair in opinions and opinions[pair].verdict == KEPT)
    settled = [pair for pair in kept if not pair.gates & STYLE]  # about style no judge is asked
    return 1 if strict and len(settled) < len(failing) else 0


def _sorted(pairs: Iterable[Audited], draw: int) -> tuple[Tally, list[Audited], list[Audited], list[Audited]]:
    """Counts, failing pairs, doubtful ones, and `draw` different ones of those that pass, in whatever order they
    come."""
    tally = Tally()
    failing: list[Audited] = []
    doubtful: list[Audited] = []
    drawn: list[tuple[int, int, Audited]] = []
    places: set[int] = set()  # of those drawn: a text that stands in several rows is judged once
    for audited in pairs:
        tally.add(audited)
        if audited.failures:
            failing.append(audited)
        elif audited.doubts:
            doubtful.append(audited)
        elif draw and (place := _place(audited)) not in places:
            places.add(place)
            heapq.heappush(drawn, (-place, tally.pairs, audited))
            if len(drawn) > draw:
                places.remove(-heapq.heappop(drawn)[0])
    return tally, failing, doubtful, [audited for *_, audited in sorted(drawn, reverse=True)]


def _show(what: str, found: list[Audited], show: int, opinions: Mapping[Audited, Opinion] = {}) -> None:
    """The first pairs that fail or are doubtful, with each gate's verdict and what it rests on, and the judge's."""
    if found and show:
        output.print(f"{len(found):,} {what}", style="bold underline")
    for audited in found[:show]:
        output.print(audited.image_id, style="bold")
        output.print(f"  expert  {audited.expert_caption}")
        output.print(f"  lay     {audited.layman_caption}")
        for verdict in audited.failures or audited.doubts:
            style = "yellow" if verdict.doubtful else "red"
            evidence = f" ({verdict.evidence})" if verdict.evidence and not verdict.passed else ""
            output.print(f"  {verdict.gate:<11} {verdict.reason}{evidence}", style=style)
        if opinion := opinions.get(audited):
            style = "green" if opinion.verdict == KEPT else "red"
            output.print(f"  {'judge':<11} {opinion.verdict}: {opinion.why}", style=style)
    if show and len(found) > show:
        output.print(f"… and {len(found) - show:,} more (--show, --write)")


def _summary(tally: Tally) -> None:
    """Failures and doubts by gate."""
    title = f"\n{tally.failing:,} of {tally.pairs:,} pairs fail a gate, {tally.doubtful:,} are doubtful"
    numbers = ("pairs", "share", *EVIDENCE[:2], "doubtful")
    summary = table(title, "gate", *numbers, right=numbers)
    for gate in GATES:
        count = tally.by_gate[gate]
        share = Number(count / tally.pairs, f"{count / tally.pairs:.1%}") if tally.pairs else None
        rests_on = [tally.by_evidence[gate, evidence] or None for evidence in EVIDENCE[:2]]
        summary.add_row(gate, count, share, *rests_on, tally.doubts_by_gate[gate])
    output.print(summary)
    output.tell(pairs=tally.pairs, failing=tally.failing, doubtful=tally.doubtful)
    if tally.language:
        warn(tally.language)


def _judged(
    judge: Judge, answers: Path, concurrency: int, groups: Sequence[list[Audited]], show: int
) -> dict[Audited, Opinion]:
    """The judge's opinion of every pair of the groups (those of `_OUTCOMES`). Prints how many of each group it finds
    kept and broken, and the pairs on which it and the gates disagree."""
    pairs = [audited for group in groups for audited in group]
    with Bars() as bars:
        progress = bars.count(f"{judge.model.name}: pairs", len(pairs))
        found = judge_pairs(pairs, judge, answers, concurrency=concurrency, progress=progress)
    opinions = dict(zip(pairs, found, strict=True))
    failing, doubtful, drawn = groups
    for what, group, verdict in (
        ("fail a gate, and the judge finds every fact kept", failing, KEPT),
        ("are doubtful, and the judge finds them broken", doubtful, BROKEN),
        ("pass, and the judge finds them broken", drawn, BROKEN),
    ):
        _show(what, [audited for audited in group if opinions[audited].verdict == verdict], show, opinions)
    shown = table(f"\nWhat {judge.model.name} says", "pairs that", "judged", *JUDGED, right=("judged", *JUDGED))
    for outcome, group in zip(_OUTCOMES, groups, strict=True):
        counts = Counter(opinions[audited].verdict for audited in group)
        shown.add_row(outcome, len(group), *(counts[verdict] for verdict in JUDGED))
    output.print(shown)
    counts = Counter(opinions[audited].verdict for audited in drawn)
    if decided := counts[BROKEN] + counts[KEPT]:
        low, high = wilson_interval(counts[BROKEN], decided)
        output.print(
            f"Of {len(drawn):,} different pairs drawn from those that pass, {decided:,} were decided and "
            f"{counts[BROKEN]:,} are broken: {low:.0%} to {high:.0%} of all different ones that pass (95 %)"
        )
    unanswered = Counter(opinion.why for opinion in opinions.values() if opinion.verdict == NO_ANSWER)
    for why, count in unanswered.most_common(1):
        warn(f"No answer, most often ({count:,}): {why}")
    return opinions


def _place(audited: Audited) -> int:
    """A pair's position in the draw, from its text alone, so that the order of rows does not matter."""
    text = f"{audited.expert_caption}\0{audited.layman_caption}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _rows(source: str, split: str | None, revision: str | None) -> Iterator[dict[str, Any]]:
    """The pairs of a table, a release or the authors' release; no image is decoded."""
    place = Path(source) if is_file(Path(source)) else source
    if split and isinstance(place, Path):
        _check_split(place, split)
    loaded = load("medlaybench-v", split, revision=revision, source=place)
    for part in [loaded] if split else loaded.values():
        yield from part.remove_columns("image")


def _check_split(path: Path, split: str) -> None:
    """Refuses a split of a table that has none: all its rows, which count as test, would be taken for it."""
    records = read_records(path)
    names = next(names for names, _ in PAIR_COLUMNS if "split" in names)
    if not any(own_names(records, [names]).get(name) for name in names):
        found = (
            f"no split {split!r}: it has no column {' or '.join(names)}; its columns are {', '.join(records.columns)}"
        )
        raise InputError(path, found=found, expected="a column of splits", do="Leave out --split, or add one")


def _write(path: Path, found: list[Audited], opinions: Mapping[Audited, Opinion]) -> None:
    """A row for each verdict of a gate that failed or is in doubt, with the judge's opinion of the pair; one row for a
    pair that passed and that the judge finds broken."""
    rows = []
    for audited in found:
        opinion = opinions.get(audited)
        pair = {"image_id": audited.image_id, "judge": opinion and opinion.verdict, "why": opinion and opinion.why}
        captions = {"expert_caption": audited.expert_caption, "layman_caption": audited.layman_caption}
        for verdict in audited.failures or audited.doubts or (None,):
            of_gate = {name: getattr(verdict, name, None) for name in ("gate", "outcome", "evidence", "reason")}
            cells = pair | of_gate | captions
            rows.append({name: printable(str(cell)) for name, cell in cells.items() if cell is not None})
    write_whole(path, table_bytes(_COLUMNS, rows))
