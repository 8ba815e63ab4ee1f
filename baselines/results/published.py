"""The papers' numbers, as printed: 1,066 from tables and running text, 192 bar labels of MedLayBench-V's Figure A4.

    find("MedLayBench-V", "Table 5", "Mean of the 8 models", "Expert", "Average R@1 (I2T and T2I)", "test").value

`published.csv` holds facts only: the ledger's ten columns, and `wrong`, the reason why a number cannot be relied on.
`tables.csv` and `columns.csv` say what its tables and columns hold, in our words.
`published_checks` recomputes what can be recomputed from other published numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, TypeVar

from baselines.results.conformance import Key
from baselines.results.run import Direction, Keyed
from loaders.errors import InputError
from loaders.files.bundled import bundled

Item = TypeVar("Item")

MODELS = (
    "OpenAI-CLIP-Base", "CoCa-Large", "LAION-2B", "OpenCLIP-Huge", "PubMedCLIP", "BMC-CLIP", "PMC-CLIP", "BiomedCLIP",
)  # fmt: skip
"""The eight encoders of MedLayBench-V, by their names in its tables."""


@cache
def _meanings() -> dict[tuple[str, str], str]:
    return {(line["paper"], line["column"]): line["meaning"] for line in bundled("baselines.results", "columns.csv")}


def meaning(paper: str, column: str) -> str:
    """What a column of a paper holds, in words: its own name if that is clear, or nobody has written better words.

    >>> meaning("3MDBench", "Criterion 1.1"), meaning("3MDBench", "Criterion 4.1, changed")
    ('Asks about history', 'Overall competence, changed')
    """
    known = _meanings()
    base, comma, rest = column.partition(", ")
    return known.get((paper, column)) or known.get((paper, base), base) + comma + rest


_DATED = re.compile(r"-\d{8}$|-\d{4}-\d{2}-\d{2}$")


@cache
def _labels() -> dict[tuple[str, str], str]:
    return {(line["paper"], line["name"]): line["label"] for line in bundled("baselines.results", "models.csv")}


def model_label(paper: str, name: str) -> str:
    """A paper's label for a model (models.csv), whoever serves it, whatever its date; others keep their name."""
    # The authors' code of 3MDBench loads Qwen2-VL with 7 billion parameters (3M-G31); MedLayBench-V names no
    # checkpoints, so those of its captioners are our reading of it.
    return _labels().get((paper, _DATED.sub("", name.rpartition("/")[2]).casefold()), name)


_NUMBERED = re.compile(r"((?:Criterion|Kappa of) (\d\.\d))(?!\d)(.*)")


def named(column: str) -> str:
    """The printed name of a column or measure: one that the paper only numbers gets its name added.

    >>> named("Criterion 1.1, changed"), named("Kappa of 3.2"), named("F1")
    ('Criterion 1.1 (asks about history), changed', 'Kappa of 3.2 (plans treatment)', 'F1')
    """
    if not (found := _NUMBERED.fullmatch(column)):
        return column
    words = meaning("3MDBench", f"Criterion {found[2]}")
    return f"{found[1]} ({words[0].lower()}{words[1:]}){found[3]}"


@dataclass(frozen=True, slots=True)
class Published(Keyed):
    """A published number. `printed` is its text in the paper, whose decimals say how precise it is."""

    printed: str
    unit: str
    direction: Direction
    note: str
    wrong: str
    """Why the number cannot be relied on; empty if nothing speaks against it."""

    @property
    def value(self) -> float:
        """The number."""
        return float(self.printed)

    @property
    def decimals(self) -> int:
        """Decimals printed: two in most tables, one for the bar labels of Figure A4, which were read by eye.

        >>> find("MedLayBench-V", "Table A5", "Qwen2-VL", "Expert prompt", "FKGL", "1000 test pairs").decimals
        1
        """
        return len(self.printed.partition(".")[2]) if "e" not in self.printed else 6

    @property
    def shown(self) -> str:
        """The number with the decimals that are printed, and thousands separated."""
        return f"{self.value:,.{self.decimals}f}"

    @property
    def half_unit(self) -> float:
        """Half a unit of its last decimal: how far rounding may have moved it."""
        return 0.5 * 10.0**-self.decimals


class Heading(NamedTuple):
    """What a table shows, in our words, what to know before comparing with it, and how it is laid out.

    `rows` and `columns` are the parts of a key that name those of the table ("statistic" is the second half of a column
    such as "Fluency (SD)"); `free` parts may hold values that the paper lacks; numbers of `left_out` columns are listed
    below the table.
    """

    title: str = ""
    rows: tuple[str, ...] = ("row", "setting", "split_or_group")
    columns: tuple[str, ...] = ("column",)
    free: tuple[str, ...] = ("row", "setting")
    left_out: tuple[str, ...] = ()
    note: str = ""


@cache
def headings() -> dict[tuple[str, str], Heading]:
    """The headings of tables, by paper and table: the papers', in their order, then others of ours."""
    found = {}
    for line in bundled("baselines.results", "tables.csv"):
        parts = {
            name: line[name].replace("group", "split_or_group") for name in ("rows", "columns", "free", "left_out")
        }
        layout = {name: tuple(filter(None, text.split(" | "))) for name, text in parts.items()}
        found[line["paper"], line["table"]] = Heading(title=line["title"], note=line["note"], **layout)
    return found


def published(paper: str | None = None, table: str | None = None) -> list[Published]:
    """All published numbers (of a paper, of one of its tables) in the order of the paper."""
    numbers = [number for number in _by_key().values() if paper is None or same(number.paper, paper)]
    return [number for number in numbers if table is None or same(number.table, table)]


def find(paper: str, table: str, row: str, setting: str, column: str, split_or_group: str) -> Published | None:
    """The published number with that key, ignoring case; None if there is none."""
    return _by_key().get(_folded((paper, table, row, setting, column, split_or_group)))


def counterpart(number: Keyed) -> Published | None:
    """The published number with the key of a result; None if the paper prints none."""
    return find(*number.key)


def short(label: str) -> str:
    """A table or a split or group in fewer words, for reading; keys keep the ledger's.

    >>> short("Figure A4i (assets/downstream.png)"), short("test; caption says four modalities (X-Ray, CT, MRI)")
    ('Figure A4i', 'test; four modality pools')
    """
    label = re.sub(r" \((?:assets/|text ).*\)$", "", label)
    return re.sub(r"caption says four modalities.*", "four modality pools", label)


def of_tables(only: Sequence[str], items: Sequence[Item], table: Callable[[Item], str]) -> list[Item]:
    """The items of the tables that --table names, or all if it names none. Raises InputError for a table of no item."""
    names = [short(table(item)) for item in items]
    for name in only:
        if not any(same(short(name), one) for one in names):
            known = ", ".join(dict.fromkeys(names))
            raise InputError("--table", found=repr(name), expected=f"one of the tables here: {known}")
    wanted = {short(name).casefold() for name in only}
    return [item for item, name in zip(items, names, strict=True) if not only or name.casefold() in wanted]


def same(one: str, other: str) -> bool:
    """Whether two labels differ in the case of their letters at most: "Table A3", "table a3"."""
    return one.casefold() == other.casefold()


@cache
def _by_key() -> dict[tuple[str, ...], Published]:
    numbers = (Published(*line.values()) for line in bundled("baselines.results", "published.csv"))  # type: ignore[arg-type]  # it is ours, and tested
    return {_folded(number.key): number for number in numbers}


def _folded(key: Key) -> tuple[str, ...]:
    return tuple(part.casefold() for part in key)
