"""Photos decoded once and kept in memory if they fit, and what a network sees of them.

In training that is a random crop with RandAugment, for an answer the middle (or all): the answer is the mean of the
logits on that view and on its mirror image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Subset
from torchvision.transforms import v2

from baselines.statistics.arrays import Floats
from baselines.threemdbench.classifier.data import Photo
from baselines.threemdbench.classifier.network import Input
from baselines.threemdbench.classifier.recipe import Recipe
from loaders.errors import ModelError
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


_MODES = {name: getattr(v2.InterpolationMode, name.upper()) for name in ("bilinear", "bicubic", "nearest")}


def _tensor(input: Input) -> list[Any]:
    return [v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(list(input.mean), list(input.std))]


class TrainViews:
    """Random views by (photo, seed): the same pair gives the same view, in whatever process and order."""

    def __init__(self, pictures: Pictures, input: Input, recipe: Recipe) -> None:
        mode = _MODES.get(input.interpolation, v2.InterpolationMode.BICUBIC)
        steps: list[Any] = [
            v2.RandomResizedCrop(input.train_size, scale=(recipe.crop, 1.0), interpolation=mode, antialias=True),
            v2.RandomHorizontalFlip(),
        ]
        if recipe.randaugment:
            steps.append(v2.RandAugment(2, recipe.randaugment, interpolation=v2.InterpolationMode.BILINEAR))
        self._pictures = pictures
        self._view = v2.Compose([*steps, *_tensor(input)])

    def __getitem__(self, item: tuple[int, int]) -> tuple[Any, int]:
        at, seed = item
        # torchvision draws from the process's generator: seeded here, and restored afterwards.
        before = torch.random.get_rng_state()
        try:
            torch.default_generator.manual_seed(seed)
            return self._view(self._pictures[at]), self._pictures.photos[at].label
        finally:
            torch.random.set_rng_state(before)


class TestViews:
    """The view of each picture from which answers are computed."""

    def __init__(self, pictures: Pictures | Sequence[Image.Image], input: Input) -> None:
        mode = _MODES.get(input.interpolation, v2.InterpolationMode.BICUBIC)
        size = round(input.test_size / input.crop_share)
        shape = [size, size] if input.squash else [size]
        self._pictures = pictures
        self.view = v2.Compose(
            [v2.Resize(shape, interpolation=mode, antialias=True), v2.CenterCrop(input.test_size), *_tensor(input)]
        )

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, at: int) -> Any:
        return self.view(self._pictures[at])


def answer(
    module: Any,
    pictures: Pictures,
    input: Input,
    accelerator: Any,
    *,
    workers: int = 0,
    name: str = "the network",
    do: str = "",
) -> Floats:
    """Logits (N, classes), the same in every process: each process computes its share of the pictures.

    Raises ModelError, about the network of that `name` and with that advice, if some are not finite.
    """
    from accelerate.utils import gather_object

    rank, world = accelerator.process_index, accelerator.num_processes
    mine = list(range(rank, len(pictures), world))
    loader = DataLoader(Subset(TestViews(pictures, input), mine), batch_size=64, num_workers=workers)
    answered: list[Any] = []
    training = module.training
    module.eval()
    with torch.inference_mode(), accelerator.autocast():
        for images in loader:
            batch = images.to(accelerator.device, memory_format=torch.channels_last)
            logits = (module(batch).float() + module(batch.flip(-1)).float()) / 2
            answered.extend(logits.double().cpu().numpy())
    module.train(training)
    if world > 1:
        pairs = gather_object(list(zip(mine, answered, strict=True)))
        answered = [logits for _, logits in sorted(pairs, key=lambda pair: pair[0])]
    found: Floats = np.stack(answered)
    if lost := int((~np.isfinite(found).all(axis=1)).sum()):
        raise ModelError(name, found=f"outputs for {lost:,} of {len(found):,} photos that are not finite", do=do)
    return found
