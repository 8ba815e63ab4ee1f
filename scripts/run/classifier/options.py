"""The options of `bedside run classifier`: of a training, and of answers by a network that is trained."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from loaders.errors import InputError
from scripts.terminal.options import EMBEDDINGS, LAST_SEED, Cache, Device, Out, Resamples, Slices
from scripts.terminal.photos import Photos


@dataclass(frozen=True, kw_only=True)
class Common:
    """What both take."""

    data: Photos
    out: Out
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE|RUN",
            help="Weights to start from (.safetensors); with --predict the folder of the run that trained the network.",
        ),
    ] = None
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="photos.parquet of `bedside curate DATA`, where DATA is one folder of class folders: it is split, "
            "copies left out, no cluster in two splits.",
        ),
    ] = None
    precision: Annotated[
        str,
        typer.Option(
            metavar="auto|fp32|bf16", help="auto: bf16 on a GPU that has it; with --predict as in the training."
        ),
    ] = "auto"
    device: Device = None
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes that make views. [0 where the photos fit in memory]")
    ] = None
    seed: Annotated[int, typer.Option(min=0, max=LAST_SEED, help="Seed of everything random.")] = 0
    slices: Slices = ()
    resamples: Resamples = 10_000
    allow_untrained: Annotated[
        bool, typer.Option("--allow-untrained", help="Test classes may lack training photos.")
    ] = False
    drop_trained: Annotated[
        bool,
        typer.Option(
            "--drop-trained",
            help="Leave photos out that show what a training or validation photo shows, by name, instead of ending.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Training:
    """What only a training takes."""

    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="EfficientNetV2-S, -M, -L or -XL, any model of timm, random:NAME or random:tiny; with --probe also "
            "any encoder that `bedside run retrieval` knows.",
        ),
    ] = "EfficientNetV2-XL"
    probe: Annotated[bool, typer.Option("--probe", help="Logistic regression on frozen embeddings instead.")] = False
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the training photos, at most.")] = 30
    patience: Annotated[
        int, typer.Option(min=1, help="Epochs without a better macro F1 on validation before it ends.")
    ] = 8
    batch_size: Annotated[int, typer.Option(min=1, help="Photos a step, over all devices.")] = 32
    learning_rate: Annotated[float | None, typer.Option(help="Of the head. [0.0003; 0.005 for random weights]")] = None
    depth_decay: Annotated[
        float | None, typer.Option(help="The first layer's share of the learning rate. [0.1; 1 for random weights]")
    ] = None
    size: Annotated[int | None, typer.Option(min=16, help="Side of the training view in pixels. [the model's own]")] = (
        None
    )
    test_size: Annotated[
        int | None, typer.Option(min=16, help="Side of the test view in pixels. [the model's own]")
    ] = None
    crop: Annotated[float, typer.Option(help="Least share of a photo's area that a training view shows.")] = 0.35
    randaugment: Annotated[int, typer.Option(min=0, max=30, help="Magnitude of RandAugment; 0 leaves it out.")] = 9
    ema: Annotated[float, typer.Option(help="Decay of the average of the weights.")] = 0.998
    restart: Annotated[bool, typer.Option("--restart", help="Delete an unfinished training in RUN and begin anew.")] = (
        False
    )
    checkpoint_seconds: Annotated[float, typer.Option(min=0.0, help="Keep a checkpoint at least this often.")] = 300.0
    cache: Cache = EMBEDDINGS


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What only answers by a network take that is trained."""

    predict: Annotated[
        bool,
        typer.Option("--predict", help="Train nothing: the network of --weights RUN answers about DATA, any photos."),
    ] = False
    split: Annotated[str, typer.Option(metavar="NAME|all", help="With --predict: which split is answered about.")] = (
        "test"
    )
    trained_on: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="With --predict: where the photos lie that the network was trained on, for one of a folder.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Classifying(Common, Training, Prediction):
    """All of them."""

    def check(self) -> None:
        """Raises InputError for options of the one with the other, and for --predict without a run."""
        unfit = _given(self, Training if self.predict else Prediction)
        if unfit and self.predict:
            found = "an option of a training, with --predict"
            raise InputError(unfit, found=found, expected="none: the network is trained, and stays as it is")
        if unfit:
            raise InputError(unfit, found="no --predict", expected="it, with --weights RUN")
        if self.predict and self.weights is None:
            raise InputError("--predict", found="no network", expected="--weights RUN, a run that trained one")


def _given(options: Classifying, kind: type[Any]) -> str:
    """The first option of a kind that is not as by default; "" where there is none."""
    for field in fields(kind):
        if getattr(options, field.name) != field.default:
            return f"--{field.name.replace('_', '-')}"
    return ""
