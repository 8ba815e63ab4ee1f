"""`bedside compare`: own numbers beside the paper's, and the paper's numbers against each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import typer

from baselines.results.comparison import Compared, compare, conditions, read_runs
from baselines.results.conformance import Entry, State
from baselines.results.published import Published, named, of_tables, published, short
from baselines.results.published_checks import PAPER, Check, checks
from loaders.errors import InputError, how_many
from scripts.terminal.console import output, print_json, table, warn
from scripts.terminal.options import All, DifferentData
from scripts.terminal.tables import short_digests

_STATES: tuple[State, ...] = ("differs", "unknown", "equal", "not stated")
# The most to print one by one without --all. Beyond it, numbers get one line per table, and only barring conditions
# show.
_FEW_NUMBERS, _FEW_CONDITIONS, _FEW_REASONS = 16, 8, 3
# How much data there was is no finding, and p values have no distance: they would hide every other difference.
_NO_DISTANCE = ("pairs", "types", "captions", "p")
_KEY = ("paper", "table", "row", "setting", "column", "split_or_group")


def command(
    runs: list[Path] = typer.Argument(
        None, metavar="[RUN…]", help="Folders of finished runs; without any, check the paper."
    ),
    only: list[str] = typer.Option(
        [], "--table", metavar="NAME", help='Only this table, as "Table 3". May be repeated.'
    ),
    everything: All = False,
    different_data: DifferentData = False,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Print the paper's numbers, yours and the difference, and which of the paper's conditions hold.

    A number counts as reproduced only if data, split, models, prompts, protocol, decoding, rounds and metric match the
    paper's; otherwise it is own, with the differences listed. Without runs, recompute what the published numbers imply
    about each other and list those known to be wrong.

    Examples: `bedside compare runs/retrieval`, `bedside compare --json`
    """
    everything = everything or bool(only)
    if not runs:
        _check_paper(only, as_json, everything=everything)
        return
    read = read_runs(runs, different_data=different_data)
    pairs = of_tables(only, compare(read), lambda pair: pair.own.table)
    joined = [pair for pair in pairs if pair.paper]
    alone = [pair for pair in pairs if not joined and published(pair.own.paper, pair.own.table)]
    if not joined and not alone:
        tables = ", ".join(sorted({pair.own.table for pair in pairs}))
        papers = {pair.own.paper for pair in pairs}
        theirs = dict.fromkeys(short(one.table) for one in published() if one.paper in papers)
        known = f"numbers of the papers: {', '.join(dict.fromkeys(one.paper for one in published()))}"
        raise InputError(
            ", ".join(map(str, runs)),
            found=f"no number with a published counterpart (tables: {tables})",
            expected=f"one of {', '.join(theirs)}" if theirs else known,
            do="`bedside report` also shows runs without counterparts",
        )
    if as_json:
        print_json([_as_json(pair) for pair in pairs])
        return
    for run in read:
        missing = Counter(result.note for result in run.results if result.value is None and result.note)
        for why, count in missing.most_common(_FEW_REASONS):  # as in an invalid run
            warn(f"{run.folder}: {how_many(count, 'number is', 'numbers are')} not computed: {why}")
    shown = pairs if everything else joined
    if not shown:
        _print_alone(alone)
    elif everything or len(shown) <= _FEW_NUMBERS:
        _print_numbers(shown)
    else:
        _print_tables(shown)
    if shown:
        _print_conditions(shown, everything=everything)
    _print_standing(shown or alone)
    if len(shown) < len(pairs):
        more = " more" * bool(shown)
        left = how_many(len(pairs) - len(shown), f"number{more} has", f"numbers{more} have")
        output.print(f"\n{left} no counterpart in the paper (--all, --json)")


def _title(pair: Compared) -> str:
    return ", ".join(part for part in (short(pair.own.table), short(pair.own.split_or_group)) if part)


def _print_tables(pairs: list[Compared]) -> None:
    """A line for each table: how many numbers, what they are called, and which is furthest from the paper's.

    Columns of different units are compared by their differences in proportion to the published number.
    """
    groups: dict[str, list[Compared]] = defaultdict(list)
    for pair in pairs:
        groups[_title(pair)].append(pair)
    right = ("numbers", "largest difference")
    shown = table("Own numbers beside the paper's", "table", *right, "of", "called", right=right)
    mixed = False
    for title, group in groups.items():
        apart = [(pair, round(pair.difference, pair.decimals)) for pair in group if pair.difference is not None]
        apart = [one for one in apart if one[0].own.unit not in _NO_DISTANCE] or apart
        several = len({pair.own.unit for pair, _ in apart}) > 1
        mixed = mixed or several
        furthest, far = max(apart, key=partial(_distance, proportional=several), default=(group[0], 0.0))
        unit = "points" if furthest.own.unit.startswith("percent") else furthest.own.unit
        called = Counter(f"{pair.own.provenance}: {pair.verdict}" for pair in group).most_common()
        shown.add_row(
            title,
            len(group),
            f"{far:+,.{furthest.decimals}f} {unit}" if far else "none" if apart else "",
            _name(furthest) if far else "",
            ", ".join(name if len(called) == 1 else f"{count:,} {name}" for name, count in called),
        )
    output.print(shown)
    said = "Largest: in tables of several units, in proportion to the published number. " if mixed else ""
    output.print(f"{said}Every number: --all, --json; those of one table: --table NAME", style="dim")


