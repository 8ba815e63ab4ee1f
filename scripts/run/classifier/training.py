"""Training or probing for `bedside run classifier`, from the photos to the answers about test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from baselines.results.run import ModelUsed
from baselines.threemdbench.classifier.calibration import fit_temperature
from baselines.threemdbench.classifier.data import FOLDER, SPLITS, Labelled
from baselines.threemdbench.classifier.network import Network, open_network
from baselines.threemdbench.classifier.pictures import Pictures, answer
from baselines.threemdbench.classifier.recipe import Recipe
from baselines.threemdbench.classifier.scoring import FINE_TUNED, PROBED, SCRATCH
from baselines.threemdbench.classifier.training import BEST, CHECKPOINT, SMALLER, Told, Training
from baselines.threemdbench.classifier.weights import About, write_weights
from loaders.errors import InputError
from loaders.installed import installed_versions
from loaders.models.encoders_torch import state_digest
from scripts.run.classifier.device import accelerator_of
from scripts.run.classifier.ending import Answered, slices_of
from scripts.run.classifier.options import Classifying
from scripts.run.classifier.seen import Unseen, unseen
from scripts.terminal.console import errors, output
from scripts.terminal.photos import cores, labelled_photos, pictures_of
from scripts.terminal.progress import Bars

_SEED = "training and bootstrap"


def trained(options: Classifying) -> tuple[Labelled, Answered] | None:
    """What was trained, and its answers; None in all but the first process of a training."""
    labelled = labelled_photos(options.data, options.clusters, options.seed)
    labelled.check(allow_untrained=options.allow_untrained)
    slices_of(labelled, options)
    return _probe(labelled, options) if options.probe else _train(labelled, options)


def _recipe(options: Classifying) -> Recipe:
    """How the network is trained; defaults depend on where the weights come from."""
    import torch

    scratch = options.model.startswith("random:") and options.weights is None
    precision = options.precision
    if precision == "auto":
        on_gpu = options.device != "cpu" and torch.cuda.is_available()
        precision = "bf16" if on_gpu and torch.cuda.is_bf16_supported() else "fp32"
    rate, decay = options.learning_rate, options.depth_decay
    same = ("epochs", "batch_size", "randaugment", "crop", "ema", "patience", "seed")
    return Recipe(
        learning_rate=rate if rate is not None else 5e-3 if scratch else 3e-4,
        depth_decay=decay if decay is not None else 1.0 if scratch else 0.1,
        drop_path=0.0 if scratch else 0.1,
        dropout=0.0 if scratch else 0.2,
        precision=precision,
        **{name: getattr(options, name) for name in same},
    )


def _unseen(labelled: Labelled, options: Classifying, *, quiet: bool = False) -> tuple[Labelled, Unseen | None]:
    """The photos, with those that show a training photo removed from test, since cues will be made for them; and the
    result of the search.

    A user's own folder has no cases, and so no cues: nobody looks, and InputError is raised if some are to be dropped.
    """
    if labelled.corpus == FOLDER:
        if options.drop_trained:
            do = "bedside curate finds such photos; with its --clusters none is in two splits"
            raise InputError(
                "--drop-trained", found=f"a {FOLDER}", expected="a release: only there they are sought", do=do
            )
        return labelled, None
    looked = unseen(labelled, labelled, options, quiet=quiet)
    return looked.labelled, looked


def _train(labelled: Labelled, options: Classifying) -> tuple[Labelled, Answered] | None:
    """Fine-tunes; returns None in all but the first process of a training."""
    recipe = _recipe(options)
    accelerator = accelerator_of(options.device, recipe.precision)
    main = accelerator.is_main_process
    network = open_network(
        options.model, classes=len(labelled.classes), weights=options.weights, size=options.size,
        test_size=options.test_size, dropout=recipe.dropout, drop_path=recipe.drop_path, seed=recipe.seed,
    )  # fmt: skip
    with accelerator.main_process_first():  # the others then find everything cached
        labelled, looked = _unseen(labelled, options, quiet=not main)
    pictures = pictures_of(labelled, max(network.input.train_size, network.input.test_size), quiet=not main)
    _check_decoded(labelled, pictures, options)
    in_memory = all(of_split.in_memory for of_split in pictures.values())
    workers = options.workers if options.workers is not None else (0 if in_memory else cores())
    folder = options.out / "training"
    if options.restart and main:  # an earlier training in the folder is not resumed
        for name in (CHECKPOINT, BEST):
            (folder / name).unlink(missing_ok=True)
    accelerator.wait_for_everyone()
    versions = installed_versions("torch", "torchvision", "timm", "accelerate", "pillow", "numpy")
    with Bars(quiet=not main) as bars:
        module, history, best_epoch = Training(
            network,
            pictures,
            recipe,
            folder,
            accelerator,
            _callbacks(bars, recipe.epochs, quiet=not main),
            identity=_identity(labelled, network, pictures, versions),
            workers=workers,
            checkpoint_seconds=options.checkpoint_seconds,
        ).run()
        ask = partial(
            answer, module, input=network.input, accelerator=accelerator, workers=workers,
            name=network.name, do=SMALLER,
        )  # fmt: skip
        validation, test = ask(pictures["validation"]), ask(pictures["test"])
    temperature = fit_temperature(validation, np.array(pictures["validation"].labels))
    if not main:
        return None
    about = About(
        name=network.name, classes=labelled.classes, input=network.input, temperature=temperature,
        source=network.source, train=labelled.digests["train"],
    )  # fmt: skip
    write_weights(options.out, module, about)
    return labelled, Answered(
        unreadable={split: of_split.unreadable for split, of_split in pictures.items()},
        logits=test,
        temperature=temperature,
        row=network.paper_name,
        setting=SCRATCH if network.source.startswith("random") else FINE_TUNED,
        model=ModelUsed("classifier", network.name, network.source),
        stand_in=network.stand_in,
        train_labels=pictures["train"].labels,
        facts={
            **_trained_on(labelled), "recipe": asdict(recipe), "input": asdict(network.input),
            "epochs trained": len(history),
            "best epoch": best_epoch + 1, "processes": accelerator.num_processes,
            "device": accelerator.device.type, "trained weights": state_digest(module.cpu()),
        },
        seeds={_SEED: options.seed},
        versions=versions,
        more={"history": history, "best_epoch": best_epoch},
        cues=looked is not None,
        looked=looked,
    )  # fmt: skip


def _check_decoded(labelled: Labelled, pictures: Mapping[str, Pictures], options: Classifying) -> None:
    """Raise InputError on a class without a training photo that can be decoded, unless such are allowed."""
    if not options.allow_untrained:
        labels = pictures["train"].labels
        decoded = [labels.count(at) for at in range(len(labelled.classes))]
        for split in SPLITS[1:]:
            labelled.check_trained(split, decoded)


def _identity(
    labelled: Labelled, network: Network, pictures: Mapping[str, Pictures], versions: Mapping[str, str]
) -> dict[str, Any]:
    """What must not change between a training and its resumption."""
    # The digests hold the classes of a folder, except those of test alone: they take places among the outputs as well.
    untrained = labelled.corpus == FOLDER and 0 in labelled.counts("train")
    return {
        **({"classes": ", ".join(labelled.classes)} if untrained else {}),
        "data": {split: labelled.digests[split] for split in ("train", "validation")},
        "network": {"name": network.name, "weights": network.source}
        | {name: value for name, value in asdict(network.input).items() if name not in ("mean", "std")},
        "unreadable": {split: len(pictures[split].unreadable) for split in ("train", "validation")},
        "versions": versions,
    }


def _trained_on(labelled: Labelled) -> dict[str, Any]:
    return {"trained on": {split: labelled.digests[split] for split in ("train", "validation")}}


def _probe(labelled: Labelled, options: Classifying) -> tuple[Labelled, Answered]:
    from baselines.threemdbench.classifier.probe import open_backbone, probe  # needs more than a network

    labelled, looked = _unseen(labelled, options)
    size = options.test_size or options.size
    encoder = open_backbone(options.model, device=options.device, weights=options.weights, size=size, seed=options.seed)
    pictures = pictures_of(labelled, 16, quiet=False)
    _check_decoded(labelled, pictures, options)
    photos = {split: of_split.photos for split, of_split in pictures.items()}
    with Bars() as bars:
        validation, test, strength = probe(
            encoder,
            photos,
            len(labelled.classes),
            cache=options.cache,
            batch_size=options.batch_size,
            progress=lambda kind, done, total: bars.show(f"{encoder.name}: images", done, total),
        )
    return labelled, Answered(
        unreadable={split: of_split.unreadable for split, of_split in pictures.items()},
        logits=test,
        temperature=fit_temperature(validation, np.array([photo.label for photo in photos["validation"]])),
        row=encoder.name,
        setting=PROBED,
        model=ModelUsed("encoder", encoder.name, encoder.key),
        stand_in=f"random weights: {encoder.name}" if encoder.stand_in else None,
        train_labels=pictures["train"].labels,
        facts={**_trained_on(labelled), "inverse penalty": strength},
        seeds={_SEED: options.seed},
        versions=installed_versions("torch", "timm", "scikit-learn", "numpy"),
        more={"history": [], "best_epoch": None},
        cues=looked is not None,
        looked=looked,
    )


def _callbacks(bars: Bars, epochs: int, *, quiet: bool) -> Told:
    """One bar per epoch on a terminal; one line per epoch everywhere else."""

    def say(text: str) -> None:
        if not (quiet or output.quiet):
            errors.print(text)

    return Told(
        step=lambda epoch, step, steps, loss: bars.show(
            "training", step, steps, status=f"epoch {epoch + 1}, loss {loss:.3f}"
        ),
        epoch=lambda ended: say(
            f"epoch {ended['epoch'] + 1} of {epochs}: loss {ended['loss']:.3f}, validation macro F1 "
            f"{100 * ended['macro_f1']:.1f}, accuracy {100 * ended['accuracy']:.1f}"
        ),
        resumed=lambda epoch, step: say(f"resuming from epoch {epoch + 1}, step {step + 1}"),
    )
