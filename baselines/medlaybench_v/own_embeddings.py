"""Embeddings that somebody made elsewhere, with a model that nothing here opens: `--embeddings NAME=PLACE`.

PLACE is a folder of images.npy, expert.npy and layman.npy, a .safetensors file with tensors of these three names, or
one .npy file of shape (3, rows, dimensions) with them in this order. Row i of each is row i of the split: its image,
its expert caption, its lay caption.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from baselines.medlaybench_v.embeddings import Embedded, Embeddings, unique_captions
from loaders.errors import CHECK_PATH, InputError
from loaders.files.paths import is_folder, is_there
from loaders.models.encoder import Vectors
from loaders.models.encoders import read_embeddings

IMAGES = "images"
_LAYERS = (IMAGES, "expert", "layman")
_TELL = 20  # rows that tell whether they are in order
_SAME = 1e-3  # how far apart the vectors of one caption may be: half precision


@dataclass(frozen=True, slots=True)
class OwnEncoder:
    """The model behind such embeddings, of which only the name is known; `key` is the digest of the embeddings."""

    name: str
    key: str
    stand_in: bool = False
    identity: Mapping[str, str] = field(default_factory=dict)


def read_own(given: str, captions: Mapping[str, Sequence[str]], *, images: bool) -> tuple[OwnEncoder, Embeddings]:
    """What `NAME=PLACE` names, for a split with these captions by register; without `images` those are not read.

    Raises InputError without a name or place; for a file that is missing or cannot be read, another number of rows or
    dimensions, and a caption that has different vectors in two rows, as happens if the rows are in another order.
    """
    name, _, text = given.partition("=")
    if not (name and text):
        expected = "NAME=PLACE, whose PLACE is a folder, a .npy or a .safetensors file"
        do = "Name the encoder for the tables, such as ours=vectors/"
        raise InputError("--embeddings", found=repr(given), expected=expected, do=do)
    place, rows = Path(text), len(next(iter(captions.values())))
    if not is_there(place):
        expected = "a folder of images.npy, expert.npy and layman.npy, a .npy or a .safetensors file"
        raise InputError(place, found="does not exist", expected=expected, do=CHECK_PATH)
    digest = hashlib.sha256()

    def read(kind: str, dim: int | None = None) -> Vectors:
        if is_folder(place):
            vectors = read_embeddings(place / f"{kind}.npy", rows=rows, dim=dim)
        elif place.suffix == ".npy":
            vectors = read_embeddings(place, rows=rows, dim=dim, layer=(kind, _LAYERS))
        else:
            vectors = read_embeddings(place, rows=rows, dim=dim, tensor=kind)
        digest.update(np.ascontiguousarray(vectors).tobytes())
        return vectors

    pictures = read(IMAGES) if images else np.empty((0, 0), dtype=np.float32)
    dim = pictures.shape[1] or None
    texts = {}
    for register, said in captions.items():
        vectors = read(register, dim)
        dim = vectors.shape[1]
        texts[register] = _distinct(vectors, said, f"{place}: {register}")
    whole = Embedded(pictures, np.arange(len(pictures)), np.zeros(len(pictures), dtype=np.bool_))
    return OwnEncoder(name, digest.hexdigest()), Embeddings(whole, texts, encoded=0, damaged=0)


def out_of_order(made: Embeddings) -> str:
    """Which two of the images and the captions of a row are no more alike than those of any two rows, as happens if
    the rows of one are in another order; "" if none, or for fewer rows than can tell.

    By the similarities of the rows and what is expected of them in a random order (Hoeffding, 1951), in
    O(rows * dimensions ** 2).
    """
    parts = {name: part.rows() for name, part in {IMAGES: made.images, **made.texts}.items()}
    apart = (f"{one} and {other}" for one, other in combinations(parts, 2) if not _fit(parts[one], parts[other]))
    return next(apart, "")


def _fit(one: Vectors, other: Vectors) -> bool:
    """Whether the rows are more alike than in a random order, by three standard deviations, as far as one can tell."""
    if min(len(one), len(other)) < _TELL:
        return True
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    spread = float(np.sum((one.T @ one) * (other.T @ other))) / (len(one) - 1)
    return spread == 0 or float(np.sum(one * other)) >= 3 * spread**0.5


def _distinct(vectors: Vectors, captions: Sequence[str], where: str) -> Embedded:
    """A vector for each distinct caption, that of its first row."""
    _, index = unique_captions(captions)
    _, first = np.unique(index, return_index=True)
    apart = np.flatnonzero(np.abs(vectors - vectors[first[index]]).max(axis=1) > _SAME)
    if len(apart):
        row = int(apart[0])
        found = f"rows {first[index[row]]} and {row} have the same caption and other vectors"
        raise InputError(where, found=found, do="Embed exactly the rows of the split, in their order")
    return Embedded(vectors[first], index, np.zeros(len(captions), dtype=np.bool_))
