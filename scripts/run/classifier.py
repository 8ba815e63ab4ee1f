"""`bedside run classifier`: the image classifier of Table 8, its cues for the dialogues, and a linear probe."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from baselines.report.classifier import CONTENT
from baselines.results.run import DataUsed, ModelUsed, RunRecord
from loaders.errors import MissingExtra
from scripts.terminal.console import errors, output
from scripts.terminal.finish import finish
from scripts.terminal.options import EMBEDDINGS, Cache, Device, Out
from scripts.terminal.photos import Photos, cores, labelled_photos, pictures_of
from scripts.terminal.progress import Bars

if TYPE_CHECKING:
    from baselines.threemdbench.classifier.data import Labelled
    from baselines.threemdbench.classifier.training import Told

CUES = "cues.parquet"
MODEL = "model.safetensors"


def command(
    data: Photos,
    out: Out,
    model: str = typer.Option(
        "EfficientNetV2-XL",
        metavar="NAME",
        help="EfficientNetV2-S, -M, -L or -XL, any model of timm, random:NAME or random:tiny; with --probe also any "
        "encoder that `bedside run retrieval` knows.",
    ),
    weights: Path | None = typer.Option(None, metavar="FILE", help="Weights to start from (.safetensors)."),
    probe: bool = typer.Option(False, "--probe", help="Logistic regression on frozen embeddings instead."),
    clusters: Path | None = typer.Option(
        None,
        metavar="FILE",
        help="clusters.parquet of `bedside curate DATA`, where DATA is one folder of class folders: it is split, "
        "copies left out, no cluster in two splits.",
    ),
    epochs: int = typer.Option(30, min=1, help="Passes over the training photos, at most."),
    patience: int = typer.Option(8, min=1, help="Epochs without a better macro F1 on validation before it ends."),
    batch_size: int = typer.Option(32, min=1, help="Photos a step, over all devices."),
    learning_rate: float | None = typer.Option(None, help="Of the head. [0.0003; 0.005 for random weights]"),
    depth_decay: float | None = typer.Option(
        None, help="The first layer's share of the learning rate. [0.1; 1 for random weights]"
    ),
    size: int | None = typer.Option(None, min=16, help="Side of the training view in pixels. [the model's own]"),
    test_size: int | None = typer.Option(None, min=16, help="Side of the test view in pixels. [the model's own]"),
    crop: float = typer.Option(0.35, help="Least share of a photo's area that a training view shows."),
    randaugment: int = typer.Option(9, min=0, max=30, help="Magnitude of RandAugment; 0 leaves it out."),
    ema: float = typer.Option(0.998, help="Decay of the average of the weights."),
    precision: str = typer.Option("auto", metavar="auto|fp32|bf16", help="auto: bf16 on a GPU that has it."),
    device: Device = None,
    workers: int | None = typer.Option(
        None, min=0, help="Processes that make views. [0 where the photos fit in memory]"
    ),
    seed: int = typer.Option(0, help="Seed of everything random."),
    resamples: int = typer.Option(10_000, min=10, help="Bootstrap resamples."),
    allow_untrained: bool = typer.Option(False, "--allow-untrained", help="Test classes may lack training photos."),
    restart: bool = typer.Option(False, "--restart", help="Delete an unfinished training in RUN and begin anew."),
    checkpoint_seconds: float = typer.Option(300.0, min=0.0, help="Keep a checkpoint at least this often."),
    cache: Cache = EMBEDDINGS,
) -> None:
    """Fine-tune an image classifier on the train split, choose on validation, answer once about test (Table 8).

    Stopped at any moment, the same command goes on with the same bits. Several GPUs: `accelerate launch -m scripts run
    classifier …`. Leaves cues.parquet, the three likeliest diagnoses of each test case, for doctors with external cues.

    Example: `bedside run classifier runs/3mdbench --model EfficientNetV2-S -o runs/cnn`
    """
    started = time.monotonic()
    try:
        import accelerate  # noqa: F401
        import timm  # noqa: F401
        import torch
    except ModuleNotFoundError as missing:
        raise MissingExtra.named(str(missing.name), extra="models", purpose="image classifiers") from None
    from baselines.threemdbench.classifier.recipe import Recipe

    labelled = labelled_photos(data, clusters, seed)
    labelled.check(allow_untrained=allow_untrained)
    options = {"allow_untrained": allow_untrained, "resamples": resamples}
    if probe:
        _probe(labelled, model, weights, test_size or size, device, cache, batch_size, seed, options, out, started)
        return
    scratch = model.startswith("random:") and weights is None
    on_gpu = device != "cpu" and torch.cuda.is_available()
    if precision == "auto":
        precision = "bf16" if on_gpu and torch.cuda.is_bf16_supported() else "fp32"
    recipe = Recipe(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate or (5e-3 if scratch else 3e-4),
        depth_decay=depth_decay or (1.0 if scratch else 0.1),
        drop_path=0.0 if scratch else 0.1,
        dropout=0.0 if scratch else 0.2,
        randaugment=randaugment,
        crop=crop,
        ema=ema,
        patience=patience,
        precision=precision,
        seed=seed,
    )
    _train(
        labelled, model, weights, size, test_size, recipe, device, workers, checkpoint_seconds, restart, options, out,
        started,
    )  # fmt: skip


def _train(
    labelled: Labelled,
    model: str,
    weights: Path | None,
    size: int | None,
    test_size: int | None,
    recipe: Any,
    device: str | None,
    workers: int | None,
    checkpoint_seconds: float,
    restart: bool,
    options: Mapping[str, Any],
    out: Path,
    started: float,
) -> None:
    import numpy as np

    from baselines.threemdbench.classifier.answers import answer
    from baselines.threemdbench.classifier.calibration import fit_temperature
    from baselines.threemdbench.classifier.checkpoint import write_tensors
    from baselines.threemdbench.classifier.network import open_network
    from baselines.threemdbench.classifier.scoring import FINE_TUNED, SCRATCH, Answers
    from baselines.threemdbench.classifier.training import BEST, CHECKPOINT, train
    from loaders.models.encoders_torch import state_digest

    accelerator = _accelerator(device, recipe.precision)
    main = accelerator.is_main_process
    network = open_network(
        model,
        classes=len(labelled.classes),
        weights=weights,
        size=size,
        test_size=test_size,
        dropout=recipe.dropout,
        drop_path=recipe.drop_path,
        seed=recipe.seed,
    )
    pictures = pictures_of(labelled, max(network.input.train_size, network.input.test_size), quiet=not main)
    if workers is None:
        workers = 0 if all(one.in_memory for one in pictures.values()) else cores()
    folder = out / "training"
    if restart and main:
        for name in (CHECKPOINT, BEST):
            (folder / name).unlink(missing_ok=True)
    accelerator.wait_for_everyone()
    versions = {name: version(name) for name in ("torch", "torchvision", "timm", "accelerate", "pillow", "numpy")}
    identity = {
        "data": {split: labelled.digests[split] for split in ("train", "validation")},
        "network": [network.name, network.source, asdict(network.input) | {"mean": None, "std": None}],
        "unreadable": {split: len(pictures[split].unreadable) for split in ("train", "validation")},
        "versions": versions,
    }
    with Bars(quiet=not main) as bars:
        trained = train(
            network,
            pictures,
            recipe,
            folder,
            accelerator,
            identity=identity,
            workers=workers,
            checkpoint_seconds=checkpoint_seconds,
            told=_told(bars, recipe.epochs, quiet=not main),
        )
        ask = partial(answer, trained.module, input=network.input, accelerator=accelerator, workers=workers)
        validation, test = ask(pictures["validation"]), ask(pictures["test"])
    temperature = fit_temperature(validation, np.array(pictures["validation"].labels))
    if not main:
        return
    facts = {
        "name": network.name, "classes": labelled.classes, "input": asdict(network.input), "temperature": temperature,
        "source": network.source, "train": labelled.digests["train"],
    }  # fmt: skip
    write_tensors(out / MODEL, trained.module.state_dict(), facts)
    readable = {photo.key for photo in pictures["test"].photos}
    answers = Answers(test, np.array([p.key in readable for p in labelled.splits["test"]]), temperature)
    _end(
        labelled,
        pictures["train"].labels,
        answers,
        row=network.paper_name,
        setting=SCRATCH if network.source.startswith("random") else FINE_TUNED,
        model=ModelUsed("classifier", network.name, network.source),
        stand_in=network.stand_in,
        options={
            **options, "recipe": asdict(recipe), "input": asdict(network.input), "epochs trained": len(trained.history),
            "best epoch": trained.best_epoch + 1, "processes": accelerator.num_processes,
            "device": accelerator.device.type, "trained weights": state_digest(trained.module.cpu()),
        },
        versions=versions,
        unreadable={split: one.unreadable for split, one in pictures.items()},
        more={"history": [asdict(epoch) for epoch in trained.history], "best_epoch": trained.best_epoch},
        seed=recipe.seed,
        out=out,
        started=started,
    )  # fmt: skip


def _probe(
    labelled: Labelled,
    model: str,
    weights: Path | None,
    size: int | None,
    device: str | None,
    cache: Path,
    batch_size: int,
    seed: int,
    options: Mapping[str, Any],
    out: Path,
    started: float,
) -> None:
    import numpy as np

    from baselines.threemdbench.classifier.calibration import fit_temperature
    from baselines.threemdbench.classifier.probe import open_backbone, probe
    from baselines.threemdbench.classifier.scoring import PROBED, Answers

    encoder = open_backbone(model, device=device, weights=weights, size=size, seed=seed)
    pictures = pictures_of(labelled, 16, quiet=False)
    photos = {split: one.photos for split, one in pictures.items()}
    with Bars() as bars:
        found = probe(
            encoder,
            photos,
            len(labelled.classes),
            cache=cache,
            batch_size=batch_size,
            progress=lambda kind, done, total: bars.show(f"{encoder.name}: images", done, total),
        )
    labels = np.array([photo.label for photo in photos["validation"]])
    readable = {photo.key for photo in photos["test"]}
    answers = Answers(
        found.test,
        np.array([photo.key in readable for photo in labelled.splits["test"]]),
        fit_temperature(found.validation, labels),
    )
    _end(
        labelled,
        [photo.label for photo in photos["train"]],
        answers,
        row=encoder.name,
        setting=PROBED,
        model=ModelUsed("encoder", encoder.name, encoder.key),
        stand_in=f"random weights: {encoder.name}" if encoder.stand_in else None,
        options={**options, "inverse penalty": found.strength},
        versions={name: version(name) for name in ("torch", "timm", "scikit-learn", "numpy")},
        unreadable={split: one.unreadable for split, one in pictures.items()},
        more={"history": [], "best_epoch": None},
        seed=seed,
        out=out,
        started=started,
    )


def _end(
    labelled: Labelled,
    train_labels: Sequence[int],
    answers: Any,
    *,
    row: str,
    setting: str,
    model: ModelUsed,
    stand_in: str | None,
    options: Mapping[str, Any],
    versions: Mapping[str, str],
    unreadable: Mapping[str, Sequence[tuple[str, str]]],
    more: Mapping[str, Any],
    seed: int,
    out: Path,
    started: float,
) -> None:
    """The one evaluation on test, cues, and the run's files."""
    from baselines.threemdbench.classifier.cues import TOP, write_cues
    from baselines.threemdbench.classifier.data import FOLDER
    from baselines.threemdbench.classifier.scoring import score

    reasons = [reason for reason in (labelled.stand_in, stand_in) if reason]
    record = RunRecord(
        baseline="classifier",
        data=DataUsed(labelled.corpus, "test", labelled.revision, labelled.digests["test"]),
        models=(model,),
        options={
            **options,
            "trained on": {split: labelled.digests[split] for split in ("train", "validation")},
            "unreadable": {split: len(found) for split, found in unreadable.items()},
        },
        seeds={"training and bootstrap": seed},
        versions=versions,
        stand_in="; ".join(reasons) or None,
    )
    scored = score(
        labelled, train_labels, answers, row=row, setting=setting, record=record, resamples=options["resamples"],
        seed=seed,
    )  # fmt: skip
    shown = {split: list(found) for split, found in unreadable.items() if found}
    if labelled.corpus != FOLDER:
        ranked = zip(labelled.splits["test"], answers.ranked(), strict=True)
        names = {photo.key: [labelled.classes[at] for at in order[:TOP]] for photo, order in ranked if order}
        write_cues(
            out / CUES,
            names,
            content_digest=labelled.digests["test"],
            model=model.name,
            run_id=record.run_id,
            stand_in=record.stand_in,
        )
    finish(out, scored.results, started, {CONTENT: {**scored.content, **more, "unreadable": shown}})
    for split, found in shown.items():
        output.print(f"{split}: {len(found):,} photos could not be decoded, e.g. {found[0][0]} ({found[0][1]})")


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
