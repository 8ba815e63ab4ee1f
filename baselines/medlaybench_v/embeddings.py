"""Embeddings of images and captions, each distinct one encoded only once.

Finished batches are in the cache, under the encoder's key, which changes with anything that an embedding depends on. So
a killed run continues where it stopped, and a second run neither decodes an image nor calls the model. Captions longer
than the encoder's context are marked as truncated.

Several GPUs: start the same command with `accelerate launch --multi_gpu --num_processes N -m …` or with torchrun. Each
process encodes its share and adds it to the same cache, on a disk that all of them see; then each reads everything.
Memory: what is returned, and two batches.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from baselines.medlaybench_v.embedding_cache import EmbeddingCache, Found
from loaders.errors import MissingExtra, ModelError
from loaders.models.encoder import Encoder

Load = Callable[[], Image.Image]
Progress = Callable[[str, int, int], None]
Batch = tuple[list[int], NDArray[np.float32], Sequence[bool]]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Embedded:
    """Unit vectors of the distinct items among the given ones, and which of them each given one is."""

    vectors: NDArray[np.float32]  # (distinct, dim), in order of first appearance among these items
    index: NDArray[np.int64]  # (given,)
    truncated: NDArray[np.bool_]  # (given,): its end did not fit the encoder's context

    def rows(self) -> NDArray[np.float32]:
        """A vector for each given item, (given, dim)."""
        return self.vectors[self.index]


@dataclass(frozen=True, slots=True)
class Embeddings:
    """`encoded` distinct items were encoded by this process just now; `damaged` records of the cache were useless."""

    images: Embedded
    texts: dict[str, Embedded]
    encoded: int
    damaged: int


def unique_captions(captions: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct captions in order of first appearance, and the number (N,) of each row's caption among them."""
    number: dict[str, int] = {}
    index = np.fromiter((number.setdefault(caption, len(number)) for caption in captions), np.int64, len(captions))
    return list(number), index


