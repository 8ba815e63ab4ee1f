"""`bedside pack`: what others get of a run holds no text that its cases hide, however it is packed."""

from __future__ import annotations

import bz2
import gzip
import html
import io
import json
import os
import random
import re
import shutil
import sqlite3
import stat
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, PngImagePlugin

from baselines.dialogue.hidden import Secrets
from baselines.dialogue.played import DIALOGUES, PlayedCase, read_hidden, read_played
from baselines.medconceal.game import concern_texts
from baselines.medconceal.judgement import JudgedEpisode
from baselines.pack.contents import Unreadable, texts_of
from baselines.report.page import write_report
from baselines.results.comparison import read_runs
from baselines.results.run import read_run, write_run
from loaders.errors import InputError
from loaders.files.records import to_json
from loaders.spans import shares_span
from scripts.cli import execute
from tests.baselines.report.test_consultation import run as consulted
from tests.baselines.report.test_report import unpacked as packed_rows
from tests.parts.consultations import many
from tests.parts.pictures import drawn, jpeg
from tests.parts.places import ROOT

AGENTS = ("--clinician", "scripted/expert", "--patient", "template", "--evaluator", "rules", "--judge", "rules")
SECRET = "Frau Müller fears “the knife” above all"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a release and a run over it, both named in full, as scripts do."""
    home = tmp_path_factory.mktemp("adas-laptop")
    told, sys.argv = sys.argv, ["bedside", "run", "confirmation", str(home / "release"), f"--out={home / 'run'}"]
    try:
        assert execute(["build", "medconceal", "--source", "sample", "--out", str(home / "release")]) == 0
        asked = ["run", "confirmation", str(home / "release"), "-o", str(home / "run"), "--limit", "2", *AGENTS]
        assert execute(asked) == 0
    finally:
        sys.argv = told
    return home


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(home / "run", tmp_path / "run"))


def as_before(run: Path) -> Path:
    """The same run as an earlier version left it: all in one file, logs and answers beside it, a command with paths."""
    rows = read_played(run, PlayedCase[JudgedEpisode])
    (run / DIALOGUES).write_text("".join(json.dumps(to_json(row), sort_keys=True) + "\n" for row in rows))
    (run / "hidden.jsonl").unlink()
    for name in ("answers.sqlite", "logs"):
        (run / "private" / name).rename(run / name)
    (run / "private").rmdir()
    content = json.loads((run / "run.json").read_text())
    content["command"] = f"bedside run confirmation /home/ada/release -o {run}"
    content["files"] = {name: digest for name, digest in content["files"].items() if name.startswith("results.")}
    (run / "run.json").write_text(json.dumps(content))
    return run


def secrets_of(home: Path) -> list[str]:
    return [text for part in read_hidden(home / "run") for text in part.texts]


def known_to(made: Callable[[Path], Path], home: Path) -> list[str]:
    """The hidden texts that a run holds: one of an earlier version without the cues."""
    if made is not as_before:
        return secrets_of(home)
    rows = read_played(home / "run", PlayedCase[JudgedEpisode])
    return [text for row in rows if row.record is not None for text in concern_texts(row.record.episode)]


def said_in_part(run: Path) -> list[str]:
    """Lets everybody speak, find and judge with a hidden text that lacks its first word, or is cut before its last,
    and returns what they say."""
    rows = [json.loads(line) for line in (as_before(run) / DIALOGUES).read_text().splitlines()]
    parts = []
    for row in rows:
        episode, judgement = row["record"]["episode"], row["record"]["judgement"]
        told = next(text for one in episode["hidden"] for text in one["evidence"] if len(text.split()) > 8).split()
        parts += [" ".join(told[1:]), " ".join(told[:-1])]
        first, second = episode["exchanges"][:2]
        first["patient"], first["clinician"] = f"Well, {parts[-2]}", f"You say {parts[-1]}…"
        second["patient"], second["clinician"] = f"{parts[-1]}…", parts[-2].upper()
        episode["findings"]["items"][0]["description"] = parts[-2]
        judgement["pairs"][0]["quote"] = parts[-1]
    (run / DIALOGUES).write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
    return parts


def unpacked(archive: Path, to: Path) -> Path:
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(to)
    (folder,) = to.iterdir()
    return folder


def test_a_run_keeps_what_is_hidden_apart(home: Path) -> None:
    run, secrets = home / "run", Secrets(secrets_of(home))
    assert secrets
    for path in run.rglob("*"):
        if path.is_file() and "private" not in path.parts and path.name != "hidden.jsonl":
            assert not any(map(secrets.stands_in, texts_of(path.read_bytes()))), path
            assert str(home).encode() not in path.read_bytes(), path
    modes = {name: stat.S_IMODE((run / name).stat().st_mode) for name in ("private", "hidden.jsonl")}
    assert modes == {"private": 0o700, "hidden.jsonl": 0o600}
    assert stat.S_IMODE((run / "private/answers.sqlite").stat().st_mode) == 0o600
    assert any(secrets.stands_in(text) for log in run.glob("private/logs/*") for text in texts_of(log.read_bytes()))
    assert read_run(run)[0].command == "bedside run confirmation ../release --out=."


@pytest.mark.parametrize("made", [lambda run: run, as_before])
def test_what_is_packed_holds_nothing_hidden_and_opens_again(
    made: Callable[[Path], Path], home: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = Secrets(known_to(made, home))
    made(run)
    assert execute(["pack", str(run), "-o", str(tmp_path / "a.zip")]) == 0
    said = capsys.readouterr().out
    expected = "answers.sqlite, logs" if made is as_before else "hidden.jsonl, private"
    assert f"left out: {expected}\n" in said and "a path of this machine" not in said
    archive = (tmp_path / "a.zip").read_bytes()
    assert not any(secrets.stands_in(text) for text in texts_of(archive))
    assert not any(str(tmp_path) in text or "/home/ada" in text for text in texts_of(archive))
    # The command of an earlier version tells where the run lay.
    other = run if made is as_before else Path(shutil.copytree(run, tmp_path / "elsewhere/run"))
    assert execute(["pack", str(other)]) == 0
    assert (other.parent / "run.zip").read_bytes() == archive
    folder = unpacked(tmp_path / "a.zip", tmp_path / "unpacked")
    values = [[(result.key, result.value) for result in read_run(place)[1]] for place in (folder, run)]
    assert values[0] == values[1] and read_run(folder)[0].run_id == read_run(run)[0].run_id
    assert execute(["report", str(folder), "-o", str(tmp_path / "report.html")]) == 0
    assert execute(["compare", str(folder), "--all", "--json"]) in (0, 2)  # 2: no number that the paper prints
    assert not secrets.stands_in(html.unescape((tmp_path / "report.html").read_text()))
    assert len(read_played(folder, PlayedCase[JudgedEpisode])) == 2


def test_a_pack_of_an_earlier_version_says_that_it_masks_no_cues(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for earlier in (False, True):
        assert execute(["pack", str(as_before(run) if earlier else run)]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert ("2 cases were played by an early version, which kept no cues" in said) is earlier
        for public in ([], ["--public"]):
            assert execute(["report", str(run), "-o", str(tmp_path / "page.html"), *public]) == 0
            said = " ".join(capsys.readouterr().out.split())
            assert ("2 cases were played by an early version, which kept no cues" in said) is bool(earlier and public)


def test_a_hidden_text_said_in_part_is_neither_packed_nor_in_a_public_report(run: Path, tmp_path: Path) -> None:
    parts = said_in_part(run)
    archive, page = tmp_path / "run.zip", tmp_path / "page.html"
    assert any(shares_span(text, parts, 5) for text in texts_of((run / DIALOGUES).read_bytes())), "the test can fail"
    assert execute(["pack", str(run), "-o", str(archive)]) == 0
    assert execute(["report", str(run), "--public", "-o", str(page)]) == 0
    shown = page.read_text(encoding="utf-8")
    for data in (archive.read_bytes(), shown.encode(), packed_rows(shown, "confirmation-dialogues").encode()):
        assert not any(shares_span(text, parts, 5) for text in texts_of(data))


def test_what_a_system_keeps_beside_a_run_stays_out(run: Path, tmp_path: Path) -> None:
    """As in a folder that was unpacked and looked at on a Mac."""
    (run / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    (run / "._run.json").write_bytes(b"\0\5\26\7")
    assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip")]) == 0
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        assert not [name for name in archive.namelist() if "/." in name]


def test_photos_stay_out_and_a_report_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run does not know their licences, so that an archive gave away photos that may not be."""
    made = consulted(tmp_path / "run", many(8))
    for name in ("images", "photos"):
        (made / name).mkdir()
        (made / name / "0123456789abcdef.jpg").write_bytes(jpeg(drawn(0, (40, 30))))
    assert execute(["pack", str(made), "-o", str(tmp_path / "run.zip")]) == 0
    assert "left out: images, photos\n" in capsys.readouterr().out
    folder = unpacked(tmp_path / "run.zip", tmp_path / "unpacked")
    assert not list(folder.rglob("*.jpg"))
    absent = {}
    for at in (folder, made):
        assert execute(["report", str(at), "-o", str(tmp_path / "report.html")]) == 0
        absent[at] = "The folder of this run holds no photos" in (tmp_path / "report.html").read_text("utf-8")
    assert absent == {folder: True, made: False}


