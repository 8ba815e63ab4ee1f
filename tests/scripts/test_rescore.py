"""`bedside rescore`: the same numbers to the last digit, without a model, of every baseline that stores something."""

from __future__ import annotations

import errno
import json
import os
import shutil
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baselines.medlaybench_v import language
from baselines.results.run import read_run, write_run
from builders import recipe as recipes
from builders.medlaybench_v import recipe
from loaders.models import chat, encoders
from loaders.opened import open_data
from scripts.cli import execute
from scripts.run import stored

pytest.importorskip("textstat")
WRITTEN_BEFORE = Path(__file__).parents[1] / "written_before"
Capture = pytest.CaptureFixture[str]


def run(*arguments: object) -> int:
    return execute(["run", *map(str, arguments)])


def rescored(folder: Path, *more: object, out: Path | None = None) -> Path:
    out = out or folder.with_name(f"{folder.name}-again")
    assert execute(["rescore", str(folder), "-o", str(out), *map(str, more)]) == 0
    return out


def numbers(folder: Path) -> list[Any]:
    return [result.as_row() for result in read_run(folder)[1]]


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens a model from here on fails."""

    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a model was opened")

    monkeypatch.setattr("scripts.run.play.open_model", opened)
    monkeypatch.setattr("scripts.terminal.embedding.open_encoder", opened)
    monkeypatch.setattr(chat, "open_model", opened)
    monkeypatch.setattr(encoders, "open_encoder", opened)


def test_consultations(played: Path, tmp_path: Path, no_model: None, capsys: Capture) -> None:
    folder = shutil.copytree(played, tmp_path / "run")
    again = rescored(folder)
    told = " ".join(capsys.readouterr().out.split())
    assert f"{len(numbers(folder))} of {len(numbers(folder))} numbers are identical" in told
    assert numbers(again) == numbers(folder)
    assert read_run(again)[0].run_id == read_run(folder)[0].run_id
    assert sorted(path.name for path in again.iterdir() if path.is_file()) == sorted(
        path.name for path in folder.iterdir() if path.is_file() and path.suffix != ".sqlite"
    )
    assert (again / "images").is_dir()
    assert numbers(rescored(again)) == numbers(folder)  # what it leaves is a run


def test_a_disk_that_is_full_is_that_of_the_copy(
    played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """The run itself can be read, and is not what has to be looked at."""

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfileobj", full)
    assert execute(["rescore", str(played), "-o", str(tmp_path / "again")]) == 2
    told = capsys.readouterr().err
    assert f"Error {tmp_path / 'again'}/" in told and "the disk is full" in told and "cannot be read" not in told


def test_a_run_of_an_earlier_version_gets_what_came_later(played: Path, tmp_path: Path) -> None:
    """It is judged by the papers' conditions, and gets the numbers that it did not have."""
    old = tmp_path / "old"
    shutil.copytree(played, old)
    record, results = read_run(old)
    write_run(old, record, results[:-3])
    content = json.loads((old / "run.json").read_text(encoding="utf-8"))
    del content["conformance"]
    (old / "run.json").write_text(json.dumps(content), encoding="utf-8")
    assert not read_run(old)[0].judged
    again = rescored(old)
    assert numbers(again) == numbers(played) and read_run(again)[0].judged


