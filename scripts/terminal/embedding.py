"""Embeddings of a release's images and captions, with a progress bar; and a record of who made them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer
from PIL import Image

from baselines.medlaybench_v.embeddings import Embeddings, Load, embed
from baselines.medlaybench_v.own_embeddings import OwnEncoder, out_of_order, read_own
from baselines.medlaybench_v.retrieval import CaptionRows
from baselines.results.run import RANDOM, VECTORS, WEIGHTS, DataUsed, ModelUsed, RunRecord, because
from loaders.errors import InputError, how_many
from loaders.files.images import open_image
from loaders.files.places import without_places
from loaders.models.encoder import Encoder
from loaders.models.encoders import open_encoder
from loaders.opened import Opened
from scripts.terminal.console import output, warn
from scripts.terminal.options import EMBEDDINGS, Cache, Data, Device, Out, Resamples, Seed
from scripts.terminal.progress import Bars


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """Options of the baselines that embed captions."""

    data: Data
    out: Out
    model: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="NAME",
            help="Encoder: one of the paper's, hf:ORG/NAME, an open_clip name or random:tiny. May be repeated.",
        ),
    ] = ()
    embeddings: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="NAME=PLACE",
            help="Your own embeddings, one per row of the split: a folder with images.npy, expert.npy and "
            "layman.npy, one .npy of shape (3, rows, dimensions), or a .safetensors file with these "
            "tensors. May be repeated.",
        ),
    ] = ()
    split: Annotated[str, typer.Option(metavar="NAME", help="Split to embed.")] = "test"
    cache: Cache = EMBEDDINGS
    batch_size: Annotated[int, typer.Option(min=1, help="Batch size: images or captions.")] = 64
    device: Device = None
    precision: Annotated[str, typer.Option(metavar="fp32|bf16|fp16", help="Numeric precision of the encoder.")] = "fp32"
    resamples: Resamples = 1000
    seed: Seed = 0


_OF_ENCODERS = ("cache", "batch_size", "device", "precision")


@dataclass(frozen=True)
class Embedded:
    """The embeddings of the rows by each encoder of a command."""

    of: tuple[tuple[Encoder | OwnEncoder, Embeddings], ...]

    @property
    def truncated(self) -> dict[str, dict[str, int] | None]:
        """Captions that were truncated, by encoder and register; None if the embeddings were made elsewhere."""
        return {
            encoder.name: None
            if isinstance(encoder, OwnEncoder)
            else {register: int(part.truncated.sum()) for register, part in made.texts.items()}
            for encoder, made in self.of
        }

    def record(self, baseline: str, opened: Opened, options: Mapping[str, Any], seed: int) -> RunRecord:
        """The record of the run; random weights make it a stand-in. Truncation counts are added to its options, and of
        each encoder what its embeddings depend on: where its weights are from, the precision, the kind of device."""
        encoders = [encoder for encoder, _ in self.of]
        random = ", ".join(encoder.name for encoder in encoders if encoder.stand_in)
        return RunRecord(
            baseline=baseline,
            data=DataUsed.of(opened),
            models=tuple(ModelUsed("encoder", encoder.name, encoder.key, _source(encoder)) for encoder in encoders),
            options={
                **options,
                "truncated": self.truncated,
                "encoders": {encoder.name: dict(encoder.identity) for encoder in encoders if encoder.identity},
            },
            seeds={"bootstrap": seed},
            versions={
                package: version
                for encoder in encoders
                for package, _, version in (
                    one.partition(" ") for one in encoder.identity.get("libraries", "").split(", ")
                )
                if package
            },
            stand_in=because(opened.stand_in, random and f"random weights: {random}"),
        )


def _source(encoder: Encoder | OwnEncoder) -> str:
    if isinstance(encoder, OwnEncoder):
        return VECTORS
    return RANDOM if encoder.stand_in else WEIGHTS


def embed_all(options: Encoding, texts: Mapping[str, Sequence[str]], opened: Opened | None = None) -> Embedded:
    """Embeds captions by register with every encoder, and the images of `opened` if given; also reads embeddings made
    elsewhere.

    Raises InputError if neither encoders nor embeddings are named, for an option of encoders without one, and what
    `read_own`, `open_encoder`, `embed` raise.
    """
    if not options.model and not options.embeddings:
        raise InputError("--model, --embeddings", found="neither", expected="an encoder, or your own embeddings")
    unheeded = (name for name in _OF_ENCODERS if getattr(options, name) != getattr(Encoding, name))
    if not options.model and (name := next(unheeded, "")):
        do = "Leave it out: your own embeddings are taken as they are"
        raise InputError(f"--{name.replace('_', '-')}", found="no encoder (--model)", expected="one to open", do=do)
    own = [read_own(given, texts, images=opened is not None) for given in options.embeddings]
    for encoder, made in own:
        if pair := out_of_order(made):
            warn(
                f"{encoder.name}: {pair} of one row are no more alike than those of different rows; are the embeddings "
                "in the order of the split?"
            )
    encoders = [open_encoder(name, device=options.device, precision=options.precision) for name in options.model]
    names = [*(encoder.name for encoder in encoders), *(encoder.name for encoder, _ in own)]
    names = without_places(names)  # the key of an encoder, in the record, says which weights these are
    folded = [name.casefold() for name in names]  # as the names of the paper's rows are compared
    if again := next((name for at, name in enumerate(names) if folded[at] in folded[:at]), None):
        found, do = f"{again!r} twice", "Give embeddings another NAME"
        raise InputError("--model, --embeddings", found=found, expected="each name once: one table row each", do=do)
    for each, name in zip(encoders, names, strict=False):
        each.name = name
    return Embedded((*((encoder, _embed(encoder, texts, options, opened)) for encoder in encoders), *own))


def _embed(
    encoder: Encoder, texts: Mapping[str, Sequence[str]], options: Encoding, opened: Opened | None
) -> Embeddings:
    images = images_of(opened) if opened is not None else ()
    with Bars() as bars:
        made = embed(
            encoder,
            images=images,
            texts=texts,
            cache=options.cache,
            batch_size=options.batch_size,
            progress=lambda kind, done, total: bars.show(f"{encoder.name}: {kind}", done, total),
        )
    cut = ", ".join(f"{register} {part.truncated.sum():,}" for register, part in made.texts.items())
    output.print(
        f"{encoder.name}: {how_many(made.encoded, 'item')} newly encoded; captions longer than "
        f"{encoder.context_length} tokens: {cut}"
    )
    return made


def caption_rows(opened: Opened) -> CaptionRows:
    """The rows as retrieval and the embedding space take them, checked before anything is encoded."""
    rows = list(opened.rows("modality", "expert_caption", "layman_caption", "article_id"))
    with opened.naming():
        return CaptionRows(
            modality=[row["modality"] for row in rows],
            expert_caption=[row["expert_caption"] for row in rows],
            layman_caption=[row["layman_caption"] for row in rows],
            article_id=[row["article_id"] for row in rows],
        )


def images_of(opened: Opened) -> Iterator[tuple[str, Load]]:
    """Digest and opener of each row's image: its bytes are read for the digest, and again when it is encoded."""
    import datasets

    for part in opened.splits.values():
        plain = part.select_columns(["image", "image_id"]).cast_column("image", datasets.Image(decode=False))
        for number, row in enumerate(plain):
            if row["image"] is None:
                do = "Retrieval needs a release with images"
                with opened.naming():
                    raise InputError(row["image_id"], found="no image", expected="an image", do=do)
            digest = hashlib.sha256(row["image"]["bytes"]).hexdigest()
            yield digest, partial(_image, opened, plain, number)


def _image(opened: Opened, rows: Any, at: int) -> Image.Image:
    """The picture of a row, whose place an error names."""
    row = rows[at]
    with opened.naming():
        return open_image(row["image"]["bytes"], name=row["image_id"])