def _distance(one: tuple[Compared, float], *, proportional: bool) -> float:
    pair, difference = one
    return abs(difference) / (abs(pair.paper.value) if proportional and pair.paper and pair.paper.value else 1.0)


def _name(pair: Compared) -> str:
    return ", ".join(part for part in (pair.own.row, pair.own.setting, named(pair.own.column)) if part)


def _print_numbers(pairs: list[Compared]) -> None:
    right = ("paper", "own", "difference", "n")
    shown = table("Your numbers beside the paper's", "number", *right, "provenance", right=right)
    doubts: dict[str, int] = {}
    section = ""
    for pair in pairs:
        own, paper = pair.own, pair.paper
        title = _title(pair)
        if title != section:
            shown.add_section(title)
            section = title
        mark = f" [{doubts.setdefault(paper.wrong, len(doubts) + 1)}]" if paper and paper.wrong else ""
        decimals = pair.decimals
        shown.add_row(
            "  " + _name(pair),
            f"{paper.shown}{mark}" if paper else "",
            pair.printed,
            "" if pair.difference is None else f"{round(pair.difference, decimals) + 0.0:+,.{decimals}f}",
            own.n,
            f"{own.provenance}: {pair.verdict}",
            style="dim" if own.kind == "stand-in" else None,
        )
    output.print(shown)
    if doubts:
        output.print("\nPublished numbers known to be wrong or contradicted:")
    for reason, number in doubts.items():
        output.print(f"  [{number}] {reason}")


def _print_standing(pairs: list[Compared]) -> None:
    standing = sum(pair.own.provenance == "stand-in" for pair in pairs)
    if standing:
        output.print(
            f"\n{standing:,} of {len(pairs):,} numbers are stand-ins and reproduce nothing: scripted models, sample "
            "data or random weights.",
            style="yellow",
        )


def _print_alone(pairs: list[Compared]) -> None:
    """How many numbers of each table the paper also prints, but not for these rows or settings."""
    numbers = Counter((short(pair.own.table), short(pair.own.split_or_group)) for pair in pairs)
    shown = table("Your numbers in the paper's tables", "table", "of", "numbers", right=("numbers",))
    for (name, of), count in numbers.items():
        shown.add_row(name, of, count)
    output.print(shown)
    text = "The paper prints these tables for other models, settings or cases; `bedside report` shows both together."
    output.print(f"\n{text}", style="yellow")


def _print_conditions(pairs: list[Compared], *, everything: bool) -> None:
    """The conformance table: first what differs from the paper, then what agrees, then what the paper leaves open."""
    found = sorted(conditions([pair.own for pair in pairs]), key=lambda one: _STATES.index(one.entry.state))
    briefly = not everything and len(found) > _FEW_CONDITIONS
    if any(pair.own.kind == "unknown" for pair in pairs):
        text = "Unknown: runs of earlier versions recorded no conditions. `bedside rescore` records what it can."
        output.print(f"\n{text}", style="yellow")
    if not found:
        return
    # Where the paper states nothing of a condition, no fact names the line.
    more = () if briefly else ("condition", "of")
    shown = table("\nConditions of the paper's tables", *more[:1], "fact", "paper", "here", "state", *more[1:])
    for one in found[:_FEW_CONDITIONS] if briefly else found:
        entry, tables = one.entry, ", ".join(one.tables)
        paper = (short_digests(entry.paper), "" if briefly else entry.where)
        shown.add_row(
            *(() if briefly else (entry.condition,)),
            entry.fact or (entry.condition if briefly else ""),
            "; ".join(part for part in paper if part),
            short_digests(entry.here),
            entry.state,
            *(() if briefly else (tables,)),
            style="yellow" if entry.state in ("differs", "unknown") else "dim",
        )
    output.print(shown)
    if briefly:
        rest = Counter(one.entry.state for one in found[_FEW_CONDITIONS:])
        told = ", ".join(f"{rest[state]:,} {state}" for state in _STATES if rest[state])
        output.print(f"and {told}; where the paper says so: --all", style="dim")


