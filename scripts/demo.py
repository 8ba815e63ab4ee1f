"""`bedside demo`: everything a corpus goes through, on this machine, with bundled samples, no key and no network.

Builds each corpus from its bundled sample, verifies it, publishes it to a small Hub on the loopback address, loads it
back with nothing but `datasets`, runs the baselines with stand-ins, and writes a page to look at. It prints one screen
per corpus; the commands' output goes to a file, or with `--full` to the terminal.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from markupsafe import Markup
from rich.control import Control
from rich.segment import ControlType

from baselines.results.headline import headline
from baselines.results.run import Result, read_run
from baselines.threemdbench.consultation.settings import PAPER, SETTINGS
from builders.recipe import Recipe, recipe_of
from builders.release.preview import entries
from loaders.errors import BedsideError, MissingExtra
from loaders.files.disk import make_folder, write_whole
from loaders.files.paths import is_folder, resolved
from loaders.files.texts import read_text
from loaders.manifest import Manifest
from loaders.pages import Entry
from loaders.registry import BUNDLED
from scripts.loopback_hub.hub import LoopbackHub
from scripts.terminal.console import output
from scripts.terminal.finish import headline_table
from scripts.terminal.tables import wrapped

TAG = "v1.0.0"
_HOME = Path(__file__).parent.parent
# A network of 57,000 random weights on pictures of 64 pixels learns the drawn photos in a minute on two cores.
_CLASSIFIER = (
    "--model", "random:tiny", "--size", 64, "--test-size", 64, "--epochs", 40, "--patience", 40,
    "--learning-rate", 0.01, "--randaugment", 0, "--crop", 0.6, "--ema", 0.98, "--device", "cpu", "--restart",
)  # fmt: skip
_SETTINGS = ("image+basic", "dialogue+image")  # those of the paper's six that are played without `--full`
_OTHERS = ("--patient", "scripted/patient", "--assessor", "scripted/assessor")
_CLINICIANS = (
    ("confirmation", "expert"),
    ("confirmation", "closed-checklist"),
    ("intervention", "expert"),
    ("intervention", "plan-repeater"),
)
# What a reader's own program would be: only `datasets`, a repository and a tag.
_READER = """
import datasets
datasets.disable_progress_bars()
corpus = datasets.load_dataset("{repo}", revision="{tag}")
print(", ".join(f"{{name}} {{len(part):,}}" for name, part in corpus.items()))
"""
_PEOPLE = "people"
_TALL = 3  # fields of a row that are shown


@dataclass
class _Way:
    """The state of the demo: where it writes, whether everything is printed, and
    the runs so far, by what they are about."""

    out: Path
    full: bool
    runs: dict[str, Path] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.out / "demo.log"

    def bedside(self, *arguments: object, **environment: str) -> None:
        """Run a command as a user would type it; with its own environment variables, in a process of its own."""
        words = [str(argument) for argument in arguments]
        if self.full or environment:
            self.process(["-m", "scripts", *words], words[0], **environment)
            return
        from scripts.cli import execute

        with ExitStack() as stack:
            stack.enter_context(_doing(words))
            stack.enter_context(output.apart())
            log = stack.enter_context(self.log.open("a", encoding="utf-8", errors="backslashreplace"))
            log.write(f"\n$ bedside {' '.join(words)}\n")
            stack.enter_context(redirect_stdout(log))
            stack.enter_context(redirect_stderr(log))
            code = execute(words)
        if code:
            raise BedsideError(f"bedside {words[0]}", found=f"exit code {code}", expected="0", do=f"See {self.log}")

    def process(self, arguments: Sequence[str], what: str, **environment: str) -> str:
        """The output of a separate Python process; with `full` it is shown too."""
        line = "$ python " + " ".join(arguments)
        if self.full:
            output.print(f"\n{line.replace('python -m scripts', 'bedside')}", style="cyan")
        with nullcontext() if self.full else _doing([what]):
            done = subprocess.run(
                [sys.executable, *arguments],
                env={**os.environ, "COLUMNS": str(output.room or ""), **environment},
                cwd=_HOME,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="backslashreplace",
                check=False,
            )
        with self.log.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"\n{line}\n{done.stdout}")
        if self.full:
            output.print(done.stdout.rstrip())
        if done.returncode:
            found = f"exit code {done.returncode}"
            raise BedsideError(f"{what} {' '.join(arguments[-2:])}", found=found, expected="0", do=f"See {self.log}")
        return done.stdout


def command(
    out: Path = typer.Option(Path("runs/demo"), metavar="DIR", help="Folder for all output."),
    full: bool = typer.Option(False, "--full", help="Run every part and show all output (needs torch)."),
) -> None:
    """Build, verify, publish, load and evaluate the three corpora on this machine, from bundled samples.

    It needs the extra `demo`; the image classifier and retrieval run only if torch is installed, too. Exit code 0 if
    every step succeeds.

    Example: `bedside demo`, `bedside demo --full --out /tmp/demo`
    """
    MissingExtra.check("demo", purpose="bedside demo")
    learned = find_spec("torch") is not None
    if full and not learned:
        raise MissingExtra.named("torch", extra="models", purpose="bedside demo --full")
    way = _Way(resolved(out), full)
    make_folder(way.out)
    way.log.write_bytes(b"")
    parts = {"medlaybench-v": _captions, "3mdbench": _photos, "medconceal": _patients}
    with LoopbackHub() as hub:
        for number, name in enumerate(BUNDLED, start=1):
            output.print(f"{'' if number == 1 else chr(10)}{number}. {name}", style="bold")
            release = _release(way, name, hub)
            if name in parts:
                _say("evaluated", "; ".join(parts[name](way, release, learned)))
            _rows(release, recipe_of(name))
            _say("it lies in", str(release))
    _finish(way, learned)


def _say(what: str, text: str) -> None:
    before = f"   {what:<11}"
    lines = wrapped(text, None if output.room is None else output.room - len(before))
    output.print(before + f"\n{' ' * len(before)}".join(lines))


@contextmanager
def _doing(words: Sequence[str]) -> Iterator[None]:
    """Shows what is in progress, on a line that is erased afterwards; only on a terminal."""
    shown = output.is_terminal and not output.is_dumb_terminal and not output.quiet
    if shown:
        line = " ".join(["   …", *(Path(word).name for word in words[:3])])
        output.print(line[: output.width - 1], style="dim", end="\r")
    try:
        yield
    finally:
        if shown:
            output.control(Control((ControlType.ERASE_IN_LINE, 2)))


def _release(way: _Way, name: str, hub: LoopbackHub) -> Path:
    """A corpus built, verified, published and loaded; each step is reported when it is done."""
    release, repo = way.out / name, f"demo/{name}"
    recipe = recipe_of(name)
    output.print(f"   {BUNDLED[name][1]}")
    way.bedside("build", name, *recipe.sample, "--overwrite", "--out", release)
    manifest = Manifest.read(release)
    out = sum(sum(stage.excluded.values()) for stage in manifest.stages)
    _say("built", f"{manifest.rows:,} rows from the bundled sample; {out:,} left out, each with a reason")
    way.bedside("verify", release)
    _say(
        "verified",
        f"{len(manifest.files)} files checked by digest, counts, statistics, card and every row: no problems",
    )
    environment = hub.environment(resolved(way.out / "hub-cache"))
    way.process(["-m", "scripts", "publish", str(release), repo, "--tag", TAG], "bedside publish", **environment)
    # A separate process: a fresh cache, and nothing of this project imported.
    loaded = way.process(["-c", _READER.format(repo=repo, tag=TAG)], f"datasets {repo}", **environment)
    _say(
        "published", f"as {repo}, tag {TAG}, to a Hub on this machine; plain `datasets` loads {loaded.splitlines()[-1]}"
    )
    return release


def _captions(way: _Way, release: Path, learned: bool) -> Iterator[str]:
    run = way.runs["language"] = way.out / "runs" / "language"
    way.bedside("run", "language", release, "--split", "test", "-o", run)
    _scored(way, "pairs", "ratings", *_people(way, release, "pairs"))
    yield "readability and relevance of the lay captions; ratings by scripted people"
    if learned:
        run = way.runs["retrieval"] = way.out / "runs" / "retrieval"
        cache = ("--cache", way.out / "embeddings")
        way.bedside("run", "retrieval", release, "--model", "random:tiny", *cache, "-o", run)
        yield "retrieval with a randomly initialised encoder"


def _photos(way: _Way, release: Path, learned: bool) -> Iterator[str]:
    classifier = way.out / "runs" / "classifier"
    if learned:
        way.runs["classifier"] = classifier
        # One thread: with so small a network, several would mostly wait for each other, for minutes on a busy machine.
        way.bedside("run", "classifier", release, *_CLASSIFIER, "-o", classifier, OMP_NUM_THREADS="1")
        yield "a small classifier, trained for about a minute"
    settings = [name for name in PAPER if way.full or name in _SETTINGS or (learned and SETTINGS[name].cues)]
    for number, setting in enumerate(settings, start=1):
        run = way.runs[setting] = way.out / "runs" / f"consultation-{number}"
        hints = ("--cues", classifier / "cues.parquet") if SETTINGS[setting].cues else ()
        people = ("--doctor", "scripted/keyword-cues" if hints else "scripted/keyword", *_OTHERS)
        way.bedside("run", "consultation", release, *people, "--setting", setting, *hints, "-o", run)
    basic, full = (way.runs[setting] for setting in _SETTINGS)
    _scored(way, "diagnosis", "select", "physicians", *_people(way, release, "diagnosis"), "--run", basic)
    _scored(way, "relevance", "ratings", *_people(way, release, "relevance"))
    played = ("--run", full, "--data", release, "--assessor", "scripted/assessor", "--bare")
    _scored(way, "rubric", "select", "assessor", *_people(way, full, "rubric"), *played)
    yield f"scripted consultations in {len(settings)} settings, three tasks of scripted people"


def _patients(way: _Way, release: Path, learned: bool) -> Iterator[str]:
    for task, clinician in _CLINICIANS:
        run = way.runs[f"{task}, {clinician}"] = way.out / "runs" / f"{task}-{clinician}"
        others = ("--patient", "template", "--evaluator", "rules", "--judge", "rules")
        way.bedside("run", task, release, "--clinician", f"scripted/{clinician}", *others, "-o", run)
    for task, _ in _CLINICIANS[::2]:
        (told,) = _people(way, release, task)
        _scored(way, task, "run", task, release, "--transcripts", told, "--judge", "rules")
    yield "both tasks, two scripted clinicians and two scripted people each"


def _people(way: _Way, source: Path, task: str) -> list[Path]:
    """A rehearsal of a study with two scripted people, from its files to its export; each demo starts a new one.

    `source` is a release, or a run of consultations; returns the files of the task.
    """
    from scripts.study.serve import Serving, rehearsed

    study, out = way.out / "study" / task, way.out / "runs" / "people" / task
    for folder in (study, out):
        if is_folder(folder):
            shutil.rmtree(folder)
    way.bedside("study", "new", task, "-o", study)
    design = study / "study.yaml"
    lines = ["cases: 4" if line.startswith("# cases:") else line for line in read_text(design).splitlines()]
    write_whole(design, "\n".join([*lines, ""]).encode())
    with _doing(["two scripted people", task]):
        rehearsed(Serving(data=str(source), study=study, rehearsal=True), 2)
    way.bedside("study", "export", study, "-o", out)
    return sorted(path for path in out.glob(f"{task}*") if re.search(r"P\d{3}\.csv$|\.jsonl$", path.name))


def _scored(way: _Way, task: str, *command: object) -> None:
    """What people did in a task, scored as a run."""
    run = way.runs[f"{task}, {_PEOPLE}"] = way.out / "runs" / f"{task}-people"
    way.bedside(*command, "-o", run)


def _rows(release: Path, recipe: Recipe[Any]) -> None:
    """Three rows of a release, as pages may show them, without anything hidden."""
    for entry in entries(release, recipe.preview, corpus=recipe.corpus, rows=3):
        output.print(f"   {', '.join(entry.small[:2])}", style="dim")
        for text in _fields(entry):
            output.print(text)


def _fields(entry: Entry) -> Iterator[str]:
    for one in [one for one in entry.fields if one.text][:_TALL]:
        text = one.text if isinstance(one.text, str) else " · ".join(map(_plain, one.text))
        line = f"     {one.name.lower()}: {' '.join(_plain(text).split())}"
        yield line if len(line) <= (room := (output.room or 100) - 1) else f"{line[: room - 1].rsplit(' ', 1)[0]} …"


def _plain(text: str) -> str:
    """A page's version of a text, without its markup."""
    return Markup(re.sub("<sup>.*?</sup>", "", text)).striptags() if isinstance(text, Markup) else text


