"""`bedside study check`: texts, cases, schedule, power and cost of a study, before anybody is invited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from baselines.medconceal.agents import scripted_agent
from baselines.medconceal.game import Rules, task_game
from baselines.results.power import ALPHA, POWER
from baselines.study import journal, people, planned, replaced
from baselines.study.design import TALKS, Study, open_places, read_study
from baselines.study.schedule import Offer, fewest_people, rounds
from baselines.study.site import KEYS, PRIVATE, check_tables, open_database
from baselines.study.tasks.task import Source, task_named
from loaders.errors import InputError, how_many
from loaders.files.paths import is_there
from loaders.medconceal import TASKS, cases
from scripts.run.play import Price, prices_of
from scripts.study.folder import Database, Folder, tell_other_design
from scripts.study.serve import source_of
from scripts.terminal.console import output
from scripts.terminal.options_of import options_of
from scripts.terminal.planning import showing, spending

_TURNS = 8  # the number of turns of the scripted clinician in an estimate
Model = Annotated[str, typer.Option(metavar="MODEL", help="Model that will take this role, to estimate cost.")]


@dataclass(frozen=True, kw_only=True)
class Checking:
    study: Folder
    data: Annotated[str | None, typer.Argument(metavar="RUN|DATA", help="Corpus or release to serve.")] = None
    patient: Model = "the patient's model"
    evaluator: Model = "the evaluator's model"
    price: Price = ()
    detect: Annotated[float, typer.Option(min=0.0001, help="Difference to detect, in units of the score.")] = 0.05
    database: Database = None


@options_of(Checking)
def command(options: Checking) -> int:
    """Check a study before inviting people: texts, cases, schedule, power, cost; once it runs, its journal too.

    Serves nothing and calls no model. Without DATA, only texts and journal are checked. For dollars, pass `--price`.
    Exit code 1 if a text still says TODO, or the people planned are too few.

    Example: `bedside study check study/ medconceal --patient openai/gpt-4o-mini --evaluator openai/gpt-4o-mini --price
    openai/gpt-4o-mini=0.15,0.6`
    """
    prices = prices_of(options.price, {options.patient, options.evaluator})
    read = read_study(options.study)
    todo = open_places(read)
    _line("texts", f"TODO in {', '.join(todo)}" if todo else f"finished; digest {read.digest[:16]}", bad=bool(todo))
    faults = ["finish the texts"] * bool(todo)
    if options.price and not (options.data and read.design.talks):
        raise InputError("--price", found="nothing to count", expected="RUN|DATA, of a study with conversations")
    if options.data is not None:
        source = source_of(options.data, read)
        offers = [item for task in read.design.tasks for item in task_named(task).items(source)]
        faults += ["plan more people"] * (not _schedule(read, offers))
        _power(read, offers, options.detect)
        if read.design.talks:
            _cost(read, source, offers, {"patient": options.patient, "evaluator": options.evaluator}, prices)
    if options.database or is_there(read.folder / PRIVATE / KEYS):
        _journal(read, options.database)
    if faults:
        output.print()
        _line("before inviting people", " and ".join(faults), bad=True)
    return int(bool(faults))


def _line(name: str, text: str, *, bad: bool = False) -> None:
    output.print(f"{name}: {text}", style="yellow" if bad else None, fault=bad)


def _schedule(study: Study, offers: Sequence[Offer]) -> bool:
    """Prints who would work on what; returns whether enough people are planned."""
    design = study.design
    for one in planned.expected(design, offers):
        each = f"at most {design.per_person} per person" if one.task in TALKS else "everyone rates all of them"
        arms = 1 if one.task in TALKS else len(rounds(design, offers, one.task))
        of_each, all_of_them = f"{design.completed} each", one.encounters * arms
        if arms > 1:
            of_each, each = f"{design.completed} in each of {arms} conditions", f"{each}, in one condition"
        _line(one.task, f"{how_many(one.cases, 'case')} by {of_each}, {all_of_them:,} in all; {each}")
    fewest = fewest_people(design, offers)
    few = f"; {design.people} are planned" + (", too few" if design.people < fewest else "")
    _line("people", f"{fewest:,} at least, if nobody drops out{few}", bad=design.people < fewest)
    _line("pay", f"{planned.paid(design, offers):,.2f} {design.pay.currency}, if everyone finishes")
    return design.people >= fewest


def _power(study: Study, offers: Sequence[Offer], detect: float) -> None:
    compared = [one for one in planned.expected(study.design, offers) if one.task in planned.COMPARED]
    if not compared:
        return
    for one in compared:
        output.print()
        output.print(f"{one.task}: one case counts as {one.each:.2f} independent ones")
        output.print(showing(one.cases, detect, each=one.each, cases_for=one.cases_for))
        if one.task not in TALKS:
            raters = how_many(one.people, "rater")
            output.print(f"{raters} of all cases; none: only more raters (`completed`) would show it", style="dim")
    output.print(
        f"People compared with a model on the same cases: paired over cases, two-sided, alpha {ALPHA}, power "
        f"{POWER}. Assumed: {planned.BY_PERSON:.0%} of a difference's variance is between people, "
        f"{planned.BY_CASE:.0%} between cases.",
        style="dim",
    )


def _cost(
    study: Study, source: Source, offers: Sequence[Offer], names: dict[str, str], prices: dict[str, tuple[float, float]]
) -> None:
    design = study.design
    assert source.opened is not None
    agents = {
        "clinician": scripted_agent("clinician", "expert"),
        "patient": scripted_agent("patient", "plain"),
        "evaluator": scripted_agent("evaluator", "rules"),
    }
    drawn = {offer.group for offer in offers}
    profiles = [profile for profile in cases(source.opened.splits["test"]) if profile.case_id in drawn]
    for task in (task for task in TASKS if task in design.tasks):
        taken = planned.taken(design, task_game(Rules(task, _TURNS)), profiles, agents)
        most = planned.taken(design, task_game(Rules(task, design.most_turns)), profiles, agents, endless=True)
        output.print()
        encounters = how_many(len(profiles) * design.completed, "encounter")
        title = f"{task}: {encounters}, about {_TURNS} turns each, at most {design.most_turns}"
        at_once = max(1, min(design.people, len(profiles)))
        output.print(spending(title, taken, names, prices, at_once=at_once, most=most))


def _journal(study: Study, database: str | None) -> None:
    store, keys = open_database(study, database)
    with store, keys, store.explained(), store.reading() as connection:
        tell_other_design(study, store)
        rows, head = journal.checked(connection)
        check_tables(connection)
        people.check_keys(connection, keys)
        fixed = replaced.counted(connection)
    _line("journal", f"{how_many(rows, 'row')}, unchanged since written; the last is {head[:16]}")
    if fixed.of:
        _line("patient", f"fixed sentences in place of a reply: {fixed.told()}", bad=bool(fixed.warning()))
