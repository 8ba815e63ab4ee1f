"""The canvas of the sample's photos: colours as floats, soft shapes, light, and noise that a seed decides.

Coordinates run from -1 to 1, x to the right and y down. A mask is an array of 0 to 1 in the shape of the photo.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image

SIDE = 256  # pixels of the finished square photo
Mask = NDArray[np.float64]
Colour = tuple[float, float, float]


class Canvas:
    """A photo in the making. All chance comes from `random`, whose stream no newer numpy changes."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.RandomState(seed)
        self.y, self.x = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
        self.pixels: NDArray[np.float64] = np.zeros((SIDE, SIDE, 3))

    def near(self, at: tuple[float, float], radius: float) -> Canvas:
        """The part of the photo around a point, to be painted on alone: what is small is quickly worked out."""
        window = self._window(at, radius)
        part = object.__new__(Canvas)
        part.random, part.pixels = self.random, self.pixels[window]
        part.x, part.y = self.x[window], self.y[window]
        return part

    def _window(self, at: tuple[float, float], radius: float) -> tuple[slice, slice]:
        """The rows and columns of a square around a point, two at least."""
        found = []
        for origin, middle, length in ((self.y[0, 0], at[1], self.shape[0]), (self.x[0, 0], at[0], self.shape[1])):
            ends = [round((middle - origin + way * radius) / 2 * SIDE) for way in (-1, 1)]
            low = min(max(ends[0], 0), length - 2)
            found.append(slice(low, min(max(ends[1], low + 2), length)))
        return found[0], found[1]

    @property
    def shape(self) -> tuple[int, int]:
        return self.x.shape[0], self.x.shape[1]

    def between(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def fill(self, colour: Colour) -> None:
        self.pixels[:] = colour

    def paint(self, mask: Mask, colour: Colour, opacity: float = 1.0) -> None:
        """Lay a colour over the photo where the mask is."""
        self.pixels += (mask * np.float64(opacity))[..., None] * (np.asarray(colour) - self.pixels)

    def tint(self, mask: Mask, factors: Colour) -> None:
        """Multiply the colours where the mask is: blood and shade let the ground show through."""
        self.pixels *= 1 + mask[..., None] * (np.asarray(factors) - 1)

    def light(self, height: Mask, strength: float) -> None:
        """Shade the photo as if the mask stood out from it and the light came from the upper left."""
        down, right = np.gradient(height * SIDE / 24)
        self.pixels += np.asarray(-strength * 40 * (down + right))[..., None]

    def shine(self, mask: Mask, strength: float) -> None:
        """A wet highlight."""
        self.pixels += (strength * 90 * mask)[..., None]

    def noise(self, cells: int) -> Mask:
        """Smooth noise of mean 0 and deviation 1 with about so many bumps a side of the whole photo."""
        down, across = (max(2, round(cells * length / SIDE)) for length in self.shape)
        field = Image.fromarray(self.random.normal(0, 1, (down, across)).astype(np.float32))
        grown = np.asarray(field.resize(self.shape[::-1], Image.Resampling.BICUBIC), dtype=np.float64)
        spread = grown.std()
        return (grown - grown.mean()) / spread if spread else grown

    def oval(self, at: tuple[float, float], rx: float, ry: float, *, edge: float = 0.03, turn: float = 0.0) -> Mask:
        """A filled oval; `edge` is how far its border fades."""
        cos, sin = np.cos(turn), np.sin(turn)
        dx, dy = self.x - at[0], self.y - at[1]
        far = np.hypot((cos * dx + sin * dy) / rx, (cos * dy - sin * dx) / ry)
        return faded((1 - far) * min(rx, ry), edge)

    def blob(self, at: tuple[float, float], size: float, *, edge: float = 0.03, ragged: float = 0.2) -> Mask:
        """A filled shape of an uneven outline."""
        return faded(self.depth(at, size, ragged), edge)

    def depth(self, at: tuple[float, float], size: float, ragged: float) -> Mask:
        """How deep each point lies in an uneven shape: positive inside, negative outside."""
        point = (self.x - at[0]) + 1j * (self.y - at[1])
        far = np.abs(point)
        # Waves around the outline: the n-th power of a unit vector has n times its angle, and needs no arctangent.
        unit = point / np.maximum(far, 1e-9)
        power, radius = unit, np.full_like(far, size)
        for wave in range(2, 7):
            power = power * unit
            phase = self.between(0, 2 * np.pi)
            height = size * ragged / wave * self.between(0.4, 1.0)
            radius += height * (np.cos(phase) * power.real - np.sin(phase) * power.imag)
        depth: Mask = radius - far
        return depth

    def vessel(self, start: tuple[float, float], heading: float, length: float, width: float) -> Mask:
        """A thin winding line."""
        mask = np.zeros(self.shape)
        x, y = start
        for _ in range(max(2, int(length / 0.02))):
            window = self._window((x, y), width + 0.03)
            far = np.hypot(self.x[window] - x, self.y[window] - y)
            mask[window] = np.maximum(mask[window], faded(width - far, 0.012))
            heading += self.between(-0.4, 0.4)
            x, y = x + 0.02 * np.cos(heading), y + 0.02 * np.sin(heading)
        return mask

    def finish(self, *, grain: float = 2.5, quality: int = 90) -> bytes:
        """The photo as JPEG bytes: uneven light, a colour cast and the camera's grain."""
        light = 1 + 0.07 * (self.x * self.between(-1, 1) + self.y * self.between(-1, 1))
        cast = [self.between(0.95, 1.05) for _ in range(3)]
        pixels = self.pixels * light[..., None] * cast + self.random.normal(0, grain, self.pixels.shape)
        buffer = io.BytesIO()
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=quality, subsampling=0)
        return buffer.getvalue()


def faded(depth: Mask, edge: float) -> Mask:
    """1 inside, 0 outside, and a slope of width `edge` between."""
    mask: Mask = np.clip(depth / max(edge, 1e-6) + 0.5, 0, 1)
    return mask
