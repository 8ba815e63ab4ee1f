"""Collages join nothing, are left out, and still tell what leaks; crops that lie apart are copies of their photo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

from builders.curation.alignment import WHOLE
from builders.curation.curate import Curation, curate
from builders.curation.folders import files_of
from builders.curation.output import curate_set
from builders.curation.seams import panel
from builders.curation.seen import seen
from loaders.files.images import open_image
from tests.parts.pictures import drawn, save
from tests.parts.places import shared_data


def _beside(*images: Image.Image, columns: int = 2, gap: int = 0) -> Image.Image:
    """Pictures of one size in rows."""
    (width, height), rows = images[0].size, -(-len(images) // columns)
    whole = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), "white")
    for place, image in enumerate(images):
        whole.paste(image, (place % columns * (width + gap), place // columns * (height + gap)))
    return whole


def _curated(folder: Path, images: dict[str, Image.Image | bytes]) -> Curation:
    return curate(files_of(save(folder, images)))


def _outcomes(curation: Curation) -> dict[str, str]:
    return {one.file.name: decision.reason for one, decision in zip(curation.files, curation.decisions, strict=True)}


def _leaks(curation: Curation) -> list[tuple[str, tuple[str, ...]]]:
    return [(leak.boundary, tuple(one.file.name for one in leak.files)) for leak in curation.leaks]


@pytest.mark.parametrize("gap", [0, 12])
def test_a_collage_of_two_photos_removes_neither_and_is_itself_left_out(gap: int, tmp_path: Path) -> None:
    first, second = drawn(1), drawn(2)
    curation = _curated(
        tmp_path,
        {
            "train/nails/a.jpg": first,
            "test/throat/b.jpg": second,
            "train/nails/collage.jpg": _beside(first, second, gap=gap),
        },
    )
    assert _outcomes(curation) == {
        "train/nails/a.jpg": "unique",
        "test/throat/b.jpg": "unique",
        "train/nails/collage.jpg": "collage",
    }
    detail = next(decision.detail for decision in curation.decisions if decision.reason == "collage")
    assert detail == "several photos in one picture: test/throat/b.jpg, train/nails/a.jpg"
    # Whoever trains on the collage has seen b; that its class is another one is no conflict.
    assert _leaks(curation) == [("split", ("test/throat/b.jpg", "train/nails/collage.jpg"))]


def test_a_grid_its_copies_and_collages_that_share_a_photo_remove_nothing(tmp_path: Path) -> None:
    photos = {f"{n}.jpg": drawn(n) for n in range(6)}
    grid = _beside(*(drawn(n) for n in range(4)))
    collages = {
        "grid.jpg": grid,
        "grid_mirrored.jpg": ImageOps.mirror(grid),
        "grid_small.jpg": grid.resize((600, 450), Image.Resampling.LANCZOS),
        "shares3.jpg": _beside(drawn(3), drawn(4)),
        "shares4.jpg": _beside(drawn(4), drawn(5), columns=1),
    }
    curation = _curated(tmp_path, {**photos, **collages, "copy.jpg": ImageOps.mirror(drawn(2))})
    outcomes = _outcomes(curation)
    assert {outcomes[name] for name in collages} == {"collage", "near_copy"}
    assert {outcomes["2.jpg"], outcomes["copy.jpg"]} == {"best_copy", "near_copy"}
    assert sum(decision.kept for decision in curation.decisions) == len(photos)
    assert not any(
        decision.kept
        for one, decision in zip(curation.files, curation.decisions, strict=True)
        if one.file.name in collages
    )


@pytest.mark.parametrize("cut", [180, 200, 210])
def test_crops_that_share_little_are_copies_of_the_photo_that_both_come_from(cut: int, tmp_path: Path) -> None:
    whole = drawn(5)
    curation = _curated(
        tmp_path,
        {
            "train/whole.jpg": whole,
            "train/left.jpg": whole.crop((0, 0, 200, 300)),
            "test/right.jpg": whole.crop((cut, 0, 400, 300)),
        },
    )
    assert _outcomes(curation) == {
        "train/whole.jpg": "best_copy",
        "train/left.jpg": "near_copy",
        "test/right.jpg": "near_copy",
    }
    assert _leaks(curation) == [("split", ("test/right.jpg", "train/left.jpg", "train/whole.jpg"))]


def test_a_crop_of_a_photo_in_a_collage_is_a_copy_of_that_photo(tmp_path: Path) -> None:
    curation = _curated(
        tmp_path,
        {
            "a.jpg": drawn(1),
            "crop.jpg": drawn(1).crop((30, 20, 330, 290)),
            "b.jpg": drawn(2),
            "collage.jpg": _beside(drawn(1), drawn(2)),
        },
    )
    assert _outcomes(curation) == {
        "a.jpg": "best_copy",
        "crop.jpg": "near_copy",
        "b.jpg": "unique",
        "collage.jpg": "collage",
    }


def test_a_collage_is_found_in_another_set_once_with_the_surest_of_what_it_shows(tmp_path: Path) -> None:
    first, second = drawn(1), drawn(2)
    own = save(tmp_path / "own", {"collage.jpg": _beside(first, second), "other.jpg": drawn(3)})
    others = save(tmp_path / "others", {"a.jpg": first, "b.jpg": second})
    found = seen(files_of(own), files_of(others))
    assert [pair.file for pair in found.pairs] == ["collage.jpg"]
    assert found.pairs[0].other in ("a.jpg", "b.jpg") and found.pairs[0].how.startswith("copy")
    back = seen(files_of(others), files_of(own))
    assert [(pair.file, pair.other) for pair in back.pairs] == [("a.jpg", "collage.jpg"), ("b.jpg", "collage.jpg")]
    audit = curate_set(str(own), tmp_path / "report", against=[str(others)])
    assert {one.file.name for leak in audit.overlaps for one in leak.files} >= {"collage.jpg", "others: a.jpg"}


def test_the_report_shows_a_collage_beside_its_photos(tmp_path: Path) -> None:
    photos = save(tmp_path / "photos", {"a.jpg": drawn(1), "b.jpg": drawn(2), "c.jpg": _beside(drawn(1), drawn(2))})
    curate_set(str(photos), tmp_path / "report")
    page = (tmp_path / "report/report.html").read_text(encoding="utf-8")
    assert "Collages: 1" in page and "several photos in one picture: a.jpg, b.jpg" in page


def test_a_panel_ends_where_two_photos_meet_and_not_where_one_was_cropped() -> None:
    points = np.array([(20, 20), (180, 30), (100, 250), (210, 140)], np.float32)
    two = np.asarray(_beside(drawn(1, (256, 300)), drawn(2, (256, 300))).convert("L"))
    assert panel(two, points) == pytest.approx((0, 0, 0.5, 1), abs=0.02)
    assert panel(np.asarray(drawn(5).convert("L")), points)[2] > 0.8
    assert panel(two, np.array([(20, 20), (21, 25), (19, 22)], np.float32)) == WHOLE  # too few lines to tell


def test_of_twenty_real_photos_six_collages_remove_none(tmp_path: Path) -> None:
    folders = [shared_data(f"photos/{name}") for name in ("hand_and_nails", "throat_no_pharyngitis")]
    photos = [[open_image(path).convert("RGB") for path in sorted(folder.glob("*.jpg"))[:80:8]] for folder in folders]
    images = {f"{n}/{at}.jpg": photo for n, some in enumerate(photos) for at, photo in enumerate(some)}
    cells = [[ImageOps.fit(photo, (400, 400)) for photo in some] for some in photos]
    collages = {f"0/collage{at}.jpg": _beside(cells[0][at], cells[1][at]) for at in range(3)}
    collages |= {f"1/collage{at}.jpg": _beside(*cells[1][at : at + 4]) for at in (3, 4)}
    collages |= {"1/collage.png": _beside(*cells[0][6:8], gap=10)}
    curation = _curated(tmp_path, {**images, **collages})
    outcomes = _outcomes(curation)
    assert {outcomes[name] for name in images} <= {"unique", "same_scene"}
    assert {outcomes[name] for name in collages} == {"collage"}
