"""Rows that a reader of the page can explore: dialogues, captions. What differs by corpus is data here, never code.

A page carries all rows of a section packed, gzip in base64: an index with what the list and the facets need, and the
rows in pieces. Its script (`report.js`) unpacks them and draws those in view. Some, drawn by seed, are also on the page
in plain HTML (`fixed`), for readers without scripts and for print.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote

from baselines.dialogue.hidden import Secrets
from loaders.pages import cut

FIXED = 20
"""Number of rows of a section that are on the page without scripts."""
MOST = 20_000
"""Maximum rows of a section in a page; if there are more, this many are drawn by seed."""
ROOM = 12 << 20
"""Characters of the pictures of a section: a page opens at once with them, and has room for some hundred."""
_PIECE = 250  # rows that are unpacked together
_PICTURES = 25  # pictures that are unpacked together, once one of them is wanted


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance; `tone` is the side (expert, lay), `folded` what the other side did not hear."""

    who: str
    text: str
    tone: str = "lay"
    notes: Sequence[str] = ()
    folded: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A heading and what stands below it; `marks` are places in a text, numbered from 1."""

    name: str
    text: str | Sequence[str]
    tone: str = "data"
    marks: Sequence[tuple[int, int]] = ()

    @property
    def parts(self) -> list[tuple[str, int]]:
        """The text in pieces, each with its number, 0 for what is not marked."""
        text = self.text if isinstance(self.text, str) else "; ".join(self.text)
        pieces, at = [], 0
        for number, (start, end) in enumerate(self.marks, start=1):
            pieces += [(text[at:start], 0), (text[start:end], number)]
            at = end
        return [*pieces, (text[at:], 0)]


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a page: a case, called alike in every run, and the number of its run, 0 for a row of a release.

    `good` says whether it reached its goal, None if that cannot be said. `hidden` is folded away. `drawing` is an SVG
    of ours, `drawn` what it shows; `picture` a data URL.
    """

    case: str
    title: str
    run: int = 0
    epoch: int = 1
    good: bool | None = None
    note: str = ""
    problem: str = ""
    facets: Mapping[str, Sequence[str]] = field(default_factory=dict)
    told: Sequence[Told] = ()
    said: Sequence[Said] = ()
    hidden: Told | None = None
    drawing: str = ""
    drawn: str = ""
    picture: str = ""
    alt: str = ""

    @property
    def address(self) -> str:
        """Its part of a link: run, case, and the repetition if it is not the first."""
        return "/".join([str(self.run), quote(self.case, safe=""), *([str(self.epoch)] if self.epoch > 1 else [])])

    def without(self, secrets: Secrets) -> Row:
        """The row with everything that repeats hidden texts removed from all its texts, whoever said them."""
        clean = secrets.without
        return replace(
            self,
            **{name: clean(getattr(self, name)) for name in ("title", "note", "problem", "alt", "drawn")},
            facets={name: clean(list(values)) for name, values in self.facets.items()},
            told=[replace(one, name=clean(one.name), text=_clean(one.text, secrets), marks=()) for one in self.told],
            said=[
                Said(clean(one.who), clean(one.text), one.tone, clean(list(one.notes)), clean(one.folded))
                for one in self.said
            ],
            hidden=self.hidden and replace(self.hidden, text=_clean(self.hidden.text, secrets)),
        )


def _clean(text: str | Sequence[str], secrets: Secrets) -> str | Sequence[str]:
    cleaned: str | Sequence[str] = secrets.without(text if isinstance(text, str) else list(text))
    return cleaned


