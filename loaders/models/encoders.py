"""Image-text encoders by name, for retrieval and everything else that compares pictures with captions.

    encoder = open_encoder("BiomedCLIP")
    images = encoder.encode_images([open_image("chest.jpg")])
    texts, truncated = encoder.encode_texts(["A chest radiograph."])
    cosines = images @ texts.T

A name is one of
    the paper's      OpenAI-CLIP-Base, CoCa-Large, LAION-2B, OpenCLIP-Huge, PubMedCLIP, BMC-CLIP, PMC-CLIP, BiomedCLIP
                     (MedLayBench-V, Table 3)
    open_clip's      open_clip:ARCHITECTURE/WEIGHTS, where WEIGHTS is a tag that open_clip knows, a checkpoint file, or
                     hf-hub:org/repo/file; and hf-hub:org/repo for a repository that holds an open_clip_config.json
    transformers'    hf:org/repo, any model there that has both an image and a text tower (CLIP, SigLIP, ALIGN, …)
    a local folder   that holds what either kind of repository would
    a stand-in       random:tiny, with random weights

Weights are fetched into the Hub's cache; with HF_HUB_OFFLINE=1 they must be there already. Embeddings made elsewhere
are read with `read_embeddings`.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from loaders.errors import InputError, MissingExtra, ModelError, how_many
from loaders.files.disk import refuse_disk
from loaders.files.opening import open_by_number
from loaders.files.paths import is_file, is_folder, is_there
from loaders.models.encoder import Encoder, Vectors, unit

PRECISIONS = ("fp32", "bf16", "fp16")

PAPER_MODELS = {
    "OpenAI-CLIP-Base": "open_clip:ViT-B-32-quickgelu/openai",
    "CoCa-Large": "open_clip:coca_ViT-L-14/laion2b_s13b_b90k",
    "LAION-2B": "open_clip:ViT-B-32/laion2b_s34b_b79k",
    "OpenCLIP-Huge": "hf-hub:laion/CLIP-ViT-H-14-laion2B-s32B-b79K",
    "PubMedCLIP": "hf:flaviagiammarino/pubmed-clip-vit-base-patch32",
    "BMC-CLIP": "open_clip:ViT-L-14/hf-hub:BIOMEDICA/BMC_CLIP_CF/BMC_CLIP_CF.pt",
    "PMC-CLIP": "pmc-clip:training",
    "BiomedCLIP": "hf-hub:microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224",
}
"""The models of Table 3 and where each is taken from."""

_TINY = "random:tiny"
_KINDS = ("open_clip", "hf-hub", "hf")


def open_encoder(name: str, *, device: str | None = None, precision: str = "fp32") -> Encoder:
    """The encoder of that name; see the module for the names.

    `device` is a torch device ("cpu", "cuda:0"); by default this process's GPU if there is one. `precision` bf16 or
    fp16 uses that type wherever it is safe, and keeps weights and embeddings in float32.

    Raises ModelError for an unknown name, for weights that are missing or do not fit their architecture, and for an
    architecture whose activation differs from the one used in training; MissingExtra for a package that is
    not installed; InputError for a precision or device that does not exist.
    """
    if precision not in PRECISIONS:
        raise InputError("precision", found=repr(precision), expected=" or ".join(PRECISIONS))
    by_name = {known.casefold(): known for known in PAPER_MODELS}
    name = by_name.get(name.casefold(), name)
    source = PAPER_MODELS.get(name, name)
    kind, _, rest = source.partition(":")
    folder = Path(source)
    local = kind not in _KINDS and source != "" and is_folder(folder)
    if not local and (kind not in _KINDS or not rest) and source not in (_TINY, PAPER_MODELS["PMC-CLIP"]):
        raise _unknown(name)
    with MissingExtra.needed("models", purpose=f"the encoder {name}"):
        from loaders.models.encoders_torch import Setting

        setting = Setting.of(device, precision)
        if source == _TINY:
            from loaders.models.encoders_openclip import open_tiny

            return open_tiny(name, setting)
        if source == PAPER_MODELS["PMC-CLIP"]:
            from loaders.models.encoders_pmc_clip import open_pmc_clip

            return open_pmc_clip(name, setting)
        if kind == "hf" or (local and not is_file(folder / "open_clip_config.json")):
            from loaders.models.encoders_transformers import open_transformers

            return open_transformers(name, folder if local else rest, setting)
        from loaders.models.encoders_openclip import open_open_clip

        return open_open_clip(name, f"local-dir:{folder}" if local else source, setting)


def read_embeddings(
    path: Path,
    *,
    rows: int,
    dim: int | None = None,
    tensor: str | None = None,
    layer: tuple[str, Sequence[str]] | None = None,
) -> Vectors:
    """Embeddings made elsewhere, as unit vectors (rows, dim), from a .npy or .safetensors file.

    Row i belongs to row i of the split that they are used with, so `rows` is that split's length. `tensor` names one of
    several tensors in a .safetensors file; `layer` is (which, the names of all) of a .npy array (layers, rows, dim).

    Raises InputError for another number of rows or dimensions, for a row that is not finite or has no length, and for a
    file that cannot be read; MissingExtra when safetensors is not installed.
    """
    values = _read_array(path, tensor)
    part = tensor
    if layer is not None:
        part, layers = layer
        if values.ndim != 3 or len(values) != len(layers):
            expected = f"floating-point numbers of shape ({len(layers)}, rows, dimensions)"
            raise InputError(path, found=_held(values), expected=expected, do=_SAVE)
        values = values[layers.index(part)]
    where = f"{path}: {part}" if part else str(path)
    if values.ndim != 2 or values.dtype.kind != "f":
        expected = "floating-point numbers of shape (rows, dimensions)"
        raise InputError(where, found=_held(values), expected=expected, do=_SAVE)
    if len(values) != rows or (dim is not None and values.shape[1] != dim) or not values.shape[1]:
        expected = how_many(rows, "row") + (f" of {how_many(dim, 'dimension')}" if dim is not None else "")
        expected += "" if values.shape[1] or dim else " of one dimension or more"
        found = f"holds {how_many(len(values), 'row')} of {how_many(values.shape[1], 'dimension')}"
        raise InputError(where, found=found, expected=expected, do=_ROWS)
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = unit(values.astype(np.float32))
    if len(bad := np.flatnonzero(~np.isfinite(vectors).all(axis=1))):
        raise InputError(where, found=f"rows that are not finite: {len(bad):,}, the first is row {bad[0]}", do=_AGAIN)
    if len(bad := np.flatnonzero(~vectors.any(axis=1))):
        raise InputError(where, found=f"rows that are all zero: {len(bad):,}, the first is row {bad[0]}", do=_AGAIN)
    return vectors


def _held(values: NDArray[Any]) -> str:
    return f"holds {values.dtype} values of shape {values.shape}"


_FILES = "a .npy or .safetensors file"
_ROWS = "Embed exactly the rows of the split, in their order"
_SAVE = "Save the embeddings as float32, a row for each row of the split"
_AGAIN = "Embed these rows again: each needs a nonzero, finite vector"


def _read_array(path: Path, tensor: str | None) -> NDArray[Any]:
    if not is_file(path):
        found, do = "is not a file" if is_there(path) else "does not exist", "Check the path, or write this file"
        raise InputError(path, found=found, expected=_FILES, do=do)
    if path.suffix == ".npy":
        try:
            # Nothing is read before its shape is known.
            return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        except Exception as problem:  # the header is evaluated as Python, and may be anything
            refuse_disk(problem, path)
            # Of any other bytes, numpy says that they are pickled and can be loaded unsafely.
            why = "it does not begin as one" if "allow_pickle" in str(problem) else problem
            found, do = f"cannot be read as .npy ({why})", "Save it again with numpy.save, as float32"
            expected = "a complete array of floating-point numbers"
            raise InputError(path, found=found, expected=expected, do=do) from None
    if path.suffix != ".safetensors":
        found, do = f"is a {path.suffix or 'nameless'} file", "Save the array with numpy.save or safetensors"
        raise InputError(path, found=found, expected=_FILES, do=do)
    with MissingExtra.needed("models", purpose=f"reading {path.name}"):
        from safetensors import SafetensorError, safe_open
    try:
        with open_by_number(path) as name, safe_open(name, framework="numpy") as file:
            names = sorted(file.keys())
            wanted = tensor or (names[0] if len(names) == 1 else None)
            if wanted not in names:
                found = f"holds the tensors {', '.join(names) or '(none)'}"
                raise InputError(path, found=found, expected=tensor or "one tensor, or the name of one of these")
            return np.asarray(file.get_tensor(wanted))
    except (SafetensorError, TypeError, OSError) as problem:  # TypeError: a type that numpy lacks, such as bfloat16
        refuse_disk(problem, path)
        found, do = f"cannot be read as .safetensors ({problem})", "Save it again with safetensors, as float32"
        expected = "complete tensors of floating-point numbers"
        raise InputError(path, found=found, expected=expected, do=do) from None


def _unknown(name: str) -> ModelError:
    known = [*PAPER_MODELS, _TINY]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if Path(name).suffix in (".npy", ".safetensors"):
        do = "Pass it as your own embeddings: bedside run retrieval --embeddings NAME=PLACE"
        return ModelError(name, found="is a file of embeddings, not an encoder", do=do)
    return ModelError(
        name or "(no name)",
        found="is not the name of an encoder" + (f"; did you mean {close[0]}?" if close else ""),
        expected=", ".join(known)
        + ", open_clip:ARCHITECTURE/WEIGHTS, hf-hub:org/repo, hf:org/repo or a folder that exists",
    )
