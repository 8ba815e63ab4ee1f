"""Sentence encoders by name: texts in, unit vectors out, to measure how close two sentences are in meaning.

    encoder = open_sentence_encoder("hf:sentence-transformers/all-MiniLM-L6-v2")
    cosines = encoder.encode(["It itches."]) @ encoder.encode(["My skin is itchy."]).T

hf:ORG/NAME[@REVISION]   a text model of transformers, from the Hub's cache or fetched into it. Its pooling is what the
                         repository says (1_Pooling/config.json), else the mean over its tokens
a folder                 with the same files as such a repository
words                    a stand-in: word counts, which know nothing of meaning
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from loaders.errors import InputError, MissingExtra, ModelError
from loaders.files.json_values import read_json
from loaders.files.paths import is_folder
from loaders.models.encoder import Vectors, unit

_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_lasttoken": "last"}
_MODULES = ("Transformer", "Pooling", "Normalize")
"""The parts of a model of sentence-transformers that are run here; a Dense layer would be left out in silence."""
_BATCH = 32


class SentenceEncoder(ABC):
    """A function from texts to unit vectors; `stand_in` is True if no model is behind it."""

    name: str
    revision: str | None
    stand_in: bool

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, dim); a text without a word is all zeros in the stand-in."""


def open_sentence_encoder(name: str, *, device: str | None = None) -> SentenceEncoder:
    """The encoder of that name. Raises ModelError if it is not available, MissingExtra without transformers."""
    if name == "words":
        return _Words()
    if name.startswith("hf:"):
        repo, _, revision = name.removeprefix("hf:").partition("@")
        return _Transformer(name, repo, revision or None, device)
    if is_folder(Path(name)):
        return _Transformer(name, name, None, device)
    raise ModelError(
        name or "(no name)", found="is no sentence encoder", expected="hf:ORG/NAME, a folder with a model, or words"
    )


class _Words(SentenceEncoder):
    name, revision, stand_in = "words", None, True
    _DIM = 4096

    def encode(self, texts: Sequence[str]) -> Vectors:
        counts = np.zeros((len(texts), self._DIM), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"[^\W_]+", text.casefold()):
                counts[row, _place(word, self._DIM)] += 1
        return unit(counts)


def _place(word: str, size: int) -> int:
    """A position for a word that does not depend on the hash seed (FNV-1a)."""
    value = 2166136261
    for byte in word.encode():
        value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value % size


class _Transformer(SentenceEncoder):
    stand_in = False

    def __init__(self, name: str, source: str, revision: str | None, device: str | None) -> None:
        with MissingExtra.needed("models", purpose=f"the encoder {name}"):
            import torch
            from transformers import AutoModel, AutoTokenizer

            from loaders.models.encoders_torch import Setting, loaded
        self.name = name
        self._device = torch.device(Setting.of(device, "fp32").device)  # before anything is fetched
        reach = "" if is_folder(Path(source)) else f" and the connection (or fetch it before: hf download {source})"
        do = f"Check the name{reach}; models that need code of their own are not run"
        how = {"revision": revision, "trust_remote_code": False}

        def opened() -> Any:
            kinds = (AutoTokenizer, AutoModel)
            return *(kind.from_pretrained(source, **how) for kind in kinds), _pooling(source, revision)

        self._tokenizer, self._model, self._pooling = loaded(name, opened, do=do, found="cannot be opened")
        self._model.to(self._device).eval()
        self.revision = getattr(self._model.config, "_commit_hash", None) or revision

    def encode(self, texts: Sequence[str]) -> Vectors:
        import torch

        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), _BATCH):
                batch = self._tokenizer(
                    list(texts[start : start + _BATCH]), padding=True, truncation=True, return_tensors="pt"
                ).to(self._device)
                states = self._model(**batch).last_hidden_state.float()
                found.append(_pooled(states, batch["attention_mask"], self._pooling).cpu().numpy())
        if not found:
            return np.zeros((0, int(self._model.config.hidden_size)), dtype=np.float32)
        vectors = np.concatenate(found).astype(np.float32)
        if not np.isfinite(vectors).all():
            raise ModelError(self.name, found="gave a vector that is not finite")
        return unit(vectors)


def _pooled(states: Any, mask: Any, pooling: str) -> Any:
    import torch

    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        # The last token that is not padding, on whichever side the padding is.
        places = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(dim=1)
        return states[torch.arange(len(states), device=states.device), places]
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)


def _pooling(source: str, revision: str | None) -> str:
    """How a sentence's vector is made of those of its tokens. Raises: InputError for a way that is not known here."""
    modules = _config(source, revision, "modules.json") or []
    if further := [kind for one in modules if (kind := one["type"].rpartition(".")[2]) not in _MODULES]:
        found, expected = f"a model that ends with {', '.join(further)}", f"none but {', '.join(_MODULES)}"
        raise InputError(source, found=found, expected=expected, do="Choose another sentence encoder")
    config = _config(source, revision, "config.json", "1_Pooling")
    if config is None:
        return "mean"
    wanted = [name for name, value in config.items() if name.startswith("pooling_mode_") and value is True]
    if len(wanted) != 1 or wanted[0] not in _POOLINGS:
        found = f"pooling {', '.join(wanted) or 'none'} in 1_Pooling/config.json"
        raise InputError(source, found=found, expected="one of " + ", ".join(_POOLINGS))
    return _POOLINGS[wanted[0]]


def _config(source: str, revision: str | None, name: str, folder: str = "") -> Any:
    """The JSON in a file of a repository or folder; None if there is no such file."""
    from transformers.utils import cached_file

    path = cached_file(
        source, name, revision=revision, subfolder=folder, _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )  # fmt: skip
    return None if path is None else read_json(Path(path))
