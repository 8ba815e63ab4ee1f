"""Tensors and a few facts in one safetensors file, written atomically, with a digest that every reader checks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from loaders.errors import InputError
from loaders.files.disk import refuse_disk, write_whole
from loaders.files.json_values import parse_json
from loaders.files.opening import open_by_number

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
