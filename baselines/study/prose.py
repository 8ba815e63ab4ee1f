"""The few marks of Markdown that consent and instructions need, as HTML; everything else is text.

Headings (`#`, `##`), lists (`-`), paragraphs, `**strong**`.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_STRONG = re.compile(r"\*\*(.+?)\*\*")


def as_html(text: str) -> Markup:
    """The text as HTML.

    >>> str(as_html("# Hello\\n\\n- a **b**\\n- <i>"))
    '<h2>Hello</h2>\\n<ul><li>a <strong>b</strong></li><li>&lt;i&gt;</li></ul>'
    """
    return Markup("\n").join(_block(block) for block in re.split(r"\n\s*\n", text.strip()) if block.strip())


def _block(block: str) -> Markup:
    lines = [line.strip() for line in block.strip().splitlines()]
    if heading := re.match(r"(#{1,3})\s+(.*)", lines[0]):
        level = min(3, len(heading[1]) + 1)
        rest = "\n".join(lines[1:])
        return Markup("<h{0}>{1}</h{0}>").format(level, heading[2]) + (_block(rest) if rest else Markup())
    if all(line.startswith("- ") for line in lines):
        return Markup("<ul>{}</ul>").format(
            Markup().join(Markup("<li>{}</li>").format(_line(line[2:])) for line in lines)
        )
    return Markup("<p>{}</p>").format(_line(" ".join(lines)))


def _line(text: str) -> Markup:
    return Markup(_STRONG.sub(r"<strong>\1</strong>", str(escape(text))))
