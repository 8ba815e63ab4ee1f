"""An open throat, an everted lip, and teeth with their gums."""

from __future__ import annotations

import numpy as np

from builders.samples.threemdbench.canvas import Canvas, Colour, Mask, faded


def draw_throat(canvas: Canvas) -> None:
    """Tongue, palate and uvula, with large red tonsils that carry white spots."""
    canvas.fill((176, 84, 80))
    canvas.pixels += canvas.noise(6)[..., None] * np.asarray((7.0, 5.0, 5.0))
    canvas.paint(canvas.oval((0, 0.05), 0.62, 0.72, edge=0.25), (58, 16, 18), 0.92)
    for side in (-1, 1):
        pillar = canvas.oval((side * 0.62, 0.05), 0.2, 0.7, edge=0.12)
        canvas.tint(pillar, (1.15, 0.95, 0.95))
        at, size = (side * canvas.between(0.34, 0.42), canvas.between(-0.05, 0.15)), canvas.between(0.24, 0.32)
        dome = np.clip(canvas.depth(at, size, 0.2) / size, 0, 1) ** 0.5
        canvas.paint(faded(dome - 0.1, 0.2), (196, 62, 60))
        canvas.light(dome, 1.3)
        for _ in range(canvas.random.randint(4, 8)):
            spot = (at[0] + canvas.random.normal(0, size * 0.4), at[1] + canvas.random.normal(0, size * 0.45))
            near = canvas.near(spot, 0.14)
            near.paint(near.blob(spot, canvas.between(0.03, 0.065), ragged=0.5), (240, 230, 196), 0.92)
    uvula = canvas.oval((canvas.between(-0.04, 0.04), -0.42), 0.08, 0.3, edge=0.05)
    canvas.paint(uvula, (206, 96, 92))
    canvas.light(uvula, 0.6)
    tongue = canvas.oval((0, 1.05), 0.75, 0.55, edge=0.06)
    canvas.paint(tongue, (206, 112, 108))
    canvas.light(tongue * (1 + 0.05 * canvas.noise(50)), 0.8)
    canvas.shine(tongue * np.clip(canvas.noise(12) - 0.6, 0, 1), 0.4)


def draw_lip(canvas: Canvas) -> None:
    """The wet inner side of a lip with shallow white sores in red rims."""
    canvas.fill((206, 118, 118))
    canvas.pixels += canvas.noise(5)[..., None] * np.asarray((8.0, 6.0, 6.0))
    for _ in range(7):
        start = (canvas.between(-0.9, 0.9), canvas.between(-0.6, 0.9))
        canvas.tint(canvas.vessel(start, canvas.between(0, 6.3), 0.5, 0.008), (0.85, 0.6, 0.62))
    teeth = np.clip((-0.72 - canvas.y) / 0.03, 0, 1)
    canvas.paint(teeth * (np.abs(np.sin(canvas.x * 5)) > 0.08), (232, 226, 206))
    canvas.shine(np.clip(canvas.noise(9) - 1.0, 0, 1) * (1 - teeth), 0.5)
    for _ in range(canvas.random.randint(1, 5)):
        at, size = (canvas.between(-0.6, 0.6), canvas.between(-0.35, 0.7)), canvas.between(0.08, 0.17)
        near = canvas.near(at, size * 2.5)
        near.tint(near.blob(at, size * 1.6, edge=size * 0.5), (1.0, 0.55, 0.55))
        sore = near.blob(at, size, edge=0.03, ragged=0.25)
        near.paint(sore, (240, 228, 196), 0.95)
        near.light(-sore, 0.6)


def draw_teeth(canvas: Canvas, diagnosis: str) -> None:
    """A row of front teeth below a gum line that is scalloped, receded, swollen or covered, as the diagnosis asks."""
    receded = 0.34 if diagnosis == "periodontitis" else 0.0
    gum: Colour = (222, 138, 134) if diagnosis != "gingivitis" else (206, 62, 66)
    if diagnosis == "periodontitis":
        gum = (196, 84, 92)
    count, shift = canvas.random.randint(5, 8), canvas.between(-0.2, 0.2)
    phase = (canvas.x + shift + 1) * count / 2
    within = np.abs(phase - np.floor(phase) - 0.5) * 2
    line = -0.28 - receded + 0.16 * (1 - within**2) * -1 + 0.06 * canvas.noise(3)
    canvas.fill((52, 20, 22))
    gap = 0.86 if diagnosis == "periodontitis" else 0.95
    length = canvas.between(0.55, 0.75)
    tooth = faded(gap - within, 0.06) * faded(line + length + 0.55 + receded - canvas.y - 0.12 * within**2, 0.05)
    canvas.paint(tooth, _enamel(canvas))
    canvas.light(tooth * np.sqrt(np.clip(1 - within**2, 0, 1)), 1.2)
    canvas.shine(tooth * np.exp(-(((within - 0.3) / 0.12) ** 2)) * (canvas.y < 0.2), 0.25)
    gums = faded(line - canvas.y, 0.03)
    if diagnosis == "gingivitis":
        gums = faded(line + 0.1 * (within**2) - canvas.y, 0.04)
    canvas.paint(gums, gum)
    canvas.light(gums * (1 + 0.05 * canvas.noise(12)), 1.1 if diagnosis == "gingivitis" else 0.7)
    canvas.shine(gums * np.clip(canvas.noise(10) - 0.9, 0, 1), 0.6)
    if diagnosis == "gingivitis":
        for _ in range(4):
            _blood(canvas, gums, tooth)
    elif diagnosis == "dental calculus":
        crust = tooth * (1 - gums) * np.clip(1 - (canvas.y - line) / canvas.between(0.22, 0.34), 0, 1)
        canvas.paint(crust * (canvas.noise(18) > -0.7), (196, 164, 84), 0.9)
        canvas.light(crust * canvas.noise(26) * 0.3, 1.2)
    elif diagnosis == "periodontitis":
        canvas.paint(tooth * (1 - gums) * np.clip(1 - (canvas.y - line) / 0.35, 0, 1), (196, 160, 96), 0.55)
    elif diagnosis == "caries":
        _holes(canvas, tooth, count, shift)


def _enamel(canvas: Canvas) -> Colour:
    yellow = canvas.between(0, 26)
    return (236, 230 - yellow * 0.4, 214 - yellow)


def _blood(canvas: Canvas, gums: Mask, tooth: Mask) -> None:
    edge = gums * (1 - gums) * 4 + tooth * 0.35
    at = (canvas.between(-0.8, 0.8), canvas.between(-0.35, -0.1))
    canvas.paint(np.clip(edge * canvas.blob(at, 0.16, edge=0.08, ragged=0.5) * 2, 0, 1), (150, 14, 20), 0.85)


def _holes(canvas: Canvas, tooth: Mask, count: int, shift: float) -> None:
    for _ in range(canvas.random.randint(1, 4)):
        middle = (canvas.random.randint(1, count) - 0.5 + canvas.between(-0.2, 0.2)) * 2 / count - 1 - shift
        at, size = (middle, canvas.between(-0.05, 0.3)), canvas.between(0.07, 0.13)
        canvas.paint(tooth * canvas.blob(at, size * 1.7, edge=size, ragged=0.4), (150, 104, 58), 0.8)
        canvas.paint(tooth * canvas.blob(at, size, edge=0.04, ragged=0.5), (34, 20, 14), 0.95)
