"""The five facets of the four temperaments, which the patient's prompt holds (Appendix H.3).

They come from the corpus, or from a file `temperaments.md` beside the user's prompts: it names each temperament on a
line of its own and, below, each facet after its name, "Symptom description: …", as the paper prints them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from loaders.errors import InputError
from loaders.files.paths import is_file
from loaders.files.texts import read_text
from loaders.threemdbench import PERSONALITIES, TEMPERAMENTS

FILE = "temperaments"
FACETS = tuple(name for name in asdict(TEMPERAMENTS[0]) if name != "name")

_TAG = re.compile(r"</?\w+>")
_HEAD = re.compile(rf"^\W*({'|'.join(PERSONALITIES)})\b[^\n:]*$", re.IGNORECASE | re.MULTILINE)
_FACET = re.compile(rf"({'|'.join(name.replace('_', ' ') for name in FACETS)})\W*:\s*", re.IGNORECASE)


def temperament_texts(folder: Path | None) -> str:
    """The facets of all temperaments, one way to write them. Raises InputError for a file without one of them."""
    path = folder / f"{FILE}.md" if folder else None
    if path is None or not is_file(path):
        return _written({one.name: {name: getattr(one, name) for name in FACETS} for one in TEMPERAMENTS})
    found = _read(read_text(path, most=1 << 20, expected="the facets of the four temperaments"))
    for name in PERSONALITIES:
        if missing := [facet for facet in FACETS if not found.get(name, {}).get(facet)]:
            what = f"{name}: no {missing[0].replace('_', ' ')}"
            raise InputError(path, found=what, expected="each temperament with its five facets, each behind its name")
    return _written(found)


def facets_of(texts: str, temperament: str) -> dict[str, str]:
    """What the patient's prompt says about a temperament: its name, its facets, and all facets as lines."""
    facets = _read(texts)[temperament]
    return {"temperament": temperament, **facets, "facets": "\n".join(f"- {text}" for text in facets.values())}


def _written(facets: Mapping[str, Mapping[str, str]]) -> str:
    return "\n\n".join(
        "\n".join([name, *(f"{facet.replace('_', ' ').capitalize()}: {facets[name][facet]}" for facet in FACETS)])
        for name in PERSONALITIES
    )


@lru_cache(maxsize=8)  # every patient asks for its own, of the same text
def _read(text: str) -> Mapping[str, Mapping[str, str]]:
    """Temperament -> facet -> its text, for those that are present."""
    found: dict[str, dict[str, str]] = {}
    heads = list(_HEAD.finditer(text := _TAG.sub("\n", text)))
    for head, behind in zip(heads, [*heads[1:], None], strict=True):
        part = text[head.end() : behind.start() if behind else len(text)]
        places = list(_FACET.finditer(part))
        ends = [*(place.start() for place in places[1:]), len(part)]
        found[head[1].casefold()] = {
            place[1].casefold().replace(" ", "_"): " ".join(part[place.end() : end].split())
            for place, end in zip(places, ends, strict=True)
        }
    return found
