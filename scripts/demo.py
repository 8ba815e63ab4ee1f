"""`bedside demo`: the whole way of a corpus on this machine, with bundled samples, no key and no network.

Builds each corpus from its bundled sample, verifies it, publishes one to a small Hub on the loopback address, loads it
back with nothing but `datasets`, runs the baselines with stand-ins, and writes a page to look at.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import typer

from baselines.threemdbench.consultation.settings import PAPER
from builders.recipe import recipe_of
from loaders.errors import BedsideError
from loaders.files.untrusted import resolved
from loaders.registry import BUNDLED
from scripts.loopback_hub.hub import LoopbackHub
from scripts.terminal.console import output

TAG = "v1.0.0"
_HOME = Path(__file__).parent.parent
# A network of 57,000 random weights and pictures of 64 pixels: what learns the drawn photos in a minute on two cores.
_CLASSIFIER = (
    "--model", "random:tiny", "--size", 64, "--test-size", 64, "--epochs", 40, "--patience", 40,
    "--learning-rate", 0.01, "--randaugment", 0, "--crop", 0.6, "--ema", 0.98, "--device", "cpu", "--restart",
)  # fmt: skip
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
print(", ".join(f"{{name}}: {{len(part)}} rows" for name, part in corpus.items()))
for column, value in next(iter(corpus.values()))[0].items():
    print(f"{{column:<20}}{{str(value)[:80]}}")
"""


def command(
    out: Path = typer.Option(Path("runs/demo"), metavar="DIR", help="Where everything is written."),
) -> None:
    """Build, verify, publish, load and evaluate the three corpora on this machine, from bundled samples."""
    out = resolved(out)
    _step(1, "Build each corpus from its bundled sample, and verify it: digests, counts, statistics, card, every row")
    for name in BUNDLED:
        _bedside("build", name, *recipe_of(name).sample, "--overwrite", "--out", out / name)
        _bedside("verify", out / name)
    releases = [out / name for name in BUNDLED]

    _step(2, "Publish one to a Hub on this machine, and load it with nothing but `datasets`")
    repo = f"demo/{releases[0].name}"
    with LoopbackHub() as hub:
        _run(["-m", "scripts", "publish", str(releases[0]), repo, "--tag", TAG], hub, out)
        # A process of its own: a fresh cache, and none of this project imported.
        _run(["-c", _READER.format(repo=repo, tag=TAG)], hub, out)

    captions, photos, patients = (out / name for name in ("medlaybench-v", "3mdbench", "medconceal"))
    _step(3, "Train a small image classifier on the drawn photos for about a minute")
    classifier = out / "runs" / "classifier"
    # One thread: for so small a network, several would mostly wait for each other, for minutes on a busy machine.
    _bedside("run", "classifier", photos, *_CLASSIFIER, "-o", classifier, OMP_NUM_THREADS="1")

    _step(4, "Hold scripted consultations over the photos, in the six settings of the paper")
    consultations = [out / "runs" / f"consultation-{number}" for number in range(1, len(PAPER) + 1)]
    people = ("--patient", "scripted/patient", "--assessor", "scripted/assessor")
    for setting, run in zip(PAPER, consultations, strict=True):
        hints = ("--cues", classifier / "cues.parquet") if setting.endswith("+cues") else ()
        doctor = "scripted/keyword-cues" if hints else "scripted/keyword"
        _bedside("run", "consultation", photos, "--doctor", doctor, *people, "--setting", setting, *hints, "-o", run)

    _step(5, "Run the two tasks on the made-up patients")
    tasks = []
    for task, clinician in _CLINICIANS:
        tasks.append(out / "runs" / f"{task}-{clinician}")
        others = ("--patient", "template", "--evaluator", "rules", "--judge", "rules")
        _bedside("run", task, patients, "--clinician", f"scripted/{clinician}", *others, "-o", tasks[-1])

    _step(6, "Run language, and retrieval with an encoder of random weights; put everything on one page")
    language, retrieval = out / "runs" / "language", out / "runs" / "retrieval"
    page = out / "report.html"
    _bedside("run", "language", captions, "--split", "test", "-o", language)
    cache = ("--cache", out / "embeddings")
    _bedside("run", "retrieval", captions, "--model", "random:tiny", *cache, "-o", retrieval)
    runs = (language, retrieval, classifier, *consultations, *tasks)
    _bedside("report", *runs, "--release", captions, "-o", page)
    preview = out / "preview.html"
    _bedside("preview", captions, "-o", preview)

    _step(7, "Done")
    where = {"releases": ", ".join(map(str, releases)), "preview of a release": preview, "report": page}
    for what, path in where.items():
        output.print(f"  {what}: {path}", highlight=False, soft_wrap=True)


def _bedside(*arguments: object, **environment: str) -> None:
    """A command, as a user would type it."""
    words = [str(argument) for argument in arguments]
    output.print(f"\n$ bedside {' '.join(words)}", style="cyan", highlight=False, soft_wrap=True)
    finished = subprocess.run(
        [sys.executable, "-m", "scripts", *words],
        check=False,
        cwd=_HOME,
        env={**os.environ, **environment},
    )
    if finished.returncode:
        raise BedsideError(f"bedside {words[0]}", found=f"exit code {finished.returncode}", expected="0")


def _step(number: int, what: str) -> None:
    output.print(f"\n{number}. {what}", style="bold", highlight=False)


def _run(arguments: list[str], hub: LoopbackHub, out: Path) -> None:
    """Run Python against the loopback Hub, as somebody else would who has only its address and a token."""
    cache = resolved(out / "hub-cache")
    environment = {**os.environ, **hub.environment(cache), "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    finished = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=_HOME,
    )
    if finished.returncode:
        raise BedsideError(
            " ".join(arguments[:4]), found=finished.stderr.strip() or "no output", expected="exit code 0"
        )
    for line in (finished.stderr + finished.stdout).splitlines():
        output.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
