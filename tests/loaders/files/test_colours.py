"""Colour profiles: what a viewer shows is what is published, and sRGB stays as it is to the bit."""

import io
import struct

import numpy as np
import pytest
from PIL import Image, ImageCms

from loaders.files.colours import in_srgb
from loaders.files.images import clean_bytes, open_image
from loaders.files.kinds import picture_format

_SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def _icc(space: bytes, connection: bytes, kind: bytes, tags: dict[bytes, bytes]) -> bytes:
    """A profile of version 2 with these tags."""
    place, table, body = 132 + 12 * len(tags), struct.pack(">I", len(tags)), b""
    for name, tag in tags.items():
        table += name + struct.pack(">II", place + len(body), len(tag))
        body += tag + bytes(-len(tag) % 4)
    head = struct.pack(
        ">I4sI4s4s4s12s4s", place + len(body), bytes(4), 0x02400000, kind, space, connection, bytes(12), b"acsp"
    )
    white = struct.pack(">iii", 63190, 65536, 54061)
    return head + bytes(28) + white + bytes(48) + table + body


def _xyz(*values: float) -> bytes:
    return b"XYZ " + bytes(4) + struct.pack(">iii", *(round(65536 * value) for value in values))


def _gamma(value: float) -> bytes:
    return b"curv" + bytes(4) + struct.pack(">IH", 1, round(256 * value))


_WHITE = _xyz(0.9642, 1, 0.8249)


def wide() -> bytes:
    """The primaries of Display P3, as phones write them."""
    curves = dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), _gamma(2.2))
    primaries = {b"rXYZ": _xyz(0.5151, 0.2412, -0.0011), b"gXYZ": _xyz(0.2920, 0.6922, 0.0419)}
    return _icc(
        b"RGB ", b"XYZ ", b"mntr", {b"wtpt": _WHITE, **primaries, b"bXYZ": _xyz(0.1571, 0.0666, 0.7841), **curves}
    )


def grey(gamma: float) -> bytes:
    return _icc(b"GRAY", b"XYZ ", b"mntr", {b"wtpt": _WHITE, b"kTRC": _gamma(gamma)})


def ink() -> bytes:
    """A printing press whose paper is white, and whose cyan, of all colours, prints red: no naive sum of inks does."""
    straight = bytes(range(256))
    corners = b""
    for number in range(16):
        cyan, black = number & 8, number & 1
        corners += bytes([0, 128, 128] if black else [140, 200, 190] if cyan else [255, 128, 128])
    identity = struct.pack(">9i", 65536, 0, 0, 0, 65536, 0, 0, 0, 65536)
    table = b"mft1" + bytes(4) + bytes([4, 3, 2, 0]) + identity + straight * 4 + corners + straight * 3
    return _icc(b"CMYK", b"Lab ", b"prtr", {b"wtpt": _WHITE, b"A2B0": table, b"A2B1": table})


def saved(image: Image.Image, form: str, profile: bytes, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, icc_profile=profile, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_a_wide_gamut_photo_is_published_in_the_colours_that_a_viewer_shows(form: str) -> None:
    data = saved(
        Image.new("RGB", (16, 16), (200, 80, 60)), form, wide(), **({"quality": 100} if form != "TIFF" else {})
    )
    kept, _ = clean_bytes(data)
    assert picture_format(kept) == "PNG"
    pixel = open_image(kept).getpixel((8, 8))
    assert isinstance(pixel, tuple) and pixel[0] > 212 and pixel[1] < 80, pixel  # redder than the same numbers in sRGB
    assert Image.open(io.BytesIO(kept)).info == {} and clean_bytes(kept)[0] == kept


@pytest.mark.parametrize("profile", [_SRGB, b"no profile", wide()[:90], grey(1.0), ink(), b""])
@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_what_is_srgb_or_has_a_profile_that_says_nothing_of_it_stays_to_the_bit(form: str, profile: bytes) -> None:
    picture = Image.fromarray(np.random.default_rng(3).integers(0, 256, (24, 32, 3), np.uint8))
    data, plain = saved(picture, form, profile), saved(picture, form, b"")
    assert (kept := clean_bytes(data)[0]) == clean_bytes(plain)[0] and picture_format(kept) == form


def test_grey_levels_are_those_that_are_shown() -> None:
    ramp = Image.fromarray(np.arange(256, dtype=np.uint8).reshape(8, 32))
    assert open_image(saved(ramp, "PNG", _SRGB)).tobytes() == ramp.tobytes()
    shown = np.asarray(open_image(saved(ramp, "PNG", grey(1.0))))
    assert shown.shape == (8, 32) and shown[0, 0] == 0 and shown[-1, -1] == 255 and shown[4, 0] > 180  # 128 of light
    assert np.asarray(open_image(saved(ramp, "PNG", wide())))[0, 10] < 10  # one of three equal colours


def test_inks_are_what_their_profile_prints() -> None:
    cyan = Image.new("CMYK", (16, 16), (255, 0, 0, 0))
    plain, printed = (open_image(saved(cyan, "JPEG", profile)).getpixel((8, 8)) for profile in (b"", ink()))
    assert isinstance(plain, tuple) and isinstance(printed, tuple)
    assert plain[0] < 60 < 200 < printed[0]
    assert Image.open(io.BytesIO(clean_bytes(saved(cyan, "JPEG", ink()))[0])).mode == "RGB"


@pytest.mark.parametrize("mode", ["RGBA", "P", "LA", "1"])
def test_transparency_and_palettes_keep_their_form(mode: str) -> None:
    image = Image.new("RGBA", (8, 8), (200, 80, 60, 255))
    image.putpixel((0, 0), (0, 0, 0, 0))
    data = saved(image.convert(mode), "PNG", wide())
    assert open_image(data).size == (8, 8)
    if mode == "RGBA":
        shown = open_image(data)
        assert shown.getpixel((0, 0)) == (255, 255, 255)  # laid on white, after its colours were put into sRGB
        pixel = shown.getpixel((4, 4))
        assert isinstance(pixel, tuple) and pixel[0] > 212


def test_a_picture_without_a_profile_is_not_touched() -> None:
    assert in_srgb(Image.new("RGB", (4, 4))) is None
