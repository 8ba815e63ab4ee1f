"""The one door: what is not a regular file, too long, outside its folder, no text or no JSON never comes in."""

from __future__ import annotations

import ast
import json
import os
import pickle
import socket
import tempfile
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import InputError
from loaders.files.images import ImageError, open_image
from loaders.files.untrusted import (
    BadRow,
    TooLong,
    check_bad,
    decode,
    digest_of,
    entries,
    files_below,
    is_file,
    is_folder,
    is_inside,
    is_there,
    lines_of,
    parse_json,
    parse_yaml,
    read_file,
    read_text,
    resolved,
    stream_lines,
    understood,
)
from tests.parts.places import ROOT
from tests.parts.privileges import unprivileged


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def sock(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    return path


@pytest.mark.parametrize("read", [read_file, digest_of, read_text, open_image])
def test_only_regular_files_are_opened(tmp_path: Path, read: object) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, found in (
        (pipe(tmp_path / "pipe"), "not a regular file"),
        (sock(tmp_path / "s"), "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "is a folder"),
        (tmp_path / "gone", "does not exist"),
        (tmp_path / "s" / "below", "does not exist"),
        (loop, "cannot be read"),
        (tmp_path / ("long" * 100), "cannot be read"),
        (Path("nul\0"), "is not a path"),
    ):
        with pytest.raises(InputError, match=found):
            read(path)  # type: ignore[operator]


def test_a_sparse_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 40 << 30)
    with pytest.raises(TooLong, match="42,949,672,960 bytes"):
        read_file(path)
    with pytest.raises(ImageError) as error:
        open_image(path)
    assert error.value.reason == "too_large"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc, whose files state no size")
def test_a_file_that_is_longer_than_it_states_is_refused_too() -> None:
    with pytest.raises(TooLong, match="of 5 bytes"):
        read_file(Path("/proc/self/status"), most=4)


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


def test_text_is_utf8_without_its_mark(tmp_path: Path) -> None:
    assert decode(b"\xef\xbb\xbfa\xc3\xa9", "f") == "aé"
    with pytest.raises(InputError, match="f:2: byte 0xff at offset 2 is not UTF-8"):
        decode(b"a\n\xff", "f")
    with pytest.raises(InputError, match="f:2: byte 0xff at offset 5 is not UTF-8"):  # of the file, its mark included
        decode(b"\xef\xbb\xbfa\n\xff", "f")
    with pytest.raises(InputError, match="byte 0x00 at offset 1"):
        decode(b"a\0", "f")
    (tmp_path / "t").write_bytes(b"a\r\nb\rc")
    assert read_text(tmp_path / "t") == "a\nb\nc"


def test_only_a_line_feed_ends_a_line() -> None:
    data = "\ufeffa\u2028b\u2029c\x85d\x0be\r\n\n \nf".encode()
    lines = [(1, "a\u2028b\u2029c\x85d\x0be".encode()), (4, b"f")]
    assert list(lines_of(data)) == lines
    for size in (1, 2, 5, 100):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(stream_lines(blocks, "f")) == lines
    with pytest.raises(InputError, match="f:2: a line without end"):
        list(stream_lines([b"a\nbbbb", b"bbbb"], "f", 5))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_that_is_too_long_takes_no_other_with_it(size: int) -> None:
    data = b"a\n" + 20 * b"b" + b"\nc\nd"
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(stream_lines(blocks, "f", 5, skip=True)) == [(1, b"a"), (2, b""), (3, b"c"), (4, b"d")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b" ", "is empty"),
        (b'{"a": 1', "is incomplete JSON"),
        (b'\n{"a": }', "f:2: is incomplete JSON"),
        (b"case,turns\n1,2", "is not JSON"),
        (b'"case","turns"\n1,2', "is not JSON"),
        (b"1,2", "is not JSON"),
        (b"\x89PNG\r\n\x1a\n", "f: is a picture .PNG"),
        (b"[NaN]", "NaN is no number"),
        (b"[-Infinity]", "-Infinity is no number"),
        (b"[" * 100_000, "nested too deep"),
        (b"[" * 101 + b"]" * 101, "nested too deep"),
        (b'{"a": "\\ud800"}', "is not valid text"),
        (b'{"\\uDFFF": 1}', "is not valid text"),
        (b'["\\u0000"]', "is not valid text"),
        (b"1" * 5_000, "is not JSON"),
        (b"\xff\xfe[\x00]\x00", "not UTF-8"),
    ],
)
def test_what_is_no_json_is_one_error(text: bytes, found: str) -> None:
    with pytest.raises(InputError, match=found):
        parse_json(text, "f")


def test_json_that_is_unusual_and_sound() -> None:
    sound = [[[]] * 200, "\\ud83d\\ude00 \\\\ud800", {"é": [1e308, -0.0, None]}, "x" * 100_000]
    assert parse_json(json.dumps(sound).encode(), "f") == sound
    assert parse_json(b'"\\ud83d\\ude00"', "f") == "😀"