def test_no_command_writes_into_a_run_it_reads(photos: Path, played: Path, tmp_path: Path, capsys: Capture) -> None:
    folder = shutil.copytree(played, tmp_path / "run")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    there = folder.parent / "elsewhere" / ".." / "run"
    there.parent.parent.mkdir()
    select = ["select", "assessor", "sheet.csv", "--data", photos, "--assessor", "scripted/assessor", "--run", folder]
    for command in (
        ["rescore", folder],
        ["run", "recheck", photos, "--run", folder, "--assessor", "scripted/assessor"],
        ["run", "ablation", folder],
        ["contrast", folder, played],
        ["run", "classifier", photos, "--predict", "--weights", folder],
        select,
        ["select", "physicians", "sheet.csv", "--run", folder],
    ):
        assert execute([*map(str, command), "-o", str(there)]) == 2
        assert "the run itself" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_dialogues_of_another_run_are_not_replaced(played: Path, tmp_path: Path, capsys: Capture) -> None:
    """They may be all that is left of it: a pack has no answers to make them from again."""
    folder, other = (shutil.copytree(played, tmp_path / name) for name in ("run", "other"))
    (other / "dialogues.jsonl").write_text("{}\n", encoding="utf-8")
    packed = shutil.copytree(played, tmp_path / "packed")
    for place in (folder, packed):
        (place / "hidden.jsonl").write_text(f"{place}\n", encoding="utf-8")
    for there, name in ((other, "dialogues.jsonl"), (packed, "hidden.jsonl")):
        before = {path: path.read_bytes() for path in there.rglob("*") if path.is_file()}
        assert execute(["rescore", str(folder), "-o", str(there)]) == 2
        told = capsys.readouterr().err
        assert f"{there / name}" in told and "dialogues of another run" in told and "Name another folder" in told
        assert {path: path.read_bytes() for path in there.rglob("*") if path.is_file()} == before
    (folder / "hidden.jsonl").unlink()
    assert rescored(folder) == rescored(folder)  # the same again may lie there


def test_rows_and_embeddings_that_no_number_is_made_from_are_refused(
    played: Path, captions: Path, tmp_path: Path, capsys: Capture
) -> None:
    """Numbers that agree would otherwise seem to be those of the named rows."""
    assert run("concepts", captions, "-o", tmp_path / "run") == 0
    given = {played: ("--data", captions), tmp_path / "run": ("--data", captions, "--embeddings", "mine=vectors.npz")}
    for folder, options in given.items():
        capsys.readouterr()
        assert execute(["rescore", str(folder), "-o", str(tmp_path / "x"), *map(str, options)]) == 2
        told = " ".join(capsys.readouterr().err.split())
        assert f"Error {options[-2]}" in told and f"Leave {options[-2]} out" in told
        assert not (tmp_path / "x").exists()


def test_rechecks(photos: Path, played: Path, tmp_path: Path, no_model: None) -> None:
    out = tmp_path / "recheck"
    assert run("recheck", photos, "--run", played, "--assessor", "scripted/assessor", "--bare", "-o", out) == 0
    assert numbers(rescored(out)) == numbers(out)


@pytest.mark.parametrize("task", ["confirmation", "intervention"])
def test_reserved_patients(task: str, patients: Path, tmp_path: Path, no_model: None, capsys: Capture) -> None:
    agents = ("--clinician", "scripted/expert", "--patient", "template", "--evaluator", "rules", "--judge", "rules")
    assert run(task, patients, *agents, "--limit", 4, "--bare", "-o", tmp_path / "run") == 0
    again = rescored(tmp_path / "run")
    assert numbers(again) == numbers(tmp_path / "run")
    assert (again / "figure-2.json").read_bytes() == (tmp_path / "run" / "figure-2.json").read_bytes()
    hidden = again / "hidden.jsonl"
    assert hidden.read_bytes() == (tmp_path / "run" / "hidden.jsonl").read_bytes()
    assert hidden.stat().st_mode & 0o077 == 0 and not (again / "private").exists()
    capsys.readouterr()
    (tmp_path / "run" / "hidden.jsonl").unlink()  # as in a packed run: the clinician repeats what the patient hides
    packed = rescored(tmp_path / "run")
    told = " ".join(capsys.readouterr().out.split())
    assert "0 differ, 0 new, 0 removed, 2 not recomputed Readability is not recomputed: parts of the turns" in told
    lost = [one.column for one in read_run(packed)[1] if one.value is None and "hidden.jsonl" in one.note]
    assert lost == ["Readability", "Word/Turn"]


