"""Plain X-rays of chest, belly, teeth, skull and breast, and a barium swallow."""

from __future__ import annotations

import math

from builders.samples.medlaybench_v.sheet import Scene, Sheet


def marker(s: Sheet) -> None:
    """The lead letter R at the patient's right, as strokes: no font is needed."""
    s.line([(0.06, 0.14), (0.06, 0.05), (0.1, 0.055), (0.105, 0.085), (0.06, 0.095), (0.11, 0.14)], 240, 0.013)


def _xray_chest(s: Sheet) -> None:
    s.shape([(0.04, 1), (0.08, 0.22), (0.36, 0.06), (0.64, 0.06), (0.92, 0.22), (0.96, 1)], 118)
    for side, x in (("right", 0.31), ("left", 0.69)):
        sign = 1 if side == "left" else -1
        s.oval((x, 0.49), 0.165, 0.35, 42)
        s.oval((x - sign * 0.03, 0.84), 0.19, 0.13, 150)
        for k in range(8):
            s.arc((x, 0.2 + 0.085 * k), 0.19, 0.07, 195, 345, 92, 0.017)
        for k in range(5):  # vessels fan out from the root of the lung
            a = math.radians(-60 + 35 * k)
            s.line(
                [(x - sign * 0.09, 0.48), (x - sign * 0.09 + sign * 0.15 * math.cos(a), 0.48 + 0.17 * math.sin(a))],
                72,
                0.012,
            )
        s.line([(0.5 + sign * 0.03, 0.155), (0.5 + sign * 0.36, 0.13)], 165, 0.028)
        if s.has("effusion", side):
            s.oval((x + sign * 0.05, 0.78), 0.13, 0.07, 165, blur=0.02)
        if s.has("gas", side):
            s.oval((x + sign * 0.02, 0.45), 0.15, 0.31, 14)
            s.oval((x - sign * 0.06, 0.52), 0.085, 0.2, 80)
            s.target = (x + sign * 0.02, 0.4)
        if s.has("tube", side):
            s.line([(x + sign * 0.25, 0.66), (x + sign * 0.05, 0.56), (x, 0.3)], 235, 0.018)
        if s.has("line", side):
            s.line([(x, 0.0), (x + 0.02, 0.14), (0.45, 0.2), (0.455, 0.38)], 245, 0.012)
    s.shape([(0.44, 0.06), (0.56, 0.06), (0.58, 0.86), (0.42, 0.86)], 165)
    wide = 0.24 if s.has("heart", "big") else 0.155
    s.oval((0.55, 0.64), wide, 0.17, 190)
    s.oval((0.5, 0.13), 0.018, 0.1, 95)
    if s.lesion == "nodule":
        for spot in s.spot((0.5, 0.47), 0.2, 0.14):
            s.oval(spot, 0.038, 0.036, 190, blur=0.01)
    else:
        s.growth((0.5, 0.48), 0.2, 0.15, 0.07, bright=225)
    marker(s)


def _xray_chest_lateral(s: Sheet) -> None:
    s.shape([(0.14, 1), (0.16, 0.2), (0.4, 0.05), (0.7, 0.05), (0.88, 0.4), (0.86, 1)], 112)
    s.oval((0.48, 0.48), 0.26, 0.38, 45)
    s.oval((0.37, 0.62), 0.15, 0.16, 170)
    s.oval((0.48, 0.88), 0.34, 0.12, 150)
    for k in range(9):
        s.oval((0.76 - 0.004 * (k - 5) ** 2, 0.12 + 0.09 * k), 0.05, 0.038, 190)
    s.growth((0.62, 0.56), 0.0, 0.12, 0.07, bright=215)


def _xray_abdomen(s: Sheet) -> None:
    s.shape([(0.12, 0), (0.88, 0), (0.92, 1), (0.08, 1)], 105)
    for k in range(6):
        s.shape([(0.44, 0.14 * k), (0.56, 0.14 * k), (0.57, 0.14 * k + 0.11), (0.43, 0.14 * k + 0.11)], 180)
        s.line([(0.36, 0.14 * k + 0.05), (0.64, 0.14 * k + 0.05)], 165, 0.02)
    for x in (0.22, 0.78):
        s.oval((x, 0.86), 0.16, 0.16, 170)
        s.oval((x, 0.86), 0.1, 0.1, 125)
    s.oval((0.3, 0.2), 0.17, 0.14, 125)
    s.oval((0.68, 0.19), 0.1, 0.06, 55)
    for x, y in ((0.3, 0.52), (0.62, 0.45), (0.72, 0.62), (0.4, 0.66)):
        s.oval((x, y), 0.05, 0.04, 72)
    if s.has("loops"):
        for k in range(5):
            x, y = 0.3 + 0.1 * k, 0.34 + 0.13 * (k % 3)
            s.chord((x, y), 0.1, 0.085, 180, 360, 25)
            s.line([(x - 0.1, y), (x + 0.1, y)], 150, 0.012)
    if s.has("object"):
        s.oval((0.64, 0.27), 0.055, 0.055, 255)
        s.target = (0.64, 0.27)
    if s.has("stone", "right"):
        s.line([(0.36, 0.3), (0.39, 0.5), (0.36, 0.75), (0.46, 0.9)], 215, 0.012)
        s.oval((0.385, 0.56), 0.02, 0.025, 255)
        s.target = (0.385, 0.56)
    marker(s)


