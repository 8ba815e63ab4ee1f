"""Images by name."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from loaders.files.image_files import ImageIndex


def test_whether_there_are_any_is_asked_for_each_row_and_counts_nothing(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"{number}.jpg").touch()
    index = ImageIndex(tmp_path, tmp_path)
    tracemalloc.start()
    try:
        assert index and len(index) == 1000
        assert tracemalloc.get_traced_memory()[1] < 10_000  # bytes; each name of a thousand takes more
    finally:
        tracemalloc.stop()


def _images(folder: Path, **contents: bytes) -> ImageIndex:
    for name, content in contents.items():
        path = folder / f"{name.replace('__', '/')}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return ImageIndex(folder)


def _found(index: ImageIndex, *names: str) -> str:
    file = index.find(*names)
    return "nothing" if file is None else file.problem or file.name


def test_a_name_that_fits_several_images_finds_none(tmp_path: Path) -> None:
    index = _images(tmp_path, acne__001=b"a", warts__001=b"w", acne__002=b"b", deep__acne__002=b"b", warts__003=b"c")
    told = "image ambiguous: 001.jpg may be acne/001.jpg and warts/001.jpg"
    assert _found(index, "001.jpg") == told and _found(index, "elsewhere/001.jpg") == told
    assert index.find("001.jpg").usable is None  # type: ignore[union-attr]
    assert _found(index, "001").startswith("image ambiguous: 001 may be")
    assert _found(index, "002.jpg") == "acne/002.jpg", "copies of the same bytes are one picture"
    assert _found(index, "001.jpg", "003.jpg") == "warts/003.jpg", "the other name fits one alone"


def test_folders_that_a_name_has_decide(tmp_path: Path) -> None:
    index = _images(tmp_path, acne__001=b"a", warts__001=b"w", top=b"t", warts__top=b"o")
    for prefix in ("", "dataset/", "/data/dataset/"):
        assert _found(index, f"{prefix}warts/001.jpg") == _found(index, f"{prefix}warts/001") == "warts/001.jpg"
    assert _found(index, "top.jpg") == _found(index, "else/top.jpg") == "top.jpg", "its whole name"


def test_endings_in_capitals_and_accents_in_either_form_are_the_same(tmp_path: Path) -> None:
    for name in ("IMG_1.JPG", "caf\u00e9.jpeg", "re\u0301sume\u0301.png"):  # as cameras, and as macOS, write them
        (tmp_path / name).write_bytes(name.encode())
    index = ImageIndex(tmp_path)
    assert len(index) == 3 and _found(index, "IMG_1") == "IMG_1.JPG"
    for asked in ("caf\u00e9", "cafe\u0301.jpeg"):
        assert _found(index, asked) == "caf\u00e9.jpeg"
    for asked in ("r\u00e9sum\u00e9.png", "re\u0301sume\u0301"):
        assert _found(index, asked) == "r\u00e9sum\u00e9.png"


def test_digits_after_a_point_are_no_extension(tmp_path: Path) -> None:
    index = _images(tmp_path, **{"1.2.840.1": b"a", "1.2.840.1.7": b"b"})
    assert _found(index, "1.2.840.1.7") == "1.2.840.1.7.jpg" and _found(index, "1.2.840.1.8") == "nothing"
    assert _found(index, "1.2.840.1.dcm") == "1.2.840.1.jpg"


def test_names_written_as_windows_does(tmp_path: Path) -> None:
    index = _images(tmp_path, acne__001=b"a", warts__001=b"w", acne__002=b"b")
    assert _found(index, "acne\\001.jpg") == "acne/001.jpg"
    assert _found(index, r"C:\Users\ada\acne\002.jpg") == "acne/002.jpg"
    (tmp_path / r"warts\002.jpg").write_bytes(b"c")  # elsewhere this is a name like any other
    assert _found(ImageIndex(tmp_path), r"warts\002.jpg") == r"warts\002.jpg"