@pytest.fixture(scope="module")
def scored(captions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of language without WordNet; nobody changes it."""
    out = tmp_path_factory.mktemp("scored") / "language"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "find_wordnet", lambda folder: None)
        assert run("language", captions, "--resamples", 20, "-o", out) == 0
    return out


def test_captions_of_a_folder_need_it_named(
    scored: Path, captions: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "find_wordnet", lambda folder: None)
    capsys.readouterr()
    assert execute(["rescore", str(scored), "-o", str(tmp_path / "again")]) == 2
    assert "Name the file, folder or repository: --data" in " ".join(capsys.readouterr().err.split())
    assert numbers(rescored(scored, "--data", captions, out=tmp_path / "again")) == numbers(scored)
    assert execute(["rescore", str(scored), "-o", str(scored), "--data", str(captions)]) == 2
    other = tmp_path / "other"
    recipes.build(recipe.RECIPE, recipe.Options(captions="sample", limit=20), other, workspace=tmp_path / "work")
    capsys.readouterr()
    assert execute(["rescore", str(scored), "-o", str(tmp_path / "again"), "--data", str(other)]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "those of the run" in told and "Pass the rows that the run read (--data)" in told


def test_meteor_with_another_wordnet_is_not_recomputed(
    scored: Path, captions: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record keeps naming the run's WordNet, which would be wrong of a number made with this machine's."""

    class WordNet:
        name = "WordNet 9.9"

        def synsets(self, word: str) -> tuple[Any, ...]:
            return ()

    monkeypatch.setattr(language, "find_wordnet", lambda folder: WordNet())
    again = rescored(scored, "--data", captions, out=tmp_path / "again")
    told = " ".join(capsys.readouterr().out.split())
    assert "METEOR is not recomputed: the run had no WordNet, and this machine has WordNet 9.9" in told
    before, after = (read_run(folder)[1] for folder in (scored, again))
    for was, now in zip(before, after, strict=True):
        assert now.column != "METEOR" or (now.value, now.ci95) == (None, None)
        assert now.column == "METEOR" or now.as_row() == was.as_row()
    tables = json.loads((again / language.CAPTIONS).read_text())["tables"]
    assert "METEOR" not in tables["Table 2"] and "ROUGE-L" in tables["Table 2"]
    assert read_run(again)[0].options["wordnet"] is None


def test_concepts(captions: Path, tmp_path: Path) -> None:
    assert run("concepts", captions, "-o", tmp_path / "run") == 0
    totals = [one.value for one in read_run(tmp_path / "run")[1] if (one.table, one.row) == ("Table A1", "Total")]
    assert 148 in totals
    again = rescored(tmp_path / "run", "--data", captions)
    assert numbers(again) == numbers(tmp_path / "run")
    assert (again / "figure-a2.json").read_bytes() == (tmp_path / "run" / "figure-a2.json").read_bytes()


@pytest.fixture(scope="module")
def embedded(captions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of both baselines that embed, and their cache; nobody changes them."""
    pytest.importorskip("open_clip")
    folder = tmp_path_factory.mktemp("embedded")
    given = ("--model", "random:tiny", "--cache", folder / "cache", "--resamples", 30, "-o")
    assert run("retrieval", captions, *given, folder / "retrieval") == 0
    assert run("embedding-space", captions, "--no-projection", *given, folder / "space") == 0
    return folder


def test_embeddings_come_from_the_cache(
    embedded: Path, captions: Path, tmp_path: Path, capsys: Capture, request: pytest.FixtureRequest
) -> None:
    shutil.copytree(embedded, tmp_path, dirs_exist_ok=True)
    cache = tmp_path / "cache"
    request.getfixturevalue("no_model")
    for name in ("retrieval", "space"):
        again = rescored(tmp_path / name, "--data", captions, "--cache", cache)
        assert numbers(again) == numbers(tmp_path / name)
    assert (tmp_path / "space-again" / "figure-a3.json").read_bytes() == (
        tmp_path / "space" / "figure-a3.json"
    ).read_bytes()
    capsys.readouterr()
    nowhere = ("--data", captions, "--cache", tmp_path / "nowhere")
    assert execute(["rescore", str(tmp_path / "retrieval"), "-o", str(tmp_path / "x"), *map(str, nowhere)]) == 2
    assert "none of its embeddings" in " ".join(capsys.readouterr().err.split())
    for path in cache.rglob("texts-*.bin"):
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    given = ("--data", captions, "--cache", cache)
    assert execute(["rescore", str(tmp_path / "retrieval"), "-o", str(tmp_path / "x"), *map(str, given)]) == 2
    assert "some of its embeddings are missing" in " ".join(capsys.readouterr().err.split())


def test_embeddings_made_elsewhere_are_those_of_the_run(captions: Path, tmp_path: Path, capsys: Capture) -> None:
    """Changed ones were refused with the words for absent ones, and those of another name passed unread."""
    place, out = tmp_path / "mine.npy", tmp_path / "run"
    rows = len(open_data(str(captions), split="test").splits["test"])
    first = np.random.default_rng(0).normal(size=(3, rows, 8)).astype(np.float32)
    np.save(place, first)
    assert run("embedding-space", captions, "--no-projection", "--embeddings", f"m={place}", "-o", out) == 0
    assert numbers(rescored(out, "--data", captions, "--embeddings", f"m={place}")) == numbers(out)
    np.save(tmp_path / "changed.npy", -2 * first[:, ::-1])
    for given, told in (
        (("--embeddings", f"m={tmp_path / 'changed.npy'}"), "others than the run's"),
        (("--embeddings", f"m={place}", "--embeddings", f"n={place}"), "'n', which no encoder of the run is called"),
        ((), "embeddings made elsewhere, which no cache holds"),
    ):
        capsys.readouterr()
        more = ("--data", captions, *given, "-o", tmp_path / "x")
        assert execute(["rescore", str(out), *map(str, more)]) == 2
        assert told in " ".join(capsys.readouterr().err.split())


def test_captions_of_a_model(captions: Path, tmp_path: Path, request: pytest.FixtureRequest, capsys: Capture) -> None:
    out = tmp_path / "run"
    assert run("captioning", captions, "--model", "scripted/echo", "--pairs", 4, "--resamples", 20, "-o", out) == 0
    request.getfixturevalue("no_model")
    again = rescored(out, "--data", captions)
    assert numbers(again) == numbers(out) and read_run(again)[0].run_id == read_run(out)[0].run_id
    (out / "dialogues.jsonl").write_text("", encoding="utf-8")
    capsys.readouterr()
    assert execute(["rescore", str(out), "-o", str(tmp_path / "x"), "--data", str(captions)]) == 2
    assert "dialogues.jsonl found content that differs" in " ".join(capsys.readouterr().err.split())


def test_captions_of_a_model_that_an_earlier_version_asked(
    captions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """It asked without a game, and stored a row per caption."""
    out = shutil.copytree(WRITTEN_BEFORE / "captioning", tmp_path / "run")
    # Today's rules word the sample otherwise; what is scored here are the model's own words.
    then = read_run(out)[0].data.content_digest
    monkeypatch.setattr(stored, "open_data", lambda *at, **how: replace(open_data(*at, **how), content_digest=then))
    before, again = numbers(out), numbers(rescored(out, "--data", captions))
    told = [{one["setting"]: one["value"] for one in rows if one["column"] == "FKGL"} for rows in (before, again)]
    assert len(again) == len(before) == 14 and told[0] == told[1] and len(told[0]) == 2
    assert "0 removed" in capsys.readouterr().out
    assert execute(["report", str(out), "-o", str(tmp_path / "report.html")]) == 0
    assert "Table A5" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert execute(["pack", str(out), "-o", str(tmp_path / "packed.zip")]) == 0
    assert any(name.endswith("/captions.json") for name in zipfile.ZipFile(tmp_path / "packed.zip").namelist())


def test_what_stores_nothing_says_so(embedded: Path, tmp_path: Path, capsys: Capture) -> None:
    assert run("ablation", embedded / "retrieval", "-o", tmp_path / "ablation") == 0
    capsys.readouterr()
    assert execute(["rescore", str(tmp_path / "ablation"), "-o", str(tmp_path / "x")]) == 2
    assert "Rescore the runs it was made from" in " ".join(capsys.readouterr().err.split())
