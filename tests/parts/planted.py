"""Posts with planted identifiers, and names of medicine that must stay: what is planted, by form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tests.parts.places import ROOT

FOLDER = ROOT / "tests" / "identifiers"
_PLANTED = re.compile("⟦([^⟧]*)⟧")


@dataclass(frozen=True)
class Post:
    """A text with the identifiers in it; `form` is how they are written."""

    form: str
    text: str
    planted: tuple[str, ...]


def posts(path: Path = FOLDER / "planted.txt") -> list[Post]:
    """The posts of a file, in order."""
    found, form = [], ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            form = line.removeprefix("## ")
        elif line and not line.startswith("#"):
            text = line.replace("\\n", "\n")
            found.append(Post(form, _PLANTED.sub(r"\1", text), tuple(_PLANTED.findall(text))))
    return found


def medical() -> list[str]:
    """Names of diseases, drugs, signs and organs, many of them after people."""
    return (FOLDER / "medical.txt").read_text(encoding="utf-8").splitlines()
