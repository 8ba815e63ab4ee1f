"""`bedside run classifier`: the image classifier of Table 8, its cues for the dialogues, and a linear probe."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from baselines.report.classifier import CONTENT
from baselines.results.run import ModelUsed, RunRecord
from loaders.errors import MissingExtra
from loaders.files.untrusted import is_there, read_json
from scripts.run.stored import Rescored, Stored
from scripts.terminal.console import errors, output
from scripts.terminal.finish import because, finish
from scripts.terminal.options import EMBEDDINGS, Cache, Device, Out, Resamples
from scripts.terminal.options_of import options_of
from scripts.terminal.photos import Photos, cores, labelled_photos, pictures_of
from scripts.terminal.progress import Bars

if TYPE_CHECKING:
    from baselines.threemdbench.classifier.data import Labelled, Photo
    from baselines.threemdbench.classifier.network import Network
    from baselines.threemdbench.classifier.pictures import Pictures
    from baselines.threemdbench.classifier.recipe import Recipe
    from baselines.threemdbench.classifier.training import Told

CUES = "cues.parquet"
MODEL = "model.safetensors"


@dataclass(frozen=True, kw_only=True)
class Classifying:
    data: Photos
    out: Out
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="EfficientNetV2-S, -M, -L or -XL, any model of timm, random:NAME or random:tiny; with --probe also "
            "any encoder that `bedside run retrieval` knows.",
        ),
    ] = "EfficientNetV2-XL"
    weights: Annotated[Path | None, typer.Option(metavar="FILE", help="Weights to start from (.safetensors).")] = None
    probe: Annotated[bool, typer.Option("--probe", help="Logistic regression on frozen embeddings instead.")] = False
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="photos.parquet of `bedside curate DATA`, where DATA is one folder of class folders: it is split, "
            "copies left out, no cluster in two splits.",
        ),
    ] = None
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
    precision: Annotated[str, typer.Option(metavar="auto|fp32|bf16", help="auto: bf16 on a GPU that has it.")] = "auto"
    device: Device = None
    workers: Annotated[
        int | None, typer.Option(min=0, help="Processes that make views. [0 where the photos fit in memory]")
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0
    resamples: Resamples = 10_000
    allow_untrained: Annotated[
        bool, typer.Option("--allow-untrained", help="Test classes may lack training photos.")
    ] = False
    restart: Annotated[bool, typer.Option("--restart", help="Delete an unfinished training in RUN and begin anew.")] = (
        False
    )
    checkpoint_seconds: Annotated[float, typer.Option(min=0.0, help="Keep a checkpoint at least this often.")] = 300.0
    cache: Cache = EMBEDDINGS


@dataclass(frozen=True)
class Trained:
    """A classifier that has answered about test. `facts` join the options of the record, `more` the page's content."""

    photos: Mapping[str, Sequence[Photo]]
    unreadable: Mapping[str, Sequence[tuple[str, str]]]
    logits: Any
    temperature: float
    row: str
    setting: str
    model: ModelUsed
    stand_in: str | None
    facts: Mapping[str, Any]
    versions: Mapping[str, str]
    more: Mapping[str, Any]


@options_of(Classifying)
def command(options: Classifying) -> None:
    """Fine-tune an image classifier on the train split, choose on validation, answer once about test (Table 8).

    Stopped at any moment, the same command goes on with the same bits. Several GPUs: `accelerate launch -m scripts run
    classifier …`. Leaves cues.parquet, the three likeliest diagnoses of each test case, for doctors with external cues.

    Example: `bedside run classifier runs/3mdbench --model EfficientNetV2-S -o runs/cnn`
    """
    started = time.monotonic()
    try:
        import accelerate  # noqa: F401
        import timm  # noqa: F401
        import torch  # noqa: F401
    except ModuleNotFoundError as missing:
        raise MissingExtra.named(str(missing.name), extra="models", purpose="image classifiers") from None

    labelled = labelled_photos(options.data, options.clusters, options.seed)
    labelled.check(allow_untrained=options.allow_untrained)
    trained = _probe(labelled, options) if options.probe else _train(labelled, options)
    if trained is not None:
        _end(labelled, trained, options, started)


def _recipe(options: Classifying) -> Recipe:
    """How the network is trained; what is not given depends on where the weights come from."""
    import torch

    from baselines.threemdbench.classifier.recipe import Recipe

    scratch = options.model.startswith("random:") and options.weights is None
    precision = options.precision
    if precision == "auto":
        on_gpu = options.device != "cpu" and torch.cuda.is_available()
        precision = "bf16" if on_gpu and torch.cuda.is_bf16_supported() else "fp32"
    same = ("epochs", "batch_size", "randaugment", "crop", "ema", "patience", "seed")
    return Recipe(
        learning_rate=options.learning_rate or (5e-3 if scratch else 3e-4),
        depth_decay=options.depth_decay or (1.0 if scratch else 0.1),
        drop_path=0.0 if scratch else 0.1,
        dropout=0.0 if scratch else 0.2,
        precision=precision,
        **{name: getattr(options, name) for name in same},
    )


