"""Help in a narrow terminal, broken only between words.

Typer breaks words at their hyphens and, in a narrow column, in the middle: `runs/gpt-4o` became two names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer
from rich.cells import cell_len

from scripts.terminal.tables import wrapped

GAP = 2
LEAST = 8  # cells for the names of options, however long the words of their explanations are

_Formatter: Any = typer.Context.formatter_class


class Words(_Formatter):  # type: ignore[misc]  # typer may bring a click of its own, so the class has no type here
    """Writes help as typer does, without breaking words."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """The usage line."""
        start = "Usage: " if prefix is None else prefix
        self._write(wrapped(f"{start}{prog} {args}", self.width, " " * len(start)))

    def write_text(self, text: str) -> None:
        """Paragraphs, each with the indentation of its first line."""
        indent = " " * self.current_indent
        for at, paragraph in enumerate(text.strip("\n").split("\n\n")):
            own = indent + paragraph[: len(paragraph) - len(paragraph.lstrip(" "))]
            self._write([""] * (at > 0) + wrapped(own + " ".join(paragraph.split()), self.width, own))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = GAP) -> None:
        """Names and their meanings: the names get less room if a word in the meanings needs it."""
        rows = list(rows)
        indent = " " * self.current_indent
        names = min(max(cell_len(name) for name, _ in rows), col_max)
        longest = max((cell_len(word) for _, text in rows for word in text.split()), default=0)
        names = max(min(names, self.width - len(indent) - col_spacing - longest), LEAST)
        further = indent + " " * (names + col_spacing)
        for name, text in rows:
            meaning = wrapped(further + " ".join(text.split()), self.width, further) if text else []
            if cell_len(name) <= names and meaning:
                meaning[0] = indent + name + meaning[0][len(indent) + cell_len(name) :]
            else:
                meaning = [*_choices(indent + name, self.width, indent + "    "), *meaning]
            self._write(meaning)

    def _write(self, lines: Iterable[str]) -> None:
        self.write("".join(f"{line.rstrip()}\n" for line in lines))


def _choices(name: str, room: int, indent: str) -> list[str]:
    """An option in lines, broken between its choices only if it is longer than a line."""
    if cell_len(name) <= room:
        return [name]
    return [line.replace("| ", "|") for line in wrapped(name.replace("|", "| "), room, indent)]


def in_whole_words(command: Any) -> Any:
    """The command, with help by `Words`."""
    command.context_class = type("Context", (command.context_class,), {"formatter_class": Words})
    return command
