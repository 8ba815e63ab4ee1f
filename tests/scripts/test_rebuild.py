"""`bedside rebuild`: a release on the loopback Hub, built again by a checkout with locks of other versions."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from builders.pseudonyms import KEY_FILE, PUBLIC_KEY, fingerprint, require_key
from builders.release.environment import Environment
from loaders.manifest import Manifest
from loaders.plugins import Plugin
from scripts.cli import execute
from tests.builders.threemdbench.test_recipe import drawn
from tests.parts.faulty_hub import FaultyHub
from tests.parts.places import ROOT
from tests.parts.processes import python

BUILD = ("--captions", "sample", "--limit", "5")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("published") / "release"
    assert execute(["build", "medlaybench-v", *BUILD, "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This code, with the lowest versions as its lock."""
    folder = tmp_path_factory.mktemp("code") / "checkout"
    shutil.copytree(ROOT / "scripts", folder / "scripts", ignore=shutil.ignore_patterns("locks", "__pycache__"))
    (folder / "scripts" / "locks").mkdir()
    for name in ("setup.cfg", "bedside.py", "loaders", "builders", "baselines", "dataset_cards"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "scripts" / "locks" / "lowest.txt", folder / "scripts" / "locks" / "base.txt")
    return folder


def can_install(folder: Path) -> bool:
    """Whether uv is here, and finds a package."""
    if shutil.which("uv") is None:
        return False
    words = ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), "six"]
    return subprocess.run(words, capture_output=True, timeout=300, check=False).returncode == 0


def test_a_release_of_other_versions_has_the_same_content(release: Path, checkout: Path, tmp_path: Path) -> None:
    if not can_install(tmp_path / "six"):
        pytest.skip("no uv here, or PyPI does not answer: an environment of other versions cannot be made")
    with FaultyHub() as hub:
        here = hub.environment(tmp_path / "hub")
        published = python("-m", "scripts", "publish", release, "org/captions", "--tag", "v1.0.0", **here)
        assert published.returncode == 0, published.stderr
        where = ("org/captions@v1.0.0", "--code", checkout, "--out", tmp_path / "again")
        done = python("-m", "scripts", "rebuild", *where, *BUILD, **here)
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout
    digest = Manifest.read(release).content_digest[:16]
    assert f"the same content: digest {digest}…, rebuilt {digest}…" in said
    assert "files: 0 the same bytes, 3 not" in said and "NOT EXPLAINED" not in said
    assert said.count("the same rows, written by parquet-cpp-arrow version ") == 2
    assert "versions: " in said and ", now 21.0.0" in said
    assert "The checkout has no commit" in said
    assert "Release: " in said and "Next:" not in said and "bedside publish" not in said
    assert Manifest.read(tmp_path / "again" / "release").versions["pyarrow"] == "21.0.0"


