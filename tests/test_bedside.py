"""`import bedside`: light, and sure that its packages are its own."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import bedside
import loaders
from loaders.corpus import load

HERE = Path(__file__).resolve().parents[1]
COMMAND = ["-m", "scripts", "--version"]


def _python(*arguments: str, folder: Path, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*path, HERE)))}
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def _package(folder: Path, name: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported')\n")
    return folder / name


def test_it_offers_what_a_notebook_needs() -> None:
    assert bedside.load is load and bedside.__version__ == loaders.__version__
    assert {"medlaybench-v", "3mdbench", "medconceal"} <= set(bedside.corpora())
    assert {"load", "corpora", "__version__"} <= set(dir(bedside))
    with pytest.raises(AttributeError, match="nothing"):
        _ = bedside.nothing


def test_a_notebook_shows_an_error_as_a_terminal_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    interactive.InteractiveShell().run_cell("import bedside; bedside.load('medlaybench', source='x')")
    said = capsys.readouterr().out
    assert said.startswith("Error corpus\n  found    no corpus named 'medlaybench'\n  expected one of"), said
    assert "Traceback" not in said


def test_importing_it_imports_nothing_of_the_project(tmp_path: Path) -> None:
    told = _python("-c", "import bedside, sys; print(*sys.modules)", folder=tmp_path)
    assert told.returncode == 0
    imported = set(told.stdout.split())
    assert "bedside" in imported
    assert not imported & {"loaders", "builders", "baselines", "scripts", "datasets", "numpy", "typer"}


@pytest.mark.parametrize("name", ["loaders", "builders", "baselines", "dataset_cards"])
def test_a_package_in_the_folder_that_one_is_in_is_named(name: str, tmp_path: Path) -> None:
    other = _package(tmp_path, name)
    said = _python(*COMMAND, folder=tmp_path)
    assert said.returncode == 2 and not said.stdout
    assert said.stderr.splitlines() == [
        f"Error {other}",
        f"  found    another {name} comes before Bedside's own, in the folder that you are in",
        f"  expected {HERE / name}",
        "  do       Start Bedside from another folder, or rename it",
    ]


@pytest.mark.parametrize("name", ["loaders", "scripts"])
def test_a_package_by_pythonpath_is_named(name: str, tmp_path: Path) -> None:
    other = _package(tmp_path / "mine", name)
    said = _python("-c", "from bedside import main; main()", folder=tmp_path, path=(other.parent,))
    assert said.returncode == 2 and "Traceback" not in said.stderr
    assert f"Error {other}\n" in said.stderr and f"Take {other.parent} out of PYTHONPATH" in said.stderr


def test_a_module_and_an_installed_package_are_named(tmp_path: Path) -> None:
    module = tmp_path / "mine" / "builders.py"
    module.parent.mkdir()
    module.write_text("")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import bedside; bedside.load"
    said = _python("-c", code, str(module.parent), folder=tmp_path)
    assert said.returncode == 1 and f"Shadowed: {module}: another builders" in said.stderr
    site = _package(tmp_path / "site-packages", "scripts")
    said = _python("-c", code, str(site.parent), folder=tmp_path)
    assert f"{site}: another scripts" in said.stderr and "Uninstall the package that brought it" in said.stderr


def test_what_is_imported_already_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = type(sys)("baselines")
    other.__file__ = str(tmp_path / "baselines.py")
    monkeypatch.setitem(sys.modules, "baselines", other)
    with pytest.raises(ImportError, match=r"baselines\.py: another baselines .* import bedside first"):
        bedside.check()


def test_an_install_that_links_to_each_file_is_no_other_package(tmp_path: Path) -> None:
    """UV_LINK_MODE=symlink, and setuptools' editable_mode=strict: folders of their own, with a link to each file."""
    (tmp_path / "bedside.py").symlink_to(HERE / "bedside.py")
    for name in bedside._PACKAGES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").symlink_to(HERE / name / "__init__.py")
    said = _python(
        "-c", "import bedside; bedside.check(); print(bedside.__file__)", folder=HERE / "docs", path=(tmp_path,)
    )
    assert (said.stdout, said.stderr) == (f"{tmp_path}/bedside.py\n", "")


@pytest.mark.parametrize("name, data", [("medlaybench_v", "IMAGES"), ("threemdbench", "PHOTOS")])
def test_there_the_pictures_of_a_sample_are_not_behind_links(name: str, data: str, tmp_path: Path) -> None:
    """A build takes no picture from outside the folder of its table."""
    source = HERE / "builders" / "samples" / name / "__init__.py"
    (tmp_path / "__init__.py").symlink_to(source)
    found = runpy.run_path(str(tmp_path / "__init__.py"))[data]
    assert found.parent == source.parent and found.exists()


def test_windows_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was told that there is no module named fcntl."""
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(ImportError, match="Windows, where Bedside does not run .*WSL 2"):
        bedside.check()


def test_one_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bedside, "_PACKAGES", ("no_such_package",))
    with pytest.raises(ImportError, match="no_such_package: is missing .*pip install"):
        bedside.check()


def test_folders_that_are_no_packages_disturb_nothing(tmp_path: Path) -> None:
    for name in ("loaders", "scripts", "baselines"):
        (tmp_path / name).mkdir()
    assert _python(*COMMAND, folder=tmp_path).stdout.startswith("bedside ")
