"""What MedLayBench-V holds: pairs by imaging modality, frequent concepts, their long tail (Appendix B).

    concepts = count(rows, data=DataUsed.of(opened))
    results = evaluate(concepts)

Tables A1 and A2, and the data of Figure A2. A concept counts once per caption. As in the paper, a caption's concepts
are the UMLS concepts of the column `cuis`, by name, and the terms found in its text, in lower case: "X-Ray Computed
Tomography" and "CT scan" are two. Terms are those of the column `concepts` in a release made here. The authors' release
has none, so only the UMLS concepts of Table A2 can be counted from it; every number says what it was counted from.
Words such as "arrow", "image" and "patient", which the paper counts, are not concepts in releases made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from baselines.medlaybench_v.language import SPLITS, read_one_of, read_rows
from baselines.results.published import published
from baselines.results.run import DataUsed, Result, RunRecord
from loaders.medlaybench_v import MODALITIES, parse_cuis

PAPER = "MedLayBench-V"
ALL_SPLITS = "all splits"
TOP, TOP_FIGURE = 5, 15

MODALITY_ROWS = {number.setting: number.row for number in published(PAPER, "Table A1") if number.row != "Total"}
"""Rows of Table A1 by the corpus's code."""
MODALITY_GROUPS = {
    "DRCT": "CT", "DRMR": "MRI", "DRUS": "Ultrasonography", "DRXR": "Plain X-Ray", "DRAN": "Angiography", "DRPE": "PET",
    "DRCO": "Combined",
}  # fmt: skip
"""Parts of Table A2 by the corpus's code; the paper has none for combined modalities."""

NAMES = {
    "C0040405": "X-Ray Computed Tomography",
    "C1306645": "Plain x-ray",
    "C0024485": "Magnetic Resonance Imaging",
    "C0041618": "Ultrasonography",
    "C0002978": "angiogram",
    "C0032743": "Positron-Emission Tomography",
    "C1999039": "Anterior-Posterior (AP)",
    "C1996865": "Postero-Anterior (PA)",
    "C0817096": "Chest",
    "C0037303": "Bone structure of cranium",
}
"""Names of UMLS concepts in Table A2; another one is named as captions most often name it, or else by its CUI."""


@dataclass(frozen=True, slots=True)
class Concepts:
    """Counts of captions. Concepts are ordered: most frequent first, equal ones by name.

    `pairs`: split -> modality code -> pairs. `by_modality`: code -> concept -> captions (Table A2). `cuis` and `terms`:
    the two panels of Figure A2, over all captions; `terms` is None for a release that has none.
    """

    pairs: Mapping[str, Mapping[str, int]]
    by_modality: Mapping[str, Mapping[str, int]]
    every: Mapping[str, int]
    cuis: Mapping[str, int]
    terms: Mapping[str, int] | None
    data: DataUsed

    @property
    def sizes(self) -> Counter[str]:
        """Pairs by modality code, over all splits."""
        return sum((Counter(counts) for counts in self.pairs.values()), Counter())

    @property
    def source(self) -> str:
        """What was counted."""
        if self.terms is None:
            return "UMLS concepts of the column cuis; the release has no terms"
        return "UMLS concepts of the column cuis and terms of the column concepts"

    @property
    def label(self) -> str:
        """The paper's "all splits" if all three are present, else their names."""
        return ALL_SPLITS if len(self.pairs) == len(SPLITS) else "+".join(self.pairs)

    def figure(self) -> dict[str, Any]:
        """Figure A2: for each panel the frequencies of all concepts, largest first, and the names of the top ones."""
        panels = {"cuis": self.cuis, "terms": self.terms or {}}
        return {
            name: {"top": list(counts.items())[:TOP_FIGURE], "frequencies": list(counts.values())}
            for name, counts in panels.items()
        }


def count(rows: Iterable[Mapping[str, Any]], *, data: DataUsed) -> Concepts:
    """The concepts of rows with image_id, split, modality, both captions, `cuis` and, if present, `concepts`. Raises
    InputError, which names the row, for a row without a split, modality or caption, and for something among its CUIs
    that is none; and for no rows."""
    pairs: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    captions: list[tuple[str, list[str], list[str]]] = []  # modality code, CUIs, terms
    surfaces: dict[str, Counter[str]] = {}
    for name, row in read_rows(rows):
        split, code = read_one_of(row, "split", pairs, name), read_one_of(row, "modality", MODALITY_ROWS, name)
        cuis, terms = parse_cuis(row.get("cuis"), name), []
        for concept in row.get("concepts") or ():
            surface, cui, start = (concept.get(field) for field in ("surface", "cui", "start"))
            if cui and surface:
                surfaces.setdefault(cui, Counter())[surface] += 1
            # One that starts at -1 is a concept of the row that its text does not name.
            if surface and start is not None and start >= 0:
                terms.append(surface.casefold())
        pairs[split][code] += 1
        captions.append((code, cuis, terms))
    present = {split: counts for split, counts in pairs.items() if counts}
    names = {cui: NAMES.get(cui) or _usual(surfaces.get(cui), cui) for _, cuis, _ in captions for cui in cuis}
    by_modality: dict[str, Counter[str]] = {modality.code: Counter() for modality in MODALITIES}
    every, of_cuis, of_terms = Counter[str](), Counter[str](), Counter[str]()
    shown: dict[str, str] = {}
    for code, cuis, terms in captions:
        of_cuis.update(cuis)
        of_terms.update(set(terms))
        for cui in cuis:
            shown.setdefault(names[cui].casefold(), names[cui])
        concepts = {names[cui].casefold() for cui in cuis} | set(terms)
        by_modality[code].update(concepts)
        every.update(concepts)
    return Concepts(
        pairs=present,
        by_modality={code: _ordered(counts, shown) for code, counts in by_modality.items() if counts},
        every=_ordered(every, shown),
        cuis=_ordered(of_cuis, {cui: f"{name} ({cui})" if name != cui else cui for cui, name in names.items()}),
        terms=_ordered(of_terms, {}) or None,
        data=data,
    )


