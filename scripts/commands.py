"""Every command of `bedside`: its module, and its line of help. A new command is one line here.

Nothing is imported before its command runs, so `bedside --help` costs only its own text; a test checks that each line
of help equals the first line of the command's docstring. Other packages add corpora and baselines by entry points
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

    With `passes_on`, unknown options are passed on as arguments, for another command. With `tables`, it prints tables,
    and can print them as JSON.
    """

    place: str
    help: str
    passes_on: bool = False
    tables: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """Commands under a common word; other packages add more by the entry points of the name `plugins`.

    If a place holds no function, `maker` is the place of a factory that makes the function from the command's name.
    """

    help: str
    commands: Mapping[str, Command | Group]
    plugins: str = ""
    maker: str = ""
    sections: Mapping[str, str] = field(default_factory=dict)
    """The commands under headings, in the order of use; those without a heading come first."""
    ends: str = ""
    """The last line of its help, and except for `bedside` itself of its commands' help: the exit codes."""


def _commands(package: str, lines: str, *, no_tables: str = "", passing_on: str = "") -> dict[str, Command]:
    """Commands of a package, each in the module of its name, from lines `name: help`; indented lines continue the
    help."""
    commands = {}
    for line in re.split(r"\n(?=\w)", lines):
        name, _, text = " ".join(line.split()).partition(": ")
        place = f"{package}.{name.replace('-', '_')}"
        commands[name] = Command(place, text, name in passing_on.split(), name not in no_tables.split())
    return commands


_RUN_ENDS = "Exit code 1 if the run fails or is invalid."

BUILD = {name: Command(place, line) for name, (place, line) in BUNDLED.items()}

RUN = _commands(
    "scripts.run",
    """\
language: Score readability of both registers, and how close lay captions stay to the expert's (Tables 1 and 2).
retrieval: Run zero-shot image-text retrieval in both directions and registers (Tables 3, A3, A4; Figure A4).
captioning: Caption images with a vision-language model and score both registers (Table A5).
embedding-space: Measure how close expert and lay embeddings are, by modality: cosine, distance, t-SNE (Figure A3).
concepts: Count pairs by modality, their most common concepts, and the long tail (Tables A1 and A2, Figure A2).
ablation: Compare retrieval runs over releases of different conditions (Tables 5 and A4).
classifier: Fine-tune an image classifier on train, select it on validation, evaluate it once on test (Table 8).
consultation: Simulate consultations: a doctor model and a patient model talk, an assessor scores (Tables 5 and 6).
recheck: Assess finished consultations again, with rubric items reordered and replies padded.
confirmation: Task 1: elicit what the patient hides, then write it down as findings (Tables 1, 2 and 6).
findings: Have a model write findings from people's dialogues, and score them (Table 1, "Claude summary").
patients: Simulate clinicians from poor to good with a release's patients; no model is called.
intervention: Task 2: find the main concern, address it, and gain agreement to the plan (Tables 3, 4 and 6).
""",
)

SELECT = _commands(
    "scripts.select_agents",
    """\
patient: Rank candidate patient models by instruction following, relevance and factuality (Table 3).
sheet: Write blank annotation sheets for consultations, with instructions and photos (Section 3.4, Appendix B).
assessor: Rank candidate assessors by kappa with annotators and by extraction F1 (Table 4, Figure 8).
physicians-sheet: Write blank sheets for physicians, one case per diagnosis, with photos (Appendix D, Table 7).
physicians: Compare physicians with a model on the same cases (Table 7).
""",
    no_tables="sheet physicians-sheet",
)

ENDPOINT = _commands(
    "scripts.endpoint",
    """\
check: Probe a product before it plays doctor or clinician: tests of the function in FILE.py.
""",
)

STUDY = _commands(
    "scripts.study",
    """\
new: Create study.yaml, consent.md and instructions.md for a new study, ready to edit.
check: Check a study before inviting people: texts, cases, schedule, power, cost; once it runs, its journal too.
serve: Serve a study: pages for participants, and one for the coordinator, whose login is printed.
invite: Print one-time links as CSV: person, link.
export: Export a study's data: dialogues for `--transcripts`, sheets for `ratings` and `select`, people and times.
erase: Delete a person's texts and their encryption key, so that no copy can be read.
pay: Print what each person has earned, as CSV: welcome, finished, broken-off and partly finished cases.
close: Close a study: no further cases are assigned and no further people invited.
""",
    no_tables="new serve invite erase pay close",
)