@dataclass(frozen=True, slots=True)
class Explored:
    """The rows of a section, out of `total`, with the facets that may be chosen.

    `marks` say in words what a good row is and what other rows are; `runs` the name of each run; `fixed` are the rows
    that are on the page without scripts.
    """

    anchor: str
    rows: Sequence[Row]
    facets: Sequence[str]
    marks: tuple[str, str]
    runs: Mapping[int, str]
    total: int
    fixed: Sequence[Row]

    @classmethod
    def of(
        cls,
        anchor: str,
        rows: Sequence[Row],
        facets: Sequence[str],
        *,
        marks: tuple[str, str] = ("right", "wrong"),
        runs: Mapping[int, str] | None = None,
        fixed: int = FIXED,
    ) -> Explored:
        """As many of the rows as a page holds, in order, and `fixed` of them, both drawn by seed."""
        places = sorted(random.Random(0).sample(range(len(rows)), min(MOST, len(rows))))
        kept = [rows[place] for place in places]
        return cls(anchor, kept, facets, marks, runs or {}, len(rows), _drawn(kept, fixed))

    def pictured(self, pictures: Iterable[tuple[str, Callable[[], str]]]) -> Explored:
        """The same with pictures, each a case and what makes its data URL: those of the fixed rows, and of the others
        as many as there is room for."""
        room, made = ROOM, dict[str, str]()
        fixed, kept = ({row.case for row in rows} for rows in (self.fixed, self.rows))
        for case, picture in pictures:
            if case not in made and (case in fixed or (case in kept and room > 0)):
                made[case] = picture()
                room -= len(made[case])
        of = [[replace(row, picture=made.get(row.case, "")) for row in rows] for rows in (self.rows, self.fixed)]
        return replace(self, rows=of[0], fixed=of[1])

    def without(self, secrets: Secrets) -> Explored:
        """The same with everything hidden removed from all its texts."""
        rows, fixed = ([row.without(secrets) for row in some] for some in (self.rows, self.fixed))
        return replace(self, rows=rows, fixed=fixed)

    @property
    def packed(self) -> Iterator[tuple[str, str]]:
        """Name and content of every piece: the index, then the rows."""
        yield "index", _packed(json.dumps(self._index(), ensure_ascii=False, separators=(",", ":")))
        pictures = list(dict.fromkeys(row.picture for row in self.rows if row.picture))  # once per case, not per run
        places = {picture: str(at) for at, picture in enumerate(pictures)}
        for start in range(0, len(self.rows), _PIECE):
            lines = (_line(row, places.get(row.picture, "")) for row in self.rows[start : start + _PIECE])
            yield "rows", _packed("\n".join(lines))
        for start in range(0, len(pictures), _PICTURES):
            yield "pictures", _packed("\n".join(pictures[start : start + _PICTURES]))

    def _index(self) -> dict[str, Any]:
        values: dict[str, dict[str, int]] = {name: {} for name in self.facets}
        rows = []
        for row in self.rows:
            codes = [
                [values[name].setdefault(value, len(values[name])) for value in row.facets.get(name, ())]
                for name in self.facets
            ]
            good = -1 if row.good is None else int(row.good)
            rows.append([row.address, row.case, row.run, good, row.title, row.note, row.problem, codes])
        return {
            "anchor": self.anchor,
            "marks": self.marks,
            "total": self.total,
            "runs": {str(number): name for number, name in self.runs.items()},
            "pictures": _PICTURES,
            "facets": [{"name": name, "values": list(values[name])} for name in self.facets],
            "rows": rows,
        }


def _drawn(rows: Sequence[Row], count: int) -> list[Row]:
    """`count` rows drawn by seed, up to half of them with a problem; those first."""
    draw = random.Random(0)
    first, others = ([row for row in rows if bool(row.problem) == problem] for problem in (True, False))
    taken = min(len(first), max(count // 2, count - len(others)))
    parts = ((first, taken), (others, min(len(others), count - taken)))
    return [some[place] for some, n in parts for place in sorted(draw.sample(range(len(some)), n))]


def _line(row: Row, picture: str) -> str:
    """A row as a line of JSON, without what the index has. The drawing and the number of the picture come after it."""
    said = [[one.who, cut(one.text), one.tone, list(one.notes), cut(one.folded)] for one in row.said]
    told = [
        [one.name, _told(one), one.tone, list(one.marks)] for one in (*row.told, *([row.hidden] if row.hidden else []))
    ]
    content = [said, told, bool(row.hidden), row.drawn, row.alt]
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + f"\x1f{row.drawing}\x1f{picture}"


def _told(told: Told) -> str | list[str]:
    return cut(told.text) if isinstance(told.text, str) else [cut(line) for line in told.text]


def _packed(text: str) -> str:
    data = gzip.compress(text.encode("utf-8", "backslashreplace"), compresslevel=9, mtime=0)
    return base64.b64encode(data).decode("ascii")
