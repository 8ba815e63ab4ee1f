"""Networks by name: any model of timm, with its published weights, with a file of weights, or with random ones.

tf_efficientnetv2_s.in21k_ft_in1k      weights from the Hub's cache or the Hub (safetensors only)
random:tf_efficientnetv2_s             random weights, a stand-in
random:tiny                            a tf_efficientnetv2_s of a tenth of the width, random weights, a stand-in
"""

from __future__ import annotations

import copy
import difflib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from loaders.errors import InputError, MissingExtra, ModelError, how_many
from loaders.files.opening import open_by_number
from loaders.models.encoders_hub import Repository
from loaders.models.encoders_torch import file_digest, loaded, revision

PAPER = {f"EfficientNetV2-{size}": f"tf_efficientnetv2_{size.lower()}.in21k_ft_in1k" for size in ("S", "M", "L", "XL")}
"""The networks of Table 8 and our reading of their names: the public weights fine-tuned by the family's authors."""

_TINY = ("tf_efficientnetv2_s", {"channel_multiplier": 0.1, "depth_multiplier": 0.2})
_TINY_SIZES = (80, 96)


@dataclass(frozen=True, slots=True)
class Input:
    """The network's input: side in pixels in training and in testing, mean and deviation of colours, how to resize."""

    train_size: int
    test_size: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str
    crop_share: float
    squash: bool


@dataclass(frozen=True, slots=True)
class Network:
    """A network to train. `source` says where its weights are from, for records; random ones make it a `stand_in`."""

    name: str
    module: Any
    input: Input
    source: str
    stand_in: str | None

    @property
    def paper_name(self) -> str:
        """The name in Table 8 if it is one of the paper's, else its own."""
        return next((paper for paper, name in PAPER.items() if name == self.name), self.name)

    def check(self, batch: int = 0) -> None:
        """Raises ModelError if the network takes no picture of these sizes or, unless 0, learns nothing from `batch` of
        them: better now than at the first photo, or at the first validation."""
        module, input = copy.deepcopy(self.module), self.input  # a batch changes the statistics of the layers
        device = next(module.parameters()).device

        def passed() -> None:
            with torch.no_grad():
                if batch:
                    module.train()(torch.zeros(min(batch, 2), 3, input.train_size, input.train_size, device=device))
                module.eval()(torch.zeros(1, 3, input.test_size, input.test_size, device=device))

        alone, larger = (" one by one", ", or a larger --batch-size") if batch == 1 else ("", "")
        found = f"fails on pictures of {input.train_size} pixels{alone}, or of {input.test_size} in testing"
        loaded(self.name, passed, found=found, do=f"Use another --size or --test-size{larger}")


def open_network(
    name: str,
    *,
    classes: int,
    weights: Path | None = None,
    size: int | None = None,
    test_size: int | None = None,
    dropout: float = 0.0,
    drop_path: float = 0.0,
    seed: int = 0,
) -> Network:
    """The network of that name with a new head of `classes` outputs (0: none, for features).

    Raises InputError for an unknown name or an input size that it cannot take, ModelError for weights that are not on
    this machine or do not fit, MissingExtra without timm.
    """
    with MissingExtra.needed("models", purpose="image classifiers"):
        import timm
    asked = PAPER.get(name, name)
    random = asked.startswith("random:")
    architecture = asked.removeprefix("random:")
    options: dict[str, Any] = {"num_classes": classes, "drop_rate": dropout, "drop_path_rate": drop_path}
    if asked == "random:tiny":
        architecture, options = _TINY[0], options | _TINY[1]
    _check_known(timm, architecture)
    config = timm.get_pretrained_cfg(architecture)
    if (size or test_size) and config is not None and config.fixed_input_size:
        options["img_size"] = size or test_size
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)  # for the head, and for everything if the weights are random
        module = _created(timm, name, architecture, options)
    taken = _input(module, _TINY_SIZES if asked == "random:tiny" else None, size, test_size)
    if weights is not None:
        _load(name, module, weights)
        return Network(asked, module, taken, f"{weights.name}, SHA-256 {file_digest(weights)}", None)
    if random:
        return Network(asked, module, taken, f"random, seed {seed}", f"random weights: {asked}")
    file = _published(asked, module)
    _load(name, module, file)
    tag = f"{module.pretrained_cfg['architecture']}.{module.pretrained_cfg.get('tag', '')}".rstrip(".")
    return Network(tag, module, taken, f"{_repo(module)}@{revision(file)}, SHA-256 {file_digest(file)}", None)


def reopened(name: str, state: Mapping[str, Any], input: Input, *, classes: int, source: str) -> Network:
    """A network of ours with all of its trained weights, the head included; nothing is looked up on the Hub.

    Raises InputError for an unknown name, ModelError for weights that are not of it, MissingExtra without timm.
    """
    architecture = name if name.startswith("random:") else f"random:{name}"
    network = open_network(architecture, classes=classes, size=input.train_size, test_size=input.test_size)
    try:
        network.module.load_state_dict(dict(state))
    except RuntimeError as error:
        found = f"its weights do not match: {str(error).splitlines()[-1].strip()}"
        raise ModelError(name, found=found, expected=f"weights of this network with {classes} classes") from None
    return replace(network, name=name, input=input, source=source, stand_in=None)