def embed(
    encoder: Encoder,
    *,
    images: Iterable[tuple[str, Load]] = (),
    texts: Mapping[str, Sequence[str]] | None = None,
    cache: Path,
    batch_size: int = 64,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Embeddings:
    """Embeddings of images and of captions by register, made now or found in the `cache` folder.

    An image is the SHA-256 of its file in hexadecimal and a function that opens it, called only if it has to be
    encoded, by one of `workers` threads (by default one per core, at most 8). `progress` is called with "images" or
    "texts", how many of this process's distinct items are done, and how many there are.

    Raises whatever an image's function raises; ModelError for an embedding that is not finite or has no length, naming
    the item; BedsideError when another run is writing to the same cache or the disk is full; KeyboardInterrupt with a
    message to show. Finished batches are kept in every case.
    """
    store = EmbeddingCache(cache / encoder.key, encoder.dim)
    store.describe(json.dumps({"encoder": encoder.name, **encoder.identity}, indent=1).encode())
    image_digests, loads, given = _distinct_images(images)
    by_register = texts or {}
    captions, _ = unique_captions([caption for said in by_register.values() for caption in said])
    place = {caption: row for row, caption in enumerate(captions)}
    threads = workers or min(8, os.cpu_count() or 1)

    def text_batches(rows: list[int]) -> Generator[Batch]:
        for start in range(0, len(rows), batch_size):
            part = rows[start : start + batch_size]
            yield part, *encoder.encode_texts([captions[row] for row in part])

    text_digests = [hashlib.sha256(caption.encode()).digest() for caption in captions]
    try:
        pictures, new_pictures = _complete(
            encoder, store, "images", image_digests, progress,
            batches=lambda rows: _image_batches(encoder, rows, loads, batch_size, threads),
            name=lambda row: f"the image {image_digests[row].hex()}",
        )  # fmt: skip
        words, new_words = _complete(
            encoder, store, "texts", text_digests, progress,
            batches=text_batches, name=lambda row: f"the text {captions[row][:80]!r}",
        )  # fmt: skip
    except KeyboardInterrupt:
        message = f"Stopped. Finished batches are kept in {store.folder}; run the same command again to resume"
        raise KeyboardInterrupt(message) from None
    return Embeddings(
        images=Embedded(pictures.vectors, given, pictures.truncated[given]),
        texts={register: _part(words, place, said) for register, said in by_register.items()},
        encoded=new_pictures + new_words,
        damaged=pictures.damaged + words.damaged,
    )


def _complete(
    encoder: Encoder,
    store: EmbeddingCache,
    kind: str,
    digests: Sequence[bytes],
    progress: Progress | None,
    *,
    batches: Callable[[list[int]], Generator[Batch]],
    name: Callable[[int], str],
) -> tuple[Found, int]:
    """All of the items: found in the cache, or encoded, checked and added to it by batches; also counts the latter."""
    items = store.read(kind, digests)
    damaged = items.damaged
    if damaged:
        _log.warning("%s: %d damaged records are left out and made anew", store.folder, damaged)
    processes = _processes()
    rank, world = (processes.process_index, processes.num_processes) if processes else (0, 1)
    missing = np.flatnonzero(~items.present)
    mine = missing[rank::world].tolist()
    if processes:
        processes.wait_for_everyone()  # all have seen the same cache before any of them adds to it
    encoded = 0
    if mine:
        with store.writer(kind, rank) as append, closing(batches(mine)) as made:
            for rows, vectors, truncated in made:
                _check(encoder, vectors, rows, name)
                append([digests[row] for row in rows], vectors, truncated)
                items.vectors[rows], items.truncated[rows] = vectors, truncated
                encoded += len(rows)
                if progress is not None:
                    progress(kind, encoded, len(mine))
    if processes and len(missing):
        processes.wait_for_everyone()
        del items
        items = store.read(kind, digests)
        items.damaged = damaged
    return items, encoded


def _image_batches(
    encoder: Encoder, rows: list[int], loads: Sequence[Load], batch_size: int, threads: int
) -> Generator[Batch]:
    """Batches in the order of `rows`, while threads already open and prepare the images of the next batch."""
    ahead: deque[tuple[int, Future[Any]]] = deque()

    def encode() -> Batch:
        part = [ahead.popleft() for _ in range(min(batch_size, len(ahead)))]
        vectors = encoder.encode_prepared([future.result() for _, future in part])
        return [row for row, _ in part], vectors, [False] * len(part)

    pool = ThreadPoolExecutor(threads)
    try:
        for row in rows:
            ahead.append((row, pool.submit(lambda load: encoder.prepare(load()), loads[row])))
            if len(ahead) == 2 * batch_size:
                yield encode()
        while ahead:
            yield encode()
    finally:
        pool.shutdown(cancel_futures=True)


def _check(encoder: Encoder, vectors: NDArray[np.float32], rows: list[int], name: Callable[[int], str]) -> None:
    for wrong, found in ((~np.isfinite(vectors).all(axis=1), "is not finite"), (~vectors.any(axis=1), "is all zero")):
        if wrong.any():
            row = rows[int(np.flatnonzero(wrong)[0])]
            do = "Use precision fp32" if encoder.identity.get("precision") == "fp16" else "Check this item"
            raise ModelError(encoder.name, found=f"its embedding of {name(row)} {found}", do=do)


def _distinct_images(images: Iterable[tuple[str, Load]]) -> tuple[list[bytes], list[Load], NDArray[np.int64]]:
    """Digests and functions of the distinct images, and which of them each given one is."""
    places: dict[bytes, int] = {}
    loads: list[Load] = []
    index: list[int] = []
    for text, load in images:
        if (digest := bytes.fromhex(text)) not in places:
            places[digest] = len(loads)
            loads.append(load)
        index.append(places[digest])
    return list(places), loads, np.array(index, dtype=np.int64)


def _part(words: Found, place: Mapping[str, int], captions: Sequence[str]) -> Embedded:
    """The captions of one register, in an order that does not depend on the other register."""
    distinct, index = unique_captions(captions)
    rows = np.array([place[caption] for caption in distinct], dtype=np.int64)
    return Embedded(words.vectors[rows], index, words.truncated[rows][index])


def _processes() -> Any:
    """The group of processes that were launched together, or None for a single one."""
    if int(os.environ.get("WORLD_SIZE", "1")) < 2:
        return None
    with MissingExtra.needed("models", purpose="encoding with several processes"):
        from accelerate import PartialState
    # They only wait for each other, which needs no GPU; the longest wait is for the slowest share.
    return PartialState(cpu=True, timeout=timedelta(days=7))
