"""Encoders from transformers: any model with an image and a text tower that share a space (CLIP, SigLIP, …)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers
from PIL import Image

from loaders.errors import InputError, ModelError, how_many
from loaders.files.json_values import read_json, understood
from loaders.files.paths import is_file
from loaders.models.encoders_hub import FETCH_SMALL, TOKENIZER_FILES, Repository
from loaders.models.encoders_torch import (
    Setting,
    TorchEncoder,
    Towers,
    file_digest,
    json_digest,
    loaded,
    padded,
    ready,
    revision,
    tokenizer_digest,
    versions,
)
from loaders.reached import code_digest

CONFIG = "config.json"
WEIGHTS = ("model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json")
PREPROCESSOR = ("preprocessor_config.json", "processor_config.json")
FETCH = f"{FETCH_SMALL} --include 'model*.safetensors' --include 'pytorch_model*.bin'"

# Left open, the second asks at the terminal whether to run what a repository brings along.
_HERE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
_NO_LIMIT = 10**9  # a tokenizer without a maximum length reports 10**30


def open_transformers(name: str, source: str | Path, setting: Setting) -> TorchEncoder:
    """`source` is a repository on the Hub, or a folder. Raises ModelError."""
    folder, weights = _folder(name, source) if isinstance(source, Path) else _repository(name, source)
    do = (
        "Check that its files are whole and that transformers knows this model without code of its own; "
        "embeddings that it made elsewhere can be passed: --embeddings NAME=PLACE"
    )
    model, report = loaded(
        name,
        lambda: transformers.AutoModel.from_pretrained(folder, dtype=torch.float32, output_loading_info=True, **_HERE),
        do=do,
    )
    # The library only warns, and fills in random numbers for what the file lacks.
    if lacking := [*report["missing_keys"], *report["mismatched_keys"]]:
        found = (
            f"its weights lack {how_many(len(lacking), 'tensor')} of its architecture, such as {min(map(str, lacking))}"
        )
        raise ModelError(name, found=found, expected="weights of all of the model")
    if not hasattr(model, "get_image_features") or not hasattr(model, "get_text_features"):
        found = f"{type(model).__name__} is not an encoder of both images and texts"
        raise ModelError(name, found=found, expected="a model such as CLIPModel or SiglipModel")
    tokenizer = loaded(name, lambda: transformers.AutoTokenizer.from_pretrained(folder, **_HERE), do=do)
    # With Pillow, like CLIP's own transform; torchvision's resizing differs by a grey value here and there.
    processor = loaded(
        name,
        lambda: transformers.AutoImageProcessor.from_pretrained(folder, backend="pil", **_HERE),
        do=do,
    )
    _check_end_of_text(name, model.config, tokenizer)
    context_length = _context_length(model.config, tokenizer)
    encoder = TorchEncoder(
        name,
        _towers(ready(model, setting), tokenizer, processor, context_length),
        setting,
        dim=_dim(model.config),
        context_length=context_length,
        identity={
            "model": f"local:{source.name}" if isinstance(source, Path) else f"hf:{source}",
            "weights": file_digest(*weights),
            "revision": revision(folder / CONFIG),
            "architecture": file_digest(folder / CONFIG),
            "transform": json_digest([type(processor).__name__, processor.to_dict()]),
            "tokenizer": tokenizer_digest(tokenizer),
            "libraries": versions("transformers", "tokenizers"),
            "code": code_digest(open_transformers),
        },
    )
    # A tokenizer that cannot pad, or positions for fewer tokens than the file says: better now than after hours.
    longest = "a " * context_length
    loaded(name, lambda: (encoder.encode_texts([longest]), encoder.encode_images([Image.new("RGB", (64, 64))])), do=do)
    return encoder


def _towers(model: Any, tokenizer: Any, processor: Any, context_length: int) -> Towers:
    # SigLIP 2 was trained on lower case like SigLIP, but its files name Gemma's tokenizer, which keeps capitals.
    lower = model.config.model_type in ("siglip", "siglip2")
    return Towers(
        # All that the processor makes: SigLIP 2 in its own aspect ratio also takes the shape and a mask.
        pixels=lambda image: {name: of[0] for name, of in processor(images=image, return_tensors="pt").items()},
        images=lambda batch: model.get_image_features(**batch).pooler_output,
        # Padded to the full length: SigLIP was trained that way, and for the others it changes nothing.
        tokens=lambda texts: padded(tokenizer, [text.lower() for text in texts] if lower else texts, context_length),
        texts=lambda batch: model.get_text_features(**batch).pooler_output,
    )


def _repository(name: str, repo: str) -> tuple[Path, list[Path]]:
    there = Repository(name, repo, FETCH)
    folder, weights = there.folder((CONFIG,), PREPROCESSOR, TOKENIZER_FILES), there.file(*WEIGHTS)
    return folder, [there.file(shard) for shard in _shards(weights)] or [weights]


def _folder(name: str, folder: Path) -> tuple[Path, list[Path]]:
    for group in ((CONFIG,), PREPROCESSOR, TOKENIZER_FILES, WEIGHTS):
        if not any(is_file(folder / file) for file in group):
            raise ModelError(name, found=f"the folder has no {group[0]}", expected=" or ".join(group))
    weights = next(folder / file for file in WEIGHTS if is_file(folder / file))
    return folder, [folder / shard for shard in _shards(weights)] or [weights]


def _shards(weights: Path) -> list[str]:
    """The files that hold the weights: those that the index names, below its own folder."""
    if weights.suffix != ".json":
        return []
    with understood(weights, expected="an index of weights"):
        shards = sorted(set(read_json(weights)["weight_map"].values()))
        named = [shard for shard in shards if Path(shard).name != shard]
    if named:
        raise InputError(weights, found=f"weights in {named[0]!r}", expected="names of files beside it")
    return shards


def _check_end_of_text(name: str, config: Any, tokenizer: Any) -> None:
    """CLIP reads a text's vector at its end token; with a wrong id in the configuration it silently reads the first."""
    if config.model_type != "clip":
        return
    wanted = config.text_config.eos_token_id
    if wanted not in (2, tokenizer.eos_token_id):  # 2 marks early files, for which the largest id is searched
        found = f"its configuration ends texts with token {wanted}, its tokenizer with {tokenizer.eos_token_id}"
        raise ModelError(name, found=found, do="Correct text_config.eos_token_id in config.json")


def _context_length(config: Any, tokenizer: Any) -> int:
    text = getattr(config, "text_config", config)
    limits = [getattr(text, "max_position_embeddings", _NO_LIMIT), tokenizer.model_max_length]
    return int(min(limits))


def _dim(config: Any) -> int:
    text = getattr(config, "text_config", config)
    sizes = [getattr(config, "projection_dim", None), getattr(text, "projection_size", None), text.hidden_size]
    return int(next(size for size in sizes if size))
