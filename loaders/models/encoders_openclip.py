"""Encoders that open_clip can build: its own architectures and tags, repositories in its format, single checkpoints."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import torch
from numpy.typing import NDArray
from open_clip.model import set_model_preprocess_cfg
from open_clip.pretrained import download_pretrained_from_hf
from open_clip.transform import PreprocessCfg, image_transform_v2

from loaders.errors import InputError, ModelError
from loaders.files.json_values import read_json, understood
from loaders.files.paths import entries, is_file, is_folder
from loaders.models.encoders_hub import FETCH_SMALL, TOKENIZER_FILES, Repository
from loaders.models.encoders_torch import (
    Setting,
    TorchEncoder,
    Towers,
    file_digest,
    json_digest,
    loaded,
    ready,
    revision,
    state_digest,
    tokenizer_digest,
    versions,
)
from loaders.reached import code_digest

CONFIG = "open_clip_config.json"
WEIGHTS = "open_clip_pytorch_model.bin"  # or open_clip_model.safetensors, which is tried first
FETCH = "--include 'open_clip*'"

# A stand-in that runs anywhere in a moment: a ViT of two layers with CLIP's own tokenizer.
_MOST_LAYERS = 1_000
TINY: dict[str, Any] = {
    "embed_dim": 64,
    "vision_cfg": {"image_size": 64, "layers": 2, "width": 64, "patch_size": 16},
    "text_cfg": {"context_length": 77, "vocab_size": 49408, "width": 64, "heads": 2, "layers": 2},
}


def open_open_clip(name: str, source: str, setting: Setting) -> TorchEncoder:
    """`source` is open_clip:ARCHITECTURE/WEIGHTS, hf-hub:org/repo or local-dir:folder. Raises ModelError."""
    kind, _, rest = source.partition(":")
    local: Path | None = None
    if kind == "open_clip":
        architecture, _, tag = rest.partition("/")
        config = _architecture(name, architecture)
        weights, pretrained = _weights(name, architecture, config, tag)
        origin = f"open_clip:{architecture}/{Path(tag).name if is_file(Path(tag)) else tag}"
    else:
        architecture, pretrained, origin = source, None, source
        if kind == "local-dir":
            local, origin = Path(rest), f"local:{Path(rest).name}"
        path, weights = _folder(name, local) if local else _repository(name, rest)
        config = _config(name, path)
    text_cfg, text_tower = _text_tower(name, config["text_cfg"], local)
    model, transform = loaded(
        name,
        lambda: open_clip.create_model_from_pretrained(architecture, pretrained, text_cfg=text_cfg),
        do=f"If {weights[0]} is damaged, delete it and download it again",
    )
    tokenizer = loaded(
        name,
        lambda: open_clip.get_tokenizer(architecture),
        do="Check that its tokenizer's files are complete",
    )
    return _encoder(
        name,
        model,
        transform,
        tokenizer,
        setting,
        dim=config["embed_dim"],
        identity={
            "model": origin,
            "weights": file_digest(*weights),
            "revision": revision(weights[0]),
            "architecture": json_digest([config, text_tower]),
        },
    )


def open_tiny(name: str, setting: Setting) -> TorchEncoder:
    """TINY with random weights, always the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = open_clip.CLIP(**TINY)
    preprocess = PreprocessCfg(size=model.visual.image_size)
    set_model_preprocess_cfg(model, vars(preprocess))
    tokenizer = open_clip.SimpleTokenizer(context_length=TINY["text_cfg"]["context_length"])
    return _encoder(
        name,
        model,
        image_transform_v2(preprocess, is_train=False),
        tokenizer,
        setting,
        dim=TINY["embed_dim"],
        identity={"model": name, "weights": state_digest(model), "architecture": json_digest(TINY)},
        stand_in=True,
    )


def _encoder(
    name: str,
    model: Any,
    transform: Any,
    tokenizer: Any,
    setting: Setting,
    *,
    dim: int,
    identity: dict[str, str],
    stand_in: bool = False,
) -> TorchEncoder:
    if getattr(tokenizer, "reduction_fn", None) or getattr(tokenizer, "tokenizer_mode", ""):
        raise ModelError(name, found="its tokenizer truncates long texts in its own way, which cannot be counted")
    model = ready(model, setting)
    # Not the model's own value, which is its number of positions: BiomedCLIP has 512 and was trained with 256.
    context_length = int(tokenizer.context_length)

    def tokens(texts: list[str]) -> tuple[dict[str, Any], NDArray[np.bool_]]:
        ids = tokenizer(texts)
        # A text was truncated exactly if one more position would have changed the content of the others.
        longer = tokenizer(texts, context_length=context_length + 1)
        return {"text": ids}, (ids != longer[:, :context_length]).any(dim=1).numpy()

    packages = ("open_clip_torch", "timm", "transformers", "tokenizers", "ftfy", "regex")
    of_transformers = getattr(tokenizer, "tokenizer", None)
    return TorchEncoder(
        name,
        Towers(
            pixels=transform,
            images=lambda batch: model.encode_image(batch, normalize=False),
            tokens=tokens,
            texts=lambda batch: model.encode_text(batch["text"], normalize=False),
        ),
        setting,
        dim=dim,
        context_length=context_length,
        identity={
            **identity,
            "transform": json_digest(model.visual.preprocess_cfg),
            "tokenizer": tokenizer_digest(of_transformers) if of_transformers else type(tokenizer).__name__,
            "libraries": versions(*packages),
            "code": code_digest(open_open_clip, open_tiny),
        },
        stand_in=stand_in,
    )