def _train(labelled: Labelled, options: Classifying) -> Trained | None:
    """Fine-tunes; None in the processes of a training that are not the first."""
    import numpy as np

    from baselines.threemdbench.classifier.answers import answer
    from baselines.threemdbench.classifier.calibration import fit_temperature
    from baselines.threemdbench.classifier.checkpoint import write_tensors
    from baselines.threemdbench.classifier.scoring import FINE_TUNED, SCRATCH
    from baselines.threemdbench.classifier.training import BEST, CHECKPOINT, Training
    from loaders.models.encoders_torch import state_digest

    recipe = _recipe(options)
    accelerator = _accelerator(options.device, recipe.precision)
    main = accelerator.is_main_process
    network = _network(options, recipe, len(labelled.classes))
    pictures = pictures_of(labelled, max(network.input.train_size, network.input.test_size), quiet=not main)
    workers = options.workers
    if workers is None:
        workers = 0 if all(of_split.in_memory for of_split in pictures.values()) else cores()
    folder = options.out / "training"
    if options.restart and main:
        for name in (CHECKPOINT, BEST):
            (folder / name).unlink(missing_ok=True)
    accelerator.wait_for_everyone()
    versions = _versions("torch", "torchvision", "timm", "accelerate", "pillow", "numpy")
    with Bars(quiet=not main) as bars:
        training = Training(
            network,
            pictures,
            recipe,
            folder,
            accelerator,
            identity=_identity(labelled, network, pictures, versions),
            workers=workers,
            checkpoint_seconds=options.checkpoint_seconds,
            told=_told(bars, recipe.epochs, quiet=not main),
        ).run()
        ask = partial(answer, training.module, input=network.input, accelerator=accelerator, workers=workers)
        validation, test = ask(pictures["validation"]), ask(pictures["test"])
    temperature = fit_temperature(validation, np.array(pictures["validation"].labels))
    if not main:
        return None
    write_tensors(options.out / MODEL, training.module.state_dict(), _about(labelled, network, temperature))
    return Trained(
        photos={split: of_split.photos for split, of_split in pictures.items()},
        unreadable={split: of_split.unreadable for split, of_split in pictures.items()},
        logits=test,
        temperature=temperature,
        row=network.paper_name,
        setting=SCRATCH if network.source.startswith("random") else FINE_TUNED,
        model=ModelUsed("classifier", network.name, network.source),
        stand_in=network.stand_in,
        facts={
            "recipe": asdict(recipe), "input": asdict(network.input), "epochs trained": len(training.history),
            "best epoch": training.best_epoch + 1, "processes": accelerator.num_processes,
            "device": accelerator.device.type, "trained weights": state_digest(training.module.cpu()),
        },
        versions=versions,
        more={"history": [asdict(epoch) for epoch in training.history], "best_epoch": training.best_epoch},
    )  # fmt: skip


def _network(options: Classifying, recipe: Recipe, classes: int) -> Network:
    from baselines.threemdbench.classifier.network import open_network

    return open_network(
        options.model,
        classes=classes,
        weights=options.weights,
        size=options.size,
        test_size=options.test_size,
        dropout=recipe.dropout,
        drop_path=recipe.drop_path,
        seed=recipe.seed,
    )


def _identity(
    labelled: Labelled, network: Network, pictures: Mapping[str, Pictures], versions: Mapping[str, str]
) -> dict[str, Any]:
    """What must not change between a training and its resumption."""
    return {
        "data": {split: labelled.digests[split] for split in ("train", "validation")},
        "network": [network.name, network.source, asdict(network.input) | {"mean": None, "std": None}],
        "unreadable": {split: len(pictures[split].unreadable) for split in ("train", "validation")},
        "versions": versions,
    }


def _about(labelled: Labelled, network: Network, temperature: float) -> dict[str, Any]:
    """What stands beside the weights in their file."""
    return {
        "name": network.name, "classes": labelled.classes, "input": asdict(network.input), "temperature": temperature,
        "source": network.source, "train": labelled.digests["train"],
    }  # fmt: skip


def _probe(labelled: Labelled, options: Classifying) -> Trained:
    import numpy as np

    from baselines.threemdbench.classifier.calibration import fit_temperature
    from baselines.threemdbench.classifier.probe import open_backbone, probe
    from baselines.threemdbench.classifier.scoring import PROBED

    size = options.test_size or options.size
    encoder = open_backbone(options.model, device=options.device, weights=options.weights, size=size, seed=options.seed)
    pictures = pictures_of(labelled, 16, quiet=False)
    photos = {split: of_split.photos for split, of_split in pictures.items()}
    with Bars() as bars:
        probed = probe(
            encoder,
            photos,
            len(labelled.classes),
            cache=options.cache,
            batch_size=options.batch_size,
            progress=lambda kind, done, total: bars.show(f"{encoder.name}: images", done, total),
        )
    return Trained(
        photos=photos,
        unreadable={split: of_split.unreadable for split, of_split in pictures.items()},
        logits=probed.test,
        temperature=fit_temperature(probed.validation, np.array([photo.label for photo in photos["validation"]])),
        row=encoder.name,
        setting=PROBED,
        model=ModelUsed("encoder", encoder.name, encoder.key),
        stand_in=f"random weights: {encoder.name}" if encoder.stand_in else None,
        facts={"inverse penalty": probed.strength},
        versions=_versions("torch", "timm", "scikit-learn", "numpy"),
        more={"history": [], "best_epoch": None},
    )


