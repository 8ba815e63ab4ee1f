"""Lesions on skin, put together from what a line of `looks.csv` says of them."""

from __future__ import annotations

import math

import numpy as np

from builders.samples.threemdbench.canvas import Canvas, Colour, Mask, faded
from builders.samples.threemdbench.look import Look

# From very light to very dark skin.
TONES: tuple[Colour, ...] = (
    (238, 205, 184),
    (228, 187, 160),
    (208, 160, 128),
    (181, 131, 98),
    (141, 95, 68),
    (99, 65, 48),
)
# How a colour of a lesion changes the skin beneath it: multiplied, so that it shows on every tone.
_TINTS: dict[str, Colour] = {
    "red": (1.0, 0.62, 0.62),
    "pink": (1.04, 0.82, 0.80),
    "purple": (0.80, 0.58, 0.74),
    "brown": (0.58, 0.47, 0.40),
    "dark": (0.72, 0.64, 0.60),
    "skin": (1.05, 1.02, 1.0),
}
_WHITE, _YELLOW, _BLACK, _CRUST = (244, 236, 226), (226, 200, 118), (38, 28, 26), (150, 96, 58)


def draw_skin(canvas: Canvas, look: Look) -> None:
    """Skin of some tone, and the lesions that the look asks for."""
    tones = TONES[3:] if look.colour == "white" else TONES[: 4 if look.colour in ("pink", "skin") else 6]
    tone = tones[canvas.random.randint(len(tones))]
    ground(canvas, tone)
    if look.flush:
        canvas.tint(canvas.blob((0, 0), look.flush, edge=0.7, ragged=0.3), _TINTS["red"])
    for at, scale in places(canvas, look):
        size = canvas.between(*look.size) * scale
        reach = size * (1.2 + look.ragged + 2 * look.halo) + look.edge + 0.06
        lesion(canvas.near(at, reach), look, at, size, tone)
    if look.texture == "vessels":
        vessels = np.zeros(canvas.shape)
        for _ in range(24):
            start = (canvas.between(-0.7, 0.7), canvas.between(-0.7, 0.7))
            vessels = np.maximum(vessels, canvas.vessel(start, canvas.between(0, 6.3), 0.4, 0.007))
        canvas.tint(vessels, (0.92, 0.4, 0.46))


def ground(canvas: Canvas, tone: Colour) -> None:
    """Bare skin: uneven colour, pores and fine lines."""
    canvas.fill(tone)
    canvas.pixels += canvas.noise(5)[..., None] * np.asarray((4.0, 4.5, 4.5))
    canvas.light(canvas.noise(70) * 0.02, 1.0)
    lines = np.sin(canvas.between(40, 60) * (canvas.x * math.cos(a := canvas.between(0, 3.1)) + canvas.y * math.sin(a)))
    canvas.pixels += (1.6 * lines * canvas.noise(9))[..., None]


def places(canvas: Canvas, look: Look) -> list[tuple[tuple[float, float], float]]:
    """Where the lesions lie, and how large each is beside the others."""
    count = canvas.random.randint(look.count[0], look.count[1] + 1)
    middle = (canvas.between(-0.25, 0.25), canvas.between(-0.25, 0.25))
    if look.spread == "alone":
        return [(middle, 1.0)] + [
            ((canvas.between(-0.8, 0.8), canvas.between(-0.8, 0.8)), 0.5) for _ in range(count - 1)
        ]
    found = []
    heading = canvas.between(-0.5, 0.5)
    for _ in range(count):
        if look.spread == "cluster":
            at = (middle[0] + canvas.random.normal(0, 0.2), middle[1] + canvas.random.normal(0, 0.2))
        elif look.spread == "band":
            along, across = canvas.between(-0.95, 0.95), canvas.random.normal(0, 0.13)
            at = (along * math.cos(heading) - across * math.sin(heading), along * math.sin(heading) + across)
        else:
            at = (canvas.between(-0.9, 0.9), canvas.between(-0.9, 0.9))
        found.append((at, canvas.between(0.7, 1.2)))
    return found


def lesion(canvas: Canvas, look: Look, at: tuple[float, float], size: float, tone: Colour) -> None:
    """One lesion: its colour, its relief, what covers it and what is in its middle."""
    depth = canvas.depth(at, size, look.ragged)
    mask = faded(depth, look.edge)
    if look.shape == "ring":
        mask = mask * (1 - 0.8 * faded(depth - size * 0.35, size * 0.3))
    if look.halo:
        canvas.tint(canvas.blob(at, size * (1 + look.halo), edge=size * look.halo, ragged=0.2), _TINTS["red"])
    if look.colour == "white":
        canvas.paint(mask, (236, 214, 198), 0.85)
    else:
        canvas.tint(mask, _TINTS[look.colour])
    if look.relief:
        # A dome for what is raised as a whole, a step for what is flat on top.
        dome = np.clip(depth / size, 0, 1) ** 0.5 if look.shape == "bump" else mask
        canvas.light(dome, look.relief)
    _cover(canvas, look, mask, at, size)
    _middle(canvas, look, at, size, tone)


