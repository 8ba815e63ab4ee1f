"""What readers of a post see: without the marks of Markdown and HTML with which it is stored.

A dump holds Markdown with its `&`, `<` and `>` escaped, and the editor of the site puts a backslash before characters
that Markdown might read. In `john\\_doe@example.com` or `&amp;#x200B;` no rule would know what a reader does.
"""

from __future__ import annotations

import re
from html import unescape
from html.entities import html5

# Only whole ones: `unescape` alone would also read "&not" in "&nothing".
_ENTITY = re.compile(r"&(?:(#\d{1,7}|#[xX][0-9a-fA-F]{1,6});|([A-Za-z][A-Za-z0-9]{1,31};))")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
# A list begins with a star too, but a blank follows it. Underscores stand in user names, and are left.
_EMPHASIS = re.compile(r"(?<![\w*~\\])(\*{1,3}|~~)(?=[^\s*~])([^*~\n]{1,2000}?)(?<=[^\s*~\\])\1(?![\w*~])")


def as_shown(text: str) -> str:
    """The text without escapes, entities and emphasis.

    >>> as_shown(r"Mail **john\\_doe**@example.com, I live in *Wakefield*. 2 * 3 * 4 &lt;5 &amp;amp; R&D")
    'Mail john_doe@example.com, I live in Wakefield. 2 * 3 * 4 <5 & R&D'
    """
    text = _EMPHASIS.sub(r"\2", _entities(text))  # the first time as the dump escapes them
    return _entities(_ESCAPED.sub(r"\1", text))  # then those that are written in Markdown


def _entities(text: str) -> str:
    return _ENTITY.sub(lambda match: unescape(match[0]) if match[1] else html5.get(match[2], match[0]), text)
