"""A linear probe: logistic regression on frozen embeddings, the cheap strong baseline.

The strength of its penalty is the one with the best macro F1 on validation; classes are weighted as a training samples
them, by one over the square root of their size.
"""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from baselines.medlaybench_v.embeddings import Progress, embed
from baselines.statistics.arrays import Floats
from baselines.statistics.classification import classification_scores, occurring
from baselines.threemdbench.classifier.data import Photo
from baselines.threemdbench.classifier.network import open_network
from baselines.threemdbench.classifier.pictures import TestViews
from loaders.errors import InputError, MissingExtra
from loaders.files.paths import is_folder
from loaders.models.encoder import Encoder
from loaders.models.encoders import PAPER_MODELS, open_encoder
from loaders.models.encoders_torch import Setting, TorchEncoder, Towers, json_digest, ready, state_digest, versions
from loaders.reached import code_digest

STRENGTHS = (0.001, 0.01, 0.1, 1.0, 10.0)
"""The inverse penalties to try."""

_ENCODERS = ("open_clip:", "hf-hub:", "hf:", "pmc-clip:")


def open_backbone(
    name: str, *, device: str | None = None, weights: Path | None = None, size: int | None = None, seed: int = 0
) -> Encoder:
    """What computes the embeddings: an encoder of `loaders.models.encoders`, or else the network of timm with that
    name.

    `encoder:NAME` is always an encoder. Raises InputError for other weights or another size of an encoder, and what
    `open_encoder` and `open_network` raise.
    """
    if name in PAPER_MODELS or name.startswith(("encoder:", *_ENCODERS)) or is_folder(Path(name)):
        for option, given in (("--weights", weights), ("--size", size)):
            if given is not None:
                raise InputError(option, found=str(given), expected=f"none: {name} has its own")
        return open_encoder(name.removeprefix("encoder:"), device=device)
    setting = Setting.of(device, "fp32")
    network = open_network(name, classes=0, weights=weights, test_size=size, seed=seed)
    module = ready(network.module, setting)
    network.check()
    views = TestViews([], network.input)
    identity = {
        "source": network.source,
        "weights": state_digest(module),
        "input": json_digest(repr(network.input)),
        "code": code_digest(open_backbone),
        "versions": versions("timm"),
    }
    return TorchEncoder(
        network.name,
        Towers(pixels=views.view, images=module, tokens=_no_texts, texts=_no_texts),
        setting,
        dim=int(module.num_features if not hasattr(module, "head_hidden_size") else module.head_hidden_size),
        context_length=0,
        identity=identity,
        stand_in=network.stand_in is not None,
    )


def _no_texts(_: Any) -> Any:
    raise InputError("texts", found="an image network", expected="an encoder with a text tower")


def probe(
    encoder: Encoder,
    photos: Mapping[str, Sequence[Photo]],
    classes: int,
    *,
    cache: Path,
    batch_size: int = 64,
    progress: Progress | None = None,
) -> tuple[Floats, Floats, float]:
    """Fit on photos["train"], choose on photos["validation"], answer about photos["test"]; all must be readable.

    Returns logits (N, classes) for validation and test, and the inverse penalty that was chosen.

    Raises MissingExtra without scikit-learn, and what `embed` raises.
    """
    with MissingExtra.needed("figures", purpose="a linear probe"):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

    everything = [photo for split in ("train", "validation", "test") for photo in photos[split]]
    made = embed(
        encoder,
        images=[(_pixels_digest(photo.load()), photo.load) for photo in everything],
        cache=cache,
        batch_size=batch_size,
        progress=progress,
    )
    ends = np.cumsum([len(photos[split]) for split in ("train", "validation")])
    train, validation, test = np.split(made.images.rows().astype(np.float64), ends)
    labels = [photo.label for photo in photos["train"]]
    sizes = Counter(labels)
    weights = [1 / np.sqrt(sizes[label]) for label in labels]
    truth = [photo.label for photo in photos["validation"]]
    fitted: dict[float, Any] = {}
    for strength in STRENGTHS:
        model = make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1_000, tol=1e-3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a weak penalty may not converge: validation decides
            model.fit(train, labels, logisticregression__sample_weight=weights)
        fitted[strength] = model

    def macro_f1(strength: float) -> float:
        answers = fitted[strength].predict(validation).tolist()
        return classification_scores(truth, answers, occurring(truth, range(classes))[0]).macro_f1

    strength = max(STRENGTHS, key=macro_f1)  # the first of equal ones
    model = fitted[strength]
    return _logits(model, validation, classes), _logits(model, test, classes), strength


def _logits(model: Any, vectors: Floats, classes: int) -> Floats:
    """Log-probabilities over all classes; a class without a training photo is never the answer."""
    logits = np.full((len(vectors), classes), -50.0)
    logits[:, model.classes_] = np.maximum(model.predict_log_proba(vectors), -49.0)
    return logits


def _pixels_digest(picture: Image.Image) -> str:
    """SHA-256 of what is encoded, for the cache."""
    head = f"{picture.mode} {picture.size}".encode()
    return hashlib.sha256(head + picture.tobytes()).hexdigest()
