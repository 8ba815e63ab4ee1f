"""BERTScore F1 with DeBERTa-xlarge-MNLI, layer 40, no idf weights, no rescaling (MedLayBench-V, Table A5).

The package bert-score cannot run this model under transformers 5: the tokenizer states no maximum length, and the
package passes the placeholder for "none" to the tokenizer, which fails. The values here equal the package's wherever it
runs, up to rounding. One difference is deliberate: padding never takes part in a match, so a pair's value does not
depend on the pairs it shares a batch with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v.relevance import check_pairs
from baselines.medlaybench_v.weights import local_weights, model_used
from loaders.errors import MissingExtra, ModelError

MODEL = "microsoft/deberta-xlarge-mnli"
LAYERS = 40  # the layer that the package's authors tuned for this model

_ARCHITECTURES = ("bert", "deberta")
_NO_LIMIT = 10**9  # a tokenizer without a maximum length reports 10**30


class BertScore:
    """A loaded encoder, on a GPU if there is one; `model` says which, for the record of a run.

    Raises ModelError when the weights are not on this machine or are not a BERT or DeBERTa encoder of at least `layers`
    layers, MissingExtra without torch and transformers.
    """

    def __init__(self, model: str = MODEL, *, layers: int = LAYERS) -> None:
        folder = local_weights(model)  # first: a run without them would import torch, for seconds, to say so
        with MissingExtra.needed("models", purpose="BERTScore"):
            import torch
            from transformers import AutoModel, AutoTokenizer

            from loaders.models.encoders_torch import loaded
        do = f"To repair: hf download {model}"
        self._tokenizer: Any = loaded(model, lambda: AutoTokenizer.from_pretrained(folder), do=do)
        encoder: Any = loaded(model, lambda: AutoModel.from_pretrained(folder, dtype=torch.float32), do=do)
        config = encoder.config
        if config.model_type not in _ARCHITECTURES:
            raise ModelError(model, found=f"a {config.model_type} model", expected=" or ".join(_ARCHITECTURES))
        if not 0 < layers <= config.num_hidden_layers:
            raise ModelError(model, found=f"{config.num_hidden_layers} layers", expected=f"layer {layers} among them")
        encoder.encoder.layer = encoder.encoder.layer[:layers]
        self._torch: Any = torch
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._encoder = encoder.to(self._device).eval()
        limit = self._tokenizer.model_max_length
        self._limit: int = limit if limit < _NO_LIMIT else config.max_position_embeddings
        self.model = model_used(f"BERTScore, layer {layers}", model, folder)

    def __call__(
        self, hypotheses: Sequence[str], references: Sequence[str], *, batch_size: int = 64
    ) -> NDArray[np.float64]:
        """F1 of every pair in percent, shape (pairs,); 0 where either text is empty.

        Raises InputError when the lists differ in length.
        """
        check_pairs(hypotheses, references)
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
