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
from pathlib import Path
from typing import Any

import numpy as np
from huggingface_hub import snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
from numpy.typing import NDArray

from baselines.results.run import ModelUsed
from loaders.errors import MissingExtra, ModelError
from loaders.files.json_values import understood
from loaders.files.paths import is_file, is_folder
from loaders.files.texts import read_text
from loaders.files.yaml_values import parse_yaml
from loaders.installed import installed_versions

LENS_MODEL = "davidheineman/lens"
RATESCORE_MODELS = ("Angelakeke/RaTE-NER-Deberta", "FremyCompany/BioLORD-2023-C")
GREEN_MODEL = "StanfordAIMI/GREEN-radllama2-7b"
BERTSCORE_MODEL = "microsoft/deberta-xlarge-mnli"
BERTSCORE_LAYERS = 40  # the layer that the package's authors tuned for this model


@dataclass(frozen=True)
class Scores:
    """`values` of shape (pairs,), and what computed them, for the record of a run."""

    values: NDArray[np.float64]
    models: tuple[ModelUsed, ...]
    versions: dict[str, str]


def bertscore(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """BERTScore F1 with the model of the paper."""
    model = BertScore()
    return Scores(model(hypotheses, references), (model.model,), installed_versions("transformers", "torch"))


def lens(hypotheses: Sequence[str], references: Sequence[str]) -> Scores:
    """LENS, rescaled to 0-100; the reference is also the source, since no human simplification exists."""
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

    scorer = _loaded(lambda: package.LENS(str(checkpoint), rescale=True), LENS_MODEL)
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
    package = _package("radeval.metrics.RaTEScore.scorer", "RaTEScore", "pip install radeval")
    entities, synonyms = (local_weights(model) for model in RATESCORE_MODELS)
    scorer = _loaded(lambda: package.RaTEScore(bert_model=str(entities), eval_model=str(synonyms)), *RATESCORE_MODELS)
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
    package = _package("radeval.metrics.green_score.green", "GREEN", "pip install radeval")
    folder = local_weights(GREEN_MODEL)
    import torch

    if not torch.cuda.is_available():
        raise ModelError(GREEN_MODEL, found="no GPU", expected="one with 16 GB or more", do="Run it where there is one")
    scorer = _loaded(lambda: package.GREEN(str(folder), output_dir="."), GREEN_MODEL)
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


def _loaded(load: Callable[[], Any], *models: str) -> Any:
    from loaders.models.encoders_torch import loaded  # needs torch, as the package that loads does

    do = f"To repair: {' and '.join(f'hf download {model}' for model in models)}"
    return loaded(" and ".join(models), load, do=do)


def _checked(metric: str, values: Sequence[float], pairs: Sequence[str]) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (len(pairs),) or not np.isfinite(array).all():
        raise ModelError(
            metric,
            found=f"returned {array.shape} values, {int((~np.isfinite(array)).sum())} of them not finite",
            expected=f"{len(pairs)} finite values",
        )
    return array


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


# --- BERTScore --------------------------------------------------------------------------------------------------------


class BertScore:
    """BERTScore F1 with a loaded encoder, on a GPU if there is one; `model` says which, for the record of a run.

    By default as in Table A5: DeBERTa-xlarge-MNLI, layer 40, no idf weights, no rescaling. The package bert-score
    cannot run this model under transformers 5: the tokenizer states no maximum length, and the package passes the
    placeholder for "none" to the tokenizer, which fails. The values here equal the package's wherever it runs, up to
    rounding. One difference is deliberate: padding never takes part in a match, so a pair's value does not depend on
    the pairs it shares a batch with.

    Another `model` has to be a BERT or DeBERTa encoder. Raises ModelError when the weights are not on this machine,
    MissingExtra without torch and transformers.
    """

    def __init__(self, model: str = BERTSCORE_MODEL, *, layers: int = BERTSCORE_LAYERS) -> None:
        folder = local_weights(model)  # first: a run without them would import torch, for seconds, to say so
        with MissingExtra.needed("models", purpose="BERTScore"):
            import torch
            from transformers import AutoModel, AutoTokenizer
        self._tokenizer: Any = _loaded(lambda: AutoTokenizer.from_pretrained(folder), model)
        encoder: Any = _loaded(lambda: AutoModel.from_pretrained(folder, dtype=torch.float32), model)
        encoder.encoder.layer = encoder.encoder.layer[:layers]
        self._torch: Any = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._encoder = encoder.to(self._device).eval()
        # This model's tokenizer states no limit, which it reports as 10**30.
        self._limit: int = min(self._tokenizer.model_max_length, encoder.config.max_position_embeddings)
        self.model = model_used(f"BERTScore, layer {layers}", model, folder)

    def __call__(
        self, hypotheses: Sequence[str], references: Sequence[str], *, batch_size: int = 64
    ) -> NDArray[np.float64]:
        """F1 of every pair in percent, shape (pairs,); 0 where either text is empty."""
        values = np.zeros(len(hypotheses))
        # Long pairs first: less padding, and a batch too large for the memory fails at once, not after an hour.
        order = sorted(range(len(values)), key=lambda pair: -max(len(hypotheses[pair]), len(references[pair])))
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            values[batch] = self._f1([hypotheses[pair] for pair in batch], [references[pair] for pair in batch])
        return values

    def _f1(self, hypotheses: list[str], references: list[str]) -> NDArray[np.float64]:
        found, found_mask, found_weights = self._embed(hypotheses)
        wanted, wanted_mask, wanted_weights = self._embed(references)
        similarity = found @ wanted.transpose(1, 2)
        similarity = similarity.masked_fill(~(found_mask[:, :, None] & wanted_mask[:, None, :]), float("-inf"))
        precision = _weighted_mean(similarity.amax(dim=2), found_weights)
        recall = _weighted_mean(similarity.amax(dim=1), wanted_weights)
        empty = (found_weights.sum(dim=1) == 0) | (wanted_weights.sum(dim=1) == 0)
        f1 = (2 * precision * recall / (precision + recall)).masked_fill(empty, 0.0)
        result: NDArray[np.float64] = f1.double().cpu().numpy() * 100
        return result

    def _embed(self, texts: list[str]) -> tuple[Any, Any, Any]:
        """Unit vectors (texts, tokens, width), which tokens are not padding, and which count in a mean."""
        tokens = self._tokenizer(
            [text.strip() for text in texts],
            padding=True,
            truncation=True,
            max_length=self._limit,
            return_tensors="pt",
        ).to(self._device)
        with self._torch.inference_mode():
            vectors = self._encoder(**tokens).last_hidden_state
        vectors = vectors / vectors.norm(dim=-1, keepdim=True)
        mask = tokens["attention_mask"].bool()
        ids = tokens["input_ids"]
        # The two special tokens can be matched but carry no weight.
        weights = mask & (ids != self._tokenizer.cls_token_id) & (ids != self._tokenizer.sep_token_id)
        return vectors, mask, weights


def _weighted_mean(best: Any, weights: Any) -> Any:
    # A padded position holds -inf, which times its weight of 0 would be NaN.
    return best.masked_fill(~weights, 0.0).sum(dim=1) / weights.sum(dim=1)
