"""What MedLayBench-V holds: pairs by imaging modality, frequent concepts, their long tail (Appendix B).

    concepts = count(rows)
    results = evaluate(concepts)

Tables A1 and A2, and the data of Figure A2. A concept counts once a caption. As in the paper, a caption's concepts are
the UMLS concepts of the column `cuis`, by name, and the terms found in its text, in lower case: "X-Ray Computed
Tomography" and "CT scan" are two. Terms are those of the column `concepts` in a release made here. The authors' release
has none, so that of Table A2 only the UMLS concepts can be counted from it; every number says what it was counted from.
Words such as "arrow", "image" and "patient", which the paper counts, are no concepts in releases made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from baselines.medlaybench_v.language import SPLITS
from baselines.results.published import published
from baselines.results.run import DataUsed, Direction, Result, RunRecord
from loaders.errors import InputError
from loaders.manifest import ContentDigest, content_digest
from loaders.medlaybench_v import MODALITIES, parse_cuis

PAPER = "MedLayBench-V"
ALL_SPLITS = "all splits"
TOP, TOP_FIGURE = 5, 15

MODALITY_ROWS = {
    "DRCT": "Computed Tomography (CT)",
    "DRXR": "X-Ray (Plain Radiography)",
    "DRMR": "Magnetic Resonance Imaging (MRI)",
    "DRUS": "Ultrasonography",
    "DRAN": "Angiography",
    "DRCO": "Combined Modality",
    "DRPE": "Positron Emission Tomography (PET)",
}
"""Rows of Table A1 by the corpus's code."""

MODALITY_GROUPS = {
    "DRCT": "CT",
    "DRMR": "MRI",
    "DRUS": "Ultrasonography",
    "DRXR": "Plain X-Ray",
    "DRAN": "Angiography",
    "DRPE": "PET",
    "DRCO": "Combined",
}
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
"""Names of UMLS concepts in Table A2; another one is named as captions most often do, or else by its CUI."""


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
    def source(self) -> str:
        """What was counted."""
        if self.terms is None:
            return "UMLS concepts of the column cuis; the release has no terms"
        return "UMLS concepts of the column cuis and terms of the column concepts"

    @property
    def label(self) -> str:
        """The paper's "all splits" where all three are there, else their names."""
        return ALL_SPLITS if len(self.pairs) == len(SPLITS) else "+".join(self.pairs)

    def figure(self) -> dict[str, Any]:
        """Figure A2: of either panel the frequencies of all concepts, the greatest first, and the names of the top."""
        panels = {"cuis": self.cuis, "terms": self.terms or {}}
        return {
            name: {"top": list(counts.items())[:TOP_FIGURE], "frequencies": list(counts.values())}
            for name, counts in panels.items()
        }


