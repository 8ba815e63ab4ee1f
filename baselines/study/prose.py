"""Consent, instructions and debriefing as HTML: CommonMark, in which HTML is text, and without pictures."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markupsafe import Markup

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")  # one from elsewhere would say who reads


def as_html(text: str) -> Markup:
    """The text as HTML. Its headings stand below the one of the page.

    >>> str(as_html("# Hello\\n\\n**b** <i>"))
    '<h2>Hello</h2>\\n<p><strong>b</strong> &lt;i&gt;</p>\\n'
    """
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
