"""What people read is what its author wrote."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastapi")

from baselines.study.prose import as_html


def plain(text: str) -> str:
    return re.sub(r"\s*\n\s*", "", str(as_html(text)))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("You may:\n- stop\n- ask", "<p>You may:</p><ul><li>stop</li><li>ask</li></ul>"),
        ("1. one\r\n2. two", "<ol><li>one</li><li>two</li></ol>"),
        ("* *one*\n* _two_", "<ul><li><em>one</em></li><li><em>two</em></li></ul>"),
        ("#### Four", "<h5>Four</h5>"),
        ("[ours](https://example.org/p)", '<p><a href="https://example.org/p">ours</a></p>'),
    ],
    ids=["list after a line", "numbers", "stars", "heading", "link"],
)
def test_markdown_is_read_as_elsewhere(text: str, html: str) -> None:
    assert plain(text) == html


def test_an_item_may_run_over_lines() -> None:
    assert str(as_html("- one that\n  goes on\n- two")) == "<ul>\n<li>one that\ngoes on</li>\n<li>two</li>\n</ul>\n"


@pytest.mark.parametrize("text", ["<script>x</script>", "![x](https://e.org/x.png)", "[x](javascript:alert(1))"])
def test_a_text_loads_and_runs_nothing(text: str) -> None:
    assert not re.search("<script|<img|<a[^>]+javascript", str(as_html(text)))
