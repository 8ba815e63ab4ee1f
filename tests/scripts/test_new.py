"""What `bedside new` writes is green as it is, and works when it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml

from baselines.results.run import read_run
from scripts.cli import execute
from tests.parts.faulty_hub import FaultyHub

HERE = Path(__file__).resolve().parents[2]


def _python(*arguments: str, folder: Path, path: list[Path], **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _made(kind: str, name: str, folder: Path) -> Path:
    """A new package whose files are in order and whose own test is green, installed; its site-packages."""
    package, site = folder / "package", folder / "site-packages"
    assert execute(["new", kind, name, "--out", str(package)]) == 0
    _python("-m", "ruff", "check", "--isolated", "--line-length=120", ".", folder=package, path=[HERE])
    _python("-m", "ruff", "format", "--isolated", "--line-length=120", "--check", ".", folder=package, path=[HERE])
    told = _python("-m", "pytest", "-q", "--basetemp", str(folder / "tests"), folder=package, path=[HERE])
    assert "2 passed" in told
    built = f"from setuptools.build_meta import build_wheel\nbuild_wheel({str(folder)!r})"
    _python("-c", built, folder=package, path=[])
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(site)  # which is what `pip install` does
    assert (site / f"bedside_{name.replace('-', '_')}-0.1.0.dist-info" / "entry_points.txt").is_file()
    return site


def test_a_new_baseline_is_green_and_runs_when_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = _made("baseline", "reading-age", tmp_path)
    release = tmp_path / "tests" / "sample0" / "release"  # pytest keeps what the skeleton's own test has built
    monkeypatch.syspath_prepend(str(site))
    assert execute(["run", "--help"]) == 0 and "Words of a caption in both registers." in capsys.readouterr().out
    assert execute(["run", "reading-age", str(release), "-o", str(tmp_path / "r")]) == 0
    record, results = read_run(tmp_path / "r")
    assert record.baseline == "reading-age" and [result.setting for result in results] == ["Expert", "Lay"]


@pytest.mark.parametrize("name", ["no", "on", "null", "wards"])
def test_a_card_calls_its_corpus_by_its_name(name: str, tmp_path: Path) -> None:
    """Also one that YAML would take for a value."""
    assert execute(["new", "corpus", name, "--out", str(tmp_path)]) == 0
    head = (tmp_path / f"bedside_{name}" / "card.md").read_text().split("---\n")[1]
    assert yaml.safe_load(head)["pretty_name"] == name


# Everything that is done with a corpus, by its name alone.
LIFE = """
import sys
from scripts.cli import execute
sys.stderr = sys.stdout
out, page = sys.argv[1:]
for command in (
    ["build", "wards", "--rows", "sample", "--workers", "1", "--out", out],
    ["verify", out],
    ["preview", out, "-o", page],
    ["info"],
    ["info", "wards"],
    ["info", out],
    ["publish", out, "org/wards", "--tag", "v1.0.0"],
):
    assert execute(command) == 0, command
assert execute(["new", "corpus", "wards"]) == 2
with open(page + ".csv", "w") as table:  # one row that can be read, one without an id, one that is cut short
    table.write("row_id,split,text\\nsix,test,A row.\\n,test,Another.\\nseven,test\\n")