def _finish(way: _Way, learned: bool) -> None:
    """One table of the numbers of all runs, and one address."""
    page = way.out / "report.html"
    pairs = ("--release", way.out / "medlaybench-v") if "language" in way.runs else ()
    way.bedside("report", *way.runs.values(), *pairs, "-o", page)
    numbers: list[tuple[str, Result]] = []
    for name, run in way.runs.items():
        _, results = read_run(run)
        first = headline(results)
        shown = [result for result in first if result.column == first[0].column]
        shown = shown[-1:] if name.endswith(_PEOPLE) else shown
        # Without the brackets in the paper's table names, the table and its end fit on a screen.
        numbers += [(_of(name, one), replace(one, column=one.column.partition(" (")[0])) for one in shown]
    output.print(headline_table("\nHeadline numbers: all stand-ins, from scripted models and sample data", numbers))
    if not learned:
        missing = MissingExtra.named("torch", extra="models", purpose="retrieval and the classifier")
        how, _, line = missing.do.partition(": ")  # on a line of its own, so that it can be copied
        output.print(f"Not run without torch: retrieval, classifier and its cues. {how}:\n  {line}")
    output.tell(report=str(page), log=str(way.log))
    output.print(f"Output of every command: {way.log}")
    output.print(f"Open {page.as_uri()}", style="bold")


def _of(run: str, result: Result) -> str:
    """What a number is about: the run and, in a run with several rows, the row."""
    told = {"language": result.setting, "retrieval": f"{result.setting}", "classifier": result.row}.get(run, "")
    return f"{run}, {told}" if told else run
