"""Schematic pictures for the bundled sample: small PNGs drawn from lines such as `ct_chest effusion=right`.

The first word is the scene, the others say what is in it: `lesion=KIND[@PLACE]`, `arrow=COLOUR` and a few parts that
belong to one scene (`tube=left`, `heart=big`). As in radiology the patient's left is on the right of the image, in all
views but those from the side. There is no writing in them but the letter R on plain X-rays.

    >>> draw("SAMPLE_test_000001", "xray_chest lesion=haze@right-upper", "DRXR")[:4]
    b'\\x89PNG'
"""

from __future__ import annotations

import hashlib
import io
import math

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from builders.samples.medlaybench_v import radiographs, sections, skeleton, ultrasound, vessels
from builders.samples.medlaybench_v.sheet import FINE, SIDE, Point, Scene, Sheet
from loaders.errors import InputError

_GREY_STEPS = 24  # the noise is kept to few levels: small files
_COLOURS = {
    "white": (255, 255, 255),
    "black": (0, 0, 0),
    "red": (225, 40, 40),
    "yellow": (245, 220, 40),
    "blue": (70, 120, 255),
    "green": (60, 200, 80),
}
_Ink = int | tuple[int, int, int]
_PARTS = frozenset(
    "lesion arrow curve ducts effusion fluid gas flap haze heart line loops nail object prosthesis screws star stent "
    "stone tube ventricles view".split()
)
_LESIONS = frozenset(
    "none bright dark ring target haze nodule stone line hot cold break narrow wedge slip disc cord tear crescent "
    "bulge leak stop tangle".split()
)
_SCENES: dict[str, Scene] = {
    **sections.SCENES,
    **skeleton.SCENES,
    **radiographs.SCENES,
    **ultrasound.SCENES,
    **vessels.SCENES,
}
_PLACES = ("right", "left", "both", "middle", "upper", "lower", "front", "back")


def draw(image_id: str, drawing: str, modality: str) -> bytes:
    """PNG bytes of one picture, at most 256 pixels a side; the same bytes for the same arguments and Pillow.

    Raises:
        InputError: the line names an unknown scene, part, place or colour, or a scene of another modality.
    """
    scene, parts = _parse(drawing)
    if scene not in _SCENES:
        raise InputError(image_id, found=f"scene {scene!r}", expected="one of " + ", ".join(sorted(_SCENES)))
    of_modality, paint, ground = _SCENES[scene]
    if modality != of_modality:
        raise InputError(image_id, found=f"scene {scene!r} for modality {modality!r}", expected=of_modality)
    sheet = Sheet(ground, parts)
    paint(sheet)
    # RandomState and not default_rng: its stream is frozen, so that a newer numpy draws the same noise.
    noise = np.random.RandomState(int.from_bytes(hashlib.sha256(image_id.encode()).digest()[:4], "big"))
    image = _colour(_grey(sheet, noise, of_modality), sheet, scene)
    if "arrow" in parts:
        image = _arrow(image, sheet.target, parts["arrow"])
    if "star" in parts:
        image = _star(image, sheet.target, parts["star"])
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _parse(drawing: str) -> tuple[str, dict[str, str]]:
    scene, *words = drawing.split() or [""]
    parts: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value or name not in _PARTS:
            raise InputError(
                drawing, found=f"part {word!r}", expected="name=value, name of " + ", ".join(sorted(_PARTS))
            )
        parts[name] = value
    lesion, _, place = parts.get("lesion", "none").partition("@")
    if lesion not in _LESIONS:
        raise InputError(drawing, found=f"lesion {lesion!r}", expected="one of " + ", ".join(sorted(_LESIONS)))
    unknown = [part for part in place.split("-") if part and part not in _PLACES]
    if unknown:
        raise InputError(drawing, found=f"place {place!r}", expected="words out of " + ", ".join(_PLACES))
    for marker in ("arrow", "star"):
        if parts.get(marker, "white") not in _COLOURS:
            raise InputError(drawing, found=f"{marker} colour {parts[marker]!r}", expected=", ".join(_COLOURS))
    return scene, parts


