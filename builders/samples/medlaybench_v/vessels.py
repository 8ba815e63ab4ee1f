"""Angiograms, and whole-body PET with and without CT."""

from __future__ import annotations

import math

from builders.samples.medlaybench_v.sheet import Point, Scene, Sheet


def _tree(s: Sheet, start: Point, degrees: float, length: float, width: float, depth: int) -> None:
    """A vessel and its branches, dark on a bright ground."""
    a = math.radians(degrees)
    x, y = start
    middle = (x + 0.5 * length * math.cos(a + 0.18), y + 0.5 * length * math.sin(a + 0.18))
    end = (x + length * math.cos(a), y + length * math.sin(a))
    s.line([start, middle, end], 40, width)
    s.oval(end, width / 2, width / 2, 40)
    if depth:
        _tree(s, end, degrees - 27, length * 0.78, width * 0.68, depth - 1)
        _tree(s, end, degrees + 34, length * 0.72, width * 0.62, depth - 1)


def _angio_heart(s: Sheet) -> None:
    s.oval((0.5, 0.52), 0.36, 0.4, 160)
    s.line([(0.2, 0.06), (0.3, 0.18)], 75, 0.035)
    points = [(0.3, 0.18), (0.48, 0.24), (0.66, 0.38), (0.76, 0.58), (0.74, 0.8)]
    s.line(points[:3] if s.lesion == "stop" else points, 35, 0.045)
    if s.lesion != "stop":
        _tree(s, (0.66, 0.38), 60, 0.17, 0.026, 3)
        _tree(s, (0.5, 0.25), 100, 0.2, 0.03, 3)
    s.target = (0.58, 0.315)
    if s.lesion == "narrow":
        s.line([(0.56, 0.255), (0.63, 0.315)], 160, 0.03)
        s.line([(0.53, 0.315), (0.605, 0.375)], 160, 0.03)
    elif s.lesion == "stop":
        s.target = (0.66, 0.38)
    if s.has("stent"):
        for k in range(6):
            x, y = 0.52 + 0.022 * k, 0.265 + 0.0175 * k
            s.line([(x, y), (x + 0.012, y + 0.03)], 5, 0.008)


def _angio_brain(s: Sheet) -> None:
    s.oval((0.5, 0.5), 0.42, 0.42, 185)
    s.line([(0.5, 1), (0.48, 0.8), (0.5, 0.66)], 35, 0.05)
    _tree(s, (0.5, 0.66), -135, 0.17, 0.034, 4)
    _tree(s, (0.5, 0.66), -45, 0.17, 0.034, 4)
    _tree(s, (0.5, 0.66), -90, 0.2, 0.03, 3)
    if s.lesion == "bulge":
        for spot in s.spot((0.5, 0.55), 0.13, 0.0):
            s.oval(spot, 0.045, 0.045, 30)
    elif s.lesion == "tangle":
        ((x, y),) = s.spot((0.5, 0.36), 0.2, 0.0)
        for k in range(14):
            s.oval((x + 0.06 * math.cos(2.4 * k), y + 0.055 * math.sin(1.7 * k)), 0.028, 0.02, 25, width=0.012)
        s.line([(x, y), (x + 0.1, y - 0.12), (x + 0.02, y - 0.22)], 25, 0.035)


def _angio_abdomen(s: Sheet) -> None:
    for k in range(6):
        s.shape([(0.44, 0.17 * k), (0.56, 0.17 * k), (0.56, 0.17 * k + 0.13), (0.44, 0.17 * k + 0.13)], 165)
    s.line([(0.5, 0), (0.5, 0.24)], 70, 0.035)
    _tree(s, (0.5, 0.24), 100, 0.2, 0.05, 4)
    _tree(s, (0.5, 0.24), 25, 0.22, 0.045, 3)
    if s.lesion == "leak":
        s.oval((0.36, 0.72), 0.05, 0.035, 15, blur=0.012)
        s.target = (0.36, 0.72)
    elif s.lesion == "bulge":
        s.oval((0.73, 0.33), 0.06, 0.055, 25)
        s.target = (0.73, 0.33)


