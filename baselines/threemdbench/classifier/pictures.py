"""Photos decoded once, reduced to what training needs, and kept in memory if they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from PIL import Image

from baselines.threemdbench.classifier.data import Photo
from loaders.files.images import ImageError

MEMORY = 2 << 30  # bytes of pixels kept
_ROOM = 1.5  # the shorter side stays this much larger than the network's input, as room for random crops


class Pictures:
    """The photos that can be decoded, in order; `unreadable` holds (id, why) of the others.

    Reduced pictures stay in memory until `memory` bytes are full; those beyond it are decoded again whenever asked for,
    with the same pixels.
    """

    def __init__(
        self,
        photos: Sequence[Photo],
        size: int,
        *,
        threads: int = 1,
        memory: int = MEMORY,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.photos: list[Photo] = []
        self.unreadable: list[tuple[str, str]] = []
        self._side = round(_ROOM * size)
        self._kept: list[Image.Image | None] = []
        held = 0
        with ThreadPoolExecutor(threads) as pool:
            for photo, picture in zip(photos, pool.map(self._try, photos), strict=True):
                if progress is not None:
                    progress(1)
                if isinstance(picture, ImageError):
                    self.unreadable.append((photo.key, f"{picture.reason}: {picture.detail}"))
                    continue
                held += 3 * picture.width * picture.height
                self.photos.append(photo)
                self._kept.append(picture if held <= memory else None)
        self.in_memory = held <= memory

    def __len__(self) -> int:
        return len(self.photos)

    def __getitem__(self, at: int) -> Image.Image:
        """An RGB picture."""
        kept = self._kept[at]
        return kept if kept is not None else self._reduced(self.photos[at])

    @property
    def labels(self) -> list[int]:
        return [photo.label for photo in self.photos]

    def _try(self, photo: Photo) -> Image.Image | ImageError:
        try:
            return self._reduced(photo)
        except ImageError as error:
            return error

    def _reduced(self, photo: Photo) -> Image.Image:
        picture = photo.load().convert("RGB")
        share = self._side / min(picture.size)
        if share >= 1:
            return picture
        width, height = (max(1, round(side * share)) for side in picture.size)
        return picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0)
