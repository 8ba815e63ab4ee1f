"""Spine, limbs and hips, as X-ray, CT or MRI shows them."""

from __future__ import annotations

import math

from builders.samples.medlaybench_v.radiographs import marker
from builders.samples.medlaybench_v.sheet import Point, Scene, Sheet


def _spine(s: Sheet, flesh: int, bone: int, disc: int, canal: int) -> None:
    """A spine from the side, front to the left of the image."""
    s.shape([(0.12, 0), (0.9, 0), (0.95, 1), (0.1, 1)], flesh)
    bend = [0.44 + 0.05 * math.sin(0.9 * k + 0.4) for k in range(8)]
    s.line([(b + 0.155, -0.05 + 0.147 * k) for k, b in enumerate(bend)], canal, 0.075)
    if canal > 150:  # on MRI the cord shows in its fluid
        s.line([(b + 0.155, -0.05 + 0.147 * k) for k, b in enumerate(bend)], 105, 0.033)
    for k, x in enumerate(bend):
        y = 0.147 * k
        slip = 0.05 if s.lesion == "slip" and k < 5 else 0.0
        top = 0.04 if s.lesion == "wedge" and k == 3 else -0.05
        x -= slip
        colour = 40 if s.lesion == "dark" and k == 3 else bone
        s.shape([(x - 0.1, y + top), (x + 0.09, y - 0.05), (x + 0.09, y + 0.05), (x - 0.1, y + 0.05)], colour)
        s.shape([(x - 0.09, y + 0.06), (x + 0.08, y + 0.06), (x + 0.08, y + 0.088), (x - 0.09, y + 0.088)], disc)
        s.line([(x + 0.24, y), (x + 0.38, y + 0.06)], bone, 0.045)
        if s.has("screws") and k in (2, 4):
            s.line([(x - 0.06, y - 0.01), (x + 0.3, y + 0.02)], 255, 0.022)
    x = bend[3]
    if s.has("screws"):
        s.line([(bend[2] + 0.3, 0.3), (bend[4] + 0.3, 0.62)], 255, 0.025)
    s.target = (x, 0.441)
    if s.lesion == "break":
        s.line([(x - 0.1, 0.41), (x - 0.02, 0.46), (x + 0.02, 0.42), (x + 0.1, 0.47)], 60, 0.016)
        s.shape([(x + 0.08, 0.41), (x + 0.14, 0.43), (x + 0.08, 0.47)], bone)
    elif s.lesion == "disc":
        s.oval((x + 0.115, 0.517), 0.045, 0.022, disc)
        s.target = (x + 0.115, 0.517)
    elif s.lesion == "cord":
        s.oval((x + 0.155, 0.46), 0.014, 0.07, 245)
        s.target = (x + 0.155, 0.46)
    elif s.lesion == "bright":
        s.line([(b + 0.1, -0.05 + 0.147 * k) for k, b in enumerate(bend) if 1 < k < 6], 255, 0.028)
        s.target = (x + 0.1, 0.44)
    elif s.lesion == "slip":
        s.target = (x, 0.66)


def _ct_spine(s: Sheet) -> None:
    _spine(s, 95, 215, 120, 70)


def _mri_spine(s: Sheet) -> None:
    _spine(s, 60, 135, 60, 225)


def _xray_spine(s: Sheet) -> None:
    if s.has("curve"):
        s.shape([(0.3, 0), (0.7, 0), (0.75, 1), (0.25, 1)], 70)
        for k in range(11):
            y = 0.09 * k
            x = 0.5 - 0.09 * math.sin(math.pi * k / 10)
            s.shape([(x - 0.06, y - 0.03), (x + 0.06, y - 0.03), (x + 0.06, y + 0.035), (x - 0.06, y + 0.035)], 205)
            s.line([(x - 0.06, y), (x - 0.2, y + 0.05)], 130, 0.014)
            s.line([(x + 0.06, y), (x + 0.2, y + 0.05)], 130, 0.014)
        marker(s)
    else:
        _spine(s, 80, 205, 100, 105)


def _bone(s: Sheet, top: Point, bottom: Point, width: float, grey: int = 190) -> None:
    """A long bone: bright walls, a darker marrow, wider ends."""
    s.line([top, bottom], grey, width)
    s.line([top, bottom], grey - 55, width * 0.45)
    for end in (top, bottom):
        s.oval(end, width * 0.8, width * 0.62, grey - 15)


def _crack(s: Sheet, at: Point, width: float) -> None:
    x, y = at
    s.line([(x - width, y + 0.035), (x - 0.01, y - 0.005), (x + 0.01, y + 0.02), (x + width, y - 0.03)], 25, 0.02)
    s.target = at


