"""The canvas that the sample's pictures are drawn on, and the parts that one picture asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFilter

SIDE = 176  # pixels of the finished square image
FINE = 2  # drawn at twice the size, so that edges come out smooth
Point = tuple[float, float]


class Scene(NamedTuple):
    """What can be drawn: the modality it belongs to, how it is painted, the grey of its empty sheet."""

    modality: str
    paint: Callable[[Sheet], None]
    ground: int


@dataclass
class Sheet:
    """A grey canvas in coordinates 0 to 1 (x to the right of the image, y down) and the parts asked for."""

    ground: int
    parts: dict[str, str]
    target: Point = (0.5, 0.5)  # what an arrow points at
    hot: list[tuple[Point, float]] = field(default_factory=list)  # spots of tracer, for the colour overlay

    def __post_init__(self) -> None:
        self.image = Image.new("L", (SIDE * FINE, SIDE * FINE), self.ground)
        self._pen = ImageDraw.Draw(self.image)

    def has(self, name: str, value: str = "") -> bool:
        """Whether a part is asked for; "both" answers to either side."""
        given = self.parts.get(name, "")
        return bool(given) if not value else given in (value, "both" if value in ("left", "right") else value)

    @property
    def lesion(self) -> str:
        return self.parts.get("lesion", "none").partition("@")[0]

    @property
    def places(self) -> set[str]:
        return set(self.parts.get("lesion", "").partition("@")[2].split("-")) - {""}

    def spot(self, centre: Point, across: float, down: float) -> list[Point]:
        """Where the lesion lies: its place words move it from `centre` by `across` and `down`."""
        words = self.places
        x, y = centre
        y += down * (("lower" in words or "back" in words) - ("upper" in words or "front" in words))
        spots = [(x + across, y), (x - across, y)] if "both" in words else []
        if not spots:
            spots = [(x + across * (("left" in words) - ("right" in words)), y)]
        self.target = spots[0]
        return spots

    def oval(self, centre: Point, rx: float, ry: float, grey: int, *, blur: float = 0.0, width: float = 0.0) -> None:
        """A filled oval, or its outline of `width`; `blur` (a share of the image) makes its edge soft."""
        (x, y), size = centre, SIDE * FINE
        box = ((x - rx) * size, (y - ry) * size, (x + rx) * size, (y + ry) * size)
        if blur:
            mask = Image.new("L", self.image.size, 0)
            ImageDraw.Draw(mask).ellipse(box, fill=255)
            self.image.paste(grey, mask=mask.filter(ImageFilter.GaussianBlur(blur * size)))
        elif width:
            self._pen.ellipse(box, outline=grey, width=round(width * size))
        else:
            self._pen.ellipse(box, fill=grey)

    def shape(self, points: list[Point], grey: int) -> None:
        size = SIDE * FINE
        self._pen.polygon([(x * size, y * size) for x, y in points], fill=grey)

    def line(self, points: list[Point], grey: int, width: float) -> None:
        size = SIDE * FINE
        self._pen.line([(x * size, y * size) for x, y in points], fill=grey, width=round(width * size), joint="curve")

    def arc(self, centre: Point, rx: float, ry: float, start: int, end: int, grey: int, width: float) -> None:
        """A part of an oval's outline; degrees run clockwise from three o'clock."""
        (x, y), size = centre, SIDE * FINE
        box = ((x - rx) * size, (y - ry) * size, (x + rx) * size, (y + ry) * size)
        self._pen.arc(box, start, end, fill=grey, width=round(width * size))

    def chord(self, centre: Point, rx: float, ry: float, start: int, end: int, grey: int) -> None:
        (x, y), size = centre, SIDE * FINE
        self._pen.chord(((x - rx) * size, (y - ry) * size, (x + rx) * size, (y + ry) * size), start, end, fill=grey)

    def growth(self, centre: Point, across: float, down: float, size: float, bright: int = 225, dark: int = 35) -> None:
        """The lesion that the parts ask for, where they ask for it."""
        if self.lesion == "none":
            return
        for spot in self.spot(centre, across, down):
            if self.lesion == "ring":
                self.oval(spot, size, size, bright)
                self.oval(spot, size * 0.65, size * 0.65, dark)
            elif self.lesion == "target":
                for share, grey in ((1.0, 190), (0.75, dark), (0.5, 190), (0.25, dark)):
                    self.oval(spot, size * share, size * share, grey)
            elif self.lesion == "haze":
                self.oval(spot, size * 1.6, size * 1.4, bright - 45, blur=0.035)
            elif self.lesion == "stone":
                self.shape(
                    [
                        (spot[0] - size, spot[1]),
                        (spot[0] + size, spot[1]),
                        (spot[0] + 0.09, 0.9),
                        (spot[0] - 0.02, 0.9),
                    ],
                    12,
                )
                self.oval(spot, size, size * 0.6, 250)
            elif self.lesion == "line":
                self.line(
                    [(spot[0] - 0.15, spot[1]), (spot[0], spot[1] + 0.1), (spot[0] + 0.15, spot[1] - 0.02)], 235, 0.014
                )
            else:
                self.oval(spot, size, size * 0.85, dark if self.lesion in ("dark", "cold") else bright, blur=0.006)
