"""What holds for the build of any corpus."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from builders import recipe
from builders.medlaybench_v.recipe import RECIPE, Options
from builders.pipeline.rows import BuildError
from builders.recipe import build, recipe_of
from builders.release.croissant import text_digest
from builders.release.diff import diff
from builders.release.shards import read_rows
from builders.release.verify import verify
from builders.steps import admit
from loaders.errors import InputError
from loaders.files.images import ImageError, clean_bytes
from loaders.manifest import Manifest
from scripts.build import command_for
from scripts.cli import execute
from tests.parts.places import ROOT


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Builds in one workspace with these versions of libraries; gives what is told."""

    def build_with(**versions: str) -> list[str]:
        monkeypatch.setattr(recipe, "_versions", lambda plan: versions)
        said: list[str] = []
        options = Options(captions="sample", limit=3)
        build(RECIPE, options, tmp_path / "out", workspace=tmp_path / "work", overwrite=True, tell=said.append)
        return said

    return build_with


def test_other_library_versions_are_reported(tmp_path: Path, built: Callable[..., list[str]]) -> None:
    assert built(pyarrow="21", pillow="10") == []
    assert built(pyarrow="21", pillow="10") == []
    kept, released = built(pyarrow="26", pillow="10")
    assert kept.startswith(f"{tmp_path / 'work'} may hold results from other library versions (pyarrow 21, now 26), ")
    assert released.startswith(f"The release at {tmp_path / 'out'} was made with other library versions (pyarrow 21, ")
    (kept,) = built(pyarrow="26", pillow="10")  # the release is of these versions now, what is kept may not be
    assert kept.startswith(f"{tmp_path / 'work'} ")


def test_a_package_that_only_one_build_needs_is_no_other_version(built: Callable[..., list[str]]) -> None:
    """Builds without a model and with one, or of two corpora, share a workspace: nothing there is to be deleted."""

    assert built(pyarrow="21") == []
    assert built(pyarrow="21", inspect_ai="1") == []
    assert built(pyarrow="21", inflect="7") == []
    kept, _ = built(pyarrow="21", inflect="8")
    assert "(inflect 7, now 8)" in kept
    kept, *_ = built(pyarrow="21", inspect_ai="2")  # the workspace remembers what a build in between stored
    assert "(inspect_ai 1, now 2)" in kept


def test_a_scripted_model_needs_no_package_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_base(package: str) -> str:
        if package == "inspect_ai":
            raise PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(recipe, "version", of_base)
    options = Options(captions="sample", limit=3, model="scripted/echo")
    made = build(RECIPE, options, tmp_path / "out", workspace=tmp_path / "work")
    assert "inspect_ai" not in made.versions and made.versions["pyarrow"] == version("pyarrow")


