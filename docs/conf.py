"""How Sphinx builds these pages: `./scripts/docs`. Every warning is an error, and nothing is fetched."""

from __future__ import annotations

import os
import re
import sys
from html import escape
from itertools import takewhile
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from markupsafe import escape as marked
from sphinx.util.docutils import SphinxDirective

from builders.recipe import recipe_of
from builders.release.cards import SOFTWARE, markdown_table
from builders.release.preview import entries
from loaders import __version__
from loaders.medlaybench_v import PAIR_COLUMNS
from loaders.threemdbench import DIAGNOSES
from scripts.commands import COMMANDS, Group

HERE = Path(__file__).parent
ROOT = HERE.parent
WORK = HERE / "_build" / "run"  # where the notebooks run; `./scripts/docs` builds the sample releases into it

# What the notebooks' kernels inherit: this environment's commands, a terminal of 84 columns, no bars, one thread.
os.environ |= {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "PYTHONPATH": str(ROOT),
    "COLUMNS": "84",
    "NO_COLOR": "1",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "OMP_NUM_THREADS": "1",
    "JUPYTER_PLATFORM_DIRS": "1",
}

project = "Bedside"
author = copyright = "The Bedside authors"
version = release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
nitpicky = True
# Types of other packages, whose pages are on the network, and those of ours that no page shows.
nitpick_ignore_regex = [("py:.*", ".*")]
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = f"Bedside {__version__}"
html_static_path = ["_static"]
html_css_files = ["bedside.css"]
html_copy_source = html_show_sphinx = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True

default_role = "code"  # docstrings write `names` as Markdown does
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_google_docstring = True

_INDENTED = re.compile(r"^ {4}\S")


def _as_rst(app: Any, what: str, name: str, of: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text: an indented block is an example, and a star or a trailing underscore is itself."""
    told: list[str] = []
    example = False
    for line in lines:
        if not line.strip():
            told.append(line)
            continue
        indented = bool(_INDENTED.match(line)) or (example and line.startswith("    "))
        if indented and not example and told and not told[-1].strip() and told[-2:-1] != ["Raises:"]:
            told += ["::", ""]
            example = True
        elif not indented:
            example = False
        told.append(line if example else re.sub(r"(\*|\||_(?=\W|$))(?![^`]*`[^`]*$)", r"\\\1", line))
    lines[:] = told


def _skipped(app: Any, what: str, name: str, of: Any, skip: bool, options: Any) -> bool | None:
    return True if name == "model_config" else None  # pydantic's


class Rows(SphinxDirective):
    """Rows of a sample release, as `bedside preview` shows them: what is hidden is not among it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        (name,) = self.arguments
        recipe = recipe_of(name)
        shown = entries(WORK / "releases" / name, recipe.preview, corpus=recipe.corpus, rows=6)
        return [nodes.raw("", "".join(map(_entry, shown)), format="html")]


def _entry(entry: Any) -> str:
    picture = f'<img src="{escape(entry.picture)}" alt="{escape(entry.alt)}" loading="lazy">' if entry.picture else ""
    fields = "".join(f"<dt>{escape(one.name)}</dt><dd>{_text(one.text)}</dd>" for one in entry.fields if one.text)
    small = " · ".join(filter(None, (entry.status, *entry.small)))
    return f'<article class="row">{picture}<div><dl>{fields}</dl><p class="small">{escape(small)}</p></div></article>'


def _text(text: Any) -> str:
    if isinstance(text, str):
        return str(marked(text))
    return f"<ul>{''.join(f'<li>{marked(one)}</li>' for one in text)}</ul>"


class Commands(SphinxDirective):
    """Every command with its line of help, from the table that makes them."""

    def run(self) -> list[nodes.Node]:
        lines = [f"<dt><code>bedside {name}</code></dt><dd>{escape(line)}</dd>" for name, line in _lines(COMMANDS)]
        return [nodes.raw("", f'<dl class="commands">{"".join(lines)}</dl>', format="html")]


def _lines(commands: Any, before: str = "") -> Any:
    for name, one in commands.items():
        yield before + name, one.help
        if isinstance(one, Group):
            yield from _lines(one.commands, f"{before}{name} ")


class Columns(SphinxDirective):
    """The table of a corpus's columns, as its card has it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        lines = (ROOT / "dataset_cards" / f"{self.arguments[0]}.md").read_text(encoding="utf-8").splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith("| column |"))
        return self.parse_text_to_nodes("\n".join(takewhile(bool, lines[first:])))


class SourceColumns(SphinxDirective):
    """The columns that a table of one's own may have, from the names that its reader knows; or one of `pairs`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        known = PAIR_COLUMNS if name == "pairs" else recipe_of(name).source_columns
        lines = ([", ".join(f"`{name}`" for name in names), what] for names, what in known)
        return self.parse_text_to_nodes(markdown_table(["column, or", "what it holds"], lines))


class Diagnoses(SphinxDirective):
    """The diagnoses of 3MDBench, with the synonyms that a label may be instead."""

    def run(self) -> list[nodes.Node]:
        lines = ([one.name, one.domain, ", ".join(one.synonyms)] for one in DIAGNOSES)
        return self.parse_text_to_nodes(markdown_table(["diagnosis", "domain", "synonyms"], lines))


class Bibtex(SphinxDirective):
    """The BibTeX of a corpus's paper, as its card has it; or of this software."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        if self.arguments[0] == "software":
            return [nodes.literal_block("", SOFTWARE, language="bibtex")]
        card = (ROOT / "dataset_cards" / f"{self.arguments[0]}.md").read_text(encoding="utf-8")
        return [nodes.literal_block("", yaml.safe_load(card.split("---\n")[1])["bibtex"], language="bibtex")]


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _as_rst)
    app.connect("autodoc-skip-member", _skipped)
    for directive in (Bibtex, Columns, Commands, Diagnoses, Rows, SourceColumns):
        app.add_directive(directive.__name__.lower(), directive)
