"""PMC-CLIP, whose weights are three files in a format of its own on the Hub (Lin et al., 2023).

They are read as in its authors' training and evaluation code, which the weights were made for: attention pooling of
images with one head per 64 dimensions (32), and a text is the last layer's state of its first token. The padding is not
masked, so a text's vector depends on all 77 places being filled. (Their notebook reads them with 8 heads and BERT's
pooled output, a layer that was never used in training, which gives other embeddings of the same item.)
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from open_clip.modified_resnet import ModifiedResNet
from open_clip.transform import PreprocessCfg, image_transform_v2

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
BERT = "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract-fulltext"  # whose configuration and tokenizer are used


def open_pmc_clip(name: str, setting: Setting) -> TorchEncoder:
    """PMC-CLIP. Raises ModelError."""
    there = Repository(name, REPO, " ".join(f"'{file}'" for file in FILES), "dataset")
    files = [there.file(file) for file in FILES]
    folder = Repository(name, BERT, FETCH_SMALL).folder(("config.json",), TOKENIZER_FILES)
    do = f"If {files[0].parent} is damaged, delete it and download its files again"
    image_weights, text_weights, projection = loaded(
        name, lambda: [torch.load(file, map_location="cpu", weights_only=True) for file in files], do=do
    )
    image_tower = ready(loaded(name, lambda: _image_tower(image_weights), do=do), setting)
    text_tower = ready(loaded(name, lambda: _text_tower(text_weights, folder), do=do), setting)
    projection = projection.detach().float().to(setting.device)
    tokenizer = loaded(name, lambda: transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True), do=do)
    preprocess = PreprocessCfg(size=image_tower.image_size)

    def texts(batch: dict[str, Any]) -> Any:
        return text_tower(input_ids=batch["input_ids"]).last_hidden_state[:, 0] @ projection

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
            "model": "pmc-clip:training",
            "weights": file_digest(*files),
            "revision": revision(files[0]),
            "architecture": json_digest([image_tower.attnpool.num_heads, file_digest(folder / "config.json")]),
            "transform": json_digest(vars(preprocess)),
            "tokenizer": tokenizer_digest(tokenizer),
            "libraries": versions("open_clip_torch", "transformers", "tokenizers"),
            "code": code_digest(open_pmc_clip),
        },
    )


def _image_tower(weights: Mapping[str, Any]) -> Any:
    """CLIP's ResNet in the shape of the weights; only the number of heads cannot be read off them."""
    width = weights["conv3.weight"].shape[0]
    layers = [len({key.split(".")[1] for key in weights if key.startswith(f"layer{stage}.")}) for stage in range(1, 5)]
    side = round((weights["attnpool.positional_embedding"].shape[0] - 1) ** 0.5)
    tower = ModifiedResNet(
        layers=layers,
        output_dim=weights["attnpool.c_proj.weight"].shape[0],
        heads=width * 32 // 64,
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
