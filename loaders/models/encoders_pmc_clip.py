"""PMC-CLIP, whose weights are three files in a format of its own on the Hub (Lin et al., 2023).

Its authors read them in two ways, which give different embeddings of the same item:

    training     their training and evaluation code: attention pooling of images with one head per 64 dimensions (32),
                 and a text is the last layer's state of its first token
    quick-start  their notebook: 8 heads, and a text is BERT's pooled output, a layer that was never used in training

Neither masks the padding, so a text's vector depends on all 77 places being filled. The first is what the
weights were trained for and what PMC-CLIP means here; most later work took the second from the notebook.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from open_clip.modified_resnet import ModifiedResNet
from open_clip.transform import PreprocessCfg, image_transform_v2

from loaders.errors import ModelError
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

REPO = "axiong/pmc_oa"  # a data set's repository
FILES = ("image_encoder(resnet50).pth", "text_encoder.pth", "text_projection_layer.pth")
CONTEXT_LENGTH = 77


@dataclass(frozen=True, slots=True)
class Reading:
    """How the two readings differ."""

    bert: str  # whose configuration and tokenizer are used
    heads: int | None  # in the attention pooling; None: one per 64 dimensions
    pooled: bool  # whether a text is BERT's pooled output


READINGS = {
    "training": Reading("microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext", None, pooled=False),
    "quick-start": Reading("microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract", 8, pooled=True),
}


def open_pmc_clip(name: str, reading: str, setting: Setting) -> TorchEncoder:
    """`reading` is one of READINGS. Raises ModelError."""
    if reading not in READINGS:
        raise ModelError(name, found=f"PMC-CLIP is not read as {reading!r}", expected=" or ".join(READINGS))
    way = READINGS[reading]
    there = Repository(name, REPO, " ".join(f"'{file}'" for file in FILES), "dataset")
    files = [there.file(file) for file in FILES]
    folder = Repository(name, way.bert, FETCH_SMALL).folder(("config.json",), TOKENIZER_FILES)
    do = f"If {files[0].parent} is damaged, delete it and download its files again"
    image_weights, text_weights, projection = loaded(
        name, lambda: [torch.load(file, map_location="cpu", weights_only=True) for file in files], do=do
    )
    image_tower = ready(loaded(name, lambda: _image_tower(image_weights, way.heads), do=do), setting)
    text_tower = ready(loaded(name, lambda: _text_tower(text_weights, folder), do=do), setting)
    projection = projection.detach().float().to(setting.device)
    tokenizer = loaded(name, lambda: transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True), do=do)
    preprocess = PreprocessCfg(size=image_tower.image_size)

    def texts(batch: dict[str, Any]) -> Any:
        output = text_tower(input_ids=batch["input_ids"])
        return (output.pooler_output if way.pooled else output.last_hidden_state[:, 0]) @ projection

    return TorchEncoder(
        name,
        Towers(
            pixels=image_transform_v2(preprocess, is_train=False),
            images=image_tower,
            tokens=lambda texts: padded(tokenizer, texts, CONTEXT_LENGTH),
            texts=texts,
        ),
        setting,
        dim=int(projection.shape[1]),
        context_length=CONTEXT_LENGTH,
        identity={
            "model": f"pmc-clip:{reading}",
            "weights": file_digest(*files),
            "revision": revision(files[0]),
            "architecture": json_digest([reading, image_tower.attnpool.num_heads, file_digest(folder / "config.json")]),
            "transform": json_digest(vars(preprocess)),
            "tokenizer": tokenizer_digest(tokenizer),
            "libraries": versions("open_clip_torch", "transformers", "tokenizers"),
            "code": code_digest(open_pmc_clip),
        },
    )


def _image_tower(weights: Mapping[str, Any], heads: int | None) -> Any:
    """CLIP's ResNet in the shape of the weights; only the number of heads cannot be read off them."""
    width = weights["conv3.weight"].shape[0]
    layers = [len({key.split(".")[1] for key in weights if key.startswith(f"layer{stage}.")}) for stage in range(1, 5)]
    side = round((weights["attnpool.positional_embedding"].shape[0] - 1) ** 0.5)
    tower = ModifiedResNet(
        layers=layers,
        output_dim=weights["attnpool.c_proj.weight"].shape[0],
        heads=heads or width * 32 // 64,
        image_size=side * 32,
        width=width,
    )
    tower.load_state_dict(weights)
    return tower


def _text_tower(weights: Mapping[str, Any], folder: Path) -> Any:
    tower = transformers.AutoModel.from_config(transformers.AutoConfig.from_pretrained(folder, local_files_only=True))
    # A list of 0, 1, 2, …, which newer versions of the library compute.
    tower.load_state_dict({key: value for key, value in weights.items() if key != "embeddings.position_ids"})
    return tower
