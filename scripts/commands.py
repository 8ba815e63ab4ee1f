"""Every command of `bedside`: where it is, and its line of help. A new command is one line here.

Nothing is imported before its command runs, so `bedside --help` costs what its text costs; a test holds each line of
help equal to the first one of the command's docstring. Other packages bring corpora and baselines by entry points
(`loaders.plugins`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from loaders import plugins
from loaders.registry import BUNDLED


@dataclass(frozen=True, slots=True)
class Command:
    """A command: the place of its function, a module with a `command` or "module:function"; and its line of help.

    One that `passes_on` takes options that it does not know as arguments, for another command. One that prints `tables`
    prints them as JSON too.
    """

    place: str
    help: str
    passes_on: bool = False
    tables: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Commands behind a word of their own; other packages bring more by the entry points of the name `plugins`.

    Where a place holds no function, `maker` is the place of one that makes the function from the name of the command.
    """

    help: str
    commands: Mapping[str, Command | Group]
    plugins: str = ""
    maker: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)
    """The commands under headings, in the order in which they are used; one under none stands first."""

    def section_of(self, name: str) -> str | None:
        """The heading of a command."""
        return next((heading for heading, names in self.sections.items() if name in names.split()), None)


def _commands(package: str, lines: str, *, no_tables: str = "", passing_on: str = "") -> dict[str, Command]:
    """Commands of a package, each the module of its name, from lines `name: help`; one with blanks in front goes on."""
    commands = {}
    for line in re.split(r"\n(?=\w)", lines):
        name, _, text = " ".join(line.split()).partition(": ")
        place = f"{package}.{name.replace('-', '_')}"
        commands[name] = Command(place, text, name in passing_on.split(), name not in no_tables.split())
    return commands


BUILD = {name: Command(place, line) for name, (place, line) in BUNDLED.items()}

RUN = _commands(
    "scripts.run",
    """\
language: Readability of both registers, and how far the lay one keeps the expert's words (Tables 1 and 2).
retrieval: Zero-shot image-text retrieval in both directions and registers (Tables 3, A3, A4; Figure A4).
captioning: Captions of a vision-language model in both registers, against both references (Table A5).
embedding-space: How near expert and lay captions lie to each other, by modality: cosine, distance and t-SNE (Figure
    A3).
concepts: Pairs by modality, the commonest concepts of each, and their long tail (Tables A1 and A2, Figure A2).
ablation: Put retrieval runs over the releases of several conditions side by side (Tables 5 and A4).
classifier: Fine-tune an image classifier on the train split, choose on validation, answer once about test (Table 8).
consultation: Simulated consultations: a doctor model talks to a patient model, an assessor judges (Tables 5 and 6).
recheck: Assess finished consultations again, with the items in another order and with padded replies.
confirmation: Task 1: surface what the patient hides, then write it down (Tables 1, 2 and 6).
findings: Let a model write down what people's dialogues brought out, and score that (Table 1, "Claude summary").
patients: Simulate clinicians of every quality with the patients of a release: a step or a slope? No model is asked.
intervention: Task 2: find the main concern, deal with it, and win the patient for the plan (Tables 3, 4 and 6).
""",
)

SELECT = _commands(
    "scripts.select_agents",
    """\
patient: Let candidates play the patient and rank them: instruction following, relevance, factuality (Table 3).
sheet: Write blank sheets for annotators of consultations, with instructions and photos (Section 3.4, Appendix B).
assessor: Let candidates assess the annotated dialogues: kappa with the annotators, extraction F1 (Table 4, Figure 8).
physicians-sheet: Write blank sheets for physicians, one case a diagnosis, with photos (Appendix D, Table 7).
physicians: Set physicians beside a model on the same cases (Table 7).
""",
    no_tables="sheet physicians-sheet",
)

ENDPOINT = _commands(
    "scripts.endpoint",
    """\
check: Try a product that is to be seated as doctor or clinician: six probes of the function in FILE.py.
""",
)

