"""The pictures of one set among those of another, in disguises that share no byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from builders.curation.folders import File
from builders.curation.seen import Pair, seen
from loaders.engines.threads import Threads
from tests.parts.pictures import drawn, jpeg

pytestmark = pytest.mark.usefixtures("found_once")


def file(name: str, data: bytes, split: str = "") -> File:
    return File(name, Path(name), split, held=lambda: data)


def test_each_file_is_named_with_its_surest_partner() -> None:
    one, two = drawn(1), drawn(2)
    before = [
        file("a", jpeg(one), "train"),
        file("a small", jpeg(one.resize((200, 150))), "validation"),
        file("b", jpeg(two)),
        file("broken", b"no picture"),
        file("unused", jpeg(drawn(3))),
    ]
    now = [
        file("turned", jpeg(one.transpose(Image.Transpose.ROTATE_270), 60)),
        file("as it was", jpeg(one)),
        file("cut", jpeg(two.crop((0, 0, 300, 300)), 80)),
        file("new", jpeg(drawn(4))),
        file("a", jpeg(drawn(5))),  # the name of another
    ]
    found = seen(now, before)
    assert found.unread == ("broken",)
    assert [pair.file for pair in found.pairs] == ["as it was", "cut", "turned"]
    same, cut, turned = found.pairs
    assert same == Pair("as it was", "a", "same bytes")
    assert (cut.other, cut.how) == ("b", "copy: 75% of it")
    assert turned.other in ("a", "a small") and turned.how == "copy: turned by 90°"
    assert seen(now[3:], before).pairs == ()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_pairs_whatever_the_order_and_the_workers(workers: int) -> None:
    before = [file(f"b{at}", jpeg(drawn(at, (160, 120)))) for at in range(4)]
    now = [file(f"n{at}", jpeg(drawn(at, (160, 120)).resize((120, 90)))) for at in range(4)]
    found = seen(now[::-1], before[::-1], engine=Threads(workers))
    assert [(pair.file, pair.other) for pair in found.pairs] == [(f"n{at}", f"b{at}") for at in range(4)]
