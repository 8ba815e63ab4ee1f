"""`bedside contrast`: compares finished runs of captions or dialogues, case by case."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations, groupby
from math import isclose
from pathlib import Path

import typer

from baselines.dialogue.played import PlayedCase, read_played
from baselines.medconceal.comparisons import Comparison, best_of, compare_cases, results
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.tables import common_setting
from baselines.medconceal.validity import reasons
from baselines.medlaybench_v import differences as captions
from baselines.results.comparison import FinishedRun, check_same_data, read_runs
from baselines.results.confounds import also_differing
from baselines.results.differences import ALPHA, Difference
from baselines.results.published import named
from baselines.results.run import ModelUsed, RunRecord, because
from baselines.threemdbench.consultation.diagnosis import taken_for_none
from baselines.threemdbench.consultation.differences import differences, system_of, told_apart
from loaders.errors import InputError, how_many
from loaders.files.paths import resolved
from scripts.terminal.console import output, print_json, table, warn
from scripts.terminal.finish import finish
from scripts.terminal.options import LAST_SEED, All, outside_releases, refuse_itself
from scripts.terminal.tables import short_digests


def command(
    runs: list[Path] = typer.Argument(..., metavar="RUN RUN…", help="Folders of finished runs of one kind."),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="RUN",
        help="Also save the numbers as a run (MedConceal: Tables 7 to 11).",
        callback=outside_releases,
    ),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random seed for bootstrap and permutations."),
    everything: All = False,
    as_json: bool = typer.Option(False, "--json", help="Print JSON."),
) -> None:
    """Compare runs over the same cases: differences with intervals, and the paper's tests.

    Language: every pair of runs, over the lay captions that both have of the same expert captions (by image_id).
    Consultations: every pair of runs. Both: Wilcoxon tests with Benjamini-Hochberg correction. Language also counts the
    captions that fail a fact gate in one of the two only, with McNemar's exact test.

    Whatever else the runs differ in (judge, patient, policy, decoding) is said in a line.

    Confirmation and intervention: the first run is the reference; against several others, the best of them on each
    metric; sign-flip or McNemar tests with Holm correction.

    Example: `bedside contrast runs/gpt-dialogue runs/gpt-rationale`
    """
    if out is not None:
        refuse_itself(out, runs)
    read = read_runs(runs, different_data=True)
    kinds = {run.record.baseline for run in read}
    if len(read) < 2 or len(kinds) != 1 or not kinds <= {"language", "consultation", "confirmation", "intervention"}:
        raise InputError(
            ", ".join(map(str, runs)),
            found=f"runs of {', '.join(run.record.baseline for run in read)}" if len(read) > 1 else "one run",
            expected="two or more, all of language, of consultation, of confirmation or of intervention",
            do="Pass runs of one of these kinds; `bedside table` shows runs of any kind",
        )
    if kinds != {"language"}:
        check_same_data(read, do="Compare runs over the same data")
    if kinds & {"language", "consultation"} and out is not None:
        raise InputError("--out", found=str(out), expected="none: the paper has no table of these differences")
    # Also a reader of JSON has to know it, hence not on the standard output.
    also = also_differing([run.record for run in read])
    if also:
        warn(f"differs also in: {short_digests(also)}")
    if kinds == {"language"}:
        _language(read, seed, as_json, everything)
    elif kinds == {"consultation"}:
        _consultations(read, seed, as_json, everything)
    else:
        _concealment(read, seed, as_json, everything, out, also)
    if not as_json and (reason := because(*(run.record.stand_in for run in read))):
        output.print(f"stand-in: {reason}", style="yellow")


# --- MedLayBench-V ----------------------------------------------------------------------------------------------------


def _language(read: Sequence[FinishedRun], seed: int, as_json: bool, everything: bool) -> None:
    systems = captions.captions_of(read)
    found, gates = captions.differences(systems, seed=seed), captions.gate_differences(systems)
    if as_json:
        _print_json(found, gates)
        return
    if any(one.places.keys() != systems[0].places.keys() for one in systems):
        counts = ", ".join(f"{len(one.places):,}" for one in systems)
        warn(f"The runs hold different captions ({counts}): each pair is compared on those that both have")
    print_differences(found, everything=everything, unit="captions", drawn=captions.drawn(systems))
    print_gates(gates, everything=everything)
    if len({(one.first, one.second) for one in gates}) < len(list(combinations(systems, 2))):
        warn("Fact gates are compared only for runs made by one version of them: repeat the older runs")


def print_gates(found: Sequence[captions.GateDifference], *, everything: bool) -> None:
    """The captions that fail a fact gate in one system only: of every pair in any gate; of two systems, or with
    `everything`, in each gate."""
    pairs = [list(rows) for _, rows in groupby(found, key=lambda one: (one.first, one.second))]
    for rows in pairs:
        counts = ("only in the first", "only in the second", "p")
        shown = table(
            f"{rows[0].first}\nand {rows[0].second}, {how_many(rows[0].n, 'caption')}", "fails", *counts, right=counts
        )
        for one in rows:
            differs = len(pairs) == 1 and one.only_first + one.only_second
            if everything or differs or one.measure == captions.ANY_GATE:
                shown.add_row(one.measure, one.only_first, one.only_second, f"{one.p:.3g}")
        output.print(shown)
    if found:
        text = "p: McNemar's exact test of captions that fail in one of the two only; not adjusted."
        output.print(text, style="dim")


def _print_json(found: Sequence[Difference], gates: Sequence[captions.GateDifference] = ()) -> None:
    rows = [*(asdict(one) | {"significant": one.significant} for one in found), *map(asdict, gates)]
    print_json(rows)


# --- 3MDBench ---------------------------------------------------------------------------------------------------------


def _consultations(read: Sequence[FinishedRun], seed: int, as_json: bool, everything: bool) -> None:
    systems = []
    for run in read:
        system = system_of(run)
        if system is None:
            raise InputError(run.folder, found="no dialogues", expected="one with consultations")
        systems.append(system)
    found = differences(told_apart(systems, [f"run {number}" for number in range(1, len(read) + 1)]), seed=seed)
    if as_json:
        _print_json(found)
        return
    for number, system in enumerate(systems, start=1):
        if unread := taken_for_none(system.consultations):
            warn(f"run {number}: of {how_many(len(system.consultations), 'consultation')}, {unread}")
    cases = [frozenset(played.case_id for played in system.consultations) for system in systems]
    if len(set(cases)) > 1:
        counts = ", ".join(f"{len(one):,}" for one in cases)
        warn(f"The runs played different cases ({counts}): each pair is compared on the cases that both have")
    drawn = "cases, those of a patient or lesion together (the tests take cases as independent)"
    print_differences(found, everything=everything, drawn=drawn)


def print_differences(found: Sequence[Difference], *, everything: bool, unit: str = "cases", drawn: str = "") -> None:
    """The differences of every pair: all of them, or those that distinguish its systems.

    `drawn` says what the intervals resample, if that is not the `unit` which is counted and tested.
    """
    pairs = [list(rows) for _, rows in groupby(found, key=lambda one: (one.first, one.second))]
    shown: Sequence[Difference] = []  # with an interval
    if everything:
        shown = found
        for rows in pairs:
            _print_pair(rows, unit)
    elif len(pairs) == 1:
        shown = list(filter(_differs, found))
        _print_differing(pairs[0], unit)
    else:
        _print_pairs(pairs, unit)
    output.print(
        "p: Wilcoxon's signed-rank test; adjusted by Benjamini and Hochberg over all pairs of a table, * below "
        f"{ALPHA}. Intervals: a paired bootstrap over {drawn or unit}."
        + (" F1 has no value per case, hence no test." if any(one.p is None for one in found) else "")
        + _without(shown, unit),
        style="dim",
    )
    if not everything:
        output.print("All numbers of all pairs: --all, --json")


def _differs(one: Difference) -> bool:
    """By its test, or by its interval if it has none."""
    return one.significant if one.p is not None else not one.ci95[0] <= 0 <= one.ci95[1]


def _interval(one: Difference | Comparison, decimals: int = 2) -> str:
    """Nothing where all cases differ alike and the measure has no bounds: no interval is that sure (as in `Result`)."""
    low, high = one.ci95
    return "" if isclose(low, high, rel_tol=1e-12, abs_tol=1e-15) else f"{low:+.{decimals}f} to {high:+.{decimals}f}"


def _without(found: Sequence[Difference | Comparison], unit: str) -> str:
    """Why intervals are missing, if some are."""
    return "" if all(map(_interval, found)) else f" No interval: all {unit} differ alike."


def _print_differing(rows: list[Difference], unit: str) -> None:
    right = ("difference", "95 % interval", "adjusted p")
    title = f"{rows[0].first}\nless {rows[0].second}, {how_many(max(one.n for one in rows), unit.removesuffix('s'))}"
    shown = table(title, "told apart", *right, right=right)
    for one in filter(_differs, rows):
        adjusted = "" if one.p_adjusted is None else f"{one.p_adjusted:.2g} *"
        shown.add_row(named(one.measure), f"{one.difference:+.2f}", _interval(one), adjusted)
    output.print(shown)
    output.print(f"not told apart: {_measures(one for one in rows if not _differs(one))}\n")


def _print_pairs(pairs: Sequence[list[Difference]], unit: str) -> None:
    """One line per pair: the measures that are clearly higher, and those that are clearly lower."""
    names = list(dict.fromkeys(name for rows in pairs for name in (rows[0].first, rows[0].second)))
    for number, name in enumerate(names, start=1):
        output.print(f"{number}  {name}")
    f1s = ["F1"] if any(one.measure == "F1" for one in pairs[0]) else []
    shown = table("\nWhat tells two apart", "pair", unit, *f1s, "higher", "lower", right=(unit, *f1s))
    for rows in pairs:
        first, second = (names.index(name) + 1 for name in (rows[0].first, rows[0].second))
        differing = list(filter(_differs, rows))
        f1 = [next((f"{one.difference:+.2f}" for one in rows if one.measure == name), "") for name in f1s]
        higher, lower = (_measures(one for one in differing if sign * one.difference > 0) for sign in (1, -1))
        shown.add_row(f"{first} less {second}", max(one.n for one in rows), *f1, higher, lower)
    output.print(shown)
    output.print()


def _measures(rows: Iterable[Difference]) -> str:
    return ", ".join(one.measure for one in rows) or "none"


def _print_pair(rows: list[Difference], unit: str) -> None:
    right = ("difference", "95 % interval", "p", "adjusted", unit)
    shown = table(f"{rows[0].first}\nless {rows[0].second}", "table", "measure", *right, right=right)
    for one in rows:
        shown.add_row(
            one.table,
            named(one.measure),
            f"{one.difference:+.2f}",
            _interval(one),
            "" if one.p is None else f"{one.p:.3g}",
            "" if one.p_adjusted is None else f"{one.p_adjusted:.3g}{' *' if one.significant else ''}",
            one.n,
        )
    output.print(shown)
    output.print()


# --- MedConceal -------------------------------------------------------------------------------------------------------


def _concealment(
    read: Sequence[FinishedRun], seed: int, as_json: bool, everything: bool, out: Path | None, also: str
) -> None:
    (reference, first), *others = _over_the_same_cases({_label(run, read): _judged(run) for run in read}).items()
    if len(others) == 1:
        other, second = others[0]
        found = compare_cases(first, second, seed=seed)
    else:
        other = "the best of the others"
        found = best_of(first, dict(others), seed=seed)
    if fewer := [f"{one.name} over {one.n:,}" for one in found if one.n < found[0].n]:
        warn(
            f"Of {how_many(found[0].n, 'case')}, those whose findings were not judged are left out: {', '.join(fewer)}"
        )

    def show() -> None:
        if as_json:
            print_json(
                [asdict(one) | {"reference_name": reference, "other_name": one.other_name or other} for one in found]
            )
        else:
            print_cases(reference, other, found, everything=everything)

    if out is None:
        show()
    else:
        record = RunRecord(
            baseline="contrast",
            data=read[0].record.data,
            models=tuple(
                ModelUsed(f"{model.role}, run {number}", model.name, model.revision)
                for number, run in enumerate(read, start=1)
                for model in run.record.models
            ),
            options={"runs": [run.record.run_id for run in read]},
            seeds={"bootstrap": seed},
            stand_in=because(*(run.record.stand_in for run in read)),
        )
        setting = common_setting([one.episode for one in others[0][1]])
        made = results(found, record, first[0].episode, reference=reference, other=other, setting=setting, also=also)
        finish(out, made, show=show)


def _over_the_same_cases(played: Mapping[str, Sequence[JudgedEpisode]]) -> dict[str, list[JudgedEpisode]]:
    """The dialogues of the cases that all runs have: a case may be invalid in one, and people may have had only some.

    Raises InputError if there is no such case.
    """
    cases = [frozenset(one.episode.case_id for one in judged) for judged in played.values()]
    shared = frozenset.intersection(*cases)
    if not shared:
        raise InputError(
            "runs to compare",
            found="no case that all of them have",
            expected="runs over the same cases",
            do="Repeat one of them over the data of the other",
        )
    if len(set(cases)) > 1:
        counts = ", ".join(f"{len(one):,}" for one in cases)
        warn(f"The runs have different cases ({counts}): they are compared on the {len(shared):,} that all have")
    return {name: [one for one in judged if one.episode.case_id in shared] for name, judged in played.items()}


def _label(run: FinishedRun, read: Sequence[FinishedRun]) -> str:
    """The clinician of a run, with its setting or folder if two runs have the same clinician."""
    row = _clinician(run)
    same = [one for one in read if _clinician(one) == row]
    if len(same) == 1:
        return row
    setting = run.results[0].setting
    alone = sum(one.results[0].setting == setting for one in same) == 1
    name = resolved(run.folder).name
    alike = sum(resolved(one.folder).name == name for one in same) > 1
    return f"{row}, {setting if alone else run.record.run_id if alike else name}"


def _clinician(run: FinishedRun) -> str:
    """The clinician of a run; people with who wrote their findings, as Tables 7 to 10 name them."""
    row, setting = run.results[0].row, run.results[0].setting
    return f"{row} ({setting})" if setting.endswith(" summary") else row


def _judged(run: FinishedRun) -> list[JudgedEpisode]:
    """The dialogues of a run. Raises InputError if there are none, and for an invalid run, whose numbers no other
    command shows either."""
    found = [one.record for one in read_played(run.folder, PlayedCase[JudgedEpisode]) if one.record is not None]
    if not found:
        do = "Copy the folder of the run again, with this file, or repeat the run"
        raise InputError(run.folder, found="no dialogues", expected="dialogues.jsonl, as the run wrote it", do=do)
    validity = run.record.options.get("validity")  # runs of earlier versions do not say
    invalid = reasons([one.episode for one in found]) if validity is None else validity["reasons"]
    if invalid:
        raise InputError(
            run.folder,
            found=f"an invalid run: {'; '.join(invalid)}",
            expected="valid runs",
            do="Leave it out, or repeat it with another model in the role that this is about",
        )
    return found


def print_cases(reference: str, other: str, found: Sequence[Comparison], *, everything: bool) -> None:
    """The comparison on every metric: with its test and p, or only with the adjusted p."""
    tests = ("p", "Holm") if everything else ("Holm p",)
    right = ("reference", "other", "difference", "95 % interval", *tests)
    title = f"{reference}\nagainst {other}, {how_many(found[0].n, 'case')}"
    shown = table(title, "mean over cases", *right, *(["test"] if everything else []), right=right)
    for one in found:
        best = f" ({one.other_name})" if everything and one.other_name else ""
        numbers = (f"{one.reference:.3f}", f"{one.other:.3f}{best}", f"{one.difference:+.3f}", _interval(one, 3))
        test = (f"{one.p:.3g}", f"{one.holm:.3g}", one.test) if everything else (f"{one.holm:.2g}",)
        shown.add_row(one.name, *numbers, *test)
    output.print(shown)
    text = _without(found, "cases")
    if not everything:
        best = _mostly((one.other_name, one.name) for one in found)
        said = f"The best of the others: {best}. " if best else ""
        tests_of = _mostly((one.test, one.name) for one in found)
        text = f"{said}p by {tests_of}; before Holm: --all, --json.{text}"
    output.print(text.strip(), style="dim")


def _mostly(pairs: Iterable[tuple[str, str]]) -> str:
    """What most measures have, then the exceptions: "sign flips, of MBNR exact McNemar"."""
    grouped: defaultdict[str, list[str]] = defaultdict(list)
    for name, measure in pairs:
        grouped[name].append(measure)
    most, *others = sorted(grouped, key=lambda name: -len(grouped[name]))
    return ", ".join([most, *(f"of {', '.join(grouped[name])} {name}" for name in others)])