@pytest.mark.parametrize("command", ["pack", "report", "rescore"])
def test_a_file_that_a_run_has_lost_is_told(
    command: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "usage.json").unlink()
    assert execute([command, str(run), "-o", str(tmp_path / "made")]) == 0
    assert "lacks usage.json, which the run stored" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("made", [lambda run: run, as_before])
def test_a_public_report_holds_nothing_hidden(
    made: Callable[[Path], Path], home: Path, run: Path, tmp_path: Path
) -> None:
    """Nowhere in it: not among the rows without script, nor in those that it carries packed, of any version's run."""
    secrets = Secrets(known_to(made, home))
    made(run)
    shown = {}
    for public in ([], ["--public"]):
        page = tmp_path / f"{len(public)}.html"
        assert execute(["report", str(run), *public, "-o", str(page)]) == 0
        text = page.read_text(encoding="utf-8")
        rows = packed_rows(text, "confirmation-dialogues")
        assert rows.count('"Clinician, turn 1 ') == 2
        told = [any(map(secrets.stands_in, texts_of(part.encode()))) for part in (text, rows)]
        shown[len(public)] = (told, bool(page.stat().st_mode & 0o077))
    assert shown == {0: ([True, True], False), 1: ([False, False], True)}


def test_a_public_report_of_a_run_that_tells_is_not_written(home: Path, run: Path, tmp_path: Path) -> None:
    record, _ = read_run(run)
    hidden = next(text for text in secrets_of(home) if len(text.split()) > 4)
    told = replace(record, options={**record.options, "note": hidden})
    write_run(run, told, [replace(result, record=told) for result in read_run(run)[1]])
    with pytest.raises(InputError, match="hidden text in a run's record"):
        write_report(read_runs([run]), tmp_path / "page.html", public=True)
    assert not (tmp_path / "page.html").exists()


