"""`bedside run classifier --predict`: the network of an earlier run classifies other photos."""

from __future__ import annotations

from pathlib import Path

from baselines.results.run import ModelUsed, RunRecord, because, check_baseline, read_run
from baselines.statistics.arrays import Floats
from baselines.threemdbench.classifier.cues import TOP
from baselines.threemdbench.classifier.data import UNKNOWN, Classes, Labelled
from baselines.threemdbench.classifier.network import Network
from baselines.threemdbench.classifier.pictures import answer
from baselines.threemdbench.classifier.scoring import FINE_TUNED, SCRATCH
from baselines.threemdbench.classifier.stored import read_stored
from baselines.threemdbench.classifier.weights import About, read_weights
from loaders.errors import InputError
from loaders.installed import installed_versions
from loaders.models.encoders_torch import state_digest
from scripts.run.classifier.device import accelerator_of
from scripts.run.classifier.ending import Answered, slices_of
from scripts.run.classifier.options import Classifying
from scripts.run.classifier.seen import trained_photos, unseen
from scripts.run.classifier.targets import target_of
from scripts.terminal.console import warn
from scripts.terminal.options import refuse_itself
from scripts.terminal.photos import cores, pictures_of

_KEPT = ("recipe", "input", "epochs trained", "best epoch", "trained weights", "trained on")
"""Facts that a run recorded about its training, repeated in the record of its predictions elsewhere."""


def predict(options: Classifying) -> tuple[Labelled, Answered]:
    """The network's answers about the photos that it has not seen. Raises InputError for unusable input."""
    assert options.weights is not None
    refuse_itself(options.out, [options.weights])
    record, about, network = _read(options.weights)
    classes = Classes.of(about.classes)
    target = target_of(options.data, options.split, classes)
    for text in target.told:
        warn(text)
    cues = classes.diagnoses and len(classes.places) >= TOP
    scored = any(photo.label != UNKNOWN for photo in target.labelled.splits["test"])
    if not cues and not scored:
        found = "photos without labels, and a network with fewer than three of the 34 diagnoses"
        raise InputError(options.data, found=found, expected="labels to score, or diagnoses for cues")
    slices_of(target.labelled, options)
    train_labels = [classes.places[label] for label in read_stored(options.weights).train_labels] if scored else []
    if scored and not options.allow_untrained:
        known = [train_labels.count(at) for at in range(len(target.labelled.classes))]
        target.labelled.check_trained("test", known)
    trained = trained_photos(record, options)
    looked = unseen(trained, target.labelled, options)
    labelled = looked.labelled
    logits, unreadable, device = _ask(network, labelled, record, options)
    answered = Answered(
        unreadable={"test": unreadable},
        logits=classes.spread(logits),
        temperature=about.temperature,
        row=network.paper_name,
        setting=SCRATCH if network.source.startswith("random") else FINE_TUNED,
        model=ModelUsed("classifier", network.name, network.source),
        stand_in=because("classifier of a stand-in run", record.stand_in) if record.stand_in else None,
        train_labels=train_labels,
        facts={
            **{name: record.options[name] for name in _KEPT if name in record.options},
            "labelled": scored, "answered by": record.run_id, "answering": device,
        },
        seeds={"bootstrap": options.seed},
        versions=installed_versions(
            "torch", "torchvision", "timm", "accelerate", "pillow", "numpy", "opencv-python-headless"
        ),
        more={"history": [], "best_epoch": None},
        cues=cues,
        digests=target.digests,
        looked=looked,
    )  # fmt: skip
    return labelled, answered


def _read(run: Path) -> tuple[RunRecord, About, Network]:
    """A finished run and its network, with the weights that the record names. Raises InputError."""
    record, _ = read_run(run)
    check_baseline(run, record, "classifier")
    about, network = read_weights(run)
    if state_digest(network.module) != record.options.get("trained weights"):
        found = "weights that do not match its record"
        raise InputError(run, found=found, expected="the unchanged folder of the run", do="Train it again")
    return record, about, network


def _ask(
    network: Network, labelled: Labelled, record: RunRecord, options: Classifying
) -> tuple[Floats, list[tuple[str, str]], dict[str, str]]:
    """Logits by the network's own classes, the photos that could not be decoded, and the device and precision used."""
    import torch

    precision = options.precision
    if precision == "auto":
        precision = record.options.get("recipe", {}).get("precision", "fp32")
    accelerator = accelerator_of(options.device, precision)
    if accelerator.num_processes > 1:
        raise InputError("--predict", found=f"{accelerator.num_processes} processes", expected="one")
    pictures = pictures_of(labelled, max(network.input.train_size, network.input.test_size), quiet=False)["test"]
    workers = options.workers if options.workers is not None else (0 if pictures.in_memory else cores())
    module = network.module.to(accelerator.device, memory_format=torch.channels_last)
    logits = answer(
        module, pictures, network.input, accelerator, workers=workers,
        name=str(options.weights), do="Train it again, with a smaller --learning-rate",
    )  # fmt: skip
    return logits, pictures.unreadable, {"device": accelerator.device.type, "precision": precision}
