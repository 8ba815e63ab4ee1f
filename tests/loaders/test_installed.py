"""The command that adds an extra, for every way in which a copy may have been installed."""

from __future__ import annotations

import configparser
import re
import sys
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from loaders import installed
from loaders.errors import MissingExtra

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("origin", "tool", "expected"),
    [
        (None, "pip", "pip install 'bedside[models]'"),
        (None, "uv", "uv pip install 'bedside[models]'"),
        (
            {"url": "file:///my%20own/bedside", "dir_info": {"editable": True}},
            "pip",
            "pip install -e '/my own/bedside[models]'",
        ),
        ({"url": "file:///a/bedside", "dir_info": {}}, "uv", "uv pip install '/a/bedside[models]'"),
        (
            {"url": "file:///a/bedside-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip",
            "pip install '/a/bedside-0.1.0-py3-none-any.whl[models]'",
        ),
        (
            {"url": "https://host/bedside-0.1.0.tar.gz", "archive_info": {}},
            "pip",
            "pip install 'bedside[models] @ https://host/bedside-0.1.0.tar.gz'",
        ),
        (
            {"url": "https://host/b.git", "vcs_info": {"vcs": "git", "commit_id": "ab12"}},
            "uv",
            "uv pip install 'bedside[models] @ git+https://host/b.git@ab12'",
        ),
    ],
)
def test_each_kind_of_install_has_its_command(origin: dict[str, Any] | None, tool: str, expected: str) -> None:
    assert installed.command("models", origin, by_uv=tool == "uv") == expected


@pytest.mark.parametrize(
    ("found", "tool", "expected"),
    [
        ("/usr/bin/python", "pip", "'/an env/bin/python' -m pip install"),
        ("/usr/bin/python", "uv", "uv pip install --python '/an env'"),
        (None, "uv", "uv pip install --python '/an env'"),
        ("/an env/bin/python", "pip", "pip install"),
        ("/an env/bin/python", "uv", "uv pip install"),
    ],
)
def test_an_environment_that_is_not_active_is_named(
    found: str | None, tool: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else pip would install into the one that is, and uv would find none."""
    monkeypatch.setattr(sys, "prefix", "/an env")
    monkeypatch.setattr(sys, "executable", "/an env/bin/python")
    monkeypatch.setattr("shutil.which", lambda name: found)
    monkeypatch.setattr(installed, "_is_of_uv", lambda distribution: tool == "uv")
    monkeypatch.setattr(installed, "_origin", lambda distribution: None)
    assert installed.advice("models") == f"{expected} 'bedside[models]'"


def test_a_checkout_is_installed_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "_is_active", lambda: True)
    assert re.fullmatch(rf"(uv )?pip install -e '?{re.escape(str(ROOT))}\[models\]'?", installed.advice("models"))


def test_the_modules_are_those_that_the_extras_bring() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    known = packages_distributions()
    extras = config["options.extras_require"]
    for extra, modules in installed.MODULES.items():
        several = re.fullmatch(r"\s*bedside\[(.+)\]", extras[extra])  # an extra of extras
        parts = several[1].split(",") if several else [extra]
        lines = [line for part in parts for line in extras[part].split("\n") if line.strip()]
        names = [re.split(r"[\[<>=;!]", line)[0] for line in lines if ";" not in line]
        wanted = {name.strip().lower().replace("_", "-") for name in names}
        brought = {name.lower().replace("_", "-") for module in modules for name in known.get(module, [])}
        if all(module in known for module in modules):
            assert wanted <= brought, extra


def test_an_extra_is_looked_for_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == "cv2" else object())
    assert installed.missing("curation") == "cv2" and installed.missing("language") is None
    with pytest.raises(MissingExtra, match=r"cv2: is not installed \(expected for a test\).*\[curation\]"):
        MissingExtra.check("curation", purpose="a test")
    MissingExtra.check("language", purpose="a test")


def test_a_module_that_is_missing_or_broken_is_named_with_its_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_installed.py").write_text("from json import no_such_name")
    monkeypatch.syspath_prepend(str(tmp_path))
    for module, told in (
        ("nowhere.within", r"^nowhere: is not installed \(expected for a test\).*\[study\]"),
        ("half_installed", r"^json: cannot be imported \(cannot import name 'no_such_name'.*\[study\]"),
    ):
        with pytest.raises(MissingExtra, match=told), MissingExtra.needed("study", purpose="a test"):
            import_module(module)
    with pytest.raises(KeyError), MissingExtra.needed("study", purpose="a test"):
        raise KeyError