def _config(name: str, path: Path) -> dict[str, Any]:
    """The configuration in a file. Raises ModelError if there is none."""
    try:
        with understood(path, expected="a configuration of open_clip"):
            config: dict[str, Any] = read_json(path)["model_cfg"]
            towers = [dict(config["text_cfg"]), dict(config.get("vision_cfg") or {})]
    except InputError as error:
        raise ModelError(
            name, found=f"cannot be loaded: {error.found}", expected=error.expected, do=f"Check {path}"
        ) from None
    for tower in towers:  # each is built before the weights are looked at
        layers = tower.get("layers")
        if isinstance(layers, int) and layers > _MOST_LAYERS:
            raise ModelError(
                name, found=f"a tower of {layers:.3g} layers", expected=f"at most {_MOST_LAYERS}", do=f"Check {path}"
            )
    return config


def _architecture(name: str, architecture: str) -> dict[str, Any]:
    config: dict[str, Any] | None = open_clip.get_model_config(architecture) if ":" not in architecture else None
    if config is None:
        close = difflib.get_close_matches(architecture, open_clip.list_models(), n=5, cutoff=0.4)
        found = f"open_clip {open_clip.__version__} has no architecture {architecture!r}"
        raise ModelError(name, found=found, expected=", ".join(close) or "one of open_clip.list_models()")
    return config


def _weights(name: str, architecture: str, config: dict[str, Any], tag: str) -> tuple[list[Path], str]:
    """The weights file, and what to pass to open_clip: a tag it knows, or that file."""
    if tag.startswith("hf-hub:"):
        repo, _, file = tag.removeprefix("hf-hub:").rpartition("/")
        path = Repository(name, repo).file(file)
        return [path], str(path)
    if is_file(Path(tag)):
        return [Path(tag)], tag
    known = open_clip.get_pretrained_cfg(architecture, tag)
    if not known:
        tags = ", ".join(open_clip.list_pretrained_tags_by_model(architecture)) or "a checkpoint file"
        raise ModelError(name, found=f"open_clip has no weights {tag!r} for {architecture}", expected=tags)
    _check_activation(name, architecture, bool(config.get("quick_gelu")), tag, bool(known.get("quick_gelu")))
    repo, _, file = known["hf_hub"].rpartition("/")
    try:
        return [Path(open_clip.download_pretrained(known))], tag
    except (OSError, RuntimeError, ValueError) as problem:
        if not repo:
            raise ModelError(
                name, found=f"its weights cannot be downloaded from {known['url']}: {problem}"
            ) from problem
        raise Repository(name, repo, FETCH).missing(file or WEIGHTS, problem) from problem


def _check_activation(name: str, architecture: str, model_quick: bool, tag: str, weights_quick: bool) -> None:
    if model_quick == weights_quick:
        return
    kinds = {True: "QuickGELU", False: "GELU"}
    other = f"{architecture}-quickgelu" if weights_quick else architecture.removesuffix("-quickgelu")
    raise ModelError(
        name,
        found=f"{architecture} computes {kinds[model_quick]}, but {tag} was trained with {kinds[weights_quick]}",
        expected="the activation that the weights were trained with",
        do=f"Use open_clip:{other}/{tag}" if other in open_clip.list_models() else "",
    )


def _repository(name: str, repo: str) -> tuple[Path, list[Path]]:
    """Configuration and weights of a repository in open_clip's format."""
    there = Repository(name, repo, FETCH)
    config = there.file(CONFIG)
    try:
        return config, [Path(download_pretrained_from_hf(repo))]
    except (OSError, ValueError) as problem:
        raise there.missing(WEIGHTS, problem) from problem


def _folder(name: str, folder: Path) -> tuple[Path, list[Path]]:
    """Configuration of a local folder in open_clip's format, and every file there that may be the weights."""
    weights = [path for path in entries(folder) if path.suffix in (".safetensors", ".bin", ".pth")]
    if not weights:
        raise ModelError(name, found="the folder holds no weights", expected=f"{WEIGHTS} or a .safetensors file")
    return folder / CONFIG, weights


def _text_tower(name: str, text_cfg: dict[str, Any], local: Path | None) -> tuple[dict[str, Any], str]:
    """The text tower's configuration for open_clip, and the digest of what it takes from another repository.

    A text tower of transformers has its own configuration and tokenizer, often in another repository. Its weights are
    part of the whole model's.
    """
    tower, tokenizer = text_cfg.get("hf_model_name"), text_cfg.get("hf_tokenizer_name")
    if tokenizer and local is None:
        Repository(name, tokenizer, FETCH_SMALL).folder(TOKENIZER_FILES)
    elif local and tokenizer and not any(is_file(local / file) for file in TOKENIZER_FILES):  # open_clip looks there
        do = f"Add one: hf download {tokenizer} --include '*token*' --include 'vocab*' --local-dir {local}"
        raise ModelError(name, found="the folder has no tokenizer", expected=" or ".join(TOKENIZER_FILES), do=do)
    if not tower:
        return text_cfg, ""
    folder = Path(tower)
    if not is_folder(folder):
        folder = Repository(name, tower, FETCH_SMALL).folder(("config.json",))
    return {**text_cfg, "hf_model_name": str(folder), "hf_model_pretrained": False}, file_digest(folder / "config.json")