def evaluate(concepts: Concepts, *, stand_in: str | None = None) -> list[Result]:
    """Tables A1 and A2 and Figure A2.

    Table A1 by split and over all. Table A2: the five most frequent concepts of each modality and of all, and, over all
    splits, each concept that the paper lists under the paper's rank, so that counts can be compared whatever the rank.
    """
    record = RunRecord(baseline="concepts", data=concepts.data, options={"counted": concepts.source}, stand_in=stand_in)
    result = partial(Result, paper=PAPER, record=record)
    return [*_table_a1(concepts, result), *_table_a2(concepts, result), *_figure_a2(concepts, result)]


def _usual(surfaces: Counter[str] | None, cui: str) -> str:
    """How captions most often name a concept; of equally frequent names the first by alphabet."""
    return min(surfaces, key=lambda surface: (-surfaces[surface], surface)) if surfaces else cui


def _ordered(counts: Counter[str], shown: Mapping[str, str]) -> dict[str, int]:
    named = [(shown.get(key, key), number) for key, number in counts.items()]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))


_Maker = Callable[..., Result]


def _table_a1(concepts: Concepts, result: _Maker) -> Iterator[Result]:
    groups = dict(concepts.pairs)
    if len(groups) > 1:
        groups[concepts.label] = concepts.sizes
    for group, counts in groups.items():
        pairs = sum(counts.values())
        cell = partial(result, table="Table A1", split_or_group=group, n=pairs)
        for code, row in MODALITY_ROWS.items():
            number = counts.get(code, 0)
            yield cell(row=row, setting=code, column="Count", value=float(number), unit="pairs")
            yield _share(partial(cell, row=row, setting=code, note="not in the paper"), "Share", number, pairs)
        yield cell(row="Total", setting="Total", column="Count", value=float(pairs), unit="pairs")


def _table_a2(concepts: Concepts, result: _Maker) -> Iterator[Result]:
    whole, sizes = concepts.label == ALL_SPLITS, concepts.sizes
    cell = partial(result, table="Table A2", column="Frequency", unit="captions")
    parts = [(group, concepts.by_modality.get(code, {}), sizes[code]) for code, group in MODALITY_GROUPS.items()]
    for group, counts, captions in [*parts, ("All modalities", concepts.every, sizes.total())]:
        in_group = partial(cell, split_or_group=group if whole else f"{group}, {concepts.label}", n=captions)
        for rank, (name, number) in enumerate(list(counts.items())[:TOP], start=1):
            yield in_group(row=name, setting=f"rank {rank}", value=float(number), note=concepts.source)
    if whole:
        yield from _papers_concepts(concepts, cell)


def _papers_concepts(concepts: Concepts, result: _Maker) -> Iterator[Result]:
    """Concepts that the paper lists and that are not under the same rank here."""
    named = {name.casefold() for name in NAMES.values()}
    codes = {group: code for code, group in MODALITY_GROUPS.items()}
    for listed in published(PAPER, "Table A2"):
        key, code = listed.row.casefold(), codes[listed.split_or_group]
        counts = {name.casefold(): captions for name, captions in concepts.by_modality.get(code, {}).items()}
        rank = f"rank {list(counts).index(key) + 1}" if key in counts else ""
        if rank == listed.setting:
            continue
        value: float | None = float(counts.get(key, 0))
        note = f"{rank} here" if rank else "no concept here"
        if key not in named and concepts.terms is None:
            value, note = None, "not computed: a term"
        yield result(
            row=listed.row, setting=listed.setting, split_or_group=listed.split_or_group, value=value,
            note=f"{note}; {concepts.source}", n=concepts.sizes[code],
        )  # fmt: skip


def _figure_a2(concepts: Concepts, result: _Maker) -> Iterator[Result]:
    """Both panels: the most frequent, and how long the tail is."""
    cell = partial(result, table="Figure A2", split_or_group=concepts.label, n=concepts.sizes.total())
    for panel, counts in (("UMLS concepts", concepts.cuis), ("Terms", concepts.terms)):
        tail = partial(cell, row=panel, setting="long tail")
        if not counts:
            note = f"not computed: {concepts.source}" if counts is None else "not computed: no row has one"
            yield tail(column="Distinct", value=None, unit="concepts", note=note)
            continue
        numbers = list(counts.values())
        for rank, (name, number) in enumerate(list(counts.items())[:TOP_FIGURE], start=1):
            setting = f"{panel}, rank {rank}"
            yield cell(row=name, setting=setting, column="Frequency", value=float(number), unit="captions")
        yield tail(column="Distinct", value=float(len(numbers)), unit="concepts")
        yield _share(tail, f"Share of the top {TOP_FIGURE} in all mentions", sum(numbers[:TOP_FIGURE]), sum(numbers))
        yield _share(tail, "Concepts of one caption", numbers.count(1), len(numbers))


def _share(cell: _Maker, column: str, part: int, whole: int) -> Result:
    counts = {"numerator": float(part), "denominator": float(whole)}
    return cell(column=column, value=100 * part / whole, unit="percent", **counts)