NEW = {
    name: Command(f"scripts.new:{name}", line, tables=False)
    for name, line in (
        ("corpus", "Write a three-column corpus to start from: loader, recipe, card and test."),
        ("baseline", "Write a package that adds a baseline: its module, its command `bedside run NAME` and its test."),
    )
}
_OWN = "Add your own patient for MedConceal, by answering questions or from a filled-in template."
CASES = {"new": Command("scripts.cases", _OWN, tables=False)}

ALONE = _commands(
    "scripts",
    """\
verify: Check a release: files and digests, schema, counts, rows, exclusions, statistics and card.
preview: Write one self-contained HTML page: counts, exclusions, and a sample of the rows.
diff: Compare two releases: rows added, removed, changed (by column) or moved between splits, and exclusions.
rebuild: Rebuild a published release from a checkout in a fresh environment; compare content and files.
publish: Publish a release as a tag of a dataset repository.
audit: Check caption pairs with the fact gates: lost or changed numbers, sides, negations, imaging methods, markers.
info: Describe a corpus and its columns, or a release by its manifest; without a name, list all corpora.
compare: Print the paper's numbers, yours and the difference, and which of the paper's conditions hold.
table: Write the paper's tables with your runs' numbers and intervals: LaTeX, Markdown or CSV.
check: Check that models can be opened: name, package, key, weights; without --pictures nothing is asked or paid.
plan: Estimate a run's requests, tokens and cost by role, and its statistical power; no model is called.
contrast: Compare runs over the same cases: differences with intervals, and the paper's tests.
rescore: Recompute a run's numbers from its stored dialogues, answers or embeddings; no model is called.
report: Write one self-contained HTML page: tables beside the paper's, figures, run records, dialogues, captions.
pack: Pack a run into one archive to share, without hidden texts, photos, paid answers and logs.
sheet: Write blank sheets and instructions for a human evaluation.
curate: Audit photos: blur, near-duplicates, conflicting labels, and leaks between splits.
review: Write one self-contained HTML page for accepting or rejecting a build's doubtful photos by keyboard.
demo: Build, verify, publish, load and evaluate the three corpora on this machine, from bundled samples.
ratings: Score filled-in sheets: the paper's table beside yours, and inter-rater agreement.
fit-policy: Fit the reserved patient's weights on labelled turns, and run the acceptance tests.
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
        "Run a baseline on a corpus: the paper's tables for your captions or models.",
        RUN,
        plugins.BASELINES,
        ends=_RUN_ENDS,
    ),
    "select": Group(
        "Select patient and assessor models (3MDBench, Tables 3 and 4), or compare physicians with a model.",
        SELECT,
        ends=_RUN_ENDS,
    ),
    "endpoint": Group("Evaluate a product behind its own API: --doctor or --clinician endpoint:FILE.py.", ENDPOINT),
    "study": Group(
        "Run a study with people, on the same cases and rules as models: pages, schedule, payment, export.", STUDY
    ),
    "cases": Group("Write your own patients for MedConceal.", CASES),
    "new": Group("Write the skeleton of a plug-in, with a passing test.", NEW),
}

SECTIONS = {
    "Getting started": "demo info",
    "Releases": "build verify preview diff publish rebuild",
    "Sources and curation": "audit curate review cases fit-policy",
    "Baselines": "run plan check select endpoint rescore",
    "Results": "compare table contrast report pack",
    "People": "study sheet ratings",
    "Plug-ins": "new",
}

BEDSIDE = Group(
    "Build, publish, load and evaluate three corpora about explaining medicine to patients.",
    COMMANDS,
    sections=SECTIONS,
    ends="Exit codes: 0 done; 1 a check found something, or a run failed or is invalid; 2 a mistake in the command "
    "line, or something that it names cannot be used; 130, 143, 129 stopped by Ctrl-C, SIGTERM, SIGHUP.",
)