def test_an_earlier_versions_run_opens_and_can_be_continued(home: Path, run: Path, tmp_path: Path) -> None:
    as_before(run)
    assert execute(["report", str(run), "-o", str(tmp_path / "report.html")]) == 0
    assert "/home/ada" not in (tmp_path / "report.html").read_text()
    asked = ["run", "confirmation", str(home / "release"), "-o", str(run), "--limit", "2", *AGENTS]
    assert execute(asked) == 0
    assert not (run / "logs").exists()
    assert len(list((run / "private/logs").glob("*.eval"))) == 2
    assert (run / DIALOGUES).read_bytes() == (home / "run" / DIALOGUES).read_bytes()
    assert stat.S_IMODE((run / "private").stat().st_mode) == 0o700


def test_runs_of_earlier_versions_open_in_report_compare_and_contrast(home: Path, run: Path, tmp_path: Path) -> None:
    other, oldest = tmp_path / "other", ROOT / "tests/written_before/run"
    agents = ("--clinician", "scripted/closed-checklist", *AGENTS[2:])
    assert execute(["run", "confirmation", str(home / "release"), "-o", str(other), "--limit", "2", *agents]) == 0
    pair = [str(as_before(run)), str(as_before(other))]
    for runs in (pair, [str(oldest)]):
        assert execute(["report", *runs, "-o", str(tmp_path / "report.html")]) == 0
        assert execute(["compare", *runs]) == 0
    assert execute(["contrast", *pair]) == 0


