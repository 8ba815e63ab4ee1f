"""Images of strangers: refused before they cost anything, or shown upright and published without metadata."""

import io
import pickle
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from loaders.errors import InputError
from loaders.files import images
from loaders.files.image_formats import ALWAYS, readable
from loaders.files.images import ImageError, clean_bytes, open_image
from loaders.files.kinds import picture_format

# Four quadrants, wider than high, so that every turn shows.
CORNERS = np.zeros((16, 32, 3), np.uint8)
CORNERS[:8, :16] = (200, 0, 0)
CORNERS[:8, 16:] = (0, 200, 0)
CORNERS[8:, :16] = (0, 0, 200)


def encoded(image: Image.Image, form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format=form, **options)
    return buffer.getvalue()


def colour() -> Image.Image:
    return Image.fromarray(CORNERS)


def decoded(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)))


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png_header(width: int, height: int) -> bytes:
    """A PNG of a few bytes that claims to be of this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(64))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body


@pytest.mark.parametrize(
    ("data", "reason", "found"),
    [
        (b"", "empty", "is empty"),
        (b"This is a letter, not a radiograph.", "not_an_image", "no image"),
        (b"version https://git-lfs.github.com/spec/v1\noid", "not_an_image", "git lfs pull"),
        (b"<html><body>404", "not_an_image", "web page"),
        (b"<?xml version='1.0'?><svg/>", "format_not_read", "SVG"),
        (png_header(40_000, 40_000), "too_large", "40,000 x 40,000 pixels"),
        # Between Pillow's own two bounds, where it only warns.
        (png_header(10_000, 10_000), "too_large", "10,000 x 10,000 pixels"),
        (png_header(64, 64), "truncated", "cannot be decoded"),
        (encoded(colour(), "PNG")[:60], "truncated", "cannot be decoded"),
        (encoded(colour(), "JPEG")[:-60], "truncated", "cannot be decoded"),
        (encoded(colour(), "TIFF")[:-40], "truncated", "cannot be decoded"),
        (encoded(colour(), "PNG").replace(b"IDAT\x78", b"IDAT\x79"), "corrupt", "cannot be decoded"),
    ],
    ids="empty text pointer page drawing bomb half-bomb no-pixels cut-PNG cut-JPEG cut-TIFF damaged-PNG".split(),
)
def test_unusable_files_give_a_reason(data: bytes, reason: str, found: str) -> None:
    for function in (open_image, clean_bytes):
        with pytest.raises(ImageError) as error:
            function(data, name="row 7")
        assert error.value.reason == reason
        assert error.value.where == "row 7"
        assert found in error.value.found
        assert isinstance(error.value, InputError)


def test_files_that_are_not_there_or_not_what_they_are_named(tmp_path: Path) -> None:
    text = tmp_path / "letter.jpg"
    text.write_text("Dear colleague")
    for path, reason in ((text, "not_an_image"), (tmp_path / "gone.png", "missing"), (tmp_path, "missing")):
        with pytest.raises(ImageError) as error:
            open_image(path)
        assert (error.value.reason, error.value.where) == (reason, str(path))
    wrong = tmp_path / "scan.png"
    wrong.write_bytes(encoded(colour(), "JPEG"))
    assert clean_bytes(wrong) == (wrong.read_bytes(), 1)


def test_the_bound_is_inclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(colour(), "PNG")
    monkeypatch.setattr(images, "MAX_PIXELS", 16 * 32)
    assert open_image(data).size == (32, 16)
    monkeypatch.setattr(images, "MAX_PIXELS", 16 * 32 - 1)
    with pytest.raises(ImageError, match="32 x 16 pixels"):
        open_image(data)


def test_an_error_survives_the_way_back_from_a_worker() -> None:
    error = ImageError("a.png", reason="empty", found="is empty", expected="an image")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.reason, str(again)) == (ImageError, "empty", str(error))


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_clean_files_are_published_as_they_are(form: str, mode: str) -> None:
    data = encoded(colour().convert(mode), form)
    assert clean_bytes(data) == (data, 1)


def test_jpeg_loses_its_metadata_and_nothing_else() -> None:
    exif = Image.Exif()
    exif[0x010F] = "Camera of J. Doe"
    options = {"exif": exif, "comment": b"patient J. Doe", "icc_profile": b"a profile", "dpi": (72, 72), "quality": 80}
    for extra in ({}, {"progressive": True}, {"optimize": True}):
        data = encoded(colour(), "JPEG", **options, **extra) + b"J. Doe behind the end"
        kept, _ = clean_bytes(data)
        assert b"Doe" not in kept and b"profile" not in kept
        assert np.array_equal(decoded(kept), decoded(data))
        assert picture_format(kept) == "JPEG"
        assert clean_bytes(kept)[0] == kept


def test_jpeg_keeps_what_says_how_colours_are_coded() -> None:
    # Stored as RGB rather than YCbCr: only Adobe's segment tells.
    data = encoded(colour(), "JPEG", keep_rgb=True, quality=95)
    kept, _ = clean_bytes(data)
    assert np.array_equal(decoded(kept), decoded(data))
    assert abs(int(decoded(kept)[2, 2, 0]) - 200) < 16


def test_jpeg_thumbnail_in_the_jfif_header_goes() -> None:
    data = encoded(colour(), "JPEG")
    assert data[2:4] == b"\xff\xe0"
    header = b"\xff\xe0" + struct.pack(">H", 16 + 3) + data[6:18] + b"\x01\x01" + b"abc"
    kept, _ = clean_bytes(data[:2] + header + data[20:])
    assert kept == data


def test_png_loses_its_metadata_and_nothing_else() -> None:
    text = PngImagePlugin.PngInfo()
    text.add_text("Patient", "J. Doe")
    text.add_itxt("Note", "J. Doe", zip=True)
    data = encoded(colour(), "PNG", pnginfo=text, dpi=(72, 72)) + b"J. Doe behind the end"
    assert clean_bytes(data) == (encoded(colour(), "PNG"), 1)


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF"])
def test_exif_orientation_is_applied_once(form: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(colour(), form, exif=exif)
    kept, _ = clean_bytes(data)
    assert (Image.open(io.BytesIO(kept)).size, picture_format(kept)) == ((16, 32), "PNG")
    # Turned by a quarter to the right: blue comes up to the left, red to the right.
    top_left, top_right = decoded(kept)[3, 3].astype(int), decoded(kept)[3, 12].astype(int)
    assert top_left[2] > 150 > 100 > top_left[0]
    assert top_right[0] > 150 > 100 > top_right[2]
    assert not Image.open(io.BytesIO(kept)).getexif()
    assert np.array_equal(np.asarray(open_image(data)), decoded(kept))


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_exif_that_is_nonsense_is_no_reason_to_refuse() -> None:
    data = encoded(colour(), "JPEG", exif=b"Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff")
    kept, _ = clean_bytes(data)
    assert np.array_equal(decoded(kept), decoded(data))


def test_every_kind_of_pixel_becomes_rgb_or_grey() -> None:
    grey = np.linspace(1000, 3000, 16 * 32).reshape(16, 32)
    palette = colour().quantize(4)
    half = colour().convert("RGBA")
    half.putalpha(Image.fromarray(np.full((16, 32), 0, np.uint8)))
    files = {
        "1": (encoded(colour().convert("1"), "PNG"), "L"),
        "P": (encoded(palette, "PNG"), "RGB"),
        "P with transparency": (encoded(palette, "PNG", transparency=0), "RGB"),
        "RGBA": (encoded(half, "PNG"), "RGB"),
        "LA": (encoded(half.convert("LA"), "PNG"), "L"),
        "I;16": (encoded(Image.fromarray(grey.astype(np.uint16)), "PNG"), "L"),
        "F": (encoded(Image.fromarray(grey.astype(np.float32)), "TIFF"), "L"),
        "CMYK": (encoded(colour().convert("CMYK"), "JPEG"), "RGB"),
        "GIF": (encoded(colour(), "GIF"), "RGB"),
        "BMP": (encoded(colour(), "BMP"), "RGB"),
        "WEBP": (encoded(colour(), "WEBP", lossless=True), "RGB"),
    }
    for name, (data, mode) in files.items():
        kept, _ = clean_bytes(data)
        assert Image.open(io.BytesIO(kept)).mode == mode, name
        assert picture_format(kept) == "PNG", name
        assert np.array_equal(decoded(kept), np.asarray(open_image(data))), name
        assert clean_bytes(data)[0] == kept, name
    assert np.array_equal(decoded(clean_bytes(files["BMP"][0])[0]), CORNERS)
    # Wholly transparent: what is seen is the ground, not the hidden pixels.
    assert (decoded(clean_bytes(files["RGBA"][0])[0]) == 255).all()
    # 16 bits are spread over the grey levels that are in use; cutting to the upper byte would leave 3 to 11.
    wide = decoded(clean_bytes(files["I;16"][0])[0])
    assert (wide.min(), wide.max()) == (0, 255)


def test_a_transparent_level_of_sixteen_bits_is_white_and_the_others_are_scaled() -> None:
    rows = b"".join(b"\x00" + struct.pack(">HHHH", 9, 1000, 1500, 2000) for _ in range(4))
    header = struct.pack(">IIBBBBB", 4, 4, 16, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"tRNS", struct.pack(">H", 9)) + chunk(b"IDAT", zlib.compress(rows))
    kept, _ = clean_bytes(b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b""))
    assert decoded(kept)[0].tolist() == [255, 0, 128, 255]


def test_sixteen_bit_colour_is_brought_to_eight() -> None:
    rows = b"".join(b"\x00" + struct.pack(">HHH", 0xC8C8, 0, 0x1010) * 4 for _ in range(4))
    header = struct.pack(">IIBBBBB", 4, 4, 16, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    kept, _ = clean_bytes(b"\x89PNG\r\n\x1a\n" + body)
    assert kept[24] == 8
    assert decoded(kept)[0, 0].tolist() == [0xC8, 0, 0x10]


@pytest.mark.parametrize("form", ["GIF", "PNG", "WEBP", "TIFF"])
def test_the_first_frame_of_an_animation(form: str) -> None:
    second = Image.new("RGB", (32, 16), "white")
    kept, frames = clean_bytes(
        encoded(colour(), form, save_all=True, append_images=[second], **({"lossless": True} if form == "WEBP" else {}))
    )
    assert frames == 2
    assert np.abs(decoded(kept).astype(int) - CORNERS).max() <= 2
    assert getattr(Image.open(io.BytesIO(kept)), "n_frames", 1) == 1


def test_a_second_picture_after_the_first_is_removed() -> None:
    data = encoded(colour(), "MPO", save_all=True, append_images=[Image.new("RGB", (32, 16), "white")])
    kept, frames = clean_bytes(data)
    assert (picture_format(kept), frames) == ("JPEG", 1)
    assert Image.open(io.BytesIO(kept)).format == "JPEG"
    assert np.array_equal(decoded(kept), decoded(data))


def test_many_threads_leave_pillow_as_it_was() -> None:
    bound = Image.MAX_IMAGE_PIXELS
    good = encoded(colour(), "PNG", dpi=(72, 72))
    jobs = [good, png_header(40_000, 40_000)] * 40

    def job(data: bytes) -> bytes | str:
        try:
            return clean_bytes(data)[0]
        except ImageError as error:
            return error.reason

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(job, jobs)) == {clean_bytes(good)[0], "too_large"}
    assert bound == Image.MAX_IMAGE_PIXELS


HEIC = pytest.mark.skipif("HEIF" not in readable(), reason="pillow-heif is not installed (extra `heic`)")
AVIF = pytest.mark.skipif("AVIF" not in readable(), reason="this Pillow was built without AVIF")
NEWER = [pytest.param("HEIF", marks=HEIC), pytest.param("AVIF", marks=AVIF), "JPEG2000"]


@pytest.mark.parametrize("form", NEWER)
def test_formats_of_phones_become_a_png_of_what_is_shown(form: str, tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # as AVIF says it; pillow-heif turns the pixels itself
    data = encoded(colour(), form, **({"exif": exif} if form == "AVIF" else {}))
    shown = open_image(data)
    cleaned, frames = clean_bytes(data)
    assert (picture_format(cleaned), frames) == ("PNG", 1)
    assert np.array_equal(decoded(cleaned), np.asarray(shown)) and clean_bytes(data)[0] == cleaned
    assert shown.size == ((16, 32) if form == "AVIF" else (32, 16)) and not Image.open(io.BytesIO(cleaned)).info
    named = tmp_path / "photo.jpg"
    named.write_bytes(data)
    assert clean_bytes(named)[0] == cleaned


@pytest.mark.parametrize("form", NEWER)
def test_newer_formats_are_held_to_the_same_limits(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = encoded(Image.new("RGB", (400, 300), "red"), form)
    with monkeypatch.context() as patch, pytest.raises(ImageError, match="400 x 300 pixels") as error:
        patch.setattr(images, "MAX_PIXELS", 100_000)
        open_image(data)
    assert error.value.reason == "too_large"
    place = {"HEIF": b"ispe\0\0\0\0", "AVIF": b"ispe\0\0\0\0", "JPEG2000": b"ihdr"}[form]
    at = data.index(place) + len(place)
    huge, tiny = struct.pack(">II", 60_000, 60_000), struct.pack(">II", 20, 20)
    with pytest.raises(ImageError) as error:  # a bomb of a few bytes, before it is decoded
        open_image(data[:at] + huge + data[at + 8 :])
    assert error.value.reason == "too_large"
    for spoilt in (data[: len(data) // 2], data[: at + 30], data[:at] + tiny + data[at + 8 :]):
        try:  # an AVIF is laid into the size that it states
            assert open_image(spoilt).size == (20, 20)
        except ImageError as error_:
            assert error_.reason in ("truncated", "corrupt", "not_an_image", "format_not_read"), error_.found


def test_a_jpeg_2000_with_a_false_size_is_refused_by_its_stream() -> None:
    data = bytearray(encoded(colour(), "JPEG2000"))
    at = data.index(b"\xff\x4f\xff\x51") + 8
    data[at : at + 8] = struct.pack(">II", 50_000, 50_000)
    with pytest.raises(ImageError, match="50,000 x 50,000"):
        open_image(bytes(data))


@pytest.mark.parametrize(
    ("data", "what", "do"),
    [
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC", "extra `heic`"),
        (b"\xff\x0a" + bytes(40), "JPEG XL", "djxl"),
        (b"\0\0\0\x0cJXL \r\n\x87\n" + bytes(40), "JPEG XL", "djxl"),
        (b"\0\0\0\x18ftypcrx " + bytes(40), "raw file of a camera", "darktable-cli"),
        (b"\0\0\0\x18ftypqt  " + bytes(40), "a film", "ffmpeg"),
        (bytes(128) + b"DICM" + bytes(40), "DICOM", "dcmj2pnm"),
        (b"%PDF-1.7 ...", "a PDF", "pdfimages"),
        (b"8BPS" + bytes(40), "Photoshop", "magick"),
        (encoded(colour(), "TIFF", tiffinfo={50706: b"\1\4\0\0"}), "raw file of a camera", "darktable-cli"),
    ],
    ids=["HEIC", "JXL", "boxed JXL", "CR3", "film", "DICOM", "PDF", "PSD", "DNG"],
)
def test_a_format_that_is_refused_is_named_with_its_remedy(
    data: bytes, what: str, do: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "readable", lambda: ALWAYS)
    with pytest.raises(ImageError) as error:
        open_image(data)
    assert error.value.reason == "format_not_read"
    assert what in error.value.found and do in error.value.do and do in error.value.detail
    assert str(Path.home()) not in str(error.value)  # it may stand in a release


@AVIF
def test_formats_that_this_pillow_lacks_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    avif, jpeg2000 = encoded(colour(), "AVIF"), encoded(colour(), "JPEG2000")
    monkeypatch.setattr(images, "readable", lambda: ALWAYS)
    for data, what in ((avif, "an AVIF picture"), (jpeg2000, "a JPEG 2000 picture")):
        with pytest.raises(ImageError, match=what) as error:
            open_image(data)
        assert "Pillow from PyPI" in error.value.do


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1)])
@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF"])
def test_a_side_of_one_pixel_shows_nothing(form: str, size: tuple[int, int]) -> None:
    with pytest.raises(ImageError, match="which show nothing") as error:
        clean_bytes(encoded(Image.new("RGB", size), form))
    assert error.value.reason == "one_pixel"
    assert open_image(encoded(Image.new("RGB", (2, 2)), form)).size == (2, 2)