def _xray_teeth(s: Sheet) -> None:
    s.arc((0.5, 0.3), 0.42, 0.48, 10, 170, 165, 0.14)
    for sign in (-1, 1):
        s.line([(0.5 + sign * 0.4, 0.4), (0.5 + sign * 0.45, 0.12)], 165, 0.1)
    s.oval((0.5, 0.24), 0.3, 0.1, 125)
    for row, base, grey in ((-1, 0.4, 225), (1, 0.5, 220)):
        for k in range(14):
            x = 0.5 + (k - 6.5) * 0.05
            y = base - 1.1 * (x - 0.5) ** 2
            s.oval((x, y), 0.02, 0.04, grey)
            s.shape([(x - 0.016, y), (x + 0.016, y), (x, y + row * 0.12)], grey - 15)
    if s.lesion != "none":
        upper = s.lesion == "bright"
        for spot in s.spot((0.5, 0.24 if upper else 0.62), 0.22 if upper else 0.3, 0.0):
            s.oval(spot, 0.06, 0.05, 250 if upper else 25)
            if not upper:
                s.oval(spot, 0.06, 0.05, 215, width=0.008)
                s.oval((spot[0] + 0.02, spot[1] - 0.045), 0.026, 0.024, 235)
    marker(s)


def _xray_teeth_small(s: Sheet) -> None:
    s.shape([(0.05, 0.42), (0.95, 0.42), (0.95, 0.97), (0.05, 0.97)], 130)
    for k, x in enumerate((0.22, 0.5, 0.78)):
        s.oval((x, 0.34), 0.105, 0.14, 235)
        for dx in (-0.055, 0.055):
            s.shape([(x + dx - 0.045, 0.4), (x + dx + 0.045, 0.4), (x + dx * 1.2, 0.78)], 205)
            if k == 1:
                s.line([(x + dx * 0.8, 0.34), (x + dx * 1.2, 0.75)], 255, 0.014)
    s.oval((0.43, 0.81), 0.065, 0.055, 25)
    s.target = (0.43, 0.81)


def _xray_skull(s: Sheet) -> None:
    s.oval((0.55, 0.42), 0.38, 0.36, 205)
    s.oval((0.55, 0.42), 0.35, 0.33, 120)
    s.shape([(0.2, 0.5), (0.42, 0.62), (0.46, 0.92), (0.28, 0.94), (0.18, 0.72)], 165)
    s.oval((0.29, 0.53), 0.07, 0.06, 60)
    s.oval((0.33, 0.7), 0.06, 0.06, 75)
    s.oval((0.57, 0.68), 0.08, 0.05, 225)
    for k in range(5):
        s.shape(
            [
                (0.6 + 0.01 * k, 0.75 + 0.06 * k),
                (0.72, 0.75 + 0.06 * k),
                (0.72, 0.79 + 0.06 * k),
                (0.6, 0.79 + 0.06 * k),
            ],
            180,
        )
    for x, y in ((0.45, 0.25), (0.62, 0.2), (0.75, 0.33), (0.55, 0.4), (0.7, 0.48)):
        s.oval((x, y), 0.032, 0.03, 30)
    s.target = (0.75, 0.33)


def _xray_breast(s: Sheet) -> None:
    s.chord((0.98, 0.52), 0.72, 0.44, 90, 270, 95)
    s.shape([(0.8, 0), (1, 0), (1, 0.75)], 175)
    for k in range(9):
        a = math.radians(120 + 15 * k)
        s.line([(0.36, 0.53), (0.75 - 0.3 * math.cos(a), 0.52 - 0.28 * math.sin(a))], 150, 0.02)
    for k in range(12):
        a = 2 * math.pi * k / 12
        s.line([(0.62, 0.42), (0.62 + 0.085 * math.cos(a), 0.42 + 0.085 * math.sin(a))], 230, 0.01)
    s.oval((0.62, 0.42), 0.05, 0.05, 250)
    for x, y in ((0.55, 0.56), (0.58, 0.58), (0.54, 0.6), (0.57, 0.62)):
        s.oval((x, y), 0.008, 0.008, 255)
    s.target = (0.62, 0.42)


def _xray_swallow(s: Sheet) -> None:
    s.shape([(0.15, 0), (0.85, 0), (0.9, 1), (0.1, 1)], 85)
    for k in range(8):
        s.oval((0.5, 0.06 + 0.125 * k), 0.075, 0.045, 120)
    s.line([(0.54, 0), (0.54, 0.5)], 250, 0.1)
    s.line([(0.54, 0.48), (0.55, 0.55), (0.535, 0.6), (0.555, 0.66), (0.56, 0.73)], 250, 0.022)
    s.oval((0.68, 0.86), 0.19, 0.14, 250)
    s.target = (0.545, 0.6)


SCENES: dict[str, Scene] = {
    "xray_chest": Scene("DRXR", _xray_chest, 8),
    "xray_chest_lateral": Scene("DRXR", _xray_chest_lateral, 8),
    "xray_abdomen": Scene("DRXR", _xray_abdomen, 8),
    "xray_breast": Scene("DRXR", _xray_breast, 4),
    "xray_skull": Scene("DRXR", _xray_skull, 8),
    "xray_swallow": Scene("DRXR", _xray_swallow, 8),
    "xray_teeth": Scene("DRXR", _xray_teeth, 30),
    "xray_teeth_small": Scene("DRXR", _xray_teeth_small, 20),
}