def _as_json(pair: Compared) -> dict[str, Any]:
    paper = pair.paper
    return {
        **pair.own.as_row(),
        "published": paper.value if paper else None,
        "published_text": paper.printed if paper else None,
        "published_wrong": (paper.wrong or None) if paper else None,
        "difference": pair.difference,
        "verdict": pair.verdict,
        "conditions": [asdict(entry) for entry in _barring(pair)],
    }


def _barring(pair: Compared) -> list[Entry]:
    record = pair.own.record
    if record is None or not record.judged:
        return []
    return [entry for entry in pair.own.conformance.entries if entry.state in ("differs", "unknown")]


# --- Without runs: the paper against itself ---------------------------------------------------------------------------


def _check_paper(only: list[str], as_json: bool, *, everything: bool) -> None:
    judged = [*((check.target, check) for check in checks()), *((one, None) for one in published() if one.wrong)]
    chosen = of_tables(only, judged, lambda one: one[0].table)
    found = [check for _, check in chosen if check]
    wrong = [number for number, check in chosen if not check]
    if as_json:
        facts = {"checks": [_check_as_json(check) for check in found], "wrong": [_wrong_as_json(one) for one in wrong]}
        print_json(facts)
        return
    if not everything and len(found) + len(wrong) > _FEW_NUMBERS:
        _print_checked(found, wrong)
        return
    by_rule: dict[tuple[str, str], list[Check]] = defaultdict(list)
    for check in found:
        by_rule[check.target.table, check.rule].append(check)
    shown = table(
        f"{PAPER}: published numbers recomputed from other published numbers",
        "table", "rule", "numbers", "hold", "largest gap", "where it does not hold, why",
        right=("numbers", "hold", "largest gap"),
    )  # fmt: skip
    for (name, rule), family in by_rule.items():
        # a bound, of 0 and what is recomputed, has no gap
        gaps = [abs(one.recomputed - one.target.value) for one in family if (one.low, one.high) != (0, one.recomputed)]
        shown.add_row(
            short(name),
            rule,
            str(len(family)),
            str(sum(check.holds for check in family)),
            f"{max(gaps):.3g}" if gaps else "",
            "; ".join(dict.fromkeys(check.reason for check in family if check.reason)),
            style=None if all(check.holds for check in family) else "yellow",
        )
    output.print(shown)
    doubtful = table(
        f"\n{len(wrong)} published numbers are known to be wrong or contradicted", "paper", "table", "numbers", "why"
    )
    reasons: dict[tuple[str, str, str], list[Published]] = defaultdict(list)
    for number in wrong:
        reasons[number.paper, number.table, number.wrong].append(number)
    for (paper, name, reason), numbers in reasons.items():
        doubtful.add_row(paper, short(name), _named(numbers), reason)
    output.print(doubtful)


def _print_checked(found: list[Check], wrong: list[Published]) -> None:
    """A line for each table: how many of its numbers follow from others, and how many are known to be wrong."""
    checked = Counter((check.target.paper, check.target.table) for check in found)
    hold = Counter((check.target.paper, check.target.table) for check in found if check.holds)
    known = Counter((number.paper, number.table) for number in wrong)
    right = ("recomputed", "hold", "wrong or contradicted")
    shown = table("Published numbers, recomputed from other published numbers", "paper", "table", *right, right=right)
    for paper, name in dict.fromkeys([*checked, *known]):
        counts = (checked[paper, name], hold[paper, name], known[paper, name])
        shown.add_row(paper, short(name), *counts, style="yellow" if counts[2] or counts[1] < counts[0] else None)
    output.print(shown)
    output.print("Which rule, which number and why: --all, --json; of one table: --table NAME", style="dim")


def _named(numbers: list[Published]) -> str:
    """What numbers are about, with their split or group only if that distinguishes them."""
    several = len({number.split_or_group for number in numbers}) > 1
    parts_of = [(n.row, n.setting, named(n.column), n.split_or_group if several else "", n.printed) for n in numbers]
    return "; ".join(" ".join(part for part in parts if part) for parts in parts_of)


def _check_as_json(check: Check) -> dict[str, Any]:
    return {
        "rule": check.rule,
        **dict(zip(_KEY, check.target.key, strict=True)),
        "published": check.target.value,
        "recomputed": check.recomputed,
        "low": check.low,
        "high": check.high,
        "holds": check.holds,
        "reason": check.reason or None,
    }


def _wrong_as_json(number: Published) -> dict[str, Any]:
    return {**dict(zip(_KEY, number.key, strict=True)), "published": number.value, "wrong": number.wrong}