def test_a_release_of_other_library_versions_is_refused_before_the_work(
    tmp_path: Path, built: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    built(pyarrow="21")
    monkeypatch.setattr(recipe, "_versions", lambda plan: {"pyarrow": "26"})
    work = tmp_path / "other"
    with pytest.raises(InputError, match=r"another release \(library versions: pyarrow 21, now 26\)\. .*--overwrite"):
        build(RECIPE, Options(captions="sample", limit=3), tmp_path / "out", workspace=work)
    assert not work.exists()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rows": None}, "the plan's rows found a NoneType expected rows, such as a generator"),
        ({"schema": ["id"]}, "the plan's schema found a list expected pa.schema"),
        ({"identity": None}, "the plan's identity found a NoneType expected a text"),  # else old rows are taken for new
        ({"sources": []}, "the plan's sources found a list expected a function"),
        ({"card": {}}, "the plan's card found a dict expected a function"),
        ({"card": lambda manifest: None}, "the plan's card found a NoneType expected a dict"),
        ({"settings": {"at": Path("x")}}, "the plan's settings found no JSON"),
        ({"steps": [admit]}, "the plan's steps found admit expected admit("),
        (None, "plan found a NoneType expected a Plan"),
    ],
)
def test_a_mistake_in_a_recipe_is_one_error_for_its_author(
    change: dict[str, Any] | None, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def plan(build: Any) -> Any:
        return None if change is None else replace(RECIPE.plan(build), **change)

    command = command_for(replace(RECIPE, plan=plan))
    with pytest.raises(InputError) as error:
        command(captions="sample", limit=3, out=tmp_path / "out")
    said = " ".join([error.value.where, *error.value.lines()])
    assert f"recipe of medlaybench-v, {told}" in " ".join(said.split())
    assert "Repair the recipe" in said


def test_statistics_that_are_no_json_are_a_mistake_in_measure(tmp_path: Path) -> None:
    wrong = replace(RECIPE, measure=lambda rows: {"ids": {1}})
    with pytest.raises(BuildError, match="measure: found no JSON"):
        build(wrong, Options(captions="sample", limit=3), tmp_path / "out", workspace=tmp_path / "work")


def test_options_that_would_be_left_out_are_refused() -> None:
    class Undecorated(recipe.Options):
        rows: Annotated[str, typer.Option()]

    with pytest.raises(TypeError, match="Undecorated is no dataclass"):
        replace(RECIPE, options=Undecorated)


@pytest.mark.parametrize("out", ["", ".", "..", "/"])
@pytest.mark.parametrize("work", [None, "work"])
def test_a_place_that_cannot_be_replaced_is_refused_before_anything_is_done(
    out: str, work: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["build", "medlaybench-v", "--captions", "sample", "--out", out]
    assert execute([*words, "--work", work] if work else words) == 2
    assert "names no file or folder" in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("work", ["out", "out/work"])
def test_a_workspace_inside_the_release_is_refused_before_the_work(tmp_path: Path, work: str) -> None:
    with pytest.raises(InputError, match="is in the release folder"):
        build(RECIPE, Options(captions="sample", limit=3), tmp_path / "out", workspace=tmp_path / work)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (Options(captions="sample", limit=4), "other settings"),
        (Options(captions="captions.csv", limit=3), "other sources"),
        ({"corpus": "small"}, "corpus small"),
        ({"rules": 1}, "version 1 of the gates and scans"),
        (Options(captions="sample", limit=3), ""),
    ],
)
def test_a_place_that_holds_another_release_is_refused_before_the_work(
    options: Options | dict[str, Any], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("captions.csv").write_text("id,caption,licence\na,Renal cyst.,CC0\n", encoding="utf-8")
    out, chosen = tmp_path / "out", Options(captions="sample", limit=3)
    made = build(RECIPE, chosen, out, workspace=tmp_path / "first")
    if isinstance(options, dict):
        made.model_copy(update=options).write(out)
        options = chosen
    if not found:
        assert build(RECIPE, chosen, out, workspace=tmp_path / "second") == made
        return
    monkeypatch.setattr(recipe, "run", lambda *given, **named: pytest.fail("the work began"))
    with pytest.raises(InputError, match=rf"already holds another release \({found}\)\. .*--overwrite"):
        build(RECIPE, options, out, workspace=tmp_path / "second")


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    manifest = Manifest.read(folder)
    return {row[manifest.key]: row for row in read_rows(folder, manifest)}


@pytest.mark.parametrize(
    "corpus",
    ["medlaybench-v --captions sample --limit 9", "3mdbench --source sample --limit 20", "medconceal --synthetic 5"],
)
def test_a_row_that_is_withdrawn_goes_and_no_other_changes(
    corpus: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["build", *corpus.split(), "--work", "work"]
    assert execute([*words, "--out", "v1"]) == 0
    before = rows_of(Path("v1"))
    gone = sorted(before)[len(before) // 2]
    # A list joined of two that Windows wrote: each begins with a mark that nobody sees.
    Path("withdrawn.txt").write_text(f"\ufeff\n  nobody \n\ufeff{gone}\r\n", encoding="utf-8")
    capsys.readouterr()
    assert execute([*words, "--out", "v2", "--withdrawn", "withdrawn.txt"]) == 0
    assert "mistyped): nobody " in " ".join(capsys.readouterr().out.split())  # of any width
    after = rows_of(Path("v2"))
    assert before.pop(gone) and after == before
    assert Manifest.read(Path("v2")).stages[-1].excluded == {"withdrawn": 1}
    assert "| withdrawn | withdrawn | 1 |" in Path("v2/README.md").read_text(encoding="utf-8")
    assert execute(["verify", "v2"]) == 0


def test_a_withdrawn_key_that_is_excluded_already_is_told_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "captions.csv").write_text("id,caption,licence\na,Renal cyst.,CC0\nb,,CC0\nc,Gallstone.,CC0\n")
    (tmp_path / "withdrawn.txt").write_text("a\nb\nnobody\n")
    options = Options(captions=str(tmp_path / "captions.csv"), withdrawn=tmp_path / "withdrawn.txt")
    told: list[str] = []
    build(RECIPE, options, tmp_path / "out", workspace=tmp_path / "work", tell=told.append)
    assert told[-2:] == [
        "Withdrawn keys whose rows were already excluded: b (caption is empty)",
        "Withdrawn keys without a row (no longer in the source, or mistyped): nobody",
    ]


def test_a_withdrawn_key_is_found_however_its_accents_are_written(tmp_path: Path) -> None:
    """A Mac writes "é" in the names of files as two letters, and whoever types a list as one."""
    table = "id,caption,licence\nPe\u0301,Renal cyst.,CC0\nZo\u00eb,Gallstone.,CC0\nc,Gallstone.,CC0\n"
    (tmp_path / "captions.csv").write_text(table, encoding="utf-8")
    (tmp_path / "withdrawn.txt").write_text("P\u00e9\nZoe\u0308\n", encoding="utf-8")
    options = Options(captions=str(tmp_path / "captions.csv"), withdrawn=tmp_path / "withdrawn.txt")
    told: list[str] = []
    build(RECIPE, options, tmp_path / "out", workspace=tmp_path / "work", tell=told.append)
    assert list(rows_of(tmp_path / "out")) == ["c"] and not any("Withdrawn" in sentence for sentence in told)


def test_a_withdrawn_key_without_a_row_is_told_though_the_build_is_quiet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "captions.csv").write_text("id,caption,licence\na,Renal cyst.,CC0\n")
    (tmp_path / "withdrawn.txt").write_text("nobody\n")
    words = ["--captions", str(tmp_path / "captions.csv"), "--withdrawn", str(tmp_path / "withdrawn.txt")]
    assert execute(["build", "medlaybench-v", *words, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "mistyped): nobody " in " ".join(said.err.split()) + " "


def test_an_empty_list_of_withdrawn_rows(tmp_path: Path) -> None:
    (tmp_path / "withdrawn.txt").write_text("\n", encoding="utf-8")
    options = Options(captions="sample", withdrawn=tmp_path / "withdrawn.txt")
    with pytest.raises(InputError, match="no key"):
        build(RECIPE, options, tmp_path / "out", workspace=tmp_path / "work")


@pytest.mark.parametrize("option", ["--out", "--work"])
def test_nothing_is_built_within_a_release(
    captions: Path, tmp_path: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(captions, tmp_path / "v1")
    places = {"--out": tmp_path / "v2", option: tmp_path / "v1" / "data" / "new"}
    words = [str(word) for place in places.items() for word in place]
    assert execute(["build", "medlaybench-v", "--captions", "sample", *words]) == 2
    assert "lies in the release" in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v1"]
    assert Manifest.read(tmp_path / "v1").check_files(tmp_path / "v1") == []


def test_a_folder_of_something_else_is_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    monkeypatch.setattr(recipe, "run", lambda *given, **named: pytest.fail("the work began"))
    with pytest.raises(InputError, match="already exists and is not a release"):
        build(RECIPE, Options(captions="sample"), tmp_path, workspace=tmp_path / "work")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_what_info_says_of_the_samples_is_so(captions: Path, patients: Path) -> None:
    for release in (captions, patients):
        manifest = Manifest.read(release)
        assert manifest.rows == recipe_of(manifest.corpus).sample_rows


def test_what_a_maintainer_states_is_in_the_card_and_checked_by_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("captions.csv").write_text("id,caption,licence\na,Renal cyst.,CC0\n", encoding="utf-8")
    Path("said.yaml").write_text(
        "sensitive: Ages.\ncollection: >-\n  All {{ agreed }}\n  in writing.\n", encoding="utf-8"
    )
    terms = 'I agree:\n\n  - "é": yes\t\n- to {{ all }} of it'
    Path("terms.txt").write_text(f"{terms}\n", encoding="utf-8", newline="\r\n")
    words = ["build", "medlaybench-v", "--captions", "captions.csv"]
    assert execute([*words, "--statement", "said.yaml", "--gate-text", "terms.txt", "--out", "stated"]) == 0
    card = Path("stated/README.md").read_text(encoding="utf-8")
    assert "**How the data were collected.** All {{ agreed }} in writing." in card and "content.** Ages." in card
    assert "whether those whom they show agreed" not in card and "Whom the records show, and whom not" in card
    manifest = Manifest.read(Path("stated"))
    assert manifest.settings["statement"] == {
        "collection": text_digest("All {{ agreed }} in writing."),
        "sensitive": text_digest("Ages."),
    }
    assert manifest.settings["gate_text"] == text_digest(terms)
    assert execute(["verify", "stated"]) == 0
    Path("blank.txt").write_text(" \n", encoding="utf-8")
    assert execute([*words, "--gate-text", "blank.txt", "--out", "silent"]) == 2 and not Path("silent").exists()
    assert execute([*words, "--out", "silent"]) == 0
    told = diff(Path("stated"), Path("silent")).facts
    assert [(one.where, one.b) for one in told] == [("settings.gate_text", None), ("settings.statement", None)]
    forged = {"statement": {"sensitive": "0" * 64}, "gate_text": "0" * 64}
    manifest.model_copy(update={"settings": {**manifest.settings, **forged}}).write(Path("stated"))
    found = " ".join(map(str, verify(Path("stated"))))
    assert "another text on 'Personal and sensitive content'" in found and "extra_gated_prompt: another text" in found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[a]", "no parts by name"),
        ("", "no parts by name"),
        ("consent: yes", "consent: no such part"),
        ("collection: 7", "collection: no text"),
        ("collection: ' '", "collection: no text"),
        ("collection: [", "said.yaml"),
    ],
)
def test_a_statement_that_cannot_be_used_is_refused_before_the_work(text: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "said.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=found):
        build(
            RECIPE, Options(captions="sample", statement=tmp_path / "said.yaml"), tmp_path / "out", workspace=tmp_path
        )


def test_the_pictures_of_the_samples_pass_no_encoder() -> None:
    pictures = [path for ending in ("png", "jpg") for path in (ROOT / "builders" / "samples").rglob(f"*.{ending}")]
    assert len(pictures) > 500
    for path in pictures:
        with suppress(ImageError):  # some are broken, so that a build has something to leave out
            assert clean_bytes(path)[0][-64:] in path.read_bytes(), path


def test_one_caption_in_two_splits_is_told_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = "id,caption,split,licence\na,Renal cyst.,train,CC0\nb,Renal cyst.,test,CC0\n"
    (tmp_path / "captions.csv").write_text(table)
    words = ["medlaybench-v", "--captions", str(tmp_path / "captions.csv"), "--out", str(tmp_path / "out")]
    assert execute(["build", *words]) == 0
    assert "In more than one split of the source: 1 caption. " in " ".join(capsys.readouterr().out.split())
