"""What all torch encoders share: device and precision, running batches through the towers, and identity."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.utils.data import default_collate

from loaders.errors import BedsideError, InputError, ModelError
from loaders.files.disk import refuse_disk
from loaders.files.opening import digest_of
from loaders.models.encoder import Encoder, Vectors, unit

LIBRARIES = ("torch", "torchvision", "pillow", "numpy")


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and how precisely to compute."""

    device: str
    precision: str

    @classmethod
    def of(cls, device: str | None, precision: str) -> Setting:
        """The default device is this process's GPU. Raises InputError for a device that does not exist."""
        if device is None:
            # If several processes were launched, each has a GPU of its own.
            device = f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if torch.cuda.is_available() else "cpu"
        if why := _refused(device):
            raise InputError("device", found=f"{device!r} cannot be used: {why}", expected=" or ".join(_devices()))
        return cls(device, precision)


def _refused(device: str) -> str:
    """Why nothing can be computed on a device, in one sentence; empty if it can."""
    try:
        torch.device(device)
    except RuntimeError:  # whose text lists every device that any build of torch may have
        return "torch knows no such device"
    try:
        torch.ones(1, device=device).cpu()  # "meta" makes tensors, but holds no numbers
    except (NotImplementedError, ImportError):  # the text of the first is a page on the operators of each device
        return "torch computes nothing on it here"
    except (RuntimeError, AssertionError) as problem:
        return str(problem).partition("\n")[0].partition(". ")[0]
    return ""


def _devices() -> list[str]:
    """The devices of this machine that an encoder can use."""
    gpus = [f"cuda:{at}" for at in range(torch.cuda.device_count())]
    return ["cpu", *gpus, *["mps"] * torch.backends.mps.is_available()]


@dataclass(frozen=True, slots=True)
class Towers:
    """An adapter's part of an encoder. The first and third run on the CPU, the others on the device."""

    pixels: Callable[[Image.Image], Any]  # an RGB picture -> a tensor (3, height, width), or several by name
    images: Callable[[Any], Any]  # the same of n pictures -> (n, dim)
    tokens: Callable[[list[str]], tuple[dict[str, Any], NDArray[np.bool_]]]  # texts -> tensors, whether truncated
    texts: Callable[[dict[str, Any]], Any]  # those tensors -> (n, dim)


class TorchEncoder(Encoder):
    """An encoder made of `towers` whose modules are already on the device, in evaluation mode."""

    def __init__(
        self,
        name: str,
        towers: Towers,
        setting: Setting,
        *,
        dim: int,
        context_length: int,
        identity: dict[str, str],
        stand_in: bool = False,
    ) -> None:
        self.name = name
        self.dim = dim
        self.context_length = context_length
        self.stand_in = stand_in
        self._towers = towers
        self._setting = setting
        self._identity = {
            **identity,
            "precision": setting.precision,
            "device": setting.device.partition(":")[0],
            "context_length": str(context_length),
        }

    @property
    def identity(self) -> dict[str, str]:
        return dict(self._identity)

    def prepare(self, image: Image.Image) -> Any:
        if image.mode not in ("RGB", "L"):
            raise InputError("image", found=f"a picture of mode {image.mode}", expected="RGB or L, as open_image gives")
        # Some transforms assume three channels.
        return self._towers.pixels(image.convert("RGB"))

    def encode_prepared(self, prepared: Sequence[Any]) -> Vectors:
        if not prepared:
            return np.empty((0, self.dim), dtype=np.float32)
        return self._run(self._towers.images, self._moved(default_collate(list(prepared))), len(prepared))

    def encode_texts(self, texts: Sequence[str]) -> tuple[Vectors, list[bool]]:
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32), []
        tokens, truncated = self._towers.tokens(list(texts))
        return self._run(self._towers.texts, self._moved(tokens), len(texts)), [bool(cut) for cut in truncated]

    def _moved(self, batch: Any) -> Any:
        if isinstance(batch, dict):
            return {name: tensor.to(self._setting.device) for name, tensor in batch.items()}
        return batch.to(self._setting.device)

    def _run(self, tower: Callable[[Any], Any], batch: Any, size: int) -> Vectors:
        kind = torch.device(self._setting.device).type
        low = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(self._setting.precision)
        try:
            # By default cuDNN rounds the inputs of float32 convolutions to 10 bits.
            with (
                torch.inference_mode(),
                torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=low is not None),
                torch.autocast(kind, dtype=low, enabled=low is not None),
            ):
                vectors = tower(batch).float().cpu().numpy()
        except torch.OutOfMemoryError:
            found = f"the memory of {self._setting.device} is too small for a batch of {size}"
            raise ModelError(self.name, found=found, do="Use a smaller batch size: finished batches are kept") from None
        if vectors.shape != (size, self.dim):
            raise ModelError(self.name, found=f"gave {vectors.shape} values", expected=f"{(size, self.dim)}")
        return unit(vectors)


def ready(module: Any, setting: Setting) -> Any:
    """The module on its device, in float32, for evaluation only."""
    return module.float().to(setting.device).eval().requires_grad_(False)


def versions(*packages: str) -> str:
    """Names and versions of the libraries that every encoder computes with, and of `packages`."""
    return ", ".join(f"{package} {version(package)}" for package in (*LIBRARIES, *packages))


def file_digest(*paths: Path) -> str:
    """SHA-256 of a file, or over the digests of several in their order."""
    digests = [digest_of(path) for path in paths]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def json_digest(value: Any) -> str:
    """SHA-256 of a configuration."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def state_digest(module: Any) -> str:
    """SHA-256 over a module's weights."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\0".encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of a transformers tokenizer: vocabulary, merges, normalisation and special tokens."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    whole = backend.to_str() if backend is not None else tokenizer.get_vocab()
    return json_digest([whole, tokenizer.special_tokens_map])


def padded(tokenizer: Any, texts: list[str], length: int) -> tuple[dict[str, Any], NDArray[np.bool_]]:
    """The tokens of texts padded to the full length, and whether each was truncated at it."""
    batch = tokenizer(texts, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    whole = tokenizer(texts, verbose=False)["input_ids"]
    return dict(batch), np.array([len(ids) > length for ids in whole])


def revision(path: Path) -> str:
    """The commit of a file in the Hub's cache, or "local"."""
    return next((child.name for child, parent in pairwise(path.parents) if parent.name == "snapshots"), "local")


def loaded(model: str, load: Callable[[], Any], *, do: str, found: str = "cannot be loaded") -> Any:
    """The result of `load`; any error of a library on damaged or unsuitable files becomes a ModelError."""
    try:
        return load()
    except (BedsideError, ModuleNotFoundError):
        raise
    except Exception as problem:  # each library has its own errors
        refuse_disk(problem, Path(model))
        lines = str(problem).strip().splitlines() or [""]
        why = f"{type(problem).__name__}: {' '.join(line.strip() for line in lines[:3])[:400]}"
        raise ModelError(model, found=f"{found}: {why}", do=do) from problem