def test_a_bad_row_is_reported_like_an_exclusion() -> None:
    bad = BadRow("a.csv:3", reason="no identifier", expected="a value in every row")
    assert (bad.detail, str(bad)) == (
        "(expected a value in every row)",
        "a.csv:3: no identifier (expected a value in every row)",
    )
    of = BadRow.of(InputError("a.csv:4", found="cui 'x'", expected="a CUI"))
    assert (of.where, of.reason, of.detail) == ("a.csv:4", "an unusable value", "cui 'x' (expected a CUI)")
    again = pickle.loads(pickle.dumps(bad))
    assert (again.reason, str(again)) == (bad.reason, str(bad))


def test_more_bad_rows_than_a_percentage_are_listed() -> None:
    check_bad(["a"], 100, "f")
    check_bad(["a"], 1, "f", most=100)
    with pytest.raises(InputError, match=r"2 of 100 rows cannot be read: a; b \(expected at most 1 %\)"):
        check_bad(["a", "b"], 100, "f")
    with pytest.raises(InputError, match="a; a; a; a; a; … "):
        check_bad(["a"] * 9, 9, "f")
    with pytest.raises(InputError):
        check_bad(["a"], 100, "f", most=float("nan"))


def test_content_of_another_shape_is_one_error_and_ours_stay() -> None:
    with (
        pytest.raises(InputError, match=r"f: does not hold what was written \(KeyError"),
        understood("f", expected="a"),
    ):
        {}["a"]
    with pytest.raises(FileNotFoundError), understood("f", expected="a"):
        Path("/nowhere").read_bytes()
    with pytest.raises(InputError, match="own: x"), understood("f", expected="a"):
        check_bad(["a"], 1, "own: x")


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
    pipe(tmp_path / "pipe")
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


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "- " * 300 + "x",
        "a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]",
        "&a [*a]",
        "a: !!python/object/apply:os.getcwd []",
        "a: !!timestamp 2024-99-99",
        "? [x]\n: y",
        "\x07",
    ],
)
def test_what_is_no_plain_yaml(text: str) -> None:
    with pytest.raises(InputError, match="card"):
        parse_yaml(text, "card")


def test_yaml_is_read_as_people_mean_it() -> None:
    """PyYAML reads `no` as false, `010` as 8, `1:30` as 90 and `2020-01-01` as a date."""
    plain = "[yes, No, off, y, 010, 0x10, 1_000, 1:30, 2020-01-01, 1e5, =]"
    assert parse_yaml(plain, "card") == plain.strip("[]").split(", ")
    assert parse_yaml("[true, False, null, ~, 0, -7, +12, 2.5, -.5, 1.0e+3]", "card") == [
        *(True, False, None, None, 0, -7, 12, 2.5, -0.5, 1000.0)
    ]
    assert parse_yaml("{a: , b: '', 1: x, '1': y}", "card") == {"a": None, "b": "", 1: "x", "1": "y"}


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3", "x: {a: 1, a: 1}", "- a: 1\n  'a': 2"])
def test_a_key_that_occurs_twice_is_told(text: str) -> None:
    with pytest.raises(InputError, match=r"'a' stands in line 1 and again in line \d"):
        parse_yaml(text, "study.yaml")
    assert parse_yaml("a: &a {x: 1}\nb: {<<: *a, x: 2}", "study.yaml")["b"] == {"x": 2}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a: 1\n  b: Fears: he has CANARY", "(mapping values are not allowed here, line 2, column 11)"),
        ("a: *CANARY", "(found undefined alias …, line 1, column 4)"),
        ("a: !CANARY x", "a constructor for the tag …, line 1, column 4)"),
        ("a: 'x' CANARY", "(expected <block end>, but found '<scalar>', line 1, column 8)"),
        ("a: [CANARY", "(expected ',' or ']', but got '<stream end>', line 1, column 11)"),
        ("a: !!int CANARY", "(a value that its tag does not allow)"),
        ("a: !!bool CANARY", "(a value that its tag does not allow)"),
        ("a: !!timestamp CANARY", "(a value that its tag does not allow)"),
        ("He has CANARY: 1\nHe has CANARY: 2", "(a key stands in line 1 and again in line 2)"),
    ],
)
def test_an_error_in_yaml_says_where_and_quotes_nothing(text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "ours.yaml")
    found = str(caught.value)
    assert told in found and "CANARY" not in found
    assert found.endswith(". Put quotes around a text with a colon") == (", column " in told)


def test_yaml_may_refer_to_what_refers_no_further() -> None:
    assert parse_yaml("a: &a [x]\nb: *a", "card") == {"a": ["x"], "b": ["x"]}


def test_no_other_module_checks_that_a_path_exists() -> None:
    """`Path.exists` and its like raise what no reader expects; the exceptions look at the project's own files."""
    own = {"loaders/files/disk.py", "loaders/installed.py", "loaders/reached.py", "scripts/conformance.py"}
    found = []
    for package in ("loaders", "builders", "baselines", "scripts"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name in own or name.startswith(("scripts/bench/", "scripts/reproduce/")):
                continue
            for node in ast.walk(ast.parse(path.read_bytes())):
                asks = isinstance(node, ast.Attribute) and node.attr in ("exists", "is_dir", "is_file", "iterdir")
                if asks and name != "loaders/files/untrusted.py":
                    found.append(f"{name}:{node.lineno}")  # type: ignore[attr-defined]
    assert found == [], "use is_there, is_folder, is_file and entries of loaders.files.untrusted"