def sqlite(text: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute('CREATE TABLE "my ""notes" (note TEXT)')
        base.execute('INSERT INTO "my ""notes" VALUES (?)', ("x" * 9000 + " " + text,))
        base.commit()
        return base.serialize()


def sqlite_with_a_log(text: str) -> bytes:
    """As a database lies on the disk while its log is elsewhere."""
    data = sqlite(text)
    return data[:18] + b"\x02\x02" + data[20:]


def arrow(text: str) -> bytes:
    letters = "".join(random.Random(0).choices("aeinrst", k=2000))  # a short text would stand there as it is
    sink, table = io.BytesIO(), pa.table({"notes": [{"texts": [f"{letters} {text}"]}]})
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(table)
    return sink.getvalue()


def parquet(text: str) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"notes": [{"texts": [text]}]} | {"n": [1]}), sink, compression="zstd")
    return sink.getvalue()


def among_others(text: str) -> list[list[tuple[str, str]]]:
    """A column of maps in which the text is neither the first value nor the smallest, which stand there as they are."""
    draw = random.Random(0)
    others = [" ".join(draw.choices(text.lower().split(), k=40)) for _ in range(60)]
    return [[("said", one)] for one in ("A", *others, text, *others, "zz")]


MAPS = pa.schema({"notes": pa.map_(pa.string(), pa.string())})


def parquet_of_maps(text: str) -> bytes:
    sink = io.BytesIO()
    table = pa.table({"notes": among_others(text)}, MAPS)
    pq.write_table(table, sink, compression="gzip", use_dictionary=False)
    return sink.getvalue()


def arrow_stream(text: str) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, MAPS, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(pa.table({"notes": among_others(text)}, MAPS))
    return sink.getvalue()


def array(text: str) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.array([text]))
    return sink.getvalue()


