"""BERTScore, LENS, RaTEScore and GREEN of caption pairs (MedLayBench-V, Tables 2 and A5), with their authors' weights.

Each function takes hypotheses and references (for Table 2 the lay and the expert captions) and returns one value a
pair, in percent or, for LENS, on its scale of 0 to 100. None of them fetches missing weights, and none stands in for
another: without its package a function raises MissingExtra, without its weights ModelError, and the error says how to
get them. A caller that fills a table prints "not computed" and that reason. Weights are loaded at every call, so pass
all pairs at once.

LENS's checkpoint is a pickle, and GREEN's loader runs code from its repository: use weights that you trust.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v.bertscore import BertScore
from baselines.medlaybench_v.relevance import check_pairs
from baselines.medlaybench_v.weights import local_weights, model_used
from baselines.results.run import ModelUsed
from loaders.errors import MissingExtra, ModelError
from loaders.files.json_values import understood
from loaders.files.paths import is_file
from loaders.files.texts import read_text
from loaders.files.yaml_values import parse_yaml
from loaders.installed import installed_versions

LENS_MODEL = "davidheineman/lens"
RATESCORE_MODELS = ("Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C")
GREEN_MODEL = "StanfordAIMI/GREEN-radllama2-7b"


@dataclass(frozen=True)
class Scores:
    """`values` of shape (pairs,), and what computed them, for the record of a run."""

    values: NDArray[np.float64]
    models: tuple[ModelUsed, ...]
    versions: dict[str, str]


def bertscore(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """BERTScore F1, see baselines/medlaybench_v/bertscore.py, which also takes other models."""
    model = BertScore()
    return Scores(model(hypotheses, references), (model.model,), installed_versions("transformers", "torch"))


def lens(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """LENS, rescaled to 0-100; the reference is also the source, since no human simplification exists."""
    check_pairs(hypotheses, references)
    package = _package(
        "lens",
        "LENS",
        "pip install pytorch-lightning torchmetrics sentencepiece scipy pandas && pip install --no-deps lens-metric",
    )
    folder = local_weights(LENS_MODEL)
    checkpoint = folder / "checkpoints" / "model.ckpt"
    if not is_file(checkpoint):
        raise ModelError(LENS_MODEL, found=f"no {checkpoint.name} in it", do=f"To repair: hf download {LENS_MODEL}")
    # The checkpoint names the encoder whose tokenizer it needs.
    named = folder / "hparams.yaml"
    with understood(named, expected="pretrained_model: NAME", do=f"To repair: hf download {LENS_MODEL}"):
        encoder = str(parse_yaml(read_text(named), named)["pretrained_model"])
    base = local_weights(encoder)
    import torch

    scorer = _loaded(LENS_MODEL, lambda: package.LENS(str(checkpoint), rescale=True))
    # The package unpacks a tuple of three from its encoder; transformers 5 leaves the unused middle one out when there
    # is no pooler.
    scorer.model.encoder.model.pooler = torch.nn.Identity()
    devices = [0] if torch.cuda.is_available() else None
    sources = [[reference] for reference in references]
    values = scorer.score(list(references), list(hypotheses), sources, batch_size=16, devices=devices)
    models = (model_used("LENS", LENS_MODEL, folder), model_used("LENS encoder", encoder, base))
    return Scores(_checked("LENS", values, references), models, installed_versions("lens-metric", "transformers"))


def ratescore(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """RaTEScore with its weights for long reports, the package's default."""
    check_pairs(hypotheses, references)
    package = _package("radeval.metrics.RaTEScore.scorer", "RaTEScore", "pip install radeval")
    entities, synonyms = (local_weights(model) for model in RATESCORE_MODELS)
    scorer = _loaded(
        " and ".join(RATESCORE_MODELS),
        lambda: package.RaTEScore(bert_model=str(entities), eval_model=str(synonyms)),
    )
    values = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        # Pair by pair: the package leaves out texts of fewer than three characters, and in a list of texts every later
        # value would move to another pair. Alone, such a text makes it fail.
        try:
            (score,) = scorer.compute_score(candidate_list=[hypothesis], reference_list=[reference])[0]
        except (IndexError, ValueError) as problem:
            raise ModelError("RaTEScore", found=f"finds no sentence in {hypothesis!r} or {reference!r}") from problem
        values.append(100 * score)
    roles, folders = ("RaTEScore entities", "RaTEScore synonyms"), (entities, synonyms)
    models = tuple(model_used(*names) for names in zip(roles, RATESCORE_MODELS, folders, strict=True))
    return Scores(_checked("RaTEScore", values, references), models, installed_versions("radeval", "transformers"))


def green(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """GREEN, judged by its model of seven billion parameters, on a GPU."""
    check_pairs(hypotheses, references)
    package = _package("radeval.metrics.green_score.green", "GREEN", "pip install radeval")
    folder = local_weights(GREEN_MODEL)
    import torch

    if not torch.cuda.is_available():
        raise ModelError(GREEN_MODEL, found="no GPU", expected="one with 16 GB or more", do="Run it where there is one")
    scorer = _loaded(GREEN_MODEL, lambda: package.GREEN(str(folder), output_dir="."))
    _, _, values, _ = scorer(list(references), list(hypotheses))
    if None in values:
        raise ModelError("GREEN", found=f"gave no analysis of pair {values.index(None)}")
    percent = _checked("GREEN", [100 * value for value in values], references)
    return Scores(percent, (model_used("GREEN", GREEN_MODEL, folder),), installed_versions("radeval", "transformers"))


Metric = Callable[[Sequence[str], Sequence[str]], Scores]
METRICS: dict[str, Metric] = {"BERTScore": bertscore, "LENS": lens, "RaTEScore": ratescore, "GREEN": green}


def _package(module: str, metric: str, install: str) -> Any:
    try:
        return import_module(module)
    except ImportError as missing:
        raise MissingExtra(
            module.partition(".")[0],
            found=f"is not installed or cannot be imported ({missing})",
            expected=f"for {metric}",
            do=f"Install it with: {install}",
        ) from missing


def _loaded(model: str, load: Callable[[], Any]) -> Any:
    from loaders.models.encoders_torch import loaded  # needs torch, as the package that loads does

    return loaded(model, load, do="Fetch it again with: hf download")


def _checked(metric: str, values: Sequence[float], pairs: Sequence[str]) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(pairs),) or not np.isfinite(array).all():
        raise ModelError(
            metric,
            found=f"returned {array.shape} values, {int((~np.isfinite(array)).sum())} of them not finite",
            expected=f"{len(pairs)} finite values",
        )
    return array