def _angio_pelvis(s: Sheet) -> None:
    for x in (0.22, 0.78):
        s.oval((x, 0.4), 0.18, 0.24, 165)
        s.oval((x, 0.4), 0.12, 0.17, 195)
    s.line([(0.5, 0), (0.5, 0.24)], 35, 0.075)
    s.line([(0.5, 0.22), (0.4, 0.4), (0.3, 0.66), (0.27, 1)], 35, 0.05)
    _tree(s, (0.4, 0.4), 95, 0.15, 0.026, 3)
    for dy in (0.0, 0.05, 0.1):  # small vessels lead round the stop
        s.line([(0.52, 0.14 + dy), (0.62, 0.3 + dy), (0.64, 0.5), (0.72, 0.68)], 70, 0.01)
    s.line([(0.5, 0.22), (0.53, 0.28)], 35, 0.05)
    s.line([(0.71, 0.66), (0.74, 1)], 60, 0.035)
    s.target = (0.53, 0.28)


def _angio_leg(s: Sheet) -> None:
    s.shape([(0.2, 0), (0.8, 0), (0.7, 1), (0.3, 1)], 200)
    s.line([(0.42, 0), (0.44, 1)], 160, 0.13)
    s.line([(0.58, 0), (0.6, 0.3)], 35, 0.05)
    s.line([(0.6, 0.42), (0.58, 0.7), (0.52, 1)], 35, 0.045)
    s.line([(0.6, 0.29), (0.605, 0.43)], 45, 0.012)
    _tree(s, (0.59, 0.2), 70, 0.16, 0.02, 3)
    s.target = (0.605, 0.36)


def _body(s: Sheet, flesh: int) -> None:
    s.oval((0.5, 0.12), 0.085, 0.1, flesh)
    s.shape([(0.46, 0.2), (0.54, 0.2), (0.55, 0.27), (0.45, 0.27)], flesh)
    s.shape([(0.32, 0.27), (0.68, 0.27), (0.655, 0.62), (0.68, 0.78), (0.32, 0.78), (0.345, 0.62)], flesh)
    for sign in (-1, 1):
        s.line([(0.5 + sign * 0.2, 0.3), (0.5 + sign * 0.25, 0.7)], flesh, 0.07)
        s.line([(0.5 + sign * 0.095, 0.77), (0.5 + sign * 0.1, 1)], flesh, 0.13)


def _spots(s: Sheet) -> list[tuple[Point, float]]:
    """Where tracer gathers: brain, heart, kidneys and bladder in everybody, then the lesion."""
    usual = [
        ((0.5, 0.09), 0.055),
        ((0.54, 0.39), 0.03),
        ((0.43, 0.56), 0.022),
        ((0.57, 0.56), 0.022),
        ((0.5, 0.74), 0.028),
    ]
    if s.lesion == "none":
        return usual
    found = s.spot((0.5, 0.44), 0.11, 0.14 if "upper" in s.places else 0.2)
    if "middle" in s.places:
        found += [(0.5, 0.35), (0.46, 0.4), (0.5, 0.5), (0.5, 0.62)]
    return usual + [(spot, 0.024) for spot in found]


def _pet(s: Sheet) -> None:
    """Dark is tracer, as in print."""
    _body(s, 205)
    for spot, size in _spots(s):
        s.oval(spot, size, size, 15, blur=0.008)


def _petct(s: Sheet) -> None:
    _body(s, 95)
    for sign in (-1, 1):
        s.oval((0.5 + sign * 0.08, 0.38), 0.06, 0.1, 22)
        s.line([(0.5 + sign * 0.095, 0.79), (0.5 + sign * 0.1, 1)], 190, 0.03)
    s.oval((0.42, 0.52), 0.08, 0.05, 135)
    for k in range(11):
        s.oval((0.5, 0.24 + 0.048 * k), 0.02, 0.018, 215)
    s.hot = _spots(s)


SCENES: dict[str, Scene] = {
    "angio_abdomen": Scene("DRAN", _angio_abdomen, 195),
    "angio_brain": Scene("DRAN", _angio_brain, 120),
    "angio_heart": Scene("DRAN", _angio_heart, 190),
    "angio_leg": Scene("DRAN", _angio_leg, 110),
    "angio_pelvis": Scene("DRAN", _angio_pelvis, 205),
    "petct": Scene("DRCO", _petct, 0),
    "pet": Scene("DRPE", _pet, 250),
}