@pytest.mark.parametrize("how", [[], ["--json"], ["--quiet"]], ids=str)
def test_what_the_build_says_goes_where_the_rest_goes(
    how: list[str],
    release: Path,
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """But for what it says to do next: that is about a release of one's own, and rebuilt/ is nothing to publish."""
    python = tmp_path / "python"
    python.write_text(f'''#!/bin/sh
echo "refine: 5 rows in $COLUMNS"; echo; echo "Release: here"; echo "Next:"; echo "  bedside publish"
while [ "$1" != --out ]; do shift; done
mkdir -p "${{2%/*}}"; cp -r "{release}" "$2"
''')
    python.chmod(0o755)
    monkeypatch.setenv("COLUMNS", "72")
    monkeypatch.setattr(Environment, "made", lambda given, *rest: Environment(given, python))
    words = ["rebuild", str(release), "--code", str(checkout), "--out", str(tmp_path / "again"), *how]
    assert execute([*words, *BUILD]) == 0
    out, err = capfd.readouterr()
    if how == ["--json"]:
        document, out = json.loads(out), ""
        assert document["proved"] and document["findings"][0].startswith("the same content: digest ")
    assert (out == "") == bool(how)
    for part in ("refine: 5 rows in 72", "Release: here", "the same content"):
        assert (part in out + err) == (how != ["--quiet"])
    assert "Next:" not in out + err and "publish" not in out + err


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        (("--captions", "gone.csv"), "--captions gone.csv"),
        (("--captions=gone.csv",), "--captions gone.csv"),
        (("--captions", "sample", "--images", "pictures"), "--images pictures"),
        (("--captions", "sample", "--prompts=texts"), "--prompts texts"),
        (("--source", "sample", "--source", "scin:a=downloads/scin"), "--source downloads/scin"),
        (("--source", "threads={here},gone.zst"), "--source gone.zst"),
        (("--source=cases=gone.yaml",), "--source gone.yaml"),
        (("--captions", "sample", "--vocabulary", "gone.rrf"), "--vocabulary gone.rrf"),
        (("--source", "sample", "--labels", "sample=gone.csv"), "--labels gone.csv"),
        (("--captions", "sample", "--withdrawn", "gone.txt"), "--withdrawn gone.txt"),
    ],
)
def test_sources_are_looked_for_before_anything_is_installed(
    options: tuple[str, ...],
    missing: str,
    release: Path,
    checkout: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Environment, "made", lambda *given: pytest.fail("an environment is made"))
    words = [word.format(here=release) for word in options]
    assert execute(["rebuild", str(release), *words, "--code", str(checkout), "--out", str(tmp_path / "again")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"Error {missing} " in said and "does not exist" in said


def test_nothing_is_installed_within_a_release(
    release: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Environment, "made", lambda *given: pytest.fail("an environment is made"))
    assert execute(["rebuild", str(release), "--code", str(checkout), "--out", str(release / "again")]) == 2
    assert "lies in the release" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("word", ["sample", "rocov2", "eltorio/ROCOv2-radiology"])
def test_a_source_that_is_no_path_is_left_to_the_build(
    word: str, release: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed(Exception):
        pass

    def made(*given: object) -> None:
        raise Installed

    monkeypatch.setattr(Environment, "made", made)
    words = ["--captions", word, "--code", str(checkout), "--out", str(tmp_path / "again")]
    with pytest.raises(Installed):
        execute(["rebuild", str(release), *words])


def test_the_key_of_pseudonyms_is_asked_for_before_anything_is_installed(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Installed(Exception):
        pass

    def made(*given: object) -> None:
        raise Installed

    monkeypatch.setattr(Environment, "made", made)
    table, release, other = drawn(tmp_path / "photos", "acne"), tmp_path / "release", tmp_path / "other.key"
    assert execute(["build", "3mdbench", "--source", f"table={table}", "--out", str(release)]) == 0
    other.write_bytes(bytes(32))
    words = ["rebuild", str(release), "--code", str(checkout), "--out", str(tmp_path / "again"), "--source"]
    for given, found in (((), "Error --key found none, and "), ((f"--key={other}",), "another key than that of ")):
        capsys.readouterr()
        assert execute([*words, f"table={table}", *given]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert found in said and "If it is lost, the release cannot be built again" in said
    with pytest.raises(Installed):
        execute([*words, f"table={table}", "--key", str(tmp_path / "release.work" / KEY_FILE)])
    require_key(None, tmp_path / "again", "what was invented", fingerprint(PUBLIC_KEY), lost="")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--code", "{empty}"), "holds no setup.cfg"),
        (("--code", "{code}"), "no --captions to build from"),
        (("--code", "{code}", "--extra", "evil", *BUILD), "no lock in"),
        (("--code", "{code}", "--work=elsewhere"), "an option of `bedside build`"),
        (("--code", "{code}", "--python", "no-python-here", *BUILD), "No such file"),
    ],
)
def test_a_mistake_is_one_error(
    arguments: tuple[str, ...],
    message: str,
    release: Path,
    checkout: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [word.format(empty=tmp_path, code=checkout) for word in arguments]
    assert execute(["rebuild", str(release), *words, "--out", str(tmp_path / "again")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "again" / "release").exists()


def test_a_corpus_of_another_package_is_refused_before_anything_is_installed(
    release: Path, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The environment has what the locks name: its `bedside build` would not know the corpus."""
    brought = Plugin("medlaybench-v", "loaders.medlaybench_v", "bedside-wards 0.1.0")
    monkeypatch.setattr("scripts.rebuild.find_corpus", lambda name: brought)
    assert execute(["rebuild", str(release), "--code", str(checkout), "--out", str(tmp_path / "again"), *BUILD]) == 2
    assert "comes from bedside-wards 0.1.0" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "again").exists()
