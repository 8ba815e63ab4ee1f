"""Text over most of a photo hides neither the photo from its copy nor makes two photos with one text alike."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from builders.curation.candidates import candidates
from builders.curation.erased_text import without_text
from builders.curation.examine import Content
from builders.curation.hashes import keypoints, whole
from builders.curation.pictures import Picture
from builders.curation.quality import measure
from builders.curation.verification import COPY, DIFFERENT, UNSURE, compare, features
from tests.parts.pictures import drawn, picture

LINES = (
    "Example Pictures",
    "for preview only",
    "Archive number 41",
    "do not reproduce",
    "Photograph 2019",
    "no licence held",
)


def _written(image: Image.Image, lines: int) -> Image.Image:
    marked = image.copy()
    for number in range(lines):
        at = (20, 12 + number * 280 // lines)
        ImageDraw.Draw(marked).text(at, LINES[number], "white", ImageFont.load_default(34), stroke_width=1)
    return marked


def _content(read: Picture, digest: str) -> Content:
    bare = Picture(without_text(read.grey)[0], read.width, read.height)
    hashes = whole(bare)
    assert hashes is not None
    return Content(digest, 1, measure(read, 0), hashes.tobytes(), keypoints(bare).tobytes())


@pytest.mark.parametrize("lines", [1, 6])
def test_a_copy_under_lines_of_text_is_looked_for_and_found(lines: int) -> None:
    images = [picture(drawn(70)), picture(_written(drawn(70), lines))]
    assert candidates([_content(image, str(n)) for n, image in enumerate(images)]).pairs.tolist() == [[0, 1]]
    assert compare(features(images[0]), features(images[1])).kind == COPY


def test_one_text_over_most_of_two_pictures_joins_nothing() -> None:
    under = [features(picture(_written(drawn(n), 6))) for n in range(80, 83)]
    assert {compare(*pair).kind for pair in combinations(under, 2)} <= {DIFFERENT, UNSURE}


def test_a_picture_without_text_is_left_as_it_is() -> None:
    grey = picture(drawn(90)).grey
    bare, hidden = without_text(grey)
    assert bare is grey and not hidden.any()


def test_what_is_erased_is_the_text_and_no_more() -> None:
    grey = picture(drawn(91)).grey
    bare, hidden = without_text(picture(_written(drawn(91), 2)).grey)
    assert 0.02 < hidden.mean() < 0.3
    before, after = (np.abs(one.astype(int) - grey) for one in (picture(_written(drawn(91), 2)).grey, bare))
    assert (after > 60).mean() < (before > 60).mean() / 4
    assert after[hidden == 0].mean() < 3


def test_a_picture_of_nothing_but_text_keeps_it() -> None:
    page = picture(_written(Image.new("RGB", (400, 300), (20, 30, 60)), 6)).grey
    bare, hidden = without_text(page)
    assert bare is page and not hidden.any()