def _xray_leg(s: Sheet) -> None:
    s.shape([(0.24, 0), (0.78, 0), (0.7, 1), (0.3, 1)], 62)
    _bone(s, (0.45, 0.06), (0.45, 0.92), 0.13)
    _bone(s, (0.62, 0.1), (0.61, 0.95), 0.06)
    if s.lesion == "break":
        lower = "lower" in s.places
        _crack(s, (0.61, 0.86) if lower else (0.45, 0.5), 0.05 if lower else 0.09)
    if s.has("nail"):
        s.line([(0.45, 0.04), (0.45, 0.9)], 255, 0.04)
        s.oval((0.45, 0.5), 0.1, 0.09, 165, blur=0.02)
        s.line([(0.45, 0.04), (0.45, 0.9)], 255, 0.04)


def _knee(s: Sheet, ground: int, bone: int, joint: int) -> None:
    s.shape([(0.2, 0), (0.8, 0), (0.76, 1), (0.26, 1)], ground)
    s.line([(0.5, 0), (0.5, 0.3)], bone, 0.2)
    for x in (0.4, 0.6):
        s.oval((x, 0.39), 0.13, 0.11, bone)
    s.oval((0.5, 0.63), 0.24, 0.09, bone)
    s.line([(0.5, 0.66), (0.5, 1)], bone, 0.21)
    s.shape([(0.27, 0.5), (0.73, 0.5), (0.73, 0.54), (0.27, 0.54)], joint)
    s.target = (0.5, 0.47)


def _xray_knee(s: Sheet) -> None:
    _knee(s, 65, 185, 55)
    s.line([(0.77, 0.62), (0.74, 1)], 165, 0.05)
    if s.lesion == "narrow":
        s.shape([(0.27, 0.49), (0.5, 0.5), (0.5, 0.55), (0.27, 0.55)], 215)
    elif s.lesion == "dark":
        s.oval((0.42, 0.7), 0.075, 0.07, 75, blur=0.008)
        s.target = (0.42, 0.7)


def _mri_knee(s: Sheet) -> None:
    _knee(s, 110, 175, 60)
    if s.lesion == "tear":
        s.line([(0.44, 0.42), (0.49, 0.49)], 15, 0.028)
        s.line([(0.54, 0.52), (0.6, 0.58)], 15, 0.028)
        s.oval((0.23, 0.5), 0.05, 0.12, 245)
    elif s.lesion == "bright":
        s.oval((0.62, 0.38), 0.1, 0.085, 250, blur=0.02)
        s.target = (0.62, 0.38)


def _mri_shoulder(s: Sheet) -> None:
    s.oval((0.45, 0.5), 0.42, 0.42, 75)
    s.oval((0.4, 0.52), 0.17, 0.16, 175)
    s.line([(0.36, 0.6), (0.33, 0.98)], 165, 0.13)
    s.line([(0.62, 0.4), (0.61, 0.66)], 175, 0.08)
    s.arc((0.45, 0.42), 0.26, 0.2, 190, 330, 185, 0.05)
    s.line([(0.28, 0.42), (0.34, 0.36)], 12, 0.03)
    s.line([(0.48, 0.33), (0.8, 0.36)], 20, 0.04)
    s.oval((0.41, 0.335), 0.06, 0.018, 248)
    s.target = (0.41, 0.335)