def count(rows: Iterable[Mapping[str, Any]], *, data: DataUsed | None = None) -> Concepts:
    """The concepts of rows with image_id, split, modality, both captions, `cuis` and, where there are, `concepts`.

    `data` says what the rows are, for the record of the run; without it the record holds a digest of what was counted.
    Raises InputError, which names the row, for a row without a split, modality or caption, and for something among its
    CUIs that is none; and for no rows.
    """
    pairs: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}
    digests = {split: ContentDigest() for split in SPLITS}
    found: list[tuple[str, list[str], list[str]]] = []
    surfaces: dict[str, Counter[str]] = {}
    with_terms = False
    for number, row in enumerate(rows, start=1):
        name = str(row.get("image_id") or f"row {number}")
        split, code = _one_of(row, "split", pairs, name), _one_of(row, "modality", MODALITY_ROWS, name)
        for column in ("expert_caption", "layman_caption"):
            if not isinstance(row.get(column), str) or not row[column].strip():
                raise InputError(name, found=f"no {column}", expected="a pair of captions")
        cuis, terms = parse_cuis(row.get("cuis"), name), []
        for concept in row.get("concepts") or ():
            surface, cui, start = (concept.get(field) for field in ("surface", "cui", "start"))
            if cui and surface:
                surfaces.setdefault(cui, Counter())[surface] += 1
            # One that starts at -1 is a concept of the row that its text does not name.
            if surface and start is not None and start >= 0:
                terms.append(surface.casefold())
        with_terms = with_terms or bool(terms)
        pairs[split][code] += 1
        digests[split].update({"image_id": name, "modality": code, "cuis": cuis, "terms": terms})
        found.append((code, cuis, terms))
    if not found:
        raise InputError("rows", found="none", expected="one or more caption pairs")
    present = {split: counts for split, counts in pairs.items() if counts}
    if data is None:
        digest = content_digest({split: digests[split].hexdigest() for split in present})
        data = DataUsed("medlaybench-v", "+".join(present), None, digest)
    names = {cui: NAMES.get(cui) or _usual(surfaces.get(cui), cui) for _, cuis, _ in found for cui in cuis}
    by_modality: dict[str, Counter[str]] = {modality.code: Counter() for modality in MODALITIES}
    every, of_cuis, of_terms = Counter[str](), Counter[str](), Counter[str]()
    shown: dict[str, str] = {}
    for code, cuis, terms in found:
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
        terms=_ordered(of_terms, {}) if with_terms else None,
        data=data,
    )


def evaluate(concepts: Concepts, *, stand_in: str | None = None) -> list[Result]:
    """Tables A1 and A2 and Figure A2; `stand_in` is the reason why the numbers are no reproduction, if there is one.

    Table A1 by split and over all. Table A2: the five most frequent concepts of each modality and of all, and, over all
    splits, each concept that the paper lists under the paper's rank, so that counts can be compared whatever the rank.
    """
    record = RunRecord(
        baseline="concepts",
        data=concepts.data,
        options={"counted": concepts.source},
        stand_in=stand_in,
    )
    return [
        *_table_a1(concepts, record),
        *_table_a2(concepts, record),
        *_figure_a2(concepts, record),
    ]


# --- Counting ---------------------------------------------------------------------------------------------------------


def _one_of(row: Mapping[str, Any], column: str, known: Mapping[str, object], name: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or value not in known:
        raise InputError(name, found=f"{column} {value!r}", expected="one of " + ", ".join(known))
    return value


def _usual(surfaces: Counter[str] | None, cui: str) -> str:
    """How captions most often name a concept; of equally frequent names the first by alphabet."""
    return min(surfaces, key=lambda surface: (-surfaces[surface], surface)) if surfaces else cui


def _ordered(counts: Counter[str], shown: Mapping[str, str]) -> dict[str, int]:
    named = [(shown.get(key, key), number) for key, number in counts.items()]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))


# --- Cells ------------------------------------------------------------------------------------------------------------


def _table_a1(concepts: Concepts, record: RunRecord) -> Iterator[Result]:
    groups = dict(concepts.pairs)
    if len(groups) > 1:
        total: Counter[str] = Counter()
        for counts in groups.values():
            total.update(counts)
        groups[concepts.label] = total
    for group, counts in groups.items():
        pairs = sum(counts.values())
        for code, row in MODALITY_ROWS.items():
            cell = _Cell("Table A1", row, code, group, pairs, record)
            number = counts.get(code, 0)
            yield cell.result("Count", float(number), "pairs")
            yield cell.result("Share", 100 * number / pairs, "percent", number, pairs, note="not in the paper")
        yield _Cell("Table A1", "Total", "Total", group, pairs, record).result("Count", float(pairs), "pairs")


