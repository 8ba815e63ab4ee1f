from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from builders.release.checkout import Checkout
from loaders.errors import InputError
from loaders.manifest import Code


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", "-C", folder, *who, *words], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository of a module, a setup.cfg and two locks."""
    made = tmp_path / "bedside"
    (made / "builders").mkdir(parents=True)
    (made / "scripts" / "locks").mkdir(parents=True)
    for name in ("setup.cfg", "builders/one.py", "scripts/locks/base.txt", "scripts/locks/threads.txt", "README.md"):
        (made / name).write_text(f"{name}\n")
    git(made, "init", "-q")
    git(made, "add", ".")
    git(made, "commit", "-qm", "First")
    return made


def code(folder: Path) -> Code:
    found = Checkout.opened(folder).code()
    assert found is not None
    return found


def test_the_code_is_the_commit_and_the_locks(folder: Path) -> None:
    first = code(folder)
    assert first.commit == git(folder, "rev-parse", "HEAD") and not first.changed
    (folder / "README.md").write_text("decides nothing\n")
    assert code(folder) == first
    (folder / "builders" / "new.py").write_text("a module that git does not know\n")
    assert code(folder) == first.model_copy(update={"changed": True})
    (folder / "scripts" / "locks" / "base.txt").write_text("another version\n")
    assert code(folder).lock != first.lock


def test_a_folder_in_somebody_elses_repository_has_no_commit(folder: Path) -> None:
    inner = folder / "site-packages"
    (inner / "builders").mkdir(parents=True)
    (inner / "scripts" / "locks").mkdir(parents=True)
    for name in ("setup.cfg", "scripts/locks/base.txt"):
        (inner / name).touch()
    assert Checkout.opened(inner).code() is None


def test_a_checkout_of_another_user_has_its_commit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container, whose root sees a folder of the machine's user."""
    own = code(folder)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own tests have this
    with pytest.raises(subprocess.CalledProcessError):
        git(folder, "status")
    assert code(folder) == own


def test_without_git_nothing_is_claimed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert Checkout.opened(folder).code() is None


def test_what_is_no_checkout_is_an_error(folder: Path) -> None:
    with pytest.raises(InputError, match=r"holds no setup\.cfg"):
        Checkout.opened(folder / "builders")
    with pytest.raises(InputError, match="one of base, threads"):
        Checkout.opened(folder).lock("models")
    with pytest.raises(InputError, match="one of base, threads"):
        Checkout.opened(folder).lock("../locks/base")
    assert Checkout.opened(folder).lock("threads").name == "threads.txt"