STUDY = _commands(
    "scripts.study",
    """\
new: Write study.yaml, consent.md and instructions.md of a new study, to be edited.
check: Check a study before anybody is invited: texts, cases, schedule, power, cost; and its journal, once it runs.
serve: Serve a study: its pages for people, and one for its coordinator, whose login is printed.
invite: Print one-time links as CSV: person, link.
export: Write what people did: dialogues for `--transcripts`, sheets for `ratings` and `select`, people and times.
erase: Delete all texts of a person, and the key with which they were encrypted: no copy can be read any more.
pay: Print what people have earned as CSV: welcome, finished cases, cases that broke off, a part of a stopped one.
close: Close a study: nobody is given a further case, and nobody is invited.
""",
    no_tables="new serve invite erase pay close",
)

NEW = {
    "corpus": Command(
        "scripts.new:corpus",
        "Write a corpus of three columns to start from: its loader, its recipe, its card and its test.",
        tables=False,
    ),
    "baseline": Command(
        "scripts.new:baseline",
        "Write a package that brings a baseline: its module, its command `bedside run NAME`, and its test.",
        tables=False,
    ),
}

CASES = {
    "new": Command(
        "scripts.cases",
        "Write down a patient of your own for MedConceal: asked field by field, or from a filled-in template.",
        tables=False,
    ),
}

ALONE = _commands(
    "scripts",
    """\
verify: Check a release: files and digests, schema, counts, rows, exclusions, statistics and card.
preview: Write one self-contained HTML page: counts, exclusions, and a sample of the rows.
diff: Compare two releases: rows added, removed, changed (by column), moved between splits, and exclusions that moved.
rebuild: Build a published release again, by a checkout in its own environment, and compare content and files.
publish: Publish a release as a tag of a data set repository.
audit: Check caption pairs with the fact gates and name what got lost: numbers, sides, negations, imaging methods,
    markers.
info: Describe a corpus and its columns, or a release by its manifest; without a name, list all corpora.
compare: Print paper, own and difference in one table, and which of the paper's conditions hold.
table: Write the paper's tables with the numbers of runs: LaTeX, Markdown or CSV, with intervals.
plan: What a run would take, by role, and what difference its cases can show; nobody is asked.
contrast: Compare runs over the same cases: differences with intervals, and the tests of the paper.
rescore: Every number of a run again, from its stored dialogues, answers or embeddings; no model is asked.
report: Write one self-contained page: tables beside the paper's, figures, run records, every dialogue and caption.
pack: Put a run into one archive that may be shared: without hidden texts, paid answers and logs.
sheet: Write blank sheets and instructions for a human evaluation.
curate: Audit a set of photos: what is blurred, what copies what, whose labels disagree, what leaks between splits.
review: Write one self-contained HTML page to accept or reject, by keyboard, the photos that a build was not sure about.
demo: Build, verify, publish, load and evaluate the three corpora on this machine, from bundled samples.
ratings: Print the paper's table of filled sheets, with agreement between raters and the paper's own numbers.
fit-policy: Fit the weights of the reserved patient on labelled turns and replay thresholds against the acceptance
    tests.
""",
    no_tables="preview publish table report pack sheet review",
    passing_on="rebuild plan",
)

COMMANDS: dict[str, Command | Group] = {
    **ALONE,
    "build": Group(
        "Build a release of a corpus from its sources.", BUILD, plugins.CORPORA, maker="scripts.build:command_of"
    ),
    "run": Group(
        "Run a baseline on a corpus: the paper's tables for your captions and models.", RUN, plugins.BASELINES
    ),
    "select": Group(
        "Choose the models that play patient and assessor (3MDBench, Tables 3 and 4); set physicians beside one.",
        SELECT,
    ),
    "endpoint": Group("Seat a product with an API of its own: --doctor or --clinician endpoint:FILE.py.", ENDPOINT),
    "study": Group(
        "Put people before the same cases, under the same rules as models: pages, schedule, payment, export.", STUDY
    ),
    "cases": Group("Patients of a team's own, for MedConceal.", CASES),
    "new": Group("Write the skeleton of a plug-in, with a test that is green from the start.", NEW),
}

SECTIONS = {
    "To begin with": "demo info",
    "Releases": "build verify preview diff publish rebuild",
    "What goes into them": "audit curate review cases fit-policy",
    "Baselines": "run plan select endpoint rescore",
    "Results": "compare table contrast report pack",
    "People": "study sheet ratings",
    "Plug-ins": "new",
}

BEDSIDE = Group(
    "Build, publish, load and evaluate three corpora on how medicine is said to patients.", COMMANDS, sections=SECTIONS
)