def _xray_arm(s: Sheet) -> None:
    if "upper" in s.places:  # the shoulder: the ball lies below its socket
        s.shape([(0.1, 0.1), (1, 0), (1, 1), (0.25, 1)], 62)
        s.oval((0.72, 0.38), 0.1, 0.14, 165)
        s.line([(0.2, 0.16), (0.75, 0.2)], 180, 0.05)
        s.oval((0.52, 0.55), 0.12, 0.12, 200)
        s.line([(0.48, 0.6), (0.34, 1)], 190, 0.11)
        s.target = (0.52, 0.55)
        return
    s.shape([(0.22, 1), (0.3, 0), (0.72, 0), (0.78, 1)], 62)
    _bone(s, (0.42, 1.0), (0.43, 0.42), 0.13)
    _bone(s, (0.61, 1.0), (0.6, 0.44), 0.08)
    for k in range(8):
        s.oval((0.36 + 0.09 * (k % 4), 0.3 - 0.08 * (k // 4)), 0.045, 0.04, 180)
    for k in range(5):
        s.line([(0.34 + 0.085 * k, 0.16), (0.3 + 0.1 * k, 0)], 175, 0.05)
    _crack(s, (0.43, 0.55), 0.09)


def _xray_hand(s: Sheet) -> None:
    s.oval((0.5, 0.66), 0.27, 0.24, 62)
    for k, length in enumerate((0.3, 0.5, 0.56, 0.5, 0.38)):
        a = math.radians(-128 + 19 * k)
        for part in range(4):
            near, far = 0.16 + length * part / 4, 0.16 + length * (part + 0.82) / 4
            points = [(0.5 + r * math.cos(a), 0.8 + r * 1.25 * math.sin(a)) for r in (near, far)]
            s.line(points, 60, 0.1)
            s.line(points, 195, 0.045 - 0.006 * part)
    for k in range(8):
        s.oval((0.41 + 0.06 * (k % 4), 0.78 + 0.06 * (k // 4)), 0.034, 0.03, 185)
    if s.lesion == "break":
        a = math.radians(-128 + 19 * 4)
        _crack(s, (0.5 + 0.21 * math.cos(a), 0.8 + 0.26 * math.sin(a)), 0.035)


def _hips(s: Sheet, flesh: int, bone: int, ball: dict[str, int]) -> None:
    s.oval((0.5, 0.5), 0.48, 0.42, flesh)
    for sign in (-1, 1):
        x = 0.5 + sign * 0.21
        s.oval((x, 0.3), 0.15, 0.17, bone)
        s.oval((x - sign * 0.02, 0.31), 0.08, 0.1, flesh + 25)
        s.arc((0.5 + sign * 0.11, 0.66), 0.1, 0.11, 0, 360, bone, 0.035)
        s.line([(0.5 + sign * 0.29, 0.52), (0.5 + sign * 0.37, 0.6)], bone, 0.09)
        s.line([(0.5 + sign * 0.38, 0.58), (0.5 + sign * 0.35, 1)], bone, 0.1)
        s.oval((0.5 + sign * 0.265, 0.51), 0.085, 0.085, ball["left" if sign > 0 else "right"])
    s.shape([(0.42, 0.2), (0.58, 0.2), (0.53, 0.48), (0.47, 0.48)], bone)


def _xray_pelvis(s: Sheet) -> None:
    dark = s.lesion == "dark"
    _hips(s, 70, 190, {side: 120 if dark and side in s.places else 210 for side in ("left", "right")})
    if dark:
        for spot in s.spot((0.5, 0.49), 0.265, 0.0):
            s.oval(spot, 0.05, 0.03, 70, blur=0.01)
    elif s.lesion == "break":
        ((x, y),) = s.spot((0.5, 0.56), 0.33, 0.0)
        _crack(s, (x, y), 0.06)
    for side, sign in (("left", 1), ("right", -1)):
        if s.has("prosthesis", side):
            s.oval((0.5 + sign * 0.265, 0.51), 0.09, 0.09, 255)
            s.line([(0.5 + sign * 0.27, 0.52), (0.5 + sign * 0.37, 0.6), (0.5 + sign * 0.355, 0.88)], 255, 0.055)
    marker(s)


def _mri_hips(s: Sheet) -> None:
    _hips(s, 95, 165, {"left": 190, "right": 190})
    for spot in s.spot((0.5, 0.48), 0.265, 0.0):
        # The worse side, the left, has the larger area.
        s.oval(spot, 0.07 if spot[0] > 0.5 else 0.045, 0.04, 25, blur=0.008)


def _mri_pelvis(s: Sheet) -> None:
    s.shape([(0.1, 0), (0.9, 0), (0.86, 1), (0.16, 1)], 105)
    s.line([(0.78, 0), (0.86, 0.4), (0.74, 0.8)], 150, 0.09)
    s.oval((0.3, 0.62), 0.12, 0.1, 245)
    s.oval((0.47, 0.4), 0.19, 0.15, 135)
    s.oval((0.44, 0.39), 0.1, 0.035, 235)
    s.line([(0.56, 0.5), (0.58, 0.75)], 120, 0.06)
    s.oval((0.72, 0.7), 0.055, 0.11, 60)
    s.growth((0.56, 0.39), 0.0, 0.0, 0.085)


SCENES: dict[str, Scene] = {
    "ct_spine": Scene("DRCT", _ct_spine, 0),
    "xray_arm": Scene("DRXR", _xray_arm, 8),
    "xray_hand": Scene("DRXR", _xray_hand, 8),
    "xray_knee": Scene("DRXR", _xray_knee, 8),
    "xray_leg": Scene("DRXR", _xray_leg, 8),
    "xray_pelvis": Scene("DRXR", _xray_pelvis, 8),
    "xray_spine": Scene("DRXR", _xray_spine, 8),
    "mri_hips": Scene("DRMR", _mri_hips, 0),
    "mri_knee": Scene("DRMR", _mri_knee, 0),
    "mri_pelvis": Scene("DRMR", _mri_pelvis, 0),
    "mri_shoulder": Scene("DRMR", _mri_shoulder, 0),
    "mri_spine": Scene("DRMR", _mri_spine, 0),
}
