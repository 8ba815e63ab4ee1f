"""The commands as a person meets them: exit codes, clear errors, no traceback."""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.recipe import recipe_of
from loaders.manifest import FileFacts, Manifest, file_digest
from scripts.cli import execute, find, keep_bars_from_logs, root
from tests.parts.faulty_hub import FaultyHub
from tests.parts.privileges import unprivileged
from tests.parts.processes import printed

BUILD = ["build", "medlaybench-v", "--captions", "sample", "--limit", "20", "--workers", "1"]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "release"
    assert execute([*BUILD, "--out", str(out)]) == 0
    return out


def test_the_way_of_a_release(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["verify", str(release)]) == 0
    assert "sound" in capsys.readouterr().out
    assert execute(["info", str(release)]) == 0
    assert "bundled sample" in capsys.readouterr().out
    assert execute(["diff", str(release), str(release)]) == 0
    page = tmp_path / "page.html"
    assert execute(["preview", str(release), "-o", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert "Stand-in" in html and "data:image/jpeg;base64" in html
    assert "magnetic resonance imaging (DRMR)" in html and "DRMR" not in html.partition("<h2>Sample")[2]
    assert "http" not in html.replace("http-equiv", "")  # nothing is fetched


def test_a_release_of_other_gates_is_not_called_sound_without_saying_so(
    release: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The remark went to standard error alone: who kept the output read that every gate had passed."""
    recipe = recipe_of("medlaybench-v")
    monkeypatch.setattr("scripts.verify.recipe_of", lambda name: replace(recipe, rules=recipe.rules + 1))
    assert execute(["verify", str(release)]) == 0
    said = capsys.readouterr()
    assert ": sound by its manifest; gates and scans were not run. " in " ".join(said.out.split())
    assert f"made by version {recipe.rules} of the gates and scans" in " ".join(said.err.split())


def test_the_names_that_a_label_of_photos_may_have_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing listed them: a photo with another label is left out, and a label table maps to these names alone."""
    assert execute(["info", "3mdbench"]) == 0
    assert "label, 0 to 33: eczema, hives, " in capsys.readouterr().out


def test_a_damaged_release_exits_with_1_and_names_the_file(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in release.rglob("*"):
        if path.is_file():
            (copy / path.relative_to(release)).parent.mkdir(exist_ok=True)
            (copy / path.relative_to(release)).write_bytes(path.read_bytes())
    shard = next((copy / "data").iterdir())
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    assert execute(["verify", str(copy), "--json"]) == 1
    problems = json.loads(capsys.readouterr().out)
    assert problems and shard.name in problems[0]["where"]


def test_a_build_says_what_comes_next_unless_it_is_quiet(
    release: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert execute([*BUILD, "--out", str(release)]) == 0
    said = capfd.readouterr()
    assert f"Next:\n  bedside verify {release}\n  bedside preview {release} -o preview.html\n" in said.out
    assert "--tag v1.0.0 --dry-run" in said.out and "admit: 20 rows" in said.err
    assert execute([*BUILD, "--out", str(release), "--quiet"]) == 0
    said = capfd.readouterr()
    assert said.out == said.err == ""


def test_what_comes_next_can_be_pasted_whatever_the_folder_is_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    made, run, cases = tmp_path / "l'été 1", tmp_path / "my run", tmp_path / "our cases.yaml"
    assert execute([*BUILD, "--out", str(made)]) == 0
    assert execute(["run", "language", str(made), "-o", str(run)]) == 0
    assert execute(["cases", "new", str(cases), "--template"]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = [shlex.split(line[line.index("bedside ") :]) for line in lines if "bedside " in line]
    assert len(told) == 6 and all({str(made), str(run), str(cases)} & set(words) for words in told)


def test_a_rehearsed_publication_says_that_nothing_was_sent(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FaultyHub() as hub:
        words = ["publish", str(release), "org/name", "--tag", "v1.0.0", "--dry-run", "--endpoint", hub.url]
        assert execute(words) == 0
        said = capsys.readouterr()
        assert said.out == "Nothing was uploaded (--dry-run).\n" and f"checking {release}" in said.err
        words.remove("--dry-run")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HF_TOKEN", hub.token)
            assert execute([*words, "--quiet"]) == 0
            said = capsys.readouterr()
            assert said.out == said.err == ""
            assert execute(words) == 0
            assert "nothing to do" in capsys.readouterr().err


def test_a_release_that_verify_refuses_is_not_published(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only its digests were looked at, and these anybody can bring into line with a shard that was edited."""
    copy = Path(shutil.copytree(release, tmp_path / "copy"))
    shard = next((copy / "data").iterdir())
    rows = pq.read_table(shard)
    lay = rows.column_names.index("layman_caption")
    pq.write_table(rows.set_column(lay, rows.field(lay), pa.array(["Everything is fine."] * len(rows))), shard)
    manifest = Manifest.read(copy)
    facts = FileFacts(sha256=file_digest(shard), size=shard.stat().st_size)
    manifest.model_copy(update={"files": {**manifest.files, f"data/{shard.name}": facts}}).write(copy)
    with FaultyHub() as hub, pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_TOKEN", hub.token)
        words = ["publish", str(copy), "org/name", "--tag", "v1.0.0", "--endpoint", hub.url]
        for rehearsed in (["--dry-run"], []):
            assert execute([*words, *rehearsed]) == 2
            assert f"bedside verify {copy}" in " ".join(capsys.readouterr().err.split())
        assert not any(request.changes for request in hub.requests)
        assert execute([*words, "--no-verify"]) == 0
        assert "rows are not (--no-verify)" in " ".join(capsys.readouterr().err.split())


def test_a_file_is_no_release_and_is_called_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "captions.csv").write_text("id,caption\n", encoding="utf-8")
    assert execute(["verify", str(tmp_path / "captions.csv")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "is a file" in said and "bedside audit" in said and "no such folder" not in said


def test_what_verify_finds_wrong_is_told_quietly_too(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = Path(shutil.copytree(release, tmp_path / "copy"))
    (copy / "README.md").write_text("Another card.", "utf-8")
    assert execute(["verify", str(copy), "--quiet"]) == 1
    said = capsys.readouterr()
    assert said.out == "" and "README.md" in said.err
    assert execute(["verify", str(release), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_two_releases_that_differ_exit_with_1(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    assert execute([*BUILD[:-4], "--limit", "18", "--workers", "1", "--out", str(other)]) == 0
    capsys.readouterr()
    assert execute(["diff", str(release), str(other), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", "medlaybench-v", "--captions", "missing.csv", "--out", "OUT"],
        [*BUILD, "--out", "OUT", "--condition", "magic"],
        [*BUILD, "--out", "OUT", "--substitute", "some"],
        [*BUILD, "--out", "OUT", "--model", "nobody/model"],
        [*BUILD, "--out", "OUT", "--model", "model"],
        [*BUILD, "--out", "OUT", "--vocabulary", "missing.csv"],
        [*BUILD, "--out", "OUT", "--prompts", "missing"],
        [*BUILD, "--out", "OUT", "--split", "middle"],
        [*BUILD, "--out", "OUT", "--spacy", "no_such_pipeline"],
        ["build", "no-such-corpus"],
        ["verify", "missing"],
        ["diff", "missing", "missing"],
        ["publish", "missing", "org/name", "--tag", "v1.0.0"],
        ["publish", "RELEASE", "org/name", "--tag", "1.0"],
        ["publish", "RELEASE", "org/name", "--tag", "v1.0.0", "--gated", "perhaps"],
        ["audit", "missing.json"],
        ["info", "missing"],
        ["frobnicate"],
    ],
)
def test_a_mistake_is_one_error_and_exit_code_2(
    arguments: list[str], release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"OUT": str(tmp_path / "out"), "RELEASE": str(release)}
    assert execute([places.get(argument, argument) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err and said.err.strip()
    assert not (tmp_path / "out").exists()


def test_a_second_value_of_an_option_that_holds_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last one would count: the rows that the first list withdraws would be released."""
    lists = ["--withdrawn", "persons.txt", "--withdrawn=more.txt"]
    assert execute(["build", "medlaybench-v", "--captions", "sample", *lists, "--out", str(tmp_path / "out")]) == 2
    assert " ".join(capsys.readouterr().err.split()) == "Error --withdrawn found given 2 times expected one value"
    assert execute(["verify", str(tmp_path), "--quiet", "--quiet", "--json"]) == 2  # no release
    assert "no manifest.json" in capsys.readouterr().err


def test_ctrl_c_exits_with_130_and_says_what_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from builders.medlaybench_v.steps import refine_by_rules

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(refine_by_rules, "function", interrupted)
    assert execute([*BUILD, "--out", str(tmp_path / "out")]) == 130
    assert "run the same command again to resume" in " ".join(capsys.readouterr().err.split())
    monkeypatch.undo()
    assert execute([*BUILD, "--out", str(tmp_path / "out")]) == 0


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["--version"]) == 0
    assert capsys.readouterr().out.startswith("bedside ")


def test_a_value_that_is_no_choice_names_the_choices_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute([*BUILD, "--out", "new", "--engine", "slurm"]) == 2
    assert "Invalid value for '--engine': 'slurm' is not one of 'local', 'ray'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "line",
    [
        ["verify", "x" * 300],
        ["compare", "shut/run"],
        ["audit", "shut/captions.csv"],
        ["review", "/"],
        ["pack", "/"],
        ["fit-policy", "-o", "/", "--judge", "scripted"],
        ["curate", "pictures", "-o", "a/" * 1_500, "--workers", "1"],
        ["run", "concepts", "release", "-o", "x" * 300],
        ["build", "medlaybench-v", "--captions", "captions.csv", "--out", "new", "--allow-licence", "\udcff"],
        ["run", "captioning", "release", "--model", "none/\udcff", "-o", "new"],
    ],
)
def test_a_place_that_cannot_be_used_is_one_error(
    line: list[str], release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "shut").mkdir(mode=0)
    (tmp_path / "release").symlink_to(release)
    if "shut" in line[1]:
        execute([line[0], "nowhere"])  # imports what it needs, from where only root may read
        with unprivileged():
            assert execute(line) == 2
    else:
        assert execute(line) == 2
    assert "Error " in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_what_no_reader_made_an_error_of_ours_still_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "/the/disk")

    monkeypatch.setattr("loaders.manifest.Manifest.read", broken)
    assert execute(["info", str(tmp_path)]) == 2
    assert "/the/disk" in capsys.readouterr().err


def test_a_terminal_without_letters_for_it_still_gets_the_answer(release: Path) -> None:
    told = printed("-m", "scripts", "info", release, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert "\\u2026" in told


def test_a_manifest_whose_statistics_are_of_another_shape_is_one_error(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts = json.loads((release / "manifest.json").read_bytes())
    facts["statistics"] = dict.fromkeys(facts["statistics"], 0.5)
    (tmp_path / "manifest.json").write_text(json.dumps(facts))
    assert execute(["info", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "does not hold what was written" in said and "`bedside verify" in said


def test_info_lists_the_corpora_on_a_screen_and_the_columns_of_the_one_that_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert execute(["info"]) == 0
    listed = capsys.readouterr().out
    assert len(listed.splitlines()) <= 24 and "layman_caption" not in listed
    assert " ".join(listed.split()).count("univanxx/3mdbench") == 1
    assert execute(["info", "medlaybench-v"]) == 0
    described = capsys.readouterr().out
    assert execute(["info", "medlaybench"]) == 2
    assert "a corpus (medlaybench-v, 3mdbench, medconceal" in " ".join(capsys.readouterr().err.split())
    assert "layman_caption" in described and "{score, repeats, hyphens, stacks, unexplained}" in described


def test_brackets_are_text(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = json.loads((release / "manifest.json").read_bytes())
    facts["sources"][0]["name"] = "[red]mine[/b] :smile:"
    (tmp_path / "manifest.json").write_text(json.dumps(facts))
    assert execute(["info", str(tmp_path)]) == 0
    assert "[red]mine[/b] :smile:" in capsys.readouterr().out


def test_settings_are_side_by_side_in_60_columns_though_one_is_a_digest(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = json.loads((release / "manifest.json").read_bytes())
    facts["settings"] |= {"authored": "0123456789abcdef" * 4, "allowed": [], "given": {"file": "f" * 64}}
    (tmp_path / "manifest.json").write_text(json.dumps(facts))
    monkeypatch.setenv("COLUMNS", "60")
    assert execute(["info", str(tmp_path)]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines() if len(line.split()) > 1)
    assert lines["authored"] == "0123456789abcdef…" and lines["allowed"] == "none"
    assert lines["given"] == "{'file': 'ffffffffffffffff…'}"


@pytest.mark.parametrize(
    "words", ["", "run", "curate", "contrast", "rebuild", "build 3mdbench", "build medconceal", "run confirmation"]
)
def test_help_says_every_option_and_every_word_whole_in_60_columns(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert execute([*words.split(), "--help"]) == 0
    told = capsys.readouterr().out
    command = root() if not words else root().commands["run"] if words == "run" else find(words.split())[0]
    names = {name for one in command.params for name in (*one.opts, *one.secondary_opts) if name[:2] == "--"}
    assert not [name for name in names if name not in told]
    texts = [command.help or "", *(getattr(one, "help", None) or "" for one in command.params)]
    texts += [each.help or "" for each in getattr(command, "commands", {}).values()]
    assert {word for text in texts for word in text.split()} <= set(told.split())
    assert max(map(len, told.splitlines())) <= 60


def test_diff_shows_a_fact_of_many_parts_in_60_columns(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    shutil.copytree(release, other)
    facts = json.loads((other / "manifest.json").read_bytes())
    facts["settings"]["given"] = {f"part {number}": [number] * 3 for number in range(9)}
    (other / "manifest.json").write_text(json.dumps(facts))
    monkeypatch.setenv("COLUMNS", "60")
    assert execute(["diff", str(release), str(other), "--all"]) == 1
    told = capsys.readouterr().out
    assert '"part 8": [8, 8, 8]' in " ".join(told.split()) and max(map(len, told.splitlines())) <= 60


@pytest.mark.parametrize(("terminal", "columns", "drawn"), [(True, 80, True), (True, 60, False), (False, 80, False)])
def test_bars_of_datasets_are_drawn_where_a_terminal_has_room(
    terminal: bool, columns: int, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("HF_DATASETS_DISABLE_PROGRESS_BARS", "")
    monkeypatch.delenv("HF_DATASETS_DISABLE_PROGRESS_BARS")  # and gone again after the test
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    keep_bars_from_logs()
    assert os.environ.get("HF_DATASETS_DISABLE_PROGRESS_BARS") == (None if drawn else "1")


def test_a_mistyped_command_is_reported_in_60_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert execute(["build", "medlaybench_v"]) == 2
    told = capsys.readouterr().err
    assert "'medlaybench-v'" in told and max(map(len, told.splitlines())) <= 60


def test_no_room_for_a_native_library_is_one_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `ulimit -v` has it; any other failed import is a bug of ours."""

    def importing(text: str) -> None:
        def fail() -> Any:
            raise ImportError(text)

        monkeypatch.setattr("scripts.cli.root", fail)

    importing("/lib/_compute.so: failed to map segment from shared object")
    assert execute(["info", "x"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("Error memory of this process") and "_compute.so" in told and "ulimit -v" in told
    importing("cannot import name 'corpora'")
    with pytest.raises(ImportError, match="corpora"):
        execute(["info", "x"])


def test_help_says_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    told = {}
    for words in ("", "run", "run language", "select patient", "rescore", "fit-policy", "verify"):
        assert execute([*words.split(), "--help"]) == 0
        told[words] = " ".join(capsys.readouterr().out.split())
    assert not [words for words in told if words and "xit code" not in told[words]]
    for code in ("0 done", "1 a check", "2 a mistake", "130, 143, 129 stopped"):
        assert code in told[""] and code not in told["verify"]
    page = Path("docs/commands.md").read_text(encoding="utf-8")
    assert not [code for code in ("| 0 |", "| 1 |", "| 2 |", "| 130, 143, 129 |") if code not in page]
