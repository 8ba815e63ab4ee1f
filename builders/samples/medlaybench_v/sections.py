"""Cross-sections of trunk, head, neck and thigh: CT, MRI and PET of the brain."""

from __future__ import annotations

import math

from builders.samples.medlaybench_v.sheet import Scene, Sheet


def _trunk(s: Sheet, fat: int, flesh: int, bone: int) -> None:
    s.oval((0.5, 0.52), 0.46, 0.36, fat)
    s.oval((0.5, 0.52), 0.43, 0.33, flesh)
    s.oval((0.5, 0.76), 0.06, 0.055, bone)
    s.oval((0.5, 0.815), 0.022, 0.022, flesh)
    s.shape([(0.48, 0.83), (0.52, 0.83), (0.5, 0.88)], bone)
    for degrees in range(-160, 181, 29):
        a = math.radians(degrees)
        if abs(degrees - 90) > 20:
            s.oval((0.5 + 0.4 * math.cos(a), 0.52 + 0.3 * math.sin(a)), 0.026, 0.012, bone)


def _ct_chest(s: Sheet) -> None:
    _trunk(s, 60, 125, 235)
    for side, x in (("right", 0.31), ("left", 0.69)):
        s.oval((x, 0.51), 0.155, 0.235, 18)
        for k in range(7):  # vessels of the lung
            s.oval((x + 0.09 * math.cos(2.4 * k), 0.5 + 0.15 * math.sin(2.1 * k)), 0.008, 0.008, 95)
        if s.has("effusion", side):
            s.chord((x, 0.51), 0.155, 0.235, 15, 165, 140)
            s.target = (x, 0.65)
        if s.has("haze", side):
            for dx, dy in ((-0.06, -0.08), (0.05, 0.05), (-0.03, 0.12)):
                s.oval((x + dx, 0.51 + dy), 0.05, 0.05, 85, blur=0.02)
        if s.has("gas", side):
            s.oval((x, 0.51), 0.155, 0.235, 2)
            s.oval((x - 0.03, 0.57), 0.09, 0.13, 48)
            s.target = (x + 0.09, 0.4)
        if s.has("tube", side):
            s.oval((x, 0.66), 0.025, 0.025, 245, width=0.01)
    s.oval((0.54, 0.45), 0.125, 0.12, 150)
    s.oval((0.45, 0.38), 0.05, 0.05, 185)
    s.oval((0.565, 0.675), 0.038, 0.038, 185)
    if s.has("gas", "middle"):
        for x, y in ((0.42, 0.47), (0.5, 0.31), (0.64, 0.36), (0.5, 0.6)):
            s.oval((x, y), 0.045, 0.014, 3)
        s.target = (0.64, 0.36)
    if s.has("flap"):
        s.oval((0.565, 0.665), 0.065, 0.065, 205)
        s.line([(0.52, 0.71), (0.57, 0.66), (0.6, 0.62)], 110, 0.012)
        s.target = (0.57, 0.66)
    s.growth((0.5, 0.5), 0.2, 0.11, 0.05, bright=165, dark=70)


def _belly(s: Sheet, fat: int, flesh: int, bone: int, liver: int, gut: int) -> None:
    _trunk(s, fat, flesh, bone)
    s.oval((0.33, 0.46), 0.21, 0.19, liver)
    s.shape([(0.33, 0.3), (0.62, 0.33), (0.5, 0.5), (0.33, 0.6)], liver)
    s.oval((0.65, 0.39), 0.12, 0.075, gut)
    s.oval((0.67, 0.355), 0.085, 0.03, 12)
    s.oval((0.8, 0.53), 0.06, 0.11, liver + 10)
    for x in (0.36, 0.66):
        s.oval((x, 0.69), 0.07, 0.055, liver + 35)
        s.oval((x + (0.025 if x < 0.5 else -0.025), 0.69), 0.02, 0.02, gut)
    s.oval((0.53, 0.665), 0.03, 0.03, liver + 45)
    s.oval((0.45, 0.66), 0.032, 0.025, liver + 25)


def _ct_abdomen(s: Sheet) -> None:
    _belly(s, 55, 105, 240, 150, 120)
    if s.has("gas", "front"):
        s.chord((0.5, 0.52), 0.4, 0.31, 215, 300, 4)
        s.target = (0.4, 0.25)
    s.growth((0.5, 0.51), 0.2, 0.13, 0.06, bright=240, dark=70)


def _ct_pelvis(s: Sheet) -> None:
    s.oval((0.5, 0.52), 0.46, 0.33, 60)
    s.oval((0.5, 0.52), 0.42, 0.29, 110)
    for sign in (-1, 1):
        s.line([(0.5 + sign * 0.36, 0.4), (0.5 + sign * 0.27, 0.58), (0.5 + sign * 0.17, 0.7)], 225, 0.045)
        s.oval((0.5 + sign * 0.25, 0.45), 0.055, 0.08, 125)
    s.shape([(0.38, 0.68), (0.62, 0.68), (0.54, 0.79), (0.46, 0.79)], 225)
    s.oval((0.5, 0.62), 0.04, 0.035, 60)
    s.oval((0.5, 0.46), 0.12, 0.1, 78)
    s.growth((0.5, 0.46), 0.13, 0.07, 0.075, bright=250, dark=60)


