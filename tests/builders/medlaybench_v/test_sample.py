"""The bundled captions and their pictures."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from PIL import Image

from builders.samples.medlaybench_v import CAPTIONS, IMAGES

COLUMNS = "image_id split caption cuis licence attribution article_id modality drawing".split()
MODALITY_OF_CUI = {
    "C0040405": "DRCT",
    "C1306645": "DRXR",
    "C0024485": "DRMR",
    "C0041618": "DRUS",
    "C0002978": "DRAN",
    "C0032743": "DRPE",
}


def read() -> list[dict[str, str]]:
    with CAPTIONS.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        assert reader.fieldnames == COLUMNS
        return list(reader)


ROWS = read()


def test_ids_name_their_split_and_count_up() -> None:
    splits = Counter(row["split"] for row in ROWS)
    assert list(splits) == ["train", "validation", "test"]
    assert len(ROWS) >= 150 and splits["train"] >= 85 and min(splits.values()) >= 28
    counted: Counter[str] = Counter()
    for row in ROWS:
        counted[row["split"]] += 1
        assert row["image_id"] == f"SAMPLE_{row['split']}_{counted[row['split']]:06d}"


def test_every_cell_that_has_to_be_filled_is() -> None:
    for row in ROWS:
        assert all(row[name] == row[name].strip() != "" for name in COLUMNS), row["image_id"]
        assert all(re.fullmatch(r"C\d{7}", cui) for cui in row["cuis"].split(";")), row["image_id"]


def test_modalities_agree_with_the_identifiers_and_cover_the_table() -> None:
    for row in ROWS:
        found = [MODALITY_OF_CUI[cui] for cui in row["cuis"].split(";") if cui in MODALITY_OF_CUI]
        assert (found[0] if len(found) == 1 else "DRCO") == row["modality"], row["image_id"]
    # Table A1: CT 35 %, X-ray 28 %, MRI 16 %, ultrasound 14 %, angiography 6 %; the rare ones at least six times.
    counts = Counter(row["modality"] for row in ROWS)
    assert [m for m, _ in counts.most_common(5)] == ["DRCT", "DRXR", "DRMR", "DRUS", "DRAN"]
    assert counts["DRCO"] >= 6 and counts["DRPE"] >= 6
    for modality, share in {"DRCT": 0.35, "DRXR": 0.28, "DRMR": 0.16, "DRUS": 0.14, "DRAN": 0.06}.items():
        assert abs(counts[modality] / len(ROWS) - share) < 0.06, modality
    assert {row["modality"] for row in ROWS if row["split"] == "test"} == set(counts)


def test_articles_hold_one_to_three_captions_and_never_cross_splits() -> None:
    groups: dict[str, set[str]] = defaultdict(set)
    sizes = Counter(row["article_id"] for row in ROWS)
    for row in ROWS:
        groups[row["article_id"]].add(row["split"])
    assert set(sizes.values()) == {1, 2, 3}
    assert [article for article, splits in groups.items() if len(splits) > 1] == []


def test_licences_give_the_gate_something_to_exclude() -> None:
    licences = Counter(row["licence"] for row in ROWS)
    assert set(licences) == {"CC0-1.0", "CC-BY-NC-ND-4.0", "unknown"}
    assert licences["CC0-1.0"] >= 140 and licences["CC-BY-NC-ND-4.0"] >= 2 and licences["unknown"] >= 2


def test_no_two_captions_are_equal() -> None:
    said = [(row["image_id"], set(re.findall(r"\w+", row["caption"].casefold()))) for row in ROWS]
    alike = [(a, b) for (a, x), (b, y) in combinations(said, 2) if len(x & y) / len(x | y) > 0.6]
    assert alike == []


def test_captions_come_in_the_styles_of_the_source() -> None:
    text = [row["caption"] for row in ROWS]
    assert sum(bool(re.search(r"\d\s?(?:mm|cm|%|°|HU|weeks|hours)", t)) for t in text) >= 50
    assert sum(bool(re.search(r"\b(?:no|not|without|no longer)\b", t, re.I)) for t in text) >= 20
    assert sum(bool(re.search(r"\b(?:left|right|bilateral|both)\b", t, re.I)) for t in text) >= 80
    assert sum(bool(re.search(r"\b[A-Z]{1,4}, [a-z]", t)) for t in text) >= 6  # "LV, left ventricle"
    assert sum(t.count(". ") >= 1 for t in text) >= 40
    assert 4 <= min(len(t.split()) for t in text) < 10 and max(len(t.split()) for t in text) >= 30


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["image_id"])
def test_the_picture_shows_the_arrow_and_the_side_of_the_caption(row: dict[str, str]) -> None:
    caption, drawing = row["caption"].casefold(), row["drawing"]
    arrow = re.search(r"(?:(white|black|red|yellow|blue|green) )?\barrow", caption)
    drawn = re.search(r"arrow=(\w+)", drawing)
    assert bool(arrow) == bool(drawn)
    if arrow and drawn and arrow[1]:
        assert drawn[1] == arrow[1]
    assert bool(re.search(r"asterisk|\*", caption)) == ("star=" in drawing)
    said = set(re.findall(r"\b(left|right)", caption))
    shown = set(re.findall(r"[=@](left|right)\b", drawing))
    assert not said or shown <= said


def test_pictures_are_small_pngs_of_all_kinds() -> None:
    assert {path.name for path in IMAGES.iterdir()} == {f"{row['image_id']}.png" for row in ROWS}
    pictures = {row["image_id"]: (IMAGES / f"{row['image_id']}.png").read_bytes() for row in ROWS}
    for row in ROWS:
        with Image.open(io.BytesIO(pictures[row["image_id"]])) as image:
            image.load()
            coloured = bool(set(re.findall(r"arrow=(\w+)", row["drawing"])) - {"white", "black"})
            assert image.format == "PNG" and max(image.size) <= 256 and not image.info
            assert image.mode == ("RGB" if row["modality"] == "DRCO" or coloured else "L")
        assert 2_000 < len(pictures[row["image_id"]]) <= 25_000
    assert len(set(pictures.values())) == len(ROWS)
