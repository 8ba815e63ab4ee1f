"""The options of `bedside run classifier`: for training, and for predictions of a trained network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

import typer

from loaders.errors import InputError
from scripts.terminal.options import EMBEDDINGS, LAST_SEED, Cache, Device, Out, Resamples, Slices, one_of
from scripts.terminal.photos import Photos

ALL = "all"
"""Instead of a split's name: all of them."""


@dataclass(frozen=True, kw_only=True)
class Common:
    """Options of both."""

    data: Photos
    out: Out
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|RUN",
            help="Initial weights (.safetensors); with --predict, the folder of the training run.",
        ),
    ] = None
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="photos.parquet from `bedside curate DATA`, if DATA is a folder of photos: takes its labels and makes "
            "new splits without duplicates, each cluster and each group of its table in one split.",
        ),
    ] = None
    precision: Annotated[
        str,
        typer.Option(
            metavar="auto|fp32|bf16", help="auto: bf16 if the GPU supports it; with --predict, as in training."
        ),
    ] = "auto"
    device: Device = None
    workers: Annotated[
        int | None, typer.Option(min=0, help="Data-loading processes. [0 if the photos fit in memory]")
    ] = None
    seed: Annotated[int, typer.Option(min=0, max=LAST_SEED, help="Random seed.")] = 0
    slices: Slices = ()
    resamples: Resamples = 10_000
    allow_untrained: Annotated[
        bool, typer.Option("--allow-untrained", help="Allow test classes without training photos.")
    ] = False
    drop_trained: Annotated[
        bool,
        typer.Option(
            "--drop-trained",
            help="Leave out photos that duplicate training or validation photos, and list them, instead of stopping.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Training:
    """Options for training only."""

    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="EfficientNetV2-S, -M, -L or -XL, any timm model, random:NAME or random:tiny; with --probe, "
            "also any encoder of `bedside run retrieval`.",
        ),
    ] = "EfficientNetV2-XL"
    probe: Annotated[
        bool, typer.Option("--probe", help="Fit a linear probe: logistic regression on frozen embeddings.")
    ] = False
    epochs: Annotated[int, typer.Option(min=1, help="Maximum number of epochs.")] = 30
    patience: Annotated[
        int, typer.Option(min=1, help="Early stopping: epochs without a better validation macro F1.")
    ] = 8
    batch_size: Annotated[int, typer.Option(min=1, help="Photos per step, over all devices.")] = 32
    learning_rate: Annotated[
        float | None, typer.Option(help="Learning rate of the head. [0.0003; 0.005 for random weights]")
    ] = None
    depth_decay: Annotated[
        float | None,
        typer.Option(help="Learning rate of the first layer relative to the head's. [0.1; 1 for random weights]"),
    ] = None
    size: Annotated[int | None, typer.Option(min=16, help="Training resolution in pixels. [the model's own]")] = None
    test_size: Annotated[
        int | None,
        typer.Option(min=16, help="Test resolution in pixels. [the model's own, or in proportion to --size]"),
    ] = None
    crop: Annotated[float, typer.Option(help="Minimum share of a photo's area in a random crop.")] = 0.35
    randaugment: Annotated[int, typer.Option(min=0, max=30, help="RandAugment magnitude; 0 turns it off.")] = 9
    ema: Annotated[float, typer.Option(help="Decay of the exponential moving average of the weights.")] = 0.998
    restart: Annotated[
        bool, typer.Option("--restart", help="Delete the training in RUN, finished or not, and start over.")
    ] = False
    checkpoint_seconds: Annotated[float, typer.Option(min=0.0, help="Maximum seconds between checkpoints.")] = 300.0
    cache: Cache = EMBEDDINGS


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """Options only for predicting with a trained network."""

    predict: Annotated[
        bool,
        typer.Option("--predict", help="Do not train: classify the photos of DATA with the network of --weights RUN."),
    ] = False
    split: Annotated[str, typer.Option(metavar="NAME|all", help="With --predict: split to classify.")] = "test"
    trained_on: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="With --predict: the training photos, if the network was trained on a folder.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Classifying(Common, Training, Prediction):
    """All options."""

    def check(self) -> None:
        """Raises InputError for options that nothing would heed, and for --predict without a run."""
        one_of("--precision", self.precision, ("auto", "fp32", "bf16"))
        training = [field.name for field in fields(Training)]
        if self.predict:
            told = "no training options: the network is already trained"
            self._refuse(training, "a training option with --predict", told)
            if self.weights is None:
                raise InputError("--predict", found="no weights", expected="--weights RUN, a training run")
            return
        self._refuse([field.name for field in fields(Prediction)], "no --predict", "--predict and --weights RUN")
        if self.probe:
            unread = [name for name in (*training, "precision", "workers") if name not in _OF_PROBE]
            self._refuse(unread, "--probe", "no option of fine-tuning: the network stays as it is")
        else:
            self._refuse(["cache"], "no --probe", "none: fine-tuning stores no embeddings")

    def _refuse(self, names: Sequence[str], found: str, expected: str) -> None:
        for field in fields(self):
            if field.name in names and getattr(self, field.name) != field.default:
                raise InputError(f"--{field.name.replace('_', '-')}", found=found, expected=expected)


_OF_PROBE = ("model", "probe", "batch_size", "size", "test_size", "cache")
