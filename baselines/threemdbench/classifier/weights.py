"""`model.safetensors` of a run: the weights that answered, and what is needed to let them answer again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from baselines.threemdbench.classifier.checkpoint import read_tensors, write_tensors
from baselines.threemdbench.classifier.network import Input, Network, reopened
from loaders.errors import InputError
from loaders.files.paths import is_there
from loaders.files.records import from_json, to_json

NAME = "model.safetensors"
"""Name of the file of a run folder."""


@dataclass(frozen=True, slots=True)
class About:
    """What is stored beside the weights: the network's name and input, its classes in the order of its outputs, the
    temperature fitted on validation, where its first weights came from, and the digest of the train split."""

    name: str
    classes: tuple[str, ...]
    input: Input
    temperature: float
    source: str
    train: str


def write_weights(run: Path, module: Any, about: About) -> None:
    """Store the weights of a network in its run's folder. Raises what `write_tensors` raises."""
    write_tensors(run / NAME, module.state_dict(), to_json(about))


def read_weights(run: Path) -> tuple[About, Network]:
    """The network of a run, which answers as it did then.

    Raises InputError if there is none or its file is damaged, ModelError if its weights do not fit its name.
    """
    path, do = run / NAME, "Name the folder of a finished `bedside run classifier` that trained a network"
    if not is_there(path):
        raise InputError(run, found=f"no {NAME}", expected="a run that trained a network (a probe stores none)", do=do)
    tensors, facts = read_tensors(path, do=do)
    about = from_json(About, facts, path, do=do, ours=True)
    return about, reopened(about.name, tensors, about.input, classes=len(about.classes), source=about.source)