def _cover(canvas: Canvas, look: Look, mask: Mask, at: tuple[float, float], size: float) -> None:
    if look.texture == "scale":
        canvas.paint(mask * (canvas.noise(34) > -0.25) * np.clip(canvas.noise(12) + 0.9, 0, 1), (238, 232, 228), 0.72)
    elif look.texture == "flakes":
        canvas.paint(mask * (canvas.noise(46) > 0.9), (242, 234, 220), 0.8)
    elif look.texture == "greasy":
        canvas.paint(mask * (canvas.noise(26) > 0.45), (232, 206, 128), 0.75)
        canvas.shine(mask * np.clip(canvas.noise(30), 0, 1), 0.15)
    elif look.texture == "cracks":
        canvas.tint(mask * (np.abs(canvas.noise(16)) < 0.09), (0.62, 0.4, 0.4))
        canvas.paint(mask * (canvas.noise(60) > 1.2), (236, 224, 212), 0.6)
    elif look.texture == "lines":
        for turn in (0.6, -0.6):
            ridges = np.sin(34 * (canvas.x * math.cos(turn) + canvas.y * math.sin(turn)) + 0.7 * canvas.noise(8))
            canvas.light(mask * ridges * 0.25, 0.8)
            canvas.tint(mask * (ridges < -0.75), (0.8, 0.74, 0.7))
    elif look.texture == "lace":
        canvas.paint(mask * (np.abs(canvas.noise(24)) < 0.16), (232, 214, 226), 0.6)
        canvas.shine(mask * canvas.blob((at[0] - size * 0.3, at[1] - size * 0.3), size * 0.3, edge=size * 0.3), 0.35)
    elif look.texture == "pits":
        canvas.tint(mask * (canvas.noise(44) > 1.0), (0.55, 0.5, 0.45))
        canvas.light(mask * canvas.noise(22) * 0.2, 1.0)
    elif look.texture == "rough":
        canvas.light(mask * canvas.noise(40) * 0.3, 1.2)
        canvas.paint(mask * (canvas.noise(52) > 0.6), (230, 212, 184), 0.55)
    elif look.texture == "dots":
        canvas.light(mask * canvas.noise(30) * 0.35, 1.2)
        canvas.paint(mask * (canvas.noise(40) > 1.75), _BLACK, 0.85)
    elif look.texture == "blisters":
        for _ in range(canvas.random.randint(8, 14)):
            angle, far = canvas.between(0, 6.3), size * math.sqrt(canvas.between(0, 0.8))
            spot, width = (at[0] + far * math.cos(angle), at[1] + far * math.sin(angle)), canvas.between(0.03, 0.055)
            blister(canvas, spot, width)


def _middle(canvas: Canvas, look: Look, at: tuple[float, float], size: float, tone: Colour) -> None:
    kind = look.middle
    if kind == "stages":
        kind = ("", "clear", "crust")[canvas.random.randint(3)]
    if kind == "pustules":
        kind = ("", "pus", "black")[canvas.random.randint(3)]
    if kind == "clear":
        blister(canvas, at, size * 0.7)
    elif kind == "pale":
        lighter = tuple(min(255.0, part * 1.12) for part in tone)
        canvas.paint(canvas.blob(at, size * 0.6, edge=size * 0.5), (lighter[0], lighter[1], lighter[2]), 0.75)
    elif kind == "pus":
        canvas.paint(
            canvas.oval(at, size * 0.38, size * 0.38, edge=size * 0.25), _YELLOW if size > 0.2 else _WHITE, 0.9
        )
        canvas.shine(
            canvas.oval((at[0] - size * 0.2, at[1] - size * 0.2), size * 0.1, size * 0.1, edge=size * 0.1), 0.7
        )
    elif kind == "dimple":
        canvas.light(-canvas.oval(at, size * 0.3, size * 0.3, edge=size * 0.25), 1.4)
        canvas.paint(canvas.oval(at, size * 0.16, size * 0.16, edge=size * 0.12), _WHITE, 0.6)
        canvas.shine(
            canvas.oval((at[0] - size * 0.4, at[1] - size * 0.4), size * 0.2, size * 0.15, edge=size * 0.2), 0.5
        )
    elif kind == "black":
        canvas.paint(canvas.oval(at, size * 0.35, size * 0.35, edge=size * 0.2), _BLACK, 0.8)
    elif kind == "crust":
        canvas.paint(canvas.blob(at, size * 0.65, edge=size * 0.15, ragged=0.5), _CRUST, 0.85)


def blister(canvas: Canvas, at: tuple[float, float], size: float) -> None:
    """A small bubble of clear fluid."""
    canvas = canvas.near(at, size * 1.6)
    dome = np.clip(canvas.depth(at, size, 0.1) / size, 0, 1) ** 0.5
    canvas.paint(faded(dome - 0.15, 0.2), (236, 206, 186), 0.5)
    canvas.light(dome, 0.9)
    canvas.shine(canvas.oval((at[0] - size * 0.3, at[1] - size * 0.3), size * 0.25, size * 0.25, edge=size * 0.2), 0.9)