def _check_known(timm: Any, architecture: str) -> None:
    if timm.is_model(architecture):
        tag = architecture.partition(".")[2]
        if not tag or architecture in timm.list_pretrained(f"{architecture.partition('.')[0]}.*"):
            return
    near = difflib.get_close_matches(architecture, [*PAPER, *timm.list_pretrained(), *timm.list_models()], n=3)
    raise InputError(
        "model",
        found=repr(architecture),
        expected="a timm model, random:NAME or random:tiny",
        do=f"Did you mean: {', '.join(near)}" if near else "timm.list_pretrained() lists them all",
    )


def _created(timm: Any, name: str, architecture: str, options: dict[str, Any]) -> Any:
    for left_out in ((), ("drop_path_rate",), ("drop_path_rate", "drop_rate")):  # not every architecture knows them
        known = {key: value for key, value in options.items() if key not in left_out}
        try:
            return timm.create_model(architecture, pretrained=False, **known)
        except TypeError as error:
            problem = error
    raise ModelError(name, found=f"cannot be made: {problem}", expected="an image classifier of timm") from problem


def _input(module: Any, sizes: tuple[int, int] | None, size: int | None, test_size: int | None) -> Input:
    """Another size for training is another one for testing in proportion, as things are then seen that much smaller.
    Some networks take one size only, whichever of the two was asked for."""
    config = module.pretrained_cfg
    own, own_test = sizes or (config["input_size"][-1], (config.get("test_input_size") or config["input_size"])[-1])
    train = size or own
    test = test_size or round(own_test * train / own)
    if config.get("fixed_input_size"):
        train = test = size or test_size or own
    for side in (train, test):
        if side < 16:
            raise InputError("size", found=f"{side} pixels", expected="16 or more")
    return Input(
        train_size=train,
        test_size=test,
        mean=tuple(config.get("mean", (0.5,) * 3)),
        std=tuple(config.get("std", (0.5,) * 3)),
        interpolation=config.get("interpolation", "bicubic"),
        crop_share=float(config.get("test_crop_pct") or config.get("crop_pct") or 1.0),
        squash=config.get("crop_mode") == "squash",
    )


def _repo(module: Any) -> str:
    return str(module.pretrained_cfg.get("hf_hub_id") or "")


def _published(name: str, module: Any) -> Path:
    repo = _repo(module)
    if not repo:
        raise ModelError(
            name,
            found="timm has no weights for it on the Hub",
            do="Pass --weights FILE.safetensors, or random:NAME for random weights",
        )
    try:
        return Repository(name, repo).file("model.safetensors")
    except ModelError as error:
        error.do += ". Or pass --weights FILE.safetensors"
        raise


def _load(name: str, module: Any, path: Path) -> None:
    """Weights of a safetensors file, without the head; never a pickle, which would run a stranger's code."""
    from safetensors.torch import load_file

    if path.suffix != ".safetensors":
        do = "Save the state_dict of the network with safetensors.torch.save_file"
        raise InputError(path, found="not a .safetensors file", expected="weights without embedded code", do=do)
    with open_by_number(path, expected="a file of weights") as file:
        state = loaded(name, lambda: load_file(file), do="Download the file again")
    kept, absent, unfit = _fitting(module, state)
    # What timm does to weights of an earlier version of the network, and to positions for pictures of another size.
    convert = getattr(sys.modules[type(module).__module__], "checkpoint_filter_fn", None)
    if convert is not None and (absent or unfit):
        state = loaded(name, lambda: convert(state, module), do="Use weights of this architecture")
        kept, absent, unfit = _fitting(module, state)
    if absent or unfit:
        raise ModelError(
            name,
            found=f"{path.name} lacks {how_many(len(absent), 'tensor')} and has {len(unfit)} of another shape: "
            + ", ".join((absent + unfit)[:3]),
            expected="weights of this architecture",
        )
    module.load_state_dict(kept, strict=False)


def _fitting(module: Any, state: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], list[str]]:
    """What of the weights the network takes, without a head of other classes; what it lacks, and what does not fit."""
    own = module.state_dict()
    named = module.pretrained_cfg.get("classifier") or "classifier"
    head = tuple(named) if isinstance(named, (tuple, list)) else named  # one per token or scale, as DeiT's and LeViT's
    kept = {
        key: tensor
        for key, tensor in state.items()
        if not key.startswith(head) or (key in own and own[key].shape == tensor.shape)
    }
    absent = [key for key in own if key not in kept and not key.startswith(head)]
    return kept, absent, [key for key, tensor in kept.items() if key not in own or own[key].shape != tensor.shape]
