"""Embeddings of a release's images and captions, with a progress bar; a record of who made them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import datasets

from baselines.medlaybench_v.embeddings import Embeddings, Load, embed
from baselines.results.run import ModelUsed, RunRecord
from loaders.errors import InputError
from loaders.images import open_image
from loaders.models.encoder import Encoder
from loaders.opened import Opened
from scripts.terminal.console import output
from scripts.terminal.finish import used
from scripts.terminal.progress import Bars

_LIBRARIES = ("torch", "open_clip", "open_clip_torch", "timm", "transformers")


def embed_rows(
    encoder: Encoder,
    texts: Mapping[str, Sequence[str | None]],
    cache: Path,
    batch_size: int,
    opened: Opened | None = None,
) -> Embeddings:
    """Embed captions by register, and the images of `opened` where it is given; what was cut is said."""
    images = _images(opened) if opened is not None else ()
    with Bars() as bars:
        made = embed(
            encoder,
            images=images,
            texts=texts,
            cache=cache,
            batch_size=batch_size,
            progress=lambda kind, done, total: bars.show(f"{encoder.name}: {kind}", done, total),
        )
    cut = ", ".join(f"{register} {part.truncated.sum():,}" for register, part in made.texts.items())
    output.print(
        f"{encoder.name}: {made.encoded:,} items encoded just now; captions longer than {encoder.context_length} "
        f"tokens: {cut}",
        highlight=False,
    )
    return made


def record(
    baseline: str, opened: Opened, encoders: Sequence[Encoder], options: Mapping[str, Any], seed: int
) -> RunRecord:
    """The record of a run of encoders; random weights make it a stand-in."""
    random = [encoder.name for encoder in encoders if encoder.stand_in]
    reasons = [opened.stand_in] if opened.stand_in else []
    if random:
        reasons.append(f"random weights: {', '.join(random)}")
    return RunRecord(
        baseline=baseline,
        data=used(opened),
        models=tuple(ModelUsed("encoder", encoder.name, encoder.key) for encoder in encoders),
        options=dict(options),
        seeds={"bootstrap": seed},
        versions={n: text for encoder in encoders for n, text in encoder.identity.items() if n in _LIBRARIES},
        stand_in="; ".join(reasons) or None,
    )


def truncated(encoders: Sequence[Encoder], embedded: Sequence[Embeddings]) -> dict[str, dict[str, int]]:
    """Captions whose end an encoder did not see, by encoder and register."""
    return {
        encoder.name: {register: int(part.truncated.sum()) for register, part in made.texts.items()}
        for encoder, made in zip(encoders, embedded, strict=True)
    }


def _images(opened: Opened) -> Iterator[tuple[str, Load]]:
    """Digest and opener of each row's image: its bytes are read for the digest, and again when it is encoded."""
    for part in opened.splits.values():
        plain = part.select_columns(["image", "image_id"]).cast_column("image", datasets.Image(decode=False))
        for number, row in enumerate(plain):
            if row["image"] is None:
                do = "Retrieval needs a release with images"
                raise InputError(row["image_id"], found="no image", expected="an image", do=do)
            digest = hashlib.sha256(row["image"]["bytes"]).hexdigest()
            yield digest, partial(lambda rows, at: open_image(rows[at]["image"]["bytes"]), plain, number)
