"""Weights of a model that are already on this machine; nothing here downloads."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

from baselines.results.run import ModelUsed
from loaders.errors import ModelError
from loaders.files.paths import is_folder


def local_weights(model: str) -> Path:
    """The folder of a model: `model` itself if it is a folder, else its snapshot in the Hub's cache.

    Raises ModelError, with the command that fetches it, if the cache holds no snapshot of it.
    """
    if is_folder(Path(model)):
        return Path(model)
    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, HfHubHTTPError, OSError) as problem:
        do = f"To get them: hf download {model}"
        raise ModelError(model, found="its weights are not on this machine", do=do) from problem


def model_used(role: str, model: str, folder: Path) -> ModelUsed:
    """The model for the record of a run, with the commit of its snapshot if it comes from the Hub's cache."""
    if folder.parent.name == "snapshots":
        return ModelUsed(role, model, folder.name)
    return ModelUsed(role, folder.name)
