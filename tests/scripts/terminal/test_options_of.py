"""A command whose options are the fields of dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Shared:
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Where to write.")]
    seed: Annotated[int, typer.Option(help="Which are drawn.")] = 0
    pause: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Drawing(Shared):
    data: Annotated[str, typer.Argument(metavar="DATA", help="What to draw from.")]
    names: Annotated[tuple[str, ...], typer.Option("--name", metavar="NAME", help="May be repeated.")] = ()
    licences: Annotated[frozenset[str], typer.Option("--licence")] = frozenset({"CC0-1.0"})
    k: Annotated[list[int], typer.Option("--k", min=1)] = field(default_factory=lambda: [1, 5])
    limit: Annotated[int | None, typer.Option(min=1)] = None
    seed: Annotated[int, typer.Option(help="Another seed.")] = 7


@dataclass(frozen=True, kw_only=True)
class Writing:
    overwrite: Annotated[bool, typer.Option("--overwrite")] = False


def called(*words: str) -> tuple[object, str]:
    taken: list[object] = []
    app = typer.Typer()

    @app.command()
    @options_of(Drawing, Writing)
    def command(drawing: Drawing, writing: Writing) -> None:
        """Draw some."""
        taken.extend((drawing, writing))

    result = CliRunner().invoke(app, list(words))
    return (taken if result.exit_code == 0 else result.exit_code), result.output + result.stderr


def test_fields_are_options_of_the_command_line() -> None:
    taken, _ = called(
        "cases", "-o", "there", "--name", "a", "--name", "b", "--licence", "MIT", "--k", "3", "--overwrite"
    )
    assert taken == [
        Drawing(data="cases", out=Path("there"), names=("a", "b"), licences=frozenset({"MIT"}), k=[3]),
        Writing(overwrite=True),
    ]


def test_defaults_are_the_fields_own() -> None:
    taken, _ = called("cases", "--out", "there")
    assert taken == [Drawing(data="cases", out=Path("there")), Writing()]
    assert taken[0].seed == 7 and taken[0].k == [1, 5]


@pytest.mark.parametrize("words", [("-o", "there"), ("cases",), ("cases", "-o", "there", "--limit", "0")])
def test_a_missing_or_wrong_one_is_refused(words: tuple[str, ...]) -> None:
    assert called(*words)[0] == 2


def test_help_shows_names_help_and_metavar_own_fields_first() -> None:
    text = called("--help")[1]
    assert "Draw some." in text and "Another seed." in text and "Which are drawn." not in text
    assert text.index("--name") < text.index("--out") and "DIR" in text and "DATA" in text
    assert "pause" not in text


def test_programs_call_it_with_the_fields_they_want() -> None:
    command = options_of(Drawing)(lambda drawing: drawing)
    assert command(data="cases", out=Path("o"), limit=2).limit == 2
    with pytest.raises(TypeError, match="out"):
        command(data="cases")


def test_two_classes_with_one_field_are_refused() -> None:
    with pytest.raises(ValueError, match="out"):
        options_of(Drawing, Shared)(lambda one, other: None)


def test_a_field_that_nothing_can_fill_is_refused() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Forgotten:
        rows: str

    with pytest.raises(ValueError, match="Forgotten.rows is no option: annotate it"):
        options_of(Forgotten)(lambda forgotten: None)
