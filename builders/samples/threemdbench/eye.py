"""An eye from the front, with what ails it or its lids."""

from __future__ import annotations

import numpy as np

from builders.samples.threemdbench.canvas import Canvas
from builders.samples.threemdbench.skin import TONES, ground

_IRISES = ((74, 98, 120), (92, 72, 48), (60, 44, 34), (92, 112, 82))


def draw_eye(canvas: Canvas, diagnosis: str) -> None:
    """Lids, the white of the eye, iris and lashes; a red eye, a lump at the rim of a lid, or one within a lid."""
    tone = TONES[canvas.random.randint(5)]
    ground(canvas, tone)
    y = canvas.between(-0.05, 0.12)
    wide, high = canvas.between(0.68, 0.8), canvas.between(0.26, 0.36)
    upper = y - high * np.sqrt(np.clip(1 - (canvas.x / wide) ** 2, 0, 1))
    lower = y + high * 0.8 * np.sqrt(np.clip(1 - (canvas.x / wide) ** 2, 0, 1))
    opening = np.clip(np.minimum(canvas.y - upper, lower - canvas.y) / 0.03, 0, 1)
    crease = np.exp(-(((canvas.y - upper + 0.22) / 0.03) ** 2)) * (np.abs(canvas.x) < wide)
    canvas.tint(crease, (0.72, 0.66, 0.64))
    canvas.paint(opening, (238, 234, 230))
    iris = (canvas.between(-0.12, 0.12), y)
    _white(canvas, opening, diagnosis == "conjunctivitis")
    canvas.paint(opening * canvas.oval(iris, 0.26, 0.26), _IRISES[canvas.random.randint(4)])
    canvas.paint(opening * canvas.oval(iris, 0.11, 0.11), (16, 14, 14))
    canvas.shine(opening * canvas.oval((iris[0] - 0.08, iris[1] - 0.09), 0.045, 0.045), 1.6)
    rim = np.clip(1 - np.abs(canvas.y - upper) / 0.025, 0, 1) * (np.abs(canvas.x) < wide)
    canvas.paint(rim, (52, 36, 32), 0.8)
    lashes = np.zeros(canvas.shape)
    for _ in range(22):
        x = canvas.between(-wide * 0.95, wide * 0.95)
        root = y - high * np.sqrt(1 - (x / wide) ** 2)
        lashes = np.maximum(lashes, canvas.vessel((x, root), -1.57 + x * 0.6, 0.15, 0.006))
    canvas.paint(lashes, (34, 24, 22), 0.9)
    if diagnosis == "conjunctivitis":
        canvas.paint(
            canvas.blob((np.sign(canvas.between(-1, 1)) * wide * 0.85, y + 0.08), 0.08, ragged=0.5),
            (224, 208, 140),
            0.9,
        )
        canvas.tint(np.clip(1 - np.abs(canvas.y - lower) / 0.12, 0, 1) * (np.abs(canvas.x) < wide), (1.0, 0.74, 0.74))
    elif diagnosis == "stye":
        _lump(canvas, wide, y, high, at_rim=True)
    else:
        _lump(canvas, wide, y, high, at_rim=False)


def _white(canvas: Canvas, opening: np.ndarray[tuple[int, ...], np.dtype[np.float64]], red: bool) -> None:
    if red:
        canvas.tint(opening, (1.0, 0.72, 0.72))
    vessels = np.zeros(canvas.shape)
    for _ in range(30 if red else 3):
        side = 1 if canvas.between(-1, 1) > 0 else -1
        start = (side * canvas.between(0.5, 0.75), canvas.between(-0.2, 0.25))
        heading = (3.14 if side > 0 else 0.0) + canvas.between(-0.5, 0.5)
        vessels = np.maximum(vessels, canvas.vessel(start, heading, 0.35, 0.008))
    canvas.tint(opening * vessels, (0.95, 0.4, 0.4))


def _lump(canvas: Canvas, wide: float, y: float, high: float, *, at_rim: bool) -> None:
    """A lump in the upper or lower lid: red with a yellow point at the rim, or round and pale further away."""
    x, up = canvas.between(-0.4, 0.4), canvas.between(-1, 1) > 0
    curve = high * np.sqrt(1 - (x / wide) ** 2)
    away = 0.05 if at_rim else 0.24
    at = (x, y - curve - away) if up else (x, y + 0.8 * curve + away)
    size = canvas.between(0.11, 0.15) if at_rim else canvas.between(0.16, 0.22)
    if at_rim:
        canvas.tint(canvas.blob(at, size * 2.2, edge=size * 2), (1.0, 0.66, 0.64))
    dome = np.clip(canvas.depth(at, size, 0.08) / size, 0, 1) ** 0.5
    canvas.tint(np.clip(dome * 2, 0, 1), (1.0, 0.7, 0.66) if at_rim else (1.02, 0.92, 0.9))
    canvas.light(dome, 1.3)
    if at_rim:
        canvas.paint(canvas.oval(at, size * 0.35, size * 0.35, edge=size * 0.25), (236, 212, 120), 0.9)
