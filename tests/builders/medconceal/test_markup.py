"""What a thread's markup hides from the rules that find identifiers, and not from readers."""

from __future__ import annotations

import pytest

from builders.curation.privacy import scrub
from builders.medconceal.markup import as_shown
from builders.medconceal.steps import SOURCE, clean


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("R&amp;D, T &lt; 5", "R&D, T < 5"),
        ("&amp;#x200B;", "\u200b"),
        ("AT&T &nothing; &copy", "AT&T &nothing; &copy"),
        ("* a list\n* 2 * 3 * 4", "* a list\n* 2 * 3 * 4"),
        (r"5\*3\*2 and **this**, *that*, ~~not~~", "5*3*2 and this, that, not"),
        ("quiet_harbour_81", "quiet_harbour_81"),
        (r"C:\Users\me", r"C:\Users\me"),
    ],
)
def test_a_text_is_read_as_it_is_shown(stored: str, shown: str) -> None:
    assert as_shown(stored) == shown


PARTS = ("doe", "john", "quiet", "harbour", "7946", "Wakefield", "1987", "Brien")


@pytest.mark.parametrize(
    "planted",
    [
        *(r"john\_doe@example.com", r"u\/quiet\_harbour\_81", r"quiet\_harbour\_81", r"my insta is @jane\_doe99"),
        *(r"call 020\-7946\-0958", "call 020&amp;#x200B;-7946-0958", "jane\u00addoe@example.com"),
        *("I live in **Wakefield**", "born 03&#47;04&#47;1987", "Dr. O&#39;Brien"),
    ],
)
def test_markup_hides_no_identifier(planted: str) -> None:
    said = {"title": planted, "text": planted, "turns": [{"role": "patient", "text": planted}]}
    row = {**dict.fromkeys(SOURCE.names), **said, "names": ["quiet_harbour_81"]}
    (found,) = clean({}).stage(SOURCE).function([row])
    assert isinstance(found, dict)
    for text in (found["title"], found["text"], found["turns"][0]["text"]):
        assert not any(part in text for part in PARTS)
    assert found["raw"] == [as_shown(planted)] * 3
    assert scrub(found["text"]).counts == {}
