"""The interface of an image-text encoder; `encoders` opens one by name."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Vectors = NDArray[np.float32]


class Encoder(ABC):
    """An image tower and a text tower that share a space of `dim` dimensions.

    `context_length` is the longest text in tokens, special ones included. `stand_in` is True if the weights are random,
    so that nothing computed with it is a result.
    """

    name: str
    dim: int
    context_length: int
    stand_in: bool

    @property
    @abstractmethod
    def identity(self) -> dict[str, str]:
        """Everything that an embedding depends on besides the item: digests of weights, architecture, transform and
        tokenizer, the Hub revision, precision, kind of device, and the versions of the libraries."""

    @property
    def key(self) -> str:
        """Digest of the identity: encoders with the same key give the same embeddings."""
        text = json.dumps({**self.identity, "dim": str(self.dim)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @abstractmethod
    def prepare(self, image: Image.Image) -> Any:
        """The form of an RGB or L picture that `encode_prepared` takes. Safe from many threads, while encoding."""

    @abstractmethod
    def encode_prepared(self, prepared: Sequence[Any]) -> Vectors:
        """As `encode_images`, for pictures that went through `prepare`."""

    @abstractmethod
    def encode_texts(self, texts: Sequence[str]) -> tuple[Vectors, list[bool]]:
        """Unit vectors (texts, dim), and for each text whether it was truncated at `context_length`.

        Raises ModelError if the device runs out of memory.
        """

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        """Unit vectors (images, dim) of RGB or L pictures, as `loaders.files.images.open_image` gives them.

        A vector that is not finite or has no length is returned as it is, for the caller to find. Raises InputError for
        a picture of another mode, ModelError if the device runs out of memory.
        """
        return self.encode_prepared([self.prepare(image) for image in images])


def unit(vectors: Vectors) -> Vectors:
    """Each row divided by its length; a zero row stays zero, and one that is not finite stays so."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    with np.errstate(invalid="ignore"):
        result: Vectors = (vectors / lengths).astype(np.float32)
    return result