def _end(labelled: Labelled, trained: Trained, options: Classifying, started: float) -> None:
    """The one evaluation on test, cues, and the run's files."""
    import numpy as np

    from baselines.threemdbench.classifier.cues import TOP, write_cues
    from baselines.threemdbench.classifier.data import FOLDER
    from baselines.threemdbench.classifier.scoring import Answers, Scoring
    from baselines.threemdbench.classifier.stored import NAME as KEPT
    from baselines.threemdbench.classifier.stored import StoredAnswers
    from loaders.files.records import to_json

    record = RunRecord(
        baseline="classifier",
        data=labelled.data,
        models=(trained.model,),
        options={
            "allow_untrained": options.allow_untrained,
            "resamples": options.resamples,
            **trained.facts,
            "trained on": {split: labelled.digests[split] for split in ("train", "validation")},
            "unreadable": {split: len(photos) for split, photos in trained.unreadable.items()},
        },
        seeds={"training and bootstrap": options.seed},
        versions=trained.versions,
        stand_in=because(labelled.stand_in, trained.stand_in),
    )
    readable = {photo.key for photo in trained.photos["test"]}
    tested = np.array([photo.key in readable for photo in labelled.splits["test"]])
    answers = Answers(trained.logits, tested, trained.temperature)
    train_labels = [photo.label for photo in trained.photos["train"]]
    scoring = Scoring(
        labelled=labelled, train_labels=train_labels, answers=answers, row=trained.row, setting=trained.setting,
        record=record, resamples=options.resamples, seed=options.seed,
    )  # fmt: skip
    results, drawn = scoring.scored()
    shown = {split: list(photos) for split, photos in trained.unreadable.items() if photos}
    if labelled.corpus != FOLDER:
        ranked = zip(labelled.splits["test"], answers.ranked(), strict=True)
        write_cues(
            options.out / CUES,
            {photo.key: [labelled.classes[at] for at in order[:TOP]] for photo, order in ranked if order},
            content_digest=labelled.digests["test"],
            model=trained.model.name,
            run_id=record.run_id,
            stand_in=record.stand_in,
        )
    content = {**drawn, **trained.more, "unreadable": shown}
    finish(options.out, results, started, {CONTENT: content, KEPT: to_json(StoredAnswers.of(scoring))})
    for split, photos in shown.items():
        output.print(f"{split}: {len(photos):,} photos could not be decoded, e.g. {photos[0][0]} ({photos[0][1]})")


def rescore(stored: Stored) -> Rescored:
    """The numbers again, and what the report draws, from the answers about test."""
    from baselines.threemdbench.classifier.stored import read_stored

    seed, resamples = stored.record.seeds["training and bootstrap"], stored.option("resamples")
    results, drawn = read_stored(stored.run.folder).scoring(stored.record, resamples=resamples, seed=seed).scored()
    path = stored.run.folder / CONTENT
    before = read_json(path, expected="the file that the run wrote") if is_there(path) else {}
    return Rescored(results, {CONTENT: {**before, **drawn}})


def _versions(*packages: str) -> dict[str, str]:
    return {package: version(package) for package in packages}


def _accelerator(device: str | None, precision: str) -> Any:
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState

    from loaders.models.encoders_torch import Setting

    chosen = Setting.of(device, "fp32").device
    if chosen.startswith("cuda:"):
        torch.cuda.set_device(int(chosen.partition(":")[2]))
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # what cuBLAS needs to give the same bits twice
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    AcceleratorState._reset_state()  # a process may train twice, in another precision
    return Accelerator(mixed_precision="bf16" if precision == "bf16" else "no", cpu=chosen == "cpu")


def _told(bars: Bars, epochs: int, *, quiet: bool) -> Told:
    """A bar an epoch on a terminal; a line an epoch everywhere."""
    from baselines.threemdbench.classifier.training import Told

    def say(text: str) -> None:
        if not quiet:
            errors.print(text, highlight=False)

    return Told(
        step=lambda epoch, step, steps, loss: bars.show(
            "training", step, steps, status=f"epoch {epoch + 1}, loss {loss:.3f}"
        ),
        epoch=lambda ended: say(
            f"epoch {ended.epoch + 1} of {epochs}: loss {ended.loss:.3f}, validation macro F1 "
            f"{100 * ended.macro_f1:.1f}, accuracy {100 * ended.accuracy:.1f}"
        ),
        resumed=lambda epoch, step: say(f"goes on from epoch {epoch + 1}, step {step + 1}"),
    )