def _table_a2(concepts: Concepts, record: RunRecord) -> Iterator[Result]:
    whole = concepts.label == ALL_SPLITS
    sizes: Counter[str] = Counter()
    for counts in concepts.pairs.values():
        sizes.update(counts)
    done = set()
    for code, group in MODALITY_GROUPS.items():
        ranked = concepts.by_modality.get(code, {})
        label = group if whole else f"{group}, {concepts.label}"
        for rank, (name, number) in enumerate(list(ranked.items())[:TOP], start=1):
            cell = _Cell("Table A2", name, f"rank {rank}", label, sizes[code], record)
            done.add((name.casefold(), f"rank {rank}", group))
            yield cell.result("Frequency", float(number), "captions", note=concepts.source)
    for rank, (name, number) in enumerate(list(concepts.every.items())[:TOP], start=1):
        label = "All modalities" if whole else f"All modalities, {concepts.label}"
        cell = _Cell("Table A2", name, f"rank {rank}", label, sum(sizes.values()), record)
        yield cell.result("Frequency", float(number), "captions", note=concepts.source)
    if whole:
        yield from _papers_concepts(concepts, record, done, sizes)


def _papers_concepts(
    concepts: Concepts, record: RunRecord, done: set[tuple[str, str, str]], sizes: Counter[str]
) -> Iterator[Result]:
    """Concepts that the paper lists and that are not under the same rank here."""
    named = {name.casefold() for name in NAMES.values()}
    codes = {group: code for code, group in MODALITY_GROUPS.items()}
    for number in published(PAPER, "Table A2"):
        key = number.row.casefold()
        if (key, number.setting, number.split_or_group) in done:
            continue
        code = codes[number.split_or_group]
        ranked = {name.casefold(): captions for name, captions in concepts.by_modality.get(code, {}).items()}
        cell = _Cell("Table A2", number.row, number.setting, number.split_or_group, sizes[code], record)
        if key not in named and concepts.terms is None:
            yield cell.result("Frequency", None, "captions", note=f"not computed: a term; {concepts.source}")
            continue
        rank = f"rank {list(ranked).index(key) + 1} here" if key in ranked else "no concept here"
        note = f"{rank}; {concepts.source}"
        yield cell.result("Frequency", float(ranked.get(key, 0)), "captions", note=note)


def _figure_a2(concepts: Concepts, record: RunRecord) -> Iterator[Result]:
    """Both panels: the most frequent, and how long the tail is."""
    captions = sum(sum(counts.values()) for counts in concepts.pairs.values())
    for panel, counts in (("UMLS concepts", concepts.cuis), ("Terms", concepts.terms)):
        tail = _Cell("Figure A2", panel, "long tail", concepts.label, captions, record)
        if not counts:
            note = f"not computed: {concepts.source}" if counts is None else "not computed: no row has one"
            yield tail.result("Distinct", None, "concepts", note=note)
            continue
        numbers = list(counts.values())
        for rank, (name, number) in enumerate(list(counts.items())[:TOP_FIGURE], start=1):
            cell = _Cell("Figure A2", name, f"{panel}, rank {rank}", concepts.label, captions, record)
            yield cell.result("Frequency", float(number), "captions")
        yield tail.result("Distinct", float(len(numbers)), "concepts")
        head, once = sum(numbers[:TOP_FIGURE]), numbers.count(1)
        column = f"Share of the top {TOP_FIGURE} in all mentions"
        yield tail.result(column, 100 * head / sum(numbers), "percent", head, sum(numbers))
        yield tail.result("Concepts of one caption", 100 * once / len(numbers), "percent", once, len(numbers))


@dataclass(frozen=True, slots=True)
class _Cell:
    """Makes results of one place in a table."""

    table: str
    row: str
    setting: str
    group: str
    n: int
    record: RunRecord

    def result(
        self,
        column: str,
        value: float | None,
        unit: str,
        numerator: int | None = None,
        denominator: int | None = None,
        note: str = "",
    ) -> Result:
        direction: Direction = "none"
        return Result(
            paper=PAPER,
            table=self.table,
            row=self.row,
            setting=self.setting,
            column=column,
            split_or_group=self.group,
            value=value,
            unit=unit,
            direction=direction,
            note=note,
            n=self.n,
            numerator=None if numerator is None else float(numerator),
            denominator=None if denominator is None else float(denominator),
            record=self.record,
        )
