"""Posts with planted identifiers, texts that only look like it, and names of medicine that must stay.

`planted.txt` and `kinds.txt` hold posts, `lookalikes.txt` texts; a file with "third" in its name was drawn at random
from what was written together with the other, and looked at only after the rules were mended.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from builders.curation.privacy import in_plain_letters
from tests.parts.places import ROOT

FOLDER = ROOT / "tests" / "identifiers"
_PLANTED = re.compile("⟦([^⟧]*)⟧")


@dataclass(frozen=True)
class Post:
    """A text with the identifiers in it; `form` is how they are written."""

    form: str
    text: str
    planted: tuple[str, ...]

    def left(self, scrubbed: str) -> list[str]:
        """What is planted and still there, in these letters or in plain ones."""
        return [one for one in self.planted if one in scrubbed or in_plain_letters(one) in scrubbed]

    def lost(self, scrubbed: str) -> list[str]:
        """What is not planted and no longer there."""
        pieces = re.split("|".join(map(re.escape, self.planted)), self.text) if self.planted else [self.text]
        return [piece for piece in pieces if piece not in scrubbed]


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
