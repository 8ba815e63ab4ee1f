"""The tip of a finger or toe with its nail."""

from __future__ import annotations

import numpy as np

from builders.samples.threemdbench.canvas import Canvas, Colour, faded
from builders.samples.threemdbench.skin import TONES, ground


def draw_nail(canvas: Canvas, diagnosis: str) -> None:
    """A digit from above; its nail is thick and yellow, loose, grown in, or out of shape, as the diagnosis asks."""
    tone = TONES[canvas.random.randint(5)]
    canvas.fill((canvas.between(60, 120), canvas.between(80, 130), canvas.between(90, 140)))
    backdrop = canvas.pixels.copy()
    ground(canvas, tone)
    lean = canvas.between(-0.25, 0.25)
    across = canvas.x - lean * (canvas.y - 0.3) - canvas.between(-0.08, 0.08)
    # The digit goes down out of the photo and ends in a round tip.
    width = canvas.between(0.5, 0.6)
    digit = faded(np.where(canvas.y > -0.35, width - np.abs(across), width - np.hypot(across, canvas.y + 0.35)), 0.03)
    canvas.light(np.sqrt(np.clip(1 - (across / width) ** 2, 0, 1)) * digit, 1.5)
    wide, top, bottom = canvas.between(0.34, 0.4), canvas.between(-0.72, -0.62), canvas.between(0.12, 0.22)
    along = (canvas.y - top) / (bottom - top)
    reach = np.where(along > 0.75, np.sqrt(np.clip(1 - ((along - 0.75) / 0.25) ** 2, 0, 1)), 1.0)
    reach = np.where(along < 0.2, np.sqrt(np.clip(1 - ((0.2 - along) / 0.45) ** 2, 0, 1)), reach)
    ragged = 0.05 * canvas.noise(14) * (along < 0.4) if diagnosis in ("onychomycosis", "nail dystrophy") else 0.0
    nail = faded(wide * reach - np.abs(across) + ragged, 0.02) * faded(np.minimum(along, 1 - along) + ragged, 0.02)
    flesh: Colour = (238, 188, 176)
    canvas.tint(
        faded(wide * 1.12 - np.hypot(across, np.clip(canvas.y - bottom, 0, 9)), 0.1) * (1 - nail), (0.93, 0.88, 0.86)
    )
    canvas.paint(nail, flesh, 0.85)
    canvas.light(nail * np.sqrt(np.clip(1 - (across / 0.45) ** 2, 0, 1)), 1.2)
    if diagnosis == "onychomycosis":
        sick = nail * np.clip(1.2 - along + 0.25 * canvas.noise(6), 0, 1)
        canvas.paint(sick, (206, 176, 92), 0.92)
        canvas.light(nail * canvas.noise(24) * 0.25, 1.3)
        canvas.paint(sick * (canvas.noise(18) > 1.1), (132, 104, 54), 0.8)
    elif diagnosis == "onycholysis":
        loose = nail * faded(0.45 + 0.12 * canvas.noise(4) - along, 0.05)
        canvas.paint(loose, (246, 244, 236), 0.95)
        canvas.shine(nail * np.exp(-(((across + 0.12) / 0.06) ** 2)), 0.25)
    elif diagnosis == "nail dystrophy":
        ridges = np.sin(canvas.between(34, 46) * across + 0.8 * canvas.noise(5))
        canvas.light(nail * ridges * 0.3, 1.3)
        canvas.tint(nail * (ridges < -0.8), (0.72, 0.66, 0.6))
        for _ in range(2):
            split = faded(0.02 - np.abs(across - canvas.between(-0.25, 0.25)), 0.01) * (along < 0.55)
            canvas.paint(nail * split, (92, 62, 52), 0.9)
    else:
        side = 1 if canvas.between(-1, 1) > 0 else -1
        rim = np.exp(-(((across - side * (wide + 0.03)) / 0.13) ** 2) - ((along - 0.5) / 0.5) ** 2)
        canvas.tint(np.clip(rim * 1.3, 0, 1), (1.0, 0.5, 0.5))
        canvas.light(rim, 1.6)
        at = (side * wide + lean * -0.3, canvas.between(-0.35, -0.1))
        canvas.paint(canvas.blob(at, canvas.between(0.06, 0.1), ragged=0.4), (232, 212, 138), 0.9)
    canvas.pixels = canvas.pixels * digit[..., None] + backdrop * (1 - digit[..., None])