def _grey(sheet: Sheet, noise: np.random.RandomState, modality: str) -> Image.Image:
    blurred = sheet.image.filter(ImageFilter.GaussianBlur(1.3 * FINE))
    grey = np.asarray(blurred.resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float64)
    if modality == "DRUS":
        # Speckle: grain that grows with brightness, smeared sideways as a beam does.
        grain = noise.rayleigh(0.8, (SIDE, SIDE))
        grain = (grain + np.roll(grain, 1, axis=1) + np.roll(grain, 2, axis=1)) / 3
        grey = np.where(_fan(), (grey + 8) * grain, 0)
    else:
        grey = grey + noise.normal(0, {"DRCT": 5, "DRPE": 4, "DRCO": 4}.get(modality, 3), (SIDE, SIDE))
    step = 255 / (_GREY_STEPS - 1)
    return Image.fromarray((np.clip(np.round(grey / step) * step, 0, 255)).astype(np.uint8))


def _fan() -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    radius, angle = np.hypot(x - 0.5, y + 0.12), np.abs(np.arctan2(x - 0.5, y + 0.12))
    fan: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (radius > 0.2) & (radius < 1.06) & (angle < 0.62)
    return fan


def _colour(grey: Image.Image, sheet: Sheet, scene: str) -> Image.Image:
    """Fused pictures get their tracer in colour; all others stay grey."""
    if scene != "petct":
        return grey
    heat = Image.new("L", grey.size, 0)
    for (x, y), size in sheet.hot:
        spot = Image.new("L", grey.size, 0)
        ImageDraw.Draw(spot).ellipse([(v + s * size) * SIDE for s in (-1, 1) for v in (x, y)], fill=255)
        heat = ImageChops.lighter(heat, spot.filter(ImageFilter.GaussianBlur(size * SIDE * 0.35)))
    orange = Image.merge("RGB", (heat, heat.point([v // 2 for v in range(256)]), Image.new("L", grey.size, 0)))
    return Image.composite(orange, grey.convert("RGB"), heat.point([min(255, v * 2) for v in range(256)]))


def _arrow(image: Image.Image, target: Point, colour: str) -> Image.Image:
    """An arrow that ends just short of `target`, coming from the nearer side of the image."""
    x, y = (v * SIDE for v in target)
    turn = math.radians(-35 if y > SIDE * 0.3 else 35)
    away = 1 if x >= SIDE / 2 else -1
    dx, dy = away * math.cos(turn), math.sin(turn)
    tip = (x + dx * 9, y + dy * 9)
    neck, tail = (tip[0] + dx * 9, tip[1] + dy * 9), (tip[0] + dx * 27, tip[1] + dy * 27)
    head = [tip, (neck[0] - dy * 5.5, neck[1] + dx * 5.5), (neck[0] + dy * 5.5, neck[1] - dx * 5.5)]
    coloured, ink, edge = _inks(image, colour)
    pen = ImageDraw.Draw(coloured)
    pen.line([neck, tail], fill=edge, width=7)
    pen.polygon(head, fill=ink, outline=edge, width=2)
    pen.line([neck, tail], fill=ink, width=4)
    pen.polygon([(0.85 * p[0] + 0.15 * neck[0], 0.85 * p[1] + 0.15 * neck[1]) for p in head], fill=ink)
    return coloured


def _star(image: Image.Image, target: Point, colour: str) -> Image.Image:
    """An asterisk on `target`."""
    coloured, ink, edge = _inks(image, colour)
    pen = ImageDraw.Draw(coloured)
    x, y = (v * SIDE for v in target)
    for width, shade in ((4, edge), (2, ink)):
        for degrees in (90, 210, 330):
            dx, dy = 7 * math.cos(math.radians(degrees)), 7 * math.sin(math.radians(degrees))
            pen.line([(x - dx, y - dy), (x + dx, y + dy)], fill=shade, width=width)
    return coloured


def _inks(image: Image.Image, colour: str) -> tuple[Image.Image, _Ink, _Ink]:
    """The image in a mode that can hold the colour, the colour, and the shade of a rim that stands out from it."""
    rim = (255, 255, 255) if colour == "black" else (0, 0, 0)
    if image.mode == "L" and colour in ("white", "black"):
        return image, _COLOURS[colour][0], rim[0]
    return image.convert("RGB"), _COLOURS[colour], rim