assert execute(["build", "wards", "--rows", page + ".csv", "--max-bad", "70", "--out", out + "2"]) == 0
import datasets
from loaders.corpus import load
assert load("wards", source="org/wards", revision="v1.0.0")["test"].to_list() == [
    {"row_id": "two", "split": "test", "text": "Another row."}
]
assert load("wards", "train", source=out)["text"] == ["A first row."]
assert datasets.load_dataset("org/wards", revision="v1.0.0", split="train")["text"] == ["A first row."]
"""


def _lives(folder: Path, path: list[Path], tmp_path: Path, before: str = "") -> None:
    with FaultyHub() as hub:
        out, page = tmp_path / "release", tmp_path / "page.html"
        environment = hub.environment(tmp_path / "cache")
        told = _python("-c", before + LIFE, str(out), str(page), folder=folder, path=path, **environment)
    assert "row_id" in told and "no text 1" in told and "a corpus named wards already exists" in told
    assert "A first row." in page.read_text(encoding="utf-8")
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "| words | train | test |\n|---|---:|---:|\n| text | 3 | 2 |" in card


@pytest.mark.long
def test_a_new_corpus_is_green_and_lives_when_it_is_installed(tmp_path: Path) -> None:
    site = _made("corpus", "wards", tmp_path)
    _lives(HERE, [site], tmp_path)
    # What its steps run is what their stored results depend on.
    command = ["-m", "tests.parts.watched_build", "build", "wards", "--rows", "sample", "--out", str(tmp_path / "w")]
    told = _python(*command, folder=HERE, path=[site, HERE], WATCHED=str(site))
    watched = json.loads(told.splitlines()[-1])
    assert watched["stages"][0] == "source" and len(watched["stages"]) > 1 and watched["missing"] == []


def test_a_new_corpus_in_a_checkout_is_four_files_and_a_line(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for room in ("loaders", "builders", "dataset_cards", "scripts", "baselines"):  # what is new lies beside links
        (checkout / room).mkdir(parents=True)
        for part in (HERE / room).iterdir():
            if part.name != "__pycache__":
                (checkout / room / part.name).symlink_to(part)
    for file in ("bedside.py", "pyproject.toml", "loaders/registry.py"):
        (checkout / file).unlink(missing_ok=True)
        shutil.copy(HERE / file, checkout / file)
    before = _files(checkout)
    told = _python("-m", "scripts", "new", "corpus", "wards", folder=checkout, path=[checkout])
    line = '"wards": ("loaders.wards", "Build wards: rows of one text each."),'
    assert f"add to BUNDLED in loaders/registry.py: {line}" in " ".join(told.split())
    made = {"builders/wards/recipe.py", "dataset_cards/wards.md", "loaders/wards.py", "tests/builders/test_wards.py"}
    assert _files(checkout) - before == made | {"builders/wards/__init__.py"}
    registry = checkout / "loaders" / "registry.py"
    text = registry.read_text(encoding="utf-8")
    registry.write_text(text.replace("BUNDLED = {\n", f"BUNDLED = {{\n    {line}\n"), encoding="utf-8")
    test = "import pytest\nassert pytest.main(['-p', 'no:cacheprovider', 'tests/builders/test_wards.py']) == 0\n"
    _lives(checkout, [checkout], tmp_path, before=test)


@pytest.mark.parametrize("name", ["class", "files", "sentences", "unanswered"])
def test_in_a_checkout_a_name_that_no_module_can_have_is_refused(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    packages = ("loaders/files/__init__.py", "builders/sentences/x.py")
    for file in ("loaders/registry.py", "builders/recipe.py", "builders/unanswered.py", *packages):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    monkeypatch.chdir(tmp_path)
    before = _files(tmp_path)
    assert execute(["new", "corpus", name]) == 2
    assert f"found    '{name}' cannot be the name of a module here" in capsys.readouterr().err
    assert _files(tmp_path) == before


def _files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"
    }


NAMES = ["Reading", "reading_age", "-x", "9lives", "a/b"]


@pytest.mark.parametrize(
    ("kind", "name"),
    [*(("baseline", name) for name in (*NAMES, "language")), *(("corpus", name) for name in (*NAMES, "medconceal"))],
)
def test_a_name_that_cannot_be_is_refused(
    kind: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["new", kind, "--out", str(tmp_path / "package"), "--", name]) == 2
    said = capsys.readouterr().err
    assert (
        "NAME" in said
        and ("a lower-case letter, then" in said) == (name in NAMES)
        and not (tmp_path / "package").exists()
    )


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("mine")
    assert execute(["new", "baseline", "parrot", "--out", str(tmp_path)]) == 2
    assert "already exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
