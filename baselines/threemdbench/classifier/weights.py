"""Tensors and a few facts in one safetensors file, written atomically, with a digest that every reader checks.

`model.safetensors` of a run is such a file: the weights that answered, and what is needed to let them answer again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from baselines.threemdbench.classifier.network import Input, Network, reopened
from loaders.errors import InputError
from loaders.files.disk import refuse_disk, write_whole
from loaders.files.json_values import parse_json
from loaders.files.opening import open_by_number
from loaders.files.paths import is_there
from loaders.files.records import from_json, to_json

_ENTRY, _FORMAT = "bedside", "classifier 1"


def write_tensors(path: Path, tensors: Mapping[str, Any], facts: Mapping[str, Any]) -> None:
    """Write tensors by name and JSON facts; after a crash the file holds all of the old or all of the new.

    Raises BedsideError when the disk is full, InputError when the folder may not be written.
    """
    # safetensors refuses tensors that share memory, and stores no strides.
    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in sorted(tensors.items())}
    text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
    # One entry: safetensors writes several in any order, and the same content should give the same bytes.
    about = json.dumps({"format": _FORMAT, "facts": text, "digest": _digest(plain, text)})
    write_whole(path, save(plain, {_ENTRY: about}))


def read_tensors(path: Path, *, do: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors and the facts of a file that `write_tensors` left; `do` is the advice if it is damaged.

    Raises InputError if the file is missing, damaged or of another kind.
    """
    expected = "a complete file of tensors"
    try:
        with open_by_number(path, expected=expected, do=do) as name, safe_open(name, framework="pt") as file:
            about = parse_json((file.metadata() or {}).get(_ENTRY, "{}"), path)
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
    except (SafetensorError, OSError, ValueError) as error:
        refuse_disk(error, path)
        raise InputError(path, found=f"cannot be read ({error})", expected=expected, do=do) from None
    if not isinstance(about, dict) or about.get("format") != _FORMAT or not isinstance(about.get("facts"), str):
        raise InputError(path, found="a file of another kind", expected="a file written by training", do=do)
    if about.get("digest") != _digest(tensors, about["facts"]):
        raise InputError(path, found="content that differs from its digest", expected="the unchanged file", do=do)
    facts: dict[str, Any] = parse_json(about["facts"], path, do=do)
    return tensors, facts


def _digest(tensors: Mapping[str, Any], facts: str) -> str:
    digest = hashlib.sha256(facts.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return digest.hexdigest()


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
