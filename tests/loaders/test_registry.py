"""Corpora of other packages: found by their entry point, named where they are broken, refused where they shadow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from builders.recipe import recipe_of
from loaders.corpus import corpus, load
from loaders.errors import InputError
from loaders.registry import BUNDLED, corpora
from scripts.cli import execute

WORKING = """
import datasets
from loaders.corpus import Corpus
FEATURES = datasets.Features({"id": datasets.Value("string"), "split": datasets.Value("string")})
CORPUS = Corpus(name="toy", features=FEATURES, key="id")
OTHER = Corpus(name="other", features=FEATURES, key="id", recipe="no_such_recipe")
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a package with corpora on the path, as pip would: code, metadata and entry points."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(package: str, code: str, *lines: str) -> None:
        monkeypatch.delitem(sys.modules, f"{package}_code", raising=False)
        metadata = tmp_path / f"{package}-0.3.dist-info"
        metadata.mkdir()
        (tmp_path / f"{package}_code.py").write_text(code)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.3\n")
        (metadata / "entry_points.txt").write_text("[bedside.corpora]\n" + "\n".join(lines) + "\n")

    return put


def test_a_package_brings_a_corpus(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("toys", WORKING, "toy = toys_code", "other = toys_code:OTHER")
    assert corpora() == [*BUNDLED, "other", "toy"]
    assert corpus("toy").key == "id"
    assert execute(["info", "toy"]) == 0 and "authors' release: none" in capsys.readouterr().out
    with pytest.raises(InputError, match="no location to load it from"):
        load("toy")
    with pytest.raises(InputError, match="no recipe for this corpus"):
        recipe_of("toy")
    with pytest.raises(InputError, match="other of toys 0.3: no_such_recipe cannot be used"):
        recipe_of("other")


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("", "it has no CORPUS"),
        ("CORPUS = 7", "a int instead of a Corpus"),
        (WORKING, "its corpus is called toy"),
    ],
)
def test_a_broken_package_is_named_and_disturbs_no_other(
    code: str, told: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", code, "broken = broken_code")
    with pytest.raises(InputError, match="broken of broken 0.3: broken_code cannot be used") as error:
        corpus("broken")
    assert told in str(error.value)
    assert execute(["build", "broken", "--out", "nowhere"]) == execute(["info", "broken"]) == 2
    capsys.readouterr()
    assert execute(["build", "--help"]) == 0
    assert execute(["info"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert told in listed and all(name in listed for name in BUNDLED)


def test_a_name_that_is_taken_keeps_its_owner(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("shadow", WORKING, "medconceal = shadow_code", "toy = shadow_code")
    assert corpora() == [*BUNDLED, "toy"] and corpus("medconceal").key != "id"
    assert execute(["build", "--help"]) == 0
    assert "'medconceal' of shadow 0.3 is left out" in capsys.readouterr().err


def test_no_such_corpus() -> None:
    with pytest.raises(InputError, match="no corpus named 'nothing' .*known once that package is installed"):
        corpus("nothing")
    with pytest.raises(InputError, match=r'load\("medlaybench-v", source=\'runs/v1\'\)'):
        load("runs/v1")
