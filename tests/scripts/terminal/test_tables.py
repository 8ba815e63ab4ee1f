"""Tables in terminals of any width: every word and number whole, in lines that fit; one document for programs."""

from __future__ import annotations

import json
import os
import pty
import re
import select
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from scripts.cli import execute
from scripts.terminal.console import Terminal, output
from scripts.terminal.saying import saying
from scripts.terminal.tables import Number, Table, wrapped

WORDS = st.one_of(
    st.sampled_from(["280.0", "1,234,567", "-3.1", "random:tiny/patch16", "scripted/keyword-cues", "±", "7", "é語"]),
    st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=24),
)
TEXTS = st.lists(WORDS, max_size=9).map(" ".join)
NUMBERS = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6).map(lambda value: Number(value, f"{value:,.2f}")),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(lambda both: f"{both[0]:.3f} to {both[1]:.3f}"),
    st.none(),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    heads = draw(st.lists(TEXTS.filter(bool), min_size=1, max_size=9, unique=True))
    right = tuple(head for head in heads if draw(st.booleans()))
    made = Table(draw(TEXTS), tuple(heads), right)
    for _ in range(draw(st.integers(0, 8))):
        if draw(st.integers(0, 9)) == 0:
            made.add_section(draw(TEXTS))
        made.add_row(*(draw(NUMBERS if head in right else TEXTS) for head in heads))
    return made


def words(texts: Iterator[str]) -> Counter[str]:
    return Counter(word for text in texts for word in text.split())


@settings(max_examples=40)
@given(tables(), st.one_of(st.sampled_from([60, 80, 120, 200, None]), st.integers(12, 250)))
def test_no_width_splits_a_word_or_a_number(shown: Table, room: int | None) -> None:
    lines = [line.text for line in shown.lines(room)]
    printed = words(iter(lines))
    for row in shown.rows:
        assert set(words(iter(row.texts))) <= set(printed)
    if room is None:
        assert printed >= words(text for row in shown.rows for text in row.texts)
        assert len(lines) <= 2 + len(shown.rows)  # a row is a line
    else:
        for line in lines:
            assert cell_len(line) <= room or len(line.split()) == 1, line


@given(TEXTS, st.integers(1, 200))
def test_a_sentence_is_broken_between_words(text: str, room: int) -> None:
    lines = wrapped(text, room)
    assert " ".join(lines).split() == text.split()
    assert all(cell_len(line) <= room or len(line.split()) == 1 for line in lines)


def shown_at(table: Table, room: int | None) -> list[str]:
    return [line.text for line in table.lines(room)]


def people(count: int) -> Table:
    made = Table("Models", ("model", "corpus", "accuracy", "interval", "notes"), ("accuracy", "interval"))
    for number in range(count):
        made.add_row(f"org/model-{number}", "sample", Number(0.5, "0.50"), "0.43 to 0.57", "")
    return made


@pytest.mark.parametrize("length", [57, 58, 59, 60])
@pytest.mark.parametrize("before", ["v1.0.0 ->\n  ", "v1.0.0 -> ", "  "])
def test_an_address_that_fits_is_not_broken_by_its_indent(before: str, length: int) -> None:
    address = "http://".ljust(length, "x")
    lines = wrapped(before + address, 60, "  ")
    assert max(map(len, lines)) <= 60 and lines[-1].strip() == address
    assert lines[-1].startswith("  ") == (length <= 58)


def test_each_width_has_its_layout() -> None:
    table = people(3)
    assert shown_at(table, 80)[1:3] == [
        "model        corpus  accuracy      interval",
        "org/model-0  sample      0.50  0.43 to 0.57",
    ]  # and the column of notes, which is empty, is gone
    assert shown_at(table, 40)[:3] == [  # what all say is said once; a result never is
        "Models",
        "corpus  sample",
        "model        accuracy      interval",
    ]
    assert shown_at(people(2), 38)[1:3] == [  # a row becomes a column
        "model     org/model-0   org/model-1",
        "corpus    sample        sample",
    ]
    assert shown_at(people(2), 22)[1:6] == [  # or a block
        "org/model-0",
        "  corpus  sample",
        "  accuracy  0.50",
        "  interval",
        "    0.43 to 0.57",
    ]
    assert shown_at(Table("none", ("a", "b")), 80) == ["none", "a  b"]


def test_control_characters_of_a_name_move_no_cursor() -> None:
    table = Table("", ("file",))
    table.add_row("a\x1b[2Jb\rc")
    assert "\x1b" not in "".join(shown_at(table, 80)) and "\\x1b" in "".join(shown_at(table, 80))


def on_a_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, *printed: Any) -> str:
    """What a console prints on a terminal of this width."""
    master, slave = pty.openpty()
    monkeypatch.setenv("COLUMNS", str(columns))
    with os.fdopen(slave, "w") as file:
        monkeypatch.setattr("sys.stdout", file)
        console = Terminal()
        for each in printed:
            console.print(each, style="red")
    said = b""
    while select.select([master], [], [], 0.2)[0]:
        try:
            said += os.read(master, 65536)
        except OSError:
            break
    os.close(master)
    return said.decode()


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_a_terminal_gets_whole_words_and_no_color_no_colours(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    path = "/a/folder/" + "with-a-long-name/" * 12 + "results.csv"
    said = on_a_terminal(monkeypatch, columns, f"written to {path}", people(3))
    assert path in said and "0.43 to 0.57" in said and "\x1b[31m" in said
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in on_a_terminal(monkeypatch, columns, "words")


def test_a_pipe_has_no_width_unless_it_is_given_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = "word " * 60 + "end"
    Terminal().print(text)
    assert capsys.readouterr().out == text + "\n"
    monkeypatch.setenv("COLUMNS", "40")
    Terminal().print(text)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 40


def test_json_is_one_document_and_sentences_go_elsewhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["info", "medconceal", "--json"]) == 0
    said = capsys.readouterr()
    (table,) = json.loads(said.out)["tables"]
    assert table["title"] == "medconceal" and {"column", "type"} == set(table["rows"][0])
    assert "authors' release" in said.err


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["info", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not output.quiet
    assert execute(["info", "--quiet", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["tables"] and said.err == ""


def test_a_check_that_found_something_still_prints_its_document(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> None:
        table = Table("Found", ("section", "n"))
        table.add_row("a", 3)
        output.print(table)
        raise typer.Exit(1)

    with pytest.raises(typer.Exit):
        saying(command)(in_json=True)
    assert json.loads(capsys.readouterr().out) == {"tables": [{"title": "Found", "rows": [{"section": "a", "n": 3}]}]}


def test_what_is_printed_apart_is_in_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "document", {})
    with output.apart():
        output.print(people(2))
    output.print(people(3))
    assert output.document is not None and [len(table["rows"]) for table in output.document["tables"]] == [3]


def test_an_option_of_a_commands_own_stays_its_own() -> None:
    def command(quiet: bool = False, as_json: bool = typer.Option(False, "--json")) -> tuple[bool, bool]:
        return quiet, as_json

    told = saying(command)
    assert told(quiet=True, as_json=False) == (True, False)
    assert "quietly" not in told.__annotations__ and "in_json" not in told.__annotations__


def test_completion_knows_commands_and_their_options(monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    monkeypatch.setenv("_BEDSIDE_COMPLETE", "complete_bash")
    for line, expected in (("bedside run la", "language"), ("bedside run language --qu", "--quiet")):
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
        with pytest.raises(SystemExit):
            execute([])
        assert re.fullmatch(rf"{expected}\s*", capfd.readouterr().out)