def zipped(data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inner/log.json", data)
    return sink.getvalue()


def png(text: str, *, international: bool) -> bytes:
    """A picture with a compressed text, as programs that draw and edit leave it."""
    about, sink = PngImagePlugin.PngInfo(), io.BytesIO()
    if international:
        about.add_itxt("Description", text, lang="en", zip=True)
    else:
        about.add_text("Description", text.replace("“", '"').replace("”", '"'), zip=True)
    Image.new("L", (4, 3)).save(sink, "PNG", pnginfo=about)
    return sink.getvalue()


def tarred(data: bytes) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w:xz") as archive:
        info = tarfile.TarInfo("notes")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return sink.getvalue()


WAYS: dict[str, Callable[[str], bytes]] = {
    "as it is": str.encode,
    "json": lambda text: json.dumps({"said": text}).encode(),
    "json in json": lambda text: json.dumps(json.dumps({"said": f"a\n{text}\n"})).encode(),
    "html": lambda text: html.escape(f"<p>{text}").encode(),
    "html with tags": lambda text: text.replace("knife", "<b>knife</b>").encode(),
    "numbered html": lambda text: "".join(f"&#{ord(one)};" for one in text).encode(),
    "address": lambda text: f"?q={text.replace(' ', '+')}".encode(),
    "utf-16": lambda text: text.encode("utf-16-le"),
    "utf-16 at an odd place": lambda text: b"\0" + text.encode("utf-16-le"),
    "utf-16 the other way round": lambda text: text.encode("utf-16-be"),
    "utf-16 behind much else": lambda text: b"x" * 5000 + text.encode("utf-16-le"),
    "array": array,
    "gzip": lambda text: gzip.compress(text.encode()),
    "bzip2": lambda text: bz2.compress(text.encode()),
    "zlib": lambda text: zlib.compress(text.encode()),
    "zstandard": lambda text: pa.compress(text.encode(), "zstd", asbytes=True),
    "zip": lambda text: zipped(json.dumps(text).encode()),
    "zip in tar": lambda text: tarred(zipped(text.encode())),
    "sqlite": sqlite,
    "sqlite in zip": lambda text: zipped(sqlite(text)),
    "sqlite with a log": sqlite_with_a_log,
    "arrow": arrow,
    "stream of arrow": arrow_stream,
    "parquet": parquet,
    "maps in parquet": parquet_of_maps,
    "zip in zip": lambda text: zipped(zipped(text.encode())),
    "text of png": lambda text: png(text, international=False),
    "international text of png": lambda text: png(text, international=True),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_hidden_text_is_found_however_it_is_packed(way: str) -> None:
    found = Secrets([SECRET])
    assert any(map(found.stands_in, texts_of(WAYS[way](f"Before. {SECRET}. After."))))
    assert not any(map(found.stands_in, texts_of(WAYS[way]("Before. After."))))


def test_numbers_that_begin_like_a_stream_of_arrow_are_bytes() -> None:
    minus_ones = np.full(64, -1).tobytes()
    assert SECRET in "".join(texts_of(minus_ones + SECRET.encode()))


def test_a_hidden_text_is_found_in_what_excel_saves() -> None:
    """Not in UTF-8: with each umlaut lost, no five words in a row were left."""
    secret = "Müller fürchtet höhere Gebühren für später"
    assert any(map(Secrets([secret]).stands_in, texts_of(f"note;{secret};Größe\r\n".encode("cp1252"))))


@pytest.mark.parametrize(
    "data",
    [
        b"7z\xbc\xaf\x27\x1c",
        b"%PDF-1.7",
        gzip.compress(b"cut off" * 100)[:-20],
        zipped(b"x" * 100).replace(b"\x08\x00", b"\x63\x00"),
        gzip.compress(bytes(1 << 20)) * 3,
        reduce(lambda data, _: gzip.compress(data), range(7), b"too deep"),
    ],
    ids=["7z", "pdf", "cut off", "unknown method", "bomb", "too deep"],
)
def test_files_that_cannot_be_searched_are_an_error(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baselines.pack.contents.MOST_BYTES", 2 << 20)
    with pytest.raises(Unreadable):
        list(texts_of(data))


def test_a_file_with_a_hidden_text_is_refused_or_left_out(
    home: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = secrets_of(home)[0]
    (log,) = (run / "private/logs").glob("*.eval")
    shutil.copy(log, run / "shared.eval")
    (run / "notes").mkdir()
    (run / "notes/mine.txt").write_bytes(gzip.compress(secret.encode()))
    (run / "paper.pdf").write_bytes(b"%PDF-1.7")
    archive = tmp_path / "run.zip"
    assert execute(["pack", str(run), "-o", str(archive)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "a hidden text stands in notes/mine.txt" in said and secret not in said
    assert "--without notes/mine.txt --without shared.eval --without paper.pdf" in said and not archive.exists()
    without = [word for name in ("notes", "shared.eval", "paper.pdf") for word in ("--without", name)]
    assert execute(["pack", str(run), "-o", str(archive), *without]) == 0
    assert "left out: hidden.jsonl, notes, paper.pdf, private, shared.eval" in " ".join(capsys.readouterr().out.split())


def test_the_name_of_a_file_may_tell_too(
    home: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / f"{'-'.join(re.findall(r'[a-z]+', secrets_of(home)[0])[:8])}.txt").touch()
    archive = tmp_path / "run.zip"
    assert execute(["pack", str(run), "-o", str(archive)]) == 2
    assert "a hidden text stands in" in " ".join(capsys.readouterr().err.split()) and not archive.exists()


def test_a_run_that_lost_its_hidden_texts_is_not_packed_unsearched(
    home: Path, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "notes.txt").write_text(secrets_of(home)[0])
    (run / "hidden.jsonl").unlink()
    archive = tmp_path / "run.zip"
    assert execute(["pack", str(run), "-o", str(archive)]) == 2
    assert "hidden.jsonl found no such file" in " ".join(capsys.readouterr().err.split()) and not archive.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["RUN", "-o", "RUN/run.zip"], "lies in the run itself"),
        (["RUN", "-o", "RUN.tar.gz"], ".gz, another kind of archive expected a name with .zip"),
        (["RUN", "--without", "nothing"], "no such file"),
        (["RUN", "--without", "RUN/.."], "no such file"),
        (["RUN", "--without", "/etc"], "no such file"),
        (["RUN", "--without", "run.json"], "a file that every run has"),
        (["RUN/private"], "no run.json"),
    ],
)
def test_mistakes(arguments: list[str], said: str, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["pack", *(word.replace("RUN", str(run)) for word in arguments)]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_no_zip_file_but_an_earlier_pack_is_replaced(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "thesis.docx"
    mine.write_bytes(zipped(b"chapter 1"))
    before = mine.read_bytes()
    assert execute(["pack", str(run), "-o", str(mine)]) == 2
    assert "holds something else" in " ".join(capsys.readouterr().err.split())
    assert mine.read_bytes() == before
    with zipfile.ZipFile(mine, "w") as several:
        for name in ("first/run.json", "second/run.json"):
            several.writestr(name, "{}")
    assert execute(["pack", str(run), "-o", str(mine)]) == 2 and len(zipfile.ZipFile(mine).namelist()) == 2
    for _ in range(2):
        assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip")]) == 0


def test_a_pack_is_to_be_unpacked_before_it_is_shown(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip")]) == 0
    capsys.readouterr()
    assert execute(["table", str(tmp_path / "run.zip")]) == 2
    assert "Unpack it" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", ["results.csv", "dialogues.jsonl", "run.json"])
def test_who_edited_an_unpacked_archive_is_told_to_unpack_it_again(
    name: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The advice was to run the baseline again, which who was given the archive cannot."""
    assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip")]) == 0
    folder = unpacked(tmp_path / "run.zip", tmp_path / "unpacked")
    content = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(content.replace("confirmation", "conformation"), encoding="utf-8")
    assert execute(["compare", str(folder)]) == 2
    assert "if this run came in an archive, unpack that again" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("target", ["secret.txt", "nowhere", "folder", "run/inside"])
def test_a_link_out_of_the_run_or_to_a_folder_is_refused_or_left_out(
    target: str, run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "secret.txt").write_text("mine")
    for folder in (tmp_path / "folder", run / "inside"):
        folder.mkdir()
        (folder / "photo.txt").write_text("a photo")
    (run / "link.txt").symlink_to(run / "inside" if target == "run/inside" else tmp_path / target)
    assert execute(["pack", str(run)]) == 2
    assert "--without link.txt" in " ".join(capsys.readouterr().err.split())
    assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip"), "--without", "link.txt"]) == 0
    assert "link.txt" in capsys.readouterr().out


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_name_that_no_archive_can_hold_is_named(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was said of the archive, whose own name is fine."""
    odd = run / os.fsdecode(b"odd\xff")
    odd.mkdir()
    (odd / "notes.txt").write_text("mine")
    assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert (
        "notes.txt" in said and "has a name that is not UTF-8" in said and "Rename it" in said and "run.zip" not in said
    )


def test_what_is_left_out_may_be_named_with_the_path_of_the_run(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It went in without a word: the file that is there was none of the names below the run."""
    (run / "notes.txt").write_text("mine")
    assert execute(["pack", str(run), "-o", str(tmp_path / "run.zip"), "--without", str(run / "notes.txt")]) == 0
    assert "notes.txt" in capsys.readouterr().out
