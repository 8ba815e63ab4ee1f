"""What README and CONTRIBUTING link to is there; the links of `docs/` are Sphinx's to check. Examples and tables of
fields agree with the code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path

import pytest

from baselines.study.design import Design, Limits, Pay, Prolific
from scripts.cli import find
from scripts.commands import COMMANDS, Command, Group
from tests.parts.places import ROOT


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_to_files_and_headings(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)(?:#([^)]+))?\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links and not [path for path, _ in links if not (ROOT / path).is_file()]
    for path, heading in links:
        heads = re.findall(r"^#+ (.+)$", (ROOT / path).read_text(encoding="utf-8"), re.M) if heading else []
        assert not heading or heading in [re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads]


def _examples(page: Path) -> list[list[str]]:
    """The commands of `bedside` in the code blocks of a page, each as its words."""
    blocks = re.findall(r"^```(?:sh|\{code-cell\}[^\n]*\n%%bash -e)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    lines = (line for block in blocks for line in block.replace("\\\n", " ").splitlines())
    parts = (part.strip() for line in lines for part in re.split(r" (?:&&|\|\|?) ", line))
    return [shlex.split(part, comments=True)[1:] for part in parts if part.startswith("bedside ")]


def _names(commands: Mapping[str, Command | Group], before: str = "") -> Iterator[str]:
    for name, one in commands.items():
        yield from _names(one.commands, f"{before}{name} ") if isinstance(one, Group) else [before + name]


def test_the_page_of_commands_has_an_example_of_every_command() -> None:
    shown = [" ".join(words) + " " for words in _examples(ROOT / "docs/commands.md")]
    assert not [name for name in _names(COMMANDS) if not any(line.startswith(f"{name} ") for line in shown)]


# What is built of them is not there for each of several workers that collect while it is built.
PAGES = [page for page in sorted(ROOT.glob("docs/**/*.md")) if "_build" not in page.parts]


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.stem)
def test_the_options_of_examples_are_those_of_their_command(page: Path) -> None:
    for words in _examples(page):
        passed_on = {"plan": words[1:], "rebuild": ["build", "medlaybench-v"]}.get(words[0])
        commands = [find(one) for one in (words, passed_on) if one]
        options = (option for command, _ in commands for option in command.params)
        known = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        given = {word.partition("=")[0] for word in commands[0][1] if re.match(r"--?[a-z]", word)}
        assert given <= known | {"--json", "--quiet"}, words


def _defaults(kind: type, before: str = "") -> Iterator[tuple[str, str]]:
    """The fields of a design as the page of studies states them."""
    words = {"survey": "two questions", "comprehension": "two questions", "debriefing": "a text"}
    for field in fields(kind):
        inner = {"pay": Pay, "limits": Limits, "prolific": Prolific}.get(field.name)
        if inner is not None:
            yield from _defaults(inner, f"{field.name}.")
        elif field.default is MISSING:
            yield before + field.name, "none" if kind is Prolific else "needed"
        else:
            default = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
            yield before + field.name, words.get(field.name, "none" if field.default is None else default)


def test_the_fields_of_a_study_stand_on_its_page_with_their_defaults() -> None:
    table = (ROOT / "docs/people.md").read_text("utf-8").partition("| field | default |")[2].partition("\n\n")[0]
    stated = []
    for names, default in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", table, re.M):
        each = re.findall(r"`([^`]+)`", names)
        defaults = default.split(", ") if ", " in default else [default] * len(each)
        stated += zip(each, defaults, strict=True)
    assert stated == list(_defaults(Design))
