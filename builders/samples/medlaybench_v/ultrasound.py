"""Ultrasound views; the fan and its speckle are laid over them when the picture is finished."""

from __future__ import annotations

import math

from builders.samples.medlaybench_v.sheet import Scene, Sheet


def _us_abdomen(s: Sheet) -> None:
    s.oval((0.36, 0.42), 0.34, 0.28, 105)
    if s.lesion == "stone" or s.has("fluid"):
        s.oval((0.62, 0.52), 0.15, 0.12, 4)
        s.arc((0.62, 0.52), 0.15, 0.12, 0, 360, 165, 0.012)
    if s.has("fluid"):
        s.oval((0.62, 0.56), 0.17, 0.15, 125)
        s.line([(0.3, 0.72), (0.45, 0.62), (0.5, 0.45)], 3, 0.05)
        s.target = (0.45, 0.62)
    if s.lesion == "stone":
        s.growth((0.62, 0.58), 0.0, 0.0, 0.035)
    else:
        s.growth((0.48, 0.5), 0.0, 0.0, 0.13 if s.lesion == "target" else 0.055)


def _us_kidney(s: Sheet) -> None:
    s.oval((0.5, 0.5), 0.32, 0.19, 115)
    s.oval((0.5, 0.5), 0.17, 0.07, 190)
    if s.lesion == "dark":
        for x in (0.36, 0.5, 0.64):
            s.oval((x, 0.5), 0.085, 0.085, 3)
    else:
        s.growth((0.63, 0.53), 0.0, 0.0, 0.03)


def _us_thyroid(s: Sheet) -> None:
    s.oval((0.5, 0.45), 0.09, 0.08, 150)
    s.oval((0.5, 0.48), 0.07, 0.07, 5)
    for sign in (-1, 1):
        s.oval((0.5 + sign * 0.17, 0.46), 0.12, 0.1, 130)
        s.oval((0.5 + sign * 0.32, 0.5), 0.05, 0.05, 4)
    s.growth((0.5, 0.46), 0.17, 0.0, 0.055, bright=185)
    if s.lesion == "bright":  # a needle comes in from the side
        s.line([(0.08, 0.3), (s.target[0], s.target[1])], 255, 0.012)


def _us_heart(s: Sheet) -> None:
    if s.has("view", "short"):  # the aortic valve end on, between the chambers
        s.oval((0.5, 0.5), 0.3, 0.28, 4)
        s.oval((0.5, 0.5), 0.3, 0.28, 150, width=0.03)
        s.oval((0.5, 0.5), 0.12, 0.12, 170, width=0.02)
        for degrees in (90, 210, 330):
            a = math.radians(degrees)
            s.line([(0.5, 0.5), (0.5 + 0.11 * math.cos(a), 0.5 + 0.11 * math.sin(a))], 200, 0.012)
        return
    s.oval((0.5, 0.52), 0.27, 0.33, 130)
    if s.has("fluid"):
        s.oval((0.5, 0.52), 0.35, 0.41, 3)
        s.oval((0.5, 0.52), 0.27, 0.33, 130)
        s.target = (0.81, 0.55)
    for sign in (-1, 1):
        s.oval((0.5 + sign * 0.115, 0.4), 0.09, 0.15, 4)
        s.oval((0.5 + sign * 0.11, 0.69), 0.09, 0.1, 4)
    s.growth((0.5, 0.64 if "left" in s.places else 0.69), 0.11, 0.0, 0.04, bright=210)


def _us_fetus(s: Sheet) -> None:
    s.oval((0.5, 0.5), 0.34, 0.28, 15)
    s.oval((0.5, 0.5), 0.27, 0.21, 105)
    s.oval((0.5, 0.5), 0.27, 0.21, 240, width=0.025)
    s.line([(0.26, 0.5), (0.74, 0.5)], 200, 0.01)
    for y in (0.43, 0.57):
        s.oval((0.56, y), 0.11 if s.lesion == "dark" else 0.06, 0.04 if s.lesion == "dark" else 0.015, 4)


def _us_vessel(s: Sheet) -> None:
    s.shape([(0, 0.4), (1, 0.4), (1, 0.62), (0, 0.62)], 4)
    for y in (0.39, 0.63):
        s.line([(0, y), (1, y)], 220, 0.02)
    if s.lesion == "narrow":
        s.oval((0.5, 0.41), 0.16, 0.07, 210)
        s.oval((0.5, 0.61), 0.16, 0.06, 210)
    else:
        s.oval((0.5, 0.51), 0.28, 0.1, 95)
    s.target = (0.5, 0.5)


def _us_breast(s: Sheet) -> None:
    for k in range(5):
        s.line([(0, 0.15 + 0.17 * k), (0.5, 0.2 + 0.17 * k), (1, 0.14 + 0.17 * k)], 125, 0.03)
    s.growth((0.5, 0.45), 0.0, 0.0, 0.14, dark=2)


def _us_pelvis(s: Sheet) -> None:
    s.oval((0.53, 0.48), 0.26, 0.19, 95)
    s.oval((0.53, 0.48), 0.16, 0.035, 185)
    if s.lesion == "bright":
        s.oval((0.53, 0.48), 0.17, 0.08, 175)
        s.growth((0.55, 0.48), 0.0, 0.0, 0.045, bright=250)
    else:
        s.oval((0.25, 0.62), 0.085, 0.08, 195)
        s.oval((0.25, 0.62), 0.045, 0.045, 3)
        s.target = (0.25, 0.62)


def _us_eye(s: Sheet) -> None:
    s.oval((0.5, 0.5), 0.3, 0.29, 6)
    s.oval((0.5, 0.5), 0.3, 0.29, 190, width=0.018)
    s.oval((0.5, 0.25), 0.12, 0.045, 130)
    s.growth((0.5, 0.6), 0.0, 0.0, 0.05)


def _us_scrotum(s: Sheet) -> None:
    for x in (0.3, 0.7):
        s.oval((x, 0.48), 0.16, 0.2, 150)
    s.growth((0.5, 0.48), 0.2, 0.0, 0.1, dark=35)


SCENES: dict[str, Scene] = {
    "us_abdomen": Scene("DRUS", _us_abdomen, 60),
    "us_breast": Scene("DRUS", _us_breast, 75),
    "us_eye": Scene("DRUS", _us_eye, 50),
    "us_fetus": Scene("DRUS", _us_fetus, 60),
    "us_heart": Scene("DRUS", _us_heart, 40),
    "us_kidney": Scene("DRUS", _us_kidney, 38),
    "us_pelvis": Scene("DRUS", _us_pelvis, 60),
    "us_scrotum": Scene("DRUS", _us_scrotum, 45),
    "us_thyroid": Scene("DRUS", _us_thyroid, 60),
    "us_vessel": Scene("DRUS", _us_vessel, 80),
}
