"""What is at a path, and what the system will not say."""

from __future__ import annotations

import ast
import os
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import InputError
from loaders.files.opening import digest_of, read_file
from loaders.files.paths import entries, files_below, is_file, is_folder, is_inside, is_there, resolved
from tests.parts.places import ROOT
from tests.parts.privileges import unprivileged


def test_what_is_inside_a_folder(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.touch()
    (inside / "link").symlink_to(outside)
    (inside / "own").touch()
    (inside / "again").symlink_to(inside / "own")
    (inside / "round").symlink_to(inside / "round")
    names = ("link", "own", "again", "round", "../out", "nul\0")
    assert [is_inside(inside / name, inside) for name in names] == [False, True, True, False, False, False]


def test_an_error_can_be_printed_whatever_it_names() -> None:
    error = InputError(Path("a\udcff\u2028"), found="b\x1b[31m\ud800", do="c\n")
    assert str(error).encode().decode() == "a\\udcff\\u2028: b\\x1b[31m\\ud800. c\n"


@pytest.mark.parametrize("ask", [is_there, is_file, is_folder, read_file, digest_of])
@pytest.mark.parametrize("name", ["x" * 300, "a/" * 3_000, "shut/x"])
def test_what_the_system_will_not_say_is_an_error_of_ours(ask: Any, name: str, tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    with unprivileged(), pytest.raises(InputError, match="cannot be read"):
        ask(tmp_path / name)


def test_a_link_in_a_circle_has_no_place(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    (tmp_path / "link").symlink_to("file")
    for name in ("circle", "circle/below"):
        with pytest.raises(InputError, match="a circular link"):
            resolved(tmp_path / name)
        assert not is_inside(tmp_path / name, tmp_path)
    assert resolved(tmp_path / "link") == tmp_path / "file"


def test_what_exists_is_recognised_by_its_kind(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "circle").symlink_to("circle")
    os.mkfifo(tmp_path / "pipe")
    told = {
        name: tuple(ask(tmp_path / name) for ask in (is_there, is_file, is_folder))
        for name in ("file", "", "pipe", "dangling", "circle", "file/below", "nowhere", "nul\0")
    }
    assert told.pop("file") == (True, True, False)
    assert told.pop("") == (True, False, True)
    assert told.pop("pipe") == (True, False, False)
    assert set(told.values()) == {(False, False, False)}


def test_an_unreadable_folder_is_not_treated_as_empty() -> None:
    with tempfile.TemporaryDirectory() as name:  # pytest's own may be entered by its owner only
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "shut").mkdir()
        (folder / "shut" / "photo.jpg").touch()
        (folder / "open.jpg").touch()
        assert [path.name for path in files_below(folder)] == ["open.jpg", "photo.jpg"]
        (folder / "shut").chmod(0)
        with unprivileged():
            for ask in (entries, files_below):
                with pytest.raises(InputError, match="shut.*cannot be read"):
                    ask(folder / "shut")
            with pytest.raises(InputError, match="shut.*cannot be read"):
                files_below(folder)
        (folder / "shut").chmod(0o755)
        with pytest.raises(InputError, match="cannot be read"):
            entries(folder / "open.jpg")


def test_no_other_module_checks_that_a_path_exists() -> None:
    """`Path.exists` and its like raise what no reader expects; the exceptions look at the project's own files."""
    own = {"loaders/files/disk.py", "loaders/files/paths.py", "loaders/installed.py", "loaders/reached.py"}
    found = []
    for package in ("loaders", "builders", "baselines", "scripts"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name, text = path.relative_to(ROOT).as_posix(), path.read_bytes()
            if name in {*own, "scripts/conformance.py"} or name.startswith(("scripts/bench/", "scripts/reproduce/")):
                continue
            # Most modules say none of these words, and need not be parsed.
            for node in ast.walk(ast.parse(text)) if re.search(rb"\.(exists|is_dir|is_file|iterdir)\b", text) else ():
                if isinstance(node, ast.Attribute) and node.attr in ("exists", "is_dir", "is_file", "iterdir"):
                    found.append(f"{name}:{node.lineno}")
    assert found == [], "use is_there, is_folder, is_file and entries of loaders.files.paths"
