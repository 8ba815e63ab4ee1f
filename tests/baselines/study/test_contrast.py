"""Contrast of every text on every ground of the pages, from the style itself: axe does not judge shaded panels."""

from __future__ import annotations

import re
from itertools import product

import pytest

from baselines.study.views import PAGES
from loaders.pages import part
from tests.parts.contrast import contrast

STYLE = re.sub(r"@media print.*", "", str(part(f"{PAGES}/study.css")), flags=re.DOTALL)
# Ground -> the colours of text that stand on it. A shaded panel lies on `card`, and its edge is a fading `line`.
TEXTS = {
    "paper": ("ink", "soft", "accent", "warn", "bad"),
    "card": ("ink", "soft", "accent", "warn", "bad"),
    "tint": ("ink", "soft", "accent"),
    "own": ("ink", "soft"),
    "other": ("ink", "soft"),
    "warn-tint": ("ink", "warn"),
    "bad-tint": ("ink", "bad"),
    "line": ("ink", "soft"),
    "accent": ("on-accent",),
}


def colours(scheme: str) -> dict[str, str]:
    """The custom properties of a scheme: those of dark lie over those of light."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", one)) for one in re.findall(r":root \{(.*?)\}", STYLE, re.S)
    )
    return light if scheme == "light" else light | dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_every_ground(scheme: str) -> None:
    named = colours(scheme)
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    faint = {
        f"{text} on {ground}": round(contrast(named[text], named[ground]), 2)
        for ground, texts in TEXTS.items()
        for text in texts
        if contrast(named[text], named[ground]) < 4.5
    }
    assert faint == {}
    # Borders of fields and buttons, and the focus (1.4.11).
    for line, ground in product(("edge", "accent", "bad"), ("paper", "card")):
        assert contrast(named[line], named[ground]) >= 3, (line, ground)


def test_no_ground_and_no_colour_is_forgotten() -> None:
    grounds = {
        name
        for told in re.findall(r"background(?:-color)?:([^;}]*)", STYLE)
        for name in re.findall(r"--([\w-]+)", told)
    }
    colours_of_text = set(re.findall(r"[{;]\s*color: var\(--([\w-]+)\)", STYLE))
    assert grounds == set(TEXTS)
    assert colours_of_text == {text for texts in TEXTS.values() for text in texts}