def _mri_liver(s: Sheet) -> None:
    _belly(s, 190, 95, 40, 85, 150)
    if s.has("ducts"):
        s.line([(0.3, 0.38), (0.4, 0.45), (0.45, 0.55), (0.47, 0.63)], 250, 0.026)
        s.line([(0.33, 0.52), (0.43, 0.49)], 250, 0.016)
        s.target = (0.46, 0.6)
    s.growth((0.5, 0.48), 0.2, 0.1, 0.06)


def _head(s: Sheet, scalp: int, skull: int, brain: int, inner: int, fluid: int) -> None:
    s.oval((0.5, 0.5), 0.37, 0.44, scalp)
    s.oval((0.5, 0.5), 0.355, 0.425, skull)
    s.oval((0.5, 0.5), 0.325, 0.395, brain)
    s.oval((0.5, 0.5), 0.24, 0.31, inner, blur=0.02)
    for k in range(16):  # furrows
        a = 2 * math.pi * k / 16
        outer = (0.5 + 0.32 * math.cos(a), 0.5 + 0.39 * math.sin(a))
        s.line([outer, (0.5 + 0.27 * math.cos(a + 0.06), 0.5 + 0.335 * math.sin(a + 0.06))], fluid, 0.01)
    s.line([(0.5, 0.11), (0.5, 0.3)], fluid, 0.008)
    s.line([(0.5, 0.72), (0.5, 0.89)], fluid, 0.008)
    wide = 1.9 if s.has("ventricles", "big") else 1.0
    for side in (-1, 1):
        s.oval((0.5 + side * 0.05 * wide, 0.41), 0.03 * wide, 0.075 * wide, fluid)
        s.oval((0.5 + side * 0.085, 0.61), 0.03 * wide, 0.06 * wide, fluid)


def _ct_head(s: Sheet) -> None:
    _head(s, 95, 250, 118, 104, 55)
    if s.lesion == "crescent":
        for x, _ in s.spot((0.5, 0.5), 0.29, 0.0):
            inner = x - math.copysign(0.075, x - 0.5)
            s.oval((x, 0.5), 0.04, 0.26, 190)
            s.oval((inner, 0.5), 0.07, 0.3, 112)
            s.target = (x, 0.5)
    else:
        s.growth((0.5, 0.5), 0.18, 0.18, 0.07, bright=205, dark=62)


def _mri_brain(s: Sheet) -> None:
    _head(s, 190, 25, 140, 100, 228)
    s.growth((0.5, 0.5), 0.18, 0.18, 0.075, bright=248, dark=35)


def _pet_brain(s: Sheet) -> None:
    _head(s, 30, 15, 215, 130, 70)
    s.growth((0.5, 0.55), 0.22, 0.1, 0.13, dark=85)


def _ct_neck(s: Sheet) -> None:
    s.oval((0.5, 0.52), 0.38, 0.36, 60)
    s.oval((0.5, 0.52), 0.355, 0.335, 115)
    s.arc((0.5, 0.48), 0.27, 0.29, 190, 350, 240, 0.045)
    s.oval((0.5, 0.68), 0.075, 0.06, 235)
    s.oval((0.5, 0.75), 0.028, 0.025, 110)
    s.oval((0.5, 0.46), 0.05, 0.035, 4)
    for x in (0.3, 0.7):
        s.oval((x, 0.58), 0.035, 0.035, 200)
        s.oval((x + 0.035, 0.64), 0.026, 0.026, 190)
    if s.lesion == "dark":  # a hole in the jaw
        for x, y in s.spot((0.5, 0.36), 0.22, 0.0):
            s.oval((x, y), 0.07, 0.06, 240)
            s.oval((x, y), 0.055, 0.045, 60)
    else:
        s.growth((0.5, 0.46), 0.13, 0.0, 0.06, bright=170, dark=75)


def _mri_thigh(s: Sheet) -> None:
    s.oval((0.5, 0.5), 0.42, 0.42, 70)
    s.oval((0.5, 0.5), 0.36, 0.36, 95)
    for k in range(6):
        a = 2 * math.pi * k / 6
        s.line([(0.5, 0.5), (0.5 + 0.36 * math.cos(a), 0.5 + 0.36 * math.sin(a))], 55, 0.012)
    s.oval((0.47, 0.47), 0.085, 0.085, 20)
    s.oval((0.47, 0.47), 0.05, 0.05, 75)
    s.oval((0.62, 0.4), 0.03, 0.03, 15)
    s.growth((0.55, 0.66), 0.05, 0.0, 0.11)


SCENES: dict[str, Scene] = {
    "ct_chest": Scene("DRCT", _ct_chest, 0),
    "ct_abdomen": Scene("DRCT", _ct_abdomen, 0),
    "ct_head": Scene("DRCT", _ct_head, 0),
    "ct_neck": Scene("DRCT", _ct_neck, 0),
    "ct_pelvis": Scene("DRCT", _ct_pelvis, 0),
    "mri_brain": Scene("DRMR", _mri_brain, 0),
    "mri_liver": Scene("DRMR", _mri_liver, 0),
    "mri_thigh": Scene("DRMR", _mri_thigh, 0),
    "pet_brain": Scene("DRPE", _pet_brain, 0),
}
